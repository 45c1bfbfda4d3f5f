"""What every run is watched for: energy that leaves its level, and Euler angles that pass gimbal lock.

The energy balance (`mbvi.analysis.balance`) is sampled, at last at every 256th step. Whenever a long run has too many samples,
every second one is dropped. At the end of the run the samples show whether the level was left. Where forces or drives do
work, all states between the two samples in question are looked at before anything is said.

Some states are looked at for motions with very little inertia. Near gimbal lock of Euler angles the energy may be kept and the
motion be wrong: there every step is looked at.

Where samples lie depends on the numbers of steps alone, not on the pieces of a run, nor on where it was resumed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbvi.analysis.balance import (
    JUMP,
    ROUNDING,
    SAMPLES,
    Energies,
    energies_of,
    energies_of_rounding,
    exchanged,
    first_departure,
    first_works,
    is_known,
    largest_powers,
)
from mbvi.model.touching import has_moving_stops, stops_of
from mbvi.results.trajectory import Finding, Trajectory
from mbvi.steppers.run import Run
from mbvi.system.causes import PULLEY, almost_no_inertia, rope_without_direction
from mbvi.system.contacts import PENETRATION
from mbvi.system.euler_angles import NEAR, EulerAngles, euler_angles
from mbvi.system.projection import LARGE
from mbvi.system.regularity import independence, weightless_near
from mbvi.system.rubbing import rubs_of
from mbvi.system.system import System

Array = np.ndarray
NEAREST, EVERY = 16, 256  # steps between two samples, at first and at last
MOST_SAMPLES = 512  # number of samples that are kept
MOST_CORRECTIONS = 32  # places where the work of forces is looked at more closely
MOST = 0.5  # part of what a balance gained that the work of forces must leave unexplained, where it is looked at, for a finding
NARROW = 10.0  # factor by which the power of a force of the user's own is larger in one step than in those beside it
COARSE = 16  # number of parts in which such a place is looked at first
MOST_STATES = 1 << 16  # number of states that are looked at in such a place
MOST_LOOKS, LITTLE = 16, 1e-6  # states that are looked at for inertia, and what is little of it, relative to the start
ROW, BALANCE = 0, 1  # the first of what is kept of a sample: number of its row, U, T, V, and what is round-off


def _may_push(system: System) -> bool:
    """Whether drives do work on contacts: prescribed motions, or stops that move."""
    assert system.model is not None
    return system.is_driven or has_moving_stops(system.model.resolved())


def _rubs(system: System) -> bool:
    """Whether stops have friction, of which some samples do not show what it takes."""
    assert system.model is not None
    return bool(rubs_of(tuple(stops_of(system.model.resolved()))))


class Audit:
    """The watch over a run.

    Attributes
    ----------
    findings : list of Finding
        What must be reported to the user.
    taken : callable or None
        ``taken(t, q)`` gives the energy that contacts took until times t (states,), of coordinates q (states, n) [J].
    state : tuple of ndarray
        What is carried from one piece of the run to the next.
    """

    def __init__(self, run: Run) -> None:
        system = run.system
        self._run, self._system = run, system
        self.findings: list[Finding] = []
        self._is_known = is_known(system) and not (system.has_contacts and (_may_push(system) or _rubs(system)))
        self._is_forced = system.is_driven or system.unforced is not system
        self.taken: Callable[[Array, Array], Array] | None = None
        start = energies_of(system, np.array([run.start_time]), run.q[None], run.p[None])
        self._last = np.ravel(start)  # t, T, V and the powers at the last sample
        self._sums = np.array([0.0, 1.0])  # U there, and what divides the numbers of those kept
        self._noise = float(energies_of_rounding(system, run.q[None], run.step, run.start_time)[0])
        if system.has_contacts:  # which close that far from where their gaps are zero
            at_rest = system._forces_at_rest(np.array([run.start_time]), run.q[None])
            self._noise += PENETRATION * float(np.abs(at_rest).sum())
        self._work = float(first_works(system, run.q[None], run.start_time)[0])
        self._samples = np.full((5, MOST_SAMPLES), np.nan)
        self._start = run.q, run.start_time
        self._angles = euler_angles(system)
        self._state = np.stack([np.full_like(run.q, np.nan), run.q])  # the last two
        self.state = (self._last, self._sums, self._samples, self._state)
        self._keep(np.zeros(1), start, np.zeros(1))

    def join(self, other: Audit | None) -> None:
        """Report what another watch over the same run finds too, and know what it knows of contacts."""
        if other is not None:
            self.findings, self.taken = other.findings, other.taken

    # -------------------------------------------------------------------------------------------- energy

    def add(self, first: int, t: Array, q: Array, p: Array) -> None:
        """Look at the stored states of numbers first, first + 1, …: times (rows,), coordinates and momenta (rows, n)."""
        if self._run.every == 1:
            self.look(first - 1, q)
        if self._is_known:
            rows = sampled_rows(first, first + len(t), self._run.every)
            with np.errstate(over="ignore", invalid="ignore"):  # of a motion that blows up
                self._sample(rows, t[rows - first], q[rows - first], p[rows - first])

    def _sample(self, rows: Array, t: Array, q: Array, p: Array) -> None:
        """Take samples of these numbers."""
        if not len(rows):
            return
        found = self._energies_of(t, q, p)
        are_known = np.isfinite(found).all(axis=0)  # not where the mass matrix is singular
        if are_known.any():
            rows, found = rows[are_known], Energies(*np.array(found)[:, are_known])
            balances = self._sums[0] + np.cumsum(found.since(Energies(*self._last[:, None])).gains())
            self._keep(rows, found, balances)
            self._last[:], self._sums[0] = np.ravel(found.last()), balances[-1]

    def _columns(self, rows: Array, found: Energies, balances: Array) -> Array:
        """What is kept of samples (5, samples)."""
        rounding = self._noise + ROUNDING * (np.abs(found.kinetic) + np.abs(found.potential))
        return np.stack([rows, balances, found.kinetic, found.potential, rounding])

    def _keep(self, rows: Array, found: Energies, balances: Array) -> None:
        """Keep samples; where they are too many, every second one is dropped."""
        kept = np.concatenate([self._kept(), self._columns(rows, found, balances)], axis=1)
        kept = kept[:, kept[ROW] % self._sums[1] == 0]
        while kept.shape[1] > MOST_SAMPLES:
            self._sums[1] *= 2
            kept = kept[:, kept[ROW] % self._sums[1] == 0]
        self._samples[:] = np.nan
        self._samples[:, : kept.shape[1]] = kept

    def _kept(self) -> Array:
        return self._samples[:, np.isfinite(self._samples[ROW])]

    def end(self, trajectory: Trajectory) -> tuple[Finding, ...]:
        """All findings of the run, of which `trajectory` has the states; the last are looked at closely."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self._is_known:
                self._find_departure(trajectory)
                self._find_pole(trajectory)
            self._find_light(trajectory)
        return tuple(self.findings)

    def _with_end(self, trajectory: Trajectory) -> Array:
        """The samples (5, samples), of which the last are as many near the end as make a level, whatever its number."""
        kept, last = self._kept(), len(trajectory) - 1
        rows = last - max(1, last // EVERY) * np.arange(SAMPLES - 1, -1, -1)
        kept = kept[:, kept[ROW] <= last]
        before = kept[:, kept[ROW] < max(1, rows[0])]
        if not before.size or kept.shape[1] - before.shape[1] >= SAMPLES:
            return kept
        rows = np.append(before[ROW, -1:].astype(int), rows[rows > before[ROW, -1]])
        found = self._energies(trajectory, rows)
        are_known = np.isfinite(np.array(found)).all(axis=0)
        if not are_known[0]:
            return kept
        found = Energies(*np.array(found)[:, are_known])
        balances = before[BALANCE, -1] + np.cumsum(found.gains())
        return np.concatenate([before, self._columns(rows[are_known], found, np.append(0.0, balances))[:, 1:]], axis=1)

    def _find_light(self, trajectory: Trajectory) -> None:
        """Look at some states for motions almost without inertia."""
        system, count = self._system, min(MOST_LOOKS, (len(trajectory) - 1) * self._run.every // EVERY)
        if not count or system.dimension + system.constraint_count > LARGE:
            return
        at_start = independence(system, *self._start)
        for row in np.linspace(0, len(trajectory) - 1, count + 1)[1:].astype(int):
            t, q = float(trajectory.t[row]), trajectory.q[row]
            part = independence(system, q, t) / at_start
            if part < LITTLE and (light := self._light(t, q, np.zeros_like(q))):
                text = (
                    f"at t = {t:.6g} s the motion is {light[0]} ({part:.1g} of that at the start); velocities have few true "
                    f"digits there: {light[1]}"
                )
                self.findings.append(Finding("inertia", t, part, text))
                return

    def _find_departure(self, trajectory: Trajectory) -> None:
        """Look whether the balance left its level, and where."""
        rows, balance, kinetic, potential, rounding = self._with_end(trajectory)
        are_known = np.zeros(balance.shape, bool)  # gains before which samples were looked at closely
        claimed = confirmed = 0.0
        for _ in range(MOST_CORRECTIONS):
            found = first_departure(rows * self._run.every, balance, kinetic, potential, rounding, self._work)
            if found is None:
                return
            place, level = found
            gains = np.where(are_known, 0.0, np.abs(np.diff(balance, prepend=0.0)))
            largest = int(np.argmax(gains[: place + 1]))
            if gains[largest] == 0.0:
                break
            gain = float(balance[largest] - balance[largest - 1])
            closer, row = self._located(trajectory, int(rows[largest - 1]), int(rows[largest]), gain)
            if gains[largest] > MOST * abs(balance[place]) and abs(closer) > MOST * abs(gain):
                self.findings.append(self._departure(trajectory, row, level))
                return
            claimed, confirmed = claimed + abs(gain), confirmed + abs(closer)
            balance[largest:] += closer - gain
            are_known[largest] = True
        if confirmed > MOST * claimed:
            self.findings.append(self._departure(trajectory, int(rows[place]), level))

    def _find_pole(self, trajectory: Trajectory) -> None:
        """Look for a step that passes a pole of a force of the user's own, where its power changes its sign."""
        rows = self._kept()[ROW].astype(int)
        rows = rows[rows < len(trajectory)]
        has_departure = any(each.kind == "energy" for each in self.findings)
        if has_departure or self._system._own_force is None or self._run.every > 1 or len(rows) < 2:
            return
        found = self._energies(trajectory, rows)
        scales = exchanged(found.kinetic, found.potential)
        for place in found.changes_of_sign():
            first = max(0, int(rows[place]) - 1)
            inside = self._energies(trajectory, slice(first, int(rows[place + 1]) + 2))
            for step in inside.changes_of_sign():
                if (level := inside.unexplained(step) / scales[place]) > JUMP:
                    self.findings.append(self._departure(trajectory, first + step, level))
                    return

    def _located(self, trajectory: Trajectory, first: int, last: int, gain: float) -> tuple[float, int]:
        """What the balance gains between two rows beyond what forces explain, and the row from which on most of it is gained."""
        if self._is_forced:
            last = min(last, first + MOST_STATES)
            if self._system._own_force is not None and self._run.every == 1:
                spike = self._energies(trajectory, slice(first, last + 1)).spike(MOST * abs(gain), NARROW)
                if spike is not None:
                    return gain, first + spike
            coarse = self._energies(trajectory, np.unique(np.linspace(first, last, COARSE + 1).astype(int)))
            closer = float(np.nansum(coarse.gains()))
            if abs(closer) <= MOST * abs(gain):
                return closer, first
            jumps = self._jumps(trajectory, slice(first, last + 1))
            if not np.isfinite(jumps).any():
                return 0.0, first
            return float(np.nansum(jumps)), first + int(np.nanargmax(np.abs(jumps)))
        begin = self._energies(trajectory, slice(first, first + 1))
        while last - first > 1:
            middle = (first + last) // 2
            if abs(self._energies(trajectory, slice(middle, middle + 1)).since(begin).gains()[0]) > 0.5 * abs(gain):
                last = middle
            else:
                first = middle
        return gain, first

    def _jumps(self, trajectory: Trajectory, rows: slice) -> Array:
        """What the balance gains between rows that follow one another, beyond what forces explain."""
        found = self._energies(trajectory, rows)
        if self._run.every == 1:
            return found.jumps()
        states = trajectory.t[rows], trajectory.q[rows], trajectory.p[rows]
        return found.leaps(largest_powers(self._system, *states, self._run.every * self._run.step))

    def _energies(self, trajectory: Trajectory, rows: slice | Array) -> Energies:
        return self._energies_of(trajectory.t[rows], trajectory.q[rows], trajectory.p[rows])

    def _energies_of(self, t: Array, q: Array, p: Array) -> Energies:
        """Energies of states, to which what contacts took is added."""
        found = energies_of(self._system, t, q, p)
        return found if self.taken is None else found._replace(potential=found.potential + self.taken(t, q))

    def _departure(self, trajectory: Trajectory, row: int, level: float) -> Finding:
        """What is said of a departure in the step after a row."""
        t, q = trajectory.t[row : row + 2], trajectory.q[row : row + 2]
        cause, remedy = self._cause(float(t[0]), q[0], q[1] - q[0])
        balance = "energy less the work of forces and drives" if self._is_forced else "energy"
        text = (
            f"from t = {t[0]:.6g} s on the {balance} is off its level by {level:.2g} of the energies' scale, {cause}; what "
            f"follows cannot be trusted: {remedy}"
        )
        return Finding("energy", float(t[0]), level, text)

    def _cause(self, t: float, q: Array, move: Array) -> tuple[str, str]:
        """The likely cause of what goes wrong in a step from q, and the remedy."""
        light = self._light(t, q, move)
        if light is not None:
            return light
        if rope := rope_without_direction(self._system, q, move):
            return f"since two points of {rope} meet near there, where it has no direction", _inside(PULLEY)
        inertia = np.maximum(np.diag(self._system.mass_matrix(q, t)), 0.0)
        name = self._system.coordinate_names[int(np.argmax(np.abs(move) * np.sqrt(inertia)))]
        cause = (
            f"most likely since the step is too large, or steps over a collision or a force without bound, near {name}"
        )
        return cause, f"{self._smaller_step(t)}, and see whether this changes"

    def _light(self, t: float, q: Array, move: Array) -> tuple[str, str] | None:
        """A finding that something can move almost without inertia near q, with the remedy; None where nothing can."""
        names = weightless_near(self._system, self._start, q, move, t) if np.isfinite(move).all() else []
        if not names:
            return None
        why, remedy = almost_no_inertia(self._system, names)
        cause = f"near a position in which {', '.join(names)} can move almost without inertia{why}"
        angles = [each.joint for each in euler_angles(self._system) if each.joint in names]
        if angles:
            return cause, f"write coordinates: quaternion in joints.{angles[0]}"
        return cause, f"{_inside(remedy)}, or {self._smaller_step(t)}"

    def _smaller_step(self, t: float) -> str:
        sizes = self._run.step_sizes
        return f"try step={self._run.step / 4:.3g}" if sizes is None else "try steps of a quarter of their sizes"

    # ----------------------------------------------------------------------------------------- Euler angles

    def look(self, first: int, q: Array) -> None:
        """Look at the steps from number first on, after which the coordinates are q (steps, n)."""
        self._angles = [each for each in self._angles if all(each.joint != finding.where for finding in self.findings)]
        states = np.concatenate([self._state, q])
        for angles in self._angles:
            found = angles.first_unresolved(states[:, angles.place : angles.place + 3])
            if found is not None:
                self.findings.append(self._lock(angles, first + found[0], found[1]))
        self._state[:] = states[-2:]

    def _lock(self, angles: EulerAngles, step: int, ratio: float) -> Finding:
        """What is said of a step that passes gimbal lock."""
        t = float(self._run.clock(step, step + 1)[0][0])
        part = f"{ratio:.2g}" if ratio < 1e3 else "more than a thousand"
        text = (
            f"at t = {t:.6g} s the Euler angles of {angles.joint} pass gimbal lock within about a step (by a turn of {part} "
            f"times the distance from it), where the motion may be wrong even if energy and momenta are kept: write coordinates: "
            f"quaternion in joints.{angles.joint}"
        )
        return Finding("gimbal lock", t, ratio, text, angles.joint)


def _inside(sentence: str) -> str:
    """A sentence as the end of another one."""
    return f"{sentence[0].lower()}{sentence[1:].rstrip('.')}"


def sampled_rows(first: int, last: int, every: int) -> Array:
    """Numbers of the stored states that are samples, from first to before last, about a quarter or an eighth of their own apart.

    Examples
    --------
    >>> sampled_rows(1, 1000, 1).tolist()
    [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896]
    """
    parts, apart, begin = [], NEAREST, 0
    while begin < last and apart <= EVERY:
        stride = max(1, apart // every)
        end = last if apart == EVERY else min(last, -(-8 * apart // every) + 1)
        parts.append(np.arange(-(-max(first, begin) // stride) * stride, end, stride))
        begin, apart = end, 2 * apart
    return np.concatenate(parts)


def are_doubtful(system: System, t: Array, q: Array, p: Array, step: float, every: int) -> Array:
    """Which of many runs, of states q, p (runs, rows, n) at times t (rows,), have to be looked at one by one, (runs,).

    Those whose balance becomes larger than what a finding would say at least, and those that come near gimbal lock.
    """
    found = np.zeros(len(q), bool)
    for angles in euler_angles(system):
        theta = q[..., angles.place + 1]
        moved = (
            np.abs(np.diff(theta)).max(axis=1, initial=0.0) if every > 1 else 0.0
        )  # what steps between rows may move
        found |= angles.distance(theta).min(axis=1) < NEAR + moved
    if is_known(system) and len(q):
        last = np.arange(max(1, len(t) - SAMPLES), len(t))
        taken = np.unique(np.concatenate([[0], sampled_rows(1, len(t), every), last]))
        flat = (x[:, taken].reshape(-1, system.dimension) for x in (q, p))
        all_runs = energies_of(system, np.tile(t[taken], len(q)), *flat)
        of_runs = Energies(*(each.reshape(len(q), -1) for each in all_runs))
        balance = np.abs(np.cumsum(of_runs.gains(), axis=1)).max(axis=1, initial=0.0)
        noise = energies_of_rounding(system, q[:, 0], step, float(t[0]))
        found |= ~(balance <= JUMP * exchanged(of_runs.kinetic, of_runs.potential)[:, -1] + noise)
    return found
