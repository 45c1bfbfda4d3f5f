"""How the accelerations change that forces cause on constraints, along motions that the constraints leave.

At the acceleration a and the multipliers λ of forces τ, for changes dq, dv and dτ that keep q and v on the constraints,

    M da − Gᵀ dλ = dτ − (∂τ/∂q − ∂(Gᵀλ)/∂q) dq − (∂τ/∂v) dv,      G da = −(∂g̈/∂q) dq − (∂g̈/∂v) dv,

with ∂τ of inverse dynamics of the tree, at a; `null_motions` solves them. The second derivative g̈ of a constraint by the time
consists of places r and directions d of frames, and so its derivatives of theirs:

    along     g̈ = d̈·r + 2 ḋ·ṙ + d·r̈ − f̈          across    g̈ = d̈·e + 2 ḋ·ė + d·ë
    distance  g̈ = (r·r̈ + ṙ·ṙ)/f − 2 r·ṙ ḟ/f² + |r|² (ḟ²/f³ − f̈/(2 f²)) − f̈/2

A function f of a coordinate, and an expression of coordinates and places, have f̈ as `jets` gives it of complex numbers. What
contacts and edges hold stands in `touching`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.kernels.mechanics import frames
from mbvi.kernels.mechanics.closed_loops import fill_equation_derivatives
from mbvi.kernels.mechanics.functions import function_of
from mbvi.system.base import BaseSystem
from mbvi.system.closed import accelerations, loop_work
from mbvi.system.jets import Jet, jet_of_function, jet_of_program
from mbvi.system.null_motions import null_motions
from mbvi.system.states import Given, dynamics_work, shared
from mbvi.system.tangent import velocity_index
from mbvi.system.touching import TINY, Moving, moved, slip_derivatives

Array = np.ndarray


class _Change(NamedTuple):
    """Vectors (states, 3) with their first two rates, and how they change (states, 3, nv)."""

    at: Array
    rate: Array
    bend: Array
    d_at: Array
    d_rate: Array
    d_bend: Array

    def __sub__(self, other: _Change) -> _Change:
        return _Change(*(one - another for one, another in zip(self, other, strict=True)))


def acceleration_derivatives(system: BaseSystem, state: Given) -> tuple[Array, Array, Array]:
    """Derivatives (states, nv, nv) of accelerations by q, v and forces, along motions that the constraints leave."""
    (count, nv), k, arrays = state.v.shape, system.constraint_count, system.arrays
    by_q, by_v, M = np.empty((count, nv, nv)), np.empty((count, nv, nv)), np.empty((count, nv, nv))
    G, (a, lam) = np.empty((count, k, nv)), accelerations(system, state)

    def run(*of: Array) -> int:
        *outs, t, q, v, _ = of
        work = system.work, dynamics_work(system), loop_work(system)
        status: int = fill_equation_derivatives(*outs, arrays, *work, t, q, v)
        return status

    shared(run, (by_q, by_v, M, G, a, lam), state)
    bends = [np.zeros((count, k, nv)), np.zeros((count, k, nv))]
    for row in range(k):
        for out, what in zip(bends, (0, 1), strict=True):
            out[:, row] = _bend(system, row, what, state, a)
    P, H, *_ = null_motions(M, G)
    return -P @ by_q - H @ bends[0], -P @ by_v - H @ bends[1], P


def _bend(system: BaseSystem, row: int, what: int, state: Given, a: Array) -> Array:
    """∂g̈/∂q (what = 0) or ∂g̈/∂v (1) of a constraint, (states, nv)."""
    constraint = system.arrays.constraints[row]
    kind, argument = constraint[layout.CONSTRAINT_KIND], int(constraint[layout.ARGUMENT])
    if kind == layout.EXPRESSED:
        return _expression_bend(system, row, what, state, a)
    bend = np.zeros_like(state.v)
    if kind in (*layout.GEOMETRIC, *layout.TOUCHING) and constraint[layout.ENTRIES]:
        bend = _geometric_bend(system, row, what, state, a)
    if argument >= 0:
        at = _coordinate(system, argument, what, state, a)
        bend = bend - _imaginary(jet_of_function(system.arrays, int(constraint[layout.FUNCTION]), at)[2])
    return bend


def _expression_bend(system: BaseSystem, row: int, what: int, state: Given, a: Array) -> Array:
    """What `_bend` gives of an expression of the time, of coordinates and of places."""
    arrays = system.arrays
    _, first, count, start, end = arrays.expressions[arrays.expressions[:, layout.EXPRESSION_ROW] == row][0].tolist()
    variables = [_variable(system, i, what, state, a) for i in range(first, first + count)]
    return _imaginary(jet_of_program(arrays.operations[start:end], arrays.numbers, variables)[2])


def _variable(system: BaseSystem, i: int, what: int, state: Given, a: Array) -> Jet:
    """A variable of an expression, moved along every tangent."""
    (kind, of), point = system.arrays.variables[i, :2].tolist(), system.arrays.variable_points[i]
    if kind == layout.OF_TIME:
        nothing = np.zeros(state.v.shape, complex)
        return nothing + state.t, nothing + 1.0, nothing
    if kind == layout.OF_COORDINATE:
        return _coordinate(system, of, what, state, a)
    moving, axis = _Side(system, of, point, what, state, a).moving(), kind - layout.OF_COORDINATE - 1
    return moving.place[..., axis], moving.velocity[..., axis], moving.acceleration[..., axis]


def _coordinate(system: BaseSystem, j: int, what: int, state: Given, a: Array) -> Jet:
    """A coordinate, moved along every tangent."""
    i, step = velocity_index(system, j), np.zeros(state.v.shape, complex)
    step[:, i] = 1j * TINY
    nothing = np.zeros_like(step)
    q, v = (step, nothing) if what == 0 else (nothing, step)
    return q + state.q[:, j, None], v + state.v[:, i, None], nothing + a[:, i, None]


def _imaginary(x: Array) -> Array:
    """The derivatives (states, nv) that numbers moved along every tangent have."""
    return x.imag / TINY


def _geometric_bend(system: BaseSystem, row: int, what: int, state: Given, a: Array) -> Array:
    """What `_bend` gives of points and directions of two frames."""
    constraint, data = system.arrays.constraints[row], system.arrays.constraint_data[row]
    kind = constraint[layout.CONSTRAINT_KIND]
    sides = [
        _Side(system, int(constraint[column]), data[point : point + 3], what, state, a)
        for column, point in ((layout.LINK_A, layout.POINT_A), (layout.LINK_B, layout.POINT_B))
    ]
    if kind in layout.TOUCHING:
        return slip_derivatives(system, row, *(side.moving() for side in sides))
    r = sides[1].place - sides[0].place
    if kind == layout.DISTANCE:
        f, rate, bend = _length(system, row, state)
        change = _dot(r.bend, r.d_at) + _dot(r.at, r.d_bend) + 2.0 * _dot(r.rate, r.d_rate)
        change = change / f - 2.0 * (_dot(r.rate, r.d_at) + _dot(r.at, r.d_rate)) * rate / f**2
        return change + _dot(r.at, r.d_at) * (2.0 * rate**2 / f**3 - bend / f**2)
    d = sides[0].direction(data[layout.DIRECTION_U : layout.DIRECTION_U + 3])
    if kind == layout.ACROSS:
        r = sides[1].direction(data[layout.DIRECTION_W : layout.DIRECTION_W + 3])
    change = _dot(r.at, d.d_bend) + _dot(d.bend, r.d_at) + _dot(r.bend, d.d_at) + _dot(d.at, r.d_bend)
    return change + 2.0 * (_dot(r.rate, d.d_rate) + _dot(d.rate, r.d_rate))


def _length(system: BaseSystem, row: int, state: Given) -> tuple[Array, Array, Array]:
    """The length of a distance and its two rates, (states, 1) each."""
    arrays = system.arrays
    index = arrays.constraints[row, layout.FUNCTION]
    if index < 0:
        length = np.full((len(state.q), 1), arrays.constraint_data[row, layout.OFFSET])
        return length, np.zeros_like(length), np.zeros_like(length)
    of = arrays.time_functions, arrays.operations, arrays.numbers, system.work.stack
    times = np.broadcast_to(state.t[:, 0], len(state.q))
    found = np.array([function_of(*of, index, float(t)) for t in times])
    return found[:, :1], found[:, 1:2], found[:, 2:]


def _dot(x: Array, change: Array) -> Array:
    """Products (states, nv) of vectors (states, 3) with changes (states, 3, nv)."""
    found: Array = np.einsum("si,sij->sj", x, change)
    return found


def _turn(x: Array, change: Array) -> Array:
    """x × changes (states, 3, nv)."""
    return np.cross(x[:, :, None], change, axis=1)


class _Side:
    """A frame of a link along the world's axes, and how it and its rates change with q or with v."""

    def __init__(self, system: BaseSystem, link: int, point: Array, what: int, state: Given, a: Array) -> None:
        count, nv = state.v.shape
        own, frame = dynamics_work(system), np.concatenate([np.eye(3).ravel(), point])

        def asked(quantity: int, width: int) -> Array:
            out = np.zeros((count, width))
            frames.fill_frame_quantities(
                out, system.arrays, own, link, frame, frames.WORLD_ALIGNED, quantity, state.q, state.v, a
            )
            return out

        def matrix(quantity: int) -> Array:
            return asked(quantity, 6 * nv).reshape(count, 6, nv)

        pose, velocity, acceleration = asked(frames.POSE, 12), asked(frames.VELOCITY, 6), asked(frames.ACCELERATION, 6)
        J = matrix(frames.JACOBIAN)
        moved, rate = (J, matrix(frames.VELOCITY_BY_Q)) if what == 0 else (np.zeros_like(J), J)
        bend = matrix(frames.ACCELERATION_BY_Q if what == 0 else frames.ACCELERATION_BY_V)
        self.rotation = pose[:, 3:].reshape(count, 3, 3)
        self.place = _Change(pose[:, :3], velocity[:, :3], acceleration[:, :3], moved[:, :3], rate[:, :3], bend[:, :3])
        self.turn = _Change(pose[:, :3], velocity[:, 3:], acceleration[:, 3:], moved[:, 3:], rate[:, 3:], bend[:, 3:])

    def moving(self) -> Moving:
        """Its point and its axes, moved along every tangent."""
        x, turn = self.place, self.turn
        axes, small = np.swapaxes(self.rotation, 1, 2)[:, None], moved(np.zeros_like(x.at), turn.d_at)[:, :, None]
        axes = np.swapaxes(axes + np.cross(small, axes), 2, 3)
        spins = moved(turn.rate, turn.d_rate), moved(turn.bend, turn.d_bend)
        return Moving(moved(x.at, x.d_at), moved(x.rate, x.d_rate), moved(x.bend, x.d_bend), axes, *spins)

    def direction(self, own: Array) -> _Change:
        """A direction that is fixed in the link: ḋ = ω × d, d̈ = α × d + ω × ḋ."""
        d, (_, w, al, turned, dw, dal) = self.rotation @ own, self.turn
        rate = np.cross(w, d)
        d_at = -_turn(d, turned)
        d_rate = -_turn(d, dw) + _turn(w, d_at)
        d_bend = -_turn(d, dal) + _turn(al, d_at) - _turn(rate, dw) + _turn(w, d_rate)
        return _Change(d, rate, np.cross(al, d) + np.cross(w, rate), d_at, d_rate, d_bend)
