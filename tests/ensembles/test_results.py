"""What is made of an ensemble: tables, and a picture of the bundle."""

import sys

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.ensembles import export
from mbvi.ensembles.export import to_parquet
from mbvi.pictures.bundles import plot_bundle
from tests.folders import ROOT

from .test_ensemble import double, pendulum

OPTIONS = {"step": 0.01, "duration": 0.1, "every": 5}


def test_a_parquet_file_has_every_state(tmp_path, monkeypatch):
    """In several blocks of members, which have two dimensions."""
    monkeypatch.setattr(export, "ROWS", 7)
    over = {"mass": [1.0, 2.0, 3.0], "q.elbow.angle": ("start", [0.1, 0.2]), "q.shoulder.angle": 1.0}
    runs = mbvi.ensemble(double(), over, measure={"end": lambda run: run.q[-1, 0]}, store=("q", "energy"), **OPTIONS)
    to_parquet(runs, tmp_path / "runs.parquet")
    table = pandas.read_parquet(tmp_path / "runs.parquet")
    assert len(table) == 3 * 2 * 3
    assert {"mass", "start", "t", "q.elbow.angle", "q.shoulder.angle", "energy", "status", "reason"} <= {*table}
    whole = runs.to_dataframe().reset_index()
    for coordinate in ("shoulder.angle", "elbow.angle"):
        expected = whole[whole.coordinate == coordinate].sort_values(["mass", "start", "t"])
        found = table.sort_values(["mass", "start", "t"])
        for name, column in (("q", f"stored.{coordinate}"), ("energy", "energy"), ("end", "end"), ("mass", "mass")):
            column = f"q.{coordinate}" if column.startswith("stored") else column
            if not (name == "q" and column in over):
                assert np.array_equal(found[column], expected[name])
    measured = mbvi.ensemble(pendulum(), {"mass": [1, 2]}, measure={"end": lambda run: run.q[-1, 0]}, **OPTIONS)
    to_parquet(measured, tmp_path / "end.parquet")
    assert pandas.read_parquet(tmp_path / "end.parquet").end.tolist() == measured.end.values.tolist()
    with pytest.raises(mbvi.ModelError, match=r"expected a file that ends in \.parquet, found '\.csv'"):
        to_parquet(measured, tmp_path / "end.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        mbvi.ModelError, match=r"^to_parquet: expected pyarrow, found none; install .*mbvi\[parquet\]'$"
    ):
        to_parquet(measured, tmp_path / "other.parquet")


def test_a_bundle_shows_quantiles_of_what_is_stored_or_its_statistics():
    over = {"v.elbow.angle": np.append(np.linspace(0, 3, 50), 1e200)}
    stored = mbvi.ensemble(double(), over, **OPTIONS)
    summed = mbvi.ensemble(double(), over, statistics=("q", "v", "energy"), **OPTIONS)
    figures = [plot_bundle(runs) for runs in (stored, summed)]
    for figure in figures:
        labels = ["q shoulder.angle [rad]", "q elbow.angle [rad]", "v shoulder.angle [rad/s]", "v elbow.angle [rad/s]"]
        assert [axes.get_ylabel() for axes in figure.axes] == [*labels, "energy [J]"]
    medians = [[axes.lines[-1].get_ydata() for axes in figure.axes] for figure in figures]
    np.testing.assert_array_equal(*medians)
    expected = np.quantile(stored.q.values[:50], 0.5, axis=0, method="inverted_cdf")
    np.testing.assert_array_equal(medians[0][1], expected[:, 1])
    assert [len(axes.lines) for axes in figures[0].axes] == [21] * 5
    assert [len(axes.lines) for axes in figures[1].axes] == [1] * 5
    measured = mbvi.ensemble(pendulum(), {"mass": [1, 2]}, measure={"end": lambda run: run.q[-1, 0]}, **OPTIONS)
    with pytest.raises(mbvi.ModelError, match="runs: expected something over time that is stored or has statistics"):
        plot_bundle(measured)


def test_the_command_draws(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = [
        "--over",
        "q.pivot.angle=0:1:9",
        "--duration",
        "1",
        "--statistics",
        "q,energy",
        "--picture",
        "bundle.png",
    ]
    result = CliRunner().invoke(app, ["ensemble", str(ROOT / "models" / "pendulum.yaml"), *options])
    assert result.exit_code == 0 and result.output.endswith("drawn in bundle.png\n"), result.output
    assert (tmp_path / "bundle.png").read_bytes().startswith(b"\x89PNG")
