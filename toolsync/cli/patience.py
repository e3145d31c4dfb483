"""What a person sees while something slow is waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from toolsync import waiting
from toolsync.render import screen
from toolsync.render.screen import Line

if TYPE_CHECKING:
    from toolsync.causes import Language
    from toolsync.render.transient import Transient


@contextmanager
def shown(language: Callable[[], Language]) -> Iterator[None]:
    """Let waits show on stderr until the end of the block.

    Args:
        language: the one to speak, asked for when there is something to say.
    """
    watcher = _Watcher(language)
    try:
        with waiting.watched(watcher):
            yield
    finally:
        watcher.close()


@contextmanager
def told(language: Callable[[], Language]) -> Iterator[None]:
    """Let waits that may take minutes be told on stderr until the end of the block, each in a line of its own.

    Args:
        language: as `shown` has it.
    """

    def watcher(wait: waiting.Wait) -> AbstractContextManager[None]:
        if wait.is_long:
            from toolsync.render.transient import announced

            screen.stderr().show([Line(announced(wait, language()))])
        return nullcontext()

    with waiting.watched(watcher):
        yield


class _Watcher:
    """Loads what draws with the first wait, for most commands wait for nobody."""

    def __init__(self, language: Callable[[], Language]) -> None:
        self._language = language
        self._line: Transient | None = None

    def __call__(self, wait: waiting.Wait) -> AbstractContextManager[None]:
        from toolsync.render import transient

        if self._line is None:
            self._line = transient.Transient(screen.stderr(), self._language, transient.PATIENCE_SECONDS)
        return self._line(wait)

    def close(self) -> None:
        """Take the line back: one who interrupts is told so on an empty one."""
        if self._line is not None:
            self._line.close()
