"""What mends a cause: a chain of command lines where commands of ours can, else a sentence that says what can."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from urllib.parse import urlsplit

from toolsync.doctor.model import Effective, Finding, Fix
from toolsync.errors import KeyMissingError, SecretError
from toolsync.keyref import KeyRef
from toolsync.masking import Secret
from toolsync.profile import Profile, for_tool
from toolsync.secret.reference import file_of
from toolsync.sentence import Text, reported, say
from toolsync.value import frozen

Words = tuple[str, ...]

_PATIENCE_SECONDS = 120
"""What slow models, and gateways that wait for their own, are commonly given."""
_MOST_SECONDS = 6 * 3600
"""Nobody waits longer."""


def _unknown() -> None:
    """Nobody looked the key up."""


@frozen
class Standing:
    """How a tool stands to the profile that it is meant to have.

    Attributes:
        is_set: whether the tool has what the profile wants, as far as the finding is about it: then it is the profile
            that must change, and after it the tool.
        takes: the facts of a profile that the tool's templates set.
        writes: whether toolsync sets the place that the finding names.
        is_agreed: whether `apply` may set the tool without being told that its file may hold a copy of the key.
        tools: all that are set to the profile.
        variable: of the environment, from which the tool takes the key as toolsync sets it; "" where it does not.
        program: what starts the tool; "" where nobody knows.
        environ: the variables that the tool sees.
        set_at: the line of a startup file that sets the variable from which the profile takes the key; "" if unknown.
        begin: the command that makes a first profile of what the tool has; "" where there is one.
        key: looks the profile's key up; why not, where it cannot be had.
    """

    is_set: bool
    takes: frozenset[str] = frozenset({"timeout_seconds"})
    writes: bool = True
    is_agreed: bool = True
    tools: tuple[str, ...] = ()
    variable: str = ""
    program: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    set_at: str = ""
    begin: str = ""
    key: Callable[[], Secret | SecretError | None] = _unknown


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
    found = finding.fix or _found(effective, finding, profile, standing)
    if profile is None or found is None or not found.argv:
        return found
    own = standing.key() if found.argv[0] == "apply" else None
    if isinstance(own, SecretError):
        found = _source(effective, profile, standing, own)
    return found if standing.is_agreed else _agreeing(effective, found)


def _found(effective: Effective, finding: Finding, profile: Profile | None, standing: Standing) -> Fix | None:
    takes_timeout = any(name.startswith("timeout_") for name in standing.takes)
    if finding.cause in ("tool_timeout_too_short", "timeout_unit") and not takes_timeout:
        return _raise_limit(finding)
    change = _CHANGES.get(finding.cause)
    if profile is None:
        return _by_hand(finding, standing)
    if change is None:
        return None
    if is_about_key(finding.cause) and _is_elsewhere(finding, standing):
        command = _spelled(_apply(effective))
        return Fix(say("mend_there", place=finding.values.get("place", ""), command=command))
    if not standing.is_set and change not in (_outside, _top_up):
        return _commands(_apply(effective))
    if finding.certainty == "open" and is_about_key(finding.cause):
        return None  # nobody knows that it is the key: another one would be a guess
    return change(effective, finding, profile, standing)


def _by_hand(finding: Finding, standing: Standing) -> Fix | None:
    """What is to be written where the value stands: there is no profile that could be edited."""
    address, place = str(finding.values.get("address", "")), finding.values.get("place")
    if not place or not standing.begin:
        return None
    if is_about_key(finding.cause):
        return Fix(say("put_right", place=place, command=standing.begin))
    is_known = bool(address) and _CHANGES.get(finding.cause) is _address
    return Fix(say("write_there", address=address, place=place, command=standing.begin)) if is_known else None


def _is_elsewhere(finding: Finding, standing: Standing) -> bool:
    """Whether it stands in a file at a place that toolsync does not write: `apply` would refuse it, or leave it."""
    where = finding.where
    return where is not None and bool(where.file) and where.layer != "environment" and not standing.writes


def _raise_limit(finding: Finding) -> Fix | None:
    """The place of a limit that only a person can raise; None where the tool has it from nowhere."""
    place = finding.values.get("place")
    return Fix(say("raise_limit", place=place, seconds=str(_PATIENCE_SECONDS))) if place else Fix(say("no_limit"))


def _agreeing(effective: Effective, found: Fix) -> Fix:
    """The same with the consent without which the tool would be passed over, and what that means."""
    chain = [
        (*words, "--allow-plaintext") if words[0] == "apply" else words for words in (found.argv, *found.then) if words
    ]
    if not any(words[0] == "apply" for words in chain):
        return found
    return replace(_commands(*chain), why=say("needs_consent", called=effective.called))


def _apply(effective: Effective, *others: str) -> Words:
    tools = sorted({effective.tool, *others})
    return ("apply", *(word for tool in tools for word in ("--tool", tool)))


def _commands(first: Words, *then: Words) -> Fix:
    return Fix(" && ".join(map(_spelled, (first, *then))), first, then)


def _spelled(words: Words) -> str:
    return f"toolsync {shlex.join(words)}"


# What of the profile must change.

_Change = Callable[[Effective, Finding, Profile, Standing], Fix | None]


def _edited(effective: Effective, profile: Profile, standing: Standing, setting: str) -> Fix:
    """The profile edited, and then every tool set that has it from there."""
    others = () if setting.startswith("tool.") else standing.tools
    return _commands(("profile", "edit", profile.name, "--set", setting), _apply(effective, *others))


def _again(effective: Effective, _finding: Finding, _profile: Profile, _standing: Standing) -> Fix:
    """The tool is to be set once more."""
    return _commands(_apply(effective))


def _outside(effective: Effective, finding: Finding, _profile: Profile, standing: Standing) -> Fix:
    """What leads the tool elsewhere is taken out, where toolsync does not set that place."""
    where = finding.where
    if where is None or standing.writes:
        return _commands(_apply(effective))
    name = where.slot.removeprefix("$")
    if where.layer != "environment" or not name.isidentifier():
        return Fix(say("take_out", place=finding.values.get("place", where.slot)))
    if not where.file:
        return Fix(f"unset {name}")
    return Fix(say("take_out_variable", place=finding.values.get("place", where.slot), variable=name))


def _address(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    found = str(finding.values.get("address", ""))
    return _edited(effective, profile, standing, f"base_url={found}") if found else None


def _only_again(_effective: Effective, _finding: Finding, _profile: Profile, _standing: Standing) -> None:
    """Where the profile's own address is meant, people judge: who answers there is not for us to say."""


def _other_scheme(effective: Effective, _finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    scheme, _sign, rest = effective.base_url.partition("://")
    other = "http" if scheme.lower() == "https" else "https"
    return _edited(effective, profile, standing, f"base_url={other}://{rest}") if rest else None


def _by_number(effective: Effective, _finding: Finding, profile: Profile, standing: Standing) -> Fix:
    url = re.sub(r"//localhost(?=[:/]|$)", "//127.0.0.1", effective.base_url, count=1)
    return _edited(effective, profile, standing, f"base_url={url}")


def _model(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix:
    near = str(finding.values.get("near", ""))
    if not near:  # shows what there is, and mends nothing
        return Fix(_spelled(("models", "--profile", profile.name)))
    return _edited(effective, profile, standing, f"{_named_at(effective, profile)}={near}")


def _named_at(effective: Effective, profile: Profile) -> str:
    """The setting of the profile that gives the tool its model: its own, a slot, or the one that all have."""
    own = profile.tool.get(effective.tool, {})
    before = f"tool.{effective.tool}."
    if own.get("model") == effective.model:
        return f"{before}model"
    for prefix, slots in ((before, own.get("models", {})), ("", profile.models)):
        slot = next((slot for slot, name in slots.items() if name == effective.model != profile.model), None)
        if slot is not None:
            return f"{prefix}models.{slot}"
    return "model" if profile.model == effective.model else f"{before}model"


def _timeout(effective: Effective, _finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    stated = for_tool(profile, effective.tool).request.get("timeout_seconds")
    if not isinstance(stated, int | float) or not _PATIENCE_SECONDS <= stated <= _MOST_SECONDS:
        return _edited(effective, profile, standing, f"request.timeout_seconds={_PATIENCE_SECONDS}")
    return None if stated == effective.timeout_seconds else _commands(_apply(effective))


def _exempt(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix:
    """The gateway's host reached straight: by the tool's own settings, or by the variable that it reads."""
    host = urlsplit(effective.base_url).hostname or ""
    name = "no_proxy" if standing.environ.get("no_proxy") else "NO_PROXY"
    before = [one.strip() for one in standing.environ.get(name, "").split(",") if one.strip()]
    hosts = ",".join(dict.fromkeys((*before, host, "localhost", "127.0.0.1", "::1")))
    if "no_proxy" in standing.takes:
        return _edited(effective, profile, standing, f"network.no_proxy={hosts}")
    if finding.where is not None and finding.where.file:
        place = finding.values.get("place", finding.where.slot)
        return Fix(say("exempt_beside", variable=name, hosts=hosts, place=place, called=effective.called))
    return Fix(say("exempt", line=f"export {name}={shlex.quote(hosts)}", called=effective.called))


# The key.


def _key(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    own = standing.key()
    if isinstance(own, SecretError):
        return _source(effective, profile, standing, own)
    if isinstance(own, Secret) and finding.cause in _WANT_ONE:
        return _commands(_apply(effective))
    return _replaced(effective, profile, standing, is_there=isinstance(own, Secret))


def _unset(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    """The variable from which the tool takes the key; one that toolsync named is set by `exec` and `hook`."""
    variable = str(finding.values.get("variable", ""))
    own = standing.key()
    if isinstance(own, SecretError):
        return _source(effective, profile, standing, own)
    if not variable or variable != standing.variable:
        return None
    return Fix(say("start_with_key", variable=variable, program=standing.program or "PROGRAM"))


def _replaced(effective: Effective, profile: Profile, standing: Standing, *, is_there: bool) -> Fix:
    """Another key in the place of the profile's own, and wherever a copy of it stands."""
    reference = profile.key
    is_asked_for = bool(effective.credentials) and all(one.kind == "command" for one in effective.credentials)
    if reference.kind == "keyring" and is_there:
        rotate = ("key", "rotate", profile.name)
        is_rotated = is_asked_for or effective.tool in standing.tools
        return _commands(rotate) if is_rotated else _commands(rotate, _apply(effective))
    if reference.kind in ("keyring", "age"):
        put = ("key", "set", profile.name)
        return _commands(put) if is_asked_for else _commands(put, _apply(effective, *standing.tools))
    there: Text = {
        "env": say("replace_at", variable=reference.name, place=standing.set_at)
        if standing.set_at
        else say("replace_in_variable", variable=reference.name),
        "systemd": say("replace_in_credential", credential=reference.name),
    }.get(reference.kind) or say("replace_behind_command")
    return Fix(there) if is_asked_for else Fix(say("and_then", first=there, command=_spelled(_apply(effective))))


def _top_up(effective: Effective, _finding: Finding, profile: Profile, standing: Standing) -> Fix:
    """More money, or another key, where the profile's key is kept."""
    other = _replaced(effective, profile, standing, is_there=isinstance(standing.key(), Secret))
    return Fix(say("top_up", way=say("by_command", command=other.text) if other.argv else other.text))


def _source(effective: Effective, profile: Profile, standing: Standing, error: SecretError) -> Fix:
    """What stands in the way of having the profile's key at all; after it a copy of the key is written."""
    reference = profile.key
    is_missing = isinstance(error, KeyMissingError)
    if is_missing and (reference.kind == "keyring" or (reference.kind == "age" and not file_of(reference).exists())):
        return _replaced(effective, profile, standing, is_there=False)
    is_fetched = bool(effective.credentials) and all(one.kind == "command" for one in effective.credentials)
    first = _sourced(effective, profile, standing, error)
    if is_fetched or standing.variable:
        return Fix(first, why=reported(error.message))
    return Fix(say("and_then", first=first, command=_spelled(_apply(effective))), why=reported(error.message))


def _sourced(effective: Effective, profile: Profile, standing: Standing, error: SecretError) -> Text:
    reference = profile.key
    if reference.kind == "age":
        return _passphrase(profile, error)
    if reference.kind == "env":
        program = standing.program or "PROGRAM"
        return say("set_variable", variable=reference.name, called=effective.called, program=program)
    if reference.kind == "command":
        return say("mend_command", profile=profile.name)
    return say("key_first", reason=reported(error.message), hint=reported(error.hint))


def _passphrase(profile: Profile, error: SecretError) -> Text:
    """What to do about a file of age's that is there, and is not opened."""
    file, _, inner = profile.key.name.partition("#")
    if not inner:
        setting = shlex.quote(f"key=age:{file}#keyring:{profile.name}-passphrase")
        return say("say_passphrase", command=f"toolsync profile edit {profile.name} --set {setting}")
    source = KeyRef.parse(inner)
    if not isinstance(error, KeyMissingError) and source.kind == "env":
        return say("key_first", reason=reported(error.message), hint=reported(error.hint))
    if source.kind == "env":
        return say("set_passphrase", variable=source.name)
    if source.kind == "command":
        return say("mend_command", profile=profile.name)
    return say("key_first", reason=reported(error.message), hint=reported(error.hint))


_WANT_ONE = frozenset({"key_missing", "key_not_sent", "key_helper_failed"})
"""Causes of which a tool is cured by being given the profile's key."""

_OF_KEY = frozenset(
    {
        *("key_invalid", "key_missing", "key_expired", "key_disabled", "key_wrong_provider", "key_malformed"),
        *("key_placeholder_value", "key_or_endpoint", "key_literal_placeholder", "key_whitespace"),
        *("key_not_a_key", "key_helper_failed", "key_not_sent"),
    }
)

_CHANGES: Mapping[str, _Change] = {
    **dict.fromkeys(
        (
            *("path_missing_v1", "path_duplicate_v1", "path_full_endpoint", "path_missing_prefix"),
            *("path_extra_segment", "url_malformed"),
        ),
        _address,
    ),
    **dict.fromkeys(("config_wrong_file", "config_drift", "config_incomplete"), _again),
    **dict.fromkeys(("connection_refused", "dns_failure", "url_redirect"), _only_again),
    "base_url_not_honoured": _outside,
    "scheme_mismatch": _other_scheme,
    "localhost_ipv6": _by_number,
    **dict.fromkeys(("model_not_found", "model_no_channel", "model_not_allowed"), _model),
    **dict.fromkeys(_OF_KEY, _key),
    "key_env_empty": _unset,
    "quota_exhausted": _top_up,
    "tool_timeout_too_short": _timeout,
    "timeout_unit": _timeout,
    "proxy_captures_loopback": _exempt,
}
"""What mends each cause. A redirect's new place is not taken: who answers there is for people to judge."""

OF_ADDRESS = frozenset(
    name for name, change in _CHANGES.items() if change in (_address, _only_again, _other_scheme, _by_number, _exempt)
)
"""Causes that another address mends, so that it alone says whether the tool has what the profile wants."""
