"""The content of a file piece by piece, whatever stands there: nothing waits for a pipe, and UTF-16 comes as UTF-8."""

from __future__ import annotations

import codecs
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO

from toolsync.search.packed import DAMAGED
from toolsync.value import frozen

PIECE_BYTES = 2**20
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


@frozen
class Stream:
    """Bytes that are read once, from the first to the last.

    Attributes:
        file: where they come from.
    """

    file: IO[bytes]

    @property
    def is_at_end(self) -> bool:
        """Whether nothing more is to be read.

        Raises:
            OSError: it cannot be read on.
        """
        return not self._piece(1)

    def pieces(self, most_bytes: int) -> Iterator[bytes]:
        """Its text in pieces, so many bytes of it at most.

        Raises:
            OSError: it cannot be read on.
        """
        yield from plain(self._raw(most_bytes))

    def _raw(self, most_bytes: int) -> Iterator[bytes]:
        piece, left = self._piece(most_bytes), most_bytes
        while piece:
            yield piece
            left -= len(piece)
            piece = self._piece(left)

    def _piece(self, most_bytes: int) -> bytes:
        try:
            return self.file.read(min(PIECE_BYTES, most_bytes)) if most_bytes > 0 else b""
        except OSError as error:
            if error.errno is None:
                raise OSError(DAMAGED) from error
            raise
        except Exception as error:  # `zlib.error`, `LZMAError`, `BadZipFile`, `EOFError`
            raise OSError(DAMAGED) from error


@frozen
class Opened:
    """A regular file, open for reading.

    Attributes:
        path: as it was asked for.
        file: its bytes.
        status: of what is open, whatever stands at the path since.
    """

    path: Path
    file: IO[bytes]
    status: os.stat_result

    def head(self, count: int) -> bytes:
        """Its first bytes; nothing is read by that."""
        first = self.file.read(count)
        self.file.seek(0)
        return first


def plain(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a text; those of one in UTF-16 as UTF-8."""
    rest = iter(pieces)
    first = next(rest, b"")
    encoding = _utf_16(first)
    if encoding is None:
        yield from chain([first], rest)
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in chain([first], rest):
        yield decoder.decode(piece).encode("utf-8", "replace")


def unescaped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""The pieces of what fish keeps of its universal variables, with `\x2d` and its like as the character they mean.

    fish 3 and 4 write so whatever is no letter, digit, `/` or `_`. Line ends stay as they are.
    """
    rest = b""
    for piece in pieces:
        text = rest + piece
        at = text.rfind(b"\\", max(0, len(text) - _LONGEST_ESCAPE + 1))
        text, rest = (text, b"") if at < 0 else (text[:at], text[at:])
        yield _ESCAPE.sub(_meant, text)
    yield _ESCAPE.sub(_meant, rest)


_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_LONGEST_ESCAPE = 10


def _meant(escape: re.Match[bytes]) -> bytes:
    code = int(escape[escape.lastindex or 0], 16)
    return escape[0] if code == ord("\n") or code > sys.maxunicode else chr(code).encode("utf-8", "surrogatepass")


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """The file at `path`, links followed.

    Raises:
        OSError: there is none, or it cannot be read; for a device, a pipe or a folder too.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # before it is opened: opening a device may already do something
        raise OSError(_NO_FILE)
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(_NO_FILE)
        yield Opened(path, file, status)


_NO_FILE = "it is a folder, device, pipe or socket"

_SAMPLE = 4096
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def _utf_16(first: bytes) -> str | None:
    """The encoding, if it is UTF-16: by its mark, or because every other byte of a text is NUL."""
    marked = _MARKS.get(first[:2])
    sample = first[: min(len(first), _SAMPLE) // 2 * 2]
    if marked or len(sample) < 16:  # noqa: PLR2004  too short to tell
        return marked
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > half * 0.7 and even < half * 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > half * 0.7 and odd < half * 0.1 else None
