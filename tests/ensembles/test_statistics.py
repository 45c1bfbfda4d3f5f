"""Statistics of ensembles that are found while they run, beside numpy's of what is stored."""

import h5py
import numpy as np
import pytest

import mbvi
from mbvi.ensembles import statistics
from mbvi.ensembles.statistics import LEVEL, PROBABILITIES, Moments, Quantiles, Statistics

from .test_ensemble import double, pendulum

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


@pytest.mark.parametrize("store", [NAMES, ()])
def test_statistics_go_on(store, tmp_path):
    """From what is stored, or else from what is in a file beside until all members are done."""
    over, path, beside = {"v.pivot.angle": np.linspace(0, 1, 40)}, tmp_path / "runs.h5", tmp_path / "runs.h5.statistics"
    options = {**OPTIONS, "statistics": NAMES, "store": store, "path": path}
    beside.write_text("of another ensemble")
    with pytest.raises(KeyboardInterrupt):
        mbvi.ensemble(pendulum(), over, threads=1, progress=interrupt, force=True, **options)
    seen, expected = [], mbvi.ensemble(pendulum(), over, **OPTIONS)
    for _ in range(2):  # the second time nothing is left to be done
        with mbvi.ensemble(pendulum(), over, resume=True, progress=lambda *n: seen.append(n), **options) as found:
            check(found, expected)
        assert store or not beside.exists()
    assert 10 < seen[0][0] < 40 and seen[-1] == (40, 40)


def interrupt(done, members):
    """A progress."""
    if done > 10:
        raise KeyboardInterrupt


def test_statistics_after_a_kill(tmp_path, monkeypatch):
    """Members that ended after they were written last run again; without them, or with those of others, they are refused."""
    over, path, beside = {"v.pivot.angle": np.linspace(0, 1, 40)}, tmp_path / "runs.h5", tmp_path / "runs.h5.statistics"
    options = {**OPTIONS, "statistics": NAMES, "path": path, "threads": 1}
    write, left = Statistics.write, iter(range(3))
    with monkeypatch.context() as killed:
        killed.setattr(statistics, "SECONDS", -1.0)
        killed.setattr(statistics, "SHARE", 0)
        killed.setattr(Statistics, "write", lambda *kept: None if next(left, None) is None else write(*kept))
        with pytest.raises(KeyboardInterrupt):
            mbvi.ensemble(pendulum(), over, progress=interrupt, **options)
    with np.load(beside) as file, h5py.File(path) as runs:
        counted = int(file["counted"].sum())
        assert 0 < counted < (runs["status"][:] == 0).sum()
    before, seen = beside.read_bytes(), []
    beside.unlink()
    remedy = r"begin anew without resume and with force \(--force\), and store what is summed up"
    for found in ("no such file", "another file"):
        message = f"runs.h5.statistics: expected that from which statistics go on, found {found}; {remedy}$"
        with pytest.raises(mbvi.ModelError, match=message):
            mbvi.ensemble(pendulum(), over, resume=True, **options)
        beside.write_bytes(b"")
    beside.write_bytes(before)
    with mbvi.ensemble(pendulum(), over, resume=True, progress=lambda *n: seen.append(n), **options) as found:
        check(found, mbvi.ensemble(pendulum(), over, **OPTIONS))
    assert counted <= seen[0][0] and not beside.exists()


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
