"""Which thresholds of the iterations matter: `python -m tests.campaigns.thresholds [--steps 60] [NAME …]`.

Each threshold of `mbvi.kernels.galerkin.tolerances` is halved, doubled and switched off, one at a time. All models but the
largest, and some hard starts, run with several schemes, with their own step and one five times as long. What changes is printed:
runs that fail now and did not, or the reverse; the number of iterations of all runs that fail neither way; and by how much more
conserved momenta, which change by rounding alone, change: in the mean, and in the worst run. A row without a change belongs to a
threshold that decides nothing.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

import mbvi
from mbvi.analysis.symmetry import Invariant
from mbvi.kernels.galerkin import tolerances
from mbvi.steppers.independent import applicable
from mbvi.system.copies import starting
from mbvi.system.initial import initial_state
from mbvi.system.system import System

from ..folders import MODELS, load
from ..physics.test_loops import change_point
from ..system import mechanisms

LARGEST = 20  # bodies
SCHEMES = "midpoint", "simpson", "gauss4", "independent4"
RANDOM = 12  # mechanisms
ROUNDING = 1e-15  # change of a momentum, relative, that is not compared


class Case(NamedTuple):
    """A run."""

    name: str
    system: System
    invariants: tuple[Invariant, ...]
    scheme: str
    step: float


class Ends(NamedTuple):
    """How all runs ended: whether they failed (runs,), their iterations (runs,), and changes of conserved momenta (runs,)."""

    failed: np.ndarray
    iterations: np.ndarray
    drift: np.ndarray


def hanging(count: int, coordinates: str, light: float = 1.0) -> mbvi.Model:
    """A chain of rods of 1 m on ball joints, thrown to the side; the last has a part of the mass of the others."""
    bodies, joints, above = {}, {}, "world"
    for i in range(count):
        name, mass = f"rod{i}", light if i == count - 1 else 1.0
        bodies[name] = mbvi.Body(mass=mass, center_of_mass=(0, 0, -0.5), inertia=(mass / 12, mass / 12, mass / 300))
        place = (0, 0, -1) if i else (0, 0, 0)
        joints[f"ball{i}"] = mbvi.Ball(parent=above, child=name, position=place, coordinates=coordinates)
        above = name
    initial = {"ball0": mbvi.Initial(velocity=(3.0, 1.0, 2.0))}
    return mbvi.Model(name=f"{count} rods", bodies=bodies, joints=joints, initial=initial)


TINY = {"ground": 1e-6, "crank": 0.3e-6, "coupler": 0.9e-6, "rocker": 0.7e-6, "width": 0.04e-6}  # lengths [m]
HARD = {
    "20 rods, quaternions": lambda: hanging(20, "quaternion"),
    "8 rods, Euler angles": lambda: hanging(8, "xyz"),
    "3 rods, the last of 1e-6 kg": lambda: hanging(3, "quaternion", 1e-6),
    "four-bar of micrometres": lambda: load("four_bar").with_parameters(TINY),
    "four-bar of nanograms": lambda: load("four_bar").with_parameters({"density": 1e-6}),
    "Bricard's linkage of 0.1 mm": lambda: load("bricard").with_parameters({"length": 1e-4, "mass": 1e-9}),
    "parallelogram in line": lambda: change_point((1, 0.5, 1, 0.5), 0.0, 0.0),
    "parallelogram turning through its lines": lambda: change_point((1, 0.5, 1, 0.5), 0.2, 6.0),
}


def systems() -> Iterator[tuple[str, System, float]]:
    """Systems of the models, and of random mechanisms with loops, with a step of each."""
    for path in sorted(MODELS.glob("*.yaml")):
        model = mbvi.load(path)
        if len(model.bodies) <= LARGEST:
            yield path.stem, mbvi.assemble(model), float(model.resolved().simulation.step or 0.01)
    for name, make in HARD.items():
        yield name, mbvi.assemble(make()), 0.01
    for seed in range(RANDOM):
        kind = mechanisms.KINDS[seed % len(mechanisms.KINDS)]
        model = mechanisms.linkage(kind, seed, is_loop=bool(seed % 2), forces=mechanisms.POTENTIAL[:2])
        yield f"random {seed}", mbvi.assemble(model), 0.02


def cases(chosen: Iterable[tuple[str, System, float]]) -> list[Case]:
    """All runs of these systems that begin."""
    found = []
    for name, each, step in chosen:
        system, invariants = starting(each, *initial_state(each)), mbvi.analysis.find_invariants(each)
        for scheme in SCHEMES:
            for factor in (1.0, 5.0):
                case = Case(f"{name}, {scheme}, {factor:g} h", system, invariants, scheme, factor * step)
                if ends_of(case, 1) is not None:
                    found.append(case)
    return found


def ends_of(case: Case, steps: int) -> tuple[bool, int, float] | None:
    """Whether a run fails, its iterations, and the change of its momenta; None where the scheme does not apply."""
    if case.scheme.startswith("independent"):
        try:
            applicable(case.system, mbvi.SCHEMES[case.scheme])
        except mbvi.ModelError:
            return None
    try:
        trajectory = mbvi.simulate(case.system, case.scheme, step=case.step, duration=steps * case.step)
    except mbvi.ModelError:
        return None
    except mbvi.StepError:
        return True, 0, 0.0
    drift = 0.0
    for invariant in case.invariants:
        values = invariant.value(trajectory.q, trajectory.p)
        size = abs(values).max()
        if size > 0.0:
            drift = max(drift, float(np.ptp(values) / size))
    return False, trajectory.statistics.iterations, drift


def run(chosen: list[Case], steps: int) -> Ends:
    """How all runs end."""
    return Ends(*map(np.array, zip(*(ends_of(case, steps) or (True, 0, 0.0) for case in chosen), strict=True)))


def variants(tolerance: tolerances.Tolerance) -> Iterator[tuple[str, float]]:
    """Other values of a threshold."""
    yield "half", 0.5 * tolerance.value
    yield "double", 2.0 * tolerance.value
    if tolerance.off is not None:
        yield "off", tolerance.off


@contextmanager
def changed(name: str, value: float) -> Iterator[None]:
    """Another value of a threshold, for runs that begin meanwhile."""
    index = [each.name for each in tolerances.TABLE].index(name)
    before, tolerances.VALUES[index] = tolerances.VALUES[index], value
    try:
        yield
    finally:
        tolerances.VALUES[index] = before


def compared(chosen: list[Case], before: Ends, after: Ends) -> str:
    """What changed, as cells of a table."""
    both = ~before.failed & ~after.failed
    more = after.iterations[both].sum() / before.iterations[both].sum() - 1.0
    ratios = np.maximum(after.drift[both], ROUNDING) / np.maximum(before.drift[both], ROUNDING)
    names = [case.name for case, is_in in zip(chosen, both, strict=True) if is_in]
    worst = int(np.argmax(ratios))
    fails = [case.name for case, now, was in zip(chosen, after.failed, before.failed, strict=True) if now and not was]
    ends = int(np.sum(before.failed & ~after.failed))
    failures = f"+{len(fails)} −{ends}" + (f" ({fails[0]})" if fails else "")
    drift = f"{np.exp(np.log(ratios).mean()):.3f} | {ratios[worst]:.1f} ({names[worst]})"
    return f"{failures} | {100.0 * more:+.2f} % | {drift}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="thresholds; by default all")
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = cases(systems())
    before = run(chosen, options.steps)
    print(
        f"{len(chosen)} runs of {options.steps} steps, {before.failed.sum()} fail, {before.iterations.sum()} iterations\n"
    )
    print("| threshold | value | failures | iterations | drift, mean | worst |\n| --- | --- | --- | --- | --- | --- |")
    for tolerance in tolerances.TABLE:
        if options.names and tolerance.name not in options.names:
            continue
        for label, value in variants(tolerance):
            with changed(tolerance.name, value):
                text = compared(chosen, before, run(chosen, options.steps))
            print(f"| {tolerance.name} | {label}, {value:g} | {text} |", flush=True)


if __name__ == "__main__":
    main()
