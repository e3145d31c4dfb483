"""A plan shown, asked about and carried out, whatever it is a plan of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar

from toolsync.cli.context import ask, run
from toolsync.errors import ChangedError
from toolsync.render import screen
from toolsync.render.screen import Line
from toolsync.result import Message, Result
from toolsync.session import Session

_TRIES = 3
"""How often a plan is made anew because a file changed under it."""


class Planned(Protocol):
    """What is asked about."""

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to do, and so nothing to ask."""
        ...


P = TypeVar("P", bound=Planned)


def shown_and_done(
    session: Session,
    planned: P,
    plan: Callable[[], P],
    execute: Callable[[P], Result],
    tell: Callable[[P], tuple[Message, ...]],
    *,
    yes: bool,
    question: str = "Write this?",
) -> Result:
    """Show, ask, execute; a plan that a file changed under is made again, and asked about again.

    Args:
        session: the machine.
        planned: the plan.
        plan: makes it again.
        execute: carries it out.
        tell: shows it; what it said in messages is not said twice.
        yes: whether the answer is known already.
        question: what is asked.

    Raises:
        DeclinedError: the person says no, or nobody is there.
        ChangedError: something changed under every plan.
        ToolsyncError: whatever planning and executing raise.
    """
    for attempt in range(1, _TRIES + 1):
        told = () if run.json else tell(planned)
        if not planned.is_nothing:
            ask(session, question, yes=yes)
        try:
            result = execute(planned)
        except ChangedError as error:
            if attempt == _TRIES:
                raise _restless(error) from error
            screen.stderr().show([Line(f"{error.message}; planning again", "look")])
            session.forget_keys()
            planned = plan()
        else:
            return replace(result, messages=tuple(one for one in result.messages if one not in told))
    raise AssertionError  # the loop returns or raises


def _restless(error: ChangedError) -> ChangedError:
    return ChangedError(
        f"{error.message}; so it was at each of {_TRIES} tries",
        hint="Something keeps writing there: close it for a moment, and run the command again.",
    )
