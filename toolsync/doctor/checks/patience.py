"""How long the tool waits: too short for long answers, or in the wrong unit."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync.doctor.checks.saying import place, values
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Finding

LEAST_SECONDS = 120
"""Long answers, and models that think before they speak, take as long."""
_MOST_SECONDS = 6 * 3600
"""Nobody waits longer: milliseconds are meant."""


def timeout(look: Look) -> Iterator[Finding]:
    """A limit that somebody set below two minutes, or that only another unit explains."""
    question = next((name for name in ("timeout_seconds", "timeout_ms") if look.effective.wheres.get(name)), "")
    seconds = look.effective.timeout_seconds
    where = look.effective.wheres.get(question)
    if where is None or not where.layer or seconds is None:
        return
    said, unit = look.found[question].value, "seconds" if question == "timeout_seconds" else "milliseconds"
    at = place(look, where)
    certainty: Certainty = "likely"
    if unit == "milliseconds" and seconds < 1 and seconds * 1000 >= 1:
        lines = (f"{at} says {said}, which it takes for milliseconds: it waits {seconds:g} s",)
        certainty = "sure" if float(said).is_integer() and float(said) <= 600 else "likely"  # noqa: PLR2004  10 minutes
        yield Finding(
            "tool_timeout_too_short",
            certainty,
            lines,
            values(look, where, seconds=f"{seconds:g}", needed=str(LEAST_SECONDS)),
            where,
        )
    elif seconds < LEAST_SECONDS:
        lines = (f"{at}: it waits {seconds:g} s, and long answers take up to {LEAST_SECONDS} s and more",)
        yield Finding(
            "tool_timeout_too_short",
            certainty,
            lines,
            values(look, where, seconds=f"{seconds:g}", needed=str(LEAST_SECONDS)),
            where,
        )
    elif seconds > _MOST_SECONDS:
        meant = "milliseconds are meant" if unit == "seconds" else "microseconds are meant"
        lines = (f"{at} says {said}, which it takes for {unit}: that is {seconds / 3600:.0f} hours, so {meant}",)
        yield Finding(
            "timeout_unit", "sure", lines, values(look, where, seconds=f"{seconds:g}", needed=str(LEAST_SECONDS)), where
        )
