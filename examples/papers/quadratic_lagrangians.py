"""Table 2 and figures 2 to 8 of Rojas-Quintero, Dubois & Cabrera-Díaz, recomputed.

Simpson's variational integrator for systems with quadratic Lagrangians, Axioms 13 (2024) 255.

The double pendulum in the angles of both rods from the vertical, linearized where it hangs, is run by Newmark's and by Simpson's
scheme and by the classical Runge–Kutta method, and compared with its exact motion. Both masses are equal, both lengths ℓ = g/ω0²
with ω0 = 2π rad/s, so that 1 s is the period 2π/ω0 in which all times are given. (The paper prints the period as 1/ω0; its
numbers are for 2π/ω0.) It starts at rest with angles 0 and π/6.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import sympy

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.exact import LinearDoublePendulum

GRAVITY = 9.81  # the paper prints none; angles do not depend on it, momenta are then in kg m²/s
LENGTH = GRAVITY / (2 * math.pi) ** 2
START = (0.0, math.pi / 6)
EXACT = LinearDoublePendulum(masses=(1.0, 1.0), lengths=(LENGTH, LENGTH), gravity=GRAVITY, angles=START)
SCHEMES = {"Newmark": "newmark", "RK4": None, "Simpson": "simpson_condensed"}
MESHES = (10, 20, 40)  # steps in a period

# Table 2 as printed: periods, scheme, and for p and q the errors for the three meshes and the order fitted to them.
PRINTED = {
    (1, "Newmark"): ((0.0751, 0.0230, 0.00606, 1.81), (0.342, 0.0961, 0.0251, 1.88)),
    (1, "RK4"): ((0.0139, 0.000800, 0.0000540, 4.01), (0.0483, 0.00340, 0.000200, 3.91)),
    (1, "Simpson"): ((0.000640, 0.0000416, 0.00000257, 3.98), (0.00201, 0.000141, 0.00000876, 3.92)),
    (10, "Newmark"): ((0.273, 0.206, 0.782, 0.90), (0.694, 0.657, 0.244, 0.75)),
    (10, "RK4"): ((0.0822, 0.00990, 0.0137, 1.29), (0.284, 0.0329, 0.0157, 2.09)),
    (10, "Simpson"): ((0.00720, 0.000433, 0.0000268, 4.03), (0.0235, 0.00141, 0.0000906, 4.01)),
    (100, "Newmark"): ((0.521, 0.492, 0.223, 0.61), (1.02, 0.964, 0.665, 0.31)),
    (100, "RK4"): ((0.108, 0.0786, 0.00640, 2.03), (0.328, 0.2650, 0.0216, 1.96)),
    (100, "Simpson"): ((0.0705, 0.00439, 0.000272, 4.01), (0.237, 0.0147, 0.000914, 4.01)),
    (1000, "Newmark"): ((0.545, 0.551, 0.548, 0.00), (1.02, 1.03, 1.03, 0.01)),
    (1000, "RK4"): ((0.326, 0.119, 0.0595, 1.23), (0.581, 0.397, 0.200, 0.77)),
    (1000, "Simpson"): ((0.190, 0.0438, 0.00274, 3.06), (0.638, 0.147, 0.00922, 3.06)),
}


# Misprints of formulas and text: where, what is printed, what it should be. Those of Table 2 are in its rows.
MISPRINTS = [
    ("equations 4 and 16", "sums from j = 1", "sums from j = 0, over all N intervals"),
    ("equation 27", "A (q½, η_j+1) = B η_j+1", "A (q½, η_j+1) = B η_j"),
    (
        "after equation 40",
        "k/μ = ω_max²",
        "k/μ ≥ ω_max²; here 5.24 ω0² against 3.41 ω0², so that 40 is sufficient, and ω_max h < 2√2 sharp",
    ),
    ("before equation 43", "p_j+1 + X q_j+1 = p_j − Y q_j", "p_j+1 + Y q_j+1 = p_j − Y q_j"),
    ("before equation 50", "last entry μ(g − ω²μℓ)", "μ(g − ω²ℓ)"),
    ("section 6", "oscillation period 1/ω0", "2π/ω0, as all numbers and figures have it"),
]


def double_pendulum() -> mbvi.System:
    """The nonlinear Lagrangian, equation 44, in the angles of both rods from the vertical."""
    q1, q2 = sympy.symbols("q1 q2")
    coupling = LENGTH**2 * sympy.cos(q1 - q2)
    M = [[2 * LENGTH**2, coupling], [coupling, LENGTH**2]]
    return mbvi.from_sympy([q1, q2], M, -GRAVITY * LENGTH * (2 * sympy.cos(q1) + sympy.cos(q2)))


@cache
def small_motions() -> mbvi.System:
    """The same, linearized where it hangs: a system whose Lagrangian is quadratic, equation 46."""
    hanging = mbvi.linearize(double_pendulum())
    q = sympy.Matrix(sympy.symbols("q1 q2"))
    V = (q.T * sympy.Matrix(hanging.stiffness_matrix) * q)[0] / 2
    return mbvi.from_sympy(list(q), hanging.mass_matrix, V, initial_q=START, name="linear double pendulum")


def runge_kutta(system: mbvi.System, h: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and momenta (steps + 1, n) by the classical method of order 4.

    On linear equations x' = A x its step is the polynomial 1 + hA + … + (hA)⁴/24 of the matrix, here of x = (q, p).
    """
    n, rest = system.dimension, np.zeros(system.dimension)
    K = -np.array([system.gradient(each, rest)[1] for each in np.eye(n)])
    A = h * np.block([[np.zeros((n, n)), np.linalg.inv(system.mass_matrix(rest))], [-K, np.zeros((n, n))]])
    step = sum(np.linalg.matrix_power(A, k) / math.factorial(k) for k in range(5))
    states = [np.concatenate([system.initial_q, rest])]
    for _ in range(steps):
        states.append(step @ states[-1])
    return np.array(states)[:, :n], np.array(states)[:, n:]


def states(name: str, meshes: int, periods: int) -> dict[str, np.ndarray]:
    """Times t [s], coordinates q [rad] and momenta p [kg m²/s] of a run by one of SCHEMES."""
    system, h, scheme = small_motions(), 1 / meshes, SCHEMES[name]
    if scheme is None:
        q, p = runge_kutta(system, h, periods * meshes)
        return {"t": h * np.arange(len(q)), "q": q, "p": p}
    run = mbvi.simulate(system, scheme, step=h, duration=periods)
    return {"t": run.t, "q": run.q, "p": run.p}


def exact_states(t: np.ndarray) -> dict[str, np.ndarray]:
    """The exact motion at times t [s]."""
    q, v = EXACT(t)
    return {"t": t, "q": q, "p": v @ EXACT.mass_matrix}


def errors(name: str, meshes: int, periods: int) -> tuple[float, float]:
    """Errors of momenta and coordinates: the largest over time of the Euclidean norm."""
    found = states(name, meshes, periods)
    exact = exact_states(found["t"])
    return tuple(float(np.linalg.norm(found[key] - exact[key], axis=1).max()) for key in "pq")  # type: ignore[return-value]


# ------------------------------------------------------------------------------------------------- table 2

# Why entries differ, by periods, scheme and quantity.
REASONS = {
    (
        10,
        "Newmark",
        "p",
    ): "misprint of 0.0782: the printed order, 0.90, is that of 0.0782, and the run of 100 periods with the same "
    "step, which contains this one, has the smaller error 0.223",
    (
        10,
        "RK4",
        "p",
    ): "wrong in the paper: the run of 100 periods with the same step, which contains this one, has the smaller error "
    "0.00640; half the step divides the error by about 16",
    (10, "RK4", "q"): "wrong in the paper, as the error of p beside it; half the step divides the error by about 16",
    (1000, "Newmark", "q"): "the order is negative, since the error grows from 1.02 to 1.03; its sign is not printed",
}


def table_2(longest: int = 1000) -> list[dict]:
    """Rows of the table: our and the printed numbers, how they compare, and why if some differ."""
    rows = []
    for (periods, name), printed in PRINTED.items():
        if periods > longest:
            continue
        columns = zip(*(errors(name, meshes, periods) for meshes in MESHES), strict=True)
        for quantity, ours, (*numbers, order) in zip("pq", columns, printed, strict=True):
            fitted = convergence_order(ours, [1 / meshes for meshes in MESHES])
            rows.append(
                {
                    "periods": periods,
                    "scheme": name,
                    "quantity": quantity,
                    "meshes": [periods * meshes for meshes in MESHES],
                    "errors": list(ours),
                    "order": fitted,
                    "printed errors": numbers,
                    "printed order": order,
                    "verdicts": [*map(compare, ours, numbers), "agrees" if abs(fitted - order) < 0.0101 else "differs"],
                    "reason": REASONS.get((periods, name, quantity), ""),
                }
            )
    return rows


def compare(ours: float, printed: float) -> str:
    """Whether a printed number is ours: to its three digits, some of which are rounded in the paper, and others cut off.

    Most of the Runge–Kutta method's were cut off to four decimals, and filled up by zeros.
    """
    unit = 10.0 ** (math.floor(math.log10(printed)) - 2)
    if abs(ours - printed) < 1.01 * unit:
        return "agrees"
    return "agrees, cut off" if 0 <= ours - printed < 1e-4 and round(printed, 4) == printed else "differs"


# ------------------------------------------------------------------------------------------------- figures


def motion(periods: int, keys: str) -> dict[str, dict[str, np.ndarray]]:
    """Exact and computed series with ten steps in a period."""
    series = {name: states(name, 10, periods) for name in SCHEMES}
    series = {"exact": exact_states(np.linspace(0, periods, 100 * periods + 1)), **series}
    return {name: {key: each[key] for key in ("t", *keys)} for name, each in series.items()}


def energy_errors(periods: int) -> dict[str, dict[str, np.ndarray]]:
    """Relative errors of the energy H = ½ pᵀM⁻¹p + ½ qᵀK q, with 10 and 100 steps in a period."""
    series = {}
    for meshes in (10, 100):
        for name in SCHEMES:
            found = states(name, meshes, periods)
            q, p = found["q"], found["p"]
            v = np.linalg.solve(EXACT.mass_matrix, p.T).T
            energy = 0.5 * np.sum(p * v, axis=1) + 0.5 * np.sum(q @ EXACT.stiffness_matrix * q, axis=1)
            series[f"{name}, h = {1 / meshes:g}"] = {"t": found["t"], "error": energy / energy[0] - 1}
    return series


def form_errors(periods: int) -> dict[str, dict[str, np.ndarray]]:
    """Absolute errors [J s] of the quadratic form φ(p, q) that Simpson's scheme conserves."""
    series = {}
    for meshes in (10, 100):
        run = mbvi.simulate(small_motions(), "simpson_condensed", step=1 / meshes, duration=periods)
        form = run.quadratic_form()
        series[f"Simpson, h = {1 / meshes:g}"] = {"t": run.t, "error": form - form[0]}
    return series


def convergence(meshes: tuple[int, ...]) -> dict[str, dict]:
    """Errors of coordinates over a period for many steps, and the order fitted to all of them."""
    steps = 1 / np.array(meshes)
    series = {}
    for name in SCHEMES:
        found = np.array([errors(name, each, 1)[1] for each in meshes])
        series[name] = {"h": steps, "error": found, "order": convergence_order(found, steps)}
    return series


def main(quick: bool = False) -> dict[str, dict]:
    """All tables, figures and misprints as plain data.

    {"tables": {name: rows}, "figures": {name: {series: {axis: values}}}, "misprints": list of (where, printed, correct)}

    Parameters
    ----------
    quick : bool
        Leave out runs of more than 10 periods.
    """
    meshes = (10, 20, 50, 100) if quick else (10, 20, 50, 100, 200, 500, 1000)
    return {
        "tables": {"table 2": table_2(10 if quick else 1000)},
        "figures": {
            "figure 2": motion(1, "q"),
            "figure 3": motion(10, "q"),
            "figure 4": motion(10, "p"),
            "figure 5": motion(3, "qp"),
            "figure 6": energy_errors(10),
            "figure 7": form_errors(10),
            "figure 8": convergence(meshes),
        },
        "misprints": MISPRINTS,
    }


TITLES = {
    "figure 2": "Coordinates during one period, h = 0.1",
    "figure 3": "Coordinates during ten periods, h = 0.1",
    "figure 4": "Momenta during ten periods, h = 0.1",
    "figure 5": "Phase portraits of three periods, h = 0.1",
    "figure 6": "Relative error of the energy",
    "figure 7": "Absolute error of the conserved quadratic form",
    "figure 8": "Convergence of the coordinates",
}


def draw(figures: dict[str, dict], folder: str) -> list[str]:
    """Draw the figures into a folder, by matplotlib, which comes with ``pip install mbvi[viz]``; the paths of the files."""
    from matplotlib.figure import Figure

    paths = []
    for name, series in figures.items():
        x, y = next(
            (x, y) for x, y in (("q", "p"), ("t", "q"), ("t", "p"), ("t", "error"), ("h", "error")) if has(series, x, y)
        )
        count = 1 if y == "error" else 2
        picture = Figure(figsize=(8, 1 + 3 * count), layout="constrained")
        picture.suptitle(TITLES[name])
        for row, axes in enumerate(picture.subplots(count, 1, squeeze=False)[:, 0]):
            for label, each in series.items():
                across, up = (each[key][:, row] if key in "pq" else each[key] for key in (x, y))
                axes.plot(
                    across,
                    np.abs(up) if y == "error" else up,
                    "-" if label == "exact" or y == "error" else ".",
                    label=label,
                )
            axes.set(xlabel=f"{x} [{'rad' if x == 'q' else 'periods'}]", ylabel=y if count == 1 else f"{y}{row + 1}")
            axes.set_xscale("log" if x == "h" else "linear")
            axes.set_yscale("log" if name in ("figure 6", "figure 8") else "linear")
            axes.legend(fontsize="small")
        paths.append(f"{folder}/{name.replace(' ', '_')}.png")
        picture.savefig(paths[-1], dpi=120)
    return paths


def has(series: dict[str, dict], *keys: str) -> bool:
    """Whether a figure's series have all of these axes."""
    return all(key in each for each in series.values() for key in keys)


if __name__ == "__main__":
    data = main()
    marks = {"agrees": " ", "agrees, cut off": "c", "differs": "!"}
    print(
        "periods  scheme   of  errors, ours / printed (c: cut off, !: differs)                  order, ours / printed"
    )
    for row in data["tables"]["table 2"]:
        pairs = zip(row["errors"], row["printed errors"], row["verdicts"], strict=False)
        text = "  ".join(f"{ours:<8.3g}/ {printed:<8.3g}{marks[verdict]}" for ours, printed, verdict in pairs)
        order = f"{row['order']:.2f} / {row['printed order']:.2f} {marks[row['verdicts'][-1]]}"
        print(f"{row['periods']:7}  {row['scheme']:7}  {row['quantity']}   {text}  {order}".rstrip())
        if row["reason"]:
            print(f"{'':9}{row['reason']}")
    for name, each in data["figures"]["figure 8"].items():
        print(f"order of {name} between h = 0.1 and 0.001: {each['order']:.2f}")
