"""What an overlay wants of a file, edit by edit."""

from __future__ import annotations

from enum import Enum
from typing import Final

from toolsync.document import KeyPath, Value
from toolsync.value import frozen


class Want(Enum):
    """What an edit can want beside a value."""

    ABSENT = "absent"
    """Nothing may stand there."""
    TABLE = "table"
    """A table must stand there; its contents are not ours."""
    UNSET = "unset"
    """Hands off: no edit at all."""


ABSENT: Final = Want.ABSENT
TABLE: Final = Want.TABLE
UNSET: Final = Want.UNSET


@frozen
class Edit:
    """One path, and what must stand there.

    Attributes:
        path: where.
        value: a parsed value, `ABSENT` or `TABLE`.
        secret: whether what stands there, now or before, may be a key: masked, and remembered as a hash only.
        harmless: whether our own value may be shown all the same (a command that prints the key is not the key).
        facts: the facts it was filled from.
        stamp: whether it is the time of writing, which alone is no reason to write.
    """

    path: KeyPath
    value: Value | Want
    secret: bool = False
    harmless: bool = True
    facts: frozenset[str] = frozenset()
    stamp: bool = False
