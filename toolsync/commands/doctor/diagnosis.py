"""`doctor`: why a tool does not reach its gateway; the cause, the evidence, and what mends it."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolsync import disk, registry
from toolsync.address import origin
from toolsync.causes import Language, named
from toolsync.doctor.checks import findings, saying
from toolsync.doctor.diagnosis import Probed, diagnosis, is_blocked
from toolsync.doctor.layers import Standing
from toolsync.doctor.look import Look, here, looks
from toolsync.doctor.model import Credential, Diagnosis, Effective, Finding, Fix, State, Where
from toolsync.doctor.remedy import fix
from toolsync.doctor.unasked import is_unset, why
from toolsync.doctor.world import World
from toolsync.errors import ProfileError
from toolsync.masking import Secret, fingerprint
from toolsync.planning.aside import broken
from toolsync.planning.fitting import remembered_tools
from toolsync.registry import Known
from toolsync.result import DONE, PROBLEM, Message, Result
from toolsync.sentence import reported, say, tell
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.trace import variables_of
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.commands.doctor.proving import Proof
    from toolsync.probe.exchange import Exchange
    from toolsync.probe.request import Request

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
    known = registry.tools(session.config.parent)
    world = _world(session)
    chosen = _chosen(world, known, options)
    seen = [look for tool in chosen for look in here(tuple(looks(world, tool)))]
    told = [(look, findings(look)) for look in seen]
    probes = {} if options.is_offline else _probes(told, options)
    diagnoses = [(look, _diagnosed(look, found, probes, options)) for look, found in told]
    proven = _proofs(diagnoses, probes) if options.is_client else [None] * len(diagnoses)
    if world.fault is not None and not seen:
        raise world.fault  # the profile would have said where to look
    unread = () if world.fault is None else (_warning(world.fault, options.language),)
    messages = (*unread, *_said_besides(known, chosen, {look.tool.name for look in seen}, options))
    data = {
        "profile": world.profile.name if world.profile else None,
        "language": options.language,
        "is_detailed": bool(options.tools),
        "tools": [
            _described(look, one, probes.get(_triple(look.effective)), options.language, proof)
            for (look, one), proof in zip(diagnoses, proven, strict=True)
        ],
        "probes": [_probe(probed, options.language) for probed in probes.values()],
        "fixed": [],
    }
    states = [proof.state if proof else one.state for (_, one), proof in zip(diagnoses, proven, strict=True)]
    code = _exit_code(states)
    if unread and code == DONE:
        code = PROBLEM  # what answers now is nothing that toolsync could set again
    is_proven = any(proof is not None and proof.outcome is not None for proof in proven)
    unproven = options.is_client and bool(options.tools) and not is_proven
    return Result("doctor", data, messages, INCONCLUSIVE if unproven and code == DONE else code)


def _diagnosed(
    look: Look, found: Sequence[Finding], probes: Mapping[tuple[object, ...], Probed], options: Options
) -> Diagnosis:
    if is_unset(look, found) and not options.is_offline:
        one = diagnosis(look.effective, found, None)
        return replace(one, state="inconclusive") if one.state == "healthy" else one
    return diagnosis(look.effective, found, probes.get(_triple(look.effective)) if not is_blocked(found) else None)


def _said_besides(known: Known, chosen: Sequence[Tool], seen: Container[str], options: Options) -> Iterator[Message]:
    """Templates that cannot be used; and tools asked for by name of which nothing can be looked at."""
    if not options.tools:
        yield from (Message("warning", one.text, one.hint) for one in broken(known))
    for tool in chosen if options.tools else ():
        if tool.name not in seen:
            name, hint = ("asks_nobody", "asks_nobody_itself") if tool.store else ("has_no_files", "name_its_files")
            text = tell(say(name, called=tool.title), options.language)
            yield Message("note", text, tell(say(hint, tool=tool.name), options.language))


def _world(session: Session) -> World:
    """The machine with the user's profiles, or with none where their file is not there, or cannot be read."""
    try:
        profiles = session.profiles()
    except ProfileError as error:
        return World(session, fault=error if disk.exists(session.config) else None)
    active = next((one for one in profiles.profiles if one.name == profiles.active), None)
    return World(session, active, profiles.profiles, profiles.missing.get(profiles.active or ""))


def _warning(error: ProfileError, language: Language) -> Message:
    return Message("warning", tell(reported(error.message), language), tell(reported(error.hint), language))


def _chosen(world: World, known: Known, options: Options) -> list[Tool]:
    if options.tools:
        return [registry.named(known, name) for name in dict.fromkeys(options.tools)]
    places, remembered = world.session.places, remembered_tools(world.memory)
    found = [
        tool
        for tool in known.values()
        if tool.name in remembered
        or registry.is_installed(tool, places)
        or any(map(places.environ.get, _addressed(tool)))
    ]
    return found or _set_at_start(world, known)


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


# Asking.


def _proofs(
    diagnoses: Sequence[tuple[Look, Diagnosis]], probes: Mapping[tuple[object, ...], Probed]
) -> Sequence[Proof]:
    from toolsync.commands.doctor.proving import proofs

    return proofs([(look, one, probes.get(_triple(look.effective))) for look, one in diagnoses])


def _triple(effective: Effective) -> tuple[object, ...]:
    """What is asked once, however many programs ask it."""
    keys = tuple((one.header, one.value) for one in effective.credentials)
    headers = tuple(sorted((name, str(value)) for name, value in effective.headers.items()))
    return effective.url, effective.dialect, effective.model, keys, headers, effective.network, effective.streams


def _probes(told: Sequence[tuple[Look, Sequence[Finding]]], options: Options) -> dict[tuple[object, ...], Probed]:
    found: dict[tuple[object, ...], Probed] = {}
    for look, offline in told:
        effective = look.effective
        if effective.dialect is None or not effective.url or is_blocked(offline) or is_unset(look, offline):
            continue
        if _triple(effective) not in found:
            found[_triple(effective)] = _probed(look, is_deep=options.is_deep)
    return found


def _probed(look: Look, *, is_deep: bool) -> Probed:
    from toolsync.probe.inquiry import inquire
    from toolsync.probe.way import way

    effective = look.effective
    gone = way(effective.url, effective.network, look.world.session.places.root)
    if gone.end is not None:
        return Probed(gone)
    return Probed(gone, inquire(_request(look, has_bundle=not gone.unread_bundle), is_deep=is_deep))


def _request(look: Look, *, has_bundle: bool) -> Request:
    """The request as it is asked; the key goes to the user's own addresses only."""
    from toolsync.probe.request import Request

    effective = look.effective
    assert effective.dialect is not None  # noqa: S101  the caller looked
    keys = {one.header: one.value for one in effective.credentials if one.value is not None}
    is_known = bool(keys) or not effective.credentials  # without its key, the gateway would only ask for one
    is_trusted = is_known and origin(effective.base_url) in look.world.origins
    headers = {name: value for name, value in effective.headers.items() if is_trusted or not isinstance(value, Secret)}
    return Request(
        dialect=effective.dialect,
        base=effective.base_url,
        url=effective.url,
        model=effective.model,
        credentials=keys if is_trusted else {},
        headers=headers,
        streams=effective.streams,
        timeout_seconds=effective.timeout_seconds,
        limit_name=effective.limit_name,
        network=effective.network if has_bundle else replace(effective.network, ca_bundle=""),
        is_trusted=is_trusted,
    )


# As data.


def _described(
    look: Look, one: Diagnosis, probed: Probed | None, language: Language, proof: Proof | None
) -> dict[str, Any]:
    effective, session = one.effective, look.world.session
    exchanges = probed.inquiry.exchanges if probed is not None and probed.inquiry is not None else ()
    return {
        "tool": effective.tool,
        "reader": effective.reader,
        "called": effective.called,
        "state": proof.state if proof is not None else one.state,
        "request": _asked(look),
        "findings": [_finding(look, finding, language) for finding in one.findings],
        "ruled_out": list(one.ruled_out),
        "answered": _answered(effective, exchanges),
        "asked": [_open(tell(exchange.line, language)) for exchange in exchanges],
        "unknown": [_open(tell(line, language)) for line in why(look, one, _is_agreed)],
        "layers": [_layer(standing, session) for standing in look.standings()],
        "client": _proven(proof, look, language) if proof is not None else None,
    }


def _is_agreed(look: Look) -> bool:
    from toolsync.commands.doctor.standing import is_agreed  # see `_finding`

    return is_agreed(look)


def _proven(proof: Proof, look: Look, language: Language) -> dict[str, Any]:
    from toolsync.commands.doctor.proving import as_data

    return as_data(proof, look, language)


def _answered(effective: Effective, exchanges: Sequence[Exchange]) -> dict[str, Any] | None:
    """Who answered the tool's own request, and how fast; None where nobody did."""
    told = next((one for one in exchanges if one.is_ok and one.what in ("question", "stream")), None)
    if told is None:
        return None
    return {"model": _open(effective.model), "milliseconds": told.first_ms or told.elapsed_ms}


def _asked(look: Look) -> dict[str, Any]:
    effective = look.effective
    return {
        "dialect": effective.dialect,
        "url": _open(effective.url),
        "base_url": _open(effective.base_url),
        "model": _open(effective.model),
        "credentials": [_credential(one, look) for one in effective.credentials],
        "headers": sorted(effective.headers),
        "timeout_seconds": effective.timeout_seconds,
        "streams": effective.streams,
        "proxy": _open(effective.network.proxy_for(effective.url) or "") if effective.url else "",
        "where": {question: _where(where, look) for question, where in effective.wheres.items()},
        "wanted": {question: _open(value) for question, value in effective.wanted.items()},
    }


def _credential(one: Credential, look: Look) -> dict[str, Any]:
    print_ = fingerprint(one.value.reveal(), look.world.memory.key) if one.value is not None else None
    return {"header": one.header, "kind": one.kind, "fingerprint": print_, "where": _where(one.where, look)}


def _where(where: Where, look: Look) -> dict[str, Any]:
    file = look.world.session.shown(where.file) if where.file else ""
    return {"layer": where.layer, "slot": _open(saying.slot(look, where)), "file": file, "line": where.line}


def _finding(look: Look, finding: Finding, language: Language) -> dict[str, Any]:
    from toolsync.commands.doctor.standing import standing  # it brings what fills templates, and most programs are well

    profile = look.world.profile
    values = {**saying.values(look, finding.where), **finding.values}
    cause = named(finding.cause, language).filled({name: tell(value, language) for name, value in values.items()})
    whole = replace(finding, values=values)
    stands = standing(look, whole)
    mended = fix(look.effective, whole, profile, stands)
    fault, is_by_profile = look.world.fault, bool(mended.argv) if mended else _needs_profile(cause.remedy)
    if fault is not None and is_by_profile:
        mended = Fix(say("mend_profile"))
    elif mended is None and is_by_profile and stands.begin:
        mended = Fix(say("profile_first", remedy=cause.remedy, command=stands.begin))
    why = (mended.why,) if mended is not None and mended.why is not None else ()
    return {
        "cause": finding.cause,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "title": cause.title,
        "meaning": cause.meaning,
        "evidence": list(dict.fromkeys(_open(tell(line, language)) for line in (*finding.evidence, *why))),
        "where": _where(finding.where, look) if finding.where is not None else None,
        "remedy": cause.remedy,
        "fix": tell(mended.text, language) if mended is not None else "",
        "command": list(mended.argv) if mended is not None else [],
        "then": [list(words) for words in mended.then] if mended is not None else [],
    }


def _needs_profile(remedy: str) -> bool:
    """Whether what is to be done is done by commands that need a profile."""
    return any(f"`toolsync {command}" in remedy for command in ("apply", "profile edit", "key set", "key rotate"))


def _layer(standing: Standing, session: Session) -> dict[str, Any]:
    one = standing.seen
    file = session.shown(one.path) if one.path is not None else ""
    return {
        "name": one.layer.name,
        "file": file,
        "state": one.state,
        "sets": list(standing.sets),
        "wins": list(standing.wins),
    }


def _probe(probed: Probed, language: Language) -> dict[str, Any]:
    exchanges = probed.inquiry.exchanges if probed.inquiry else ()
    return {
        "address": _open(probed.way.url),
        "steps": [{**vars(step), "said": _open(tell(step.said, language))} for step in probed.way.steps],
        "exchanges": [_exchange(one, language) for one in exchanges],
    }


def _exchange(one: Exchange, language: Language) -> dict[str, Any]:
    words = _open(tell(one.words, language))
    return {**vars(one), "words": words, "sent": list(one.sent), "also": list(one.also)}


def _open(text: str) -> str:
    """Any text of the settings, on one line and free of keys."""
    return saying.text(text, limit=400)
