"""Drake: contacts of a small sphere with a half-space: by its discrete steps, and a pendulum's by RK3 with error control.

The wall of a spring is so heavy that nothing slows it. The contacts lose speed by a dissipation whose part grows with the speed,
so that they have no constant restitution but 1, which discrete steps do not have.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import numpy as np
from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction, MultibodyPlant
from pydrake.multibody.tree import (
    LinearSpringDamper,
    PrismaticJoint,
    RevoluteJoint,
    RigidBody,
    SpatialInertia,
    UnitInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
from pydrake.systems.framework import DiagramBuilder

from tests.benchmarks.peers import Array
from tests.benchmarks.peers.stiff import STEPS

if TYPE_CHECKING:
    from tests.benchmarks.nonsmooth import Problem, Run

logging.getLogger("drake").setLevel(logging.ERROR)  # it warns of half-spaces and what may be deformed, which nothing is

HEAVY, RADIUS, FAR, CREEP = 1e9, 0.05, 10.0, 1e-6  # [kg], [m], [m], [m/s]
PRESS = 10.0  # by which a block is pressed on what it rubs on [N]
STIFFNESSES = (1e4, 1e6, 1e8, 1e10)  # of the contact of a pendulum [N/m]


def contenders(problem: Problem, times: Array) -> list[Run]:
    """Discrete steps of what rubs, RK3 of a pendulum; none where a restitution is less than 1."""
    from tests.benchmarks.nonsmooth import Run

    interval = times[1] - times[0]
    if problem.friction:
        steps = tuple(interval / max(1, round(interval / step)) for step in STEPS)
        carried = problem.belt * times
        return [Run("Drake discrete", steps, lambda step: _advance(*_rubbing(problem, step), times, carried))]
    if problem.length:
        return [Run("Drake RK3", STIFFNESSES, lambda stiffness: _advance(*_swinging(problem, stiffness), times, 0.0))]
    return []


def _rubbing(problem: Problem, step: float) -> tuple[Simulator, MultibodyPlant]:
    """A block that slides along x and may leave what it rubs on along z; seen from a belt, the wall of the spring moves."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, step)
    plant.mutable_gravity_field().set_gravity_vector([problem.weight, 0, -PRESS])
    sledge = plant.AddRigidBody("sledge", SpatialInertia.Zero())
    block = plant.AddRigidBody("block", _point(1.0))
    along = plant.AddJoint(PrismaticJoint("x", plant.world_frame(), sledge.body_frame(), [1, 0, 0]))
    plant.AddJoint(PrismaticJoint("z", sledge.body_frame(), block.body_frame(), [0, 0, 1]))
    wall = plant.AddRigidBody("wall", _point(HEAVY))
    away = plant.AddJoint(PrismaticJoint("wall", plant.world_frame(), wall.body_frame(), [1, 0, 0]))
    if problem.stiffness:
        far = [-FAR, 0, 0]
        plant.AddForceElement(LinearSpringDamper(wall, far, block, np.zeros(3), FAR, problem.stiffness, 0.0))
    _touching(plant, block, plant.world_body(), RigidTransform([0, 0, -RADIUS]), problem.friction / PRESS)
    plant.set_stiction_tolerance(CREEP)
    simulator = _made(builder, plant)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    along.set_translation(context, problem.start[0])
    along.set_translation_rate(context, problem.start[1] - problem.belt)
    away.set_translation_rate(context, -problem.belt)
    return simulator, plant


def _swinging(problem: Problem, stiffness: float) -> tuple[Simulator, MultibodyPlant]:
    """A pendulum whose bob strikes a wall below its pivot."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -9.81])
    at = [0, 0, -problem.length]
    bob = plant.AddRigidBody("bob", _point(1.0, at))
    hinge = plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), bob.body_frame(), [0, -1, 0]))
    wall = RigidTransform(RotationMatrix.MakeYRotation(np.pi / 2), [-RADIUS, 0, 0])
    _touching(plant, bob, plant.world_body(), wall, 0.0, stiffness, at)
    simulator = _made(builder, plant)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    hinge.set_angle(context, problem.start[0])
    hinge.set_angular_rate(context, problem.start[1])
    integrator = ResetIntegratorFromFlags(simulator, "runge_kutta3", 0.1)
    integrator.set_target_accuracy(1e-6)
    return simulator, plant


def _point(mass: float, at: object = (0.0, 0.0, 0.0)) -> SpatialInertia:
    """A mass at a place of a body."""
    place = np.array(at, dtype=float)
    about = place @ place * np.eye(3) - np.outer(place, place)
    unit = UnitInertia(*about.diagonal(), about[0, 1], about[0, 2], about[1, 2])
    return SpatialInertia(mass, place, unit, skip_validity_check=True)


def _touching(
    plant: MultibodyPlant,
    body: RigidBody,
    other: RigidBody,
    surface: RigidTransform,
    friction: float,
    stiffness: float | None = None,
    at: object = (0.0, 0.0, 0.0),
) -> None:
    """Let a sphere on a body touch a half-space on another."""
    properties = ProximityProperties()
    AddContactMaterial(
        dissipation=0.0,
        point_stiffness=stiffness,
        friction=CoulombFriction(friction, friction),
        properties=properties,
    )
    plant.RegisterCollisionGeometry(body, RigidTransform(at), Sphere(RADIUS), "sphere", properties)
    plant.RegisterCollisionGeometry(other, surface, HalfSpace(), "surface", properties)


def _made(builder: DiagramBuilder, plant: MultibodyPlant) -> Simulator:
    plant.Finalize()
    return Simulator(builder.Build())


def _advance(simulator: Simulator, plant: MultibodyPlant, times: Array, carried: Array | float) -> tuple[float, Array]:
    """Wall time, and the first coordinate at the times, with how far it was carried."""
    simulator.Initialize()
    context, x = plant.GetMyContextFromRoot(simulator.get_context()), np.empty(len(times))
    x[0] = plant.GetPositions(context)[0]
    began = time.perf_counter()
    for i in range(1, len(times)):
        simulator.AdvanceTo(times[i])
        x[i] = plant.GetPositions(context)[0]
    return time.perf_counter() - began, x + carried
