"""The loop over steps that all steppers share: in pieces, between which states are recorded and progress is reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mbvi.errors import EventError, StepError
from mbvi.kernels import layout
from mbvi.kernels.compiler.compiling import COMPILING
from mbvi.kernels.compiler.packed import Packed
from mbvi.results.trajectory import Statistics, Trajectory, seen_trajectory
from mbvi.steppers.audit import Audit
from mbvi.steppers.carried import Carried, carried
from mbvi.steppers.contact_log import ContactLog
from mbvi.steppers.happened import Happenings
from mbvi.steppers.record import Record
from mbvi.steppers.run import Run

Array = np.ndarray
Piece = Callable[[int, int, Array, Array], tuple[int, int]]
PIECE_SECONDS = 0.1
FIRST_STEPS = 1e4  # number of steps of the first piece, times (n + k)², which bounds the cost of a step
LARGER = 100.0  # factor of the number of steps of the piece before; with loops a piece costs 0.1 ms besides its steps
AHEAD = np.linspace(0, 1, 17)  # places on a failed step, if it flew on, where what fails it is looked for
ENDED = -1
"""The status of steps at whose end an event ends the run, besides those of kernels."""
REASONS = {
    layout.NOT_CONVERGED: "Newton's iteration did not converge",
    layout.SINGULAR: "the equations of the step became singular",
    layout.NOT_FINITE: "a force or momentum became infinite or not a number",
}
REASONS_WITHOUT_MOMENTA = {
    layout.NOT_CONVERGED: "the iteration for the acceleration did not converge",
    layout.SINGULAR: "the mass matrix became singular",
    layout.NOT_FINITE: "the state became infinite or not a number",
}


@dataclass(frozen=True, eq=False)
class Stepper:
    """What does the steps of a run, ready at its start.

    Attributes
    ----------
    piece : callable
        ``piece(first, last, out_q, out_p)`` does the steps from `first` to before `last`, multiples of `every`, and writes the
        one state of `every` steps into the rows of out_q and out_p (rows, n); it returns a status and the number of steps done
        since the start.
    state : sequence of Carried
        All that is carried from one piece to the next.
    counted : callable, optional
        Gives the iterations until then, the most of a step, and the factorizations of the mass matrix and of the whole Jacobian.
    failure : callable, optional
        ``failure(step, status)`` says why a step failed.
    audit : Audit, optional
        The watch over the run, if it is shown more than the stored states.
    happenings : Happenings, optional
        The events that happened, if it looks for some; its status is then ENDED where one ends the run.
    contacts : ContactLog, optional
        What happened to the contacts of the system, if it has some.
    part : callable, optional
        ``part(step, t, h, q, p)`` does a part, of length h from a state at time t, of the step of a number, and gives the state
        at its end, where that is no step of the scheme alone.
    anew : callable, optional
        ``anew(step, q, p)`` goes on from a state after so many steps, where a new stepper would not do the same.
    cause : callable
        Gives the error of a function of the user's that made a step fail, if one did.
    one : callable, optional
        ``one(number, out_q, out_p)`` does one step as `piece` does, into out_q and out_p (1, 1, n), with less around it, and
        returns its status.
    """

    piece: Piece
    state: Sequence[Carried]
    counted: Callable[[], Sequence[int]] = lambda: (0, 0, 0, 0)
    failure: Callable[[int, int], str] | None = None
    audit: Audit | None = None
    happenings: Happenings | None = None
    contacts: ContactLog | None = None
    part: Callable[[int, float, float, Array, Array], tuple[Array, Array]] | None = None
    anew: Callable[[int, Array, Array], None] | None = None
    cause: Callable[[], Exception | None] = lambda: None
    one: Callable[[int, Array, Array], int] | None = None

    def reason(self, run: Run, step: int, status: int) -> str:
        """Why a step failed."""
        return self.failure(step, status) if self.failure else run.failure(step, REASONS[status])


def advance(run: Run, stepper: Stepper, most_steps: int = 1 << 62) -> Trajectory:
    """Do all steps of a run.

    Parameters
    ----------
    run : Run
    stepper : Stepper
    most_steps : int
        Between two calls of the progress of the run, if its states are stored that often.

    Raises
    ------
    StepError
        If a step fails.
    EventError
        If an event that the run was to go on to does not come, or cannot be looked for.
    """
    audit, piece, happenings = stepper.audit or Audit(run), stepper.piece, stepper.happenings
    with Record(run, [*stepper.state, *map(Carried, audit.state)], happenings, stepper.contacts) as record:
        audit.findings += record.findings
        done, status, seconds = record.done, layout.OK, record.seconds
        size = max(run.system.dimension + run.system.constraint_count, 1)
        length = run.every * max(1, int(FIRST_STEPS / size**2 / run.every))
        most = run.every * max(1, most_steps // run.every)
        piece(done, done, *record.room())  # compiles, or loads what was compiled
        while done < run.steps and status == layout.OK:
            out_q, out_p = record.room()
            last = done + min(length, run.every * len(out_q), most)
            began = time.perf_counter() - COMPILING.seconds
            status, done = piece(done, last, out_q, out_p)
            spent = time.perf_counter() - COMPILING.seconds - began
            row, rows = record.done // run.every + 1, done // run.every - record.done // run.every
            audit.add(row, run.stored_times(row, row + rows), out_q[:rows], out_p[:rows])
            seconds += spent
            length = run.every * max(1, round(min(LARGER, PIECE_SECONDS / max(spent, 1e-6)) * length / run.every))
            record.add(done, Statistics(done, seconds, *map(int, stepper.counted())), status == layout.OK)
            if run.progress is not None:
                run.progress(done, run.steps)
        trajectory = record.trajectory()
        trajectory = record.ended(trajectory, audit.end(trajectory))
        trajectory = seen_trajectory(trajectory)
    if happenings is not None and (happenings.failure or (status == layout.OK and happenings.is_to_come)):
        raise EventError(happenings.failure or _not_come(trajectory), trajectory)
    if status not in (layout.OK, ENDED):
        raise StepError(stepper.reason(run, done, status), trajectory) from stepper.cause()
    return trajectory


def _not_come(trajectory: Trajectory) -> str:
    """What is said where the event that a run was to go on to did not come."""
    return (
        f"until: the event did not come until t = {trajectory.t[-1]:.6g} s. All states are in error.trajectory. "
        "A longer duration may help, or another direction."
    )


def stepper_of_velocities(
    run: Run, kernel: Callable[..., tuple[int, int]], space: Packed, work: Packed, count: Array | None = None
) -> Stepper:
    """What does steps by a kernel on coordinates and velocities, which takes the sizes of all steps.

    Parameters
    ----------
    run : Run
    kernel : callable
        ``kernel(t, h, every, out_q, out_p)`` does steps of sizes h (steps,) from times t; it returns a status and the steps done.
    space, work : Packed
        What it overwrites.
    count : ndarray of int (3,), optional
        Where it counts iterations in all, the most of a step, and factorizations.
    """

    def piece(first: int, last: int, out_q: Array, out_p: Array) -> tuple[int, int]:
        status, done = kernel(*run.clock(first, last), run.every, out_q, out_p)
        return status, first + done

    return Stepper(
        piece,
        carried(space, work),
        lambda: (0, 0, 0, 0) if count is None else (count[0], count[1], 0, count[2]),
        lambda step, status: run.failure(step, REASONS_WITHOUT_MOMENTA[status]),
    )


def stepper_of_map(
    run: Run,
    one_step: Callable[[Array, Array], tuple[Array, Array]],
    dtype: type = float,
    state: Sequence[Array] = (),
) -> Stepper:
    """What repeats a step (p, q) → (p', q') on arrays (n,) of a floating-point type, which carries `state`, of such numbers.

    A step fails where the state becomes infinite or not a number, or where it raises an ArithmeticError, which says why.
    """
    p: Array = run.p.astype(dtype)
    q: Array = run.q.astype(dtype)
    reason = ""

    def piece(first: int, last: int, out_q: Array, out_p: Array) -> tuple[int, int]:
        nonlocal reason
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(first, last):
                try:
                    p[:], q[:] = one_step(p, q)
                    if (step + 1) % run.every == 0:
                        row = (step - first) // run.every
                        out_q[row], out_p[row] = q, p
                        if not (np.isfinite(out_q[row]).all() and np.isfinite(out_p[row]).all()):
                            raise ArithmeticError("the state became infinite or not a number")
                except ArithmeticError as error:
                    reason = str(error)
                    return layout.NOT_CONVERGED, step
        return layout.OK, last

    return Stepper(piece, [Carried(each) for each in (p, q, *state)], failure=lambda step, _: run.failure(step, reason))
