"""Scales of masses and constraints: they take the units away, and are numbers wherever a system is described."""

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.kernels.mechanics import lagrangian as kernels
from mbvi.system.scales import LIGHT

from ..physics import systems


def scaled(system):
    """M and G at the initial position, their rows and columns times the scales."""
    n = system.dimension
    scales = system.arrays.scales[system.arrays.places]
    M, G = system.mass_matrix(system.initial_q), system.constraint_jacobian(system.initial_q)
    return M * np.outer(scales[:n], scales[:n]), G * np.outer(scales[n:], scales[:n])


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize(("length", "mass"), [(1e-6, 1e-15), (1e4, 1e12)])
def test_no_units_are_left(length, mass, formulation):
    model = systems.model("bricard")
    expected = scaled(mbvi.assemble(model, formulation))
    found = scaled(mbvi.assemble(model.with_parameters({"length": length, "mass": mass}), formulation))
    for each, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-9, atol=1e-12)
        assert 0.1 < np.abs(each).max() < 10


def test_a_body_whose_moments_of_inertia_are_the_rounding_of_none():
    """A point mass away from the origin of its body: its scale is that of the system, not of 1e-34 kg m²."""
    mass = mbvi.PointMass(mass=0.93, position=(-0.14, 0.08, 0.82))
    model = mbvi.Model(
        name="hung point",
        bodies={"rod": mbvi.Body(mass=1, inertia=(1, 1, 1)), "bob": mbvi.Body(point_masses={"m": mass})},
        joints={
            "first": mbvi.Ball(parent="world", child="rod", offset=(0, 0, 1)),
            "second": mbvi.Revolute(parent="rod", child="bob", position=(0, 0, -1), axis=(0, 1, 0)),
        },
    )
    system = mbvi.assemble(model, "embedding")
    M, G = scaled(system)
    assert np.abs(M).max() < 10 and np.abs(G).max() < 10
    q, p = system.initial_q, np.ones(system.dimension)
    assert kernels.solve_velocity(system.arrays, system.work, 0.0, q, p)
    v = system.work.solution[: system.dimension]
    assert np.abs(system.constraint_jacobian(q) @ v).max() < 1e-12 * np.abs(v).max()


def test_a_body_that_is_all_but_a_point_on_a_lever():
    """Its moments of inertia are small beside the mass at the lever, 2 m in terms of a quaternion at the origin."""
    bob = mbvi.Body(mass=1, inertia=(1e-12, 1e-12, 1e-12))
    hinge = mbvi.Ball(parent="world", child="bob", offset=(0, 0, 1))
    system = mbvi.assemble(mbvi.Model(name="point", bodies={"bob": bob}, joints={"hinge": hinge}), "embedding")
    scales = system.arrays.scales[system.arrays.places]
    assert scales[:3] == pytest.approx(np.ones(3))
    assert 1 / scales[3:7] ** 2 == pytest.approx(LIGHT * 2**2 * np.ones(4), rel=0.5)


@pytest.mark.parametrize("orientation", [(1, 0, 0, 0), (0, 1, 0, 0), (0.5, 0.5, 0.5, 0.5)])
def test_a_quaternion_has_one_scale(orientation):
    """Wherever it starts: one of its masses, or a mean of them, vanishes there."""
    body = mbvi.Model(
        name="free",
        bodies={"body": mbvi.Body(mass=1, inertia=(2, 2, 2))},
        joints={"center": mbvi.Ball(parent="world", child="body")},
        initial={"center": mbvi.Initial(position=orientation)},
    )
    system = mbvi.assemble(body, "tree")
    four = system.arrays.scales[system.arrays.places][:4]
    assert np.ptp(four) == 0 and 1 / four[0] ** 2 == pytest.approx(4 * 2, rel=0.5)


@pytest.mark.parametrize("constraint", ["sqrt(x**2 + z**2) - 1", "x**2 + z**2 - 1"])
def test_constraints_that_have_no_slope_at_rest(constraint):
    """At x = z = 0, where the system is described: not a number, and 0. Elsewhere the slope of the first is 1."""
    x, z = sympy.symbols("x z")
    system = mbvi.from_sympy([x, z], [[1e-9, 0], [0, 1e-9]], 9.81e-9 * z, constraints=[sympy.sympify(constraint)])
    scales = system.arrays.scales[system.arrays.places]
    assert scales == pytest.approx([1e9**0.5, 1e9**0.5, 1e-9**0.5], rel=1e-12 if "sqrt" in constraint else 0.9)
    energy = mbvi.simulate(system, "gauss3", step=0.01, duration=1.0, initial_q=[1.0, 0.0]).energy()
    assert np.ptp(energy) < 1e-11 * 9.81e-9
