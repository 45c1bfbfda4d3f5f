"""Newton's Jacobian of a step, by differences of its residual; four states at once, by one at a time."""

import numba
import numpy as np
import pytest

import mbvi
from mbvi.catalog import find_scheme
from mbvi.kernels import layout
from mbvi.kernels.algebra.saddle import UNCACHED
from mbvi.kernels.galerkin import equations as step_equations
from mbvi.kernels.galerkin import newton, simplified
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import fill_hessian, fill_hessians, make_lane_work, make_work
from mbvi.system.scheme import scheme_arrays
from tests.folders import MODELS

from ...benchmarks.systems import hung_chain
from ...system import mechanisms
from ..mechanics.test_derivatives import close, derivative

T, H = 0.4, 0.1
TIES = ("point on curve", "distance", "coupling", "prescribed coordinate", "driven distance", "point on plane")
GRAPHS = {
    "gravity": {"chords": ("ball", "universal"), "ties": TIES, "forces": ()},
    "forces": {"chords": ("ball", "universal"), "ties": TIES},
    "embedding": {"kinds": ("revolute", "ball", "free"), "chords": (), "ties": (), "formulation": "embedding"},
    "open": {"chords": (), "ties": (), "forces": (), "kinds": ("revolute", "prismatic", "screw", "universal")},
}


@numba.njit(error_model="numpy")
def fill_residual(system, scheme, work, space):
    simplified.fill_start_jacobian(system, scheme, work, space, T, H)
    step_equations.fill_residual(system, scheme, work, space, T, H)


@numba.njit(error_model="numpy")
def solve(system, scheme, work, space):
    """Whether the Jacobian is regular; the correction to the residual in space.R into space.delta."""
    is_regular = newton.factor_newton(system, scheme, work, space, T, H)
    newton.solve_newton(system, scheme, work, space, T, H)
    return is_regular


@numba.njit(error_model="numpy")
def solve_partitioned(system, scheme, work, space):
    """The same by coordinate partitioning."""
    is_regular = newton.factor_partitioned(system, scheme, work, space, T, H)
    newton.solve_partitioned(system, scheme, work, space, T, H)
    return is_regular


@pytest.mark.parametrize("name", ["simpson", "gauss3", "lobatto5", "gauss4", "gauss6"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_corrections(graph, name):
    """The correction to the change of a residual with the unknowns is the opposite of their change."""
    check_corrections(mbvi.assemble(mechanisms.random_graph(3, **GRAPHS[graph])), name, solve)


def legs(spring=False):
    """Two links on a cart, whose ends are held by a rod of a length that changes and by a coupling, and a pendulum."""
    bob = mbvi.Body(shapes=[mbvi.Cylinder(radius=0.1, length=1.0, mass=1.0)])
    hinges = {
        "left": mbvi.Revolute(parent="cart", child="left", axis=(0, 1, 0), position=(-0.5, 0, 0)),
        "right": mbvi.Revolute(parent="cart", child="right", axis=(0.2, 1, 0), position=(0.5, 0.1, 0)),
        "swing": mbvi.Revolute(parent="cart", child="swing", axis=(1, 0, 0.3)),
    }
    ends = {"body_a": "left", "body_b": "right", "point_a": (0, 0, -1), "point_b": (0, 0, -1)}
    forces = {"elastic": mbvi.Spring(body_a="swing", body_b="left", stiffness=30.0, rest_length=0.2, point_a=(0, 0, 1))}
    return mbvi.Model(
        name="legs",
        bodies=dict.fromkeys(("cart", "left", "right", "swing"), bob),
        joints={"track": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0.5)), **hinges},
        forces=forces if spring else {},
        constraints={
            "rod": mbvi.Distance(**ends, length="1 + 0.3*sin(t)"),
            "gear": mbvi.Coupling(joint_a="left", joint_b="track", ratio=2.0),
        },
    )


FEW = {
    "four-bar": lambda: mbvi.load(MODELS / "four_bar.yaml"),
    "slider-crank": lambda: mbvi.load(MODELS / "slider_crank.yaml"),
    "points": lambda: mbvi.load(MODELS / "double_spherical_pendulum.yaml"),
    "legs": legs,
    "legs with a spring": lambda: legs(True),
}


@pytest.mark.parametrize("name", ["lobatto4", "gauss3", "lobatto5", "gauss4"])
@pytest.mark.parametrize("model", FEW)
def test_corrections_by_partitioning(model, name):
    """The same of few coordinates with constraints."""
    system = mbvi.assemble(FEW[model]())
    assert make_space(system.arrays, scheme_arrays(find_scheme(name))).is_partitioned
    check_corrections(system, name, solve_partitioned)


@pytest.mark.parametrize(
    ("apart", "is_stretched", "is_regular"),
    [(0.5, False, True), (0.1, False, True), (0.003, False, False), (0.5, True, False)],
)
def test_no_partitioning_near_a_singular_configuration(apart, is_stretched, is_regular):
    """Two planes that hold the end of two bars are one almost, or the bars are in line at a control point within the step."""
    bar = mbvi.Body(shapes=[mbvi.Box(size=(0.1, 0.1, 1.0), mass=1.0)])
    hinges = {
        "shoulder": mbvi.Revolute(parent="world", child="upper", axis=(0, 1, 0)),
        "elbow": mbvi.Revolute(parent="upper", child="lower", axis=(0, 1, 0), position=(0, 0, -1)),
        "wrist": mbvi.Revolute(parent="lower", child="third", axis=(0, 1, 0), position=(0, 0, -1)),
    }
    normals = {"guide": (0, 0, 1), "other": (np.sin(apart), 0, np.cos(apart))}
    planes = {
        name: mbvi.PointOnPlane(body_a="world", body_b="third", normal=normal) for name, normal in normals.items()
    }
    bodies = dict.fromkeys(("upper", "lower", "third"), bar)
    parts = {"bodies": bodies, "joints": hinges, "constraints": planes}
    system = mbvi.assemble(mbvi.Model(name="toggle", loop_tolerance=0, **parts))  # the planes are meant
    scheme, arrays, work = scheme_arrays(find_scheme("gauss4")), system.arrays, make_work(system.arrays)
    space = make_space(arrays, scheme)
    assert space.is_partitioned
    space.q[:] = 0.5, 0.7, 0.3
    if is_stretched:
        space.z[4:8] = -0.7 * scheme.d[1:] / scheme.d[2]
    fill_residual(arrays, scheme, work, space)
    assert solve_partitioned(arrays, scheme, work, space) == is_regular


def check_corrections(system, name, solve):
    """What `solve` finds against differences of the residual, at random unknowns."""
    scheme = scheme_arrays(find_scheme(name))
    arrays, work = system.arrays, make_work(system.arrays)
    space = make_space(arrays, scheme)
    s, n, k = len(scheme.K), system.dimension, np.sum(arrays.constraints[:, layout.ENTRIES] > 0)
    assert k < n
    q, v = mechanisms.random_state(system, 1)
    space.q[:], space.p[:] = q, system.momentum(q, v, T)
    random, used = np.random.default_rng(2), np.zeros(len(space.z), bool)
    if space.has_velocities:
        used.reshape(n, -1)[:, :s] = True
    else:
        used[: n * s] = True
    for row in np.flatnonzero(arrays.row_nodes[:, 0] >= 0):
        used[space.behind + row * s : space.behind + (row + 1) * s] = True
    z, direction = np.where(used, random.normal(size=(2, len(space.z))), 0.0)
    if space.has_velocities:
        z[used] = (v[:, None] + 0.2 * random.normal(size=(n, s))).ravel()
    else:
        z[: n * s] = (H * np.outer(v, scheme.d[1:]) + 0.02 * random.normal(size=(n, s))).ravel()

    def residual(s):
        space.z[:] = z + s * direction
        fill_residual(arrays, scheme, work, space)
        return space.R.copy()

    change = derivative(residual, 2e-3)
    residual(0.0)
    space.z[:] = z
    assert not change[~used].any()
    space.R[:] = change
    assert solve(arrays, scheme, work, space)
    assert close(space.delta[used], -direction[used], 1e-7)


@pytest.mark.parametrize("count", [4, 3])
@pytest.mark.parametrize("forces", [(), None], ids=["gravity", "forces"])
def test_second_derivatives_at_four_states(forces, count):
    system = mbvi.assemble(mechanisms.random_tree(5, forces=forces))
    arrays, work, times = system.arrays, make_work(system.arrays), T + np.arange(float(count))
    states = np.array([mechanisms.random_state(system, seed) for seed in range(4)])
    q, v = (np.ascontiguousarray(np.moveaxis(states[:, i], 0, -1)) for i in range(2))
    found = np.zeros((4, arrays.second_size * 4))
    lane_work = make_lane_work(arrays, True)
    fill_four(found, arrays, work, lane_work, times, q, v)
    for lane in range(count):
        expected = np.zeros((4, arrays.second_size))
        fill_hessian(*expected, arrays, work, times[lane], *(each[:, lane].copy() for each in (q, v)))
        assert close(found[:, lane::4], expected, 1e-13)


@numba.njit(error_model="numpy")
def fill_four(out, system, work, lane_work, times, q, v):
    fill_hessians(out[0], out[1], out[2], out[3], system, work, lane_work, times, q, v)


def test_a_function_is_not_asked_beyond_the_control_points():
    """Where three points share four lanes, the fourth is the step's start, at which the function of a coordinate is defined."""
    ball = mbvi.Body(shapes=[mbvi.Sphere(radius=0.1, mass=1.0)])
    planar = {name: mbvi.Planar(parent="world", child=name, normal=(0, 0, 1)) for name in "ab"}
    curves = {
        "root": mbvi.PointOnCurve(body_b="a", curve=("s", "sqrt(s)", 0.0), start=0.3),
        "line": mbvi.PointOnCurve(body_b="b", curve=("s", 0.0, 0.0)),
    }
    initial = {
        "a": mbvi.Initial(position=(0.3, np.sqrt(0.3), 0.0), velocity=(0.1, 0.0, 0.0)),
        "b": mbvi.Initial(velocity=(-200.0, 0.0, 0.0)),
    }
    bodies = {"a": ball, "b": ball}
    model = mbvi.Model(name="root", bodies=bodies, joints=planar, constraints=curves, initial=initial)
    run = mbvi.simulate(model, "gauss3", step=0.01, duration=0.5)
    x, y = run.q[:, :2].T
    assert np.abs(y - np.sqrt(x)).max() < 1e-14


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_large_systems_have_room_for_the_curvature(formulation):
    """Their second derivatives are evaluated at one node at a time, their constraints' curvature at four points at once."""
    system = mbvi.assemble(hung_chain(1400 if formulation == "embedding" else 70, "ball"), formulation)
    assert system.arrays.second_size >= UNCACHED
    space = make_space(system.arrays, scheme_arrays(find_scheme("simpson")))
    assert space.hessian_lanes == 1
    assert space.lane_work.world.shape[0] == len(system.arrays.links)
    assert space.lane_work.impulse.shape[0] == system.constraint_count
