"""How the key reaches a tool: the first way of its template that profile and consent allow, and how it is spelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolsync.document import Value
from toolsync.errors import SecretError, TemplateError, UsageError
from toolsync.facts import Fact, Facts
from toolsync.pattern import late
from toolsync.profile import Profile
from toolsync.secret.helper import Shell, helper_command, line
from toolsync.secret.vault import Entry
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.value import frozen

CARRIED_OUT = ("command", "keyring", "env", "plaintext")
"""The ways that this version can carry out; `file` is passed over."""


@frozen
class Delivery:
    """The way chosen.

    Attributes:
        way: `command`, `keyring`, `env` or `plaintext`; "" for a tool that takes no key.
        explained: the way, for people.
        facts: `key_WAY` and `key_ref`, spelled as the tool wants them.
        entry: where the tool looks in the keyring, for `keyring`.
    """

    way: str
    explained: str
    facts: Facts
    entry: Entry | None = None


def delivery(session: Session, tool: Tool, profile: Profile, *, consent: bool, key_variable: str) -> Delivery | str:
    """The way the key goes, or why there is none.

    A copy that is better than the ways after it (they serve only some of the tool's readers) is asked for, not passed
    over; only a profile that says never has the next way taken instead. So it is where no keyring answers and
    there is another way; an entry that holds the key already cannot be given back then, which stops the plan.

    Raises:
        UsageError: `key_way` names a way that the tool does not have.
        SecretError: the key is to be copied, and cannot be had; or no keyring answers where one is needed.
    """
    if not tool.key:
        return Delivery("", "it needs no key", {})
    possible = ways(tool, profile)
    for way in possible:
        if way == "keyring" and way != possible[-1] and not _has_keyring(session):
            continue
        if way == "plaintext" and profile.plaintext == "never":
            continue
        if way == "plaintext" and not consent:
            return "it would hold a copy of the key in its own file, and that needs your consent"
        raw = _raw_facts(session, profile, key_variable, way)
        spelled = _spelled(tool.key[way], raw)
        given = {name: Fact(name, spelled, f"{tool.name}: key.{way}") for name in (f"key_{way}", "key_ref")}
        return Delivery(way, _explained(way, profile, spelled, key_variable), given, _entry(way, spelled))
    return 'it would hold a copy of the key in its own file, and the profile says plaintext = "never"'


def _has_keyring(session: Session) -> bool:
    try:
        return bool(session.open_vault().backend)
    except SecretError:
        return False


def _entry(way: str, spelled: Value) -> Entry | None:
    is_entry = way == "keyring" and isinstance(spelled, Mapping)
    return Entry.of(str(spelled["service"]), str(spelled["user"])) if is_entry else None


def entry_of(session: Session, tool: Tool, profile: Profile, key_variable: str) -> Entry | None:
    """Where the tool looks for the profile's key in the keyring; None for one that looks nowhere there."""
    raw = _raw_facts(session, profile, key_variable, "keyring")
    return _entry("keyring", _spelled(tool.key["keyring"], raw)) if "keyring" in tool.key else None


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
        others = ", ".join(f"tool.{name}.key_way" for name in tool.holds)
        raise UsageError(
            f"profiles.{profile.name}.tool.{tool.name}.key_way: {tool.title} cannot take its key by '{wanted}'",
            hint=f"It can by: {possible}." if possible else f"Its rows hold what is said by {others}.",
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
        raise TemplateError(f"key.{way} names <key>, which only `plaintext` may")

    return refuse


_VARIABLE = late(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER = late(r"<([a-z_]+)>")


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
    if way == "keyring":
        return "finds a copy in its own entry in the keyring"
    if way == "env":
        is_named = isinstance(spelled, str) and _VARIABLE.fullmatch(spelled)
        return f"reads ${spelled if is_named else key_variable} from its environment"
    return "holds a copy of the key in its own file"
