"""URDF files against Pinocchio: total mass, M(q), the bias, and M a + bias at random states, of the robot fixed and floating.

    python -m tests.campaigns.urdf [FOLDER] [--states 20] [--markdown]

It reads all files below a folder, by default those of the package example-robot-data (pip install example-robot-data). A file
that either program refuses is reported, with what it says. Inertias that mbvi changed, and joints that it welded, are changed in
what Pinocchio gets.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
import xml.etree.ElementTree as ElementTree
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mbvi
from mbvi.system.exchange import from_pinocchio, to_pinocchio
from mbvi.system.system import System

TOLERANCE = 1e-12


class Row(NamedTuple):
    """How far a robot is from Pinocchio's, relative to the largest entry, and its numbers of bodies and motions."""

    name: str
    bodies: int
    motions: int
    mass: float
    matrix: float
    bias: float
    forces: float
    maps: float
    mended: bool

    @property
    def worst(self) -> float:
        """The largest of the differences."""
        return max(self.mass, self.matrix, self.bias, self.forces, self.maps)


def compared(path: Path, floating: bool, states: int, seed: int = 0) -> Row:
    """The differences of a robot in both programs."""
    import pinocchio as pin

    model = mbvi.load(path, floating=floating, geometry="none")
    text = as_read(path, model)
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    robot = pin.buildModelFromXML(text, *root)
    data, system, random = robot.createData(), mbvi.assemble(model).unforced, np.random.default_rng(seed)
    found = []
    for _ in range(states):
        q_pin, v_pin, a_pin = random_state(pin, robot, random)
        q, v = from_pinocchio(system, robot, q_pin, v_pin)
        T = motions(system, robot, q_pin)
        M, bias = pin.crba(robot, data, q_pin), pin.nonLinearEffects(robot, data, q_pin, v_pin).copy()
        M = np.triu(M) + np.triu(M, 1).T
        here = (
            T.T @ system.mass_matrix(q) @ T,
            T.T @ forces(system, q, v, accelerations(system, robot, q_pin, v_pin, 0 * a_pin)),
        )
        both = T.T @ forces(system, q, v, accelerations(system, robot, q_pin, v_pin, a_pin))
        whole = pin.rnea(robot, data, q_pin, v_pin, a_pin)
        q_back, v_back = to_pinocchio(system, robot, q, v)
        maps = max(float(np.abs(pin.difference(robot, q_pin, q_back)).max(initial=0.0)), off(v_back, v_pin))
        found.append([off(here[0], M), off(here[1], bias), off(both, whole), maps])
    masses = [mbvi.mass_properties(body).mass for name, body in model.resolved().bodies.items() if moves(model, name)]
    mass = off(np.array(sum(masses)), np.array(pin.computeTotalMass(robot)))
    worst = np.max(found, axis=0) if found else np.zeros(4)
    return Row(path.stem, len(model.bodies), robot.nv, mass, *worst.tolist(), bool(model.import_report.mended))


def moves(model: mbvi.Model, name: str) -> bool:
    """Whether a body moves: Pinocchio counts no mass that is fixed to the world."""
    above = {joint.child: joint for joint in model.joints.values()}
    while name in above:
        if above[name].coordinate_names:
            return True
        name = above[name].parent
    return False


def off(a: Any, b: Any) -> float:
    """Largest difference, relative to the largest entry of the second."""
    a, b = np.atleast_1d(a), np.atleast_1d(b)
    return float(np.abs(a - b).max(initial=0.0) / max(np.abs(b).max(initial=0.0), 1e-300)) if a.size else 0.0


def random_state(pin: Any, robot: Any, random: np.random.Generator) -> tuple[Any, Any, Any]:
    """A random q, v and a of Pinocchio's."""
    q = pin.integrate(robot, pin.neutral(robot), random.normal(size=robot.nv))
    return q, random.normal(size=robot.nv), random.normal(size=robot.nv)


def motions(system: System, robot: Any, q_pin: Any) -> Any:
    """T (n, nv): rates of the system from Pinocchio's velocities."""
    columns = [from_pinocchio(system, robot, q_pin, unit)[1] for unit in np.eye(robot.nv)]
    return np.array(columns).T.reshape(system.dimension, robot.nv)


def accelerations(system: System, robot: Any, q_pin: Any, v_pin: Any, a_pin: Any) -> Any:
    """The system's accelerations T a + Ṫ v, where only a floating root has a T that changes."""
    q, v = from_pinocchio(system, robot, q_pin, v_pin)
    a = from_pinocchio(system, robot, q_pin, a_pin)[1]
    if robot.njoints > 1 and robot.joints[1].nv == 6:
        first = system.homes.joints["base"]
        linear, omega = v_pin[:3], v_pin[3:6]
        still = np.zeros(robot.nv)
        still[:3] = np.cross(omega, linear)
        a[first : first + 3] += from_pinocchio(system, robot, q_pin, still)[1][first : first + 3]
        a[first + 3 : first + 7] -= omega @ omega / 4 * q[first + 3 : first + 7]  # ä = ½ a ⋆ ω̇ − ¼ |ω|² a
    return a


def forces(system: System, q: Any, v: Any, a: Any) -> Any:
    """M a + bias, by the equations of motion d/dt ∂L/∂v − ∂L/∂q."""
    _, Lvq, _, _ = system.second_derivatives(q, v)
    return system.mass_matrix(q) @ a + Lvq @ v - system.gradient(q, v)[1]


def as_read(path: Path, model: mbvi.Model) -> str:
    """The text of a file with the inertias that mbvi took, where it changed them, and with the joints fixed that it welded."""
    tree = ElementTree.parse(path)
    for link in tree.getroot().iter("link"):
        name, inertial = link.get("name"), link.find("inertial")
        if inertial is not None and name in model.import_report.mended:
            body = model.bodies[name]
            origin = inertial.find("origin")
            if origin is not None:
                origin.set("rpy", "0 0 0")
            for key, value in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), body.inertia, strict=True):
                inertial.find("inertia").set(key, repr(value))
    for joint in tree.getroot().findall("joint"):
        if model.joints[joint.get("name")].type == "weld":
            joint.set("type", "fixed")
            for part in joint.findall("mimic"):
                joint.remove(part)
    return ElementTree.tostring(tree.getroot(), encoding="unicode")


def default_folder() -> Path:
    """Where the package example-robot-data has its files."""
    try:
        found = files("example-robot-data") or []
    except PackageNotFoundError:
        sys.exit("example-robot-data is not here; pip install example-robot-data, or name a folder")
    return Path(next(str(each.locate()) for each in found if each.name == "package.xml")).parent


def main() -> None:
    """Compare all files below a folder."""
    parser = argparse.ArgumentParser(description="URDF files against Pinocchio")
    parser.add_argument("folder", type=Path, nargs="?", help="by default that of the package example-robot-data")
    parser.add_argument("--states", type=int, default=20, help="random states of each robot")
    parser.add_argument("--markdown", action="store_true", help="print a table of the worst differences")
    arguments = parser.parse_args()
    began, rows, refused, wrong = time.perf_counter(), [], [], []
    warnings.simplefilter("ignore", mbvi.errors.MbviWarning)
    paths = sorted((arguments.folder or default_folder()).rglob("*.urdf"))
    for path in paths:
        try:
            both = [compared(path, floating, arguments.states) for floating in (False, True)]
        except (mbvi.ModelError, ValueError) as error:
            refused.append(f"{path.name}: {' '.join(str(error).split())}")
            print(f"refused {refused[-1]}", file=sys.stderr)
            continue
        worst = max(both, key=lambda row: row.worst)
        rows.append(worst)
        wrong += [worst.name] if worst.worst > TOLERANCE else []
        numbers = " ".join(f"{value:8.1e}" for value in worst[3:8])
        cells = f"| {worst.name} | {worst.bodies} | {worst.motions} | {worst.worst:.1e} |"
        print(
            cells if arguments.markdown else f"{worst.name:32} {worst.bodies:4} {worst.motions:4} {numbers}", flush=True
        )
    print(
        f"{len(paths)} files: {len(rows)} compared, {sum(row.mended for row in rows)} of them with mended inertias, "
        f"{len(refused)} refused; {len(wrong)} off by more than {TOLERANCE:g}{': ' if wrong else ''}{', '.join(wrong)}; "
        f"{time.perf_counter() - began:.0f} s"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
