"""Requests to a gateway as a tool makes them, counted and recorded; the key goes to the origin asked only."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from toolsync import __version__
from toolsync.address import PATHS, Dialect
from toolsync.causes import Certainty
from toolsync.masking import Secret
from toolsync.probe import stream as streams
from toolsync.probe.body import is_page
from toolsync.probe.candidates import Candidate
from toolsync.probe.classifier import Asked, Reading, read
from toolsync.probe.dialect import LIMIT, ids, models_url, question
from toolsync.probe.failure import unsent
from toolsync.probe.network import Network, Response, send
from toolsync.probe.verdict import shown_address

MOST_REQUESTS = 6
MOST_BILLABLE = 2
"""Of one inquiry; `deep` adds one to both."""

_PATIENCE_SECONDS = 15.0

What = Literal[
    "models",
    "question",
    "stream",
    "deep",
    "other header",
    "no key",
    "other API",
    "other address",
    "plain headers",
    "other limit",
    "no proxy",
]
"""Why something was asked."""


@dataclass(frozen=True)
class Request:
    """What a tool asks.

    Attributes:
        dialect: what it speaks.
        base: the base address as it has it.
        url: the whole address that it asks.
        model: whom.
        credentials: what it sends, by lower-case header; empty where the origin is not one that a key may go to.
        headers: further ones.
        streams: whether it asks for a stream.
        timeout_seconds: how long it waits; None where nobody knows.
        limit_name: the parameter by which it limits the answer; "" for the dialect's own.
        network: its way.
        is_trusted: whether the key may be sent there at all.
    """

    dialect: Dialect
    base: str
    url: str
    model: str
    credentials: Mapping[str, Secret] = field(default_factory=dict)
    headers: Mapping[str, str | Secret] = field(default_factory=dict)
    streams: bool = False
    timeout_seconds: float | None = None
    limit_name: str = ""
    network: Network = field(default_factory=Network)
    is_trusted: bool = True


@dataclass(frozen=True)
class Exchange:
    """One request and what came of it, free of keys.

    Attributes:
        what: why it was asked.
        method: `GET` or `POST`.
        url: fit to be shown.
        sent: the names of its headers.
        status: None where no answer came.
        content_type: as the answer says; may be empty.
        words: the answer's own explanation, or what kept it from coming.
        cause: a slug; "" where it went well.
        certainty: of the cause.
        also: causes that look the same.
        elapsed_ms: to the end of the answer.
        first_ms: to the first event of a stream, else None.
        is_billable: whether it may have cost something.
    """

    what: What
    method: str
    url: str
    sent: tuple[str, ...]
    status: int | None
    content_type: str
    words: str
    cause: str
    certainty: Certainty
    also: tuple[str, ...]
    elapsed_ms: int
    first_ms: int | None = None
    is_billable: bool = False

    @property
    def is_ok(self) -> bool:
        """Whether it was answered as it must be."""
        return self.status is not None and not self.cause and 200 <= self.status < 300  # noqa: PLR2004  HTTP's classes


class Talk:
    """Requests, counted and recorded."""

    def __init__(self, request: Request, *, is_deep: bool) -> None:
        self.request, self.is_deep = request, is_deep
        self.exchanges: list[Exchange] = []
        self.models: tuple[str, ...] = ()
        self.skew: float | None = None
        self._heard: streams.Stream | None = None
        self._most = MOST_REQUESTS + is_deep
        self._most_billable = MOST_BILLABLE + is_deep
        patience = max(_PATIENCE_SECONDS, request.network.read_seconds)
        self._network = replace(request.network, read_seconds=patience)

    @property
    def is_proxied(self) -> bool:
        """Whether a proxy stands between."""
        return self.request.network.proxy_for(self.request.url) is not None

    @property
    def limit_name(self) -> str:
        """The parameter by which the tool limits the answer."""
        usual = "max_output_tokens" if self.request.dialect == "openai-responses" else "max_tokens"
        return self.request.limit_name or usual

    @property
    def model(self) -> str:
        """Whom it asks; where its settings leave that open, as its vendor's tools do."""
        if self.request.model or self.request.dialect == "openai-chat":
            return self.request.model
        usual = _USUAL[self.request.dialect]
        family = usual.partition("-")[0]
        return next((model for model in self.models if family in model), usual)

    def values(self, exchange: Exchange) -> dict[str, str]:
        """What fills a cause's sentences."""
        near = _near(self.model, self.models)
        parts = urlsplit(self.request.url)
        told = {"url": exchange.url, "model": self.model, "host": parts.hostname or "", "near": near}
        return {name: text for name, text in told.items() if text} | {"words": exchange.words}

    def list_models(self, *, what: What = "models", network: Network | None = None, is_keyed: bool = True) -> Exchange:
        """`GET models`, which costs nothing."""
        url = models_url(self.request.dialect, self.request.base)
        sent = self._headers(self.request.credentials if is_keyed else {})
        exchange, answer = self._sent(what, "GET", url, None, sent, network=network)
        found = ids(answer.json) if answer is not None and exchange.is_ok else None
        self.models = found or self.models
        return exchange

    def ask(self, *, what: What = "question", limit_name: str = "", headers: bool = True) -> Exchange:
        """The tool's own request, as small as it can be."""
        request = self.request
        body = _body(request.dialect, self.model, limit_name or self.limit_name)
        sent = self._headers(request.credentials, with_own=headers)
        return self._sent(what, "POST", request.url, body, sent)[0]

    def ask_plainly(self) -> Exchange | None:
        """The same without the headers that its settings add."""
        return self.ask(what="plain headers", headers=False) if self._may(is_billable=True) else None

    def ask_as_tool(self) -> Exchange:
        """The tool's own request, as small as it can be: a stream where it asks for one."""
        return self._listened() if self.request.streams else self.ask()

    def listen(self) -> Exchange | None:
        """The same as a short stream; None where no more may be asked."""
        return self._listened() if self._may(is_billable=True) else None

    def compared(self) -> streams.Fault | None:
        """Whether a stream that came all at once was held back on its way: the same is asked without a stream."""
        if self._heard is None or not streams.is_burst(self._heard):
            return None
        answered = self.ask() if self._may(is_billable=True) else None
        return streams.buffered(self._heard, answered.elapsed_ms if answered and answered.is_ok else None)

    def _listened(self) -> Exchange:
        request = self.request
        body = {**_body(request.dialect, self.model, self.limit_name), "stream": True}
        sent = {**self._headers(request.credentials, with_own=True), "accept": "text/event-stream"}
        heard = streams.listen(request.url, body, sent, self._network, request.dialect)
        self._heard = heard
        wrong = streams.fault(heard, replace(self._asked(request.url, body, sent), streams=True))
        if heard.answer is None:
            verdict = unsent(heard.fault or OSError(), request.url, self._network)
            wrong = streams.Fault(verdict.cause, "sure" if verdict.cause else "open", verdict.problem)
        elif self.skew is None:
            self.skew = _skew(heard.answer)
        exchange = Exchange(
            *("stream", "POST", shown_address(request.url), tuple(sorted(sent))),
            status=heard.answer.status if heard.answer else None,
            content_type=_type(heard.answer),
            words=wrong.said if wrong else "",
            cause=wrong.cause if wrong else "",
            certainty=wrong.certainty if wrong else "sure",
            also=wrong.also if wrong else (),
            elapsed_ms=heard.total_ms,
            first_ms=heard.first_ms,
            is_billable=True,
        )
        self.exchanges.append(exchange)
        return exchange

    def dig(self) -> Exchange | None:
        """The same with what a coding tool sends along: its kind of headers, and a body with code in it."""
        if not self._may(is_billable=True):
            return None
        request = self.request
        body = _body(request.dialect, self.model, self.limit_name, text=_CODE * (40_000 // len(_CODE)))
        sent = {**self._headers(request.credentials, with_own=True), **_CLIENT_HEADERS}
        return self._sent("deep", "POST", request.url, body, sent)[0]

    def try_api(self, dialect: Dialect) -> Exchange | None:
        """Another dialect's route at the same base, with an empty question, which costs nothing anywhere."""
        if not self._may(is_billable=False):
            return None
        root = self.request.base.strip().rstrip("/").removesuffix("/v1")
        is_versioned = root != self.request.base.strip().rstrip("/") or self.request.dialect == "anthropic-messages"
        url = f"{root}/v1" if is_versioned and dialect != "anthropic-messages" else root
        url += PATHS[dialect]
        return self._sent("other API", "POST", url, {}, self._headers(self.request.credentials))[0]

    def try_address(self, candidate: Candidate) -> Exchange | None:
        """The list of models at another address of the same origin; None where no more may be asked."""
        if not self._may(is_billable=False):
            return None
        url = models_url(self.request.dialect, candidate.base)
        exchange, answer = self._sent("other address", "GET", url, None, self._headers(self.request.credentials))
        if answer is not None and exchange.is_ok and is_page(answer):
            return replace(exchange, cause="path_missing_v1", certainty="open")
        return exchange

    def try_header(self) -> tuple[str, Exchange] | None:
        """The same key in the header that others read."""
        first = next(iter(self.request.credentials.items()), None)
        if first is None or not self._may(is_billable=False):
            return None
        header = "x-api-key" if first[0] == "authorization" else "authorization"
        sent = self._headers({header: first[1]})
        if self.models:  # which are open to everybody: an empty question costs nothing either
            return header, self._sent("other header", "POST", self.request.url, {}, sent)[0]
        url = models_url(self.request.dialect, self.request.base)
        return header, self._sent("other header", "GET", url, None, sent)[0]

    def _may(self, *, is_billable: bool) -> bool:
        billed = sum(exchange.is_billable for exchange in self.exchanges)
        return len(self.exchanges) < self._most and (not is_billable or billed < self._most_billable)

    def _headers(self, credentials: Mapping[str, Secret], *, with_own: bool = False) -> dict[str, str]:
        own = self.request.headers if with_own or not self.exchanges else {}
        sent = {name.lower(): value.reveal() if isinstance(value, Secret) else value for name, value in own.items()}
        sent |= {"accept": "application/json", "user-agent": f"toolsync/{__version__}"}
        if self.request.dialect == "anthropic-messages":
            sent.setdefault("anthropic-version", "2023-06-01")
        for header, key in credentials.items():
            sent[header] = f"Bearer {key.reveal()}" if header == "authorization" else key.reveal()
        return sent

    def _asked(self, url: str, body: Mapping[str, Any] | None, sent: Mapping[str, str]) -> Asked:
        is_keyed = any(header in sent for header in self.request.credentials)
        model = str(body.get("model") or "-") if body else ""
        return Asked(url, self.request.dialect, model, is_keyed)

    def _sent(  # noqa: PLR0913  what is asked, how, and by which way
        self,
        what: What,
        method: str,
        url: str,
        body: Mapping[str, Any] | None,
        sent: Mapping[str, str],
        *,
        network: Network | None = None,
    ) -> tuple[Exchange, Response | None]:
        way, started = network or self._network, time.perf_counter()
        answer, reading = None, Reading("")
        try:
            answer = send(method, url, body, sent, way)
            reading = read(answer, self._asked(url, body, sent))
            self.skew = self.skew if self.skew is not None else _skew(answer)
        except Exception as error:  # noqa: BLE001  every exception is a result
            verdict = unsent(error, url, way)
            reading = Reading(verdict.cause, words=verdict.problem, certainty="sure" if verdict.cause else "open")
        exchange = Exchange(
            *(what, method, shown_address(url), tuple(sorted(sent))),
            status=answer.status if answer else None,
            content_type=_type(answer),
            words=reading.words,
            cause=reading.cause,
            certainty=reading.certainty,
            also=reading.also,
            elapsed_ms=answer.elapsed_ms if answer else round((time.perf_counter() - started) * 1000),
            is_billable=method == "POST" and bool(body),
        )
        self.exchanges.append(exchange)
        return exchange, answer


def _body(dialect: Dialect, model: str, limit_name: str, *, text: str = "") -> dict[str, Any]:
    body = {name: value for name, value in question(dialect, model, LIMIT).items() if not name.startswith("max_")}
    if text:
        name = "input" if dialect == "openai-responses" else "messages"
        body[name] = text if name == "input" else [{"role": "user", "content": text}]
    return {**body, limit_name: LIMIT}


def _type(answer: Response | None) -> str:
    return answer.headers.get("content-type", "").partition(";")[0].strip() if answer else ""


def _skew(answer: Response) -> float | None:
    try:
        then = email.utils.parsedate_to_datetime(answer.headers["date"])
    except (KeyError, ValueError, TypeError):
        return None
    return time.time() - then.timestamp()


def _near(model: str, models: Sequence[str]) -> str:
    """The listed model that was most likely meant."""
    from difflib import get_close_matches  # only a mistake needs it

    if model in models:
        return ""
    return next(iter(get_close_matches(model, models, n=1, cutoff=0.6)), "")


_USUAL = {"anthropic-messages": "claude-sonnet-4-5", "openai-responses": "gpt-5"}
"""A model of the kind that tools ask for of their own accord."""

_CLIENT_HEADERS = {
    "user-agent": "claude-cli/2.1 (external, cli)",
    "x-app": "cli",
    "x-stainless-lang": "js",
    "x-stainless-runtime": "node",
}
"""The kind of headers that coding tools send along; edges refuse some clients by them."""

_CODE = """\
<script>alert(document.cookie)</script>
SELECT name FROM users WHERE id = 1 OR '1'='1'; -- ../../etc/passwd
def run(path): return subprocess.check_output(["sh", "-c", f"cat {path} | grep root"])
"""
"""What firewalls that look into bodies take for an attack, and coding tools send all day."""
