"""`doctor`: the gateways, asked as the tools ask them; what several programs ask alike is asked once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolsync.doctor.astray import owner
from toolsync.doctor.diagnosis import is_blocked
from toolsync.doctor.look import Look
from toolsync.doctor.model import Credential, Effective, Finding
from toolsync.doctor.probed import Probed
from toolsync.doctor.steering import by_project, is_profiles, own_bundle, unasked
from toolsync.doctor.unasked import is_unset
from toolsync.masking import Secret
from toolsync.secret.dummy import is_dummy
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.probe.request import Request
    from toolsync.probe.survey import Answer

Triple = tuple[object, ...]


@frozen
class Probes:
    """What asking came to, by what was asked.

    Attributes:
        found: each distinct request.
    """

    found: Mapping[Triple, Probed]

    def of(self, effective: Effective) -> Probed | None:
        """What came of this request; None where nobody was asked."""
        return self.found.get(_triple(effective))

    def __iter__(self) -> Iterator[Probed]:
        """Each once, in the order in which they were asked."""
        return iter(self.found.values())


def probes(told: Sequence[tuple[Look, Sequence[Finding]]], *, is_deep: bool) -> Probes:
    """Ask for every program that something can be asked for.

    Args:
        told: the programs, with what the checks found.
        is_deep: whether a coding tool's kind of request is tried too.
    """
    looks: dict[Triple, Look] = {}
    for look, offline in told:
        effective = look.effective
        if effective.dialect is None or not effective.url or is_blocked(offline) or is_unset(look, offline):
            continue
        if unasked(look) is not None:
            continue
        looks.setdefault(_triple(effective), look)
    if not looks:
        return Probes({})
    from toolsync.probe.survey import Survey

    root = next(iter(looks.values())).world.session.places.root
    requests = [request_of(look) for look in looks.values()]
    answers = Survey(root, is_deep).of(requests)
    each = zip(looks.items(), requests, answers, strict=True)
    return Probes({triple: _probed(look, request, one) for (triple, look), request, one in each})


def _probed(look: Look, request: Request, one: Answer) -> Probed:
    """What it came to; where the way ends for us, as far as the tool gets with what the project has it trust."""
    from toolsync.probe.way import way

    network = look.effective.network.towards(request.url)
    if one.way.end is None or network == request.network:
        return Probed(one.way, one.inquiry)
    gone = way(request.url, network, look.world.session.places.root)
    return Probed(gone, is_held=gone.end is None)


def _triple(effective: Effective) -> tuple[object, ...]:
    """What comes to the same, however many programs ask it; for how long a tool waits is the tool's own."""
    keys = tuple((one.header, one.value) for one in effective.credentials)
    headers = tuple(sorted((name, str(value)) for name, value in effective.headers.items()))
    waits = effective.timeout_seconds is not None and effective.tool, effective.timeout_seconds
    question = effective.url, effective.dialect, effective.model, effective.streams, effective.limit_name
    return *question, keys, headers, effective.network.towards(effective.url), waits


def request_of(look: Look) -> Request:
    """The request as it is asked; the key goes to the user's own addresses only."""
    from toolsync.probe.request import Request

    effective = look.effective
    assert effective.dialect is not None  # noqa: S101  the caller looked
    keys = {one.header: one.value for one in effective.credentials if one.value is not None and _may_send(look, one)}
    is_known = bool(keys) or not effective.credentials  # without its key, the gateway would only ask for one
    is_steered = by_project(look) is not None
    is_users = not look.is_steered("base_url") and not is_steered
    is_own = is_profiles(look) and not is_steered
    is_trusted = (is_known and is_own) or (is_users and _has_no_secret(effective))
    headers = {
        name: value
        for name, value in effective.headers.items()
        if is_own and (is_trusted or not isinstance(value, Secret))  # not every secret looks like one
    }
    return Request(
        dialect=effective.dialect,
        base=effective.base_url,
        url=effective.url,
        model=effective.model,
        credentials=keys if is_trusted else {},
        headers=headers,
        streams=effective.streams,
        timeout_seconds=effective.timeout_seconds,
        timeout_of=look.tool.request.timeout_of,
        limit_name=effective.limit_name,
        query=effective.query if is_trusted else "",
        network=replace(effective.network, ca_bundle=own_bundle(look)).towards(effective.url),
        is_trusted=is_trusted,
        is_users=is_users,
    )


def _has_no_secret(effective: Effective) -> bool:
    """Whether nothing goes out that might be somebody's key, as from a local server's tools: asking is safe then.

    Not every secret looks like one, so that a header, a parameter or a name in the address counts for one.
    """
    keys = [one.value for one in effective.credentials]
    is_bare = not effective.headers and not effective.query and "@" not in urlsplit(effective.url).netloc
    return is_bare and all(key is not None and is_dummy(key.reveal()) for key in keys)


def _may_send(look: Look, one: Credential) -> bool:
    """Whether we send it: a login of the tool's with its vendor is sent by the tool alone, and never by us.

    Nor is the key of a profile sent to another one's gateway.
    """
    return (one.kind != "login" or one.value == look.world.key) and owner(look, one.value, None) is None
