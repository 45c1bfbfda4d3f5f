"""SDF, the format of Gazebo and Drake: models of links and joints, in each other, which may close loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbvi.errors import ModelError
from mbvi.model.bodies import Body, Frame
from mbvi.model.constraints import Coupling
from mbvi.model.expressions import as_number, nearest, show
from mbvi.model.fields import WORLD
from mbvi.model.forces import JointDamper, JointSpring
from mbvi.model.imports.poses import AT_ORIGIN, Pose
from mbvi.model.imports.robot import Robot
from mbvi.model.imports.sdf_scopes import OWN, Includes, Scope, read_pose, version
from mbvi.model.imports.xml import Node
from mbvi.model.joints import Ball, Free, Joint, Prismatic, Revolute, Screw, Universal, Weld
from mbvi.model.limits import Limits
from mbvi.model.mass_properties import checked_properties
from mbvi.model.model import Model
from mbvi.model.rotations import rotation_matrix
from mbvi.model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere
from mbvi.text import count

Floats = NDArray[np.float64]

TYPES = "revolute", "continuous", "prismatic", "fixed", "ball", "universal", "revolute2", "screw", "gearbox"
UNBOUNDED = 1e16  # limits of this size are none, as in files of old versions
DENSITY = 1000.0  # of collisions without one, kg/m³
PARALLEL = 1e-9
WHY = {
    "collision": "mbvi has no contacts between shapes; geometry='collision' draws it",
    "visual": "not asked for",
    "plugin": "programs of simulators",
    "sensor": "models of mbvi have sensors of their own",
    "inertial": "its model is static, and welded to the world",
    "kinematic": "all bodies move by what acts on them",
    "stiffness": "limits of mbvi are hard",
    "dissipation": "limits of mbvi are hard",
    "self_collide": "mbvi has no contacts between shapes",
    "gravity": "gravity acts on all bodies",
    "velocity_decay": "mbvi has no drag of bodies",
    "enable_wind": "mbvi has no drag of bodies",
    "wind": "mbvi has no drag of bodies",
    "fluid_added_mass": "mbvi has no fluid",
    "physics": "settings of simulators",
    "light": "mbvi has its own",
    "scene": "mbvi has its own",
    "gui": "mbvi has its own",
    "actor": "mbvi has no actors",
    "limit": "the joint has no such coordinate",
    "dynamics": "mbvi has springs and dampers of single coordinates",
    "axis": "the joint has none, nor damping about it",
    "axis2": "the joint has none, nor damping about it",
    "submesh": "the whole mesh is drawn",
    "material": "a colour is taken only as <diffuse> or <ambient>",
}
"""Why elements are dropped."""
OTHERS = "not a part of SDF that says something of the mechanics"
OF_LOOKS = (
    *("specular", "emissive", "ambient", "script", "pbr", "lighting", "shader", "double_sided", "render_order"),
    *("shininess", "cast_shadows", "visibility_flags", "meta", "layer"),
)
WHY |= dict.fromkeys(OF_LOOKS, "shapes have one colour each")
NOTHING: dict[str, Any] = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)}
"""The mass of a link of which the file gives none, as SDF has it."""


def read_sdf(root: Node, robot: Robot) -> Model:
    """The model of an SDF file.

    Parameters
    ----------
    root : Node
        The file's element <sdf>.
    robot : Robot
        An empty one, with the options.

    Raises
    ------
    ModelError
        If anything is wrong with the file, or it needs what mbvi lacks.
    """
    if robot.options.start is not None:
        raise root.wrong("no named start", show(robot.options.start), "SDF has none; leave it out")
    return _Reader(root, robot).read()


class _Axis(NamedTuple):
    """A coordinate of a joint: its element, its name where the joint has several, its unit direction in the world."""

    node: Node
    coordinate: str | None
    direction: Floats


class _Reader:
    """Reads links and joints of all models into a robot."""

    def __init__(self, root: Node, robot: Robot) -> None:
        self.root, self.robot, self.notes = root, robot, robot.notes
        self.has_old_axes = version(root) < (1, 5)
        self.includes = Includes()
        worlds = root.all("world")
        if len(worlds) > 1:
            raise worlds[1].wrong("one world", "another one")
        self.world = worlds[0] if worlds else root
        self.top = Scope(self.world, robot.folders, self.includes)
        self.places: dict[str, Pose] = {WORLD: AT_ORIGIN}
        self.nodes: dict[str, Node] = {}
        self.axes: dict[str, list[_Axis]] = {}
        self.needed: set[str] = set()
        self.has_visuals = False

    def read(self) -> Model:
        """The model."""
        scopes = list(self.top.walk())
        links = (link for scope in scopes for link in scope.of_kind["link"].values())
        self.has_visuals = any(child.tag == "visual" for link in links for child in link.children)
        for scope in scopes:
            self.add_links(scope)
        if not self.robot.bodies:
            raise self.root.wrong("a <link> in it", "none")
        gears = [each for scope in scopes for each in self.add_joints(scope)]
        for scope in scopes:
            self.add_frames(scope)
        self.add_bases()
        for name, node, scope in gears:
            self.add_gear(name, node, scope)
        for name in list(self.axes):
            self.add_mimic(name)
        self.close_loops()
        gravity = (0.0, 0.0, -9.81)
        if self.world is not self.root:
            gravity = tuple(self.world.values("gravity", 3, (0.0, 0.0, -9.8)))  # type: ignore[assignment]
        self.note_rest()
        return self.robot.model(self.title(), "SDF", gravity)

    def title(self) -> str:
        """The name of the model, or of the world if it has several."""
        names = list(self.top.models)
        return names[0] if len(names) == 1 else self.world.get("name") or "robot"

    # ---------------------------------------------------------------------------------------------- links

    def add_links(self, scope: Scope) -> None:
        """Add the bodies of a model; those of one that is static are welded to the world."""
        for key in ("canonical_link", "placement_frame", "name", "version"):
            scope.node.get(key)
        for link, node in scope.of_kind["link"].items():
            name = scope.prefix + link
            if name in self.places:
                raise _twice(node, name)
            self.places[name] = scope.place_of(node)
            fields = {} if scope.is_static else self.mass_fields(node, name, scope)
            self.robot.bodies[name] = Body(**fields, shapes=tuple(self.shapes(node, name, scope)))
            if scope.is_static:
                self.tie(name, is_free=False)

    def mass_fields(self, node: Node, name: str, scope: Scope) -> dict[str, Any]:
        """Mass, its centre and the inertia about it, along the axes of the body."""
        inertial = node.first("inertial")
        if inertial is None:
            why = "not given: a mass of 1 kg and moments of inertia of 1 kg m², as SDF has it"
            self.notes.add("approximated", "<inertial>", why, f"link {name!r}")
            return dict(NOTHING)
        if inertial.get("auto") in ("1", "true"):
            return self.mass_of_collisions(node, inertial, name, scope)
        mass, (pose, relative) = inertial.value("mass", 1.0), read_pose(inertial)
        if relative:
            raise inertial.wrong("a pose in the frame of the link", f"one relative to {show(relative)}")
        if mass <= 0:
            raise inertial.the("mass").wrong("a mass greater than 0", show(mass))
        part = inertial.first("inertia")
        xx, yy, zz = (1.0 if part is None else part.value(key, 1.0) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (0.0 if part is None else part.value(key, 0.0) for key in ("ixy", "ixz", "iyz"))
        matrix = pose.turned @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ pose.turned.T
        inertia = self.robot.inertia(inertial, name, mass, (matrix + matrix.T) / 2)
        return {"mass": mass, "center_of_mass": pose.position, "inertia": inertia}

    def mass_of_collisions(self, node: Node, inertial: Node, name: str, scope: Scope) -> dict[str, Any]:
        """Mass, its centre and the inertia about it of the solids that are a link's collisions."""
        density, solids = inertial.value("density", DENSITY), []
        for part in node.all("collision"):
            fields = {"density": part.value("density", density), **self.pose_fields(part, node, scope)}
            solids += list(self.geometry(part.the("geometry"), name, fields, scope))
        found = checked_properties(Body(shapes=tuple(solids)), self.robot.files)
        if found.mass <= 0:
            raise inertial.wrong("collisions with a volume", "none")
        factor = inertial.value("mass", found.mass) / found.mass
        six = (found.inertia[place] for place in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        inertia = [float(factor * each) for each in six]
        center = tuple(found.center_of_mass.tolist())
        return {"mass": factor * found.mass, "center_of_mass": center, "inertia": inertia}

    def pose_fields(self, part: Node, link: Node, scope: Scope) -> dict[str, Any]:
        """Place and orientation, in the frame of a link, of an element in it."""
        part.get("name")
        pose, relative = read_pose(part)
        if relative:
            owner, frame = scope.find(relative, part)
            pose = scope.place_of(link).inverse().then(owner.place_of(frame)).then(pose)
        return {"position": pose.position, "orientation": pose.orientation}

    def shapes(self, node: Node, name: str, scope: Scope) -> Iterator[Any]:
        """The shapes of a link, for viewing only."""
        wanted = self.robot.options.geometry
        tags = {child.tag for child in node.children}
        if wanted == "visual" and not self.has_visuals and "collision" in tags:
            why = "drawn, since no link has a <visual>"
            self.notes.add("approximated", "<collision>", why, f"link {name!r}")
            wanted = "collision"
        for part in () if wanted == "none" else node.all(wanted):
            fields = {**self.pose_fields(part, node, scope), "color": self.color(part, name)}
            yield from self.geometry(part.the("geometry"), name, fields, scope)

    def color(self, part: Node, name: str) -> tuple[float, ...] | None:
        """The colour of a visual."""
        material = part.first("material")
        if material is None:
            return None
        for key in ("diffuse", "ambient"):
            if (found := material.first(key)) is not None:
                words = [as_number(word) for word in found.text.split()]
                if len(words) not in (3, 4) or None in words:
                    raise found.wrong("3 or 4 numbers in it", show(found.text.strip()))
                *rgb, alpha = (float(word or 0.0) for word in (*words, 1.0)[:4])
                if alpha < 1 or part.value("transparency", 0.0) > 0:
                    self.notes.add("approximated", "transparent material", "drawn opaque", f"link {name!r}")
                return tuple(min(max(each, 0.0), 1.0) for each in rgb)
        return None

    def geometry(self, node: Node, name: str, fields: dict[str, Any], scope: Scope) -> Iterator[Any]:
        """The shape of an element <geometry>."""
        place = f"link {name!r}"
        if box := node.first("box"):
            yield Box(size=_lengths(box, "size", 3), **fields)
        elif ball := node.first("sphere"):
            yield Sphere(radius=_lengths(ball, "radius")[0], **fields)
        elif round_ := node.first("cylinder") or node.first("capsule"):
            kind = Cylinder if round_.tag == "cylinder" else Capsule
            yield kind(radius=_lengths(round_, "radius")[0], length=_lengths(round_, "length")[0], **fields)
        elif cone := node.first("cone"):
            yield self.cone(_lengths(cone, "radius")[0], _lengths(cone, "length")[0], fields)
        elif ellipsoid := node.first("ellipsoid"):
            yield Ellipsoid(semi_axes=_lengths(ellipsoid, "radii", 3), **fields)
        elif mesh := node.first("mesh"):
            scale = mesh.values("scale", 3, (1.0, 1.0, 1.0))
            if 0 in scale:
                raise mesh.wrong("factors other than 0 as <scale>", show(scale))
            fields["scale"] = None if set(scale) == {1.0} else scale[0] if set(scale) == {abs(scale[0])} else scale
            yield from self.robot.mesh(mesh, mesh.needed_word("uri"), place, fields, scope.folders)
        elif node.children:
            tags = ", ".join(f"<{child.tag}>" for child in node.children)
            node.read_all()
            self.notes.add("dropped", tags, "mbvi draws no such shape", place)
        else:
            raise node.wrong("a shape in it", "none")

    def cone(self, radius: float, length: float, fields: dict[str, Any]) -> Cone:
        """A cone, which SDF has about the middle of its axis and mbvi on its base."""
        shift = rotation_matrix(fields["orientation"]) @ np.array([0.0, 0.0, length / 2])
        base: Any = tuple((np.array(fields["position"]) - shift).tolist())
        return Cone(radius=radius, height=length, **{**fields, "position": base})

    def add_frames(self, scope: Scope) -> None:
        """Add the named frames of a model to the bodies that they are attached to."""
        found: dict[str, dict[str, Frame]] = {}
        for name, node in scope.of_kind["frame"].items():
            body, key, place = scope.body_of(name, node), scope.prefix + name, scope.place_of(node)
            if body == WORLD or key in ("origin", "center_of_mass"):
                self.notes.add("dropped", f"frame {show(key)}", "mbvi has named frames of bodies, with other names")
                continue
            if key in found.get(body, {}):
                raise _twice(node, key)
            pose = self.places[body].inverse().then(place)
            found.setdefault(body, {})[key] = Frame(position=pose.position, orientation=pose.orientation)
        for body, frames in found.items():
            given = self.robot.bodies[body]
            self.robot.bodies[body] = given.replaced({"frames": {**given.frames, **frames}})

    # --------------------------------------------------------------------------------------------- joints

    def add_joints(self, scope: Scope) -> Iterator[tuple[str, Node, Scope]]:
        """Add the joints of a model; its gearboxes are what is left to do."""
        for key, node in scope.of_kind["joint"].items():
            name, kind = scope.prefix + key, node.needed("type")
            if kind not in TYPES:
                raise node.wrong(f"one of the types {', '.join(TYPES)}", show(kind), nearest(kind, TYPES))
            if scope.is_static:
                node.read_all()
                self.notes.add("dropped", "joint of a static model", "its links are welded to the world", show(name))
                continue
            if name in self.nodes:
                raise _twice(node, name)
            self.nodes[name] = node
            if kind == "gearbox":
                yield name, node, scope
                continue
            self.add_joint(name, node, scope, kind)

    def ends(self, node: Node, scope: Scope) -> tuple[str, str]:
        """The bodies that a joint names as its parent and child."""
        parent, child = (self.body(node, tag, scope) for tag in ("parent", "child"))
        if child == WORLD:
            raise node.wrong("a link as <child>", "the world", "exchange parent and child")
        if parent == child:
            raise node.wrong("two links", f"{child!r} twice")
        return parent, child

    def body(self, node: Node, tag: str, scope: Scope) -> str:
        """The body that an element in a joint names."""
        name = node.needed_word(tag)
        return WORLD if name == WORLD else scope.body_of(name, node)

    def add_joint(self, name: str, node: Node, scope: Scope, kind: str) -> None:
        """Add a joint with its place, axes, limits, springs and dampers."""
        parent, child = self.ends(node, scope)
        at, here = scope.place_of(node), {each: self.places[each] for each in (parent, child)}
        turned = here[parent].inverse().then(here[child])
        common: dict[str, Any] = {
            "parent": parent,
            "child": child,
            "position": here[parent].inverse().then(at).position,
            "orientation": turned.orientation,
            "offset": here[child].inverse().then(at).position,
        }
        count_of = {"fixed": 0, "ball": 0, "universal": 2, "revolute2": 2}.get(kind, 1)
        names: tuple[str | None, ...] = (None,) if count_of == 1 else ("angle1", "angle2")[:count_of]
        axes = [self.axis(node, tag, each, scope) for tag, each in zip(("axis", "axis2"), names, strict=False)]
        inward = [tuple((here[parent].turned.T @ axis.direction).tolist()) for axis in axes]
        self.axes[name] = axes
        self.robot.joints[name] = self.joint(node, kind, inward, common)
        self.add_dynamics(name)

    def joint(self, node: Node, kind: str, axes: list[Any], common: dict[str, Any]) -> Joint:
        """The joint of a type, of which the axes are directions in the frame of the parent."""
        match kind:
            case "fixed":
                return Weld(**common)
            case "ball":
                return Ball(**common)
            case "prismatic":
                return Prismatic(axis=axes[0], **common)
            case "screw":
                return Screw(axis=axes[0], pitch=_pitch(node), **common)
            case "universal" | "revolute2":
                if np.linalg.norm(np.cross(*axes)) < 1e-6:
                    raise node.wrong("two axes that are not parallel", show(axes), "use the type revolute")
                return Universal(axes=tuple(axes), **common)
        return Revolute(axis=axes[0], **common)

    def axis(self, node: Node, tag: str, coordinate: str | None, scope: Scope) -> _Axis:
        """An axis of a joint."""
        part = node.the(tag)
        vector, xyz = np.array(part.values("xyz", 3, (0.0, 0.0, 1.0))), part.first("xyz")
        name = "" if xyz is None else xyz.get("expressed_in") or ""
        if not vector.any():
            raise (xyz or part).wrong("an axis other than 0", show(vector.tolist()))
        if part.is_set("use_parent_model_frame") or (self.has_old_axes and not name):
            name = name or OWN
        owner, frame = scope.find(name, part) if name else (scope, node)
        direction = owner.place_of(frame).turned @ vector
        return _Axis(part, coordinate, direction / np.linalg.norm(direction))

    def add_dynamics(self, name: str) -> None:
        """Add the springs, dampers and limits of a joint; its friction, which is kept."""
        joint, limits, found_frictions = self.robot.joints[name], {}, []
        for axis, coordinate in zip(self.axes[name], joint.coordinate_names, strict=False):
            if found := self.limits(axis.node, name, coordinate):
                limits[coordinate] = found
            part = axis.node.first("dynamics")
            found_frictions.append(0.0 if part is None else self.friction(part, name))
            if part is None:
                continue
            on: dict[str, Any] = {"joint": name, "coordinate": axis.coordinate}
            label = name if axis.coordinate is None else f"{name} {axis.coordinate}"
            rest, stiffness = part.value("spring_reference", 0.0), part.value("spring_stiffness", 0.0)
            if stiffness:
                self.robot.forces[f"{label} spring"] = JointSpring(stiffness=stiffness, rest=rest, **on)
            if damping := part.value("damping", 0.0):
                self.robot.forces[f"{label} damping"] = JointDamper(damping=damping, **on)
            if stiffness or damping:
                self.needed.add(name)
        friction = max(found_frictions, default=0.0)
        if friction > min(found_frictions, default=0.0):
            why = f"that of both coordinates is the larger one, {friction:g}"
            self.notes.add("approximated", "friction", why, f"joint {name!r}")
        if limits or friction:
            self.robot.joints[name] = joint.replaced({"limits": limits, "friction": friction})

    def friction(self, part: Node, name: str) -> float:
        """The friction of a coordinate."""
        found = part.value("friction", 0.0)
        if found < 0:
            raise part.wrong("a friction of at least 0", show(found))
        if found:
            self.robot.note_friction("friction", f"joint {name!r}")
        return found

    def limits(self, axis: Node, name: str, coordinate: str) -> Limits | None:
        """The limits of a coordinate."""
        part = axis.first("limit")
        if part is None:
            return None
        lower, upper = _limit(part, "lower"), _limit(part, "upper")
        speed, effort = _limit(part, "velocity"), _limit(part, "effort")
        if self.nodes[name].get("type") == "continuous":
            lower = upper = None
        if lower is not None and upper is not None and lower > upper:
            raise part.wrong("a lower limit not above the upper one", f"{lower:g} and {upper:g}")
        if (lower is not None and lower > 0) or (upper is not None and upper < 0):
            why = "beyond the limits of the joint, where the file has the links"
            self.notes.add("approximated", "start", why, f"joint {name!r}")
        speed, effort = (value if value and value > 0 else None for value in (speed, effort))
        found = Limits(lower=lower, upper=upper, speed=speed, effort=effort)
        return None if found == Limits() else found

    # -------------------------------------------------------------------------------------- what ties joints

    def add_gear(self, name: str, node: Node, scope: Scope) -> None:
        """Couple the two joints of a gearbox: theta_2 = −ratio theta_1, the angles of child and parent to a third link."""
        parent, child = self.ends(node, scope)
        reference = self.body(node, "gearbox_reference_body", scope)
        ratio = node.value("gearbox_ratio", 1.0)
        if not ratio:
            raise node.wrong("a <gearbox_ratio> other than 0", "0")
        axes = [self.axis(node, "axis", None, scope)]
        axes.append(self.axis(node, "axis2", None, scope) if node.first("axis2") else axes[0])
        driving, driven = (
            self.hinge(node, reference, link, axis) for link, axis in zip((parent, child), axes, strict=True)
        )
        total = -ratio * driving[1] * driven[1]
        self.couple(name, driving[0], driven[0], total, 0.0)

    def hinge(self, node: Node, reference: str, link: str, axis: _Axis) -> tuple[str, float]:
        """The hinge of a link on the reference body of a gearbox, and 1 if it turns about the axis, −1 if against it."""
        for name, joint in self.robot.joints.items():
            if joint.type != "revolute" or {joint.parent, joint.child} != {reference, link}:
                continue
            cosine = float(self.axes[name][0].direction @ axis.direction)
            if abs(cosine) > 1 - PARALLEL:
                return name, float(np.sign(cosine)) * (1.0 if joint.child == link else -1.0)
        expected = f"a revolute joint of {link!r} on {reference!r}, about the axis of the gearbox"
        raise node.wrong(expected, "none", "mbvi couples the angles of two joints")

    def add_mimic(self, name: str) -> None:
        """Couple the coordinates of a joint to those that they follow."""
        for axis in self.axes[name]:
            part = axis.node.first("mimic")
            if part is None:
                continue
            scope = next(each for each in self.top.walk() if self.nodes[name] in each.of_kind["joint"].values())
            leader = scope.prefix + part.needed("joint")
            known = self.robot.joints.get(leader)
            if known is None or len(known.coordinate_names) != 1 or axis.coordinate or leader == name:
                expected = "a joint with one coordinate to follow another one"
                raise part.wrong(expected, f"{show(name)} to follow {show(leader)}", nearest(leader, self.robot.joints))
            part.get("axis")
            ratio = part.value("multiplier", 1.0)
            offset = part.value("offset", 0.0) - ratio * part.value("reference", 0.0)
            if not ratio:
                raise part.wrong("a <multiplier> other than 0", "0", "make the joint fixed")
            self.couple(f"{name} mimics {leader}", leader, name, ratio, offset)

    def couple(self, name: str, leader: str, follower: str, ratio: float, offset: float) -> None:
        """Add a coupling of two joints."""
        key = self.robot.free_name(name, self.robot.joints, self.robot.constraints)
        self.robot.constraints[key] = Coupling(joint_a=leader, joint_b=follower, ratio=ratio, offset=offset)
        self.needed |= {leader, follower}

    # ---------------------------------------------------------------------------------------------- graph

    def add_bases(self) -> None:
        """Tie to the world what no joint ties to it: each such group of bodies by one, free unless asked otherwise."""
        import networkx as nx

        graph: nx.Graph[str] = nx.Graph((joint.parent, joint.child) for joint in self.robot.joints.values())
        graph.add_nodes_from(self.places)
        children = {joint.child for joint in self.robot.joints.values()}
        groups = [group for group in nx.connected_components(graph) if WORLD not in group]
        if self.robot.options.floating and not groups:
            raise self.root.wrong("links that nothing ties to the world", "none", "leave out floating")
        order = {name: i for i, name in enumerate(self.places)}
        for group in groups:
            root = min(group, key=lambda name: (name in children, order[name]))
            self.tie(root, is_free=self.robot.options.floating is not False)

    def tie(self, body: str, is_free: bool) -> None:
        """Tie a body to the world, where it is."""
        joints, place = self.robot.joints, self.places[body]
        name = self.robot.free_name("base", joints, self.nodes)
        fields: dict[str, Any] = {"parent": WORLD, "child": body}
        if not is_free:
            self.robot.joints = {
                **joints,
                name: Weld(**fields, position=place.position, orientation=place.orientation),
            }
            return
        self.robot.joints = {name: Free(**fields), **joints}
        turned = place.orientation if len(place.orientation) == 4 else (1.0, 0.0, 0.0, 0.0)
        self.robot.starts[name] = (*place.position, *turned)

    def close_loops(self) -> None:
        """Cut one joint of every loop: those whose coordinates nothing uses first, and then those that hold least."""
        from networkx.utils import UnionFind

        joints = self.robot.joints
        tied, cut = UnionFind([WORLD, *self.places]), []
        for name in sorted(joints, key=lambda name: (name not in self.needed, -joints[name].constraint_count)):
            ends = joints[name].parent, joints[name].child
            if tied[ends[0]] == tied[ends[1]]:
                cut.append(name)
            tied.union(*ends)
        for name in cut:
            joints[name] = joints[name].replaced({"cut": True})
            self.drop_forces(name)
        if cut:
            self.notes.add("taken", count(len(cut), "loop"))

    def drop_forces(self, name: str) -> None:
        """Drop the springs and dampers of a joint that has no coordinates, since it closes a loop."""
        gone = [key for key, force in self.robot.forces.items() if force.joint == name]
        for key in gone:
            del self.robot.forces[key]
            why = "the joint closes a loop in which all joints have one, so that it has no coordinate"
            self.notes.add("dropped", "spring or damper", why, f"joint {name!r}")

    # ----------------------------------------------------------------------------------------------- rest

    def note_rest(self) -> None:
        """Note what was taken, and what was not read."""
        self.notes.add("taken", count(len(self.robot.bodies), "link"))
        if self.nodes:
            kinds = Counter(node.get("type") for node in self.nodes.values())
            listed = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
            self.notes.add("taken", f"{count(len(self.nodes), 'joint')} ({listed})")
        for root in (self.root, *self.includes.roots):
            for node, attribute in root.unread():
                if attribute.startswith("xmlns"):
                    continue
                what = f"{attribute} of <{node.tag}>" if attribute else f"<{node.tag}>"
                why = OTHERS if attribute else WHY.get(node.tag, OTHERS)
                self.notes.add("dropped", what, why, _owner(node))


def _owner(node: Node) -> str:
    """The link or joint that an element is in, as link 'arm'; else the model."""
    while node.parent is not None and node.tag not in ("link", "joint", "model", "world"):
        node = node.parent
    name = node.attributes.get("name")
    return "" if name is None or node.tag in ("model", "world") else f"{node.tag} {name!r}"


def _twice(node: Node, name: str) -> ModelError:
    """The error that something has the name of something else in another model."""
    return node.wrong(f"a name that no other {node.tag} has", f"{name!r} twice", "rename it, without '::'")


def _limit(node: Node, tag: str) -> float | None:
    """A limit; None where there is none, or one that is infinite."""
    text = (node.word(tag) or "").lower().lstrip("+-")
    if text in ("", "inf", "infinity"):
        return None
    value = node.value(tag)
    return None if abs(value) >= UNBOUNDED else value


def _pitch(node: Node) -> float:
    """The translation of a screw per angle [m/rad], positive of a right-handed thread."""
    old = node.value("thread_pitch", 0.0)  # angle per translation, positive of a left-handed one
    if node.first("screw_thread_pitch") is None and old:
        return -1 / old
    return node.value("screw_thread_pitch", 1.0) / (2 * np.pi)


def _lengths(node: Node, tag: str, number: int = 1) -> tuple[Any, ...]:
    """Lengths greater than 0."""
    values = node.values(tag, number)
    if min(values) <= 0:
        raise node.wrong(f"a <{tag}> greater than 0", show(values if number > 1 else values[0]))
    return values
