"""A scene as one HTML page that needs no network: three.js, the viewer and the data stand in it.

The data are a JSON text and one block of numbers in base64, of which the text names parts by their place and length.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from mbvi.animation.curves import Arrow, Curve, lengths_of, usual_length
from mbvi.animation.geometry import Geometry
from mbvi.animation.marks import Mark
from mbvi.animation.motion import Motion
from mbvi.animation.scene import Scene, Thing

Array = np.ndarray
HERE = files("mbvi.animation")

ROUNDING = 1e-12
"""Part of the largest value of a coordinate, or of 1, that rounding, or closing loops, leaves of 0."""


def html(
    scene: Scene,
    description: str,
    doubts: Sequence[str],
    sampled: Motion,
    curves: list[Curve],
    momentum: Arrow,
    reactions: list[Arrow],
    marks: Sequence[Mark] = (),
    live: Mapping[str, Any] | None = None,
) -> str:
    """The page.

    Parameters
    ----------
    scene : Scene
    description : str
        A line below the title.
    doubts : sequence of str
        What makes the result doubtful, in lines below.
    sampled : Motion
        The times of curves and arrows.
    curves : list of Curve
        Plots: of the energy, which always stands above, and of coordinates.
    momentum : Arrow
    reactions : list of Arrow
        The reactions of joints, constraints and stops.
    marks : sequence of Mark
        On the time line.
    live : mapping, optional
        What a page needs that follows a run: the parts of its frames, the controls.
    """
    block = _Block()
    motion = scene.motion
    geometries, numbers = _shared(scene)
    energy, *coordinates = curves
    curves = [energy, *(each._replace(values=_without_rounding(each.values)) for each in coordinates)]
    data = {
        "name": scene.name,
        "speed": motion.speed,
        "start": float(motion.t[0]),
        "end": float(motion.t[-1]),
        "frames": len(motion.t),
        "up": scene.up.tolist(),
        "view": scene.view.tolist(),
        "floor": scene.floor,
        "size": scene.size,
        "extent": block.floats(scene.extent),
        "geometries": [_geometry(block, each) for each in geometries],
        "things": [_thing(block, number, thing) for number, thing in zip(numbers, scene.things, strict=True)],
        "trails": [{"color": trail.color, "places": block.floats(trail.places)} for trail in scene.trails],
        "samples": len(sampled.t),
        "curves": [{"name": each.name, "unit": each.unit, "values": block.floats(each.values)} for each in curves],
        "momentum": _arrow(block, momentum),
        "reactions": [_arrow(block, arrow) for arrow in reactions],
        "marks": [{"t": each.t, "kind": each.kind, "text": each.text} for each in marks],
    } | ({} if live is None else {"live": live})
    texts = {
        "TITLE": escape(scene.name),
        "DESCRIPTION": escape(description),
        "DOUBTS": "".join(f'<p class="doubt">{escape(doubt)}</p>' for doubt in doubts),
        "THREE": (HERE / "vendor" / "three.min.js").read_text(encoding="utf-8"),
        "LICENSE": (HERE / "vendor" / "three.LICENSE").read_text(encoding="utf-8"),
        "POSES": (HERE / "poses.js").read_text(encoding="utf-8"),
        "VIEWER": (HERE / "viewer.js").read_text(encoding="utf-8"),
        "FOLLOW": "" if live is None else (HERE / "follow.js").read_text(encoding="utf-8"),
        "DATA": json.dumps(data, allow_nan=False).replace("<", "\\u003c"),
        "NUMBERS": block.text(),
    }
    template = (HERE / "viewer.html").read_text(encoding="utf-8")
    parts = template.split("@@")  # text and names by turns
    return "".join(texts[part] if i % 2 else part for i, part in enumerate(parts))


def look(scene: Scene) -> dict[str, Any]:
    """What things look like: their geometries, that of each thing, the floor, points around all, and the block of numbers."""
    block = _Block()
    geometries, numbers = _shared(scene)
    return {
        "geometries": [_geometry(block, each) for each in geometries],
        "things": numbers,
        "floor": scene.floor,
        "extent": block.floats(scene.extent),
        "numbers": block.text(),
    }


def _shared(scene: Scene) -> tuple[list[Geometry], list[int]]:
    """The geometries, which several things may share, and the number of that of every thing."""
    geometries = {id(thing.geometry): thing.geometry for thing in scene.things}
    numbers = {key: i for i, key in enumerate(geometries)}
    return list(geometries.values()), [numbers[id(thing.geometry)] for thing in scene.things]


class _Block:
    """Numbers one after the other; a part is [place, length], in words of four bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 0

    def floats(self, values: Array) -> list[int]:
        return self._add(np.ascontiguousarray(values, dtype="<f4"))

    def integers(self, values: Array) -> list[int]:
        return self._add(np.ascontiguousarray(values, dtype="<u4"))

    def _add(self, values: Array) -> list[int]:
        part = [self.length, values.size]
        self.parts.append(values.tobytes())
        self.length += values.size
        return part

    def text(self) -> str:
        return base64.b64encode(b"".join(self.parts)).decode("ascii")


def _without_rounding(values: Array) -> Array:
    """Values of a coordinate, 0 where rounding of the largest explains them, and the same where it explains all their changes."""
    size = float(np.abs(values).max())
    if float(np.ptp(values)) <= ROUNDING * max(1.0, size):
        values = np.full_like(values, values[0] if size > ROUNDING else 0.0)
    return np.where(np.abs(values) <= ROUNDING * size, 0.0, values)


def _arrow(block: _Block, arrow: Arrow) -> dict[str, Any]:
    return {
        "name": arrow.name,
        "unit": arrow.unit,
        "places": block.floats(arrow.places),
        "vectors": block.floats(arrow.vectors),
        "longest": float(lengths_of(arrow).max()),
        "usual": usual_length(arrow),
    }


def _thing(block: _Block, geometry: int, thing: Thing) -> dict[str, Any]:
    return {
        "name": thing.name,
        "kind": thing.kind,
        "color": thing.color,
        "geometry": geometry,
        "places": block.floats(thing.places),
        "quaternions": block.floats(thing.quaternions),
        "scales": None if thing.scales is None else block.floats(thing.scales),
    }


def _geometry(block: _Block, geometry: Geometry) -> dict[str, list[int]]:
    return {
        "vertices": block.floats(geometry.vertices),
        "normals": block.floats(geometry.normals),
        "tones": block.floats(geometry.tones),
        "faces": block.integers(geometry.faces),
    }
