"""What pages that follow a run are sent: its frames, made of single states, and kept until they are old."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from mbvi.animation.curves import MOST_CURVES, Arrow, Curve
from mbvi.animation.motion import Motion
from mbvi.animation.page import html, look
from mbvi.animation.scene import MOST_SHOWN, Carried, Scene, find_poses, make_scene
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.model.fields import WORLD
from mbvi.system.system import System

Array = np.ndarray
KEPT = 900
"""Frames that are kept for those that are slow, and for pages that are opened later."""
MOST_JOINTS = 60
"""Coordinates that the view looks at, at most; of more, some."""
TURNS = (-np.pi / 2, np.pi / 2, np.pi)
"""Turns of every angle that the view has room for [rad]."""


class State(NamedTuple):
    """A time [s], and coordinates and momenta (n,)."""

    t: float
    q: Array
    p: Array


class Frame(NamedTuple):
    """A frame: its number, its time [s], and its numbers as 4-byte floats."""

    number: int
    t: float
    row: bytes


class Frames:
    """The last frames of a run, for any number of threads that wait for the next ones.

    Attributes
    ----------
    status : str
        What a page says, as that the run has failed.
    look : int
        How often bodies have begun to look otherwise.
    """

    def __init__(self) -> None:
        self._frames: deque[Frame] = deque(maxlen=KEPT)
        self._condition = threading.Condition()
        self._number = self._watchers = 0
        self.status, self.look = "", 0

    @property
    def are_watched(self) -> bool:
        """Whether someone waits for them."""
        return self._watchers > 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Wait for them from here on."""
        with self._condition:
            self._watchers += 1
        try:
            yield
        finally:
            with self._condition:
                self._watchers -= 1

    def add(self, t: float, row: Array) -> None:
        """Add a frame; one of an earlier time begins anew."""
        with self._condition:
            if self._frames and t < self._frames[-1].t:
                self._frames.clear()
            self._frames.append(Frame(self._number, t, row.astype("<f4").tobytes()))
            self._number += 1
            self._condition.notify_all()

    def after(self, number: int, timeout: float) -> list[Frame]:
        """The frames after that of a number, once there are some; none if none come in time [s]."""
        with self._condition:
            self._condition.wait_for(lambda: self._number > number + 1, timeout)
            return [frame for frame in self._frames if frame.number > number]


class Screen:
    """What is shown of the states of a system.

    Parameters
    ----------
    system : System
        The system of a model.
    start : ndarray (n,)
        Coordinates from which the view takes its size: it has room for turns of every joint.
    trails : sequence of str or None
        As of `animate`.

    Raises
    ------
    ModelError
        If the system has no bodies, or there is no such trail.
    """

    def __init__(self, system: System, start: Array, trails: Sequence[str] | None = None) -> None:
        if not system.frames:
            remedy = "draw its coordinates"
            raise ModelError(f"follow: {wrong('a system with bodies', f'{system.name!r}, which has none', remedy)}")
        self.system = system
        self._scene = _scene(system, start, trails)
        things = self._scene.things
        self._moving = [i for i, each in enumerate(things) if each.hold != Carried(WORLD)]
        self._names = list(islice(zip(system.coordinate_names, system.coordinate_units, strict=True), MOST_CURVES))

    @property
    def columns(self) -> list[tuple[str, int, str, int]]:
        """The parts of a row: of what, its number there, what of it, and how many numbers."""
        things = self._scene.things
        found: list[tuple[str, int, str, int]] = []
        for i in self._moving:
            found += [("things", i, "places", 3), ("things", i, "quaternions", 4)]
            found += [] if things[i].scales is None else [("things", i, "scales", 3)]
        found += [("trails", i, "places", 3) for i in range(len(self._scene.trails))]
        return found + [("curves", i, "values", 1) for i in range(1 + len(self._names))]

    def look(self) -> dict[str, Any]:
        """What bodies look like, and how many numbers a row has."""
        return look(self._scene) | {"width": sum(width for *_, width in self.columns)}

    def row(self, state: State) -> Array:
        """The numbers of a frame."""
        poses = find_poses(self.system, state.q[None])
        things = (self._scene.things[i].hold.placed(poses) for i in self._moving)
        parts = [part.ravel() for each in things for part in each if part is not None]
        parts += [poses[trail.body].point(trail.point).ravel() for trail in self._scene.trails]
        return np.concatenate([*parts, [self._energy(state)], state.q[: len(self._names)]])

    def page(self, state: State, speed: float, live: Mapping[str, Any]) -> str:
        """The page, which shows a state until frames come."""
        scene = self._scene
        poses = find_poses(self.system, state.q[None])
        things = []
        for each in scene.things:
            places, quaternions, scales = each.hold.placed(poses)
            things.append(replace(each, places=places, quaternions=quaternions, scales=scales))
        trails = tuple(replace(each, places=poses[each.body].point(each.point)) for each in scene.trails)
        motion = Motion(speed, np.array([state.t]), state.q[None], np.zeros((1, len(state.q))))
        shown = replace(scene, motion=motion, things=tuple(things), trails=trails)
        curves = [Curve("energy", "J", np.array([self._energy(state)]))]
        curves += [Curve(name, unit, state.q[i : i + 1]) for i, (name, unit) in enumerate(self._names)]
        none = Arrow("angular momentum", "kg m²/s", np.zeros((1, 3)), np.zeros((1, 3)))
        model = self.system.model
        text = "" if model is None else " ".join(model.description.split())
        return html(shown, text, (), motion, curves, none, [], live={"columns": self.columns, **live})

    def _energy(self, state: State) -> float:
        """The energy [J]; not a number where velocities cannot be found."""
        t, q, p = np.array([state.t]), state.q[None], state.p[None]
        try:
            v = self.system.velocities(t, q, p)
        except ModelError:
            return np.nan
        kinetic, potential = self.system.energies(t, q, v)
        return float(kinetic[0] + potential[0])


def _scene(system: System, start: Array, trails: Sequence[str] | None) -> Scene:
    """A scene with room for what the joints may do, each by itself: turns, and ways as long as all is large."""
    size = make_scene(system, _motion(start[None]), (), MOST_SHOWN).size
    states = [start]
    units = list(enumerate(system.coordinate_units))
    for i, unit in units[:: 1 + len(units) // MOST_JOINTS]:
        for change in TURNS if unit == "rad" else (-size, size) if unit == "m" else ():
            states.append(start + change * np.eye(len(start))[i])
    return make_scene(system, _motion(np.array(states)), trails, MOST_SHOWN)


def _motion(q: Array) -> Motion:
    return Motion(1.0, np.arange(float(len(q))), q, np.zeros_like(q))
