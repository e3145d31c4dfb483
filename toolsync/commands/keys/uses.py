"""`key uses`: who holds a key, and who asks for it; places only, never a value."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from toolsync import disk, document, registry
from toolsync import memory as memories
from toolsync.asked import asked_for, asked_in
from toolsync.commands.environment.variables import variable_of
from toolsync.commands.keys.holders import Holders, users
from toolsync.commands.keys.stored import uses
from toolsync.commands.keys.stray import settings_now
from toolsync.commands.leaks.leftover import leftovers
from toolsync.document import MISSING, Document
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import SecretError, ToolsyncError, UsageError
from toolsync.masking import Secret, printable
from toolsync.overlay import edits
from toolsync.planning.fitting import ToolPlan, Wish, remembered_tools
from toolsync.planning.plans import plan_ping
from toolsync.planning.stores import Address, Shelves
from toolsync.profile import KeyRef, Profile
from toolsync.remembered import NOTHING, LayerMemory, Memory
from toolsync.result import DONE, PROBLEM, Message, Result
from toolsync.secret import former
from toolsync.secret.vault import Entry
from toolsync.session import Session
from toolsync.tool import FileRow, Tool
from toolsync.value import frozen

Kind = Literal["helper", "variable", "copy", "row", "entry", "other key", "shell", "found", "other copy"]


@frozen
class Use:
    """One place.

    Attributes:
        kind: `helper` runs `key print`, `variable` reads one from its environment, `copy`, `row` and `entry` hold the
            key in a file, a database and the keyring, `other key` holds another where a copy was written, `shell` is a
            variable of this shell's; `found` and `other copy` hold it, and toolsync did not write it there.
        who: the tool, for people; "" for none.
        where: the file, the variable or the entry.
        path: where in the file, or its lines.
    """

    kind: Kind
    who: str
    where: str
    path: str = ""


def key_uses(session: Session, reference: KeyRef) -> Result:
    """Every place that holds the key or asks for it, as far as toolsync knows or can find out.

    Raises:
        ProfileError, FileError, MemoryFileError: profiles or memory cannot be read.
    """
    profiles, memory = session.profiles(), memories.read(memories.path_in(session.state))
    there = Holders(memory, registry.tools(session.config.parent), profiles.names)
    key, problem = _key(session, reference)
    using = users(reference, profiles.profiles)
    known_uses = list(_known_uses(session, reference, using, there, key))
    found = list(_found(session, memory, key, known_uses)) if key else []
    entries = former.noted(session.state) if reference.kind == "keyring" else {}
    kept = entries.get(reference.name)
    data = {
        "key": str(reference),
        "profiles": [{"profile": name, "role": role} for name, role in uses(reference, profiles.profiles).items()],
        "uses": [vars(one) for one in (*known_uses, *found)],
        "kept_until": kept.until if kept and kept.entry else None,
    }
    return Result("key uses", data, problem, PROBLEM if problem else DONE)


def _key(session: Session, reference: KeyRef) -> tuple[Secret | None, tuple[Message, ...]]:
    try:
        return session.secret(reference), ()
    except SecretError as error:
        text = f"{error.message}; so nobody can tell where else it stands, or whether a copy is of it"
        return None, (Message("problem", text, error.hint),)


def _known_uses(
    session: Session, reference: KeyRef, using: Sequence[Profile], there: Holders, key: Secret | None
) -> Iterator[Use]:
    """What toolsync set itself; for a header's key nobody asks, and no entry has it."""
    memory, known = there.memory, there.known
    own = {profile.name for profile in using if profile.key == reference}
    told: set[str] = set()
    silent: dict[str, _Laid] = {}
    served = {profile.name: _served(session, profile, remembered_tools(memory)) for profile in using}
    shelves = Shelves(session)
    for real, file in memory.files.items():
        for layer in file.layers:
            tools = served.get(profile := there.profile_of(real, layer))
            if tools is None or layer.tool not in known:
                continue
            place = Address.parse(real) if known[layer.tool].store else None
            if place is None and not disk.is_there(Path(real)):  # somebody has deleted it since
                continue
            where = session.shown(str(place.row) if place else Path(real))
            laid = _Laid(known[layer.tool], layer, tools.get(layer.tool), where, is_own=profile in own)
            if place is None:
                found = list(_in_file(laid, settings_now(Path(real), laid.tool, layer), asked_for(real), key))
                told |= {laid.tool.name} if found else set()
                silent.setdefault(laid.tool.name, laid)
                yield from found
            elif (text := _part(laid, place, shelves)) is not None:
                yield from _in_row(laid, place, text, key)
    for laid in (laid for name, laid in silent.items() if name not in told and laid.is_own and laid.way == "env"):
        yield from _asking(laid)  # its settings name no variable, for it reads one of its own choice
    yield from _entries(session, there, own, key)


def _entries(session: Session, there: Holders, profiles: Container[str], key: Secret | None) -> Iterator[Use]:
    """What it put into other programs' entries in the keyring."""
    for name, file in there.memory.entries.items():
        value = _value(session, name)
        for layer in file.layers if value else ():
            if layer.tool in there.known and there.profile_of(name, layer) in profiles:
                kind: Kind = "entry" if key is None or value == key else "other key"
                yield Use(kind, there.known[layer.tool].title, printable(name))


def _value(session: Session, name: str) -> Secret | None:
    """What the entry holds; None where that cannot be had, as nothing can then."""
    with suppress(SecretError):
        return session.open_vault().get(Entry(name))
    return None


@frozen
class _Laid:
    """What was laid on a file or a row.

    Attributes:
        tool: whose.
        layer: what is remembered of it.
        plan: the tool as the profile serves it; None where that is not known.
        where: the file or row, as people write it.
        is_own: whether the key in question is the profile's own, and not a header's.
    """

    tool: Tool
    layer: LayerMemory
    plan: ToolPlan | None
    where: str
    is_own: bool

    @property
    def way(self) -> str:
        """How the key reaches the tool; "" where that is not known."""
        return self.plan.delivery.way if self.plan and self.plan.delivery else ""

    @property
    def has_secrets(self) -> bool:
        """Whether it says anything of keys."""
        return any(value.secret and value.after != NOTHING for value in self.layer.values)


def _in_file(laid: _Laid, now: Document | None, asked: str, key: Secret | None) -> Iterator[Use]:
    """Copies in a tool's own file as it stands, keys that somebody put in their place, and what it asks for."""
    title, way = laid.tool.title, laid.way
    secret = [value.path for value in laid.layer.values if value.secret and value.after != NOTHING]
    there = {path: found for path in secret if now is not None and (found := now.get(parse_path(path))) is not MISSING}
    if laid.layer.holds_key:
        copied = {path for path, found in there.items() if key is not None and key.reveal() in str(found)}
        meant = _meant(laid, key) if laid.plan is not None and key is not None else () if way or asked else there
        for path in there:
            kind: Kind | None = "copy" if path in copied else "other key" if path in meant else None
            if kind is not None:
                yield Use("copy" if key is None else kind, title, laid.where, printable(spell(parse_path(path))))
    if not laid.is_own:
        return
    if asked:
        yield Use("helper", title, laid.where, f"toolsync key print {asked}")
    elif there and way in ("command", "env"):
        yield from _asking(laid)


def _meant(laid: _Laid, key: Secret) -> set[str]:
    """Where the profile has the key stand: other secrets, in headers, are no copies of it."""
    row = _row(laid)
    if row is None or laid.plan is None:
        return set()
    served = laid.plan.of.get(row.of, laid.plan)
    wanted = edits(row.document.data, served.facts, now="")
    return {spell(edit.path) for edit in wanted if key.reveal() in str(edit.value)}


def _row(laid: _Laid) -> FileRow | None:
    return next((row for row in laid.tool.files if row.overlay == laid.layer.overlay), None)


def _served(session: Session, profile: Profile, tools: Iterable[str]) -> Mapping[str, ToolPlan | None]:
    """The tools as the profile serves them; None for one that gets a copy of a key which cannot be had."""
    try:
        return {tool.tool.name: tool for tool in plan_ping(session, Wish(profile.name)).tools}
    except UsageError:  # no tool is found here
        return {}
    except SecretError:
        found: dict[str, ToolPlan | None] = dict.fromkeys(tools)
        for name in tools:
            with suppress(ToolsyncError):
                found |= {tool.tool.name: tool for tool in plan_ping(session, Wish(profile.name, (name,))).tools}
        return found


def _in_row(laid: _Laid, place: Address, text: str, key: Secret | None) -> Iterator[Use]:
    """A copy in a row as it stands, a key that somebody put in its place, or what the row asks for; each once."""
    title, asked = laid.tool.title, asked_in(text.encode())
    there = _texts(laid, text)
    copied = [path for path, found in there.items() if key is not None and key.reveal() in found]
    alone = [path for path in copied if key is not None and there[path] == key.reveal()]
    meant = _meant(laid, key) if laid.plan is not None and key is not None else ()
    others = [path for path in there if path in meant]
    if copied or others:
        path = printable(spell(parse_path([*alone, *copied, *others][0])))
        yield Use("row" if copied else "other key", title, laid.where, path)
    elif laid.layer.holds_key and not asked and (key is None or not text):  # of which key nobody can tell
        yield Use("row", title, laid.where)
    elif laid.is_own and asked:
        yield Use("helper", title, laid.where, f"toolsync key print {asked}")
    elif laid.is_own:
        yield from _asking(laid, place.app)


def _part(laid: _Laid, place: Address, shelves: Shelves) -> str | None:
    """The part of a row, "" where it cannot be read; None where it is not there, or says nothing of keys."""
    with suppress(ToolsyncError):
        return shelves.text(laid.tool, place) if laid.has_secrets else None
    return ""


def _texts(laid: _Laid, text: str) -> Mapping[str, str]:
    """What stands where a secret was set."""
    row = _row(laid)
    secret = [value.path for value in laid.layer.values if value.secret and value.after != NOTHING]
    with suppress(ToolsyncError):
        now = document.parse(text.encode(), row.format if row else "json")
        return {path: str(found) for path in secret if (found := now.get(parse_path(path))) is not MISSING}
    return {}


def _asking(laid: _Laid, app: str = "") -> Iterator[Use]:
    """How the key is asked for; by a row, as its app's own tool does."""
    if laid.plan is None:
        return
    tool, of = laid.plan.tool, laid.plan.of
    names = dict.fromkeys(row.of for row in tool.files if row.of in of and row.app == app)
    for held in [of[name] for name in names] if of else [laid.plan]:
        way = held.delivery.way if held.delivery else ""
        if way == "command" and held.profile:
            yield Use("helper", tool.title, laid.where, f"toolsync key print {held.profile.name}")
        if way == "env":
            yield Use("variable", tool.title, laid.where, f"${variable_of(held.tool, held.facts)}")


def _found(session: Session, memory: Memory, key: Secret, listed: list[Use]) -> Iterator[Use]:
    """Where it stands beside."""
    places = {Address.parse(real).path if _is_part(real) else Path(real) for real in memory.files}
    ours = {session.shown(path) for path in places} & {_file(use) for use in listed}
    ours |= {use.where for use in listed if use.kind == "entry"}
    for one in leftovers(session, memory, key).places:
        lines = ", ".join(map(str, one.lines))
        if one.where.startswith("$"):
            yield Use("shell", "", one.where)
        elif one.where not in ours:
            yield Use("other copy" if one.is_copy else "found", "", one.where, f"line {lines}" if lines else "")


def _is_part(real: str) -> bool:
    return not Path(real).exists() and Address.parse(real).path.is_file()


def _file(use: Use) -> str:
    """The file of a use; of a row, its container."""
    return use.where.rpartition("#")[0] if use.kind == "row" else use.where
