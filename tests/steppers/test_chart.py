"""Steps in the generalized coordinates of a chart: theorem 6.1 of Marsden & Wendlandt 1997, in both directions."""

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.system.chart import Chart, joint_chart, sympy_chart

from ..physics import systems

PHI, THETA = sympy.symbols("phi theta")
SPHERE = [sympy.sin(THETA) * sympy.cos(PHI), sympy.sin(THETA) * sympy.sin(PHI), -sympy.cos(THETA)]


def sphere():
    return sympy_chart([PHI, THETA], SPHERE, start=[0.1, 1.0])


def both(system, scheme, chart, step, count=30):
    runs = [mbvi.simulate(system, scheme, step=step, duration=count * step, **each) for each in ({"chart": chart}, {})]
    scale = [np.abs(each).max() for each in (runs[1].q, runs[1].p)]
    return (np.abs(runs[0].q - runs[1].q).max() / scale[0], np.abs(runs[0].p - runs[1].p).max() / scale[1])


@pytest.mark.parametrize("scheme", ["midpoint", "wendlandt_marsden", "shake", "symplectic_euler", "lie_trotter"])
def test_it_is_the_motion_with_multipliers(scheme):
    assert max(both(systems.spherical_pendulum(), scheme, sphere(), 0.05)) < 1e-12


def test_joint_coordinates_of_points():
    system = mbvi.assemble(systems.model("double_spherical_pendulum"), "embedding")
    chart = joint_chart(system)
    assert chart.coordinate_names == mbvi.assemble(system.model, "tree").coordinate_names
    assert max(both(system, "midpoint", chart, 0.02)) < 1e-12


def test_joint_coordinates_of_bodies():
    """Of a top: a place, a unit quaternion and four constraints from three Euler angles; the quaternion changes its sign."""
    system = mbvi.assemble(systems.model("lagrange_top"), "embedding")
    chart = joint_chart(system)
    first = both(system, "midpoint", chart, 0.002, 100)
    assert max(first) < 1e-11
    assert both(system, "midpoint", chart, 0.002, 100) == first  # a chart may be used again


def test_where_one_has_no_solution_neither_has_the_other():
    """The top turns too far in a step of 0.005 s: the discrete momentum is at most I/h."""
    system = mbvi.assemble(systems.model("lagrange_top"), "embedding")
    for chart in (None, joint_chart(system)):
        with pytest.raises(mbvi.StepError, match="Newton's iteration did not converge"):
            mbvi.simulate(system, "midpoint", step=0.005, duration=0.1, chart=chart)


def test_start_from_two_positions():
    system = systems.spherical_pendulum()
    whole = mbvi.simulate(system, "shake", step=0.05, duration=1)
    rest = mbvi.simulate(
        system, "shake", step=0.05, duration=0.5, initial_q=whole.q[10], previous_q=whole.q[9], chart=sphere()
    )
    np.testing.assert_allclose(rest.q, whole.q[10:], rtol=0, atol=1e-12)


def test_derivative_of_a_joint_chart():
    system = mbvi.assemble(systems.model("lagrange_top"), "embedding")
    chart, step = joint_chart(system), 1e-6
    a = chart.start + 0.3
    near = chart.place(a, system.initial_q)[0]
    pairs = [(chart.place(a + step * e, near)[0], chart.place(a - step * e, near)[0]) for e in np.eye(3)]
    differences = [(after - before) / (2 * step) for after, before in pairs]
    np.testing.assert_allclose(chart.place(a, near)[1], np.transpose(differences), rtol=0, atol=1e-8)


def test_errors():
    system = systems.spherical_pendulum()

    def run(chart, scheme="midpoint", of=system):
        mbvi.simulate(of, scheme, step=0.05, duration=1, chart=chart)

    for scheme in ("simpson", "newmark", "suzuki4"):
        with pytest.raises(
            mbvi.ModelError, match=f"chart: expected a Galerkin scheme of one stage, .* found '{scheme}'"
        ):
            run(sphere(), scheme)
    with pytest.raises(mbvi.ModelError, match="chart: expected 3 positions of 2 generalized coordinates, found 3 of 1"):
        run(sympy_chart([PHI], [0, sympy.sin(PHI), -sympy.cos(PHI)], [0.1]))
    with pytest.raises(mbvi.ModelError, match=r"chart: expected positions on the constraints, found \|g\| = 1.5"):
        run(sympy_chart([PHI, THETA], [2 * each for each in SPHERE], [0.1, 1.0]))
    with pytest.raises(mbvi.ModelError, match="chart: expected one that reaches the position"):
        run(Chart(("a", "b"), np.array([0.1, 1.0]), lambda a, near: sphere().place(np.array([0.1, 1.0]), near)))
    with pytest.raises(
        mbvi.ModelError, match="chart: expected a system that conserves its energy, found dampers, functions"
    ):
        run(sphere(), of=systems.elastic_pendulum(True))
    with pytest.raises(mbvi.ModelError, match="expected a system made from a model, found 'spherical pendulum'"):
        joint_chart(system)
    with pytest.raises(mbvi.ModelError, match="expected joints whose coordinates have no constraints, found"):
        joint_chart(mbvi.assemble(systems.model("free_rigid_body_quaternion"), "embedding"))
    with pytest.raises(mbvi.ModelError, match="positions: expected a value for every symbol, found none for theta"):
        sympy_chart([PHI], SPHERE, [0.1])
    with pytest.raises(mbvi.ModelError, match=r"start: expected 2 numbers, found an array of shape \(1,\)"):
        sympy_chart([PHI, THETA], SPHERE, [0.1])
    with pytest.raises(mbvi.ModelError, match="start: expected finite numbers, found nan for phi"):
        sympy_chart([PHI, THETA], SPHERE, [np.nan, 1])
    with pytest.raises(mbvi.ModelError, match="coordinates: expected a list of different SymPy symbols, found phi"):
        sympy_chart(PHI, [PHI], [0.1])
    with pytest.raises(mbvi.ModelError, match="chart: expected lists of symbols, expressions and numbers, found"):
        sympy_chart([PHI], ["cos(phi"], [0.1])
    with pytest.raises(mbvi.ModelError, match=r"start: expected 1 number, found \['here'\]"):
        sympy_chart([PHI], [PHI], ["here"])
    with pytest.raises(mbvi.ModelError, match="chart: expected a Chart, found 'joints'; make one by joint_chart or sy"):
        run("joints")


def test_a_chart_that_leaves_the_constraints():
    """An ellipse that touches the circle where it starts."""
    x, y = sympy.symbols("x y")
    circle = mbvi.from_sympy([x, y], sympy.eye(2), 9.81 * y, constraints=[x**2 + y**2 - 1], initial_q=[1, 0])
    ellipse = sympy_chart([PHI], [sympy.cos(PHI), 2 * sympy.sin(PHI)], [0.0])
    with pytest.raises(mbvi.ModelError, match=r"chart: expected positions on the constraints, .* at generalized coord"):
        mbvi.simulate(circle, "midpoint", step=0.01, duration=1, chart=ellipse)
