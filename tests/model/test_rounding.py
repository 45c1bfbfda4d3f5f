"""What rounding to four digits explains is mended and said; beyond it, inertias and quaternions are refused with the number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import mbvi.model as mm
from mbvi import ModelError
from mbvi.model.rounding import excess, nearest_inertia, nearest_moments

moments = st.tuples(*[st.floats(-1, 10)] * 3).map(np.array)


@given(moments)
def test_nearest_moments_are_those_of_a_body(m):
    near = nearest_moments(m)
    assert near.min() >= 0 and excess(near) <= 1e-14
    np.testing.assert_allclose(nearest_moments(near), near, rtol=0, atol=1e-13)


@pytest.mark.parametrize("m", [(1, 1, 3), (0, 1, 1.5), (-0.5, 1, 1), (0.1, 0.2, 5), (-1, -1, 1), (1, 1, 1)])
def test_nearest_moments_minimize_the_change(m):
    """Against a minimization over second moments s ≥ 0, of which the moments are sums of two."""
    sums = np.ones((3, 3)) - np.eye(3)
    found = minimize(lambda s: np.sum((sums @ s - m) ** 2), np.ones(3), bounds=[(0, None)] * 3, options={"ftol": 1e-15})
    np.testing.assert_allclose(nearest_moments(np.array(m, dtype=float)), sums @ found.x, rtol=0, atol=1e-6)


def test_nearest_moments_in_closed_form():
    np.testing.assert_allclose(nearest_moments(np.array([1.0, 1.0, 3.0])), [4 / 3, 4 / 3, 8 / 3], rtol=1e-15)
    assert nearest_moments(np.array([-1e-5, 1.0, 1.0]))[0] == 0.0  # a rod stays without inertia about its axis


def test_the_nearest_inertia_has_the_same_axes():
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    found = nearest_inertia(axes @ np.diag([1.0, 1.0, 3.0]) @ axes.T)
    np.testing.assert_allclose(found, axes @ np.diag([4 / 3, 4 / 3, 8 / 3]) @ axes.T, rtol=0, atol=1e-15)


def model_of(orientation=(1, 0, 0, 0), position=None, **body):
    free = mm.Free(parent="world", child="rod", orientation=orientation)
    initial = {} if position is None else {"free": mm.Initial(position=position)}
    body = mm.Body(**({"mass": 1, "inertia": (1, 1, 1)} | body))
    return mm.Model(name="rod", bodies={"rod": body}, joints={"free": free}, initial=initial)


def test_a_rounded_inertia():
    """A rod of m l²/12 = 0.083333 and a disc's 0.166666, rounded up where that hurts."""
    model = model_of(inertia=(0.0833, 0.0833, 0.1667))
    assert model.mended == (
        "bodies.rod.inertia: one of the principal moments [0.0833, 0.0833, 0.1667] exceeds the sum of the others by 0.0001 "
        "kg m², 0.0003 of the trace; taken as rounded, and as [0.0833333, 0.0833333, 0.166667]",
    )
    found = mm.mass_properties(model.resolved().bodies["rod"]).inertia
    np.testing.assert_allclose(found, np.diag([1, 1, 2]) / 12, rtol=1e-14)
    assert mm.from_yaml(mm.to_yaml(model)).mended == model.mended
    assert mm.from_yaml(mm.to_yaml(model.resolved())).mended == ()


@pytest.mark.parametrize(
    ("inertia", "nearest", "excess"),
    [
        ((1, 1, 2.0018), (1.0006, 1.0006, 2.0012), "0.0018 kg m², 0.00045 of the trace"),
        ((-0.0009, 1, 1), (0, 1, 1), "0.0009 kg m², 0.00045 of the trace"),
        ((1, 1, 2, 0, 0, 0.01), None, "0.0002 kg m², 5e-05 of the trace"),  # to second order, p²/(I₃ − I₁) each
    ],
)
def test_inertias_within_rounding(inertia, nearest, excess):
    model = model_of(inertia=inertia)
    (line,) = model.mended
    assert f"exceeds the sum of the others by {excess}; taken as rounded" in line
    found = np.array(model.resolved().bodies["rod"].inertia)
    low, middle, high = np.linalg.eigvalsh(found)
    assert low >= 0 and high <= low + middle + 1e-15
    if nearest:
        np.testing.assert_allclose(found, np.diag(nearest), rtol=1e-14)


def test_inertias_beyond_rounding():
    with pytest.raises(
        ModelError, match=r"the largest does by 0\.0021 kg m², 0\.00052 of the trace; rounding explains 0\.0005"
    ):
        model_of(inertia=(1, 1, 2.0021))
    with pytest.raises(ModelError, match=r"0\.000505 of the trace; rounding explains 0\.0005 of the trace"):
        model_of(inertia=(1, 1, 2.00202))
    with pytest.raises(
        ModelError, match=r"off by 0\.01 kg m², 0\.0033 of the trace; rounding explains 0\.0005 of the trace$"
    ):
        model_of(inertia=((1, 0.01, 0), (0, 1, 0), (0, 0, 1)))


def test_an_inertia_about_the_origin():
    """Rounded numbers far from the centre leave what is about it; there it is mended, and moved back."""
    model = model_of(inertia=(0.0, 10000.08, 10000.1), inertia_about="origin", center_of_mass=(100, 0, 0))
    assert model.mended[0].startswith("bodies.rod.inertia: one of the principal moments [0, 0.08, 0.1] exceeds")
    found = mm.mass_properties(model.resolved().bodies["rod"]).inertia
    np.testing.assert_allclose(found, np.diag([0.02 / 3, 0.08 + 0.02 / 3, 0.1 - 0.02 / 3]), rtol=0, atol=1e-11)


def test_products_that_differ_by_rounding():
    model = model_of(inertia=((1, 1e-4, 0), (0, 1, 0), (0, 0, 1)))
    assert model.mended == (
        "bodies.rod.inertia: products differ by 0.0001 kg m², 3.3e-05 of the trace; taken as rounded, the mean of both",
    )
    np.testing.assert_allclose(
        model.resolved().bodies["rod"].inertia, np.eye(3) + 5e-5 * np.eye(3)[[1, 0, 2]] * [1, 1, 0]
    )


def test_a_product_of_no_size_is_none():
    """Measured against the mass, of which 1e-35 kg m² is a radius of 3e-18 m."""
    model = model_of(inertia=(0, 0, 0, 1e-35, 0, 0))
    assert "taken as rounded, and as [0, 0, 0]" in model.mended[0]
    assert not np.any(model.resolved().bodies["rod"].inertia)
    assert model_of(inertia=(1, 1, 2, 1e-35, 0, 0)).mended == ()


def test_what_arithmetic_leaves_is_not_said():
    third = 1 / 3
    for inertia in ((third, third, 2 * third * (1 + 1e-15)), (0.1, 0.2, 0.1 + 0.2), (0, 1, 1 + 1e-12)):
        model = model_of(inertia=inertia)
        assert model.mended == () and np.array_equal(model.resolved().bodies["rod"].inertia, np.diag(inertia))
    half = np.sqrt(0.5)
    assert model_of(orientation=(half, half, 0, 0)).mended == ()


def test_rounded_quaternions_everywhere():
    """Of orientations of joints, shapes and frames, and of initial positions: one rule."""
    turned = [0.70711, 0.70711, 0, 0]
    text = "the norm of [0.70711, 0.70711, 0, 0] is 1 + 4.6e-06; taken as rounded, and divided by it"
    shape = mm.Sphere(radius=1, orientation=turned)
    model = model_of(turned, [0, 0, 0, *turned], shapes=[shape])
    frames = mm.CoincidentFrames(body_a="world", body_b="rod", orientation=turned)
    model = mm.Model(**(dict(model) | {"constraints": {"hold": frames}}))
    places = ("bodies.rod.shapes.0.orientation", "joints.free.orientation", "constraints.hold.orientation")
    assert set(model.mended) == {f"{place}: {text}" for place in (*places, "initial.free.position")}
    exact = np.array([1, 1, 0, 0]) / np.sqrt(2)
    np.testing.assert_allclose(model.resolved().joints["free"].orientation, exact, rtol=0, atol=1e-15)
    np.testing.assert_allclose(model.resolved().initial["free"].position, [0, 0, 0, *exact], rtol=0, atol=1e-15)
    assert model_of([0.7, 0.7, 0.1, 0.1]).mended == ()  # of norm 1 as it is
    with pytest.raises(ModelError, match=r"found \[0\.71, 0\.71, 0, 0\] of norm 1\.00409; write"):
        model_of([0.71, 0.71, 0, 0])


def test_lines_stay_where_other_parameters_leave_their_part():
    text = """
name: rods
parameters: {mass: 1}
bodies:
  a: {mass: 1, inertia: [0.0833, 0.0833, 0.1667]}
  b: {mass: mass, inertia: [0.0833*mass, 0.0833*mass, 0.1667*mass]}
joints:
  a: {type: free, parent: world, child: a}
  b: {type: free, parent: world, child: b}
"""
    model = mm.from_yaml(text)
    other = model.with_parameters({"mass": 2})
    assert [line.split(":")[0] for line in other.mended] == ["bodies.a.inertia", "bodies.b.inertia"]
    assert other.mended[0] == model.mended[0] and "[0.1666, 0.1666, 0.3334]" in other.mended[1]
