"""The systems of the table of schemes × systems × properties."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import sympy
from scipy.integrate import solve_ivp

import mbvi
from tests.folders import load as model

from ..system import mechanisms


def top(coordinates, name="lagrange_top_cusps", spin=None):
    """A Lagrange top of models/, its ball joint in the coordinates given."""
    base = model(name).resolved()
    _, theta, _ = base.initial["contact"].position
    phi_rate, theta_rate, psi_rate = base.initial["contact"].velocity
    psi_rate = psi_rate if spin is None else spin
    if coordinates == "quaternion":
        position = (np.cos(theta / 2), np.sin(theta / 2), 0, 0)
        velocity = (theta_rate, phi_rate * np.sin(theta), psi_rate + phi_rate * np.cos(theta))  # at phi = psi = 0
    else:
        position, velocity = (0, theta, 0), (phi_rate, theta_rate, psi_rate)
    return mbvi.Model(
        name=f"top {coordinates}",
        gravity=base.gravity,
        bodies=base.bodies,
        joints={"contact": mbvi.Ball(parent="world", child="top", coordinates=coordinates)},
        forces=base.forces,
        initial={"contact": mbvi.Initial(position=position, velocity=velocity)},
    )


def double_pendulum_in_absolute_angles():
    """models/double_pendulum.yaml in the angles of both rods to the vertical."""
    a, b = sympy.symbols("a b")
    parameters = model("double_pendulum").resolved().parameters
    m, length, g = (sympy.Float(parameters[key], 30) for key in ("mass", "length", "g"))
    M = m * length**2 * sympy.Matrix([[2, sympy.cos(a - b)], [sympy.cos(a - b), 1]])
    V = -m * g * length * (2 * sympy.cos(a) + sympy.cos(b))
    return mbvi.from_sympy([a, b], M, V, initial_q=[np.pi / 4, np.pi / 3], name="absolute angles")


def lagrange_top_in_sympy(name="lagrange_top"):
    """A top of models/ in the Euler angles phi, theta, psi (zxz)."""
    phi, theta, psi = sympy.symbols("phi theta psi")
    values = {"lagrange_top": (0.002329969592394382, 0.000125, 0.1 * 9.81 * 0.15)}[name]
    I, I3, weight = map(sympy.Float, values)
    c, s = sympy.cos(theta), sympy.sin(theta)
    M = sympy.Matrix([[I * s**2 + I3 * c**2, 0, I3 * c], [0, I, 0], [I3 * c, 0, I3]])
    initial = model(name).resolved().initial["contact"]
    return mbvi.from_sympy(
        [phi, theta, psi], M, weight * c, initial_q=initial.position, initial_v=initial.velocity, name="top in sympy"
    )


def elastic_pendulum(is_forced=False):
    r, a, vr, va, t = sympy.symbols("r a vr va t")
    return mbvi.from_sympy(
        [r, a],
        sympy.diag(1, r**2),
        8 * (r - 1) ** 2 - 4 * r * sympy.cos(a),
        velocities=[vr, va],
        time=t,
        forces=[sympy.cos(2 * t) - vr / 5, r * sympy.sin(t) - r * va * vr / 4] if is_forced else (),
        initial_q=[1.2, 1.0],
        initial_v=[0.3, -0.5],
        name="elastic pendulum",
    )


def spherical_pendulum():
    x, y, z = q = sympy.symbols("x y z")
    return mbvi.from_sympy(
        q,
        sympy.eye(3),
        5 * z,
        constraints=[(x**2 + y**2 + z**2 - 1) / 2],
        initial_q=[0.8, 0.0, -0.6],
        initial_v=[0.3, 1.5, 0.4],
        name="spherical pendulum",
    )


def planar_pendulum():
    x, y = sympy.symbols("x y")
    return mbvi.from_sympy((x, y), sympy.eye(2), 5 * y, constraints=[(x**2 + y**2 - 1) / 2], name="planar pendulum")


def driven_pendulum():
    """A pendulum in the plane whose pivot moves along x as a given function of time."""
    x, y, t = sympy.symbols("x y t")
    pivot = sympy.sin(2 * t) / 5
    return mbvi.from_sympy(
        (x, y),
        sympy.eye(2),
        5 * y,
        time=t,
        constraints=[((x - pivot) ** 2 + y**2 - 1) / 2],
        initial_q=[0.6, -0.8],
        initial_v=[0.4, 0.0],
        name="driven pendulum",
    )


def tree(forces=mechanisms.POTENTIAL, kinds=("revolute", "ball", "prismatic", "screw", "ball euler"), seed=3):
    made = mechanisms.without_tables(mechanisms.random_tree(seed, kinds=kinds, forces=forces))
    system = mbvi.assemble(made)
    q, v = mechanisms.random_state(system, seed)
    system.initial_q, system.initial_v = q, 0.5 * v
    return system


def four_bar(formulation, is_damped=True):
    """models/four_bar.yaml, with dampers on a joint of the tree and on that which closes the loop: three rows are redundant."""
    base = model("four_bar")
    dampers = {joint: mbvi.JointDamper(joint=joint, damping=0.2) for joint in ("support", "rocker pin")}
    slow = {**base.initial, "shaft": mbvi.Initial(position="90 deg", velocity=1.0, hold=True)}
    changes = {"gravity": (0, 0, -2), "forces": dampers if is_damped else {}, "initial": slow}
    return mbvi.assemble(mbvi.Model(**dict(base) | changes), formulation)


def driven_slider(formulation):
    """Two rods in a chain from a slider that follows a function of time, and a rope of a length that follows another."""
    rod = mbvi.Body(mass=1, center_of_mass=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    return mbvi.assemble(
        mbvi.Model(
            name="driven slider",
            bodies={"slider": mbvi.Body(mass=1, inertia=(1, 1, 1)), "rod": rod, "bob": rod},
            joints={
                "rail": mbvi.Prismatic(parent="world", child="slider", axis=(1, 0, 0)),
                "hinge": mbvi.Universal(parent="slider", child="rod", axes=((0, 1, 0), (1, 0, 0))),
                "end": mbvi.Revolute(parent="rod", child="bob", axis=(0, 1, 0), position=(0, 0, -1)),
            },
            constraints={
                "drive": mbvi.PrescribedCoordinate(joint="rail", value="0.2*sin(3*t)"),
                "winch": mbvi.Distance(
                    body_a="world", point_a=(1, 1, 0), body_b="rod", point_b=(0, 0, -1), length="1.6 + 0.2*cos(2*t)"
                ),
            },
            initial={"hinge": mbvi.Initial(position=(0.5, 0.3), velocity=(1, 0.5)), "end": mbvi.Initial(velocity=2)},
        ),
        formulation,
    )


def two_pendulums():
    """Two points on massless rods: R⁶ with two constraints of length."""
    bob = mbvi.Body(point_masses={"m": mbvi.PointMass(mass=1, position=(0, 0, -1))})
    hinge = {"axes": ((1, 0, 0), (0, 1, 0))}
    system = mbvi.assemble(
        mbvi.Model(
            name="two spherical pendulums",
            gravity=(0, 0, -5),
            bodies={"upper": bob, "lower": bob},
            joints={
                "i": mbvi.Universal(parent="world", child="upper", **hinge),
                "j": mbvi.Universal(parent="upper", child="lower", position=(0, 0, -1), **hinge),
            },
            initial={
                "i": mbvi.Initial(position=(0.5, 0.3), velocity=(0, 1)),
                "j": mbvi.Initial(position=(0.2, -0.7), velocity=(1, 0)),
            },
        ),
        "embedding",
    )
    assert (system.dimension, system.constraint_count) == (6, 2)
    return system


def floating_ring(formulation):
    """Four rods in a closed chain with parallel hinges, which tumbles freely: of 10 coordinates and rows, 7 freedoms are left."""
    rod = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0.1), inertia=(0.02, 0.1, 0.1))
    quarter = {"axis": (0, 1, 0), "position": (1, 0, 0), "orientation": (0, np.pi / 2, 0)}
    hinges = {f"h{i}": mbvi.Revolute(parent=f"b{i}", child=f"b{(i + 1) % 4}", **quarter) for i in range(4)}
    return mbvi.assemble(
        mbvi.Model(
            name="floating ring",
            gravity=(0, 0, 0),
            bodies={f"b{i}": rod for i in range(4)},
            joints={"flight": mbvi.Free(parent="world", child="b0"), **hinges},
            initial={
                "flight": mbvi.Initial(velocity=(0.3, -0.2, 0.1, 0.5, 1.0, -0.7)),
                "h0": mbvi.Initial(velocity=1.5),
            },
        ),
        formulation,
    )


class Case(NamedTuple):
    """A system and the time over which its motion is compared [s]."""

    system: mbvi.System
    duration: float


@cache
def case(name):
    match name:
        case "double pendulum":
            return Case(mbvi.assemble(model("double_pendulum")), 2.0)
        case "top, Euler angles":
            return Case(mbvi.assemble(top("zxz")), 4.0)
        case "top, quaternion":
            return Case(mbvi.assemble(top("quaternion")), 4.0)
        case "tree with springs":
            return Case(tree(), 4.0)
        case "tree with dampers":
            return Case(tree(mechanisms.SMOOTH), 4.0)
        case "elastic pendulum":
            return Case(elastic_pendulum(), 10.0)
        case "elastic pendulum, forced":
            return Case(elastic_pendulum(True), 8.0)
        case "spherical pendulum":
            return Case(spherical_pendulum(), 16.0)
        case "driven pendulum":
            return Case(driven_pendulum(), 16.0)
        case "four-bar, tree":
            return Case(four_bar("tree"), 4.0)
        case "four-bar, embedding":
            return Case(four_bar("embedding"), 1.0)
        case "four-bar, undamped":
            return Case(four_bar("tree", is_damped=False), 4.0)
        case "driven slider":
            return Case(driven_slider("tree"), 4.0)
        case "two spherical pendulums":
            return Case(two_pendulums(), 8.0)
    raise ValueError(name)


CONSERVATIVE = ("double pendulum", "top, Euler angles", "top, quaternion", "tree with springs", "elastic pendulum")
FORCED = ("tree with dampers", "elastic pendulum, forced")
CONSTRAINED = ("spherical pendulum", "driven pendulum", "two spherical pendulums")
LOOPED = ("four-bar, tree", "four-bar, embedding", "driven slider")


SAMPLES = 4


@cache
def reference(name):
    """The motion at SAMPLES times after the start, by a scheme of order 12 with small steps."""
    system, duration = case(name)
    return mbvi.simulate(system, "gauss6", step=duration / 800, duration=duration, every=800 // SAMPLES)


def error(name, scheme, steps):
    """The mean (root of squares) error of coordinates and momenta at all samples, relative to the mean motion.

    Momenta count only where the scheme makes them satisfy the hidden constraint.
    """
    system, duration = case(name)
    exact = reference(name)
    found = mbvi.simulate(system, scheme, step=duration / steps, duration=duration, every=steps // SAMPLES)
    pairs = [(found.q, exact.q), (found.p, exact.p)][: 1 + mbvi.SCHEMES[scheme].is_projected]
    return max(np.linalg.norm(x - y) / np.linalg.norm(y) for x, y in pairs)


def integrated_end(name):
    """q, v at the end by DOP853 on the accelerations."""
    system, duration = case(name)
    n = system.dimension

    def rates(t, y):
        return np.concatenate([y[n:], system.acceleration(y[:n], y[n:], t)])

    start = np.concatenate([reference(name).q[0], reference(name).v[0]])
    y = solve_ivp(rates, (0, duration), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return y[:n], y[n:]
