"""A double pendulum in Python: how chaos multiplies a small difference while the energy is kept.

Two runs start a millionth of a degree apart. Their distance grows exponentially until they have nothing in common; the
energy of both stays within the error of the scheme.
"""

import numpy as np

import mbvi


def double_pendulum() -> mbvi.Model:
    """Two point masses of 1 kg on massless rods of 0.25 m, released from 120 degrees."""
    rod = mbvi.Body(points={"tip": (0, 0, "-length")}, point_masses={"bob": mbvi.PointMass(mass=1, position="tip")})
    return mbvi.Model(
        name="double pendulum",
        parameters={"length": 0.25},
        bodies={"upper": rod, "lower": rod},
        joints={
            "shoulder": mbvi.Revolute(parent="world", child="upper", axis=(0, -1, 0)),
            "elbow": mbvi.Revolute(parent="upper", child="lower", axis=(0, -1, 0), position=(0, 0, "-length")),
        },
        initial={"shoulder": mbvi.Initial(position="120 deg")},
    )


def main(duration: float = 20.0) -> tuple[mbvi.Trajectory, mbvi.Trajectory, np.ndarray]:
    """Both trajectories, and the distance of the lower masses (N + 1,) [m]."""
    system = mbvi.assemble(double_pendulum())
    shift = np.radians([1e-6, 0.0])
    first, second = (
        mbvi.simulate(system, "gauss3", step=0.005, duration=duration, initial_q=system.initial_q + each)
        for each in (0.0 * shift, shift)
    )
    tips = [
        places + rotations @ [0.0, 0.0, -0.25] for places, rotations in (run.pose("lower") for run in (first, second))
    ]
    return first, second, np.linalg.norm(tips[1] - tips[0], axis=1)


if __name__ == "__main__":
    first, second, distance = main()
    for i in range(0, len(first), 400):
        print(f"t = {first.t[i]:4.0f} s   distance of the lower masses {distance[i]:.1e} m")
    for run in (first, second):
        error = np.abs(run.energy() - run.energy()[0]).max()
        print(f"energy {run.energy()[0]:.6f} J, largest error {error:.1e} J")
