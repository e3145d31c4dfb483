"""A secret whose value is known, and how it is written where some of its characters mean something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Literal

from toolsync.echo import encoded, spelled
from toolsync.value import frozen

Spelling = Literal["as it is", "escaped", "percent-encoded", "base64", "hexadecimal", "UTF-16"]

SHORTEST = 8
"""A shorter one (`ollama`, `none`) stands in too many places that mean something else."""


@frozen
class Known:
    """A secret that is looked for by its value.

    Attributes:
        name: what it is called where it is kept: `keyring:work`.
        value: the secret itself.
    """

    name: str
    value: str = field(repr=False)

    @property
    def is_word(self) -> bool:
        """Whether it could be a part of another word: no digits, and no letters of both cases in one word."""
        return bool(_WORDS.fullmatch(self.value))

    def needles(self) -> Iterator[tuple[bytes, Spelling]]:
        """Every form of it that text may hold, the plainest first."""
        plain, *others = (form.encode("utf-8", "surrogatepass") for form in spelled(self.value))
        yield plain, "as it is"
        for form in others:
            yield form, "percent-encoded" if b"%" in form and form != plain else "escaped"
            yield _lower_escapes(form), "percent-encoded"
        for text in encoded(plain):
            # The last character may hold bits of what follows; one less says as much.
            yield text[:-1].encode(), "hexadecimal" if _HEX.fullmatch(text) else "base64"
        yield self.value.encode("utf-16-le", "surrogatepass"), "UTF-16"


_WORDS = re.compile(r"(?:[^A-Za-z0-9]|[A-Z]?[a-z]++(?![A-Z])|[A-Z]++(?![a-z]))*")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_ESCAPE = re.compile(rb"%[0-9A-F]{2}")


def _lower_escapes(form: bytes) -> bytes:
    """Percent-encoded with small letters, as some programs do."""
    return _ESCAPE.sub(lambda match: match[0].lower(), form)
