"""The machine around a container or WSL: whether there is one, what it is called, and whether a port of it is open."""

from __future__ import annotations

import ipaddress
import re
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from toolsync.deadline import answered
from toolsync.probe.step import SECONDS, Place

_MARKS = {
    ".dockerenv": ("host.docker.internal",),
    "run/.containerenv": ("host.containers.internal", "host.docker.internal"),
}
"""What lies in the containers of Docker and of Podman, and what their host is called there."""

_SHARING = re.compile(r"\b4\.4\.0-\d+-Microsoft")
"""WSL 1, which has no network of its own: `Linux version 4.4.0-19041-Microsoft`."""
_MIRRORING = "sys/class/net/loopback0"
"""Where WSL mirrors Windows' network, loopback and all (microsoft/WSL#40343, MicrosoftDocs/WSL#1967)."""


def hosts(root: Path) -> tuple[str, ...] | None:
    """What the machine around this one is called; None where there is none, or both have one loopback.

    Args:
        root: of the file system, which tells.
    """
    marked = next((names for mark, names in _MARKS.items() if (root / mark).exists()), None)
    if marked is None and not _is_wsl(root):
        return None
    return (*(marked or ()), *_routers(root))


def _is_wsl(root: Path) -> bool:
    version = _read(root / "proc" / "version")
    is_apart = not _SHARING.search(version) and not (root / _MIRRORING).exists()
    return "microsoft" in version.lower() and is_apart


def _routers(root: Path) -> Iterator[str]:
    """Where the default route leads: to the host, from Docker's own networks and from WSL."""
    for line in _read(root / "proc" / "net" / "route").splitlines()[1:]:
        fields = line.split()
        if len(fields) > 2 and fields[1] == "00000000" != fields[2]:  # noqa: PLR2004  interface, destination, gateway
            yield socket.inet_ntoa(struct.pack("=I", int(fields[2], 16)))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def open_outside(names: tuple[str, ...], port: int) -> str:
    """The first name of the machine around at which this port is open; "" for none. Nothing is said there.

    Args:
        names: that it may have.
        port: that is shut in here.
    """
    if not names:
        return ""
    with ThreadPoolExecutor(max_workers=len(names)) as pool:
        tries = list(pool.map(lambda name: _is_open(Place(name, port)), names))
    return next((name for name, is_open in zip(names, tries, strict=True) if is_open), "")


def _is_open(place: Place) -> bool:
    """Whether it is open at an address that is no stranger's: some name servers know every name there is."""
    try:
        found = answered(lambda: socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM), SECONDS)
        near = [where[0] for _, _, _, _, where in found if not ipaddress.ip_address(str(where[0])).is_global]
        if not near:
            return False
        socket.create_connection((str(near[0]), place.port), SECONDS).close()
    except (OSError, UnicodeError, ValueError):  # a time limit is an OSError too
        return False
    return True
