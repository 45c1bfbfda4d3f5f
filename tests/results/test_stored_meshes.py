"""The file of a run holds the mesh files of its model: with their folder gone, all that it is for goes on as before."""

import pickle
import shutil

import h5py
import numpy as np
import pygltflib
import pytest
import trimesh

import mbvi
from mbvi.ensembles import ensemble
from mbvi.ensembles.chunks import Chunk, run_chunk
from mbvi.model.meshes import mesh_files
from mbvi.model.stored import read_model

LINKS = """
name: links
bodies:
  upper: {shapes: [{type: mesh, file: parts/link.%(kind)s, density: 500}]}
  lower: {shapes: [{type: mesh, file: parts/link.%(kind)s, scale: 0.5, density: 700}]}
  flag: {mass: 0.1, inertia: [0.001, 0.001, 0.001], shapes: [{type: mesh, file: ../flag.stl}]}
joints:
  top: {type: revolute, parent: world, child: upper, axis: [0, 1, 0], offset: [0.5, 0, 0]}
  elbow: {type: revolute, parent: upper, child: lower, axis: [0, 1, 0], position: [-0.5, 0, 0], offset: [0.25, 0, 0]}
  pin: {type: weld, parent: lower, child: flag, position: [-0.25, 0, 0]}
initial:
  top: {position: 70 deg}
simulation: {step: 0.01, duration: 0.5}
"""


def make_model(folder, kind="stl"):
    """A model of three bodies and two meshes, in a folder; the body of the second is for viewing only."""
    (folder / "model" / "parts").mkdir(parents=True)
    link = trimesh.creation.cylinder(0.05, 1.0, sections=12)
    link.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, (0, 1, 0)))
    link.export(folder / "model" / "parts" / f"link.{kind}")
    trimesh.creation.box((0.2, 0.01, 0.1)).export(folder / "flag.stl")
    (folder / "model" / "links.yaml").write_text(LINKS % {"kind": kind})
    return mbvi.load(folder / "model" / "links.yaml")


@pytest.fixture
def there(tmp_path):
    """The folder of the model."""
    return tmp_path / "there"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Another folder, in which one works."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def error_of(function, *arguments, **options):
    """The message of the error that a call raises."""
    with pytest.raises(mbvi.ModelError) as caught:
        function(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize("kind", ["stl", "obj", "glb"])
def test_the_file_alone_is_enough(kind, there, here):
    run = mbvi.simulate(make_model(there, kind), path="run.h5")
    mbvi.simulate(run.system, duration=0.2, path="half.h5")
    run.save("saved.h5")
    for name in ("before.html", "before.glb"):
        mbvi.animate(run, name)
    shutil.rmtree(there)
    for name in ("run.h5", "saved.h5"):
        read = mbvi.read(name)
        again = mbvi.simulate(read.system, path="again.h5", force=True)
        for key in "qvp":
            assert np.array_equal(getattr(again, key), getattr(run, key))
        for ending in ("html", "glb"):
            path = mbvi.animate(read, f"after.{ending}", force=True)
            assert path.read_bytes() == (here / f"before.{ending}").read_bytes()
        read.plot("coordinates", "energy")
        assert read.to_xarray().identical(run.to_xarray())
    resumed = mbvi.resume("half.h5", duration=0.5)
    assert np.array_equal(resumed.q, run.q) and np.array_equal(resumed.p, run.p)
    assert mesh_files(mbvi.read("half.h5").system.model).keys() == {f"parts/link.{kind}", "../flag.stl"}


def test_what_is_drawn_are_the_triangles_of_the_mesh(there, here):
    mbvi.simulate(make_model(there), path="run.h5")
    shutil.rmtree(there)
    document = pygltflib.GLTF2().load(str(mbvi.animate(mbvi.read("run.h5"), "run.glb")))
    counts = {
        node.name: document.accessors[document.meshes[node.mesh].primitives[0].indices].count // 3
        for node in document.nodes
        if node.name in ("upper", "lower", "flag")
    }
    assert counts == {"upper": 48, "lower": 48, "flag": 12}  # a cylinder of 12 sectors, with 12 + 12 + 24 triangles


def test_every_mesh_file_is_stored_once(there, here):
    model = make_model(there)
    mbvi.simulate(model, path="run.h5")
    mbvi.resume("run.h5", duration=20)  # a file with more room takes the place of the first
    with h5py.File("run.h5") as file:
        stored = {data.attrs["file"]: data[()].tobytes() for data in file["meshes"].values()}
        assert "folder" not in file["model"].attrs
    link, flag = ((there / "model" / name).read_bytes() for name in ("parts/link.stl", "../flag.stl"))
    assert stored == {"parts/link.stl": link, "../flag.stl": flag}


def test_a_mesh_is_that_of_the_run_whatever_becomes_of_its_file(there, here):
    model = make_model(there)
    before = mbvi.simulate(model, path="run.h5")
    trimesh.creation.box((1, 0.2, 0.2)).export(there / "model" / "parts" / "link.stl")
    (there / "flag.stl").unlink()
    assert np.array_equal(mbvi.simulate(model).q, before.q)
    before.save("saved.h5")
    read = mbvi.read("saved.h5").system.model
    assert read == model and mesh_files(read) == mesh_files(model)
    assert mesh_files(pickle.loads(pickle.dumps(read.resolved()))) == mesh_files(model)
    shutil.copy(here / "run.h5", there / "model")
    beside = mbvi.read(there / "model" / "run.h5").system
    assert np.array_equal(beside.mass_matrix(before.q[0]), before.system.mass_matrix(before.q[0]))
    trimesh.creation.box((0.2, 0.01, 0.1)).export(there / "flag.stl")
    changed = mbvi.assemble(mbvi.load(there / "model" / "links.yaml"))
    message = (
        "run.h5: system: expected the file's model 'links', found 'links' with other meshes; leave system out to take "
    )
    assert error_of(mbvi.resume, "run.h5", duration=1, system=changed) == message + "that of the file"


def test_an_ensemble_holds_its_meshes(there, here):
    model = make_model(there)
    mbvi.ensemble(model, {"q.top.angle": [0.1, 0.2]}, duration=0.02, path="runs.h5").close()
    with h5py.File("runs.h5") as file:
        read = read_model(file, "runs.h5")
    assert read == model and mesh_files(read) == mesh_files(model)


def test_workers_of_an_ensemble_need_no_mesh_files(there, here, monkeypatch):
    """The model travels with them; here from a file that is gone when the members run."""
    model, over = make_model(there), {"q.top.angle": [0.1, 0.2]}
    expected = mbvi.ensemble(model, over, duration=0.02).q.values
    recipes = []
    monkeypatch.setattr(ensemble, "Threads", lambda recipe, *_: recipes.append(pickle.dumps(recipe)) or _fail())
    with pytest.raises(InterruptedError):
        mbvi.ensemble(model, over, duration=0.02)
    shutil.rmtree(there)
    chunk = Chunk(np.arange(2), np.array([[0.1], [0.2]]))
    ended = run_chunk(mbvi.__version__, recipes[0], chunk)
    assert np.array_equal(ended.values["q"], expected)


def _fail():
    raise InterruptedError


def test_a_damaged_mesh(there, here):
    run = mbvi.simulate(make_model(there), path="run.h5")
    with h5py.File("run.h5") as file:
        names = {data.attrs["file"]: key for key, data in file["meshes"].items()}
        link = file["meshes"][names["parts/link.stl"]]
        place = link.id.get_chunk_info(0).byte_offset
    content = bytearray((here / "run.h5").read_bytes())
    content[place + 20] ^= 1
    (here / "damaged.h5").write_bytes(content)
    message = (
        "damaged.h5: expected the mesh 'parts/link.stl' as it was stored, found a damaged one; copy the file again"
    )
    assert error_of(mbvi.read, "damaged.h5") == message
    with h5py.File("run.h5", "r+") as file:
        del file["meshes"][names["parts/link.stl"]]
    message = (
        "run.h5: model:7: bodies.upper.shapes.0.file: expected a mesh that is stored with the model, found none of the "
    )
    remedy = "build the system again, and pass it: mbvi.read(path, system=system)"
    assert error_of(mbvi.read, "run.h5") == message + f"name 'parts/link.stl'; {remedy} (and 1 more)"
    assert mbvi.read("run.h5", system=run.system).system is run.system


def test_a_model_is_taken_out_of_a_file_with_its_meshes(there, here):
    model = make_model(there)
    mbvi.simulate(model, path="run.h5")
    content = mesh_files(model)
    shutil.rmtree(there)
    (here / "new").mkdir()
    mbvi.save(mbvi.read("run.h5").system.model, "new/links.yaml")
    assert {str(path.relative_to(here / "new")) for path in (here / "new").rglob("*.stl")} == {
        "parts/link.stl",
        "flag.stl",
    }
    taken = mbvi.load("new/links.yaml")
    assert list(mesh_files(taken).values()) == list(content.values())
    assert taken.bodies["upper"] == model.bodies["upper"] and taken.bodies["flag"].shapes[0].file == "flag.stl"
    mbvi.save(mbvi.read("run.h5").system.model, "new/links.yaml", force=True)
    (here / "new" / "flag.stl").write_text("another")
    message = "new/flag.stl: expected a new file, found another one that exists; choose another folder"
    assert error_of(mbvi.save, mbvi.read("run.h5").system.model, "new/links.yaml", force=True) == message


def test_a_model_without_meshes_has_no_group_of_them(here, models):
    mbvi.simulate(mbvi.load(models / "pendulum.yaml"), duration=0.1, path="run.h5")
    with h5py.File("run.h5") as file:
        assert "meshes" not in file


def test_meshes_of_a_model_in_python_are_in_the_working_directory(there, here):
    ball = mbvi.Free(parent="world", child="ball")
    shape = mbvi.model.Mesh(file="ball.stl")
    model = mbvi.Model(
        name="ball", bodies={"ball": mbvi.Body(mass=1, inertia=(1, 1, 1), shapes=[shape])}, joints={"j": ball}
    )
    message = (
        "bodies.ball.shapes.0.file: expected the path of a mesh file, found no file 'ball.stl'; paths start at the "
    )
    assert error_of(mbvi.simulate, model, duration=0.1) == message + "model's folder"
    trimesh.creation.icosphere(2).export("ball.stl")
    mbvi.simulate(model, duration=0.1, path="run.h5")
    (here / "ball.stl").unlink()
    assert mbvi.animate(mbvi.read("run.h5"), "run.glb").exists()
