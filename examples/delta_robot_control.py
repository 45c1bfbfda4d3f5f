"""A delta robot whose platform follows a circle, by computed torque on its loops, from a start beside the path.

The arms' angles along the path come from inverse kinematics, their rates and accelerations from a periodic spline through them.
"""

import importlib.util
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

import mbvi
from mbvi.control import ComputedTorque

TURN, PERIOD = 1.0, 0.002
"""Time of a turn, and from one call of the controller to the next [s]."""
spec = importlib.util.spec_from_file_location("delta_robot_torques", Path(__file__).with_name("delta_robot_torques.py"))
robot = importlib.util.module_from_spec(spec)
spec.loader.exec_module(robot)


def model() -> mbvi.Model:
    """The robot with motors in its three arms."""
    forces = {f"drive{i}": mbvi.Motor(joint=f"motor{i}") for i in range(3)}
    return robot.model().model_copy(update={"forces": forces})


def angles(system: mbvi.System, points: int = 100) -> CubicSpline:
    """The angles of the arms (3,) along the path."""
    times, q, found = np.linspace(0, TURN, points + 1), system.initial_q, []
    places = [system.coordinate_names.index(f"motor{i}.angle") for i in range(3)]
    for t in times:
        q = system.inverse_kinematics({"platform": {"place": robot.path(t)[0], "rotation": (0, 0, 0)}}, q).q
        found.append(q[places])
    found[-1] = found[0]
    return CubicSpline(times, found, bc_type="periodic")


def main(duration: float = 1.0) -> tuple[mbvi.Trajectory, np.ndarray]:
    """The run, and how far the platform is from its path at its times [m]."""
    system = mbvi.assemble(model())
    path = angles(system)
    law = ComputedTorque(
        [f"drive{i}" for i in range(3)],
        lambda t: (path(t % TURN), path(t % TURN, 1), path(t % TURN, 2)),
        stiffness=900,
        damping=60,
    )
    controllers = {"path": mbvi.Controller(law, PERIOD)}
    run = mbvi.simulate(system, "simpson", step=PERIOD, duration=duration, controllers=controllers)
    wanted = np.array([robot.path(t)[0] for t in run.t])
    return run, np.linalg.norm(run.pose("platform")[0] - wanted, axis=1)


if __name__ == "__main__":
    run, errors = main()
    for row in range(0, len(run), 100):
        print(f"t = {run.t[row]:.1f} s: {1000 * errors[row]:.3f} mm from the path")
