"""Moving pictures of the examples of elements: every model in the pages below is run and shown."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import mbvi

DOCS = Path(__file__).parents[1]
KINDS = ("joints", "forces", "constraints", "contacts", "ropes")
PAGES = sorted(path.stem for kind in KINDS for path in DOCS.glob(f"{kind}*.md"))
FOLDER = "examples"
WITHOUT_MOTION = {"contacts_with_friction_rod"}  # Painlevé's paradox, which the page shows
EXAMPLE = re.compile(r"<!-- (?P<name>\w+)\.yaml -->\n```yaml\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def write(folder: Path) -> None:
    """Write the pictures into a folder of a folder."""
    (folder / FOLDER).mkdir(exist_ok=True)
    texts = {page: (DOCS / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
    found = {f"{page}_{each['name']}": each["text"] for page in PAGES for each in EXAMPLE.finditer(texts[page])}
    with ProcessPoolExecutor() as processes:
        names = found.keys() - WITHOUT_MOTION
        list(processes.map(_draw, names, map(found.get, names), itertools.repeat(folder / FOLDER)))


def illustrated(page: str, text: str) -> str:
    """The Markdown of a page with the picture of every example below it."""

    def with_picture(example: re.Match) -> str:
        name = f"{page}_{example['name']}"
        picture = "" if name in WITHOUT_MOTION else f"\n\n![How it moves](generated/{FOLDER}/{name}.gif)"
        return example[0] + picture

    return EXAMPLE.sub(with_picture, text)


def _draw(name: str, text: str, folder: Path) -> None:
    mbvi.animate(mbvi.simulate(mbvi.from_yaml(text)), folder / f"{name}.gif", force=True)
