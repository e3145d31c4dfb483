"""Key references: where a key is to be had. Apart from profiles, because `key print` needs nothing else of them."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from toolsync.errors import ProfileError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What a profile may be called: its name stands in command lines of several shells."""

REFERENCE = re.compile(
    rf"(keyring:{NAME.pattern}|env:[A-Za-z_][A-Za-z0-9_]*|command:[^\r\n\u0000]*[^\s\u0000][^\r\n\u0000]*)"
)
"""What a key reference looks like; a key pasted in its place does not."""


class KeyRef(NamedTuple):
    """Where a key is to be had: `keyring:NAME`, `env:VARIABLE` or `command:LINE`."""

    kind: Literal["keyring", "env", "command"]
    name: str

    @classmethod
    def parse(cls, text: str) -> KeyRef:
        """The reference in `text`.

        Raises:
            ProfileError: it is no reference; the text itself is not shown, for it may be the key.
        """
        if not REFERENCE.fullmatch(text):
            raise ProfileError(
                "the key is not a reference",
                hint="Write keyring:NAME, env:VARIABLE or command:LINE; the key itself never stands in the profile.",
            )
        kind, _, name = text.partition(":")
        return cls(kind, name.strip())  # type: ignore[arg-type]  # checked above

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"
