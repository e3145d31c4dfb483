"""`tools`: what toolsync knows of each tool, and which of them are on this machine."""

from __future__ import annotations

from typing import Any

from toolsync import registry
from toolsync.errors import TemplateError
from toolsync.paths import candidates
from toolsync.planning import aside
from toolsync.planning.stores import has_its_store
from toolsync.result import DONE, PROBLEM, Message, Result
from toolsync.session import Session
from toolsync.tool import FileRow, Tool


def tools(session: Session) -> Result:
    """Every known tool; those of the user's own whose templates are wrong are named."""
    known = registry.tools(session.config.parent)
    problems = tuple(Message("problem", one.text, one.hint) for one in aside.broken(known))
    data = {"tools": [_described(session, tool) for tool in known.values()]}
    return Result("tools", data, problems, PROBLEM if problems else DONE)


def _described(session: Session, tool: Tool) -> dict[str, Any]:
    return {
        "tool": tool.name,
        "title": tool.title,
        "installed": registry.is_installed(tool, session.places) and has_its_store(session, tool),
        "users_own": tool.is_users_own,
        "speaks": list(tool.speaks),
        "key_ways": list(tool.key),
        "holds": list(tool.holds),
        "files": list(dict.fromkeys(_file(session, row) for row in tool.files)),
        "reload": tool.reload,
    }


def _file(session: Session, row: FileRow) -> str:
    if row.each:
        return f"<{row.each}> of the profile"
    try:
        return session.shown(candidates(row.path, session.places)[0])
    except TemplateError:
        return row.path[-1]
