"""A gateway asked what a tool asks it, and then whatever tells two causes apart; never more than it may cost.

What is asked next follows from what was answered, and so does the cause.
"""

from __future__ import annotations

from dataclasses import replace

from toolsync.causes import Certainty
from toolsync.probe import lesson, trial
from toolsync.probe.candidates import Candidate, candidates
from toolsync.probe.conclusion import ENOUGH, Inquiry
from toolsync.probe.encryption import speaks_tls
from toolsync.probe.exchange import Exchange
from toolsync.probe.kinds import OF_THE_KEY, OF_THE_PATH, OF_THE_WAY
from toolsync.probe.line import Line
from toolsync.probe.path import misled, moved
from toolsync.probe.patience import outwaited
from toolsync.probe.request import Request
from toolsync.probe.signs import (
    is_dead,
    is_gateways_fault,
    is_nobody,
    is_of_api,
    is_of_everybody,
    is_of_no_header,
    is_of_path,
    is_sent_elsewhere,
    is_there,
    is_vaguely_refused,
    lacks_list,
    may_be_of_model,
    may_be_path,
)
from toolsync.probe.talk import Talk
from toolsync.sentence import Text, say

__all__ = ["Inquiry", "inquire"]


def inquire(request: Request, *, is_deep: bool = False, line: Line | None = None) -> Inquiry:
    """Ask as the tool asks, and find out why it is not answered. Raises nothing.

    Args:
        request: the tool's.
        is_deep: whether a coding tool's kind of request is tried too.
        line: what is known of the origin, where others ask it too.
    """
    talk = Talk(request, is_deep=is_deep, line=line or Line())
    learned = lesson.inherited(talk)
    if learned is not None:
        return learned
    if not talk.may_begin:
        return Inquiry(certainty="open", said=ENOUGH)
    decided = _unkeyed(talk) if not request.is_trusted else _decided(talk)
    found = replace(decided, exchanges=tuple(talk.exchanges), skew_seconds=talk.skew, models=talk.models)
    talk.account.lessons.append((request, found))
    return found


# What is asked, and what follows.


def _unkeyed(talk: Talk) -> Inquiry:
    """An address that no key of ours may go to: whether anybody is there, and whether it is the right path."""
    listed = talk.list_models(what="models")
    if listed is None:
        return Inquiry(certainty="open", said=ENOUGH)
    if listed.status is None:
        return _faulty(talk, listed, listed)
    is_led = listed.cause in OF_THE_WAY and not may_be_path(listed)
    own = trial.own_api(talk) if (is_led or is_of_path(listed)) and talk.request.is_users else None
    if is_led and (own is None or not is_there(own)):
        is_lists_only = listed.cause == "url_redirect" and own is None  # as far as anybody knows
        certainty: Certainty = "likely" if is_lists_only else listed.certainty
        return Inquiry(cause=listed.cause, certainty=certainty, values=talk.values(listed))
    found = moved(talk, listed, own) if own is not None and is_of_path(own) else None
    return replace(found, certainty="likely") if found is not None else Inquiry(certainty="open")


_OF_PROXIES = OF_THE_PATH | {"captive_portal", "waf_block", "gateway_bug", ""}
"""What a proxy amounts to that takes a request for one to itself, or refuses to pass it on."""
_OF_HEADERS = frozenset({"beta_header_unsupported", "org_mismatch"})


def _decided(talk: Talk) -> Inquiry:
    listed, asked = talk.begun()
    if listed.status is None and is_dead(listed):
        return _faulty(talk, listed, listed)
    if listed.status is not None:
        talk.waits_as_tool()
    if asked is None and not talk.may(is_billable=True):
        return _unasked(talk, listed)
    if asked is None or _is_to_be_waited_for(talk, asked):
        asked = talk.ask_as_tool()
    if asked.is_ok:
        return _answered(talk, listed, asked)
    if is_sent_elsewhere(listed) and not is_of_api(asked):
        refused = Inquiry(cause=listed.cause, certainty=listed.certainty, values=talk.values(listed))
        return _captured(talk, listed, listed) or refused
    if asked.status is None:
        return _faulty(talk, listed, asked)
    return _captured(talk, listed, asked) or _unanswered(talk, listed, asked)


def _is_to_be_waited_for(talk: Talk, asked: Exchange) -> bool:
    """Whether a question that went out before anybody was heard deserves the tool's own patience."""
    is_late = asked.status is None and not asked.cause
    return is_late and talk.is_patient and talk.may(is_billable=True)


def _unasked(talk: Talk, listed: Exchange) -> Inquiry:
    """The key's questions are spent on other programs: what the list and an empty question tell."""
    if listed.cause in OF_THE_KEY and listed.certainty != "open":
        return _refused(talk, listed, listed)
    if listed.is_ok and talk.is_unlisted:
        return Inquiry(cause="model_not_found", certainty="likely", values=talk.values(listed))
    if listed.is_ok and lesson.is_answered(talk):
        return Inquiry(certainty="likely")
    own = trial.own_api(talk)
    if own is not None and own.cause in OF_THE_PATH:
        return misled(talk, listed, own)
    return Inquiry(certainty="open", said=ENOUGH)


def _unanswered(talk: Talk, listed: Exchange, asked: Exchange) -> Inquiry:
    """The tool's own request was refused: by what, and what would be taken."""
    if asked.cause in OF_THE_PATH or (asked.cause == "captive_portal" and may_be_path(asked)):
        return misled(talk, listed, asked)
    if asked.cause in OF_THE_KEY:
        return _refused(talk, listed, asked)
    if is_nobody(listed, asked):
        return moved(talk, listed, asked) or Inquiry(cause=asked.cause, certainty="open", values=talk.values(asked))
    if talk.is_unlisted and may_be_of_model(asked):
        return Inquiry(cause="model_not_found", certainty="likely", values=talk.values(asked))
    if asked.cause == "param_unsupported":
        return _limited(talk, asked)
    if asked.cause in _OF_HEADERS and talk.request.headers:
        trial.without_own_headers(talk)
    if asked.cause == "stream_stalled" and asked.first_ms is not None and asked.certainty == "likely":
        seconds = outwaited(talk.request, asked)  # it went on, for who waits
        if seconds is not None:
            return Inquiry(cause="tool_timeout_too_short", values={**talk.values(asked), **seconds})
    if asked.cause == "origin_timeout" and not talk.request.streams:
        talk.listen()
    return Inquiry(cause=asked.cause, certainty=asked.certainty, values=talk.values(asked))


def _faulty(talk: Talk, listed: Exchange, exchange: Exchange) -> Inquiry:
    """No answer came to that; to the list one may have."""
    is_heard = listed.status is not None
    captured = _captured(talk, listed, exchange)
    if captured is not None:
        return captured
    values = talk.values(exchange)
    if exchange.cause not in ("scheme_mismatch", "gateway_bug"):
        return Inquiry(cause=exchange.cause, certainty=exchange.certainty, values=values)
    is_plain = talk.request.url.lower().startswith("http:")  # of any other the way was gone, encryption and all
    if is_plain and not is_heard and not talk.is_proxied and speaks_tls(talk.request.url):
        return Inquiry(cause="scheme_mismatch", values=values)
    if not is_heard:  # who answers nothing at all may be no web server
        return Inquiry(certainty="open", values=values)
    return Inquiry(cause="gateway_bug", certainty="likely", values=values)


def _captured(talk: Talk, listed: Exchange, asked: Exchange) -> Inquiry | None:
    """Whether it is the proxy on the way that answers for the gateway, or keeps its answer back.

    A list that comes through it, or is refused as it is without it, shows that it does not.
    """
    is_odd = asked.cause in _OF_PROXIES or asked.certainty == "open"
    if not talk.is_proxied or listed.is_ok or not (is_odd or is_gateways_fault(asked)):
        return None
    direct = talk.list_models(what="no proxy", network=replace(talk.request.network, proxy=""))
    if direct is None:
        return None
    if direct.cause == "connection_refused":  # neither of the two would help: nobody is there
        return Inquiry(cause=direct.cause, certainty="likely", values=talk.values(asked))
    if direct.status is None or is_gateways_fault(direct):
        return None
    if (direct.status, direct.cause) == (listed.status, listed.cause) or (is_odd and direct.cause in OF_THE_PATH):
        return None
    values = talk.values(asked)
    return Inquiry(cause="proxy_captures_loopback", certainty="sure" if direct.is_ok else "likely", values=values)


def _answered(talk: Talk, listed: Exchange, asked: Exchange) -> Inquiry:
    """The tool's own request works; what is left to be minded."""
    notes: list[tuple[str, Certainty, Text]] = []
    if not listed.is_ok and lacks_list(listed):
        notes.append(("models_list_unsupported", "sure", listed.line))
    seconds = outwaited(talk.request, asked)
    if seconds is not None:
        return Inquiry(cause="tool_timeout_too_short", values={**talk.values(asked), **seconds}, notes=tuple(notes))
    held_back = talk.compared()
    if held_back is not None:
        notes.insert(0, (held_back.cause, held_back.certainty, held_back.said))
    if talk.is_deep:
        dug = trial.as_coding_tool(talk)
        if dug is not None and not dug.is_ok:
            cause, certainty = _of_body(dug)
            return Inquiry(cause=cause, certainty=certainty, values=talk.values(dug), notes=tuple(notes))
    return Inquiry(notes=tuple(notes))


def _of_body(dug: Exchange) -> tuple[str, Certainty]:
    """Why a body with code in it is refused, where a short one was not: neither key nor way are to blame."""
    if dug.cause == "waf_block":
        return "waf_body_block", dug.certainty
    if dug.cause in OF_THE_KEY | {"scheme_mismatch"} or (dug.status is None and dug.cause == "gateway_bug"):
        return "waf_body_block", "likely"
    return dug.cause, dug.certainty


def _refused(talk: Talk, listed: Exchange, asked: Exchange) -> Inquiry:
    """A credential is not taken: is it a passing mood, the header, or the key?

    Where the list is open to everybody, only the question tells, and is asked once more.
    """
    values = talk.values(asked)
    if listed.is_ok and talk.may(is_billable=True) and talk.ask_as_tool().is_ok:
        return Inquiry(cause="gateway_bug", certainty="likely", values=values)
    if listed.status in (401, 403) or listed.is_ok:
        other = trial.other_header(talk)
        if other is not None and trial.is_let_in(talk, other[1]):
            headers = {"header": next(iter(talk.request.credentials), ""), "read_header": other[0]}
            return Inquiry(cause="key_wrong_header", values={**values, **headers})
        if other is not None and is_of_no_header(asked, other[1]):
            return Inquiry(cause="key_invalid", certainty="likely", values=values)
    versioned = None if listed.is_ok else _let_in_below_version(talk)
    if versioned is not None:
        return Inquiry(cause=versioned.cause, values={**values, "address": versioned.base})
    if _is_everybodys(talk, listed, asked):
        return Inquiry(certainty="open", values=values, said=say("refused_everybody"))
    return Inquiry(cause=asked.cause, certainty=asked.certainty, values=values)


def _is_everybodys(talk: Talk, listed: Exchange, asked: Exchange) -> bool:
    """Whether who brings no key is refused alike; where the list is open to everybody, the question tells."""
    if not listed.is_ok and asked.cause == listed.cause:
        unkeyed = talk.list_models(what="no key", is_keyed=False)
        return unkeyed is not None and is_of_everybody(asked, listed, unkeyed)
    unkeyed = trial.without_key(talk) if listed.is_ok and is_vaguely_refused(asked) else None
    return unkeyed is not None and is_of_everybody(asked, asked, unkeyed)


def _let_in_below_version(talk: Talk) -> Candidate | None:
    """The address with a version behind it, where the key is taken: what lies beside it has a login of its own."""
    found = (one for one in candidates(talk.request.dialect, talk.request.base) if one.cause == "path_missing_v1")
    candidate = next(found, None)
    tried = trial.other_address(talk, candidate) if candidate is not None else None
    return candidate if tried is not None and tried.is_ok and not tried.cause else None


def _limited(talk: Talk, asked: Exchange) -> Inquiry:
    """A parameter is refused: whether it is the one that limits the answer."""
    again = trial.other_limit(talk)
    certainty: Certainty = "sure" if again is not None and again.is_ok else asked.certainty
    values = {**talk.values(asked), "parameter": talk.limit_name}
    return Inquiry(cause=asked.cause, certainty=certainty, values=values)
