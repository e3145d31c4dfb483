"""Results for people: plain lines, coloured on a terminal. Every text from outside passes `printable` on its way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module

from toolsync.commands.result import Message, Result
from toolsync.errors import ToolsyncError
from toolsync.masking import mask_key_shapes
from toolsync.render.screen import Line, sentence

_MARKS = {"note": ("", ""), "warning": ("warning: ", "look"), "problem": ("problem: ", "bad")}


def lines(result: Result) -> Iterator[Line]:
    """The result for people."""
    if result.command in _VIEWS:
        module, view = _VIEWS[result.command]
        yield from getattr(import_module(f"toolsync.render.{module}"), view)(result.data)
    yield from message_lines(result.messages)


def message_lines(messages: Iterable[Message]) -> Iterator[Line]:
    """The messages, each once, with their hints."""
    for message in dict.fromkeys(messages):
        word, style = _MARKS[message.level]
        yield sentence(f"{word}{mask_key_shapes(message.text)}", style)
        if message.hint:
            yield sentence(f"    {mask_key_shapes(message.hint)}")


def error_lines(error: ToolsyncError) -> Iterator[Line]:
    """An error for people: what, then what to do."""
    first, *rest = mask_key_shapes(error.message).splitlines() or [""]
    yield sentence(f"error: {first}", "bad", indent=7)
    yield from (sentence(f"       {line}", "bad", indent=7) for line in rest)
    if error.hint:
        yield sentence(f"  hint: {mask_key_shapes(error.hint)}", indent=8)


_VIEWS: Mapping[str, tuple[str, str]] = {
    "apply": ("undertaking", "apply_lines"),
    "bench compare": ("contrast", "comparison_lines"),
    "bench list": ("measurement", "list_lines"),
    "bench report": ("page", "report_lines"),
    "bench run": ("measurement", "run_lines"),
    "bench show": ("measurement", "run_lines"),
    "check": ("leakage", "leakage_lines"),
    "diff": ("undertaking", "plan_lines"),
    "doctor": ("examination", "examination_lines"),
    "explain": ("explanation", "explanation_lines"),
    "key list": ("inventory", "keys_lines"),
    "key rotate": ("undertaking", "rotated_lines"),
    "key uses": ("inventory", "uses_lines"),
    "models": ("inventory", "models_lines"),
    "ping": ("undertaking", "ping_lines"),
    "profile list": ("inventory", "profiles_lines"),
    "profile show": ("inventory", "facts_lines"),
    "schema": ("inventory", "schema_lines"),
    "status": ("inventory", "status_lines"),
    "tools": ("inventory", "tools_lines"),
    "undo": ("undertaking", "undo_lines"),
    "uninstall": ("undertaking", "uninstall_lines"),
}
"""What a command's data are made lines by: a module beside this one, which no other command needs, and its function."""
