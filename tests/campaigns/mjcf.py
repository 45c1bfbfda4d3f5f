"""MJCF files against MuJoCo: total mass, M(q), the bias, M a + bias, and states there and back, at random states.

    python -m tests.campaigns.mjcf FOLDER [--states 20] [--markdown]

It reads all files below a folder that MuJoCo itself compiles, as those of the wheels of dm_control and gymnasium-robotics.
Left out on both sides are armatures of free and ball joints and of tendons, which mbvi lacks, and forces, which are no part of
the bias.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import mbvi
from mbvi.model.imports.mjcf import IN_PARENT, SLIDE
from mbvi.system.exchange import from_mujoco, to_mujoco
from mbvi.system.system import System

from .urdf import TOLERANCE, Row, forces, off


def compared(path: Path, search: Path, states: int, seed: int = 0) -> Row:
    """The differences of a robot in both programs."""
    import mujoco

    model = mbvi.load(path, geometry="none", search=[search])
    robot = mujoco.MjSpec.from_file(str(path)).compile()
    leave_out(robot)
    data, system, random = (
        mujoco.MjData(robot),
        mbvi.assemble(model.model_copy(update={"forces": {}})),
        np.random.default_rng(seed),
    )
    found = []
    for _ in range(states):
        data.qpos[:] = robot.qpos0
        data.qvel[:] = random.normal(size=robot.nv)
        mujoco.mj_integratePos(robot, data.qpos, random.normal(size=robot.nv), 1.0)
        mujoco.mj_forward(robot, data)
        q, v = from_mujoco(system, robot, data.qpos, data.qvel)
        T = np.array([from_mujoco(system, robot, data.qpos, unit)[1] for unit in np.eye(robot.nv)]).T
        T = T.reshape(system.dimension, robot.nv)
        M = np.zeros((robot.nv, robot.nv))
        full_matrix(mujoco, robot, data, M)
        still, moving = accelerations(system, q, v), random.normal(size=robot.nv)
        bias, all_forces = (T.T @ forces(system, q, v, still + T @ a) for a in (np.zeros(robot.nv), moving))
        q_back, v_back = to_mujoco(system, robot, q, v)
        step = np.zeros(robot.nv)
        mujoco.mj_differentiatePos(robot, step, 1.0, data.qpos, q_back)
        maps = max(float(np.abs(step).max(initial=0.0)), off(v_back, data.qvel))
        found.append([off(T.T @ system.mass_matrix(q) @ T, M), off(bias, data.qfrc_bias)])
        found[-1] += [off(all_forces, M @ moving + data.qfrc_bias), maps]
    masses = [mbvi.mass_properties(body).mass for body in model.resolved().bodies.values()]
    mass = off(np.array(sum(masses)), np.array(robot.body_mass.sum()))
    worst = np.max(found, axis=0) if found and robot.nv else np.zeros(4)
    return Row(path.stem, len(model.bodies), robot.nv, mass, *worst.tolist(), bool(model.import_report.mended))


def leave_out(robot: Any) -> None:
    """Take the armatures that mbvi lacks from a compiled model."""
    kinds = robot.jnt_type[robot.dof_jntid]
    robot.dof_armature[kinds < SLIDE] = 0.0
    robot.tendon_armature[:] = 0.0
    for i, (kind, (joint, _)) in enumerate(zip(robot.actuator_trntype, robot.actuator_trnid, strict=True)):
        if kind > IN_PARENT or robot.jnt_type[joint] < SLIDE:
            robot.actuator_armature[i] = 0.0


def full_matrix(mujoco: Any, robot: Any, data: Any, M: Any) -> None:
    """M(q) of MuJoCo, whose function has changed its arguments."""
    try:
        mujoco.mj_fullM(robot, M, data.qM)
    except (TypeError, AttributeError):
        mujoco.mj_fullM(robot, data, M)


def accelerations(system: System, q: Any, v: Any) -> Any:
    """The system's accelerations where MuJoCo's are 0: ä = −¼ |ω|² a of quaternions."""
    a = np.zeros(system.dimension)
    for i, name in enumerate(system.coordinate_names):
        if name.endswith(".qw"):
            part = slice(i, i + 4)
            a[part] = -(v[part] @ v[part]) * q[part]
    return a


def main() -> None:
    """Compare all files below a folder."""
    import mujoco

    parser = argparse.ArgumentParser(description="MJCF files against MuJoCo")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--states", type=int, default=20, help="random states of each robot")
    parser.add_argument("--markdown", action="store_true", help="print a table of the worst differences")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", mbvi.errors.MbviWarning)
    mujoco.set_mju_user_warning(lambda text: None)  # else it writes a file into the working directory
    began, rows, refused, wrong = time.perf_counter(), [], [], []
    for path in sorted(arguments.folder.rglob("*.xml")):
        try:
            if mujoco.MjModel.from_xml_path(str(path)).nbody < 2:
                continue
        except ValueError:
            continue
        try:
            row = compared(path, arguments.folder, arguments.states)
        except mbvi.ModelError as error:
            refused.append(path.name)
            print(f"refused {path.name}: {' '.join(str(error).split())}", file=sys.stderr)
            continue
        rows.append(row)
        wrong += [row.name] if row.worst > TOLERANCE else []
        numbers = " ".join(f"{value:8.1e}" for value in row[3:8])
        cells = f"| {row.name} | {row.bodies} | {row.motions} | {row.worst:.1e} |"
        print(cells if arguments.markdown else f"{row.name:32} {row.bodies:4} {row.motions:4} {numbers}", flush=True)
    print(
        f"{len(rows) + len(refused)} files that MuJoCo compiles: {len(rows)} compared, {len(refused)} refused; {len(wrong)} "
        f"off by more than {TOLERANCE:g}{': ' if wrong else ''}{', '.join(wrong)}; {time.perf_counter() - began:.0f} s"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
