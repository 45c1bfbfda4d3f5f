"""The bundle of an ensemble over time: its median, where the middle half and nine of ten members are, and some members."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbvi.ensembles.export import check_ensemble
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.pictures import style
from mbvi.results.output import check_overwriting
from mbvi.results.tables import label_unit

if TYPE_CHECKING:
    import xarray

Array = np.ndarray
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
WIDTH, ROW = 8.0, 2.2  # of the figure, and of a panel [inch]
MOST_PANELS, MOST_MEMBERS = 12, 20


def plot_bundle(runs: xarray.Dataset, path: str | Path | None = None, force: bool = False) -> Any:
    """Draw what the members of an ensemble do: a panel for every coordinate, and one for the energy, over time.

    A line is the median, the dark band has the middle half of the members that are done, the light band nine tenths of them;
    thin lines are some of the members. Of an ensemble with statistics they are those; else they are found of what is stored.

    Parameters
    ----------
    runs : xarray.Dataset
        An ensemble of which q, v, p or energy are stored, or their statistics.
    path : str or path, optional
        A .png, .svg or .pdf to which the picture is written.
    force : bool
        Whether an existing file is overwritten.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ModelError
        If it is no such ensemble, the file cannot be written, or the extra ``mbvi[viz]`` is missing.
    """
    check_ensemble(runs)
    check_overwriting(force)
    if path is not None:
        style.check_picture(path, force)
    panels = _panels(runs)
    if not panels:
        found = ", ".join(map(str, runs.data_vars))
        remedy = "store q or energy, or take statistics of them"
        raise ModelError(f"runs: {wrong('something over time that is stored or has statistics', found, remedy)}")
    with style.fonts("".join(panels)):
        figure = style.new_figure(WIDTH, ROW * len(panels) + 0.6)
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for each, (label, (quantiles, members)) in zip(axes, panels.items(), strict=True):
            _draw(each, runs.t.values, quantiles, members)
            style.label_axis(each.yaxis, label)
        style.label_axis(axes[-1].xaxis, "t [s]")
        axes[0].legend(loc="upper left", ncols=4, frameon=False, fontsize=7.5, bbox_to_anchor=(0, 1.25))
        done = int((runs.status.values == 0).sum())
        style.entitle(figure, str(runs.attrs.get("name", "")), f"{done} of {runs.status.size} members are done")
        if path is not None:
            style.save(figure, path, force)
    return figure


def _panels(runs: xarray.Dataset) -> dict[str, tuple[Array, Array]]:
    """The panels by their labels: quantiles (5, t), and some members (k, t)."""
    found: dict[str, tuple[Array, Array]] = {}
    for name in ("q", "v", "p", "energy"):
        if name not in runs and f"{name}_quantiles" not in runs:
            continue
        of = runs[name] if name in runs else runs[f"{name}_quantiles"]
        members = _members(runs, name)
        quantiles = _quantiles(runs, name, members)
        if "coordinate" not in of.dims:
            found[f"{name} [{of.attrs['units']}]"] = quantiles, members[:MOST_MEMBERS]
            continue
        for i, coordinate in enumerate(runs.coordinate.values.tolist()):
            unit = label_unit(of.attrs["units"], {"coordinate": str(runs.coordinate_unit.values[i])})
            label = f"{name} {coordinate}" + (f" [{unit}]" if unit else "")
            found[label] = quantiles[..., i], members[:MOST_MEMBERS, :, i]
    return dict(list(found.items())[:MOST_PANELS])


def _members(runs: xarray.Dataset, name: str) -> Array:
    """The members that are done (k, t, …), in an order by chance that is always the same; none if they are not stored."""
    if name not in runs:
        shape = runs[f"{name}_mean"].shape
        return np.empty((0, *shape))
    values = runs[name].transpose(*runs.status.dims, ...).values
    values = values.reshape(runs.status.size, *values.shape[runs.status.ndim :])[runs.status.values.ravel() == 0]
    return np.random.default_rng(0).permutation(values)


def _quantiles(runs: xarray.Dataset, name: str, members: Array) -> Array:
    """The quantiles of all members that are done (5, t, …)."""
    if f"{name}_quantiles" in runs:
        return np.asarray(runs[f"{name}_quantiles"].values)
    if not len(members):
        return np.full((len(QUANTILES), *members.shape[1:]), np.nan)
    return np.quantile(members, QUANTILES, axis=0, method="inverted_cdf")


def _draw(axes: Any, t: Array, quantiles: Array, members: Array) -> None:
    """Bands, some members, and the median."""
    colour = style.COLOURS[0]
    style.dress(axes)
    axes.fill_between(t, quantiles[0], quantiles[4], color=colour, alpha=0.15, linewidth=0, label="90 % of the members")
    axes.fill_between(t, quantiles[1], quantiles[3], color=colour, alpha=0.3, linewidth=0, label="50 %")
    for i, values in enumerate(members):
        axes.plot(t, values, color=style.GREY, linewidth=0.4, alpha=0.6, label="some members" if i == 0 else None)
    axes.plot(t, quantiles[2], color=colour, linewidth=1.4, label="median")
    axes.set_xlim(t[0], t[-1])
