"""Ask a gateway the smallest thing that proves address, key, model and dialect, and say plainly what came of it.

Nothing here raises: whatever happens on the way is a result, with the keys taken out of every text and nothing in it
that a terminal would obey. Redirects are never followed, for the key would go along (`x-api-key` does in httpx).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from toolsync.address import Dialect, endpoint, is_loopback, normal, origin
from toolsync.errors import ProfileError
from toolsync.masking import Secret
from toolsync.probe.network import Network, send
from toolsync.probe.response import Response
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.causes import Certainty, Language
    from toolsync.probe.verdict import Outcome

__all__ = ["Models", "Network", "Ping", "PingRequest", "exposes_key", "list_models", "ping", "pings"]

_Found = TypeVar("_Found")


@frozen
class PingRequest:
    """What to ask, of whom, and by which way.

    Attributes:
        dialect: the protocol that the tool speaks.
        base: the base address as the tool's settings have it; the path is appended as that tool would.
        model: whom to ask; not needed for the list of models.
        key: None sends no credential at all.
        headers: further ones, as the profile's `request.headers`; they never replace the credential.
        network: proxy and trust, as the tool has them, and our patience.
        language: of what is said about the answer.
    """

    dialect: Dialect
    base: str
    model: str = ""
    key: Secret | None = None
    headers: Mapping[str, str | Secret] = field(default_factory=dict)
    network: Network = field(default_factory=Network)
    language: Language = "en"


@frozen
class _Result:
    """What came of a request.

    Attributes:
        url: where it went.
        outcome: one word.
        status: of HTTP; None where no answer came.
        elapsed_ms: from the start of the connection to the end of the answer, or to the failure.
        cause: why, as a slug of `templates/causes/`; empty where all is well, or nobody can tell.
        certainty: of the cause; `open` where one answer does not decide between it and others.
        problem: one sentence, the gateway's own words in it; empty where all is well.
        hint: what to do about it, one sentence; may be empty; NAME stands for the profile, which is not known here.
        warning: what to mind although it may work: the key in clear over a network; usually empty.
    """

    _: KW_ONLY
    url: str
    outcome: Outcome
    status: int | None
    elapsed_ms: int
    cause: str = ""
    certainty: Certainty = "sure"
    problem: str = ""
    hint: str = ""
    warning: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the gateway answered as it must."""
        return self.outcome == "ok"


@frozen
class Ping(_Result):
    """What came of asking a model one word.

    Attributes:
        dialect: as asked.
        asked: the model asked.
        model: the model that answered, in the gateway's words; None where it does not say.
        input_tokens: as counted by the gateway; None where it does not say.
        output_tokens: likewise.
        reply: the beginning of what it said; may be empty, for a model may think its few tokens away.
    """

    _: KW_ONLY
    dialect: Dialect
    asked: str
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reply: str = ""


@frozen
class Models(_Result):
    """What came of asking for the list of models; `ids` is in the gateway's order, each once."""

    _: KW_ONLY
    ids: tuple[str, ...] = ()


def ping(request: PingRequest) -> Ping:
    """Ask the model for one word.

    A gateway that refuses the limit on output tokens (newer OpenAI models want another name for it, some models
    want more of them) is asked once more, in the other way.
    """
    from toolsync.probe.body import shown
    from toolsync.probe.dialect import reply

    url = endpoint(request.dialect, request.base)
    result, said = _came(request, url, _asked, lambda data: reply(data, request.dialect))
    ping = Ping(**result, dialect=request.dialect, asked=request.model)
    if said is None:
        return ping
    return replace(
        ping,
        model=shown(said.model) if said.model else None,
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        reply=shown(said.text),
    )


def pings(requests: Sequence[PingRequest]) -> list[Ping]:
    """The same of several, in their order; a gateway that is silent for a while is asked the rest at once."""
    if len(requests) < 2:  # noqa: PLR2004  there are no others
        return [ping(request) for request in requests]
    from toolsync.probe.line import Line, asked

    def ask(number: int, line: Line) -> Ping:
        came = ping(requests[number])
        line.is_heard = line.is_heard or came.status is not None
        return came

    def again(number: int, line: Line, before: Ping) -> Ping:
        is_ours = before.outcome == "timeout" or before.cause in ("rate_limited", "upstream_overloaded")
        if not is_ours or before.outcome in line.confirmed:
            return before
        came = ping(requests[number])
        line.confirmed |= {before.outcome} if came.outcome == before.outcome else set()
        return came

    return asked([_origin(request) for request in requests], ask, again, _SILENT_SECONDS)


_SILENT_SECONDS = 10.0
"""Who says nothing for so long is asked the rest at once, as doctor does."""


def _origin(request: PingRequest) -> str:
    try:
        return origin(request.base)
    except ProfileError:
        return request.base


def list_models(request: PingRequest) -> Models:
    """Ask which models the gateway serves; the request's own model is no matter.

    A list may name models that this key may not use, and leave out some that it may.
    """
    from toolsync.probe.dialect import ids, models_url

    result, found = _came(replace(request, model=""), models_url(request.dialect, request.base), _listed, ids)
    return Models(**result, ids=found or ())


def exposes_key(request: PingRequest) -> bool:
    """Whether the key would go in clear over a network: plain http to anything but this machine."""
    try:
        return request.key is not None and request.base.strip()[:5].lower() == "http:" and not is_loopback(request.base)
    except ProfileError:
        return False


def _came(
    request: PingRequest,
    url: str,
    ask: Callable[[PingRequest, str], Response],
    find: Callable[[object], _Found | None],
) -> tuple[dict[str, Any], _Found | None]:
    """The fields that every result has, and what `find` found in an answer of success; whatever happens on the way."""
    from toolsync.probe.classifier import Asked
    from toolsync.probe.failure import unsent
    from toolsync.probe.verdict import judge, shown_address
    from toolsync.sentence import say, tell

    started = time.perf_counter()
    answer = found = None
    try:
        normal(request.base)  # an address that is none has its own advice
        answer = ask(request, url)
        found = find(answer.json)
        verdict = judge(answer, Asked(url, request.dialect, request.model, is_keyed=request.key is not None))
    except Exception as error:  # noqa: BLE001  every exception is a result
        verdict = unsent(error, url, request.network)
    result = {
        "url": shown_address(url),
        "outcome": verdict.outcome,
        "status": answer.status if answer else None,
        "elapsed_ms": answer.elapsed_ms if answer else round((time.perf_counter() - started) * 1000),
        "cause": verdict.cause,
        "certainty": verdict.certainty,
        "problem": tell(verdict.problem, request.language),
        "hint": tell(verdict.hint, request.language),
        "warning": tell(say("key_in_the_open"), request.language) if exposes_key(request) else "",
    }
    return result, found if verdict.outcome == "ok" else None


def _asked(request: PingRequest, url: str) -> Response:
    from toolsync.probe.dialect import LIMIT, LIMIT_RETRIED, headers, names_the_limit, question

    sent = headers(request.dialect, request.key, request.headers)
    answer = send("POST", url, question(request.dialect, request.model, LIMIT), sent, request.network)
    if not names_the_limit(answer):
        return answer
    again = question(request.dialect, request.model, LIMIT_RETRIED, is_retry=True)
    return send("POST", url, again, sent, request.network)


def _listed(request: PingRequest, url: str) -> Response:
    from toolsync.probe.dialect import headers

    return send("GET", url, None, headers(request.dialect, request.key, request.headers), request.network)
