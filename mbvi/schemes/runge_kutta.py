"""Explicit Runge–Kutta methods by their numbers: coefficients A, weights b, and c, the sums of the rows of A.

A method has order p if of every rooted tree τ of at most p nodes

    Σ_i b_i Φ_i(τ) = 1/γ(τ),   Φ_i(τ) = Π_{branches σ} Σ_j a_ij Φ_j(σ),   γ(τ) = (nodes of τ) Π_{branches σ} γ(σ)

Source: Butcher, Numerical Methods for Ordinary Differential Equations (2016), theorem 315A.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError

Array = np.ndarray
HIGHEST = 8  # order that is looked for: 200 trees
ROUNDING = 1e-10
Tree = tuple[Any, ...]
"""A rooted tree: those that hang on its root."""


class ButcherTableau(NamedTuple):
    """An explicit method of your own, for `simulate`.

    Parameters
    ----------
    A : (s, s)
        Strictly lower triangular.
    b : (s,)
        Weights, whose sum is 1.
    name : str
        What trajectories and tables call it.

    Examples
    --------
    >>> ralston = ButcherTableau([[0, 0], [2 / 3, 0]], [1 / 4, 3 / 4], "ralston")
    >>> ralston.checked().order
    2
    """

    A: Array
    b: Array
    name: str = "runge_kutta"

    @property
    def c(self) -> Array:
        """Times of the stages, (s,)."""
        return self.A.sum(axis=1)

    @property
    def order(self) -> int:
        """The order, of 8 at most."""
        for order in range(1, HIGHEST + 1):
            for tree in _trees(order):
                if abs(self.b @ _weights(tree, self.A) - 1 / _density(tree)) > ROUNDING:
                    return order - 1
        return HIGHEST

    @property
    def numbers(self) -> tuple[float, ...]:
        """The rows of A, and b."""
        return (*self.A.ravel().tolist(), *self.b.tolist())

    @classmethod
    def of(cls, numbers: Any, name: str) -> ButcherTableau:
        """The method that has these numbers.

        Raises
        ------
        ModelError
            If they are none of an explicit method.
        """
        try:
            found = np.array(numbers, dtype=float).ravel()
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"scheme {name!r}: expected a list of numbers, found {numbers!r:.60}") from None
        stages = (isqrt(4 * len(found) + 1) - 1) // 2  # of s² + s numbers
        A, b = np.split(found, [stages * stages])
        return cls(A.reshape(stages, stages), b, name).checked()

    def checked(self) -> ButcherTableau:
        """The tableau with arrays of numbers, if it is an explicit method.

        Raises
        ------
        ModelError
            If it is none.
        """
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise ModelError(f"scheme: expected a name of printable characters, found {self.name!r:.60}")
        where, found = f"scheme {self.name!r}", f"A = {self.A!r:.60}, b = {self.b!r:.60}"
        try:
            A, b = np.array(self.A, dtype=float), np.array(self.b, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"{where}: expected lists of numbers, found {found}") from None
        if b.ndim != 1 or not len(b) or A.shape != (len(b), len(b)):
            raise ModelError(f"{where}: expected as many rows and columns of A as numbers of b, found {found}")
        if not (np.isfinite(A).all() and np.isfinite(b).all()):
            raise ModelError(f"{where}: expected finite numbers, found {found}")
        if np.triu(A).any():
            raise ModelError(
                f"{where}: expected an explicit method, A strictly lower triangular, found {found}; give an implicit one that is "
                "variational by a Tableau"
            )
        if abs(b.sum() - 1) > ROUNDING:
            raise ModelError(f"{where}: expected weights b whose sum is 1, found {b.sum():.12g}")
        return ButcherTableau(A, b, self.name)


@cache
def _trees(nodes: int) -> tuple[Tree, ...]:
    """All rooted trees with a number of nodes."""
    if nodes == 1:
        return ((),)
    return tuple(sorted({grown for tree in _trees(nodes - 1) for grown in _grown(tree)}))


def _grown(tree: Tree) -> Iterator[Tree]:
    """A tree with a leaf more, at each of its nodes."""
    yield tuple(sorted((*tree, ())))
    for i, branch in enumerate(tree):
        for grown in _grown(branch):
            yield tuple(sorted((*tree[:i], grown, *tree[i + 1 :])))


def _weights(tree: Tree, A: Array) -> Array:
    """Φ, (s,)."""
    found = np.ones(len(A))
    for branch in tree:
        found *= A @ _weights(branch, A)
    return found


def _density(tree: Tree) -> int:
    """γ."""
    found = _size(tree)
    for branch in tree:
        found *= _density(branch)
    return found


def _size(tree: Tree) -> int:
    return 1 + sum(map(_size, tree))
