"""What mends a cause: a chain of command lines where commands of ours can, else a sentence that says what can."""

from __future__ import annotations

from collections.abc import Mapping

from toolsync.doctor.command import applied, commands, spelled
from toolsync.doctor.model import Effective, Finding, Fix
from toolsync.doctor.remedy import key, setting
from toolsync.doctor.remedy.applying import as_it_runs
from toolsync.doctor.remedy.standing import Change, Standing
from toolsync.errors import SecretError
from toolsync.profile import Profile
from toolsync.sentence import say


def is_about_key(cause: str) -> bool:
    """Whether what mends the cause is another key."""
    return cause in _OF_KEY


def fix(effective: Effective, finding: Finding, profile: Profile | None, standing: Standing) -> Fix | None:
    """What mends it; None where only a person can, and the cause's own remedy says how.

    Args:
        effective: the request.
        finding: what is wrong; what its check says to do counts, but for what would stop it.
        profile: what the tool is meant to be set to.
        standing: how the tool stands to it.
    """
    found = finding.fix
    if found is None or (profile is None and found.argv[:1] == ("apply",)):  # there is nothing that it could apply
        found = _found(effective, finding, profile, standing)
    if profile is None or found is None or not found.argv:
        return found
    own = standing.key() if found.argv[:1] == ("apply",) else None
    if isinstance(own, SecretError):
        found = key.way_to(effective, profile, standing, own)
    if found.argv[:1] == ("apply",) and is_about_key(finding.cause) and standing.rehearsal().is_keyless:
        return key.by_hand(effective, profile)
    first = key.from_variable(effective, finding, standing) if found.argv[:1] == ("apply",) else None
    return first or as_it_runs(found, standing) or _in_vain(effective, standing)


def _in_vain(effective: Effective, standing: Standing) -> Fix:
    """Where `apply` would change nothing: what wins over it is taken out, or people compare."""
    taken_out = None if standing.writes else standing.taken_out()
    return taken_out or Fix(say("applied_already", called=effective.called))


def _found(effective: Effective, finding: Finding, profile: Profile | None, standing: Standing) -> Fix | None:
    takes_timeout = any(name.startswith("timeout_") for name in standing.takes)
    if finding.cause in ("tool_timeout_too_short", "timeout_unit") and not takes_timeout:
        return setting.raised_limit(finding)
    change = _CHANGES.get(finding.cause)
    is_about_target = change in _OF_ADDRESS or change is setting.model
    if standing.is_projects and is_about_target and (profile is None or not standing.is_set):
        return standing.taken_out()  # no profile is to be led by it
    if profile is None:
        return _by_hand(finding, standing)
    if change is None:
        return None
    if is_about_key(finding.cause) and _is_elsewhere(finding, standing):
        command = spelled((*applied(effective.tool), *standing.rehearsal().options))
        return Fix(say("mend_there", place=finding.values.get("place", ""), command=command))
    if not standing.is_set and change not in _ANYWAY:
        return commands(applied(effective.tool))
    if finding.certainty == "open" and is_about_key(finding.cause):
        return None  # nobody knows that it is the key: another one would be a guess
    return change(effective, finding, profile, standing)


def _by_hand(finding: Finding, standing: Standing) -> Fix | None:
    """What is to be written where the value stands, for there is no profile that could be edited; or one made."""
    address, place = str(finding.values.get("address", "")), finding.values.get("place")
    if not place or not standing.begin:
        return None
    command = spelled(standing.begin)
    if standing.gone and finding.cause in key.WANT_ONE:
        return Fix(command, standing.begin, why=(standing.gone,))
    if is_about_key(finding.cause):
        return Fix(say("put_right", place=place, command=command), standing.begin)
    if not address or _CHANGES.get(finding.cause) is not setting.address:
        return None
    return Fix(say("write_there", address=address, place=place, command=command), standing.begin)


def _is_elsewhere(finding: Finding, standing: Standing) -> bool:
    """Whether it stands in a file at a place that toolsync does not write: `apply` would refuse it, or leave it."""
    where = finding.where
    return where is not None and bool(where.file) and where.layer != "environment" and not standing.writes


_OF_KEY = frozenset(
    {
        *("key_invalid", "key_missing", "key_expired", "key_disabled", "key_wrong_provider", "key_malformed"),
        *("key_placeholder_value", "key_or_endpoint", "key_literal_placeholder", "key_whitespace"),
        *("key_not_a_key", "key_helper_failed", "key_not_sent"),
    }
)

_CHANGES: Mapping[str, Change] = {
    **dict.fromkeys(
        (
            *("path_missing_v1", "path_duplicate_v1", "path_full_endpoint", "path_missing_prefix"),
            *("path_extra_segment", "url_malformed"),
        ),
        setting.address,
    ),
    **dict.fromkeys(
        (
            *("config_wrong_file", "config_drift", "config_incomplete", "project_config_ignored", "gui_env_missing"),
            *("key_not_approved", "auth_conflict_both_set", "foreign_credential"),
        ),
        setting.again,
    ),
    **dict.fromkeys(("connection_refused", "dns_failure", "url_redirect"), setting.only_again),
    "base_url_not_honoured": setting.outside,
    "wrong_loopback": setting.outside_of_here,
    "scheme_mismatch": setting.other_scheme,
    "key_wrong_header": setting.header,
    "localhost_ipv6": setting.by_number,
    **dict.fromkeys(("model_not_found", "model_no_channel", "model_not_allowed"), setting.model),
    **dict.fromkeys(_OF_KEY, key.put_right),
    "key_env_empty": key.unset,
    "quota_exhausted": key.top_up,
    "tool_timeout_too_short": setting.timeout,
    "timeout_unit": setting.timeout,
    **dict.fromkeys(("proxy_captures_loopback", "proxy_in_the_way"), setting.exempt),
    "key_in_git": setting.ignored,
    "proxy_unreachable": setting.unproxied,
    "stream_not_sse": setting.unstreamed,
}
"""What mends each cause. A redirect's new place is not taken: who answers there is for people to judge."""

_OF_ADDRESS = (
    *(setting.address, setting.only_again, setting.outside_of_here, setting.other_scheme, setting.by_number),
    setting.exempt,
)

_ANYWAY = (setting.header, setting.ignored, setting.outside, setting.unproxied, setting.unstreamed, key.top_up)
"""What mends, whether the tool is set or not."""

OF_ADDRESS = frozenset(name for name, change in _CHANGES.items() if change in _OF_ADDRESS)
"""Causes that another address mends, so that it alone says whether the tool has what the profile wants."""
