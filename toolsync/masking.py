"""What must never be shown as it is: keys, and text from outside that could speak to a terminal."""

from __future__ import annotations

import hmac
import re
import unicodedata

_SHORTEST_MASKED = 7
"""A shorter key (`ollama`, `none`) is no secret worth the words that masking it would destroy."""

_known: set[str] = set()


class Secret:
    """A key that never prints itself; every text that toolsync shows passes `masked`, which knows it from then on."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value
        if len(value) >= _SHORTEST_MASKED:
            _known.add(value)

    def reveal(self) -> str:
        """The key itself: for a request header, a tool's own file, or the one line of `key print`."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret('***')"

    def __reduce__(self) -> str:
        raise TypeError("a Secret is never serialised")


def masked(text: str) -> str:
    """`text` with every key that this process has seen replaced by `***`."""
    for value in sorted(_known, key=len, reverse=True):
        text = text.replace(value, "***")
    return text


def fingerprint(value: str, key: bytes) -> str:
    """Six hexadecimal digits that tell two keys apart and give neither away (HMAC-SHA-256, cut).

    Args:
        value: the key.
        key: the machine's own random bytes, so that the digits mean nothing elsewhere.
    """
    return hmac.digest(key, value.encode(), "sha256").hex()[:6]


def printable(text: str, *, limit: int = 2000) -> str:
    """`text` from outside without what a terminal would obey: control, format and escape characters become `�`.

    Line feeds and tabs stay. Longer text than `limit` characters is cut, and says so.
    """
    text = "".join(c if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} else "�" for c in text)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} characters more)"


_SECRET_NAME = re.compile(r"(?i)(api_?key|apikey|(^|[_.-])key$|token|secret|passw|credential|bearer|auth(orization)?$|headers?$)")


def looks_secret(name: str) -> bool:
    """Whether a settings key of this name usually holds a secret (`apiKey`, `AUTH_TOKEN`, `password`)."""
    return bool(_SECRET_NAME.search(name))
