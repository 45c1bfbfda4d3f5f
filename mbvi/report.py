"""What `mbvi run`, `mbvi check` and `mbvi schemes` print: plain text from a trajectory, a model or the catalogue.

Nothing heavy is imported here: what needs numba comes in by arguments, or by a name of `mbvi` when it is first used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import mbvi
from mbvi.model.corners import corners_in_steps, corners_of_motions
from mbvi.model.elements import count_steps
from mbvi.model.expressions import infix, value_at
from mbvi.model.fields import idle_parameters
from mbvi.model.meshes import odd_meshes
from mbvi.model.poles import is_empty_quotient, programs
from mbvi.model.shapes import has_mass
from mbvi.model.tables import kinks_in_steps, overshoots, short_tables
from mbvi.schemes.catalog import SCHEMES

if TYPE_CHECKING:
    import xarray

    from mbvi.model import Model
    from mbvi.system.initial import Move, Start
    from mbvi.system.system import System
    from mbvi.trajectory import Trajectory

Array = np.ndarray
FEWEST_STATES = 10
MOST_BINS = 1 << 16
BLOCK_ROWS = 1 << 17  # states of which a summary reads at a time
SIGNIFICANT = 3.0
AT_REST = 1e-10
FEW_MOVES = 6
MOST_LINES = 40
MOST_REASONS = 5
MOST_LOOKS, NOTABLE = 64, 0.1  # states that are looked at for how regular they are, and what is told of it
ROUND_OFF = 1e-12
RESTING = 64 * np.finfo(float).eps  # so much of a coordinate, or of 1, may change at rest, and of the energy be kinetic

# ------------------------------------------------------------------------------------------------- text


def aligned(rows: Iterable[Sequence[str]], indent: str = "", right: Sequence[int] = ()) -> list[str]:
    """Rows of cells as lines with aligned columns; those numbered in `right` are flush right.

    Examples
    --------
    >>> print(*aligned([("a", "1"), ("bcd", "20")], right=[1]), sep="\\n")
    a     1
    bcd  20
    """
    rows = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines


def shortened(lines: Sequence[str]) -> list[str]:
    """Lines, of which those in the middle are left out if there are more than about forty.

    Examples
    --------
    >>> lines = shortened([f"line {i}" for i in range(100)])
    >>> len(lines), lines[20]
    (41, '… 60 more')
    """
    left_out = len(lines) - MOST_LINES
    if left_out <= 1:
        return list(lines)
    half = MOST_LINES // 2
    return [*lines[:half], f"… {left_out} more", *lines[-half:]]


def count(number: int, noun: str) -> str:
    """A number of things: 1 step, 2 steps, no steps."""
    first, *rest = noun.split(" ")
    return " ".join([str(number or "no"), first if number == 1 else first + "s", *rest])


def file_size(size: int) -> str:
    """A number of bytes: 97.0 kB."""
    return f"{rounded(size / 1e6)} MB" if size >= 1e6 else f"{rounded(size / 1e3)} kB"


def rounded(value: float, digits: int = 3) -> str:
    """A number to so many digits, without an exponent: 312 000.

    Examples
    --------
    >>> rounded(312345.6), rounded(3.14159), rounded(0.0123456)
    ('312 000', '3.14', '0.0123')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{max(places, 0)}f}".replace(",", " ")


# ------------------------------------------------------------------------------------------------ trend


class Trend(NamedTuple):
    """Slope [1/s] of a least-squares line over time and its standard error, which allows for correlated values."""

    slope: float
    error: float

    @property
    def is_significant(self) -> bool:
        """Whether the slope is more than three standard errors."""
        return abs(self.slope) > SIGNIFICANT * self.error

    def __str__(self) -> str:
        """As (1.2 ± 3.4)e-15 per second."""
        size = max(abs(self.slope), self.error)
        if size == 0:
            return "0 per second"
        exponent = math.floor(math.log10(size))
        slope, error = (round(value / 10.0**exponent, 1) + 0.0 for value in self)  # without a negative zero
        return f"({slope:.1f} ± {error:.1f})e{exponent:+03d} per second"


def fit_trend(t: Array, values: Array) -> Trend:
    """The linear trend of values (N,) over times t (N,).

    An energy error oscillates, so that its values are not independent: the variance of the slope is σ² τ / Σ (t − t̄)²,
    where σ² is that of the residuals, and τ = 1 + 2 Σ ρ_k their correlation time, ρ_k the autocorrelation up to its
    first zero.

    Examples
    --------
    >>> t = np.linspace(0.0, 100.0, 1001)
    >>> fit_trend(t, np.sin(2.0 * t)).is_significant
    False
    >>> fit_trend(t, np.sin(2.0 * t) + 0.1 * t).is_significant
    True
    """
    x, y = _binned(t, values, -(-len(t) // MOST_BINS))
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    residual = y - slope * x
    variance = float(residual @ residual) / (len(x) - 2)
    return Trend(slope, math.sqrt(variance * _correlation_time(residual) / float(x @ x)))


def _correlation_time(residual: Array) -> float:
    """τ = 1 + 2 Σ ρ_k up to the first zero of the autocorrelation ρ, in numbers of values."""
    n = len(residual)
    spectrum = np.fft.rfft(residual, 2 * n)
    correlation = np.fft.irfft(spectrum * spectrum.conj())[:n]
    if correlation[0] <= 0:
        return 1.0
    correlation /= correlation[0]
    first = int(np.argmax(correlation <= 0)) or n
    return 1.0 + 2.0 * float(correlation[1:first].sum())


# ---------------------------------------------------------------------------------------------- a run


def run_report(trajectory: Trajectory, start: Start | None = None) -> str:
    """What was run, what it cost, and how well it kept what the system conserves; from a start that `find_start` gave."""
    summary = summarized(trajectory)
    lines = [trajectory.system.name, ""]
    lines += aligned(_run_rows(trajectory, summary, start))
    if summary.momenta:
        lines += ["", *shortened(_momenta(trajectory, summary))]
    return "\n".join(lines)


class Summary(NamedTuple):
    """What is said of all states of a trajectory.

    energy         (2,)   at the start and at the end [J]
    energy_error          largest of `energy_error`
    is_resting            whether nothing moves beyond rounding
    energy_change         largest change of the energy [J]
    trend                 of that, None if the states are few
    residual              largest |g|
    momenta               by name, at the start and the largest drift
    """

    energy: tuple[float, float]
    energy_error: float
    is_resting: bool
    energy_change: float
    trend: Trend | None
    residual: float
    momenta: dict[str, tuple[float, float]]


def summarized(trajectory: Trajectory, rows: int = BLOCK_ROWS) -> Summary:
    """The summary of a trajectory, by blocks of so many states or a few more, so that it need not fit into memory."""
    size = -(-len(trajectory) // MOST_BINS)
    first, momenta = math.nan, {}
    kinetic, sizes, errors, residuals, drifts, ranges = [], [], [], [], [], []
    bins: list[Array] = []
    for block in trajectory.blocks(-(-rows // size) * size):
        energy = block.energy()
        if not bins:
            first, momenta = float(energy[0]), {name: float(values[0]) for name, values in block.momenta().items()}
        error = energy - first
        bins.append(_binned(block.t, error, size))
        errors.append(np.abs(error).max())
        kinetic.append(block.kinetic_energy().max())
        sizes.append(np.abs(energy).max())
        ranges.append((block.q.min(axis=0), block.q.max(axis=0)))
        residuals.append(block.constraint_residual().max())
        drifts.append([np.abs(values - momenta[name]).max() for name, values in block.momenta().items()])
    low, high = np.min([each for each, _ in ranges], axis=0), np.max([each for _, each in ranges], axis=0)
    is_resting = _is_resting(low, high, float(np.max(kinetic)), float(np.max(sizes)))
    scale = float(np.max(sizes if is_resting else kinetic)) or 1.0
    t, error = np.concatenate(bins, axis=1)
    has_trend = len(trajectory) >= FEWEST_STATES and not is_resting and np.isfinite(error).all()
    trend = fit_trend(t, error / scale) if has_trend else None
    largest = dict(zip(momenta, np.max(drifts, axis=0), strict=True))
    return Summary(
        (first, float(energy[-1])),
        float(np.max(errors)) / scale,
        is_resting,
        float(np.max(errors)),
        trend,
        float(np.max(residuals)),
        {name: (momenta[name], float(largest[name])) for name in momenta},
    )


def _is_resting(low: Array, high: Array, kinetic: float, energy: float) -> bool:
    """Whether rounding explains that coordinates are between low and high (n,), or the kinetic part of the energy."""
    moved = high - low > RESTING * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    return bool(not moved.any() or kinetic <= RESTING * energy)


def _binned(t: Array, values: Array, size: int) -> Array:
    """Means (2, bins) of times and values over so many states each."""
    whole = len(t) // size * size
    return np.stack([each[:whole].reshape(-1, size).mean(axis=1) for each in (t, values)])


def _run_rows(trajectory: Trajectory, summary: Summary, start: Start | None) -> Iterator[tuple[str, str]]:
    statistics, scheme = trajectory.statistics, trajectory.scheme
    yield "system", _dimensions(trajectory.system)
    yield from (("mended", text) for text in _mended(trajectory.system, MOST_REASONS))
    if start is not None:
        yield from (("" if i else "start", text) for i, text in enumerate(_moved(start, FEW_MOVES)))
    yield "scheme", f"{scheme.name}, order {scheme.order}"
    mean = "" if trajectory.step_sizes is None else "mean "
    yield "step", f"{mean}{trajectory.step:.6g} s, {count(statistics.steps, 'step')} to t = {_end(trajectory):.6g} s"
    if statistics.steps and statistics.seconds > 0:
        per_step = statistics.seconds / statistics.steps
        yield "speed", f"{rounded(1 / per_step)} steps per second, {rounded(1e6 * per_step)} µs per step"
    if statistics.iterations:  # there are none where a step needs no iteration
        each = statistics.iterations / statistics.steps
        where = "step" if len(scheme.fractions) == 1 else "substep"
        yield "iterations", f"{each:.1f} per step, at most {statistics.most_iterations} in a {where}"
    yield from _energy_rows(trajectory, summary)
    if trajectory.system.constraint_count:
        redundant = trajectory.system.mobility.redundant
        more = f"; {redundant} redundant" if redundant else ""
        yield "constraints", f"largest residual {summary.residual:.1e}{more}"
    yield from (("regularity", text) for text in _regularity(trajectory))
    yield from (("doubtful", finding.text) for finding in trajectory.findings)


def _regularity(trajectory: Trajectory) -> Iterator[str]:
    """How near some of the states come to a singular mass matrix, and to singular constraints."""
    from mbvi.system.initial import least_inertia, singularity
    from mbvi.system.projection import LARGE

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
            yield f"least singular value of the constraints {values[least]:.2g} of the largest, at t = {t[least]:.4g} s"


def _mended(system: System, most: int) -> list[str]:
    """The first lines of what was mended of a model's rounded numbers, and how many more there are."""
    lines = list(system.model.mended) if system.model is not None else []
    return lines if len(lines) <= most else [*lines[: most - 1], f"{len(lines) - most + 1} more; mbvi check lists them"]


def _moved(start: Start, most: int) -> Iterator[str]:
    """Which coordinates and rates do not start as they were given, and then which of those that were not; no more than so many.

    Those of one unit follow one another, the largest changes first.
    """
    units = list(
        dict.fromkeys((move.is_rate, move.unit) for move in sorted(start.moves, key=lambda move: move.is_rate))
    )
    place = {unit: i for i, unit in enumerate(units)}
    moves = sorted(start.moves, key=lambda move: (place[move.is_rate, move.unit], -abs(move.reached - move.given)))
    left = most
    for is_given, what in ((True, "from what is given:"), (False, "where nothing is given:")):
        own = [move for move in moves if move.is_given == is_given]
        if own and left:
            yield f"moved onto the constraints {what}"
            yield from map(_told_move, own[:left])
            left -= len(own[:left])
    if len(moves) > most:
        yield f"and {len(moves) - most} more"


def _told_move(move: Move) -> str:
    """By how much a coordinate or rate was changed, and to what."""
    unit = "" if move.unit == "-" else move.unit
    unit = f" {unit or '1'}/s" if move.is_rate else f" {unit}".rstrip()
    name = f"rate of {move.name}" if move.is_rate else move.name
    return f"{name} by {move.reached - move.given:+.2g}{unit} to {_value(move.reached)}"


def _end(trajectory: Trajectory) -> float:
    return float(trajectory.t[0] + trajectory.step * trajectory.statistics.steps)


def _dimensions(system: System) -> str:
    parts = [
        count(system.degrees_of_freedom, "degree of freedom"),
        count(len(system.coordinate_names), "coordinate"),
        count(system.constraint_count, "constraint"),
    ]
    return ", ".join(parts)


def _energy_rows(trajectory: Trajectory, summary: Summary) -> Iterator[tuple[str, str]]:
    if not trajectory.system.is_conservative:
        start, end = map(_energy, summary.energy)
        yield "energy", f"{start} at the start, {end} at the end; {_work(trajectory.system)}"
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
    if summary.trend is not None:
        text += f"; {'trend' if summary.trend.is_significant else 'no trend'}: {summary.trend}"
    yield "energy error", text


def _energy(value: float) -> str:
    return f"{value:.6g} J" if math.isfinite(value) else "not a number"


def _work(system: System) -> str:
    return f"not conserved: {'forces or prescribed motions' if system.is_driven else 'forces'} do work"


def energy_error(trajectory: Trajectory) -> Array:
    """Energy less that at the start, divided by the largest kinetic energy, (N + 1,).

    Unlike an error divided by the energy, this does not depend on where the potential is zero. Where nothing moves beyond
    rounding, it is divided by the largest energy, or by 1 J if there is none.
    """
    energy, q = trajectory.energy(), trajectory.q
    kinetic, size = float(trajectory.kinetic_energy().max()), float(np.abs(energy).max())
    is_resting = _is_resting(q.min(axis=0), q.max(axis=0), kinetic, size)
    error: Array = (energy - energy[0]) / ((size if is_resting else kinetic) or 1.0)
    return error


def _momenta(trajectory: Trajectory, summary: Summary) -> list[str]:
    rows = [("conserved momentum", "at the start", "largest drift", "")]
    for (name, (start, drift)), unit in zip(summary.momenta.items(), trajectory.momentum_units, strict=True):
        rows.append((name, _value(start), f"{drift:.1e}", unit))
    return aligned(rows, right=[1, 2])


# -------------------------------------------------------------------------------------------- a check


def check_report(system: System, start: Start) -> str:
    """What a system's model is: its graph, coordinates, bodies, forces, mobility, what it conserves, and what is odd."""
    model = system.model
    assert model is not None
    resolved = model.resolved()
    lines = [model.name, *([model.description] if model.description else [])]
    parts = [
        ("Bodies and joints", _graph(model)),
        ("Coordinates", shortened(_coordinate_table(system, start))),
        ("Bodies", shortened(_body_table(resolved))),
        ("Forces", shortened(_force_table(resolved))),
        ("Mobility", _mobility(system, start)),
        ("Dynamics", shortened(_dynamics(system, start))),
        ("Run", [_run_line(resolved)]),
        ("Mended", shortened([f"- {text}" for text in model.mended])),
        ("Odd", shortened([f"- {text}" for text in oddities(system, start)])),
    ]
    for title, part in parts:
        if part:
            lines += ["", title, *(f"  {line}" for line in part)]
    return "\n".join(lines)


def _graph(model: Model) -> list[str]:
    """The spanning tree, cut at its end where it is large, then chords and constraints."""
    lines = mbvi.describe_tree(model).splitlines()
    tree, others = lines[: len(model.bodies) + 1], lines[len(model.bodies) + 1 :]
    if len(tree) > MOST_LINES + 1:
        tree = [*tree[:MOST_LINES], f"… {len(tree) - MOST_LINES} more"]
    return [*tree, *shortened(others)]


def _coordinate_table(system: System, start: Start) -> list[str]:
    rows = [("name", "unit", "at the start", "rate at the start")]
    for name, unit, q, v in zip(system.coordinate_names, system.coordinate_units, start.q, start.v, strict=True):
        rows.append((name, unit, _value(q), _value(v)))
    return aligned(rows, right=[2, 3])


def _value(number: float) -> str:
    """A number, without the rounding that a projection onto constraints leaves of zero."""
    return f"{0.0 if abs(number) < ROUND_OFF else number:.6g}"


def _mobility(system: System, start: Start) -> list[str]:
    mobility = system.mobility
    lines = [_dimensions(system)]
    if mobility.redundant:
        verb = "is" if mobility.redundant == 1 else "are"
        lines.append(f"{mobility.redundant} of the constraints {verb} redundant, of {', '.join(mobility.origins)}")
    if mobility.first_order:
        names = ", ".join(mobility.first_order)
        lines.append(
            f"singular configuration wherever the loops can go: the constraints of {names} fit to first order alone;"
        )
        lines.append(
            "steps may not converge: let one of them hold less, as a point_on_line instead of a revolute joint"
        )
    elif mobility.is_singular:
        lines.append(
            "singular configuration at the start: more motions are possible here than nearby; start a little beside it"
        )
    if system.is_driven and not mobility.degrees_of_freedom:
        lines.append("kinematically driven: the constraints prescribe the whole motion as functions of time")
    elif not mobility.degrees_of_freedom:
        lines.append("held: the constraints leave no motion, and joints carry what acts on the bodies")
    return [*lines, *(line if line.endswith(":") else f"  {line}" for line in _moved(start, MOST_LINES))]


def _body_table(model: Model) -> list[str]:
    rows = [("name", "mass [kg]", "centre of mass [m]")]
    for name, body in model.bodies.items():
        mass, center, inertia = mbvi.mass_properties(body, model.files)
        rounding = 1e-12 * np.sqrt(np.trace(inertia) / mass) if mass else 0.0  # of a mesh
        shown = _vector(np.where(np.abs(center) < rounding, 0.0, center)) if mass else "-"
        rows.append((name, f"{mass:.6g}", shown))
    return aligned(rows, right=[1])


def _vector(values: Iterable[Any]) -> str:
    return f"({', '.join(f'{float(value):.4g}' for value in values)})"


def _force_table(model: Model) -> list[str]:
    rows = [("gravity", "", f"{_vector(model.gravity)} m/s²")] if any(model.gravity) else []
    rows += [(name, force.type, _acts_on(force)) for name, force in model.forces.items()]
    return aligned(rows)


def _acts_on(force: Any) -> str:
    match force.type:
        case "joint_spring" | "joint_damper" | "joint_force":
            return f"{force.joint}.{force.coordinate}"
        case "spring" | "damper":
            return f"between {force.body_a} and {force.body_b}"
        case "force":
            return f"on {force.body} at {_vector(force.point)}, along the axes of {_axes(force)}"
    return f"on {force.body}, along the axes of {_axes(force)}"


def _axes(force: Any) -> str:
    return "the world" if force.frame == "world" else "the body"


def _dynamics(system: System, start: Start) -> list[str]:
    q, v = start.q, start.v
    energy = f"{system.energy(q, v):.6g} J at the start"
    rows = [("energy", energy, "conserved" if system.is_conservative else _work(system))]
    p, f = system.gradient(q, v)
    for invariant in mbvi.find_invariants(system) if np.isfinite(f).all() else ():
        value = f"{_value(float(invariant.value(q, p)))} {invariant.unit(system.coordinate_units)}".rstrip()
        rows.append((invariant.name, f"{value} at the start", "conserved"))
    return aligned(rows)


def _run_line(model: Model) -> str:
    step, duration, steps = run_of(model)
    scheme = model.simulation.scheme
    return f"{scheme}, step {step:.6g} s, duration {duration:.6g} s: {count(steps, 'step')}"


def run_of(model: Model) -> tuple[float, float, int]:
    """Step [s], duration [s] and number of steps that a model of numbers asks for."""
    run = model.simulation
    step, duration = float(run.step), float(run.duration)
    return step, duration, count_steps(duration / step)


# ------------------------------------------------------------------------------------------------- odd


def oddities(system: System, start: Start) -> list[str]:
    """What a system's model allows, but may not mean."""
    model = system.model
    assert model is not None
    resolved = model.resolved()
    found = [f"parameters.{name}: nothing uses it" for name in idle_parameters(model)]
    found += [*map(str, odd_meshes(model)), *_odd_gravity(resolved), *_odd_forces(resolved, system, start)]
    for name, body in resolved.bodies.items():
        if not has_mass(body):
            found.append(f"bodies.{name}: no mass; its motion follows from that of the bodies it is tied to")
    step, duration, steps = run_of(resolved)
    end = steps * step
    found += [*overshoots(resolved), *short_tables(resolved, duration), *kinks_in_steps(resolved, step, end)]
    found += [*corners_of_motions(resolved, 0.0, end), *corners_in_steps(resolved, step, end)]
    if abs(end - duration) > 1e-9 * end:
        found.append(f"simulation.duration: not a multiple of the step; the run ends at t = {end:.6g} s")
    if _is_at_rest(system, start, end):
        found.append("initial: at rest in an equilibrium; nothing will move")
    return found


def _odd_gravity(model: Model) -> Iterator[str]:
    size = float(np.linalg.norm(model.gravity))
    if size > 100 or 0 < size < 0.01:
        yield f"gravity: {size:.6g} m/s²; lengths are in metres and times in seconds"


def _odd_forces(model: Model, system: System, start: Start) -> Iterator[str]:
    """Forces that do nothing, that drive instead of damping, or that have no direction at the start."""
    for name, force in model.forces.items():
        where = f"forces.{name}"
        ends = [getattr(force, key) for key in ("body", "body_a", "body_b") if hasattr(force, key)]
        links = [system.frames[body].link for body in ends]
        if links == [-1]:
            yield f"{where}: no effect, since {ends[0]} is welded to the world"
        elif len(links) == 2 and links[0] == links[1]:
            yield f"{where}: no effect, since {ends[0]} and {ends[1]} do not move against each other"
        elif len(links) == 2 and getattr(force, "rest_length", True) and not _distance(force, system, start):
            yield f"{where}: its ends coincide at the start, where its direction is not defined"
        for program in programs(force):
            if not math.isfinite(value_at(program, 0.0)):
                yield f"{where}: {infix(program)} has no value at the start{', 0/0' if is_empty_quotient(program, 0.0) else ''}"
        if getattr(force, "damping", 0.0) < 0:
            yield f"{where}: negative damping; it drives"
        if getattr(force, "stiffness", 0.0) < 0:
            yield f"{where}: negative stiffness; it pushes away"


def _distance(force: Any, system: System, start: Start) -> float:
    ends = []
    for body, point in ((force.body_a, force.point_a), (force.body_b, force.point_b)):
        places, rotations = system.poses(body, start.q[None])
        ends.append(places[0] + rotations[0] @ np.array(point))
    return float(np.linalg.norm(ends[1] - ends[0]))


def _is_at_rest(system: System, start: Start, end: float) -> bool:
    """Whether nothing moves at the start, and nothing pushes then or at some later times."""
    times = (0.0, *(end * fraction for fraction in (0.1234, 0.3456, 0.5678, 0.7891)))
    if start.v.any() or system.is_driven:
        return False
    return all(np.abs(system.acceleration(start.q, start.v, t)).max() < AT_REST for t in times)


# --------------------------------------------------------------------------------------------- schemes


def scheme_table() -> str:
    """All schemes, and below them their sources."""
    sources = list(dict.fromkeys(scheme.source for scheme in SCHEMES.values()))
    rows = [("name", "order", "substeps", "symmetric", "source", "description")]
    for scheme in SCHEMES.values():
        symmetric = "yes" if scheme.is_symmetric else "no"
        number = f"[{sources.index(scheme.source) + 1}]"
        substeps = str(len(scheme.fractions))
        rows.append((scheme.name, str(scheme.order), substeps, symmetric, number, scheme.description))
    notes = [f"[{i}] {source}" for i, source in enumerate(sources, 1)]
    return "\n".join([*aligned(rows, right=[1, 2]), "", *notes])


def ensemble_report(dataset: xarray.Dataset) -> str:
    """How the members of an ensemble ended, and the first reasons of those that failed or are doubtful, each once."""
    status, about = dataset.status.values, dataset.attrs
    sizes = " × ".join(f"{name} {size}" for name, size in dataset.status.sizes.items())
    head = f"{about['name']}: {count(status.size, 'member')}" + (f" ({sizes})" if sizes else "")
    words = dataset.status.attrs["flag_meanings"].split()
    kinds = zip(dataset.status.attrs["flag_values"], words, strict=True)
    ends = [f"{int((status == value).sum())} {word.replace('_', ' ')}" for value, word in kinds if value in status]
    step, steps = float(about["step"]), int(about["steps"])
    run = f"{about['scheme']}, {count(steps, 'step')} of {step:g} s to t = {steps * step:.6g} s"
    lines = [f"{head}, {run}", ", ".join(ends)]
    has_reason = dataset.reason.values != ""
    if is_doubtful := int((has_reason & (status == 0)).sum()):
        lines[-1] += f", {is_doubtful} of them doubtful"
    failed = np.argwhere(has_reason)
    by_reason: dict[str, list[Any]] = {}
    for place, reason in zip(failed, dataset.reason.values[has_reason].tolist(), strict=True):
        by_reason.setdefault(reason, []).append(place)
    shown = dict(itertools.islice(by_reason.items(), MOST_REASONS))
    for reason, (place, *others) in shown.items():
        member = dataset.isel(dict(zip(dataset.status.dims, place, strict=True)))
        values = [f"{name} = {float(member[name]):.6g}" for name in member.coords if not member[name].dims]
        lines.append(f"  {', '.join(values)}: {reason}" + (f" ({len(others)} more of this)" if others else ""))
    if rest := len(failed) - sum(map(len, shown.values())):
        lines.append(f"  and {rest} more: see reason in the file")
    return "\n".join(lines)
