"""What readers of robots' files share: options, and a model that grows, with a report of what became of the file."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.model.bodies import Body
from mbvi.model.constraints import Coupling, PrescribedCoordinate
from mbvi.model.description import Initial
from mbvi.model.expressions import show
from mbvi.model.fields import WORLD
from mbvi.model.import_report import Notes
from mbvi.model.imports.folders import Folders
from mbvi.model.imports.inertias import mended
from mbvi.model.imports.xml import Node
from mbvi.model.joints import Free, Weld
from mbvi.model.limits import Limits
from mbvi.model.mass_properties import is_massless
from mbvi.model.mesh_files import Files
from mbvi.model.meshes import LONG
from mbvi.model.model import Model
from mbvi.model.shapes import Mesh
from mbvi.text import count

Floats = NDArray[np.float64]
MILLIMETRE = 0.001


class Options(NamedTuple):
    """How a robot is imported.

    search     folders besides the robot's package from which its files may be read
    floating   whether its root moves freely, or is welded to the world; None for what its format has
    geometry   what is drawn of it: visual, collision or none
    mend       whether inertias that no body has become the nearest that one has, instead of an error
    start      name of a state of the file to start from, as a keyframe of MJCF; None for the usual start
    """

    search: tuple[Path, ...] = ()
    floating: bool | None = None
    geometry: Literal["visual", "collision", "none"] = "visual"
    mend: bool = True
    start: str | None = None


class Robot:
    """A model that grows while a file is read."""

    def __init__(self, path: Path, options: Options) -> None:
        self.path, self.options, self.notes = path, options, Notes()
        self.folders, self.files = Folders(path, options.search), Files(path.resolve().parent)
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Any] = {}
        self.forces: dict[str, Any] = {}
        self.constraints: dict[str, Any] = {}
        self.starts: dict[str, Any] = {}
        self.rates: dict[str, Any] = {}

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
        mesh = Mesh(file=os.path.relpath(path, self.files.folder), **fields)
        try:
            length = mesh.replaced(mesh.canonical()).extent(self.files)
        except ModelError as error:
            self.notes.add("dropped", f"mesh {path.name!r}", str(error), place)
            return
        if length > LONG:
            mesh = mesh.replaced({"scale": tuple((mesh.factors * MILLIMETRE).tolist())})
            why = f"taken as millimetres, since it would be {length:.4g} m long in metres"
            self.notes.add("approximated", f"mesh {path.name!r}", why, place)
        elif mesh.scale is None:
            mesh = mesh.replaced({"scale": 1.0})
        yield mesh

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
                    leader = self.starts.get(each.joint_a, 0.0)
                    self.starts[each.joint_b] = float(each.ratio) * leader + float(each.offset)
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
            if joint.coordinate_names and not heavy[joint.child]:
                kept = {key: getattr(joint, key) for key in ("parent", "child", "position", "orientation", "offset")}
                self.joints[name] = Weld(**kept)
                self.drop_joint(name)
                why = "welded: nothing that it moves has mass or inertia, so that no equation says how it moves"
                self.notes.add("approximated", "joint", why, show(name))

    def drop_joint(self, name: str) -> None:
        """Drop what acts on the coordinate of a joint that has none any more."""
        self.starts.pop(name, None)
        self.forces = {key: each for key, each in self.forces.items() if each.joint != name}
        keys = "joint", "joint_a", "joint_b"
        gone = [key for key, each in self.constraints.items() if name in (getattr(each, end, None) for end in keys)]
        for key in gone:
            del self.constraints[key]

    # ---------------------------------------------------------------------------------------------- model

    def initial(self) -> dict[str, Initial]:
        """The starts of joints that do not start at 0, at rest."""
        moved = [
            name for name in self.joints if np.any(self.starts.get(name, 0.0)) or np.any(self.rates.get(name, 0.0))
        ]
        return {name: Initial(position=self.starts.get(name), velocity=self.rates.get(name)) for name in moved}

    def model(self, name: str, kind: str, gravity: Any = (0.0, 0.0, -9.81)) -> Model:
        """The model of all that was read, with its report."""
        self.hold_still()
        self.close_couplings()
        nouns = [each.type.removeprefix("joint_") for each in self.forces.values()]
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


def _outward(root: str, below: dict[str, list[str]]) -> Iterator[str]:
    """A body and all that hang on it, each after what it hangs on."""
    stack = [root]
    while stack:
        body = stack.pop()
        yield body
        stack.extend(below.get(body, ()))
