"""What is no trouble as far as doctor saw, and may be one where the tool does what doctor does not."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync.doctor.behind import behind, told
from toolsync.doctor.checks.saying import place, text, values
from toolsync.doctor.command import applied, commands
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Fix
from toolsync.doctor.withheld import runs, withheld
from toolsync.sentence import say


def left_out(look: Look) -> Iterator[Finding]:
    """The variables of a project's file without which we run the command for the key, and with which its tool does."""
    where, command = next(runs(look), (None, None))
    if where is None or command is None:
        return
    others = withheld(look, is_own=command.is_own)
    if others:
        names = ", ".join(text(name) for name in sorted(others))
        line = say("left_out", place=place(look, where), names=names, called=look.called)
        first = others[min(others)]
        fix = Fix(say("run_with_them", called=look.called, place=place(look, first)))
        yield Finding("key_helper_failed", "open", (line,), where=first, fix=fix, weight="info")


def changed(look: Look) -> Iterator[Finding]:
    """What the profile says otherwise since the tool was set: it works, with what it has."""
    answers = tuple(behind(look))
    if answers:
        where, fix = look.where(answers[0]), commands(applied(look.tool.name))
        lines = tuple(told(look, answer) for answer in answers)
        yield Finding("config_drift", "sure", lines, values(look, where), where, fix, weight="info")
