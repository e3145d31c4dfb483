"""Whose credentials would be sent, how many, and whether the command that prints them works."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import combinations

from toolsync.address import origin
from toolsync.doctor.astray import owner
from toolsync.doctor.checks.saying import at_line, place, text, values
from toolsync.doctor.checks.wanting import taken_out
from toolsync.doctor.command import applied, commands
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Credential, Finding, Fix
from toolsync.doctor.printing import command_path, command_value, may_run
from toolsync.doctor.withheld import may_fail_by_it
from toolsync.document import Value
from toolsync.document import data as _data
from toolsync.errors import KeyMissingError, KeyringLockedError, NoKeyringError, ProfileError
from toolsync.masking import Secret
from toolsync.overlay import ABSENT, TABLE, Edit
from toolsync.sentence import say, tell
from toolsync.trace import Answer, answers
from toolsync.trace.credential import CREDENTIALS, HEADERS, keyed_headers


def two(look: Look) -> Iterator[Finding]:
    """Two credentials that differ, in two headers: which one counts depends on the gateway."""
    for one, other in combinations(look.effective.credentials, 2):
        is_same = one.value == other.value if one.value is not None else one.where == other.where
        if one.header == other.header or is_same or any(_is_wanted(look, each) for each in (one, other)):
            continue
        is_known = one.value is not None and other.value is not None
        evidence = [say("at", place=each.header, said=place(look, each.where)) for each in (one, other)]
        where = other.where if other.question != "key" else one.where
        found = values(look, where, header=other.header)
        fix = commands(applied(look.tool.name)) if _is_cleared(look) else _without_stranger(look, one, other)
        yield Finding("auth_conflict_both_set", "sure" if is_known else "likely", tuple(evidence), found, where, fix)


def _without_stranger(look: Look, *both: Credential) -> Fix | None:
    """What takes out the one of the two that does not stand where the profile is applied."""
    own = {one.layer.name for one in look.layers if one.layer.overlay} if look.edits else set()
    strangers = [each for each in both if each.where.layer not in own]
    return taken_out(look, strangers[0].where) if len(strangers) == 1 else None


def _is_cleared(look: Look) -> bool:
    """Whether the tool would have no credential but the profile's once it is set again: what else is, is emptied."""
    trees = [replace(tree, data=_laid(tree.data, look.edits.get(tree.layer.overlay, ()))) for tree in look.trees]
    found = answers(look.reader, trees, look.environ)
    left = [answer for question, answer in found.items() if question in CREDENTIALS]
    left += [found[question] for question, _ in keyed_headers(look.tool.request, found)]
    ours = {(overlay, edit.path) for overlay, wanted in look.edits.items() for edit in wanted}
    return bool(ours) and all((answer.overlay, answer.path) in ours for answer in left if answer.value)


def _is_wanted(look: Look, credential: Credential) -> bool:
    """Whether it is a header of the profile's own, where the profile puts it."""
    one = next((one for one in look.layers if one.layer.name == credential.where.layer), None)
    is_own = one is not None and bool(one.layer.overlay)
    return is_own and credential.question in HEADERS and credential.header in _wanted_headers(look)


def _wanted_headers(look: Look) -> set[str]:
    return {name.lower() for name in (look.world.profile.request.get("headers", {}) if look.world.profile else {})}


def _laid(data: Value, wanted: Iterable[Edit]) -> Value:
    for edit in wanted:
        if edit.value is ABSENT:
            data = _data.drop(data, edit.path)
        elif edit.value is not TABLE:
            with suppress(ValueError):  # something that is no table stands in the way, and stays
                data = _data.put(data, edit.path, edit.value)
    return data


def foreign(look: Look) -> Iterator[Finding]:
    """A credential that is not the profile's, and would go to the profile's gateway."""
    if not _goes_to_us(look) or any(True for _ in two(look)):
        return
    own = look.world.key
    for credential in look.effective.credentials:
        one = next((one for one in look.layers if one.layer.name == credential.where.layer), None)
        is_ours = one is not None and bool(one.layer.overlay)
        is_header = credential.question in HEADERS
        if is_ours and (not is_header or not look.edits or _is_wanted(look, credential)):
            continue
        if not isinstance(own, Secret) or credential.value in (None, own) or owner(look, credential.value, None):
            continue
        if credential.kind == "variable" and credential.value in look.world.former_keys:
            yield _of_before(look, credential)
            continue
        where, fix = credential.where, None
        if is_header:
            fix = commands(applied(look.tool.name)) if _is_cleared(look) else taken_out(look, where)
        line = say("gives_other_key", place=place(look, where))
        yield Finding("foreign_credential", "likely", (line,), values(look, where), where, fix)
    yield from _headers(look)


def _of_before(look: Look, credential: Credential) -> Finding:
    """A variable that was set before the key was rotated, and not since."""
    where, variable = credential.where, credential.where.slot.removeprefix("$")
    at = at_line(look, where)
    line = say("gives_former_key", place=place(look, where))
    fix = Fix(say("set_anew_at", variable=variable, place=at) if at else say("set_anew", variable=variable))
    found = values(look, where, variable=variable)
    return Finding("env_not_refreshed", "likely", (line,), found, where, fix)


def _headers(look: Look) -> Iterator[Finding]:
    wanted, where = _wanted_headers(look), look.effective.wheres.get("headers")
    for name, value in look.effective.headers.items():
        if isinstance(value, Secret) and name not in wanted and where is not None:
            line = say("sends_other_header", place=place(look, where), header=name)
            found, fix = values(look, where, header=name), taken_out(look, where)
            yield Finding("foreign_credential", "likely", (line,), found, where, fix)


def organisation(look: Look) -> Iterator[Finding]:
    """A header that binds the request to an organisation or a project of the vendor's."""
    for name in look.effective.headers:
        if name in ("openai-organization", "openai-project"):
            question = next((q for q, header in look.tool.request.headers.items() if header.lower() == name), "headers")
            where = look.effective.wheres.get(question)
            sent = say("header_sent", header=name)
            line = say("at", place=place(look, where), said=sent) if where else sent
            yield Finding("org_mismatch", "open", (line,), values(look, where, header=name), where)


def _goes_to_us(look: Look) -> bool:
    try:
        return origin(look.effective.base_url) in look.world.origins
    except ProfileError:
        return False


def shadowed_login(look: Look) -> Iterator[Finding]:
    """A key of the environment that takes the place of the login which the user chose."""
    below = _without_environment(look)
    certainty: Certainty = "likely" if _goes_to_us(look) else "sure"  # to a gateway people may mean to send it
    for credential in look.effective.credentials:
        if credential.where.layer != "environment" or credential.question not in CREDENTIALS:
            continue
        logins = (below.get(question) for question in (credential.question, "account"))
        login = next((one for one in logins if one is not None and _is_login(look, one)), None)
        if login is None or credential.value is None or login.value == credential.value.reveal():
            continue
        lines = (
            say("sent", place=place(look, credential.where)),
            say("passed_over", place=place(look, look.where(login))),
        )
        found = values(look, credential.where, variable=credential.where.slot.lstrip("$"))
        fix = taken_out(look, credential.where)
        yield Finding("env_shadows_login", certainty, lines, found, credential.where, fix)


def _is_login(look: Look, answer: Answer) -> bool:
    one = look.seen(answer)
    return bool(answer.value) and one is not None and one.layer.at.split(".")[0] == "login"


def _without_environment(look: Look) -> Mapping[str, Answer]:
    trees = [one.tree for one in look.layers if one.environ is None]
    return answers(look.reader, trees, {})


# The command.


def helper(look: Look) -> Iterator[Finding]:
    """A command for the key that is gone, fails, or prints something else than one line."""
    from toolsync.doctor.helper import Command

    seen: set[Command] = set()
    for question in sorted(CREDENTIALS & look.reader.questions.keys()):
        answer = look.found[question]
        path = command_path(look, answer) if answer.value else None
        command = Command.of(command_value(look, answer, path)) if path is not None else None
        if command is None or command in seen or not may_run(look, answer, command):
            continue
        seen.add(command)
        if owner(look, None, command) is not None:
            continue  # it is not run: what it prints is for another gateway
        done = look.world.printed(command, look.users_environ)
        if done.problem is None:
            continue
        where = look.where(answer)
        lines = [say("at", place=place(look, where), said=done.problem)]
        found = values(look, where, program=text(command.program))
        cause = "key_helper_failed"
        if command.is_own and not done.is_gone:
            cause = _why(look) or _said(tell(done.problem)) or cause
        fix = commands(applied(look.tool.name)) if command.is_own and cause == "key_helper_failed" else None
        certainty: Certainty = "open" if may_fail_by_it(look, command, done) else "sure"
        yield Finding(cause, certainty, tuple(lines), found, where, fix)


def _why(look: Look) -> str:
    """The cause behind a helper of ours that fails: the keyring, not the command."""
    match look.world.key:
        case KeyringLockedError():
            return "keyring_locked"
        case NoKeyringError():
            return "keyring_unavailable"
        case KeyMissingError():
            return "key_missing"
    return ""


def _said(problem: str) -> str:
    """The same by the words of a helper of ours that fares worse than we do: the keyring was unlocked in between."""
    return next((cause for words, cause in _WORDS.items() if words in problem), "")


_WORDS = {
    "is locked": "keyring_locked",
    "keyring did not answer": "keyring_locked",
    "no keyring answers": "keyring_unavailable",
}
