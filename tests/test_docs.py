"""Every block of the documentation runs: YAML is loaded, Python executed, console blocks compared with their output.

The YAML blocks of a page add up to a model; one after `<!-- NAME -->` is a file of that name instead. A block of text
after one of Python is what that prints; `...` in a console block stands for anything.
"""

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path
from pkgutil import iter_modules
from typing import get_args

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app, commands
from mbvi.model.constraints import AnyConstraint
from mbvi.model.forces import AnyForce
from mbvi.model.joints import AnyJoint
from mbvi.steppers.loop import REASONS, REASONS_WITHOUT_MOMENTA
from tests.folders import ROOT, load
from tests.marks import coarse

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


def check_difference(name, text):
    """What a difference adds to a file stands there."""
    added = "\n".join(line[1:] for line in text.splitlines() if line.startswith("+"))
    assert added and added in (ROOT / name).read_text()


def check_commands(text):
    """Run every line of mbvi, but for ensembles, which take long: their files are new."""
    for line in re.findall(r"^mbvi (.*)$", text, re.MULTILINE):
        arguments = shlex.split(line)
        if arguments[0] == "ensemble":
            Path(arguments[-1]).touch(exist_ok=False)
        else:
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.stem, marks=[coarse] if page.stem == "papers" else []) for page in PAGES],
)
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
        elif kind == "diff":
            check_difference(name, text)
        elif kind == "dockerfile":
            assert set(re.findall(r"&& mbvi (\w+)", text)) <= {each.name for each in iter_modules(commands.__path__)}
        else:
            assert kind == "sh", f"{page.name}: what is a block of {kind}?"
            check_commands(text)
    if model:
        mbvi.assemble(mbvi.from_yaml(yaml.dump(model)))


NO_MOTION = {"rod.yaml"}  # Painlevé's paradox, which its page shows


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "errors"], ids=lambda page: page.stem)
def test_models_of_pages_run(page):
    """Also those that no program of the page runs: as many steps as a user would notice a wrong start in."""
    for name, kind, text in blocks(page):
        if kind == "yaml" and name:
            Path(name).write_text(text)
        if kind == "yaml" and name and "\nbodies:" in text and name not in NO_MOTION:
            model = mbvi.load(name)
            trajectory = mbvi.simulate(model, duration=10 * model.simulation.step)
            assert len(trajectory) == 11


def test_the_model_of_the_readme_runs():
    (text,) = (text for name, kind, text in blocks(PAGES[0]) if name == "pendulum.yaml")
    trajectory = mbvi.simulate(mbvi.from_yaml(text))
    assert trajectory.q[0, 0] == pytest.approx(np.pi / 3)
    assert len(trajectory) == 1001


IN_THE_GUIDE = """
    ball box capsule coincident_frames coincident_points cone coupling cylinder cylindrical damper distance force
    free joint_damper joint_force joint_spring planar point_on_curve point_on_line point_on_plane
    prescribed_coordinate prescribed_point prismatic revolute screw sphere spring torque universal weld
"""  # types of elements; pages of their own have examples of all


def test_the_model_of_the_guide_runs():
    model = {}
    for _, kind, text in blocks(ROOT / "docs" / "guide.md"):
        if kind == "yaml":
            merged(model, yaml.safe_load(text))
    described = mbvi.from_yaml(yaml.dump(model))
    elements = [*described.joints.values(), *described.forces.values(), *described.constraints.values()]
    elements += [shape for body in described.bodies.values() for shape in body.shapes]
    assert {element.type for element in elements} >= set(IN_THE_GUIDE.split())
    motions = []
    for formulation in ("tree", "embedding"):
        trajectory = mbvi.simulate(described, formulation=formulation, step=0.001, duration=0.1)
        assert trajectory.constraint_residual().max() < 1e-12
        motions.append([trajectory.pose(body)[0] for body in described.bodies])
    np.testing.assert_allclose(*motions, rtol=0, atol=1e-7)


ELEMENTS = {"joints": AnyJoint, "forces": AnyForce, "constraints": AnyConstraint}


def examples(elements):
    """The models of the pages of joints, forces or constraints, by the type that each shows."""
    found = [block for page in (ROOT / "docs").glob(f"{elements}*.md") for block in blocks(page)]
    return {Path(name).stem: mbvi.from_yaml(text) for name, kind, text in found if kind == "yaml"}


def shown(model, page, kind):
    """The name of the element of a type in a model, and the element."""
    return next((name, element) for name, element in getattr(model, page).items() if element.type == kind)


@pytest.mark.parametrize("page", ELEMENTS)
def test_every_element_has_an_example_that_moves_alike_in_both_formulations(page):
    union, *_ = get_args(ELEMENTS[page])
    assert set(examples(page)) == {element.model_fields["type"].default for element in get_args(union)}
    for kind, model in examples(page).items():
        shown(model, page, kind)
        motions = []
        for formulation in ("tree", "embedding"):
            scheme = "kahan_li6" if mbvi.assemble(model).is_nonholonomic else "gauss3"
            trajectory = mbvi.simulate(model, scheme, formulation=formulation, step=0.005, duration=0.05)
            assert trajectory.constraint_residual().max(initial=0) < 1e-12
            motions.append([trajectory.pose(body)[0] for body in model.bodies])
        slower = (
            f"the example of {kind}: if it moves too fast for steps of 5 ms, let it start slower, or weaken its forces"
        )
        np.testing.assert_allclose(*motions, rtol=0, atol=1e-8, err_msg=slower)


def names_in(cell):
    return re.findall(r"`(\w+)`", cell)


def test_the_tables_of_joints_and_constraints_are_right():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) ?\| (.*?) ?\|$", (ROOT / "docs" / "joints.md").read_text(), re.MULTILINE)
    table = {kind: (names_in(coordinates), names_in(constraints)) for kind, coordinates, constraints in rows}
    table["screw"] = (["angle"], table["weld"][1])  # as its row says
    for kind, model in examples("joints").items():
        name, joint = shown(model, "joints", kind)
        if "coordinates" in type(joint).model_fields:
            joint = joint.model_copy(update={"coordinates": "quaternion"})
        names = mbvi.assemble(model, "embedding").constraint_names
        own = [other.removeprefix(f"{name}.") for other in names if other.startswith(f"{name}.")]
        assert table.pop(kind) == ([*joint.coordinate_names], own)
    assert table == {}
    rows = re.findall(r"^\| `(\w+)` \| (.*?) ?\| .* \|$", (ROOT / "docs" / "constraints.md").read_text(), re.MULTILINE)
    for kind, cell in rows:
        model = examples("constraints")[kind]
        name, _ = shown(model, "constraints", kind)
        expected = [f"{name}.{short}" for short in names_in(cell)] or [name]
        assert [other for other in mbvi.assemble(model).constraint_names if other.partition(".")[0] == name] == expected
    assert {kind for kind, _ in rows} == set(examples("constraints"))


def test_the_table_of_forces_is_whole():
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "forces.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(examples("forces"))


@pytest.fixture(scope="module")
def listed():
    """The list of all messages, as patterns."""
    path = ROOT / "docs" / "site_pages" / "messages.py"
    spec = importlib.util.spec_from_file_location("messages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [message for room in module.TITLES for message in module.messages_of(room)]
    return [
        re.compile(".*".join(map(re.escape, re.split("…+", message))))
        for message in found
        if len(re.findall(r"\w", message)) > 20
    ]


def test_every_text_that_is_raised_is_in_the_list_of_messages(listed):
    """What a regular expression finds behind `raise` begins some message of the list."""
    count = 0
    for path in (ROOT / "mbvi").rglob("*.py"):
        for text in re.findall(r'(?:raise (?:Model|Step)Error|warnings\.warn)\(\s*f?"(.*?)"', path.read_text()):
            words = max(re.split(r"\{.*?\}", text.replace("`", "'")), key=len).strip()
            if "wrong(" in text or len(words.split()) < 3:  # the words are elsewhere
                continue
            count += 1
            assert any(words in pattern.pattern.replace("\\", "") for pattern in listed), f"{path.name}: {text}"
    assert count > 50


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: mbvi.Model(name="a", bodies={}),
        lambda: mbvi.evaluate("1/0", {}),
        lambda: mbvi.load("models/none.yaml"),
        lambda: mbvi.simulate(load("pendulum"), step=-1),
        lambda: mbvi.simulate(load("pendulum"), step=3, duration=3000),
        lambda: mbvi.simulate(load("pendulum"), "none"),
        lambda: mbvi.simulate(load("pendulum_cartesian"), "rk4", duration=1),
        lambda: mbvi.read("none.h5"),
        lambda: mbvi.linearize(load("pendulum"), at=[1]),
        lambda: mbvi.animate(mbvi.simulate(load("pendulum"), duration=0.1), "a.html", speed=-1),
        lambda: mbvi.from_sympy([], [], potential=0),
    ],
)
def test_what_is_raised_is_in_the_list_of_messages(wrong, listed):
    with pytest.raises((mbvi.ModelError, mbvi.StepError)) as raised:
        wrong()
    assert any(pattern.search(str(raised.value).replace("`", "'")) for pattern in listed), str(raised.value)


def test_every_reason_of_a_failed_step_is_explained():
    page = (ROOT / "docs" / "errors.md").read_text()
    for reason in [*REASONS.values(), *REASONS_WITHOUT_MOMENTA.values()]:
        assert f"`{reason}`" in page


def test_the_page_on_the_architecture_names_every_storey():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    storeys = [storey for contract in contracts for storey in contract.get("layers", ())]
    assert len(storeys) > 20
    assert [storey for storey in storeys if f"`{storey}`" not in page] == ["__main__"]
    picture = (ROOT / "docs" / "pictures" / "architecture.svg").read_text(encoding="utf-8")
    assert {*storeys} - {*re.findall(r"\w+", picture)} == {"__main__"}


def test_what_the_page_on_adding_shows_stands_in_one_code_file():
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    readers = ROOT / "mbvi" / "model" / "imports"  # they write models, as users do, who name elements too
    paths = [path for path in (ROOT / "mbvi").rglob("*.py") if not path.is_relative_to(readers)]
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    shown = [
        (name, added)
        for name, kind, text in blocks(ROOT / "docs" / "extending.md")
        if kind == "diff"
        for added in re.findall(r'^\+class (\w+)|^\+    type: Literal\[("\w+")\]', text, re.MULTILINE)
    ]
    assert len(shown) == 8
    for name, added in shown:
        word = re.compile(rf"(?<!\w){''.join(added)}(?!\w)")
        assert [path for path, text in sources.items() if word.search(text)] == [ROOT / name], added
    for file in re.findall(r"^\| an?\w* .*? \|.*?`([\w/.]+)`", page, re.MULTILINE):
        assert (ROOT / "mbvi" / file).exists(), file


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
