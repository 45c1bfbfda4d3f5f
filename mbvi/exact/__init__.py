"""Exact motions in closed form: references to measure schemes against.

Every one is a frozen dataclass of parameters and an initial state. Called with times, of any shape, it gives the coordinates
and the velocities there; `period` is the time after which the motion repeats, up to turns about a fixed axis. Errors
are a few units of rounding times the phase, however many periods on.

    Pendulum              nonlinear; swinging, turning, on the separatrix
    LinearDoublePendulum  two small angles, by modes
    DampedOscillator      damping of any strength and sign
    SphericalPendulum     place and velocity in space
    LagrangeTop           heavy symmetric top in Euler angles
    CuspedTop             the same, released with its axis at rest: nutation alone
    FreeBody              orientation and angular velocity of a free rigid body

It stands on numpy and scipy.special alone, and on nothing of the simulator.

>>> swing = Pendulum(length=1.0, gravity=9.81, angle=2.0, rate=0.0)
>>> angle, rate = swing([0.0, swing.period / 2, 1000 * swing.period])
>>> [round(float(each), 9) for each in angle]
[2.0, -2.0, 2.0]
"""

from mbvi.exact.body import FreeBody
from mbvi.exact.oscillator import DampedOscillator
from mbvi.exact.pendulum import LinearDoublePendulum, Pendulum
from mbvi.exact.spherical import SphericalPendulum
from mbvi.exact.top import CuspedTop, LagrangeTop

__all__ = [
    "CuspedTop",
    "DampedOscillator",
    "FreeBody",
    "LagrangeTop",
    "LinearDoublePendulum",
    "Pendulum",
    "SphericalPendulum",
]
