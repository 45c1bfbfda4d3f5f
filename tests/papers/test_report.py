"""The page and the files of a report, as a reader, a browser and a spreadsheet find them."""

import csv
import re
import sys
from importlib import import_module
from xml.etree import ElementTree

import pytest

import mbvi
from mbvi.papers.report import (
    Experiment,
    Figure,
    Line,
    Number,
    Panel,
    Report,
    Table,
    check_folder,
    draw,
    html,
    scientific,
    summary,
    write,
)

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
        mbvi.ModelError,
        match=r"figures: expected matplotlib, found none; install it with: pip install 'mbvi\[viz\]'",
    ):
        write(Report("R", "who", [FIGURE]), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for function in (lambda path: write(Report("R", "who", [TABLE]), path), check_folder):
        with pytest.raises(mbvi.ModelError, match=r"file: expected a folder that can be written, found [a-z]"):
            function(tmp_path / "file")


def test_a_folder_is_not_overwritten_unasked(tmp_path):
    assert list(check_folder(tmp_path / "new" / "folder").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(mbvi.ModelError, match=r"expected a new or empty folder, found files in it; .* by --force"):
        check_folder(tmp_path)
    assert check_folder(tmp_path, force=True) == tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "new"]


def test_numbers_of_which_a_paper_filled_up_decimals():
    number = Number(0.000877, "0.000800", "cut off", decimals=4)
    assert number.agrees and not Number(0.000877, "0.000800").agrees
    assert not Number(0.000901, "0.000800", decimals=4).agrees
    assert "paper 0.000800 <span>✓ agrees</span><br>cut off" in html(
        Report("R", "who", [Table("t", ["a"], [[number]])])
    )


def test_counts_are_whole(tmp_path):
    page = write(Report("R", "who", [Table("t", ["a"], [[Number(47, "48", "lost")]])]), tmp_path)
    assert "<td class='number'>47<small class='differs'>paper 48 " in page.read_text(encoding="utf-8")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[1] == "47,48,no,lost"


def test_files(tmp_path):
    """A page that links to what lies beside it; PNG and SVG as their readers know them; names that do not collide."""
    report = Report(
        "R", "who", [Table("Table 1: of <it>", TABLE.columns, TABLE.rows), FIGURE, FIGURE], ["all of table 2"]
    )
    page = write(report, tmp_path)
    names = ["a_figure.png", "a_figure.svg", "a_figure_2.png", "a_figure_2.svg", "table_1.csv"]
    assert {path.name for path in tmp_path.iterdir()} == {*names, "index.html"}
    assert sorted(re.findall(r"<a href='([^']+)'", page.read_text(encoding="utf-8"))) == names
    assert "Left out, since it takes long: all of table 2." in page.read_text(encoding="utf-8")
    assert (tmp_path / "a_figure.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert ElementTree.parse(tmp_path / "a_figure.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    with open(tmp_path / "table_1.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["value"]) for row in rows] == [1.234, 0.6]
    assert rows[0]["what"] == "x & y"
    beside = [tuple(row[f"value, {key}"] for key in ("printed", "agrees", "reason")) for row in rows]
    assert beside == [("", "", ""), ("0.4", "no", "a 'slip' < 1")]


def test_summary():
    lines = summary(Report("R", "who", [TABLE, FIGURE], ["all of table 2"])).splitlines()
    assert lines == [
        "R",
        "",
        "Of 1 printed numbers 0 agree and 1 differ.",
        "",
        "A <table>",
        "  z: value: 0.60, printed 0.4",
        "    a 'slip' < 1",
        "",
        "Left out: all of table 2",
    ]
    assert summary(Report("R", "who", [FIGURE])) == "R\n\nThe paper prints no numbers."


def test_experiments_are_computed_in_turn():
    done = []
    report = Report("R", "who", [Experiment("One", lambda: TABLE), FIGURE, Experiment("Two", lambda: FIGURE)], ["more"])
    computed = report.computed(done.append)
    assert done == ["One", "Two"]
    assert computed == Report("R", "who", [TABLE, FIGURE, FIGURE], ["more"])
    assert html(report) == html(computed)


def test_figures_are_one_element_each_with_ids_of_their_own():
    page = html(Report("R", "who", [FIGURE, FIGURE]))
    assert page.count("<svg") == page.count("</svg>") == 2
    assert "<?xml" not in page
    assert "src=" not in page  # all of it is in the file
    elements = [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    ids = [each.get("id") for element in elements for each in element.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    for element in elements:
        own = [each.get("id") for each in element.iter()]
        for each in element.iter():
            for key, value in each.attrib.items():
                if key.endswith("href"):
                    assert value[1:] in own
                if value.startswith("url(#"):
                    assert value[5:-1] in own


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


def test_what_is_left_out_is_reported():
    report = Report("title", "source", [TABLE], left_out=["table 2", "figure 3"])
    assert summary(report).endswith("\n\nLeft out: table 2, figure 3")
    assert "Left out, since it takes long: table 2, figure 3." in html(report)
    assert "Left out" not in summary(Report("title", "source", [TABLE])) + html(Report("title", "source", [TABLE]))
