"""Constraints of loops that hold whatever the coordinates are: which they are, and that steps go without them."""

import numpy as np
import pytest

import mbvi
from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.model.rotations import rotation_matrix
from tests.physics.systems import model as load

TURN = (0.3, -1.1, 2.0)


def idle(system):
    """Names of the idle constraints."""
    rows = np.flatnonzero(system.arrays.constraints[:, layout.ENTRIES] == 0)
    return [system.constraint_names[row] for row in rows]


def four_bar():
    return load("four_bar")


def turned(model):
    """The model on a frame that is turned against the world, with gravity turned as well."""
    joints = {
        name: joint.model_copy(update={"parent": "frame"}) if joint.parent == "world" else joint
        for name, joint in model.joints.items()
    }
    weld = mbvi.Weld(parent="world", child="frame", orientation=TURN)
    return model.model_copy(
        update={
            "bodies": {"frame": mbvi.Body()} | dict(model.bodies),
            "joints": {"base": weld} | joints,
            "gravity": tuple(rotation_matrix(TURN) @ model.gravity),
        }
    )


@pytest.mark.parametrize("change", [lambda model: model, turned])
def test_planar_loop(change):
    """What would keep it in its plane is idle, also where rounding leaves that plane in space."""
    system = mbvi.assemble(change(four_bar()), "tree")
    assert idle(system) == ["rocker pin.y", "rocker pin.turn_u", "rocker pin.turn_v"]
    assert system.constraint_count == 5 and system.mobility.redundant == 3
    q = np.random.default_rng(1).normal(size=3)
    assert np.linalg.matrix_rank(system.constraint_jacobian(q)) == 2


def test_turned_loop_moves_as_it_did():
    runs = [mbvi.simulate(model, "gauss3", 0.01, 2.0) for model in (four_bar(), turned(four_bar()))]
    plain, turned_too = (run.q for run in runs)
    np.testing.assert_allclose(turned_too, plain, rtol=0, atol=1e-11)


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss3"])
def test_multipliers_of_idle_constraints_are_zero(scheme):
    run = mbvi.simulate(four_bar(), scheme, 0.005, 0.5)
    rows = np.isin(run.system.constraint_names, idle(run.system))
    assert (run.multipliers[:, rows] == 0).all() and (np.abs(run.multipliers[-1, ~rows]) > 0.1).all()


@pytest.mark.parametrize("name", ["bricard", "stewart_platform"])
def test_spatial_loops_have_none(name):
    assert idle(mbvi.assemble(load(name), "tree")) == []


def test_loop_that_leaves_its_plane_is_none():
    """A constraint that depends on nothing but does not hold is not idle: it is reported."""
    model = four_bar()
    pin = model.joints["rocker pin"].model_copy(update={"offset": (0.7, 0.01, 0)})
    off = model.model_copy(update={"joints": model.joints | {"rocker pin": pin}})
    assert idle(mbvi.assemble(off, "tree")) == ["rocker pin.turn_u", "rocker pin.turn_v"]
    with pytest.raises(ModelError, match=r"rocker pin.*0\.01 m"):
        mbvi.simulate(off)
