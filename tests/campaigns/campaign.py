"""What campaigns share: seeds are tried in a process of their own, which may crash or hang, and what went wrong is reported."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mbvi import StepError

Trial = Callable[[int], str]
"""A case by its seed: it says how it ended, of few ways, and raises where that is wrong."""


class Result(NamedTuple):
    """How often cases ended in which way, and what went wrong, by seeds."""

    ends: Counter[str]
    wrong: dict[int, str]


class Off(NamedTuple):
    """Errors of an energy balance, relative to the largest kinetic energy: in all, and in a step in which contacts change."""

    everywhere: float
    at_contacts: float


def check_balance(off: Off, finer: Callable[[int], Off], least: float) -> str:
    """Refuse an error of the energy balance that does not shrink at least as the square of the step, as one of a scheme does.

    It must shrink with a quarter of the step. Where a step is as long as what it passes, as a spring that is almost of no length
    or a position in which forces become very large for an instant, it may shrink later: from that on to a sixteenth and a 64th.

    Parameters
    ----------
    off : Off
    finer : callable
        ``finer(parts)`` is that with steps so many times shorter.
    least : float
        What is no error.

    Returns
    -------
    str
        How the case ended.
    """
    try:
        quarter = finer(4)
        if _shrinks(off, quarter, least):
            return "ran with a coarse step"
        sixteenth, last = finer(16), finer(64)
    except StepError:  # which names a place that the coarse step passes
        return "ran with a coarse step, and failed with a finer one"
    if not (_shrinks(quarter, sixteenth, least) and _shrinks(sixteenth, last, least)):
        where, field = ("with a step", 0) if quarter.at_contacts <= least else ("in a step in which contacts change", 1)
        found = f"{off[field]:g}, and by {quarter[field]:g}, {sixteenth[field]:g}, {last[field]:g}"
        raise AssertionError(f"the energy balance errs {where} by {found} with a 4th, a 16th and a 64th of it")
    return "ran with a coarse step"


def _shrinks(off: Off, quarter: Off, least: float) -> bool:
    """Whether both errors do with a quarter of the step, at least as its square."""
    return all(small <= max(large / 16, least) for large, small in zip(off, quarter, strict=True))


def run(trial: Trial, seeds: Iterable[int], limit: float = 120.0) -> Result:
    """Try all seeds, each within `limit` seconds."""
    result, left = Result(Counter(), {}), list(seeds)
    while left:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(trial, left, theirs))
        process.start()
        theirs.close()
        try:
            left = _listen(ours, left, result, limit)
        finally:
            process.kill()
            process.join()
    return result


def _listen(connection: Any, seeds: list[int], result: Result, limit: float) -> list[int]:
    """Note what a process tells of seeds; those that are left after it ended."""
    for i, seed in enumerate(seeds):
        try:
            if not connection.poll(limit):
                result.wrong[seed] = f"did not end within {limit:g} s"
                return seeds[i + 1 :]
            end, problem = connection.recv()
        except EOFError:
            result.wrong[seed] = "ended the process"
            return seeds[i + 1 :]
        if problem:
            result.wrong[seed] = problem
        else:
            result.ends[end] += 1
    return []


def _serve(trial: Trial, seeds: list[int], connection: Any) -> None:
    """Try seeds one after another."""
    warnings.simplefilter("ignore")
    for seed in seeds:
        try:
            connection.send((trial(seed), ""))
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            connection.send(("", f"{type(error).__name__} at {where}: {' '.join(str(error).split())[:600]}"))


def main(trial: Trial, what: str, count: int, limit: float = 120.0) -> None:
    """The command of a campaign: it ends with a line of what was found, and with 1 where something was wrong."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--count", type=int, default=count, help=f"how many cases (by default {count})")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; others follow it")
    arguments = parser.parse_args()
    began, seeds = time.perf_counter(), range(arguments.seed, arguments.seed + arguments.count)
    result = run(trial, seeds, limit)
    for seed, problem in sorted(result.wrong.items()):
        print(f"seed {seed}: {problem}")
    ends = ", ".join(f"{number} {end}" for end, number in result.ends.most_common())
    seconds = time.perf_counter() - began
    print(
        f"{what}: {arguments.count} cases from seed {arguments.seed}: {ends}; {len(result.wrong)} wrong; {seconds:.0f} s"
    )
    sys.exit(bool(result.wrong))
