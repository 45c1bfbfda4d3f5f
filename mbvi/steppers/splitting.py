"""Splittings into kicks by forces and exact free motions: which systems they apply to, and what does their steps.

Sources: Touma & Wisdom, Astron. J. 107 (1994); McLachlan & Quispel, Acta Numerica 11 (2002).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mbvi.kernels import layout
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.kernels.methods import splitting as kernels
from mbvi.schemes.method import Method
from mbvi.steppers.carried import carried
from mbvi.steppers.conditions import ROUNDING, TOLERANCE, check_conservative, check_momentum, positions, refused
from mbvi.steppers.loop import REASONS, Stepper
from mbvi.steppers.run import Run
from mbvi.system.system import System

Array = np.ndarray
STRANG = "Strang, SIAM J. Numer. Anal. 5 (1968); Touma & Wisdom, Astron. J. 107 (1994)"
BLANES_MOAN = "Blanes & Moan, J. Comput. Appl. Math. 142 (2002)"
SYMMETRIC = 1e-14  # relative difference of two principal moments that is rounding


def begin(run: Run) -> Stepper:
    """What does the steps of a splitting: the method's numbers are its kicks and free motions in turn.

    Raises
    ------
    ModelError
        If the method does not apply to the system.
    """
    system, method = run.system, run.method
    assert isinstance(method, Method)
    check_conservative(system, method.name)
    check_momentum(system, method.name)
    _check_constraints(system, method.name)
    arrays, balls = system.arrays, _balls(system)
    drifting = np.setdiff1d(np.arange(system.dimension), balls[:, None] + np.arange(4))
    inertia = _constant_inertia(system, method.name, drifting, balls)
    c = len(drifting)
    moments, axes = np.ones((len(balls), 3)), np.zeros((len(balls), 4))
    for b in range(len(balls)):
        rows = slice(c + 3 * b, c + 3 * b + 3)
        moments[b], axes[b] = _principal_axes(inertia[rows, rows])
    M_inverse = _stored_by_rows(np.linalg.inv(inertia[:c, :c]))
    numbers = np.array(method.numbers)
    if _is_free(arrays):
        numbers[::2] = 0.0  # the kicks
    space = kernels.make_space(arrays, numbers, drifting, M_inverse, balls, 1 / moments, axes)
    space.q[:], space.p[:] = run.q, run.p
    kernels.begin(space)
    work = make_work(arrays)
    to_kernel = arrays, work, space, run.start_time, run.step
    return Stepper(
        lambda first, last, *out: kernels.run(*to_kernel, first, last, run.every, *out),
        carried(space, work),
        failure=lambda step, status: run.failure(step, REASONS[status]),
    )


def _is_free(arrays: layout.System) -> bool:
    """Whether nothing acts on anything."""
    acting = (arrays.gravity.any(), len(arrays.joint_forces), len(arrays.body_forces), len(arrays.bushings))
    return bool(arrays.is_tree) and not any(acting)


def _balls(system: System) -> Array:
    """First coordinate of each unit quaternion, (b,)."""
    links = system.arrays.links
    return links[links[:, layout.KIND] == layout.QUATERNION, layout.DOF].astype(np.int64)


def _check_constraints(system: System, scheme: str) -> None:
    kinds = system.arrays.constraints[:, layout.CONSTRAINT_KIND]
    for name, kind in zip(system.constraint_names, kinds, strict=True):
        if kind != layout.UNIT_QUATERNION:
            raise refused(system, scheme, "no constraints but those of unit quaternions", name)


def _constant_inertia(system: System, scheme: str, drifting: Array, balls: Array) -> Array:
    """The matrix (c + 3 b, c + 3 b) of T in the velocities of the c drifting coordinates and the b angular velocities along axes
    of the bodies, where it is constant, and every ball's block stands alone.
    """
    q, frame = _frame(system.given_q, drifting, balls)
    first = frame.T @ system.mass_matrix(q) @ frame
    owners = np.concatenate([np.full(len(drifting), -1), np.repeat(np.arange(len(balls)), 3)])
    alone = np.where(owners[:, None] == owners, first, 0.0)
    coordinates = np.concatenate([drifting, (balls[:, None] + np.arange(1, 4)).ravel()])
    names = [system.coordinate_names[a] for a in coordinates]
    sizes = np.sqrt(np.abs(np.outer(np.diag(first), np.diag(first))))
    bounds = TOLERANCE * sizes + ROUNDING * sizes.max(initial=0.0)
    for place in (system.given_q, *positions(system)):
        q, frame = _frame(place, drifting, balls)
        excess = np.abs(frame.T @ system.mass_matrix(q) @ frame - alone)
        if not (excess <= bounds).all():
            name = names[int(np.argmax((excess - bounds).max(axis=0)))]
            found = f"that of {name}, which depends on the position or is tied to others"
            expected = "a constant inertia along each coordinate, or along the axes of a body that has a quaternion"
            raise refused(system, scheme, expected, found)
    return alone


def _frame(q: Array, drifting: Array, balls: Array) -> tuple[Array, Any]:
    """q with unit quaternions, and the matrix (n, c + 3 b) from drifting and angular velocities to those of the coordinates."""
    from scipy.sparse import lil_array  # takes a tenth of a second to import

    c, q = len(drifting), q.copy()
    frame = lil_array((len(q), c + 3 * len(balls)))
    frame[drifting, np.arange(c)] = 1.0
    for b, a in enumerate(balls):
        x = q[a : a + 4] / np.linalg.norm(q[a : a + 4])
        q[a : a + 4] = x
        columns = [[-x[1], -x[2], -x[3]], [x[0], -x[3], x[2]], [x[3], x[0], -x[1]], [-x[2], x[1], x[0]]]
        frame[a : a + 4, c + 3 * b : c + 3 * b + 3] = 0.5 * np.array(columns)
    return q, frame.tocsr()


def _stored_by_rows(matrix: Array) -> tuple[Array, Array, Array]:
    """Where the entries of each row begin, their columns, and the entries that are not 0."""
    rows, columns = np.nonzero(matrix)
    return np.searchsorted(rows, np.arange(len(matrix) + 1)), columns, matrix[rows, columns]


def _principal_axes(inertia: Array) -> tuple[Array, Array]:
    """Moments (3,), the first two alike where two of them are, and the quaternion (4,) from principal to body axes."""
    from scipy.spatial.transform import Rotation  # takes a tenth of a second to import

    is_along = not (inertia - np.diag(np.diag(inertia))).any()
    moments, R = (np.diag(inertia), np.eye(3)) if is_along else np.linalg.eigh(inertia)
    gaps = np.abs(np.roll(moments, -1) - np.roll(moments, -2))  # between the two others
    last = int(gaps.argmin())
    if gaps[last] <= SYMMETRIC * moments.max():
        others = [(last + 1) % 3, (last + 2) % 3]
        order = [*others, last]
        moments, R = moments[order], R[:, order]
        moments[:2] = moments[:2].mean()
    R = R * np.linalg.det(R)
    return moments, Rotation.from_matrix(R).as_quat()[[3, 0, 1, 2]]


# Kicks and free motions in turn, from a kick on, without the two in the middle: methods SRKN₆ᵇ and SRKN₁₄ᵃ.
_BLANES_MOAN_4 = (
    0.0829844064174052, 0.245298957184271, 0.396309801498368, 0.604872665711080, -0.0390563049223486,
)  # fmt: skip
_BLANES_MOAN_6 = (
    0.0, 0.0378593198406116, 0.09171915262446165, 0.102635633102435, 0.183983170005006, -0.0258678882665587,
    -0.05653436583288827, 0.314241403071447, 0.004914688774712854, -0.130144459517415, 0.143761127168358,
    0.106417700369543, 0.328567693746804, -0.00879424312851058,
)  # fmt: skip
# Of 22 kicks, from a kick on: a solution of the conditions of order 8 modulo [V, [V, [V, T]]] = 0, by Newton's method from random
# starts, then moved along the solutions to the least terms of order 9; of those found the best on a fast top.
_SPLITTING_8 = (
    0.035775110108702955, 0.1280358442084696, -0.040731624090646255, -0.1372239722987163, -0.013012514799321497,
    0.0764397382900657, 0.10991762596521218, 0.1226898857810016, 0.1902291423256515, 0.14558998322178712,
    0.30611319387767466, 0.38017097178452874, -0.08146401567915755, -0.4360611379516475, 0.17959060659754236,
    -0.00013632964430816853, -0.17935348177859473, 0.43678200080818225, 0.08095202774309115, -0.39279312888560364,
    -0.173901877122424,
)  # fmt: skip


def _splitting(name: str, numbers: tuple[float, ...], order: int, source: str) -> Method:
    """Kicks and free motions in turn, from a kick on, as fractions of the step."""
    count = sum(number != 0.0 for number in numbers[::2]) - (
        numbers[0] != 0.0
    )  # the last and the next step's first are one
    text = f"exact free motions between {count} kick{'s' * (count > 1)} a step by the forces; explicit"
    return Method(name, order, source, text, "splitting", numbers=numbers)


def _symmetric(half: tuple[float, ...]) -> tuple[float, ...]:
    """A symmetric splitting, given what is before the last number of its first half: that and the middle make both sums 1."""
    kind = len(half) % 2
    first = (*half, 0.5 - sum(half[kind::2]))
    return (*first, 1.0 - 2.0 * sum(half[1 - kind :: 2]), *reversed(first))


SCHEMES = (
    _splitting("splitting", (0.5, 1.0, 0.5), 2, STRANG),
    _splitting("blanes_moan4", _symmetric(_BLANES_MOAN_4), 4, BLANES_MOAN),
    _splitting("blanes_moan6", _symmetric(_BLANES_MOAN_6), 6, BLANES_MOAN),
    _splitting("splitting8", _symmetric(_SPLITTING_8), 8, f"coefficients found here; conditions: {BLANES_MOAN}"),
)
