"""Random models in which bodies roll or glide on edges, some with stops and dry friction besides.

    python -m tests.campaigns.rolling_models [--count 500] [--seed 0]

Balls, wheels, tyres and ellipsoids roll on planes, and balls on or in cylinders and spheres, of the world or of a table that
turns freely, by a spring or by a motor; sleighs glide on edges. What rolls may carry a body on a hinge, with a limit that stops
it and with dry friction. Each of them must end, or fail with an error of mbvi that names why. In all states constraints on places
and on velocities hold to rounding, no stop is passed, no impact gives energy, and the energy with what was taken keeps to what
the scheme makes of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mbvi
from mbvi.errors import ModelError, StepError
from mbvi.model import Model

from . import campaign

Array = np.ndarray
STEP, DURATION = 0.005, 0.4
SCHEMES = {"midpoint": 2, "suzuki4": 4, "kahan_li6": 6}
"""The schemes, and their orders."""
HELD = 1e-9
"""Value of a constraint [m or –], or of its rate relative to the largest rate or 1, that is rounding; and a gap below zero."""
ENERGY = 1e-6
"""Error of the energy balance, relative to the largest kinetic energy or 1 J, that the scheme does not make."""
NAMED = "singular", "did not converge", "A smaller step", "a smaller step"


def _body(random: np.random.Generator, size: float) -> mbvi.Body:
    a, b, c = random.uniform(0.2, 0.5, 3) * size**2
    mass = float(random.uniform(0.5, 2))
    away = (random.uniform(-0.2, 0.2, 3) * size * random.choice([0.0, 1.0])).tolist()
    return mbvi.Body(mass=mass, center_of_mass=away, inertia=(mass * (b + c), mass * (a + c), mass * (a + b)))


def _unit(random: np.random.Generator, near: tuple[float, float, float], wide: float) -> Array:
    """A direction about another."""
    found = np.array(near) + wide * random.standard_normal(3)
    return found / np.linalg.norm(found)


def _rolling(random: np.random.Generator, base: str, size: float) -> tuple[Any, Array]:
    """What rolls on a base, and where it is at the start."""
    ends = {"body_a": base, "body_b": "roller"}
    kind, normal = (
        str(random.choice(["ball", "cylinder", "sphere", "wheel", "ellipsoid"])),
        _unit(random, (0, 0, 1), 0.1),
    )
    if kind == "ball":
        return mbvi.RollingBall(**ends, radius=size, direction=normal.tolist()), size * normal
    if kind in ("cylinder", "sphere"):
        across = np.cross(normal, _unit(random, (1, 0, 0), 0.3)) if kind == "cylinder" else -normal
        across, is_inside = across / np.linalg.norm(across), bool(random.random() < 0.7)
        surface = float(size * random.uniform(2, 8))
        rolling = mbvi.RollingBall(
            **ends, radius=size, surface=kind, surface_radius=surface, inside=is_inside, direction=normal.tolist()
        )
        return rolling, across * (surface - size if is_inside else -surface - size)
    if kind == "wheel":
        axis, tyre = _unit(random, (0, 1, 0), 0.3), float(random.choice([0.0, 0.3 * size]))
        depth = (size - tyre) * np.sqrt(1 - (normal @ axis) ** 2) + tyre
        rolling = mbvi.RollingWheel(**ends, radius=size, tyre=tyre, axis=axis.tolist(), normal=normal.tolist())
        return rolling, depth * normal
    axes = size * random.uniform(0.5, 1.5, 3)
    depth = float(np.linalg.norm(axes * normal))
    return mbvi.RollingEllipsoid(**ends, semi_axes=axes.tolist(), normal=normal.tolist()), depth * normal


def random_model(seed: int) -> Model:
    """A model whose start is about on its constraints."""
    random, size = np.random.default_rng(seed), 0.3
    bodies: dict[str, Any] = {"roller": _body(random, size)}
    joints, constraints, forces, contacts, initial = ({} for _ in range(5))
    base = "world"
    if random.random() < 0.4:
        base = "table"
        bodies["table"] = _body(random, 1.0)
        joints["axle"] = mbvi.Revolute(parent="world", child="table", axis=(0, 0, 1))
        kind = int(random.integers(3))
        if kind == 0:
            constraints["motor"] = mbvi.PrescribedCoordinate(
                joint="axle", value=f"{random.uniform(-3, 3)}*t + 0.1*sin(5*t)"
            )
        elif kind == 1:
            forces["torsion"] = mbvi.JointSpring(joint="axle", stiffness=float(random.uniform(1, 20)))
    speed = random.standard_normal(3) * 2
    if random.random() < 0.15:
        joints["motion"] = mbvi.Planar(parent=base, child="roller", normal=(0, 0, 1))
        across = _unit(random, (0, 1, 0), 0.5) * (1, 1, 0)
        point = random.uniform(-0.3, 0.3, 3).tolist()
        constraints["edge"] = mbvi.KnifeEdge(body_a=base, body_b="roller", point_b=point, across=across.tolist())
        initial["motion"] = mbvi.Initial(velocity=speed.tolist())
    else:
        rolling, place = _rolling(random, base, size)
        constraints["rolling"] = rolling
        joints["motion"] = mbvi.Free(parent="world", child="roller")
        turn = (random.standard_normal(3) * 5).tolist()
        initial["motion"] = mbvi.Initial(position=[*place.tolist(), 1, 0, 0, 0], velocity=[*speed.tolist(), *turn])
    if random.random() < 0.5:
        _carried(random, bodies, joints, contacts)
    if random.random() < 0.4:
        forces["spring"] = mbvi.Spring(
            body_a="world", point_a=(0, 0, 2), body_b="roller", stiffness=float(random.uniform(1, 30)), rest_length=1
        )
    parts = {"bodies": bodies, "joints": joints, "constraints": constraints, "forces": forces, "contacts": contacts}
    return Model(name=f"random {seed}", gravity=(0, 0, -9.81), **parts, initial=initial)


def _carried(random: np.random.Generator, bodies: dict, joints: dict, contacts: dict) -> None:
    """Let what rolls carry a body on a hinge."""
    bodies["arm"] = mbvi.Body(mass=0.3, center_of_mass=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    limits = {}
    if random.random() < 0.5:
        bounce = float(random.choice([0.0, 1.0, random.random()]))
        limits["angle"] = mbvi.Limits(lower=-0.3, upper=0.2, restitution=bounce, rest_speed=1e-4)
    joints["hinge"] = mbvi.Revolute(
        parent="roller", child="arm", axis=_unit(random, (0, 1, 0), 1).tolist(), limits=limits
    )
    if random.random() < 0.4:
        contacts["rubbing"] = mbvi.DryFriction(joint="hinge", kinetic=float(random.uniform(0.02, 1)))


def trial(seed: int) -> str:
    """Run a random model, and look at what it did."""
    scheme = list(SCHEMES)[seed % 3]
    system = mbvi.assemble(random_model(seed), "embedding" if seed % 5 == 0 else "tree")
    try:
        run = mbvi.simulate(system, scheme, step=STEP, duration=DURATION)
    except (ModelError, StepError) as error:
        if not any(each in str(error) for each in NAMED):
            raise
        return f"{type(error).__name__}: {str(error).split(': ', 2)[-1][:60]}"
    off = _checked(run)
    if system.is_driven:
        return "ran with a motor"
    if off <= ENERGY:
        return "ran"
    for part in (4, 16):  # a wheel that almost falls flat needs the smaller one
        finer = _checked(mbvi.simulate(system, scheme, step=STEP / part, duration=DURATION))
        if finer <= max(off / 2 ** SCHEMES[scheme], ENERGY):
            return "ran with a coarse step"
        coarser, off = off, finer
    raise AssertionError(f"the energy balance of {scheme} errs by {coarser:g}, by {off:g} with a quarter of the step")


def _checked(run: mbvi.Trajectory) -> float:
    """The relative error of the energy balance; an error where a run did what none may."""
    scale, system = max(1.0, float(run.kinetic_energy().max())), run.system
    for t, q, v in zip(run.t, run.q, run.v, strict=True):
        g, G, g_t = system._constraints(q, float(t))
        g[system.arrays.rates] = 0.0
        rates = np.abs(G @ v + g_t).max() / max(1.0, float(np.abs(v).max()))
        if not max(np.abs(g).max(), rates) < HELD:
            raise AssertionError(
                f"constraints are missed by {np.abs(g).max():g}, their rates by {rates:g}, at t = {t:g} s"
            )
    taken = 0.0
    if system.has_contacts:
        taken, events = run.energy_taken(), run.contacts
        for name, gap in run.gaps().items():
            if gap.min() < -HELD:
                raise AssertionError(f"{name} is {-gap.min():g} too far at t = {run.t[gap.argmin()]:g} s")
        if len(events) and (least := events.energy.min()) < -1e-11 * scale:
            raise AssertionError(f"an event took {least:g} J")
    return float(np.ptp(run.energy() + taken)) / scale


def main() -> None:
    """Random models."""
    campaign.main(trial, "models that roll", 500)


if __name__ == "__main__":
    main()
