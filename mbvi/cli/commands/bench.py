"""`mbvi bench`."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

import mbvi
from mbvi.cli.options import Formulation, ModelPath, Overwrite, Picture, Search, list_of, number_of, positive_number
from mbvi.cli.progress import progress_of
from mbvi.cli.terminal import failed_run, one_line_errors, say


def bench(
    model: ModelPath,
    error: Annotated[
        str, typer.Option(metavar="METRES", help="The wanted error, of any point of a body over the run.")
    ] = "1e-6",
    schemes: Annotated[
        str | None, typer.Option(metavar="LIST", help="Names of schemes; by default some of all kinds.")
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="SECONDS", help="Simulated time.")] = None,
    formulation: Formulation = None,
    search: Search = None,
    time: Annotated[
        str, typer.Option(metavar="SECONDS", help="How long to measure at most, about, besides compilation.")
    ] = "30",
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all measurements to a JSON file.")] = None,
    out: Picture = None,
    force: Overwrite = False,
) -> None:
    """Find the scheme and the step that reach a wanted error in the least time, on this machine; print a table."""
    with one_line_errors():
        from mbvi.measure import bench as benchmark
        from mbvi.pictures.style import check_picture, save
        from mbvi.results.output import check_output, replace_file

        path = check_picture(out, force) if out else None
        record = check_output(json, force, [".json"]) if json else None
        described = mbvi.load(model, search=search or [])
        wanted, budget = (
            positive_number(error, "--error", described, unit="m"),
            positive_number(time, "--time", described),
        )
        length, names = number_of(duration, "--duration", described), list_of(schemes, "--schemes") or benchmark.TRIED
        with failed_run():
            progress = progress_of(described.name, "s")
            options: dict[str, Any] = {"formulation": formulation, "budget": budget, "progress": progress}
            found = benchmark.bench(described, wanted, names, length, **options)
        say(found)
        if record:
            replace_file(record, lambda part: part.write_text(dumps(found.record(), indent=1) + "\n"))
            say(f"\nwritten to {record}")
        if path:
            save(found.plot(), path, force)
            say(f"\nwritten to {path}")
