"""Where lines go: a terminal with colours, or a pipe without. Every text from outside passes `printable` on its way."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, TextIO, cast

from toolsync.errors import OutputError
from toolsync.masking import masked, printable
from toolsync.render.folding import prose
from toolsync.value import frozen

_STYLES = {
    "add": "green",
    "del": "red",
    "place": "cyan",
    "good": "green",
    "bad": "bold red",
    "look": "yellow",
    "dim": "dim",
}


@frozen
class Line:
    """One line for people.

    Attributes:
        text: what it says.
        style: a key of `_STYLES`, or empty.
        fold: the lines that its text, masked, becomes on a terminal of so many columns; None where it stays one.
    """

    text: str
    style: str = ""
    fold: Callable[[str, int], Sequence[str]] | None = None


def sentence(text: str, style: str = "", *, indent: int = 4) -> Line:
    """A line that a terminal folds between words."""
    return Line(text, style, partial(prose, indent=indent))


class Screen:
    """Where lines go: a terminal with colours, or a pipe without."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._is_coloured: bool | None = None

    def show(self, lines: Iterable[Line]) -> None:
        """Write the lines, masked, without a character that a terminal would obey. Raises as `put`."""
        texts = ((text, line.style) for line in lines for text in self._texts(line))
        self.put("".join(self._coloured(text, style) + "\n" for text, style in texts))

    def _texts(self, line: Line) -> Sequence[str]:
        """What the line says, masked before it is folded: no key could be found in two halves."""
        text = printable(masked(line.text), limit=100_000)
        width = self.width if line.fold else 0
        return line.fold(text, width) if line.fold and width else [text]

    @property
    def width(self) -> int:
        """The terminal's columns; 0 where there is none, or nobody knows."""
        if not self._stream.isatty():
            return 0
        said = os.environ.get("COLUMNS", "")
        if said.isdecimal() and int(said):
            return int(said)
        with suppress(OSError):
            return os.get_terminal_size(self._stream.fileno()).columns
        return 0

    def put(self, text: str) -> None:
        """Write the text as it is, at once.

        Raises:
            BrokenPipeError: nobody reads any more.
            OutputError: it cannot be written.
        """
        with self._written():
            self._stream.write(text)
            self._stream.flush()

    def pass_on(self, raw: bytes) -> None:
        """Write the bytes as they are, at once, whatever the encoding of the stream. Raises as `put`."""
        with self._written():
            self._stream.flush()
            cast("TextIO", self._stream).buffer.write(raw)
            self._stream.flush()

    @contextmanager
    def _written(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self._give_up()
            raise
        except OSError as error:
            raise self.unwritten(error) from error

    def unwritten(self, error: OSError) -> OutputError:
        """What is said where the stream takes nothing more; it is given up."""
        self._give_up()
        hint = "What was asked for may be done all the same: `toolsync status` shows it."
        return OutputError(f"the output cannot be written: {error.strerror}", hint=hint)

    def _give_up(self) -> None:
        """Let what is still buffered go nowhere: the interpreter would fail on it once more when it ends."""
        with suppress(OSError):  # no file of the system's
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def _coloured(self, text: str, style: str) -> str:
        if not style or not self._colours():
            return text
        from rich.style import Style

        return Style.parse(_STYLES[style]).render(text)

    def _colours(self) -> bool:
        if self._is_coloured is None and not self._may_be_coloured():
            self._is_coloured = False
        if self._is_coloured is None:
            from rich.console import Console

            console = Console(file=self._stream)
            self._is_coloured = console.is_terminal and console.color_system is not None and not console.no_color
        return self._is_coloured

    def _may_be_coloured(self) -> bool:
        """Whether rich is worth its import: it colours terminals, and pipes only where a variable says so."""
        return self._stream.isatty() or bool(os.environ.get("FORCE_COLOR"))


def stdout() -> Screen:
    """The screen for results."""
    return Screen(sys.stdout)


def stderr() -> Screen:
    """The screen for errors and questions."""
    return Screen(sys.stderr)
