"""States for kernels: one (n,) or many (…, n), checked and brought to one shape, and many shared among the cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.kernels.mechanics.tangent import KINDS, NOT_FINITE, DynamicsWork, make_dynamics_work
from mbvi.model.expressions import show, wrong
from mbvi.system.base import BaseSystem
from mbvi.system.regularity import free_mass

Array = np.ndarray
FLOAT = np.dtype(float)
SHARED = 500  # states of a core from which on it is worth its thread
ABSENT: Any = object()  # in the place of what a function does not take
START = np.zeros((1, 1))  # the time 0, which nothing writes to


def dynamics_work(system: BaseSystem) -> DynamicsWork:
    """The workspace of this thread for kinematics and dynamics.

    Raises
    ------
    ModelError
        If the system is a user's own Lagrangian, which has no links.
    """
    try:
        return system._local.dynamics
    except AttributeError:
        if not system._arrays.is_tree:
            expected = "a system of bodies and joints, as mbvi.assemble makes it"
            remedy = "take System.guiding_forces and System.acceleration"
            raise ModelError(
                f"{system.name}: {wrong(expected, 'a Lagrangian of your own, without links', remedy)}"
            ) from None
        work = system._local.dynamics = make_dynamics_work(system._arrays)
        return work


def states(width: int, what: str, values: ArrayLike, names: str = "") -> Array:
    """Numbers (…, width) of one state or many, as an array that kernels read."""
    if type(values) is np.ndarray and values.ndim and values.shape[-1] == width and _is_ready(values):
        return values
    array, expected = as_floats(values), f"an array of shape (…, {width})"
    if array is None:
        raise ModelError(f"{what}: {wrong(expected, show(values))}")
    if not array.ndim or array.shape[-1] != width:
        remedy = f"one number for each of {names}" if names else ""
        raise ModelError(f"{what}: {wrong(expected, f'one of shape {array.shape}', remedy)}")
    return array if array.flags.writeable else array.copy()  # kernels are compiled for arrays that are


def _is_one(values: Any, shape: tuple[int, ...]) -> bool:
    """Whether numbers are those of one state, as kernels read them."""
    return type(values) is np.ndarray and values.shape == shape and values.dtype is FLOAT and values.flags.carray


def _is_ready(array: Array) -> bool:
    """Whether an array is one that kernels are compiled for: floats that are contiguous and aligned, and can be written."""
    return array.dtype is FLOAT and bool(array.flags.carray)


def together(**arrays: Array) -> tuple[tuple[int, ...], list[Array]]:
    """Arrays (…, .) as ones of two axes, of as many states each; and the shape of the states."""
    shapes = {array.shape[:-1] for array in arrays.values()}
    if len(shapes) > 1:
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            found = ", ".join(f"{what} of shape {array.shape}" for what, array in arrays.items())
            raise ModelError(f"{', '.join(arrays)}: {wrong('as many states of each', found)}") from None
        spread = (np.broadcast_to(array, (*shape, array.shape[-1])) for array in arrays.values())
        return shape, [np.array(array, order="C").reshape(-1, array.shape[-1]) for array in spread]
    shape = shapes.pop()
    return shape, [array.reshape(-1, array.shape[-1]) for array in arrays.values()]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Given:
    """States that a function was given: the shape of their number, and q (states, nq), v and a further (states, nv) of them.

    The last is an acceleration, or forces, by the name that it was given.
    """

    __slots__ = ("_system", "a", "each", "last", "own", "q", "shape", "t", "v")
    t: Array

    def __init__(
        self,
        system: BaseSystem,
        t: ArrayLike,
        *,
        q: ArrayLike,
        v: ArrayLike = ABSENT,
        a: ArrayLike = ABSENT,
        forces: ArrayLike = ABSENT,
    ) -> None:
        own = dynamics_work(system)  # of this thread
        self._system, self.own = system, own
        self.each = 1  # how many of the states in a row are one that a user gave
        self.last, last = ("a", a) if forces is ABSENT else ("forces", forces)
        self.shape: tuple[int, ...] = ()
        n, nv = (system._arrays.n,), (own.nv,)
        if (  # of one state no microsecond may be lost
            type(t) is float
            and _is_one(q, n)
            and (v is ABSENT or _is_one(v, nv))
            and (last is ABSENT or _is_one(last, nv))
        ):
            self.t = START if t == 0.0 else np.array(((t,),))
            at = [each[None] for each in (q, v, last) if each is not ABSENT]
        else:
            at = self._spread(t, {"q": q, "v": v, self.last: last})
        if len(at) < 3:
            at += [np.zeros((len(at[0]), own.nv))] * (3 - len(at))
        self.q, self.v, self.a = at
        if n != nv:
            system._check_quaternions("q", self.q)

    def _spread(self, t: ArrayLike, given: Mapping[str, ArrayLike]) -> list[Array]:
        """Arrays of as many states each, of those that were given; the times and the shape are kept."""
        widths, times = {"q": self._system._arrays.n}, _times(t)
        named = {
            what: states(widths.get(what, self.own.nv), what, each)
            for what, each in given.items()
            if each is not ABSENT
        }
        self.shape, at = together(**named | ({"t": times} if times.ndim > 1 else {}))
        self.t = at.pop() if times.ndim > 1 else times[None]
        return at

    def shaped(self, out: Array) -> Array:
        """What was found for the states, in the shape of their number."""
        if not self.shape:
            found: Array = out[0]
            return found
        return out.reshape(*self.shape, *out.shape[1:])

    def check(self, status: int) -> None:
        """An error for what kernels found wrong with a state.

        Raises
        ------
        ModelError
            If one of its numbers is not finite, or its mass matrix is singular.
        """
        if status < 0:
            return
        state, kind = divmod(status, KINDS)
        if kind == NOT_FINITE:
            every = {"t": np.broadcast_to(self.t, (len(self.q), 1)), "q": self.q, "v": self.v, self.last: self.a}
            check_finite(state // self.each, **{what: array[:: self.each] for what, array in every.items()})
        where = f" in state {state // self.each}" if len(self.q) > self.each else ""
        raise ModelError(_singular(self._system, self.q[state], float(self.t[min(state, len(self.t) - 1), 0]), where))


def shared(run: Callable[..., int], outs: Sequence[Array], state: Given) -> int:
    """Let a function work on states, many of them in parts, each on a core of its own; what is wrong with the first bad state.

    The function is called with arrays to be written, of as many states each, and with t, q, v and a. It returns `FINE`, or what
    is wrong plus `KINDS` times the number of the state in its part, and runs in several threads.
    """
    count = len(state.q)
    if count < 2 * SHARED or cores() == 1:
        return run(*outs, state.t, state.q, state.v, state.a)
    parts = min(cores(), count // SHARED)
    ends = [count * i // parts for i in range(parts + 1)]

    def part(first: int, end: int) -> int:
        t = state.t if len(state.t) == 1 else state.t[first:end]
        return run(*(out[first:end] for out in outs), t, *(each[first:end] for each in (state.q, state.v, state.a)))

    others = _threads().map(part, ends[1:-1], ends[2:])
    found = [part(ends[0], ends[1]), *others]
    return min((KINDS * start + bad for start, bad in zip(ends, found, strict=False) if bad >= 0), default=-1)


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads beside the one that asks, which stay, since each has workspaces of its own, which take longer than 1000 states."""
    return ThreadPoolExecutor(os.cpu_count())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a forked process has none of them


def _singular(system: BaseSystem, q: Array, t: float, where: str) -> str:
    """Which coordinates move without inertia at a state."""
    M, basis = free_mass(system, q, t)
    scale = np.sqrt(np.maximum(np.diag(M), 1e-300))
    motion = np.abs(basis @ (np.linalg.eigh(M / scale[:, None] / scale)[1][:, 0] / scale))
    names = [system.coordinate_names[i] for i in np.flatnonzero(motion > 0.1 * motion.max())]
    found = f"that motion along {' and '.join(names)} has no inertia{where}"
    remedy = "give what moves some mass or inertia, or take another state"
    return f"{system.name}: {wrong('a regular mass matrix', found, remedy)}"


def _times(t: ArrayLike) -> Array:
    array = as_floats(t)
    if array is None or isinstance(t, bool):
        raise ModelError(f"t: {wrong('a time, or one for each state', show(t))}")
    return array[..., None].copy()


def check_finite(state: int, **arrays: Array) -> None:
    """An error for the numbers of a state that are not finite, if there are any."""
    for what, array in arrays.items():
        row: Any = array[state]
        if not np.isfinite(row).all():
            place = int(np.argmin(np.isfinite(row)))
            where = f" of state {state}" if len(array) > 1 else ""
            raise ModelError(f"{what}: {wrong('finite numbers', f'{row[place]} at place {place}{where}')}")
