"""Closed loops and constraints against results that are found otherwise.

Mechanisms of one degree of freedom: in one coordinate s with places x(s) and angles φ(s) of all bodies

    T = 1/2 μ(s) ṡ²,  μ = Σ m |x′|² + I φ′²,   V = Σ m g z,   s̈ = −(V′ + 1/2 μ′ ṡ²)/μ

integrated by DOP853, or in closed form. Of the IFToMM library of computational benchmark problems: A01, A02, A04.
"""

from functools import cache

import mujoco
import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import mbvi
from mbvi.analysis.convergence import convergence_order
from tests.marks import campaign

from . import systems

FORMULATIONS = ["tree", "embedding"]
GRAVITY = 9.81


def reduced(s, parts, rates, times, potential=0, force=0):
    """The motion s(t), ṡ(t) of one coordinate from (s, ṡ) at times, by DOP853 to 1e-13.

    `parts` are (mass, inertia, place (x, y, z), angle) of all bodies, as expressions of the symbol s; gravity is along −z.
    """
    mu, V = sympy.Integer(0), sympy.sympify(potential)
    for mass, inertia, place, angle in parts:
        mu += mass * sum(sympy.diff(x, s) ** 2 for x in place) + inertia * sympy.diff(angle, s) ** 2
        V += mass * GRAVITY * place[2]
    u = sympy.Symbol("u")
    rate = sympy.lambdify((s, u), (force - sympy.diff(V, s) - sympy.diff(mu, s) * u**2 / 2) / mu, "numpy", cse=True)

    def field(t, y):
        return y[1], rate(*y)

    return solve_ivp(field, (0, times[-1]), rates, "DOP853", times, rtol=1e-13, atol=1e-13).y


def run(model, scheme="gauss4", step=0.01, duration=2.0, formulation="tree"):
    return mbvi.simulate(model, scheme, step=step, duration=duration, formulation=formulation)


def bar(length, mass=None):
    """A thin rod along x from its origin, with a little inertia about its axis."""
    mass = length if mass is None else mass
    across = mass * length**2 / 12
    return mbvi.Body(mass=mass, center_of_mass=(length / 2, 0, 0), inertia=(across / 10, across, across))


def hinge(parent, child, x=0.0, **keys):
    """A revolute joint about −y, whose positive angle turns x towards z, at x of the parent."""
    return mbvi.Revolute(parent=parent, child=child, axis=(0, -1, 0), position=(x, 0, 0), **keys)


# ------------------------------------------------------------------------------------------- A01, A02, A04


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a01_simple_pendulum(formulation):
    """From the horizontal: sin(θ/2) = k sn(K − ω t), k = sin 45°; with gauss4 at 0.01 s, 10 s."""
    model = systems.model("pendulum_cartesian")
    found = run(model, "gauss4", 0.01, 10.0, formulation)
    if formulation == "embedding":
        assert found.system.coordinate_names == ("rod.x", "rod.y", "rod.z")
        place = found.q
    else:
        place = -found.pose("rod")[1][:, :, 0]
    m = 0.5
    sn, cn, _, _ = ellipj(ellipk(m) - np.sqrt(GRAVITY) * found.t, m)
    half = np.arcsin(np.sqrt(m) * sn)
    exact = np.column_stack([-np.sin(2 * half), -np.cos(2 * half), 0 * half])
    np.testing.assert_allclose(place, exact, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.energy(), 0, rtol=0, atol=1e-9)


def n_four_bars(count):
    """Cranks 0 … count along y, couplers 1 … count along x; models/n_four_bars.yaml for any number."""
    rod = 1 / 12
    bodies = {
        f"crank{i}": mbvi.Body(mass=1, center_of_mass=(0, 0.5, 0), inertia=(rod, 0, rod)) for i in range(count + 1)
    }
    bodies |= {
        f"coupler{i}": mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(0, rod, rod)) for i in range(1, count + 1)
    }

    def joint(parent, child, position=(0, 0, 0), offset=(0, 0, 0)):
        return mbvi.Revolute(parent=parent, child=child, axis=(0, 0, 1), position=position, offset=offset)

    joints = {f"A{i}": joint("world", f"crank{i}", (i, 0, 0)) for i in range(count + 1)}
    initial = {name: mbvi.Initial(velocity=-1) for name in joints}
    for i in range(1, count + 1):
        joints[f"left{i}"] = joint(f"crank{i - 1}", f"coupler{i}", (0, 1, 0))
        joints[f"right{i}"] = joint(f"coupler{i}", f"crank{i}", (1, 0, 0), (0, 1, 0))
        initial |= {f"left{i}": mbvi.Initial(velocity=1), f"right{i}": mbvi.Initial(velocity=-1)}
    return mbvi.Model(name="four-bars", gravity=(0, -GRAVITY, 0), bodies=bodies, joints=joints, initial=initial)


def crank_angle(count, times):
    """The exact angle of all cranks from the vertical: that of a pendulum."""
    s = sympy.Symbol("s")
    cranks = [(1, 1 / 12, (sympy.sin(s) / 2, 0, sympy.cos(s) / 2), s)] * (count + 1)
    couplers = [(1, 0, (sympy.sin(s), 0, sympy.cos(s)), 0)] * count
    return reduced(s, cranks + couplers, (0, 1), times)


@pytest.mark.parametrize(
    ("count", "formulation", "scheme", "step", "duration", "atol"),
    [
        (1, "tree", "gauss3", 0.01, 10.0, 1e-9),
        (1, "embedding", "gauss3", 0.01, 10.0, 1e-9),
        (2, "tree", "gauss3", 0.01, 10.0, 1e-9),
        (2, "embedding", "gauss3", 0.01, 10.0, 1e-9),
        (10, "tree", "simpson", 0.01, 10.0, 1e-5),
        (10, "embedding", "simpson", 0.01, 10.0, 1e-5),
        (40, "tree", "simpson", 0.01, 10.0, 1e-5),
        (40, "embedding", "simpson", 0.02, 3.0, 1e-5),
    ],
)
def test_a02_n_four_bars(count, formulation, scheme, step, duration, atol):
    """All cranks turn alike, couplers stay parallel to x, through one in-line position a second.

    Measured: 7e-11 m (gauss3, N = 1, 2) and 9e-6 m (simpson); coupler's turn 3e-12; |g| near in-line positions 6e-13 m.
    """
    found = run(n_four_bars(count), scheme, step, duration, formulation)
    angle, _ = crank_angle(count, found.t)
    assert np.count_nonzero(np.diff(np.sign(np.cos(angle)))) >= int(duration)
    up = np.column_stack([np.sin(angle), np.cos(angle)])
    for i in range(count + 1):
        np.testing.assert_allclose(found.pose(f"crank{i}")[1][:, :2, 1], up, rtol=0, atol=atol)
    for i in range(1, count + 1):
        np.testing.assert_allclose(
            found.pose(f"coupler{i}")[1], np.tile(np.eye(3), (len(found), 1, 1)), rtol=0, atol=1e-10
        )
    energy = found.energy()
    assert np.abs(energy / energy[0] - 1).max() < atol
    assert found.constraint_residual().max() < 5e-12


def test_a02_at_ten_seconds():
    """The library's reference for N = 2: joint B0 and its velocity."""
    found = run(systems.model("n_four_bars"), "gauss3", 0.005, 10.0)
    place = found.pose("coupler1")[0][-1]
    np.testing.assert_allclose(place, (0.32846, 0.94452, 0), rtol=0, atol=5e-6)
    rate = found.v[-1, found.system.coordinate_names.index("A0.angle")]
    np.testing.assert_allclose((-rate * place[1], rate * place[0]), (1.4230, -0.4949), rtol=0, atol=1e-4)


def turn(axis, angle):
    """Rotation about a coordinate axis, (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def bricard_points(angles):
    """Ends of the five rods (5, 3), and what is left open of the loop, from the first five angles."""
    rods = ((1, (1, 0, 0)), (2, (0, -1, 0)), (0, (0, 0, 1)), (1, (-1, 0, 0)), (2, (0, 1, 0)))
    R, points = np.eye(3), [np.zeros(3)]
    for (axis, rod), angle in zip(rods, angles, strict=True):
        R = R @ turn(axis, angle)
        points.append(points[-1] + R @ rod)
    return np.array(points[1:]), np.concatenate([points[-1] - (0, 0, 1), R[1:, 0]])


@cache
def bricard_path():
    """Chebyshev series, in the first angle, of the 15 coordinates of the rods' ends; other angles by Newton's method."""
    low, high = -0.1, np.pi + 0.1
    first = (low + high) / 2 + (high - low) / 2 * np.polynomial.chebyshev.chebpts1(80)
    rest, points = np.zeros(4), []
    for angle in first:
        for _ in range(20):
            gap = bricard_points((angle, *rest))[1]
            columns = [bricard_points((angle, *(rest + 1e-7 * e)))[1] - gap for e in np.eye(4)]
            change = np.linalg.lstsq(np.array(columns).T / 1e-7, -gap, rcond=1e-6)[0]
            rest = rest + change
            if np.abs(change).max() < 1e-15:
                break
        found, gap = bricard_points((angle, *rest))
        assert np.abs(gap).max() < 1e-13
        points.append(found.ravel())
    return [np.polynomial.Chebyshev.fit(first, x, 70, domain=(low, high)) for x in np.array(points).T]


def bricard_motion(times):
    """Ends of the rods (times, 15): the reduced equation of the mechanism's one freedom, released at rest.

    A thin rod of mass 1 whose ends have velocities a and b has the kinetic energy (|a|² + a·b + |b|²)/6.
    """
    place = bricard_path()
    rate, second = ([x.deriv(i) for x in place] for i in (1, 2))

    def at(series, angle):
        return np.vstack([np.zeros(3), np.array([x(angle) for x in series]).reshape(5, 3)])

    def product(a, b):
        a0, a1, b0, b1 = a[:-1], a[1:], b[:-1], b[1:]
        return np.sum(a0 * b0 + a1 * b1 + (a0 * b1 + a1 * b0) / 2) / 3

    def field(t, y):
        x1, x2 = at(rate, y[0]), at(second, y[0])
        slope = GRAVITY * np.sum(x1[:-1, 1] + x1[1:, 1]) / 2
        return y[1], -(slope + product(x1, x2) * y[1] ** 2) / product(x1, x1)

    angle = solve_ivp(field, (0, times[-1]), (0, 0), "DOP853", times, rtol=1e-12, atol=1e-12).y[0]
    return np.array([at(place, each)[1:].ravel() for each in angle])


def rod_ends(found, length=1.0):
    """Ends of the five rods (times, 15) of a run, relative to their length."""
    ends = ((1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 1, 0))
    poses = [found.pose(f"rod{i}") for i in range(1, 6)]
    return np.hstack([place / length + R @ np.array(end) for (place, R), end in zip(poses, ends, strict=True)])


@cache
def exact_bricard():
    return bricard_motion(np.linspace(0, 10, 1001))


def cut(model, name):
    """The model with a joint, and no other, marked as cut."""
    joints = {
        key: joint.model_copy(update={"cut": True if key == name else None}) for key, joint in model.joints.items()
    }
    return model.model_copy(update={"joints": joints})


@pytest.mark.parametrize("where", ["embedding", *(f"hinge{i}" for i in range(1, 7))])
def test_a04_bricard(where):
    """Over 10 s in both formulations and wherever the loop is cut: 2e-10 m from DOP853's, energy to 1e-8 J, closed to 4e-14."""
    model = systems.model("bricard")
    model, formulation = (model, where) if where == "embedding" else (cut(model, where), "tree")
    found = run(model, "gauss3", 0.01, 10.0, formulation)
    assert found.system.mobility.degrees_of_freedom == 1
    assert found.system.mobility.redundant == 1
    np.testing.assert_allclose(rod_ends(found), exact_bricard(), rtol=0, atol=2e-9)
    energy = found.energy()
    assert np.ptp(energy) < 2e-8
    assert found.constraint_residual().max() < 1e-12
    if where != "embedding":
        assert mbvi.model.plan(model).chords == (where,)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("length", "mass"), [(1e-4, 1e-8), (1e-6, 1e-15), (1e3, 1e9), (1e4, 1e12)])
def test_of_another_size(length, mass, formulation):
    """It moves alike, slower by the root of its length: moments of inertia from 1e-27 to 1e20 kg m² stand beside masses.

    Velocities depend most on how they are solved for near t = 7.48 s, where all rods are almost where they began.
    """
    model, slower = systems.model("bricard").with_parameters({"length": length, "mass": mass}), np.sqrt(length)
    found = run(model, "gauss3", 0.01 * slower, 10.0 * slower, formulation)
    np.testing.assert_allclose(rod_ends(found, length), exact_bricard(), rtol=0, atol=2e-9)
    assert np.ptp(found.energy()) < 1e-12 * mass * length


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_redundant_constraints_leave_the_energy_at_round_off(formulation):
    """At a step at which gauss4 conserves the energy of the first seconds to 1e-14 J."""
    energy = run(systems.model("bricard"), "gauss4", 0.005, 10.0, formulation).energy()
    assert np.ptp(energy[:400]) < 1e-13
    assert np.ptp(energy) < 1e-11


@pytest.mark.parametrize("steps", [10_000, pytest.param(300_000, marks=campaign)])
def test_what_no_equation_determines_of_impulses_does_not_grow(steps):
    """Of redundant constraints: impulses that grow by their own rounding spoil the energy of all else."""
    found = mbvi.simulate(systems.model("bricard"), "gauss3", step=0.005, duration=steps * 0.005, every=100)
    assert np.ptp(found.energy()) < 1e-11 * found.kinetic_energy().max()


# ---------------------------------------------------------------------------- planar mechanisms, closed forms


def slider_crank_in_closed_form(crank, rod):
    """Rod's angle and piston's place from the crank's angle, symbols: r sin θ + l sin φ = 0."""
    s = sympy.Symbol("s")
    phi = -sympy.asin(crank / rod * sympy.sin(s))
    return s, phi, crank * sympy.cos(s) + rod * sympy.cos(phi)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_slider_crank(formulation):
    """models/slider_crank.yaml: every stored state closed, and the motion that of one coordinate, over 5 s."""
    model = systems.model("slider_crank")
    r, l, rate = (model.resolved().parameters[key] for key in ("crank", "rod", "rate"))
    found = run(model, "gauss4", 0.005, 5.0, formulation)
    s, phi, x = slider_crank_in_closed_form(r, l)
    bodies = {name: mbvi.model.mass_properties(body) for name, body in model.resolved().bodies.items()}
    assert abs(bodies["crank"].center_of_mass[2]) < 1e-15
    along = bodies["crank"].center_of_mass[0]
    middle = (r * sympy.cos(s) + l / 2 * sympy.cos(phi), 0, r * sympy.sin(s) + l / 2 * sympy.sin(phi))
    parts = [
        (
            bodies["crank"].mass,
            bodies["crank"].inertia[1, 1],
            (along * sympy.cos(s), 0, along * sympy.sin(s)),
            s,
        ),
        (bodies["rod"].mass, bodies["rod"].inertia[1, 1], middle, phi),
        (bodies["piston"].mass, 0, (x, 0, 0), 0),
    ]
    theta, theta_rate = reduced(s, parts, (0, rate), found.t)
    assert theta[-1] > 40  # several turns
    place = sympy.lambdify(s, (x, sympy.diff(x, s), phi))
    exact, slope, angle = place(theta)
    piston, _ = found.pose("piston")
    rod, _ = found.pose("rod")
    np.testing.assert_allclose(rod[:, [0, 2]], r * np.column_stack([np.cos(theta), np.sin(theta)]), rtol=0, atol=ATOL)
    np.testing.assert_allclose(piston[:, 0], exact, rtol=0, atol=ATOL)
    np.testing.assert_allclose(
        found.pose("rod")[1][:, [0, 2], 0], np.column_stack([np.cos(angle), np.sin(angle)]), rtol=0, atol=ATOL
    )
    own = np.arctan2(rod[:, 2], rod[:, 0])  # of the crank as found: kinematics alone, to round-off
    np.testing.assert_allclose(piston[:, 0], place(own)[0], rtol=0, atol=1e-13)
    if formulation == "tree":
        names = found.system.coordinate_names
        shaft, guide = (names.index(name) for name in ("shaft.angle", "guide.displacement"))
        np.testing.assert_allclose(
            found.v[:, guide], place(found.q[:, shaft])[1] * found.v[:, shaft], rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(found.v[:, shaft], theta_rate, rtol=1e-7)


ATOL = 1e-8
BARS = {"ground": 1.0, "crank": 0.3, "coupler": 0.9, "rocker": 0.7}


def four_bar_in_closed_form(s):
    """Angles of coupler and rocker from the crank's, on the branch with the coupler's end above the line."""
    ground, a, b, c = map(sympy.Float, BARS.values())
    dx, dz = ground - a * sympy.cos(s), -a * sympy.sin(s)
    d = sympy.sqrt(dx**2 + dz**2)
    phi = sympy.atan2(dz, dx) + sympy.acos((b**2 + d**2 - c**2) / (2 * b * d))
    return phi, sympy.atan2(a * sympy.sin(s) + b * sympy.sin(phi), a * sympy.cos(s) + b * sympy.cos(phi) - ground)


def four_bar(cut_joint=None, joints=None):
    """A crank-rocker of thin rods, its crank held at 90° and 6 rad/s, the other joints at or near what follows from it."""
    phi, psi = (float(each) for each in four_bar_in_closed_form(sympy.pi / 2))
    bodies = {name: bar(BARS[name]) for name in ("crank", "coupler", "rocker")}
    joints = {
        "shaft": hinge("world", "crank"),
        "crank pin": hinge("crank", "coupler", BARS["crank"]),
        "support": hinge("world", "rocker", BARS["ground"]),
        "rocker pin": hinge("coupler", "rocker", BARS["coupler"], offset=(BARS["rocker"], 0, 0)),
        **(joints or {}),
    }
    initial = {"shaft": mbvi.Initial(position="90 deg", velocity=6, hold=True), "support": mbvi.Initial(position=psi)}
    back = (phi - np.pi / 2) / 2
    is_ball = joints["crank pin"].type == "ball"
    initial["crank pin"] = mbvi.Initial(position=(np.cos(back), 0, -np.sin(back), 0) if is_ball else 2 * back)
    if joints["rocker pin"].type == "revolute":
        initial["rocker pin"] = mbvi.Initial(position=psi - phi)
    model = mbvi.Model(name="four-bar", bodies=bodies, joints=joints, initial=initial)
    return cut(model, cut_joint) if cut_joint else model


@cache
def exact_four_bar(count, massless=()):
    """Angles (times, 3) of the three bars in the x-z plane, and their rates, at `count` steps of 2 s; some may be massless."""
    s = sympy.Symbol("s")
    phi, psi = four_bar_in_closed_form(s)
    a, b, c = (BARS[key] for key in ("crank", "coupler", "rocker"))

    def middle(length, angle, from_x=0, from_z=0):
        return from_x + length / 2 * sympy.cos(angle), 0, from_z + length / 2 * sympy.sin(angle)

    parts = {
        "crank": (a, a**3 / 12, middle(a, s), s),
        "coupler": (b, b**3 / 12, middle(b, phi, a * sympy.cos(s), a * sympy.sin(s)), phi),
        "rocker": (c, c**3 / 12, middle(c, psi), psi),
    }
    massive = [part for name, part in parts.items() if name not in massless]
    theta, rate = reduced(s, massive, (np.pi / 2, 6), np.linspace(0, 2, count + 1))
    angles = sympy.lambdify(s, (s, phi, psi))(theta)
    slopes = sympy.lambdify(s, (1 + 0 * s, sympy.diff(phi, s), sympy.diff(psi, s)))(theta)
    return np.array(angles).T, np.array([np.broadcast_to(each, theta.shape) for each in slopes]).T * rate[:, None]


def directions(found, names=("crank", "coupler", "rocker")):
    return np.stack([found.pose(name)[1][:, [0, 2], 0] for name in names], axis=1)


def check_four_bar(found, atol, massless=()):
    angles, _ = exact_four_bar(len(found) - 1, massless)
    np.testing.assert_allclose(directions(found), np.stack([np.cos(angles), np.sin(angles)], axis=2), rtol=0, atol=atol)


@pytest.mark.parametrize("where", ["embedding", "shaft", "crank pin", "support", "rocker pin"])
def test_four_bar(where):
    """Wherever the loop is cut: three of five or more constraints too many, and the motion of one coordinate."""
    model, formulation = (four_bar(), where) if where == "embedding" else (four_bar(where), "tree")
    found = run(model, "gauss4", 0.005, 2.0, formulation)
    assert (found.system.mobility.degrees_of_freedom, found.system.mobility.redundant) == (1, 3)
    check_four_bar(found, 1e-8)
    x, z = directions(found).transpose(2, 0, 1)
    lengths = [BARS[key] for key in ("crank", "coupler", "rocker")]
    loop = x @ np.diag(lengths) @ (1, 1, -1), z @ np.diag(lengths) @ (1, 1, -1)
    np.testing.assert_allclose(loop[0], BARS["ground"], rtol=0, atol=1e-12)  # every stored state
    np.testing.assert_allclose(loop[1], 0, rtol=0, atol=1e-12)


def test_four_bar_velocities():
    found = run(four_bar(), "gauss4", 0.005, 2.0)
    names = found.system.coordinate_names
    shaft, pin, support = (found.v[:, names.index(f"{name}.angle")] for name in ("shaft", "crank pin", "support"))
    s = sympy.Symbol("s")
    slopes = sympy.lambdify(s, [sympy.diff(each, s) for each in four_bar_in_closed_form(s)])
    phi, psi = slopes(found.q[:, names.index("shaft.angle")])
    np.testing.assert_allclose(shaft + pin, phi * shaft, rtol=0, atol=1e-11)
    np.testing.assert_allclose(support, psi * shaft, rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        np.column_stack([shaft, shaft + pin, support]), exact_four_bar(400)[1], rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_four_bar_without_redundant_constraints(formulation):
    """A ball and a cylindrical joint in the loop instead of hinges leave none too many: the same motion."""
    y = {"axis": (0, -1, 0), "position": (BARS["coupler"], 0, 0), "offset": (BARS["rocker"], 0, 0)}
    joints = {
        "crank pin": mbvi.Ball(parent="crank", child="coupler", position=(BARS["crank"], 0, 0)),
        "rocker pin": mbvi.Cylindrical(parent="coupler", child="rocker", **y),
    }
    model = four_bar(joints=joints)
    found = run(model, "gauss4", 0.005, 2.0, formulation)
    assert (found.system.mobility.degrees_of_freedom, found.system.mobility.redundant) == (1, 0)
    check_four_bar(found, 1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_door_on_three_hinges(formulation):
    """Ten of fifteen constraints too many: it swings as on one hinge, to round-off."""
    body = mbvi.Body(mass=20, center_of_mass=(0.45, 0, 1), inertia=(6.7, 8.1, 1.4))
    places = {"low": 0.3, "middle": 1.0, "high": 1.7}

    def door(*names):
        hinges = {
            name: mbvi.Revolute(
                parent="world", child="door", axis=(0, 0, 1), position=(0, 0, places[name]), offset=(0, 0, places[name])
            )
            for name in names
        }
        model = mbvi.Model(
            name="door",
            gravity=(1.0, -2.0, -9.5),
            bodies={"door": body},
            joints=hinges,
            initial={names[0]: mbvi.Initial(position=0.4, velocity=0.3)},
        )
        return run(model, "simpson", 0.01, 5.0, formulation)

    one, three = door("low"), door("low", "middle", "high")
    assert (one.system.mobility.redundant, three.system.mobility.redundant) == (0, 10)
    np.testing.assert_allclose(three.pose("door")[1], one.pose("door")[1], rtol=0, atol=1e-12)
    energy = three.energy()
    assert np.abs(energy - energy[0]).max() < 1e-4


# ------------------------------------------------------------------------------- bodies without inertia in loops


def without_mass(model, names):
    """The model with massless bodies of these names."""
    return model.model_copy(update={"bodies": model.bodies | {name: mbvi.Body() for name in names}})


def everywhere(model):
    """Runs of a model in both formulations, and cut at every joint."""
    return {
        "tree": (model, "tree"),
        "embedding": (model, "embedding"),
        **{f"{name} cut": (cut(model, name), "tree") for name in model.joints},
    }


def check_round_off(found, atol=1e-11):
    """Energy and constraints of a run with a step so small that gauss4 conserves the energy to round-off."""
    energy = found.energy()
    assert np.ptp(energy) < atol * max(1.0, np.abs(energy).max())
    assert found.constraint_residual().max() < 1e-12


@pytest.mark.parametrize("where", ["embedding", "shaft", "crank pin", "support", "rocker pin"])
@pytest.mark.parametrize("massless", [("crank",), ("coupler",), ("rocker",), ("coupler", "rocker")], ids="+".join)
def test_four_bar_of_massless_bars(massless, where):
    """The motion of one coordinate, in which they have no part."""
    model = without_mass(four_bar(), massless)
    model, formulation = (model, where) if where == "embedding" else (cut(model, where), "tree")
    found = run(model, "gauss4", 0.005, 2.0, formulation)
    assert (found.system.mobility.degrees_of_freedom, found.system.mobility.redundant) == (1, 3)
    check_four_bar(found, 1e-8, massless)
    check_round_off(found, 1e-8)


@pytest.mark.parametrize(("scheme", "order"), [("midpoint", 2), ("simpson", 4)])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_order_with_massless_bars(scheme, order, formulation):
    massless, errors, steps = ("coupler", "rocker"), [], [0.01, 0.005, 0.0025]
    for step in steps:
        found = run(without_mass(four_bar(), massless), scheme, step, 2.0, formulation)
        angles, _ = exact_four_bar(800, massless)
        exact = np.stack([np.cos(angles), np.sin(angles)], axis=2)[:: round(step / 0.0025)]
        errors.append(np.abs(directions(found) - exact).max())
        assert found.constraint_residual().max() < 1e-12
    assert convergence_order(errors, steps) == pytest.approx(order, abs=0.2)


def point(*places):
    """Point masses of 1 at places along x."""
    masses = {f"m{i}": mbvi.PointMass(mass=1, position=(x, 0, 0)) for i, x in enumerate(places)}
    return mbvi.Body(point_masses=masses)


def crank_and_slider():
    """Point masses at the crank's pin and at the slider's, on massless bars."""
    start, crank, rod = 1.0, 0.3, 0.8
    angle = -np.arcsin(crank / rod * np.sin(start))
    joints = {
        "shaft": hinge("world", "crank"),
        "pin": hinge("crank", "rod", crank),
        "wrist": hinge("rod", "slider", rod),
        "guide": mbvi.Prismatic(parent="world", child="slider", axis=(1, 0, 0)),
    }
    initial = {
        "shaft": mbvi.Initial(position=start, velocity=3, hold=True),
        "pin": mbvi.Initial(position=angle - start),
        "wrist": mbvi.Initial(position=-angle),
        "guide": mbvi.Initial(position=crank * np.cos(start) + rod * np.cos(angle)),
    }
    bodies = {"crank": point(crank), "rod": mbvi.Body(), "slider": point(0)}
    return mbvi.Model(name="slider", bodies=bodies, joints=joints, initial=initial)


@pytest.mark.parametrize("where", everywhere(crank_and_slider()))
def test_point_masses_on_a_crank_and_a_slider(where):
    """A point mass hinged where it is has no inertia either."""
    model, formulation = everywhere(crank_and_slider())[where]
    found = run(model, "gauss4", 0.005, 2.0, formulation)
    s, _, x = slider_crank_in_closed_form(sympy.Float(0.3), sympy.Float(0.8))
    parts = [(1, 0, (0.3 * sympy.cos(s), 0, 0.3 * sympy.sin(s)), s), (1, 0, (x, 0, 0), 0)]
    angle, _ = reduced(s, parts, (1, 3), found.t)
    assert np.ptp(angle) > 2
    np.testing.assert_allclose(
        found.pose("rod")[0][:, [0, 2]], 0.3 * np.column_stack([np.cos(angle), np.sin(angle)]), rtol=0, atol=ATOL
    )
    np.testing.assert_allclose(found.pose("slider")[0][:, 0], sympy.lambdify(s, x)(angle), rtol=0, atol=ATOL)
    check_round_off(found)


def scissor_lift(count, half=0.5, start=0.6):
    """Massless bars crossing in their middles, one above the other, and two point masses on top."""
    bodies, joints, initial, turn = {}, {}, {}, np.pi - 2 * start
    for i in range(count):
        bodies |= {f"right{i}": mbvi.Body(), f"left{i}": mbvi.Body()}  # from below to the upper right, and left
        if i:
            joints[f"l{i}"] = hinge(f"left{i - 1}", f"right{i}", 2 * half)
            joints[f"r{i}"] = hinge(f"right{i - 1}", f"left{i}", 2 * half)
            initial |= {f"l{i}": mbvi.Initial(position=-turn), f"r{i}": mbvi.Initial(position=turn)}
        else:
            joints["foot"] = hinge("world", "right0")
            initial["foot"] = mbvi.Initial(position=start, velocity=0.5, hold=True)
        joints[f"m{i}"] = hinge(f"right{i}", f"left{i}", half, offset=(half, 0, 0))
        initial[f"m{i}"] = mbvi.Initial(position=turn)
    bodies |= {f"right{count - 1}": point(2 * half), f"left{count - 1}": point(2 * half)}
    floor = mbvi.PointOnPlane(
        body_a="world", body_b="left0", point_a=(0, 0, 0), point_b=(0, 0, 0), normal=(0, 0, 1)
    )  # fmt: skip
    return mbvi.Model(name="lift", bodies=bodies, joints=joints, initial=initial, constraints={"floor": floor})


@pytest.mark.parametrize("where", ["tree", "embedding", "m0 cut", "r1 cut", "m2 cut"])
def test_scissor_lift(where):
    """Three stages: 1 degree of freedom of 6 bars, all of whose weight is at the top."""
    model, formulation = everywhere(scissor_lift(3))[where]
    found = run(model, "gauss4", 0.005, 0.3, formulation)
    assert (found.system.mobility.degrees_of_freedom, found.system.mobility.redundant) == (1, 6)
    s = sympy.Symbol("s")
    height = 3 * sympy.sin(s)
    angle, _ = reduced(s, [(1, 0, (sympy.cos(s), 0, height), s), (1, 0, (0, 0, height), s)], (0.6, 0.5), found.t)
    assert np.ptp(angle) > 0.05
    place, R = found.pose("right2")
    top = place + R[:, :, 0]
    np.testing.assert_allclose(top, np.column_stack([np.cos(angle), 0 * angle, 3 * np.sin(angle)]), rtol=0, atol=1e-10)
    check_round_off(found)


def rhombus(corners, rates):
    """Massless rods from the world round through three corners, which have masses of 1."""
    ends = np.vstack([np.zeros(2), corners, np.zeros(2)])
    angles = np.arctan2(*np.diff(ends, axis=0).T[::-1])
    turns = np.diff(angles, prepend=0)
    bodies = {f"rod{i}": point(1) for i in range(3)} | {"rod3": mbvi.Body()}
    joints = {"j0": hinge("world", "rod0"), **{f"j{i}": hinge(f"rod{i - 1}", f"rod{i}", 1) for i in (1, 2, 3)}}
    joints["clasp"] = hinge("rod3", "world", 1)
    initial = {f"j{i}": mbvi.Initial(position=turns[i], velocity=rates[i], hold=i < 2) for i in range(4)}
    initial["clasp"] = mbvi.Initial(position=-angles[3], velocity=-sum(rates))
    return mbvi.Model(name="rhombus", bodies=bodies, joints=joints, initial=initial)


@pytest.mark.parametrize("where", ["j1 cut", "clasp cut", "embedding"])
def test_rhombus_of_massless_rods(where):
    """Against its three corners as points in flight at constant distances: two degrees of freedom."""
    first, second = -np.pi / 2 - 0.5, -np.pi / 2 + 0.6
    a, b = (np.array([np.cos(x), np.sin(x)]) for x in (first, second))
    # rods at the rates u, w of their directions: parallel ones turn alike
    u, w = 1.0, -0.5
    model = rhombus(np.array([a, a + b, b]), (u, w - u, u - w, w - u))
    model, formulation = (model, where) if where == "embedding" else (cut(model, where.removesuffix(" cut")), "tree")
    found = run(model, "gauss4", 0.005, 2.0, formulation)
    assert found.system.mobility.degrees_of_freedom == 2
    rate_a, rate_b = u * np.array([-a[1], a[0]]), w * np.array([-b[1], b[0]])
    points = {"a": (a, rate_a), "c": (a + b, rate_a + rate_b), "b": (b, rate_b)}
    free = {name: mbvi.Planar(parent="world", child=name, normal=(0, -1, 0), x_axis=(1, 0, 0)) for name in points}
    bodies = {name: mbvi.Body(mass=1, inertia=(1, 1, 1)) for name in points}
    pairs = [("world", "a"), ("a", "c"), ("c", "b"), ("b", "world")]
    origin = {"point_a": (0, 0, 0), "point_b": (0, 0, 0)}
    rods = {f"{i} {j}": mbvi.Distance(body_a=i, body_b=j, length=1, **origin) for i, j in pairs}
    start = {name: mbvi.Initial(position=(*x, 0), velocity=(*v, 0)) for name, (x, v) in points.items()}
    other = run(
        mbvi.Model(name="points", bodies=bodies, joints=free, constraints=rods, initial=start), "gauss4", 0.005, 2.0
    )
    for rod, name in (("rod1", "a"), ("rod2", "c"), ("rod3", "b")):
        np.testing.assert_allclose(found.pose(rod)[0], other.pose(name)[0], rtol=0, atol=1e-8)
    check_round_off(found, 1e-9)


def carrier(mass):
    """A four-bar of light bars that carries a pendulum, which alone has mass in the limit."""
    model = four_bar()
    bodies = {name: bar(length, mass) for name, length in BARS.items() if name != "ground"} | {"bob": bar(0.5)}
    joints = {**model.joints, "hang": hinge("coupler", "bob", 1.1)}
    return mbvi.Model(
        name="carrier", bodies=bodies, joints=joints, initial={**model.initial, "hang": mbvi.Initial(position=-1)}
    )


@pytest.mark.parametrize("where", ["tree", "embedding", "shaft cut", "hang cut"])
@pytest.mark.parametrize("scheme", ["midpoint", "simpson"])
def test_limit_of_light_bars(where, scheme):
    """As the mass of the bars tends to 0, the motion tends to that of massless ones."""
    ends, masses = [], [0.0, 1e-5, 3e-6, 1e-6]
    for mass in masses:
        model, formulation = everywhere(carrier(mass) if mass else without_mass(carrier(1), BARS.keys() - {"ground"}))[
            where
        ]
        ends.append(directions(run(model, scheme, 0.001, 0.15, formulation), ["bob", "coupler"])[-1])
    differences = [np.abs(end - ends[0]).max() for end in ends[1:]]
    assert convergence_order(differences, masses[1:]) == pytest.approx(1, abs=0.05)


def spatial_linkage(low, high):
    """Two boxes on crossed axes, and between them a massless rod along z on two joints."""
    box = mbvi.Body(mass=1, center_of_mass=(0.1, 0, 0.2), inertia=(0.1, 0.12, 0.07))
    ends = {"point_a": (0.2, 0, 0.3), "point_b": (0.1, 0.1, 0.25)}
    joints = {
        "first": mbvi.Revolute(parent="world", child="a", axis=(0, 1, 0)),
        "second": mbvi.Revolute(parent="world", child="b", axis=(1, 0, 0), position=(0.3, 0.2, 1.3)),
    }
    initial = {"first": mbvi.Initial(position=0.3, velocity=1, hold=True)}
    if low is None:
        rod = {"rod": mbvi.Distance(body_a="a", body_b="b", length=1.2, **ends)}
        return mbvi.Model(name="rod", bodies={"a": box, "b": box}, joints=joints, constraints=rod, initial=initial)
    kinds = {"ball": (mbvi.Ball, {}), "universal": (mbvi.Universal, {"axes": ((1, 0, 0), (0, 1, 0))})}
    joints |= {
        "low": kinds[low][0](parent="a", child="rod", position=ends["point_a"], **kinds[low][1]),
        "high": kinds[high][0](parent="rod", child="b", position=(0, 0, 1.2), offset=ends["point_b"], **kinds[high][1]),
    }
    bodies = {"a": box, "b": box, "rod": mbvi.Body()}
    return mbvi.Model(name="spatial", bodies=bodies, joints=joints, initial=initial)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(("low", "high"), [("ball", "universal"), ("universal", "ball")])
def test_massless_rod_in_space(low, high, formulation):
    """The boxes move as at a constant distance of two points; the rod's turn about itself follows from the universal joint."""
    found = run(spatial_linkage(low, high), "gauss4", 0.005, 1.0, formulation)
    other = run(spatial_linkage(None, None), "gauss4", 0.005, 1.0)
    for name in "ab":
        assert np.ptp(other.pose(name)[1]) > 0.3
        np.testing.assert_allclose(found.pose(name)[1], other.pose(name)[1], rtol=0, atol=1e-9)
    check_round_off(found)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_massless_rod_that_nothing_keeps_from_turning(formulation):
    with pytest.raises(mbvi.ModelError, match=r"joints\.low: expected a regular mass matrix at the start, found a"):
        run(spatial_linkage("ball", "ball"), "midpoint", 0.005, 0.1, formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_massless_body_that_hangs_loose_on_a_loop(formulation):
    model = without_mass(four_bar(), ["coupler", "tail"])
    joints = model.joints | {"loose": hinge("coupler", "tail", 0.2)}
    with pytest.raises(mbvi.ModelError, match=r"joints\.loose: expected mass or inertia that the joint moves, found"):
        run(mbvi.Model(**{**dict(model), "joints": joints}), "midpoint", 0.005, 0.1, formulation)


# --------------------------------------------------------------------------------- through in-line positions


def change_point(lengths, start, rate, gravity=GRAVITY):
    """A four-bar of bars (ground, crank, coupler, rocker) that can come into one line, its crank at `start`."""
    ground, a, b, c = lengths
    dx, dz = ground - a * np.cos(start), -a * np.sin(start)
    d = np.hypot(dx, dz)
    phi = np.arctan2(dz, dx) + np.arccos((b**2 + d**2 - c**2) / (2 * b * d))
    psi = np.arctan2(a * np.sin(start) + b * np.sin(phi), a * np.cos(start) + b * np.cos(phi) - ground)
    joints = {
        "shaft": hinge("world", "crank"),
        "crank pin": hinge("crank", "coupler", a),
        "support": hinge("world", "rocker", ground),
        "rocker pin": hinge("coupler", "rocker", b, offset=(c, 0, 0)),
    }
    initial = {
        "shaft": mbvi.Initial(position=start, velocity=rate, hold=True),
        "crank pin": mbvi.Initial(position=phi - start),
        "support": mbvi.Initial(position=psi),
    }
    bodies = {"crank": bar(a), "coupler": bar(b), "rocker": bar(c)}
    return mbvi.Model(name="change point", gravity=(0, 0, -gravity), bodies=bodies, joints=joints, initial=initial)


@pytest.mark.parametrize("start", [(-60, -120), (-1, -179), (60, -120), (170, 10)])
def test_what_is_left_of_a_loop_that_cannot_close(start):
    """Two bars of 1 m from supports 3 m apart: their ends can come as near as 1 m, from wherever they start."""
    joints = {"A": hinge("world", "a"), "B": hinge("world", "b", 3.0), "C": hinge("a", "b", 1.0, offset=(1.0, 0, 0))}
    initial = {name: mbvi.Initial(position=np.radians(angle)) for name, angle in zip("AB", start, strict=True)}
    model = mbvi.Model(name="apart", bodies={"a": bar(1.0), "b": bar(1.0)}, joints=joints, initial=initial)
    with pytest.raises(mbvi.ModelError, match=r"joints\.C: .* found 1 m left in the loop a - world - b - a;"):
        mbvi.simulate(model)


def check_parallelogram(found, atol):
    """The coupler's turn; atol of all states, or one of each."""
    turned = directions(found, ["coupler"])[:, 0]
    assert np.all(np.abs(turned - (1.0, 0.0)).max(axis=1) < atol)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    ("scheme", "step", "landings"),
    [("midpoint", 0.01, 3), ("simpson", 0.005, 3), ("simpson", 0.01, 1), ("gauss3", 0.005, 3)],
)
@pytest.mark.parametrize("gravity", [GRAVITY, 0.0])
def test_parallelogram_stays_one(formulation, scheme, step, landings, gravity):
    """Through three or more in-line positions, in the tree without gravity exactly onto them, or onto the first at least.

    There it could go on as an antiparallelogram as well. Exactly in line |g| is of the order of the square of the coupler's turn:
    one rounding of g leaves a turn of √(2 ε) = 2e-8 (in the embedding; measured 1e-8, and 2.15e-8 at most at 150 starts that
    differ by 1e-13; 9e-11 elsewhere), and a large step in the tree, which rounds it to 1e-14, one of 2e-7. To undo that in the
    next one changes the speed by 2e-7/h, 3e-6 of it, and the energy by 1.4e-5, which moves later landings; rounding says which
    one does.
    """
    found = run(change_point((1, 0.5, 1, 0.5), np.pi / 2, 2 * np.pi, gravity), scheme, step, 2.0, formulation)
    crank = directions(found, ["crank"])[:, 0]
    is_exact = formulation == "tree" and not gravity
    if is_exact:
        assert np.count_nonzero(np.abs(crank[:, 1]) < 1e-6) >= landings
    assert np.count_nonzero(np.diff(np.sign(crank[:, 1] - 1e-6))) >= 3
    one_rounding = np.where(np.abs(crank[:, 1]) < 1e-6, np.sqrt(2 * np.finfo(float).eps), 1e-8)
    check_parallelogram(found, 1e-6 if is_exact else one_rounding)
    energy = found.energy()
    allowed = {"midpoint": 1e-2, "simpson": 1e-5, "gauss3": 1e-5}[scheme] + (1e-4 if is_exact else 0.0)
    assert np.ptp(energy) < allowed * energy[0]


@pytest.mark.parametrize("beside", [0.0, 1e-10, 1e-8, 1e-6])
@pytest.mark.parametrize("scheme", ["simpson", "gauss3"])
def test_in_line_positions_at_small_steps(scheme, beside):
    """A step of 1 ms ends in line, or so many radians beside: it goes on to round-off. Measured: turns 2e-10, energy 7e-12."""
    found = run(change_point((1, 0.5, 1, 0.5), np.pi / 2 + beside, 2 * np.pi, 0.0), scheme, 0.001, 2.0)
    check_parallelogram(found, 1e-9)
    assert np.ptp(found.energy()) < 1e-10 * found.energy()[0]
    angle = found.q[:, found.system.coordinate_names.index("shaft.angle")]
    np.testing.assert_allclose(angle, angle[0] + 2 * np.pi * found.t, rtol=0, atol=1e-9)


def smooth_branch(lengths):
    """The crank's angle s, and of it the angles of the bars where ground and crank are as long as coupler and rocker.

    With d the distance from the crank's end to the support and β the angle there between it and the coupler,
    (b + c)² − d² = 4 g a cos²(s/2), so that b d sin β = cos(s/2) √(g a (d² − (b − c)²)): smooth through s = π, where the
    bars are in line and the linkage changes sides.
    """
    ground, a, b, c = map(sympy.Float, lengths)
    s = sympy.Symbol("s")
    dx, dz = ground - a * sympy.cos(s), -a * sympy.sin(s)
    square = dx**2 + dz**2
    side = sympy.cos(s / 2) * sympy.sqrt(ground * a * (square - (b - c) ** 2))
    phi = sympy.atan2(dz, dx) + sympy.atan2(side, (b**2 + square - c**2) / 2)
    x, z = a * sympy.cos(s) + b * sympy.cos(phi) - ground, a * sympy.sin(s) + b * sympy.sin(phi)
    return s, (s, phi, sympy.atan2(z, x))


@cache
def exact_change_point(lengths, rate, times):
    """Angles (times, 3) of the bars on the smooth branch, their crank at 90° at the start."""
    s, angles = smooth_branch(lengths)
    ground, a, b, c = map(sympy.Float, lengths)
    (_, phi, psi), middles = angles, []
    for x, length, angle in ((0, a, s), (a, b, phi), (ground, c, psi)):
        at = (x * sympy.cos(s), x * sympy.sin(s)) if angle is phi else (x, 0)
        middles.append((at[0] + length / 2 * sympy.cos(angle), 0, at[1] + length / 2 * sympy.sin(angle)))
    parts = [(m, m**3 / 12, middle, angle) for m, middle, angle in zip((a, b, c), middles, angles, strict=True)]
    theta, _ = reduced(s, parts, (np.pi / 2, rate), np.array(times))
    return np.array(sympy.lambdify(s, angles)(theta)).T


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("lengths", [(0.9, 0.5, 0.8, 0.6), (1.0, 0.4, 0.7, 0.7)])
@pytest.mark.parametrize(("scheme", "step", "rate"), [("simpson", 0.002, 6.0), ("gauss3", 0.0025, 9.3)])
def test_four_bar_changes_sides(formulation, lengths, scheme, step, rate):
    """Through several in-line positions, or as far as a StepError, the motion is that of the smooth branch."""
    model = change_point(lengths, np.pi / 2, rate)
    try:
        found = run(model, scheme, step, 2.0, formulation)
    except mbvi.StepError as error:
        found = error.trajectory
    angles = exact_change_point(lengths, rate, tuple(found.t))
    assert np.any(np.diff(np.sign(np.cos(angles[:, 0] / 2))))
    exact = np.stack([np.cos(angles), np.sin(angles)], axis=2)
    np.testing.assert_allclose(
        directions(found), exact, rtol=0, atol=2e-6
    )  # measured: 4e-7 with simpson, 8e-9 with gauss3


# ------------------------------------------------------------------------------------------ other constraints


def wheel(inertia, mass=1.0):
    return mbvi.Body(mass=mass, inertia=(inertia, inertia, inertia))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_gears(formulation):
    """Two wheels, the second turning −5/2 times as fast, under a torque on the first: a constant acceleration.

    The Lagrangian is quadratic in the tree, and all schemes are exact; in quaternions gauss4 is to 1e-9.
    """
    wheels = {"driver": wheel(0.3), "driven": wheel(0.05)}
    joints = {
        name: mbvi.Revolute(parent="world", child=name, axis=(0, 0, 1), position=(x, 0, 0))
        for name, x in zip(wheels, (0, 1), strict=True)
    }
    model = mbvi.Model(
        name="gears",
        bodies=wheels,
        joints=joints,
        forces={"motor": mbvi.JointForce(joint="driver", value=2.0)},
        constraints={"mesh": mbvi.Coupling(joint_a="driver", joint_b="driven", ratio=-2.5, offset=0.1)},
        initial={
            "driver": mbvi.Initial(position=0.2, velocity=-1),
            "driven": mbvi.Initial(position=-0.4, velocity=2.5),
        },
    )
    found = run(model, "gauss4", 0.01, 2.0, formulation)
    t, names = found.t, found.system.coordinate_names
    exact = 0.2 - t + 0.5 * 2.0 / (0.3 + 2.5**2 * 0.05) * t**2
    driver, driven = (found.q[:, names.index(f"{name}.angle")] for name in wheels)
    np.testing.assert_allclose(driver, exact, rtol=0, atol=1e-12 if formulation == "tree" else 1e-9)
    np.testing.assert_allclose(driven, 0.1 - 2.5 * driver, rtol=0, atol=1e-13)
    for name, angle in (("driver", driver), ("driven", driven)):
        np.testing.assert_allclose(found.pose(name)[1][:, 0, 0], np.cos(angle), rtol=0, atol=1e-13)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_rack_and_pinion(formulation):
    """A rack that falls and turns a pinion: a = m g/(m + I/r²)."""
    mass, inertia, radius = 3.0, 0.02, 0.08
    model = mbvi.Model(
        name="rack",
        bodies={"rack": wheel(0.1, mass), "pinion": wheel(inertia)},
        joints={
            "slide": mbvi.Prismatic(parent="world", child="rack", axis=(0, 0, 1), position=(radius, 0, 0)),
            "shaft": mbvi.Revolute(parent="world", child="pinion", axis=(0, -1, 0)),
        },
        constraints={"teeth": mbvi.Coupling(joint_a="shaft", joint_b="slide", ratio=radius)},
    )
    found = run(model, "gauss4", 0.01, 0.5, formulation)
    fallen = 0.5 * mass * GRAVITY / (mass + inertia / radius**2) * found.t**2
    np.testing.assert_allclose(
        found.pose("rack")[0][:, 2], -fallen, rtol=0, atol=1e-13 if formulation == "tree" else 1e-9
    )
    turned = found.pose("pinion")[1][:, [0, 2], 0]
    exact = np.column_stack([np.cos(fallen / radius), -np.sin(fallen / radius)])
    np.testing.assert_allclose(turned, exact, rtol=0, atol=1e-12 if formulation == "tree" else 1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("scheme", ["midpoint", "gauss3"])
def test_prescribed_crank(formulation, scheme):
    """The crank's angle is its function of time at every stored state, coupler and rocker follow, to round-off."""
    model = four_bar()
    value = "pi/2 + 6*t + sin(3*t)/2"
    model = model.model_copy(
        update={"constraints": {"drive": mbvi.PrescribedCoordinate(joint="shaft", coordinate="angle", value=value)}}
    )
    model = mbvi.Model(**{**dict(model), "initial": {k: v for k, v in model.initial.items() if k != "shaft"}})
    found = run(model, scheme, 0.02, 2.0, formulation)
    assert found.system.degrees_of_freedom == 0
    s = sympy.Symbol("s")
    theta = np.pi / 2 + 6 * found.t + np.sin(3 * found.t) / 2
    angles = np.array(sympy.lambdify(s, (s, *four_bar_in_closed_form(s)))(theta)).T
    np.testing.assert_allclose(
        directions(found), np.stack([np.cos(angles), np.sin(angles)], axis=2), rtol=0, atol=1e-12
    )


BEAD = {
    "parabola": ("s", 0, "s**2"),
    "helix": ("cos(s)", "sin(s)", "s/5"),
    "knot": ("sin(s) + 2*sin(2*s)", "cos(s) - 2*cos(2*s)", "-sin(3*s)"),
}


BEAD_START = 0.8, 0.5  # parameter and rate


def bead(curve, start, rate, is_point=True):
    """A bead on a curve; if it is not a point, it is a ball that turns freely beside."""
    s = sympy.Symbol("s")
    place = [sympy.sympify(x) for x in curve]
    velocity = [float(rate * sympy.diff(x, s).subs(s, start)) for x in place]
    inertia = (0, 0, 0) if is_point else (0.1, 0.1, 0.1)
    return mbvi.Model(
        name="bead",
        bodies={"bead": mbvi.Body(mass=0.7, inertia=inertia)},
        joints={"free": mbvi.Free(parent="world", child="bead")},
        constraints={"wire": mbvi.PointOnCurve(curve=curve, body_b="bead", start=start)},
        initial={
            "free": mbvi.Initial(
                position=(*(float(x.subs(s, start)) for x in place), 1, 0, 0, 0), velocity=(*velocity, 0, 0, 0)
            )
        },
    )


@pytest.mark.parametrize("curve", BEAD)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_bead_on_a_wire(curve, formulation):
    """Against the equation of its one coordinate, the parameter of the curve."""
    check_bead(curve, run(bead(BEAD[curve], *BEAD_START, is_point=False), "gauss4", 0.005, 2.0, formulation))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_bead_that_starts_at_a_rate_of_its_parameter(formulation):
    """The parameter keeps its rate, and the bead, given at rest, moves along: without it the bead's velocity counts."""
    start, rate = BEAD_START
    model = bead(BEAD["knot"], start, rate, is_point=False)
    place = mbvi.Initial(position=model.initial["free"].position)
    wire = model.constraints["wire"].model_copy(update={"start_rate": rate})
    given = mbvi.Model(**{**dict(model), "constraints": {"wire": wire}, "initial": {"free": place}})
    check_bead("knot", run(given, "gauss4", 0.005, 2.0, formulation))
    resting = mbvi.Model(**{**dict(model), "initial": {"free": place}})
    np.testing.assert_allclose(run(resting, duration=0.01, formulation=formulation).v[0], 0, rtol=0, atol=1e-14)
    held = mbvi.Initial(position=place.position, velocity=(0, 0, 0, 0, 0, 0), hold=True)
    torn = mbvi.Model(**{**dict(given), "initial": {"free": held}})
    with pytest.raises(mbvi.ModelError, match=r"^constraints\.wire: expected constraints that some velocity satisfies"):
        run(torn, formulation=formulation)


@pytest.mark.parametrize("curve", ["helix", "knot"])
def test_point_on_a_wire(curve):
    """A point mass in the embedding, with three coordinates and the parameter of the curve."""
    found = run(bead(BEAD[curve], *BEAD_START), "gauss4", 0.005, 2.0, "embedding")
    assert found.system.coordinate_names == ("bead.x", "bead.y", "bead.z", "wire.s")
    check_bead(curve, found)


def check_bead(curve, found):
    s = sympy.Symbol("s")
    place = [sympy.sympify(x) for x in BEAD[curve]]
    exact, _ = reduced(s, [(0.7, 0, place, 0)], BEAD_START, found.t)
    assert np.ptp(exact) > 0.7
    expected = np.column_stack([np.broadcast_to(x, exact.shape) for x in sympy.lambdify(s, place)(exact)])
    np.testing.assert_allclose(found.q[:, :3], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.q[:, found.system.coordinate_names.index("wire.s")], exact, rtol=0, atol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_bead_on_a_line(formulation):
    """Down a line inclined by asin(2/3): a quadratic function of time, exact to round-off."""
    direction = np.array([2.0, 1.0, -2.0]) / 3
    made = bead(BEAD["parabola"], 0.0, 0.0, is_point=False)
    line = mbvi.PointOnLine(body_a="world", point_a=(0, 0, 0), body_b="bead", point_b=(0, 0, 0), direction=direction)
    model = mbvi.Model(**{**dict(made), "constraints": {"line": line}, "initial": {}})
    found = run(model, "simpson", 0.01, 1.0, formulation)
    slid = 0.5 * GRAVITY * 2 / 3 * found.t**2
    place = found.q[:, :3]
    np.testing.assert_allclose(place, slid[:, None] * direction, rtol=0, atol=1e-12)


def ladder(constraints, start=1.2):
    """A rod of 2 m against a wall at x = 0, on a floor z = 0, at an angle to the floor."""
    body = mbvi.Body(mass=2, inertia=(0.01, 2 * 4 / 12, 2 * 4 / 12))
    joint = mbvi.Planar(parent="world", child="rod", normal=(0, -1, 0), x_axis=(1, 0, 0))
    turned = mbvi.Initial(position=(np.cos(start), np.sin(start), np.pi - start))
    return mbvi.Model(
        name="ladder", bodies={"rod": body}, joints={"plane": joint}, constraints=constraints, initial={"plane": turned}
    )


FLOOR = mbvi.PointOnPlane(body_a="world", point_a=(0, 0, 0), body_b="rod", point_b=(-1, 0, 0), normal=(0, 0, 1))
WALL = mbvi.PointOnLine(body_a="world", point_a=(0, 0, 0), body_b="rod", point_b=(1, 0, 0), direction=(0, 0, 1))


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("has_wall", [False, True])
def test_falling_rod(formulation, has_wall):
    """A rod with one end on the floor, and with the other on the wall, which adds a redundant constraint."""
    model = ladder({"floor": FLOOR, "wall": WALL} if has_wall else {"floor": FLOOR})
    found = run(model, "gauss4", 0.005, 0.8, formulation)
    assert (found.system.mobility.degrees_of_freedom, found.system.mobility.redundant) == (
        (1, 1) if has_wall else (2, 0)
    )
    s = sympy.Symbol("s")
    middle = (sympy.cos(s) if has_wall else 0, 0, sympy.sin(s))
    angle, _ = reduced(s, [(2, 8 / 12, middle, s)], (1.2, 0), found.t)
    assert angle[-1] < 0.5
    place, R = found.pose("rod")
    x = np.cos(angle) if has_wall else np.full(len(angle), np.cos(1.2))
    np.testing.assert_allclose(place, np.column_stack([x, 0 * x, np.sin(angle)]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(R[:, :, 0], np.column_stack([-np.cos(angle), 0 * x, np.sin(angle)]), rtol=0, atol=1e-9)


# ------------------------------------------------------------------------------------------------- MuJoCo

OPTIONS = """<option timestep="{step}" integrator="RK4" gravity="0 0 -9.81" iterations="200" tolerance="1e-14"/>
  <default><equality solref="{stiff} 1" solimp="0.9999 0.9999 0.001 0.5 2"/></default>"""


def mujoco_places(xml, names, step, duration, place=None, rates=None):
    """Places of bodies at the end of a run of MuJoCo with RK4, its loops as stiff as the step allows."""
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{OPTIONS.format(step=step, stiff=2 * step)}{xml}</mujoco>")
    data = mujoco.MjData(model)
    data.qpos[:] = data.qpos if place is None else place
    data.qvel[:] = rates
    mujoco.mj_step(model, data, round(duration / step))
    mujoco.mj_forward(model, data)
    return np.array([data.body(name).xpos for name in names])


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


def ring(count, radius=0.5):
    """Rods with ball joints along a polygon that hangs on a corner, and the tree of it in MuJoCo's words.

    Rates are at random, along the loop.
    """
    turns = 2 * np.pi * np.arange(count) / count
    corners = radius * np.column_stack([0 * turns, np.sin(turns), np.cos(turns) - 1])
    arms = np.roll(corners, -1, axis=0) - corners
    bodies, joints, xml = {}, {}, ""
    for i, arm in enumerate(arms):
        mass, inertia = 1 + i / 10, 0.01 * np.eye(3) + 0.05 * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        bodies[f"b{i}"] = mbvi.Body(mass=mass, center_of_mass=arm / 2, inertia=inertia)
        place = arms[i - 1] if i else corners[0]
        joints[f"j{i}"] = mbvi.Ball(parent=f"b{i - 1}" if i else "world", child=f"b{i}", position=place)
        inertias = numbers(inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        xml += f"""<body name="b{i}" pos="{numbers(place)}"><joint type="ball"/>
          <inertial pos="{numbers(arm / 2)}" mass="{mass}" fullinertia="{inertias}"/>"""
    last = f"b{count - 1}"
    joints["clasp"] = mbvi.Ball(parent=last, child="world", position=arms[-1], offset=corners[0], cut=True)
    xml = f"""<worldbody>{xml}{"</body>" * count}</worldbody>
      <equality><connect body1="{last}" anchor="{numbers(arms[-1])}"/></equality>"""
    # with all frames parallel, the absolute rates w_i close the loop if the sum of w_i × arm_i is 0; arms_i in the plane x = 0
    w = np.random.default_rng(2).normal(size=(count, 3))
    crosses = np.hstack([-np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]]) for a in arms])
    w = (w.ravel() - np.linalg.pinv(crosses) @ (crosses @ w.ravel())).reshape(count, 3)
    omega = np.diff(w, axis=0, prepend=np.zeros((1, 3)))
    initial = {f"j{i}": mbvi.Initial(velocity=each) for i, each in enumerate(omega)}
    return mbvi.Model(name="ring", bodies=bodies, joints=joints, initial=initial), xml, omega.ravel()


def check_against_mujoco(found, steps, xml, names, *start):
    """MuJoCo's loops are springs with a time constant of two steps: the difference falls about as the square of the step."""
    places = np.array([found.pose(name)[0][-1] for name in names])
    errors = [np.abs(mujoco_places(xml, names, step, *start) - places).max() for step in steps]
    assert errors[-1] < 1e-7
    assert convergence_order(errors, steps) > 1.5


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_ring_against_mujoco(formulation):
    """Six rods in a ring, 1 s: 1.6e-8 m at MuJoCo's smallest step."""
    model, xml, rates = ring(6)
    found = run(model, "gauss3", 0.005, 1.0, formulation)
    names = list(model.bodies)
    assert np.abs(found.pose("b3")[0][-1] - found.pose("b3")[0][0]).max() > 0.2
    check_against_mujoco(found, (4e-4, 2e-4, 1e-4), xml, names, 1.0, None, rates)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_chain_of_ball_joints_against_mujoco(formulation):
    """The same rods without the clasp, an open chain in space, 1 s: 2e-8 m at MuJoCo's smallest step, by its own order 4."""
    model, xml, rates = ring(6)
    joints = {name: joint for name, joint in model.joints.items() if name != "clasp"}
    found = run(mbvi.Model(**{**dict(model), "joints": joints}), "gauss4", 0.0025, 1.0, formulation)
    assert np.ptp(found.pose("b5")[0], axis=0).min() > 0.2
    xml, names, steps = xml[: xml.index("<equality>")], list(model.bodies), (1e-3, 5e-4, 2.5e-4)
    places = np.array([found.pose(name)[0][-1] for name in names])
    errors = [np.abs(mujoco_places(xml, names, step, 1.0, None, rates) - places).max() for step in steps]
    assert errors[-1] < 1e-7
    assert convergence_order(errors, steps) == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_four_bar_against_mujoco(formulation):
    def link(name, x, inside=""):
        length = BARS[name]
        across = length**3 / 12
        return f"""<body name="{name}" pos="{x} 0 0"><joint axis="0 -1 0"/>
          <inertial pos="{length / 2} 0 0" mass="{length}" diaginertia="{across / 2} {across} {across}"/>
          <site name="{name}" pos="{length} 0 0"/>{inside}</body>"""

    xml = f"""<worldbody>{link("crank", 0, link("coupler", BARS["crank"]))}{link("rocker", BARS["ground"])}</worldbody>
      <equality><connect site1="coupler" site2="rocker"/></equality>"""
    angles, rates = (each[0] for each in exact_four_bar(400))
    relative = np.array([[1, 0, 0], [-1, 1, 0], [0, 0, 1]])  # angles of the joints from those of the bars
    found = run(four_bar(), "gauss4", 0.005, 2.0, formulation)
    start = relative @ angles, relative @ rates
    check_against_mujoco(found, (8e-4, 4e-4, 2e-4), xml, ["coupler"], 2.0, *start)
