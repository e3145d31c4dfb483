"""The request that a program of a tool will really make, read from its layers as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal, cast
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from toolsync.address import PATHS, Dialect
from toolsync.doctor.headers import further_headers, in_headers, is_of_scheme, route, unfit
from toolsync.doctor.model import Credential, Effective, Where
from toolsync.doctor.printing import command_path, printed
from toolsync.doctor.sight import Sight
from toolsync.masking import Secret, holds_key_shape, looks_secret
from toolsync.probe.network import CERTIFICATES, Network
from toolsync.probe.request import queried
from toolsync.tool import Connection
from toolsync.tool.stated import stated
from toolsync.trace import Answer
from toolsync.trace.credential import CREDENTIALS

NUMBER = r"[0-9]{1,15}(\.[0-9]{1,6})?"
"""What counts as a number of seconds or milliseconds."""


def effective(look: Sight) -> Effective:
    """The request of a program."""
    found, request = look.found, look.tool.request
    dialect = _dialect(look)
    base_url = _value(found, "base_url")
    _hide(base_url)
    headers = further_headers(look)
    further = tuple(in_headers(look, headers))
    logins = {name for name, header in headers.items() if is_of_scheme(name, header)}
    outdone = logins | {credential.header for credential in further}
    credentials = (*(one for one in _credentials(look) if one.header not in outdone), *further)
    taken = {credential.header for credential in credentials}
    network = network_of(look, base_url, look.environ)
    query = _query(_value(found, "query"))
    return Effective(
        tool=look.tool.name,
        reader=look.reader.name,
        called=look.called,
        dialect=dialect,
        base_url=base_url,
        url=queried(_url(base_url, request.path, dialect), query),
        model=_value(found, "model"),
        credentials=credentials,
        headers={name: header.value for name, header in headers.items() if name not in taken},
        timeout_seconds=timeout(look),
        streams=request.streams and _value(found, "stream").lower() not in ("false", "0", "no", "off"),
        limit_name=request.limit,
        falls_back=request.falls_back,
        refuses_authorities=look.tool.connections[look.reader.name].refuses_authorities,
        network=network,
        wheres={
            **{question: look.where(answer) for question, answer in found.items() if answer.value},
            **dict(_on_the_way(look, network, base_url)),
            **dict(route(look, headers)),
            **dict(unfit({name: header for name, header in headers.items() if name not in taken})),
        },
        wanted=look.wanted,
        query=query,
    )


def _hide(url: str) -> None:
    """Let nothing that is shown hold what an address carries: a name and a password, the values of its query."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return
    for value in (parts.username, parts.password, *(value for _, value in parse_qsl(parts.query))):
        if value:
            Secret(value)


def network_of(look: Sight, base_url: str, environ: Mapping[str, str]) -> Network:
    """Its own way to the gateway, by those variables that it reads for that; an older version may read others."""
    own = look.tool.connections[look.reader.name]
    network = network_by(own, environ, base_url)
    for version, older in own.older.items():
        other = network_by(older, environ, base_url)
        if _differ(network, other, base_url) and any(
            re.search(version, look.world.version(command)) for command in look.tool.commands[:1]
        ):
            return other
    return network


def network_by(connection: Connection, environ: Mapping[str, str], base_url: str) -> Network:
    """The way that the variables say which one of its versions reads."""
    network = Network.of({}, environ, base_url, connection.certificates, connection.proxies)
    unchecked = [name for name, value in connection.unchecked.items() if environ.get(name) == value]
    return replace(network, unchecked=next(iter(unchecked), ""), takes_issuers=connection.refuses_authorities)


def _differ(one: Network, other: Network, url: str) -> bool:
    """Whether they are two ways to `url`; certificates count where something is encrypted."""
    proxies = (one.proxy_for(url), other.proxy_for(url))
    is_secret = any((each or "").lower().startswith("https:") for each in (url, *proxies))
    if proxies[0] and one.rules.tunnels != other.rules.tunnels and not is_secret:
        return True
    return proxies[0] != proxies[1] or (
        is_secret and (one.ca_bundle, one.unchecked) != (other.ca_bundle, other.unchecked)
    )


def _on_the_way(look: Sight, network: Network, base_url: str) -> Iterator[tuple[str, Where]]:
    """Where it stands which proxy it takes, whose certificates it trusts besides, and that it checks none."""
    if base_url and network.proxy_for(base_url):
        yield "proxy", look.where_variable(network.rules.variable(look.environ, base_url))
    certificates = look.tool.connections[look.reader.name].certificates or CERTIFICATES
    trusted = next((name for name in certificates if look.environ.get(name)), "")
    if trusted:
        yield "certificates", look.where_variable(trusted)
    if network.unchecked:
        yield "unchecked", look.where_variable(network.unchecked)


def _dialect(look: Sight) -> Dialect | None:
    speaks = look.tool.speaks[0] if look.tool.speaks else ""
    return cast("Dialect", speaks) if speaks in PATHS else None


def _value(found: Mapping[str, Answer], question: str) -> str:
    return found[question].value if question in found else ""


def _url(base: str, path: str | None, dialect: Dialect | None) -> str:
    """The whole address: nothing is mended, as the tool mends nothing."""
    if not base:
        return ""
    appended = path if path is not None else PATHS[dialect] if dialect else ""
    return base.strip().rstrip("/") + appended


def _query(table: str) -> str:
    """The parameters that the settings append to every address; what of them may be a key is never shown."""
    parameters = dict(stated(table))
    for name, value in parameters.items():
        if looks_secret(name) or holds_key_shape(value):
            Secret(value)
    return urlencode(parameters, quote_via=quote)


def timeout(look: Sight) -> float | None:
    """How long it waits, in seconds; what is no number leaves the tool's own."""
    for question, unit in (("timeout_seconds", 1.0), ("timeout_ms", 0.001)):
        text = _value(look.found, question)
        if re.fullmatch(NUMBER, text):
            return float(text) * unit or None  # 0 is no limit to most
    return look.tool.request.timeout_seconds


# Credentials.


def _credentials(look: Sight) -> Iterator[Credential]:
    for question, answer in look.found.items():
        header = look.tool.request.headers.get(question, "").lower()
        if question not in CREDENTIALS or not header or not answer.value:
            continue
        runs = command_path(look, answer)
        if runs is not None:
            yield Credential(question, header, printed(look, answer, runs), "command", look.where(answer))
            continue
        yield Credential(question, header, Secret(_sent(look, answer.value)), _kind(look, answer), look.where(answer))


def _sent(look: Sight, key: str) -> str:
    """The key without the white space that the program leaves out, or that gets lost on the way."""
    request = look.tool.request
    if look.reader.name in request.trims:
        return key.strip()
    return key.rstrip(request.tolerates_key) or key  # nothing but white space is no key


def _kind(look: Sight, answer: Answer) -> Literal["literal", "variable", "login"]:
    one = look.seen(answer)
    if one is not None and one.layer.at.split(".")[0] == "login":
        return "login"
    is_variable = answer.slot.startswith("$") or (one is not None and one.environ is not None)
    return "variable" if is_variable or look.named(answer.question) else "literal"
