"""One line on a terminal while somebody slow is waited for: what is asked of whom; gone before the answer is shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Timer

from toolsync.causes import Language
from toolsync.errors import OutputError
from toolsync.masking import masked, on_one_line
from toolsync.render.folding import cell, cells
from toolsync.render.screen import Screen
from toolsync.sentence import say, tell
from toolsync.waiting import Wait

PATIENCE_SECONDS = 0.5
"""Who waits no longer needs no word."""
_USUAL_WIDTH = 80
"""Of a terminal that does not say how wide it is."""


class Transient:
    """A watcher (`toolsync.waiting`) that shows what is waited for."""

    def __init__(self, screen: Screen, language: Callable[[], Language], patience: float) -> None:
        """Nothing is shown yet.

        Args:
            screen: a terminal.
            language: the one to speak, asked when there is something to say.
            patience: seconds before anything is said; waits that follow one another count as one.
        """
        self._screen, self._language, self._patience = screen, language, patience
        self._lock = Lock()
        self._shown = ""
        self._began = self._ended = float("-inf")

    @contextmanager
    def __call__(self, wait: Wait) -> Iterator[None]:
        """The time of one wait."""
        now = time.monotonic()
        if now - self._ended > self._patience:
            self._began = now
        is_over: list[bool] = []
        timer = Timer(max(0.0, self._patience - (now - self._began)), self._show, (wait, is_over))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            with self._lock:
                is_over.append(True)
                self._erase()
            self._ended = time.monotonic()

    def _show(self, wait: Wait, is_over: list[bool]) -> None:
        text = tell(say("waits", what=wait.said(), seconds=f"{wait.seconds:g}"), self._language())
        first = cell(on_one_line(masked(text)), (self._screen.width or _USUAL_WIDTH) - 1)[0]
        with self._lock:
            if not is_over:
                self._shown = first
                self._put(first)

    def _erase(self) -> None:
        """Blanks over it: every terminal understands those, also one that knows no escape sequence."""
        if self._shown:
            self._put("\r" + " " * cells(self._shown) + "\r")
            self._shown = ""

    def _put(self, text: str) -> None:
        with suppress(OutputError, BrokenPipeError):  # nobody reads it: what matters is said elsewhere
            self._screen.put(text)
