"""A gateway on loopback that takes its time: what it answers, and when, is said by a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

Reply = tuple[float, int, Any]
"""Seconds until it comes, status and data."""


@dataclass
class Slow:
    """What it was asked, and how many requests it had at a time."""

    reply: Callable[[str, str, int], Reply]
    asked: list[tuple[str, str]] = field(default_factory=list)
    now: int = 0
    most: int = 0
    over: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)
    origin: str = ""


@contextmanager
def slow(reply: Callable[[str, str, int], Reply]) -> Iterator[Slow]:
    """A running one.

    Args:
        reply: from path, model and how many requests it has just now to what it answers.
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
                seconds, status, data = gateway.reply(self.path, model, gateway.now)
            gateway.over.wait(seconds)
            with gateway.lock:
                gateway.now -= 1
            raw = json.dumps(data).encode()
            with suppress(OSError):  # whoever asked may have given up
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
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
