"""A simple variational integrator for general holonomic mechanical systems, recomputed: figures, theorem and appendix.

An oscillator m ẍ + b ẋ + k x = 0 whose damping b < 0 doubles the amplitude every two periods, 20 periods of 32 steps:
amplitude and phase errors of the direct midpoint method, of its family, of the midpoint variation method and of a
Runge-Kutta method.

    mbvi papers run direct_midpoint
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import sympy
from scipy.optimize import brentq, minimize_scalar
from sympy import QQ
from sympy.polys.rings import PolyElement

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.analysis.interaction import OscillationErrors, oscillation_errors
from mbvi.analysis.small_step import action_variation
from mbvi.exact import DampedOscillator
from mbvi.papers.catalog import PAPERS
from mbvi.papers.report import Experiment, Figure, Line, Number, Panel, Part, Report, Table
from mbvi.schemes.method import Method
from mbvi.steppers.direct_midpoint import direct_midpoint

PAPER = PAPERS["direct_midpoint"]
PERIOD, PERIODS, STEPS = 1.0, 20, 32
DOUBLING = 2.0  # periods after which the amplitude has doubled

# --------------------------------------------------------------------------------------------- oscillator


def oscillator(doubling: float = DOUBLING) -> DampedOscillator:
    """An oscillator of 1 kg and period 1 s, released at rest, whose amplitude doubles after a number of periods."""
    rho, omega = -math.log(2) / (doubling * PERIOD), 2 * math.pi / PERIOD
    return DampedOscillator(mass=1.0, damping=2 * rho, stiffness=omega**2 + rho**2, position=1.0)


@cache
def system(doubling: float = DOUBLING) -> mbvi.System:
    """The oscillator as a system of mbvi, with the damping as a force."""
    x, v = sympy.symbols("x v")
    exact = oscillator(doubling)
    return mbvi.from_sympy(
        [x],
        [[exact.mass]],
        exact.stiffness * x**2 / 2,
        velocities=[v],
        forces=[-exact.damping * v],
        initial_q=[exact.position],
        initial_v=[exact.velocity],
        name="oscillator",
    )


@cache
def errors(method: str | Method, doubling: float = DOUBLING) -> OscillationErrors:
    """Relative amplitude error and phase error after every step."""
    run = mbvi.simulate(system(doubling), method, step=PERIOD / STEPS, duration=PERIODS * PERIOD)
    return oscillation_errors(oscillator(doubling), run.t, run.q[:, 0], run.v[:, 0])


def errors_of_one_iteration() -> OscillationErrors:
    """The errors of one iteration of the simple kind: a = A(t + τ, x + τ v, v + τ a₀) instead of the solution for a."""
    tau, x, v = PERIOD / STEPS / 2, np.array([1.0]), np.array([0.0])
    states = [(x, v)]
    for _ in range(PERIODS * STEPS):
        a = system().acceleration(x + tau * v, v)
        a = system().acceleration(x + tau * v, v + tau * a)
        x, v = x + 2 * tau * (v + tau * a), v + 2 * tau * a
        states.append((x, v))
    positions, velocities = np.array(states)[:, :, 0].T
    return oscillation_errors(oscillator(), 2 * tau * np.arange(len(states)), positions, velocities)


def degrees(phase: float) -> float:
    """Convert an angle from radians to degrees."""
    return math.degrees(float(phase))


def largest(error: np.ndarray) -> float:
    """The largest absolute value."""
    return float(np.abs(error).max())


def g_without_phase_error(doubling: float = DOUBLING) -> float:
    """The member of the family, as equation 72 counts g, whose phase is right after all periods."""
    return float(brentq(lambda g: errors(direct_midpoint(g), doubling).phase[-1], 0.1, 0.6, xtol=1e-6))


# ------------------------------------------------------------------------------------------------ figures

ONE_STEP = {
    "direct midpoint, g = 0": direct_midpoint(),
    "g = 0.34 (paper: 0.68)": direct_midpoint(0.34),
    "g = 0.5 (paper: 1)": direct_midpoint(0.5),
    "midpoint variation": "midpoint_variation",
}
RUNGE_KUTTA = {"Runge-Kutta, order 2": "explicit_midpoint"}
REFERENCE = {"Runge-Kutta, order 4": "rk4"}  # which the paper does not have
T = np.arange(PERIODS * STEPS + 1) / STEPS


def _figure(title: str, y_label: str, component: int, unit: float, text: str) -> Figure:
    def lines(methods: dict) -> list[Line]:
        return [Line(label, T, unit * errors(method)[component]) for label, method in methods.items()]

    axis = "time [periods]"
    return Figure(
        title,
        [Panel(axis, y_label, lines(ONE_STEP)), Panel(axis, y_label, lines(ONE_STEP | RUNGE_KUTTA))],
        text,
        columns=2,
    )


def figure_2() -> Figure:
    """Relative amplitude errors."""
    return _figure(
        "Figure 2: relative amplitude error over 20 oscillations",
        "amplitude error",
        0,
        1.0,
        "That of the direct midpoint method swings within half a percent about a line without a trend; the "
        "amplitude itself grows 1024-fold. The Runge-Kutta method, which the paper describes in words alone, is on the right.",
    )


def figure_3() -> Figure:
    """Phase errors in degrees."""
    return _figure(
        "Figure 3: phase error over 20 oscillations",
        "phase error [degrees]",
        1,
        math.degrees(1.0),
        "The direct midpoint method is ahead the most among the parabolic methods, and the midpoint variation "
        "method behind.",
    )


# ------------------------------------------------------------------------------------ numbers of the text

HALVED = (
    "the figures count g by x + vτ + g aτ²/2, so that the parabola's own middle is g = 1, and not as equations 72 "
    "to 85 by x + vτ + g aτ²"
)


def smoothest_step() -> float:
    """The p for which the step function 1/(1 + exp(p (1/z + 1/(z − 1)))) on [0, 1] has the least ∫ r''² dz (footnote 3)."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    z, weights = (nodes + 1) / 2, weights / 2
    first, second = -1 / z**2 - 1 / (z - 1) ** 2, 2 / z**3 + 2 / (z - 1) ** 3

    def bending(p: float) -> float:
        half = np.tanh(p * (1 / z + 1 / (z - 1)) / 2)
        curvature = -(1 - half**2) / 4 * (p * second - half * p**2 * first**2)
        return float(weights @ curvature**2)

    return float(minimize_scalar(bending, bounds=(0.5, 1.2), method="bounded", options={"xatol": 1e-9}).x)


def curvature_factor() -> float:
    """The factor of kτ² next to m + τ b in equation 90, from the action of parabolas."""
    tau, exact = 0.1, oscillator()
    slope = action_variation(system(), 0.0, [0.0], [0.0], [1.0], tau)[0]
    return float((-slope - exact.mass - tau * exact.damping) / (exact.stiffness * tau**2))


def numbers() -> Table:
    """Every number that the text prints as a result."""
    middle, variation, runge = (errors(each) for each in (direct_midpoint(), "midpoint_variation", "heun"))
    about = "the paper says approximately; the order of magnitude is the same"
    g = g_without_phase_error()
    rows = [
        ("section 7", "growth of the exact amplitude", Number(2 ** (PERIODS / DOUBLING), "1024")),
        (
            "abstract",
            "direct midpoint: phase error at the end [degrees]",
            Number(
                degrees(middle.phase[-1]),
                "11.5",
                "this is with the equation for a solved; 11.8 to 11.9 degrees, whatever the phase at the start",
            ),
        ),
        (
            "abstract",
            "the same with one simple iteration, a = A(t + τ, x + τv, v + τa₀)",
            Number(degrees(errors_of_one_iteration().phase[-1]), "11.5"),
        ),
        ("section 7", "g without phase error, as in equation 72", Number(g, "0.68", HALVED)),
        ("section 7", "twice this g", Number(2 * g, "0.68")),
        (
            "section 7",
            "Runge-Kutta over midpoint variation: amplitude errors",
            Number(largest(runge.amplitude) / largest(variation.amplitude), "10", about),
        ),
        (
            "section 7",
            "Runge-Kutta over midpoint variation: phase errors",
            Number(largest(runge.phase) / largest(variation.phase), "10", about),
        ),
        ("equation 90", "factor of kτ²", Number(curvature_factor(), "0.6")),
        ("footnote 3", "p of the smoothest step function", Number(smoothest_step(), "0.810747")),
    ]
    return Table(
        "Numbers of the text",
        ("where", "what", "computed"),
        rows,
        "The oscillator starts at rest; the paper does not print its start. All Runge-Kutta methods of order 2 with "
        "two stages take the same steps on a linear system, so that it does not matter which one the paper has.",
    )


def claims() -> Table:
    """What the text says in words: errors for several strengths of the damping."""
    methods = {
        **ONE_STEP,
        "g = 1": direct_midpoint(1.0),
        "a₀ alone": direct_midpoint(iterations=0),
        **RUNGE_KUTTA,
        **REFERENCE,
    }
    rows: list[tuple[str | Number, ...]] = []
    for doubling in (8.0, 4.0, DOUBLING, 1.0, -DOUBLING):
        time = "period" if abs(doubling) == 1 else f"{abs(doubling):g} periods"
        growth = f"{'doubles' if doubling > 0 else 'halves'} every {time}"
        amplitudes = [Number(largest(errors(method, doubling).amplitude)) for method in methods.values()]
        phases = [Number(degrees(errors(method, doubling).phase[-1])) for method in methods.values()]
        rows.append((growth, "amplitude", *amplitudes, ""))
        rows.append((growth, "phase", *phases, Number(g_without_phase_error(doubling))))
    return Table(
        "Errors for several dampings",
        ("amplitude", "error", *methods, "g of right phase"),
        rows,
        "Largest relative amplitude errors, and phase errors at the end in degrees; a₀ alone is the direct midpoint "
        "method without iteration, of order 1. As the paper says, the direct midpoint method has the least "
        "amplitude error of the methods of the figures for every damping, though not by far where the damping is "
        "weak: there the error of all is its swing within a period. Of them it has the largest phase error, and the "
        "midpoint variation method, which takes the steps of g = 3/5, the second largest and the largest amplitude "
        "error. Without iteration it is more accurate than the Runge-Kutta method of order 2 in the paper's example, "
        "but not where the amplitude decays. The g of right phase depends on the damping. The method of order 4 is "
        "there for reference.",
    )


# ------------------------------------------------------------------------------------------- the theorem


def general_system() -> mbvi.System:
    """Masses that depend on place and time, and forces that depend on place, velocity and time."""
    x, y, u, w, t = sympy.symbols("x y u w t")
    return mbvi.from_sympy(
        [x, y],
        [[2 + sympy.cos(y), sympy.sin(x - t) / 3], [sympy.sin(x - t) / 3, 1]],
        x**2 + x * y / 2 + y**4,
        velocities=[u, w],
        time=t,
        forces=[-u / 3 + w - u * w**2 / 3 + sympy.cos(t), x**2 * sympy.sin(u) - x / 4],
        name="general system",
    )


def undamped() -> mbvi.System:
    """Two coupled oscillators without damping."""
    x, y = sympy.symbols("x y")
    return mbvi.from_sympy([x, y], [[2, 1], [1, 3]], 3 * x**2 + x * y + y**2, name="harmonic oscillators")


def remainder(of: mbvi.System, tau: float, g: float) -> float:
    """|D S + G| of equation 60 for one parabola."""
    t, x, v, a = 0.3, np.array([0.5, -0.8]), np.array([1.0, 0.4]), np.array([-0.7, 2.0])
    state = ([t + tau], [x + v * tau + a * tau**2 * g], [v + a * tau], [a])
    return float(np.linalg.norm(action_variation(of, t, x, v, a, tau) + of.guiding_forces(*state)[0]))


def theorem() -> Table:
    """The remainder of the small step action principle for several g, and its order."""
    taus = 0.02, 0.01, 0.005
    rows: list[tuple[str | Number, ...]] = []
    for of in (general_system(), undamped()):
        for g in (0.0, 0.5, 0.6, 1.0, -2.0):
            found = [remainder(of, tau, g) for tau in taus]
            is_exact = max(found) < 1e-12
            order = "none left" if is_exact else Number(convergence_order(found, taus), "2")
            rows.append((of.name, f"{g:g}".replace("-", "−"), *(Number(value) for value in found), order))
    return Table(
        "Theorem of section 5: D S = −G(t + τ, x + vτ + g aτ², v + aτ, a) + O(τ²)",
        ("system", "g", *(f"|D S + G|, τ = {tau:g}" for tau in taus), "order"),
        rows,
        "The action is integrated along one parabola, and G is the guiding force of the system. For harmonic "
        "oscillators it is (g − 3/5) τ² K a and nothing else: at g = 3/5, where the paper has O(τ³), rounding alone is left.",
    )


# ------------------------------------------------------------------------------------------- the appendix

# What FORM printed there.
PRINTED_S = """
+ tau * ( 2*L )
+ tau^2 * ( 2*Dt*L + 2*vDx*L + 2*aDv*L )
+ tau^3 * ( - 2/3*aF + 4/3*Dt*Dt*L + 8/3*Dt*vDx*L + 8/3*Dt*aDv*L + 4/3*vDx*vDx*L + 8/3*vDx*aDv*L + 4/3*aDx*L + 4/3*aDv*aDv*L )
+ tau^4 * ( - 2/3*Dt*aF + 2/3*Dt*Dt*Dt*L + 2*Dt*Dt*vDx*L + 2*Dt*Dt*aDv*L + 2*Dt*vDx*vDx*L + 4*Dt*vDx*aDv*L + 2*Dt*aDx*L
+ 2*Dt*aDv*aDv*L - 2/3*vDx*aF + 2/3*vDx*vDx*vDx*L + 2*vDx*vDx*aDv*L + 2*vDx*aDx*L + 2*vDx*aDv*aDv*L + 2*aDx*aDv*L
- 2/3*aDv*aF + 2/3*aDv*aDv*aDv*L )
+ tau^5 * ( - 2/5*Dt*Dt*aF + 4/15*Dt*Dt*Dt*Dt*L + 16/15*Dt*Dt*Dt*vDx*L + 16/15*Dt*Dt*Dt*aDv*L + 8/5*Dt*Dt*vDx*vDx*L
+ 16/5*Dt*Dt*vDx*aDv*L + 8/5*Dt*Dt*aDx*L + 8/5*Dt*Dt*aDv*aDv*L - 4/5*Dt*vDx*aF + 16/15*Dt*vDx*vDx*vDx*L
+ 16/5*Dt*vDx*vDx*aDv*L + 16/5*Dt*vDx*aDx*L + 16/5*Dt*vDx*aDv*aDv*L + 16/5*Dt*aDx*aDv*L - 4/5*Dt*aDv*aF
+ 16/15*Dt*aDv*aDv*aDv*L - 2/5*vDx*vDx*aF + 4/15*vDx*vDx*vDx*vDx*L + 16/15*vDx*vDx*vDx*aDv*L + 8/5*vDx*vDx*aDx*L
+ 8/5*vDx*vDx*aDv*aDv*L + 16/5*vDx*aDx*aDv*L - 4/5*vDx*aDv*aF + 16/15*vDx*aDv*aDv*aDv*L - 2/5*aDx*aF + 4/5*aDx*aDx*L
+ 8/5*aDx*aDv*aDv*L - 2/5*aDv*aDv*aF + 4/15*aDv*aDv*aDv*aDv*L )
"""
PRINTED_LHS = """
+ eF - Dt*eDv*L - vDx*eDv*L + eDx*L - aDv*eDv*L
+ tau * ( Dt*eF - Dt*Dt*eDv*L - 2*Dt*vDx*eDv*L + Dt*eDx*L - 2*Dt*aDv*eDv*L + vDx*eF - vDx*vDx*eDv*L + vDx*eDx*L
- 2*vDx*aDv*eDv*L - aDx*eDv*L + eDx*aDv*L + aDv*eF - aDv*aDv*eDv*L )
+ tau^2 * ( 3/5*Dt*Dt*eF - 3/5*Dt*Dt*Dt*eDv*L - 9/5*Dt*Dt*vDx*eDv*L + 3/5*Dt*Dt*eDx*L - 9/5*Dt*Dt*aDv*eDv*L
+ 6/5*Dt*vDx*eF - 9/5*Dt*vDx*vDx*eDv*L + 6/5*Dt*vDx*eDx*L - 18/5*Dt*vDx*aDv*eDv*L - 9/5*Dt*aDx*eDv*L
+ 6/5*Dt*eDx*aDv*L + 6/5*Dt*aDv*eF - 9/5*Dt*aDv*aDv*eDv*L + 1/5*Dt*eDv*aF + 3/5*vDx*vDx*eF - 3/5*vDx*vDx*vDx*eDv*L
+ 3/5*vDx*vDx*eDx*L - 9/5*vDx*vDx*aDv*eDv*L - 9/5*vDx*aDx*eDv*L + 6/5*vDx*eDx*aDv*L + 6/5*vDx*aDv*eF
- 9/5*vDx*aDv*aDv*eDv*L + 1/5*vDx*eDv*aF + 3/5*aDx*eF + 3/5*aDx*eDx*L - 9/5*aDx*aDv*eDv*L - 2/5*eDx*aF
+ 3/5*eDx*aDv*aDv*L + 3/5*aDv*aDv*eF - 3/5*aDv*aDv*aDv*eDv*L + 1/5*aDv*eDv*aF )
"""
PRINTED_DIFF = """
+ tau^2 * ( 1/10*Dt*Dt*eF - 1/10*Dt*Dt*Dt*eDv*L - 3/10*Dt*Dt*vDx*eDv*L + 1/10*Dt*Dt*eDx*L - 3/10*Dt*Dt*aDv*eDv*L
+ 1/5*Dt*vDx*eF - 3/10*Dt*vDx*vDx*eDv*L + 1/5*Dt*vDx*eDx*L - 3/5*Dt*vDx*aDv*eDv*L - 4/5*Dt*aDx*eDv*L
+ Dt*aDx*eDv*L*g + 1/5*Dt*eDx*aDv*L + 1/5*Dt*aDv*eF - 3/10*Dt*aDv*aDv*eDv*L + 1/5*Dt*eDv*aF + 1/10*vDx*vDx*eF
- 1/10*vDx*vDx*vDx*eDv*L + 1/10*vDx*vDx*eDx*L - 3/10*vDx*vDx*aDv*eDv*L - 4/5*vDx*aDx*eDv*L + vDx*aDx*eDv*L*g
+ 1/5*vDx*eDx*aDv*L + 1/5*vDx*aDv*eF - 3/10*vDx*aDv*aDv*eDv*L + 1/5*vDx*eDv*aF + 3/5*aDx*eF - aDx*eF*g + 3/5*aDx*eDx*L
- aDx*eDx*L*g - 4/5*aDx*aDv*eDv*L + aDx*aDv*eDv*L*g - 2/5*eDx*aF + 1/10*eDx*aDv*aDv*L + 1/10*aDv*aDv*eF
- 1/10*aDv*aDv*aDv*eDv*L + 1/5*aDv*eDv*aF )
"""
NAMES = ("tau", "g", "Dt", "vDx", "aDx", "eDx", "aDv", "eDv", "L", "aF", "eF", "h")
RING, *GENERATORS = sympy.ring(NAMES, sympy.QQ)
Coefficients = dict[int, dict[tuple[int, ...], object]]  # power of τ → powers of the other names → coefficient


def coefficients(polynomial: PolyElement, shift: int = 0) -> Coefficients:
    """The coefficients of a polynomial times τ^shift, for each power of τ."""
    found: Coefficients = {}
    for (power, *others), value in polynomial.terms():
        found.setdefault(power + shift, {})[tuple(others)] = value
    return found


def series() -> dict[str, Coefficients]:
    """S, LHS and DIFF of the appendix, on L = exp(ω t + ξ·x + η·v) and F = f exp(ω t + ξ·x + η·v).

    There Dt = ω, vDx = v·ξ, aDv = a·η, … are numbers, the shift of arguments is a factor, e·∇_v and e·∇_a differentiate its
    exponent, and products of operators, derivatives last, become products of numbers: every coefficient is found, for all
    L and F.
    """
    tau, g, Dt, vDx, aDx, eDx, aDv, eDv, L, aF, eF, h = GENERATORS

    def shift(s: PolyElement, place: PolyElement) -> PolyElement:
        exponent = s * (Dt + vDx + aDv) + place * s**2 * aDx
        return sum((exponent**j * QQ(1, math.factorial(j)) for j in range(6)), RING(0))

    def integral(integrand: PolyElement) -> PolyElement:
        """The integral from h = 0 to 2τ."""
        terms = (
            RING({(power[0] + power[-1] + 1, *power[1:-1], 0): value * QQ(2 ** (power[-1] + 1), power[-1] + 1)})
            for power, value in integrand.terms()
        )
        return sum(terms, RING(0))

    half, offset = RING(QQ(1, 2)), QQ(1, 2) * h * (h - 2 * tau)
    path = shift(h, half)
    slope = tau * (eDv + h * eDx) - (h * eDv + half * h**2 * eDx)  # of the exponent, by τ e·∇_v − e·∇_a
    S = integral(path * (L + offset * aF))
    LHS = QQ(3, 2) * integral(path * (slope * (L + offset * aF) - offset * eF))  # times τ³
    RHS = -shift(tau, g) * (((Dt + vDx + tau * aDx + aDv) * eDv - eDx) * L - eF)
    return {"S": coefficients(S), "LHS": coefficients(LHS, -3), "DIFF": coefficients(LHS - tau**3 * RHS, -3)}


def printed_coefficients(text: str) -> Coefficients:
    """The coefficients of an expression in the form in which FORM prints it."""
    expression = sympy.sympify(
        text.replace("\n", " ").replace("^", "**"), locals=dict(zip(NAMES, RING.symbols, strict=True))
    )
    return coefficients(RING.from_expr(sympy.expand(expression)))


def appendix() -> Table:
    """The coefficients that FORM printed, for each power of τ."""
    rows, found = [], series()
    for name, text in (("S", PRINTED_S), ("LHS", PRINTED_LHS), ("DIFF", PRINTED_DIFF)):
        printed = printed_coefficients(text)
        for power in range(max(printed) + 1):
            theirs, ours = printed.get(power, {}), found[name].get(power, {})
            if theirs or ours:
                same = sum(ours.get(key) == value for key, value in theirs.items())
                rows.append((name, f"τ^{power}", Number(same, str(len(theirs))), str(len(ours))))
    return Table(
        "Appendix: coefficients of the series",
        ("expression", "power", "coefficients that are right, of so many printed", "terms that there are"),
        rows,
        "Every coefficient computed again, on exponentials instead of by commutators. DIFF has no terms of the "
        "powers 0 and 1, which is the theorem.",
    )


MISPRINTS = Table(
    "Misprints",
    ("where", "printed", "correct", "reason"),
    (
        ("equation 14 and before", "T = ∪ T_n", "T = ∪ T_i", "the union is over i = 1 … n"),
        ("equation 17", "q̈ = 0", "third derivative 0", "paths are parabolas with acceleration q̈ = a"),
        (
            "equations 48 and 49",
            "3/2τ³ ∫ ¼[h(h−2τ)]² f₁ + 3/2τ³ ∫ ½h(h−2τ)(h−τ) f₂",
            "the negative of both",
            "σ = −3h(h−2τ)/4τ³ and σ̇ = −3(h−τ)/2τ³; O(τ²) either way",
        ),
        ("equation 69, order τ⁴", "3∂_t a·∇_v²", "3∂_t (a·∇_v)² L", "the function is missing"),
        ("section 7, g = 0.68", "as equation 72", "half of it there", HALVED),
        (
            "appendix, Htau",
            "(taut+tau*tau+aDx)^j",
            "(taut+taux+tauv)^j",
            "as in Hh; only with this come the printed results, and taux and tauv are not used otherwise",
        ),
        ("appendix, comment (ii)", "qDp := p·∇_q", "pDq := p·∇_q", "so the operators are named"),
        ("appendix, symbols", "h declared twice", "once", "j, h and k are the summation variables"),
    ),
)


def report(quick: bool = False) -> Report:
    """The whole report; with `quick`, errors for several dampings are left out."""
    parts: list[Part] = [
        Experiment("Numbers of the text", numbers),
        Experiment("Figure 2", figure_2),
        Experiment("Figure 3", figure_3),
        *([] if quick else [Experiment("Errors for several dampings", claims)]),
        Experiment("Theorem of section 5", theorem),
        Experiment("Appendix", appendix),
        MISPRINTS,
    ]
    return Report(PAPER.title, PAPER.source, parts, ["errors for several dampings"] if quick else [])
