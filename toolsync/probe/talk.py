"""Requests to a gateway as a tool makes them, counted and recorded; the key goes to the origin asked only."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from toolsync import __version__
from toolsync.deadline import Attempt
from toolsync.masking import Secret
from toolsync.probe import network as networks
from toolsync.probe import stream as streams
from toolsync.probe.classifier import Asked, Reading, read
from toolsync.probe.dialect import LIMIT, ids, models_url, question
from toolsync.probe.exchange import Exchange, What
from toolsync.probe.failure import unsent
from toolsync.probe.line import Line
from toolsync.probe.network import Network
from toolsync.probe.request import Request, queried
from toolsync.probe.response import Response
from toolsync.probe.verdict import location, shown_address, target
from toolsync.sentence import Text, say

MOST_REQUESTS = 6
MOST_BILLABLE = 2
"""Of one origin with one key in one dialect, however many programs ask so; `deep` adds one to both."""

_QUIET_SECONDS = 5.0
"""A list that takes longer is waited for while the tool's own request is made."""
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
        usual = _USUAL[self.request.dialect]
        family = usual.partition("-")[0]
        return next((model for model in self.models if family in model), usual)

    def values(self, exchange: Exchange) -> dict[str, Text]:
        """What fills a cause's sentences."""
        near = _near(self.model, self.models)
        parts = urlsplit(self.request.url)
        page = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
        told = {"url": exchange.url, "model": self.model, "host": parts.hostname or "", "near": near, "page": page}
        if exchange.cause == "url_redirect":
            told["address"] = self._leads_to
        return {name: text for name, text in told.items() if text}

    def begun(self) -> tuple[Exchange, Exchange | None]:
        """`GET models`, which costs nothing; if it is long in coming, what the tool's request came to meanwhile."""
        url, sent = self._models_url, self.headers(self.request.credentials)
        listing = self._once("models", "GET", url, None, sent, way=self._network)
        is_to_wait = self._line.is_heard or listing.is_over(_QUIET_SECONDS) or not self.may(is_billable=True)
        asked = None if is_to_wait else self.ask_as_tool()
        listed, answer = _called("models", listing)
        self.exchanges.insert(0, listed)
        self._notes(answer, url)
        self._takes(listed, answer)
        return listed, asked

    @property
    def may_begin(self) -> bool:
        """Whether the list may be asked for."""
        return self._may_once("GET", self._models_url, self.headers(self.request.credentials), self._network)

    def list_models(self, *, what: What, network: Network | None = None, is_keyed: bool = True) -> Exchange | None:
        """`GET models` another way; None where no more may be asked."""
        sent = self.headers(self.request.credentials if is_keyed else {})
        came = self.tries(what, "GET", self._models_url, sent, network=network)
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
        sent = self.headers(self.request.credentials, with_own=has_own_headers)
        return self.send(what, "POST", self.request.url, self.question(limit_name=limit_name), sent)[0]

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
        """Whether a stream that came all at once was held back on its way: the same is asked without a stream."""
        if self._heard is None or not streams.is_burst(self._heard):
            return None
        answered = self.ask() if self.may(is_billable=True) else None
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
        sent = {**self.headers(request.credentials, with_own=True), **(more or {}), "accept": "text/event-stream"}
        self.account.spends(is_billable=True)
        heard = streams.listen(request.url, body, sent, self._network, request.dialect)
        self._heard = heard
        wrong = streams.fault(heard, replace(self._asked(request.url, body, sent), streams=True))
        if heard.answer is None:
            verdict = unsent(heard.fault or OSError(), request.url, self._network)
            wrong = streams.Fault(verdict.cause, verdict.certainty if verdict.cause else "open", verdict.problem)
        self._notes(heard.answer, request.url)
        exchange = Exchange(
            *(what, "POST", shown_address(request.url), tuple(sorted(sent))),
            status=heard.answer.status if heard.answer else None,
            content_type=_type(heard.answer),
            words=_led(heard.answer, request.url) or (wrong.said if wrong else _paused(request, heard)),
            cause=wrong.cause if wrong else "",
            certainty=wrong.certainty if wrong else "sure",
            also=wrong.also if wrong else (),
            elapsed_ms=heard.total_ms,
            first_ms=heard.first_ms,
            headers_ms=heard.headers_ms if heard.answer else None,
            silence_ms=heard.silence_ms if heard.answer else None,
            is_billable=True,
            by=wrong.by if wrong else "",
        )
        self._records(exchange)
        return exchange

    # What the requests are made of; trials make theirs of the same.

    def may(self, *, is_billable: bool) -> bool:
        """Whether one more may be asked."""
        if is_billable and self.account.billed >= MOST_BILLABLE + self.is_deep:
            return False
        return self.account.sent < MOST_REQUESTS + self.is_deep

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

    def send(  # noqa: PLR0913  what is asked, how, and by which way
        self,
        what: What,
        method: str,
        url: str,
        body: Mapping[str, Any] | None,
        sent: Mapping[str, str],
        *,
        network: Network | None = None,
    ) -> tuple[Exchange, Response | None]:
        """Send a request, and record what came of it; the answer is None where none came.

        What several programs would ask alike, and no model, is sent once.
        """
        way = network or self._network
        if body:
            self.account.spends(is_billable=True)
            exchange, answer = self._sent(what, method, url, body, sent, way=way)
        else:
            exchange, answer = _called(what, self._once(what, method, url, body, sent, way=way))
        self._records(exchange)
        self._notes(answer, url)
        return exchange, answer

    def tries(
        self, what: What, method: str, url: str, sent: Mapping[str, str], *, network: Network | None = None
    ) -> tuple[Exchange, Response | None] | None:
        """The same of what asks no model; None where no more may be asked, and nobody has asked it before."""
        if not self._may_once(method, url, sent, network or self._network):
            return None
        return self.send(what, method, url, {} if method == "POST" else None, sent, network=network)

    def _may_once(self, method: str, url: str, sent: Mapping[str, str], way: Network) -> bool:
        return self.may(is_billable=False) or self._line.knows(_whole(method, url, sent, way))

    def _records(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        if exchange.status is not None:
            self._line.hears()

    def _once(  # noqa: PLR0913  likewise
        self,
        what: What,
        method: str,
        url: str,
        body: Mapping[str, Any] | None,
        sent: Mapping[str, str],
        *,
        way: Network,
    ) -> Attempt[tuple[Exchange, Response | None]]:
        asked = _whole(method, url, sent, way)
        if not self._line.knows(asked):
            self.account.spends(is_billable=False)
        return self._line.once(asked, partial(self._sent, what, method, url, body, sent, way=way))

    def _sent(  # noqa: PLR0913  likewise
        self,
        what: What,
        method: str,
        url: str,
        body: Mapping[str, Any] | None,
        sent: Mapping[str, str],
        *,
        way: Network,
    ) -> tuple[Exchange, Response | None]:
        started = time.perf_counter()
        answer, reading = None, Reading("")
        words: Text = ""
        try:
            answer = networks.send(method, url, body, sent, way)
            self._line.hears()
            reading = Reading("") if _is_cut_list(answer, body) else read(answer, self._asked(url, body, sent))
            words = _led(answer, url) or reading.words
        except Exception as error:  # noqa: BLE001  every exception is a result
            verdict = unsent(error, url, way)
            reading, words = (
                Reading(verdict.cause, certainty=verdict.certainty if verdict.cause else "open"),
                verdict.problem,
            )
        exchange = Exchange(
            *(what, method, shown_address(url), tuple(sorted(sent))),
            status=answer.status if answer else None,
            content_type=_type(answer),
            words=words,
            cause=reading.cause,
            certainty=reading.certainty,
            also=reading.also,
            elapsed_ms=answer.elapsed_ms if answer else round((time.perf_counter() - started) * 1000),
            is_billable=method == "POST" and bool(body),
            by=reading.by,
        )
        return exchange, answer

    def _notes(self, answer: Response | None, url: str) -> None:
        if answer is None:
            return
        if _is_redirect(answer):
            self._leads_to = target(answer, self._asked(url, None, {}))
        self.skew = self.skew if self.skew is not None else _skew(answer)

    def _asked(self, url: str, body: Mapping[str, Any] | None, sent: Mapping[str, str]) -> Asked:
        is_keyed = any(header in sent for header in self.request.credentials)
        model = str(body.get("model") or "-") if body is not None else ""
        return Asked(url, self.request.dialect, model, is_keyed)


def _whole(method: str, url: str, sent: Mapping[str, str], way: Network) -> Hashable:
    """All that makes a request without a model what it is."""
    return method, url, tuple(sorted(sent.items())), way


def _called(what: What, attempt: Attempt[tuple[Exchange, Response | None]]) -> tuple[Exchange, Response | None]:
    """What came, by what it was asked for here; another may have asked the same for another reason."""
    exchange, answer = attempt.result()
    return replace(exchange, what=what), answer


def _is_cut_list(answer: Response, body: Mapping[str, Any] | None) -> bool:
    """Whether it is a list of models longer than what is read: it is there, and nobody knows what is in it."""
    is_cut = len(answer.body) >= networks.LONGEST_BODY
    return body is None and is_cut and answer.status == 200 and "json" in _type(answer)  # noqa: PLR2004  HTTP's own


def _led(answer: Response | None, url: str) -> Text:
    """Where a redirect points to; "" for any other answer."""
    place = location(answer, url) if answer is not None and _is_redirect(answer) else ""
    return say("leads_to", place=place) if place else ""


def _paused(request: Request, heard: streams.Stream) -> Text:
    """That it was silent for longer than the tool waits within a stream."""
    patience_ms = (request.timeout_seconds or 0) * 1000
    if "gaps" not in request.timeout_of or not 0 < patience_ms < heard.silence_ms:
        return ""
    return say("stream_pause", seconds=f"{heard.silence_ms / 1000:.1f}")


def _is_redirect(answer: Response) -> bool:
    return 300 <= answer.status < 400 and "location" in answer.headers  # noqa: PLR2004  HTTP's own classes


_LIMITS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})


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
