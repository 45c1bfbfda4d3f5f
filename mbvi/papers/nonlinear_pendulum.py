"""Simpson's quadrature for a nonlinear variational symplectic scheme, recomputed: a table and two figures.

A pendulum of mass 1 with V = ω² (1 − cos q), ω = 2π, released at rest from q = π/2; the midpoint scheme, which the paper calls
Newmark's, and Simpson's rule against the exact motion.

    mbvi papers run nonlinear_pendulum
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import sympy

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.exact import Pendulum
from mbvi.papers.catalog import PAPERS
from mbvi.papers.report import Experiment, Figure, Line, Number, Panel, Part, Report, Table

PAPER = PAPERS["nonlinear_pendulum"]
OMEGA, ANGLE = 2 * np.pi, np.pi / 2
NAMES = {"midpoint": "Newmark", "simpson": "Symplectic Simpson"}
REFERENCE = {"rk4": "RK4"}  # which the paper does not have
COUNTS = (50, 100, 200)

# Table 1: largest errors over one period, for each number of meshes, and the order.
PRINTED = {
    ("midpoint", "momentum"): ("2.93e-2", "7.32e-3", "1.83e-3", "2.0"),
    ("simpson", "momentum"): ("6.08e-6", "3.78e-7", "2.36e-8", "4.0"),
    ("midpoint", "state"): ("5.26e-3", "1.31e-3", "3.29e-4", "2.0"),
    ("simpson", "state"): ("1.05e-6", "6.51e-8", "4.06e-9", "4.0"),
    ("midpoint", "relative energy"): ("9.06e-4", "2.29e-4", "5.73e-5", "2.0"),
    ("simpson", "relative energy"): ("1.30e-6", "8.42e-8", "5.25e-9", "4.0"),
}


def system() -> mbvi.System:
    """The pendulum at rest at its initial angle."""
    q = sympy.Symbol("q")
    return mbvi.from_sympy([q], [[1]], OMEGA**2 * (1 - sympy.cos(q)), initial_q=[ANGLE], name="nonlinear pendulum")


def exact() -> Pendulum:
    """The exact motion of the pendulum."""
    return Pendulum(length=1.0, gravity=OMEGA**2, angle=ANGLE)


def simulate(scheme: str, meshes: int, periods: int = 1) -> mbvi.Trajectory:
    """A run with the given number of steps in each period."""
    period = exact().period
    return mbvi.simulate(system(), scheme, step=period / meshes, duration=periods * period)


def errors(run: mbvi.Trajectory) -> dict[str, float]:
    """Largest errors over all steps, of momentum [kg m²/s], angle [rad] and relative energy."""
    angle, rate = exact()(run.t)
    energy = run.energy()
    return {
        "momentum": float(np.abs(run.p[:, 0] - rate).max()),
        "state": float(np.abs(run.q[:, 0] - angle).max()),
        "relative energy": float(np.abs(energy / energy[0] - 1).max()),
    }


def table_1() -> Table:
    """Errors and orders, with the printed ones."""
    names = NAMES | REFERENCE
    found = {scheme: [errors(simulate(scheme, count)) for count in COUNTS] for scheme in names}
    rows: list[tuple[str | Number, ...]] = []
    for scheme, quantity in (*PRINTED, *product(REFERENCE, found["rk4"][0])):
        values = [each[quantity] for each in found[scheme]]
        order = convergence_order(values, 1 / np.array(COUNTS))
        printed = PRINTED.get((scheme, quantity), ("",) * 4)
        numbers = (Number(value, digits) for value, digits in zip([*values, order], printed, strict=True))
        rows.append((names[scheme], quantity, *numbers))
    return Table(
        "Table 1: largest errors over one period",
        ("scheme", "quantity", *(f"{count} meshes" for count in COUNTS), "order"),
        rows,
        "Momentum in kg m²/s, state in rad. A printed number counts as the same if it is ours, rounded or cut off. Some of the "
        "paper's are cut off: 1.317·10⁻³ is printed as 1.31. RK4 is there for reference.",
    )


def panels(lines_of: Callable[[int], list[Line]]) -> list[Panel]:
    """Angle and momentum over time, of lines made by `lines_of(i)`."""
    labels = ("angle q [rad]", "momentum p [kg m²/s]")
    return [Panel("time [s]", label, lines_of(i)) for i, label in enumerate(labels)]


def figure_1() -> Figure:
    """Five periods of the exact motion."""
    t = np.linspace(0, 5 * exact().period, 1001)
    motion = exact()(t)
    return Figure(
        "Figure 1: the exact motion over five periods",
        panels(lambda i: [Line("exact", t, motion[i])]),
        f"The period is 4 K(k²)/ω = {exact().period:.6f} s, and not 2π/ω = 1 s as for small swings.",
    )


def figure_2() -> Figure:
    """Both schemes with ten steps in each period, over five."""
    t = np.linspace(0, 5 * exact().period, 1001)
    motion = exact()(t)
    runs = {name: simulate(scheme, 10, periods=5) for scheme, name in NAMES.items()}

    def lines(i: int) -> list[Line]:
        computed = [Line(name, run.t, (run.q, run.p)[i][:, 0], "marked") for name, run in runs.items()]
        return [Line("exact", t, motion[i], "reference"), *computed]

    worst = {name: errors(run)["state"] for name, run in runs.items()}
    return Figure(
        "Figure 2: ten meshes in each period, over five periods",
        panels(lines),
        "Largest errors of the angle: " + ", ".join(f"{name} {error:.2g} rad" for name, error in worst.items()) + ". "
        "(The paper's text says one period, its caption five.)",
    )


# Slips of the printed formulas that the tables do not show.
MISPRINTS = Table(
    "Misprints",
    ("where", "printed", "correct", "reason"),
    (
        (
            "before (17), ∂L_S/∂q_m",
            "g_ℓ 4/h + g_r 4/h",
            "g_ℓ 4/h − g_r 4/h",
            "∂g_r/∂q_m = −4/h; the next line has it right",
        ),
        ("before (10)", "V''(q_{j+1/2}) ≡ ∂V/∂q", "∂²V/∂q²", "second derivative"),
        ("the action sums S_d and Σ_d", "from j = 1 to N − 1", "from j = 0 to N − 1", "N steps from 0 to T"),
        ("section 5, figure 2", "ten meshes and one period", "five periods", "so the caption of the figure"),
    ),
)


def report(quick: bool = False) -> Report:
    """The whole report; `quick` changes nothing, as nothing in it takes long."""
    parts: list[Part] = [
        Experiment("Table 1", table_1),
        Experiment("Figure 1", figure_1),
        Experiment("Figure 2", figure_2),
        MISPRINTS,
    ]
    return Report(PAPER.title, PAPER.source, parts)
