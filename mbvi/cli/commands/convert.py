"""`mbvi convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import mbvi
from mbvi.cli.options import Overwrite, Search
from mbvi.cli.terminal import one_line_errors, say
from mbvi.errors import ModelError


def convert(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A robot's file (URDF, SDF or MJCF), or a model that attaches others.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="By default FILE's name with .yaml, here.")
    ] = None,
    search: Search = None,
    floating: Annotated[
        bool | None,
        typer.Option(
            "--floating/--fixed",
            help="Let the root move freely, or weld it to the world; by default as its format says.",
        ),
    ] = None,
    geometry: Annotated[str, typer.Option(metavar="KIND", help="What is drawn: visual, collision or none.")] = "visual",
    no_mend: Annotated[
        bool, typer.Option("--no-mend", help="Refuse inertias that no rigid body has, and do not change them.")
    ] = False,
    start: Annotated[str | None, typer.Option(metavar="NAME", help="Start from a keyframe of an MJCF file.")] = None,
    lock: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT[=VALUE]", help="Weld a joint, where it starts or at a value; may be repeated."),
    ] = None,
    stops: Annotated[bool, typer.Option("--stops", help="Let limits stop their joints, and friction act.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Say in full what became of the file.")] = False,
    force: Overwrite = False,
) -> None:
    """Write a robot's file, or a model that attaches others, as one model file, and say what was taken and what was dropped."""
    with one_line_errors():
        options: dict[str, Any] = {"search": search or [], "floating": floating, "geometry": geometry, "start": start}
        options |= {"locked": dict(map(_lock, lock or [])), "stops": stops}
        model = mbvi.load(file, **options, mend=not no_mend)
        path = out or Path(f"{file.stem}.yaml")
        if model.import_report is None and not model._attaches:
            raise ModelError(f"{file}: expected a robot's file, found a model file (YAML), which is one already")
        mbvi.save(model, path, force)
        if (found := model.import_report) is not None:
            say(str(found) if report else f"{found.summary}\n  --report shows them all")
            say("")
        say(f"written to {path}")


def _lock(text: str) -> tuple[str, float | None]:
    """The joint and the value of JOINT or JOINT=VALUE; a value may be an expression, as 30 deg."""
    joint, equals, value = text.partition("=")
    try:
        return joint, mbvi.evaluate(value, {}) if equals else None
    except ModelError as error:
        raise ModelError(f"--lock {joint}: {error}") from None
