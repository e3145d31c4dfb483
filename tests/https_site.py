"""A server that encrypts, on loopback, with one answer: the address that a team shares its profile at."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import trustme


@dataclass
class Site:
    """A running server: where it is, who vouches for it, what it answers, and the headers of what it was asked."""

    url: str
    roots: Path
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def running(folder: Path, body: bytes) -> Iterator[Site]:
    """The server for the length of a `with`; `folder` takes the certificate of its authority."""
    site = Site("", folder / "roots.pem", body)
    authority = trustme.CA()
    site.roots.write_bytes(authority.cert_pem.bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    site.url = f"https://127.0.0.1:{server.server_port}/toolsync.toml"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(dict(self.headers))
            self.send_response(site.status)
            for name, value in {"Content-Length": str(len(site.body)), **site.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(site.body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: a test's output is its own."""

    return Handler
