"""The request that a program of a tool will really make, read from its layers as they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Literal, cast
from urllib.parse import parse_qsl, urlsplit

from toolsync.address import PATHS, Dialect
from toolsync.doctor.model import Credential, Effective
from toolsync.doctor.sight import Sight
from toolsync.document import KeyPath, Value, parse_path
from toolsync.document import data as _data
from toolsync.masking import Secret, holds_key_shape, looks_secret
from toolsync.probe.network import Network, proxy_variable
from toolsync.tool import slot
from toolsync.trace import CREDENTIALS, Answer, path_of

NUMBER = r"[0-9]{1,15}(\.[0-9]{1,6})?"
"""What counts as a number of seconds or milliseconds."""

_CREDENTIAL_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")


def effective(look: Sight) -> Effective:
    """The request of a program."""
    found, request = look.found, look.tool.request
    dialect = _dialect(look)
    base_url = _value(found, "base_url")
    _hide(base_url)
    headers = _headers(look)
    credentials = (*_credentials(look), *_in_headers(look, headers))
    taken = {credential.header for credential in credentials}
    network, proxied = Network.of({}, look.environ, base_url), proxy_variable(look.environ, base_url)
    return Effective(
        tool=look.tool.name,
        reader=look.reader.name,
        called=look.called,
        dialect=dialect,
        base_url=base_url,
        url=_url(base_url, request.path, dialect),
        model=_value(found, "model"),
        credentials=credentials,
        headers={name: value for name, value in headers.items() if name not in taken},
        timeout_seconds=timeout(look),
        streams=request.streams and _value(found, "stream").lower() not in ("false", "0", "no", "off"),
        limit_name=request.limit,
        falls_back=request.falls_back,
        network=network,
        wheres={
            **{question: look.where(answer) for question, answer in found.items() if answer.value},
            **({"proxy": look.where_variable(proxied)} if base_url and network.proxy_for(base_url) else {}),
        },
        wanted=look.wanted,
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
        value = answer.value.strip() if look.tool.request.trims else answer.value
        yield Credential(question, header, Secret(value), _kind(look, answer), look.where(answer))


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


def may_run(look: Sight, answer: Answer) -> bool:
    """Whether we run it: what a repository's own file says is run by its tool, and never by us."""
    one = look.seen(answer)
    return one is not None and not one.is_projects


def _printed(look: Sight, answer: Answer, path: KeyPath) -> Secret | None:
    from toolsync.doctor.helper import Command

    command = Command.of(command_value(look, answer, path))
    if command is None or not may_run(look, answer):
        return None
    return look.world.printed(command, look.environ).key


# Headers.


def _headers(look: Sight) -> Mapping[str, str | Secret]:
    """Every further header, by lower-case name."""
    found = {name: _guarded(name, value) for name, value in _stated(_value(look.found, "headers"))}
    for name, variable in _stated(_value(look.found, "env_headers")):
        if look.environ.get(variable):
            found[name] = _guarded(name, look.environ[variable])
    for question, header in look.tool.request.headers.items():
        value = _value(look.found, question)
        if question not in CREDENTIALS and value:
            found[header.lower()] = _guarded(header, value)
    return found


def _stated(text: str) -> Iterator[tuple[str, str]]:
    """Headers from a table (as JSON), or from lines of `Name: value`."""
    try:
        table = json.loads(text) if text.lstrip().startswith("{") else None
    except ValueError:
        table = None
    if isinstance(table, dict):
        yield from ((str(name).strip().lower(), str(value)) for name, value in table.items())
        return
    for line in re.split(r"\r\n|\n|\\n", text):
        name, colon, value = line.partition(":")
        if colon and name.strip():
            yield name.strip().lower(), value.strip()


def _guarded(name: str, value: str) -> str | Secret:
    is_secret = looks_secret(name) or holds_key_shape(value)
    return Secret(value.removeprefix("Bearer ")) if is_secret else value


def _in_headers(look: Sight, headers: Mapping[str, str | Secret]) -> Iterator[Credential]:
    """Credentials that the further headers hold, where no question fills that header already."""
    taken = {credential.header for credential in _credentials(look)}
    answer = look.found.get("headers")
    for name in _CREDENTIAL_HEADERS:
        value = headers.get(name)
        if value is not None and name not in taken and answer is not None:
            secret = value if isinstance(value, Secret) else Secret(value)
            yield Credential("headers", name, secret, "literal", look.where(answer))
