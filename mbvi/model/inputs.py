"""Inputs of actuators as functions of time: what is given by name, and tables from files and labelled arrays."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.errors import ModelError, said_by_system
from mbvi.floats import as_floats
from mbvi.model.arguments import check_choice, checked_names, checked_number
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.fields import Table
from mbvi.model.forces import HasInput
from mbvi.model.model import Model

Array = np.ndarray
INTERPOLATIONS = ("linear", "hold", "smooth", "spline")
TIME = ("t", "time", "t [s]", "time [s]")
"""Names that the times have in files and labelled arrays."""


def with_inputs(model: Model, inputs: Mapping[str, Any]) -> Model:
    """The same model with other inputs of some actuators.

    Parameters
    ----------
    model : Model
    inputs : mapping of str to number, str, Table, or pair of arrays
        By the names of actuators: numbers, expressions of the time t, tables, or pairs (times, values), which are tables whose
        interpolation is smooth.

    Raises
    ------
    ModelError
        If there is no such actuator, or it cannot have such an input.
    """
    if not isinstance(inputs, Mapping):
        expected = "a mapping of actuators to their inputs"
        raise ModelError(f"inputs: {wrong(expected, show(inputs), 'mbvi.read_inputs reads them from a file')}")
    actuators = {name: force for name, force in model.forces.items() if isinstance(force, HasInput)}
    changed: dict[str, Any] = {}
    for name, given in inputs.items():
        if name not in actuators:
            near = nearest(str(name), actuators) if actuators else "the model has none"
            raise ModelError(f"inputs: {wrong('an actuator', show(name), near)}")
        where = f"inputs.{name}"
        try:
            changed[name] = actuators[name].model_copy(update={"input": _as_input(given, where)})
        except ModelError as error:
            raise error if str(error).startswith(where) else ModelError(f"{where}: {error}") from None
    return model.model_copy(update={"forces": {**model.forces, **changed}})


def _as_input(given: Any, where: str) -> Any:
    """An input as models have it."""
    if isinstance(given, tuple | list) and len(given) == 2 and not isinstance(given[0], str):
        times, values = given
        return table_of(times, values, "smooth", where)
    return given.item() if isinstance(given, np.generic) else given


def table_of(times: Any, values: Any, interpolation: Any, where: str) -> Table:
    """A table of arrays (m,).

    Raises
    ------
    ModelError
        Naming the row, from 0, and the time where numbers are missing, or times go back.
    """
    t, x = as_floats(times), as_floats(values)
    for what, array, found in (("times", t, times), ("values", x, values)):
        if array is None or array.ndim != 1:
            raise ModelError(f"{where}: {what}: {wrong('numbers (m,)', show(found))}")
    assert t is not None and x is not None
    if len(t) != len(x):
        raise ModelError(f"{where}: {wrong(f'as many values as times, {len(t)}', f'{len(x)}')}")
    _check_series(t, x, where)
    return Table(times=t.tolist(), values=x.tolist(), interpolation=interpolation)


def _check_series(t: Array, x: Array, where: str) -> None:
    """Refuse fewer than 2 rows, what is no number, and times that go back, naming the first such place."""
    if len(t) < 2:
        raise ModelError(f"{where}: {wrong('at least 2 rows', str(len(t)))}")
    if not np.isfinite(t).all():
        row = int(np.argmin(np.isfinite(t)))
        raise ModelError(f"{where}: {wrong('finite times', f'{t[row]} in row {row}')}")
    if not np.isfinite(x).all():
        row = int(np.argmin(np.isfinite(x)))
        remedy = "fill the gap, or leave the row out"
        raise ModelError(f"{where}: {wrong('finite values', f'{x[row]} in row {row}, at t = {t[row]:.6g} s', remedy)}")
    if (np.diff(t) < 0).any():
        row = int(np.argmax(np.diff(t) < 0)) + 1
        found = f"{t[row]:.6g} s after {t[row - 1]:.6g} s in row {row}"
        raise ModelError(f"{where}: {wrong('increasing times', found, 'sort the rows by their times')}")


def read_inputs(
    source: str | os.PathLike[str] | Any,
    interpolation: str = "smooth",
    *,
    names: Sequence[str] | None = None,
    longest_gap: float | None = None,
) -> dict[str, Table]:
    """Inputs over time from a file or labelled arrays, as ``inputs`` of `mbvi.simulate`.

    Parameters
    ----------
    source : str, path, xarray.Dataset or pandas.DataFrame
        A CSV file with a line of names, of which the first is t, the time [s]; or a dataset with the dimension t; or a table
        with the times as its index.
    interpolation : str
        Between the times: linear; hold, each value until the next time; smooth, which stays between its neighbours; or spline.
        A time that stands twice is a jump; where values are held, its first value must be the one held until then.
    names : sequence of str, optional
        The inputs that are taken; by default all.
    longest_gap : float, optional
        The longest time between two rows that is no gap in the data [s].

    Returns
    -------
    dict of str to Table

    Raises
    ------
    ModelError
        Naming the row and the time, if a number is missing, a time goes back, or there is a gap.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"elbow": [0.0, 1.5, 0.0]}, index=[0.0, 0.1, 0.4])
    >>> read_inputs(frame, "hold")["elbow"].values
    (0.0, 1.5, 0.0)
    """
    check_choice(interpolation, INTERPOLATIONS, "interpolation")
    source = Path(source) if isinstance(source, str | os.PathLike) else source
    where = str(source) if isinstance(source, Path) else "source"
    times, columns = _columns(source)
    if not columns:
        raise ModelError(f"{where}: {wrong('columns of inputs besides the times', 'none')}")
    chosen = list(columns) if names is None else checked_names(names, "names")
    for name in chosen:
        if name not in columns:
            raise ModelError(f"{where}: {wrong('one of its columns', show(name), nearest(name, columns))}")
    tables = {name: table_of(times, columns[name], interpolation, f"{where}: {name}") for name in chosen}
    if longest_gap is not None and tables:
        _check_gaps(np.asarray(times, float), checked_number(longest_gap, "longest_gap", above=0.0), where)
    return tables


def _check_gaps(t: Array, longest: float, where: str) -> None:
    """Refuse rows further apart than that."""
    apart = np.diff(t)
    if (apart > longest).any():
        row = int(np.argmax(apart > longest))
        found = f"{apart[row]:.6g} s from t = {t[row]:.6g} s in row {row} to the next"
        raise ModelError(f"{where}: {wrong(f'rows at most {longest:g} s apart', found, 'fill the gap')}")


def _columns(source: Any) -> tuple[Any, dict[str, Any]]:
    """Times, and values by names."""
    if isinstance(source, Path):
        return _columns_of_file(source)
    if hasattr(source, "data_vars"):
        if "t" not in source.coords:
            raise ModelError(f"source: {wrong('a dataset with the coordinate t', show(list(source.coords)))}")
        return source["t"].values, {str(name): each.values for name, each in source.data_vars.items()}
    if hasattr(source, "columns") and hasattr(source, "index"):
        return source.index.to_numpy(), {str(name): source[name].to_numpy() for name in source.columns}
    expected = "a CSV file, an xarray.Dataset or a pandas.DataFrame"
    raise ModelError(f"source: {wrong(expected, show(source))}")


def _columns_of_file(path: Path) -> tuple[Any, dict[str, Any]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            head, *rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise ModelError(f"{path}: {wrong('a CSV file', said_by_system(error))}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ModelError(f"{path}: {wrong('a CSV file', str(error))}") from None
    except ValueError:
        raise ModelError(f"{path}: {wrong('a line of names, and rows of numbers', 'an empty file')}") from None
    head = [name.strip() for name in head]
    if head[0].lower() not in TIME or len(set(head)) < len(head):
        remedy = "write for example: t,elbow,wrist"
        raise ModelError(
            f"{path}: {wrong('different names in its first line, of which the first is t', show(head), remedy)}"
        )
    numbers = np.empty((len(rows), len(head)))
    for i, row in enumerate(rows):
        if len(row) != len(head):
            raise ModelError(f"{path}: row {i}: {wrong(f'{len(head)} numbers', f'{len(row)}')}")
        for j, text in enumerate(row):
            numbers[i, j] = _number(text, f"{path}: {head[j]}", i, rows[i][0])
    return numbers[:, 0], dict(zip(head[1:], numbers[:, 1:].T, strict=True))


def _number(text: str, where: str, row: int, time: str) -> float:
    try:
        return float(text)
    except ValueError:
        found = f"{show(text.strip()) if text.strip() else 'nothing'} in row {row}, at t = {time.strip()} s"
        raise ModelError(f"{where}: {wrong('a number', found, 'fill the gap, or leave the row out')}") from None
