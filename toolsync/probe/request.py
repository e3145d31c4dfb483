"""The request that a tool makes, as it is asked of a gateway."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field

from toolsync.address import Dialect
from toolsync.masking import Secret
from toolsync.probe.network import Network
from toolsync.value import frozen


@frozen
class Request:
    """What a tool asks.

    Attributes:
        dialect: what it speaks.
        base: the base address as it has it.
        url: the whole address that it asks.
        model: whom.
        credentials: what it sends, by lower-case header; empty where the origin is not one that a key may go to.
        headers: further ones.
        streams: whether it asks for a stream.
        timeout_seconds: how long it waits; None where nobody knows.
        timeout_of: the waits that this holds for: `headers`, `first`, `gaps`.
        limit_name: the parameter by which it limits the answer; "" for the dialect's own.
        network: its way.
        is_trusted: whether the key may be sent there at all.
        query: the parameters that its settings append to every address, encoded; the whole address has them already.
        is_users: whether it is the user's own address; nothing is posted to one that a project's file names.
    """

    dialect: Dialect
    base: str
    url: str
    model: str
    credentials: Mapping[str, Secret] = field(default_factory=dict)
    headers: Mapping[str, str | Secret] = field(default_factory=dict)
    streams: bool = False
    timeout_seconds: float | None = None
    timeout_of: tuple[str, ...] = ("first",)
    limit_name: str = ""
    network: Network = field(default_factory=Network)
    is_trusted: bool = True
    is_users: bool = True
    query: str = ""

    @property
    def payer(self) -> Hashable:
        """Who pays for it: of one origin, so much may be asked with one key in one dialect."""
        return self.dialect, frozenset(self.credentials.values())


def queried(url: str, query: str) -> str:
    """An address with parameters behind it."""
    return url + ("&" if "?" in url else "?") + query if url and query else url
