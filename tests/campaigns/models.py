"""Mutated model files: each is a model, or an error that names the line; none hangs, and none raises anything else.

    python -m tests.campaigns.models [--count 20000] [--seed 0]

Characters, lines and values of the models that come with mbvi and of one with all kinds of elements are changed: typing errors,
wrong types, huge numbers and infinities, deep nesting, aliases that grow or hold themselves, tags. What is a model is assembled.
"""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Any

import yaml

import mbvi
from tests.folders import MODELS

from . import campaign

SMALL = 6000  # characters of the models that are taken
NASTY = (
    *(
        "",
        "~",
        "null",
        "true",
        "no",
        ".nan",
        ".inf",
        "-.inf",
        "1e999",
        "-1e300",
        "1e-320",
        "0",
        "-1",
        "0x1F",
        "1_000",
        "1:30",
    ),
    *(
        "[]",
        "{}",
        "[[]]",
        "[1, 2]",
        "[1, [2]]",
        "{a: 1}",
        "[.nan, 0, 0]",
        "[1e200, 1e200, 1e200]",
        "'text'",
        '"\\u0000"',
    ),
    *("'𝕏'", "2024-01-01", "12e3 deg", "pi**pi**pi**pi**9", "1/0", "(((1)))", "sin(t", "t", "q", "length", "9" * 400),
    *("world", "__class__", "exec('1')", "[" * 40 + "]" * 40, "{a: " * 30 + "1" + "}" * 30, "'" + "x" * 3000 + "'"),
    *("!!python/object/apply:os.system ['true']", "!!python/name:os.system", "!!binary aGk=", "!!set {a, b}", "!own 1"),
    *("&a [*a]", "*unknown", "<<: {a: 1}", "|\n  text", "? [1, 2]\n: 3", "0.1 kg", "60 rpm", "1 furlong", "-0.0"),
)
ALPHABET = "abcxyz019.,:;-+*/()[]{}<>&!|>'\"%@`#~?=_ \t\n\r\\é\u2028\ufeff\x00\x07𝕏"
LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
HEADS = (
    LAUGHS,
    "&top\n",
    "%YAML 9.9\n---\n",
    "---\n---\n",
    "\ufeff",
    "!!map\n",
    "- ",
    "[" * 3000,
    "{a: " * 2000,
    "? " * 500,
)
WITHOUT_LINE = re.compile(r"file\.yaml: (expected a mapping|expected a YAML|.*(empty|nothing))")


@cache
def texts() -> list[str]:
    """The files that are changed."""
    found = [path.read_text() for path in sorted(MODELS.glob("*.yaml"))]
    return [text for text in found if len(text) < SMALL]


def changed_text(random: random.Random, text: str) -> str:
    """A text with something typed wrong."""
    lines = text.splitlines(keepends=True)
    at, line = random.randrange(len(text)), random.randrange(len(lines))
    match random.randrange(8):
        case 0:
            return text[:at] + random.choice(ALPHABET) + text[at:]
        case 1:
            return text[:at] + text[at + random.randint(1, 4) :]
        case 2:
            return text[:at] + random.choice(ALPHABET) + text[at + 1 :]
        case 3:
            lines[line : line + 1] = [lines[line]] * random.randint(0, 3)
        case 4:
            other = random.randrange(len(lines))
            lines[line], lines[other] = lines[other], lines[line]
        case 5:
            lines[line] = " " * random.randint(0, 6) + lines[line].lstrip(" ")
        case 6:
            return text[: random.randrange(len(text))]
        case _:
            return random.choice(HEADS) + text
    return "".join(lines)


def changed_scalar(random: random.Random, text: str) -> str:
    """A text with another scalar, or another key."""
    places = list(re.finditer(r"[\w.+*/()'-]+", text))
    if not places:
        return text
    place = random.choice(places)
    other = random.choice(NASTY) if random.random() < 0.7 else random.choice(places)[0]
    return text[: place.start()] + other + text[place.end() :]


def changed_value(random: random.Random, text: str) -> str:
    """What a text holds, with another value at some place of it."""
    try:
        tree = yaml.safe_load(text)
        other = yaml.safe_load(random.choice(NASTY))
    except (yaml.YAMLError, ValueError, RecursionError):
        return text
    node, places = tree, [(tree, key) for key in tree] if isinstance(tree, dict) else []
    if not places:
        return text
    while True:
        node, key = random.choice(places)
        inner = node[key]
        deeper = list(inner) if isinstance(inner, dict) else list(range(len(inner))) if isinstance(inner, list) else []
        if not deeper or random.random() < 0.2:
            break
        places = [(inner, each) for each in deeper]
    _change(random, node, key, other)
    try:
        return yaml.safe_dump(tree, sort_keys=False)
    except (yaml.YAMLError, RecursionError):
        return text


def _change(random: random.Random, node: Any, key: Any, other: Any) -> None:
    match random.randrange(4):
        case 0:
            del node[key]
        case 1 if isinstance(node, dict):
            node[f"{key}{random.choice('s_x')}"] = node.pop(key)
        case 2 if isinstance(node[key], int | float) and not isinstance(node[key], bool):
            node[key] *= random.choice([-1, 0, 1e10, 1e300, 1e-300, float("inf"), float("nan")])
        case _:
            node[key] = other


def mutated(seed: int) -> str:
    """The file of a seed."""
    chance = random.Random(seed)
    text = chance.choice(texts())
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        change = chance.choice([changed_text, changed_scalar, changed_scalar, changed_value])
        text = change(chance, text) if text.strip() else text
    return text


def trial(seed: int) -> str:
    """Read, and assemble, the file of a seed."""
    text = mutated(seed)
    try:
        model = mbvi.from_yaml(text, "file.yaml")
    except mbvi.ModelError as error:
        message = str(error)
        if not re.match(r"file\.yaml:\d+: ", message) and not WITHOUT_LINE.match(message):
            raise AssertionError(f"no line in: {message}") from None
        if "\n" in message:
            raise AssertionError(f"several lines: {message}") from None
        return "refused with their line"
    try:
        mbvi.assemble(model)
    except mbvi.ModelError:
        return "models that cannot be assembled"
    return "models"


if __name__ == "__main__":
    campaign.main(trial, "mutated model files", 20_000)
