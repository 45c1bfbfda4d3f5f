"""MuJoCo: explicit Euler and Runge–Kutta steps in a compiled loop, contacts disabled.

Loops are closed by its soft constraints, as stiff as they may be: the impedance next to 1, the time constant two steps.
"""

from __future__ import annotations

import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import mujoco
import numpy as np

from tests.benchmarks.peers import SAME, Array, Contender
from tests.benchmarks.peers.tree import Link, Tree

mujoco.set_mju_user_warning(lambda text: None)  # instead of a file; a run that blows up is seen by its error

LEAST = 1e-14  # what MuJoCo takes for no inertia [kg m²]
IMPEDANCE = 0.9999  # the largest that it takes; what is missing of 1 is missing of accelerations


def _row(values: Array) -> str:
    return " ".join(f"{value:.17g}" for value in values)


def _inertial(mass: float, center: Array, inertia: Array) -> str:
    inertia = inertia + LEAST * np.eye(3) * (np.linalg.eigvalsh(inertia).min() < LEAST)
    full = _row(inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
    return f'<inertial pos="{_row(center)}" mass="{mass:.17g}" fullinertia="{full}"/>'


def _joint(link: Link) -> str:
    return '<joint type="ball"/>' if link.axis is None else f'<joint type="hinge" axis="{_row(link.axis)}"/>'


def xml(tree: Tree, step: float, integrator: str) -> str:
    """The model; links without mass are further joints of the next one."""
    sites: dict[int, str] = {}
    equality, disabled = "", ' constraint="disable"'
    if tree.loop:
        for name, (link, point) in zip(("begin", "end"), tree.loop, strict=True):
            sites[link] = f'<site name="{name}" pos="{_row(point)}"/>'
        softness = f'solref="{2 * step:.17g} 1" solimp="{IMPEDANCE} {IMPEDANCE} 0.001"'
        equality, disabled = f'<equality><connect site1="begin" site2="end" {softness}/></equality>', ""

    def body(links: list[Link]) -> str:
        first, last = links[0], links[-1]
        joints = "".join(map(_joint, links))
        children = "".join(
            body(group) for group in groups if tree.links[group[0].parent] is last and group[0].parent >= 0
        )
        inside = _inertial(last.mass, last.center, last.inertia) + "".join(
            site for link, site in sites.items() if tree.links[link] is last
        )
        return f'<body pos="{_row(first.place)}">{joints}{inside}{children}</body>'

    groups: list[list[Link]] = []
    for link in tree.links:
        if groups and groups[-1][-1].mass == 0:
            groups[-1].append(link)
        else:
            groups.append([link])
    if tree.free is not None:
        inside = f'<body><joint type="ball"/>{_inertial(1.0, np.zeros(3), tree.free)}</body>'
    else:
        inside = "".join(body(group) for group in groups if group[0].parent < 0)
    return (
        f'<mujoco><option timestep="{step:.17g}" integrator="{integrator}" gravity="{_row(tree.gravity)}"><flag '
        f'contact="disable"{disabled}/></option><compiler balanceinertia="true" angle="radian"/>'
        f"<worldbody>{inside}</worldbody>{equality}</mujoco>"
    )


def contenders(tree: Tree, times: Array, q: Array, v: Array) -> list[Contender]:
    """Euler and RK4 with fixed steps."""
    interval = times[1] - times[0]
    agreement = 1 - IMPEDANCE if tree.loop else SAME

    def contender(integrator: str, parts: tuple[int, ...]) -> Contender:
        model = mujoco.MjModel.from_xml_string(xml(tree, interval, integrator))
        data = mujoco.MjData(model)

        def acceleration(q: Array, v: Array) -> Array:
            data.qpos[:], data.qvel[:] = q, v
            mujoco.mj_forward(model, data)
            return data.qacc.copy()

        def solve(step: float) -> tuple[float, Array, Array]:
            model.opt.timestep, count = step, round(interval / step)
            model.eq_solref[:, 0] = 2 * step
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = q, v
            positions, velocities = np.empty((len(times), len(q))), np.empty((len(times), len(v)))
            positions[0], velocities[0] = q, v
            began = time.perf_counter()
            for i in range(1, len(times)):
                mujoco.mj_step(model, data, count)
                positions[i], velocities[i] = data.qpos, data.qvel
            return time.perf_counter() - began, positions, velocities

        return Contender(
            f"MuJoCo {integrator}", acceleration, tuple(interval / part for part in parts), solve, agreement
        )

    return [
        contender("Euler", (16, 64, 256, 1024)),
        contender("RK4", (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)),
    ]


def step_costs(tree: Tree, q: Array, step: float = 0.001, steps: int = 400) -> dict[str, Callable[[], float]]:
    """Measures of the time per step [µs] of Euler and RK4, from rest at q."""
    measures = {}
    for integrator in ("Euler", "RK4"):
        model = mujoco.MjModel.from_xml_string(xml(tree, step, integrator))

        def measure(model: mujoco.MjModel = model) -> float:
            data = mujoco.MjData(model)
            data.qpos[:] = q
            mujoco.mj_step(model, data, 10)
            began = time.perf_counter()
            mujoco.mj_step(model, data, steps)
            return 1e6 * (time.perf_counter() - began) / steps

        measures[f"MuJoCo {integrator}"] = measure
    return measures


def model_of(tree: Tree) -> mujoco.MjModel:
    """The model of a tree."""
    return mujoco.MjModel.from_xml_string(xml(tree, 1e-3, "Euler"))


def robot_of(text: str, floating: bool) -> mujoco.MjModel:
    """The robot of the text of a URDF file, without meshes."""
    root = ElementTree.fromstring(text)
    for link in root.iter("link"):
        for part in [each for each in link if each.tag in ("visual", "collision")]:
            link.remove(part)
    ElementTree.SubElement(
        ElementTree.SubElement(root, "mujoco"),
        "compiler",
        {"balanceinertia": "true", "boundmass": "1e-9", "boundinertia": "1e-12"},
    )
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"))
    if floating:
        spec.worldbody.first_body().add_freejoint()
    return spec.compile()


def dynamics(model: mujoco.MjModel, repeats: int = 50) -> dict[str, Callable[[], float]]:
    """Measures of inverse and forward dynamics in calls [µs], of which that with an empty model is one too."""

    def measure(function: Callable, of: mujoco.MjModel) -> Callable[[], float]:
        data = mujoco.MjData(of)
        data.qvel[:] = data.qacc[:] = 0.3

        def timed() -> float:
            began = time.perf_counter()
            for _ in range(repeats):
                function(of, data)
            return 1e6 * (time.perf_counter() - began) / repeats

        return timed

    empty = mujoco.MjModel.from_xml_string("<mujoco/>")
    functions = {"inverse dynamics": mujoco.mj_inverse, "forward dynamics": mujoco.mj_forward}
    return {
        f"MuJoCo {part}{what}": measure(function, of)
        for what, function in functions.items()
        for part, of in (("", model), ("call of ", empty))
    }
