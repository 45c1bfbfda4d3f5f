"""The gallery: every model of `models/` is run and drawn, in pictures that `GALLERY` lists, with the comment of its file.

A picture is a function of a trajectory and a path without suffix that writes a file and returns its path. To add a kind of
picture, write such a function; to add a picture, add it to the list of its model.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

import mbvi
from mbvi.animation.motion import fastest_spin, natural_speed, pictures
from mbvi.animation.scene import make_scene
from mbvi.animation.video import Painter
from mbvi.pictures import style

MODELS = Path(__file__).parents[2] / "models"
MOTIONS = "extra/motions"  # folder of the pages, from that of the gallery; the site has what is in `extra` at its top
STILL = 1280, 720
Place = tuple[float, float, float]


class Picture(NamedTuple):
    """How a picture is drawn, and how a reader draws it too."""

    write: Callable[[mbvi.Trajectory, Path], Path]
    caption: str
    is_moving: bool = False  # whether it leads to a page of the motion


def plot(*what: str, **options: str) -> Picture:
    """That of `mbvi plot`."""
    names = options.get("names")
    shown = [f"--what {','.join(what)}"] * bool(what) + [f'--{key} "{value}"' for key, value in options.items()]

    def write(trajectory: mbvi.Trajectory, stem: Path) -> Path:
        figure = mbvi.plot(trajectory, *what, names=names and names.split(","), section=options.get("section"))
        return _saved(figure, stem)

    return Picture(write, f"`{' '.join(['mbvi plot {file}', *shown])}`")


def graph() -> Picture:
    """That of `mbvi graph`."""
    return Picture(
        lambda trajectory, stem: _saved(mbvi.pictures.draw_graph(trajectory.system.model), stem), "`mbvi graph {model}`"
    )


def motion(time: float, trails: Sequence[str] | None = None) -> Picture:
    """A still of the animation at a time, which leads to its page."""

    def write(trajectory: mbvi.Trajectory, stem: Path) -> Path:
        model = stem.name.rpartition("_")[0]
        mbvi.animate(trajectory, stem.parent / MOTIONS / f"{model}.html", trails=trails, force=True)
        speed = natural_speed(fastest_spin(trajectory))
        sampled = pictures(trajectory, speed)
        scene = make_scene(trajectory.system, sampled, trails)
        shown = Painter(scene, STILL).paint(int(np.searchsorted(sampled.t, time)))
        path = stem.with_suffix(".jpg")
        Image.fromarray(shown).save(path, quality=92)
        return path

    return Picture(write, "`mbvi animate {file}`: click to see it move.", is_moving=True)


def path(body: str, point: Place, plane: str, seconds: float = np.inf) -> Picture:
    """The path of a point of a body, seen along an axis of the world."""

    def write(trajectory: mbvi.Trajectory, stem: Path) -> Path:
        is_shown = trajectory.t <= seconds
        places, rotations = trajectory.pose(body)
        seen = _seen((places + rotations @ point)[is_shown], plane)
        lines = style.matplotlib("collections").LineCollection(
            np.stack([seen[:-1], seen[1:]], axis=1), cmap=_colours(), linewidth=1.3, capstyle="round"
        )
        lines.set_array(trajectory.t[is_shown][:-1])
        with style.fonts():
            figure, axes = _canvas(seen, plane, trajectory)
            axes.add_collection(lines)
            figure.colorbar(lines, label="time [s]", shrink=0.8, aspect=30)
            return _saved(figure, stem)

    return Picture(write, f"The point {list(point)} of `{body}` in the {'-'.join(plane)} plane.")


def exposures(end: Place, plane: str, times: Sequence[float]) -> Picture:
    """The origins of all bodies, joined in their order up to a point of the last one, at several times."""

    def write(trajectory: mbvi.Trajectory, stem: Path) -> Path:
        chosen = np.searchsorted(trajectory.t, np.array(times) - 1e-9)
        poses = [trajectory.system.poses(name, trajectory.q[chosen]) for name in trajectory.system.model.bodies]
        places, rotations = poses[-1]
        seen = _seen(np.stack([*(place for place, _ in poses), places + rotations @ end], axis=1), plane)
        looks = {"marker": "o" if len(poses) < MANY else "", "markersize": 3, "linewidth": 1.3}
        with style.fonts():
            figure, axes = _canvas(seen, plane, trajectory)
            for time, points, colour in zip(times, seen, _colours()(np.linspace(0, 1, len(times))), strict=True):
                axes.plot(*points.T, color=colour, label=f"{time:g} s", **looks)
            axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
            return _saved(figure, stem)

    return Picture(write, f"The bodies in the {'-'.join(plane)} plane, joined.")


GALLERY: dict[str, dict[str, list[Picture]]] = {
    "Pendulums": {
        "pendulum": [motion(0.3), plot("phase"), plot("coordinates", "energy_error")],
        "pendulum_cartesian": [motion(0.5), plot("coordinates", "constraints")],
        "double_pendulum": [motion(2.3), plot()],
        "spherical_pendulum": [motion(6), path("rod", (0, 0, -1), "xy"), plot("coordinates", "invariants")],
        "double_spherical_pendulum": [motion(3.5), path("lower", (0, 0, -3), "xy"), plot("invariants", "energy_error")],
        "gantry_crane": [motion(12), path("load", (0, 0, -6), "xy"), plot("coordinates", "velocities")],
    },
    "Tops and free bodies": {
        "lagrange_top": [motion(4), path("top", (0, 0, 0.15), "xy"), plot("coordinates", "energy_error")],
        "lagrange_top_cusps": [motion(5), path("top", (0, 0, 1), "xy"), plot("phase", names="contact.theta")],
        "heavy_top_quaternion": [motion(0.55), path("top", (0, 1, 0), "xz"), plot("constraints", "invariants")],
        "gyroscope": [motion(3), plot("coordinates", names="frame"), plot("phase", names="tilt")],
        "free_rigid_body": [motion(9), path("brick", (0, 1, 0), "xy"), plot("coordinates", "invariants")],
        "free_rigid_body_quaternion": [motion(4), path("body", (0, 0, 1), "xy"), plot("energy_error", "invariants")],
    },
    "Actuators": {
        "quadcopter": [motion(1.1), path("frame", (0, 0, 0), "xz"), plot("coordinates", "energy")],
    },
    "Loops": {
        "four_bar": [
            motion(0.9),
            path("coupler", (0.45, 0, 0), "xz", seconds=0.65),
            graph(),
            plot("coordinates", "reactions"),
        ],
        "slider_crank": [motion(0.35), plot("coordinates", "reactions"), graph()],
        "n_four_bars": [motion(0.8), plot("coordinates", "energy_error"), graph()],
        "bricard": [motion(1.2), graph(), plot("coordinates", "constraints")],
        "stewart_platform": [
            motion(0.5),
            graph(),
            plot("multipliers", names=",".join(f"drive{i}" for i in range(1, 7))),
        ],
    },
    "Rolling": {
        "rattleback": [motion(8), plot("velocities", names="free.qz"), plot("energy_error", "coordinates")],
        "bicycle": [motion(5), path("frame", (0, 0, 0), "xy"), plot("coordinates", names="ride.theta,steering.angle")],
    },
    "Stops and friction": {
        "bouncing_ball": [motion(0.8), plot("coordinates", "energy")],
        "stick_slip": [motion(2.2), plot("coordinates", "velocities", names="slip")],
        "rocking_block": [motion(0.4), plot("coordinates", "velocities", names="tilt")],
        "sliding_ladder": [motion(1.0), plot("coordinates", "velocities")],
        "slider_crank_clearance": [motion(0.1), plot("coordinates", "velocities", names="track")],
    },
    "Chains, trees and springs": {
        "chain_10": [
            motion(0.75),
            exposures((0.2, 0, 0), "xz", (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
            plot("energy", "energy_error"),
        ],
        "necklace_50": [motion(0.55), exposures((0.04, 0, 0), "xz", (0, 0.2, 0.4, 0.6, 0.8, 1.0)), plot("energy")],
        "rope_1000": [motion(1, trails=[]), exposures((0.1, 0, 0), "xz", (0, 0.2, 0.4, 0.6, 0.8, 1.0))],
        "branched_tree": [motion(1), graph(), plot("energy", "invariants")],
        "spring_damper": [motion(0.6), plot("coordinates", "energy")],
    },
}
INTRODUCTION = (
    "Every model of the folder `models`, run and described as its file says, and drawn when these pages are made."
)
EVERY = {"rope_1000": 10}  # which states are stored of what takes long; it is begun first
MANY = 20  # bodies from which joints are not marked
WIDTH = 6.0  # of a picture of a motion [inch]
NARROW = 0.1  # ratio of its sides below which its scales differ


def write(folder: Path) -> None:
    """Write the page and its pictures into a folder."""
    listed = [name for models in GALLERY.values() for name in models]
    if sorted(listed) != sorted(path.stem for path in MODELS.glob("*.yaml")):
        raise ValueError("gallery: expected every model of models/ once; mend GALLERY")
    (folder / MOTIONS).mkdir(parents=True, exist_ok=True)
    blocks = ["# Gallery", INTRODUCTION]
    listed.sort(key=lambda name: name not in EVERY)
    with ProcessPoolExecutor() as processes:
        entries = dict(zip(listed, processes.map(_entry, listed, itertools.repeat(folder)), strict=True))
    for title, models in GALLERY.items():
        blocks += [f"## {title}", *(entries[name] for name in models)]
    (folder / "gallery.md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _entry(model: str, folder: Path) -> str:
    """Title, text and pictures of a model."""
    path = MODELS / f"{model}.yaml"
    trajectory = mbvi.simulate(mbvi.load(path), every=EVERY.get(model, 1))
    name = trajectory.system.name
    blocks = [f"### {name[0].upper()}{name[1:]}", _comment(path), f"[{path.name}](../../models/{path.name})"]
    drawn = next(models[model] for models in GALLERY.values() if model in models)
    for i, picture in enumerate(drawn, 1):
        file = picture.write(trajectory, folder / f"{model}_{i}")
        caption = picture.caption.format(model=f"models/{path.name}", file=f"{model}.h5")
        target = f":target: ../motions/{model}.html\n" * picture.is_moving
        blocks.append(f"```{{figure}} {file.name}\n:alt: {name}\n{target}\n{caption}\n```")
    return "\n\n".join(blocks)


def _comment(path: Path) -> str:
    """The comment that a model file begins with, as paragraphs."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    comment = [line[1:].strip() for line in itertools.takewhile(lambda line: line.startswith("#"), lines)]
    text = re.sub(r"\n(?=(Look for|Source):)", "\n\n", "\n".join(comment))
    return re.sub(r"^(Look for|Source):", r"**\1:**", text, flags=re.MULTILINE)


def _seen(points: np.ndarray, plane: str) -> np.ndarray:
    """Two of three coordinates (…, 2)."""
    return points[..., ["xyz".index(axis) for axis in plane]]


def _canvas(seen: np.ndarray, plane: str, trajectory: mbvi.Trajectory) -> tuple[Any, Any]:
    """Axes around points, of equal scales unless the points are in a narrow band, with a title."""
    points = seen.reshape(-1, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    width, height = high - low
    is_band = height < NARROW * width
    figure = style.new_figure(WIDTH, 2.6 if is_band else float(np.clip(0.75 * WIDTH * height / width + 0.7, 2.4, 5.6)))
    axes = figure.subplots()
    margin = 0.05 * (np.array([width, height]) if is_band else max(width, height))
    axes.set(xlabel=f"{plane[0]} [m]", ylabel=f"{plane[1]} [m]", aspect="auto" if is_band else "equal")
    axes.set(**dict(zip(("xlim", "ylim"), np.transpose([low - margin, high + margin]).tolist(), strict=True)))
    axes.locator_params(nbins=6)
    style.dress(axes)
    style.entitle(figure, trajectory.system.name, "")
    return figure, axes


def _colours() -> Any:
    """Colours from early to late, without those too light on white."""
    colormap = style.matplotlib("colors").LinearSegmentedColormap
    return colormap.from_list("time", style.matplotlib().colormaps["viridis_r"](np.linspace(0.12, 1, 256)))


def _saved(figure: Any, stem: Path) -> Path:
    """Save a figure as SVG."""
    path = stem.with_suffix(".svg")
    style.save(figure, path, force=True)
    return path
