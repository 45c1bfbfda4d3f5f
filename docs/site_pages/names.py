"""The public names of mbvi, page by page of the reference; a name that is on none of them may change without notice."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class Source(NamedTuple):
    """A module, and its public names; where none are given, all that do not begin with an underscore are public."""

    module: str
    names: tuple[str, ...] = ()


class Page(NamedTuple):
    """A page of the reference."""

    title: str
    text: str
    sources: tuple[Source, ...]


ANALYSES = (
    *("symmetry", "noether", "control_points", "linearization", "convergence", "symplecticity"),
    *("small_step", "interaction", "steady"),
    *("postures", "equilibrium"),
)
PAGES = {
    "api": Page(
        "Python names",
        "Names of the package `mbvi`, in the order in which data flows through them. "
        "Names that the reference does not list may change at any time.",
        (Source("mbvi"),),
    ),
    "results": Page(
        "Results",
        "Classes of what runs, systems and models answer with, other errors and warnings, states for other programs, what "
        "measures schemes, and functions that are needed less often than those of `mbvi` itself.",
        (
            Source("mbvi.results.trajectory", ("Statistics", "Finding", "Occurrences")),
            Source("mbvi.results.samples", ("Samples",)),
            Source("mbvi.results.measurements", ("Measured",)),
            Source("mbvi.control", ("PD", "PID", "GravityCompensation", "ComputedTorque", "CompiledModel")),
            Source("mbvi.results.tables", ("Table", "Quantity")),
            Source("mbvi.system.element_forces", ("ElementForce",)),
            Source("mbvi.symbolic"),
            Source("mbvi.results.contacts", ("ContactEvents", "ContactEvent")),
            Source("mbvi.results.limits", ("exceeded_limits", "unchecked_limits", "Excess")),
            Source("mbvi.model.import_report", ("ImportReport", "Note")),
            Source("mbvi.model.moved_loops", ("MovedLoop",)),
            Source(
                "mbvi.system.exchange",
                (
                    "to_pinocchio",
                    "from_pinocchio",
                    "to_mujoco",
                    "from_mujoco",
                    "joint_state",
                    "from_joint_state",
                    "JointState",
                ),
            ),
            Source("mbvi.system.initial", ("Start", "Move")),
            Source("mbvi.system.kinematics", ("VelocityDerivatives", "AccelerationDerivatives")),
            Source("mbvi.system.dynamics", ("InverseDynamicsDerivatives", "ForwardDynamicsDerivatives")),
            Source("mbvi.system.tangent", ("to_xyzw", "from_xyzw")),
            Source("mbvi.system.mobility", ("Mobility",)),
            Source("mbvi.model.graph", ("Plan", "Branch")),
            Source("mbvi.measure.compare", ("Comparison",)),
            Source("mbvi.measure.bench", ("bench", "Bench")),
            Source("mbvi.warmup", ("warm_up",)),
            Source("mbvi.between", ("states_at",)),
            Source("mbvi.live"),
            Source("mbvi.pictures"),
            Source(
                "mbvi.errors",
                (
                    "EventError",
                    "MbviWarning",
                    "ModelWarning",
                    "LimitWarning",
                    "SingularityWarning",
                    "StabilityWarning",
                ),
            ),
        ),
    ),
    "ensembles": Page(
        "Samples of ensembles",
        "What members are sampled from, and what their results are for other programs; [examples](../sampling.md).",
        (
            Source(
                "mbvi.ensembles.sampling", ("SamplingPlan", "load_plan", "Uniform", "Normal", "LogNormal", "Triangular")
            ),
            Source("mbvi.ensembles.sensitivity", ("sobol_indices",)),
            Source("mbvi.ensembles.export", ("to_parquet",)),
            Source("mbvi.pictures.bundles", ("plot_bundle",)),
        ),
    ),
    "analysis": Page(
        "Analysis",
        "What runs, schemes and systems are measured with.",
        (Source("mbvi.analysis"), *(Source(f"mbvi.analysis.{name}") for name in ANALYSES)),
    ),
    "exact": Page(
        "Classes of exact motions", "Closed-form solutions; [examples](../exact.md).", (Source("mbvi.exact"),)
    ),
    "gym": Page(
        "Environments",
        "Models as environments of Gymnasium, for programs that learn; [examples](../learning.md).",
        (Source("mbvi.gym"),),
    ),
    "schemes": Page(
        "Schemes as data",
        "What a scheme is made of, and how to make one; [which to take](../schemes.md).",
        (
            Source("mbvi.catalog", ("find_scheme",)),
            *(Source(f"mbvi.schemes.{name}") for name in ("tableau", "galerkin", "method")),
            Source("mbvi.steppers.direct_midpoint", ("direct_midpoint",)),
            Source("mbvi.steppers.discrete_gradient", ("chorin",)),
            Source("mbvi.schemes.runge_kutta", ("ButcherTableau",)),
            Source("mbvi.system.chart"),
        ),
    ),
}


def public(source: Source) -> list[str]:
    """The public names of a module, in the order in which the reference lists them."""
    module = import_module(source.module)
    if source.names:
        return list(source.names)
    if source.module == "mbvi":
        return [*dict.fromkeys([*module.__all__, *import_module("mbvi.model").__all__])]
    own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [key for key in own if not key.startswith("_")])


def listed() -> dict[str, Any]:
    """Every public name with the module that it is imported from, and what it is."""
    sources = [source for page in PAGES.values() for source in page.sources]
    return {
        f"{source.module}.{name}": getattr(import_module(source.module), name)
        for source in sources
        for name in public(source)
    }
