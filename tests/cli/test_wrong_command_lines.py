"""Every command of the command line with files and options of all wrong kinds: one line on stderr, and a code that is not 0.

Commands and options are found in the command line itself, so that one that is added is called too.
"""

import itertools
import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app

MODEL = """
name: pendulum
parameters: {length: 1}
bodies: {bob: {mass: 1, center_of_mass: [0, 0, -length]}}
joints: {pivot: {type: revolute, parent: world, child: bob, axis: [0, 1, 0]}}
initial: {pivot: {position: 120 deg}}
simulation: {step: 0.05, duration: 0.2}
"""
FILES = {
    "folder": None,
    "empty.yaml": b"",
    "binary.yaml": bytes(range(256)),
    "name.yaml": b"name: a\n",
    "list.yaml": b"[1, 2]\n",
    "robot.urdf": b'<?xml version="1.0"?><robot name="r"><joint name="a"/></robot>',
    "text.h5": b"name: a\n",
    "cut.h5": b"\x89HDF\r\n\x1a\n",
    "empty.h5": b"",
    "folder.h5": None,
}
MISSING = ["missing.yaml", "missing.h5", "missing/file.h5", "", "\n", "a" * 300]
VALUES = [
    "",
    "nonsense",
    "-1",
    "0",
    "nan",
    "inf",
    "1e400",
    "1,,2",
    "0x10",
    "missing/folder/file",
    "folder",
    "\n",
    "9" * 400,
]
COMMAND = typer.main.get_command(app)
RIGHT = {("--threads", "9" * 400), ("--processes", "9" * 400)}  # as many as there are members are taken
NEEDED = {"ensemble": ["--over", "length=1:2:2"]}
FREE = {"schemes", "schema", "papers"}  # take no file


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with a model, a run, and what is neither."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.yaml").write_text(MODEL)
    mbvi.simulate(mbvi.load("model.yaml"), path="run.h5")
    for name, content in FILES.items():
        path = tmp_path / name
        path.mkdir() if content is None else path.write_bytes(content)
    return tmp_path


def fault(arguments):
    """What is wrong with how a command line is refused; None if it is refused rightly."""
    result = CliRunner().invoke(app, arguments)
    lines = result.stderr.strip().splitlines()
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"{arguments}: {type(result.exception).__name__}: {result.exception}"
    if result.exit_code == 0:
        return f"{arguments}: accepted"
    is_usage = any(line.startswith("Usage: ") for line in lines)  # of what typer refuses itself
    if not lines or (len(lines) > 1 and not is_usage) or "Traceback" in result.stderr:
        return f"{arguments}: code {result.exit_code}, {result.stderr!r}"
    return None


def options(command):
    """The options of a command that take a value."""
    return [each.opts[0] for each in command.params if each.param_type_name == "option" and not each.is_flag]


def first_file(name):
    """What a command works with."""
    takes_run = COMMAND.commands[name].params[0].metavar == "FILE"
    return "run.h5" if takes_run else "model.yaml"


@pytest.mark.parametrize("name", sorted(set(COMMAND.commands) - FREE))
def test_files_of_the_wrong_kind(name, folder):
    other = "model.yaml" if first_file(name) == "run.h5" else "run.h5"
    faults = [fault([name, path, *NEEDED.get(name, ())]) for path in [*FILES, *MISSING, other]]
    assert not any(faults), "\n".join(filter(None, faults))


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="needs a file that cannot be read")
@pytest.mark.parametrize("name", sorted(set(COMMAND.commands) - FREE))
def test_files_without_permission(name, folder):
    (folder / first_file(name)).chmod(0)
    assert fault([name, first_file(name), *NEEDED.get(name, ())]) is None


@pytest.mark.parametrize("name", sorted(set(COMMAND.commands) - FREE))
def test_wrong_values_of_options(name, folder):
    faults, command = [], COMMAND.commands[name]
    for number, (option, value) in enumerate(itertools.product(options(command), VALUES)):
        if (option, value) in RIGHT:
            continue
        given = {**dict([NEEDED[name]] if name in NEEDED else []), option: value}
        if "--out" in options(command) and option != "--out" and name != "run":
            given.setdefault("--out", f"{number}{'.png' if name in ('plot', 'compare', 'bench', 'graph') else '.h5'}")
        found = fault([name, first_file(name), *itertools.chain.from_iterable(given.items())])
        faults += [found] if found else []
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", ["nonsense", "", "model.yaml", "\n"])
def test_papers_that_there_are_not(name, folder):
    assert fault(["papers", "run", name]) is None


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe")
@pytest.mark.parametrize("arguments", [["schema"], ["schemes"], ["papers"], ["--help"], ["check", "model.yaml"]])
def test_a_closed_pipe_is_quiet(arguments, folder):
    line = [sys.executable, "-m", "mbvi", *arguments]
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(writer)
    assert (result.returncode in (1, 2), result.stderr) == (True, "")
