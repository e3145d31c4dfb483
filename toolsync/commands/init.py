"""`init`: a first profile, or one more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsync.address import addresses
from toolsync.commands.profiles.file import Edited, opened, saved, schema_laid_beside
from toolsync.document import equal
from toolsync.errors import UsageError
from toolsync.gateways import Gateway
from toolsync.profile import KeyRef, editor
from toolsync.profile.reader import read
from toolsync.session import Session
from toolsync.value import frozen


def init(session: Session, name: str, table: Mapping[str, Any], *, active: bool = True) -> Edited:
    """The profile file with a profile `name`, which becomes the active one; made where there is none.

    A profile of that name that says the same already is left as it is, so that a script can run it twice.

    Args:
        session: where the file is.
        name: what the profile is to be called.
        table: its fields; `profile_table` makes them.
        active: whether it becomes the active one.

    Raises:
        ProfileError: there is another profile of that name, or a value is not allowed; nothing was written.
        FileError: the file cannot be read or written.
    """
    file = opened(session)
    before = file.text
    if before and equal(_present(before, name, file.shown), dict(table)):
        return Edited(file, before, before)
    after = editor.added(before, name, table, active=active, file=file.shown)
    edited = saved(file, after)
    if not before:
        schema_laid_beside(file)
    return edited


def demand_free(session: Session, name: str) -> None:
    """Nothing, if a new profile may be called so.

    Raises:
        ProfileError: it may not, or there is one.
        FileError: the file cannot be read.
    """
    file = opened(session)
    editor.demand_free(file.text, name, file.shown)


def _present(text: str, name: str, shown: str) -> object:
    return read(text, shown).document.get(("profiles", name))


@frozen
class Wanted:
    """What a new profile is to be made from, as far as somebody said it.

    Attributes:
        gateway: a known one, whose address, and the addresses of single protocols that no rule derives, are taken.
        base_url: goes before the gateway's.
        model: as the gateway names it.
        key: a key reference; left out, the key is looked for in the keyring under the profile's name.
        title: goes before the gateway's.
    """

    gateway: Gateway | None = None
    base_url: str | None = None
    model: str | None = None
    key: str | None = None
    title: str | None = None


def profile_table(name: str, wanted: Wanted) -> dict[str, Any]:
    """The fields of a new profile `name`, as the file holds them.

    Raises:
        UsageError: address or model is wanting; says how to give it.
        ProfileError: the key is no reference, or the address none.
    """
    gateway = wanted.gateway
    table = {
        "title": wanted.title or (gateway.title if gateway else None),
        "gateway": gateway.name if gateway else None,
        "base_url": _base_url(wanted.base_url, gateway),
        "model": _model(wanted.model, gateway),
        "key": str(KeyRef.parse(wanted.key)) if wanted.key else f"keyring:{name}",  # a bad name is judged as a name
        "plaintext": "ask",
        "urls": _urls(wanted.base_url, gateway),
    }
    return {field: value for field, value in table.items() if value}


def _base_url(base_url: str | None, gateway: Gateway | None) -> str:
    if base_url is not None:
        addresses(base_url)
        return base_url.strip()
    if gateway is None:
        raise UsageError("no gateway is named", hint="Say --gateway NAME, or --base-url with its address.")
    if gateway.base_url is None:
        raise UsageError(f"{gateway.title} has no address of its own", hint=f"Say --base-url with {gateway.asks}.")
    return gateway.base_url


def _model(model: str | None, gateway: Gateway | None) -> str:
    if model and model.strip():
        return model.strip()
    example = f", for example {gateway.model}" if gateway else ""
    raise UsageError("no model is named", hint=f"Say --model with the name that the gateway gives it{example}.")


def _urls(base_url: str | None, gateway: Gateway | None) -> dict[str, str]:
    """The gateway's own addresses, unless the base address is another one."""
    if gateway is None:
        return {}
    is_elsewhere = base_url is not None and (
        gateway.base_url is None or addresses(base_url) != addresses(gateway.base_url)
    )
    return {} if is_elsewhere else dict(gateway.urls)
