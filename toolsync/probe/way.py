"""The way to a gateway, step by step: proxy, name, port, encryption; each with its own limit, and no word of HTTP sent.

Where a certificate is not trusted it is read all the same, over a connection on which nothing is said.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from toolsync import waiting
from toolsync.address import is_loopback
from toolsync.errors import ProfileError
from toolsync.probe import proxy as proxies
from toolsync.probe.authority import authorities
from toolsync.probe.body import shown
from toolsync.probe.encryption import Certificate, Connect, encrypted, untrusted
from toolsync.probe.failure import CERTIFICATE
from toolsync.probe.network import Network, trust
from toolsync.probe.port import connected, is_open, ports, resolved
from toolsync.probe.step import SECONDS, Place, Step
from toolsync.sentence import say
from toolsync.value import frozen


@frozen
class Way:
    """How far one gets.

    Attributes:
        url: where to.
        steps: in order.
        certificate: what the server shows, trusted or not; None where it came to none, or it cannot be read.
        proxy: the proxy on the way, fit to be shown; "" where there is none.
        is_direct_open: whether the port can be reached without the proxy; None where there is none, or nobody looked.
        unread_bundle: the file of certificates that could not be read, fit to be shown; most clients go on without it.
        is_by_system: whether the certificate holds by the system's roots alone, which some clients do not read.
        is_by_issuer: whether it holds by a certificate that is no root, and whose own issuer is not trusted.
        has_own_roots: whether the file of certificates holds an authority that was chosen, and does not help.
    """

    url: str
    steps: tuple[Step, ...]
    certificate: Certificate | None = None
    proxy: str = ""
    is_direct_open: bool | None = None
    unread_bundle: str = ""
    is_by_system: bool = False
    is_by_issuer: bool = False
    has_own_roots: bool = False

    @property
    def end(self) -> Step | None:
        """The step behind which there is no going on; None where a request can be sent."""
        return next((step for step in self.steps if step.is_end), None)

    @property
    def warnings(self) -> tuple[Step, ...]:
        """Steps that went well on a detour."""
        return tuple(step for step in self.steps if step.cause and not step.is_end)


def way(url: str, network: Network, root: Path = Path("/")) -> Way:
    """Go as far as a request would, and send none.

    Args:
        url: an address that can be parsed.
        network: proxy and trust.
        root: of the file system, which tells whether this is a machine within another.
    """
    parts = urlsplit(url.strip())
    place = Place(parts.hostname or "", parts.port or proxies.PORTS.get(parts.scheme.lower(), 443))
    proxy = network.proxy_for(url)
    return _straight(url, parts, place, network, root) if not proxy else _by_proxy(url, parts, place, network, proxy)


def _straight(url: str, parts: SplitResult, place: Place, network: Network, root: Path) -> Way:
    with waiting.on(lambda: say("waits_name", host=shown(place.host)), SECONDS):
        name, addresses = resolved(place)
    if name.is_end:
        return Way(url, (name,))
    with waiting.on(lambda: say("waits_port", place=str(place)), SECONDS):
        knocks, first = ports(place, addresses, root)
    if first is None or parts.scheme.lower() != "https":
        return Way(url, (name, *knocks))
    step, rest = _encrypted(lambda: connected(first), place, url, network)
    return replace(rest, steps=(name, *knocks, step))


def _by_proxy(url: str, parts: SplitResult, place: Place, network: Network, proxy: str) -> Way:
    with waiting.on(lambda: say("waits_proxy"), SECONDS):
        step, address = proxies.met(proxy, network.rules.schemes, is_doubtful=network.rules.is_mistaken(network.proxy))
    steps, rest = [step], Way(url, ())
    is_secret = parts.scheme.lower() == "https"
    if not step.is_end and (is_secret or network.rules.tunnels) and address.scheme in ("http", "https"):
        with waiting.on(lambda: say("waits_tunnel", place=str(place)), 2 * SECONDS):  # to connect, and for its answer
            shut, connect = proxies.tunnel(address, place, lambda: _trust(url, network, is_by_system=True)[0])
        if shut and shut.cause not in _OF_PROXY and _is_here(url) and is_open(place):
            shut = replace(shut, cause="proxy_captures_loopback")
        steps += [_minded(shut, network)] if shut else []
        if connect is not None and is_secret:
            secret, rest = _encrypted(connect, place, url, network)
            steps.append(secret)
    is_direct_open = is_open(place) if _is_here(url) or steps[-1].is_end else None
    if is_direct_open and steps[-1].cause in _OF_REFUSAL:
        steps[-1] = replace(steps[-1], cause="proxy_in_the_way", certainty="likely")
    return replace(rest, steps=tuple(steps), proxy=step.target, is_direct_open=is_direct_open)


@frozen
class _Try:
    """A handshake, and what it holds by besides Mozilla's roots and the file's: the system's, and issuers' alone."""

    step: Step
    certificate: Certificate | None
    unread_bundle: str = ""
    is_by_system: bool = False
    is_by_issuer: bool = False


def _encrypted(connect: Connect, place: Place, url: str, network: Network) -> tuple[Step, Way]:
    """The handshake by what does for the tool; no steps yet."""
    tries = list(_tries(connect, place, url, network))
    last = tries[-1]
    is_by_issuer = last.is_by_issuer and not last.step.is_end
    is_taken = last.step.cause != "tls_untrusted_ca" and (network.takes_issuers or not last.is_by_issuer)
    taken = last if is_taken else tries[1]
    is_refused = taken.step.cause in _OF_CERTIFICATE
    certificate = untrusted(connect, place.host) if is_refused else taken.certificate
    is_by_system = taken.is_by_system and not taken.step.is_end
    gone = Way(url, (), certificate, unread_bundle=taken.unread_bundle, is_by_system=is_by_system)
    is_lacking = taken.step.is_end and bool(network.ca_bundle) and not gone.unread_bundle
    has_own_roots = is_lacking and 0 < len({*authorities(network.ca_bundle)}) < _MANY
    return _minded(taken.step, network), replace(gone, is_by_issuer=is_by_issuer, has_own_roots=has_own_roots)


_MANY = 50
"""Authorities: a file with so many is a copy of those that everybody trusts, as conda names one; Mozilla's are 140."""


def _tries(connect: Connect, place: Place, url: str, network: Network) -> Iterator[_Try]:
    """From the usual on, until it is trusted."""
    usual = replace(network, takes_issuers=False)
    for is_by_system in (False, True):
        context, unread = _trust(url, usual, is_by_system=is_by_system)
        one = _Try(*encrypted(connect, place, context), unread, is_by_system)
        yield one
        if one.step.cause != "tls_untrusted_ca":
            return
    if network.ca_bundle and not unread:
        context, _ = _trust(url, replace(network, takes_issuers=True, ca_bundle=""), is_by_system=False)
        for issuer in authorities(network.ca_bundle):  # not the server's own, which OpenSSL would trust for itself
            context.load_verify_locations(cadata=issuer)
        yield _Try(*encrypted(connect, place, context), is_by_issuer=True)


_OF_CERTIFICATE = frozenset(cause for cause, _ in CERTIFICATE.values())
_OF_REFUSAL = frozenset({"waf_block", "origin_unreachable"})
"""Why a proxy opens no tunnel to what it may not, or cannot, reach."""

_OF_PROXY = _OF_CERTIFICATE | {"proxy_auth_required"}
"""Why a proxy opens no tunnel, wherever that should lead."""


def _minded(step: Step, network: Network) -> Step:
    """The handshake as the tool sees it: one that checks no certificate goes on, where we send nothing."""
    is_passed = network.unchecked and step.cause.startswith("tls_")
    return replace(step, cause="tls_unchecked") if is_passed else step


def _trust(url: str, network: Network, *, is_by_system: bool) -> tuple[ssl.SSLContext, str]:
    """What is trusted, and the file of certificates that cannot be read."""
    try:
        return trust(url, network, is_by_system=is_by_system), ""
    except OSError:
        without = replace(network, ca_bundle="")
        return trust(url, without, is_by_system=is_by_system), shown(network.ca_bundle)


def _is_here(url: str) -> bool:
    try:
        return is_loopback(url)
    except ProfileError:
        return False
