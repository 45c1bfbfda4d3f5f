"""What happens at an instant: impacts, and which stops and frictions hold afterwards.

**Impact.** With gradients J of the stops that approach, and what impulses do to velocities, X = P Jᵀ (P = M⁻¹ on constraints),

    v⁺ = v⁻ + X Λ,     0 ≤ Λ ⟂ J v⁺ + φ_t + e (J v⁻ + φ_t) ≥ 0.

Several at once are done in rounds: in each one those that touch and approach now, until none does. So a row of balls passes an
impact on, and a symmetric collision stays symmetric. Where that does not end, one last impact of all that touch takes all speed.

**Rest.** Which of the stops that touch without speed are pressed, and which coordinates at rest their friction holds, says

    min ½ xᵀ W x + bᵀ x,     W = J X,     0 ≤ x_i of stops,     |x_j| ≤ F_j of frictions,

with b the accelerations without these forces: x is then the contact force, and where x is within its bounds there is no
acceleration. A friction at its bound slides, against the kinetic friction, and the others are found anew.

Sources: Moreau 1988 (unilateral contact and dry friction in finite freedom dynamics); Stronge, Impact Mechanics (2000).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbvi.system.contacts import Contacts

Array = np.ndarray
MOST_ROUNDS = 200
STILL = 1e-12
"""Speeds and accelerations that are rounding, as part of the largest and of 1 [m/s, rad/s, m/s² or rad/s²]."""
EDGE = 1e-13  # how far a force may be from its bound, as part of it, and be at it


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact did.

    v                    (n,)        velocity after it
    impulses, energies   (stops,)    of every stop [N s or N m s], and what it took [J]
    ended                bool        whether rounds ended, and no last impact of all was needed
    """

    v: Array
    impulses: Array
    energies: Array
    ended: bool


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
        self.still = STILL * max(1.0, float(np.abs(v).max(initial=0.0)))

    def responses(self, rows: Array) -> Array:
        """The change of velocity (m, n) by impulses along rows (m, n), on the constraints."""
        if not len(rows):
            return rows
        p = np.concatenate([rows, np.zeros((1, len(self.q)))])
        v = self.contacts.system.velocities(np.full(len(p), self.t), np.tile(self.q, (len(p), 1)), p)
        return v[:-1] - v[-1]

    def rates(self) -> Array:
        """φ̇ (stops,)."""
        return self.J @ self.v + self.J_t

    def impact(self, touching: Array) -> Impact:
        """The impact of stops that touch, by their numbers, some of which approach."""
        contacts, v = self.contacts, self.v.copy()
        J, J_t, e = self.J[touching], self.J_t[touching], contacts.restitutions[touching]
        X = self.responses(J)
        impulses, energies = np.zeros((2, len(contacts.stops)))
        rates = J @ v + J_t
        still = STILL * np.abs(rates).max()
        for turn in range(MOST_ROUNDS + 1):
            active = np.flatnonzero(rates < -still)
            if not len(active):
                break
            is_last = turn == MOST_ROUNDS
            active = np.arange(len(touching)) if is_last else active
            bounce = 0.0 if is_last else e[active]
            Lam = bounded(J[active] @ X[active].T, (1.0 + bounce) * rates[active], 0.0, np.inf)
            v += Lam @ X[active]
            after = J @ v + J_t
            impulses[touching[active]] += Lam
            energies[touching[active]] -= 0.5 * Lam * (rates + after)[active]
            rates = after
        self.v = v
        return Impact(v, impulses, energies, turn < MOST_ROUNDS)

    def stopped(self, closed: Array, held: Array) -> tuple[Array, Array]:
        """Impulses (closed,) and energies (closed,) that take the last speed from stops and from frictions that hold."""
        rows = np.concatenate([self.J[closed], self.units[held]])
        X = self.responses(rows)
        before = rows @ self.v + np.concatenate([self.J_t[closed], np.zeros(len(held))])
        impulses = -np.linalg.lstsq(rows @ X.T, before, rcond=None)[0]
        self.v = self.v + impulses @ X
        count = len(closed)
        return impulses[:count], -0.5 * impulses[:count] * before[:count]

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
        slides[frictions] = 0
        held = list(frictions)
        state = np.array([self.t]), self.q[None], self.v[None]
        free = contacts.system.accelerations_and_multipliers(*state)[0][0]
        bends = contacts.gap_curvatures(self.t, self.q, self.v)
        X_of_frictions = self.responses(self.units)
        while True:
            a = free - (slides * contacts.kinetic) @ X_of_frictions
            rows = np.concatenate([self.J[stops], self.units[held]])
            X = self.responses(rows)
            b = rows @ a + np.concatenate([bends[stops], np.zeros(len(held))])
            most = contacts.static[held]
            low, high = (
                np.concatenate([np.zeros(len(stops)), -most]),
                np.concatenate([np.full(len(stops), np.inf), most]),
            )
            x = bounded(rows @ X.T, b, low, high)
            forces = x[len(stops) :]
            loose = [
                j for j, force, bound in zip(held, forces, most, strict=True) if abs(force) >= bound * (1.0 - EDGE)
            ]
            if not loose:
                pressed = x[: len(stops)] * np.diag(rows @ X.T)[: len(stops)]
                is_pressed = pressed > STILL * max(1.0, float(np.abs(b).max(initial=0.0)))
                return stops[is_pressed], np.array(held, np.int64), slides
            for j, force in zip(held, forces, strict=True):
                if j in loose:
                    slides[j] = -np.sign(force) or 1
            held = [j for j in held if j not in loose]


def bounded(W: Array, b: Array, low: Array | float, high: Array | float) -> Array:
    """The x (m,) between bounds that makes ½ xᵀ W x + bᵀ x least, for a symmetric W (m, m) that is not negative."""
    m = len(b)
    if m == 0:
        return b.copy()
    low, high = (np.broadcast_to(each, m) for each in (low, high))
    if m == 1:
        return np.clip(-b / W[0], low, high)
    values, vectors = np.linalg.eigh(W)
    kept = values > STILL * values[-1]
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    goal = -(vectors[:, kept].T @ b) / np.sqrt(values[kept])
    x = np.linalg.lstsq(root, goal, rcond=None)[0]
    if not ((low <= x) & (x <= high)).all():
        from scipy.optimize import lsq_linear  # takes a tenth of a second to import

        wide = np.maximum(high, low + 1e-300)
        found = lsq_linear(root, goal, (low, wide), method="bvls", tol=1e-15, max_iter=100 * m)
        at, inside = found.active_mask, found.active_mask == 0
        x = np.where(at < 0, low, np.where(at > 0, high, found.x))
        if inside.any():
            rest = b[inside] + W[np.ix_(inside, ~inside)] @ x[~inside]
            x[inside] = -np.linalg.lstsq(W[np.ix_(inside, inside)], rest, rcond=None)[0]
    return np.clip(x, low, high)
