"""Every block of the documentation runs: YAML is loaded, Python executed, console blocks compared with their output.

The YAML blocks of a page add up to a model; one after `<!-- NAME -->` is a file of that name instead. A block of text
after one of Python is what that prints; `...` in a console block stands for anything.
"""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?:<!-- (?P<name>\S+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working directory with the models in it, as the pages assume."""
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)


def blocks(page):
    return [(match["name"], match["kind"], match["text"]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def merged(model, part):
    for key, value in part.items():
        model[key] = merged(model.get(key, {}), value) if isinstance(value, dict) else value
    return model


def check_console(text):
    """Run every `$` line and compare what it prints; wrong ones print to stderr."""
    for line, expected in re.findall(r"^\$ mbvi (.*)\n((?:(?!\$).*\n)*)", text, re.MULTILINE):
        result = CliRunner().invoke(app, shlex.split(line))
        pattern = ".*".join(map(re.escape, expected.removesuffix("...\n").split("...")))
        pattern += ".*" if expected.endswith("...\n") else ""
        assert re.fullmatch(pattern, result.stdout + result.stderr, re.DOTALL), result.stdout + result.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, capsys):
    space, model, printed = {}, {}, ""
    found = blocks(page)
    assert found or page.read_text().count("```") == 0
    for name, kind, text in found:
        if kind == "yaml" and name:
            Path(name).write_text(text)
        elif kind == "yaml":
            merged(model, yaml.safe_load(text))
        elif kind == "python":
            capsys.readouterr()
            exec(compile(text, f"{page.name}", "exec"), space)
            printed = capsys.readouterr().out
        elif kind == "text":
            assert printed == text
        elif kind == "console":
            check_console(text)
        else:
            assert kind == "sh", f"{page.name}: what is a block of {kind}?"
    if model:
        mbvi.assemble(mbvi.from_yaml(yaml.dump(model)))


def test_the_model_of_the_readme_runs():
    (text,) = (text for name, kind, text in blocks(PAGES[0]) if name == "pendulum.yaml")
    trajectory = mbvi.simulate(mbvi.from_yaml(text))
    assert trajectory.q[0, 0] == pytest.approx(np.pi / 3)
    assert len(trajectory) == 1001


def test_the_model_of_the_guide_has_every_element_and_runs():
    model = {}
    for _, kind, text in blocks(ROOT / "docs" / "guide.md"):
        if kind == "yaml":
            merged(model, yaml.safe_load(text))
    described = mbvi.from_yaml(yaml.dump(model))
    elements = [*described.joints.values(), *described.forces.values(), *described.constraints.values()]
    elements += [shape for body in described.bodies.values() for shape in body.shapes]
    kinds = set(re.findall(r'"const": "(\w+)"', mbvi.model.file.schema_text()))
    assert {element.type for element in elements} == kinds - {"mesh"}
    motions = []
    for formulation in ("tree", "embedding"):
        trajectory = mbvi.simulate(described, formulation=formulation, step=0.001, duration=0.1)
        assert trajectory.constraint_residual().max() < 1e-12
        motions.append([trajectory.pose(body)[0] for body in described.bodies])
    assert np.allclose(*motions, atol=1e-7)


def test_links_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_pages_are_short():
    for page in PAGES:
        assert len(page.read_text().splitlines()) <= 200, page.name


def test_the_readme_counts_the_models():
    assert f"{len(list((ROOT / 'models').glob('*.yaml')))} models" in PAGES[0].read_text()


def test_the_table_of_schemes_in_the_readme_is_right():
    for name, order in re.findall(r"^\| `(\w+)` \| (\d+) \|", PAGES[0].read_text(), re.MULTILINE):
        assert mbvi.SCHEMES[name].order == int(order)
    assert {scheme.order for scheme in mbvi.SCHEMES.values()} == {1, *range(2, 17, 2)}
