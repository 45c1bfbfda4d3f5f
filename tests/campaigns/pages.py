"""Pages of runs with hostile names, opened in a browser: names stay text, nothing of them runs, and the page works.

    python -m tests.campaigns.pages [--count 60] [--seed 0]

The name of a model holds markup, scripts, quotes, ends of scripts, or is very long. Those of bodies, joints, forces and
constraints, which may have letters and digits alone, are names that objects of JavaScript have. The browser is that of the
environment variable MBVI_BROWSER, or a Chromium or Chrome that is installed.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import mbvi

from . import campaign

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
RUNS = "window.hostile = 1"  # what a script of a name would do
PIECES = (
    *(
        f"<script>{RUNS}</script>",
        f"</script><script>{RUNS}</script>",
        f"<img src=x onerror='{RUNS}'>",
        f'" onload="{RUNS}',
    ),
    *(
        f"'); {RUNS}; ('",
        f'"); {RUNS}; ("',
        f"`${{{RUNS}}}`",
        f"<svg/onload={RUNS}>",
        "<!--",
        "-->",
        "]]>",
        "<![CDATA[",
    ),
    *(
        "</title>",
        "</style>",
        "</body></html>",
        "<!--<script>",
        "@@data@@",
        "@@numbers@@",
        "%s{0}{name}$&$1",
        "{{7*7}}",
    ),
    *("&lt;b&gt;&amp;&#60;", "\\", "\\u003c", "'", '"', "`", "<", "&", "é ü ß 𝕏 漢字 🤖", "עברית", "a/b", "../../x"),
    *("javascript:alert(1)", "x" * 2000, "$", "#"),
)
NAMES = (
    *(
        "__proto__",
        "constructor",
        "prototype",
        "toString",
        "hasOwnProperty",
        "valueOf",
        "null",
        "undefined",
        "NaN",
        "true",
        "0",
    ),
    *("data", "viewer", "length", "name", "things", "this", "window", "document", "x y", "a+b", "a-b", "e1", "x" * 500),
)
WATCH = """
window.problems = [];
addEventListener('error', event => problems.push(String(event.message || event)));
addEventListener('unhandledrejection', event => problems.push(String(event.reason)));
for (const key of ['error', 'warn']) console[key] = (...words) => problems.push(words.join(' '));
"""


def browser() -> str:
    """The browser's program, or nothing."""
    return os.environ.get("MBVI_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), "")


def hostile_model(chance: random.Random) -> mbvi.Model:
    """A double pendulum with such names."""
    title = "".join(chance.choices(PIECES, k=chance.randint(1, 4)))
    upper, lower, first, second, spring, rod = chance.sample(NAMES, 6)
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
    ends = {"body_a": "world", "body_b": lower, "point_b": (0, 0, -1)}
    return mbvi.Model(
        name=title,
        bodies={upper: bob, lower: bob},
        joints={
            first: mbvi.Revolute(parent="world", child=upper, axis=(0, 1, 0)),
            second: mbvi.Revolute(parent=upper, child=lower, position=(0, 0, -1), axis=(0, 1, 0)),
        },
        forces={spring: mbvi.Spring(**ends, point_a=(1, 0, 0), stiffness=1)},
        constraints={rod: mbvi.Distance(**ends, point_a=(2, 0, 0), length=2.5)},
        initial={first: mbvi.Initial(position=0.3), second: mbvi.Initial(position=0.5)},
    )


@cache
def driver() -> Any:
    """The browser, for all pages of this process."""
    return sync_playwright().start().chromium.launch(executable_path=browser(), args=FLAGS)


def trial(seed: int) -> str:
    """Make, open and use the page of a seed."""
    model = hostile_model(random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = mbvi.animate(mbvi.simulate(model, step=0.02, duration=0.2), Path(folder, "a.html"))
        return opened(path, model)


def opened(path: Path, model: mbvi.Model) -> str:
    """What a page does in the browser."""
    tab = driver().new_page(viewport={"width": 1000, "height": 700})
    dialogs, requests = [], []
    tab.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda request: requests.append(request.url))
    tab.add_init_script(WATCH)
    try:
        tab.goto(path.as_uri(), timeout=120_000)
        tab.wait_for_function("typeof viewer === 'object'", timeout=60_000)
        tab.evaluate(
            "viewer.setTime(0.1); for (const id of ['frames', 'momentum', 'trails', 'panel']) byId(id).click()"
        )
        tab.wait_for_timeout(100)
        assert tab.evaluate("window.hostile") is None, "a name was run as a script"
        assert tab.evaluate("problems") == [], tab.evaluate("problems")
        assert (dialogs, len(requests)) == ([], 1), (dialogs, requests)
        assert tab.text_content("h1") == model.name, "the title is another text"
        things = tab.evaluate("data.things.map(thing => thing.name)")
        assert set(model.bodies) <= set(things), "bodies have other names"
        tags = tab.evaluate(
            "[...document.querySelectorAll('script, img, svg, iframe, style, link')].map(each => each.tagName)"
        )
        assert set(tags) <= {"SCRIPT", "STYLE", "svg", "LINK"}, tags
    finally:
        tab.close()
    return "text in a page that works"


if __name__ == "__main__":
    if not browser():
        sys.exit("no browser: install Chromium, or name one in MBVI_BROWSER")
    campaign.main(trial, "pages with hostile names", 60)
