"""Every scheme's step is a symplectic map: by exact differentiation, and on constraints by differences."""

import numpy as np
import pytest

import mbvi
from mbvi.analysis.symplecticity import step_map_jacobian, symplecticity_defect
from mbvi.schemes.galerkin import TABLEAUX
from tests.marks import pairs

from ..system import mechanisms
from . import systems

SCHEMES = list(TABLEAUX)
STEP = 0.05


def free_tree(forces=mechanisms.POTENTIAL):
    return systems.tree(forces, kinds=("revolute", "prismatic", "screw", "universal", "ball euler"), seed=5)


UNCONSTRAINED = {
    "double pendulum": lambda: systems.case("double pendulum").system,
    "top, Euler angles": lambda: systems.case("top, Euler angles").system,
    "elastic pendulum": lambda: systems.case("elastic pendulum").system,
    "tree": free_tree,
}


def state(system, seed=0):
    """Coordinates near the initial ones, and momenta."""
    random = np.random.default_rng(seed)
    q = system.initial_q + 0.2 * random.normal(size=system.dimension)
    return q, system.momentum(q, random.normal(size=system.dimension))


def step(system, scheme, q, p, t=0.0, h=STEP):
    """One step of the solver, (q, p) → (q', p')."""
    v = system.velocities(np.array([t]), q[None], p[None])[0]
    end = mbvi.simulate(system, scheme, step=h, duration=h, initial_q=q, initial_v=v, start_time=t)
    return np.concatenate([end.q[-1], end.p[-1]])


def derivative(function, size=1e-2):
    """Derivative at s = 0 of a function of s, by central differences of order 10."""
    weights = (5 / 6, -5 / 21, 5 / 84, -5 / 504, 1 / 1260)
    return sum(w * (function(i * size) - function(-i * size)) for i, w in enumerate(weights, 1)) / size


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", UNCONSTRAINED)
def test_step_is_symplectic(name, scheme):
    system = UNCONSTRAINED[name]()
    J = step_map_jacobian(system, scheme, STEP, *state(system))
    assert symplecticity_defect(J) < 1e-12 * np.abs(J).max() ** 2


@pytest.mark.parametrize(
    ("scheme", "name"), pairs(["midpoint", "simpson", "lobatto6", "gauss4", "kahan_li6"], UNCONSTRAINED)
)
def test_jacobian_is_that_of_the_step_taken(scheme, name):
    system = UNCONSTRAINED[name]()
    q, p = state(system)
    x = np.concatenate([q, p])
    n = len(q)
    columns = [
        derivative(lambda s, e=e: step(system, scheme, *np.split(x + s * e, [n])), size=2e-3) for e in np.eye(2 * n)
    ]
    J = step_map_jacobian(system, scheme, STEP, q, p)
    assert np.abs(np.array(columns).T - J).max() < 1e-10 * np.abs(J).max()


def test_jacobian_is_that_of_the_step_taken_with_forces():
    system = free_tree(mechanisms.POTENTIAL + mechanisms.OTHER)
    q, p = state(system)
    x, n, t = np.concatenate([q, p]), len(q), 0.7
    columns = [
        derivative(lambda s, e=e: step(system, "gauss2", *np.split(x + s * e, [n]), t), size=2e-3)
        for e in np.eye(2 * n)
    ]
    J = step_map_jacobian(system, "gauss2", STEP, q, p, t)
    assert np.abs(np.array(columns).T - J).max() < 1e-10 * np.abs(J).max()


def test_damped_step_is_not_symplectic():
    system = free_tree(("joint damper",))
    assert symplecticity_defect(step_map_jacobian(system, "simpson", STEP, *state(system))) > 1e-3


def test_runge_kutta_step_is_not_symplectic():
    system = systems.case("elastic pendulum").system

    def rates(x):
        q, p = np.split(x, 2)
        v = system.velocities(np.zeros(1), q[None], p[None])[0]
        return np.concatenate([v, system.gradient(q, v)[1]])

    def explicit_midpoint(x, h=0.1):
        return x + h * rates(x + h / 2 * rates(x))

    x = np.concatenate(state(system))
    J = np.array([derivative(lambda s, e=e: explicit_midpoint(x + s * e)) for e in np.eye(len(x))]).T
    assert symplecticity_defect(J) > 1e-3


def test_symplectic_jacobian_refuses_constraints():
    with pytest.raises(mbvi.ModelError, match="without constraints, found 1 in 'spherical pendulum'"):
        step_map_jacobian(systems.spherical_pendulum(), "simpson", STEP, [1, 0, 0], [0, 1, 0])


# Unit vectors of constraints |a| = 1, and momenta across them: p·a = 0 (for a unit quaternion this is the range of M).

ON_SPHERES = {
    "spherical pendulum": [slice(0, 3)],
    "top, quaternion": [slice(0, 4)],
    "tree with springs": None,
}


def retract(parts, q, p):
    q, p = q.copy(), p.copy()
    for part in parts:
        q[part] /= np.linalg.norm(q[part])
        p[part] -= (q[part] @ p[part]) * q[part]
    return q, p


@pytest.mark.parametrize(("scheme", "name"), pairs(SCHEMES, ON_SPHERES, whole=("midpoint", "simpson")))
def test_step_is_symplectic_on_constraints(scheme, name):
    system = systems.case(name).system
    parts = ON_SPHERES[name] or [slice(i, i + 4) for i in mechanisms.quaternions(system)]
    q, v = system.initial_q, system.initial_v
    q, p = retract(parts, q, system.momentum(q, v))
    n = len(q)
    directions = np.random.default_rng(1).normal(size=(4, 2, n)) * [[[1.0], [max(1.0, np.abs(p).max())]]]

    def at(direction, s):
        return retract(parts, q + s * direction[0], p + s * direction[1])

    size = 4e-3
    before = [derivative(lambda s, d=d: np.concatenate(at(d, s)), size) for d in directions]
    after = [derivative(lambda s, d=d: step(system, scheme, *at(d, s)), size) for d in directions]

    def form(a, b):
        return a[:n] @ b[n:] - a[n:] @ b[:n]

    pairs = [(i, j) for i in range(4) for j in range(i)]
    defects = [abs(form(after[i], after[j]) - form(before[i], before[j])) for i, j in pairs]
    scale = max(np.linalg.norm(x[:n]) for x in after) * max(np.linalg.norm(x[n:]) for x in after)
    assert max(defects) < 1e-10 * scale
    assert max(abs(form(before[i], before[j])) for i, j in pairs) > 1e-2 * scale
