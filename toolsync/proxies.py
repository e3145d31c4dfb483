"""Which proxy a program takes to an address, and whom it reaches without one: each has rules of its own."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args
from urllib.parse import urlsplit

from toolsync.value import frozen

Form = Literal[
    "spaces",
    "ports",
    "domain_ports",
    "networks",
    "subdomains",
    "wildcards",
    "apex",
    "any",
    "addresses",
    "ends",
    "bare",
    "brackets",
]

FORMS: tuple[Form, ...] = get_args(Form)
"""How hosts may be spelled that are reached straight, beside what every program reads: a name, `.corp.example`, `*`.

- `spaces`: white space parts them, as a comma does
- `ports`: `HOST:PORT` is that port of the host; `domain_ports`: so it is of what is for many, `.corp.example:8443`
- `networks`: `10.0.0.0/8`
- `subdomains`: `corp.example` is all below it too
- `wildcards`: `*.corp.example` is all below it
- `apex`: `.corp.example` and `*.corp.example` are `corp.example` too
- `any`: `*` is every host beside others too, and not only where it stands alone
- `addresses`: `*` is for addresses too; `ends`: what is for many names is, `.0.0.1`
- `bare`, `brackets`: an IPv6 address stands as `::1`, as `[::1]`
"""


@frozen
class Proxies:
    """The rules of a program. Of a program of which nobody knows any, everything that some program reads counts.

    Attributes:
        http: the variables that name the proxy for `http://`: the first that is set counts.
        https: the same for `https://`.
        straight: the variables that name the hosts which are reached without one.
        forms: how such a host may be spelled.
        schemes: the kinds of proxy that it can use.
        as_http: those that it takes for `http`; "": an address without a scheme.
        passes_over: whether it goes straight where the proxy is of any other kind.
        empty_hides: whether a variable that is set to nothing hides its other spelling.
        tunnels: whether it has a proxy open a tunnel to what is not encrypted too.
    """

    http: tuple[str, ...] = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    https: tuple[str, ...] = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    straight: tuple[str, ...] = ("no_proxy", "NO_PROXY")
    forms: tuple[Form, ...] = FORMS
    schemes: tuple[str, ...] = ("http", "https", "socks5", "socks5h")
    as_http: tuple[str, ...] = ()
    passes_over: bool = False
    empty_hides: bool = False
    tunnels: bool = False

    def variable(self, environ: Mapping[str, str], url: str) -> str:
        """The variable that says which proxy a request for `url` takes; "" where none does."""
        is_plain = url.strip()[:5].lower() == "http:"  # also of what is no address: that is what is wrong
        return self._first(environ, self.http if is_plain else self.https)

    def sparing(self, environ: Mapping[str, str]) -> str:
        """The variable that says who is reached without one; "" where none does."""
        return self._first(environ, self.straight)

    def address(self, stated: str) -> str:
        """A proxy's address as the program takes it; "" where it takes none."""
        scheme, rest = _scheme(stated)
        if scheme in self.as_http:
            return f"http://{rest}"
        return "" if self.passes_over and scheme not in self.schemes else stated

    def is_mistaken(self, stated: str) -> bool:
        """Whether it takes another kind of proxy for one of HTTP's."""
        scheme, _ = _scheme(stated)
        return scheme != "" and scheme in self.as_http

    def hosts(self, stated: str) -> Iterator[str]:
        """What stands in the list of those who are reached straight."""
        for part in stated.split(","):
            yield from part.split() if "spaces" in self.forms else filter(None, [part.strip()])

    def spares(self, url: str, stated: str) -> bool:
        """Whether the list names the host of `url`."""
        try:
            parts = urlsplit(url.strip())
            host = (parts.hostname or "").rstrip(".")
            port = parts.port or {"http": 80, "https": 443}.get(parts.scheme.lower())
        except ValueError:  # it has none
            return False
        names = [*self.hosts(stated)]
        is_any = "*" in names and (len(names) == 1 or "any" in self.forms)
        if is_any and (_address(host) is None or "addresses" in self.forms):
            return True
        return any(self._covers(name.lower(), host, port) for name in names)

    def spelled(self, host: str) -> str:
        """A host as it can stand in that list."""
        return f"[{host}]" if ":" in host and "bare" not in self.forms else host

    def _first(self, environ: Mapping[str, str], names: Sequence[str]) -> str:
        hidden: set[str] = set()
        for name in names:
            if name.lower() in hidden:
                continue
            if environ.get(name):
                return name
            if self.empty_hides and name in environ:
                hidden.add(name.lower())
        return ""

    def _covers(self, name: str, host: str, port: int | None) -> bool:
        if "/" in name:
            return "networks" in self.forms and _in_network(host, name)
        name, wanted = _parted(name)
        if wanted and ("ports" not in self.forms or wanted != str(port)):
            return False
        if ":" in host:
            spelling: Form = "brackets" if name.startswith("[") else "bare"
            return spelling in self.forms and name.strip("[]") == host
        return name == host or ((not wanted or "domain_ports" in self.forms) and self._is_below(name, host))

    def _is_below(self, name: str, host: str) -> bool:
        """Whether the name is for many, of which the host is one."""
        if name.startswith("*."):
            if "wildcards" not in self.forms:
                return False
            name = name[1:]
        elif not name.startswith(".") and "subdomains" not in self.forms:
            return False
        if _address(host) is not None and "ends" not in self.forms:
            return False
        domain = name.removeprefix(".")
        return host.endswith(f".{domain}") or (host == domain and (name == domain or "apex" in self.forms))


def _scheme(stated: str) -> tuple[str, str]:
    """A proxy's scheme, and what stands behind it."""
    before, mark, rest = stated.partition("://")
    return (before.lower(), rest) if mark else ("", stated)


def _parted(name: str) -> tuple[str, str]:
    """A host, and the port behind it; an IPv6 address without brackets has none."""
    if name.startswith("["):
        address, _, rest = name.partition("]")
        return f"{address}]", rest.removeprefix(":")
    if name.count(":") != 1:
        return name, ""
    host, _, port = name.partition(":")
    return host, port


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _in_network(host: str, network: str) -> bool:
    address = _address(host)
    try:
        return address is not None and address in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
