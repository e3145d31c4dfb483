"""`profile list | show | use | edit | rename | remove`: the verbs on profiles."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from toolsync import disk, gateways, registry, transaction
from toolsync import memory as memories
from toolsync.commands.keys.astray import astray, left_behind, of_profile
from toolsync.commands.keys.holders import Holders, layers_of
from toolsync.commands.keys.stored import uses
from toolsync.commands.profiles.file import Edited, existing, saved
from toolsync.document import KeyPath, Value, keypath
from toolsync.errors import PlanRefusedError, ProfileError, TemplateError, ToolsyncError, UsageError
from toolsync.masking import on_one_line
from toolsync.planning.aside import strays
from toolsync.planning.delivery import ways
from toolsync.planning.fitting import remembered_tools
from toolsync.profile import Profile, Profiles, editor, rules
from toolsync.profile.problem import advice
from toolsync.profile.reader import parsed, read
from toolsync.profile.rename import renamed
from toolsync.profile.wording import one_line
from toolsync.remembered import Memory
from toolsync.result import Message
from toolsync.secret.command import program
from toolsync.secret.index import recorded
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.transaction import Write
from toolsync.value import frozen


@frozen
class Entry:
    """A line of `profile list`."""

    name: str
    is_active: bool
    title: str | None
    base_url: str
    model: str
    key: str


def entries(profiles: Profiles) -> tuple[Entry, ...]:
    """Every profile in the file's order."""
    return tuple(
        Entry(
            profile.name,
            profile.name == profiles.active,
            profile.title,
            profile.base_url,
            profile.model,
            str(profile.key),
        )
        for profile in profiles.profiles
    )


def use(session: Session, name: str) -> Edited:
    """The file with `name` as the active profile.

    Raises:
        ProfileError: there is no such profile, or the file is wrong; nothing was written.
        FileError: the file cannot be read or written.
    """
    file = existing(session)
    return saved(file, editor.used(file.text, name, file.shown))


def rename(session: Session, old: str, new: str) -> Edited:
    """The file with a profile called otherwise; `active` follows, its key stays under the reference that it has.

    So does what is remembered of the tools that are set to it, and with it the consent to copies of its key; rows of CC
    Switch, of which each profile has its own, are called by it, and stay what they are until it is applied again.

    Raises:
        ProfileError, FileError: as `use`; or `new` is taken.
        PlanRefusedError: tools ask for the key of `new`, and would send this one's to another gateway.
    """
    file = existing(session)
    _stop_at_askers(session, old, new)
    edited = saved(file, renamed(file.text, old, new, file.shown))
    with suppress(ToolsyncError):  # then it is as if the name had been changed by hand, and `apply` ends it
        _follow(session, old, new)
    return edited


def _stop_at_askers(session: Session, old: str, new: str) -> None:
    """Let a name pass by which no tool of another gateway's asks: it would get this profile's key.

    Raises:
        PlanRefusedError: one does.
    """
    profiles = session.profiles()
    profile = next((one for one in profiles.profiles if one.name == old and new not in profiles.names), None)
    found = [one for one in astray(session, profile, new) if one.is_set] if profile else []
    if not found:
        return
    asking = (f"{one.called} asks for the key of '{new}', and sends it to {on_one_line(one.address)}" for one in found)
    text = f"the key of '{old}' would go elsewhere by that name: {'; '.join(dict.fromkeys(asking))}"
    memory = memories.read(memories.path_in(session.state))
    ways = dict.fromkeys(_given_back(one.tool, memory, profiles, old) for one in found)
    raise PlanRefusedError(f"{text}; nothing was changed", hint=f"{' and '.join(ways)} first, then this again.")


def _given_back(tool: str, memory: Memory, profiles: Profiles, renamed: str) -> str:
    """What sets a tool anew to the profile that it has, or gives it back where it has none of its own.

    What nobody remembers cannot be given back; it may have the profile itself, whose name follows.
    """
    own = memory.profile_of(tool) if tool in remembered_tools(memory) else ""
    profile = own if own in profiles.names and own != renamed else "" if own else renamed
    line = ("toolsync", "apply", "-p", profile, "--tool", tool) if profile else ("toolsync", "undo", tool)
    return f"`{shlex.join(line)}`"


def _follow(session: Session, old: str, new: str) -> None:
    snapshot = memories.seen(memories.path_in(session.state))
    memory = memories.parsed(snapshot)
    known = registry.tools(session.config.parent)
    tools = Holders(memory, known, {old, *session.profiles().names}).applied().get(old, ())
    unrecorded = [tool for tool in tools if tool not in memory.applied]
    set_now = [*(tool for tool, name in memory.applied.items() if name == old), *unrecorded]
    applied = {**memory.applied, **dict.fromkeys(set_now, new)}
    after = replace(memory, profile=new if memory.profile == old else memory.profile, applied=applied)
    if snapshot.raw is not None and after != memory:
        write = Write(disk.resolve(snapshot.path), snapshot.sha256, memories.dump(after), private=True)
        transaction.commit([write], state_dir=session.state)


def remove(session: Session, name: str) -> Edited:
    """The file without a profile; its key stays in the keyring.

    Raises:
        ProfileError, FileError: as `use`.
    """
    file = existing(session)
    return saved(file, editor.removed(file.text, name, file.shown))


def is_active(session: Session, name: str) -> bool:
    """Whether a profile is the active one, be it valid or not.

    Raises:
        ProfileError: there is no such profile.
        FileError: the file cannot be read.
    """
    file = existing(session)
    document = parsed(file.text, file.shown)
    if name not in editor.names(document):
        read(file.text, file.shown).named(name)
    return bool(document.data.get("active") == name)


def key_left(session: Session, name: str) -> str:
    """What the profile's key is called that was stored from here, and that no other profile uses; "" for none."""
    try:
        profiles = session.profiles().profiles
    except ProfileError:  # the one that goes, or another, is wrong: nobody can tell who uses which key
        return ""
    key = next((one.key for one in profiles if one.name == name), None)
    others = [one for one in profiles if one.name != name]
    is_ours = key is not None and key.kind == "keyring" and key.name in recorded(session.state)
    return key.name if key is not None and is_ours and not uses(key, others) else ""


def applied(session: Session) -> Mapping[str, Collection[str]]:
    """The tools that are set to each profile; none where that cannot be read."""
    try:
        memory, known = memories.read(memories.path_in(session.state)), registry.tools(session.config.parent)
        file = existing(session)
        return Holders(memory, known, editor.names(parsed(file.text, file.shown))).applied()
    except ToolsyncError:  # who mends it is told by the commands that need it
        return {}


def asking(session: Session, name: str) -> Mapping[str, str]:
    """The titles of the tools that ask us for the key of a profile by its name; what holds a copy asks nobody."""
    try:
        memory, known = memories.read(memories.path_in(session.state)), registry.tools(session.config.parent)
    except ToolsyncError:  # as above
        return {}
    there = Holders(memory, known, session.profiles().names)
    return {
        layer.tool: known[layer.tool].title
        for real, layer in layers_of(memory)
        if layer.tool in known and there.asked_by(real, layer) == name
        if not (layer.holds_key and known[layer.tool].store)
    }


def doubts(session: Session, name: str) -> Iterator[Message]:
    """What a profile says that cannot work here: tools, gateways, ways and commands that there are not."""
    profiles = session.profiles()
    if name not in profiles.names:
        return
    if name in profiles.missing:
        yield Message("warning", profiles.missing[name].message, profiles.missing[name].hint)
        return
    profile, known = profiles.get(name), registry.tools(session.config.parent)
    for one in strays(profile, known):
        yield Message("warning", one.text, one.hint)
    for check in (_key_command, _gateway, partial(_key_ways, known)):
        try:
            check(session, profile)
        except ToolsyncError as error:
            yield Message("warning", error.message, error.hint)
    yield from of_profile(session, profile)
    yield from left_behind(session, profile)


def _key_command(session: Session, profile: Profile) -> None:
    if profile.key.command:
        program(profile.key.command, session.places.environ)


def _gateway(session: Session, profile: Profile) -> None:
    if profile.gateway:
        gateways.named(gateways.gateways(session.config.parent), profile.gateway)


def _key_ways(known: Mapping[str, Tool], _session: Session, profile: Profile) -> None:
    for tool in known.values():
        ways(tool, profile)


def edit(session: Session, name: str | None, settings: Sequence[str], unset: Sequence[str] = ()) -> Edited:
    """The file with fields of a profile set or taken out.

    Args:
        session: where the file is.
        name: the profile; None: the active one.
        settings: `model=gpt-5`, `request.timeout_seconds=30`, `tool.codex.paths=["~/a.toml"]`.
        unset: `request.max_tokens`.

    Raises:
        UsageError: a setting is none, or there is no such field.
        ProfileError, FileError: as `use`; or a value is not allowed.
    """
    file = existing(session)
    values = {**dict(map(_setting, settings)), **{_known(_path(text)): None for text in unset}}
    name = read(file.text, file.shown).named(name)
    return saved(file, editor.with_values(file.text, name, values, file.shown))


def _setting(text: str) -> tuple[KeyPath, Value]:
    written, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"'{one_line(written)}' sets nothing", hint="Write FIELD=VALUE, for example model=gpt-5.")
    path = _path(written.strip())
    return path, _value(path, value.strip())


def _path(text: str) -> KeyPath:
    try:
        path = keypath.parse(text)
    except TemplateError as error:
        raise UsageError(f"'{one_line(text)}' is no field", hint="Write it as request.timeout_seconds.") from error
    if not path:
        raise UsageError("a setting names no field", hint="Write FIELD=VALUE, for example model=gpt-5.")
    return path


def _known(path: KeyPath) -> KeyPath:
    """The path of a field that a profile may have."""
    for length in range(1, len(path) + 1):
        above = rules.of_field(path[: length - 1])
        if above is not None and rules.of_field(path[:length]) is None:
            told = advice(str(path[length - 1]), rules.fields(above))
            raise UsageError(f"{one_line(keypath.spell(path[:length]))}: {told}", hint="Nothing was changed.")
    return path


def _value(path: KeyPath, text: str) -> Value:
    """What a person meant: text where the field holds text, else as TOML spells it; the schema judges the result."""
    field = rules.of_field(path)
    if field is None or field.get("type") == "string":
        return text
    import tomli

    try:
        return tomli.loads(f"value = {text}")["value"]
    except tomli.TOMLDecodeError:
        return text
