"""Ensembles as tables in Parquet files, which pandas, polars, Spark and databases read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.arguments import check_flag
from mbvi.model.expressions import show, wrong
from mbvi.results.output import check_output, replace_file
from mbvi.results.tables import needed

if TYPE_CHECKING:
    import xarray

Array = np.ndarray
ROWS = 200_000  # that are in memory at once
COORDINATE, TIME = "coordinate", "t"


def to_parquet(runs: xarray.Dataset, path: str | os.PathLike[str], force: bool = False) -> None:
    """Write an ensemble as one table: a row for every state of every member, or for every member if no states are stored.

    Its columns are what varies, the time, what is stored, as ``q.elbow.angle``, and how the member ended. It is written member by
    member, so that it need not fit into memory.

    Parameters
    ----------
    runs : xarray.Dataset
        An ensemble.
    path : str or path
        A file that ends in .parquet.
    force : bool
        Whether an existing file is overwritten.

    Raises
    ------
    ModelError
        If it is no ensemble, the file cannot be written, or the extra ``mbvi[parquet]`` is missing.
    """
    check_ensemble(runs)
    check_flag(force, "force")
    try:
        parquet, arrow = import_module("pyarrow.parquet"), import_module("pyarrow")
    except ImportError:
        remedy = "install it with: pip install 'mbvi[parquet]'"
        raise ModelError(f"to_parquet: {wrong('pyarrow', 'none', remedy)}") from None

    def write(part: Path) -> None:
        blocks = (arrow.table(columns) for columns in _blocks(runs))
        first = next(blocks)
        with parquet.ParquetWriter(part, first.schema) as writer:
            writer.write_table(first)
            for block in blocks:
                writer.write_table(block)

    replace_file(check_output(path, force, (".parquet",)), write)


def check_ensemble(runs: Any) -> None:
    """Refuse what is no result of `ensemble`."""
    if not isinstance(runs, needed("xarray", "runs").Dataset) or "status" not in runs or "reason" not in runs:
        raise ModelError(f"runs: {wrong('an ensemble, as an xarray Dataset', show(runs, 60))}")


def _blocks(runs: xarray.Dataset) -> Iterator[dict[str, Array]]:
    """The columns of some members after others."""
    dims = runs.status.dims
    names = [str(name) for name in runs.data_vars if set(dims) <= set(runs[name].dims)]
    has_times = any(TIME in runs[name].dims for name in names)
    times = runs[TIME].values if has_times else np.zeros(1)
    size = max(1, ROWS // len(times))
    count = runs.status.size
    for first in range(0, count, size):
        numbers = np.arange(first, min(first + size, count))
        at = dict(zip(dims, np.unravel_index(numbers, runs.status.shape), strict=True)) if dims else {}
        part = runs.isel({dim: needed("xarray").DataArray(places, dims="row") for dim, places in at.items()})
        columns = {str(name): part[name] for name in part.coords if part[name].dims in ((), ("row",))}
        yield _columns(columns | {name: part[name] for name in names}, len(numbers), times if has_times else None)


def _columns(parts: dict[str, Any], members: int, times: Array | None) -> dict[str, Array]:
    """Arrays (members · times,) by the names of columns."""
    rows = 1 if times is None else len(times)
    found: dict[str, Array] = {} if times is None else {TIME: np.tile(times, members)}
    for name, part in parts.items():
        if COORDINATE in part.dims:
            labels = part[COORDINATE].values.tolist()
            values = part.transpose(..., COORDINATE).values.reshape(members * rows, len(labels))
            found |= {f"{name}.{label}": values[:, i] for i, label in enumerate(labels)}
        elif TIME in part.dims:
            found[name] = part.values.reshape(members * rows)
        else:
            found[name] = np.repeat(np.broadcast_to(part.values, members), rows)
    return found
