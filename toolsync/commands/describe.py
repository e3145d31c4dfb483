"""Plans as data that may be shown: secrets stand as fingerprints, paths as people write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolsync.difference import shown_value, unified
from toolsync.document.keypath import spell
from toolsync.masking import printable
from toolsync.plan import Change, FilePlan
from toolsync.planning.guarding import readable, uncovered
from toolsync.planning.plans import Plan, Skipped, ToolPlan
from toolsync.planning.stores import Address, lost_rows
from toolsync.result import Level, Message
from toolsync.secret.vault import Entry
from toolsync.session import Session


def described_file(session: Session, file: FilePlan, key: bytes) -> dict[str, Any]:
    """A file plan: its path, what happens to it, each change, and the masked diff's lines."""
    return {
        "path": file.path,
        "shown": shown(session, file),
        "row": session.shown(str(Address.parse(file.path).row)) if file.container else "",
        "action": _action(file),
        "tools": sorted({tool for tool, _ in file.edits} | {change.tool for change in file.changes}),
        "changes": [_described_change(change, file, key) for change in file.changes],
        "diff": unified(file, shown(session, file), key),
    }


def shown(session: Session, file: FilePlan) -> str:
    """A file as people write it; an entry of another program's by its name."""
    return printable(file.path) if isinstance(file.path, Entry) else session.shown(file.path)


def _action(file: FilePlan) -> str:
    if not file.is_change:
        return "keep"
    if file.before is None:
        return "create"
    return "remove" if file.after is None else "change"


def _described_change(change: Change, file: FilePlan, key: bytes) -> dict[str, Any]:
    return {
        "tool": change.tool,
        "path": printable(spell(change.path)),
        "before": shown_value(change, change.before, key, is_ours=change.path in file.open),
        "after": shown_value(change, change.after, key, is_ours=change.harmless),
    }


def described_tool(tool: ToolPlan, session: Session) -> dict[str, Any]:
    """What one tool gets: how its key reaches it, which files, and what a person must do then."""
    return {
        "tool": tool.tool.name,
        "title": tool.tool.title,
        "key_way": tool.delivery.way if tool.delivery else "",
        "key": tool.delivery.explained if tool.delivery else "",
        "files": [session.shown(file) for file in tool.files],
        "reload": tool.tool.reload,
    }


def skipped_message(skipped: Skipped, if_copy: Level, otherwise: Level) -> Message:
    """Why a tool is left out; `if_copy` is how much it matters that it holds a copy of the key that it must not."""
    if skipped.holds_copy:
        return Message(if_copy, f"{skipped.tool.title}: {skipped.reason}", skipped.hint)
    return Message(otherwise, f"{skipped.tool.title} is left out: {skipped.reason}", skipped.hint)


def _is_lost(file: FilePlan) -> bool:
    """Whether a file of the user's, in which toolsync set values, is not there any more, and not wanted either."""
    known = file.remembered
    is_there = file.before is not None or file.after is not None or bool(file.container)
    return not is_there and known is not None and not known.created and file.memory is None


def left_messages(session: Session, plan: Plan) -> Iterator[Message]:
    """What an undo, or a value no longer wanted, could not give back, with the reason; and what lies open."""
    for file in plan.everything:
        for left in file.left:
            text = f"{shown(session, file)}: {printable(spell(left.path))}: {left.reason}"
            yield Message("warning", text)
        if file.stays_shut and not file.container and file.remembered:
            told = f"{shown(session, file)} stays shut to others: what was changed there may be a key"
            yield Message(
                "warning", told, f"Before apply its mode was {file.remembered.mode:04o}: `chmod` gives it back."
            )
    for file in plan.everything:
        if _is_lost(file):
            text = f"{shown(session, file)} is gone: what undo would give back there is forgotten"
            yield Message("warning", text)
    for path, rows in lost_rows(plan.files).items():
        text = f"{session.shown(path)} is not there: our rows in it ({', '.join(rows)}) are forgotten"
        yield Message("warning", text, "If it comes back, remove them there, or apply and undo once more.")
    yield from uncovered(session, plan.files)
    yield from readable(session, plan.files)
