"""Couplings by a function of a coordinate: derivatives, and motions against those of one coordinate."""

import numpy as np
import pytest
import sympy

import mbvi

START, RATE = 0.4, 1.3


def cam(formulation="tree", **given):
    """A turning cam of 2 kg m² that lifts a follower of 3 kg on a spring by 0.1 + 0.2 x² + 0.05 sin(3 x)."""
    wheel = mbvi.Body(mass=1, inertia=(1, 2, 1))
    follower = mbvi.Body(mass=3, inertia=(1, 1, 1))
    parts = {
        "bodies": {"cam": wheel, "follower": follower},
        "joints": {
            "shaft": mbvi.Revolute(parent="world", child="cam", axis=(0, 1, 0)),
            "guide": mbvi.Prismatic(parent="world", child="follower", axis=(0, 0, 1)),
        },
        "forces": {"spring": mbvi.JointSpring(joint="guide", stiffness=40, rest=0.1)},
        "constraints": {
            "cam": mbvi.Coupling(joint_a="shaft", joint_b="guide", function="0.1 + 0.2*x**2 + 0.05*sin(3*x)")
        },
        "initial": {"shaft": mbvi.Initial(position=START, velocity=RATE, hold=True)},
    }
    return mbvi.Model(name="cam", formulation=formulation, **parts | given)


def lift(x):
    return 0.1 + 0.2 * x**2 + 0.05 * np.sin(3 * x)


def test_its_derivatives():
    system = mbvi.assemble(cam())
    q, h = np.array([0.7, -0.3]), 1e-5
    assert system.constraint(q)[0] == pytest.approx(q[1] - lift(q[0]), rel=1e-14)
    G = system.constraint_jacobian(q)
    slope = 0.4 * q[0] + 0.15 * np.cos(3 * q[0])
    np.testing.assert_allclose(G, [[-slope, 1]], rtol=1e-14)
    curvature = system.constraint_curvature(q, [1.0])
    steps = [
        (system.constraint_jacobian(q + h * e) - system.constraint_jacobian(q - h * e))[0] / (2 * h) for e in np.eye(2)
    ]
    np.testing.assert_allclose(curvature, steps, rtol=0, atol=1e-9)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_it_moves_as_a_mechanism_of_one_coordinate(formulation):
    x, v = sympy.symbols("x v")
    z = 0.1 + 0.2 * x**2 + 0.05 * sympy.sin(3 * x)
    inertia = 2 + 3 * z.diff(x) ** 2
    potential = 3 * 9.81 * z + 20 * (z - 0.1) ** 2
    reference = mbvi.from_sympy(
        [x], sympy.Matrix([[inertia]]), potential, velocities=[v], initial_q=[START], initial_v=[RATE]
    )
    expected = mbvi.simulate(reference, "gauss6", step=0.01, duration=1)
    run = mbvi.simulate(cam(formulation), "gauss6", step=0.01, duration=1)
    height = run.pose("follower")[0][:, 2]
    np.testing.assert_allclose(height, lift(expected.q[:, 0]), rtol=0, atol=1e-11)
    assert run.constraint_residual().max() < 1e-14 and np.ptp(run.energy()) < 1e-10


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "constraints.cam: expected either a ratio or a function, found none; write for example ratio: 2"),
        ({"ratio": 2, "function": "x"}, "constraints.cam: expected either a ratio or a function, found both"),
        ({"function": "2"}, "constraints.cam.function: expected a function of x, found 2; write for example x**2/2"),
        (
            {"function": "t"},
            "constraints.cam.function: expected a parameter or a constant, found 't' in 't'; only values of",
        ),
        (
            {"function": "30 deg + x"},
            "constraints.cam.function: expected a value in m, found '30 deg + x', which is in rad",
        ),
        (
            {"function": "x", "offset": 1},
            "constraints.cam.offset: expected no offset besides a function, found 1; add it",
        ),
    ],
)
def test_what_is_no_function(fields, message):
    with pytest.raises(mbvi.ModelError) as error:
        cam(constraints={"cam": mbvi.Coupling(joint_a="shaft", joint_b="guide", **fields)})
    assert str(error.value).startswith(message)


def test_it_is_written_as_text():
    model = cam()
    assert mbvi.from_yaml(mbvi.to_yaml(model)) == model
    assert mbvi.from_yaml(mbvi.to_yaml(model.resolved())).resolved() == model.resolved()
