"""The canonical profile: one address, one model, one key reference, and the limits that tools are to keep."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolsync.errors import ProfileError

Plaintext = Literal["ask", "allow", "never"]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What a profile may be called: its name stands in command lines of several shells."""


@dataclass(frozen=True)
class KeyRef:
    """Where a key is to be had: `keyring:NAME`, `env:VARIABLE` or `command:LINE`."""

    kind: Literal["keyring", "env", "command"]
    name: str

    @classmethod
    def parse(cls, text: str) -> KeyRef:
        """The reference in `text`.

        Raises:
            ProfileError: it is no reference; the text itself is not shown, for it may be the key.
        """
        kind, colon, name = text.partition(":")
        if not colon or not name.strip() or kind not in ("keyring", "env", "command"):
            raise ProfileError(
                "the key is not a reference",
                hint="Write keyring:NAME, env:VARIABLE or command:LINE; the key itself never stands in the profile.",
            )
        return cls(kind, name.strip())  # type: ignore[arg-type]  # checked above

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True)
class Profile:
    """One profile, its tool overrides not yet laid over it (`for_tool` does that).

    Every table holds only what the file sets: an absent entry means hands off.
    """

    name: str
    base_url: str
    model: str
    key: KeyRef
    title: str | None = None
    gateway: str | None = None
    plaintext: Plaintext = "ask"
    models: Mapping[str, str] = field(default_factory=dict)
    urls: Mapping[str, str] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    network: Mapping[str, Any] = field(default_factory=dict)
    observability: Mapping[str, Any] = field(default_factory=dict)
    tool: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
