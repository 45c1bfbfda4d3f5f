"""Exudyn: kinematic trees with explicit integrators; loops of plane bodies with the generalized-α method."""

from __future__ import annotations

import time
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

from tests.benchmarks.peers import Array, Contender, Refused
from tests.benchmarks.peers.tree import Tree

INSTANT = 1e-13  # after which accelerations are read [s]
LETTERS = "XYZ"


class Mechanism:
    """A system whose coordinates are those of a tree, but for the sense of axes, and one that is built anew for every run."""

    def __init__(self, tree: Tree, q: Array, v: Array) -> None:
        if tree.free is not None:
            raise Refused("no quaternions in kinematic trees")
        if tree.loop:
            raise Refused("loops need other coordinates")
        self.senses = np.array([link.axis.sum() for link in tree.links])
        kinds = [getattr(exu.JointType, f"Revolute{LETTERS[np.abs(link.axis).argmax()]}") for link in tree.links]
        assert all(np.abs(link.axis).max() == 1 for link in tree.links)
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        n = len(tree.links)
        node = self.system.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=[0.0] * n,
                initialCoordinates=list(self.senses * q),
                initialCoordinates_t=list(self.senses * v),
                numberOfODE2Coordinates=n,
            )
        )
        self.system.AddObject(
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
        kinds = exu.OutputVariableType.Coordinates, exu.OutputVariableType.Coordinates_t
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
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = interval
        settings.timeIntegration.explicitIntegration.computeEndOfStepAccelerations = False
        return settings

    def run(self, settings: Any, solver: Any) -> tuple[float, list[Array]]:
        """Wall time, and what the sensors stored: time and coordinates, time and their rates."""
        began = time.perf_counter()
        self.system.SolveDynamic(settings, solverType=solver)
        return time.perf_counter() - began, [self.system.GetSensorStoredData(each) for each in self.sensors]


def contenders(tree: Tree, times: Array, q: Array, v: Array) -> list[Contender]:
    """RK44 and RK67 with fixed steps; states at given times are not to be had of its error-controlled integrators."""
    mechanism, interval = Mechanism(tree, q, v), times[1] - times[0]

    def acceleration(q: Array, v: Array) -> Array:
        other = Mechanism(tree, q, v)
        settings = other.settings(INSTANT, INSTANT)
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.minimumStepSize = 1, INSTANT / 2
        settings.timeIntegration.explicitIntegration.computeEndOfStepAccelerations = True
        other.run(settings, exu.DynamicSolverType.ExplicitEuler)
        return mechanism.senses * other.system.systemData.GetODE2Coordinates_tt()

    def solve(solver: Any, step: float) -> tuple[float, Array, Array]:
        settings = mechanism.settings(times[-1], interval)
        settings.timeIntegration.numberOfSteps = round(times[-1] / step)
        settings.timeIntegration.automaticStepSize = False
        seconds, stored = mechanism.run(settings, solver)
        states = np.full((2, len(times), len(q)), np.nan)
        for columns, rows in zip(states, stored, strict=True):
            columns[np.rint(rows[:, 0] / interval).astype(int)] = mechanism.senses * rows[:, 1:]
        return seconds, *states

    kinds = exu.DynamicSolverType
    steps = tuple(interval / part for part in (2, 4, 8, 16, 32, 64, 128, 256))
    return [
        Contender("Exudyn RK44", acceleration, steps, lambda step: solve(kinds.RK44, step)),
        Contender("Exudyn RK67", acceleration, steps, lambda step: solve(kinds.RK67, step)),
    ]
