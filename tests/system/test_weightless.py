"""Which bodies a joint moves in some way without inertia."""

import numpy as np
import pytest

import mbvi
from mbvi.model import mass_properties, plan
from mbvi.system.weightless import weightless_bodies

POINT = mbvi.Body(point_masses={"m": mbvi.PointMass(mass=1, position=(0.3, 0.1, 0.2))})
ROD = mbvi.Body(mass=1, center_of_mass=(0, 0, 0.4), inertia=(0.1, 0.1, 0))
TOP = mbvi.Body(mass=1e-6, center_of_mass=(0, 0, 1e-3), inertia=(1e-13, 1e-13, 1e-13))
DISK = mbvi.Body(inertia=(0.1, 0.1, 0.1))  # no mass
X, Y, Z = np.eye(3)

CASES = [
    ("massless", mbvi.Body(), mbvi.Revolute, {"axis": Z}, True),
    ("massless, welded", mbvi.Body(), mbvi.Weld, {}, False),
    ("point", POINT, mbvi.Revolute, {"axis": Z}, False),
    ("point on the axis", POINT, mbvi.Revolute, {"axis": Z, "offset": (0.3, 0.1, -5)}, True),
    ("point on a slide", POINT, mbvi.Prismatic, {"axis": Z}, False),
    ("point on a slide that turns", POINT, mbvi.Cylindrical, {"axis": Z, "offset": (0.3, 0.1, 0)}, True),
    ("point on a screw", POINT, mbvi.Screw, {"axis": Z, "pitch": 0.1, "offset": (0.3, 0.1, 0)}, False),
    ("point on a universal joint", POINT, mbvi.Universal, {"axes": (X, Y)}, False),
    ("point on a ball joint", POINT, mbvi.Ball, {}, True),
    ("point in flight", POINT, mbvi.Free, {}, True),
    ("rod about its axis", ROD, mbvi.Revolute, {"axis": Z}, True),
    ("rod about a line beside", ROD, mbvi.Revolute, {"axis": Z, "offset": (0.1, 0, 0)}, False),
    ("rod across", ROD, mbvi.Universal, {"axes": (X, Y)}, False),
    ("rod on a ball joint", ROD, mbvi.Ball, {}, True),
    ("rod in Euler angles", ROD, mbvi.Ball, {"coordinates": "zyx", "offset": (0, 0, 1)}, True),
    ("rod on a ball joint beside", ROD, mbvi.Ball, {"offset": (0.1, 0, 0)}, False),
    ("top on a ball joint", TOP, mbvi.Ball, {}, False),
    ("top in flight", TOP, mbvi.Free, {"coordinates": "zxz"}, False),
    ("disk that turns", DISK, mbvi.Ball, {}, False),
    ("disk that slides", DISK, mbvi.Planar, {"normal": Z}, True),
]


def is_weightless(bodies, joints, name="b"):
    model = mbvi.Model(name="one", bodies=bodies, joints=joints).resolved()
    properties = {key: mass_properties(body) for key, body in model.bodies.items()}
    return name in weightless_bodies(model, plan(model), properties, {name})


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize(("body", "joint", "keys", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_weightless(body, joint, keys, expected, is_reversed):
    """On a turned joint, whose child or parent the body is; what hangs on it in turn makes no difference."""
    ends = {"parent": "b", "child": "world"} if is_reversed else {"parent": "world", "child": "b"}
    if is_reversed:
        keys = {{"offset": "position"}.get(key, key): value for key, value in keys.items()}
    else:
        keys = keys | {"orientation": (0.3, -0.2, 0.9), "position": (1, 2, 3)}
        turned = mbvi.model.rotations.rotation_matrix((0.3, -0.2, 0.9))
        for key in ("axis", "normal"):
            keys |= {key: turned @ keys[key]} if key in keys else {}
        keys |= {"axes": [turned @ axis for axis in keys["axes"]]} if "axes" in keys else {}
    hung = mbvi.Free(parent="b", child="c")
    bodies = {"b": body, "c": mbvi.Body(mass=3, center_of_mass=(1, 1, 1), inertia=(1, 1, 1))}
    assert is_weightless(bodies, {"j": joint(**ends, **keys), "hung": hung}) == expected


@pytest.mark.parametrize(("place", "expected"), [((0.4, 0, 1), True), ((0.3, 0, 1), False)])
def test_what_is_welded_counts(place, expected):
    """A point mass on a massless body, itself welded to another: on the axis of its hinge, or beside."""
    quarter = (0, 0, np.pi / 2)
    joints = {
        "hinge": mbvi.Revolute(parent="world", child="b", axis=Z),
        "first": mbvi.Weld(parent="b", child="c", position=place, orientation=quarter),
        "second": mbvi.Weld(parent="c", child="d", position=(0, 0.2, 0), offset=(0.2, 0, 0), orientation=quarter),
    }
    mass = mbvi.PointMass(mass=1, position=(0.4, 0, 0))  # at (0, 0.4, 0) of c
    bodies = {"b": mbvi.Body(), "c": mbvi.Body(), "d": mbvi.Body(point_masses={"m": mass})}
    assert is_weightless(bodies, joints) == expected


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_plate_without_inertia_is_all_that_moves(formulation):
    """What inertia there is, is held: the rounding of a basis of the velocities that are left is none."""
    model = mbvi.Model(
        name="a",
        formulation=formulation,
        bodies={"plate": mbvi.Body(), "wheel": mbvi.Body(mass=1, inertia=(1, 1, 1))},
        joints={
            "table": mbvi.Planar(parent="plate", child="world", position=(0.1, 0.6, -0.2), normal=(0.9, -0.8, -0.5)),
            "shaft": mbvi.Cylindrical(parent="world", child="wheel", axis=(0.9, 1.6, 1.1)),
        },
        constraints={
            "pin": mbvi.model.PointOnLine(
                body_a="wheel",
                point_a=(0.8, -0.1, -0.2),
                direction=(0.3, 0.4, -0.4),
                body_b="world",
                point_b=(0.8, -0.1, -0.2),
            ),
            "gear": mbvi.model.Coupling(
                joint_a="shaft", coordinate_a="displacement", joint_b="table", coordinate_b="angle", ratio=0.8
            ),
        },
    )
    with pytest.raises(
        mbvi.ModelError, match=r"^joints.table: expected a regular mass matrix at the start, found a sing"
    ):
        mbvi.simulate(model, step=0.01, duration=0.1)
