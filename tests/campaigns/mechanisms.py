"""Random mechanisms in the coordinates of their joints and in those of their bodies: they start, are loaded and move alike.

    python -m tests.campaigns.mechanisms [--count 2500] [--seed 0]

Chains with a joint of any kind, from either end, closed or not, with forces and with a constraint, and trees of several joints.
The tree finds a start, and the embedding takes it. Kinetic energies, accelerations of all poses, and poses after some steps of a
scheme of order 8 agree; where these do not to rounding, they do better with half the step, as its order says.
"""

from __future__ import annotations

import re
import warnings

import numpy as np

import mbvi
from mbvi.system.euler_angles import joints_in_gimbal_lock
from mbvi.system.initial import find_start
from mbvi.system.system import System

from ..system import mechanisms
from . import campaign

FORCES = mechanisms.POTENTIAL + mechanisms.OTHER
SCHEME, ORDER, STEPS = "gauss4", 8, 8
ENERGY, ACCELERATION, POSE = 1e-9, 1e-7, 1e-9
EPS = float(np.finfo(float).eps)
NO_START = re.compile(r"expected (constraints|axes|frames) that can be|gimbal lock")  # as random ones may be
LEAST_GAIN = 2.0 ** (ORDER - 3)  # of half a step


def random_model(seed: int) -> mbvi.Model:
    """The mechanism of a seed."""
    random = np.random.default_rng([seed, 13])
    kind = str(random.choice(mechanisms.KINDS))
    forces = tuple(str(each) for each in random.permutation(FORCES)[: random.integers(0, 4)])
    is_reversed, is_loop = random.random(2) < 0.5
    if random.random() < 0.3:
        return random_tree(random, seed, forces)
    model = mechanisms.linkage(kind, seed, bool(is_reversed), bool(is_loop), forces)
    if random.random() < 0.4:
        on = free_coordinates(model)
        known = [kind for kind in (*mechanisms.TIES, mechanisms.ROPE) if kind != "differential" or len(on) > 2]
        tie = mechanisms.random_tie(random, str(random.choice(known)), "a", "c", ["c"], on)
        model = mbvi.Model(**dict(model) | {"constraints": {"tie": tie}})
    return model


def free_coordinates(model: mbvi.Model) -> list[tuple[str, str]]:
    """Joints and coordinates, none of a quaternion."""
    return [(name, each) for name, joint in model.joints.items() for each in joint.coordinate_names if each[0] != "q"]


def random_tree(random: np.random.Generator, seed: int, forces: tuple[str, ...]) -> mbvi.Model:
    """A tree of some joints, with a start that the model gives."""
    kinds = [str(each) for each in random.choice(mechanisms.KINDS, random.integers(2, 6))]
    model = mechanisms.without_tables(mechanisms.random_tree(seed, kinds, forces))
    initial = {}
    for name, joint in model.joints.items():
        count = len(joint.coordinate_names)
        if count and joint.coordinate_names[-1] != "qz":
            initial[name] = mbvi.Initial(position=0.5 * random.normal(size=count), velocity=random.normal(size=count))
    return mbvi.Model(**dict(model) | {"initial": initial})


def points_of(embedding: System) -> dict[str, np.ndarray]:
    """Places in their bodies, of the point masses that have no orientation there."""
    homes = embedding.homes
    return {body: homes.centers[body] for body, (_, is_point) in homes.roots.items() if is_point}


def poses(system: System, points: dict[str, np.ndarray], q: np.ndarray) -> np.ndarray:
    """Places and rotations of all bodies, and places alone of point masses, in a row."""
    found = []
    for body in system.body_names:
        (place,), (rotation,) = system.poses(body, q[None])
        found += [place + rotation @ points[body]] if body in points else [place, rotation.ravel()]
    return np.concatenate(found)


def accelerations(system: System, points: dict[str, np.ndarray]) -> tuple[np.ndarray, float]:
    """Second derivatives of the poses at the start, by central differences along q + s v + s² a/2, and the rounding of these."""
    start = find_start(system)
    a = system.acceleration(start.q, start.v)
    step = 8e-3 / max(1.0, np.abs(start.v).max(), np.sqrt(np.abs(a).max()))
    weights = (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560)

    def at(s: float) -> np.ndarray:
        return poses(system, points, start.q + s * start.v + s * s / 2 * a)

    outer = (w * (at(i * step) + at(-i * step)) for i, w in enumerate(weights) if i > 0)
    found, size = weights[0] * at(0.0) + sum(outer), 2 * np.abs(weights).sum() * np.abs(at(0.0)).max()
    return found / step**2, EPS * size / step**2


def end(system: System, points: dict[str, np.ndarray], step: float, steps: int) -> np.ndarray:
    """Poses after some steps."""
    return poses(system, points, mbvi.simulate(system, SCHEME, step=step, duration=steps * step).q[-1])


def check_same(what: str, one: np.ndarray, other: np.ndarray, tolerance: float, rounding: float = 0.0) -> None:
    """Two arrays agree."""
    size = max(1.0, np.abs(other).max())
    assert np.abs(one - other).max() <= tolerance * size + rounding, (
        f"{what} differ by {np.abs(one - other).max() / size:.2g}"
    )


def trial(seed: int) -> str:
    """Compare the formulations of the mechanism of a seed."""
    model = random_model(seed)
    try:
        model = mechanisms.with_start(model)
    except mbvi.ModelError as error:
        if not NO_START.search(str(error)):
            raise
        return "without a start"
    tree, embedding = mbvi.assemble(model), mbvi.assemble(model, "embedding")
    start, first = find_start(tree), find_start(embedding)
    if joints_in_gimbal_lock(tree, start.q):
        return "in gimbal lock"
    points = points_of(embedding)
    check_same("places", poses(embedding, points, first.q), poses(tree, points, start.q), 1e-9)
    both = (embedding, first), (tree, start)
    check_same("energies", *(np.array([each.v @ system.momentum(each.q, each.v)]) for system, each in both), ENERGY)
    (one, rounding), (other, more) = accelerations(embedding, points), accelerations(tree, points)
    check_same("accelerations", one, other, ACCELERATION, rounding + more)
    speed = max(1.0, np.abs(start.v).max(), np.sqrt(np.abs(tree.acceleration(start.q, start.v)).max()))
    step = 0.02 / speed
    halves = (step, STEPS), (step / 2, 2 * STEPS)
    try:
        with warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter("always")
            apart = [np.abs(end(embedding, points, *each) - end(tree, points, *each)).max() for each in halves]
    except mbvi.StepError as error:
        if not NO_START.search(str(error)):
            raise
        return "in gimbal lock"
    if apart[1] <= max(POSE, apart[0] / LEAST_GAIN):
        return "alike"
    found = f"poses differ by {apart[0]:.2g}, and {apart[1]:.2g} with half the step"
    assert any("gimbal lock" in str(each.message) for each in reported), found
    return "in gimbal lock"


if __name__ == "__main__":
    campaign.main(trial, "random mechanisms in both formulations", 2_500)
