"""Drake: articulated bodies with error-controlled Runge–Kutta integrators."""

from __future__ import annotations

import time

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from tests.benchmarks.peers import Array, Contender, Refused
from tests.benchmarks.peers.tree import Tree

ACCURACIES = tuple(10.0**-k for k in range(3, 13))
ENDLESS = ("Lagrange top, loops",)  # of which RK5 of version 1.51 does not come back, whatever the accuracy


def _inertia(mass: float, center: Array, inertia: Array) -> SpatialInertia:
    """A spatial inertia about the body's origin."""
    if mass == 0:
        return SpatialInertia.Zero()
    about = inertia / mass + center @ center * np.eye(3) - np.outer(center, center)
    unit = UnitInertia(*about.diagonal(), about[0, 1], about[0, 2], about[1, 2])
    return SpatialInertia(mass, center, unit, skip_validity_check=True)


def plant_of(tree: Tree) -> MultibodyPlant:
    """The tree, or the free body, as a continuous plant."""
    if tree.loop:
        raise Refused("no loops in continuous time")
    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector(tree.gravity)
    bodies = []
    if tree.free is not None:
        plant.AddRigidBody("body", _inertia(1.0, np.zeros(3), tree.free))
    for i, link in enumerate(tree.links):
        body = plant.AddRigidBody(f"link{i}", _inertia(link.mass, link.center, link.inertia))
        parent = bodies[link.parent].body_frame() if link.parent >= 0 else plant.world_frame()
        frame = plant.AddFrame(FixedOffsetFrame(f"place{i}", parent, RigidTransform(link.place)))
        plant.AddJoint(RevoluteJoint(f"hinge{i}", frame, body.body_frame(), link.axis, damping=0.0))
        bodies.append(body)
    plant.Finalize()
    return plant


def contenders(tree: Tree, times: Array, q: Array, v: Array) -> list[Contender]:
    """RK3 and RK5 with error control."""
    plant = plant_of(tree)
    n = len(q)

    def contender(name: str, scheme: str) -> Contender:
        context = plant.CreateDefaultContext()

        def start(q: Array, v: Array) -> None:
            if (
                tree.free is not None
            ):  # a floating joint: quaternion and place; spin in the world, which is the body at the start
                q, v = np.concatenate([q, np.zeros(3)]), np.concatenate([v, np.zeros(3)])
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)

        def acceleration(q: Array, v: Array) -> Array:
            start(q, v)
            rates = plant.EvalTimeDerivatives(context).CopyToVector()[plant.num_positions() :]
            return rates[: len(v)]

        def solve(accuracy: float) -> tuple[float, Array, Array]:
            context.SetTime(0.0)
            start(q, v)
            simulator = Simulator(plant, context.Clone())
            integrator = ResetIntegratorFromFlags(simulator, scheme, times[-1])
            integrator.set_target_accuracy(accuracy)
            simulator.Initialize()
            positions, velocities = np.empty((len(times), n)), np.empty((len(times), len(v)))
            positions[0], velocities[0] = q, v
            began = time.perf_counter()
            for i in range(1, len(times)):
                simulator.AdvanceTo(times[i])
                positions[i] = plant.GetPositions(simulator.get_context())[:n]
                velocities[i] = plant.GetVelocities(simulator.get_context())[: len(v)]
            return time.perf_counter() - began, positions, velocities

        return Contender(name, acceleration, ACCURACIES, solve)

    found = [contender("Drake RK3", "runge_kutta3")]
    return found if tree.name in ENDLESS else [*found, contender("Drake RK5", "runge_kutta5")]
