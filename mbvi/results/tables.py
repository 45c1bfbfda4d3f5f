"""Named quantities over time as tables of other tools: an xarray Dataset, a pandas DataFrame, a CSV or netCDF file."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.arguments import check_ending, checked_path
from mbvi.model.expressions import nearest, show, wrong
from mbvi.results.output import check_output, replace_file

if TYPE_CHECKING:
    import pandas
    import xarray

Array = np.ndarray
UNIT = "_unit"  # behind the name of a dimension whose labels have units of their own


@dataclass(frozen=True, eq=False)
class Quantity:
    """Values over time.

    Attributes
    ----------
    name, text : str
        Its name, and what it is.
    dimensions : tuple of str
        The dimensions after the time.
    units : str
        A unit; in it, the name of a dimension with _unit stands for the unit of each label.
    values : ndarray (states, …)
    """

    name: str
    text: str
    dimensions: tuple[str, ...]
    units: str
    values: Array


@dataclass(frozen=True, eq=False)
class Table:
    """Quantities at times.

    Attributes
    ----------
    t : ndarray (states,)
        Times [s].
    quantities : tuple of Quantity
    labels : dict of str to tuple of str
        The labels of every dimension.
    units : dict of str to tuple of str
        The units of the labels of a dimension that has such.
    attributes : dict
        What is said of the whole.
    """

    t: Array
    quantities: tuple[Quantity, ...]
    labels: Mapping[str, tuple[str, ...]]
    units: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, Any]

    def __getitem__(self, name: str) -> Array:
        """The values (states, …) of a quantity.

        Raises
        ------
        ModelError
            If there is no such quantity.
        """
        for each in self.quantities:
            if each.name == name:
                return each.values
        known = [each.name for each in self.quantities]
        raise ModelError(f"table: {wrong('one of its quantities', show(name), nearest(str(name), known))}")

    def columns(self) -> Iterator[tuple[str, str, Array]]:
        """Name, unit and values (states,) of every column: of each quantity at each of its labels, as q.hinge.angle."""
        for each in self.quantities:
            for place in product(*(range(len(self.labels[key])) for key in each.dimensions)):
                labels = [self.labels[key][i] for key, i in zip(each.dimensions, place, strict=True)]
                own = {
                    key: self.units[key][i] for key, i in zip(each.dimensions, place, strict=True) if key in self.units
                }
                yield (
                    ".".join([each.name, *labels]),
                    label_unit(each.units, own),
                    np.moveaxis(each.values, 0, -1)[place],
                )

    def export(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write it to a .csv or .nc file; `ModelError` as `Trajectory.export` gives it."""
        write = find_writer(checked_path(path))
        replace_file(check_output(path, force), lambda part: write(part, [self]))

    def to_xarray(self) -> xarray.Dataset:
        """The table as an xarray Dataset: quantities over t and their labels, with units and names as attributes."""
        new = needed("xarray").Dataset
        used = dict.fromkeys(key for each in self.quantities for key in each.dimensions)
        about = {"units": "s", "long_name": "time"}
        return new(
            {
                each.name: (
                    ("t", *each.dimensions),
                    np.asarray(each.values),
                    {"long_name": each.text} | ({"units": each.units} if each.units else {}),
                )
                for each in self.quantities
            }
            | {
                key + UNIT: (key, list(self.units[key]), {"long_name": f"unit of every {key}"})
                for key in used
                if key in self.units
            },
            {"t": ("t", np.asarray(self.t), about)}
            | {key: (key, list(self.labels[key]), {"long_name": f"name of every {key}"}) for key in used},
            self.attributes,
        )

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame over t, with units in ``attrs["units"]``."""
        pandas = needed("pandas")
        columns = list(self.columns())
        frame = pandas.DataFrame(
            {name: np.asarray(values) for name, _, values in columns}, pandas.Index(self.t, name="t")
        )
        frame.attrs = {**self.attributes, "units": {"t": "s"} | {name: unit for name, unit, _ in columns}}
        return frame


def label_unit(units: str, own: Mapping[str, str]) -> str:
    """The unit at labels, from those of the labels by dimension.

    Examples
    --------
    >>> label_unit("J s/coordinate_unit", {"coordinate": "rad"}), label_unit("coordinate_unit/s", {"coordinate": "-"})
    ('J s/rad', '1/s')
    """
    for dimension, unit in own.items():
        units = units.replace(dimension + UNIT, "1" if unit in ("", "-") else unit)
    return units.removesuffix("/1") if units != "1" else ""


def write_csv(path: Path, tables: Iterable[Table]) -> None:
    """Write tables of successive times as one CSV file: a line of names with units, as q.hinge.angle [rad]; then numbers.

    Numbers have as many digits as tell them apart, so that they are the same when they are read.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        for i, table in enumerate(tables):
            columns = [("t", "s", table.t), *table.columns()]
            if i == 0:
                rows.writerow(f"{name} [{unit}]" if unit else name for name, unit, _ in columns)
            rows.writerows(np.stack([values for _, _, values in columns], axis=1).tolist())


def write_netcdf(path: Path, tables: Iterable[Table]) -> None:
    """Write one table as a netCDF-4 file."""
    needed("h5netcdf")
    (table,) = tables
    table.to_xarray().to_netcdf(path, engine="h5netcdf")


WRITERS: dict[str, Callable[[Path, Iterable[Table]], None]] = {".csv": write_csv, ".nc": write_netcdf}
"""Writers by the endings of files."""


def find_writer(path: Path) -> Callable[[Path, Iterable[Table]], None]:
    """The writer of a file, by its ending.

    Raises
    ------
    ModelError
        If there is none.
    """
    return WRITERS[check_ending(path, WRITERS)]


def needed(library: str, what: str = "export") -> Any:
    """A library of the extra `export`.

    Raises
    ------
    ModelError
        If it is missing; the message begins with what needs it.
    """
    try:
        return import_module(library)
    except ImportError:
        raise ModelError(
            f"{what}: expected {library}, found none; install it with: pip install 'mbvi[export]'"
        ) from None
