"""Another key, or the way to the profile's own: where the profile takes it from decides who can put it right."""

from __future__ import annotations

import shlex
from dataclasses import replace

from toolsync.doctor.command import applied, commands, spelled
from toolsync.doctor.model import Effective, Finding, Fix
from toolsync.doctor.remedy.applying import then_applied
from toolsync.doctor.remedy.standing import Standing
from toolsync.errors import KeyMissingError, SecretError
from toolsync.keyref import KeyRef
from toolsync.masking import Secret
from toolsync.profile import Profile
from toolsync.secret.reference import file_of
from toolsync.sentence import Text, reported, say

WANT_ONE = frozenset({"key_missing", "key_not_sent", "key_helper_failed"})
"""Causes of which a tool is cured by being given the profile's key."""


def put_right(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    """The profile's key for a tool that has none, another one for a tool that has it."""
    own = standing.key()
    if isinstance(own, SecretError):
        return way_to(effective, profile, standing, own)
    if isinstance(own, Secret) and finding.cause in WANT_ONE:
        return commands(applied(effective.tool))
    return _replaced(effective, profile, standing, is_there=isinstance(own, Secret))


def unset(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    """The variable from which the tool takes the key; one that toolsync named is set by `exec` and `hook`.

    Where the profile has another way for the tool by now, the variable gives way to it.
    """
    variable = str(finding.values.get("variable", ""))
    own = standing.key()
    if isinstance(own, SecretError):
        return way_to(effective, profile, standing, own)
    if variable and variable == standing.variable:
        return Fix(say("start_with_key", variable=variable, program=standing.program or "PROGRAM"))
    is_ours = finding.where is not None and standing.writes and not standing.rehearsal().is_vain
    return commands(applied(effective.tool)) if isinstance(own, Secret) and is_ours else None


def from_variable(effective: Effective, finding: Finding, standing: Standing) -> Fix | None:
    """The variable from which the tool takes the key: it has none, or another one stands there; None otherwise.

    Another one goes on to win over what `apply` writes elsewhere, where that is anything.
    """
    if not standing.variable:
        return None
    start = say("start_with_key", variable=standing.variable, program=standing.program or "PROGRAM")
    if _wins(finding, standing):
        return Fix(start) if standing.rehearsal().is_vain else then_applied(start, effective, standing)
    is_lacking = finding.cause in WANT_ONE or (not standing.is_set and standing.named == (standing.variable,))
    return Fix(start) if is_lacking and standing.rehearsal().is_vain else None


def _wins(finding: Finding, standing: Standing) -> bool:
    """Whether a key that is not the profile's reaches the gateway from that variable."""
    where = finding.where
    return finding.cause == "foreign_credential" and where is not None and where.slot == f"${standing.variable}"


def by_hand(effective: Effective, profile: Profile) -> Fix:
    """What is left for a program that takes the key only as a copy, and the profile has it otherwise."""
    is_forbidden = profile.plaintext == "never"
    sentence = "forbidden_copy" if is_forbidden else "chosen_otherwise"
    return Fix(say(sentence, called=effective.called, profile=profile.name, tool=effective.tool))


def top_up(effective: Effective, _finding: Finding, profile: Profile, standing: Standing) -> Fix:
    """More money, or another key, where the profile's key is kept."""
    other = _replaced(effective, profile, standing, is_there=isinstance(standing.key(), Secret))
    return Fix(say("top_up", way=say("by_command", command=other.text) if other.argv else other.text))


def way_to(effective: Effective, profile: Profile, standing: Standing, error: SecretError) -> Fix:
    """What stands in the way of having the profile's key at all; after it a copy of the key is written."""
    reference = profile.key
    is_missing = isinstance(error, KeyMissingError)
    if is_missing and (reference.kind == "keyring" or (reference.kind == "age" and not file_of(reference).exists())):
        return _replaced(effective, profile, standing, is_there=False)
    first = _sourced(effective, profile, standing, error)
    if standing.is_asked_for or standing.variable:
        return Fix(first, why=(reported(error.message),))
    return then_applied(first, effective, standing, reported(error.message))


def _replaced(effective: Effective, profile: Profile, standing: Standing, *, is_there: bool) -> Fix:
    """Another key in the place of the profile's own, and wherever a copy of it stands."""
    reference = profile.key
    is_asked_for = standing.is_asked_for
    if reference.kind == "keyring" and is_there:
        rotate = ("key", "rotate", profile.name)
        is_rotated = is_asked_for or effective.tool in standing.tools
        found = commands(rotate) if is_rotated else commands(rotate, applied(effective.tool))
        back = say("former_kept", command=spelled((*rotate, "--back")))
        return replace(found, why=(back,)) if standing.has_former() else found
    if reference.kind in ("keyring", "age"):
        put = ("key", "set", profile.name)
        return commands(put) if is_asked_for else commands(put, applied(effective.tool, *standing.tools))
    there: Text = {
        "env": say("replace_at", variable=reference.name, place=standing.set_at)
        if standing.set_at
        else say("replace_in_variable", variable=reference.name),
        "systemd": say("replace_in_credential", credential=reference.name),
    }.get(reference.kind) or say("replace_behind_command")
    return Fix(there) if is_asked_for else then_applied(there, effective, standing)


def _sourced(effective: Effective, profile: Profile, standing: Standing, error: SecretError) -> Text:
    reference = profile.key
    if reference.kind == "age":
        return _passphrase(profile, error)
    if reference.kind == "env":
        program = standing.program or "PROGRAM"
        return say("set_variable", variable=reference.name, called=effective.called, program=program)
    if reference.kind == "command":
        return say("mend_command", profile=profile.name)
    return _first(error)


def _passphrase(profile: Profile, error: SecretError) -> Text:
    """What to do about a file of age's that is there, and is not opened."""
    file, _, inner = profile.key.name.partition("#")
    if not inner:
        setting = shlex.quote(f"key=age:{file}#keyring:{profile.name}-passphrase")
        return say("say_passphrase", command=f"toolsync profile edit {profile.name} --set {setting}")
    source = KeyRef.parse(inner)
    if not isinstance(error, KeyMissingError) and source.kind == "env":
        return _first(error)
    if source.kind == "env":
        return say("set_passphrase", variable=source.name)
    if source.kind == "command":
        return say("mend_command", profile=profile.name)
    return _first(error)


def _first(error: SecretError) -> Text:
    """What a person does about the place that the key is kept in; why is evidence."""
    return say("key_first", hint=reported(error.hint or error.message))
