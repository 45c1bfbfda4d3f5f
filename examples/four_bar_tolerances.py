"""How the stroke of a four-bar's rocker depends on the tolerances of its bars: Sobol indices, beside a closed form.

The rocker turns back where crank and coupler lie in line. With ground g, crank a, coupler b and rocker c its angle ψ from the
ground is there, by the law of cosines,

    cos ψ± = (g² + c² − (b ± a)²) / 2gc,    stroke = ψ+ − ψ−

and for small tolerances a bar's part of the variance is (∂stroke/∂length · deviation)², divided by their sum.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import mbvi
from mbvi.ensembles import sampling
from mbvi.ensembles.sensitivity import sobol_indices

MODEL = Path(__file__).parents[1] / "models" / "four_bar.yaml"
DEVIATIONS = {"ground": 0.002, "crank": 0.001, "coupler": 0.002, "rocker": 0.001}  # [m]


def stroke(run: mbvi.Trajectory) -> float:
    """The angle that the rocker turns through [rad]: parabolas through the three states about its ends."""
    angle = run.q[:, run.system.coordinate_names.index("support.angle")]
    return end_of(angle, int(angle.argmax())) - end_of(angle, int(angle.argmin()))


def end_of(values: np.ndarray, at: int) -> float:
    """The extreme value of a parabola through a value and those beside it."""
    before, middle, after = values[at - 1 : at + 2]
    return float(middle - (after - before) ** 2 / (8 * (after - 2 * middle + before)))


def closed_form(ground: float, crank: float, coupler: float, rocker: float) -> float:
    """The same by the law of cosines [rad]."""
    reach = np.array([coupler + crank, coupler - crank])
    angles = np.arccos((ground**2 + rocker**2 - reach**2) / (2 * ground * rocker))
    return float(angles[0] - angles[1])


def parts() -> dict[str, float]:
    """Every bar's part of the variance, by differences of the closed form."""
    lengths = mbvi.load(MODEL).resolved().parameters
    nominal = {name: float(lengths[name]) for name in DEVIATIONS}
    slopes = {}
    for name in nominal:
        above, below = (closed_form(**nominal | {name: nominal[name] + sign * 1e-6}) for sign in (1, -1))
        slopes[name] = (above - below) / 2e-6 * DEVIATIONS[name]
    total = sum(each**2 for each in slopes.values())
    return {name: each**2 / total for name, each in slopes.items()}


def main(members: int = 64, **options: Any) -> Any:
    """The ensemble, and the Sobol indices of the stroke."""
    over = {name: sampling.Normal(mean=name, deviation=deviation) for name, deviation in DEVIATIONS.items()}
    plan = sampling.SamplingPlan(over=over, members=members, method="saltelli", seed=1)
    runs = mbvi.ensemble(mbvi.load(MODEL), plan, duration=1.2, measure={"stroke": stroke}, **options)
    return runs, sobol_indices(runs, "stroke")


if __name__ == "__main__":
    runs, indices = main(int(sys.argv[1]) if sys.argv[1:] else 64)
    print(
        f"stroke {np.degrees(runs.stroke.mean()):.2f} ± {np.degrees(runs.stroke.std()):.2f} deg of {runs.stroke.size} linkages"
    )
    print("bar       first   total   closed form")
    for name, part in parts().items():
        bar = indices.sel(parameter=name)
        print(f"{name:8}  {float(bar['first']):5.3f}   {float(bar['total']):5.3f}   {part:5.3f}")
