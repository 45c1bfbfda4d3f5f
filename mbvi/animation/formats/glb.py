"""A 3D file, in which key frames of all bodies stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mbvi.animation.arrows import force_things
from mbvi.animation.curves import contact_forces
from mbvi.animation.format import Format, Show
from mbvi.animation.gltf import glb
from mbvi.animation.marks import marks
from mbvi.animation.motion import RATE, key_frames
from mbvi.animation.scene import make_scene
from mbvi.results.output import replace_file


def write(show: Show, path: Path) -> None:
    """Write a 3D file, which shows no trails but those that are asked for, and the forces of stops."""
    motion = key_frames(show.trajectory, show.speed, show.spin)
    scene = make_scene(show.trajectory.system, motion, show.trails or (), show.triangles)
    arrows = force_things(contact_forces(show.trajectory, motion), scene.size)
    content = glb(replace(scene, things=(*scene.things, *arrows)), marks(show.trajectory))
    replace_file(path, lambda part: part.write_bytes(content))


FORMAT = Format(write, RATE)
