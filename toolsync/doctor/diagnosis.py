"""From what was seen to the one cause: the checks that ask nobody, the way, and what the gateway answered, together."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolsync.address import origin
from toolsync.causes import named
from toolsync.doctor.model import Certainty, Diagnosis, Effective, Finding, State
from toolsync.errors import ProfileError
from toolsync.proxies import Proxies
from toolsync.sentence import Text, say
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.probe.inquiry import Inquiry
    from toolsync.probe.step import Step
    from toolsync.probe.way import Way

BLOCKING = frozenset(
    {
        *("config_parse_error", "config_bom", "config_json_not_strict", "config_duplicate_key"),
        *("key_literal_placeholder", "key_env_empty", "key_whitespace", "key_not_a_key", "key_helper_failed"),
        "url_malformed",
    }
)
"""Causes that need no request: with them there is none, or none that could be answered."""

_MOST_SKEW_SECONDS = 300
"""Certificates and signed requests begin to suffer from more."""

_REFUSALS = (401, 403)
"""What a gateway says to a key, whatever it means by it."""

_OF_HOST = frozenset({"dns_failure", "connection_refused", "tls_hostname_mismatch", "wrong_loopback", "localhost_ipv6"})
"""Causes of the way there that lie in the host or the port of the address."""


@frozen
class Probed:
    """What asking the gateway came to; shared by all programs that ask the same.

    Attributes:
        way: how far it gets.
        inquiry: what it is answered; None where it does not get so far, or is not asked.
        is_held: whether it is not asked, for only an authority of the project's vouches for whoever would answer.
    """

    way: Way
    inquiry: Inquiry | None = None
    is_held: bool = False


def is_blocked(findings: Sequence[Finding]) -> bool:
    """Whether there is no use in asking the gateway."""
    return any(one.stops or (one.cause in BLOCKING and (one.certainty, one.severity) == _BREAKS) for one in findings)


_BREAKS = ("sure", "error")


def diagnosis(effective: Effective, offline: Sequence[Finding], probed: Probed | None) -> Diagnosis:
    """One cause first, then what else is to be minded.

    Args:
        effective: the request.
        offline: what the checks found, in their order.
        probed: what asking came to; None where nobody was asked.
    """
    one = _diagnosis(effective, offline, probed)
    told = {finding.cause for finding in one.findings}
    remarks = [finding for finding in offline if finding.cause in _OF_LONG_ANSWERS - told]
    return replace(one, remarks=tuple(remarks))


_OF_LONG_ANSWERS = frozenset({"tool_timeout_too_short"})
"""Causes that a short question, as the probe's is, may not show."""


def _diagnosis(effective: Effective, offline: Sequence[Finding], probed: Probed | None) -> Diagnosis:
    probe = _probe_finding(probed) if probed is not None else None
    probe = _placed(probe, effective) if probe is not None else None
    standing = [finding for finding in offline if finding.certainty == "sure" or _is_of_process(finding)]
    if probe is None:
        found = _merged(_gravest([*standing, *(_asides(probed, effective) if probed is not None else [])]))
        return Diagnosis(effective, _state(found, probed), found, _ruled_out(probed, found))
    clock = _clock(probed, effective)
    standing += clock
    reasons = [finding for finding in (*offline, *clock) if _explains(finding, probe, effective)]
    reasons.sort(key=lambda finding: _rank(finding, probe))
    if reasons:
        found = _merged([_confirmed(reasons[0], probe), *_gravest(standing)])
    elif not probe.cause:
        found = _merged(_gravest([*standing, *(finding for finding in offline if finding.certainty == "likely")]))
    else:
        found = _merged([probe, *_gravest(standing)])
    state = _state([*found, probe] if probe.cause else found, probed)
    return Diagnosis(effective, state, found, _ruled_out(probed, found))


def _is_of_process(finding: Finding) -> bool:
    """Whether it is about a program that runs: what the settings say now is asked without it."""
    return "pid" in finding.values


def _gravest(findings: Sequence[Finding]) -> list[Finding]:
    """What breaks the request before what is only to be minded; a reason stays before what it explains."""
    broken = {finding.cause for finding in findings if finding.severity == "error"}

    def weight(finding: Finding) -> int:
        cause = named(finding.cause)
        is_reason = finding.cause != "config_drift" and not _is_of_process(finding) and broken & {*cause.explains}
        return 0 if is_reason else ("error", "warning", "info").index(finding.severity)

    return sorted(findings, key=weight)


_DOUBT = ("sure", "likely", "open")
"""From none to the most."""


def _rank(finding: Finding, probe: Finding) -> tuple[bool, int, bool, bool]:
    """What was changed behind all else; the surest first, of itself before by the probe; then what is of its kind.

    A key is refused because of a key.
    """
    certainty = _certainty(finding, probe)
    is_kin = named(finding.cause).group == named(probe.cause).group
    return finding.cause == "config_drift", _DOUBT.index(certainty), certainty != finding.certainty, not is_kin


def _confirmed(reason: Finding, probe: Finding) -> Finding:
    """The reason with what the probe shows and knows of it; of an address, the one that answered."""
    evidence, certainty = (*reason.evidence, *probe.evidence), _certainty(reason, probe)
    if not _is_proven(reason, probe):
        return replace(reason, evidence=evidence)
    answered = {name: text for name, text in probe.values.items() if name in ("address", "apart")}
    return replace(reason, evidence=evidence, certainty=certainty, values={**probe.values, **reason.values, **answered})


def _certainty(finding: Finding, probe: Finding) -> Certainty:
    """How sure it is, now that the probe is known: the surer of the two."""
    return (
        min(finding.certainty, probe.certainty, key=_DOUBT.index) if _is_proven(finding, probe) else finding.certainty
    )


_PROVEN_BY = {
    "key_missing": frozenset({"key_not_sent"}),
    "key_not_sent": frozenset({"key_missing"}),
    "key_placeholder_value": frozenset({"key_invalid"}),
}
"""Causes of which only the gateway can say whether they matter, and how it says it: it wants a key, or another."""


def _is_proven(finding: Finding, probe: Finding) -> bool:
    """Whether what the probe came to is the finding's very cause; or another address, which is the one it proposes."""
    address = finding.values.get("address", "")
    is_same = probe.cause == finding.cause or probe.cause in _PROVEN_BY.get(finding.cause, ())
    return is_same or (bool(address) and address == probe.values.get("address"))


def _merged(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Each cause in each file once, with what every place of it shows."""
    seen: dict[tuple[str, object], Finding] = {}
    for finding in findings:
        file = finding.where.file if finding.where is not None else ""
        first = seen.setdefault((finding.cause, file or finding.where), finding)
        more = tuple(line for line in finding.evidence if line not in first.evidence)
        seen[finding.cause, file or finding.where] = replace(first, evidence=(*first.evidence, *more))
    return tuple(seen.values())


def _explains(finding: Finding, probe: Finding, effective: Effective) -> bool:
    """Whether what was found in the settings is why the gateway answers so; the same cause says more with its place."""
    if _is_of_process(finding) or (finding.cause == "config_drift" and _is_at_home(effective)):
        return False
    if finding.cause == "clock_skew" and finding.weight == "info":
        return False
    return bool(probe.cause) and (probe.cause == finding.cause or probe.cause in named(finding.cause).explains)


def _is_at_home(effective: Effective) -> bool:
    """Whether the host that is asked is the wanted one: what it answers then tells more than that a value changed."""
    try:
        return origin(effective.base_url) == origin(effective.wanted.get("base_url") or effective.base_url)
    except ProfileError:
        return True  # no address: that is what is wrong


def _state(findings: Sequence[Finding], probed: Probed | None) -> State:
    severities = {finding.severity for finding in findings}
    if "error" in severities:
        return "problem"
    if "warning" in severities:
        return "warning"
    return "inconclusive" if probed is not None and is_open(probed) else "healthy"


def is_open(probed: Probed) -> bool:
    """Whether nobody can tell from here whether it works."""
    end = probed.way.end
    if end is not None:
        return end.cause == "inconclusive"
    if probed.is_held:
        return True
    return probed.inquiry is not None and not probed.inquiry.cause and probed.inquiry.certainty == "open"


# What asking came to.


def _probe_finding(probed: Probed) -> Finding | None:
    """Why the tool's own request is not answered as it must be; without a cause where nobody can tell."""
    end = probed.way.end
    if end is not None:
        return _of_step(probed.way, end)
    inquiry = probed.inquiry
    if inquiry is None or (not inquiry.cause and inquiry.certainty != "open"):
        return None
    evidence = tuple(exchange.line for exchange in inquiry.exchanges)
    return Finding(inquiry.cause, inquiry.certainty, evidence, inquiry.values)


def _placed(finding: Finding, effective: Effective) -> Finding:
    """The finding, with where the value stands that it is about."""
    if not finding.cause or finding.where is not None:
        return finding
    group = named(finding.cause).group
    wheres = effective.wheres
    of_key = effective.credentials[0].where if effective.credentials else None
    of_timeout = wheres.get("timeout_seconds") or wheres.get("timeout_ms")
    where = {"key": of_key, "address": wheres.get("base_url")}.get(group)
    if finding.cause.startswith("model_"):
        where = wheres.get("model")
    if finding.cause in _OF_HOST:
        where = wheres.get("base_url")
    if finding.cause == "tool_timeout_too_short":
        where = of_timeout
    of_way = "proxy" if finding.cause.startswith("proxy_") else "unchecked" if finding.cause == "tls_unchecked" else ""
    if of_way:
        where = wheres.get(of_way)
        variable = where.slot.rpartition(".")[2].removeprefix("$") if where is not None else ""
        is_guess = variable.lower() == "all_proxy" and effective.network.rules == Proxies()  # few programs read it
        certainty = "likely" if is_guess and finding.certainty == "sure" else finding.certainty
        more = {"variable": variable} if variable else {}
        return replace(finding, where=where, certainty=certainty, values={**finding.values, **more})
    return replace(finding, where=where)


def _of_step(way: Way, step: Step) -> Finding:
    cause = "" if step.cause == "inconclusive" else step.cause
    evidence = [came(step)]
    if way.proxy and step.name == "proxy":
        evidence.append(say("proxy_on_the_way", proxy=way.proxy))
        if way.is_direct_open:
            evidence.append(say("open_without_proxy"))
    if way.unread_bundle:
        evidence.append(say("bundle_unread", file=way.unread_bundle))
    if way.certificate is not None:
        told = way.certificate
        names = ", ".join(told.names) or say("no_host")
        evidence.append(say("certificate_names", names=names, issuer=told.issuer))
        evidence.append(say("certificate_dates", start=told.not_before, end=told.not_after))
    values = {
        "host": step.target,
        "proxy": way.proxy,
        "issuer": way.certificate.issuer if way.certificate else "",
    }
    return Finding(cause, "sure", tuple(evidence), {name: value for name, value in values.items() if value})


def came(step: Step) -> Text:
    """Where a step led, and what came of it; one line."""
    return say("at", place=step.target, said=step.said)


def _asides(probed: Probed, effective: Effective) -> Iterator[Finding]:
    """What is to be minded although the gateway answers."""
    for step in probed.way.warnings:
        if step.cause == "localhost_ipv6" and effective.falls_back:
            continue  # refused at once, and the next address tried: nobody notices
        yield Finding(step.cause, "sure", (came(step),), {"host": step.target})
    inquiry = probed.inquiry
    if inquiry is None:
        return
    for cause, certainty, said in inquiry.notes:
        yield Finding(cause, certainty, (said,), inquiry.values)
    yield from (replace(one, weight="info") for one in _clock(probed, effective))


def _clock(probed: Probed | None, effective: Effective) -> list[Finding]:
    """That the clocks differ: of weight where a token holds by this one, and by the gateway's does not.

    A key that says nothing of time is none the worse for it.
    """
    skew = probed.inquiry.skew_seconds if probed is not None and probed.inquiry is not None else None
    if skew is None or abs(skew) <= _MOST_SKEW_SECONDS:
        return []
    from toolsync.doctor.token import is_disputed  # clocks seldom differ

    minutes = f"{abs(skew) / 60:.0f}"
    said = say("clock_ahead" if skew > 0 else "clock_behind", minutes=minutes)
    now, keys = time.time(), [one.value.reveal() for one in effective.credentials if one.value is not None]
    if any(is_disputed(key, now, now - skew) for key in keys):
        lines = (said, say("token_early" if skew > 0 else "token_late"))
        return [Finding("clock_skew", "likely", lines, {"minutes": minutes})]
    return [Finding("clock_skew", "likely", (said,), {"minutes": minutes}, weight="info")]


def _ruled_out(probed: Probed | None, found: Sequence[Finding]) -> tuple[str, ...]:
    """Causes that the evidence excludes; never one that is named."""
    named_causes = {finding.cause for finding in found}
    excluded = _excluded(probed) if probed is not None else ()
    return tuple(cause for cause in excluded if cause not in named_causes)


def _excluded(probed: Probed) -> Iterator[str]:
    done = {step.name for step in probed.way.steps if not step.is_end}
    if "name" in done:
        yield "dns_failure"
    if "port" in done:
        yield from ("connection_refused", "connect_timeout")
    if "encryption" in done:
        yield from ("tls_untrusted_ca", "tls_hostname_mismatch", "tls_expired")
    exchanges = probed.inquiry.exchanges if probed.inquiry else ()
    is_answered = any(exchange.is_ok and exchange.what == "question" for exchange in exchanges)
    is_refused = any(exchange.status in _REFUSALS for exchange in exchanges)  # a list may be open to everybody
    if is_answered or (not is_refused and any(one.is_ok and one.what == "models" for one in exchanges)):
        yield from ("key_invalid", "key_missing")
    if is_answered:
        yield from ("path_missing_v1", "model_not_found", "quota_exhausted")
