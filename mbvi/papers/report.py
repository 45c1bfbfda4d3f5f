"""Tables and figures as plain data, and one self-contained HTML page of them.

    Report  =  title, source and parts: tables and figures
    Table   =  rows of text and Numbers; a Number may have beside it what a paper prints, and why the two differ
    Figure  =  panels of lines

Figures are drawn by matplotlib, which is imported only then, and stand in the page as SVG.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.export import style

DIGITS = 3


@dataclass(frozen=True)
class Number:
    """A computed value, perhaps beside a printed one.

    Parameters
    ----------
    value : float
    printed : str
        The paper's digits, such as 2.93e-2; empty if it prints none.
    reason : str
        Why they differ, if they do.

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
        """One unit of the last printed digit."""
        exponent = Decimal(self.printed).as_tuple().exponent
        return 10.0 ** int(exponent)

    @property
    def digits(self) -> int:
        """Significant digits to show: one more than the paper."""
        return len(Decimal(self.printed).as_tuple().digits) + 1 if self.printed else DIGITS


@dataclass(frozen=True)
class Table:
    """Rows of text and Numbers under column heads."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Number]]
    text: str = ""

    @property
    def numbers(self) -> list[Number]:
        """Those with a printed value."""
        return [cell for row in self.rows for cell in row if isinstance(cell, Number) and cell.printed]


@dataclass(frozen=True)
class Line:
    """A curve (kind "line"), marked points joined by one ("marked"), or a broad grey curve behind the others ("reference")."""

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
class Report:
    """What was recomputed of a paper."""

    title: str
    source: str
    parts: Sequence[Table | Figure]

    @property
    def numbers(self) -> list[Number]:
        """All with a printed value."""
        return [number for part in self.parts if isinstance(part, Table) for number in part.numbers]


# --------------------------------------------------------------------------------------------- the page


def write(report: Report, folder: str | Path) -> Path:
    """Write the page of a report.

    Parameters
    ----------
    report : Report
    folder : path
        Made if it is not there; a page that is there already is replaced.

    Returns
    -------
    Path
        folder/index.html

    Raises
    ------
    ModelError
        If matplotlib is missing, or the folder cannot be written.
    """
    page = html(report)
    path = Path(folder) / "index.html"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: expected a file that can be written, found: {error.strerror or error}") from None
    return path


def html(report: Report) -> str:
    """The page as text; needs matplotlib if there are figures."""
    numbers = report.numbers
    differing = sum(not number.agrees for number in numbers)
    summary = (
        f"Of {len(numbers)} printed numbers {len(numbers) - differing} agree and {differing} differ." if numbers else ""
    )
    parts = [
        _table(part) if isinstance(part, Table) else _figure(part, f"figure{i}-") for i, part in enumerate(report.parts)
    ]
    return PAGE.substitute(
        title=escape(report.title), source=escape(report.source), summary=summary, parts="\n".join(parts)
    )


def scientific(value: float, digits: int = DIGITS) -> str:
    """A number to so many digits.

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


def _table(table: Table) -> str:
    head = "".join(f"<th scope='col'>{escape(column)}</th>" for column in table.columns)
    rows = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    return (
        f"<section><h2>{escape(table.title)}</h2>{_paragraph(table.text)}\n"
        f"<div class='wide'><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div></section>"
    )


def _cell(cell: str | Number) -> str:
    if isinstance(cell, str):
        return f"<td>{escape(cell)}</td>"
    value = scientific(cell.value, cell.digits)
    if not cell.printed:
        return f"<td class='number'>{value}</td>"
    mantissa, _, exponent = cell.printed.partition("e")
    printed = _with_power(mantissa, int(exponent)) if exponent else mantissa
    kind, verdict = ("agrees", "✓ agrees") if cell.agrees else ("differs", "✗ differs")
    reason = f"<br>{escape(cell.reason)}" if cell.reason else ""
    return (
        f"<td class='number'>{value}<small class='{kind}'>paper {printed} <span>{verdict}</span>{reason}</small></td>"
    )


def _figure(figure: Figure, prefix: str) -> str:
    return (
        f"<section><h2>{escape(figure.title)}</h2>{_paragraph(figure.text)}"
        f"\n<figure role='img' aria-label='{escape(figure.title)}'>{svg(figure, prefix)}</figure></section>"
    )


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


# ------------------------------------------------------------------------------------------ the figures

REFERENCE = {"color": "#BBBBBB", "linewidth": 4.0, "zorder": 1}
WIDTH, HEIGHT = 9.0, 2.7  # of a figure, and of a row of panels [inch]


def draw(figure: Figure) -> Any:
    """The figure as a matplotlib.figure.Figure.

    Raises
    ------
    ModelError
        If matplotlib is missing.
    """
    columns = min(figure.columns, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    height = max(HEIGHT if columns < 3 else WIDTH / columns, WIDTH / columns * any(p.is_equal for p in figure.panels))
    drawing = style.new_figure(WIDTH, rows * height + 0.5)
    styles = _styles(figure)
    grid = drawing.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(grid.flat, figure.panels, strict=False):
        _draw_panel(axes, panel, styles)
    for axes in grid.flat[len(figure.panels) :]:
        axes.remove()
    handles = {
        label: handle for axes in drawing.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    columns = max(1, int(WIDTH / (style.SAMPLE + style.LETTER * max(map(len, handles)))))
    drawing.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=columns, frameon=False)
    return drawing


def svg(figure: Figure, prefix: str = "") -> str:
    """The figure as an SVG element; `prefix` keeps its ids apart from those of others in a page."""
    return style.svg(draw(figure), prefix)


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
        if kind == "marked":
            styles[label] |= {"marker": style.MARKERS[i], "markersize": 4.5, "markerfacecolor": "none"}
        used += 1
    return styles


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
th, td { padding: 0.35rem 0.8rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top }
th { border-bottom: 2px solid #888 }
.number { font-variant-numeric: tabular-nums }
.number span { white-space: nowrap }
.number small { display: block; font-size: 0.8rem; max-width: 26rem }
.agrees { color: #3d5a50 } .differs { color: #a33c00 } .differs span { font-weight: 600 }
figure { margin: 0 } svg { width: 100%; height: auto }
</style>
</head>
<body>
<h1>$title</h1>
<p>$source</p>
<p><strong>$summary</strong></p>
$parts
</body>
</html>
""")
