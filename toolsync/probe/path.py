"""A path that leads nowhere: where the gateway is to be found instead, or which other API it serves there."""

from __future__ import annotations

from toolsync.address import PATHS
from toolsync.causes import Certainty
from toolsync.probe import trial
from toolsync.probe.candidates import candidates, twins
from toolsync.probe.conclusion import Inquiry
from toolsync.probe.exchange import Exchange
from toolsync.probe.signs import is_page, is_served, is_there
from toolsync.probe.talk import Talk


def misled(talk: Talk, listed: Exchange, asked: Exchange) -> Inquiry:
    """The path leads nowhere: another one does, another API is served, or nobody can tell."""
    values = talk.values(asked)
    if listed.is_ok and talk.is_unlisted and asked.certainty == "open":
        own = trial.own_api(talk)
        if own is not None and is_there(own):
            return Inquiry(cause="model_not_found", certainty="likely", values=values)
    if listed.is_ok:
        return _apart(talk, asked)
    is_of_another_api = talk.request.dialect != "openai-chat" and "wire_api_unsupported" in (asked.cause, *asked.also)
    found = moved(talk, listed, asked, spare=1 if is_of_another_api else 0)
    if found is not None:
        return found
    if is_of_another_api and is_served(trial.other_api(talk, "openai-chat")):
        api = f"`{PATHS['openai-chat']}`"
        return Inquiry(cause="wire_api_unsupported", certainty="likely", values={**values, "api": api})
    if is_page(asked) and asked.cause in ("path_missing_v1", "path_extra_segment"):
        return Inquiry(cause="path_missing_prefix", certainty="likely", values=values)
    if asked.cause == "wire_api_unsupported" and asked.certainty == "open":  # no word of its own, and no other API
        return Inquiry(cause="path_missing_prefix", certainty="open", values=values)
    is_told = asked.certainty == "sure" or asked.cause == "captive_portal"  # it answers in place of every path
    return Inquiry(cause=asked.cause, certainty=asked.certainty if is_told else "open", values=values)


def _apart(talk: Talk, asked: Exchange) -> Inquiry:
    """The list is there, and the tool's own API is not: it is kept at an address of its own, or not at all."""
    values = talk.values(asked)
    for twin in twins(talk.request.dialect, talk.request.base):
        tried = trial.other_route(talk, twin.base)
        if tried is not None and is_there(tried):
            return Inquiry(cause=twin.cause, values={**values, "address": twin.base, "apart": talk.request.dialect})
    others = {dialect: trial.other_api(talk, dialect) for dialect in PATHS if dialect != talk.request.dialect}
    served = ", ".join(f"`{PATHS[dialect]}`" for dialect, tried in others.items() if is_served(tried))
    if served:
        return Inquiry(cause="wire_api_unsupported", values={**values, "api": served})
    certainty: Certainty = "open" if None in others.values() else "likely"
    is_path_told = asked.certainty != "open" and asked.cause not in _OF_MISSING  # the list is at this path
    return Inquiry(cause=asked.cause if is_path_told else "wire_api_unsupported", certainty=certainty, values=values)


_OF_MISSING = ("path_missing_prefix", "models_list_unsupported")


def moved(talk: Talk, listed: Exchange, asked: Exchange, *, spare: int = 0) -> Inquiry | None:
    """Another address of the same origin at which the gateway answers.

    Args:
        talk: with the gateway.
        listed: what the list came to: where it is kept from this key, it may be so at any address.
        asked: what the tool's own address came to.
        spare: requests that are kept for something else.
    """
    is_kept = is_there(listed) and not listed.is_ok
    for candidate in candidates(talk.request.dialect, talk.request.base):
        if 0 < talk.left <= spare:
            return None
        tried = trial.other_route(talk, candidate.base) if is_kept else trial.other_address(talk, candidate)
        if tried is not None and is_there(tried):
            return Inquiry(cause=candidate.cause, values={**talk.values(asked), "address": candidate.base})
    return None
