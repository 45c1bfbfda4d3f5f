"""The state a run starts from: what is given, moved onto the constraints, or an error that says why it cannot be started from.

What a model gives, or leaves at its default, are coordinates and rates of joints. They are kept; a coordinate that is prescribed
takes its value and its rate, and where other constraints do not hold, what they tie follows (`projection`). A system in the
embedding starts from the same coordinates, moved in the same way in those of the spanning tree, so that a model starts alike in
all formulations.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.kernels import layout
from mbvi.kernels.mechanics.functions import function_of
from mbvi.model.constraints import FARTHEST
from mbvi.model.description import Initial
from mbvi.model.directions import cross
from mbvi.model.expressions import show, wrong
from mbvi.model.graph import is_backward, loop_of
from mbvi.model.resolve import WHOLE_TURNS
from mbvi.model.rotations import rotation_matrix
from mbvi.model.rounding import ROUND_OFF, is_unit, off_unit
from mbvi.system.attitudes import Attitudes
from mbvi.system.base import BaseSystem
from mbvi.system.copies import as_run
from mbvi.system.forms import with_tree
from mbvi.system.given import (
    Motion,
    body_motions,
    curves,
    given_curves,
    given_joint_states,
    nearest_joint_state,
    state_from_joints,
)
from mbvi.system.projection import (
    CONSTRAINT_TOLERANCE,
    owner_of,
    polished,
    project_position,
    project_velocity,
    rate_of_constraints,
    violated_rates,
    violated_rows,
    worst,
)
from mbvi.system.redundancy import count_redundant, forget_counts
from mbvi.system.regularity import SINGULAR, check_regular, smallest_pivot
from mbvi.system.tables import driven_rows

Array = np.ndarray
AnySystem = TypeVar("AnySystem", bound=BaseSystem)
ZERO = 1e-12  # square of the norm of a quaternion
AGREE = 1e-6  # by how much what is given of joints that close loops may differ from what follows [rad, m, –]
MANY = 10  # times the tolerance of loops by which it may where that is larger, or joints' numbers were moved
NOTICED = 1e-7  # change of a coordinate or rate, relative to the largest, that is reported [rad, m, –]
TOGETHER = 100  # coordinates up to which mass matrices of many states are looked at together
INFINITE = "look for points that coincide, of whose distance a potential has no value, and for rates that are too large"


class Move(NamedTuple):
    """A coordinate that does not start as it was given, or whose rate does not.

    name             str     of the coordinate
    unit             str     of the coordinate
    is_rate          bool    whether this is its rate
    given, reached   float   what was given, and what it starts from
    is_given         bool    whether someone gave it, and it was not left at its default
    """

    name: str
    unit: str
    is_rate: bool
    given: float
    reached: float
    is_given: bool = True


class Start(NamedTuple):
    """What a run starts from, and how far what was given is from it.

    q, v, p       (n,)      state on the constraints
    violation     float     largest |g| of the given coordinates
    rate          float     largest |G v + ∂g/∂t| of the given velocities, at the coordinates started from
    shift         float     largest change of a coordinate
    moves         tuple     the coordinates and rates that do not start as they were given
    """

    q: Array
    v: Array
    p: Array
    violation: float
    rate: float
    shift: float
    moves: tuple[Move, ...] = ()


def find_start(
    system: BaseSystem,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    t: float = 0.0,
    project: bool | None = None,
) -> Start:
    """The state to start from.

    Parameters
    ----------
    system : BaseSystem
    q, v : (n,), optional
        Coordinates and velocities instead of the system's own.
    t : float
        Start time [s].
    project : bool, optional
        Whether a state that violates the constraints is moved onto them, or refused; by default as the model says.

    Raises
    ------
    ModelError
        If the numbers do not fit, the constraints cannot be satisfied or are not and may not be, or the mass matrix is
        singular (as at a gimbal lock).
    """
    forget_counts(system)
    is_own = q is None and v is None and system._starts_as_its_model
    start = found_start(system, q, v, t, project, find_start)
    _check_angles(system, start.q)
    count_redundant(system, start.q, t)
    check_regular(system, start.q, t)
    if is_own and system.homes is not None:
        check_chords(system, start)
    is_finite, p = _momenta(system, np.array([t]), start.q[None], start.v[None])
    if not is_finite:
        found = "one that is not a finite number [J]"
        raise ModelError(f"initial_q, initial_v: {wrong('a state of finite energy', found, INFINITE)}")
    return start._replace(p=p[0])


def _check_angles(system: BaseSystem, q: Array) -> None:
    """Refuse angles of which too few digits are left within a turn."""
    far = _far_angles(system, q)
    if len(far):
        expected = f"an angle of size at most {FARTHEST:g} rad at the start"
        raise ModelError(f"{system.coordinate_names[far[0]]}: {wrong(expected, show(float(q[far[0]])), WHOLE_TURNS)}")


def _far_angles(system: BaseSystem, q: Array) -> Array:
    """The numbers of coordinates, of states q (..., n), that are such angles in one of them."""
    are_angles = np.array([unit == "rad" for unit in system.coordinate_units])
    return np.flatnonzero(are_angles & (np.abs(q).reshape(-1, len(are_angles)).max(axis=0, initial=0.0) > FARTHEST))


def initial_state(system: BaseSystem) -> tuple[Array, Array]:
    """Coordinates and velocities (n,) from which runs of a system start at t = 0, whether they can or not.

    Raises
    ------
    ModelError
        If what is given violates the constraints, and cannot be moved onto them or may not be.
    """
    own = as_run(system)
    forget_counts(own)
    start = found_start(own, None, None, 0.0, None, None)
    return start.q, start.v


def found_start(
    system: BaseSystem, q: ArrayLike | None, v: ArrayLike | None, t: float, project: bool | None, find: Any
) -> Start:
    """The state to start from, without its momenta; `find` finds that of the spanning tree, by default this function."""
    _check_driven(system, t)
    if project is None:
        project = system.model is None or system.model.simulation.project
    if q is not None or v is not None or not system._starts_as_its_model:
        q = system._vector(system.given_q if q is None else q, "initial_q")
        v = system._vector(system.given_v if v is None else v, "initial_v")
        _check_quaternions(system, q, t)
        start = _moved(system, (q, v), (q, v), t, np.zeros((2, system.dimension), bool), project)
        return start._replace(moves=tuple(move._replace(is_given=True) for move in start.moves))
    held = _held(system)
    if not starts_from_tree(system):
        given = system.given_q.copy(), system.given_v.copy()
        return _moved(system, given, _with_prescribed(system, t, held) if project else given, t, held, project)
    tree = tree_system(system)
    found = find(tree, t=t, project=project) if find else found_start(tree, None, None, t, project, None)
    state = from_tree(system, tree, found)
    start = _moved(system, state, state, t, held, True)
    return found._replace(q=start.q, v=start.v)


def _check_driven(system: BaseSystem, t: float) -> None:
    """Refuse constraints that depend on time by a function that has no finite value or rate at the start."""
    arrays = system.arrays
    of = arrays.time_functions, arrays.operations, arrays.numbers, system.work.stack
    for i in driven_rows(system.arrays):
        value, rate, _ = function_of(*of, arrays.constraints[i, layout.FUNCTION], t)
        if not np.isfinite([value, rate, rate * rate]).all():  # the last as energies are
            found = f"the value {value:g} and the rate {rate:g}"
            raise ModelError(
                f"constraints.{owner_of(system, int(i))}: expected a finite value and rate at the start, t = {t:g} s, found "
                f"{found}; start at another time, or change the function"
            )


def starting_momenta(system: BaseSystem, q: Array, v: Array) -> Array | None:
    """Momenta (states, n) of many states at once, q and v (states, n), that a run can start from at t = 0.

    None where `find_start` has to be asked: there are constraints, one of them is no such state, or their matrices are large.
    """
    if system.constraint_count or system.dimension > TOGETHER or len(_far_angles(system, q)):
        return None
    t = np.zeros(len(q))
    is_finite, p = _momenta(system, t, q, v)
    if not is_finite or smallest_pivot(system._mass_matrices(t, q)) <= SINGULAR:
        return None
    return p


def _momenta(system: BaseSystem, t: Array, q: Array, v: Array) -> tuple[bool, Array]:
    """Whether the energies of many states are finite, and their momenta."""
    kinetic, potential, p = system._energies_and_momenta(t, q, v)
    with np.errstate(over="ignore"):
        return bool(np.isfinite(kinetic + potential).all()), p


def _check_quaternions(system: BaseSystem, q: Array, t: float) -> None:
    """Refuse quaternions of a norm other than 1, and say where rounding of digits explains it; g = (|a|² − 1)/2."""
    rows = np.flatnonzero(system.arrays.constraints[:, layout.CONSTRAINT_KIND] == layout.UNIT_QUATERNION)
    norms = np.sqrt(np.maximum(2 * system.constraint(q, t)[rows] + 1, 0.0)) if len(rows) else ()
    for row, norm in zip(rows, norms, strict=True):
        name = system.constraint_names[row].removesuffix(".norm")
        if not is_unit(norm):
            zero = "the zero quaternion; write for example 1, 0, 0, 0"
            found = f"one of norm {norm:.6g}; divide it by that" if norm**2 > ZERO else zero
            raise ModelError(f"initial_q: expected a unit quaternion (qw, qx, qy, qz) of {name}, found {found}")
        if abs(norm - 1) > ROUND_OFF:
            said = f"initial_q: the norm of the quaternion of {name} is {off_unit(norm)}; taken as rounded, and divided by it"
            warnings.warn(said, ModelWarning, stacklevel=stack_level())


def _moved(
    system: BaseSystem, given: tuple[Array, Array], state: tuple[Array, Array], t: float, held: Array, project: bool
) -> Start:
    """The start from a given state, and from one in which what is prescribed has its values, where rates or values are held."""
    if not system.constraint_count:
        return Start(*state, state[0], 0.0, 0.0, 0.0)
    q, v = state
    fixed = held.copy()
    if project:
        q, v = q.copy(), v.copy()
        for j, value, rate in _prescribed(system, t, held):
            q[j], v[j], fixed[:, j] = value, rate, True
    attitudes, moved = Attitudes(system), q
    if len(violated_rows(system, attitudes, q, t)):
        if not project:
            raise ModelError(_refused(system, attitudes, q, t))
        moved = project_position(system, q, t, fixed[0])
    elif project:
        moved = polished(system, q, t, fixed[0])
    v = _carried(system, q, moved, v)
    given_v = _carried(system, given[0], moved, given[1])
    off = rate_of_constraints(system, moved, given_v, t)
    if len(violated_rates(system, moved, v, t)):
        if not project:
            raise ModelError(
                f"initial_v: expected a velocity along the constraints, found |G v + ∂g/∂t| = {off.max():.3g}, largest of "
                f"{worst(system, off)}"
            )
        v = project_velocity(system, moved, v, t, fixed[1])
    violation, shift = np.abs(system.constraint(given[0], t)).max(), np.abs(moved - given[0]).max()
    moves = (*_moves(system, given[0], moved, False), *_moves(system, given_v, v, True))
    return Start(moved, v, moved, float(violation), float(off.max()), float(shift), moves)


def _refused(system: BaseSystem, attitudes: Attitudes, q: Array, t: float) -> str:
    """An error: a position is not on the constraints, or directions stand at a root that is not meant."""
    g, angles = system.constraint(q, t), np.rad2deg(attitudes.angles(q))
    if np.abs(g).max() > CONSTRAINT_TOLERANCE:
        found = f"|g| = {np.abs(g).max():.3g}, largest of {worst(system, g)}"
    else:
        row = int(attitudes.first[np.argmax(angles)])
        found = f"directions {angles.max():.3g} deg apart that {owner_of(system, row)} holds together"
    return (
        f"initial_q: expected a position on the constraints, found {found}; give one, or let it be moved there by "
        "project: true"
    )


def _prescribed(system: BaseSystem, t: float, held: Array) -> Iterator[tuple[int, float, float]]:
    """The coordinates that are prescribed and not held, with their values and rates."""
    arrays = system.arrays
    of = arrays.time_functions, arrays.operations, arrays.numbers, system.work.stack
    for row in arrays.constraints[arrays.constraints[:, layout.CONSTRAINT_KIND] == layout.COORDINATES]:
        j = int(arrays.entries[row[layout.FIRST_ENTRY]])
        is_of_time = row[layout.FUNCTION] >= 0 and row[layout.ARGUMENT] < 0  # others couple two coordinates
        if is_of_time and not held[0, j]:
            value, rate, _ = function_of(*of, row[layout.FUNCTION], t)
            yield j, value, rate


def _with_prescribed(system: BaseSystem, t: float, held: Array) -> tuple[Array, Array]:
    """What the model gives, where what is prescribed has its values: joints that close loops follow from these."""
    values = list(_prescribed(system, t, held))
    if not values or system.model is None or system.homes is None:
        return system.given_q.copy(), system.given_v.copy()
    model, homes = system.model.resolved(), system.homes
    states = given_joint_states(model, homes)
    for j, value, rate in values:
        name = max((name for name, first in homes.joints.items() if first <= j), key=homes.joints.__getitem__)
        if name in states:
            q, v = states[name]
            q[j - homes.joints[name]], v[j - homes.joints[name]] = value, rate
    return state_from_joints(model, homes, states, given_curves(model), system.dimension)


def _carried(system: BaseSystem, before: Array, q: Array, v: Array) -> Array:
    """Velocities with the angular velocities that they mean, where quaternions have moved: ȧ = a ⋆ (ā₀ ⋆ ȧ₀)/|a₀|²."""
    kinds = system.arrays.constraints[:, layout.CONSTRAINT_KIND]
    if np.array_equal(before, q):
        return v
    v = v.copy()
    for row in system.arrays.constraints[kinds == layout.UNIT_QUATERNION]:
        four = system.arrays.entries[row[layout.FIRST_ENTRY] :][:4]
        conjugate = before[four] * (1, -1, -1, -1) / (before[four] @ before[four])
        v[four] = _product(q[four], _product(conjugate, v[four]))
    return v


def _product(a: Array, b: Array) -> Array:
    """a ⋆ b of quaternions (4,)."""
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + cross(a[1:], b[1:])])


def _moves(system: BaseSystem, given: Array, reached: Array, is_rate: bool) -> Iterator[Move]:
    """The coordinates, or rates, that are not as given; of joints that close loops nothing is, unless they are held."""
    following: set[str] = set()
    if system.homes is not None and system.model is not None:
        initial = system.model.initial
        following = {name for name in system.homes.plan.chords if name not in initial or not initial[name].hold}
    far = np.abs(reached - given) > NOTICED * max(1.0, float(np.abs(reached).max(initial=0.0)))
    for j in np.flatnonzero(far):
        name = system.coordinate_names[j]
        owner = name.rsplit(".", 1)[0]
        if owner not in following:
            change = float(given[j]), float(reached[j])
            yield Move(name, system.coordinate_units[j], is_rate, *change, _is_given(system, owner, is_rate))


def _is_given(system: BaseSystem, owner: str, is_rate: bool) -> bool:
    """Whether a coordinate of a joint or curve, or its rate, starts from what someone gave."""
    if system.model is None or not system._starts_as_its_model:
        return True
    if owner in system.model.constraints:
        return not is_rate or curves(system.model.resolved())[owner].start_rate is not None
    initial = system.model.initial.get(owner, Initial())
    return (initial.velocity if is_rate else initial.position) is not None


def starts_from_tree(system: BaseSystem) -> bool:
    """Whether a system's start is found in the coordinates of the spanning tree: it has loops, and other coordinates."""
    if system.homes is None or system.model is None:
        return False
    model, plan, roots = system.model, system.homes.plan, system.homes.roots
    if not any(model.joints[branch.joint].coordinate_names for branch in plan.branches):
        return False  # all is welded, and has no coordinates in the tree
    tied = {branch.outer: branch for branch in plan.branches if not is_backward(model, branch, plan)}
    return bool(plan.chords or model.constraints) and any(
        body in tied and not (is_point and model.joints[tied[body].joint].is_free)
        for body, (_, is_point) in roots.items()
    )


def tree_system(system: AnySystem) -> AnySystem:
    """The system of the same model with all joints of the spanning tree as coordinates."""
    assert system.model is not None and system.homes is not None
    return system._of_model(with_tree(system.model.resolved(), system.homes.plan.chords))


def from_tree(system: BaseSystem, tree: BaseSystem, start: Start) -> tuple[Array, Array]:
    """Coordinates and velocities of a system from those of the spanning tree."""
    assert system.model is not None and system.homes is not None and tree.homes is not None
    states = joint_states(tree, start)
    curves = {name: (float(start.q[i]), float(start.v[i])) for name, i in tree.homes.curves.items()}
    return state_from_joints(system.model.resolved(), system.homes, states, curves, system.dimension)


def joint_states(tree: BaseSystem, start: Start) -> dict[str, tuple[Array, Array]]:
    """Coordinates and rates (m,), each pair of a joint of m coordinates, of every joint that has coordinates in a system."""
    assert tree.model is not None and tree.homes is not None
    model, states = tree.model.resolved(), {}
    roots = tree.homes.roots
    points = {
        branch.joint: branch.outer for branch in tree.homes.plan.branches if roots.get(branch.outer, (0, False))[1]
    }
    for name, body in points.items():  # of a point that moves freely
        joint, (first, _) = model.joints[name], tree.homes.roots[body]
        part = slice(first, first + 3)
        turned = rotation_matrix(joint.orientation)
        place = start.q[part] - turned @ tree.homes.centers[body]
        states[name] = nearest_joint_state(joint, Motion(turned, place, np.zeros(3), start.v[part]))
    for name in (*(branch.joint for branch in tree.homes.plan.branches), *tree.homes.joints):
        if name in points:
            continue
        first = tree.homes.joints.get(name, 0)
        part = slice(first, first + len(model.joints[name].coordinate_names))
        states[name] = start.q[part], start.v[part]
    return states


def _held(system: BaseSystem) -> Array:
    """Which coordinates, and which of their rates, the model wants kept as given, (2, n)."""
    held = np.zeros((2, system.dimension), bool)
    if system.model is None or system.homes is None:
        return held
    for name, initial in system.model.initial.items():
        if initial.hold and name in system.homes.joints:
            first = system.homes.joints[name]
            held[:, first : first + len(system.model.joints[name].coordinate_names)] = True
    found = curves(system.model.resolved()) if system.homes.curves else {}
    for name, index in system.homes.curves.items():
        held[1, index] = found[name].start_rate is not None
    return held


def check_chords(system: BaseSystem, start: Start) -> None:
    """What the model gives for joints that close loops must be what follows from the other joints."""
    assert system.model is not None and system.homes is not None
    plan, initials = system.homes.plan, system.model.initial
    given = [name for name in plan.chords if name in initials and not initials[name].hold]
    if not given or system.homes.roots:
        return  # the system of the spanning tree was asked before
    model = system.model.resolved()
    motions = body_motions(model, plan, joint_states(system, start))
    tolerance = float(model.loop_tolerance)
    allowed = max(AGREE, MANY * tolerance) if model._moved_loops or tolerance > AGREE else AGREE
    for name in given:
        joint, initial = model.joints[name], model.initial[name]
        relative = motions[joint.parent].inverse().then(motions[joint.child])
        found = nearest_joint_state(joint, relative, initial)
        for key, value in (("position", found[0]), ("velocity", found[1])):
            wanted: Any = getattr(initial, key)
            if (
                wanted is not None
                and len(wanted) == len(value)
                and not np.allclose(wanted, value, rtol=allowed, atol=allowed)
            ):
                raise ModelError(
                    f"initial.{name}.{key}: expected what follows from the other joints of the loop "
                    f"{loop_of(joint, plan)}, {np.round(value, 9).tolist()}, found {list(wanted)}; remove it, or write "
                    "hold: true to keep it and move the others"
                )
