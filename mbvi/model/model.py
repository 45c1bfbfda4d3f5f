"""The Model, which holds bodies, joints, forces and constraints; the same in YAML and Python.

Every number may be an expression ("pi/3", "60 deg", names of parameters). A Model checks everything when it is made;
every error is a ModelError of one line that begins with the keys that lead to its place, as `joints.crank.axis: …`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import PrivateAttr, model_validator

import mbvi
from mbvi.errors import ModelError
from mbvi.model.base import one_line, validation_error
from mbvi.model.description import Description
from mbvi.model.expressions import Problem, nearest, show, wrong
from mbvi.model.graph import summary
from mbvi.model.import_report import ImportReport
from mbvi.model.mesh_files import Files
from mbvi.model.moved_loops import MovedLoop
from mbvi.model.resolve import Parts, resolve


class Model(Description):
    """A system of bodies, joints, forces and constraints, with initial values and what to run.

    Parameters
    ----------
    name : str
        A short name.
    description : str
        What it is, in words.
    formulation : str
        tree: generalized coordinates of the joints, of which those that close loops become constraints; embedding:
        every body is a point or a position and a unit quaternion, every joint a set of constraints.
    parameters : mapping
        Named numbers, which every expression may use; they may use each other in any order.
    gravity : vector
        Acceleration of gravity, in the world frame [m/s²].
    loop_tolerance : number
        The amount by which constraints of a loop that follow from others may contradict them, as angles [rad] or as parts of the
        loop's size: four times the rounding of its numbers. Then the numbers of its joints are moved by the least amount
        that lets it move exactly, see `moved_loops` of its system; with 0 loops are taken as they are.
    bodies : mapping
        Named bodies, at least one.
    joints : mapping
        Named joints, which tie every body to the world; they may close loops.
    forces : mapping
        Named forces, springs and dampers.
    constraints : mapping
        Named constraints other than joints.
    contacts : mapping
        Named stops and dry frictions.
    impacts : str
        Several stops that are hit at once: rounds, of those that approach, one round after the other, as in a row of balls;
        simultaneous, of all that touch at once.
    sensors : mapping
        Named measurements.
    initial : mapping
        Initial coordinates and rates, by the names of joints.
    simulation : mapping
        Scheme, step and duration.

    Raises
    ------
    ModelError
        If anything is wrong, save meshes, which are read only when a file is loaded or a system is assembled.

    Examples
    --------
    >>> from mbvi.model import Body, Model, Revolute
    >>> bob = Body(mass=1, center_of_mass=(0, 0, "-length"))
    >>> pivot = Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = Model(name="pendulum", parameters={"length": 2}, bodies={"bob": bob}, joints={"pivot": pivot})
    >>> model.resolved().bodies["bob"].center_of_mass
    (0.0, 0.0, -2.0)
    """

    _files: Files = PrivateAttr(default_factory=Files)
    _is_resolved: bool = PrivateAttr(False)
    _resolved: Model | None = PrivateAttr(None)
    _parts: Parts = PrivateAttr(default_factory=dict)
    _mended: tuple[str, ...] = PrivateAttr(())
    _import_report: ImportReport | None = PrivateAttr(None)
    _attaches: bool = PrivateAttr(False)
    _moved_loops: tuple[MovedLoop, ...] | None = PrivateAttr(None)

    @property
    def folder(self) -> Path | None:
        """The folder that mesh files are relative to; None, the working directory, if the model is not from a file."""
        return self._files.folder

    @property
    def files(self) -> Files:
        """The model's mesh files, as `mass_properties` takes them."""
        return self._files

    @property
    def import_report(self) -> ImportReport | None:
        """What became of the robots' files that the model was made of, or that it attaches; None where there are none."""
        return self._import_report

    @property
    def mended(self) -> tuple[str, ...]:
        """What was mended of rounded numbers, a line each: inertias and quaternions that miss by 5e-4 at most.

        For the model of a system this has besides the loops whose joints' numbers were moved, see `System.moved_loops`.

        Examples
        --------
        >>> from mbvi.model import Body, Free, Model
        >>> rod = Body(mass=1, inertia=(0.0833, 0.0833, 0.1666))
        >>> free = Free(parent="world", child="rod", orientation=(0.7071, 0.7071, 0, 0))
        >>> for line in Model(name="rod", bodies={"rod": rod}, joints={"free": free}).mended:
        ...     print(line)
        joints.free.orientation: the norm of [0.7071, 0.7071, 0, 0] is 1 - 9.6e-06; taken as rounded, and divided by it
        """
        return self.resolved()._mended

    def resolved(self) -> Model:
        """The same model in numbers: what a solver reads.

        Returns
        -------
        Model
            Every expression is a float, save functions of the time t and curves, which are postfix programs (tuples,
            see `expressions.postfix`). Orientations are unit quaternions (w, x, y, z), axes unit vectors, inertias
            3×3, named points coordinates, initial positions and velocities tuples (or None), and whatever is on a
            coordinate of a joint names it.

        Raises
        ------
        ModelError
            If a value is wrong.
        """
        if self._is_resolved:
            return self
        if self._resolved is None:
            resolved, self._parts, problems = resolve(self, self._parts)
            if problems:
                raise ModelError(one_line(problems))
            resolved._is_resolved = True
            resolved._mended = tuple(str(each) for part in self._parts.values() for each in part.mended)
            self._resolved = resolved
        return self._resolved

    def with_exact_loops(self, resolved: Model, moved: tuple[MovedLoop, ...]) -> Model:
        """The same model with another resolved form, in which the numbers of some loops' joints were moved."""
        resolved._moved_loops = moved
        resolved._mended = (*resolved._mended, *map(str, moved))
        if self._is_resolved:
            return resolved
        model = self.replaced({})
        model._resolved = resolved
        return model

    def replaced(self, values: Mapping[str, Any], deep: bool = False) -> Model:
        """A copy with other values of some fields, which are not checked."""
        copied = super().replaced(values, deep)
        copied._resolved = None
        if not {"joints", "constraints", "loop_tolerance"}.isdisjoint(values):
            copied._moved_loops = None
        if not set(values) <= {"formulation", "parameters"}:
            copied._parts = {}
        return copied

    def with_parameters(self, values: Mapping[str, float | str]) -> Model:
        """The same model with other values of some parameters.

        Parameters
        ----------
        values : mapping of str to number or expression
            New values of parameters that the model has.

        Raises
        ------
        ModelError
            If the model has no such parameter or the new values make it wrong.
        """
        if self._is_resolved:
            raise ModelError(
                "a resolved model has no parameters left to change; change those of the model it came from"
            )
        if not isinstance(values, Mapping):
            raise ModelError(f"parameters: {wrong('a mapping of names to values', show(values))}")
        for name in values:
            if name not in self.parameters:
                text = wrong("a parameter", show(name), nearest(str(name), self.parameters))
                raise ModelError(str(Problem(("parameters", name), text)))
        model = Model(**(dict(self) | {"parameters": self.parameters | dict(values)}))
        model._files, model._import_report = self._files, self._import_report
        return model

    def __repr__(self) -> str:
        """Name and what it is made of."""
        return f"<Model {self.name!r}: {summary(self)}>"

    __str__ = __repr__

    def _repr_svg_(self) -> str | None:
        """The graph of bodies and joints, for notebooks; None without matplotlib."""
        try:
            return cast(str | None, getattr(mbvi.pictures.draw_graph(self), "_repr_svg_", lambda: None)())
        except ModelError:
            return None

    def __eq__(self, other: object) -> bool:
        """True if all fields are equal; mesh files do not count."""
        if not isinstance(other, Model):
            return NotImplemented
        return dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]

    @model_validator(mode="after")
    def _check(self) -> Model:
        _, self._parts, problems = resolve(self, {})
        if problems:
            raise validation_error(problems)
        return self
