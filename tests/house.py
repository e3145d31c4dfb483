"""A gateway that works, with a key and two models, and how it is asked."""

from __future__ import annotations

from typing import Any

from tests.keys import invented
from toolsync.address import Dialect, addresses
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret
from toolsync.probe import Network, PingRequest

KEY = Secret(invented("house"))
QUICK = Network(connect_seconds=1, read_seconds=0.4)
"""For servers that do not answer."""


def house() -> LoopbackGateway:
    """Not yet running."""
    return LoopbackGateway(KEY, models=["house-model", "other-model"])


def asking(gateway: LoopbackGateway, dialect: Dialect, **more: Any) -> PingRequest:
    """What it answers with `pong`, unless `more` makes it another request."""
    found = addresses(gateway.base_url)
    base = found.anthropic_url if dialect == "anthropic-messages" else found.openai_url
    return PingRequest(**{"dialect": dialect, "base": base, "model": "house-model", "key": KEY, **more})
