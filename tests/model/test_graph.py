"""The graph of bodies and joints: the spanning tree, what is cut, what cannot be, massless ends, and the drawing."""

import itertools
import random

import numpy as np
import pytest

import mbvi
import mbvi.model as mm
from mbvi.errors import ModelError
from mbvi.model import Ball, Body, Cylindrical, Free, Model, Revolute, Sphere, Weld, describe_tree, is_cut, plan
from mbvi.model.graph import Branch

BALL = Body(mass=1, inertia=(1, 1, 1))


def joint(kind, parent, child, cut=None):
    """A joint of a type, with an axis if it needs one."""
    axis = {"axis": (0, 0, 1)} if kind in (Revolute, Cylindrical) else {}
    return kind(parent=parent, child=child, cut=cut, **axis)


def model(joints, bodies="abc", constraints=None, formulation="tree", **more):
    """A model of balls with joints given as (type, parent, child) or (type, parent, child, cut)."""
    made = {name: joint(*ends) for name, ends in joints.items()}
    bodies = dict.fromkeys(bodies, BALL) | more
    return Model(name="test", formulation=formulation, bodies=bodies, joints=made, constraints=constraints or {})


def tree(made):
    return tuple(branch.joint for branch in plan(made).branches)


def test_inner_joints_come_before_outer_ones_in_the_order_of_the_model():
    made = model({"z": (Revolute, "b", "c"), "y": (Revolute, "a", "b"), "x": (Free, "world", "a")})
    assert tree(made) == ("x", "y", "z")
    made = model({"z": (Free, "world", "c"), "y": (Free, "world", "b"), "x": (Free, "world", "a")})
    assert tree(made) == ("z", "y", "x")


def test_reversed_branches():
    made = model({"r": (Revolute, "a", "world"), "s": (Revolute, "b", "a"), "t": (Ball, "a", "c")})
    assert plan(made).branches == (
        Branch("r", "world", "a", True),
        Branch("s", "a", "b", True),
        Branch("t", "a", "c", False),
    )


@pytest.mark.parametrize("seed", range(5))
def test_random_graphs(seed):
    rng = random.Random(seed)
    names = [f"b{i}" for i in range(40)]
    edges = [(f"j{i}", (Ball, rng.choice(["world", *names[:i]]), name)) for i, name in enumerate(names)]
    chords = [(f"k{i}", (Revolute, *rng.sample(["world", *names], 2), True)) for i in range(20)]
    joints = [*edges, *chords]
    rng.shuffle(joints)
    made = model(dict(joints), names)
    found = plan(made)
    assert sorted(tree(made)) == sorted(name for name, _ in edges)
    assert list(found.chords) == [name for name in made.joints if name[0] == "k"]
    reached = {"world"}
    for branch in found.branches:
        ends = made.joints[branch.joint]
        assert (branch.inner, branch.outer) == (ends.parent, ends.child)
        assert branch.inner in reached
        reached.add(branch.outer)


def test_the_tree_has_the_joints_with_most_constraints():
    triangle = {"r": (Revolute, "world", "a"), "s": (Cylindrical, "a", "b"), "t": (Revolute, "b", "world")}
    assert plan(model(triangle, "ab")).chords == ("s",)
    assert plan(model(triangle | {"s": (Weld, "a", "b")}, "ab")).chords == ("t",)
    assert plan(model({"r": (Free, "world", "a"), "s": (Revolute, "world", "a")}, "a")).chords == ("r",)


@pytest.mark.parametrize("count", [4, 5, 6, 7])
def test_a_loop_is_cut_at_its_far_side(count):
    names = ["world", *(f"b{i}" for i in range(1, count))]
    joints = {f"j{i}": (Revolute, names[i], names[(i + 1) % count]) for i in range(count)}
    found = plan(model(joints, names[1:]))
    assert found.chords == (f"j{count // 2}",)
    assert sum(branch.is_reversed for branch in found.branches) == (count - 1) // 2


def test_cut_decides_before_all_else():
    loop = {"r": (Revolute, "world", "a"), "s": (Ball, "world", "a")}
    assert plan(model(loop, "a")).chords == ("s",)
    assert plan(model(loop | {"r": (Revolute, "world", "a", True)}, "a")).chords == ("r",)
    assert plan(model(loop | {"s": (Ball, "world", "a", False)}, "a")).chords == ("r",)
    assert plan(model({"r": (Weld, "world", "a", True)}, "a")).chords == ()


@pytest.mark.parametrize(("formulation", "is_by_default"), [("tree", False), ("embedding", True)])
def test_is_cut(formulation, is_by_default):
    joints = {
        "default": (Revolute, "world", "a"),
        "cut": (Revolute, "world", "b", True),
        "kept": (Revolute, "world", "c", False),
        "chord": (Ball, "a", "b"),
    }
    made = model(joints | {"other": (Ball, "a", "c", True)}, formulation=formulation)
    found = plan(made)
    assert found.chords == ("cut", "other")
    assert {name: is_cut(made, name, found) for name in made.joints} == {
        "default": is_by_default,
        "cut": True,
        "kept": False,
        "chord": is_by_default,
        "other": True,
    }


LOOSE = (
    "expected a joint that connects the body to the world, found none; add a joint with this child; "
    "of the type free if nothing holds the body"
)


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        (
            {"r": (Free, "world", "a"), "s": (Ball, "b", "b")},
            "joints.s: expected two bodies, found 'b' as parent and as child; connect two different bodies",
        ),
        ({"r": (Free, "world", "a"), "s": (Ball, "b", "c")}, f"bodies.b: {LOOSE}"),
        ({"r": (Free, "world", "a"), "s": (Ball, "c", "b")}, f"bodies.c: {LOOSE}"),
        ({"r": (Free, "world", "a"), "s": (Ball, "c", "b"), "t": (Ball, "b", "c")}, f"bodies.b: {LOOSE}"),
        ({"r": (Free, "world", "a")}, f"bodies.b: {LOOSE} (and 1 more)"),
        (
            {
                "r": (Free, "world", "a"),
                "s": (Revolute, "a", "b", False),
                "t": (Revolute, "b", "c", False),
                "u": (Ball, "a", "c", False),
            },
            "joints.u.cut: expected a joint of every loop that may be cut, found false for all of a - b - c - a; "
            "leave out the key 'cut' of one of them",
        ),
    ],
)
def test_what_cannot_be(joints, message):
    with pytest.raises(ModelError) as caught:
        model(joints)
    assert str(caught.value) == message


def test_a_joint_whose_coordinates_are_used_beside_those_of_bodies_has_a_name_of_its_own():
    joints = {"a": (Free, "world", "a", False), "b": (Ball, "a", "b"), "c": (Ball, "b", "c")}
    assert model(joints, formulation="tree").name
    with pytest.raises(ModelError) as caught:
        model(joints, formulation="embedding")
    assert str(caught.value) == (
        "joints.a: expected a name that no body has, for a joint whose coordinates are used together with those of bodies, "
        "found 'a', a body; rename one of them"
    )


def massless_end(name, body):
    return (
        f"joints.{name}: expected mass or inertia that the joint moves, found none on the massless body {body!r}, "
        "nor on what it carries; give it mass or inertia, or connect something that has mass to it"
    )


def test_massless_leaf():
    with pytest.raises(ModelError) as caught:
        model({"r": (Free, "world", "a"), "s": (Revolute, "a", "m")}, "a", m=Body())
    assert str(caught.value) == massless_end("s", "m")


def test_massless_group_at_the_end():
    with pytest.raises(ModelError) as caught:
        model(
            {"r": (Free, "world", "a"), "s": (Revolute, "a", "m"), "w": (Weld, "m", "n")},
            "a",
            m=Body(),
            n=Body(shapes=[Sphere(radius=1)]),
        )
    assert str(caught.value) == massless_end("s", "m")


@pytest.mark.parametrize(
    "joints",
    [
        {"r": (Revolute, "world", "m"), "s": (Revolute, "m", "a")},
        {"r": (Revolute, "world", "m"), "s": (Weld, "m", "a")},
        {"r": (Revolute, "world", "a"), "s": (Weld, "a", "m")},
        {"r": (Weld, "world", "m"), "s": (Revolute, "m", "a")},
        {"r": (Revolute, "m", "world"), "s": (Revolute, "m", "a")},
        {"r": (Revolute, "world", "a"), "s": (Revolute, "a", "m"), "t": (Revolute, "m", "world", True)},
    ],
)
def test_massless_bodies_that_are_fine(joints):
    assert len(tree(model(joints, "a", m=Body()))) == 2


def test_a_massless_body_that_carries_mass_on_a_joint_with_armature():
    """Of the body beyond it, and not of the armature, has the joint before it its inertia."""
    joints = {
        "x": mm.Prismatic(parent="world", child="m", axis=(1, 0, 0)),
        "yaw": mm.Revolute(parent="m", child="a", axis=(0, 0, 1), armature=0.1),
    }
    own = mm.Model(name="cart", bodies={"m": Body(), "a": Body(mass=2, inertia=(1, 1, 1))}, joints=joints)
    np.testing.assert_allclose(mbvi.assemble(own).mass_matrix([0, 0]), np.diag([2, 1.1]))
    with pytest.raises(ModelError) as caught:
        mm.Model(name="cart", bodies={"m": Body(), "a": Body()}, joints=joints)
    assert str(caught.value) == massless_end("x", "m")


@pytest.mark.parametrize(
    "constraint",
    [
        mm.CoincidentPoints(body_a="world", body_b="m"),
        mm.PrescribedPoint(body="m", position=(0, 0, 0)),
        mm.Coupling(joint_a="r", joint_b="s", ratio=2),
        mm.PrescribedCoordinate(joint="s", value="t"),
    ],
    ids=lambda constraint: constraint.type,
)
def test_massless_bodies_that_a_constraint_holds(constraint):
    joints = {"r": (Revolute, "world", "a"), "s": (Revolute, "a", "m")}
    model(joints, "a", m=Body(), constraints={"c": constraint})
    with pytest.raises(ModelError) as caught:
        model(joints, "a", m=Body(), constraints={"c": mm.CoincidentPoints(body_a="world", body_b="a")})
    assert str(caught.value) == massless_end("s", "m")


def test_massless_reversed_leaf():
    with pytest.raises(ModelError) as caught:
        model({"r": (Free, "world", "a"), "s": (Revolute, "m", "a")}, "a", m=Body())
    assert str(caught.value) == massless_end("s", "m")


def test_describe_tree():
    made = model(
        {"r": (Free, "world", "a"), "s": (Revolute, "a", "b"), "w": (Weld, "b", "c"), "x": (Ball, "a", "d")}, "abcd"
    )
    assert describe_tree(made).splitlines() == [
        "world",
        "`-- r: free (x, y, z, qw, qx, qy, qz) -> a",
        "    |-- s: revolute (angle) -> b",
        "    |   `-- w: weld -> c",
        "    `-- x: ball (qw, qx, qy, qz) -> d",
    ]


def test_describe_loops_and_constraints():
    joints = {
        "r": (Revolute, "world", "a"),
        "s": (Revolute, "b", "a"),
        "t": (Revolute, "b", "c", True),
        "u": (Revolute, "c", "world"),
        "v": (Ball, "a", "world"),
        "w": (Weld, "a", "b", True),
    }
    constraints = {
        "rope": mm.Distance(body_a="world", body_b="c", length=1),
        "gear": mm.Coupling(joint_a="r", joint_b="u", ratio=2),
        "motor": mm.PrescribedCoordinate(joint="r", value="t"),
    }
    assert describe_tree(model(joints, constraints=constraints)).splitlines() == [
        "world",
        "|-- r: revolute (angle) -> a",
        "|   `-- s: revolute (angle) <- b",
        "`-- u: revolute (angle) <- c",
        "t: revolute (5 constraints) closes a loop: b - a - world - c - b",
        "v: ball (3 constraints) closes a loop: a - world - a",
        "w: weld (6 constraints) closes a loop: a - b - a",
        "rope: distance of world and c",
        "gear: coupling of r and u",
        "motor: prescribed_coordinate of r",
    ]


def test_describe_the_embedding():
    made = model({"r": (Free, "world", "a"), "s": (Revolute, "a", "b")}, "ab", formulation="embedding")
    assert describe_tree(made).splitlines() == [
        "world",
        "`-- r: free (0 constraints) -> a",
        "    `-- s: revolute (5 constraints) -> b",
    ]


@pytest.mark.parametrize(
    ("bodies", "loop"),
    [
        ("abcdefghijkl", "l - k - j - i - h - g - f - e - d - c - b - a - l"),
        ("abcdefghijklm", "m - l - k - j - … (5 more) … - d - c - b - a - m"),
        ("abcdefghijklmnopqrstuvwxyz", "z - y - x - w - … (18 more) … - d - c - b - a - z"),
    ],
)
def test_long_loops_are_shown_by_their_ends(bodies, loop):
    joints = {"first": (Free, "world", "a")}
    joints |= {f"j{b}": (Ball, a, b) for a, b in itertools.pairwise(bodies)}
    made = model(joints | {"clasp": (Ball, bodies[-1], "a", True)}, bodies)
    assert describe_tree(made).splitlines()[-1] == f"clasp: ball (3 constraints) closes a loop: {loop}"


def test_a_copy_that_nothing_connects_is_shown_and_refused():
    chain = model({"x": (Revolute, "world", "a"), "y": (Revolute, "a", "b"), "z": (Revolute, "b", "c")})
    for kept in ({}, {name: each for name, each in chain.joints.items() if each.parent != "world"}):
        copied = chain.model_copy(update={"joints": kept})
        assert f"{len(kept)} joint" in repr(copied)
        with pytest.raises(ModelError, match="expected a joint that connects the body to the world"):
            mbvi.assemble(copied)
