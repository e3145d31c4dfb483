"""What may be a key: one word of visible ASCII, for it goes into a request's header and onto one line."""

from __future__ import annotations

import re

from toolsync.errors import KeyMissingError, SecretError
from toolsync.keyref import REFERENCE
from toolsync.masking import Secret, is_reference, learn

_QUOTES = "\"'`"


def checked(text: str, source: str) -> Secret:
    """The key in `text`.

    Args:
        text: what a person typed, or what `source` holds; never shown.
        source: where it comes from, as an error is to name it (`the key`, `env:API_KEY`).

    Raises:
        KeyMissingError: it is empty.
        SecretError: it cannot be a key; says why and at which position, counted from 1.
    """
    if not text.strip():
        raise KeyMissingError(f"{source} is empty", hint="A key is one line of visible ASCII characters.")
    secret = Secret(text.strip())
    learn(secret.reveal())
    at = next((at for at, character in enumerate(text) if not "!" <= character <= "~"), None)
    if at is not None:
        raise SecretError(f"{source} has {_named(text[at])} at position {at + 1}", hint=_advice(text))
    if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
        raise SecretError(f"{source} stands in quotation marks", hint="Give the key without them.")
    return secret


def checked_typed(text: str, source: str) -> Secret:
    """The key that a person gives us to keep: what can be none in spite of its characters is not taken for one.

    Blanks before and after it come along where it is copied, and are no part of any key.

    Raises:
        KeyMissingError, SecretError: as above, and for an address, a reference, or a line of a file of variables.
    """
    text = text.strip(" \t")
    secret = checked(text, source)
    for pattern, said, hint in _SLIPS:
        if re.match(pattern, text):
            raise SecretError(f"{source} {said}", hint=hint)
    if is_reference(text) or REFERENCE.fullmatch(text):
        raise SecretError(f"{source} names a key that stands elsewhere", hint="Give the key itself.")
    return secret


_SLIPS = (
    (
        r"[A-Za-z_]\w*(?:KEY|TOKEN|SECRET|key|token|secret)=[^=]",
        "begins with a variable's name",
        "Give what follows the '='.",
    ),
    (r"https?://", "is an address", "Copy the key itself from the gateway's page."),
)


def without_line_end(text: str) -> str:
    """`text` without the one line end that `echo`, an editor or a pipe adds to it."""
    return text.removesuffix("\n").removesuffix("\r")


def _named(character: str) -> str:
    if character in "\r\n":
        return "a line break"
    if character == "\t":
        return "a tab"
    if character == " ":
        return "a space"
    from unicodedata import category  # a key that is one needs none of it

    if category(character) == "Cc":
        return f"a control character (U+{ord(character):04X})"
    return f"a character that is not ASCII (U+{ord(character):04X})"


def _advice(text: str) -> str:
    if text.lower().startswith("bearer "):
        return "Give the key alone, without the word 'Bearer'."
    return "A key is one line of visible ASCII characters: copy it again, without what stands around it."
