"""What `mbvi check` prints: a model and its system described, and what is odd about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mbvi.analysis.symmetry import find_invariants
from mbvi.cli.rows import dimensions, moves_as_text, value_as_text, what_works
from mbvi.model.corners import corners_in_steps, corners_of_motions
from mbvi.model.description import count_steps
from mbvi.model.expressions import infix, value_at
from mbvi.model.fields import idle_parameters
from mbvi.model.forces import BallSpring, Between, Bushing, Force, FrameActuator, OnJoint, OnTendon
from mbvi.model.graph import describe_tree
from mbvi.model.mass_properties import checked_properties, has_mass
from mbvi.model.meshes import odd_meshes
from mbvi.model.poles import is_empty_quotient, programs
from mbvi.model.ropes import Span
from mbvi.model.sensing import names_in_texts
from mbvi.model.tables import kinks_in_steps, overshoots, short_tables
from mbvi.model.touching import frictions_of, stops_of
from mbvi.text import MOST_LINES, aligned, count, shortened

if TYPE_CHECKING:
    from mbvi.model import Model
    from mbvi.system.initial import Start
    from mbvi.system.system import System

AT_REST = 1e-10
FEW = 3

ROUND_OFF = 1e-12


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
        ("Stops and friction", shortened(_contact_table(resolved))),
        ("Sensors", shortened(_sensor_table(resolved))),
        ("Mobility", _mobility(system, start)),
        ("Dynamics", shortened(_dynamics(system, start))),
        ("Run", [_run_line(resolved)]),
        ("Imported", [] if model.import_report is None else shortened(str(model.import_report).splitlines())),
        ("Mended", shortened([f"- {text}" for text in model.mended])),
        ("Odd", shortened([f"- {text}" for text in oddities(system, start)])),
    ]
    for title, part in parts:
        if part:
            lines += ["", title, *(f"  {line}".rstrip() for line in part)]
    return "\n".join(lines)


def _graph(model: Model) -> list[str]:
    """The spanning tree, cut at its end where it is large, then chords and constraints."""
    lines = describe_tree(model).splitlines()
    tree, others = lines[: len(model.bodies) + 1], lines[len(model.bodies) + 1 :]
    if len(tree) > MOST_LINES + 1:
        tree = [*tree[:MOST_LINES], f"… {len(tree) - MOST_LINES} more"]
    return [*tree, *shortened(others)]


def _coordinate_table(system: System, start: Start) -> list[str]:
    rows = [("name", "unit", "at the start", "rate at the start")]
    for name, unit, q, v in zip(system.coordinate_names, system.coordinate_units, start.q, start.v, strict=True):
        rows.append((name, unit, value_as_text(q), value_as_text(v)))
    return aligned(rows, right=[2, 3])


def _mobility(system: System, start: Start) -> list[str]:
    mobility = system.mobility
    lines = [dimensions(system)]
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
            "singular configuration at the start: more motions are possible here than nearby; start near it, but not in it"
        )
    if system.is_driven and not mobility.degrees_of_freedom:
        lines.append("kinematically driven: the constraints prescribe the whole motion as functions of time")
    elif not mobility.degrees_of_freedom:
        lines.append("held: the constraints leave no motion, and joints carry what acts on the bodies")
    return [*lines, *(line if line.endswith(":") else f"  {line}" for line in moves_as_text(start, MOST_LINES))]


def _body_table(model: Model) -> list[str]:
    rows = [("name", "mass [kg]", "centre of mass [m]")]
    for name, body in model.bodies.items():
        mass, center, inertia = checked_properties(body, model.files)
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


def _contact_table(model: Model) -> list[str]:
    rows: list[tuple[str, ...]] = [("name", "restitution", "friction", "static friction")]
    for stop in stops_of(model):
        rows.append((stop.name, f"{stop.restitution:g}", *(f"{each:g}" if each else "" for each in stop.friction)))
    for each in frictions_of(model):
        rows.append((each.name, "", f"{each.kinetic:g} {each.unit}", f"{each.static:g} {each.unit}"))
    return aligned(rows) if len(rows) > 1 else []


def _sensor_table(model: Model) -> list[str]:
    rows: list[tuple[str, ...]] = [("name", "type", "of", "noise", "period [s]")]
    for name, sensor in model.sensors.items():
        of = next(str(getattr(sensor, key)) for key in ("frame", "joint", "expression") if hasattr(sensor, key))
        rows.append((name, sensor.type, of, f"{sensor.noise:.4g}", f"{sensor.period:.4g}" if sensor.period else ""))
    return aligned(rows, right=[3, 4]) if model.sensors else []


def _acts_on(force: Any) -> str:
    match force:
        case OnJoint():
            return f"{force.joint}.{force.coordinate}"
        case BallSpring():
            return f"turns of {force.joint}"
        case OnTendon():
            return f"along {force.length or ' - '.join(each.body for each in force.points)}"
        case FrameActuator():
            return f"on {force.body} at {_vector(force.point)}, along axes of the body"
        case Between():
            return f"between {force.body_a} and {force.body_b}"
        case Force():
            return f"on {force.body} at {_vector(force.point)}, along the axes of {_axes(force)}"
    return f"on {force.body}, along the axes of {_axes(force)}"


def _axes(force: Any) -> str:
    return "the world" if force.frame == "world" else "the body"


def _dynamics(system: System, start: Start) -> list[str]:
    q, v = start.q, start.v
    energy = f"{system.energy(q, v):.6g} J at the start"
    kept = f"conserved{', but for what impacts and friction take' if system.has_contacts else ''}"
    rows = [("energy", energy, kept if system.keeps_energy else what_works(system))]
    p, f = system.gradient(q, v)
    for invariant in find_invariants(system) if np.isfinite(f).all() and not system.has_contacts else ():
        value = f"{value_as_text(float(invariant.value(q, p)))} {invariant._unit(system.coordinate_units)}".rstrip()
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


def oddities(system: System, start: Start) -> list[str]:
    """What a system's model allows, but may not mean."""
    model = system.model
    assert model is not None
    resolved = model.resolved()
    found = [f"parameters.{name}: nothing uses it" for name in idle_parameters(model, names_in_texts(model))]
    found += [*map(str, odd_meshes(model)), *_odd_gravity(resolved), *_odd_forces(resolved, system, start)]
    found += _odd_joints(resolved, system, start)
    found += _massless(resolved)
    step, duration, steps = run_of(resolved)
    end = steps * step
    found += [*overshoots(resolved), *short_tables(resolved, duration), *kinks_in_steps(resolved, step, end)]
    found += [*corners_of_motions(resolved, 0.0, end), *corners_in_steps(resolved, step, end)]
    if abs(end - duration) > 1e-9 * end:
        found.append(f"simulation.duration: not a multiple of the step; the run ends at t = {end:.6g} s")
    if _is_at_rest(system, start, end):
        found.append("initial: at rest in an equilibrium; nothing will move")
    return found


def _massless(model: Model) -> list[str]:
    """Bodies without mass: each, or in one line if they are many, as the flanges and sensors of robots."""
    names = [name for name, body in model.bodies.items() if not has_mass(body)]
    if len(names) <= FEW:
        return [
            f"bodies.{name}: no mass; its motion follows from that of the bodies it is connected to" for name in names
        ]
    listed = f"{', '.join(names[:FEW])} and {len(names) - FEW} more"
    return [f"bodies: no mass of {listed}; their motion follows from that of the bodies they are connected to"]


def _odd_gravity(model: Model) -> Iterator[str]:
    size = float(np.linalg.norm(model.gravity))
    if size > 100 or 0 < size < 0.01:
        yield f"gravity: {size:.6g} m/s²; lengths are in metres and times in seconds"


def _odd_joints(model: Model, system: System, start: Start) -> Iterator[str]:
    """Friction that does not act, and coordinates that start beyond their limits."""
    values = dict(zip(system.coordinate_names, start.q, strict=True))
    for name, joint in model.joints.items():
        if joint.friction and not any(getattr(each, "joint", None) == name for each in model.contacts.values()):
            yield f"joints.{name}.friction: dry friction of {joint.friction:.6g}, which no dry_friction lets act"
        for short, limits in joint.limits.items():
            value = values.get(f"{name}.{short}", math.nan)
            if limits.lower is not None and value < float(limits.lower) - AT_REST:
                yield f"joints.{name}: {short} starts at {value:.6g}, below its lower limit {limits.lower:.6g}"
            if limits.upper is not None and value > float(limits.upper) + AT_REST:
                yield f"joints.{name}: {short} starts at {value:.6g}, above its upper limit {limits.upper:.6g}"


def _has_direction(force: Any) -> bool:
    """Whether a force between two points acts along the line between them, also where this has no length."""
    return not isinstance(force, Bushing) and bool(getattr(force, "rest_length", True))


def _odd_forces(model: Model, system: System, start: Start) -> Iterator[str]:
    """Forces that do nothing, that drive instead of damping, or that have no direction at the start."""
    forces: dict[str, Any] = dict(model.forces)
    for name, force in forces.items():
        where = f"forces.{name}"
        ends = [getattr(force, key) for key in ("body", "body_a", "body_b") if hasattr(force, key)]
        links = [system.frames[body].link for body in ends]
        if links == [-1]:
            yield f"{where}: no effect, since {ends[0]} is welded to the world"
        elif len(links) == 2 and links[0] == links[1]:
            yield f"{where}: no effect, since {ends[0]} and {ends[1]} do not move against each other"
        elif len(links) == 2 and _has_direction(force) and not _distance(force.ends(), system, start):
            yield f"{where}: its ends coincide at the start, where its direction is not defined"
        if isinstance(force, OnTendon) and not all(_distance(ends, system, start) for ends in force.spans()):
            yield f"{where}: two points of it coincide at the start, where its direction is not defined"
        for program in programs(force):
            if not math.isfinite(value_at(program, 0.0)):
                yield f"{where}: {infix(program)} has no value at the start{', 0/0' if is_empty_quotient(program, 0.0) else ''}"
        if np.min(getattr(force, "damping", 0.0)) < 0:
            yield f"{where}: negative damping; it adds energy"
        if np.min(getattr(force, "stiffness", 0.0)) < 0:
            yield f"{where}: negative stiffness; it pushes away"


def _distance(ends: Span, system: System, start: Start) -> float:
    found = []
    for body, point in ends:
        places, rotations = system.poses(body, start.q[None])
        found.append(places[0] + rotations[0] @ np.array(point))
    return float(np.linalg.norm(found[1] - found[0]))


def _is_at_rest(system: System, start: Start, end: float) -> bool:
    """Whether nothing moves at the start, and nothing pushes then or at some later times."""
    times = (0.0, *(end * fraction for fraction in (0.1234, 0.3456, 0.5678, 0.7891)))
    if start.v.any() or system.is_driven:
        return False
    return all(np.abs(system.acceleration(start.q, start.v, t)).max() < AT_REST for t in times)
