"""Answers that gateways give, each with the cause that it shows; and the laws of the rows that tell them apart."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import corpus_rows, is_own_corpus
from toolsync import causes, resources
from toolsync.address import PATHS
from toolsync.causes import Certainty
from toolsync.masking import Secret, printable
from toolsync.probe.body import events, levels, own_words
from toolsync.probe.classifier import Asked, Reading, read, rows, spoken
from toolsync.probe.response import Response
from toolsync.probe.row import TESTS, Row, stage

parser: Any = import_module("re._parser")
"""What the standard library itself makes of an expression."""

ALL = (*stage("families"), *stage("clients"), *rows())
SLUGS = {cause.slug for cause in causes.every()}
REGEXES = ("message", "page", "page_without", "path", "param", "code_like")


def _response(row: dict[str, Any]) -> Response:
    """The answer of a row of the corpus: `json`, `text` or `base64`, with its headers."""
    headers = dict(row.get("headers", {}))
    if "json" in row:
        headers.setdefault("content-type", "application/json")
        body = json.dumps(row["json"], ensure_ascii=False).encode()
    else:
        body = base64.b64decode(row["base64"]) if "base64" in row else row["text"].encode()
    return Response(row["status"], headers, body, 1)


def _read(row: dict[str, Any]) -> Reading:
    asked = Asked(
        row.get("url", "https://relay.example/v1/chat/completions"),
        row.get("dialect", "openai-chat"),
        row.get("model", "demo-model"),
        row.get("keyed", True),
        row.get("streams", False),
    )
    return read(_response(row), asked)


@pytest.mark.corpus("answers")
def test_an_answer_of_the_corpus_has_its_cause(row: dict[str, Any]) -> None:
    reading = _read(row)
    found: dict[str, object] = {
        "cause": reading.cause,
        "by": reading.by,
        "certainty": reading.certainty,
        "family": reading.family,
    }
    found["also"] = list(reading.also)
    assert {name: found[name] for name in found if name in row} == {name: row[name] for name in found if name in row}
    assert reading.cause not in row.get("not", ())


def test_every_row_decides_an_answer_of_the_corpus(pytestconfig: pytest.Config) -> None:
    if not is_own_corpus(pytestconfig, "answers"):
        pytest.skip("another corpus need not know every row")
    deciding = {_read(row).by for row in corpus_rows(pytestconfig, "answers")}
    assert [row.name for row in rows() if row.name not in deciding] == []


def test_every_family_is_seen_in_the_corpus(pytestconfig: pytest.Config) -> None:
    if not is_own_corpus(pytestconfig, "answers"):
        pytest.skip("another corpus need not know every family")
    seen = {_read(row).family for row in corpus_rows(pytestconfig, "answers")}
    assert {row.means for row in stage("families")} - seen == set()


BY_TOOLS = {
    "SSL certificate verification failed. Check your proxy or corporate SSL certificates": "tls_untrusted_ca",
    "Self-signed certificate detected. Check your proxy or corporate SSL certificates": "tls_untrusted_ca",
    "unable to get local issuer certificate": "tls_untrusted_ca",
    "unable to get issuer certificate": "tls_untrusted_ca",
    "unable to verify the first certificate": "tls_untrusted_ca",
    "Unable to connect to API (UNABLE_TO_GET_ISSUER_CERT_LOCALLY)": "tls_untrusted_ca",
    "invalid peer certificate: UnknownIssuer": "tls_untrusted_ca",
    "SSL certificate has expired": "tls_expired",
    "SSL certificate hostname mismatch": "tls_hostname_mismatch",
    "Hostname/IP does not match certificate's altnames: IP: 127.0.0.1": "tls_hostname_mismatch",
    "SSL certificate is not yet valid": "clock_skew",
    "API Error: 401 Incorrect API key provided": "key_invalid",
    'API Error: 404 {"error":{"code":"model_not_found","message":"no"}}': "model_not_found",
    "Connection error.": "",
    "Reconnecting... waiting for network": "",
    "": "",
}


@pytest.mark.parametrize(("words", "cause"), BY_TOOLS.items())
def test_what_tools_say_themselves(words: str, cause: str) -> None:
    assert spoken(words).cause == cause


def test_every_row_of_what_tools_say_is_seen() -> None:
    assert {row.name for row in stage("clients")} - {spoken(words).by for words in BY_TOOLS} == set()


# The rows.


def test_names_are_unique() -> None:
    names = [row.name for row in ALL]
    assert len(names) == len(set(names))


def test_every_condition_is_explained() -> None:
    page = (resources.folder("templates") / "answers" / "README.md").read_text(encoding="utf-8")
    table = page.split("## Conditions")[1]
    assert {
        name for cell in re.findall(r"(?m)^\| (`.*?`) \|", table) for name in re.findall("`([a-z_]+)`", cell)
    } == set(TESTS)


@pytest.mark.parametrize("row", ALL, ids=lambda row: str(row.name))
def test_a_row_is_sound(row: Row) -> None:
    assert row.when
    assert set(row.when) <= set(TESTS)
    assert row.source.strip()
    assert row.certainty in get_args(Certainty)
    assert {row.means, *row.also} <= SLUGS or row.name.startswith("families/")
    assert row.means not in row.also
    assert bool(row.also) or row.certainty != "open"  # what may be something else says what
    assert all(code == code.lower() for code in row.when.get("code", ()))


@pytest.mark.parametrize("row", ALL, ids=lambda row: str(row.name))
def test_a_pattern_has_no_gap_without_a_limit(row: Row) -> None:
    """What repeats without end is one narrow kind of character: else a hostile text costs its length's square."""
    wide = [text for text in _patterns(row) for step in _endless(parser.parse(text)) if _is_wide(step)]
    assert wide == []


def _patterns(row: Row) -> Iterator[str]:
    yield from (row.when[name] for name in REGEXES if name in row.when)
    yield from row.when.get("header", {}).values()


def _endless(parsed: Any) -> Iterator[Any]:
    """What an expression repeats without a limit, wherever it stands."""
    for operator, argument in parsed:
        name = str(operator)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, high, inner = argument
            if high is parser.MAXREPEAT or high > 500:
                yield inner
            yield from _endless(inner)
        elif name == "SUBPATTERN":
            yield from _endless(argument[-1])
        elif name == "BRANCH":
            yield from (step for branch in argument[1] for step in _endless(branch))
        elif name in ("ASSERT", "ASSERT_NOT", "ATOMIC_GROUP"):
            yield from _endless(argument[-1] if isinstance(argument, tuple) else argument)


def _is_wide(step: Any) -> bool:
    """Whether it is anything but one character or class of characters."""
    return len(step) != 1 or str(step[0][0]) not in ("LITERAL", "IN", "CATEGORY") or str(step[0][0]) == "ANY"


@pytest.mark.parametrize("shape", ["message", "page", "text", "stream", "code"])
def test_a_hostile_body_of_a_hundred_thousand_bytes_keeps_nobody_busy(shape: str) -> None:
    pieces = dict.fromkeys(
        piece for row in ALL for text in _patterns(row) for piece in re.findall(r"[\w一-鿿]{2,}", text)
    )
    slow: list[str] = []
    for unit in (
        "".join(pieces),
        " ".join(pieces),
        "model ",
        "key token not ",
        "<title ",
        "{" * 50,
        "/v1/v1",
        "额度",
        "(",
    ):
        answer = _hostile(shape, (unit * (100_000 // len(unit) + 1))[:100_000])
        started = time.thread_time()
        read(answer, Asked("https://relay.example/v1/chat/completions", model="demo-model"))
        if time.thread_time() - started > 1:
            slow.append(unit[:40])
    assert slow == []


def _hostile(shape: str, text: str) -> Response:
    bodies: dict[str, tuple[str, str]] = {
        "message": ("application/json", json.dumps({"error": {"message": text}})),
        "code": (
            "application/json",
            json.dumps({"error": {"code": text, "type": text, "param": text, "message": "x"}}),
        ),
        "page": ("text/html", f"<html><head><title>{text}"),
        "text": ("text/plain", text),
        "stream": ("text/event-stream", f"data: {json.dumps({'error': {'message': text}})}\n\n" * 2),
    }
    kind, body = bodies[shape]
    return Response(404, {"content-type": kind}, body.encode(), 1)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        pytest.param("text/event-stream", 'data: {"error": {"message": "x"}}\n\n' * 30_000, id="events"),
        pytest.param("application/json", json.dumps([[[[[[{"error": "x"}] * 9] * 9] * 9] * 9] * 9]), id="lists"),
        pytest.param("application/json", '{"error":{"errors":' * 4 + "1" + ',"metadata":{"raw":"{"}}' * 4, id="broken"),
    ],
)
def test_an_answer_full_of_errors_keeps_nobody_busy(kind: str, body: str) -> None:
    started = time.thread_time()
    read(Response(500, {"content-type": kind}, body[: 2**20].encode(), 1))
    assert time.thread_time() - started < 2


# Laws of reading.

KEYS = (
    *("error", "message", "detail", "code", "type", "status", "param", "choices", "content", "data", "id", "errors"),
    *("metadata", "raw", "loc", "msg", "details", "response", "output", "object", "base_resp"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 1100) | st.text(max_size=12) | st.just('{"error": {"message": "x"}}'),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(
    status=st.sampled_from([200, 204, 302, 400, 401, 403, 404, 405, 429, 500, 503, 529]),
    body=st.binary(max_size=80)
    | JSON.map(lambda data: json.dumps(data).encode())
    | st.text(max_size=80).map(str.encode),
    kind=st.sampled_from(["", "application/json", "text/html", "text/event-stream", "text/plain"]),
    dialect=st.sampled_from(sorted(PATHS)),
    model=st.sampled_from(["", "m"]),
)
def test_law_every_answer_has_a_cause_that_is_known_or_is_fine(
    status: int, body: bytes, kind: str, dialect: Any, model: str
) -> None:
    reading = read(
        Response(status, {"content-type": kind}, body, 1),
        Asked(f"https://relay.example{PATHS[dialect]}", dialect, model),
    )
    assert reading.cause in SLUGS or (reading.cause == "" and 200 <= status < 300)
    assert (reading.by == "") is (reading.cause == "")
    assert reading.words == printable(reading.words)
    assert "\n" not in reading.words


@given(
    inner=st.sampled_from(["invalid_api_key", "model_not_found", "insufficient_quota", "overloaded_error"]),
    depth=st.integers(0, 3),
)
def test_law_an_error_within_errors_is_the_one_that_is_read(inner: str, depth: int) -> None:
    text = json.dumps({"error": {"message": "the innermost", "code": inner}})
    plain = read(Response(500, {}, text.encode(), 1), Asked(model="m"))
    for number in range(depth):
        text = json.dumps({"error": {"message": f"layer {number} says {text}", "code": "x"}})
    wrapped = read(Response(500, {}, text.encode(), 1), Asked(model="m"))
    assert (wrapped.cause, wrapped.words) == (plain.cause, "the innermost")


def test_errors_that_lie_very_deep_end_the_search() -> None:
    text = '{"error":"x"}'
    for _ in range(40):
        text = json.dumps({"error": {"message": text[:3000]}})
    assert read(Response(500, {}, text.encode(), 1)).cause in SLUGS
    deep = b'{"error":' * 5000 + b"1" + b"}" * 5000
    assert read(Response(500, {}, deep, 1)).cause in SLUGS


def test_the_words_hold_no_key() -> None:
    key = Secret("sk-invented-classifier-0001")
    for body in (f"wrong key {key.reveal()}", json.dumps({"error": {"message": f"wrong {key.reveal()}"}})):
        answer = Response(401, {"content-type": "text/plain"}, body.encode(), 1)
        assert key.reveal() not in repr(read(answer))
        assert "***" in own_words(answer)


def test_what_an_error_says_of_its_own_status_counts_and_not_the_outer_one() -> None:
    body = json.dumps({"error": {"message": 'Error from provider(x,m: 429): {"error": {"message": "wait"}}'}})
    outer, inner = levels(Response(500, {}, body.encode(), 1))
    assert (outer.status, inner.status, inner.message) == (None, 429, "wait")
    assert read(Response(500, {}, body.encode(), 1), Asked(model="m")).cause == "rate_limited"


def test_events_that_are_no_json_are_passed_over() -> None:
    body = b': ping\n\ndata: {"a": 1}\n\ndata: [DONE]\n\ndata: {"b"\n\n'
    assert list(events(Response(200, {"content-type": "text/event-stream"}, body, 1))) == [{"a": 1}]
