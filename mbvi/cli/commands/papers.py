"""`mbvi papers`, and `mbvi papers run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mbvi.cli.progress import show_title
from mbvi.cli.terminal import one_line_errors, say
from mbvi.errors import doubts_expected

papers = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@papers.callback()
def list_papers(context: typer.Context) -> None:
    """List the papers whose tables and figures mbvi recomputes; `papers run NAME` recomputes those of one."""
    if context.invoked_subcommand is None:
        from mbvi.papers.catalog import listing

        say(listing())


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
    with one_line_errors():
        from mbvi.papers.catalog import find_report
        from mbvi.papers.report import check_folder, summary, write

        planned = find_report(name, quick)
        folder = check_folder(out or Path("papers", name), force)
        with doubts_expected():  # errors of coarse steps are what the tables say
            report = planned.computed(show_title)
            show_title("the page")
            page = write(report, folder)
        say(f"{summary(report)}\n\nWritten to {page}")
