"""Lagrangians with potentials that depend on velocities, and with dissipation, against closed forms."""

import numpy as np
import pytest
import sympy

import mbvi

x, y, z, u, v, w, t = sympy.symbols("x y z u v w t")
FIELD = 1.7  # e B
GAUGES = {
    "symmetric": -FIELD / 2 * (x * v - y * u),
    "Landau's": FIELD * y * u,
}  # V = −e A·v
START = {"initial_q": [0.3, -0.2], "initial_v": [1.1, 0.4]}
MASS = 0.8
OMEGA = FIELD / MASS


def charge(gauge="symmetric", **options):
    return mbvi.from_sympy([x, y], MASS * sympy.eye(2), GAUGES[gauge], velocities=[u, v], **START | options)


def circle(times):
    """v turns by −ω t: m v̇ = e v × B."""
    q, rate = START["initial_q"][0] + 1j * START["initial_q"][1], complex(*START["initial_v"])
    velocity = rate * np.exp(-1j * OMEGA * times)
    place = q + (velocity - rate) / (-1j * OMEGA)
    return np.stack([place.real, place.imag], axis=1), np.stack([velocity.real, velocity.imag], axis=1)


SCHEMES = ["midpoint", "trapezoidal", "simpson", "gauss2", "lobatto4", "gauss3", "suzuki4", "rk4", "direct_midpoint"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("gauge", GAUGES)
def test_a_charge_in_a_magnetic_field_goes_round_its_circle(gauge, scheme):
    system, steps = charge(gauge), (30, 60, 120)
    runs = [mbvi.simulate(system, scheme, step=6 / n, duration=6) for n in steps]
    errors = np.array([np.abs([run.q - circle(run.t)[0], run.v - circle(run.t)[1]]).max() for run in runs])
    orders = np.log2(errors[:-1] / errors[1:])
    assert orders == pytest.approx(mbvi.SCHEMES[scheme].order, abs=0.15)


@pytest.mark.parametrize("gauge", GAUGES)
def test_momentum_and_energy_of_a_charge(gauge):
    system, q, rate = charge(gauge), np.array([0.5, 0.9]), np.array([-0.3, 2.0])
    A = {"symmetric": FIELD / 2 * np.array([-0.9, 0.5]), "Landau's": FIELD * np.array([-0.9, 0.0])}[gauge]
    np.testing.assert_allclose(system.mass_matrix(q), MASS * np.eye(2), rtol=1e-15)
    np.testing.assert_allclose(system.momentum(q, rate), MASS * rate + A, rtol=1e-15)
    assert system.energy(q, rate) == pytest.approx(MASS * (rate @ rate) / 2, rel=1e-15)
    assert system.lagrangian(q, rate) == pytest.approx(MASS * (rate @ rate) / 2 + A @ rate, rel=1e-15)
    np.testing.assert_allclose(system.velocities(np.zeros(1), q[None], MASS * rate[None] + A), rate[None], rtol=1e-15)
    turned = [OMEGA * rate[1], -OMEGA * rate[0]]
    np.testing.assert_allclose(system.acceleration(q, rate), turned, rtol=1e-14)


@pytest.mark.parametrize("gauge", GAUGES)
def test_energy_and_momentum_of_a_charge_are_conserved(gauge):
    run = mbvi.simulate(charge(gauge), "midpoint", step=0.05, duration=500)
    assert run.system.is_conservative
    energy = run.energy()
    assert energy[0] == pytest.approx(MASS * (1.1**2 + 0.4**2) / 2, rel=1e-15)
    assert np.abs(energy / energy[0] - 1).max() < 1e-12  # the midpoint rule keeps quadratic invariants
    momenta = run.momenta()
    assert momenta
    assert all(np.abs(values - values[0]).max() < 1e-12 for values in momenta.values())


def test_momentum_of_the_gauge_is_found():
    names = [invariant.name for invariant in mbvi.analysis.find_invariants(charge("Landau's"))]
    assert "p(x)" in names
    assert "p(y)" not in names  # of this gauge; what is conserved is p_y − e B x


def test_a_charge_on_a_constraint_moves_as_in_its_coordinates():
    """A spherical pendulum in a vertical field: in x, y, z on a sphere, and in angles."""
    a, b, p, q = sympy.symbols("a b p q")  # polar angle from below, azimuth, and their rates
    V = 9.81 * z - FIELD / 2 * (x * v - y * u)
    sphere = mbvi.from_sympy(
        [x, y, z], MASS * sympy.eye(3), V, velocities=[u, v, w], constraints=[(x**2 + y**2 + z**2 - 1) / 2],
        initial_q=[np.sin(0.7), 0, -np.cos(0.7)], initial_v=[0, 0.9, 0],
    )  # fmt: skip
    angles = mbvi.from_sympy(
        [a, b], MASS * sympy.diag(1, sympy.sin(a) ** 2), -9.81 * sympy.cos(a) - FIELD / 2 * sympy.sin(a) ** 2 * q,
        velocities=[p, q], initial_q=[0.7, 0], initial_v=[0, 0.9 / np.sin(0.7)],
    )  # fmt: skip
    one, other = (mbvi.simulate(system, "gauss4", step=0.02, duration=4) for system in (sphere, angles))
    alpha, beta = other.q.T
    expected = np.stack([np.sin(alpha) * np.cos(beta), np.sin(alpha) * np.sin(beta), -np.cos(alpha)], axis=1)
    np.testing.assert_allclose(one.q, expected, atol=1e-11)
    np.testing.assert_allclose(one.energy(), other.energy(), rtol=1e-10)
    moment = other.p[:, 1]
    assert np.abs(moment - moment[0]).max() < 1e-13


def test_a_vector_potential_that_changes_makes_an_electric_field():
    """L = v²/2 + A(t) v keeps p = v + A(t)."""
    system = mbvi.from_sympy([x], [[1]], -sympy.sin(3 * t) * u, velocities=[u], time=t, initial_v=[0.5])
    assert not system.is_conservative
    run = mbvi.simulate(system, "gauss3", step=0.1, duration=5)
    assert np.abs(run.p - run.p[0]).max() < 1e-14
    np.testing.assert_allclose(run.v[:, 0], 0.5 - np.sin(3 * run.t), atol=1e-14)
    rough = mbvi.simulate(system, "rk4", step=0.01, duration=5)
    np.testing.assert_allclose(rough.v[:, 0], 0.5 - np.sin(3 * rough.t), atol=1e-7)


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss3"])
@pytest.mark.parametrize("is_rayleigh", [True, False])
def test_a_damped_oscillator_dies_away_as_its_closed_form(scheme, is_rayleigh):
    c, k = 0.6, 5.0
    force = {"dissipation": c * u**2 / 2} if is_rayleigh else {"forces": [-c * u]}
    system = mbvi.from_sympy([x], [[MASS]], k * x**2 / 2, velocities=[u], initial_q=[1.0], **force)
    assert not system.is_conservative
    decay = c / (2 * MASS)
    omega = np.sqrt(k / MASS - decay**2)
    errors = []
    for steps in (20, 40, 80):
        run = mbvi.simulate(system, scheme, step=4 / steps, duration=4)
        exact = np.exp(-decay * run.t) * (np.cos(omega * run.t) + decay / omega * np.sin(omega * run.t))
        errors.append(np.abs(run.q[:, 0] - exact).max())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders == pytest.approx(mbvi.SCHEMES[scheme].order, abs=0.15)
    assert system.unforced.is_conservative


def test_forces_and_dissipation_add_up():
    both = mbvi.from_sympy([x], [[1]], 0, velocities=[u], forces=[3 * x], dissipation=x**2 * u**4 / 4)
    assert both.gradient([2.0], [1.5])[1] == pytest.approx([6 - 4 * 1.5**3], rel=1e-15)


def test_dissipation_of_a_charge_spirals_in():
    """m v̇ = e v × B − c v: v turns and decays by e^{−c t/m}."""
    run = mbvi.simulate(charge(dissipation=0.3 * (u**2 + v**2) / 2), "gauss4", step=0.1, duration=5)
    expected = circle(run.t)[1] * np.exp(-0.3 / MASS * run.t)[:, None]
    np.testing.assert_allclose(run.v, expected, atol=1e-11)
    np.testing.assert_allclose(run.energy(), MASS / 2 * np.sum(expected**2, axis=1), atol=1e-11)


def refused(function, *arguments, **options):
    with pytest.raises(mbvi.ModelError) as error:
        function(*arguments, **options)
    return str(error.value)


def test_a_potential_that_is_not_linear_in_velocities_is_refused():
    assert refused(mbvi.from_sympy, [x], [[1]], x * u**2, velocities=[u]) == (
        "potential: expected one that is at most linear in the velocities, found another; what is quadratic belongs to "
        "mass_matrix"
    )
    assert mbvi.from_sympy([x], [[1]], (x + u) ** 2 - u**2, velocities=[u]).potential([3.0]) == 9


def test_velocities_that_are_not_declared_are_reported():
    assert refused(mbvi.from_sympy, [x], [[1]], x * u) == (
        "potential: expected a value for every symbol, found none for u; add it to parameters, or to velocities if it is one"
    )


@pytest.mark.parametrize("scheme", ["energy_momentum", "splitting", "newmark", "chorin"])
def test_schemes_that_take_momenta_for_mass_times_velocity_refuse(scheme):
    message = refused(mbvi.simulate, charge(), scheme, step=0.1, duration=1)
    assert "a potential that depends on velocities" in message
    assert "take midpoint or simpson" in message


def test_linearize_refuses():
    system = charge(initial_v=[0, 0])
    assert refused(mbvi.linearize, system) == (
        "lagrangian: expected a potential of the coordinates, found one that depends on velocities, by which modes are no "
        "oscillations along lines; take System.second_derivatives"
    )
