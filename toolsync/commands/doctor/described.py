"""`doctor` as data, as `schemas/results/doctor.schema.json` describes it: in one language, and free of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from toolsync.causes import Language, named
from toolsync.doctor.checks import saying
from toolsync.doctor.choice import choice
from toolsync.doctor.command import Words, text_for, words_for
from toolsync.doctor.layers import Standing
from toolsync.doctor.look import Look
from toolsync.doctor.model import Credential, Diagnosis, Effective, Finding, Fix, Where
from toolsync.doctor.probed import Probed, came, is_open
from toolsync.doctor.steering import unasked
from toolsync.doctor.unasked import way_out, why
from toolsync.masking import fingerprint
from toolsync.sentence import Text, tell
from toolsync.session import Session

if TYPE_CHECKING:
    from toolsync.commands.doctor.mending import Mending
    from toolsync.commands.doctor.proving import Proof
    from toolsync.probe.exchange import Exchange
    from toolsync.probe.step import Step


def program(
    look: Look, one: Diagnosis, probed: Probed | None, language: Language, proof: Proof | None
) -> dict[str, Any]:
    """One program of a tool.

    Args:
        look: the program.
        one: what is said of it.
        probed: what asking as it asks came to; None where nobody was asked.
        language: of its sentences.
        proof: what became of asking the program itself; None where it was not to be asked.
    """
    effective, session = one.effective, look.world.session
    mends, unknown = _mends(look), way_out(look, one, probed)
    fix = mends(Finding("", fix=unknown), "") if unknown is not None else None
    exchanges = probed.inquiry.exchanges if probed is not None and probed.inquiry is not None else ()
    return {
        "tool": effective.tool,
        "reader": effective.reader,
        "called": effective.called,
        "state": proof.state if proof is not None else one.state,
        "is_untold": is_open(probed) if probed is not None else one.state == "inconclusive" and _is_unasked(look),
        "request": _asked(look),
        "findings": [_finding(look, finding, mends, language) for finding in one.findings],
        "ruled_out": list(one.ruled_out),
        "remarks": [_remark(look, finding, mends, language) for finding in one.remarks],
        "answered": _answered(effective, exchanges),
        "asked": [_open(tell(line, language)) for line in _evidence(probed)],
        "unknown": [_open(tell(line, language)) for line in (*why(look, one, probed), *(fix.why if fix else ()))],
        **_way_out(fix, language, look),
        "layers": [_layer(standing, session) for standing in look.standings()],
        "client": _proven(proof, look, language) if proof is not None else None,
    }


def _is_unasked(look: Look) -> bool:
    return unasked(look) is not None or choice(look) is not None


def _evidence(probed: Probed | None) -> Iterator[Text]:
    """What was seen, whatever it amounts to: where the way ends, and what came of each request."""
    if probed is None:
        return
    if probed.way.end is not None:
        yield came(probed.way.end)
    if probed.inquiry is not None:
        yield from [probed.inquiry.said] if probed.inquiry.said else []
        yield from (exchange.line for exchange in probed.inquiry.exchanges)


Mends = Callable[[Finding, str], Fix | None]


def _mends(look: Look) -> Mends:
    """What mends a finding; by what fills templates, which is loaded with the first one, for most programs are well."""

    @cache
    def mending() -> Mending:
        from toolsync.commands.doctor.mending import Mending

        return Mending(look)

    return lambda finding, remedy: mending().of(finding, remedy)


def _way_out(fix: Fix | None, language: Language, look: Look) -> dict[str, Any]:
    """What mends it, for people and as commands; where there is no command, for people alone."""
    if fix is None:
        return {"fix": "", "command": [], "then": []}
    first, *then = (list(_named(words, look)) for words in (fix.argv, *fix.then))
    return {"fix": _told(tell(fix.text, language), look), "command": first, "then": then}


def _named(words: Words, look: Look) -> Words:
    """The command line, for the profile that the tool is held against."""
    profile = look.world.profile
    return words_for(profile.name, look.tool.name, words) if profile is not None and look.world.is_aside else words


def _told(said: str, look: Look) -> str:
    """The same of a sentence."""
    profile = look.world.profile
    return text_for(profile.name, look.tool.name, said) if profile is not None and look.world.is_aside else said


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


def _finding(look: Look, finding: Finding, mends: Mends, language: Language) -> dict[str, Any]:
    values = {**saying.values(look, finding.where), **finding.values}
    cause = named(finding.cause, language).filled({name: tell(value, language) for name, value in values.items()})
    fix = mends(replace(finding, values=values), cause.remedy)
    evidence = (*finding.evidence, *(fix.why if fix is not None else ()))
    return {
        "cause": finding.cause,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "title": cause.title,
        "meaning": cause.meaning,
        "evidence": list(dict.fromkeys(_open(tell(line, language)) for line in evidence)),
        "where": _where(finding.where, look) if finding.where is not None else None,
        "remedy": _told(cause.remedy, look),
        **_way_out(fix, language, look),
    }


def _remark(look: Look, finding: Finding, mends: Mends, language: Language) -> dict[str, Any]:
    """What the evidence says, and what mends it; it is no trouble, and so without the cause's own words."""
    told = _finding(look, finding, mends, language)
    return {name: told[name] for name in ("cause", "evidence", "where", "fix", "command", "then")}


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


def probe(probed: Probed, language: Language) -> dict[str, Any]:
    """What asking came to, step by step."""
    exchanges = probed.inquiry.exchanges if probed.inquiry else ()
    return {
        "address": _open(probed.way.url),
        "steps": [_step(step, language) for step in probed.way.steps],
        "exchanges": [_exchange(one, language) for one in exchanges],
    }


def _step(one: Step, language: Language) -> dict[str, Any]:
    return {**vars(one), "target": _open(one.target), "said": _open(tell(one.said, language))}


def _exchange(one: Exchange, language: Language) -> dict[str, Any]:
    texts = {"url": one.url, "content_type": one.content_type, "words": tell(one.words, language)}
    shown = {name: _open(text) for name, text in texts.items()}
    return {**vars(one), **shown, "sent": list(one.sent), "also": list(one.also)}


def _open(text: str) -> str:
    """Any text of the settings, on one line and free of keys."""
    return saying.text(text, limit=400)
