"""How the equations of a step are solved: the simplified iteration with Broyden's updates, and Newton's where that is cheaper.

Both continue until the error left, which follows from how corrections shrink, is below round-off, or until what is left of the
residual is round-off itself.

Units: t, h [s]; kept [mixed], as `delta` of `workspace.Space`; scale, size, theta, parallel [1]; residual [J s/u].
Unknowns are increments [u], u the unit of a coordinate, or velocities [u/s], and impulses [J s/unit of g].
"""

import math

from numba import types

from mbvi.kernels.compiler.decorators import copied_kernel, kernel, solver_kernel
from mbvi.kernels.compiler.lanes import WIDE, WIDTH, lanes, larger, total, widest
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.galerkin.broyden import accelerate
from mbvi.kernels.galerkin.equations import fill_residual, has_saddle
from mbvi.kernels.galerkin.newton import factor_newton, factor_partitioned, solve_newton, solve_partitioned
from mbvi.kernels.galerkin.predictor import is_far_from_start
from mbvi.kernels.galerkin.simplified import factor_simplified, fill_start_jacobian, solve_simplified
from mbvi.kernels.galerkin.tolerances import (
    ADDED,
    ASSUMED,
    BELOW_ROUNDING,
    CLOSE,
    CONVERGING,
    EPS,
    FALLING,
    FAR_OFF,
    FEW,
    GROWING,
    HELD,
    HELD_LEFT,
    HELD_SOLVED,
    ITERATIONS_BEFORE,
    LAST_RETRY,
    LEFT,
    LEFT_OF_TURNS,
    MANY,
    MAX_AGE,
    MAX_HALVINGS,
    MAX_ITERATIONS,
    MAX_STALLS,
    MORE,
    NO_LONGER,
    NOISE,
    NOISIEST,
    OF_MOMENTA,
    OF_PLACES,
    ROUGH,
    SERVED,
    SHORT_PARALLEL,
    SHRINKING,
    SMALL,
    SOLVED,
    STEADY,
    STEPS_ANEW,
    SURE,
    TELLING,
)
from mbvi.kernels.galerkin.velocities import fill_step_residual
from mbvi.kernels.galerkin.workspace import (
    AGE,
    ANEW,
    CONTRACTING,
    CORRECTION,
    CORRECTIONS,
    ENDS,
    EXPECTED,
    FACTOR_STEP,
    FIRST_RESIDUAL,
    FIRST_STEP,
    GROWTH,
    IS_FLIGHT,
    IS_REDUCED,
    ITERATIONS,
    KNOWN,
    LAST,
    LEFT_OVER,
    MODE,
    MOMENTUM_SIZE,
    MOST,
    NEWTON,
    NEWTON_LIMIT,
    PARALLEL,
    PATIENCE,
    PLACE_SIZE,
    RESIDUAL,
    RESIDUAL_BEFORE,
    RETRY,
    ROUNDINGS,
    SIMPLIFIED,
    SIMPLIFIED_LIMIT,
    SINCE,
    SIZE,
    SIZE_BEFORE,
    SLOW,
    STALLS,
    STEP_BEFORE,
    STIFFNESS,
    THETA,
    THETA_NEWTON,
    THETA_SIMPLIFIED,
    VIOLATION,
    copy,
)
from mbvi.kernels.layout import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR
from mbvi.kernels.mechanics.sines import KNOWN as KNOWN_ANGLE


@solver_kernel
def correct(space, scale, kept):
    """Add the correction, times a scale, to the unknowns, and keep it in `kept`.

    Returns its relative size, whether that of the increments is the rounding of positions, and the square of that of
    the increments. The size is the larger of the increments' correction relative to the largest increment and the
    impulses' relative to the momenta.

    kept      (N,)    out
    """
    tol = space.tolerances
    z, delta, out = lanes(space.z), lanes(space.delta), lanes(kept)
    step = move = impulse = square = 0.0 * z[0]
    for a in range(space.increment_rows):
        change = scale * delta[a]
        out[a] = change
        step = larger(step, change)
        square = square + change * change
        z[a] = z[a] + change
        move = larger(move, z[a])
    for a in range(space.behind // WIDTH, space.rows):
        change = scale * delta[a]
        out[a] = change
        impulse = larger(impulse, change)
        z[a] = z[a] + change
    place, moved, largest_step = space.measure[PLACE_SIZE], widest(move), widest(step)
    size = largest_step / max(moved, 1e-290)
    space.measure[CORRECTION] = size
    if space.behind // WIDTH < space.rows:
        size = max(size, widest(impulse) / max(space.measure[MOMENTUM_SIZE], 1e-290))
    return size, largest_step <= tol[OF_PLACES] * EPS * max(place, moved), total(square)


@copied_kernel
def is_below_rounding(system, space, size, theta):
    """Whether the error left is far below round-off after a correction of relative size `size`, by the contraction theta.

    With constraints the correction itself is small too: what it leaves of g is of second order, which theta does not show.
    """
    tol = space.tolerances
    is_small = not has_saddle(system) or size <= tol[OF_MOMENTA] * EPS
    return theta * size <= tol[BELOW_ROUNDING] * EPS and is_small


@kernel
def is_converged(system, space, size, is_stalled, is_below, is_rounding, stalls):
    """Whether the step is solved to round-off after a correction of relative size `size`: where `is_below` says so, where the
    residual is round-off, or where corrections that round-off explains no longer shrink.

    Constraints between links hold to the rounding of positions, and corrections are of that size at last. With velocities for
    unknowns a residual is the difference of two momenta, which is 0 to rounding while the error left has one sign. In an open
    tree with quaternions it drifts the momenta of rotations, of which none is that of a coordinate.

    is_stalled   whether the correction did not shrink, nor the residual fall; `stalls`: how often that was so
    """
    tol = space.tolerances
    roundings = space.measure[ROUNDINGS]
    if space.measure[VIOLATION] > tol[HELD]:
        return False
    is_solved = roundings <= tol[SOLVED] and space.has_velocities == 0 and (system.k == 0 or has_saddle(system))
    if is_below or is_solved:
        return True
    if system.is_geometric == 1:
        return is_rounding and (roundings <= tol[HELD_SOLVED] or (roundings <= tol[NOISE] and is_stalled))
    few = min(tol[FEW] * system.n, tol[MANY]) if system.k == 0 else tol[MANY]  # of quaternions `may_fall` decides
    return is_stalled and (roundings <= few or is_rounding or (roundings <= tol[MANY] and stalls >= tol[MAX_STALLS]))


@kernel
def is_noise(system, space):
    """Whether corrections may be the rounding of positions, and say nothing of the contraction."""
    tol = space.tolerances
    return system.is_geometric == 1 and space.measure[ROUNDINGS] <= tol[NOISE]


@kernel
def may_fall(system, space):
    """Whether the residual of an open tree with quaternions may fall further.

    They contract slower, so that accelerated corrections may grow once on their way, as they do at their end.
    """
    if system.k == 0 or system.is_open == 0:
        return False
    trace, tol, roundings = space.trace, space.tolerances, space.measure[ROUNDINGS]
    is_falling = space.measure[RESIDUAL] <= tol[FALLING] * trace[RESIDUAL_BEFORE] or trace[CORRECTIONS] == 0.0
    return roundings > tol[STEADY] and (is_falling or roundings > tol[NOISIEST])


@kernel
def iterations_left(system, space, size, theta):
    """Iterations until round-off at contraction theta."""
    if is_noise(system, space):
        return 0.0
    if not theta < 1.0:
        return math.inf
    return math.log(space.tolerances[BELOW_ROUNDING] * EPS / size) / math.log(theta)


@kernel
def forget_angles(space):
    """No angle is known: what a step gives does not depend on where those before it left their angles."""
    angles = space.angles
    for g in range(angles.shape[0]):
        for i in range(angles.shape[1]):
            for lane in range(WIDTH):
                angles[g, i, KNOWN_ANGLE, lane] = math.inf
    for i in range(space.wide_angles.shape[0]):
        for lane in range(WIDE):
            space.wide_angles[i, KNOWN_ANGLE, lane] = math.inf


@copied_kernel
def begin_trace(space):
    """Nothing has been seen of a step yet."""
    trace = space.trace
    for i in range(trace.shape[0]):
        trace[i] = 0.0
    trace[LEFT_OVER] = math.inf
    trace[THETA] = space.measure[THETA_SIMPLIFIED]


@copied_kernel
def begin_anew(space):
    """What was seen with another Jacobian says nothing of this one."""
    space.trace[CORRECTIONS] = space.trace[SLOW] = 0.0
    space.trace[KNOWN] = 0.0


@copied_kernel
def is_noise_in_part(system, space):
    """Whether a correction says nothing of the Jacobian, since much of its residual is rounding; never with constraints."""
    tol = space.tolerances
    return not has_saddle(system) and space.measure[ROUNDINGS] <= tol[ROUGH]


@copied_kernel
def correct_accelerated(space, is_rough, parallel):
    """Add the correction in space.delta, accelerated by those before (`broyden`), to the unknowns, and note its size; whether it
    is the rounding of positions.

    parallel   see `accelerate`
    """
    trace = space.trace
    update = int(trace[KNOWN]) % space.steps.shape[0]
    scale = accelerate(space, update, not is_rough, parallel)
    size, is_rounding, square = correct(space, scale, space.steps[update])
    if not is_rough:
        space.step_products[update, update] = square = max(square, 1e-290)
        space.inverse_squares[update] = 1.0 / square
        trace[KNOWN] += 1.0
    trace[SIZE] = size
    return is_rounding


@copied_kernel
def is_diverging(space):
    """Whether residuals grow by more than rounding: the iteration may lead to another solution."""
    trace, tol = space.trace, space.tolerances
    is_growing = space.measure[RESIDUAL] > space.limits[GROWTH] * trace[FIRST_RESIDUAL]
    is_shrinking = trace[SIZE] <= tol[SHRINKING] * trace[SIZE_BEFORE]
    return trace[CORRECTIONS] > 0.0 and is_growing and not is_shrinking and space.measure[ROUNDINGS] > tol[FAR_OFF]


@copied_kernel
def observe_contraction(system, space):
    """The contraction theta of this iteration, and the stiffness, what it contracts by before it is accelerated."""
    trace, measure, tol = space.trace, space.measure, space.tolerances
    if not is_noise(system, space):
        trace[THETA] = trace[SIZE] / trace[SIZE_BEFORE]
        if trace[SIZE] > tol[TELLING]:
            measure[THETA_SIMPLIFIED] = trace[THETA]
            if trace[CORRECTIONS] == 1.0 and not has_saddle(system):
                measure[STIFFNESS] = measure[RESIDUAL] / trace[RESIDUAL_BEFORE]
    if has_saddle(system) and measure[CORRECTION] < tol[NO_LONGER] * trace[STEP_BEFORE]:
        kept = 0.5 * measure[STIFFNESS] if trace[CORRECTIONS] == 1.0 else 0.0
        mean = (measure[CORRECTION] / trace[FIRST_STEP]) ** (1.0 / trace[CORRECTIONS])
        measure[STIFFNESS] = max(mean, kept)


@copied_kernel
def observe_error_left(system, space):
    """What the iteration has left of the error, by its contraction: rounding hides it in the last corrections."""
    trace, measure = space.trace, space.measure
    if has_saddle(system):
        trace[EXPECTED], trace[LEFT_OVER] = (
            trace[LEFT_OVER],
            measure[STIFFNESS] * min(trace[LEFT_OVER], measure[CORRECTION]),
        )
    else:
        theta = max(measure[STIFFNESS], measure[THETA_SIMPLIFIED])
        trace[LEFT_OVER] = theta * min(trace[LEFT_OVER], trace[SIZE])


@copied_kernel
def observe_stalls(space):
    """Whether this correction did not shrink, and how often that was so in a row."""
    trace, tol, residual = space.trace, space.tolerances, space.measure[RESIDUAL]
    is_longer = trace[SIZE] > tol[NO_LONGER] * trace[SIZE_BEFORE]
    is_stalled = trace[CORRECTIONS] > 0.0 and is_longer and residual > tol[CONVERGING] * trace[RESIDUAL_BEFORE]
    trace[STALLS] = trace[STALLS] + 1.0 if is_stalled and space.measure[ROUNDINGS] <= tol[MANY] else 0.0
    return is_stalled


@copied_kernel
def has_ended(system, space, is_rough, is_rounding, is_stalled):
    """Whether the step is solved: the error left is below rounding, or hidden by it.

    With constraints, a residual that is rounding beside the positions may yet be far from it beside short increments, as of
    mechanisms much smaller than 1 m: then it goes on for some iterations more.
    """
    trace, tol = space.trace, space.tolerances
    if has_saddle(system):
        is_below = is_below_rounding(system, space, trace[SIZE], trace[THETA])
    else:
        is_below = is_rough and trace[LEFT_OVER] <= (tol[LEFT] if system.k == 0 else tol[LEFT_OF_TURNS]) * EPS
    is_end = is_converged(system, space, trace[SIZE], is_stalled, is_below, is_rounding, trace[STALLS])
    if not is_end or may_fall(system, space):
        return False
    trace[ENDS] += 1.0
    step = space.measure[CORRECTION]
    is_hidden = trace[LEFT_OVER] <= tol[HELD_LEFT] * step and step > tol[SURE] * trace[EXPECTED]
    is_left = trace[LEFT_OVER] > tol[OF_MOMENTA] * EPS and not is_hidden
    return not (has_saddle(system) and is_left and trace[ENDS] <= tol[MORE])


@copied_kernel
def remember(space):
    """What the next iteration compares with."""
    trace, measure = space.trace, space.measure
    trace[SIZE_BEFORE], trace[RESIDUAL_BEFORE], trace[STEP_BEFORE] = trace[SIZE], measure[RESIDUAL], measure[CORRECTION]
    if trace[CORRECTIONS] == 0.0:
        trace[FIRST_RESIDUAL], trace[FIRST_STEP] = measure[RESIDUAL], measure[CORRECTION]
    trace[CORRECTIONS] += 1.0


@copied_kernel
def is_slow(system, space, iteration):
    """Whether Newton's iteration would be cheaper."""
    trace, limits = space.trace, space.limits
    is_fast = iteration == 0 or trace[THETA] <= limits[CONTRACTING]
    return not is_fast and iterations_left(system, space, trace[SIZE], trace[THETA]) > limits[SIMPLIFIED_LIMIT]


@kernel
def iterate_simplified(system, scheme, work, space, t, h):
    """Simplified iteration from space.z; NOT_CONVERGED where Newton's would be cheaper, or where it diverges."""
    count, trace, tol = space.count, space.trace, space.tolerances
    served = tol[SERVED] if scheme.K.shape[0] == 1 else 1.0
    is_fresh = (
        has_saddle(system)
        or count[AGE] >= tol[MAX_AGE]
        or (count[LAST] > tol[ITERATIONS_BEFORE] and count[AGE] >= served)
    )
    if is_fresh and not factor_simplified(system, scheme, work, space, t, h):
        return NOT_CONVERGED if has_saddle(system) else SINGULAR
    begin_trace(space)
    begin_anew(space)
    parallel = space.limits[PARALLEL]
    for iteration in range(int(space.limits[MOST])):
        # evaluate
        space.measure[RESIDUAL] = fill_residual(system, scheme, work, space, t, h)
        if not space.measure[RESIDUAL] < math.inf:
            return NOT_FINITE
        # correct
        solve_simplified(system, scheme, work, space, t, h)
        is_rough = is_noise_in_part(system, space)
        if is_rough:
            parallel = min(parallel, tol[SHORT_PARALLEL])  # for those after it too, lest noise is lengthened
        is_rounding = correct_accelerated(space, is_rough, parallel)
        count[ITERATIONS] += 1
        count[LAST] = iteration + 1
        # observe
        if is_diverging(space):
            return NOT_CONVERGED
        if trace[CORRECTIONS] > 0.0:
            observe_contraction(system, space)
        observe_error_left(system, space)
        is_stalled = observe_stalls(space)
        # decide
        if has_ended(system, space, is_rough, is_rounding, is_stalled):
            if is_fresh:
                count[AGE] = 0
            return OK
        remember(space)
        if trace[THETA] * trace[SIZE] < tol[CLOSE]:
            forget_angles(space)
        trace[SLOW] = trace[SLOW] + 1.0 if is_slow(system, space, iteration) else 0.0
        if (trace[SLOW] > 0.0 and not is_fresh) or trace[SLOW] > space.limits[PATIENCE]:
            if is_fresh:
                return NOT_CONVERGED
            is_fresh = True
            begin_anew(space)
            if not factor_simplified(system, scheme, work, space, t, h):
                return SINGULAR
    return NOT_CONVERGED


@kernel
def halve_correction(space):
    """Take half of the last correction in space.delta, from the unknowns before it."""
    for a in range(space.z.shape[0]):
        space.delta[a] *= 0.5
        space.z[a] = space.z_kept[a] + space.delta[a]


@kernel
def factor_jacobian(system, scheme, work, space, t, h, is_late):
    """Form and factor Newton's matrix, by coordinate partitioning where that may be; False where it is singular.

    is_late   whether that of a step before was tried first, as the next steps do not
    """
    count = space.count
    if is_late:
        count[ANEW] = int(space.tolerances[STEPS_ANEW])
    count[IS_REDUCED] = space.is_partitioned == 1 and factor_partitioned(system, scheme, work, space, t, h)
    return count[IS_REDUCED] == 1 or factor_newton(system, scheme, work, space, t, h)


@kernel
def solve_jacobian(system, scheme, work, space, t, h):
    """Newton's correction of the residual into space.delta."""
    if space.count[IS_REDUCED] == 1:
        solve_partitioned(system, scheme, work, space, t, h)
    else:
        solve_newton(system, scheme, work, space, t, h)


@kernel
def evaluate_newton(system, scheme, work, space, t, h):
    """The residual, of increments also where velocities are the unknowns; its size."""
    space.measure[RESIDUAL] = residual = fill_residual(system, scheme, work, space, t, h)
    if space.has_velocities == 1 and residual < math.inf:
        return fill_step_residual(scheme, space)
    return residual


@kernel
def is_jacobian_old(system, space, h):
    """Whether Newton's matrix of a step before is not used for this one, of size h."""
    count, tol = space.count, space.tolerances
    patience = tol[ITERATIONS_BEFORE] + (tol[ADDED] * space.limits[NEWTON_LIMIT] if system.is_geometric == 1 else 0.0)
    is_other = count[AGE] >= tol[MAX_AGE] or space.measure[FACTOR_STEP] != h
    return is_other or count[LAST] > patience or count[ANEW] > 0


@kernel
def has_grown(space, residual):
    """Whether the residual is larger than before the last correction by more than rounding, or not finite."""
    return not (residual <= space.trace[RESIDUAL_BEFORE] or space.measure[ROUNDINGS] <= space.tolerances[FAR_OFF])


@kernel
def correct_newton(system, scheme, work, space, t, h):
    """Add Newton's correction to the unknowns, and note its size; whether it is the rounding of positions."""
    copy(space.z_kept, space.z)
    solve_jacobian(system, scheme, work, space, t, h)
    space.trace[SIZE], is_rounding, _ = correct(space, 1.0, space.delta)
    return is_rounding


@kernel
def observe_newton_contraction(system, space, is_contraction):
    """The contraction theta of this iteration, and what it leaves of the error: rounding hides it in the last corrections.

    is_contraction   whether theta is the ratio of the last two corrections, by the same Jacobian and not halved
    """
    trace, measure, tol = space.trace, space.measure, space.tolerances
    trace[THETA] = measure[THETA_NEWTON]
    if is_contraction and not is_noise(system, space):
        trace[THETA] = trace[SIZE] / trace[SIZE_BEFORE]
        if trace[SIZE] > tol[TELLING]:
            measure[THETA_NEWTON] = trace[THETA]
    growing = tol[GROWING] * trace[THETA]
    trace[LEFT_OVER] = growing * min(trace[LEFT_OVER], trace[SIZE]) if is_contraction else math.inf


@kernel
def observe_newton_stalls(system, space, residual):
    """Whether this correction did not shrink, nor the residual fall, and how often that was so of small ones."""
    trace, tol = space.trace, space.tolerances
    is_rough = space.measure[ROUNDINGS] < tol[MANY]
    if system.is_open == 1:  # has no loops, whose singular configurations stall corrections above the rounding
        is_small = is_rough
    else:
        is_small = trace[SIZE] < tol[SMALL] or (system.is_geometric == 1 and is_rough)
    is_longer = trace[SIZE_BEFORE] > 0.0 and trace[SIZE] > tol[NO_LONGER] * trace[SIZE_BEFORE]
    is_stalled = is_longer and residual / trace[RESIDUAL_BEFORE] > tol[CONVERGING]
    trace[STALLS] += is_stalled and is_small
    return is_stalled


@kernel
def has_newton_ended(system, space, is_stalled, is_rounding):
    """Whether the step is solved: the error left is below rounding, or hidden by it.

    is_stalled    whether the correction did not shrink, nor the residual fall
    is_rounding   whether the correction is that of positions
    """
    trace, measure, tol = space.trace, space.measure, space.tolerances
    is_hidden = measure[ROUNDINGS] <= tol[NOISE] and is_rounding and trace[LEFT_OVER] <= tol[BELOW_ROUNDING] * EPS
    if measure[VIOLATION] <= tol[HELD] and (trace[STALLS] >= tol[MAX_STALLS] or is_hidden):
        return True
    is_below = is_below_rounding(system, space, trace[SIZE], trace[THETA])
    return is_converged(system, space, trace[SIZE], is_stalled, is_below, is_rounding, trace[STALLS])


@late_kernel(types.int64)
def iterate_newton(system, scheme, work, space, t, h):
    """Newton's iteration from space.z: the Jacobian is kept while it contracts well, the step halved while it is too long.

    From an extrapolation it ends where the first correction leads far away: `advance` would not take the solution.
    """
    count, trace, tol = space.count, space.trace, space.tolerances
    needs_factor = is_jacobian_old(system, space, h)
    count[ANEW] = max(count[ANEW] - 1, 0)
    begin_trace(space)
    if system.k > 0:
        fill_start_jacobian(system, scheme, work, space, t, h)
    is_stale = True  # the Jacobian is that of a step before
    is_chord = False  # the last correction had the same Jacobian, so that their ratio is the contraction
    halvings = iteration = 0
    while iteration < tol[MAX_ITERATIONS]:
        # evaluate
        residual = evaluate_newton(system, scheme, work, space, t, h)
        if iteration > 0 and has_grown(space, residual):
            if is_stale and residual < math.inf:
                needs_factor = True
            elif halvings < tol[MAX_HALVINGS]:
                halvings += 1
                halve_correction(space)
                continue
        if not residual < math.inf:
            return NOT_FINITE
        # correct
        if needs_factor:
            is_late = iteration > 0 and is_stale
            if not factor_jacobian(system, scheme, work, space, t, h, is_late):
                return SINGULAR
            is_stale = is_chord = False
        is_rounding = correct_newton(system, scheme, work, space, t, h)
        iteration += 1
        count[ITERATIONS] += 1
        count[LAST] = iteration
        if iteration == 1 and count[IS_FLIGHT] == 0 and is_far_from_start(space):
            return NOT_CONVERGED
        # observe
        observe_newton_contraction(system, space, is_chord and halvings == 0)
        is_stalled = observe_newton_stalls(system, space, residual)
        # decide
        if has_newton_ended(system, space, is_stalled, is_rounding):
            if not is_stale:
                count[AGE] = 0
            return OK
        if not is_chord or trace[THETA] * trace[SIZE] < tol[CLOSE]:  # without a chord it may contract by much
            forget_angles(space)
        is_slow_chord = (
            is_chord and iterations_left(system, space, trace[SIZE], trace[THETA]) > space.limits[NEWTON_LIMIT]
        )
        needs_factor = halvings > 0 or is_slow_chord
        is_chord = True
        halvings = 0
        trace[SIZE_BEFORE], trace[RESIDUAL_BEFORE] = trace[SIZE], residual
    return NOT_CONVERGED


@kernel
def solve_step(system, scheme, work, space, t, h):
    """Solve the step equations from the start in space.z, free flight or an extrapolation; a status."""
    count, z, tol = space.count, space.z, space.tolerances
    if count[MODE] == NEWTON and count[SINCE] >= count[RETRY]:
        count[MODE] = SIMPLIFIED
        count[AGE] = int(tol[MAX_AGE])
        space.measure[THETA_SIMPLIFIED] = tol[ASSUMED]
    count[SINCE] += 1
    count[AGE] += 1
    if count[MODE] == SIMPLIFIED:
        status = iterate_simplified(system, scheme, work, space, t, h)
        if status == OK:
            count[RETRY] = space.first_retry
            return OK
        copy(z, space.start)
        count[RETRY] = max(1, min(2 * count[RETRY], int(tol[LAST_RETRY])))
        count[MODE] = NEWTON
        count[SINCE] = 0
        count[AGE] = int(tol[MAX_AGE])
    status = iterate_newton(system, scheme, work, space, t, h)
    return int(status) if status >= 0.0 else NOT_FINITE
