"""`key rotate`: a new key, asked of the gateway first, then in the keyring and in every place that holds a copy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from toolsync import memory as memories
from toolsync import registry
from toolsync.commands.keys.astray import led_astray
from toolsync.commands.keys.holders import Holders, layers_of, may_have, users
from toolsync.commands.keys.stored import named, passphrase_files
from toolsync.commands.keys.stray import stop_at, strays, unreached
from toolsync.commands.keys.turning import Change
from toolsync.commands.keys.twin import twins
from toolsync.commands.pinging import requests
from toolsync.commands.writing.carry import stop_at_unwritable
from toolsync.commands.writing.recovering import recovered
from toolsync.errors import DocumentError, FileError, KeyMissingError, PlanRefusedError, SecretError, UsageError
from toolsync.masking import Secret
from toolsync.plan import FilePlan
from toolsync.planning.guarding import stop_at_exposed
from toolsync.planning.plans import Plan, Wish, plan_apply, plan_ping
from toolsync.planning.tracing import Notice
from toolsync.profile import KeyRef, Profile
from toolsync.result import Message
from toolsync.secret import former
from toolsync.secret.age import named as named_file
from toolsync.secret.vault import Entry
from toolsync.session import Session
from toolsync.value import frozen

DAYS = 7.0
"""For how long the key that was replaced is kept, unless somebody says otherwise."""

_WAIT_SECONDS = 10.0


@frozen
class Order:
    """What a person asked for.

    Attributes:
        name: of the key in the keyring.
        new: what it is to be; None: the key from before.
        days: for how long the one that it replaces is kept.
        profile: the one that was named, if it is one; it is tried even if it is not applied.
    """

    name: str
    new: Secret | None
    days: float = DAYS
    profile: str | None = None


@frozen
class Rotation:
    """Everything that one rotation would do.

    Attributes:
        session: the machine, on which the key is the new one already.
        change: what becomes of the key.
        old: the key in use; None where there is none.
        profiles: those that use the key, and are in use.
        files: what becomes of the files and rows that hold a copy.
        asked: for each profile, the tools whose requests are tried.
        news: what a person should know of an earlier run.
        deleted: files, rows and entries that held a copy, and that somebody has deleted since: they stay so.
        astray: tools that would send the new key to another gateway, for nothing here sets them anew.
    """

    session: Session
    change: Change
    old: Secret | None
    profiles: tuple[Profile, ...]
    files: Plan
    asked: tuple[Plan, ...]
    news: tuple[Notice, ...] = ()
    deleted: tuple[FilePlan, ...] = ()
    astray: tuple[Message, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether the keyring holds the key already, and every copy is of it."""
        return self.old == self.change.new and self.files.is_nothing

    @property
    def reference(self) -> KeyRef:
        """The key, as profiles name it."""
        return KeyRef("keyring", self.change.name)


def rotated_name(session: Session, profile: str | None) -> str:
    """The key of the profile, by its name in the keyring; or one that profiles name, as `keyring:NAME` or in a header.

    Raises:
        ProfileError, FileError: there is no such profile.
        UsageError: it is kept elsewhere, or no key at all; says how it is replaced there.
    """
    profiles = session.profiles()
    key = KeyRef("keyring", (profile or "").removeprefix("keyring:"))
    if profile not in profiles.names and key in named(profiles.profiles):
        return key.name
    if profile not in profiles.names and (files := passphrase_files(key.name, profiles.profiles)):
        told = ", ".join(map(named_file, files))
        text = f"keyring:{key.name} is no key, but the passphrase of {told}"
        raise UsageError(text, hint=f"`toolsync key set {key.name}` replaces it, and shuts the file with it.")
    found = profiles.get(profile)
    if found.key.kind == "keyring":
        return found.key.name
    there = _ELSEWHERE[found.key.kind].format(name=found.key.name, profile=found.name)
    known = registry.tools(session.config.parent)
    held = Holders(memories.read(memories.path_in(session.state)), known, profiles.names).copied().get(found.name, ())
    apply = shlex.join(("toolsync", "apply", "-p", found.name, *(word for tool in held for word in ("--tool", tool))))
    copied = f", and `{apply}` writes it wherever a copy stands" if held else ""
    raise UsageError(
        f"the key of profile '{found.name}' is not in the keyring, but comes from {found.key}",
        hint=f"{there} Then `toolsync ping -p {found.name}` tries it{copied}. Revoke the old key after that.",
    )


_ELSEWHERE = {
    "env": "Set ${name} to the new key where it is set now, and open a new shell.",
    "command": "Replace the key where that command finds it.",
    "age": "`toolsync key set {profile}` replaces it in its file.",
    "systemd": "Replace the credential '{name}' where the service's unit loads it from, and restart the service.",
}


def _former_key(session: Session, name: str) -> Secret:
    """The key to which `--back` goes: the one that was replaced, or that a `--back` cut short was going to."""
    vault = session.open_vault()
    known, now = former.read(session.state, name, vault), vault.get(name)
    put = vault.get(known.going) if known.going else None
    is_reached = put is not None and put != now
    target = now if is_reached and known.is_back else put if is_reached else vault.get(known.entry or name)
    if target is None or not (known.entry or known.going):
        raise KeyMissingError(
            f"the keyring keeps no key that keyring:{name} has replaced",
            hint="It is kept until its time is over, or `toolsync key forget`. `toolsync key rotate` takes any key.",
        )
    if target == now and not known.going:
        raise KeyMissingError(
            f"keyring:{name} holds the key from before already: another command put it there, and kept none",
            hint="`toolsync key rotate` takes any key; `toolsync apply` puts this one wherever a copy stands.",
        )
    return target


def plan(session: Session, order: Order) -> Rotation:
    """What a rotation would do, an interrupted change ended first; nobody is asked yet.

    Raises:
        KeyMissingError: there is no key from before.
        ProfileError: a profile that is in use cannot be had from its shared file.
        SecretError: the keyring does not answer, or a profile that uses the key too has none of its own.
        DocumentError, FileError: a file with a copy cannot be read or written; names it.
        PlanRefusedError: the result would do harm.
    """
    try:
        return _planned(session, order)
    except (DocumentError, FileError, SecretError) as error:
        error.hint = f"{error.hint} Nothing was changed: the key in use stays.".strip()
        raise


def _planned(session: Session, order: Order) -> Rotation:
    news = recovered(session)
    new = order.new or _former_key(session, order.name)
    change = Change(order.name, new, order.days, is_back=order.new is None)
    reference = KeyRef("keyring", change.name)
    old = session.open_vault().get(change.name)
    fresh = replace(session, secrets={**session.secrets, reference: change.new})
    snapshot = memories.seen(memories.path_in(session.state))
    memory = memories.parsed(snapshot)
    known, profiles = registry.tools(session.config.parent), session.profiles()
    there = Holders(memory, known, profiles.names)
    held, set_now = there.copied(), there.applied()
    asked_for = order.profile if order.profile in profiles.names else None
    in_use = {profiles.get(asked_for).name, memory.profile, *set_now}
    for name in profiles.missing.keys() & in_use:
        if may_have(profiles, name, reference):  # its tools would be left on the old one
            missing = profiles.missing[name]
            missing.hint = f"{missing.hint} Tools are set to '{name}', which may have the key. Nothing was changed."
            raise missing
    using = tuple(one for one in users(reference, profiles.profiles) if one.name in in_use)
    alike = twins(session, profiles.profiles, reference, old) if old is not None and old != new else ()
    theirs = {profile.name for twin in alike for profile in twin.profiles} - {one.name for one in using}
    if old is not None and old != new:
        stop_at(session, strays(session, there, old, {*theirs, *(one.name for one in using)}), profiles)
    files = _together([_applying(fresh, one, reference, held[one.name]) for one in using if one.name in held])
    files = replace(files or Plan(None, (), (), {}, (), memory), memory_sha256=snapshot.sha256)
    deleted = tuple(file for file in files.everything if _is_deleted(file))
    files = _without(files, deleted)
    if old is not None and old != new:
        reached = {(file.path, change.tool) for file in (*files.everything, *deleted) for change in file.changes}
        reached |= {(real, layer.tool) for real, layer in layers_of(memory) if there.profile_of(real, layer) in theirs}
        stop_at(session, unreached(session, there, old, reached), profiles)
    stop_at_exposed(fresh, files.files)
    stop_at_unwritable(files)
    asking = (_asking(fresh, one, reference, set_now.get(one.name, ())) for one in using)
    written = {change.tool for file in files.everything for change in file.changes}
    misled = (replace(one, level="problem") for one in led_astray(fresh, reference, written))
    return Rotation(fresh, change, old, using, files, tuple(filter(None, asking)), news, deleted, tuple(misled))


def _is_deleted(file: FilePlan) -> bool:
    """Whether somebody took it away since it was applied: a new key is no reason to bring it back."""
    is_gone = file.before is None and file.after is not None and file.remembered is not None
    return is_gone and file.format != "gitignore"  # whose lines keep the others' keys out of git


def _without(plan: Plan, deleted: Sequence[FilePlan]) -> Plan:
    gone = {file.path for file in deleted}
    return replace(
        plan,
        files=tuple(file for file in plan.files if file.path not in gone),
        entries=tuple(file for file in plan.entries if file.path not in gone),
    )


def _applying(session: Session, profile: Profile, key: KeyRef, tools: tuple[str, ...]) -> Plan:
    """What becomes of the files of tools that hold a copy."""
    with _its_own(profile, key):
        return plan_apply(session, Wish(profile.name, tools))


def _asking(session: Session, profile: Profile, key: KeyRef, tools: tuple[str, ...]) -> Plan | None:
    """Whose requests are tried: of the tools that are set to the profile, else of all that are here; None for none."""
    with _its_own(profile, key):
        try:
            asking = plan_ping(session, Wish(profile.name, tools))
        except UsageError:
            return None
        requests(session, asking)
        return asking


@contextmanager
def _its_own(profile: Profile, key: KeyRef) -> Iterator[None]:
    """Say whose key cannot be had, where the profile has the one that is replaced in a header only."""
    try:
        yield
    except SecretError as error:
        if profile.key != key:
            error.message = f"profile '{profile.name}' uses {key} too, and its own key cannot be had: {error.message}"
        raise


def _together(plans: Sequence[Plan]) -> Plan | None:
    """The plans as one.

    Raises:
        PlanRefusedError: two of them want different things of one file.
    """
    if not plans:
        return None
    files: dict[str, FilePlan] = {}
    for file in (file for one in plans for file in one.everything):
        if files.setdefault(file.path, file).after != file.after:
            raise PlanRefusedError(
                f"{file.path} is to be two things to two profiles that use the key",
                hint="Run `toolsync apply` for each of them, then this again.",
            )
    return replace(
        plans[0],
        tools=tuple(tool for one in plans for tool in one.tools),
        files=tuple(file for file in files.values() if not isinstance(file.path, Entry)),
        entries=tuple(file for file in files.values() if isinstance(file.path, Entry)),
        snapshots={path: snapshot for one in plans for path, snapshot in one.snapshots.items()},
        skipped=tuple(skipped for one in plans for skipped in one.skipped),
        shelves=tuple(shelf for one in plans for shelf in one.shelves),
        asides=tuple(dict.fromkeys(aside for one in plans for aside in one.asides)),
    )
