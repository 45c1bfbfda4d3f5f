"""Charts of the constraint manifold: generalized coordinates a, and the coordinates q = ψ(a) of a system on its constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.model.arguments import check_kind, checked_vector
from mbvi.model.expressions import show, wrong
from mbvi.system.initial import Start, from_tree, tree_system
from mbvi.system.lagrangian import checked_symbols, checked_values, expressions, with_values
from mbvi.system.system import System

Array = np.ndarray
MAX_ITERATIONS = 50
REACHED = 1e-9


@dataclass(frozen=True, eq=False)
class Chart:
    """Generalized coordinates a (m,) of positions q = ψ(a) (n,) that satisfy the constraints.

    Attributes
    ----------
    coordinate_names : tuple of str
    start : ndarray (m,)
        Where the generalized coordinates of an initial position are looked for.
    place : callable
        ``place(a, near)`` gives ψ(a) (n,) and its derivative Dψ(a) (n, m): of several q that are one position, as the two signs
        of a unit quaternion are, that nearest to `near` (n,).
    """

    coordinate_names: tuple[str, ...]
    start: Array
    place: Callable[[Array, Array], tuple[Array, Array]]

    def coordinates(self, q: ArrayLike, near: ArrayLike | None = None) -> Array:
        """The generalized coordinates (m,) of a position q (n,), by Gauss–Newton from those near it, or from `start`.

        Raises
        ------
        ModelError
            If the chart does not reach the position.
        """
        q, a = (
            _place_numbers(q, "q"),
            checked_vector(self.start if near is None else near, "near", self.coordinate_names),
        )
        for _ in range(MAX_ITERATIONS):
            there, D = self.place(a, q)
            if np.shape(there) != q.shape:
                raise ModelError(f"q: expected {np.size(there)} coordinates, found an array of shape {q.shape}")
            step = np.linalg.lstsq(D, q - there, rcond=1e-12)[0]
            a = a + step
            if np.abs(step).max() < 1e-14 * max(1.0, np.abs(a).max()):
                break
        left = np.abs(self.place(a, q)[0] - q).max()
        if not left <= REACHED * max(1.0, np.abs(q).max()):
            raise ModelError(f"chart: expected one that reaches the position {q}, found it {left:.3g} away")
        return a


def _place_numbers(values: ArrayLike, what: str) -> Array:
    """Finite numbers (n,)."""
    array = as_floats(values)
    if array is None or array.ndim != 1 or not np.isfinite(array).all():
        raise ModelError(f"{what}: {wrong('a list of finite numbers', show(values))}")
    return array


def sympy_chart(
    coordinates: Sequence[Any],
    positions: Sequence[Any],
    start: ArrayLike,
    parameters: Mapping[Any, float] | None = None,
) -> Chart:
    """A chart from SymPy expressions.

    Parameters
    ----------
    coordinates : sequence of m symbols
        The generalized coordinates.
    positions : sequence of n expressions
        ψ: the system's coordinates.
    start : (m,)
        Where the generalized coordinates of an initial position are looked for.
    parameters : mapping of symbol or name to number, optional
        Values put in for the remaining symbols.

    Raises
    ------
    ModelError
        If an argument is no list of symbols, expressions or finite numbers, a symbol has no value, or the numbers of coordinates
        do not fit.

    Examples
    --------
    >>> import sympy
    >>> angle = sympy.Symbol("angle")
    >>> circle = sympy_chart([angle], [sympy.sin(angle), -sympy.cos(angle)], start=[0.0])
    >>> circle.coordinates([1.0, 0.0]).round(6)
    array([1.570796])
    """
    import sympy

    symbols = checked_symbols(coordinates, "coordinates")
    values = checked_values({} if parameters is None else parameters, set(symbols))
    first = checked_vector(start, "start", list(map(str, symbols)))
    try:
        psi = with_values(sympy.Matrix(expressions("positions", positions)), values)
    except (TypeError, ValueError, sympy.SympifyError) as error:
        reason = str(error).partition("\n")[0]
        raise ModelError(f"chart: expected lists of symbols, expressions and numbers, found {reason}") from None
    unknown = sorted(map(str, psi.free_symbols - set(symbols)))
    if unknown:
        raise ModelError(f"positions: expected a value for every symbol, found none for {unknown[0]}")
    if not len(psi):
        raise ModelError("positions: expected one or more expressions, found none")
    evaluate = sympy.lambdify([symbols], [psi, psi.jacobian(symbols)], "numpy", cse=True)

    def place(a: Array, near: Array) -> tuple[Array, Array]:
        there, D = evaluate(a)
        return np.asarray(there, float).ravel(), np.asarray(D, float)

    return Chart(tuple(map(str, symbols)), first, place)


def joint_chart(system: System) -> Chart:
    """The chart of joint coordinates of a model without loops, in the coordinates of a system made from it.

    Parameters
    ----------
    system : System
        A system made from a model.

    Raises
    ------
    ModelError
        If the system was not made from a model, or the joints' coordinates have constraints of their own: loops, or unit
        quaternions.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(point_masses={"m": mbvi.PointMass(mass=1, position=(0, 0, -2))})
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, formulation="embedding")
    >>> chart = joint_chart(mbvi.assemble(model))
    >>> chart.coordinate_names
    ('pivot.angle',)
    >>> chart.place(np.zeros(1), np.ones(7))[0]  # of the mass, and a unit quaternion
    array([ 0.,  0., -2.,  1.,  0.,  0.,  0.])
    """
    check_kind(system, System, "system", "make one by assemble")
    if system.model is None:
        raise ModelError(
            f"chart: expected a system made from a model, found {system.name!r}; write a chart by sympy_chart"
        )
    tree = tree_system(system)
    if tree.constraint_count:
        raise ModelError(
            f"chart: expected joints whose coordinates have no constraints, found {tree.constraint_names[0]}; open the loop, or "
            "give ball joints Euler angles"
        )
    unit = np.eye(tree.dimension)
    quaternions = [first + 3 for first, is_point in system.homes.roots.values() if not is_point]  # type: ignore[union-attr]

    def place(a: Array, near: Array) -> tuple[Array, Array]:
        states = [from_tree(system, tree, Start(a, each, a, 0.0, 0.0, 0.0)) for each in unit]
        q, D = states[0][0], np.column_stack([v for _, v in states])
        for first in quaternions:
            part = slice(first, first + 4)
            if len(near) == len(q) and q[part] @ near[part] < 0:
                q[part], D[part] = -q[part], -D[part]
        return q, D

    return Chart(tree.coordinate_names, np.array(tree.initial_q), place)
