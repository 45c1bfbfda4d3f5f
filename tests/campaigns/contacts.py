"""Random models with stops and dry friction, or long runs against closed forms.

    python -m tests.campaigns.contacts [--count 200] [--seed 0]
    python -m tests.campaigns.contacts --long [--part 1]

Random models are trees or loops of up to four bodies, whose limits bounce or not, with points above planes, bumpers, ropes with
and without pulleys, walls by expressions, balls, wheels and ellipsoids on surfaces, dry friction, and stops that move. Each of
them must end, or fail with an error of mbvi that names why. Impulses and forces of stops push. No impact may give energy, energy
with what was taken must keep to what the scheme makes of it unless a stop moves, and no gap may be less than zero beyond
rounding; all that holds for states between steps too.

Of an impact in rounds, every stop takes energy, and not only all together: in each round only those act that approach. Only where
several stops are brought to rest at once, or rounds did not end, may one give what others take.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from typing import Any

import numpy as np

import mbvi
from mbvi.errors import ModelError, StepError
from mbvi.model import Model
from mbvi.model.touching import has_moving_stops, stops_of
from mbvi.results.contacts import IMPACT

from ..folders import load
from . import campaign

Array = np.ndarray
STEP, DURATION = 0.01, 1.5
PENETRATION = 1e-9
"""Gap [m or rad] below zero that is not rounding."""
PULL = 1e-9
"""Force of a closed stop that pulls, relative to the largest with which it pushes or 1 N, that is rounding."""
ENERGY = 1e-6
"""Error of the energy balance, relative to the largest kinetic energy or 1 J, that the scheme does not make."""


# ------------------------------------------------------------------------------------------------- random models


def _body(random: np.random.Generator) -> mbvi.Body:
    a, b, c = random.uniform(0.02, 0.2, 3)
    return mbvi.Body(
        mass=random.uniform(0.3, 2), center_of_mass=random.uniform(-0.5, 0.5, 3).tolist(), inertia=(b + c, a + c, a + b)
    )


def _joint(random: np.random.Generator, parent: str, child: str) -> Any:
    place = {"parent": parent, "child": child, "position": random.uniform(-0.7, 0.7, 3).tolist()}
    kind = random.choice(["revolute", "revolute", "prismatic", "free" if parent == "world" else "universal"])
    if kind == "free":
        return mbvi.Free(**place)
    if kind == "universal":
        return mbvi.Universal(**place, axes=[(1, 0, 0), (0, 1, 0)])
    axis = random.standard_normal(3).tolist()
    own = mbvi.Revolute if kind == "revolute" else mbvi.Prismatic
    joint = own(**place, axis=axis)
    if random.random() < 0.6:
        (short,) = joint.coordinate_names
        bounce = float(random.choice([0.0, 0.5, 1.0, random.random()]))
        limits = mbvi.Limits(
            lower=-random.uniform(0, 0.5), upper=random.uniform(0.01, 0.5), restitution=bounce, rest_speed=1e-4
        )
        joint = joint.replaced({"limits": {short: limits}})
    return joint


def random_model(seed: int) -> Model:
    """A model that starts with its gaps open, or at zero."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 5))
    names = [f"b{i}" for i in range(count)]
    bodies = {name: _body(random) for name in names}
    parents = ["world", *(str(random.choice(["world", *names[:i]])) for i in range(1, count))]
    joints = {f"j{i}": _joint(random, parents[i], names[i]) for i in range(count)}
    forces = {}
    if random.random() < 0.5:
        point = random.uniform(-1, 1, 3).tolist()
        forces["spring"] = mbvi.Spring(
            body_a="world", point_a=point, body_b=names[-1], stiffness=random.uniform(1, 50), rest_length=0.3
        )
    fields: dict[str, Any] = {"name": f"random {seed}", "bodies": bodies, "joints": joints, "forces": forces}
    system = mbvi.assemble(Model(**fields))
    if count > 1 and random.random() < 0.3:
        place = system.poses(names[-1], system.given_q[None])[0][0]
        away = random.standard_normal(3)
        own = {"point_a": (place + away).tolist(), "length": float(np.linalg.norm(away))}
        fields["constraints"] = {"rod": mbvi.Distance(body_a="world", body_b=names[-1], **own)}
    contacts = dict(_contacts(random, names, joints, system))
    return Model(**fields, contacts=contacts)


def _contacts(random: np.random.Generator, names: list[str], joints: dict[str, Any], system: mbvi.System) -> Any:
    """Stops that are open at the start, or at zero, and frictions."""
    for i, (name, joint) in enumerate(joints.items()):
        shorts = joint.coordinate_names
        if len(shorts) == 1 and random.random() < 0.4:
            kinetic = random.uniform(0.05, 5)
            yield f"rub{i}", mbvi.DryFriction(joint=name, kinetic=kinetic, static=kinetic * random.uniform(1, 1.5))
    for i in range(int(random.integers(0, 5))):
        number = int(random.integers(len(names)))
        other = str(random.choice(["world", "world", *names[:number]]))
        own = {"restitution": float(random.choice([0.0, 1.0, random.random()])), "rest_speed": 1e-4}
        gap = float(random.choice([0.0, random.uniform(0.01, 0.5)]))
        moves = gap > 0.0 and random.random() < 0.25
        place = _Place(system, names[number], other, random, gap, f"{0.9 * gap}*sin({random.uniform(1, 20)}*t)" * moves)
        make = MAKERS[int(random.integers(len(MAKERS)))]
        yield f"{make.__name__[1:]}{i}", make(place, own)


class _Place:
    """Where a stop of a body is, on a body or the world: a random point of the body, and a direction from it.

    body, other      names
    joint            the name of one of one coordinate, or empty
    origin, point    the place of the body, and the point in its frame; `on` is that in the frame of the other
    turned           rotation of the body in the frame of the other
    normal           a unit vector in the other's frame
    gap, motion      how far the stop is open at the start [m], and by how much it moves, an expression of the time or empty
    """

    def __init__(self, system: mbvi.System, body: str, other: str, random: Any, gap: float, motion: str) -> None:
        self.body, self.other, self.random, self.gap, self.motion = body, other, random, gap, motion
        self.system = system
        single = [
            name.rpartition(".")[0] for name in system.coordinate_names if name.endswith((".angle", ".displacement"))
        ]
        self.joint = str(random.choice(single)) if single else ""
        self.point = random.uniform(-0.5, 0.5, 3)
        self.origin, turned = _at(system, body)
        base, rotation = (np.zeros(3), np.eye(3)) if other == "world" else _at(system, other)
        self.on, self.turned = rotation.T @ (self.origin + turned @ self.point - base), rotation.T @ turned
        normal = random.standard_normal(3) + np.array([0.0, 0.0, 2.0])
        self.normal = normal / np.linalg.norm(normal)

    def start(self, point: mbvi.RopePoint) -> Array:
        """Where a point is at the start."""
        at, turned = (np.zeros(3), np.eye(3)) if point.body == "world" else _at(self.system, point.body)
        return at + turned @ np.array(point.point)

    def between(self, on: Array, own: dict[str, Any]) -> dict[str, Any]:
        """The fields of a stop that is at a point of the other."""
        ends = {"body_a": self.other, "point_a": on.tolist(), "body_b": self.body, "point_b": self.point.tolist()}
        return own | ends

    def plane(self, depth: float, own: dict[str, Any]) -> dict[str, Any]:
        """The fields of a stop at a plane, above which the body reaches so far down from its point."""
        return self.between(self.on - (self.gap + depth) * self.normal, own) | {"normal": self.normal.tolist()}


def _plane(place: _Place, own: dict[str, Any]) -> Any:
    return mbvi.PlaneStop(**place.plane(0.0, own), height=place.motion or 0.0)


def _distance(place: _Place, own: dict[str, Any]) -> Any:
    away, gap = place.random.standard_normal(3), place.gap
    length = float(np.linalg.norm(away))
    upper, lower = length + gap, max(0.2 * length, length - gap)
    key, bound = ("upper", upper) if place.random.random() < 0.7 else ("lower", lower)
    moves = f"{bound} + {min(gap, length - lower)}*{place.motion}" if place.motion else bound
    return mbvi.DistanceStop(**place.between(place.on - away, own), **{key: moves})


def _expression(place: _Place, own: dict[str, Any]) -> Any:
    """The inside of an ellipsoid or the outside of a wave for the origin of the body, or a wall that a coordinate moves."""
    x, y, z = (f"{axis}('{place.body}')" for axis in "xyz")
    at, random, moves = place.origin, place.random, f" + {place.motion}" * bool(place.motion)
    kind = int(random.integers(3))
    if kind == 0:
        axes = random.uniform(0.5, 2, 3)
        centre = at - 0.3 * random.uniform(-1, 1, 3)
        reach = float(np.sum(((at - centre) / axes) ** 2))
        terms = (f"(({each} - ({m}))/{r})**2" for each, m, r in zip((x, y, z), centre, axes, strict=True))
        return mbvi.ExpressionStop(gap=f"{reach + place.gap} - {' - '.join(terms)}{moves}", **own)
    if kind == 1 or not place.joint:
        wave, k = random.uniform(0, 0.3), random.uniform(1, 5)
        height = at[2] - wave * math.sin(k * at[0]) - place.gap
        return mbvi.ExpressionStop(gap=f"{z} - {wave}*sin({k}*{x}) - ({height}){moves}", **own)
    slope = random.uniform(-1, 1)
    return mbvi.ExpressionStop(gap=f"{y} - ({at[1] - place.gap}) + {slope}*q('{place.joint}'){moves}", **own)


def _ball(place: _Place, own: dict[str, Any]) -> Any:
    """On a plane, or outside or inside of a cylinder or a sphere."""
    random, radius = place.random, float(place.random.uniform(0.02, 0.2))
    kind = str(random.choice(["plane", "cylinder", "sphere"]))
    if kind == "plane":
        fields = place.plane(radius, own)
        return mbvi.BallStop(radius=radius, direction=fields.pop("normal"), **fields)
    across = np.cross(place.normal, random.standard_normal(3))  # which is that from the axis, or the centre
    across /= np.linalg.norm(across)
    inside, far = bool(random.random() < 0.5), random.uniform(0.5, 1.0)
    surface = far + radius + place.gap if inside else far - radius - place.gap
    if surface < 0.05:
        inside, surface = True, far + radius + place.gap
    fields = place.between(place.on - far * across, own) | {"direction": place.normal.tolist(), "inside": inside}
    return mbvi.BallStop(radius=radius, surface=kind, surface_radius=float(surface), **fields)


def _wheel(place: _Place, own: dict[str, Any]) -> Any:
    random, radius = place.random, float(place.random.uniform(0.05, 0.3))
    tyre = float(random.choice([0.0, 0.3 * radius]))
    axis = random.standard_normal(3)
    axis /= np.linalg.norm(axis)
    cosine = float(place.normal @ place.turned @ axis)
    depth = (radius - tyre) * math.sqrt(1.0 - cosine**2) + tyre
    return mbvi.WheelStop(radius=radius, tyre=tyre, axis=axis.tolist(), **place.plane(depth, own))


def _ellipsoid(place: _Place, own: dict[str, Any]) -> Any:
    axes = place.random.uniform(0.05, 0.3, 3)
    depth = float(np.linalg.norm(axes * (place.turned.T @ place.normal)))
    return mbvi.EllipsoidStop(semi_axes=axes.tolist(), **place.plane(depth, own))


def _rope(place: _Place, own: dict[str, Any]) -> Any:
    """Over one or two points of the world, to the other and perhaps back."""
    random = place.random
    over = [
        mbvi.RopePoint(body="world", point=each.tolist()) for each in random.uniform(-2, 2, (random.integers(1, 3), 3))
    ]
    end = mbvi.RopePoint(body=place.body, point=place.point.tolist())
    back = mbvi.RopePoint(body=place.other, point=random.uniform(-0.5, 0.5, 3).tolist())
    points = [end, *over, back, *([end] if random.random() < 0.5 else [])]
    places = [place.start(each) for each in points]
    length = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()) + place.gap
    return mbvi.RopeStop(points=points, length=length, **own)


MAKERS = (_plane, _plane, _distance, _distance, _expression, _ball, _wheel, _ellipsoid, _rope)


def _at(system: mbvi.System, body: str) -> tuple[Array, Array]:
    """Place and rotation of a body at the start."""
    places, turns = system.poses(body, system.given_q[None])
    return places[0], turns[0]


def trial(seed: int) -> str:
    """Run a random model, and look at what it did."""
    system = mbvi.assemble(random_model(seed), "embedding" if seed % 5 == 0 else "tree")
    if not system.has_contacts:
        return "without contacts"
    try:
        run = mbvi.simulate(system, "lobatto4", step=STEP, duration=DURATION)
    except (ModelError, StepError) as error:
        return f"{type(error).__name__}: {str(error).split(': ', 2)[-1][:60]}"
    off = _checked(run)
    assert system.model is not None
    if has_moving_stops(system.model.resolved()):  # whose drives do work
        return "ran with stops that move"
    if off.everywhere <= ENERGY:
        return "ran" if _ended(run) else "ran with an impact whose rounds did not end"
    if off.at_contacts <= ENERGY and any(each.kind == "energy" for each in run.findings):
        return "ran, and said that a step in which nothing happens is too coarse"
    return campaign.check_balance(
        off, lambda parts: _checked(mbvi.simulate(system, "lobatto4", step=STEP / parts, duration=DURATION)), ENERGY
    )


def _checked(run: mbvi.Trajectory) -> campaign.Off:
    """The relative errors of the energy balance; an error where a run did what none may."""
    scale = max(1.0, float(run.kinetic_energy().max()))
    _check_impacts(run, 1e-12 * scale)
    if (least := np.diff(run.energy_taken()).min()) < -1e-10 * scale:
        raise AssertionError(f"contacts took {least:g} J in a step")
    times = np.sort(np.random.default_rng(0).uniform(0, run.t[-1], 50))
    between = run.at(times)
    for found in (run, between):
        for name, gap in found.gaps().items():
            if gap.min() < -PENETRATION:
                raise AssertionError(f"{name} is {-gap.min():g} too far at t = {found.t[gap.argmin()]:g} s")
        _check_pushes(found)
    off = balance(run)
    return off._replace(
        everywhere=max(off.everywhere, float(np.ptp(between.energy() + between.energy_taken())) / scale)
    )


def _check_impacts(run: mbvi.Trajectory, rounding: float) -> None:
    """Raise an error where an impact pulls or gives energy."""
    events = run.contacts
    if not len(events):
        return
    _, first = np.unique(events.t, return_index=True)
    if (least := np.add.reduceat(events.energy, first).min()) < -rounding:
        raise AssertionError(f"what happened at an instant took {least:g} J")
    impacts = events.kind == IMPACT
    if impacts.any() and (least := events.impulse[impacts].min()) < 0.0:
        raise AssertionError(f"the impulse of an impact is {least:g} N s")
    if _ended(run) and impacts.any() and (least := events.energy[impacts].min()) < -rounding:
        raise AssertionError(f"an impact took {least:g} J")


def balance(run: mbvi.Trajectory, first: int = 0) -> campaign.Off:
    """The relative errors of the energy balance between states, from the first one on."""
    scale = max(1.0, float(run.kinetic_energy().max()))
    kept = (run.energy() + run.energy_taken())[first:] / scale
    steps = np.searchsorted(run.t, run.contacts.t, side="left") - 1 - first
    return campaign.Off(float(np.ptp(kept)), float(np.abs(np.diff(kept))[steps[steps >= 0]].max(initial=0.0)))


def _ended(run: mbvi.Trajectory) -> bool:
    """Whether the rounds of all impacts did."""
    return not any(each.kind == "impact" for each in run.findings)


def _check_pushes(run: mbvi.Trajectory) -> None:
    """Raise an error where a closed stop pulls."""
    stops = {each.name for each in stops_of(run.system.model.resolved())}
    for name, force in run.contact_forces().items():
        if name in stops and force.min() < -PULL * max(1.0, float(np.abs(force).max())):
            raise AssertionError(f"{name} pulls with {-force.min():g} at t = {run.t[force.argmin()]:g} s")


# ------------------------------------------------------------------------------------------------- long runs


def bouncing(bounces: int) -> float:
    """The error of the energy, relative to it, of a ball that bounces without loss."""
    model = load("bouncing_ball")
    floor = model.contacts["floor"].replaced({"restitution": 1.0})
    model = model.replaced({"contacts": {"floor": floor}})
    first, every = math.sqrt(2 / 9.81), max(1, bounces // 1000)
    duration = 0.2 * every * math.ceil(2 * first * bounces / (0.2 * every))
    run = mbvi.simulate(model, "simpson", step=0.2, duration=duration, every=every)
    assert len(run.contacts) == math.floor((run.t[-1] / first + 1) / 2) >= bounces
    return float(np.ptp(run.energy()) / run.energy()[0])


def ending(bounces: int) -> float:
    """The largest error [s] of the times of bounces with a restitution of 0.8, against the closed form."""
    run = mbvi.simulate(load("bouncing_ball"), "simpson", step=0.02, duration=5)
    k = np.arange(bounces)
    exact = math.sqrt(2 / 9.81) * (1 + 8 * (1 - 0.8**k))
    return float(np.abs(run.contacts.of("floor", "impact").t[:bounces] - exact).max())


def pendulum(impacts: int) -> float:
    """The largest error of the energy, relative to that at the start, of a pendulum between lossless stops, by lobatto4."""
    joint = mbvi.Revolute(
        parent="world", child="bob", axis=(0, 1, 0), limits={"angle": mbvi.Limits(lower=-0.4, upper=0.7, restitution=1)}
    )
    model = Model(
        name="pendulum", bodies={"bob": mbvi.Body(mass=1, center_of_mass=(0, 0, -1))}, joints={"pivot": joint}
    )
    start, worst, base, found = {"initial_q": [0.5], "initial_v": [2.5]}, 0.0, None, 0
    run = mbvi.simulate(model, "lobatto4", step=0.04, duration=0.48 * impacts, every=10, **start)
    found, base = len(run.contacts), run.energy()[0]
    worst = float(np.abs(run.energy() - base).max() / abs(base))
    assert found >= impacts, found
    return worst


def billiard(impacts: int) -> float:
    """The error of the product of the angular momenta about the foci, relative to it, of a ball in an ellipse."""
    wall = mbvi.CoordinateStop(
        joint_a="x", joint_b="y", lower="-sqrt(1 - x**2/4)", upper="sqrt(1 - x**2/4)", restitution=1
    )
    model = Model(
        name="billiard",
        gravity=(0, 0, 0),
        bodies={"carriage": mbvi.Body(mass=0), "ball": mbvi.Body(mass=1)},
        joints={
            "x": mbvi.Prismatic(parent="world", child="carriage", axis=(1, 0, 0)),
            "y": mbvi.Prismatic(parent="carriage", child="ball", axis=(0, 1, 0)),
        },
        contacts={"wall": wall},
    )
    start = {"initial_q": [0.2, 0.1], "initial_v": [0.3, 1.0]}
    run = mbvi.simulate(model, "simpson", step=0.2, duration=2 * impacts, every=10, **start)
    assert len(run.contacts) >= impacts, len(run.contacts)
    (x, y), (u, w), focus = run.q.T, run.v.T, math.sqrt(3)
    product = ((x + focus) * w - y * u) * ((x - focus) * w - y * u)
    return float(np.ptp(product) / abs(product[0]))


LONG = {
    "energy of bounces without loss": (bouncing, 100_000, 1e-10),
    "times of bounces [s]": (ending, 50, 1e-12),
    "energy of a pendulum between stops": (pendulum, 10_000, 1e-9),
    "billiard in an ellipse": (billiard, 10_000, 1e-9),
}
"""What runs long, how often it is hit, and the largest error."""


def main() -> None:
    """Random models, or with --long the long runs."""
    if "--long" not in sys.argv:
        campaign.main(trial, "models with contacts", 200, limit=600.0)  # some bounce without loss 20 000 times
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--part", type=float, default=1.0, help="of the impacts (by default all)")
    part, are_good = parser.parse_args().part, True
    warnings.simplefilter("ignore")
    for name, (error, impacts, most) in LONG.items():
        began, count = time.perf_counter(), max(10, int(part * impacts))
        found = error(min(count, impacts))
        are_good &= found <= most
        seconds = time.perf_counter() - began
        print(f"{name:36} {count:7} impacts  {found:.1e}  (at most {most:.0e}), {seconds:.0f} s", flush=True)
    sys.exit(not are_good)


if __name__ == "__main__":
    main()
