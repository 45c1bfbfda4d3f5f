"""Motions of robots against DOP853 on Pinocchio's equations: falling freely, and held by springs and dampers in all joints.

    python -m tests.campaigns.robot_motions [FOLDER] [--seconds 2]

A quadruped that floats and an arm that is fixed; FOLDER is that of the package example-robot-data by default.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.integrate import DOP853

import mbvi
from mbvi.system.exchange import from_pinocchio, to_pinocchio

from .urdf import as_read, default_folder

STIFFNESS, DAMPING = 20.0, 1.0
TOLERANCE = 1e-10
ROBOTS = (("go2", True), ("ur5_robot", False))


def model_of(path: Path, floating: bool, is_held: bool) -> mbvi.Model:
    """A robot without damping and mimics of its own; if held, by a spring and a damper in every joint."""
    model = mbvi.load(path, floating=floating, geometry="none")
    forces: dict[str, object] = {}
    for name, joint in model.joints.items() if is_held else ():
        if len(joint.coordinate_names) == 1:
            forces[f"{name} spring"] = mbvi.JointSpring(joint=name, stiffness=STIFFNESS)
            forces[f"{name} damper"] = mbvi.JointDamper(joint=name, damping=DAMPING)
    return model.model_copy(update={"forces": forces, "constraints": {}})


def difference(path: Path, floating: bool, is_held: bool, seconds: float, step: float) -> float:
    """Largest difference of coordinates at the end of a run that starts with random rates [rad, m]."""
    import pinocchio as pin

    model = model_of(path, floating, is_held)
    robot = pin.buildModelFromXML(as_read(path, model), *((pin.JointModelFreeFlyer(),) if floating else ()))
    data, system = robot.createData(), mbvi.assemble(model)
    own = [joint for joint in list(robot.joints)[1:] if joint.nv == 1]
    v_pin = 0.3 * np.random.default_rng(5).normal(size=robot.nv)
    q_pin, _ = to_pinocchio(system, robot, system.initial_q, system.initial_v)

    def rates(_: float, x: np.ndarray) -> np.ndarray:
        q, v = x[: robot.nq].copy(), x[robot.nq :]
        force = np.zeros(robot.nv)
        for joint in own if is_held else ():
            force[joint.idx_v] = -STIFFNESS * angle(q, joint) - DAMPING * v[joint.idx_v]
        return np.concatenate([q_rates(q, v, robot), pin.aba(robot, data, pin.normalize(robot, q), v, force)])

    exact = DOP853(rates, 0.0, np.concatenate([q_pin, v_pin]), seconds, rtol=1e-13, atol=1e-13)
    while exact.status == "running":
        exact.step()
    q, v = from_pinocchio(system, robot, q_pin, v_pin)
    run = mbvi.simulate(system, "gauss4", step=step, duration=seconds, initial_q=q, initial_v=v)
    reached, _ = to_pinocchio(system, robot, run.q[-1], run.v[-1])
    return float(np.abs(pin.difference(robot, pin.normalize(robot, exact.y[: robot.nq]), reached)).max())


def angle(q: np.ndarray, joint: object) -> float:
    """The coordinate of a joint, which may be stored as cosine and sine."""
    at = joint.idx_q
    return float(np.arctan2(q[at + 1], q[at]) if joint.nq == 2 else q[at])


def q_rates(q: np.ndarray, v: np.ndarray, robot: object) -> np.ndarray:
    """The rates of Pinocchio's q: of a floating root R v and ½ a ⋆ ω, of cosine and sine, and of others v itself."""
    found = np.zeros(robot.nq)
    for joint in list(robot.joints)[1:]:
        at, to = joint.idx_q, joint.idx_v
        if joint.nv == 6:
            vector, w, omega = q[at + 3 : at + 6], q[at + 6], v[to + 3 : to + 6]
            turned = v[to : to + 3] + 2 * np.cross(vector, np.cross(vector, v[to : to + 3]) + w * v[to : to + 3])
            found[at : at + 3] = turned
            found[at + 3 : at + 6], found[at + 6] = (w * omega + np.cross(vector, omega)) / 2, -vector @ omega / 2
        elif joint.nq == 2:
            found[at], found[at + 1] = -q[at + 1] * v[to], q[at] * v[to]
        else:
            found[at] = v[to]
    return found


def main() -> None:
    """Compare all robots."""
    parser = argparse.ArgumentParser(description="motions of robots against DOP853 on Pinocchio")
    parser.add_argument("folder", type=Path, nargs="?", help="by default that of the package example-robot-data")
    parser.add_argument("--seconds", type=float, default=2.0, help="of motion")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", mbvi.errors.MbviWarning)
    folder, wrong = arguments.folder or default_folder(), 0
    for name, floating in ROBOTS:
        path = next(folder.rglob(f"{name}.urdf"))
        for is_held in (False, True):
            began = time.perf_counter()
            off = difference(path, floating, is_held, arguments.seconds, 0.002)
            wrong += off > TOLERANCE
            how = f"{'floating' if floating else 'fixed'}, {'held' if is_held else 'free'}"
            print(f"{name:12} {how:16} {off:8.1e}   {time.perf_counter() - began:.0f} s", flush=True)
    print(f"{2 * len(ROBOTS)} motions of {arguments.seconds:g} s: {wrong} off by more than {TOLERANCE:g}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
