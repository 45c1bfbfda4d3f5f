"""A slot against the same mechanism made of a prismatic joint, a massless body and a ball joint."""

import numpy as np
import pytest

import mbvi

AXIS = (2, 1, -0.5)
PLACE = {"position": (0.3, -0.2, 0.1), "orientation": (0.4, -0.7, 0.2), "offset": (0.1, 0.2, 0.5)}
ROD = mbvi.Body(mass=1.3, center_of_mass=(0.1, -0.05, 0.2), inertia=(0.1, 0.14, 0.09))
START = {
    "quaternion": ((0.2, 0.8, 0.6, 0, 0), (0.4, 1.5, -0.7, 2.0)),
    "zyx": ((0.2, 0.5, -0.3, 0.6), (0.4, 1, -2, 0.5)),
}


def with_slot(coordinates, formulation="tree"):
    position, velocity = START[coordinates]
    return mbvi.assemble(
        mbvi.Model(
            name="slot",
            formulation=formulation,
            bodies={"rod": ROD},
            joints={"slot": mbvi.Slot(parent="world", child="rod", axis=AXIS, coordinates=coordinates, **PLACE)},
            initial={"slot": mbvi.Initial(position=position, velocity=velocity)},
        )
    )


def with_two_joints(coordinates):
    (x, *position), (u, *velocity) = START[coordinates]
    place = dict(PLACE)
    rail = mbvi.Prismatic(parent="world", child="pin", axis=AXIS, position=place.pop("position"))
    return mbvi.assemble(
        mbvi.Model(
            name="rail and ball",
            bodies={"pin": mbvi.Body(), "rod": ROD},
            joints={"rail": rail, "ball": mbvi.Ball(parent="pin", child="rod", coordinates=coordinates, **place)},
            initial={
                "rail": mbvi.Initial(position=x, velocity=u),
                "ball": mbvi.Initial(position=position, velocity=velocity),
            },
        )
    )


@pytest.mark.parametrize("coordinates", START)
def test_a_slot_moves_as_a_slide_and_a_ball(coordinates):
    one, other = (
        mbvi.simulate(system, "gauss4", step=0.02, duration=1)
        for system in (with_slot(coordinates), with_two_joints(coordinates))
    )
    np.testing.assert_allclose(one.q, other.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.v, other.v, rtol=0, atol=1e-11)
    assert np.abs(one.q[-1] - one.q[0]).max() > 0.3


@pytest.mark.parametrize("coordinates", START)
def test_a_slot_that_is_cut_holds_with_the_same_force(coordinates):
    """Forces across the axis, which are those of the prismatic joint, and no torque about the point that slides."""
    cut, two = with_slot(coordinates, "embedding"), with_two_joints(coordinates)
    assert cut.constraint_names == ("rod.norm", "slot.u", "slot.v")
    force, torque = (each[0] for each in mbvi.simulate(cut, "gauss4", step=0.02, duration=0.02).reaction("slot"))
    expected, _ = mbvi.simulate(two, "gauss4", step=0.02, duration=0.02).reaction("rail")
    np.testing.assert_allclose(force, expected[0], rtol=1e-9)
    displacement = START[coordinates][0][0] * np.array(AXIS) / np.linalg.norm(AXIS)
    np.testing.assert_allclose(torque, np.cross(displacement, force), rtol=0, atol=1e-9)
    assert abs(force @ AXIS) < 1e-9 < np.abs(force).max()
