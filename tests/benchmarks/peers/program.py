"""Accelerations of a tree of hinges as a straight line of operations: what peers that integrate equations of motion are given.

Numbers are folded as they come (0 x = 0, 1 x = x), and equal operations are done once, so that the motion in a plane does not pay
for the space around it. The text runs on heyoka's expressions, and is compiled by numba for the DOP853 codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray


class Program:
    """Operations in a row, `x7 = x3*x5`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._known: dict[str, Term] = {}

    def term(self, operation: str) -> Term:
        """The result of an operation, which is written only once."""
        if operation not in self._known:
            name = f"x{len(self.lines)}"
            self.lines.append(f"{name} = {operation}")
            self._known[operation] = Term(self, name)
        return self._known[operation]

    def function(self, results: Sequence[Any], store: str, indent: str = "    ") -> str:
        """The operations and the results, the i-th written as `store` says, e.g. `du[{}] = `."""
        lines = [*self.lines, *(store.format(i) + str(result) for i, result in enumerate(results))]
        return "\n".join(indent + line for line in lines)


class Term:
    """A number that the program computes; in products with arrays it stands right of them."""

    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name

    def __str__(self) -> str:
        return self.name

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0) else self.program.term("{} + {}".format(*sorted((str(self), _text(other)))))

    def __sub__(self, other: Any) -> Any:
        if other is self:
            return 0.0
        return self if _is(other, 0) else self.program.term(f"{self} - {_text(other)}")

    def __rsub__(self, other: Any) -> Any:
        return -self if _is(other, 0) else self.program.term(f"{_text(other)} - {self}")

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0):
            return 0.0
        if _is(other, 1):
            return self
        if _is(other, -1):
            return -self
        return self.program.term("{} * {}".format(*sorted((str(self), _text(other)))))

    def __truediv__(self, other: Any) -> Any:
        return self.program.term(f"{self} / {_text(other)}")

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is(other, 0) else self.program.term(f"{_text(other)} / {self}")

    def __neg__(self) -> Any:
        return self.program.term(f"-{self}")

    __radd__, __rmul__ = __add__, __mul__

    def function(self, name: str) -> Term:
        """sin or cos of it."""
        return self.program.term(f"{name}({self})")


def _is(value: Any, number: float) -> bool:
    return not isinstance(value, Term) and value == number


def _text(value: Any) -> str:
    return str(value) if isinstance(value, Term) else f"({float(value)!r})"


def cross(a: Any, b: Any) -> Array:
    """a × b of 3-vectors of terms and numbers."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dtype=object)


def skew(r: Any) -> Array:
    """The matrix of r ×."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]], dtype=object)


def rotation(axis: Array, angle: Term) -> Array:
    """The rotation matrix of an angle about a unit axis."""
    outer = np.outer(axis, axis)
    return outer + (np.eye(3) - outer) * angle.function("cos") + skew(axis) * angle.function("sin")


def accelerations(
    links: Sequence[Any], gravity: Array, q: Sequence[Any], v: Sequence[Any], tau: Sequence[Any]
) -> list[Any]:
    """Accelerations of the hinges by the articulated-body algorithm, in the frames of the links.

    links     parent, place, axis, mass, center, inertia, as `tree.links` gives them
    q, v, tau    angles, rates and torques: terms or numbers

    Source: Featherstone, Rigid Body Dynamics Algorithms (2008), table 7.1.
    """
    turns, spins, speeds, c, J, H, M, pn, pf = ([] for _ in range(9))
    for i, link in enumerate(links):
        E = rotation(link.axis, q[i]).T
        spin, speed = (spins[link.parent], speeds[link.parent]) if link.parent >= 0 else (np.zeros(3), np.zeros(3))
        turn = link.axis * v[i]
        w, u = E @ spin + turn, E @ (speed + cross(spin, link.place))
        m, arm = link.mass, skew(link.mass * link.center)
        inertia = link.inertia + m * (link.center @ link.center * np.eye(3) - np.outer(link.center, link.center))
        angular, linear = inertia @ w + arm @ u, m * u - arm @ w
        for values, value in zip(
            (turns, spins, speeds, c, J, H, M, pn, pf),
            (E, w, u, (cross(w, turn), cross(u, turn)), inertia, arm, m * np.eye(3),
             cross(w, angular) + cross(u, linear), cross(w, linear)),
            strict=True,
        ):  # fmt: skip
            values.append(value)
    rest = [None] * len(links)
    for i in reversed(range(len(links))):
        link, (cw, cu) = links[i], c[i]
        Un, Uf = J[i] @ link.axis, H[i].T @ link.axis
        inverse, free = 1.0 / (link.axis @ Un), tau[i] - link.axis @ pn[i]
        rest[i] = Un, Uf, inverse, free
        if link.parent < 0:
            continue
        Ja = J[i] - np.outer(Un, Un) * inverse
        Ha = H[i] - np.outer(Un, Uf) * inverse
        Ma = M[i] - np.outer(Uf, Uf) * inverse
        n = pn[i] + Ja @ cw + Ha @ cu + Un * (free * inverse)
        f = pf[i] + Ha.T @ cw + Ma @ cu + Uf * (free * inverse)
        E, R, p = turns[i], skew(link.place), link.parent
        Ja, Ha, Ma = (E.T @ each @ E for each in (Ja, Ha, Ma))
        M[p] = M[p] + Ma
        H[p] = H[p] + Ha + R @ Ma
        J[p] = J[p] + Ja - Ha @ R + R @ Ha.T - R @ Ma @ R
        pn[p] = pn[p] + E.T @ n + cross(link.place, E.T @ f)
        pf[p] = pf[p] + E.T @ f
    found, angular, linear = [], [], []
    for i, link in enumerate(links):
        aw, au = (angular[link.parent], linear[link.parent]) if link.parent >= 0 else (np.zeros(3), -gravity)
        aw, au = turns[i] @ aw + c[i][0], turns[i] @ (au + cross(aw, link.place)) + c[i][1]
        Un, Uf, inverse, free = rest[i]
        a = (free - Un @ aw - Uf @ au) * inverse
        found.append(a)
        angular.append(aw + link.axis * a)
        linear.append(au)
    return found


def loop_accelerations(
    links: Sequence[Any], closure: Any, gravity: Array, q: Sequence[Any], v: Sequence[Any]
) -> list[Any]:
    """Accelerations where points of two links stay together in the x-z plane: q̈ = a + M⁻¹ Jᵀ λ, J q̈ + J̇ q̇ = 0."""
    n = len(links)
    none, still = [0.0] * n, np.zeros(3)
    ends = [_point(links, link, arm, q, v) for link, arm in closure]
    J = (ends[0][0] - ends[1][0])[[0, 2]]
    bias = (ends[0][1] - ends[1][1])[[0, 2]]
    a = np.array(accelerations(links, gravity, q, v, none), dtype=object)
    columns = np.array([accelerations(links, still, q, none, row) for row in J], dtype=object)  # M⁻¹ of the rows of J
    A, b = J @ columns.T, -(bias + J @ a)
    inverse = 1.0 / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
    lam = np.array([A[1, 1] * b[0] - A[0, 1] * b[1], A[0, 0] * b[1] - A[1, 0] * b[0]], dtype=object) * inverse
    return list(a + lam @ columns)


def _point(links: Sequence[Any], link: int, arm: Array, q: Sequence[Any], v: Sequence[Any]) -> tuple[Array, Array]:
    """The Jacobian (3, n) of a point of a link in the world, and its acceleration (3,) where the coordinates have none."""
    path = []
    while link >= 0:
        path.insert(0, link)
        link = links[link].parent
    R, place, frames = np.eye(3), np.zeros(3), []
    for i in path:
        place, R = place + R @ links[i].place, R @ rotation(links[i].axis, q[i])
        frames.append((i, place, R @ links[i].axis))
    target = place + R @ arm
    J, w, rate, bias = np.zeros((3, len(links)), dtype=object), np.zeros(3), np.zeros(3), np.zeros(3)
    for k, (i, place, axis) in enumerate(frames):
        J[:, i] = cross(axis, target - place)
        rate = rate + cross(w, axis * v[i])  # angular acceleration from the turning axes
        w = w + axis * v[i]
        reach = (frames[k + 1][1] if k + 1 < len(frames) else target) - place
        bias = bias + cross(rate, reach) + cross(w, cross(w, reach))
    return J, bias


def free_body(inertia: Array, q: Sequence[Any], w: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Rates of the unit quaternion and of the angular velocity along the body's axes of a body that turns freely."""
    spin = np.array(w, dtype=object)
    rates = np.linalg.inv(inertia) @ cross(inertia @ spin, spin)
    s, u = q[0], np.array(q[1:], dtype=object)
    return [-0.5 * (u @ spin), *(0.5 * (spin * s + cross(u, spin)))], list(rates)


def right_side(tree: Any, store: str) -> str:
    """The rates of positions and velocities of a tree, u = (q, v), as lines of a function."""
    program = Program()
    u = [Term(program, f"u[{i}]") for i in range(2 * len(tree.links) or 7)]
    if tree.free is not None:
        turn, spin = free_body(tree.free, u[:4], u[4:])
        return program.function([*turn, *spin], store)
    n = len(tree.links)
    q, v = u[:n], u[n:]
    if tree.loop:
        return program.function([*v, *loop_accelerations(tree.links, tree.loop, tree.gravity, q, v)], store)
    return program.function([*v, *accelerations(tree.links, tree.gravity, q, v, [0.0] * n)], store)
