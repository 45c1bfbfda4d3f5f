"""Public names: the reference lists them all, each is documented, and pages mention no others."""

import importlib
import inspect
import re
import subprocess
import sys
import typing
from types import ModuleType

import pytest

import mbvi
import mbvi.model
from tests.folders import ROOT

PAGES = [ROOT / "README.md", *sorted(set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "architecture.md"})]
OTHER = ("mbvi.papers", "mbvi.json")
"""Papers, which have a page of their own, and the name of a file."""


@pytest.fixture(scope="module")
def listed():
    """What the reference lists: the full name of everything, and what it is."""
    spec = importlib.util.spec_from_file_location("names", ROOT / "docs" / "site_pages" / "names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.listed()


def test_everything_listed_is_documented(listed):
    """Classes by docstrings of their own, not those that dataclasses and named tuples make, and their methods too."""
    for name, value in listed.items():
        if not callable(value):
            continue
        document = inspect.getdoc(value) or ""
        assert document, name
        assert not document.startswith(f"{name.rpartition('.')[2]}("), name
        for function in _functions(value) if inspect.isclass(value) else ():
            assert inspect.getdoc(function), f"{name}.{function.__name__}"


def _functions(value):
    """The public methods and properties of a class, as functions, and those that it has from other classes of mbvi."""
    for owner in inspect.getmro(value):
        for key, part in vars(owner).items() if owner.__module__.startswith("mbvi") else ():
            part = part.fget if isinstance(part, property) else getattr(part, "func", getattr(part, "__func__", part))
            if inspect.isfunction(part) and not key.startswith("_"):
                yield part


def test_all_that_mbvi_and_its_models_have_is_listed(listed):
    assert {f"mbvi.{name}" for name in [*mbvi.__all__, *mbvi.model.__all__]} <= listed.keys()
    assert dir(mbvi) == sorted({*mbvi.__all__, *mbvi.model.__all__})


def test_all_types_of_elements_are_public():
    """Those of the unions, of which a user of YAML writes the types."""
    for union in ("joints.AnyJoint", "forces.AnyForce", "constraints.AnyConstraint", "shapes.AnyShape"):
        module, name = union.split(".")
        each = getattr(importlib.import_module(f"mbvi.model.{module}"), name)
        types = typing.get_args(typing.get_args(each)[0])
        assert len(types) > 3 and {element.__name__ for element in types} <= {*mbvi.model.__all__}


def test_modules_need_no_import_of_their_own(listed):
    modules = sorted({name.split(".")[1] for name in listed if name.count(".") > 1})
    assert {"model", "analysis", "system"} <= {*modules}
    code = f"import mbvi; print(all(getattr(mbvi, name).__name__ == 'mbvi.' + name for name in {modules})); mbvi.modle"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stdout == "True\n" and "AttributeError: module 'mbvi' has no attribute 'modle'" in ended.stderr


def test_pages_name_nothing_else(listed):
    """What pages import, or write with its module, is in the reference, or a module of it."""
    modules = {name.rpartition(".")[0] for name in listed}
    count = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = re.findall(r"\bmbvi(?:\.[A-Za-z_]+)+", text)
        for module, names in re.findall(r"^from (mbvi[\w.]*) import (.*)$", text, re.MULTILINE):
            found += [f"{module}.{name.strip().partition(' ')[0]}" for name in names.split(",")]
        for name in found:
            if not name.startswith(OTHER):
                count += 1
                assert name in modules or listed.keys() & set(_beginnings(name)), f"{page.name}: {name}"
    assert count > 100


def _beginnings(name: str) -> list[str]:
    """A name, what it is an attribute of, what that is an attribute of, and so on."""
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts) + 1)]


def test_modules_of_a_package_are_no_names_of_mbvi():
    """`mbvi.NAME` is a public name, or what was imported by its own name, and no module of mbvi.model."""
    for name in ("resolve", "graph", "expressions", "_check", "nothing"):
        with pytest.raises(AttributeError, match=f"module 'mbvi' has no attribute '{name}'"):
            getattr(mbvi, name)
    assert isinstance(sys.modules["mbvi.model.resolve"], ModuleType)
