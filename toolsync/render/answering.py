"""Who answered a ping, and how fast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolsync.causes import Language
from toolsync.render.screen import Line
from toolsync.sentence import Text, say, tell


def ping_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """A line for each request: in the data's language, in English where they name none."""
    yield from (_ping_line(ping, data.get("language", "en")) for ping in data["pings"])


def _ping_line(ping: Mapping[str, Any], language: Language) -> Line:
    is_well = not ping["problem"]
    answered: Text = _came(ping) if is_well else str(ping["status"]) if ping["status"] else say("no_answer")
    mark, style = ("✓", "good") if is_well else ("✗", "bad")
    return Line(f"{mark} {ping['address']} ({ping['dialect']}): {tell(answered, language)}", style)


def _came(ping: Mapping[str, Any]) -> Text:
    status, model, milliseconds = (str(ping[name]) for name in ("status", "model", "milliseconds"))
    if ping["output_tokens"] is None:
        return say("ping_answered", status=status, model=model, milliseconds=milliseconds)
    sent, got = str(ping["input_tokens"]), str(ping["output_tokens"])
    return say("ping_counted", status=status, model=model, milliseconds=milliseconds, sent=sent, got=got)
