"""A name server that knows no name, and remembers what it was asked: where a program would have gone."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import Self

_HEADER = 12
_NO_SUCH_NAME = bytes.fromhex("8183")  # a response, recursion available, NXDOMAIN (RFC 1035, 4.1.1)


class Resolver:
    """Listens on 127.0.0.1:53, where this mount namespace's resolv.conf sends every question meanwhile."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._lock = Lock()

    def __enter__(self) -> Self:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 53))
        Thread(target=self._serve, daemon=True).start()
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:  # the mount keeps it after it is gone
            file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
            file.flush()
            target = Path("/etc/resolv.conf").resolve()
            subprocess.run(["mount", "--bind", file.name, target], check=True, timeout=10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._socket.close()

    def taken(self) -> tuple[str, ...]:
        """The names asked for since the last call, sorted."""
        with self._lock:
            names = tuple(sorted(self._names))
            self._names.clear()
        return names

    def _serve(self) -> None:
        while True:
            try:
                question, sender = self._socket.recvfrom(4096)
            except OSError:
                return  # closed
            name, end = _name(question)
            with self._lock:
                self._names.add(name)
            self._socket.sendto(_answer(question, end), sender)


def _name(question: bytes) -> tuple[str, int]:
    """The name in a question, and where it ends."""
    labels, at = [], _HEADER
    while size := question[at]:
        labels.append(question[at + 1 : at + 1 + size].decode("ascii", "replace").lower())
        at += size + 1
    return ".".join(labels), at + 1


def _answer(question: bytes, end: int) -> bytes:
    counts = bytes.fromhex("0001000000000000")  # the question repeated, and nothing else
    return question[:2] + _NO_SUCH_NAME + counts + question[_HEADER : end + 4]
