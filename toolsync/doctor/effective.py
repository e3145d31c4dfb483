"""The request that a program of a tool will really make, read from its layers as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from toolsync.address import PATHS, Dialect
from toolsync.doctor.astray import owner
from toolsync.doctor.layers import is_home
from toolsync.doctor.model import Credential, Effective, Where
from toolsync.doctor.routing import is_fit, is_routing
from toolsync.doctor.sight import Sight
from toolsync.document import KeyPath, Value, parse_path
from toolsync.document import data as _data
from toolsync.document.keypath import spell
from toolsync.masking import Secret, holds_key_shape, looks_secret
from toolsync.probe.network import CERTIFICATES, Network
from toolsync.probe.request import queried
from toolsync.tool import Connection, slot
from toolsync.tool.stated import stated
from toolsync.trace import Answer, is_ignored, path_of
from toolsync.trace.credential import CREDENTIALS, HEADERS, keyed_headers
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.doctor.helper import Command

NUMBER = r"[0-9]{1,15}(\.[0-9]{1,6})?"
"""What counts as a number of seconds or milliseconds."""


def effective(look: Sight) -> Effective:
    """The request of a program."""
    found, request = look.found, look.tool.request
    dialect = _dialect(look)
    base_url = _value(found, "base_url")
    _hide(base_url)
    headers = further_headers(look)
    further = tuple(_in_headers(look, headers))
    outdone = {credential.header for credential in further}
    credentials = (*(one for one in _credentials(look) if one.header not in outdone), *further)
    taken = {credential.header for credential in credentials}
    network = _network(look, base_url)
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
        network=network,
        wheres={
            **{question: look.where(answer) for question, answer in found.items() if answer.value},
            **dict(_on_the_way(look, network, base_url)),
            **dict(_route(look, headers)),
            **dict(_unfit({name: header for name, header in headers.items() if name not in taken})),
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


def _network(look: Sight, base_url: str) -> Network:
    """Its own way to the gateway, by the variables that it reads for that; an older version may read others."""
    own = look.tool.connections[look.reader.name]
    network = network_by(own, look, base_url)
    for version, older in own.older.items():
        other = network_by(older, look, base_url)
        if _differ(network, other, base_url) and any(
            re.search(version, look.world.version(command)) for command in look.tool.commands[:1]
        ):
            return other
    return network


def network_by(connection: Connection, look: Sight, base_url: str) -> Network:
    """The way that the variables say which one of its versions reads."""
    network = Network.of({}, look.environ, base_url, connection.certificates, connection.proxies)
    unchecked = [name for name, value in connection.unchecked.items() if look.environ.get(name) == value]
    return replace(network, unchecked=unchecked[0]) if unchecked else network


def _differ(one: Network, other: Network, url: str) -> bool:
    """Whether they are two ways to `url`; certificates count where something is encrypted."""
    proxies = (one.proxy_for(url), other.proxy_for(url))
    is_secret = any((each or "").lower().startswith("https:") for each in (url, *proxies))
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
            yield Credential(question, header, _printed(look, answer, runs), "command", look.where(answer))
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


def command_path(look: Sight, answer: Answer) -> KeyPath | None:
    """Where the command stands that the tool runs for the answer, mount included; None if it runs none."""
    if not answer.slot or answer.slot[0] in "$=":
        return None
    at = parse_path(answer.slot)
    for text in look.tool.request.runs:
        path = path_of(slot(text), look.found)
        if path is not None and at[: len(path)] == path:
            return path
    return None


def command_value(look: Sight, answer: Answer, path: KeyPath) -> Value:
    """The command as it stands in the layer that the answer comes from."""
    one = look.seen(answer)
    if one is None:
        return None
    mount = parse_path(one.layer.at) if one.layer.at else ()
    return _data.get(one.tree.data, path[len(mount) :])


def printing(look: Sight, credential: Credential) -> Command | None:
    """The command that prints the credential; None where it has none."""
    if credential.kind != "command":
        return None
    from toolsync.doctor.helper import Command

    answer = look.found[credential.question]
    path = command_path(look, answer)
    return Command.of(command_value(look, answer, path)) if path is not None else None


def may_run(look: Sight, answer: Answer, command: Command) -> bool:
    """Whether we run it: what a repository's own file says, or holds, is run by its tool, and never by us."""
    one, places = look.seen(answer), look.world.session.places
    if one is None or (one.is_projects and not _is_users_too(look, answer, command)):
        return False
    return is_home(places) or not command.lies_in(places.project, look.users_environ)


def _is_users_too(look: Sight, answer: Answer, command: Command) -> bool:
    """Whether the user's own files have the tool run the same."""
    own = look.users.get(answer.question)
    path = command_path(look, own) if own is not None and own.value else None
    return own is not None and path is not None and type(command).of(command_value(look, own, path)) == command


def unrun(look: Sight) -> Where | None:
    """Where a command for the key stands that we do not run."""
    from toolsync.doctor.helper import Command

    for question in sorted(CREDENTIALS & look.found.keys()):
        answer = look.found[question]
        path = command_path(look, answer) if answer.value else None
        command = Command.of(command_value(look, answer, path)) if path is not None else None
        if command is not None and not may_run(look, answer, command):
            return look.where(answer)
    return None


def _printed(look: Sight, answer: Answer, path: KeyPath) -> Secret | None:
    from toolsync.doctor.helper import Command

    command = Command.of(command_value(look, answer, path))
    if command is None or not may_run(look, answer, command) or owner(look, None, command) is not None:
        return None
    return look.world.printed(command, look.users_environ).key


# Headers.


def routed(headers: Mapping[str, _Header]) -> Iterator[tuple[str, Where]]:
    """Where the headers stand that lead a request elsewhere."""
    yield from (("route", header.where) for name, header in headers.items() if is_routing(name, header.text))


def _unfit(headers: Mapping[str, _Header]) -> Iterator[tuple[str, Where]]:
    """Where one stands that cannot be sent."""
    yield from (("unfit", header.where) for name, header in headers.items() if not is_fit(name, header.text))


def _route(look: Sight, headers: Mapping[str, _Header]) -> Iterator[tuple[str, Where]]:
    """One of them; a project's, if it has one, for what the user sets is the user's affair."""
    yield from sorted(routed(headers), key=lambda one: not look.is_projects(one[1]))[:1]


@frozen
class _Header:
    """A further header: the question that it answers, its value, and where it is stated."""

    question: str
    value: str | Secret
    where: Where

    @property
    def text(self) -> str:
        """What is sent."""
        return self.value.reveal() if isinstance(self.value, Secret) else self.value


def further_headers(look: Sight) -> Mapping[str, _Header]:
    """Every further header, by lower-case name; of one name the variable's comes before the literal (Codex 0.171.0)."""
    found: dict[str, _Header] = {}
    for question in HEADERS:
        answer = look.found.get(question)
        for name, text in stated(answer.value) if answer is not None else ():
            value = look.environ.get(text, "") if question == "env_headers" else text
            if answer is not None and (value or question == "headers"):
                lower = name.strip().lower()
                found[lower] = _Header(question, _guarded(lower, value), _place(look, answer, name))
    for question, header in look.tool.request.headers.items():
        value = _value(look.found, question)
        if question not in CREDENTIALS and value:
            found[header.lower()] = _Header(question, _guarded(header, value), look.where(look.found[question]))
    return found


def _place(look: Sight, answer: Answer, name: str) -> Where:
    """Where the header is stated: in a table its own entry, in the highest layer that has one; else the whole."""
    where, one = look.where(answer), look.seen(answer)
    is_merged = answer.question in look.reader.merge
    others = [each for each in look.layers[::-1] if is_merged and not is_ignored(each.layer, answer.path)]
    for each in (*([one] if one is not None else ()), *others):
        position = each.document.position((*answer.path, name)) if each.document is not None else None
        if position:
            slot = spell((*parse_path(answer.slot), name))
            return replace(where, layer=each.layer.name, slot=slot, file=each.file, line=position[0])
    return where


def _guarded(name: str, value: str) -> str | Secret:
    is_secret = looks_secret(name) or holds_key_shape(value)
    return Secret(value.removeprefix("Bearer ")) if is_secret else value


def _in_headers(look: Sight, headers: Mapping[str, _Header]) -> Iterator[Credential]:
    """The credentials among the further headers, where the tool does not send its own in their place."""
    kinds: Mapping[str, Literal["literal", "variable"]] = {"headers": "literal", "env_headers": "variable"}
    sent = {name for _, name in keyed_headers(look.tool.request, look.found)}
    for name, header in headers.items():
        if name in sent and header.question in kinds:
            secret = header.value if isinstance(header.value, Secret) else Secret(header.value)
            yield Credential(header.question, name, secret, kinds[header.question], header.where)
