"""What is to be measured."""

from __future__ import annotations

from collections.abc import Mapping

from toolsync.address import Dialect, endpoint
from toolsync.bench.load import Load
from toolsync.probe.network import Network
from toolsync.value import frozen


@frozen
class Wish:
    """What to measure.

    Attributes:
        dialect: of the requests.
        base: the address that clients of this dialect are given.
        model: whom to ask.
        headers: of the requests, the key's among them.
        network: proxy and trust, and how long silence may be.
        ladder: the rungs, in order.
        prompt_tokens: how long prompts should be.
        output_tokens: how long replies should be.
        label: what the person calls the run.
        salt: by which origins are told apart; a secret of this machine, for the addresses of a network are few.
    """

    dialect: Dialect
    base: str
    model: str
    headers: Mapping[str, str]
    network: Network
    ladder: tuple[Load, ...]
    prompt_tokens: int = 512
    output_tokens: int = 256
    label: str = ""
    salt: bytes = b""

    @property
    def url(self) -> str:
        """Where requests go."""
        return endpoint(self.dialect, self.base)
