"""What is known of an origin while several programs' requests go there, and in which order they go.

One origin's requests follow one another, so that none is refused, or slow, because of another; origins are asked at
the same time. An origin that says nothing at all is asked everything at once: each request has its whole patience, and
together they take no longer than one. So is one that lists its models, and let the questions of two keys or dialects
go unanswered, each asked alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from toolsync.deadline import Attempt

T = TypeVar("T")


class Account:
    """What was asked of one origin with one key in one dialect, whichever program asked, and what came of it.

    Attributes:
        sent: requests.
        billed: those of them that may have cost something.
        lessons: what was asked, and what it came to, in order.
    """

    def __init__(self) -> None:
        """Nothing was."""
        self.sent = self.billed = 0
        self.lessons: list[tuple[Any, Any]] = []

    def spends(self, *, is_billable: bool) -> None:
        """Note that a request goes out."""
        self.sent += 1
        self.billed += is_billable


_FEW = 2
"""Questions that hang, of several keys or dialects: after so many the fault is hardly that of one of them."""


class Line:
    """What is known of one origin.

    Attributes:
        is_heard: whether it has answered anything.
        is_vain: whether somebody was waited for longer than usual, and nothing came.
        is_crowded: whether it is asked several things at once.
        confirmed: what one who was asked again alone came to just the same; no crowd is the reason.
    """

    def __init__(self) -> None:
        """Nothing is."""
        self.is_heard = self.is_vain = self.is_crowded = False
        self.confirmed: set[str] = set()
        self._hanging: set[Hashable] = set()
        self._began = time.monotonic()
        self._lock = Lock()
        self._attempts: dict[Hashable, Attempt[Any]] = {}
        self._accounts: dict[Hashable, Account] = {}

    def hears(self) -> None:
        """Note that it answered, whatever it said."""
        self.is_heard = True

    def leaves(self, payer: Hashable) -> None:
        """Note that a question of that key and dialect got no answer; one of many at a time tells nothing."""
        if not self.is_crowded:
            self._hanging.add(payer)

    @property
    def is_hanging(self) -> bool:
        """Whether several keys or dialects, each asked alone, got no answer."""
        return len(self._hanging) >= _FEW

    def account(self, payer: Hashable) -> Account:
        """The one of that key and dialect."""
        with self._lock:
            return self._accounts.setdefault(payer, Account())

    def knows(self, what: Hashable) -> bool:
        """Whether somebody made that call before, so that it costs nothing."""
        with self._lock:
            return what in self._attempts

    def once(self, what: Hashable, call: Callable[[], T]) -> Attempt[T]:
        """The call, made now; or the same one that somebody else made before."""
        with self._lock:
            if what not in self._attempts:
                self._attempts[what] = Attempt(call)
            return self._attempts[what]

    def is_silent(self, attempt: Attempt[Any], seconds: float | None) -> bool:
        """Wait for the attempt, or until it is plain that nobody speaks there; whether all else may be asked at once.

        Args:
            attempt: the latest.
            seconds: from the beginning on, after which it is plain; None: not before the attempt is over.
        """
        left = None if seconds is None else max(0.0, self._began + seconds - time.monotonic())
        if attempt.is_over(left) and seconds is not None:
            return self.is_hanging
        if not self.is_heard:
            return True
        attempt.is_over(None)
        return self.is_hanging


def asked(
    origins: Sequence[str],
    ask: Callable[[int, Line], T],
    again: Callable[[int, Line, T], T],
    silent_seconds: float | None = None,
) -> list[T]:
    """What comes of asking each of the origins, in their order.

    Args:
        origins: whom each request goes to.
        ask: the request of that number; it is called in a thread of its own.
        again: asks once more, alone, where what came may have been because of the others; else gives it back.
        silent_seconds: how long an origin may say nothing until all that is left is asked at once; None: the first
            request has to end without an answer.
    """
    numbers: dict[str, list[int]] = {}
    for number, one in enumerate(origins):
        numbers.setdefault(one, []).append(number)
    lanes = [Attempt(partial(_lane, lane, ask, again, silent_seconds)) for lane in numbers.values()]
    came = {number: one for lane in lanes for number, one in lane.result()}
    return [came[number] for number in range(len(origins))]


def _lane(
    numbers: Sequence[int],
    ask: Callable[[int, Line], T],
    again: Callable[[int, Line, T], T],
    silent_seconds: float | None,
) -> list[tuple[int, T]]:
    line = Line()
    attempts: list[Attempt[T]] = []
    alone = 0
    for number in numbers:
        attempts.append(Attempt(partial(ask, number, line)))
        if not line.is_crowded and number != numbers[-1] and line.is_silent(attempts[-1], silent_seconds):
            line.is_crowded, alone = True, len(attempts) if line.is_hanging else 0
    came = [(number, one.result()) for number, one in zip(numbers, attempts, strict=True)]
    if not (line.is_crowded and line.is_heard):
        return came
    return [*came[:alone], *((number, again(number, line, one)) for number, one in came[alone:])]
