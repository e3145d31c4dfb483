"""Requests to a gateway as a tool makes them, counted and recorded; the key goes to the origin asked only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from toolsync import __version__
from toolsync.deadline import Attempt
from toolsync.masking import Secret
from toolsync.probe import stream as streams
from toolsync.probe.classifier import Asked
from toolsync.probe.dialect import LIMIT, USUAL_MODELS, ids, models_url, near, question
from toolsync.probe.exchange import Exchange, What
from toolsync.probe.line import Line
from toolsync.probe.network import Network
from toolsync.probe.request import Request, queried
from toolsync.probe.response import Response
from toolsync.probe.sending import Came, Sending, is_redirect, listened, sent
from toolsync.probe.verdict import target
from toolsync.sentence import Text

MOST_REQUESTS = 6
MOST_BILLABLE = 2
"""Of one origin with one key in one dialect, however many programs ask so; `deep` adds one to both."""

_QUIET_SECONDS = 5.0
"""A list that takes longer is waited for while the tool's own request is made."""
_QUICK_MS = 10_000
"""What comes later is not asked for twice only to be compared."""
_PATIENCE_SECONDS = 15.0
_MOST_PATIENCE_SECONDS = 60.0
"""However long a tool waits: who asks doctor sits there."""


class Talk:
    """Requests, counted and recorded."""

    def __init__(self, request: Request, *, is_deep: bool, line: Line) -> None:
        """Nothing is asked yet.

        Args:
            request: the tool's.
            is_deep: whether a coding tool's kind of request is tried too.
            line: what is known of the origin, and was asked of it.
        """
        self.request, self.is_deep = request, is_deep
        self.exchanges: list[Exchange] = []
        self.models: tuple[str, ...] = ()
        self.skew: float | None = None
        self._leads_to = ""
        self._heard: streams.Stream | None = None
        self._line = line
        self.account = line.account(request.payer)
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
        usual = USUAL_MODELS[self.request.dialect]
        family = usual.partition("-")[0]
        return next((model for model in self.models if family in model), usual)

    @property
    def is_unlisted(self) -> bool:
        """Whether the gateway lists models, and not the one that is asked for."""
        return bool(self.models) and self.model not in self.models

    def values(self, exchange: Exchange) -> dict[str, Text]:
        """What fills a cause's sentences."""
        meant = near(self.model, self.models)
        parts = urlsplit(self.request.url)
        page = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
        told = {"url": exchange.url, "model": self.model, "host": parts.hostname or "", "near": meant, "page": page}
        if exchange.cause == "url_redirect":
            told["address"] = self._leads_to
        return {name: text for name, text in told.items() if text}

    def begun(self) -> tuple[Exchange, Exchange | None]:
        """`GET models`, which costs nothing; if it is long in coming, what the tool's request came to meanwhile."""
        listing = self._once(self._listing)
        is_to_wait = self._line.is_heard or listing.is_over(_QUIET_SECONDS) or not self.may(is_billable=True)
        asked = None if is_to_wait else self.ask_as_tool()
        listed, answer = _called("models", listing)
        self.exchanges.insert(0, listed)
        self._notes(answer, self._models_url)
        self._takes(listed, answer)
        return listed, asked

    @property
    def may_begin(self) -> bool:
        """Whether the list may be asked for."""
        return self._may_once(self._listing)

    @property
    def _listing(self) -> Sending:
        headers = self.headers(self.request.credentials)
        return Sending("models", "GET", self._models_url, None, headers, self._network)

    def list_models(self, *, what: What, network: Network | None = None, is_keyed: bool = True) -> Exchange | None:
        """`GET models` another way; None where no more may be asked."""
        headers = self.headers(self.request.credentials if is_keyed else {})
        came = self.tries(what, "GET", self._models_url, headers, network=network)
        if came is None:
            return None
        self._takes(*came)
        return came[0]

    @property
    def _models_url(self) -> str:
        return self.models_url(self.request.base)

    def models_url(self, base: str) -> str:
        """Where the list of models lies below an address."""
        return queried(models_url(self.request.dialect, base), self.request.query)

    def _takes(self, listed: Exchange, answer: Response | None) -> None:
        found = ids(answer.json) if answer is not None and listed.is_ok else None
        self.models = found or self.models

    def ask(self, *, what: What = "question", limit_name: str = "", has_own_headers: bool = True) -> Exchange:
        """The tool's own request, as small as it can be."""
        headers = self.headers(self.request.credentials, with_own=has_own_headers)
        return self.asks(what, self.question(limit_name=limit_name), headers)

    def waits_as_tool(self) -> None:
        """From now on wait as the tool does, within reason: somebody is there, and may be slow."""
        patience = min(self.request.timeout_seconds or 0.0, _MOST_PATIENCE_SECONDS)
        if not self._line.is_vain:
            self._network = replace(self._network, read_seconds=max(self._network.read_seconds, patience))

    def ask_as_tool(self) -> Exchange:
        """The tool's own request, as small as it can be: a stream where it asks for one."""
        asked = self.listened() if self.request.streams else self.ask()
        if asked.status is None and not asked.cause:
            self._line.is_vain = self._line.is_vain or self.is_patient
            self._line.leaves(self.request.payer)
        return asked

    @property
    def is_patient(self) -> bool:
        """Whether it waits longer than it would for somebody of whom nothing is known."""
        return self._network.read_seconds > max(_PATIENCE_SECONDS, self.request.network.read_seconds)

    def listen(self) -> Exchange | None:
        """The same as a short stream; None where no more may be asked."""
        return self.listened() if self.may(is_billable=True) else None

    def compared(self) -> streams.Fault | None:
        """Whether a stream that came all at once was held back on its way: if need be, the same is asked without one.

        Of a gateway that is slow it is not: who waited for the first answer is not to wait for as long again.
        """
        if self._heard is None or not streams.is_burst(self._heard):
            return None
        is_needed = not streams.is_plain(self._heard) and (self._heard.first_ms or 0) <= _QUICK_MS
        answered = self.ask() if is_needed and self.may(is_billable=True) else None
        return streams.buffered(self._heard, answered.elapsed_ms if answered and answered.is_ok else None)

    def listened(self, what: What = "stream", *, text: str = "", more: Mapping[str, str] | None = None) -> Exchange:
        """A short stream.

        Args:
            what: why it is asked for.
            text: what is asked instead of the usual word.
            more: headers besides the tool's own.
        """
        request = self.request
        body = {**self.question(text=text), "stream": True}
        headers = {**self.headers(request.credentials, with_own=True), **(more or {}), "accept": "text/event-stream"}
        self.account.spends(is_billable=True)
        asked = Sending(what, "POST", request.url, body, headers, self._network)
        exchange, self._heard = listened(asked, request)
        self._notes(self._heard.answer, request.url)
        self._records(exchange)
        return exchange

    # What the requests are made of; trials make theirs of the same.

    def may(self, *, is_billable: bool) -> bool:
        """Whether one more may be asked."""
        if is_billable and self.account.billed >= MOST_BILLABLE + self.is_deep:
            return False
        return self.left > 0

    @property
    def left(self) -> int:
        """How many more may be asked."""
        return MOST_REQUESTS + self.is_deep - self.account.sent

    def question(self, *, limit_name: str = "", text: str = "") -> dict[str, Any]:
        """The body of the smallest question.

        Args:
            limit_name: the parameter that limits the answer, where it is another than the tool's.
            text: what is asked instead of the usual word.
        """
        dialect = self.request.dialect
        asked = {name: value for name, value in question(dialect, self.model, LIMIT).items() if name not in _LIMITS}
        if text:
            is_input = dialect == "openai-responses"
            asked |= {"input": text} if is_input else {"messages": [{"role": "user", "content": text}]}
        return {**asked, limit_name or self.limit_name: LIMIT}

    def headers(self, credentials: Mapping[str, Secret], *, with_own: bool = False) -> dict[str, str]:
        """The headers of a request.

        Args:
            credentials: what is sent, by lower-case header.
            with_own: whether the further headers of the tool's settings go along; with the first request they do.
        """
        own = self.request.headers if with_own or not self.exchanges else {}
        sent = {name.lower(): value.reveal() if isinstance(value, Secret) else value for name, value in own.items()}
        sent |= {"accept": "application/json", "user-agent": f"toolsync/{__version__}"}
        if self.request.dialect == "anthropic-messages":
            sent.setdefault("anthropic-version", "2023-06-01")
        for header, key in credentials.items():
            sent[header] = f"Bearer {key.reveal()}" if header == "authorization" else key.reveal()
        return sent

    def asks(self, what: What, body: Mapping[str, Any], headers: Mapping[str, str]) -> Exchange:
        """Put a question to the tool's own address, which may cost something."""
        return self._send(Sending(what, "POST", self.request.url, body, headers, self._network))[0]

    def tries(
        self, what: What, method: str, url: str, headers: Mapping[str, str], *, network: Network | None = None
    ) -> Came | None:
        """Ask what asks no model; None where no more may be asked, and nobody has asked it before."""
        body: Mapping[str, Any] | None = {} if method == "POST" else None
        sending = Sending(what, method, url, body, headers, network or self._network)
        return self._send(sending) if self._may_once(sending) else None

    def _may_once(self, sending: Sending) -> bool:
        return self.may(is_billable=False) or self._line.knows(sending.likeness)

    def _send(self, sending: Sending) -> Came:
        """Send it, and record what came of it; what several programs would ask alike, and no model, is sent once."""
        if sending.is_billable:
            self.account.spends(is_billable=True)
            exchange, answer = sent(sending, self.request, self._line.hears)
        else:
            exchange, answer = _called(sending.what, self._once(sending))
        self._records(exchange)
        self._notes(answer, sending.url)
        return exchange, answer

    def _records(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        if exchange.status is not None:
            self._line.hears()

    def _once(self, sending: Sending) -> Attempt[Came]:
        if not self._line.knows(sending.likeness):
            self.account.spends(is_billable=False)
        return self._line.once(sending.likeness, partial(sent, sending, self.request, self._line.hears))

    def _notes(self, answer: Response | None, url: str) -> None:
        if answer is None:
            return
        if is_redirect(answer):
            self._leads_to = target(answer, Asked(url, self.request.dialect, "", is_keyed=False))
        self.skew = self.skew if self.skew is not None else answer.skew_seconds


def _called(what: What, attempt: Attempt[Came]) -> Came:
    """What came, by what it was asked for here; another may have asked the same for another reason."""
    exchange, answer = attempt.result()
    return replace(exchange, what=what), answer


_LIMITS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})
