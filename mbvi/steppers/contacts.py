"""Steps of a motion with stops and dry friction: smooth parts, and between them what happens at an instant.

Which stops are closed and which frictions hold makes a *mode*, in which the motion is smooth. The steps of a mode are those of
its own system, in compiled loops. All of them are looked at, and where one passes an event ψ = 0, it is solved again with the
length that ends on the event, the laws of the instant say what happens and which mode follows, and the rest of the step ends on
the old grid. Events, all of which decrease to zero, are

    an open stop         ψ = φ, its gap              sliding       ψ = ± v of the coordinate, or ± the slip of a stop
    a closed stop        ψ = λ, its force            holding       ψ = F ∓ λ_t, with the friction's force λ_t; F = μ λ of a stop

Forces are those of the equations of motion at the end of a step, and not its multipliers, which have fewer orders.

A gap that has just been zero is zero but for rounding. After a bounce (φ − φ₀)/τ is looked at instead, so that it may bounce
again in the same step; after a release, which begins as τ³, the stop is *idle*, and counts again when it is open beyond rounding.

Sources: Fetecau, Marsden, Ortiz & West 2003 (nonsmooth Lagrangian mechanics and variational collision integrators).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from mbvi.errors import KEPT, ModelError, ModelWarning, StepError, stack_level
from mbvi.kernels import layout
from mbvi.model.expressions import wrong
from mbvi.results.contacts import IMPACT, RELEASE, REST, SLIP, STICK
from mbvi.results.trajectory import Finding
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.audit import Audit
from mbvi.steppers.carried import MOST_COUNTED, Carried
from mbvi.steppers.conditions import is_midpoint
from mbvi.steppers.contact_laws import MOST_ROUNDS, STILL, Instant, paradox
from mbvi.steppers.contact_log import ContactLog
from mbvi.steppers.galerkin import step_message
from mbvi.steppers.loop import REASONS, Stepper
from mbvi.steppers.part_step import PartStep
from mbvi.steppers.run import Run
from mbvi.steppers.sliding import SlidingPart, SlidingSteps, paradox_near, part_of
from mbvi.steppers.smooth import Smooth
from mbvi.steppers.zeros import RESOLUTION, find_least, find_zero
from mbvi.system.contacts import FREE, PENETRATION, Contacts, Mode, ModeSystem
from mbvi.system.cubics import on_cubics

Array = np.ndarray
ARMED, CLOSED, LEAVING, IDLE = range(4)
"""What a stop is: open, closed, just bounced, or at zero without a force."""
HELD, FRESH = 0, 2
"""A friction: 0 where it holds, or the sign of its rate, twice that where it has just begun; FREE where it does nothing."""
FIRST_LOOK, MOST_STEPS, ANCHORED = 8, 1024, 4096  # steps that are looked at together, and after which loops begin anew
PLACES = 0.5 - 0.5 * np.cos(np.pi * np.arange(5) / 4)  # of Chebyshev's points in a step
POLYNOMIAL = np.linalg.inv(np.vander(PLACES, increasing=True))
NEAR = 0.5  # least |ψ| at these places, as part of how far it goes in the step, from which it does not reach zero
CLOSE = 0.05  # |ψ| at an extremum, as part of the same, at which the extremum is determined
TOUCH = 1e-10  # gap [m or rad] at which a stop touches while something else happens, and which an idle one must leave
SHUT = 1e-14  # gap [m or rad] of a stop that closes which is rounding
MOST_SHIFTS = 3  # of coordinates, until such gaps are zero
PASSED = 1e-6  # gap [m or rad] below zero after a step, or above it at an impact, that its motion does not explain
SHORTEST = 1e-14  # rest of a step, as part of it, that is rounding
MOST_EVENTS = 20_000  # within a step
MOVES = 1e-9  # rate [m/s or rad/s] from which what was at rest moves
ACROSS = 1e-9  # slip across the direction of a friction that is rounding, as part of the largest speed and of 1 [m/s]
PARADOX = 1e-9  # regularity of what slides, up to which its forces are without bound
START = -1


def begin(run: Run) -> Stepper:
    """What does the steps of a run with contacts."""
    steps = ContactSteps(run)
    return Stepper(
        steps.advance,
        steps.carried,
        failure=steps.failure,
        audit=steps.audit,
        contacts=steps.log,
        part=steps.part,
        anew=steps.begin_anew,
    )


class ContactSteps:
    """The steps of a run with contacts.

    Attributes
    ----------
    anchor : ndarray (2, n)
        The state that the present loop began from.
    numbers : ndarray of int
        The number of its step, what every stop is, and how every friction slides.
    places : ndarray
        Gaps of the stops when they were zero, and coordinates at which frictions hold.
    held : ndarray
        The inputs of actuators since then.
    log : ContactLog
    """

    def __init__(self, run: Run) -> None:
        assert isinstance(run.method, Tableau)
        self._run, self.audit = run, Audit(run)
        self._start_time = run.start_time + run.done * run.step
        self.contacts = contacts = Contacts(run.system, run.q, self._start_time)
        self.log = ContactLog(run.system, contacts.names, self._present)
        self.audit.taken = self.log.taken
        stops, frictions = len(contacts.stops), len(contacts.frictions) + len(contacts.rubs)
        self.anchor, self.held = np.stack([run.q, run.p]), run.system.arrays.inputs.copy()
        self.numbers = np.zeros(1 + stops + frictions, np.int64)
        self._is, self._slides = self.numbers[1 : 1 + stops], self.numbers[1 + stops :]
        self.places = np.zeros(stops + frictions)
        self._zero, self._holds_at = self.places[:stops], self.places[stops:]
        self._parts: dict[Mode, PartStep | SlidingPart] = {}
        self._loops: dict[Mode, Smooth | SlidingSteps] = {}
        self._base = PartStep(run.system, run.method)
        self._now, self._step, self._look, self._reason = self.anchor.copy(), -1, FIRST_LOOK, ""
        self._looks_at = -1  # the step that is looked at
        self._begin_run()

    # -------------------------------------------------------------------------------------------- the run

    def _begin_run(self) -> None:
        """Find what the contacts are at the start."""
        run, contacts = self._run, self.contacts
        gaps = contacts.gaps(np.array([self._start_time]), run.q[None])[0]
        for number in np.flatnonzero(np.isnan(gaps)):
            text = (
                f"contacts.{contacts.names[number]}: its gap has no value at the start, so that it stops nothing there"
            )
            warnings.warn(text, ModelWarning, stacklevel=stack_level())
        if (gaps < -PENETRATION).any():
            i = int(np.nanargmin(gaps))
            unit = "rad" if contacts.stops[i].unit == "N m" else "m"
            raise ModelError(
                f"contacts.{contacts.names[i]}: expected a start with its gap open, found it closed by {-gaps[i]:.3g} {unit} too "
                "far; start elsewhere, by other initial coordinates, or change the stop"
            )
        self._slides[:] = np.sign(contacts.friction_rates(np.array([self._start_time]), run.q[None], run.v[None])[0])
        touching = np.flatnonzero(gaps <= PENETRATION)
        self._is[touching] = IDLE
        self._anchor(run.done, *self._happen(run.done - 1, self._start_time, run.q, run.p, (START, -1), touching))

    def _present(self, t: float, q: Array, p: Array) -> list[tuple[float, ...]]:
        """What is so at a state, as if it had happened there."""
        closed, numbers = np.flatnonzero(self._is == CLOSED).tolist(), range(len(self._is), len(self.contacts.names))
        slides = zip(numbers, self._mode.slides, strict=True)
        found: list[tuple[float, ...]] = [(START, i, REST, t, 0.0, 0.0, 0.0) for i in closed]
        acting = ((i, sign) for i, sign in slides if sign != FREE or i < len(self._is) + len(self.contacts.frictions))
        return found + [(START, i, _kind_of(sign), t, 0.0, 0.0, float(sign)) for i, sign in acting]

    @property
    def carried(self) -> list[Carried]:
        """What is carried from one call of `advance` to the next."""
        stops, slides = np.ones_like(self._is), np.ones_like(self._slides)
        least, most = ([0], 0 * stops, -FRESH * slides), ([MOST_COUNTED], IDLE * stops, FREE * slides)
        numbers = Carried(self.numbers, np.concatenate(least), np.concatenate(most))
        return [Carried(self.anchor), Carried(self.places), Carried(self.held), numbers]

    def failure(self, step: int, status: int) -> str:
        """Why a step failed."""
        if self._reason:
            return self._reason
        system, t = self._mode_system(), self._run.start_time + step * self._run.step
        if system.slides:
            why = paradox_near(system, t, self._now[0])
            return f"{self._run.head(step)}{why}. {KEPT}" if why else self._run.failure(step, REASONS[status])
        run = replace(self._run, system=self._mode_system().system)
        return step_message(run, self._method, self._loop.space, status, step)

    def advance(self, first: int, last: int, out_q: Array, out_p: Array) -> tuple[int, int]:
        """Do steps, one state of `every` into out_q and out_p (rows, n); a status, and the steps done."""
        every, row, step = self._run.every, 0, first
        try:
            self._take_inputs(first)
        except (StepError, ModelError) as error:
            return self._fail(first, error)
        seen = []
        while step < last:
            count = min(self._look, last - step, int(self.numbers[0]) + ANCHORED - step)
            if count == 0:
                self._anchor(step, *self._now)
                continue
            before = self.numbers.copy(), self.places.copy(), self.anchor.copy()
            try:
                states, status = self._some_steps(step, count)
            except (StepError, ModelError) as error:
                self.log.cut(step)
                if self._looks_at == step:
                    return self._fail(step, error)
                self.numbers[:], self.places[:], self.anchor[:] = before  # those before it are done first, and stored
                self._look, self._step = self._looks_at - step, -1
                self._go_on_from(step)
                continue
            if not states.shape[1]:
                self._step = -1
                return status, step
            numbers = np.arange(step + 1, step + 1 + states.shape[1])
            kept = states[:, numbers % every == 0]
            out_q[row : row + kept.shape[1]], out_p[row : row + kept.shape[1]] = kept
            row += kept.shape[1]
            seen.append(states[0])
            step = self._step
            if every > MOST_STEPS and self._run.progress is not None:  # which nothing else calls meanwhile
                self._run.progress(step, self._run.steps)
        if every > 1 and seen:
            self.audit.look(first, np.concatenate(seen))
        return layout.OK, step

    def _fail(self, step: int, error: Exception) -> tuple[int, int]:
        """What a step that failed returns."""
        why = str(error) if KEPT in str(error) else f"{error}. {KEPT}"
        self._reason = f"{self._run.head(step)}{why}"
        self._step = -1
        return layout.NOT_CONVERGED, step

    def _take_inputs(self, step: int) -> None:
        """Make the loop ready to go on after so many steps, anew where the inputs of actuators have changed."""
        inputs = self._run.system.arrays.inputs
        now = inputs.copy()
        inputs[:] = self.held
        self.contacts.take_inputs()
        self._go_on_from(step)
        if not np.array_equal(now, self.held):
            inputs[:] = self.held[:] = now
            self.contacts.take_inputs()
            self._anchor(step, *self._now)

    def _go_on_from(self, step: int) -> None:
        """Make the loop of the present mode ready to go on after so many steps."""
        if step != self._step:
            anchored = int(self.numbers[0])
            if not step - ANCHORED <= anchored <= step:
                raise ModelError(
                    f"contacts: {wrong(f'a state from which step {step} is reached', f'that of step {anchored}')}"
                )
            self._anchor(anchored, *self.anchor)
            if step > anchored:
                states, status, _ = self._loop.advance(self._run.start_time, self._run.step, anchored, step)
                if status != layout.OK:
                    found = f"one from which it is not, after step {anchored}"
                    raise ModelError(f"contacts: {wrong(f'a state from which step {step} is reached', found)}")
                self._now = states[:, -1].copy()
            self._step = step

    def _anchor(self, step: int, q: Array, p: Array) -> None:
        """Let the loop of the present mode begin from a state after so many steps."""
        self.numbers[0], self.anchor[0], self.anchor[1] = step, q, p
        self._now, self._step = self.anchor.copy(), step
        system = self._mode_system()
        system.hold_at(self._holds_at[system.held])
        self._check_rolling(system)
        if self._mode not in self._loops:
            self._loops[self._mode] = self._loop_of(system)
        self._loop = self._loops[self._mode]
        self._loop.begin(q, p)

    def _loop_of(self, system: ModeSystem) -> Smooth | SlidingSteps:
        """What does the steps of a mode."""
        return SlidingSteps(system, self._method) if system.slides else Smooth(system.system, self._method)

    def _check_rolling(self, system: ModeSystem) -> None:
        """Refuse what sticks by rolling where the scheme has no place for it."""
        if system.rolls and not is_midpoint(self._method):
            expected = "a scheme with a place for what rolls, as it begins to do"
            remedy = "take midpoint, suzuki4, kahan_li6 or kahan_li8"
            raise ModelError(f"contacts.{system.rolls}: {wrong(expected, self._method.name, remedy)}")

    @property
    def _method(self) -> Tableau:
        assert isinstance(self._run.method, Tableau)
        return self._run.method

    @property
    def _mode(self) -> Mode:
        closed = (self._is == CLOSED).tolist()
        slides = np.where(self._slides == FREE, FREE, np.sign(self._slides)).tolist()
        count = len(self.contacts.frictions)
        free = (slides[count + j] if closed[i] else FREE for j, i in enumerate(self.contacts.rubbing.tolist()))
        return Mode(tuple(closed), (*slides[:count], *free))

    def _mode_system(self) -> ModeSystem:
        return self.contacts.of_mode(self._mode)

    def _part(self) -> PartStep | SlidingPart:
        """Steps of the present mode of any length."""
        mode, system = self._mode, self._mode_system()
        if mode not in self._parts:
            self._check_rolling(system)
            self._parts[mode] = part_of(system, self._method, self._base)
            system.has_copy(self._parts[mode].system)
        system.hold_at(self._holds_at[system.held])
        return self._parts[mode]

    # ------------------------------------------------------------------------------------------ all steps

    def _some_steps(self, step: int, count: int) -> tuple[Array, int]:
        """The states (2, steps, n) after some of the next steps, `count` at most; none where one fails, and its status."""
        t, h = self._run.start_time, self._run.step
        self._looks_at = step
        if self._is_watched():
            state, _ = self._one_step(step, t + step * h, h, *self._now)
            self._anchor(step + 1, *state)
            return self._now[:, None].copy(), layout.OK
        states, status, _ = self._loop.advance(t, h, step, step + count)
        with_first = np.concatenate([self._now[:, None], states], axis=1)
        found = _Looked(self, t + h * np.arange(step, step + states.shape[1] + 1), with_first)
        done = 0
        while done < states.shape[1]:
            k, is_event = found.next(done)
            if k is None:
                done = states.shape[1]
                break
            done = k
            if is_event:
                before, self._looks_at = with_first[:, k], step + k
                state, has_happened = self._one_step(step + k, t + (step + k) * h, h, *before)
                if has_happened:
                    self._anchor(step + k + 1, *state)
                    self._look = FIRST_LOOK
                    return np.concatenate([states[:, :k], self._now[:, None]], axis=1), layout.OK
            else:
                self._pass(t + h * (step + k + 1), *states[:, k])
            done = k + 1
        self._looks_at = step
        self._check_regular(t + h * np.arange(step + 1, step + 1 + done), states[0, :done])
        self._look = min(2 * self._look, MOST_STEPS)
        self._step = step + done
        if done:
            self._now = states[:, done - 1].copy()
            if self.contacts.rubs:
                self._looks_at, at = self._step - 1, t + h * self._step
                self._check_direction(
                    at, self._now[0], self._base.velocity(at, *self._now), np.flatnonzero(self._is == CLOSED)
                )
        return states[:, :done], status

    def _check_open(self, t: float, q: Array) -> None:
        """Refuse a stop that has been passed without a zero of its gap, as where that jumps, or has a pole or no value.

        Raises
        ------
        StepError
        """
        gaps = self.contacts.gaps(np.array([t]), q[None])[0]
        is_open = ~(gaps < -PASSED) | (self._is == CLOSED) | (self._is == LEAVING)
        if not is_open.all():
            i = int(np.argmin(is_open))
            raise StepError(unusable_gap(self.contacts.names[i], float(gaps[i]), t))

    def _check_regular(self, t: Array, q: Array) -> None:
        """Refuse to slide where friction leaves the forces of stops undetermined, after some steps: Painlevé's case.

        Raises
        ------
        StepError
        """
        system = self._mode_system()
        if not system.slides or not len(t):
            return
        wrong = np.flatnonzero(~(system.regularity(t, q) > PARADOX))
        if len(wrong):
            self._looks_at += int(wrong[0])
            raise StepError(paradox(self.contacts.rubbing_names(system.slides), float(t[wrong[0]])))

    def _check_direction(self, t: float, q: Array, v: Array, touching: Array) -> None:
        """Refuse stops that touch with friction and slip along their other tangent too.

        Raises
        ------
        ModelError
        """
        contacts = self.contacts
        if not np.isin(contacts.rubbing, touching).any():
            return
        across = np.where(np.isin(contacts.rubbing, touching), np.abs(contacts.slips_across(t, q, v)), 0.0)
        if across.max() > ACROSS * max(1.0, float(np.abs(v).max())):
            name = contacts.rubs[int(np.argmax(across))].name
            found = f"one that slips across it by {across.max():.3g} m/s at t = {t:.6g} s"
            remedy = "hold the motion in a plane, as by a planar joint, or leave the friction out"
            raise ModelError(f"contacts.{name}: {wrong('a stop that slips along one direction', found, remedy)}")

    def _check_reach(self, instant: Instant, touching: Array) -> None:
        """Refuse stops that go on to close after an impact, since drives or constraints leave no impulse that stops them.

        Raises
        ------
        StepError
        """
        near = touching[instant.rates()[touching] < -instant.still]
        if not len(near):
            return
        mobility = np.einsum("in,in->i", instant.J[near], instant.responses(instant.J[near]))
        for i in near[mobility <= 0.0][:1]:
            raise StepError(
                f"drives or constraints move {self.contacts.names[i]} into its stop at t = {instant.t:.6g} s, where no impact "
                f"can hold it; let the drive end before, or leave the stop out"
            )

    def _is_watched(self) -> bool:
        """Whether something has just begun, so that a step is looked at as a whole."""
        return bool((self._is == LEAVING).any() or (np.abs(self._slides) == FRESH).any())

    def _pass(self, t: float, q: Array, p: Array) -> None:
        """Note what is open, or slides, beyond rounding after a step in which nothing happened."""
        gaps = self.contacts.gaps(np.array([t]), q[None])[0]
        self._is[(self._is == LEAVING) & (gaps > self._zero)] = ARMED
        self._is[self._is == LEAVING] = IDLE
        self._is[(self._is == IDLE) & (gaps > TOUCH)] = ARMED
        if (np.abs(self._slides) == FRESH).any():
            v = self._base.velocity(t, q, p)
            rates = self.contacts.friction_rates(np.array([t]), q[None], v[None])[0]
            moves = np.sign(self._slides) * rates > STILL * max(1.0, np.abs(v).max())
            self._slides[moves] = np.sign(self._slides[moves])

    # ------------------------------------------------------------------------------------------- one step

    def part(self, step: int, t: float, h: float, q: Array, p: Array) -> tuple[Array, Array]:
        """The state after a part of a step, of length h from a state at time t."""
        self.contacts.take_inputs()
        return self._one_step(step, t, h, q, p)[0]

    def begin_anew(self, step: int, q: Array, p: Array) -> None:
        """Go on from a state after so many steps."""
        self._anchor(step, q, p)

    def _one_step(self, step: int, t: float, h: float, q: Array, p: Array) -> tuple[tuple[Array, Array], bool]:
        """The state after a step from time t, and whether something happened in it or had just begun."""
        end, count = t + h, 0
        was_watched = self._is_watched()
        while end - t > SHORTEST * h:
            part = self._part()
            along = _Along(self, part, t, end - t, q, p)
            event = along.first()
            if event is None:
                q, p = along.end
                self._check_regular(np.array([end]), q[None])
                self._pass(end, q, p)
                break
            tau, what = event
            q, p = along.state(tau)
            t += tau * (end - t)
            self._check_regular(np.array([t]), q[None])
            q, p = self._happen(step, t, q, p, what)
            count += 1
            if count > MOST_EVENTS:
                raise StepError(
                    f"more than {MOST_EVENTS} impacts, sticks and slips happen within it, the last of "
                    f"{self.contacts.names[what[1]]}; a larger rest_speed lets what bounces come to rest earlier"
                )
        self._check_open(end, q)
        return (q, p), bool(count) or was_watched

    def _happen(
        self, step: int, t: float, q: Array, p: Array, what: tuple[int, int], touching: Array | None = None
    ) -> tuple[Array, Array]:
        """Let something happen at a state: the state after it, q and p (n,), and the mode that follows.

        what       the kind of event, and the contact
        touching   stops that touch; by default those whose gap is zero
        """
        contacts = self.contacts
        instant = Instant(contacts, t, q, self._base.velocity(t, q, p))
        gaps = contacts.gaps(np.array([t]), q[None])[0]
        if what[0] == IMPACT and gaps[what[1]] > PASSED:  # where it changes its sign by a pole
            raise StepError(unusable_gap(contacts.names[what[1]], float(gaps[what[1]]), t))
        self._is[(self._is == IDLE) & (gaps > TOUCH)] = ARMED  # else it would be deeper at every impact within a step
        if touching is None:
            touching = self._touching(what, gaps)
        notes = _Notes(step, t)
        self._check_direction(t, q, instant.v, touching)
        self._strike(instant, touching, notes)
        closed, held, slides = self._settled(instant, p, what, touching)
        if np.abs(gaps[closed]).max(initial=0.0) > SHUT:
            instant = self._shut(instant, closed, held, slides)
            gaps = contacts.gaps(np.array([t]), instant.q[None])[0]
        *taken, lost = instant.stopped(closed, held)
        self._note_stops(instant, touching, gaps, closed, taken, notes)
        self._note_frictions(
            instant, dict(zip(held.tolist(), lost.tolist(), strict=True)), slides, what[0] == START, notes
        )
        q = instant.q
        p = contacts.system._energies_and_momenta(np.array([t]), q[None], instant.v[None])[2][0]
        self.log.add(notes.rows, q, p)
        return q, p

    def _shut(self, instant: Instant, closed: Array, held: Array, slides: Array) -> Instant:
        """The instant at coordinates at which the gaps of stops that close are zero, which may be `TOUCH` before.

        The first step of the mode would move that far at once: if it is a short one, with a speed whose square is no rounding.
        """
        for _ in range(MOST_SHIFTS):
            gaps = self.contacts.gaps(np.array([instant.t]), instant.q[None])[0][closed]
            if np.abs(gaps).max() <= SHUT:
                break
            q = instant.q + instant.shift(closed, held, slides, gaps)
            instant = Instant(self.contacts, instant.t, q, instant.v)
        return instant

    def _touching(self, what: tuple[int, int], gaps: Array) -> Array:
        """Stops that touch: those that are closed, whose gap is zero, and of which the event is."""
        kind, which = what
        is_touching = (self._is == CLOSED) | (gaps <= self._zero * (self._is != ARMED) + TOUCH)
        if kind in (IMPACT, RELEASE):
            is_touching[which] = True
        return np.flatnonzero(is_touching)

    def _strike(self, instant: Instant, touching: Array, notes: _Notes) -> None:
        """Let the stops that touch have an impact, if one of them approaches."""
        if not (instant.rates()[touching] < -instant.still).any():
            return
        impact = instant.impact(touching)
        self._check_reach(instant, touching)
        for i in np.flatnonzero(impact.impulses).tolist():
            notes.add(i, IMPACT, float(impact.impulses[i]), float(impact.energies[i]))
        first = len(self.contacts.names) - len(self.contacts.rubs)
        least = STILL * float(np.abs(impact.impulses).max())  # less is rounding
        for j in np.flatnonzero(np.abs(impact.rubs[0]) > least).tolist():
            notes.add(first + j, IMPACT, float(impact.rubs[0, j]), float(impact.rubs[1, j]))
        if impact.left:
            self._note_unfinished(instant.t, touching, impact.left)

    def _settled(
        self, instant: Instant, p: Array, what: tuple[int, int], touching: Array
    ) -> tuple[Array, Array, Array]:
        """Which stops close, which frictions hold, and how all others slide, after an impact; p (n,) is that before it."""
        contacts, (kind, which) = self.contacts, what
        rates, v = instant.rates(), np.concatenate([instant.v[contacts.coordinates], instant.slips()])
        near = touching[rates[touching] <= contacts.rest_speeds[touching]]
        near = near[(near != which) | (kind != RELEASE)]
        did_rest = (self._slides == HELD) | (self._slides == FREE)
        is_at_rest, slides = np.abs(v) <= np.where(did_rest, MOVES, instant.still), np.sign(v).astype(int)
        if kind in (STICK, SLIP):
            j = which - len(contacts.stops)
            is_at_rest[j] = kind == STICK and abs(v[j]) <= max(MOVES, instant.still)  # no impact has moved it
            if kind == SLIP:
                is_locked = self._slides[j] == FREE
                slides[j] = np.sign(v[j]) if is_locked else -np.sign(self._holding_force(instant.t, instant.q, p, j))
        closed, held, slides = instant.settled(near, np.flatnonzero(is_at_rest), slides)
        return instant.fewest() if self._would_pull(instant, closed, slides) else closed, held, slides

    def _would_pull(self, instant: Instant, closed: Array, slides: Array) -> bool:
        """Whether some of several stops would pull, as they share their forces in a mode: then these may be shared otherwise."""
        if self.contacts.rubs or len(closed) < 2:
            return False
        mode = Mode(tuple(np.isin(np.arange(len(self._is)), closed).tolist()), tuple(slides.tolist()))
        push = self.contacts.of_mode(mode).forces(np.array([instant.t]), instant.q[None], instant.v[None])[0]
        return bool((push < -STILL * np.abs(push).max()).any())

    def _note_stops(
        self, instant: Instant, touching: Array, gaps: Array, closed: Array, taken: list[Array], notes: _Notes
    ) -> None:
        """Note what becomes of stops that touch, some of which are closed then by impulses that took energies.

        One that was closed may have let go, in an impact of others, with a speed too small to leave.
        """
        was_closed, rates = self._is == CLOSED, instant.rates()
        for i, impulse, energy in zip(closed.tolist(), *(each.tolist() for each in taken), strict=True):
            if not was_closed[i] or notes.has(i) or impulse:
                notes.add(i, REST, impulse, energy)
        self._is[self._is == LEAVING] = ARMED
        for i in touching.tolist():
            if i in closed:
                self._is[i] = CLOSED
                continue
            self._is[i], self._zero[i] = (LEAVING if rates[i] > instant.still else IDLE), gaps[i]
            if was_closed[i] and not notes.has(i):
                notes.add(i, RELEASE)

    def _note_frictions(
        self, instant: Instant, held: dict[int, float], slides: Array, is_start: bool, notes: _Notes
    ) -> None:
        """Note which frictions hold, with the energies that their last speeds had, and how the others slide."""
        contacts, count = self.contacts, len(self.contacts.frictions)
        did_slide = np.where(self._slides == FREE, FREE, np.sign(self._slides))
        rates = np.concatenate([instant.v[contacts.coordinates], instant.slips()]).tolist()
        places = contacts.places(instant.t, instant.q)
        for j, (rate, sign) in enumerate(zip(rates, slides.tolist(), strict=True)):
            if sign == FREE and j >= count:
                continue
            begins = is_start or (j >= count and notes.has(int(contacts.rubbing[j - count])))
            if j in held and (did_slide[j] or begins):
                self._holds_at[j] = places[j]
            if sign != did_slide[j] or begins:
                notes.add(len(self._is) + j, _kind_of(sign), energy=held.get(j, 0.0), sign=float(sign))
            self._slides[j] = FRESH * sign if abs(rate) <= instant.still and sign != FREE else sign

    def _note_unfinished(self, t: float, touching: Array, left: float) -> None:
        """Let the run report an impact of several whose rounds did not end, and what part of the first speed was left."""
        names = ", ".join(self.contacts.names[i] for i in touching[:4])
        text = (
            f"at t = {t:.6g} s an impact of several stops ({names}) did not end in {MOST_ROUNDS} rounds of those that approach, "
            f"and was ended by one of all that touch, which took the {left:.2g} of the first speed that was left: where this is "
            "little, more rounds come to the same; else give the stops other restitutions, or the model impacts: simultaneous"
        )
        self.audit.findings.append(Finding("impact", t, float(len(touching)), text, self.contacts.names[touching[0]]))

    def _holding_force(self, t: float, q: Array, p: Array, j: int) -> float:
        """The force of a friction that holds."""
        system, part = self._mode_system(), self._part()
        v = part.velocity(t, q, p)
        forces = system.forces(np.array([t]), q[None], v[None])[1][0]
        return float(forces[system.held.tolist().index(j)])


def _kind_of(sign: int) -> int:
    """What happens to a friction that holds, is locked, or slides with a sign from now on."""
    return STICK if sign in (HELD, FREE) else SLIP


class _Notes:
    """What happens at an instant, as rows of a `ContactLog` without the state."""

    def __init__(self, step: int, t: float) -> None:
        self._step, self._t, self.rows = step, t, list[tuple[float, ...]]()

    def add(self, contact: int, kind: int, impulse: float = 0.0, energy: float = 0.0, sign: float = 0.0) -> None:
        """Note that something happens to a contact."""
        self.rows.append((self._step, contact, kind, self._t, impulse, energy, sign))

    def has(self, contact: int) -> bool:
        """Whether something happened to a contact already."""
        return any(row[1] == contact for row in self.rows)


class _Monitor:
    """An event that a mode may come to: of values (…,) from gaps, forces and rates, positive before it."""

    def __init__(self, kind: int, contact: int, values: Callable[..., Any], is_deflated: bool = False) -> None:
        self.kind, self.contact, self.values, self.is_deflated = kind, contact, values, is_deflated


def monitors(steps: ContactSteps) -> list[_Monitor]:
    """The events of the present mode; each takes gaps (…, stops), forces of stops (…, closed) and frictions (…, held), rates."""
    system, contacts = steps._mode_system(), steps.contacts
    found = []
    for i, state in enumerate(steps._is.tolist()):
        if state == CLOSED:
            place = system.closed.tolist().index(i)
            found.append(_Monitor(RELEASE, i, lambda gaps, push, hold, rates, place=place: push[..., place]))
        elif state == ARMED:
            found.append(_Monitor(IMPACT, i, lambda gaps, push, hold, rates, i=i: gaps[..., i]))
        else:
            zero = float(steps._zero[i])
            margin = TOUCH if state == IDLE else 0.0
            found.append(
                _Monitor(
                    IMPACT,
                    i,
                    lambda gaps, push, hold, rates, i=i, low=zero - margin: gaps[..., i] - low,
                    is_deflated=state == LEAVING,
                )
            )
    modes, count = steps._mode.slides, len(contacts.frictions)
    for j, slides in enumerate(steps._slides.tolist()):
        number = len(contacts.stops) + j
        if modes[j] == HELD and j >= count:
            place, rub = system.held.tolist().index(j), contacts.rubs[j - count]
            stop = system.closed.tolist().index(rub.stop)
            for sign in (1.0, -1.0):
                found.append(
                    _Monitor(
                        SLIP,
                        number,
                        lambda gaps, push, hold, rates, place=place, stop=stop, mu=rub.static, sign=sign: (
                            mu * push[..., stop] - sign * hold[..., place]
                        ),
                    )
                )
        elif modes[j] == HELD:
            place, most = system.held.tolist().index(j), float(contacts.static[j])
            for sign in (1.0, -1.0):
                found.append(
                    _Monitor(
                        SLIP,
                        number,
                        lambda gaps, push, hold, rates, place=place, most=most, sign=sign: (
                            most - sign * hold[..., place]
                        ),
                    )
                )
        elif modes[j] == FREE and j < count:
            for sign in (1.0, -1.0):
                found.append(
                    _Monitor(SLIP, number, lambda gaps, push, hold, rates, j=j, sign=sign: MOVES - sign * rates[..., j])
                )
        elif modes[j] != FREE:
            margin = STILL if abs(slides) == FRESH else 0.0
            sign = float(np.sign(slides))
            found.append(
                _Monitor(
                    STICK,
                    number,
                    lambda gaps, push, hold, rates, j=j, sign=sign, margin=margin: sign * rates[..., j] + margin,
                )
            )
    return found


def unusable_gap(name: str, gap: float, t: float) -> str:
    """What is wrong with the gap of a stop that has no value, or a value below zero without a zero before."""
    found = f"{gap:.3g} at t = {t:.6g} s without one before"
    remedy = (
        "write it such that it has a value beyond the stop too, and bounds of distances such that they stay above 0"
    )
    return f"{name}: {wrong('a gap that is continuous and has a zero at the stop', found, remedy)}"


def quantities(steps: ContactSteps, t: Array, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
    """Gaps (…, stops), forces of closed stops (…, closed) and of frictions that hold (…, held), and rates (…, frictions).

    t (…,), and q and v (…, n), of many states.
    """
    shape, n = t.shape, q.shape[-1]
    flat = t.ravel(), np.ascontiguousarray(q.reshape(-1, n)), np.ascontiguousarray(v.reshape(-1, n))
    system, contacts = steps._mode_system(), steps.contacts
    gaps = contacts.gaps(*flat[:2]) if contacts.stops else np.empty((len(flat[0]), 0))
    if len(system.closed) or len(system.held):
        push, hold = system.forces(*flat)
    else:
        push = hold = np.empty((len(flat[0]), 0))
    rates = contacts.friction_rates(*flat, bool(system.slides))
    return tuple(each.reshape(*shape, each.shape[1]) for each in (gaps, push, hold, rates))  # type: ignore[return-value]


def on_cubic(t: Array, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Times (steps, places), coordinates and rates (steps, places, n) on the cubics through states (steps + 1, n) at times t."""
    h = np.diff(t)[:, None]
    pairs = (np.stack([each[:-1], each[1:]])[:, :, None] for each in (q, v))
    at, rate = on_cubics(PLACES[None], h, *pairs)
    at[:, -1], rate[:, -1] = q[1:], v[1:]
    return t[:-1, None] + PLACES * h, at, rate


class _Looked:
    """What is seen of the steps of a loop."""

    def __init__(self, steps: ContactSteps, t: Array, states: Array) -> None:
        self._steps = steps
        q, p = states
        v = steps._mode_system().velocities(t, q, p)
        self._seen = quantities(steps, *on_cubic(t, q, v))
        self._masks: dict[bytes, tuple[Array, Array]] = {}

    def next(self, first: int) -> tuple[int | None, bool]:
        """The first step from `first` on that is to be looked at closely, and whether since an event may be in it."""
        events, arming = self._mask()
        both = np.flatnonzero((events | arming)[first:])
        if not len(both):
            return None, False
        k = first + int(both[0])
        return k, bool(events[k])

    def _mask(self) -> tuple[Array, Array]:
        """Steps (steps,) that may have an event, and steps at whose end an idle stop is open."""
        key = self._steps.numbers.tobytes()
        if key not in self._masks:
            gaps = self._seen[0]
            events = np.zeros(len(gaps), bool)
            for each in monitors(self._steps):
                values = each.values(*self._seen)
                spread, least = np.ptp(values, axis=1), values.min(axis=1)
                events |= ~((least > 0.0) & (least >= NEAR * spread))  # also what is no number
            idle = self._steps._is == IDLE
            self._masks[key] = events, np.any(gaps[:, -1, idle] > TOUCH, axis=1)
        return self._masks[key]


class _Along:
    """A step of any length from a state, whose events are sought."""

    def __init__(
        self, steps: ContactSteps, part: PartStep | SlidingPart, t: float, h: float, q: Array, p: Array
    ) -> None:
        self._steps, self._part, self._t, self._h = steps, part, t, h
        self._known: dict[float, tuple[Array, Array]] = {0.0: (q, p)}
        self._quantities: dict[float, Any] = {}
        self.end = self.state(1.0)
        v = np.stack([part.velocity(t, q, p), part.velocity(t + h, *self.end)])
        self._seen = quantities(steps, *on_cubic(np.array([t, t + h]), np.stack([q, self.end[0]]), v))
        self._rate = self._gap_rates(v[0])

    def _gap_rates(self, v: Array) -> Array:
        if not (self._steps._is == LEAVING).any():
            return np.empty(0)
        J, J_t = self._steps.contacts.gap_gradients(self._t, self._known[0.0][0])
        return J @ v + J_t

    def state(self, tau: float) -> tuple[Array, Array]:
        """q and p (n,) after τh."""
        if tau not in self._known:
            self._known[tau] = self._part(self._t, tau * self._h, *self._known[0.0])
        return self._known[tau]

    def value(self, monitor: _Monitor, tau: float) -> float:
        """ψ after τh; of what is deflated, ψ/τ."""
        if tau not in self._quantities:
            t, (q, p) = self._t + tau * self._h, self.state(tau)
            v = self._part.velocity(t, q, p)
            self._quantities[tau] = quantities(self._steps, np.array([t]), q[None], v[None])
        if monitor.is_deflated:
            if tau == 0.0:
                return float(self._h * self._rate[monitor.contact])
            return float(monitor.values(*self._quantities[tau])[0]) / tau
        return float(monitor.values(*self._quantities[tau])[0])

    def first(self) -> tuple[float, tuple[int, int]] | None:
        """Where the first event is, of what kind, and of which contact; None if there is none."""
        best: tuple[float, tuple[int, int]] | None = None
        for monitor in monitors(self._steps):
            root = self._root(monitor)
            if root is not None and (best is None or root < best[0]):
                best = root, (monitor.kind, monitor.contact)
        return best

    def _root(self, monitor: _Monitor) -> float | None:
        """Where ψ first decreases to zero."""
        values = np.array(monitor.values(*self._seen)[0])
        if monitor.is_deflated:
            values[1:] /= PLACES[1:]
            values[0] = self._h * self._rate[monitor.contact]
        if not np.isfinite(values).all():
            self._check_border(monitor, values)
            return None
        spread = float(np.ptp(values))
        if values.min() > NEAR * spread and values.min() > 0.0:
            return None
        for a, b in pairwise(self._points(monitor, values, spread)):
            if self.value(monitor, b) < 0.0:
                if self.value(monitor, a) <= 0.0:
                    return a
                return find_zero(lambda tau: self.value(monitor, tau), a, b)
        return None

    def _check_border(self, monitor: _Monitor, values: Array) -> None:
        """Let ψ have no value in a part of the step, as beyond the edge of a hill, unless it comes near zero at the border.

        Raises
        ------
        StepError
        """
        is_known = np.isfinite(values)
        if not is_known[0]:
            return
        a, b = 0.0, float(PLACES[np.argmin(is_known)])
        while b - a > RESOLUTION:
            middle = 0.5 * (a + b)
            a, b = (middle, b) if np.isfinite(self.value(monitor, middle)) else (a, middle)
        least = min(self.value(monitor, a), float(values[is_known].min()))
        if least < CLOSE * float(np.abs(values[is_known]).max()):
            name = self._steps.contacts.names[monitor.contact]
            raise StepError(unusable_gap(name, np.nan, self._t + b * self._h))

    def _points(self, monitor: _Monitor, values: Array, spread: float) -> list[float]:
        """The ends of the step, and between them the extrema of ψ that matter."""
        polynomial = np.polynomial.Polynomial(POLYNOMIAL @ values)
        roots = polynomial.deriv().roots()
        real = np.unique(np.round(roots.real[np.abs(roots.imag) < 1e-6], 6))
        points = [0.0, *real[(real > 0.0) & (real < 1.0)].tolist(), 1.0]
        for i in range(1, len(points) - 1):
            value = self.value(monitor, points[i])
            if 0.0 < value < CLOSE * spread and polynomial.deriv(2)(points[i]) > 0.0:
                points[i] = find_least(lambda tau: self.value(monitor, tau), points[i - 1], points[i + 1])
        return points
