"""Sampling plans: their values beside the distributions that they are of; Sobol indices beside closed forms."""

import sys

import numpy as np
import pytest
import scipy.stats
import xarray
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.ensembles import sampling
from mbvi.ensembles.sensitivity import sobol_indices
from tests.folders import ROOT

from .test_ensemble import DONE

MEMBERS = 1024
DISTRIBUTIONS = {
    "uniform": (sampling.Uniform(low=1, high=3), scipy.stats.uniform(1, 2)),
    "normal": (sampling.Normal(mean=1, deviation=0.1), scipy.stats.norm(1, 0.1)),
    "lognormal": (sampling.LogNormal(median=2, deviation=0.3), scipy.stats.lognorm(0.3, scale=2)),
    "triangular": (sampling.Triangular(low=1, mode=1.5, high=3), scipy.stats.triang(0.25, 1, 2)),
}


@pytest.mark.parametrize("method", ["random", "latin_hypercube", "sobol"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_samples_have_their_distribution(name, method):
    """By the distance of Kolmogorov, which of independent points is less than 1.95/√n in 999 of 1000 cases."""
    distribution, expected = DISTRIBUTIONS[name]
    plan = sampling.SamplingPlan(over={"a": distribution, "b": distribution}, members=MEMBERS, method=method, seed=3)
    values = plan.values()
    for dimension, sample in values.values():
        assert dimension == "member" and len(sample) == MEMBERS
        distance = scipy.stats.kstest(sample, expected.cdf).statistic
        assert distance < (1.95 / np.sqrt(MEMBERS) if method == "random" else 2 / MEMBERS)
    assert abs(np.corrcoef(values["a"][1], values["b"][1])[0, 1]) < 3 / np.sqrt(MEMBERS)
    assert all(
        np.array_equal(one[1], other[1]) for one, other in zip(values.values(), plan.values().values(), strict=True)
    )
    other = plan.model_copy(update={"seed": 4}).values()
    assert not np.array_equal(other["a"][1], values["a"][1])


def test_quantiles_are_those_of_scipy():
    u = np.array([2.0**-53, 0.01, 0.2, 0.5, 0.9, 1 - 2.0**-53])
    for distribution, expected in DISTRIBUTIONS.values():
        np.testing.assert_allclose(distribution.quantile(u), expected.ppf(u), rtol=1e-7)


def test_a_plan_from_a_file(tmp_path, monkeypatch):
    """Lists are crossed with the sample; expressions use the model's parameters and have their units."""
    monkeypatch.chdir(tmp_path)
    plan = tmp_path / "plan.yaml"
    plan.write_text("""
over:
  length: {type: normal, mean: length, deviation: length/100}
  q.pivot.angle: {type: uniform, low: 10 deg, high: 20 deg}
  v.pivot.angle: [0, 1 rpm]
members: 8
""")
    model = ROOT / "models" / "pendulum.yaml"
    result = CliRunner().invoke(
        app, ["ensemble", str(model), "--plan", str(plan), "--duration", "0.1", "-o", "runs.h5"]
    )
    assert result.exit_code == 0 and "16 members (member 8 × v.pivot.angle 2)" in result.output, result.output
    runs = mbvi.ensemble(mbvi.load(model), sampling.load_plan(plan), duration=0.1)
    assert (runs.status == DONE).all() and dict(runs.status.sizes) == {"member": 8, "v.pivot.angle": 2}
    assert np.degrees(runs["q.pivot.angle"]).min() > 10 and np.degrees(runs["q.pivot.angle"]).max() < 20
    np.testing.assert_allclose(runs["v.pivot.angle"], [0, np.pi / 30])
    nominal = mbvi.load(model).resolved().parameters["length"]
    assert abs(float(runs["length"].mean()) / nominal - 1) < 0.005 < 3 * float(runs["length"].std()) / nominal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("members: 4", "plan.yaml:1: over: expected a value, found nothing"),
        ("over:\n  mass: {type: norml, mean: 1}", "plan.yaml:2: over.mass"),
        ("over:\n  mass: {type: normal, mean: 1}", "plan.yaml:2: over.mass.deviation: expected a value, found nothing"),
        (
            "over:\n  length: {type: normal, mean: 1, deviation: -1}",
            "plan: over.length.deviation: expected a number gr",
        ),
        (
            "over:\n  length: {type: uniform, low: 2, high: 1}",
            "plan: over.length: expected increasing numbers low, high, ",
        ),
        (
            "over:\n  length: {type: uniform, low: 1, high: 2}\nmembers: 1000",
            "plan: members: expected a power of 2 for sobol",
        ),
        (
            "over:\n  length: {type: uniform, low: 1, high: 2}\nmembers: 0",
            "plan: members: expected a whole number of at le",
        ),
        ("over:\n  length: [1, grond]", "plan: over.length: 1: expected a parameter or a constant, found 'grond'"),
        ("over:\n  q.pivot.angle: [1, 90 rpm]", "plan: over.q.pivot.angle: 1: expected a value in rad, found '90 rpm'"),
        ("over: {}", "over: expected a mapping of names to values"),
        ("- 1", "plan.yaml:1: expected a mapping with the keys over, members, method, seed, found [1]"),
    ],
)
def test_plans_that_are_refused(text, message, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(text)
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.ensemble(mbvi.load(ROOT / "models" / "pendulum.yaml"), sampling.load_plan(plan), duration=0.1)
    assert message in str(caught.value)


def test_what_varies_is_said_once():
    for more, found in ((["--over", "length=1", "--plan", "a.yaml"], "both"), ([], "neither")):
        result = CliRunner().invoke(app, ["ensemble", str(ROOT / "models" / "pendulum.yaml"), *more])
        assert result.exit_code == 2 and f"by --over or by --plan, found {found}" in result.output


def test_sobol_indices_of_a_linear_and_of_a_product():
    """Of a x + b y the parts a² var x and b² var y; of x y those of its mean times each, and the rest in both."""
    over = {
        "mass": sampling.Uniform(low=1, high=2),
        "length": sampling.Normal(mean=1, deviation=0.1),
        "rate": sampling.Uniform(low=0, high=1),
    }
    plan = sampling.SamplingPlan(over=over, members=4096, method="saltelli", seed=1).values()
    mass, length = plan["mass"][1], plan["length"][1]
    measured = {"sum": 3 * mass - 5 * length, "product": mass * length, "same": np.ones_like(mass)}
    runs = xarray.Dataset({name: ("member", values) for name, values in measured.items()}, plan)
    x, y = 1 / 12, 0.1**2
    first = np.array([9 * x, 25 * y, 0]) / (9 * x + 25 * y)
    found = sobol_indices(runs, "sum")
    assert found.parameter.values.tolist() == list(over)
    for name in ("first", "total"):
        np.testing.assert_allclose(found[name], first, rtol=0, atol=0.01)
        assert (found[f"{name}_confidence"] < 0.1).all()
    variance = x + 1.5**2 * y + x * y
    found = sobol_indices(runs, "product")
    np.testing.assert_allclose(found.first, np.array([x, 1.5**2 * y, 0]) / variance, rtol=0, atol=0.01)
    np.testing.assert_allclose(found.total, np.array([x + x * y, 1.5**2 * y + x * y, 0]) / variance, rtol=0, atol=0.01)
    for arguments, message in (
        ((runs, "same"), "of: expected values of same that differ, found 1 of all members"),
        (
            (runs, "summ"),
            "of: expected a number of every member (sum, product, same), found 'summ'",
        ),
        (
            (runs.isel(member=slice(None, None, -1)), "sum"),
            "runs: expected members of a plan for Sobol indices, found others",
        ),
        ((runs.where(runs["sum"] > 0), "sum"), "of: expected a finite sum of every member, found"),
        ((1, "sum"), "runs: expected an ensemble, as an xarray Dataset, found 1"),
    ):
        with pytest.raises(mbvi.ModelError) as caught:
            sobol_indices(*arguments)
        assert str(caught.value).startswith(message)


def test_a_missing_library_names_its_extra(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "SALib"] + ["SALib"]:
        monkeypatch.setitem(sys.modules, name, None)
    plan = sampling.SamplingPlan(over={"mass": sampling.Uniform(low=1, high=2)}, members=2, method="saltelli")
    with pytest.raises(
        mbvi.ModelError, match=r"^saltelli: expected SALib, found none; install it .*'mbvi\[sampling\]'$"
    ):
        plan.values()
