"""The command line: exit codes, messages, files, and how long it takes to start."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import trimesh
import yaml
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from tests.folders import MODELS, load
from tests.marks import campaign

PENDULUM = """
name: pendulum
parameters: {length: 1}
bodies:
  bob: {mass: 1, center_of_mass: [0, 0, -length]}
joints:
  pivot: {type: revolute, parent: world, child: bob, axis: [0, 1, 0]}
initial:
  pivot: {position: 120 deg}
"""

SPRING = """
name: spring
gravity: [0, 0, 0]
bodies:
  load: {mass: 1}
joints:
  rail: {type: prismatic, parent: world, child: load, axis: [1, 0, 0]}
forces:
  coil: {type: joint_spring, joint: rail, stiffness: 10}
initial:
  rail: {position: 0.1}
simulation: {step: 0.01, duration: 1}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with a model in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def command(*arguments, **keys):
    """Run mbvi in a process of its own."""
    line = [sys.executable, "-c", "from mbvi.cli import main; main()", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, **keys)


# ------------------------------------------------------------------------------------------------- run


def test_run_writes_the_trajectory_and_reports(folder):
    result = call("run", "pendulum.yaml")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.startswith("pendulum\n\nsystem        1 degree of freedom, 1 coordinate, no constraints\n")
    assert result.stdout.splitlines()[-1].startswith("1001 states written to pendulum.h5 (")
    assert sorted(os.listdir()) == ["pendulum.h5", "pendulum.yaml"]
    expected = mbvi.simulate(mbvi.load("pendulum.yaml"))
    assert mbvi.read("pendulum.h5").q.tobytes() == expected.q.tobytes()


def test_iterations_of_methods_that_have_none(folder):
    (folder / "spring.yaml").write_text(SPRING)
    for scheme in ("newmark", "simpson"):
        result = call("run", "spring.yaml", "--scheme", scheme, "--force")
        assert result.exit_code == 0, result.stderr
        assert ("iterations" in result.stdout) == (scheme == "simpson")


def test_run_options_override_the_model(folder):
    options = ["--scheme", "gauss2", "--step", "1/120", "--duration", "2*length", "--every", "2", "--out", "other.h5"]
    assert call("run", "pendulum.yaml", *options).exit_code == 0
    trajectory = mbvi.read("other.h5")
    assert trajectory.scheme.name == "gauss2"
    assert (trajectory.step, trajectory.every, len(trajectory)) == (1 / 120, 2, 121)
    assert trajectory.t[-1] == pytest.approx(2.0)
    assert not os.path.exists("pendulum.h5")


def test_run_never_overwrites_unasked(folder):
    (folder / "pendulum.h5").write_text("precious")
    result = call("run", "pendulum.yaml")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        "pendulum.h5: expected a new file, found one that exists; choose another name, or overwrite it by force=True "
        "(--force)\n"
    )
    assert (folder / "pendulum.h5").read_text() == "precious"
    assert call("run", "pendulum.yaml", "--force").exit_code == 0
    assert len(mbvi.read("pendulum.h5")) == 1001


@pytest.mark.parametrize(
    ("arguments", "endings"),
    [
        (["run", "-o"], ".h5, .hdf5 or .nc"),
        (["ensemble", "--over", "length=1,2", "-o"], ".h5, .hdf5 or .nc"),
        (["bench", "--json"], ".json"),
    ],
)
def test_no_model_is_overwritten_by_what_it_gives(arguments, endings, folder):
    name, *options = arguments
    result = call(name, "pendulum.yaml", "--force", *options, "pendulum.yaml")
    expected = f"pendulum.yaml: expected a file that ends in {endings}, found '.yaml'\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", expected)
    assert (folder / "pendulum.yaml").read_text() == PENDULUM


def test_run_says_before_the_run_that_it_cannot_write(folder, monkeypatch):
    monkeypatch.setattr("mbvi.simulation.simulate", lambda *args, **keys: pytest.fail("it ran"))
    monkeypatch.setitem(mbvi.__dict__, "simulate", lambda *args, **keys: pytest.fail("it ran"))
    result = call("run", "pendulum.yaml", "--out", "nowhere/a.h5")
    assert result.exit_code == 2
    assert result.stderr == "nowhere/a.h5: expected a file in a folder, found no folder 'nowhere'; make it first\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.yaml"], "missing.yaml: expected a model file, found no such file; check the path"),
        (["."], ".: expected a model file, found a folder"),
        (
            ["broken.yaml"],
            "broken.yaml:6: joints.pivot.axis: expected a non-zero 3-vector, found [0, 0, 0]; write for example",
        ),
        (
            ["pendulum.yaml", "--scheme", "simpso"],
            "scheme: expected the name of a scheme, found 'simpso'; did you mean 'simpson'?",
        ),
        (["pendulum.yaml", "--step", "1/0"], "--step: expected a finite number, found a division by zero in '1/0'"),
        (["pendulum.yaml", "--step", "1 deg"], "--step: expected a value in s, found '1 deg', which is in rad; "),
        (
            ["pendulum.yaml", "--step", "-1"],
            "step: expected a time greater than 0, found -1.0; write for example 0.01 [s]",
        ),
        (["pendulum.yaml", "--every", "0"], "--every: expected a whole number of at least 1, found 0\n"),
        (["pendulum.yaml", "--every", "x"], "--every: expected a whole number of at least 1, found 'x'\n"),
        (["pendulum.yaml", "--every", "1.5"], "--every: expected a whole number of at least 1, found '1.5'\n"),
        (["pendulum.yaml", "--duration", "__import__('os')"], "--duration: expected "),
        (
            ["pendulum.yaml", "--store", ""],
            "--store: expected a list with commas, found ''; leave the option out for the default\n",
        ),
        (["pendulum.yaml", "--store", ",,"], "--store: expected a list with commas, found ',,'; "),
        (
            ["pendulum.yaml", "--step", "1e-12"],
            "every: expected a file of at most ",
        ),
    ],
)
def test_what_a_user_can_mend_is_one_line_and_exit_code_2(arguments, message, folder):
    (folder / "broken.yaml").write_text(PENDULUM.lstrip().replace("[0, 1, 0]", "[0, 0, 0]"))
    result = call("run", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert not list(folder.glob("*.h5"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["ensemble", "--over", "length=1:2:2", "--every", "x"],
            "--every: expected a whole number of at least 1, found 'x'",
        ),
        (
            ["ensemble", "--over", "length=1:2:2", "--threads", "0"],
            "--threads: expected a whole number of at least 1, found 0",
        ),
        (
            ["ensemble", "--over", "length=1:2:2", "--processes", ""],
            "--processes: expected a whole number of at least 1, ",
        ),
        (["animate", "--rate", "x"], "--rate: expected a whole number of at least 1, found 'x'"),
        (["bench", "--error", "x"], "--error: expected "),
        (["bench", "--error", "1 deg"], "--error: expected a value in m, found '1 deg', which is in rad; "),
        (["bench", "--error", "0"], "--error: expected a number greater than 0, found 0"),
        (["bench", "--time", "1e400"], "--time: expected a finite number"),
    ],
)
def test_numbers_of_options_are_reported_as_others(arguments, message, folder):
    result = call(arguments[0], "pendulum.yaml", *arguments[1:])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1


def test_wrong_options_are_exit_code_2(folder):
    assert call("run").stderr.startswith(
        "MODEL: expected a model file, found none; write mbvi run MODEL, or mbvi run --resume"
    )
    for arguments in (["run"], ["run", "pendulum.yaml", "--every", "x"], ["fly"], ["run", "pendulum.yaml", "--fast"]):
        result = call(*arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.stderr


def test_a_failed_step_is_exit_code_3_and_keeps_what_there_is(folder):
    result = call("run", "pendulum.yaml", "--step", "3", "--duration", "3000")
    assert result.exit_code == 3
    assert result.stdout == ""
    failure, doubt = result.stderr.splitlines()
    assert failure.startswith("step ")
    assert "The stored states before it are in pendulum.h5. A smaller step may help: try step=1.5." in failure
    assert doubt.startswith("from t = 0 s on the energy is off its level by ")
    done = int(result.stderr.split()[1])
    trajectory = mbvi.read("pendulum.h5")
    assert len(trajectory) == done + 1
    assert np.all(np.isfinite(trajectory.q))


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_control_c_is_exit_code_130_and_one_line(folder):
    line = [
        sys.executable,
        "-c",
        "from mbvi.cli import main; main()",
        "run",
        "pendulum.yaml",
        "--step",
        "1e-7",
        "--every",
        "100",
    ]
    options = {
        "text": True,
        "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    }  # ignored in the background
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    while not os.path.exists("pendulum.h5") and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    kept = mbvi.read("pendulum.h5")
    assert (process.returncode, out, err) == (
        130,
        "",
        f"interrupted; {len(kept)} states until t = {kept.t[-1]:.6g} s are in pendulum.h5; go on by: mbvi run --resume "
        "pendulum.h5\n",
    )
    assert sorted(os.listdir()) == ["pendulum.h5", "pendulum.yaml"]


def test_an_interruption_before_the_first_state(folder, monkeypatch):
    def interrupted(*args, **keys):
        raise KeyboardInterrupt

    monkeypatch.setitem(mbvi.__dict__, "simulate", interrupted)
    result = call("run", "pendulum.yaml")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted; nothing was written\n")
    assert os.listdir() == ["pendulum.yaml"]


def test_run_goes_on_from_a_file(folder):
    assert call("run", "pendulum.yaml", "--out", "whole.h5").exit_code == 0
    assert call("run", "pendulum.yaml", "--duration", "4").exit_code == 0
    result = call("run", "--resume", "pendulum.h5")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "pendulum.h5: expected less than 400 steps done, found 400 steps; give a longer duration (--duration)\n"
    )
    same = ["pendulum.yaml", "--scheme", "simpson", "--step", "1/100", "--every", "1"]
    result = call("run", *same, "--resume", "pendulum.h5", "--duration", "10*length")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1].startswith("1001 states written to pendulum.h5 (")
    whole, resumed = mbvi.read("whole.h5"), mbvi.read("pendulum.h5")
    assert resumed.q.tobytes() == whole.q.tobytes() and resumed.p.tobytes() == whole.p.tobytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--scheme", "midpoint"],
            "--scheme: expected that of pendulum.h5, simpson, found midpoint; leave it out, or start a new run ",
        ),
        (
            ["--step", "0.02"],
            "--step: expected that of pendulum.h5, 0.01, found 0.02; leave it out, or start a new run without ",
        ),
        (
            ["--every", "2"],
            "--every: expected that of pendulum.h5, 1, found 2; leave it out, or start a new run without --resume",
        ),
        (["--out", "b.h5"], "--out: expected no such option with --resume; leave it out\n"),
        (["--force"], "--force: expected no such option with --resume; leave it out\n"),
        (
            ["--formulation", "embedding"],
            "--formulation: expected a model with it, found none; leave it out, the file has",
        ),
        (
            ["pendulum.yaml", "--formulation", "embedding"],
            "pendulum.h5: system: expected the coordinates pivot.angle, found",
        ),
        (
            ["heavy.yaml"],
            "pendulum.h5: system: expected the file's model 'pendulum', found 'pendulum' with other bodies; ",
        ),
    ],
)
def test_what_does_not_fit_the_file_is_refused(arguments, message, folder):
    (folder / "heavy.yaml").write_text(PENDULUM.lstrip().replace("mass: 1", "mass: 3"))
    assert call("run", "pendulum.yaml", "--duration", "1").exit_code == 0
    result = call("run", "--resume", "pendulum.h5", "--duration", "2", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(message) and result.stderr.count("\n") == 1
    assert len(mbvi.read("pendulum.h5")) == 101


# ---------------------------------------------------------------------------------------------- export


def test_export(folder):
    assert call("run", "pendulum.yaml", "--duration", "1").exit_code == 0
    result = call("export", "pendulum.h5")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("101 states written to pendulum.csv (")
    header = (folder / "pendulum.csv").read_text().splitlines()[0]
    assert header.startswith("t [s],q.pivot.angle [rad],v.pivot.angle [rad/s],p.pivot.angle [J s/rad],energy [J],")
    assert call("export", "pendulum.h5", "-o", "a.nc").exit_code == 0
    for arguments, message in [
        (
            ["pendulum.h5"],
            "pendulum.csv: expected a new file, found one that exists; choose another name, or overwrite it",
        ),
        (["pendulum.h5", "-o", "a.xls"], "a.xls: expected a file that ends in .csv or .nc, found '.xls'\n"),
        (["pendulum.h5", "-o", "csv"], "csv: expected a file that ends in .csv or .nc, found no ending\n"),
        (["pendulum.yaml"], "pendulum.yaml: expected a trajectory file, found a file that is not HDF5\n"),
    ]:
        result = call("export", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(message)


def on_a_terminal(code, *arguments, **environment):
    """The exit code of a Python program, its stdout, and what it shows on a stderr that is a terminal."""
    import pty

    main, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "MBVI_QUIET": ""} | environment
    line = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=terminal, env=environment)
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # which a closed terminal reads as
        while part := os.read(main, 4096):
            shown += part
    out, _ = process.communicate(timeout=60)
    os.close(main)
    return process.returncode, out, shown


COMMAND_LINE = "from mbvi.cli import main; main()"


def test_the_progress_bar_is_for_terminals(folder):
    code, out, shown = on_a_terminal(COMMAND_LINE, "run", "pendulum.yaml", "--force")
    assert code == 0
    assert b"1000/1000" in shown and b"pendulum" in shown
    assert shown.index(b"starting") < shown.index(b"pendulum")
    assert b"\x1b" not in out
    result = command("run", "pendulum.yaml", "--force")
    assert result.stderr == "" and "\x1b" not in result.stdout


def test_who_waits_for_a_first_run_sees_what_is_compiled_and_where_it_is_kept(tmp_path):
    program = (
        "from mbvi.cli.progress import begin_progress; begin_progress(); import numpy; "
        "from mbvi.system.poses import unit_quaternions; "
        "print(unit_quaternions(numpy.eye(3)[None]))"
    )
    code, out, shown = on_a_terminal(program, NUMBA_CACHE_DIR=str(tmp_path))
    assert (code, out) == (0, b"[[1. 0. 0. 0.]]\n")
    assert b"compiling fill_quaternions" in shown
    assert shown.count(b"mbvi compiles its kernels for this processor, once; they are kept in") == 1


def test_the_line_of_progress_stands_before_large_packages_are_imported():
    program = "import sys; from mbvi.cli.progress import begin_progress; begin_progress(); print(*sys.modules)"
    code, out, shown = on_a_terminal(program)
    assert code == 0 and b"starting" in shown
    assert not {b"numba", b"numpy", b"pydantic"} & set(out.split())


def test_an_error_takes_the_line_of_progress_away(folder):
    code, out, shown = on_a_terminal(COMMAND_LINE, "run", "pendulumm.yaml")
    assert (code, out) == (2, b"")
    after = shown[shown.rindex(b"starting") :]
    assert after.index(b"\x1b[2K") < after.index(b"pendulumm.yaml: expected ")


def test_run_in_another_formulation(folder):
    result = call("run", "pendulum.yaml", "--formulation", "embedding", "--duration", "1")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[2] == "system        1 degree of freedom, 7 coordinates, 6 constraints"
    trajectory = mbvi.read("pendulum.h5")
    assert trajectory.system.model.formulation == "embedding"
    expected = mbvi.simulate(mbvi.load("pendulum.yaml"), duration=1, step=0.01)
    np.testing.assert_allclose(trajectory.pose("bob")[1], expected.pose("bob")[1], rtol=0, atol=1e-6)
    result = call("run", "pendulum.yaml", "--formulation", "embeding", "--force")
    expected = "formulation: expected tree or embedding, found 'embeding'\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", expected)


def test_run_says_that_the_start_was_moved_or_refuses_it(folder, models):
    result = call("run", models / "four_bar.yaml", "--duration", "0.1")
    assert result.exit_code == 0
    assert "\nstart         moved onto the constraints from what is given:\n" in result.stdout
    result = call("run", models / "four_bar.yaml", "--duration", "0.1", "--no-project", "--force")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "expected a position on the constraints, found |g| = 0.00515, largest of rocker pin" in result.stderr
    result = call("run", models / "slider_crank.yaml", "--duration", "0.1", "--no-project")
    assert result.exit_code == 0
    assert "\nstart" not in result.stdout


# ----------------------------------------------------------------------------------------------- check


def test_check_in_another_formulation(folder):
    result = call("check", "pendulum.yaml", "--formulation", "embedding")
    assert result.exit_code == 0
    assert "\n  `-- pivot: revolute (5 constraints) -> bob\n" in result.stdout
    assert "\n  1 degree of freedom, 7 coordinates, 6 constraints\n" in result.stdout
    assert call("check", "pendulum.yaml", "--formulation", "embeding").exit_code == 2


def test_check_finds_a_length_that_vanishes_in_the_run(folder):
    text = (
        PENDULUM
        + "constraints: {rod: {type: distance, body_a: world, body_b: bob, point_a: [1, 0, 0], length: 5 - t}}\n"
    )
    (folder / "rod.yaml").write_text(text)
    result = call("check", "rod.yaml")
    assert result.exit_code == 2
    assert result.stderr == (
        "constraints.rod.length: expected a length greater than 0 all the time, found 0 at t = 5 s; end the run before, or "
        "change the function\n"
    )


def test_check_describes(folder):
    result = call("check", "pendulum.yaml")
    assert result.exit_code == 0
    assert "\n  `-- pivot: revolute (angle) -> bob\n" in result.stdout
    assert "\n  pivot.angle  rad         2.0944                  0\n" in result.stdout
    assert "\nOdd\n" not in result.stdout
    assert os.listdir() == ["pendulum.yaml"]


def test_check_finds_a_singular_start(folder):
    text = PENDULUM.replace("[0, 1, 0]}", "[0, 1, 0]}").replace("type: revolute", "type: ball, coordinates: zxz")
    text = (
        text.replace(", axis: [0, 1, 0]", "")
        .replace("120 deg", "[0, 0, 0]")
        .replace("mass: 1,", "mass: 1, inertia: [1, 1, 1],")
    )
    (folder / "lock.yaml").write_text(text)
    result = call("check", "lock.yaml")
    assert result.exit_code == 2
    assert result.stderr == (
        "joints.pivot: expected a regular mass matrix at the start, found a singular one, along pivot.phi and "
        "pivot.psi; this is gimbal lock; write coordinates: quaternion, or another sequence of Euler angles\n"
    )


def test_check_finds_an_unknown_scheme(folder):
    (folder / "simson.yaml").write_text(PENDULUM + "simulation: {scheme: simson}\n")
    result = call("check", "simson.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    line = PENDULUM.count("\n") + 1
    assert result.stderr == (
        f"simson.yaml:{line}: simulation.scheme: expected the name of a scheme, found 'simson'; did you mean 'simpson'?\n"
    )


def test_check_refuses_more_steps_than_can_be_counted(folder):
    (folder / "fine.yaml").write_text(PENDULUM + "simulation: {step: 1e-300, duration: 1e300}\n")
    result = call("check", "fine.yaml")
    assert result.exit_code == 2
    assert result.stderr == (
        "fine.yaml:10: simulation.step: expected at most 1e15 steps, found steps of 1e-300 s for 1e+300 s; a larger step "
        "or a shorter duration\n"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_output_that_cannot_be_written_is_one_line(folder):
    line = [sys.executable, "-c", "from mbvi.cli import main; main()", "check", "pendulum.yaml"]
    with open("/dev/full", "w") as full:
        result = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    expected = "standard output: expected a file that can be written, found no space left on device\n"
    assert (result.returncode, result.stderr) == (2, expected)


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe")
def test_a_closed_pipe_is_quiet(folder):
    line = [sys.executable, "-c", "from mbvi.cli import main; main()", "check", "pendulum.yaml"]
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(writer)
    assert result.returncode in (1, 2) and result.stderr == ""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=campaign if each == "rope_1000" else ())
        for each in sorted(p.stem for p in MODELS.glob("*.yaml"))
    ],
)
def test_all_models_check_and_run(name, folder):
    """For a few steps; the gallery of the documentation runs all to their ends."""
    path, model = MODELS / f"{name}.yaml", load(name)
    assert call("check", path).exit_code == 0
    result = call("run", path, "--duration", str(3 * model.resolved().simulation.step))
    assert result.exit_code == 0, result.stderr
    assert mbvi.read(f"{name}.h5").system.name == model.name


# -------------------------------------------------------------------------------------------- the rest


def test_schemes():
    result = call("schemes")
    assert result.exit_code == 0
    assert "simpson                   4         1  yes        [2]     parabolas, Simpson's rule" in result.stdout


def test_schema_checks_models(models):
    result = call("schema")
    assert result.exit_code == 0
    schema = json.loads(result.stdout)
    assert schema == mbvi.model.schema()
    data = yaml.safe_load((models / "lagrange_top.yaml").read_text())
    jsonschema.validate(data, schema)
    data["bodies"]["top"]["colour"] = "red"
    with pytest.raises(jsonschema.ValidationError, match="colour"):
        jsonschema.validate(data, schema)


def test_version_and_help():
    assert call("--version").stdout == f"mbvi {mbvi.__version__}\n"
    result = call("--help")
    assert result.exit_code == 0
    for name in ("run", "check", "export", "schemes", "schema", "animate", "view"):
        assert f"\n  {name} " in result.stdout
    assert "--formulation" in call("check", "--help").stdout
    assert "--no-project" in call("run", "--help").stdout


def test_nothing_heavy_is_imported_for_light_work(folder):
    code = "import sys, mbvi{}; print([n for n in {!r} if n in sys.modules])"
    heavy = ["numba", "numpy", "pydantic", "networkx", "trimesh", "sympy", "h5py", "rich", "typer", "scipy"]

    def imported(after, names):
        result = subprocess.run([sys.executable, "-c", code.format(after, names)], capture_output=True, text=True)
        return result.stdout.splitlines()[-1]

    assert imported("", heavy) == "[]"
    assert imported(".cli", heavy) == "['typer']"
    on_run = ".cli; mbvi.cli.app(['run', 'pendulum.yaml'], standalone_mode=False)"
    assert imported(on_run, ["trimesh", "sympy", "rich.progress", "matplotlib", "scipy.spatial"]) == "[]"


def test_exit_codes_of_the_process(folder):
    result = command("run", "pendulum.yaml", "--duration", "0.1")
    assert (result.returncode, result.stderr) == (0, "")
    result = command("check", "missing.yaml")
    expected = "missing.yaml: expected a model file, found no such file; check the path\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, "", expected)
    long = "a" * 300
    for arguments, expected in (
        (["check", long], f"{long}: expected a readable file, found file name too long\n"),
        (["export", long], f"{long}: expected a trajectory file, found file name too long\n"),
    ):
        result = command(*arguments)
        assert (result.returncode, result.stdout, result.stderr) == (2, "", expected)
    assert command("--version").stdout == f"mbvi {mbvi.__version__}\n"


def test_the_package_is_the_command_too():
    line = [sys.executable, "-m", "mbvi", "--version"]
    result = subprocess.run(line, capture_output=True, text=True, timeout=300, check=True)
    assert result.stdout == f"mbvi {mbvi.__version__}\n"


def test_public_names_are_listed_once():
    assert len(dir(mbvi)) == len(set(dir(mbvi)))


# ------------------------------------------------------------------------------------------ animate, view


@pytest.fixture
def run_file(folder):
    mbvi.simulate(mbvi.load("pendulum.yaml"), step=0.01, duration=0.1).save("pendulum.h5")


def test_animate_writes_a_page_and_says_so(run_file):
    result = call("animate", "pendulum.h5")
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.fullmatch(r"pendulum.html written \(\d+ kB\): real time\n", result.stdout)
    result = call("animate", "pendulum.h5", "-o", "slow.glb", "--speed", "1/4", "--trail", "bob")
    assert re.fullmatch(r"slow.glb written \(\d+(\.\d+)? kB\): 0.25 × real time\n", result.stdout)


def test_animate_simplifies_large_meshes_and_says_so(folder, monkeypatch):
    monkeypatch.setattr("mbvi.animation.animate.MOST_SHOWN", 2000)
    trimesh.creation.icosphere(4).export(folder / "box.stl")  # of 5120 triangles
    joint = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    bob = mbvi.Body(mass=1, center_of_mass=(1, 0, 0), shapes=[mbvi.Mesh(file="box.stl")])
    model = mbvi.Model(name="box", bodies={"bob": bob}, joints={"pivot": joint})
    mbvi.simulate(model, step=0.01, duration=0.1).save("box.h5")
    said = "\nits meshes, of 5120 triangles, are simplified to about {}: --triangles all shows them as they are\n"
    assert call("animate", "box.h5", "-o", "some.glb").stdout.endswith(said.format(2000))
    assert call("animate", "box.h5", "-o", "few.glb", "--triangles", "1000").stdout.endswith(said.format(1000))
    for given in ("all", "5120"):
        assert call("animate", "box.h5", "-o", f"{given}.glb", "--triangles", given).stdout.endswith("real time\n")
    size = {name: (folder / f"{name}.glb").stat().st_size for name in ("few", "some", "all", "5120")}
    assert 2 * size["few"] < 1.5 * size["some"] < size["all"] == size["5120"]
    for given in ("0", "most", "1.5"):
        expected = f"--triangles: expected a whole number from 1 to 4294967296, or all, found {given!r}"
        assert expected.replace("'", "") in call(
            "animate", "box.h5", "-o", "b.glb", "--triangles", given
        ).stderr.replace("'", "")


def test_animate_says_how_fast_spins_are_shown(folder):
    trajectory = mbvi.simulate(mbvi.load("pendulum.yaml"), step=0.001, duration=0.01, initial_q=[0], initial_v=[500])
    trajectory.save("fast.h5")
    result = call("animate", "fast.h5", "-o", "a.glb")
    assert "0.25 × real time, which shows how 'bob' turns: by 119° from picture to picture\n" in result.stdout
    result = call("animate", "fast.h5", "-o", "b.glb", "--speed", "1")
    expected = "real time; 'bob' turns by 477° from picture to picture: --speed 0.25 shows how it turns\n"
    assert result.stdout.endswith(expected)
    result = call("animate", "fast.h5", "-o", "c.glb", "--speed", "1e300")
    assert "1e+300 × real time; 'bob' turns by 4.77e+302° from picture to picture" in result.stdout


def test_view_opens_the_page(run_file, monkeypatch):
    opened = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    result = call("view", "pendulum.h5")
    assert result.exit_code == 0
    path = Path(result.stdout.split(" written")[0])
    assert opened == [path.as_uri()] and "<title>pendulum</title>" in path.read_text(encoding="utf-8")


def test_view_says_where_the_page_is_if_no_browser_can_be_opened(run_file, monkeypatch):
    """Where there is none, and without a display, where one that shows text might open."""
    monkeypatch.setattr("sys.platform", "linux")
    for display, opens in ((":0", lambda url: False), ("", lambda url: pytest.fail("opened"))):
        monkeypatch.setattr("webbrowser.open", opens)
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("DISPLAY", display)
        result = call("view", "pendulum.h5")
        path = Path(result.stdout.split(" written")[0])
        assert (result.exit_code, result.stderr) == (0, "") and path.is_file()
        where = f"open {path.as_uri()} in one, or take the file to where there is one\n"
        assert result.stdout.endswith(f"\nno browser could be opened here; {where}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.h5"], "nope.h5: expected a trajectory file, found no such file; check the path\n"),
        (["pendulum.yaml"], "pendulum.yaml: expected a trajectory file, found a file that is not HDF5\n"),
        (["cut.h5"], "cut.h5: expected a trajectory file, found a truncated one; copy it again\n"),
        (
            ["pendulum.h5", "-o", "a.avi"],
            "a.avi: expected a file that ends in .gif, .glb, .html or .mp4, found '.avi'\n",
        ),
        (["pendulum.h5", "-o", "a"], "a: expected a file that ends in .gif, .glb, .html or .mp4, found no ending\n"),
        (
            ["pendulum.h5", "-o", "there.glb"],
            "there.glb: expected a new file, found one that exists; choose another name, ",
        ),
        (
            ["pendulum.h5", "-o", "no/a.glb"],
            "no/a.glb: expected a file in a folder, found no folder 'no'; make it first\n",
        ),
        (["pendulum.h5", "--trail", "bub"], "trail: expected the name of a body, found 'bub'; did you mean 'bob'?\n"),
        (["pendulum.h5", "--speed", "x"], "--speed: expected a parameter or a constant, found 'x' in 'x'; "),
        (["pendulum.h5", "--speed", "30 deg"], "--speed: expected no unit, found '30 deg', which is in rad; a number"),
        (["pendulum.h5", "--speed", "0"], "speed: expected simulated seconds per second, greater than 0, found 0\n"),
    ],
)
def test_animate_refuses_in_one_line(arguments, message, run_file, folder):
    (folder / "cut.h5").write_bytes((folder / "pendulum.h5").read_bytes()[:9000])
    (folder / "there.glb").write_text("precious")
    before = sorted(os.listdir())
    result = call("animate", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(message) and result.stderr.count("\n") == 1
    assert sorted(os.listdir()) == before and (folder / "there.glb").read_text() == "precious"


@pytest.mark.parametrize(("suffix", "library"), [("glb", "pygltflib"), ("mp4", "imageio_ffmpeg")])
def test_a_missing_library_names_its_extra(suffix, library, run_file, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    result = call("animate", "pendulum.h5", "-o", f"a.{suffix}")
    assert result.exit_code == 2
    assert f"expected {library} for a " in result.stderr and "pip install 'mbvi[viz]'\n" in result.stderr


def test_warnings_say_no_line_of_the_package():
    program = (
        "import warnings, mbvi.cli.application as cli; cli.app = lambda prog_name: warnings.warn('odd'); cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "odd\n")
