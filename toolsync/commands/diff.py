"""`diff`: what `apply` would change, and nothing written."""

from __future__ import annotations

from toolsync.commands.apply import described, plan_messages
from toolsync.planning.guarding import exposed
from toolsync.planning.plans import Wish, plan_apply
from toolsync.result import DONE, PROBLEM, REFUSED, Result
from toolsync.session import Session


def diff(session: Session, wish: Wish) -> Result:
    """The plan, shown; exit code 1 when changes wait. See `plan_apply` for the errors."""
    planned = plan_apply(session, wish)
    messages = (*plan_messages(session, planned), *exposed(session, planned.files))
    waiting = any(file.is_change for file in planned.files) or any(message.level == "problem" for message in messages)
    exit_code = PROBLEM if waiting else DONE
    if any(skipped.is_asked for skipped in planned.skipped):
        exit_code = REFUSED
    return Result("diff", described(session, planned), messages, exit_code)
