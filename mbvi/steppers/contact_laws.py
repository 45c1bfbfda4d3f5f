"""What happens at an instant: impacts, and which stops and frictions hold afterwards.

**Impact.** With gradients J of the stops that approach, and what impulses do to velocities, X = P Jᵀ (P = M⁻¹ on constraints),

    v⁺ = v⁻ + X Λ,     0 ≤ Λ ⟂ J v⁺ + φ_t + e (J v⁻ + φ_t) ≥ 0.

Several at once are done in rounds: in each one those that touch and approach now, until none does. So a row of balls passes an
impact on, and a symmetric collision stays symmetric. Where that does not end, one last impact of all that touch takes all speed.
Without friction, rounds that become ever smaller come to the same: they lead to the nearest velocity, in the metric M, at which
none of the stops moves that act in them (Kaczmarz's iteration).
Where impacts are simultaneous, each round is one of all that touch, those that do not approach with e = 1: so none adds energy.

**Rest.** Which of the stops that touch without speed are pressed, and which coordinates at rest their friction holds, says

    min ½ xᵀ W x + bᵀ x,     W = J X,     0 ≤ x_i of stops,     |x_j| ≤ F_j of frictions,

with b the accelerations without these forces: x is then the contact force, and where x is within its bounds there is no
acceleration. A friction at its bound slides, against the kinetic friction, and the others are found anew.

Where stops have friction by their own force, `mbvi.steppers.rubbing_laws` says what happens.

Sources: Moreau 1988 (unilateral contact and dry friction in finite freedom dynamics); Stronge, Impact Mechanics (2000).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbvi.errors import ModelError
from mbvi.steppers.rubbing_laws import BACKWARDS, FORWARDS, SIGN, STICK, Found, Law, Solution, solve, ways
from mbvi.system.contacts import FREE, Contacts, pushing

Array = np.ndarray
MOST_ROUNDS = 200
STILL = 1e-12
"""Speeds and accelerations that are rounding, as part of the largest and of 1 [m/s, rad/s, m/s² or rad/s²]."""
LEANS = 1e-6  # part of a direction, or of the accelerations, that is none
FLAT = 1e-9  # curvature, as part of the largest, in the place of none
EDGE = 1e-13  # how far a force may be from its bound, as part of it, and be at it


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact did.

    v                    (n,)        velocity after it
    impulses, energies   (stops,)    of every stop [N s or N m s], and what it took [J]
    left                 float       part of the first speed of approach that all rounds left, and that a last impact ended
    rubs                 (2, rubs)   impulses along the slips [N s], and what they took [J]
    """

    v: Array
    impulses: Array
    energies: Array
    left: float
    rubs: Array


class Instant:
    """A state, and what forces on its stops and frictions do to it.

    Parameters
    ----------
    contacts : Contacts
    t : float
    q, v : (n,)

    Attributes
    ----------
    still : float
        Speed that is rounding [m/s or rad/s].
    """

    def __init__(self, contacts: Contacts, t: float, q: Array, v: Array) -> None:
        self.contacts, self.t, self.q, self.v = contacts, t, q, v
        self.J, self.J_t = contacts.gap_gradients(t, q)
        self.units = np.eye(len(q))[contacts.coordinates]
        self.T = contacts.slip_gradients(t, q) if contacts.rubs else np.zeros((0, len(q)))
        self.still = STILL * max(1.0, float(np.abs(v).max(initial=0.0)))
        self._shares = np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros(0)

    def responses(self, rows: Array) -> Array:
        """The change of velocity (m, n) by impulses along rows (m, n), on the constraints: none along what these hold."""
        return self.contacts.responses(self.t, self.q, rows)

    def rates(self) -> Array:
        """φ̇ (stops,)."""
        return self.J @ self.v + self.J_t

    def slips(self) -> Array:
        """The slips (rubs,) of stops with friction [m/s]."""
        return self.T @ self.v

    def impact(self, touching: Array) -> Impact:
        """The impact of stops that touch, by their numbers, some of which approach."""
        contacts, v = self.contacts, self.v.copy()
        if np.isin(contacts.rubbing, touching).any():
            return self._impact_with_friction(touching)
        J, J_t, e = self.J[touching], self.J_t[touching], contacts.restitutions[touching]
        X = self.responses(J)
        impulses, energies = np.zeros((2, len(contacts.stops)))
        rates = J @ v + J_t
        still, left, first = STILL * np.abs(rates).max(), 0.0, -rates.min()
        for turn in range(MOST_ROUNDS + 1):
            active = np.flatnonzero(rates < -still)
            if not len(active):
                break
            is_last = turn == MOST_ROUNDS
            left = -rates.min() / first if is_last else 0.0
            active, bounce = self._in_round(active, rates, e, is_last, still)
            Lam = bounded(J[active] @ X[active].T, (1.0 + bounce) * rates[active], 0.0, np.inf)
            v += Lam @ X[active]
            after = J @ v + J_t
            impulses[touching[active]] += Lam
            energies[touching[active]] -= 0.5 * Lam * (rates + after)[active]
            rates = after
        self.v = v
        return Impact(v, impulses, energies, float(left), np.zeros((2, len(contacts.rubs))))

    def _in_round(
        self, active: Array, rates: Array, e: Array, is_last: bool, still: float
    ) -> tuple[Array, Array | float]:
        """The stops of a round, of those that touch, and their restitutions in it."""
        everything = np.arange(len(rates))
        if is_last:
            return everything, 0.0
        if self.contacts.is_simultaneous:
            return everything, np.where(rates < -still, e, 1.0)
        return active, e[active]

    def _impact_with_friction(self, touching: Array) -> Impact:
        """What `impact` does where some of the stops have friction."""
        contacts = self.contacts
        e, count = contacts.restitutions[touching], len(contacts.rubs)
        impulses, energies = np.zeros((2, len(contacts.stops)))
        rubs = np.zeros((2, count))
        rates = self.rates()[touching]
        still, left, first = STILL * np.abs(rates).max(), 0.0, -rates.min()
        for turn in range(MOST_ROUNDS + 1):
            active = np.flatnonzero(rates < -still)
            if not len(active):
                break
            left = -rates.min() / first if turn == MOST_ROUNDS else 0.0
            active, bounce = self._in_round(active, rates, e, turn == MOST_ROUNDS, still)
            stops, before = touching[active], self.v
            of_rub = [self._rub_of(i) for i in stops.tolist()]
            found = self._collide(stops, of_rub, np.broadcast_to(bounce, len(stops)))
            mean = 0.5 * (before + self.v)
            impulses[stops] += found.normal
            energies[stops] -= found.normal * (self.J[stops] @ mean + self.J_t[stops])
            for j, impulse in zip(of_rub, found.tangent.tolist(), strict=True):
                if j >= 0:
                    rubs[:, j] += impulse, -impulse * float(self.T[j] @ mean)
            rates = self.rates()[touching]
        return Impact(self.v, impulses, energies, float(left), rubs)

    def _rub_of(self, stop: int) -> int:
        """The number of a stop's friction among the rubs, or −1."""
        found = np.flatnonzero(self.contacts.rubbing == stop)
        return int(found[0]) if len(found) else -1

    def _collide(self, stops: Array, of_rub: list[int], bounce: Array) -> Solution:
        """One impact of stops, some with friction: impulses; the velocity is that after it.

        The slip's law is one for its mean where friction would do work otherwise.

        Raises
        ------
        ModelError
            If the law of Coulomb has no solution.
        """
        J, T = self.J[stops], np.array([self.T[j] if j >= 0 else np.zeros_like(self.v) for j in of_rub])
        responses, mu = np.stack([self.responses(J), self.responses(T)]), self._coefficients(of_rub, "kinetic")
        rates, slips = J @ self.v + self.J_t[stops], T @ self.v
        turns_back = np.zeros(len(stops))
        while True:
            laws = [
                Law(
                    tuple(ways(T[i] if j >= 0 else None, 0.0)), J[i], T[i] if j >= 0 else None,
                    float((1.0 + bounce[i]) * rates[i]), float((1.0 + turns_back[i]) * slips[i]), mu[i],
                )
                for i, j in enumerate(of_rub)
            ]  # fmt: skip
            names = self._named(stops)
            found = solve(laws, responses, names)
            if not found.solutions:
                raise ModelError(f"the impact of {names} with friction has no solution; take a smaller friction")
            best = found.solutions[0]
            work = best.tangent * (2.0 * slips + T @ best.change)
            wrong = (work > self.still * np.abs(best.tangent)) & (turns_back == 0.0)
            if not wrong.any():
                self.v = self.v + best.change
                return best
            turns_back[wrong] = 1.0

    def _coefficients(self, of_rub: list[int], kind: str) -> list[float]:
        rubs = self.contacts.rubs
        return [float(getattr(rubs[j], kind)) if j >= 0 else 0.0 for j in of_rub]

    def _named(self, stops: Array) -> str:
        return ", ".join(self.contacts.names[i] for i in stops.tolist())

    def stopped(self, closed: Array, held: Array) -> tuple[Array, Array, Array]:
        """Impulses (closed,) that take the last speed from stops and frictions that hold, and energies (closed,), (held,).

        What is rounding is 0. Together the energies are not negative; those of stops alone may be, where frictions hold.
        """
        rows = self._rows(closed, held)
        X = self.responses(rows)
        before = rows @ self.v + np.concatenate([self.J_t[closed], np.zeros(len(held))])
        impulses = -least_change(rows @ X.T, before)
        self.v = self.v + impulses @ X
        least = STILL * float(np.abs(impulses).max(initial=0.0)) if (np.abs(before) > self.still).any() else np.inf
        impulses = np.where(np.abs(impulses) > least, impulses, 0.0)
        energies = -0.5 * impulses * before
        return impulses[: len(closed)], energies[: len(closed)], energies[len(closed) :]

    def shift(self, closed: Array, held: Array, slides: Array, gaps: Array) -> Array:
        """The change of coordinates (n,) by which gaps (closed,) close, and what holds stays: that by impulses of the stops.

        It is the least in the metric M, but for the friction of stops that slide, which pushes along with them.
        """
        rows, signs = self._rows(closed, held), pushing(slides)[len(self.units) :]
        pushes = rows.copy()
        for place, j in enumerate(self._rub_of(i) for i in closed.tolist()):
            if j >= 0:
                pushes[place] -= self.contacts.rubs[j].kinetic * signs[j] * self.T[j]
        X = self.responses(pushes)
        change: Array = -least_change(rows @ X.T, np.concatenate([gaps, np.zeros(len(held))])) @ X
        return change

    def _rows(self, closed: Array, held: Array) -> Array:
        """Gradients of stops that are closed, and of what frictions hold (closed + held, n)."""
        count = len(self.units)
        return np.concatenate([self.J[closed], self.units[held[held < count]], self.T[held[held >= count] - count]])

    def settled(self, stops: Array, frictions: Array, slides: Array) -> tuple[Array, Array, Array]:
        """Which stops are pressed, of some that touch, which frictions hold, of coordinates at rest, and how all others slide.

        Parameters
        ----------
        stops, frictions : ndarray of int
            Numbers of the stops and frictions in question.
        slides : (frictions,)
            Signs of the rates of all other coordinates with friction.
        """
        contacts, slides = self.contacts, slides.copy()
        if contacts.rubs:
            return self._settled_with_friction(stops, frictions, slides)
        state = np.array([self.t]), self.q[None], self.v[None]
        free = contacts.system.accelerations_and_multipliers(*state)[0][0]
        held = self._movable(frictions.tolist(), slides, free)
        bends = contacts.gap_curvatures(self.t, self.q, self.v)
        X_of_frictions = self.responses(self.units)
        while True:
            a = free - (pushing(slides) * contacts.kinetic) @ X_of_frictions
            rows = np.concatenate([self.J[stops], self.units[held]])
            X = self.responses(rows)
            b = rows @ a + np.concatenate([bends[stops], np.zeros(len(held))])
            most = contacts.static[held]
            low, high = (
                np.concatenate([np.zeros(len(stops)), -most]),
                np.concatenate([np.full(len(stops), np.inf), most]),
            )
            law = rows @ X.T, b, low, high
            x = bounded(*law)
            forces = x[len(stops) :]
            pressed = x[: len(stops)] * np.diag(law[0])[: len(stops)]
            is_pressed = pressed > STILL * max(1.0, float(np.abs(b).max(initial=0.0)))
            if (place := _needless(law, x, is_pressed)) >= 0:
                slides[held.pop(place)] = FREE
                continue
            is_loose = np.abs(forces) >= most * (1.0 - EDGE)
            moves = np.abs((law[0] @ x + b)[len(stops) :]) > FLAT * max(1.0, float(np.abs(b).max(initial=0.0)))
            if (is_loose & moves).any():
                is_loose &= moves  # others may be at their bounds since a stop shares their force
            if not is_loose.any():
                chosen = np.flatnonzero(is_pressed)
                self._shares = stops[chosen], law[0][np.ix_(chosen, chosen)], x[chosen]
                return stops[is_pressed], np.array(held, np.int64), slides
            for j, force in zip(np.array(held)[is_loose].tolist(), forces[is_loose].tolist(), strict=True):
                slides[j] = -np.sign(force) or 1
            held = [j for j in held if slides[j] == 0]

    def fewest(self) -> Array:
        """The stops that suffice, of those that `settled` found to be pressed: their forces are independent, and push."""
        stops, W, x = self._shares
        while True:
            size = np.sqrt(np.diag(W))
            values, vectors = np.linalg.eigh(W / np.outer(size, size))
            if not len(stops) or values[0] > FLAT:
                return stops
            shift = vectors[:, 0] / size  # of forces, which moves nothing
            shift = shift if shift.max() > 0.0 else -shift
            ends = np.where(shift > 0.0, x / np.where(shift > 0.0, shift, 1.0), np.inf)
            kept = np.arange(len(stops)) != np.argmin(ends)
            stops, W, x = stops[kept], W[np.ix_(kept, kept)], (x - ends.min() * shift)[kept]

    def _movable(self, frictions: list[int], slides: Array, a: Array) -> list[int]:
        """The frictions, of coordinates at rest, that may hold them, since no constraint does; their `slides` are 0.

        What constraints lock slides as they move it, by the accelerations a (n,), or is locked: FREE of friction.
        """
        coordinates = self.contacts.coordinates[frictions]
        mobilities = self.responses(self.units[frictions])[np.arange(len(frictions)), coordinates]
        least = LEANS * max(1.0, float(np.abs(a).max(initial=0.0)))
        for j, mobility, rate in zip(frictions, mobilities, a[coordinates], strict=True):
            slides[j] = 0 if mobility > 0.0 else np.sign(rate) if abs(rate) > least else FREE
        return [j for j in frictions if slides[j] == 0]

    def _settled_with_friction(self, stops: Array, frictions: Array, slides: Array) -> tuple[Array, Array, Array]:
        """What `settled` does where stops have friction: those of frictions that do not touch are FREE.

        Raises
        ------
        ModelError
            If there is no solution, or if there are several.
        """
        contacts, count, slides = self.contacts, len(self.units), slides.copy()
        touches = np.isin(contacts.rubbing, stops)
        slides[count:][~touches] = FREE
        state = np.array([self.t]), self.q[None], self.v[None]
        a = contacts.system.accelerations_and_multipliers(*state)[0][0]
        held = self._movable([int(j) for j in frictions if j < count], slides, a)
        held += [int(j) for j in frictions if j >= count and touches[j - count]]
        slides[held] = 0
        while True:
            best, states = self._rest(stops, slides)
            loose = [j for j in held if self._is_at_bound(j, *states[j])]
            if not loose:
                break
            for j in loose:
                slides[j] = -np.sign(states[j][1]) or 1
            held = [j for j in held if j not in loose]
        scale = max(1.0, float(np.abs(best.change).max(initial=0.0)))
        pressed = np.einsum("in,in->i", self.J[stops], self.responses(self.J[stops])) * best.normal[: len(stops)]
        is_pressed = pressed > STILL * scale
        for j, stop in enumerate(contacts.rubbing.tolist()):
            if stop not in stops[is_pressed]:
                slides[count + j] = FREE
                held = [each for each in held if each != count + j]
        return stops[is_pressed], np.array(held, np.int64), slides

    def _is_at_bound(self, j: int, state: int, force: float, bound: float) -> bool:
        """Whether a friction that may hold is at its bound, and slides."""
        return state in SIGN or (state == STICK and bound > 0.0 and abs(force) >= bound * (1.0 - EDGE))

    def _rest(self, stops: Array, slides: Array) -> tuple[Solution, dict[int, tuple[int, float, float]]]:
        """The forces of stops that touch without speed, and of frictions; of those that may hold state, force and bound.

        Raises
        ------
        ModelError
            If there is no solution, or if there are several.
        """
        contacts, count = self.contacts, len(self.units)
        of_rub = [self._rub_of(i) for i in stops.tolist()]
        state = np.array([self.t]), self.q[None], self.v[None]
        a = contacts.system.accelerations_and_multipliers(*state)[0][0]
        a = a - (pushing(slides[:count]) * contacts.kinetic) @ self.responses(self.units)
        bends, turns = contacts.gap_curvatures(self.t, self.q, self.v), contacts.slip_curvatures(self.t, self.q, self.v)
        laws = []
        for i, j in zip(stops.tolist(), of_rub, strict=True):
            sign = float(slides[count + j]) if j >= 0 else 0.0
            mu = 0.0 if j < 0 else contacts.rubs[j].kinetic if sign else contacts.rubs[j].static
            T = self.T[j] if j >= 0 else None
            slip = float(T @ a + turns[j]) if T is not None else 0.0
            laws.append(Law(tuple(ways(T, sign)), self.J[i], T, float(self.J[i] @ a + bends[i]), slip, mu))
        at_rest = [j for j in range(count) if slides[j] == 0]
        for j in at_rest:
            states = (STICK, FORWARDS, BACKWARDS)
            laws.append(Law(states, None, self.units[j], 0.0, float(self.units[j] @ a), float(contacts.static[j])))
        if not laws:
            return Solution((), np.zeros(0), np.zeros(0), np.zeros_like(a)), {}
        zero = np.zeros_like(a)
        rows = [
            np.array([zero if x is None else x for x in each])
            for each in zip(*((x[1], x[2]) for x in laws), strict=True)
        ]
        found = solve(laws, np.stack([self.responses(each) for each in rows]), self._named(stops))
        self._check_solutions(found, stops)
        best, states_of = found.solutions[0], {}
        for place, j in enumerate([*(count + j if j >= 0 else -1 for j in of_rub), *at_rest]):
            if j >= 0 and slides[j] == 0:
                bound = laws[place].mu * (max(best.normal[place], 0.0) if laws[place].normal is not None else 1.0)
                states_of[j] = best.states[place], float(best.tangent[place]), float(bound)
        return best, states_of

    def _check_solutions(self, found: Found, stops: Array) -> None:
        """Refuse what Coulomb's law does not determine: Painlevé's cases."""
        if found.different == 1:
            return
        names = self._named(stops[np.isin(stops, self.contacts.rubbing)])
        raise ModelError(paradox(names, self.t, found.different))


def paradox(names: str, t: float, motions: int | None = None) -> str:
    """What is said of Painlevé's cases at stops, where so many motions are possible, or their number is not known."""
    found = "none or several" if motions is None else motions or "none"
    return (
        f"Painlevé's paradox at {names}, at t = {t:.6g} s: expected one motion of rigid bodies by Coulomb's law of friction, "
        f"found {found}; take a smaller friction, or a spring and a damper instead of the stop"
    )


def _needless(law: tuple[Array, ...], x: Array, is_pressed: Array) -> int:
    """The first friction without which the stops that are pressed hold the same, by its place among frictions; −1 of none.

    Forces that both share are any, and by those of a mode a stop might seem to pull, or a friction to exceed its bound.

    law          W, b and bounds of `bounded`, of stops first and of frictions behind
    x            (m,)       its solution
    is_pressed   (stops,)
    """
    W, b, low, high = law
    first, motion = len(is_pressed), W @ x + b
    needed = np.concatenate([is_pressed, np.ones(len(b) - first, bool)])
    others = needed & (np.arange(len(b)) >= first)
    if not is_pressed.any() or _rank(W, needed) == np.sum(is_pressed) + np.sum(others):
        return -1
    if _rank(W, needed) == _rank(W, needed & ~others) + _rank(W, others):
        return -1
    still = FLAT * max(1.0, float(np.abs(b).max()))
    for place in range(first, len(b)):
        fewer = needed.copy()
        fewer[place] = False
        less = bounded(W[np.ix_(fewer, fewer)], b[fewer], low[fewer], high[fewer])
        if abs(motion[place]) <= still and np.abs(W[:, fewer] @ less + b - motion).max() <= still:
            return place - first
    return -1


def least_change(W: Array, changes: Array) -> Array:
    """The least impulses (m,) that make changes of speeds (m,), as far as W (m, m) lets them: stops may hold the same.

    Units of rows differ, so that it is W with ones on its diagonal whose small singular values are rounding.
    """
    size = np.sqrt(np.abs(np.diag(W)))
    size[size == 0.0] = 1.0
    x: Array = np.linalg.lstsq(W / np.outer(size, size), changes / size, rcond=STILL)[0] / size
    return x


def _rank(W: Array, chosen: Array) -> int:
    """How many of the chosen rows of a symmetric W (m, m) are independent."""
    part = W[np.ix_(chosen, chosen)]
    size = np.sqrt(np.diag(part))
    return int(np.sum(np.linalg.eigvalsh(part / np.outer(size, size)) > FLAT))


def bounded(W: Array, b: Array, low: Array | float, high: Array | float) -> Array:
    """The x (m,) between bounds that makes ½ xᵀ W x + bᵀ x least, for a symmetric W (m, m) that is not negative.

    Along directions in which W is zero and bᵀ x is not, x goes to a bound if there is one: as a friction does on a coordinate
    that a closed stop moves, whatever the friction is, and as the slower of two stops of one motion does, which the other leaves.
    What nothing moves, so that a diagonal entry of W is zero, has no x.
    """
    m, moves = len(b), ~(np.diag(W) <= 0.0)
    low, high = (np.broadcast_to(each, m) for each in (low, high))
    if not moves.all():
        x = np.zeros(m)
        x[moves] = bounded(W[np.ix_(moves, moves)], b[moves], low[moves], high[moves])
        return x
    if m == 0:
        return b.copy()
    if m == 1:
        return np.clip(-b / W[0], low, high)
    values, vectors = np.linalg.eigh(W)
    is_curved, slopes = values > STILL * values[-1], vectors.T @ b
    downwards = -np.sign(slopes) * vectors
    ends = ((downwards < -LEANS) | ((downwards > LEANS) & np.isfinite(high)[:, None])).any(axis=0)
    slopes[~is_curved & ~(ends & (np.abs(slopes) > LEANS * np.abs(b).max()))] = 0.0
    size = np.sqrt(np.where(is_curved, values, FLAT * values[-1]))
    root, goal = size[:, None] * vectors.T, -slopes / size
    x = np.linalg.lstsq(root, goal, rcond=None)[0]
    if not ((low <= x) & (x <= high)).all():
        from scipy.optimize import lsq_linear  # takes a tenth of a second to import

        wide = np.maximum(high, low + 1e-300)
        found = lsq_linear(root, goal, (low, wide), method="bvls", tol=1e-15, max_iter=100 * m)
        if not np.isfinite(found.x).all():  # a step of no length divides by zero there
            found = lsq_linear(root, goal, (low, wide), method="trf", tol=1e-15)
        at, inside = found.active_mask, found.active_mask == 0
        x = np.where(at < 0, low, np.where(at > 0, high, found.x))
        if inside.any():
            closer = x.copy()
            closer[inside] -= np.linalg.lstsq(W[np.ix_(inside, inside)], (W @ x + b)[inside], rcond=STILL)[0]
            is_near = np.abs(closer - np.clip(closer, low, high)).max() <= LEANS * np.abs(x).max()
            x = closer if is_near else x
    return np.clip(x, low, high)
