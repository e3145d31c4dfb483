"""What asking the gateway came to: why the tool is not answered, what else is to be minded, what is ruled out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolsync.causes import named
from toolsync.doctor.model import Effective, Finding, Fix
from toolsync.probe.body import shown
from toolsync.proxies import Proxies
from toolsync.sentence import Text, say
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.probe.inquiry import Inquiry
    from toolsync.probe.step import Step
    from toolsync.probe.way import Way

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


def is_open(probed: Probed) -> bool:
    """Whether nobody can tell from here whether it works."""
    end = probed.way.end
    if end is not None:
        return end.cause == "inconclusive"
    if probed.is_held:
        return True
    return probed.inquiry is not None and not probed.inquiry.cause and probed.inquiry.certainty == "open"


def is_reached(probed: Probed) -> bool:
    """Whether the gateway is reached, or may be: the way to it does not end at something that has a name."""
    return probed.way.end is None or probed.way.end.cause == "inconclusive"


def probe_finding(probed: Probed, effective: Effective) -> Finding | None:
    """Why the tool's own request is not answered as it must be; without a cause where nobody can tell."""
    end, certificate = probed.way.end, probed.way.certificate
    if end is not None:
        return _of_step(probed.way, end, effective)
    if certificate is not None and certificate.is_authority and effective.refuses_authorities:
        line = say("certificate_of_authority", issuer=certificate.subject, called=effective.called)
        return Finding("tls_authority_refused", "sure", (line,), {"host": str(urlsplit(effective.url).netloc)})
    inquiry = probed.inquiry
    if inquiry is None or (not inquiry.cause and inquiry.certainty != "open"):
        return None
    evidence = tuple(exchange.line for exchange in inquiry.exchanges)
    return Finding(inquiry.cause, inquiry.certainty, evidence, inquiry.values)


def placed(finding: Finding, effective: Effective) -> Finding:
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


def _of_step(way: Way, step: Step, effective: Effective) -> Finding:
    cause = "" if step.cause == "inconclusive" else step.cause
    evidence = [came(step)]
    if way.proxy and step.name == "proxy":
        evidence.append(say("proxy_on_the_way", proxy=way.proxy))
        if way.is_direct_open:
            evidence.append(say("open_without_proxy"))
    if cause == "wrong_loopback":
        evidence.append(_around(step, effective))
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
        "address": _outside(step, effective),
    }
    filled = {name: value for name, value in values.items() if value}
    found = Finding(cause, step.certainty, tuple(evidence), filled)
    if cause != "tls_untrusted_ca":
        return found
    return _rootless(effective, found) if way.is_by_issuer else _alone(way, effective, found)


def _rootless(effective: Effective, finding: Finding) -> Finding:
    """The same where the file of certificates holds one that vouches for the server's, and lacks the root."""
    file = shown(effective.network.ca_bundle)
    line = say("issuer_without_root", file=file, called=effective.called)
    return replace(finding, evidence=(*finding.evidence, line), fix=Fix(say("add_root", file=file)))


def _alone(way: Way, effective: Effective, finding: Finding) -> Finding:
    """The same where the server does not show who signed its certificate, and a root for it is there, or may be.

    A certificate that a root of one's own signed stands alone by right. Where neither logs nor the issuer's place tell
    that there is one between, the root that is named may just as well be another's.
    """
    one = way.certificate
    if one is None or not one.is_alone or not (one.is_public or way.has_own_roots):
        return finding
    if not (one.is_public or one.issuer_at):
        line, file = say("shown_alone", issuer=one.issuer), shown(effective.network.ca_bundle)
        fix = Fix(say("add_authority", issuer=one.issuer, file=file))
        return replace(finding, evidence=(*finding.evidence, line), fix=fix)
    lines: list[Text] = [say("shown_alone", issuer=one.issuer)]
    if one.issuer_at:
        lines.append(say("issuer_lies_at", issuer=one.issuer, place=one.issuer_at))
    file = shown(effective.network.ca_bundle) if way.has_own_roots else ""
    return replace(
        finding,
        cause="tls_chain_incomplete",
        certainty="sure" if one.is_public else "likely",
        evidence=(*finding.evidence, *lines),
        fix=Fix(say("add_issuer", issuer=one.issuer, file=file)) if file else None,
    )


def _around(step: Step, effective: Effective) -> Text:
    """Whether the port is open on the machine around this one."""
    if not step.outside:
        return say("inside_or_outside")
    return say("open_outside", place=urlsplit(_outside(step, effective)).netloc)


def _outside(step: Step, effective: Effective) -> str:
    """The tool's address with the machine around in the place of this one; "" where that is not known to have it."""
    if not step.outside:
        return ""
    parts = urlsplit(effective.base_url.strip())
    port = f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=step.outside + port).geturl()


def came(step: Step) -> Text:
    """Where a step led, and what came of it; one line."""
    return say("at", place=step.target, said=step.said)


def asides(probed: Probed, effective: Effective) -> Iterator[Finding]:
    """What is to be minded although the gateway answers."""
    for step in probed.way.warnings:
        if step.cause == "localhost_ipv6" and effective.falls_back:
            continue  # refused at once, and the next address tried: nobody notices
        yield Finding(step.cause, "sure", (came(step),), {"host": step.target})
    inquiry = probed.inquiry
    if inquiry is None:
        return
    for cause, certainty, said in inquiry.notes:
        yield Finding(cause, certainty, (said,), inquiry.values, weight="info" if certainty == "open" else None)
    yield from (replace(one, weight="info") for one in clock(probed, effective))


def clock(probed: Probed | None, effective: Effective) -> list[Finding]:
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


def ruled_out(probed: Probed | None, found: Sequence[Finding]) -> tuple[str, ...]:
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
