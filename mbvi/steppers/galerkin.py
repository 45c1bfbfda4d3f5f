"""Galerkin schemes, the variational integrators: what does their steps, and why a step failed."""

from __future__ import annotations

import numpy as np

from mbvi.errors import KEPT
from mbvi.kernels import layout
from mbvi.kernels.galerkin import tolerances, workspace
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.audit import Audit
from mbvi.steppers.branches import BranchWatch
from mbvi.steppers.carried import Carried, carried
from mbvi.steppers.loop import AHEAD, REASONS, Stepper
from mbvi.steppers.parts import Steps, comes_near_singular, start_velocity
from mbvi.steppers.run import Run
from mbvi.system.causes import PULLEY, almost_no_inertia, force_without_value, rope_without_direction
from mbvi.system.driven import driven_names, is_in_reach
from mbvi.system.euler_angles import joints_in_gimbal_lock
from mbvi.system.feedback import without_value
from mbvi.system.redundancy import is_nearly_singular
from mbvi.system.regularity import weightless_near
from mbvi.system.scheme import scheme_arrays
from mbvi.system.system import System

LONG_CHAIN = 20  # bodies from which another formulation is proposed where steps fail
MOST_NAMES = 4
HUGE = 1e150
"""Size of a coordinate whose square is no longer a floating-point number, so that nothing near it can be computed."""


def begin(run: Run) -> Stepper:
    """What does the steps of a Galerkin scheme."""
    tableau = run.method
    assert isinstance(tableau, Tableau)
    system, scheme = run.system, scheme_arrays(tableau)
    space, work = make_space(system.arrays, scheme), make_work(system.arrays)
    space.q[:], space.p[:] = run.q, run.p
    steps = Steps(run, scheme, work, space)
    columns = [workspace.ITERATIONS, workspace.WORST, workspace.SIMPLIFIED_FACTORS, workspace.NEWTON_FACTORS]
    audit = Audit(run)
    watch = BranchWatch(run, tableau, [space.memory, work.memory], audit.look)

    def piece(first: int, last: int, *out: np.ndarray) -> tuple[int, int]:
        return watch.advance(steps.advance, first, last, *out)

    def failure(step: int, status: int) -> str:
        return watch.message(step) or step_message(run, tableau, space, status, step)

    state = [*carried(space, work), *map(Carried, watch.state)]
    one = None if watch.is_needed or run.every > 1 else steps.one
    return Stepper(piece, state, lambda: space.count[columns], failure, audit, one=one)


def step_message(run: Run, tableau: Tableau, space: workspace.Space, status: int, step: int) -> str:
    """Why a step of a Galerkin scheme failed, and what to do."""
    system, h = run.system, run.step
    t = run.start_time + h * step
    residual = space.measure[workspace.RESIDUAL]
    size = space.measure[workspace.MOMENTUM_SIZE]
    worst = int(np.argmax(np.abs(np.nan_to_num(space.delta[: tableau.stages * system.dimension])))) // tableau.stages
    name = system.coordinate_names[worst]
    head = f"{run.head(step)}{REASONS[status]}"
    smaller = f"A smaller step may help: try step={h / 2:.3g}{_other_remedies(system, tableau)}."
    with np.errstate(over="ignore", invalid="ignore"):
        move = h * start_velocity(system, space, t)
        if not (np.abs(space.q + 2 * move) < HUGE).all():
            return f"{head}, largest at {name}. {KEPT} {smaller}"
    ahead = space.q + AHEAD[:, None] * move
    if actuator := without_value(system, t + h * AHEAD, ahead, np.tile(move / h, (len(AHEAD), 1))):
        remedy = "Look for a pole of it, or an error that it raises."
        return (
            f"{head}: the function that gives {actuator} has no finite value there, or within the step. {KEPT} {remedy}"
        )
    rest = np.zeros(system.dimension)
    if not all(np.isfinite(system.gradient(space.q, rest, at)[1]).all() for at in t + h * AHEAD):
        found, remedy = force_without_value(system, space.q, t + h * AHEAD)
        return f"{head}: a force is not a finite number there, or within the step{found}. {KEPT} {remedy}"
    if rope := rope_without_direction(system, space.q, move):
        return f"{head}: two points of {rope} meet there, where it has no direction. {KEPT} {PULLEY}"
    driven = ", ".join(driven_names(system))
    if driven and not is_in_reach(system, space.q, t + h):
        return (
            f"{head}: no position near satisfies the constraints at t = {t + h:.6g} s; the motions prescribed by {driven} leave "
            f"the reach of the mechanism, or contradict each other. {KEPT} Prescribe smaller motions, or change lengths."
        )
    if locked := joints_in_gimbal_lock(system, space.q):
        remedy = f"Write coordinates: quaternion in joints.{locked[0]}, or start elsewhere."
        return f"{head}: the Euler angles of {_listed(locked)} are in gimbal lock. {KEPT} {remedy}"
    if comes_near_singular(system, space, t, h):
        return f"{head}: {_singular_loops(system, space.q, t, driven, step == 0 and not run.is_part)}"
    if light := weightless_near(system, (run.q, run.start_time), space.q, move, t):
        cause, remedy = almost_no_inertia(system, light)
        return (
            f"{head}: near a position in which {_listed(light)} can move almost without inertia{cause}. {KEPT} {remedy}"
        )
    if status == layout.SINGULAR and np.any(system.arrays.reference > 0):
        return f"{head}, largest at {name}. {KEPT} Look in the loops for a body without inertia, and give it some."
    return (
        f"{head}: residual {residual:.2g} where round-off is {tolerances.EPS * size:.2g}, after "
        f"{int(space.count[workspace.LAST])} iterations, largest at {name}. {KEPT} "
        f"{smaller}"
    )


def _singular_loops(system: System, q: np.ndarray, t: float, driven: str, is_first: bool) -> str:
    """A message that loops are near a singular configuration at q, where a step starts, or within that step, and what to do."""
    if names := system.mobility.first_order:
        return (
            "the loops are in a singular configuration there and wherever they can go, since the constraints of "
            f"{_listed([*names])} fit to first order alone. {KEPT} No step passes that; let one of them hold less, as a "
            "point_on_line instead of a revolute joint."
        )
    if is_first and is_nearly_singular(system, q, t):
        return (
            f"the loops start in a singular configuration, in which more motions are possible than nearby. {KEPT} Start near it, "
            "but not in it, with initial coordinates for which the bars are not in line."
        )
    limit = f" It may be the end of the reach, which the motions prescribed by {driven} leave." if driven else ""
    return (
        "the loops are near a singular configuration there, or come near it within the step, in which constraints are lost for "
        f"a moment.{limit} {KEPT} Another step may pass it."
    )


def _listed(names: list[str]) -> str:
    """The first few of some names."""
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def _other_remedies(system: System, tableau: Tableau) -> str:
    """What else may help a long chain in the coordinates of its joints.

    There the momentum N of all that hangs on a joint cancels in the equation of the spin of its link, of inertia I, to (h ω)² N:
    of order 2, a step has a solution up to about h² N ω = 2.5 I alone.
    """
    if system.model is None or system.model.formulation != "tree" or len(system.model.bodies) < LONG_CHAIN:
        return ""
    return ", or formulation: embedding" + (", or scheme: simpson" if tableau.order == 2 else "")
