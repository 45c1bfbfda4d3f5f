"""`mbvi equations`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import mbvi
from mbvi.cli.options import Formulation, ModelPath, Overwrite, Search, list_of
from mbvi.cli.terminal import one_line_errors, say


def equations(
    model: ModelPath,
    parts: Annotated[
        str | None, typer.Option(metavar="LIST", help="Some of: mass_matrix, potential, forces, constraints.")
    ] = None,
    formulation: Formulation = None,
    search: Search = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="A page (.html), or LaTeX (.tex), instead of text here."),
    ] = None,
    force: Overwrite = False,
) -> None:
    """Show the equations of motion in symbols: masses, potential, forces, constraints, with the parameters by their names."""
    with one_line_errors():
        from mbvi.results.output import check_output

        if out is not None:
            check_output(out, force, (".html", ".tex"))
        chosen = list_of(parts, "--parts") or None
        found = mbvi.symbolic.equations(mbvi.assemble(mbvi.load(model, search=search or []), formulation), chosen)
        say(found.text() if out is None else f"written to {found.save(out, force)}")
