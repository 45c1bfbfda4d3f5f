"""Impacts and dry friction: wall time against the largest error of a place over the run, ours and the peers'.

All problems have one coordinate x and a mass of 1 kg, and a closed form. The peers have no laws of impact or of sticking: they
have stiff springs, whose stiffness grows here with the inverse of the step or its square, dampers that leave the restitution, and
bristles or slow creeping instead of sticking. So their errors fall with the step. Drake's contacts have no restitution of their
own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

import mbvi
from mbvi.errors import StepError
from mbvi.exact import Pendulum
from tests.benchmarks import peers
from tests.benchmarks.measure import medians
from tests.benchmarks.peers import Array
from tests.benchmarks.precision import ratios

GRAVITY = 9.81
STATES = 50  # at which errors are measured
SCHEMES = ("simpson", "lobatto4", "gauss3", "gauss4", "gauss6")
PARTS = (1, 2, 4, 8, 16, 32)  # steps of ours in the time between states
FINEST, LONGEST = 1e-13, 5.0  # error [m or rad] and wall time [s] after which no finer run is made
REPEATS = 3
ERRORS = (1e-2, 1e-4, 1e-6, 1e-8)
PEERS = ("mujoco", "exudyn", "drake")


class Problem(NamedTuple):
    """A mass of 1 kg with one coordinate x.

    name       of the problem
    exact      x at times (m,)
    duration   [s]
    start      x and its rate
    weight     constant force on it [N]
    stop       restitution of a stop at x = 0, above which it stays; None if there is none
    friction   dry friction [N], static and kinetic
    belt       speed of what it rubs on [m/s]
    stiffness  of a spring to the place y [N/m]
    drive      rate ω of y = cos ω t; 0 if y = 0 [rad/s]
    length     of a pendulum, whose angle is x [m]; 0 if there is none
    """

    name: str
    exact: Callable[[Array], Array]
    duration: float
    start: tuple[float, float]
    weight: float = 0.0
    stop: float | None = None
    friction: float = 0.0
    belt: float = 0.0
    stiffness: float = 0.0
    drive: float = 0.0
    length: float = 0.0


class Run(NamedTuple):
    """A method on a problem: its name, its settings from the coarsest, and setting → wall time [s] and x (STATES + 1,)."""

    name: str
    settings: tuple[float, ...]
    solve: Callable[[float], tuple[float, Array]]


def nonsmooth() -> list[dict]:
    """Impacts and dry friction, errors in m or rad: the cheapest of ours, and how many times longer that of each peer takes."""
    return ratios([_measured(problem) for problem in problems()], ERRORS)


def _measured(problem: Problem) -> dict:
    """The curves of all methods, as those of `precision`."""
    times = np.linspace(0, problem.duration, STATES + 1)
    exact, entry = problem.exact(times), {"problem": problem.name, "missing": {}}
    entrants = ours(problem)
    for name in PEERS:
        if peers.peer(name) is None:
            entry["missing"][name] = "not installed"
        elif found := import_module(f"tests.benchmarks.peers.{name}_contacts").contenders(problem, times):
            entrants += found
        else:
            entry["missing"][name] = "has no such law"
    return entry | {"curves": _curves(entrants, exact)}


def _curves(entrants: list[Run], exact: Array) -> dict[str, list[dict]]:
    """The error and the median wall time of every method with its settings, until nothing is gained."""
    points, measures = [], {}
    for run in entrants:
        for setting in run.settings:
            try:
                run.solve(setting)  # compiles
                seconds, x = run.solve(setting)
            except (StepError, RuntimeError):
                continue
            error = float(np.abs(x - exact).max())
            if math.isfinite(error):
                points.append((run.name, setting, error))
                measures[run.name, setting] = lambda run=run, setting=setting: run.solve(setting)[0]
            if error < FINEST or seconds > LONGEST:
                break
    seconds = medians(measures, REPEATS)
    curves: dict[str, list[dict]] = {run.name: [] for run in entrants}
    for name, setting, error in points:
        curves[name].append({"setting": setting, "error": error, "seconds": seconds[name, setting]})
    return curves


# ----------------------------------------------------------------------------------------------------- ours


def ours(problem: Problem) -> list[Run]:
    """Galerkin schemes."""
    system = mbvi.assemble(model_of(problem))
    column = len(system.coordinate_names) - 1
    steps = tuple(problem.duration / (STATES * part) for part in PARTS)

    def run(scheme: str) -> Run:
        def solve(step: float) -> tuple[float, Array]:
            every = round(problem.duration / step / STATES)
            found = mbvi.simulate(system, scheme, step=step, duration=problem.duration, every=every)
            carried = problem.belt * found.t if problem.friction else 0.0
            return found.statistics.seconds, found.q[:, column] + carried

        return Run(scheme, steps, solve)

    return list(map(run, SCHEMES))


def model_of(problem: Problem) -> mbvi.Model:
    """The problem as a model; on a belt the last coordinate is the place on that."""
    x, v = problem.start
    stop = {"lower": 0.0, "restitution": problem.stop}
    if problem.length:
        angle = {"angle": mbvi.Limits(**stop)} if problem.stop is not None else {}
        return mbvi.Model(
            name=problem.name,
            gravity=(0, 0, -GRAVITY),
            bodies={"mass": mbvi.Body(mass=1, center_of_mass=(0, 0, -problem.length))},
            joints={"x": mbvi.Revolute(parent="world", child="mass", axis=(0, 1, 0), limits=angle)},
            initial={"x": mbvi.Initial(position=x, velocity=v)},
        )
    place = {"displacement": mbvi.Limits(**stop)} if problem.stop is not None else {}
    bodies, joints, constraints, forces = {"mass": mbvi.Body(mass=1)}, {}, {}, {}
    base = "world"
    if problem.belt:
        base = "belt"
        bodies = {"belt": mbvi.Body(mass=1), **bodies}
        joints["belt"] = mbvi.Prismatic(parent="world", child="belt", axis=(1, 0, 0))
        constraints["motor"] = mbvi.PrescribedCoordinate(joint="belt", value=f"{problem.belt}*t")
    joints["x"] = mbvi.Prismatic(parent=base, child="mass", axis=(1, 0, 0), limits=place)
    far = 10.0
    if problem.stiffness:
        end = {"body_a": "world", "point_a": (-far, 0, 0), "body_b": "mass"}
        forces["spring"] = mbvi.Spring(**end, stiffness=problem.stiffness, rest_length=far)
    if problem.drive:
        forces["drive"] = mbvi.JointForce(joint="x", value=f"{problem.stiffness}*cos({problem.drive}*t)")
    contacts = {"rub": mbvi.DryFriction(joint="x", kinetic=problem.friction)} if problem.friction else {}
    initial = {"x": mbvi.Initial(position=x, velocity=v - problem.belt)}
    if problem.belt:
        initial["belt"] = mbvi.Initial(velocity=problem.belt)
    parts = {"bodies": bodies, "joints": joints, "constraints": constraints, "forces": forces, "contacts": contacts}
    return mbvi.Model(name=problem.name, gravity=(problem.weight, 0, 0), **parts, initial=initial)


# ---------------------------------------------------------------------------------------------- closed forms


def problems() -> list[Problem]:
    """A bouncing ball, a block on an incline, a pendulum at a stop, a block on a belt, and an impact oscillator."""
    swing = Pendulum(length=1.0, gravity=GRAVITY, angle=1.0)
    return [
        Problem("bouncing ball, e = 0.8", bounces, 2.5, (1.0, 0.0), weight=-GRAVITY, stop=0.8),
        Problem("block on an incline", slide, 0.5, (0.0, 2.0), weight=-4.0, friction=5.0),
        Problem("pendulum at a stop, e = 1", lambda t: np.abs(swing(t)[0]), 5.0, (1.0, 0.0), stop=1.0, length=1.0),
        Problem("block on a belt", on_belt, 2.5, (0.0, 0.0), friction=1.0, belt=0.1, stiffness=10.0),
        Problem("impact oscillator, e = 0.8", driven, 10.0, (1.0, 0.0), stop=0.8, stiffness=1.0, drive=2.5),
    ]


def bounces(t: Array) -> Array:
    """A ball that is dropped from 1 m."""
    v, found, begin = math.sqrt(2 * GRAVITY), np.full_like(t, np.nan), -math.sqrt(2 / GRAVITY)
    while begin < t[-1]:
        late = t - begin
        is_here = (late >= 0) & (late <= 2 * v / GRAVITY)
        found[is_here] = (v * late - GRAVITY * late**2 / 2)[is_here]
        begin, v = begin + 2 * v / GRAVITY, 0.8 * v
    return found


def slide(t: Array) -> Array:
    """A block that is pushed up an incline, slows down by 9 m/s², and sticks."""
    late = np.minimum(t, 2 / 9)
    return 2 * late - 4.5 * late**2


def on_belt(t: Array) -> Array:
    """A block that a belt takes along until it sticks to it; a spring then pulls it off."""
    omega = math.sqrt(10)
    sticks = math.asin(1 / omega) / omega
    slips = sticks + (0.1 - 0.1 * (1 - math.cos(omega * sticks))) / 0.1
    held = 0.1 - 0.1 * (slips - t)
    return np.where(
        t < sticks,
        0.1 * (1 - np.cos(omega * t)),
        np.where(t < slips, held, 0.1 + 0.1 / omega * np.sin(omega * (t - slips))),
    )


def driven(t: Array) -> Array:
    """x'' + x = cos ω t above a stop at 0, from impact to impact."""
    omega = 2.5
    forced = 1 / (1 - omega**2)
    x, v, begin, found = 1.0, 0.0, 0.0, np.full_like(t, np.nan)
    while begin < t[-1]:
        C, D = x - forced * math.cos(omega * begin), v + forced * omega * math.sin(omega * begin)

        def place(s: Array, C: float = C, D: float = D, begin: float = begin) -> Array:
            return C * np.cos(s - begin) + D * np.sin(s - begin) + forced * np.cos(omega * s)

        fine = begin + np.arange(1, 4000) * 1e-3
        first = next(i for i, (a, b) in enumerate(pairwise(place(fine))) if a > 0 >= b)
        end = brentq(place, fine[first], fine[first + 1], xtol=1e-15)
        is_here = (t >= begin) & (t <= end)
        found[is_here] = place(t[is_here])
        late = end - begin
        v = -0.8 * (D * math.cos(late) - C * math.sin(late) - forced * omega * math.sin(omega * end))
        x, begin = 0.0, end
    return found
