"""Whether round-off walks at random: `python -m tests.campaigns.drift [--starts 64] [--steps 1000000] [CASE …]`.

From many starts at random, what the equations of a step conserve, the momenta, and the energy where its truncation error is
below round-off, changes by rounding alone. If that has no preferred sign, the change is 0 in the mean over the starts, within its
standard error, and grows as the square root of time. Both are printed for every case, formulation and step: of each quantity the
root mean square of its relative change, the mean in standard errors, and the exponent x of t^x, which is ½ for a random walk, 1
for a drift.

The exponent is that of changes over windows of 1, 2, 4, … parts of a run, root mean squares over all starts and windows. It is
smaller where what the steps add is less than the rounding of the states that are stored, which does not grow. What does not
change at all, as the momentum of an angle on which nothing depends, has no row.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import mbvi

Array = np.ndarray
Start = Callable[[np.random.Generator], mbvi.Model]
WINDOWS = 64  # of a run, between states that are stored
LONGEST = 16  # parts of the run: windows up to it are so many that their root mean square is known
STANDARD_ERRORS, LARGEST_EXPONENT = 3.0, 0.6  # of a random walk


class Case(NamedTuple):
    """What runs: starts at random, a scheme, and steps [s]."""

    start: Start
    formulation: str
    scheme: str
    steps: tuple[float, ...]
    has_energy: bool = True


@dataclass(frozen=True)
class Walk:
    """How one quantity changed: relative change at the end, root mean square and mean in standard errors; exponent of growth."""

    name: str
    change: float
    mean: float
    exponent: float

    @property
    def is_drift(self) -> bool:
        """Whether it is more than a random walk."""
        return abs(self.mean) > STANDARD_ERRORS or self.exponent > LARGEST_EXPONENT


def free_body(random: np.random.Generator) -> mbvi.Model:
    """A body without forces, in any attitude."""
    attitude, rates = random.normal(size=4), random.normal(scale=4, size=3)
    return mbvi.Model(
        name="free body",
        gravity=(0, 0, 0),
        bodies={"body": mbvi.Body(mass=1, inertia=(1, 2, 2.5))},
        joints={"fly": mbvi.Free(parent="world", child="body")},
        initial={
            "fly": {
                "position": [0, 0, 0, *(attitude / np.linalg.norm(attitude))],
                "velocity": [0, 0, 0, *rates],
            }
        },
    )


def steady_body(random: np.random.Generator) -> mbvi.Model:
    """A body without forces, which turns steadily about the principal axis y: what rounding does repeats itself."""
    return mbvi.Model(
        name="steady body",
        gravity=(0, 0, 0),
        bodies={"body": mbvi.Body(mass=1, inertia=(1, 2, 2.5))},
        joints={"fly": mbvi.Free(parent="world", child="body")},
        initial={"fly": {"velocity": [0, 0, 0, 0, 10 + random.uniform(-1, 1), 0]}},
    )


def heavy_top(random: np.random.Generator) -> mbvi.Model:
    """A top without symmetry on a fixed point."""
    attitude, rates = random.normal(size=4), random.normal(scale=3, size=3)
    return mbvi.Model(
        name="heavy top",
        bodies={"top": mbvi.Body(mass=1, center_of_mass=(0, 0, 0.5), inertia=(0.2, 0.3, 0.15))},
        joints={"contact": mbvi.Ball(parent="world", child="top")},
        initial={
            "contact": {"position": [*(attitude / np.linalg.norm(attitude))], "velocity": [*rates]},
        },
    )


def steady_top(random: np.random.Generator) -> mbvi.Model:
    """A top without weight, which turns steadily about the principal axis y, in any direction."""
    axis, rate = random.normal(size=3), 6 + random.uniform(-1, 1)
    axis /= np.linalg.norm(axis)
    to_axis = np.array([1 + axis[1], axis[2], 0, -axis[0]])  # the shortest turn that takes y there
    turn = random.uniform(0, np.pi)
    attitude = Rotation.from_quat(to_axis, scalar_first=True) * Rotation.from_rotvec([0, turn, 0])
    return heavy_top(random).replaced(
        {
            "gravity": (0, 0, 0),
            "initial": {
                "contact": mbvi.Initial(position=attitude.as_quat(scalar_first=True).tolist(), velocity=[0, rate, 0])
            },
        }
    )


def rod(length: float) -> mbvi.Body:
    """A thin rod of 1 kg along x from its origin."""
    inertia = length**2 / 12
    return mbvi.Body(mass=1, center_of_mass=(length / 2, 0, 0), inertia=(0.01 * inertia, inertia, inertia))


def double_pendulum(random: np.random.Generator) -> mbvi.Model:
    """Two rods on hinges, which swing through some 60 degrees."""
    axis = (0, 1, 0)
    return mbvi.Model(
        name="double pendulum",
        bodies={"upper": rod(1), "lower": rod(1)},
        joints={
            "shoulder": mbvi.Revolute(parent="world", child="upper", axis=axis),
            "elbow": mbvi.Revolute(parent="upper", child="lower", axis=axis, position=(1, 0, 0)),
        },
        initial={
            "shoulder": {"position": 1.57 + random.uniform(-1, 1)},
            "elbow": {"position": random.uniform(-1, 1)},
        },
    )


def spherical_pendulum(random: np.random.Generator) -> mbvi.Model:
    """Two point masses on massless rods, which swing in space: in the embedding their lengths are the constraints."""
    axes = ((1, 0, 0), (0, 1, 0))
    return mbvi.Model(
        name="double spherical pendulum",
        bodies={
            name: mbvi.Body(point_masses={"mass": {"mass": mass, "position": (0, 0, -length)}})
            for name, mass, length in (("upper", 2, 4), ("lower", 3.5, 3))
        },
        joints={
            "hook": mbvi.Universal(parent="world", child="upper", axes=axes),
            "knot": mbvi.Universal(parent="upper", child="lower", axes=axes, position=(0, 0, -4)),
        },
        initial={
            name: {
                "position": [*random.uniform(-0.5, 0.5, 2)],
                "velocity": [*random.normal(scale=0.5, size=2)],
            }
            for name in ("hook", "knot")
        },
    )


def turning_four_bar(random: np.random.Generator) -> mbvi.Model:
    """A four-bar linkage on a frame that turns freely about the vertical, along which nothing pulls."""
    axis = (0, -1, 0)
    hinges = {
        "shaft": mbvi.Revolute(parent="frame", child="crank", axis=axis),
        "pin": mbvi.Revolute(parent="crank", child="coupler", axis=axis, position=(0.3, 0, 0)),
        "support": mbvi.Revolute(parent="frame", child="rocker", axis=axis, position=(1, 0, 0)),
        "tie": mbvi.Revolute(parent="coupler", child="rocker", axis=axis, position=(0.9, 0, 0), offset=(0.7, 0, 0)),
    }
    return mbvi.Model(
        name="four-bar that turns",
        bodies={"frame": rod(1), "crank": rod(0.3), "coupler": rod(0.9), "rocker": rod(0.7)},
        joints={"turntable": mbvi.Revolute(parent="world", child="frame", axis=(0, 0, 1)), **hinges},
        initial={
            "turntable": {"velocity": random.normal(), "hold": True},
            "shaft": {"position": 1.57, "velocity": 3 + random.normal(), "hold": True},
            "pin": {"position": -1.13},
            "support": {"position": 1.83},
        },
    )


STEPS = (5e-3, 7.3e-3, 3.1e-3)  # [s]
CASES = {
    "free body, tree": Case(free_body, "tree", "midpoint", STEPS),
    "free body, embedding": Case(free_body, "embedding", "midpoint", STEPS),
    "steady body, tree": Case(steady_body, "tree", "midpoint", STEPS),
    "steady body, embedding": Case(steady_body, "embedding", "midpoint", STEPS),
    "heavy top, tree": Case(heavy_top, "tree", "gauss4", STEPS),
    "heavy top, embedding": Case(heavy_top, "embedding", "gauss4", STEPS),
    "steady top, embedding": Case(steady_top, "embedding", "simpson", STEPS),
    "double pendulum, tree": Case(double_pendulum, "tree", "gauss6", STEPS),
    "spherical pendulum, embedding": Case(spherical_pendulum, "embedding", "midpoint", STEPS, has_energy=False),
    "turning four-bar, tree": Case(turning_four_bar, "tree", "gauss4", (1e-3, 2.3e-3)),
    "turning four-bar, independent": Case(turning_four_bar, "tree", "independent4", (1e-3, 2.3e-3)),
    "turning four-bar, embedding": Case(turning_four_bar, "embedding", "midpoint", STEPS, has_energy=False),
}


def changes(case: Case, step: float, starts: int, steps: int, threads: int = 2) -> dict[str, Array]:
    """Relative changes (starts, WINDOWS + 1) of every conserved quantity since each start."""
    every = max(1, round(steps / WINDOWS))
    models = [case.start(np.random.default_rng(seed)) for seed in range(starts)]

    def run(model: mbvi.Model) -> dict[str, Array]:
        trajectory = mbvi.simulate(
            model,
            case.scheme,
            step=step,
            duration=step * every * WINDOWS,
            formulation=case.formulation,
            every=every,
        )
        quantities = dict(trajectory.momenta())
        if case.has_energy:
            quantities["energy"] = trajectory.energy() / trajectory.kinetic_energy().max()
        return quantities

    with ThreadPoolExecutor(threads) as pool:
        runs = list(pool.map(run, models))
    found = {}
    for name in runs[0]:
        values = np.array([each[name] for each in runs])
        size = 1.0 if name == "energy" else abs(values).max()
        if np.ptp(values, axis=1).any():  # what stays 0 does not walk
            found[name] = (values - values[:, :1]) / size
    return found


def walk(name: str, change: Array) -> Walk:
    """How a quantity walks whose relative changes since each start are given (starts, WINDOWS + 1)."""
    ends = change[:, -1]
    lags = [2**i for i in range(20) if 2**i * LONGEST <= change.shape[1] - 1]
    sizes = [np.sqrt(np.mean((change[:, lag:] - change[:, :-lag]) ** 2)) for lag in lags]
    exponent = np.polyfit(np.log(lags), np.log(sizes), 1)[0]
    return Walk(name, np.sqrt(np.mean(ends**2)), ends.mean() / (ends.std(ddof=1) / np.sqrt(len(ends))), exponent)


def walks(case: Case, step: float, starts: int, steps: int) -> Iterator[Walk]:
    """How every conserved quantity of a case walks."""
    for name, change in changes(case, step, starts, steps).items():
        yield walk(name, change)


def main() -> int:
    """Run the cases named, or all, and print a row for each quantity; the exit code is 1 if one drifts."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.drift", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="begin of names of cases; by default all")
    parser.add_argument("--starts", type=int, default=64)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--sizes", type=int, default=None, metavar="N", help="only the first N step sizes of each case")
    options = parser.parse_args()
    print("| case | step [s] | quantity | relative change | mean, in standard errors | exponent | |", flush=True)
    print("| --- | --- | --- | --- | --- | --- | --- |")
    drifts = 0
    for name, case in CASES.items():
        if options.cases and not any(name.startswith(each) for each in options.cases):
            continue
        for step in case.steps[: options.sizes]:
            for each in walks(case, step, options.starts, options.steps):
                drifts += each.is_drift
                found = "drift" if each.is_drift else "random walk"
                print(
                    f"| {name}, {case.scheme} | {step:g} | {each.name} | {each.change:.1e} | {each.mean:+.1f} | "
                    f"{each.exponent:.2f} | {found} |",
                    flush=True,
                )

    return int(drifts > 0)


if __name__ == "__main__":
    raise SystemExit(main())
