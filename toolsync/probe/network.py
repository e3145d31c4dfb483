"""One HTTP request by the way that a tool would take: its proxy, its trust; nothing from our own environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolsync.deadline import answered
from toolsync.probe.response import Response
from toolsync.probe.unpacking import ENCODINGS, unpacked
from toolsync.proxies import Proxies
from toolsync.sentence import Text, say
from toolsync.value import frozen

if TYPE_CHECKING:
    import ssl

    import httpx

LONGEST_BODY = 2**23
"""Of JSON: a list of thousands of models, with all that is known of them, is shorter."""
_LONGEST_TEXT = 2**20
"""Of any other kind; an answer of sixteen tokens is shorter."""

_ANY = Proxies()


@frozen
class Network:
    """The way to the gateway.

    Attributes:
        proxy: for example `http://proxy.example:3128`; empty: straight.
        no_proxy: hosts that are reached straight, comma-separated: `localhost,.corp.example,10.0.0.0/8`.
        ca_bundle: a file of certificates that are trusted besides the usual ones.
        unchecked: the variable with which the tool checks no certificate; "": it does. We always do.
        takes_issuers: whether a certificate counts that one signed which is trusted, and is no root.
        connect_seconds: how long the connection may take, TLS included.
        read_seconds: how long the answer may take, from its request to its end.
        rules: how proxy and `no_proxy` are read.
    """

    proxy: str = ""
    no_proxy: str = ""
    ca_bundle: str = ""
    unchecked: str = ""
    takes_issuers: bool = False
    connect_seconds: float = 5.0
    read_seconds: float = 30.0
    rules: Proxies = _ANY

    @classmethod
    def of(
        cls,
        table: Mapping[str, object],
        environ: Mapping[str, str],
        url: str,
        certificates: Sequence[str] = (),
        rules: Proxies = _ANY,
    ) -> Network:
        """The way that a profile's `[network]` table says, and where it is silent the environment.

        Args:
            table: what the profile says.
            environ: the variables that count.
            url: who is asked.
            certificates: the variables that name a file of certificates; those that most programs heed where none are.
            rules: which variables say the proxy, and how.
        """
        bundle = next((environ[name] for name in certificates or CERTIFICATES if environ.get(name)), "")
        return cls(
            proxy=str(table.get("proxy") or environ.get(rules.variable(environ, url), "")),
            no_proxy=str(table.get("no_proxy") or environ.get(rules.sparing(environ), "")),
            ca_bundle=str(table.get("ca_bundle") or bundle),
            rules=rules,
        )

    def proxy_for(self, url: str) -> str | None:
        """The proxy that a request for `url` goes through, or None."""
        if not self.proxy or self.rules.spares(url, self.no_proxy):
            return None
        return self.rules.address(self.proxy) or None

    def towards(self, url: str) -> Network:
        """The same without what makes no difference on the way to `url`; programs differ in how they read it."""
        proxy = self.proxy_for(url) or ""
        rules = replace(_ANY, schemes=self.rules.schemes, tunnels=self.rules.tunnels) if proxy else _ANY
        if proxy and self.rules.is_mistaken(self.proxy):  # whether it speaks HTTP as well is to be seen
            proxy, rules = self.proxy, replace(rules, as_http=self.rules.as_http)
        is_plain = url.strip()[:5].lower() == "http:" and not proxy.lower().startswith("https:")
        taken = replace(self, proxy=proxy, no_proxy="", rules=rules)
        return replace(taken, ca_bundle="", unchecked="", takes_issuers=False) if is_plain else taken


CERTIFICATES = ("ssl_cert_file", "SSL_CERT_FILE", "node_extra_ca_certs", "NODE_EXTRA_CA_CERTS")
"""Variables that most programs heed of which nobody knows better."""


def send(
    method: str, url: str, body: Mapping[str, object] | None, headers: Mapping[str, str], network: Network
) -> Response:
    """Send one request and read its answer, all within the network's patience; redirects are not followed.

    Raises:
        Exception: whatever httpx, ssl, or the operating system raise; `failure.unsent` knows them.
    """
    import httpx

    from toolsync import waiting

    seconds = network.connect_seconds + network.read_seconds
    try:  # httpx limits each wait by itself: a server that drips, or a name that nobody resolves, would hold us long
        with waiting.on(lambda: asking(url, body), seconds):
            return answered(lambda: _sent(method, url, body, headers, network), seconds)
    except TimeoutError as error:
        raise httpx.ReadTimeout("the answer did not end in time") from error


def asking(url: str, body: Mapping[str, object] | None) -> Text:
    """What a request does, for people who wait: who is asked, and for what."""
    from toolsync.probe.body import shown

    host = shown(urlsplit(url).hostname or "")
    if body is None:
        return say("waits_list", host=host)
    model = body.get("model")
    return say("waits_answer", host=host, model=shown(str(model))) if model else say("waits_trial", host=host)


def _sent(
    method: str, url: str, body: Mapping[str, object] | None, headers: Mapping[str, str], network: Network
) -> Response:
    with (
        client(url, network) as one,
        one.stream(method, url, json=body, headers=headers) as answer,
    ):
        read = _read(answer)
    return Response(
        status=answer.status_code,
        headers=headers_of(answer),
        body=read,
        elapsed_ms=round(answer.elapsed.total_seconds() * 1000),
    )


def client(url: str, network: Network) -> httpx.Client:
    """What sends a request by that way: redirects are not followed, and nothing of our own environment counts."""
    import logging  # as late as what logs

    import httpx

    for library in ("httpcore", "httpx"):  # their logs repeat headers, errors and addresses, keys and all
        logging.getLogger(library).setLevel(logging.CRITICAL)
    context, proxy = trust(url, network), network.proxy_for(url)
    is_secret = proxy is not None and proxy.lower().startswith("https:")
    return httpx.Client(
        headers={"accept-encoding": ENCODINGS},
        follow_redirects=False,
        trust_env=False,
        proxy=httpx.Proxy(proxy, ssl_context=context) if proxy and is_secret else proxy,
        verify=context,
        timeout=httpx.Timeout(network.read_seconds, connect=network.connect_seconds),
        event_hooks={"response": [_put_aside]},
    )


def _put_aside(answer: httpx.Response) -> None:
    """Keep from httpx where a redirect leads: it parses that though it is not to follow, and fails where it cannot."""
    if "location" in answer.headers:
        answer.extensions["location"] = answer.headers.pop("location")


def headers_of(answer: httpx.Response) -> dict[str, str]:
    """An answer's headers by lower-case name, where a redirect leads among them."""
    found = {name.lower(): value for name, value in answer.headers.items()}
    if "location" in answer.extensions:
        found["location"] = answer.extensions["location"]
    return found


def trust(url: str, network: Network, *, is_by_system: bool = True) -> ssl.SSLContext:
    """Mozilla's roots, the system's, and the profile's own; none is loaded where nothing is encrypted.

    Args:
        url: who is asked.
        network: whose file of certificates counts.
        is_by_system: whether the system's do.
    """
    import ssl

    if not url.lower().startswith("https:") and not network.proxy.lower().startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    import httpx

    from toolsync.probe.authority import as_others_check

    context = as_others_check(httpx.create_ssl_context(trust_env=False))
    if network.takes_issuers:
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if is_by_system:
        _load_system(context)
    if network.ca_bundle:
        context.load_verify_locations(cafile=network.ca_bundle)
    return context


def _load_system(context: ssl.SSLContext) -> None:
    """The system's roots, where it keeps them; not where `SSL_CERT_FILE` says, which many a tool does not read."""
    import os
    import ssl
    from contextlib import suppress

    if os.name == "nt":
        context.load_default_certs()
        return
    paths = ssl.get_default_verify_paths()
    with suppress(OSError):  # there is no such file: the folder, and Mozilla's
        context.load_verify_locations(cafile=paths.openssl_cafile)
    if paths.capath:
        context.load_verify_locations(capath=paths.capath)


def _read(answer: httpx.Response) -> bytes:
    """The body up to the limit, or to where it breaks off: what came of it tells more than that it did."""
    import httpx

    body = bytearray()
    limit = LONGEST_BODY if "json" in answer.headers.get("content-type", "") else _LONGEST_TEXT
    try:
        for piece in unpacked(answer, limit):
            body += piece
    except httpx.RemoteProtocolError:
        if not body:
            raise
    return bytes(body)
