"""Trajectories and their files: what is read equals, bit for bit, what was saved."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import sympy

import mbvi
from mbvi.results.output import check_output
from mbvi.results.storage import Nameplate

NOBODY = 65534
MODELS = ["lagrange_top", "branched_tree", "gantry_crane", "spring_damper"]


def pendulum(**keys):
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, "-length"))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    initial = {"pivot": mbvi.Initial(position="pi/3")}
    return mbvi.Model(
        name="pendulum", parameters={"length": 2}, bodies={"bob": bob}, joints={"pivot": pivot}, initial=initial, **keys
    )


def symbolic_pendulum():
    q = sympy.Symbol("q")
    return mbvi.from_sympy([q], [[2.0]], -9.81 * sympy.cos(q), initial_q=[0.3], name="symbols")


@pytest.fixture
def short():
    return mbvi.simulate(pendulum(), step=0.01, duration=1.0)


def bits(trajectory):
    return [getattr(trajectory, key).tobytes() for key in ("t", "q", "p", "v")]


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name, models, tmp_path):
    saved = mbvi.simulate(mbvi.load(models / f"{name}.yaml"), duration=0.3, start_time=1.5, every=3)
    saved.save(tmp_path / "a.h5")
    read = mbvi.read(tmp_path / "a.h5")
    assert bits(read) == bits(saved)
    assert read.energy().tobytes() == saved.energy().tobytes()
    assert read.constraint_residual().tobytes() == saved.constraint_residual().tobytes()
    assert list(read.momenta()) == list(saved.momenta())
    for key, values in saved.momenta().items():
        assert read.momenta()[key].tobytes() == values.tobytes()
    assert (read.scheme, read.step, read.every) == (saved.scheme, saved.step, saved.every)
    assert read.statistics == saved.statistics
    assert read.system.model == saved.system.model
    body = next(iter(saved.system.model.bodies))
    for one, other in zip(read.pose(body), saved.pose(body), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("name", "joint"), [("four_bar", "shaft"), ("slider_crank", "piston pin"), ("pendulum", "pivot")]
)
def test_reactions_are_those_of_the_file(name, joint, models, tmp_path):
    saved = mbvi.simulate(mbvi.load(models / f"{name}.yaml"), formulation="embedding", duration=0.1)
    saved.save(tmp_path / "a.h5")
    read = mbvi.read(tmp_path / "a.h5")
    assert read.system.model.formulation == "embedding"
    assert read.system.coordinate_names == saved.system.coordinate_names
    assert read.system.constraint_names == saved.system.constraint_names
    assert bits(read) == bits(saved)
    assert read.multipliers.tobytes() == saved.multipliers.tobytes()
    for one, other in zip(read.reaction(joint), saved.reaction(joint), strict=True):
        assert one.tobytes() == other.tobytes() and np.abs(one).max() > 0
    again = mbvi.simulate(read.system, read.scheme, read.step, 0.1)
    assert bits(again) == bits(saved)


def test_a_file_of_a_mixed_formulation(models, tmp_path):
    model = mbvi.load(models / "double_pendulum.yaml")
    name = list(model.joints)[1]
    cut = model.joints[name].model_copy(update={"cut": True})
    saved = mbvi.simulate(model.model_copy(update={"joints": {**model.joints, name: cut}}), duration=0.1)
    saved.save(tmp_path / "a.h5")
    read = mbvi.read(tmp_path / "a.h5")
    assert read.system.model == saved.system.model
    assert read.reaction(name)[0].tobytes() == saved.reaction(name)[0].tobytes()


def test_a_run_is_saved_though_the_models_own_start_is_none(models, tmp_path):
    model = mbvi.load(models / "four_bar.yaml")
    apart = model.model_copy(update={"initial": {}})  # all bars in line, where the loop does not close
    start = mbvi.simulate(model, duration=0.01)
    saved = mbvi.simulate(apart, duration=0.1, initial_q=start.q[0], initial_v=start.v[0])
    saved.save(tmp_path / "a.h5")
    assert bits(mbvi.read(tmp_path / "a.h5")) == bits(saved)


def test_a_file_alone_can_be_run_again(short, tmp_path):
    short.save(tmp_path / "a.h5")
    read = mbvi.read(tmp_path / "a.h5")
    again = mbvi.simulate(read.system, read.scheme, read.step, 1.0)
    assert bits(again) == bits(short)


def test_a_given_system_is_that_of_the_file(short, tmp_path):
    path = tmp_path / "a.h5"
    short.save(path)
    same = [mbvi.assemble(pendulum()), mbvi.assemble(pendulum().resolved()), short.system]
    for system in same:
        assert mbvi.read(path, system=system).system is system
    other = mbvi.assemble(pendulum().with_parameters({"length": 3}))
    assert error_of(mbvi.read, path, system=other) == (
        f"{path}: system: expected the file's model 'pendulum', found 'pendulum' with other parameters, bodies; leave "
        "system out to take that of the file"
    )


def test_a_part_of_a_trajectory_has_a_state(short):
    assert short.rows(slice(50, None)).t[0] == 0.5
    message = "rows: expected a slice of some of the 101 states in their order, found slice(0, 0, None)"
    assert error_of(short.rows, slice(0, 0)) == message


def test_a_trajectory_that_was_read_can_be_saved(short, tmp_path):
    short.save(tmp_path / "a.h5")
    mbvi.read(tmp_path / "a.h5").save(tmp_path / "b.h5")
    assert bits(mbvi.read(tmp_path / "b.h5")) == bits(short)


def test_other_tools_find_names_and_units(short, tmp_path):
    short.save(tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.attrs["format"] == "mbvi trajectory 2"
        assert file.attrs["mbvi_version"] == mbvi.__version__
        assert file["t"].attrs["units"] == "s" and file["energy"].attrs["units"] == "J"
        assert list(file["coordinate"].asstr()) == ["pivot.angle"]
        assert list(file["coordinate_unit"].asstr()) == ["rad"]
        assert [dimension[0].name for dimension in file["q"].dims] == ["/t", "/coordinate"]
        assert [dimension[0].name for dimension in file["energy"].dims] == ["/t"]
        assert np.array_equal(file["energy"], short.energy()) and np.array_equal(file["v"], short.v)
        assert file["q"].chunks == (101, 1)
        assert mbvi.from_yaml(file["model"].asstr()[()]) == short.system.model


def test_a_scheme_of_ones_own_is_stored_as_numbers(tmp_path):
    scheme = replace(mbvi.SCHEMES["midpoint"], name="own", fractions=(0.25, 0.5, 0.25), source="here")
    saved = mbvi.simulate(pendulum(), scheme, step=0.01, duration=0.5)
    saved.save(tmp_path / "a.h5")
    assert mbvi.read(tmp_path / "a.h5").scheme == scheme


def test_meshes_are_found_again(tmp_path, monkeypatch):
    import trimesh

    (tmp_path / "parts").mkdir()
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "parts" / "box.stl")
    text = (
        "{name: box, bodies: {b: {shapes: [{type: mesh, file: box.stl, density: 10}]}}, "
        "joints: {j: {type: revolute, parent: world, child: b, axis: [0, 1, 0], offset: [1, 0, 0]}}}"
    )
    (tmp_path / "parts" / "box.yaml").write_text(text)
    saved = mbvi.simulate(mbvi.load(tmp_path / "parts" / "box.yaml"), duration=0.2)
    saved.save(tmp_path / "a.h5")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    read = mbvi.read(tmp_path / "a.h5")
    assert read.system.mass_matrix([0.0])[0, 0] == pytest.approx(10 * (1 + 1 / 6))


# ------------------------------------------------------------------- systems that no file can hold


def test_without_its_system_a_trajectory_has_numbers_but_no_functions(tmp_path):
    saved = mbvi.simulate(symbolic_pendulum(), "midpoint", step=0.01, duration=0.5)
    saved.save(tmp_path / "a.h5")
    read = mbvi.read(tmp_path / "a.h5")
    assert isinstance(read.system, Nameplate)
    assert bits(read) == bits(saved)
    assert read.energy().tobytes() == saved.energy().tobytes()
    assert read.system.coordinate_names == ("q",)
    assert repr(read) == "<Trajectory of 'symbols': 51 states from t = 0 s to 0.5 s, midpoint, step 0.01 s>"
    message = (
        "poses: expected a system, found only the name 'symbols': the trajectory's file cannot hold a system of "
        "functions or symbols; build the system and pass it: mbvi.read(path, system=system)"
    )
    with pytest.raises(mbvi.ModelError) as raised:
        read.pose("bob")
    assert str(raised.value) == message
    with pytest.raises(
        mbvi.ModelError, match="expected a Model, found the name 'symbols' of a system that its file cannot"
    ):
        mbvi.simulate(read.system, step=0.01, duration=0.1)


def test_with_its_system_it_is_whole_again(tmp_path):
    system = symbolic_pendulum()
    mbvi.simulate(system, "midpoint", step=0.01, duration=0.5).save(tmp_path / "a.h5")
    assert mbvi.read(tmp_path / "a.h5", system=system).system is system
    with pytest.raises(mbvi.ModelError, match=r"system: expected the coordinates q, found pivot\.angle"):
        mbvi.read(tmp_path / "a.h5", system=mbvi.assemble(pendulum()))


def test_a_force_of_ones_own_is_not_forgotten(tmp_path):
    def drag(t, q, v, F):
        F[0] -= 0.5 * v[0]

    system = mbvi.assemble(pendulum(), force=drag)
    saved = mbvi.simulate(system, step=0.01, duration=0.5)
    saved.save(tmp_path / "a.h5")
    assert isinstance(mbvi.read(tmp_path / "a.h5").system, Nameplate)
    assert mbvi.read(tmp_path / "a.h5", system=system).pose("bob")[0].shape == (51, 3)


# --------------------------------------------------------------------------------------- bad files


def error_of(function, *args, **keys):
    with pytest.raises(mbvi.ModelError) as raised:
        function(*args, **keys)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_an_existing_file_stays(short, tmp_path):
    path = tmp_path / "a.h5"
    path.write_text("precious")
    remedy = "choose another name, or overwrite it by force=True (--force)"
    assert error_of(short.save, path) == f"{path}: expected a new file, found one that exists; {remedy}"
    assert path.read_text() == "precious"
    short.save(path, force=True)
    assert len(mbvi.read(path)) == 101
    assert os.listdir(tmp_path) == ["a.h5"]


def test_a_failed_write_leaves_the_old_file(short, tmp_path, monkeypatch):
    path = tmp_path / "a.h5"
    path.write_text("precious")

    def full(*args, **keys):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(h5py.Group, "create_dataset", full)
    assert (
        error_of(short.save, path, force=True)
        == f"{path}: expected a file that can be written, found no space left on device"
    )
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["a.h5"]


def test_where_no_file_can_be(short, tmp_path):
    assert error_of(short.save, tmp_path) == f"{tmp_path}: expected a file, found a folder"
    missing = tmp_path / "nowhere" / "a.h5"
    expected = f"{missing}: expected a file in a folder, found no folder '{missing.parent}'; make it first"
    assert error_of(check_output, missing) == expected
    assert error_of(check_output, "/dev/null", force=True) == "/dev/null: expected a file, found a device"
    long = tmp_path / ("a" * 300)
    assert error_of(check_output, long) == f"{long}: expected a file that can be written, found file name too long"


def test_a_folder_that_cannot_be_written():
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        try:
            if user == 0:
                os.seteuid(NOBODY)  # root may write anywhere
            message = error_of(check_output, Path(folder) / "a.h5")
        finally:
            os.seteuid(user)
            os.chmod(folder, 0o755)
    assert message == f"{folder}/a.h5: expected a file that can be written, found permission denied"


def test_files_that_are_no_trajectories(short, tmp_path):
    path = tmp_path / "a.h5"
    assert error_of(mbvi.read, path) == f"{path}: expected a trajectory file, found no such file; check the path"
    assert error_of(mbvi.read, tmp_path) == f"{tmp_path}: expected a trajectory file, found a folder; check the path"
    path.write_text("q: 1")
    assert error_of(mbvi.read, path) == f"{path}: expected a trajectory file, found a file that is not HDF5"
    h5py.File(path, "w").close()
    expected = f"{path}: expected a file in the format 'mbvi trajectory 2', found an HDF5 file of another program"
    assert error_of(mbvi.read, path) == expected
    short.save(path, force=True)
    with h5py.File(path, "a") as file:
        file.attrs["format"] = "mbvi trajectory 9"
    expected = f"{path}: expected a file in the format 'mbvi trajectory 2', found mbvi trajectory 9"
    assert error_of(mbvi.read, path) == expected


@pytest.mark.parametrize("part", [0.01, 0.3, 0.9, 0.999])
def test_a_truncated_file(part, short, tmp_path):
    path = tmp_path / "a.h5"
    short.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    assert error_of(mbvi.read, path) == f"{path}: expected a trajectory file, found a truncated one; copy it again"


def test_a_file_without_one_of_its_parts(short, tmp_path):
    path = tmp_path / "a.h5"
    short.save(path)
    with h5py.File(path, "a") as file:
        del file["p"]
    assert error_of(mbvi.read, path).startswith(f"{path}: expected a trajectory file, found a damaged one (")


def test_a_damaged_file_is_one_line_or_equal(short, tmp_path):
    path = tmp_path / "a.h5"
    short.save(path)
    whole = path.read_bytes()
    found = []
    for start in range(0, len(whole), 997):
        broken = bytearray(whole)
        broken[start : start + 64] = b"\xff" * 64
        path.write_bytes(bytes(broken))
        try:
            assert len(mbvi.read(path)) > 0
        except mbvi.ModelError as error:
            assert "\n" not in str(error)
            found.append(str(error))
    assert len(found) > 5


def test_a_failed_run_can_be_saved(tmp_path):
    with pytest.raises(mbvi.StepError) as raised:
        mbvi.simulate(pendulum(), step=4.0, duration=400.0)
    saved = raised.value.trajectory
    saved.save(tmp_path / "a.h5")
    assert bits(mbvi.read(tmp_path / "a.h5")) == bits(saved)


def test_a_trajectory_is_not_saved_over_a_model(models, tmp_path):
    run = mbvi.simulate(mbvi.load(models / "pendulum.yaml"), step=0.01, duration=0.1)
    with pytest.raises(mbvi.ModelError, match=r"a\.yaml: expected a file that ends in \.h5, \.hdf5 or \.nc, found '"):
        run.save(tmp_path / "a.yaml", force=True)


@pytest.mark.parametrize("size", [0, 1.5, "a", None])
def test_sizes_of_blocks_that_are_refused(short, size):
    with pytest.raises(mbvi.ModelError, match="size: expected a whole number of at least 1, found "):
        next(short.blocks(size))


def test_every_fifth_state_says_so(short, tmp_path):
    part = short.rows(slice(10, None, 5))
    assert (part.every, part.t[:2].tolist(), len(part)) == (5, [0.1, 0.15], 19)
    part.save(tmp_path / "a.h5")
    assert mbvi.read(tmp_path / "a.h5").every == 5
    message = "rows: expected a slice of some of the 101 states in their order, found slice(None, None, -1)"
    assert error_of(short.rows, slice(None, None, -1)) == message


def test_a_part_has_the_sizes_of_its_steps():
    sizes = np.linspace(0.01, 0.03, 20)
    run = mbvi.simulate(pendulum(), "rk4", sizes, every=2)
    part = run.rows(slice(2, 9, 3))
    assert (part.every, part.t.tolist()) == (6, run.t[2:9:3].tolist())
    assert part.step_sizes.tolist() == sizes[4:16].tolist()
    np.testing.assert_allclose(part.t[0] + part.step_sizes.sum(), part.t[-1], rtol=1e-15)


def test_energies_are_their_takers(short):
    before = short.energy()
    for taken in (short.kinetic_energy(), short.potential_energy()):
        taken += 1.0
    assert short.energy().tobytes() == before.tobytes()


def test_a_model_is_no_system(short, tmp_path):
    short.save(tmp_path / "a.h5")
    for call in (mbvi.read, mbvi.resume):
        assert error_of(call, tmp_path / "a.h5", system=pendulum()).startswith("system: expected a System, found ")
