"""A gateway on loopback that takes its time: what it answers, and when, is said by a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any


@dataclass(frozen=True)
class Put:
    """A request: `now` is how many there are just now, itself among them."""

    method: str
    path: str
    model: str
    headers: Mapping[str, str]
    now: int


@dataclass(frozen=True)
class Reply:
    """An answer; data that are neither text nor bytes are sent as JSON."""

    data: Any
    status: int = 200
    seconds: float = 0
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Slow:
    """What it was asked, and how many requests it had at a time."""

    reply: Callable[[Put], Reply]
    asked: list[tuple[str, str]] = field(default_factory=list)
    now: int = 0
    most: int = 0
    over: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)
    origin: str = ""


@contextmanager
def slow(reply: Callable[[Put], Reply]) -> Iterator[Slow]:
    """A running one.

    Args:
        reply: from what it is asked to what it answers.
    """
    gateway = Slow(reply)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answers("")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self._answers(str(body.get("model", "")))

        def _answers(self, model: str) -> None:
            with gateway.lock:
                gateway.asked.append((self.path, model))
                gateway.now += 1
                gateway.most = max(gateway.most, gateway.now)
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = gateway.reply(Put(self.command, self.path, model, headers, gateway.now))
            gateway.over.wait(reply.seconds)
            with gateway.lock:
                gateway.now -= 1
            is_text = isinstance(reply.data, str)
            text = reply.data if is_text or isinstance(reply.data, bytes) else json.dumps(reply.data)
            raw = text if isinstance(text, bytes) else text.encode()
            kind = {"Content-Type": "text/html" if is_text else "application/json", "Content-Length": str(len(raw))}
            with suppress(OSError):  # whoever asked may have given up
                self.send_response(reply.status)
                for name, value in {**kind, **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    gateway.origin = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield gateway
    finally:
        gateway.over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
