"""What a person sees on a terminal while something slow is waited for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from toolsync import waiting
from toolsync.render import screen

if TYPE_CHECKING:
    from toolsync.causes import Language
    from toolsync.render.transient import Transient


def shown(language: Callable[[], Language], *, is_quiet: bool) -> AbstractContextManager[None]:
    """Let waits show on stderr until the end of the block; nowhere but on a terminal that can take a line back.

    Args:
        language: the one to speak, asked for when there is something to say.
        is_quiet: whether a program reads what is said.
    """
    if is_quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return nullcontext()
    return waiting.watched(_Watcher(language))


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
