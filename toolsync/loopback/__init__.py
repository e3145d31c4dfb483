"""A gateway on this machine: what the demonstration talks to, and what real clients are tested against.

It speaks chat completions, responses and messages, each as JSON and as a stream, lists its models, checks the key,
and keeps a record of every request. It listens on 127.0.0.1 only, and thinks about nothing: every answer is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from toolsync.loopback.answer import Answer, House, answer
from toolsync.loopback.received import Received, received
from toolsync.masking import Secret

__all__ = ["Answer", "LoopbackGateway", "Received"]

_LARGEST_BODY = 64 * 2**20
"""Claude Code's first request is about 48 kB; images are larger."""


class LoopbackGateway:
    """A running gateway, for the length of a `with`.

    Attributes:
        key: the only key that it takes, or None: it takes any, and none. May be changed while it runs.
    """

    def __init__(
        self, key: Secret | None = None, *, models: Sequence[str] = (), prefix: str = "/api", says: str = "pong"
    ) -> None:
        """Nothing listens yet.

        Args:
            key: the only key that it takes; None: it asks for none.
            models: the only models that it serves; empty: it answers for any.
            prefix: the path under which `/v1` lies.
            says: what every model answers.
        """
        self.key = key
        self._house = House(prefix=prefix.rstrip("/"), models=tuple(models), says=says)
        self._record: list[Received] = []
        self._lock = Lock()

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), self)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """What a provider would print: `http://127.0.0.1:PORT/api`."""
        return f"http://127.0.0.1:{self._server.server_port}{self._house.prefix}"

    @property
    def received(self) -> tuple[Received, ...]:
        """Every request so far, in the order of their arrival."""
        with self._lock:
            return tuple(self._record)

    @property
    def asked(self) -> tuple[Received, ...]:
        """Those among them that asked a model: what costs money elsewhere."""
        return tuple(request for request in self.received if request.method == "POST" and request.model is not None)

    def forget(self) -> None:
        """Start the record afresh."""
        with self._lock:
            self._record.clear()

    def answer(self, request: Received) -> Answer:
        """Note the request, and answer it; a test that wants something else overrides this."""
        with self._lock:
            self._record.append(request)
        return answer(self._house, self.key, request)


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a client that hangs must not hold back the end
    request_queue_size = 128  # the library's 5 turns clients away when many come at once on a busy machine

    def __init__(self, address: tuple[str, int], gateway: LoopbackGateway) -> None:
        super().__init__(address, _Handler)
        self.gateway = gateway

    def server_bind(self) -> None:
        """Without the base class's look-up of a name for the address, which may ask a DNS server."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "toolsync-loopback"
    sys_version = ""
    timeout = 30  # seconds that a silent client may hold a thread

    def _handle(self) -> None:
        self.close_connection = True
        body = self._body()
        if body is None:
            self._send(Answer(411, b"", headers={"Content-Type": "text/plain"}))
            return
        path, _, query = self.path.partition("?")
        self._send(self.server.gateway.answer(received(self.command, unquote(path), query, self._headers(), body)))

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = _handle  # noqa: N815  the base class's names

    def _headers(self) -> Mapping[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _body(self) -> bytes | None:
        """What was sent, or None where it does not say how much that is."""
        if "Transfer-Encoding" in self.headers:
            return None
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > _LARGEST_BODY:
            return None
        return self.rfile.read(int(length))

    def _send(self, reply: Answer) -> None:
        try:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)
        except ConnectionError:  # the client has hung up, which is its right
            return

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what arrived is in the record."""
