"""Options and arguments that several commands have, and their values from text."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mbvi
from mbvi.errors import ModelError

if TYPE_CHECKING:
    from mbvi.model import Model

ModelPath = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file (YAML), or a robot (URDF, SDF, MJCF).", show_default=False)
]
Formulation = Annotated[
    str | None, typer.Option(metavar="NAME", help="tree or embedding, instead of the model's formulation.")
]
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

Search = Annotated[
    list[Path] | None,
    typer.Option(
        "--search", metavar="FOLDER", help="A package, or a folder with packages, for a robot's files; may be repeated."
    ),
]

MostTriangles = Annotated[
    str | None,
    typer.Option(
        "--triangles",
        metavar="NUMBER",
        help="About how many triangles all meshes keep together, or all; by default 200000, to which larger ones are simplified.",
    ),
]


def number_of(text: str | None, option: str, model: Model | None, unit: str = "s") -> float | None:
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


def positive_number(text: str, option: str, model: Model, unit: str = "s") -> float:
    """The value of an option that must be greater than 0."""
    from mbvi.model.arguments import checked_number

    return checked_number(number_of(text, option, model, unit), option, "a number greater than 0", above=0.0)


def whole_number(text: str | None, option: str) -> int | None:
    """The value of an option that counts something."""
    from mbvi.model.arguments import checked_count

    value: Any = text
    if text is None:
        return None
    with suppress(ValueError):
        value = int(text)
    return checked_count(value, option, 1)


Picture = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="A .png, .svg or .pdf.")]
Overwrite = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]


def list_of(text: str | None, option: str) -> list[str]:
    """The parts of a list with commas; none of an option that is not given."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    if text is not None and not parts:
        raise ModelError(f"{option}: expected a list with commas, found {text!r}; leave the option out for the default")
    return parts
