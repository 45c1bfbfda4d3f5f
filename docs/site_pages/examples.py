"""Moving pictures of the examples of elements: every model in the pages of joints, forces and constraints is run and shown."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import mbvi

DOCS = Path(__file__).parents[1]
PAGES = sorted(path.stem for kind in ("joints", "forces", "constraints") for path in DOCS.glob(f"{kind}*.md"))
FOLDER = "examples"
EXAMPLE = re.compile(r"<!-- (?P<name>\w+)\.yaml -->\n```yaml\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def write(folder: Path) -> None:
    """Write the pictures into a folder of a folder."""
    (folder / FOLDER).mkdir(exist_ok=True)
    texts = [(DOCS / f"{page}.md").read_text(encoding="utf-8") for page in PAGES]
    found = [match.group("name", "text") for text in texts for match in EXAMPLE.finditer(text)]
    with ProcessPoolExecutor() as processes:
        list(processes.map(_draw, found, itertools.repeat(folder / FOLDER)))


def illustrated(text: str) -> str:
    """The Markdown of a page with the picture of every example below it."""
    return EXAMPLE.sub(rf"\g<0>\n\n![How it moves](generated/{FOLDER}/\g<name>.gif)", text)


def _draw(example: tuple[str, str], folder: Path) -> None:
    name, text = example
    mbvi.animate(mbvi.simulate(mbvi.from_yaml(text)), folder / f"{name}.gif", force=True)
