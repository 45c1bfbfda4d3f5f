"""What iterations decide by: one table of all thresholds of the Galerkin steps and of those in independent coordinates.

They stand in an array that a run's workspace holds, so that a campaign can change one of them at a time and see what it does
(`python -m tests.campaigns.thresholds`). A *rounding* of a residual is EPS times the largest of the terms that cancel in it; one
of a relative correction is EPS. `off` is the value at which a threshold decides nothing, where there is one.
"""

import math
from typing import NamedTuple

import numpy as np

EPS = 2.220446049250313e-16


class Tolerance(NamedTuple):
    """A threshold: its name, value, unit, what it decides, and the value at which it decides nothing."""

    name: str
    value: float
    unit: str
    meaning: str
    off: float | None = None


# fmt: off
TABLE = (
    # When a step is solved.
    Tolerance("BELOW_ROUNDING", 1e-4, "roundings",
              "error that an iteration aims to leave, small since it has the same sign at every step"),
    Tolerance("LEFT", 1e-2, "roundings",
              "error that the simplified iteration may leave after a correction that is noise in part", off=0.0),
    Tolerance("LEFT_OF_TURNS", 1e-3, "roundings",
              "error that may be left in an open tree with quaternions, of whose momenta none is that of a coordinate", off=0.0),
    Tolerance("OF_MOMENTA", 1e-2, "roundings",
              "with constraints, error that may be left, and the correction that ends Newton's iteration", off=0.0),
    Tolerance("HELD_LEFT", 1e-3, "of a correction",
              "error that may be left with constraints after a correction that is rounding", off=0.0),
    Tolerance("SURE", 10.0, "ratio",
              "factor by which such a correction is larger than what was expected to be left", off=math.inf),
    Tolerance("MORE", 2.0, "iterations",
              "that a step with constraints adds where its residual is rounding and the error left may not be", off=0.0),
    Tolerance("SOLVED", 2.0, "roundings",
              "of the residual, that are round-off itself without constraints or with those of loops", off=0.0),
    Tolerance("HELD_SOLVED", 4.0, "roundings",
              "of the residual with loops, where the correction is rounding of the positions", off=0.0),
    Tolerance("HELD", 1e-9, "of the coordinates",
              "largest |g| before the last correction: rows left out may contradict others", off=math.inf),
    Tolerance("OF_PLACES", 16.0, "roundings",
              "of the positions, that a correction which is their rounding may be", off=0.0),
    Tolerance("GROWING", 4.0, "ratio",
              "factor by which Newton's contraction may grow from one iteration to the next", off=1.0),
    # What is noise.
    Tolerance("ROUGH", 30.0, "roundings",
              "of the residual at least, below which a correction is noise in part and says nothing of the Jacobian", off=0.0),
    Tolerance("NOISE", 100.0, "roundings",
              "of the residual with loops, below which corrections may be the rounding of positions", off=0.0),
    Tolerance("FEW", 3.0, "roundings",
              "of the residual for each coordinate, up to which one correction that does not shrink is round-off", off=0.0),
    Tolerance("MANY", 1e3, "roundings",
              "of the residual, up to which several corrections that do not shrink are round-off", off=0.0),
    Tolerance("MAX_STALLS", 3.0, "corrections",
              "that do not shrink and are small are the rounding of the forces themselves", off=math.inf),
    Tolerance("SMALL", 1e-8, "of the increments",
              "correction of Newton's iteration that is small, but for open trees", off=0.0),
    Tolerance("STEADY", 8.0, "roundings",
              "of the residual of an open tree with quaternions, up to which it does not fall further", off=math.inf),
    Tolerance("NOISIEST", 100.0, "roundings",
              "of that residual, from which it falls further", off=math.inf),
    Tolerance("FALLING", 0.8, "ratio",
              "ratio to the residual before, up to which it falls", off=0.0),
    # How it converges.
    Tolerance("TELLING", 1e3 * EPS, "of the increments",
              "correction from which rounding does not blur its ratio to the one before", off=0.0),
    Tolerance("NO_LONGER", 0.5, "ratio",
              "ratio of corrections from which they no longer shrink", off=1.0),
    Tolerance("CONVERGING", 0.1, "ratio",
              "ratio of residuals below which they converge, whatever corrections do", off=0.0),
    Tolerance("SHRINKING", 0.3, "ratio",
              "ratio of corrections below which they converge, whatever residuals of mixed units do", off=0.0),
    Tolerance("FAR_OFF", 1e4, "roundings",
              "of the residual, from which it grows for other reasons than rounding", off=math.inf),
    Tolerance("CLOSE", 1e-11, "of the increments",
              "expected correction from which on angles are found anew, lest their rounding drifts", off=0.0),
    Tolerance("LEAST_DIVISOR", 1e-3, "ratio",
              "size of 1 - c that Broyden's update divides by at least", off=0.0),
    Tolerance("ASSUMED", 0.1, "ratio",
              "contraction that is assumed of the simplified iteration where it is tried again"),
    Tolerance("BY_PLACE", 0.05, "ratio",
              "part of the change of momenta by the rounding of positions in g that an old Jacobian leaves", off=0.0),
    # What a step starts with.
    Tolerance("FADING", 0.999, "ratio",
              "part of the impulses of redundant constraints that the next step starts with (they grew by 5e-5)", off=1.0),
    # When a Jacobian is renewed.
    Tolerance("SERVED", 2.0, "steps",
              "that a Jacobian which contracts serves at least, of schemes with one control point", off=1.0),
    Tolerance("STEPS_ANEW", 16.0, "steps",
              "that begin with a new Jacobian after one where that of the step before had to be formed anew", off=0.0),
    Tolerance("MAX_AGE", 20.0, "steps",
              "that a Jacobian serves at most", off=1.0),
    Tolerance("ITERATIONS_BEFORE", 3.0, "iterations",
              "that the step before took, beyond which a Jacobian is formed anew", off=math.inf),
    Tolerance("ADDED", 0.5, "of NEWTON_LIMIT",
              "that is added, with loops, to ITERATIONS_BEFORE", off=0.0),
    # When Newton's iteration replaces the simplified one.
    Tolerance("EXPENSIVE", 10.0, "evaluations",
              "that Newton's matrix costs, from which the simplified iteration may be slow, up to LONG_MOST and LONG_GROWTH",
              off=math.inf),
    Tolerance("SHORT_MOST", 50.0, "iterations", "of the simplified iteration at most"),
    Tolerance("SHORT_PATIENCE", 2.0, "iterations", "in a row that may be slow", off=math.inf),
    Tolerance("SHORT_GROWTH", 1.0, "ratio", "of a residual to the first one that is allowed", off=math.inf),
    Tolerance("SHORT_PARALLEL", 0.5, "of a correction",
              "part along the one before from which it is not lengthened; where Newton's matrix is expensive, only once one "
              "was noise in part", off=math.inf),
    Tolerance("LONG_MOST", 150.0, "iterations", "of the simplified iteration at most, where Newton's matrix is expensive"),
    Tolerance("LONG_GROWTH", 1e3, "ratio", "of a residual to the first one that is allowed there", off=math.inf),
    # Where it gives up.
    Tolerance("FIRST_RETRY", 4.0, "steps",
              "with Newton's iteration, after which the simplified one is tried again at first"),
    Tolerance("LAST_RETRY", 64.0, "steps",
              "with Newton's iteration after each of many failures of the simplified one; the number doubles up to it"),
    Tolerance("MAX_ITERATIONS", 60.0, "iterations",
              "of Newton's method or in independent coordinates, after which a step has failed"),
    Tolerance("MAX_HALVINGS", 12.0, "halvings",
              "of a step of Newton's iteration that is too long", off=0.0),
    Tolerance("FAR", 0.1, "of the increments",
              "distance of a solution from its start, from which the start is not trusted", off=math.inf),
    # In independent coordinates.
    Tolerance("FAR_VELOCITIES", 0.5, "of the velocities",
              "correction of an extrapolation that is not trusted", off=math.inf),
    Tolerance("ENOUGH", 2.0, "corrections",
              "that are noise in part, after which a step may end", off=0.0),
    Tolerance("CLOSED", 1e-14, "of their move",
              "correction of the dependent coordinates that is round-off", off=0.0),
    Tolerance("LEAST_PIVOT", 1e-9, "of the row of G",
              "pivot where coordinates are chosen, below which it is singular", off=0.0),
    Tolerance("WEAK", 2.0, "ratio",
              "factor by which a pivot has become smaller where coordinates are chosen anew", off=math.inf),
)
VALUES = np.array([each.value for each in TABLE])
(
    BELOW_ROUNDING, LEFT, LEFT_OF_TURNS, OF_MOMENTA, HELD_LEFT, SURE, MORE, SOLVED, HELD_SOLVED, HELD, OF_PLACES, GROWING,
    ROUGH, NOISE, FEW, MANY, MAX_STALLS, SMALL, STEADY, NOISIEST, FALLING,
    TELLING, NO_LONGER, CONVERGING, SHRINKING, FAR_OFF, CLOSE, LEAST_DIVISOR, ASSUMED, BY_PLACE,
    FADING,
    SERVED, STEPS_ANEW, MAX_AGE, ITERATIONS_BEFORE, ADDED,
    EXPENSIVE, SHORT_MOST, SHORT_PATIENCE, SHORT_GROWTH, SHORT_PARALLEL, LONG_MOST, LONG_GROWTH,
    FIRST_RETRY, LAST_RETRY, MAX_ITERATIONS, MAX_HALVINGS, FAR,
    FAR_VELOCITIES, ENOUGH, CLOSED, LEAST_PIVOT, WEAK,
) = range(len(TABLE))
SHORT = slice(SHORT_MOST, SHORT_PARALLEL + 1)  # of the simplified iteration where Newton's matrix is cheap
# fmt: on
