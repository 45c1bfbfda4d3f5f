"""`mbvi ensemble`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mbvi
from mbvi.cli.options import Formulation, ModelPath, Search, list_of, number_of, whole_number
from mbvi.cli.progress import progress_of
from mbvi.cli.terminal import FAILED, one_line_errors, say
from mbvi.errors import ModelError

if TYPE_CHECKING:
    from mbvi.model import Model


def ensemble(
    model: ModelPath,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="What varies: a parameter, or q.JOINT.COORDINATE or v.JOINT.COORDINATE at the start, and its values: "
            "FIRST:LAST:COUNT, or a list with commas. May be repeated: the members are all combinations.",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A sampling plan (YAML) that says what varies, instead of --over."),
    ] = None,
    scheme: Annotated[str | None, typer.Option(metavar="NAME", help="Name of a scheme; see `mbvi schemes`.")] = None,
    step: Annotated[str | None, typer.Option(metavar="SECONDS", help="Step size.")] = None,
    duration: Annotated[str | None, typer.Option(metavar="SECONDS", help="Simulated time.")] = None,
    formulation: Formulation = None,
    search: Search = None,
    every: Annotated[str, typer.Option(metavar="K", help="Store every K-th state.")] = "1",
    store: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="What to store of every member: some of q, v, p, energy, constraint_residual; by default q,v,energy, or "
            "nothing with --statistics.",
        ),
    ] = None,
    statistics: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Mean, covariance and quantiles of some of the same over all members."),
    ] = None,
    threads: Annotated[
        str | None, typer.Option(metavar="N", help="Members at once; by default all processors.")
    ] = None,
    processes: Annotated[
        str | None,
        typer.Option(metavar="N", help="Processes instead of threads: faster for many values of parameters."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A dask scheduler, whose workers run the members: tcp://host:8786."),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option("--time-limit", metavar="SECONDS", help="After which a member is given up.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="By default MODEL's name with _ensemble.h5, here."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the bundle of the members over time: a .png, .svg or .pdf."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a file that is there: run the members that are not done.")
    ] = False,
) -> None:
    """Run variations of a model on all cores or a cluster, into a file that xarray and other tools open."""
    with one_line_errors():
        from mbvi.cli.tables_of import ensemble_report
        from mbvi.pictures.style import check_picture
        from mbvi.text import file_size

        described = mbvi.load(model, search=search or [])
        path = out or Path(f"{model.stem}_ensemble.h5")
        varied = _all_varied(over, plan, described)
        options: dict[str, Any] = {
            "scheme": scheme,
            "formulation": formulation,
            "store": list_of(store, "--store") or None,
            "statistics": list_of(statistics, "--statistics") or None,
            "path": path,
            "force": force,
            "resume": resume,
        }
        counts = {"every": every, "threads": threads, "processes": processes}
        options |= {key: whole_number(value, f"--{key}") for key, value in counts.items()}
        options |= {
            "step": number_of(step, "--step", described),
            "duration": number_of(duration, "--duration", described),
            "time_limit": number_of(time_limit, "--time-limit", described),
        }
        if picture is not None:
            check_picture(picture, force)
        with _client(scheduler) as client:
            progress = progress_of(described.name, "members")
            dataset = mbvi.ensemble(described, varied, progress=progress, executor=client, **options)
        with dataset:
            report, is_none_done = ensemble_report(dataset), bool(dataset.status.values.all())
            if picture is not None:
                from mbvi.pictures.bundles import plot_bundle  # matplotlib

                plot_bundle(dataset, picture, force)
        say(f"{report}\n\nwritten to {path} ({file_size(path.stat().st_size)})")
        if picture is not None:
            say(f"drawn in {picture}")
        if is_none_done:
            raise typer.Exit(FAILED)


def _client(scheduler: str | None) -> AbstractContextManager[Any]:
    """A client of a scheduler, if there is one."""
    from mbvi.ensembles.executors import connect

    return nullcontext() if scheduler is None else connect(scheduler)


def _all_varied(over: list[str] | None, plan: Path | None, model: Model) -> Any:
    """What varies: by options --over, or by a plan."""
    if bool(over) == (plan is not None):
        found = "both" if over else "neither"
        raise ModelError(f"--over: expected what varies, by --over or by --plan, found {found}")
    if plan is not None:
        from mbvi.ensembles.sampling import load_plan

        return load_plan(plan)
    varied: dict[str, Any] = {}
    for text in over or ():
        name, values = _varied(text, model)
        if name in varied:
            raise ModelError(f"--over: {name}: expected once, found twice; write all values in one option")
        varied[name] = values
    return varied


def _varied(text: str, model: Model) -> tuple[str, Any]:
    """The name and the values of an option --over; these are expressions, which may use the model's parameters."""
    import numpy as np

    from mbvi.ensembles.members import check_count
    from mbvi.ensembles.variation import check_text

    name, is_given, values = (part.strip() for part in text.partition("="))
    parts, parameters = [part.strip() for part in values.split(":")], model.resolved().parameters
    if not is_given or not name or len(parts) not in (1, 3):
        expected = "NAME=FIRST:LAST:COUNT or NAME=VALUE,VALUE,…"
        raise ModelError(f"--over: expected {expected}, found {text!r}; write for example length=0.5:1.5:100")
    texts = parts[:2] if parts[2:] else values.split(",")
    try:
        numbers = [float(mbvi.evaluate(each, parameters)) for each in texts]
        for each in texts:
            check_text(model, name, each)
    except ModelError as error:
        raise ModelError(f"--over: {name}: {error}") from None
    if not parts[2:]:
        return name, numbers
    if not (parts[2].isdecimal() and int(parts[2]) > 0):
        raise ModelError(f"--over: {name}: expected a count of at least 1 after the last colon, found {parts[2]!r}")
    check_count(int(parts[2]), 1)
    return name, np.linspace(numbers[0], numbers[1], int(parts[2]))
