"""Random seeded mechanisms of all joint types and all forces, and random states of them."""

from __future__ import annotations

import numpy as np

import mbvi

SEQUENCES = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")
THIN = ("weld", "revolute", "prismatic", "screw", "universal")  # joints that a body with one point mass may hang on
KINDS = (
    *("weld", "revolute", "prismatic", "screw", "universal", "cylindrical", "planar"),
    *("ball", "ball euler", "free", "free euler"),
)


def random_joint(random, kind, parent, child):
    """A joint at a random place, with random axes."""

    def vector():
        return random.normal(size=3)

    common = {
        "parent": parent,
        "child": child,
        "position": 0.5 * vector(),
        "orientation": vector(),
        "offset": 0.3 * vector(),
    }
    sequence = str(random.choice(SEQUENCES))
    match kind:
        case "weld":
            return mbvi.Weld(**common)
        case "revolute":
            return mbvi.Revolute(**common, axis=vector())
        case "prismatic":
            return mbvi.Prismatic(**common, axis=vector())
        case "screw":
            return mbvi.Screw(**common, axis=vector(), pitch=random.normal())
        case "universal":
            return mbvi.Universal(**common, axes=(vector(), vector()))
        case "cylindrical":
            return mbvi.Cylindrical(**common, axis=vector())
        case "planar":
            x_axis = vector() if random.random() < 0.5 else None
            return mbvi.Planar(**common, normal=vector(), x_axis=x_axis)
        case "ball":
            return mbvi.Ball(**common)
        case "ball euler":
            return mbvi.Ball(**common, coordinates=sequence)
        case "free":
            return mbvi.Free(**common)
        case "free euler":
            return mbvi.Free(**common, coordinates=sequence)
    raise ValueError(kind)


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


POTENTIAL = ("spring", "joint spring", "weight")
OTHER = ("damper", "joint damper", "joint force", "world force", "body force", "world torque", "body torque")


def random_forces(random, bodies, joints, kinds):
    """Two forces of every kind given, between random bodies and on random joint coordinates."""
    on = [(n, c) for n, j in joints.items() for c in j.coordinate_names if not c.startswith("q")]
    table = {"times": [0.0, 0.7, 1.0, 2.0], "values": [1.0, -1.0, 0.5, 2.0]}

    def between():
        a, b = random.choice(["world", *bodies], 2, replace=False)
        ends = {"point_a": random.normal(size=3), "point_b": 3.0 + random.normal(size=3)}
        return {"body_a": str(a), "body_b": str(b), **ends}

    def acting(time):
        vector = (time, random.normal(), "t**2") if time else random.normal(size=3)
        return {"body": str(random.choice(bodies)), "vector": vector}

    def one(kind):
        joint, coordinate = on[random.integers(len(on))] if on else (None, None)
        where = {"joint": joint, "coordinate": coordinate}
        match kind:
            case "spring":
                return mbvi.Spring(**between(), stiffness=random.uniform(1, 5), rest_length=random.choice([0.0, 1.3]))
            case "damper":
                return mbvi.Damper(**between(), damping=random.uniform(0.2, 1))
            case "joint spring":
                return mbvi.JointSpring(**where, stiffness=random.uniform(1, 5), rest=random.normal())
            case "joint damper":
                return mbvi.JointDamper(**where, damping=random.uniform(0.2, 1))
            case "joint force":
                return mbvi.JointForce(**where, value=random.choice([table, "exp(-t) * cos(3*t)"]))
            case "weight":
                return mbvi.Force(**acting(None), point=random.normal(size=3))
            case "world force":
                return mbvi.Force(**acting("sin(t)"), point=random.normal(size=3))
            case "body force":
                return mbvi.Force(**acting(table), point=random.normal(size=3), frame="body")
            case "world torque":
                return mbvi.Torque(**acting(table))
            case "body torque":
                return mbvi.Torque(**acting("cos(t)"), frame="body")
        raise ValueError(kind)

    return {f"{kind} {i}": one(kind) for kind in kinds for i in range(2)}


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
