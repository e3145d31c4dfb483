"""What the same key was told before, at the same address: it need not be asked anew, or may not."""

from __future__ import annotations

from dataclasses import replace

from toolsync.probe.conclusion import Inquiry
from toolsync.probe.kinds import OF_THE_KEY, OF_THE_PATH, OF_THE_WAY
from toolsync.probe.patience import outwaited
from toolsync.probe.request import Request
from toolsync.probe.talk import Talk

_OF_WAITING = frozenset({"origin_timeout", "stream_stalled", "tool_timeout_too_short", "upstream_overloaded"})
"""What may be otherwise for who waits longer."""

_OF_ALL = OF_THE_KEY | OF_THE_PATH | OF_THE_WAY | {"quota_exhausted", "region_blocked", "proxy_captures_loopback"}
"""What does not lie in the model, nor in how the question is put."""


def inherited(talk: Talk) -> Inquiry | None:
    """What another program's request came to, where this one comes to the same; None where it is to be asked."""
    for request, before in reversed(talk.account.lessons):
        if _address(request) == _address(talk.request):
            found = _of_same(talk, before) if _question(request) == _question(talk.request) else _of_other(talk, before)
            if found is not None:
                return found
    return None


def is_answered(talk: Talk) -> bool:
    """Whether another question to this address was answered as it must be."""
    alike = (before for request, before in talk.account.lessons if _address(request) == _address(talk.request))
    return any(not before.cause and before.certainty != "open" for before in alike)


def _address(request: Request) -> tuple[object, ...]:
    headers = sorted((name, str(value)) for name, value in request.headers.items())
    return request.url, headers, sorted(request.credentials), request.network, request.is_trusted


def _question(request: Request) -> tuple[object, ...]:
    return request.model, request.streams, request.limit_name


def _of_same(talk: Talk, before: Inquiry) -> Inquiry | None:
    """The very same question: only how long the program waits may be another matter."""
    answered = next((one for one in before.exchanges if one.is_ok and one.what in ("question", "stream")), None)
    if answered is not None:
        values = outwaited(talk.request, answered)
        if values is not None:
            told = {**talk.values(answered), **values}
            return replace(before, cause="tool_timeout_too_short", certainty="sure", values=told)
        is_patient = before.cause == "tool_timeout_too_short"
        return replace(before, cause="", certainty="sure", values={}) if is_patient else before
    is_told = bool(before.cause or before.said) and before.cause not in _OF_WAITING
    return before if is_told or _is_silent(before) else None


def _of_other(talk: Talk, before: Inquiry) -> Inquiry | None:
    """Another model, or another kind of answer."""
    if _is_silent(before):
        return before
    values = {name: value for name, value in {**before.values, "model": talk.model}.items() if name != "near"}
    is_refused = before.cause in OF_THE_KEY and before.certainty != "open"
    is_listless = any(one.what == "models" and one.cause in OF_THE_KEY for one in before.exchanges)
    if is_refused and (is_listless or not talk.may(is_billable=True)):
        return replace(before, values=values)
    if before.cause in _OF_ALL and not talk.may(is_billable=True):
        return replace(before, values=values, certainty="likely" if before.certainty == "sure" else before.certainty)
    return None


def _is_silent(before: Inquiry) -> bool:
    """Whether nobody said anything at all."""
    return not before.cause and all(exchange.status is None for exchange in before.exchanges)
