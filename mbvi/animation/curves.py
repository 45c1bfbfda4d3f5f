"""What is drawn in addition to the bodies: energy and coordinates as plots, angular momentum and forces as arrows."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from mbvi.animation.motion import Motion
from mbvi.animation.scene import find_poses
from mbvi.errors import ModelError
from mbvi.model.mass_properties import checked_properties
from mbvi.results.forces_in_space import contact_forces_in_space
from mbvi.results.phases import RunStates, reactions_of_run
from mbvi.results.trajectory import Trajectory
from mbvi.system.poses import Pose, all_poses, all_velocities
from mbvi.system.reactions import known_names
from mbvi.system.system import System

Array = np.ndarray

SAMPLES = 2000
"""Times of a plot or an arrow, at most."""
MOST_ARROWS = 100
MOST_CURVES = 60
USUAL = 0.9
"""Part of the vectors that are shorter than an arrow of the usual length."""
SMALL = 1e-3
"""Relative change of the energy below which only the change is shown, since a page has numbers of seven digits."""


class Curve(NamedTuple):
    """A plot: its name, unit and values (S,)."""

    name: str
    unit: str
    values: Array


class Arrow(NamedTuple):
    """An arrow: its name, unit, places (S, 3) [m] and vectors (S, 3)."""

    name: str
    unit: str
    places: Array
    vectors: Array


def lengths_of(arrow: Arrow) -> Array:
    """The lengths (S,) of an arrow's vectors, 0 where these are not numbers."""
    return np.nan_to_num(np.linalg.norm(arrow.vectors, axis=1))


def usual_length(arrow: Arrow) -> float:
    """What nine tenths of an arrow's vectors are shorter than, of those that are not 0; 0 if there are none."""
    lengths = lengths_of(arrow)
    return float(np.quantile(lengths[lengths > 0], USUAL)) if lengths.any() else 0.0


def thinned(motion: Motion) -> Motion:
    """The motion at few enough of its times for plots."""
    rows = np.unique(np.linspace(0, len(motion.t) - 1, SAMPLES).round().astype(int))
    return motion._replace(t=motion.t[rows], q=motion.q[rows], v=motion.v[rows])


def curves(trajectory: Trajectory, motion: Motion) -> list[Curve]:
    """Energy, or its error where it is conserved, and the coordinates, if these are not too many the first of them.

    What impacts and dry friction took is no error.
    """
    energy = np.interp(motion.t, trajectory.t, trajectory.energy())
    system, change = trajectory.system, energy - energy[0]
    if system.keeps_energy:
        first = Curve("energy error", "J", change + np.interp(motion.t, trajectory.t, trajectory.energy_taken()))
    elif np.abs(change).max() < SMALL * np.abs(energy).max():
        first = Curve("change of energy", "J", change)
    else:
        first = Curve("energy", "J", energy)
    named = zip(system.coordinate_names, system.coordinate_units, motion.q.T, strict=True)
    return [first, *(Curve(name, unit, values) for name, unit, values in islice(named, MOST_CURVES))]


def angular_momentum(trajectory: Trajectory, motion: Motion) -> Arrow:
    """Angular momentum of all bodies about the world's origin, or about their centre of mass if only free joints hold them."""
    model = trajectory.system.model
    assert model is not None
    resolved = model.resolved()
    poses, velocities = all_poses(trajectory.system, motion.q), all_velocities(trajectory.system, motion.q, motion.v)
    masses, places, speeds, total = [], [], [], np.zeros((len(motion.t), 3))
    for name, body in resolved.bodies.items():
        mass, center, inertia = checked_properties(body, model.files)
        rotation, (velocity, omega) = poses[name].rotations, velocities[name]
        masses.append(mass)
        places.append(poses[name].point(center))
        speeds.append(velocity + np.cross(omega, rotation @ center))
        total += np.einsum("fij,jk,flk,fl->fi", rotation, inertia, rotation, omega, optimize=True)
    held = (joint for joint in resolved.joints.values() if "world" in (joint.parent, joint.child))
    m, x, u = np.array(masses), np.array(places), np.array(speeds)
    if all(joint.is_free for joint in held):
        point = np.einsum("b,bfi->fi", m, x) / m.sum()
    else:
        point = np.zeros((len(motion.t), 3))
    total += np.einsum("b,bfi->fi", m, np.cross(x - point, u))
    return Arrow("angular momentum", "kg m²/s", point, total)


def reactions(trajectory: Trajectory, motion: Motion) -> list[Arrow]:
    """Forces of joints, and of constraints between bodies, where they act."""
    system = trajectory.system
    names = known_names(system)[:MOST_ARROWS]
    try:
        wrenches = reactions_of_run(RunStates(system, trajectory.contact_events, motion.t, motion.q, motion.v), names)
    except ModelError:  # of a model that cannot be embedded
        return []
    poses = find_poses(system, motion.q)
    return [
        Arrow(name, "N", _place(system, name, poses), force) for name, (force, _) in zip(names, wrenches, strict=True)
    ]


def contact_forces(trajectory: Trajectory, motion: Motion) -> list[Arrow]:
    """Forces of stops that act in space, where they act; 0 while these are open, and none of impacts."""
    if trajectory.contact_events is None:
        return []
    run = RunStates(trajectory.system, trajectory.contact_events, motion.t, motion.q, motion.v)
    return [Arrow(name, "N", places, vectors) for name, places, vectors in contact_forces_in_space(run)[:MOST_ARROWS]]


def _place(system: System, name: str, poses: dict[str, Pose]) -> Array:
    """Places (S, 3) where a joint or a constraint acts."""
    assert system.model is not None
    model = system.model.resolved()
    if name in model.joints:
        body, point = model.joints[name].child, model.joints[name].offset
    else:
        element: Any = model.constraints[name]
        body, point = element.ends()[1]
    return poses[body].point(point)
