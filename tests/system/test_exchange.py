"""States of joints in the coordinates of Pinocchio and MuJoCo: energies and poses there, and back."""

import numpy as np
import pytest

import mbvi
from mbvi.model.rotations import rotation_matrix
from mbvi.system.euler_angles import angles_of_rotation
from mbvi.system.exchange import from_mujoco, from_pinocchio, to_mujoco, to_pinocchio

PLACE = {"position": (0.3, -0.2, 0.1), "orientation": (0.4, -0.7, 0.2), "offset": (0.1, 0.2, 0.5)}
AXIS = np.array([2, 1, -0.5]) / np.sqrt(5.25)
SLIDE = ("PrismaticUnaligned", AXIS)
TURN = ("RevoluteUnaligned", AXIS)
BALL, FLYER = ("Spherical",), ("FreeFlyer",)
COORDINATES = ("quaternion", "xyz", "yxz", "zyx", "zxz", "xzx", "yzy")
JOINTS = [
    *((mbvi.Ball, {"coordinates": each}, [BALL]) for each in COORDINATES),
    *((mbvi.Free, {"coordinates": each}, [FLYER]) for each in COORDINATES),
    *((mbvi.Slot, {"coordinates": each, "axis": AXIS}, [SLIDE, BALL]) for each in COORDINATES),
    (mbvi.Cylindrical, {"axis": AXIS}, [TURN, SLIDE]),
    (mbvi.Cylindrical, {"axis": tuple(rotation_matrix(PLACE["orientation"])[:, 2])}, [("RUBZ",), ("PZ",)]),
    (mbvi.Screw, {"axis": AXIS, "pitch": 0.3}, [("HelicalUnaligned", AXIS, 0.3)]),
]


def body_on(joint, **options):
    """A system of a body on a joint, whose Euler angles do not start in gimbal lock."""
    body = mbvi.Body(mass=1.3, center_of_mass=(0.1, -0.05, 0.2), inertia=(0.1, 0.14, 0.09))
    model = mbvi.Model(
        name="one body", bodies={"b": body}, joints={"j": joint(parent="world", child="b", **PLACE, **options)}
    )
    return mbvi.assemble(model)


def in_pinocchio(system, parts):
    """The same in Pinocchio, whose axes are behind the joint's orientation."""
    pin = pytest.importorskip("pinocchio")
    model = system.model.resolved()
    joint, body = model.joints["j"], model.bodies["b"]
    turned = rotation_matrix(joint.orientation)
    composite = pin.JointModelComposite()
    for name, *values in parts:
        composite.addJoint(
            getattr(pin, f"JointModel{name}")(*(turned.T @ each if each is AXIS else each for each in values))
        )
    robot = pin.Model()
    robot.gravity.linear = np.array(model.gravity)
    robot.addJoint(0, composite, pin.SE3(turned, np.array(joint.position)), "j")
    inertia = pin.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia))
    robot.appendBodyToJoint(1, inertia, pin.SE3(np.eye(3), -np.array(joint.offset)))
    return pin, robot


@pytest.mark.parametrize(("joint", "options", "parts"), JOINTS)
def test_states_of_pinocchio(joint, options, parts):
    """Energies of states of Pinocchio here, its gravity as the force on its own motions, and the states back."""
    system = body_on(joint, **options)
    pin, robot = in_pinocchio(system, parts)
    data, random = robot.createData(), np.random.default_rng(7)
    for _ in range(5):
        q_pin = pin.integrate(robot, pin.neutral(robot), random.normal(size=robot.nv))
        v_pin = random.normal(size=robot.nv)
        q, v = from_pinocchio(system, robot, q_pin, v_pin)
        energy = pin.computeKineticEnergy(robot, data, q_pin, v_pin)
        assert system.kinetic_energy(q, v) == pytest.approx(energy, rel=1e-12)
        units = np.array([from_pinocchio(system, robot, q_pin, unit)[1] for unit in np.eye(robot.nv)])
        gravity = pin.computeGeneralizedGravity(robot, data, q_pin)
        np.testing.assert_allclose(-(units @ system.gradient(q, 0 * v)[1]), gravity, rtol=0, atol=1e-11)
        pin.forwardKinematics(robot, data, q_pin)
        place, turned = system.frame_pose("b", q)
        np.testing.assert_allclose(turned, data.oMi[1].rotation, rtol=0, atol=1e-14)
        np.testing.assert_allclose(place, data.oMi[1].act(-np.array(PLACE["offset"])), rtol=0, atol=1e-14)
        q_back, v_back = to_pinocchio(system, robot, q, v)
        np.testing.assert_allclose(pin.difference(robot, q_pin, q_back), 0, rtol=0, atol=1e-14)
        np.testing.assert_allclose(v_back, v_pin, rtol=0, atol=1e-13)


@pytest.mark.parametrize("letters", ["xyz", "yxz", "zxz", "xzx"])
def test_angles_of_rotations_in_gimbal_lock(letters):
    axes = [np.eye(3)["xyz".index(letter)] for letter in letters]
    lock = 0.0 if letters[0] == letters[2] else np.pi / 2
    for theta in (lock, lock + 1e-12, lock + 1e-7, lock + np.pi, 1.0):
        turns = [rotation_matrix(angle * axis) for angle, axis in zip((0.4, theta, -1.1), axes, strict=True)]
        angles = angles_of_rotation(axes, turns[0] @ turns[1] @ turns[2], np.ones(3))
        again = [rotation_matrix(angle * axis) for angle, axis in zip(angles, axes, strict=True)]
        np.testing.assert_allclose(again[0] @ again[1] @ again[2], turns[0] @ turns[1] @ turns[2], rtol=0, atol=2e-15)


@pytest.mark.parametrize(("letters", "locked"), [("zxz", [0, 0, 0]), ("yxy", [1, 0, 2]), ("xyz", [0.4, np.pi / 2, -1])])
def test_velocities_in_gimbal_lock(letters, locked):
    """Any angular velocity has rates of the angles that are chosen for it."""
    system = body_on(mbvi.Ball, coordinates=letters)
    _, robot = in_pinocchio(system, [BALL])
    q_pin, _ = to_pinocchio(system, robot, locked, np.zeros(3))
    for omega in ([0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.3, -2, 0.7]):
        q, v = from_pinocchio(system, robot, q_pin, omega)
        assert np.abs(v).max() < 10
        q_back, v_back = to_pinocchio(system, robot, q, v)
        np.testing.assert_allclose(q_back * np.sign(q_back @ q_pin), q_pin, rtol=0, atol=1e-14)
        np.testing.assert_allclose(v_back, omega, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ([BALL], "rotation"),
        ([BALL, SLIDE], "rotation, slide"),
        ([SLIDE, ("Planar",)], "slide, slide, slide, turn"),
        ([SLIDE, ("SphericalZYX",)], "slide, SphericalZYX"),
        ([], "nothing"),
    ],
)
def test_joints_of_another_kind_are_refused(parts, found):
    system = body_on(mbvi.Slot, axis=AXIS)
    _, robot = in_pinocchio(system, parts)
    message = f"^robot: expected a joint 'j' that moves by slide, rotation, found one by {found}; build it of the same "
    for convert, q, v in ((to_pinocchio, *(system.given_q, 0 * system.given_q)), (from_pinocchio, robot.nq, robot.nv)):
        values = (np.zeros(each) if isinstance(each, int) else each for each in (q, v))
        with pytest.raises(mbvi.ModelError, match=message + "motions in the same order, as a JointModelComposite$"):
            convert(system, robot, *values)


MJCF = """<mujoco><worldbody><body name="b" pos=".1 .2 .3" euler="20 -30 40">{}
<inertial mass="1.3" pos=".1 -.05 .2" diaginertia=".1 .14 .09"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("coordinates", ["xyz", "zxz"])
@pytest.mark.parametrize("kind", ["free", "ball"])
def test_euler_angles_from_mujoco(kind, coordinates, tmp_path):
    """The poses and the kinetic energy of a file's own joint with other coordinates, and states back."""
    mujoco = pytest.importorskip("mujoco")
    text = MJCF.format(f'<joint type="{kind}" name="j"/>')
    (tmp_path / "robot.xml").write_text(text)
    model, robot = mbvi.load(tmp_path / "robot.xml"), mujoco.MjModel.from_xml_string(text)
    joint = model.joints["j"].replaced({"coordinates": coordinates})
    system, data = mbvi.assemble(model.replaced({"joints": {"j": joint}, "initial": {}})), mujoco.MjData(robot)
    random = np.random.default_rng(3)
    for _ in range(5):
        data.qpos[:], data.qvel[:] = random.normal(size=robot.nq), random.normal(size=robot.nv)
        mujoco.mj_normalizeQuat(robot, data.qpos)
        mujoco.mj_forward(robot, data)
        q, v = from_mujoco(system, robot, data.qpos, data.qvel)
        assert len(q) == system.nv
        place, turned = system.frame_pose("b", q)
        np.testing.assert_allclose(place, data.xpos[1], rtol=0, atol=1e-14)
        np.testing.assert_allclose(turned, data.xmat[1].reshape(3, 3), rtol=0, atol=1e-14)
        mujoco.mj_energyVel(robot, data)
        assert system.kinetic_energy(q, v) == pytest.approx(data.energy[1], rel=1e-12)
        q_back, v_back = to_mujoco(system, robot, q, v)
        a, b = q_back[-4:], data.qpos[-4:]
        np.testing.assert_allclose(q_back, [*data.qpos[:-4], *b * np.sign(a @ b)], rtol=0, atol=1e-14)
        np.testing.assert_allclose(v_back, data.qvel, rtol=0, atol=1e-13)


def test_mujoco_has_another_joint():
    mujoco = pytest.importorskip("mujoco")
    robot = mujoco.MjModel.from_xml_string(MJCF.format('<joint type="hinge" name="j"/>'))
    system = body_on(mbvi.Ball)
    message = (
        "^robot: expected a joint 'j' that moves by rotation, found one by turn; take the MjModel of the file that the "
        "model was read from$"
    )
    with pytest.raises(mbvi.ModelError, match=message):
        to_mujoco(system, robot, system.given_q, 0 * system.given_q)
