"""What runs are watched for: a run that cannot be trusted says so, and one that can does not."""

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.analysis.balance import Energies, energies_of, exchanged, first_departure
from tests.folders import MODELS, load

CART_POLE = """
name: cart-pole
bodies:
  cart: {mass: 0}
  pole: {mass: 1, center_of_mass: [0, 0, -1]}
joints:
  rail: {type: prismatic, parent: world, child: cart, axis: [1, 0, 0]}
  pivot: {type: revolute, parent: cart, child: pole, axis: [0, 1, 0]}
initial: {pivot: {position: 100 deg}}
simulation: {scheme: simpson, step: 1e-3, duration: 5}
"""
TOP = """
name: heavy top
bodies:
  top: {mass: 15, center_of_mass: [0, 1, 0], inertia: [0.234375, 0.46875, 0.234375]}
joints:
  tip: {type: ball, parent: world, child: top, coordinates: zxy}
initial:
  tip: {velocity: [-4.61538, 0, 150]}
simulation: {step: 1e-3, duration: 1}
"""


def model_of(text: str, folder: Path) -> mbvi.Model:
    path = folder / "model.yaml"
    path.write_text(text)
    return mbvi.load(path)


def pendulum(**elements: object) -> mbvi.Model:
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    start = {"pivot": mbvi.Initial(position=1.5)}
    return mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, initial=start, **elements)


def kepler() -> mbvi.System:
    x, y = sympy.symbols("x y")
    return mbvi.from_sympy([x, y], sympy.eye(2), -1 / sympy.sqrt(x**2 + y**2))


@pytest.mark.parametrize("name", sorted(path.stem for path in MODELS.glob("*.yaml")))
def test_a_healthy_run_says_nothing(name: str) -> None:
    healthy = load(name)
    steps = 1000 if len(healthy.bodies) < 40 else 2500 // len(healthy.bodies)
    assert mbvi.simulate(healthy, duration=steps * float(healthy.resolved().simulation.step)).findings == ()


def test_a_dead_point_that_is_stepped_over(tmp_path: Path) -> None:
    """The mass falls vertically until it hangs: its kinetic energy there, all of the 1.17 m of the fall, has nowhere to go."""
    with pytest.warns(mbvi.AccuracyWarning, match="rail, pivot can move almost without inertia") as warned:
        run = mbvi.simulate(model_of(CART_POLE, tmp_path))
    (finding,) = run.findings
    assert finding.kind == "energy" and finding.text in str(warned[0].message)
    fall = np.sqrt(2 * (1 - np.cos(np.radians(100))) / 9.81)
    assert finding.t == pytest.approx(fall, abs=2e-3)
    assert warned[0].filename == __file__


def test_findings_are_kept_in_files_reports_and_pages(tmp_path: Path) -> None:
    from mbvi.cli.run_report import run_report

    path = tmp_path / "run.h5"
    with pytest.warns(mbvi.AccuracyWarning):
        run = mbvi.simulate(model_of(CART_POLE, tmp_path), path=path)
    assert mbvi.read(path).findings == run.findings and run.findings
    run.save(tmp_path / "saved.h5")
    assert mbvi.read(tmp_path / "saved.h5").findings == run.findings
    assert f"doubtful      {run.findings[0].text}" in run_report(mbvi.read(path))
    page = mbvi.animate(run.rows(slice(0, None, 20)), tmp_path / "page.html").read_text()
    assert '<p class="doubt">from t = ' in page


def test_a_resumed_run_finds_what_the_whole_finds(tmp_path: Path) -> None:
    model = model_of(CART_POLE, tmp_path)
    with pytest.warns(mbvi.AccuracyWarning):
        whole = mbvi.simulate(model, duration=2)
    mbvi.simulate(model, duration=0.4, path=tmp_path / "run.h5")
    with pytest.warns(mbvi.AccuracyWarning):
        resumed = mbvi.resume(tmp_path / "run.h5", duration=2)
    assert resumed.findings == whole.findings


def test_a_dead_point_whose_jump_the_largest_kinetic_energy_hides(tmp_path: Path) -> None:
    """The energy goes from 1.7 to 97 J, and the kinetic energy with it."""
    with pytest.warns(mbvi.AccuracyWarning, match="off its level by"):
        run = mbvi.simulate(model_of(CART_POLE, tmp_path), "gauss3", step=1e-4, duration=1, every=10)
    assert run.findings[0].t == pytest.approx(np.sqrt(2 * (1 - np.cos(np.radians(100))) / 9.81), abs=2e-3)


@pytest.mark.parametrize("scheme", ["simpson", "rk4"])
@pytest.mark.parametrize("aside", [1e-9, 1e-6])
def test_a_fall_into_a_center(scheme: str, aside: float) -> None:
    """From rest at distance 1 it takes π/√8; the motion after it has nothing to do with that before."""
    with pytest.warns(mbvi.AccuracyWarning, match="a collision or a force without bound"):
        run = mbvi.simulate(kepler(), scheme, step=1e-3, duration=1.5, initial_q=[1, aside])
    assert run.findings[0].t == pytest.approx(np.pi / np.sqrt(8), abs=2e-3)


@pytest.mark.parametrize("steps", [80, 83, 96, 256, 1000, 1024, 2048])
def test_a_jump_near_the_end_is_found_whatever_the_number_of_steps(steps: int) -> None:
    """The center is passed seven samples of the end before it, at t = π/√8 of a fall from rest."""
    step = math.pi / math.sqrt(8) / (steps - 7 * max(1, steps // 256))
    with pytest.warns(mbvi.AccuracyWarning, match="is off its level"):
        run = mbvi.simulate(kepler(), "rk4", step=step, duration=steps * step, initial_q=[1, 1e-6])
    assert len(run) == steps + 1


def test_close_passages_that_a_step_resolves_say_nothing() -> None:
    run = mbvi.simulate(kepler(), step=1e-3, duration=30, initial_q=[1.9, 0], initial_v=[0, 0.2294])
    assert run.findings == ()


def two_rods(upper: float, lower: float, degrees: tuple[float, float]) -> mbvi.Model:
    """Points of these masses on massless rods of 1 m, which hang on each other."""
    bodies = {name: mbvi.Body(mass=mass, center_of_mass=(0, 0, -1)) for name, mass in (("a", upper), ("b", lower))}
    joints = {
        "p": mbvi.Revolute(parent="world", child="a", axis=(0, 1, 0)),
        "q": mbvi.Revolute(parent="a", child="b", axis=(0, 1, 0), position=(0, 0, -1)),
    }
    start = {name: mbvi.Initial(position=f"{angle} deg") for name, angle in zip(joints, degrees, strict=True)}
    return mbvi.Model(name="two rods", bodies=bodies, joints=joints, initial=start)


@pytest.mark.parametrize("masses", [(1.0, 1e6), (1e-9, 1.0)])
def test_errors_of_several_passages(masses: tuple[float, float]) -> None:
    """Of masses far apart: each passage of a singular position shifts the energy, none by ten times what it was before.

    After more of them the motion is that of rounding, and some steps have no solution.
    """
    with pytest.warns(mbvi.AccuracyWarning, match="almost without inertia, since masses are far apart: ") as warned:
        run = mbvi.simulate(two_rods(*masses, (60, 40)), "simpson", step=2e-3, duration=2.2)
    assert "try step=0.0005" in str(warned[0].message)
    assert run.findings[0].t == pytest.approx(0.5, abs=0.3)


def test_a_coarse_chaos_from_a_quiet_start_says_nothing() -> None:
    """Two rods that stand almost upright at first; then the balance oscillates within some hundredths."""
    run = mbvi.simulate(two_rods(1, 1, (179.9999, 0)), "midpoint", step=0.02, duration=100)
    assert 0.02 < np.ptp(run.energy()) / run.kinetic_energy().mean() < 0.3
    assert run.findings == ()


@pytest.mark.parametrize("scheme", ["splitting", "symplectic_euler", "trapezoidal", "midpoint", "shake", "rk4"])
def test_steps_that_are_too_large(scheme: str) -> None:
    with pytest.warns(mbvi.AccuracyWarning, match=r"try step=0\.5"):
        mbvi.simulate(pendulum(), scheme, step=2, duration=400)
    assert mbvi.simulate(pendulum(), scheme, step=0.02, duration=4).findings == ()


def test_work_of_forces_and_drives_is_no_departure() -> None:
    """Energy comes and goes by the work of a damper, a motor and a shaken pivot."""
    motor = mbvi.JointForce(joint="pivot", value="3*sin(5*t)")
    damper = mbvi.JointDamper(joint="pivot", damping=0.5)
    run = mbvi.simulate(pendulum(forces={"motor": motor, "damper": damper}), step=0.01, duration=20)
    assert np.ptp(run.energy()) > 1 and run.findings == ()
    fast = mbvi.PrescribedCoordinate(joint="pivot", value="max(0, t - 0.1)**3")
    assert mbvi.simulate(pendulum(constraints={"drive": fast}), step=0.01, duration=5).findings == ()
    damped = mbvi.load(MODELS / "spring_damper.yaml")
    assert mbvi.simulate(damped, duration=200).findings == ()


def test_a_dead_point_with_damping(tmp_path: Path) -> None:
    """What the work of forces does not explain is found with forces too."""
    text = CART_POLE + "forces: {loss: {type: joint_damper, joint: pivot, damping: 1e-3}}\n"
    with pytest.warns(mbvi.AccuracyWarning, match="energy less the work of forces and drives"):
        mbvi.simulate(model_of(text, tmp_path))


def test_powers_are_the_rates_of_the_energy() -> None:
    """Against differences of the energy of a fine run: motors, and prescribed motions in both formulations."""
    elements = {
        "forces": {"motor": mbvi.JointForce(joint="pivot", value="3*sin(5*t)")},
        "bodies": {
            "cart": mbvi.Body(mass=2),
            "bob": mbvi.Body(mass=1, center_of_mass=(0, 0, -1), inertia=(0.1, 0.1, 0.1)),
        },
        "joints": {
            "rail": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0)),
            "pivot": mbvi.Revolute(parent="cart", child="bob", axis=(0, 1, 0)),
        },
        "constraints": {"shaker": mbvi.PrescribedCoordinate(joint="rail", value="0.1*sin(7*t)")},
        "initial": {"pivot": mbvi.Initial(position=1.0)},
    }
    for formulation in ("tree", "embedding"):
        run = mbvi.simulate(mbvi.Model(name="shaken", **elements), "gauss3", 1e-3, 0.5, formulation=formulation)
        found = energies_of(run.system, run.t, run.q, run.p)
        energy = found.kinetic + found.potential
        rate = (energy[:-4] - 8 * energy[1:-3] + 8 * energy[3:-1] - energy[4:]) / 12e-3
        assert np.abs(rate).max() > 5
        np.testing.assert_allclose(found.power[2:-2], rate, atol=1e-6)


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize("step", [2e-3, 1e-3, 2.5e-4])
def test_euler_angles_that_pass_gimbal_lock(step: float, every: int, tmp_path: Path) -> None:
    with pytest.warns(mbvi.AccuracyWarning, match=r"pass gimbal lock.*coordinates: quaternion in joints\.tip"):
        run = mbvi.simulate(model_of(TOP, tmp_path), step=step, every=every)
    assert run.findings[0].kind == "gimbal lock" and run.findings[0].t == pytest.approx(0.371, abs=5e-3)
    calm = model_of(TOP.replace("zxy", "quaternion").replace("[-4.61538, 0, 150]", "[0, 150, -4.61538]"), tmp_path)
    assert "quaternion" in str(calm.joints["tip"])
    assert mbvi.simulate(calm, step=step, duration=0.5).findings == ()


def locked_body() -> mbvi.Model:
    """A free body whose Euler angles start in gimbal lock, from which a coupling to its height keeps the tree's mass regular."""
    return mbvi.Model(
        name="locked",
        bodies={"body": mbvi.Body(mass=1, inertia=(1, 2, 2.5))},
        joints={"fly": mbvi.Free(parent="world", child="body", coordinates="xzx")},
        constraints={
            "tie": mbvi.Coupling(joint_a="fly", coordinate_a="phi", joint_b="fly", coordinate_b="z", ratio=0.3)
        },
        initial={"fly": mbvi.Initial(velocity=[0, 0, 0, 0.1, 0.2, 0.3])},
    )


def test_a_start_in_gimbal_lock_is_reported() -> None:
    with pytest.warns(mbvi.AccuracyWarning, match="by a turn of more than a thousand times the distance from it"):
        mbvi.simulate(locked_body(), "gauss4", step=1e-3, duration=0.01)
    with pytest.raises(
        mbvi.StepError, match=r"the Euler angles of fly are in gimbal lock.*coordinates: quaternion in joints\.fly"
    ):
        mbvi.simulate(locked_body(), "gauss4", step=1e-3, duration=0.01, formulation="embedding")


def test_members_of_an_ensemble_are_watched(tmp_path: Path) -> None:
    from mbvi.cli.tables_of import ensemble_report

    model = model_of(CART_POLE.replace("mass: 0}", "mass: m}") + "parameters: {m: 1}\n", tmp_path)
    with pytest.warns(mbvi.AccuracyWarning, match="1 of 3 members are doubtful"):
        found = mbvi.ensemble(model, {"m": [0, 0.5, 1]}, duration=1)
    assert list(found.status.values) == [0, 0, 0]
    assert [bool(reason) for reason in found.reason.values] == [True, False, False]
    assert "3 done, 1 of them doubtful" in ensemble_report(found)


def test_a_run_at_rest_says_nothing() -> None:
    weld = mbvi.Model(
        name="rest",
        gravity=(0, 0, 0),
        bodies={"a": mbvi.Body(mass=1, inertia=(1, 1, 1))},
        joints={"f": mbvi.Free(parent="world", child="a")},
    )
    assert mbvi.simulate(weld, step=0.01, duration=10).findings == ()


def test_departures() -> None:
    """By hand: a jump, a drift, an oscillation, a passage that returns, growth, few steps, and what is round-off."""
    n = np.arange(400)
    ones, zeros = np.ones(400), np.zeros(400)

    def found(balance: np.ndarray, kinetic: np.ndarray = ones, rounding: np.ndarray = zeros) -> tuple | None:
        return first_departure(n, balance, kinetic, zeros, rounding)

    assert found(np.where(n < 200, 0.0, 0.02)) == (200, 0.02)
    assert found(np.where(n < 200, 1e-2 * np.cos(n), 0.02)) is None
    assert found(1e-3 * n) is not None
    assert found(0.1 * np.cos(n)) is None
    assert found(np.where(n // 3 == 60, 5.0, 0.0)) is None
    assert found(np.where(n < 200, 0.0, 0.02), zeros, ones) is None
    grown = np.where(n < 200, 0.0, 10.0 ** np.clip(n - 200, 0, 300))
    assert found(grown, 1 + grown)[0] in range(199, 203)
    few = slice(0, 6)
    assert first_departure(n[few], 0.3 * ones[few], ones[few], zeros[few], zeros[few], work=4.0) is None
    assert first_departure(n[few], 0.5 * ones[few], ones[few], zeros[few], zeros[few], work=4.0) is not None


def test_what_a_motion_exchanges_does_not_depend_on_where_it_starts() -> None:
    potential = np.array([-10.0, -1.0, -0.6, -0.5, -0.5, -0.6])
    kinetic = np.array([9.5, 0.5, 0.1, 0.0, 0.0, 0.1])
    expected = kinetic.mean() + potential.std()
    for shift in (0.0, 1e3):
        assert exchanged(kinetic, potential + shift)[-1] == pytest.approx(expected, rel=1e-9)


def test_gains_beyond_the_work() -> None:
    t, power = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0, 0.0])
    found = Energies(t, np.array([0.0, 1.5, 5.0, 4.0]), np.zeros(4), power, power)
    assert found.gains().tolist() == [0.0, 1.5, 0.0]


def oscillator(rate: float, **options: object) -> mbvi.System:
    x = sympy.symbols("x")
    return mbvi.from_sympy([x], sympy.eye(1), rate**2 * x**2 / 2, initial_q=[1], **options)


@pytest.mark.parametrize(
    ("rate", "scheme", "step", "duration"),
    [(4, "rk4", 1, 20), (4, "rk4", 1, 60), (4, "rk4", 1, 100), (1, "symplectic_euler", 2.2, 60), (1, "heun", 0.3, 600)],
)
def test_a_motion_that_blows_up(rate: float, scheme: str, step: float, duration: float) -> None:
    with pytest.warns(mbvi.AccuracyWarning, match="off its level"):
        mbvi.simulate(oscillator(rate), scheme, step=step, duration=duration)


def test_a_stiff_spring_that_blows_up() -> None:
    """ω h = 6.3 is far beyond what Simpson's rule can take."""
    mass = mbvi.Body(point_masses={"mass": {"mass": 1, "position": (0, 0, 0)}})
    model = mbvi.Model(
        name="sprung",
        bodies={"mass": mass},
        joints={"slide": mbvi.Prismatic(parent="world", child="mass", axis=(0, 0, 1))},
        forces={"spring": mbvi.JointSpring(joint="slide", stiffness=4e5)},
        initial={"slide": mbvi.Initial(position=0.01)},
    )
    with pytest.warns(mbvi.AccuracyWarning, match=r"try step=0\.0025"):
        mbvi.simulate(model, "simpson", step=0.01, duration=1)


@pytest.mark.parametrize("loss", [1e-12, 1e-2])
def test_a_drift_that_no_damper_explains(loss: float) -> None:
    x, u = sympy.symbols("x u")
    system = oscillator(1, velocities=[u], dissipation=loss * u**2 / 2)
    scheme, step = ("heun", 0.3) if loss < 1e-6 else ("simpson", 2.9)
    with pytest.warns(mbvi.AccuracyWarning, match="energy less the work of forces"):
        mbvi.simulate(system, scheme, step=step, duration=600 if loss < 1e-6 else 60)


@pytest.mark.parametrize("every", [1, 2, 10])
def test_jumps_between_stored_states_that_no_force_explains(every: int, tmp_path: Path) -> None:
    text = CART_POLE + "forces: {loss: {type: joint_damper, joint: pivot, damping: 1e-9}}\n"
    with pytest.warns(mbvi.AccuracyWarning, match="energy less the work of forces and drives"):
        mbvi.simulate(model_of(text, tmp_path), duration=2, every=every)


@pytest.mark.parametrize("every", [1, 4, 20])
def test_work_between_stored_states_is_no_departure(every: int) -> None:
    """Powers of a motor of 50 Hz, stored at its period too, and of a strong damper."""
    motor = mbvi.JointForce(joint="pivot", value="30*sin(2*pi*50*t)**2")
    damper = mbvi.JointDamper(joint="pivot", damping=3)
    model = pendulum(forces={"motor": motor, "damper": damper})
    assert mbvi.simulate(model, step=1e-3, duration=5, every=every).findings == ()


def test_a_start_at_the_pericenter() -> None:
    """The potential energy there is ten times that of the rest of the orbit, which leaves its ellipse."""
    system = kepler()
    period = 2 * np.pi
    start = {"initial_q": [0.1, 0], "initial_v": [0, np.sqrt(19)]}
    with pytest.warns(mbvi.AccuracyWarning, match="off its level"):
        mbvi.simulate(system, "simpson", step=period / 150, duration=100 * period, **start)
    assert mbvi.simulate(system, "simpson", step=period / 3000, duration=10 * period, **start).findings == ()


@pytest.mark.parametrize("mass", [1e3, 1e6])
def test_heavy_things_at_rest_say_nothing(mass: float) -> None:
    block = {"block": mbvi.Body(mass=mass, inertia=(mass,) * 3)}
    free = {"free": mbvi.Free(parent="world", child="block")}
    held = {"weld": mbvi.CoincidentFrames(body_a="world", body_b="block")}
    model = mbvi.Model(name="block", bodies=block, joints=free, constraints=held)
    assert mbvi.simulate(model, step=0.02, duration=20).findings == ()
    rail = {"rail": mbvi.Prismatic(parent="world", child="block", axis=(0, 0, 1))}
    for value in ("0*t", "max(0, t - 1)**3"):
        lift = {"lift": mbvi.PrescribedCoordinate(joint="rail", value=value)}
        lifted = mbvi.Model(name="lift", bodies=block, joints=rail, constraints=lift)
        for step in (0.01, 0.0025):
            assert mbvi.simulate(lifted, step=step, duration=2).findings == ()


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 13, 30])
def test_a_few_small_steps_say_nothing(steps: int) -> None:
    """From rest all energies grow from 0, and a scheme of order 1 errs by a part of the first steps'."""
    for scheme in ("symplectic_euler", "lie_trotter", "simpson"):
        assert mbvi.simulate(pendulum(), scheme, step=1e-3, duration=1e-3 * steps).findings == ()


def test_a_steady_precession_near_gimbal_lock_says_nothing() -> None:
    body = mbvi.Body(mass=1, inertia=(1, 1, 2))
    model = mbvi.Model(
        name="precession",
        gravity=(0, 0, 0),
        bodies={"body": body},
        joints={"tip": mbvi.Ball(parent="world", child="body", coordinates="zxz")},
        initial={"tip": {"position": [0, 0.05, 0], "velocity": [60, 0, -30 * np.cos(0.05)]}},
    )
    run = mbvi.simulate(model, "gauss3", step=0.01, duration=2)
    assert run.findings == ()
    np.testing.assert_allclose(run.q[:, 0], 60 * run.t, atol=1e-9)


def test_a_small_radius_of_polar_coordinates_says_nothing() -> None:
    r, f, t = sympy.symbols("r f t")
    mass = sympy.diag(1, r**2)
    system = mbvi.from_sympy(
        [r, f], mass, 0, time=t, constraints=[r - sympy.exp(-t)], initial_q=[1, 0], initial_v=[-1, 1e-6]
    )
    run = mbvi.simulate(system, "gauss3", step=0.01, duration=9)
    assert run.findings == ()
    np.testing.assert_allclose(run.p[:, 1], 1e-6, rtol=1e-12)


@pytest.mark.parametrize("speed", [0, 0.1, 3])
def test_a_pulse_of_one_step_says_nothing(speed: float) -> None:
    pulse = mbvi.JointForce(
        joint="rail", value={"times": [1, 1, 1.01, 1.01], "values": [0, 500, 500, 0], "interpolation": "linear"}
    )
    model = mbvi.Model(
        name="cart",
        bodies={"cart": mbvi.Body(mass=1)},
        joints={"rail": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))},
        forces={"pulse": pulse},
        initial={"rail": mbvi.Initial(velocity=speed)},
    )
    run = mbvi.simulate(model, "simpson", step=0.01, duration=5)
    assert run.findings == () and run.v[-1, 0] == pytest.approx(speed + 5, rel=1e-12)


@pytest.mark.parametrize(("scheme", "steps"), [("midpoint", 10), ("trapezoidal", 12), ("symplectic_euler", 15)])
def test_members_of_few_steps_are_watched_as_runs_are(scheme: str, steps: int) -> None:
    with pytest.warns(mbvi.AccuracyWarning):
        mbvi.simulate(pendulum(), scheme, step=2, duration=2 * steps)
    with pytest.warns(mbvi.AccuracyWarning, match="1 of 2 members are doubtful"):
        found = mbvi.ensemble(pendulum(), {"q.pivot.angle": [0, 1.5]}, scheme, step=2, duration=2 * steps)
    assert [bool(reason) for reason in found.reason.values] == [False, True]


def test_a_resumed_run_says_once_that_it_passed_gimbal_lock(tmp_path: Path) -> None:
    model = model_of(TOP, tmp_path)
    with pytest.warns(mbvi.AccuracyWarning):
        whole = mbvi.simulate(model, duration=2)
    with pytest.warns(mbvi.AccuracyWarning):
        mbvi.simulate(model, duration=0.5, path=tmp_path / "top.h5")
    with pytest.warns(mbvi.AccuracyWarning):
        resumed = mbvi.resume(tmp_path / "top.h5", duration=2)
    assert resumed.findings == whole.findings and len(whole.findings) == 1


def test_a_failed_step_is_reported_where_warnings_are_errors(tmp_path: Path) -> None:
    """A dead point is stepped over, and later a force is 0/0 at a node."""
    text = CART_POLE + "forces: {end: {type: joint_force, joint: pivot, value: 1e-3*sin(t - 1)/(t - 1)}}\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(mbvi.StepError) as caught:
            mbvi.simulate(model_of(text, tmp_path))
    assert len(caught.value.trajectory) > 900


@pytest.mark.parametrize("value", ["1/(t - 0.503)", "5/(t - 0.503)**2", "tan(pi*(t - 0.003))", "(0.503 - t)**-3"])
def test_a_force_with_a_pole_between_two_nodes(value: str) -> None:
    model = pendulum(forces={"motor": mbvi.JointForce(joint="pivot", value=value)})
    with pytest.raises(
        mbvi.ModelError, match=r"forces\.motor: expected finite values all the time, found a pole of .* at t = 0\.503 s"
    ):
        mbvi.simulate(model, step=0.01, duration=1)
    mbvi.simulate(model, step=0.01, duration=0.4)


@pytest.mark.parametrize("value", ["sin(t)/(t + 1e-3)", "1/(1 + t**2)", "tan(sin(t))", "log(t + 1)/(t + 1)"])
def test_divisors_without_a_pole(value: str) -> None:
    mbvi.simulate(pendulum(forces={"motor": mbvi.JointForce(joint="pivot", value=value)}), step=0.01, duration=1)


def test_a_bounded_quotient_has_no_pole() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mbvi.simulate(
            pendulum(forces={"motor": mbvi.JointForce(joint="pivot", value="sin(t - 0.503)/(t - 0.503)")}),
            step=0.01,
            duration=1,
        )


def pushed(force) -> mbvi.System:
    """1 kg that glides with 1 m/s, and is pushed by a force of one's own."""
    rail = mbvi.Prismatic(parent="world", child="load", axis=(1, 0, 0))
    start = {"rail": mbvi.Initial(velocity=1)}
    model = mbvi.Model(name="glide", bodies={"load": mbvi.Body(mass=1)}, joints={"rail": rail}, initial=start)
    return mbvi.assemble(model, force=force)


@pytest.mark.parametrize("step", [0.01, 0.005, 0.0025])
@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss3"])
def test_a_pole_of_an_own_force_between_two_states(scheme: str, step: float) -> None:
    """Whatever the distance of the nearest state is, the work of one value of the force is that of no motion."""

    def pole(t, q, v, F):
        F[0] += 1e-3 / (t - 0.50033) ** 2

    with pytest.warns(mbvi.AccuracyWarning, match=r"from t = 0\.5 s on the energy less the work of forces and drives"):
        mbvi.simulate(pushed(pole), scheme, step=step, duration=1.5)


@pytest.mark.parametrize(
    ("scheme", "step"), [("midpoint", 0.0025), ("simpson", 0.01), ("simpson", 0.0025), ("gauss3", 0.005)]
)
def test_a_pole_at_which_an_own_force_changes_its_sign(scheme: str, step: float) -> None:
    """The well 0.1 ln |x − a| is passed in a step, after which the energy is any: 0.06 to 0.67 J, and right are 0.40 J."""

    def pole(t, q, v, F):
        F[0] -= 0.1 / (q[0] - 0.33337)

    with pytest.warns(
        mbvi.AccuracyWarning, match=r"from t = 0\.30?5? s on the energy less the work of forces and drives"
    ):
        mbvi.simulate(pushed(pole), scheme, step=step, duration=1.5)


@pytest.mark.parametrize("step", [0.01, 0.005, 0.0025])
@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss3"])
def test_a_well_that_steps_resolve_says_nothing(scheme: str, step: float) -> None:
    def well(t, q, v, F):
        F[0] -= 0.1 * (q[0] - 0.33337) / ((q[0] - 0.33337) ** 2 + 0.01**2)

    def barrier(t, q, v, F):
        F[0] += 0.1 / (q[0] - 0.33337)

    for force in (well, barrier):
        assert mbvi.simulate(pushed(force), scheme, step=step, duration=1.5).findings == ()


def test_pulses_and_jumps_of_an_own_force_say_nothing() -> None:
    def pulse(t, q, v, F):
        F[0] += 50 * np.exp(-(((t - 0.5) / 0.03) ** 2)) - 0.5 * v[0] * abs(v[0])

    def jump(t, q, v, F):
        F[0] += 5.0 if t > 0.5 else 0.0

    for force in (pulse, jump):
        for step in (0.01, 0.0025):
            assert mbvi.simulate(pushed(force), "simpson", step=step, duration=2).findings == ()
