"""Which part of the variance of a result is due to which parameter: Sobol indices, as SALib finds them.

The members are two samples A and B of k parameters, and for each parameter A with its column of B (Saltelli et al. 2010).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.arguments import checked_count
from mbvi.model.expressions import show, wrong
from mbvi.results.tables import needed

if TYPE_CHECKING:
    import xarray

Array = np.ndarray
DIMENSION = "member"
"""Along which samples lie."""
ENDS = ("status", "steps", "reason")


def _problem(names: list[str]) -> dict[str, Any]:
    """The problem as SALib takes it."""
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}


def _salib(part: str) -> Any:
    """A module of SALib, of the extra `sampling`.

    Raises
    ------
    ModelError
        If it is missing.
    """
    try:
        return import_module(f"SALib.{part}.sobol")
    except ImportError:
        remedy = "install it with: pip install 'mbvi[sampling]'"
        raise ModelError(f"saltelli: {wrong('SALib', 'none', remedy)}") from None


def saltelli(edges: int, count: int, seed: int) -> Array:
    """Points (count (edges + 2), edges)."""
    problem = _problem([str(i) for i in range(edges)])
    return _salib("sample").sample(problem, count, calc_second_order=False, seed=seed)


def sobol_indices(runs: xarray.Dataset, of: str, seed: int = 0) -> xarray.Dataset:
    """Which part of the variance of a result is due to which parameter, by Sobol indices.

    Parameters
    ----------
    runs : xarray.Dataset
        An ensemble over distributions alone, of a plan by the method ``saltelli``.
    of : str
        A number of every member, as what was measured.
    seed : int
        The seed of the resampling by which confidence intervals are found.

    Returns
    -------
    xarray.Dataset
        Over the dimension ``parameter``: ``first``, the part of the variance that is due to it alone, and ``total``, that
        due to it and its interactions; ``first_confidence`` and ``total_confidence``, half the widths of their intervals of
        95 %.

    Raises
    ------
    ModelError
        If the ensemble is another, a member has no such number, or the extra ``mbvi[sampling]`` is missing.
    """
    dataset = needed("xarray", "sobol_indices").Dataset
    if not isinstance(runs, dataset):
        raise ModelError(f"runs: {wrong('an ensemble, as an xarray Dataset', show(runs))}")
    known = [name for name in runs.data_vars if runs[name].dims == (DIMENSION,) and name not in ENDS]
    listed = ", ".join(map(str, known))
    if not isinstance(of, str) or of not in known:
        raise ModelError(f"of: {wrong(f'a number of every member ({listed})', show(of))}")
    checked_count(seed, "seed", 0)
    names = [str(name) for name in runs.coords if runs[name].dims == (DIMENSION,) and name != DIMENSION]
    _check_saltelli(np.stack([runs[name].values for name in names], axis=1))
    values = np.asarray(runs[of].values, float)
    if not np.isfinite(values).all():
        found = f"{int((~np.isfinite(values)).sum())} members without; the first: {int(np.argmin(np.isfinite(values)))}"
        raise ModelError(f"of: {wrong(f'a finite {of} of every member', found, 'see status and reason')}")
    if np.ptp(values) == 0:
        raise ModelError(f"of: expected values of {of} that differ, found {values[0]:.6g} of all members")
    options = {"calc_second_order": False, "seed": seed}
    found = _salib("analyze").analyze(_problem(names), values, **options)
    keys = {"first": "S1", "total": "ST", "first_confidence": "S1_conf", "total_confidence": "ST_conf"}
    return dataset({name: ("parameter", found[key]) for name, key in keys.items()}, {"parameter": names})


def _check_saltelli(values: Array) -> None:
    """Refuse values (members, names) that are not those of two samples, and of one with each column of the other in turn."""
    names = values.shape[1]
    blocks = values.reshape(-1, names + 2, names) if len(values) % (names + 2) == 0 else np.empty((0, names + 2, names))
    is_right = len(blocks) > 0
    for j in range(names if is_right else 0):
        expected = blocks[:, 0].copy()
        expected[:, j] = blocks[:, -1, j]
        is_right &= np.array_equal(blocks[:, 1 + j], expected)
    if not is_right:
        remedy = "make the plan with method saltelli, and nothing else along its members"
        raise ModelError(f"runs: {wrong('members of a plan for Sobol indices', 'others', remedy)}")
