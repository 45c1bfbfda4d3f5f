"""The peers of the benchmarks: the same systems in MuJoCo and Pinocchio. A peer that is not installed gives None."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numba import njit

import mbvi
from mbvi.kernels.lagrangian import fill_gradient, fill_hessian

Measures = dict[str, Callable[[], float]]


def mujoco_chain(n: int, step: float = 0.001, steps: int = 400) -> Measures | None:
    """Time per step [µs] of MuJoCo's Euler and RK4 on n rods of 0.2 m and 1 kg, contacts and constraints disabled."""
    try:
        import mujoco
    except ImportError:
        return None
    body = "".join(
        f'<body pos="{0.2 if i else 0} 0 0"><joint type="hinge" axis="0 1 0"/>'
        f'<inertial pos="0.1 0 0" mass="1" diaginertia="1e-9 {0.04 / 12} {0.04 / 12}"/>'
        for i in range(n)
    )
    measures = {}
    for integrator in ("Euler", "RK4"):
        xml = (
            f'<mujoco><option timestep="{step}" integrator="{integrator}"><flag contact="disable" constraint="disable"/>'
            f'</option><compiler balanceinertia="true"/><worldbody>{body}{"</body>" * n}</worldbody></mujoco>'
        )
        model = mujoco.MjModel.from_xml_string(xml)

        def measure(model=model) -> float:
            data = mujoco.MjData(model)
            mujoco.mj_step(model, data, 10)
            began = time.perf_counter()
            mujoco.mj_step(model, data, steps)
            return 1e6 * (time.perf_counter() - began) / steps

        measures[f"MuJoCo {integrator}"] = measure
    return measures


@njit
def _repeat_gradient(count, p, f, system, work, q, v):
    for _ in range(count):
        for a in range(q.shape[0]):
            q[a] += 1e-9  # so that no sine is kept from the evaluation before
        fill_gradient(p, f, work.row, system, work, 0.0, q, v)


@njit
def _repeat_hessian(count, Lvv, Lvq, Kqv, Kqq, system, work, q, v):
    for _ in range(count):
        fill_hessian(Lvv, Lvq, Kqv, Kqq, system, work, 0.0, q, v)


def mbvi_evaluations(system: mbvi.System, count: int = 500) -> Measures:
    """Time [µs] of one evaluation of ∂L/∂v and ∂L/∂q, and of all second derivatives, in a compiled loop."""
    n = system.dimension
    q, v = np.linspace(-1, 1, n), np.linspace(1, 2, n)
    p, f = np.zeros(n), np.zeros(n)
    matrices = [np.zeros((n, n)) for _ in range(4)]

    def gradient() -> float:
        began = time.perf_counter()
        _repeat_gradient(count, p, f, system.arrays, system.work, q, v)
        return 1e6 * (time.perf_counter() - began) / count

    def hessian() -> float:
        began = time.perf_counter()
        _repeat_hessian(count, *matrices, system.arrays, system.work, q, v)
        return 1e6 * (time.perf_counter() - began) / count

    gradient(), hessian()  # compile
    return {"gradient": gradient, "second derivatives": hessian}


def pinocchio_evaluations(n: int, count: int = 300) -> Measures | None:
    """Time [µs] of Pinocchio's RNEA and its derivatives on n rods, the cost of calling it from Python taken off."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model, parent = pin.Model(), 0
    for i in range(n):
        place = pin.SE3(np.eye(3), np.array([0.2 if i else 0.0, 0, 0]))
        parent = model.addJoint(parent, pin.JointModelRY(), place, f"hinge{i}")
        inertia = pin.Inertia(1.0, np.array([0.1, 0, 0]), np.diag([0.0, 0.04 / 12, 0.04 / 12]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    data = model.createData()
    q, v, a = np.linspace(-1, 1, n), np.linspace(1, 2, n), np.zeros(n)
    empty = pin.Model()
    nothing, empty_data = np.zeros(0), empty.createData()

    def timed(function: Callable, *arguments: object) -> float:
        began = time.perf_counter()
        for _ in range(count):
            function(*arguments)
        return 1e6 * (time.perf_counter() - began) / count

    def measure(function: Callable) -> Callable[[], float]:
        return lambda: (
            timed(function, model, data, q, v, a) - timed(function, empty, empty_data, nothing, nothing, nothing)
        )

    return {"RNEA": measure(pin.rnea), "RNEA derivatives": measure(pin.computeRNEADerivatives)}
