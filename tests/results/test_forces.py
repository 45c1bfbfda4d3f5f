"""Forces of a run by name: arrays, tables, files, plots and the command, and the balance of energy that they make."""

import csv

import numpy as np
import pytest
import sympy
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app

MODEL = """
name: drive
bodies:
  wheel: {mass: 1, inertia: [0.1, 0.1, 0.2]}
  pinion: {mass: 0.5, inertia: [0.1, 0.1, 0.1]}
  arm: {mass: 1, center_of_mass: [0.3, 0, 0], inertia: [0.01, 0.02, 0.02]}
  wall: {mass: 1}
joints:
  shaft: {type: revolute, parent: world, child: wheel, axis: [0, 0, 1]}
  pin: {type: revolute, parent: world, child: pinion, axis: [0, 0, 1], position: [1, 0, 0]}
  hinge: {type: revolute, parent: wheel, child: arm, axis: [0, 1, 0], position: [0.2, 0, 0]}
  fixed: {type: weld, parent: world, child: wall}
forces:
  coil: {type: spring, body_a: world, point_a: [0, 0, 1], body_b: arm, point_b: [0.3, 0, 0], stiffness: 20, rest_length: 0.5}
  dashpot: {type: damper, body_a: world, point_a: [0, 1, 0], body_b: arm, point_b: [0.5, 0, 0], damping: 0.4}
  brake: {type: joint_damper, joint: pin, damping: 0.1}
  motor: {type: joint_force, joint: hinge, value: 0.3*sin(5*t)}
  wind: {type: force, body: arm, point: [0.5, 0, 0], vector: [0, 0.2*t, 0]}
  push: {type: force, body: wall, vector: [t, 0, 2]}
constraints:
  gear: {type: coupling, joint_a: shaft, joint_b: pin, ratio: -2}
  drive: {type: prescribed_coordinate, joint: shaft, value: t + t**2}
simulation: {scheme: gauss3, step: 0.01, duration: 1}
"""


@pytest.fixture(scope="module")
def run():
    return mbvi.simulate(mbvi.from_yaml(MODEL))


def test_powers_and_works_are_the_balance_of_energy(run):
    found = run.forces()
    assert list(found) == [
        "coil",
        "dashpot",
        "brake",
        "motor",
        "wind",
        "push",
        "gear",
        "drive",
        "shaft",
        "pin",
        "hinge",
        "fixed",
    ]
    elements = {name: each for name, each in found.items() if name not in run.system.model.joints}
    work = sum(each.work for each in elements.values() if each.energy is None)
    np.testing.assert_allclose(run.energy() - run.energy()[0], work, atol=1e-8)
    np.testing.assert_allclose(found["coil"].work, found["coil"].energy[0] - found["coil"].energy, atol=1e-8)
    assert np.ptp(run.energy()) > 0.1
    np.testing.assert_allclose(found["hinge"].power, found["motor"].power, atol=1e-14)
    assert found["push"].values[-1].tolist() == [1, 0, 2] and not found["push"].power.any()


def test_drives_and_couplings_by_name(run):
    """The drive turns the wheel, whose gear turns the pinion: Euler's law for the pinion, with its brake."""
    found = run.forces(["gear", "drive", "brake"])
    assert found["gear"].components == ("pin.angle", "shaft.angle") and found["gear"].units == ("N m", "N m")
    np.testing.assert_allclose(found["gear"].values[:, 1], 2 * found["gear"].values[:, 0], rtol=1e-12)
    alpha = -2 * 2.0
    expected = 0.1 * alpha - found["brake"].values[:, 0]
    np.testing.assert_allclose(found["gear"].values[:, 0], expected, rtol=1e-7)
    np.testing.assert_allclose(found["drive"].power, found["drive"].values[:, 0] * run.v[:, 0], rtol=1e-7)
    at = run.system.coordinate_names.index("pin.angle")
    np.testing.assert_allclose(
        run.coordinate_forces()[:, at], found["gear"].values[:, 0] + found["brake"].values[:, 0], rtol=1e-12
    )


def test_tables_files_and_pictures(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run.save("drive.h5")
    frame = mbvi.read("drive.h5").force_table(["coil", "wind", "gear"]).to_pandas()
    assert list(frame) == [
        *(
            "force.coil",
            "force.wind.x",
            "force.wind.y",
            "force.wind.z",
            "force.gear.pin.angle",
            "force.gear.shaft.angle",
        ),
        *("power.coil", "power.wind", "power.gear", "work.coil", "work.wind", "work.gear", "energy.coil"),
    ]
    np.testing.assert_allclose(frame["force.wind.y"], 0.2 * run.t, atol=1e-15)
    assert frame.attrs["units"]["force.gear.pin.angle"] == "N m"
    result = CliRunner().invoke(app, ["forces", "drive.h5", "--names", "coil,gear", "-o", "some.csv"])
    head, _, row, *_ = result.stdout.splitlines()
    assert head == "drive: 101 states from 0 s to 1 s" and row.split()[:2] == ["coil", "spring"]
    with open("some.csv", newline="") as file:
        first = next(csv.reader(file))
    assert first[:3] == ["t [s]", "force.coil [N]", "force.gear.pin.angle [N m]"]
    assert CliRunner().invoke(app, ["forces", "drive.h5", "-o", "some.png"]).exit_code == 0
    figure = run.plot("forces", "powers", "works", names=["wind"])
    assert [axes.get_ylabel() for axes in figure.axes] == ["force of wind [N]", "power [W]", "work since the start [J]"]


def test_what_is_wrong(run, tmp_path, monkeypatch):
    with pytest.raises(mbvi.ModelError) as caught:
        run.forces(["coill"])
    expected = "the name of what exerts a force"
    assert str(caught.value) == f"forces: expected {expected}, found 'coill'; did you mean 'coil'?"
    monkeypatch.chdir(tmp_path)
    run.save("drive.h5")
    result = CliRunner().invoke(app, ["forces", "drive.h5", "-o", "some.txt"])
    assert result.exit_code == 2
    assert result.stderr == "some.txt: expected a file that ends in .csv, .nc, .png, .svg or .pdf, found '.txt'\n"


def test_forces_of_the_user(run, models):
    def drag(t, q, v, F):
        F[0] -= 0.5 * v[0]

    pendulum = mbvi.load(models / "pendulum.yaml")
    slowed = mbvi.simulate(mbvi.assemble(pendulum, force=drag), step=0.01, duration=0.5)
    own = slowed.forces(["own force"])["own force"]
    np.testing.assert_allclose(own.values, -0.5 * slowed.v, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(slowed.coordinate_forces(), own.values, atol=0)
    x, z, u, w, t = sympy.symbols("x z u w t")
    options = {"velocities": [u, w], "forces": [-u, 0], "constraints": [x**2 + z**2 - 1 - t / 10], "time": t}
    bob = mbvi.from_sympy([x, z], sympy.eye(2), 9.81 * z, initial_q=[0, -1], initial_v=[1, -0.05], **options)
    motion = mbvi.simulate(bob, "gauss3", step=0.01, duration=0.5)
    found = motion.forces()
    assert list(found) == ["own force", "g0"]
    work = sum(each.work for each in found.values())
    np.testing.assert_allclose(motion.energy() - motion.energy()[0], work, atol=1e-8)
