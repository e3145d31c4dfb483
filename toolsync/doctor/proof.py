"""What the tool itself saw against what the probe saw: proven, one cause, or a difference and who may have made it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

from toolsync.causes import named
from toolsync.doctor.checks.saying import values
from toolsync.doctor.client import Outcome
from toolsync.doctor.diagnosis import BLOCKING
from toolsync.doctor.look import Look
from toolsync.doctor.model import Diagnosis, State
from toolsync.doctor.probed import Probed
from toolsync.sentence import Text, remedied, say, titled
from toolsync.value import frozen

Verdict = Literal["proven", "same", "differs", "open"]
"""`same`: both fail alike, or wait in vain; `open`: the tool fails, and nobody can tell whether as the probe."""

_SHORTEST_WORDS = 8
"""Fewer characters that a gateway and a tool both say may be chance."""

_STALE = frozenset({"tool_not_restarted", "env_not_refreshed", "gui_env_missing"})
"""Causes that are about programs which already run: one that is started now does not suffer from them."""


@frozen
class Probe:
    """What the tool's own request came to when the probe sent it.

    Attributes:
        is_ok: whether it was answered; None where it was not sent as the tool sends it.
        status: None where there was no answer.
        words: what the gateway said.
    """

    is_ok: bool | None = None
    status: int | None = None
    words: str = ""

    @property
    def said(self) -> Text:
        """For people."""
        if self.is_ok is None:
            return say("nothing_sent")
        return str(self.status) if self.status is not None else say("no_answer")


def probe(probed: Probed | None) -> Probe:
    """What there is to compare with."""
    if probed is None:
        return Probe()
    if probed.way.end is not None:
        return Probe(is_ok=False)
    inquiry = probed.inquiry
    own = [one for one in inquiry.exchanges if one.what in ("question", "stream")] if inquiry is not None else []
    if inquiry is None or not own:
        return Probe(is_ok=False) if inquiry is not None and inquiry.cause else Probe()
    told = next((one for one in own if one.is_ok), own[0])
    return Probe(told.is_ok, told.status, str(told.words))


def verdict(outcome: Outcome, seen: Probe, *, is_blocked: bool) -> Verdict:
    """What the two amount to.

    Args:
        outcome: what became of asking the tool.
        seen: what became of asking as it asks.
        is_blocked: whether its settings alone say that it cannot work, so that nobody was asked.
    """
    if outcome.state == "answered":
        return "differs" if is_blocked or seen.is_ok is False else "proven"
    if seen.is_ok:
        return "differs"
    if outcome.state == "stopped" and seen.is_ok is False:
        return "same" if seen.status is None else "open"  # nobody answered either of the two
    if outcome.state != "refused":
        return "open"
    if seen.is_ok is None:
        return "same" if is_blocked else "open"
    if outcome.status is not None or seen.status is None:
        return "same" if outcome.status == seen.status else "differs"
    return "same" if _alike(outcome.words, seen.words) else "open"


def _alike(one: str, other: str) -> bool:
    """Whether a tool repeats what the gateway said."""
    tool, gateway = (re.sub(r"\W+", " ", words).strip().lower() for words in (one, other))
    return min(len(tool), len(gateway)) >= _SHORTEST_WORDS and (tool in gateway or gateway in tool)


def blocked(one: Diagnosis) -> str:
    """The cause for which nobody was asked; "" where there is none."""
    return next((each.cause for each in one.findings if each.cause in BLOCKING and each.certainty == "sure"), "")


def foretold(look: Look, one: Diagnosis, outcome: Outcome) -> str:
    """The cause of a finding of which the tool itself speaks; "" where it speaks of none."""
    cause = _told(look, outcome) if outcome.state != "answered" else ""
    return cause if cause in {each.cause for each in one.findings} else ""


def _told(look: Look, outcome: Outcome) -> str:
    """What it is by the tool's own words; "" where they are none that are known."""
    from toolsync.probe.classifier import Asked, spoken

    return spoken(outcome.words, Asked(look.effective.url, model=look.effective.model)).cause


def state(one: Diagnosis, outcome: Outcome | None, told: Verdict | None) -> State:
    """How it stands with the program, now that it was asked itself."""
    if outcome is None:
        return one.state
    if outcome.state != "answered":
        return "problem"
    is_proven = told == "proven" and one.state == "inconclusive" and not _has_unrun(one)
    return "healthy" if is_proven else one.state


def _has_unrun(one: Diagnosis) -> bool:
    """Whether its key is a project's command's: the tool was asked away from the project, without it."""
    return any(each.kind == "command" and each.value is None for each in one.effective.credentials)


def sentence(program: str, outcome: Outcome, seen: Probe, told: Verdict, cause: str) -> Text:
    """The verdict for people.

    Args:
        program: as people call it.
        outcome: what it saw.
        seen: what the probe saw.
        told: the verdict.
        cause: for which nobody was probed, or "".
    """
    client, seconds = _client(outcome), f"{outcome.seconds:.1f}"
    if outcome.state == "stopped":
        name = "client_stopped_too" if told == "same" else "client_stopped"
        return say(name, program=program, seconds=f"{outcome.seconds:.0f}", words=outcome.words or "…")
    if outcome.state == "answered" and told == "proven":
        return say("client_proven", program=program, words=outcome.words, seconds=seconds)
    if outcome.state == "answered":
        return say("client_works", program=program, words=outcome.words, probe=seen.said)
    if told == "same" and cause:
        return say("client_foretold", program=program, client=client, cause=cause)
    if told == "same":
        return say("client_same", program=program, client=client, probe=seen.said)
    if told == "differs":
        return say("client_fails" if seen.is_ok else "client_unlike", program=program, client=client, probe=seen.said)
    return say("client_open", program=program, client=client, probe=seen.said)


def _client(outcome: Outcome) -> Text:
    words = outcome.words or say("client_silent")
    return say("at", place=str(outcome.status), said=words) if outcome.status is not None else words


def away(look: Look) -> Iterator[Text]:
    """The project's settings that count here, and did not where the tool was asked: whatever it saw, it saw without."""
    for standing in look.standings():
        if standing.seen.is_projects and standing.wins:
            file = look.world.session.shown(standing.seen.file)
            yield say("client_other_folder", file=file, sets=", ".join(standing.wins))


def candidates(look: Look, one: Diagnosis, outcome: Outcome, seen: Probe) -> Iterator[Text]:
    """Who else may have made the difference: logins, programs that run, and what only one of the two sends."""
    works = outcome.state == "answered"
    if works and seen.is_ok is None and not blocked(one):
        yield say("client_unkeyed")
    if works and blocked(one):
        yield say("client_misjudged", cause=named(blocked(one)).slug)
    if any(each.kind == "login" or each.value is None for each in one.effective.credentials):
        yield say("client_own_login")
    if works:
        return
    told = _by_words(look, outcome)
    if told is not None:
        yield told
    stale = [each for each in one.findings if each.cause in _STALE]
    yield from (line for each in stale for line in each.evidence)
    if told is None and one.effective.url:  # else doctor has nobody to ask, with `--deep` either
        yield say("client_own_request", tool=look.tool.name)
    yield say("client_out_of_sight")


def _by_words(look: Look, outcome: Outcome) -> Text | None:
    """What the tool itself says that it is; None where it says nothing that is known.

    Of what the gateway answered the probe otherwise, people are only told: what mends it there may be right already.
    """
    cause = _told(look, outcome)
    if not cause:
        return None
    if named(cause).group != "way":
        return say("client_says", title=titled(cause), cause=cause)
    host = urlsplit(look.effective.url).netloc
    remedy = remedied(cause, **values(look, host=host, address=look.effective.base_url))
    return say("client_says_so", title=titled(cause), cause=cause, remedy=remedy)
