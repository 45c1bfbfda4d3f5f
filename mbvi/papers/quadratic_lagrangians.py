"""Simpson's variational integrator for systems with quadratic Lagrangians, recomputed: a table and seven figures.

The double pendulum in the angles of both rods from the vertical, linearized where it hangs, is run by Newmark's and by Simpson's
scheme and by the classical Runge–Kutta method, and compared with its exact motion. Both masses are 1 kg, both lengths ℓ = g/ω0²
with ω0 = 2π rad/s, so that 1 s is the period 2π/ω0 in which all times are given. (The paper prints the period as 1/ω0; its
numbers are for 2π/ω0.) It starts at rest with angles 0 and π/6.

    mbvi papers run quadratic_lagrangians
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import sympy

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.exact import LinearDoublePendulum
from mbvi.papers.catalog import PAPERS
from mbvi.papers.report import Experiment, Figure, Line, Number, Panel, Part, Report, Table, scientific

PAPER = PAPERS["quadratic_lagrangians"]
GRAVITY = 9.81  # the paper prints none; angles do not depend on it, momenta are then in kg m²/s
LENGTH = GRAVITY / (2 * math.pi) ** 2
START = (0.0, math.pi / 6)
EXACT = LinearDoublePendulum(masses=(1.0, 1.0), lengths=(LENGTH, LENGTH), gravity=GRAVITY, angles=START)
SCHEMES = {"Newmark": "newmark", "RK4": "rk4", "Simpson": "simpson_condensed"}
MESHES = (10, 20, 40)  # steps in a period
SMALLEST = 1e-17  # errors of zero are drawn here

# Table 2 as printed: periods, scheme, and for p and q the errors for the three meshes and the order fitted to them.
PRINTED = {
    (1, "Newmark"): (("0.0751", "0.0230", "0.00606", "1.81"), ("0.342", "0.0961", "0.0251", "1.88")),
    (1, "RK4"): (("0.0139", "0.000800", "0.0000540", "4.01"), ("0.0483", "0.00340", "0.000200", "3.91")),
    (1, "Simpson"): (("0.000640", "0.0000416", "0.00000257", "3.98"), ("0.00201", "0.000141", "0.00000876", "3.92")),
    (10, "Newmark"): (("0.273", "0.206", "0.782", "0.90"), ("0.694", "0.657", "0.244", "0.75")),
    (10, "RK4"): (("0.0822", "0.00990", "0.0137", "1.29"), ("0.284", "0.0329", "0.0157", "2.09")),
    (10, "Simpson"): (("0.00720", "0.000433", "0.0000268", "4.03"), ("0.0235", "0.00141", "0.0000906", "4.01")),
    (100, "Newmark"): (("0.521", "0.492", "0.223", "0.61"), ("1.02", "0.964", "0.665", "0.31")),
    (100, "RK4"): (("0.108", "0.0786", "0.00640", "2.03"), ("0.328", "0.2650", "0.0216", "1.96")),
    (100, "Simpson"): (("0.0705", "0.00439", "0.000272", "4.01"), ("0.237", "0.0147", "0.000914", "4.01")),
    (1000, "Newmark"): (("0.545", "0.551", "0.548", "0.00"), ("1.02", "1.03", "1.03", "0.01")),
    (1000, "RK4"): (("0.326", "0.119", "0.0595", "1.23"), ("0.581", "0.397", "0.200", "0.77")),
    (1000, "Simpson"): (("0.190", "0.0438", "0.00274", "3.06"), ("0.638", "0.147", "0.00922", "3.06")),
}

# The Runge–Kutta method's errors that were cut off after the fourth decimal, and filled up by zeros.
CUT = {
    (1, "RK4", "p", "0.000800"),
    (1, "RK4", "q", "0.00340"),
    (1, "RK4", "q", "0.000200"),
    (10, "RK4", "p", "0.00990"),
    (100, "RK4", "p", "0.00640"),
}

# Why entries differ, by periods, scheme, quantity and what is printed.
REASONS = {
    (
        10,
        "Newmark",
        "p",
        "0.782",
    ): "A misprint of 0.0782: the printed order, 0.90, is that of 0.0782; and the run of 100 periods "
    "with the same step, which contains this one, has the smaller error 0.223.",
    (
        10,
        "RK4",
        "p",
        "0.0137",
    ): "Wrong in the paper: the run of 100 periods with the same step, which contains this one, has the "
    "smaller error 0.00640; and half the step divides the error by about 16.",
    (10, "RK4", "p", "1.29"): "Computed from the wrong error next to it.",
    (10, "RK4", "q", "0.0157"): "Wrong in the paper, as that of p: half the step divides the error by about 16.",
    (10, "RK4", "q", "2.09"): "Computed from the wrong error next to it.",
    (
        1000,
        "Newmark",
        "q",
        "0.01",
    ): "The error grows from 1.024 to 1.040 while the step falls, so that the order is negative; its sign is not printed.",
}

# Misprints of formulas and text; those of Table 2 stand in it.
MISPRINTS = Table(
    "Misprints",
    ("where", "printed", "correct", "reason"),
    (
        ("equations 4 and 16", "sums from j = 1", "sums from j = 0", "N intervals from 0 to T"),
        ("equation 27", "A (q½, η_j+1) = B η_j+1", "… = B η_j", "so (29) follows from it"),
        (
            "after equation 38",
            "1/m ≤ M ≤ 1/μ and 1/k ≤ K ≤ 1/κ",
            "M⁻¹ and K⁻¹ between them",
            "with ψ = M½ φ and ψ = K½ φ; so (39) follows, of L K⁻¹ = K⁻¹ − h²/8 M⁻¹",
        ),
        (
            "after equation 40",
            "k/μ = ω_max²",
            "k/μ ≥ ω_max²",
            "of the largest stiffness and the smallest mass; here 5.24 ω0² against 3.41 ω0², so that 40 is sufficient, and "
            "ω_max h < 2√2 sharp",
        ),
        (
            "before equation 43",
            "p_j+1 + X q_j+1 = p_j − Y q_j",
            "p_j+1 + Y q_j+1 = p_j − Y q_j",
            "the second row of A and B; the next lines have it right",
        ),
        ("before equation 50", "last entry μ(g − ω²μℓ)", "μ(g − ω²ℓ)", "of K − ω² M, both with one factor μ"),
        ("section 6", "oscillation period 1/ω0", "2π/ω0", "all numbers and figures have it"),
    ),
)


class States(NamedTuple):
    """Times t [s] (N + 1,), coordinates q [rad] and momenta p [kg m²/s] (N + 1, 2)."""

    t: np.ndarray
    q: np.ndarray
    p: np.ndarray


def double_pendulum() -> mbvi.System:
    """The nonlinear Lagrangian, equation 44, in the angles of both rods from the vertical."""
    q1, q2 = sympy.symbols("q1 q2")
    coupling = LENGTH**2 * sympy.cos(q1 - q2)
    M = [[2 * LENGTH**2, coupling], [coupling, LENGTH**2]]
    return mbvi.from_sympy([q1, q2], M, -GRAVITY * LENGTH * (2 * sympy.cos(q1) + sympy.cos(q2)))


@cache
def small_motions() -> mbvi.System:
    """The double pendulum linearized about its position at rest: a system whose Lagrangian is quadratic, equation 46."""
    hanging = mbvi.linearize(double_pendulum())
    q = sympy.Matrix(sympy.symbols("q1 q2"))
    V = (q.T * sympy.Matrix(hanging.stiffness_matrix) * q)[0] / 2
    return mbvi.from_sympy(list(q), hanging.mass_matrix, V, initial_q=START, name="linear double pendulum")


@cache
def run(name: str, meshes: int, periods: int) -> mbvi.Trajectory:
    """A run by one of SCHEMES."""
    return mbvi.simulate(small_motions(), SCHEMES[name], step=1 / meshes, duration=periods)


def exact_states(t: np.ndarray) -> States:
    """The exact motion at times t [s]."""
    q, v = EXACT(t)
    return States(t, q, v @ EXACT.mass_matrix)


def errors(name: str, meshes: int, periods: int) -> dict[str, float]:
    """Errors of momenta and coordinates: the largest over time of the Euclidean norm."""
    found = run(name, meshes, periods)
    exact = exact_states(found.t)
    return {key: float(np.linalg.norm(getattr(found, key) - getattr(exact, key), axis=1).max()) for key in "pq"}


# ------------------------------------------------------------------------------------------------- table 2


def table_2() -> Table:
    """Errors and orders, with the printed ones."""
    rows: list[tuple[str | Number, ...]] = []
    for (periods, name), printed in PRINTED.items():
        found = [errors(name, meshes, periods) for meshes in MESHES]
        for quantity, texts in zip("pq", printed, strict=True):
            values = [each[quantity] for each in found]
            values.append(convergence_order(values, [1 / meshes for meshes in MESHES]))
            keys = [(periods, name, quantity, text) for text in texts]
            rows.append(
                (
                    f"{periods} period" + "s" * (periods > 1),
                    name,
                    quantity,
                    *(number(*each) for each in zip(values, keys, strict=True)),
                )
            )
    return Table(
        "Table 2: errors and orders against the length of the simulation",
        ("length", "scheme", "of", *(f"{meshes} meshes in a period" for meshes in MESHES), "order"),
        rows,
        "Momenta p in kg m²/s, coordinates q in rad. A printed number counts as the same if it is ours, rounded or cut off: some "
        "of the paper's are rounded, and others cut off. Some of RK4 were cut off after four decimals and then "
        "filled up by zeros.",
    )


def number(value: float, key: tuple[int, str, str, str]) -> Number:
    """An entry of the table, whose key in CUT and REASONS ends with what is printed."""
    if key in CUT:
        return Number(value, key[-1], "Cut off after four decimals, and filled up by zeros.", decimals=4)
    return Number(value, key[-1], REASONS.get(key, ""))


# ------------------------------------------------------------------------------------------------- figures


def figure_2() -> Figure:
    """Coordinates during a period."""
    return motion("Figure 2: coordinates during one period", 1, "q", "marked")


def figure_3() -> Figure:
    """Coordinates during ten periods."""
    return motion("Figure 3: coordinates during ten periods", 10, "q")


def figure_4() -> Figure:
    """Momenta during ten periods."""
    return motion("Figure 4: momenta during ten periods", 10, "p")


def motion(title: str, periods: int, key: str, kind: str = "line") -> Figure:
    """Coordinates or momenta over time."""
    runs, exact = motions(periods)
    unit = {"q": "rad", "p": "kg m²/s"}[key]
    panels = []
    for i, index in enumerate("₁₂"):
        lines = [Line("exact", exact.t, getattr(exact, key)[:, i], "reference")]
        lines += [Line(name, each.t, getattr(each, key)[:, i], kind) for name, each in runs.items()]
        panels.append(Panel("time [periods]", f"{key}{index} [{unit}]", lines))
    found = ", ".join(f"{name} {scientific(errors(name, 10, periods)[key], 2)}" for name in SCHEMES)
    return Figure(title, panels, f"Ten steps in a period. Largest errors [{unit}]: {found}.")


def motions(periods: int) -> tuple[dict[str, mbvi.Trajectory], States]:
    """Runs of ten steps in a period, and the exact motion."""
    runs = {name: run(name, 10, periods) for name in SCHEMES}
    return runs, exact_states(np.linspace(0, periods, 100 * periods + 1))


def figure_5() -> Figure:
    """Phase portraits."""
    runs, exact = motions(3)
    panels = []
    for i, index in enumerate("₁₂"):
        lines = [Line("exact", exact.q[:, i], exact.p[:, i], "reference")]
        lines += [Line(name, each.q[:, i], each.p[:, i], "points") for name, each in runs.items()]
        panels.append(Panel(f"q{index} [rad]", f"p{index} [kg m²/s]", lines))
    return Figure("Figure 5: phase portraits of three periods", panels, "Ten steps in a period.", columns=2)


def energy_error(name: str, meshes: int, periods: int) -> np.ndarray:
    """H/H₀ − 1 at every step, of the energy H = ½ pᵀM⁻¹p + ½ qᵀK q."""
    energy = run(name, meshes, periods).energy()
    return np.asarray(energy / energy[0] - 1)


def figure_6() -> Figure:
    """Energy errors over ten periods."""
    panels = []
    for meshes in (10, 100):
        lines = []
        for name in SCHEMES:
            error = np.abs(energy_error(name, meshes, 10)[1:])
            lines.append(Line(name, run(name, meshes, 10).t[1:], np.maximum(error, SMALLEST)))
        panels.append(Panel("time [periods]", f"|H/H₀ − 1|, {meshes} steps", lines, "logy"))
    coarse, fine = (np.abs(energy_error("Simpson", meshes, 10)).max() for meshes in (10, 100))
    return Figure(
        "Figure 6: relative error of the energy",
        panels,
        "With 10 and with 100 steps in a period. Newmark's scheme conserves a quadratic energy to round-off (zero is drawn at "
        f"10⁻¹⁷), Simpson's up to {scientific(coarse, 2)} and {scientific(fine, 2)}, without growth; that of the Runge–Kutta "
        "method grows with time.",
    )


def form_error(meshes: int, periods: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Times, φ − φ₀ [J s] of the quadratic form φ(p, q) that Simpson's scheme conserves, and φ₀."""
    simpson = run("Simpson", meshes, periods)
    form = simpson.quadratic_form()
    return simpson.t, form - form[0], float(form[0])


def figure_7() -> Figure:
    """The conserved quadratic form."""
    panels, texts = [], []
    for meshes in (10, 100):
        t, error, start = form_error(meshes, 10)
        panels.append(Panel("time [periods]", f"φ − φ₀ [J s], {meshes} steps", [Line("Simpson", t, error)]))
        texts.append(f"{scientific(np.abs(error).max(), 2)} of {scientific(start)} J s with {meshes} steps")
    return Figure(
        "Figure 7: error of the quadratic form that Simpson's scheme conserves",
        panels,
        f"With 10 and with 100 steps in a period. At most {' and '.join(texts)}: round-off. The paper has errors of the order "
        "of 10⁻¹⁵.",
    )


def figure_8() -> Figure:
    """Convergence of the coordinates."""
    meshes = (10, 20, 50, 100, 200, 500, 1000)
    steps = [1 / each for each in meshes]
    found = {name: [errors(name, each, 1)["q"] for each in meshes] for name in SCHEMES}
    orders = ", ".join(f"{name} {convergence_order(values, steps):.2f}" for name, values in found.items())
    lines = [Line(name, steps, values, "marked") for name, values in found.items()]
    return Figure(
        "Figure 8: convergence of the coordinates over one period",
        [Panel("step [periods]", "largest error of q [rad]", lines, "log")],
        f"Orders, fitted to all of these steps: {orders}.",
    )


def report(quick: bool = False) -> Report:
    """The whole report; `quick` changes nothing, as nothing in it takes long."""
    parts: list[Part] = [
        Experiment("Table 2", table_2),
        Experiment("Figure 2", figure_2),
        Experiment("Figure 3", figure_3),
        Experiment("Figure 4", figure_4),
        Experiment("Figure 5", figure_5),
        Experiment("Figure 6", figure_6),
        Experiment("Figure 7", figure_7),
        Experiment("Figure 8", figure_8),
        MISPRINTS,
    ]
    return Report(PAPER.title, PAPER.source, parts)
