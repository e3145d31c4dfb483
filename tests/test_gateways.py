"""The gateways that `init` knows: their files are sound, and users bring their own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
import tomli
from jsonschema import Draft202012Validator

from toolsync import resources
from toolsync.address import Dialect, addresses, is_loopback, normal
from toolsync.errors import TemplateError, UsageError
from toolsync.gateways import Gateway, at, find, gateways, named

FILES = sorted((resources.folder("templates") / "gateways").glob("*.toml"))
SCHEMA = resources.schema("gateway")
NOBODYS = Path("/nonexistent")


@pytest.fixture(params=FILES, ids=lambda file: str(file.stem))
def shipped(request: pytest.FixtureRequest) -> Gateway:
    file: Path = request.param
    return gateways(NOBODYS)[file.stem]


def test_the_schema_itself_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_every_file_meets_the_schema(file: Path) -> None:
    errors = Draft202012Validator(SCHEMA).iter_errors(tomli.loads(file.read_text(encoding="utf-8")))
    assert [error.message for error in errors] == []


def test_those_that_people_use_are_known() -> None:
    assert set(gateways(NOBODYS)) >= {
        *("taotoken", "openai", "anthropic", "openrouter", "deepseek", "moonshot", "moonshot-cn", "zhipu", "z-ai"),
        *("siliconflow", "siliconflow-cn", "new-api", "one-api", "litellm", "ollama", "vllm"),
    }


def test_an_address_is_stated_only_where_the_rule_does_not_derive_it(shipped: Gateway) -> None:
    if shipped.base_url is None:
        assert shipped.asks
        assert shipped.urls == {}
        return
    derived = asdict(addresses(shipped.base_url))
    needless = [protocol for protocol, url in shipped.urls.items() if derived[f"{protocol}_url"] == url]
    assert needless == []
    assert all(normal(url) == url for url in shipped.urls.values())


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.deepseek.com/anthropic", "deepseek"),  # what Claude Code has there
        ("https://API.deepseek.com:443", "deepseek"),
        ("https://deepseek.com", ""),
        ("http://api.deepseek.com", ""),
        ("https://gateway.example", ""),
    ],
)
def test_an_address_is_a_known_gateways_by_its_host(url: str, name: str) -> None:
    found = at(gateways(NOBODYS), url)
    assert (found.name if found else "") == name


def test_every_protocol_has_its_source(shipped: Gateway) -> None:
    assert shipped.sources
    assert all(pages for pages in shipped.sources.values())


def test_whoever_is_reached_over_the_network_is_reached_by_https_and_says_where_keys_come_from(
    shipped: Gateway,
) -> None:
    if shipped.base_url is None or is_loopback(shipped.base_url):
        return
    assert shipped.base_url.startswith("https://")
    assert all(url.startswith("https://") for url in shipped.urls.values())
    assert shipped.key_page


# What the providers' own pages say, each of them named in the file.
PRINTED: list[tuple[str, Dialect, str]] = [
    ("taotoken", "openai-chat", "https://taotoken.net/api/v1/chat/completions"),
    ("taotoken", "anthropic-messages", "https://taotoken.net/api/v1/messages"),
    ("openai", "openai-responses", "https://api.openai.com/v1/responses"),
    ("anthropic", "anthropic-messages", "https://api.anthropic.com/v1/messages"),
    ("openrouter", "openai-chat", "https://openrouter.ai/api/v1/chat/completions"),
    ("openrouter", "anthropic-messages", "https://openrouter.ai/api/v1/messages"),
    ("deepseek", "anthropic-messages", "https://api.deepseek.com/anthropic/v1/messages"),
    ("moonshot", "anthropic-messages", "https://api.moonshot.ai/anthropic/v1/messages"),
    ("moonshot-cn", "openai-chat", "https://api.moonshot.cn/v1/chat/completions"),
    ("zhipu", "openai-chat", "https://open.bigmodel.cn/api/paas/v4/chat/completions"),
    ("zhipu", "anthropic-messages", "https://open.bigmodel.cn/api/anthropic/v1/messages"),
    ("z-ai", "anthropic-messages", "https://api.z.ai/api/anthropic/v1/messages"),
    ("siliconflow-cn", "openai-chat", "https://api.siliconflow.cn/v1/chat/completions"),
    ("siliconflow-cn", "anthropic-messages", "https://api.siliconflow.cn/v1/messages"),
    ("litellm", "anthropic-messages", "http://localhost:4000/v1/messages"),
    ("ollama", "openai-chat", "http://localhost:11434/v1/chat/completions"),
    ("ollama", "anthropic-messages", "http://localhost:11434/v1/messages"),
    ("vllm", "openai-responses", "http://localhost:8000/v1/responses"),
]


@pytest.mark.parametrize(("name", "dialect", "url"), PRINTED, ids=[f"{row[0]}-{row[1]}" for row in PRINTED])
def test_the_endpoints_are_those_that_the_provider_prints(name: str, dialect: Dialect, url: str) -> None:
    gateway = gateways(NOBODYS)[name]
    found = gateway.addresses()
    assert found is not None
    ends = {
        "openai-chat": found.chat_completions_url,
        "openai-responses": found.responses_url,
        "anthropic-messages": found.messages_url,
    }
    assert dialect in gateway.serves
    assert ends[dialect] == url


OWN = """
title = "Ours"
site = "https://intranet.example"
base_url = "https://llm.intranet.example/v1"
key_variable = "OURS_KEY"
model = "house-model"
[openai]
speaks = ["openai-chat"]
source = "https://intranet.example/llm"
"""


def _own(tmp_path: Path, text: str, name: str = "ours") -> Path:
    (tmp_path / "gateways").mkdir()
    (tmp_path / "gateways" / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_users_own_file_is_a_gateway(tmp_path: Path) -> None:
    gateway = gateways(_own(tmp_path, OWN))["ours"]
    assert (gateway.title, gateway.serves, gateway.needs_key) == ("Ours", ("openai-chat",), True)


def test_a_users_own_file_wins_by_name(tmp_path: Path) -> None:
    assert gateways(_own(tmp_path, OWN, "openai"))["openai"].title == "Ours"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("title = Ours", "Invalid value (at line 1, column 9)", id="no-toml"),
        pytest.param(OWN.replace('title = "Ours"', ""), "'title' is a required property", id="no-title"),
        pytest.param(
            OWN.replace("openai-chat", "telepathy"), "openai.speaks.0: 'telepathy' is not one of", id="dialect"
        ),
        pytest.param(OWN + 'urls = "x"', "openai: 'urls' is not one of", id="unknown-field"),
        pytest.param(OWN.replace("https://llm.intranet.example/v1", "https://h:99999"), "bad host or port", id="port"),
    ],
)
def test_a_users_own_file_that_is_wrong_is_named_with_the_reason(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(TemplateError) as raised:
        gateways(_own(tmp_path, text))
    assert raised.value.message.startswith(str(tmp_path / "gateways" / "ours.toml"))
    assert complaint in raised.value.message


def test_a_name_that_is_not_known_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError) as raised:
        named(gateways(NOBODYS), "opanai\x1b[31m")
    assert raised.value.message == "unknown gateway 'opanai�[31m'"
    assert raised.value.hint.startswith("Known: anthropic, ")
    with pytest.raises(UsageError, match="unknown gateway 'deepsek'") as raised:
        named(gateways(NOBODYS), "deepsek")
    assert raised.value.hint.startswith("Did you mean 'deepseek'? Known: ")


def test_a_profile_may_name_no_gateway_or_one_that_is_not_known_here() -> None:
    assert find(None, NOBODYS) is None
    assert find("elsewhere", NOBODYS) is None
    vllm = find("vllm", NOBODYS)
    assert vllm is not None
    assert vllm.key_variable == "VLLM_API_KEY"
