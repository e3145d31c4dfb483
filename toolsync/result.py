"""What a command did: data for machines, messages for people, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from toolsync.value import frozen

DONE, PROBLEM, REFUSED = 0, 1, 2
Level = Literal["note", "warning", "problem"]


@frozen
class Message:
    """A sentence for people, beside the data.

    Attributes:
        level: `note` is good to know, `warning` asks for a look, `problem` ends with 1.
        text: what.
        hint: what to do about it.
    """

    level: Level
    text: str
    hint: str = ""


@frozen
class Result:
    """The end of a command.

    Attributes:
        command: its name, `key list`.
        data: JSON values only, as `schemas/results/<command>.schema.json` describes them.
        messages: in the order in which they matter.
        exit_code: 0 done or healthy; 1 a problem, drift or changes waiting; 2 refused, and nothing written.
    """

    command: str
    data: Mapping[str, Any] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    exit_code: int = DONE
