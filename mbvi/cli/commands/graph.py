"""`mbvi graph`."""

from __future__ import annotations

from pathlib import Path

import mbvi
from mbvi.cli.options import ModelPath, Overwrite, Picture, Search
from mbvi.cli.terminal import one_line_errors, say


def graph(model: ModelPath, out: Picture = None, search: Search = None, force: Overwrite = False) -> None:
    """Draw the bodies and joints of a model, and which joints close loops; by default into MODEL's name with .svg, here."""
    with one_line_errors():
        from mbvi.pictures.style import check_picture, save

        path = check_picture(out or Path(f"{model.stem}.svg"), force)
        save(mbvi.pictures.draw_graph(mbvi.load(model, search=search or [])), path, force)
        say(f"written to {path}")
