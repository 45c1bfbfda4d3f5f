"""Exudyn: limit stops and bristles of its spring-damper of coordinates, with the implicit trapezoidal rule.

A belt, and what drives a spring, are masses so heavy that nothing slows them.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

from tests.benchmarks.peers import Array
from tests.benchmarks.peers.stiff import POWERS, STEPS, damping_ratio, stiffness

if TYPE_CHECKING:
    from tests.benchmarks.nonsmooth import Problem, Run

HEAVY = 1e9  # [kg]
FAR = 1e6  # of a stop that is never reached [m]


class System:
    """The problem: coordinates of masses, and what connects them to each other or to the ground."""

    def __init__(self, problem: Problem, step: float, power: int, interval: float) -> None:
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        self.problem, self.ground = problem, self._marker(self.system.AddNode(items.NodePointGround()))
        self.mass, coordinate = self._pendulum() if problem.length else self._body(*problem.start, 1.0)
        if problem.weight and not problem.belt:
            self.system.AddLoad(items.LoadCoordinate(markerNumber=coordinate, load=problem.weight))
        self._connect(coordinate, stiffness(step, power))
        kinds = exu.OutputVariableType
        sensor = items.SensorNode(nodeNumber=self.mass, storeInternal=True, outputVariableType=kinds.Coordinates)
        self.sensor, self.interval = self.system.AddSensor(sensor), interval
        self.system.Assemble()

    def _marker(self, node: int) -> int:
        return int(self.system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=0)))

    def _body(self, place: float, rate: float, mass: float) -> tuple[int, int]:
        """The node of a mass and the marker of its coordinate."""
        node = self.system.AddNode(
            items.Node1D(referenceCoordinates=[0.0], initialCoordinates=[place], initialVelocities=[rate])
        )
        self.system.AddObject(items.ObjectMass1D(mass=mass, nodeNumber=node))
        return node, self._marker(node)

    def _pendulum(self) -> tuple[int, int]:
        """The node of a point of 1 kg on a hinge, and the marker of its angle."""
        place, rate = self.problem.start
        node = self.system.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=[0.0],
                initialCoordinates=[place],
                initialCoordinates_t=[rate],
                numberOfODE2Coordinates=1,
            )
        )
        self.system.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=node,
                jointTypes=[exu.JointType.RevoluteY],
                linkParents=[-1],
                jointTransformations=exu.Matrix3DList([np.eye(3)]),
                jointOffsets=exu.Vector3DList([np.zeros(3)]),
                linkInertiasCOM=exu.Matrix3DList([np.zeros((3, 3))]),
                linkCOMs=exu.Vector3DList([np.array([0.0, 0.0, -self.problem.length])]),
                linkMasses=[1.0],
                gravity=[0.0, 0.0, -9.81],
                baseOffset=[0.0, 0.0, 0.0],
            )
        )
        return node, self._marker(node)

    def _connect(self, x: int, k: float) -> None:
        problem = self.problem
        if problem.stiffness:
            other = self.ground
            if problem.drive:
                _, other = self._body(1.0, 0.0, HEAVY)
                spring = items.ObjectConnectorCoordinateSpringDamper(
                    markerNumbers=[self.ground, other], stiffness=HEAVY * problem.drive**2
                )
                self.system.AddObject(spring)
            spring = items.ObjectConnectorCoordinateSpringDamper(markerNumbers=[other, x], stiffness=problem.stiffness)
            self.system.AddObject(spring)
        own: dict[str, float | bool] = {}
        if problem.stop is not None:
            damping = 2 * damping_ratio(problem.stop, may_pull=True) * k**0.5
            own = {"useLimitStops": True, "limitStopsLower": 0.0, "limitStopsUpper": FAR}
            own |= {"limitStopsStiffness": k, "limitStopsDamping": damping}
        if problem.friction:
            own |= {"dynamicFrictionForce": problem.friction, "stickingStiffness": k}
        if own:
            against = self._body(0.0, problem.belt, HEAVY)[1] if problem.belt else self.ground
            state = [
                float(np.sign(problem.start[1] - problem.belt)),
                0.0,
                0.0,
            ]  # the first says that it slides, and which way
            data = self.system.AddNode(items.NodeGenericData(numberOfDataCoordinates=3, initialCoordinates=state))
            both = items.ObjectConnectorCoordinateSpringDamperExt(markerNumbers=[against, x], nodeNumber=data, **own)
            self.system.AddObject(both)

    def run(self, duration: float, step: float) -> tuple[float, Array]:
        """Wall time, and x at all intervals."""
        settings = exu.SimulationSettings()
        settings.timeIntegration.endTime = duration
        settings.timeIntegration.numberOfSteps = round(duration / step)
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.adaptiveStep = False
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = self.interval
        began = time.perf_counter()
        self.system.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
        seconds = time.perf_counter() - began
        stored = self.system.GetSensorStoredData(self.sensor)
        x = np.full(round(duration / self.interval) + 1, np.nan)
        x[np.rint(stored[:, 0] / self.interval).astype(int)] = stored[:, 1]
        return seconds, x


def contenders(problem: Problem, times: Array) -> list[Run]:
    """The implicit trapezoidal rule."""
    from tests.benchmarks.nonsmooth import Run

    interval = times[1] - times[0]
    settings = tuple(interval / max(1, round(interval / step)) for step in STEPS)

    def solve(power: int, step: float) -> tuple[float, Array]:
        return System(problem, step, power, interval).run(times[-1], step)

    return [Run(f"Exudyn trapezoidal{more}", settings, partial(solve, power)) for more, power in POWERS.items()]
