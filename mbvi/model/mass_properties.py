"""Mass, centre of mass and inertia of a body: explicit values, point masses and shapes, summed.

A part of mass m whose centre of mass is at c, with inertia I_c about it, adds I_c + m (|d|² 1 − d dᵀ), d = c − c_body, to
the inertia of the body about the body's centre of mass c_body.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import reduce
from operator import add
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.model.bodies import Body
from mbvi.model.expressions import show, wrong
from mbvi.model.fields import expressions
from mbvi.model.inertia import inertia_matrix, steiner
from mbvi.model.mesh_files import Files
from mbvi.model.odd_meshes import oddities
from mbvi.model.rotations import rotation_matrix
from mbvi.model.shapes import Mesh
from mbvi.recording import are_equal, array, dot, is_zero, plain

Floats = NDArray[np.float64]


class MassProperties(NamedTuple):
    """Mass, centre of mass and inertia of a rigid body.

    mass             float   [kg]
    center_of_mass   (3,)    in the body frame  [m]
    inertia          (3, 3)  about the centre of mass, along the body axes  [kg m²]
    """

    mass: float
    center_of_mass: Floats
    inertia: Floats


def mass_properties(body: Body, files: Files | Path | None = None) -> MassProperties:
    """The sum of a body's explicit mass properties, point masses and shapes.

    Parameters
    ----------
    body : Body
        A body without expressions, as in `Model.resolved().bodies`.
    files : Files or Path, optional
        The model's mesh files, `Model.files`, or the folder that they are in; the working directory if None.

    Returns
    -------
    MassProperties
        Mass [kg], centre of mass (3,) in the body frame [m] and inertia (3, 3) about the centre of mass [kg m²].

    Raises
    ------
    ModelError
        If the body has expressions, a mass is negative, the inertia is not that of a rigid body, or a mesh cannot be used.

    Warns
    -----
    ModelWarning
        If a mesh may be in millimetres, or has shells that are turned wrong or corners that are rounded coarsely.

    Examples
    --------
    >>> from mbvi.model import Body, Box
    >>> mass_properties(Body(shapes=[Box(size=(1, 2, 3), density=2)])).mass
    12.0
    """
    if not isinstance(body, Body):
        raise ModelError(f"body: {wrong('a Body', show(body), 'take one of Model.resolved().bodies')}")
    if files is not None and not isinstance(files, Files | Path):
        raise ModelError(f"files: {wrong('Model.files or a folder as a Path', show(files))}")
    for text in expressions(body):
        remedy = "take the body of Model.resolved().bodies, in which expressions are evaluated"
        raise ModelError(f"body: {wrong('numbers', f'the expression {show(text)}', remedy)}")
    for problem in body.problems():
        raise ModelError(str(problem))
    files = files if isinstance(files, Files) else Files(files)
    found = checked_properties(body, files)
    for i, shape in enumerate(body.shapes):
        for field, text in oddities(shape, files) if isinstance(shape, Mesh) else ():
            warnings.warn(f"shapes.{i}.{field}: {text}", ModelWarning, stacklevel=stack_level())
    return found


def checked_properties(body: Body, files: Files | None = None) -> MassProperties:
    """`mass_properties` of a body with no `problems`, whose meshes are not looked at for what they may not mean."""
    files = Files(None) if files is None else files
    return _sum([_explicit(body), *_point_masses(body), *_shapes(body, files)])


def has_mass(body: Body) -> bool:
    """Whether a body, of numbers only, has mass; no mesh is read."""
    masses = [body.mass, *(point.mass for point in body.point_masses.values())]
    return any([*masses, *(shape.mass or shape.density or 0.0 for shape in body.shapes)])


def is_massless(body: Body) -> bool:
    """True if a body, of numbers only, has neither mass nor inertia; no mesh is read."""
    return not has_mass(body) and is_zero(inertia_matrix(body.inertia))


def is_point_mass(body: Body) -> bool:
    """True if all mass of a body, of numbers only, is at one place, and it has no inertia about it; no mesh is read."""
    parts = [part for part in (_explicit(body), *_point_masses(body)) if part.mass or not is_zero(part.inertia)]
    has_shape = any(shape.mass or shape.density for shape in body.shapes)
    is_one = all(are_equal(part.center_of_mass, parts[0].center_of_mass) for part in parts)
    return bool(parts) and is_one and not has_shape and all(is_zero(part.inertia) for part in parts)


def _sum(parts: list[MassProperties]) -> MassProperties:
    mass = reduce(
        add, (part.mass for part in parts), 0.0
    )  # in this order; sum() compensates for rounding, but not in recorded numbers
    center = sum((part.mass * part.center_of_mass for part in parts), np.zeros(3)) / (mass or 1.0)
    inertia = sum((part.inertia + steiner(part.mass, part.center_of_mass - center) for part in parts), np.zeros((3, 3)))
    return MassProperties(plain(mass), center, (inertia + inertia.T) / 2)


def _explicit(body: Body) -> MassProperties:
    mass, center, arm = plain(body.mass), array(body.center_of_mass), body.arm
    return MassProperties(mass, center, body.mended_inertia - (0.0 if arm is None else steiner(mass, arm)))


def _point_masses(body: Body) -> Iterator[MassProperties]:
    for point in body.point_masses.values():
        yield MassProperties(plain(point.mass), body.place(point.position), np.zeros((3, 3)))


def _shapes(body: Body, files: Files) -> Iterator[MassProperties]:
    for shape in body.shapes:
        if shape.density is None and shape.mass is None:
            continue
        volume, center, inertia = shape.volume(files)
        density = plain(shape.density) if shape.density is not None else plain(shape.mass or 0.0) / volume
        rotation = rotation_matrix(shape.orientation)
        place = array(shape.position) + dot(rotation, center)
        yield MassProperties(density * volume, place, dot(dot(density * rotation, inertia), rotation.T))
