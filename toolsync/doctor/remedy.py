"""What mends a cause: one command line, where commands of ours can."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

from toolsync.doctor.model import Effective, Finding, Fix
from toolsync.profile import Profile
from toolsync.sentence import say

Words = tuple[str, ...]

_PATIENCE_SECONDS = 120
"""What slow models, and gateways that wait for their own, are commonly given."""


def is_about_key(cause: str) -> bool:
    """Whether what mends the cause is another key."""
    return _CHANGES.get(cause) is _key


def fix(
    effective: Effective, finding: Finding, profile: Profile | None, *, is_set: bool, takes_timeout: bool = True
) -> Fix | None:
    """The command line that mends it; None where only a person can, and the cause's own remedy says how.

    Args:
        effective: the request.
        finding: what is wrong.
        profile: what the tool is meant to be set to.
        is_set: whether the tool has what the profile wants: then it is the profile that must change, and after it
            the tool.
        takes_timeout: whether toolsync sets how long the tool waits; for others the profile's word changes nothing.
    """
    if finding.cause in ("tool_timeout_too_short", "timeout_unit") and not takes_timeout:
        return _by_hand(finding)
    change = _CHANGES.get(finding.cause)
    if profile is None or change is None:
        return None
    apply = ("apply", "--tool", effective.tool)
    if not is_set or change is _again:
        return _commands(apply)
    words = change(effective, finding, profile)
    if not words:
        return None
    if words[0] == "models":  # shows what there is, and mends nothing
        return Fix(_spelled(words))
    is_fetched = words[0] == "key" and all(one.kind == "command" for one in effective.credentials)
    return _commands(words) if is_fetched else _commands(words, apply)


def _by_hand(finding: Finding) -> Fix | None:
    """The place of a limit that only a person can raise; None where the tool has it from nowhere."""
    place = finding.values.get("place")
    return Fix(say("raise_limit", place=place, seconds=str(_PATIENCE_SECONDS))) if place else Fix(say("no_limit"))


def _commands(first: Words, *then: Words) -> Fix:
    return Fix(" && ".join(map(_spelled, (first, *then))), first)


def _spelled(words: Words) -> str:
    return f"toolsync {shlex.join(words)}"


_Change = Callable[[Effective, Finding, Profile], Words]


def _edit(profile: Profile, setting: str) -> Words:
    return ("profile", "edit", profile.name, "--set", setting)


def _again(_: Effective, __: Finding, ___: Profile) -> Words:
    """The tool is to be set once more."""
    return ()


def _address(_: Effective, finding: Finding, profile: Profile) -> Words:
    found = str(finding.values.get("address", ""))
    return _edit(profile, f"base_url={found}") if found else ()


def _other_scheme(effective: Effective, _finding: Finding, profile: Profile) -> Words:
    scheme, _sign, rest = effective.base_url.partition("://")
    return _edit(profile, f"base_url={'http' if scheme.lower() == 'https' else 'https'}://{rest}") if rest else ()


def _by_number(effective: Effective, _: Finding, profile: Profile) -> Words:
    return _edit(profile, f"base_url={re.sub(r'//localhost(?=[:/]|$)', '//127.0.0.1', effective.base_url, count=1)}")


def _model(_: Effective, finding: Finding, profile: Profile) -> Words:
    near = str(finding.values.get("near", ""))
    return _edit(profile, f"model={near}") if near else ("models", "--profile", profile.name)


def _key(_: Effective, __: Finding, profile: Profile) -> Words:
    return ("key", "set", profile.name) if profile.key.kind in ("keyring", "age") else ()


def _timeout(_: Effective, __: Finding, profile: Profile) -> Words:
    stated = profile.request.get("timeout_seconds")
    is_enough = isinstance(stated, int | float) and stated >= _PATIENCE_SECONDS
    return () if is_enough else _edit(profile, f"request.timeout_seconds={_PATIENCE_SECONDS}")


_CHANGES: Mapping[str, _Change] = {
    **dict.fromkeys(
        (
            *("path_missing_v1", "path_duplicate_v1", "path_full_endpoint", "path_missing_prefix"),
            *("path_extra_segment", "url_malformed"),
        ),
        _address,
    ),
    **dict.fromkeys(("base_url_not_honoured", "config_wrong_file", "config_drift", "config_incomplete"), _again),
    "scheme_mismatch": _other_scheme,
    "localhost_ipv6": _by_number,
    **dict.fromkeys(("model_not_found", "model_no_channel", "model_not_allowed"), _model),
    **dict.fromkeys(
        (
            *("key_invalid", "key_missing", "key_expired", "key_disabled", "key_wrong_provider", "key_malformed"),
            *("key_placeholder_value", "key_or_endpoint", "key_literal_placeholder", "key_whitespace"),
            *("key_not_a_key", "key_helper_failed", "key_not_sent"),
        ),
        _key,
    ),
    "tool_timeout_too_short": _timeout,
}
"""What of the profile must change, by cause. A redirect is not among them: who answers there is for people to judge."""
