"""A gateway during a rotation: it takes the old key and the new one."""

from __future__ import annotations

from toolsync.loopback import Answer, LoopbackGateway, Received
from toolsync.masking import Secret


class Both(LoopbackGateway):
    """Takes several keys, as gateways do until the old one is revoked, and tells which came.

    Attributes:
        keys: those that it takes; may be changed while it runs.
    """

    def __init__(self, *keys: str, models: tuple[str, ...] = (), says: str = "pong") -> None:
        super().__init__(Secret(keys[0]), models=models, says=says)
        self.keys = set(keys)

    def answer(self, request: Received) -> Answer:
        """Note the request, and answer it."""
        for key in request.credentials.values():
            if key.reveal() in self.keys:
                self.key = key
        return super().answer(request)

    def came(self) -> list[tuple[str, str]]:
        """Path and key of every request for a model since the last look."""
        asked = [(one.path, next(iter(one.credentials.values())).reveal()) for one in self.asked]
        self.forget()
        return asked
