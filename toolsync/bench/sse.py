"""Server-sent events out of the pieces in which a reply arrived, each with the time at which it was there whole.

https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6: lines end with CR LF, LF or CR, an empty
one ends an event. What stands behind the last empty line counts too: servers leave the final one out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError  # noqa: N812  a class by a lower-case name

from toolsync.value import frozen

_END = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_PLAIN_END = re.compile(rb"\n\n")
"""The same where there is no CR, as in nearly all streams: ten times as quick to find."""
_LINE = re.compile(rb"\r\n|\n|\r")


@frozen
class Event:
    """One event.

    Attributes:
        at_ns: when its last byte had arrived.
        name: of its type; empty where it has none.
        data: what it carries.
    """

    at_ns: int
    name: str
    data: str


def events(body: bytes, at_ns: Sequence[int], ends: Sequence[int]) -> Iterator[Event]:
    """The events of a body; comments, and events without data, are none.

    Args:
        body: whole.
        at_ns: when each piece of it arrived.
        ends: where each piece ends.
    """
    piece, start = 0, 3 if body.startswith(b"\xef\xbb\xbf") else 0
    last = len(ends) - 1
    for found in (_END if b"\r" in body else _PLAIN_END).finditer(body, start):
        end = found.end()
        while piece < last and ends[piece] < end:
            piece += 1
        block = body[start : found.start()]
        start = end
        event = _event(block, at_ns[piece]) if block else None
        if event is not None:
            yield event
    rest = body[start:].rstrip(b"\r\n")
    event = _event(rest, at_ns[last]) if rest else None
    if event is not None:
        yield event


def _event(block: bytes, at_ns: int) -> Event | None:
    if block.startswith(b"data:") and b"\n" not in block and b"\r" not in block:  # nearly all are
        return Event(at_ns, "", block[5:].decode(errors="replace").removeprefix(" "))
    name, data = "", []
    for line in _LINE.split(block):
        field, _, value = line.decode(errors="replace").partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif field == "event":
            name = value.removeprefix(" ")
    return Event(at_ns, name, "\n".join(data)) if data else None


def unpacked(body: bytes, ends: Sequence[int], encoding: str, limit: int) -> tuple[bytes, list[int]] | None:
    """A body that was packed although nobody asked for that, unpacked piece by piece; None where it cannot be.

    Args:
        body: as it came.
        ends: where its pieces end.
        encoding: as `Content-Encoding` names it.
        limit: bytes that may come out of it.
    """
    if encoding not in ("gzip", "x-gzip", "deflate"):
        return None
    unpacking = decompressobj(MAX_WBITS | 32 if encoding != "deflate" else MAX_WBITS)
    plain, plain_ends, start = bytearray(), [], 0
    try:
        for end in ends:
            plain += unpacking.decompress(body[start:end], limit + 1 - len(plain))
            if len(plain) > limit:
                return None
            plain_ends.append(len(plain))
            start = end
    except ZlibError:
        return None
    return bytes(plain), plain_ends
