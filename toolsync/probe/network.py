"""One HTTP request by the way that a tool would take: its proxy, its trust; nothing from our own environment."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolsync.deadline import answered
from toolsync.probe.response import Response
from toolsync.probe.unpacking import ENCODINGS, unpacked
from toolsync.sentence import Text, say
from toolsync.value import frozen

if TYPE_CHECKING:
    import ssl

    import httpx

LONGEST_BODY = 2**23
"""An answer of sixteen tokens is shorter, and so is a list of thousands of models with all that is known of them."""


@frozen
class Network:
    """The way to the gateway.

    Attributes:
        proxy: for example `http://proxy.example:3128`; empty: straight.
        no_proxy: hosts that are reached straight, comma-separated: `localhost,.corp.example,10.0.0.0/8`.
        ca_bundle: a file of certificates that are trusted besides the usual ones.
        connect_seconds: how long the connection may take, TLS included.
        read_seconds: how long the answer may take, from its request to its end.
    """

    proxy: str = ""
    no_proxy: str = ""
    ca_bundle: str = ""
    connect_seconds: float = 5.0
    read_seconds: float = 30.0

    @classmethod
    def of(
        cls, table: Mapping[str, object], environ: Mapping[str, str], url: str, certificates: Sequence[str] = ()
    ) -> Network:
        """The way that a profile's `[network]` table says, and where it is silent the environment.

        Args:
            table: what the profile says.
            environ: the variables that count.
            url: who is asked.
            certificates: the variables that name a file of certificates; those that most programs heed where none are.
        """
        return cls(
            proxy=str(table.get("proxy") or environ.get(proxy_variable(environ, url), "")),
            no_proxy=str(table.get("no_proxy") or _first(environ, "no_proxy")),
            ca_bundle=str(table.get("ca_bundle") or _first(environ, *(certificates or _CERTIFICATES))),
        )

    def proxy_for(self, url: str) -> str | None:
        """The proxy that a request for `url` goes through, or None."""
        return None if not self.proxy or is_exempt(url, self.no_proxy) else self.proxy


_CERTIFICATES = ("ssl_cert_file", "node_extra_ca_certs")


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
        headers={name.lower(): value for name, value in answer.headers.items()},
        body=read,
        elapsed_ms=round(answer.elapsed.total_seconds() * 1000),
    )


def client(url: str, network: Network) -> httpx.Client:
    """What sends a request by that way: redirects are not followed, and nothing of our own environment counts."""
    import logging  # as late as what logs

    import httpx

    logging.getLogger("httpcore").setLevel(logging.CRITICAL)  # its debug log repeats headers and errors, keys and all
    return httpx.Client(
        headers={"accept-encoding": ENCODINGS},
        follow_redirects=False,
        trust_env=False,
        proxy=network.proxy_for(url),
        verify=trust(url, network),
        timeout=httpx.Timeout(network.read_seconds, connect=network.connect_seconds),
    )


def is_exempt(url: str, no_proxy: str) -> bool:
    """Whether `no_proxy` names the host of `url`: by itself, by its domain, by `*`, or by a network in CIDR form."""
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").rstrip(".")
    names = [name.lower() for name in no_proxy.replace(",", " ").split()]
    return any(_covers(name, host, parts.port) for name in names)


def _covers(name: str, host: str, port: int | None) -> bool:
    if name == "*":
        return True
    if "/" in name:
        return _in_network(host, name)
    if name.startswith("["):
        name, _, rest = name[1:].partition("]")
        wanted = rest.removeprefix(":")
    else:
        name, _, wanted = name.partition(":") if name.count(":") == 1 else (name, "", "")
    if wanted and wanted != str(port):
        return False
    name = name.removeprefix("*").removeprefix(".")
    return host == name or host.endswith(f".{name}")


def _in_network(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def trust(url: str, network: Network) -> ssl.SSLContext:
    """Mozilla's roots, the system's, and the profile's own; none is loaded where nothing is encrypted."""
    import ssl

    if not url.lower().startswith("https:") and not network.proxy.lower().startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    import httpx

    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    if network.ca_bundle:
        context.load_verify_locations(cafile=network.ca_bundle)
    return context


def _read(answer: httpx.Response) -> bytes:
    """The body up to the limit, or to where it breaks off: what came of it tells more than that it did."""
    import httpx

    body = bytearray()
    try:
        for piece in unpacked(answer, LONGEST_BODY):
            body += piece
    except httpx.RemoteProtocolError:
        if not body:
            raise
    return bytes(body)


def proxy_variable(environ: Mapping[str, str], url: str) -> str:
    """The variable that says which proxy a request for `url` takes; "" where none does."""
    scheme = urlsplit(url.strip()).scheme.lower() or "https"
    return _set(environ, f"{scheme}_proxy", "all_proxy")


def _first(environ: Mapping[str, str], *names: str) -> str:
    return environ.get(_set(environ, *names), "")


def _set(environ: Mapping[str, str], *names: str) -> str:
    """The first of these variables that is set, in lower case before upper case, as curl and Python look."""
    spelled = [spelling for name in names for spelling in (name, name.upper())]
    return next((name for name in spelled if environ.get(name)), "")
