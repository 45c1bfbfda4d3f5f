"""Actuators of frames: motors that push and turn a link along axes fixed in it, as propellers do.

With a force F and a torque T per force of the motor, both fixed in the link, at the point x of the link, and φ the force of the
motor, by `forces.actuator_force`, of which the rate is s,

    f_j = φ (F·D_j(x) + T·D_j),     s = F·ẋ + T·ω,

D_j the displacement column of coordinate j, at the point or its angular part. With θ_k the angular part of D_k, δF = θ_k × F and
δT = θ_k × T, so that what turns with the link cancels in the rate:

    ∂s/∂q_k = F·U_k(x) + T·U_k,     ∂s/∂v_k = F·S_k(x) + T·S_k.

Arguments of the kernels:

i            int               the actuator
t            float             time  [s]
q            (n,)              configuration  [u], u the unit of a coordinate
wrench       (L, 6)            in and out: [moment; force] on each link, about its origin  [N m, N]
Kqv, Kqq     (second_size,)    in and out: ∂f/∂v, ∂f/∂q, in blocks of second derivatives  [J s/u², J/u²]

Poses and velocities are in work.world, and for second derivatives the columns S, D and U.

Source: Featherstone 2008, chapter 2 (forces as wrenches, and their power).
"""

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.layout import BY_FUNCTION, DOF, PARENT
from mbvi.kernels.mechanics.forces import (
    actuator_force,
    add_wrench,
    at_point,
    by_input,
    column_derivative,
    from_columns_origin,
    point_motion,
    second_place,
)
from mbvi.kernels.mechanics.rotation import cross, rotate
from mbvi.kernels.mechanics.tree import WORLD_OMEGA, WORLD_ROTATION, link_width

# Columns of System.frame_actuators: link, and row of the motor in System.joint_forces; of frame_actuator_data: x, F and T.
LINK, MOTOR = 0, 1
POINT, ALONG, ABOUT = 0, 3, 6


@kernel
def pull_of(system, work, i, t):
    """The force φ of the motor, its slope ∂φ/∂s, and s: (φ, ∂φ/∂s, s). Arguments: see the head of this file."""
    link, data, world = system.frame_actuators[i, LINK], system.frame_actuator_data, work.world
    rate = 0.0
    if link >= 0:
        b = point_motion(world, link, data[i, POINT], data[i, POINT + 1], data[i, POINT + 2])
        fx, fy, fz = along_world(system, work, i, ALONG)
        tx, ty, tz = along_world(system, work, i, ABOUT)
        rate = fx * b[3] + fy * b[4] + fz * b[5]
        rate += tx * world[link, WORLD_OMEGA] + ty * world[link, WORLD_OMEGA + 1] + tz * world[link, WORLD_OMEGA + 2]
    force, _, by_rate = actuator_force(system, work, system.frame_actuators[i, MOTOR], t, 0.0, rate)
    return force, by_rate, rate


@kernel
def along_world(system, work, i, part):
    """F or T of an actuator along the axes of the world; part is ALONG or ABOUT. Arguments: see the head of this file."""
    data, link = system.frame_actuator_data, system.frame_actuators[i, LINK]
    x, y, z = data[i, part], data[i, part + 1], data[i, part + 2]
    return (x, y, z) if link < 0 else rotate(work.world, link, WORLD_ROTATION, x, y, z)


@late_kernel()
def add_frame_actuators(wrench, system, work, t):
    """Add what actuators of frames exert to the wrenches on their links. Arguments: see the head of this file."""
    data, world = system.frame_actuator_data, work.world
    for i in range(system.frame_actuators.shape[0]):
        link = system.frame_actuators[i, LINK]
        if link < 0:
            continue
        pull, _, _ = pull_of(system, work, i, t)
        b = point_motion(world, link, data[i, POINT], data[i, POINT + 1], data[i, POINT + 2])
        fx, fy, fz = along_world(system, work, i, ALONG)
        tx, ty, tz = along_world(system, work, i, ABOUT)
        add_wrench(wrench, world, link, b[0], b[1], b[2], pull * fx, pull * fy, pull * fz)
        wrench[link, 0] += pull * tx
        wrench[link, 1] += pull * ty
        wrench[link, 2] += pull * tz


@kernel
def times_wrench(columns, j, point, force, torque):
    """F·C_j(x) + T·C_j of a twist column C_j.

    columns   (n, 6)    S, D or U  [rad/u, m/u], of U [rad/(s u), m/(s u)]
    point     (3,)      tuple: x from the origin of the columns  [m]
    force     (3,)      tuple: F  [1]
    torque    (3,)      tuple: T  [m]
    """
    x, y, z = at_point(columns, j, point[0], point[1], point[2])
    along = force[0] * x + force[1] * y + force[2] * z
    return along + torque[0] * columns[j, 0] + torque[1] * columns[j, 1] + torque[2] * columns[j, 2]


@late_kernel()
def add_frame_actuators_hessian(Kqv, Kqq, system, work, t, q):
    """Add the derivatives of the generalized forces of actuators of frames. Arguments: see the head of this file."""
    links, data = system.links, system.frame_actuator_data
    for i in range(system.frame_actuators.shape[0]):
        link = system.frame_actuators[i, LINK]
        if link < 0:
            continue
        pull, by_rate, _ = pull_of(system, work, i, t)
        b = point_motion(work.world, link, data[i, POINT], data[i, POINT + 1], data[i, POINT + 2])
        point = from_columns_origin(links, work.world, link, b)
        force, torque = along_world(system, work, i, ALONG), along_world(system, work, i, ABOUT)
        j_link = link
        while j_link >= 0:
            for j in range(links[j_link, DOF], links[j_link, DOF] + link_width(links, j_link)):
                moved = times_wrench(work.D, j, point, force, torque)
                k_link = link
                while k_link >= 0:
                    for k in range(links[k_link, DOF], links[k_link, DOF] + link_width(links, k_link)):
                        place = second_place(system, j, k)
                        turned = turned_by(system, work, q, j_link, j, k_link, k, point, force, torque)
                        Kqq[place] += pull * turned
                        Kqq[place] += moved * by_rate * times_wrench(work.U, k, point, force, torque)
                        Kqv[place] += moved * by_rate * times_wrench(work.S, k, point, force, torque)
                    k_link = links[k_link, PARENT]
            j_link = links[j_link, PARENT]


@kernel
def fill_frame_drives(drives, system, work, t):
    """Generalized forces per input of actuators driven by functions of the state. Arguments: see the head of this file.

    drives    (by_function, n)    out, rows of actuators of frames alone  [J/u per unit of the input]
    """
    for i in range(system.frame_actuators.shape[0]):
        link, motor = system.frame_actuators[i, LINK], system.frame_actuators[i, MOTOR]
        if link < 0 or system.joint_forces[motor, 2] > BY_FUNCTION:
            continue
        data, row = system.frame_actuator_data, BY_FUNCTION - system.joint_forces[motor, 2]
        per_input = by_input(system, motor, pull_of(system, work, i, t)[0])
        b = point_motion(work.world, link, data[i, POINT], data[i, POINT + 1], data[i, POINT + 2])
        point = from_columns_origin(system.links, work.world, link, b)
        force, torque = along_world(system, work, i, ALONG), along_world(system, work, i, ABOUT)
        while link >= 0:
            for j in range(system.links[link, DOF], system.links[link, DOF] + link_width(system.links, link)):
                drives[row, j] = per_input * times_wrench(work.D, j, point, force, torque)
            link = system.links[link, PARENT]


@kernel
def turned_by(system, work, q, j_link, j, k_link, k, point, force, torque):
    """∂(F·D_j(x) + T·D_j)/∂q_k, of coordinates that both carry the link.

    q              (n,)        configuration  [u]
    j_link, j      int, int    a coordinate and its link
    k_link, k      int, int    another
    point          (3,)        tuple: x from the origin of the columns  [m]
    force          (3,)        tuple: F  [1]
    torque         (3,)        tuple: T  [m]
    """
    D = work.D
    x, y, z = point
    ax, ay, az, bx, by, bz = column_derivative(system, D, work.world, q, j_link, j, k_link, k, x, y, z)
    found = force[0] * bx + force[1] * by + force[2] * bz + torque[0] * ax + torque[1] * ay + torque[2] * az
    turned_force = cross(D[k, 0], D[k, 1], D[k, 2], force[0], force[1], force[2])
    turned_torque = cross(D[k, 0], D[k, 1], D[k, 2], torque[0], torque[1], torque[2])
    return found + times_wrench(D, j, point, turned_force, turned_torque)
