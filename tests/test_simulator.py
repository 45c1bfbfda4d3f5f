"""`Simulator`: the states of `simulate`, to the last bit, however they are asked for."""

import gc
import io
import sys
import tracemalloc

import numpy as np
import pytest

import mbvi

CASES = [
    ("double_pendulum", "simpson", "tree"),
    ("double_pendulum", "gauss4", "embedding"),
    ("lagrange_top", "suzuki4", None),
    ("heavy_top_quaternion", "midpoint", None),
    ("heavy_top_quaternion", "blanes_moan4", None),
    ("four_bar", "simpson", "tree"),
    ("four_bar", "gauss4", "embedding"),
    ("four_bar", "independent4", None),
    ("double_pendulum", "rk4", None),
    ("double_pendulum", "direct_midpoint", None),
    ("double_pendulum", "midpoint_variation", None),
    ("double_pendulum", "chorin", None),
    ("spring_damper", "newmark", None),
]


@pytest.mark.parametrize(("name", "scheme", "formulation"), CASES)
def test_it_is_simulate_to_the_last_bit(name, scheme, formulation, models):
    """By single steps, by several, and from a state that was saved and read in another simulator."""
    model = mbvi.load(models / f"{name}.yaml")
    step = 0.004
    if name == "spring_damper":  # of which newmark wants no springs between points
        model = model.model_copy(update={"forces": {}})
    whole = mbvi.simulate(model, scheme, step=step, duration=30 * step, formulation=formulation)
    simulator = mbvi.Simulator(model, scheme, step=step, formulation=formulation)
    for _ in range(10):
        simulator.step()
    simulator.run(12 * step)
    file = io.BytesIO()
    np.savez(file, **simulator.state())
    file.seek(0)
    simulator.run(7 * step)
    simulator.step()
    found = simulator.trajectory()
    for key in ("t", "q", "v", "p"):
        assert np.array_equal(getattr(found, key), getattr(whole, key)), key
        assert np.array_equal(getattr(simulator, key), getattr(whole, key)[-1])
    other = mbvi.Simulator(model, scheme, step=step, formulation=formulation, every=4)
    with np.load(file) as state:
        other.set_state(state)
    other.run(8 * step)
    assert np.array_equal(other.trajectory().q, whole.q[22::4]) and np.array_equal(other.p, whole.p[-1])
    simulator.set_state(other.state())
    assert len(simulator.trajectory()) == 31


def test_begun_anew(models):
    """Where it was made to begin, elsewhere, and with no states stored."""
    model = mbvi.load(models / "pendulum.yaml")
    simulator = mbvi.Simulator(model, "simpson", step=0.01, every=0)
    simulator.run(0.1)
    simulator.reset([0.3], [0.1])
    simulator.run(0.095)
    run = mbvi.simulate(model, "simpson", step=0.01, duration=0.1, initial_q=[0.3], initial_v=[0.1])
    assert np.array_equal(simulator.q, run.q[-1]) and simulator.t == run.t[-1] and simulator.steps == 10
    assert np.array_equal(simulator.pose("rod")[0], run.pose("rod")[0][-1])
    assert simulator.now.energy() == run.energy()[-1]
    simulator.q[:] = 7.0
    assert np.array_equal(simulator.q, run.q[-1])
    with pytest.raises(
        mbvi.ModelError, match="trajectory: expected stored states, found every = 0; make the simulator"
    ):
        simulator.trajectory()
    simulator.reset()
    assert simulator.steps == 0 and simulator.q.tolist() == mbvi.assemble(model).initial_q.tolist()


def bouncing():
    """A ball that never comes to rest, with an impact in every 20 steps."""
    limits = {"displacement": mbvi.Limits(lower=0, restitution=1)}
    return mbvi.Model(
        name="bouncing",
        bodies={"ball": mbvi.Body(mass=1.2)},
        joints={"fall": mbvi.Prismatic(parent="world", child="ball", axis=(0, 0, 1), limits=limits)},
        initial={"fall": {"position": 0.05}},
    )


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "bouncing"])
def test_nothing_grows_where_no_states_are_stored(name, models):
    """Python keeps up to 4096 names of attributes that compiled code has asked for, until it is asked to forget them."""
    model = bouncing() if name == "bouncing" else mbvi.load(models / f"{name}.yaml")
    simulator = mbvi.Simulator(model, "lobatto4", step=0.01 if name == "bouncing" else 0.002, every=0)

    def used_after_steps():
        for _ in range(2000):
            simulator.step()
        simulator.run(1000 * simulator.step_size)
        gc.collect()
        sys._clear_type_cache()
        return tracemalloc.get_traced_memory()[0]

    used_after_steps()
    tracemalloc.start()
    try:
        used_after_steps()
        before = used_after_steps()
        assert abs(used_after_steps() - before) < 500
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda state: state.pop("q", None) or state.pop("steps"),
            "state: expected a mapping with inputs, locked, parameters, start, state, stepper",
        ),
        (
            lambda state: state.update(times=state["times"] * 2),
            r"state: expected the start time and the step \[0, 0.01\], found \[0, 0.02\]",
        ),
        (lambda state: state.update(state=state["state"] * np.nan), r"state: state: expected finite numbers of shape"),
        (lambda state: state.update(steps=-1), "state: steps: expected a whole number of at least 0"),
        (lambda state: state.update(stepper=state["stepper"][:-8]), "state: expected a state that a simulator gave"),
    ],
)
def test_a_state_that_is_none(change, message, models):
    simulator = mbvi.Simulator(mbvi.load(models / "pendulum.yaml"), step=0.01)
    state = simulator.state()
    change(state)
    with pytest.raises(mbvi.ModelError, match=message):
        simulator.set_state(state)


def test_a_step_that_fails_keeps_what_was_stored():
    """A force without a value from x = 0.5 on; the simulator stays before it until it begins anew."""

    def mass_matrix(q, M):
        M[0, 0] = 1.0

    def force(t, q, v, F):
        F[0] = np.sqrt(0.5 - q[0])

    system = mbvi.from_functions(["x"], mass_matrix, lambda q: 0.0, force=force, initial_q=[0.0], initial_v=[1.0])
    simulator = mbvi.Simulator(system, "midpoint", step=0.1)
    with pytest.raises(mbvi.StepError, match=r"step 4 \(t = 0.4 s\): a force or momentum became infinite") as caught:
        simulator.run(1.0)
    kept = len(caught.value.trajectory)
    assert kept == simulator.steps + 1 and 3 <= kept <= 5 and simulator.q == caught.value.trajectory.q[-1]
    with pytest.raises(mbvi.StepError, match=r"step 4 \(t = 0.4 s\): a force or momentum became infinite"):
        simulator.step()
    simulator.reset()
    simulator.step()
    assert simulator.steps == 1
