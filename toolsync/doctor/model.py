"""What doctor speaks of: the request that a tool will really make, what is wrong, and what mends it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from toolsync.address import Dialect
from toolsync.causes import Certainty as Certainty  # noqa: PLC0414  the checks have it from here
from toolsync.causes import Severity, named
from toolsync.masking import Secret
from toolsync.probe.network import Network
from toolsync.sentence import Text
from toolsync.trace.credential import CREDENTIALS
from toolsync.value import frozen

State = Literal["healthy", "warning", "problem", "inconclusive"]


@frozen
class Where:
    """Where a value stands.

    Attributes:
        layer: the layer's name; `environment`, or "" for the tool's own default.
        slot: as the trace spells it: `env.ANTHROPIC_BASE_URL`, `$OPENAI_API_KEY`, `=https://api.openai.com/v1`.
        file: the file, as it is on this machine; "" where there is none.
        line: 1-based, where the value stands in the file.
    """

    layer: str
    slot: str
    file: str = ""
    line: int | None = None


@frozen
class Credential:
    """One credential as the tool will send it.

    Attributes:
        question: the trace's question that it answers: `key`, `x_key`.
        header: the header that carries it, in lower case; `authorization` carries it behind `Bearer `.
        value: what is sent, unexpanded references included; None where it cannot be known (a login of the tool's own).
        kind: where the tool has it from: its file, a variable, a command that it runs, a login of its own.
        where: its place.
    """

    question: str
    header: str
    value: Secret | None
    kind: Literal["literal", "variable", "command", "login"]
    where: Where


@frozen
class Effective:
    """The request that one program of a tool will really make, whatever the profile says.

    Attributes:
        tool: the tool's name.
        reader: which of its programs; "" where it has one.
        called: the same for people: `Cline (cli)`.
        dialect: what it speaks; None where nobody is asked over HTTP.
        base_url: as the tool has it; "" where nothing says it.
        url: the whole address that it will ask.
        model: "" where nothing says it.
        credentials: every one that it will send.
        headers: further headers that its settings make it send, by lower-case name.
        timeout_seconds: how long it waits for an answer; None where nobody knows.
        streams: whether it asks for a stream.
        limit_name: the parameter by which it limits the answer's tokens; "" for the dialect's usual one.
        network: its own way to the gateway: proxy and trust as it sees them.
        wheres: where `base_url`, `model`, `timeout_seconds` and the like stand, by question.
        wanted: what the profile would have there, by question; a question that toolsync sets nothing for is absent.
        falls_back: whether it goes on to the next address of a name where one refuses.
        refuses_authorities: whether it takes no certificate for a server's that is an authority's.
        query: the parameters that its settings append to every address, encoded; "" where they append none.
    """

    tool: str
    reader: str
    called: str
    dialect: Dialect | None
    base_url: str
    url: str
    model: str
    credentials: tuple[Credential, ...]
    headers: Mapping[str, str | Secret]
    timeout_seconds: float | None
    streams: bool
    limit_name: str
    network: Network
    wheres: Mapping[str, Where] = field(default_factory=dict)
    wanted: Mapping[str, str] = field(default_factory=dict)
    falls_back: bool = False
    refuses_authorities: bool = False
    query: str = ""


@frozen
class Fix:
    """What mends it: a chain of commands, or one thing that a person does.

    Attributes:
        text: the commands as a person types them, or a sentence where no command can do it.
        argv: the words behind `toolsync`, where it is a command of ours that `--fix` may run; else empty.
        then: those of the commands after it, without which the first one mends nothing.
        why: what a person should know before, in lines; evidence beside what the finding shows.
    """

    text: Text
    argv: tuple[str, ...] = ()
    then: tuple[tuple[str, ...], ...] = ()
    why: tuple[Text, ...] = ()


@frozen
class Finding:
    """One thing that is wrong, or may be.

    Attributes:
        cause: a slug of `templates/causes/`.
        certainty: whether the evidence leaves no doubt.
        evidence: lines for people, each fit for a terminal and free of keys.
        values: what fills the `{placeholders}` of the cause's sentences: file, line, variable, host, model…
        where: the place of what is wrong, if it is one place.
        fix: what mends it; None: the cause's own remedy.
        weight: what it amounts to here, where that is less than its cause is elsewhere.
        stops: whether the tool makes no request with it, so that there is nothing to ask either.
        question: the one of the trace's that it is about; "" where it may be about several.
        is_own: whether it is about what the tool reads, and we may read otherwise: it stays whatever we are answered.
    """

    cause: str
    certainty: Certainty = "sure"
    evidence: tuple[Text, ...] = ()
    values: Mapping[str, Text] = field(default_factory=dict)
    where: Where | None = None
    fix: Fix | None = None
    weight: Severity | None = None
    stops: bool = False
    question: str = ""
    is_own: bool = False

    @property
    def severity(self) -> Severity:
        """How much it matters here."""
        return self.weight or named(self.cause).severity

    @property
    def explains(self) -> frozenset[str]:
        """The causes of which it may be the reason: what is amiss with the model has no key refused."""
        reach = _REACH.get(self.question)
        return frozenset(one for one in named(self.cause).explains if reach is None or named(one).group in reach)


_REACH = {"model": {"request"}, **{question: {"key", "request"} for question in CREDENTIALS}}
"""The groups of causes that a value can bring about; an address, or one's choice of a provider, any."""


@frozen
class Diagnosis:
    """What is to say of one program of a tool.

    Attributes:
        effective: its request.
        state: `problem` where it cannot work; `warning` where it can, and something is to be minded; `inconclusive`
            where nobody can tell from here.
        findings: the primary one first.
        ruled_out: causes that the evidence excludes.
        remarks: what may matter with another question, and is no trouble with this one.
    """

    effective: Effective
    state: State
    findings: tuple[Finding, ...] = ()
    ruled_out: tuple[str, ...] = ()
    remarks: tuple[Finding, ...] = ()

    @property
    def primary(self) -> Finding | None:
        """The one cause, if something is wrong."""
        return self.findings[0] if self.findings else None
