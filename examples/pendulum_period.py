"""The period of a pendulum for many angles from which it is let go, by events, beside its closed form.

The pendulum passes its lowest point twice in a period. Each passing is found by a step that ends on it, so that periods have the
order of the scheme, whatever the step.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbvi
from mbvi.exact import Pendulum

MODEL = Path(__file__).parents[1] / "models" / "pendulum.yaml"
ANGLES = np.radians([10.0, 60.0, 120.0, 170.0, 179.0])


def lowest(t, q, v):
    """The angle, which is zero there."""
    return q[0]


def main() -> dict[float, tuple[float, float]]:
    """For every angle the period that is found [s], and by how much it errs."""
    system, found = mbvi.assemble(mbvi.load(MODEL)), {}
    for angle in ANGLES:
        events = {"lowest": mbvi.Event(lowest, direction=-1)}
        run = mbvi.simulate(system, "gauss6", step=0.05, duration=20.0, initial_q=[angle], events=events)
        times = run.events["lowest"].t
        period = (times[-1] - times[0]) / (len(times) - 1)
        error = period - Pendulum(length=1.0, gravity=9.81, angle=angle).period
        found[float(angle)] = period, error
        print(f"{np.degrees(angle):5.0f}°   {period:.12f} s   error {error:+.0e} s")
    return found


if __name__ == "__main__":
    main()
