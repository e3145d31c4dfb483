"""A time limit for calls that may never come back."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


def answered(call: Callable[[], T], seconds: float) -> T:
    """What `call` returns or raises, if it does so in time.

    The call runs in a daemon thread: one that hangs (a keyring that waits for its password) is left behind, and ends
    with the process.

    Raises:
        TimeoutError: it has not come back within `seconds`.
    """
    attempt = _Attempt(call)
    thread = Thread(target=attempt.run, name="toolsync-deadline", daemon=True)
    thread.start()
    thread.join(seconds)
    return attempt.result()


class _Attempt(Generic[T]):
    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._values: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._values.append(self._call())
        except BaseException as error:  # noqa: BLE001  handed over to the thread that waits
            self._error = error

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        if not self._values:
            raise TimeoutError
        return self._values[0]
