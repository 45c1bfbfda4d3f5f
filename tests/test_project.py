"""What stands in several files of the project agrees: versions of Python, commands, the licence."""

import re
import tomllib

import pytest
import yaml

from tests.folders import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def versions():
    """The versions of Python that the classifiers name."""
    pattern = re.compile(r"Programming Language :: Python :: (3\.\d+)$")
    return [match[1] for match in map(pattern.match, PROJECT["classifiers"]) if match]


def jobs(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))["jobs"]


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def block(name):
    """The command of the README below a marker."""
    return re.search(rf"<!-- {name} -->\n```sh\n(.*)\n```", (ROOT / "README.md").read_text(encoding="utf-8"))[1]


def test_every_page_names_the_oldest_python():
    oldest = versions()[0]
    assert PROJECT["requires-python"] == f">={oldest}"
    for page in ("README.md", "CONTRIBUTING.md", "docs/tutorial.md"):
        assert f"Python {oldest} or newer" in (ROOT / page).read_text(encoding="utf-8")


def test_workflows_test_the_oldest_and_the_newest_python():
    ends = [versions()[0], versions()[-1]]
    for name in ("all", "systems"):
        assert jobs("test")[name]["strategy"]["matrix"]["python"] == ends


def test_workflows_run_the_commands_of_the_readme():
    assert commands(jobs("docs")["build"]) == [block("docs")]
    install, test = commands(jobs("test")["systems"])
    assert install.replace('"', "'").removeprefix("python -m ") in block("test")
    assert test.removeprefix("python -m ") in block("test")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_pin_actions_and_grant_no_more_than_reading(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] in ({}, {"contents": "read"})
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_the_licence_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["license"] == PROJECT["license"] == "BSD-3-Clause"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause License")


def test_words_are_ones_that_readers_from_anywhere_know():
    """Messages, docstrings, names and pages say `reported` or `given` instead of what few readers know in that sense."""
    odd = re.compile(r"(?i)(?<![a-z])(told|astray|dear|so-manyth)(?![a-z])")
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "mbvi").rglob("*.py"),
        *(ROOT / "mbvi").rglob("viewer.*"),
    ]
    assert len(pages) > 300
    found = [
        f"{path.relative_to(ROOT)}: {word}" for path in pages for word in odd.findall(path.read_text(encoding="utf-8"))
    ]
    assert not found


def test_docstrings_begin_with_what_they_are_about():
    """They say `The stops of its bounds.`, and leave no reader to guess what `Those of its bounds.` are; so do parameters."""
    elliptical = re.compile(
        r'"""(?:As|By|None)\b.*|(?:"""|\n +\w[\w, ]* : .*\n +)(?:Of|Those|That|The same of|Whose)\b.*'
    )
    files = [*(ROOT / "mbvi").rglob("*.py")]
    assert len(files) > 300
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in files
        for line in elliptical.findall(path.read_text(encoding="utf-8"))
    ]
    assert not found
