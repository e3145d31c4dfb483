"""Which answers carry a key to the gateway, and where a tool looks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolsync.document import KeyPath
from toolsync.document.keypath import parse as parse_path
from toolsync.tool import Reader, Request, Tool
from toolsync.tool.stated import CREDENTIAL_HEADERS, stated
from toolsync.trace import Answer, is_open

CREDENTIALS = frozenset({"key", "x_key"})
"""The questions whose answer is sent to the gateway as a credential."""

HEADERS = ("headers", "env_headers")
"""The questions whose answers are further headers: with their values, or with the variables that hold these."""


def keyed_headers(request: Request, found: Mapping[str, Answer]) -> Iterator[tuple[str, str]]:
    """The further headers that carry a key to the gateway, as question and header in lower case.

    Args:
        request: how the tool asks; where it puts its key into a header itself, only one that outdoes it counts.
        found: the answers of its reader.
    """
    filled = {
        request.headers[question].lower()
        for question in CREDENTIALS & request.headers.keys() & found.keys()
        if found[question].value
    }
    for question in HEADERS:
        for spelled, value in stated(found[question].value) if question in found else ():
            name = spelled.strip().lower()
            if value and name in CREDENTIAL_HEADERS and (name not in filled or name in request.outdone):
                yield question, name


def finds_no_key(reader: Reader, found: Mapping[str, Answer]) -> bool:
    """Whether the reader takes a key, and neither its files nor a variable that it looks at can give it one."""
    asked = CREDENTIALS & reader.questions.keys()
    return bool(asked) and not looks_at_variables(reader) and not any(found[question].value for question in asked)


def looks_at_variables(reader: Reader) -> bool:
    """Whether the reader looks for its key in the environment too, of itself."""
    asked = CREDENTIALS & reader.questions.keys()
    return any(slot.kind == "variable" for question in asked for slot in reader.questions[question])


def takes_variables(tool: Tool, reader: Reader) -> bool:
    """Whether a variable can give the reader its key: of itself, or because its settings refer to one."""
    return looks_at_variables(reader) or bool(tool.request.references)


def variables_of(tool: Tool, reader: Reader, question: str) -> tuple[str, ...]:
    """The variables that may answer the question of themselves: asked for by name, or as a part of the environment."""
    mounts = {layer.at for layer in tool.layers if layer.kind == "environment"}
    found: list[str] = []
    for slot in reader.questions.get(question, ()):
        mount, _, name = slot.text.rpartition(".")
        if slot.kind == "variable" and not is_open(slot.text):
            found.append(slot.text)
        elif slot.kind == "path" and mount in mounts:
            found.append(name)
    return tuple(found)


def may_hold_key(tool: Tool, overlay: str, path: KeyPath) -> bool:
    """Whether the tool looks for a key at that path of its own file, so that the user's own may stand there."""
    mounts = [parse_path(layer.at) if layer.at else () for layer in tool.layers if layer.overlay == overlay]
    slots = [
        parse_path(slot.text)
        for reader in tool.readers
        for question in {*CREDENTIALS, *reader.agree} & reader.questions.keys()
        for slot in reader.questions[question]
        if slot.kind == "path"
    ]
    return any(_meets(slot, (*mount, *path)) for slot in slots for mount in mounts)


def _meets(slot: KeyPath, path: KeyPath) -> bool:
    """Whether one of the two holds the other, whatever the questions in the slot are answered."""
    return all(
        one == other or (type(one) is type(other) and is_open(one)) for one, other in zip(slot, path, strict=False)
    )
