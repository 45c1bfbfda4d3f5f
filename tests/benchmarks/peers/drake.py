"""Drake: articulated bodies with error-controlled Runge–Kutta integrators; loops by its discrete steps, which alone take them."""

from __future__ import annotations

import time

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from tests.benchmarks.peers import Array, Contender
from tests.benchmarks.peers.tree import Tree

ACCURACIES = tuple(10.0**-k for k in range(3, 13))
INSTANT = 1e-7  # the step by which accelerations with a loop are measured [s]
DIFFERENCED = 1e-4  # the accuracy of these
ENDLESS = ("Lagrange top, loops",)  # of which RK5 of version 1.51 does not come back, whatever the accuracy


def _inertia(mass: float, center: Array, inertia: Array) -> SpatialInertia:
    """A spatial inertia about the body's origin."""
    if mass == 0:
        return SpatialInertia.Zero()
    about = inertia / mass + center @ center * np.eye(3) - np.outer(center, center)
    unit = UnitInertia(*about.diagonal(), about[0, 1], about[0, 2], about[1, 2])
    return SpatialInertia(mass, center, unit, skip_validity_check=True)


def plant_of(tree: Tree, step: float = 0.0) -> MultibodyPlant:
    """The tree, or the free body, as a plant; continuous without a step [s], which loops need."""
    plant = MultibodyPlant(time_step=step)
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
    if tree.loop:
        (begin, at), (end, there) = tree.loop
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        plant.AddBallConstraint(bodies[begin], at, bodies[end], there)
    plant.Finalize()
    return plant


def contenders(tree: Tree, times: Array, q: Array, v: Array) -> list[Contender]:
    """RK3 and RK5 with error control; with a loop discrete steps, of order 1."""
    if tree.loop:
        return [_discrete(tree, times, q, v)]
    plant = plant_of(tree)

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
            return _advance(simulator, plant, times, q, v)

        return Contender(name, acceleration, ACCURACIES, solve)

    found = [contender("Drake RK3", "runge_kutta3")]
    return found if tree.name in ENDLESS else [*found, contender("Drake RK5", "runge_kutta5")]


def _discrete(tree: Tree, times: Array, q: Array, v: Array) -> Contender:
    def simulator_of(step: float, q: Array, v: Array) -> tuple[Simulator, MultibodyPlant]:
        plant = plant_of(tree, step)
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        return Simulator(plant, context), plant

    def acceleration(q: Array, v: Array) -> Array:
        """When the loop's softness has settled, after twenty steps."""
        simulator, plant = simulator_of(INSTANT, q, v)
        rates = []
        for steps in (20, 40):
            simulator.AdvanceTo(steps * INSTANT)
            rates.append(plant.GetVelocities(simulator.get_context()))
        return (rates[1] - rates[0]) / (20 * INSTANT)

    def solve(step: float) -> tuple[float, Array, Array]:
        return _advance(*simulator_of(step, q, v), times, q, v)

    steps = tuple((times[1] - times[0]) / part for part in (1, 4, 16, 64, 256))
    return Contender("Drake discrete", acceleration, steps, solve, DIFFERENCED)


def _advance(
    simulator: Simulator, plant: MultibodyPlant, times: Array, q: Array, v: Array
) -> tuple[float, Array, Array]:
    """Wall time, and the states at the times, of which the first is given."""
    simulator.Initialize()
    positions, velocities = np.empty((len(times), len(q))), np.empty((len(times), len(v)))
    positions[0], velocities[0] = q, v
    began = time.perf_counter()
    for i in range(1, len(times)):
        simulator.AdvanceTo(times[i])
        positions[i] = plant.GetPositions(simulator.get_context())[: len(q)]
        velocities[i] = plant.GetVelocities(simulator.get_context())[: len(v)]
    return time.perf_counter() - began, positions, velocities
