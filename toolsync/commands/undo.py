"""`undo`: every value goes back to what the user had; what they changed since stays, and is named."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from toolsync import disk
from toolsync import memory as memories
from toolsync.commands.apply import plan_messages
from toolsync.commands.describe import described_file
from toolsync.commands.keys.earlier import coming_back
from toolsync.commands.orphaned import orphaned
from toolsync.commands.writing import forgetting
from toolsync.commands.writing.carry import carry_out, stop_at_unwritable
from toolsync.commands.writing.recovering import recovered
from toolsync.errors import DocumentError, FileError, PlanRefusedError, SecretError, StoreError, ToolsyncError
from toolsync.planning.fitting import remembered_tools
from toolsync.planning.plans import Plan, plan_undo
from toolsync.remembered import Memory
from toolsync.result import Message, Result
from toolsync.session import Session


def plan(session: Session, tools: Sequence[str]) -> Plan:
    """What `undo` would do, an interrupted one ended first. See `plan_undo` and `stop_at_unwritable` for the errors.

    All or none: where one tool cannot be given back, the error says which can.
    """
    news = recovered(session)
    try:
        planned = _planned(session, tools)
    except _STOPPED as error:
        rest = _possible(session, tools or sorted(remembered_tools(_memory(session))))
        if rest:
            error.hint = f"{error.hint} `{shlex.join(('toolsync', 'undo', *rest))}` gives the rest back.".strip()
        raise
    return replace(planned, asides=(*news, *planned.asides))


_STOPPED = (DocumentError, FileError, PlanRefusedError, SecretError, StoreError)


def _planned(session: Session, tools: Sequence[str]) -> Plan:
    planned = plan_undo(session, tools)
    stop_at_unwritable(planned)
    return planned


def _possible(session: Session, tools: Sequence[str]) -> Sequence[str]:
    """Those of the tools that can be given back together; none where there is but one."""
    alone = [tool for tool in tools if len(tools) > 1 and _passes(session, [tool])]
    return alone if not alone or _passes(session, alone) else alone[:1]


def _passes(session: Session, tools: Sequence[str]) -> bool:
    try:
        _planned(session, tools)
    except ToolsyncError:
        return False
    return True


def _memory(session: Session) -> Memory:
    return memories.read(memories.path_in(session.state))


def messages(session: Session, planned: Plan) -> tuple[Message, ...]:
    """What a person should know before it is carried out."""
    return (*told(session, planned), *_still_asking(session, planned))


def told(session: Session, planned: Plan) -> tuple[Message, ...]:
    """The same without the files that ask for a key even then, for who lists what stays."""
    return (*plan_messages(session, planned), *coming_back(session, planned))


def _still_asking(session: Session, planned: Plan) -> Iterator[Message]:
    """What was applied while nobody remembered that our lines stood there is, for undo, its user's own text."""
    is_all = remembered_tools(planned.memory) <= {one.tool.name for one in planned.tools}
    given = {file.path for file in planned.files}
    for path, said in orphaned(session, planned, ()):
        if is_all or str(disk.resolve(path)) in given:
            yield Message("warning", f"{session.shown(path)}: {said}")


def execute(session: Session, planned: Plan) -> Result:
    """Give everything back, and remove from the keyring what nobody needs then. See `give_back` for the errors."""
    asking = tuple(_still_asking(session, planned))
    given = give_back(session, planned)
    return replace(given, messages=(*given.messages, *asking, *forgetting.tidied(session)))


def give_back(session: Session, planned: Plan) -> Result:
    """Give everything back.

    Raises:
        ChangedError: a file changed since it was planned, and nothing was written.
        FileError, TransactionError, SecretError: the files cannot be written, and nothing was.
    """
    said = told(session, planned)
    if not planned.is_nothing:
        carry_out(session, planned, planned.memory)
    changed = {change.tool for file in planned.everything if file.is_change for change in file.changes}
    given = (one.tool for one in planned.tools if one.tool.name in changed and one.tool.reload)
    notes = tuple(Message("note", f"{tool.title}: {tool.reload}") for tool in given)
    data = {
        "files": [described_file(session, file, planned.memory.key) for file in planned.everything],
        "written": sum(file.is_change for file in planned.everything),
    }
    return Result("undo", data, (*said, *notes))
