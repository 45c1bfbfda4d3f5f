"""The page of a report, as a reader and a browser find it."""

import subprocess
import sys
from importlib import import_module
from xml.etree import ElementTree

import pytest

import mbvi
from mbvi.papers.report import Figure, Line, Number, Panel, Report, Table, draw, html, scientific, svg, write

from .scripts import FOLDER

TABLE = Table("A <table>", ("what", "value"), [("x & y", Number(1.234)), ("z", Number(0.6, "0.4", "a 'slip' < 1"))])
FIGURE = Figure(
    "A figure",
    [
        Panel(
            "time [s]", "error", [Line("one", [1, 2], [1e-3, 1e-5], "marked"), Line("two", [1, 2], [1, 2])], scale="log"
        ),
        Panel("x [m]", "y [m]", [Line("two", [0, 1], [0, 1])], is_equal=True),
    ],
    columns=2,
)


@pytest.mark.parametrize(
    ("value", "printed", "agrees"),
    [
        (2.9349e-2, "2.93e-2", True),  # rounded
        (2.9399e-2, "2.93e-2", True),  # cut off
        (2.9401e-2, "2.93e-2", False),
        (2.9199e-2, "2.93e-2", False),
        (24.939585, "24.9445", False),
        (1.3, "", True),
    ],
)
def test_numbers_agree_within_a_unit_of_the_last_digit(value, printed, agrees):
    assert Number(value, printed).agrees == agrees


def test_what_is_no_number():
    with pytest.raises(mbvi.ModelError, match=r"printed: expected digits such as 2\.93e-2, found '2\.9 e'"):
        Number(1, "2.9 e")


@pytest.mark.parametrize(
    ("value", "text"),
    [(-6.08e-6, "−6.08·10⁻⁶"), (123.4, "123"), (12345.0, "1.23·10⁴"), (0.0, "0"), (-0.0123, "−0.0123")],
)
def test_scientific(value, text):
    assert scientific(value) == text


def test_text_is_escaped():
    page = html(Report("R < S", "'who' & what", [TABLE]))
    assert "<h1>R &lt; S</h1>" in page
    assert "A &lt;table&gt;" in page
    assert "x &amp; y" in page
    assert "a &#x27;slip&#x27; &lt; 1" in page
    assert "Of 1 printed numbers 0 agree and 1 differ." in page
    assert "paper 0.4 <span>✗ differs</span>" in page


def test_a_page_without_figures_needs_no_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    path = write(Report("R", "who", [TABLE]), tmp_path / "new" / "folder")
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(
        mbvi.ModelError, match=r"figures: expected matplotlib, found none; install it with: pip install 'mbvi\[viz\]'"
    ):
        write(Report("R", "who", [FIGURE]), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(mbvi.ModelError, match=r"index\.html: expected a file that can be written, found: "):
        write(Report("R", "who", [TABLE]), tmp_path / "file")


def test_figures_are_one_element_each_with_ids_of_their_own():
    page = html(Report("R", "who", [FIGURE, FIGURE]))
    assert page.count("<svg") == page.count("</svg>") == 2
    assert "<?xml" not in page
    assert "src=" not in page  # all of it is in the file
    ids = [element.get("id") for prefix in "ab" for element in ElementTree.fromstring(svg(FIGURE, prefix)).iter()]
    ids = [each for each in ids if each]
    assert len(ids) == len(set(ids))
    first = svg(FIGURE, "a")
    for element in ElementTree.fromstring(first).iter():
        for key, value in element.attrib.items():
            if key.endswith("href"):
                assert value[1:] in ids
            if value.startswith("url(#"):
                assert value[5:-1] in ids


@pytest.mark.parametrize("words", [1, 4, 7])
def test_labels_lie_within_the_drawing_and_apart(words):
    labels = [name + " and much more" * (words - 1) for name in ("one", "two", "three")]
    lines = [Line(label, [1, 2], [1e-3, 1e-5]) for label in labels]
    figure = Figure("A figure", [*FIGURE.panels, Panel("time [s]", "y [m]", lines)], columns=2)
    canvas = import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(drawing := draw(figure))
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes = [axes.get_tightbbox(renderer) for axes in drawing.axes] + [drawing.legends[0].get_window_extent(renderer)]
    shown = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert shown == list(dict.fromkeys(["one", "two", *labels]))
    for box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= drawing.bbox.x1 and box.y1 <= drawing.bbox.y1
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


@pytest.mark.parametrize("name", ["nonlinear_pendulum", "tops_and_double_pendulum"])
def test_scripts_write_their_page(name, tmp_path):
    command = [sys.executable, FOLDER / f"{name}.py", tmp_path / "page", "--quick"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{tmp_path / 'page' / 'index.html'}\n"
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg") == page.count("<figure") >= 2
    assert "<td class='number'>nan" not in page
