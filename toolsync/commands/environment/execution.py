"""`exec`: a program with the variables that it needs, and no others, checked against what its own files say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolsync import registry
from toolsync.commands.environment.belonging import profile_for
from toolsync.commands.environment.detour import stop_at_detour
from toolsync.commands.environment.launching import launch
from toolsync.commands.environment.reach import by_itself, is_off, is_served, is_set_by_files, takes, unserved
from toolsync.commands.environment.sight import all_ways, counts, seen_by, started_here
from toolsync.commands.environment.variables import Variable, anybodys, demanded, filling, outline, taken
from toolsync.commands.environment.verdict import judged, stop_where_led_elsewhere
from toolsync.errors import PlanRefusedError
from toolsync.planning.tracing import called
from toolsync.profile import Profile
from toolsync.result import Message
from toolsync.secret.reference import PASSPHRASES, needs_person
from toolsync.session import Session, this_machine
from toolsync.tool import Tool
from toolsync.trace import Answer
from toolsync.trace.conflict import Conflict
from toolsync.trace.credential import CREDENTIALS
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
        stop_at_detour(session, profile, found, started_here(found), told)
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


def _heeded(
    session: Session, profile: Profile, tool: Tool, variables: Sequence[Variable]
) -> tuple[list[Message], list[Variable]]:
    """What is to be said, and the variables that count: one that a file hides does nothing but lie open.

    Raises:
        PlanRefusedError: see `start`.
    """
    told = _with(session.places.environ, variables)
    wish = all_ways(session, profile, tool, filling if variables else outline)
    messages: list[Message] = []
    kept = dict.fromkeys(variables, False)
    for seen in seen_by(session, profile, tool, told, wish):
        amiss: Sequence[Conflict] = seen.conflicts
        if variables:
            amiss = [one for one in amiss if not _is_given_otherwise(one, seen.answers)]
            messages += judged(session, profile, tool, seen, amiss)
        else:
            stop_where_led_elsewhere(session, profile, tool, seen, amiss)
        for variable in variables:
            kept[variable] = kept[variable] or counts(seen.reader, variable, seen.answers, seen.trees)
    return list(dict.fromkeys(messages)), [variable for variable, is_read in kept.items() if is_read]


def _is_given_otherwise(conflict: Conflict, found: Mapping[str, Answer]) -> bool:
    """Whether one header with the key is empty, and another is not: the tool sends either."""
    is_empty = conflict.question in CREDENTIALS and not conflict.answer.value
    return is_empty and any(found[question].value for question in CREDENTIALS & found.keys())


def _stop_at_silence(session: Session, profile: Profile, tool: Tool) -> None:
    """Let a tool pass that gets its key: one that asks for it itself has nobody there to type a passphrase.

    Raises:
        PlanRefusedError: it would ask in vain.
    """
    if not needs_person(profile.key) or "command" not in tool.key:
        return
    told = session.places.environ
    for seen in seen_by(session, profile, tool, told, all_ways(session, profile, tool, outline)):
        amiss = {conflict.question for conflict in seen.conflicts}
        if any(seen.answers[name].file and name not in amiss for name in CREDENTIALS & seen.answers.keys()):
            undo = f"; or `toolsync undo --tool {tool.name}`: `exec` gives it the key itself then"
            raise PlanRefusedError(
                f"{called(tool, seen.reader)} asks `toolsync key print` for the key itself, with nobody there to type "
                f"the passphrase of {profile.key}",
                hint=f"Let the profile say where the passphrase is to be had (`{profile.key}{PASSPHRASES})"
                f"{undo if by_itself(tool) else ''}.",
            )
