"""What was found in the settings and what the gateway answered, together: the cause that comes first, and the state."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.doctor.home import OTHER, Home
from toolsync.doctor.checks import findings
from toolsync.doctor.diagnosis import diagnosis, is_blocked
from toolsync.doctor.model import Certainty, Credential, Effective, Finding, State, Where
from toolsync.doctor.probed import Probed
from toolsync.masking import Secret
from toolsync.probe.exchange import Exchange, What
from toolsync.probe.inquiry import Inquiry
from toolsync.probe.network import Network
from toolsync.probe.step import Step
from toolsync.probe.way import Way

URL = "https://gw.example/v1"
OK = 200
FILE = Where("user", "apiKey", "/home/you/.demo/settings.json", 3)
OTHER_FILE = Where("project", "apiKey", "/home/you/project/settings.json", 1)
EFFECTIVE = Effective(
    *("demo", "", "Demo", "openai-chat", URL, f"{URL}/chat/completions", "m", (), {}, None, False, "", Network()),
)
REACHED = Way(URL, (Step("name", "gw.example", "", "192.0.2.1", 1), Step("port", "gw.example:443", "", "open", 1)))


def ended(cause: str) -> Probed:
    """A way that ends at its port."""
    return Probed(Way(URL, (Step("port", "gw.example:443", cause, "said", 1, is_end=True),)))


def answered(
    cause: str = "",
    certainty: Certainty = "sure",
    skew: float | None = None,
    notes: tuple[tuple[str, Certainty, str], ...] = (),
) -> Probed:
    """A gateway that was reached."""
    return Probed(REACHED, Inquiry(cause=cause, certainty=certainty, skew_seconds=skew, notes=notes))


def found(cause: str, certainty: Certainty = "sure", where: Where | None = None, **values: str) -> Finding:
    return Finding(cause, certainty, (f"{cause} is here",), values, where)


def of_model(cause: str, certainty: Certainty = "sure") -> Finding:
    return replace(found(cause, certainty), question="model")


def of_key(cause: str) -> Finding:
    return replace(found(cause), question="key")


OLD_PROCESS = found("tool_not_restarted", "likely", pid="7")


@dataclass
class Row:
    offline: list[Finding]
    probed: Probed | None
    state: State
    causes: list[str]
    wanted: str = URL


ROWS: dict[str, Row] = {
    "all is well": Row([], answered(), "healthy", []),
    "nobody was asked": Row([], None, "healthy", []),
    "what a gateway says": Row([], answered("key_invalid"), "problem", ["key_invalid"]),
    "what the way says": Row([], ended("connection_refused"), "problem", ["connection_refused"]),
    "nobody can tell": Row([], answered("", "open"), "inconclusive", []),
    "a way of which nobody can tell": Row([], ended("inconclusive"), "inconclusive", []),
    "a sure reason before what it explains": Row(
        [found("config_shadowed")], answered("key_invalid"), "problem", ["config_shadowed"]
    ),
    "a likely reason before what it explains": Row(
        [found("key_placeholder_value", "likely")], answered("key_invalid"), "problem", ["key_placeholder_value"]
    ),
    "a perhaps is heard where it explains": Row(
        [found("key_malformed", "open")], answered("key_invalid"), "problem", ["key_malformed"]
    ),
    "a likely reason of what is well": Row([found("key_placeholder_value", "likely")], answered(), "healthy", []),
    "a likely reason of something else": Row(
        [found("key_placeholder_value", "likely")], answered("rate_limited"), "warning", ["rate_limited"]
    ),
    "a likely reason where nobody can tell": Row(
        [found("config_wrong_file", "likely")], answered("", "open"), "problem", ["config_wrong_file"]
    ),
    "a perhaps where nobody can tell": Row([found("key_malformed", "open")], answered("", "open"), "inconclusive", []),
    "no model, and a key that is refused": Row(
        [of_model("config_incomplete", "open")], answered("key_invalid"), "problem", ["key_invalid"]
    ),
    "no model, and a model that is unknown": Row(
        [of_model("config_incomplete", "open")], answered("model_not_found"), "problem", ["config_incomplete"]
    ),
    "another model wins, and the key is refused": Row(
        [of_model("config_shadowed")], answered("key_invalid"), "problem", ["key_invalid", "config_shadowed"]
    ),
    "another model wins, and the port is shut": Row(
        [of_model("config_shadowed")],
        ended("connection_refused"),
        "problem",
        ["connection_refused", "config_shadowed"],
    ),
    "another model wins, and is unknown": Row(
        [of_model("config_shadowed")], answered("model_not_found"), "problem", ["config_shadowed"]
    ),
    "another model wins, and is answered": Row(
        [of_model("config_shadowed")], answered(), "healthy", ["config_shadowed"]
    ),
    "another model wins, and nobody was asked": Row(
        [of_model("config_shadowed")], None, "healthy", ["config_shadowed"]
    ),
    "another model wins, and nobody was asked, for the key is none": Row(
        [of_model("config_shadowed"), of_key("key_env_empty")], None, "problem", ["key_env_empty", "config_shadowed"]
    ),
    "another address wins, and nobody was asked": Row(
        [replace(found("config_shadowed"), question="base_url")], None, "problem", ["config_shadowed"]
    ),
    "another model wins, and nobody can tell": Row(
        [of_model("config_shadowed")], answered("", "open"), "problem", ["config_shadowed"]
    ),
    "another key wins, and is answered": Row([of_key("config_shadowed")], answered(), "problem", ["config_shadowed"]),
    "another key wins, and is refused": Row(
        [of_key("config_shadowed")], answered("key_invalid"), "problem", ["config_shadowed"]
    ),
    "another key wins, and nothing is at the path": Row(
        [of_key("config_shadowed")],
        answered("path_missing_prefix"),
        "problem",
        ["path_missing_prefix", "config_shadowed"],
    ),
    "the surer of two": Row(
        [found("config_incomplete", "open"), found("key_wrong_provider", "likely")],
        answered("key_invalid"),
        "problem",
        ["key_wrong_provider"],
    ),
    "of two as sure, the one of the same kind": Row(
        [found("foreign_credential", "likely"), found("env_shadows_login", "likely")],
        answered("key_invalid"),
        "problem",
        ["env_shadows_login"],
    ),
    "what is sure beside another cause": Row(
        [found("key_in_git")], answered("quota_exhausted"), "problem", ["quota_exhausted", "key_in_git"]
    ),
    "a warning where all is well": Row([found("tool_not_restarted")], answered(), "warning", ["tool_not_restarted"]),
    "a warning where nobody can tell": Row([found("config_drift")], answered("", "open"), "warning", ["config_drift"]),
    "a note of the gateway's": Row(
        [],
        answered(notes=(("models_list_unsupported", "sure", "404"),)),
        "healthy",
        ["models_list_unsupported"],
    ),
    "a clock that is off, be it the server's, where all is answered": Row(
        [], answered(skew=4000), "healthy", ["clock_skew"]
    ),
    "a clock that is off, and a key that says nothing of time": Row(
        [], answered("key_invalid", skew=4000), "problem", ["key_invalid", "clock_skew"]
    ),
    "a clock that is off, and something else": Row(
        [], answered("quota_exhausted", skew=4000), "problem", ["quota_exhausted", "clock_skew"]
    ),
    "a clock that is off where nobody can tell": Row(
        [], answered("", "open", skew=4000), "inconclusive", ["clock_skew"]
    ),
    "a clock that is a little off": Row([], answered(skew=200), "healthy", []),
    "an old process is no reason for what was asked without it": Row(
        [OLD_PROCESS], answered("key_invalid"), "problem", ["key_invalid", "tool_not_restarted"]
    ),
    "nor for a port that is shut": Row(
        [found("tool_not_restarted", pid="7")],
        ended("connection_refused"),
        "problem",
        ["connection_refused", "tool_not_restarted"],
    ),
    "an old process where all is well": Row([OLD_PROCESS], answered(), "warning", ["tool_not_restarted"]),
    "an old process beside a file that is broken": Row(
        [OLD_PROCESS, found("config_parse_error")], None, "problem", ["config_parse_error", "tool_not_restarted"]
    ),
    "a warning never before an error": Row(
        [found("key_file_readable"), found("path_duplicate_v1", "likely")],
        answered("", "open"),
        "problem",
        ["path_duplicate_v1", "key_file_readable"],
    ),
    "a warning that is the reason of an error": Row(
        [found("env_not_refreshed"), found("key_missing", "likely")],
        answered("", "open"),
        "problem",
        ["env_not_refreshed", "key_missing"],
    ),
    "a change at the wanted host": Row(
        [found("config_drift")], answered("key_invalid"), "problem", ["key_invalid", "config_drift"]
    ),
    "a change of the host": Row(
        [found("config_drift")], answered("key_invalid"), "problem", ["config_drift"], "https://other.example/v1"
    ),
    "a change of the host, and what wins over it": Row(
        [found("config_drift"), found("config_shadowed")],
        answered("key_invalid"),
        "problem",
        ["config_shadowed", "config_drift"],
        "https://other.example/v1",
    ),
    "a change, and what it broke": Row(
        [found("config_drift"), found("key_literal_placeholder")],
        None,
        "problem",
        ["key_literal_placeholder", "config_drift"],
    ),
    "a change, and a doubled version": Row(
        [found("config_drift"), found("path_duplicate_v1")],
        answered("path_extra_segment", "open"),
        "problem",
        ["path_duplicate_v1", "config_drift"],
    ),
    "the same cause from both sides, once": Row(
        [found("key_malformed", "open", FILE)], answered("key_malformed"), "problem", ["key_malformed"]
    ),
    "a cause twice in a file, once": Row(
        [found("config_drift", where=FILE), found("config_drift", where=FILE)], answered(), "warning", ["config_drift"]
    ),
    "a cause in two files, twice": Row(
        [found("config_drift", where=FILE), found("config_drift", where=OTHER_FILE)],
        answered(),
        "warning",
        ["config_drift", "config_drift"],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_it_comes_to(row: Row) -> None:
    one = diagnosis(replace(EFFECTIVE, wanted={"base_url": row.wanted}), row.offline, row.probed)
    assert (one.state, [finding.cause for finding in one.findings]) == (row.state, row.causes)


UNKNOWN = "model_not_found"


def test_a_key_that_is_refused_is_not_refused_for_want_of_a_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    env = {"ANTHROPIC_BASE_URL": "https://gw.example/api", "ANTHROPIC_AUTH_TOKEN": OTHER}
    home.write({".claude/settings.json": json.dumps({"env": env})})
    offline = findings(home.look("claude-code"))
    reasons = {cause: diagnosis(EFFECTIVE, offline, answered(cause)).primary for cause in ("key_invalid", UNKNOWN)}
    assert {cause: one.cause for cause, one in reasons.items() if one} == {
        "key_invalid": "key_invalid",
        UNKNOWN: "config_incomplete",
    }


@pytest.mark.parametrize(("falls_back", "expected"), [(False, ["localhost_ipv6"]), (True, [])])
def test_who_goes_on_to_the_next_address_is_told_nothing_of_the_first(falls_back: bool, expected: list[str]) -> None:
    detour = Step("port", "localhost:4000", "localhost_ipv6", "said", 1)
    probed = Probed(replace(REACHED, steps=(*REACHED.steps, detour)), Inquiry())
    one = diagnosis(replace(EFFECTIVE, falls_back=falls_back), (), probed)
    assert [finding.cause for finding in one.findings] == expected


def test_a_reason_carries_what_the_gateway_said() -> None:
    one = diagnosis(EFFECTIVE, [found("key_malformed", "open", FILE)], ended("connection_refused"))
    assert one.primary is not None
    assert tuple(map(str, one.primary.evidence)) == ("gw.example:443: said",)


SHORT = "tool_timeout_too_short"
CERTAINTIES: dict[str, tuple[list[Finding], tuple[str, Certainty], tuple[str, Certainty]]] = {
    # what the settings show, what the probe comes to, and what is said first
    "the probe is surer of the same": ([found(SHORT, "likely", FILE)], (SHORT, "sure"), (SHORT, "sure")),
    "the settings are surer of the same": ([found(SHORT, "sure", FILE)], (SHORT, "likely"), (SHORT, "sure")),
    "both suppose the same": ([found(SHORT, "likely", FILE)], (SHORT, "likely"), (SHORT, "likely")),
    "a perhaps, and the probe supposes it": (
        [found("key_malformed", "open", FILE)],
        ("key_malformed", "likely"),
        ("key_malformed", "likely"),
    ),
    "nobody decides": (
        [found("key_malformed", "open", FILE)],
        ("key_malformed", "open"),
        ("key_malformed", "open"),
    ),
    "it only fits": (
        [found("key_wrong_provider", "likely")],
        ("key_invalid", "sure"),
        ("key_wrong_provider", "likely"),
    ),
    "a limit that only fits": ([found(SHORT, "likely")], ("stream_stalled", "sure"), (SHORT, "likely")),
    "no key, and the gateway wants one": (
        [found("key_missing", "likely")],
        ("key_not_sent", "sure"),
        ("key_missing", "sure"),
    ),
    "no key, and the gateway wants another": (
        [found("key_missing", "likely")],
        ("key_invalid", "sure"),
        ("key_missing", "likely"),
    ),
    "a dummy, and the gateway does not know it": (
        [found("key_placeholder_value", "likely")],
        ("key_invalid", "sure"),
        ("key_placeholder_value", "sure"),
    ),
    "a dummy, and the gateway speaks of another trouble with it": (
        [found("key_placeholder_value", "likely")],
        ("key_malformed", "sure"),
        ("key_placeholder_value", "likely"),
    ),
    "what the gateway says itself, before what is likely": (
        [found("key_wrong_provider", "likely"), found("key_malformed", "open")],
        ("key_malformed", "sure"),
        ("key_malformed", "sure"),
    ),
    "what is sure of itself, before what the probe makes sure": (
        [found(SHORT, "likely"), found("config_shadowed")],
        (SHORT, "sure"),
        ("config_shadowed", "sure"),
    ),
}


@pytest.mark.parametrize(("offline", "asked", "expected"), CERTAINTIES.values(), ids=CERTAINTIES)
def test_how_sure_both_together_are(
    offline: list[Finding], asked: tuple[str, Certainty], expected: tuple[str, Certainty]
) -> None:
    primary = diagnosis(EFFECTIVE, offline, answered(*asked)).primary
    assert primary is not None
    assert (primary.cause, primary.certainty) == expected


ENDPOINT, EXTRA = "path_full_endpoint", "path_extra_segment"
PLACES: dict[str, tuple[str, str, Certainty, str]] = {
    # the cause that the probe names, the address that answered it; how sure it is, and which address is said
    "it answers at the supposed one": (ENDPOINT, URL, "sure", URL),
    "it answers at another one": (ENDPOINT, f"{URL}/x", "sure", f"{URL}/x"),
    "for another reason at the supposed one": (EXTRA, URL, "sure", URL),
    "for another reason at another one": ("path_missing_v1", f"{URL}/x", "likely", URL),
    "it answers nowhere": ("path_missing_v1", "", "likely", URL),
}


@pytest.mark.parametrize(("cause", "address", "certainty", "said"), PLACES.values(), ids=PLACES)
def test_an_address_that_answers_is_the_one(cause: str, address: str, certainty: Certainty, said: str) -> None:
    supposed = found(ENDPOINT, "likely", FILE, address=URL, place="here")
    probed = Probed(REACHED, Inquiry(cause=cause, values={"address": address, "host": "gw.example"} if address else {}))
    primary = diagnosis(EFFECTIVE, [supposed], probed).primary
    assert primary is not None
    assert (primary.cause, primary.certainty, primary.values["address"]) == (ENDPOINT, certainty, said)
    assert primary.values["place"] == "here"


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (found("config_parse_error"), True),
        (found("key_not_a_key"), True),
        (found("key_not_a_key", "likely"), False),
        (found("config_shadowed"), False),
        (found("config_incomplete"), False),
        (replace(found("config_incomplete"), stops=True), True),
    ],
    ids=["a broken file", "no key", "perhaps no key", "another layer", "a half", "a half without which nothing starts"],
)
def test_what_needs_no_request(finding: Finding, expected: bool) -> None:
    assert is_blocked([finding]) is expected


def test_what_was_reached_is_ruled_out() -> None:
    assert set(diagnosis(EFFECTIVE, [], answered("key_invalid")).ruled_out) == {
        *("dns_failure", "connection_refused", "connect_timeout")
    }


LISTED: tuple[What, int] = ("models", OK)
ANSWERED: tuple[What, int] = ("question", OK)


def refused(status: int) -> tuple[What, int]:
    return "question", status


EXCLUDED: dict[str, tuple[str, list[tuple[What, int]], set[str]]] = {
    # the cause, what was asked and its status, and what that excludes
    "all is answered": (
        *("", [LISTED, ANSWERED]),
        {"key_invalid", "key_missing", "path_missing_v1", "model_not_found", "quota_exhausted"},
    ),
    "an open list, and a refusal": ("key_invalid", [LISTED, refused(401)], set()),
    "an open list, and a refusal for the money": ("quota_exhausted", [LISTED, refused(403)], set()),
    "a list, and no money": ("quota_exhausted", [LISTED, refused(402)], {"key_invalid", "key_missing"}),
    "what is named all the same": (
        *("quota_exhausted", [ANSWERED]),
        {"key_invalid", "key_missing", "path_missing_v1", "model_not_found"},
    ),
}


@pytest.mark.parametrize(("cause", "asked", "expected"), EXCLUDED.values(), ids=EXCLUDED)
def test_what_the_answers_exclude(cause: str, asked: list[tuple[What, int]], expected: set[str]) -> None:
    exchanges = [
        Exchange(what, "POST", URL, (), status, "", "", "" if status == OK else cause, "sure", (), 1)
        for what, status in asked
    ]
    probed = Probed(Way(URL, ()), Inquiry(cause=cause, exchanges=tuple(exchanges)))
    assert set(diagnosis(EFFECTIVE, [], probed).ruled_out) == expected


def _token(**minutes: int) -> str:
    """A token whose claims are so many minutes from now."""
    claims = {name: time.time() + 60 * value for name, value in minutes.items()}
    middle = base64.urlsafe_b64encode(json.dumps({"sub": "x", **claims}).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiJ9.{middle}.c2lnbmF0dXJl"


CLOCKS = {
    "behind, and the token is over there": (_token(iat=-90, exp=30), -60, "key_expired", "clock_skew"),
    "ahead, and the token is not valid yet there": (_token(iat=-5, exp=30), 60, "key_invalid", "clock_skew"),
    "ahead, and nobody can tell": (_token(nbf=-5), 60, "", "clock_skew"),
    "off, and the token is over by both": (_token(exp=-90), -60, "key_expired", "key_expired"),
    "off, and the token holds by both": (_token(iat=-900, exp=900), 60, "key_invalid", "key_invalid"),
    "off, and it is about something else": (_token(iat=-5), 60, "model_not_found", "model_not_found"),
    "a little off": (_token(iat=-1), 2, "key_invalid", "key_invalid"),
    "off, and the key is no token": ("sk.not.token", 60, "key_invalid", "key_invalid"),
}


@pytest.mark.parametrize(("key", "minutes", "cause", "expected"), CLOCKS.values(), ids=CLOCKS)
def test_a_clock_is_the_cause_where_a_token_holds_by_it_alone(
    key: str, minutes: int, cause: str, expected: str
) -> None:
    credential = Credential("key", "authorization", Secret(key), "command", Where("user", "apiKeyHelper"))
    probed = answered(cause, "sure" if cause else "open", skew=60.0 * minutes)
    found = diagnosis(replace(EFFECTIVE, credentials=(credential,)), [], probed)
    assert found.primary is not None
    assert found.primary.cause == expected


def test_a_token_is_no_trouble_where_all_is_answered() -> None:
    credential = Credential("key", "authorization", Secret(_token(iat=-5)), "command", Where("user", "apiKeyHelper"))
    found = diagnosis(replace(EFFECTIVE, credentials=(credential,)), [], answered(skew=3600))
    assert (found.state, [one.cause for one in found.findings]) == ("healthy", ["clock_skew"])
