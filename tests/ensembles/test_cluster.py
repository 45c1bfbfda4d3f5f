"""Ensembles on a dask cluster of two processes of this machine."""

import importlib
import logging
import os
import sys

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.ensembles import executors
from tests.folders import ROOT

from .measures import Hostile
from .test_ensemble import DONE, NOT_RUN, drag, pendulum, same_bits

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="kills processes"),
    pytest.mark.filterwarnings("ignore:::distributed"),
]
distributed = pytest.importorskip("distributed")
versions = pytest.importorskip("distributed.versions")
MASSES = np.linspace(1, 1.9, 20)
OPTIONS = {"step": 0.01, "duration": 0.5}


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


def test_members_of_a_worker_that_is_killed_run_again(client, tmp_path):
    """They are what they are here. A measure need not belong to a module."""
    path = tmp_path / "kill"
    measure = {"end": Hostile(path), "first": lambda run: run.q[1, 0]}
    options = {**OPTIONS, "measure": measure, "store": ("q", "energy")}
    expected = mbvi.ensemble(pendulum(), {"mass": MASSES}, **options)
    path.touch()
    seen = []
    options |= {"path": tmp_path / "runs.h5", "progress": lambda *each: seen.append(each)}
    with mbvi.ensemble(pendulum(), {"mass": MASSES}, executor=client, **options) as found:
        assert not path.exists() and (found.status == DONE).all() and seen[-1] == (20, 20)
        assert all(same_bits(found[name], expected[name]) for name in ("q", "energy", "end", "first"))


def test_a_force_of_ones_own_over_its_parameters(client):
    system, over = mbvi.assemble(pendulum(drag=0.1), force=drag), {"drag": np.linspace(0, 1, 40), "mass": [1.0, 2.0]}
    found, expected = (mbvi.ensemble(system, over, executor=each, **OPTIONS) for each in (client, None))
    assert (found.status == DONE).all() and (np.diff(found.energy[:, 0, -1]) < 0).all()
    assert all(same_bits(found[name], expected[name]) for name in ("q", "v", "energy"))


def test_the_command(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--over", "length=1:2:4", "--duration", "0.1", "--scheduler", client.scheduler.address]
    result = CliRunner().invoke(app, ["ensemble", str(ROOT / "models" / "pendulum.yaml"), *options])
    assert result.exit_code == 0 and "\n4 done\n" in result.output, result.output
    assert client.run(os.getpid)  # the cluster is there as before
    result = CliRunner().invoke(app, ["ensemble", str(ROOT / "models" / "pendulum.yaml"), *options[:-2], "--resume"])
    assert result.exit_code == 0 and "\n4 done\n" in result.output, result.output


def test_what_the_command_connects_is_nobody_s_default(client):
    """Else what xarray writes later would ask for the scheduler, which has ended by then."""
    config = importlib.import_module("dask").config
    with executors.connect(client.scheduler.address):
        assert config.get("scheduler", None) is None


def test_a_worker_with_another_version_is_refused_by_name(client):
    """As it is imported there, and before, as it is installed."""
    (worker, _), refusal = client.nthreads(), f"executor: expected workers with mbvi {mbvi.__version__}, found "
    for change, found in ((import_another, "0.0.7"), (install_another, "0.0.8"), (install_none, "none")):
        client.run(change, workers=[worker])
        with pytest.raises(mbvi.ModelError) as caught:
            mbvi.ensemble(pendulum(), {"mass": MASSES}, executor=client, **OPTIONS)
        assert str(caught.value) == f"{refusal}{found} on worker {worker}; install the same version there"
        client.run(restore, mbvi.__version__)


def import_another():
    mbvi.__version__ = "0.0.7"


def install_another():
    versions._version_cached = lambda package: "0.0.8"


def install_none():
    versions._version_cached = lambda package: None


def restore(version):
    mbvi.__version__ = version
    importlib.reload(versions)


def test_a_scheduler_that_ends_leaves_what_was_done(client, tmp_path):
    """A file from which the ensemble goes on, here without a cluster. It is the last test: no cluster is there after it."""
    arguments = {"model": pendulum(), "over": {"mass": np.linspace(1, 2, 400)}, "path": tmp_path / "runs.h5", **OPTIONS}
    ended = []

    def end(done, members):
        if done and not ended:
            ended.append(client.cluster.close())

    with pytest.raises(
        mbvi.ModelError, match=r"^executor: expected a scheduler that runs, found one that ended; start"
    ):
        mbvi.ensemble(**arguments, executor=client, progress=end)
    with h5py.File(tmp_path / "runs.h5") as file:
        assert {DONE, NOT_RUN} == {*file["status"][:].tolist()}
    with mbvi.ensemble(**arguments, resume=True) as found:
        assert (found.status == DONE).all()
        assert same_bits(found.q, mbvi.ensemble(**arguments | {"path": None}).q)


def test_members_wait_for_a_worker():
    """Which a warning says once, however long they wait."""
    options = {"n_workers": 0, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, set_as_default=False) as own:
        waits = iter([lambda: None, lambda: cluster.scale(1)])
        with pytest.warns(mbvi.errors.MbviWarning) as reported:
            found = mbvi.ensemble(
                pendulum(), {"mass": MASSES}, executor=own, progress=lambda *_: next(waits, bool)(), **OPTIONS
            )
    expected = "executor: no worker is there at present; members wait for one"
    assert [str(each.message) for each in reported if "executor" in str(each.message)] == [expected]
    assert (found.status == DONE).all()


def test_a_scheduler_that_is_not_there(monkeypatch):
    monkeypatch.setattr(executors, "CONNECT_SECONDS", 0.2)
    options = ["--over", "length=1:2:4", "--scheduler"]
    for address, reason in (("tcp://127.0.0.1:1", "refused"), ("no:where:at:all", "")):
        result = CliRunner().invoke(app, ["ensemble", str(ROOT / "models" / "pendulum.yaml"), *options, address])
        expected = (
            f"--scheduler: expected the address of a dask scheduler that runs, as tcp://host:8786, found '{address}'"
        )
        assert result.exit_code == 2 and result.output.startswith(expected) and reason in result.output, result.output
        assert not logging.getLogger("distributed.client").isEnabledFor(logging.CRITICAL)  # errors say what goes wrong


def test_what_is_no_client(monkeypatch):
    with pytest.raises(
        mbvi.ModelError, match=r"^executor: expected a Client of dask.distributed, found 'tcp://a:1'; make"
    ):
        mbvi.ensemble(pendulum(), {"mass": [1.0]}, executor="tcp://a:1", **OPTIONS)
    monkeypatch.setitem(sys.modules, "distributed", None)
    remedy = r"install it with: pip install 'mbvi\[cluster\]'"
    with pytest.raises(mbvi.ModelError, match=f"^executor: expected dask.distributed, found none; {remedy}$"):
        mbvi.ensemble(pendulum(), {"mass": [1.0]}, executor=1, **OPTIONS)
