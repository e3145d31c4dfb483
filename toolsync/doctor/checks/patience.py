"""How long the tool waits: too short for long answers, or in the wrong unit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolsync.doctor.checks.saying import place, values
from toolsync.doctor.effective import NUMBER
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Finding

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
        yield Finding(cause, certainty, (f"{place(look, where)} {text}",), found, where)


def _judged(said: float, unit: str, seconds: float) -> Iterator[tuple[str, Certainty, str]]:
    if unit == "milliseconds" and seconds < 1 <= said:
        certainty: Certainty = "sure" if said <= _LONGEST_MEANT else "likely"
        text = f"says {said:g}, which the tool takes for milliseconds: it waits {seconds:g} s"
        yield "tool_timeout_too_short", certainty, text
    elif seconds < LEAST_SECONDS:
        text = f"lets it wait {seconds:g} s, and long answers take up to {LEAST_SECONDS} s and more"
        yield "tool_timeout_too_short", "likely", text
    elif seconds > _MOST_SECONDS:
        meant = "milliseconds" if unit == "seconds" else "microseconds"
        text = (
            f"says {said:.0f}, which the tool takes for {unit}: that is {seconds / 3600:.0f} hours; {meant} are meant"
        )
        yield "timeout_unit", "sure", text
