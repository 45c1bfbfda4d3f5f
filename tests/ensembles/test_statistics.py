"""Statistics of ensembles that are found while they run, beside numpy's of what is stored."""

import numpy as np
import pytest

import mbvi
from mbvi.ensembles.statistics import LEVEL, PROBABILITIES, Moments, Quantiles

from .test_ensemble import double, pendulum, same_bits

NAMES = ("q", "energy")
OPTIONS = {"step": 0.01, "duration": 0.2, "every": 5}


def check(found, stored):
    """Those of q and energy, of the members that are done; quantiles of less than a level are exact."""
    dims, is_done = stored.status.dims, stored.status == 0
    done = stored.stack(all_members=dims).isel(all_members=is_done.values.ravel()).transpose("all_members", ...)
    for name in NAMES:
        scale = abs(done[name]).max()
        np.testing.assert_allclose(found[f"{name}_mean"], done[name].mean("all_members"), rtol=0, atol=1e-14 * scale)
        quantiles = np.quantile(done[name], PROBABILITIES, axis=0, method="inverted_cdf")
        assert np.array_equal(found[f"{name}_quantiles"], quantiles)
    expected = [np.atleast_2d(np.cov(row, rowvar=False)) for row in done.q.values.transpose(1, 0, 2)]
    np.testing.assert_allclose(found.q_covariance, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.energy_variance, done.energy.var("all_members", ddof=1), rtol=1e-9, atol=1e-13)


def test_statistics_are_those_of_what_would_be_stored(tmp_path):
    """Also where a member is refused, and in a file, where they are without any state."""
    over = {"mass": [1.0, 1.5, 2.0], "v.elbow.angle": np.append(np.linspace(0, 3, 30), 1e200)}
    stored = mbvi.ensemble(double(), over, **OPTIONS)
    assert (stored.status != 0).any()
    for path in (None, tmp_path / "runs.h5"):
        with mbvi.ensemble(double(), over, statistics=NAMES, path=path, threads=2, **OPTIONS) as found:
            check(found, stored)
            assert found.q_covariance.dims == ("t", "coordinate", "other_coordinate") and "q" not in found
            assert found.q_quantiles.dims == ("quantile", "t", "coordinate")
            assert found["quantile"].values.tolist() == list(PROBABILITIES)
            assert found.coordinate.values.tolist() == found.other_coordinate.values.tolist()
            assert found.energy_variance.attrs["units"] == "(J)^2"


def test_statistics_go_on(tmp_path):
    """From what is stored; without that they are refused."""
    over, path = {"v.pivot.angle": np.linspace(0, 1, 40)}, tmp_path / "runs.h5"

    def interrupt(done, members):
        if done > 10:
            raise KeyboardInterrupt

    for store in (NAMES, ()):
        options = {**OPTIONS, "statistics": NAMES, "store": store, "path": path}
        with pytest.raises(KeyboardInterrupt):
            mbvi.ensemble(pendulum(), over, threads=1, progress=interrupt, force=True, **options)
        if not store:
            with pytest.raises(mbvi.ModelError, match="expected values from which statistics go on, found none of q"):
                mbvi.ensemble(pendulum(), over, resume=True, **options)
            break
        with mbvi.ensemble(pendulum(), over, resume=True, **options) as found:
            expected = mbvi.ensemble(pendulum(), over, **OPTIONS)
            assert same_bits(found.q, expected.q)
            check(found, expected)


def test_statistics_of_measures_and_wrong_names():
    measure = {"end": lambda run: run.q[-1, 0]}
    found = mbvi.ensemble(pendulum(), {"mass": [1, 2, 3]}, measure=measure, statistics=["end"], **OPTIONS)
    assert float(found.end_mean) == pytest.approx(float(found.end.mean()), rel=1e-14) and found.end_variance < 1e-20
    with pytest.raises(
        mbvi.ModelError, match="statistics: expected what can be stored, or is measured, found 'energi'"
    ):
        mbvi.ensemble(pendulum(), {"mass": [1.0]}, statistics=["energi"], **OPTIONS)
    with pytest.raises(mbvi.ModelError, match="over: expected a name of its own in the result, found 'q_mean'"):
        mbvi.ensemble(pendulum(), {"mass": ("q_mean", [1.0])}, statistics=["q"], **OPTIONS)
    single = mbvi.ensemble(pendulum(), {"mass": [1.0]}, statistics=["q"], **OPTIONS)
    assert np.isnan(single.q_covariance).all() and np.isfinite(single.q_mean).all()


@pytest.mark.parametrize("order", ["random", "ascending"])
def test_quantiles_of_many_in_little_memory(order):
    """Ranks are right within n log2(n/s) / 2s, and what is kept grows by a level where n doubles."""
    random = np.random.default_rng(1)
    values = np.stack([random.normal(size=100_000), random.exponential(size=100_000)], axis=1)
    if order == "ascending":
        values.sort(axis=0)
    quantiles, moments, first = Quantiles(2), Moments(1, 2), 0
    while first < len(values):
        size = int(random.integers(1, 3000))
        quantiles.add(values[first : first + size])
        moments.add(values[first : first + size, None])
        first += size
    levels = np.log2(len(values) / LEVEL)
    ranks = (values <= quantiles.at(PROBABILITIES)[:, None]).mean(axis=1)
    assert np.abs(ranks - np.array(PROBABILITIES)[:, None]).max() < levels / (2 * LEVEL)
    assert sum(map(len, quantiles._levels)) < (levels + 2) * LEVEL
    np.testing.assert_allclose(moments.covariance()[0], np.cov(values, rowvar=False), rtol=1e-12, atol=1e-13)
