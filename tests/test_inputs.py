"""Inputs of actuators over time, given by name."""

import numpy as np
import pandas
import pytest
import xarray

import mbvi


@pytest.fixture
def arm():
    """A link with a motor in its shoulder, whose input is 0."""
    rod = mbvi.Body(mass=2, center_of_mass=(0, 0, -0.5), inertia=(0.2, 0.2, 0.01))
    shoulder = mbvi.Revolute(parent="world", child="rod", axis=(0, 1, 0))
    return mbvi.Model(
        name="arm",
        bodies={"rod": rod},
        joints={"shoulder": shoulder},
        forces={"elbow": mbvi.Motor(joint="shoulder", gear=3, effort=5), "trim": mbvi.Motor(joint="shoulder")},
    )


TIMES, VALUES = np.array([0.0, 0.2, 0.2, 0.5, 1.0]), np.array([0.0, 1.0, -1.0, 2.0, 0.5])


def test_they_are_those_of_the_model(arm, tmp_path):
    """As a pair of arrays, an expression, a number; of a model or of its system; in a file, which is resumed without them."""
    inputs = {
        "elbow": mbvi.Table(times=TIMES.tolist(), values=VALUES.tolist(), interpolation="linear"),
        "trim": "0.3*sin(5*t)",
    }
    forces = {name: arm.forces[name].model_copy(update={"input": given}) for name, given in inputs.items()}
    expected = mbvi.simulate(arm.model_copy(update={"forces": forces}), "gauss4", step=0.02, duration=1)
    found = mbvi.simulate(arm, "gauss4", step=0.02, duration=1, inputs=inputs)
    assert np.array_equal(found.q, expected.q) and np.array_equal(
        found.reaction("shoulder")[0], expected.reaction("shoulder")[0]
    )
    system = mbvi.assemble(arm)
    assert np.array_equal(mbvi.simulate(system, "gauss4", step=0.02, duration=1, inputs=inputs).q, expected.q)
    assert np.array_equal(
        mbvi.simulate(system, "gauss4", step=0.02, duration=1).q, mbvi.simulate(arm, "gauss4", step=0.02, duration=1).q
    )
    path = tmp_path / "run.h5"
    mbvi.simulate(arm, "gauss4", step=0.02, duration=0.5, inputs=inputs, path=path)
    resumed = mbvi.resume(path, duration=1)
    assert (
        np.array_equal(resumed.q, expected.q) and resumed.system.model.forces["elbow"].input.interpolation == "linear"
    )
    constant = mbvi.simulate(arm, "gauss4", step=0.02, duration=1, inputs={"elbow": 1.5})
    same = arm.model_copy(update={"forces": {"elbow": mbvi.Motor(joint="shoulder", gear=3, effort=5, input=1.5)}})
    assert np.array_equal(constant.q, mbvi.simulate(same, "gauss4", step=0.02, duration=1).q)


@pytest.mark.parametrize(("interpolation", "orders"), [("smooth", 6), ("linear", 6), ("hold", 6)])
def test_the_order_is_kept_where_steps_end_at_the_times(interpolation, orders, arm):
    """Also at jumps, with a scheme whose nodes are at the ends of steps."""
    times = np.array([0.0, 0.2, 0.4, 0.6, 1.0])
    table = mbvi.Table(times=times.tolist(), values=[0.0, 1.0, -1.0, 2.0, 0.5], interpolation=interpolation)
    ends = [
        mbvi.simulate(arm, "lobatto4", step=h, duration=1, initial_q=[1.0], inputs={"elbow": table}).q[-1, 0]
        for h in (0.1, 0.05, 0.025, 0.0025)
    ]
    errors = np.abs(np.array(ends[:3]) - ends[3])
    assert np.log2(errors[:2] / errors[1:3]).round(1) == pytest.approx([orders, orders], abs=0.4)


def test_they_are_read_from_files_and_labelled_arrays(arm, tmp_path):
    """The same from each of them."""
    values = {"elbow": np.sin(TIMES), "trim": np.cos(TIMES)}
    frame = pandas.DataFrame(values, index=pandas.Index(TIMES, name="t"))
    frame.to_csv(tmp_path / "inputs.csv")
    found = [
        mbvi.read_inputs(each, "linear")
        for each in (tmp_path / "inputs.csv", frame, xarray.Dataset.from_dataframe(frame))
    ]
    assert found[0] == found[1] == found[2]
    assert found[0]["trim"].values == tuple(values["trim"]) and found[0]["elbow"].interpolation == "linear"
    assert list(mbvi.read_inputs(frame, names=["trim"])) == ["trim"]
    run = mbvi.simulate(arm, step=0.02, duration=1, inputs=found[0])
    assert run.forces(["trim"])["trim"].values[-1, 0] == pytest.approx(np.cos(1.0))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"elbov": 1.0}, "inputs: expected an actuator, found 'elbov'; did you mean 'elbow'?"),
        ([1.0], "inputs: expected a mapping of actuators to their inputs, found"),
        (
            {"elbow": ([0, 1, 0.5], [1, 2, 3])},
            "inputs.elbow: expected increasing times, found 0.5 s after 1 s in row 2; sort",
        ),
        (
            {"elbow": ([0, 1, 2], [1, np.nan, 3])},
            "inputs.elbow: expected finite values, found nan in row 1, at t = 1 s; fill",
        ),
        ({"elbow": ([0, np.inf], [1, 3])}, "inputs.elbow: expected finite times, found inf in row 1"),
        ({"elbow": ([0, 1], [1])}, "inputs.elbow: expected as many values as times, 2, found 1"),
        ({"elbow": ([0, 1], [1, "b"])}, "inputs.elbow: values: expected numbers"),
        ({"elbow": "sin(q)"}, "forces.elbow.input: expected a parameter or a constant, found 'q' in"),
    ],
)
def test_what_cannot_be_an_input(given, message, arm):
    with pytest.raises(mbvi.ModelError, match=message.replace("?", "\\?")):
        mbvi.simulate(arm, step=0.01, duration=0.1, inputs=given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,elbow\n0,1\n0.1,\n0.2,3\n", "elbow: expected a number, found nothing in row 1, at t = 0.1 s; fill the gap"),
        ("t,elbow\n0,1\n0.1,x\n", "elbow: expected a number, found 'x' in row 1, at t = 0.1 s"),
        ("t,elbow\n0,1\n0.1,nan\n", "elbow: expected finite values, found nan in row 1, at t = 0.1 s"),
        ("t,elbow\n0,1\n0.1,1,2\n", "row 1: expected 2 numbers, found 3"),
        ("elbow,t\n0,1\n", "expected different names in its first line, of which the first is t"),
        (
            "t,elbow\n0,1\n0.1,1\n0.5,2\n",
            "expected rows at most 0.2 s apart, found 0.4 s from t = 0.1 s in row 1 to the next",
        ),
        ("", "expected a line of names, and rows of numbers, found an empty file"),
        ("t,elbow\n", "elbow: expected at least 2 rows, found 0"),
        ("t,elbow\n0,1\n", "elbow: expected at least 2 rows, found 1"),
        ("t\n0\n1\n", "expected columns of inputs besides the times, found none"),
    ],
)
def test_files_with_gaps(text, message, tmp_path):
    path = tmp_path / "inputs.csv"
    path.write_text(text)
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.read_inputs(path, longest_gap=0.2)
