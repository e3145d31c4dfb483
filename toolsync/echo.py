"""A key as servers and programs say it again: in part, encoded, or broken by a line end or by what cannot be seen.

What counts is a run of twelve or more of a key's characters, or of those of one of its encodings. Keys are made of
words too (`my-company-gateway-7f3a`): a run that could be words counts only if it is most of the key, so that a host's
name stays readable. Time is linear in the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from toolsync.pattern import PLACE, late
from toolsync.value import frozen

_PART = 12
"""Half a key of 96 bits: fewer characters of one are worth less than the words that masking them would cost."""

_BLOCK = _PART // 2
"""Each part holds a whole block that begins at a multiple of this: looking for these first is six times as fast."""

_UNSEEN = late(
    r"[\s\x00-\x1a\x1c-\x1f\x7f-\x9f\xad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\x1b\ufffd](?:\[[0-9;]*[A-Za-z])?|\\[nrt]"
)
"""White space, control and format characters (Unicode: Cc, Cf, Default_Ignorable), accents that stand alone, colours,
escaped line ends; and what `printable` puts in their places."""

_WORDS = late(r"(?:[^A-Za-z0-9]|[A-Z]?[a-z]++(?![A-Z])|[A-Z]++(?![a-z]))*")
"""No digits, and no letters of both cases in one word, but for its first."""


def unechoed(text: str, keys: frozenset[str]) -> str:
    """`text` with every echo of one of `keys` replaced by `***`."""
    known = _known(keys)
    seen = _UNSEEN.sub("", text)
    if not any(seen[at : at + _BLOCK] in known.blocks for at in range(0, len(seen), _BLOCK)):
        return text
    at = _places(text)
    shown, end = [], 0
    for run in _runs(seen, known.parts):
        shown += [text[end : at[run.start]], "***"]
        end = at[run.stop - 1] + 1
    return "".join(shown) + text[end:]


def _places(text: str) -> list[int]:
    """Where in `text` each character stands that can be seen."""
    places: list[int] = []
    end = 0
    for unseen in _UNSEEN.finditer(text):
        places += range(end, unseen.start())
        end = unseen.end()
    return [*places, *range(end, len(text))]


def _runs(seen: str, parts: Mapping[str, int]) -> Iterator[range]:
    """Where parts of keys stand, those that overlap in one, and long enough for what they consist of."""
    start = end = least = 0
    for at in range(len(seen) - _PART + 1):
        needed = parts.get(seen[at : at + _PART])
        if needed is None:
            continue
        if at >= end:
            if _counts(seen[start:end], least):
                yield range(start, end)
            start, least = at, needed
        end, least = at + _PART, min(least, needed)
    if _counts(seen[start:end], least):
        yield range(start, end)


def _counts(run: str, least: int) -> bool:
    return bool(run) and (len(run) >= least or not _WORDS.fullmatch(run))


@frozen
class _Known:
    """What to look for.

    Attributes:
        parts: how long a run that could be words must be if it holds this part.
        blocks: all of which a part can hold.
    """

    parts: Mapping[str, int]
    blocks: frozenset[str]


@lru_cache(maxsize=4)
def _known(keys: frozenset[str]) -> _Known:
    parts: dict[str, int] = {}
    blocks: set[str] = set()
    for form, least in (each for key in keys if not PLACE.match(key) for each in _forms(key)):
        for at in range(len(form) - _PART + 1):
            part = form[at : at + _PART]
            parts[part] = min(least, parts.get(part, least))
        if len(form) >= _PART:
            blocks.update(form[at : at + _BLOCK] for at in range(len(form) - _BLOCK + 1))
    return _Known(parts, frozenset(blocks))


def _forms(key: str) -> Iterator[tuple[str, int]]:
    """How the key is said again, and how long a run of that must be if it could be words."""
    for form in (*spelled(key), *_turned(key)):
        yield form, max(_PART, len(form) * 3 // 4)
    raw = key.encode("utf-8", "surrogatepass")
    for form in (*encoded(raw), *_seldom(raw)):
        yield form, _PART


_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
"""As `html.escape` has it, whose import takes as long as all else here."""


def spelled(key: str) -> Iterator[str]:
    """The key, and how it is written where some of its characters mean something else."""
    import json
    from urllib.parse import quote

    yield key
    yield json.dumps(key)[1:-1]
    yield repr(key)[1:-1]
    yield key.replace("/", "\\/")
    yield key.translate(_ENTITIES)
    yield quote(key, safe="", errors="surrogatepass")


_FULL_WIDTH = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}
"""Unicode's second set of ASCII's characters, each as wide as a Chinese one."""


def _turned(key: str) -> Iterator[str]:
    """The key as those say it again who normalise or disguise it."""
    yield key.lower()
    yield key.upper()
    yield key[::-1]
    yield key.translate(_FULL_WIDTH)


def encoded(raw: bytes) -> Iterator[str]:
    """The key in base64, which has three forms by what stands before (`Basic` puts a user's name there), and in hex.

    And with every character escaped, which is needless, and done all the same.
    """
    yield from _in_base64(raw)
    yield raw.hex()
    yield raw.hex().upper()
    for escape in ("%{:02X}", "%{:02x}", "%25{:02X}", "\\x{:02x}", "\\u{:04x}", "&#{};", "&#x{:X};"):
        yield "".join(map(escape.format, raw))


def _in_base64(raw: bytes) -> Iterator[str]:
    from base64 import b64encode

    for before in range(3):
        whole = b64encode(bytes(before) + raw).decode().rstrip("=")
        form = whole[(before * 4 + 2) // 3 :]  # without the characters that share bits with what stands before
        yield form
        yield form.replace("+", "-").replace("/", "_")


def _seldom(raw: bytes) -> Iterator[str]:
    """The key in encodings that few use: base64 of base64, base32, octal escapes."""
    from base64 import b32encode, b64encode

    yield from _in_base64(b64encode(raw).rstrip(b"="))
    yield b32encode(raw).decode().rstrip("=")
    yield "".join(map("\\{:03o}".format, raw))
