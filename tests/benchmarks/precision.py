"""Work–precision: wall time against the largest error of a place over the run, ours and the peers'.

The error is the one of `mbvi bench`. The reference is the closed form where there is one, else ours of order 16 with a fine step;
how far it is from the same with twice the step, and from heyoka's, stands beside. Before a peer is timed its accelerations are
compared with ours in a random state. What is timed begins with everything built and compiled, and ends with the states; what
building and compiling takes, for one tolerance, stands beside.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

import mbvi
from mbvi.errors import ModelError, StepError
from mbvi.measure.runs import BodyPoints, largest_distance
from mbvi.system.initial import find_start
from tests.benchmarks import peers
from tests.benchmarks.measure import medians
from tests.benchmarks.peers import Array, Contender
from tests.benchmarks.peers.tree import tree_of
from tests.benchmarks.systems import Problem, problems

SCHEMES = (
    "midpoint", "simpson", "lobatto4", "lobatto5", "gauss2", "gauss3", "gauss4", "gauss5", "gauss6", "gauss8", "suzuki4",
    "kahan_li6", "kahan_li8", "splitting", "blanes_moan4", "blanes_moan6", "splitting8",
    "independent4", "independent6", "independent8",
)  # fmt: skip
STATES = 50  # at which errors are measured; of ours after all steps, where they are at most 600
PARTS = 12  # of the time between them at which the reference is known
STEPS = (1, 1.2, 1.5, 2, 2.4, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1024)  # of ours in that time
FINEST, LONGEST = 2e-12, 0.1  # error [m] and wall time [s] of a run after which no finer one is made
REPEATS = 5
ERRORS = (1e-4, 1e-6, 1e-8, 1e-10)
TITLES = {
    "mujoco": "MuJoCo", "exudyn": "Exudyn", "drake": "Drake", "dop853": "scipy", "numbalsoda": "numbalsoda", "heyoka": "heyoka",
    "trep": "trep",
}  # fmt: skip


def work_precision(chosen: list[str] | None = None) -> list[dict]:
    """One entry for each problem: the reference, and the points of each contender."""
    return [_measured(problem) for problem in problems() if not chosen or problem.name in chosen]


def _measured(problem: Problem) -> dict:
    began = time.perf_counter()
    tree_system = mbvi.assemble(problem.model, "tree")
    assembled = time.perf_counter() - began
    places, times = BodyPoints(tree_system), np.linspace(0, problem.duration, STATES + 1)
    start = find_start(tree_system)
    exact, doubt = _reference(problem, tree_system, places)
    tree = tree_of(problem.model)
    spin = problem.model.resolved().initial["center"].velocity if tree.free is not None else start.v
    entry: dict = {"problem": problem.name, "duration [s]": problem.duration, "reference": doubt, "missing": {}}
    entry["preparation [s]"] = {"mbvi": assembled}
    entrants: dict[str, tuple[Contender, BodyPoints]] = {}
    systems = {form: mbvi.assemble(problem.model, form) for form in problem.formulations if form != "tree"}
    if problem.quaternion is not None:
        systems["quaternion"] = mbvi.assemble(problem.quaternion, "tree")
    for form, system in {"tree": tree_system, **systems}.items():
        for scheme in SCHEMES:
            ours = _ours(system, scheme, problem.duration)
            entrants[scheme if form == "tree" else f"{scheme}, {form}"] = ours, BodyPoints(system)
    for name in peers.PACKAGES:
        if name == "pinocchio":  # has no integrator
            continue
        peer = peers.peer(name)
        if peer is None:
            entry["missing"][name] = "not installed"
            continue
        began = time.perf_counter()
        found = peer.contenders(tree, times, start.q, np.array(spin, dtype=float))
        for contender in found:
            with suppress(RuntimeError):
                contender.solve(contender.settings[0])
        entry["preparation [s]"][TITLES[name]] = time.perf_counter() - began
        for contender in found:
            _check(contender, tree_system, tree.free, start.q, start.v)
            entrants[contender.name] = contender, places
        if name == "heyoka":
            theirs = found[0].solve(found[0].settings[-1])[1]
            doubt["distance of heyoka"] = _error(places(theirs), exact)
    entry["curves"] = _curves(entrants, exact)
    return entry


def _reference(problem: Problem, system: mbvi.System, places: BodyPoints) -> tuple[Array, dict]:
    """Places at all parts of the times between states, and how well they are known."""
    count = STATES * PARTS
    fine = [
        places(mbvi.simulate(system, "gauss8", problem.duration / (count * every), problem.duration, every=every).q)
        for every in (2, 4)
    ]
    doubt: dict = {"is": "gauss8", "change when the step is halved": largest_distance(*fine)}
    if problem.exact is None:
        return fine[1], doubt
    exact = places(problem.exact(np.linspace(0, problem.duration, count + 1))[0])
    doubt |= {"is": "closed form", "distance of gauss8": largest_distance(fine[1], exact)}
    return exact, doubt


def _error(places: Array, exact: Array) -> float:
    """The largest distance [m] of places after equal parts of a run from the reference."""
    return largest_distance(places, exact[:: (len(exact) - 1) // (len(places) - 1)])


def _check(contender: Contender, system: mbvi.System, free: Array | None, q: Array, v: Array) -> None:
    """Refuse to go on where a peer does not run the same system."""
    random = np.random.default_rng(6)
    if free is not None:
        q, v = np.array([1.0, 0, 0, 0]), random.normal(size=3)
        expected = np.linalg.solve(free, np.cross(free @ v, v))
    else:
        if not system.constraint_count:
            q, v = random.normal(0.4, 0.5, len(q)), random.normal(0, 2, len(q))
        expected = system.acceleration(q, v)
    error = np.abs(contender.acceleration(q, v) - expected).max() / np.abs(expected).max()
    if not error < contender.agreement:
        raise SystemExit(f"{contender.name} on {system.name}: accelerations differ from ours by {error:.1e}")


def long_precision() -> list[dict]:
    """1000 s of the double pendulum: as `ratios` of our schemes and of the two programs that compile its equations."""
    problem, duration, states = problems()[0], 1000.0, 5000
    system = mbvi.assemble(problem.model, "tree")
    places, times, start = BodyPoints(system), np.linspace(0, duration, states + 1), find_start(system)
    exact = places(mbvi.simulate(system, "gauss8", duration / (states * PARTS), duration).q)
    entrants = {
        name: (_ours(system, name, duration, states), places) for name in ("gauss3", "gauss4", "gauss6", "gauss8")
    }
    missing = {}
    for name in ("heyoka", "numbalsoda"):
        peer = peers.peer(name)
        if peer is None:
            missing[name] = "not installed"
            continue
        for contender in peer.contenders(tree_of(problem.model), times, start.q, start.v):
            _check(contender, system, None, start.q, start.v)
            entrants[contender.name] = contender, places
    entry = {"problem": f"{problem.name}, {duration:g} s", "curves": _curves(entrants, exact), "missing": missing}
    return ratios([entry])


def _ours(system: mbvi.System, scheme: str, duration: float, states: int = STATES) -> Contender:
    """A scheme with steps of which so many fit in the time between states, and states where the reference is known."""

    def solve(step: float) -> tuple[float, Array, Array]:
        count = round(duration / step)
        run = mbvi.simulate(system, scheme, step, duration, every=count // math.gcd(count, states * PARTS))
        return run.statistics.seconds, run.q, run.p

    return Contender(scheme, system.acceleration, tuple(duration / (states * count) for count in STEPS), solve)


def _curves(entrants: dict[str, tuple[Contender, BodyPoints]], exact: Array) -> dict[str, list[dict]]:
    """The error and the median wall time of every contender with its settings, from the coarsest until nothing is gained."""
    errors: dict[tuple[str, float], float] = {}
    measures: dict[tuple[str, float], Callable[[], float]] = {}
    for name, (contender, places) in entrants.items():
        try:
            contender.solve(contender.settings[0])  # compiles what is called from Python
        except ModelError:  # a scheme that does not apply
            continue
        except (StepError, RuntimeError):
            pass
        for setting in contender.settings:
            try:
                seconds, q, _ = contender.solve(setting)
            except (StepError, RuntimeError):
                continue
            error = _error(places(q), exact) if np.isfinite(q).all() else np.inf
            if np.isfinite(error) and error < 1:
                errors[name, setting] = error
                measures[name, setting] = lambda contender=contender, setting=setting: contender.solve(setting)[0]
            if error < FINEST or seconds > LONGEST:
                break
    seconds = medians(measures, REPEATS)
    curves: dict[str, list[dict]] = {name: [] for name in entrants}
    for (name, setting), error in errors.items():
        curves[name].append({"setting": setting, "error": error, "seconds": seconds[name, setting]})
    return curves


def seconds_at(curve: list[dict], error: float) -> float:
    """Wall time [s] at which a contender reaches an error, interpolated in logarithms between its points; nan if it does not."""
    points = sorted(curve, key=lambda point: -point["error"])
    if not points or points[-1]["error"] > error:
        return float("nan")
    after = next(i for i, point in enumerate(points) if point["error"] <= error)
    cheapest = min(point["seconds"] for point in points[after:])
    if after == 0:
        return cheapest
    (x0, y0), (x1, y1) = ((np.log(points[i]["error"]), np.log(points[i]["seconds"])) for i in (after - 1, after))
    return min(cheapest, float(np.exp(y0 + (y1 - y0) * (np.log(error) - x0) / (x1 - x0))))


def cheapest(entry: dict, error: float, names: list[str]) -> tuple[str, float]:
    """The cheapest of some contenders at an error, and its wall time [s]; nan if none reaches it."""
    times = {name: seconds_at(entry["curves"].get(name, []), error) for name in names}
    reached = {name: value for name, value in times.items() if np.isfinite(value)}
    best = min(reached, key=reached.__getitem__, default="")
    return best, reached.get(best, float("nan"))


def families(entry: dict) -> dict[str, list[str]]:
    """The contenders of an entry: ours, and each peer's."""
    found: dict[str, list[str]] = {"mbvi": []}
    for name in entry["curves"]:
        is_ours = name.split(",")[0] in SCHEMES
        found.setdefault("mbvi" if is_ours else name.split()[0], []).append(name)
    return found


def ratios(entries: list[dict], errors: tuple[float, ...] = ERRORS) -> list[dict]:
    """At several errors, the cheapest of ours [ms], and how many times longer the cheapest of each peer takes.

    A text `> 50` stands where a peer's longest run took so many times longer, and had not reached the error.
    """
    rows = []
    for entry in entries:
        groups = families(entry)
        for error in errors:
            scheme, ours = cheapest(entry, error, groups["mbvi"])
            row = {"problem": entry["problem"], "error [m]": error, "scheme": scheme, "ms": 1e3 * ours}
            for peer, names in groups.items():
                if peer == "mbvi":
                    continue
                ratio = cheapest(entry, error, names)[1] / ours
                longest = max((point["seconds"] for name in names for point in entry["curves"][name]), default=0.0)
                row[peer] = ratio if np.isfinite(ratio) else f"> {longest / ours:.0f}"
            rows.append(row | dict.fromkeys((TITLES[name] for name in entry["missing"]), "–"))
    return rows
