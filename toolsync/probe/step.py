"""One step of the way to a gateway, and the place that it leads to."""

from __future__ import annotations

import time
from typing import Literal

from toolsync.causes import Certainty
from toolsync.probe.body import shown
from toolsync.sentence import Text
from toolsync.value import frozen

Name = Literal["proxy", "name", "port", "encryption"]

SECONDS = 3.0
"""How long a name, and a port, may take."""


@frozen
class Step:
    """One step of the way.

    Attributes:
        name: which.
        target: host, or host and port.
        cause: a slug; "" where it went well.
        said: what came of it, one line.
        elapsed_ms: how long it took.
        is_end: whether there is no going on behind it.
        certainty: whether that leaves no doubt about the cause.
        outside: what the machine around a container or WSL is called, where this port is shut here and open there.
    """

    name: Name
    target: str
    cause: str
    said: Text
    elapsed_ms: int
    is_end: bool = False
    certainty: Certainty = "sure"
    outside: str = ""


@frozen
class Place:
    """A host and a port; as a text, fit to be shown."""

    host: str
    port: int

    def __str__(self) -> str:
        return shown(f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}")

    @property
    def is_named_loopback(self) -> bool:
        """Whether the name is one that means the machine itself."""
        return self.host == "localhost" or self.host.endswith(".localhost")


def since(started: float) -> int:
    """Milliseconds from a reading of `time.perf_counter` on."""
    return round((time.perf_counter() - started) * 1000)
