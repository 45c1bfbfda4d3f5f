"""Exudyn: kinematic trees, and the free rigid body on its Lie group, with explicit integrators; loops with its implicit one."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np
from scipy.spatial.transform import Rotation

from tests.benchmarks.peers import SAME, Array, Contender
from tests.benchmarks.peers.tree import Tree

INSTANT = 1e-13  # after which accelerations are read [s]
DIFFERENCED = 1e-6  # the accuracy of accelerations in a loop, for which it differentiates numerically
LETTERS = "XYZ"


class Mechanism:
    """What all systems have in common; the system is built anew for every run."""

    loop = False

    def __init__(self) -> None:
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()

    def assemble(self, node: Any, kinds: list[Any]) -> None:
        """With sensors of some kinds at a node."""
        self.sensors = [
            self.system.AddSensor(items.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=kind))
            for kind in kinds
        ]
        self.system.Assemble()

    def settings(self, duration: float, interval: float) -> Any:
        """What all runs have in common."""
        settings = exu.SimulationSettings()
        settings.timeIntegration.endTime = duration
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = interval
        settings.timeIntegration.explicit.computeEndOfStepAccelerations = False
        settings.timeIntegration.newton.relativeTolerance = 1e-12
        settings.timeIntegration.newton.absoluteTolerance = 1e-14
        return settings

    def run(self, settings: Any, solver: Any) -> tuple[float, list[Array]]:
        """Wall time, and what the sensors stored: time and values."""
        began = time.perf_counter()
        self.system.SolveDynamic(settings, solverType=solver)
        return time.perf_counter() - began, [self.system.GetSensorStoredData(each) for each in self.sensors]

    def accelerations(self) -> Array:
        """Of the coordinates, at the start."""
        settings = self.settings(INSTANT, INSTANT)
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.minimumStepSize = 1, INSTANT / 2
        settings.timeIntegration.explicit.computeEndOfStepAccelerations = True
        kinds = exu.DynamicSolverType
        self.run(settings, kinds.TrapezoidalIndex2 if self.loop else kinds.ExplicitEuler)
        when = exu.ConfigurationType.StartOfStep if self.loop else exu.ConfigurationType.Current
        return self.system.systemData.GetODE2Coordinates_tt(when)


class FreeBody(Mechanism):
    """A rigid body without forces, in increments of its rotation vector."""

    def __init__(self, inertia: Array, q: Array, v: Array) -> None:
        super().__init__()
        turn = Rotation.from_quat(q[[1, 2, 3, 0]]).as_rotvec()
        node = self.system.AddNode(
            items.NodeRigidBodyRotVecLG(
                referenceCoordinates=[0.0, 0.0, 0.0, *turn], initialVelocities=[0.0, 0.0, 0.0, *v]
            )
        )
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
        moments = [xx, yy, zz, yz, xz, xy]
        self.system.AddObject(items.ObjectRigidBody(physicsMass=1.0, physicsInertia=moments, nodeNumber=node))
        kinds = exu.OutputVariableType
        self.assemble(node, [kinds.RotationMatrix, kinds.AngularVelocityLocal])

    def acceleration(self) -> Array:
        """Of the rotation along the body axes."""
        return self.accelerations()[3:]

    def states(self, stored: list[Array]) -> tuple[Array, Array]:
        """Quaternions, scalar part first, and angular velocities."""
        turns = Rotation.from_matrix(stored[0][:, 1:].reshape(-1, 3, 3)).as_quat()
        return turns[:, [3, 0, 1, 2]], stored[1][:, 1:]


class Chain(Mechanism):
    """A system whose coordinates are those of a tree, but for the sense of axes."""

    def __init__(self, tree: Tree, q: Array, v: Array) -> None:
        super().__init__()
        self.senses = np.array([link.axis.sum() for link in tree.links])
        kinds = [getattr(exu.JointType, f"Revolute{LETTERS[np.abs(link.axis).argmax()]}") for link in tree.links]
        assert all(np.abs(link.axis).max() == 1 for link in tree.links)
        n = len(tree.links)
        node = self.system.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=[0.0] * n,
                initialCoordinates=list(self.senses * q),
                initialCoordinates_t=list(self.senses * v),
                numberOfODE2Coordinates=n,
            )
        )
        links = self.system.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=node,
                jointTypes=kinds,
                linkParents=[link.parent for link in tree.links],
                jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
                jointOffsets=exu.Vector3DList([link.place for link in tree.links]),
                linkInertiasCOM=exu.Matrix3DList([link.inertia for link in tree.links]),
                linkCOMs=exu.Vector3DList([link.center for link in tree.links]),
                linkMasses=[link.mass for link in tree.links],
                gravity=list(tree.gravity),
                baseOffset=[0.0, 0.0, 0.0],
            )
        )
        self.loop = tree.loop is not None
        if tree.loop:
            ends = [
                self.system.AddMarker(
                    items.MarkerKinematicTreeRigid(objectNumber=links, linkNumber=link, localPosition=list(point))
                )
                for link, point in tree.loop
            ]
            across = [int(not each) for each in np.abs(tree.links[0].axis)]  # the loop's plane
            self.system.AddObject(items.ObjectJointSpherical(markerNumbers=ends, constrainedAxes=across))
        kinds = exu.OutputVariableType
        self.assemble(node, [kinds.Coordinates, kinds.Coordinates_t])

    def acceleration(self) -> Array:
        """Of the tree's coordinates."""
        return self.senses * self.accelerations()

    def states(self, stored: list[Array]) -> tuple[Array, Array]:
        """Coordinates of the tree and their rates."""
        return self.senses * stored[0][:, 1:], self.senses * stored[1][:, 1:]


def contenders(tree: Tree, times: Array, q: Array, v: Array) -> list[Contender]:
    """RK44 and RK67 with fixed steps; states at given times are not to be had of its error-controlled integrators.

    With a loop, which these do not take, the implicit trapezoidal rule of index 2, solved to round-off.
    """

    def build(q: Array, v: Array) -> FreeBody | Chain:
        return Chain(tree, q, v) if tree.free is None else FreeBody(tree.free, q, v)

    mechanism, interval = build(q, v), times[1] - times[0]

    def solve(solver: Any, step: float) -> tuple[float, Array, Array]:
        settings = mechanism.settings(times[-1], interval)
        settings.timeIntegration.numberOfSteps = round(times[-1] / step)
        settings.timeIntegration.automaticStepSize = False
        seconds, stored = mechanism.run(settings, solver)
        rows = np.rint(stored[0][:, 0] / interval).astype(int)
        found = mechanism.states(stored)
        states = [np.full((len(times), each.shape[1]), np.nan) for each in found]
        for whole, part in zip(states, found, strict=True):
            whole[rows] = part
        return seconds, states[0], states[1]

    kinds = exu.DynamicSolverType
    methods = {"trapezoidal": kinds.TrapezoidalIndex2} if tree.loop else {"RK44": kinds.RK44, "RK67": kinds.RK67}
    steps = tuple(interval / part for part in (1, 2, 4, 8, 16, 32, 64, 128, 256))
    return [
        Contender(
            f"Exudyn {name}",
            lambda q, v: build(q, v).acceleration(),
            steps,
            partial(solve, kind),
            DIFFERENCED if tree.loop else SAME,
        )
        for name, kind in methods.items()
    ]
