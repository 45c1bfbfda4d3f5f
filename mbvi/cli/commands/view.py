"""`mbvi view`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from mbvi.cli.commands.animate import animated
from mbvi.cli.options import MostTriangles, Speed, Trails, TrajectoryPath, whole_number
from mbvi.cli.terminal import one_line_errors

DISPLAYS = "DISPLAY", "WAYLAND_DISPLAY", "BROWSER"  # variables of the environment that say where a browser shows pages


def view(file: TrajectoryPath, speed: Speed = None, trail: Trails = None, triangles: MostTriangles = None) -> None:
    """Make the page of a trajectory in a temporary folder, and open it in the browser, or say where it is."""
    import tempfile
    import webbrowser

    with one_line_errors():
        path = Path(tempfile.mkdtemp(prefix="mbvi-")) / f"{file.stem}.html"
        typer.echo(animated(file, path, speed, trail, None, whole_number(triangles, "--triangles"), force=False))
        if not (_has_display() and webbrowser.open(path.as_uri())):
            typer.echo(
                f"no browser could be opened here; open {path.as_uri()} in one, or take the file to where there is one"
            )


def _has_display() -> bool:
    """Whether a browser can show pictures: without a display, one that shows text might open."""
    return os.name == "nt" or sys.platform == "darwin" or any(map(os.environ.get, DISPLAYS))
