"""An arm whose motors carry its weight: it stays where it is; without them it falls."""

import numpy as np

import mbvi
from mbvi.control import GravityCompensation


def model() -> mbvi.Model:
    """Three links in a plane, with motors behind gears."""
    bodies, joints, forces, parent = {}, {}, {}, "world"
    for i, (name, length) in enumerate((("shoulder", 0.4), ("elbow", 0.35), ("wrist", 0.15))):
        bodies[name] = mbvi.Body(mass=2 - 0.6 * i, center_of_mass=(length / 2, 0, 0), inertia=(0.001, 0.02, 0.02))
        place = (0, 0, 0) if i == 0 else (0.4 if i == 1 else 0.35, 0, 0)
        joints[name] = mbvi.Revolute(parent=parent, child=name, axis=(0, 1, 0), position=place)
        forces[f"{name} motor"] = mbvi.Motor(joint=name, gear=20)
        parent = name
    initial = {"shoulder": mbvi.Initial(position="-30 deg"), "elbow": mbvi.Initial(position="70 deg")}
    return mbvi.Model(name="arm without weight", bodies=bodies, joints=joints, forces=forces, initial=initial)


def main(duration: float = 1.0) -> tuple[mbvi.Trajectory, mbvi.Trajectory]:
    """The run with gravity compensation, and that without."""
    arm = model()
    controllers = {"weight": mbvi.Controller(GravityCompensation(list(arm.forces)), period=0.01)}
    return mbvi.simulate(arm, step=0.01, duration=duration, controllers=controllers), mbvi.simulate(
        arm, step=0.01, duration=duration
    )


if __name__ == "__main__":
    for name, run in zip(("with", "without"), main(), strict=True):
        print(f"{name} compensation: moved by at most {np.degrees(np.abs(run.q - run.q[0]).max()):.3g}°")
