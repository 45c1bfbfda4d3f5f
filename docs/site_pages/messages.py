"""The list of all messages, read from the sources of the package.

A message is what a ModelError, a StepError or a warning says, or what `mbvi check` finds odd. It is the arguments of
`wrong(expected, found, remedy)`, or a text of its own; what is filled in when it is made is shown as `…`.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "mbvi"
TITLES = {
    "model": "Model files",
    "system": "Systems and their start",
    "run_arguments": "Runs",
    "simulation": "Runs",
    "simulator": "Runs",
    "between": "Runs",
    "control": "Controllers and environments",
    "gym": "Controllers and environments",
    "live": "Pages that follow a run",
    "steppers": "Steps",
    "schemes": "Schemes",
    "catalog": "Schemes",
    "cli/check_report": "What is unusual",
    "results": "Trajectories, their files and tables",
    "pictures": "Plots and pictures",
    "animation": "Animations",
    "measure": "Comparisons of schemes",
    "analysis": "Analysis",
    "exact": "Exact motions",
    "ensembles": "Ensembles",
    "papers": "Papers",
    "cli/commands": "Command line",
    "cli/options": "Command line",
}
"""The sections of the page, by the modules and packages whose messages they list."""
INTRODUCTION = """Every error and warning that `mbvi` may give, listed from its source code. `…` stands for what is filled
in, such as the place in the file or the name of a body. Most messages say after the semicolon what to do.
[When something is wrong](../errors.md) explains the most frequent ones, and [Keys of model files](schema.md) what every key
takes."""
MAKERS = {"ModelError", "StepError", "Problem", "warn", "refusal", "note"}
SAYING = {
    "failure",
    "step_message",
    "_idle_parameters",
    "_odd_gravity",
    "_odd_forces",
    "short_tables",
    "overshoots",
    "kinks_in_steps",
}  # by return or yield
IS_MESSAGE = re.compile(r".*\w{2} \w").match
SAYS_SOMETHING = re.compile(r"(?!expected …, found …(; …)?$)").match


def write(folder: Path) -> None:
    """Write the page into a folder."""
    blocks = ["# All messages", INTRODUCTION]
    for title in dict.fromkeys(TITLES.values()):
        rooms = [room for room, its_title in TITLES.items() if its_title == title]
        found = filter(SAYS_SOMETHING, {message for room in rooms for message in messages_of(room)})
        found = sorted(found, key=lambda message: message.lstrip("… .:'-").lower())
        blocks += [f"## {title}", "\n".join(f"- `{message}`" for message in found)]
    (folder / "messages.md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def messages_of(room: str) -> Iterator[str]:
    """The messages of a module or a package of `mbvi`."""
    for path in sorted((PACKAGE / room).rglob("*.py")) or [PACKAGE / f"{room}.py"]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        nested = {id(inner) for outer in functions for inner in ast.walk(outer) if inner is not outer}
        imports = [node for node in tree.body if isinstance(node, ast.Try)]  # of what may not be installed
        for each in (*imports, *(each for each in functions if id(each) not in nested)):
            yield from _messages(each, room == "cli/check_report")
        yield from (value.value for value in ast.walk(tree) if _is_reason(value))


def _is_reason(node: ast.AST) -> bool:
    """Whether a text is one that `REASONS` keeps."""
    return isinstance(node, ast.Constant) and str(node.value).endswith(
        (" did not converge", " became singular", " or not a number")
    )


def _messages(function: ast.stmt, is_report: bool) -> Iterator[str]:
    for node in ast.walk(function):
        made: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name == "wrong":
                parts = (_templates(part, function, node.lineno) for part in node.args)
                for expected, found, *remedy in itertools.product(*parts):
                    yield _plain(
                        f"expected {expected}, found {found}" + "".join(f"; {each}" for each in remedy if each)
                    )
            elif name in MAKERS or (is_report and name == "append"):
                made = node.args
        elif isinstance(node, ast.Return | ast.Yield) and _owner(function, node) in SAYING and node.value:
            made = [node.value]
        for part in made:
            yield from (_plain(text) for text in _templates(part, function, node.lineno) if IS_MESSAGE(text))


def _owner(function: ast.stmt, node: ast.AST) -> str:
    """The name of the function of a statement, which may be one in a function."""
    functions = [inner for inner in ast.walk(function) if isinstance(inner, ast.FunctionDef)]
    return next(inner.name for inner in reversed(functions) if node in ast.walk(inner))


def _templates(node: ast.expr, function: ast.stmt, line: int) -> list[str]:
    """The texts that an expression may be, with … for what is not constant."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return [
                "".join(parts) for parts in itertools.product(*(_templates(each, function, line) for each in values))
            ]
        case ast.FormattedValue(value=ast.Name() | ast.IfExp() as value, format_spec=None):
            return _templates(value, function, line)
        case ast.IfExp(body=body, orelse=orelse):
            return list(dict.fromkeys([*_templates(body, function, line), *_templates(orelse, function, line)]))
        case ast.Name(id=name):
            return _set_before(name, function, line)
    return ["…"]


def _set_before(name: str, function: ast.stmt, line: int) -> list[str]:
    """What a name was last set to above a line of a function."""
    values = [
        (node.lineno, value)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and node.lineno < line
        for target in node.targets
        for value in _parts(target, node.value, name)
    ]
    last = max((at for at, _ in values), default=0)
    return [text for at, value in values if at == last for text in _templates(value, function, at)] or ["…"]


def _parts(target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
    """What an assignment sets a name to, among others perhaps, and under conditions."""
    match target, value:
        case ast.Name(id=other), _ if other == name:
            return [value]
        case ast.Tuple(), ast.IfExp(body=body, orelse=orelse):
            return [*_parts(target, body, name), *_parts(target, orelse, name)]
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            return [part for pair in zip(targets, values, strict=True) for part in _parts(*pair, name)]
    return []


def _plain(text: str) -> str:
    """On one line, in quotes that are not those of code."""
    return re.sub(r"\s+", " ", text.replace("`", "'")).strip()
