"""Every function of kinematics and dynamics against Pinocchio, on arms and quadrupeds at random states.

    python -m tests.campaigns.robot_functions [--states 5] [NAME …]

Names are those of files of the package example-robot-data (pip install example-robot-data). A robot is fixed, or floats where it
has legs. Pinocchio's velocities are E(q) times those of mbvi: along the axes of a floating base instead of the world's.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import mbvi
from mbvi.system.exchange import from_pinocchio, to_pinocchio
from mbvi.system.system import System

from .urdf import as_read, default_folder, off, random_state

ROBOTS = {
    "ur5_robot": False,
    "panda": False,
    "z1": False,
    "solo12": True,
    "go2": True,
    "anymal": True,
    "hyq_no_sensors": True,
}
TOLERANCE = 1e-12
Found = dict[str, tuple[Any, Any]]


def compared(path: Path, floating: bool, states: int, seed: int = 0) -> dict[str, float]:
    """The largest difference of each function, relative to the largest entry."""
    import pinocchio as pin

    model = mbvi.load(path, floating=floating, geometry="none")
    robot = pin.buildModelFromXML(as_read(path, model), *((pin.JointModelFreeFlyer(),) if floating else ()))
    system, random = mbvi.assemble(model.replaced({"forces": {}, "constraints": {}})), np.random.default_rng(seed)
    worst: dict[str, float] = {}
    for _ in range(states):
        state = _State(pin, robot, system, *random_state(pin, robot, random))
        for name, (ours, theirs) in {**state.dynamics(), **state.momenta(), **state.kinematics()}.items():
            worst[name] = max(worst.get(name, 0.0), off(ours, theirs))
    return worst


def cross(x: Any) -> Any:
    """The matrix of x × y as a product with y."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


class _State:
    """A state in both programs, and how Pinocchio's velocities and accelerations change with q and v of mbvi.

    E (nv, nv)         v_pin = E v; a_pin = E a + Ė v
    by_q, by_v         (v_pin by q), (a_pin by q), (a_pin by v)
    """

    def __init__(self, pin: Any, robot: Any, system: System, q_pin: Any, v_pin: Any, a_pin: Any) -> None:
        self.pin, self.robot, self.system, self.data = pin, robot, system, robot.createData()
        self.q_pin, self.v_pin, self.a_pin = q_pin, v_pin, a_pin
        self.q, rates = from_pinocchio(system, robot, q_pin, v_pin)
        self.v, nv = system.velocity_of_rates(self.q, rates), robot.nv
        units = [system.rates_of_velocity(self.q, unit) for unit in np.eye(nv)]
        self.E = np.array([to_pinocchio(system, robot, self.q, unit)[1] for unit in units]).T
        self.v_by_q, self.a_by_q, self.a_by_v, self.turn = np.zeros((4, nv, nv))
        rest = a_pin.copy()
        if robot.joints[1].nv == 6:
            u, omega = v_pin[:3], v_pin[3:6]
            rest[:3] += np.cross(omega, u)
            base = [system.velocity_names.index(name) for name in system.velocity_names if name.startswith("base.")]
            along, about = base[:3], base[3:6]
            self.v_by_q[:3, about] = self.a_by_v[:3, about] = cross(u)
            self.a_by_q[:3, about] = cross(rest[:3]) - cross(omega) @ cross(u)
            self.a_by_v[:3, along] = -cross(omega) @ self.E[:3, along]
            self.turn[np.ix_(along, about)] = self.E[:3, along].T
        self.a = np.linalg.solve(self.E, rest)

    def dynamics(self) -> Found:
        """Forces, accelerations, matrices and their derivatives."""
        pin, robot, data, system, E = self.pin, self.robot, self.data, self.system, self.E
        q, v, a, of = self.q, self.v, self.a, (self.q_pin, self.v_pin, self.a_pin)
        tau = pin.rnea(robot, data, *of).copy()
        by_q, by_v, M = (each.copy() for each in pin.computeRNEADerivatives(robot, data, *of))
        M = np.triu(M) + np.triu(M, 1).T
        ours, forward = (
            system.inverse_dynamics_derivatives(q, v, a),
            system.forward_dynamics_derivatives(q, v, E.T @ tau),
        )
        turned = np.zeros_like(M)
        if self.turn.any():
            rows, columns = (np.flatnonzero(self.turn.any(axis=axis)) for axis in (1, 0))
            turned[np.ix_(rows, columns)] = -self.turn[np.ix_(rows, columns)] @ cross(tau[:3])
        by_q = E.T @ (by_q @ E + by_v @ self.v_by_q + M @ self.a_by_q) + turned
        by_v, M = E.T @ (by_v @ E + M @ self.a_by_v), E.T @ M @ E
        free = pin.aba(robot, data, *of).copy()
        accelerated = system.forward_dynamics(q, v, E.T @ self.a_pin)
        accelerated = E @ accelerated + (self.a_pin - E @ a)  # with Ė v
        return {
            "inverse_dynamics": (system.inverse_dynamics(q, v, a), E.T @ tau),
            "forward_dynamics": (accelerated, free),
            "bias": (system.bias(q, v) + M @ a, E.T @ tau),
            "gravity": (system.gravity(q), E.T @ pin.computeGeneralizedGravity(robot, data, self.q_pin)),
            "tangent_mass_matrix": (system.tangent_mass_matrix(q), M),
            "inverse_dynamics_derivatives by q": (ours.by_q, by_q),
            "inverse_dynamics_derivatives by v": (ours.by_v, by_v),
            "inverse_dynamics_derivatives by a": (ours.by_a, M),
            "forward_dynamics_derivatives by q": (M @ forward.by_q, -by_q),
            "forward_dynamics_derivatives by v": (M @ forward.by_v, -by_v),
            "forward_dynamics_derivatives by forces": (M @ forward.by_forces, np.eye(len(M))),
        }

    def momenta(self) -> Found:
        """Centre of mass and momentum."""
        pin, robot, data, system, E = self.pin, self.robot, self.data, self.system, self.E
        matrix = pin.ccrba(robot, data, self.q_pin, self.v_pin).copy()
        momentum = data.hg.vector.copy()
        by_q = pin.computeCentroidalDynamicsDerivatives(robot, data, self.q_pin, self.v_pin, self.a_pin)[0]
        found = system.centroidal_momentum_derivatives(self.q, self.v)
        jacobian = pin.jacobianCenterOfMass(robot, data, self.q_pin).copy()
        return {
            "center_of_mass": (system.center_of_mass(self.q), pin.centerOfMass(robot, data, self.q_pin)),
            "center_of_mass_jacobian": (system.center_of_mass_jacobian(self.q), jacobian @ E),
            "centroidal_momentum": (system.centroidal_momentum(self.q, self.v), momentum),
            "centroidal_momentum_matrix": (system.centroidal_momentum_matrix(self.q), matrix @ E),
            "centroidal_momentum_derivatives by q": (found.by_q, by_q @ E + matrix @ self.v_by_q),
            "centroidal_momentum_derivatives by v": (found.by_v, matrix @ E),
        }

    def kinematics(self) -> Found:
        """A frame, in all references, and its derivatives along its own axes."""
        pin, robot, data, system, E, q, v, a = (
            self.pin,
            self.robot,
            self.data,
            self.system,
            self.E,
            self.q,
            self.v,
            self.a,
        )
        pin.computeForwardKinematicsDerivatives(robot, data, self.q_pin, self.v_pin, self.a_pin)
        pin.computeJointJacobians(robot, data, self.q_pin)
        pin.updateFramePlacements(robot, data)
        frame = max(i for i, each in enumerate(robot.frames) if each.type == pin.FrameType.BODY)
        name, place = robot.frames[frame].name, data.oMf[frame]
        found: Found = {
            "frame_pose": (
                np.column_stack(system.frame_pose(name, q)[::-1]),
                np.column_stack([place.rotation, place.translation]),
            )
        }
        references = {"body": pin.LOCAL, "world": pin.WORLD, "world-aligned": pin.LOCAL_WORLD_ALIGNED}
        for reference, theirs in references.items():
            J = pin.getFrameJacobian(robot, data, frame, theirs) @ E
            get = pin.getFrameClassicalAcceleration if reference == "world-aligned" else pin.getFrameAcceleration
            acceleration, ours = get(robot, data, frame, theirs).vector, system.frame_jacobian(name, q, reference)
            velocity = pin.getFrameVelocity(robot, data, frame, theirs).vector
            found |= {
                f"frame_velocity, {reference}": (system.frame_velocity(name, q, v, reference), velocity),
                f"frame_acceleration, {reference}": (system.frame_acceleration(name, q, v, a, reference), acceleration),
                f"frame_jacobian, {reference}": (ours, J),
                f"frame_jacobian_rate, {reference}": (
                    ours @ a + system.frame_jacobian_rate(name, q, v, reference) @ v,
                    acceleration,
                ),
            }
        of_v, by_q, by_v, J = pin.getFrameAccelerationDerivatives(robot, data, frame, pin.LOCAL)
        velocity = system.frame_velocity_derivatives(name, q, v, "body")
        acceleration = system.frame_acceleration_derivatives(name, q, v, a, "body")
        return found | {
            "frame_velocity_derivatives by q": (velocity.by_q, of_v @ E + J @ self.v_by_q),
            "frame_velocity_derivatives by v": (velocity.by_v, J @ E),
            "frame_acceleration_derivatives by q": (acceleration.by_q, by_q @ E + by_v @ self.v_by_q + J @ self.a_by_q),
            "frame_acceleration_derivatives by v": (acceleration.by_v, by_v @ E + J @ self.a_by_v),
            "frame_acceleration_derivatives by a": (acceleration.by_a, J @ E),
        }


def main() -> None:
    """Compare all functions on the robots, and tell the worst of each."""
    parser = argparse.ArgumentParser(description="functions of kinematics and dynamics against Pinocchio")
    parser.add_argument("names", nargs="*", default=list(ROBOTS), help=f"by default all of {', '.join(ROBOTS)}")
    parser.add_argument("--states", type=int, default=5, help="random states of each robot")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", mbvi.errors.MbviWarning)
    worst: dict[str, tuple[float, str]] = {}
    for name in arguments.names:
        path = next(default_folder().rglob(f"{name}.urdf"))
        for function, value in compared(path, ROBOTS[name], arguments.states).items():
            worst[function] = max(worst.get(function, (0.0, "")), (value, name))
    for function, (value, name) in worst.items():
        print(f"{function:44} {value:8.1e}  {name}")
    largest = max(worst.values())[0]
    print(f"{len(arguments.names)} robots, {len(worst)} results of functions; the largest difference is {largest:.1e}")
    sys.exit(largest > TOLERANCE)


if __name__ == "__main__":
    main()
