"""The references: model files from their JSON Schema, the Python names from their docstrings."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes

import mbvi
from mbvi.model.base import Element
from mbvi.model.file import schema_text

from .names import PAGES, Source, public

Schema = dict[str, Any]
SCHEMA: Schema = json.loads(schema_text())
PARTS: Schema = SCHEMA["$defs"]


def write(folder: Path) -> None:
    """Write all pages into a folder."""
    (folder / "schema.md").write_text("\n\n".join(_schema_page()), encoding="utf-8")
    for name, (title, text, sources) in PAGES.items():
        blocks = [block for source in sources for block in _module(source, is_alone=len(sources) == 1)]
        (folder / f"{name}.md").write_text("\n\n".join([f"# {title}", text, *blocks]), encoding="utf-8")


# ------------------------------------------------------------------------------------------ model files


def _schema_page() -> Iterator[str]:
    """Markdown of the reference of model files."""
    named = {key: each.get("additionalProperties") or {} for key, each in SCHEMA["properties"].items()}
    kinds = {key: each for key, each in named.items() if "oneOf" in each}
    kinds["shapes"] = PARTS["Body"]["properties"]["shapes"]["items"]
    yield "# Keys of model files"
    yield (
        "Every key of a model file, made from the JSON Schema that `mbvi schema` prints. "
        "[Model files](../guide.md) shows them at work."
    )
    yield "## Model"
    yield from _element(SCHEMA)
    yield "## Number"
    yield "A number, or an expression of parameters such as `pi/3`, `60 deg` or `sqrt(2)*length`."
    yield "## Vector"
    yield "Three numbers, `[x, y, z]`."
    yield "## TimeFunction"
    yield "A number, an expression of the time `t`, or a [table](#table)."
    yield "## Motion"
    yield "A number, an expression of the time `t`, or a [table of a motion](#motiontable)."
    for name in ("Table", "MotionTable", "Body", "Frame", "PointMass", "RopePoint", "Limits"):
        yield f"## {name}"
        yield from _element(PARTS[name])
    for key, choices in kinds.items():
        elements = [each["$ref"].rsplit("/", 1)[1] for each in choices["oneOf"]]
        yield f"## {key.capitalize()}"
        common = _common([PARTS[name] for name in elements])
        if common:
            yield f"Every {key.removesuffix('s')} has these keys."
            yield _keys(common, [key for key in common if key in PARTS[elements[0]].get("required", [])])
        for name in elements:
            yield f"### {_title(name)}"
            yield from _element(PARTS[name], {"type", *common})
            yield f"In Python `mbvi.{name}`."
    for name in ("Initial", "Simulation", "Attachment"):
        yield f"## {name}"
        yield from _element(PARTS[name])


def _title(name: str) -> str:
    """What model files call a part of the schema: its type, if it has one."""
    return PARTS[name].get("properties", {}).get("type", {}).get("const", name)


def _common(elements: Sequence[Schema]) -> Schema:
    """The keys that all elements have alike."""
    first, *others = (element["properties"] for element in elements)
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def _element(element: Schema, without: set[str] = frozenset()) -> Iterator[str]:
    """What an element is, and its keys."""
    yield element["description"]
    own = {key: value for key, value in element["properties"].items() if key not in without}
    if own:
        yield _keys(own, element.get("required", []))


def _keys(keys: Schema, required: Sequence[str]) -> str:
    """A list of keys: what they take, their default, what they mean."""
    lines = []
    for key, value in keys.items():
        default = "**required**" if key in required else _default(value)
        brackets = ", ".join(filter(None, [_value(value), default]))
        lines.append(f"- `{key}` ({brackets}): {value.get('description', '')}")
    return "\n".join(lines)


def _default(value: Schema) -> str:
    found = value.get("default")
    match found:
        case None | "" | [] | dict():
            return ""
        case str():
            return f"by default `{found}`"
    return f"by default `{json.dumps(found)}`".replace(".0,", ",").replace(".0]", "]").replace(".0`", "`")


def _value(value: Schema) -> str:
    """In words what a key takes."""
    if "$ref" in value:
        name = _title(value["$ref"].rsplit("/", 1)[1])
        return f"[{name}](#{name.lower()})"
    for choice in ("anyOf", "oneOf"):
        if choice in value:
            return " or ".join(dict.fromkeys(_value(each) for each in value[choice] if each.get("type") != "null"))
    if "enum" in value:
        return " or ".join(f"`{each}`" for each in value["enum"])
    match value.get("type"):
        case ["number", "string", *_]:
            return "[Number](#number)"
        case "array":
            least, most = value.get("minItems"), value.get("maxItems")
            count = f"{least} " if least and least == most else f"{least} or {most} " if most else ""
            return f"list of {count}{_value(value['items'])}"
        case "object":
            return f"mapping of names to {_value(value['additionalProperties'])}"
        case "boolean":
            return "`true` or `false`"
    return "text"


# --------------------------------------------------------------------------------------------- Python

ELEMENTS = """The elements of a model have the names, keys and defaults of the [model file](schema.md), with which Python and
YAML say the same: {names}."""
VERBATIM = [".. code-block:: text", ""]
IS_TABLE = re.compile(r"\w+ {2,}\S").match
IS_SHARED = re.compile(r"(\w+(?:, \w+)+) : (.*)").fullmatch


def _module(source: Source, is_alone: bool) -> Iterator[str]:
    """The public names of a module, after its docstring if all that it has is public."""
    name, module = source.module, import_module(source.module)
    elements = []
    if not is_alone:
        yield f"## {name}"
    if not is_alone and not source.names:
        yield _auto("module", name)
    for key in public(source):
        value = getattr(module, key)
        if inspect.isclass(value) and issubclass(value, Element) and value is not mbvi.Model:
            elements.append(f"`{key}`")
        elif inspect.isclass(value):
            yield _auto("class", f"{name}.{key}", *_members(value))
        elif callable(value):
            yield _auto("function", f"{name}.{key}")
        else:
            yield _auto("data", f"{mbvi.HOMES.get(key, name)}.{key}", "no-value")
    if elements:
        yield ELEMENTS.format(names=", ".join(sorted(elements)))


def _members(value: type) -> list[str]:
    """The options by which a class is shown with its members, those of a class that is not public itself among them."""
    names = public(Source("mbvi"))
    bases = [base for base in value.__bases__ if base.__module__.startswith("mbvi.") and base.__name__ not in names]
    return ["members", "inherited-members"] if bases and not issubclass(value, Element) else ["members"]


def _auto(kind: str, name: str, *options: str) -> str:
    lines = [f".. auto{kind}:: {name}", *(f"   :{option}:" for option in options)]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def plain(app: Any, kind: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Make reStructuredText of a docstring, which is written to be read as it stands.

    Bars and powers are no markup. Indented formulas and tables of fields keep their lines, names that share a description get
    one each, a source is no part of the section before it, and a colon in that of a property says nothing of its type.
    """
    lines[:] = [line if ">>>" in line else re.sub(r"\*\*|\|", r"\\\g<0>", line) for line in lines]
    for i in reversed(range(1, len(lines))):
        end = next((j for j in range(i, len(lines)) if not lines[j]), len(lines))
        if IS_TABLE(lines[i]) and not lines[i - 1]:
            lines[i:end] = [*VERBATIM, *(f"    {line}" for line in lines[i:end])]
        elif lines[i].startswith("    ") and not lines[i - 1] and not _is_formula(lines[:i]):
            lines[i:i] = VERBATIM
        elif shared := IS_SHARED(lines[i]):
            end = next((j for j in range(i + 1, len(lines)) if not lines[j].startswith("    ")), len(lines))
            lines[i:end] = [
                line for name in shared[1].split(", ") for line in (f"{name} : {shared[2]}", *lines[i + 1 : end])
            ]
        elif lines[i].startswith("Source: "):
            lines[i:i] = [""]
    if kind == "property":
        lines[:0] = ["..", ""]


def is_field(app: Any, kind: str, name: str, value: Any, is_skipped: bool, options: Any) -> bool | None:
    """Leave out what Python says of the fields of a named tuple: the docstring of the tuple has them all."""
    return True if isinstance(value, type(mbvi.MassProperties.mass)) else None


def dash(app: Any, doctree: Any) -> None:
    """Write the dash behind the name or type of a parameter as a dash."""
    for text in doctree.findall(lambda node: isinstance(node, nodes.Text) and node.startswith(" -- ")):
        text.parent.replace(text, nodes.Text(" –" + text[3:]))


def _is_formula(lines: Sequence[str]) -> bool:
    """Whether the last line that is not blank is indented."""
    return next((line.startswith("    ") for line in reversed(lines) if line), False)
