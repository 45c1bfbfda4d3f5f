"""URDF, the robot description format of ROS: a tree of links and joints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbvi.model.bodies import Body
from mbvi.model.constraints import Coupling, PrescribedCoordinate
from mbvi.model.expressions import as_number, nearest, show
from mbvi.model.fields import WORLD
from mbvi.model.forces import JointDamper, Motor
from mbvi.model.imports.poses import fixed_angles
from mbvi.model.imports.robot import Robot
from mbvi.model.imports.xml import Node
from mbvi.model.joints import Free, Joint, Planar, Prismatic, Revolute, Weld
from mbvi.model.limits import Limits
from mbvi.model.model import Model
from mbvi.model.rotations import rotation_matrix
from mbvi.model.shapes import Box, Capsule, Cylinder, Sphere
from mbvi.text import count

Floats = NDArray[np.float64]

TYPES = "revolute", "continuous", "prismatic", "fixed", "floating", "planar"
WHY = {
    "gazebo": "what it says is for the simulator Gazebo",
    "collision": "mbvi has no contacts between shapes; geometry='collision' draws it",
    "visual": "not asked for",
    "sensor": "models of mbvi have sensors of their own",
    "ros2_control": "it says how programs reach the joints, and nothing of mechanics",
    "safety_controller": "soft limits of a controller",
    "calibration": "places of switches on a joint",
    "limit": "the joint has no coordinate, or several",
    "dynamics": "the joint has no coordinate, or several",
    "axis": "the joint has none",
    "texture": "shapes have one colour each",
    "contact": "mbvi has no contacts between shapes",
    "self_filter": "mbvi has no contacts between shapes",
    "collision_checking": "mbvi has no contacts between shapes",
}
"""Why elements are dropped."""
LOOKS = "color", "texture"
"""What a material is given by."""
OTHERS = "not a part of URDF that says something of the mechanics"
XACRO = "expand its macros first: ros2 run xacro xacro robot.urdf.xacro > robot.urdf, or rosrun in ROS 1"


def read_urdf(root: Node, robot: Robot) -> Model:
    """The model of a URDF file.

    Parameters
    ----------
    root : Node
        The file's element <robot>.
    robot : Robot
        An empty one, with the options.

    Raises
    ------
    ModelError
        If anything is wrong with the file.
    """
    if robot.options.start is not None:
        raise root.wrong("no named start", show(robot.options.start), "URDF has none; leave it out")
    _refuse_macros(root)
    return _Reader(root, robot).read()


def _refuse_macros(root: Node) -> None:
    """Xacro is a program that evaluates Python."""
    for node in root.walk():
        texts = [node.tag, *node.attributes.values()]
        if node.tag.startswith("xacro:") or any("${" in text or "$(" in text for text in texts):
            raise node.wrong("a URDF file without macros", "one for xacro", XACRO)


class _Reader:
    """Reads links and joints into a robot."""

    def __init__(self, root: Node, robot: Robot) -> None:
        self.root, self.robot, self.notes = root, robot, robot.notes
        self.links = _named(root, "link")
        self.has_visuals = any(child.tag == "visual" for link in self.links.values() for child in link.children)
        self.nodes = _named(root, "joint")
        self.colors: dict[str, str | None] = {}
        self.body_of: dict[str, str] = {}

    def read(self) -> Model:
        """The model."""
        self.root.get("version")
        name = self.root.get("name") or "robot"
        self.read_materials()
        top = self.find_root()
        self.name_bodies(top)
        for link, node in self.links.items():
            self.add_link(node, self.body_of[link])
        if self.body_of[top] != WORLD:
            self.robot.add_base(self.body_of[top])
        for joint, node in self.nodes.items():
            self.add_joint(node, joint)
        for joint, node in self.nodes.items():
            self.add_mimic(node, joint)
        self.read_transmissions()
        self.note_rest()
        return self.robot.model(name, "URDF")

    def read_materials(self) -> None:
        """Find the colours of all materials, which may be given after they are named, also in other links."""
        own = self.root.all("material")
        visuals = (
            each for link in self.links.values() for each in link.children if each.tag in ("visual", "collision")
        )
        for node in (*own, *(part for each in visuals for part in each.children if part.tag == "material")):
            name = (node.attributes.get("name") or "").strip()
            if name and name not in self.colors and any(child.tag in LOOKS for child in node.children):
                self.colors[name] = self.color(node)

    # ---------------------------------------------------------------------------------------------- tree

    def find_root(self) -> str:
        """The link that hangs on no other, of which there is one; every other one has one parent."""
        if not self.links:
            raise self.root.wrong("an element <link> in it", "none")
        parent: dict[str, str] = {}
        for node in self.nodes.values():
            ends = [self.end(node, tag) for tag in ("parent", "child")]
            if ends[1] in parent:
                raise node.wrong("a child that is that of no other joint", show(ends[1]), "loops are not part of URDF")
            parent[ends[1]] = ends[0]
        roots = [link for link in self.links if link not in parent]
        if len(roots) != 1:
            found = ", ".join(map(repr, roots[:5])) or "none, since they hang on each other in a circle"
            raise self.root.wrong("one link that is no joint's child", found, "connect all links by joints")
        hanging = {roots[0]}
        for link in self.links:
            way: dict[str, None] = {}
            while link not in hanging:
                if link in way:
                    raise self.root.wrong("links that hang on the root", f"a circle through {link!r}")
                way[link] = None
                link = parent[link]
            hanging.update(way)
        return roots[0]

    def end(self, node: Node, tag: str) -> str:
        """The link that a joint names as its parent or child."""
        part = node.the(tag)
        link = part.needed("link")
        if link not in self.links:
            raise part.wrong("the name of a link", show(link), nearest(link, self.links))
        return link

    def name_bodies(self, top: str) -> None:
        """The body of every link; a root that is called world, fixed and without mass and geometry, is the world."""
        for link, node in self.links.items():
            tags = {child.tag for child in node.children}
            if link != WORLD:
                self.body_of[link] = link
            elif link == top and not self.robot.options.floating and not tags & {"inertial", "visual", "collision"}:
                self.body_of[link] = WORLD
            else:
                self.body_of[link] = self.robot.free_name("world link", self.links)
                why = f"called {self.body_of[link]!r}, since world is the fixed frame"
                self.notes.add("approximated", "link 'world'", why)

    # --------------------------------------------------------------------------------------------- links

    def add_link(self, node: Node, body: str) -> None:
        """Add a body."""
        mass_fields = self.mass_fields(node, body)
        if body != WORLD:
            self.robot.bodies[body] = Body(**mass_fields, shapes=tuple(self.shapes(node, body)))

    def mass_fields(self, node: Node, body: str) -> dict[str, Any]:
        """Mass, its centre and the inertia about it, along the axes of the body."""
        inertial = node.first("inertial")
        if inertial is None:
            return {}
        part, element = inertial.the("mass"), inertial.the("inertia")
        mass = part.number("value")
        if mass < 0:
            raise part.wrong("a mass of at least 0", show(mass))
        xx, yy, zz = (element.number(key) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (element.number(key, 0.0) for key in ("ixy", "ixz", "iyz"))
        place, orientation = origin(inertial)
        turned = rotation_matrix(orientation)
        matrix = turned @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turned.T
        inertia = self.robot.inertia(inertial, body, mass, (matrix + matrix.T) / 2)
        return {"mass": mass, "center_of_mass": place, "inertia": inertia}

    def shapes(self, node: Node, body: str) -> Iterator[Any]:
        """The shapes of a link, for viewing only."""
        wanted = self.robot.options.geometry
        tags = {child.tag for child in node.children}
        if wanted == "visual" and not self.has_visuals and "collision" in tags:
            why = "drawn, since no link has a <visual>"
            self.notes.add("approximated", "<collision>", why, f"link {body!r}")
            wanted = "collision"
        for part in () if wanted == "none" else node.all(wanted):
            part.get("name")
            material = part.first("material")
            color = None if material is None else self.color(material)
            place, orientation = origin(part)
            fields = {"position": place, "orientation": orientation, "color": color}
            geometry = part.the("geometry")
            geometry.get("name")
            yield from self.geometry(geometry, body, fields)

    def geometry(self, node: Node, body: str, fields: dict[str, Any]) -> Iterator[Any]:
        """The shape of an element <geometry>."""
        if box := node.first("box"):
            x, y, z = _lengths(box, "size", 3)
            yield Box(size=(x, y, z), **fields)
        elif sphere := node.first("sphere"):
            yield Sphere(radius=_lengths(sphere, "radius")[0], **fields)
        elif round_ := node.first("cylinder") or node.first("capsule"):
            kind = Cylinder if round_.tag == "cylinder" else Capsule
            yield kind(radius=_lengths(round_, "radius")[0], length=_lengths(round_, "length")[0], **fields)
        elif mesh := node.first("mesh"):
            scale: Any = mesh.numbers("scale", 3, (1.0, 1.0, 1.0))
            if 0 in scale:
                raise mesh.wrong("factors other than 0 as scale", show(scale))
            fields["scale"] = None if set(scale) == {1.0} else scale[0] if set(scale) == {abs(scale[0])} else scale
            yield from self.robot.mesh(mesh, mesh.needed("filename"), f"link {body!r}", fields)
        else:
            raise node.wrong("a box, sphere, cylinder, capsule or mesh", "none of them")

    def color(self, node: Node) -> str | None:
        """The colour of a material, which may have been given elsewhere by its name."""
        name, part = node.get("name") or "", node.first("color")
        if part is None:
            if name and name not in self.colors and not any(child.tag in LOOKS for child in node.children):
                self.notes.add("dropped", f"material {show(name)}", "no colour of that name is in the file", node.place)
            return self.colors.get(name)
        *rgb, alpha = part.numbers("rgba", 4)
        if alpha < 1:
            self.notes.add("approximated", "transparent material", "drawn opaque", f"material {name!r}")
        return "#" + "".join(f"{round(255 * min(max(each, 0.0), 1.0)):02X}" for each in rgb)

    # -------------------------------------------------------------------------------------------- joints

    def add_joint(self, node: Node, name: str) -> None:
        """Add a joint, with its limits, damping and friction."""
        kind = node.needed("type")
        if kind not in TYPES:
            raise node.wrong(f"one of the types {', '.join(TYPES)}", show(kind), nearest(kind, TYPES))
        parent, child = (self.body_of[self.end(node, tag)] for tag in ("parent", "child"))
        place, orientation = origin(node)
        common: dict[str, Any] = {"parent": parent, "child": child, "position": place, "orientation": orientation}
        if kind == "fixed":
            self.robot.joints[name] = Weld(**common)
        elif kind == "floating":
            self.robot.joints[name] = Free(**common)
        else:
            self.robot.joints[name] = self.moving_joint(node, name, kind, common)

    def moving_joint(self, node: Node, name: str, kind: str, common: dict[str, Any]) -> Joint:
        """A joint with an axis, which URDF has in the child's frame, and mbvi in the parent's."""
        axis = node.first("axis")
        given = (1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3)
        if not any(given):
            raise (axis or node).wrong("an axis other than 0", show(given))
        turned = rotation_matrix(common["orientation"])
        direction: Any = tuple((turned @ np.array(given)).tolist())
        if kind == "planar":
            x, y = turned[:, 0], turned[:, 1]
            across: Any = x if abs(x @ direction) < 0.9 * np.linalg.norm(direction) else y
            return Planar(normal=direction, x_axis=tuple(across.tolist()), **common)
        limits = self.limits(node, name, kind)
        self.robot.set_start(name, limits)
        common |= self.dynamics(node, name)
        if kind == "prismatic":
            return Prismatic(axis=direction, limits={"displacement": limits} if limits else {}, **common)
        return Revolute(axis=direction, limits={"angle": limits} if limits else {}, **common)

    def limits(self, node: Node, name: str, kind: str) -> Limits | None:
        """The limits of a joint's coordinate."""
        part = node.first("limit")
        if part is None:
            return None
        place = f"joint {name!r}"
        lower, upper, speed, effort = (self.limit(part, key) for key in ("lower", "upper", "velocity", "effort"))
        if kind == "continuous" and (lower or upper):
            self.notes.add(
                "dropped", "lower and upper of <limit>", "a continuous joint has no limits of its angle", place
            )
        if kind == "continuous":
            lower = upper = None
        elif lower is None and upper is None:
            self.notes.add("approximated", "<limit>", "no lower and upper: taken as no limits of the coordinate", place)
        else:
            lower, upper = lower or 0.0, upper or 0.0  # as URDF has it
        if lower is not None and upper is not None and lower > upper:
            raise part.wrong("a lower limit not above the upper one", f"{lower:g} and {upper:g}")
        for key, value in (("velocity", speed), ("effort", effort)):
            if value is not None and value <= 0:
                self.notes.add("approximated", f"{key} of <limit>", f"{value:g} is taken as no limit", place)
        speed, effort = (value if value and value > 0 else None for value in (speed, effort))
        limits = Limits(lower=lower, upper=upper, speed=speed, effort=effort)
        return None if limits == Limits() else limits

    def limit(self, node: Node, key: str) -> float | None:
        """A limit; None where there is none, or one that is infinite."""
        text = (node.get(key) or "").lower().lstrip("+-")
        return None if text in ("", "inf", "infinity") else node.number(key)

    def dynamics(self, node: Node, name: str) -> dict[str, float]:
        """Add the damping of a joint; its friction, which is kept."""
        part = node.first("dynamics")
        if part is None:
            return {}
        damping, friction = part.number("damping", 0.0), part.number("friction", 0.0)
        if damping:
            self.robot.forces[f"{name} damping"] = JointDamper(joint=name, damping=damping)
        if friction < 0:
            raise part.wrong("a friction of at least 0", show(friction))
        if friction:
            self.robot.note_friction("friction", f"joint {name!r}")
        return {"friction": friction} if friction else {}

    def add_mimic(self, node: Node, name: str) -> None:
        """Couple a joint to the one that it follows."""
        part = node.first("mimic")
        if part is None:
            return
        leader = part.needed("joint")
        ratio, offset = part.number("multiplier", 1.0), part.number("offset", 0.0)
        for each in (name, leader):
            joint = self.robot.joints.get(each)
            if joint is None or len(joint.coordinate_names) != 1 or leader == name:
                why = f"of two joints with one coordinate each, and {each!r} is "
                why += "not in the file" if joint is None else f"of the type {joint.type}"
                self.notes.add("dropped", "<mimic>", why, f"joint {name!r}")
                return
        key = self.robot.free_name(f"{name} mimics {leader}", self.robot.joints)
        if ratio:
            self.robot.constraints[key] = Coupling(joint_a=leader, joint_b=name, ratio=ratio, offset=offset)
        else:
            self.robot.constraints[key] = PrescribedCoordinate(joint=name, value=offset)

    # ---------------------------------------------------------------------------------------------- rest

    def read_transmissions(self) -> None:
        """Add the motors of transmissions: how often they turn per turn of a joint, and the inertia of their rotors."""
        parts = [self.root, *(child for child in self.root.children if child.tag == "ros2_control")]
        for node in (each for part in parts for each in part.children if each.tag == "transmission"):
            joints, motors = ([each.get("name") or "" for each in node.all(tag)] for tag in ("joint", "actuator"))
            known = [joint for joint in joints if len(self.coordinates_of(joint)) == 1]
            if len(joints) == len(known) == 1:
                self.add_motor(node, joints[0], next(filter(None, motors), f"{joints[0]} motor"))
            else:
                why = "mbvi has motors on one joint with one coordinate each"
                self.notes.add("dropped", "<transmission>", why, f"joint {', '.join(map(repr, joints))}")
            node.read_all()

    def coordinates_of(self, joint: str) -> tuple[str, ...]:
        """The coordinates of a joint; none if there is no such joint."""
        return self.robot.joints[joint].coordinate_names if joint in self.robot.joints else ()

    def add_motor(self, node: Node, joint: str, name: str) -> None:
        """Add the motor of a transmission, with the armature of a rotor in the words of Drake."""
        values = {each.tag.lower(): each for each in node.walk()}
        reductions = [as_number(values[tag].text.strip()) for tag in REDUCTIONS if tag in values]
        gear = next((each for each in reductions if each), 1.0)
        if ratio := values.get("drake:gear_ratio"):
            gear = ratio.number("value")
        if rotor := values.get("drake:rotor_inertia"):
            armature = rotor.number("value") * gear**2
            self.robot.joints[joint] = self.robot.joints[joint].model_copy(update={"armature": armature})
        self.robot.notes.reductions[joint] = gear
        self.robot.forces[self.robot.free_name(name, self.robot.forces)] = Motor(joint=joint, gear=gear)

    def note_rest(self) -> None:
        """Note what was taken, and what was not read."""
        kinds = Counter(node.get("type") for node in self.nodes.values())
        self.notes.add("taken", count(len(self.links), "link"))
        if kinds:
            self.notes.add(
                "taken", count(len(self.nodes), "joint") + f" ({', '.join(f'{n} {k}' for k, n in kinds.items())})"
            )
        for node, attribute in self.root.unread():
            if not attribute.startswith("xmlns"):
                why = WHY.get(node.tag, OTHERS) if not attribute else OTHERS
                self.notes.add(
                    "dropped", f"{attribute} of <{node.tag}>" if attribute else f"<{node.tag}>", why, node.place
                )


REDUCTIONS = "mechanicalreduction", "mechanical_reduction"
"""Tags of what a motor turns per turn of the joint, in small letters."""


def _named(root: Node, tag: str) -> dict[str, Node]:
    """The elements of a tag by their names, each of which stands once."""
    found: dict[str, Node] = {}
    for node in root.all(tag):
        name = node.needed("name")
        if name in found:
            raise node.wrong(f"a name that no other {tag} has", f"{name!r}, as in line {found[name].line}")
        found[name] = node
    return found


def origin(node: Node) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Place (3,) [m] and orientation of an element's <origin>: turned about the fixed axes x, y and z in this order.

    The orientation is a unit quaternion w, x, y, z, or the rotation vector 0.
    """
    part = node.first("origin")
    if part is None:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return part.numbers("xyz", 3, (0.0,) * 3), fixed_angles(part.numbers("rpy", 3, (0.0,) * 3))


def _lengths(node: Node, name: str, number: int = 1) -> tuple[float, ...]:
    """Lengths greater than 0."""
    values = node.numbers(name, number)
    if min(values) <= 0:
        raise node.wrong(f"a {name} greater than 0", show(values if number > 1 else values[0]))
    return values
