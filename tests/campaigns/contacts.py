"""Random models with stops and dry friction, or long runs against closed forms.

    python -m tests.campaigns.contacts [--count 200] [--seed 0]
    python -m tests.campaigns.contacts --long [--part 1]

Random models are trees or loops of up to four bodies, whose limits bounce or not, with points above planes, ropes and bumpers,
and dry friction. Each of them must end, or fail with an error of mbvi that names why. No impact may give energy, energy with what
was taken must keep to what the scheme makes of it, and no gap may be less than zero beyond rounding; all that holds for states
between steps too.
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

from ..folders import load
from . import campaign

Array = np.ndarray
STEP, DURATION = 0.01, 1.5
PENETRATION = 1e-9
"""Gap [m or rad] below zero that is not rounding."""
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
    """Stops that are open at the start, and frictions."""
    for i, (name, joint) in enumerate(joints.items()):
        shorts = joint.coordinate_names
        if len(shorts) == 1 and random.random() < 0.4:
            kinetic = random.uniform(0.05, 5)
            yield f"rub{i}", mbvi.DryFriction(joint=name, kinetic=kinetic, static=kinetic * random.uniform(1, 1.5))
    for i in range(int(random.integers(0, 5))):
        number = int(random.integers(len(names)))
        body, point = names[number], random.uniform(-0.5, 0.5, 3)
        other = str(random.choice(["world", "world", *names[:number]]))
        place = _at(system, body)[0] + _at(system, body)[1] @ point
        if other != "world":
            at, turned = _at(system, other)
            place = turned.T @ (place - at)
        own = {"restitution": float(random.choice([0.0, 1.0, random.random()])), "rest_speed": 1e-4}
        own |= {"body_a": other, "body_b": body, "point_b": point.tolist()}
        gap = float(random.choice([0.0, random.uniform(0.01, 0.5)]))
        if random.random() < 0.6:
            normal = random.standard_normal(3) + np.array([0.0, 0.0, 2.0])
            normal /= np.linalg.norm(normal)
            yield f"floor{i}", mbvi.PlaneStop(point_a=(place - gap * normal).tolist(), normal=normal.tolist(), **own)
        else:
            away = random.standard_normal(3)
            length = float(np.linalg.norm(away))
            bounds = {"upper": length + gap} if random.random() < 0.7 else {"lower": max(0.2 * length, length - gap)}
            yield f"rope{i}", mbvi.DistanceStop(point_a=(place - away).tolist(), **bounds, **own)


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
    if off <= ENERGY:
        return "ran"
    finer = _checked(mbvi.simulate(system, "lobatto4", step=STEP / 4, duration=DURATION))
    if finer > max(off / 16, ENERGY):
        raise AssertionError(
            f"the energy balance errs by {off:g} of the energy, by {finer:g} with a quarter of the step"
        )
    return "ran with a coarse step"


def _checked(run: mbvi.Trajectory) -> float:
    """The relative error of the energy balance; an error where a run did what none may."""
    scale = max(1.0, float(run.kinetic_energy().max()))
    _, first = np.unique(run.contacts.t, return_index=True)
    if len(first) and (least := np.add.reduceat(run.contacts.energy, first).min()) < -1e-12 * scale:
        raise AssertionError(f"what happened at an instant took {least:g} J")
    if (least := np.diff(run.energy_taken()).min()) < -1e-10 * scale:
        raise AssertionError(f"contacts took {least:g} J in a step")
    times = np.sort(np.random.default_rng(0).uniform(0, run.t[-1], 50))
    between = run.at(times)
    for found in (run, between):
        for name, gap in found.gaps().items():
            if gap.min() < -PENETRATION:
                raise AssertionError(f"{name} is {-gap.min():g} too far at t = {found.t[gap.argmin()]:g} s")
    return max(float(np.ptp(each.energy() + each.energy_taken())) for each in (run, between)) / scale


# ------------------------------------------------------------------------------------------------- long runs


def bouncing(bounces: int) -> float:
    """The error of the energy, relative to it, of a ball that bounces without loss."""
    model = load("bouncing_ball")
    floor = model.contacts["floor"].replaced({"restitution": 1.0})
    model = model.replaced({"contacts": {"floor": floor}})
    duration = math.sqrt(2 / 9.81) * 2 * bounces
    run = mbvi.simulate(model, "simpson", step=0.2, duration=duration, every=max(1, bounces // 1000))
    assert abs(len(run.contacts) - run.t[-1] / math.sqrt(2 / 9.81) / 2) <= 1
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
        campaign.main(trial, "models with contacts", 200)
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
