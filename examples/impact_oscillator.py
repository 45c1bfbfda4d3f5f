"""The period doublings of an impact oscillator: with which speeds it strikes its stop, over the frequency that drives it.

A mass on a spring, x'' + x = cos(ω t) in its own units, strikes a stop at x = 0 and keeps the part e of its speed. Near ω = 2 it
strikes once in every period T = 2π/ω of the drive. With one impact per period the motion between is a free oscillation and the
forced one, C (cos τ + tan(T/2) sin τ) + cos(ω t)/(1 − ω²), and from x = 0 at both its ends, and speeds in the ratio −e, follows

    C² (1 + ((1 − e) tan(T/2)/((1 + e) ω))²) = 1/(1 − ω²)²,     |v| = 2 |C tan(T/2)|/(1 + e).

A small deviation after an impact turns by T as a free oscillation, and then becomes (−e x, −e v + (1 + e) (a/v) x), with the
acceleration a and the speed v before the impact. So the multipliers of a period have the product e² and the sum

    −2 e cos T + (1 + e)² (1 − ω²) cos²(T/2),

and one of them is −1, where the period doubles, if cos²(π/ω) (ω² − 1 + 4 e/(1 + e)²) = 1: for e = 0.8 at ω = 2.6532.

Source: Thompson & Ghaffari, Chaos after period-doubling bifurcations in the resonance of an impact oscillator (1982).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

import mbvi

RESTITUTION = 0.8
STEPS = 40  # in a period of the drive
KICK = 1e-6  # part of the speed by which starts are off the motion of one impact per period


class Orbit(NamedTuple):
    """The motion of one impact per period: the speed before its impact, the phase ω t of that, and its two multipliers."""

    speed: float
    phase: float
    multipliers: np.ndarray


def orbit(rate: float, e: float = RESTITUTION) -> Orbit:
    """The motion of one impact per period of a drive of rate ω, in closed form."""
    half, forced = np.tan(np.pi / rate), 1 / (1 - rate**2)
    slope = (1 - e) * half / ((1 + e) * rate)
    C = np.sign(half) * abs(forced) / np.hypot(1, slope)  # so that it moves away from the stop
    phase = np.arctan2(C * slope / forced, -C / forced)
    total = -2 * e * np.cos(2 * np.pi / rate) + (1 + e) ** 2 * (1 - rate**2) * np.cos(np.pi / rate) ** 2
    return Orbit(2 * abs(C * half) / (1 + e), phase, np.roots([1, -total, e**2]))


def first_doubling(e: float = RESTITUTION) -> float:
    """The rate ω above the resonance at which the period first doubles, in closed form."""
    return brentq(lambda w: np.cos(np.pi / w) ** 2 * (w * w - 1 + 4 * e / (1 + e) ** 2) - 1, 2.1, 3.0, xtol=1e-15)


def model(rate: float, phase: float = 0.0) -> mbvi.Model:
    """The oscillator, with a drive cos(ω t + phase)."""
    stop = {"displacement": mbvi.Limits(lower=0, restitution=RESTITUTION)}
    return mbvi.Model(
        name="impact oscillator",
        gravity=(0, 0, 0),
        parameters={"rate": rate, "phase": phase},
        bodies={"mass": mbvi.Body(mass=1)},
        joints={"x": mbvi.Prismatic(parent="world", child="mass", axis=(1, 0, 0), limits=stop)},
        forces={
            "spring": mbvi.JointSpring(joint="x", stiffness=1),
            "drive": mbvi.JointForce(joint="x", value="cos(rate*t + phase)"),
        },
    )


def impact_speeds(rate: float, periods: int, speed: float, phase: float) -> np.ndarray:
    """The speeds (m,) after all impacts of a run that begins at the stop."""
    T = 2 * np.pi / rate
    run = mbvi.simulate(
        model(rate, phase), "gauss4", step=T / STEPS, duration=periods * T, initial_q=[0.0], initial_v=[speed]
    )
    return run.contacts.of("x.displacement.lower", "impact").p[:, 0]  # of a mass of 1 kg


def measured_multipliers(rate: float) -> np.ndarray:
    """The multipliers, from deviations of speeds in runs: each is the sum times the last less the product times that before."""
    speed, phase, _ = orbit(rate)
    starts = [RESTITUTION * speed * (1 + kick) for kick in (-KICK, KICK)]
    d = np.diff([impact_speeds(rate, 7, start, phase)[:5] for start in starts], axis=0)[0]
    total, product = np.linalg.lstsq(np.column_stack([d[1:-1], -d[:-2]]), d[2:], rcond=None)[0]
    return np.roots([1, -total, product])


def measured_doubling() -> float:
    """The rate at which a measured multiplier is −1."""
    return brentq(lambda rate: np.prod(1 + measured_multipliers(rate)).real, 2.64, 2.67, xtol=1e-9)


def main(count: int = 160, lowest: float = 2.4, highest: float = 3.2, periods: int = 120) -> dict[float, np.ndarray]:
    """The speeds of the last 40 impacts, after what began has died away, by rates."""
    found = {}
    for rate in np.linspace(lowest, highest, count).tolist():
        speed, phase, _ = orbit(rate)
        found[rate] = impact_speeds(rate, periods, 0.9 * RESTITUTION * speed, phase)[-40:]
    return found


def draw(found: dict[float, np.ndarray], path: Path) -> None:
    """Draw the speeds of impacts over the rate, and in closed form those of the motion of one impact per period."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    rates = np.linspace(min(found), max(found), 400)
    exact = [RESTITUTION * orbit(rate).speed for rate in rates]
    doubling = first_doubling()
    is_stable = rates < doubling
    look = {"color": "#D55E00", "linewidth": 1, "zorder": 3}
    axes.plot(rates[is_stable], np.array(exact)[is_stable], **look, label="one impact per period, closed form")
    axes.plot(rates[~is_stable], np.array(exact)[~is_stable], "--", **look, label="the same, not stable")
    for rate, speeds in found.items():
        axes.plot(np.full(len(speeds), rate), speeds, ".", markersize=1.5, color="#0072B2")
    axes.axvline(doubling, color="#7b8794", linewidth=1)
    text = f"period doubles at ω = {doubling:.4f} "
    axes.text(doubling, 0.02, text, ha="right", color="#5b6876", in_layout=False)
    axes.set(xlabel="rate of the drive ω", ylabel="speed after an impact")
    axes.legend(loc="upper right")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    found = main(*map(int, sys.argv[1:2]))
    print(f"the period doubles at {first_doubling():.6f}")
    draw(found, Path("impact_oscillator.png"))
    print("impact_oscillator.png written")
