"""Simpson variational integrator for nonlinear systems: a tutorial on the Lagrange top, recomputed.

The double pendulum (figures 2 to 5, table 2), the top with loops against its exact motion (figures 7 to 11, tables 4 and 5),
and the top with cusps against RK4 on its reduced equations (figures 12 to 14). The paper's tables 2, 4 and 5 are pictures in the
text that this follows: ours stand alone.

    mbvi papers run tops_and_double_pendulum
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
import sympy
from mpmath import mp
from scipy.optimize import brentq

import mbvi
from mbvi.exact import CuspedTop, LagrangeTop
from mbvi.papers import reference
from mbvi.papers.catalog import PAPERS
from mbvi.papers.reference import Point, Real
from mbvi.papers.report import Experiment, Figure, Line, Number, Panel, Part, Report, Table, scientific

PAPER = PAPERS["tops_and_double_pendulum"]
NAMES = {"midpoint": "implicit midpoint", "simpson": "Simpson", "rk4": "RK4"}
Array = np.ndarray


def relative(values: Array) -> Array:
    """|x / x₀ − 1| of a series."""
    return np.asarray(np.abs(values / values[0] - 1))


def successive_orders(errors: Sequence[float] | Array) -> Array:
    """log₂ of the ratios of errors at steps halved again and again."""
    return np.asarray(-np.diff(np.log2(errors)))


def listed(orders: Array) -> str:
    """Orders of convergence as text."""
    return ", ".join(f"{round(float(order), 2) + 0.0:.2f}".replace("-", "−") for order in orders)


def growth_table(
    title: str, steps: Sequence[str], lengths: dict[str, int], histories: dict[str, list[Array]], text: str
) -> Table:
    """The largest error within each length of time.

    steps: labels of the step sizes. lengths: {label: number of the largest steps in it}. histories: for each scheme one series of
    errors for each step size, each half as large as the one before.
    """
    rows: list[tuple[str | Number, ...]] = []
    for scheme, series in histories.items():
        for label, count in lengths.items():
            errors = [each[: count * 2**k + 1].max() for k, each in enumerate(series) if count * 2**k < len(each)]
            if errors:
                orders = listed(successive_orders(errors))
                missing = [""] * (len(steps) - len(errors))
                rows.append((NAMES[scheme], label, *(Number(float(each)) for each in errors), *missing, orders))
    return Table(title, ("method", "length", *steps, "orders"), rows, text)


# ----------------------------------------------------------------------------------------- double pendulum

G, OMEGA = 9.81, 2 * np.pi
LENGTH = (
    G / OMEGA**2
)  # the paper prints g/ω₀, no length, at which even the midpoint scheme would follow the motion for 9 s
STEP, DURATION = 0.1, 10


@cache
def double_pendulum(length: float = LENGTH) -> mbvi.System:
    """Two points of 1 kg on rods, by their angles from the vertical, at rest at 45 and 60 degrees."""
    a, b = sympy.symbols("a b")
    M = length**2 * sympy.Matrix([[2, sympy.cos(a - b)], [sympy.cos(a - b), 1]])
    V = -G * length * (2 * sympy.cos(a) + sympy.cos(b))
    return mbvi.from_sympy([a, b], M, V, initial_q=[np.pi / 4, np.pi / 3], name="double pendulum")


@cache
def double_pendulum_run(
    scheme: str, step: float, duration: float = DURATION, length: float = LENGTH
) -> mbvi.Trajectory:
    """A run from the start."""
    return mbvi.simulate(double_pendulum(length), scheme, step=step, duration=duration)


def double_pendulum_deviation(scheme: str, length: float = LENGTH) -> float:
    """Largest angle from the true motion in 10 s at the step 0.1 s [rad]."""
    exact = mbvi.simulate(double_pendulum(length), "gauss6", step=0.001, duration=DURATION, every=100).q
    return float(np.abs(double_pendulum_run(scheme, STEP, DURATION, length).q - exact).max())


def figure_2() -> Figure:
    """Angles over 10 s."""
    away = ", ".join(f"{name} {double_pendulum_deviation(scheme):.2g} rad" for scheme, name in NAMES.items())
    printed = ", ".join(
        f"{name} {scientific(double_pendulum_deviation(scheme, G / OMEGA), 2)}" for scheme, name in NAMES.items()
    )
    return double_pendulum_figure(
        "Figure 2: angles of the double pendulum",
        "q",
        "rad",
        "Step 0.1 s; RK4 advances coordinates and velocities. The true motion is that of a scheme of order 12 at 0.001 s. "
        f"Largest distance from it: {away}: as the paper says, only Simpson's rule follows. Rods of the length that the paper "
        f"prints, g/ω₀, would give {printed} rad, and RK4 would follow as well: the length is g/ω₀².",
    )


def figure_3() -> Figure:
    """Momenta over 10 s."""
    return double_pendulum_figure(
        "Figure 3: momenta of the double pendulum", "p", "kg m²/s", "Step 0.1 s, as in figure 2."
    )


def double_pendulum_figure(title: str, key: str, unit: str, text: str) -> Figure:
    """Coordinates or momenta over 10 s."""
    exact = mbvi.simulate(double_pendulum(), "gauss6", step=0.001, duration=DURATION, every=10)
    panels = []
    for i, index in enumerate("₁₂"):
        lines = [Line("true motion", exact.t, getattr(exact, key)[:, i], "reference")]
        for scheme, name in NAMES.items():
            run = double_pendulum_run(scheme, STEP)
            lines.append(Line(name, run.t, getattr(run, key)[:, i]))
        panels.append(Panel("time [s]", f"{key}{index} [{unit}]", lines))
    return Figure(title, panels, text)


def figure_4() -> Figure:
    """Energy errors over 10 s against the step."""
    lines, orders = [], []
    for scheme, name in NAMES.items():
        steps = STEP / 2.0 ** np.arange(8)
        errors = [relative(double_pendulum_run(scheme, step).energy()).max() for step in steps]
        lines.append(Line(name, steps, errors, "marked"))
        orders.append(f"{name} {listed(successive_orders(errors))}")
    return Figure(
        "Figure 4: largest relative energy error of the double pendulum in 10 s",
        [Panel("step [s]", "largest |H/H₀ − 1|", lines, "log")],
        "Orders between successive steps: " + "; ".join(orders) + ".",
    )


def figure_5() -> Figure:
    """Energy errors over time."""
    lines = []
    for scheme, name in NAMES.items():
        run = double_pendulum_run(scheme, STEP)
        lines.append(Line(name, run.t[1:], relative(run.energy())[1:]))
    return Figure(
        "Figure 5: relative energy error of the double pendulum over time",
        [Panel("time [s]", "|H/H₀ − 1|", lines, "logy")],
        "Step 0.1 s. That of RK4 grows; those of the variational schemes come back.",
    )


def table_2(seconds: Sequence[int] = (1, 10, 100, 1000)) -> Table:
    """Energy errors and orders against the length of the simulation."""
    lengths = {f"{length} s": 10 * length for length in seconds}
    duration, levels = max(lengths.values()) * STEP, range(4)
    histories = {
        scheme: [relative(double_pendulum_run(scheme, STEP / 2**k, duration).energy()) for k in levels]
        for scheme in NAMES
    }
    steps = [f"h = {STEP / 2**k:g} s" for k in levels]
    text = "Largest |H/H₀ − 1| within each length, and the orders between successive steps."
    return growth_table("Table 2: energy error of the double pendulum", steps, lengths, histories, text)


def table_of_64_digits(steps: int = 10) -> Table:
    """The compiled kernels compared with the same equations in 64 digits."""
    cases = {
        "double pendulum": (double_pendulum(), reference.double_pendulum(), 0.01),
        "top with loops": (top(), reference.top(str(INERTIA), str(AXIAL_INERTIA), "0.14715"), 0.005),
    }
    rows: list[tuple[str | Number, ...]] = []
    for name, (system, L, h) in cases.items():
        for scheme, method in (("midpoint", reference.midpoint), ("simpson", reference.simpson)):
            run = mbvi.simulate(system, scheme, step=h, duration=steps * h)
            states = np.array(reference.run(method, L, run.q[0], run.p[0], h, steps)).astype(float)
            differences = [
                float((np.abs(found - true).max(axis=0) / np.abs(true).max(axis=0)).max())
                for found, true in ((run.q, states[:, 0]), (run.p, states[:, 1]))
            ]
            rows.append((name, NAMES[scheme], f"{steps} of {h} s", *map(Number, differences)))
    return Table(
        "Kernels against 64 digits",
        ("system", "method", "steps", "coordinates", "momenta"),
        rows,
        "Largest differences, each relative to the largest value of the coordinate or momentum: round-off, which is 2·10⁻¹⁶.",
    )


def figure_below_round_off() -> Figure:
    """Both schemes in 64 digits: the energy that one step adds, over its length, against the step."""
    L, start = reference.double_pendulum(), double_pendulum_run("simpson", 0.01, 0.5)
    q, p = start.q[-1], start.p[-1]
    lines = []
    for scheme, method in (("midpoint", reference.midpoint), ("simpson", reference.simpson)):
        steps = 10.0 ** -np.arange(1, 10)
        errors = [float(reference.energy_rate(method, L, q, p, h)) for h in steps]
        lines.append(Line(f"{NAMES[scheme]}, 64 digits", steps, errors, "marked"))
        system, rates = double_pendulum(), []
        for h in steps:
            v = system.velocities(np.zeros(1), q[None], p[None])[0]
            energy = mbvi.simulate(system, scheme, step=h, duration=h, initial_q=q, initial_v=v).energy()
            rates.append(max(abs(energy[1] / energy[0] - 1), np.finfo(float).eps) / h)
        lines.append(Line(f"{NAMES[scheme]}, double precision", steps, rates, "marked"))
    return Figure(
        "Below round-off: the energy that a step adds",
        [Panel("step h [s]", "|H₁/H₀ − 1| / h [1/s]", lines, "log")],
        "The double pendulum after 0.5 s, by the same equations in 64 digits and by the compiled "
        "kernels, whose energy has a last digit of 2·10⁻¹⁶. Order 2 and order 4 go on as far as the digits do.",
    )


# ------------------------------------------------------------------------------------------- top with loops

STEPS_PER_PERIOD = 37  # h = 0.04993 s, the fraction of the nutation period nearest to the paper's 0.05

MASS, HEIGHT, INERTIA, AXIAL_INERTIA = 0.1, 0.15, 0.002329969592394382, 0.000125  # Table 3 of the paper
ANGLES, RATES = (0, np.pi / 3, 0), (9.2, 0, 252)


@cache
def top() -> mbvi.System:
    """A heavy symmetric top on a fixed point, in its angles φ, θ, ψ."""
    body = mbvi.Body(
        mass=MASS, center_of_mass=(0, 0, HEIGHT), inertia=(INERTIA, INERTIA, AXIAL_INERTIA), inertia_about="origin"
    )
    model = mbvi.Model(
        name="top with loops",
        bodies={"top": body},
        joints={"contact": mbvi.Ball(parent="world", child="top", coordinates="zxz")},
        initial={"contact": mbvi.Initial(position=ANGLES, velocity=RATES)},
    )
    return mbvi.assemble(model)


@cache
def exact_top(gravity: float = G) -> LagrangeTop:
    """The exact motion of the top."""
    return LagrangeTop(INERTIA, AXIAL_INERTIA, MASS * gravity * HEIGHT, ANGLES, RATES)


@cache
def top_run(scheme: str, steps_per_period: float, periods: int) -> mbvi.Trajectory:
    """A run from the start."""
    period = exact_top().period
    return mbvi.simulate(top(), scheme, step=period / steps_per_period, duration=periods * period)


def nutation_errors(scheme: str, steps_per_period: float, periods: int) -> Array:
    """|θ/θ_exact − 1| at every step."""
    run = top_run(scheme, steps_per_period, periods)
    return np.asarray(np.abs(run.q[:, 1] / exact_top()(run.t)[0][:, 1] - 1))


def path_of_axis(title: str, phi: Array, theta: Array, text: str) -> Figure:
    """The path of the axis on the unit sphere, from above and from the side."""
    x, y, z = np.sin(theta) * np.sin(phi), -np.sin(theta) * np.cos(phi), np.cos(theta)
    panels = [
        Panel("x [–]", "y [–]", [Line("tip of the axis", x, y)], is_equal=True),
        Panel("x [–]", "z, upwards [–]", [Line("tip of the axis", x, z)], is_equal=True),
    ]
    return Figure(title, panels, text, columns=2)


def figure_7() -> Figure:
    """The axis over five nutations."""
    motion = exact_top()
    angles, _ = motion(np.linspace(0, 5 * motion.period, 2001))
    low, high = np.degrees([angles[:, 1].min(), angles[:, 1].max()])
    text = (
        f"Five periods of the exact motion, on a sphere of radius 1. The nutation is {low:.2f} to {high:.2f} degrees."
    )
    return path_of_axis("Figure 7: the top with loops", angles[:, 0], angles[:, 1], text)


def figure_8() -> Figure:
    """Nutation over a period."""
    t = np.linspace(0, exact_top().period, 1001)
    lines = [Line("exact", t, exact_top()(t)[0][:, 1], "reference")]
    for scheme, name in NAMES.items():
        run = top_run(scheme, STEPS_PER_PERIOD, 1)
        lines.append(Line(name, run.t, run.q[:, 1], "marked"))
    worst = {scheme: nutation_errors(scheme, STEPS_PER_PERIOD, 1).max() for scheme in NAMES}
    text = ", ".join(f"{NAMES[scheme]} {error:.2g}" for scheme, error in worst.items())
    return Figure(
        "Figure 8: nutation over one period",
        [Panel("time [s]", "θ [rad]", lines)],
        f"Step {exact_top().period / STEPS_PER_PERIOD:.5f} s. Largest |θ/θ_exact − 1|: {text}.",
    )


def figure_9() -> Figure:
    """Energy over ten periods."""
    lines = []
    for scheme, name in NAMES.items():
        run = top_run(scheme, STEPS_PER_PERIOD, 10)
        lines.append(Line(name, run.t[1:], np.maximum(relative(run.energy())[1:], 1e-12)))
    return Figure(
        "Figure 9: relative energy error of the top over ten periods",
        [Panel("time [s]", "|H/H₀ − 1|", lines, "logy")],
        "That of the variational schemes comes back after every passage near the vertical; that of RK4 moves on by a step at "
        "each. Errors below 10⁻¹² are drawn there.",
    )


def figure_10() -> Figure:
    """Momenta over ten periods."""
    panels = []
    for i, label in ((0, r"$|p_\varphi/p_{\varphi,0} - 1|$"), (2, r"$|p_\psi/p_{\psi,0} - 1|$")):
        lines = []
        for scheme, name in NAMES.items():
            run = top_run(scheme, STEPS_PER_PERIOD, 10)
            lines.append(Line(name, run.t, np.maximum(relative(run.p[:, i]), 1e-17)))
        panels.append(Panel("time [s]", label, lines, "logy"))
    return Figure(
        "Figure 10: relative errors of the conserved momenta",
        panels,
        "The variational schemes conserve them to round-off; an error of exactly zero is drawn at 10⁻¹⁷.",
    )


def figure_11() -> Figure:
    """Errors over one period against the step."""
    nutation: list[Line] = []
    energy: list[Line] = []
    for scheme, name in NAMES.items():
        counts = STEPS_PER_PERIOD * 2 ** np.arange(7)
        steps = exact_top().period / counts
        nutation.append(Line(name, steps, [nutation_errors(scheme, int(n), 1).max() for n in counts], "marked"))
        errors = [relative(top_run(scheme, int(n), 1).energy()).max() for n in counts]
        energy.append(Line(name, steps, errors, "marked"))
    text = "Last orders of nutation and energy: " + "; ".join(
        f"{a.label} {successive_orders(np.asarray(a.y))[-1]:.2f} and {successive_orders(np.asarray(b.y)[:5])[-1]:.2f}"
        for a, b in zip(nutation, energy, strict=True)
    )
    panels = [
        Panel("step [s]", r"largest $|\theta/\theta_\mathrm{exact} - 1|$", nutation, "log"),
        Panel("step [s]", r"largest $|H/H_0 - 1|$", energy, "log"),
    ]
    return Figure("Figure 11: errors over one nutation", panels, text + ".", columns=2)


def locked_and_free() -> tuple[float, float]:
    """Largest nutation errors of Simpson's rule in 1000 periods, of 37 steps each, and of 37.1."""
    locked, free = (nutation_errors("simpson", n, 1000).max() for n in (STEPS_PER_PERIOD, STEPS_PER_PERIOD + 0.1))
    return float(locked), float(free)


LENGTHS = (1, 10, 100, 1000)  # of the simulations of tables 4 and 5 [periods]
COUNTS = tuple(STEPS_PER_PERIOD * 2**k for k in range(4))


def table_4(periods: Sequence[int] = LENGTHS) -> Table:
    """Nutation errors and orders against the length of the simulation."""
    histories = {scheme: [nutation_errors(scheme, n, periods[-1]) for n in COUNTS] for scheme in NAMES}
    text = "Largest |θ/θ_exact − 1| within each length, and the orders between successive steps."
    if periods[-1] == LENGTHS[-1]:
        locked, free = locked_and_free()
        text += (
            " Where a method has lost the phase, the error is as large as it can be, about 21, at every step size, and the "
            "order nothing: the midpoint scheme in 1000 periods, as the paper says. The high orders of RK4 in 100 periods are "
            "those of errors that are not small yet. One number flatters: with exactly 37 steps in a period the nutation that "
            "Simpson's rule computes locks onto the exact one, and its error stops growing at "
            f"{locked:.3f}; with 37.1 steps it is {free:.3f} after 1000 periods."
        )
    return top_table("Table 4: nutation error of the top", periods, histories, text)


def table_5(periods: Sequence[int] = LENGTHS) -> Table:
    """Energy errors and orders against the length of the simulation."""
    histories = {scheme: [relative(top_run(scheme, n, periods[-1]).energy()) for n in COUNTS] for scheme in NAMES}
    text = (
        "Largest |H/H₀ − 1|. That of RK4 grows with time, and where the drift prevails it falls with an order near 5, one more "
        "than the error of the motion. The others have no trend."
    )
    return top_table("Table 5: energy error of the top", periods, histories, text)


def top_table(title: str, periods: Sequence[int], histories: dict[str, list[Array]], text: str) -> Table:
    """Errors at the steps of COUNTS."""
    lengths = {f"{n} period" + "s" * (n > 1): n * STEPS_PER_PERIOD for n in periods}
    return growth_table(title, [f"h = {exact_top().period / n:.4g} s" for n in COUNTS], lengths, histories, text)


# -------------------------------------------------------------------------------------------- top with cusps


@cache
def cusped_top() -> mbvi.System:
    """Table 6 of the paper: I = 1, I₃ = 2, V = 4π² cos θ, released with its axis at rest at 30 degrees.

    A rigid body with I₃ = 2I about a point has its centre of mass there, and no weight about it: the body is a disc about its
    centre, and a constant force pulls down on a point of its axis.
    """
    pull = mbvi.Force(body="top", point=(0, 0, 1), vector=(0, 0, -4 * np.pi**2))
    model = mbvi.Model(
        name="top with cusps",
        gravity=(0, 0, 0),
        bodies={"top": mbvi.Body(mass=1, inertia=(1, 1, 2))},
        joints={"contact": mbvi.Ball(parent="world", child="top", coordinates="zxz")},
        forces={"pull": pull},
        initial={"contact": mbvi.Initial(position=(0, np.pi / 6, 0), velocity=(0, 0, 2 * np.pi))},
    )
    return mbvi.assemble(model)


def exact_cusped_top() -> CuspedTop:
    """The exact nutation of the top with cusps."""
    return CuspedTop(inertia=1, axial_inertia=2, weight_moment=4 * np.pi**2, angle=np.pi / 6, spin=2 * np.pi)


def rk4(rates: Callable[[Array], Array], y: Array, h: float, steps: int) -> Array:
    """The classical Runge-Kutta method for y' = rates(y): steps + 1 states."""
    states = [y]
    for _ in range(steps):
        a = rates(y)
        b = rates(y + h / 2 * a)
        c = rates(y + h / 2 * b)
        d = rates(y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
        states.append(y)
    return np.array(states)


def reduced_top(step: float, steps: int) -> Array:
    """φ, θ and dθ/dt (steps + 1, 3) by RK4 on the reduced equations (18aq)."""

    def rates(y: Array) -> Array:
        _, theta, xi = y
        precession = 2 * np.pi * (np.sqrt(3) - 2 * np.cos(theta)) / np.sin(theta) ** 2
        pull = 4 * np.pi**2 + precession**2 * np.cos(theta) - 4 * np.pi * precession
        return np.array([precession, xi, pull * np.sin(theta)])

    return rk4(rates, np.array([0, np.pi / 6, 0]), step, steps)


def cusped_nutation(scheme: str, step: float, duration: float = 1.0) -> Array:
    """θ at every step: RK4 on the reduced system, the other schemes on the complete one."""
    if scheme == "rk4":
        return reduced_top(step, round(duration / step))[:, 1]
    return mbvi.simulate(cusped_top(), scheme, step=step, duration=duration).q[:, 1]


def figure_12() -> Figure:
    """The axis over three seconds."""
    phi, theta, _ = reduced_top(0.001, 3000).T
    text = (
        f"Three seconds of the reduced system, by RK4 at 0.001 s. From cusp to cusp {exact_cusped_top().period:.5f} s; the "
        f"nutation stays between {np.degrees(theta.min()):.2f} and {np.degrees(theta.max()):.2f} degrees."
    )
    return path_of_axis("Figure 12: the top with cusps", phi, theta, text)


def figure_13() -> Figure:
    """Nutation over a second at the step 0.1 s."""
    step, fine = 0.1, 1e-4
    t, coarse = fine * np.arange(10001), step * np.arange(11)
    theta = cusped_nutation("rk4", fine)
    exact = exact_cusped_top()(coarse)[0]
    lines = [Line("RK4 on the reduced system, h = 10⁻⁴ s", t, theta, "reference")]
    found = {scheme: cusped_nutation(scheme, step) for scheme in NAMES}
    lines += [Line(f"{name}, h = 0.1 s", coarse, found[scheme], "marked") for scheme, name in NAMES.items()]
    errors = ", ".join(f"{name} {np.abs(found[scheme] - exact).max():.2g} rad" for scheme, name in NAMES.items())
    reference_error = np.abs(theta - exact_cusped_top()(t)[0]).max()
    return Figure(
        "Figure 13: nutation of the top with cusps",
        [Panel("time [s]", "θ [rad]", lines)],
        f"Largest errors against the closed form: {errors}, and the reference {scientific(reference_error, 2)} rad.",
    )


def cusped_differences() -> tuple[Array, Array]:
    """Steps, and at each the largest difference of Simpson (complete) and RK4 (reduced), and their errors [rad]."""
    steps = 0.1 / 2.0 ** np.arange(8)
    rows = []
    for step in steps:
        simpson, runge_kutta = cusped_nutation("simpson", step), cusped_nutation("rk4", step)
        exact = exact_cusped_top()(step * np.arange(len(simpson)))[0]
        rows.append([np.abs(a - b).max() for a, b in ((simpson, runge_kutta), (simpson, exact), (runge_kutta, exact))])
    return steps, np.array(rows).T


def figure_14() -> Figure:
    """The difference of Simpson and RK4 against the step."""
    steps, (difference, simpson, runge_kutta) = cusped_differences()
    lines = [
        Line("Simpson − RK4", steps, difference, "marked"),
        Line("Simpson − exact", steps, simpson, "marked"),
        Line("RK4 − exact", steps, runge_kutta, "marked"),
    ]
    return Figure(
        "Figure 14: Simpson on the complete top with cusps, RK4 on the reduced one",
        [Panel("step [s]", "largest difference of θ in 1 s [rad]", lines, "log")],
        f"Orders of the difference between successive steps: {listed(successive_orders(difference))}. Both errors have the "
        f"same sign; that of RK4 is {runge_kutta[-1] / simpson[-1]:.1f} times the other.",
    )


# ------------------------------------------------------------------------------- printed numbers and formulas


def gravity_of_the_printed_period() -> float:
    """g with which the nutation period is the printed one [m/s²]."""
    return float(brentq(lambda g: exact_top(g).period - 1.84671, 9.8, 9.82))


def printed_numbers() -> Table:
    """What the text prints in digits, or as a formula."""
    momentum = cusped_top().momentum(cusped_top().initial_q, cusped_top().initial_v)
    reason = (
        "The period hangs on g, which the paper does not print for the top: ours is of 9.81, the printed one of "
        f"{gravity_of_the_printed_period():.5f} m/s²."
    )
    return Table(
        "Numbers in the text",
        ("quantity", "value"),
        [
            ("nutation period of the top with loops [s]", Number(exact_top().period, "1.84671", reason)),
            ("p_φ of the top with cusps, 2π√3 [kg m²/s]", Number(momentum[0], f"{2 * np.pi * np.sqrt(3):.6f}")),
            ("p_ψ of the top with cusps, 4π [kg m²/s]", Number(momentum[2], f"{4 * np.pi:.6f}")),
        ],
    )


def heights_at_the_start() -> tuple[float, float]:
    """cos θ at t = 0 by equation (18aa) as printed, and with 6I²m in the place of 6Im; it is 1/2."""
    motion = exact_top()
    I, I3, moment = motion.inertia, motion.axial_inertia, motion.weight_moment
    p_psi = motion.spin_momentum
    energy = top().energy(top().initial_q, top().initial_v)
    numerator = 2 * I * (energy - p_psi**2 / (2 * I3)) + p_psi**2
    correct, printed = numerator / (6 * I * moment), numerator / (6 * moment)  # m = moment/I
    height = float(motion.height_by_weierstrass(0.0))
    return height - correct + printed, height


def residuals_of_formulas() -> dict[str, tuple[float, float]]:
    """How far a step of 0.01 s in 64 digits is from satisfying formulas as printed, and as corrected."""
    L, start = reference.double_pendulum(), double_pendulum_run("simpson", 0.01, 0.5)
    q, p, h = [mp.mpf(x) for x in start.q[-1]], [mp.mpf(x) for x in start.p[-1]], mp.mpf("0.01")
    with mp.workdps(reference.DIGITS + reference.GUARD):

        def M(q: Point, g: Point) -> Real:
            return mp.matrix(L.mass_matrix(q)) * mp.matrix(g)

        def by_q(f: Callable[[Point], Real], q: Point) -> Real:
            shift = mp.mpf(10) ** -reference.DIGITS
            points = ([x + 1j * shift * (i == k) for k, x in enumerate(q)] for i in range(len(q)))
            return mp.matrix([mp.im(f(point)) / shift for point in points])

        def MM(q: Point, g: Point) -> Real:  # ∂M g g
            return by_q(lambda x: sum(g[i] * L.mass_matrix(x)[i][j] * g[j] for i in (0, 1) for j in (0, 1)), q)

        def V(q: Point) -> Real:
            return by_q(L.potential, q)

        (a, m, b), end = reference.step(reference.simpson, L, q, p, h)
        ga = [(-3 * x + 4 * y - z) / h for x, y, z in zip(a, m, b, strict=True)]
        gm = [(z - x) / h for x, z in zip(a, b, strict=True)]
        gb = [(x - 4 * y + 3 * z) / h for x, y, z in zip(a, m, b, strict=True)]
        both, inertia = mp.matrix(p) + mp.matrix(end), (M(a, ga), M(m, gm), M(b, gb))
        ends = -h / 12 * (MM(a, ga) - MM(b, gb)) + h / 6 * (V(a) - V(b))

        def of_sum(outer: Real, middle: Real, part: Real, total: Real) -> Real:
            return outer * (inertia[0] + inertia[2]) + middle * inertia[1] + part * ends - total * both

        (c, d), after = reference.step(reference.midpoint, L, q, p, h)
        middle = [(x + y) / 2 for x, y in zip(c, d, strict=True)]
        g = [(y - x) / h for x, y in zip(c, d, strict=True)]
        mean = (mp.matrix(p) + mp.matrix(after)) / 2
        S, _ = reference.midpoint(L, h)
        right = mp.matrix(reference.derivatives(S, [c, d], [1])[0])
        sixth, third = mp.mpf(1) / 6, mp.mpf(1) / 3
        pairs = {
            "sum of momenta": (of_sum(2 * third, 4 * third, 1, 1), of_sum(third, 4 * third, 1, 1)),
            "(18arc)": (of_sum(sixth, 4 * sixth, 1, 0.5), of_sum(sixth, 4 * sixth, 0.5, 0.5)),
            "F_q of appendix B": (-h * mean, h * (M(middle, g) - mean)),
            "p_j+1 of appendix B": (mp.matrix(after) + right, mp.matrix(after) - right),
        }
        return {name: (float(mp.norm(printed)), float(mp.norm(correct))) for name, (printed, correct) in pairs.items()}


def misprinted_formulas() -> Table:
    """Formulas that can be evaluated."""
    height = heights_at_the_start()
    texts = {
        "sum of momenta": ("appendix A, p_j+1 + p_j", "2/3 M(q_j) g_j … 2/3 M(q_j+1) g_j+1", "1/3 … 1/3"),
        "(18arc)": (
            "(18arc) and F_q of appendix A",
            "h/12 ∂M, h/6 ∂V beside (p + p_j)/2",
            "h/24 ∂M, h/12 ∂V: half of the sum",
        ),
        "F_q of appendix B": ("appendix B, F_q", "−h/2 (p + p_j)", "h M g − h/2 (p + p_j)"),
        "p_j+1 of appendix B": ("appendix B, p_j+1", "−∂L_d/∂q_r", "+∂L_d/∂q_r"),
    }
    rows: list[tuple[str | Number, ...]] = [
        (*texts[name], Number(printed), Number(correct)) for name, (printed, correct) in residuals_of_formulas().items()
    ]
    rows.insert(0, ("(18aa) at t = 0", "… / 6Im", "… / 6I²m", *(Number(abs(each - 0.5)) for each in height)))
    return Table(
        "Misprinted formulas, evaluated",
        ("where", "printed", "correct", "residual as printed", "residual corrected"),
        rows,
        "How far a step of 0.01 s of the double pendulum in 64 digits is from satisfying them; for (18aa), cos θ₀ − 1/2.",
    )


OTHER_MISPRINTS = Table(
    "Other misprints",
    ("where", "printed", "correct", "reason"),
    [
        ("section 3.2", "ℓ = g/ω₀", "g/ω₀²", "g/ω₀ is a speed; and see figure 2"),
        ("after (18aa), c", "sin²θ", "sin²θ₀", "c is a constant, of the initial state"),
        ("(18ae)", "A = (2π)²/t̄", "(2π)²/t̄²", "A is a squared frequency"),
        ("before (18ac)", "equation (18c)", "(18b)", "the equation of θ; (18c) is that of p_ψ"),
        ("end of section 2.3", "appendix B", "appendix A", "Simpson's scheme is in A"),
        ("appendix A, ∂F_qm/∂q", "h ∂M(q_m) g_m", "h ∂M(q) g", "the derivative of h M(q) g"),
        ("appendix A, ∂F_q/∂q_m", "h/3 ∂_δ M_αδ g", "h/3 ∂_γ M_αδ g", "γ stands nowhere in the printed term"),
        (
            "table 6",
            "a body with I₃ = 2I and its weight off the fixed point",
            "a force on a disc",
            "I₃ = 2I holds only about the centre of mass of a flat disc",
        ),
    ],
)


# ---------------------------------------------------------------------------------------------------- report


def report(quick: bool = False) -> Report:
    """The whole report; with `quick`, simulations of 100 and 1000 s, or periods, are left out."""
    long = (1, 10) if quick else LENGTHS
    parts: list[Part] = [
        Experiment("Numbers in the text", printed_numbers),
        Experiment("Figure 2", figure_2),
        Experiment("Figure 3", figure_3),
        Experiment("Figure 4", figure_4),
        Experiment("Figure 5", figure_5),
        Experiment("Table 2", partial(table_2, long)),
        Experiment("Kernels against 64 digits", table_of_64_digits),
        Experiment("Below round-off", figure_below_round_off),
        Experiment("Figure 7", figure_7),
        Experiment("Figure 8", figure_8),
        Experiment("Figure 9", figure_9),
        Experiment("Figure 10", figure_10),
        Experiment("Figure 11", figure_11),
        Experiment("Table 4", partial(table_4, long)),
        Experiment("Table 5", partial(table_5, long)),
        Experiment("Figure 12", figure_12),
        Experiment("Figure 13", figure_13),
        Experiment("Figure 14", figure_14),
        Experiment("Misprinted formulas", misprinted_formulas),
        OTHER_MISPRINTS,
    ]
    left_out = ["100 and 1000 s of table 2", "100 and 1000 periods of tables 4 and 5"] if quick else []
    return Report(PAPER.title, PAPER.source, parts, left_out)
