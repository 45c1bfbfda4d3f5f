"""A scene as binary glTF 2.0: one animated node for every body, named as in the model.

The nodes hang on one root, which turns the model's up into the y axis of glTF; below it places and rotations are those of the
bodies in the world. Key frames are joined linearly, rotations by the great circle between their quaternions. What happened in
the run stands in the `extras` of the animation.

Source: Khronos Group, glTF 2.0 specification, 2021.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbvi.animation.geometry import Geometry, linear_rgb
from mbvi.animation.marks import Mark
from mbvi.animation.scene import Scene, Thing
from mbvi.errors import ModelError

if TYPE_CHECKING:
    import pygltflib

Array = np.ndarray

FLOAT, UINT, UBYTE = 5126, 5125, 5121
VERTICES, INDICES = 34962, 34963
LINE_STRIP = 3


def glb(scene: Scene, marks: Sequence[Mark] = ()) -> bytes:
    """The file's content, with what happened among its extras.

    Raises
    ------
    ModelError
        If pygltflib is missing.
    """
    return _Writer(scene, marks).content()


class _Writer:
    """Fills a glTF document: data as accessors, then meshes, nodes and one animation that refer to them."""

    def __init__(self, scene: Scene, marks: Sequence[Mark]) -> None:
        try:
            import pygltflib
        except ImportError:
            remedy = "install it with: pip install 'mbvi[viz]'"
            raise ModelError(f"animate: expected pygltflib for a .glb file, found none; {remedy}") from None
        self.gltf, self.scene, self.marks = pygltflib, scene, marks
        self.document = pygltflib.GLTF2(asset=pygltflib.Asset(version="2.0", generator="mbvi"))
        self.blob = bytearray()
        self.accessors_of: dict[int, Any] = {}
        self.meshes: dict[tuple[int, str], int] = {}
        self.materials: dict[str, int] = {}

    def content(self) -> bytes:
        """The scene, written."""
        gltf, document, motion = self.gltf, self.document, self.scene.motion
        self.times = self._add((motion.t - motion.t[0]) / motion.speed, FLOAT, "SCALAR", has_bounds=True)
        self.animation = gltf.Animation(name="motion", extras=self._extras())
        document.nodes.append(gltf.Node(name=self.scene.name, rotation=_up_to_y(self.scene.up), children=[]))
        for thing in self.scene.things:
            self._add_thing(thing)
        for trail in self.scene.trails:
            self._append_child(gltf.Node(name=f"trail of {trail.name}", mesh=self._trail(trail.places, trail.color)))
        document.animations.append(self.animation)
        document.scenes.append(gltf.Scene(name=self.scene.name, nodes=[0]))
        document.scene = 0
        document.buffers.append(gltf.Buffer(byteLength=len(self.blob)))
        document.set_binary_blob(bytes(self.blob))
        return b"".join(document.save_to_bytes())

    def _extras(self) -> dict[str, Any]:
        """What happened: when in the animation, and in the run [s]."""
        motion = self.scene.motion
        found = [
            {"time": (each.t - float(motion.t[0])) / motion.speed, "t": each.t, "kind": each.kind, "name": each.name}
            for each in self.marks
        ]
        return {"events": found} if found else {}

    def _append_child(self, node: pygltflib.Node) -> int:
        self.document.nodes.append(node)
        self.document.nodes[0].children.append(len(self.document.nodes) - 1)
        return len(self.document.nodes) - 1

    def _add_thing(self, thing: Thing) -> None:
        scale = None if thing.scales is None else thing.scales[0].tolist()
        place, quaternion = thing.places[0].tolist(), thing.quaternions[0].tolist()
        mesh = self._mesh(thing.geometry, thing.color)
        node = self._append_child(
            self.gltf.Node(name=thing.name, mesh=mesh, translation=place, rotation=quaternion, scale=scale)
        )
        if len(thing.places) > 1:
            self._animate(node, "translation", thing.places, "VEC3")
            self._animate(node, "rotation", thing.quaternions, "VEC4")
            if thing.scales is not None:
                self._animate(node, "scale", thing.scales, "VEC3")

    def _animate(self, node: int, path: str, values: Array, kind: str) -> None:
        gltf = self.gltf
        sampler = gltf.AnimationSampler(input=self.times, output=self._add(values, FLOAT, kind), interpolation="LINEAR")
        self.animation.samplers.append(sampler)
        target = gltf.AnimationChannelTarget(node=node, path=path)
        self.animation.channels.append(gltf.AnimationChannel(sampler=len(self.animation.samplers) - 1, target=target))

    def _mesh(self, geometry: Geometry, color: str) -> int:
        key = id(geometry), color
        if key not in self.meshes:
            indices, attributes = self._triangles(geometry)
            self.meshes[key] = self._append_mesh(attributes, self._material(color), indices)
        return self.meshes[key]

    def _triangles(self, geometry: Geometry) -> tuple[int, dict[str, int]]:
        """Accessors of the indices and attributes of triangles."""
        if id(geometry) not in self.accessors_of:
            attributes = {
                "POSITION": self._add(geometry.vertices, FLOAT, "VEC3", VERTICES, has_bounds=True),
                "NORMAL": self._add(geometry.normals, FLOAT, "VEC3", VERTICES),
            }
            if np.any(geometry.tones < 1):
                tones = np.round(np.column_stack([geometry.tones, np.ones(len(geometry.tones))]) * 255)
                attributes["COLOR_0"] = self._add(tones, UBYTE, "VEC4", VERTICES)
            self.accessors_of[id(geometry)] = self._add(geometry.faces.ravel(), UINT, "SCALAR", INDICES), attributes
        found: tuple[int, dict[str, int]] = self.accessors_of[id(geometry)]
        return found

    def _trail(self, places: Array, color: str) -> int:
        attributes = {"POSITION": self._add(places, FLOAT, "VEC3", VERTICES, has_bounds=True)}
        return self._append_mesh(attributes, self._material(color, is_lit=False), mode=LINE_STRIP)

    def _append_mesh(self, attributes: dict[str, int], material: int, indices: int | None = None, mode: int = 4) -> int:
        gltf = self.gltf
        primitive = gltf.Primitive(
            attributes=gltf.Attributes(**attributes), indices=indices, material=material, mode=mode
        )
        self.document.meshes.append(gltf.Mesh(primitives=[primitive]))
        return len(self.document.meshes) - 1

    def _material(self, color: str, is_lit: bool = True) -> int:
        key = f"{color} {'' if is_lit else 'unlit'}".strip()
        if key not in self.materials:
            gltf, rgba = self.gltf, [*linear_rgb(color).tolist(), 1.0]
            surface = gltf.PbrMetallicRoughness(baseColorFactor=rgba, metallicFactor=0.0, roughnessFactor=0.5)
            extensions: dict[str, Any] = {} if is_lit else {"KHR_materials_unlit": {}}
            self.document.materials.append(gltf.Material(name=key, pbrMetallicRoughness=surface, extensions=extensions))
            self.materials[key] = len(self.document.materials) - 1
            if not is_lit and not self.document.extensionsUsed:
                self.document.extensionsUsed.append("KHR_materials_unlit")
        return self.materials[key]

    def _add(
        self, values: Array, component: int, kind: str, target: int | None = None, has_bounds: bool = False
    ) -> int:
        """An accessor of values in a buffer view of their own."""
        gltf = self.gltf
        data = np.ascontiguousarray(values, dtype={FLOAT: "<f4", UINT: "<u4", UBYTE: "u1"}[component])
        view = gltf.BufferView(buffer=0, byteOffset=len(self.blob), byteLength=data.nbytes, target=target)
        self.document.bufferViews.append(view)
        self.blob += data.tobytes()  # of words of four bytes, so that all views are aligned
        accessor = gltf.Accessor(
            bufferView=len(self.document.bufferViews) - 1, componentType=component, count=len(data), type=kind
        )
        accessor.normalized = component == UBYTE
        if has_bounds:
            accessor.min, accessor.max = (np.atleast_1d(edge(axis=0)).tolist() for edge in (data.min, data.max))
        self.document.accessors.append(accessor)
        return len(self.document.accessors) - 1


def _up_to_y(up: Array) -> list[float]:
    """The quaternion (x, y, z, w) of the smallest rotation that turns `up` into y."""
    w = 1 + up[1]
    if w < 1e-9:
        return [1.0, 0.0, 0.0, 0.0]
    x, _, z = np.cross(up, [0.0, 1.0, 0.0])
    quaternion = np.array([x, 0.0, z, w])
    return [float(value) for value in quaternion / np.linalg.norm(quaternion)]
