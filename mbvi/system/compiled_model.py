"""Functions of a model that compiled functions of the user's call: gravity, and poses and Jacobians of frames, in a state.

Compiled code knows the tables of the model by their addresses. What a call overwrites is its own, so that several threads may
call the same function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic

from mbvi.errors import ModelError
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.compiler.packed import Packed
from mbvi.kernels.mechanics import frames
from mbvi.kernels.mechanics.inverse_dynamics import fill_forces_of_motion
from mbvi.kernels.mechanics.tangent import COLUMN_WIDTH, ROW_WIDTH
from mbvi.system.assemble import assemble
from mbvi.system.kinematics import checked_frame, checked_reference
from mbvi.system.states import dynamics_work
from mbvi.system.system import System

Array = np.ndarray
FRAME_WIDTH = 24  # numbers of a frame that is followed to the world, see `mbvi.kernels.mechanics.frames`


class Space(NamedTuple):
    """What the kernels of a frame's path read and overwrite of a `DynamicsWork`.

    first (L,), nv     see there; read
    row                (L, 33)
    columns            (nv, 24)
    frame              (24,)
    """

    first: Any
    nv: Any
    row: Any
    columns: Any
    frame: Any


@late_kernel()
def fill_gravity(tau, row, zero, system, own, q):  # type: ignore[no-untyped-def]
    """The forces that hold bodies at rest against gravity.

    tau     (nv,)      out  [J/u], u the unit of a coordinate
    row     (L, 33)    work
    zero    (nv,)      zeros  [u/s, u/s²]
    own     DynamicsWork
    q       (n,)       coordinates  [u]
    """
    fill_forces_of_motion(tau, row, system, own.first, q, zero, zero)


@late_kernel()
def fill_frame(pose, jacobian, row, columns, system, own, link, frame, reference, q):  # type: ignore[no-untyped-def]
    """The pose of a frame in the world, and its Jacobian.

    pose                (24,)         out: rotation, row by row (9), and place (3)  [1, m]
    jacobian            (6 nv,)       out, row by row: linear, then angular; zero before  [m/u, rad/u], u the unit of a
                                  coordinate
    row, columns        (L, 33), (nv, 24)    work
    own                 DynamicsWork
    frame               (12,)         the frame in its link, see `mbvi.kernels.mechanics.frames`  [1, m]
    link                int           that link
    reference           int
    q                   (n,)          coordinates  [u]
    """
    space = Space(own.first, own.nv, row, columns, pose)
    frames.fill_path(system, space, link, frame, q, q, False)
    frames.fill_columns(jacobian, system, space, link, reference)


class _Table:
    """A table that compiled code knows by its address: as long as the code is there, and in this process alone."""

    def __init__(self, table: Packed) -> None:
        self.table = table

    def __reduce__(self) -> NoReturn:
        """Nothing: the address is another one elsewhere."""
        raise ModelError("a function of mbvi.control.CompiledModel cannot be sent to another process; make it there")


def _found_at(table: Packed) -> Callable[[], Any]:
    """A function by which compiled code finds a table."""
    if config.DISABLE_JIT:
        return lambda: table
    kept, kind = _Table(table), table._numba_type_

    @intrinsic
    def find(context):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            address = context.get_constant(types.int64, kept.table.address)
            return builder.inttoptr(address, context.get_value_type(kind))

        return kind(), generate

    return njit(lambda: find())  # a function that Python sees as one


class CompiledModel:
    """Functions of a model that your own compiled functions may call, as those that tell actuators what to do.

    They have the model as it is when they are made, whatever else runs.

    Parameters
    ----------
    model : Model or System

    Raises
    ------
    ModelError
        If it has no bodies and joints.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> motor = mbvi.Motor(joint="pivot")
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, forces={"motor": motor})
    >>> gravity = CompiledModel(model).gravity
    >>> def hold(t, q, v, u):
    ...     gravity(q, u)
    >>> run = mbvi.simulate(model, step=0.01, duration=1, initial_q=[0.5], inputs={("motor",): hold})
    >>> float(abs(run.q - 0.5).max())
    0.0
    """

    def __init__(self, model: Any) -> None:
        self._system: System = model if isinstance(model, System) else assemble(model)
        own = dynamics_work(self._system)  # refuses a Lagrangian of the user's own
        self._sizes = self._system.dimension, int(own.nv), len(self._system.arrays.links)
        self._tables = _found_at(_copy(self._system.arrays)), _found_at(_copy(own))
        self.gravity = self._gravity()
        """``gravity(q, out)`` writes the forces (nv,) of `System.gravity` at the coordinates q (n,) into out."""

    def _gravity(self) -> Callable[[Array, Array], None]:
        (n, nv, count), (system, own) = self._sizes, self._tables
        text = f"gravity(q, out): shapes of q and out must be ({n},) and ({nv},)"

        def gravity(q, out):  # type: ignore[no-untyped-def]
            if q.shape[0] != n or out.shape[0] != nv:
                raise ValueError(text)
            at, tau = np.empty(n), np.empty(nv)
            at[:] = q
            fill_gravity(tau, np.empty((count, ROW_WIDTH)), np.zeros(nv), system(), own(), at)
            out[:] = tau

        return njit(gravity)

    def frame_jacobian(self, frame: str, reference: str = "world-aligned") -> Callable[[Array, Array], None]:
        """A function ``jacobian(q, out)`` that writes the Jacobian (6, nv) of `System.frame_jacobian` into out.

        Parameters
        ----------
        frame : str
            A body, or one of its frames as BODY.FRAME.
        reference : str
            world-aligned, body or world, see `System.frame_velocity`.

        Raises
        ------
        ModelError
            If there is no such frame or reference.
        """
        (n, nv, _), fill = self._sizes, self._frame(frame, reference)
        text = f"jacobian(q, out): shapes of q and out must be ({n},) and (6, {nv})"

        def jacobian(q, out):  # type: ignore[no-untyped-def]
            if q.shape[0] != n or out.shape[0] != 6 or out.shape[1] != nv:
                raise ValueError(text)
            found = fill(q)[1]
            for row in range(6):
                for column in range(nv):
                    out[row, column] = found[row * nv + column]

        return njit(jacobian)

    def frame_pose(self, frame: str) -> Callable[[Array, Array, Array], None]:
        """A function ``pose(q, place, rotation)`` that writes the pose of `System.frame_pose`, (3,) and (3, 3), frame to world.

        Parameters
        ----------
        frame : str
            A body, or one of its frames as BODY.FRAME.

        Raises
        ------
        ModelError
            If there is no such frame.
        """
        (n, _, _), fill = self._sizes, self._frame(frame, "world-aligned")
        text = f"pose(q, place, rotation): shapes of q, place and rotation must be ({n},), (3,) and (3, 3)"

        def pose(q, place, rotation):  # type: ignore[no-untyped-def]
            if q.shape[0] != n or place.shape[0] != 3 or rotation.shape[0] != 3 or rotation.shape[1] != 3:
                raise ValueError(text)
            found = fill(q)[0]
            for row in range(3):
                place[row] = found[frames.ORIGIN + row]
                for column in range(3):
                    rotation[row, column] = found[3 * row + column]

        return njit(pose)

    def _frame(self, frame: str, reference: str) -> Callable[[Array], tuple[Array, Array]]:
        """A compiled function of q that gives the pose (24,) and the Jacobian (6 nv,) of a frame."""
        link, own_pose = checked_frame(self._system, frame)
        number, numbers = checked_reference(reference), tuple(own_pose.tolist())
        (n, nv, count), (system, own) = self._sizes, self._tables

        def fill(q):  # type: ignore[no-untyped-def]
            at, pose, jacobian, in_link = np.empty(n), np.zeros(FRAME_WIDTH), np.zeros(6 * nv), np.empty(12)
            at[:] = q
            for i in range(12):
                in_link[i] = numbers[i]
            row, columns = np.empty((count, ROW_WIDTH)), np.empty((nv, COLUMN_WIDTH))
            fill_frame(pose, jacobian, row, columns, system(), own(), link, in_link, number, at)
            return pose, jacobian

        return njit(fill)


def _copy(table: Packed) -> Packed:
    """A table that nobody else writes into."""
    return type(table)(**{name: getattr(table, name) for name in table._numba_type_.layout})
