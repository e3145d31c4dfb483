"""The way to a gateway, step by step, where names lead to addresses that behave in all ways there are."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import takes
from tests.doctor.listeners import listening
from toolsync.probe import port
from toolsync.probe.encryption import speaks_tls
from toolsync.probe.network import Network
from toolsync.probe.proxy import met
from toolsync.probe.way import way
from toolsync.proxies import Proxies

V6, V4 = "2001:db8::1", "192.0.2.1"
TRIES: dict[str, tuple[str, dict[str, str], list[tuple[str, bool]]]] = {
    "both open": ("gw.example", {V6: "", V4: ""}, [("", False)]),
    "IPv6 hangs": ("gw.example", {V6: "timeout", V4: ""}, [("ipv6_broken", False), ("", False)]),
    "no IPv6 here": ("gw.example", {V6: "Network is unreachable", V4: ""}, [("", False)]),
    "IPv6 refuses": ("gw.example", {V6: "refused", V4: ""}, [("", False)]),
    "IPv4 hangs": ("gw.example", {V6: "", V4: "timeout"}, [("", False)]),
    "localhost is ::1 first": (
        "localhost",
        {"::1": "refused", "127.0.0.1": ""},
        [("localhost_ipv6", False), ("", False)],
    ),
    "a name below localhost": (
        "app.localhost",
        {"::1": "refused", "127.0.0.1": ""},
        [("localhost_ipv6", False), ("", False)],
    ),
    "a name that only begins so": ("localhost.example", {V6: "refused", V4: ""}, [("", False)]),
    "all refuse": ("gw.example", {V6: "refused", V4: "refused"}, [("connection_refused", True)]),
    "all hang": ("gw.example", {V6: "timeout", V4: "timeout"}, [("connect_timeout", True)]),
    "no network": ("gw.example", {V4: "Network is unreachable"}, [("connect_timeout", True)]),
    "one hangs, one refuses": ("gw.example", {V6: "timeout", V4: "refused"}, [("connection_refused", True)]),
}


@pytest.mark.parametrize(("host", "faults", "expected"), TRIES.values(), ids=TRIES)
def test_which_address_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: str, faults: dict[str, str], expected: list[tuple[str, bool]]
) -> None:
    def told(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        kinds = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(kinds[":" in number], socket.SOCK_STREAM, 6, "", (number, 443)) for number in faults]

    def tried(address: port.Address) -> port.Try:
        return port.Try(address, faults[str(address[1][0])], 1)

    monkeypatch.setattr(socket, "getaddrinfo", told)
    monkeypatch.setattr(port, "tried", tried)
    gone = way(f"http://{host}/v1", Network(), tmp_path)
    assert [(step.cause, step.is_end) for step in gone.steps if step.name == "port"] == expected


MISTAKEN = Proxies(schemes=("http",), as_http=("", "socks5"), passes_over=True)


@pytest.fixture
def ports() -> Iterator[dict[str, str]]:
    behaviour: dict[str, dict[str, Any]] = {
        "plain": {"type": "http"},
        "secret": {"type": "https", "tls": {"cert": "untrusted", "ca_trusted": False}},
        "closed": {"type": "closed"},
        "forward": {"type": "proxy", "mode": "forward"},
        "locked": {"type": "proxy", "mode": "auth_required"},
    }
    with ExitStack() as stack:
        yield stack.enter_context(listening(behaviour)).names


PROXIES = {
    "a proxy that is there": ("http://{plain}/v1", "http://{forward}", ""),
    "nobody there": ("http://{plain}/v1", "http://{closed}", "proxy_unreachable"),
    "a kind that clients do not know": ("http://{plain}/v1", "socks://{closed}", "proxy_bad_scheme"),
    "no host": ("http://{plain}/v1", "http://", "proxy_bad_scheme"),
    "a port that is none": ("http://{plain}/v1", "http://127.0.0.1:99999", "proxy_bad_scheme"),
    "a name that is too long": ("http://{plain}/v1", f"http://{'x' * 300}:1", "proxy_bad_scheme"),
    "half a bracket": ("http://{plain}/v1", "http://[::1", "proxy_bad_scheme"),
    "a tunnel that wants a password": ("https://{plain}/v1", "http://{locked}", "proxy_auth_required"),
    "SOCKS, that nobody here speaks": ("http://{plain}/v1", "socks5h://{forward}", "inconclusive"),
    "SOCKS, and nobody there": ("http://{plain}/v1", "socks5://{closed}", "proxy_unreachable"),
    "no scheme": ("http://{plain}/v1", "{forward}", "proxy_bad_scheme"),
    "a tunnel to a plain port": ("https://{plain}/v1", "http://{forward}", "scheme_mismatch"),
}


@pytest.mark.parametrize(("url", "proxy", "expected"), PROXIES.values(), ids=PROXIES)
def test_by_a_proxy(ports: dict[str, str], url: str, proxy: str, expected: str) -> None:
    if expected == "scheme_mismatch":
        takes("waits for five seconds")
    for name, where in ports.items():
        url, proxy = url.replace(f"{{{name}}}", where), proxy.replace(f"{{{name}}}", where)
    gone = way(url, Network(proxy=proxy))
    assert (gone.end.cause if gone.end else "") == expected


@pytest.mark.parametrize(
    ("proxy", "tunnels", "expected"),
    [
        ("forward", True, ""),
        ("locked", True, "proxy_auth_required"),
        ("plain", True, "proxy_captures_loopback"),
        ("plain", False, ""),
    ],
    ids=["one that opens it", "one that wants a password", "one that opens none", "no tunnel is asked for"],
)
def test_a_tunnel_to_what_is_not_encrypted(ports: dict[str, str], proxy: str, expected: str, *, tunnels: bool) -> None:
    gone = way(f"http://{ports['plain']}/v1", Network(proxy=f"http://{ports[proxy]}", rules=Proxies(tunnels=tunnels)))
    assert (gone.end.cause if gone.end else "") == expected


REFUSALS = {
    "a gateway that is open without it": ("https://{secret}/v1", "{plain}", "proxy_in_the_way"),
    "one that is shut without it too": ("https://{closed}/v1", "{plain}", "waf_block"),
    "one that wants a password first": ("https://{secret}/v1", "{locked}", "proxy_auth_required"),
}


@pytest.mark.parametrize(("url", "proxy", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_a_proxy_that_refuses_a_gateway_elsewhere(
    monkeypatch: pytest.MonkeyPatch, ports: dict[str, str], url: str, proxy: str, expected: str
) -> None:
    monkeypatch.setattr("toolsync.probe.way._is_here", lambda _url: False)
    end = way(url.format_map(ports), Network(proxy=f"http://{proxy.format_map(ports)}")).end
    assert end is not None
    assert (end.cause, end.certainty) == (expected, "likely" if expected == "proxy_in_the_way" else "sure")


GREETED = {
    "with a port": ("http://gw.example:8443/v1", ("gw.example", 8443)),
    "without one": ("http://gw.example/v1", ("gw.example", 80)),
}


@pytest.mark.parametrize(("url", "expected"), GREETED.values(), ids=GREETED)
def test_whom_a_greeting_goes_to(monkeypatch: pytest.MonkeyPatch, url: str, expected: tuple[str, int]) -> None:
    greeted: list[tuple[str, int]] = []

    def refused(address: tuple[str, int], *_: Any) -> None:
        greeted.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refused)
    assert speaks_tls(url) is False
    assert greeted == [expected]


def test_which_ports_speak_tls(ports: dict[str, str]) -> None:
    answers = {name: speaks_tls(f"http://{ports[name]}/v1") for name in ("plain", "closed", "secret")}
    assert answers == {"plain": False, "closed": False, "secret": True}


def test_a_file_of_certificates_that_cannot_be_read_is_said_where_it_matters(
    ports: dict[str, str], tmp_path: Path
) -> None:
    gone = way(f"https://{ports['secret']}/v1", Network(ca_bundle=str(tmp_path / "none.pem")))
    assert gone.end is not None
    assert gone.end.cause == "tls_untrusted_ca"
    assert gone.unread_bundle.endswith("none.pem")


KINDS = {
    "SOCKS, which it cannot use": ("socks5://{forward}", Proxies(schemes=("http",)), "proxy_bad_scheme"),
    "SOCKS, which it takes for HTTP": ("socks5://{secret}", MISTAKEN, "proxy_bad_scheme"),
    "and HTTP at the same port": ("socks5://{plain}", MISTAKEN, ""),
    "a kind that it passes over": ("socks://{closed}", MISTAKEN, ""),
    "no scheme": ("{forward}", MISTAKEN, ""),
}


@pytest.mark.parametrize(("proxy", "rules", "expected"), KINDS.values(), ids=KINDS)
def test_a_proxy_is_one_where_the_program_knows_its_kind(
    ports: dict[str, str], proxy: str, rules: Proxies, expected: str
) -> None:
    gone = way(f"http://{ports['plain']}/v1", Network(proxy=proxy.format(**ports), rules=rules))
    assert (gone.end.cause if gone.end else "") == expected


def test_what_checks_no_certificate_gets_through_where_we_do_not(ports: dict[str, str]) -> None:
    gone = way(f"https://{ports['secret']}/v1", Network(unchecked="NODE_TLS_REJECT_UNAUTHORIZED"))
    assert gone.end is not None
    assert gone.end.cause == "tls_unchecked"


@pytest.mark.parametrize("proxy", ["127.0.0.1:3128", "socks5://127.0.0.1:1080", "socks4://127.0.0.1"])
def test_a_proxy_that_cannot_be_used_is_named_as_it_is_set(proxy: str) -> None:
    step, _ = met(proxy, ("http",))
    assert (step.target, step.cause) == (proxy, "proxy_bad_scheme")
