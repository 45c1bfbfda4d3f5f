"""Files of runs: whole at every moment, and continued bit for bit."""

import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import h5py
import numpy as np
import pandas
import pytest
import sympy
import xarray
from scipy.spatial.transform import Rotation

import mbvi
from mbvi.results import storage
from mbvi.steppers import loop, record
from mbvi.system.chart import joint_chart

from .test_trajectory import bits, error_of


def spinning_pendulum():
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    initial = {"pivot": mbvi.Initial(velocity=40)}
    return mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, initial=initial)


def oscillator():
    x = sympy.Symbol("x")
    return mbvi.from_sympy([x], [[2.0]], 3.0 * x**2, initial_q=[1.0], name="oscillator")


def all_bits(trajectory):
    """All that a file holds, by name; of a trajectory in memory it is computed."""
    return [*bits(trajectory), *((name, values.tobytes()) for name, _, values in trajectory.table().columns())]


@pytest.fixture
def eager(monkeypatch):
    """Blocks of a few rows are written at once."""
    monkeypatch.setattr(record, "BLOCK_SECONDS", 0.0)
    monkeypatch.setattr(record, "BLOCK_BYTES", 10_000)


@pytest.fixture
def stepwise(eager, monkeypatch):
    """Every stored state is a piece of its own."""
    monkeypatch.setattr(loop, "PIECE_SECONDS", 0.0)
    monkeypatch.setattr(loop, "FIRST_STEPS", 0.0)


CASES = [
    ("double_pendulum", {"scheme": "midpoint"}, 2.0, 0.7),
    ("double_pendulum", {"scheme": "simpson", "every": 3}, 2.0, 0.7),
    ("lagrange_top", {"scheme": "suzuki4", "start_time": 1.5}, 1.0, 0.3),
    ("heavy_top_quaternion", {"scheme": "midpoint"}, 0.5, 0.2),
    ("four_bar", {"scheme": "simpson"}, 1.0, 0.4),
    ("four_bar", {"scheme": "gauss2", "formulation": "embedding"}, 0.5, 0.2),
    ("spinning pendulum", {"scheme": "simpson", "step": 0.01}, 5.0, 2.0),
    ("oscillator", {"scheme": "newmark", "step": 0.01}, 5.0, 2.0),
    ("oscillator", {"scheme": "simpson_linear", "step": 0.01, "every": 7}, 5.0, 2.0),
    ("oscillator", {"scheme": "chorin", "step": 0.01}, 5.0, 2.0),
    ("double_pendulum", {"scheme": "rk4", "every": 3}, 2.0, 0.7),
    ("double_pendulum", {"scheme": "direct_midpoint", "start_time": 1.5}, 2.0, 0.7),
    ("double_pendulum", {"scheme": "midpoint_variation"}, 2.0, 0.7),
    ("double_spherical_pendulum", {"scheme": "energy_momentum", "formulation": "embedding"}, 2.0, 0.7),
    ("heavy_top_quaternion", {"scheme": "blanes_moan4", "every": 3}, 0.6, 0.3),
]


@pytest.mark.parametrize(("name", "options", "duration", "before"), CASES)
def test_a_run_in_two_parts_is_one_run(name, options, duration, before, models, tmp_path, eager):
    own = {"spinning pendulum": spinning_pendulum, "oscillator": oscillator}
    described = own[name]() if name in own else mbvi.load(models / f"{name}.yaml")
    whole = mbvi.simulate(described, duration=duration, **options)
    path = tmp_path / "a.h5"
    part = mbvi.simulate(described, duration=before, path=path, **options)
    assert all_bits(part)[:2] == [each[: len(part)].tobytes() for each in (whole.t, whole.q)]
    longer = mbvi.resume(path, duration=duration, system=described if name == "oscillator" else None)
    assert all_bits(longer) == all_bits(whole)
    assert replace(longer.statistics, seconds=0) == replace(whole.statistics, seconds=0)
    if name == "spinning pendulum":
        assert whole.q.max() > 10 * 2 * np.pi


def interrupted(*arguments, path, **options):
    """A run that Ctrl-C ends after 60 steps: its states."""

    def interrupt(done, steps):
        if done == 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="go on by"):
        mbvi.simulate(*arguments, path=path, progress=interrupt, **options)
    return mbvi.read(path)


@pytest.mark.parametrize("scheme", ["rk4", "direct_midpoint", "three_point"])
def test_steps_that_change_are_in_the_file(scheme, models, tmp_path, stepwise):
    path, pendulum = tmp_path / "a.h5", mbvi.load(models / "double_pendulum.yaml")
    sizes = 0.005 + 0.002 * np.sin(np.arange(300))
    whole = mbvi.simulate(pendulum, scheme, step=sizes, every=3, start_time=1.5)
    part = interrupted(pendulum, scheme, step=sizes, every=3, start_time=1.5, path=path)
    assert bits(part)[:2] == [each[:21].tobytes() for each in (whole.t, whole.q)]
    assert np.array_equal(part.step_sizes, sizes[:60])
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        assert np.array_equal(dataset.step_sizes, sizes) and dataset.step_sizes.attrs["units"] == "s"
    remedy = "leave it out, or start a new run with its last state as initial_q and initial_v"
    message = f"duration: expected none where the sizes of all steps were given, found 2.0; {remedy}"
    assert error_of(mbvi.resume, path, 2.0) == message
    longer = mbvi.resume(path)
    assert all_bits(longer) == all_bits(whole) and np.array_equal(longer.step_sizes, sizes)
    assert replace(longer.statistics, seconds=0) == replace(whole.statistics, seconds=0)
    expected = f"{path}: expected less than 300 steps done, found 300 steps; start a new run"
    assert error_of(mbvi.resume, path).startswith(expected)


def test_a_run_in_a_chart_needs_it_to_go_on(models, tmp_path, stepwise):
    """Along which the quaternion of a top changes its sign."""
    path, top = tmp_path / "a.h5", mbvi.assemble(mbvi.load(models / "lagrange_top.yaml"), "embedding")
    options = {"scheme": "midpoint", "step": 0.002, "duration": 0.4}
    whole = mbvi.simulate(top, chart=joint_chart(top), **options)
    part = interrupted(top, chart=joint_chart(top), path=path, **options)
    assert len(part) == 61 and part.q[-1, 3:7] @ top.initial_q[3:7] < 0
    names = "contact.phi, contact.theta, contact.psi"
    remedy = "build it, and pass it: mbvi.resume(path, chart=chart)"
    assert error_of(mbvi.resume, path) == f"{path}: chart: expected that of {names}, found none; {remedy}"
    other = replace(joint_chart(top), coordinate_names=("a", "b", "c"))
    assert error_of(mbvi.resume, path, chart=other) == f"{path}: chart: expected that of {names}, found that of a, b, c"
    longer = mbvi.resume(path, system=top, chart=joint_chart(top))
    assert all_bits(longer) == all_bits(whole)


def test_a_chart_for_a_run_that_has_none(models, tmp_path):
    path, top = tmp_path / "a.h5", mbvi.assemble(mbvi.load(models / "lagrange_top.yaml"), "embedding")
    mbvi.simulate(top, "midpoint", step=0.002, duration=0.01, path=path)
    message = error_of(mbvi.resume, path, 0.1, chart=joint_chart(top))
    assert message == f"{path}: chart: expected none, found that of contact.phi, contact.theta, contact.psi"


def test_a_chart_of_another_kind(streamed):
    message = error_of(mbvi.resume, streamed, duration=2.0, chart="x")
    assert message == "chart: expected a Chart, found 'x'; make one by joint_chart or sympy_chart"


def test_a_streamed_file_is_a_saved_one(models, tmp_path, eager):
    top = mbvi.load(models / "lagrange_top.yaml")
    mbvi.simulate(top, duration=0.5, path=tmp_path / "a.h5")
    mbvi.simulate(top, duration=0.5).save(tmp_path / "b.h5")
    with h5py.File(tmp_path / "a.h5") as one, h5py.File(tmp_path / "b.h5") as other:
        assert set(one) - {"restart"} == set(other) and "momenta" in one
        for key in other:
            assert np.array_equal(one[key], other[key]) and one[key].dtype == other[key].dtype
            assert one[key].chunks == other[key].chunks and one[key].maxshape == other[key].maxshape
        assert set(one.attrs) == set(other.attrs)
        different = [key for key in one.attrs if key != "statistics" and one.attrs[key] != other.attrs[key]]
        assert different == []


@pytest.mark.parametrize(("name", "formulation"), [("four_bar", "tree"), ("bricard", "embedding")])
def test_poses_and_multipliers_are_in_the_file(name, formulation, models, tmp_path, eager):
    path = tmp_path / "a.h5"
    motion = mbvi.simulate(mbvi.load(models / f"{name}.yaml"), formulation=formulation, duration=0.3, path=path)
    in_memory = mbvi.simulate(motion.system, duration=0.3)
    assert np.array_equal(in_memory.multipliers, motion.multipliers)
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        for body in motion.system.body_names:
            place, rotation = motion.pose(body)
            assert np.array_equal(dataset.position.sel(body=body), place)
            turn = Rotation.from_quat(dataset.rotation.sel(body=body)[:, [1, 2, 3, 0]])
            np.testing.assert_allclose(turn.as_matrix(), rotation, rtol=0, atol=1e-15)
        for i, constraint in enumerate(motion.system.constraint_names):
            assert np.array_equal(dataset.multipliers.sel(constraint=constraint), in_memory.multipliers[:, i])
        assert dataset.position.units == "m" and list(dataset.component.values) == list("wxyz")
        assert tuple(dataset.constraint_unit.values) == motion.system.constraint_units


def test_signs_of_quaternions_do_not_jump(tmp_path, eager, monkeypatch):
    """Of the two quaternions of a rotation each row has the one on the side of the row before: in memory, block by block in a
    file, over the end of a run that goes on, in a CSV file with and without stored poses, and of every 9th row.
    """
    monkeypatch.setattr("mbvi.results.trajectory.EXPORTED_ROWS", 7)
    whole = mbvi.simulate(spinning_pendulum(), step=0.01, duration=3.0)
    half_turns = np.abs(np.diff(np.sign(whole.to_xarray().rotation.sel(component="w")[:, 0]))).sum() / 2
    assert half_turns > 15
    for store in (["poses"], []):
        path = tmp_path / f"{len(store)}.h5"
        mbvi.simulate(spinning_pendulum(), step=0.01, duration=1.2, path=path, store=store)
        stored = mbvi.resume(path, 3.0)
        stored.export(tmp_path / "a.csv", force=True)
        columns = pandas.read_csv(tmp_path / "a.csv").filter(regex="^rotation").to_numpy()
        tables = [stored.to_xarray(), stored.rows(slice(None, None, 9)).to_xarray()]
        for quaternions in (columns, *(each.rotation.sel(body="bob").values for each in tables)):
            assert (np.sum(quaternions[1:] * quaternions[:-1], axis=1) > 0).all()
            turn = Rotation.from_quat(quaternions[:, [1, 2, 3, 0]]).as_matrix()
            rotations = whole.pose("bob")[1][:: 9 if len(turn) < len(whole) else 1]
            np.testing.assert_allclose(turn, rotations, rtol=0, atol=1e-14)
        with h5py.File(path) as file:
            assert ("rotation" in file) == bool(store)


def test_what_a_file_holds_is_chosen(models, tmp_path, eager):
    model = mbvi.load(models / "four_bar.yaml")
    for store in (["poses"], ["multipliers"], []):
        path = tmp_path / f"{store}.h5"
        part = mbvi.simulate(model, duration=0.1, path=path, store=store)
        with h5py.File(path) as file:
            kept = {key for key in ("position", "rotation", "multipliers") if key in file}
        assert kept == {key for part in store for key in storage.PARTS[part]}
        part.save(tmp_path / "b.h5", force=True, store=store)
        with h5py.File(tmp_path / "b.h5") as file:
            assert kept == {key for key in ("position", "rotation", "multipliers") if key in file}
        assert all_bits(mbvi.resume(path, 0.3)) == all_bits(mbvi.simulate(model, duration=0.3))
    expected = "store: expected some of poses, multipliers, measurements, found "
    assert error_of(mbvi.simulate, model, path=tmp_path / "c.h5", store=["pose"]) == expected + "['pose']"
    assert error_of(part.save, tmp_path / "c.h5", store="poses") == expected + "'poses'"
    message = "store: expected none without a file, found ['poses']; give a path, or leave it out"
    assert error_of(mbvi.simulate, model, store=["poses"]) == message
    assert not (tmp_path / "c.h5").exists()


def test_poses_of_a_system_that_no_file_can_hold(models, tmp_path):
    def drag(t, q, v, F):
        F[0] -= 0.1 * v[0]

    system = mbvi.assemble(mbvi.load(models / "four_bar.yaml"), force=drag)
    whole = mbvi.simulate(system, duration=0.1, path=tmp_path / "a.h5")
    alone = mbvi.read(tmp_path / "a.h5")
    assert isinstance(alone.system, storage.Nameplate)
    for body in system.body_names:
        for one, other in zip(alone.pose(body), whole.pose(body), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-15)
    assert alone.multipliers.tobytes() == whole.multipliers.tobytes()
    assert alone.table().to_xarray().equals(whole.table().to_xarray())


def test_the_file_is_read_while_it_is_written(tmp_path, eager):
    lengths, path = [], tmp_path / "a.h5"
    read = f"import h5py; file = h5py.File({str(path)!r}); print(len(file['t']), file['q'][:].tobytes().hex())"

    def look(done, steps):
        lengths.append(len(mbvi.read(path)))
        if len(lengths) == 3:
            shown.append(subprocess.run([sys.executable, "-c", read], capture_output=True, text=True).stdout.split())

    shown = []
    whole = mbvi.simulate(spinning_pendulum(), step=0.01, duration=5.0, path=path, progress=look)
    assert lengths == sorted(set(lengths)) and lengths[-1] == 501
    ((count, q),) = shown  # by another program
    assert int(count) == lengths[2] < 501
    assert bytes.fromhex(q) == whole.q[: int(count)].tobytes()


def advance(path, model, pipe):
    """Begin or go on, telling of every piece; in a process that will be killed."""
    if path.exists():
        mbvi.resume(path, progress=lambda done, steps: pipe.send(done))
    else:
        mbvi.simulate(model, step=0.002, duration=200, path=path, progress=lambda done, steps: pipe.send(done))


@pytest.mark.skipif(os.name != "posix", reason="forks, and sends a signal")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_killed_run_loses_nothing_and_goes_on(models, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "BLOCK_SECONDS", 0.01)
    model = mbvi.load(models / "four_bar.yaml")
    whole = mbvi.simulate(model, step=0.002, duration=200)
    expected = {each.name: each.values for each in whole.table().quantities} | {"t": whole.t}
    fork, chance = multiprocessing.get_context("fork"), random.Random(7)
    path, before = tmp_path / "a.h5", 0
    for _ in range(5):
        out, into = fork.Pipe(duplex=False)
        process = fork.Process(target=advance, args=(path, model, into))
        process.start()
        assert out.poll(60)
        first = out.recv()
        time.sleep(chance.uniform(0.0, 0.02))
        process.kill()
        process.join()
        process.close()
        with h5py.File(path) as file:  # as any other tool opens it
            keys = [key for key in storage.VARIABLES if key in file]
            assert (
                len(keys) == len(storage.VARIABLES) - 2
            )  # no symmetry conserves a momentum, and no function tells an actuator
            rows = min(len(file[key]) for key in keys)
            assert rows > before and rows >= first + 1
            for key in keys:
                assert file[key][:rows].tobytes() == expected[key][:rows].tobytes()
        before = rows
    assert before < len(whole)
    assert all_bits(mbvi.resume(path)) == all_bits(whole)


@pytest.mark.parametrize("good", [*range(1, 28), 40])
def test_a_disk_that_fills_up_loses_nothing(good, tmp_path, eager, monkeypatch):
    path, write, count = tmp_path / "a.h5", storage.write_at, 0
    whole = mbvi.simulate(spinning_pendulum(), step=0.01, duration=5.0)

    def full(file, place, data):
        nonlocal count
        count += 1
        if count > good:
            write(file, place, memoryview(data).cast("B")[:7])
            raise OSError(28, "No space left on device")
        write(file, place, data)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "write_at", full)
        message = error_of(mbvi.simulate, spinning_pendulum(), step=0.01, duration=5.0, path=path)
    made = 11  # writes of the first rows and of the first state
    if good < made:
        assert message == f"{path}: expected room on the disk, found no space left on device; make room"
        assert os.listdir(tmp_path) == []
        return
    assert message == (
        f"{path}: expected room on the disk, found no space left on device; make room, and go on by: mbvi run --resume {path}"
    )
    kept = mbvi.read(path)
    assert [len(kept), kept.q.tobytes()] == [len(kept), whole.q[: len(kept)].tobytes()]
    assert all_bits(mbvi.resume(path)) == all_bits(whole)


def test_of_a_damaged_state_the_one_before_is_taken(tmp_path, eager):
    path, whole = tmp_path / "a.h5", mbvi.simulate(spinning_pendulum(), step=0.01, duration=5.0)
    mbvi.simulate(spinning_pendulum(), step=0.01, duration=4.0, path=path)
    with h5py.File(path, "r+") as file:
        slots = file["restart/state"]
        newest = int(np.argmax(slots[:, :16].view("<i8")[:, 1]))
        slots[newest, 100:200] = 0xFF
    assert all_bits(mbvi.resume(path, duration=5.0)) == all_bits(whole)
    with h5py.File(path, "r+") as file:
        file["restart/state"][:, 100:200] = 0xFF
    remedy = "start a new run with its last state as initial_q and initial_v"
    assert error_of(mbvi.resume, path, 6.0) == (
        f"{path}: expected a file that a run wrote, found no state to go on from; {remedy}"
    )


def test_an_interruption_tells_where_the_states_are(tmp_path, eager):
    path = tmp_path / "a.h5"

    def interrupt(done, steps):
        if done > 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        mbvi.simulate(spinning_pendulum(), step=0.01, duration=5.0, path=path, progress=interrupt)
    kept = mbvi.read(path)
    assert str(raised.value) == (
        f"{len(kept)} states until t = {kept.t[-1]:.6g} s are in {path}; go on by: mbvi run --resume {path}"
    )
    assert 200 < len(kept) < 501
    assert all_bits(mbvi.resume(path)) == all_bits(mbvi.simulate(spinning_pendulum(), step=0.01, duration=5.0))


def test_an_interruption_tells_what_else_going_on_needs(models, tmp_path, stepwise):
    def interrupt(done, steps):
        if done == 60:
            raise KeyboardInterrupt

    def said(system, **options):
        path = tmp_path / f"{len(os.listdir(tmp_path))}.h5"
        with pytest.raises(KeyboardInterrupt) as raised:
            mbvi.simulate(system, "midpoint", step=0.002, duration=1, path=path, progress=interrupt, **options)
        return str(raised.value).partition("go on by: ")[2].replace(str(path), "FILE")

    def drag(t, q, v, F):
        F[0] -= 0.1 * v[0]

    top = mbvi.load(models / "lagrange_top.yaml")
    of_embedding = mbvi.assemble(top, "embedding")
    assert said(top) == "mbvi run --resume FILE"
    assert said(mbvi.assemble(top, force=drag)) == said(oscillator()) == "mbvi.resume('FILE', system=system)"
    assert said(of_embedding, chart=joint_chart(of_embedding)) == "mbvi.resume('FILE', chart=chart)"


def test_a_disk_that_is_full_tells_what_else_going_on_needs(tmp_path, eager, monkeypatch):
    path, write, written = tmp_path / "a.h5", storage.write_at, []

    def full(*arguments):
        written.append(arguments)
        if len(written) > 20:  # the first rows are there
            raise OSError(28, "No space left on device")
        write(*arguments)

    monkeypatch.setattr(storage, "write_at", full)
    message = error_of(mbvi.simulate, oscillator(), "midpoint", step=0.01, duration=50.0, path=path)
    assert message.endswith(f"make room, and go on by: mbvi.resume('{path}', system=system)")


def test_a_failed_run_has_its_states_in_the_file(tmp_path):
    bob = mbvi.Initial(position="pi/3")
    model = spinning_pendulum().model_copy(update={"initial": {"pivot": bob}})
    with pytest.raises(mbvi.StepError) as in_memory:
        mbvi.simulate(model, step=4.0, duration=400.0)
    with pytest.raises(mbvi.StepError) as in_file:
        mbvi.simulate(model, step=4.0, duration=400.0, path=tmp_path / "a.h5")
    assert str(in_file.value) == str(in_memory.value)
    assert all_bits(in_file.value.trajectory) == all_bits(in_memory.value.trajectory)
    assert bits(mbvi.read(tmp_path / "a.h5")) == bits(in_memory.value.trajectory)
    assert "found no state to go on from; start a new run" in error_of(mbvi.resume, tmp_path / "a.h5")


def test_a_run_that_cannot_begin_leaves_what_is_there(tmp_path):
    path = tmp_path / "a.h5"
    path.write_text("precious")
    remedy = "choose another name, or overwrite it by force=True (--force)"
    message = error_of(mbvi.simulate, spinning_pendulum(), step=0.01, duration=1.0, path=path)
    assert message == f"{path}: expected a new file, found one that exists; {remedy}"
    assert (
        "newmark"
        in error_of(mbvi.simulate, spinning_pendulum(), "newmark", step=0.01, duration=1.0, path=path, force=True)
        + " newmark"
    )
    assert path.read_text() == "precious" and os.listdir(tmp_path) == ["a.h5"]
    mbvi.simulate(spinning_pendulum(), step=0.01, duration=1.0, path=path, force=True)
    assert len(mbvi.read(path)) == 101 and os.listdir(tmp_path) == ["a.h5"]


def test_a_file_that_does_not_fit_on_the_disk(tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 10_000})
    monkeypatch.setattr("mbvi.run_arguments.shutil.disk_usage", lambda folder: usage)
    message = error_of(mbvi.simulate, spinning_pendulum(), step=0.01, duration=10.0, path=tmp_path / "a.h5")
    assert message == (
        "every: expected a file of at most 1e-05 GB, found 1000 steps of 1 coordinate (0.000128 GB); store every 13th state"
    )
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="sets a limit of the process")
def test_a_file_larger_than_allowed(tmp_path):
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000_000, limits[1]))
    try:
        message = error_of(mbvi.simulate, spinning_pendulum(), step=0.01, duration=1e4, path=tmp_path / "a.h5")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert message == f"{tmp_path / 'a.h5'}: expected a file that can be written, found file too large"
    assert os.listdir(tmp_path) == []


# ------------------------------------------------------------------------------- what cannot go on


@pytest.fixture
def streamed(tmp_path):
    path = tmp_path / "a.h5"
    mbvi.simulate(spinning_pendulum(), step=0.01, duration=1.0, path=path)
    return path


def test_a_run_at_its_end(streamed):
    remedy = "give a longer duration (--duration)"
    expected = f"{streamed}: expected less than 100 steps done, found 100 steps; {remedy}"
    assert error_of(mbvi.resume, streamed) == expected
    assert error_of(mbvi.resume, streamed, 0.5) == expected.replace("than 100", "than 50")
    assert len(mbvi.resume(streamed, 1.01)) == 102
    assert error_of(mbvi.resume, streamed, -1.0).startswith("duration: expected a time greater than 0, found -1.0")


def test_a_saved_trajectory_has_no_state_to_go_on_from(tmp_path):
    path = tmp_path / "a.h5"
    mbvi.simulate(spinning_pendulum(), step=0.01, duration=1.0).save(path)
    message = error_of(mbvi.resume, path, 2.0)
    assert message.startswith(
        f"{path}: expected a file that a run wrote, found no state to go on from; start a new run"
    )


def test_another_model_or_version(streamed):
    other = mbvi.assemble(spinning_pendulum().model_copy(update={"gravity": (0.0, 0.0, -1.6)}))
    assert error_of(mbvi.resume, streamed, 2.0, system=other) == (
        f"{streamed}: system: expected the file's model 'pendulum', found 'pendulum' with other gravity; leave system out to "
        "take that of the file"
    )
    with h5py.File(streamed, "r+") as file:
        file.attrs["mbvi_version"] = "0.0.1"
    message = error_of(mbvi.resume, streamed, 2.0)
    assert message.startswith(
        f"{streamed}: expected a run of mbvi {mbvi.__version__}, found one of mbvi 0.0.1; start a new run"
    )
    assert len(mbvi.read(streamed)) == 101


def test_a_system_that_no_file_can_hold_must_be_given(tmp_path):
    path = tmp_path / "a.h5"
    mbvi.simulate(oscillator(), "midpoint", step=0.01, duration=1.0, path=path)
    assert error_of(mbvi.resume, path, 2.0) == (
        f"{path}: expected a system, found the name 'oscillator' of a system that its file cannot hold; build it, and pass "
        "it: system=system"
    )


def test_a_run_does_not_go_on_with_another_lagrangian(tmp_path):
    path, (x, y) = tmp_path / "a.h5", sympy.symbols("x y")

    def plane(mass, potential):
        return mbvi.from_sympy(
            [x, y], np.diag([mass, mass]), potential, initial_q=[1, 0], initial_v=[1, 0], name="plane"
        )

    bowl = x**2 + y**2
    mbvi.simulate(plane(1, bowl), step=0.1, duration=1, path=path)
    head = f"{path}: system: expected the "
    for other in (plane(1, 50 * bowl), plane(2, bowl)):
        message = error_of(mbvi.resume, path, 2, system=other)
        assert (
            message == head + "energies of the run's system at t = 1 s, found others of 'plane'; pass the same system"
        )
    message = error_of(mbvi.resume, path, 2, system=plane(1, bowl + x * y))
    assert message.startswith(head + "conserved momenta ") and message.endswith(", found none; pass the same system")
    assert len(mbvi.resume(path, 2, system=plane(1, bowl))) == 21


def test_files_that_no_run_wrote(streamed, tmp_path):
    assert error_of(mbvi.resume, tmp_path / "b.h5").endswith("found no such file; check the path")
    whole = streamed.read_bytes()
    streamed.write_bytes(whole[: len(whole) // 2])
    assert error_of(mbvi.resume, streamed, 2.0).endswith("found a truncated one; copy it again")
    streamed.write_text("q: 1")
    assert error_of(mbvi.resume, streamed, 2.0).endswith("found a file that is not HDF5")


def put(key, value):
    """What replaces a dataset, or an attribute if its name begins with @; None takes it away."""

    def damage(file):
        place = file.attrs if key[0] == "@" else file
        if key.strip("@") in place:
            del place[key.strip("@")]
        if value is not None:
            place[key.strip("@")] = value

    return damage


def change(key, **numbers):
    """What changes some of the numbers of an attribute."""

    def damage(file):
        file.attrs[key] = json.dumps(json.loads(file.attrs[key]) | numbers)

    return damage


def spoil(key, word):
    """What makes the first letter of a word in the text of an attribute a byte that is none."""

    def damage(file):
        content = file.attrs[key].encode()
        assert word.encode() in content
        changed = content.replace(word.encode(), b"\x9a" + word[1:].encode())
        file.attrs.create(key, changed, dtype=h5py.string_dtype())

    return damage


DAMAGES = [
    (put("@step", 0.0), "step is 0"),
    (put("@step", np.nan), "step is nan"),
    (put("@every", 0), "every is 0"),
    (put("@steps", 3.7), "steps is 3.7"),
    (put("@steps", 3), "101 rows of every = 1 are more than steps = 3"),
    (put("@every", 2), "101 rows of every = 2 are more than steps = 100"),
    (put("@step", 0.004), "t is 0.01 in row 1, where the steps end at 0.004"),
    (put("@step", "long"), "step is no number"),
    (put("@step", np.array([0.1, 0.2])), "step is no number"),
    (put("@start_time", 5.0), "t is 0 in row 0, where the steps end at 5"),
    (put("@start_time", None), "no start_time"),
    (put("@scheme", "midpoint"), "scheme is midpoint, and scheme_numbers are of simpson"),
    (put("@statistics", "{}"), "statistics has no steps"),
    (put("@statistics", "{"), "statistics must be a mapping"),
    (change("statistics", wall=1), "statistics has 'wall', which is unknown"),
    (change("statistics", steps=1.5), "steps is 1.5"),
    (put("@name", "\x1b[2Jpendulum"), "name has characters that cannot be printed"),
    (put("@findings", "[3]"), "findings are no mappings"),
    (put("@findings", "[" * 5000 + "]" * 5000), "findings must be a list"),
    (put("@findings", json.dumps([{"kind": "x"}])), "a finding has no text"),
    (
        put("@findings", json.dumps([{"kind": "x", "text": "\x1b[2J", "where": "", "t": 0, "size": 0}])),
        "a finding has characters that cannot be printed",
    ),
    (put("@chart", "5"), "chart must be a list"),
    (put("@chart", '"abc"'), "chart must be a list"),
    (put("@chart", '{"a": 1}'), "chart must be a list"),
    (put("@chart", "[1, 2]"), "chart has names that are no texts"),
    (put("@chart", '[["a"]]'), "chart has names that are no texts"),
    (put("q", None), "no q"),
    (put("q", np.zeros((101, 1), complex)), "q is no list of numbers"),
    (put("coordinate", np.arange(1)), "coordinate is no list of texts"),
    (put("t", np.zeros(101)), "t is 0 in row 1, where the steps end at 0.01"),
    (put("t", np.r_[0.0, 1e-9, np.arange(2, 101) * 0.01]), "t is 1e-09 in row 1, where the steps end at 0.01"),
    (put("q", np.full((101, 1), np.nan)), "q has numbers that are not finite"),
    (put("p", np.full((101, 1), np.inf)), "p has numbers that are not finite"),
    (put("rotation", np.zeros((101, 1, 4))), "rotation has quaternions whose norm is not 1"),
    (put("@degrees_of_freedom", 7), "degrees_of_freedom is 7, of 1 coordinates and 0 constraints"),
    (put("@scheme_numbers", "{}"), "scheme_numbers has no name"),
    (spoil("scheme_numbers", "parabolas"), "scheme_numbers is no text in UTF-8"),
    (put("@scheme_numbers", '{"nodes": []}'), "scheme_numbers has no name"),
    (put("step_sizes", "x"), "step_sizes is no list of numbers"),
    (put("@statistics", "[]"), "must be a mapping"),
    (put("@mbvi_version", None), "no mbvi_version"),
    (put("axis", None), "position has rows of shape (1, 3), its labels are of (1, 0)"),
    (put("component", None), "rotation has rows of shape (1, 4), its labels are of (1, 0)"),
    (put("position", None), "no position"),
    (put("rotation", None), "no rotation"),
    (put("p", np.zeros((101, 2))), "p has rows of shape (2,), its labels are of (1,)"),
    (put("energy", np.zeros((101, 1))), "energy has rows of shape (1,), its labels are of ()"),
    (put("t", np.full(101, np.nan)), "t is nan in row 0, where the steps end at 0"),
    (put("restart/state", np.zeros((2, 50))), "restart/state is no state of a stepper"),
    (put("restart/state", 3), "restart/state is no state of a stepper"),
    (put("restart/state", np.zeros((1, 50), np.uint8)), "restart/state is no state of a stepper"),
    (put("@steps", 2**61), "steps is 2.30584e+18"),
    (put("@steps", -1), "steps is -1"),
    (put("@start_time", np.inf), "start_time is inf"),
    (put("@degrees_of_freedom", -3), "degrees_of_freedom is -3"),
    (put("@constraint_count", -3), "constraint_count is -3"),
    (put("@is_conservative", 2), "is_conservative is 2"),
    (put("coordinate_unit", ["rad", "m"]), "coordinate has 2 units"),
    (put("step_sizes", np.full(100, -0.1)), "step_sizes are no sizes of all steps"),
    (put("step_sizes", np.full(99, 0.1)), "step_sizes are no sizes of all steps"),
    (change("statistics", iterations=-1), "iterations is -1"),
    (change("statistics", seconds="long"), "seconds is 'long'"),
    (change("statistics", seconds=float("inf")), "seconds is inf"),
    (change("scheme_numbers", nodes=[]), "scheme 'simpson': nodes: expected as many as weights"),
    (change("scheme_numbers", nodes=[[0.1]]), "scheme 'simpson': nodes: expected a list of finite numbers"),
    (change("scheme_numbers", fractions=[]), "scheme 'simpson': weights: expected weights and fractions that sum to 1"),
    (change("scheme_numbers", name=["simpson"]), "scheme: name: expected a text, found ['simpson']"),
    (
        change("scheme_numbers", order="high"),
        "scheme 'simpson': order: expected a whole number of at least 1, found 'high'",
    ),
    (
        put("@scheme_numbers", json.dumps({"name": "os.system", "runner": "os.system", "numbers": []})),
        "found 'os.system'",
    ),
    (put("@scheme_numbers", json.dumps({"name": "chorin", "numbers": [0.5]})), "scheme chorin has other numbers"),
    (put("@scheme_numbers", json.dumps({"name": "simpson", "numbers": []})), "scheme simpson has other numbers"),
    (put("@scheme_numbers", "[]"), "a damaged one"),
]


@pytest.mark.parametrize(("damage", "what"), DAMAGES, ids=[what for _, what in DAMAGES])
def test_a_damaged_part_is_named(damage, what, streamed):
    with h5py.File(streamed, "r+") as file:
        damage(file)
    message = error_of(mbvi.resume, streamed, 2.0)
    assert message.startswith(f"{streamed}: expected a trajectory file, found a damaged one (") and what in message


def forge(path, change):
    """Change the numbers of all states of the stepper, and make the checksums fit."""
    with h5py.File(path, "r+") as file:
        for i, slot in enumerate(file["restart/state"][()]):
            numbers = slot.view("<i8")
            if numbers.any():
                change(numbers[storage.HEAD :])
                numbers[0] = storage.checksum_of(int(numbers[1]), slot[8 * storage.HEAD :].tobytes())
                file["restart/state"][i] = slot


@pytest.mark.parametrize("number", [-1, 7, 2**62, -(2**63), 0x7F7F7F7F7F7F7F7F])
def test_a_forged_state_is_refused(number, streamed):
    """Integers in it choose rows of arrays; those that none can have ended the process."""
    forge(streamed, lambda numbers: numbers.fill(number))
    assert error_of(mbvi.resume, streamed, 2.0) == (
        f"{streamed}: expected the state of the stepper as a run leaves it, found one with numbers that no run leaves in it; "
        f"{storage.RESTART}"
    )


@pytest.mark.parametrize(
    ("place", "forged", "found"),
    [
        (0, np.float64(np.nan).view(np.int64), "one from which it is not, after step 0"),
        (3, 2**40, f"that of step {2**40}"),
    ],
)
def test_a_forged_anchor_of_a_run_with_contacts_fails_its_next_step(place, forged, found, models, tmp_path):
    """It is what the loop began from after the last impact: q and p, then the gap when it was zero, and the step."""
    path = tmp_path / "ball.h5"
    run = mbvi.simulate(mbvi.load(models / "bouncing_ball.yaml"), "lobatto4", step=0.01, duration=0.2, path=path)
    anchor = np.concatenate([run.q[0], run.p[0]]).view(np.int64)

    def change(numbers):
        windows = np.lib.stride_tricks.sliding_window_view(numbers, 2)
        (first,) = np.flatnonzero((windows == anchor).all(axis=1))[-1:]
        numbers[first + place] = forged

    forge(path, change)
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.resume(path, 0.3)
    expected = f"step 20 (t = 0.2 s): contacts: expected a state from which step 20 is reached, found {found}"
    assert str(caught.value).startswith(expected)


def take_away_names(file):
    del file.attrs["contact_names"]


def take_away_rows(file):
    del file["contacts"]


@pytest.mark.parametrize(
    ("damage", "what"),
    [(take_away_names, "contact_names are not those of the model"), (take_away_rows, "no contacts")],
)
def test_a_file_without_what_happened_to_contacts(damage, what, models, tmp_path):
    path = tmp_path / "ball.h5"
    mbvi.simulate(mbvi.load(models / "bouncing_ball.yaml"), "lobatto4", step=0.01, duration=0.2, path=path)
    with h5py.File(path, "r+") as file:
        damage(file)
    for function in (mbvi.read, lambda each: mbvi.resume(each, 0.3)):
        assert error_of(function, path) == f"{path}: expected a trajectory file, found a damaged one ({what})"


@pytest.mark.parametrize(("key", "row"), [("q", 0), ("p", 0), ("q", -1), ("p", -1)])
def test_a_first_or_last_state_that_is_no_state(key, row, streamed):
    with h5py.File(streamed, "r+") as file:
        file[key][row] = np.nan
    found = f"a damaged one ({key} has numbers that are not finite)"
    assert error_of(mbvi.read, streamed) == f"{streamed}: expected a trajectory file, found {found}"


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (put("@constraint_count", 99), "constraint_count = 99, found 0"),
        (put("@is_conservative", 0), "is_conservative = False, found True"),
        (put("body", ["rod"]), "body_names = ['rod'], found ['bob']"),
    ],
)
def test_what_contradicts_the_model_of_the_file_is_named(damage, what, streamed):
    with h5py.File(streamed, "r+") as file:
        damage(file)
    assert error_of(mbvi.read, streamed) == f"{streamed}: system: expected {what}"


def test_times_may_differ_from_those_of_the_steps_by_rounding(tmp_path):
    """Of a part of a run the times begin at one that is rounded, and so the others lie beside sums from there."""
    run = mbvi.simulate(spinning_pendulum(), "rk4", step=np.full(3000, 1e-3) + 1e-4 * np.sin(np.arange(3000)))
    for part in (run.rows(slice(700, None)), run.rows(slice(701, None, 7))):
        part.save(tmp_path / "a.h5", force=True)
        assert np.array_equal(mbvi.read(tmp_path / "a.h5").t, part.t)


def test_a_state_of_steps_whose_rows_are_not_there(streamed):
    for steps in (101, 2**62, -1):
        with h5py.File(streamed, "r+") as file:
            slots = file["restart/state"][()]
            for slot in slots:
                slot[8:16] = np.frombuffer(np.int64(steps).tobytes(), np.uint8)
                slot[:8] = np.frombuffer(np.int64(storage.checksum_of(steps, slot[16:].tobytes())).tobytes(), np.uint8)
            file["restart/state"][...] = slots
        assert "found no state to go on from" in error_of(mbvi.resume, streamed, 3.0)


def soft(file, other):
    del file["axis"]
    file["axis"] = h5py.SoftLink("/component")


def linked(file, other):
    del file["q"]
    file["q"] = h5py.ExternalLink(str(other), "q")


def linked_deeper(file, other):
    file["meshes/0"] = h5py.ExternalLink(str(other), "q")


def elsewhere(file, other):
    del file["q"]
    file.create_dataset("q", (101, 1), "<f8", external=[(str(other), 0, 808)])


def virtual(file, other):
    del file["q"]
    layout = h5py.VirtualLayout((101, 1), "<f8")
    layout[:] = h5py.VirtualSource(str(other), "q", (101, 1))
    file.create_virtual_dataset("q", layout)


@pytest.mark.parametrize(
    ("hide", "what"),
    [
        (soft, "axis is a link, maybe to another file"),
        (linked, "q is a link, maybe to another file"),
        (linked_deeper, "0 is a link, maybe to another file"),
        (elsewhere, "q has its values in another file"),
        (virtual, "q has its values in another file"),
    ],
)
def test_no_other_file_is_read(hide, what, streamed, tmp_path):
    other = tmp_path / "secret.h5"
    shutil.copy(streamed, other)
    with h5py.File(streamed, "r+") as file:
        hide(file, other)
    expected = f"{streamed}: expected a trajectory file, found a damaged one ({what})"
    assert error_of(mbvi.read, streamed) == error_of(mbvi.resume, streamed, 2.0) == expected


def test_a_heap_of_texts_that_the_library_would_never_leave(streamed):
    """One wrong byte, the length of the free space in it, makes HDF5 go on from an object to itself."""
    content = bytearray(streamed.read_bytes())
    place = content.index(storage.HEAP) + storage.HEAP_OBJECT
    while index := int.from_bytes(content[place : place + 2], "little"):
        assert index < 1000
        place += storage.HEAP_OBJECT + -(-int.from_bytes(content[place + 8 : place + 16], "little") // 8) * 8
    assert int.from_bytes(content[place + 8 : place + 16], "little") > 256
    content[place + 9] = 0
    streamed.write_bytes(content)
    what = "a heap of texts with an object of length 0"
    assert error_of(mbvi.read, streamed) == f"{streamed}: expected a trajectory file, found a damaged one ({what})"


def test_a_repacked_file_is_read_and_not_continued(streamed, tmp_path):
    with h5py.File(streamed) as file, h5py.File(tmp_path / "b.h5", "w") as packed:
        packed.attrs.update(file.attrs)
        for key in file:
            if key in storage.VARIABLES:
                packed.create_dataset(
                    key, data=file[key][()], compression="gzip", maxshape=(None, *file[key].shape[1:])
                )
            else:
                file.copy(key, packed)
    assert all_bits(mbvi.read(tmp_path / "b.h5")) == all_bits(mbvi.read(streamed))
    assert error_of(mbvi.resume, tmp_path / "b.h5", 2.0) == (
        f"{tmp_path / 'b.h5'}: expected a file as mbvi wrote it, found one that another tool has repacked"
    )


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_two_runs_do_not_write_one_file(streamed):
    code = f"import fcntl, sys; file = open({str(streamed)!r}, 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX); print(1, flush=True)"
    line = [sys.executable, "-c", code + "; sys.stdin.read()"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        message = error_of(mbvi.resume, streamed, 2.0)
        other.communicate()
    assert message == (
        f"{streamed}: expected a file that nothing else writes, found one that another process writes; wait for the run that "
        "writes it, or end it"
    )
    assert len(mbvi.resume(streamed, 2.0)) == 201
