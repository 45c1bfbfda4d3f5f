"""A user's own functions: what they write into, what they read from outside, and what is said of those that numba rejects."""

import pickle
import re

import numba
import numpy as np
import pytest

import mbvi

GAIN = np.array([2.0])
STIFFNESS = 2.0


@numba.njit
def pull(x):
    return -STIFFNESS * x


def by_an_array(t, q, v, F):
    F[0] -= GAIN[0] * q[0]


def by_a_number(t, q, v, F):
    F[0] -= STIFFNESS * q[0]


def by_another_function(t, q, v, F):
    F[0] += pull(q[0])


def unit_mass(q, M):
    M[0, 0] = 1.0


def stiff(q):
    return 0.5 * STIFFNESS * q[0] ** 2


def slider(force, **fields):
    joint = mbvi.Prismatic(parent="world", child="a", axis=(1, 0, 0))
    start = {"joint": {"position": 1.0}}
    model = mbvi.Model(name="a", bodies={"a": mbvi.Body(mass=1)}, joints={"joint": joint}, initial=start, **fields)
    return mbvi.assemble(model, force=force)


def acceleration(system):
    return float(system.acceleration([1.0], [3.0])[0])


def refused(call, *arguments, **fields):
    with pytest.raises(mbvi.ModelError) as caught:
        call(*arguments, **fields)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ------------------------------------------------------------------------------------------ their output


def test_a_force_may_set_its_output():
    """The other forces stay: −2·3 of a damper, and 5."""
    damper = {"damper": mbvi.JointDamper(joint="joint", damping=2.0)}

    def set_it(t, q, v, F):
        F[0] = 5.0

    def add_to_it(t, q, v, F):
        F[0] += 5.0

    def add_all(t, q, v, F):
        F += 5.0

    for force in (set_it, add_to_it, add_all):
        assert acceleration(slider(force, forces=damper)) == -1.0


def test_a_mass_matrix_may_be_summed():
    def summed(q, M):
        for _ in range(2):
            M[0, 0] += 1.0

    system = mbvi.from_functions(["x"], summed, lambda q: 0.5 * q[0] ** 2)
    assert acceleration(system) == -0.5
    assert system.second_derivatives([1.0], [3.0])[0].tolist() == [[2.0]]


def rebound(t, q, v, F):
    F = F - v


def rebound_later(t, q, v, F):
    if t > 3:
        F = -v  # noqa: F841


def rebound_in_a_loop(t, q, v, F):
    for F in q:  # noqa: B007
        pass


@pytest.mark.parametrize(
    ("force", "line"),
    [(rebound, "F = F - v"), (rebound_later, "F = -v"), (rebound_in_a_loop, "for F in q:")],
)
def test_an_output_that_is_bound_anew(force, line):
    message = refused(slider, force)
    assert message.startswith("force: expected values written into F, found the name bound to another value in line ")
    assert f" of {__name__.rpartition('.')[2]}.py, `{line}" in message
    assert message.endswith(", of which nothing comes out; write F[:] = …, F[0] = … or F += …")


def output_first(F, t, q, v):
    F[0] = -v[0]


def test_arguments_in_another_order():
    found = "found output_first(F, t, q, v); arguments are passed in this order"
    assert refused(slider, output_first) == f"force: expected a function force(t, q, v, F), {found}"
    swapped = refused(mbvi.from_functions, ["x"], lambda M, q: None, stiff)
    assert "expected a function mass_matrix(q, M), found <lambda>(M, q)" in swapped


def test_outputs_of_a_lagrangian_that_are_bound_anew():
    def masses(q, M):
        M = np.eye(1)  # noqa: F841

    def gap(q, g):
        g = q - 1.0  # noqa: F841

    assert "values written into M, found the name" in refused(mbvi.from_functions, ["x"], masses, stiff)
    found = refused(mbvi.from_functions, ["x"], unit_mass, stiff, constraints=gap, constraint_count=1)
    assert "constraints: expected values written into g, found the name" in found


def returned(t, q, v, F):
    return np.array([1.0])


def returned_later(t, q, v, F):
    if t > 3:
        return -v
    F[0] = 1.0
    return F


@pytest.mark.parametrize(("force", "line"), [(returned, "return np.array([1.0])"), (returned_later, "return -v")])
def test_an_output_that_is_returned(force, line):
    message = refused(slider, force)
    assert message.startswith("force: expected values written into F, found a value returned in line ")
    assert message.endswith(f" of test_own_functions.py, `{line}`, of which nothing is used; write F[:] = …")


def test_outputs_of_a_lagrangian_that_are_returned():
    def masses(q, M):
        return np.eye(1)

    def gap(q, g):
        return q - 1.0

    message = refused(mbvi.from_functions, ["x"], masses, stiff)
    assert message.startswith("mass_matrix: expected values written into M, found a value returned in line ")
    message = refused(mbvi.from_functions, ["x"], unit_mass, stiff, constraints=gap, constraint_count=1)
    assert message.startswith("constraints: expected values written into g, found a value returned in line ")


@numba.njit
def five(F):
    F[0] = 5.0


def test_returning_the_output_or_nothing_does_no_harm():
    def itself(t, q, v, F):
        if t > 3:
            return F
        F[0] = 5.0
        return F

    def nothing(t, q, v, F):
        F[0] = 5.0
        if t > 3:
            return
        return

    def of_another(t, q, v, F):
        return five(F)

    for force in (itself, nothing, of_another):
        assert acceleration(slider(force)) == 5.0


def test_arrays_that_do_not_fit():
    def two(t, q, v, F):
        F[:] = np.array([1.0, 2.0])

    def product(t, q, v, F):
        F += np.eye(2) @ q

    for force, line in ((two, "F[:] = np.array([1.0, 2.0])"), (product, "F += np.eye(2) @ q")):
        message = refused(slider, force)
        assert message.startswith("force: expected arrays of shapes that fit, found ")
        assert re.search(rf" in line \d+ of test_own_functions\.py, `{re.escape(line)}`$", message)


# --------------------------------------------------------------------------------------- what they read


def set_later(t, q, v, F):
    if t > 3:
        q[0] = 100.0


def added_in_place(t, q, v, F):
    if t > 3:
        v -= 1.0


@numba.njit
def reset(x):
    x[0] = 0.0


def through_another(t, q, v, F):
    w = v
    if t > 3:
        reset(w)


def at_once(t, q, v, F):
    q[0] = 100.0


def sorted_in_place(t, q, v, F):
    q.sort()


@pytest.mark.parametrize(
    ("force", "line"),
    [
        (set_later, "q[0] = 100.0"),
        (added_in_place, "def added_in_place(t, q, v, F):"),  # numba does not say where
        (through_another, "x[0] = 0.0"),
        (at_once, "q[0] = 100.0"),
        (sorted_in_place, "q.sort()"),
    ],
)
def test_the_state_is_not_written_into(force, line):
    message = refused(slider, force)
    assert message.startswith("force: expected a function that leaves q and v as they are, found one that writes into ")
    assert message.endswith(f"`{line}`; write into a copy, as x = q.copy()")


def test_nor_by_a_lagrangian():
    def masses(q, M):
        M[0, 0] = 1.0
        q[0] = 0.0

    def height(q):
        q *= 2.0
        return q[0]

    def gap(q, g):
        g[0] = q[0]
        if q[0].real > 5:
            q[0] = 0.0

    one = {"constraints": gap, "constraint_count": 1}
    for functions, options in (((masses, stiff), {}), ((unit_mass, height), {}), ((unit_mass, stiff), one)):
        assert "leaves q and v as they are" in refused(mbvi.from_functions, ["x"], *functions, **options)


def test_read_only_arrays_do_for_all_else():
    matrix = np.array([[2.0]])

    def many(t, q, v, F):
        w = q.copy()
        w[0] += 1.0
        x = q if t > 1 else v.copy()
        F += matrix @ q + np.dot(matrix, v) + np.linalg.solve(matrix, q) + np.linalg.norm(v) + np.sort(q) + x + w
        for each in v[::-1]:
            F[0] += each + np.concatenate((q, v)).sum()

    # 2 q + 2 v + q/2 + |v| + q + v + (q + 1) + v + (q + v) with q = 1, v = 3
    assert acceleration(slider(many)) == 2 + 6 + 0.5 + 3 + 1 + 3 + 2 + 3 + 4


def test_an_index_beyond_an_array_fails_the_step():
    def beyond(t, q, v, F):
        F[int(t > 0.05)] = 1.0

    with pytest.raises(mbvi.StepError, match="not a finite number"):
        mbvi.simulate(slider(beyond), "midpoint", 0.01, 1.0)


# ------------------------------------------------------------------------------------ values from outside


@pytest.fixture(autouse=True)
def _as_before():
    yield
    GAIN[0] = 2.0
    globals()["STIFFNESS"] = 2.0


def change(name):
    if name == "GAIN":
        GAIN[0] = 3.0
    else:
        globals()["STIFFNESS"] = 3.0


@pytest.mark.parametrize(
    ("force", "name"), [(by_an_array, "GAIN"), (by_a_number, "STIFFNESS"), (by_another_function, "STIFFNESS")]
)
def test_a_change_is_refused_and_a_new_system_has_it(force, name):
    system = slider(force)
    run = mbvi.simulate(system, "gauss3", step=0.05, duration=1.0)
    assert run.q[-1, 0] == pytest.approx(np.cos(np.sqrt(2.0)), abs=1e-9)
    before = run.system.acceleration([1.0], [3.0])
    change(name)
    expected = (
        f"force: expected {name}, which the function reads, as it was when the system was made, found another value; "
        "make the system again, by assemble or from_functions, or make it a parameter of the function"
    )
    assert refused(mbvi.simulate, system, step=0.05, duration=1.0) == expected
    assert refused(system.acceleration, [1.0], [3.0]) == expected
    assert run.system.acceleration([1.0], [3.0]) == before == -2.0  # the system of a run is the one that ran
    again = mbvi.simulate(slider(force), "gauss3", step=0.05, duration=1.0)
    assert again.q[-1, 0] == pytest.approx(np.cos(np.sqrt(3.0)), abs=1e-9)


def test_functions_of_a_lagrangian_likewise():
    system = mbvi.from_functions(["x"], unit_mass, stiff, force=by_an_array)
    forced = mbvi.simulate(system, step=0.1, duration=0.5)
    assert acceleration(system) == -4.0
    change("GAIN")
    assert refused(acceleration, system).startswith("force: expected GAIN, ")
    assert forced.system.unforced.acceleration([1.0], [3.0]) == -2.0
    change("STIFFNESS")
    assert refused(acceleration, system).startswith("potential: expected STIFFNESS, ")
    assert forced.system.unforced.acceleration([1.0], [3.0]) == -2.0
    assert acceleration(mbvi.from_functions(["x"], unit_mass, stiff, force=by_an_array)) == -6.0


def test_what_a_function_closes_over():
    def made(gain, shift):
        def servo(t, q, v, F):
            F += -gain @ q + shift[0]

        return servo

    gain, shift = np.array([[2.0]]), (1.0, "a")
    system = slider(made(gain, shift))
    assert acceleration(system) == -1.0
    gain[0, 0] = 2.0  # what it was
    assert acceleration(system) == -1.0
    gain[0, 0] = 4.0
    assert refused(acceleration, system).startswith("force: expected gain, which the function reads, as it was")


CHANGED = "force: expected GAIN, which the function reads, as it was when the system was made, found another value; "


def test_a_simulator_does_not_go_on_after_a_change():
    simulator = mbvi.Simulator(slider(by_an_array), step=0.05)
    simulator.step()
    before = simulator.q
    change("GAIN")
    assert refused(simulator.step).startswith(CHANGED)
    assert refused(simulator.run, 1.0).startswith(CHANGED)
    assert simulator.steps == 1 and simulator.q == before
    GAIN[0] = 2.0
    simulator.run(0.95)
    assert simulator.q[0] == pytest.approx(np.cos(np.sqrt(2.0)), abs=1e-6)


def test_nor_does_a_run_whose_controller_changed_it():
    def law(t, q, v):
        if t >= 0.5:
            change("GAIN")
        return 0.0

    system = slider(by_an_array, forces={"motor": mbvi.Motor(joint="joint")})
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.simulate(system, step=0.05, duration=2.0, controllers={"law": mbvi.Controller(law, period=0.25)})
    assert str(caught.value).startswith(f"controllers.law: at t = 0.5 s: after it was called, {CHANGED}")
    kept = caught.value.trajectory
    assert kept.t[-1] == 0.5
    assert len(mbvi.simulate(kept.system, step=0.05, duration=2.0).t) == 41  # with the value of its run


def test_defaults_are_values_too():
    def servo(t, q, v, F, gain=2.0):
        F[0] -= gain * q[0]

    assert acceleration(slider(servo)) == -2.0


# ------------------------------------------------------------------------------- what numba does not compile

TABLE = {"k": 3.0}


class Servo:
    def force(self, t, q, v, F):
        """Bound methods are not compiled."""


def undecorated(x):
    return x


def of_a_dict(t, q, v, F):
    F[0] = TABLE["k"]


def of_an_undecorated_function(t, q, v, F):
    F[0] = undecorated(q[0])


def of_an_unknown_name(t, q, v, F):
    F[0] = unknown * q[0]  # noqa: F821


def of_two_kinds(t, q, v, F):
    x = 1
    if t > 3:
        x = "a"
    F[0] = x


def of_a_missing_name(t, q, v, F):
    F[0] = 1.0
    F[0] -= np.linalg.expm(v)[0]


def of_a_context(t, q, v, F):
    F[0] = 1.0
    with np.errstate(all="ignore"):
        F[0] = 2.0


def of_too_many(t, q, v, F):
    F[0] = np.sin(q[0], 3, 4)


@pytest.mark.parametrize(
    ("force", "end"),
    [
        (
            of_a_dict,
            "`F[0] = TABLE[\"k\"]`: Untyped global name 'TABLE': Cannot determine Numba type of <class 'dict'>; take numbers, "
            "tuples of them and NumPy arrays from outside",
        ),
        (
            of_an_undecorated_function,
            "`F[0] = undecorated(q[0])`: Untyped global name 'undecorated': Cannot determine Numba type of <class 'function'>; "
            "decorate that function with @numba.njit",
        ),
        (
            of_an_unknown_name,
            "`F[0] = unknown * q[0]  # noqa: F821`: NameError: name 'unknown' is not defined",
        ),
        (of_a_missing_name, "`F[0] -= np.linalg.expm(v)[0]`: module 'numpy.linalg' has no attribute 'expm'"),
        (of_a_context, '`with np.errstate(all="ignore"):`: '),
        (of_two_kinds, "Cannot unify Literal[int](1) and Literal[str](a) for 'x.2', defined at"),
        (of_too_many, "`F[0] = np.sin(q[0], 3, 4)`: TypingError: ufunc 'sin': too many arguments (3 found, 2 maximum)"),
    ],
)
def test_the_line_and_the_reason_are_shown(force, end):
    message = refused(slider, force)
    assert re.match(
        r"force: expected a function that numba can compile, found one that it cannot in line \d+ of test_own_functions\.py, `",
        message,
    )
    assert end in message


def test_a_lagrangian_is_compiled_for_complex_numbers():
    def compared(q):
        return max(q[0], 0.0)

    message = refused(mbvi.from_functions, ["x"], unit_mass, compared)
    assert message.startswith(
        "potential: expected a function that numba can compile for complex numbers too, and so without "
        "comparisons, found one that it cannot in line "
    )
    assert "compared" in message or "max" in message


@pytest.mark.parametrize(
    ("force", "found"),
    [
        (3, "a Python function, found 3; write def force(t, q, v, F): …"),
        (Servo().force, "a Python function, found <bound method Servo.force of "),
        (lambda t, q, v: None, "a function force(t, q, v, F), found <lambda>(t, q, v)"),
        (
            lambda t, q, v, F: (yield F),
            "a function force(t, q, v, F), found one with yield or await, which runs nothing",
        ),
    ],
)
def test_what_is_no_force(force, found):
    assert refused(slider, force).startswith(f"force: expected {found}")


# ---------------------------------------------------------------------------------------- their parameters


def spring_and_damper(t, q, v, F, stiffness, damping):
    F[0] -= stiffness * q[0] + damping * v[0]


def damped(**values):
    """A mass of 2 kg between a spring and a damper, which are the user's own force, from x = 1 at rest."""
    parameters = {"mass": 2.0, "damping": 0.5, "softness": 0.25, "stiffness": "1/softness"} | values
    bodies = {"a": mbvi.Body(mass="mass")}
    joint, start = mbvi.Prismatic(parent="world", child="a", axis=(1, 0, 0)), {"joint": {"position": 1.0}}
    return mbvi.Model(name="a", parameters=parameters, bodies=bodies, joints={"joint": joint}, initial=start)


def closed_form(t, mass=2.0, damping=0.5, softness=0.25):
    rate = damping / (2 * mass)
    angular = np.sqrt(1 / (softness * mass) - rate**2)
    return np.exp(-rate * t) * (np.cos(angular * t) + rate / angular * np.sin(angular * t))


OPTIONS = {"scheme": "kahan_li8", "step": 0.05, "duration": 2}


@pytest.mark.parametrize("change", [{"damping": 1.5}, {"softness": 0.5}, {"mass": 3.0, "damping": -0.2}])
def test_a_force_has_the_parameters_of_its_model(change):
    """Those by expressions too; without assembling anew the same to the last bit, as in a copy that was pickled."""
    run = mbvi.simulate(mbvi.assemble(damped(**change), force=spring_and_damper), **OPTIONS)
    assert abs(run.q[:, 0] - closed_form(run.t, **change)).max() < 1e-11
    system = mbvi.assemble(damped(), force=spring_and_damper)
    assert system.parameter_map(tuple(change)) is not None
    for each in (system, pickle.loads(pickle.dumps(system))):
        assert np.array_equal(mbvi.simulate(each.with_parameters(change), **OPTIONS).q, run.q)
        assert np.array_equal(mbvi.simulate(each._assembled_with(change), **OPTIONS).q, run.q)
    assert acceleration(system) == -(4.0 + 3 * 0.5) / 2.0  # as it was


def test_a_simulator_changes_them_between_steps():
    """The force acts with the new values at once: from where the mass is then, it moves as one that begins there."""
    simulator = mbvi.Simulator(mbvi.assemble(damped(), force=spring_and_damper), "kahan_li8", step=0.05)
    simulator.run(1.0)
    simulator.set_parameters({"damping": 1.5})
    later = mbvi.assemble(damped(damping=1.5), force=spring_and_damper)
    expected = mbvi.simulate(later, **OPTIONS, initial_q=simulator.q, initial_v=simulator.v, start_time=1.0)
    simulator.run(2.0)
    assert abs(simulator.q - expected.q[-1]).max() < 1e-14


def test_functions_of_ones_own_have_parameters():
    """Those of a system without a model, in runs, ensembles and between steps."""
    given = {"stiffness": 4.0, "damping": 0.5}
    system = mbvi.from_functions(
        ["x"], two_masses, no_potential, force=spring_and_damper, parameters=given, initial_q=[1.0]
    )
    assert system.parameter_names == ("stiffness", "damping")
    runs = mbvi.ensemble(system, {"damping": [0.5, 1.5]}, **OPTIONS)
    for i, damping in enumerate(runs.damping.values):
        alone = mbvi.simulate(system.with_parameters({"damping": damping}), **OPTIONS)
        assert abs(alone.q[:, 0] - closed_form(alone.t, damping=damping)).max() < 1e-11
        assert np.array_equal(runs.q[i], alone.q)
    simulator = mbvi.Simulator(system, "kahan_li8", step=0.05)
    saved = simulator.state()
    simulator.set_parameters({"damping": 1.5})
    simulator.run(2.0)
    assert np.array_equal(simulator.q, alone.q[-1])
    assert "state: expected the parameters stiffness, damping: [4, 1.5], found [4, 0.5]" in refused(
        simulator.set_state, saved
    )


def two_masses(q, M):
    M[0, 0] = 2.0


def no_potential(q):
    return 0.0 * q[0]


def with_default(t, q, v, F, damping, stiffness=2.0):
    F[0] -= stiffness * q[0] + damping * v[0]


def test_defaults_stay_and_are_no_parameters():
    model = damped().model_copy(update={"parameters": {"mass": 2.0, "damping": 0.5}})
    system = mbvi.assemble(model, force=with_default)
    assert acceleration(system) == -(2.0 + 1.5) / 2.0
    assert "parameters.stiffness: expected a parameter, found 'stiffness'" in refused(
        system.with_parameters, {"stiffness": 3.0}
    )
    found = "force: expected stiffness without a default value, since it is a parameter, found stiffness=2; leave"
    assert found in refused(mbvi.assemble, damped(), force=with_default)


def test_parameters_without_a_value():
    model = damped().model_copy(update={"parameters": {"mass": 2.0, "damping": 0.5}})
    found = "force: expected a value of 'stiffness', which it takes, in parameters, found none; add it there"
    assert found in refused(mbvi.assemble, model, force=spring_and_damper)
    own = ["x"], two_masses, no_potential
    assert found in refused(mbvi.from_functions, *own, force=spring_and_damper, parameters={"damping": 0.5})
    given = {"stiffness": 4.0, "dampng": 0.5}
    assert "parameters: expected a parameter of the force, found 'dampng'; did you mean 'damping'?" in refused(
        mbvi.from_functions, *own, force=spring_and_damper, parameters=given
    )
    assert "parameters.damping: expected a finite number, found 'a'" in refused(
        mbvi.from_functions, *own, force=spring_and_damper, parameters={"stiffness": 4.0, "damping": "a"}
    )


def test_a_value_from_outside_is_not_mixed_with_new_parameters(monkeypatch):
    """What changed outside is refused, whatever parameters change."""

    def scaled(t, q, v, F, damping):
        F[0] -= STIFFNESS * damping * v[0]

    system = mbvi.assemble(damped(), force=scaled)
    assert acceleration(system.with_parameters({"damping": 1.0})) == -3.0
    monkeypatch.setattr(f"{__name__}.STIFFNESS", 4.0)
    for change in ({"damping": 2.0}, {"mass": 3.0}):
        assert "force: expected STIFFNESS, which the function reads, as it was" in refused(
            lambda: acceleration(system.with_parameters(change))  # noqa: B023
        )
