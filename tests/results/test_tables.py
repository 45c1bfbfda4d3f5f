"""Trajectories as tables of other tools: the same numbers, names and units, read by those tools."""

import sys

import numpy as np
import pandas
import pytest
import sympy
import xarray
from scipy.spatial.transform import Rotation

import mbvi

from .test_trajectory import error_of


@pytest.fixture(scope="module")
def linkage(models):
    return mbvi.simulate(mbvi.load(models / "four_bar.yaml"), duration=0.3)


def test_a_dataset_is_what_xarray_reads_from_the_file(models, tmp_path):
    top = mbvi.simulate(mbvi.load(models / "lagrange_top.yaml"), duration=0.3)
    top.save(tmp_path / "a.h5")
    dataset = top.to_xarray()
    with xarray.open_dataset(tmp_path / "a.h5", engine="h5netcdf") as file:
        names = set(file.data_vars)
        for name in names - {"model"}:
            xarray.testing.assert_identical(file[name], dataset[name])
        assert file.attrs["numba_version"] and mbvi.from_yaml(str(file["model"].values)) == top.system.model
    assert {"q", "v", "p", "energy", "momenta", "momentum_unit", "position", "rotation"} < names
    assert set(dataset.data_vars) == names - {"model"}
    assert list(dataset.momentum.values) == list(top.momenta())


def test_what_follows_from_the_system(linkage):
    dataset = linkage.to_xarray()
    for body in linkage.system.model.bodies:
        places, rotations = linkage.pose(body)
        part = dataset.sel(body=body)
        assert np.array_equal(part.position, places)
        turn = Rotation.from_quat(part.rotation.sel(component=["x", "y", "z", "w"]).values).as_matrix()
        assert np.allclose(turn, rotations, rtol=0, atol=1e-14)
    pin = [f"rocker pin.{axis}" for axis in "xyz"]
    assert np.array_equal(dataset.multipliers, linkage.multipliers)
    # all of them hold the pin: their force is that of the joint
    force = np.linalg.norm(dataset.multipliers.sel(constraint=pin), axis=1)
    assert np.allclose(force, np.linalg.norm(linkage.reaction("rocker pin")[0], axis=1), rtol=1e-12)
    assert list(dataset.constraint_unit.values) == ["N", "N", "N", "N m", "N m"]
    assert dataset.q.attrs == {"long_name": "coordinates", "units": "coordinate_unit"}


def test_a_netcdf_file_is_the_dataset(linkage, tmp_path):
    linkage.export(tmp_path / "a.nc")
    with xarray.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as read:
        xarray.testing.assert_identical(read.load(), linkage.to_xarray())


def test_a_frame_has_columns_with_units(linkage):
    frame = linkage.to_pandas()
    assert frame.index.name == "t" and np.array_equal(frame.index, linkage.t)
    assert np.array_equal(frame["v.crank pin.angle"], linkage.v[:, 1])
    assert np.array_equal(frame["position.rocker.z"], linkage.pose("rocker")[0][:, 2])
    units = frame.attrs["units"]
    assert set(units) == {"t", *frame.columns}
    assert (units["t"], units["p.shaft.angle"], units["rotation.crank.w"]) == ("s", "J s/rad", "")


def test_a_csv_file_keeps_every_bit(linkage, tmp_path, monkeypatch):
    monkeypatch.setattr("mbvi.results.trajectory.EXPORTED_ROWS", 7)
    linkage.export(tmp_path / "a.csv")
    frame = linkage.to_pandas()
    numbers = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1)
    assert np.array_equal(numbers[:, 1:], frame.to_numpy()) and np.array_equal(numbers[:, 0], linkage.t)
    names = pandas.read_csv(tmp_path / "a.csv").columns
    units = frame.attrs["units"]
    assert [name.split(" [")[0] for name in names] == list(units)
    assert [name.partition(" [")[2].rstrip("]") for name in names] == list(units.values())


def test_a_file_gives_the_same_tables(linkage, tmp_path):
    linkage.save(tmp_path / "a.h5")
    xarray.testing.assert_identical(mbvi.read(tmp_path / "a.h5").to_xarray(), linkage.to_xarray())


def test_a_system_without_bodies_or_without_functions(tmp_path):
    x = sympy.Symbol("x")
    system = mbvi.from_sympy([x], [[2.0]], 3.0 * x**2, initial_q=[1.0], name="oscillator")
    whole = mbvi.simulate(system, step=0.01, duration=0.1)
    whole.save(tmp_path / "a.h5")
    read = mbvi.read(tmp_path / "a.h5")
    for each in (whole, read):
        columns = each.to_pandas().columns
        energies = ["energy", "kinetic_energy", "potential_energy", "constraint_residual"]
        assert list(columns) == ["q.x", "v.x", "p.x", *energies]


def test_a_missing_library_and_its_extra(linkage, tmp_path, monkeypatch):
    for library in ("xarray", "pandas", "h5netcdf"):
        monkeypatch.setitem(sys.modules, library, None)
    for library, function in (("xarray", linkage.to_xarray), ("pandas", linkage.to_pandas)):
        expected = f"export: expected {library}, found none; install it with: pip install 'mbvi[export]'"
        assert error_of(function) == expected
    assert "expected h5netcdf, found none" in error_of(linkage.export, tmp_path / "a.nc")
    linkage.export(tmp_path / "a.csv")


def test_where_no_export_can_be(linkage, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("precious")
    assert "expected a new file, found one that exists" in error_of(linkage.export, path)
    assert path.read_text() == "precious"
    linkage.export(path, force=True)
    assert path.read_text().startswith("t [s],q.shaft.angle [rad],")
    message = error_of(linkage.export, tmp_path / "a.parquet")
    assert message == f"{tmp_path / 'a.parquet'}: expected a file that ends in .csv or .nc, found '.parquet'"
