"""Measure mbvi beside its peers: `python -m tests.benchmarks [--json FILE] [NAME …]`.

Every figure is taken in one run, interleaved with its peer's, as the best of several repeats; a ratio is what counts, since
machines differ and are noisy. A peer that is not installed is reported as missing. Nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import mbvi
from tests.benchmarks import peers

ROOT = Path(__file__).parents[2]
REPEATS = 7


def best(measures: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The smallest of several interleaved repeats of each measure."""
    results: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(REPEATS):
        for name, measure in measures.items():
            results[name].append(measure())
    return {name: min(values) for name, values in results.items()}


def step_cost(system: mbvi.System, scheme: str, step: float, duration: float) -> Callable[[], float]:
    """Measures the wall time per step [µs], converged to round-off, compilation left out."""

    def measure() -> float:
        statistics = mbvi.simulate(system, scheme, step=step, duration=duration).statistics
        return 1e6 * statistics.seconds / statistics.steps

    return measure


def chain(n: int) -> mbvi.System:
    """A chain of n rods of 0.2 m and 1 kg about y, released from horizontal."""
    model = mbvi.load(ROOT / "models" / "chain_10.yaml")
    rod, hinge = model.bodies["rod1"], model.joints["hinge1"]
    bodies = {f"rod{i}": rod for i in range(1, n + 1)}
    joints = {"hinge1": hinge}
    for i in range(2, n + 1):
        joints[f"hinge{i}"] = model.joints["hinge2"].model_copy(update={"parent": f"rod{i - 1}", "child": f"rod{i}"})
    return mbvi.assemble(mbvi.Model(name=f"chain of {n}", parameters=model.parameters, bodies=bodies, joints=joints))


def targets() -> list[dict]:
    """Cost per step of the double pendulum and of the chain of 10 rods."""
    pendulum = mbvi.assemble(mbvi.load(ROOT / "models" / "double_pendulum.yaml"))
    rods = mbvi.assemble(mbvi.load(ROOT / "models" / "chain_10.yaml"))
    costs = best(
        {
            "double pendulum, simpson, 10 ms": step_cost(pendulum, "simpson", 0.01, 100.0),
            "chain of 10 rods, midpoint, 1 ms": step_cost(rods, "midpoint", 0.001, 2.0),
            "chain of 10 rods, simpson, 5 ms": step_cost(rods, "simpson", 0.005, 2.0),
        }
    )
    return [{"case": case, "µs per step": cost} for case, cost in costs.items()]


def chains() -> list[dict]:
    """Cost per step of chains of n rods beside MuJoCo's."""
    rows = []
    for n in (2, 5, 10, 20, 50, 100):
        system = chain(n)
        measures = {
            "midpoint, 1 ms": step_cost(system, "midpoint", 0.001, 0.2),
            "simpson, 5 ms": step_cost(system, "simpson", 0.005, 1.0),
        }
        theirs = peers.mujoco_chain(n)
        if theirs is None:
            rows.append({"rods": n} | best(measures) | {"MuJoCo": "missing"})
            continue
        costs = best(measures | theirs)
        costs["midpoint / Euler"] = costs["midpoint, 1 ms"] / costs["MuJoCo Euler"]
        costs["simpson / RK4"] = costs["simpson, 5 ms"] / costs["MuJoCo RK4"]
        rows.append({"rods": n} | costs)
    return rows


def hung_chain(n: int, joint: str) -> mbvi.Model:
    """A chain of n links of 0.1 m and 0.1 kg, tied by revolute or ball joints, released from 1.2 rad to the vertical."""
    link = mbvi.Body(mass=0.1, center_of_mass=(0, 0, -0.05), inertia=(1e-4, 1e-4, 2e-5))
    start = 1.2 if joint == "revolute" else (np.cos(0.6), 0.8 * np.sin(0.6), 0.6 * np.sin(0.6), 0)
    kind = {"revolute": {"type": "revolute", "axis": (0, 1, 0)}, "ball": {"type": "ball"}}[joint]
    joints = {}
    for i in range(n):
        above = {"parent": f"link{i - 1}", "position": (0, 0, -0.1)} if i else {"parent": "world"}
        joints[f"joint{i}"] = kind | above | {"child": f"link{i}"}
    return mbvi.Model(
        name=f"{n} links",
        bodies={f"link{i}": link for i in range(n)},
        joints=joints,
        initial={"joint0": mbvi.Initial(position=start)},
    )


def four_bars(n: int) -> mbvi.Model:
    """n four-bars side by side (IFToMM benchmark A02): n + 1 cranks that stand on the ground, tied by n couplers."""
    rod = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    axis, upright = (0, 0, 1), (0, 0, np.pi / 2)
    joints = {
        f"A{i}": mbvi.Revolute(parent="world", child=f"crank{i}", axis=axis, position=(i, 0, 0), orientation=upright)
        for i in range(n + 1)
    }
    for i in range(1, n + 1):
        turned = (0, 0, -np.pi / 2)
        joints[f"B{i}"] = mbvi.Revolute(
            parent=f"crank{i - 1}", child=f"coupler{i}", axis=axis, position=(1, 0, 0), orientation=turned
        )
        joints[f"C{i}"] = mbvi.Revolute(
            parent=f"coupler{i}",
            child=f"crank{i}",
            axis=axis,
            position=(1, 0, 0),
            offset=(1, 0, 0),
            orientation=upright,
        )
    names = [f"crank{i}" for i in range(n + 1)] + [f"coupler{i}" for i in range(1, n + 1)]
    initial = {f"A{i}": mbvi.Initial(velocity=-1) for i in range(n + 1)}
    initial |= {f"B{i}": mbvi.Initial(velocity=1) for i in range(1, n + 1)}
    return mbvi.Model(
        name=f"{n} four-bars", gravity=(0, -9.81, 0), bodies=dict.fromkeys(names, rod), joints=joints, initial=initial
    )


def embedding() -> list[dict]:
    """Cost per body and step of chains in the embedding: seven coordinates and four to six constraints per body.

    At 1 ms, and for long chains at a step that resolves them as it does 50 links: their frequencies grow with √n.
    """
    cases = [(n, 1e-3) for n in (1, 10, 50, 100, 1000, 4000)] + [(n, resolved_step(n)) for n in (1000, 4000)]
    rows = []
    for joint in ("revolute", "ball"):
        for n, step in cases:
            system = mbvi.assemble(hung_chain(n, joint), "embedding")
            duration = (100 if n > 10 else 1000) * step
            costs = best({scheme: step_cost(system, scheme, step, duration) for scheme in ("midpoint", "simpson")})
            row = {"joint": joint, "bodies": n, "step": step}
            rows.append(row | {f"{key} / body": cost / n for key, cost in costs.items()})
    return rows


def resolved_step(n: int) -> float:
    """The step at which a chain of n links is resolved as one of 50 is at 1 ms [s]."""
    return 1e-3 * (50 / n) ** 0.5


def loops() -> list[dict]:
    """Cost per loop and step of n four-bars side by side, in both formulations."""
    rows = []
    for n in (1, 10, 40, 100, 200):
        model = four_bars(n)
        measures = {
            f"{formulation}, {scheme}": step_cost(mbvi.assemble(model, formulation), scheme, 0.002, 0.2)
            for formulation in ("tree", "embedding")
            for scheme in ("midpoint", "simpson")
        }
        rows.append({"loops": n} | {f"{key} / loop": cost / n for key, cost in best(measures).items()})
    return rows


def constrained_runs() -> list[dict]:
    """A million steps with constraints: the largest |g| at any step, the energy error, and its trend over the whole run."""
    rows = []
    for name, formulation, scheme, step in (
        ("double_spherical_pendulum", "embedding", "midpoint", 0.01),
        ("double_spherical_pendulum", "embedding", "simpson", 0.01),
        ("heavy_top_quaternion", "embedding", "simpson", 0.005),
        ("four_bar", "tree", "simpson", 0.005),
        ("bricard", "tree", "simpson", 0.005),
    ):
        system = mbvi.assemble(mbvi.load(ROOT / "models" / f"{name}.yaml"), formulation)
        trajectory = mbvi.simulate(system, scheme, step=step, duration=1e6 * step)
        row = {
            "case": f"{name}, {formulation}, {scheme}, {step} s",
            "largest |g|": trajectory.constraint_residual().max(),
        }
        rows.append(row | energy_figures(trajectory))
    return rows


def energy_figures(trajectory: mbvi.Trajectory) -> dict[str, float]:
    """Largest energy error by the largest kinetic energy, and a line through its means over a hundredth of the run each."""
    energy = trajectory.energy()
    error = (energy - energy[0]) / trajectory.kinetic_energy().max()
    size = len(error) // 100 * 100
    means = error[:size].reshape(100, -1).mean(axis=1)
    fit, covariance = np.polyfit(np.linspace(0, 1, 100), means, 1, cov=True)
    return {
        "largest energy error": np.abs(error).max(),
        "trend over the run": fit[0],
        "± standard error": np.sqrt(covariance[0, 0]),
    }


def evaluations() -> list[dict]:
    """One evaluation of L_q and L_v, and of all second derivatives, beside Pinocchio's RNEA and its derivatives."""
    rows = []
    for n in (5, 20, 100):
        measures = peers.mbvi_evaluations(chain(n))
        theirs = peers.pinocchio_evaluations(n)
        row = {"rods": n} | best(measures | (theirs or {}))
        if theirs is None:
            row["Pinocchio"] = "missing"
        else:
            row["gradient / RNEA"] = row["gradient"] / row["RNEA"]
            row["second derivatives / RNEA derivatives"] = row["second derivatives"] / row["RNEA derivatives"]
        rows.append(row)
    return rows


def long_runs() -> list[dict]:
    """A million steps: energy error, its trend over the whole run, and the drift of the conserved momenta."""
    rows = []
    for name, scheme, step in (
        ("double_pendulum", "simpson", 0.01),
        ("lagrange_top", "simpson", 0.005),
        ("double_pendulum", "gauss4", 0.02),
    ):
        system = mbvi.assemble(mbvi.load(ROOT / "models" / f"{name}.yaml"))
        trajectory = mbvi.simulate(system, scheme, step=step, duration=1e6 * step, every=100)
        drift = max((np.ptp(J) / np.abs(J).max() for J in trajectory.momenta().values()), default=float("nan"))
        case = {"case": f"{name}, {scheme}, {step} s"}
        rows.append(case | energy_figures(trajectory) | {"drift of momenta": drift})
    return rows


def start_up() -> list[dict]:
    """Wall times as a user feels them: import, the first run ever, the second."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}

        def seconds(*command: str) -> float:
            began = time.perf_counter()
            subprocess.run(command, check=True, env=environment, cwd=folder, capture_output=True)
            return time.perf_counter() - began

        run = (
            str(Path(sys.executable).with_name("mbvi")),
            "run",
            str(ROOT / "models" / "lagrange_top.yaml"),
            "--force",
        )
        python = min(seconds(sys.executable, "-c", "pass") for _ in range(3))
        imported = min(seconds(sys.executable, "-c", "import mbvi") for _ in range(3))
        rows = [{"case": "import mbvi, less Python itself", "s": imported - python}]
        rows.append({"case": "first mbvi run, all compilation included", "s": seconds(*run)})
        rows.append({"case": "second mbvi run", "s": min(seconds(*run) for _ in range(3))})
    return rows


BENCHMARKS = {
    "targets": targets,
    "chains": chains,
    "evaluations": evaluations,
    "embedding": embedding,
    "loops": loops,
    "long_runs": long_runs,
    "constrained_runs": constrained_runs,
    "start_up": start_up,
}


def environment() -> dict[str, str]:
    """Machine and versions."""
    found = {"machine": platform.processor() or platform.machine(), "python": platform.python_version()}
    for package in ("mbvi", "numpy", "numba", "mujoco", "pin"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found


def show(rows: list[dict]) -> None:
    """Print rows as a table."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_cell(row.get(key, "")) for key in keys] for row in rows]
    widths = [max(len(key), *(len(row[i]) for row in cells)) for i, key in enumerate(keys)]
    for row in [keys, *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; all if none is given"
    )
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"expected one of {', '.join(BENCHMARKS)}, found {name}")
    results: dict = {"environment": environment()}
    print(", ".join(f"{key} {value}" for key, value in results["environment"].items()))
    for name in options.names or BENCHMARKS:
        print(f"\n{BENCHMARKS[name].__doc__}")
        results[name] = BENCHMARKS[name]()
        show(results[name])
    if options.json:
        options.json.write_text(json.dumps(results, indent=1, default=float))


if __name__ == "__main__":
    main()
