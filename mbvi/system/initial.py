"""The state a run starts from: moved onto the constraints, or an error that says why it cannot be started from.

Position: the q nearest to the given one in the metric of M, by Newton's method on

    min 1/2 (q − q₀)ᵀ M (q − q₀)  with  g(q) = 0:     [M Gᵀ; G 0] (δ, μ) = (−M (q − q₀), −g),   q ← q + δ

and the velocity nearest to the given one with G v + ∂g/∂t = 0. Where constraints are redundant, δ is the least-squares solution.
A system in the embedding starts from the joint coordinates that its model gives, moved likewise in the coordinates of the
spanning tree, so that a model starts alike in all formulations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.kernels import lagrangian as kernels
from mbvi.kernels import layout
from mbvi.kernels.lanes import WIDTH
from mbvi.model import elements as el
from mbvi.model.graph import is_backward, loop_of
from mbvi.model.rounding import is_unit
from mbvi.model.shapes import rotation_matrix
from mbvi.system.assemble import assemble
from mbvi.system.start import Motion, body_motions, nearest_joint_state, state_from_joints
from mbvi.system.system import System

Array = np.ndarray
SINGULAR = 1e-13
BASIS_ROUNDING = 1e-15  # of an orthonormal basis
ZERO = 1e-12  # square of the norm of a quaternion
CONSTRAINT_TOLERANCE = 1e-9
NEWTON_STEPS = 200
NEAR = 1e-9  # of the nearest position, from where only the constraints are solved further
PATIENCE = 15  # steps in a row that may be no shorter than one before
RETRIES = (0.0, 0.01, 0.1)  # how far away positions on the constraints are looked for anew [rad, m, –]
BESIDE = 1e-2  # how far away redundant constraints are counted anew [rad, m, –]
LONGEST_STEP = 0.3  # change of a coordinate in one step [rad, m, –]
RANK = 1e-9  # singular value below which constraints are redundant, relative to the largest
NEARLY = 1e-2  # smallest singular value, relative to the largest, that is near a singular configuration
TOGETHER = 100  # coordinates up to which mass matrices of many states are looked at together
LARGE = 600  # coordinates and constraints from which dense matrices take too long


class Start(NamedTuple):
    """What a run starts from, and how far what was given is from it.

    q, v, p       (n,)      state on the constraints
    violation     float     largest |g| of the given coordinates
    rate          float     largest |G v + ∂g/∂t| of the given velocities, at the coordinates started from
    shift         float     largest change of a coordinate
    """

    q: Array
    v: Array
    p: Array
    violation: float
    rate: float
    shift: float


class Mobility(NamedTuple):
    """How many ways a system can move.

    degrees_of_freedom   coordinates less independent constraints
    redundant            constraints that follow from others
    origins              names of the joints and elements that they come from
    is_singular          whether fewer constraints are independent at the start than at positions near it
    """

    degrees_of_freedom: int
    redundant: int
    origins: tuple[str, ...]
    is_singular: bool


def find_start(
    system: System, q: ArrayLike | None = None, v: ArrayLike | None = None, t: float = 0.0, project: bool | None = None
) -> Start:
    """The state to start from.

    Parameters
    ----------
    system : System
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
    check_coordinates(system)
    forget_counts(system)
    if project is None:
        project = system.model is None or system.model.simulation.project
    own = q is None and v is None
    held = _held(system) if own else np.zeros((2, system.dimension), bool)
    if own and _starts_from_tree(system):
        tree = tree_system(system)
        found = find_start(tree, t=t, project=project)
        q, v = from_tree(system, tree, found)
        violation, rate, shift = found.violation, found.rate, found.shift
        start = _moved(system, q, v, t, held, True)._replace(violation=violation, rate=rate, shift=shift)
    else:
        q = system._vector(system.initial_q if q is None else q, "initial_q")
        v = system._vector(system.initial_v if v is None else v, "initial_v")
        _check_quaternions(system, q, t)
        start = _moved(system, q, v, t, held, project)
    count_redundant(system, start.q, t)
    _check_regular(system, start.q, t)
    if own and system.homes is not None:
        _check_chords(system, start)
    is_finite, p = _momenta(system, np.array([t]), start.q[None], start.v[None])
    if not is_finite:
        raise ModelError("initial_v: expected a state of finite energy, found one that is not a finite number [J]")
    return start._replace(p=p[0])


def starting_momenta(system: System, q: Array, v: Array) -> Array | None:
    """Momenta (states, n) of many states at once, q and v (states, n), that a run can start from at t = 0.

    None where `find_start` has to be asked: there are constraints, one of them is no such state, or their matrices are large.
    """
    if system.constraint_count or system.dimension > TOGETHER:
        return None
    t = np.zeros(len(q))
    is_finite, p = _momenta(system, t, q, v)
    if not is_finite or _smallest_pivot(system._mass_matrices(t, q)) <= SINGULAR:
        return None
    return p


def _momenta(system: System, t: Array, q: Array, v: Array) -> tuple[bool, Array]:
    """Whether the energies of many states are finite, and their momenta."""
    kinetic, potential, p = system._energies_and_momenta(t, q, v)
    with np.errstate(over="ignore"):
        return bool(np.isfinite(kinetic + potential).all()), p


def check_coordinates(system: System) -> None:
    """Refuse a system without coordinates."""
    if not system.dimension:
        raise ModelError(
            "joints: expected at least one coordinate, found none: every body is welded, and nothing moves"
        )


def forget_counts(system: System) -> None:
    """References and counts of redundant rows of loops as when the system was made, so that no start depends on one before."""
    if system.arrays.is_tree and system.arrays.reference.any():
        system.arrays.redundant[:] = 0
        system.arrays.reference[:] = system.arrays.reference > 0


def count_redundant(system: System, q: Array, t: float) -> None:
    """Count the redundant constraints of every loop, or of a system's own constraints, at q and, since q may be singular, at
    two positions near it.

    Then the reference of a loop becomes its smallest pivot, the largest such of these positions.
    """
    forget_counts(system)
    if len(_nodes_with_redundant_rows(system)):
        random = np.random.default_rng(5)
        beside = [_beside(system, q, t, random) for _ in range(2)]
        _leave_out(system, [q, *(each for each in beside if each is not None)], t)


def count_redundant_anywhere(system: System) -> None:
    """Count the constraints of a system's own that are redundant at all positions, also off the constraints: near the initial."""
    random = np.random.default_rng(5)
    positions = [system.initial_q + BESIDE * random.standard_normal(system.dimension) for _ in range(3)]
    if all(np.isfinite(system.constraint_jacobian(q)).all() for q in positions):
        _leave_out(system, positions, 0.0)


def _nodes_with_redundant_rows(system: System) -> Array:
    """The nodes of elimination whose constraints may follow from others: of loops, and of own constraints."""
    arrays = system.arrays
    return np.flatnonzero((arrays.reference > 0) | ((arrays.is_tree == 0) & (arrays.nodes[:, layout.NODE_ROWS] > 0)))


def _leave_out(system: System, positions: list[Array], t: float) -> None:
    """Set how many rows of every loop are left out, and its reference; nodes with masses have one only if rows are."""
    arrays, nodes = system.arrays, _nodes_with_redundant_rows(system)
    arrays.redundant[nodes] = np.min([_redundant_rows(system, nodes, q, t) for q in positions], axis=0)
    if not arrays.is_tree:
        nodes = np.flatnonzero(arrays.redundant)
        arrays.reference[:] = 0.0
    arrays.reference[nodes] = np.finfo(float).tiny  # nothing else is left out
    smallest = [_smallest_loop_pivots(system, nodes, q, t) for q in positions]
    arrays.reference[nodes] = np.maximum(np.max(smallest, axis=0), np.finfo(float).tiny)


def _redundant_rows(system: System, loops: Array, q: Array, t: float) -> Array:
    """How many rows of each of these nodes depend on those of nodes before, or on each other, at q."""
    arrays = system.arrays
    if arrays.is_tree and system.dimension + system.constraint_count > LARGE:
        arrays.redundant[loops] = -1
        kernels.factor_mass_saddle(arrays, system.work, t, q)
        return (system.node_widths - system.work.ranks)[loops]
    G = system.constraint_jacobian(q, t)
    node = arrays.row_nodes[:, 0]
    counts = []
    for loop in loops:
        is_tree = ~np.isin(node, loops)
        before, through = (_rank_of(G[is_tree | np.isin(node, loops[loops <= last])]) for last in (loop - 1, loop))
        counts.append(int(np.sum(node == loop)) - (through - before))
    return np.array(counts)


def _rank_of(G: Array) -> int:
    singular = np.linalg.svd(G, compute_uv=False)
    return int(np.sum(singular > RANK * singular.max(initial=0.0)))


def _smallest_loop_pivots(system: System, loops: Array, q: Array, t: float) -> Array:
    """About the smallest pivot of each of these nodes that is not left out, at q: of the largest entry of the inverse."""
    arrays, work = system.arrays, system.work
    if not kernels.factor_mass_saddle(arrays, work, t, q):
        return np.zeros(len(loops))  # the mass matrix is singular, which is told later
    found = []
    for loop in loops:
        width, at = int(system.node_widths[loop]), int(arrays.nodes[loop, layout.DIAGONAL])
        stride = WIDTH * int(arrays.nodes[loop, layout.NODE_LANES])
        scales = arrays.scales[arrays.nodes[loop, layout.NODE_START] :][:width]
        inverse = np.abs(work.saddle[at : at + width * stride].reshape(width, stride)[:, :width])
        inverse /= scales * scales[:, None]
        found.append(1.0 / float(inverse.max()) if work.ranks[loop] > 0 else 0.0)
    return np.array(found)


def _beside(system: System, q: Array, t: float, random: np.random.Generator) -> Array | None:
    """A position on the constraints near q, in a random direction along them; None if there is none."""
    v = random.standard_normal(system.dimension)
    if system.dimension + system.constraint_count <= LARGE:
        free = null_space(system.constraint_jacobian(q, t))
        direction = v @ free.T @ free
    elif kernels.solve_velocity(system.arrays, system.work, t, q, v):
        direction = system.work.solution[: system.dimension].copy()
    else:
        return None
    size = float(np.abs(direction).max(initial=0.0))
    try:
        return project_position(system, q + BESIDE * direction / size, t) if size > 1e-9 else None
    except ModelError:
        return None


def null_space(G: Array) -> Array:
    """An orthonormal basis of the velocities with G v = 0, as rows (n − rank G, n)."""
    _, singular, right = np.linalg.svd(G)
    return right[int(np.sum(singular > RANK * singular.max(initial=0.0))) :]


def is_nearly_singular(system: System, q: Array, t: float) -> bool:
    """Whether loops are near a position in which more of their constraints depend on each other than elsewhere."""
    if not np.any(system.arrays.reference > 0) or system.dimension + system.constraint_count > LARGE:
        return False
    return singularity(system, q, t) < NEARLY


def singularity(system: System, q: Array, t: float) -> float:
    """Smallest singular value of the constraint Jacobian that is not 0 everywhere, relative to the largest; 0 if singular."""
    singular = np.linalg.svd(system.constraint_jacobian(q, t), compute_uv=False)
    rank = int(np.sum(system.arrays.row_nodes[:, 0] >= 0) - system.arrays.redundant.sum())
    return float(singular[rank - 1] / singular[0]) if 0 < rank <= len(singular) else 1.0


def _check_quaternions(system: System, q: Array, t: float) -> None:
    """Refuse quaternions of a norm other than 1, but for rounding; g = (|a|² − 1)/2."""
    rows = np.flatnonzero(system.arrays.constraints[:, layout.CONSTRAINT_KIND] == layout.UNIT_QUATERNION)
    norms = np.sqrt(np.maximum(2 * system.constraint(q, t)[rows] + 1, 0.0)) if len(rows) else ()
    for row, norm in zip(rows, norms, strict=True):
        if not is_unit(norm):
            name = system.constraint_names[row].removesuffix(".norm")
            zero = "the zero quaternion; write for example 1, 0, 0, 0"
            found = f"one of norm {norm:.6g}; divide it by that" if norm**2 > ZERO else zero
            raise ModelError(f"initial_q: expected a unit quaternion (qw, qx, qy, qz) of {name}, found {found}")


def _moved(system: System, q: Array, v: Array, t: float, held: Array, project: bool) -> Start:
    if not system.constraint_count:
        return Start(q, v, q, 0.0, 0.0, 0.0)
    violation = float(np.abs(system.constraint(q, t)).max())
    moved = q
    if violation > CONSTRAINT_TOLERANCE:
        if not project:
            raise ModelError(
                f"initial_q: expected a position on the constraints, found |g| = {violation:.3g}, largest of "
                f"{_worst(system, system.constraint(q, t))}; give one, or let it be moved there by project: true"
            )
        moved = _project_position(system, q, t, held[0])
    rate = _rate(system, moved, v, t)
    scale = max(1.0, float(np.abs(v).max()))
    if rate.max() > CONSTRAINT_TOLERANCE * scale:
        if not project:
            raise ModelError(
                f"initial_v: expected a velocity along the constraints, found |G v + ∂g/∂t| = {rate.max():.3g}, largest of "
                f"{_worst(system, rate)}"
            )
        v = _project_velocity(system, moved, v, t, held[1])
    return Start(moved, v, q, violation, float(rate.max()), float(np.abs(moved - q).max()))


# --------------------------------------------------------------------------------------- the spanning tree


def _starts_from_tree(system: System) -> bool:
    """Whether a system's start is found in the coordinates of the spanning tree: it has loops, and other coordinates."""
    if system.homes is None or system.model is None:
        return False
    model, plan, roots = system.model, system.homes.plan, system.homes.roots
    tied = {branch.outer: branch for branch in plan.branches if not is_backward(model, branch, plan)}
    return bool(plan.chords or model.constraints) and any(
        body in tied and not (is_point and isinstance(model.joints[tied[body].joint], el.Free))
        for body, (_, is_point) in roots.items()
    )


def tree_system(system: System) -> System:
    """The same model with all joints of the spanning tree as coordinates."""
    assert system.model is not None and system.homes is not None
    model, chords = system.model.resolved(), system.homes.plan.chords
    joints = {name: each.replaced({"cut": name in chords or None}) for name, each in model.joints.items()}
    return assemble(model.replaced({"joints": joints, "formulation": "tree"}))


def from_tree(system: System, tree: System, start: Start) -> tuple[Array, Array]:
    """Coordinates and velocities of a system from those of the spanning tree."""
    assert system.model is not None and system.homes is not None and tree.homes is not None
    states = _joint_states(tree, start)
    curves = {name: (float(start.q[i]), float(start.v[i])) for name, i in tree.homes.curves.items()}
    return state_from_joints(system.model.resolved(), system.homes, states, curves, system.dimension)


def _joint_states(tree: System, start: Start) -> dict[str, tuple[Array, Array]]:
    """Coordinates and rates of every joint that has coordinates in a system."""
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


def _held(system: System) -> Array:
    """Which coordinates, and which of their rates, the model wants kept as given, (2, n)."""
    held = np.zeros((2, system.dimension), bool)
    if system.model is None or system.homes is None:
        return held
    for name, initial in system.model.initial.items():
        if initial.hold and name in system.homes.joints:
            first = system.homes.joints[name]
            held[:, first : first + len(system.model.joints[name].coordinate_names)] = True
    for name, index in system.homes.curves.items():
        held[1, index] = system.model.constraints[name].start_rate is not None  # type: ignore[union-attr]
    return held


def _check_chords(system: System, start: Start) -> None:
    """What the model gives for joints that close loops must be what follows from the other joints."""
    assert system.model is not None and system.homes is not None
    model, plan = system.model.resolved(), system.homes.plan
    given = [name for name in plan.chords if name in model.initial and not model.initial[name].hold]
    if not given or system.homes.roots:
        return  # the system of the spanning tree was asked before
    motions = body_motions(model, plan, _joint_states(system, start))
    for name in given:
        joint, initial = model.joints[name], model.initial[name]
        found = nearest_joint_state(joint, motions[joint.parent].inverse().then(motions[joint.child]))
        for key, value in (("position", found[0]), ("velocity", found[1])):
            wanted: Any = getattr(initial, key)
            if (
                wanted is not None
                and len(wanted) == len(value)
                and not np.allclose(wanted, value, rtol=1e-6, atol=1e-6)
            ):
                raise ModelError(
                    f"initial.{name}.{key}: expected what follows from the other joints of the loop "
                    f"{loop_of(joint, plan)}, {np.round(value, 9).tolist()}, found {list(wanted)}; remove it, or write "
                    "hold: true to keep it and move the others"
                )


# ------------------------------------------------------------------------------------------- projection


def project_position(system: System, q: Array, t: float = 0.0) -> Array:
    """The position on the constraints nearest to q (n,), in the metric of the mass matrix there.

    Raises
    ------
    ModelError
        If none is found.
    """
    return _project_position(system, q, t, np.zeros(system.dimension, bool))


def _rate(system: System, q: Array, v: Array, t: float) -> Array:
    """|G v + ∂g/∂t|, (k,)."""
    _, G, g_t = system._constraint_entries(q, t)
    rate = g_t.copy()
    rows = np.repeat(np.arange(system.constraint_count), system.arrays.constraints[:, layout.ENTRIES])
    np.add.at(rate, rows, G * v[system.arrays.entries])
    return np.abs(rate)


def _metric(M: Array) -> Array:
    """L with L Lᵀ = M, where massless coordinates have a little mass."""
    return np.linalg.cholesky(M + 1e-9 * max(float(np.diag(M).max(initial=0.0)), 1e-300) * np.eye(len(M)))


def _nearest(L: Array, G: Array, left: Array, target: Array) -> Array:
    """The δ nearest to `target`, in the metric L Lᵀ, with G δ = left (least squares where that cannot be)."""
    scaled = np.linalg.solve(L, G.T).T  # G L⁻ᵀ
    y = L.T @ target
    return np.linalg.solve(L.T, y + np.linalg.pinv(scaled, rcond=1e-8) @ (left - scaled @ y))


def _project_position(system: System, q0: Array, t: float, held: Array) -> Array:
    """The position on the constraints nearest to q0 in the metric of M(q0); along a quaternion nothing has mass."""
    if system.arrays.is_open:
        q, places = q0.copy(), system.arrays.entries.reshape(-1, 4)
        q[places] /= np.linalg.norm(q0[places], axis=1, keepdims=True)
        return q
    if system.dimension + system.constraint_count > LARGE and not held.any():
        return _project_large(system, q0, t)
    free = ~held
    L = _metric(system.mass_matrix(q0, t)[np.ix_(free, free)])
    q = _newton(system, q0, q0, t, free, L, NEAR)
    if _is_violated(system, q, t):
        q = q0
    q = _newton(system, q, None, t, free, L, 1e-15)
    if _is_violated(system, q, t):
        closest = _least_squares(system, q0, t, free)
        q = _newton(system, closest, None, t, free, L, 1e-15)
        if _is_violated(system, q, t):
            q = closest
    _check_closed(system, q, t)
    return q


def _check_finite(system: System, g: Array, G: Array, t: float) -> None:
    """An error where constraints are looked for a position at which they are not defined."""
    finite = np.isfinite(g) & np.isfinite(G).all(axis=1)
    if not finite.all():
        name = system.constraint_names[int(np.argmin(finite))]
        raise ModelError(
            f"{system.name}: expected constraints that are finite numbers, found that {name} is none at t = {t:g} s, near the "
            "start; start nearer, by initial_q"
        )


def _is_violated(system: System, q: Array, t: float) -> bool:
    return float(np.abs(system.constraint(q, t)).max()) > CONSTRAINT_TOLERANCE


def _newton(system: System, q: Array, target: Array | None, t: float, free: Array, L: Array, near: float) -> Array:
    """Newton's method for the constraints, and for the position on them nearest to the target, if there is one."""
    q = q.copy()
    shortest, since = np.inf, 0
    for _ in range(NEWTON_STEPS):
        g, G, _ = system._constraints(q, t)
        _check_finite(system, g, G, t)
        pull = np.zeros(free.sum()) if target is None else (target - q)[free]
        delta = _nearest(L, G[:, free], -g, pull)
        longest = float(np.abs(delta).max(initial=0.0))
        q[free] += delta * min(1.0, LONGEST_STEP / max(longest, 1e-300))
        shortest, since = (longest, 0) if longest < shortest else (shortest, since + 1)
        if longest < near * max(1.0, float(np.abs(q).max(initial=0.0))) or since > PATIENCE:
            break
    return q


def _least_squares(system: System, q0: Array, t: float, free: Array) -> Array:
    """The position of least |g| that is found from q0 or from random places near it, where Newton's method does not end."""
    from scipy.optimize import least_squares

    def at(x: Array) -> Array:
        q = q0.copy()
        q[free] = x
        return q

    random, found = np.random.default_rng(6), []
    for reach in RETRIES if free.any() else ():
        result = least_squares(
            lambda x: system.constraint(at(x), t),
            q0[free] + reach * random.standard_normal(free.sum()),
            jac=lambda x: system.constraint_jacobian(at(x), t)[:, free],
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
        )
        found.append((float(result.cost), at(result.x)))
        if np.abs(result.fun).max() <= CONSTRAINT_TOLERANCE:
            break
    return min(found, key=lambda each: each[0])[1] if found else q0


def _project_large(system: System, q0: Array, t: float) -> Array:
    """A position on the constraints near q0: every step the nearest in the metric of M, along the graph."""
    q, n = q0.copy(), system.dimension
    for _ in range(NEWTON_STEPS):
        work = system.work
        if not kernels.factor_mass_saddle(system.arrays, work, t, q):
            break
        work.solution[:n], work.solution[n:] = 0.0, -work.g
        kernels.solve_mass_saddle(system.arrays, work)
        delta = work.solution[:n] * min(1.0, LONGEST_STEP / max(float(np.abs(work.solution[:n]).max()), 1e-300))
        q += delta
        if np.abs(delta).max() < 1e-15 * max(1.0, float(np.abs(q).max())):
            break
    _check_closed(system, q, t)
    return q


def _project_velocity(system: System, q: Array, v0: Array, t: float, held: Array) -> Array:
    """The velocity along the constraints nearest to v0 in the metric of M."""
    n, k = system.dimension, system.constraint_count
    if n + k > LARGE and not held.any():
        work, p = system.work, system.momentum(q, v0, t)
        is_regular = kernels.solve_velocity(system.arrays, work, t, q, p)
        v = work.solution[:n].copy() if is_regular else v0
    else:
        free = ~held
        _, G, g_t = system._constraints(q, t)
        L = _metric(system.mass_matrix(q, t)[np.ix_(free, free)])
        v = v0.copy()
        v[free] = _nearest(L, G[:, free], -g_t - G[:, held] @ v0[held], v0[free])
    rate = _rate(system, q, v, t)
    if rate.max() > CONSTRAINT_TOLERANCE * max(1.0, float(np.abs(v).max())):
        raise ModelError(
            f"{_where(system, rate)}: expected constraints that some velocity satisfies, found {rate.max():.3g} left; "
            "the motions prescribed contradict each other, or values that are held do"
        )
    return v


# --------------------------------------------------------------------------------------------- messages


def _owner(system: System, row: int) -> str:
    """The joint, element or body that a constraint belongs to."""
    name = system.constraint_names[row]
    known = (*system.model.joints, *system.model.constraints) if system.model is not None else ()
    return next((each for each in (name, name.rsplit(".", 1)[0]) if each in known), name)


def _worst(system: System, values: Array) -> str:
    return _owner(system, int(np.argmax(np.abs(values))))


def _where(system: System, values: Array) -> str:
    owner = _worst(system, values)
    if system.model is None:
        return owner
    return f"joints.{owner}" if owner in system.model.joints else f"constraints.{owner}"


def _check_closed(system: System, q: Array, t: float) -> None:
    """An error where constraints are left that no position near satisfies."""
    g = system._constraint_entries(q, t)[0]
    if np.abs(g).max() <= CONSTRAINT_TOLERANCE:
        return
    if system.model is None:
        rows = [
            name for name, value in zip(system.constraint_names, g, strict=True) if abs(value) > CONSTRAINT_TOLERANCE
        ]
        raise ModelError(
            f"{system.name}: expected constraints that can be satisfied, found |g| = {np.abs(g).max():.3g} left of "
            f"{', '.join(rows)}; if they do not contradict each other, start nearer, by initial_q"
        )
    owner, where = _worst(system, g), _where(system, g)
    own = np.array([_owner(system, i) == owner for i in range(len(g))])
    lengths = own & np.isin(system.arrays.constraints[:, layout.CONSTRAINT_KIND], (layout.ALONG, layout.DISTANCE))
    left = f"{np.linalg.norm(g[lengths]):.3g} m" if lengths.any() else f"{np.linalg.norm(g[own]):.3g}"
    loop = ""
    if system.homes is not None and owner in system.homes.plan.chords:
        loop = f" in the loop {loop_of(system.model.joints[owner], system.homes.plan)}"
    raise ModelError(
        f"{where}: expected constraints that can be satisfied, found {left} left{loop}; check lengths, places, what is "
        "held or prescribed, or start nearer"
    )


# --------------------------------------------------------------------------------------------- regularity


def _check_regular(system: System, q: Array, t: float) -> None:
    """The mass matrix, on the constraints, must be positive definite.

    Its condition number says nothing: that of a chain grows as the fourth power of its length. The pivots do: eliminated from
    the leaves to the root, each is the inertia that a joint feels when those after it are free, against that when they are
    locked.
    """
    if system.dimension + system.constraint_count > LARGE:
        if not kernels.solve_velocity(system.arrays, system.work, t, q, np.zeros(system.dimension)):
            raise ModelError(
                "joints: expected a regular mass matrix at the start, found a singular one; some body lacks mass or inertia"
            )
        return
    M, basis = _free_mass(system, q, t)
    if not len(M):
        if system.is_driven:
            return  # it moves as it is prescribed
        raise ModelError(
            "joints: expected a system that can move, found no degree of freedom: the constraints hold every coordinate; "
            "remove a joint or a constraint"
        )
    if _smallest_pivot(M) <= SINGULAR:
        raise ModelError(_singular_message(system, M, basis))


def _free_mass(system: System, q: Array, t: float) -> tuple[Array, Array]:
    """The mass matrix Bᵀ M B of velocities B u along the constraints, and their basis B (n, n − rank G)."""
    M, basis = system.mass_matrix(q, t), np.eye(system.dimension)
    if system.constraint_count:
        basis = null_space(system.constraint_jacobian(q, t)).T
        size = np.abs(M).max()
        M = basis.T @ M @ basis
        M[np.abs(M) <= BASIS_ROUNDING**2 * size] = 0.0  # what the basis's rounding leaves of a motion without inertia
    return M, basis


def least_inertia(system: System, q: Array, t: float) -> float:
    """Least eigenvalue of the mass matrix of the velocities along the constraints; infinite if there are none."""
    return float(min(np.linalg.eigvalsh(_free_mass(system, q, t)[0]), default=np.inf))


def weightless_near(system: System, start: tuple[Array, float], q: Array, move: Array, t: float) -> list[str]:
    """Joints, bodies or coordinates of what moves almost without inertia at q, or after at most two of a step's moves, but not at
    the start, a position and its time: near a dead point of a drive without mass, or gimbal lock.
    """
    if system.dimension + system.constraint_count > LARGE:
        return []
    M, basis = _free_mass(system, *start)
    least = NEARLY * min(np.linalg.eigvalsh(M), default=0.0)
    for part in np.linspace(0.0, 2.0, 9):
        M, basis = _free_mass(system, q + part * move, t)
        inertias, directions = np.linalg.eigh(M)
        if min(inertias, default=np.inf) < least:
            direction = np.abs(basis @ directions[:, 0])
            names = [system.coordinate_names[i] for i in np.flatnonzero(direction > 0.1 * direction.max())]
            return list(dict.fromkeys(name.rsplit(".", 1)[0] for name in names))
    return []


def _smallest_pivot(M: Array) -> float:
    """Smallest pivot of symmetric matrices (…, n, n), eliminated from the last row to the first, relative to the diagonal."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    if diagonal.min(initial=1.0) <= 0:
        return 0.0
    try:
        factor = np.linalg.cholesky(M[..., ::-1, ::-1])
    except np.linalg.LinAlgError:
        return 0.0
    pivots = np.diagonal(factor, axis1=-2, axis2=-1) ** 2
    return float(np.min(pivots / diagonal[..., ::-1], initial=1.0))


def _singular_message(system: System, M: Array, basis: Array) -> str:
    """Which coordinates move without inertia, and what to do."""
    scale = np.sqrt(np.maximum(np.diag(M), 1e-300))
    vectors = np.linalg.eigh(M / scale[:, None] / scale)[1] / scale[:, None]
    direction = np.abs(basis @ vectors[:, 0])
    names = [system.coordinate_names[i] for i in np.flatnonzero(direction > 0.1 * direction.max())]
    if system.model is None:
        found = f"one by which motion along {' and '.join(names)} has no kinetic energy greater than 0"
        return f"mass_matrix: expected a positive definite matrix at the start, found {found}"
    owners = sorted({name.split(".")[0] for name in names})
    joints = [owner for owner in owners if owner in system.model.joints]
    is_curve = len(names) == 1 and owners[0] in system.model.constraints
    where = f"joints.{joints[0]}" if joints else f"{'constraints' if is_curve else 'bodies'}.{owners[0]}"
    is_euler = any(
        isinstance(system.model.joints[joint], el.Ball | el.Free)
        and system.model.joints[joint].coordinates != "quaternion"  # type: ignore[union-attr]
        for joint in joints
    )
    if is_curve:
        remedy = "the curve has no direction there; choose another start, or another parameter"
    elif len(names) == 1:
        remedy = "no mass or inertia moves along it; give the body some, or remove the joint"
    elif is_euler:
        remedy = "this is gimbal lock; write coordinates: quaternion, or another sequence of Euler angles"
    elif owners == joints and len(joints) == 1:
        remedy = "no inertia turns about one axis there; give the body some about it, or take a universal joint"
    else:
        remedy = "they move the same masses in the same way; give what is between them some, or remove one"
    return f"{where}: expected a regular mass matrix at the start, found a singular one, along {' and '.join(names)}; {remedy}"


# ----------------------------------------------------------------------------------------------- mobility


def find_mobility(system: System) -> Mobility:
    """Degrees of freedom and redundant constraints at the start; of a model, in the coordinates of its spanning tree.

    Raises
    ------
    ModelError
        If the start cannot be moved onto the constraints.
    """
    n, k = system.dimension, system.constraint_count
    has_loops = system.homes is None or bool(system.homes.plan.chords or (system.model and system.model.constraints))
    if not has_loops or not k:
        return Mobility(n - k, 0, (), False)
    if _starts_from_tree(system):
        return find_mobility(tree_system(system))
    q = _moved(system, system.initial_q, system.initial_v, 0.0, _held(system), True).q
    G = system.constraint_jacobian(q)
    rank, origins = _rank(system, G)
    return Mobility(n - rank, k - rank, origins, _nearby_rank(system, q, G) > rank)


def _rank(system: System, G: Array) -> tuple[int, tuple[str, ...]]:
    """Rank of the constraint Jacobian, and the owners of the rows that depend on others."""
    left, singular, _ = np.linalg.svd(G)
    rank = int(np.sum(singular > RANK * singular.max(initial=0.0)))
    rows = np.flatnonzero(np.abs(left[:, rank:]).max(axis=1, initial=0.0) > 1e-6)
    return rank, tuple(dict.fromkeys(_owner(system, int(i)) for i in rows))


def _nearby_rank(system: System, q: Array, G: Array) -> int:
    """Largest rank of the constraint Jacobian at some positions near q on the constraints."""
    random, largest = np.random.default_rng(0), 0
    free = null_space(G)
    for _ in range(3):
        away = q + 1e-3 * random.standard_normal(len(free)) @ free if len(free) else q
        try:
            near = project_position(system, away)
        except ModelError:
            continue
        largest = max(largest, _rank(system, system.constraint_jacobian(near))[0])
    return largest
