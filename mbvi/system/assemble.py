"""From a model to the arrays of the kernels: every joint becomes a sequence of elementary joints with links between.

The frame of a link has its joint's axis as z. With the joint frame at R_c, x_c in the link above, and A a rotation whose
third column is the axis, the new link hangs at rotation R_c A and place x_c, and sees the moved joint frame at Aᵀ, 0.
The child's body frame then lies at rotation Aᵀ R_orientation, and its origin −R offset from the joint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.forces import OPERATIONS
from mbvi.model import elements as el
from mbvi.model.graph import WORLD, spanning_tree
from mbvi.model.shapes import mass_properties, rotation_matrix
from mbvi.system.system import BodyFrame, System

Array = np.ndarray


class Elementary(NamedTuple):
    """One elementary joint: kind, axis in the joint frame, and advance per coordinate."""

    kind: int
    axis: Array
    pitch: float


@dataclass
class Tables:
    """The rows of the arrays of a System, as they grow."""

    links: list = field(default_factory=list)
    geometry: list = field(default_factory=list)
    constraints: list = field(default_factory=list)
    joint_forces: list = field(default_factory=list)
    joint_force_data: list = field(default_factory=list)
    body_forces: list = field(default_factory=list)
    body_force_data: list = field(default_factory=list)
    time_functions: list = field(default_factory=list)
    operations: list = field(default_factory=list)
    numbers: list = field(default_factory=list)


def assemble(model: el.Model, force: Any = None) -> System:
    """The System of a model, in the generalized coordinates of its joints.

    Parameters
    ----------
    model : Model
        A tree of joints.
    force : callable, optional
        A force of your own, ``force(t, q, v, F)`` with arrays (n,), compilable by numba, that adds generalized forces
        to ``F`` in place [N m for angles, N for displacements].

    Returns
    -------
    System
        Mass matrix, potential and forces as compiled kernels; nothing is compiled for the model.

    Raises
    ------
    ModelError
        If the joints are not a tree or a mesh cannot be used.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -2))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> system = assemble(mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}))
    >>> system.mass_matrix([0.3])
    array([[4.]])
    """
    from mbvi.system.lagrangian import compile_force

    if not isinstance(model, el.Model):
        raise ModelError(f"model: expected a Model, found {model!r}; mbvi.load reads one from a file")
    resolved = model.resolved()
    tables = Tables()
    frames = {WORLD: BodyFrame(-1, np.eye(3), np.zeros(3))}
    first_coordinate: dict[str, int] = {}
    names: list[str] = []
    units: list[str] = []
    for name in spanning_tree(resolved):
        joint = resolved.joints[name]
        first_coordinate[name] = len(names)
        add_joint(tables, frames, joint, len(names))
        names += [f"{name}.{short}" for short in joint.coordinate_names]
        units += joint.coordinate_units
    for name, body in resolved.bodies.items():
        add_body(tables, frames[name], mass_properties(body, resolved.folder))
    add_subtree_masses(tables)
    for each in resolved.forces.values():
        add_force(tables, frames, resolved, first_coordinate, each)
    q, v = initial_state(resolved, first_coordinate, len(names))
    n = len(names)
    arrays = layout.System(
        n=n,
        k=len(tables.constraints),
        is_tree=1,
        gravity=np.array(resolved.gravity, dtype=float),
        links=_integers(tables.links, 4),
        geometry=_floats(tables.geometry, 24),
        joint_forces=_integers(tables.joint_forces, 3),
        joint_force_data=_floats(tables.joint_force_data, 2),
        body_forces=_integers(tables.body_forces, 6),
        body_force_data=_floats(tables.body_force_data, 17),
        time_functions=_integers(tables.time_functions, 3),
        operations=np.array(tables.operations, dtype=np.int64),
        numbers=np.array(tables.numbers, dtype=float),
        constraints=_integers(tables.constraints, 2),
        gradient=0,
        hessian=0,
        potential=0,
        constraint=0,
        curvature=0,
        force=compile_force(force, n) if force is not None else 0,
    )
    return System(
        name=resolved.name,
        arrays=arrays,
        coordinate_names=tuple(names),
        coordinate_units=tuple(units),
        initial_q=q,
        initial_v=v,
        is_conservative=force is None and all(_derives_from_potential(each) for each in resolved.forces.values()),
        model=model,
        frames=frames,
    )


def _integers(rows: list, width: int) -> Array:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _floats(rows: list, width: int) -> Array:
    return np.array(rows, dtype=float).reshape(-1, width)


def elementary_joints(joint: el.Joint) -> list[Elementary]:
    """The sequence of elementary joints of a resolved joint, one per coordinate (one for the four of a quaternion)."""

    def revolute(axis: Any) -> Elementary:
        return Elementary(layout.REVOLUTE, np.array(axis), 0.0)

    def prismatic(axis: Any) -> Elementary:
        return Elementary(layout.PRISMATIC, np.array(axis), 1.0)

    def rotation(coordinates: str) -> list[Elementary]:
        if coordinates == "quaternion":
            return [Elementary(layout.QUATERNION, np.array([0.0, 0.0, 1.0]), 0.0)]
        return [revolute(np.eye(3)["xyz".index(letter)]) for letter in coordinates]

    match joint:
        case el.Weld():
            return []
        case el.Revolute():
            return [revolute(joint.axis)]
        case el.Prismatic():
            return [prismatic(joint.axis)]
        case el.Screw():
            return [Elementary(layout.SCREW, np.array(joint.axis), float(joint.pitch))]
        case el.Cylindrical():
            return [revolute(joint.axis), prismatic(joint.axis)]
        case el.Universal():
            return [revolute(joint.axes[0]), revolute(joint.axes[1])]
        case el.Planar():
            normal, x = np.array(joint.normal), np.array(joint.x_axis)
            return [prismatic(x), prismatic(np.cross(normal, x)), revolute(normal)]
        case el.Ball():
            return rotation(joint.coordinates)
        case el.Free():
            return [*map(prismatic, np.eye(3)), *rotation(joint.coordinates)]
    raise TypeError(f"no elementary joints are known for {type(joint).__name__}")


def frame_with_axis(axis: Array, above: Array) -> Array:
    """A rotation whose third column is the axis; the transpose of `above` if that is one, so that frames align."""
    if np.array_equal(above @ axis, [0.0, 0.0, 1.0]):
        return above.T
    across = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    x = across / np.linalg.norm(across)
    return np.column_stack([x, np.cross(axis, x), axis])


def add_joint(tables: Tables, frames: dict[str, BodyFrame], joint: Any, coordinate: int) -> None:
    """Add the links of a joint, and the frame of its child."""
    parent = frames[joint.parent]
    link, rotation = parent.link, parent.rotation
    place = parent.place + parent.rotation @ np.array(joint.position)
    for kind, axis, pitch in elementary_joints(joint):
        turned = np.eye(3) if kind == layout.QUATERNION else frame_with_axis(axis, rotation)
        fixed = rotation @ turned
        is_aligned = np.array_equal(fixed, np.eye(3))
        tables.links.append([link, kind, coordinate, int(is_aligned)])
        tables.geometry.append(np.concatenate([fixed.ravel(), place, [pitch], np.zeros(11)]))
        if kind == layout.QUATERNION:
            tables.constraints.append([layout.UNIT_QUATERNION, coordinate])
        coordinate += 4 if kind == layout.QUATERNION else 1
        link, rotation, place = len(tables.links) - 1, turned.T, np.zeros(3)
    rotation = rotation @ rotation_matrix(joint.orientation)
    frames[joint.child] = BodyFrame(link, rotation, place - rotation @ np.array(joint.offset))


def add_body(tables: Tables, frame: BodyFrame, properties: Any) -> None:
    """Add the mass properties of a body to its link, about the link's origin."""
    if frame.link < 0:
        return
    m = properties.mass
    c = frame.place + frame.rotation @ properties.center_of_mass
    inertia = frame.rotation @ properties.inertia @ frame.rotation.T + m * (c @ c * np.eye(3) - np.outer(c, c))
    row = tables.geometry[frame.link]
    row[layout.MASS] += m
    row[layout.MOMENT : layout.MOMENT + 3] += m * c
    row[layout.INERTIA : layout.INERTIA + 6] += inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def add_subtree_masses(tables: Tables) -> None:
    """Mass of every link and all that hangs on it."""
    for row in tables.geometry:
        row[layout.SUBTREE_MASS] = row[layout.MASS]
    for link, row in reversed(list(zip(tables.links, tables.geometry, strict=True))):
        if link[layout.PARENT] >= 0:
            tables.geometry[link[layout.PARENT]][layout.SUBTREE_MASS] += row[layout.SUBTREE_MASS]


def add_time_function(tables: Tables, value: Any) -> int:
    """Add a function of time, a number, a postfix program or a table; its index."""
    start = len(tables.numbers)
    if isinstance(value, el.Table):
        tables.time_functions.append([layout.TABLE, start, len(value.times)])
        tables.numbers += [*value.times, *value.values]
    elif isinstance(value, tuple):
        tables.time_functions.append([layout.PROGRAM, len(tables.operations), len(value)])
        for item in value:
            is_number = isinstance(item, float)
            tables.operations += [0 if is_number else OPERATIONS.index(item), len(tables.numbers)]
            tables.numbers += [item] if is_number else []
    else:
        tables.time_functions.append([layout.CONSTANT, start, 1])
        tables.numbers.append(float(value))
    return len(tables.time_functions) - 1


def _derives_from_potential(force: Any) -> bool:
    if isinstance(force, el.Spring | el.JointSpring):
        return True
    return (
        isinstance(force, el.Force)
        and force.frame == "world"
        and all(isinstance(component, float) for component in force.vector)
    )


def add_force(
    tables: Tables, frames: dict[str, BodyFrame], model: el.Model, first_coordinate: dict[str, int], force: Any
) -> None:
    """Add one force of the model."""
    if isinstance(force, el.OnJoint):
        names = model.joints[force.joint].coordinate_names
        coordinate = first_coordinate[force.joint] + names.index(str(force.coordinate))
        _add_joint_force(tables, force, coordinate)
    elif isinstance(force, el.Between):
        a, b = frames[force.body_a], frames[force.body_b]
        kind = layout.SPRING if isinstance(force, el.Spring) else layout.DAMPER
        constant, rest = (
            (force.stiffness, force.rest_length) if isinstance(force, el.Spring) else (force.damping, 0.0)  # type: ignore[attr-defined]
        )
        tables.body_forces.append([kind, a.link, b.link, 0, 0, 0])
        ends = [frame.place + frame.rotation @ np.array(p) for frame, p in ((a, force.point_a), (b, force.point_b))]
        tables.body_force_data.append([*ends[0], *ends[1], constant, rest, *np.eye(3).ravel()])
    else:
        frame = frames[force.body]
        if frame.link < 0:
            return  # welded to the world, which does not move
        is_force = isinstance(force, el.Force)
        kind = {
            (True, "world"): layout.FORCE_WORLD,
            (True, "body"): layout.FORCE_BODY,
            (False, "world"): layout.TORQUE_WORLD,
            (False, "body"): layout.TORQUE_BODY,
        }[is_force, force.frame]
        functions = [add_time_function(tables, component) for component in force.vector]
        point = frame.place + frame.rotation @ np.array(force.point) if is_force else np.zeros(3)
        tables.body_forces.append([kind, -1, frame.link, *functions])
        tables.body_force_data.append([0.0, 0.0, 0.0, *point, 0.0, 0.0, *frame.rotation.ravel()])


def _add_joint_force(tables: Tables, force: Any, coordinate: int) -> None:
    match force:
        case el.JointSpring():
            row, data = [layout.JOINT_SPRING, coordinate, 0], [force.stiffness, force.rest]
        case el.JointDamper():
            row, data = [layout.JOINT_DAMPER, coordinate, 0], [force.damping, 0.0]
        case _:
            row, data = [layout.JOINT_FORCE, coordinate, add_time_function(tables, force.value)], [0.0, 0.0]
    tables.joint_forces.append(row)
    tables.joint_force_data.append(data)


def initial_state(model: el.Model, first_coordinate: dict[str, int], n: int) -> tuple[Array, Array]:
    """Initial coordinates and rates (n,) of a resolved model."""
    q, v = np.zeros(n), np.zeros(n)
    for name, first in first_coordinate.items():
        joint, initial = model.joints[name], model.initial.get(name)
        names = joint.coordinate_names
        part = slice(first, first + len(names))
        if "qw" in names:
            q[first + names.index("qw")] = 1.0
        if initial is not None and initial.position is not None:
            q[part] = initial.position
        if initial is not None and initial.velocity is not None:
            rates = list(initial.velocity)  # type: ignore[arg-type]
            if len(rates) < len(names):
                omega = rotation_matrix(joint.orientation) @ np.array(rates[-3:])
                rates[-3:] = quaternion_rates(q[part][-4:], omega)
            v[part] = rates
    return q, v


def quaternion_rates(a: Array, omega: Array) -> Array:
    """Rates ȧ = 1/2 a ⋆ (0, ω) of a quaternion (4,) turning with body angular velocity ω (3,) [rad/s]."""
    scalar, vector = a[0], a[1:]
    return 0.5 * np.concatenate([[-vector @ omega], scalar * omega + np.cross(vector, omega)])
