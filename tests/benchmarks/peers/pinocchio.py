"""Pinocchio: inverse and forward dynamics and their derivatives, the floor of one evaluation."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from tests.benchmarks.peers.tree import Tree


def model_of(tree: Tree) -> pin.Model:
    """The tree of a model of revolute joints about y."""
    model = pin.Model()
    model.gravity = pin.Motion(tree.gravity, np.zeros(3))
    joints: list[int] = []
    for i, link in enumerate(tree.links):
        parent = joints[link.parent] if link.parent >= 0 else 0
        kind = pin.JointModelRevoluteUnaligned(link.axis) if link.axis[1] != 1 else pin.JointModelRY()
        joints.append(model.addJoint(parent, kind, pin.SE3(np.eye(3), link.place), f"hinge{i}"))
        model.appendBodyToJoint(joints[-1], pin.Inertia(link.mass, link.center, link.inertia), pin.SE3.Identity())
    return model


def evaluations(tree: Tree, count: int = 300) -> dict[str, Callable[[], float]]:
    """Measures of the time [µs] of RNEA, ABA and their derivatives, the cost of calling them from Python taken off."""
    model = model_of(tree)
    data, n = model.createData(), len(tree.links)
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

    return {
        "RNEA": measure(pin.rnea),
        "RNEA derivatives": measure(pin.computeRNEADerivatives),
        "ABA": measure(pin.aba),
        "ABA derivatives": measure(pin.computeABADerivatives),
    }


def robot_of(text: str, floating: bool) -> pin.Model:
    """The robot of the text of a URDF file."""
    return pin.buildModelFromXML(text, *((pin.JointModelFreeFlyer(),) if floating else ()))


def dynamics(model: pin.Model, states: int) -> dict[str, Callable[[], float]]:
    """Measures of dynamics and of a Jacobian [µs]: RNEA and ABA in its own loop over states, the rest in calls, and calls with an
    empty model.
    """
    data, random = model.createData(), np.random.default_rng(0)
    q = np.array([pin.integrate(model, pin.neutral(model), random.normal(size=model.nv)) for _ in range(states)]).T
    v, a = random.normal(size=(2, model.nv, states))
    many = [np.asfortranarray(each) for each in (q, v, a)]
    pool, out = pin.ModelPool(model, 1), np.zeros((model.nv, states), order="F")
    empty = pin.Model()
    nothing, empty_data = np.zeros(0), empty.createData()
    one = [each[:, 0].copy() for each in many]

    def timed(count: int, repeats: int, function: Callable, *arguments: object) -> Callable[[], float]:
        def measure() -> float:
            began = time.perf_counter()
            for _ in range(repeats):
                function(*arguments)
            return 1e6 * (time.perf_counter() - began) / (count * repeats)

        return measure

    measures = {
        "Pinocchio inverse dynamics": timed(states, 1, pin.rneaInParallel, 1, pool, *many, out),
        "Pinocchio forward dynamics": timed(states, 1, pin.abaInParallel, 1, pool, *many, out),
        "Pinocchio Jacobian": timed(1, 50, pin.computeJointJacobian, model, data, one[0], model.njoints - 1),
        "Pinocchio call of Jacobian": timed(1, 50, pin.computeTotalMass, empty, empty_data),
    }
    derivatives = {"inverse derivatives": pin.computeRNEADerivatives, "forward derivatives": pin.computeABADerivatives}
    for what, function in derivatives.items():
        measures[f"Pinocchio {what}"] = timed(1, 50, function, model, data, *one)
        measures[f"Pinocchio call of {what}"] = timed(1, 50, function, empty, empty_data, nothing, nothing, nothing)
    return measures
