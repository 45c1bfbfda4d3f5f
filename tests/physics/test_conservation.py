"""What every scheme keeps: the way back, momenta, the energy in the long run, the constraints."""

import numpy as np
import pytest

import mbvi
from mbvi.kernels.galerkin.workspace import EPS
from mbvi.schemes.galerkin import TABLEAUX
from mbvi.system.initial import find_start
from tests.marks import campaign, pairs

from . import systems

SCHEMES = list(TABLEAUX)
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)
STEP = 0.02
ADJOINTS = {"symplectic_euler": "lie_trotter", "lie_trotter": "symplectic_euler"}  # of those that are not symmetric


def there_and_back(system, scheme, steps=40):
    """A step back by the scheme's adjoint, most often itself, undoes a step."""
    there, adjoint = mbvi.simulate(system, scheme, step=STEP, duration=steps * STEP), ADJOINTS.get(scheme, scheme)
    return mbvi.simulate(
        system, adjoint, step=STEP, duration=steps * STEP, initial_q=there.q[-1], initial_v=-there.v[-1]
    )


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if mbvi.SCHEMES[name].is_projected])  # v tells all of p
@pytest.mark.parametrize(
    "name", [*systems.CONSERVATIVE, "spherical pendulum", "two spherical pendulums", "four-bar, undamped"]
)
def test_time_reversal_is_undone(name, scheme):
    system = systems.case(name).system
    start, back = find_start(system), there_and_back(system, scheme)
    scale = np.abs(back.q).max(), np.abs(back.p).max()
    assert np.abs(back.q[-1] - start.q).max() < 1e-12 * scale[0]
    assert np.abs(back.p[-1] + start.p).max() < 1e-12 * scale[1]


def test_time_reversal_tells_dampers():
    system = systems.case("tree with dampers").system
    assert np.abs(there_and_back(system, "simpson").q[-1] - system.initial_q).max() > 1e-3


INVARIANTS = {
    "top, Euler angles": {"angular momentum (z)", "p(contact.psi)"},
    "top, quaternion": {"angular momentum (z)", "angular momentum (contact, body z)"},
    "free rigid body": {f"angular momentum ({axis})" for axis in "xyz"},
}


def invariant_system(name):
    if name == "free rigid body":
        return mbvi.assemble(systems.model("free_rigid_body"))
    return systems.case(name).system


@every_scheme
@pytest.mark.parametrize("name", INVARIANTS)
def test_momenta(name, scheme):
    """Sums of 1000 steps: round-off of each is EPS of the momenta that it adds up."""
    run = mbvi.simulate(invariant_system(name), scheme, step=STEP, duration=1000 * STEP)
    momenta = run.momenta()
    assert set(momenta) == INVARIANTS[name]
    for values in momenta.values():
        assert np.abs(values - values[0]).max() < 100 * EPS * np.abs(run.p).max()


@every_scheme
def test_momentum_of_a_constrained_system(scheme):
    run = mbvi.simulate(systems.case("spherical pendulum").system, scheme, step=STEP, duration=1000 * STEP)
    J = run.q[:, 0] * run.p[:, 1] - run.q[:, 1] * run.p[:, 0]
    assert np.abs(J - J[0]).max() < 100 * EPS * np.abs(run.p).max()


def rigid_momentum(run):
    """Σ p and Σ x × p + 1/2 vec(π ā) of coordinates x, p and quaternions a, π that move freely in space, (N + 1, 6)."""
    total = np.zeros((len(run), 6))
    for i, name in enumerate(run.system.coordinate_names):
        if name.endswith(".x"):
            (x, a), (p, pi) = (np.split(each[:, i : i + 7], [3], axis=1) for each in (run.q, run.p))
            turn = 0.5 * (pi[:, 1:] * a[:, :1] - pi[:, :1] * a[:, 1:] - np.cross(pi[:, 1:], a[:, 1:]))
            total += np.hstack([p, np.cross(x, p) + turn])
    return total


@every_scheme
@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_momentum_of_a_floating_loop(formulation, scheme):
    """In the tree formulation the coordinates of the first body carry all others."""
    run = mbvi.simulate(systems.floating_ring(formulation), scheme, step=STEP, duration=200 * STEP)
    momentum = rigid_momentum(run)
    assert np.abs(momentum[0]).min() > 0.1
    assert np.abs(momentum - momentum[0]).max() < 100 * EPS * np.abs(run.p).max() * np.abs(run.q).max()


LOOPS = ("two spherical pendulums", "four-bar, tree", "four-bar, embedding", "driven slider")


@pytest.mark.parametrize(
    ("name", "scheme"),
    pairs(
        ["top, quaternion", "tree with springs", "spherical pendulum", "driven pendulum", *LOOPS],
        SCHEMES,
        whole=("top, quaternion", "tree with springs"),
    ),
)
def test_constraints(name, scheme):
    """At every step's end, and the hidden constraint with it: G v + ∂g/∂t = 0."""
    system = systems.case(name).system
    run = mbvi.simulate(system, scheme, step=STEP, duration=200 * STEP)
    assert run.constraint_residual().max() < (50 * EPS * max(1.0, np.abs(run.q).max()) if name in LOOPS else 10 * EPS)
    for t, q, v in zip(run.t[::20], run.q[::20], run.v[::20], strict=True):
        G = system.constraint_jacobian(q, t)
        by_t = (system.constraint(q, t + 1e-5) - system.constraint(q, t - 1e-5)) / 2e-5  # to about 1e-10
        assert np.abs(G @ v + by_t).max() < 1e-9 * np.any(by_t) + 100 * EPS * np.abs(v).max()


LOOP_STEPS = {"two spherical pendulums": 0.05, "four-bar, undamped": 0.02}


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "kahan_li6"])
@pytest.mark.parametrize("name", LOOP_STEPS)
def test_energy_of_loops_has_no_trend(name, scheme):
    run = mbvi.simulate(systems.case(name).system, scheme, step=LOOP_STEPS[name], duration=10_000 * LOOP_STEPS[name])
    assert has_no_trend(run)


LONG = {"double pendulum": 0.01, "top, Euler angles": 0.02, "top, quaternion": 0.02, "spherical pendulum": 0.05}


def trend_and_spread(values):
    """The difference of the mean of the last third from that of the first, and the spread."""
    third = len(values) // 3
    return abs(values[-third:].mean() - values[:third].mean()), np.ptp(values)


def has_no_trend(run):
    energy = run.energy()
    size = np.abs(run.system.energies(run.t, run.q, run.v)).max()
    trend, spread = trend_and_spread(energy)
    round_off = 10 * EPS * size * np.sqrt(run.statistics.steps)
    return trend < 0.05 * spread + round_off and spread < 0.05 * size


@pytest.mark.parametrize(("scheme", "name"), pairs(SCHEMES, LONG, whole=("midpoint", "simpson")))
def test_energy_has_no_trend(scheme, name):
    run = mbvi.simulate(systems.case(name).system, scheme, step=LONG[name], duration=10_000 * LONG[name])
    assert has_no_trend(run)


@campaign
@pytest.mark.parametrize("scheme", ["midpoint", "simpson"])
def test_energy_has_no_trend_in_100_000_steps(scheme):
    run = mbvi.simulate(systems.case("double pendulum").system, scheme, step=0.01, duration=1000.0)
    assert has_no_trend(run)


@pytest.mark.parametrize("steps", [40_000, pytest.param(400_000, marks=campaign)])
def test_energy_of_many_starts_is_a_random_walk(steps):
    """What an iteration leaves of one sign at every step would show as a drift long before other tests see it."""
    starts = np.radians(np.linspace(40, 170, 16))
    members = mbvi.ensemble(
        systems.model("pendulum"),
        over={"q.pivot.angle": starts},
        scheme="gauss6",
        step=0.05,
        duration=0.05 * steps,
        every=steps,
    )
    change = np.ptp(members["energy"].values, axis=1)
    assert np.sqrt(np.mean(change**2)) < 0.1 * EPS * 2 * 9.81 * np.sqrt(steps)  # 1 kg, 1 m


@pytest.mark.parametrize("steps", [50_000, pytest.param(1_000_000, marks=campaign)])
def test_energy_of_many_starts_has_no_sign(steps):
    """Where the last angles of a step follow from others near them, rounding takes energy from all."""
    starts, step = np.radians(np.linspace(40, 170, 16)), 0.0173
    model = systems.model("pendulum")
    over = {"q.pivot.angle": starts}
    members = mbvi.ensemble(model, over=over, scheme="gauss4", step=step, duration=step * steps, every=steps)
    change = np.diff(members["energy"].values, axis=1)
    assert abs(change.mean()) < 4 * change.std() / np.sqrt(len(starts))


@campaign
@pytest.mark.parametrize("step", [0.004, 0.005])
def test_energy_of_a_top_drifts_by_less_than_rounding(step):
    """Near the vertical it turns round within a few steps: one a nutation that is not solved to the end shows."""
    steps = 500_000
    run = mbvi.simulate(systems.model("lagrange_top"), "gauss3", step=step, duration=step * steps, every=1000)
    drift = np.polyfit(run.t / run.t[-1], run.energy(), 1)[0]
    assert abs(drift) < 1e-20 * steps * run.kinetic_energy().max()


def test_energy_has_a_trend_with_friction():
    system = mbvi.assemble(systems.model("double_pendulum"), force=friction)
    assert not has_no_trend(mbvi.simulate(system, "simpson", step=0.01, duration=100.0))


def friction(t, q, v, F):
    F[0] -= 1e-4 * v[0]
