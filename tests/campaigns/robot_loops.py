"""Robots with loops: how well the loops stay closed, reactions in both formulations, and the gaps of MuJoCo beside that.

    python -m tests.campaigns.robot_loops [NAME …] [--seconds 10] [--folder FOLDER] [--markdown]

The gripper that comes with mbvi (SDF); Cassie, hanging from its pelvis (SDF, below FOLDER, by default that of the package
example-robot-data); a gripper of which one finger mimics the other (URDF); a delta robot and a Stewart platform (MJCF with
`connect`). They fall, and are held by their springs. Reactions are compared over 0.1 s, by gauss4 with small steps, where they
are determined. MuJoCo gets the same model, with its default solver and a step of 1 ms: what closes a loop is `connect`, a joint
that slides `weld`, and a coupling `joint`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mbvi
from mbvi.model.graph import Branch, plan
from mbvi.model.rotations import quaternion, rotation_matrix
from mbvi.system.mobility import find_mobility
from mbvi.system.reactions import known_names
from tests.folders import MODELS

from .urdf import default_folder

CLOSED, EQUAL = 1e-12, 1e-10
STEP, SMALL, SHORT = 0.002, 0.0005, 0.1
RIGID = ("shin-spring",)
"""Joints of Cassie whose loops cannot move at all, but at the start seem to, so that their reactions have no limit."""
UNDETERMINED = "plantar", "crank", "foot-op"
"""Joints of Cassie in planar loops, whose reactions across their plane follow from no law of rigid bodies."""
Array = np.ndarray

LINK = """<link name="{0}"><inertial><origin xyz="0 0 0.03"/><mass value="{1}"/>
<inertia ixx="{2}" iyy="{2}" izz="{2}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
SLIDE = """<joint name="{0}" type="prismatic"><parent link="palm"/><child link="{0}"/><origin xyz="{1} 0 0.05" rpy="0 0.3 0"/>
<axis xyz="{2} 0 0"/><limit lower="-0.05" upper="0.05" velocity="0" effort="0"/>{3}</joint>"""
MIMIC = f"""<robot name="gripper with mimic">{LINK.format("arm", 1, 0.01)}{LINK.format("palm", 0.4, 0.001)}
{LINK.format("left", 0.05, 0.0001)}{LINK.format("right", 0.08, 0.0001)}
<joint name="wrist" type="revolute"><parent link="arm"/><child link="palm"/><origin xyz="0 0 0.1"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" velocity="0" effort="0"/><dynamics damping="0.01"/></joint>
{SLIDE.format("left", -0.03, 1, "")}{SLIDE.format("right", 0.03, -1, '<mimic joint="left" multiplier="1"/>')}</robot>"""


def numbers(values: Any) -> str:
    """Numbers as MJCF has them."""
    return " ".join(repr(float(value)) for value in values)


def bar(start: Any, end: Any, radius: float, mass: float) -> str:
    """A geom: a rod with round ends."""
    return f'<geom type="capsule" size="{radius}" fromto="{numbers(start)} {numbers(end)}" mass="{mass}"/>'


def platform(height: float, radius: float, mass: float) -> str:
    """A round platform that is free."""
    geom = f'<geom type="cylinder" size="{radius} 0.01" mass="{mass}"/>'
    return f'<body name="platform" pos="0 0 {height}"><freejoint name="free"/>{geom}</body>'


def delta() -> str:
    """A delta robot: three arms, each with two rods that are parallel, and a platform that stays level."""
    base, inner, arm, rod, half, lean = 0.2, 0.05, 0.2, 0.4, 0.04, np.radians(30)
    elbow = np.array([arm * np.cos(lean), 0.0, -arm * np.sin(lean)])
    reach = base + elbow[0] - inner
    down = np.array([-reach, 0.0, -np.sqrt(rod**2 - reach**2)])
    across, bodies, loops = numbers(np.cross(down, [0, 1, 0]) / rod), "", ""
    for i, turn in enumerate(np.radians([0, 120, 240])):
        turned, rods = rotation_matrix(np.array([0, 0, turn])), ""
        for j, side in enumerate((-half, half)):
            joints = f'<joint axis="0 1 0"/><joint axis="{across}"/>'
            place = numbers(elbow + np.array([0, side, 0]))
            rods += f'<body name="rod {i}{j}" pos="{place}">{joints}{bar(np.zeros(3), down, 0.006, 0.05)}</body>'
            loops += f'<connect body1="rod {i}{j}" body2="platform" anchor="{numbers(down)}"/>'
        place = f'pos="{numbers(turned @ [base, 0, 0])}" quat="{numbers(quaternion([0, 0, turn]))}"'
        motor = f'<joint axis="0 1 0" stiffness="20" damping="0.05" springref="{0.2 + 0.1 * i}"/>'
        bodies += f'<body name="arm {i}" {place}>{motor}{bar(np.zeros(3), elbow, 0.012, 0.2)}{rods}</body>'
    return mjcf("delta robot", bodies + platform(elbow[2] + down[2], inner, 0.4), loops)


def stewart() -> str:
    """A Stewart platform: six legs that slide, each between a universal joint below and a ball joint above."""
    bodies, loops, height = "", "", 0.6
    for i in range(6):
        low, high = np.radians(120 * (i // 2) + (-1) ** i * np.array([10, 45]))
        foot = np.array([0.5 * np.cos(low), 0.5 * np.sin(low), 0])
        leg = np.array([0.3 * np.cos(high), 0.3 * np.sin(high), height]) - foot
        end = np.array([0, 0, np.linalg.norm(leg)])
        slide = f'<joint type="slide" axis="0 0 1" stiffness="2000" damping="5" springref="{0.01 * i}"/>'
        rod = f'<body name="rod {i}">{slide}{bar(0.45 * end, end, 0.012, 0.5)}</body>'
        joints = f'<joint axis="1 0 0"/><joint axis="0 1 0"/>{bar(np.zeros(3), 0.6 * end, 0.02, 1)}'
        bodies += f'<body name="leg {i}" pos="{numbers(foot)}" zaxis="{numbers(leg)}">{joints}{rod}</body>'
        loops += f'<connect body1="rod {i}" body2="platform" anchor="{numbers(end)}"/>'
    return mjcf("Stewart platform", bodies + platform(height, 0.32, 5), loops)


def mjcf(name: str, bodies: str, loops: str) -> str:
    """The text of an MJCF file, without contacts, with a step of 1 ms."""
    head = '<compiler angle="radian" balanceinertia="true"/><option timestep="0.001"/>'
    head += '<default><geom contype="0" conaffinity="0"/></default>'
    body = f"{head}<worldbody>{bodies}</worldbody><equality>{loops}</equality>"
    return f'<mujoco model="{name}">{body}</mujoco>'


def written(text: str, ending: str) -> mbvi.Model:
    """The model of a text that stands in a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"robot{ending}"
        path.write_text(text)
        return mbvi.load(path)


def cassie(folder: Path | None) -> mbvi.Model:
    """Cassie, hanging from its pelvis, with all its motors' rotors."""
    path = next((folder or default_folder()).rglob("cassie.sdf"))
    return mbvi.load(path, floating=False, geometry="none")


def robot(name: str, folder: Path | None) -> tuple[mbvi.Model, str]:
    """A robot as a model, and as an MJCF file."""
    if name in ("delta", "stewart"):
        text = delta() if name == "delta" else stewart()
        return written(text, ".xml"), text
    if name == "mimic":
        model = written(MIMIC, ".urdf")
    else:
        model = cassie(folder) if name == "cassie" else mbvi.load(MODELS / "gripper" / "gripper.sdf")
    return model, exported(model)


ROBOTS = "cassie", "gripper", "mimic", "delta", "stewart"


class Row(NamedTuple):
    """What was found of a robot; closure by tree, embedding and MuJoCo [m or rad], and the difference of reactions."""

    name: str
    bodies: int
    freedoms: int
    loops: int
    tree: float
    embedding: float
    reactions: float
    mujoco: float


def measured(name: str, seconds: float, folder: Path | None = None) -> Row:
    """Run a robot in both formulations, and in MuJoCo."""
    model, text = robot(name, folder)
    residuals = []
    for formulation in ("tree", "embedding"):
        run = mbvi.simulate(mbvi.assemble(model, formulation=formulation), "midpoint", step=STEP, duration=seconds)
        residuals.append(float(run.constraint_residual().max()))
    freedoms, off = find_mobility(mbvi.assemble(model)).degrees_of_freedom, difference(model)
    return Row(name, len(model.bodies), freedoms, len(closers(model)), *residuals, off, gap(text, seconds))


def difference(model: mbvi.Model) -> float:
    """The largest difference of reactions in the two formulations, of those that are determined, in the largest of them."""
    kept = {name: joint for name, joint in model.joints.items() if not any(each in name for each in RIGID)}
    model = model.model_copy(update={"joints": kept})
    systems = [mbvi.assemble(model, formulation=each) for each in ("tree", "embedding")]
    runs = [mbvi.simulate(each, "gauss4", step=SMALL, duration=SHORT, every=20) for each in systems]
    names = [name for name in known_names(systems[0]) if not any(each in name for each in UNDETERMINED)]
    first, second = (run.reactions(names) for run in runs)
    return float(np.abs(first - second).max() / np.abs(first).max())


def closers(model: mbvi.Model) -> list[str]:
    """What closes loops: joints that are cut, and constraints."""
    return [*plan(model).chords, *model.constraints]


# -------------------------------------------------------------------------------------------------- MuJoCo


def gap(text: str, seconds: float) -> float:
    """The largest violation of a constraint of an MJCF file in MuJoCo [m or rad]."""
    import mujoco

    robot = mujoco.MjModel.from_xml_string(text)
    data, worst = mujoco.MjData(robot), 0.0
    for _ in range(round(seconds / robot.opt.timestep)):
        mujoco.mj_step(robot, data)
        worst = max(worst, float(np.abs(data.efc_pos[: data.ne]).max()))
    return worst


def exported(model: mbvi.Model) -> str:
    """A model as an MJCF file."""
    model = model.resolved()
    bodies: dict[str, str] = {}
    below: dict[str, list[Branch]] = {}
    for branch in plan(model).branches:
        below.setdefault(branch.inner, []).append(branch)
    for branch in reversed(plan(model).branches):
        inner = "".join(bodies[each.outer] for each in below.get(branch.outer, []))
        bodies[branch.outer] = body(model, branch, inner)
    text = "".join(bodies[each.outer] for each in below["world"])
    loops = "".join(closing(model, name) for name in closers(model))
    return mjcf(model.name, text, loops)


def body(model: mbvi.Model, branch: Branch, inner: str) -> str:
    """A body with its joint and what hangs on it."""
    joint, given = model.joints[branch.joint], model.bodies[branch.outer]
    turned, place, anchor = rotation_matrix(joint.orientation), np.array(joint.position), np.array(joint.offset)
    own, sign = turned.T, 1.0
    if branch.is_reversed:
        turned, place, anchor, own, sign = turned.T, anchor, place, np.eye(3), -1.0
    place = place - turned @ anchor
    start = model.initial.get(branch.joint)
    if joint.type == "free" and start is not None:
        place, turned = np.array(start.position[:3]), rotation_matrix(start.position[3:])
    text = f'<body name="{branch.outer}" pos="{numbers(place)}" quat="{numbers(quaternion_of(turned))}">'
    text += moving(model, branch.joint, own, sign, anchor)
    mass, center, inertia = mbvi.mass_properties(given, model.files)
    if mass > 0:
        six = (inertia[i] for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        text += f'<inertial mass="{mass}" pos="{numbers(center)}" fullinertia="{numbers(six)}"/>'
    return f"{text}{inner}</body>"


def moving(model: mbvi.Model, name: str, own: Array, sign: float, anchor: Array) -> str:
    """The element of a joint, with its spring and damper; nothing for a weld."""
    joint = model.joints[name]
    if joint.type == "weld":
        return ""
    if joint.type == "free":
        return f'<freejoint name="{name}"/>'
    kind = {"revolute": "hinge", "prismatic": "slide", "ball": "ball"}[joint.type]
    text = f'<joint name="{name}" type="{kind}" pos="{numbers(anchor)}"'
    if kind != "ball":
        text += f' axis="{numbers(sign * own @ np.array(joint.axis))}"'
    for force in (each for each in model.forces.values() if each.joint == name):
        if force.type == "joint_spring":
            text += f' stiffness="{force.stiffness}" springref="{force.rest}"'
        else:
            text += f' damping="{force.damping}"'
    return f"{text}/>"


def closing(model: mbvi.Model, name: str) -> str:
    """The element of <equality> of what closes a loop."""
    each = model.joints.get(name) or model.constraints[name]
    if each.type == "coupling":
        polynomial = numbers((each.offset, each.ratio, 0, 0, 0))
        return f'<joint joint1="{each.joint_b}" joint2="{each.joint_a}" polycoef="{polynomial}"/>'
    if each.type == "coincident_points":
        return f'<connect body1="{each.body_a}" body2="{each.body_b}" anchor="{numbers(each.point_a)}"/>'
    if each.type == "prismatic":
        return f'<weld body1="{each.parent}" body2="{each.child}"/>'
    return f'<connect body1="{each.parent}" body2="{each.child}" anchor="{numbers(each.position)}"/>'


def quaternion_of(rotation: Array) -> Array:
    """The quaternion w, x, y, z of a rotation matrix."""
    from mbvi.system.given import rotation_quaternion

    return rotation_quaternion(rotation)


def main() -> None:
    """Measure all robots, or those named."""
    parser = argparse.ArgumentParser(description="robots with loops in mbvi and in MuJoCo")
    parser.add_argument("names", nargs="*", choices=[*ROBOTS, []], help="by default all")
    parser.add_argument("--seconds", type=float, default=10.0, help="of motion")
    parser.add_argument("--folder", type=Path, help="of Cassie; by default that of the package example-robot-data")
    parser.add_argument("--markdown", action="store_true", help="print a table")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", mbvi.errors.MbviWarning)
    wrong = 0
    for name in arguments.names or ROBOTS:
        began = time.perf_counter()
        row = measured(name, arguments.seconds, arguments.folder)
        wrong += max(row.tree, row.embedding) > CLOSED or row.reactions > EQUAL
        values = [row.name, *map(str, row[1:4]), *(f"{value:.1e}" for value in row[4:])]
        print(
            f"| {' | '.join(values)} |" if arguments.markdown else "  ".join(f"{each:>8}" for each in values),
            flush=True,
        )
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
