"""The command line: `mbvi run`, `check`, `export`, `schemes`, …; each is a call of the API, and perhaps one of the report.

Exit codes: 0; 2 for what the user can mend (a ModelError, wrong options); 3 for a step that failed, or an ensemble of which no
member is done; 130 for Ctrl-C.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mbvi
from mbvi.errors import ModelError, ModelWarning, StepError, doubts_expected, said_by_system

if TYPE_CHECKING:
    from mbvi.model import Model
    from mbvi.system.initial import Start
    from mbvi.trajectory import Trajectory

WRONG, FAILED, INTERRUPTED = 2, 3, 130
NOTED_FROM = 2.0  # seconds of compilation; to load what was compiled takes less
DISPLAYS = "DISPLAY", "WAYLAND_DISPLAY", "BROWSER"  # variables of the environment that say where a browser shows pages

app = typer.Typer(
    help="Structure-preserving dynamics of multibody systems: variational integrators from a model file.",
    epilog="Start with: mbvi run models/lagrange_top.yaml",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

papers = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
app.add_typer(papers, name="papers")

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file (YAML).", show_default=False)]
Formulation = Annotated[
    str | None, typer.Option(metavar="NAME", help="tree or embedding, instead of the model's formulation.")
]


def main() -> None:
    """Run the command line."""
    warnings.formatwarning = lambda message, *_, **__: f"{message}\n"  # not where in the package it arose
    gc.set_threshold(100_000)  # modules stay: to search them for garbage while they load takes a tenth of a second
    try:
        app(prog_name="mbvi")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:  # mostly of standard output, which has no name, since files have messages of their own
        where = (
            f"{error.filename}: expected a file"
            if error.filename
            else "standard output: expected a file that can be written"
        )
        with suppress(OSError):
            _complain(f"{where}, found {said_by_system(error)}")
        for stream in filter(None, (sys.stdout, sys.stderr)):  # else the interpreter tries again to write what is left
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        sys.exit(WRONG)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"mbvi {mbvi.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="A model file (YAML).")] = None,
    scheme: Annotated[str | None, typer.Option(metavar="NAME", help="Name of a scheme; see `mbvi schemes`.")] = None,
    step: Annotated[
        str | None, typer.Option(metavar="SECONDS", help="Step size, a number or an expression such as 1/120.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="SECONDS", help="Simulated time, a number or an expression.")
    ] = None,
    formulation: Formulation = None,
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
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing trajectory file.")] = False,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Continue the run of a trajectory file, as if it had never stopped."),
    ] = None,
) -> None:
    """Run a model, report how it went, and write the trajectory, while it runs."""
    with _one_line_errors():
        from mbvi.simulation import check_functions
        from mbvi.storage import ENDINGS, check_output
        from mbvi.system.initial import find_start

        stride = _whole(every, "--every")
        if resume is not None:
            unfit = {"--out": out, "--store": store, "--force": force, "--no-project": no_project}
            for option, is_given in unfit.items():
                if is_given:
                    raise ModelError(f"{option}: expected no such option with --resume; leave it out")
            _resume(resume, model, formulation, {"scheme": scheme, "step": step, "every": stride}, duration)
            return
        if model is None:
            raise ModelError(
                "MODEL: expected a model file, found none; write mbvi run MODEL, or mbvi run --resume FILE"
            )
        described = mbvi.load(model)
        path = check_output(out or Path(f"{model.stem}.h5"), force, ENDINGS)
        values = {"step": _number(step, "--step", described), "duration": _number(duration, "--duration", described)}
        parts = None if store is None else [] if store == "none" else _listed(store, "--store")
        project = False if no_project else None
        system = mbvi.assemble(described, formulation)
        check_functions(system)
        start = find_start(system, project=project)
        output = {"every": stride or 1, "path": path, "force": force, "store": parts}
        with _kept_states(path), _progress(described.name) as progress, doubts_expected():  # the report has them
            trajectory = mbvi.simulate(system, scheme, project=project, progress=progress, **output, **values)
        typer.echo(_written(trajectory, start, path))


def _resume(
    path: Path, model: Path | None, formulation: str | None, options: dict[str, Any], duration: str | None
) -> None:
    """Continue a run; what is given besides must be what the file says."""
    given = None if model is None else mbvi.assemble(mbvi.load(model), formulation)
    stored = mbvi.read(path, given)
    if formulation is not None and model is None:
        raise ModelError("--formulation: expected a model with it, found none; leave it out, the file has its own")
    if options["step"] is not None:
        options["step"] = _number(options["step"], "--step", stored.system.model)
    for option, value in options.items():
        expected = stored.scheme.name if option == "scheme" else getattr(stored, option)
        if option == "step" and stored.step_sizes is not None:
            expected = "steps that change"
        if value not in (None, expected):
            remedy = "leave it out, or run anew without --resume"
            raise ModelError(f"--{option}: expected that of {path}, {expected}, found {value}; {remedy}")
    length = _number(duration, "--duration", stored.system.model)
    with _kept_states(path), _progress(stored.system.name) as progress, doubts_expected():
        trajectory = mbvi.resume(path, length, system=given, progress=progress)
    typer.echo(_written(trajectory, None, path))


@contextmanager
def _kept_states(path: Path) -> Iterator[None]:
    """Tell of a failed step, and of the file that has the states before it."""
    try:
        yield
    except StepError as error:
        _complain(str(error).replace("error.trajectory", str(path)))
        for finding in error.trajectory.findings:
            _complain(finding.text)
        raise typer.Exit(FAILED) from None


@app.command()
def check(model: ModelPath, formulation: Formulation = None) -> None:
    """Validate a model and describe it: its graph, coordinates, mobility, constants of motion, and what is odd."""
    with _one_line_errors():
        from mbvi.report import check_report, run_of
        from mbvi.simulation import check_driven, check_functions, chosen_scheme
        from mbvi.system.initial import find_start

        described = mbvi.load(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the report has them
            system = mbvi.assemble(described, formulation)
        chosen_scheme(system, None)
        step, _, steps = run_of(described.resolved())
        check_functions(system, step, steps)
        start = find_start(system)
        check_driven(system, start, 0.0, step)
        typer.echo(check_report(system, start))


@app.command()
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trajectory file (.h5).", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="A .csv or .nc file; by default FILE's name with .csv."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a trajectory for other tools: states, energies, multipliers and poses of all bodies, with names and units."""
    with _one_line_errors():
        path = out or Path(f"{file.stem}.csv")
        trajectory = mbvi.read(file)
        trajectory.export(path, force)
        typer.echo(_states_written(trajectory, path))


@app.command()
def ensemble(
    model: ModelPath,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUES",
            help="What varies: a parameter, or q.JOINT.COORDINATE or v.JOINT.COORDINATE at the start, and its values: "
            "FIRST:LAST:COUNT, or a list with commas. May be repeated: the members are all combinations.",
            show_default=False,
        ),
    ],
    scheme: Annotated[str | None, typer.Option(metavar="NAME", help="Name of a scheme; see `mbvi schemes`.")] = None,
    step: Annotated[str | None, typer.Option(metavar="SECONDS", help="Step size.")] = None,
    duration: Annotated[str | None, typer.Option(metavar="SECONDS", help="Simulated time.")] = None,
    formulation: Formulation = None,
    every: Annotated[str, typer.Option(metavar="K", help="Store every K-th state.")] = "1",
    store: Annotated[
        str, typer.Option(metavar="LIST", help="What to store: some of q, v, p, energy, constraint_residual.")
    ] = "q,v,energy",
    threads: Annotated[
        str | None, typer.Option(metavar="N", help="Members at once; by default all processors.")
    ] = None,
    processes: Annotated[
        str | None,
        typer.Option(metavar="N", help="Processes instead of threads: faster for many values of parameters."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="By default MODEL's name with _ensemble.h5, here."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Run variations of a model on all cores, into a file that xarray and other tools open."""
    with _one_line_errors():
        from mbvi.report import ensemble_report, file_size

        described = mbvi.load(model)
        path = out or Path(f"{model.stem}_ensemble.h5")
        varied: dict[str, Any] = {}
        for text in over:
            name, values = _varied(text, described)
            if name in varied:
                raise ModelError(f"--over: {name}: expected once, found twice; write all values in one option")
            varied[name] = values
        options: dict[str, Any] = {
            "scheme": scheme,
            "formulation": formulation,
            "store": _listed(store, "--store"),
            "path": path,
            "force": force,
        }
        counts = {"every": every, "threads": threads, "processes": processes}
        options |= {key: _whole(value, f"--{key}") for key, value in counts.items()}
        options |= {"step": _number(step, "--step", described), "duration": _number(duration, "--duration", described)}
        with _progress(described.name, "members") as progress:
            dataset = mbvi.ensemble(described, varied, progress=progress, **options)
        with dataset:
            report, is_none_done = ensemble_report(dataset), bool(dataset.status.values.all())
        typer.echo(f"{report}\n\nwritten to {path} ({file_size(path.stat().st_size)})")
        if is_none_done:
            raise typer.Exit(FAILED)


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


@app.command()
def schemes() -> None:
    """List the schemes with their order and source."""
    from mbvi.report import scheme_table

    typer.echo(scheme_table())


@app.command()
def schema() -> None:
    """Print the JSON Schema of model files, for editors."""
    from mbvi.model.file import schema_text

    typer.echo(schema_text(), nl=False)


@papers.callback()
def list_papers(context: typer.Context) -> None:
    """List the papers whose tables and figures mbvi recomputes; `papers run NAME` recomputes those of one."""
    if context.invoked_subcommand is None:
        from mbvi.papers.catalog import listing

        typer.echo(listing())


@papers.command("run")
def run_paper(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of a paper; see `mbvi papers`.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where the page and its files go; by default papers/NAME."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out what takes long.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files in an existing folder.")] = False,
) -> None:
    """Recompute the tables and figures of a paper: a page (HTML), figures (SVG, PNG) and tables (CSV)."""
    with _one_line_errors():
        from mbvi.papers.catalog import find_report
        from mbvi.papers.report import check_folder, summary, write

        planned = find_report(name, quick)
        folder = check_folder(out or Path("papers", name), force)
        with _status() as show, doubts_expected():  # errors of coarse steps are what the tables say
            report = planned.computed(show)
            show("the page")
            page = write(report, folder)
        typer.echo(f"{summary(report)}\n\nWritten to {page}")


TrajectoryPath = Annotated[
    Path, typer.Argument(metavar="FILE", help="A trajectory file, as `mbvi run` writes it.", show_default=False)
]
Speed = Annotated[
    str | None,
    typer.Option(
        metavar="FACTOR",
        help="Simulated seconds per second, a number or an expression; by default 1, or slower if a body spins fast.",
    ),
]
Trails = Annotated[
    list[str] | None,
    typer.Option("--trail", metavar="BODY", help="Show the way of BODY or of BODY.POINT; may be repeated."),
]


@app.command()
def animate(
    file: TrajectoryPath,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="A .html, .glb, .mp4 or .gif; by default FILE's name with .html, here."
        ),
    ] = None,
    speed: Speed = None,
    trail: Trails = None,
    rate: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Pictures per second of an .mp4; by default 30.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a trajectory as a page with a 3D view and plots, a 3D file, or a video."""
    with _one_line_errors():
        path = out or Path(f"{file.stem}.html")
        typer.echo(_animated(file, path, speed, trail, _whole(rate, "--rate"), force))


@app.command()
def view(file: TrajectoryPath, speed: Speed = None, trail: Trails = None) -> None:
    """Make the page of a trajectory in a temporary folder, and open it in the browser, or say where it is."""
    import tempfile
    import webbrowser

    with _one_line_errors():
        path = Path(tempfile.mkdtemp(prefix="mbvi-")) / f"{file.stem}.html"
        typer.echo(_animated(file, path, speed, trail, None, force=False))
        if not (_has_display() and webbrowser.open(path.as_uri())):
            typer.echo(
                f"no browser could be opened here; open {path.as_uri()} in one, or take the file to where there is one"
            )


def _has_display() -> bool:
    """Whether a browser can show pictures: without a display, one that shows text might open."""
    return os.name == "nt" or sys.platform == "darwin" or any(map(os.environ.get, DISPLAYS))


def _animated(
    file: Path, path: Path, speed: str | None, trails: list[str] | None, pictures: int | None, force: bool
) -> str:
    """Write an animation, and say so."""
    from mbvi.export.animate import picture_rate, speed_report
    from mbvi.export.motion import check, fastest_spin, natural_speed
    from mbvi.report import file_size

    trajectory = mbvi.read(file)
    check(trajectory)
    spin, rate = fastest_spin(trajectory), picture_rate(path, pictures)
    given = _number(speed, "--speed", None, unit="")
    factor = natural_speed(spin, rate) if given is None else given
    with _progress(trajectory.system.name, "pictures") as progress:
        mbvi.animate(
            trajectory, path, speed=factor, trails=trails or None, rate=pictures, force=force, progress=progress
        )
    return f"{path} written ({file_size(path.stat().st_size)}): {speed_report(factor, spin, rate)}"


def _written(trajectory: Trajectory, start: Start | None, path: Path) -> str:
    from mbvi.report import run_report

    return f"{run_report(trajectory, start)}\n\n{_states_written(trajectory, path)}"


def _states_written(trajectory: Trajectory, path: Path) -> str:
    from mbvi.report import count, file_size

    return f"{count(len(trajectory), 'state')} written to {path} ({file_size(path.stat().st_size)})"


def _number(text: str | None, option: str, model: Model | None, unit: str = "s") -> float | None:
    """The value of an option, by default a time, which may use the model's parameters."""
    from mbvi.model.units import check_unit

    if text is None:
        return None
    try:
        parameters = model.resolved().parameters if model else {}
        number = float(mbvi.evaluate(text, parameters))
        check_unit(text, {}, unit)
    except ModelError as error:
        raise ModelError(f"{option}: {error}") from None
    return number


def _positive(text: str, option: str, model: Model, unit: str = "s") -> float:
    """The value of an option that must be greater than 0."""
    from mbvi.model.arguments import checked_number

    return checked_number(_number(text, option, model, unit), option, "a number greater than 0", above=0.0)


def _whole(text: str | None, option: str) -> int | None:
    """The value of an option that counts something."""
    from mbvi.model.arguments import checked_count

    value: Any = text
    if text is None:
        return None
    with suppress(ValueError):
        value = int(text)
    return checked_count(value, option, 1)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except ModelError as error:
        _complain(str(error))
        raise typer.Exit(WRONG) from None
    except KeyboardInterrupt as error:
        _complain(f"interrupted; {error}" if str(error) else "interrupted; nothing was written")
        raise typer.Exit(INTERRUPTED) from None


def _complain(message: str) -> None:
    typer.echo(message, err=True)


@contextmanager
def _progress(name: str, unit: str = "steps") -> Iterator[Callable[[int, int], Any] | None]:
    """A progress bar on stderr, if that is a terminal; a function of steps done and steps, or another unit, that moves it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    from mbvi.kernels.compiling import COMPILING

    class Title(ProgressColumn):
        def render(self, task: Any) -> Text:
            note = " (compiling, only once: some 40 s)" if COMPILING.lasting > NOTED_FROM else ""
            return Text(f"{task.description}{note}")

    text = Title(), BarColumn(), MofNCompleteColumn(), TextColumn(unit)
    with Progress(*text, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, steps: bar.update(task, completed=done, total=steps)


@contextmanager
def _status() -> Iterator[Callable[[str], Any]]:
    """A function that shows on stderr, if that is a terminal, what is being computed."""
    if not sys.stderr.isatty():
        yield lambda title: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


# -------------------------------------------------------------------------------------------- pictures

Picture = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="A .png, .svg or .pdf.")]
Overwrite = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]


@app.command()
def plot(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trajectory file.", show_default=False)],
    out: Picture = None,
    what: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Instead of an overview, some of: coordinates, velocities, momenta, energy, energy_error, invariants, "
            "constraints, phase, multipliers, reactions.",
        ),
    ] = None,
    names: Annotated[
        str | None, typer.Option(metavar="LIST", help="Of these coordinates, joints or constraints only.")
    ] = None,
    section: Annotated[
        str | None, typer.Option(metavar="TEXT", help='A Poincaré section, such as "elbow.angle=0".')
    ] = None,
    force: Overwrite = False,
) -> None:
    """Draw a trajectory: an overview, or some of its quantities; by default into FILE's name with .png, here."""
    with _one_line_errors():
        from mbvi.export.style import check_picture, save

        trajectory = mbvi.read(file)
        path = check_picture(out or Path(f"{file.stem}.png"), force)
        quantities, chosen = _listed(what, "--what"), _listed(names, "--names") or None
        figure = mbvi.plot(trajectory, *quantities, names=chosen, section=section)
        save(figure, path, force)
        typer.echo(f"written to {path}")


@app.command()
def compare(
    model: ModelPath,
    schemes: Annotated[str, typer.Option(metavar="LIST", help="Names of schemes.")] = "midpoint,simpson,gauss3",
    steps: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Descending step sizes [s]; by default the model's, its half, and so on."),
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="SECONDS", help="Simulated time.")] = None,
    formulation: Formulation = None,
    reference: Annotated[str, typer.Option(metavar="NAME", help="Scheme of the fine reference.")] = "gauss6",
    out: Picture = None,
    force: Overwrite = False,
) -> None:
    """Measure errors, orders and costs of schemes, against a fine reference; print a table, and draw it into a FILE."""
    with _one_line_errors():
        from mbvi.export.style import check_picture, save

        path = check_picture(out, force) if out else None
        described = mbvi.load(model)
        ladder = [_number(text, "--steps", described) for text in _listed(steps, "--steps")]
        length = _number(duration, "--duration", described)
        with _failed_run():
            found = mbvi.compare(
                described, _listed(schemes, "--schemes"), ladder, length, formulation=formulation, reference=reference
            )
        typer.echo(found)
        if path:
            save(found.plot(), path, force)
            typer.echo(f"\nwritten to {path}")


@app.command()
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
    time: Annotated[
        str, typer.Option(metavar="SECONDS", help="How long to measure at most, about, besides compilation.")
    ] = "30",
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all measurements to a JSON file.")] = None,
    out: Picture = None,
    force: Overwrite = False,
) -> None:
    """Find the scheme and the step that reach a wanted error in the least time, on this machine; print a table."""
    with _one_line_errors():
        from mbvi.export import bench as benchmark
        from mbvi.export.style import check_picture, save
        from mbvi.storage import check_output, replace_file

        path = check_picture(out, force) if out else None
        record = check_output(json, force, [".json"]) if json else None
        described = mbvi.load(model)
        wanted, budget = _positive(error, "--error", described, unit="m"), _positive(time, "--time", described)
        length, names = _number(duration, "--duration", described), _listed(schemes, "--schemes") or benchmark.TRIED
        with _failed_run(), _progress(described.name, "s") as progress:
            options: dict[str, Any] = {"formulation": formulation, "budget": budget, "progress": progress}
            found = benchmark.bench(described, wanted, names, length, **options)
        typer.echo(found)
        if record:
            replace_file(record, lambda part: part.write_text(dumps(found.record(), indent=1) + "\n"))
            typer.echo(f"\nwritten to {record}")
        if path:
            save(found.plot(), path, force)
            typer.echo(f"\nwritten to {path}")


@contextmanager
def _failed_run() -> Iterator[None]:
    """Tell of a step that failed in a run of which no states are kept."""
    try:
        yield
    except StepError as error:
        _complain(error.reason)
        raise typer.Exit(FAILED) from None


@app.command()
def graph(model: ModelPath, out: Picture = None, force: Overwrite = False) -> None:
    """Draw the bodies and joints of a model, and which joints close loops; by default into MODEL's name with .svg, here."""
    with _one_line_errors():
        from mbvi.export.style import check_picture, save

        path = check_picture(out or Path(f"{model.stem}.svg"), force)
        save(mbvi.draw_graph(mbvi.load(model)), path, force)
        typer.echo(f"written to {path}")


def _listed(text: str | None, option: str) -> list[str]:
    """The parts of a list with commas; none of an option that is not given."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    if text is not None and not parts:
        raise ModelError(
            f"{option}: expected a list with commas, found {text!r}; leave the option out for what is usual"
        )
    return parts
