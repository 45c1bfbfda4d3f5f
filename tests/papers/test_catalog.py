"""The list of papers, and what `mbvi papers` makes of them."""

import contextlib
import importlib.util
import os
import re
import subprocess
import sys

import pytest
from mpmath import mp
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.papers.catalog import PAPERS, find_report, listing
from mbvi.papers.report import Table
from tests.marks import campaign, coarse


def call(*arguments):
    return CliRunner().invoke(app, ["papers", *map(str, arguments)])


def test_the_list():
    """Five papers with title, authors, year, and all tables and figures that their reports have."""
    result = call()
    assert result.exit_code == 0
    assert result.stdout == listing() + "\n"
    assert len(PAPERS) == 5
    for name, paper in PAPERS.items():
        (entry,) = (each for each in listing().split("\n\n") if each.startswith(name))
        assert [line.strip() for line in entry.removeprefix(name).splitlines()] == [
            paper.title,
            f"{paper.authors}, {paper.year}",
            paper.experiments,
        ]


def numbers_after(word, text):
    """Those that `figures 2 to 5 and 7` and the like name."""
    found = set()
    for part in text.split(";"):
        if part.strip().startswith(word):
            for first, last in re.findall(r"(\d+)(?: to (\d+))?", part):
                found.update(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("name", sorted(PAPERS))
def test_the_list_says_what_the_reports_have(name):
    titles = [part.title for part in find_report(name).parts]
    for word in ("table", "figure"):
        found = {int(number) for title in titles for number in re.findall(rf"{word.title()} (\d+)", title)}
        assert found == numbers_after(word, PAPERS[name].experiments)


def shown_on_terminal(*arguments):
    """What mbvi shows on stderr, if that is a terminal."""
    import pty

    reader, terminal = pty.openpty()
    line = [sys.executable, "-c", "from mbvi.cli import main; main()", *arguments]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=terminal, env=os.environ | {"TERM": "xterm"})
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # which a closed terminal reads as
        while part := os.read(reader, 4096):
            shown += part
    os.close(reader)
    assert process.wait(timeout=60) == 0
    return shown


def test_run_writes_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call("run", "nonlinear_pendulum")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        PAPERS["nonlinear_pendulum"].title,
        "",
        "Of 24 printed numbers 24 agree and 0 differ.",
        "",
        "Written to papers/nonlinear_pendulum/index.html",
    ]
    folder = tmp_path / "papers" / "nonlinear_pendulum"
    stems = {path.stem for path in folder.iterdir()}
    assert stems == {"index", "table_1", "figure_1", "figure_2", "misprints"}
    (folder / "index.html").write_text("mine")
    again = call("run", "nonlinear_pendulum")
    assert again.exit_code == 2
    assert again.stderr.startswith("papers/nonlinear_pendulum: expected a new or empty folder, found files in it")
    assert (folder / "index.html").read_text() == "mine"
    assert b"Table 1" in shown_on_terminal("papers", "run", "nonlinear_pendulum", "--force")
    assert (folder / "index.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@campaign
def test_quick_says_what_it_leaves_out(tmp_path):
    result = call("run", "tops_and_double_pendulum", "--quick", "-o", tmp_path / "here")
    assert result.exit_code == 0
    left_out = "100 and 1000 s of table 2, 100 and 1000 periods of tables 4 and 5"
    assert f"\nLeft out: {left_out}\n" in result.stdout
    page = (tmp_path / "here" / "index.html").read_text(encoding="utf-8")
    assert f"Left out, since it takes long: {left_out}." in page
    assert page.count("<svg") == page.count("<figure") == 13
    assert "<td class='number'>nan" not in page
    assert find_report("tops_and_double_pendulum").left_out == []
    assert mp.dps == 15  # of the caller, as it was


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("nonlinear_pendulums", "did you mean 'nonlinear_pendulum'?"),
        ("top", f"known: {', '.join(PAPERS)}"),
    ],
)
def test_an_unknown_name(name, remedy):
    result = call("run", name)
    assert result.exit_code == 2
    assert result.stderr == f"papers: expected the name of a paper, found {name!r}; {remedy}\n"


@pytest.mark.parametrize("library", ["matplotlib", "mpmath"])
def test_a_missing_library_is_named_before_anything_is_computed(library, tmp_path, monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("mbvi.papers.catalog.find_spec", lambda name: None if name == library else find_spec(name))
    result = call("run", "nonlinear_pendulum", "-o", tmp_path / "here")
    assert result.exit_code == 2
    assert result.stderr == f"papers: expected {library}, found none; install it with: pip install 'mbvi[papers]'\n"
    assert not (tmp_path / "here").exists()


@coarse
@pytest.mark.parametrize("name", ["nonlinear_pendulum", "quadratic_lagrangians", "direct_midpoint"])
def test_every_difference_has_a_reason(name):
    report = find_report(name).computed()
    assert report.title == PAPERS[name].title and report.source == PAPERS[name].source
    assert all(number.agrees or number.reason for number in report.numbers)
    for table in report.parts:
        if isinstance(table, Table):
            assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_error_of_an_unknown_name_is_a_model_error():
    with pytest.raises(mbvi.ModelError, match="papers: expected the name of a paper"):
        find_report("")
