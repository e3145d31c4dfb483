"""`doctor`: why a tool does not reach its gateway; the cause, the evidence, and what mends it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolsync import disk, registry
from toolsync.causes import Language
from toolsync.commands.doctor import described, notes
from toolsync.commands.doctor.probing import Probes, probes
from toolsync.doctor.behind import behind
from toolsync.doctor.checks import findings
from toolsync.doctor.choice import examined
from toolsync.doctor.diagnosis import OF_LONG_ANSWERS, diagnosis, is_blocked
from toolsync.doctor.exported import is_exported
from toolsync.doctor.loading import unstarted
from toolsync.doctor.look import Look, here, looks
from toolsync.doctor.model import Diagnosis, Finding, State
from toolsync.doctor.remark import changed, left_out
from toolsync.doctor.roots import unrooted
from toolsync.doctor.steering import unasked
from toolsync.doctor.stranded import stranded
from toolsync.doctor.unasked import is_unset
from toolsync.doctor.untried import untried
from toolsync.doctor.world import World
from toolsync.errors import ProfileError
from toolsync.planning.fitting import remembered_tools
from toolsync.registry import Known
from toolsync.result import DONE, PROBLEM, Result
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.trace.credential import variables_of
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.commands.doctor.proving import Proof

INCONCLUSIVE = 3


@frozen
class Options:
    """How it is gone about.

    Attributes:
        tools: names; empty for all that are found on this machine.
        language: of what is said.
        is_deep: whether a coding tool's kind of request is tried too, which may cost a little more.
        is_offline: whether nobody is asked.
        is_client: whether the tools themselves are asked too, which costs a request each.
    """

    tools: tuple[str, ...] = ()
    language: Language = "en"
    is_deep: bool = False
    is_offline: bool = False
    is_client: bool = False


def doctor(session: Session, options: Options) -> Result:
    """Every program of the tools in question, diagnosed.

    Raises:
        UsageError: there is no such tool.
        TemplateError: there is one, and its template is wrong.
        ProfileError: the profile cannot be read, and nothing is found without it.
    """
    known, is_named = registry.tools(session.config.parent), bool(options.tools)
    world = _world(session)
    chosen = _chosen(world, known, options)
    seen = [examined(look) for tool in chosen for look in here(tuple(looks(world.of(tool.name), tool)))]
    told = [(look, _found(look, options)) for look in seen]
    asked = Probes({}) if options.is_offline else probes(told, is_deep=options.is_deep)
    diagnoses = [(look, diagnosed(look, found, asked, options)) for look, found in told]
    proven = _proofs(diagnoses, asked) if options.is_client else [None] * len(diagnoses)
    if world.fault is not None and not seen:
        raise world.fault  # the profile would have said where to look
    unread = tuple(notes.unread(world, seen, options.language))
    about = notes.about_tools(known, chosen, {look.tool.name for look in seen}, options.language, is_named=is_named)
    forgotten = notes.forgotten(world, options.language)
    since = () if is_named else notes.behind(diagnoses, options.language)  # who asks is told of each by itself
    aside = notes.set_aside(world, diagnoses, options.language)
    messages = (*unread, *forgotten, *aside, *notes.unwritten(diagnoses, options.language), *since, *about)
    data = {
        "profile": world.profile.name if world.profile else None,
        "language": options.language,
        "is_detailed": is_named,
        "tools": [
            described.program(look, one, asked.of(look.effective), options.language, proof)
            for (look, one), proof in zip(diagnoses, proven, strict=True)
        ],
        "probes": [described.probe(probed, options.language) for probed in asked],
        "fixed": [],
    }
    states = [proof.state if proof else one.state for (_, one), proof in zip(diagnoses, proven, strict=True)]
    code = _exit_code(states)
    if unread and code == DONE:
        code = PROBLEM  # what answers now is nothing that toolsync could set again
    is_proven = any(proof is not None and proof.outcome is not None for proof in proven)
    unproven = options.is_client and is_named and not is_proven
    return Result("doctor", data, messages, INCONCLUSIVE if unproven and code == DONE else code)


def _found(look: Look, options: Options) -> tuple[Finding, ...]:
    """What can be told before anybody is asked."""
    found = findings(look)
    return found if options.is_offline else (*found, *unstarted(look, found))


def diagnosed(look: Look, found: Sequence[Finding], asked: Probes, options: Options) -> Diagnosis:
    """What is to be said of one program.

    Args:
        look: the program.
        found: what the checks found.
        asked: what asking came to.
        options: how it is gone about.
    """
    one = _told(look, found, asked, options)
    if not options.tools:
        return replace(one, remarks=())  # what is no trouble is for who asks for it
    since = changed(look) if one.state != "inconclusive" else ()  # what nobody can tell says so itself
    return replace(one, remarks=(*one.remarks, *left_out(look), *since))


def _told(look: Look, found: Sequence[Finding], asked: Probes, options: Options) -> Diagnosis:
    if not options.is_offline and (is_unset(look, found) or unasked(look) is not None):
        one = diagnosis(look.effective, found, None)
        return replace(one, state="inconclusive") if one.state == "healthy" else one
    probed = asked.of(look.effective) if not is_blocked(found) else None
    later = _later(look, found)
    shown = (*unrooted(look, probed), *stranded(look, probed), *untried(look, probed))
    told = [one for one in (*found, *shown) if one not in later]
    one = diagnosis(look.effective, told, probed)
    return replace(one, remarks=(*one.remarks, *later))


def _later(look: Look, found: Sequence[Finding]) -> Sequence[Finding]:
    """What tells of long answers alone, where the gateway that is to give them is another one by now."""
    waits = [one for one in found if one.cause in OF_LONG_ANSWERS and one.certainty != "sure"]
    return waits if waits and any(answer.question == "base_url" for answer in behind(look)) else ()


def _world(session: Session) -> World:
    """The machine with the user's profiles, or with none where their file is not there, or cannot be read."""
    try:
        profiles = session.profiles()
    except ProfileError as error:
        return World(session, fault=error if disk.exists(session.config) else None)
    active = next((one for one in profiles.profiles if one.name == profiles.active), None)
    return World(session, active, profiles.profiles, profiles.missing.get(profiles.active or ""))


def _chosen(world: World, known: Known, options: Options) -> list[Tool]:
    if options.tools:
        return [registry.named(known, name) for name in dict.fromkeys(options.tools)]
    places, remembered = world.session.places, remembered_tools(world.memory)
    own = world.profile.tool if world.profile is not None else {}
    off = {name for name, settings in own.items() if settings.get("enabled") is False}
    found = [
        tool
        for tool in known.values()
        if tool.name in remembered
        or (
            tool.name not in off
            and (registry.is_installed(tool, places) or own.get(tool.name, {}).get("paths") or _is_led(world, tool))
        )
    ]
    return found or _set_at_start(world, known)


def _is_led(world: World, tool: Tool) -> bool:
    """Whether a variable gives the tool its address, which was not set for whatever program is started here."""
    named = (name for name in _addressed(tool) if world.session.places.environ.get(name))
    return not all(is_exported(world, name) for name in named)


def _set_at_start(world: World, known: Known) -> list[Tool]:
    """Where no tool is found: those whose address a startup file sets, as for an editor's plugin or `npx`."""
    tools = {tool.name: names for tool in known.values() if (names := _addressed(tool))}
    told = {line.name for line in world.startup_lines if not line.is_empty} if tools else set()
    return [known[name] for name, names in tools.items() if names & told]


def _addressed(tool: Tool) -> set[str]:
    """The variables that give the tool its address by themselves: whoever sets one means this tool."""
    if tool.store:
        return set()
    return {name for reader in tool.readers for name in variables_of(tool, reader, "base_url")}


def _exit_code(states: Collection[State]) -> int:
    if {"problem", "warning"} & {*states}:
        return PROBLEM
    return INCONCLUSIVE if "inconclusive" in states else DONE


def _proofs(diagnoses: Sequence[tuple[Look, Diagnosis]], asked: Probes) -> Sequence[Proof]:
    from toolsync.commands.doctor.proving import proofs

    return proofs([(look, one, asked.of(look.effective)) for look, one in diagnoses])
