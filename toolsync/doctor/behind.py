"""What of the profile has changed since the tool was set: its file is as toolsync wrote it, the profile says else."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync.doctor.checks.saying import address, place, same, text
from toolsync.doctor.elsewhere import elsewhere
from toolsync.doctor.look import Look
from toolsync.doctor.printing import printing
from toolsync.doctor.written import is_written
from toolsync.sentence import Text, say
from toolsync.trace import Answer


def behind(look: Look) -> Iterator[Answer]:
    """The answers, as the tool has them, that another `apply` would change.

    Args:
        look: the program.
    """
    memory, profile = look.world.memory, look.world.profile
    if profile is None or memory.applied.get(look.tool.name) != profile.name or _is_of_elsewhere(look):
        return
    for question, want in look.wanted.items():
        answer = look.found.get(question)
        if answer is not None and not same(question, answer.value, want) and is_written(look, answer):
            yield answer


def _is_of_elsewhere(look: Look) -> bool:
    """Whether the tool was set by another profile file, so that its profile is none of those here."""
    return any(elsewhere(look, printing(look, one)) for one in look.effective.credentials)


def told(look: Look, answer: Answer) -> Text:
    """What the profile says now, and what the tool has."""
    want, profile = look.wanted[answer.question], look.world.profile
    shown = address if answer.question == "base_url" else text
    return say(
        "changed_since",
        profile=profile.name if profile is not None else "",
        called=look.called,
        want=shown(want),
        place=place(look, look.where(answer)),
        now=shown(answer.value),
    )
