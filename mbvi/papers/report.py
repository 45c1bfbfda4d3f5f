"""Tables and figures as plain data, and a folder of files of them: one HTML page, CSV, SVG and PNG.

    Report      =  title, source and parts: tables, figures, and experiments that give them
    Experiment  =  a title and a function: a table or figure that is still to be computed
    Table       =  rows of text and Numbers; a Number may come with what a paper prints, and why the two differ
    Figure      =  panels of lines

Figures are drawn by matplotlib, which is imported only then, and stand in the page as SVG.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from html import escape
from itertools import chain, takewhile
from pathlib import Path
from string import Template
from typing import Any

from numpy.typing import ArrayLike

from mbvi.errors import ModelError, said_by_system
from mbvi.pictures import style

DIGITS = 3


@dataclass(frozen=True)
class Number:
    """A computed value, possibly with a printed one.

    Parameters
    ----------
    value : float
        An int, as of a count, is shown as it is.
    printed : str
        The paper's digits, such as 2.93e-2; empty if it prints none.
    reason : str
        Why they differ, if they do.
    decimals : int, optional
        How many of the printed decimals count, where a paper has filled them up with zeros; by default all.

    Raises
    ------
    ModelError
        If `printed` is no number.

    Examples
    --------
    >>> Number(0.02928, "2.93e-2").agrees, Number(0.0782, "0.782", "a misprint").agrees
    (True, False)
    """

    value: float
    printed: str = ""
    reason: str = ""
    decimals: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is printed but no number."""
        try:
            Decimal(self.printed or "0")
        except InvalidOperation:
            raise ModelError(f"printed: expected digits such as 2.93e-2, found {self.printed!r}") from None

    @property
    def agrees(self) -> bool:
        """Whether the value is the printed one, rounded or cut off after its last digit; true if none is printed."""
        return not self.printed or abs(self.value - float(self.printed)) < self.unit

    @property
    def unit(self) -> float:
        """One unit of the last printed digit that counts."""
        exponent = Decimal(self.printed).as_tuple().exponent if self.decimals is None else -self.decimals
        return 10.0 ** int(exponent)

    @property
    def digits(self) -> int:
        """Significant digits to show: one more than the paper."""
        return len(Decimal(self.printed).as_tuple().digits) + 1 if self.printed else DIGITS

    @property
    def text(self) -> str:
        """The value as it is shown."""
        return str(self.value) if isinstance(self.value, int) else scientific(self.value, self.digits)


@dataclass(frozen=True)
class Table:
    """Rows of text and Numbers under column heads."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Number]]
    text: str = ""

    @property
    def numbers(self) -> list[Number]:
        """The numbers with a printed value."""
        return [cell for row in self.rows for cell in row if isinstance(cell, Number) and cell.printed]

    @property
    def differing(self) -> list[tuple[str, Number]]:
        """The numbers that differ from the printed ones, each with its place: the first texts of its row, and its column."""
        return [
            (
                f"{', '.join(str(each) for each in takewhile(lambda each: isinstance(each, str), row) if each)}: {column}",
                cell,
            )
            for row in self.rows
            for column, cell in zip(self.columns, row, strict=True)
            if isinstance(cell, Number) and not cell.agrees
        ]


@dataclass(frozen=True)
class Line:
    """A curve (kind line), marked points (points), both (marked), or a broad grey curve behind the others (reference)."""

    label: str
    x: ArrayLike
    y: ArrayLike
    kind: str = "line"


@dataclass(frozen=True)
class Panel:
    """Lines in one pair of axes; `scale` is linear, log (both axes) or logy; `is_equal`, of one unit along both."""

    x_label: str
    y_label: str
    lines: Sequence[Line]
    scale: str = "linear"
    is_equal: bool = False


@dataclass(frozen=True)
class Figure:
    """Panels in so many columns; lines of one label look the same in all of them."""

    title: str
    panels: Sequence[Panel]
    text: str = ""
    columns: int = 1


@dataclass(frozen=True)
class Experiment:
    """A table or figure that is still to be computed, and the function that does it."""

    title: str
    compute: Callable[[], Table | Figure]


Part = Table | Figure | Experiment


@dataclass(frozen=True)
class Report:
    """What was recomputed of a paper, or will be; `left_out` are the titles of what is too long for a quick report."""

    title: str
    source: str
    parts: Sequence[Part]
    left_out: Sequence[str] = ()

    def computed(self, progress: Callable[[str], Any] = lambda title: None) -> Report:
        """The report with the results of its experiments; `progress(title)` is called before each."""
        parts: list[Part] = []
        for part in self.parts:
            if isinstance(part, Experiment):
                progress(part.title)
                part = part.compute()
            parts.append(part)
        return replace(self, parts=parts)

    @property
    def tables(self) -> list[Table]:
        """The tables of the report."""
        return [part for part in self.parts if isinstance(part, Table)]

    @property
    def numbers(self) -> list[Number]:
        """All numbers of the report that have a printed value."""
        return [number for table in self.tables for number in table.numbers]

    @property
    def count(self) -> str:
        """How many of the printed numbers agree, as a sentence."""
        differing = sum(not number.agrees for number in self.numbers)
        count = len(self.numbers)
        return f"Of {count} printed numbers {count - differing} agree and {differing} differ."


# -------------------------------------------------------------------------------------------- the files


def summary(report: Report) -> str:
    """How many printed numbers agree, and which differ and why, as plain text."""
    lines = [report.title, "", report.count if report.numbers else "The paper prints no numbers."]
    for table in report.tables:
        lines += ["", table.title] * bool(table.differing)
        for place, number in table.differing:
            lines.append(f"  {place}: {number.text}, printed {_printed(number)}")
            lines += [f"    {number.reason}"] * bool(number.reason)
    lines += ["", f"Left out: {', '.join(report.left_out)}"] * bool(report.left_out)
    return "\n".join(lines)


def check_folder(folder: str | Path, force: bool = False) -> Path:
    """A folder that files can be written to, made if it is not there, so that one knows before a long computation.

    Raises
    ------
    ModelError
        If it holds anything and `force` is not set, or cannot be written.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not force:
            raise ModelError(
                f"{folder}: expected a new or empty folder, found files in it; choose another, or overwrite them by --force"
            )
        trial = folder / ".mbvi"
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise _unwritable(folder, error) from None
    return folder


def write(report: Report, folder: str | Path) -> Path:
    """Write a report: its page, every table as CSV, and every figure as SVG and PNG.

    Parameters
    ----------
    report : Report
    folder : path
        Made if it is not there; files of the same names are replaced.

    Returns
    -------
    Path
        folder/index.html

    Raises
    ------
    ModelError
        If matplotlib is missing, or the folder cannot be written.
    """
    report = report.computed()
    files: dict[str, bytes] = {}
    elements = []
    for name, part in _named(report):
        if isinstance(part, Table):
            files[f"{name}.csv"] = _csv(part).encode()
            continue
        drawing, image = draw(part), io.BytesIO()
        drawing.savefig(image, format="png", dpi=DOTS)
        elements.append(style.svg(drawing, f"{name}-"))
        files |= {f"{name}.svg": elements[-1].encode(), f"{name}.png": image.getvalue()}
    files["index.html"] = _page(report, elements).encode()
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise _unwritable(folder, error) from None
    return folder / "index.html"


def _unwritable(folder: Path, error: OSError) -> ModelError:
    return ModelError(f"{folder}: expected a folder that can be written, found {said_by_system(error)}")


def _named(report: Report) -> Iterator[tuple[str, Table | Figure]]:
    """The parts with names for their files: what their titles have before a colon, such as table_2."""
    used: dict[str, int] = {}
    for part in report.parts:
        assert not isinstance(part, Experiment)
        stem = re.sub(r"\W+", "_", part.title.split(":")[0].lower()).strip("_")
        used[stem] = used.get(stem, 0) + 1
        yield (stem if used[stem] == 1 else f"{stem}_{used[stem]}"), part


def _csv(table: Table) -> str:
    """A table to full precision; columns with printed values are followed by these, whether they agree, and why not."""
    has_printed = [
        any(isinstance(cell, Number) and cell.printed for cell in column) for column in zip(*table.rows, strict=True)
    ]
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    heads = (
        [head, *(f"{head}, {each}" for each in ("printed", "agrees", "reason"))] if wide else [head]
        for head, wide in zip(table.columns, has_printed, strict=True)
    )
    lines.writerow(chain(*heads))
    for row in table.rows:
        lines.writerow(chain(*(_csv_cells(cell, wide) for cell, wide in zip(row, has_printed, strict=True))))
    return text.getvalue()


def _csv_cells(cell: str | Number, is_wide: bool) -> list[str]:
    if isinstance(cell, str):
        return [cell, "", "", ""] if is_wide else [cell]
    verdict = ("yes" if cell.agrees else "no") if cell.printed else ""
    value = cell.value if isinstance(cell.value, int) else float(cell.value)
    return [repr(value), *([cell.printed, verdict, cell.reason] if is_wide else [])]


# --------------------------------------------------------------------------------------------- the page


def html(report: Report) -> str:
    """The page as text; needs matplotlib if there are figures."""
    report = report.computed()
    return _page(
        report, [style.svg(draw(part), f"{name}-") for name, part in _named(report) if isinstance(part, Figure)]
    )


def _page(report: Report, elements: Sequence[str]) -> str:
    """The page of a report whose figures are drawn as SVG elements."""
    drawings, parts = iter(elements), []
    for name, part in _named(report):
        body = _table(part, name) if isinstance(part, Table) else _figure(part, name, next(drawings))
        parts.append(f"<section><h2>{escape(part.title)}</h2>{_paragraph(part.text)}\n{body}</section>")
    left_out = f"Left out, since it takes long: {', '.join(report.left_out)}." if report.left_out else ""
    return PAGE.substitute(
        title=escape(report.title),
        source=escape(report.source),
        summary=escape(report.count if report.numbers else ""),
        left_out=_paragraph(left_out),
        parts="\n".join(parts),
    )


def scientific(value: float, digits: int = DIGITS) -> str:
    """A number with the given count of significant digits.

    Examples
    --------
    >>> scientific(0.02928), scientific(12.0), scientific(6.08e-6), scientific(0.0)
    ('0.0293', '12.0', '6.08·10⁻⁶', '0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if -3 < int(exponent) < digits:
        return f"{value:.{digits - 1 - int(exponent)}f}".replace("-", "−")
    return _with_power(mantissa, int(exponent))


def _with_power(mantissa: str, exponent: int) -> str:
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa}·10{raised}".replace("-", "−")


def _table(table: Table, name: str) -> str:
    head = "".join(f"<th scope='col'>{escape(column)}</th>" for column in table.columns)
    rows = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    return (
        f"<div class='wide'><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n"
        f"<p class='files'><a href='{name}.csv'>CSV</a></p>"
    )


SHORT = 12  # letters of a text in a cell that stands on one line


def _cell(cell: str | Number) -> str:
    if isinstance(cell, str):
        return f"<td{' class=short' * (len(cell) <= SHORT)}>{escape(cell)}</td>"
    if not cell.printed:
        return f"<td class='number'>{cell.text}</td>"
    kind, verdict = ("agrees", "✓ agrees") if cell.agrees else ("differs", "✗ differs")
    reason = f"<br>{escape(cell.reason)}" if cell.reason else ""
    return (
        f"<td class='number'>{cell.text}<small class='{kind}'>paper {_printed(cell)} "
        f"<span>{verdict}</span>{reason}</small></td>"
    )


def _printed(number: Number) -> str:
    """A printed number, with its power of ten as papers write it."""
    mantissa, _, exponent = number.printed.partition("e")
    return _with_power(mantissa, int(exponent)) if exponent else mantissa


def _figure(figure: Figure, name: str, element: str) -> str:
    element = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", element)  # ids apart from those of other figures
    return (
        f"<figure role='img' aria-label='{escape(figure.title)}'>{element}</figure>\n"
        f"<p class='files'><a href='{name}.svg'>SVG</a> <a href='{name}.png'>PNG</a></p>"
    )


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


# ------------------------------------------------------------------------------------------ the figures

REFERENCE = {"color": "#BBBBBB", "linewidth": 4.0, "zorder": 1}
WIDTH, HEIGHT = 9.0, 2.7  # of a figure, and of a row of panels [inch]
DOTS = 120  # of a PNG [1/inch]


def draw(figure: Figure) -> Any:
    """The figure as a matplotlib.figure.Figure.

    Raises
    ------
    ModelError
        If matplotlib is missing.
    """
    columns = min(figure.columns, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    height = WIDTH / columns if columns > 2 or any(panel.is_equal for panel in figure.panels) else HEIGHT * columns**0.4
    styles = _styles(figure)
    drawing = style.new_figure(WIDTH, rows * height + 0.5 * (len(styles) > 1))  # with room for a legend
    grid = drawing.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(grid.flat, figure.panels, strict=False):
        _draw_panel(axes, panel, styles)
    for axes in grid.flat[len(figure.panels) :]:
        axes.remove()
    handles = {
        label: handle for axes in drawing.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if len(handles) > 1:
        drawing.legend(
            handles.values(), handles.keys(), loc="outside upper center", ncols=_legend_columns(handles), frameon=False
        )
    return drawing


def _styles(figure: Figure) -> dict[str, dict[str, Any]]:
    """How the lines of each label look."""
    kinds = {line.label: line.kind for panel in figure.panels for line in panel.lines}
    styles, used = {}, 0
    for label, kind in kinds.items():
        if kind == "reference":
            styles[label] = REFERENCE
            continue
        i = used % len(style.COLOURS)
        styles[label] = {"color": style.COLOURS[i], "linestyle": style.DASHES[i], "linewidth": 1.3}
        if kind in ("marked", "points"):
            styles[label] |= {"marker": style.MARKERS[i], "markersize": 4.5, "markerfacecolor": "none"}
        if kind == "points":
            styles[label] |= {"linestyle": "none"}
        used += 1
    return styles


def _legend_columns(labels: Iterable[str]) -> int:
    """All labels in one row, if they fit; else as many columns as the longest allows."""
    lengths = [style.SAMPLE + style.LETTER * len(label) for label in labels]
    return len(lengths) if sum(lengths) < WIDTH else max(1, int(WIDTH / max(lengths)))


def _draw_panel(axes: Any, panel: Panel, styles: dict[str, dict[str, Any]]) -> None:
    for line in panel.lines:
        axes.plot(line.x, line.y, label=line.label, **styles[line.label])
    if panel.scale in ("log", "logy"):
        axes.set_yscale("log")
    if panel.scale == "log":
        axes.set_xscale("log")
    if panel.is_equal:
        axes.set_aspect("equal", adjustable="box")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    style.dress(axes)


PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { line-height: 1.2 } h2 { margin-top: 2.5rem; font-size: 1.25rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 0.95rem }
th, td { padding: 0.35rem 0.6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top }
th { border-bottom: 2px solid #888 }
.short { white-space: nowrap }
.number { font-variant-numeric: tabular-nums }
.number span { white-space: nowrap }
.number small { display: block; font-size: 0.8rem; max-width: 26rem }
.agrees { color: #3d5a50 } .differs { color: #a33c00 } .differs span { font-weight: 600 }
figure { margin: 0 } svg { width: 100%; height: auto }
.files { font-size: 0.8rem; margin: 0.3rem 0 } .files a { color: inherit; margin-right: 0.6rem }
@media print {
  html { font-size: 10px } body { font-size: 1rem; max-width: none; margin: 0 } .files { display: none }
  section:has(figure), tr { break-inside: avoid } h2 { break-after: avoid }
}
</style>
</head>
<body>
<h1>$title</h1>
<p>$source</p>
<p><strong>$summary</strong></p>
$left_out
$parts
</body>
</html>
""")
