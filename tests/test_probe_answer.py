"""Every answer of a gateway is named plainly, in its own words, with no key and nothing that a terminal would obey."""
# ruff: noqa: E501  bodies as servers send them, one row each

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.scripted import http, scripted
from toolsync.address import Dialect
from toolsync.causes import named
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret, printable
from toolsync.probe import Network, PingRequest, list_models, ping

KEY = Secret("sk-invented-right-0001")
DIALECTS: list[Dialect] = ["openai-chat", "openai-responses", "anthropic-messages"]

# Answers that are no success: status, body, then what must be said of them.


@dataclass(frozen=True)
class Case:
    status: int
    body: str
    outcome: str
    problem: str
    cause: str
    kind: str = "application/json"


OPENAI_401 = '{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}'
PAGE = '<!doctype html><html><head><title>New API</title></head><body><div id="root"></div></body></html>'
CASES = {
    "openai-401": Case(401, OPENAI_401, "refused", "the gateway does not know this key (401): Incorrect API key provided", "key_invalid"),
    "one-api-quota-as-401": Case(401, '{"error":{"message":"该令牌额度已用尽 (request id: 1)","type":"one_api_error"}}', "refused", "the account has nothing left (401): 该令牌额度已用尽", "quota_exhausted"),
    "waf-403": Case(403, "<html><head><title>Just a moment...</title></head></html>", "refused", "a firewall before the gateway refuses the client (403): Just a moment...", "waf_block", "text/html"),
    "model-403": Case(403, '{"error":{"message":"该令牌无权使用模型 m"}}', "refused", "this key may not use the model (403): 该令牌无权使用模型 m", "model_not_allowed"),
    "apim-401": Case(401, '{"statusCode":401,"message":"Access denied due to invalid subscription key"}', "refused", "(401): Access denied due to", "key_invalid"),
    "empty-401": Case(401, "", "refused", "the gateway does not know this key (401)", "key_invalid"),
    "fastapi-404": Case(404, '{"detail":"Not Found"}', "not_found", "nothing answers there (404): Not Found", "path_missing_prefix"),
    "go-404": Case(404, "404 page not found", "not_found", "nothing answers there (404): 404 page not found", "path_missing_prefix", "text/plain"),
    "html-404": Case(404, PAGE, "not_found", "nothing answers there (404): New API", "path_missing_prefix", "text/html"),
    "vllm-model-404": Case(404, '{"object":"error","message":"The model `house-model` does not exist.","type":"NotFoundError","code":404}', "not_found", "the gateway has no such model (404): The model `house-model` does not exist.", "model_not_found"),
    "method-405": Case(405, '{"detail":"Method Not Allowed"}', "not_found", "nothing answers there (405): Method Not Allowed", "path_missing_prefix"),
    "page-200": Case(200, PAGE, "web_page", "a web page answered instead of the API (200): New API", "path_extra_segment", "text/html; charset=utf-8"),
    "page-200-unsaid": Case(200, "\ufeff \n<HTML></HTML>", "web_page", "a web page answered instead of the API (200)", "path_extra_segment", "text/plain"),
    "model-missing-200": Case(200, '{"object":"error","message":"The model `house-model` does not exist."}', "bad_reply", "the gateway has no such model (200): The model `house-model` does not exist.", "model_not_found"),
    "dashboard-200": Case(200, '{"success":false,"message":"not logged in"}', "bad_reply", "the gateway did not answer in this dialect (200): not logged in", "path_extra_segment"),
    "other-dialect-200": Case(200, '{"type":"message","content":[{"type":"text","text":"pong"}]}', "bad_reply", "the gateway does not serve this tool's API (200)", "wire_api_unsupported"),
    "empty-200": Case(200, " \n", "bad_reply", "success, and nothing in it (200)", "empty_response"),
    "no-json-200": Case(200, '{"choices":', "bad_reply", 'did not answer in this dialect (200): {"choices":', "gateway_bug"),
    "no-choices-200": Case(200, '{"object":"chat.completion","choices":[]}', "bad_reply", "success, and nothing in it (200)", "empty_response"),
    "deep-json-200": Case(200, "[" * 100_000, "bad_reply", "did not answer in this dialect (200): [[[[", "gateway_bug"),
    "no-channel-503": Case(503, '{"error":{"message":"当前分组 default 下对于模型 m 无可用渠道","code":"model_not_found"}}', "failed", "the relay has no upstream for this model (503): 当前分组", "model_no_channel"),
    "overloaded-529": Case(529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "failed", "the provider is overloaded (529): Overloaded", "upstream_overloaded"),
    "no-money-429": Case(429, '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}', "failed", "the account has nothing left (429): You exceeded your current quota", "quota_exhausted"),
    "too-fast-429": Case(429, '{"error":{"message":"Rate limit reached"}}', "failed", "the gateway is asked too often (429): Rate limit reached", "rate_limited"),
    "payment-402": Case(402, '{"error":{"message":"Insufficient Balance"}}', "failed", "the account has nothing left (402): Insufficient Balance", "quota_exhausted"),
    "bad-request-400": Case(400, '{"error":{"message":"unknown field"}}', "failed", "the gateway refuses a part of the request (400): unknown field", "param_unsupported"),
    "mistral-422": Case(422, '{"object":"error","message":{"detail":[{"type":"missing","loc":["body"],"msg":"Field required"}]}}', "failed", "the gateway refuses a part of the request (422): Field required", "param_unsupported"),
    "nested-500": Case(500, '{"error":{"message":"Error from provider(x,m: 404): {\\"error\\":{\\"message\\":\\"inner words\\"}}"}}', "failed", "the local router is set up wrong (500): inner words", "router_config"),
    "cloudflare-524": Case(524, "<html><head><title>h | 524: A timeout occurred</title></head></html>", "failed", "the edge waited too long for the gateway (524): h | 524: A timeout occurred", "origin_timeout", "text/html"),
    "moved-308": Case(308, "", "redirect", "the address redirects (308) to https://elsewhere.example/v1", "url_redirect"),
    "found-302": Case(302, "", "redirect", "the address redirects (302) to https://elsewhere.example/v1", "url_redirect"),
}  # fmt: skip  # one row each


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_each_answer_is_named_plainly(case: Case) -> None:
    more = {"Location": "https://elsewhere.example/v1"} if case.outcome == "redirect" else {}
    with scripted(http(case.status, case.body, case.kind, **more)) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "house-model", KEY))
    assert (came.outcome, came.status) == (case.outcome, case.status)
    assert case.problem in came.problem
    assert came.cause == case.cause
    assert came.hint.startswith("Either " if came.certainty == "open" else named(case.cause).filled().remedy)
    assert (came.model, came.reply, len(server.requests)) == (None, "", 1)


def test_a_redirect_is_never_followed() -> None:
    with LoopbackGateway(KEY) as elsewhere:
        moved = http(307, Location=f"{elsewhere.base_url}/v1/messages")
        with scripted(moved) as server:
            came = ping(PingRequest("anthropic-messages", server.base_url, "m", KEY))
        assert came.outcome == "redirect"
        assert elsewhere.base_url in came.problem
        assert elsewhere.received == ()


def test_a_redirect_to_what_is_no_address_is_one_and_nothing_is_advised_of_it() -> None:
    with scripted(http(301, Location="https://[gw.example/v1/chat/completions?token=x")) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY))
    assert (came.outcome, came.cause, came.certainty) == ("redirect", "url_redirect", "sure")
    assert came.hint == named("url_redirect").filled().remedy


# Models that do not take a small limit, or not by this name.

CHAT_OK = '{"object":"chat.completion","model":"m-2026","choices":[{"message":{"role":"assistant","content":null},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":256}}'
UNSUPPORTED = '{"error":{"message":"Unsupported parameter: \'max_tokens\' is not supported with this model. Use \'max_completion_tokens\' instead.","code":"unsupported_parameter"}}'
TOO_FEW = '{"error":{"message":"Could not finish the message because max_tokens or model output limit was reached."}}'


@pytest.mark.parametrize("refusal", [UNSUPPORTED, TOO_FEW], ids=["other-name", "too-few"])
def test_a_refused_limit_is_asked_once_more_in_the_other_way(refusal: str) -> None:
    with scripted(http(400, refusal), http(200, CHAT_OK)) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY))
    assert (came.outcome, came.model, came.output_tokens, came.reply) == ("ok", "m-2026", 256, "")
    bodies = [json.loads(request.partition(b"\r\n\r\n")[2]) for request in server.requests]
    assert [body.get("max_tokens") for body in bodies] == [16, None]
    assert [body.get("max_completion_tokens") for body in bodies] == [None, 256]


@pytest.mark.parametrize(
    ("dialect", "name"), [("openai-responses", "max_output_tokens"), ("anthropic-messages", "max_tokens")]
)
def test_other_dialects_ask_for_more_under_the_same_name(dialect: Dialect, name: str) -> None:
    with scripted(http(400, TOO_FEW), http(400, TOO_FEW)) as server:
        came = ping(PingRequest(dialect, server.base_url, "m", KEY))
    assert (came.outcome, came.status, len(server.requests)) == ("failed", 400, 2)
    bodies = [json.loads(request.partition(b"\r\n\r\n")[2]) for request in server.requests]
    assert [body[name] for body in bodies] == [16, 256]


def test_no_key_and_no_escape_character_gets_through_from_outside() -> None:
    evil = f"\x1b[2J\x07[red]{KEY.reveal()}[/red]\u202e\r\nnext <b>line</b>"
    for body in (json.dumps({"error": {"message": evil}}), json.dumps({"error": evil}), evil):
        with scripted(http(401, body, "text/plain")) as server:
            came = ping(PingRequest("openai-chat", server.base_url, "m", KEY))
        words = "�[2J�[red]***[/red]�� next <b>line</b>"
        assert came.problem == f"the gateway does not know this key (401): {words}"
    location = f"https://elsewhere.example/?key={KEY.reveal()}\x1b[31m"
    with scripted(http(301, Location=location)) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY))
    assert KEY.reveal() not in repr(came)
    assert "\x1b" not in came.problem


def test_what_a_model_says_is_masked_and_cut() -> None:
    body = json.dumps(
        {"choices": [{"message": {"content": f"{KEY.reveal()}\x1b]0;x\x07" + "y" * 5000}}], "model": "\x1bm"}
    )
    with scripted(http(200, body)) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY))
    assert came.reply.startswith("***�]0;x�yyy")
    assert (came.model, len(came.reply)) == ("�m", 201)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    status=st.sampled_from([200, 204, 301, 400, 401, 403, 404, 418, 429, 500, 503]),
    body=st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=10),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "error",
                        "message",
                        "choices",
                        "content",
                        "output",
                        "usage",
                        "model",
                        "data",
                        "id",
                        "type",
                        "detail",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ).map(lambda data: json.dumps(data).encode()),
    dialect=st.sampled_from(DIALECTS),
)
def test_law_whatever_a_server_answers_is_a_result_on_one_printable_line(
    status: int, body: bytes, dialect: Dialect
) -> None:
    with scripted(http(status, body)) as server:
        request = PingRequest(dialect, server.base_url, "m", KEY, network=Network())
        results = (ping(request), list_models(request))
    for came in results:
        assert (came.problem == "") is came.is_ok
        assert came.problem == printable(came.problem)
        assert "\n" not in came.problem
