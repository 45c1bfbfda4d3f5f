"""The texts of `mbvi run` and `mbvi check`, and the statistics behind them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import mbvi
from mbvi.analysis.noether import linear_generator
from mbvi.cli.check_report import check_report, oddities
from mbvi.cli.run_report import run_report
from mbvi.cli.tables_of import scheme_table
from mbvi.results.summary import Trend, energy_error, fit_trend, summarized
from mbvi.system.initial import Move, Start, find_start
from mbvi.text import aligned, count, file_size, rounded, shortened

T = np.linspace(0.0, 10.0, 2001)

ODD = """
name: odd
parameters: {a: 1, b: 2, used: a, reach: 0.5}
gravity: [0, 0, -981]
bodies:
  rod: {mass: used, inertia: [1, 1, 1], points: {tip: [reach, 0, 0]}}
  knot: {}
  base: {mass: 1}
joints:
  first: {type: revolute, parent: world, child: knot, axis: [0, 0, 1]}
  second: {type: revolute, parent: knot, child: rod, axis: [1, 0, 0]}
  floor: {type: weld, parent: world, child: base}
forces:
  push: {type: force, body: base, vector: [1, 0, "0*t"]}
  band: {type: spring, body_a: rod, body_b: world, stiffness: -1, rest_length: 1}
  brake: {type: damper, body_a: base, body_b: world, damping: -1}
simulation: {step: 0.03, duration: 1}
"""


def run(name, models, **keys):
    return mbvi.simulate(mbvi.load(models / f"{name}.yaml"), **keys)


def report(trajectory):
    return run_report(trajectory, find_start(trajectory.system))


def described(text):
    system = mbvi.assemble(mbvi.from_yaml(text))
    return system, find_start(system)


def checked(name, models, formulation=None):
    system = mbvi.assemble(mbvi.load(models / f"{name}.yaml"), formulation)
    return check_report(system, find_start(system))


def section(text, title):
    return text.split(f"\n{title}\n")[1].split("\n\n")[0].splitlines()


# ----------------------------------------------------------------------------------------------- trend


def test_centres_of_mass_are_shown_without_rounding():
    shapes = [mbvi.Box(size=(1, 1, 1), position=(x, 0, 0), mass=0.1) for x in (0.1, 0.2, -0.3)]
    body = mbvi.Body(shapes=shapes)
    small = mbvi.Body(point_masses={"tip": {"mass": 1, "position": (0, 0, 1e-15)}})
    joints = {name: mbvi.Free(parent="world", child=name) for name in ("body", "small")}
    system = mbvi.assemble(mbvi.Model(name="a", bodies={"body": body, "small": small}, joints=joints))
    assert mbvi.mass_properties(body)[1][0] != 0
    assert "  body         0.3  (0, 0, 0)\n  small          1  (0, 0, 1e-15)\n" in check_report(
        system, find_start(system)
    )


def test_trend_of_noise_is_none():
    random = np.random.default_rng(3)
    trends = [fit_trend(T, random.standard_normal(len(T))) for _ in range(200)]
    expected = np.sqrt(1.0 / np.sum((T - T.mean()) ** 2))
    assert np.std([trend.slope for trend in trends]) == pytest.approx(expected, rel=0.15)
    assert np.mean([trend.error for trend in trends]) == pytest.approx(expected, rel=0.1)
    assert sum(trend.is_significant for trend in trends) <= 4


@pytest.mark.parametrize("periods", [1.3, 2.7, 10.2, 150.0])
@pytest.mark.parametrize("phase", [0.0, 1.0, 2.0, 3.0])
def test_an_oscillation_has_no_trend(periods, phase):
    assert not fit_trend(T, np.cos(2 * np.pi * periods * T / T[-1] + phase)).is_significant


@pytest.mark.parametrize("slope", [0.3, -0.3])
def test_a_trend_is_seen_through_an_oscillation(slope):
    trend = fit_trend(T, np.cos(20 * T) + slope * T)
    assert trend.is_significant
    assert trend.slope == pytest.approx(slope, abs=3 * trend.error)


def test_trend_of_many_values_is_that_of_few():
    t = np.linspace(0.0, 10.0, 300_001)
    trend = fit_trend(t, np.sin(40 * t) + 0.5 * t)
    assert trend.slope == pytest.approx(0.5, abs=1e-2)
    assert trend.is_significant


def test_trend_as_text():
    assert str(Trend(1.23e-15, 3.4e-15)) == "(1.2 ± 3.4)e-15 per second"
    assert str(Trend(-1e-18, 3.4e-15)) == "(0.0 ± 3.4)e-15 per second"
    assert str(Trend(25.0, 1.0)) == "(2.5 ± 0.1)e+01 per second"
    assert str(fit_trend(T, np.ones_like(T))) == "0 per second"


# ------------------------------------------------------------------------------------------------ text


def test_small_texts():
    assert [count(i, "degree of freedom") for i in range(3)] == [
        "no degrees of freedom",
        "1 degree of freedom",
        "2 degrees of freedom",
    ]
    assert [rounded(x) for x in (0.0, 9.876e7, 12.34, 999.9, 1.5e-6)] == [
        "0",
        "98 800 000",
        "12.3",
        "1 000",
        "0.00000150",
    ]
    assert [file_size(x) for x in (999, 164_500, 11_500_000)] == ["0.999 kB", "164 kB", "11.5 MB"]
    assert aligned([("a", "10", "x"), ("bb", "9", "")], "  ", right=[1]) == ["  a   10  x", "  bb   9"]


# ----------------------------------------------------------------------------------------------- a run


def test_run_report(models):
    lines = report(run("lagrange_top", models)).splitlines()
    assert lines[0] == "Lagrange top, loops"
    assert lines[2] == "system        3 degrees of freedom, 3 coordinates, no constraints"
    assert lines[3] == "scheme        simpson, order 4"
    assert lines[4] == "step          0.01 s, 1000 steps to t = 10 s"
    assert lines[5].startswith("speed  ") and lines[5].endswith("µs per step")
    assert lines[6].startswith("iterations    ") and "per step, at most" in lines[6]
    assert lines[7] == "energy        4.26275 J at the start"
    assert lines[8].startswith("energy error  at most 1.9e-10 of the largest kinetic energy; no trend: (")
    assert lines[-3].split() == ["conserved", "momentum", "at", "the", "start", "largest", "drift"]
    assert lines[-2].startswith("angular momentum (z)  ") and lines[-2].endswith("kg m²/s")
    value, drift = lines[-2].split()[3:5]
    assert value == "0.0321143" and float(drift) < 1e-14


def test_run_report_of_forces_that_do_work(models):
    lines = report(run("spring_damper", models)).splitlines()
    assert lines[-1] == "energy      1.95 J at the start, 0.220854 J at the end; not conserved: forces do work"


def test_run_report_of_a_composition_with_constraints(models):
    trajectory = run("free_rigid_body", models, scheme="suzuki4", duration=1.0, every=10)
    text = report(trajectory)
    assert "100 steps to t = 1 s" in text
    assert "in a substep" in text
    assert f"constraints   largest residual {trajectory.constraint_residual().max():.1e}" in text
    assert "angular momentum (z)" in text


def test_energy_error_does_not_depend_on_where_the_potential_is_zero(models):
    low = run("pendulum", models)
    text = (
        (models / "pendulum.yaml").read_text().replace("world, child: rod", "world, child: rod, position: [0, 0, 1000]")
    )
    high = mbvi.simulate(mbvi.from_yaml(text))
    assert high.energy()[0] == pytest.approx(low.energy()[0] + 9810)
    np.testing.assert_allclose(energy_error(high), energy_error(low), rtol=0, atol=1e-12)
    assert 1e-10 < np.abs(energy_error(low)).max() < 1e-8


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "free_rigid_body"])
@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_run_at_rest_has_no_energy_error(name, formulation, models):
    """Its kinetic energy, by which errors are divided else, is rounding, and the energy as large an error as that."""
    model = mbvi.load(models / f"{name}.yaml")
    still = {key: mbvi.Initial(position=each.position if "free" in name else 0) for key, each in model.initial.items()}
    trajectory = mbvi.simulate(model.model_copy(update={"initial": still}), formulation=formulation, duration=1)
    assert np.abs(energy_error(trajectory)).max() < 1e-14
    (line,) = (line for line in report(trajectory).splitlines() if line.startswith("energy error"))
    change = np.ptp(trajectory.energy())
    assert line.startswith(
        "energy error  nothing moves beyond rounding; the energy changes by at most "
    ) and line.endswith(" J")
    assert float(line.split()[-2]) <= change < 1e-13


def test_a_small_oscillation_has_an_energy_error(models):
    """Of 1e-6 rad: its kinetic energy of 1e-12 of the potential one is no rounding."""
    low = run("pendulum", models, initial_q=[1e-6], initial_v=[0.0])
    assert "of the largest kinetic energy; " in report(low)
    assert 1e-9 < np.abs(energy_error(low)).max() < 1e-2


def test_an_energy_error_that_no_fine_step_has(models):
    """A heavy bob on a light one, near whose dead points the light one turns faster than steps can follow.

    After a few of these the motion is that of rounding, and some steps have no solution.
    """
    arms = {name: mbvi.Body(mass=mass, center_of_mass=(0, 0, -1)) for name, mass in (("a", 1), ("b", 1e6))}
    hinge, elbow = {"parent": "world", "child": "a"}, {"parent": "a", "child": "b", "position": (0, 0, -1)}
    model = mbvi.Model(
        name="heavy",
        bodies=arms,
        joints={"p": mbvi.Revolute(axis=(0, 1, 0), **hinge), "q": mbvi.Revolute(axis=(0, 1, 0), **elbow)},
        initial={"p": mbvi.Initial(position="60 deg"), "q": mbvi.Initial(position="40 deg")},
    )
    with pytest.warns(mbvi.AccuracyWarning, match="masses are far apart"):
        coarse = mbvi.simulate(model, "simpson", step=0.002, duration=2)
    assert np.abs(energy_error(coarse)).max() > 0.1
    (line,) = (line for line in report(coarse).splitlines() if line.startswith("energy error"))
    assert "of the largest kinetic energy, so that steps are too large for parts of the motion" in line
    assert "too large" not in report(run("pendulum", models))


def test_a_run_too_short_for_a_trend(models):
    assert "trend" not in report(run("pendulum", models, duration=0.05))


def test_units_of_momenta(models):
    units = {
        each.name: each.unit(system.coordinate_units)
        for name in ("free_rigid_body", "lagrange_top")
        for system in [mbvi.assemble(mbvi.load(models / f"{name}.yaml"))]
        for each in mbvi.analysis.find_invariants(system)
    }
    assert units["p(contact.psi)"] == units["angular momentum (x)"] == "kg m²/s"
    system = mbvi.assemble(mbvi.load(models / "branched_tree.yaml"))
    whole = mbvi.analysis.find_invariants(system)[0]
    assert (whole.name, whole.unit(system.coordinate_units)) == ("angular momentum (z)", "kg m²/s")
    slider, _ = described(
        "{name: a, bodies: {b: {mass: 1}}, joints: {j: {type: prismatic, parent: world, child: b, axis: [1, 0, 0]}}}"
    )
    (momentum,) = mbvi.analysis.find_invariants(slider)
    assert momentum.unit(slider.coordinate_units) == "kg m/s"
    assert linear_generator([[0]], [1]).unit([""]) == ""


# --------------------------------------------------------------------------------------------- a check


def test_check_report(models):
    assert (
        checked("lagrange_top", models)
        == """\
Lagrange top, loops
A fast heavy symmetric top on a fixed point, in Euler angles.

Bodies and joints
  world
  `-- contact: ball (phi, theta, psi) -> top

Coordinates
  name           unit  at the start  rate at the start
  contact.phi    rad              0                9.2
  contact.theta  rad         1.0472                  0
  contact.psi    rad              0                252

Bodies
  name  mass [kg]  centre of mass [m]
  top         0.1  (0, 0, 0.15)

Forces
  gravity    (0, 0, -9.81) m/s²

Mobility
  3 degrees of freedom, 3 coordinates, no constraints

Dynamics
  energy                4.26275 J at the start          conserved
  angular momentum (z)  0.0321143 kg m²/s at the start  conserved
  p(contact.psi)        0.032075 kg m²/s at the start   conserved

Run
  simpson, step 0.01 s, duration 10 s: 1000 steps"""
    )


def test_every_kind_of_force_is_described(models):
    text = checked("gantry_crane", models)
    assert "motor     joint_force   rail.displacement" in text
    assert "gust      force         on load at (0, 0, -6), along the axes of the world" in text
    assert "not conserved: forces do work" in text
    text = check_report(*described(ODD.replace("type: force", "type: torque, frame: body")))
    assert "push     torque  on base, along the axes of the body" in text
    assert "band     spring  between rod and world" in text


def test_what_is_odd():
    system, start = described(ODD)
    assert oddities(system, start) == [
        "parameters.b: nothing uses it",
        "gravity: 981 m/s²; lengths are in metres and times in seconds",
        "forces.push: no effect, since base is welded to the world",
        "forces.band: its ends coincide at the start, where its direction is not defined",
        "forces.band: negative stiffness; it pushes away",
        "forces.brake: no effect, since base and world do not move against each other",
        "forces.brake: negative damping; it adds energy",
        "bodies.knot: no mass; its motion follows from that of the bodies it is connected to",
        "simulation.duration: not a multiple of the step; the run ends at t = 1.02 s",
    ]
    assert "  - parameters.b: nothing uses it" in check_report(system, start).splitlines()


@pytest.mark.parametrize(
    ("times", "is_odd"), [((0, 5, 10), False), ((-1, 0, 11), False), ((0.5, 1, 10), True), ((0, 1, 9), True)]
)
def test_a_table_that_does_not_cover_the_run_is_odd(times, is_odd, models):
    force = f"forces: {{f: {{type: joint_force, joint: pivot, value: {{times: {list(times)}, values: [0, 1, 0]}}}}}}"
    text = (models / "pendulum.yaml").read_text() + f"\n{force}\nsimulation: {{duration: 10}}\n"
    text = "\n".join(line for line in text.splitlines() if not line.startswith("simulation: {s"))
    expected = (
        f"forces.f.value: a table from {times[0]} s to {times[-1]} s for a run from 0 s to 10 s; outside it keeps its "
        "end values"
    )
    assert oddities(*described(text)) == ([expected] if is_odd else [])


def test_a_force_on_a_body_that_chains_of_welds_hold_is_odd():
    text = (
        ODD.replace("body: base, vector", "body: lid, vector")
        .replace("  base: {mass: 1}\n", "  base: {mass: 1}\n  lid: {mass: 1}\n")
        .replace("\nforces:", "\n  glue: {type: weld, parent: base, child: lid}\nforces:")
    )
    assert "forces.push: no effect, since lid is welded to the world" in oddities(*described(text))


@pytest.mark.parametrize(
    ("force", "found"),
    [
        ("joint_force, joint: pivot, value: 1/t", "(1.0 / t) has no value at the start"),
        ("torque, body: rod, vector: [0, 1/t, 0]", "(1.0 / t) has no value at the start"),
        ("joint_force, joint: pivot, value: sin(t)/t", "(sin(t) / t) has no value at the start, 0/0"),
    ],
)
def test_a_force_that_is_not_a_number_at_the_start_is_odd(force, found, models):
    text = (models / "pendulum.yaml").read_text() + f"\nforces: {{f: {{type: {force}}}}}\n"
    assert oddities(*described(text)) == [f"forces.f: {found}"]


@pytest.mark.parametrize(
    ("value", "corner"),
    [
        ("abs(t - 0.505)", "0.505"),
        ("max(0.2, t - 0.303)", "0.503"),
        ("min(2*t, 0.505 + t)", "0.505"),
        ("3 + sin(abs(t - 0.505))", "0.505"),
        ("abs(t - 0.5)", None),  # at the end of a step
        ("max(0, t - 0.505)**3", None),
        ("abs(sin(7*t))**2", None),
        ("abs(t - 20)", None),
    ],
)
def test_a_force_with_a_corner_within_a_step_is_odd(value, corner, models):
    force = f"forces: {{f: {{type: joint_force, joint: pivot, value: '{value}'}}}}"
    text = (models / "pendulum.yaml").read_text() + f"\n{force}\nsimulation: {{duration: 10, step: 0.01}}\n"
    found = oddities(*described("\n".join(line for line in text.splitlines() if not line.startswith("simulation: {s"))))
    assert len(found) == (corner is not None)
    for each in found:
        assert each.startswith("forces.f: ") and each.endswith(
            f" has corners within steps, first at t = {corner} s, where order 2 is left; let steps end there"
        )


def test_a_prescribed_motion_with_a_corner_is_odd():
    drive = "constraints: {drive: {type: prescribed_coordinate, joint: A, value: 1 + abs(t - 0.505)}}"
    found = oddities(*described(f"{LINKAGE}\n{drive}\ninitial: {{A: {{position: 1}}, C: {{position: 1}}}}"))
    assert found[0] == (
        "constraints.drive: the rate of (1.0 + abs((t - 0.505))) jumps from -1 to 1 per second at t = 0.505 s, as in an impact, "
        "which no step resolves; prescribe a motion without corners"
    )


@pytest.mark.parametrize(
    ("initial", "more", "is_at_rest"),
    [
        ("position: 0", "", True),
        ("position: pi", "", True),
        ("position: 1e-6", "", False),
        ("position: 0, velocity: 0.1", "", False),
        ("position: 0", "forces: {f: {type: joint_force, joint: pivot, value: sin(t)}}", False),
    ],
)
def test_nothing_will_move(initial, more, is_at_rest, models):
    text = (models / "pendulum.yaml").read_text().replace("position: 120 deg", initial)
    expected = ["initial: at rest in an equilibrium; nothing will move"] if is_at_rest else []
    assert oddities(*described(f"{text}\n{more}\n")) == expected


@pytest.mark.parametrize("name", ["branched_tree", "chain_10", "double_pendulum", "free_rigid_body", "gyroscope"])
def test_nothing_is_odd_about_the_models(name, models):
    system = mbvi.assemble(mbvi.load(models / f"{name}.yaml"))
    assert oddities(system, find_start(system)) == []


# ------------------------------------------------------------------------------- loops and constraints

LINKAGE = """
name: flat
bodies:
  a: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0, 0.1, 0.1]}
  b: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0, 0.1, 0.1]}
  c: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0, 0.1, 0.1]}
joints:
  A: {type: revolute, parent: world, child: a, axis: [0, -1, 0]}
  B: {type: revolute, parent: a, child: b, axis: [0, -1, 0], position: [1, 0, 0]}
  C: {type: revolute, parent: world, child: c, axis: [0, -1, 0], position: [1, 0, 0]}
  D: {type: revolute, parent: b, child: c, axis: [0, -1, 0], position: [1, 0, 0], offset: [1, 0, 0]}
"""


def test_mobility_of_a_loop(models):
    three = "  3 of the constraints are redundant, of rocker pin"
    moved = [
        "  moved onto the constraints from what is given:",
        "    crank pin.angle by -0.0055 rad to -1.13997",
        "    support.angle by +0.0016 rad to 1.83418",
        "  moved onto the constraints where nothing is given:",
        "    rate of crank pin.angle by -6.5 rad/s to -6.52808",
        "    rate of support.angle by +2.4 rad/s to 2.3696",
    ]
    text = checked("four_bar", models)
    assert section(text, "Mobility") == ["  1 degree of freedom, 3 coordinates, 5 constraints", three, *moved]
    assert "shaft.angle      rad         1.5708                  6" in text
    assert "support.angle    rad        1.83418             2.3696" in text  # where the run starts
    assert "rocker pin: revolute (5 constraints) closes a loop: coupler - crank - world - rocker - coupler" in text
    text = checked("four_bar", models, "embedding")
    assert section(text, "Mobility") == ["  1 degree of freedom, 22 coordinates, 24 constraints", three, *moved]
    assert "|-- shaft: revolute (5 constraints) -> crank" in text
    assert section(checked("bricard", models), "Mobility")[1].startswith(
        "  1 of the constraints is redundant, of hinge"
    )


def test_a_singular_configuration_is_noted():
    lines = section(check_report(*described(LINKAGE)), "Mobility")
    assert (
        "  singular configuration at the start: more motions are possible here than nearby; start near it, but not in it"
        in lines
    )
    raised = LINKAGE + "initial: {A: {position: 1}, B: {position: -1}, C: {position: 1}}\n"
    lines = section(check_report(*described(raised)), "Mobility")
    assert lines == [
        "  1 degree of freedom, 3 coordinates, 5 constraints",
        "  3 of the constraints are redundant, of D",
    ]


def test_a_driven_system_says_so(models):
    text = checked("stewart_platform", models)
    assert section(text, "Mobility") == [
        "  no degrees of freedom, 22 coordinates, 22 constraints",
        "  kinematically driven: the constraints prescribe the whole motion as functions of time",
    ]
    assert "not conserved: forces or prescribed motions do work" in text
    assert "nothing will move" not in text
    assert "not conserved: forces or prescribed motions do work" in report(
        run("stewart_platform", models, duration=0.1)
    )


def test_a_table_of_a_constraint_that_does_not_cover_the_run_is_odd():
    drive = (
        "constraints: {drive: {type: prescribed_coordinate, joint: A, value: {times: [0, 1, 2], values: [1, 2, 2]}}}"
    )
    expected = (
        "constraints.drive.value: a table from 0 s to 2 s for a run from 0 s to 10 s; outside it goes on at its end rates, 1.5 "
        "and -0.5 per second"
    )
    assert expected in oddities(*described(f"{LINKAGE}\n{drive}\ninitial: {{A: {{position: 1}}, C: {{position: 1}}}}"))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("times: [0, 1, 1.5, 10], values: [0, 1, 5, 2], interpolation: linear", None),
        ("times: [0, 1, 1.5, 10], values: [0, 1, 5, 2], interpolation: hold", None),
        ("times: [0, 1.003, 1.5, 10], values: [0, 1, 5, 2]", None),
        (
            "times: [0, 1, 1.503, 10], values: [0, 1, 5, 2], interpolation: linear",
            "has corners within steps, first at t = 1.503 s, where order 2 is left",
        ),
        (
            "times: [0, 1.003, 1.503, 10], values: [0, 1, 5, 2], interpolation: hold",
            "jumps within steps, first at t = 1.003 s, where order 1 is left",
        ),
        ("times: [0, 1.003, 1.003, 10], values: [0, 1, 5, 2]", "jumps within steps, first at t = 1.003 s, where order 1 is left"),
    ],
)  # fmt: skip
def test_a_table_with_kinks_within_steps_is_odd(table, expected, models):
    force = f"forces: {{f: {{type: joint_force, joint: pivot, value: {{{table}}}}}}}"
    text = (models / "pendulum.yaml").read_text() + f"\n{force}\nsimulation: {{duration: 10, step: 0.01}}\n"
    text = "\n".join(line for line in text.splitlines() if not line.startswith("simulation: {s"))
    assert oddities(*described(text)) == ([f"forces.f.value: {expected}; let steps end there"] if expected else [])


def test_a_spline_that_swings_is_odd():
    drive = "constraints: {drive: {type: prescribed_coordinate, joint: A, value: {times: [0, 1, 2, 10], values: [1, 2, 2, 1]}}}"
    found = oddities(*described(f"{LINKAGE}\n{drive}\ninitial: {{A: {{position: 1}}, C: {{position: 1}}}}"))
    cubic = CubicSpline([0, 1, 2, 10], [1, 2, 2, 1])
    bottom = min(cubic.derivative().roots(), key=cubic)
    assert found[0] == (
        f"constraints.drive.value: the spline through its table reaches {cubic(bottom):.4g} at t = {bottom:.6g} s, between 2 at "
        f"2 s and 1 at 10 s, and rates of {max(abs(cubic(np.linspace(0, 10, 9999), 1))):.3g} per second; write "
        "interpolation: smooth, which stays between the entries, or add entries there"
    )


def test_run_report_of_a_start_that_was_moved(models):
    lines = report(run("four_bar", models, duration=0.1)).splitlines()
    assert lines[2:5] == [
        "system        1 degree of freedom, 3 coordinates, 5 constraints",
        "start         moved onto the constraints from what is given:",
        "              crank pin.angle by -0.0055 rad to -1.13997",
    ]
    assert any(line.startswith("constraints   largest residual ") and line.endswith("; 3 redundant") for line in lines)
    assert "start" not in report(run("slider_crank", models, duration=0.1)).split("energy")[0]
    many = tuple(Move(f"j.q{i}", "-", False, 0.0, i / 10) for i in range(1, 9))
    still, zero = run("pendulum", models, duration=0.05), np.zeros(1)
    lines = run_report(still, Start(zero, zero, zero, 1.0, 0.0, 0.8, many)).splitlines()
    assert [line.strip() for line in lines[4:11]] == [
        *(f"j.q{i} by +{i / 10} to {i / 10}" for i in range(8, 2, -1)),
        "and 2 more",
    ]


def test_moves_of_one_unit_follow_one_another_and_those_given_come_first(models):
    """Sizes in rad, m and rad/s do not compare."""
    moves = (
        Move("a.x", "m", False, 0.0, 0.1, False),
        Move("b.angle", "rad", False, 0.0, 0.01),
        Move("c.y", "m", False, 0.0, 0.2),
        Move("b.angle", "rad", True, 0.0, 9.0),
        Move("d.angle", "rad", False, 0.0, -3.0),
    )
    still, zero = run("pendulum", models, duration=0.05), np.zeros(1)
    lines = run_report(still, Start(zero, zero, zero, 1.0, 0.0, 0.8, moves)).splitlines()
    assert [line.removeprefix("start").strip() for line in lines[3:10]] == [
        "moved onto the constraints from what is given:",
        "c.y by +0.2 m to 0.2",
        "d.angle by -3 rad to -3",
        "b.angle by +0.01 rad to 0.01",
        "rate of b.angle by +9 rad/s to 9",
        "moved onto the constraints where nothing is given:",
        "a.x by +0.1 m to 0.1",
    ]


def test_what_is_given_to_a_start_by_its_caller_is_given(models):
    system = mbvi.assemble(mbvi.load(models / "four_bar.yaml"))
    assert {move.is_given for move in find_start(system).moves} == {True, False}
    assert {move.is_given for move in find_start(system, system.given_q, system.given_v).moves} == {True}


def test_energies_that_are_no_numbers_are_reported(models):
    """As in a position that is singular."""
    good = run("pendulum", models, duration=0.3)
    stored = good._completed().stored
    for row in (0, 5):
        energy = stored.energy.copy()
        energy[row] = np.nan
        lines = run_report(replace(good, stored=replace(stored, energy=energy))).splitlines()
        text = "not a number" if row == 0 else f"{stored.energy[0]:.6g} J"
        assert f"energy        {text} at the start" in lines
        assert "energy error  not a number, since some of the energies are none" in lines


def test_large_models_are_shortened(models):
    lines = checked("necklace_50", models).splitlines()
    assert len(lines) < 250
    assert sum(line.strip().startswith("… ") for line in lines) >= 3
    assert any(line.startswith("  clasp: ball (3 constraints) closes a loop: link50 - link49") for line in lines)
    few = [str(i) for i in range(41)]
    assert shortened(few) == few
    assert shortened([*few, "41"]) == [*few[:20], "… 2 more", *few[22:], "41"]


# --------------------------------------------------------------------------------------------- schemes


def test_scheme_table():
    lines = scheme_table().splitlines()
    assert lines[0].split() == ["name", "order", "substeps", "symmetric", "source", "description"]
    by_name = {line.split()[0]: line for line in lines[1 : len(mbvi.SCHEMES) + 1]}
    assert set(by_name) == set(mbvi.SCHEMES)
    for name, scheme in mbvi.SCHEMES.items():
        _, order, substeps, symmetric, source, *rest = by_name[name].split()
        assert (int(order), int(substeps)) == (scheme.order, len(scheme.fractions))
        assert symmetric == ("yes" if scheme.is_symmetric else "no")
        assert f"{source} {scheme.source}" in lines
        assert " ".join(rest) == scheme.description


def test_a_summary_by_blocks_is_that_of_the_whole(models, tmp_path):
    top = run("lagrange_top", models, duration=2.0, path=tmp_path / "a.h5")
    whole = summarized(top, rows=len(top))
    assert summarized(top, rows=7) == whole
    assert whole.energy_error == np.abs(energy_error(top)).max()
    assert whole.trend == fit_trend(top.t, energy_error(top))
    for name, values in top.momenta().items():
        assert whole.momenta[name] == (values[0], np.abs(values - values[0]).max())
    part = top.rows(slice(30, 200))  # whose arrays begin within those of the file
    for each in ("t", "q", "p", "v"):
        parts = [getattr(block, each) for block in part.blocks(64)]
        assert [len(values) for values in parts] == [64, 64, 42]
        assert np.concatenate(parts).tobytes() == getattr(top, each)[30:200].tobytes()


def test_what_was_mended_is_reported():
    """In both reports, and by no warning; a run with many lines has the first."""
    bodies = {name: mbvi.Body(mass=1, inertia=(0.0833, 0.0833, 0.1667)) for name in "abcdefg"}
    joints = {name: mbvi.Free(parent="world", child=name) for name in bodies}
    model = mbvi.Model(name="rods", bodies=bodies, joints=joints)
    system = mbvi.assemble(model)
    assert section(check_report(system, find_start(system)), "Mended") == [f"  - {line}" for line in model.mended]
    lines = report(mbvi.simulate(system, step=0.01, duration=0.05)).splitlines()
    assert [" ".join(line.split()) for line in lines if line.startswith("mended")] == [
        *(f"mended {line}" for line in model.mended[:4]),
        "mended 3 more; mbvi check lists them",
    ]


def lifted() -> mbvi.Model:
    """A plane that rises with 0.5 m/s lifts 2 kg."""
    floor = mbvi.PlaneStop(body_a="world", body_b="load", normal=(0, 0, 1), height="0.5*t", restitution=0.25)
    rail = mbvi.Prismatic(parent="world", child="load", axis=(0, 0, 1))
    return mbvi.Model(
        name="lift",
        bodies={"load": mbvi.Body(mass=2)},
        joints={"rail": rail},
        contacts={"floor": floor},
        initial={"rail": mbvi.Initial(velocity=0.5)},
    )


def test_moving_stops_do_work():
    trajectory = mbvi.simulate(lifted(), step=0.01, duration=1.0)
    text = run_report(trajectory)
    assert "energy    0.25 J at the start, 10.06 J at the end; not conserved: moving stops do work" in text
    assert "energy error" not in text and "took 0 J" in text
    assert "not conserved: moving stops do work" in check(lifted())


def check(model: mbvi.Model) -> str:
    system = mbvi.assemble(model)
    return check_report(system, find_start(system))


def test_check_lists_stops_and_friction(models):
    lines = check(lifted()).splitlines()
    first = lines.index("Stops and friction")
    assert [line.split() for line in lines[first + 1 : first + 3]] == [
        ["name", "restitution", "friction", "static", "friction"],
        ["floor", "0.25"],
    ]
    ladder = check(mbvi.load(models / "sliding_ladder.yaml"))
    assert "conserved, but for what impacts and friction take" in ladder and "momentum" not in ladder
    assert "rubbing" in check(mbvi.load(models / "stick_slip.yaml"))


def test_iterations_of_comparisons_are_said(models):
    """Loops are compared with two half steps, so that a step may take more iterations than any solution of it."""
    trajectory = mbvi.simulate(mbvi.load(models / "four_bar.yaml"), step=0.01, duration=0.5)
    statistics = trajectory.statistics
    few = replace(statistics, iterations=3 * statistics.steps, most_iterations=2)
    text = run_report(replace(trajectory, statistics=few))
    assert "3.0 per step with those of comparisons, at most 2 in a step" in text
    assert "comparisons" not in run_report(replace(trajectory, statistics=replace(few, most_iterations=3)))
