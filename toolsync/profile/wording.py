"""How messages quote what stands in the file, and guess what was meant."""

from __future__ import annotations

from collections.abc import Iterable

from toolsync.masking import holds_key_shape, mask_key_shapes, on_one_line


def shown(value: object) -> str:
    """A value as a message may quote it: on one line, short, and nothing that may be secret."""
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            return "the table"
        case list():
            return "the list"
        case str() if not value or holds_key_shape(value) or {"@", "?"}.intersection(value):
            return "the value"
        case str():
            return f"'{one_line(value)}'"
    return one_line(str(value))


def one_line(text: str) -> str:
    """Text from outside on one line, fit for a terminal."""
    return on_one_line(mask_key_shapes(text), limit=120)


def close(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that `word` is most likely a slip of the pen for, capitals and underscores aside."""
    from difflib import get_close_matches  # only a mistake needs it

    plain = {_plain(known): known for known in words}
    found = get_close_matches(_plain(word), plain, n=1, cutoff=0.7)
    return plain[found[0]] if found else None


def _plain(word: str) -> str:
    return word.casefold().replace("_", "").replace("-", "")
