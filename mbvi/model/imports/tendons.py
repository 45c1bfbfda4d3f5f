"""Tendons of MJCF: sums of coordinates, and ropes over sites, as springs, dampers, constraints and stops where mbvi has them.

The length of a fixed tendon is Σ factor × coordinate, that of a spatial one Σ |x_{i+1} − x_i|/divisor over its sites, with the
divisor of the pulley before. What goes around bodies is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from mbvi.model.constraints import Coupling, Differential, Distance, PrescribedCoordinate
from mbvi.model.contacts import DistanceStop, ExpressionStop, RopeStop
from mbvi.model.forces import (
    Damper,
    DistancePotential,
    JointDamper,
    JointPotential,
    JointSpring,
    Spring,
    TendonDamper,
    TendonPotential,
    TendonSpring,
)
from mbvi.model.imports.robot import Robot
from mbvi.model.ropes import Rope, RopePoint, parts

Point = tuple[float, float, float]
IS_JOINT, IS_PULLEY, IS_SITE = 1, 2, 3
ACT = "limits of a tendon"
AROUND = "mbvi has the lengths of sums of coordinates and of ropes over several bodies, not around geoms"
LARGEST = 1e10  # size of lengths beyond which MuJoCo means none


class Tendon(NamedTuple):
    """What the length of a tendon is.

    name     for what becomes of it
    factors  of a fixed tendon, how much longer it becomes per coordinate of these joints; none of a spatial one
    points   of a spatial one over sites and pulleys, of several bodies; none of any other
    length   at zero coordinates of the file [rad or m]
    """

    name: str
    factors: dict[str, float]
    points: tuple[RopePoint, ...]
    length: float

    @property
    def has_length(self) -> bool:
        """Whether mbvi has its length."""
        return bool(self.factors or self.points)

    @property
    def ends(self) -> dict[str, Any]:
        """The two points of a tendon of one part with factor 1, as fields of elements between points; else none."""
        if len(self.points) != 2 or self.points[1].factor != 1:
            return {}
        a, b = self.points
        return {"body_a": a.body, "point_a": a.point, "body_b": b.body, "point_b": b.point}


class Tendons:
    """The tendons of a compiled model.

    Parameters
    ----------
    compiled : mujoco.MjModel
    names, bodies, joints : list of str
        The names of tendons, bodies and joints, by their numbers.
    robot : Robot
        What becomes of the tendons is added to it.
    """

    def __init__(self, compiled: Any, names: list[str], bodies: list[str], joints: list[str], robot: Robot) -> None:
        self.m, self.robot, self.notes = compiled, robot, robot.notes
        self.bodies, self.joints = bodies, joints
        self.all = [self.tendon(t, name) for t, name in enumerate(names)]

    def tendon(self, t: int, name: str) -> Tendon:
        """A tendon by its number."""
        m, first = self.m, int(self.m.tendon_adr[t])
        wraps = range(first, first + int(m.tendon_num[t]))
        kinds = {int(m.wrap_type[w]) for w in wraps}
        factors: dict[str, float] = {}
        if kinds == {IS_JOINT}:
            for w in wraps:
                joint = self.joints[m.wrap_objid[w]]
                factors[joint] = factors.get(joint, 0.0) + float(m.wrap_prm[w])
        points = self.path(wraps) if kinds <= {IS_SITE, IS_PULLEY} else ()
        moved = {joint: factor for joint, factor in factors.items() if factor}
        return Tendon(name, moved, points, float(m.tendon_length0[t]))

    def path(self, wraps: range) -> tuple[RopePoint, ...]:
        """The points of a path over sites and pulleys, of which each begins another branch; none if none of its parts moves."""
        m, points, divisor, begins = self.m, list[RopePoint](), 1.0, True
        for w in wraps:
            if m.wrap_type[w] == IS_PULLEY:
                divisor, begins = float(m.wrap_prm[w]), True
                continue
            s = int(m.wrap_objid[w])
            body, place = self.bodies[m.site_bodyid[s]], self.place(s)
            if begins:
                points.append(RopePoint(body=body, point=place, factor=0.0 if points else 1.0))
            elif (points[-1].body, points[-1].point) != (body, place):
                points.append(RopePoint(body=body, point=place, factor=1 / divisor))
            begins = False
        return tuple(points) if any(a.body != b.body for a, b in parts(tuple(points))) else ()

    def place(self, s: int) -> Point:
        """The place of a site in its body."""
        x, y, z = map(float, self.m.site_pos[s])
        return x, y, z

    def read(self, off: set[str]) -> None:
        """Add what acts on all tendons but for equations and actuators, without what the file disables; note what is dropped."""
        m = self.m
        for t, tendon in enumerate(self.all):
            if m.tendon_stiffness[t] and "SPRING" not in off:
                self.add_spring(t, tendon)
            if m.tendon_damping[t] and "DAMPER" not in off:
                self.add_damper(tendon, float(m.tendon_damping[t]))
            if m.tendon_limited[t] and "LIMIT" not in off:
                self.add_limits(tendon, *map(float, m.tendon_range[t]))
            is_nonlinear = m.tendon_stiffnesspoly[t].any() or m.tendon_dampingpoly[t].any() or m.tendon_springyield[t]
            dropped = (
                (is_nonlinear, "nonlinear stiffness or damping of a tendon", "mbvi takes the linear part"),
                (m.tendon_frictionloss[t], "frictionloss of a tendon", "mbvi has friction of single coordinates"),
                (m.tendon_armature[t], "armature of a tendon", "mbvi has inertias of single coordinates"),
                (m.tendon_actfrclimited[t], "actuatorfrcrange of a tendon", "mbvi has limits of single actuators"),
            )
            for is_there, what, why in dropped:
                if is_there:
                    self.notes.add("dropped", what, why, tendon.name)

    # ------------------------------------------------------------------------------------ springs, dampers

    def add_spring(self, t: int, tendon: Tendon) -> None:
        """Add the spring of a tendon: of one coordinate, between two points, or along a length."""
        low, high = map(float, self.m.tendon_lengthspring[t])
        stiffness, name = float(self.m.tendon_stiffness[t]), f"{tendon.name} spring"
        if not tendon.has_length:
            self.note_shape("spring of a tendon", tendon)
        elif low != high:
            self.add_slack_spring(tendon, name, stiffness, low, high)
        elif len(tendon.factors) == 1:
            ((joint, factor),) = tendon.factors.items()
            self.add_force(name, JointSpring(joint=joint, stiffness=stiffness * factor**2, rest=low / factor))
        elif tendon.ends:
            self.add_force(name, Spring(**tendon.ends, stiffness=stiffness, rest_length=low))
        else:
            self.add_along(name, tendon, partial(TendonSpring, stiffness=stiffness, rest_length=low))

    def add_slack_spring(self, tendon: Tendon, name: str, stiffness: float, low: float, high: float) -> None:
        """Add a spring that exerts nothing between two lengths."""

        def potential(factor: float) -> str:
            length = f"{factor!r}*x" if factor != 1 else "x"
            ends = [f"max({low!r} - {length}, 0)**2" if low > -LARGEST else "", f"max({length} - {high!r}, 0)**2"]
            return f"{stiffness / 2!r}*({' + '.join(filter(None, ends))})"

        if len(tendon.factors) == 1:
            ((joint, factor),) = tendon.factors.items()
            self.add_force(name, JointPotential(joint=joint, potential=potential(factor)))
        elif tendon.ends:
            self.add_force(name, DistancePotential(**tendon.ends, potential=potential(1.0)))
        else:
            self.add_along(name, tendon, partial(TendonPotential, potential=potential(1.0)))

    def add_damper(self, tendon: Tendon, damping: float) -> None:
        """Add the damper of a tendon: of one coordinate, between two points, or along a length."""
        name = f"{tendon.name} damping"
        if not tendon.has_length:
            self.note_shape("damper of a tendon", tendon)
        elif len(tendon.factors) == 1:
            ((joint, factor),) = tendon.factors.items()
            self.add_force(name, JointDamper(joint=joint, damping=damping * factor**2))
        elif tendon.ends:
            self.add_force(name, Damper(**tendon.ends, damping=damping))
        else:
            self.add_along(name, tendon, partial(TendonDamper, damping=damping))

    def add_force(self, name: str, force: Any) -> None:
        """Add a force by a name that no other one has."""
        self.robot.forces[self.robot.free_name(name, self.robot.forces, self.robot.constraints)] = force

    def add_along(self, name: str, tendon: Tendon, force: Any) -> None:
        """Add a force along a tendon, which is given without its length; of a sum of coordinates once it is known which move."""
        if tendon.points:
            self.add_force(name, force(points=tendon.points))
        else:
            self.robot.lengths.append(lambda: self.add_along_sum(name, tendon, force))

    def add_along_sum(self, name: str, tendon: Tendon, force: Any) -> None:
        """Add a force along a sum of coordinates, of which those of locked joints are numbers."""
        still = [joint for joint in tendon.factors if not self.robot.joints[joint].coordinate_names]
        moving = {joint: factor for joint, factor in tendon.factors.items() if joint not in still}
        if why := unnamed(moving) if moving else "none of its joints moves":
            self.notes.add("dropped", "force along a tendon", why, tendon.name)
            return
        start = sum(tendon.factors[joint] * self.robot.held.get(joint, 0.0) for joint in still)
        self.add_force(name, force(length=total(moving) + (f" + ({start!r})" if start else "")))

    def note_shape(self, what: str, tendon: Tendon) -> None:
        """Note that a tendon has a length that mbvi lacks."""
        self.notes.add("dropped", what, AROUND, tendon.name)

    # ---------------------------------------------------------------------------------------------- limits

    def add_limits(self, tendon: Tendon, low: float, high: float) -> None:
        """Let the limits of a tendon stop it, if limits do."""
        if not self.robot.options.stops:
            self.notes.add("approximated", ACT, "they act only on import with stops", tendon.name)
        elif tendon.factors:
            self.robot.late.append(lambda: self.stop_sum(tendon, low, high))
        elif tendon.ends:
            lower = low if low > 0 else None
            self.add_stop(tendon.name, DistanceStop(**tendon.ends, lower=lower, upper=high, restitution=0.0))
        elif tendon.points:
            if low > 0:
                self.notes.add("dropped", "lower limit of a tendon", "a rope stops where it is taut alone", tendon.name)
            self.add_stop(tendon.name, RopeStop(points=tendon.points, length=high, restitution=0.0))
        else:
            self.notes.add("dropped", ACT, "mbvi has ropes over points alone", tendon.name)

    def stop_sum(self, tendon: Tendon, low: float, high: float) -> None:
        """Stop a sum of coordinates, of joints that all have one."""
        still = [joint for joint in tendon.factors if not self.robot.joints[joint].coordinate_names]
        if why := f"{still[0]!r} does not move" if still else unnamed(tendon.factors):
            self.notes.add("dropped", ACT, why, tendon.name)
            return
        length = total(tendon.factors)
        self.add_stop(f"{tendon.name} lower", ExpressionStop(gap=f"{length} - ({low!r})", restitution=0.0))
        self.add_stop(f"{tendon.name} upper", ExpressionStop(gap=f"{high!r} - ({length})", restitution=0.0))

    def add_stop(self, name: str, stop: Any) -> None:
        """Add a contact by a name that no other one has."""
        taken = self.robot.joints, self.robot.constraints, self.robot.contacts
        self.robot.contacts[self.robot.free_name(name, *taken)] = stop

    # ------------------------------------------------------------------------------------------- equations

    def equation(self, first: Tendon, second: Tendon | None, data: list[float]) -> Any:
        """What holds L₁ − L₁⁰ = a polynomial of L₂ − L₂⁰, or L₁ − L₁⁰ = a₀ without a second tendon; None if mbvi has it not."""
        length = first.length + data[0]
        if first.points:
            if second is not None:
                return None
            if first.ends:
                return Distance(**first.ends, length=length)
            return Rope(points=first.points, length=length)
        if not first.factors or (second is not None and not second.factors):
            return None
        if second is None or not any(data[2:]):
            slope = 0.0 if second is None else data[1]
            terms = dict(first.factors)
            for joint, factor in {} if second is None else second.factors.items():
                terms[joint] = terms.get(joint, 0.0) - slope * factor
            return related(
                {joint: factor for joint, factor in terms.items() if factor},
                length - slope * (0.0 if second is None else second.length),
            )
        if len(first.factors) != 1 or len(second.factors) != 1 or first.factors.keys() == second.factors.keys():
            return None
        ((follower, c),), ((leader, d),) = first.factors.items(), second.factors.items()
        scaled = [factor * d**i / c for i, factor in enumerate(data)]
        text = polynomial(scaled, second.length / d, first.length / c)
        return Coupling(joint_a=leader, joint_b=follower, function=text)


def unnamed(joints: Iterable[str]) -> str:
    """Why no expression names some joints; empty if one does."""
    has_both = any("'" in joint and '"' in joint for joint in joints)
    return "the name of a joint has both kinds of quotes" if has_both else ""


def total(factors: Mapping[str, float]) -> str:
    """Σ factor × coordinate as the text of an expression."""
    return " + ".join(f"({factor!r})*q({quoted(joint)})" for joint, factor in factors.items())


def related(terms: dict[str, float], total: float) -> Any:
    """What holds Σ factor × coordinate = total of one to three joints; None of others."""
    joints = list(terms)
    if len(joints) == 1:
        return PrescribedCoordinate(joint=joints[0], value=total / terms[joints[0]])
    if len(joints) == 2:
        a, b = joints
        return Coupling(joint_a=a, joint_b=b, ratio=-terms[a] / terms[b], offset=total / terms[b] + 0.0)
    if len(joints) == 3:
        a, b, c = joints
        by_a, by_b, offset = -terms[a] / terms[c], -terms[b] / terms[c], total / terms[c] + 0.0
        return Differential(joint_a=a, joint_b=b, joint_c=c, ratio_a=by_a, ratio_b=by_b, offset=offset)
    return None


def polynomial(factors: list[float], start: float, rest: float) -> str:
    """rest + Σ factor (x − start)ⁱ as the text of an expression."""
    inner = f"(x - {start!r})" if start else "x"
    text = repr(factors[-1])
    for factor in reversed(factors[:-1]):  # Horner
        text = f"({text})*{inner} + {factor!r}"
    return f"{text} + {rest!r}" if rest else text


def quoted(name: str) -> str:
    """A name in the quotes that it has not."""
    return f"'{name}'" if "'" not in name else f'"{name}"'
