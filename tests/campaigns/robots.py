"""Mutated URDF files: each is a model that a model file can hold, or an error that names the line; none raises anything else.

    python -m tests.campaigns.robots [--count 10000] [--seed 0]

Values, lines and tags of the arm that comes with mbvi are changed: numbers that are none or huge, other names, paths that lead
elsewhere, missing and doubled elements. Of every seventh model a system is made.
"""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

import mbvi
from tests.folders import MODELS

from . import campaign

NUMBERS = (
    "",
    "0",
    "-1",
    "1e308",
    "-1e-320",
    "nan",
    "inf",
    "1e400",
    "x",
    "1 2",
    "1,2,3",
    "0 0 0 0",
    "1e49",
    "-0.0",
    "0x10",
    "1_0",
)
NAMES = ("world", "base_link", "finger.left", "腕", " a ", "a" * 5000, "&lt;", "${a}", "$(find a)", "robot arm")
PATHS = (
    *("/etc/passwd", "../../../../etc/passwd", "file:///etc/passwd", "package://", "package:///", "model://a"),
    *("package://../../../etc/x.stl", "http://host/x.stl", "meshes", "arm.urdf", "meshes/base.dae"),
)
VALUE, ELEMENT = re.compile('"[^"]*"'), re.compile(r"<(\w+)([^<>]*)/>")


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """A folder with a copy of the arm's package, in which its file is changed; it goes when the process ends."""
    made = tempfile.TemporaryDirectory()
    shutil.copytree(MODELS / "robot_arm", Path(made.name) / "robot_arm")
    return made


def mutated(seed: int) -> str:
    """The arm's file with one to three mutations."""
    chance, text = random.Random(seed), (MODELS / "robot_arm" / "arm.urdf").read_text()
    tags = sorted(set(re.findall(r"<(\w+)", text)))
    for _ in range(chance.randint(1, 3)):
        values, elements, lines = list(VALUE.finditer(text)), list(ELEMENT.finditer(text)), text.split("\n")
        match chance.randrange(5):
            case 0 | 1 if values:
                at = chance.choice(values)
                text = f'{text[: at.start()]}"{chance.choice(NUMBERS + NAMES + PATHS)}"{text[at.end() :]}'
            case 2 if values:
                at, other = chance.choice(values), chance.choice(values)
                text = text[: at.start()] + other[0] + text[at.end() :]
            case 3 if elements:
                at = chance.choice(elements)
                text = f"{text[: at.start()]}<{chance.choice(tags)}{at[2]}/>{text[at.end() :]}"
            case _:
                at = chance.randrange(len(lines))
                lines[at : at + 1] = [] if chance.random() < 0.5 else [lines[at], chance.choice(lines)]
                text = "\n".join(lines)
    return text


def trial(seed: int) -> str:
    """How a mutated file ended: as a model, or refused."""
    path, chance = Path(folder().name) / "robot_arm" / "arm.urdf", random.Random(seed)
    path.write_text(mutated(seed))
    try:
        model = mbvi.load(path, floating=chance.random() < 0.3, geometry=chance.choice(("visual", "collision", "none")))
    except mbvi.ModelError as error:
        assert re.match(rf"{re.escape(str(path))}:\d+: ", str(error)), str(error)
        return "refused"
    assert mbvi.from_yaml(mbvi.to_yaml(model), folder=path.parent) == model
    if seed % 7 == 0:
        try:
            mbvi.assemble(model)
        except mbvi.ModelError:
            return "no system"
    return "accepted"


if __name__ == "__main__":
    campaign.main(trial, "mutated URDF files", 10_000)
