"""`mbvi warmup`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import mbvi
from mbvi.cli.options import Search
from mbvi.cli.progress import progress_of
from mbvi.cli.terminal import one_line_errors, say

Models = Annotated[
    list[Path] | None,
    typer.Argument(metavar="MODEL …", help="Model files; by default what most models need.", show_default=False),
]
Schemes = Annotated[
    list[str] | None,
    typer.Option("--scheme", metavar="NAME", help="A scheme; may be repeated. By default those that most runs use."),
]


def warmup(models: Models = None, scheme: Schemes = None, search: Search = None) -> None:
    """Compile ahead what runs need, for container images and clusters."""
    with one_line_errors():
        from mbvi.warmup import SCHEMES, warm_up

        loaded = [mbvi.load(each, search=search or []) for each in models or ()]
        folder = warm_up(loaded, scheme or SCHEMES, progress_of("warm up", "runs"))
        say(f"compiled kernels are kept in {folder}")
