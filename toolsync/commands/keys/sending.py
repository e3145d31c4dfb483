"""What each tool really sends after a rotation: its own settings read as it reads them, and the gateway asked so."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolsync.address import Dialect, origin
from toolsync.commands.pinging import for_tools, named, named_problem, patient
from toolsync.doctor.helper import Command, Printed
from toolsync.doctor.look import Look, looks
from toolsync.doctor.model import Credential, Effective
from toolsync.doctor.world import World
from toolsync.errors import ProfileError, SecretError
from toolsync.masking import Secret
from toolsync.profile import Profile
from toolsync.secret.vault import MemoryVault
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.probe import Ping


@frozen
class Sent:
    """What one program of a tool sends.

    Attributes:
        called: the program, for people.
        is_new: whether the new key is what it sends; None where nobody can tell from here.
        status: what the gateway answered it, where it was asked.
        text: what is wrong; "" where nothing is.
        hint: what to do about it.
        is_problem: whether it is in the way; else it is good to know.
    """

    called: str
    is_new: bool | None
    status: int | None = None
    text: str = ""
    hint: str = ""
    is_problem: bool = False

    def data(self) -> dict[str, Any]:
        """As JSON values."""
        return {"program": self.called, "new_key": self.is_new, "status": self.status, "problem": self.text}


class Blind(World):
    """A machine on which no program is run for a key: none sees its keyring, or the key is of no interest."""

    def printed(self, command: Command, environ: Mapping[str, str]) -> Printed:
        """Nothing."""
        del command, environ
        return Printed()


def sent(
    session: Session, profile: Profile, tools: Sequence[Tool], keys: Sequence[Secret], *, ping: bool
) -> tuple[Sent, ...]:
    """What the programs of the tools send that are set to the profile's addresses.

    Args:
        session: the machine.
        profile: whose key it is.
        tools: those that are applied for it.
        keys: what they should send, and what that replaced; another profile may have either of the two as well.
        ping: whether the gateway is asked as they would ask it, once for each address, dialect and model.
    """
    is_blind = isinstance(session.open_vault(), MemoryVault)
    world = (Blind if is_blind else World)(session, profile, session.profiles().profiles)
    others = frozenset(_keys_of_others(session, profile)) - {*keys}
    there = [look for tool in tools for look in looks(world, tool)]
    ours = [look for look in there if look.damaged is None and _is_ours(look) and not _is_others(look, others)]
    is_aside = session.profiles().active != profile.name
    judge = _Judge(profile, keys[0], ping=ping, is_blind=is_blind, is_aside=is_aside)
    return (*map(judge.sent, ours), *(_unknown(look, one.file) for look in there if (one := look.damaged)))


def _unknown(look: Look, file: str) -> Sent:
    """That it is not known what it sends."""
    text = f"what {look.called} sends now is not known: {look.world.session.shown(file)} cannot be read as it stands"
    return Sent(look.called, None, text=text, hint=f"`toolsync doctor {look.tool.name}` says why.")


def _is_ours(look: Look) -> bool:
    """Whether it goes where the profile sends it: another profile's tool is looked at with that one."""
    wanted = look.wanted.get("base_url")
    return wanted is not None and origin_of(look.effective.base_url) == origin_of(wanted)


def _keys_of_others(session: Session, profile: Profile) -> Iterator[Secret]:
    """The keys of profiles that take another one; no program is run for them."""
    for other in session.profiles().profiles:
        if other.key != profile.key and other.key.kind in ("keyring", "env"):
            with suppress(SecretError):
                yield session.secret(other.key)


def _is_others(look: Look, keys: Collection[Secret]) -> bool:
    """Whether it sends another profile's key, as it should: what earlier versions set is noted of copies only."""
    sends = look.effective.credentials
    return bool(sends) and all(one.value in keys for one in sends)


def origin_of(url: str) -> str:
    """Scheme, host and port of an address; "" where it is none."""
    try:
        return origin(url)
    except ProfileError:
        return ""


class _Judge:
    """Looks at one program after the other; the gateway is asked the same thing once."""

    def __init__(self, profile: Profile, key: Secret, *, ping: bool, is_blind: bool, is_aside: bool) -> None:
        self._profile, self._key, self._asks, self._is_blind = profile, key, ping, is_blind
        self._is_aside = is_aside
        self._answers: dict[tuple[Any, ...], Ping] = {}

    def sent(self, look: Look) -> Sent:
        """What it sends."""
        effective = look.effective
        for one in effective.credentials:
            if one.value is None and not self._is_blind:
                return _keyless(look)
            if one.value is not None and one.value != self._key:
                return _another(look, one, self._key)
        if all(one.value is None for one in effective.credentials):
            return Sent(effective.called, is_new=None)
        if not self._asks or effective.dialect is None:
            return Sent(effective.called, is_new=True)
        return self._answered(effective, effective.dialect)

    def _answered(self, effective: Effective, dialect: Dialect) -> Sent:
        asked = dialect, effective.base_url, effective.model
        if asked not in self._answers:
            self._answers[asked] = self._pinged(effective, dialect)
        came = self._answers[asked]
        problem = named_problem(came)
        if not problem:
            return Sent(effective.called, is_new=True, status=came.status)
        text = f"{effective.called} is not served with the new key: {problem}"
        hint = named(came.hint, self._profile)
        hint = for_tools(hint, self._profile, [effective.tool]) if self._is_aside else hint
        return Sent(effective.called, is_new=True, status=came.status, text=text, hint=hint, is_problem=True)

    def _pinged(self, effective: Effective, dialect: Dialect) -> Ping:
        from toolsync.probe import PingRequest, ping

        network = patient(effective.network, self._profile.request)
        headers = dict(effective.headers)
        return ping(PingRequest(dialect, effective.base_url, effective.model, self._key, headers, network))


def _keyless(look: Look) -> Sent:
    text = f"{look.effective.called} gets no key: the command that it runs for it fails"
    hint = f"`toolsync doctor {look.tool.name}` says why."
    return Sent(look.effective.called, is_new=None, text=text, hint=hint, is_problem=True)


def _another(look: Look, one: Credential, key: Secret) -> Sent:
    """A key that is not the new one."""
    raw = look.raw.get(one.question)
    if raw is not None and raw.value == key.reveal():
        text = f"{look.effective.called} takes a part of the key for a variable's name, and so sends another key"
        hint = "Take a key without '$' from the gateway, or let it go another way (`key_way`)."
        return Sent(look.effective.called, is_new=False, text=text, hint=hint, is_problem=True)
    shell, value = look.world.session.places.environ, one.value.reveal() if one.value else ""
    held = [f"${name}" for name in look.named(one.question) if shell.get(name) == value]  # a file may only name it
    if one.kind == "variable" and one.where.layer != "keyring" and (held or not one.where.file):
        read = held[0] if held else one.where.slot
        text = f"{look.effective.called} reads {read}, which holds another key in this shell"
        hint = "Open a new shell, in which it is set from the keyring anew."
        return Sent(look.effective.called, is_new=False, text=text, hint=hint)
    text = f"{look.effective.called} still sends another key, from {one.where.slot}"
    hint = f"`toolsync doctor {look.tool.name}` says where that stands."
    return Sent(look.effective.called, is_new=False, text=text, hint=hint, is_problem=True)
