"""Sensors: closed forms of what they measure, their noise, their samples, and controllers that have them instead of the state."""

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import mbvi
from mbvi.cli.application import app
from mbvi.system.sensors import noise_of

ARM = """
name: arm
parameters: {length: 0.8, mass: 2, gain: 2}
bodies:
  arm:
    point_masses: {bob: {mass: mass, position: [0, 0, -length]}}
    frames: {tip: {position: [0, 0, -length]}, side: {position: [0.3, 0, 0], orientation: [0, 0, 30 deg]}}
joints: {pivot: {type: revolute, parent: world, child: arm, axis: [0, 1, 0]}}
forces: {motor: {type: motor, joint: pivot}}
sensors:
  encoder: {type: encoder, joint: pivot, noise: 0.1 deg, seed: 3}
  gyro: {type: gyroscope, frame: arm.side, noise: 0.02, period: 0.015}
  tip: {type: accelerometer, frame: arm.tip, period: 0.02}
  side: {type: accelerometer, frame: arm.side}
  gps: {type: position_sensor, frame: arm.tip}
  force: {type: force_sensor, joint: pivot}
  torque: {type: torque_sensor, joint: pivot}
  height: {type: expression_sensor, expression: "gain*(length - length*cos(q('pivot')))", period: 0.1}
initial: {pivot: {position: 1, velocity: 0.5}}
"""
GRAVITY = 9.81


@pytest.fixture(scope="module")
def arm():
    return mbvi.from_yaml(ARM)


@pytest.fixture(scope="module")
def swing(arm):
    return mbvi.simulate(arm, "gauss4", step=0.01, duration=1.0)


def test_a_pendulum_against_closed_forms(swing):
    """The specific force of the bob points along the rod; so does the force in the pivot, which is the mass times it."""
    q, v, found = swing.q[:, 0], swing.v[:, 0], swing.measurements()
    pull = GRAVITY * np.cos(q) + 0.8 * v**2
    zero = np.zeros_like(q)
    tip = np.stack([zero, zero, pull], axis=1)
    assert np.allclose(found["tip"].exact, tip[::2], atol=1e-12)
    assert np.allclose(found["force"].exact, 2 * tip, atol=1e-12)
    assert np.allclose(found["torque"].exact, 0.0, atol=1e-12)
    place = 0.8 * np.stack([-np.sin(q), zero, -np.cos(q)], axis=1)
    assert np.allclose(found["gps"].exact, place, atol=1e-14)
    assert np.allclose(found["height"].exact, 2 * (0.8 + place[::10, 2]), atol=1e-14)
    a = -GRAVITY / 0.8 * np.sin(q)  # of the angle; the lever arm (0.3, 0, 0) turns with it
    along, across = -0.3 * v**2 - GRAVITY * np.sin(q), -0.3 * a + GRAVITY * np.cos(q)
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    assert np.allclose(found["side"].exact, np.stack([c * along, -s * along, across], axis=1), atol=1e-12)
    rates = swing.at(found["gyro"].t).v
    assert np.allclose(found["gyro"].exact, rates * [s, c, 0.0], atol=1e-12)
    assert [found[name].unit for name in ("encoder", "gyro", "tip", "height")] == ["rad", "rad/s", "m/s²", ""]


def test_a_body_in_free_flight():
    """There is no specific force at its centre; beside it is that of Euler's equations."""
    body = mbvi.Body(mass=1, inertia=(1, 2, 2.5), frames={"beside": {"position": (0.3, 0, 0)}})
    sensors = {name: mbvi.Accelerometer(frame=frame) for name, frame in (("center", "body"), ("beside", "body.beside"))}
    model = mbvi.Model(
        name="thrown",
        bodies={"body": body},
        joints={"free": mbvi.Free(parent="world", child="body")},
        sensors=sensors | {"gyro": mbvi.Gyroscope(frame="body")},
        initial={"free": {"velocity": (1, 2, 3, 0.5, 1, 2)}},
    )
    found = mbvi.simulate(model, "gauss4", step=0.01, duration=0.5).measurements()
    w, moments, arm = found["gyro"].exact, np.array([1, 2, 2.5]), np.array([0.3, 0, 0])
    assert np.allclose(w[0], [0.5, 1, 2], atol=1e-14) and np.allclose(found["center"].exact, 0, atol=1e-13)
    turning = np.cross(moments * w, w) / moments
    pull = np.cross(turning, arm) + np.cross(w, np.cross(w, arm))
    assert np.allclose(found["beside"].exact, pull, atol=1e-13)


BALL = """
name: ball
bodies: {ball: {mass: 2, frames: {side: {position: [0.1, 0, 0]}}}}
joints:
  guide:
    type: prismatic
    parent: world
    child: ball
    axis: [0, 0, 1]
    limits: {displacement: {lower: 0, restitution: 0.5}}
forces: {lift: {type: motor, joint: guide}}
sensors:
  up: {type: accelerometer, frame: ball.side}
  fine: {type: accelerometer, frame: ball, period: 0.007}
  side: {type: force_sensor, joint: guide}
  height: {type: encoder, joint: guide}
initial: {guide: {position: 1}}
"""


def test_a_bouncing_ball():
    """It has no specific force between impacts, and at rest that of its weight; so in runs, simulators, files and controllers."""
    model, h, fall = mbvi.from_yaml(BALL), 0.01, np.sqrt(2 / GRAVITY)
    run = mbvi.simulate(model, "gauss4", step=h, duration=2)
    rest = run.contacts.of("guide.displacement.lower", "rest").t
    assert rest == pytest.approx([3 * fall], abs=1e-5)  # 1 + 2 (1/2 + 1/4 + …), but for the least rebounds
    for name in ("up", "fine"):
        found = run.measurements()[name]
        in_air = found.t < rest[0]
        assert abs(found.exact[in_air]).max() < 1e-12 and in_air.sum() > 100
        assert np.allclose(found.exact[~in_air], [0, 0, GRAVITY], atol=1e-12) and (~in_air).sum() > 50
    simulator, shown = mbvi.Simulator(model, "gauss4", step=h), []
    for _ in range(200):
        shown.append(simulator.measurements(["up"])["up"])
        simulator.step()
    assert np.array_equal(shown, run.measurements()["up"].values[:-1])

    heard = []

    def law(t, measured):
        heard.append(measured["fine"])
        return 0.0

    hold = mbvi.Controller(law, period=0.007, sensors=["fine"])
    mbvi.simulate(model, "gauss4", step=h, duration=2, controllers={"hold": hold})
    assert np.allclose(heard, run.measurements()["fine"].exact[: len(heard)], atol=1e-12)


def test_the_instant_of_an_impact_has_what_holds_after_it():
    """Here a ball comes to rest at once where a step ends: from then on the floor has its weight."""
    model = mbvi.from_yaml(BALL.replace("restitution: 0.5", "restitution: 0"))
    h = np.sqrt(2 / GRAVITY) / 32
    run = mbvi.simulate(model, "gauss4", step=h, duration=64 * h)
    assert run.contacts[0].t == pytest.approx(32 * h, abs=1e-14)
    up = run.measurements()["up"].exact[:, 2]
    assert np.allclose(up[:32], 0, atol=1e-12) and np.allclose(up[33:], GRAVITY, atol=1e-12)
    at = run.contacts[0].t <= run.t[32]
    assert up[32] == pytest.approx(GRAVITY if at else 0.0, abs=1e-12)


def test_a_block_at_rest_and_one_that_slides():
    """On a floor, pushed by a motor across; with dry friction of the guide, which holds it, and then gives way."""
    text = """
name: block
bodies: {carriage: {mass: 1}, block: {mass: 3}}
joints:
  across: {type: prismatic, parent: world, child: carriage, axis: [1, 0, 0]}
  down: {type: prismatic, parent: carriage, child: block, axis: [0, 0, 1]}
forces: {push: {type: motor, joint: across, input: 4*t}}
contacts:
  floor: {type: plane_stop, body_a: world, body_b: block, normal: [0, 0, 1], restitution: 0}
  guide: {type: dry_friction, joint: across, kinetic: 2, static: 3}
sensors:
  pull: {type: accelerometer, frame: block}
  joint: {type: force_sensor, joint: across}
"""
    run = mbvi.simulate(mbvi.from_yaml(text), "gauss4", step=0.01, duration=1.5)
    found, holds, slips = run.measurements(), run.t < 0.749, run.t > 0.751  # from 4 t = 3 on
    assert np.allclose(found["pull"].exact[holds], [0, 0, GRAVITY], atol=1e-11)
    across = (4 * run.t[slips] - 2) / 4
    expected = np.stack([across, 0 * across, np.full_like(across, GRAVITY)], axis=1)
    assert np.allclose(found["pull"].exact[slips], expected, atol=1e-9)
    assert np.allclose(found["joint"].exact[:, 2], GRAVITY, atol=1e-9)  # the carriage; the floor has the block


def test_an_arm_that_a_motor_turns_evenly():
    """Its accelerometer has the pull of the turn and the weight, and the torque sensor the motor's torque."""
    arm = {"mass": 1, "inertia": (1, 1, 1), "frames": {"end": {"position": (0.5, 0, 0)}}}
    turn = mbvi.Revolute(parent="world", child="arm", axis=(0, 0, 1))
    model = mbvi.Model(
        name="arm",
        bodies={"arm": mbvi.Body(**arm)},
        joints={"turn": turn},
        forces={"motor": mbvi.Motor(joint="turn", input=0.3)},
        sensors={"end": mbvi.Accelerometer(frame="arm.end"), "torque": mbvi.TorqueSensor(joint="turn")},
        initial={"turn": {"velocity": 2.0}},
    )
    run = mbvi.simulate(model, "gauss4", step=0.01, duration=0.5)
    found, v = run.measurements(), run.v[:, 0]
    pull = np.stack([-0.5 * v**2, np.full_like(v, 0.5 * 0.3), np.full_like(v, GRAVITY)], axis=1)
    assert np.allclose(found["end"].exact, pull, atol=1e-12)
    assert np.allclose(found["torque"].exact, [0.0, 0.0, 0.3], atol=1e-12)


def test_noise(swing, arm):
    """It is normal and white, the same in every run, and another for another name, seed or component."""
    values = noise_of("gyro", 0, np.arange(40000), 3)
    assert abs(values.mean()) < 0.01 and values.std() == pytest.approx(1.0, abs=0.01)
    pairs = np.corrcoef(
        [values[1:, 0], values[:-1, 0], values[1:, 1], noise_of("gyro", 1, np.arange(1, 40000), 1)[:, 0]]
    )
    assert abs(pairs - np.eye(4)).max() < 0.02
    assert np.array_equal(noise_of("gyro", 0, np.array([77, -3]), 3)[0], values[77])
    found = swing.measurements(["encoder", "gyro"])
    again = mbvi.simulate(arm, "gauss4", step=0.01, duration=1.0).measurements(["encoder"])
    assert np.array_equal(found["encoder"].values, again["encoder"].values)
    other = mbvi.from_yaml(ARM.replace("seed: 3", "seed: gain")).with_parameters({"gain": 4})
    drawn = mbvi.simulate(other, "gauss4", step=0.01, duration=1.0).measurements(["encoder"])["encoder"]
    assert np.array_equal(drawn.exact, found["encoder"].exact) and (drawn.values != found["encoder"].values).all()
    spread = (found["encoder"].values - found["encoder"].exact).std()
    assert spread == pytest.approx(np.radians(0.1), rel=0.25) and np.array_equal(found["gyro"].t[:3], [0, 0.015, 0.03])


def test_a_simulator_shows_the_last_samples(arm, swing):
    """As the measurements of the run are, also where it goes on from a saved state, and begins anew."""
    driven = mbvi.Simulator(arm, "gauss4", step=0.01)
    shown = [driven.measurements(["torque"])["torque"]]
    for k in range(5):
        driven.step([0.5 + k])
        shown.append(driven.measurements(["torque"])["torque"])
    assert np.allclose(shown, [[0, torque, 0] for torque in (0, 0.5, 1.5, 2.5, 3.5, 4.5)], atol=1e-12)
    assert np.allclose(driven.trajectory().measurements(["torque"])["torque"].values, shown, atol=1e-12)
    simulator, whole = mbvi.Simulator(arm, "gauss4", step=0.01), swing.measurements()
    for _ in range(25):
        simulator.step()
        found = simulator.measurements()
        for name, each in whole.items():
            last = each.values[np.searchsorted(each.t, simulator.t + 1e-9) - 1]
            assert np.array_equal(found[name], last), (name, simulator.t)
    other = mbvi.Simulator(arm, "gauss4", step=0.01)
    other.set_state(simulator.state())
    other.run(0.05)
    assert np.array_equal(other.measurements(["side"])["side"], whole["side"].values[30])
    with pytest.raises(mbvi.ModelError, match="names: expected a sensor, found 'gyor'; did you mean 'gyro'"):
        simulator.measurements(["gyor"])


def test_controllers_have_sensors_instead_of_the_state(arm, tmp_path):
    """What they had is what the run's measurements say, inputs that jump included; a resumed run goes on the same."""
    shown = []

    def law(t, measured):
        shown.append((t, measured))
        return -3 * measured["gyro"][1] - 2 * measured["encoder"]

    names = ["gyro", "encoder", "tip", "torque", "force"]
    controllers = {"law": mbvi.Controller(law, period=0.02, sensors=names)}
    run = mbvi.simulate(arm, "gauss4", step=0.01, duration=0.4, controllers=controllers)
    found = run.measurements()
    assert len(shown) == 20 and np.ptp(found["torque"].exact[:, 1]) > 1
    for t, measured in shown:
        for name in names:
            last = found[name].values[np.searchsorted(found[name].t, t + 1e-9) - 1]
            assert np.allclose(measured[name], last, rtol=0, atol=1e-12), (name, t)
    path = tmp_path / "run.h5"
    mbvi.simulate(arm, "gauss4", step=0.01, duration=0.19, controllers=controllers, path=path)
    fewer = {"law": mbvi.Controller(law, period=0.02, sensors=names[:2])}
    with pytest.raises(
        mbvi.ModelError, match=r"controllers: expected law, found law with other inputs, .* delays or sensors"
    ):
        mbvi.resume(path, 0.4, controllers=fewer)
    assert mbvi.read(path).samples["law"].sensors == tuple(names)
    resumed = mbvi.resume(path, 0.4, controllers=controllers)
    assert np.array_equal(resumed.q, run.q)
    stored = mbvi.read(path).measurements(["torque"])["torque"]
    assert np.array_equal(stored.values, found["torque"].values)


def test_to_measure_changes_nothing(models):
    """A run with loops whose controller asks is that whose controller does not, to the last bit."""
    four_bar = mbvi.load(models / "four_bar.yaml")
    motor = {"motor": mbvi.Motor(joint="shaft")}
    sensors = {"pin": mbvi.ForceSensor(joint="crank pin"), "gyro": mbvi.Gyroscope(frame=next(iter(four_bar.bodies)))}
    model = four_bar.model_copy(update={"forces": motor, "sensors": sensors})

    def run(sensors):
        controller = mbvi.Controller(lambda t, *_: np.sin(30 * t), period=0.01, sensors=sensors)
        return mbvi.simulate(model, "gauss4", step=0.002, duration=0.1, controllers={"sine": controller})

    one, other = run([]), run(["pin", "gyro"])
    assert np.array_equal(one.q, other.q) and np.array_equal(one.p, other.p)


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        (
            "{type: gyroscope, frame: arm.tp}",
            "sensors.s.frame: expected a body or BODY.FRAME, found 'arm.tp'; did you mean",
        ),
        ("{type: encoder, joint: pivto}", "sensors.s.joint: expected a joint, found 'pivto'; did you mean 'pivot'?"),
        (
            "{type: encoder, joint: pivot, seed: 0.5}",
            "sensors.s.seed: expected a whole number of at least 0, found 0.5",
        ),
        ("{type: encoder, joint: pivot, noise: -1}", "sensors.s.noise: expected a number of at least 0, found -1"),
        ("{type: encoder, joint: pivot, period: 0}", "sensors.s.period: expected a time greater than 0, found 0"),
        (
            "{type: expression_sensor, expression: \"q('pivo')\"}",
            r"sensors.s.expression: q\('pivo'\): expected a joint, found 'pivo'; did you mean 'pivot'?",
        ),
        (
            "{type: expression_sensor, expression: \"__import__('os')\"}",
            "sensors.s.expression: expected a known function, found '__import__'",
        ),
    ],
)
def test_sensors_that_cannot_be(sensor, message):
    with pytest.raises(mbvi.ModelError, match=f"^<string>:18: {message}"):
        mbvi.from_yaml(ARM.replace("height: {", f"s: {sensor}\n  height: {{"))


def test_sensors_of_models_that_are_attached(arm, swing):
    """They have the prefix, and measure the same."""
    base = mbvi.Model(
        name="base", bodies={"plate": mbvi.Body(mass=1)}, joints={"base": mbvi.Weld(parent="world", child="plate")}
    )
    both = mbvi.attach(base, arm, prefix="left/")
    assert list(both.sensors) == [f"left/{name}" for name in arm.sensors]
    found = mbvi.simulate(both, "gauss4", step=0.01, duration=1.0).measurements()
    for name, each in swing.measurements().items():
        assert np.allclose(found[f"left/{name}"].exact, each.exact, atol=1e-11), name


def test_names_of_no_sensors(arm, swing):
    controller = mbvi.Controller(lambda t, measured: 0.0, period=0.1, sensors=["gyor"])
    with pytest.raises(mbvi.ModelError, match=r"controllers.c: sensors: expected a sensor, found 'gyor'; did you mean"):
        mbvi.simulate(arm, step=0.01, duration=1, controllers={"c": controller})
    with pytest.raises(mbvi.ModelError, match="expected sensors that sample together, as 'encoder', found 'gyro'"):
        swing.measurement_table(["encoder", "gyro"])


def test_the_command(swing, tmp_path):
    """A line for every component, and a file of the numbers."""
    path, out, file = tmp_path / "swing.h5", tmp_path / "readings.csv", tmp_path / "arm.yaml"
    file.write_text(ARM)
    checked = CliRunner().invoke(app, ["check", str(file)]).output
    assert "  gyro     gyroscope          arm.side" in checked and "nothing uses it" not in checked
    swing.save(path)
    result = CliRunner().invoke(app, ["sensors", str(path), "--names", "gps,encoder", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert [line.split()[:2] for line in result.output.splitlines()[2:6]] == [
        [name, "101"] for name in ("gps.x", "gps.y", "gps.z", "encoder")
    ]
    head, *rows = out.read_text().splitlines()
    assert head == "t [s],gps.x [m],gps.y [m],gps.z [m],encoder [rad]" and len(rows) == 101
    assert float(rows[7].split(",")[4]) == swing.measurements()["encoder"].values[7]
    panels = mbvi.plot(swing, "measurements", names=["tip"]).axes
    assert panels[0].get_ylabel() == "tip [m/s²]"


def rows_of(found):
    """The rows of a dataset of what a sensor measured."""
    parts = [part.reshape(len(found), -1) for part in (found.t, found.values, found.exact)]
    return np.concatenate(parts, axis=1)


def datasets(path):
    with h5py.File(path) as file:
        found = file["measurements"].values() if "measurements" in file else ()
        return {each.attrs["name"]: (dict(each.attrs), each[1:]) for each in found}


def test_files_have_the_samples(arm, swing, tmp_path):
    """Of a run, of one that was resumed, and of one that is saved; with what makes the noise."""
    path, ended, saved = (tmp_path / f"{name}.h5" for name in ("run", "ended", "saved"))
    mbvi.simulate(arm, "gauss4", step=0.01, duration=0.33, path=path)
    assert len(datasets(path)["tip"][1]) == 17
    resumed = mbvi.resume(path, 1.0)
    swing.save(saved)
    found = swing.measurements()
    for each in (path, saved):
        kept = datasets(each)
        assert list(kept) == list(arm.sensors)
        for name, (_, rows) in kept.items():
            assert np.allclose(rows, rows_of(found[name]), rtol=0, atol=1e-12), name
            assert np.array_equal(rows, rows_of(mbvi.read(each).measurements([name])[name]))
        about = kept["gyro"][0]
        assert {key: about[key] for key in ("type", "units", "noise", "seed", "period")} == {
            "type": "gyroscope", "units": "rad/s", "noise": 0.02, "seed": 0, "period": 0.015
        }  # fmt: skip
        assert kept["encoder"][0]["seed"] == 3 and "period" not in kept["encoder"][0]
    assert np.array_equal(resumed.rows(slice(3, 20)).measurements(["gps"])["gps"].exact, found["gps"].exact[3:20])
    end = mbvi.simulate(arm, "gauss4", step=0.01, duration=1.0, path=ended, until="q('pivot') - 0.5")
    assert datasets(ended)["force"][1][-1, 0] == end.t[-1]
    part = mbvi.simulate(arm, step=0.01, duration=0.1, path=tmp_path / "part.h5", store=["poses"])
    assert not datasets(tmp_path / "part.h5") and len(part.measurements()["gps"]) == 11
    mbvi.resume(tmp_path / "part.h5", 0.2)
    assert not datasets(tmp_path / "part.h5")


def test_inputs_of_the_state_between_stored_states(arm, tmp_path):
    """Their function is in no file, and what a sensor felt is."""
    law = {"motor": lambda t, q, v: -2.0 * q[0]}
    run = mbvi.simulate(arm, "gauss4", step=0.01, duration=0.4, inputs=law, path=tmp_path / "run.h5")
    found = mbvi.read(tmp_path / "run.h5").measurements(["tip", "gyro"])
    assert np.array_equal(found["gyro"].values, run.measurements(["gyro"])["gyro"].values)


def damage(path, change):
    with h5py.File(path, "r+") as file:
        change(file["measurements"])


def rename(group):
    group["1"].attrs["name"] = "gyor"


def disorder(group):
    group["1"][3, 0] = 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (rename, "measurements has a sensor 'gyor' that the model has not"),
        (disorder, "measurements of 'gyro' have times that do not increase"),
        (
            lambda group: group["1"].attrs.modify("noise", 0.5),
            "measurements of 'gyro' have another noise than the model",
        ),
        (lambda group: group["1"].attrs.modify("seed", 7), "measurements of 'gyro' have another seed than the model"),
        (lambda group: group.create_dataset("99", data=[1.0]), "measurements/99 is no dataset of a sensor"),
        (lambda group: group["1"].attrs.modify("name", "encoder"), "measurements/1 is no dataset of a sensor"),
    ],
)
def test_damaged_samples_are_refused(change, message, swing, tmp_path):
    swing.save(tmp_path / "run.h5")
    damage(tmp_path / "run.h5", change)
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.read(tmp_path / "run.h5")
