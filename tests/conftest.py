"""What all tests share."""

import gc
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the threads of several test processes get in each other's way
os.environ.setdefault(
    "MBVI_QUIET", "1"
)  # so that messages that kernels are compiled are not among those that are compared

import pytest
from playwright.sync_api import sync_playwright

from tests.folders import MODELS

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing that is collected is garbage; looking for that took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture(scope="session")
def browser():
    """Starts a browser: that of the environment variable MBVI_BROWSER, or a Chromium or Chrome that is installed."""
    found = os.environ.get("MBVI_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        pytest.skip("no browser: install Chromium, or name one in MBVI_BROWSER, to run pages")

    @contextmanager
    def start():
        with sync_playwright() as driver:
            yield driver.chromium.launch(executable_path=found, args=FLAGS)

    return start


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder of the models that come with mbvi."""
    return MODELS
