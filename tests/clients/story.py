"""What is seen of a client while its story is played; plain values, which cross a process border as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Asked:
    """A request for a model, as the gateway received it.

    Attributes:
        to: path and query.
        model: the model that was asked.
        keys: by header, which key it was: `first`, `second`, `wrong`, or `another`.
    """

    to: str
    model: str
    keys: Mapping[str, str]


@dataclass(frozen=True)
class Run:
    """One run of a program; `code` is None where the time limit ended it.

    Attributes:
        asked: what reached the gateway for a model meanwhile.
        others: every other request, as `METHOD PATH`.
        connected: where the program and its children tried to connect to.
        names: the host names that were looked up meanwhile.
    """

    code: int | None
    out: str
    err: str
    seconds: float
    asked: tuple[Asked, ...] = ()
    others: tuple[str, ...] = ()
    connected: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Played:
    """What is seen of every client.

    Attributes:
        gateway: its host and port.
        commands: toolsync's own runs, by what they did.
        runs: the client's, by what was special about each.
    """

    gateway: str
    commands: Mapping[str, Run]
    runs: Mapping[str, Run]

    def to_json(self) -> str:
        """For the way out of the namespace."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What `to_json` wrote."""
        data = json.loads(text)
        for name in ("commands", "runs"):
            data[name] = {step: _run(run) for step, run in data[name].items()}
        return cls(**_with_tuples(data))


@dataclass(frozen=True)
class Story(Played):
    """A client's whole story.

    Attributes:
        settings: the client's settings file after the runs.
        undone: the same file after `undo`.
        changed: the user's and toolsync's files that are not byte for byte, in their place and with their time what
            they were after `apply`.
        hooked: how often the user's own hook ran.
    """

    settings: str
    undone: str
    changed: tuple[str, ...]
    hooked: int


def _run(data: dict[str, Any]) -> Run:
    return Run(**{**_with_tuples(data), "asked": tuple(Asked(**one) for one in data["asked"])})


def _with_tuples(data: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}


@dataclass(frozen=True)
class Mended:
    """What was seen of one fault.

    Attributes:
        cause: the primary one that doctor named.
        fix: what it printed against it.
        typed: what the command showed, or the line that was taken out.
        before: what doctor saw of the client itself before, as its JSON has it; None where it was not asked.
        after: the same after it was mended.
        findings: what doctor still found then.
        state_before: of the client in the project's folder, before.
        state_after: the same after it was mended.
        asked: what the client itself asked then.
    """

    cause: str
    fix: str
    typed: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    findings: list[str]
    state_before: str | None
    state_after: str | None
    asked: list[dict[str, Any]]
