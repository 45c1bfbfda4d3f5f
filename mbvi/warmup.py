"""Compile ahead what runs will need: for container images, clusters, and whoever does not want to wait later."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from mbvi.catalog import find_scheme
from mbvi.errors import AccuracyWarning, ModelWarning
from mbvi.kernels.compiler.folder import FOLDER
from mbvi.kernels.compiler.late import LateKernel
from mbvi.model.bodies import Body
from mbvi.model.description import Initial
from mbvi.model.forces import Spring, Torque
from mbvi.model.joints import Ball, Revolute
from mbvi.model.model import Model
from mbvi.model.shapes import Box
from mbvi.schemes.method import Method
from mbvi.simulation import simulate
from mbvi.system.assemble import assemble

SCHEMES = "midpoint", "simpson", "gauss4", "independent4"
FORMULATIONS = "tree", "embedding"
STEP, STEPS = 1e-3, 2
START = {"shaft": 1.57, "crank pin": -1.1, "support": 1.8}  # near that of the linkage [rad]


def warm_up(
    models: Sequence[Model] = (), schemes: Iterable[str] = SCHEMES, progress: Callable[[int, int], object] | None = None
) -> Path:
    """Compile the kernels that runs of these models by these schemes call, in both formulations.

    Parameters
    ----------
    models : models, optional
        By default small ones that together have what most models do: see `typical_models`.
    schemes : names of schemes, optional
    progress : callable, optional
        Called with the number of runs that are done, and of all.

    Returns
    -------
    Path
        The folder where compiled kernels are kept.

    Raises
    ------
    ModelError
        If a scheme does not exist, or does not fit a model.
    """
    runs = [(model, *each) for model in models or typical_models() for each in _ways(schemes)]
    for done, (model, formulation, scheme) in enumerate(runs):
        if progress is not None:
            progress(done, len(runs))
        with warnings.catch_warnings(), TemporaryDirectory() as folder:
            warnings.simplefilter("ignore", (AccuracyWarning, ModelWarning))
            file = Path(folder, "run.h5")
            trajectory = simulate(assemble(model, formulation), scheme, STEP, STEPS * STEP, path=file)
            _ = trajectory.energy(), trajectory.constraint_residual(), trajectory.multipliers
        LateKernel.compile_known()
    return Path(FOLDER)


def _ways(schemes: Iterable[str]) -> list[tuple[str, str]]:
    """Formulations and schemes; those in independent coordinates have none in the embedding."""
    found = [(formulation, scheme) for scheme in schemes for formulation in FORMULATIONS]
    return [
        (formulation, scheme) for formulation, scheme in found if formulation == "tree" or not _is_independent(scheme)
    ]


def _is_independent(scheme: str) -> bool:
    """Whether a scheme has independent coordinates."""
    method = find_scheme(scheme)
    return isinstance(method, Method) and method.runner == "independent"


def typical_models() -> list[Model]:
    """A pendulum in a plane, a top on a spring, and a four-bar linkage: joints in a plane, a ball with forces, and a loop."""
    axis = (0, -1, 0)

    def bar(length: float) -> Body:
        return Body(shapes=(Box(size=(length, 0.02, 0.04), position=(length / 2, 0, 0), mass=1.0),))

    shaft = Revolute(parent="world", child="crank", axis=axis)
    pendulum = Model(name="pendulum", bodies={"crank": bar(0.3)}, joints={"shaft": shaft})
    top = Model(
        name="top on a spring",
        bodies={"top": bar(0.3)},
        joints={"foot": Ball(parent="world", child="top")},
        forces={
            "spring": Spring(body_a="world", body_b="top", point_a=(0, 0, 1), point_b=(0.3, 0, 0), stiffness=1.0),
            "drive": Torque(body="top", vector=(0.1, 0, 0)),
        },
    )
    linkage = Model(
        name="linkage",
        bodies={"crank": bar(0.3), "coupler": bar(0.9), "rocker": bar(0.7)},
        joints={
            "shaft": shaft,
            "crank pin": Revolute(parent="crank", child="coupler", axis=axis, position=(0.3, 0, 0)),
            "support": Revolute(parent="world", child="rocker", axis=axis, position=(1, 0, 0)),
            "rocker pin": Revolute(
                parent="coupler", child="rocker", axis=axis, position=(0.9, 0, 0), offset=(0.7, 0, 0)
            ),
        },
        initial={name: Initial(position=place) for name, place in START.items()},
    )
    return [pendulum, top, linkage]
