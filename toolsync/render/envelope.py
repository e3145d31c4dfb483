"""The one JSON object that every command says with `--json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolsync.errors import InterruptedRunError, PingFailedError, ToolsyncError
from toolsync.masking import mask_key_shapes, masked_data
from toolsync.result import REFUSED, Message


def envelope(
    command: str, exit_code: int, data: Mapping[str, Any], messages: Sequence[Message], error: ToolsyncError | None
) -> str:
    """The one JSON object that stdout holds with `--json`, masked."""
    whole = enveloped(command, exit_code, data, messages, error)
    return json.dumps(masked_data(whole), ensure_ascii=True, indent=2)


_NO_COMMANDS = {"toolsync", "bench", "key", "profile"}
"""What is said when no command was found; only the envelope's own schema speaks of it."""


def enveloped(
    command: str, exit_code: int, data: Mapping[str, Any], messages: Sequence[Message], error: ToolsyncError | None
) -> dict[str, Any]:
    """The envelope as data, as `schemas/results/envelope.schema.json` describes it."""
    return {
        "schema": f"toolsync/{'envelope' if command in _NO_COMMANDS else command.replace(' ', '-')}/1",
        "command": command,
        "exit_code": exit_code,
        "data": data if error is None else None,
        "messages": [{"level": one.level, "text": _said(one.text), "hint": _said(one.hint)} for one in messages],
        "errors": [_error(error)] if error else list(_refusals(command, exit_code, messages)),
    }


def _refusals(command: str, exit_code: int, messages: Sequence[Message]) -> Iterator[dict[str, str]]:
    """Why a command that has data was refused all the same: its problems."""
    kind = "PingFailedError" if command in ("ping", "models") else "PlanRefusedError"
    if exit_code == InterruptedRunError.exit_code:
        kind = "InterruptedRunError"
    for one in messages if exit_code in (REFUSED, InterruptedRunError.exit_code) else ():
        if one.level == "problem":
            yield {"type": kind, "message": _said(one.text), "hint": _said(one.hint)}


def _error(error: ToolsyncError) -> dict[str, str]:
    cause = {"cause": error.cause} if isinstance(error, PingFailedError) else {}
    return {"type": type(error).__name__, "message": _said(error.message), "hint": _said(error.hint), **cause}


def _said(sentence: str) -> str:
    """A sentence without the key that somebody wrote where a name belongs, or that a program said by mistake."""
    return mask_key_shapes(sentence)
