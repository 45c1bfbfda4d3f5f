"""What `mbvi run` prints: plain text from a trajectory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbvi.cli.rows import MOST_REASONS, dimensions, moves_as_text, value_as_text, what_works
from mbvi.results.contacts import KINDS
from mbvi.results.limits import exceeded_limits, unchecked_limits
from mbvi.results.summary import Summary, summarized
from mbvi.text import aligned, count, rounded, shortened

if TYPE_CHECKING:
    from mbvi.results.trajectory import Trajectory
    from mbvi.system.initial import Start
    from mbvi.system.system import System

FEW_MOVES = 6
COARSE = 0.1  # energy error, relative to the largest kinetic energy, that no scheme has whose steps resolve the motion
AT_REST = 1e-24  # of the largest kinetic energy, that of rates which are zero but for rounding
SAME = 1e-9  # part by which values differ that do not change in a run
MOST_LOOKS, NOTABLE = 64, 0.1  # number of states whose regularity is computed, and the value below which it is reported


def run_report(trajectory: Trajectory, start: Start | None = None) -> str:
    """What was run, what it cost, and how well it kept what the system conserves; from a start that `find_start` gave."""
    summary = summarized(trajectory)
    lines = [trajectory.system.name, ""]
    lines += aligned(_run_rows(trajectory, summary, start))
    if summary.momenta:
        lines += ["", *shortened(_momenta(trajectory, summary))]
    return "\n".join(lines)


def _run_rows(trajectory: Trajectory, summary: Summary, start: Start | None) -> Iterator[tuple[str, str]]:
    statistics, scheme = trajectory.statistics, trajectory.scheme
    yield "system", dimensions(trajectory.system)
    if (model := trajectory.system.model) is not None and model.import_report is not None:
        yield "imported", f"{model.import_report.summary}; mbvi check says which"
    yield from (("mended", text) for text in _mended(trajectory.system, MOST_REASONS))
    if start is not None:
        yield from (("" if i else "start", text) for i, text in enumerate(moves_as_text(start, FEW_MOVES)))
    yield "scheme", f"{scheme.name}, order {scheme.order}"
    mean = "" if trajectory.step_sizes is None else "mean "
    yield "step", f"{mean}{trajectory.step:.6g} s, {count(statistics.steps, 'step')} to t = {_end(trajectory):.6g} s"
    if statistics.steps and statistics.seconds > 0:
        per_step = statistics.seconds / statistics.steps
        yield "speed", f"{rounded(1 / per_step)} steps per second, {rounded(1e6 * per_step)} µs per step"
    if statistics.iterations:  # there are none where a step needs no iteration
        each = statistics.iterations / statistics.steps
        where = "step" if len(scheme.fractions) == 1 else "substep"
        also = " with those of comparisons" if each > statistics.most_iterations and where == "step" else ""
        yield "iterations", f"{each:.1f} per step{also}, at most {statistics.most_iterations} in a {where}"
    yield from _energy_rows(trajectory, summary)
    yield from (("events" if not i else "", text) for i, text in enumerate(_events(trajectory)))
    yield from (("contacts" if not i else "", text) for i, text in enumerate(_contacts(trajectory)))
    if trajectory.system.constraint_count:
        redundant = trajectory.system.mobility.redundant
        more = f"; {redundant} redundant" if redundant else ""
        yield "constraints", f"largest residual {summary.residual:.1e}{more}"
    yield from (("limits", text) for text in _limits(trajectory))
    yield from (("regularity", text) for text in _regularity(trajectory))
    yield from (("doubtful", finding.text) for finding in trajectory.findings)


def _events(trajectory: Trajectory) -> Iterator[str]:
    """How often every event happened, and when first and last."""
    for name, found in trajectory.events.items():
        times = ", ".join(f"{t:.9g} s" for t in found.t[[0, -1]][: len(found)]) if len(found) else ""
        ended = ", which ended the run" if trajectory.end == name else ""
        when = f": t = {times}" if len(found) == 1 else f", from t = {times.replace(', ', ' to ')}" if times else ""
        yield f"{name} {count(len(found), 'time')}{when}{ended}"


def _contacts(trajectory: Trajectory) -> list[str]:
    """What happened to every stop and friction, and what energy they took."""
    if trajectory.contact_events is None or not hasattr(trajectory.system, "arrays"):
        return []
    events = trajectory.contacts
    lines = [
        f"took {_energy(float(trajectory.energy_taken()[-1]))}, {_energy(float(events.energy.sum()))} of it by impacts"
    ]
    for name in events.names:
        own = events.of(name)
        counts = [count(int(np.sum(own.kind == i)), kind) for i, kind in enumerate(KINDS) if (own.kind == i).any()]
        lines.append(f"{name}: {', '.join(counts) or 'nothing'}")
        rests = own.of(name, "rest")
        has_moved = rests.energy > AT_REST * trajectory.kinetic_energy().max()
        if has_moved.any():
            first, took = rests.t[has_moved][0], float(rests.energy[has_moved].sum())
            lines.append(f"{name}: its rest_speed ended bounces, first at t = {first:.6g} s, which took {took:.1e} J")
    return shortened(lines)


def _limits(trajectory: Trajectory) -> list[str]:
    """The limits that the run exceeds, and the joints whose limits nothing looks at."""
    lines = [str(excess) for excess in exceeded_limits(trajectory)]
    if unchecked := unchecked_limits(trajectory.system):
        lines.append(f"not looked at: {', '.join(unchecked)}, whose coordinates the equations do not have")
    return shortened(lines)


def _regularity(trajectory: Trajectory) -> Iterator[str]:
    """How near some of the states come to a singular mass matrix, and to singular constraints."""
    from mbvi.system.projection import LARGE
    from mbvi.system.redundancy import singularity
    from mbvi.system.regularity import least_inertia

    system = trajectory.system
    if not hasattr(system, "arrays") or system.dimension + system.constraint_count > LARGE:
        return  # only a nameplate, or matrices that take too long
    rows = np.unique(np.linspace(0, len(trajectory) - 1, MOST_LOOKS).astype(int))
    t, q = trajectory.t[rows], trajectory.q[rows]
    inertias = np.array([least_inertia(system, *state) for state in zip(q, t, strict=True)])
    least = int(np.argmin(inertias))
    if inertias[least] < NOTABLE * inertias[0] < np.inf:
        yield f"least inertia {inertias[least] / inertias[0]:.2g} of that at the start, at t = {t[least]:.4g} s"
    if np.any(system.arrays.reference > 0):
        values = [singularity(system, *state) for state in zip(q, t, strict=True)]
        least = int(np.argmin(values))
        if values[least] < NOTABLE:
            when = f"at t = {t[least]:.4g} s" if values[least] < (1.0 - SAME) * max(values) else "all the time"
            yield f"least singular value of the constraints {values[least]:.2g} of the largest, {when}"


def _mended(system: System, most: int) -> list[str]:
    """The first lines of what was mended of a model's rounded numbers, and how many more there are."""
    lines = list(system.model.mended) if system.model is not None else []
    return lines if len(lines) <= most else [*lines[: most - 1], f"{len(lines) - most + 1} more; mbvi check lists them"]


def _end(trajectory: Trajectory) -> float:
    return float(trajectory.t[0] + trajectory.step * trajectory.statistics.steps)


def _energy_rows(trajectory: Trajectory, summary: Summary) -> Iterator[tuple[str, str]]:
    if not trajectory.system.keeps_energy:
        start, end = map(_energy, summary.energy)
        yield "energy", f"{start} at the start, {end} at the end; {what_works(trajectory.system)}"
        return
    yield "energy", f"{_energy(summary.energy[0])} at the start"
    if not math.isfinite(summary.energy_error):
        yield "energy error", "not a number, since some of the energies are none"
        return
    if summary.is_resting:
        yield (
            "energy error",
            f"nothing moves beyond rounding; the energy changes by at most {summary.energy_change:.1e} J",
        )
        return
    text = f"at most {summary.energy_error:.1e} of the largest kinetic energy"
    if summary.energy_error > COARSE:
        text += ", so that steps are too large for parts of the motion"
    if summary.trend is not None:
        text += f"; {'trend' if summary.trend.is_significant else 'no trend'}: {summary.trend}"
    yield "energy error", text


def _energy(value: float) -> str:
    return f"{value + 0.0:.6g} J" if math.isfinite(value) else "not a number"  # no minus before 0


def _momenta(trajectory: Trajectory, summary: Summary) -> list[str]:
    rows = [("conserved momentum", "at the start", "largest drift", "")]
    for (name, (start, drift)), unit in zip(summary.momenta.items(), trajectory.momentum_units, strict=True):
        rows.append((name, value_as_text(start), f"{drift:.1e}", unit))
    return aligned(rows, right=[1, 2])
