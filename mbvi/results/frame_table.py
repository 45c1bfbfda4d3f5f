"""Places, velocities and accelerations of frames in a run as one table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.arguments import checked_names
from mbvi.model.expressions import nearest, show, wrong
from mbvi.results.tables import Quantity, Table
from mbvi.system.kinematics import frame_names
from mbvi.system.poses import unit_quaternions
from mbvi.system.system import System

Array = np.ndarray
VECTORS = {
    "place": ("places of the frames' origins in the world", "m"),
    "velocity": ("velocities of the frames' origins, along the world's axes", "m/s"),
    "angular_velocity": ("angular velocities of the frames, along the world's axes", "rad/s"),
    "acceleration": ("accelerations of the frames' origins, along the world's axes", "m/s²"),
    "angular_acceleration": ("angular accelerations of the frames, along the world's axes", "rad/s²"),
}
ROTATION = "rotation"


def frame_table(system: System, frames: Sequence[str], t: Array, q: Array, v: Array, a: Array) -> Table:
    """The table of the motion of frames in many states.

    Parameters
    ----------
    system : System
        The system of a model.
    frames : sequence of str
        Bodies, BODY.FRAME of their named frames, or the name of a frame alone where one body has it.
    t : (states,)
        Times [s].
    q, v, a : (states, n)
        Coordinates, their rates and accelerations.

    Raises
    ------
    ModelError
        If there is no such frame.
    """
    t, q, v, a = system._series(t, q=q, v=v, a=a)
    chosen = [_found(system, name) for name in checked_names(frames, "frames", "a list of names of frames")]
    if not chosen:
        raise ModelError(f"frames: {wrong('one or more names of frames', 'none', 'name a body, or BODY.FRAME')}")
    velocities, accelerations = system.velocity_of_rates(q, v), system.velocity_of_rates(q, a)
    places, rotations, speeds, changes = [], [], [], []
    for name in chosen:
        place, rotation = system.frame_pose(name, q)
        places.append(place)
        rotations.append(unit_quaternions(rotation))
        speeds.append(system.frame_velocity(name, q, velocities))
        changes.append(system.frame_acceleration(name, q, velocities, accelerations))
    parts = [places, *_halves(speeds), *_halves(changes)]
    quantities = [
        Quantity(key, text, ("frame", "axis"), unit, np.stack(values, axis=1))
        for (key, (text, unit)), values in zip(VECTORS.items(), parts, strict=True)
    ]
    text = "rotations of the frames to the world, unit quaternions"
    quantities.insert(1, Quantity(ROTATION, text, ("frame", "component"), "", np.stack(rotations, axis=1)))
    labels = {"frame": tuple(chosen), "axis": tuple("xyz"), "component": tuple("wxyz")}
    return Table(t, tuple(quantities), labels, {}, {"name": system.name})


def _halves(twists: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Linear and angular parts of twists (states, 6)."""
    return [each[:, :3] for each in twists], [each[:, 3:] for each in twists]


def _found(system: System, name: str) -> str:
    """The frame of that name, or the one of a body whose own name it is."""
    known = list(frame_names(system))
    own = [each for each in known if each.endswith(f".{name}")]
    if name in known:
        return name
    if len(own) == 1:
        return own[0]
    alone = [each.rpartition(".")[2] for each in known]
    remedy = f"it is one of {', '.join(own)}" if own else nearest(name, dict.fromkeys([*known, *alone]))
    raise ModelError(f"frames: {wrong('a body, BODY.FRAME, or a frame that one body has', show(name), remedy)}")
