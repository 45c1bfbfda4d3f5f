"""Events of a run: their order, those that a step passes twice, and what a run leaves where one does not come."""

import math

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.exact.pendulum import Pendulum

ANGLE = 2 * math.pi / 3
SWING = Pendulum(1.0, 9.81, ANGLE)


def below(t, q, v):
    return q[0]


def at_rest(t, q, v):
    return v[0]


@pytest.fixture
def pendulum(models):
    return mbvi.load(models / "pendulum.yaml")


@pytest.fixture(scope="module")
def orbit():
    """A planet at the far end of its ellipse, of eccentricity 0.3 and half axis 1; its period is 2π."""
    x, y = sympy.symbols("x y")
    return mbvi.from_sympy(
        [x, y], sympy.eye(2), -1 / sympy.sqrt(x**2 + y**2), initial_q=[1.3, 0], initial_v=[0, math.sqrt(0.7 / 1.3)]
    )


# ------------------------------------------------------------------------------------------------------ order


@pytest.mark.parametrize(
    ("scheme", "order", "step"), [("simpson", 4, 0.04), ("lobatto4", 6, 0.05), ("gauss4", 8, 0.1), ("rk4", 4, 0.04)]
)
def test_order_at_the_lowest_point(scheme, order, step, pendulum):
    """Of the times at which a pendulum passes it; the angle is zero to round-off there."""
    errors = []
    for h in (step, step / 2):
        found = mbvi.simulate(pendulum, scheme, step=h, duration=10.0, events={"below": below}).events["below"]
        assert len(found) == 7 and abs(found.q).max() < 1e-15 and np.array_equal(found.step, (found.t / h).astype(int))
        errors.append(abs(found.t - SWING.period * (np.arange(7) + 0.5) / 2).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.6


@pytest.mark.parametrize(("scheme", "order", "step"), [("simpson", 4, 0.1), ("gauss3", 6, 0.2), ("gauss4", 8, 0.3)])
def test_order_of_an_orbits_apsis(scheme, order, step, orbit):
    """Near and far in turn, at multiples of half a period, where q·v = 0."""

    def apsis(t, q, v):
        return q[0] * v[0] + q[1] * v[1]

    errors = []
    for h in (step, step / 2):
        events = {"near": mbvi.Event(apsis, 1), "far": mbvi.Event(apsis, -1)}
        run = mbvi.simulate(orbit, scheme, step=h, duration=10.0, events=events)
        near, far = run.events["near"], run.events["far"]
        assert (len(near), len(far)) == (2, 1)  # it starts far away
        errors.append(abs(np.append(near.t, far.t) - np.pi * np.array([1, 3, 2])).max())
        assert np.allclose(np.linalg.norm(near.q, axis=1), 0.7, atol=1e-3)
    assert np.log2(errors[0] / errors[1]) > order - 0.6


def test_a_falling_body_to_rounding():
    """Every scheme of order 2 and more follows a parabola exactly."""
    z = sympy.Symbol("z")
    system = mbvi.from_sympy([z], [[2.0]], 2.0 * 9.81 * z, initial_q=[1.0], initial_v=[0.5])
    for scheme in ("midpoint", "simpson"):
        run = mbvi.simulate(system, scheme, step=0.07, duration=2.0, until=below)
        t = (0.5 + math.sqrt(0.25 + 2 * 9.81)) / 9.81
        assert abs(run.t[-1] - t) < 4e-16 and abs(run.v[-1, 0] - (0.5 - 9.81 * t)) < 1e-14
        assert run.end == "until" and run.t[-2] == 0.07 * (len(run) - 2)
        assert np.array_equal(run.q[-1], run.events["until"].q[0])


# ------------------------------------------------------------------------------- where signs do not differ


def test_events_that_a_step_passes_twice(pendulum):
    """Within 1e-4 of the turning points: the step is fifteen times as long as what is found. Beyond them is nothing."""
    near, beyond = 0.9999 * ANGLE, 1.00001 * ANGLE

    def is_near(t, q, v):
        return near - abs(q[0])

    def is_beyond(t, q, v):
        return beyond - abs(q[0])

    run = mbvi.simulate(pendulum, "gauss6", step=0.1, duration=5.0, events={"near": is_near, "beyond": is_beyond})
    assert len(run.events["beyond"]) == 0
    turns = 0.5 * SWING.period * np.arange(1, 4)
    apart = run.events["near"].t[1:].reshape(-1, 2) - turns[:, None]
    assert apart.shape == (3, 2) and np.allclose(apart, [[-0.007, 0.007]] * 3, atol=1e-3)
    assert np.allclose(abs(SWING(run.events["near"].t)[0]), near, rtol=0, atol=1e-11)


def test_an_event_at_the_ends_of_steps_happens_once(pendulum):
    """A start on it does not count, nor does a zero that is only touched."""

    def clock(t, q, v):
        return (t - 0.5) * (t - 0.8) ** 2 * t

    run = mbvi.simulate(pendulum, "simpson", step=0.125, duration=2.0, events={"clock": clock, "rest": at_rest})
    assert run.events["clock"].t.tolist() == [0.5]
    assert np.allclose(run.events["rest"].t, 0.5 * SWING.period, atol=1e-3)


# ------------------------------------------------------------------------------------------- the run itself


@pytest.mark.parametrize(
    ("name", "scheme", "step"), [("four_bar", "gauss4", 0.01), ("heavy_top_quaternion", "midpoint", 0.002)]
)
def test_a_run_is_the_same_with_events(name, scheme, step, models):
    """To the last bit; events are on the constraints."""
    model = mbvi.load(models / f"{name}.yaml")
    options = {"step": step, "duration": 60 * step}
    plain = mbvi.simulate(model, scheme, **options)
    for every in (1, 3):
        run = mbvi.simulate(model, scheme, **options, every=every, events={"rest": at_rest})
        assert np.array_equal(run.q, plain.q[::every]) and np.array_equal(run.p, plain.p[::every])
        found = run.events["rest"]
        assert abs(found.v[:, 0]).max(initial=0.0) < 1e-12
        assert abs(mbvi.between.states_at(plain, found.t).constraint_residual()).max() < 1e-13 if len(found) else True


def test_a_file_keeps_events_and_a_resumed_run_goes_on_with_them(pendulum, tmp_path):
    """To the last bit, by names; a run that an event ended is at its end."""
    path, events = tmp_path / "swing.h5", {"below": below, "rest": at_rest}
    options = {"scheme": "gauss4", "step": 0.05, "every": 2}
    whole = mbvi.simulate(pendulum, duration=10.0, events=events, **options)
    mbvi.simulate(pendulum, duration=4.0, events=events, path=path, **options)
    with pytest.raises(mbvi.ModelError, match=r"events: expected below, rest, found none; pass them as to simulate"):
        mbvi.resume(path, duration=10.0)
    for run in (mbvi.resume(path, duration=10.0, events=events), mbvi.read(path)):
        assert np.array_equal(run.q, whole.q)
        for name, found in run.events.items():
            for key in ("t", "q", "p", "v", "step"):
                assert np.array_equal(getattr(found, key), getattr(whole.events[name], key))
    assert [len(each) for each in whole.events.values()] == [7, 7]
    whole.save(tmp_path / "saved.h5")
    assert np.array_equal(mbvi.read(tmp_path / "saved.h5").events["rest"].q, whole.events["rest"].q)
    down = mbvi.Event(at_rest, direction=1)
    ended = mbvi.simulate(pendulum, duration=10.0, until=down, path=path, force=True, **options)
    again = mbvi.simulate(pendulum, duration=10.0, until=down, **options)
    again.save(tmp_path / "ended.h5")
    for run in (ended, mbvi.read(path), mbvi.read(tmp_path / "ended.h5")):
        assert run.end == "until" and run.is_ended and np.array_equal(run.q, again.q) and np.array_equal(run.t, again.t)
    with pytest.raises(mbvi.ModelError, match="expected a run that can go on, found one that the event until ended"):
        mbvi.resume(path, duration=20.0, until=down)


def test_a_section_of_the_double_pendulum(models):
    """Its points are on the section and at the energy of the run, and the inner angle opens there."""

    def section(t, q, v):
        return math.sin(0.5 * q[0])

    model = mbvi.load(models / "double_pendulum.yaml")
    run = mbvi.simulate(model, "gauss4", step=0.02, duration=60.0, events={"section": mbvi.Event(section, 1)})
    found, system = run.events["section"], run.system
    assert len(found) > 10 and abs(np.sin(0.5 * found.q[:, 0])).max() < 1e-15
    energies = [system.energy(q, v) for q, v in zip(found.q, found.v, strict=True)]
    assert np.allclose(energies, run.energy()[0], rtol=0, atol=1e-7 * run.kinetic_energy().max())
    assert (np.cos(0.5 * found.q[:, 0]) * found.v[:, 0] > 0).all()


# ---------------------------------------------------------------------------------------------- what is wrong


def test_what_does_not_come_or_has_no_value(pendulum):
    """All that was computed until then is kept."""
    with pytest.raises(
        mbvi.errors.EventError, match=r"until: the event did not come until t = 0.5 s. All states are in"
    ) as caught:
        mbvi.simulate(pendulum, step=0.01, duration=0.5, until=below)
    assert len(caught.value.trajectory) == 51

    def lost(t, q, v):
        return math.sqrt(0.305 - t)

    message = r"step 30 \(t = 0.3 s\): the function of the event lost is not a number there. The stored states"
    with pytest.raises(mbvi.errors.EventError, match=message) as caught:
        mbvi.simulate(pendulum, step=0.01, duration=0.5, events={"lost": lost, "late": lambda t, q, v: t - 0.105})
    kept = caught.value.trajectory
    assert len(kept) == 31 and np.allclose(kept.events["late"].t, 0.105, rtol=0, atol=1e-16)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([below], "events: expected a mapping of names to events, found"),
        ({"until": below}, "events: expected names of events, as texts other than until, found 'until'"),
        ({"low": "q < 0"}, "events.low: expected arithmetic, found a comparison in 'q < 0'"),
        ({"low": lambda q: q[0]}, r"events.low: expected a function event\(t, q, v\), found <lambda>\(q\)"),
        ({"low": lambda t, q, v: q}, r"events.low: expected a function that returns a number, found .* shape \(1,\)"),
        ({"low": lambda t, q, v: q[1]}, r"events.low: expected indices within the arrays, found index 1 is out of"),
        ({"low": lambda t, q, v: len(v.tolist())}, "events.low: expected a function that numba can compile, found"),
    ],
)
def test_functions_that_are_no_events(events, message, pendulum):
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.simulate(pendulum, step=0.01, duration=0.5, events=events)


def test_a_direction_that_is_none():
    with pytest.raises(mbvi.ModelError, match="direction: expected -1, 0 or 1, found 2"):
        mbvi.Event(below, direction=2)


# ------------------------------------------------------------------------------------------------ expressions


def test_expressions_are_found_as_functions_are(pendulum):
    """At the same times, to the last bit; with directions, places and parameters; and they end runs."""
    functions = {"low": below, "turn": at_rest}
    expressions = {
        "low": "q('pivot')",
        "turn": "v('pivot')",
        "left": mbvi.Event("length*sin(q('pivot')) + 1/2", direction=-1),
    }
    one = mbvi.simulate(pendulum, "gauss4", step=0.05, duration=6, events=functions)
    other = mbvi.simulate(pendulum, "gauss4", step=0.05, duration=6, events=expressions)
    for name in functions:
        assert np.array_equal(one.events[name].t, other.events[name].t)
        assert np.array_equal(one.events[name].p, other.events[name].p)
    left = other.events["left"].t
    assert np.array_equal(one.q, other.q) and len(left) == 2 and abs(np.sin(SWING(left)[0]) + 0.5).max() < 1e-9
    ended = mbvi.simulate(pendulum, "gauss4", step=0.05, duration=6, until="q('pivot') + 1")
    assert ended.end == "until" and abs(ended.q[-1, 0] + 1) < 1e-15


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("q('pivt')", r"events.top: q\('pivt'\): expected a joint, found 'pivt'; did you mean 'pivot'\?"),
        ("q(pivot)", r"events.top: expected a name in quotes, found 'q\(pivot\)'"),
        ("__import__('os')", "events.top: expected a known function, found '__import__'"),
        (3, r"events.top: expected an Event, a function event\(t, q, v\), or an expression, found 3"),
    ],
)
def test_expressions_of_nothing(expression, message, pendulum):
    with pytest.raises(mbvi.ModelError, match=f"^{message}"):
        mbvi.simulate(pendulum, step=0.05, duration=1, events={"top": expression})


def test_an_expression_without_a_value(pendulum):
    """It has none where the pendulum has passed its lowest point."""
    with pytest.raises(mbvi.errors.EventError, match="the function of the event root is not a number there") as caught:
        mbvi.simulate(pendulum, step=0.05, duration=2, events={"root": "sqrt(q('pivot')) - 2"})
    assert len(caught.value.trajectory) > 5
