"""A page with a 3D view, plots and arrows."""

from __future__ import annotations

from pathlib import Path

from mbvi.animation import curves
from mbvi.animation.format import Format, Show
from mbvi.animation.marks import marks, merged
from mbvi.animation.motion import RATE, key_frames
from mbvi.animation.page import html
from mbvi.animation.scene import Scene, make_scene
from mbvi.results.output import replace_file
from mbvi.results.trajectory import Trajectory


def write(show: Show, path: Path) -> None:
    """Write a page."""
    motion = key_frames(show.trajectory, show.speed, show.spin)
    page = _page(show.trajectory, make_scene(show.trajectory.system, motion, show.trails, show.triangles))
    replace_file(path, lambda part: part.write_bytes(page.encode()))


def _page(trajectory: Trajectory, scene: Scene) -> str:
    sampled = curves.thinned(scene.motion)
    model = trajectory.system.model
    return html(
        scene,
        "" if model is None else " ".join(model.description.split()),
        [finding.text for finding in trajectory.findings],
        sampled,
        curves.curves(trajectory, sampled),
        curves.angular_momentum(trajectory, sampled),
        curves.reactions(trajectory, sampled) + curves.contact_forces(trajectory, sampled),
        merged(marks(trajectory), float(scene.motion.t[0]), float(scene.motion.t[-1])),
    )


FORMAT = Format(write, RATE)
