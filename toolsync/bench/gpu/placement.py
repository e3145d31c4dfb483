"""Which GPU serves: from the port that is asked, to the process that listens there, to the memory that it holds."""

from __future__ import annotations

import socket
from collections.abc import Collection, Sequence
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from toolsync.bench.gpu.reading import Holder
from toolsync.masking import on_one_line
from toolsync.value import frozen


@frozen
class Listener:
    """The process that listens on a port, and those that belong to it.

    Attributes:
        pid: its number.
        name: what the system calls it.
        family: itself and what it started; an engine's workers hold the memory, not the server in front of them.
        siblings: what was started by the same program as it: some engines start server and worker side by side.
    """

    pid: int
    name: str
    family: frozenset[int]
    siblings: frozenset[int] = frozenset()


@frozen
class Placement:
    """Where the answers come from.

    Attributes:
        gpus: that hold memory of the process that answers; None where that is not known.
        text: what a reader must mind, in sentences; empty where all is well.
    """

    gpus: frozenset[str] | None
    text: str = ""


def placed(
    port: int, listeners: Sequence[Listener] | None, holders: Sequence[Holder] | None, sampled: Collection[str]
) -> Placement:
    """Which GPUs serve.

    Args:
        port: the endpoint's, on this machine.
        listeners: who listens there; None where the system does not say.
        holders: who holds memory on which GPU of this machine; None where nobody says.
        sampled: the GPUs that were chosen to be watched.
    """
    if listeners is not None and not listeners:
        text = f"Nothing that can be seen from here listens on port {port} of this machine"
        return Placement(None, f"{text}, so which GPU serves is unknown.")
    if listeners is None:
        return Placement(
            None, f"Which process listens on port {port} is not ours to see, so which GPU serves is unknown."
        )
    named = " and ".join(f"{on_one_line(one.name, limit=60)} (process {one.pid})" for one in listeners)
    if not holders:
        return Placement(None, f"No process on a GPU is named here, so which one {named} uses is unknown.")
    gpus = _held(holders, {pid for one in listeners for pid in one.family})
    gpus = gpus or _held(holders, {pid for one in listeners for pid in one.siblings})
    if not gpus:
        text = (
            f"{named} answers on port {port} and holds no GPU memory that can be seen from here: a container, a tunnel"
        )
        return Placement(None, f"{text} or another machine may serve. Then --gpu-ssh or --dcgm-url name the right one.")
    missing = gpus - set(sampled)
    if missing:
        shown = ", ".join(sorted(missing))
        return Placement(gpus, f"{named} also holds memory on {shown}, which is not among the GPUs that were watched.")
    return Placement(gpus)


def _held(holders: Sequence[Holder], pids: Collection[int]) -> frozenset[str]:
    return frozenset(holder.gpu for holder in holders if holder.pid in pids)


def port_of(url: str) -> int | None:
    """The endpoint's port; None where the address is none."""
    try:
        parts = urlsplit(url)
        return parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None


def is_here(url: str) -> bool:
    """Whether the endpoint's host is this machine, by its addresses; one that cannot be found is not."""
    import psutil

    try:
        host = urlsplit(url).hostname or ""
        found = {_bare(str(one[4][0])) for one in socket.getaddrinfo(host, None)}
    except (OSError, ValueError):
        return False
    own: set[str] = set()
    with suppress(OSError, psutil.Error):
        own = {_bare(one.address) for several in psutil.net_if_addrs().values() for one in several}
    return any(address in own or _is_loopback(address) for address in found)


def _bare(address: str) -> str:
    return address.split("%", maxsplit=1)[0]


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def listeners(port: int) -> list[Listener] | None:
    """Who listens on a port of this machine; nobody where it is in a container; None where it is not ours to see."""
    import psutil

    try:
        found = psutil.net_connections(kind="tcp")
    except (OSError, psutil.Error):  # macOS tells only root
        return None
    pids = {one.pid for one in found if one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == port}
    if None in pids:
        return None
    return [listener for pid in sorted(filter(None, pids)) if (listener := _listener(pid))]


def _listener(pid: int) -> Listener | None:
    import psutil

    try:
        process = psutil.Process(pid)
        parent = process.parent()
        family = frozenset({pid, *(child.pid for child in process.children(recursive=True))})
        siblings: frozenset[int] = frozenset()
        if parent is not None and parent.pid > 1:  # all that has lost its parent is a child of the first process
            siblings = frozenset(child.pid for child in parent.children(recursive=True)) - family
        return Listener(pid, process.name(), family, siblings)
    except (OSError, psutil.Error):
        return None
