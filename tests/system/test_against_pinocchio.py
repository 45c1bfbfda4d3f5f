"""M(q), V(q) and accelerations of random trees against Pinocchio, built from the elements of the model alone.

Pinocchio's velocities are v_pin = E(q) v: the same for axial joints and Euler angles (chains of revolutes there), the
body angular velocity ω = 2 vec(ā ȧ) for a quaternion a, and Rᵀ ẋ before it for a free one.
"""

import numpy as np
import pytest

import mbvi
from mbvi.system.reactions import known_names, reactions

from . import mechanisms

pin = pytest.importorskip("pinocchio")  # which has no wheels for Windows

REVOLUTE = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ}
SEEDS = range(12)


def joint_models(joint):
    """Pinocchio's joints, to be chained, of a joint with numbers only."""

    def rotation():
        if joint.coordinates == "quaternion":
            return [pin.JointModelSpherical()]
        return [REVOLUTE[letter]() for letter in joint.coordinates]

    def unit(values):
        return np.array(values) / np.linalg.norm(values)

    match joint.type:
        case "weld":
            return []
        case "revolute":
            return [pin.JointModelRevoluteUnaligned(unit(joint.axis))]
        case "prismatic":
            return [pin.JointModelPrismaticUnaligned(unit(joint.axis))]
        case "screw":
            return [pin.JointModelHelicalUnaligned(unit(joint.axis), joint.pitch)]
        case "cylindrical":
            axis = unit(joint.axis)
            return [pin.JointModelRevoluteUnaligned(axis), pin.JointModelPrismaticUnaligned(axis)]
        case "universal":
            return [pin.JointModelRevoluteUnaligned(unit(axis)) for axis in joint.axes]
        case "planar":
            normal = unit(joint.normal)
            x = np.array(joint.x_axis)
            x = unit(x - (x @ normal) * normal)
            y = np.cross(normal, x)
            return [*map(pin.JointModelPrismaticUnaligned, (x, y)), pin.JointModelRevoluteUnaligned(normal)]
        case "ball":
            return rotation()
        case "free" if joint.coordinates == "quaternion":
            return [pin.JointModelFreeFlyer()]
        case "free":
            return [pin.JointModelTranslation(), *rotation()]
    return [elementary_model(motion) for motion in joint.motions()]  # of types that Pinocchio has no name for


def elementary_model(motion):
    """Pinocchio's joint of an elementary motion."""
    axis = np.array(motion.axis)
    match motion.kind:
        case "turn":
            return pin.JointModelRevoluteUnaligned(axis)
        case "slide":
            return pin.JointModelPrismaticUnaligned(axis)
        case "screw":
            return pin.JointModelHelicalUnaligned(axis, motion.pitch)
        case "quaternion":
            return pin.JointModelSpherical()
    raise ValueError(motion.kind)


def inertias(body):
    """Pinocchio's inertias, with their placements, of a body with numbers only."""
    yield pin.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia)), pin.SE3.Identity()
    for point in body.point_masses.values():
        yield pin.Inertia(point.mass, np.array(point.position), np.zeros((3, 3))), pin.SE3.Identity()
    for shape in body.shapes:
        w, x, y, z = shape.orientation
        place = pin.SE3(pin.Quaternion(w, x, y, z).toRotationMatrix(), np.array(shape.position))
        yield pin.Inertia.FromBox(shape.density * np.prod(shape.size), *shape.size), place


def place_of(orientation, offset):
    """Placement of a child's frame in its joint's."""
    w, x, y, z = orientation
    rotation = pin.Quaternion(w, x, y, z).toRotationMatrix()
    return pin.SE3(rotation, -rotation @ np.array(offset))


def depth_first(joints, body="world"):
    """Names of the joints, every subtree in one piece, as Pinocchio's algorithms need it."""
    for name, joint in joints.items():
        if joint.parent == body:
            yield name
            yield from depth_first(joints, joint.child)


def build(model):
    """Pinocchio's model, and of every mbvi joint the number of Pinocchio's last one."""
    model = model.resolved()
    robot = pin.Model()
    robot.gravity.linear = np.array(model.gravity)
    frames, ids = {"world": (0, pin.SE3.Identity())}, {}
    for name in depth_first(model.joints):
        joint = model.joints[name]
        parent, placement = frames[joint.parent]
        placement = placement * pin.SE3(np.eye(3), np.array(joint.position))
        ids[name] = []
        for i, each in enumerate(joint_models(joint)):
            parent = robot.addJoint(parent, each, placement, f"{name} {i}")
            placement = pin.SE3.Identity()
            ids[name].append(parent)
        frames[joint.child] = parent, placement * place_of(joint.orientation, joint.offset)
    for name, body in model.bodies.items():
        joint, placement = frames[name]
        for inertia, place in inertias(body):
            robot.appendBodyToJoint(joint, inertia, placement * place)
    return robot, ids, frames


def rate_matrix(a):
    """2 vec(ā b) = matrix @ b, (3, 4)."""
    w, x, y, z = a
    return 2 * np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])


def convert(model, system, robot, ids, q, v):
    """Pinocchio's q and v, E, and the bias of the accelerations: a_pin = E a + bias."""
    names = list(system.coordinate_names)
    q_pin, E, bias = pin.neutral(robot), np.zeros((robot.nv, len(q))), np.zeros(robot.nv)
    for name, chain in ids.items():
        if not chain:
            continue
        own = [i for i, each in enumerate(names) if each.rsplit(".", 1)[0] == name]
        at_q, at_v = robot.joints[chain[0]].idx_q, robot.joints[chain[0]].idx_v
        if not names[own[-1]].endswith(".qz"):
            q_pin[at_q : at_q + len(own)] = q[own]
            E[at_v : at_v + len(own), own] = np.eye(len(own))
            continue
        *place, w, x, y, z = own
        q_pin[at_q : at_q + len(own)] = q[[*place, x, y, z, w]]
        turn = at_v + len(place)
        E[turn : turn + 3, [w, x, y, z]] = rate_matrix(q[[w, x, y, z]])
        E[at_v:turn, place] = np.eye(len(place))
        if len(place) == 3:  # a free flyer, whose velocities are along the axes of the body
            back = pin.Quaternion(*q[[w, x, y, z]]).toRotationMatrix().T
            E[at_v : at_v + 3, place] = back
            omega = rate_matrix(q[[w, x, y, z]]) @ v[[w, x, y, z]]
            bias[at_v : at_v + 3] = -np.cross(omega, back @ v[place])
    return q_pin, E @ v, E, bias


def relative(found, expected):
    """Largest difference relative to the largest entry."""
    return np.abs(found - expected).max() / np.abs(expected).max()


@pytest.fixture(params=SEEDS, scope="module")
def pair(request):
    model = mechanisms.random_tree(request.param)
    system = mbvi.assemble(model)
    q, v = mechanisms.random_state(system, request.param)
    robot, ids, frames = build(model)
    return system, q, v, robot, frames, *convert(model, system, robot, ids, q, v)


def test_mass_matrix(pair):
    system, q, _, robot, _, q_pin, _, E, _ = pair
    M = pin.crba(robot, robot.createData(), q_pin)
    M = np.triu(M) + np.triu(M, 1).T
    assert relative(system.mass_matrix(q), E.T @ M @ E) < 1e-12


def test_potential(pair):
    system, q, _, robot, _, q_pin, _, _, _ = pair
    V = pin.computePotentialEnergy(robot, robot.createData(), q_pin)
    scale = sum(each.mass for each in robot.inertias) * np.linalg.norm(robot.gravity.linear)  # V may cancel to zero
    assert abs(system.potential(q) - V) < 1e-12 * max(abs(V), scale)


def test_kinetic_energy(pair):
    system, q, v, robot, _, q_pin, v_pin, _, _ = pair
    assert system.kinetic_energy(q, v) == pytest.approx(
        pin.computeKineticEnergy(robot, robot.createData(), q_pin, v_pin), rel=1e-12
    )


def test_acceleration(pair):
    system, q, v, robot, _, q_pin, v_pin, E, bias = pair
    expected = pin.aba(robot, robot.createData(), q_pin, v_pin, np.zeros(robot.nv))
    M = pin.crba(robot, robot.createData(), q_pin)
    condition = np.linalg.cond(np.triu(M) + np.triu(M, 1).T)
    tolerance = max(1e-12, 4 * np.finfo(float).eps * condition)  # what rounding M to double precision does
    assert relative(E @ system.acceleration(q, v) + bias, expected) < tolerance


def test_acceleration_needs_no_force(pair):
    system, q, v, robot, _, q_pin, v_pin, E, bias = pair
    a = E @ system.acceleration(q, v) + bias
    M = pin.crba(robot, robot.createData(), q_pin)
    terms = np.abs(np.triu(M) + np.triu(M, 1).T) @ np.abs(a)  # what cancels where light bodies hang on heavy ones
    force = pin.rnea(robot, robot.createData(), q_pin, v_pin, a)
    assert np.abs(force).max() < 1e-13 * terms.max()


def test_reactions(pair):
    """Pinocchio's forces across its joints, which act on all that hangs on them, for the acceleration without forces."""
    system, q, v, robot, _, q_pin, v_pin, E, bias = pair
    data, model = robot.createData(), system.model.resolved()
    a = E @ system.acceleration(q, v) + bias
    pin.rnea(robot, data, q_pin, v_pin, a)
    pin.forwardKinematics(robot, data, q_pin)
    _, ids, _ = build(system.model)
    names = [name for name in known_names(system) if ids[name]]
    assert len(names) > 3
    found = reactions(system, names, np.zeros(1), q[None], v[None], np.zeros((1, system.constraint_count)))
    scale = [0.0, 0.0]
    expected = []
    for name in names:
        last, joint = ids[name][-1], model.joints[name]
        parent, turned = (each[0] for each in system.poses(joint.parent, q[None]))
        place, force = data.oMi[last], data.f[last]
        linear, moment = place.rotation @ force.linear, place.rotation @ force.angular
        arm = place.translation - parent - turned @ np.array(joint.position)
        expected.append((linear, moment + np.cross(arm, linear)))
        scale = [max(size, np.abs(each).max()) for size, each in zip(scale, expected[-1], strict=True)]
    for wrench, (force, moment) in zip(found, expected, strict=True):
        assert np.abs(wrench[0, 0] - force).max() < 1e-9 * scale[0]
        assert np.abs(wrench[1, 0] - moment).max() < 1e-9 * scale[1]


def test_poses(pair):
    system, q, _, robot, frames, q_pin, _, _, _ = pair
    data = robot.createData()
    pin.forwardKinematics(robot, data, q_pin)
    for body in system.model.bodies:
        joint, placement = frames[body]
        expected = data.oMi[joint] * placement
        places, rotations = system.poses(body, q[None])
        np.testing.assert_allclose(places[0], expected.translation, rtol=0, atol=1e-13 * (1 + np.abs(q).max()) * 10)
        np.testing.assert_allclose(rotations[0], expected.rotation, rtol=0, atol=1e-13)


def test_unit_quaternions_stay_units(pair):
    system, q, v, *_ = pair
    a = system.acceleration(q, v)
    for first in mechanisms.quaternions(system):
        part = slice(first, first + 4)
        assert q[part] @ a[part] == pytest.approx(-v[part] @ v[part], abs=1e-12 * np.abs(a[part]).max())


def test_all_kinds_of_joints_are_there():
    joints = mechanisms.random_tree(0).joints.values()
    assert {joint.type.replace("_", " ") for joint in joints} == {
        kind.removesuffix(" euler") for kind in mechanisms.KINDS
    }
    roots = [joint for joint in joints if joint.parent == "world"]
    assert len(roots) > 1
