"""An arm of five hinges that draws a circle, with its pen upright, by inverse kinematics.

Each posture starts from the one before, so that the arm moves without jumps. The picture shows some of the postures from above
and from the side, and the way of the pen.
"""

from typing import Any

import numpy as np

import mbvi

MODEL = """
name: drawing arm
bodies:
  base: {mass: 2, inertia: [0.1, 0.1, 0.1]}
  upper: {mass: 1, center_of_mass: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05]}
  fore: {mass: 1, center_of_mass: [0.25, 0, 0], inertia: [0.01, 0.03, 0.03]}
  hand: {mass: 0.3, inertia: [0.001, 0.001, 0.001]}
  pen: {mass: 0.1, inertia: [0.001, 0.001, 0.001], frames: {tip: {position: [0.1, 0, 0]}}}
joints:
  waist: {type: revolute, parent: world, child: base, axis: [0, 0, 1]}
  shoulder: {type: revolute, parent: base, child: upper, axis: [0, -1, 0], position: [0, 0, 0.4]}
  elbow: {type: revolute, parent: upper, child: fore, axis: [0, -1, 0], position: [0.6, 0, 0], limits: {angle: {upper: -0.1}}}
  wrist: {type: revolute, parent: fore, child: hand, axis: [0, -1, 0], position: [0.5, 0, 0]}
  twist: {type: revolute, parent: hand, child: pen, axis: [1, 0, 0]}
initial: {shoulder: {position: 1}, elbow: {position: -1.5}, wrist: {position: -1}}
"""
DOWN = (0.0, np.pi / 2, 0.0)
"""The rotation of the pen, whose x axis points down, as a rotation vector."""
BODIES = ("base", "upper", "fore", "hand", "pen.tip")


def main(points: int = 25) -> tuple[mbvi.System, np.ndarray, np.ndarray]:
    """The system, the points (points, 3) of the circle, and the postures (points, n) in which the tip of the pen is there."""
    system = mbvi.assemble(mbvi.from_yaml(MODEL))
    angles = np.linspace(0, 2 * np.pi, points)
    circle = np.stack([0.6 + 0.15 * np.cos(angles), 0.15 * np.sin(angles), np.full(points, 0.1)], axis=1)
    postures, q = [], system.initial_q
    for place in circle:
        q = system.inverse_kinematics({"pen.tip": {"place": place, "rotation": DOWN}}, q).q
        postures.append(q)
    return system, circle, np.array(postures)


def draw(system: mbvi.System, circle: np.ndarray, postures: np.ndarray) -> Any:
    """A picture of the postures."""
    from matplotlib import pyplot

    figure, views = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axes, (i, j), title in zip(views, ((0, 2), (0, 1)), ("from the side", "from above"), strict=True):
        for q in postures[:-1:4]:
            joints = np.array([system.frame_pose(body, q)[0] for body in BODIES])
            axes.plot(joints[:, i], joints[:, j], "-o", color="#0072B2", alpha=0.5, markersize=3)
        axes.plot(circle[:, i], circle[:, j], color="#D55E00", linewidth=2)
        axes.set(aspect="equal", xlabel="x [m]", ylabel=f"{'xyz'[j]} [m]", title=title)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    draw(*main()).savefig("circle.png")
    print("written to circle.png")
