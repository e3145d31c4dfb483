"""Ctrl-C and the other ways to end a program: they end the ladder, however often, and lose no rung that is finished."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any, TypeVar

T = TypeVar("T")

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Ctrl-C; the end of a job's time; a terminal that is gone; Windows has the first two, and Ctrl-Break."""


@contextmanager
def heeded(heed: Callable[[], None]) -> Iterator[None]:
    """Instead of what they do otherwise, they call that; whoever started us to ignore one is obeyed."""
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    here = current_thread() is main_thread()
    before = {one: signal.getsignal(one) for one in numbers if here and signal.getsignal(one) is not signal.SIG_IGN}
    try:
        for number in before:
            signal.signal(number, lambda *_: heed())
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def held_off() -> Iterator[None]:
    """What arrives within is for nobody any more: what is left to do is to keep what was measured, in seconds."""
    with heeded(lambda: None):
        yield


def ran(work: Coroutine[Any, Any, T], factory: Callable[[], asyncio.AbstractEventLoop] | None) -> T:
    """What the work gives back, in a loop of its own; it is cancelled once, and may go on to keep what it has.

    Raises:
        KeyboardInterrupt: it was cancelled, and did not.
    """
    with asyncio.Runner(loop_factory=factory) as runner:
        loop = runner.get_loop()
        task = loop.create_task(work)
        with heeded(_Once(loop, task)):
            try:
                return runner.run(_awaited(task))
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None


async def _awaited(task: asyncio.Task[T]) -> T:
    return await task


class _Once:
    """Cancels a task: a second time would cancel what it does about the first."""

    def __init__(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
        self._loop, self._task = loop, task
        self._is_done = False

    def __call__(self) -> None:
        if not self._is_done:
            self._is_done = True
            self._loop.call_soon_threadsafe(self._task.cancel)
