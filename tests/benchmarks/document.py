"""Figures as tables: printed, and in pages of docs between `<!-- figures: NAME -->` and `<!-- end -->`; and as a plot."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from mbvi.pictures import style
from mbvi.text import aligned
from tests.benchmarks import precision
from tests.folders import ROOT

NAMES = ("benchmarks", "clusters", "ensembles", "impacts", "work_precision")
PAGES = tuple(ROOT / "docs" / f"{name}.md" for name in NAMES)
PICTURE = ROOT / "docs" / "pictures" / "work_precision.svg"
COLUMNS = 4
LARGEST, LEAST = 1e-1, 1e-12  # errors that it shows [m]
OF_PRECISION = ("references", "preparation")  # blocks that are made of its figures too


def show(rows: list[dict]) -> None:
    """Print rows as a table."""
    print("\n".join(aligned(_cells(rows))))


def _cells(rows: list[dict]) -> list[list[str]]:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return [keys, *([_cell(row.get(key, "")) for key in keys] for row in rows)]


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "–"
    return f"{value:.0f}" if 100 <= abs(value) < 1e4 else f"{value:.2g}"


def shortened(value: Any) -> Any:
    """Figures with four digits, for a file."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shortened(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def markdown(rows: list[dict]) -> str:
    """Rows as a table of a page."""
    head, *body = _cells(rows)
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _machine(environment: dict[str, str]) -> str:
    machine, cores, *versions = environment.items()
    found = ", ".join(f"{name} {number}" for name, number in versions)
    return f"{machine[1]}, {cores[1]} cores; {found}."


BLOCKS: dict[str, Callable[[dict], str]] = {
    "environment": lambda results: _machine(results["environment"]),
    "precision": lambda results: markdown(precision.ratios(results["precision"])),
    "references": lambda results: markdown(
        [{"problem": each["problem"]} | each["reference"] for each in results["precision"]]
    ),
    "preparation": lambda results: markdown(
        [{"problem": each["problem"]} | each["preparation [s]"] for each in results["precision"]]
    ),
}
"""What stands between marks; of other names, the rows as they are."""


def write(results: dict) -> None:
    """Renew the blocks of the pages for which there are figures, and draw the work–precision diagrams."""

    def block(match: re.Match) -> str:
        name = match[1]
        if ("precision" if name in OF_PRECISION else name) not in results:
            return match[0]
        text = BLOCKS[name](results) if name in BLOCKS else markdown(results[name])
        return f"<!-- figures: {name} -->\n{text}\n<!-- end -->"

    for page in PAGES:
        page.write_text(re.sub(r"<!-- figures: (\w+) -->\n.*?<!-- end -->", block, page.read_text(), flags=re.DOTALL))
    if "precision" in results:
        style.save(diagrams(results["precision"]), PICTURE, force=True)


def diagrams(entries: list[dict]) -> Any:
    """Wall time over error of ours and of each peer, on every problem: of each program the points that no other of its beats."""
    families = list(dict.fromkeys(name for entry in entries for name in precision.families(entry)))
    with style.fonts():
        rows = -(-len(entries) // COLUMNS)
        figure = style.new_figure(11.0, 2.7 * rows)
        panels = list(figure.subplots(rows, COLUMNS, squeeze=False).flat)
        for axes, entry in zip(panels, entries, strict=False):
            for name, members in precision.families(entry).items():
                k = families.index(name)
                points = _best([point for member in members for point in entry["curves"][member]])
                axes.plot(
                    *zip(*points, strict=True),
                    clip_on=False,
                    color=style.COLOURS[k],
                    linestyle=style.DASHES[k],
                    marker=style.MARKERS[k],
                    markerfacecolor="none",
                    markersize=3.5,
                    markevery=slice(1, None),  # the first is at the edge
                    linewidth=2.0 if name == "mbvi" else 1.0,
                    label=name,
                )
            style.dress(axes)
            axes.set(xscale="log", yscale="log", title=entry["problem"], xlim=(LARGEST, LEAST))
        for axes in panels[len(entries) :]:
            axes.set_visible(False)
        figure.supxlabel("largest error of a place over the run [m]", fontsize=8)
        figure.supylabel("wall time [ms]", fontsize=8)
        handles = {
            label: handle
            for axes in figure.axes
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False)
    return figure


def _best(points: list[dict]) -> list[tuple[float, float]]:
    """Errors [m] and wall times [ms] of the points than which none is both faster and more accurate, as the diagram shows them:
    from its edge on, since a larger error costs no more, and to what it takes for none.
    """
    found: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda point: point["seconds"]):
        error, time = max(point["error"], LEAST), 1e3 * point["seconds"]
        if error < LARGEST and not found:
            found.append((LARGEST, time))
        if error < LARGEST and error < found[-1][0]:
            found.append((error, time))
    return found
