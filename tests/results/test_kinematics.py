"""The motion of frames in a run: against differences of their poses, in tables, files, plots and the command."""

import numpy as np
import pytest
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app

MODEL = """
name: spinner
bodies:
  top: {mass: 1, center_of_mass: [0, 0, 0.4], inertia: [0.02, 0.03, 0.01]}
  arm: {mass: 0.5, center_of_mass: [0.2, 0, 0], inertia: [0.01, 0.02, 0.02], frames: {tool: {position: [0.5, 0.1, 0]}}}
joints:
  contact: {type: ball, parent: world, child: top}
  hinge: {type: revolute, parent: top, child: arm, axis: [1, 1, 0], position: [0, 0, 0.5], orientation: [0.3, 0, 0.2]}
initial: {contact: {velocity: [1, 0.5, 8]}, hinge: {velocity: 2}}
simulation: {scheme: gauss4, step: 1/1000, duration: 0.05}
"""


@pytest.fixture(scope="module")
def run():
    return mbvi.simulate(mbvi.from_yaml(MODEL))


def rate(values, step):
    """Rates by differences of order 4, inside."""
    return (8 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / (12 * step)


def test_against_differences(run):
    table = run.kinematics(["tool", "top"])
    assert table.labels["frame"] == ("arm.tool", "top")
    for i, name in enumerate(table.labels["frame"]):
        place, rotation = run.pose(name)
        np.testing.assert_allclose(table["place"][:, i], place, atol=1e-14)
        np.testing.assert_allclose(table["velocity"][2:-2, i], rate(place, run.step), atol=1e-6)
        turn = rate(rotation, run.step) @ rotation[2:-2].transpose(0, 2, 1)
        omega = np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], axis=1)
        np.testing.assert_allclose(table["angular_velocity"][2:-2, i], omega, atol=1e-5)
        for of, value in (("velocity", "acceleration"), ("angular_velocity", "angular_acceleration")):
            found, size = table[value][2:-2, i], np.abs(table[value]).max()
            np.testing.assert_allclose(found, rate(table[of][:, i], run.step), atol=1e-6 * max(size, 1.0))


def test_tables_files_and_pictures(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run.save("spinner.h5")
    data = run.kinematics(["tool"]).to_xarray()
    assert data.velocity.sel(frame="arm.tool", axis="x").dims == ("t",) and data.velocity.units == "m/s"
    result = CliRunner().invoke(app, ["kinematics", "spinner.h5", "--frame", "tool", "-o", "tool.csv"])
    head, _, row, *_ = result.stdout.splitlines()
    assert head == "spinner: 51 states from 0 s to 0.05 s" and row.split()[0] == "place.arm.tool.x"
    assert (tmp_path / "tool.csv").read_text().startswith("t [s],place.arm.tool.x [m],")
    assert CliRunner().invoke(app, ["kinematics", "spinner.h5", "--frame", "tool", "-o", "tool.png"]).exit_code == 0
    labels = [axes.get_ylabel() for axes in run.plot("speeds", names=["tool", "top"]).axes]
    assert labels == ["velocity [m/s]", "angular velocity [rad/s]"]


def test_what_is_wrong(run):
    with pytest.raises(mbvi.ModelError) as caught:
        run.kinematics(["arm.toll"])
    expected = "a body, BODY.FRAME, or a frame that one body has"
    assert str(caught.value) == f"frames: expected {expected}, found 'arm.toll'; did you mean 'arm.tool'?"
    with pytest.raises(mbvi.ModelError, match="found 'toll'; did you mean 'tool'"):
        run.kinematics(["toll"])
    with pytest.raises(mbvi.ModelError) as caught:
        run.plot("speeds")
    assert str(caught.value) == "names: expected one or more frames, found none; name bodies, or BODY.FRAME"
    with pytest.raises(mbvi.ModelError) as caught:
        _ = run.kinematics(["arm"])["speed"]
    assert str(caught.value).startswith("table: expected one of its quantities, found 'speed'")
