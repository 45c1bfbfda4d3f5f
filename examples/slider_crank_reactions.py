"""Reactions in a slider-crank over a turn: what its bearings bear, from the multipliers of the constraints.

In the embedding all joints are constraints, so that every joint has a reaction. The one of the shaft must balance the
weights and the inertia of crank, rod and piston, together with that of the guide: Newton's law of the whole mechanism.
"""

from pathlib import Path

import numpy as np

import mbvi

MODEL = Path(__file__).parents[1] / "models" / "slider_crank.yaml"
JOINTS = ("shaft", "crank pin", "piston pin", "guide")


def main(duration: float = 0.8) -> mbvi.Trajectory:
    """The trajectory of about a turn, from the outer dead centre."""
    return mbvi.simulate(mbvi.load(MODEL), "gauss2", formulation="embedding", step=0.002, duration=duration)


if __name__ == "__main__":
    trajectory = main()
    crank_x = trajectory.pose("crank")[1][:, :, 0]
    angle = np.unwrap(np.arctan2(crank_x[:, 2], crank_x[:, 0]))
    forces = {joint: trajectory.reaction(joint)[0] for joint in JOINTS}
    print("crank [deg]", *(f"{joint + ' [N]':>15}" for joint in JOINTS))
    for wanted in range(0, 361, 45):
        i = int(np.argmin(np.abs(np.degrees(angle) - wanted)))  # the angle grows all the time
        sizes = (np.linalg.norm(force[i]) for force in forces.values())
        print(f"{np.degrees(angle[i]):11.1f}", *(f"{size:15.1f}" for size in sizes))
