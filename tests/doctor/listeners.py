"""Gateways, proxies and closed ports on loopback that answer as a case's `server_behaviour` says."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from trustme import CA, LeafCert

Data = Mapping[str, Any]
_HOST = "127.0.0.1"


@dataclass(frozen=True)
class Asked:
    """One request as it arrived.

    Attributes:
        listener: whom it reached.
        method: `GET`, `POST`, `CONNECT` …
        target: path and query; the whole address at a proxy.
        headers: by name in lower case.
        body: as it came.
    """

    listener: str
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Data:
        """The body's object; empty where it is none."""
        try:
            data = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return data if isinstance(data, dict) else {}

    @property
    def keys(self) -> Mapping[str, str]:
        """The credentials that it carries, by the names that cases use."""
        given = {
            "bearer": self.headers.get("authorization", "").removeprefix("Bearer "),
            "x-api-key": self.headers.get("x-api-key", ""),
            "x-goog-api-key": self.headers.get("x-goog-api-key", ""),
            "api-key": self.headers.get("api-key", ""),
        }
        return {kind: key for kind, key in given.items() if key}


@dataclass
class Listeners:
    """The listeners of one case, for the length of a `with`.

    Attributes:
        names: what fills the case's texts: `main` is `127.0.0.1:PORT`, `main.port` the port alone.
        asked: every request so far, in the order of arrival.
        roots: the certificates of the authority behind listeners that a client trusts, as PEM; empty where none.
    """

    names: dict[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    roots: bytes = b""
    _lock: Lock = field(default_factory=Lock)

    def filled(self, data: Any) -> Any:
        """The data with `{main}` and the like in every text."""
        if isinstance(data, str):
            for name, text in self.names.items():
                data = data.replace(f"{{{name}}}", text)
            return data
        if isinstance(data, Mapping):
            return {self.filled(key): self.filled(value) for key, value in data.items()}
        return [self.filled(item) for item in data] if isinstance(data, list) else data

    def note(self, request: Asked) -> None:
        """Remember a request."""
        with self._lock:
            self.asked.append(request)

    def of(self, name: str) -> list[Asked]:
        """The requests that reached one listener."""
        with self._lock:
            return [one for one in self.asked if one.listener == name]


@contextmanager
def listening(behaviour: Mapping[str, Data]) -> Iterator[Listeners]:
    """The listeners of a case by name, all of them up.

    Args:
        behaviour: `server_behaviour.listeners`: each `http`, `https`, `proxy`, `closed`, `silent` or `blackhole`.

    Raises:
        ValueError: it says something that no listener here can do.
    """
    found = Listeners()
    with ExitStack() as stack:
        servers = [
            (name, stack.enter_context(_KINDS[said["type"]](name, said, found))) for name, said in behaviour.items()
        ]
        for name, port in servers:
            found.names |= {name: f"{_HOST}:{port}", f"{name}.port": str(port)}
        yield found


# Servers that answer.


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, name: str, said: Data, all_of_them: Listeners) -> None:
        super().__init__((_HOST, 0), _Handler)
        self.called, self._said, self.listeners = name, said, all_of_them
        self._counts: dict[int, int] = {}
        self.context: ssl.SSLContext | None = None

    def server_bind(self) -> None:
        """Without the base class's look-up of a name for the address."""
        TCPServer.server_bind(self)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection: TLS where the listener speaks it, and a client that speaks it to a plain one sent away."""
        with suppress(OSError):
            if self.context is not None:
                request = self.context.wrap_socket(request, server_side=True)
            elif request.recv(1, socket.MSG_PEEK) == b"\x16":
                if self._said.get("reject_tls_fast"):
                    request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                request.close()
                return
            super().process_request_thread(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is none."""

    @property
    def said(self) -> Data:
        """What the listener is to do, addresses filled in."""
        filled: Data = self.listeners.filled(self._said)
        return filled

    def nth(self, route: int) -> int:
        """How often a route was asked, this time included."""
        self._counts[route] = self._counts.get(route, 0) + 1
        return self._counts[route]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30

    def handle_any(self) -> None:
        """Note the request and answer it."""
        self.close_connection = True
        request = self._asked()
        self.server.listeners.note(request)
        said = self.server.said
        if said["type"] == "proxy":
            _as_proxy(self, request, said)
        else:
            self.answer(_chosen(self.server, request, said))

    do_GET = do_POST = do_HEAD = do_PUT = do_OPTIONS = do_CONNECT = handle_any  # noqa: N815  the base class's names

    def _asked(self) -> Asked:
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Asked(self.server.called, self.command, self.path, headers, self.rfile.read(length))

    def answer(self, reply: Data) -> None:
        """Send what a case's `respond` says."""
        time.sleep(reply.get("delay_s", 0))
        if reply.get("hang_up"):
            return
        body, headers = _body(reply)
        with suppress(ConnectionError):
            self.send_response_only(reply.get("status", 200))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if "sse" in reply:
                self._stream(reply)
            elif self.command != "HEAD":
                self.wfile.write(body[: reply.get("cut_after_bytes", len(body))])

    def _stream(self, reply: Data) -> None:
        """The events, with their gaps; all at once at the end where something buffers them."""
        gap = reply.get("event_gap_s", 0)
        events = [f"{event}\n\n".encode() for event in reply["sse"][: reply.get("end_after", len(reply["sse"]))]]
        if reply.get("buffered"):
            time.sleep(gap * len(events))
            events, gap = [b"".join(events)], 0
        for number, event in enumerate(events):
            time.sleep(reply.get("stall_s", 30) if number == reply.get("stall_after") else gap if number else 0)
            self.wfile.write(event)
            self.wfile.flush()
        is_stalled = reply.get("stall_after", len(events)) < len(events)  # somewhere before its end, then
        time.sleep(0 if is_stalled else reply.get("stall_s", 30 if "stall_after" in reply else 0))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no HTTP gets no answer."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def version_string(self) -> str:
        """No name of Python's."""
        return "demo"


def _body(reply: Data) -> tuple[bytes, dict[str, str]]:
    headers = dict(reply.get("headers", {}))
    if "sse" in reply:
        return b"", headers
    if "json" in reply:
        body = json.dumps(reply["json"], ensure_ascii=False).encode()
    else:
        body = base64.b64decode(reply["base64"]) if "base64" in reply else reply.get("text", "").encode()
    for _ in range(reply.get("gzipped", 0)):  # more often than the header says is a broken server's doing
        body = gzip.compress(body)
    return body, {**headers, "Content-Length": str(reply.get("content_length", len(body)))}


# Which answer.


def _chosen(server: _Server, request: Asked, said: Data) -> Data:
    path = urlsplit(request.target).path
    routes = [
        (number, route)
        for number, route in enumerate(said.get("routes", ()))
        if route["method"] in (request.method, "*") and _is_at(route["path"], path)
    ]
    auth = said.get("auth")
    if auth and (routes or auth.get("before_routing")) and not _is_let_in(auth, request):
        refusal: Data = auth["on_fail"]
        return refusal
    for number, route in routes:
        if all(_CONDITIONS[name](request, wanted, server, number) for name, wanted in route.get("if", {}).items()):
            chosen: Data = route["respond"]
            return chosen
    otherwise: Data = said.get("default", {"status": 404})
    return otherwise


def _is_at(wanted: str, path: str) -> bool:
    return path.startswith(wanted[:-1]) if wanted.endswith("*") else path == wanted


def _is_let_in(auth: Data, request: Asked) -> bool:
    """Whether the key is right; `first_header_wins`: the first header that the gateway reads decides alone."""
    given = [request.keys[kind] for kind in auth["accept"] if kind in request.keys]
    return any(key in auth["keys"] for key in (given[:1] if auth.get("first_header_wins") else given))


_Condition = Callable[[Asked, Any, _Server, int], bool]

_CONDITIONS: Mapping[str, _Condition] = {
    "stream": lambda request, wanted, *_: bool(request.json.get("stream")) is wanted,
    "header_present": lambda request, wanted, *_: wanted.lower() in request.headers,
    "header_absent": lambda request, wanted, *_: wanted.lower() not in request.headers,
    "header_contains": lambda request, wanted, *_: all(
        text in request.headers.get(name.lower(), "") for name, text in wanted.items()
    ),
    "user_agent_contains": lambda request, wanted, *_: wanted in request.headers.get("user-agent", ""),
    "json_has": lambda request, wanted, *_: wanted in request.json,
    "json_lacks": lambda request, wanted, *_: wanted not in request.json,
    "model_in": lambda request, wanted, *_: request.json.get("model") in wanted,
    "model_not_in": lambda request, wanted, *_: request.json.get("model") not in wanted,
    "body_contains": lambda request, wanted, *_: wanted.encode() in request.body,
    "body_larger_than": lambda request, wanted, *_: len(request.body) > wanted,
    "key_kind": lambda request, wanted, *_: wanted in request.keys,
    "has_key": lambda request, wanted, *_: bool(request.keys) is wanted,
    "first_times": lambda _, wanted, server, number: server.nth(number) <= wanted,
}
"""What a route's `if` may ask of a request, by name."""


# Proxies.


def _as_proxy(handler: _Handler, request: Asked, said: Data) -> None:
    mode = said.get("mode", "forward")
    if mode == "respond":
        handler.answer(said["respond"])
    elif mode == "auth_required":
        handler.answer({"status": 407, "headers": {"Proxy-Authenticate": 'Basic realm="proxy"'}, "text": ""})
    elif mode == "forward":
        _tunnelled(handler, request) if request.method == "CONNECT" else _forwarded(handler, request)
    else:
        raise ValueError(f"no proxy here can {mode}")


def _forwarded(handler: _Handler, request: Asked) -> None:
    address = urlsplit(request.target)
    onward = HTTPConnection(address.hostname or "", address.port or 80, timeout=10)
    headers = {name: value for name, value in request.headers.items() if not name.startswith("proxy-")}
    onward.request(request.method, address.path or "/", request.body, headers)
    came = onward.getresponse()
    body = came.read()
    kept = {name: value for name, value in came.getheaders() if name.lower() in ("content-type", "location")}
    handler.answer({"status": came.status, "headers": kept, "base64": base64.b64encode(body).decode()})
    onward.close()


def _tunnelled(handler: _Handler, request: Asked) -> None:
    host, _, port = request.target.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as onward:
        handler.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        back = Thread(target=_pumped, args=(onward, handler.connection), daemon=True)
        back.start()
        _pumped(handler.connection, onward)
        back.join(10)


def _pumped(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(65536):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)


# The kinds of listeners.


@contextmanager
def _serving(name: str, said: Data, found: Listeners) -> Iterator[int]:
    server = _Server(name, said, found)
    if said["type"] == "https":
        server.context = _certified(said.get("tls", {}), found)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _closed(*_: object) -> Iterator[int]:
    """A port at which nothing listens: bound, so that nobody else gets it."""
    with socket.socket() as bound:
        bound.bind((_HOST, 0))
        yield int(bound.getsockname()[1])


@contextmanager
def _silent(*_: object) -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server((_HOST, 0)) as listener:
        yield int(listener.getsockname()[1])


@contextmanager
def _blackhole(*_: object) -> Iterator[int]:
    """A port whose queue is full, so that whoever knocks gets no answer at all."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind((_HOST, 0))
        listener.listen(0)
        for _knock in range(2):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect(listener.getsockname())
        yield int(listener.getsockname()[1])


_KINDS: Mapping[str, Callable[[str, Data, Listeners], Any]] = {
    "http": _serving,
    "https": _serving,
    "proxy": _serving,
    "closed": _closed,
    "silent": _silent,
    "blackhole": _blackhole,
}


# Certificates.


def _certified(tls: Data, found: Listeners) -> ssl.SSLContext:
    """A context with a certificate of the kind that `tls.cert` names; its authority is trusted if the case says so."""
    import datetime as dt

    import trustme

    kind = tls.get("cert", "trusted")
    now, day = dt.datetime.now(dt.UTC), dt.timedelta(days=1)
    names = ("other.example",) if kind == "other_name" else (_HOST, "localhost")
    ends = {"not_yet_valid": (now + 30 * day, now + 60 * day), "expired": (now - 60 * day, now - 30 * day)}
    start, end = ends.get(kind, (now - day, now + 30 * day))
    authority = trustme.CA(organization_name="Demo Inspection Root")
    issuer = authority.create_child_ca() if "chain" in kind else authority
    issued = issuer.issue_cert(*names, not_before=start, not_after=end)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued.configure_cert(context) if issuer is authority else _load_whole_chain(context, issued, authority)
    if tls.get("ca_trusted", kind == "trusted"):
        found.roots += authority.cert_pem.bytes()
    return context


def _load_whole_chain(context: ssl.SSLContext, issued: LeafCert, authority: CA) -> None:
    """The chain with its root, as boxes that inspect traffic send it."""
    with issued.private_key_and_cert_chain_pem.tempfile() as pem:
        with Path(pem).open("ab") as file:
            file.write(authority.cert_pem.bytes())
        context.load_cert_chain(pem)
