"""A server for pages on this machine alone: it answers only those that know its token.

It listens on the loopback interface, at a port that is free. The token stands in the address: /TOKEN/ is the page,
/TOKEN/frames a stream of frames (server-sent events), /TOKEN/scene what bodies look like, and /TOKEN/controls takes changes, and
says what the controls are. All else is refused.
"""

from __future__ import annotations

import base64
import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from mbvi.errors import ModelError
from mbvi.live.frames import Frame, Frames, Screen

HOST = "127.0.0.1"
PATIENCE = 10.0
"""Seconds after which a browser that takes nothing is given up."""
PULSE = 1.0
"""Seconds after which a stream without frames says that it is there."""
LONGEST = 65536
"""Bytes of a change, at most."""
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'"


class Shown(Protocol):
    """What a server shows: a page, its screen, frames, and what takes changes."""

    frames: Frames
    screen: Screen

    def page(self) -> str:
        """The page."""

    @property
    def controls(self) -> list[dict[str, Any]]:
        """What can be changed."""

    def change(self, changes: dict[str, Any]) -> None:
        """Take changes of controls."""


class Server:
    """A server in threads of its own.

    Attributes
    ----------
    address : str
        The address of the page.
    """

    def __init__(self, shown: Shown) -> None:
        token = secrets.token_urlsafe(24)
        self._is_closed = threading.Event()
        own = {"shown": shown, "prefix": f"/{token}/", "is_closed": self._is_closed, "timeout": PATIENCE}
        handler = type("Handler", (_Handler,), own)
        self._server = ThreadingHTTPServer((HOST, 0), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.address = f"http://{HOST}:{self.port}/{token}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._is_closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    shown: Shown
    prefix: str
    is_closed: threading.Event

    def do_GET(self) -> None:
        """The page, or the stream."""
        match self._asked():
            case "":
                self._answer(200, "text/html", self.shown.page())
            case "scene":
                self._answer(200, "application/json", json.dumps(self.shown.screen.look(), allow_nan=False))
            case "controls":
                self._answer(200, "application/json", json.dumps(self.shown.controls, allow_nan=False))
            case "frames":
                self._stream()
            case str():
                self.send_error(404)

    def do_POST(self) -> None:
        """A change."""
        if (asked := self._asked()) is None:
            return
        length = self.headers.get("Content-Length", "")
        if asked != "controls" or not length.isdecimal() or int(length) > LONGEST:
            self.send_error(400)
            return
        try:
            self.shown.change(json.loads(self.rfile.read(int(length))))
        except (ModelError, ValueError) as error:
            self._answer(400, "text/plain", str(error))
        else:
            self._answer(204, "text/plain", "")

    def _asked(self) -> str | None:
        """What is asked for behind the token; without it, or by another name of this machine, the request is refused."""
        path, hosts = self.path.encode("utf-8", "replace"), (f"{HOST}:{self.server.server_port}",)  # type: ignore[attr-defined]
        begin = path[: len(self.prefix)]
        if secrets.compare_digest(begin, self.prefix.encode()) and self.headers.get("Host") in hosts:
            return self.path[len(self.prefix) :]
        self.send_error(403)
        return None

    def _answer(self, code: int, kind: str, text: str) -> None:
        content = text.encode()
        self._head(code, kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _head(self, code: int, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Content-Security-Policy", POLICY)

    def _stream(self) -> None:
        """Frames as they come, until the browser is gone. One that is slow misses those that are old by then."""
        self._head(200, "text/event-stream")
        self.end_headers()
        frames, last = self.shown.frames, self.headers.get("Last-Event-ID", "")
        number, sent = int(last) if last.isdecimal() else -1, {"status": "", "scene": self.shown.frames.look}
        with frames.watched():
            while not self.is_closed.is_set():
                found = frames.after(number, PULSE)
                text = _event(found) if found else ": here\n\n"
                for name, value in (("scene", frames.look), ("status", frames.status)):
                    text += f"event: {name}\ndata: {json.dumps(value)}\n\n" if sent[name] != value else ""
                    sent[name] = value
                self.wfile.write(text.encode())
                number = found[-1].number if found else number

    def handle_one_request(self) -> None:
        """One request, whatever becomes of the browser."""
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _event(frames: list[Frame]) -> str:
    """Frames as an event of a stream."""
    rows = base64.b64encode(b"".join(frame.row for frame in frames)).decode("ascii")
    return f"id: {frames[-1].number}\ndata: {json.dumps({'t': [frame.t for frame in frames], 'rows': rows})}\n\n"
