"""Results for people: plain lines, coloured on a terminal. Every text from outside passes `printable` on its way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from toolsync.errors import ToolsyncError
from toolsync.masking import mask_key_shapes
from toolsync.render.folding import cells
from toolsync.render.screen import Line, sentence
from toolsync.result import Message, Result

if TYPE_CHECKING:
    from toolsync.causes import Language

_STYLES = {"note": "", "warning": "look", "problem": "bad"}


def lines(result: Result) -> Iterator[Line]:
    """The result for people."""
    if result.command in _VIEWS:
        module, view = _VIEWS[result.command]
        yield from getattr(import_module(f"toolsync.render.{module}"), view)(result.data)
    yield from message_lines(result.messages, result.data.get("language", "en"))


def message_lines(messages: Iterable[Message], language: Language = "en") -> Iterator[Line]:
    """The messages, each once, with their hints."""
    for message in dict.fromkeys(messages):
        word = "" if message.level == "note" else _mark(message.level, language)
        yield sentence(f"{word}{mask_key_shapes(message.text)}", _STYLES[message.level])
        if message.hint:
            yield sentence(f"    {mask_key_shapes(message.hint)}")


def error_lines(error: ToolsyncError, language: Language = "en") -> Iterator[Line]:
    """An error for people: what, then what to do."""
    mark, hint = _mark("error", language), _mark("hint", language)
    indent = cells(mark)
    first, *rest = mask_key_shapes(error.message).splitlines() or [""]
    yield sentence(f"{mark}{first}", "bad", indent=indent)
    yield from (sentence(f"{' ' * indent}{line}", "bad", indent=indent) for line in rest)
    if error.hint:
        yield sentence(f"  {hint}{mask_key_shapes(error.hint)}", indent=2 + cells(hint))


def _mark(kind: str, language: Language) -> str:
    """The word that a line begins with; the English one is not looked up, for most runs say no other."""
    if language == "en":
        return f"{kind}: "
    from toolsync.causes import words

    return words(language)["marks"][kind]


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
    "ping": ("answering", "ping_lines"),
    "profile list": ("inventory", "profiles_lines"),
    "profile show": ("inventory", "facts_lines"),
    "schema": ("inventory", "schema_lines"),
    "status": ("inventory", "status_lines"),
    "tools": ("inventory", "tools_lines"),
    "undo": ("undertaking", "undo_lines"),
    "uninstall": ("undertaking", "uninstall_lines"),
}
"""What a command's data are made lines by: a module beside this one, which no other command needs, and its function."""
