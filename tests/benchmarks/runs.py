"""Long runs: how errors of energy and momenta grow, ours and the peers'; and what starting costs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import mbvi
from tests.benchmarks import peers
from tests.benchmarks.peers.tree import tree_of
from tests.benchmarks.systems import load
from tests.folders import ROOT

STORED = 100_000  # states of a very long run
SHORTEST = 32  # stored states from which growth is fitted


def growth(error: np.ndarray) -> float:
    """The exponent of |error| ~ t^x: fitted to root mean squares over [t/2, t] for t doubled again and again."""
    ends = 2 ** np.arange(int(np.log2(SHORTEST)), int(np.log2(len(error) - 1)) + 1)
    sizes = np.array([np.sqrt(np.mean(error[end // 2 : end + 1] ** 2)) for end in ends])
    is_seen = sizes > 0
    return float(np.polyfit(np.log(ends[is_seen]), np.log(sizes[is_seen]), 1)[0]) if is_seen.sum() > 2 else 0.0


def very_long_runs(steps: int = 100_000_000) -> list[dict]:
    """A hundred million steps: the largest errors of energy and momenta, and how they grow with time. It takes long."""
    rows = []
    for name, scheme, step in (("pendulum", "gauss4", 0.02), ("lagrange_top", "simpson", 0.005)):
        run = mbvi.simulate(load(name), scheme, step, steps * step, every=steps // STORED)
        energy = run.energy()
        errors = {"energy": (energy - energy[0]) / run.kinetic_energy().max()}
        errors |= {what: (J - J[0]) / np.abs(J).max() for what, J in run.momenta().items()}
        case = f"{name}, {scheme}, {step} s"
        rows += [
            {"case": case, "steps": steps, "of": what, "largest error": np.abs(error).max(), "exponent": growth(error)}
            for what, error in errors.items()
        ]
    return rows


def drifts(steps: int = 1_000_000) -> list[dict]:
    """A million steps of the pendulum and the top: the largest energy error, ours and the peers', which run the same time."""
    rows = []
    for name, step in (("pendulum", 0.01), ("lagrange_top", 0.005)):
        system = mbvi.assemble(load(name))
        times = np.linspace(0, steps * step, 1001)
        rows.append({"case": name, "step": step})
        for scheme in ("midpoint", "simpson", "gauss3"):
            run = mbvi.simulate(system, scheme, step, steps * step, every=steps // 1000)
            rows[-1][scheme] = _largest(run.energy(), run.kinetic_energy())
        for module, setting in (("mujoco", step), ("exudyn", step), ("numbalsoda", 1e-10), ("heyoka", 1e-15)):
            peer = peers.peer(module)
            if peer is None:
                rows[-1][module] = "missing"
                continue
            for each in peer.contenders(tree_of(system.model), times, system.initial_q, system.initial_v):
                _, q, v = each.solve(setting)
                kinetic, potential = system.energies(times, q, v)
                rows[-1][each.name] = _largest(kinetic + potential, kinetic)
    return rows


def _largest(energy: np.ndarray, kinetic: np.ndarray) -> float:
    return float(np.abs(energy - energy[0]).max() / kinetic.max())


def constrained_runs() -> list[dict]:
    """A million steps with constraints: the largest |g| at any step, the energy error, and its trend over the whole run."""
    rows = []
    for name, formulation, scheme, step in (
        ("double_spherical_pendulum", "embedding", "midpoint", 0.01),
        ("double_spherical_pendulum", "embedding", "simpson", 0.01),
        ("heavy_top_quaternion", "embedding", "simpson", 0.005),
        ("four_bar", "tree", "simpson", 0.005),
        ("bricard", "tree", "simpson", 0.005),
        ("bricard", "tree", "gauss3", 0.005),
    ):
        system = mbvi.assemble(load(name), formulation)
        trajectory = mbvi.simulate(system, scheme, step=step, duration=1e6 * step)
        row = {
            "case": f"{name}, {formulation}, {scheme}, {step} s",
            "largest |g|": trajectory.constraint_residual().max(),
        }
        rows.append(row | _energy_figures(trajectory))
    return rows


def long_runs() -> list[dict]:
    """A million steps: energy error, its trend over the whole run, and the drift of the conserved momenta."""
    rows = []
    for name, scheme, step in (
        ("double_pendulum", "simpson", 0.01),
        ("lagrange_top", "simpson", 0.005),
        ("double_pendulum", "gauss4", 0.02),
    ):
        trajectory = mbvi.simulate(load(name), scheme, step=step, duration=1e6 * step, every=100)
        drift = max((np.ptp(J) / np.abs(J).max() for J in trajectory.momenta().values()), default=float("nan"))
        case = {"case": f"{name}, {scheme}, {step} s"}
        rows.append(case | _energy_figures(trajectory) | {"drift of momenta": drift})
    return rows


def _energy_figures(trajectory: mbvi.Trajectory) -> dict[str, float]:
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


COUNT = "s = 0\nfor i in range(10_000_000): s += i"
PEERS = {  # what is imported, and one evaluation or step of a pendulum
    "heyoka": """import heyoka as hy
x, v = hy.make_vars("x", "v")
hy.taylor_adaptive([(x, v), (v, -9.81 * hy.sin(x))], [1.0, 0.0]).propagate_until(1.0)""",
    "Pinocchio": """import numpy as np, pinocchio as pin
model = pin.buildSampleModelManipulator()
pin.aba(model, model.createData(), pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv))""",
    "MuJoCo": """import mujoco
text = '<mujoco><worldbody><body><joint/><geom size="0.1" pos="0 0 -1"/></body></worldbody></mujoco>'
model = mujoco.MjModel.from_xml_string(text)
mujoco.mj_step(model, mujoco.MjData(model))""",
    "Exudyn": """import exudyn as exu
container = exu.SystemContainer()
system = container.AddSystem()
system.Assemble()""",
}
REPEATS = 3


def start_up() -> list[dict]:
    """Wall times as a user feels them, and memory: first runs, nearly all of it compilation, later ones; those of peers."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        environment.pop("NUMBA_CACHE_DIR", None)

        def seconds(*command: str) -> float:
            began = time.perf_counter()
            subprocess.run(command, check=True, env=environment, cwd=folder, capture_output=True)
            return time.perf_counter() - began

        line, python = (sys.executable, "-c", "from mbvi.cli import main; main()"), (sys.executable, "-c")
        top, loop = (str(ROOT / "models" / f"{name}.yaml") for name in ("lagrange_top", "four_bar"))
        run = *line, "run", top, "--force"
        first = {
            "first mbvi run, lagrange_top": run,
            "then the first with a loop, four_bar": (*line, "run", loop, "--force"),
            "then the first in the embedding": (*line, "run", loop, "--formulation", "embedding", "--force"),
            "then the first page": (*line, "animate", "lagrange_top.h5", "--force"),
        }
        later = {
            "mbvi run, once compiled": run,
            "import mbvi": (*python, "import mbvi"),
            "mbvi --version": (*line, "--version"),
            "mbvi check": (*line, "check", top),
        }
        peers = {name: (*python, text) for name, text in PEERS.items()}
        rows = []
        for case, command in first.items():
            rows.append(_row(case, [seconds(*command)], seconds(*python, COUNT)))
        for case, command in (later | peers).items():
            try:
                times = [seconds(*command) for _ in range(REPEATS)]
            except subprocess.CalledProcessError:
                rows.append({"case": f"{case}: missing"})
                continue
            rows.append(_row(case, times, seconds(*python, COUNT)))
        return [*rows, {"case": "memory of mbvi run", "MB": _memory(run, environment, Path(folder))}]


def _row(case: str, times: list[float], unit: float) -> dict[str, Any]:
    """Minimum and median, in seconds and in loops of 1e7 additions."""
    return {"case": case, "s": float(np.median(times)), "loops": np.median(times) / unit, "least": min(times) / unit}


def _memory(command: tuple[str, ...], environment: dict[str, str], folder: Path) -> float:
    """The most memory of a process [MB], measured by one between that has no other child."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    found = subprocess.run([sys.executable, "-c", code, *command], env=environment, cwd=folder, capture_output=True)
    return int(found.stdout) * (1e-6 if sys.platform == "darwin" else 1.024e-3)
