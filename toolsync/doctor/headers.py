"""The headers that a tool's settings send besides its own, and what of them is a key or leads elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from toolsync.doctor.model import Credential, Where
from toolsync.doctor.routing import is_fit, is_routing
from toolsync.doctor.sight import Sight
from toolsync.document import parse_path
from toolsync.document.keypath import spell
from toolsync.masking import Secret, holds_key_shape, looks_secret
from toolsync.tool.stated import stated
from toolsync.trace import Answer, is_ignored
from toolsync.trace.credential import CREDENTIALS, HEADERS, keyed_headers
from toolsync.value import frozen


@frozen
class Header:
    """A further header: the question that it answers, its value, and where it is stated."""

    question: str
    value: str | Secret
    where: Where

    @property
    def text(self) -> str:
        """What is sent."""
        return self.value.reveal() if isinstance(self.value, Secret) else self.value


def routed(headers: Mapping[str, Header]) -> Iterator[tuple[str, Where]]:
    """Where the headers stand that lead a request elsewhere."""
    yield from (("route", header.where) for name, header in headers.items() if is_routing(name, header.text))


def unfit(headers: Mapping[str, Header]) -> Iterator[tuple[str, Where]]:
    """Where one stands that cannot be sent."""
    yield from (("unfit", header.where) for name, header in headers.items() if not is_fit(name, header.text))


def route(look: Sight, headers: Mapping[str, Header]) -> Iterator[tuple[str, Where]]:
    """One of them; a project's, if it has one, for what the user sets is the user's affair."""
    yield from sorted(routed(headers), key=lambda one: not look.is_projects(one[1]))[:1]


def further_headers(look: Sight) -> Mapping[str, Header]:
    """Every further header, by lower-case name; of one name the variable's comes before the literal (Codex 0.171.0)."""
    found: dict[str, Header] = {}
    for question in HEADERS:
        answer = look.found.get(question)
        for name, text in stated(answer.value) if answer is not None else ():
            value = look.environ.get(text, "") if question == "env_headers" else text
            if answer is not None and (value or question == "headers"):
                lower = name.strip().lower()
                found[lower] = Header(question, _guarded(lower, value), _place(look, answer, name))
    for question, header in look.tool.request.headers.items():
        answer = look.found.get(question)
        if question not in CREDENTIALS and answer is not None and answer.value:
            found[header.lower()] = Header(question, _guarded(header, answer.value), look.where(answer))
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
    if is_secret and name == "authorization" and _SCHEME.match(value):
        Secret(value.partition(" ")[2])  # which is shown nowhere either
    return Secret(value.removeprefix("Bearer ")) if is_secret else value


_SCHEME = re.compile(r"(?!Bearer )[A-Za-z][A-Za-z0-9-]* \S")
"""How a value of `Authorization` begins that is none of a key alone (RFC 9110): `Basic …`, as before a relay."""


def is_of_scheme(name: str, header: Header) -> bool:
    """Whether it is a login of another kind than a key, which is sent as it stands, in the place of the tool's own."""
    return name == "authorization" and _SCHEME.match(header.text) is not None


def in_headers(look: Sight, headers: Mapping[str, Header]) -> Iterator[Credential]:
    """The credentials among the further headers, where the tool does not send its own in their place."""
    kinds: Mapping[str, Literal["literal", "variable"]] = {"headers": "literal", "env_headers": "variable"}
    sent = {name for _, name in keyed_headers(look.tool.request, look.found)}
    for name, header in headers.items():
        if name in sent and header.question in kinds and not is_of_scheme(name, header):
            secret = header.value if isinstance(header.value, Secret) else Secret(header.value)
            yield Credential(header.question, name, secret, kinds[header.question], header.where)
