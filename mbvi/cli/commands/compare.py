"""`mbvi compare`."""

from __future__ import annotations

from typing import Annotated

import typer

import mbvi
from mbvi.cli.options import Formulation, ModelPath, Overwrite, Picture, Search, list_of, number_of
from mbvi.cli.terminal import failed_run, one_line_errors, say


def compare(
    model: ModelPath,
    schemes: Annotated[str, typer.Option(metavar="LIST", help="Names of schemes.")] = "midpoint,simpson,gauss3",
    steps: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Descending step sizes [s]; by default the model's, its half, and so on."),
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="SECONDS", help="Simulated time.")] = None,
    formulation: Formulation = None,
    search: Search = None,
    reference: Annotated[str, typer.Option(metavar="NAME", help="Scheme of the fine reference.")] = "gauss6",
    out: Picture = None,
    force: Overwrite = False,
) -> None:
    """Measure errors, orders and costs of schemes, against a fine reference; print a table, and draw it into a FILE."""
    with one_line_errors():
        from mbvi.pictures.style import check_picture, save

        path = check_picture(out, force) if out else None
        described = mbvi.load(model, search=search or [])
        ladder = [number_of(text, "--steps", described) for text in list_of(steps, "--steps")]
        length = number_of(duration, "--duration", described)
        with failed_run():
            found = mbvi.compare(
                described, list_of(schemes, "--schemes"), ladder, length, formulation=formulation, reference=reference
            )
        say(found)
        if path:
            save(found.plot(), path, force)
            say(f"\nwritten to {path}")
