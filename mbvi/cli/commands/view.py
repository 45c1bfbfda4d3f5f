"""`mbvi view`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import mbvi
from mbvi.cli.commands.animate import animated
from mbvi.cli.options import MostTriangles, Search, Speed, Trails, number_of
from mbvi.cli.terminal import one_line_errors, say
from mbvi.errors import ModelError

DISPLAYS = "DISPLAY", "WAYLAND_DISPLAY", "BROWSER"  # variables of the environment that say where a browser shows pages


def view(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A trajectory file; with --follow also a model file.", show_default=False),
    ],
    follow: Annotated[
        bool, typer.Option("--follow", help="Show a run while it writes FILE, or run a model here, with sliders.")
    ] = False,
    speed: Speed = None,
    trail: Trails = None,
    triangles: MostTriangles = None,
    search: Search = None,
) -> None:
    """Open the page of a trajectory in the browser, or say where it is; with --follow that of a run that goes on."""
    import tempfile

    with one_line_errors():
        if follow:
            _follow(file, speed, trail, triangles, search)
            return
        if search is not None:
            raise ModelError("--search: expected none without --follow; leave it out")
        path = Path(tempfile.mkdtemp(prefix="mbvi-")) / f"{file.stem}.html"
        say(animated(file, path, speed, trail, None, triangles, force=False))
        if not _is_opened(path.as_uri()):
            say(f"no browser could be opened here; open {path.as_uri()} in one, or take the file to where there is one")


def _follow(
    file: Path, speed: str | None, trail: list[str] | None, triangles: str | None, search: list[Path] | None
) -> None:
    """Serve a page that follows a run, until someone interrupts."""
    from mbvi.results.storage import ENDINGS

    if triangles is not None:
        raise ModelError("--triangles: expected none with --follow; leave it out")
    if file.suffix.lower() in ENDINGS:
        run, pace = file, number_of(speed, "--speed", None, "")
    else:
        model = mbvi.load(file, search=search or [])
        run = mbvi.Simulator(model, every=0)
        pace = 1.0 if speed is None else number_of(speed, "--speed", model, "")
    with mbvi.live.follow(run, speed=pace, trails=trail) as page:
        what = "opened in the browser" if _is_opened(page.address) else "open it in a browser on this machine"
        say(f"{page.address} follows {file.name} until Ctrl+C: {what}")
        page.wait()


def _is_opened(address: str) -> bool:
    """Whether a browser shows a page: without a display, one that shows text might open."""
    import webbrowser

    return _has_display() and webbrowser.open(address)


def _has_display() -> bool:
    return os.name == "nt" or sys.platform == "darwin" or any(map(os.environ.get, DISPLAYS))
