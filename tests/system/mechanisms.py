"""Random seeded mechanisms of all joint types and all forces, and random states of them."""

from __future__ import annotations

from typing import get_args

import numpy as np

import mbvi
from mbvi.kernels import layout
from mbvi.kernels.algebra.saddle import JACOBIAN, MASS, block_place
from mbvi.model.constraints import AnyConstraint
from mbvi.model.fields import Kind, RotationCoordinates, Triple, kinds
from mbvi.model.forces import AnyForce, OnTendon
from mbvi.model.joints import AnyJoint, Joint
from mbvi.system.given import body_motions, nearest_joint_state
from mbvi.system.initial import find_start, joint_states

THIN = ("weld", "revolute", "prismatic", "screw", "universal")  # joints that a body with one point mass may hang on


def types_of(union):
    """The types of elements in a union, by their names with spaces."""
    return {each.model_fields["type"].default.replace("_", " "): each for each in get_args(get_args(union)[0])}


JOINTS = types_of(AnyJoint)
KINDS = tuple(
    kind
    for name, joint in JOINTS.items()
    for kind in ((name, f"{name} euler") if "coordinates" in joint.model_fields else (name,))
)
"""All joints; of those that turn by a quaternion or by Euler angles both."""
SEQUENCES = tuple(get_args(RotationCoordinates))[1:]


TABLE = {"times": [0.0, 0.7, 1.0, 2.0], "values": [1.0, -1.0, 0.5, 2.0]}
DRIVEN = ("cos(t)", TABLE, "t**2/(1 + t)")


def random_values(random, element, given):
    """Random values of all fields of a type of elements that need one and are not given, and of some numbers that do not."""

    def value(key):
        match kinds(element)[key]:
            case Kind("direction" | "place"):
                return random.normal(size=3)
            case Kind("numbers") if key == "axes":
                return random.normal(size=(2, 3))
            case Kind("numbers") if key.endswith("orientation"):
                return random.normal(size=3)
            case Kind("numbers") if element.model_fields[key].annotation == Triple:
                return random.uniform(0.3, 1.0, 3)
            case Kind("numbers"):
                return random.uniform(0.3, 1.0)
            case Kind("time"):
                return "1.5 + sin(2*t)"
            case Kind("times"):
                return DRIVEN
            case Kind("law"):
                return "0.7*x**2/2 + exp(0.4*x)"
            case Kind("curve"):
                return ("2*cos(s)", "exp(s/3)*sin(s)", 0.5)
        raise ValueError(f"no random value is known of {element.__name__}.{key}")

    given = dict(given)
    more = given.pop("more", ())
    fields = {key: field for key, field in element.model_fields.items() if key not in given}
    optional = [key for key, field in fields.items() if isinstance(field.default, float) and random.random() < 0.5]
    if element is mbvi.Bushing:
        optional += ["orientation", "rest_orientation", "stiffness", "turning_stiffness"]
    needed = {key for key, field in fields.items() if field.is_required()} | {*optional, *more}
    return given | {key: value(key) for key in fields if key in needed}


def random_joint(random, kind, parent, child):
    """A joint at a random place, with random axes; what all joints may have besides, as limits, it has by default."""
    joint = JOINTS[kind.removesuffix(" euler")]
    common = {key: field for key, field in Joint.model_fields.items() if not field.is_required()}
    given = {key: field.get_default(call_default_factory=True) for key, field in common.items()} | {
        "parent": parent,
        "child": child,
        "position": 0.5 * random.normal(size=3),
        "orientation": random.normal(size=3),
        "offset": 0.3 * random.normal(size=3),
    }
    sequence = str(random.choice(SEQUENCES))
    given |= {"coordinates": sequence} if kind.endswith(" euler") else {}
    given |= {"x_axis": random.normal(size=3)} if kind == "planar" and random.random() < 0.5 else {}
    return joint(**random_values(random, joint, given))


def random_body(random, is_thin):
    """A body of an inertia matrix, of point masses (of one, where its joint allows), or of shapes, or a mixture."""

    def point_masses(count):
        return {
            f"m{i}": mbvi.PointMass(mass=random.uniform(0.3, 1.0), position=random.normal(size=3)) for i in range(count)
        }

    def box():
        place, turn = random.normal(size=3), random.normal(size=3)
        return mbvi.Box(size=random.uniform(0.3, 1.0, 3), density=2.0, position=place, orientation=turn)

    match random.integers(3 + is_thin):
        case 0:
            spread = random.normal(size=(3, 3))
            second_moments = spread @ spread.T + 0.1 * np.eye(3)
            inertia = np.trace(second_moments) * np.eye(3) - second_moments
            return mbvi.Body(mass=random.uniform(0.5, 2.0), center_of_mass=random.normal(size=3), inertia=inertia)
        case 1:
            return mbvi.Body(point_masses=point_masses(4))
        case 2:
            return mbvi.Body(
                mass=0.5, center_of_mass=random.normal(size=3), shapes=[box()], point_masses=point_masses(1)
            )
    return mbvi.Body(point_masses=point_masses(1))


def random_tree(seed, kinds=KINDS, forces=None, depth_bias=3, gravity=None):
    """A tree with one joint of every kind given, in random order, several roots, and a massless body in a chain."""
    random = np.random.default_rng(seed)
    bodies, joints = {}, {}
    for i, kind in enumerate(random.permutation(kinds)):
        first = max(0, i - depth_bias)
        parent = f"b{random.integers(first, i)}" if i and random.random() < 0.8 else "world"
        joints[f"j{i}"] = random_joint(random, kind, parent, f"b{i}")
        bodies[f"b{i}"] = random_body(random, kind in THIN)
    last = f"b{len(kinds) - 1}"
    if len(kinds) > 4:
        bodies |= {"cross": mbvi.Body(), "bob": random_body(random, False)}
        joints |= {
            "first": random_joint(random, "revolute", last, "cross"),
            "second": random_joint(random, "prismatic", "cross", "bob"),
        }
    return mbvi.Model(
        name=f"tree {seed}",
        gravity=random.normal(size=3) * 5.0 if gravity is None else gravity,
        bodies=bodies,
        joints=dict(random.permutation(list(joints.items()))),  # children may stand before their parents
        forces=random_forces(random, list(bodies), joints, forces or ()),
    )


CONSTRAINTS = types_of(AnyConstraint)
LENGTHS = {
    "driven distance": {"times": [0.0, 1.0, 2.0], "values": [1.0, 2.0, 1.2]},
    "constant distance": 1.3,
}
OF_VELOCITIES = ("rolling ball", "rolling wheel", "rolling ellipsoid", "knife edge")
"""Constraints that hold velocities, for which most schemes have no place: tests/physics/test_rolling.py is about them."""
ROPE = "rope"
"""A constraint by an expression, with which the stages of a step do not share lanes: not among those of random graphs."""
TIES = tuple(each for each in (*CONSTRAINTS, *LENGTHS) if each not in (*OF_VELOCITIES, ROPE))
"""All constraints on positions, and a distance that is a table or a number and not an expression."""


def random_graph(seed, kinds=KINDS, chords=KINDS, ties=TIES, formulation="tree", mixed=False, forces=None):
    """A random tree with a joint of every kind in `chords` that closes a loop, and a constraint of every kind in `ties`.

    Nothing fits together at the start. If mixed, every other joint of the tree is kept in the embedding, and cut in the tree.
    """
    random = np.random.default_rng([seed, 7])
    tree = random_tree(seed, kinds, forces)
    bodies, joints = list(tree.bodies), dict(tree.joints)
    if mixed:
        for name in list(joints)[::2]:
            joints[name] = joints[name].model_copy(update={"cut": formulation == "tree"})

    welded = [{joint.parent, joint.child} for joint in joints.values() if joint.type == "weld"]

    def two():
        while True:
            ends = [str(each) for each in random.choice(["world", *bodies], 2, replace=False)]
            if set(ends) not in welded:
                return ends

    for i, kind in enumerate(chords):
        joints[f"chord{i}"] = random_joint(random, kind, *two()).model_copy(update={"cut": True})
    on = [(n, c) for n, j in joints.items() for c in j.coordinate_names if not c.startswith("q")]
    constraints = {kind: random_tie(random, kind, *two(), bodies, on) for kind in ties}
    return mbvi.Model(**dict(tree) | {"formulation": formulation, "joints": joints, "constraints": constraints})


def random_tie(random, kind, a, b, bodies, on):
    """A constraint between bodies a and b, of random bodies, or on random coordinates (joint, name)."""
    constraint = CONSTRAINTS["distance" if kind in LENGTHS else kind]
    given = {"length": LENGTHS[kind]} if kind in LENGTHS else {}
    if "body" in constraint.model_fields:
        given |= {"body": str(random.choice(bodies)), "point": random.normal(size=3)}
    if "body_a" in constraint.model_fields:
        given |= {"body_a": a, "body_b": b}
    if "point_b" in constraint.model_fields and "body_a" in constraint.model_fields:
        given |= {"point_b": 2.0 + random.normal(size=3)}
    if "point_a" in constraint.model_fields:
        given |= {"point_a": random.normal(size=3)}
    if "points" in constraint.model_fields:
        ends = ((a, 1.0), ("world", 1.0), (b, 0.0), (a, 1.5))
        points = [{"body": body, "point": random.normal(size=3), "factor": factor} for body, factor in ends]
        given |= {"points": points, "length": 12.0}
    if "orientation" in constraint.model_fields:
        given |= {"orientation": random.normal(size=3)}
    if "joint" in constraint.model_fields:
        given |= dict(zip(("joint", "coordinate"), on[random.integers(len(on))], strict=True))
    if "joint_a" in constraint.model_fields:
        ends = [each for each in "abc" if f"joint_{each}" in constraint.model_fields]
        for end, k in zip(ends, random.choice(len(on), len(ends), replace=False), strict=True):
            given |= {f"joint_{end}": on[k][0], f"coordinate_{end}": on[k][1]}
    if "ratio" in constraint.model_fields:
        given |= {"ratio": random.uniform(0.3, 1.0)}
    return constraint(**random_values(random, constraint, given))


FORCES = {
    **{
        kind: (force, {})
        for kind, force in types_of(AnyForce).items()
        if kind not in ("force", "torque", "frame actuator", "ball spring") and not kind.startswith("tendon")
    },
    "bushing with dampers": (mbvi.Bushing, {"more": ("damping", "turning_damping")}),
    "frame actuator": (mbvi.FrameActuator, {"more": ("orientation", "force", "torque", "damping")}),
    "tendon spring": (mbvi.TendonSpring, {"more": ("rest_length",)}),
    "tendon damper": (mbvi.TendonDamper, {"length": ""}),
    "tendon potential": (mbvi.TendonPotential, {"length": ""}),
    "tendon actuator": (mbvi.TendonActuator, {"more": ("stiffness", "damping")}),
    "weight": (mbvi.Force, {"vector": (0.3, -0.7, 1.1)}),
    "world force": (mbvi.Force, {"vector": ("sin(t)", 0.6, "t**2")}),
    "body force": (mbvi.Force, {"vector": (TABLE, -0.4, "t**2"), "frame": "body"}),
    "world torque": (mbvi.Torque, {"vector": (TABLE, 0.8, "t**2")}),
    "body torque": (mbvi.Torque, {"vector": ("cos(t)", -0.5, "t**2"), "frame": "body"}),
}
"""All forces, and those on a body in both frames; of forces along tendons some over points, others along an expression."""


def random_force(random, kind, bodies, on):
    """A force between or on random bodies, or on a random coordinate of `on`, pairs of a joint and a name."""
    force, given = FORCES[kind]
    if "body_a" in force.model_fields:
        a, b = random.choice(["world", *bodies], 2, replace=False)
        given = given | {"body_a": str(a), "point_a": random.normal(size=3)}
        given |= {"body_b": str(b), "point_b": 3.0 + random.normal(size=3)}
    if "body" in force.model_fields:
        given = given | {"body": str(random.choice(bodies))}
    if "point" in force.model_fields:
        given = given | {"point": random.normal(size=3)}
    if "joint" in force.model_fields:
        given = given | dict(zip(("joint", "coordinate"), on[random.integers(len(on))], strict=True))
    if issubclass(force, OnTendon):
        given = given | random_tendon(random, [str(each) for each in bodies], on, "length" in given)
    if kind == "joint force":
        given = given | {"value": random.choice([TABLE, "exp(-t) * cos(3*t)"])}
    if "input" in force.model_fields:
        given = given | {"input": "exp(-t) * cos(3*t)"}
    return force(**random_values(random, force, given))


def random_tendon(random, bodies, on, is_expression):
    """The points of a tendon from the world over two bodies, or its length: a product of coordinates, a wave, and places."""
    a, b = random.choice(bodies, 2, replace=len(bodies) < 2)
    if not is_expression:
        ends = (("world", 3.0, 1.0), (a, 0.0, 1.0), ("world", -2.0, 0.5), (b, 1.0, 1.5))
        points = [(str(body), at + random.normal(size=3), factor) for body, at, factor in ends]
        return {"points": [dict(zip(("body", "point", "factor"), each, strict=True)) for each in points]}
    first, second = (f"q{on[random.integers(len(on))]}" if on else "0.7" for _ in range(2))
    return {"length": f"0.5*{first}*{second} + sin({second}) + 0.3*x('{a}')*z('{b}') - y('{b}')"}


def derives_from_potential(kind):
    return random_force(np.random.default_rng(0), kind, ["a", "b"], [("j", "angle")]).derives_from_potential


POTENTIAL = tuple(kind for kind in FORCES if derives_from_potential(kind))
OTHER = tuple(kind for kind in FORCES if kind not in POTENTIAL)
SMOOTH = tuple(kind for kind in FORCES if kind not in ("joint drag", "inverse square"))
"""Whose second derivatives do not jump, and which have no pole: errors of schemes of high order fall as their order says."""


def random_forces(random, bodies, joints, kinds):
    """Two forces of every kind given, between random bodies and on random joint coordinates, if there are any."""
    on = [(n, c) for n, j in joints.items() for c in j.coordinate_names if not c.startswith("q")]
    possible = [kind for kind in kinds if on or "joint" not in FORCES[kind][0].model_fields]
    return {f"{kind} {i}": random_force(random, kind, bodies, on) for kind in possible for i in range(2)}


def without_tables(model):
    """The model with expressions instead of tables of time."""
    changed = {}
    for name, force in model.forces.items():
        if force.type == "joint_force":
            changed[name] = force.model_copy(update={"value": "cos(t)"})
        elif force.type in ("force", "torque") and not all(isinstance(c, float) for c in force.vector):
            changed[name] = force.model_copy(update={"vector": ("sin(t)", 0.7, "t**2")})
    return model.model_copy(update={"forces": {**model.forces, **changed}})


def quaternions(system):
    """First coordinates of the system's unit quaternions."""
    return [i for i, name in enumerate(system.coordinate_names) if name.endswith(".qw")]


def random_state(system, seed, on_sphere=True):
    """Random coordinates and velocities; unit quaternions and rates along their sphere, or not."""
    random = np.random.default_rng(seed)
    q, v = random.normal(size=(2, system.dimension))
    for first in quaternions(system):
        part = slice(first, first + 4)
        norm = np.linalg.norm(q[part])
        q[part] /= norm
        v[part] -= (q[part] @ v[part]) * q[part]
        if not on_sphere:
            q[part] *= 1.2
            v[part] += 0.4 * q[part]
    return q, v


def places(arrays, kind=JACOBIAN, s=1):
    """For every stored entry of a matrix of s stages: its row and its column, in the order of elimination.

    −1 where no entry is: where rows are filled up to whole lanes.
    """
    starts = s * arrays.nodes[:, layout.NODE_START]
    width = arrays.nodes[:, layout.NODE_COORDINATES] + arrays.nodes[:, layout.NODE_ROWS]
    rows, columns = np.full((2, s * s * (arrays.mass_size if kind == MASS else arrays.matrix_size)), -1)

    def put(a, b):
        """Block (a, b), of the later of the two nodes what is tied alone, of the earlier what ties it."""
        place, down, across = block_place(arrays, kind, s, a, b)
        high, wide = (width[c] if a == b or c == min(a, b) else arrays.nodes[c, layout.TIED] for c in (a, b))
        first = arrays.nodes[min(a, b), layout.TIES_FROM] if kind == MASS and a != b else 0
        i, j = np.arange(first if a < b else 0, s * high), np.arange(first if a > b else 0, s * wide)
        at = place + np.add.outer(down * i, across * j)
        assert np.all(rows[at] == -1)  # blocks do not overlap
        rows[at], columns[at] = starts[a] + i[:, None], starts[b] + j

    for a, node in enumerate(arrays.nodes):
        put(a, a)
        for pair in arrays.pairs[node[layout.FIRST_PAIR] : node[layout.FIRST_PAIR] + node[layout.PAIRS]]:
            put(a, pair[layout.LATER])
            if kind == JACOBIAN:
                put(pair[layout.LATER], a)
    return rows, columns


def full_matrix(arrays, stored, s=1):
    """The Jacobian of s stages that the stored blocks stand for, in the order of elimination."""
    size = s * arrays.side_size
    full = np.zeros((size, size))
    rows, columns = places(arrays, JACOBIAN, s)
    assert not stored[rows < 0].any()
    full[rows[rows >= 0], columns[rows >= 0]] = stored[rows >= 0]
    return full


def stage_places(arrays, s=1, stage=0):
    """Places of the coordinates, and of the rows, of one of s stages in the order of elimination."""
    nodes = arrays.nodes
    node, local = arrays.coordinate_nodes.T
    row_node, row_local = arrays.row_nodes.T
    coordinates, rows = nodes[:, layout.NODE_COORDINATES], nodes[:, layout.NODE_ROWS]
    starts = s * nodes[:, layout.NODE_START]
    row_starts = starts + s * coordinates + stage * rows
    return (starts + stage * coordinates)[node] + local, row_starts[row_node] + row_local


def linked(kind, count):
    """Bodies in a chain, a ring, a star, or two chains with rungs, all of hinges about y."""
    rod = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    bodies, joints = {f"b{i}": rod for i in range(count)}, {}

    def hinge(parent, child, place, offset=0.0):
        joint = mbvi.Revolute(parent=parent, child=child, axis=(0, 1, 0), position=(place, 0, 0), offset=(offset, 0, 0))
        joints[f"{parent} {child}"] = joint

    for i in range(count):
        before = {"star": "b0", "ladder of four-bars": f"b{i - 2}"}.get(kind, f"b{i - 1}")
        hinge(before if i > (kind == "ladder of four-bars") else "world", f"b{i}", min(i, 1))
        if kind == "ladder of four-bars" and i % 2:
            bodies[f"rung{i}"] = rod
            hinge(f"b{i - 1}", f"rung{i}", 0.5)
            hinge(f"rung{i}", f"b{i}", 1.0, 0.5)
    if kind == "ring":
        hinge(f"b{count - 1}", "world", 1.0)
    return mbvi.Model(name=kind, bodies=bodies, joints=joints)


def linkage(kind, seed, is_reversed=False, is_loop=False, forces=(), constraints=None):
    """A chain with one joint of the kind given, a massless body and two point masses in it; a ball joint may close a loop.

    world - universal - a - (kind) - b - revolute - cross (massless) - prismatic - c - ball - world
    """
    random = np.random.default_rng([seed, 11])
    joints = {
        "first": random_joint(random, "universal", "world", "a"),
        "kind": random_joint(random, kind, *(("b", "a") if is_reversed else ("a", "b"))),
        "hinge": random_joint(random, "revolute", "b", "cross"),
        "slide": random_joint(random, "prismatic", "cross", "c"),
    }
    if is_loop:
        joints["last"] = random_joint(random, "ball", "world", "c")
    bodies = {name: random_body(random, False) for name in "abc"} | {"cross": mbvi.Body()}
    initial = {}
    for name in ("first", "hinge", "slide"):
        count = len(joints[name].coordinate_names)
        initial[name] = mbvi.Initial(position=0.4 * random.normal(size=count), velocity=random.normal(size=count))
    if forces:
        made = without_tables(
            mbvi.Model(
                name="forces", bodies=bodies, joints=joints, forces=random_forces(random, list(bodies), joints, forces)
            )
        ).forces
    return mbvi.Model(
        name=f"linkage {kind} {seed}",
        bodies=bodies,
        joints=joints,
        forces=made if forces else {},
        constraints=constraints or {},
        initial=initial,
    )


def with_start(model, formulation="tree"):
    """The model with the state that its tree formulation starts from given for every joint, so that others start there too."""
    tree = mbvi.assemble(model, formulation)
    resolved, found = model.resolved(), find_start(tree)
    motions = body_motions(resolved, tree.homes.plan, joint_states(tree, found))
    initial = {}
    for name, joint in resolved.joints.items():
        if name in tree.homes.joints:
            part = slice(tree.homes.joints[name], tree.homes.joints[name] + len(joint.coordinate_names))
            initial[name] = mbvi.Initial(position=found.q[part], velocity=found.v[part])
        elif joint.coordinate_names:
            relative = motions[joint.parent].inverse().then(motions[joint.child])
            position, velocity = nearest_joint_state(joint, relative)
            initial[name] = mbvi.Initial(position=position, velocity=velocity)
    curves = {name: {"start": float(found.q[i])} for name, i in tree.homes.curves.items()}
    constraints = {name: each.model_copy(update=curves.get(name, {})) for name, each in model.constraints.items()}
    return mbvi.Model(**dict(model) | {"initial": initial, "constraints": constraints})


def with_cut(model, name, cut):
    """The model with another value of a joint's cut."""
    joint = model.joints[name].model_copy(update={"cut": cut})
    return mbvi.Model(**dict(model) | {"joints": {**model.joints, name: joint}})
