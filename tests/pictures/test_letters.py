"""Letters that the font of pictures lacks: taken from another font, or reported once. matplotlib warns of what is missing."""

import io
from pathlib import Path

import matplotlib
import pytest

import mbvi
from mbvi.pictures import style

ROD = mbvi.Body(mass=1, center_of_mass=(0, 0, -0.5), inertia=(1, 1, 1))
STRANGE = "ꜬꝨ"  # which DejaVu Serif has, and matplotlib brings along, but not DejaVu Sans


@pytest.fixture
def forgetful():
    """Fonts are looked for, and warnings given, as in a new process."""
    for cached in (style.fallbacks, style._warn_of):
        cached.cache_clear()
    yield
    for cached in (style.fallbacks, style._warn_of):
        cached.cache_clear()


def pictures(letters):
    """A graph and curves whose titles, names of bodies, and names of joints have some letters."""
    hinge = mbvi.Revolute(parent="world", child=f"rod {letters}", axis=(0, 1, 0))
    bodies, joints = {f"rod {letters}": ROD}, {f"hinge {letters}": hinge}
    model = mbvi.Model(name=f"model {letters}", bodies=bodies, joints=joints)
    return mbvi.pictures.draw_graph(model), mbvi.plot(mbvi.simulate(model, step=0.1, duration=0.5))


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_letters_come_from_another_font(kind):
    for figure in pictures(STRANGE):
        figure.savefig(io.BytesIO(), format=kind)
        figure.texts[0].set_fontfamily("sans-serif")
        with pytest.warns(UserWarning, match="Glyph .* missing from"):
            figure.savefig(io.BytesIO(), format=kind)


def test_letters_that_no_font_has_are_reported_once(monkeypatch, forgetful, tmp_path):
    from matplotlib import font_manager

    usual = [font for font in font_manager.fontManager.ttflist if font.name == "DejaVu Sans"]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", usual)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    with pytest.warns(UserWarning, match="found none") as reported:
        figures = pictures("摆杆")
    expected = "pictures: expected a font with the letters 摆杆, found none; install one, as Noto Sans CJK or Unifont"
    assert [str(each.message) for each in reported] == [expected]
    for i, figure in enumerate((*figures, *pictures("摆杆"))):
        assert style.svg(figure).startswith("<svg")
        style.save(figure, tmp_path / f"{i}.png")
    assert style.font_with("摆杆") is None


def test_one_font_for_a_title():
    from matplotlib.ft2font import FT2Font

    title = f"model {STRANGE}"
    assert set(map(ord, title)) <= set(FT2Font(style.font_with(title)).get_charmap())
    assert style.font_with("model") is None


def test_fonts_that_are_gone_are_passed_over(tmp_path):
    assert style._found({"a"}, str(tmp_path / "gone.ttf")) == set()
    (tmp_path / "torn.ttf").write_bytes(b"no font")
    assert style._found({"a"}, str(tmp_path / "torn.ttf")) == set()
    usual = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    assert style._found({"a", "摆"}, str(usual)) == {"a"}


def test_names_are_no_formulas_and_end_within_the_picture():
    name = r"of $x_$ and $\bad$ " + "and more " * 60
    model = mbvi.Model(
        name=name, bodies={"rod": ROD}, joints={"hinge": mbvi.Revolute(parent="world", child="rod", axis=(0, 1, 0))}
    )
    found = mbvi.compare(model, ["midpoint"], steps=[0.1, 0.05], duration=0.5)
    run = mbvi.simulate(model, step=0.1, duration=0.5)
    for figure in (mbvi.pictures.draw_graph(model), mbvi.plot(run), found.plot()):
        figure.savefig(io.BytesIO(), format="png")
        title = next(text for text in figure.texts if text.get_text().startswith(r"of $x_$ and $\bad$ and more"))
        assert title.get_text().endswith("…")
        assert title.get_window_extent().x1 <= figure.bbox.x1
        assert title.get_window_extent().x1 > 0.8 * figure.bbox.x1
