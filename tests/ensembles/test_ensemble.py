"""Ensembles: every member beside `simulate`, whatever runs beside it; dimensions, ends, files, and what is refused."""

import errno
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.special
import sympy
import xarray
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.ensembles import executors, worker
from mbvi.kernels.galerkin import steps as galerkin
from mbvi.model.fields import idle_parameters
from mbvi.results import storage
from tests.folders import ROOT
from tests.marks import coarse

DONE, FAILED, REFUSED, NOT_RUN = 0, 1, 2, -1
EVERYTHING = ("q", "v", "p", "energy", "constraint_residual")


def model(name):
    return mbvi.load(ROOT / "models" / f"{name}.yaml")


def pendulum(**parameters):
    """A mass point of `mass` kg on a rod of `length` m, with the inertia of a ball that may be wrong."""
    return mbvi.Model(
        name="pendulum",
        parameters={"length": 1, "mass": 1, "rate": 0} | parameters,
        bodies={"bob": mbvi.Body(mass="mass", center_of_mass=(0, 0, "-length"))},
        joints={"pivot": mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))},
        initial={"pivot": mbvi.Initial(position=1, velocity="rate")},
    )


def varied(described, values):
    """The model with other parameters, and other initial coordinates and rates of joints, as its file would give them."""
    parameters = {name: value for name, value in values.items() if name in described.parameters}
    initial = dict(described.initial)
    for name, value in values.items():
        if name in parameters:
            continue
        key, joint, coordinate = name.split(".")
        place = described.joints[joint].coordinate_names.index(coordinate)
        given = initial.get(joint, mbvi.Initial())
        field = {"q": "position", "v": "velocity"}[key]
        numbers = getattr(given, field)
        width = len(described.joints[joint].coordinate_names)
        numbers = [0.0] * width if numbers is None else list(numbers) if isinstance(numbers, tuple) else [numbers]
        if len(numbers) < width:  # an angular velocity, of which the rates of the only joint's quaternion follow
            numbers = mbvi.assemble(described).initial_v.tolist()
        numbers[place] = value
        initial[joint] = given.model_copy(update={field: tuple(numbers)})
    return described.with_parameters(parameters).model_copy(update={"initial": initial})


def same_bits(a, b):
    return np.array_equal(np.asarray(a).view(np.int64), np.asarray(b).view(np.int64))


def check_members(runs, described, names, **options):
    """All that is stored of every member is what `simulate` gives of the same variation, bit for bit."""
    stacked = runs.stack(all_members=runs.status.dims)
    assert stacked.sizes["all_members"] > 1
    for i in range(stacked.sizes["all_members"]):
        member = stacked.isel(all_members=i)
        alone = mbvi.simulate(varied(described, {name: float(member[name]) for name in names}), **options)
        assert member.status == DONE and member.reason == "" and member.steps == alone.statistics.steps
        assert same_bits(member.t, alone.t)
        for name, values in (("q", alone.q), ("v", alone.v), ("p", alone.p), ("energy", alone.energy())):
            assert same_bits(member[name], values), (name, i)
        assert same_bits(member.constraint_residual, alone.constraint_residual())


@pytest.mark.parametrize(
    ("name", "over", "options"),
    [
        (
            "double_pendulum",
            {"mass": [1, 3], "q.elbow.angle": [0.1, 2.0, -1.0], "v.shoulder.angle": [0, 4]},
            {"every": 5},
        ),
        ("double_pendulum", {"mass": [1, 3]}, {"duration": 100, "every": 5000}),
        ("four_bar", {"crank": [0.2, 0.25]}, {"duration": 50, "every": 5000}),
        ("chain_10", {"length": [0.2, 0.25], "q.hinge3.angle": [0.0, 1.0]}, {"duration": 0.1}),
        ("double_pendulum", {"length": [0.2, 0.3], "q.shoulder.angle": [1.0, 2.0]}, {"formulation": "embedding"}),
        ("four_bar", {"crank": [0.2, 0.25], "q.shaft.angle": [1.5, 1.6], "v.shaft.angle": [3.0, 6.0]}, {}),
        (
            "four_bar",
            {"crank": [0.25, 0.3], "v.shaft.angle": [3.0, 6.0]},
            {"formulation": "embedding", "duration": 0.1},
        ),
        ("heavy_top_quaternion", {"v.contact.qx": [0.0, 1.0], "v.contact.qz": [3.0, 5.0]}, {"duration": 0.2}),
        ("bricard", {}, {"duration": 0.2}),
        ("double_pendulum", {"mass": [1, 2]}, {"scheme": "rk4"}),
        ("double_pendulum", {"mass": [1, 2], "q.elbow.angle": [0.1, 0.2]}, {"scheme": "direct_midpoint"}),
        ("pendulum_cartesian", {}, {"scheme": "energy_momentum"}),
        ("double_pendulum", {"q.elbow.angle": [0.1, 0.2]}, {"scheme": "suzuki4"}),
        ("heavy_top_quaternion", {"mass": [14.0, 15.0]}, {"scheme": "blanes_moan6", "duration": 0.2}),
        ("bouncing_ball", {"height": [0.3, 1.0], "radius": [0.1, 0.2]}, {"duration": 1.0}),
        ("bouncing_ball", {"q.fall.displacement": [0.3, 1.0]}, {"duration": 1.0}),
        ("stick_slip", {"kinetic": [0.5, 0.6], "static": [0.7, 1.0]}, {"duration": 3.0}),
    ],
)
def test_members_are_what_simulate_gives(name, over, options):
    described, options = model(name), {"duration": 0.5} | options
    if not over:
        parameter = next(iter(described.parameters))
        value = described.resolved().parameters[parameter]
        over = {parameter: [value, 1.01 * value]}
    runs = mbvi.ensemble(described, over, store=EVERYTHING, threads=2, **options)
    check_members(runs, described, list(over), **options)


def of_many(described, over, monkeypatch, **options):
    """Results of many members, of systems whose tables are filled, and of those that are assembled one by one."""
    found = []
    for worth in (2, 10**9):
        monkeypatch.setattr(worker, "WORTH_A_MAP", worth)
        found.append(mbvi.ensemble(described, over, threads=1, **options))
    return found


def rises(run):
    """A measure: what looks at the model of its member."""
    return (
        run.system.model.resolved().parameters["length"]
        + run.q[-1, 0]
        + run.system.energy(run.q[0], run.system.given_v)
    )


@pytest.mark.parametrize(
    ("name", "over", "options"),
    [
        ("double_pendulum", {"mass": np.linspace(1, 3, 9), "q.elbow.angle": ("mass", np.linspace(0, 1, 9))}, {}),
        ("double_pendulum", {"length": np.linspace(0.2, 0.3, 5), "q.elbow.angle": [0.1, 0.2]}, {"duration": 0.1}),
        ("double_pendulum", {"length": np.linspace(0.2, 0.3, 5)}, {"measure": {"rise": rises}, "store": ("q",)}),
        ("double_pendulum", {"mass": np.linspace(1, 3, 5)}, {"step": 0.4, "duration": 8}),  # some fail
        ("double_pendulum", {"mass": np.linspace(1, 3, 5)}, {"scheme": "rk4"}),
        ("double_pendulum", {"mass": np.linspace(1, 3, 5)}, {"formulation": "embedding"}),
        ("spring_damper", {"damping": np.linspace(0, 1, 5)}, {}),
        ("four_bar", {"crank": np.linspace(0.3, 1.5, 5)}, {}),  # some do not close
        ("bouncing_ball", {"radius": np.linspace(0.1, 0.5, 5)}, {"duration": 0.6}),
    ],
)
def test_members_whose_tables_are_filled_are_those_assembled_anew(name, over, options, monkeypatch):
    filled, anew = of_many(model(name), over, monkeypatch, **{"duration": 0.2, "store": EVERYTHING} | options)
    for key in anew.variables:
        if anew[key].dtype.kind == "f":
            assert same_bits(filled[key], anew[key]), key
        else:
            assert (filled[key] == anew[key]).all(), key


def test_members_of_another_structure_among_those_whose_tables_are_filled(monkeypatch):
    """A mass that is 0 for one of them, and of the wrong sign for none that is looked at before."""
    described = pendulum(shape=0)
    body = described.bodies["bob"].model_copy(update={"mass": "(shape - 2)*(shape - 4)*(shape - 2.5)**2 + 0*length"})
    described = described.model_copy(update={"bodies": {"bob": body}})
    over = {"shape": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    filled, anew = of_many(described, over, monkeypatch, duration=0.1)
    assert anew.status.values.tolist() == [DONE, DONE, REFUSED, REFUSED, REFUSED, DONE, DONE]
    assert filled.reason.values.tolist() == anew.reason.values.tolist() and same_bits(filled.q, anew.q)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_what_starts_elsewhere_turns_about_its_own_axes(formulation):
    """The rates of a quaternion are those of the model's angular velocity where the member starts, whatever else varies."""
    J, omega, mass, half = np.array([0.1, 0.2, 0.3]), np.array([0.01, 5, 0.02]), 2.0, np.sqrt(0.5)
    described = mbvi.Model(
        name="satellite",
        gravity=(0, 0, 0),
        bodies={"hull": mbvi.Body(mass=mass, inertia=tuple(J))},
        joints={"fly": mbvi.Free(parent="world", child="hull")},
        initial={"fly": mbvi.Initial(position=(0, 0, 0, 1, 0, 0, 0), velocity=(0.1, 0, 0.2, *omega))},
    )
    over = {"v.fly.z": [0.2, 0.4], "q.fly.qw": half, "q.fly.qx": half}
    runs = mbvi.ensemble(described, over, step=0.01, duration=0.1, formulation=formulation)
    speeds = np.array([0.1**2 + 0.2**2, 0.1**2 + 0.4**2])
    np.testing.assert_allclose(runs.energy[:, 0], 0.5 * (mass * speeds + J @ omega**2), rtol=1e-14)
    one, (x, y, z) = half, omega  # ȧ = ½ a ⋆ ω
    expected = 0.5 * one * np.array([-x, x, y - z, z + y])
    if formulation == "tree":
        np.testing.assert_allclose(runs.v[0, 0, 3:], expected, rtol=0, atol=1e-14)


def test_a_system_without_a_model():
    x, z = sympy.symbols("x z")
    circle = mbvi.from_sympy([x, z], [[1, 0], [0, 1]], 9.81 * z, constraints=[x**2 + z**2 - 1], initial_q=[1.0, 0.0])
    runs = mbvi.ensemble(
        circle, {"q.x": [1.0, 0.9], "v.z": [0.0, -1.0]}, step=0.01, duration=0.5, store=("q",), threads=2
    )
    for i, first in enumerate([1.0, 0.9]):
        for j, rate in enumerate([0.0, -1.0]):
            alone = mbvi.simulate(circle, step=0.01, duration=0.5, initial_q=[first, 0.0], initial_v=[0.0, rate])
            assert same_bits(runs.q[i, j], alone.q)
    assert runs["v.z"].attrs["long_name"] == "initial velocity"


def drag(t, q, v, F, drag):
    F[0] -= drag * v[0]


def test_a_force_of_ones_own_over_its_parameters_and_those_of_its_model():
    """In members whose systems are assembled anew, and in those whose tables are filled."""
    system = mbvi.assemble(pendulum(drag=0.1), force=drag)
    over = {"q.pivot.angle": [1.0, 2.0], "mass": [1.0, 3.0], "drag": np.linspace(0, 1, 12)}
    runs = mbvi.ensemble(system, over, step=0.01, duration=0.5, threads=2)
    for i, j, k in ((0, 0, 0), (0, 1, 3), (1, 0, 7), (1, 1, 11)):
        values = {"mass": over["mass"][j], "drag": over["drag"][k]}
        alone = mbvi.simulate(
            mbvi.assemble(pendulum(**values), force=drag),
            step=0.01,
            duration=0.5,
            initial_q=over["q.pivot.angle"][i : i + 1],
        )
        assert same_bits(runs.q[i, j, k], alone.q) and same_bits(runs.energy[i, j, k], alone.energy())
    assert (np.diff(runs.energy[:, :, :, -1], axis=2) < 0).all()


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_threads_order_and_file_do_not_matter(name, tmp_path):
    described, options = model(name), {"duration": 0.3, "store": EVERYTHING}
    parameter = next(iter(described.parameters))
    values = described.resolved().parameters[parameter] * np.linspace(0.95, 1.0, 6)
    joint = "elbow" if name == "double_pendulum" else "shaft"
    over = {f"v.{joint}.angle": np.linspace(0.5, 1.0, 4), parameter: values}
    one = mbvi.ensemble(described, over, threads=1, **options)
    backwards = {key: np.flip(each) for key, each in over.items()}
    others = [
        mbvi.ensemble(described, over, threads=7, **options),
        mbvi.ensemble(described, backwards, threads=3, **options).isel({key: slice(None, None, -1) for key in over}),
        mbvi.ensemble(described, over, threads=2, path=tmp_path / "runs.h5", **options),
    ]
    for other in others:
        assert all(same_bits(one[key], other[key]) for key in (*EVERYTHING, "t", *over))
    on_disk = others[2]
    assert mbvi.from_yaml(str(on_disk.model.values)) == described
    assert {key: value for key, value in on_disk.attrs.items() if key != "format"} == one.attrs
    for key in one.variables:
        assert on_disk[key].dims == one[key].dims
        assert {**on_disk[key].attrs}.keys() == one[key].attrs.keys()
    assert on_disk.coords.keys() == one.coords.keys()
    on_disk.close()


def end(run):
    """A measure that processes find."""
    return run.q[-1, 0]


def in_new_process(call):
    """Call a function of this file in a process that has its kernels from the disk, as others will: what the first process
    compiles may differ from what another has compiled in the last bit.
    """
    code = f"from pathlib import Path; from tests.ensembles import test_ensemble as here; here.{call}"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_processes_give_what_threads_do(tmp_path):
    for name in ("run_both", "check_both"):  # the first compiles what is not yet on the disk
        in_new_process(f"{name}(Path({str(tmp_path / name)!r} + '.h5'))")


def run_both(path):
    over = {"q.elbow.angle": [0.0, 1.0], "mass": [1.0, 1.5, 2.0], "v.elbow.angle": [0.0, 1e200]}
    options = {"duration": 0.2, "store": ("q", "energy"), "measure": {"end": end}}
    by_threads = mbvi.ensemble(double(), over, threads=2, **options)
    seen = []
    by_processes = mbvi.ensemble(
        mbvi.assemble(double()), over, processes=2, path=path, progress=lambda *each: seen.append(each), **options
    )
    return by_threads, by_processes, seen


def check_both(path):
    by_threads, by_processes, seen = run_both(path)
    assert np.unique(by_threads.status).tolist() == [DONE, REFUSED]
    assert seen[-1] == (12, 12)
    for key in ("q", "energy", "end"):
        assert same_bits(by_threads[key], by_processes[key])
    assert np.array_equal(by_threads.reason, by_processes.reason)
    by_processes.close()


def test_what_cannot_be_sent_to_a_process():
    with pytest.raises(
        mbvi.ModelError, match=r"processes: expected what can be sent to a process, found .*below if __name__"
    ):
        mbvi.ensemble(pendulum(), {"mass": [1, 2]}, duration=0.1, measure={"end": lambda run: 0.0}, processes=2)
    message = r"threads: expected one of threads, processes and executor, found \['threads', 'processes'\]"
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.ensemble(pendulum(), {"mass": [1, 2]}, threads=1, processes=2)


def break_elsewhere(run):
    """A measure that fails in every process but this one."""
    if multiprocessing.parent_process() is not None:
        raise ZeroDivisionError("mine")
    return 0.0


def leave_elsewhere(run):
    """A measure that ends every process but this one."""
    if multiprocessing.parent_process() is not None:
        os._exit(1)
    return 0.0


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (
            break_elsewhere,
            r"over: member \d+ \(mass = .*\): measure: x: expected a number, found ZeroDivisionError: mine",
        ),
        (
            leave_elsewhere,
            "processes: expected processes that run, found 1 in turn that ended before a member was done; run",
        ),
    ],
)
def test_what_goes_wrong_in_another_process_is_reported_here(measure, message, monkeypatch):
    monkeypatch.setattr(executors, "MOST_BREAKS", 1)
    options = {"step": 0.01, "duration": 200, "measure": {"x": measure}, "processes": 2}
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.ensemble(pendulum(), {"mass": np.linspace(1, 2, 500)}, **options)
    assert not multiprocessing.active_children()


@pytest.mark.skipif(os.name != "posix", reason="interrupts a group of processes")
def test_an_interruption_of_all_processes_is_reported_once():
    """As from a keyboard, which interrupts a process and those that it began: by one traceback, and by no broken pipe."""
    code = """
import sys, mbvi
from tests.ensembles.test_ensemble import pendulum

def note(done, members):
    if done:
        print(done, flush=True)

options = {"step": 0.001, "duration": 0.1, "every": 100, "processes": 2, "progress": note}
mbvi.ensemble(pendulum(), {"mass": [1 + i * 1e-4 for i in range(100000)]}, **options)
"""
    options = {"cwd": ROOT, "start_new_session": True, "text": True}
    options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # it is ignored in the background
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    process.stdout.readline()  # the other process still begins
    os.killpg(process.pid, signal.SIGINT)
    _, message = process.communicate(timeout=60)
    assert message.count("Traceback") == 1 and message.splitlines()[-1].startswith("KeyboardInterrupt")


def test_an_interruption_ends_other_processes_in_the_middle_of_a_member():
    """Each member would take minutes. What ignores SIGTERM begins processes that do."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    began = time.monotonic()

    def interrupt(done, count):
        if time.monotonic() - began > 2:
            raise KeyboardInterrupt

    options = {"step": 0.001, "duration": 1e5, "every": 10**8, "processes": 2, "progress": interrupt}
    try:
        with pytest.raises(KeyboardInterrupt):
            mbvi.ensemble(pendulum(), {"mass": [1.0, 2.0, 3.0, 4.0]}, **options)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not multiprocessing.active_children()


@pytest.mark.skipif(not os.path.exists("/proc"), reason="looks at processes in /proc")
def test_other_processes_end_with_the_one_that_began_them(tmp_path):
    """In the middle of members that would take minutes."""
    path = tmp_path / "children"
    code = f"""
import multiprocessing, pathlib, mbvi
from tests.ensembles.test_ensemble import pendulum

def note(done, members):
    if not pathlib.Path({str(path)!r}).exists():
        pathlib.Path({str(path)!r}).write_text(str(multiprocessing.active_children()[0].pid) + " ")

options = {{"step": 0.001, "duration": 1e5, "every": 10**8, "processes": 2, "progress": note}}
mbvi.ensemble(pendulum(), {{"mass": [1.0, 2.0, 3.0, 4.0]}}, **options)
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None and not (path.exists() and path.read_text().endswith(" ")):
        time.sleep(0.05)
    time.sleep(3)  # it begins
    process.send_signal(signal.SIGKILL)
    process.wait()
    child = int(path.read_text())
    end = time.monotonic() + 20
    while time.monotonic() < end and _runs(child):
        time.sleep(0.05)
    assert not _runs(child)


def _runs(pid):
    """Whether there is such a process that has not ended."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().split()[2] != "Z"


def test_a_script_that_starts_itself_again_is_reported_so(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(f"""
import mbvi, numpy as np
lengths = np.linspace(1, 2, 20000)  # more than a pipe holds
mbvi.ensemble(mbvi.load({str(ROOT / "models" / "pendulum.yaml")!r}), {{"length": lengths}}, duration=0.1, processes=2)
""")
    result = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=200)
    assert result.returncode == 1
    last = "mbvi.errors.ModelError: processes: expected processes that run, found one that ended; call it below if __name__"
    assert result.stderr.splitlines()[-1].startswith(last)


def test_dimensions():
    """Lists are crossed; what shares a dimension goes together; a number is the same for all."""
    over = {
        "mass": ("member", [1.0, 2.0, 3.0]),
        "q.pivot.angle": (("start", "member"), [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]),
        "rate": [0.0, 1.0],
        "length": 2.0,
    }
    runs = mbvi.ensemble(pendulum(), over, step=0.01, duration=0.02, store=("q", "v"))
    assert dict(runs.q.sizes) == {"member": 3, "start": 2, "rate": 2, "t": 3, "coordinate": 1}
    assert {"mass", "q.pivot.angle", "rate", "length", "member", "start", "t"} <= runs.coords.keys()
    start = runs.isel(t=0, coordinate=0).transpose("start", "member", "rate")
    assert np.array_equal(start.q, np.broadcast_to(np.reshape(over["q.pivot.angle"][1], (2, 3, 1)), (2, 3, 2)))
    np.testing.assert_allclose(start.v, np.broadcast_to(over["rate"], (2, 3, 2)), rtol=1e-15)
    alone = mbvi.simulate(pendulum(mass=3, length=2, rate=1), step=0.01, duration=0.02, initial_q=[0.6])
    assert same_bits(runs.q.sel(member=2, start=1, rate=1), alone.q)
    single = mbvi.ensemble(pendulum(), {"length": 2.0}, step=0.01, duration=0.02)
    assert dict(single.q.sizes) == {"t": 3, "coordinate": 1} and single.status == DONE


def test_measures_against_the_closed_form():
    """The period of a pendulum of amplitude a is 4 K(sin² a/2) √(l/g): a quarter of it from rest to the lowest point."""
    amplitudes, lengths = np.array([0.3, 1.0, 2.5]), np.array([0.5, 2.0])

    def quarter(run):
        i = int(np.argmax(run.q[:, 0] < 0))
        return run.t[i] - run.q[i, 0] / run.v[i, 0]  # by Newton's step from the first state beyond

    runs = mbvi.ensemble(
        pendulum(),
        {"q.pivot.angle": amplitudes, "length": lengths},
        step=0.001,
        duration=2.0,
        measure={"quarter": quarter},
    )
    expected = scipy.special.ellipk(np.sin(amplitudes[:, None] / 2) ** 2) * np.sqrt(lengths / 9.81)
    # the step from a state at most h away leaves h³ q'''/6v, the scheme less
    np.testing.assert_allclose(runs.quarter, expected, rtol=0, atol=1e-3**3 * 9.81 / 0.5)
    assert "t" not in runs.dims and runs.quarter.dims == ("q.pivot.angle", "length")


def test_members_that_fail_or_are_refused_do_not_end_the_others(tmp_path):
    rates = [0.0, 300.0, 1.0, 1e200]
    options = {"scheme": "simpson", "step": 0.01, "duration": 1.0, "measure": {"end": lambda run: run.q[-1, 0]}}
    for path in (None, tmp_path / "runs.h5"):
        runs = mbvi.ensemble(double(), {"v.elbow.angle": rates}, store=("q", "energy"), threads=2, path=path, **options)
        assert runs.status.values.tolist() == [DONE, FAILED, DONE, REFUSED]
        done = int(runs.steps[1])
        with pytest.raises(mbvi.StepError) as caught:
            mbvi.simulate(varied(double(), {"v.elbow.angle": 300.0}), "simpson", step=0.01, duration=1.0)
        kept = "The stored states before it are in error.trajectory. "
        assert runs.reason[1] == str(caught.value).replace(kept, "") and kept not in str(runs.reason.values)
        assert 0 <= done < 100 and same_bits(runs.q[1, : done + 1], caught.value.trajectory.q)
        assert np.isnan(runs.q[1, done + 1 :]).all() and np.isnan(runs.energy[1, done + 1 :]).all()
        assert np.isnan(runs.q[3]).all() and "finite energy" in str(runs.reason[3].values)
        assert np.isnan(runs.end).values.tolist() == [False, True, False, True]
        for i in (0, 2):
            alone = mbvi.simulate(varied(double(), {"v.elbow.angle": rates[i]}), "simpson", step=0.01, duration=1.0)
            assert same_bits(runs.q[i], alone.q) and runs.end[i] == alone.q[-1, 0]
        runs.close()


def double():
    return model("double_pendulum")


@coarse
def test_members_that_fail_among_others_that_run_together():
    """Three or four at a time here, of which some fail."""
    described, options = model("double_pendulum"), {"scheme": "gauss3", "step": 0.1, "duration": 1.0}
    rates = np.random.default_rng(1).permutation(np.linspace(0, 90, 60))
    runs = mbvi.ensemble(described, {"v.elbow.angle": rates}, store=("q",), threads=1, **options)
    assert set(runs.status.values.tolist()) == {DONE, FAILED}
    for rate, member in zip(rates, runs.transpose("v.elbow.angle", ...).q, strict=True):
        end = runs.sel({"v.elbow.angle": rate})
        try:
            alone, status = mbvi.simulate(varied(described, {"v.elbow.angle": rate}), **options), DONE
            reason = "".join(finding.text for finding in alone.findings)  # of steps that are too large
        except mbvi.StepError as error:
            alone, status, reason = error.trajectory, FAILED, error.reason
        assert (end.status, end.reason, end.steps) == (status, reason, alone.statistics.steps)
        assert same_bits(member[: len(alone)], alone.q) and np.isnan(member[len(alone) :]).all()


def test_a_member_starts_alike_alone_and_with_others():
    """From what the model gives, whatever was written over a system's initial coordinates."""
    system = mbvi.assemble(model("double_pendulum"))
    expected = system.initial_q.copy()
    system.initial_q = [0.5, 0.6]
    for over, measure in (
        ({"v.elbow.angle": np.linspace(0, 1, 2)}, None),
        ({"v.elbow.angle": np.linspace(0, 1, 2)}, {"end": lambda run: run.t[-1]}),
        ({"mass": np.linspace(1, 2, 2)}, None),
        ({"mass": np.linspace(1, 2, 40)}, None),
    ):
        runs = mbvi.ensemble(system, over, duration=0.1, store=("q",), measure=measure)
        assert (runs.q[:, 0] == expected).all()


def test_stops_of_members_stop_them():
    """Balls of the closed form: dropped from h onto a floor, they rise to e² h, and one below the floor is refused."""
    ball = model("bouncing_ball")
    floor = ball.contacts["floor"].model_copy(update={"restitution": "restitution"})
    described = ball.model_copy(
        update={"contacts": {"floor": floor}, "parameters": {**ball.parameters, "restitution": 0.8}}
    )
    height, restitution = np.array([1.0, 0.5, -0.2]), np.array([0.0, 0.3, 0.7, 1.0])
    over = {"height": height, "restitution": restitution}
    tops = {"top": lambda run: run.q[run.t > np.sqrt(2 * run.q[0, 0] / 9.81)].max()}
    runs = mbvi.ensemble(described, over, step=0.001, duration=1.2, measure=tops, store=("q",))
    assert (runs.status.sel(height=[1.0, 0.5]) == DONE).all() and (runs.status.sel(height=-0.2) == REFUSED).all()
    expected = "contacts.floor: expected a start with its gap open, found it closed by 0.2 m too far; start"
    assert str(runs.reason[2, 0].values).startswith(expected)
    assert runs.q.min() > 0.1 - 1e-12
    np.testing.assert_allclose(runs.top[:2, 1:] - 0.1, np.outer(height[:2], restitution[1:] ** 2), atol=2e-6)


def test_links_that_do_not_close_are_refused():
    """Ground 1, coupler 0.9, rocker 0.7, crank upright: they close while √(crank² + 1) < 0.9 + 0.7."""
    lengths = [0.3, 1.2, 1.3]
    runs = mbvi.ensemble(model("four_bar"), {"crank": lengths}, duration=0.05)
    assert runs.status.values.tolist() == [REFUSED if np.hypot(each, 1) > 1.6 else DONE for each in lengths]
    assert str(runs.reason[2].values).startswith(
        "joints.rocker pin: expected constraints that can be satisfied, found "
    )


def test_a_coordinate_with_the_name_of_its_body_is_known_by_its_joint():
    """As `mbvi check` lists that of a point mass in flight, whose place it is, while the joint's counts from its own place."""
    joints = {"air": mbvi.Free(parent="world", child="hook", position=(0.3, 0, 2))}
    flying = mbvi.Model(name="hook", bodies={"hook": mbvi.Body(mass=5)}, joints=joints)
    assert mbvi.assemble(flying).coordinate_names == ("hook.x", "hook.y", "hook.z")
    with pytest.raises(mbvi.ModelError, match=r"^over: .* found 'v\.hook\.y'; did you mean 'v\.air\.y'\?$"):
        mbvi.ensemble(flying, {"v.hook.y": [1.0]}, step=0.1, duration=0.1)
    runs = mbvi.ensemble(flying, {"q.air.x": [0.0, 0.1]}, step=0.1, duration=0.1)
    np.testing.assert_allclose(runs.q.values[:, 0, 0], [0.3, 0.4], rtol=1e-15)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({}, "over: expected a mapping of names to values, found {}"),
        ({"mas": [1]}, "over: expected a parameter, or an initial value as q.…, found 'mas'; did you mean 'mass'?"),
        ({"q.pivot.angel": [1]}, "found 'q.pivot.angel'; did you mean 'q.pivot.angle'?"),
        ({"pivot.angle": [1]}, "found 'pivot.angle'; did you mean 'q.pivot.angle'?"),
        ({"mass": []}, "over: mass: expected at least one value, found none"),
        ({"mass": [1.0, np.nan]}, "over: mass: expected finite numbers, found nan at 1"),
        ({"mass": ["1 kg"]}, "over: mass: expected numbers, found ['1 kg']; angles are in rad"),
        ({"mass": [True]}, "over: mass: expected numbers, found [True]"),
        (
            {"mass": (None, [1, 2])},
            "over: mass: expected numbers, found [None, [1, 2]]; angles are in rad, and a dimension",
        ),
        ({"mass": (("a", "a"), [[1]])}, "over: mass: expected different names of dimensions, found ['a', 'a']"),
        ({"mass": np.ma.array([1.0, 5.0], mask=[0, 1])}, "over: mass: expected numbers, found a masked one at 1"),
        ({"mass": np.array(["1e400"], np.longdouble)}, "over: mass: expected finite numbers, found inf at 0"),
        ({"mass": [[1.0, 2.0]]}, "over: mass: expected values of 1 dimension, found an array of shape (1, 2)"),
        ({"mass": ("a", 1.0)}, "over: mass: expected values of 1 dimension, found an array of shape ()"),
        (
            {"mass": ("a", [1, 2]), "length": ("a", [1, 2, 3])},
            "over: expected 2 values as before, found 3 of 'length', along the dimension 'a'",
        ),
        ({"mass": ("length", [1, 2]), "length": ("a", [1, 2])}, "over: expected a dimension other than what varies"),
        ({"mass": ("t", [1, 2])}, "over: expected a name of its own in the result, found 't'; choose another"),
        ({"mass": [2, 1, -1]}, "over: member 2 (mass = -1): bodies.bob.mass: expected a mass of at least 0, found -1"),
    ],
)
def test_values_that_are_refused(over, message):
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.ensemble(pendulum(), over, duration=0.1)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 0}, "threads: expected a whole number of at least 1, found 0"),
        ({"store": "q"}, "store: expected a list of names, found 'q'"),
        ({"store": ["energi"]}, "store: expected what can be stored, found 'energi'; did you mean 'energy'?"),
        ({"measure": {"end": 1}}, "measure: expected a mapping of names to functions of a trajectory"),
        ({"measure": {"mass": len}}, "measure: expected a name of its own in the result, found 'mass'"),
        ({"measure": {"a/b": len}}, "measure: expected a name without /, which separates groups in files, found 'a/b'"),
        ({"measure": {"all": lambda run: run.q}}, "measure: all: expected a number, found array("),
        ({"progress": 1}, "progress: expected a function"),
        ({"scheme": "simpsn"}, "did you mean 'simpson'?"),
        ({"step": -1}, "step: expected a time greater than 0, found -1"),
        ({"every": 100}, "every: expected at most the number of steps, 10, found 100"),
        ({"path": "missing/runs.h5"}, "expected a file in a folder, found no folder 'missing'"),
        ({"formulation": "net"}, "formulation: expected tree or embedding, found 'net'"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.ensemble(pendulum(), {"mass": [1.0, 2.0]}, **{"step": 0.01, "duration": 0.1} | options)
    assert message in str(caught.value)


def test_what_differs_between_members():
    """A step that follows from what varies, other coordinates, and methods that do not apply."""
    described = pendulum().model_copy(update={"simulation": mbvi.Simulation(step="length/100", duration=1)})
    with pytest.raises(
        mbvi.ModelError, match=r"over: member 1 .length = 2.: step: expected 100 steps of 0.01 s as the first"
    ):
        mbvi.ensemble(described, {"length": [1.0, 2.0]})
    assert (mbvi.ensemble(described, {"length": [1.0, 2.0]}, step=0.01).status == DONE).all()
    with pytest.raises(mbvi.ModelError, match="expected a system without constraints for scheme rk4"):
        mbvi.ensemble(model("four_bar"), {"crank": [0.2, 0.3]}, "rk4")
    with pytest.raises(mbvi.ModelError, match="expected a Model or a System, found 'pendulum'"):
        mbvi.ensemble("pendulum", {"mass": [1.0]})
    with pytest.raises(mbvi.ModelError, match="formulation: expected none of a System"):
        mbvi.ensemble(mbvi.assemble(pendulum()), {"mass": [1.0]}, formulation="tree")
    with pytest.raises(mbvi.ModelError, match="of a resolved one; take the model it came from"):
        mbvi.ensemble(pendulum().resolved(), {"mass": [1.0]})


def test_a_method_that_does_not_apply_is_reported_before_there_is_a_file(tmp_path):
    path = tmp_path / "runs.h5"
    with pytest.raises(
        mbvi.ModelError, match=r"^four-bar linkage: expected a system without constraints for scheme rk4"
    ):
        mbvi.ensemble(model("four_bar"), {"crank": [0.2, 0.3]}, "rk4", path=path)
    assert not path.exists()
    mbvi.ensemble(pendulum(), {"mass": [1.0]}, step=0.01, duration=0.1, path=path).close()
    before = path.read_bytes()
    with pytest.raises(
        mbvi.ModelError, match=r"^over: member 1 \(off = 0.1\): cart: scheme energy_momentum: expected a const"
    ):
        mbvi.ensemble(rotor_on_a_cart(), {"off": [0.0, 0.1]}, "energy_momentum", path=path, force=True)
    assert path.read_bytes() == before


def test_a_member_to_which_the_method_does_not_apply_is_refused():
    """A rotor on a cart has a constant mass matrix where it is balanced."""
    runs = mbvi.ensemble(rotor_on_a_cart(), {"turn": ("n", [0.0, np.pi / 2, np.pi])}, "energy_momentum")
    assert runs.status.values.tolist() == [DONE, REFUSED, DONE]
    assert "expected a constant mass matrix" in str(runs.reason[1].values) and np.isnan(runs.q[1]).all()


def rotor_on_a_cart():
    """Its centre of mass is off + 0.1 sin(turn) from its axis."""
    return mbvi.Model(
        name="cart",
        parameters={"off": 0, "turn": 0},
        bodies={
            "cart": mbvi.Body(mass=1),
            "rotor": mbvi.Body(mass=1, center_of_mass=("off + sin(turn)/10", 0, 0), inertia=(1, 1, 1)),
        },
        joints={
            "rail": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0)),
            "axle": mbvi.Revolute(parent="cart", child="rotor", axis=(0, 1, 0)),
        },
        initial={"axle": mbvi.Initial(velocity=1)},
        simulation=mbvi.Simulation(step=0.01, duration=0.1),
    )


def test_measures_have_the_start_and_the_time_of_a_run():
    measure = {"seconds": lambda run: run.statistics.seconds, "shift": lambda run: run.start.shift}
    runs = mbvi.ensemble(model("four_bar"), {"q.shaft.angle": [1.4, 1.5]}, duration=0.05, measure=measure)
    alone = [
        mbvi.simulate(varied(model("four_bar"), {"q.shaft.angle": each}), duration=0.05).start.shift
        for each in (1.4, 1.5)
    ]
    assert runs["shift"].values.tolist() == alone and min(alone) > 0
    assert (runs.seconds > 0).all()


def test_a_parameter_may_have_the_name_of_what_is_not_stored():
    described = pendulum(p=1, energy=2, mass="p", rate="energy")
    runs = mbvi.ensemble(described, {"p": [1, 2], "energy": [3, 4]}, step=0.01, duration=0.1, store=["q"])
    assert runs.q.dims == ("p", "energy", "t", "coordinate") and runs.energy.values.tolist() == [3, 4]
    with pytest.raises(
        mbvi.ModelError, match="found 'energy'; rename the parameter, or leave what has its name out of store"
    ):
        mbvi.ensemble(described, {"energy": [3, 4]}, step=0.01, duration=0.1)


def test_too_much_for_memory_is_reported_before():
    with pytest.raises(mbvi.ModelError, match=r"states of at most 8 GB, found .* GB of 1000000 members; store every"):
        mbvi.ensemble(pendulum(), {"q.pivot.angle": np.linspace(0, 1, 1000000)}, step=0.01, duration=10)
    many = dict.fromkeys(("q.pivot.angle", "v.pivot.angle"), np.linspace(0, 1, 1000000))
    with pytest.raises(mbvi.ModelError, match=r"^over: expected members of at most 8 GB, found 1000000000000 of 3"):
        mbvi.ensemble(pendulum(), many, step=0.01, duration=10)


def test_an_error_of_a_measure_ends_the_ensemble():
    def broken(run):
        raise ZeroDivisionError("mine")

    message = r"^over: member \d+ \(mass = .*\): measure: x: expected a number, found ZeroDivisionError: mine$"
    with pytest.raises(mbvi.ModelError, match=message) as caught:
        mbvi.ensemble(pendulum(), {"mass": np.linspace(1, 2, 50)}, duration=0.1, measure={"x": broken}, threads=2)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_progress_counts_members():
    seen = []
    mbvi.ensemble(pendulum(), {"mass": [1, 2, 3]}, duration=0.1, progress=lambda *each: seen.append(each))
    assert seen[-1] == (3, 3) and seen == sorted(seen)


def test_an_interruption_ends_members_that_are_refused(tmp_path):
    """All but the first and the last have a negative mass."""
    body = mbvi.Body(mass="mass*mass - 1/2", center_of_mass=(0, 0, "-length"))
    described = pendulum().model_copy(update={"bodies": {"bob": body}})
    masses, path = np.array([-1.0, *np.zeros(4998), 1.0]), tmp_path / "runs.h5"

    def interrupt(done, count):
        if done > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mbvi.ensemble(
            described, {"mass": masses}, step=0.01, duration=0.1, threads=1, path=path, progress=interrupt
        ).close()
    with h5py.File(path) as file:
        assert 0 < np.sum(file["status"][:] == REFUSED) < 2500 < np.sum(file["status"][:] == NOT_RUN)


def test_what_an_interruption_leaves(tmp_path):
    """Members that are done are in the file, the others are marked; nothing of a member is there in part."""

    def interrupt(done, members):
        if done:
            raise KeyboardInterrupt

    path, masses = tmp_path / "runs.h5", np.linspace(1, 2, 4000)
    with pytest.raises(KeyboardInterrupt, match=r"\d+ of 4000 members are in .*runs.h5"):
        mbvi.ensemble(pendulum(), {"mass": masses}, step=0.01, duration=5, threads=2, path=path, progress=interrupt)
    with xarray.open_dataset(path, engine="h5netcdf") as runs:
        done = runs.status.values == DONE
        assert 0 < done.sum() < 4000 and (runs.status.values[~done] == NOT_RUN).all()
        assert np.isnan(runs.q.values[~done]).all() and np.isfinite(runs.q.values[done]).all()
        last = int(np.flatnonzero(done)[-1])
        alone = mbvi.simulate(pendulum(mass=masses[last]), step=0.01, duration=5)
        assert same_bits(runs.q[last], alone.q)


def test_what_a_kill_leaves(tmp_path):
    path = tmp_path / "runs.h5"
    code = f"""
import numpy as np, mbvi
described = mbvi.load({str(ROOT / "models" / "double_pendulum.yaml")!r})
mbvi.ensemble(described, {{"mass": np.linspace(1, 2, 20000)}}, duration=5, threads=2, path={str(path)!r}, store=("q",))
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None and not _done(path):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    in_new_process(f"check_killed(Path({str(path)!r}))")


def check_killed(path):
    with h5py.File(path) as file:
        done = np.flatnonzero(file["status"][:] == DONE)
        assert 0 < len(done) < 20000
        described = model("double_pendulum").with_parameters({"mass": file["mass"][done[-1]]})
        assert same_bits(file["q"][done[-1]], mbvi.simulate(described, duration=5).q)


def _done(path):
    if not path.exists():
        return False
    with h5py.File(path, locking=False) as file:
        return bool((file["status"][:] == DONE).sum() > 20)


def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    write, written = storage.write_at, []

    def write_until_full(*arguments):
        written.append(arguments)
        if len(written) > 20:  # five for neighbours that end together
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(*arguments)

    monkeypatch.setattr(storage, "write_at", write_until_full)
    path = tmp_path / "runs.h5"
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.ensemble(pendulum(), {"mass": np.linspace(1, 2, 50)}, duration=0.1, path=path, threads=2)
    rest = "the members that are done are in the file; make room, and resume it"
    assert str(caught.value) == f"{path}: expected room on the disk, found no space left on device; {rest}"
    with h5py.File(path) as file:
        done = file["status"][:] == DONE
        assert done.sum() >= 4 and np.isfinite(file["q"][done]).all()


def test_an_existing_file_stays(tmp_path):
    path = tmp_path / "runs.h5"
    path.write_text("mine")
    with pytest.raises(mbvi.ModelError, match="expected a new file, found one that exists"):
        mbvi.ensemble(pendulum(), {"mass": [1.0]}, duration=0.1, path=path)
    with pytest.raises(mbvi.ModelError, match="expected a mass"):
        mbvi.ensemble(pendulum(), {"mass": [-1.0]}, duration=0.1, path=path, force=True)
    assert path.read_text() == "mine"
    mbvi.ensemble(pendulum(), {"mass": [1.0]}, duration=0.1, path=path, force=True).close()
    assert [each.name for each in tmp_path.iterdir()] == ["runs.h5"]


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.ensemble(pendulum(), {"mass": [1.0]}, duration=0.1)
    assert str(caught.value) == "ensemble: expected xarray, found none; install it with: pip install 'mbvi[export]'"


# ------------------------------------------------------------------------------------------ the command line


def command(*arguments, exit_code=0):
    result = CliRunner().invoke(app, ["ensemble", *map(str, arguments)])
    assert result.exit_code == exit_code, result.output
    return result.stdout + result.stderr


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = ROOT / "models" / "four_bar.yaml"
    over = "--over", "crank=0.2:1.3:3", "--over", "v.shaft.angle=1,2*pi"
    said = command(path, *over, "--duration", "0.05", "--every", "5")
    head = "four-bar linkage: 6 members (crank 3 × v.shaft.angle 2), simpson, 10 steps of 0.005 s to t = 0.05 s"
    assert said.startswith(f"{head}\n4 done, 2 refused\n")
    (line,) = [line for line in said.splitlines() if line.startswith("  ")]
    assert line.startswith("  crank = 1.3, v.shaft.angle = 1: joints.rocker pin: expected constraints")
    assert line.endswith(" (1 more of this)")
    assert "written to four_bar_ensemble.h5 (" in said
    with xarray.open_dataset("four_bar_ensemble.h5", engine="h5netcdf") as runs:
        assert runs.q.shape == (3, 2, 3, 3)
        np.testing.assert_allclose(runs["v.shaft.angle"], [1, 2 * np.pi])


def test_names_of_points_are_no_expressions():
    """Nor is a parameter used that has the name of a point, or that only an idle one uses."""
    bob = mbvi.Body(mass="mass", center_of_mass=(0, 0, -1), points={"left end": (0, 0, "z"), "place": (0, 0, -1)})
    forces = {name.replace(" ", "_"): mbvi.Force(body="bob", point=name, vector=(1, 0, 0)) for name in bob.points}
    joints = {"pivot": mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))}
    parameters = {"mass": "heavy", "heavy": 2, "z": -1, "place": 3, "idle": "also", "also": 1}
    described = mbvi.Model(name="named", parameters=parameters, bodies={"bob": bob}, joints=joints, forces=forces)
    assert idle_parameters(described) == ["place", "idle", "also"]


def test_a_parameter_that_nothing_uses_is_reported():
    described = pendulum(idle=3)
    with pytest.warns(UserWarning, match="^over: idle: nothing in the model uses it, so that it makes no difference$"):
        mbvi.ensemble(described, {"idle": [1, 2], "mass": [1, 2]}, step=0.01, duration=0.1)


def test_an_ensemble_without_a_member_that_is_done_is_a_failure(tmp_path):
    path, out = ROOT / "models" / "double_pendulum.yaml", tmp_path / "runs.h5"
    said = command(path, "--over", "mass=1,2", "--step", 5, "--duration", 5, "--out", out, exit_code=3)
    assert "\n2 failed\n" in said
    out = shutil.copy(out, tmp_path / "copy.h5")  # which nothing has open
    for read in (mbvi.read, mbvi.load):
        with pytest.raises(
            mbvi.ModelError, match=r"; read it with xarray.open_dataset$|; give the model that it was made from$"
        ):
            read(out)


def test_kernels_are_compiled_where_an_interruption_ends_that(monkeypatch):
    """In the thread that asks for the ensemble: the others end when what they compile is compiled."""
    threads = []

    def noted(run):
        def run_and_note(*arguments):
            threads.append(threading.current_thread())
            return run(*arguments)

        return run_and_note

    monkeypatch.setattr(galerkin, "advance_runs", noted(galerkin.advance_runs))
    runs = mbvi.ensemble(pendulum(), {"mass": [1.0, 2.0]}, duration=0.1)
    assert threads[0] is threading.main_thread()
    assert threading.main_thread() not in threads[1:] and len(threads) >= 2
    alone = mbvi.simulate(pendulum().with_parameters({"mass": 1.0}), duration=0.1)
    assert same_bits(runs.q[0].values, alone.q)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("crank", "--over: expected NAME=FIRST:LAST:COUNT or NAME=VALUE,VALUE,…, found 'crank'"),
        ("crank=1:2", "--over: expected NAME=FIRST:LAST:COUNT"),
        ("=1,2", "--over: expected NAME=FIRST:LAST:COUNT or NAME=VALUE,VALUE,…, found '=1,2'"),
        ("crank=1:2:0", "--over: crank: expected a count of at least 1 after the last colon, found '0'"),
        (
            "crank=1:2:99999999999999",
            "over: expected members of at most 8 GB, found 99999999999999 of 2.4e+06 GB; give fewer",
        ),
        ("crank=1,grond", "--over: crank: expected a parameter or a constant, found 'grond'"),
        ("crnk=1,2", "over: expected a parameter, or an initial value as q.…, found 'crnk'; did you mean 'crank'?"),
        ("crank=-1,1", "over: member 0 (crank = -1): bodies.crank.shapes"),
        (
            "crank=30 deg,1",
            "--over: crank: bodies.crank.shapes.0.position.0: expected a value in m, found 'crank/2', which",
        ),
        (
            "q.shaft.angle=0 deg:90 rpm:3",
            "--over: q.shaft.angle: expected a value in rad, found '90 rpm', which is in rad/s; a number alone is in rad",
        ),
    ],
)
def test_options_of_the_command_that_are_refused(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in command(ROOT / "models" / "four_bar.yaml", "--over", text, exit_code=2)
    assert not list(tmp_path.iterdir())
