"""Gauss's schemes in independent coordinates: their motion, what they keep, and which systems they refuse."""

from functools import cache

import numpy as np
import pytest

import mbvi
from mbvi.exact import Pendulum
from mbvi.steppers import independent
from tests.folders import MODELS

DOWN = np.pi / 2


def bars(names, lengths):
    """Bodies along x from their origins."""
    return {
        name: mbvi.Body(shapes=[mbvi.Box(size=(length, 0.03, 0.05), position=(length / 2, 0, 0), density=2700)])
        for name, length in zip(names, lengths, strict=True)
    }


def geared_five_bar(**changes):
    """Two geared cranks about opposite normals, two bars to a common pin; with a spring, a damper and a motor."""
    back, normal = (0, 1, 0), (0, -1, 0)
    given = {
        "name": "geared five-bar",
        "bodies": bars(("left", "right", "arm", "link"), (0.3, 0.35, 0.6, 0.6)),
        "joints": {
            "shaft": mbvi.Revolute(parent="world", child="left", axis=normal, position=(0.1, 0.2, 0)),
            "other shaft": mbvi.Revolute(parent="world", child="right", axis=back, position=(0.7, 0.15, 0.1)),
            "left pin": mbvi.Revolute(
                parent="left", child="arm", axis=normal, position=(0.3, 0, 0), orientation=(0, -0.4, 0)
            ),
            "right pin": mbvi.Revolute(parent="right", child="link", axis=back, position=(0.35, 0.05, 0)),
            "pin": mbvi.Revolute(parent="arm", child="link", axis=normal, position=(0.6, 0, 0), offset=(0.6, 0, 0)),
        },
        "constraints": {"gears": mbvi.Coupling(joint_a="shaft", joint_b="other shaft", ratio=-0.5, offset=-1.2)},
        "forces": {
            "band": mbvi.Spring(
                body_a="world", point_a=(0.4, 0, 0.9), body_b="arm", point_b=(0.6, 0, 0), stiffness=40, rest_length=0.2
            ),
            "oil": mbvi.JointDamper(joint="left pin", damping=0.05),
            "motor": mbvi.JointForce(joint="shaft", value="2*sin(3*t)"),
        },
        "initial": {
            "shaft": mbvi.Initial(position=1.2, velocity=2.0, hold=True),
            "other shaft": mbvi.Initial(position=-1.8),
            "left pin": mbvi.Initial(position=0.1),
            "right pin": mbvi.Initial(position=1.0),
        },
    }
    return mbvi.Model(**(given | changes))


def five_bar(**changes):
    """Two cranks and two bars: two degrees of freedom."""
    axis = (0, -1, 0)
    given = {
        "name": "five-bar",
        "bodies": bars(("left", "right", "arm", "link"), (0.4, 0.4, 0.7, 0.7)),
        "joints": {
            "shaft": mbvi.Revolute(parent="world", child="left", axis=axis),
            "other shaft": mbvi.Revolute(parent="world", child="right", axis=axis, position=(0.5, 0, 0)),
            "left pin": mbvi.Revolute(parent="left", child="arm", axis=axis, position=(0.4, 0, 0)),
            "right pin": mbvi.Revolute(parent="right", child="link", axis=axis, position=(0.4, 0, 0)),
            "pin": mbvi.Revolute(parent="arm", child="link", axis=axis, position=(0.7, 0, 0), offset=(0.7, 0, 0)),
        },
        "initial": {
            "shaft": mbvi.Initial(position=-2.2, velocity=-1.0),
            "other shaft": mbvi.Initial(position=-1.0, velocity=1.5),
            "left pin": mbvi.Initial(position=1.0),
            "right pin": mbvi.Initial(position=-1.0),
        },
    }
    return mbvi.Model(**(given | changes))


def skew_cranks():
    """Two cranks about skew axes with a massless rod between them, one of them on a screw, the other carrying a slider."""
    return mbvi.Model(
        name="skew cranks",
        bodies=bars(("crank", "lever", "bead"), (0.3, 0.5, 0.1)),
        joints={
            "shaft": mbvi.Screw(parent="world", child="crank", axis=(0, 0.2, 1), pitch=0.02),
            "axle": mbvi.Revolute(parent="world", child="lever", axis=(1, 0.3, 0), position=(0.6, 0.2, 0.1)),
            "rail": mbvi.Prismatic(parent="lever", child="bead", axis=(1, 0.2, 0), position=(0.1, 0, 0)),
        },
        constraints={
            "rod": mbvi.Distance(
                body_a="crank", point_a=(0.3, 0, 0), body_b="lever", point_b=(0.4, 0.1, 0), length=0.8
            ),
            "plane": mbvi.PointOnPlane(body_a="crank", body_b="bead", point_b=(0.05, 0, 0), normal=(1, 0.5, 3)),
        },
        initial={"shaft": mbvi.Initial(position=0.3, velocity=2.0)},
    )


MECHANISMS = {
    "four-bar": lambda: mbvi.load(MODELS / "four_bar.yaml"),
    "slider-crank": lambda: mbvi.load(MODELS / "slider_crank.yaml"),
    "bricard": lambda: mbvi.load(MODELS / "bricard.yaml"),
    "geared five-bar": geared_five_bar,
    "five-bar": five_bar,
    "skew cranks": skew_cranks,
}
IN_PLANE = {"four-bar", "geared five-bar", "five-bar"}


@cache
def system_of(name):
    return mbvi.assemble(MECHANISMS[name](), "tree")


@pytest.mark.parametrize("name", MECHANISMS)
def test_motion_is_that_with_multipliers(name):
    system = system_of(name)
    run = mbvi.simulate(system, "independent8", step=0.01, duration=0.8)
    expected = mbvi.simulate(system, "gauss6", step=0.0025, duration=0.8, every=4)
    assert np.ptp(expected.q[:, 0]) > 0.03
    assert np.abs(run.q - expected.q).max() < 3e-12 * max(np.abs(expected.q).max(), 1)
    assert np.abs(run.p - expected.p).max() < 3e-12 * np.abs(expected.p).max()
    assert max(np.abs(system.constraint(q)).max() for q in run.q) < 2e-15


@pytest.mark.parametrize("name", MECHANISMS)
def test_planes_are_found(name):
    frames, points = independent.plane_of(system_of(name).arrays)
    assert (len(frames) > 0) == (len(points) > 0) == (name in IN_PLANE)


@pytest.mark.parametrize("name", sorted(IN_PLANE))
def test_in_the_plane_as_in_space(name, monkeypatch):
    flat = mbvi.simulate(system_of(name), "independent6", step=0.02, duration=0.4)
    monkeypatch.setattr(independent, "plane_of", lambda arrays: (np.zeros((0, 5)), np.zeros((0, 6))))
    run = mbvi.simulate(system_of(name), "independent6", step=0.02, duration=0.4)
    assert np.abs(run.q - flat.q).max() < 1e-13
    assert np.abs(run.p - flat.p).max() < 1e-13 * np.abs(flat.p).max()


@cache
def swing():
    """A parallelogram whose cranks hang, so that the coupler does not turn; and its motion, a pendulum's."""
    length, width, m, M = 0.4, 0.05, 0.7, 1.9
    crank = mbvi.Body(mass=m, center_of_mass=(length / 2, 0, 0), inertia=(0.001, m * width**2, m * width**2))
    axis = (0, 1, 0)
    model = mbvi.Model(
        name="swing",
        bodies={
            "left": crank,
            "right": crank,
            "seat": mbvi.Body(mass=M, center_of_mass=(0.3, 0, 0), inertia=(1, 1, 1)),
        },
        joints={
            "left": mbvi.Revolute(parent="world", child="left", axis=axis),
            "right": mbvi.Revolute(parent="world", child="right", axis=axis, position=(0.6, 0, 0)),
            "seat": mbvi.Revolute(parent="left", child="seat", axis=axis, position=(length, 0, 0)),
            "pin": mbvi.Revolute(parent="seat", child="right", axis=axis, position=(0.6, 0, 0), offset=(length, 0, 0)),
        },
        initial={
            "left": mbvi.Initial(position=DOWN + 1.1),
            "right": mbvi.Initial(position=DOWN + 1.1),
            "seat": mbvi.Initial(position=-DOWN - 1.1),
        },
    )
    inertia = 2 * m * (width**2 + length**2 / 4) + M * length**2
    weight = 2 * m * length / 2 + M * length
    return mbvi.assemble(model, "tree"), Pendulum(length=inertia / weight, gravity=9.81, angle=1.1)


def errors_of_swing(scheme, step, duration):
    """Of the angles of left crank and seat."""
    system, exact = swing()
    run = mbvi.simulate(system, scheme, step, duration)
    q, _ = exact(run.t)
    left, seat = (run.q[:, system.coordinate_names.index(f"{name}.angle")] for name in ("left", "seat"))
    return np.abs([left - DOWN - q, seat + DOWN + q]).max(axis=1)


def test_parallelogram_is_a_pendulum():
    assert (errors_of_swing("independent8", 0.1, 10.0) < 2e-12).all()


@pytest.mark.parametrize(("scheme", "order", "step"), [("independent4", 8, 0.1), ("independent6", 12, 0.2)])
def test_orders(scheme, order, step):
    errors = [errors_of_swing(scheme, step / 2**i, 12 * step).max() for i in range(2)]
    assert errors[1] > 1e-13  # above rounding
    assert np.log2(errors[0] / errors[1]) > order - 0.7


def test_order_16():
    system, errors = system_of("four-bar"), []
    expected = mbvi.simulate(system, "gauss8", step=0.005, duration=2, every=400).q[-1]
    for steps in (50, 100):
        run = mbvi.simulate(system, "independent8", step=2 / steps, duration=2, every=steps)
        errors.append(np.abs(run.q[-1] - expected).max())
    assert errors[1] > 1e-13  # above rounding
    assert np.log2(errors[0] / errors[1]) > 15


def test_steps_are_symplectic():
    """The form δ₁q·δ₂p − δ₂q·δ₁p of variations on the constraints is kept, at a step whose energy error shows."""
    system = system_of("five-bar")
    start = mbvi.simulate(system, "gauss6", step=0.01, duration=0.01)
    q0, v0 = start.q[0], system.velocities([0.0], start.q[:1], start.p[:1])[0]
    free = [[1, 0, 0, 0], [0, 1, 0, 0]]

    def ends(a, b):
        """q and p at the start and at the end, from states moved by a in positions and b in velocities of the shafts."""
        q, v = q0 + np.array(a) @ free, v0 + np.array(b) @ free
        run = mbvi.simulate(held, "independent4", step=0.05, duration=0.6, initial_q=q, initial_v=v)
        return run.q[[0, -1]], run.p[[0, -1]]

    holds = {name: each.model_copy(update={"hold": "shaft" in name}) for name, each in five_bar().initial.items()}
    held = mbvi.assemble(five_bar(initial=holds), "tree")
    size, variations = 1e-5, []
    for i in range(4):
        x = size * np.eye(4)[i]
        (q_more, p_more), (q_less, p_less) = ends(x[:2], x[2:]), ends(-x[:2], -x[2:])
        variations.append(((q_more - q_less) / (2 * size), (p_more - p_less) / (2 * size)))
    form = np.array(
        [[np.sum(a[0] * b[1], axis=1) - np.sum(b[0] * a[1], axis=1) for b in variations] for a in variations]
    )
    energy = mbvi.simulate(system, "independent4", step=0.05, duration=0.6).energy()
    assert np.ptp(energy) > 1e-5
    assert np.abs(form[..., 0]).max() > 0.01
    assert np.abs(form[..., 1] - form[..., 0]).max() < 1e-7 * np.abs(form[..., 0]).max()


def test_a_step_back_undoes_a_step():
    """Where the coordinates do not matter: of a parallelogram any may be the independent one."""
    system, _ = swing()
    there = mbvi.simulate(system, "independent4", step=0.15, duration=1.5)
    v = system.velocities(there.t[-1:], there.q[-1:], there.p[-1:])[0]
    back = mbvi.simulate(system, "independent4", step=0.15, duration=1.5, initial_q=there.q[-1], initial_v=-v)
    assert np.ptp(there.energy()) > 1e-7  # steps are not so short that any scheme would do
    assert np.abs(back.q[::-1] - there.q).max() < 1e-12
    assert np.abs(back.p[::-1] + there.p).max() < 1e-12 * np.abs(there.p).max()


def test_energy_and_constraints_over_many_turns():
    run = mbvi.simulate(system_of("four-bar"), "independent6", step=0.02, duration=1000, every=50)
    energy, turns = run.energy(), run.q[-1, 0] / (2 * np.pi)
    assert turns > 500
    assert np.abs(energy - energy[0]).max() < 1e-8
    halves = np.split(energy[1:], 2)
    assert abs(halves[1].mean() - halves[0].mean()) < 1e-10
    assert max(np.abs(run.system.constraint(q)).max() for q in run.q) < 1e-15 * np.abs(run.q).max()


def rocking():
    """A four-bar of which no bar can turn round, so that each of its angles turns back."""
    model = mbvi.load(MODELS / "four_bar.yaml")
    return mbvi.assemble(model.with_parameters({"crank": 0.8, "coupler": 0.9, "rocker": 0.7, "ground": 1.2}), "tree")


def test_coordinates_change_where_one_turns_back():
    system = rocking()
    run = mbvi.simulate(system, "independent8", step=0.005, duration=4)
    expected = mbvi.simulate(system, "gauss8", step=0.005, duration=4)
    assert (np.diff(np.sign(np.diff(expected.q, axis=0)), axis=0) != 0).any(axis=0).all()  # all angles turn back
    assert np.abs(run.q - expected.q).max() < 1e-8
    assert np.abs(run.energy() - run.energy()[0]).max() < 1e-8


@pytest.mark.parametrize("every", [3, 8])
def test_stored_states_do_not_depend_on_how_many_are(every):
    system = system_of("geared five-bar")
    all_states = mbvi.simulate(system, "independent6", step=0.02, duration=0.48)
    some = mbvi.simulate(system, "independent6", step=0.02, duration=0.48, every=every)
    assert (some.q == all_states.q[::every]).all()
    assert (some.p == all_states.p[::every]).all()


def test_resumed_runs_go_on_as_if_not_stopped(tmp_path):
    system, path = system_of("five-bar"), tmp_path / "run.nc"
    whole = mbvi.simulate(system, "independent6", step=0.02, duration=0.8)
    mbvi.simulate(system, "independent6", step=0.02, duration=0.4, path=path)
    run = mbvi.resume(path, 0.8)
    assert (run.q == whole.q).all()
    assert (run.p == whole.p).all()


def test_long_steps_start_from_free_flight():
    """Where an extrapolation is far off: 30 steps for 1.7 turns of a crank."""
    system = system_of("four-bar")
    run = mbvi.simulate(system, "independent8", step=2 / 30, duration=2)
    expected = mbvi.simulate(system, "gauss8", step=1 / 300, duration=2, every=20)
    assert np.abs(run.q - expected.q).max() < 1e-3


@pytest.mark.parametrize("gravity", [0.0, -9.81])
def test_rest_stays_rest(gravity):
    """In equilibrium all velocities are rounding, and so are corrections from the start."""
    model = swing()[0].model
    hanging = {"left": DOWN, "right": DOWN, "seat": -DOWN}
    initial = {name: mbvi.Initial(position=position) for name, position in hanging.items()}
    still = model.model_copy(update={"initial": initial, "gravity": (0, 0, gravity)})
    run = mbvi.simulate(still, "independent4", step=0.05, duration=5)
    assert np.abs(run.q - run.q[0]).max() < 1e-13


def test_a_singular_start_is_refused():
    """All bars of a parallelogram in line."""
    model = swing()[0].model.model_copy(update={"initial": {}})
    with pytest.raises(mbvi.ModelError, match="expected a start that is not singular, found loops in a singular"):
        mbvi.simulate(model, "independent4", step=0.01, duration=1)


@pytest.mark.parametrize(("tilt", "count"), [(0.0, 2), (1e-7, 0)])
def test_axes_that_are_nearly_parallel_are_no_plane(tilt, count):
    """A cosine would not tell: it is 1 − 5e-15."""
    model = mbvi.Model(
        name="geared",
        bodies=bars(("left", "right"), (0.3, 0.3)),
        joints={
            "left": mbvi.Revolute(parent="world", child="left", axis=(0, -1, 0)),
            "right": mbvi.Revolute(parent="world", child="right", axis=(tilt, 1, 0), position=(0.8, 0, 0)),
        },
        constraints={"gears": mbvi.Coupling(joint_a="left", joint_b="right", ratio=-0.5)},
    )
    arrays = mbvi.assemble(model, "tree").arrays
    assert arrays.is_planar
    assert len(independent.plane_of(arrays)[0]) == count


def test_a_singular_configuration_is_reported():
    with pytest.raises(
        mbvi.StepError, match=r"near a singular configuration .* take gauss4, which has multipliers"
    ) as caught:
        mbvi.simulate(mbvi.load(MODELS / "n_four_bars.yaml"), "independent4", step=0.01, duration=2)
    assert 0.5 < caught.value.trajectory.t[-1] < 0.8


def test_a_force_that_is_no_number_is_reported():
    node = 0.2 + 0.05 * 0.5 * (1 + np.polynomial.legendre.leggauss(4)[0][0])  # about which it has no value for 2e-6 s
    model = geared_five_bar(
        forces={"motor": mbvi.JointForce(joint="shaft", value=f"sqrt((t - {float(node)!r})**2 - 1e-12)")}
    )
    with pytest.raises(mbvi.StepError, match="infinite or not a number"):
        mbvi.simulate(model, "independent4", step=0.05, duration=1)


def test_steps_that_are_too_long_are_reported():
    with pytest.raises(mbvi.StepError, match="A smaller step may help"):
        mbvi.simulate(mbvi.load(MODELS / "four_bar.yaml"), "independent4", step=0.5, duration=5)


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (
            lambda: mbvi.load(MODELS / "stewart_platform.yaml"),
            r"expected joints without quaternions, found the quaternion ball1\.qw",
        ),
        (
            lambda: geared_five_bar(
                constraints={"drive": mbvi.PrescribedCoordinate(joint="shaft", value="1.2 + 2*t")}
            ),
            r"expected constraints without functions .*, found drive, which holds a function",
        ),
    ],
)  # fmt: skip
def test_systems_that_it_refuses(model, found):
    with pytest.raises(mbvi.ModelError, match=found):
        mbvi.simulate(model(), "independent6", step=0.01, duration=1)


@pytest.mark.parametrize("name", ["double_pendulum", "heavy_top_quaternion"])
def test_without_loops_it_is_the_scheme_of_gauss(name):
    model = mbvi.load(MODELS / f"{name}.yaml")
    run, other = (mbvi.simulate(model, scheme, step=0.02, duration=0.1) for scheme in ("independent4", "gauss4"))
    assert run.scheme == other.scheme == mbvi.SCHEMES["gauss4"]
    np.testing.assert_array_equal(run.q, other.q)


def test_a_drive_that_stands_still_is_a_constraint_like_others():
    """A disc that slides along x at a height that is prescribed, by a number or as a point."""
    joint = mbvi.Planar(parent="world", child="disc", normal=(0, 1, 0))
    ground = mbvi.PrescribedCoordinate(joint="slide", coordinate="y", value=0.25)
    model = mbvi.Model(
        name="disc", bodies={"disc": mbvi.Body(mass=2, inertia=(0.05, 0.09, 0.05))}, joints={"slide": joint},
        constraints={"ground": ground}, initial={"slide": mbvi.Initial(velocity=(0.3, 0, 2))},
    )  # fmt: skip
    system = mbvi.assemble(model)
    assert system.constraint([0.7, 1.25, 0]) == pytest.approx([1.0], abs=1e-15)
    assert not system.is_driven and system.is_conservative
    run = mbvi.simulate(system, "independent4", step=0.01, duration=1)
    np.testing.assert_allclose(run.q[:, 1], 0.25, atol=1e-15)
    np.testing.assert_allclose(run.q[:, [0, 2]], np.outer(run.t, [0.3, 2]), atol=1e-13)


def held(joint):
    """An arm at 30 degrees that a brake holds, or which is the crank of a four-bar that it holds."""
    brake = mbvi.PrescribedCoordinate(joint=joint, value="30 deg")
    if joint == "pivot":
        arm = mbvi.Body(mass=10, center_of_mass=(1, 0, 0), inertia=(0.1, 3, 3))
        pivot = mbvi.Revolute(parent="world", child="arm", axis=(0, -1, 0))
        return mbvi.Model(name="arm", bodies={"arm": arm}, joints={"pivot": pivot}, constraints={"brake": brake})
    return mbvi.load(MODELS / "four_bar.yaml").model_copy(update={"constraints": {"brake": brake}, "initial": {}})


@pytest.mark.parametrize("joint", ["pivot", "shaft"])
def test_what_cannot_move_is_run_by_the_scheme_of_gauss(joint):
    """No coordinate is independent."""
    system = mbvi.assemble(held(joint))
    assert system.mobility.degrees_of_freedom == 0
    run, other = (mbvi.simulate(system, scheme, step=0.02, duration=0.1) for scheme in ("independent4", "gauss4"))
    assert run.scheme == mbvi.SCHEMES["gauss4"]
    np.testing.assert_array_equal(run.multipliers, other.multipliers)
    np.testing.assert_allclose(run.q, np.tile(run.q[0], (len(run.q), 1)), atol=1e-15)


def test_a_mechanism_is_not_locked_altogether():
    simulator = mbvi.Simulator(mbvi.load(MODELS / "four_bar.yaml"), "independent4", step=0.01)
    simulator.run(0.1)
    with pytest.raises(mbvi.ModelError, match="independent4: expected a start that can move"):
        simulator.lock("shaft")
    simulator.run(0.1)
    assert simulator.steps == 20 and simulator.locked == ()


def test_own_constraints_are_refused():
    import sympy

    x, y = sympy.symbols("x y")
    system = mbvi.from_sympy([x, y], [[1, 0], [0, 1]], potential=y, constraints=[x**2 + y**2 - 1], initial_q=[1, 0])
    with pytest.raises(mbvi.ModelError, match="found constraints of your own functions"):
        mbvi.simulate(system, "independent4", step=0.01, duration=1)
