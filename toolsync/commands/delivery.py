"""How the key reaches a tool: the first way of its template that profile and consent allow, and how it is spelled."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from toolsync.document import Value
from toolsync.errors import TemplateError, UsageError
from toolsync.facts import Fact, Facts
from toolsync.profile import Profile
from toolsync.secret.helper import Shell, helper_command, line
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.value import frozen

CARRIED_OUT = ("command", "env", "plaintext")
"""The ways that this version can carry out; `keyring` and `file` are passed over."""


@frozen
class Delivery:
    """The way chosen.

    Attributes:
        way: `command`, `env` or `plaintext`; "" for a tool that takes no key.
        explained: the way, for people.
        facts: `key_WAY` and `key_ref`, spelled as the tool wants them.
    """

    way: str
    explained: str
    facts: Facts


def delivery(session: Session, tool: Tool, profile: Profile, *, consent: bool, key_variable: str) -> Delivery | str:
    """The way the key goes, or why there is none.

    A copy that is better than the ways after it (they serve only some of the tool's readers) is asked for, not passed
    over; only a profile that says never has the next way taken instead.

    Raises:
        UsageError: `key_way` names a way that the tool does not have.
        SecretError: the key is to be copied, and cannot be had.
    """
    if not tool.key:
        return Delivery("", "it needs no key", {})
    for way in ways(tool, profile):
        if way == "plaintext" and profile.plaintext == "never":
            continue
        if way == "plaintext" and not consent:
            return "it would hold a copy of the key in its own file, and that needs your consent"
        raw = _raw_facts(session, profile, key_variable, way)
        spelled = _spelled(tool.key[way], raw)
        given = {name: Fact(name, spelled, f"{tool.name}: key.{way}") for name in (f"key_{way}", "key_ref")}
        return Delivery(way, _explained(way, profile, spelled, key_variable), given)
    return 'it would hold a copy of the key in its own file, and the profile says plaintext = "never"'


def ways(tool: Tool, profile: Profile) -> list[str]:
    """The ways that the key may go, best first.

    Raises:
        UsageError: `key_way` names one that the tool does not have.
    """
    wanted = profile.tool.get(tool.name, {}).get("key_way")
    if wanted is None:
        return [way for way in tool.key if way in CARRIED_OUT]
    if wanted not in tool.key or wanted not in CARRIED_OUT:
        possible = ", ".join(way for way in tool.key if way in CARRIED_OUT)
        raise UsageError(
            f"profiles.{profile.name}.tool.{tool.name}.key_way: {tool.title} cannot take its key by '{wanted}'",
            hint=f"It can by: {possible}.",
        )
    return [wanted]


def _raw_facts(session: Session, profile: Profile, key_variable: str, way: str) -> Mapping[str, Callable[[], Any]]:
    argv = helper_command(session.python, session.config, profile.name)
    shell: Shell = "cmd" if session.places.platform == "win32" else "sh"
    return {
        "key_line": lambda: line(argv, shell),
        "key_program": lambda: argv[0],
        "key_args": lambda: list(argv[1:]),
        "key_variable": lambda: key_variable,
        "key": lambda: session.secret(profile.key).reveal(),
    } | ({} if way == "plaintext" else {"key": _no_key(way)})


def _no_key(way: str) -> Callable[[], Any]:
    def refuse() -> Any:
        raise TemplateError(f"key.{way} names <key>, which only `plaintext` and `keyring` may")

    return refuse


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER = re.compile(r"<([a-z_]+)>")


def _spelled(spelling: Value, raw: Mapping[str, Callable[[], Any]]) -> Value:
    if isinstance(spelling, Mapping):
        return {name: _spelled(child, raw) for name, child in spelling.items()}
    if isinstance(spelling, list):
        return [_spelled(child, raw) for child in spelling]
    if not isinstance(spelling, str):
        return spelling
    whole = _PLACEHOLDER.fullmatch(spelling)
    if whole:
        return _raw(whole[1], raw)
    return _PLACEHOLDER.sub(lambda match: str(_raw(match[1], raw)), spelling)


def _raw(name: str, raw: Mapping[str, Callable[[], Any]]) -> Any:
    if name not in raw:
        raise TemplateError(f"'<{name}>' is no key fact", hint=f"Known in [key]: {', '.join(raw)}.")
    return raw[name]()


def _explained(way: str, profile: Profile, spelled: Value, key_variable: str) -> str:
    if way == "command":
        return f"asks `toolsync key print {profile.name}` at run time"
    if way == "env":
        is_named = isinstance(spelled, str) and _VARIABLE.fullmatch(spelled)
        return f"reads ${spelled if is_named else key_variable} from its environment"
    return "holds a copy of the key in its own file"
