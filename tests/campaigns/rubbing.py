"""Random motions in a plane with stops that have friction by their own force.

    python -m tests.campaigns.rubbing [--count 200] [--seed 0]

Models are one to three bodies in a plane, free or hinged to each other, with corners and balls above floors and walls, of random
frictions and restitutions, springs and dry friction of hinges. Each of them must end, or fail with an error of mbvi that names
why: Painlevé's paradox, or something that begins to roll by a scheme that has no place for it. No instant may give energy, stops
push, their friction is at most μ times as large, no gap is less than zero beyond rounding, and energy with what was taken keeps
to what the scheme makes of it; all that holds for states between steps too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mbvi
from mbvi.errors import ModelError, StepError
from mbvi.model import Model

from . import campaign
from .contacts import balance

Array = np.ndarray
STEP, DURATION = 0.01, 1.0
PENETRATION = 1e-9
"""Gap [m] below zero that is not rounding."""
BOUND = 1e-7
"""Force beyond a bound, relative to the largest force, that is rounding at an event."""
ENERGY = 1e-5
"""Error of the energy balance, relative to the largest kinetic energy or 1 J, that scheme and quadrature do not make."""
NAMED = "Painlevé's paradox", "a place for what rolls", "follows from the motion"


def random_model(seed: int) -> Model:
    """A model that starts with its gaps open."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 4))
    bodies = {f"b{i}": _body(random) for i in range(count)}
    joints: dict[str, Any] = {"motion": mbvi.Planar(parent="world", child="b0", normal=(0, 1, 0))}
    contacts: dict[str, Any] = {}
    for i in range(1, count):
        place = [float(random.uniform(-0.5, 0.5)), 0.0, float(random.uniform(-0.5, 0.5))]
        joints[f"h{i}"] = mbvi.Revolute(parent=f"b{i - 1}", child=f"b{i}", axis=(0, 1, 0), position=place)
        if random.random() < 0.3:
            contacts[f"hinge{i}"] = mbvi.DryFriction(joint=f"h{i}", kinetic=float(random.uniform(0.05, 1)))
    for i in range(int(random.integers(1, 5))):
        contacts[f"stop{i}"] = _stop(random, f"b{random.integers(count)}")
    forces = {}
    if random.random() < 0.5:
        forces["spring"] = mbvi.Spring(
            body_a="world", point_a=(0, 0, -1), body_b="b0", stiffness=float(random.uniform(1, 50)), rest_length=0.5
        )
    speed = random.normal(0, 2, 3).tolist()
    start = {"motion": mbvi.Initial(position=(0, -float(random.uniform(1.5, 2)), 0), velocity=speed)}
    return Model(name=f"random {seed}", bodies=bodies, joints=joints, contacts=contacts, forces=forces, initial=start)


def _body(random: np.random.Generator) -> mbvi.Body:
    own = float(random.uniform(0.02, 0.2))
    centre = [float(random.uniform(-0.3, 0.3)), 0.0, float(random.uniform(-0.3, 0.3))]
    return mbvi.Body(mass=float(random.uniform(0.3, 2)), center_of_mass=centre, inertia=(own, own, own))


def _stop(random: np.random.Generator, body: str) -> Any:
    """A corner or a ball of a body above the floor, which may be inclined, or before a wall."""
    place = [float(random.uniform(-0.5, 0.5)), 0.0, float(random.uniform(-0.5, 0.5))]
    if random.random() < 0.75:
        angle, at = float(random.uniform(-0.5, 0.5)), (0, 0, 0)
    else:
        side = float(random.choice([-1, 1]))
        angle, at = side * np.pi / 2, (-4 * side, 0, 0)
    kinetic = float(random.choice([0.0, 0.2, random.uniform(0.1, 0.9)]))
    own = {
        "friction": kinetic, "static_friction": kinetic * float(random.choice([1, 1.3])), "rest_speed": 1e-4,
        "restitution": float(random.choice([0.0, 0.5, random.random()])),
    }  # fmt: skip
    ends = {"body_a": "world", "point_a": at, "body_b": body, "point_b": place}
    normal = (float(np.sin(angle)), 0.0, float(np.cos(angle)))
    if random.random() < 0.3:
        return mbvi.BallStop(**ends, **own, radius=float(random.uniform(0.05, 0.2)), direction=normal)
    return mbvi.PlaneStop(**ends, **own, normal=normal)


def trial(seed: int) -> str:
    """Run a random model, and look at what it did."""
    has_balls = any(each.type == "ball_stop" for each in random_model(seed).contacts.values())
    scheme = "kahan_li6" if has_balls and seed % 2 else "lobatto4"
    system = mbvi.assemble(random_model(seed), "embedding" if seed % 5 == 0 else "tree")
    try:
        run = mbvi.simulate(system, scheme, step=STEP, duration=DURATION)
    except (ModelError, StepError) as error:
        return next((f"ended by {each}" for each in NAMED if each in str(error)), f"failed: {error}")
    off = _checked(run)
    if off.everywhere <= ENERGY:
        return "ran"
    return campaign.check_balance(
        off, lambda parts: _checked(mbvi.simulate(system, scheme, step=STEP / parts, duration=DURATION)), ENERGY
    )


def _checked(run: mbvi.Trajectory) -> campaign.Off:
    """The relative errors of the energy balance; an error where a run did what none may."""
    scale, events = max(1.0, float(run.kinetic_energy().max())), run.contacts
    if len(events):
        _, first = np.unique(events.t, return_index=True)
        if (least := np.add.reduceat(events.energy, first).min()) < -1e-11 * scale:
            raise AssertionError(f"what happened at an instant took {least:g} J")
    between = run.at(np.sort(np.random.default_rng(0).uniform(0, run.t[-1], 20)))
    for found in (run, between):
        for name, gap in found.gaps().items():
            if gap.min() < -PENETRATION:
                raise AssertionError(f"{name} is {-gap.min():g} too far at t = {found.t[gap.argmin()]:g} s")
        _check_forces(found)
    return balance(run, first=1)  # the first state is before impacts at the start


def _check_forces(run: mbvi.Trajectory) -> None:
    """Raise an error where a stop pulls, or its friction is larger than it may."""
    model, forces = run.system.model.resolved(), run.contact_forces()
    size = max(1.0, *(float(np.abs(each).max()) for each in forces.values()))
    for name, element in model.contacts.items():
        if name not in forces or element.type == "dry_friction":
            continue
        if forces[name].min() < -BOUND * size:
            raise AssertionError(f"{name} pulls with {-forces[name].min():g}")
        if (friction := forces.get(f"{name}.friction")) is not None:
            static = element.friction if element.static_friction is None else element.static_friction
            if (over := (np.abs(friction) - static * forces[name]).max()) > BOUND * size:
                raise AssertionError(f"the friction of {name} is {over:g} N too large")


def main() -> None:
    """Random models."""
    campaign.main(trial, "models with friction of stops", 200)


if __name__ == "__main__":
    main()
