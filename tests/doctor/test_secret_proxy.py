"""A proxy that encrypts the way to itself, and the one to the gateway within it: whose certificate is trusted."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest

from tests.doctor.test_authority import served
from tests.doctor.test_chain import chain
from toolsync.probe.network import Network, send
from toolsync.probe.way import way
from toolsync.sentence import tell


def _relayed(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while said := one.recv(65536):
            other.sendall(said)
    for each in (one, other):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


class _Proxy(ThreadingTCPServer):
    """Opens each tunnel that CONNECT asks for."""

    context: ssl.SSLContext


class _Tunnel(BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Proxy)
        with suppress(OSError), self.server.context.wrap_socket(self.request, server_side=True) as outer:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += outer.recv(1) or b"\r\n\r\n"
            host, _, port = head.split()[1].decode().rpartition(":")
            with socket.create_connection((host, int(port))) as inner:
                outer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                back = Thread(target=_relayed, args=(inner, outer))
                back.start()
                _relayed(outer, inner)
                back.join()


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[tuple[str, str, Path]]:
    """The gateway's address and the proxy's, and the root that vouches for both."""
    root, both = chain(tmp_path)
    with served(both) as url, _Proxy(("127.0.0.1", 0), _Tunnel) as server:
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain(both)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield url, f"https://127.0.0.1:{server.server_address[1]}", root
        server.shutdown()
        thread.join()


def test_the_file_that_is_trusted_vouches_for_both(proxied: tuple[str, str, Path]) -> None:
    url, proxy, root = proxied
    network = Network(proxy=proxy, ca_bundle=str(root))
    gone = way(url, network)
    assert (gone.end, [step.name for step in gone.steps]) == (None, ["proxy", "encryption"])
    assert gone.certificate is not None
    assert gone.certificate.issuer == "Corp Root"
    assert send("GET", f"{url}/models", None, {}, network).status == 501  # by Python's own server, through both


def test_whose_certificate_it_is_that_nobody_vouches_for(proxied: tuple[str, str, Path]) -> None:
    url, proxy, _ = proxied
    end = way(url, Network(proxy=proxy)).end
    assert end is not None
    assert (end.name, end.cause, tell(end.said)) == (
        "proxy",
        "tls_untrusted_ca",
        "of the certificate that the proxy shows: unable to get local issuer certificate",
    )


def test_what_checks_none_gets_through_where_we_do_not(proxied: tuple[str, str, Path]) -> None:
    url, proxy, _ = proxied
    end = way(url, Network(proxy=proxy, unchecked="NODE_TLS_REJECT_UNAUTHORIZED")).end
    assert end is not None
    assert (end.name, end.cause) == ("proxy", "tls_unchecked")
