"""What a file of the project's may have a say in, and what not: where a key goes, who could read it, which is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from toolsync.address import origin
from toolsync.doctor.layers import is_home
from toolsync.doctor.look import Look
from toolsync.doctor.model import Credential, Where
from toolsync.doctor.printing import unrun
from toolsync.doctor.probed import Probed
from toolsync.doctor.withheld import failing
from toolsync.errors import ProfileError
from toolsync.masking import Secret, holds_key_shape, looks_secret
from toolsync.probe.network import Network
from toolsync.trace.credential import CREDENTIALS, HEADERS

Reason = tuple[str, Where]
"""A sentence, and where the project's file says so."""


def kept(look: Look, probed: Probed | None) -> Reason | None:
    """Why no key of ours went out, where that is a project's doing, or a header's.

    Args:
        look: the program.
        probed: what asking came to; None where nobody was asked.
    """
    wheres = look.effective.wheres
    reason = unasked(look)
    if reason is not None:
        return reason
    if probed is not None and probed.is_held:
        return "key_kept_from_certificates", wheres["certificates"]
    base_url = wheres.get("base_url")
    if base_url is not None and look.is_steered("base_url") and not is_profiles(look):
        is_there = any(one.value is not None for one in look.effective.credentials)
        return ("key_kept_from_address", base_url) if is_there else None
    steered, helper = by_project(look), unrun(look)
    if steered is None and helper is not None:
        return "helper_of_project", helper
    wanting = failing(look) if steered is None else None
    return steered or (("helper_without", wanting) if wanting is not None else None)


def unasked(look: Look) -> Reason | None:
    """Why nobody is asked at all: whoever it is would learn what stands elsewhere; or the request cannot be sent."""
    where = look.effective.wheres.get("base_url")
    if where is not None and look.is_steered("base_url") and look.is_elsewhere("base_url"):
        return "address_of_elsewhere", where
    unfit = look.effective.wheres.get("unfit")
    return None if unfit is None else ("header_unfit", unfit)


def by_project(look: Look) -> Reason | None:
    """By what a project's file says a key would go astray, so that none of ours goes out: a sentence, and where."""
    wheres = look.effective.wheres
    if look.is_projects(wheres.get("route")):
        return "key_kept_from_route", wheres["route"]
    picked = next(_picked(look), None)
    if picked is not None:
        return "key_kept_of_project", picked
    lent = next(_lent(look), None)
    if lent is not None:
        return "key_kept_with_secret", lent
    is_plain = not look.effective.url.strip().lower().startswith("https:")
    if look.is_projects(wheres.get("proxy")) and is_plain:
        return "key_kept_from_proxy", wheres["proxy"]
    return None


def _picked(look: Look) -> Iterator[Where]:
    """Where a project's file chooses another of the user's secrets than the profile's key."""
    named = look.effective.wheres.get("key_env")
    for one in look.effective.credentials:
        where = named if look.is_projects(named) else one.where
        if where is not None and look.is_projects(where) and _is_anothers(look, one):
            yield where


def _is_anothers(look: Look, one: Credential) -> bool:
    """Whether it is neither the profile's key nor what the user's own files say."""
    if one.kind != "variable" or one.question not in CREDENTIALS or one.value in (None, look.world.key):
        return False
    own = look.users.get(one.question)
    return own is None or own.value not in (look.raw[one.question].value, look.found[one.question].value)


def _lent(look: Look) -> Iterator[Where]:
    """Where a project's file has a secret of the user's sent along, as a header, a parameter, a model's name."""
    for question in ("model", "query", *HEADERS):
        where = look.effective.wheres.get(question)
        if where is None or not look.is_projects(where):
            continue
        text = look.found[question].value
        if question == "env_headers" or look.is_elsewhere(question):
            names = [*look.named(question), *re.findall(r"\w+", text if question == "env_headers" else "")]
            values = [look.environ.get(name, "") for name in names]
            is_guarded = question in HEADERS and any(isinstance(one, Secret) for one in look.effective.headers.values())
            if is_guarded or any(map(looks_secret, names)) or any(map(holds_key_shape, (text, *values))):
                yield where


# Whom the address names.


def is_profiles(look: Look) -> bool:
    """Whether it asks a gateway of the user's own profiles.

    Where a project's file says which: that of the profile, and there nobody else's part of it.
    """
    base, world = look.effective.base_url, look.world
    try:
        asked = origin(base)
    except ProfileError:  # no address: that is what is wrong
        return False
    if not look.is_steered("base_url"):
        return asked in world.origins
    return any(asked == origin(own) and _is_part(base, own) for own in world.own_addresses)


def _is_part(base: str, own: str) -> bool:
    """Whether one lies below the other: of a host that many share, a folder may be anybody's."""
    one, other = _folders(base), _folders(own)
    shorter = min(len(one), len(other))
    return not {".", ".."} & {*one} and one[:shorter] == other[:shorter]


def _folders(url: str) -> list[str]:
    return [part for part in unquote(urlsplit(url.strip()).path).split("/") if part]


# Who vouches for whoever answers.


def own_bundle(look: Look) -> str:
    """The file of certificates that it trusts besides the usual ones, where the project has no say in it."""
    network, places = look.effective.network, look.world.session.places
    connection = look.tool.connections[look.reader.name]
    if not network.ca_bundle:
        return ""
    users = Network.of({}, look.users_environ, look.effective.base_url, connection.certificates, network.rules)
    bundle = users.ca_bundle
    is_here = is_home(places) or Path(bundle).is_absolute()  # else it is looked for in the project
    return bundle if is_here else ""
