"""The texts of `mbvi run` and `mbvi check`, and the statistics behind them."""

import numpy as np
import pytest

import mbvi
from mbvi.report import (
    Trend,
    aligned,
    check_report,
    count,
    energy_error,
    file_size,
    fit_trend,
    momentum_unit,
    oddities,
    rounded,
    run_report,
    scheme_table,
)

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


def described(text):
    model = mbvi.from_yaml(text)
    return model, mbvi.assemble(model)


# ----------------------------------------------------------------------------------------------- trend


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
    lines = run_report(run("lagrange_top", models)).splitlines()
    assert lines[0] == "Lagrange top, loops"
    assert lines[2] == "system        3 degrees of freedom, 3 coordinates, no constraints"
    assert lines[3] == "scheme        simpson, order 4"
    assert lines[4] == "step          0.01 s, 1000 steps to t = 10 s"
    assert lines[5].startswith("speed  ") and lines[5].endswith("µs per step")
    assert lines[6].startswith("iterations    ") and "per step, at most" in lines[6]
    assert lines[7] == "energy        4.26275 J at the start"
    assert lines[8].startswith("energy error  at most 1.9e-10 of the largest kinetic energy; no trend: (")
    assert lines[10].split() == ["conserved", "momentum", "at", "the", "start", "largest", "drift"]
    assert lines[11].split()[:2] == ["p(contact.phi)", "0.0321143"] and lines[11].endswith("kg m²/s")
    assert float(lines[11].split()[2]) < 1e-14
    assert len(lines) == 13


def test_run_report_of_forces_that_do_work(models):
    lines = run_report(run("spring_damper", models)).splitlines()
    assert lines[-1] == "energy      1.95 J at the start, 0.220854 J at the end; not conserved: forces do work"


def test_run_report_of_a_composition_with_constraints(models):
    trajectory = run("free_rigid_body", models, scheme="suzuki4", duration=1.0, every=10)
    text = run_report(trajectory)
    assert "100 steps to t = 1 s" in text
    assert "in a substep" in text
    assert f"constraints   largest residual {trajectory.constraint_residual().max():.1e}" in text
    assert "angular momentum (center, fixed z)" in text


def test_energy_error_does_not_depend_on_where_the_potential_is_zero(models):
    low = run("pendulum", models)
    text = (
        (models / "pendulum.yaml").read_text().replace("world, child: rod", "world, child: rod, position: [0, 0, 1000]")
    )
    high = mbvi.simulate(mbvi.from_yaml(text))
    assert high.energy()[0] == pytest.approx(low.energy()[0] + 9810)
    assert np.allclose(energy_error(high), energy_error(low), atol=1e-12)
    assert 1e-10 < np.abs(energy_error(low)).max() < 1e-8


def test_a_run_too_short_for_a_trend(models):
    assert "trend" not in run_report(run("pendulum", models, duration=0.05))


def test_units_of_momenta(models):
    units = {
        each.name: momentum_unit(each, system.coordinate_units)
        for name in ("free_rigid_body", "lagrange_top")
        for system in [mbvi.assemble(mbvi.load(models / f"{name}.yaml"))]
        for each in mbvi.find_invariants(system)
    }
    assert units["p(contact.psi)"] == units["angular momentum (center, fixed x)"] == "kg m²/s"
    system = mbvi.assemble(mbvi.load(models / "branched_tree.yaml"))
    (whole,) = (each for each in mbvi.find_invariants(system) if " + " in each.name)
    assert whole.name == "angular momentum (body, fixed z) + orbital momentum (body, z)"
    assert momentum_unit(whole, system.coordinate_units) == "kg m²/s"
    _, slider = described(
        "{name: a, bodies: {b: {mass: 1}}, joints: {j: {type: prismatic, parent: world, child: b, axis: [1, 0, 0]}}}"
    )
    (momentum,) = mbvi.find_invariants(slider)
    assert momentum_unit(momentum, slider.coordinate_units) == "kg m/s"
    assert momentum_unit(momentum, [""]) == ""


# --------------------------------------------------------------------------------------------- a check


def test_check_report(models):
    model = mbvi.load(models / "lagrange_top.yaml")
    assert (
        check_report(model, mbvi.assemble(model))
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

Dynamics
  3 degrees of freedom, 3 coordinates, no constraints
  energy          4.26275 J at the start          conserved
  p(contact.phi)  0.0321143 kg m²/s at the start  conserved
  p(contact.psi)  0.032075 kg m²/s at the start   conserved

Run
  simpson, step 0.01 s, duration 10 s: 1000 steps"""
    )


def test_every_kind_of_force_is_described(models):
    model = mbvi.load(models / "gantry_crane.yaml")
    text = check_report(model, mbvi.assemble(model))
    assert "motor     joint_force   rail.displacement" in text
    assert "gust      force         on load at (0, 0, -6), along the axes of the world" in text
    assert "not conserved: forces do work" in text
    model = mbvi.from_yaml(ODD.replace("type: force", "type: torque, frame: body"))
    text = check_report(model, mbvi.assemble(model))
    assert "push     torque  on base, along the axes of the body" in text
    assert "band     spring  between rod and world" in text


def test_what_is_odd():
    model, system = described(ODD)
    assert oddities(model, system) == [
        "parameters.b: nothing uses it",
        "gravity: 981 m/s²; lengths are in metres and times in seconds",
        "forces.push: no effect, since base is welded to the world",
        "forces.band: its ends coincide at the start, where its direction is not defined",
        "forces.band: negative stiffness; it pushes away",
        "forces.brake: no effect, since base and world do not move against each other",
        "forces.brake: negative damping; it drives",
        "bodies.knot: no mass; its motion follows from that of the bodies it is tied to",
        "simulation.duration: not a multiple of the step; the run ends at t = 1.02 s",
    ]
    assert "  - parameters.b: nothing uses it" in check_report(model, system).splitlines()


@pytest.mark.parametrize(
    ("times", "is_odd"), [((0, 5, 10), False), ((-1, 0, 11), False), ((0.5, 1, 10), True), ((0, 1, 9), True)]
)
def test_a_table_that_does_not_cover_the_run_is_odd(times, is_odd, models):
    force = f"forces: {{f: {{type: joint_force, joint: pivot, value: {{times: {list(times)}, values: [0, 1, 0]}}}}}}"
    text = (models / "pendulum.yaml").read_text() + f"\n{force}\nsimulation: {{duration: 10}}\n"
    text = "\n".join(line for line in text.splitlines() if not line.startswith("simulation: {s"))
    expected = (
        f"forces.f: a table from {times[0]} s to {times[-1]} s for a run from 0 s to 10 s; outside it continues along "
        "its end lines"
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


def test_a_model_without_coordinates():
    model, system = described("{name: a, bodies: {b: {mass: 1}}, joints: {j: {type: weld, parent: world, child: b}}}")
    text = check_report(model, system)
    assert "no degrees of freedom, no coordinates, no constraints" in text
    assert "\n  - joints: every body is welded to the world; nothing moves" in text


@pytest.mark.parametrize("name", ["branched_tree", "chain_10", "double_pendulum", "free_rigid_body", "gyroscope"])
def test_nothing_is_odd_about_the_models(name, models):
    model = mbvi.load(models / f"{name}.yaml")
    assert oddities(model, mbvi.assemble(model)) == []


# --------------------------------------------------------------------------------------------- schemes


def test_scheme_table():
    lines = scheme_table().splitlines()
    assert lines[0].split() == ["name", "order", "substeps", "symmetric", "source", "description"]
    by_name = {line.split()[0]: line for line in lines[1 : len(mbvi.SCHEMES) + 1]}
    assert set(by_name) == set(mbvi.SCHEMES)
    for name, scheme in mbvi.SCHEMES.items():
        _, order, substeps, symmetric, source, *rest = by_name[name].split()
        assert (int(order), int(substeps)) == (scheme.order, len(scheme.fractions))
        assert symmetric == "yes"
        assert f"{source} {scheme.source}" in lines
        assert " ".join(rest) == scheme.description
