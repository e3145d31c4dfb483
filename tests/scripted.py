"""A server that misbehaves to order: whatever it is given, byte for byte, and then silence or the end."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

HANG = b""
"""In a script: say nothing more, and keep the connection open."""


class Scripted:
    """Listens on 127.0.0.1; answers each connection in turn with the next script, the last one ever after."""

    def __init__(self, *scripts: Iterable[bytes], tls: ssl.SSLContext | None = None, pause_seconds: float = 0) -> None:
        self.scripts = [list(script) for script in scripts]
        self.tls = tls
        self.pause_seconds = pause_seconds
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._over = Event()

    @property
    def base_url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/v1"

    def run(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if self._over.is_set():
                connection.close()
                return
            script = self.scripts[0] if len(self.scripts) == 1 else self.scripts.pop(0)
            with connection, suppress(OSError):
                connection.settimeout(30)
                self._answer(connection, script)

    def stop(self) -> None:
        self._over.set()
        with suppress(OSError):  # wakes accept()
            socket.create_connection(("127.0.0.1", self.port), timeout=10).close()
        self._listener.close()

    def _answer(self, connection: socket.socket, script: list[bytes]) -> None:
        if self.tls is not None:
            with self.tls.wrap_socket(connection, server_side=True) as secure:
                self._speak(secure, script)
        else:
            self._speak(connection, script)

    def _speak(self, connection: socket.socket, script: list[bytes]) -> None:
        self.requests.append(_request(connection))
        for piece in script:
            if piece == HANG:
                self._over.wait(30)
                return
            connection.sendall(piece)
            self._over.wait(self.pause_seconds)


@contextmanager
def scripted(
    *scripts: Iterable[bytes], tls: ssl.SSLContext | None = None, pause_seconds: float = 0
) -> Iterator[Scripted]:
    """A running `Scripted`."""
    server = Scripted(*scripts, tls=tls, pause_seconds=pause_seconds)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(5)


def http(status: int, body: bytes | str = b"", kind: str = "application/json", **headers: str) -> list[bytes]:
    """The bytes of one whole answer, as a script."""
    body = body.encode() if isinstance(body, str) else body
    lines = [
        f"HTTP/1.1 {status} Scripted",
        f"Content-Length: {len(body)}",
        f"Content-Type: {kind}",
        "Connection: close",
    ]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ["\r\n".join([*lines, "", ""]).encode() + body]


def _request(connection: socket.socket) -> bytes:
    """What the client sends: its headers, and as much body as they announce."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        received += piece
        if not piece or received.startswith(b"\x16\x03"):  # the end, or TLS where none is spoken
            return received
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
