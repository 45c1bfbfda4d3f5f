"""Names as they come, with dots, slashes, quotes and letters of any script: through files, tables, plots and pictures."""

import numpy as np
import pytest

import mbvi

ODD = ["arm/link.1", "ω.2", "q: 'a' #1", "1.5", "a.angle"]


@pytest.fixture(scope="module")
def run():
    parents = ["world", *ODD]
    bodies = {name: mbvi.Body(mass=1, inertia=(1, 1, 1), center_of_mass=(0, 0, -1)) for name in ODD}
    joints = {
        name: mbvi.Revolute(parent=parent, child=name, axis=(0, 1, 0), position=(0, 0, -1))
        for parent, name in zip(parents, ODD, strict=False)
    }
    spring = mbvi.Spring(body_a="world", body_b=ODD[-1], point_b=(0, 0, -1), stiffness=5)
    model = mbvi.Model(
        name="odd",
        bodies=bodies,
        joints=joints,
        forces={"f.1/2": spring},
        initial={ODD[0]: {"position": 0.3}},
    )
    return mbvi.simulate(model, step=0.01, duration=0.1)


def test_files_and_tables_have_them(run, tmp_path):
    run.save(tmp_path / "odd.h5")
    again = mbvi.read(tmp_path / "odd.h5")
    assert again.system.model == run.system.model
    assert again.system.coordinate_names == run.system.coordinate_names == tuple(f"{name}.angle" for name in ODD)
    np.testing.assert_array_equal(again.pose(ODD[1])[0], run.pose(ODD[1])[0])
    pandas = pytest.importorskip("pandas")
    run.export(tmp_path / "odd.csv")
    table = pandas.read_csv(tmp_path / "odd.csv")
    assert sum(ODD[1] in column for column in table.columns) > 2


def test_plots_and_pictures_have_them(run, tmp_path):
    pytest.importorskip("matplotlib")
    run.plot("coordinates", names=[ODD[0], "a.angle.angle"]).savefig(tmp_path / "odd.png")
    mbvi.pictures.draw_graph(run.system.model).savefig(tmp_path / "graph.png")
    pytest.importorskip("pygltflib")
    mbvi.animate(run, tmp_path / "odd.glb", trails=["arm/link.1.origin", "1.5"])
