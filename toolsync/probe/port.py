"""A host's name and its port: which addresses the name leads to, and which of them are open."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolsync.deadline import answered
from toolsync.probe.body import shown
from toolsync.probe.outside import hosts, open_outside
from toolsync.probe.step import SECONDS, Place, Step, since
from toolsync.sentence import Text, reported, say
from toolsync.value import frozen

Address = tuple[int, tuple[Any, ...]]
"""Family, and what `connect` takes."""


def resolved(place: Place) -> tuple[Step, Sequence[Address]]:
    """The addresses that the name leads to, each once."""
    started = time.perf_counter()
    try:
        found = answered(lambda: socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM), SECONDS)
    except TimeoutError:
        return _unknown(place, say("silent", seconds=f"{SECONDS:g}"), started), ()
    except (OSError, UnicodeError) as error:
        return _unknown(place, reported(shown(str(getattr(error, "strerror", None) or error))), started), ()
    numbers = {str(where[0]): (family, where) for family, _, _, _, where in found if family in _FAMILIES}
    if not numbers:
        return _unknown(place, say("no_address"), started), ()
    return Step("name", shown(place.host), "", ", ".join(numbers), since(started)), tuple(numbers.values())


_FAMILIES = (socket.AF_INET, socket.AF_INET6)


def _unknown(place: Place, said: Text, started: float) -> Step:
    return Step("name", shown(place.host), "dns_failure", said, since(started), is_end=True)


def ports(place: Place, addresses: Sequence[Address], root: Path) -> tuple[list[Step], Address | None]:
    """Every address tried at once; the first that is open.

    Args:
        place: where to.
        addresses: of its name.
        root: of the file system, which tells whether this is a machine within another.
    """
    with ThreadPoolExecutor(max_workers=len(addresses)) as pool:
        tries = list(pool.map(tried, addresses))
    open_ones = [one for one in tries if not one.fault]
    if not open_ones:
        return [_shut(place, tries, root)], None
    detours = [_detour(place, one, open_ones[0]) for one in tries if one.fault]
    first = open_ones[0]
    reached = Step("port", str(place), "", say("port_open", number=first.number), first.elapsed_ms)
    return [*(step for step in detours if step), reached], first.address


@frozen
class Try:
    """What came of knocking at one address; `fault` is "" where it is open."""

    address: Address
    fault: str
    elapsed_ms: int

    @property
    def number(self) -> str:
        """The address as people write it."""
        return str(self.address[1][0])

    @property
    def is_here(self) -> bool:
        """Whether it is an address that means the machine itself."""
        return ipaddress.ip_address(self.number).is_loopback

    @property
    def said(self) -> Text:
        """What it came to."""
        match self.fault:
            case "refused":
                return say("number_refused", number=self.number)
            case "timeout":
                return say("number_silent", number=self.number, seconds=f"{SECONDS:g}")
        return say("at", place=self.number, said=reported(self.fault))


def tried(address: Address) -> Try:
    """Knock there."""
    started = time.perf_counter()
    try:
        connected(address).close()
        fault = ""
    except TimeoutError:
        fault = "timeout"
    except ConnectionRefusedError:
        fault = "refused"
    except OSError as error:
        fault = error.strerror or type(error).__name__
    return Try(address, fault, since(started))


def connected(address: Address) -> socket.socket:
    """A connection.

    Raises:
        OSError: there is none to be had.
    """
    family, where = address
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.settimeout(SECONDS)
    try:
        connection.connect(where)
    except OSError:
        connection.close()
        raise
    return connection


def is_open(place: Place) -> bool:
    """Whether a connection comes about, by whichever address."""
    try:
        socket.create_connection((place.host, place.port), SECONDS).close()
    except (OSError, UnicodeError):
        return False
    return True


def _shut(place: Place, tries: Sequence[Try], root: Path) -> Step:
    faults = {one.fault for one in tries}
    slowest = max(one.elapsed_ms for one in tries)
    said = _together([one.said for one in tries])
    # Time, or no network at all: nobody said that nothing listens there.
    cause = "connection_refused" if "refused" in faults else "connect_timeout"
    shut = Step("port", str(place), cause, said, slowest, is_end=True)
    is_here = faults == {"refused"} and all(one.is_here for one in tries)
    return _within(shut, place, root) if is_here else shut


def _within(shut: Step, place: Place, root: Path) -> Step:
    """The same in a container or WSL, from which the gateway may be meant that runs on the machine around."""
    names = hosts(root)
    found = open_outside(names, place.port) if names else ""
    if names is None or not (found or place.is_named_loopback):
        return shut
    return replace(shut, cause="wrong_loopback", certainty="likely" if found else "open", outside=found)


def _together(said: Iterable[Text]) -> Text:
    first, *rest = said
    return say("both", first=first, second=_together(rest)) if rest else first


def _detour(place: Place, shut: Try, open_one: Try) -> Step | None:
    """An address that clients may try first, and that leads nowhere."""
    if shut.address[0] != socket.AF_INET6 or open_one.address[0] != socket.AF_INET:
        return None
    said = say("both", first=shut.said, second=say("port_open", number=open_one.number))
    if place.is_named_loopback:
        return Step("port", str(place), "localhost_ipv6", said, shut.elapsed_ms)
    return Step("port", str(place), "ipv6_broken", said, shut.elapsed_ms) if shut.fault == "timeout" else None
