"""Impacts and rest of stops with friction: Coulomb's law for impulses and for forces at an instant.

**Impact.** With normal impulses Λ_n and tangential ones Λ_t of the stops that touch,

    0 ≤ Λ_n ⟂ u_n⁺ + e u_n⁻ ≥ 0,     |Λ_t| ≤ μ Λ_n,     and Λ_t = −μ σ Λ_n where u_t⁺ has the sign σ.

It takes −Σ Λ_n ½(u_n⁻ + u_n⁺) − Σ Λ_t ½(u_t⁻ + u_t⁺), of which no normal part is negative. Where a tangential one would be, as
it may where the slip turns back within the impact, the law is one for u_t⁻ + u_t⁺ instead: then it is not.

**Rest.** Accelerations and forces likewise: 0 ≤ λ_n ⟂ a_n ≥ 0, |λ_t| ≤ μ λ_n where nothing slips, and λ_t = −μ σ λ_n where it
slips with the sign σ, or begins to. Of a stop that slips λ_n raises its own a_n by J M⁻¹ (J − μ σ T)ᵀ, which a large μ makes
negative: then there may be no solution, or several (Painlevé's cases).

Both are solved by trying which stops are open, stick, or slide either way; all solutions are found so.

Sources: Moreau 1988 (unilateral contact and dry friction in finite freedom dynamics); Glocker, Set-Valued Force Laws (2001);
Painlevé, Comptes Rendus 121 (1895); Génot & Brogliato, Eur. J. Mech. A/Solids 18 (1999).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from mbvi.errors import ModelError

Array = np.ndarray
STILL = 1e-12
"""Speeds and accelerations that are rounding, as part of the largest and of 1 [m/s, rad/s, m/s² or rad/s²]."""
OPEN, STICK, FORWARDS, BACKWARDS, CLOSED = range(5)
SIGN = {FORWARDS: 1.0, BACKWARDS: -1.0}
MOST_CASES = 20_000
SAME = 1e-9  # relative difference of motions that are one


class Law(NamedTuple):
    """The law of one stop, or of one friction of a coordinate, at an instant.

    states   what may be tried
    normal   (n,)   row of its gap, or None of a coordinate
    tangent  (n,)   row of its slip, or None
    push     float  what the rate, or acceleration, of the gap would be without any of these forces, with its restitution
    slip     float  the same of the slip
    mu       float  coefficient of a stop; of a coordinate its largest friction
    """

    states: tuple[int, ...]
    normal: Array | None
    tangent: Array | None
    push: float
    slip: float
    mu: float


class Solution(NamedTuple):
    """A solution: states (laws,), forces or impulses along normals and tangents (laws,), and the motion that they make (n,)."""

    states: tuple[int, ...]
    normal: Array
    tangent: Array
    change: Array


class Found(NamedTuple):
    """All solutions, and how many of them are different motions."""

    solutions: list[Solution]
    different: int


def solve(laws: list[Law], responses: Array, names: str) -> Found:
    """All solutions of some laws.

    Parameters
    ----------
    laws : list of Law
    responses : (2, laws, n)
        The change of velocity by impulses along normals and along tangents.
    names : str
        The names of the stops, for a message.

    Raises
    ------
    ModelError
        If they are too many to be tried.
    """
    count = int(np.prod([float(len(each.states)) for each in laws]))
    if count > MOST_CASES:
        raise ModelError(
            f"expected at most {MOST_CASES} cases of stops with friction at one instant, found {count} of {names}; leave out "
            "the friction of some"
        )
    zero = np.zeros(responses.shape[2])
    rows = np.array(
        [
            [zero if row is None else row for row in rows]
            for rows in zip(*((x.normal, x.tangent) for x in laws), strict=True)
        ]
    )
    mobility = np.einsum("ain,bjn->aibj", rows, responses)
    size = max(1.0, *(abs(x) for each in laws for x in (each.push, each.slip)))
    found: list[Solution] = []
    for states in product(*(each.states for each in laws)):
        solution = _solution(states, laws, mobility, responses, STILL * size)
        if solution is not None:
            found.append(solution)
    different: list[Array] = []
    for each in found:
        scale = max(size, float(np.abs(each.change).max(initial=0.0)))
        if all(np.abs(each.change - other).max() > SAME * scale for other in different):
            different.append(each.change)
    return Found(found, len(different))


def _solution(
    states: tuple[int, ...], laws: list[Law], mobility: Array, responses: Array, still: float
) -> Solution | None:
    """What follows where stops and frictions are in these states; None where it contradicts the laws."""
    unknowns, given = _unknowns(states, laws)
    wanted = np.array([-(laws[i].push, laws[i].slip)[part] for part, i in unknowns])
    forces = np.zeros((2, len(laws)))
    offset = np.einsum("aibj,bj->ai", mobility, given)
    if unknowns:
        A = np.zeros((len(unknowns), len(unknowns)))
        for column, (part, i) in enumerate(unknowns):
            pushed = mobility[:, :, part, i]
            if part == 0 and states[i] in SIGN:
                pushed = pushed - SIGN[states[i]] * laws[i].mu * mobility[:, :, 1, i]
            A[:, column] = [pushed[p, j] for p, j in unknowns]
        right = wanted - np.array([offset[p, j] for p, j in unknowns])
        x = np.linalg.lstsq(A, right, rcond=STILL)[0]
        if np.abs(A @ x - right).max() > still:
            return None
        for (part, i), value in zip(unknowns, x, strict=True):
            forces[part, i] = value
            if part == 0 and states[i] in SIGN:
                forces[1, i] = -SIGN[states[i]] * laws[i].mu * value
    forces += given
    after = np.einsum("aibj,bj->ai", mobility, forces) + np.array([[x.push for x in laws], [x.slip for x in laws]])
    if not all(_is_lawful(i, state, laws[i], forces, after, mobility, still) for i, state in enumerate(states)):
        return None
    return Solution(states, forces[0], forces[1], np.einsum("ai,ain->n", forces, responses))


def _unknowns(states: tuple[int, ...], laws: list[Law]) -> tuple[list[tuple[int, int]], Array]:
    """The forces (part, law) that the states leave open, and those (2, laws) that are given, of coordinates that slide."""
    given = np.zeros((2, len(laws)))
    unknowns = [(0, i) for i, state in enumerate(states) if laws[i].normal is not None and state != OPEN]
    unknowns += [(1, i) for i, state in enumerate(states) if state == STICK]
    for i, state in enumerate(states):
        if laws[i].normal is None and state in SIGN:
            given[1, i] = -SIGN[state] * laws[i].mu
    return unknowns, given


def _is_lawful(i: int, state: int, law: Law, forces: Array, after: Array, mobility: Array, still: float) -> bool:
    """Whether forces have the signs, and are within the bounds, of a law."""
    normal, tangent, largest = forces[0, i], forces[1, i], law.mu
    if law.normal is not None:
        if state == OPEN:
            return bool(after[0, i] >= -still)
        if normal * mobility[0, i, 0, i] < -still:
            return False
        largest = law.mu * max(normal, 0.0)
    if state == STICK:
        return bool((abs(tangent) - largest) * mobility[1, i, 1, i] <= still)
    begins = state in SIGN and STICK in law.states
    return not begins or bool(SIGN[state] * after[1, i] >= -still)


def ways(tangent: Array | None, sign: float) -> Iterator[int]:
    """What a stop that touches may do: slide by the sign of its slip; where it has none stick, or begin to slide either way."""
    if tangent is None:
        yield CLOSED
    elif sign:
        yield FORWARDS if sign > 0 else BACKWARDS
    else:
        yield from (STICK, FORWARDS, BACKWARDS)
    yield OPEN
