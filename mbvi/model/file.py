"""Model files: YAML to Model and back, and the JSON Schema that editors check them with.

The YAML is read event by event into plain mappings, lists, text and numbers, with the line of every key; aliases,
tags and duplicate keys are errors, so a file can neither execute anything nor unfold into more than it is. Numbers
are decimal: `1e-3` and `010`, which is ten, are numbers, `1:30`, `0x10` and `on` are text.

mbvi/model/schema.json holds `schema_text()`; `mbvi schema > mbvi/model/schema.json` renews it.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from pydantic import ValidationError

from mbvi.errors import ModelError, said_by_system
from mbvi.floats import as_floats
from mbvi.model import meshes
from mbvi.model.arguments import check_choice, check_flag, check_kind, checked_path
from mbvi.model.attach import GROUPS, Attachment, mesh_paths, put_on, renamed
from mbvi.model.base import Element, documentation, elements_below, one_line, problems_of
from mbvi.model.expressions import Problem, Where, as_number, infix, show, wrong
from mbvi.model.fields import SHARED_SCHEMAS, VARIABLES, Kind, kinds
from mbvi.model.import_report import ImportReport, joined
from mbvi.model.imports import import_robot
from mbvi.model.imports.robot import Options
from mbvi.model.mesh_files import Files
from mbvi.model.model import Model
from mbvi.model.shapes import Mesh

if TYPE_CHECKING:
    import yaml

HDF5 = b"\x89HDF"  # how such a file begins
MAX_BYTES = 4 * 2**20
MAX_XML_BYTES = 32 * 2**20
ROBOT_ENDINGS = (".urdf", ".sdf", ".mjcf", ".xml")
XML_SPACE = b"\xef\xbb\xbf \t\r\n"
MAX_DEPTH = 20

_NON_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {"": None, "~": None}
for _word, _value in (("null", None), ("true", True), ("false", False)):
    _WORDS |= {_word: _value, _word.capitalize(): _value, _word.upper(): _value}

ATTACH_SCHEMA = {
    "additionalProperties": {"$ref": "#/$defs/Attachment"},
    "type": "object",
    "description": "Other model files that are put onto frames of this one, by names.",
}
Lines = dict[Where, int]
AnElement = TypeVar("AnElement", bound=Element)


def load(
    path: str | os.PathLike[str],
    *,
    search: Sequence[str | os.PathLike[str]] = (),
    floating: bool | None = None,
    geometry: Literal["visual", "collision", "none"] = "visual",
    mend: bool = True,
    start: str | None = None,
    locked: Mapping[str, float | Sequence[float] | None] | Sequence[str] = (),
    stops: bool = False,
) -> Model:
    """Read a model file, or import a robot's; the file's content says which it is.

    Parameters
    ----------
    path : str or path
        A YAML file of at most 4 MiB, or a URDF, SDF or MJCF file of at most 32 MiB.
    search : sequence of str or path
        Folders from which a robot's file may have others, besides its own package: packages, or folders with packages. Those of
        ROS_PACKAGE_PATH and AMENT_PREFIX_PATH follow.
    floating : bool, optional
        Whether a robot's root moves freely, or is welded to the world. By default that of a URDF file is welded, and that of
        an SDF file free unless a joint ties it to the world. An MJCF file always says so itself.
    geometry : str
        What is drawn of a robot: visual, collision or none.
    mend : bool
        Whether inertias of a robot that no rigid body has become the nearest that one has, with a warning, instead of an error.
    start : str, optional
        Name of the keyframe of an MJCF file from which the model starts.
    locked : mapping of str to number, list or None, or sequence of str, optional
        Joints of a robot that are welded, each at its coordinates there [rad or m]; those of None, or named in a list, where
        they start.
    stops : bool
        Whether the limits of a robot's joints and tendons stop them, without a bounce, and their friction acts.

    Returns
    -------
    Model
        The checked model. Its mesh files, relative to the file's folder, are read too: if they change, load it again. What
        became of a robot's file is in `Model.import_report`.

    Raises
    ------
    ModelError
        If the file cannot be read or anything in it is wrong; the message begins with file and line.
    """
    path = checked_path(path)
    if floating is not None:
        check_flag(floating, "floating")
    check_flag(mend, "mend")
    check_flag(stops, "stops")
    check_choice(geometry, ("visual", "collision", "none"), "geometry")
    folders = tuple(_folder(folder, f"search[{i}]") for i, folder in enumerate(_listed(search)))
    if start is not None and not isinstance(start, str):
        raise ModelError(f"start: {wrong('the name of a keyframe', show(start))}")
    options = Options(folders, floating, geometry, mend, start, _locked(locked), stops)
    content = _content(path)
    if content.lstrip(XML_SPACE).startswith(b"<"):
        return import_robot(content, path, options)
    if path.suffix.lower() in ROBOT_ENDINGS:
        found = "text that does not begin with <" if content.strip() else "an empty file"
        remedy = "export it again; models of mbvi end in .yaml"
        raise ModelError(f"{path}: {wrong('a file of a robot, in XML', found, remedy)}")
    if options != Options():
        raise ModelError(f"{path}: {wrong('a robot to import with options', 'a model file (YAML), which has none')}")
    return _model(_decoded(content, path), str(path), Files(path.parent), (path.resolve(),))


def _listed(search: Any) -> list[Any]:
    """The folders of an argument, each of which `checked_path` looks at."""
    if not isinstance(search, list | tuple):
        raise ModelError(f"search: {wrong('a list of folders', show(search), 'write for example [folder]')}")
    return list(search)


def _folder(given: Any, name: str) -> Path:
    """A folder that is there."""
    path = checked_path(given, name)
    if not os.path.isdir(path):
        found = f"{show(str(path))}, which is {'a file' if os.path.exists(path) else 'not there'}"
        raise ModelError(f"{name}: {wrong('a folder', found)}")
    return path


def _locked(locked: Any) -> dict[str, Any]:
    """The joints to lock, with their coordinates or None."""
    if isinstance(locked, list | tuple) and all(isinstance(name, str) for name in locked):
        locked = dict.fromkeys(locked)
    is_right = isinstance(locked, Mapping) and all(isinstance(name, str) for name in locked)
    if not is_right or any(each is not None and as_floats(each) is None for each in locked.values()):
        remedy = "write for example {'wrist': 0.3}"
        raise ModelError(f"locked: {wrong('a mapping of joints to coordinates', show(locked), remedy)}")
    return dict(locked)


def from_yaml(
    text: str,
    source: str = "<string>",
    folder: str | os.PathLike[str] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Model:
    """The model that a YAML text describes.

    Parameters
    ----------
    text : str
        YAML.
    source : str
        What messages call the text.
    folder : str or path, optional
        Folder that mesh files are relative to; the working directory if None.
    files : mapping of str to bytes, optional
        Contents of the mesh files by name, which are then read from no folder.

    Raises
    ------
    ModelError
        If anything is wrong; the message begins with source and line.

    Examples
    --------
    >>> joints = "joints: {j: {type: free, parent: world, child: b}}"
    >>> from_yaml("{name: ball, bodies: {b: {mass: 1, inertia: [1, 1, 1]}}, " + joints + "}").bodies["b"].mass
    1.0
    """
    if not isinstance(text, str):
        raise ModelError(f"text: {wrong('YAML', show(text), 'mbvi.load reads a file')}")
    if not isinstance(source, str):
        raise ModelError(f"source: {wrong('what to call the text', show(source))}")
    folder = None if folder is None else checked_path(folder, "folder")
    if not _is_files(files):
        raise ModelError(f"files: {wrong('a mapping of names to bytes', show(files))}")
    return _model(text, source, Files(folder, files), ())


def _model(text: str, source: str, files: Files, above: tuple[Path, ...]) -> Model:
    """The model of a YAML text, of a file that others `above` have attached."""
    data, lines = _parse(text, source)
    model_attaches = bool(data.get("attach"))
    attached, reports = _attached(data, lines, source, files, above)
    try:
        model = Model.model_validate(data)
    except ValidationError as error:
        raise _located(problems_of(error, Model), lines, source) from None
    model._files, model._import_report, model._attaches = files.joined(attached), joined(None, reports), model_attaches
    problems = list(meshes.problems(model))
    if problems:
        raise _located(problems, lines, source)
    return model


def _attached(
    data: dict[str, Any], lines: Lines, source: str, files: Files, above: tuple[Path, ...]
) -> tuple[dict[str, bytes], list[tuple[str, str, ImportReport | None]]]:
    """Put the models that a file attaches into its data; the contents of their mesh files by their paths, and their reports."""
    given = data.pop("attach", {})
    contents: dict[str, bytes] = {}
    reports: list[tuple[str, str, ImportReport | None]] = []
    if not isinstance(given, dict):
        raise _located([Problem(("attach",), wrong("a mapping of names to models", show(given)))], lines, source)
    for name, entry in given.items():
        try:
            each = Attachment.model_validate(entry)
        except ValidationError as error:
            problems = [Problem(("attach", name, *where), what) for where, what in problems_of(error, Attachment)]
            raise _located(problems, lines, source) from None
        try:
            other = _other(each.file, files, above)
            for key in GROUPS:
                data.setdefault(key, {})
            prefix, paths = f"{name}/" if each.prefix is None else each.prefix, mesh_paths(other, files.folder)
            put_on(data, other, each, prefix, paths)
        except ModelError as error:
            raise _located([Problem(("attach", name), str(error))], lines, source) from None
        contents |= renamed(other, paths)
        reports.append((name, prefix, other.import_report))
    return contents, reports


def _other(name: str, files: Files, above: tuple[Path, ...]) -> Model:
    """The model of an attached file, which is in the model's folder or below, and not one of those above it."""
    folder = (files.folder or Path()).resolve()
    path = (folder / name).resolve()
    if files.is_given or not path.is_relative_to(folder):
        raise ModelError(f"file: {wrong('a file in the folder of the model, or below', show(name), 'move it there')}")
    if path in above:
        raise ModelError(f"file: {wrong('a model that does not attach itself', show(name), 'remove it')}")
    content = _content(path)
    if content.lstrip(XML_SPACE).startswith(b"<"):
        return import_robot(content, path, Options())
    return _model(_decoded(content, path), str(path), Files(path.parent), (*above, path))


def load_element(path: str | os.PathLike[str], kind: type[AnElement], what: str) -> AnElement:
    """An element other than a model from a YAML file of its own, which messages call so.

    Raises
    ------
    ModelError
        If anything is wrong; the message begins with file and line.
    """
    path = checked_path(path)
    data, lines = _parse(_decoded(_content(path, what), path), str(path), ", ".join(kind.model_fields))
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise _located(problems_of(error, kind), lines, str(path)) from None


def _is_files(files: Any) -> bool:
    is_mapping = isinstance(files, Mapping)
    return files is None or (
        is_mapping and all(isinstance(name, str) and isinstance(each, bytes) for name, each in files.items())
    )


def save(model: Model, path: str | os.PathLike[str], force: bool = False) -> None:
    """Write a model as YAML, such that `load` gives an equal model.

    Parameters
    ----------
    model : Model
        Paths of meshes are rewritten if the file is in another folder than the model's. If the model is from the file of a
        run, its mesh files are written too, next to the file.
    path : str or path
        The file to write.
    force : bool
        Whether an existing file is overwritten.

    Raises
    ------
    ModelError
        If it is no model, the file exists and `force` is not set, it cannot be written, or a mesh file would overwrite another.
    """
    check_kind(model, Model, "model", "mbvi.load reads one from a file")
    check_flag(force, "force")
    path = checked_path(path)
    if os.path.isfile(path) and not force:
        remedy = "choose another name, or overwrite it by force=True"
        raise ModelError(f"{path}: {wrong('a new file', 'one that exists', remedy)}")
    try:
        path.write_text(to_yaml(_moved(model, path.parent)), encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: {wrong('a file that can be written', said_by_system(error))}") from None


def to_yaml(model: Model) -> str:
    """A model as YAML: keys in the order of the reference, values that are the default left out.

    Parameters
    ----------
    model : Model
        Any model; a resolved one gives the numbers.

    Returns
    -------
    str
        Text that `from_yaml` turns into an equal model.
    """
    import yaml

    check_kind(model, Model, "model", "mbvi.load reads one from a file")
    return yaml.dump(_plain(model), Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=120)


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of model files, described by the docstrings of the elements.

    Returns
    -------
    dict
        What mbvi/model/schema.json holds.
    """
    found = Model.model_json_schema()
    definitions = found.pop("$defs") | {"Attachment": Attachment.model_json_schema()}
    found["properties"]["attach"] = ATTACH_SCHEMA
    elements = elements_below(Model) | elements_below(Attachment)
    for name, definition in [("Model", found), *definitions.items()]:
        _describe(definition, elements[name])
    parts = SHARED_SCHEMAS | definitions
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "mbvi model"}
    return title | _shared(found) | {"$defs": {name: _shared(part, name) for name, part in parts.items()}}


def schema_text() -> str:
    """The JSON Schema as text."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


# --------------------------------------------------------------------------------------------- reading


class _Open(NamedTuple):
    """A mapping or list that is being read, where it is, and the key, if there is one yet, of the next value."""

    value: Any
    where: Where
    key: list[str]


def _content(path: Path, what: str = "a model file") -> bytes:
    """The bytes of a file of a model, of a robot, or of another element."""
    try:
        if not path.exists():
            raise ModelError(f"{path}: {wrong(what, 'no such file', 'check the path')}")
        if not path.is_file():
            raise ModelError(f"{path}: {wrong(what, 'a folder' if path.is_dir() else 'something else')}")
        with path.open("rb") as file:
            if file.read(len(HDF5)) == HDF5:
                remedy = "give the model that it was made from"
                raise ModelError(f"{path}: {wrong('a model file (YAML)', 'an HDF5 file, as of a run', remedy)}")
            file.seek(0)
            is_xml = file.read(1 << 10).lstrip(XML_SPACE).startswith(b"<")
        size, limit = path.stat().st_size, MAX_XML_BYTES if is_xml else MAX_BYTES
        if size > limit:
            remedy = "" if is_xml else "give tables fewer points"
            raise ModelError(f"{path}: {wrong(f'at most {limit >> 20} MiB', f'{size / 2**20:.1f} MiB', remedy)}")
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: {wrong('a readable file', said_by_system(error))}") from None


def _decoded(content: bytes, path: Path) -> str:
    """The text of a model file."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise ModelError(f"{path}:{line}: {wrong('UTF-8 text', f'the byte 0x{byte:02x}')}") from None


def _parse(text: str, source: str, keys: str = "name, bodies, …") -> tuple[dict[str, Any], Lines]:
    """The plain data of a YAML text, and the line of every key."""
    import yaml

    if text.lstrip().startswith("<"):
        raise ModelError(f"{source}:1: {wrong('a model file (YAML)', 'XML', 'mbvi.load imports a file of it')}")
    try:
        data, lines = _Reader(source).read(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.MarkedYAMLError as error:
        line, problem = _yaml_problem(error, text.splitlines())
        raise ModelError(f"{source}:{line}: {problem}") from None
    except yaml.YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        raise ModelError(f"{source}:{line}: {wrong('YAML text', 'a control character')}") from None
    if not isinstance(data, dict):
        raise ModelError(f"{source}:1: {wrong(f'a mapping with the keys {keys}', show(data))}")
    return data, lines


def _yaml_problem(error: Any, lines: list[str]) -> tuple[int, str]:
    """The line, counted from 1, and the message of what YAML's parser says."""
    problem, mark = error.problem or "something else", error.problem_mark
    line = mark.line + 1 if mark else 1
    text = "".join(lines[line - 1 : line])  # empty at the end of the file
    if re.match(r"\s*\t", text):
        return line, wrong("YAML", "a tab at the start of the line", "indent with blanks")
    if problem == "could not find expected ':'":
        line = error.context_mark.line + 1
        return line, _without_colon("".join(lines[line - 1 : line]))
    if "mapping values are not allowed" in problem and ": " not in text[: mark.column]:
        above = next((i for i in range(line - 1, 0, -1) if lines[i - 1].strip()), line)
        if not re.search(r":( |$)", lines[above - 1]):
            return above, _without_colon(lines[above - 1])
        return line, wrong("YAML", f"a key below the value of line {above}", "check the indentation")
    if "mapping values are not allowed" in problem:
        return line, wrong("YAML", "a second ': '", "quote the text, or check the indentation")
    if problem.startswith("did not find expected "):
        found = show(text[mark.column :].split()[0]) if text[mark.column :].strip() else "the end of the line"
        expected = problem.removeprefix("did not find expected ").removesuffix(" indicator")
        return line, wrong(f"YAML with {expected} here", found if text else "the end of the file")
    if "cannot start any token" in problem:
        return line, wrong("YAML", f"{text[mark.column]!r}, which cannot start a value", "quote the text")
    return line, wrong("YAML", problem.removeprefix("found "))


def _without_colon(line: str) -> str:
    return wrong("a key, a colon and a blank", show(line.strip()), "write for example mass: 1")


class _Reader:
    """Builds plain data from YAML events."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: Lines = {}

    def read(self, events: Iterator[Any]) -> tuple[Any, Lines]:
        """The data of the only document, and the line of every key and list item."""
        import yaml

        stack = [_Open([], (), [])]
        for event in events:
            open_, line = stack[-1], event.start_mark.line + 1
            if isinstance(event, yaml.DocumentStartEvent) and open_.value:
                raise self.error(line, (), wrong("one document", "a second one", "remove it"))
            if isinstance(event, yaml.CollectionEndEvent):
                stack.pop()
            if not isinstance(event, yaml.NodeEvent):
                continue
            where = self.where(open_)
            self.check(event, where, line)
            if isinstance(open_.value, dict) and not open_.key:
                open_.key.append(self.key(event, open_, line))
                continue
            value = self.add(event, open_)
            self.lines.setdefault(where, line)
            if isinstance(event, yaml.CollectionStartEvent):
                if len(stack) > MAX_DEPTH:
                    raise self.error(line, where, wrong(f"at most {MAX_DEPTH} levels", "more"))
                stack.append(_Open(value, where, []))
        return (stack[0].value or [None])[0], self.lines

    def add(self, event: Any, open_: _Open) -> Any:
        """The value of an event, put where it belongs."""
        value = self.value(event)
        if isinstance(open_.value, dict):
            open_.value[open_.key.pop()] = value
        else:
            open_.value.append(value)
        return value

    @staticmethod
    def where(open_: _Open) -> Where:
        """Where the next value belongs."""
        return (*open_.where, *(open_.key if isinstance(open_.value, dict) else [len(open_.value)]))

    def check(self, event: Any, where: Where, line: int) -> None:
        """Aliases, anchors and tags are errors."""
        import yaml

        if isinstance(event, yaml.AliasEvent):
            raise self.error(line, where, wrong("a value", f"the alias *{event.anchor}", "use parameters instead"))
        if event.anchor is not None:
            raise self.error(
                line, where, wrong("a value without an anchor", f"&{event.anchor}", "use parameters instead")
            )
        if event.tag is not None:
            raise self.error(line, where, wrong("a value without a tag", f"the tag {event.tag}", "remove it"))

    def key(self, event: Any, open_: _Open, line: int) -> str:
        """A key, noted with its line."""
        import yaml

        if not isinstance(event, yaml.ScalarEvent):
            raise self.error(line, open_.where, wrong("a key of text", "a list or mapping"))
        where = (*open_.where, event.value)
        if event.value in open_.value:
            found = f"{show(event.value)} again (first in line {self.lines[where]})"
            raise self.error(line, where, wrong("each key once", found, "remove one of them"))
        self.lines[where] = line
        return str(event.value)

    @staticmethod
    def value(event: Any) -> Any:
        """A scalar's value, or a new mapping or list."""
        import yaml

        if isinstance(event, yaml.MappingStartEvent):
            return {}
        if isinstance(event, yaml.SequenceStartEvent):
            return []
        text = event.value
        if not event.implicit[0]:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _NON_FINITE.fullmatch(text):
            return float(text.replace(".", "", 1))
        number = as_number(text)
        return text if number is None else number

    def error(self, line: int, where: Where, text: str) -> ModelError:
        """The error of a problem in a line; `where` starts with the number of the document."""
        return ModelError(f"{self.source}:{line}: {Problem(where[1:], text)}")


def _located(problems: list[Problem], lines: Lines, source: str) -> ModelError:
    """The error that shows the first problem."""
    return ModelError(f"{source}:{_line(problems[0].where, lines)}: {one_line(problems)}")


def _line(where: Where, lines: Lines) -> int:
    """The line of a key, or of the nearest one around it."""
    path: Where = (0, *where)
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


# --------------------------------------------------------------------------------------------- writing


def _plain(value: Any) -> Any:
    """Mappings, lists, text and numbers; fields that have their default are left out."""
    if isinstance(value, Element):
        return {key: _plain(_written(value, key)) for key in _given(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def _given(element: Element) -> Iterator[str]:
    """The keys of fields that do not have their default, the type first."""
    if "type" in type(element).model_fields:
        yield "type"
    for key, field in type(element).model_fields.items():
        if key != "type" and (field.is_required() or getattr(element, key) != field.default):
            yield key


def _written(element: Element, key: str) -> Any:
    """The value of a field, with the postfix programs of a resolved model as text."""
    value = getattr(element, key)
    match kinds(type(element))[key]:
        case Kind("time" | "law" as name):
            return _as_text(value, VARIABLES[name])
        case Kind("times" | "curve" as name):
            return tuple(_as_text(item, VARIABLES[name]) for item in value)
    return value


def _as_text(value: Any, variable: str) -> Any:
    """The text of a postfix program; anything else is returned as it is."""
    return infix(value, variable) if isinstance(value, tuple) else value


def _moved(model: Model, folder: Path) -> Model:
    """The model with paths of mesh files that lead from a folder to them; files that are in no folder are written to it."""
    old = model.folder or Path()
    if model.files.is_given:
        paths = {name: _write_mesh(folder, name, content) for name, content in meshes.mesh_files(model).items()}
    elif old.resolve() == folder.resolve():
        return model
    else:
        paths = {mesh.file: os.path.relpath(old / mesh.file, folder) for _, mesh in meshes.meshes_of(model)}
    bodies = {}
    for name, body in model.bodies.items():
        moved = [
            shape.replaced({"file": paths[shape.file]}) if isinstance(shape, Mesh) else shape for shape in body.shapes
        ]
        bodies[name] = body.replaced({"shapes": tuple(moved)})
    return model.replaced({"bodies": bodies})


def _write_mesh(folder: Path, name: str, content: bytes) -> str:
    """Write a mesh file into a folder, under its name if that leads into the folder; its path from there."""
    inside = PurePath(name)
    if inside.is_absolute() or ".." in inside.parts:
        inside = PurePath(inside.name)
    path = folder / inside
    if path.exists() and path.read_bytes() != content:
        raise ModelError(f"{path}: {wrong('a new file', 'another one that exists', 'choose another folder')}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(inside)


@functools.cache
def _dumper() -> type[yaml.SafeDumper]:
    """A dumper that writes lists of numbers in one line and quotes text that `load` would take for something else."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            super().increase_indent(flow, False)

    def represent_list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.Node:
        return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=not _has_mapping(items))

    def represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
        style = "'" if as_number(text) is not None or text in _WORDS else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(list, represent_list)
    Dumper.add_representer(str, represent_text)
    return Dumper


def _has_mapping(items: list[Any]) -> bool:
    return any(isinstance(item, dict) or (isinstance(item, list) and _has_mapping(item)) for item in items)


# ---------------------------------------------------------------------------------------------- schema


def _describe(definition: dict[str, Any], element: type[Element]) -> None:
    """Titles and descriptions from the docstrings of an element and of what it has in common with others."""
    definition["description"], fields = documentation(element)
    for key, value in definition["properties"].items():
        value.pop("title", None)
        if key in fields:
            value["description"] = fields[key]
    if "type" in definition["properties"]:
        definition["required"] = ["type", *definition.get("required", [])]


def _shared(part: Any, name: str = "") -> Any:
    """A part of the schema with references for what occurs often, other than the part of that name itself."""
    if isinstance(part, list):
        return [_shared(item) for item in part]
    if not isinstance(part, dict):
        return part
    for key, shared in SHARED_SCHEMAS.items():
        if key != name and shared.items() <= part.items():
            return {"$ref": f"#/$defs/{key}"} | {k: item for k, item in part.items() if k not in shared}
    return {key: _shared(item) for key, item in part.items() if key not in ("discriminator", "title")}
