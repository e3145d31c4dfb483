"""What is being waited for: whoever waits says it, and a command line on a terminal shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.sentence import Text


@frozen
class Wait:
    """Something that may take its time.

    Attributes:
        said: what is done, and with whom; asked for only where it is shown.
        seconds: how long it may take at most.
        is_long: whether it may take minutes, so that it is said where no terminal shows it too.
    """

    said: Callable[[], Text]
    seconds: float
    is_long: bool = False


Watcher = Callable[[Wait], AbstractContextManager[None]]
"""What is told of each wait, for as long as it lasts."""


def on(said: Callable[[], Text], seconds: float, *, is_long: bool = False) -> AbstractContextManager[None]:
    """The time of a wait, which is told to whoever watches.

    Args:
        said: as `Wait` has it.
        seconds: likewise.
        is_long: likewise.
    """
    return _told(Wait(said, seconds, is_long)) if _watchers else nullcontext()


@contextmanager
def _told(wait: Wait) -> Iterator[None]:
    with ExitStack() as stack:
        for watcher in [*_watchers]:
            stack.enter_context(watcher(wait))
        yield


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Let `watcher` be told of every wait until the end of the block."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


_watchers: list[Watcher] = []
