"""What every shape says of itself, against its own surface: a type that is added to the union is tested here."""

from typing import get_args

import numpy as np
import pytest

from mbvi.model.mesh_files import Files
from mbvi.model.shapes import AnyShape, Box, Mesh
from tests.folders import ROOT

SHAPES = get_args(get_args(AnyShape)[0])
LENGTHS = {"size": (0.9, 1.3, 0.7), "semi_axes": (0.5, 0.7, 0.4)}  # of shapes whose field is no single number
COARSE = 0.02  # relative, of the triangles of a surface


def made(shape, folder):
    if shape is Mesh:
        Box(size=(0.5, 0.7, 0.9)).surface(Files()).export(folder / "box.stl")
        return Mesh(file="box.stl", scale=1.5)
    return shape(**{key: LENGTHS.get(key, 0.6 + 0.3 * i) for i, key in enumerate(shape.lengths)})


@pytest.mark.parametrize("shape", SHAPES, ids=lambda each: each.__name__)
def test_volume_and_bounds_are_those_of_the_surface(shape, tmp_path):
    files, each = Files(tmp_path), made(shape, tmp_path)
    surface, (low, high) = each.surface(files), each.bounds(files)
    volume, center, inertia = each.volume(files)
    np.testing.assert_allclose([low, high], surface.bounds, rtol=0, atol=COARSE * max(high))
    assert volume == pytest.approx(surface.volume, rel=COARSE)
    np.testing.assert_allclose(center, surface.center_mass, rtol=0, atol=COARSE)
    np.testing.assert_allclose(inertia, surface.moment_inertia, rtol=COARSE, atol=COARSE * np.trace(inertia))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda each: each.__name__)
def test_the_guide_shows_every_shape(shape):
    kind = shape.model_fields["type"].default
    assert f"type: {kind}" in (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
