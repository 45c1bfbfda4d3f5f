"""SDF files against Drake: total mass, M(q), the bias, and M a + bias at random states, with all loops cut open.

    python -m tests.campaigns.sdf [FOLDER] [--states 20] [--markdown]

It reads all files below a folder, by default those of the package example-robot-data. The joints that close loops and the
gearboxes are left out on both sides (Drake has no gearboxes, and no links with two parents). Inertias that mbvi changed are
changed in what Drake gets. It needs Drake (pip install drake).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mbvi
from mbvi.model.rotations import rotation_matrix
from mbvi.system.given import quaternion_rates, rotation_quaternion
from mbvi.system.system import System

from .urdf import TOLERANCE, default_folder, forces, off

Array = np.ndarray


class Row(NamedTuple):
    """How far a robot is from Drake's, relative to the largest entry, and its numbers of bodies, motions and loops."""

    name: str
    bodies: int
    motions: int
    loops: int
    mass: float
    matrix: float
    bias: float
    forces: float

    @property
    def worst(self) -> float:
        """The largest of the differences."""
        return max(self[4:])


def compared(path: Path, states: int, seed: int = 0) -> Row:
    """The differences of a robot in both programs."""
    model = mbvi.load(path, geometry="none")
    tree, plant = opened(model), drake_plant(path, model)
    context, random = plant.CreateDefaultContext(), np.random.default_rng(seed)
    system, found = mbvi.assemble(tree).unforced, []
    for _ in range(states):
        q_there, v_there, a_there = random_state(plant, random)
        plant.SetPositions(context, q_there)
        plant.SetVelocities(context, v_there)
        q, v, a = state(system, plant, q_there, v_there, a_there)
        still = state(system, plant, q_there, v_there, 0 * a_there)[2]
        T = np.array([state(system, plant, q_there, unit, unit)[1] for unit in np.eye(len(v_there))]).T
        M = plant.CalcMassMatrixViaInverseDynamics(context)
        bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
        ours = T.T @ system.mass_matrix(q) @ T, T.T @ forces(system, q, v, still), T.T @ forces(system, q, v, a)
        found.append([off(*pair) for pair in zip(ours, (M, bias, M @ a_there + bias), strict=True)])
    mass = sum(mbvi.mass_properties(body).mass for body in tree.resolved().bodies.values())
    loops = len(model.joints) - len(tree.joints)
    worst = np.max(found, axis=0).tolist()
    return Row(
        path.stem, len(model.bodies), plant.num_velocities(), loops, off(mass, plant.CalcTotalMass(context)), *worst
    )


def opened(model: mbvi.Model) -> mbvi.Model:
    """A model without the joints that close loops, without couplings and forces."""
    kept = {name: joint for name, joint in model.joints.items() if not joint.cut}
    return model.model_copy(update={"joints": kept, "constraints": {}, "forces": {}})


def drake_plant(path: Path, model: mbvi.Model) -> Any:
    """What Drake makes of a file without gearboxes and joints that close loops, with the inertias that mbvi took."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    tree = ElementTree.parse(path)
    for parent in [*tree.getroot().iter("model")]:
        for joint in parent.findall("joint"):
            name = joint.get("name")
            if joint.get("type") == "gearbox" or model.joints[name].cut:
                parent.remove(joint)
        for link in parent.findall("link"):
            take_inertia(link, model)
            for part in (*link.findall("visual"), *link.findall("collision")):
                link.remove(part)
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(ElementTree.tostring(tree.getroot(), encoding="unicode"), "sdf")
    plant.Finalize()
    return plant


def take_inertia(link: Any, model: mbvi.Model) -> None:
    """Give a link the inertia that mbvi took, if that is another one."""
    name, inertial = link.get("name"), link.find("inertial")
    if name not in model.import_report.mended:
        return
    place = " ".join(map(repr, model.bodies[name].center_of_mass))
    inertial.find("pose").text = f"{place} 0 0 0"
    for key, value in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), model.bodies[name].inertia, strict=True):
        inertial.find("inertia").find(key).text = repr(value)


def joints_of(plant: Any) -> list[Any]:
    """Drake's joints that move."""
    return [joint for i in plant.GetJointIndices() if (joint := plant.get_joint(i)).num_velocities()]


def random_state(plant: Any, random: np.random.Generator) -> tuple[Array, Array, Array]:
    """Random positions, velocities and accelerations of Drake's."""
    q = random.normal(size=plant.num_positions())
    for joint in joints_of(plant):
        if joint.type_name() == "quaternion_floating":
            part = slice(joint.position_start(), joint.position_start() + 4)
            q[part] /= np.linalg.norm(q[part])
    return q, random.normal(size=plant.num_velocities()), random.normal(size=plant.num_velocities())


def state(system: System, plant: Any, q_there: Array, v_there: Array, a_there: Array) -> tuple[Array, Array, Array]:
    """The coordinates, rates and accelerations of the system from Drake's.

    Drake has a floating body as its quaternion w, x, y, z and its place, and its angular velocity and velocity in the
    world; and a ball joint as roll, pitch and yaw, and its angular velocity in the joint's frame of the parent.
    """
    q, v, a = (np.zeros(system.dimension) for _ in range(3))
    model = system.model.resolved()
    for joint in joints_of(plant):
        at, to = joint.position_start(), joint.velocity_start()
        own = (
            q_there[at : at + joint.num_positions()],
            *(each[to : to + joint.num_velocities()] for each in (v_there, a_there)),
        )
        if joint.type_name() == "quaternion_floating":
            name = next(key for key, each in model.joints.items() if each.type == "free" and each.child == joint.name())
            first = system.homes.joints[name]
            for out, value in zip((q, v, a), (own[0][4:], own[1][3:], own[2][3:]), strict=True):
                out[first : first + 3] = value
            turn(q, v, a, first + 3, own[0][:4], own[1][:3], own[2][:3])
            continue
        first = system.homes.joints[joint.name()]
        if joint.type_name() == "ball_rpy":
            frame = joint.frame_on_parent().GetFixedPoseInBodyFrame().rotation().matrix()
            turned = frame @ rotation_matrix(rotation_quaternion(fixed(own[0]))) @ frame.T
            turn(q, v, a, first, rotation_quaternion(turned), frame @ own[1], frame @ own[2])
        else:
            q[first], v[first], a[first] = (float(each[0]) for each in own)
    return q, v, a


def fixed(angles: Array) -> Array:
    """The rotation matrix of turns about the fixed axes x, y and z."""
    x, y, z = (rotation_matrix(angle * axis) for angle, axis in zip(angles, np.eye(3), strict=True))
    return z @ y @ x


def turn(q: Array, v: Array, a: Array, first: int, quaternion: Array, omega: Array, alpha: Array) -> None:
    """Write a quaternion, its rates ½ ω ⋆ q, and ½ α ⋆ q − ¼ |ω|² q, of ω and α in the axes of the parent."""
    part, inward = slice(first, first + 4), rotation_matrix(quaternion).T
    q[part], v[part] = quaternion, quaternion_rates(quaternion, inward @ omega)
    a[part] = quaternion_rates(quaternion, inward @ alpha) - omega @ omega / 4 * quaternion


def main() -> None:
    """Compare all files below a folder."""
    parser = argparse.ArgumentParser(description="SDF files against Drake")
    parser.add_argument("folder", type=Path, nargs="?", help="by default that of the package example-robot-data")
    parser.add_argument("--states", type=int, default=20, help="random states of each robot")
    parser.add_argument("--markdown", action="store_true", help="print a table of the worst differences")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", mbvi.errors.MbviWarning)
    began, rows = time.perf_counter(), []
    for path in sorted((arguments.folder or default_folder()).rglob("*.sdf")):
        row = compared(path, arguments.states)
        rows.append(row)
        numbers = " ".join(f"{value:8.1e}" for value in row[4:])
        cells = f"| {row.name} | {row.bodies} | {row.loops} | {row.motions} | {row.worst:.1e} |"
        plain = f"{row.name:32} {row.bodies:4} {row.loops:4} {row.motions:4} {numbers}"
        print(cells if arguments.markdown else plain, flush=True)
    wrong = [row.name for row in rows if row.worst > TOLERANCE]
    print(
        f"{len(rows)} files compared; {len(wrong)} off by more than {TOLERANCE:g}; {time.perf_counter() - began:.0f} s"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
