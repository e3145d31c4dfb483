"""Key references: where a key is to be had. Apart from profiles, because `key print` needs nothing else of them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from toolsync.errors import ProfileError
from toolsync.pattern import late

NAME = late(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What a profile may be called: its name stands in command lines of several shells."""

_SIMPLE = (
    rf"keyring:{NAME.pattern}|env:[A-Za-z_][A-Za-z0-9_]*|systemd:{NAME.pattern}"
    r"|command:[^\r\n\u0000]*[^\s\u0000][^\r\n\u0000]*"
)
_PATH = r"(~[/\\]|/|[A-Za-z]:[/\\]|\\\\)[^#\r\n\u0000]*[^#\s\u0000]"
REFERENCE = late(rf"({_SIMPLE}|age:{_PATH}(#({_SIMPLE}))?)")
"""What a key reference looks like; a key pasted in its place does not."""
PREFIXES = ("keyring:", "env:", "command:", "systemd:", "age:")
"""How it begins; what begins so and is none is a mistake."""


class KeyRef(NamedTuple):
    """Where a key is to be had: `keyring:NAME`, `env:VARIABLE`, `command:LINE`, `systemd:NAME` or `age:PATH`.

    The file of an `age:` is shut with a passphrase, which a person is asked for, or `age:PATH#REFERENCE` says where it
    is to be had.
    """

    kind: Literal["keyring", "env", "command", "systemd", "age"]
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
                hint="Write keyring:NAME, env:VARIABLE, command:LINE, systemd:NAME or age:PATH; "
                "the key itself never stands in the profile.",
            )
        kind, _, name = text.partition(":")
        return cls(kind, name.strip())  # type: ignore[arg-type]  # checked above

    @property
    def inner(self) -> KeyRef | None:
        """Where the passphrase of an `age:` is to be had; None where a person is asked, and for the other kinds."""
        told = self.name.partition("#")[2] if self.kind == "age" else ""
        return KeyRef.parse(told) if REFERENCE.fullmatch(told) else None

    @property
    def command(self) -> str:
        """The command line that is run for the key, or for the passphrase of its file; "" where none is."""
        told = self.name.partition("#")[2] if self.kind == "age" else str(self)
        return told.removeprefix("command:") if told.startswith("command:") else ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"
