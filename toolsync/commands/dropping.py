"""Before an apply: a field of the user's own for which a tool will take nothing of the file, ours included."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolsync import document
from toolsync.document.keypath import spell
from toolsync.plan import FilePlan
from toolsync.planning.plans import Plan
from toolsync.result import Message
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.tool.breach import breach_of


def dropped(session: Session, planned: Plan) -> Iterator[Message]:
    """Each file that would be written, or is already, and of which its tool takes nothing.

    It is written all the same, for newer versions of a tool may take more. That the installed one does not is a problem
    where it was tried.
    """
    for one in planned.tools:
        strict = one.tool.strict
        if strict is None or one.delivery is None:
            continue
        rows = {(one.tool.name, layer.overlay) for layer in one.tool.layers if layer.name in strict.layers}
        for file in planned.files:
            if file.after is not None and not file.container and rows & file.edits.keys():
                yield from _of(session, one.tool, file, file.after)


def _of(session: Session, tool: Tool, file: FilePlan, after: str) -> Iterator[Message]:
    parsed = document.parse(after.encode(), file.format)
    assert tool.strict is not None  # noqa: S101  else nobody asks
    if not isinstance(parsed.data, Mapping) or breach_of(tool.strict, parsed.data) is None:
        return
    from toolsync.commands.pinging import spoken
    from toolsync.doctor.field import line_of, wrong
    from toolsync.doctor.plain import text as plain
    from toolsync.sentence import say, tell

    is_tried = _is_tried(session, tool)
    breach = breach_of(tool.strict, parsed.data, is_of_kind=not is_tried)
    if breach is None:
        return
    setting, place = plain(spell(breach.path)), f"{session.shown(file.path)}:{line_of(parsed, breach.path)}"
    said = say("at", place=place, said=wrong(breach, setting, tool.title))
    nothing = say("reads_nothing" if is_tried else "may_read_nothing", called=tool.title)
    hint = say("write_field" if breach.is_missing else "mend_field", setting=setting, place=place)
    told = spoken(session)
    text = tell(say("and_so", first=said, second=nothing), told)
    yield Message("problem" if is_tried else "warning", text, tell(hint, told))


def _is_tried(session: Session, tool: Tool) -> bool:
    """Whether the installed version is one of which all rules are known to hold."""
    from toolsync.doctor.client import found, version

    environ = session.places.environ
    files = (found(name, environ) for name in tool.commands[:1])
    return any(tool.strict and re.search(tool.strict.version, version(file, environ)) for file in files if file)
