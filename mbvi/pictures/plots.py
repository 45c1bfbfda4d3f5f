"""Curves of a trajectory: coordinates, momenta, energies, constraints, phase portraits and sections.

    trajectory  →  panels of curves  →  matplotlib.figure.Figure

What is rounding is no curve: where all values of a panel are, a band says that they are zero, and an axis along which nothing but
rounding changes is not stretched by it.

Of long runs every bin of time keeps its first, last, least and largest value, so that a picture looks as if all states
were drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.arguments import check_kind, checked_names
from mbvi.model.expressions import evaluate, nearest
from mbvi.model.mass_properties import checked_properties
from mbvi.model.units import check_unit
from mbvi.pictures import style
from mbvi.results.phases import names_of_forces
from mbvi.results.summary import energy_error
from mbvi.results.trajectory import Trajectory
from mbvi.system.element_forces import WRENCH, XYZ, ElementForce
from mbvi.system.poses import all_poses
from mbvi.system.reactions import known_names
from mbvi.system.sensors import sensor_names
from mbvi.system.system import System
from mbvi.text import count

Array = np.ndarray
WIDTH, ROW, WIDE_ROW = 9.0, 2.1, 3.3
"""Width of a figure, and heights of a row of panels over time and of other panels [inch]."""
SINGLE = 7.0  # width of a figure of one panel [inch]
MOST_COLOURS = 6  # curves that have different colours; more of them are coloured by a colour map
FEW = 2  # coordinates whose phase portraits are in the overview
MOST_CURVES = 60  # number of curves in one panel
MOST_DRIFTS = 4
MOST_PORTRAITS = 12
MOST_RATES = 5  # panels of coordinates up to which the overview has their rates too
LONGEST = 18  # letters of a name next to the bar of a colour map
MOST_POINTS = 60_000  # number of points in one panel
FEWEST_BINS, MOST_BINS = 250, 2500
MOST_VECTORS = 5000  # number of points up to which an .svg or .pdf has them as vectors
CELLS = 600  # number of cells along each side of a phase portrait of many states
RATIO = 10.0  # largest ratio of the ranges of curves that share a panel
MOST_SOLVED = 2000  # states at which multipliers are computed
TURN = 2.0 * math.pi
RATE_UNITS = {"rad": "rad/s", "m": "m/s", "-": "1/s"}
MOMENTUM_UNITS = {"rad": "kg m²/s", "m": "kg m/s", "-": "kg m²/s"}
EPS = float(np.finfo(float).eps)
ROUNDED = 16  # roundings of a number: an error of this size may be rounding alone
ROUNDING = 1e-12
"""Part of the largest coordinate, rate, momentum or energy, or of what these could be, that is rounding."""
SOLVED = 1e-9  # such a part for forces, which are solutions of equations
NAMELESS = {"energy", "energy_error", "invariants", "constraints"}  # quantities of the whole system

# ------------------------------------------------------------------------------------- what is drawn


@dataclass(frozen=True)
class Curve:
    """Values y (m,) over x (m,), and what they are called."""

    label: str
    x: Array
    y: Array


@dataclass(frozen=True)
class Panel:
    """Curves in one pair of axes; kind "time" (x is the time), "phase" (a path in a plane) or "points".

    Values and changes up to `rounding` (along x, y) are rounding.
    """

    y_label: str
    curves: Sequence[Curve]
    x_label: str = "time [s]"
    kind: str = "time"
    note: str = ""
    rounding: tuple[float, float] = (0.0, 0.0)


def plot(trajectory: Trajectory, *what: str, names: Sequence[str] | None = None, section: str | None = None) -> Any:
    """Draw a trajectory.

    Parameters
    ----------
    trajectory : Trajectory
    *what : str
        Quantities, in the order of their panels: coordinates, velocities, momenta, energy, energy_error, invariants (the drift
        of conserved momenta), constraints (their residual), phase (p over q), section, multipliers, reactions; forces, powers
        and works of what `Trajectory.forces` gives; places, speeds and accelerations of frames; measurements of sensors. By
        default an overview.
    names : sequence of str, optional
        Coordinates that are drawn, or joints for all of theirs; of multipliers and reactions the joints and constraints,
        of forces, powers and works the elements; of places, speeds and accelerations the frames, of measurements the
        sensors.
    section : str, optional
        A Poincaré section, as "elbow.angle = 30 deg": the states at which the coordinate rises through that value, angles
        in any turn.

    Returns
    -------
    matplotlib.figure.Figure
        A notebook shows it; ``savefig`` writes it.

    Raises
    ------
    ModelError
        If there is no such quantity or name, the states are not finite numbers, or matplotlib is missing.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> trajectory = mbvi.simulate(model, "simpson", step=0.01, duration=1.0, initial_q=[0.5])
    >>> plot(trajectory, "energy", "phase").axes[1].get_xlabel()
    'pivot.angle [rad]'
    """
    check_kind(trajectory, Trajectory, "trajectory", "mbvi.read reads one from a file")
    for each in what:
        if not isinstance(each, str) or (each not in QUANTITIES and each != "section"):
            raise ModelError(
                f"what: expected a quantity, found {each!r}; {nearest(str(each), [*QUANTITIES, 'section'])}"
            )
    if "section" in what and section is None:
        raise ModelError(
            "section: expected a coordinate and its value, found nothing; write for example 'elbow.angle = 0'"
        )
    if section is not None and "section" not in what:
        what = (*what, "section")
    if names is not None and what and NAMELESS.issuperset(what):
        raise ModelError(
            f"names: expected quantities that coordinates or joints have, found {', '.join(what)}; leave it out"
        )
    _check_states(trajectory)
    view = View(trajectory, names)
    panels: list[Panel] = [] if what else list(_overview(view))
    for each in what:
        of_it = list(_section(view, str(section)) if each == "section" else QUANTITIES[each](view))
        if not of_it:
            raise ModelError(f"what: expected a quantity that the run has, found {each!r}; {NEEDED[each]}")
        panels += of_it
    return _drawn(panels, trajectory)


def _check_states(trajectory: Trajectory) -> None:
    if len(trajectory) < 2:
        raise ModelError(f"trajectory: expected at least two states, found {len(trajectory)}")
    wrong = np.argwhere(~np.isfinite(trajectory.q))
    if len(wrong):
        i, j = wrong[0]
        name = trajectory.system.coordinate_names[j]
        raise ModelError(
            f"trajectory: expected finite numbers, found {trajectory.q[i, j]} for {name} at t = {trajectory.t[i]:.6g} s"
        )


class View:
    """A trajectory and what of it is drawn.

    Attributes
    ----------
    trajectory : Trajectory
    names : list of str or None
        Names that were asked for.
    """

    def __init__(self, trajectory: Trajectory, names: Sequence[str] | None) -> None:
        self.trajectory = trajectory
        given = [names] if isinstance(names, str) else names
        self.names = None if given is None else checked_names(given, "names")
        if self.names == []:
            raise ModelError("names: expected one or more names of what is drawn, found none; leave it out for all")

    @cached_property
    def rounding(self) -> Rounding:
        """The sizes below which its quantities are rounding."""
        return Rounding(self.trajectory)

    @property
    def columns(self) -> list[int]:
        """The coordinates that are drawn."""
        return self.chosen(self.trajectory.system.coordinate_names)

    def chosen(self, known: Sequence[str]) -> list[int]:
        """Places of the names that were asked for among those known; a name without its part after the last dot is all such."""
        if self.names is None:
            return list(range(len(known)))
        found = []
        for name in self.names:
            places = [i for i, each in enumerate(known) if name in (each, each.rpartition(".")[0])]
            if not places:
                raise ModelError(f"names: expected names of what is drawn, found {name!r}; {nearest(name, known)}")
            found += places
        return list(dict.fromkeys(found))


class Rounding:
    """The sizes below which a trajectory's quantities are rounding.

    They are parts of the largest, or of what the quantities would be if all coordinates moved by their size.

    Attributes
    ----------
    length : float
        How far bodies, or coordinates, are apart [m]; 1 if there are no lengths.
    mass : float
        The mass of all bodies [kg], 0 without a model.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory, system = trajectory, trajectory.system
        self._duration = float(trajectory.t[-1] - trajectory.t[0])
        lengths = [
            float(np.abs(trajectory.q[:, i]).max()) for i, unit in enumerate(system.coordinate_units) if unit == "m"
        ]
        self.mass, self._gravity = 0.0, 0.0
        if isinstance(system, System) and system.model is not None:
            model, poses = system.model.resolved(), all_poses(system, trajectory.q[:1])
            masses = {name: checked_properties(body, model.files) for name, body in model.bodies.items()}
            self.mass = sum(each.mass for each in masses.values())
            self._gravity = float(np.linalg.norm(model.gravity))
            points = [
                poses[name].point(place)[0]
                for name, each in masses.items()
                for place in (np.zeros(3), each.center_of_mass)
            ]
            lengths.append(float(np.linalg.norm(np.ptp(points, axis=0))))
        self.length = max(lengths, default=0.0) or 1.0

    def coordinate(self, unit: str) -> float:
        """What is rounding of coordinates with a unit."""
        return ROUNDING * self._size(unit)

    def rate(self, unit: str) -> float:
        """What is rounding of their rates."""
        return ROUNDING * max(self._largest(self._trajectory.v, unit), self._size(unit) / self._duration)

    def momentum(self, unit: str) -> float:
        """What is rounding of their momenta."""
        speed = self.length / self._duration
        could_be = self.mass * speed * (1.0 if unit == "m" else self.length)
        return ROUNDING * max(self._largest(self._trajectory.p, unit), could_be)

    @property
    def energy(self) -> float:
        """What is rounding of energies."""
        energies = self._trajectory.kinetic_energy(), self._trajectory.potential_energy()
        largest = max(float(np.nanmax(np.abs(each), initial=0.0)) for each in energies)
        return ROUNDING * max(largest, self.mass * (self.length / self._duration) ** 2)

    def force(self, largest: float, unit: str) -> float:
        """What is rounding of forces and torques, where the largest force is `largest`."""
        could_be = self.mass * max(self._gravity, self.length / self._duration**2)
        return SOLVED * max(largest, could_be) * (self.length if unit.endswith("N m") else 1.0)

    def _size(self, unit: str) -> float:
        return self.length if unit == "m" else 1.0

    def _largest(self, values: Array, unit: str) -> float:
        units = np.array(self._trajectory.system.coordinate_units)
        return float(np.nanmax(np.abs(values[:, units == unit]), initial=0.0))


def _coordinates(view: View) -> Iterator[Panel]:
    system = view.trajectory.system
    for columns in _groups(view):
        unit = system.coordinate_units[columns[0]]
        yield _panel(view, view.trajectory.q, columns, unit, view.rounding.coordinate(unit))


def _velocities(view: View) -> Iterator[Panel]:
    for columns in _groups(view):
        unit = RATE_UNITS.get(view.trajectory.system.coordinate_units[columns[0]], "")
        of = view.trajectory.system.coordinate_units[columns[0]]
        yield _panel(view, view.trajectory.v, columns, unit, view.rounding.rate(of), "rate of ")


def _momenta(view: View) -> Iterator[Panel]:
    for columns in _groups(view):
        unit = MOMENTUM_UNITS.get(view.trajectory.system.coordinate_units[columns[0]], "")
        of = view.trajectory.system.coordinate_units[columns[0]]
        yield _panel(view, view.trajectory.p, columns, unit, view.rounding.momentum(of), "momentum of ")


def _groups(view: View) -> list[list[int]]:
    """The coordinates, apart by unit; many of them by short name, few by range, so that none is flat next to a large one."""
    system, span = view.trajectory.system, np.ptp(view.trajectory.q, axis=0)
    by_unit: dict[str, list[int]] = {}
    for i in view.columns:
        by_unit.setdefault(system.coordinate_units[i], []).append(i)
    groups: list[list[int]] = []
    for members in by_unit.values():
        if len(members) > MOST_COLOURS:
            by_name: dict[str, list[int]] = {}
            for i in members:
                by_name.setdefault(system.coordinate_names[i].rpartition(".")[2], []).append(i)
            groups += by_name.values()
            continue
        members = sorted(members, key=lambda i: -span[i])
        by_range = [members[:1]]
        for i in members[1:]:
            if 0 < span[i] * RATIO < span[by_range[-1][0]]:
                by_range.append([])
            by_range[-1].append(i)
        groups += sorted(sorted(group) for group in by_range)
    return groups


def _panel(view: View, values: Array, columns: list[int], unit: str, rounding: float, prefix: str = "") -> Panel:
    """The panel of some columns of values (N + 1, n), which have one unit."""
    names = [view.trajectory.system.coordinate_names[i] for i in columns]
    what, labels = _common(names, "coordinate")
    curves, note = _thinned(
        [Curve(label, view.trajectory.t, values[:, i]) for label, i in zip(labels, columns, strict=True)]
    )
    return Panel(_with_unit(prefix + what, unit), curves, note=note, rounding=(0.0, rounding))


def _common(names: Sequence[str], otherwise: str) -> tuple[str, list[str]]:
    """What names are called together, and the rest of each: "angle" and elbow, shoulder."""
    owners, shorts = zip(*(name.rpartition(".")[::2] for name in names), strict=True)
    if len(names) == 1:
        return names[0], list(names)
    if len(set(shorts)) == 1 and all(owners):
        return shorts[0], list(owners)
    if len(set(owners)) == 1 and owners[0]:
        return owners[0], list(shorts)
    return otherwise, list(names)


def _with_unit(text: str, unit: str) -> str:
    return text if unit in ("", "-") else f"{text} [{unit}]"


def _thinned(items: Sequence[Any], note: str = "") -> tuple[list[Any], str]:
    """A choice of at most MOST_CURVES items, evenly spaced, and a note that says so."""
    if len(items) <= MOST_CURVES:
        return list(items), note
    kept = np.linspace(0, len(items) - 1, MOST_CURVES).round().astype(int)
    left_out = f"{len(kept)} of {len(items)} curves"
    return [items[i] for i in kept], f"{note}; {left_out}" if note else left_out


def _energy(view: View) -> Iterator[Panel]:
    trajectory = view.trajectory
    parts = {
        "kinetic": trajectory.kinetic_energy(),
        "potential": trajectory.potential_energy(),
        "total": trajectory.energy(),
    }
    curves = [Curve(label, trajectory.t, values) for label, values in parts.items()]
    yield Panel("energy [J]", curves, rounding=(0.0, view.rounding.energy))


def _energy_error(view: View) -> Iterator[Panel]:
    trajectory = view.trajectory
    error, change = energy_error(trajectory), np.ptp(trajectory.energy())
    part = np.ptp(error) / change if change > 0 else 0.0
    rounding = ROUNDED * EPS * float(np.nanmax(np.abs(trajectory.energy()), initial=0.0) * part)
    yield Panel("relative energy error", [Curve("energy error", trajectory.t, error)], rounding=(0.0, rounding))


def _invariants(view: View) -> Iterator[Panel]:
    trajectory = view.trajectory
    units = set(trajectory.momentum_units)
    curves = [Curve(name, trajectory.t, values - values[0]) for name, values in trajectory.momenta().items()]
    if curves:
        shown = sorted(curves, key=lambda curve: -np.nanmax(np.abs(curve.y)))[:MOST_DRIFTS]
        notes = [curves[0].label] if len(curves) == 1 else []
        notes += [f"the {MOST_DRIFTS} largest of {len(curves)}"] if len(shown) < len(curves) else []
        label = "drift of momentum" if len(curves) == 1 else "drift of momenta"
        unit = units.pop() if len(units) == 1 else ""
        rounding = (
            0.0,
            ROUNDED * EPS * max(float(np.nanmax(np.abs(values))) for values in trajectory.momenta().values()),
        )
        yield Panel(_with_unit(label, unit), shown, note="; ".join(notes), rounding=rounding)


def _constraints(view: View) -> Iterator[Panel]:
    trajectory = view.trajectory
    if trajectory.system.constraint_count:
        curve = Curve("residual", trajectory.t, trajectory.constraint_residual())
        yield Panel("largest constraint |g|", [curve], rounding=(0.0, ROUNDED * EPS * max(1.0, view.rounding.length)))


def _phase(view: View) -> Iterator[Panel]:
    trajectory = view.trajectory
    names, units = trajectory.system.coordinate_names, trajectory.system.coordinate_units
    columns = view.columns
    for k, i in enumerate(columns[:MOST_PORTRAITS]):
        more = len(columns) - MOST_PORTRAITS
        note = f"first {MOST_PORTRAITS} of {len(columns)} coordinates" if k == 0 and more > 0 else ""
        yield Panel(
            _with_unit(f"momentum of {names[i]}", MOMENTUM_UNITS.get(units[i], "")),
            [Curve(names[i], trajectory.q[:, i], trajectory.p[:, i])],
            _with_unit(names[i], units[i]),
            "phase",
            note,
            (view.rounding.coordinate(units[i]), view.rounding.momentum(units[i])),
        )


# ---------------------------------------------------------------------------- multipliers and reactions


def _multipliers(view: View) -> Iterator[Panel]:
    stored = view.trajectory.stored
    is_there = stored is not None and stored.multipliers is not None
    trajectory, note = (view.trajectory, "") if is_there else _sparse(view.trajectory)
    system = trajectory.system
    if not system.constraint_count:
        return
    units = system.constraint_units
    chosen = view.chosen(system.constraint_names)
    for unit in dict.fromkeys(units[i] for i in chosen):
        rows, more = _thinned([i for i in chosen if units[i] == unit], note)
        what, labels = _common([system.constraint_names[i] for i in rows], "")
        lam = trajectory.multipliers
        curves = [Curve(label, trajectory.t, lam[:, i]) for label, i in zip(labels, rows, strict=True)]
        label = _with_unit(f"multiplier of {what}" if what else "multiplier", unit)
        yield Panel(label, curves, note=more, rounding=(0.0, view.rounding.force(float(np.nanmax(np.abs(lam))), unit)))


def _reactions(view: View) -> Iterator[Panel]:
    trajectory, note = _sparse(view.trajectory)
    known = known_names(trajectory.system) if isinstance(trajectory.system, System) else []
    if not known:
        return
    chosen, note = _thinned([known[i] for i in view.chosen(known)], note)
    wrenches = trajectory.reactions(chosen)
    largest = float(np.nanmax(np.abs(wrenches[:, 0])))
    for part, (what, unit) in enumerate((("force", "N"), ("torque", "N m"))):
        if len(chosen) == 1:
            curves = [Curve(axis, trajectory.t, wrenches[0][part][:, i]) for i, axis in enumerate("xyz")]
            label = f"{what} at {chosen[0]} [{unit}]"
        else:
            sizes = [np.linalg.norm(wrench[part], axis=1) for wrench in wrenches]
            curves = [Curve(name, trajectory.t, size) for name, size in zip(chosen, sizes, strict=True)]
            label = f"reaction {what} [{unit}]"
        yield Panel(label, curves, note=note, rounding=(0.0, view.rounding.force(largest, unit)))


def _forces(view: View) -> Iterator[Panel]:
    """What elements exert: all components of one, or of several the magnitudes of vectors."""
    trajectory, found, note = _chosen_forces(view)
    by_unit: dict[str, list[Curve]] = {}
    for element in found:
        for label, unit, values in _columns_of(element, is_alone=len(found) == 1):
            by_unit.setdefault(unit, []).append(Curve(label, trajectory.t, values))
    for unit, curves in by_unit.items():
        largest = max(float(np.nanmax(np.abs(curve.y), initial=0.0)) for curve in curves)
        what = {"N": "force", "N m": "torque"}.get(unit, "multiplier")
        label = _with_unit(f"{what} of {found[0].name}" if len(found) == 1 else what, unit)
        shown, more = _thinned(curves, note)
        yield Panel(label, shown, note=more, rounding=(0.0, view.rounding.force(largest, unit)))


def _columns_of(element: ElementForce, is_alone: bool) -> Iterator[tuple[str, str, Array]]:
    """Label, unit and values of the curves of an element: its columns, or magnitudes of those of one unit."""
    if is_alone or set(element.components).isdisjoint((*XYZ, *WRENCH)):
        names = element.components if is_alone else element.labels
        yield from zip(names, element.units, element.values.T, strict=True)
        return
    for unit in dict.fromkeys(element.units):
        of = [i for i, each in enumerate(element.units) if each == unit]
        yield f"|{element.name}|", unit, np.linalg.norm(element.values[:, of], axis=1)


def _powers(view: View) -> Iterator[Panel]:
    trajectory, found, note = _chosen_forces(view)
    yield from _of_elements(view, "power [W]", [Curve(each.name, trajectory.t, each.power) for each in found], note)


def _works(view: View) -> Iterator[Panel]:
    trajectory, found, note = _chosen_forces(view)
    curves = [Curve(each.name, trajectory.t, each.work) for each in found]
    yield from _of_elements(view, "work since the start [J]", curves, note)


def _of_elements(view: View, label: str, curves: list[Curve], note: str) -> Iterator[Panel]:
    """A panel of those elements that do work, or of all if none does."""
    working = [curve for curve in curves if np.any(curve.y)] or curves
    if working:
        shown, more = _thinned(working, note)
        yield Panel(label, shown, note=more, rounding=(0.0, view.rounding.energy))


def _chosen_forces(view: View) -> tuple[Trajectory, list[ElementForce], str]:
    """The elements that are drawn, in states that are not too many, and a note that says so."""
    trajectory, note = _sparse(view.trajectory)
    known = names_of_forces(trajectory.system) if isinstance(trajectory.system, System) else []
    return trajectory, list(trajectory.forces([known[i] for i in view.chosen(known)]).values()) if known else [], note


def _places(view: View) -> Iterator[Panel]:
    yield from _of_frames(view, ("place",))


def _speeds(view: View) -> Iterator[Panel]:
    yield from _of_frames(view, ("velocity", "angular_velocity"))


def _accelerations(view: View) -> Iterator[Panel]:
    yield from _of_frames(view, ("acceleration", "angular_acceleration"))


def _of_frames(view: View, what: Sequence[str]) -> Iterator[Panel]:
    """Vectors of frames: components of one frame, magnitudes of several; of places always components."""
    trajectory, note = _sparse(view.trajectory)
    if view.names is None:
        raise ModelError("names: expected one or more frames, found none; name bodies, or BODY.FRAME")
    table = trajectory.kinematics(view.names)
    frames = table.labels["frame"]
    for key in what:
        (quantity,) = (each for each in table.quantities if each.name == key)
        title = key.replace("_", " ")
        rounding = (0.0, ROUNDING * max(1.0, float(np.abs(quantity.values).max())))
        if len(frames) > 1 and key != "place":
            sizes = np.linalg.norm(quantity.values, axis=2)
            curves = [Curve(frame, trajectory.t, sizes[:, i]) for i, frame in enumerate(frames)]
            yield Panel(_with_unit(title, quantity.units), curves, note=note, rounding=rounding)
            continue
        for i, frame in enumerate(frames):
            curves = [Curve(axis, trajectory.t, quantity.values[:, i, j]) for j, axis in enumerate("xyz")]
            yield Panel(_with_unit(f"{title} of {frame}", quantity.units), curves, note=note, rounding=rounding)


def _measurements(view: View) -> Iterator[Panel]:
    """What sensors measured, a panel for each."""
    trajectory = view.trajectory
    known = sensor_names(trajectory.system) if isinstance(trajectory.system, System) else []
    if not known:
        return
    for name, each in trajectory.measurements([known[i] for i in view.chosen(known)]).items():
        columns = each.values.T if each.components else each.values[None]
        curves = [Curve(axis, each.t, values) for axis, values in zip(each.components or (name,), columns, strict=True)]
        rounding = (0.0, ROUNDING * max(1.0, float(np.abs(each.values).max())))
        yield Panel(_with_unit(name, each.unit), curves, rounding=rounding)


def _sparse(trajectory: Trajectory) -> tuple[Trajectory, str]:
    """Evenly spaced states, if there are very many, and a note that says so."""
    every = -(-(len(trajectory) - 1) // MOST_SOLVED)
    return (trajectory, "") if every == 1 else (trajectory.rows(slice(None, None, every)), f"1 state of {every}")


QUANTITIES: dict[str, Callable[[View], Iterator[Panel]]] = {
    "coordinates": _coordinates,
    "velocities": _velocities,
    "momenta": _momenta,
    "energy": _energy,
    "energy_error": _energy_error,
    "invariants": _invariants,
    "constraints": _constraints,
    "phase": _phase,
    "multipliers": _multipliers,
    "reactions": _reactions,
    "forces": _forces,
    "powers": _powers,
    "works": _works,
    "places": _places,
    "speeds": _speeds,
    "accelerations": _accelerations,
    "measurements": _measurements,
}


def _overview(view: View) -> Iterator[Panel]:
    """Coordinates next to their rates, phase portraits of small systems, energies, and what is conserved."""
    if len(_groups(view)) <= MOST_RATES:
        for pair in zip(_coordinates(view), _velocities(view), strict=True):
            yield from pair
    else:
        yield from _coordinates(view)
    yield from _energy(view)
    if view.trajectory.system.keeps_energy:
        yield from _energy_error(view)
    yield from _invariants(view)
    yield from _constraints(view)
    if len(view.columns) <= FEW:
        yield from _phase(view)


NO_ELEMENTS = "it has no forces, constraints or joints that exert any"
NEEDED = {
    "invariants": "no linear symmetry of the coordinates conserves a momentum",
    "constraints": "the system has no constraints",
    "multipliers": "the system has no constraints; write formulation: embedding, or cut: true",
    "reactions": "it has no joints or constraints that hold bodies",
    "forces": NO_ELEMENTS,
    "powers": NO_ELEMENTS,
    "works": NO_ELEMENTS,
    "measurements": "its model has no sensors",
}

# --------------------------------------------------------------------------------------------- sections


def _section(view: View, text: str) -> Iterator[Panel]:
    """Points (q, p) of the other coordinates at the states where one coordinate rises through a value."""
    trajectory = view.trajectory
    system = trajectory.system
    column, value = _parse_section(trajectory, text)
    name = system.coordinate_names[column]
    times = crossings(trajectory, column, value)
    if not len(times):
        low, high = trajectory.q[:, column].min(), trajectory.q[:, column].max()
        raise ModelError(
            f"section: expected a value through which {name} rises, found {value:.6g}; it is from {low:.6g} to {high:.6g}"
        )
    others = [i for i in view.columns if i != column]
    if not others:
        raise ModelError(
            f"section: expected coordinates other than {name}, found none; a phase portrait shows this one"
        )
    for i in others[:MOST_PORTRAITS]:
        q, p = (_spline(trajectory, values[:, i])(times) for values in (trajectory.q, trajectory.p))
        unit = system.coordinate_units[i]
        q = (q + math.pi) % TURN - math.pi if unit == "rad" else q
        note = f"{count(len(times), 'point')} at {name} = {value:.4g}, rising"
        if len(others) > MOST_PORTRAITS:
            note += f"; first {MOST_PORTRAITS} of {len(others)} coordinates"
        yield Panel(
            _with_unit(f"momentum of {system.coordinate_names[i]}", MOMENTUM_UNITS.get(unit, "")),
            [Curve(system.coordinate_names[i], q, p)],
            _with_unit(system.coordinate_names[i], unit),
            "points",
            note,
        )


def _parse_section(trajectory: Trajectory, text: str) -> tuple[int, float]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise ModelError(
            f"section: expected a coordinate and its value, found {text!r}; write for example 'elbow.angle = 0'"
        )
    system = trajectory.system
    if name not in system.coordinate_names:
        raise ModelError(f"section: expected a coordinate, found {name!r}; {nearest(name, system.coordinate_names)}")
    column = system.coordinate_names.index(name)
    model = system.model if isinstance(system, System) else None
    parameters: Any = model.resolved().parameters if model else {}
    try:
        number = evaluate(value, parameters)
        check_unit(value, {}, system.coordinate_units[column].replace("-", ""))
    except ModelError as error:
        raise ModelError(f"section: {error}") from None
    return column, number


def crossings(trajectory: Trajectory, column: int, value: float) -> Array:
    """Times (m,) [s] at which a coordinate rises through a value, an angle in any turn; between states by a cubic spline.

    Raises
    ------
    ModelError
        If the states are half a turn of an angle apart, so that crossings could be missed.
    """
    is_angle = trajectory.system.coordinate_units[column] == "rad"
    t, q = trajectory.t, trajectory.q[:, column]
    if is_angle and np.abs(np.diff(q)).max() > math.pi:
        name = trajectory.system.coordinate_names[column]
        raise ModelError(
            f"section: expected states less than half a turn of {name} apart, found {np.abs(np.diff(q)).max():.3g} rad"
        )
    turns = np.floor((q - value) / TURN) if is_angle else np.where(q < value, -1.0, 0.0)
    before = np.flatnonzero(np.diff(turns) > 0)
    target = value + TURN * turns[before + 1] if is_angle else np.full(len(before), value)
    low, high, spline = t[before], t[before + 1], _spline(trajectory, q)
    for _ in range(50):  # bisection, to round-off of a step
        middle = (low + high) / 2
        is_below = spline(middle) < target
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return high


def _spline(trajectory: Trajectory, values: Array) -> Any:
    from scipy.interpolate import CubicSpline

    return CubicSpline(trajectory.t, values)


# ---------------------------------------------------------------------------------------------- drawing


def envelope(y: Array, bins: int) -> Array:
    """Places (m,) of the first, last, least and largest values of y (N,) in each of `bins` bins, or all places if there are few.

    A line through these values covers the same pixels as one through all, if a bin is no wider than a pixel.

    Source: Jugel, Jerzak, Hackenbroich & Markl, VLDB Endowment 7 (2014).

    Examples
    --------
    >>> y = np.array([0, 5, 1, 2, -3, 0, 1, 1, 1, 2, 3, 4])
    >>> envelope(y, 2)
    array([ 0,  1,  4,  5,  6, 11])
    """
    size = len(y) // bins
    if size <= 4:
        return np.arange(len(y))
    blocks = np.pad(y, (0, -len(y) % size), mode="edge").reshape(-1, size)
    starts = size * np.arange(len(blocks))
    least = np.where(np.isnan(blocks), np.inf, blocks).argmin(axis=1)
    largest = np.where(np.isnan(blocks), -np.inf, blocks).argmax(axis=1)
    kept = np.concatenate([starts, starts + least, starts + largest, starts + size - 1])
    return np.unique(np.minimum(kept, len(y) - 1))


def _cells(x: Array, y: Array) -> Array:
    """Places of one state in each occupied cell of a fine grid."""
    parts = []
    for values in (x, y):
        low, span = values.min(), np.ptp(values) or 1.0
        parts.append(((values - low) / span * CELLS).astype(np.int64))
    return np.sort(np.unique(parts[0] * (CELLS + 1) + parts[1], return_index=True)[1])


def _drawn(panels: Sequence[Panel], trajectory: Trajectory) -> Any:
    """All panels on one page, two in a row; those over time in rows of their own, of which a last one alone is as wide."""
    columns = min(2, len(panels))
    rows: list[list[Panel]] = []
    for _, alike in groupby(panels, key=lambda panel: panel.kind == "time"):
        members = list(alike)
        rows += [members[i : i + columns] for i in range(0, len(members), columns)]
    heights = [ROW if row[0].kind == "time" else WIDE_ROW for row in rows]
    if columns == 1:
        heights = [1.6 * heights[0]]
    names = trajectory.system.name, *trajectory.system.coordinate_names, *trajectory.system.constraint_names
    with style.fonts("".join(names)):
        drawing = style.new_figure(WIDTH if columns == 2 else SINGLE, sum(heights) + 0.7)
        grid = drawing.add_gridspec(len(rows), columns, height_ratios=heights)
        for i, row in enumerate(rows):
            is_wide = len(row) < columns and row[0].kind == "time"
            for k, panel in enumerate(row):
                _draw(drawing.add_subplot(grid[i, :] if is_wide else grid[i, k]), panel)
        style.entitle(drawing, trajectory.system.name, _details(trajectory))
    return drawing


def _details(trajectory: Trajectory) -> str:
    """What was run, in a line."""
    number = count(len(trajectory.system.coordinate_names), "coordinate")
    span = f"{len(trajectory)} states from {trajectory.t[0]:g} s to {trajectory.t[-1]:g} s"
    return f"{trajectory.scheme.name}, step {trajectory.step:g} s, {span}, {number}"


def _draw(axes: Any, panel: Panel) -> None:
    style.dress(axes)
    sizes = np.abs(np.concatenate([curve.y[np.isfinite(curve.y)] for curve in panel.curves]))
    if panel.kind == "time" and len(sizes) and sizes.max() <= panel.rounding[1]:
        _draw_zero(axes, panel, float(sizes.max()))
    else:
        _draw_curves(axes, panel)


def _draw_curves(axes: Any, panel: Panel) -> None:
    bins = max(FEWEST_BINS, min(MOST_BINS, MOST_POINTS // (4 * len(panel.curves))))
    is_bundle = len(panel.curves) > MOST_COLOURS
    is_cloud = panel.kind == "points" or (panel.kind == "phase" and len(panel.curves[0].y) > MOST_POINTS)
    colours = _bundle_colours(len(panel.curves)) if is_bundle else list(style.COLOURS)
    spans = [-np.ptp(curve.y) for curve in panel.curves]  # the widest behind, since long runs fill what they cover
    for i, curve in enumerate(panel.curves):
        look: dict[str, Any] = {"color": colours[i], "linewidth": 0.7 if is_bundle else 1.1}
        kept = envelope(curve.y, bins) if panel.kind == "time" else np.arange(len(curve.y))
        if not is_bundle:
            look["linestyle"] = style.DASHES[i] if len(kept) == len(curve.y) else "-"
            look["zorder"] = 2 + sum(span < spans[i] for span in spans) / len(spans)
        if is_cloud:
            kept = _cells(curve.x, curve.y) if len(curve.y) > MOST_POINTS else kept
            size = float(np.clip(60 / math.sqrt(len(kept)), 1.5, 4.0))  # few points are visible, and many do not merge
            look |= {"linestyle": "none", "marker": "o", "markersize": size, "markeredgewidth": 0.0}
            look["rasterized"] = len(kept) > MOST_VECTORS
        if panel.kind == "phase" and np.ptp(curve.x) <= panel.rounding[0] and np.ptp(curve.y) <= panel.rounding[1]:
            look["marker"] = "o"  # a line of no length is not seen
        axes.plot(curve.x[kept], curve.y[kept], label=curve.label, **look)
    if panel.kind == "time":
        axes.margins(x=0)
    _widen(axes.set_xlim, [curve.x for curve in panel.curves], panel.rounding[0])
    _widen(axes.set_ylim, [curve.y for curve in panel.curves], panel.rounding[1])
    axes.ticklabel_format(useOffset=False)
    style.label_axis(axes.xaxis, panel.x_label)
    style.label_axis(axes.yaxis, panel.y_label)
    if is_bundle:
        _scale_of_names(axes, panel, colours)
    missing = max(int(np.count_nonzero(~np.isfinite(curve.y))) for curve in panel.curves)
    lost = f"not a number at {count(missing, 'state')}" if missing else ""
    _draw_head(axes, panel, "; ".join(filter(None, (panel.note, lost))))


def _draw_head(axes: Any, panel: Panel, note: str) -> None:
    """The names of curves that are few, and a note above them."""
    height = style.legend_above(axes, WIDTH / 2 - 0.8) if 1 < len(panel.curves) <= MOST_COLOURS else 0.0
    if note:
        axes.set_title(note, loc="right", fontsize=7, color=style.GREY, pad=6.0 + height)


def _widen(set_limits: Callable[[float, float], Any], values: Sequence[Array], rounding: float) -> None:
    """Limits of an axis along which nothing but rounding changes, that do not stretch it."""
    finite = np.concatenate([each[np.isfinite(each)] for each in values])
    if rounding > 0 and len(finite) and np.ptp(finite) <= rounding:
        middle = float(finite.min() + finite.max()) / 2
        half = 0.05 * abs(middle) if abs(middle) > rounding else rounding / ROUNDING
        set_limits(middle - half, middle + half)


def _draw_zero(axes: Any, panel: Panel, largest: float) -> None:
    """A band instead of curves that are nothing but rounding."""
    t = panel.curves[0].x
    axes.axhspan(-1.0, 1.0, color=style.GREY, alpha=0.15, linewidth=0)
    axes.axhline(0.0, color=style.GREY, linewidth=1.1)
    axes.set(xlim=(t[0], t[-1]), ylim=(-5.0, 5.0), yticks=[0.0])
    if 1 < len(panel.curves) <= MOST_COLOURS:
        for curve, colour, dashes in zip(panel.curves, style.COLOURS, style.DASHES, strict=False):
            axes.plot([], [], color=colour, linestyle=dashes, linewidth=1.1, label=curve.label)
    said = "zero at every state" if largest == 0 else f"zero, but for rounding of at most {largest:.0e}"
    axes.text(0.5, 0.62, said, transform=axes.transAxes, ha="center", va="bottom", fontsize=8, color=style.GREY)
    style.label_axis(axes.xaxis, panel.x_label)
    style.label_axis(axes.yaxis, panel.y_label)
    _draw_head(axes, panel, panel.note)


def _bundle_colours(number: int) -> list[Any]:
    """Colours that run from dark to light in the order of the curves, without the lightest."""
    return list(style.matplotlib().colormaps["viridis"](np.linspace(0.0, 0.9, number)))


def _scale_of_names(axes: Any, panel: Panel, colours: list[Any]) -> None:
    """Above the axes, a bar of the colours of many curves between the names of the first and the last one."""
    bar = axes.inset_axes((0.3, 1.05, 0.3, 0.04))
    bar.imshow([colours], aspect="auto")
    bar.set_axis_off()
    for curve, x, side in ((panel.curves[0], 0.28, "right"), (panel.curves[-1], 0.62, "left")):
        label = curve.label if len(curve.label) <= LONGEST else f"{curve.label[: LONGEST - 1]}…"
        axes.text(x, 1.07, label, transform=axes.transAxes, ha=side, va="center", fontsize=7.5)
