"""Loops in rounded numbers: the numbers of their joints are moved by the least amount that lets them move exactly.

Some constraints of a loop may follow from others, as those that keep a planar linkage in its plane. In rounded numbers they
contradict them, and exactly such a loop is locked. With the gaps γ_i of positions along its motion (`closures`), the least
change ξ of its joints' numbers is looked for with

    γ_i + N_iᵀ A_i ξ = 0 at all positions,    A = ∂g/∂ξ (`joint_numbers`),

by Newton's method, whose steps are those of least norm; then the positions are found anew.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.model.graph import loop_of
from mbvi.model.model import Model
from mbvi.model.moved_loops import MovedLoop
from mbvi.model.resolve import MOST_TOLERANCE
from mbvi.system.attitudes import AT_ANOTHER_ROOT, Attitudes
from mbvi.system.base import BaseSystem
from mbvi.system.closures import OPEN, Closure, Position, closures
from mbvi.system.copies import as_run
from mbvi.system.forms import with_tree
from mbvi.system.initial import found_start
from mbvi.system.joint_numbers import FIELDS, LENGTHS, changed, numbers, sensitivity
from mbvi.system.projection import LARGE, owner_of

Array = np.ndarray
ROUND_OFF = 5e-15  # gap that arithmetic leaves where numbers have all their digits
LOOKS = 3  # steps of a walk that shows whether there are gaps
STEPS, STEPS_OF_SEVERAL = 24, 8  # of a walk along one motion, and along each of several
CLEAR = 1e-2  # singular value from which on a position is not near a singular one
NEARLY = 1e-3  # up to what singular values and gaps rounding is thought of
MANY = 5  # times the tolerance, beyond which gaps are a contradiction
ENOUGH = 4  # times the rounding, of a tolerance
NEWTON_STEPS, PATIENCE = 60, 6
OF_SINGULAR = 1e-9  # gap that a walk through singular configurations alone leaves, which no numbers explain
DONE, ENDED = 1e-12, 1e-15  # gap that is as good as none, and at which no further step is made
FACTOR, MOST = 3.0, 1e-3  # singular values that count, by the largest: more than this times the gap, or than this


class Verdict(NamedTuple):
    """What a walk says of a loop.

    rank        how many of its constraints are independent
    gap         by how much the others contradict them at most
    next        largest singular value of these
    positions   where that was seen
    """

    rank: int
    gap: float
    next: float
    positions: list[Position]


def with_exact_loops(model: Model, system: BaseSystem, build: Callable[[Model], BaseSystem]) -> Model:
    """A model whose resolved form has loops that move exactly; the same model if they do, or if they cannot be judged.

    Parameters
    ----------
    model : Model
    system : BaseSystem
        The system of the model with the joints of its spanning tree as coordinates, and all constraints of its loops.
    build : callable
        Makes such a system of another model.

    Raises
    ------
    ModelError
        If constraints contradict each other a little, but by more than the model's tolerance.
    """
    resolved, moved = model.resolved(), []
    tolerance = float(resolved.loop_tolerance)
    for each in closures(system) if tolerance else ():
        closure = Closure(system, each.rows, each.columns, each.size)
        if (found := _judged(closure, tolerance)) is not None:
            given = resolved
            resolved, system = _moved(closure, found, given, build)
            if resolved is not given:
                moved.append(_moved_loop(closure, found, given, resolved))
    if moved:
        return model.with_exact_loops(resolved, tuple(moved))
    resolved._moved_loops = ()
    return model


def _judged(closure: Closure, tolerance: float) -> Verdict | None:
    """What has to be made exact of a loop, or None.

    Where all constraints are independent at one position they are so almost everywhere, and it is not walked from there.
    """
    n, k = len(closure.columns), len(closure.rows)
    start = _start(closure) if n + k <= LARGE else None
    if start is None:
        return None
    if start.rank(tolerance) == k:
        if start.singular[k - 1] <= NEARLY:
            _check_nearly(closure, start, moves=n > k)
        return None
    found = _verdict(closure, start, tolerance, LOOKS)
    if found.rank < k and found.gap > ROUND_OFF:
        found = _verdict(closure, start, tolerance, STEPS if n - found.rank == 1 else STEPS_OF_SEVERAL)
    if found.rank == k:
        return None
    is_locked = found.rank == n and found.positions[0].singular[n - 1] <= NEARLY
    if is_locked or found.gap > MANY * tolerance:
        _check_nearly(closure, start, moves=False)
        return None
    return found if found.gap > ROUND_OFF else None


def _start(closure: Closure) -> Position | None:
    """A position on the constraints that are clearly independent, from which a loop is looked at; None if there is none."""
    for given in _given(closure.system):
        try:
            start = closure.projected(given, NEARLY)
        except np.linalg.LinAlgError:  # what is not a number has no singular values
            continue
        is_turned = Attitudes(closure.system).angles(start.q).max(initial=0.0) > AT_ANOTHER_ROOT
        if start.open(start.rank(NEARLY)) <= OPEN and not is_turned:
            return start
    return None


def _given(system: BaseSystem) -> Iterator[Array]:
    """The coordinates that a model gives, and where they lead nowhere those from which it would start."""
    yield system.given_q
    try:
        yield found_start(as_run(system), None, None, 0.0, True, None).q
    except ModelError:  # which is raised when it is to start
        return


def _verdict(closure: Closure, start: Position, tolerance: float, steps: int) -> Verdict:
    """What a walk of some steps says."""
    positions = [start, *closure.walk(start, tolerance, steps)]
    rank = max(each.rank(tolerance) for each in positions)
    positions = [each for each in positions if each.rank(tolerance) == rank]
    if rank:
        positions = [each for each in positions if each.singular[rank - 1] > CLEAR] or positions
    gap = max(float(np.abs(each.gaps(rank)).max(initial=0.0)) for each in positions)
    return Verdict(rank, gap, max(float(each.singular[rank:].max(initial=0.0)) for each in positions), positions)


def _check_nearly(closure: Closure, start: Position, moves: bool) -> None:
    """Refuse a loop whose constraints contradict each other unless more is taken as rounded; warn of one that moves yet."""
    found = _verdict(closure, start, NEARLY, STEPS)
    if len(found.positions) < STEPS or found.rank == len(closure.rows) or found.gap > MANY * NEARLY:
        return
    where, bodies = _where(closure)
    off = max(found.next, found.gap)
    digit = 10 ** math.floor(math.log10(ENOUGH * off))
    enough = math.ceil(ENOUGH * off / digit) * digit
    lead = f"constraints that follow from others{bodies} contradict them by {off:.2g}"
    remedy = f"if numbers are rounded so, write loop_tolerance: {enough:.0e}, which moves them; if they are meant, 0"
    if enough > MOST_TOLERANCE:
        return  # no rounding
    if not moves:
        raise ModelError(
            f"{where}: expected a loop that moves, found that {lead}, more than rounding explains; {remedy}"
        )
    warnings.warn(f"{where}: {lead}, so that they almost hold it; {remedy}", ModelWarning, stacklevel=stack_level())


def _moved(
    closure: Closure, found: Verdict, resolved: Model, build: Callable[[Model], BaseSystem]
) -> tuple[Model, BaseSystem]:
    """The resolved model in which a loop moves exactly, and its system; as they are where the loop is singular wherever it goes.

    Raises
    ------
    ModelError
        If no change of the joints' numbers lets it.
    """
    homes, of = closure.system.homes, numbers(closure)
    assert homes is not None
    states = np.array([each.q for each in found.positions])
    given = resolved, closure.system
    best, since = (np.inf, *given), 0
    for _ in range(NEWTON_STEPS):
        positions = [closure.projected(q, 0.0, found.rank) for q in states]
        states = np.array([each.q for each in positions])
        gaps = np.concatenate([each.gaps(found.rank) for each in positions])
        worst = float(np.abs(gaps).max())
        since = 0 if worst < best[0] / 2 else since + 1
        best = min(best, (worst, resolved, closure.system), key=lambda each: each[0])
        if worst <= ENDED or since == PATIENCE:
            break
        pairs = zip(positions, sensitivity(closure, states, of), strict=True)
        A = np.concatenate([each.left[:, found.rank :].T @ A for each, A in pairs])
        change = _least_change(A, gaps, ENDED / found.gap)
        resolved = changed(resolved, of, change, closure.size)
        closure = Closure(build(with_tree(resolved, homes.plan.chords)), closure.rows, closure.columns, closure.size)
    if best[0] > DONE and found.gap < OF_SINGULAR:
        return given
    if best[0] > DONE:
        where, bodies = _where(closure)
        raise ModelError(
            f"{where}: expected places, axes and orientations of joints that can be moved so that the loop{bodies} moves, found "
            f"that {best[0]:.2g} of {found.gap:.2g} is left; write its numbers with more digits, or loop_tolerance: 0"
        )
    return best[1:]


def _least_change(A: Array, gaps: Array, least: float) -> Array:
    """The least change (numbers, 3) ξ with A ξ = −gaps, where small singular values do not count, and none below the least."""
    left, singular, right = np.linalg.svd(A, full_matrices=False)
    counts = singular > max(least, min(FACTOR * float(np.abs(gaps).max()), MOST)) * max(float(singular[0]), 1.0)
    return np.asarray(-(right[counts].T @ (left[:, counts].T @ gaps / singular[counts])).reshape(-1, 3))


def _moved_loop(closure: Closure, found: Verdict, given: Model, taken: Model) -> MovedLoop:
    """What was done to a loop."""
    changes: dict[tuple[str, str], tuple[Any, Any]] = {}
    largest = 0.0
    for name, joint in taken.joints.items():
        for field in FIELDS:
            before, after = (getattr(each, field, ()) for each in (given.joints[name], joint))
            if before != after:
                changes[name, field] = before, after
                size = closure.size if field in LENGTHS else 1.0
                largest = max(largest, float(np.abs(np.subtract(after, before)).max()) / size)
    where, bodies = _where(closure)
    count = len(closure.rows) - found.rank
    return MovedLoop(where, bodies, count, found.gap, largest, closure.size, changes)


def _where(closure: Closure) -> tuple[str, str]:
    """The keys that lead to the joint or constraint that closes a loop, and its bodies in words, if it is a single one."""
    system = closure.system
    assert system.model is not None and system.homes is not None
    model, plan = system.model.resolved(), system.homes.plan
    owners = dict.fromkeys(owner_of(system, int(row)) for row in closure.rows)
    chords = [owner for owner in owners if owner in plan.chords]
    bodies = f" of the loop {loop_of(model.joints[chords[0]], plan)}" if len(chords) == 1 else ""
    owner = next(iter([*chords, *(each for each in owners if each in model.constraints), *owners]))
    return f"{'joints' if owner in model.joints else 'constraints'}.{owner}", bodies
