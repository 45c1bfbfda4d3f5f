"""Structure-preserving dynamics of constrained multibody systems.

    Model  →  System  →  scheme  →  simulate()  →  Trajectory

`load` reads a Model from a file, `assemble` makes the System of it, `simulate` advances it. What mbvi.model lists, the elements
of a model (Body, Revolute, Spring, …) among them, can be imported from here too, so that a model in Python needs one import and
reads like its file. All other names stand in the modules that the reference names, as mbvi.analysis, which need no import of
their own. Names and modules are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mbvi import errors as errors  # which a user names without another import

__version__ = "0.1.0"
"""The version of this package."""

HOMES = {
    "Model": "mbvi.model",
    "load": "mbvi.model",
    "save": "mbvi.model",
    "assemble": "mbvi.system.assemble",
    "from_sympy": "mbvi.system.lagrangian",
    "from_functions": "mbvi.system.lagrangian",
    "System": "mbvi.system.system",
    "SCHEMES": "mbvi.catalog",
    "simulate": "mbvi.simulation",
    "Event": "mbvi.system.events",
    "Controller": "mbvi.system.controllers",
    "resume": "mbvi.simulation",
    "Simulator": "mbvi.simulator",
    "ensemble": "mbvi.ensembles.ensemble",
    "Trajectory": "mbvi.results.trajectory",
    "read": "mbvi.results.trajectory",
    "linearize": "mbvi.analysis.linearization",
    "find_equilibrium": "mbvi.analysis.equilibrium",
    "compare": "mbvi.measure.compare",
    "plot": "mbvi.pictures.plots",
    "animate": "mbvi.animation.animate",
    "ModelError": "mbvi.errors",
    "StepError": "mbvi.errors",
    "AccuracyWarning": "mbvi.errors",
}
"""What a user needs first, in the order in which data flows, and the modules that it comes from."""
__all__ = [*HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name, one of mbvi.model, or a module of mbvi, when it is first used."""
    from importlib.util import find_spec  # not needed by an import of mbvi alone

    if name not in HOMES and not name.startswith("_") and find_spec(f"mbvi.{name}"):
        return import_module(f"mbvi.{name}")
    home = import_module(HOMES.get(name, "mbvi.model"))
    if name not in HOMES and name not in home.__all__:
        raise AttributeError(f"module 'mbvi' has no attribute {name!r}")
    value = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*__all__, *import_module("mbvi.model").__all__})
