"""What all pictures have in common: colours, fonts, axes, and how they become files or SVG elements.

matplotlib is imported when the first picture is drawn.
"""

from __future__ import annotations

import bisect
import functools
import io
import logging
import math
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.arguments import checked_path
from mbvi.model.expressions import wrong
from mbvi.results.output import check_output, replace_file

# Okabe & Ito's colours, which all readers can tell apart, in an order of lightness that also serves in grey.
COLOURS = ("#0072B2", "#D55E00", "#000000", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
MARKERS = "os^Dvx+"
GREY = "#666666"
SAMPLE, LETTER = 0.8, 0.09  # widths in a legend: of a line's sample with its margins, and of a letter [inch]
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SUFFIXES = ("png", "svg", "pdf")
LONG = 300.0  # ratio of the ends of a logarithmic axis from which only powers of ten have numbers
BOLD = 14.0  # size of the usual font whose letters are as wide as those of a title
MOST_LETTERS = 400  # number of letters of a title
LONGEST_LABEL = 30  # number of letters of a line of the label of an axis
NO_BREAK = "\u00a0"
RESOLUTION = 200  # resolution of a png [dots per inch]


def matplotlib(module: str = "") -> Any:
    """matplotlib, or a module of it.

    Raises
    ------
    ModelError
        If it is missing.
    """
    try:
        return import_module(f"matplotlib.{module}".rstrip("."))
    except ImportError:
        raise ModelError("figures: expected matplotlib, found none; install it with: pip install 'mbvi[viz]'") from None


def new_figure(width: float, height: float) -> Any:
    """An empty matplotlib.figure.Figure of a width and a height in inches.

    It shows itself in a notebook. Where pyplot draws interactively (ipympl, a window), it is one of pyplot's figures.
    """
    keys: dict[str, Any] = {"figsize": (width, height), "layout": "constrained", "facecolor": "white"}
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and pyplot.isinteractive() and "inline" not in pyplot.get_backend():
        return pyplot.figure(**keys)
    figure = matplotlib("figure").Figure(**keys)
    figure._repr_svg_ = lambda: svg(figure)
    return figure


def dress(axes: Any) -> None:
    """Give axes a light grid behind the curves, and no frame above and to the right."""
    axes.grid(color="#E5E5E5", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


@contextmanager
def fonts(letters: str = "") -> Iterator[None]:
    """A context in which small, even fonts are drawn, and of these letters also those that the usual font lacks."""
    sizes = {"font.size": 8.0, "axes.labelsize": 8.0, "xtick.labelsize": 7.5, "ytick.labelsize": 7.5}
    with _boxes():
        families = [family for family, _ in fallbacks(frozenset(letters))]
        with matplotlib().rc_context({**sizes, "font.family": [*matplotlib().rcParams["font.family"], *families]}):
            yield


@functools.cache
def fallbacks(letters: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Families and files of fonts of this system with the letters that the usual font lacks; warns once if none has them."""
    manager = matplotlib("font_manager")
    known = manager.fontManager.ttflist
    left = {letter for letter in letters if letter.isprintable()}
    left -= _found(left, manager.findfont(manager.FontProperties()))
    for path in set(manager.findSystemFonts()) - {font.fname for font in known} if left else ():
        with suppress(OSError, RuntimeError):
            manager.fontManager.addfont(path)  # one that was installed after matplotlib made its list
    fonts = []
    for font in sorted(known, key=lambda font: (font.style != "normal", "Sans" not in font.name)):
        found = set() if font.name.startswith("Last") else _found(left, font.fname)  # Last Resort has boxes for all
        for weight in ("bold", "normal") if found else ():
            file = manager.findfont(manager.FontProperties(family=font.name, weight=weight))
            found = _found(found, file)
        if found:
            fonts.append((font.name, file))
            left -= found
    if left:
        _warn_of("".join(sorted(left)))
    return tuple(fonts)


@functools.cache
def _warn_of(letters: str) -> None:
    """Say once that no font has some letters."""
    text = f"pictures: expected a font with the letters {letters}, found none; install one, as Noto Sans CJK or Unifont"
    warnings.warn(text, UserWarning, stacklevel=2)


def font_with(text: str) -> str | None:
    """File of the one font of this system that has all of a text, if the usual font lacks some of it."""
    letters = {letter for letter in text if letter.isprintable()}
    return next((file for _, file in fallbacks(frozenset(text)) if _found(letters, file) == letters), None)


def _found(letters: set[str], file: str) -> set[str]:
    """The letters that a font has; none if it is gone or cannot be read."""
    with suppress(OSError, RuntimeError):
        return {letter for letter in letters if matplotlib("ft2font").FT2Font(file).get_char_index(ord(letter))}
    return set()


@contextmanager
def _boxes() -> Iterator[None]:
    """matplotlib draws boxes for what `fallbacks` has warned of, and takes fonts that are not bold, and says no more of it."""
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from")
            yield
    finally:
        logger.setLevel(level)


def entitle(figure: Any, title: str, details: str) -> None:
    """Put a title above the left end of a figure, and details in grey below it."""
    title = fitted(title, figure.get_figwidth() - 0.2, bold_width)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold", parse_math=False)
    figure.supxlabel(details, x=0.99, ha="right", fontsize=7, color=GREY, parse_math=False)


def text_width(text: str, size: float) -> float:
    """Width of a text [inch]."""
    if not text:
        return 0.0
    path = matplotlib("textpath").TextPath((0, 0), text.replace("$", r"\$"), size=size)
    return float(np.ptp(path.vertices[:, 0])) / 72  # get_extents takes its time for every curve of every letter


def bold_width(text: str) -> float:
    """Width of a title [inch]."""
    return text_width(text, BOLD)


def fitted(text: str, width: float, measure: Callable[[str], float]) -> str:
    """A text, its end left out if it measures more than a width."""
    if len(text) <= MOST_LETTERS and measure(text) <= width:
        return text

    def shortened(n: int) -> str:
        return f"{text[:n].rstrip()}…"

    kept = range(1, min(len(text), MOST_LETTERS) + 1)
    return shortened(bisect.bisect_right(kept, width, key=lambda n: measure(shortened(n))))


def legend_above(axes: Any, width: float) -> float:
    """A legend above axes of a width in inches, in rows, long names in several lines; its height [points]."""
    handles, names = axes.get_legend_handles_labels()
    sample, letter = 0.55, 0.065  # inches, of small letters
    labels = [textwrap.fill(name, int((width - sample) / letter)) for name in names]
    longest = max(len(line) for label in labels for line in label.splitlines())
    columns = min(len(labels), max(1, int(width / (sample + letter * longest))))
    place = {"loc": "lower left", "bbox_to_anchor": (-0.01, 0.97), "borderaxespad": 0.2}
    legend = axes.legend(
        handles, labels, ncols=columns, frameon=False, fontsize=7.5, handlelength=2.2, columnspacing=1.2, **place
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return 12.0 * math.ceil(sum(1 + label.count("\n") for label in labels) / columns)


def label_axis(axis: Any, label: str) -> None:
    """Label an axis, with a power of ten next to the unit instead of in the numbers."""
    axis.label.set_parse_math(False)
    largest = max(map(abs, axis.get_view_interval()))
    exponent = math.floor(math.log10(largest)) if 0 < largest < math.inf else 0
    if -2 <= exponent <= 4:
        axis.set_label_text(_in_lines(label))
        return
    power = f"10{str(exponent).translate(RAISED)}"
    has_unit = label.endswith("]")
    axis.set_label_text(_in_lines(f"{label[:-1].replace('[', f'[{power} ')}]" if has_unit else f"{label} [{power}]"))
    ticker = matplotlib("ticker")
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value / 10.0**exponent:.4g}".replace("-", "−")))


def _in_lines(label: str) -> str:
    """A label in lines that are no longer than a panel over time is high, its unit in one of them."""
    text, bracket, unit = label.partition("[")
    whole = f"{text}{bracket}{unit.replace(' ', NO_BREAK)}"
    return "\n".join(textwrap.wrap(whole, LONGEST_LABEL)).replace(NO_BREAK, " ")


def plain_log(axis: Any) -> None:
    """Plain numbers 1, 2, 5 along a logarithmic axis, or powers of ten where it is long."""
    low, high = axis.get_view_interval()
    ticker = matplotlib("ticker")
    if low > 0 and high < LONG * low:
        axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def svg(figure: Any, prefix: str = "") -> str:
    """A matplotlib figure as an SVG element; `prefix` keeps its ids apart from those of others in a page."""
    text = io.StringIO()
    with _boxes(), matplotlib().rc_context({"svg.hashsalt": "mbvi"}):  # the same ids whenever it is drawn
        figure.savefig(text, format="svg", dpi=RESOLUTION, metadata={"Date": None})
    element = text.getvalue()
    element = element[element.index("<svg") :]
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}", element)


def check_picture(path: str | Path, force: bool = False) -> Path:
    """A path that a picture can be written to, tried out, as is matplotlib.

    Raises
    ------
    ModelError
        If matplotlib is missing; if the suffix is none of png, svg, pdf; if there is such a file and `force` is not set; if it
        cannot be written.
    """
    matplotlib()
    path = checked_path(path)
    if path.suffix[1:].lower() not in SUFFIXES:
        found = repr(path.suffix) if path.suffix else "none"
        raise ModelError(f"{path}: {wrong('one of the suffixes .png, .svg, .pdf', found)}")
    return check_output(path, force)


def save(figure: Any, path: str | Path, force: bool = False) -> None:
    """Write a figure as .png, .svg or .pdf, by the path's suffix.

    Raises
    ------
    ModelError
        As `check_picture`.
    """
    path = check_picture(path, force)
    data = io.BytesIO()
    kind = path.suffix[1:].lower()
    with _boxes(), matplotlib().rc_context({"svg.hashsalt": "mbvi"}):
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        figure.savefig(data, format=kind, dpi=RESOLUTION, metadata=undated)
    replace_file(path, lambda part: part.write_bytes(data.getvalue()))
