"""Splittings: exact where nothing acts, their orders, what they conserve, and which systems they refuse."""

from functools import cache

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.catalog import SCHEMES
from mbvi.exact import FreeBody
from mbvi.model.rotations import rotation_matrix

METHODS = {"splitting": 2, "blanes_moan4": 4, "blanes_moan6": 6, "splitting8": 8}
INERTIA = (0.2, 0.35, 0.5)
TILTED = rotation_matrix((0.3, -0.5, 0.4))  # principal axes in the body


def in_body(moments):
    """Rows of an inertia along tilted axes."""
    return tuple(map(tuple, TILTED @ np.diag(moments) @ TILTED.T))


@cache
def swinging_bodies():
    """A body without symmetry on a ball joint, a free one tied to it by a spring, and a sledge on a rail, in gravity."""
    return mbvi.Model(
        name="swinging bodies",
        bodies={
            "gong": mbvi.Body(mass=1.5, center_of_mass=(0.1, 0.05, -0.3), inertia=in_body(INERTIA)),
            "brick": mbvi.Body(mass=0.8, inertia=in_body((0.1, 0.12, 0.15))),
            "sledge": mbvi.Body(mass=2.0, inertia=(0.1, 0.1, 0.1)),
        },
        joints={
            "hook": mbvi.Ball(parent="world", child="gong"),
            "flight": mbvi.Free(parent="world", child="brick"),
            "rail": mbvi.Prismatic(parent="world", child="sledge", axis=(1, 0, 0)),
        },
        forces={
            "band": mbvi.Spring(
                body_a="gong",
                point_a=(0, 0.2, -0.5),
                body_b="brick",
                point_b=(0.1, 0, 0.2),
                stiffness=9,
                rest_length=0.3,
            ),
            "rope": mbvi.Spring(
                body_a="sledge", point_a=(0, 0, 0.1), body_b="brick", point_b=(0, 0.1, 0), stiffness=6, rest_length=0.4
            ),
        },
        initial={
            "hook": mbvi.Initial(position=(0.8, 0.6, 0, 0), velocity=(0.5, 1.0, -2.0)),
            "flight": mbvi.Initial(position=(0.5, 0.4, 0, 0.6, 0, 0.8, 0), velocity=(0.2, 0.1, 2.0, 1.0, -1.5, 0.5)),
        },
    )


@cache
def exact_state(duration):
    run = mbvi.simulate(swinging_bodies(), "gauss6", 0.005, duration)
    return run.q[-1], run.p[-1]


def error(scheme, step, duration=1.0):
    run = mbvi.simulate(swinging_bodies(), scheme, step, duration)
    q, p = exact_state(duration)
    return max(np.abs(run.q[-1] - q).max(), np.abs(run.p[-1] - p).max())


@pytest.mark.parametrize(("scheme", "step"), [("splitting", 0.01), ("blanes_moan4", 0.05), ("blanes_moan6", 0.25)])
def test_orders(scheme, step):
    errors = np.array([error(scheme, step / 2**i) for i in range(3)])
    assert errors[-1] > 1e-11  # above rounding
    assert (np.log2(errors[:-1] / errors[1:]) > METHODS[scheme] - 0.35).all()


def henon_heiles(scheme, steps):
    """The state after 8 s of T = |p|²/2 and V = |q|²/2 + q₁² q₂ − q₂³/3."""
    q, p = np.array([[0.3, -0.2], [0.1, 0.35]])
    h = 8 / steps
    for _ in range(steps):
        for i, part in enumerate(SCHEMES[scheme].numbers):
            if i % 2 == 0:
                p = p - part * h * np.array([q[0] + 2 * q[0] * q[1], q[1] + q[0] ** 2 - q[1] ** 2])
            else:
                q = q + part * h * p
    return np.concatenate([q, p])


@pytest.mark.parametrize("scheme", METHODS)
def test_orders_of_the_numbers(scheme):
    exact = henon_heiles("blanes_moan6", 512)
    errors = [np.abs(henon_heiles(scheme, steps) - exact).max() for steps in (16, 32)]
    assert errors[1] > 1e-12  # above rounding
    assert np.log2(errors[0] / errors[1]) == pytest.approx(METHODS[scheme], abs=0.2)


@pytest.mark.parametrize("scheme", METHODS)
@pytest.mark.parametrize("name", ["free_rigid_body", "free_rigid_body_quaternion"])
def test_a_free_body_moves_exactly(scheme, name, models):
    run = mbvi.simulate(mbvi.load(models / f"{name}.yaml"), scheme, step=1.5, duration=30)
    body = next(iter(run.system.model.resolved().bodies.values()))
    start = run.system.model.resolved().initial[next(iter(run.system.model.joints))]
    exact = FreeBody(tuple(np.diag(body.inertia)), tuple(start.velocity[-3:]))
    offset = run.q[0, -4:]
    x = exact(run.t)[0] @ left(offset).T
    np.testing.assert_allclose(run.q[:, -4:], x, atol=1e-11)


def left(a):
    """The matrix of b to a ⋆ b."""
    return np.array(
        [
            [a[0], -a[1], -a[2], -a[3]],
            [a[1], a[0], -a[3], a[2]],
            [a[2], a[3], a[0], -a[1]],
            [a[3], -a[2], a[1], a[0]],
        ]
    )


def test_without_bodies_that_turn_it_is_stoermer_verlet(models):
    pendulum = mbvi.load(models / "pendulum.yaml")
    runs = [mbvi.simulate(pendulum, scheme, 0.05, 10) for scheme in ("splitting", "trapezoidal")]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-12)
    np.testing.assert_allclose(runs[0].p, runs[1].p, atol=1e-12)


def test_inertias_that_couple():
    x, y = sympy.symbols("x y")
    coupled = mbvi.from_sympy(
        [x, y], [[2, 1], [1, 3]], x**2 + x * y / 2 + y**4, initial_q=[1, -0.5], initial_v=[0.2, 1]
    )
    runs = [mbvi.simulate(coupled, scheme, 0.05, 10) for scheme in ("splitting", "trapezoidal")]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-12)


@pytest.mark.parametrize("scheme", METHODS)
def test_a_run_back_ends_at_its_start(scheme):
    system = mbvi.assemble(swinging_bodies())
    there = mbvi.simulate(system, scheme, 0.02, 2)
    back = mbvi.simulate(system, scheme, 0.02, 2, initial_q=there.q[-1], initial_v=-there.v[-1])
    np.testing.assert_allclose(back.q[-1], there.q[0], atol=1e-11)
    np.testing.assert_allclose(back.v[-1], -there.v[0], atol=1e-11)


@pytest.mark.parametrize("scheme", METHODS)
def test_energy_momenta_and_quaternions_of_a_long_run(scheme, models):
    run = mbvi.simulate(mbvi.load(models / "heavy_top_quaternion.yaml"), scheme, 0.002, 200, every=50)
    energy = run.energy() - run.energy()[0]
    half = len(energy) // 2
    rounding = 4e-14 * run.energy()[0]
    assert np.abs(energy[half:]).max() < 1.2 * np.abs(energy[:half]).max() + rounding
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1).max() < 1e-15
    for momentum in run.momenta().values():
        np.testing.assert_allclose(momentum, momentum[0], atol=1e-11 * max(abs(momentum[0]), 1.0))


@pytest.mark.parametrize(
    ("name", "formulation", "found"),
    [
        ("double_pendulum", "tree", "found that of shoulder.angle, which depends on the position or is tied to others"),
        ("four_bar", "tree", "expected no constraints but those of unit quaternions, found"),
        ("pendulum", "embedding", "expected no constraints but those of unit quaternions, found"),
        ("spring_damper", "tree", "expected an energy that the motion conserves, found the damper 'link damper'"),
        ("lagrange_top", "tree", "expected a constant inertia along each coordinate, or along the axes of a body"),
    ],
)
def test_refused(name, formulation, found, models):
    with pytest.raises(mbvi.ModelError, match=found):
        mbvi.simulate(mbvi.load(models / f"{name}.yaml"), "splitting", 0.01, 0.1, formulation=formulation)


def test_a_free_body_off_its_centre_is_refused():
    body = mbvi.Body(mass=1, center_of_mass=(0.1, 0, 0), inertia=(1, 1, 1))
    model = mbvi.Model(name="one", bodies={"b": body}, joints={"f": mbvi.Free(parent="world", child="b")})
    with pytest.raises(mbvi.ModelError, match="which depends on the position or is tied to others; take midpoint"):
        mbvi.simulate(model, "blanes_moan4", 0.1, 1)


def test_a_needle_is_refused():
    needle = mbvi.Body(mass=1, center_of_mass=(0, 0, 1), inertia=(1, 1, 0))
    model = mbvi.Model(name="one", bodies={"b": needle}, joints={"f": mbvi.Ball(parent="world", child="b")})
    with pytest.raises(
        mbvi.ModelError, match=r"expected a regular mass matrix at the start, found a singular one, along f\.qz"
    ):
        mbvi.simulate(model, "splitting", 0.1, 1)


def test_a_step_that_breaks_down_says_so():
    x = sympy.Symbol("x")
    system = mbvi.from_sympy([x], [[1]], -(x**4), initial_q=[1.0], name="runaway")
    with pytest.raises(
        mbvi.StepError, match=r"step \d+ .*: a force or momentum became infinite or not a number"
    ) as error:
        mbvi.simulate(system, "splitting", 0.1, 10)
    assert np.isfinite(error.value.trajectory.q).all()
