"""States moved onto the constraints, in coordinates that the constraints that are violated leave no choice but to change.

Position: the q nearest to the given one in the metric of M, by Newton's method on

    min 1/2 (q − q₀)ᵀ M (q − q₀)  with  g(q) = 0:     [M Gᵀ; G 0] (δ, μ) = (−M (q − q₀), −g),   q ← q + δ

and the velocity nearest to the given one with G v + ∂g/∂t = 0. Where constraints are redundant, δ is the least-squares solution.
Coordinates that are fixed keep their values, and so do all that no chain of constraints, over others that are free, ties to
one that is violated: the mass matrix alone moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.mechanics import lagrangian as kernels
from mbvi.model.graph import Plan, loop_of
from mbvi.model.model import Model
from mbvi.model.rounding import ROUNDING
from mbvi.system.attitudes import AT_ANOTHER_ROOT, Attitudes
from mbvi.system.base import BaseSystem

Array = np.ndarray
CONSTRAINT_TOLERANCE = 1e-9
POLISHED = 1e-14
NEWTON_STEPS = 200
NEAR = 1e-9  # relative step from which on only the constraints are solved further
PATIENCE = 15  # steps in a row that may be no shorter than one before
RETRIES = (0.0, 0.01, 0.1)  # how far away positions on the constraints are looked for again [rad, m, –]
LONGEST_STEP = 0.3  # change of a coordinate in one step [rad, m, –]
LARGE = 600  # coordinates and constraints from which dense matrices take too long
NOTHING = 1e-9  # entry of the constraint Jacobian, relative to the largest of its row, that ties nothing


def project_position(system: BaseSystem, q: Array, t: float = 0.0, fixed: Array | None = None) -> Array:
    """The position on the constraints nearest to q (n,), in the metric of the mass matrix there.

    Parameters
    ----------
    system : BaseSystem
    q : (n,)
        Coordinates, of which those that may stay do.
    t : float
        Time [s].
    fixed : (n,) of bool, optional
        Coordinates that must stay.

    Raises
    ------
    ModelError
        If none is found.
    """
    fixed = np.zeros(system.dimension, bool) if fixed is None else fixed
    if system.arrays.is_open:
        return _normalized(system, q)
    attitudes, found = Attitudes(system), q
    for free in _choices(system, q, t, fixed, violated_rows(system, attitudes, q, t), of_rates=False):
        found = _nearest_position(system, attitudes, q, t, free, fixed)
        if not len(violated_rows(system, attitudes, found, t)):
            break
    _check_closed(system, attitudes, found, t)
    return found


def violated_rows(system: BaseSystem, attitudes: Attitudes, q: Array, t: float) -> Array:
    """The constraints that q violates, or where directions stand at a root that is not meant."""
    g = ~(np.abs(system.constraint(q, t)) <= CONSTRAINT_TOLERANCE)  # also what is not a number
    g[attitudes.rows(attitudes.angles(q) > AT_ANOTHER_ROOT)] = True
    return np.flatnonzero(g)


def polished(system: BaseSystem, q: Array, t: float, fixed: Array) -> Array:
    """The position nearest to q, which is almost on the constraints, after a step of Newton's method if that leaves less."""
    g = system.constraint(q, t)
    if system.arrays.is_open or np.abs(g).max(initial=0.0) <= POLISHED or system.dimension + len(g) > LARGE:
        return q
    free = _tied(system, q, t, fixed, np.abs(g) > POLISHED, of_rates=False)
    L = metric(system.mass_matrix(q, t)[np.ix_(free, free)])
    of_places = np.setdiff1d(np.arange(len(g)), system.arrays.rates)
    nearer = q.copy()
    nearer[free] += nearest_step(
        L, system._constraints(q, t)[1][np.ix_(of_places, free)], -g[of_places], np.zeros(free.sum())
    )
    return nearer if np.abs(system.constraint(nearer, t)).max() < np.abs(g).max() else q


def _normalized(system: BaseSystem, q0: Array) -> Array:
    q, places = q0.copy(), system.arrays.entries.reshape(-1, 4)
    q[places] /= np.linalg.norm(q0[places], axis=1, keepdims=True)
    return q


def _choices(system: BaseSystem, q: Array, t: float, fixed: Array, rows: Array, of_rates: bool) -> Iterator[Array]:
    """Which coordinates, or their rates, may move: at first those that constraints tie to some that are violated, then all."""
    tied = _tied(system, q, t, fixed, rows, of_rates)
    yield tied
    if not np.array_equal(tied, ~fixed):
        yield ~fixed


def _tied(system: BaseSystem, q: Array, t: float, fixed: Array, rows: Array, of_rates: bool) -> Array:
    """The coordinates (n,) that are not fixed and that a chain of constraints, or of those on positions, ties to some rows."""
    G, coordinate = np.abs(system._constraint_entries(q, t)[1]), system.arrays.entries
    row = np.repeat(np.arange(system.constraint_count), system.arrays.constraints[:, layout.ENTRIES])
    largest = np.zeros(system.constraint_count)
    with np.errstate(invalid="ignore"):  # constraints that are not defined here tie all that they hold
        np.maximum.at(largest, row, G)
    ties = ~fixed[coordinate] & ~(NOTHING * largest[row] >= G)
    if not of_rates:
        ties &= ~np.isin(row, system.arrays.rates)
    row, coordinate = row[ties], coordinate[ties]
    reached, tied = np.zeros(system.constraint_count, bool), np.zeros(system.dimension, bool)
    reached[rows] = True
    while not tied[coordinate[reached[row]]].all():
        tied[coordinate[reached[row]]] = True
        reached[row[tied[coordinate]]] = True
    return tied


def metric(M: Array) -> Array:
    """L with L Lᵀ = M, where massless coordinates have a little mass."""
    return np.linalg.cholesky(M + 1e-9 * max(float(np.diag(M).max(initial=0.0)), 1e-300) * np.eye(len(M)))


def nearest_step(L: Array, G: Array, left: Array, target: Array) -> Array:
    """The δ nearest to `target`, in the metric L Lᵀ, with G δ = left (least squares where that cannot be)."""
    scaled = np.linalg.solve(L, G.T).T  # G L⁻ᵀ
    y = L.T @ target
    return np.linalg.solve(L.T, y + np.linalg.pinv(scaled, rcond=1e-8) @ (left - scaled @ y))


def _nearest_position(
    system: BaseSystem, attitudes: Attitudes, q0: Array, t: float, free: Array, fixed: Array
) -> Array:
    """The position on the constraints nearest to q0 where only some coordinates are free, or that which violates them least."""
    if _is_large(system, fixed):
        return _project_large(system, attitudes, q0, t, free)
    L = metric(system.mass_matrix(q0, t)[np.ix_(free, free)])
    nearest = _newton(system, attitudes, q0, q0, t, free, L, NEAR)
    if len(violated_rows(system, attitudes, nearest, t)):
        nearest = q0
    tried: list[Array] = []
    for start in chain([nearest], _starts(system, q0, t, free)):
        q = _newton(system, attitudes, start, None, t, free, L, 1e-15)
        if not len(violated_rows(system, attitudes, q, t)):
            return q
        tried += [q, start]
    return min(tried, key=lambda each: float(np.linalg.norm(system.constraint(each, t))))


def _is_large(system: BaseSystem, fixed: Array) -> bool:
    """Whether to go along the graph: dense matrices take too long, and what is fixed is so by constraints of its own."""
    rows = system.arrays.constraints
    alone = rows[(rows[:, layout.CONSTRAINT_KIND] == layout.COORDINATES) & (rows[:, layout.ENTRIES] == 1)]
    held = fixed.copy()
    held[system.arrays.entries[alone[:, layout.FIRST_ENTRY]]] = False
    return system.dimension + system.constraint_count > LARGE and not held.any()


def _check_finite(system: BaseSystem, g: Array, G: Array, t: float) -> None:
    """An error where constraints are looked for a position at which they are not defined."""
    finite = np.isfinite(g) & np.isfinite(G).all(axis=1)
    if not finite.all():
        name = system.constraint_names[int(np.argmin(finite))]
        raise ModelError(
            f"{system.name}: expected constraints that are finite numbers, found that {name} has no finite value at t = {t:g} s, "
            "near the start; start nearer, by initial_q"
        )


def _newton(
    system: BaseSystem,
    attitudes: Attitudes,
    q: Array,
    target: Array | None,
    t: float,
    free: Array,
    L: Array,
    near: float,
) -> Array:
    """Newton's method for the constraints, and for the position on them nearest to the target, if there is one."""
    q = q.copy()
    shortest, since = np.inf, 0
    for _ in range(NEWTON_STEPS):
        g, G = attitudes.turned(q)._position_constraints(q, t)
        _check_finite(system, g, G, t)
        pull = np.zeros(free.sum()) if target is None else (target - q)[free]
        delta = nearest_step(L, G[:, free], -g, pull)
        longest = float(np.abs(delta).max(initial=0.0))
        q[free] += delta * min(1.0, LONGEST_STEP / max(longest, 1e-300))
        shortest, since = (longest, 0) if longest < shortest else (shortest, since + 1)
        if longest < near * max(1.0, float(np.abs(q).max(initial=0.0))) or since > PATIENCE:
            break
    return q


def _starts(system: BaseSystem, q0: Array, t: float, free: Array) -> Iterator[Array]:
    """Where Newton's method is tried again: at random places near q0, and at the positions of least |g| found from there."""
    from scipy.optimize import least_squares

    def at(x: Array) -> Array:
        q = q0.copy()
        q[free] = x
        return q

    random = np.random.default_rng(6)
    for reach in RETRIES if free.any() else ():
        beside = q0[free] + reach * random.standard_normal(free.sum())
        if reach:
            yield at(beside)
        result = least_squares(
            lambda x: system.constraint(at(x), t),
            beside,
            jac=lambda x: system._position_constraints(at(x), t)[1][:, free],
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
        )
        yield at(result.x)


def _project_large(system: BaseSystem, attitudes: Attitudes, q0: Array, t: float, free: Array) -> Array:
    """A position on the constraints near q0: every step the nearest in the metric of M, along the graph."""
    q, n = q0.copy(), system.dimension
    for _ in range(NEWTON_STEPS):
        work, turned = system.work, attitudes.turned(q)
        if not kernels.factor_mass_saddle(turned.arrays, work, t, q):
            break
        work.solution[:n], work.solution[n:] = 0.0, -work.g
        kernels.solve_mass_saddle(turned.arrays, work)
        delta = np.where(free, work.solution[:n], 0.0)  # what is not tied to these constraints follows the masses alone
        delta *= min(1.0, LONGEST_STEP / max(float(np.abs(delta).max()), 1e-300))
        q += delta
        if np.abs(delta).max() < 1e-15 * max(1.0, float(np.abs(q).max())):
            break
    return q


def rate_of_constraints(system: BaseSystem, q: Array, v: Array, t: float) -> Array:
    """|G v + ∂g/∂t|, (k,)."""
    _, G, g_t = system._constraint_entries(q, t)
    rate = g_t.copy()
    rows = np.repeat(np.arange(system.constraint_count), system.arrays.constraints[:, layout.ENTRIES])
    np.add.at(rate, rows, G * v[system.arrays.entries])
    return np.abs(rate)


def project_velocity(system: BaseSystem, q: Array, v: Array, t: float, fixed: Array) -> Array:
    """The velocity along the constraints nearest to v in the metric of M, where some rates are fixed.

    Raises
    ------
    ModelError
        If there is none.
    """
    found = v
    for free in _choices(system, q, t, fixed, violated_rates(system, q, v, t), of_rates=True):
        found = _nearest_velocity(system, q, v, t, free, fixed)
        if not len(violated_rates(system, q, found, t)):
            return found
    rate = rate_of_constraints(system, q, found, t)
    raise ModelError(
        f"{where(system, rate)}: expected constraints that some velocity satisfies, found {rate.max():.3g} left; "
        "the motions prescribed contradict each other, or values that are held do"
    )


def violated_rates(system: BaseSystem, q: Array, v: Array, t: float) -> Array:
    """The constraints along which a velocity does not lead."""
    bound = CONSTRAINT_TOLERANCE * max(1.0, float(np.abs(v).max(initial=0.0)))
    return np.flatnonzero(rate_of_constraints(system, q, v, t) > bound)


def _nearest_velocity(system: BaseSystem, q: Array, v0: Array, t: float, free: Array, fixed: Array) -> Array:
    v = v0.copy()
    if _is_large(system, fixed):
        if kernels.solve_velocity(system.arrays, system.work, t, q, system.momentum(q, v0, t)):
            v[free] = system.work.solution[: system.dimension][free]
        return v
    _, G, g_t = system._constraints(q, t)
    L = metric(system.mass_matrix(q, t)[np.ix_(free, free)])
    v[free] = nearest_step(L, G[:, free], -g_t - G[:, ~free] @ v0[~free], v0[free])
    return v


# --------------------------------------------------------------------------------------------- messages


def owner_of(system: BaseSystem, row: int) -> str:
    """The joint, element or body that a constraint belongs to."""
    name = system.constraint_names[row]
    known = (*system.model.joints, *system.model.constraints) if system.model is not None else ()
    return next((each for each in (name, name.rsplit(".", 1)[0]) if each in known), name)


def worst(system: BaseSystem, values: Array) -> str:
    """The owner of the constraint that has the largest of some values."""
    return owner_of(system, int(np.argmax(np.abs(values))))


def where(system: BaseSystem, values: Array) -> str:
    """The owner that `worst` finds, by the keys that lead there in a model."""
    owner = worst(system, values)
    if system.model is None:
        return owner
    return f"joints.{owner}" if owner in system.model.joints else f"constraints.{owner}"


def _check_closed(system: BaseSystem, attitudes: Attitudes, q: Array, t: float) -> None:
    """An error where constraints are left that no position near satisfies."""
    g = system.constraint(q, t)
    if np.abs(g).max(initial=0.0) <= CONSTRAINT_TOLERANCE:
        _check_turned(system, attitudes, q)
        return
    if system.model is None:
        rows = [
            name for name, value in zip(system.constraint_names, g, strict=True) if abs(value) > CONSTRAINT_TOLERANCE
        ]
        raise ModelError(
            f"{system.name}: expected constraints that can be satisfied, found |g| = {np.abs(g).max():.3g} left of "
            f"{', '.join(rows)}; if they do not contradict each other, start nearer, by initial_q"
        )
    owner = worst(system, g)
    left, unit = _left(system, attitudes, q, g, np.array([owner_of(system, i) == owner for i in range(len(g))]))
    remedy = "check lengths, places, axes and orientations, what is held or prescribed, or start nearer"
    if system.homes is not None:
        remedy = rounded_numbers(system.model.resolved(), system.homes.plan, owner, left, unit) or remedy
    raise ModelError(
        f"{where(system, g)}: expected constraints that can be satisfied, found {f'{left:.3g} {unit}'.strip()} left"
        f"{_loop(system, owner)}; {remedy}"
    )


def _left(system: BaseSystem, attitudes: Attitudes, q: Array, g: Array, own: Array) -> tuple[float, str]:
    """How far constraints of one owner are from being satisfied: a length, or else an angle, or else a coordinate's value."""
    arrays = system.arrays
    lengths = own & np.isin(arrays.constraints[:, layout.CONSTRAINT_KIND], (layout.ALONG, layout.DISTANCE))
    if np.abs(g[lengths]).max(initial=0.0) > CONSTRAINT_TOLERANCE:
        return float(np.linalg.norm(g[lengths])), "m"
    angles = attitudes.angles(q)[own[attitudes.first]]
    if len(angles):
        return float(np.rad2deg(angles.max())), "deg"
    first = arrays.constraints[np.argmax(np.where(own, np.abs(g), 0.0)), layout.FIRST_ENTRY]
    unit = system.coordinate_units[arrays.entries[first]]
    left = float(np.linalg.norm(g[own]))
    return (float(np.rad2deg(left)), "deg") if unit == "rad" else (left, unit.replace("-", ""))


def rounded_numbers(model: Model, plan: Plan, owner: str, left: float, unit: str) -> str:
    """A remark that rounded numbers may leave a loop open that far, and what to do about it; empty if they leave less."""
    size = _loop_size(model, plan, owner) if unit == "m" else np.rad2deg(1.0)
    if unit not in ("m", "deg") or left > ROUNDING * size:
        return ""
    return (
        "numbers rounded to some digits may leave as much: write them with all digits, or as expressions, "
        "for example sin(20 deg) or 2*pi/3"
    )


def _loop_size(model: Model, plan: Plan, owner: str) -> float:
    """How long the bodies are together, from joint to joint, of the loop that a joint closes, or else of the model [m]."""
    inward, names = {branch.outer: branch for branch in plan.branches}, {owner}
    if owner in model.joints:
        for body in (model.joints[owner].parent, model.joints[owner].child):
            path = set()
            while body in inward:
                path.add(inward[body].joint)
                body = inward[body].inner
            names ^= path  # what both paths have is outside the loop
    else:
        names = set(model.joints)
    lengths = (place for name in names for place in (model.joints[name].position, model.joints[name].offset))
    return float(sum(np.linalg.norm(place) for place in lengths))


def _loop(system: BaseSystem, owner: str) -> str:
    if system.homes is None or system.model is None or owner not in system.homes.plan.chords:
        return ""
    return f" in the loop {loop_of(system.model.joints[owner], system.homes.plan)}"


def _check_turned(system: BaseSystem, attitudes: Attitudes, q: Array) -> None:
    """An error where directions stand at a root of their constraints that is not meant, and none near is."""
    angles = attitudes.angles(q)
    if angles.max(initial=0.0) <= AT_ANOTHER_ROOT:
        return
    values = np.zeros(system.constraint_count)
    values[attitudes.first] = angles
    axes = "frames" if attitudes.count[np.argmax(angles)] == 3 else "axes"
    raise ModelError(
        f"{where(system, values)}: expected {axes} that can be turned alike, found {np.rad2deg(angles.max()):.3g} deg left"
        f"{_loop(system, worst(system, values))}; check axes and orientations, what is held or prescribed, or start nearer"
    )
