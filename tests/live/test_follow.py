"""Pages that follow a run: who is served, what is sent, and that no browser slows or ends the run."""

import base64
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest

import mbvi
from mbvi.live import server
from mbvi.live.frames import KEPT, Frames, Screen
from tests.folders import MODELS, ROOT

CART = mbvi.Model(
    name="cart-pole",
    parameters={"length": 0.5, "load": 0.1, "reach": "2*length"},
    bodies={"cart": mbvi.Body(mass=1), "pole": mbvi.Body(mass="load", center_of_mass=(0, 0, "length"))},
    joints={
        "track": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0)),
        "hinge": mbvi.Revolute(parent="cart", child="pole", axis=(0, 1, 0)),
    },
    forces={
        "motor": mbvi.Motor(joint="track", effort=10),
        "spring": mbvi.Spring(body_a="world", body_b="pole", stiffness=1, point_b=(0, 0, "reach")),
    },
)


def ask(page, way="", token=True, method="GET", body=None, **headers):
    """The answer to a request: its code, its text, and its headers."""
    address = urlsplit(page.address)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    path = (address.path if token is True else token or "/") + way
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), dict(answer.getheaders())


@contextmanager
def stream(page):
    """The answer that frames come in, at first those that are kept."""
    address = urlsplit(page.address)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    connection.request("GET", address.path + "frames")
    with closing(connection), connection.getresponse() as answer:
        yield answer


def next_frames(answer):
    """Times of the next frames, and all their numbers."""
    end = time.monotonic() + 60
    while not (line := answer.readline()).startswith(b"data: {"):
        assert line and time.monotonic() < end, "no frames come"
    found = json.loads(line.removeprefix(b"data: "))
    return found["t"], np.frombuffer(base64.b64decode(found["rows"]), "<f4")


def eventually(holds, seconds=300.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def simulator():
    return mbvi.Simulator(CART, "midpoint", step=0.01, initial_q=[0, 0.3])


# ------------------------------------------------------------------------------------------------ who is served


def test_nothing_without_the_token(simulator):
    with mbvi.live.follow(simulator) as page:
        address = urlsplit(page.address)
        assert address.hostname == "127.0.0.1" and len(address.path) > 30
        for token in (
            "/",
            "",
            "/frames",
            address.path[:-2],
            address.path[:-2] + "/",
            "/%C3%A9/",
            address.path.swapcase(),
        ):
            ways = ("", "GET"), ("frames", "GET"), ("scene", "GET"), ("controls", "GET"), ("controls", "POST")
            for way, method in ways:
                code, text, _ = ask(page, way, token=token, method=method, body=b"{}" if method == "POST" else None)
                assert code == 403 and "cart" not in text
        assert ask(page, Host=f"evil.example:{address.port}")[0] == 403
        code, text, headers = ask(page)
        assert (code == 200 and "Cart-pole" in text) or "cart-pole" in text
        assert "connect-src 'self'" in headers["Content-Security-Policy"] and headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert ask(page, "other")[0] == 404 and ask(page, "other", method="POST", body=b"{}")[0] == 400
        with socket.socket() as other:  # of another address of this machine
            other.settimeout(2)
            assert (
                other.connect_ex((socket.gethostbyname(socket.gethostname()), address.port))
                or address.hostname == (other.getpeername()[0])
            )
    with pytest.raises(ConnectionRefusedError):
        ask(page)


# ------------------------------------------------------------------------------------------------ what is sent


def test_frames_of_a_loop_of_ones_own(simulator):
    with mbvi.live.follow(simulator, trails=["pole"]) as page:
        data = json.loads(re.search(r'id="data">([^<]*)<', ask(page)[1])[1])
        with stream(page) as answer:
            eventually(lambda: page._source.frames.are_watched)
            simulator.run(0.5)
            t, rows = next_frames(answer)
            while t[-1] < 0.5 - 1e-9:
                t, rows = next_frames(answer)
        eventually(lambda: not page._source.frames.are_watched)
        assert post(page, inputs={"motor": 1}) == (
            400,
            "follow: expected a simulator that is advanced here, found one of another loop; follow it with a speed",
        )
        places, start = {}, 0
        for home, i, key, width in data["live"]["columns"]:
            name = data["things"][i]["name"] if home == "things" else (home, i)
            places[name, key] = rows.reshape(len(t), -1)[-1, start : start + width]
            start += width
        np.testing.assert_allclose(places["pole", "places"], simulator.pose("pole")[0], atol=1e-6)
        np.testing.assert_allclose(places["cart", "quaternions"], [0, 0, 0, 1], atol=1e-6)
        tip = simulator.pose("pole")[0] + simulator.pose("pole")[1] @ [0, 0, 0.5]
        np.testing.assert_allclose(places[("trails", 0), "places"], tip, atol=1e-6)
        length = np.linalg.norm(simulator.pose("pole")[0] + 2 * (tip - simulator.pose("pole")[0]))
        np.testing.assert_allclose(places["spring", "scales"][2], length, rtol=1e-6)
        assert places[("curves", 0), "values"] == pytest.approx(simulator.now.energy()[0], rel=1e-6)
        assert places[("curves", 2), "values"] == pytest.approx(simulator.q[1], rel=1e-6)


def test_a_file_while_a_run_writes_it(tmp_path):
    """Another process: the last state comes, however fast the run is."""
    path, model = tmp_path / "a.h5", mbvi.load(MODELS / "double_pendulum.yaml")
    mbvi.simulate(model, step=0.01, duration=0.05, path=path)
    with mbvi.live.follow(path) as page, stream(page) as answer:
        t, _ = next_frames(answer)
        assert t[0] == 0
        while t[-1] < 0.05 - 1e-9:
            t, _ = next_frames(answer)
        command = [sys.executable, "-m", "mbvi", "run", "--resume", str(path), "--duration", "20"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        while t[-1] < 20.0 - 1e-9:
            last = t[-1]
            t, rows = next_frames(answer)
            assert t == sorted(t) and t[0] > last
        np.testing.assert_allclose(rows[-2:], mbvi.read(path).q[-1], rtol=1e-6)
        assert ask(page, "controls", method="POST", body=b"{}")[0] == 400


def test_a_file_that_another_run_writes_anew(tmp_path):
    """Of the same model with another step, and of another model."""
    path, model = tmp_path / "a.h5", mbvi.load(MODELS / "double_pendulum.yaml")
    mbvi.simulate(model, step=0.01, duration=0.05, path=path)
    shorter = model.replaced({"simulation": mbvi.Simulation(step=0.005, duration=1)})
    with mbvi.live.follow(path) as page, stream(page) as answer:
        assert next_frames(answer)[0][0] == 0
        for number, (other, end) in enumerate([(shorter, 0.03), (CART, 0.02)]):
            mbvi.simulate(other, step=0.005, duration=end, path=path, force=True)
            eventually(lambda number=number: page._source.frames.look == number + 1)
            eventually(lambda end=end: page._source._last.t == pytest.approx(end))
            assert page._source.frames.status == ""
        assert "cart-pole" in ask(page)[1].lower() and len(json.loads(ask(page, "scene")[1])["things"]) > 2
        path.write_bytes(b"")
        eventually(lambda: str(path) in page._source.frames.status)


# ------------------------------------------------------------------------------------------- no browser slows a run


def test_a_browser_that_takes_nothing_holds_nobody(simulator, monkeypatch):
    """More is sent than fits into its connection; another one is sent the newest, and the first one is given up."""
    monkeypatch.setattr(server, "PATIENCE", 1.0)
    frames = Frames()
    for i in range(3 * KEPT):
        frames.add(i, np.zeros(4))
    assert len(frames.after(-1, 0.0)) == KEPT and frames.after(3 * KEPT - 1, 0.0) == []
    with mbvi.live.follow(simulator) as page:
        frames, address = page._source.frames, urlsplit(page.address)
        with socket.socket() as idle:
            idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            idle.connect((address.hostname, address.port))
            idle.sendall(f"GET {address.path}frames HTTP/1.0\r\nHost: {address.netloc}\r\n\r\n".encode())
            eventually(lambda: frames.after(-1, 0.0))
            for i in range(200):
                frames.add(1.0 + i, np.zeros(20_000))  # 16 MB, of which nothing is taken
            with stream(page) as answer:
                t, _ = next_frames(answer)
                while t[-1] < 200.0:
                    t, _ = next_frames(answer)
                simulator.run(1.0)
        eventually(lambda: not frames.are_watched)
    run = mbvi.simulate(CART, "midpoint", step=0.01, duration=1.0, initial_q=[0, 0.3])
    assert np.array_equal(simulator.trajectory().q, run.q)


# ------------------------------------------------------------------------------------------------- what it takes


def post(page, **changes):
    return ask(page, "controls", method="POST", body=json.dumps(changes).encode())[:2]


def drag(t, q, v, F, load, length):
    F[0] -= load * v[0]


def test_parameters_of_a_model_with_a_force_of_the_users_own():
    """They have sliders too, which change the force."""
    own = mbvi.Simulator(mbvi.assemble(CART, force=drag), "midpoint", step=0.01, initial_v=[1.0, 0.0])
    with mbvi.live.follow(own, speed=100.0) as page:
        live = json.loads(re.search(r'id="data">([^<]*)<', ask(page)[1])[1])["live"]
        assert [each["name"] for each in live["controls"]] == ["motor", "length", "load"]
        assert post(page, playing=False, parameters={"load": 0.2}) == (204, "")
        force = page.simulator.now.forces(["own force"])["own force"].values[0]
        assert force == pytest.approx(np.array([-0.2 * page.simulator.v[0], 0.0]), abs=1e-14)


def righting(t, q, v):
    return 5.0 * q[1] + v[1]


def test_functions_that_tell_actuators_have_no_sliders_and_stay():
    """Also where a parameter is changed, and where it begins anew."""
    own = mbvi.Simulator(CART, "midpoint", step=0.01, initial_v=[1.0, 0.2], inputs={"motor": righting})
    with mbvi.live.follow(own, speed=100.0) as page:
        live = json.loads(re.search(r'id="data">([^<]*)<', ask(page)[1])[1])["live"]
        assert [each["name"] for each in live["controls"]] == ["length", "load"]
        for changes in ({"playing": False, "parameters": {"load": 0.2}}, {"restart": True, "playing": False}):
            assert post(page, **changes) == (204, "")
            now = page.simulator
            now.step()
            force = now.now.forces(["motor"])["motor"].values[0]
            assert force == pytest.approx([righting(now.t, now.q, now.v)], abs=1e-12) and force[0] != 0
            assert now.system.model.resolved().parameters["load"] == 0.2
        assert post(page, inputs={"motor": 1.0})[0] == 400


def test_controls(simulator):
    with mbvi.live.follow(simulator, speed=100.0) as page:
        live = json.loads(re.search(r'id="data">([^<]*)<', ask(page)[1])[1])["live"]
        assert live["paced"] and live["controls"] == [
            {"kind": "inputs", "name": "motor", "value": 0.0, "low": -10.0, "high": 10.0},
            {"kind": "parameters", "name": "length", "value": 0.5, "low": 0.0, "high": 1.0},
            {"kind": "parameters", "name": "load", "value": 0.1, "low": 0.0, "high": 0.2},
        ]
        assert page.simulator.steps == 0  # it waits for someone who sees it
        with stream(page):
            eventually(lambda: page.simulator.steps > 10)
        assert post(page, playing=False) == (204, "")
        before = page.simulator.q, page.simulator.v, page.simulator.t
        assert post(page, inputs={"motor": 3.0}, parameters={"length": 0.25}) == (204, "")
        now = page.simulator
        for found, expected in zip((now.q, now.v, now.t), before, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        other = CART.with_parameters({"length": 0.25})
        other = other.replaced({"forces": other.forces | {"motor": mbvi.Motor(joint="track", effort=10, input=3.0)}})
        expected = mbvi.Simulator(other, "midpoint", step=0.01, initial_q=before[0], initial_v=before[1])
        for each in (now, expected):
            each.step()
        np.testing.assert_allclose(now.q, expected.q, rtol=1e-12, atol=1e-13)
        assert [each["value"] for each in json.loads(ask(page, "controls")[1])] == [3.0, 0.25, 0.1]
        assert post(page, restart=True, playing=False)[0] == 204
        np.testing.assert_allclose(page.simulator.q, [0, 0.3], atol=1e-2)
        for changes, message in (
            ({"inputs": {"moter": 1}}, "inputs.moter: expected a control, found 'moter'; did you mean 'motor'?"),
            ({"inputs": {"motor": None}}, "inputs.motor: expected a finite number, found nothing"),
            ({"parameters": {"reach": 1}}, "parameters.reach: expected a control, found 'reach'"),
            ({"parameters": {"load": -1}}, "bodies.pole.mass: expected a mass of at least 0, found -1"),
            ({"speed": 0}, "speed: expected a number greater than 0, found 0"),
            ({"playing": 1}, "playing: expected True or False, found 1"),
            ({"fly": 1}, "follow: expected inputs or parameters or speed or playing or restart, found 'fly'"),
        ):
            code, text = post(page, **changes)
            assert code == 400 and text.startswith(message)
        for body in (b"", b"[", b"[1]", b"\xff"):
            assert ask(page, "controls", method="POST", body=body)[0] == 400


def test_a_step_that_fails_is_said():
    """A sphere under a force that has no value from x = 0.5 m on; it can begin anew."""
    model = mbvi.Model(
        name="a",
        bodies={"a": mbvi.Body(mass=1)},
        joints={"x": mbvi.Prismatic(parent="world", child="a", axis=(1, 0, 0))},
        forces={"f": mbvi.JointForce(joint="x", value="sqrt(0.5 - t)")},
    )
    with (
        mbvi.live.follow(mbvi.Simulator(model, "midpoint", step=0.1, every=0), speed=10.0) as page,
        stream(page) as answer,
    ):
        while not (line := answer.readline()).startswith(b"event: status"):
            assert line
        assert b"Restart begins anew" in answer.readline()
        assert post(page, restart=True) == (204, "")


def test_what_cannot_be_followed(tmp_path, simulator):
    with pytest.raises(mbvi.ModelError, match="speed: expected none of a file, whose run has its own, found 1"):
        mbvi.live.follow(tmp_path / "a.h5", speed=1)
    with pytest.raises(mbvi.ModelError, match=r"a.h5: expected a trajectory file, found no such file"):
        mbvi.live.follow(tmp_path / "a.h5")
    with pytest.raises(mbvi.ModelError, match="speed: expected a number greater than 0, found 0"):
        mbvi.live.follow(simulator, speed=0)
    with pytest.raises(mbvi.ModelError, match="run: expected the path of a file, found 3"):
        mbvi.live.follow(3)
    system = mbvi.assemble(CART)
    system.frames = {}  # as a Lagrangian
    with pytest.raises(mbvi.ModelError, match="follow: expected a system with bodies, found"):
        Screen(system, np.zeros(1))


def test_the_command(tmp_path):
    """It says the address, and ends with Ctrl+C."""
    environment = {
        key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    }
    command = [sys.executable, "-m", "mbvi", "view", "--follow", str(MODELS / "double_pendulum.yaml")]
    options = {"stdout": subprocess.PIPE, "text": True, "env": environment, "cwd": ROOT}
    options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # it is ignored in the background
    process = subprocess.Popen(command, **options)
    try:
        line = process.stdout.readline()
        found = re.fullmatch(
            r"(http://127.0.0.1:\d+/\S+/) follows double_pendulum.yaml until Ctrl\+C: open it in .*\n", line
        )
        assert found, line
        address = urlsplit(found[1])
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        connection.request("GET", address.path)
        assert connection.getresponse().status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


# ------------------------------------------------------------------------------------------------- in a browser


def test_the_page_in_a_browser(browser, simulator):
    """It moves, its sliders push the cart and lengthen the pole, what was is kept, and the browser closes while it goes on."""
    with mbvi.live.follow(simulator, speed=1.0) as page:
        with browser() as driver:
            tab, problems = driver.new_page(viewport={"width": 1200, "height": 800}), []
            tab.on("console", lambda message: problems.append(message.text))
            tab.on("pageerror", lambda error: problems.append(str(error)))
            tab.goto(page.address, timeout=120_000)
            eventually(lambda: tab.evaluate("data.frames > 5 && data.end > 0.5"))
            first = tab.evaluate("viewer.pixel('pole', [0, 0, 0.5])")
            sliders = tab.evaluate(
                "[...document.querySelectorAll('#controls [type=range]')].map(each => each.ariaLabel)"
            )
            assert sliders == ["motor", "length", "load"]
            tab.locator("#controls [type=range]").first.fill("6")
            eventually(lambda: page.simulator.system.arrays.inputs[0] == 6.0)
            tab.locator("#controls [type=number]").nth(1).fill("0.8")
            tab.keyboard.press("Enter")
            before = tab.evaluate("things.find(each => each.name === 'pole').mesh.geometry.uuid")
            eventually(lambda: tab.evaluate("things.find(each => each.name === 'pole').mesh.geometry.uuid") != before)
            eventually(lambda: tab.evaluate("data.end - data.start > 2"))
            assert np.hypot(*np.subtract(tab.evaluate("viewer.pixel('pole', [0, 0, 0.5])"), first)) > 5
            assert tab.evaluate("plots[0].values.length === data.frames && data.start < 0.5")
            tab.locator("#play").click()
            eventually(lambda: not page._source._is_playing)
            tab.locator("#restart").click()
            eventually(lambda: page._source._is_playing and tab.evaluate("data.end < 2"))
            tab.locator("#controls [type=number]").last.fill("-1")
            tab.keyboard.press("Enter")
            eventually(lambda: tab.evaluate("message.textContent").startswith("bodies.pole.mass: expected"))
            values = "[...document.querySelectorAll('#controls [type=number]')].map(each => each.valueAsNumber)"
            eventually(lambda: tab.evaluate(values) == [6.0, 0.8, 0.1])  # those of the run again
            tab.locator("#controls [type=number]").first.fill("")
            tab.keyboard.press("Enter")
            eventually(lambda: tab.evaluate(values) == [6.0, 0.8, 0.1])
            assert [each for each in problems if "400 (Bad Request)" not in each] == []
        steps = page.simulator.steps
        eventually(lambda: page.simulator.steps > steps)


def test_what_is_far_away_stays_in_view(browser):
    """Where a parameter changes, and the window."""
    free = CART.model_copy(update={"forces": {}})
    away = mbvi.Simulator(free, "midpoint", step=0.01, initial_v=[20.0, 0.0])
    with mbvi.live.follow(away, speed=5.0) as page, browser() as driver:
        tab = driver.new_page(viewport={"width": 1200, "height": 800})
        tab.goto(page.address, timeout=120_000)

        def is_in_view():
            x, y = tab.evaluate("viewer.pixel('cart', [0, 0, 0])")
            return 0 < x < tab.evaluate("stage.clientWidth") and 0 < y < tab.evaluate("stage.clientHeight")

        eventually(lambda: page.simulator.q[0] > 100)
        tab.locator("#play").click()
        eventually(lambda: not page._source._is_playing)
        eventually(is_in_view)
        tab.locator("#controls [type=number]").first.fill("0.3")
        tab.keyboard.press("Enter")
        eventually(lambda: page._source.frames.look == 1)
        tab.set_viewport_size({"width": 1000, "height": 700})
        tab.locator("#play").click()
        reached = page.simulator.t + 2
        eventually(lambda: tab.evaluate("data.end") > reached)
        tab.locator("#play").click()
        eventually(lambda: not page._source._is_playing)
        eventually(is_in_view)
        assert max(map(abs, tab.evaluate("camera.position.clone().sub(center).sub(gone).toArray()"))) < 20
