"""What rolling conserves in long runs: `python -m tests.campaigns.rolling [--steps 1000000] [CASE …]`.

Of every case the largest relative error of what its motion conserves is printed, in the first and in the last tenth of a run:
where both are alike, nothing drifts. The energy is that of the states; of a ball in an upright cylinder the rate about the axis
and the spin about the vertical are conserved too. The rattleback takes up one sense of its spin and the other gives it back: no
reversible scheme must keep its energy.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import mbvi
from tests.folders import load

Array = np.ndarray
Conserved = Callable[[mbvi.Trajectory], dict[str, Array]]
STORED = 2000  # states of a run


class Case(NamedTuple):
    """What runs, its step [s], and what is conserved besides the energy."""

    model: Callable[[], mbvi.Model]
    step: float
    conserved: Conserved = lambda run: {}


class Change(NamedTuple):
    """The largest relative error of a conserved quantity in the first and in the last tenth of a run."""

    name: str
    first: float
    last: float


def _rolling(name: str, body: mbvi.Body, rolling: object, position: tuple, velocity: tuple) -> mbvi.Model:
    return mbvi.Model(
        name=name,
        gravity=(0, 0, -9.81),
        bodies={"body": body},
        joints={"free": mbvi.Free(parent="world", child="body")},
        constraints={"rolling": rolling},
        initial={"free": mbvi.Initial(position=position, velocity=velocity)},
    )


def disc() -> mbvi.Model:
    """A disc that nods while it rolls in circles."""
    rolling = mbvi.RollingWheel(body_a="world", body_b="body", radius=0.7, axis=(0, 1, 0))
    body = mbvi.Body(mass=2, inertia=(0.3, 0.5, 0.3))
    return _rolling("disc", body, rolling, (0, 0, 0.7, 1, 0, 0, 0), (2.1, 0, 0, 0.3, 3, 0.5))


def cylinder() -> mbvi.Model:
    """A ball in an upright cylinder."""
    rolling = mbvi.RollingBall(
        body_a="world", body_b="body", radius=0.1, surface="cylinder", surface_radius=0.6, inside=True
    )
    body = mbvi.Body(shapes=[mbvi.Sphere(radius=0.1, mass=0.5)])
    return _rolling("ball in a cylinder", body, rolling, (0.5, 0, 0, 1, 0, 0, 0), (0, 4, 0, 0.5, 0.2, -40))


def bowl() -> mbvi.Model:
    """A ball in a sphere."""
    rolling = mbvi.RollingBall(
        body_a="world", body_b="body", radius=0.1, surface="sphere", surface_radius=0.6, inside=True
    )
    body = mbvi.Body(shapes=[mbvi.Sphere(radius=0.1, mass=0.5)])
    return _rolling("ball in a bowl", body, rolling, (0.3, 0, -0.4, 1, 0, 0, 0), (0, 1, 0, 0, 0, 3))


def angular_velocity(run: mbvi.Trajectory) -> Array:
    """Of the only body, along the axes of the world, (N, 3)."""
    a, rate = run.q[:, 3:7], run.v[:, 3:7]
    vector = a[:, :1] * rate[:, 1:] - rate[:, :1] * a[:, 1:] + np.cross(a[:, 1:], rate[:, 1:])
    return 2 * vector


def of_cylinder(run: mbvi.Trajectory) -> dict[str, Array]:
    """The rate about the axis, and the spin about the vertical."""
    moment = run.q[:, 0] * run.v[:, 1] - run.q[:, 1] * run.v[:, 0]
    return {"rate about the axis": moment, "spin about the vertical": angular_velocity(run)[:, 2]}


CASES = {
    "disc": Case(disc, 0.01),
    "cylinder": Case(cylinder, 0.005, of_cylinder),
    "bowl": Case(bowl, 0.005),
    "rattleback": Case(lambda: load("rattleback"), 0.002),
    "bicycle": Case(lambda: load("bicycle"), 0.01),
}


def changes(case: Case, steps: int, scheme: str = "midpoint") -> list[Change]:
    """How what a case conserves errs in the first and the last tenth of a run of so many steps."""
    every = max(1, steps // STORED)
    run = mbvi.simulate(case.model(), scheme, step=case.step, duration=steps * case.step, every=every)
    tenth, scale = len(run.t) // 10, float(np.abs(run.kinetic_energy()).max())
    found = []
    for name, values in {"energy": run.energy(), **case.conserved(run)}.items():
        error = np.abs(values - values[0]) / (scale if name == "energy" else np.abs(values[0]))
        found.append(Change(name, float(error[:tenth].max()), float(error[-tenth:].max())))
    return found


def main() -> None:
    """Run the cases that are asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], metavar="CASE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--scheme", default="midpoint")
    arguments = parser.parse_args()
    for name in arguments.cases or CASES:
        for each in changes(CASES[name], arguments.steps, arguments.scheme):
            print(f"{name:12} {each.name:26} first tenth {each.first:.1e}  last tenth {each.last:.1e}", flush=True)


if __name__ == "__main__":
    main()
