"""Inverse and forward dynamics, their derivatives and Jacobians of robots and of a chain, beside Pinocchio and MuJoCo."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np

import mbvi
from mbvi.kernels.mechanics import forward_dynamics, frames, inverse_dynamics
from mbvi.system.kinematics import checked_frame
from mbvi.system.states import dynamics_work
from tests.benchmarks import peers
from tests.benchmarks.peers.tree import tree_of
from tests.benchmarks.systems import chain

ROBOTS = {"UR5": ("ur5_robot.urdf", False), "Talos, floating": ("talos_reduced.urdf", True)}
STATES, REPEATS, BATCH = 64, 300, 10_000


def robots() -> list[dict]:
    """One evaluation [µs] in compiled loops, beside Pinocchio's and MuJoCo's; ratios to Pinocchio's, and one call from Python."""
    rows = []
    for name, system, theirs in _systems():
        ours = _ours(system)
        measured = _least(ours | theirs)
        for what in ("inverse dynamics", "forward dynamics", "inverse derivatives", "forward derivatives", "Jacobian"):
            row = {"robot": name, "velocities": system.nv, "what": what, "mbvi": measured[what]}
            if f"Pinocchio {what}" in measured:
                row["Pinocchio"] = measured[f"Pinocchio {what}"] - measured.get(f"Pinocchio call of {what}", 0.0)
                row["mbvi / Pinocchio"] = row["mbvi"] / row["Pinocchio"]
            if f"MuJoCo {what}" in measured:
                row["MuJoCo"] = measured[f"MuJoCo {what}"] - measured[f"MuJoCo call of {what}"]
            if f"call of {what}" in measured:
                row["one call from Python"] = measured[f"call of {what}"]
            rows.append(row)
        rows.append(
            {"robot": name, "velocities": system.nv, "what": "10 000 states, two cores / one"} | _on_cores(system)
        )
    return rows


def _least(measures: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The least of many short repeats, interleaved: what else runs on the machine makes each longer, and none shorter."""
    found = dict.fromkeys(measures, np.inf)
    for _ in range(REPEATS):
        for name, measure in measures.items():
            found[name] = min(found[name], measure())
    return found


def _timed(count: int, function: Callable, *arguments: Any) -> Callable[[], float]:
    """A measure of what one of `count` evaluations takes that a call makes [µs]."""

    def measure() -> float:
        began = time.perf_counter()
        function(*arguments)
        return 1e6 * (time.perf_counter() - began) / count

    return measure


def _called(function: Callable, *arguments: Any) -> Callable[[], float]:
    """A measure of one call, made 50 times from Python [µs]."""

    def many() -> None:
        for _ in range(50):
            function(*arguments)

    return _timed(50, many)


def _states(system: mbvi.System, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random, nv = np.random.default_rng(0), system.nv
    q = system.integrate(system.given_q, random.normal(size=(count, nv)))
    return q, random.normal(size=(count, nv)), random.normal(size=(count, nv))


def _ours(system: mbvi.System) -> dict[str, Callable[[], float]]:
    """Measures of one evaluation, in a compiled loop over states, and in calls from Python."""
    (q, v, a), nv, t = _states(system, STATES), system.nv, np.zeros((1, 1))
    out, matrices, J = (
        np.empty((STATES, nv)),
        [np.empty((STATES, nv, nv)) for _ in range(3)],
        np.empty((STATES, 6 * nv)),
    )
    arrays, work, own = system.arrays, system.work, dynamics_work(system)
    body = system.body_names[-1]
    link, place = checked_frame(system, body)
    of = arrays, work, own, inverse_dynamics.WITH_FORCES
    one = q[0].copy(), v[0].copy(), a[0].copy()
    measures = {
        "inverse dynamics": _timed(STATES, inverse_dynamics.fill_inverse_dynamics, out, *of, t, q, v, a),
        "forward dynamics": _timed(STATES, forward_dynamics.fill_forward_dynamics, out, *of, t, q, v, a),
        "inverse derivatives": _timed(STATES, forward_dynamics.fill_derivatives, *matrices, *of, 0, t, q, v, a),
        "forward derivatives": _timed(STATES, forward_dynamics.fill_derivatives, *matrices, *of, 1, t, q, v, a),
        "Jacobian": _timed(
            STATES, frames.fill_frame_quantities, J, arrays, own, link, place, frames.BODY, frames.JACOBIAN, q, v, a
        ),
        "call of inverse dynamics": _called(system.inverse_dynamics, *one),
        "call of forward dynamics": _called(system.forward_dynamics, *one),
        "call of inverse derivatives": _called(system.inverse_dynamics_derivatives, *one),
        "call of forward derivatives": _called(system.forward_dynamics_derivatives, *one),
        "call of Jacobian": _called(system.frame_jacobian, body, one[0], "body"),
    }
    for measure in measures.values():
        measure()  # compile
    return measures


def _on_cores(system: mbvi.System) -> dict[str, float]:
    """What 10 000 states take on two cores, relative to one."""
    q, v, a = _states(system, BATCH)

    def on(count: int) -> Callable[[], float]:
        measure = _timed(BATCH, system.inverse_dynamics, q, v, a)

        def shared() -> float:
            with _cores(count):
                return measure()

        return shared

    found = _least({"one": on(1), "two": on(2)})
    return {"mbvi": found["one"], "speed-up": found["one"] / found["two"]}


class _cores:
    """Let batches be shared among so many cores."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> None:
        from mbvi.system import states

        self.before, states.cores = states.cores, lambda: self.count

    def __exit__(self, *error: object) -> None:
        from mbvi.system import states

        states.cores = self.before


def _systems() -> Iterator[tuple[str, mbvi.System, dict[str, Callable[[], float]]]]:
    """Robots of the package example-robot-data, if that is installed, and a chain of 50 rods; and what peers measure of them."""
    pinocchio, mujoco = peers.peer("pinocchio"), peers.peer("mujoco")
    for name, (file, is_floating) in ROBOTS.items():
        path = _path(file)
        if path is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mbvi.errors.MbviWarning)
            model = mbvi.load(path, floating=is_floating, geometry="none")
            system = mbvi.assemble(model.replaced({"forces": {}}))  # peers have neither its motors nor its dampers
        text = _as_read(path, model)
        theirs = pinocchio.dynamics(pinocchio.robot_of(text, is_floating), STATES) if pinocchio else {}
        theirs |= mujoco.dynamics(mujoco.robot_of(text, is_floating)) if mujoco else {}
        yield name, system, theirs
    model = chain(50)
    theirs = pinocchio.dynamics(pinocchio.model_of(tree_of(model)), STATES) if pinocchio else {}
    theirs |= mujoco.dynamics(mujoco.model_of(tree_of(model))) if mujoco else {}
    yield "chain of 50", mbvi.assemble(model), theirs


def _as_read(path: Path, model: mbvi.Model) -> str:
    from tests.campaigns.urdf import as_read

    return as_read(path, model)


def _path(name: str) -> Path | None:
    """A file of the package example-robot-data, if that is installed."""
    try:
        found = files("example-robot-data") or []
    except PackageNotFoundError:
        return None
    return next((Path(str(each.locate())) for each in found if each.name == name), None)
