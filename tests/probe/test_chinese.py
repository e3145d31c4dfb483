"""What a ping comes to, in Chinese: no English sentence is left but in a server's own words."""

# ruff: noqa: RUF001  Chinese has its own punctuation

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.keys import invented
from tests.probe.gateway import Put, Reply, slow
from tests.scripted import scripted
from toolsync.commands.pinging import named
from toolsync.keyref import KeyRef
from toolsync.masking import Secret
from toolsync.probe import Network, PingRequest, ping
from toolsync.probe.failure import unsent
from toolsync.profile import Profile
from toolsync.sentence import tell

KEY = Secret(invented("chinese"))
ENGLISH = re.compile(r"[A-Za-z']+( [A-Za-z',]+){2}")
"""Three words in a row; commands, in backticks, stay as they are."""

REPLIES: Mapping[str, Reply] = {
    "refused": Reply({"error": {"message": "WORDS", "code": "invalid_api_key"}}, 401),
    "refused, and nobody knows why": Reply({}, 403),
    "nothing there": Reply({}, 404),
    "elsewhere": Reply("", 301, headers={"Location": "https://gw.example/v1/chat/completions"}),
    "a page": Reply("<html><title>WORDS</title></html>"),
    "another dialect": Reply({"hello": "WORDS"}),
    "failed": Reply({"error": {"message": "WORDS"}}, 500),
    "busy": Reply({"error": {"message": "Rate limit"}}, 429),
    "slow": Reply({}, seconds=5),
}


def english(*said: str) -> list[str]:
    """What is left of it, commands aside."""
    found = (ENGLISH.search(re.sub("`[^`]*`", "", text)) for text in said)
    return [match[0] for match in found if match]


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_what_an_answer_comes_to(reply: Reply) -> None:
    def answer(_put: Put) -> Reply:
        return reply

    with slow(answer) as gateway:
        network = Network(connect_seconds=0.1, read_seconds=0.2)
        request = PingRequest("openai-chat", f"{gateway.origin}/v1", "m", KEY, network=network, language="zh")
        came = ping(request)
    assert came.problem
    assert english(came.problem, came.hint) == []
    assert re.search("[\u4e00-\u9fff]", came.problem)


def test_what_keeps_an_answer_from_coming() -> None:
    with scripted([]) as dead:
        base, proxy = dead.base_url, f"http://127.0.0.1:{dead.port}"
    for base_url, network in ((base, Network()), ("http://gw.example/v1", Network(proxy=proxy)), ("gw", Network())):
        came = ping(PingRequest("openai-chat", base_url, "m", KEY, network=network, language="zh"))
        assert came.problem
        assert english(came.problem, came.hint, came.warning) == []


@pytest.mark.parametrize(
    ("kind", "network"),
    [
        ("ConnectTimeout", Network()),
        ("RemoteProtocolError", Network()),
        ("DecodingError", Network()),
        ("LocalProtocolError", Network()),
        ("UnsupportedProtocol", Network()),
        ("OSError", Network(ca_bundle="/none.pem")),
        ("ValueError", Network(proxy="socks://proxy.example:1")),
        ("RuntimeError", Network()),
    ],
)
def test_every_fault_has_its_words(kind: str, network: Network) -> None:
    builtin: Any = {"OSError": OSError, "ValueError": ValueError, "RuntimeError": RuntimeError}
    raised = builtin.get(kind) or type(kind, (Exception,), {})
    verdict = unsent(raised(), "https://gw.example/v1", network)
    assert english(tell(verdict.problem, "zh"), tell(verdict.hint, "zh")) == []
    assert tell(verdict.problem) != tell(verdict.problem, "zh")


@pytest.mark.parametrize("key", ["keyring:work", "env:GW_KEY", "command:pass show gw", "systemd:gw", "age:/k.age"])
def test_where_a_key_is_changed(key: str) -> None:
    profile = Profile("work", "https://gw.example/v1", "m", KeyRef.parse(key))
    hint = named("换成该网关发给你的密钥：`toolsync key rotate NAME`。", profile, "zh")
    assert english(re.sub(r"pass show gw", "", hint)) == []
    assert "NAME" not in hint


def test_which_profile_is_edited() -> None:
    profile = Profile("other", "https://gw.example/v1", "m", KeyRef.parse("env:GW_KEY"))
    hint = named("Correct it: `toolsync profile edit --set base_url=ADDRESS`.", profile)
    assert hint == "Correct it: `toolsync profile edit other --set base_url=ADDRESS`."
