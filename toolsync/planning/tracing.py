"""The trace over planned texts: what would keep a tool from using what we write, said before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolsync import disk, document
from toolsync.document import Document, Fault, KeyPath
from toolsync.document.keypath import spell
from toolsync.errors import DocumentError, FileError, PlanRefusedError
from toolsync.masking import looks_secret, on_one_line
from toolsync.overlay import Edit
from toolsync.plan import FilePlan
from toolsync.search.placing import placed
from toolsync.session import Session
from toolsync.tool import Layer, Reader, Tool
from toolsync.trace import Answer, Tree, answers, heeded, refused
from toolsync.trace.conflict import Conflict, conflicts
from toolsync.trace.credential import finds_no_key
from toolsync.trace.version import spoken_of
from toolsync.value import frozen


@frozen
class Notice:
    """Something a person should know about one tool.

    Attributes:
        tool: the tool's title.
        text: what.
        hint: what to do about it.
        is_problem: whether the tool will not use what is written: `apply` then ends with 1.
    """

    tool: str
    text: str
    hint: str = ""
    is_problem: bool = False


NOWHERE: Mapping[str, FilePlan] = {}
"""Every plan stands for the file that it is written to."""


@frozen
class _Seen:
    """A layer's file as its tool sees it."""

    tree: Tree
    document: Document | None = None
    fault: Fault | None = None


def traced(
    session: Session, tool: Tool, plans: Mapping[str, FilePlan], elsewhere: Mapping[str, FilePlan] = NOWHERE
) -> list[Notice]:
    """What keeps `tool` from using what is planned.

    Args:
        session: where its layers are read.
        tool: whose trace.
        plans: the plan of each of its rows, by overlay.
        elsewhere: of plans that stand for another file than they are written to, which one, by its real path.

    Raises:
        PlanRefusedError: a credential that is not ours would reach our gateway.
    """
    planned = {plan.path: plan for plan in plans.values()} | dict(elsewhere)
    seen = [_seen(session, layer, path, plans, planned) for layer, path in placed(tool.layers, session.places)]
    faults = [_fault_notice(session, tool, plan) for plan in plans.values() if plan.fault is not None]
    if faults:
        return faults  # the tool reads nothing of the file: every other answer would follow from that
    trees = heeded([one.tree for one in seen], session.places.around)
    seen = [replace(one, tree=tree) for one, tree in zip(seen, trees, strict=True)]
    edits = {overlay: _edits(plan, tool, overlay) for overlay, plan in plans.items()}
    notices = [
        _refused_notice(session, tool, one, path)
        for one in seen
        if one.document is not None
        for path in refused(one.tree.layer, one.tree.data)
    ]
    for reader in spoken_of(tool.readers, lambda reader: answers(reader, trees, session.places.environ)):
        found = answers(reader, trees, session.places.environ)
        for conflict in conflicts(tool.request, reader, found, trees, edits):
            if conflict.is_foreign_credential:
                raise _refusal(session, tool, reader, conflict, seen)
            notices.append(_conflict_notice(session, tool, reader, conflict, seen))
        if len(tool.readers) > 1 and finds_no_key(reader, found):
            notices.append(keyless_notice(tool, reader))
    return notices


def layer_trees(session: Session, tool: Tool, plans: Mapping[str, FilePlan]) -> list[Tree]:
    """The tool's layers with the planned texts in them, lowest first; see `traced` for the arguments."""
    planned = {plan.path: plan for plan in plans.values()}
    trees = [_seen(session, layer, path, plans, planned).tree for layer, path in placed(tool.layers, session.places)]
    return heeded(trees, session.places.around)


def _edits(plan: FilePlan, tool: Tool, overlay: str) -> Sequence[Edit]:
    return plan.edits.get((tool.name, overlay), ())


def _seen(
    session: Session, layer: Layer, path: Path | None, plans: Mapping[str, FilePlan], planned: Mapping[str, FilePlan]
) -> _Seen:
    if layer.kind == "environment":
        return _Seen(Tree(layer, dict(session.places.environ)))
    if layer.kind == "overlay":
        plan = plans.get(layer.overlay)
        if plan is None or plan.after is None or plan.fault is not None:
            return _Seen(Tree(layer, {}, plan.path if plan else ""), fault=plan.fault if plan else None)
        parsed = document.parse(plan.after.encode(), plan.format)
        return _Seen(Tree(layer, parsed.data, plan.path), parsed)
    if path is None:
        return _Seen(Tree(layer, {}))  # no variable says where it would lie
    return _seen_file(layer, path, planned)


def _seen_file(layer: Layer, path: Path, planned: Mapping[str, FilePlan]) -> _Seen:

    def parsed_of(snapshot: disk.Snapshot) -> Document | None:
        raw = snapshot.raw
        if str(snapshot.real) in planned:  # in the home folder the project's file is the user's own
            text = planned[str(snapshot.real)].after
            raw = None if text is None else text.encode()
        return None if raw is None else document.parse(raw, layer.format)

    try:
        parsed = disk.judged(disk.read(path), parsed_of)
    except (DocumentError, FileError):
        return _Seen(Tree(layer, {}, str(path)))  # what a tool cannot read sets nothing
    if parsed is None or parsed.fault is not None:
        return _Seen(Tree(layer, {}, str(path)))
    return _Seen(Tree(layer, parsed.data, str(path)), parsed)


def _fault_notice(session: Session, tool: Tool, plan: FilePlan) -> Notice:
    assert plan.fault is not None  # noqa: S101  the caller looked
    fault = plan.fault
    return Notice(
        tool.title,
        f"{tool.title} ignores the whole file {session.shown(plan.path)}:{fault.line}:{fault.column}: {fault.reason}",
        hint="Take that out of the file: until then nothing in it counts, whoever wrote it.",
        is_problem=True,
    )


def _refused_notice(session: Session, tool: Tool, one: _Seen, path: KeyPath) -> Notice:
    line, _ = (one.document.position(path) if one.document else None) or (0, 0)
    place = f"{session.shown(one.tree.file)}:{line}"
    return Notice(
        tool.title,
        f"{tool.title} does not start with `{on_one_line(spell(path))}` at {place}",
        hint="Delete it there.",
        is_problem=True,
    )


def keyless_notice(tool: Tool, reader: Reader) -> Notice:
    """What a person should know where one of a tool's programs finds no key."""
    return Notice(
        tool.title,
        f"{called(tool, reader)} will find no key: the way that is used serves others of its programs only",
        hint=f"Enter the key there by hand, or let {tool.title}'s own file hold a copy of it.",
    )


def called(tool: Tool, reader: Reader) -> str:
    """What people call the program that reads the settings, where the tool has more than one."""
    return f"{tool.title} ({reader.name})" if len(tool.readers) > 1 else tool.title


def _conflict_notice(session: Session, tool: Tool, reader: Reader, conflict: Conflict, seen: Sequence[_Seen]) -> Notice:
    answer, name = conflict.answer, called(tool, reader)
    what = {"base_url": "address", "key": "key", "x_key": "key"}.get(conflict.question, conflict.question)
    if not answer.value:
        return Notice(tool.title, f"{name} will find no {what} in what is written", is_problem=True)
    is_secret = what in ("key", "headers") or looks_secret(answer.slot)
    value = "" if is_secret else f" '{on_one_line(answer.value, limit=200)}'"
    return Notice(
        tool.title,
        f"{name} will use another {what}{value}: {_where(session, answer, seen)}",
        hint=f"{_way_out(answer, seen)}, or say `enabled = false` for {tool.name}.",
        is_problem=True,
    )


def _refusal(
    session: Session, tool: Tool, reader: Reader, conflict: Conflict, seen: Sequence[_Seen]
) -> PlanRefusedError:
    name = called(tool, reader)
    where = [_where(session, answer, seen) for answer in (conflict.answer, conflict.other) if answer is not None]
    if len(where) == 2:  # noqa: PLR2004  two answers that disagree
        text = f"{name} would send two different credentials: {where[1]}; and {where[0]}"
    elif conflict.header:
        text = f"{name} would send a key that is not this profile's, as the header {conflict.header}: {where[0]}"
    else:
        text = f"{name} would send a key that is not this profile's: {where[0]}"
    hint = f"{_way_out(conflict.answer, seen)}; a foreign key must not reach this gateway."
    return PlanRefusedError(text, hint=hint)


def _way_out(answer: Answer, seen: Sequence[_Seen]) -> str:
    """What takes the answer out of where it stands: of managed settings no user can."""
    if any(one.tree.layer.name == answer.layer and one.tree.layer.is_managed for one in seen):
        return f"Your organisation manages that file: ask who keeps it to take {_slot(answer)} out"
    return f"Take {_slot(answer)} out there"


def _slot(answer: Answer) -> str:
    return on_one_line(answer.slot, limit=200)


def _where(session: Session, answer: Answer, seen: Sequence[_Seen]) -> str:
    if not answer.file:
        return f"{_slot(answer)} of the {answer.layer or 'tool itself'}"
    line = ""
    for one in seen:
        if one.tree.file == answer.file and one.document is not None:
            position = one.document.position(answer.path)
            line = f":{position[0]}" if position else ""
    return f"{session.shown(Path(answer.file))}{line} sets {_slot(answer)}"
