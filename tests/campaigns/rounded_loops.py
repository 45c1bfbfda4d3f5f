"""Linkages in rounded numbers against the exact ones: `python -m tests.campaigns.rounded_loops [--seeds 3] [NAME …]`.

All places, axes and orientations of a linkage's joints get errors up to ε, from 1e-13 to 1e-4, and a tolerance of 4 ε. A row for
each linkage, formulation and ε: the largest gap between constraints that was found, by how much numbers were moved, and within
1 s the largest difference of a pose from that of the exact linkage, all in parts of ε; then the largest energy error, relative to
the kinetic energy, the largest residual of constraints, and the largest difference of a reaction, relative to the largest, in
parts of ε. The row with ε = 0 is the exact linkage.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import mbvi
from mbvi.model import Model

from ..folders import load

Array = np.ndarray
ROUNDINGS = 1e-13, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4
FORMULATIONS = "tree", "embedding"
SCHEME, STEP, DURATION, EVERY = "gauss4", 0.005, 1.0, 20
MOST = 30.0
"""How many times ε a pose may differ."""
WORSE, ENERGY = 30.0, 1e-13
"""How many times the exact linkage's energy error, and what is no error."""


class Row(NamedTuple):
    """How a rounded linkage moved."""

    gap: float
    moved: float
    pose: float
    energy: float
    residual: float
    reaction: float


def rod(a: Any, b: Any) -> mbvi.Body:
    """A thin rod of 1 kg between two places, with a little inertia about its axis."""
    a, b = np.array(a, float), np.array(b, float)
    inertia = ((b - a) @ (b - a) * np.eye(3) - 0.9 * np.outer(b - a, b - a)) / 12
    return mbvi.Body(mass=1, center_of_mass=tuple((a + b) / 2), inertia=tuple(map(tuple, inertia)))


def hinge(parent: str, child: str, axis: Any, position: Any = (0, 0, 0), offset: Any = (0, 0, 0)) -> mbvi.Revolute:
    """A revolute joint of numbers."""
    at = {key: tuple(map(float, value)) for key, value in (("axis", axis), ("position", position), ("offset", offset))}
    return mbvi.Revolute(parent=parent, child=child, **at)


def spinning(name: str, bodies: Any, joints: Any, rate: Any, **more: Any) -> Model:
    """A linkage whose first joint turns at a rate."""
    initial = {next(iter(joints)): mbvi.Initial(velocity=rate, hold=True)}
    return Model(name=name, bodies=bodies, joints=joints, initial=initial, **more)


def spherical() -> Model:
    """A four-bar whose axes meet in a point."""
    a, b, c, d = (
        np.array(axis) / np.linalg.norm(axis) for axis in ((0, 0, 1), (0.5, 0, 1), (0.9, 0.8, 0.6), (0.2, 0.9, 0.8))
    )
    bodies = {"crank": rod(a, b), "coupler": rod(b, c), "rocker": rod(d, c)}
    joints = {
        "shaft": hinge("world", "crank", a),
        "pin": hinge("crank", "coupler", b),
        "support": hinge("world", "rocker", d),
        "end": hinge("coupler", "rocker", c),
    }
    return spinning("spherical four-bar", bodies, joints, 2.0)


def bennett() -> Model:
    """Bennett's linkage: four bars of lengths a and b, twisted by α and β, with a/sin α = b/sin β."""
    twists = 0.6, 1.1
    lengths = 1.0, float(np.sin(twists[1]) / np.sin(twists[0]))
    first = 1.0
    second = 2 * np.arctan(np.sin(sum(twists) / 2) / np.sin((twists[1] - twists[0]) / 2) / np.tan(first / 2))
    places, axes, x, turned = [], [], np.zeros(3), np.eye(3)
    for angle, i in zip((first, second, -first, -second), (0, 1, 0, 1), strict=True):
        places.append(x)
        axes.append(turned[:, 2])
        (c, s), (cos, sin) = ((np.cos(each), np.sin(each)) for each in (angle, twists[i]))
        turned = turned @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        x = x + lengths[i] * turned[:, 0]
        turned = turned @ np.array([[1, 0, 0], [0, cos, -sin], [0, sin, cos]])
    assert np.abs(x).max() < 1e-14 > np.abs(turned - np.eye(3)).max()
    names = ("world", "one", "two", "three")
    origins = {"world": np.zeros(3), "one": places[0], "two": places[1], "three": places[2]}
    bodies = {name: rod((0.001, 0.002, 0.003), places[i + 1] - places[i]) for i, name in enumerate(names[1:])}
    joints = {
        f"hinge{i}": hinge(parent, child, axes[i], places[i] - origins[parent], places[i] - origins[child])
        for i, (parent, child) in enumerate(itertools.pairwise((*names, "world")))
    }
    return spinning("Bennett's linkage", bodies, joints, 1.5)


def delta() -> Model:
    """A plate on three legs with universal joints at both ends, like those of a delta robot: it does not turn."""
    feet, leg = [(np.cos(t), np.sin(t), 0.0) for t in (0, 2.1, 4.0)], (0.3, 0.2, 1.0)
    bodies, joints = {"plate": mbvi.Body(mass=2, inertia=(0.3, 0.3, 0.5))}, {}
    for i, foot in enumerate(feet):
        name = f"leg{i}"
        bodies[name] = rod((0, 0, 0), leg)
        joints[f"low{i}"] = mbvi.Universal(parent="world", child=name, axes=((1, 0, 0), (0, 1, 0)), position=foot)
        joints[f"up{i}"] = mbvi.Universal(
            parent=name, child="plate", axes=((0, 1, 0), (1, 0, 0)), position=leg, offset=foot
        )
    return spinning("plate on three legs", bodies, joints, (0.3, 0.2), gravity=(0, 0, 0))


def door(third: bool = False) -> Model:
    """A door on two leaning hinges, and a third one that slides."""
    joints: dict[str, Any] = {
        "low": hinge("world", "door", (0, 0.1, 1)),
        "high": hinge("world", "door", (0, 0.1, 1), (0, 0.2, 2), (0, 0.2, 2)),
    }
    if third:
        at = (0, 0.1, 1)
        joints["middle"] = mbvi.Cylindrical(parent="world", child="door", axis=at, position=at, offset=at)
    bodies = {"door": mbvi.Body(shapes=[mbvi.Box(size=(0.8, 0.04, 2), position=(0.4, 0, 1), mass=20)])}
    return Model(name="door", bodies=bodies, joints=joints, initial={"low": mbvi.Initial(position=0.7, velocity=1)})


def tilted() -> Model:
    """The planar four-bar whose bodies have frames that are turned anyhow, with orientations in all digits."""
    random, joints = np.random.default_rng(4), {}
    model = load("four_bar").resolved()
    turns = {"world": np.eye(3)} | {name: rotation(random.normal(size=3)) for name in model.bodies}
    for name, joint in model.joints.items():
        a, b = turns[joint.parent].T, turns[joint.child].T
        joints[name] = mbvi.Revolute(
            parent=joint.parent,
            child=joint.child,
            axis=tuple(a @ joint.axis),
            position=tuple(a @ joint.position),
            offset=tuple(b @ joint.offset),
            orientation=tuple(rotation_vector(a @ b.T)),
        )
    bodies = {name: rod((0, 0, 0), turns[name].T @ (0.5, 0, 0)) for name in model.bodies}
    return Model(name="turned frames", bodies=bodies, joints=joints, initial=model.initial)


def rotation(vector: Array) -> Array:
    """The rotation matrix of a rotation vector."""
    return np.asarray(mbvi.model.rotations.rotation_matrix(vector))


def rotation_vector(matrix: Array) -> Array:
    """The rotation vector of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(matrix).as_rotvec())


IN_PLANE = "planar", "slider-crank"
"""Linkages that stay exact with errors of lengths along x and z alone, which change their motion more than all others: fast ones.
These are compared with those that have the same such errors."""
LINKAGES: dict[str, Callable[[], Model]] = {
    "planar": lambda: load("four_bar"),
    "turned frames": tilted,
    "slider-crank": lambda: load("slider_crank"),
    "spherical": spherical,
    "Bricard": lambda: load("bricard"),
    "Bennett": bennett,
    "delta-like": delta,
    "door": door,
    "door, 3 hinges": lambda: door(third=True),
}


def rounded(model: Model, error: float, seed: int = 0) -> Model:
    """A model in numbers, with errors of the places, axes and orientations of its joints; those that are none stay so."""
    random, resolved, joints = np.random.default_rng(seed), model.resolved(), {}

    def off(values: Any) -> Array:
        return np.array(values) + error * random.uniform(-1, 1, np.shape(values))

    for name, joint in resolved.joints.items():
        values: dict[str, Any] = {key: tuple(off(getattr(joint, key)).tolist()) for key in ("position", "offset")}
        if hasattr(joint, "axis"):
            values["axis"] = unit(off(joint.axis))
        if hasattr(joint, "axes"):
            values["axes"] = tuple(unit(off(axis)) for axis in joint.axes)
        if joint.orientation[1:] != (0, 0, 0):
            values["orientation"] = unit(off(joint.orientation))
        joints[name] = joint.replaced(values)
    return resolved.replaced({"joints": joints, "loop_tolerance": min(0.01, max(1e-6, 4 * error))})


def in_plane(model: Model, rounded: Model) -> Model:
    """A planar linkage in the plane of x and z with the lengths of a rounded one, and its own axes."""
    resolved, joints = model.resolved(), {}
    for name, joint in resolved.joints.items():
        off = rounded.joints[name]
        values = {
            key: (getattr(off, key)[0], getattr(joint, key)[1], getattr(off, key)[2]) for key in ("position", "offset")
        }
        if isinstance(joint, mbvi.Prismatic):
            values["axis"] = unit(np.array([off.axis[0], 0, off.axis[2]]))
        joints[name] = joint.replaced(values)
    return rounded.replaced({"joints": joints})


def unit(values: Array) -> tuple[float, ...]:
    """Divided by its norm."""
    return tuple((values / np.linalg.norm(values)).tolist())


class Motion(NamedTuple):
    """Poses (states, .), reactions (states, .), and the errors of a run."""

    poses: Array
    reactions: Array
    energy: float
    residual: float


def motion(system: mbvi.System, duration: float = DURATION) -> Motion:
    """How a system moves."""
    run = mbvi.simulate(system, SCHEME, step=STEP, duration=duration, every=EVERY)
    poses = [np.asarray(part).reshape(len(run), -1) for body in system.body_names for part in run.pose(body)]
    reactions = [
        np.asarray(part).reshape(len(run), -1) for joint in system.model.joints for part in run.reaction(joint)
    ]
    energy = float(np.abs(run.energy() - run.energy()[0]).max() / run.kinetic_energy().max())
    return Motion(np.hstack(poses), np.hstack(reactions), energy, float(run.constraint_residual().max()))


@cache
def exact(name: str, formulation: str, duration: float = DURATION) -> Motion:
    """How an exact linkage moves."""
    system = mbvi.assemble(LINKAGES[name](), formulation)
    assert not system.moved_loops
    return motion(system, duration)


def compared(name: str, formulation: str, error: float, seed: int = 0, duration: float = DURATION) -> Row:
    """A rounded linkage against the exact one."""
    system = mbvi.assemble(rounded(LINKAGES[name](), error, seed), formulation)
    found, expected = motion(system, duration), exact(name, formulation, duration)
    if name in IN_PLANE:
        expected = motion(
            mbvi.assemble(in_plane(LINKAGES[name](), rounded(LINKAGES[name](), error, seed)), formulation), duration
        )
    (loop,) = system.moved_loops
    pose, reaction = (np.abs(one - other).max() for one, other in zip(found[:2], expected[:2], strict=True))
    reaction /= np.abs(expected.reactions).max()
    return Row(loop.gap / error, loop.moved / error, pose / error, found.energy, found.residual, reaction / error)


def is_good(row: Row, energy: float) -> bool:
    """Whether it moved as the exact linkage, whose energy error is given."""
    return row.pose <= MOST and row.energy <= max(ENERGY, WORSE * energy)


def main() -> None:
    """Compare linkages."""
    parser = argparse.ArgumentParser(description="linkages in rounded numbers against the exact ones")
    parser.add_argument("names", nargs="*", help=f"by default all of {', '.join(LINKAGES)}")
    parser.add_argument("--seeds", type=int, default=1, help="how many times each is rounded")
    arguments = parser.parse_args()
    began, wrong = time.perf_counter(), 0
    print(
        f"{'linkage':16} {'formulation':12} {'ε':>6} {'gap/ε':>7} {'moved/ε':>7} {'pose/ε':>7} energy  |g|     reaction/ε"
    )
    for name in arguments.names or LINKAGES:
        for formulation in FORMULATIONS:
            alone = exact(name, formulation)
            print(f"{name:16} {formulation:12} {0:6} {'':23} {alone.energy:.0e}   {alone.residual:.0e}", flush=True)
            for error, seed in itertools.product(ROUNDINGS, range(arguments.seeds)):
                try:
                    row = compared(name, formulation, error, seed)
                except (mbvi.ModelError, mbvi.StepError) as problem:
                    wrong += 1
                    print(f"{name:16} {formulation:12} {error:6.0e} seed {seed}: {problem}", flush=True)
                    continue
                wrong += not is_good(row, alone.energy)
                numbers = f"{row.gap:7.2f} {row.moved:7.2f} {row.pose:7.2f} {row.energy:.0e}   {row.residual:.0e}"
                mark = "" if is_good(row, alone.energy) else "  !"
                print(f"{name:16} {formulation:12} {error:6.0e} {numbers}   {row.reaction:7.2f}{mark}", flush=True)
    print(f"{wrong} wrong; {time.perf_counter() - began:.0f} s")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
