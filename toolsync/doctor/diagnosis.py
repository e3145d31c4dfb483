"""From what was seen to the one cause: the checks that ask nobody, the way, and what the gateway answered, together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsync.address import origin
from toolsync.causes import named
from toolsync.doctor.model import Certainty, Diagnosis, Effective, Finding, State
from toolsync.doctor.probed import Probed, asides, clock, is_open, placed, probe_finding, ruled_out
from toolsync.errors import ProfileError

BLOCKING = frozenset(
    {
        *("config_parse_error", "config_bom", "config_json_not_strict", "config_duplicate_key"),
        *("key_literal_placeholder", "key_env_empty", "key_whitespace", "key_not_a_key", "key_helper_failed"),
        "url_malformed",
    }
)
"""Causes that need no request: with them there is none, or none that could be answered."""


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
    remarks = [finding for finding in offline if finding.cause in OF_LONG_ANSWERS - told]
    return replace(one, remarks=tuple(remarks))


OF_LONG_ANSWERS = frozenset({"tool_timeout_too_short"})
"""Causes that a short question, as the probe's is, may not show."""


def _diagnosis(effective: Effective, offline: Sequence[Finding], probed: Probed | None) -> Diagnosis:
    probe = probe_finding(probed, effective) if probed is not None else None
    probe = placed(probe, effective) if probe is not None else None
    standing = [one for one in offline if one.certainty == "sure" or one.is_own or _is_of_process(one)]
    if probe is None:
        standing = [_of_choice(finding, probed) for finding in standing]
        found = _merged(_gravest([*standing, *(asides(probed, effective) if probed is not None else [])]))
        return Diagnosis(effective, _state(found, probed), found, ruled_out(probed, found))
    of_clock = clock(probed, effective)
    standing += of_clock
    reasons = [finding for finding in (*offline, *of_clock) if _explains(finding, probe, effective)]
    reasons.sort(key=lambda finding: _rank(finding, probe))
    if reasons:
        found = _merged([_confirmed(reasons[0], probe), *_gravest(standing)])
    elif not probe.cause:
        found = _merged(_gravest([*standing, *(finding for finding in offline if finding.certainty == "likely")]))
    else:
        found = _merged([probe, *_gravest(standing)])
    state = _state([*found, probe] if probe.cause else found, probed)
    return Diagnosis(effective, state, found, ruled_out(probed, found))


def _of_choice(finding: Finding, probed: Probed | None) -> Finding:
    """Another model than the profile's, for a project or a shell: with it, the tool is answered, or nobody asked."""
    may_be_served = probed is None or probed.inquiry is not None
    is_choice = (finding.cause, finding.question) == ("config_shadowed", "model")
    return replace(finding, weight="info") if is_choice and may_be_served else finding


def _is_of_process(finding: Finding) -> bool:
    """Whether it is about a program that runs: what the settings say now is asked without it."""
    return "pid" in finding.values


def _gravest(findings: Sequence[Finding]) -> list[Finding]:
    """What breaks the request before what is only to be minded; a reason stays before what it explains."""
    broken = {finding.cause for finding in findings if finding.severity == "error"}

    def weight(finding: Finding) -> int:
        is_reason = finding.cause != "config_drift" and not _is_of_process(finding) and broken & finding.explains
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
    return bool(probe.cause) and (probe.cause == finding.cause or probe.cause in finding.explains)


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
