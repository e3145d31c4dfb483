"""What a profile amounts to: every fact, where it came from, and what a tool's own table lays over it."""

from __future__ import annotations

from typing import Any

import pytest

from toolsync.facts import TYPES, facts
from toolsync.profile import for_tool
from toolsync.profile.reader import read

FULL = """
active = "work"
[profiles.work]
title = "My gateway"
base_url = "https://gw.example/api"
model = "m-1"
key = "env:GW_KEY"
[profiles.work.models]
small = "m-s"
opus = "m-o"
sonnet = "m-n"
haiku = "m-h"
[profiles.work.urls]
gemini = "https://g.example"
[profiles.work.request]
timeout_seconds = 1.5
max_retries = 4
max_tokens = 4096
temperature = 0.5
stream = false
headers = { X-Team = "tools", X-B = "2" }
[profiles.work.network]
proxy = "http://proxy.example:3128"
no_proxy = "localhost"
ca_bundle = "/etc/ca.pem"
[profiles.work.observability]
log_latency = true
log_memory = false
record_token_usage = true
sample_interval_ms = 250
[profiles.work.tool.codex]
model = "m-codex"
[profiles.work.tool.codex.models]
small = "m-codex-s"
[profiles.work.tool.codex.urls]
openai = "https://o.example/v1"
[profiles.work.tool.codex.request]
max_tokens = 100
headers = { X-B = "3" }
"""

SPARE = """
[profiles.spare]
base_url = "https://gw.example/api"
model = "m-1"
key = "keyring:spare"
"""

AT = "profiles.work"


def found(text: str, name: str, tool: str = "other", **more: Any) -> dict[str, tuple[Any, str]]:
    profile = for_tool(read(text).get(name), tool)
    return {fact.name: (fact.value, fact.origin) for fact in facts(profile, **more).values()}


def test_every_fact_of_a_full_profile_and_where_it_came_from() -> None:
    assert found(FULL, "work", site="https://gw.example") == {
        "profile": ("work", AT),
        "provider_name": ("My gateway", f"{AT}.title"),
        "site": ("https://gw.example", f"{AT}.gateway"),
        "root_url": ("https://gw.example/api", f"{AT}.base_url"),
        "openai_url": ("https://gw.example/api/v1", f"{AT}.base_url"),
        "anthropic_url": ("https://gw.example/api", f"{AT}.base_url"),
        "gemini_url": ("https://g.example", f"{AT}.urls.gemini"),
        "chat_completions_url": ("https://gw.example/api/v1/chat/completions", f"{AT}.base_url"),
        "model": ("m-1", f"{AT}.model"),
        "model_small": ("m-s", f"{AT}.models.small"),
        "model_opus": ("m-o", f"{AT}.models.opus"),
        "model_sonnet": ("m-n", f"{AT}.models.sonnet"),
        "model_haiku": ("m-h", f"{AT}.models.haiku"),
        "timeout_seconds": (1.5, f"{AT}.request.timeout_seconds"),
        "timeout_ms": (1500, f"{AT}.request.timeout_seconds"),
        "timeout_ms_text": ("1500", f"{AT}.request.timeout_seconds"),
        "max_retries": (4, f"{AT}.request.max_retries"),
        "max_tokens": (4096, f"{AT}.request.max_tokens"),
        "max_tokens_text": ("4096", f"{AT}.request.max_tokens"),
        "temperature": (0.5, f"{AT}.request.temperature"),
        "stream": (False, f"{AT}.request.stream"),
        "headers": ({"X-Team": "tools", "X-B": "2"}, f"{AT}.request.headers"),
        "headers_lines": ("X-Team: tools\nX-B: 2", f"{AT}.request.headers"),
        "proxy": ("http://proxy.example:3128", f"{AT}.network.proxy"),
        "no_proxy": ("localhost", f"{AT}.network.no_proxy"),
        "ca_bundle": ("/etc/ca.pem", f"{AT}.network.ca_bundle"),
        "log_latency": (True, f"{AT}.observability.log_latency"),
        "log_memory": (False, f"{AT}.observability.log_memory"),
        "record_token_usage": (True, f"{AT}.observability.record_token_usage"),
        "sample_interval_ms": (250, f"{AT}.observability.sample_interval_ms"),
        "key_variable": ("GW_KEY", f"{AT}.key"),
    }


def test_a_full_profile_has_every_fact_there_is_and_each_in_its_type() -> None:
    facts_found = found(FULL, "work", site="https://gw.example")
    assert facts_found.keys() == TYPES.keys() - {"paths"}
    assert {name for name, (value, _) in facts_found.items() if not isinstance(value, TYPES[name])} == set()


def test_what_a_profile_leaves_unset_is_unset() -> None:
    assert found(SPARE, "spare").keys() == {
        "profile",
        "provider_name",
        "root_url",
        "openai_url",
        "anthropic_url",
        "gemini_url",
        "chat_completions_url",
        "model",
        "key_variable",
    }
    assert found(SPARE, "spare")["provider_name"] == ("spare", "profiles.spare")


def test_a_tools_own_table_is_laid_over_value_by_value() -> None:
    plain, codex = found(FULL, "work"), found(FULL, "work", "codex")
    assert {name: codex[name][0] for name in codex if codex[name][0] != plain[name][0]} == {
        "model": "m-codex",
        "model_small": "m-codex-s",
        "openai_url": "https://o.example/v1",
        "chat_completions_url": "https://o.example/v1/chat/completions",
        "max_tokens": 100,
        "max_tokens_text": "100",
        "headers": {"X-Team": "tools", "X-B": "3"},
        "headers_lines": "X-Team: tools\nX-B: 3",
    }
    assert codex["chat_completions_url"][1] == f"{AT}.urls.openai"


@pytest.mark.parametrize(
    ("text", "name", "suggested", "expected"),
    [
        (FULL, "work", "TAOTOKEN_API_KEY", "GW_KEY"),
        (SPARE, "spare", "TAOTOKEN_API_KEY", "TAOTOKEN_API_KEY"),
        (SPARE, "spare", None, "TOOLSYNC_API_KEY"),
    ],
    ids=["the profile's own", "the gateway's", "ours"],
)
def test_the_variable_that_holds_the_key(text: str, name: str, suggested: str | None, expected: str) -> None:
    assert found(text, name, key_variable=suggested)["key_variable"][0] == expected


@pytest.mark.parametrize(("seconds", "ms"), [("120", 120_000), ("0.25", 250), ("0.0004", 1), ("1.0005", 1000)], ids=str)
def test_seconds_in_milliseconds(seconds: str, ms: int) -> None:
    text = f"{SPARE}[profiles.spare.request]\ntimeout_seconds = {seconds}\n"
    assert (found(text, "spare")["timeout_ms"][0], found(text, "spare")["timeout_ms_text"][0]) == (ms, str(ms))


def test_no_headers_are_no_fact() -> None:
    text = f"{SPARE}[profiles.spare.request]\nheaders = {{}}\n"
    assert found(text, "spare").keys() & {"headers", "headers_lines"} == set()
