"""Systems with closed stops and held frictions are assembled once, for a model and a force, whatever else a run begins with."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest

import mbvi
from mbvi.system import assemble as assembling
from mbvi.system.base import MOST_HELD


def pulled(**parameters):
    """A block that sticks to a table that moves and slips, and a ball on a rope; all of it depends on parameters."""
    numbers = {"speed": 0.3, "rub": 0.8, "far": 0.4, "bounce": 0.5, "place": 0.0} | parameters
    block = {"type": "prismatic", "parent": "table", "child": "block", "axis": [1, 0, 0], "position": ["place", 0, 0]}
    return mbvi.Model(
        name="block, table and ball",
        parameters=numbers,
        bodies={"table": {"mass": 1}, "block": {"mass": 1}, "ball": {"mass": 0.5, "inertia": [0.01, 0.01, 0.01]}},
        joints={
            "drive": {"type": "prismatic", "parent": "world", "child": "table", "axis": [1, 0, 0]},
            "slip": block,
            "fall": {"type": "planar", "parent": "world", "child": "ball", "normal": [0, 1, 0], "position": [0, 0, "far"]},
        },
        constraints={"motor": {"type": "prescribed_coordinate", "joint": "drive", "value": "speed*t"}},
        forces={
            "spring": {"type": "spring", "body_a": "world", "point_a": [-2, 0, 0], "body_b": "block", "stiffness": 10,
                       "rest_length": 2},
            "motor": {"type": "motor", "joint": "slip"},
        },
        contacts={
            "rubbing": {"type": "dry_friction", "joint": "slip", "kinetic": "rub", "static": "1.2*rub"},
            "rope": {"type": "distance_stop", "body_a": "world", "point_a": [0, 0, "2*far"], "body_b": "ball",
                     "upper": "2*far", "restitution": "bounce", "rest_speed": 0.05},
            "floor": {"type": "plane_stop", "body_a": "world", "body_b": "ball", "normal": [0, 0, 1], "height": "-far",
                      "friction": "rub/2"},
        },
        initial={"drive": {"velocity": "speed"}, "fall": {"velocity": ["speed", 0, 0]}},
    )  # fmt: skip


def run(system, **options):
    return mbvi.simulate(system, "lobatto4", step=0.02, duration=1.6, **options)


def looked_at(run):
    run.gaps(), run.energy_taken(), run.at([0.1, 0.77])
    return run.contact_forces()


def assert_same(one, two):
    np.testing.assert_array_equal(one.q, two.q)
    np.testing.assert_array_equal(one.p, two.p)
    np.testing.assert_array_equal(one.contacts.rows, two.contacts.rows)


@pytest.fixture
def assembled(monkeypatch):
    """The models with held stops and frictions, or with forces of these, that are assembled while the test runs."""
    models, built = [], assembling.built

    def noted(model):
        if any(name.startswith("contacts.") for name in (*model.constraints, *model.forces)):
            models.append(model)
        return built(model)

    monkeypatch.setattr(assembling, "built", noted)
    return models


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_second_run_assembles_nothing(formulation, assembled):
    system = mbvi.assemble(pulled(), formulation)
    first = run(system)
    assert {each.name.partition(".")[0] for each in first.contacts} == {"rubbing", "rope"}
    looked_at(first)
    count = len(assembled)
    assert count > 3
    second = run(system)
    forces = looked_at(second)
    assert len(assembled) == count
    assert_same(second, first)
    fresh = run(mbvi.assemble(pulled(), formulation))
    assert_same(second, fresh)
    for name, force in fresh.contact_forces().items():
        np.testing.assert_array_equal(forces[name], force)


@pytest.mark.parametrize("changed", [{"rub": 0.3}, {"far": 0.25}, {"bounce": 0.0}, {"speed": 0.1}, {"place": 0.1}])
def test_other_parameters_have_their_own(changed):
    system = mbvi.assemble(pulled())
    first = run(system)
    other = system.with_parameters(changed)
    for _ in range(2):
        assert_same(run(other), run(mbvi.assemble(pulled(**changed))))
        assert_same(run(system), first)
    assert not np.array_equal(run(other).q, first.q)


def test_another_start_counts_its_own_redundant_constraints():
    system = mbvi.assemble(pulled(), "embedding")
    starts = system.initial_q, np.array(system.initial_q)
    starts[1][system.coordinate_names.index("ball.z")] -= 0.2

    def of(system, q):
        return run(system, initial_q=q)

    fresh = [of(mbvi.assemble(pulled(), "embedding"), q) for q in starts]
    assert not np.array_equal(*(each.q for each in fresh))
    for number in (0, 1, 1, 0):
        assert_same(of(system, starts[number]), fresh[number])


def test_another_force_and_other_inputs_have_their_own():
    def push(t, q, v, F):
        F[1] += 0.5 * np.sin(3 * t)

    system, forced = mbvi.assemble(pulled()), mbvi.assemble(pulled(), force=push)
    first, second = run(system), run(forced)
    assert not np.array_equal(first.q, second.q)
    for _ in range(2):
        assert_same(run(forced), second)
    driven = run(system, inputs={"motor": "0.5*sin(3*t)"})
    np.testing.assert_allclose(driven.q, second.q, rtol=0, atol=1e-9)
    assert_same(run(system), first)


def test_runs_in_several_threads():
    system, first = mbvi.assemble(pulled()), run(mbvi.assemble(pulled()))
    with ThreadPoolExecutor(3) as threads:
        for found in threads.map(run, [system] * 6):
            assert_same(found, first)


@pytest.mark.parametrize("copied", [deepcopy, lambda system: pickle.loads(pickle.dumps(system))])
def test_copies_and_files_do_without(copied):
    system = mbvi.assemble(pulled())
    first = run(system)
    assert len(system._held_systems) > 3
    other = copied(system)
    assert len(other._held_systems) == 0
    assert_same(run(other), first)


def test_as_many_are_kept_as_there_is_room_for():
    names = [f"b{i}" for i in range(8)]
    joint = {"type": "prismatic", "parent": "world", "axis": [0, 0, 1]}
    rubbing = {f"rub {name}": {"type": "dry_friction", "joint": name, "kinetic": 1} for name in names}
    model = mbvi.Model(
        name="blocks",
        bodies={name: {"mass": 1 + 0.1 * i} for i, name in enumerate(names)},
        joints={name: joint | {"child": name} for name in names},
        contacts=rubbing,
    )
    system = mbvi.assemble(model)
    random = np.random.default_rng(1)
    for _ in range(25):
        mbvi.simulate(system, "simpson", step=0.05, duration=1, initial_v=random.uniform(-1, 1, 8))
    assert len(system._held_systems) == MOST_HELD
