"""Equations in symbols against the kernels, at random states: every joint, force and constraint, and all models."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.symbolic import written
from mbvi.symbolic.lagrange import MOST_COORDINATES, PARTS
from tests.folders import ROOT
from tests.marks import campaign
from tests.physics.test_rolling import KINDS as ROLLING
from tests.system import mechanisms

MODELS = sorted((ROOT / "models").glob("*.yaml"))
QUICK = ("gantry_crane", "slider_crank", "spring_damper", "lagrange_top", "heavy_top_quaternion", "tyre", "edge")
EXACT = {"rtol": 1e-12, "atol": 1e-12}
PLACE = {"kinds": ("cylindrical", "revolute"), "chords": (), "ties": ()}


def check(model, parts=None, seed=0):
    """Compare the parts with a system's, at a random state that need not fit the constraints."""
    system, random = mbvi.assemble(model), np.random.default_rng(seed)
    found = mbvi.symbolic.equations(system, parts)
    q = system.given_q + 0.3 * random.standard_normal(system.dimension)
    state = random.uniform(0, 2), q, random.standard_normal(system.dimension)
    t, q, v = state
    if found.mass_matrix is not None:
        M = system.mass_matrix(q)
        np.testing.assert_allclose(found.values(found.mass_matrix)(*state), M, rtol=1e-12, atol=1e-12 * np.abs(M).max())
    if found.potential is not None:
        np.testing.assert_allclose(found.values(found.potential)(*state), system.potential(q), **EXACT)
    if found.forces is not None:
        F = system.gradient(q, v, t)[1] - system.unforced.gradient(q, v, t)[1]
        np.testing.assert_allclose(
            found.values(found.forces)(*state)[:, 0], F, rtol=1e-10, atol=1e-12 * max(1, np.abs(F).max())
        )
    if found.constraints:
        held = {**found.constraints, **found.velocity_constraints}
        order, rates = [system.constraint_names.index(name) for name in held], len(found.velocity_constraints)
        assert order == [*np.delete(range(len(order)), system.arrays.rates), *system.arrays.rates]
        expected = system.constraint(q, t)
        expected[system.arrays.rates] = (system.constraint_jacobian(q) @ v)[system.arrays.rates]
        np.testing.assert_allclose(found.values([*held.values()])(*state)[:, 0], expected[order], **EXACT)
        assert rates == len(system.arrays.rates)
    return found


def test_double_pendulum():
    """In the form of textbooks."""
    found = mbvi.symbolic.equations(mbvi.load(ROOT / "models" / "double_pendulum.yaml"))
    q1, q2 = found.q
    g, length, mass = sympy.symbols("g length mass", real=True)
    first = mass * length**2 * (3 + 2 * sympy.cos(q2))
    second = mass * length**2 * (1 + sympy.cos(q2))
    expected = sympy.Matrix([[first, second], [second, mass * length**2]])
    assert (found.mass_matrix - expected).applyfunc(sympy.expand).is_zero_matrix
    potential = -mass * g * length * (2 * sympy.cos(q1) + sympy.cos(q1 + q2))
    assert sympy.expand(found.potential - potential) == 0
    assert found.parameters == {
        g: 9.81,
        sympy.Symbol("omega0", real=True): 2 * np.pi,
        length: 9.81 / (2 * np.pi) ** 2,
        mass: 1,
    }
    assert found.momenta[1] == found.mass_matrix[1, 0] * found.v[0] + found.mass_matrix[1, 1] * found.v[1]
    assert "cos" in found.text() and r"\mathit{length}" in found.latex()


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=campaign if kind == "free euler" else ()) for kind in mechanisms.KINDS]
)
def test_joints(kind):
    check(mechanisms.random_tree(5, (kind,)))


@pytest.mark.parametrize("kind", mechanisms.FORCES)
def test_forces(kind):
    check(mechanisms.random_tree(7, ("universal", "prismatic"), forces=(kind,)), ["potential", "forces"])


@pytest.mark.parametrize("kind", [*mechanisms.TIES, mechanisms.ROPE])
def test_constraints(kind):
    check(mechanisms.random_graph(7, **PLACE | {"ties": (kind,)}), ["constraints"])


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=() if kind in QUICK else campaign) for kind in ROLLING])
def test_rolling(kind):
    """On a ground that turns, and A against what the velocities it holds are linear in."""
    element, fields = ROLLING[kind]
    ground, body = mbvi.Body(mass=2, inertia=(0.3, 0.5, 0.4)), mbvi.Body(mass=1, inertia=(1, 1, 1))
    turn = mbvi.Revolute(parent="world", child="a", axis=(0, 0, 1), position=(0.1, 0.2, -0.3))
    free = mbvi.Free(parent="world", child="b", position=(0.3, 0.5, 0.7), coordinates="zxy")
    tie = element(body_a="a", point_a=(0.1, 0.2, 0.3), body_b="b", point_b=(0.05, -0.1, 0.2), **fields)
    parts = {"bodies": {"a": ground, "b": body}, "joints": {"turn": turn, "free": free}, "constraints": {"tie": tie}}
    model = mbvi.Model(name="rolling", **parts)
    found, system = check(model, ["constraints"]), mbvi.assemble(model)
    q = system.given_q + 0.1
    A = found.values(found.constraint_jacobian())(0.0, q, np.zeros(system.dimension))
    np.testing.assert_allclose(A, system.constraint_jacobian(q), **EXACT)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=campaign if kind.endswith(" euler") else ()) for kind in mechanisms.KINDS]
)
def test_joints_that_are_cut(kind):
    """What a joint that is cut holds does not depend on its coordinates."""
    check(mechanisms.random_graph(8, **PLACE | {"chords": (kind,)}), ["constraints"])


@pytest.mark.parametrize("kind", [*["weld"], *[pytest.param(kind, marks=campaign) for kind in mechanisms.KINDS[1:]]])
def test_embedding(kind):
    check(mechanisms.random_tree(5, (kind, "revolute")).model_copy(update={"formulation": "embedding"}), PARTS)


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else campaign) for path in MODELS]
)
def test_models(path):
    model = mbvi.load(path)
    if mbvi.assemble(model).dimension > MOST_COORDINATES:
        pytest.skip("more coordinates than equations are found of at once")
    check(model)


def test_parameters_that_are_put_in():
    """An axis, a turn about no axis of a frame, and a table are numbers, and so is a parameter that they depend on, anywhere.

    Names of bodies are no expressions.
    """
    text = """
name: parameters
parameters: {tilt: 0.3, twist: 2*tilt, push: 2, mass: 3, arm: 0.5, turn: 0.2}
bodies:
  arm: {mass: mass, center_of_mass: [arm, 0, tilt], inertia: [1, 2, 2]}
joints:
  j: {type: revolute, parent: world, child: arm, axis: [sin(twist), 0, 1], orientation: [turn, 0, 0], offset: [0, arm, turn]}
forces:
  f: {type: force, body: arm, vector: [{times: [0, 1], values: [0, push]}, mass, 0]}
"""
    model = mbvi.from_yaml(text)
    found = check(model)
    assert {str(symbol) for symbol in found.parameters} == {"mass", "arm", "turn"}
    other = model.with_parameters({"mass": 2, "turn": -0.4, "arm": 0.1})
    M = found.mass_matrix.subs({symbol: other.resolved().parameters[symbol.name] for symbol in found.parameters})
    assert float(M.subs(found.q[0], 0.7)[0]) == pytest.approx(mbvi.assemble(other).mass_matrix([0.7])[0, 0], rel=1e-12)
    both = mbvi.from_yaml(text.replace("[turn, 0, 0]", "[turn, 0, tilt]"))
    assert {str(symbol) for symbol in check(both).parameters} == {"mass", "arm"}


def test_what_is_wrong():
    chain = mbvi.load(ROOT / "models" / "necklace_50.yaml")
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.symbolic.equations(chain)
    assert str(caught.value).startswith(
        "equations: expected at most 10 coordinates of a model whose equations are all asked for, found"
    )
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.symbolic.equations(chain, ["massmatrix"])
    assert (
        str(caught.value) == "parts: expected parts of the equations, found 'massmatrix'; did you mean 'mass_matrix'?"
    )
    x = sympy.Symbol("x")
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.symbolic.equations(mbvi.from_sympy([x], [[1]], x**2))
    assert str(caught.value) == (
        "equations: expected a model, or a system that was assembled from one, found functions or symbols"
    )
    only = mbvi.symbolic.equations(mbvi.load(ROOT / "models" / "pendulum.yaml"), ["potential"])
    with pytest.raises(mbvi.ModelError) as caught:
        _ = only.momenta
    assert str(caught.value) == "equations: expected the part mass_matrix, found others alone; ask for it in parts"


def test_what_is_too_long_for_a_terminal_is_said(monkeypatch):
    """A long matrix is shown entry by entry, and of what is long itself where it is found."""
    monkeypatch.setattr(written, "MOST_OPERATIONS", 12)
    lines = written.text(mbvi.symbolic.equations(mbvi.load(ROOT / "models" / "double_pendulum.yaml"))).splitlines()
    at = lines.index("Mass matrix")
    assert lines[at + 1] == "The matrix is symmetric."
    assert [line[:3] for line in lines if line[:2] in ("M₁", "M₂")] == ["M₁₁", "M₁₂", "M₂₂"]
    assert "p₁ = (14 operations, too many to be read: take them from SymPy or LaTeX)" in lines


def test_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = str(ROOT / "models" / "pendulum.yaml")
    assert CliRunner().invoke(app, ["equations", model, "-o", "pendulum.html"]).stdout == "written to pendulum.html\n"
    page = ElementTree.fromstring(
        Path("pendulum.html").read_text().partition("\n")[2].replace('<meta charset="utf-8">', "")
    )
    assert [each.text for each in page.iter("h2")][:3] == ["Coordinates", "Parameters", "Mass matrix"]
    assert "http" not in Path("pendulum.html").read_text().replace("http://www.w3.org", "")
    shown = CliRunner().invoke(app, ["equations", model, "--parts", "potential"]).stdout
    assert "q_1  pivot.angle [rad]" in shown and "cos(q₁)" in shown
    result = CliRunner().invoke(app, ["equations", model, "-o", "pendulum.pdf"])
    assert result.stderr == "pendulum.pdf: expected a file that ends in .html or .tex, found '.pdf'\n"
