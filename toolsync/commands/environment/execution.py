"""`exec`: a program with the variables that it needs, and no others, checked against what its own files say."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolsync import disk, document, registry
from toolsync.asked import asked_for
from toolsync.commands.environment.detour import stop_at_detour
from toolsync.commands.environment.launching import launch
from toolsync.commands.environment.variables import (
    Variable,
    anybodys,
    by_itself,
    demanded,
    filling,
    is_off,
    is_served,
    is_set_by_files,
    outline,
    profile_for,
    set_now,
    taken,
    takes,
    unserved,
)
from toolsync.doctor.layers import own_files
from toolsync.doctor.references import expanded
from toolsync.document import MISSING, Document, parse_path
from toolsync.document import data as _data
from toolsync.errors import DocumentError, PlanRefusedError
from toolsync.facts import Facts
from toolsync.masking import looks_secret, on_one_line
from toolsync.overlay import edits
from toolsync.plan import FilePlan
from toolsync.planning.delivery import delivery
from toolsync.planning.tracing import called, layer_trees
from toolsync.profile import Profile
from toolsync.result import Message
from toolsync.secret.reference import PASSPHRASES, needs_person
from toolsync.session import Session, this_machine
from toolsync.tool import Layer, Reader, Tool
from toolsync.trace import Answer, Tree, answers
from toolsync.trace.conflict import Conflict, conflicts
from toolsync.trace.credential import CREDENTIALS, looks_at_variables
from toolsync.value import frozen


@frozen
class Start:
    """A program that is ready to be started.

    Attributes:
        argv: the program and its arguments, as they were given.
        environ: all that it sees.
        messages: what a person should know, on stderr.
    """

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    messages: tuple[Message, ...] = ()


def start(session: Session, name: str | None, argv: Sequence[str], tool: str | None = None) -> Start:
    """What running `argv` with the profile's gateway and key takes.

    Args:
        session: the machine; its environment is what the program's is made from.
        name: the profile, or None for the one that the tool was set to, or else the active one.
        argv: the program and its arguments.
        tool: which tool the program is, where its name does not tell.

    Raises:
        ProfileError, SecretError: the profile or its key cannot be had.
        UsageError: the tool is unknown, or takes nothing from its environment.
        PlanRefusedError: by its own files it would ask another gateway, send another key, or ask for it in vain.
        DocumentError, FileError: one of those cannot be read.
    """
    known = registry.tools(session.config.parent)
    started = launch(known, argv)
    found = registry.named(known, tool) if tool else started.tool
    session = _in(session, started.folder)
    profile = profile_for(session, name, found)
    if found is None:
        return _started(session, argv, anybodys(session, profile))
    if tool and not is_set_by_files(session, profile, found):
        demanded(session, profile, found)
    if is_off(profile, found):
        return _started(session, argv, ())
    if not is_served(session, profile, found):
        return _started(session, argv, (), [Message("warning", f"{unserved(found)}: it runs as without toolsync")])
    _stop_at_silence(session, profile, found)
    variables = taken(session, profile, found) if takes(session, profile, found) else ()
    if variables:
        told = _with(session.places.environ, variables)
        stop_at_detour(session, profile, found, _started_here(found), told)
    messages, needed = _heeded(session, profile, found, variables)
    return _started(session, argv, needed, messages)


def _in(session: Session, folder: str) -> Session:
    """The machine as a program sees it that is started in another folder."""
    if not folder:
        return session
    there = this_machine(Path(os.path.realpath(session.places.project / folder)))  # as the system says where it is
    return replace(session, places=replace(session.places, project=there.project, repository=there.repository))


def _started(
    session: Session, argv: Sequence[str], variables: Sequence[Variable], messages: Sequence[Message] = ()
) -> Start:
    return Start(tuple(argv), _with(session.places.environ, variables), tuple(messages))


def _with(environ: Mapping[str, str], variables: Sequence[Variable]) -> dict[str, str]:
    """The environment with the variables in it, those that must not be set taken out."""
    names = {variable.name for variable in variables}
    kept = {name: value for name, value in environ.items() if name not in names}
    return kept | {variable.name: variable.value for variable in variables if variable.value is not None}


# What the tool's own files make of it.


def _heeded(
    session: Session, profile: Profile, tool: Tool, variables: Sequence[Variable]
) -> tuple[list[Message], list[Variable]]:
    """What is to be said, and the variables that count: one that a file hides does nothing but lie open.

    Raises:
        PlanRefusedError: see `start`.
    """
    told = _with(session.places.environ, variables)
    wish = _all_ways(session, profile, tool, filling if variables else outline)
    messages: list[Message] = []
    kept = dict.fromkeys(variables, False)
    for seen in _seen(session, profile, tool, told, wish):
        amiss: Sequence[Conflict] = seen.conflicts
        if variables:
            amiss = [one for one in amiss if not _is_given_otherwise(one, seen.answers)]
            messages += _judged(session, profile, tool, seen, amiss)
        else:
            messages += _left_alone(session, profile, tool, seen, amiss)
        for variable in variables:
            kept[variable] = kept[variable] or _counts(seen.reader, variable, seen.answers, seen.trees)
    return list(dict.fromkeys(messages)), [variable for variable, counts in kept.items() if counts]


@frozen
class _Seen:
    """What one program of a tool makes of its files: its answers, where they come from, and which are not ours.

    Attributes:
        own: the files that `apply` writes to, as they are spelled and where they really are.
    """

    reader: Reader
    own: Collection[str]
    trees: Sequence[Tree]
    answers: Mapping[str, Answer]
    conflicts: Sequence[Conflict]


def _seen(session: Session, profile: Profile, tool: Tool, told: Mapping[str, str], wish: Facts) -> Iterator[_Seen]:
    """What each program that people start makes of its files, each set of them, in that environment."""
    seen = replace(session, places=replace(session.places, environ=told))
    for files in own_files(session, tool, profile.tool.get(tool.name, {}).get("paths", ())):
        plans = {overlay: _as_it_is(tool, overlay, path, wish) for overlay, path in files.items() if path is not None}
        trees = layer_trees(seen, tool, plans)
        edits_of = {overlay: plan.edits.get((tool.name, overlay), ()) for overlay, plan in plans.items()}
        own = {*(plan.path for plan in plans.values()), *(str(path) for path in files.values() if path is not None)}
        for reader in _started_here(tool):
            found = {name: _expanded(tool, answer, told) for name, answer in answers(reader, trees, told).items()}
            yield _Seen(reader, own, trees, found, conflicts(tool.request, reader, found, trees, edits_of))


def _stop_at_silence(session: Session, profile: Profile, tool: Tool) -> None:
    """Let a tool pass that gets its key: one that asks for it itself has nobody there to type a passphrase.

    Raises:
        PlanRefusedError: it would ask in vain.
    """
    if not needs_person(profile.key) or "command" not in tool.key:
        return
    told = session.places.environ
    for seen in _seen(session, profile, tool, told, _all_ways(session, profile, tool, outline)):
        amiss = {conflict.question for conflict in seen.conflicts}
        if any(seen.answers[name].file and name not in amiss for name in CREDENTIALS & seen.answers.keys()):
            undo = f"; or `toolsync undo --tool {tool.name}`: `exec` gives it the key itself then"
            raise PlanRefusedError(
                f"{called(tool, seen.reader)} asks `toolsync key print` for the key itself, with nobody there to type "
                f"the passphrase of {profile.key}",
                hint=f"Let the profile say where the passphrase is to be had (`{profile.key}{PASSPHRASES})"
                f"{undo if by_itself(tool) else ''}.",
            )


def _expanded(tool: Tool, answer: Answer, told: Mapping[str, str]) -> Answer:
    """The answer with the variables filled in that its file names, as the tool does it: ours among them."""
    return replace(answer, value=expanded(answer.value, tool.request.references, told)[0]) if answer.file else answer


def _all_ways(session: Session, profile: Profile, tool: Tool, facts_of: Callable[..., Facts]) -> Facts:
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


def _started_here(tool: Tool) -> list[Reader]:
    """The programs of the tool that people start by a command, not from a desktop."""
    return [reader for reader in tool.readers if not tool.processes[reader.name].is_desktop] or list(tool.readers)


def _left_alone(
    session: Session, profile: Profile, tool: Tool, seen: _Seen, found: Sequence[Conflict]
) -> Iterator[Message]:
    """That a tool which is to be set by its own files is not, and asks whom it asks by itself.

    Raises:
        PlanRefusedError: a file leads it elsewhere.
    """
    for conflict in found:
        decides = conflict.question in {"base_url", *seen.reader.expect}
        is_key = conflict.is_foreign_credential and not asked_for(conflict.answer.file)
        text, way = _told(session, tool, seen.reader, conflict), _way_out(session, profile, tool, conflict.answer, seen)
        if conflict.answer.file and (decides or is_key):
            raise PlanRefusedError(text, hint=way)
        if decides:
            yield Message("warning", text.replace(" would use ", " uses "), way)
    for file in sorted(seen.own):
        asked = asked_for(file)
        if asked and not _asks_for(session, profile, asked):
            text = (
                f"{called(tool, seen.reader)} would use another key: {session.shown(file)} asks for that of '{asked}'"
            )
            hint = f"{_applying(profile, tool)} that file.{_as_it_is_set(session, profile, tool)}"
            raise PlanRefusedError(text, hint=hint)


def _asks_for(session: Session, profile: Profile, asked: str) -> bool:
    """Whether a file that asks for the key of the profile `asked` gets this one's."""
    profiles = session.profiles()
    return asked == profile.name or (asked in profiles.names and profiles.get(asked).key == profile.key)


def _is_given_otherwise(conflict: Conflict, found: Mapping[str, Answer]) -> bool:
    """Whether one header with the key is empty, and another is not: the tool sends either."""
    is_empty = conflict.question in CREDENTIALS and not conflict.answer.value
    return is_empty and any(found[question].value for question in CREDENTIALS & found.keys())


def _judged(
    session: Session, profile: Profile, tool: Tool, seen: _Seen, found: Sequence[Conflict]
) -> Iterator[Message]:
    """What keeps the tool from using our variables: said, or where the key is at stake refused."""
    for conflict in found:
        hint = _way_out(session, profile, tool, conflict.answer, seen)
        text = _told(session, tool, seen.reader, conflict)
        decides = conflict.question in {"base_url", *CREDENTIALS, *seen.reader.expect}
        if conflict.is_foreign_credential or decides:
            raise PlanRefusedError(text, hint=hint)
        yield Message("warning", text, hint)


def _way_out(session: Session, profile: Profile, tool: Tool, answer: Answer, seen: _Seen) -> str:
    """What lets the tool use our variables: `apply` writes to the tool's own files, and to no others."""
    if not answer.file:
        return f"{_applying(profile, tool)} it to this profile."
    if not answer.overlay and answer.file not in seen.own:  # a project's file, in the home folder, is both
        return "Take it out there: that file is none that toolsync writes to."
    as_set = _as_it_is_set(session, profile, tool)
    return f"{_applying(profile, tool)} that file{'.' if as_set else ', or take it out there.'}{as_set}"


def _applying(profile: Profile, tool: Tool) -> str:
    return f"`toolsync apply --profile {profile.name} --tool {tool.name}` sets"


def _as_it_is_set(session: Session, profile: Profile, tool: Tool) -> str:
    """That the tool is set to another profile, with which it can be run."""
    own = set_now(session).get(tool.name)
    is_another = own != profile.name and own in session.profiles().names
    return f" Without `--profile` it is run with '{own}', which it is set to." if is_another else ""


def _told(session: Session, tool: Tool, reader: Reader, conflict: Conflict) -> str:
    answer, name = conflict.answer, called(tool, reader)
    what = {"base_url": "address", "key": "key", "x_key": "key"}.get(conflict.question, conflict.question)
    if not answer.value and conflict.question in reader.expect:
        return f"{name} would find no {what}: its own settings name none"
    if not answer.value:
        return f"{name} would find no {what}: a file of its own hides the variable"
    is_secret = what in ("key", "headers") or looks_secret(answer.slot)
    value = "" if is_secret else f" '{on_one_line(answer.value, limit=200)}'"
    if answer.slot.startswith("="):
        return f"{name} would use another {what}{value}, its own default"
    where = session.shown(answer.file) if answer.file else "the environment"
    return f"{name} would use another {what}{value}: {where} sets {on_one_line(answer.slot, limit=200)}"


def _counts(reader: Reader, variable: Variable, found: Mapping[str, Answer], trees: Sequence[Tree]) -> bool:
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
