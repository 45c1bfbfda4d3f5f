"""The tables that commands print: the schemes of the catalogue, the members of an ensemble, and values over time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbvi.catalog import SCHEMES
from mbvi.cli.rows import MOST_REASONS, value_as_text
from mbvi.text import aligned, count

if TYPE_CHECKING:
    import xarray

    from mbvi.results.measurements import Measured
    from mbvi.results.tables import Table
    from mbvi.results.trajectory import Trajectory
    from mbvi.system.element_forces import ElementForce


ROUNDING = 1e-12  # part of the largest component of an element that is rounding


def scheme_table() -> str:
    """All schemes, and below them their sources."""
    sources = list(dict.fromkeys(scheme.source for scheme in SCHEMES.values()))
    rows = [("name", "order", "substeps", "symmetric", "source", "description")]
    for scheme in SCHEMES.values():
        symmetric = "yes" if scheme.is_symmetric else "no"
        number = f"[{sources.index(scheme.source) + 1}]"
        substeps = str(len(scheme.fractions))
        rows.append((scheme.name, str(scheme.order), substeps, symmetric, number, scheme.description))
    notes = [f"[{i}] {source}" for i, source in enumerate(sources, 1)]
    return "\n".join([*aligned(rows, right=[1, 2]), "", *notes])


def ensemble_report(dataset: xarray.Dataset) -> str:
    """How the members of an ensemble ended, and the first reasons of those that failed or are doubtful, each once."""
    status, about = dataset.status.values, dataset.attrs
    sizes = " × ".join(f"{name} {size}" for name, size in dataset.status.sizes.items())
    head = f"{about['name']}: {count(status.size, 'member')}" + (f" ({sizes})" if sizes else "")
    words = dataset.status.attrs["flag_meanings"].split()
    kinds = zip(dataset.status.attrs["flag_values"], words, strict=True)
    ends = [f"{int((status == value).sum())} {word.replace('_', ' ')}" for value, word in kinds if value in status]
    step, steps = float(about["step"]), int(about["steps"])
    run = f"{about['scheme']}, {count(steps, 'step')} of {step:g} s to t = {steps * step:.6g} s"
    lines = [f"{head}, {run}", ", ".join(ends)]
    has_reason = dataset.reason.values != ""
    if is_doubtful := int((has_reason & (status == 0)).sum()):
        lines[-1] += f", {is_doubtful} of them doubtful"
    failed = np.argwhere(has_reason)
    by_reason: dict[str, list[Any]] = {}
    for place, reason in zip(failed, dataset.reason.values[has_reason].tolist(), strict=True):
        by_reason.setdefault(reason, []).append(place)
    shown = dict(itertools.islice(by_reason.items(), MOST_REASONS))
    for reason, (place, *others) in shown.items():
        member = dataset.isel(dict(zip(dataset.status.dims, place, strict=True)))
        values = [f"{name} = {float(member[name]):.6g}" for name in member.coords if not member[name].dims]
        lines.append(f"  {', '.join(values)}: {reason}" + (f" ({len(others)} more of this)" if others else ""))
    if rest := len(failed) - sum(map(len, shown.values())):
        lines.append(f"  and {rest} more: see reason in the file")
    return "\n".join(lines)


def force_report(trajectory: Trajectory, found: Mapping[str, ElementForce]) -> str:
    """The least and the largest of every force and torque in a run, the largest power of its element, and its work in all."""
    rows: list[tuple[str, ...]] = [("force", "type", "least", "largest", "unit", "largest power [W]", "work [J]")]
    for element in found.values():
        sums = value_as_text(np.abs(element.power).max()), value_as_text(element.work[-1])
        rounding = ROUNDING * np.abs(element.values).max(initial=0.0)
        for i, (label, unit, values) in enumerate(zip(element.labels, element.units, element.values.T, strict=True)):
            ends = [value_as_text(0.0 if abs(end) <= rounding else end) for end in (values.min(), values.max())]
            rows.append((label, element.type, *ends, unit, *(sums if i == 0 else ("", ""))))
    return "\n".join([_span(trajectory), *aligned(rows, right=[2, 3, 5, 6])])


def column_report(trajectory: Trajectory, table: Table) -> str:
    """The first, the last, the least and the largest value of every column of a table."""
    rows: list[tuple[str, ...]] = [("", "first", "last", "least", "largest", "unit")]
    for name, unit, values in table.columns():
        rounding = ROUNDING * max(1.0, float(np.abs(values).max()))
        ends = values[0], values[-1], values.min(), values.max()
        rows.append((name, *(value_as_text(0.0 if abs(end) <= rounding else end) for end in ends), unit))
    return "\n".join([_span(trajectory), *aligned(rows, right=[1, 2, 3, 4])])


def sensor_report(trajectory: Trajectory, found: Mapping[str, Measured]) -> str:
    """How many samples every sensor took, and the first, the last, the least and the largest value of each component."""
    rows: list[tuple[str, ...]] = [("sensor", "samples", "first", "last", "least", "largest", "unit")]
    for name, each in found.items():
        columns = each.values.T if each.components else each.values[None]
        for axis, values in zip(each.components or ("",), columns, strict=True):
            rounding = ROUNDING * max(1.0, float(np.abs(each.values).max()))
            ends = values[0], values[-1], values.min(), values.max()
            texts = (value_as_text(0.0 if abs(end) <= rounding else end) for end in ends)
            rows.append((f"{name}.{axis}" if axis else name, str(len(each)), *texts, each.unit))
    return "\n".join([_span(trajectory), *aligned(rows, right=[1, 2, 3, 4, 5])])


def _span(trajectory: Trajectory) -> str:
    """How many states a table has, and from which times."""
    span = f"{count(len(trajectory), 'state')} from {trajectory.t[0]:g} s to {trajectory.t[-1]:g} s"
    return f"{trajectory.system.name}: {span}"
