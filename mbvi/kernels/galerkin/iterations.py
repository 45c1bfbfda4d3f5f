"""How the equations of a step are solved: the simplified iteration with Broyden's updates, and Newton's where that is cheaper.

Both continue until the error left, which follows from how corrections shrink, is below round-off, or until what is left of the
residual is round-off itself.
"""

import math

from mbvi.kernels.compiler.decorators import copied_kernel, inlined_kernel, kernel, solver_kernel
from mbvi.kernels.compiler.lanes import WIDE, WIDTH, lanes, larger, total, widest
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.compiler.packed import call
from mbvi.kernels.galerkin.broyden import accelerate
from mbvi.kernels.galerkin.equations import fill_residual, has_saddle
from mbvi.kernels.galerkin.predictor import is_far_from_start
from mbvi.kernels.galerkin.simplified import factor_simplified, solve_simplified
from mbvi.kernels.galerkin.velocities import fill_step_residual
from mbvi.kernels.galerkin.workspace import (
    AGE,
    ANEW,
    BELOW_ROUNDING,
    CONTRACTING,
    CORRECTION,
    EPS,
    FACTOR_STEP,
    GROWTH,
    IS_FLIGHT,
    IS_REDUCED,
    ITERATIONS,
    LAST,
    LAST_RETRY,
    MAX_AGE,
    MODE,
    MOMENTUM_SIZE,
    MOST,
    NEWTON,
    NEWTON_LIMIT,
    PATIENCE,
    PLACE_SIZE,
    RESIDUAL,
    RETRY,
    ROUNDINGS,
    SIMPLIFIED,
    SIMPLIFIED_LIMIT,
    SINCE,
    STIFFNESS,
    THETA_NEWTON,
    THETA_SIMPLIFIED,
    VIOLATION,
    Space,
    copy,
)
from mbvi.kernels.layout import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR, Scheme, System
from mbvi.kernels.mechanics.lagrangian import Work
from mbvi.kernels.mechanics.sines import KNOWN

MAX_ITERATIONS = 50
MAX_HALVINGS = 12
OF_PLACES = 16.0  # roundings of the positions that a correction may be
OF_MOMENTA = 100.0 * BELOW_ROUNDING  # error left with constraints, in units of round-off
HELD_LEFT = 1e-3  # the same, relative to a correction that is rounding
SURE = 10.0  # how far above what was expected to be left a correction is that is rounding
MORE = 2  # iterations that the simplified one of constraints adds for that where it ends in rounding
LEFT = 1e-2  # error that the simplified iteration may leave after a correction that is noise in part, in units of round-off
LEFT_OF_TURNS = 1e-3  # the same of an open tree with quaternions, of whose momenta none is that of a coordinate
SOLVED, HELD_SOLVED = 2.0, 4.0  # roundings of the residual that is round-off itself, without constraints and with
SLOWEST = 0.9  # contraction from which an iteration is one that does not end,
NEVER = 1e9  # and how many more iterations that counts as
FAR_OFF = 1e4  # roundings of the residual from which it grows for other reasons
TELLING = 1e3 * EPS  # correction, relative, from which rounding does not blur its ratio to the one before
NO_LONGER = 0.5  # ratio of corrections from which they no longer shrink
GROWING = 4.0  # what Newton's contraction may grow by from one iteration to the next
STEADY, NOISIEST, FALLING, WILD = 8.0, 100.0, 0.8, 2.0  # see may_fall
# Roundings of the residual, at least and for each coordinate, up to which one correction that does not shrink is round-off (what
# is left of planar chains is 1.3 for each in nine of ten steps), and up to which several are.
FEW, FEW_EACH, MANY = 10.0, 3.0, 1e3
MAX_STALLS, SMALL = 3, 1e-8  # so many small corrections that do not shrink are the rounding of the forces themselves
HALF, IDLE = 0.5, 6  # what is left of an open tree is noise where its least has not fallen so far in so many iterations
SHRINKING = 0.3  # ratio of corrections below which an iteration converges, whatever residuals do
WELL = 0.02  # contraction up to which Broyden's updates of it cost more than they gain, where it is Newton's but for a square
ASTRAY = 0.1  # relative correction from which second derivatives were those of places too far from the solution
CLOSER = 0.3  # part of it from which on they are formed anew
CONVERGING = 0.1  # ratio of residuals below which it converges, whatever corrections do: noise wavers by less
SERVED = (
    2  # steps that one serves at least if it contracts, of schemes with one control point, whose iterations are cheap
)
STEPS_ANEW = 16  # steps that begin with a new Jacobian after one where that of the step before had to be formed anew
HELD = 1e-9  # largest |g|, relative to the coordinates, before the last correction: rows left out may contradict others
CLOSE = 1e-11  # expected correction, relative, from which on all angles are found anew, lest their rounding drifts
# Roundings of the residual, at least and for each coordinate, below which a correction is noise in part, and no longer tells of
# the Jacobian.
ROUGH, ROUGH_EACH = 30.0, 0.5
NOISE = 100.0  # roundings of the residual below which corrections may be those of the rounding of positions


@solver_kernel
def correct(space, scale, kept):
    """Add the correction, times a scale, to the unknowns, and keep it in `kept` (N,); its size, relative, whether that of the
    increments is the positions' rounding, and the square of the increments'.

    The size is the larger of the increments' correction by the largest increment and the impulses' by the momenta.
    """
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
    return size, largest_step <= OF_PLACES * EPS * max(place, moved), total(square)


@copied_kernel
def is_below_rounding(system, size, theta):
    """Whether the error left is far below round-off after a correction of relative size `size`, by the contraction theta.

    With constraints the correction itself is small too: what it leaves of g is of second order, which theta does not tell.
    """
    is_small = not has_saddle(system) or size <= OF_MOMENTA * EPS
    return theta * size <= BELOW_ROUNDING * EPS and is_small


@kernel
def is_converged(system, space, size, is_stalled, is_below, is_rounding, stalls):
    """Whether the step is solved to round-off after a correction of relative size `size`: where `is_below` says so, where the
    residual is round-off, or where corrections that round-off explains no longer shrink.

    Constraints between links hold to the rounding of positions, and corrections are of that size at last. With velocities for
    unknowns a residual is the difference of two momenta, which is 0 to rounding while the error left has one sign. In an open
    tree with quaternions it drifts the momenta of rotations, of which none is that of a coordinate.

    is_stalled   whether the correction did not shrink, nor the residual fall; `stalls`: how often that was so
    """
    roundings = space.measure[ROUNDINGS]
    if space.measure[VIOLATION] > HELD:
        return False
    is_solved = roundings <= SOLVED and space.has_velocities == 0 and (system.k == 0 or has_saddle(system))
    if is_below or is_solved:
        return True
    if system.is_geometric == 1:
        return is_rounding and (roundings <= HELD_SOLVED or (roundings <= NOISE and is_stalled))
    few = min(max(FEW, FEW_EACH * system.n), MANY) if system.k == 0 else MANY  # of quaternions `may_fall` tells
    return is_stalled and (roundings <= few or is_rounding or (roundings <= MANY and stalls >= MAX_STALLS))


@kernel
def is_noise(system, space):
    """Whether corrections may be the rounding of positions, and tell nothing of the contraction."""
    return system.is_geometric == 1 and space.measure[ROUNDINGS] <= NOISE


@kernel
def may_fall(system, space, ratio, growth, idle):
    """Whether the residual of an open tree with quaternions may fall further, after it became `ratio` of that before.

    They contract slower, so that accelerated corrections may grow once on their way, as they do at their end. One that grew by
    much, to `growth` of that before, is the acceleration's error, which the next takes back.
    """
    roundings = space.measure[ROUNDINGS]
    is_wild = growth > WILD and idle < IDLE
    is_falling = roundings > STEADY and (ratio <= FALLING or roundings > NOISIEST or is_wild)
    return system.k > 0 and system.is_open == 1 and is_falling


@kernel
def iterations_left(system, space, size, theta):
    """Iterations until round-off at contraction theta."""
    if is_noise(system, space):
        return 0.0
    if not theta < SLOWEST:
        return NEVER
    return math.log(BELOW_ROUNDING * EPS / size) / math.log(theta)


@kernel
def forget_angles(space):
    """No angle is known: what a step gives does not depend on where those before it left their angles."""
    angles = space.angles
    for g in range(angles.shape[0]):
        for i in range(angles.shape[1]):
            for lane in range(WIDTH):
                angles[g, i, KNOWN, lane] = math.inf
    for i in range(space.wide_angles.shape[0]):
        for lane in range(WIDE):
            space.wide_angles[i, KNOWN, lane] = math.inf


@inlined_kernel
def iterate_simplified(system, scheme, work, space, t, h):
    """Simplified iteration from space.z; NOT_CONVERGED where Newton's would be cheaper.

    Rounding hides in the last corrections what the iteration leaves, which has the same sign at every step: `left` follows it
    from the contraction before. With constraints, a residual that is rounding beside the positions may yet be far from it beside
    short increments, as of mechanisms much smaller than 1 m.
    """
    count, measure = space.count, space.measure
    served = SERVED if scheme.K.shape[0] == 1 else 1
    is_fresh = has_saddle(system) or count[AGE] >= MAX_AGE or (count[LAST] > 3 and count[AGE] >= served)
    if is_fresh and not factor_simplified(system, scheme, work, space, t, h):
        return NOT_CONVERGED if has_saddle(system) else SINGULAR
    left = least = math.inf
    theta = measure[THETA_SIMPLIFIED]
    size_before = residual_before = step_before = first_step = first_size = first_residual = expected = 0.0
    updates = known = slow = more = stalls = idle = 0
    noise = max(ROUGH, ROUGH_EACH * system.n)
    for iteration in range(int(space.limits[MOST])):
        residual = fill_residual(system, scheme, work, space, t, h)
        measure[RESIDUAL] = residual
        if not residual < math.inf:
            return NOT_FINITE
        solve_simplified(system, scheme, work, space, t, h)
        is_rough = not has_saddle(system) and measure[ROUNDINGS] <= noise
        if space.has_series == 1 and theta <= WELL:
            known = 0
        update = known % space.steps.shape[0]
        scale = accelerate(space, update, not is_rough)
        size, is_rounding, square = correct(space, scale, space.steps[update])
        if not is_rough:
            space.step_products[update, update] = square = max(square, 1e-290)
            space.inverse_squares[update] = 1.0 / square
        known += not is_rough
        step = measure[CORRECTION]
        count[ITERATIONS] += 1
        count[LAST] = iteration + 1
        if updates > 0:
            is_growing = residual > space.limits[GROWTH] * first_residual and size > SHRINKING * size_before
            if is_growing and measure[ROUNDINGS] > FAR_OFF:
                return NOT_CONVERGED  # it diverges, and may lead to another solution
            if not is_noise(system, space):
                theta = size / size_before
                if size > TELLING:
                    measure[THETA_SIMPLIFIED] = theta
                    if updates == 1 and not has_saddle(system):
                        measure[STIFFNESS] = residual / residual_before
            if has_saddle(system) and step < NO_LONGER * step_before:
                kept = 0.5 * measure[STIFFNESS] if updates == 1 else 0.0
                measure[STIFFNESS] = max((step / first_step) ** (1.0 / updates), kept)
        if has_saddle(system):
            expected, left = left, measure[STIFFNESS] * min(left, step)
            is_below = is_below_rounding(system, size, theta)
        else:
            left = max(measure[STIFFNESS], measure[THETA_SIMPLIFIED]) * min(left, size)
            is_below = is_rough and left <= (LEFT if system.k == 0 else LEFT_OF_TURNS) * EPS
        is_solved = left <= OF_MOMENTA * EPS or (left <= HELD_LEFT * step and step > SURE * expected)
        ratio, growth = (residual / residual_before, size / size_before) if updates > 0 else (0.0, 0.0)
        is_stalled = updates > 0 and size > NO_LONGER * size_before and ratio > CONVERGING
        stalls = stalls + 1 if is_stalled and measure[ROUNDINGS] <= MANY else 0
        is_end = is_converged(system, space, size, is_stalled, is_below, is_rounding, stalls)
        idle = 0 if residual < HALF * least else idle + 1
        least = min(least, residual)
        if (is_rough and idle >= IDLE) or (is_end and not may_fall(system, space, ratio, growth, idle)):
            more += 1
            if is_solved or more > MORE or not has_saddle(system):
                if is_fresh:
                    count[AGE] = 0
                return OK
        if updates == 0:
            first_step, first_size, first_residual = step, size, residual
        updates += 1
        size_before, residual_before, step_before = size, residual, step
        if theta * size < CLOSE:
            forget_angles(space)
        is_fast = iteration == 0 or (theta <= space.limits[CONTRACTING] and size <= 1.0)
        is_slow = not is_fast and iterations_left(system, space, size, theta) > space.limits[SIMPLIFIED_LIMIT]
        slow = slow + 1 if is_slow else 0
        is_astray = space.has_series == 1 and first_size > ASTRAY and size < CLOSER * first_size
        if is_astray or (slow > 0 and not is_fresh) or slow > space.limits[PATIENCE]:
            if is_fresh and not is_astray:
                return NOT_CONVERGED
            is_fresh = True
            updates = known = slow = 0
            if not factor_simplified(system, scheme, work, space, t, h):
                return SINGULAR
    return NOT_CONVERGED


@late_kernel(System, Scheme, Work, Space)
def iterate_newton(t, system, scheme, work, space, h):
    """Newton's iteration from space.z: the Jacobian is kept while it contracts well, the step halved while it is too long.

    From an extrapolation it ends where the first correction leads far away: `advance` would not take the solution.

    Rounding of positions hides in the corrections what the iteration leaves: `left` follows it from their contraction before.
    """
    count, measure, z = space.count, space.measure, space.z
    patience = 3.0 + 0.5 * space.limits[NEWTON_LIMIT] if system.is_geometric == 1 else 3.0
    needs_factor = count[AGE] >= MAX_AGE or measure[FACTOR_STEP] != h or count[LAST] > patience or count[ANEW] > 0
    count[ANEW] = max(count[ANEW] - 1, 0)
    is_stale = True
    is_chord = False
    residual_before = left = math.inf
    size_before = 0.0
    halvings = iteration = stalls = 0
    if system.k > 0:
        call(space.fill_start_jacobian, t, (system, scheme, work, space, h))
    while iteration < MAX_ITERATIONS:
        residual = fill_residual(system, scheme, work, space, t, h)
        measure[RESIDUAL] = residual
        if space.has_velocities == 1 and residual < math.inf:
            residual = fill_step_residual(scheme, space)
        if iteration > 0 and not (residual <= residual_before or measure[ROUNDINGS] <= FAR_OFF):
            if is_stale and residual < math.inf:
                needs_factor = True
            elif halvings < MAX_HALVINGS:
                halvings += 1
                for a in range(z.shape[0]):
                    space.delta[a] *= 0.5
                    z[a] = space.z_kept[a] + space.delta[a]
                continue
        if not residual < math.inf:
            return NOT_FINITE
        if needs_factor:
            if iteration > 0 and is_stale:
                count[ANEW] = STEPS_ANEW
            count[IS_REDUCED] = 0
            if space.is_partitioned == 1:
                count[IS_REDUCED] = call(space.factor_partitioned, t, (system, scheme, work, space, h)) == 1.0
            if count[IS_REDUCED] == 0 and call(space.factor_newton, t, (system, scheme, work, space, h)) != 1.0:
                return SINGULAR
            is_stale = needs_factor = is_chord = False
        ratio, residual_before = residual / residual_before, residual
        copy(space.z_kept, z)
        if count[IS_REDUCED] == 1:
            call(space.solve_partitioned, t, (system, scheme, work, space, h))
        else:
            call(space.solve_newton, t, (system, scheme, work, space, h))
        size, is_rounding, _ = correct(space, 1.0, space.delta)
        iteration += 1
        count[ITERATIONS] += 1
        count[LAST] = iteration
        if iteration == 1 and count[IS_FLIGHT] == 0 and is_far_from_start(space):
            return NOT_CONVERGED
        theta = measure[THETA_NEWTON]
        if is_chord and halvings == 0 and not is_noise(system, space):
            theta = size / size_before
            if size > TELLING:
                measure[THETA_NEWTON] = theta
        left = GROWING * theta * min(left, size) if is_chord and halvings == 0 else math.inf
        is_held = measure[ROUNDINGS] <= NOISE and measure[VIOLATION] <= HELD
        is_solved = is_held and is_rounding and left <= BELOW_ROUNDING * EPS
        is_small = size < SMALL or (system.is_geometric == 1 and measure[ROUNDINGS] < MANY)
        is_stalled = size_before > 0.0 and size > NO_LONGER * size_before and ratio > CONVERGING
        stalls += is_stalled and is_small
        is_stuck = stalls >= MAX_STALLS and measure[VIOLATION] <= HELD
        is_below = is_below_rounding(system, size, theta)
        if is_stuck or is_solved or is_converged(system, space, size, is_stalled, is_below, is_rounding, stalls):
            if not is_stale:
                count[AGE] = 0
            return OK
        if not is_chord or theta * size < CLOSE:  # without a chord it may contract by much
            forget_angles(space)
        needs_factor = halvings > 0 or (
            is_chord and iterations_left(system, space, size, theta) > space.limits[NEWTON_LIMIT]
        )
        is_chord = True
        size_before = size
        halvings = 0
    return NOT_CONVERGED


@inlined_kernel
def solve_step(system, scheme, work, space, t, h):
    """Solve the step equations from the start in space.z, free flight or an extrapolation; a status."""
    count, z = space.count, space.z
    if count[MODE] == NEWTON and count[SINCE] >= count[RETRY]:
        count[MODE] = SIMPLIFIED
        count[AGE] = MAX_AGE
        space.measure[THETA_SIMPLIFIED] = 0.1
    count[SINCE] += 1
    count[AGE] += 1
    if count[MODE] == SIMPLIFIED:
        status = iterate_simplified(system, scheme, work, space, t, h)
        if status == OK:
            count[RETRY] = space.first_retry
            return OK
        copy(z, space.start)
        count[RETRY] = max(1, min(2 * count[RETRY], LAST_RETRY))
        count[MODE] = NEWTON
        count[SINCE] = 0
        count[AGE] = MAX_AGE
    status = call(space.iterate_newton, t, (system, scheme, work, space, h))
    return int(status) if status >= 0.0 else NOT_FINITE
