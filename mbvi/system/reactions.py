"""Forces and torques by which joints and constraints hold bodies.

Those of joints that are cut, and of constraints, follow from their multipliers. Joints of the spanning tree have none; theirs
are those of the same model in the embedding, where all joints are cut, in the same states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.mechanics.lagrangian import fill_wrenches
from mbvi.model.arguments import checked_names
from mbvi.system.copies import as_run
from mbvi.system.feedback import as_seen
from mbvi.system.poses import all_poses, unit_quaternions
from mbvi.system.redundancy import count_redundant, node_widths
from mbvi.system.system import System

Array = np.ndarray
BETWEEN = (*layout.GEOMETRIC, *layout.TOUCHING)
DIFFERENCE = 1e-3  # step of the differences [rad, m, –]


@kernel
def add_wrenches(out, each, owners, system, work, t, q, lam):  # type: ignore[no-untyped-def]
    """Add the wrenches of constraints in many states to those of their owners.

    out      (owners, states, 6)   in and out: moment about the world's origin [N m], force [N]
    each     (k, 6)                overwritten, the same for a multiplier of 1 [unit of g, unit of g/m]
    owners   (k,)                  of every constraint, −1 if it has none [1]
    t        (states,)             [s]
    q        (states, n)           [u], u the unit of a coordinate
    lam      (states, k)           multipliers [J/unit of g]
    """
    for i in range(q.shape[0]):
        fill_wrenches(each, system, work, t[i], q[i])
        for b in range(system.k):
            if owners[b] >= 0:
                for c in range(6):
                    out[owners[b], i, c] += lam[i, b] * each[b, c]


def owners(system: System) -> list[str]:
    """Names of the joints and constraints that hold bodies by constraints between two frames."""
    kinds = system.arrays.constraints[:, layout.CONSTRAINT_KIND]
    names = (
        name.rsplit(".", 1)[0] for name, kind in zip(system.constraint_names, kinds, strict=True) if kind in BETWEEN
    )
    return list(dict.fromkeys(names))


def known_names(system: System) -> list[str]:
    """Names of all joints and constraints that have a reaction: with a force of the user's own, none of the tree's joints."""
    if system.model is None:
        return []
    joints = (
        []
        if system._own_force is not None
        else [name for name, each in system.model.joints.items() if not each.is_free]
    )
    return list(dict.fromkeys([*joints, *owners(system)]))


def checked_reactions(system: System, names: Sequence[str]) -> Sequence[str]:
    """Names of joints and constraints that have a reaction.

    Raises
    ------
    ModelError
        If a name is of nothing that holds bodies.
    """
    known, names = known_names(system), checked_names(names, "names", "a list of names of joints and constraints")
    for name in names:
        if name not in known:
            raise ModelError(
                f"reaction: expected a joint other than a free one, or a constraint between bodies, found {name!r}; known: "
                f"{', '.join(known) or 'none'}"
            )
    return names


def reactions(system: System, names: Sequence[str], t: Array, q: Array, v: Array, lam: Array) -> Array:
    """Forces, and torques about the joint's place on the parent or the point of body_b, (names, 2, states, 3).

    Parameters
    ----------
    system : System
        The system of a model.
    names : sequence of str
        The names of joints and constraints.
    t : (states,)
        Times [s].
    q, v, lam : (states, n), (states, n), (states, k)
        Coordinates, velocities and multipliers.

    Raises
    ------
    ModelError
        If a name is of nothing that holds bodies.
    """
    system = as_seen(system, t, q, v)
    names, cut = checked_reactions(system, names), owners(system)
    wrenches = _wrenches(system, names, t, q, lam)
    if not set(names) <= set(cut):
        whole = as_run(system._embedded)
        q_whole, v_whole = embedded_states(system, whole, q, v)
        count_redundant(whole, q_whole[0], t[0])
        forces = whole.multipliers(t, q_whole, v_whole)
        _agree((system, q, lam), (whole, q_whole, forces), t)
        of_tree = [name for name in names if name not in cut]
        wrenches[[name not in cut for name in names]] = _wrenches(whole, of_tree, t, q_whole, forces)
    places = np.array([_place(system, name, q) for name in names]).reshape(len(names), len(q), 3)
    moments, forces = wrenches[..., :3], wrenches[..., 3:]
    return np.stack([forces, moments - np.cross(places, forces)], axis=1)


def _wrenches(system: System, names: Sequence[str], t: Array, q: Array, lam: Array) -> Array:
    """Moments about the world's origin and forces (names, states, 6) of joints and constraints by their multipliers."""
    wrenches, each = np.zeros((len(names), len(q), 6)), np.zeros((system.constraint_count, 6))
    if len(names):
        add_wrenches(wrenches, each, _owner_numbers(system, names), system.arrays, system.work, t, q, lam)
    return wrenches


def _owner_numbers(system: System, names: Sequence[str]) -> Array:
    """For every constraint (k,) the number of the joint or constraint that holds bodies by it; −1 if there is none."""
    index = {name: i for i, name in enumerate(names)}
    kinds = system.arrays.constraints[:, layout.CONSTRAINT_KIND]
    return np.array(
        [
            index.get(name.rsplit(".", 1)[0], -1) if kind in BETWEEN else -1
            for name, kind in zip(system.constraint_names, kinds, strict=True)
        ],
        dtype=np.int64,
    )


def _place(system: System, name: str, q: Array) -> Array:
    """Places (states, 3) of a joint on its parent, or of a constraint's point on its body_b."""
    model = system.model.resolved()  # type: ignore[union-attr]
    if name in model.joints:
        body, point = model.joints[name].parent, model.joints[name].position
    else:
        element: Any = model.constraints[name]
        body, point = element.ends()[1]
    places, rotations = system.poses(body, q)
    return places + rotations @ np.array(point)


def embedded_states(system: System, whole: System, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and velocities (states, n') of the system with all joints cut.

    Velocities are differences of order 4 of the places along q + ε v, exact to about 1e-12.
    """
    step = DIFFERENCE / np.maximum(1.0, np.abs(v).max(axis=1, keepdims=True))
    middle = embedded_coordinates(system, whole, q)
    after, before, far_after, far_before = (
        _on_one_side(whole, embedded_coordinates(system, whole, q + factor * step * v), middle)
        for factor in (1, -1, 2, -2)
    )
    return middle, (8.0 * (after - before) - (far_after - far_before)) / (12.0 * step)


def embedded_coordinates(system: System, whole: System, q: Array) -> Array:
    """Coordinates (states, n') of a system of the same model with all joints cut, at coordinates (states, n)."""
    homes, own, poses = whole.homes, system.homes, all_poses(system, q)
    assert homes is not None and own is not None and whole.model is not None
    out = np.zeros((len(q), whole.dimension))
    for body, (first, is_point) in homes.roots.items():
        out[:, first : first + 3] = poses[body].point(homes.centers[body])
        if not is_point:
            out[:, first + 3 : first + 7] = unit_quaternions(poses[body].rotations)
    widths = {name: len(whole.model.joints[name].coordinate_names) for name in homes.joints} | dict.fromkeys(
        homes.curves, 1
    )
    of_own = {**own.joints, **own.curves}
    for name, first in {**homes.joints, **homes.curves}.items():
        out[:, first : first + widths[name]] = q[:, of_own[name] : of_own[name] + widths[name]]
    return out


def _on_one_side(whole: System, q: Array, near: Array) -> Array:
    """The coordinates q, whose quaternions get the signs with which they are nearest to those of near."""
    for first, is_point in whole.homes.roots.values():  # type: ignore[union-attr]
        if not is_point:
            part = slice(first + 3, first + 7)
            q[np.sum(q[:, part] * near[:, part], axis=1) < 0, part] *= -1.0
    return q


def _agree(one: tuple[System, Array, Array], whole: tuple[System, Array, Array], t: Array) -> None:
    """Where constraints are redundant, let joints and constraints that are cut in both systems hold as in the first, and the rest
    such that all give the same forces Gᵀ λ as before.

    Their wrenches are compared and not their multipliers: of a joint that has coordinates in the first, the constraints may be
    others, along other axes.

    one, whole   a system, its coordinates (states, .), and its multipliers (states, .), of which those of the second are changed
    """
    (system, q, lam), (embedding, q_whole, forces) = one, whole
    if not np.any(embedding.work.ranks < node_widths(embedding.arrays)):
        return
    shared = [name for name in owners(embedding) if name in owners(system)]
    number, number_whole = _owner_numbers(system, shared), _owner_numbers(embedding, shared)
    is_shared = number_whole >= 0
    each, each_whole = np.zeros((len(number), 6)), np.zeros((len(number_whole), 6))
    for i in range(len(q)):
        fill_wrenches(each, system.arrays, system.work, t[i], q[i])
        fill_wrenches(each_whole, embedding.arrays, embedding.work, t[i], q_whole[i])
        G, before = embedding.constraint_jacobian(q_whole[i], t[i]), forces[i].copy()
        for owner in range(len(shared)):
            of_one, of_whole = number == owner, number_whole == owner
            wrench = lam[i, of_one] @ each[of_one]
            forces[i, of_whole] = np.linalg.lstsq(each_whole[of_whole].T, wrench, rcond=None)[0]
        change = G[is_shared].T @ (forces[i] - before)[is_shared]
        forces[i, ~is_shared] -= np.linalg.lstsq(G[~is_shared].T, change, rcond=None)[0]
