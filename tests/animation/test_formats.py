"""Every format of animations, of which a file in `mbvi/animation/formats` is one: it is on its page, and it is written."""

import pytest

import mbvi
from mbvi.animation.formats import ENDINGS
from tests.folders import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of imageio-ffmpeg's pipes


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_is_on_its_page_and_is_written(ending, double_pendulum, tmp_path):
    assert f"| `{ending}` |" in (ROOT / "docs" / "animation.md").read_text(encoding="utf-8")
    assert ending in mbvi.animate.__doc__
    path = mbvi.animate(double_pendulum, tmp_path / f"a{ending}", speed=10)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.stat().st_size > 1000
