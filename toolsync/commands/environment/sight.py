"""What the programs of a tool make of their files in an environment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolsync import disk, document
from toolsync.commands.environment.variables import Variable
from toolsync.doctor.layers import own_files
from toolsync.doctor.references import expanded
from toolsync.document import MISSING, Document, parse_path
from toolsync.document import data as _data
from toolsync.errors import DocumentError
from toolsync.facts import Facts
from toolsync.overlay import edits
from toolsync.plan import FilePlan
from toolsync.planning.delivery import delivery
from toolsync.planning.tracing import layer_trees
from toolsync.profile import Profile
from toolsync.session import Session
from toolsync.tool import Layer, Reader, Tool
from toolsync.trace import Answer, Tree, answers
from toolsync.trace.conflict import Conflict, conflicts
from toolsync.trace.credential import looks_at_variables
from toolsync.value import frozen


@frozen
class Seen:
    """What one program of a tool makes of its files: its answers, where they come from, and which are not ours.

    Attributes:
        own: the files that `apply` writes to, as they are spelled and where they really are.
    """

    reader: Reader
    own: Collection[str]
    trees: Sequence[Tree]
    answers: Mapping[str, Answer]
    conflicts: Sequence[Conflict]


def seen_by(session: Session, profile: Profile, tool: Tool, told: Mapping[str, str], wish: Facts) -> Iterator[Seen]:
    """What each program that people start makes of its files, each set of them, in that environment."""
    seen = replace(session, places=replace(session.places, environ=told))
    for files in own_files(session, tool, profile.tool.get(tool.name, {}).get("paths", ())):
        plans = {overlay: _as_it_is(tool, overlay, path, wish) for overlay, path in files.items() if path is not None}
        trees = layer_trees(seen, tool, plans)
        edits_of = {overlay: plan.edits.get((tool.name, overlay), ()) for overlay, plan in plans.items()}
        own = {*(plan.path for plan in plans.values()), *(str(path) for path in files.values() if path is not None)}
        for reader in started_here(tool):
            found = {name: _expanded(tool, answer, told) for name, answer in answers(reader, trees, told).items()}
            yield Seen(reader, own, trees, found, conflicts(tool.request, reader, found, trees, edits_of))


def started_here(tool: Tool) -> list[Reader]:
    """The programs of the tool that people start by a command, not from a desktop."""
    return [reader for reader in tool.readers if not tool.processes[reader.name].is_desktop] or list(tool.readers)


def _expanded(tool: Tool, answer: Answer, told: Mapping[str, str]) -> Answer:
    """The answer with the variables filled in that its file names, as the tool does it: ours among them."""
    return replace(answer, value=expanded(answer.value, tool.request.references, told)[0]) if answer.file else answer


def all_ways(session: Session, profile: Profile, tool: Tool, facts_of: Callable[..., Facts]) -> Facts:
    """The facts with every way of the key that is ours: a file that asks `key print` is as good as the variable."""
    given = facts_of(session, profile, tool)
    if "command" not in tool.key:
        return given
    alone, variable = replace(tool, key={"command": tool.key["command"]}), str(given["key_variable"].value)
    found = delivery(session, alone, replace(profile, tool={}), consent=False, key_variable=variable)
    return given if isinstance(found, str) else {**found.facts, **given}


def _as_it_is(tool: Tool, overlay: str, path: Path, wish: Facts) -> FilePlan:
    """The file as if it were planned to stay: with what we would want of it, to be held against what stands there."""
    row = next(row for row in tool.files if row.overlay == overlay)
    snapshot = disk.read(path)
    parsed = _parsed(snapshot.raw, row.format, path) if snapshot.raw is not None else None
    return FilePlan(
        path=str(snapshot.real),
        format=row.format,
        before=parsed.text if parsed else None,
        after=parsed.text if parsed else None,
        edits={(tool.name, overlay): edits(row.document.data, wish, now="")},
        fault=parsed.fault if parsed else None,
    )


def _parsed(raw: bytes, format: str, path: Path) -> Document:
    try:
        return document.parse(raw, format)
    except DocumentError as error:
        raise error.at(disk.shown(path)) from error


def counts(reader: Reader, variable: Variable, found: Mapping[str, Answer], trees: Sequence[Tree]) -> bool:
    """Whether the reader takes the variable, as things stand."""
    mounts = [index for index, tree in enumerate(trees) if tree.layer.kind == "environment"]
    if mounts:
        at = mounts[0]
        return not any(_sets(tree, trees[at].layer, variable.name) for tree in trees[at + 1 :])
    if not variable.is_secret or not looks_at_variables(reader):
        return True
    return any(answer.slot == f"${variable.name}" for answer in found.values())


def _sets(tree: Tree, environment: Layer, name: str) -> bool:
    """Whether a layer above the environment has the variable, were it empty."""
    path, mount = (*parse_path(environment.at), name), parse_path(tree.layer.at) if tree.layer.at else ()
    return path[: len(mount)] == mount and _data.get(tree.data, path[len(mount) :]) is not MISSING
