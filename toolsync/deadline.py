"""A time limit for calls that may never come back."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")
_GRACE_SECONDS = 0.1
"""So much longer than its time a call is waited for: it may have come back while this process was held up."""


def answered(call: Callable[[], T], seconds: float) -> T:
    """What `call` returns or raises, if it does so in time.

    Raises:
        TimeoutError: it has not come back within `seconds`.
    """
    attempt = Attempt(call)
    if not attempt.is_over(seconds):
        raise TimeoutError
    return attempt.result()


class Attempt(Generic[T]):
    """A call that runs from now on.

    It does so in a daemon thread: one that hangs (a keyring that waits for its password) is left behind, and ends with
    the process.
    """

    def __init__(self, call: Callable[[], T]) -> None:
        """Start it."""
        self._call = call
        self._values: list[T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, name="toolsync-attempt", daemon=True)
        self._thread.start()

    def is_over(self, seconds: float | None) -> bool:
        """Whether it ends within so many seconds; without a limit it is waited for."""
        self._thread.join(seconds)
        if seconds is not None:
            self._thread.join(min(seconds, _GRACE_SECONDS))
        return not self._thread.is_alive()

    def result(self) -> T:
        """What it returns or raises, whenever that is."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._values[0]

    def _run(self) -> None:
        try:
            self._values.append(self._call())
        except BaseException as error:  # noqa: BLE001  handed over to the thread that waits
            self._error = error
