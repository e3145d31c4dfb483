"""What mends a cause that asking found: one command, where a command can."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolsync.doctor.model import Effective, Finding, Fix
from toolsync.profile import Profile

_PATIENCE_SECONDS = 120
"""What slow models, and gateways that wait for their own, are commonly given."""


def fix(effective: Effective, finding: Finding, profile: Profile | None, *, is_set: bool) -> Fix | None:
    """The command that mends it; None where only a person can, and the cause's own remedy says how.

    Args:
        effective: the request.
        finding: what is wrong.
        profile: what the tool is meant to be set to.
        is_set: whether the tool has exactly what the profile wants: then the profile is what must change.
    """
    if profile is None:
        return None
    apply = _command("apply", "--tool", effective.tool)
    change = _CHANGES.get(finding.cause)
    if change is None:
        return None
    if not is_set:
        return apply
    words = change(finding.values, profile)
    return _command(*words) if words else None


def _command(*words: str) -> Fix:
    import shlex

    return Fix(f"toolsync {shlex.join(words)}", words)


_Change = Callable[[Mapping[str, str], Profile], tuple[str, ...]]


def _edit(profile: Profile, setting: str) -> tuple[str, ...]:
    return ("profile", "edit", profile.name, "--set", setting)


def _address(values: Mapping[str, str], profile: Profile) -> tuple[str, ...]:
    return _edit(profile, f"base_url={values['address']}") if values.get("address") else ()


def _model(values: Mapping[str, str], profile: Profile) -> tuple[str, ...]:
    return _edit(profile, f"model={values['near']}") if values.get("near") else ("models", "--profile", profile.name)


def _key(_: Mapping[str, str], profile: Profile) -> tuple[str, ...]:
    return ("key", "set", profile.key.name) if profile.key.kind == "keyring" else ()


def _timeout(_: Mapping[str, str], profile: Profile) -> tuple[str, ...]:
    return _edit(profile, f"request.timeout_seconds={_PATIENCE_SECONDS}")


_CHANGES: Mapping[str, _Change] = {
    **dict.fromkeys(
        (
            *("path_missing_v1", "path_duplicate_v1", "path_full_endpoint", "path_missing_prefix"),
            *("path_extra_segment", "url_redirect", "scheme_mismatch", "localhost_ipv6"),
        ),
        _address,
    ),
    **dict.fromkeys(("model_not_found", "model_no_channel", "model_not_allowed"), _model),
    **dict.fromkeys(
        (
            *("key_invalid", "key_missing", "key_expired", "key_disabled", "key_wrong_provider", "key_malformed"),
            *("key_placeholder_value", "key_or_endpoint"),
        ),
        _key,
    ),
    "tool_timeout_too_short": _timeout,
}
"""What of the profile must change, by cause."""
