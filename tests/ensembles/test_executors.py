"""What runs members: processes and clusters whose workers are killed, files that are gone on with, members that hang."""

import pickle
import warnings
from multiprocessing import active_children

import h5py
import numpy as np
import pytest
import sympy

import mbvi
from mbvi.ensembles import driver, executors
from mbvi.ensembles.chunks import Chunk, Recipe, run_chunk
from mbvi.ensembles.members import Members
from mbvi.ensembles.store import Variable

from ..folders import load
from .measures import Hostile
from .test_ensemble import DONE, FAILED, NOT_RUN, drag, pendulum, same_bits

OVERDUE = (
    "time_limit: expected at most 0.3 s for a member, found one that takes longer; give it more time, or longer steps"
)
MASSES = np.linspace(1, 2, 12)
OPTIONS = {"step": 0.01, "duration": 0.5}


def test_members_that_are_lost_with_their_processes_run_again(tmp_path):
    """One that never ends is left out, it alone, and done when the ensemble is resumed by what can do it."""
    measure, options = {"end": Hostile(tmp_path / "kill")}, {**OPTIONS, "path": tmp_path / "runs.h5"}
    expected = mbvi.ensemble(pendulum(), {"mass": MASSES}, measure=measure, **OPTIONS)
    (tmp_path / "kill").touch()
    with mbvi.ensemble(pendulum(), {"mass": MASSES}, measure=measure, processes=1, time_limit=0.2, **options) as found:
        assert not (tmp_path / "kill").exists() and not active_children()
        assert found.status.values.tolist() == [DONE] * 11 + [NOT_RUN]
        assert str(found.reason[-1].values) == driver.LOST and np.isnan(found.end[-1])
        assert same_bits(found.end[:-1], expected.end[:-1])
    with mbvi.ensemble(pendulum(), {"mass": MASSES}, measure=measure, resume=True, **options) as found:
        assert (found.status == DONE).all() and (found.reason == "").all()
        assert same_bits(found.end, expected.end)


def test_an_interrupted_ensemble_goes_on(tmp_path):
    """Its file becomes that of one which was not interrupted, with what was said of members before and after."""
    rates, options = np.linspace(0, 300, 40), {"scheme": "simpson", "step": 0.01, "duration": 1.0, "threads": 1}
    described = load("double_pendulum")

    def run(path, **more):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return mbvi.ensemble(described, {"v.elbow.angle": rates}, path=path, **options, **more)

    def interrupt(done, members):
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "part.h5", progress=interrupt)
    seen = []
    whole, part = run(tmp_path / "whole.h5"), run(tmp_path / "part.h5", resume=True, progress=lambda *n: seen.append(n))
    with whole, part:
        assert seen[0][0] > 20 and seen[-1] == (40, 40)
        assert {*part.status.values.tolist()} == {DONE, FAILED}
        for name in ("q", "energy", "status", "steps", "reason"):
            np.testing.assert_array_equal(part[name], whole[name])


def test_what_was_said_before_a_kill_is_kept(tmp_path):
    """Behind the end of the file, from where it comes when the file is resumed; half a line is none."""
    path, over = tmp_path / "runs.h5", {"v.elbow.angle": [0.0, 300.0, 1.0]}
    options = {"scheme": "simpson", "step": 0.01, "duration": 1.0, "path": path}
    described = load("double_pendulum")
    mbvi.ensemble(described, over, **options).close()
    with h5py.File(path, "r+") as file:
        reason, file["reason"][...] = file["reason"].asstr()[1], ""
    with path.open("ab") as file:
        file.write(f'[1, "{reason}"]\n[2, "tw'.encode())
    with mbvi.ensemble(described, over, resume=True, **options) as found:
        assert found.reason.values.tolist() == ["", reason, ""] and len(reason) > 20


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"step": 0.02}, "another step, 0.01; give what it was begun with"),
        ({"over": {"mass": [1.0, 3.0]}}, "another mass"),
        ({"store": ["q", "p"]}, "another list of what is stored, without p"),
        ({"model": pendulum(length=2)}, "another model"),
    ],
)
def test_another_ensemble_is_not_resumed(changed, message, tmp_path):
    arguments = {"model": pendulum(), "over": {"mass": [1.0, 2.0]}, "path": tmp_path / "runs.h5", **OPTIONS}
    mbvi.ensemble(**arguments).close()
    before = (tmp_path / "runs.h5").read_bytes()
    with pytest.raises(mbvi.ModelError, match=f"expected the ensemble that is to be resumed, found {message}"):
        mbvi.ensemble(**{**arguments, **changed}, resume=True)
    assert (tmp_path / "runs.h5").read_bytes() == before


def test_what_is_no_ensemble_is_not_resumed(tmp_path):
    path = tmp_path / "runs.h5"
    path.write_text("mine")
    with pytest.raises(mbvi.ModelError, match="expected an ensemble file, found a file that is not HDF5"):
        mbvi.ensemble(pendulum(), {"mass": [1.0]}, path=path, resume=True, **OPTIONS)
    with pytest.raises(mbvi.ModelError, match="resume: expected the path of a file, found none; give path"):
        mbvi.ensemble(pendulum(), {"mass": [1.0]}, resume=True, **OPTIONS)


def test_a_member_that_takes_too_long_is_given_up():
    """A run of minutes in a thread. The others are what they are without a limit."""
    over = {"v.pivot.angle": [0.0, 1.0]}
    found = mbvi.ensemble(pendulum(), over, step=1e-3, duration=1e5, every=10**8, time_limit=0.3, threads=2)
    assert found.status.values.tolist() == [FAILED, FAILED] and (found.steps > 0).all()
    assert str(found.reason[0].values) == OVERDUE
    ball = load("bouncing_ball")  # whose steps are done by another loop
    found = mbvi.ensemble(ball, {"height": [1.0, 2.0]}, duration=1e5, every=10**7, time_limit=0.3, threads=2)
    assert found.status.values.tolist() == [FAILED, FAILED] and (found.steps < 10**6).all()
    limited = mbvi.ensemble(pendulum(), over, time_limit=100, **OPTIONS)
    assert same_bits(limited.q, mbvi.ensemble(pendulum(), over, **OPTIONS).q)
    with pytest.raises(mbvi.ModelError, match="time_limit: expected a number of seconds greater than 0, found 0"):
        mbvi.ensemble(pendulum(), over, time_limit=0, **OPTIONS)


def test_a_system_of_ones_own_can_be_sent():
    """A Lagrangian with a function of one's own, as a process gets it."""
    x = sympy.symbols("x")
    system = mbvi.from_sympy([x], [[2 + x**2]], x**4, initial_q=[1.0])
    variables = {"q": Variable(("t", "coordinate"), (11, 1), "m", "")}
    recipe = Recipe((system, Members.of({"q.x": 1.0}), None, 0.01, 0.1, None, 1), variables, {})
    chunk = Chunk(np.arange(2), np.array([[1.0], [0.5]]))
    ended = run_chunk(mbvi.__version__, executors.packed(recipe, pickle.dumps, "processes"), chunk)
    expected = mbvi.ensemble(system, {"q.x": [1.0, 0.5]}, step=0.01, duration=0.1, store=("q",))
    np.testing.assert_allclose(ended.values["q"], expected.q, rtol=1e-14)


def test_a_force_and_its_parameters_can_be_sent(tmp_path):
    """As a process gets them, also where its system is assembled anew; and only the same is resumed."""
    system, over = mbvi.assemble(pendulum(drag=0.1), force=drag), {"drag": np.linspace(0, 1, 40)}
    variables = {"q": Variable(("t", "coordinate"), (51, 1), "rad", "")}
    recipe = Recipe((system, Members.of({"drag": 0.0}), None, 0.01, 0.5, None, 1), variables, {})
    options = {**OPTIONS, "store": ("q",), "path": tmp_path / "runs.h5"}
    with mbvi.ensemble(system, over, **options) as expected:
        for numbers in (np.arange(3), np.arange(3, 40)):  # few are assembled, of many the tables are filled
            chunk = Chunk(numbers, over["drag"][numbers, None])
            ended = run_chunk(mbvi.__version__, executors.packed(recipe, pickle.dumps, "processes"), chunk)
            assert same_bits(ended.values["q"], expected.q[numbers])
    mbvi.ensemble(system, over, resume=True, **options).close()
    with pytest.raises(mbvi.ModelError, match="expected the ensemble that is to be resumed, found another system"):
        mbvi.ensemble(system.with_parameters({"length": 2.0}), over, resume=True, **options)
