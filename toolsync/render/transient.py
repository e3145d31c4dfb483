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
        self._waits: list[Wait] = []
        self._shown = ""
        self._began = self._ended = float("-inf")

    @contextmanager
    def __call__(self, wait: Wait) -> Iterator[None]:
        """The time of one wait; of several at a time the latest is told of."""
        with self._lock:
            now = time.monotonic()
            if not self._waits and now - self._ended > self._patience:
                self._began = now
            self._waits.append(wait)
        timer = Timer(max(0.0, self._patience - (now - self._began)), self._show)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            with self._lock:
                if wait in self._waits:  # else the line is closed
                    self._waits.remove(wait)
                was_shown = bool(self._shown)
                self._erase()
                self._ended = time.monotonic()
            if was_shown:
                self._show()

    def close(self) -> None:
        """Leave nothing, whoever still waits in a thread that is left behind."""
        with self._lock:
            self._waits.clear()
            self._erase()

    def _show(self) -> None:
        with self._lock:
            if not self._waits:
                return
            wait = self._waits[-1]
            text = announced(wait, self._language())
            first = cell(on_one_line(masked(text)), (self._screen.width or _USUAL_WIDTH) - 1)[0]
            if first != self._shown:
                self._erase()
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


def announced(wait: Wait, language: Language) -> str:
    """What is done, with whom, and how long it may take."""
    return tell(say("waits", what=wait.said(), seconds=f"{wait.seconds:g}"), language)
