"""Gateways that take their time, and a clock that nobody waits for: it goes on whenever all who run wait for it."""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import httpx

from tests.probe.gateway import Put, Reply
from toolsync import probe
from toolsync.deadline import Attempt
from toolsync.probe import line, network, sending, talk
from toolsync.probe.network import Network
from toolsync.probe.response import Response

if TYPE_CHECKING:
    import pytest

T = TypeVar("T")
_STUCK_SECONDS = 20.0
"""Of real time: whoever still waits then waits for what never comes."""


@dataclass(eq=False)
class _Waiting:
    """Somebody who waits until a moment, or until an attempt is over, whichever comes first."""

    until: float
    on: Attempt[Any] | None
    is_over: bool = False


class Clock:
    """Seconds since the beginning. Who calls `begins` runs until it `ends`, but while it waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self._changed = Condition()
        self._running = 1  # the test
        self._waiting: list[_Waiting] = []
        self._ended: set[Attempt[Any]] = set()

    def begins(self) -> None:
        with self._changed:
            self._running += 1

    def ends(self, attempt: Attempt[Any]) -> None:
        with self._changed:
            self._ended.add(attempt)
            self._wake([one for one in self._waiting if one.on is attempt])
            self._rests()

    def waits(self, seconds: float, on: Attempt[Any] | None = None) -> bool:
        """Wait for so long, or until the attempt is over; whether it is."""
        with self._changed:
            if on in self._ended:
                return True
            waiting = _Waiting(self.now + seconds, on)
            self._waiting.append(waiting)
            self._rests()
            assert self._changed.wait_for(lambda: waiting.is_over, _STUCK_SECONDS)
            return on in self._ended

    def _rests(self) -> None:
        self._running -= 1
        until = min((one.until for one in self._waiting), default=math.inf)
        if not self._running and until < math.inf:
            self.now = until
            self._wake([one for one in self._waiting if one.until <= self.now])

    def _wake(self, some: list[_Waiting]) -> None:
        """They run from now on, even before their threads know of it."""
        for one in some:
            one.is_over = True
            self._waiting.remove(one)
        self._running += len(some)
        self._changed.notify_all()


@dataclass
class Timeless:
    """A gateway: what it was asked, and how many requests it had at a time, those included that nobody waits for."""

    clock: Clock
    reply: Callable[[Put], Reply]
    origin: str
    asked: list[tuple[str, str]] = field(default_factory=list)
    most: int = 0
    _ends: list[float] = field(default_factory=list)

    def takes(self, method: str, path: str, model: str, headers: Mapping[str, str]) -> Reply:
        """What it answers."""
        now = 1 + sum(end > self.clock.now for end in self._ends)
        self.asked.append((path, model))
        self.most = max(self.most, now)
        reply = self.reply(Put(method, path, model, headers, now))
        self._ends.append(self.clock.now + reply.seconds)
        return reply


class World:
    """A clock, and gateways that go by it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        self._gateways: dict[str, Timeless] = {}
        clock, one_at_a_time = self.clock, Condition()

        class Timed(Attempt[T]):
            """An attempt that goes by the clock."""

            def __init__(self, call: Callable[[], T]) -> None:
                clock.begins()
                super().__init__(call)

            def is_over(self, seconds: float | None) -> bool:
                return clock.waits(math.inf if seconds is None else seconds, self)

            def result(self) -> T:
                self.is_over(None)
                return super().result()

            def _run(self) -> None:
                super()._run()
                clock.ends(self)

        def send(
            method: str, url: str, body: Mapping[str, object] | None, headers: Mapping[str, str], way: Network
        ) -> Response:
            parts = urlsplit(url)
            with one_at_a_time:
                reply = self._gateways[f"{parts.scheme}://{parts.netloc}"].takes(
                    method, parts.path, str((body or {}).get("model", "")), headers
                )
            clock.waits(min(reply.seconds, way.read_seconds))
            if reply.seconds > way.read_seconds:
                raise httpx.ReadTimeout("the answer did not come in time")
            told = {"content-type": "application/json", **reply.headers}
            return Response(reply.status, told, json.dumps(reply.data).encode(), round(reply.seconds * 1000))

        time = SimpleNamespace(monotonic=lambda: clock.now, perf_counter=lambda: clock.now)
        for module in (line, talk):
            monkeypatch.setattr(module, "Attempt", Timed)
        for module in (line, sending, probe):
            monkeypatch.setattr(module, "time", time)
        for module in (network, probe):
            monkeypatch.setattr(module, "send", send)

    @contextmanager
    def gateway(self, reply: Callable[[Put], Reply]) -> Iterator[Timeless]:
        """One at an address where somebody listens, so that the way to it can be gone.

        Args:
            reply: from what it is asked to what it answers.
        """
        with socket.create_server(("127.0.0.1", 0)) as listens:
            origin = f"http://127.0.0.1:{listens.getsockname()[1]}"
            yield self._gateways.setdefault(origin, Timeless(self.clock, reply, origin))
