"""Forces by a potential of the user's own, of a coordinate or a distance, against gravity, springs and SciPy."""

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import mbvi
from mbvi.model import from_yaml

PENDULUM = """
name: pendulum
gravity: GRAVITY
parameters: {m: 2, l: 0.5, g: 10}
bodies: {bob: {mass: m, center_of_mass: [0, 0, -l]}}
joints: {pivot: {type: revolute, parent: world, child: bob, axis: [0, 1, 0]}}
forces: {weight: FORCE}
initial: {pivot: {velocity: 5}}
simulation: {scheme: gauss4, step: 0.02, duration: 2}
"""
BY_POTENTIAL = "{type: joint_potential, joint: pivot, potential: m*g*l*(1 - cos(x))}"
NOTHING = "{type: joint_force, joint: pivot, value: 0}"
ATOMS = """
name: atoms
gravity: [0, 0, 0]
parameters: {depth: 2, size: 0.3}
bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 2, inertia: [1, 1, 1]}}
joints:
  one: {type: free, parent: world, child: a}
  two: {type: free, parent: world, child: b, position: [0.4, 0.1, 0]}
forces:
  bond: {type: distance_potential, body_a: a, body_b: b, potential: 4*depth*((size/x)**12 - (size/x)**6)}
initial: {two: {velocity: [0, 0.3, 0.2, 0, 0, 0]}}
simulation: {scheme: gauss4, step: 0.002, duration: 0.5}
"""


def pendulum(force=BY_POTENTIAL, gravity="[0, 0, 0]"):
    return from_yaml(PENDULUM.replace("FORCE", force).replace("GRAVITY", gravity))


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_the_weight_of_a_pendulum(formulation):
    found = mbvi.simulate(pendulum(), formulation=formulation)
    expected = mbvi.simulate(pendulum(NOTHING, "[0, 0, -g]"), formulation=formulation)
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-12)
    assert found.system.is_conservative
    assert np.ptp(found.energy()) < 1e-8  # of 25 J


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_potential_of_a_distance_is_that_of_a_spring(formulation):
    spring = ATOMS.replace("distance_potential", "spring")
    spring = spring.replace("potential: 4*depth*((size/x)**12 - (size/x)**6)", "stiffness: 30, rest_length: 0.2")
    own = ATOMS.replace("4*depth*((size/x)**12 - (size/x)**6)", "30/2*(x - 0.2)**2")
    runs = [mbvi.simulate(from_yaml(each), formulation=formulation) for each in (own, spring)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)
    forces = [run.forces()["bond"] for run in runs]
    np.testing.assert_allclose(forces[0].values, forces[1].values, rtol=0, atol=1e-10)


def test_two_atoms():
    """The relative motion of a reduced mass of 2/3 kg, by DOP853."""
    run = mbvi.simulate(from_yaml(ATOMS))
    place = run.pose("b")[0] - run.pose("a")[0]

    def rate(t, state):
        r = np.linalg.norm(state[:3])
        slope = 8 * (-12 * 0.3**12 / r**13 + 6 * 0.3**6 / r**7)
        return np.concatenate([state[3:], -slope * state[:3] / r * 1.5])

    start = [0.4, 0.1, 0, 0, 0.3, 0.2]
    exact = solve_ivp(rate, (0, 0.5), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:3, -1]
    np.testing.assert_allclose(place[-1], exact, rtol=0, atol=1e-8)


def test_other_parameters():
    system = mbvi.assemble(pendulum())
    other = system.with_parameters({"g": 5.0})
    assert other.potential([1.0]) == pytest.approx(5 * (1 - np.cos(1)), rel=1e-15)
    fresh = mbvi.assemble(pendulum().with_parameters({"g": 5.0}))
    np.testing.assert_array_equal(mbvi.simulate(other).q, mbvi.simulate(fresh).q)


def test_its_symbols():
    found = mbvi.symbolic.equations(pendulum())
    values = {"m": 2, "g": 10, "l": sympy.Rational(1, 2), str(found.q[0]): 1}
    value = found.potential.subs({symbol: values[symbol.name] for symbol in found.potential.free_symbols})
    assert value.equals(10 * (1 - sympy.cos(1)))


def test_another_coordinate_of_a_joint():
    """A slot's displacement beside its quaternion."""
    text = PENDULUM.replace("type: revolute", "type: cylindrical").replace("velocity: 5", "velocity: [0, 0]")
    model = text.replace("FORCE", BY_POTENTIAL.replace("pivot,", "pivot, coordinate: displacement,")).replace(
        "GRAVITY", "[0, 0, 0]"
    )
    system = mbvi.assemble(from_yaml(model))
    at = system.coordinate_names.index("pivot.displacement")
    q = np.zeros(2)
    q[at] = 0.3
    assert system.potential(q) == pytest.approx(10 * (1 - np.cos(0.3)), rel=1e-14)
    with pytest.raises(mbvi.ModelError, match=r"forces\.weight"):
        from_yaml(text.replace("FORCE", BY_POTENTIAL).replace("GRAVITY", "[0, 0, 0]")).resolved()


@pytest.mark.parametrize(
    ("potential", "message"),
    [
        ("3", "expected an expression of x, found 3; write for example 10*x**2 + x**4"),
        ("q", "expected a parameter or a constant, found 'q' in 'q'; known: x, m, l, g, pi, e, deg, rad, rpm"),
        ("[x]", "expected a number or an expression, found ['x']"),
    ],
)
def test_what_is_no_potential_is_refused(potential, message):
    with pytest.raises(mbvi.ModelError) as caught:
        pendulum(BY_POTENTIAL.replace("m*g*l*(1 - cos(x))", potential)).resolved()
    assert str(caught.value) == f"<string>:7: forces.weight.potential: {message}"


def test_a_potential_has_a_value_where_it_is_asked_for():
    """A pole that a run comes to ends it with the name of the force."""
    fall = pendulum(BY_POTENTIAL.replace("m*g*l*(1 - cos(x))", "sqrt(x + 0.01)"))
    with pytest.raises(mbvi.StepError, match=r"weight|finite"):
        mbvi.simulate(fall, initial_v=[-5])
