"""MuJoCo: limits of joints as stiff springs, and its dry friction of joints, with Euler and Runge–Kutta steps in a compiled loop.

A belt, and what drives a spring, are bodies so heavy that nothing slows them.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from tests.benchmarks.peers import Array
from tests.benchmarks.peers.stiff import POWERS, STEPS, damping_ratio, stiffness

if TYPE_CHECKING:
    from tests.benchmarks.nonsmooth import Problem, Run

HEAVY = 1e9  # [kg]
IMPEDANCE = "0.9999 0.9999 0.001 0.5 2"


def xml(problem: Problem, step: float, integrator: str, power: int) -> str:
    """The model: the coordinate x last, or of a belt the place on it."""
    joint, mass = 'type="slide" axis="1 0 0"', '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    if problem.length:
        joint, tiny = 'type="hinge" axis="0 1 0"', "1e-14 1e-14 1e-14"
        mass = f'<inertial pos="0 0 {-problem.length}" mass="1" diaginertia="{tiny}"/>'
    if problem.stop is not None:
        k = stiffness(step, power)
        damping = 2 * damping_ratio(problem.stop, may_pull=False) * k**0.5
        joint += f' limited="true" range="0 1000" solimplimit="{IMPEDANCE}" solreflimit="{-k:.17g} {-damping:.17g}"'
    if problem.friction:
        joint += f' frictionloss="{problem.friction}" solreffriction="{2 * step:.17g} 1" solimpfriction="{IMPEDANCE}"'
    inside = f'<body><joint name="x" {joint}/>{mass}</body>'
    heavy, lengths = f'<inertial pos="0 0 0" mass="{HEAVY:g}" diaginertia="1 1 1"/>', '<joint joint="x" coef="1"/>'
    slide = '<joint name="{}" type="slide" axis="1 0 0" stiffness="{:.17g}"/>'
    if problem.belt:
        inside, lengths = (
            f"<body>{slide.format('belt', 0)}{heavy}{inside}</body>",
            lengths + '<joint joint="belt" coef="1"/>',
        )
    if problem.drive:
        inside += f"<body>{slide.format('drive', HEAVY * problem.drive**2)}{heavy}</body>"
        lengths += '<joint joint="drive" coef="-1"/>'
    spring = f'<tendon><fixed stiffness="{problem.stiffness}" springlength="0">{lengths}</fixed></tendon>'
    compiler = '<compiler angle="radian" boundinertia="0"/>'
    gravity = "0 0 -9.81" if problem.length else f"{0.0 if problem.belt else problem.weight} 0 0"
    return (
        f'<mujoco><option timestep="{step:.17g}" integrator="{integrator}" gravity="{gravity}" iterations="100" tolerance="0"/>'
        f"{compiler}<worldbody>{inside}</worldbody>{spring if problem.stiffness else ''}</mujoco>"
    )


def contenders(problem: Problem, times: Array) -> list[Run]:
    """Euler and RK4."""
    from tests.benchmarks.nonsmooth import Run

    interval = times[1] - times[0]
    settings = tuple(interval / max(1, round(interval / step)) for step in STEPS)

    def solve(integrator: str, power: int, step: float) -> tuple[float, Array]:
        model = mujoco.MjModel.from_xml_string(xml(problem, step, integrator, power))
        data = mujoco.MjData(model)
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, i) for i in range(model.njnt)]
        start = {
            "x": (problem.start[0], problem.start[1] - problem.belt),
            "belt": (0.0, problem.belt),
            "drive": (1.0, 0.0),
        }
        for i, name in enumerate(names):
            data.qpos[i], data.qvel[i] = start[name]
        place, count, x = names.index("x"), round(interval / step), np.empty(len(times))
        x[0] = data.qpos[place]
        began = time.perf_counter()
        for i in range(1, len(times)):
            mujoco.mj_step(model, data, count)
            x[i] = data.qpos[place]
        return time.perf_counter() - began, x + problem.belt * times

    powers = POWERS if problem.stop is not None else {"": 1}
    return [
        Run(f"MuJoCo {each}{more}", settings, partial(solve, each, power))
        for each in ("Euler", "RK4")
        for more, power in powers.items()
    ]
