"""MJCF, the format of MuJoCo: compiled by MuJoCo, which resolves defaults, classes and frames, and read from the compiled model.

MuJoCo gets the text and the files that it names, which are found by the rule of `folders`; it opens none itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from mbvi.errors import ModelError
from mbvi.model.bodies import Body, Frame
from mbvi.model.constraints import CoincidentFrames, CoincidentPoints, Coupling, PrescribedCoordinate
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.fields import WORLD
from mbvi.model.forces import (
    Actuator,
    BallSpring,
    Bushing,
    FrameActuator,
    JointDamper,
    JointSpring,
    Motor,
    PositionServo,
    TendonActuator,
    VelocityServo,
)
from mbvi.model.imports.robot import Robot
from mbvi.model.imports.tendons import AROUND, Tendons, polynomial, quoted, unnamed
from mbvi.model.imports.xml import LARGEST, Node, parse_xml
from mbvi.model.joints import Ball, Free, Prismatic, Revolute, Weld
from mbvi.model.limits import Limits
from mbvi.model.model import Model
from mbvi.model.rotations import quaternion, rotation_matrix
from mbvi.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from mbvi.text import count

Floats = NDArray[np.float64]
FREE, BALL, SLIDE, HINGE = range(4)
KINDS = "free", "ball", "slide", "hinge"
CONNECT, WELD, JOINT, OF_TENDONS = range(4)
ON_JOINT, IN_PARENT, TENDON, SITE = 0, 1, 3, 4
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
SHOWN_GROUPS = 3  # of geoms, that MuJoCo's viewer shows by default
FLAGS = "EQUALITY", "FRICTIONLOSS", "LIMIT", "SPRING", "DAMPER", "GRAVITY", "ACTUATION"
NUMBERS = (
    *("body_pos", "body_quat", "body_mass", "body_inertia", "body_ipos", "body_iquat"),
    *("jnt_pos", "jnt_axis", "jnt_stiffness", "jnt_range", "site_pos", "site_quat"),
    *("geom_pos", "geom_quat", "geom_size", "eq_data", "key_qpos", "key_qvel", "key_ctrl"),
)
"""Arrays of a compiled model, by the kind of element and what they are of it."""
KINDS_OF_NUMBERS = {"body": "body", "jnt": "joint", "site": "site", "geom": "geom", "eq": "equality", "key": "keyframe"}
NAMES = "name", "model", "class", "childclass", "file", "prefix", "text", "content_type"
"""Attributes that may be empty."""
MAX_INCLUDES = 100
OLDEST, INSTALL = 4, "pip install 'mbvi[mjcf]'"
FLAT = {"builtin": "flat", "width": "1", "height": "1"}


def read_mjcf(root: Node, robot: Robot) -> Model:
    """The model of an MJCF file.

    Parameters
    ----------
    root : Node
        The file's element <mujoco>.
    robot : Robot
        An empty one, with the options.

    Raises
    ------
    ModelError
        If MuJoCo is not installed or refuses the file, or the file needs what mbvi lacks.
    """
    if robot.options.floating is not None:
        raise root.wrong("no floating", show(robot.options.floating), "an MJCF file says it itself; leave it out")
    return _Reader(_Source(root, robot), robot).read()


class _Source:
    """The text and the files that MuJoCo gets, in which files have names without folders."""

    def __init__(self, root: Node, robot: Robot) -> None:
        self.root, self.robot = root, robot
        self.assets: dict[str, bytes] = {}
        self.meshes: dict[str, tuple[Node, str]] = {}
        self.includes = 0
        self.expand(root)
        self.folders = self.find_folders()
        for node in list(root.walk()):
            check_values(node)
            self.take_files(node)

    def expand(self, node: Node) -> None:
        """Put the elements of included files in the places of <include>."""
        children: list[Node] = []
        for child in node.children:
            if child.tag != "include":
                self.expand(child)
                children.append(child)
                continue
            self.includes += 1
            if self.includes > MAX_INCLUDES:
                raise child.wrong(f"at most {MAX_INCLUDES} included files", "more")
            name = child.needed("file")
            included = parse_xml(self.content(child, name), name)
            self.expand(included)
            children += included.children
        node.children = children

    def find_folders(self) -> dict[str, str]:
        """The folders of meshes and of other assets, as <compiler> says."""
        found: dict[str, str] = {}
        for node in self.root.children:
            if node.tag == "compiler":
                for key in ("assetdir", "meshdir", "texturedir"):
                    if key in node.attributes:
                        found[key] = node.attributes.pop(key)
        found.setdefault("meshdir", found.get("assetdir", ""))
        return found

    def take_files(self, node: Node) -> None:
        """Give MuJoCo the file of a mesh or height field; of textures only that there are some."""
        keys = [key for key in node.attributes if key.startswith("file")]
        if not keys:
            return
        if node.tag == "texture":
            node.attributes.setdefault("name", PurePosixPath(node.attributes[keys[0]]).stem)
            for key in keys:
                del node.attributes[key]
            node.attributes |= FLAT
            return
        if node.tag not in ("mesh", "hfield", "skin"):
            raise node.wrong("files of meshes, height fields and skins", f"one of <{node.tag}>")
        given = node.attributes["file"]
        name = str(PurePosixPath(self.folders["meshdir"]) / given)
        node.attributes.setdefault("name", PurePosixPath(given).stem)
        flat = f"{len(self.assets)}{PurePosixPath(given).suffix}"
        self.assets[flat] = self.content(node, name)
        node.attributes["file"] = flat
        if node.tag == "mesh":
            self.meshes[node.attributes["name"]] = node, name

    def content(self, node: Node, name: str) -> bytes:
        """The content of a file that an element names."""
        try:
            path = self.robot.folders.find(name)
        except ModelError as error:
            raise ModelError(f"{node.source}:{node.line}: {node!r}: {error}") from None
        if path is None:
            raise node.wrong("a file", f"none of the name {name!r}")
        return path.read_bytes()

    def compiled(self) -> Any:
        """What MuJoCo makes of it."""
        try:
            import mujoco
        except ImportError:
            raise self.root.wrong("the package mujoco", "none", INSTALL) from None
        if int(mujoco.__version__.partition(".")[0]) < OLDEST:
            raise self.root.wrong(f"MuJoCo {OLDEST} or newer", mujoco.__version__, INSTALL)
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(self.note)  # else it writes a file into the working directory
        try:
            return mujoco.MjModel.from_xml_string("".join(_text(self.root)), self.assets)
        except (ValueError, RuntimeError) as error:
            raise ModelError(
                f"{self.root.source}:{self.root.line}: {wrong('a file that MuJoCo compiles', str(error))}"
            ) from None
        finally:
            mujoco.set_mju_user_warning(before)

    def note(self, text: str) -> None:
        """Note a warning of MuJoCo's."""
        self.robot.notes.add("approximated", "a warning of MuJoCo", text)


def check_values(node: Node) -> None:
    """Refuse values that are empty, of other attributes than names: some let MuJoCo stop, and every later call wait for ever."""
    for key, value in node.attributes.items():
        if not value.strip() and key not in NAMES:
            raise node.wrong(f"a value of {key}", "an empty one", "write it, or leave it out")


def _text(node: Node) -> Any:
    """The XML text of a tree, in parts."""
    attributes = "".join(f" {key}={quoteattr(value)}" for key, value in node.attributes.items())
    yield f"<{node.tag}{attributes}>{escape(node.text)}"
    for child in node.children:
        yield from _text(child)
    yield f"</{node.tag}>"


class _Reader:
    """Reads bodies, joints and equations from a compiled model."""

    def __init__(self, source: _Source, robot: Robot) -> None:
        self.source, self.robot, self.notes = source, robot, robot.notes
        self.m = source.compiled()
        if self.m.nflex:
            raise source.root.wrong("rigid bodies", "flexible ones (flex), which mbvi lacks")
        self.check_numbers()
        self.body_names = [WORLD, *self.names("body", self.m.nbody)[1:]]
        self.joint_names = self.names("joint", self.m.njnt)
        self.actuator_names = self.names("actuator", self.m.nactuator)
        self.tendons = Tendons(self.m, self.names("tendon", self.m.ntendon), self.body_names, self.joint_names, robot)

    def check_numbers(self) -> None:
        """Refuse numbers that are none or too large, which MuJoCo compiles.

        Raises
        ------
        ModelError
            Naming the element.
        """
        for key in NUMBERS:
            kind, _, what = key.partition("_")
            rows = np.abs(getattr(self.m, key).reshape(-1, max(1, getattr(self.m, key)[:1].size)))
            for i in np.flatnonzero(~(rows <= LARGEST).all(axis=1))[:1]:
                name = getattr(self.m, kind)(int(i)).name
                place = f"{KINDS_OF_NUMBERS[kind]} {show(name) if name else i}"
                expected = f"finite numbers of size at most {LARGEST:g} as {what}"
                found = show(getattr(self.m, key).reshape(rows.shape)[i].tolist())
                raise ModelError(f"{self.source.root.source}: {place}: {wrong(expected, found)}")
        for key, what in (("qpos0", "ref"), ("qpos_spring", "springref")):
            for i in np.flatnonzero(~(np.abs(getattr(self.m, key)) <= LARGEST))[:1]:
                j = int(np.searchsorted(self.m.jnt_qposadr, i, side="right")) - 1
                expected, found = (
                    f"a finite number of size at most {LARGEST:g} as {what}",
                    show(float(getattr(self.m, key)[i])),
                )
                raise ModelError(
                    f"{self.source.root.source}: joint {show(self.m.jnt(j).name or j)}: {wrong(expected, found)}"
                )

    def names(self, kind: str, number: int) -> list[str]:
        """The names of all elements of a kind; those without one are numbered."""
        given = [getattr(self.m, kind)(i).name for i in range(number)]
        found: list[str] = []
        for i, name in enumerate(given):
            found.append(name.strip() or self.robot.free_name(f"{kind} {i}", given, found))
        return [
            name if name != WORLD or not i else self.robot.free_name("world body", found)
            for i, name in enumerate(found)
        ]

    def read(self) -> Model:
        """The model."""
        m = self.m
        for i in range(1, m.nbody):
            with self.named(f"body {self.body_names[i]!r}"):
                self.add_body(i)
        self.add_scene()
        off = {flag for flag in FLAGS if self.is_off(flag)}
        self.tendons.read(off)
        for i in range(0 if self.is_off("EQUALITY") else m.neq):
            with self.named(f"equality {m.eq(i).name or i}"):
                self.add_equation(i)
        for i in range(0 if self.is_off("ACTUATION") else m.nactuator):
            with self.named(f"actuator {self.actuator_names[i]!r}"):
                self.add_actuator(i)
        if self.robot.options.start is not None:
            self.set_keyframe(self.robot.options.start)
        self.note_rest()
        gravity = (0.0, 0.0, 0.0) if self.is_off("GRAVITY") else _tuple(m.opt.gravity)
        title = self.source.root.attributes.get("model", "robot")
        return self.robot.model(title, "MJCF", gravity)

    def is_off(self, flag: str) -> bool:
        """Whether the file disables something, as gravity."""
        import mujoco

        return bool(self.m.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")))

    @contextmanager
    def named(self, what: str) -> Iterator[None]:
        """Let messages about an element begin with the file and its name."""
        try:
            yield
        except ModelError as error:
            source = self.source.root.source
            if str(error).startswith(source):
                raise
            raise ModelError(f"{source}: {what}: {error}") from None

    # --------------------------------------------------------------------------------------------- bodies

    def add_scene(self) -> None:
        """Add a body for what stands in the world itself, as a table: geoms that are drawn, and sites."""
        shapes, frames = self.shapes_of(0), self.frames_of(0)
        if not (shapes or frames):
            return
        name = self.robot.free_name("scene", self.body_names)
        self.robot.bodies[name] = Body(shapes=shapes, frames=frames)
        key = self.robot.free_name(f"{name} fixed", self.joint_names, self.robot.joints)
        self.robot.joints[key] = Weld(parent=WORLD, child=name)
        self.notes.add("approximated", "geoms and sites of the world", f"those of a body {name!r}, welded to the world")

    def shapes_of(self, i: int) -> tuple[Any, ...]:
        """The shapes of a body."""
        first = int(self.m.body_geomadr[i])
        return tuple(shape for g in range(first, first + int(self.m.body_geomnum[i])) for shape in self.shape(g))

    def frames_of(self, i: int) -> dict[str, Frame]:
        """The frames of a body, by the names of its sites."""
        m = self.m
        return {
            m.site(s).name: Frame(position=_tuple(m.site_pos[s]), orientation=_unit(m.site_quat[s]))
            for s in map(int, np.flatnonzero(m.site_bodyid == i))
            if m.site(s).name not in ("", "origin", "center_of_mass")
        }

    def add_body(self, i: int) -> None:
        """Add a body, and the joints that move it in its parent."""
        m, name = self.m, self.body_names[i]
        turned = rotation_matrix(m.body_iquat[i])
        inertia = turned @ np.diag(m.body_inertia[i]) @ turned.T
        mass = float(m.body_mass[i])
        six = self.robot.inertia(self.source.root, name, mass, (inertia + inertia.T) / 2)
        fields: dict[str, Any] = {"center_of_mass": _tuple(m.body_ipos[i]), "inertia": tuple(six)}
        self.robot.bodies[name] = Body(mass=mass, shapes=self.shapes_of(i), frames=self.frames_of(i), **fields)
        self.add_joints(i)

    def add_joints(self, i: int) -> None:
        """Add the joints of a body, one after another, with massless bodies between them; a weld if there is none."""
        m, name = self.m, self.body_names[i]
        parent, place, turned = self.body_names[m.body_parentid[i]], m.body_pos[i], rotation_matrix(m.body_quat[i])
        first = int(m.body_jntadr[i])
        joints = list(range(first, first + int(m.body_jntnum[i])))
        if not joints:
            key = self.robot.free_name(f"{name} fixed", self.joint_names, self.robot.joints)
            self.robot.joints[key] = Weld(
                parent=parent, child=name, position=_tuple(place), orientation=_unit(m.body_quat[i])
            )
            if m.body_mocapid[i] >= 0:
                self.notes.add("approximated", "mocap body", "welded where it starts", f"body {name!r}")
        for j in joints:
            is_last = j == joints[-1]
            child = name if is_last else self.robot.free_name(f"{name} after {self.joint_names[j]}", self.body_names)
            if not is_last:
                self.robot.bodies[child] = Body()
            self.add_joint(j, parent, child, place, turned)
            parent, place, turned = child, np.zeros(3), np.eye(3)

    def add_joint(self, j: int, parent: str, child: str, place: Floats, turned: Floats) -> None:
        """Add a joint that moves a child from a place and a rotation in the parent."""
        m, name, kind = self.m, self.joint_names[j], int(self.m.jnt_type[j])
        at, to = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        friction = 0.0 if self.is_off("FRICTIONLOSS") else float(m.dof_frictionloss[to])
        common: dict[str, Any] = {"parent": parent, "child": child, "friction": friction}
        if friction:
            self.robot.note_friction("frictionloss", f"joint {name!r}")
        drives = self.drives(j)
        armature = float(m.dof_armature[to] + sum(m.actuator_gear[i, 0] ** 2 * m.actuator_armature[i] for i in drives))
        if kind in (FREE, BALL) and m.dof_armature[to : to + WIDTHS[kind]].any():
            why = "mbvi has inertias of single coordinates, of which a quaternion has none"
            self.notes.add("dropped", "armature of a ball or free joint", why, f"joint {name!r}")
        if kind == FREE:
            self.robot.joints[name] = Free(**common)
            self.robot.starts[name] = tuple(float(each) for each in m.qpos0[at : at + 7])
            self.resist_motion(j, name, child, to, at)
            return
        anchor = place + turned @ m.jnt_pos[j]
        offset = _tuple(m.jnt_pos[j])
        if kind == BALL:
            orientation = _unit(_quaternion(turned))
            self.robot.joints[name] = Ball(**common, position=_tuple(anchor), offset=offset, orientation=orientation)
            self.resist_turns(j, name, to, at)
            return
        start, axis = float(m.qpos0[at]), turned @ m.jnt_axis[j]
        common |= {"armature": armature} if armature else {}
        limits = self.limits(j)
        if kind == SLIDE:
            common |= {"limits": {"displacement": limits} if limits else {}, "axis": _tuple(axis)}
            where: dict[str, Any] = {
                "position": _tuple(place - start * axis),
                "orientation": _unit(_quaternion(turned)),
            }
            self.robot.joints[name] = Prismatic(**common, **where)
        else:
            back = rotation_matrix(-start * axis) @ turned
            common |= {"limits": {"angle": limits} if limits else {}, "axis": _tuple(axis)}
            where = {"position": _tuple(anchor), "offset": offset, "orientation": _unit(_quaternion(back))}
            self.robot.joints[name] = Revolute(**common, **where)
        self.robot.starts[name] = start
        self.add_forces(j, name, to, at)

    def limits(self, j: int) -> Limits | None:
        """The limits of a joint's coordinate."""
        m = self.m
        fields: dict[str, Any] = {}
        if m.jnt_limited[j] and not self.is_off("LIMIT"):
            fields |= {"lower": float(m.jnt_range[j, 0]), "upper": float(m.jnt_range[j, 1])}
        if m.jnt_actfrclimited[j]:
            effort = float(np.abs(m.jnt_actfrcrange[j]).max())
            fields |= {"effort": effort} if effort > 0 else {}
        return Limits(**fields) if fields else None

    def add_forces(self, j: int, name: str, to: int, at: int) -> None:
        """Add the spring and the damper of a joint."""
        m, drives = self.m, self.drives(j)
        stiffness = float(m.jnt_stiffness[j])
        damping = float(m.dof_damping[to] + sum(m.actuator_gear[i, 0] ** 2 * m.actuator_damping[i] for i in drives))
        if stiffness and not self.is_off("SPRING"):
            self.robot.forces[f"{name} spring"] = JointSpring(
                joint=name, stiffness=stiffness, rest=float(m.qpos_spring[at])
            )
        if damping and not self.is_off("DAMPER"):
            self.robot.forces[f"{name} damping"] = JointDamper(joint=name, damping=damping)
        self.note_nonlinear(j, name, to)

    def resist_turns(self, j: int, name: str, to: int, at: int) -> None:
        """Add the spring and the damper of a ball joint: the damper is that of MuJoCo, the spring for small turns."""
        stiffness, damping = self.resistance(j, name, to)
        if not (stiffness or damping):
            return
        turned = rotation_matrix(self.robot.joints[name].orientation)
        rest = _unit(_quaternion(turned @ rotation_matrix(self.m.qpos_spring[at : at + 4]) @ turned.T))
        resisting = BallSpring(joint=name, stiffness=stiffness, damping=damping, rest=rest)
        self.robot.forces[f"{name} spring" if stiffness else f"{name} damping"] = resisting

    def resist_motion(self, j: int, name: str, child: str, to: int, at: int) -> None:
        """Add the spring and the damper of a free joint: all are those of MuJoCo, but for the spring of large turns."""
        stiffness, damping = self.resistance(j, name, to)
        if not (stiffness or damping):
            return
        rest = self.m.qpos_spring[at : at + 7]
        self.robot.forces[f"{name} spring" if stiffness else f"{name} damping"] = Bushing(
            body_a=WORLD,
            body_b=child,
            point_a=_tuple(rest[:3]),
            rest_orientation=_unit(rest[3:]),
            stiffness=(stiffness,) * 3,
            damping=(damping,) * 3,
            turning_stiffness=(stiffness,) * 3,
            turning_damping=(damping,) * 3,
        )

    def resistance(self, j: int, name: str, to: int) -> tuple[float, float]:
        """Stiffness and damping of a ball or free joint."""
        m = self.m
        stiffness = 0.0 if self.is_off("SPRING") else float(m.jnt_stiffness[j])
        damping = 0.0 if self.is_off("DAMPER") else float(m.dof_damping[to])
        if stiffness:
            why = "the torque of a turn by an angle a is stiffness × sin a, as for small ones"
            self.notes.add("approximated", "stiffness of a ball or free joint", why, f"joint {name!r}")
        self.note_nonlinear(j, name, to)
        return stiffness, damping

    def note_nonlinear(self, j: int, name: str, to: int) -> None:
        """Note what is not linear of the spring and the damper of a joint."""
        m = self.m
        if m.jnt_stiffnesspoly[j].any() or m.dof_dampingpoly[to].any() or m.actuator_dampingpoly[self.drives(j)].any():
            self.notes.add("dropped", "nonlinear stiffness or damping", "mbvi takes the linear part", f"joint {name!r}")

    # --------------------------------------------------------------------------------------------- shapes

    def shape(self, g: int) -> list[Any]:
        """The shape of a geom, for viewing only."""
        m, kind, wanted = self.m, int(self.m.geom_type[g]), self.robot.options.geometry
        is_solid = bool(m.geom_contype[g] or m.geom_conaffinity[g])
        rgba = m.mat_rgba[m.geom_matid[g]] if m.geom_matid[g] >= 0 else m.geom_rgba[g]
        why = "not asked for" if wanted == "none" or (wanted == "collision" and not is_solid) else ""
        if wanted == "visual" and (m.geom_group[g] >= SHOWN_GROUPS or not rgba[3]):
            why = "MuJoCo does not show it either; geometry='collision' draws those that touch"
        if why:
            self.notes.add("dropped", "geom", why, f"body {self.body_names[m.geom_bodyid[g]]!r}")
            return []
        if rgba[3] < 1:
            self.notes.add(
                "approximated", "transparent geom", "drawn opaque", f"body {self.body_names[m.geom_bodyid[g]]!r}"
            )
        fields: dict[str, Any] = {"color": tuple(np.clip(rgba[:3], 0, 1).tolist())}
        size = [float(each) for each in m.geom_size[g]]
        if kind == MESH:
            return self.mesh(g, fields)
        fields |= {"position": _tuple(m.geom_pos[g]), "orientation": _unit(m.geom_quat[g])}
        match kind:
            case 2:  # sphere
                return [Sphere(radius=size[0], **fields)]
            case 3:  # capsule
                return [Capsule(radius=size[0], length=2 * size[1], **fields)]
            case 5:  # cylinder
                return [Cylinder(radius=size[0], length=2 * size[1], **fields)]
            case 6:  # box
                return [Box(size=(2 * size[0], 2 * size[1], 2 * size[2]), **fields)]
            case 4:  # ellipsoid
                return [Ellipsoid(semi_axes=(size[0], size[1], size[2]), **fields)]
        why = "mbvi has no contacts between shapes, and draws a floor of its own"
        self.notes.add("dropped", "plane or height field", why)
        return []

    def mesh(self, g: int, fields: dict[str, Any]) -> list[Any]:
        """The mesh of a geom, by its file: MuJoCo moved it to its centre and principal axes, and the geom with it."""
        m, k = self.m, int(self.m.geom_dataid[g])
        name = m.mesh(k).name
        if name not in self.source.meshes:
            self.notes.add("dropped", "mesh without a file", "its vertices stand in the text", f"mesh {name!r}")
            return []
        node, file = self.source.meshes[name]
        turned = rotation_matrix(m.geom_quat[g]) @ rotation_matrix(m.mesh_quat[k]).T
        place = m.geom_pos[g] - turned @ m.mesh_pos[k]
        fields |= {
            "position": _tuple(place),
            "orientation": _unit(_quaternion(turned)),
            "scale": _tuple(m.mesh_scale[k]),
        }
        return list(self.robot.mesh(node, file, f"mesh {name!r}", fields))

    # ------------------------------------------------------------------------------------------ equations

    def add_equation(self, i: int) -> None:
        """Add a constraint of the file."""
        m, kind, data = self.m, int(self.m.eq_type[i]), self.m.eq_data[i]
        name = self.robot.free_name(
            m.eq(i).name or f"equality {i}", self.joint_names, self.robot.joints, self.robot.constraints
        )
        if not m.eq_active0[i]:
            self.notes.add("dropped", "equality", "not active at the start", name)
        elif kind in (CONNECT, WELD):
            is_site = int(m.eq_objtype[i]) != 1  # mjOBJ_BODY
            if is_site:
                self.connect_sites(i, name, kind)
                return
            a, b = self.body_names[m.eq_obj1id[i]], self.body_names[m.eq_obj2id[i]]
            if kind == CONNECT:
                points: dict[str, Any] = {"point_a": _tuple(data[:3]), "point_b": _tuple(data[3:6])}
                self.robot.constraints[name] = CoincidentPoints(body_a=a, body_b=b, **points)
            else:
                turned = rotation_matrix(data[6:10])  # of body 2 in body 1, whose place in it is data[3:6] + …
                points = {"point_a": _tuple(data[3:6]), "point_b": _tuple(data[:3])}
                orientation = _unit(_quaternion(turned))
                self.robot.constraints[name] = CoincidentFrames(body_a=a, body_b=b, orientation=orientation, **points)
        elif kind == JOINT:
            self.couple(i, name)
        elif kind == OF_TENDONS:
            self.hold_tendons(i, name)
        else:
            self.notes.add("dropped", "equality of flexes", "mbvi has none", name)

    def connect_sites(self, i: int, name: str, kind: int) -> None:
        """Add a constraint between two sites."""
        m = self.m
        s, t = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        a, b = (self.body_names[m.site_bodyid[each]] for each in (s, t))
        points: dict[str, Any] = {"point_a": _tuple(m.site_pos[s]), "point_b": _tuple(m.site_pos[t])}
        if kind == CONNECT:
            self.robot.constraints[name] = CoincidentPoints(body_a=a, body_b=b, **points)
            return
        turned = rotation_matrix(m.site_quat[s]) @ rotation_matrix(m.site_quat[t]).T
        orientation = _unit(_quaternion(turned))
        self.robot.constraints[name] = CoincidentFrames(body_a=a, body_b=b, orientation=orientation, **points)

    def couple(self, i: int, name: str) -> None:
        """Add a polynomial that ties two joints, or holds one."""
        m, data = self.m, self.m.eq_data[i]
        follower, leader = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        rest = float(m.qpos0[m.jnt_qposadr[follower]])
        key = self.joint_names[follower]
        if leader < 0:
            self.robot.constraints[name] = PrescribedCoordinate(joint=key, value=rest + float(data[0]))
            return
        leading, start = self.joint_names[leader], float(m.qpos0[m.jnt_qposadr[leader]])
        if np.any(data[2:5]):
            text = polynomial([float(each) for each in data[:5]], start, rest)
            self.robot.constraints[name] = Coupling(joint_a=leading, joint_b=key, function=text)
            return
        ratio = float(data[1])
        offset = rest + float(data[0]) - ratio * start
        self.robot.constraints[name] = Coupling(joint_a=leading, joint_b=key, ratio=ratio, offset=offset)

    def hold_tendons(self, i: int, name: str) -> None:
        """Add what ties two tendons, or holds the length of one."""
        m, second = self.m, int(self.m.eq_obj2id[i])
        tendons = self.tendons.all
        other = tendons[second] if second >= 0 else None
        data = [float(each) for each in m.eq_data[i, :5]]
        held = self.tendons.equation(tendons[int(m.eq_obj1id[i])], other, data)
        if held is None:
            why = "mbvi has those of one to three coordinates, and of one rope over points"
            self.notes.add("dropped", "equality of tendons", why, name)
            return
        self.robot.constraints[name] = held

    # ------------------------------------------------------------------------------------------ actuators

    def add_actuator(self, i: int) -> None:
        """Add an actuator on a joint, a tendon or a site."""
        m, name = self.m, self.actuator_names[i]
        if why := self.what_lacks(i):
            self.notes.add("dropped", "actuator", why, name)
            return
        if m.actuator_trntype[i] in (TENDON, SITE) and (m.actuator_armature[i] or m.actuator_damping[i]):
            where = "tendon" if m.actuator_trntype[i] == TENDON else "site"
            why = "mbvi has inertia and damping of single coordinates"
            self.notes.add("dropped", f"armature or damping of an actuator on a {where}", why, name)
        if m.actuator_trntype[i] == SITE:
            if m.actuator_trnid[i, 1] >= 0:
                self.push_from_reference(i, name)
            else:
                self.push_site(i, name)
            return
        law, ends = self.law(i), self.ends(i)
        if len(ends) != 1:
            gear = float(m.actuator_gear[i, 0])
            self.note_efforts(i, ends)
            drive = partial(TendonActuator, gear=gear, input=self.input(i), effort=self.range_of(i), **self.law(i))
            self.tendons.add_along(name, self.tendons.all[int(m.actuator_trnid[i, 0])], drive)
            return
        ((j, factor),) = ends
        key = self.robot.free_name(name, self.robot.forces)
        fields = {
            "joint": self.joint_names[j],
            "gear": factor,
            "input": self.input(i),
            "effort": self.effort(i, j, factor),
        }
        self.robot.forces[key] = actuator(law, fields)

    def drives(self, j: int) -> list[int]:
        """The actuators on a joint itself, whose rotors and dampers turn with it."""
        m = self.m
        return [
            i
            for i in range(m.nactuator)
            if m.actuator_trntype[i] in (ON_JOINT, IN_PARENT) and m.actuator_trnid[i, 0] == j
        ]

    def what_lacks(self, i: int) -> str:
        """Why an actuator cannot be taken; empty if it can."""
        m, transmission = self.m, int(self.m.actuator_trntype[i])
        is_of_coordinate = transmission in (ON_JOINT, IN_PARENT) and m.jnt_type[m.actuator_trnid[i, 0]] in (
            SLIDE,
            HINGE,
        )
        is_tendon, is_site = transmission == TENDON, transmission == SITE
        if is_site and m.body_weldid[m.site_bodyid[m.actuator_trnid[i, 0]]] == 0:
            return "it pushes the world, which does not move"
        if is_site and m.actuator_trnid[i, 1] >= 0 and (why := self.what_lacks_reference(i)):
            return why
        if is_tendon and not self.tendons.all[int(m.actuator_trnid[i, 0])].has_length:
            return AROUND
        if not (is_of_coordinate or is_tendon or is_site):
            return "mbvi has them on single coordinates, tendons and sites"
        if not is_site and not m.actuator_gear[i, 0]:
            return "its gear is 0, so that it exerts nothing"
        if m.actuator_dyntype[i] != 0 or m.actuator_delay[i] > 0:
            return "it has a state of its own, which mbvi lacks"
        if (
            m.actuator_gaintype[i] not in (0, 1)
            or m.actuator_biastype[i] not in (0, 1)
            or m.actuator_gainprm[i, 1:3].any()
        ):
            return "mbvi has forces that are linear in input, place and rate"
        return ""

    def what_lacks_reference(self, i: int) -> str:
        """Why an actuator on a site cannot be taken relative to its reference site; empty if it can."""
        m, (s, r) = self.m, map(int, self.m.actuator_trnid[i])
        if m.body_weldid[m.site_bodyid[r]]:
            return "its reference site moves, where MuJoCo's force follows from no length"
        if m.actuator_gear[i, 3:].any():
            return "it turns relative to a reference site, where MuJoCo's torque follows from no length"
        if self.frame_name(s) is None:
            return "no expression has the name of its site"
        return ""

    def frame_name(self, s: int) -> str | None:
        """A site as BODY.FRAME in the quotes of an expression; None if it has no such name."""
        body, frame = self.body_names[self.m.site_bodyid[s]], self.m.site(s).name
        name = f"{body}.{frame}"
        return None if frame not in self.robot.bodies[body].frames or unnamed([name]) else quoted(name)

    def push_from_reference(self, i: int, name: str) -> None:
        """Add an actuator on a site along axes of a site that does not move: its length is Σ gear_k e_k·(x − x_reference)."""
        import mujoco

        m, (s, r) = self.m, map(int, self.m.actuator_trnid[i])
        data = mujoco.MjData(m)
        mujoco.mj_kinematics(m, data)
        along = data.site_xmat[r].reshape(3, 3) @ m.actuator_gear[i, :3]
        if not along.any():
            self.notes.add("dropped", "actuator", "its gear is 0, so that it exerts nothing", name)
            return
        parts = [
            f"({each!r})*{axis}({self.frame_name(s)})" for axis, each in zip("xyz", _tuple(along), strict=True) if each
        ]
        length = f"{' + '.join(parts)} - ({float(along @ data.site_xpos[r])!r})"
        self.robot.forces[self.robot.free_name(name, self.robot.forces)] = TendonActuator(
            length=length, input=self.input(i), effort=self.range_of(i), **self.law(i)
        )

    def push_site(self, i: int, name: str) -> None:
        """Add an actuator on a site, along the axes of the site. MuJoCo's length of it is 0, so that it has no stiffness."""
        m, s, law = self.m, int(self.m.actuator_trnid[i, 0]), self.law(i)
        gear = m.actuator_gear[i]
        if not gear.any():
            self.notes.add("dropped", "actuator", "its gear is 0, so that it exerts nothing", name)
            return
        self.robot.forces[self.robot.free_name(name, self.robot.forces)] = FrameActuator(
            body=self.body_names[m.site_bodyid[s]],
            point=_tuple(m.site_pos[s]),
            orientation=_unit(m.site_quat[s]),
            force=_tuple(gear[:3]),
            torque=_tuple(gear[3:]),
            input=self.input(i),
            effort=self.range_of(i),
            gain=law["gain"],
            bias=law["bias"],
            damping=law["damping"],
        )

    def ends(self, i: int) -> list[tuple[int, float]]:
        """The joints that an actuator pulls, each with how far it moves per coordinate."""
        m, at, gear = self.m, int(self.m.actuator_trnid[i, 0]), float(self.m.actuator_gear[i, 0])
        found = [(at, gear)]
        if m.actuator_trntype[i] == TENDON:
            factors = self.tendons.all[at].factors  # none of one over points
            found = [(self.joint_names.index(joint), gear * factor) for joint, factor in factors.items()]
        return [(joint, factor) for joint, factor in found if factor]

    def law(self, i: int) -> dict[str, Any]:
        """The law of an actuator: force per input, bias, stiffness and damping."""
        m = self.m
        bias, by_place, by_rate = m.actuator_biasprm[i, :3] if m.actuator_biastype[i] else (0.0, 0.0, 0.0)
        return {
            "gain": float(m.actuator_gainprm[i, 0]),
            "bias": float(bias),
            "stiffness": 0.0 - float(by_place),
            "damping": 0.0 - float(by_rate),
        }

    def input(self, i: int) -> float:
        """The input of an actuator at the start: that of the keyframe, or 0; within its range."""
        m, start, at = self.m, self.robot.options.start, int(self.m.actuator_ctrladr[i])
        names = [m.key(k).name for k in range(m.nkey)]
        value = float(m.key_ctrl[names.index(start), at]) if start in names else 0.0
        return float(np.clip(value, *m.actuator_ctrlrange[i])) if m.actuator_ctrllimited[i] else value

    def range_of(self, i: int) -> tuple[float, float] | None:
        """The range of an actuator's own force; None if it has none."""
        low, high = map(float, self.m.actuator_forcerange[i])
        return (low, high) if self.m.actuator_forcelimited[i] and np.isfinite((low, high)).all() else None

    def note_efforts(self, i: int, ends: list[tuple[int, float]]) -> None:
        """Note limits of joints that several actuators, or one along a tendon, may reach."""
        for j, _ in ends:
            if self.m.jnt_actfrclimited[j]:
                why = "a limit of the sum of several actuators; kept with the joint, and reported"
                self.notes.add("approximated", "actuatorfrcrange", why, f"joint {self.joint_names[j]!r}")

    def effort(self, i: int, j: int, gear: float) -> tuple[float, float] | None:
        """The range of an actuator's force, or None unless both bounds are finite.

        What a joint takes at most of all its actuators bounds the force too, if no other one acts on the joint.
        """
        m = self.m
        low, high = m.actuator_forcerange[i] if m.actuator_forcelimited[i] else (-np.inf, np.inf)
        if m.jnt_actfrclimited[j]:
            taken = [k for k in range(m.nactuator) if k != i and not self.what_lacks(k)]
            others = [k for k in taken if m.actuator_trntype[k] != SITE and any(each == j for each, _ in self.ends(k))]
            bounds = np.sort(m.jnt_actfrcrange[j] / gear)
            if others or m.actuator_trntype[i] == TENDON:
                self.note_efforts(i, [(j, gear)])
            else:
                low, high = max(low, bounds[0]), min(high, bounds[1])
        return (float(low), float(high)) if np.isfinite((low, high)).all() else None

    # ----------------------------------------------------------------------------------------------- rest

    def set_keyframe(self, name: str) -> None:
        """Start from a keyframe: coordinates and rates of all joints."""
        m = self.m
        names = [m.key(k).name for k in range(m.nkey)]
        if not name or name not in names:
            raise self.source.root.wrong(
                "the name of a keyframe", show(name), nearest(name, [each for each in names if each])
            )
        qpos, qvel = m.key_qpos[names.index(name)], m.key_qvel[names.index(name)]
        for j, joint in enumerate(self.joint_names):
            kind = int(m.jnt_type[j])
            at, to = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
            q, v = _tuple(qpos[at : at + (7, 4, 1, 1)[kind]]), _tuple(qvel[to : to + WIDTHS[kind]])
            if kind == BALL:
                turned = rotation_matrix(self.robot.joints[joint].orientation)
                q = _unit(_quaternion(turned @ rotation_matrix(q) @ turned.T))
            is_single = kind in (SLIDE, HINGE)
            self.robot.starts[joint], self.robot.rates[joint] = (q[0], v[0]) if is_single else (q, v)

    def note_rest(self) -> None:
        """Note what was taken, and what mbvi lacks."""
        m = self.m
        self.notes.add("taken", count(m.nbody - 1, "body").replace("bodys", "bodies"))
        kinds = [f"{number} {KINDS[kind]}" for kind in range(4) if (number := int(np.sum(m.jnt_type == kind)))]
        if kinds:
            self.notes.add("taken", f"{count(m.njnt, 'joint')} ({', '.join(kinds)})")
        if off := [flag.lower() for flag in FLAGS if self.is_off(flag)]:
            self.notes.add("approximated", "flags of <option>", f"what the file disables is left out: {', '.join(off)}")
        dropped = (
            (m.nsensor, "sensor", "models of mbvi have sensors of their own"),
            (
                sum(not each.factors for each in self.tendons.all),
                "look of a spatial tendon",
                "what it becomes is drawn",
            ),
            (m.nskin, "skin", "mbvi draws rigid shapes"),
            (m.nkey, "keyframe", "start='NAME' starts from one of them"),
            (m.npair + m.nexclude, "contact", "mbvi has no contacts between shapes"),
            (m.nlight + m.ncam, "light or camera", "mbvi has its own"),
            (int(np.any(m.body_gravcomp)), "gravity compensation", "gravity acts on all bodies"),
            (int(m.opt.density > 0 or m.opt.viscosity > 0), "medium", "mbvi has no drag of bodies"),
        )
        for number, what, why in dropped:
            if number:
                self.notes.add("dropped", what if number == 1 else f"{number} × {what}", why)
        self.notes.add("dropped", "contacts of geoms", "mbvi has no contacts between shapes")


WIDTHS = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}


def actuator(law: dict[str, Any], fields: dict[str, Any]) -> Motor | PositionServo | VelocityServo | Actuator:
    """The simplest element of an actuator's law."""
    gain, bias, stiffness, damping = law.values()
    if not bias and gain == stiffness:
        return PositionServo(stiffness=stiffness, damping=damping, **fields)
    if not bias and not stiffness and gain == damping:
        return VelocityServo(damping=damping, **fields)
    if (gain, bias, stiffness, damping) == (1, 0, 0, 0):
        return Motor(**fields)
    return Actuator(**law, **fields)


def _tuple(values: Any) -> tuple[Any, ...]:
    return tuple(float(each) for each in values)


def _unit(values: Any) -> tuple[float, ...]:
    """The orientation of a quaternion w, x, y, z as elements have it."""
    return _tuple(quaternion(values))


def _quaternion(rotation: Floats) -> Floats:
    """A unit quaternion w, x, y, z of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(rotation).as_quat(), 1)
