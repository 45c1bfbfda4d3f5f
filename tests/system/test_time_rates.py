"""Accelerations, multipliers and guiding forces of systems that depend on time, in closed form: however fast it goes on."""

from functools import partial

import numpy as np
import pytest
import sympy

import mbvi

TIME, GRAVITY, MASS = 0.37, 9.81, 2.5
FREQUENCIES = (1.0, 1e4)  # [rad/s]


def length(frequency, t=TIME):
    """1 + 0.3 sin ωt [m] with its first two rates."""
    return (
        1 + 0.3 * np.sin(frequency * t),
        0.3 * frequency * np.cos(frequency * t),
        -0.3 * frequency**2 * np.sin(frequency * t),
    )


def by_expressions(frequency, is_over_length=False):
    """A mass point whose distance from the origin is prescribed; constraint (|r|² − l²)/2, or that over l."""
    x, z, t = sympy.symbols("x z t")
    l = 1 + sympy.Rational(3, 10) * sympy.sin(frequency * t)
    constraint = (x**2 + z**2 - l**2) / (2 * l if is_over_length else 2)
    return mbvi.from_sympy(
        [x, z], MASS * sympy.eye(2), MASS * GRAVITY * z, time=t, constraints=[constraint], initial_q=[0, -1]
    )


def by_elements(frequency):
    """The same by a distance between points, whose constraint is over l."""
    bob = mbvi.Body(mass=MASS)
    slide = {"x": mbvi.Prismatic(parent="world", child="cross", axis=(1, 0, 0))}
    slide["z"] = mbvi.Prismatic(parent="cross", child="bob", axis=(0, 0, 1))
    rod = mbvi.Distance(body_a="world", body_b="bob", length=f"1 + 0.3*sin({frequency!r}*t)")
    return mbvi.assemble(
        mbvi.Model(
            name="reeled pendulum",
            gravity=(0, 0, -GRAVITY),
            bodies={"cross": mbvi.Body(), "bob": bob},
            joints=slide,
            constraints={"rod": rod},
            initial={"z": mbvi.Initial(position=-1)},
        )
    )


@pytest.mark.parametrize("frequency", FREQUENCIES)
@pytest.mark.parametrize(
    ("make", "is_over_length"),
    [(by_expressions, False), (partial(by_expressions, is_over_length=True), True), (by_elements, True)],
)
def test_a_pendulum_of_prescribed_length(make, is_over_length, frequency):
    """a″ = −2 a′ l′/l − (g/l) sin a in the angle a, and the force along the rod m (l″ − l a′² − g cos a)."""
    system, (l, rate, second) = make(frequency), length(frequency)
    angle, turn = 0.8, -1.3
    along, across = np.array([np.sin(angle), -np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    q, v = l * along, rate * along + l * turn * across
    a, multipliers = system.accelerations_and_multipliers([TIME], [q], [v])
    turning = -2 * turn * rate / l - GRAVITY / l * np.sin(angle)
    radial, force = second - l * turn**2, MASS * (second - l * turn**2 - GRAVITY * np.cos(angle))
    expected = radial * along + (l * turning + 2 * rate * turn) * across
    np.testing.assert_allclose(a[0], expected, rtol=0, atol=1e-14 * max(10.0, frequency**2))
    np.testing.assert_allclose(
        multipliers[0], force if is_over_length else force / l, rtol=0, atol=1e-13 * max(10.0, frequency**2)
    )


@pytest.mark.parametrize("frequency", FREQUENCIES)
def test_a_pendulum_whose_mass_and_length_change(frequency):
    """(m l² a′)′ = −m g l sin a, and the force along the rod m (l″ − l a′² − g cos a) + m′ l′."""
    (l, rate, second), (angle, turn) = length(frequency), (0.8, -1.3)
    m, m_t = 2 + np.cos(frequency * TIME), -frequency * np.sin(frequency * TIME)
    x, z, t = sympy.symbols("x z t")
    mass, rod = 2 + sympy.cos(frequency * t), 1 + sympy.Rational(3, 10) * sympy.sin(frequency * t)
    constraint = (x**2 + z**2 - rod**2) / 2
    system = mbvi.from_sympy(
        [x, z], mass * sympy.eye(2), mass * GRAVITY * z, time=t, constraints=[constraint], initial_q=[0, -1]
    )
    along, across = np.array([np.sin(angle), -np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    q, v = l * along, rate * along + l * turn * across
    a, multipliers = system.accelerations_and_multipliers([TIME], [q], [v])
    radial, turning = second - l * turn**2, -(2 * rate / l + m_t / m) * turn - GRAVITY / l * np.sin(angle)
    expected = radial * along + (l * turning + 2 * rate * turn) * across
    np.testing.assert_allclose(a[0], expected, rtol=0, atol=1e-14 * max(10.0, frequency**2))
    force = m * (radial - GRAVITY * np.cos(angle)) + m_t * rate
    np.testing.assert_allclose(multipliers[0], force / l, rtol=0, atol=1e-13 * max(10.0, frequency**2))


@pytest.mark.parametrize("frequency", FREQUENCIES)
def test_a_mass_that_changes(frequency):
    """M a + M′ v = F, of which the guiding force is what is missing on either side."""
    x, t = sympy.symbols("x t")
    system = mbvi.from_sympy([x], [[2 + sympy.cos(frequency * t)]], 3 * x**2, time=t)
    M, M_t = 2 + np.cos(frequency * TIME), -frequency * np.sin(frequency * TIME)
    q, v = 0.4, 1.7
    assert system.acceleration([q], [v], TIME)[0] == pytest.approx((-6 * q - M_t * v) / M, rel=1e-13)
    force = system.guiding_forces([TIME], [[q]], [[v]], [[0.9]])[0, 0]
    assert force == pytest.approx(M * 0.9 + M_t * v + 6 * q, rel=1e-13)


def test_a_step_of_runge_kutta_while_the_mass_swings_to_and_fro():
    """One step that is long for the mass: of the classical method on a = −(6 q + M′ v)/M."""
    frequency, h = 1e4, 0.01
    x, t = sympy.symbols("x t")
    system = mbvi.from_sympy([x], [[2 + sympy.cos(frequency * t)]], 3 * x**2, time=t, initial_q=[0.4], initial_v=[1.7])

    def rates(t, y):
        M, M_t = 2 + np.cos(frequency * t), -frequency * np.sin(frequency * t)
        return np.array([y[1], -(6 * y[0] + M_t * y[1]) / M])

    y = np.array([0.4, 1.7])
    a = rates(TIME, y)
    b = rates(TIME + h / 2, y + h / 2 * a)
    c = rates(TIME + h / 2, y + h / 2 * b)
    d = rates(TIME + h, y + h * c)
    run = mbvi.simulate(system, "rk4", step=h, duration=h, start_time=TIME)
    expected = y + h / 6 * (a + 2 * b + 2 * c + d)
    np.testing.assert_allclose([run.q[1, 0], run.v[1, 0]], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
