"""`mbvi plot`, `mbvi compare` and `mbvi graph`: files, messages and exit codes."""

import os
import sys

import pytest
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app


@pytest.fixture
def folder(tmp_path, monkeypatch, models):
    """A working directory with a model and a run of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.yaml").write_text((models / "double_pendulum.yaml").read_text())
    mbvi.simulate(mbvi.load("pendulum.yaml"), duration=2).save("pendulum.h5")
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_plot_writes_a_picture(folder):
    result = call("plot", "pendulum.h5")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "written to pendulum.png\n", "")
    assert (folder / "pendulum.png").read_bytes().startswith(b"\x89PNG")
    result = call("plot", "pendulum.h5", "--what", "phase,energy", "--names", "elbow", "-o", "a.pdf")
    assert (result.exit_code, result.stdout) == (0, "written to a.pdf\n")
    assert (folder / "a.pdf").read_bytes().startswith(b"%PDF")
    assert call("plot", "pendulum.h5", "--section", "elbow.angle=0", "-o", "a.svg").exit_code == 0


def test_graph_writes_a_picture(folder):
    result = call("graph", "pendulum.yaml")
    assert (result.exit_code, result.stdout) == (0, "written to pendulum.svg\n")
    assert call("graph", "pendulum.yaml", "--out", "graph.png").exit_code == 0


def test_compare_prints_a_table_and_writes_a_picture(folder):
    arguments = [
        "compare",
        "pendulum.yaml",
        "--schemes",
        "midpoint, simpson",
        "--steps",
        "1/50,0.01",
        "--duration",
        "1",
    ]
    result = call(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("double pendulum\n\nscheme ")
    assert "\nsimpson   order 4, measured " in result.stdout
    result = call(*arguments, "-o", "orders.svg")
    assert result.stdout.endswith("\n\nwritten to orders.svg\n")
    assert (folder / "orders.svg").exists()


@pytest.mark.parametrize(
    "arguments", [["plot", "pendulum.h5"], ["graph", "pendulum.yaml"], ["compare", "pendulum.yaml", "-o", "a.png"]]
)
def test_a_missing_library_is_reported_at_once(folder, monkeypatch, arguments):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = call(*arguments)
    message = "figures: expected matplotlib, found none; install it with: pip install 'mbvi[viz]'\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plot", "missing.h5"], "missing.h5: expected a trajectory file, found no such file; check the path"),
        (["plot", "text.h5"], "text.h5: expected a trajectory file, found a file that is not HDF5"),
        (["plot", "cut.h5"], "cut.h5: expected a trajectory file, found a truncated one; copy it again"),
        (["plot", "pendulum.h5", "-o", "a.gif"], "a.gif: expected one of the suffixes .png, .svg, .pdf, found '.gif'"),
        (["plot", "pendulum.h5", "-o", "taken.png"], "taken.png: expected a new file, found one that exists; choose"),
        (
            ["plot", "pendulum.h5", "-o", "no/a.png"],
            "no/a.png: expected a file in a folder, found no folder 'no'; make",
        ),
        (["plot", "pendulum.h5", "--what", "energie"], "what: expected a quantity, found 'energie'; did you mean"),
        (
            ["plot", "pendulum.h5", "--names", "wrist"],
            "names: expected names of what is drawn, found 'wrist'; known: sh",
        ),
        (["graph", "pendulum.h5"], "pendulum.h5"),
        (["compare", "pendulum.yaml", "--steps", "0.01,x"], "--steps: "),
        (["compare", "pendulum.yaml", "--steps", ","], "--steps: expected a list with commas, found ','; leave the"),
        (["plot", "pendulum.h5", "--names", ","], "--names: expected a list with commas, found ','; leave the"),
        (["compare", "pendulum.yaml", "--steps", "0.01,0.02"], "steps: expected steps greater than 0, descending"),
    ],
)
def test_what_a_user_can_mend_is_one_line_and_exit_code_2(arguments, message, folder):
    (folder / "text.h5").write_text("no trajectory")
    (folder / "cut.h5").write_bytes((folder / "pendulum.h5").read_bytes()[:3000])
    (folder / "taken.png").write_text("precious")
    before = sorted(os.listdir())
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert sorted(os.listdir()) == before
