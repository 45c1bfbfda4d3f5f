"""Docstrings of kernels: the shape and the unit of every array that they take, and which of these they write to.

A shape stands behind the names of its arrays, in a row of a table or in a sentence, as in "g, g_t (k,)". A kernel may refer to
another one by "Arguments are those of `name`", or to the table at the head of its file by "Arguments: see the head of this file".

A unit stands in brackets, in the row of its array or behind names in a paragraph "Units", as in "Units: q [u]; v, w [u/s]". What
the head of a file says of the unit of a name holds for all of its kernels. Work needs no unit, and what is a
number alone has [1]. A kernel that takes times or steps names theirs too, and one that takes neither has a unit somewhere.
"""

import ast
import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest

import mbvi.kernels

FOLDER = Path(mbvi.kernels.__file__).parent
DECORATORS = {"kernel", "inlined_kernel", "solver_kernel", "copied_kernel", "copied_solver_kernel", "late_kernel"}
VIEWS = {"lanes", "wide_lanes", "lanes_at", "put_lanes", "width_of", "prefetch"}  # what takes an array first
SHAPE = r"\([^()]*,[^()]*\)"
NAMES = r"\w+(?:(?:, | … )\w+)*"
ROW = re.compile(rf"(?<![\w.])({NAMES})\s+({SHAPE})")
OTHER = re.compile(r"[Aa]rguments are those of `(\w+)`")
HEAD = re.compile(r"[Aa]rguments: see the head of this file")
WORD = r"(?:unit|any|mixed|of|or|in|out|the|input|per|m|rad|s|kg|N|J|W|u|g|f|ψ|ns|1|–)[²³]?(?![\w²³])"
UNIT = rf"(?<![\w)\]])\[{WORD}(?:[ ,;:/()]+{WORD}|\))*\]"
UNITS = re.compile(r"^Units\b.*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
NAMED = re.compile(rf"(?<![\w.])({NAMES}),?\s+({UNIT})")
WORK = re.compile(r"(?:[\s,]*\([^()]*\))*\s*work\b")
ITEM_END = re.compile(r"\n\n|\n\w[\w, …]* {2}")
TIMES = ("t", "t0", "h", "tau")
WRITTEN = re.compile(r"\b(out|work|overwritten)\b")


@dataclass
class Kernel:
    """What the source of a kernel says.

    module        where it stands, below mbvi.kernels, or the few that stand elsewhere, below mbvi
    parameters    its arguments, in their order
    arrays        those that are certainly arrays; more are found by what it calls
    written       those that it writes to itself
    calls         names that it calls, each with the names that it passes, or None for what is no name
    """

    module: str
    name: str
    doc: str
    head: str
    parameters: list[str]
    arrays: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    calls: list[tuple[str, list[str | None]]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


def name_of(node: ast.AST | None) -> str | None:
    """The name that an expression is, or the array that it shows in lanes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in VIEWS and node.args:
        return name_of(node.args[0])
    return node.id if isinstance(node, ast.Name) else None


def is_kernel(function: ast.FunctionDef) -> bool:
    decorators = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    return any(isinstance(each, ast.Name) and each.id in DECORATORS for each in decorators)


def names_of(function: ast.FunctionDef) -> dict[str, str]:
    """Of variables, the argument that they are, or that they show in lanes."""
    names = {each.arg: each.arg for each in function.args.args}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            values = value.elts if isinstance(value, ast.Tuple) else [value]
            for left, right in zip(targets, values, strict=False):
                if isinstance(left, ast.Name) and name_of(right) in names:
                    names.setdefault(left.id, names[name_of(right)])
    return names


def read(function: ast.FunctionDef, module: str, head: str) -> Kernel:
    """A kernel, with what its own lines tell of its arguments."""
    parameters = [each.arg for each in function.args.args]
    found = Kernel(module, function.name, ast.get_docstring(function) or "", head, parameters)
    names = names_of(function)

    def argument(node: ast.AST) -> str:
        return names.get(name_of(node) or "", "")

    for node in ast.walk(function):
        if isinstance(node, ast.Subscript):
            found.arrays.add(argument(node.value))
            if isinstance(node.ctx, ast.Store):
                found.written.add(argument(node.value))
        elif isinstance(node, ast.Attribute) and node.attr == "shape":
            found.arrays.add(argument(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            passed = [argument(each) for each in node.args]
            if node.func.id in VIEWS:
                found.arrays.add(passed[0])
            if node.func.id == "put_lanes":
                found.written.add(passed[0])
            if node.func.id == "call" and isinstance(node.args[2], ast.Tuple):
                items = [argument(each) for each in node.args[2].elts]
                found.arrays |= set(items if "system" not in items else ())  # what takes a system is a late kernel
            found.calls.append((node.func.id, [each or None for each in passed]))
    found.arrays.discard("")
    found.written.discard("")
    return found


@cache
def kernels() -> dict[tuple[str, str], Kernel]:
    """All kernels, by the module that has the name and the name, with all arguments that are arrays or are passed on as such."""
    found: dict[tuple[str, str], Kernel] = {}
    imports: list[tuple[str, str, str]] = []
    for path in sorted(FOLDER.parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts).removeprefix("kernels.")
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and is_kernel(node):
                found[module, node.name] = read(node, module, ast.get_docstring(tree) or "")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mbvi.kernels."):
                imports += [(module, node.module.removeprefix("mbvi.kernels."), each.name) for each in node.names]
    found |= {(to, name): found[of, name] for to, of, name in imports if (of, name) in found}
    is_complete = False
    while not is_complete:
        is_complete = True
        for (module, _), each in found.items():
            if module == each.module:
                for name, passed in each.calls:
                    called = found.get((module, name))
                    pairs = zip(called.parameters, passed, strict=False) if called else ()
                    new = {mine for theirs, mine in pairs if mine and theirs in called.arrays} - each.arrays
                    each.arrays |= new
                    is_complete &= not new
    return found


def rows(text: str) -> dict[str, str]:
    """Every name that stands before a shape, with what is said of it: all up to the next one."""
    matches = list(ROW.finditer(text))
    ends = [*(match.start() for match in matches[1:]), len(text)]
    said: dict[str, str] = {}
    for match, end in zip(matches, ends, strict=False):
        said |= dict.fromkeys(re.split(r", | … ", match[1]), text[match.end() : end])
    return said


def said_of(each: Kernel) -> dict[str, str]:
    """What the docstring says of every argument whose shape it names, or the one that it refers to, or the head of its file."""
    said, text = rows(each.doc), " ".join(each.doc.split())
    if HEAD.search(text):
        said = rows(each.head) | said
    for name in OTHER.findall(text):
        said = said_of(kernels()[each.module, name]) | said
    return said


def works(text: str) -> set[str]:
    """Every name of which a docstring says that it is work, whose numbers mean nothing outside."""
    return {name for name, said in rows(text).items() if WORK.match(said)}


def named_units(text: str) -> set[str]:
    """Every name of which a docstring gives the unit, and those of work, which needs none."""
    items = {name: ITEM_END.split(said)[0] for name, said in rows(text).items()}
    found = works(text) | {name for name, said in items.items() if re.search(UNIT, " ".join(said.split()))}
    for paragraph in UNITS.findall(text):
        for match in NAMED.finditer(" ".join(paragraph.split())):
            found |= set(re.split(r", | … ", match[1]))
    for line in text.splitlines():  # a number, of which no shape is given
        match = re.match(rf"({NAMES})\s+(?:float\b|\[).*", line)
        if match and re.search(UNIT, line):
            found |= set(re.split(r", | … ", match[1]))
    return found


def unit_texts(each: Kernel) -> list[str]:
    """The docstring of a kernel, that of its file, and those that it refers to."""
    others = [kernels()[each.module, name] for name in OTHER.findall(" ".join(each.doc.split()))]
    return [each.doc, each.head, *(text for other in others for text in unit_texts(other))]


def asked_units(each: Kernel) -> list[str]:
    """What a kernel takes of arrays and of times."""
    return [name for name in each.parameters if name in each.arrays or name in TIMES]


def without_unit(each: Kernel) -> list[str]:
    """The arrays and times of a kernel without a unit; all that it takes, if it takes neither and no unit is said at all."""
    texts, asked = unit_texts(each), asked_units(each)
    if not asked:
        return [] if any(re.search(UNIT, " ".join(text.split())) for text in texts) else each.parameters
    return [name for name in asked if name not in set().union(*map(named_units, texts))]


EVERY = [each for (module, _), each in kernels().items() if module == each.module]


@pytest.mark.parametrize("each", EVERY, ids=str)
def test_shapes_are_named(each):
    missing = [name for name in each.parameters if name in each.arrays and name not in said_of(each)]
    assert not missing, f"{each}: the docstring names no shape of {', '.join(missing)}"


@pytest.mark.parametrize("each", EVERY, ids=str)
def test_outputs_are_named(each):
    said = said_of(each)
    missing = [name for name in each.parameters if name in each.written and not WRITTEN.search(said.get(name, ""))]
    assert not missing, f"{each}: the docstring does not say that it writes to {', '.join(missing)}"


@pytest.mark.parametrize("each", EVERY, ids=str)
def test_units_are_named(each):
    missing = without_unit(each)
    assert not missing, f"{each}: the docstring names no unit of {', '.join(missing)}"


@pytest.mark.parametrize("each", [each for each in EVERY if each.parameters and len(unit_texts(each)) == 2], ids=str)
def test_units_that_are_taken_away_are_missed(each):
    doc, head = (re.sub(r"\[[^\]]*\]", "", text) for text in (each.doc, each.head))
    missing = [name for name in asked_units(each) if name not in works(doc) | works(head)]
    assert without_unit(replace(each, doc=doc, head=head)) == (missing if asked_units(each) else each.parameters)


def test_one_unit_that_is_taken_away_is_missed():
    """A unit that stood in the docstring, and one that stood at the head of the file."""
    in_row, in_head = kernels()["mechanics.lagrangian", "fill_energies"], kernels()["galerkin.steps", "store_state"]
    assert without_unit(replace(in_row, doc=in_row.doc.replace("  [J]", ""))) == ["kinetic", "potentials"]
    assert without_unit(replace(in_head, head=in_head.head.replace("all_p [J s/u]", "all_p"))) == ["p"]


def test_kernels_are_found():
    """Arrays are distinguished from numbers and from packed objects, also where a kernel passes them on."""
    found = kernels()
    assert len(EVERY) > 300
    assert found["mechanics.lagrangian", "fill_gradient"].arrays == {"p", "f", "q", "v"}
    assert found["mechanics.rotation", "cross"].arrays == set()
    assert found["algebra.compensated", "add_compensated"].written == {"x", "low"}
