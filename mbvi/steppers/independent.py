"""Gauss's schemes in independent coordinates: which systems they apply to, and what does their steps.

Source: Wehage & Haug, J. Mech. Des. 104 (1982).
"""

from __future__ import annotations

import numpy as np

from mbvi.kernels import layout
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.kernels.mechanics.planar_loops import SENSE
from mbvi.kernels.methods import independent as kernels
from mbvi.schemes.galerkin import find_tableau
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.carried import carried
from mbvi.steppers.conditions import refused
from mbvi.steppers.loop import AHEAD, REASONS, Stepper
from mbvi.steppers.run import Run
from mbvi.system.redundancy import is_nearly_singular
from mbvi.system.scheme import scheme_arrays
from mbvi.system.system import System

Array = np.ndarray
PARALLEL = 1e-14  # what rounding leaves of the cosine of a right angle
WEHAGE_HAUG = "Wehage & Haug, J. Mech. Des. 104 (1982); Marsden & West (2001)"
SCHEMES = tuple(
    Method(
        f"independent{count}",
        2 * count,
        WEHAGE_HAUG,
        f"gauss{count} in independent coordinates of loops, without multipliers",
        "independent",
    )
    for count in (4, 6, 8)
)


def begin(run: Run) -> Stepper:
    """What does the steps of a scheme of Gauss, the number of whose nodes is the method's, in independent coordinates.

    Raises
    ------
    ModelError
        If the method does not apply to the system.
    """
    system, method = run.system, run.method
    assert isinstance(method, Method)
    arrays, work = system.arrays, make_work(system.arrays)
    scheme = scheme_arrays(find_tableau(_gauss(method.name)))
    used = int(np.sum(arrays.row_nodes[:, 0] >= 0) - arrays.redundant.sum())
    _check(system, method.name)
    if used >= system.dimension:
        found = "as many constraints as coordinates"
        raise refused(system, method.name, "a start that can move", found, f"take {_gauss(method.name)}")
    space = kernels.make_space(arrays, scheme, used, *plane_of(arrays))
    space.q[:], space.p[:] = run.q, run.p
    if kernels.begin(arrays, work, space, run.start_time) != layout.OK:
        raise refused(system, method.name, "a start that is not singular", "loops in a singular configuration")
    to_kernel = arrays, scheme, work, space, run.start_time, run.step
    return Stepper(
        lambda first, last, *out: kernels.advance_steps(*to_kernel, first, last, run.every, *out),
        carried(space, space.nodes, work),
        lambda: (*space.count[[kernels.ITERATIONS, kernels.WORST, kernels.INVERSIONS]], 0),
        lambda step, status: _failure(run, space, step, status),
    )


def applicable(system: System, scheme: Tableau | Method) -> Tableau | Method:
    """The scheme; for a method in independent coordinates that of Gauss, where only unit quaternions are constrained, or where
    nothing can move, so that no coordinate is independent.
    """
    if not isinstance(scheme, Method) or scheme.runner != "independent":
        return scheme
    arrays = system.arrays
    kinds = arrays.constraints[arrays.row_nodes[:, 0] >= 0, layout.CONSTRAINT_KIND]
    is_free = (kinds == layout.UNIT_QUATERNION).all()
    is_fixed = arrays.is_tree and not system.is_driven and system.mobility.degrees_of_freedom == 0
    return find_tableau(_gauss(scheme.name)) if is_free or is_fixed else scheme


def _failure(run: Run, space: kernels.Space, step: int, status: int) -> str:
    """Why a step failed, and what to do."""
    t, ahead = run.start_time + run.step * step, space.q + np.outer(AHEAD, run.step * space.v)
    if status == layout.NOT_FINITE or not any(is_nearly_singular(run.system, q, t) for q in ahead):
        return run.failure(step, REASONS[status])
    reason = "the loops are near a singular configuration there, or come near it within the step"
    remedy = (
        f"Independent coordinates end there; take {_gauss(run.method.name)}, which has multipliers and may pass it."
    )
    return run.failure(step, reason, remedy)


def _gauss(scheme: str) -> str:
    """The scheme of Gauss with multipliers."""
    return scheme.replace("independent", "gauss")


def plane_of(arrays: layout.System) -> tuple[Array, Array]:
    """Frames (L, 5) and constraints (k, 6) of a mechanism in a plane, with the columns of `kernels.plane`; none if it is not one.

    The plane's axes are those of the first tree's root at rest, and its origin is the world's.
    """
    nothing = np.zeros((0, 5)), np.zeros((0, 6))
    if not arrays.is_planar:
        return nothing
    links, geometry, rows = arrays.links, arrays.geometry, arrays.constraints
    frames, points = np.zeros((len(links), 5)), np.zeros((arrays.k, 6))
    first = np.eye(3)
    for i, parent in enumerate(links[:, layout.PARENT].tolist()):
        if parent >= 0:
            frames[i] = frames[parent]
            continue
        own = geometry[i, layout.ROTATION : layout.ROTATION + 9].reshape(3, 3)
        first = own if i == 0 else first
        turned = first.T @ own
        if np.abs(turned[:2, 2]).max() > PARALLEL:
            return nothing
        place = first.T @ geometry[i, layout.PLACE : layout.PLACE + 3]
        frames[i] = *place[:2], *turned[:2, 0], np.sign(turned[2, 2])
    for i in np.flatnonzero(rows[:, layout.ENTRIES]).tolist():
        if rows[i, layout.CONSTRAINT_KIND] == layout.COORDINATES:
            continue
        ends = rows[i, [layout.LINK_A, layout.LINK_B, layout.LINK_A]].tolist()
        starts = layout.POINT_A, layout.POINT_B, layout.DIRECTION_U
        for column, (start, link) in enumerate(zip(starts, ends, strict=True)):
            given = arrays.constraint_data[i, start : start + 3]
            x, y, z = given * (1, frames[link, SENSE], 1) if link >= 0 else first.T @ given
            points[i, 2 * column : 2 * column + 2] = x, y
            is_across = start == layout.DIRECTION_U and abs(z) > PARALLEL
            if is_across or rows[i, layout.CONSTRAINT_KIND] != layout.ALONG:
                return nothing
    return frames, points


def _check(system: System, scheme: str) -> None:
    """Refuse systems of which the kernels know less than they would need."""
    arrays = system.arrays
    gauss = f"take {_gauss(scheme)}, which runs any system"
    if not arrays.is_tree:
        found = "constraints of your own functions"
        raise refused(system, scheme, "constraints that the coordinates of joints leave", found, gauss)
    if balls := np.flatnonzero(arrays.links[:, layout.KIND] == layout.QUATERNION).tolist():
        name = system.coordinate_names[arrays.links[balls[0], layout.DOF]]
        raise refused(system, scheme, "joints without quaternions", f"the quaternion {name}", gauss)
    if (driven := np.flatnonzero(arrays.constraints[:, layout.FUNCTION] >= 0)).size:
        found = f"{system.constraint_names[driven[0]]}, which holds a function"
        raise refused(system, scheme, "constraints without functions of time or of a coordinate", found, gauss)
