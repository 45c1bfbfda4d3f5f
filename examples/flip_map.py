"""When a double pendulum first turns over, for many angles from which it is let go: an ensemble, and its map.

Both rods have the length l and bear the mass m at their ends. With angles a and b of the rods from below, the potential energy is
−m g l (2 cos a + cos b), and a rod that is upright needs at least −m g l: let go where 2 cos a + cos b > 1, none ever turns over.
Around that the map is a fractal.

Source: Heyl, The double pendulum fractal (2008).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import xarray

import mbvi

MODEL = Path(__file__).parents[1] / "models" / "double_pendulum.yaml"


def first_turn(run: mbvi.Trajectory) -> float:
    """The time at which one of the rods is first upright [s]; not a number if none is."""
    angles = run.q.cumsum(axis=1)  # of the rods from below: the elbow's is relative to the upper rod
    is_over = (abs(angles) > np.pi).any(axis=1)
    return float(run.t[is_over.argmax()]) if is_over.any() else np.nan


def main(count: int = 24, duration: float = 5.0) -> xarray.Dataset:
    """The time of the first turn over `count` × `count` angles of the rods."""
    angles = np.linspace(-3.1, 3.1, count)
    upper, lower = np.meshgrid(angles, angles, indexing="ij")
    both = ("upper", "lower")
    over = {"q.shoulder.angle": (both, upper), "q.elbow.angle": (both, lower - upper)}
    runs = mbvi.ensemble(mbvi.load(MODEL), over, step=0.02, duration=duration, measure={"turn": first_turn})
    return runs.assign_coords(upper=angles, lower=angles)


def draw(runs: xarray.Dataset, path: Path) -> None:
    """Draw the map, and the curve inside which nothing turns over."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 6), layout="constrained")
    angles = np.degrees(runs.upper)
    image = axes.pcolormesh(angles, angles, runs.turn.T, norm="log", cmap="magma", rasterized=True)
    height = 2 * np.cos(runs.upper) + np.cos(runs.lower)
    axes.contour(angles, angles, height.T, [1.0], colors="#56B4E9", linewidths=1)
    ticks = np.arange(-180, 181, 60)
    axes.set(xlabel="upper rod [deg]", ylabel="lower rod [deg]", xticks=ticks, yticks=ticks, aspect="equal")
    figure.colorbar(image, label="first turns over after [s]", format="%g")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    runs = main(*map(int, sys.argv[1:2]), *map(float, sys.argv[2:3]))
    print(f"{int(runs.turn.count())} of {runs.turn.size} turn over")
    draw(runs, Path("flip_map.png"))
    print("flip_map.png written")
