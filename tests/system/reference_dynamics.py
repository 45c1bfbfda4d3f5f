"""Kinematics and dynamics of a tree of links in plain NumPy, of complex numbers too, so that complex steps differentiate them.

All vectors stand along the world's axes, and wrenches are summed about the world's origin: nothing is shared with the kernels but
the tables of the links.
"""

import numpy as np

from mbvi.kernels import layout
from mbvi.kernels.mechanics.tangent import first_velocities

TINY = 1e-100


def turn(axis, angle):
    """The rotation about a unit vector."""
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def quaternion_turn(a):
    """The rotation of a quaternion of any size."""
    w, x, y, z = a
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + (2 * w * K + 2 * K @ K) / (a @ a)


def step(system, q, delta):
    """The coordinates after a step along the tangent space, to first order exact, which is what complex steps need."""
    found = np.array(q, dtype=np.result_type(q, delta))
    at = 0
    c = 0
    links = system.arrays.links
    balls = set(links[links[:, layout.KIND] == layout.QUATERNION, layout.DOF])
    while c < len(found):
        if c in balls:
            w, x, y, z = found[c : c + 4]
            d = delta[at : at + 3] / 2
            found[c : c + 4] += np.array(
                [
                    -x * d[0] - y * d[1] - z * d[2],
                    w * d[0] + y * d[2] - z * d[1],
                    w * d[1] + z * d[0] - x * d[2],
                    w * d[2] + x * d[1] - y * d[0],
                ]
            )
            c, at = c + 4, at + 3
        else:
            found[c] += delta[at]
            c, at = c + 1, at + 1
    return found


def motions(system, q, v, a):
    """Of every link: rotation, place, angular velocity, velocity, and their rates; and the columns of its joint."""
    arrays, first = system.arrays, first_velocities(system.arrays)
    kind = np.result_type(q, v, a)
    found = []
    still = np.eye(3), *np.zeros((5, 3))
    for row, geometry, k in zip(arrays.links, arrays.geometry, first, strict=True):
        R, x, w, u, al, b = (np.array(each, dtype=kind) for each in (found[row[0]][0] if row[0] >= 0 else still))
        arm = R @ geometry[layout.PLACE : layout.PLACE + 3]
        u, b = u + np.cross(w, arm), b + np.cross(al, arm) + np.cross(w, np.cross(w, arm))
        x, R = x + arm, R @ geometry[:9].reshape(3, 3)
        dof, e, pitch = row[layout.DOF], R[:, 2], geometry[layout.PITCH]
        columns = []  # angular and linear velocity, of the origin, for a unit of a velocity
        if row[layout.KIND] in (layout.PRISMATIC, layout.SCREW):
            arm, rate, bend = pitch * q[dof] * e, pitch * v[k], pitch * a[k]
            b = b + np.cross(al, arm) + np.cross(w, np.cross(w, arm)) + 2 * np.cross(w, rate * e) + bend * e
            u, x = u + np.cross(w, arm) + rate * e, x + arm
        if row[layout.KIND] in (layout.REVOLUTE, layout.SCREW):
            al, R = al + np.cross(w, v[k] * e) + a[k] * e, R @ turn([0, 0, 1], q[dof])
            w = w + v[k] * e
        if row[layout.KIND] == layout.TRANSLATION:
            x, u, b = x + q[dof : dof + 3], u + v[k : k + 3], b + a[k : k + 3]
            columns = [(np.zeros(3), each) for each in np.eye(3)]
        elif row[layout.KIND] == layout.QUATERNION:
            R = R @ quaternion_turn(q[dof : dof + 4])
            own, rate = R @ v[k : k + 3], R @ a[k : k + 3]
            w, al = w + own, al + np.cross(w, own) + rate
            columns = [(R[:, c], np.zeros(3)) for c in range(3)]
        else:
            turns, slides = row[layout.KIND] != layout.PRISMATIC, row[layout.KIND] != layout.REVOLUTE
            columns = [(turns * e, slides * pitch * e)]
        found.append(((R, x, w, u, al, b), columns))
    return found


def frame_motion(system, frame, q, v, a):
    """Rotation and place of a frame, its velocity and acceleration (6,), linear first, along the world's axes at its origin."""
    where = system._frame(frame)
    R, x, w, u, al, b = motions(system, q, v, a)[where.link][0]
    arm = R @ where.place
    velocity = np.concatenate([u + np.cross(w, arm), w])
    return (
        R @ where.rotation,
        x + arm,
        velocity,
        np.concatenate([b + np.cross(al, arm) + np.cross(w, np.cross(w, arm)), al]),
    )


def forces(system, q, v, a):
    """The forces (nv,) that a motion needs beside gravity."""
    arrays, first = system.arrays, first_velocities(system.arrays)
    found = motions(system, q, v, a)
    tau = np.zeros(len(v), dtype=np.result_type(q, v, a))
    for link, (state, _) in enumerate(found):
        R, x, w, _, al, b = state
        row = arrays.geometry[link]
        m, h = row[layout.MASS], R @ row[layout.MOMENT : layout.MOMENT + 3]
        xx, yy, zz, xy, xz, yz = row[layout.INERTIA : layout.INERTIA + 6]
        inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        b = b - arrays.gravity
        force = m * b + np.cross(al, h) + np.cross(w, np.cross(w, h))
        moment = inertia @ al + np.cross(w, inertia @ w) + np.cross(h, b)
        i = link
        while i >= 0:  # the moment about the origin of every link before
            at = moment + np.cross(x - found[i][0][1], force)
            for c, (angular, linear) in enumerate(found[i][1]):
                tau[first[i] + c] += angular @ at + linear @ force
            i = arrays.links[i, layout.PARENT]
    return tau


def derivatives(system, function, q, v, a):
    """Of a function of q, v and a: its derivatives along all tangents of q, and with v and a; the last axis is what changes."""
    found = []
    for which in range(3):
        columns = []
        for unit in np.eye(len(v)):
            change = 1j * TINY * unit
            at = [q, v, a]
            at[which] = step(system, q, change) if which == 0 else at[which] + change
            columns.append(np.imag(function(*at)) / TINY)
        found.append(np.stack(columns, axis=-1))
    return found
