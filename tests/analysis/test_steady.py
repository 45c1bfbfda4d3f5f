"""Steady motions, linearized: the benchmark bicycle against its published matrices, a disc and a top against closed forms."""

import numpy as np
import pytest
from scipy.optimize import brentq

import mbvi
from mbvi.analysis.steady import linearize_motion
from tests.folders import load

# Meijaard, Papadopoulos, Ruina & Schwab, Proc. R. Soc. A 463 (2007): M q̈ + v C1 q̇ + (g K0 + v² K2) q = 0, q lean and steer.
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0, 76.59734589573222], [0, 2.65431523794604]])
C1 = np.array([[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])


def published(speed):
    """Eigenvalues of the published equations."""
    lower = -np.linalg.solve(M, np.hstack([9.81 * K0 + speed**2 * K2, speed * C1]))
    values = np.linalg.eigvals(np.vstack([np.eye(2, 4, 2), lower]))
    return values[np.lexsort((values.imag, values.real))]


@pytest.fixture(scope="module")
def bicycle():
    system = mbvi.assemble(load("bicycle"))
    wheels = {"ride.x": 1.0, "rear_axle.angle": 1 / 0.3, "front_axle.angle": 1 / 0.35}
    rates = np.array([wheels.get(name, 0.0) for name in system.coordinate_names])
    return lambda speed: linearize_motion(system, np.zeros(system.dimension), speed * rates)


def test_the_bicycle_has_the_published_eigenvalues(bicycle):
    for speed in range(11):
        found = bicycle(float(speed))
        np.testing.assert_allclose(found.eigenvalues, published(speed), rtol=0, atol=1e-11)
        assert found.neutral == 6  # place, heading, and both angles of the wheels; and the speed
    assert bicycle(5.0).is_stable
    assert not bicycle(4.0).is_stable


def test_the_bicycle_balances_from_weave_to_capsize_speed(bicycle):
    weave = brentq(lambda speed: max(bicycle(speed).eigenvalues, key=lambda each: each.imag).real, 4, 5)
    capsize = brentq(lambda speed: bicycle(speed).eigenvalues.real.max(), 5.5, 7)
    assert (round(weave, 3), round(capsize, 3)) == (4.292, 6.024)


def test_a_bicycle_that_swings_has_the_weave_of_its_eigenvalues(bicycle):
    """The lean of a small deviation, integrated, against the sum of exponentials that its start determines."""
    model = load("bicycle").with_parameters({"speed": 5})
    model = model.model_copy(
        update={"initial": {**model.initial, "ride": mbvi.Initial(velocity=(5, 0, 0, 0, 1e-6, 0), hold=True)}}
    )
    run = mbvi.simulate(model, "kahan_li6", step=0.02, duration=2)
    values = bicycle(5.0).eigenvalues
    basis = np.exp(np.outer(run.t, values))
    weights = np.linalg.lstsq(basis, run.q[:, 4].astype(complex), rcond=None)[0]
    np.testing.assert_allclose((basis @ weights).real, run.q[:, 4], rtol=0, atol=1e-5 * np.abs(run.q[:, 4]).max())


def test_a_sleeping_top_against_its_closed_form():
    """λ = i (C ω ± √(C² ω² − 4 A m g l))/(2 A) and their conjugates, A about the pivot; stable where the root is real."""
    A, C, length = 0.5, 0.2, 0.2
    weight = 9.81 * length
    body = mbvi.Body(mass=1, center_of_mass=(0, 0, length), inertia=(A - length**2, A - length**2, C))
    pivot = mbvi.Ball(parent="world", child="top", coordinates="xyz")
    top = mbvi.Model(name="top", bodies={"top": body}, joints={"pivot": pivot}, gravity=(0, 0, -9.81))
    for factor, is_stable in ((0.9, False), (1.1, True)):
        spin = factor * 2 * np.sqrt(A * weight) / C
        found = linearize_motion(top, (0, 0, 0), (0, 0, spin))
        root = np.sqrt(complex((C * spin) ** 2 - 4 * A * weight))
        values = [1j * (C * spin + sign * root) / (2 * A) for sign in (1, -1)]
        expected = np.array([*values, *np.conj(values)])
        expected = expected[np.lexsort((expected.imag.round(9), expected.real.round(9)))]
        order = np.lexsort((found.eigenvalues.imag.round(9), found.eigenvalues.real.round(9)))
        np.testing.assert_allclose(found.eigenvalues[order], expected, rtol=0, atol=1e-11)
        assert (found.is_stable, found.neutral) == (is_stable, 2)


def test_what_is_no_steady_motion_is_refused():
    system = mbvi.assemble(load("bicycle"))
    q = np.zeros(system.dimension)
    q[system.coordinate_names.index("ride.theta")] = 0.1
    with pytest.raises(
        mbvi.ModelError, match="bicycle: expected a motion with constant rates, found an acceleration of"
    ):
        linearize_motion(system, q)
    link = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(1, 1, 2))
    hinge = mbvi.Revolute(parent="world", child="link", axis=(0, 0, 1))
    motor = mbvi.JointForce(joint="hinge", value="sin(t)")
    driven = mbvi.Model(
        name="driven", bodies={"link": link}, joints={"hinge": hinge}, forces={"motor": motor}, gravity=(0, 0, 0)
    )
    with pytest.raises(mbvi.ModelError, match="driven: expected forces and constraints that do not depend on time"):
        linearize_motion(driven)
    wound = mbvi.Body(mass=1, inertia=(1, 2, 3))
    ball = mbvi.Ball(parent="world", child="rotor", coordinates="xyz")
    rotor = mbvi.Model(name="rotor", bodies={"rotor": wound}, joints={"ball": ball}, gravity=(0, 0, 0))
    with pytest.raises(
        mbvi.ModelError, match="rotor: expected a motion along which what acts on deviations does not change"
    ):
        linearize_motion(rotor, (0, 0, 0), (0, 0, 1))
