"""What readers of robots' files share: options, and a model that grows, with a report of what became of the file."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.model.bodies import Body
from mbvi.model.constraints import Coupling, Differential, PrescribedCoordinate
from mbvi.model.description import Initial
from mbvi.model.expressions import nearest, postfix, show, value_at, wrong
from mbvi.model.fields import WORLD
from mbvi.model.import_report import Notes
from mbvi.model.imports.folders import Folders
from mbvi.model.imports.inertias import mended
from mbvi.model.imports.locking import locked, zero_of
from mbvi.model.imports.mesh_colors import mesh_color
from mbvi.model.imports.stopping import KEPT, frictions, with_stops
from mbvi.model.imports.xml import Node
from mbvi.model.joints import Free, Weld
from mbvi.model.limits import Limits
from mbvi.model.mass_properties import is_massless
from mbvi.model.mesh_files import MESH_FORMATS, Files
from mbvi.model.model import Model
from mbvi.model.odd_meshes import LONG
from mbvi.model.shapes import Mesh
from mbvi.text import count

Floats = NDArray[np.float64]
MILLIMETRE = 0.001
UP_AXIS = re.compile(rb"<up_axis>\s*([XYZ]_UP)\s*</up_axis>")


class Options(NamedTuple):
    """How a robot is imported.

    search     folders besides the robot's package from which its files may be read
    floating   whether its root moves freely, or is welded to the world; None for what its format has
    geometry   what is drawn of it: visual, collision or none
    mend       whether inertias that no body has become the nearest that one has, instead of an error
    start      name of a state of the file to start from, as a keyframe of MJCF; None for the usual start
    locked     joints that are welded, each with its coordinates there; None for those at the start
    stops      whether limits stop their joints, and friction acts
    """

    search: tuple[Path, ...] = ()
    floating: bool | None = None
    geometry: Literal["visual", "collision", "none"] = "visual"
    mend: bool = True
    start: str | None = None
    locked: Mapping[str, Any] = {}
    stops: bool = False


class Robot:
    """A model that grows while a file is read."""

    def __init__(self, path: Path, options: Options) -> None:
        self.path, self.options, self.notes = path, options, Notes()
        self.folders, self.files = Folders(path, options.search), Files(path.resolve().parent)
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Any] = {}
        self.forces: dict[str, Any] = {}
        self.constraints: dict[str, Any] = {}
        self.contacts: dict[str, Any] = {}
        self.starts: dict[str, Any] = {}
        self.rates: dict[str, Any] = {}
        self.late: list[Callable[[], None]] = []  # what adds contacts, once it is known which joints move
        self.lengths: list[Callable[[], None]] = []  # what adds forces along sums of coordinates, likewise
        self.held: dict[str, float] = {}  # coordinates of joints that were locked elsewhere than at 0

    # --------------------------------------------------------------------------------------------- bodies

    def inertia(self, node: Node, body: str, mass: float, inertia: Floats) -> list[float]:
        """The six numbers of an inertia (3, 3) about the centre of mass, or of the nearest that a body has."""
        nearest, change = mended(mass, inertia)
        if change and not self.options.mend:
            moments = show(np.linalg.eigvalsh(inertia).tolist())
            expected = "principal moments of which none is negative or exceeds the sum of the others"
            raise node.wrong(expected, moments, "correct it, or leave out mend=False")
        if change:
            self.notes.mended[body] = change
            why = f"that of no rigid body; the nearest that is one differs by {100 * change:.2g} % of mass × size²"
            self.notes.add("approximated", f"inertia of {show(body)}", why)
        return [float(nearest[place]) for place in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]

    def mesh(
        self, node: Node, name: str, place: str, fields: dict[str, Any], folders: Folders | None = None
    ) -> Iterator[Mesh]:
        """The shape of a mesh file, for viewing only; none, and a note, if the file is not there or cannot be read.

        Folders are those of the file that names it, by default the robot's.
        """
        try:
            path = (folders or self.folders).find(name)
        except ModelError as error:
            raise ModelError(f"{node.source}:{node.line}: {node!r}: {error}") from None
        if path is None:
            self.notes.add(
                "dropped", f"mesh {show(name, 120)}", "no such file; its folder may be named by search", place
            )
            return
        if path.suffix.lower() not in MESH_FORMATS:
            what = f"mesh of the type {show(path.suffix.lower())}"
            self.notes.add("dropped", what, f"mbvi reads {', '.join(MESH_FORMATS)}", f"{place}, {path.name}")
            return
        mesh = Mesh(file=os.path.relpath(path, self.files.folder), **fields)
        if mesh.color is None:
            mesh = mesh.replaced({"color": self.color_in(path, place)})
        try:
            length = mesh.replaced(mesh.canonical()).extent(self.files)
        except ModelError as error:
            self.notes.add("dropped", f"mesh {path.name!r}", str(error), place)
            return
        if path.suffix.lower() == ".dae" and (found := UP_AXIS.search(path.read_bytes())) and found[1] != b"Z_UP":
            why = f"{found[1].decode()} is not used, as ROS does not; turn the mesh if it lies wrong"
            self.notes.add("approximated", "<up_axis> of DAE files", why, repr(path.name))
        if length > LONG:
            mesh = mesh.replaced({"scale": tuple((mesh.factors * MILLIMETRE).tolist())})
            why = f"taken as millimetres, since it would be {length:.4g} m long in metres"
            self.notes.add("approximated", f"mesh {path.name!r}", why, place)
        elif mesh.scale is None:
            mesh = mesh.replaced({"scale": 1.0})
        yield mesh

    def color_in(self, path: Path, place: str) -> str | None:
        """The colour that a mesh file gives its surface, if it gives any."""

        def beside(name: str) -> Path | None:
            return self.folders.find(f"file://{quote(str(path.parent / name))}")

        try:
            color, number = mesh_color(path, beside)
        except ModelError as error:
            self.notes.add("dropped", f"materials of {path.name!r}", str(error), place)
            return None
        if number > 1:
            why = f"{number} colours in the file; drawn in that of most of its faces"
            self.notes.add("approximated", f"materials of {path.name!r}", why, place)
        return None if color is None else "#" + "".join(f"{round(255 * each):02X}" for each in color)

    def free_name(self, name: str, *taken: Any) -> str:
        """A name that nothing has of these mappings: with numbers behind it if need be."""
        used = {WORLD, *(each for names in taken for each in names)}
        numbered = (f"{name} {i}" for i in range(2, len(used) + 3))
        return next(each for each in (name, *numbered) if each not in used)

    # --------------------------------------------------------------------------------------------- joints

    def set_start(self, name: str, limits: Limits | None) -> None:
        """Let a joint start at 0, or in the middle between its limits if 0 is beyond them."""
        low = -np.inf if limits is None or limits.lower is None else float(limits.lower)
        high = np.inf if limits is None or limits.upper is None else float(limits.upper)
        if not low <= 0 <= high:
            middle = (low + high) / 2 if np.isfinite([low, high]).all() else (low if low > 0 else high)
            self.starts[name] = middle
            self.notes.add(
                "approximated", "start", "0 is beyond the limits of the joint; it starts between them", show(name)
            )

    def close_couplings(self) -> None:
        """Let coupled coordinates start where those that they follow say."""
        for _ in self.constraints:  # enough for chains of any order
            for each in self.constraints.values():
                if isinstance(each, Coupling):
                    self.starts[each.joint_b] = follower(each, self.starts.get(each.joint_a, 0.0))
                elif isinstance(each, PrescribedCoordinate):
                    self.starts[each.joint] = float(each.value)

    def add_base(self, root: str) -> None:
        """Tie the root to the world."""
        name = self.free_name("base", self.joints)
        kind = Free if self.options.floating else Weld
        self.joints = {name: kind(parent=WORLD, child=root), **self.joints}

    def hold_still(self) -> None:
        """Weld joints behind which nothing has mass, since nothing says how they move."""
        if not any(is_massless(body) for body in self.bodies.values()):
            return
        below: dict[str, list[str]] = {}
        for joint in self.joints.values():
            below.setdefault(joint.parent, []).append(joint.child)
        heavy: dict[str, bool] = {}
        for body in reversed(list(_outward(WORLD, below))):
            own = body != WORLD and not is_massless(self.bodies[body])
            heavy[body] = own or any(heavy[each] for each in below.get(body, ()))
        for name, joint in self.joints.items():
            if len(joint.armatures) < len(joint.coordinate_names) and not heavy[joint.child]:
                kept = {key: getattr(joint, key) for key in ("parent", "child", "position", "orientation", "offset")}
                self.joints[name] = Weld(**kept)
                self.drop_joint(name)
                why = "welded: nothing that it moves has mass or inertia, so that no equation says how it moves"
                self.notes.add("approximated", "joint", why, show(name))

    def lock(self, name: str, given: float | Sequence[float] | None) -> None:
        """Weld a joint at given coordinates, or where it starts; what it is coupled to is held too."""
        if name not in self.joints:
            raise ModelError(f"{self.path}: locked: {wrong('a joint', show(name), nearest(name, self.joints))}")
        joint = self.joints[name]
        start = np.ravel(self.starts.get(name, zero_of(joint)))
        q = start if given is None else np.ravel(given)
        if q.shape != start.shape:
            expected = f"{count(len(start), 'number')} ({', '.join(joint.coordinate_names) or 'it has no coordinates'})"
            raise ModelError(f"{self.path}: locked.{name}: {wrong(expected, show(given))}")
        self.joints[name] = locked(joint, q)
        self.held |= {name: float(q[0])} if len(q) == 1 else {}
        self.hold_coupled(name, q)
        self.drop_joint(name)
        self.notes.add(
            "approximated", "joint", f"locked at {', '.join(f'{each:.6g}' for each in q)}, as asked", show(name)
        )

    def hold_coupled(self, name: str, q: Floats) -> None:
        """Hold the coordinates that are coupled to those of a joint, which does not move from q."""
        for key, each in list(self.constraints.items()):
            if isinstance(each, Coupling) and name == each.joint_a:
                self.constraints[key] = PrescribedCoordinate(joint=each.joint_b, value=follower(each, float(q[0])))
            elif isinstance(each, Coupling) and name == each.joint_b:
                value = float(self.starts.get(each.joint_a, 0.0))
                if each.ratio is not None:
                    value = (float(q[0]) - float(each.offset)) / float(each.ratio)
                self.constraints[key] = PrescribedCoordinate(joint=each.joint_a, value=value)
            elif isinstance(each, Differential) and name in (each.joint_a, each.joint_b, each.joint_c):
                self.constraints[key] = without_one(each, name, float(q[0]))

    def drop_joint(self, name: str) -> None:
        """Drop what acts on the coordinate of a joint that has none any more."""
        self.starts.pop(name, None)
        self.forces = {key: each for key, each in self.forces.items() if getattr(each, "joint", None) != name}
        keys = "joint", "joint_a", "joint_b", "joint_c"
        gone = [key for key, each in self.constraints.items() if name in (getattr(each, end, None) for end in keys)]
        for key in gone:
            del self.constraints[key]

    # ---------------------------------------------------------------------------------------------- model

    def note_friction(self, what: str, place: str) -> None:
        """Say that friction is kept, unless it acts."""
        if not self.options.stops:
            self.notes.add("approximated", what, KEPT, place)

    def let_stop(self) -> None:
        """Let limits stop their joints, and friction act."""
        for name, joint in self.joints.items():
            self.joints[name] = with_stops(joint, name, self.notes)
            for own, friction in frictions(joint, name):
                self.contacts[self.free_name(own, self.joints, self.constraints, self.contacts)] = friction
        frictions_of_joints = sum(each.type == "dry_friction" for each in self.contacts.values())
        for add in self.late:
            add()
        limits = [each for joint in self.joints.values() for each in joint.limits.values()]
        stops = sum(
            (each.lower is not None) + (each.upper is not None) for each in limits if each.restitution is not None
        )
        others = len(self.contacts) - frictions_of_joints
        counted = ("stop of limits", stops), ("friction of joints", frictions_of_joints), ("stop of tendons", others)
        for noun, number in counted:
            if number:
                self.notes.add("taken", count(number, noun))

    def initial(self) -> dict[str, Initial]:
        """The starts of joints that do not start at 0, at rest."""
        moved = [
            name for name in self.joints if np.any(self.starts.get(name, 0.0)) or np.any(self.rates.get(name, 0.0))
        ]
        return {name: Initial(position=self.starts.get(name), velocity=self.rates.get(name)) for name in moved}

    def model(self, name: str, kind: str, gravity: Any = (0.0, 0.0, -9.81)) -> Model:
        """The model of all that was read, with its report."""
        self.close_couplings()
        for joint, given in self.options.locked.items():
            self.lock(joint, given)
        self.hold_still()
        self.close_couplings()
        for add in self.lengths:
            add()
        if self.options.stops:
            self.let_stop()
        nouns = [each.type.removeprefix("joint_").replace("_", " ") for each in self.forces.values()]
        nouns += ["coupling" if isinstance(each, Coupling) else "constraint" for each in self.constraints.values()]
        for noun, number in sorted(Counter(nouns).items()):
            self.notes.add("taken", count(number, noun))
        title = name if name.strip() and name.isprintable() else "robot"
        model = Model(
            name=title,
            description=f"Imported from {kind}.",
            gravity=gravity,
            bodies=self.bodies,
            joints=self.joints,
            forces=self.forces,
            constraints=self.constraints,
            contacts=self.contacts,
            initial=self.initial(),
        )
        model._files = self.files
        model._import_report = self.notes.report(str(self.path), kind)
        if changed := self.notes.mended:
            worst = max(changed, key=changed.__getitem__)
            found = f"{count(len(changed), 'inertia')} that no rigid body has became the nearest that one has; that of {worst!r} "
            found += f"changed most, by {100 * changed[worst]:.2g} % of mass × size²"
            warnings.warn(f"{self.path}: {found}", ModelWarning, stacklevel=stack_level())
        return model


def follower(coupling: Coupling, x: float) -> float:
    """The second coordinate of a coupling, of numbers but for its function, where the first is x."""
    if coupling.ratio is None:
        return value_at(postfix(coupling.function, {}, "x"), x)
    return float(coupling.ratio) * x + float(coupling.offset)


def without_one(differential: Differential, name: str, x: float) -> Coupling:
    """The coupling of two coordinates of a differential, of numbers, whose third one is x."""
    a, b, c = differential.joint_a, differential.joint_b, differential.joint_c
    by_a, by_b, offset = float(differential.ratio_a), float(differential.ratio_b), float(differential.offset)
    if name == a:
        return Coupling(joint_a=b, joint_b=c, ratio=by_b, offset=offset + by_a * x)
    if name == b:
        return Coupling(joint_a=a, joint_b=c, ratio=by_a, offset=offset + by_b * x)
    return Coupling(joint_a=a, joint_b=b, ratio=-by_a / by_b, offset=(x - offset) / by_b)


def _outward(root: str, below: dict[str, list[str]]) -> Iterator[str]:
    """A body and all that hang on it, each after what it hangs on."""
    stack = [root]
    while stack:
        body = stack.pop()
        yield body
        stack.extend(below.get(body, ()))
