"""Short runs that call nearly all kernels: `python -m tests.kernels.interpreted [N]` prints what each, or each N-th, ends with.

With NUMBA_DISABLE_JIT=1 kernels are Python, of which coverage tells what these runs reach.
"""

import json
import sys
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

import mbvi
from tests.folders import load
from tests.system import mechanisms

STEPS = 2
MODELS = (
    ("lagrange_top", "simpson", 0.01),
    ("free_rigid_body", "gauss2", 0.01),
    ("spring_damper", "suzuki4", 0.01),
    ("gantry_crane", "lobatto4", 0.05),
    ("chain_10", "midpoint", 0.002),
    ("branched_tree", "midpoint", 0.005),
    ("double_pendulum", "gauss6", 0.05),
    ("double_pendulum", "rk4", 0.01),
    ("double_pendulum", "direct_midpoint", 0.01),
    ("spring_damper", "midpoint_variation", 0.01),
    ("double_spherical_pendulum", "energy_momentum", 0.05),
    ("double_spherical_pendulum", "rattle", 0.05),
    ("double_pendulum", "chorin", 0.01),
    ("heavy_top_quaternion", "blanes_moan4", 0.01),
    ("free_rigid_body", "splitting", 0.1),
    ("four_bar", "simpson", 0.01),
    ("four_bar", "independent4", 0.01),
    ("slider_crank", "gauss3", 0.01),
    ("bricard", "midpoint", 0.01),
    ("bricard", "independent6", 0.01),
    ("stewart_platform", "gauss2", 0.01),
    ("bicycle", "midpoint", 0.01),
    ("rattleback", "midpoint", 0.01),
)
EMBEDDED = ("four_bar", "lagrange_top", "chain_10")
LOOPS = (("ball", "tree"), ("screw", "tree"), ("universal", "tree"), ("universal", "embedding"))
ALL_FORCES = mechanisms.POTENTIAL + mechanisms.OTHER


def mass(q, M):
    M[0, 0] = 1.0 + q[0] ** 2
    M[1, 1] = 1.0


def potential(q):
    return q[0] ** 4 + q[1]


def force(t, q, v, F):
    F[0] -= 0.1 * v[0]


def unit_circle(q, g):
    g[0] = q[0] ** 2 + q[1] ** 2 - 1.0


def ended(model: mbvi.Model | mbvi.System, scheme: str, step: float, **options: object) -> list[float]:
    """What a run ends with."""
    run = mbvi.simulate(model, scheme, step=step, duration=STEPS * step, **options)
    return [*run.q[-1], *run.v[-1], float(run.energy()[-1])]


def analysed(system: mbvi.System) -> list[float]:
    """Accelerations, and forces of joints, of the first steps."""
    run = mbvi.simulate(system, "midpoint", step=0.01, duration=STEPS * 0.01)
    found = [system.acceleration(run.q[-1], run.v[-1], run.t[-1])]
    found += [np.asarray(each).ravel() for each in system.second_derivatives(run.q[-1], run.v[-1], run.t[-1])]
    return [float(x) for each in found for x in np.ravel(each)]


def asked(system: mbvi.System, *actuated: str) -> list[float]:
    """Kinematics and dynamics of a state with random rates, and their derivatives; on loops of what is driven."""
    random, drives = np.random.default_rng(6), {"actuated": actuated} if actuated else {}
    q, v, a = system.project_state(system.initial_q, *random.normal(size=(2, system.nv)))
    frame, forces = system.body_names[-1], system.inverse_dynamics(q, v, a, **drives)
    found = [forces, system.forward_dynamics(q, v, forces)]
    found += [*system.inverse_dynamics_derivatives(q, v, a, **drives)]
    found += [*system.forward_dynamics_derivatives(q, v, forces)]
    found += [*system.frame_acceleration_derivatives(frame, q, v, a), *system.frame_velocity_derivatives(frame, q, v)]
    found += [system.frame_acceleration(frame, q, v, a, each) for each in ("world", "body", "world-aligned")]
    found += [system.frame_jacobian_rate(frame, q, v), system.frame_jacobian_derivative(frame, q)]
    found += [*system.center_of_mass_derivatives(q, v), *system.centroidal_momentum_derivatives(q, v)]
    return [float(x) for each in found for x in np.ravel(each)]


def runs() -> Iterator[tuple[str, Callable[[], list[float]]]]:
    """All, by their names."""
    for name, scheme, step in MODELS:
        yield f"{name} {scheme}", lambda name=name, scheme=scheme, step=step: ended(load(name), scheme, step)
    for name in EMBEDDED:
        yield f"{name} embedded", lambda name=name: ended(load(name), "simpson", 0.005, formulation="embedding")
    for kind, formulation in LOOPS:
        linkage = mechanisms.linkage(kind, 0, is_loop=True, forces=ALL_FORCES)
        yield (
            f"{kind} in a loop, {formulation}",
            lambda model=linkage, formulation=formulation: ended(model, "midpoint", 0.005, formulation=formulation),
        )
    for kind in (*mechanisms.TIES, mechanisms.ROPE):
        random, model = np.random.default_rng(5), mechanisms.linkage("free euler", 0, forces=ALL_FORCES)
        on = [("kind", "phi"), ("slide", "displacement"), *[("kind", "psi")] * (kind == "differential")]
        tie = mechanisms.random_tie(random, kind, "a", "c", ["c"], on)
        tied = mbvi.Model(**dict(model) | {"constraints": {"tie": tie}})
        yield kind, lambda model=tied: ended(model, "simpson", 0.005)
    for constraints in ({}, {"constraints": unit_circle, "constraint_count": 1}):
        own = mbvi.from_functions(["x", "y"], mass, potential, force=force, initial_q=[1.0, 0.0], **constraints)
        yield f"functions {len(constraints)}", lambda system=own: ended(system, "gauss3", 0.05)
    stop = mbvi.ExpressionStop(gap="z('bob') + 1 + 0.1*q('pivot')*t")
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    bob, own = mbvi.Body(mass=1, center_of_mass=(0, 0, -1)), {"contacts": {"floor": stop}}
    slide = mbvi.Prismatic(parent="world", child="rail", axis=(0, 0, 1), position=(0, 0, -1))
    bodies = {"rail": mbvi.Body(mass=1), "bob": bob}
    joints = {"slide": slide, "pivot": pivot.replaced({"parent": "rail"})}
    resting = mbvi.Model(name="resting", bodies=bodies, joints=joints, **own)
    yield "a stop by an expression", lambda: ended(resting, "simpson", 0.01)
    for name in ("branched_tree", "four_bar"):
        yield f"{name}, its accelerations", lambda name=name: analysed(mbvi.assemble(load(name)))
    tree = mechanisms.random_tree(3, ("ball", "ball", "revolute", "screw", "free"), forces=ALL_FORCES)
    yield "dynamics of a tree", lambda: asked(mbvi.assemble(tree))
    linkage = mbvi.Model(**dict(load("four_bar")) | {"constraints": {}})
    yield "dynamics of a four-bar", lambda: asked(mbvi.assemble(linkage), "shaft")


if __name__ == "__main__":
    every = int(sys.argv[1]) if sys.argv[1:] else 1
    print(json.dumps({name: run() for name, run in islice(runs(), 0, None, every)}))
