"""Laws of forces: every type of force between points and on a coordinate, against its expressions."""

import math
from typing import ClassVar

import numpy as np
import pytest

import mbvi
from mbvi.model.forces import HasLaw, OnJoint, OnTendon
from mbvi.system.assemble import Builder

from . import mechanisms

LAWS = [kind for kind, (force, _) in mechanisms.FORCES.items() if issubclass(force, HasLaw) and kind != "joint force"]


def model_with(force):
    """A point on a slide along a line at the distance 0.5 of the world's origin, with a force on it."""
    body = mbvi.Body(mass=2, inertia=(1, 1, 1))
    slide = mbvi.Prismatic(parent="world", child="a", axis=(1, 0, 0), position=(0, 0, 0.5))
    parts = {"bodies": {"a": body}, "joints": {"slide": slide}, "forces": {"force": force}}
    return mbvi.Model(name="slide", gravity=(0, 0, 0), **parts)


def random_law(kind):
    force, _ = mechanisms.FORCES[kind]
    ends = {"joint": "slide"} if issubclass(force, OnJoint) else {"body_a": "world", "body_b": "a"}
    if issubclass(force, OnTendon):
        ends = {"points": [{"body": "world"}, {"body": "a"}]}
    return force(**mechanisms.random_values(np.random.default_rng(3), force, ends))


def distance(force, q, v):
    """The distance or coordinate, its rate, and its derivative by q."""
    if isinstance(force, OnJoint):
        return q, v, 1.0
    length = np.hypot(q, 0.5)
    return length, q * v / length, q / length


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize(("q", "v"), [(1.2, 0.7), (0.9, -1.3), (-0.4, 0.2)])
def test_a_force_is_that_of_its_expressions(kind, q, v):
    force = random_law(kind)
    system = mbvi.assemble(model_with(force))
    x, rate, slope = distance(force, q, v)
    fields = {key: value for key, value in dict(force).items() if isinstance(value, float)}

    def value(text, at):
        return eval(text, {**vars(math), **fields, "x": at})

    found = system.gradient([q], [v])[1][0]
    if force.potential:
        assert system.potential([q]) == pytest.approx(value(force.potential, x), rel=1e-14)
        h = 1e-4
        ends = [value(force.potential, x + i * h) for i in (-2, -1, 1, 2)]
        expected = -(ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
        assert found == pytest.approx(slope * expected, rel=1e-10)
    else:
        assert system.potential([q]) == 0
        assert found == pytest.approx(slope * value(force.force_of_rate, rate), rel=1e-14)
    assert system.is_conservative == bool(force.potential)


@pytest.mark.parametrize("kind", LAWS)
def test_fast_kinds_are_as_their_expressions(kind):
    """Forces and their derivatives."""
    force = random_law(kind)
    expressed = type("Expressed", (type(force),), {"law": HasLaw.law, "__module__": __name__})
    fast = model_with(force).resolved()
    slow = fast.replaced({"forces": {"force": expressed(**dict(fast.forces["force"]))}})
    systems = [mbvi.assemble(fast), mbvi.assemble(slow)]
    state = [0.8], [0.6]
    for found, expected in zip(
        systems[1].second_derivatives(*state), systems[0].second_derivatives(*state), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(systems[1].gradient(*state), systems[0].gradient(*state), rtol=1e-13)


def test_forces_without_a_law():
    """Whatever kinds come to be, none is left out in silence."""

    class Silent(HasLaw, OnJoint):
        type: str = "silent"

    class Both(Silent):
        potential: ClassVar[str] = "x**2"
        force_of_rate: ClassVar[str] = "-x"

    class Unknown(Silent):
        potential: ClassVar[str] = "stifness * x**2"

    class Odd(Silent):
        def law(self):
            return mbvi.model.forces.Law("odd")

    good = model_with(random_law("joint spring")).resolved()

    def message(force):
        with pytest.raises(mbvi.ModelError) as caught:
            Builder(good.replaced({"forces": {"f": force}})).build()
        return str(caught.value)

    at = {"joint": "slide", "coordinate": "displacement"}
    assert message(Silent(**at)) == (
        "forces.f: expected a type of force with a potential or a force_of_rate, found none in Silent"
    )
    assert message(Both(**at)) == (
        "forces.f: expected a type of force with a potential or a force_of_rate, found both in Both; make two forces of it"
    )
    assert message(Unknown(**at)).startswith("forces.f: expected a parameter or a constant, found 'stifness'")
    assert message(Odd(**at)).startswith("forces.f: expected a law of the kind spring or damper or potential or")
    assert message("glue") == "forces.f: expected what is known to follow from it, found 'glue'"
