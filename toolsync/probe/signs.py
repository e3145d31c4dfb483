"""What one exchange tells by itself, whatever else was asked."""

from __future__ import annotations

from toolsync.probe.exchange import Exchange
from toolsync.probe.kinds import OF_THE_PATH, OF_THE_WAY


def is_sent_elsewhere(listed: Exchange) -> bool:
    """Whether the list, at least, is to be had elsewhere, or behind a login."""
    is_led = listed.cause in ("url_redirect", "captive_portal") and listed.certainty != "open"
    return is_led and not may_be_path(listed)


def is_of_api(asked: Exchange) -> bool:
    """Whether it is an API that refused, and so the address is the right one."""
    return asked.status is not None and asked.cause not in OF_THE_WAY | OF_THE_PATH | {"gateway_bug"}


def may_be_of_model(asked: Exchange) -> bool:
    """Whether a model that is not in the list explains it: nothing else is said, or that nobody serves the model."""
    is_vague = asked.certainty == "open" or (asked.by == "statuses/unavailable" and "html" not in asked.content_type)
    is_unserved = asked.cause == "model_no_channel" and asked.certainty != "sure"
    return is_unserved or (is_vague and asked.status in _OF_UNKNOWN)


def is_dead(exchange: Exchange) -> bool:
    """Whether there is no use in asking anything else there."""
    return exchange.cause not in ("", "origin_timeout", "tool_timeout_too_short", "empty_response", "gateway_bug")


def may_be_path(exchange: Exchange) -> bool:
    """Whether a wrong path would look the same."""
    return bool(OF_THE_PATH.intersection(exchange.also))


def is_of_path(exchange: Exchange) -> bool:
    """Whether the path is wrong, or may be."""
    return exchange.cause in OF_THE_PATH or may_be_path(exchange)


def is_gateways_fault(exchange: Exchange) -> bool:
    """Whether it says that it failed itself."""
    return exchange.status is not None and exchange.status >= 500  # noqa: PLR2004  HTTP's own classes


def lacks_list(listed: Exchange) -> bool:
    """Whether there is no list there; one that is refused, or just now not to be had, may well be."""
    is_fault = is_gateways_fault(listed) and listed.status != 501  # noqa: PLR2004  "not implemented"
    is_kept = listed.status in (401, 403, 407, 429) or listed.cause == "captive_portal"
    is_elsewhere = listed.by == "redirects/redirect-to-a-slash"
    return listed.status is not None and not (is_kept or is_fault or is_elsewhere)


def is_served(tried: Exchange | None) -> bool:
    """Whether another API than the tool's is there."""
    if tried is None or tried.status is None or is_page(tried) or tried.cause in ("empty_response", "gateway_bug"):
        return False
    return tried.status < 300 or is_there(tried)  # noqa: PLR2004  HTTP's classes


def is_page(exchange: Exchange) -> bool:
    """Whether a website answers: what it lacks or has too much of nobody can tell, once other paths do the same."""
    return exchange.status == 200 and "html" in exchange.content_type  # noqa: PLR2004  HTTP's own


def is_nobody(listed: Exchange, asked: Exchange) -> bool:
    """Whether something answers with success, and to nothing as an API does: the address may be another's."""
    is_mute = asked.cause == listed.cause == "empty_response"
    return is_mute or (asked.by == "statuses/success-other" and listed.status is not None and not listed.is_ok)


def is_there(exchange: Exchange) -> bool:
    """Whether a route exists: it answers, or asks for another key, or for less."""
    is_known = exchange.status in (400, 401, 403, 422, 429) and exchange.cause not in OF_THE_PATH | OF_THE_WAY
    return exchange.is_ok or is_known or (exchange.status == 404 and exchange.cause == "model_not_found")  # noqa: PLR2004


def is_of_no_header(asked: Exchange, other: Exchange) -> bool:
    """Whether a gateway says that it saw no key, and says so whichever header brings it: then it knows no such key.

    A server that wants a login of its own, as nginx has them, is another matter.
    """
    is_unseen = asked.cause == "key_wrong_header" and "waf_block" not in asked.also
    return is_unseen and other.status == asked.status and other.cause in ("key_wrong_header", "key_not_sent")


def is_vaguely_refused(asked: Exchange) -> bool:
    """Whether a key is refused in words that speak of nothing that a row knows.

    A 401 is how gateways greet a key that they do not know; a 403 may be about anything (RFC 9110, section 15.5.4).
    """
    return asked.by == "statuses/keyed-403"


def is_of_everybody(asked: Exchange, keyed: Exchange, unkeyed: Exchange) -> bool:
    """Whether who brings no key is refused in the same words, where the question is refused in vague ones.

    Args:
        asked: the question.
        keyed: what was asked with the key.
        unkeyed: the same without it.
    """
    return is_vaguely_refused(asked) and (unkeyed.status, unkeyed.words) == (keyed.status, keyed.words)


_OF_UNKNOWN = (400, 403, 404, 422, 500, 503)
"""How gateways refuse a model without a word about it."""
