"""`mbvi run`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mbvi
from mbvi.cli.options import Formulation, Search, list_of, number_of, whole_number
from mbvi.cli.progress import progress_of
from mbvi.cli.terminal import FAILED, complain, one_line_errors, say, states_written
from mbvi.errors import ModelError, StepError, doubts_expected

if TYPE_CHECKING:
    from mbvi.results.trajectory import Trajectory
    from mbvi.system.initial import Start
    from mbvi.system.system import System

EXAMPLE = "write for example --event \"top=q('hinge') - pi\""


def run(
    model: Annotated[
        Path | None, typer.Argument(metavar="MODEL", help="A model file (YAML), or a robot (URDF, SDF, MJCF).")
    ] = None,
    scheme: Annotated[str | None, typer.Option(metavar="NAME", help="Name of a scheme; see `mbvi schemes`.")] = None,
    step: Annotated[
        str | None, typer.Option(metavar="SECONDS", help="Step size, a number or an expression such as 1/120.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="SECONDS", help="Simulated time, a number or an expression.")
    ] = None,
    formulation: Formulation = None,
    search: Search = None,
    no_project: Annotated[
        bool, typer.Option("--no-project", help="Refuse a start that violates the constraints, and do not move it.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Trajectory file; by default MODEL's name with .h5, here."),
    ] = None,
    every: Annotated[
        str | None, typer.Option(metavar="K", help="Store every K-th state, and run a multiple of K steps.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Of poses,multipliers (the default), those that the file holds; or none."),
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(
            "--event",
            metavar="NAME=EXPRESSION",
            help="Look for where an expression, as q('hinge') - pi, passes zero; may be repeated.",
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="EXPRESSION", help="End where an expression passes zero, within the duration.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing trajectory file.")] = False,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Continue the run of a trajectory file, as if it had never stopped."),
    ] = None,
) -> None:
    """Run a model, report how it went, and write the trajectory, while it runs."""
    with one_line_errors():
        from mbvi.results.output import check_output
        from mbvi.results.storage import ENDINGS
        from mbvi.run_arguments import check_functions
        from mbvi.system.initial import find_start

        stride = whole_number(every, "--every")
        if resume is not None:
            unfit: dict[str, Any] = {"--out": out, "--store": store, "--force": force, "--no-project": no_project}
            unfit |= {"--search": search} if model is None else {}
            for option, is_given in unfit.items():
                if is_given:
                    raise ModelError(f"{option}: expected no such option with --resume; leave it out")
            given = {"scheme": scheme, "step": step, "every": stride}
            again = None if model is None else mbvi.assemble(mbvi.load(model, search=search or []), formulation)
            _resume(resume, again, formulation, given, duration, {"events": _events(event), "until": until})
            return
        if model is None:
            raise ModelError(
                "MODEL: expected a model file, found none; write mbvi run MODEL, or mbvi run --resume FILE"
            )
        described = mbvi.load(model, search=search or [])
        path = check_output(out or Path(f"{model.stem}.h5"), force, ENDINGS)
        values = {
            "step": number_of(step, "--step", described),
            "duration": number_of(duration, "--duration", described),
        }
        parts = None if store is None else [] if store == "none" else list_of(store, "--store")
        project = False if no_project else None
        system = mbvi.assemble(described, formulation)
        check_functions(system)
        start = find_start(system, project=project)
        output = {"every": stride or 1, "path": path, "force": force, "store": parts}
        output |= {"events": _events(event), "until": until}
        with _kept_states(path), doubts_expected():  # the report has them
            output["progress"] = progress_of(described.name)
            trajectory = mbvi.simulate(system, scheme, project=project, **output, **values)
        say(_written(trajectory, start, path))


def _events(given: list[str] | None) -> dict[str, str] | None:
    """The expressions of events by their names."""
    from mbvi.model.expressions import show, wrong

    found: dict[str, str] = {}
    for text in given or ():
        name, equals, expression = (part.strip() for part in text.partition("="))
        if not (name and equals and expression) or name in found:
            raise ModelError(f"--event: {wrong('NAME=EXPRESSION, each name once', show(text), EXAMPLE)}")
        found[name] = expression
    return found or None


def _resume(
    path: Path,
    model: System | None,
    formulation: str | None,
    options: dict[str, Any],
    duration: str | None,
    looked_for: dict[str, Any],
) -> None:
    """Continue a run; what is given besides must be what the file says."""
    stored = mbvi.read(path, model)
    if formulation is not None and model is None:
        raise ModelError("--formulation: expected a model with it, found none; leave it out, the file has its own")
    if options["step"] is not None:
        options["step"] = number_of(options["step"], "--step", stored.system.model)
    for option, value in options.items():
        expected = stored.scheme.name if option == "scheme" else getattr(stored, option)
        if option == "step" and stored.step_sizes is not None:
            expected = "steps that change"
        if value not in (None, expected):
            remedy = "leave it out, or start a new run without --resume"
            raise ModelError(f"--{option}: expected that of {path}, {expected}, found {value}; {remedy}")
    length = number_of(duration, "--duration", stored.system.model)
    with _kept_states(path), doubts_expected():
        progress = progress_of(stored.system.name)
        trajectory = mbvi.resume(path, length, system=model, progress=progress, **looked_for)
    say(_written(trajectory, None, path))


@contextmanager
def _kept_states(path: Path) -> Iterator[None]:
    """Report a failed step, and the file that has the states before it."""
    try:
        yield
    except StepError as error:
        complain(str(error).replace("error.trajectory", str(path)))
        for finding in error.trajectory.findings:
            complain(finding.text)
        raise typer.Exit(FAILED) from None


def _written(trajectory: Trajectory, start: Start | None, path: Path) -> str:
    from mbvi.cli.run_report import run_report

    return f"{run_report(trajectory, start)}\n\n{states_written(trajectory, path)}"
