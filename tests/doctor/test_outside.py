"""A gateway on this machine that nobody finds: it does not run, or it runs on the machine around this one."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.test_mended import PROFILE, effective
from toolsync.doctor.probed import Probed, probe_finding
from toolsync.doctor.remedy import fix
from toolsync.doctor.remedy.standing import Standing
from toolsync.probe import port
from toolsync.probe.network import Network
from toolsync.probe.way import way
from toolsync.sentence import tell

WSL = "Linux version 6.6.87.2-microsoft-standard-WSL2 (root@1)"
ROUTE = (
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"
    f"eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\neth0\t00000000\t{socket.htonl(0xAC110001):08X}\t0003\t0\t0\t0\t0\n"
)
"""A network of one's own, and behind 172.17.0.1 all others, as Linux lists them."""

NAMES = {
    "localhost": ("127.0.0.1",),
    "here": ("127.0.1.1",),
    "host.docker.internal": ("192.168.65.254",),
    "host.containers.internal": ("8.8.8.8",),  # by a name server that knows every name
}
DOCKER, PODMAN = {".dockerenv": ""}, {"run/.containerenv": ""}

Machine = Callable[[dict[str, str], str], Path]
Said = tuple[str, str, str]
"""Cause, certainty, and the machine around."""

SHUT: Said = ("connection_refused", "sure", "")
UNSEEN: Said = ("wrong_loopback", "open", "")


def _at(name: str) -> Said:
    return "wrong_loopback", "likely", name


HERE: dict[str, tuple[dict[str, str], str, str, Said]] = {
    "a machine": ({}, "localhost", "", SHUT),
    "Linux": ({"proc/version": "Linux version 6.1.0-18-amd64"}, "localhost", "", SHUT),
    "a machine with a router that has it": ({"proc/net/route": ROUTE}, "localhost", "172.17.0.1", SHUT),
    "Docker, and nothing seen": (DOCKER, "localhost", "", UNSEEN),
    "Podman, and nothing seen": (PODMAN, "localhost", "", UNSEEN),
    "WSL, and nothing seen": ({"proc/version": WSL}, "localhost", "", UNSEEN),
    "Docker, and its host has it": (DOCKER, "localhost", "192.168.65.254", _at("host.docker.internal")),
    "a container whose host has no name": (
        *({**PODMAN, "proc/net/route": ROUTE}, "localhost", "172.17.0.1"),
        _at("172.17.0.1"),
    ),
    "Podman, and a stranger has it": (PODMAN, "localhost", "8.8.8.8", UNSEEN),
    "WSL, and Windows has it": (
        *({"proc/version": WSL, "proc/net/route": ROUTE}, "localhost", "172.17.0.1"),
        _at("172.17.0.1"),
    ),
    "WSL that has Windows' loopback, and a router that has it": (
        *({"proc/version": WSL, "proc/net/route": ROUTE, "sys/class/net/loopback0/mtu": "1500"}, "localhost"),
        *("172.17.0.1", SHUT),
    ),
    "WSL 1": ({"proc/version": "Linux version 4.4.0-22621-Microsoft (a@b)"}, "localhost", "", SHUT),
    "a number, and nothing seen": (DOCKER, "127.0.0.1", "", SHUT),
    "a number, and the host has it": (DOCKER, "127.0.0.1", "192.168.65.254", _at("host.docker.internal")),
    "a name of its own, and the host has it": (DOCKER, "here", "192.168.65.254", _at("host.docker.internal")),
    "another machine": (DOCKER, "10.0.0.7", "192.168.65.254", SHUT),
}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """Makes the root of one with these files, where nothing listens, and the port 4000 is open at that address."""

    def told(name: str, to: int, **_: Any) -> list[tuple[Any, ...]]:
        numbers = NAMES.get(name, () if name.endswith(".internal") else (name,))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, to)) for one in numbers]

    def made(files: dict[str, str], open_one: str) -> Path:
        def connection(address: tuple[str, int], *_: Any) -> socket.socket:
            if address != (open_one, 4000):
                raise ConnectionRefusedError
            return socket.socket()

        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        monkeypatch.setattr(socket, "create_connection", connection)
        return tmp_path

    monkeypatch.setattr(socket, "getaddrinfo", told)
    monkeypatch.setattr(port, "tried", lambda address: port.Try(address, "refused", 1))
    return made


@pytest.mark.parametrize(("files", "host", "open_one", "expected"), HERE.values(), ids=HERE)
def test_which_machine_is_meant(
    machine: Machine, files: dict[str, str], host: str, open_one: str, expected: Said
) -> None:
    end = way(f"http://{host}:4000/v1", Network(), machine(files, open_one)).end
    assert end is not None
    assert (end.cause, end.certainty, end.outside) == expected


def _said(root: Path) -> tuple[str, str]:
    """The last line of the evidence, and what mends it."""
    one = effective("http://localhost:4000/v1")
    finding = probe_finding(Probed(way(one.url, Network(), root)), one)
    assert finding is not None
    mends = fix(one, finding, PROFILE, Standing(is_set=True))
    return tell(finding.evidence[-1]), tell(mends.text) if mends is not None else ""


def test_both_are_said_where_nothing_tells_them_apart(machine: Machine) -> None:
    expected = (
        "this is a container or WSL: whether the gateway is to run in here, or outside on the host, "
        "cannot be seen from here"
    )
    assert _said(machine(DOCKER, "")) == (expected, "")


def test_the_host_that_has_the_port_is_named(machine: Machine) -> None:
    evidence, mends = _said(machine(DOCKER, "192.168.65.254"))
    assert evidence.endswith("has that port open: host.docker.internal:4000")
    assert mends == (
        "If the gateway is to run in here, start it; if http://host.docker.internal:4000/v1 is meant, on the host "
        "around, name that: `toolsync profile edit work --set base_url=http://host.docker.internal:4000/v1 && "
        "toolsync apply --tool demo`."
    )
