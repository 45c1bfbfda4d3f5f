"""The models of an SDF file, each with the links, joints, frames and models in it, and the poses of all of them.

A pose is relative to a link, joint, frame or model of the same model, or of one in it; by default that of a joint is to its
child, that of a frame to what it is attached to, and any other to the frame of the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from mbvi.errors import ModelError
from mbvi.model.expressions import nearest, show
from mbvi.model.fields import WORLD
from mbvi.model.imports.folders import Folders
from mbvi.model.imports.poses import AT_ORIGIN, Pose, fixed_angles, posed
from mbvi.model.imports.xml import MAX_DEPTH, Node, parse_xml

OWN = "__model__"
BETWEEN = "::"
MAX_INCLUDES = 100
KINDS = "link", "joint", "frame", "model"


class Includes:
    """Reads the models that files include, and counts them."""

    def __init__(self) -> None:
        self.roots: list[Node] = []

    def model(self, include: Node, folders: Folders) -> tuple[Node, Folders]:
        """The model that an element <include> puts in its place, and the folders of the file that it stands in."""
        if len(self.roots) >= MAX_INCLUDES:
            raise include.wrong(f"at most {MAX_INCLUDES} included files", "more")
        if include.get("merge") not in (None, "0", "false"):
            raise include.wrong("a model that stays one", "merge='true', which mbvi lacks", "leave it out")
        content, source, there = self.content(include, folders)
        root = parse_xml(content, source)
        self.roots.append(root)
        if root.tag != "sdf":
            raise include.wrong("an SDF file", f"<{root.tag}> in {source!r}")
        version(root)
        return self.placed(root.the("model"), include), there

    def content(self, include: Node, folders: Folders) -> tuple[bytes, str, Folders]:
        """The content, name and folders of the file; of a folder, that which its model.config names."""
        name = include.needed_word("uri")
        path = _found(folders, name, include)
        if path is None and (config := _found(folders, f"{name.rstrip('/')}/model.config", include)) is not None:
            root = parse_xml(config.read_bytes(), str(config))
            files = {version(node): node.text.strip() for node in (root.the("sdf"), *root.all("sdf"))}
            path = _found(folders.at(config), files[max(files)], include)
        if path is None:
            found = f"none of the name {show(name)}"
            raise include.wrong("a file, or a folder with a model.config", found, "its folder may be named by search")
        return path.read_bytes(), str(path), folders.at(path)

    def placed(self, model: Node, include: Node) -> Node:
        """The model with the name, pose and other values that the including element gives it."""
        for key in ("name", "placement_frame"):
            if text := include.word(key):
                model.attributes[key] = text
        given = [child for key in ("pose", "static") for child in include.all(key)]
        tags = {child.tag for child in given}
        model.children = [*given, *(child for child in model.children if child.tag not in tags)]
        return model


def _found(folders: Folders, name: str, asker: Node) -> Path | None:
    """The file of a name that an element asks for."""
    try:
        return folders.find(name)
    except ModelError as error:
        raise ModelError(f"{asker.source}:{asker.line}: {asker!r}: {error}") from None


def version(node: Node) -> tuple[int, int]:
    """The version of SDF that an element <sdf> states."""
    text = node.needed("version")
    major, _, minor = text.partition(".")
    if major != "1" or not minor.isdecimal() or not 4 <= int(minor) <= 12:
        raise node.wrong("a version of SDF from 1.4 to 1.12", show(text))
    return int(major), int(minor)


class Scope:
    """A model of the file, or the world, which has models only.

    Parameters
    ----------
    node : Node
        Its element.
    folders : Folders
        The folders of the file that it stands in.
    includes : Includes
    parent : Scope, optional
        The model or world that it is in.
    is_named : bool
        Whether its name is part of the names of what is in it.
    """

    def __init__(
        self, node: Node, folders: Folders, includes: Includes, parent: Scope | None = None, is_named: bool = True
    ) -> None:
        self.node, self.folders, self.parent = node, folders, parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        if self.depth > MAX_DEPTH:
            raise node.wrong(f"at most {MAX_DEPTH} models in each other", "more")
        self.prefix: str = "" if parent is None else parent.prefix
        if is_named and parent is not None:
            self.prefix += node.needed("name") + BETWEEN
        self.is_static: bool = node.is_set("static") or (parent is not None and parent.is_static)
        self.of_kind: dict[str, dict[str, Node]] = {kind: {} for kind in KINDS}
        self.models: dict[str, Scope] = {}
        self._poses: dict[Node, Pose] = {}
        for child in list(node.children):
            self._add(child, includes)

    def _add(self, child: Node, includes: Includes) -> None:
        """Add an element, by its name."""
        element, folders = child, self.folders
        if child.tag == "include":
            self.node.all("include")
            element, folders = includes.model(child, self.folders)
        if element.tag not in KINDS:
            return
        name, known = element.needed("name"), self.of_kind[element.tag]
        self.node.all(child.tag)
        if name == WORLD:
            raise child.wrong(f"another name of a {element.tag}", show(WORLD), "it is that of the fixed frame")
        if name in known:
            raise child.wrong(f"a name that no other {element.tag} has", f"{name!r}, as in line {known[name].line}")
        known[name] = element
        if element.tag == "model":
            is_alone = self.parent is None and self.node.tag == "sdf" and self._has_one_model()
            self.models[name] = Scope(element, folders, includes, self, is_named=not is_alone)

    def _has_one_model(self) -> bool:
        return sum(child.tag in ("model", "include") for child in self.node.children) == 1

    def walk(self) -> Iterator[Scope]:
        """The model and all those in it."""
        yield self
        for each in self.models.values():
            yield from each.walk()

    # ---------------------------------------------------------------------------------------------- names

    def find(self, name: str, asker: Node) -> tuple[Scope, Node | None]:
        """What a name means here, as arm::hand: a model of the file, and an element in it, or none for its own frame.

        Raises
        ------
        ModelError
            If there is no such thing; the message is that of the element that asks.
        """
        scope, (*outer, last) = self, name.split(BETWEEN)
        for each in outer:
            if each not in scope.models:
                raise asker.wrong("the name of a model", show(each), nearest(each, scope.models))
            scope = scope.models[each]
        if last == OWN or (last == WORLD and scope.parent is None):
            return scope, None
        for kind in KINDS:
            if last in scope.of_kind[kind]:
                return scope, scope.of_kind[kind][last]
        known = [each for names in scope.of_kind.values() for each in names]
        raise asker.wrong("the name of a link, joint, frame or model", show(name), nearest(last, known))

    def body_of(self, name: str, asker: Node) -> str:
        """The body that a name belongs to: a link, what a frame is attached to, or the first link of a model."""
        scope, seen = self, set[tuple[int, str]]()
        while True:
            if (id(scope), name) in seen:
                raise asker.wrong("frames that are attached to links", f"a circle through {name!r}")
            seen.add((id(scope), name))
            scope, node = scope.find(name, asker)
            if node is not None and node.tag == "link":
                return scope.prefix + node.needed("name")
            if node is not None and node.tag == "model":
                scope, node = scope.models[node.needed("name")], None
            if node is None and scope.parent is None:
                return WORLD
            if node is None:
                name = scope.canonical()
            else:
                name = node.needed_word("child") if node.tag == "joint" else node.get("attached_to") or OWN

    def canonical(self) -> str:
        """The name of the link that the frame of the model is attached to."""
        name = self.node.get("canonical_link") or next(iter(self.of_kind["link"]), None)
        if name is None and self.models:
            inner = next(iter(self.models))
            name = f"{inner}{BETWEEN}{OWN}"
        if name is None:
            raise self.node.wrong("a link in the model", "none")
        return name

    # ---------------------------------------------------------------------------------------------- poses

    def place_of(self, node: Node | None) -> Pose:
        """The pose in the world of an element of this model, or of its own frame."""
        own = self.pose_of(node) if node is not None else AT_ORIGIN
        return own if self.parent is None else self.parent.place_of(self.node).then(own)

    def pose_of(self, node: Node) -> Pose:
        """The pose of an element of this model in the model's own frame."""
        chain: dict[Node, Pose] = {}
        base: Node | None = node
        while base is not None and base not in self._poses:
            if base in chain:
                raise node.wrong("a pose that leads to the model", f"a circle through {base!r}")
            outer, chain[base] = self._relative(base)
            base = outer
        pose = AT_ORIGIN if base is None else self._poses[base]
        for each, offset in reversed(chain.items()):
            pose = self._poses[each] = pose.then(offset)
        return pose

    def _relative(self, node: Node) -> tuple[Node | None, Pose]:
        """The element of this model that a pose is relative to, or none for its own frame, and the pose in it."""
        pose, name = read_pose(node)
        if not name:
            name = OWN
            if node.tag == "joint":
                name = node.needed_word("child")
            elif node.tag == "frame":
                name = node.get("attached_to") or OWN
        if node.tag == "model" and (placed := node.get("placement_frame")):
            inner = self.models[node.needed("name")]
            scope, frame = inner.find(placed, node)
            pose = pose.then(inner._inside(scope, frame).inverse())
        first, *_ = name.split(BETWEEN)
        scope, element = self.find(name, node)
        if scope is self:
            return element, pose
        inner = self.models[first]
        return self.of_kind["model"][first], inner._inside(scope, element).then(pose)

    def _inside(self, scope: Scope, node: Node | None) -> Pose:
        """The pose of an element of a model in this one, in this one's own frame."""
        pose = AT_ORIGIN if node is None else scope.pose_of(node)
        while scope is not self:
            assert scope.parent is not None
            pose, scope = scope.parent.pose_of(scope.node).then(pose), scope.parent
        return pose


def read_pose(node: Node) -> tuple[Pose, str]:
    """The pose that an element states, and the name of the frame that it is relative to, empty by default."""
    part = node.first("pose")
    if part is None:
        return AT_ORIGIN, ""
    relative = part.get("relative_to") or part.get("frame") or ""
    is_in_degrees = part.get("degrees") in ("1", "true")
    if not part.text.strip():
        return AT_ORIGIN, relative
    if part.get("rotation_format") == "quat_xyzw":
        x, y, z, *turned = part.own_values(7)
        if not any(turned):
            raise part.wrong("a quaternion other than 0", show(part.text.strip()))
        return posed((x, y, z), (turned[3], *turned[:3])), relative
    x, y, z, *angles = part.own_values(6)
    if is_in_degrees:
        angles = [math.radians(angle) for angle in angles]
    return posed((x, y, z), fixed_angles(angles)), relative
