"""Mechanical integrators from a discrete variational principle, recomputed: figures 1 to 5 and every printed number.

The free rigid body in a unit quaternion and the double spherical pendulum by the discrete Euler–Lagrange equations on pairs of
positions, started as the paper starts them; the energy–momentum method for comparison; the integrators of its section 4 on a
pendulum.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import sympy
from numpy.typing import ArrayLike
from scipy.optimize import linprog

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.analysis.noether import discrete_momenta
from mbvi.exact import FreeBody
from mbvi.papers.catalog import PAPERS
from mbvi.papers.report import Experiment, Figure, Line, Number, Panel, Part, Report, Table, scientific

Array = np.ndarray
PAPER = PAPERS["mechanical_integrators"]
STEPS = (1e-4, 1e-3, 1e-2, 1e-1)
MOST_POINTS = 1000  # of a line in a figure


def error(values: Array, standard: Array) -> float:
    """The paper's equation 57, (1/(N m)) Σ |v_i − v_i^s|, of series (N, m) or (N,)."""
    difference = (values - standard).reshape(len(values), -1)
    return float(np.mean(np.linalg.norm(difference, axis=1)) / difference.shape[1])


def discrete_energy(system: mbvi.System, q: Array, step: float) -> Array:
    """Kinetic and potential energy at the middles of segments (N,) [J], with the velocities (q' − q)/h."""
    middle, velocity = 0.5 * (q[1:] + q[:-1]), np.diff(q, axis=0) / step
    return np.sum(system.energies(np.zeros(len(middle)), middle, velocity), axis=0)


def order(errors: dict[float, float]) -> float:
    """The order of errors by step."""
    return convergence_order(list(errors.values()), list(errors))


def beside(value: float, printed: str, reason: str) -> str | Number:
    """A value together with the printed one and the reason if they differ; nine decimals if none is printed."""
    number = Number(float(value), printed)
    if not printed:
        return f"{value:.9f}"
    return number if number.agrees else Number(number.value, printed, reason)


def thinned(label: str, x: Array, y: Array, kind: str = "line") -> Line:
    """A line of at most about MOST_POINTS points."""
    stride = max(1, len(x) // MOST_POINTS)
    return Line(label, x[::stride], y[::stride], kind)


# ----------------------------------------------------------------------------------------- the rigid body

OMEGA, INERTIA = (0.0, 3.0, 4.0), (1.0, 2.0, 3.0)
START_STEP = 1e-5


@cache
def body() -> mbvi.System:
    """The free rigid body: four coordinates, which are a unit quaternion, and its norm as the constraint."""
    return mbvi.assemble(
        mbvi.Model(
            name="free rigid body",
            gravity=(0, 0, 0),
            bodies={"body": mbvi.Body(mass=1, inertia=INERTIA)},
            joints={"center": mbvi.Ball(parent="world", child="body")},
        )
    )


@cache
def body_start() -> tuple[Array, Array]:
    """The paper's start: positions at multiples of 10⁻⁵ s, the first by an Euler step, the others by the integrator, (10001, 4).

    And the angular momentum (3,) of the first two.
    """
    first = np.array([1.0, 0.0, 0.0, 0.0])
    euler = first + START_STEP * 0.5 * np.array([0.0, *OMEGA])
    duration = max(STEPS) - START_STEP
    run = mbvi.simulate(
        body(),
        "wendlandt_marsden",
        step=START_STEP,
        duration=duration,
        initial_q=euler / np.linalg.norm(euler),
        previous_q=first,
    )
    return np.vstack([first, run.q]), angular_momentum(run)[0]


def angular_momentum(run: mbvi.Trajectory) -> Array:
    """About the axes of the world, by left multiplication, (N + 1, 3)."""
    momenta = run.momenta()
    return np.column_stack([momenta[f"angular momentum ({axis})"] for axis in "xyz"])


@cache
def body_run(step: float, duration: float) -> tuple[Array, Array, Array]:
    """Times (N + 1,), quaternions (N + 1, 4) and discrete angular momenta (N, 3)."""
    first, second = body_start()[0][[0, round(step / START_STEP)]]
    run = mbvi.simulate(
        body(),
        "wendlandt_marsden",
        step=step,
        duration=duration - step,
        initial_q=second,
        previous_q=first,
        start_time=step,
    )
    return np.append(0.0, run.t), np.vstack([first, run.q]), angular_momentum(run)


PRINTED_BODY = {1e-4: ("32.999999349", "32.999999359"), 1e-3: ("32.999937235", "32.999937236")}


@cache
def body_parts(duration: float) -> list[Table | Figure]:
    """The printed energies, figures 1 and 2."""
    start, momentum = body_start()
    energy = discrete_energy(body(), start[:2], START_STEP)[0]
    runs = {step: body_run(step, duration) for step in STEPS}
    standard, motion = runs[STEPS[0]][1], FreeBody(INERTIA, OMEGA)
    position: dict[float, float] = {}
    exact, energies, energy_errors, momentum_errors = {}, {}, {}, {}
    for step, (t, q, J) in runs.items():
        if step > STEPS[0]:
            position[step] = error(q, standard[:: round(step / STEPS[0])][: len(q)])
        exact[step] = error(q, motion(t)[0])
        energies[step] = discrete_energy(body(), q, step)
        energy_errors[step] = error(energies[step], np.full(len(q) - 1, energy))
        momentum_errors[step] = error(J, np.broadcast_to(momentum, J.shape))
    rows: list[tuple[str | Number, ...]] = []
    for step, each in energies.items():
        printed = PRINTED_BODY.get(step, ("", ""))
        reason = "the paper's own round-off: its energies spread over 10⁻⁸ J" if step == STEPS[0] else ""
        ends = [beside(*end, reason) for end in zip((each.min(), each.max()), printed, strict=True)]
        errors = (Number(found[step]) for found in (energy_errors, momentum_errors, exact))
        rows.append((f"{step:g} s", *ends, Number(float(np.ptp(each))), *errors))
    largest = [{step: found[step] for step in STEPS[1:]} for found in (energy_errors, momentum_errors, exact)]
    rows.append(("order", "", "", "", *(Number(order(found)) for found in largest)))
    heads = (
        "smallest energy [J]",
        "largest energy [J]",
        "their difference",
        "energy error",
        "momentum error",
        "position error",
    )
    table = Table(
        "Energy, momentum and position of the rigid body",
        ("step", *heads),
        rows,
        f"Over {duration:g} s. The energy is that at the middles of segments, with the velocity (q' − q)/h: constant but for "
        "round-off, 62.75 h² below 33 J, and lower by another 1.4·10⁻⁸ J through the paper's start: a step of Euler's method of "
        "10⁻⁵ s, its quaternion made a unit one, and the integrator with that step from there. So the printed eleven digits come "
        "out. Errors by equation 57: of energy and momentum from those of the first pair of quaternions, as the paper has it; of "
        "the position from the exact motion. Orders from the three largest steps.",
    )
    coarse = runs[STEPS[-1]]
    away = np.abs(coarse[1] - standard[::1000][: len(coarse[1])]).max()
    figure_1 = Figure(
        "Figure 1: quaternion error against the step",
        [
            Panel(
                "step [s]",
                "error (57) [–]",
                [
                    Line("from the run at 10⁻⁴ s", list(position), list(position.values()), "marked"),
                    Line("from the exact motion", list(exact), list(exact.values()), "marked"),
                ],
                "log",
            )
        ],
        f"Of order {order(position):.2f} as the paper measures it. The first step of Euler's method limits what is exact.",
    )
    fine = thinned("h = 10⁻⁴ s", runs[STEPS[0]][0], standard[:, 2], "reference")
    figure_2 = Figure(
        "Figure 2: quaternion coordinate against time",
        [Panel("time [s]", r"$q_y$ [–]", [fine, Line("h = 10⁻¹ s", coarse[0], coarse[1][:, 2])])],
        f"Largest difference of any coordinate: {away:.2g}.",
    )
    return [table, figure_1, figure_2]


# ------------------------------------------------------------------------- the double spherical pendulum

MASSES, LENGTHS, GRAVITY = (2.0, 3.5), (4.0, 3.0), 9.81
STARTS = (2.820, 0.025, 5.085, 0.105, 3.381, 2.506, 2.497, 10.495)  # x1, y1, x2, y2 and their rates
HALF_UNIT = 5e-4


@cache
def pendulum() -> mbvi.System:
    """The double spherical pendulum: six coordinates, the places of two points, and two lengths as constraints."""
    bodies = {
        name: mbvi.Body(point_masses={"mass": mbvi.PointMass(mass=mass, position=(0, 0, -length))})
        for name, mass, length in zip(("upper", "lower"), MASSES, LENGTHS, strict=True)
    }
    axes = ((1, 0, 0), (0, 1, 0))
    joints = {
        "upper": mbvi.Universal(parent="world", child="upper", axes=axes),
        "lower": mbvi.Universal(parent="upper", child="lower", axes=axes, position=(0, 0, -LENGTHS[0])),
    }
    model = mbvi.Model(
        name="double spherical pendulum",
        gravity=(0, 0, -GRAVITY),
        bodies=bodies,
        joints=joints,
        formulation="embedding",
    )
    return mbvi.assemble(model)


def pendulum_state(values: ArrayLike) -> tuple[Array, Array]:
    """Places and velocities (6,) from the eight numbers of which the paper prints three decimals; z is below the joints."""
    x, v = np.array(values, float).reshape(2, 2, 2)
    rods, rates = np.diff(x, axis=0, prepend=0), np.diff(v, axis=0, prepend=0)
    heights = -np.sqrt(np.array(LENGTHS) ** 2 - np.sum(rods**2, axis=1))
    climbs = -np.sum(rods * rates, axis=1) / heights
    return np.column_stack([x, heights.cumsum()]).ravel(), np.column_stack([v, climbs.cumsum()]).ravel()


def energy_and_momentum(values: Array) -> Array:
    """Energy [J] and angular momentum about the vertical [kg m²/s] (2,) of an initial state."""
    q, v = pendulum_state(values)
    places, momenta = q.reshape(2, 3), pendulum().momentum(q, v).reshape(2, 3)
    return np.array([pendulum().energy(q, v), np.cross(places, momenta)[:, 2].sum()])


@cache
def pendulum_run(scheme: str, step: float, duration: float, values: tuple[float, ...]) -> tuple[Array, Array, float]:
    """Times, places and the time of a step [s]; of the variational integrator, from two places that the other method gives."""
    q, v = pendulum_state(values)
    if scheme == "energy_momentum":
        run = mbvi.simulate(pendulum(), scheme, step=step, duration=duration, initial_q=q, initial_v=v)
        return run.t, run.q, run.statistics.seconds / run.statistics.steps
    second = pendulum_run("energy_momentum", STEPS[0], max(STEPS), values)[1][round(step / STEPS[0])]
    run = mbvi.simulate(
        pendulum(), scheme, step=step, duration=duration - step, initial_q=second, previous_q=q, start_time=step
    )
    return np.append(0.0, run.t), np.vstack([q, run.q]), run.statistics.seconds / run.statistics.steps


def vertical_momentum(q: Array, step: float) -> Array:
    """The discrete angular momentum about the vertical of every pair of places, (N,) [kg m²/s]."""
    places, rates = q.reshape(-1, 2, 3), np.diff(q, axis=0).reshape(-1, 2, 3) / step
    return np.cross(places[:-1], rates * np.array(MASSES)[:, None])[:, :, 2].sum(axis=1)


def discrete_mean(duration: float, values: tuple[float, ...]) -> Array:
    """Energy, halfway between its extremes, and momentum of the variational integrator at the step of 10⁻⁴ s, (2,)."""
    q = pendulum_run("wendlandt_marsden", STEPS[0], duration, values)[1]
    energy = discrete_energy(pendulum(), q, STEPS[0])
    return np.array([0.5 * (energy.min() + energy.max()), vertical_momentum(q, STEPS[0])[0]])


PENDULUM_TIME = 20.0  # [s]; the printed extremes of the energy at 0.1 s are those of runs of 11 s to 25 s
PRINTED_ENDS = {1e-4: ("24.944495109", "24.944499828"), 1e-1: ("20.910805793", "25.583335766")}
PRINTED_MOMENTA = {1e-4: ("199.825467170", "199.825467184")}
PRINTED_MEAN = np.array([[float(end) for end in ends[1e-4]] for ends in (PRINTED_ENDS, PRINTED_MOMENTA)]).mean(axis=1)
PRINTED_EXTREMES = np.array([float(end) for end in PRINTED_ENDS[1e-1]])


def extreme_energies(values: ArrayLike) -> Array:
    """Smallest and largest energy of the variational integrator at the step of 0.1 s, over PENDULUM_TIME (2,) [J]."""
    q = pendulum_run("wendlandt_marsden", STEPS[-1], PENDULUM_TIME, tuple(np.array(values, float).tolist()))[1]
    energy = discrete_energy(pendulum(), q, STEPS[-1])
    return np.array([energy.min(), energy.max()])


@cache
def unrounded(duration: float) -> tuple[float, ...]:
    """Initial values from which come the printed energy and momentum at the step of 10⁻⁴ s and extreme energies at 0.1 s.

    Of these the ones whose largest distance from the printed values is least: a linear programme, in Newton's iteration.
    """

    def found(values: Array) -> Array:
        return np.concatenate([energy_and_momentum(values), extreme_energies(values)])

    printed, away = np.array(STARTS), np.zeros(8)
    discrete = PRINTED_MEAN - discrete_mean(duration, STARTS) + energy_and_momentum(printed)
    wanted, unit = np.concatenate([discrete, PRINTED_EXTREMES]), np.eye(8)
    bounds = [(None, None)] * 8 + [(0, None)]
    for _ in range(4):
        slopes = np.transpose([(found(printed + away + e) - found(printed + away - e)) / 2e-6 for e in 1e-6 * unit])
        least = linprog(
            np.append(np.zeros(8), 1),
            A_ub=np.block([[unit, -np.ones((8, 1))], [-unit, -np.ones((8, 1))]]),
            b_ub=np.zeros(16),
            A_eq=np.column_stack([slopes, np.zeros(4)]),
            b_eq=wanted - found(printed + away) + slopes @ away,
            bounds=bounds,
        )
        away = least.x[:8]
    return tuple((printed + away).tolist())


def energy_table(duration: float) -> Table:
    """Energies and momenta of the variational integrator, from the printed initial values and from unrounded ones.

    The printed extremes of the energy are compared with those of a run that is as long as the paper's.
    """
    rows: list[tuple[str | Number, ...]] = []
    reason, none = "the initial values are printed with three decimals", ("", "")
    printed_ends = PRINTED_ENDS if duration >= PENDULUM_TIME else {}
    true_energy, true_momentum = energy_and_momentum(np.array(STARTS))
    energy_errors: dict[float, float] = {}
    momentum_errors: dict[float, float] = {}
    for label, values in (("printed", STARTS), ("unrounded", unrounded(duration))):
        for step in STEPS:
            q = pendulum_run("wendlandt_marsden", step, duration, values)[1]
            energy, momentum = discrete_energy(pendulum(), q, step), vertical_momentum(q, step)
            if values == STARTS and step > STEPS[0]:
                energy_errors[step] = error(energy, np.full(len(energy), true_energy))
                momentum_errors[step] = abs(momentum[0] - true_momentum)
            cells = []
            for each, known in ((energy, printed_ends), (momentum, PRINTED_MOMENTA)):
                printed = known.get(step, none) if values == STARTS else none
                cells += [beside(*end, reason) for end in zip((each.min(), each.max()), printed, strict=True)]
            rows.append((label, f"{step:g} s", *cells, Number(float(np.ptp(energy))), Number(float(np.ptp(momentum)))))
    slopes = [
        energy_and_momentum(np.array(STARTS) + e) - energy_and_momentum(np.array(STARTS) - e) for e in 1e-6 * np.eye(8)
    ]
    energy_range, momentum_range = np.abs(slopes).sum(axis=0) / 2e-6 * HALF_UNIT
    away = np.abs(np.array(unrounded(duration)) - STARTS).max()
    heads = [f"{end} {what}" for what in ("energy [J]", "momentum [kg m²/s]") for end in ("smallest", "largest")]
    return Table(
        "Energy and momentum of the double spherical pendulum",
        ("initial values", "step", *heads, "energies differ by", "momenta differ by"),
        rows,
        f"Over {duration:g} s, at the middles of segments. Energy and momentum approach those of the initial values with orders "
        f"{order(energy_errors):.2f} and {order(momentum_errors):.2f}. The printed initial values have the energy "
        f"{true_energy:.6f} J and the momentum {true_momentum:.6f} kg m²/s, and the start, made by the energy–momentum method, "
        "keeps them: it does not explain the paper's. But half a unit of the last printed digits of the initial values is worth "
        f"±{energy_range:.3f} J and ±{momentum_range:.3f} kg m²/s. Initial values within {scientific(away, 2)} of the printed "
        "ones (unrounded) give both the energy and momentum that the paper prints at the step of 10⁻⁴ s and its extreme "
        f"energies at 0.1 s over {PENDULUM_TIME:g} s; it does not print how long it simulates, but these extremes are those of "
        "runs of 11 s to 25 s. The momentum varies by the rounding of (q' − q)/h alone, the paper's by 1.4·10⁻⁸ kg m²/s, "
        "for which it blames numerical errors; its extreme energies at 10⁻⁴ s are 8·10⁻⁸ J nearer to each other than ours.",
    )


@cache
def pendulum_figures(duration: float) -> list[Table | Figure]:
    """Figures 3 and 4, and what a step costs."""
    standard = pendulum_run("energy_momentum", STEPS[0], duration, STARTS)[1]
    names = {"wendlandt_marsden": "variational (DVP)", "energy_momentum": "energy–momentum (EM)"}
    errors: dict[str, dict[float, float]] = {scheme: {} for scheme in names}
    seconds: dict[str, dict[float, float]] = {scheme: {} for scheme in names}
    for scheme in names:
        for step in STEPS[1:]:
            _, q, seconds[scheme][step] = pendulum_run(scheme, step, duration, STARTS)
            errors[scheme][step] = error(q, standard[:: round(step / STEPS[0])][: len(q)])
    lines = [
        Line(name, list(errors[scheme]), list(errors[scheme].values()), "marked") for scheme, name in names.items()
    ]
    orders = " and ".join(f"{order(errors[scheme]):.2f}" for scheme in names)
    figure_3 = Figure(
        "Figure 3: position error of the double spherical pendulum against the step",
        [Panel("step [s]", "error (57) [m]", lines, "log")],
        f"From the energy–momentum method at 10⁻⁴ s, over {duration:g} s. Orders {orders}.",
    )
    panels = []
    for scheme, name in names.items():
        t, q, _ = pendulum_run(scheme, STEPS[0], duration, STARTS)
        fine = thinned("h = 10⁻⁴ s", t, q[:, 4], "reference")
        t, q, _ = pendulum_run(scheme, STEPS[-1], duration, STARTS)
        panels.append(Panel("time [s]", f"y₂ [m], {name}", [fine, Line("h = 10⁻¹ s", t, q[:, 4])]))
    figure_4 = Figure("Figure 4: position coordinate of the second mass against time", panels)
    rows = []
    for step in STEPS[1:]:
        both = [(errors[scheme][step], seconds[scheme][step]) for scheme in names]
        (e, c), (e_em, c_em) = both
        rows.append((f"{step:g} s", Number(e), Number(e_em), Number(c_em / c), Number(c_em / c * np.sqrt(e_em / e))))
    table = Table(
        "Position errors and cost of both methods",
        (
            "step",
            "DVP, error (57) [m]",
            "EM, error (57) [m]",
            "cost of a step, EM to DVP",
            "cost at equal error, EM to DVP",
        ),
        rows,
        "The cost is measured in this run, as a ratio, and varies from run to run. At equal error, steps are chosen by order 2. "
        "The paper's variational simulations were slightly faster. Here a step of the energy–momentum method has twice as many "
        "multipliers, since the hidden constraint is kept as well, and a dense system of equations.",
    )
    return [figure_3, table, figure_4]


def multipliers(q: Array, step: float) -> Array:
    """The multipliers λ of the discrete equations at all places but the ends, (N − 1, 2) [N/m], for (|r|² − l²)/2 = 0."""
    minus, plus = discrete_momenta(pendulum(), "midpoint", step, q[:-1], q[1:])
    found = []
    for place, change in zip(q[1:-1], minus[1:] - plus[:-1], strict=True):
        G = pendulum().constraint_jacobian(place)
        found.append(np.linalg.lstsq(step * G.T, change, rcond=None)[0])
    return np.array(found)


def figure_5(duration: float) -> Figure:
    """Energies and multipliers over time."""
    energies = {}
    for step, label in zip(STEPS, ("10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"), strict=True):
        t, q, _ = pendulum_run("wendlandt_marsden", step, duration, STARTS)
        change = discrete_energy(pendulum(), q, step) - energy_and_momentum(np.array(STARTS))[0]
        energies[step] = thinned(f"energy, h = {label} s", t[:-1] + step / 2, change)
    t, q, _ = pendulum_run("wendlandt_marsden", STEPS[2], duration, STARTS)
    lam = multipliers(q, STEPS[2])
    forces = [thinned(f"multiplier of rod {i + 1}, h = 10⁻² s", t[1:-1], lam[:, i]) for i in range(2)]
    fluctuation = discrete_energy(pendulum(), q, STEPS[2])[1:]
    correlation = np.corrcoef(fluctuation, np.abs(lam).sum(axis=1))[0, 1]
    return Figure(
        "Figure 5: energy and multipliers of the variational integrator against time",
        [
            Panel("time [s]", "energy error [J]", [energies[1e-3], energies[1e-4]]),
            Panel("time [s]", "λ [N/m]", forces),
            Panel("time [s]", "energy error [J]", [energies[1e-1], energies[1e-2]]),
        ],
        "The energy oscillates about a constant value, with an amplitude that falls as the square of the step, and with the "
        f"multipliers, as the paper says: the correlation of the energy and their sum is {correlation:.2f} at 10⁻² s.",
    )


# --------------------------------------------------------------------------------------------- section 4

EXAMPLES = {
    "symplectic_euler": "example 1, equation 16; (51)",
    "implicit_midpoint": "examples 2 and 3, equations 17 and 18; (42)",
    "chorin": "example 4, equations 20 to 23, all constants ½",
    "lie_trotter": "example 5",
    "energy_momentum": "the energy–momentum method",
    "rk4": "for reference",
}


def examples_table() -> Table:
    """The integrators of section 4 on its pendulum."""
    angle = sympy.Symbol("angle")
    system = mbvi.from_sympy([angle], [[1]], -sympy.cos(angle), initial_q=[2.0], name="pendulum")
    exact = mbvi.simulate(system, "gauss6", step=0.05, duration=10).q[-1, 0]
    rows = []
    for scheme, where in EXAMPLES.items():
        errors = {
            h: abs(mbvi.simulate(system, scheme, step=h, duration=10).q[-1, 0] - exact) for h in (0.02, 0.01, 0.005)
        }
        energy = mbvi.simulate(system, scheme, step=0.1, duration=1000).energy()
        rows.append((scheme, where, Number(order(errors)), Number(float(np.abs(energy - energy[0]).max()))))
    return Table(
        "The integrators of section 4 on a pendulum",
        ("scheme", "in the paper", "order", "largest energy error [J]"),
        rows,
        "p²/2 − cos φ from rest at 2 rad; orders over 10 s, energies at the step 0.1 s over 1000 s.",
    )


BARS = "bars over letters may be lost in the text that this follows"
MISPRINTS = Table(
    "Misprints",
    ("where", "printed", "correct", "reason"),
    (
        ("equation 53", "2 q ⋆ q̇", "2 q̄ ⋆ q̇", f"r̄ ⋆ ṙ = (0, ω/2), as the text before it says; {BARS}"),
        ("equation 55", "x ⋆ y − y ⋆ x", "x̄ ⋆ y − ȳ ⋆ x", f"so it follows from (54) on the unit sphere; {BARS}"),
        ("equation 58, second row", "l₁²", "l₂²", "the length of the second rod, 3 m"),
        ("example 5", "F(q, p)", "F(φ, p)", "the angle is φ"),
        ("momenta of the double spherical pendulum", "m²/s", "kg m²/s", "the unit of the masses"),
        (
            "initial values of the same",
            "three decimals",
            "more",
            "half a unit of the last is worth 0.1 J of the energy",
        ),
    ),
)


def report(quick: bool = False) -> Report:
    """The whole report; with `quick`, the runs end early."""
    body_time, pendulum_time = (3.0, 4.0) if quick else (30.0, PENDULUM_TIME)

    def experiments(
        titles: tuple[str, ...], compute: Callable[[float], list[Table | Figure]], duration: float
    ) -> list[Part]:
        return [Experiment(title, lambda i=i: compute(duration)[i]) for i, title in enumerate(titles)]  # type: ignore[misc]

    parts: list[Part] = [
        *experiments(
            ("Energy, momentum and position of the rigid body", "Figure 1", "Figure 2"), body_parts, body_time
        ),
        Experiment("Energy and momentum of the double spherical pendulum", lambda: energy_table(pendulum_time)),
        *experiments(
            ("Figure 3", "Position errors and cost of both methods", "Figure 4"), pendulum_figures, pendulum_time
        ),
        Experiment("Figure 5", lambda: figure_5(pendulum_time)),
        Experiment("The integrators of section 4", examples_table),
        MISPRINTS,
    ]
    left_out = ["the rigid body from 3 s to 30 s", "the double spherical pendulum from 4 s to 20 s"] if quick else []
    return Report(PAPER.title, PAPER.source, parts, left_out)
