"""Systems with other parameters: tables that are filled again are those of a system assembled anew, bit for bit."""

import contextlib

import numpy as np
import pytest

import mbvi
from mbvi.kernels import layout
from tests.folders import MODELS

LARGE = ("rope_1000", "necklace_50", "stewart_platform", "n_four_bars")
COUNTED = ("redundant",)  # by a run


def same_bits(a, b):
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


def differences(one, other):
    """What two systems differ in."""
    arrays = [(f"arrays.{name}", getattr(one.arrays, name), getattr(other.arrays, name)) for name in fields(one)]
    places = [(f"place of {name}", one.frames[name].place, other.frames[name].place) for name in other.frames]
    turns = [(f"turn of {name}", one.frames[name].rotation, other.frames[name].rotation) for name in other.frames]
    centers = [(f"center of {name}", one.homes.centers[name], each) for name, each in other.homes.centers.items()]
    states = [("given_q", one.given_q, other.given_q), ("given_v", one.given_v, other.given_v)]
    numbers = (*arrays, *places, *turns, *centers, *states)
    names = ("model", "coordinate_names", "constraint_names", "is_conservative", "name")
    return [name for name, a, b in numbers if not same_bits(a, b)] + [
        name for name in names if getattr(one, name) != getattr(other, name)
    ]


def fields(system):
    return [name for name in system.arrays._numba_type_.layout if name not in COUNTED]


def changed(model):
    """A model all of whose parameters have other values, the first of which nothing is wrong or mended, and these values."""
    values, random = model.resolved().parameters, np.random.default_rng(1)
    for _ in range(20):
        other = {name: value + 1e-3 * random.uniform(-1, 1) * (value or 1.0) for name, value in values.items()}
        with contextlib.suppress(mbvi.ModelError):
            if not (varied := model.with_parameters(other)).mended:
                return varied, other
    raise AssertionError("no other values")


def check_parameters(model, formulation):
    """All parameters have other values at once; whether the tables were filled."""
    (varied, values), system = changed(model), mbvi.assemble(model, formulation)
    known = system.parameter_map(tuple(values))
    assert differences(system.with_parameters(values), mbvi.assemble(varied, formulation)) == []
    return known is not None and known.system(list(values.values())) is not None


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("name", sorted(path.stem for path in MODELS.glob("*.yaml") if path.stem not in LARGE))
def test_models_with_other_parameters(name, formulation):
    assert check_parameters(mbvi.load(MODELS / f"{name}.yaml"), formulation)


@pytest.mark.campaign
@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("name", LARGE[1:])
def test_large_models_with_other_parameters(name, formulation):
    check_parameters(mbvi.load(MODELS / f"{name}.yaml"), formulation)


class Parameters(dict):
    """Parameters of a model, each of which stands for one number."""

    def __call__(self, *values):
        names = [f"p{len(self) + i}" for i in range(len(values))]
        self.update(zip(names, values, strict=True))
        return names[0] if len(names) == 1 else tuple(names)


def all_bodies(p):
    solid = {
        "inertia": p(0.5, 0.6, 0.7, 0.01, 0.02, 0.03),
        "inertia_about": "handle",
        "points": {"handle": p(0.1, 0, 0.2)},
    }
    shapes = [
        mbvi.Box(size=p(0.1, 0.2, 0.3), position=p(0.1, 0.2, 0.3), orientation=p(0.1, 0.2, 0.3), density=p(100)),
        mbvi.Sphere(radius=p(0.1), mass=p(1)),
        mbvi.Cylinder(radius=p(0.1), length=p(0.3), density=p(200), orientation=(0.6, 0, 0.8, 0)),
        mbvi.Capsule(radius=p(0.1), length=p(0.3), mass=p(2)),
        mbvi.Cone(radius=p(0.1), height=p(0.3), density=p(300)),
    ]
    masses = {
        "one": mbvi.PointMass(mass=p(1), position=p(0.1, 0.2, 0.3)),
        "two": mbvi.PointMass(mass=1, position="tip"),
    }
    return {
        "solid": mbvi.Body(mass=p(3), center_of_mass=p(0.1, 0.2, 0.3), **solid),
        "shaped": mbvi.Body(shapes=shapes),
        "loaded": mbvi.Body(point_masses=masses, points={"tip": p(0.3, 0.2, 0.2)}, mass=1, inertia=p(0.1, 0.1, 0.15)),
    }


def every_kind(joints, p, **more):
    """A model of three bodies, each on a joint of the next kind, with numbers that are parameters all."""
    return mbvi.Model(name="kinds", parameters=p, gravity=p(0.1, -0.2, -9.81), joints=joints, **more)


def on_world(p, kind, child, parent="world", **fields):
    place = {"position": p(0.1, 0.2, 0.3), "orientation": p(0.3, -0.2, 0.1), "offset": p(0.2, 0.1, -0.1)}
    return getattr(mbvi, kind)(parent=parent, child=child, **place, **fields)


def joint(p, kind, child, parent):
    """A joint of a kind, its axes parameters."""
    axes = {
        "Universal": {"axes": (p(1, 0.1, 0), p(0, 1, 0.2))},
        "Planar": {"normal": p(0.1, 0.2, 1), "x_axis": p(1, 0.2, 0.1)},
        "Screw": {"axis": p(0.1, 0.2, 1), "pitch": p(0.1)},
    }
    axis = {} if kind in ("Ball", "Free", "Weld") else {"axis": p(0.1, 0.2, 1)}
    return on_world(p, kind, child, parent, **axes.get(kind, axis))


KINDS = (
    ("Revolute", "Prismatic", "Screw"),
    ("Universal", "Cylindrical", "Planar"),
    ("Ball", "Slot", "Free"),
    ("Weld", "Revolute", "Ball"),
)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("kinds", KINDS, ids=" ".join)
def test_every_number_of_bodies_and_joints(kinds, formulation):
    p = Parameters()
    bodies = all_bodies(p)
    chain = dict(zip(bodies, zip(kinds, ("world", *bodies), strict=False), strict=True))
    joints = {f"to {child}": joint(p, kind, child, parent) for child, (kind, parent) in chain.items()}
    initial = {}
    for name, each in joints.items():
        size = len(each.coordinate_names) - ("qw" in each.coordinate_names)
        position = (
            (*p(*np.arange(1, size - 2) * 0.1), 1, 0, 0, 0) if "qw" in each.coordinate_names and size > 4 else None
        )
        velocity = p(*(0.1 * np.arange(1, size + 1))) if size else ()
        if size:
            initial[name] = mbvi.Initial(position=position, velocity=velocity)
    model = every_kind(joints, p, bodies=bodies, initial=initial)
    assert check_parameters(model, formulation)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_every_number_of_forces_and_constraints(formulation):
    p = Parameters()
    bodies = all_bodies(p)
    joints = {
        "turn": joint(p, "Revolute", "solid", "world"),
        "slide": joint(p, "Prismatic", "shaped", "world"),
        "fly": joint(p, "Free", "loaded", "world"),
    }
    ends = {"body_a": "solid", "point_a": p(0.1, 0, 0), "body_b": "loaded", "point_b": p(0, 0.1, 0)}
    wave = f"{p(2)} * sin({p(3)} * t) + {p(1)}"
    forces = {
        "push": mbvi.Force(body="solid", point=p(0.1, 0.2, 0.3), vector=(p(1), wave, 0)),
        "twist": mbvi.Torque(body="loaded", vector=p(0.1, 0.2, 0.3), frame="body"),
        "spring": mbvi.Spring(**ends, stiffness=p(10), rest_length=p(0.2)),
        "damper": mbvi.Damper(**ends, damping=p(1)),
        "pull": mbvi.InverseSquare(**ends, strength=p(0.1)),
        "bond": mbvi.DistancePotential(**ends, potential=f"{p(0.3)}*x**2 + 1/x"),
        "well": mbvi.JointPotential(joint="slide", potential=f"{p(0.5)}*exp(x) - {p(0.2)}*x"),
        "coil": mbvi.JointSpring(joint="turn", stiffness=p(10), rest=p(0.1)),
        "brake": mbvi.JointDamper(joint="turn", damping=p(0.1)),
        "drag": mbvi.JointDrag(joint="turn", coefficient=p(0.1)),
        "drive": mbvi.JointForce(joint="slide", value=wave),
    }
    constraints = {
        "rod": mbvi.Distance(**ends, length=p(0.7)),
        "wire": mbvi.PointOnCurve(curve=(f"{p(0.4)}*cos(s)", "sin(s)", p(0.2)), body_b="loaded", start=p(0.3)),
        "gear": mbvi.Coupling(joint_a="turn", joint_b="slide", ratio=p(0.5), offset=p(0.1)),
    }
    model = every_kind(joints, p, bodies=bodies, forces=forces, constraints=constraints)
    assert check_parameters(model, formulation)


@pytest.mark.parametrize(
    "constraint",
    [
        lambda p, ends: mbvi.CoincidentPoints(**ends),
        lambda p, ends: mbvi.CoincidentFrames(**ends, orientation=p(0.1, 0.2, 0.3)),
        lambda p, ends: mbvi.PointOnLine(**ends, direction=p(0.1, 0.2, 1)),
        lambda p, ends: mbvi.PointOnPlane(**ends, normal=p(0.1, 0.2, 1)),
        lambda p, ends: mbvi.PrescribedPoint(body="loaded", point=p(0, 0.1, 0), position=(p(1), f"{p(2)}*t", 0)),
        lambda p, ends: mbvi.PrescribedCoordinate(joint="turn", value=f"{p(2)}*sin({p(3)}*t)"),
        lambda p, ends: joint(p, "Slot", "loaded", "solid"),
        lambda p, ends: joint(p, "Universal", "loaded", "solid"),
    ],
)
def test_every_number_of_what_closes_loops(constraint):
    p = Parameters()
    bodies = {name: body for name, body in all_bodies(p).items() if name != "shaped"}
    joints = {"turn": joint(p, "Revolute", "solid", "world"), "fly": joint(p, "Free", "loaded", "world")}
    ends = {"body_a": "solid", "point_a": p(0.1, 0, 0), "body_b": "loaded", "point_b": p(0, 0.1, 0)}
    added = constraint(p, ends)
    if isinstance(added, mbvi.model.joints.Joint):
        model = every_kind(joints | {"loop": added}, p, bodies=bodies)
    else:
        model = every_kind(joints, p, bodies=bodies, constraints={"tie": added})
    assert check_parameters(model, "tree")


def test_several_parameters_at_once_and_one_after_the_other():
    model = mbvi.load(MODELS / "double_pendulum.yaml")
    first = mbvi.assemble(model).with_parameters({"mass": 2.0, "length": 0.3})
    assert differences(first, mbvi.assemble(model.with_parameters({"mass": 2.0, "length": 0.3}))) == []
    second = first.with_parameters({"g": 5.0})
    expected = model.with_parameters({"mass": 2.0, "length": 0.3, "g": 5.0})
    assert differences(second, mbvi.assemble(expected)) == []
    assert not np.shares_memory(first.arrays.geometry, second.arrays.geometry)


def test_a_start_that_was_set_stays():
    system = mbvi.assemble(mbvi.load(MODELS / "double_pendulum.yaml"))
    system.initial_q = [1.0, 2.0]
    assert system.with_parameters({"mass": 2.0}).initial_q.tolist() == [1.0, 2.0]


def two_links(**parameters):
    """A planar arm of a thin rod and a point mass, whose second axis may be tilted."""
    rod = mbvi.Body(mass="mass", center_of_mass=(0, 0, "-length/2"), inertia=("thick", "thick", 0))
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1), inertia=("round", "round", "round"))
    second = mbvi.Revolute(parent="rod", child="bob", axis=("tilt", 1, 0), position=(0, 0, "-length"))
    return mbvi.Model(
        name="two links",
        parameters={"mass": 1, "length": 1, "thick": 0.1, "round": 0, "tilt": 0} | parameters,
        bodies={"rod": rod, "bob": bob},
        joints={"first": mbvi.Revolute(parent="world", child="rod", axis=(0, 1, 0)), "second": second},
    )


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("change", [{"tilt": 0.1}, {"round": 0.1}, {"mass": 0.0, "thick": 0.0}, {"thick": 0.0}])
def test_another_structure_is_assembled_anew(change, formulation):
    model = two_links()
    system = mbvi.assemble(model, formulation)
    assert differences(system.with_parameters(change), mbvi.assemble(model.with_parameters(change), formulation)) == []


def test_an_axis_that_leaves_the_plane_changes_the_kind_of_tree():
    system = mbvi.assemble(two_links())
    assert system.arrays.is_planar and not system.with_parameters({"tilt": 0.1}).arrays.is_planar
    assert system.parameter_map(("tilt",)).system([0.1]) is None


def tilted_four_bar():
    """A four-bar linkage in a plane, the axis of one pin of which may be tilted."""
    model = mbvi.load(MODELS / "four_bar.yaml")
    pin = model.joints["crank pin"].model_copy(update={"axis": ("tilt", -1, 0)})
    fields = {"parameters": {**model.parameters, "tilt": 0}, "joints": {**model.joints, "crank pin": pin}}
    return model.model_copy(update=fields)


def test_a_loop_that_leaves_its_plane_has_other_constraints():
    model = tilted_four_bar()
    system, tilted = mbvi.assemble(model), model.with_parameters({"tilt": 0.3})
    assert (system.arrays.constraints[:, layout.ENTRIES] == 0).any()  # what would keep it in its plane
    assert system.parameter_map(("tilt",)).system([0.3]) is None
    assert differences(system.with_parameters({"tilt": 0.3}), mbvi.assemble(tilted)) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mass": -1.0}, "bodies.rod.mass: expected a mass of at least 0"),
        ({"thick": -1.0}, "bodies.rod.inertia: expected a positive semidefinite matrix"),
        ({"length": 1e60}, "expected a number of size at most 1e+50"),
        ({"lenght": 1.0}, "parameters.lenght: expected a parameter, found 'lenght'; did you mean 'length'?"),
        ({"length": "1"}, "parameters.length: expected a finite number, found '1'"),
        ({"length": np.nan}, "parameters.length: expected a finite number, found nan"),
        ([1.0], r"parameters: expected a mapping of names to values, found \[1\]"),
    ],
)
def test_wrong_parameters(change, message):
    with pytest.raises(mbvi.ModelError, match=message.replace("+", r"\+")):
        mbvi.assemble(two_links()).with_parameters(change)


def test_a_system_without_a_model_has_no_parameters():
    system = mbvi.assemble(two_links())
    system.model = None
    with pytest.raises(mbvi.ModelError, match="parameters: expected a system of a model"):
        system.with_parameters({"mass": 1.0})


def test_a_table_is_not_written_down_but_may_change():
    load = mbvi.JointForce(joint="first", value=mbvi.Table(times=(0, 1), values=(0, "load")))
    model = two_links(load=2).model_copy(update={"forces": {"load": load}})
    system = mbvi.assemble(model)
    assert differences(system.with_parameters({"load": 3.0}), mbvi.assemble(model.with_parameters({"load": 3.0}))) == []


def test_a_force_of_ones_own_stays():
    def friction(t, q, v, F):
        F[0] -= 2.0 * v[0]

    system = mbvi.assemble(two_links(), force=friction)
    for change in ({"length": 2.0}, {"tilt": 0.1}):  # the second is assembled anew
        other = system.with_parameters(change)
        plain = mbvi.assemble(two_links().with_parameters(change))
        state = [0.1, 0.2], [3.0, 4.0]
        assert other.gradient(*state)[1] - plain.gradient(*state)[1] == pytest.approx([-6.0, 0.0], abs=1e-14)
        assert not other.is_conservative
