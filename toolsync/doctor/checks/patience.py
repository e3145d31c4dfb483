"""How long the tool waits: too short for long answers, or in the wrong unit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolsync.doctor.checks.saying import place, values
from toolsync.doctor.effective import NUMBER
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Finding
from toolsync.sentence import Text, say

LEAST_SECONDS = 120
"""Long answers, and models that think before they speak, take as long."""
_MOST_SECONDS = 6 * 3600
"""Nobody waits longer: milliseconds are meant."""
_LONGEST_MEANT = 600
"""A number of milliseconds that is a number of seconds, ten minutes at most."""


def timeout(look: Look) -> Iterator[Finding]:
    """A limit that somebody set below two minutes, or that only another unit explains."""
    question = next((name for name in ("timeout_seconds", "timeout_ms") if look.effective.wheres.get(name)), "")
    seconds, where = look.effective.timeout_seconds, look.effective.wheres.get(question)
    if where is None or not where.layer or seconds is None or not re.fullmatch(NUMBER, look.found[question].value):
        return
    said, unit = look.found[question].value, "seconds" if question == "timeout_seconds" else "milliseconds"
    found = values(look, where, seconds=f"{seconds:g}", needed=str(LEAST_SECONDS))
    for cause, certainty, text in _judged(float(said), unit, seconds):
        yield Finding(cause, certainty, (say("at", place=place(look, where), said=text),), found, where)


def _judged(said: float, unit: str, seconds: float) -> Iterator[tuple[str, Certainty, Text]]:
    if unit == "milliseconds" and seconds < 1 <= said:
        certainty: Certainty = "sure" if said <= _LONGEST_MEANT else "likely"
        text = say("waits_milliseconds", number=f"{said:g}", seconds=f"{seconds:g}")
        yield "tool_timeout_too_short", certainty, text
    elif seconds < LEAST_SECONDS:
        text = say("waits_too_short", seconds=f"{seconds:g}", needed=str(LEAST_SECONDS))
        yield "tool_timeout_too_short", "likely", text
    elif seconds > _MOST_SECONDS:
        name = "waits_hours" if unit == "seconds" else "waits_hours_of_milliseconds"
        yield "timeout_unit", "sure", say(name, number=f"{said:.0f}", hours=f"{seconds / 3600:.0f}")
