"""Forces along tendons: against closed forms and equal models, in both formulations, with what they refuse."""

import numpy as np
import pytest

import mbvi
from mbvi.animation.motion import pictures
from mbvi.animation.scene import make_scene
from mbvi.cli.check_report import oddities
from mbvi.model import from_yaml, to_yaml
from mbvi.results.limits import exceeded_limits
from mbvi.system.initial import find_start


def sliders(forces, formulation="tree", **fields):
    """Two masses of 2 and 3 kg on slides along x, without gravity."""
    bodies = {"a": mbvi.Body(mass=2), "b": mbvi.Body(mass=3)}
    joints = {key: mbvi.Prismatic(parent="world", child=key, axis=(1, 0, 0)) for key in "ab"}
    given = {"name": "sliders", "gravity": (0, 0, 0), "bodies": bodies, "joints": joints, "formulation": formulation}
    return mbvi.Model(**(given | {"forces": forces} | fields))


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_two_masses_on_one_tendon_swing_as_one_oscillator(formulation):
    """L = 2 a − b with M = diag(2, 3): the length swings with ω² = k (4/2 + 1/3), and 2·2 ȧ + … what is across is free."""
    spring = mbvi.TendonSpring(length="2*q('a') - q('b')", stiffness=5, rest_length=0.3)
    start = {"a": mbvi.Initial(position=0.4, velocity=0.1), "b": mbvi.Initial(position=-0.2, velocity=0.7)}
    run = mbvi.simulate(sliders({"s": spring}, formulation, initial=start), "gauss4", step=0.05, duration=4)
    (a, _), (b, _) = (run.pose(key) for key in "ab")
    length = 2 * a[:, 0] - b[:, 0]
    omega = np.sqrt(5 * (4 / 2 + 1 / 3))
    expected = 0.3 + 0.7 * np.cos(omega * run.t) + (0.2 - 0.7) / omega * np.sin(omega * run.t)
    np.testing.assert_allclose(length, expected, rtol=0, atol=1e-10)
    across = 2 * a[:, 0] + 2 * 3 * b[:, 0]  # w·M q with ∂L/∂q·w = 0: w = (1, 2)
    np.testing.assert_allclose(across, across[0] + (2 * 0.1 + 6 * 0.7) * run.t, rtol=0, atol=1e-11)
    assert run.system.is_conservative and np.ptp(run.energy()) < 1e-10
    found = run.forces(["s"])["s"]
    np.testing.assert_allclose(found.values[:, 0], -5 * (length - 0.3), rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.energy, 2.5 * (length - 0.3) ** 2, rtol=0, atol=1e-11)
    assert (found.components, found.units) == (("along",), ("N",))


def pendulum(force, formulation="tree"):
    """A double pendulum with a force."""
    rod = mbvi.Body(
        mass=1.5,
        center_of_mass=(0, 0, -0.5),
        inertia=(0.1, 0.1, 0.02),
        frames={"end": mbvi.Frame(position=(0, 0.1, -1))},
    )
    joints = {
        "upper": mbvi.Revolute(parent="world", child="one", axis=(0, 1, 0)),
        "lower": mbvi.Universal(parent="one", child="two", position=(0, 0, -1), axes=((0, 1, 0), (1, 0, 0))),
    }
    start = {"upper": mbvi.Initial(position=0.8), "lower": mbvi.Initial(position=(-0.4, 0.5))}
    parts = {"bodies": {"one": rod, "two": rod}, "joints": joints, "initial": start, "formulation": formulation}
    return mbvi.Model(name="pendulum", forces={"f": force}, **parts)


ENDS = {"body_a": "world", "point_a": (0.3, 0.2, 0.1), "body_b": "two", "point_b": (0, 0.1, -1)}
POINTS = [{"body": "world", "point": (0.3, 0.2, 0.1)}, {"body": "two", "point": "end"}]
DISTANCE = "sqrt((x('two.end') - 0.3)**2 + (y('two.end') - 0.2)**2 + (z('two.end') - 0.1)**2)"
EQUAL = [
    (mbvi.Spring(**ENDS, stiffness=30, rest_length=0.5), mbvi.TendonSpring, {"stiffness": 30, "rest_length": 0.5}),
    (mbvi.Damper(**ENDS, damping=0.7), mbvi.TendonDamper, {"damping": 0.7}),
    (mbvi.DistancePotential(**ENDS, potential="4*x**3"), mbvi.TendonPotential, {"potential": "4*x**3"}),
]


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("along", [{"points": POINTS}, {"length": DISTANCE}], ids=["points", "length"])
@pytest.mark.parametrize(("between", "kind", "fields"), EQUAL, ids=["spring", "damper", "potential"])
def test_along_a_straight_line_it_is_the_force_between_two_points(between, kind, fields, along, formulation):
    runs = [
        mbvi.simulate(pendulum(force, formulation), "gauss3", step=0.02, duration=0.4)
        for force in (between, kind(**along, **fields))
    ]
    np.testing.assert_allclose(runs[1].pose("two")[0], runs[0].pose("two")[0], rtol=0, atol=1e-11)
    one, two = (run.forces(["f"])["f"] for run in runs)
    np.testing.assert_allclose(two.values, one.values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(two.power, one.power, rtol=0, atol=1e-9)


def test_along_one_coordinate_an_actuator_is_that_of_the_coordinate():
    law = {"gear": 3, "gain": 2, "bias": 0.4, "stiffness": 5, "damping": 0.6, "input": "sin(4*t)", "effort": (-4, 3)}
    runs = [
        mbvi.simulate(pendulum(force), "gauss3", step=0.02, duration=0.6)
        for force in (mbvi.Actuator(joint="upper", **law), mbvi.TendonActuator(length="q('upper')", **law))
    ]
    np.testing.assert_allclose(runs[1].q, runs[0].q, rtol=0, atol=1e-12)
    one, two = (run.forces(["f"])["f"] for run in runs)
    assert two.units == ("N m",) and abs(one.values).max() == 12
    np.testing.assert_allclose(two.values, one.values, rtol=0, atol=1e-10)


def test_a_function_of_the_state_tells_it_as_a_force_of_ones_own_would():
    """u = −2 a − ȧ + t along L = 2 a − b, whose force on the coordinates is (2 u, −u)."""

    def law(t, q, v):
        return t - 2 * q[0] - v[0]

    def same(t, q, v, F):
        u = t - 2 * q[0] - v[0]
        F[0] += 2 * u
        F[1] -= u

    drive = mbvi.TendonActuator(length="2*q('a') - q('b')")
    run = mbvi.simulate(sliders({"d": drive}), "gauss3", step=0.1, duration=1, inputs={"d": law}, initial_q=[0.3, 0])
    own = mbvi.simulate(mbvi.assemble(sliders({}), force=same), "gauss3", step=0.1, duration=1, initial_q=[0.3, 0])
    np.testing.assert_allclose(run.q, own.q, rtol=0, atol=1e-13)
    force = run.forces(["d"])["d"]
    np.testing.assert_allclose(
        force.values[:, 0], [law(*each) for each in zip(run.t, run.q, run.v, strict=True)], atol=1e-13
    )
    assert run.system.input_names == ("d",)


def test_it_is_reported_by_name_and_its_model_can_be_stored_attached_and_drawn():
    points = [{"body": "world", "point": (0, 1, 0)}, {"body": "a"}, {"body": "b", "point": (1, 0, 1)}]
    forces = {
        "pull": mbvi.TendonActuator(points=points, effort=3),
        "sum": mbvi.TendonSpring(length="k*q('a') + q('b')", stiffness=2),
    }
    model = sliders(forces, parameters={"k": 0.5})
    assert from_yaml(to_yaml(model)) == model
    assert forces["pull"].input_range == (-3, 3)
    assert forces["pull"].replaced({"stiffness": 1.0}).input_range is None
    simulator = mbvi.Simulator(model, step=0.1)
    simulator.step({"pull": -2.0})
    assert simulator.inputs == {"pull": -2.0} and simulator.v[0] != 0
    two = mbvi.attach(model, model, prefix="other ")
    assert two.forces["other sum"].length == "(0.5)*q('other a') + q('other b')"
    assert two.forces["other pull"].points[2].body == "other b"
    system, changed = mbvi.assemble(model), mbvi.assemble(model).with_parameters({"k": 2.0})
    assert system.potential([1, 1]) == pytest.approx(1.5**2) and changed.potential([1, 1]) == pytest.approx(3.0**2)


def test_its_straight_parts_are_drawn():
    points = [{"body": "world", "point": (0, 1, 0)}, {"body": "a"}, {"body": "b", "point": (1, 0, 1)}]
    forces = {"band": mbvi.TendonSpring(points=points, stiffness=2), "d": mbvi.TendonDamper(length="q('a')", damping=1)}
    run = mbvi.simulate(sliders(forces), step=0.1, duration=0.2)
    scene = make_scene(run.system, pictures(run, 1.0), None)
    assert [thing.name for thing in scene.things if thing.kind == "link"] == ["band 1", "band 2"]


def test_efforts_of_joints_count_what_tendons_exert_on_them():
    """2 N along L = 2 a + 0.5 x(b) are 4 N on a and 1 N on b."""
    limits = {"displacement": mbvi.Limits(effort=3.5)}
    joints = {key: mbvi.Prismatic(parent="world", child=key, axis=(1, 0, 0), limits=limits) for key in "ab"}
    drive = mbvi.TendonActuator(length="2*q('a') + 0.5*x('b')", input=2)
    with pytest.warns(mbvi.errors.LimitWarning, match="a.displacement.* up to 4 N, beyond the largest effort of 3.5 N"):
        run = mbvi.simulate(sliders({"d": drive}, joints=joints), step=0.1, duration=0.2)
    assert [(each.coordinate, each.limit) for each in exceeded_limits(run)] == [("a.displacement", "largest effort")]


def test_the_potential_that_remains_without_other_forces_is_that_of_springs():
    forces = {
        "d": mbvi.TendonDamper(length="q('a')", damping=1),
        "m": mbvi.Motor(joint="a"),
        "s": mbvi.TendonSpring(length="q('a') + q('b')", stiffness=2),
        "e": mbvi.TendonActuator(length="q('b')", stiffness=3),
        "p": mbvi.TendonPotential(length="q('a') - q('b')", potential="x**4"),
    }
    bare = mbvi.assemble(sliders(forces)).unforced
    assert bare.potential([0.3, 0.5]) == pytest.approx(0.8**2 + 0.2**4)
    f = bare.gradient([0.3, 0.5], [1, 2])[1]
    assert f == pytest.approx([-2 * 0.8 + 4 * 0.2**3, -2 * 0.8 - 4 * 0.2**3], rel=1e-13)


BOTH = {"length": "q('a')", "points": [{"body": "world"}, {"body": "a"}]}
REFUSED = [
    ({}, "length: expected a length or points, found neither; write for example length: 0.02*q('knuckle')"),
    (BOTH, "length: expected a length or points, found both"),
    ({"points": [{"body": "a"}]}, "points: expected points of two or more bodies, found 1 of 'a'; write"),
    ({"points": [{"body": "world"}, {"body": "c"}]}, "points.1.body: expected a body or world, found 'c'; known: "),
    ({"length": "q('c')"}, "length: q('c'): expected a joint, found 'c'; known: a, b"),
    ({"length": "2"}, "length: expected an expression of coordinates or places, found '2'; write for example"),
    ({"length": "q('a') + t"}, "length: expected a length of coordinates and places alone, found one with the time t"),
    ({"length": "q('a') + v('b')"}, "length: expected coordinates and places, found a rate, v('b'); write q"),
    ({"length": "q(a)"}, "length: expected a name in quotes, found 'q(a)' in 'q(a)'; write for example q('elbow')"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED)
def test_what_is_no_tendon(fields, message):
    with pytest.raises(mbvi.ModelError) as error:
        sliders({"f": mbvi.TendonSpring(stiffness=1, **fields)})
    assert str(error.value).startswith(f"forces.f.{message}")


def test_points_that_meet_are_reported_before_a_run_and_end_it_by_name():
    meet = mbvi.TendonSpring(points=[{"body": "world", "point": (0, 1, 0)}, {"body": "a"}, {"body": "b"}], stiffness=2)
    model = sliders({"f": meet})
    system = mbvi.assemble(model)
    text = "forces.f: two points of it coincide at the start, where its direction is not defined"
    assert text in oddities(system, find_start(system))
    with pytest.raises(mbvi.StepError) as error:
        mbvi.simulate(model, step=0.1, duration=0.2)
    assert "within the step: the length of forces.f has no direction or no value. The stored" in str(error.value)
    assert str(error.value).endswith("pass each other at a distance, or look for a pole of its length.")


def test_no_component_of_a_quaternion_is_a_length():
    body = mbvi.Body(mass=1, inertia=(1, 1, 1))
    parts = {"bodies": {"a": body}, "joints": {"a": mbvi.Ball(parent="world", child="a")}}
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.Model(name="ball", forces={"f": mbvi.TendonDamper(length="q('a', 'qx')", damping=1)}, **parts)
    assert str(error.value) == (
        "forces.f.length: expected angles and displacements, found that of a quaternion, q('a', 'qx'); give the joint Euler "
        "coordinates, as coordinates: xyz"
    )


def test_places_along_the_axes_of_the_world_are_of_no_model_that_is_attached():
    model = sliders({"f": mbvi.TendonSpring(length="x('a')", stiffness=1)})
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.attach(model, model, prefix="other ")
    assert str(error.value) == (
        "forces.f: expected a model that can be put anywhere, found 'f', by places along the axes of the world; give it points"
    )
