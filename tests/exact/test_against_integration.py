"""Every exact motion against 30 digits of its differential equation, at several times and a thousand periods on."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from mbvi.exact import DampedOscillator, FreeBody, LagrangeTop, LinearDoublePendulum, Pendulum, SphericalPendulum

from .taylor import DIGITS, flow, period

EPS = 2.0**-52
G = 9.81


@dataclass(frozen=True, eq=False)
class Problem:
    """A motion, its equations in variables that make them quadratic, and what of them is compared.

    `found(t)` gives the first variables of a state from the closed form; `scale` is what their errors are measured with, `rate`
    the fastest phase [rad/s]. After a period the variables `returning` have their values again, and
    `later(state, start, after, n)` is a state n periods on, from the one after a period. Rounding of the initial state may
    grow, as e^(growth·t), and may change the period by more roundings than one, as `condition` says.
    """

    motion: Any
    equations: list
    start: list
    found: Any
    scale: list
    rate: float
    returning: tuple = ()
    later: Any = None
    growth: float = 0.0
    condition: float = 1.0


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def product(a, b):
    """The quaternion a ⋆ b."""
    vector = [a[0] * y + b[0] * x + z for x, y, z in zip(a[1:], b[1:], cross(a[1:], b[1:]), strict=True)]
    return [a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], *vector]


def turned(x, y, start, after, n):
    """x + iy after n periods, if one turns it from `start` to `after`, which are (x, y) too."""
    turn = mp.mpc(*after) / mp.mpc(*start)
    z = mp.mpc(x, y) * (turn / abs(turn)) ** n
    return [z.real, z.imag]


# ------------------------------------------------------------------------------------------ the problems


def pendulum(angle, rate, growth=0.0, condition=1.0):
    """q, q̇, sin q, cos q."""
    motion = Pendulum(1.0, G, angle, rate)
    equations = [{(1,): 1}, {(2,): -mp.mpf(G)}, {(3, 1): 1}, {(2, 1): -1}]
    with mp.workdps(DIGITS):
        start = [angle, rate, mp.sin(angle), mp.cos(angle)]

    def later(y, start, after, n):
        return [y[0] + n * 2 * mp.pi * mp.nint((after[0] - start[0]) / (2 * mp.pi)), y[1]]

    fastest = max(abs(rate), 2 * G**0.5)
    return Problem(
        motion, equations, start, motion, [1 + abs(angle), fastest], fastest, (1, 2, 3), later, growth, condition
    )


def oscillator(mass, damping, stiffness):
    """x, ẋ, of which the errors are measured by the energy."""
    motion = DampedOscillator(mass, damping, stiffness, 0.3, -0.7)
    m, b, k = map(mp.mpf, (mass, damping, stiffness))
    equations = [{(1,): 1}, {(0,): -k / m, (1,): -b / m}]
    rate = abs(damping) / mass + (stiffness / mass) ** 0.5
    growth = max(np.roots([mass, damping, stiffness]).real.max(), 0.0)
    return Problem(motion, equations, [0.3, -0.7], motion, [1.0, 1 + rate], rate, growth=growth)


def double_pendulum():
    """q₁, q₂, q̇₁, q̇₂; the equations (paper's 47) solved for the accelerations."""
    motion = LinearDoublePendulum((1.5, 0.7), (0.4, 1.1), G, (0.1, -0.2), (0.3, 0.5))
    (m1, m2), (l1, l2), g = map(mp.mpf, motion.masses), map(mp.mpf, motion.lengths), mp.mpf(G)
    with mp.workdps(DIGITS):
        M = mp.matrix([[(m1 + m2) * l1**2, m2 * l1 * l2], [m2 * l1 * l2, m2 * l2**2]])
        A = -mp.inverse(M) * mp.diag([(m1 + m2) * g * l1, m2 * g * l2])
    equations = [{(2,): 1}, {(3,): 1}, {(0,): A[0, 0], (1,): A[0, 1]}, {(0,): A[1, 0], (1,): A[1, 1]}]
    rate = motion.frequencies[1]
    return Problem(
        motion,
        equations,
        [*motion.angles, *motion.rates],
        lambda t: np.concatenate(motion(t)),
        [1, 1, rate, rate],
        rate,
    )


def spherical(angles, rates):
    """Place, velocity, |velocity|²; v' = −g e_z + λ x, λ = (g z − v²)/ℓ²."""
    motion = SphericalPendulum(1.5, G, angles, rates)
    l, g = mp.mpf(1.5), mp.mpf(G)
    with mp.workdps(DIGITS):
        pull = [{(i, 2): g / l**2, (i, 6): -1 / l**2} for i in range(3)]
        pull[2][()] = -g
        (phi, theta), (phi_rate, theta_rate) = map(mp.mpf, angles), map(mp.mpf, rates)
        s, c, out = mp.sin(theta), mp.cos(theta), (mp.cos(phi), mp.sin(phi))
        x = [l * s * out[0], l * s * out[1], -l * c]
        v = [
            l * (c * theta_rate * out[0] - s * phi_rate * out[1]),
            l * (c * theta_rate * out[1] + s * phi_rate * out[0]),
            l * s * theta_rate,
        ]
        equations = [*({(i,): 1} for i in (3, 4, 5)), *pull, {(5,): -2 * g}]
        start = [*x, *v, mp.fsum(each**2 for each in v)]

    def later(y, start, after, n):
        places = turned(y[0], y[1], start[:2], after[:2], n)
        return [*places, y[2], *turned(y[3], y[4], start[:2], after[:2], n), y[5]]

    rate = (G / 1.5) ** 0.5 + abs(rates[0]) + float(mp.sqrt(start[6])) / 1.5
    found = lambda t: np.concatenate(motion(t))  # noqa: E731
    return Problem(motion, equations, start, found, [1.5] * 3 + [1.5 * rate] * 3, rate, (2, 5), later)


def quaternion_equations(inertia, weight_moment=0.0):
    """Of the quaternion, the angular velocity, and the vertical, all but the first along the body axes."""
    I, w = [mp.mpf(each) for each in inertia], mp.mpf(weight_moment)
    half = mp.mpf(0.5)
    turning = [
        {(1, 4): -half, (2, 5): -half, (3, 6): -half},
        {(0, 4): half, (2, 6): half, (3, 5): -half},
        {(0, 5): half, (3, 4): half, (1, 6): -half},
        {(0, 6): half, (1, 5): half, (2, 4): -half},
    ]
    with mp.workdps(DIGITS):
        torque = [
            {(5, 6): (I[1] - I[2]) / I[0], (8,): w / I[0]},
            {(6, 4): (I[2] - I[0]) / I[1], (7,): -w / I[1]},
            {(4, 5): (I[0] - I[1]) / I[2]},
        ]
    vertical = [{(8, 6): 1, (9, 5): -1}, {(9, 4): 1, (7, 6): -1}, {(7, 5): 1, (8, 4): -1}]
    if not weight_moment:
        return [*turning, *({key: f for key, f in each.items() if len(key) == 2} for each in torque)]
    return [*turning, *torque, *vertical]


def top(inertia, axial_inertia, weight_moment, angles, rates, condition=1.0):
    """Quaternion, angular velocity and vertical along the body's axes; Euler angles are turned into them in 30 digits."""
    motion = LagrangeTop(inertia, axial_inertia, weight_moment, angles, rates)

    def found(t):
        with mp.workdps(DIGITS):
            (phi, theta, psi), (phi_rate, theta_rate, psi_rate) = (map(mp.mpf, map(float, each)) for each in motion(t))
            c, s = mp.cos(theta / 2), mp.sin(theta / 2)
            a, b = mp.expj((phi + psi) / 2), mp.expj((phi - psi) / 2)
            across = mp.mpc(theta_rate, phi_rate * mp.sin(theta)) * mp.expj(-psi)
            axial = psi_rate + phi_rate * mp.cos(theta)
            return [c * a.real, s * b.real, s * b.imag, c * a.imag, across.real, across.imag, axial]

    def later(y, start, after, n):
        scalar, axial = turned(y[0], y[3], (start[0], start[3]), (after[0], after[3]), n)
        across = turned(y[1], y[2], start[1:3], after[1:3], n)
        return [scalar, *across, axial, *turned(y[4], y[5], start[7:9], after[7:9], n), y[6]]

    start = found(0.0)
    rotated = product(product([start[0], *(-each for each in start[1:4])], [0, 0, 0, 1]), start[:4])
    speed = float(mp.norm(start[4:7])) + abs(rates[0]) + (weight_moment / inertia) ** 0.5
    equations = quaternion_equations((inertia, inertia, axial_inertia), weight_moment)
    scale = [1] * 4 + [speed] * 3
    return Problem(
        motion, equations, [*start, *rotated[1:]], found, scale, speed + abs(rates[2]), (9,), later, 0.0, condition
    )


def body(inertia, angular_velocity):
    """Quaternion and angular velocity."""
    motion = FreeBody(inertia, angular_velocity, (0.5, 0.5, -0.5, 0.5))

    def later(y, start, after, n):
        turn = product(after[:4], [start[0], *(-each for each in start[1:4])])
        size = mp.norm(turn[1:])
        angle = mp.atan2(size, turn[0])
        power = [mp.cos(n * angle), *(mp.sin(n * angle) * each / size for each in turn[1:])]
        return [*product(power, y[:4]), *y[4:7]]

    speed = float(np.linalg.norm(np.array(inertia) * angular_velocity)) / min(inertia)
    start = [0.5, 0.5, -0.5, 0.5, *angular_velocity]
    found = lambda t: np.concatenate(motion(t))  # noqa: E731
    return Problem(motion, quaternion_equations(inertia), start, found, [1] * 4 + [speed] * 3, speed, (4, 5, 6), later)


# 1 − m = 2e-9 is known to ε, and K = log(4/√(1 − m)) = 11.4 therefore to ε/(2·2e-9).
SEPARATRIX = {"growth": G**0.5, "condition": 1 / (2 * 2e-9 * 11.4)}

# p_φ − p_ψ, which decides how near the axis comes to the vertical, is a 400th of either.
LOOPS = 0.002329969592394382, 0.000125, 0.1 * G * 0.15, (0, np.pi / 3, 0), (9.2, 0, 252)

PROBLEMS = {
    "pendulum, small": lambda: pendulum(1e-3, 0.0),
    "pendulum, swinging": lambda: pendulum(2.0, -1.0),
    "pendulum, swinging after turns": lambda: pendulum(-9.0, 0.5),
    "pendulum, turning": lambda: pendulum(1.0, -7.0),
    "pendulum, just swinging": lambda: pendulum(0.0, 2 * G**0.5 * (1 - 1e-9), **SEPARATRIX),
    "pendulum, just turning": lambda: pendulum(0.0, 2 * G**0.5 * (1 + 1e-9), **SEPARATRIX),
    "oscillator, underdamped": lambda: oscillator(2.0, 0.3, 5.0),
    "oscillator, driven": lambda: oscillator(2.0, -0.3, 5.0),
    "oscillator, undamped": lambda: oscillator(2.0, 0.0, 5.0),
    "oscillator, critically damped": lambda: oscillator(1.0, 6.0, 9.0),
    "oscillator, nearly critically damped": lambda: oscillator(1.0, 6.0 + 1e-9, 9.0),
    "oscillator, overdamped": lambda: oscillator(1.0, 50.0, 3.0),
    "oscillator, overdriven": lambda: oscillator(1.0, -5.0, 3.0),
    "oscillator, damper alone": lambda: oscillator(1.0, 0.5, 0.0),
    "oscillator, mass alone": lambda: oscillator(1.0, 0.0, 0.0),
    "double pendulum": double_pendulum,
    "spherical pendulum": lambda: spherical((0.3, 1.0), (2.0, -0.5)),
    "spherical pendulum, nearly plane": lambda: spherical((0.3, 1.0), (1e-5, -0.5)),
    "spherical pendulum, plane": lambda: spherical((0.3, 1.0), (0.0, -0.5)),
    "spherical pendulum, small": lambda: spherical((0.3, 1e-3), (2.0, 1e-3)),
    "spherical pendulum, over the top": lambda: spherical((0.3, 1.0), (0.1, 8.0)),
    "top, loops": lambda: top(*LOOPS, condition=400),
    "top, cusps": lambda: top(1.0, 2.0, 4 * np.pi**2, (0, np.pi / 6, 0), (0, 0, 2 * np.pi)),
    "top, waves": lambda: top(1.0, 0.3, 5.0, (0.3, 1.2, -4.0), (-1.0, -0.7, 9.0)),
    "top, nearly steady": lambda: top(1.0, 1.3, 0.5, (0.3, 0.6, 0.0), (0.7, 1e-6, -0.3)),
    "body": lambda: body((1.0, 2.0, 3.0), (0.5, -3.0, 4.0)),
    "body, moments in another order": lambda: body((2.0, 3.0, 1.0), (-4.0, 3.0, 0.5)),
    "body, near the middle axis": lambda: body((5.0, 10.0, 13.0), (0.01, 2.0, 0.0)),
    "body, symmetric": lambda: body((1.0, 1.0, 2.0), (0.5, 3.0, -2.0)),
    "body, nearly symmetric": lambda: body((1.0 + 1e-9, 1.0, 2.0), (0.5, 3.0, -2.0)),
    "body, sphere": lambda: body((2.0, 2.0, 2.0), (0.5, 3.0, -2.0)),
    "body, about a principal axis": lambda: body((1.0, 2.0, 3.0), (0.0, -3.0, 0.0)),
}
TIMES = (0.0, 0.1, 0.7, 1.6)
UNPERIODIC = ("oscillator", "double pendulum", "body, sphere", "body, about a principal axis")
PERIODIC = [name for name in PROBLEMS if not name.startswith(UNPERIODIC)]
MOST = 4
"""Roundings per radian; the largest measured is 2.8, most are below 0.5."""


@cache
def problem(name):
    return PROBLEMS[name]()


def error(each, t, state):
    """The largest error of the closed form, in roundings of the phase at t."""
    with mp.workdps(DIGITS):
        found = [mp.mpf(float(x)) if isinstance(x, float) else x for x in each.found(t)]
        size = max(abs(float(a - b)) / s for a, b, s in zip(found, state, each.scale, strict=False))
        return size / (EPS * (1 + each.rate * t))


@pytest.mark.parametrize("name", PROBLEMS)
def test_at_several_times(name):
    each = problem(name)
    for t, state in zip(TIMES, flow(each.equations, each.start, TIMES), strict=True):
        assert error(each, t, state) < MOST * np.exp(each.growth * t), t


@pytest.mark.parametrize("name", PERIODIC)
def test_after_a_thousand_periods(name):
    """The state a thousand periods T on is that at the same phase, turned as often as a period turns it."""
    each = problem(name)
    T, after = period(each.equations, each.start, each.returning, each.motion.period)
    assert abs(float(each.motion.period / T - 1)) < MOST * EPS * each.condition
    with mp.workdps(DIGITS):
        t = float(1000 * T + 0.3)
        (state,) = flow(each.equations, each.start, [mp.mpf(t) - 1000 * T])
        assert error(each, t, each.later(state, each.start, after, 1000)) < MOST * each.condition
