"""What a provider prints, and what each protocol's clients are given for it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync.address import PATHS, Addresses, Dialect, addresses, endpoint, is_loopback, normal, origin
from toolsync.errors import ProfileError

# id, path as printed, then the paths of openai_url, anthropic_url and gemini_url
PATHS_PRINTED = [
    # The plain forms.
    ("root", "", "/v1", "", ""),
    ("root-slash", "/", "/v1", "", ""),
    ("root-slashes", "///", "/v1", "", ""),
    ("v1", "/v1", "/v1", "", ""),
    ("v1-slash", "/v1/", "/v1", "", ""),
    ("v1-double-slash", "//v1//", "/v1", "", ""),
    ("api", "/api", "/api/v1", "/api", "/api"),
    ("api-slash", "/api/", "/api/v1", "/api", "/api"),
    ("api-v1", "/api/v1", "/api/v1", "/api", "/api"),
    ("deep", "/a/b", "/a/b/v1", "/a/b", "/a/b"),
    # Version segments that are not v1 stay.
    ("v2", "/v2", "/v2", "", ""),
    ("v3", "/api/v3", "/api/v3", "/api", "/api"),
    ("v4", "/api/v4", "/api/v4", "/api", "/api"),
    ("v1beta", "/v1beta", "/v1beta", "", ""),
    ("v1beta1", "/v1beta1/", "/v1beta1", "", ""),
    ("upper-version", "/V1", "/V1", "", ""),
    ("no-version-vendor", "/vendor", "/vendor/v1", "/vendor", "/vendor"),
    ("no-version-v", "/v", "/v/v1", "/v", "/v"),
    ("doubled-v1", "/v1/v1", "/v1", "", ""),
    ("version-inside", "/v1/team/gw", "/v1/team/gw", "/v1/team/gw", "/v1/team/gw"),
    # A whole endpoint was pasted.
    ("chat", "/v1/chat/completions", "/v1", "", ""),
    ("chat-api", "/api/v1/chat/completions/", "/api/v1", "/api", "/api"),
    ("chat-no-version", "/chat/completions", "/v1", "", ""),
    ("chat-v4", "/api/paas/v4/chat/completions", "/api/paas/v4", "/api/paas", "/api/paas"),
    ("chat-upper", "/v1/Chat/Completions", "/v1", "", ""),
    ("completions", "/v1/completions", "/v1", "", ""),
    ("responses", "/v1/responses", "/v1", "", ""),
    ("responses-no-version", "/api/responses", "/api/v1", "/api", "/api"),
    ("messages", "/v1/messages", "/v1", "", ""),
    ("messages-api", "/api/v1/messages", "/api/v1", "/api", "/api"),
    ("messages-count", "/v1/messages/count_tokens", "/v1", "", ""),
    ("messages-doubled-v1", "/v1/v1/messages", "/v1", "", ""),
    ("models", "/v1/models", "/v1", "", ""),
    ("embeddings", "/v1/embeddings", "/v1", "", ""),
    ("gemini-call", "/v1beta/models/gemini-2.5-flash:generateContent", "/v1beta", "", ""),
    # Folders for one protocol.
    ("anthropic-folder", "/anthropic", "/v1", "/anthropic", ""),
    ("anthropic-folder-api", "/api/anthropic/", "/api/v1", "/api/anthropic", "/api"),
    ("anthropic-folder-v1", "/anthropic/v1", "/v1", "/anthropic", ""),
    ("anthropic-folder-messages", "/anthropic/v1/messages", "/v1", "/anthropic", ""),
    ("openai-folder", "/openai", "/openai/v1", "", ""),
    ("openai-folder-v1", "/openai/v1", "/openai/v1", "", ""),
    ("openai-folder-behind-version", "/v1beta/openai/", "/v1beta/openai", "", ""),
    ("gemini-folder", "/gemini", "/v1", "", "/gemini"),
    ("gemini-folder-version", "/gemini/v1beta", "/v1", "", "/gemini"),
    # Spelling.
    ("empty-query", "/v1?", "/v1", "", ""),
    ("path-unicode", "/组", "/%E7%BB%84/v1", "/%E7%BB%84", "/%E7%BB%84"),
    ("path-encoded", "/a%20b", "/a%20b/v1", "/a%20b", "/a%20b"),
    ("path-odd", "/a:b@c~d", "/a:b@c~d/v1", "/a:b@c~d", "/a:b@c~d"),
]


@pytest.mark.parametrize(
    ("printed", "openai", "anthropic", "gemini"),
    [row[1:] for row in PATHS_PRINTED],
    ids=[row[0] for row in PATHS_PRINTED],
)
def test_each_protocol_gets_its_own_path(printed: str, openai: str, anthropic: str, gemini: str) -> None:
    site = "https://h.example"
    found = addresses(site + printed)
    assert (found.openai_url, found.anthropic_url, found.gemini_url) == (site + openai, site + anthropic, site + gemini)


# id, site as printed, root_url
SITES_PRINTED = [
    ("upper", "HTTPS://API.Example.COM/API", "https://api.example.com/API"),
    ("port", "http://h.example:3000", "http://h.example:3000"),
    ("port-v1", "http://h.example:3000/v1", "http://h.example:3000"),
    ("port-default-https", "https://h.example:443/v1", "https://h.example"),
    ("port-default-http", "http://h.example:80", "http://h.example"),
    ("port-other-scheme", "https://h.example:80", "https://h.example:80"),
    ("port-zeros", "http://h.example:08080", "http://h.example:8080"),
    ("ipv4", "http://192.168.1.5:8000/v1", "http://192.168.1.5:8000"),
    ("ipv6", "http://[::1]:8000", "http://[::1]:8000"),
    ("ipv6-no-port", "http://[2001:DB8::1]/v1", "http://[2001:db8::1]"),
    ("ipv6-long", "http://[0:0:0:0:0:0:0:1]", "http://[::1]"),
    ("localhost", "http://localhost:11434", "http://localhost:11434"),
    ("idn", "https://bücher.example/v1", "https://xn--bcher-kva.example"),
    ("idn-chinese", "https://网关.example", "https://xn--d6q013i.example"),
    ("punycode", "https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ("spaces", "  https://h.example/v1 \n", "https://h.example"),
]


@pytest.mark.parametrize(("printed", "root"), [row[1:] for row in SITES_PRINTED], ids=[row[0] for row in SITES_PRINTED])
def test_scheme_host_and_port_have_one_spelling(printed: str, root: str) -> None:
    assert (addresses(printed).root_url, addresses(printed).openai_url) == (root, f"{root}/v1")


# As real providers print them: host, path, then the paths of openai_url and anthropic_url.
PROVIDERS = [
    ("taotoken", "taotoken.net", "/api", "/api/v1", "/api"),
    ("openrouter", "openrouter.ai", "/api/v1", "/api/v1", "/api"),
    ("deepseek", "api.deepseek.com", "", "/v1", ""),
    ("deepseek-anthropic", "api.deepseek.com", "/anthropic", "/v1", "/anthropic"),
    ("zhipu", "open.bigmodel.cn", "/api/paas/v4/", "/api/paas/v4", "/api/paas"),
    ("zhipu-anthropic", "open.bigmodel.cn", "/api/anthropic", "/api/v1", "/api/anthropic"),
    ("ark", "ark.cn-beijing.volces.com", "/api/v3", "/api/v3", "/api"),
    ("dashscope", "dashscope.aliyuncs.com", "/compatible-mode/v1", "/compatible-mode/v1", "/compatible-mode"),
    ("groq", "api.groq.com", "/openai/v1", "/openai/v1", ""),
    ("azure", "me.openai.azure.com", "/openai/v1/", "/openai/v1", ""),
    ("google", "generativelanguage.googleapis.com", "/v1beta/openai/", "/v1beta/openai", ""),
    ("cloudflare", "gateway.ai.cloudflare.com", "/v1/acc/gw/anthropic", "/v1/acc/gw/v1", "/v1/acc/gw/anthropic"),
]


@pytest.mark.parametrize(
    ("host", "printed", "openai", "anthropic"), [row[1:] for row in PROVIDERS], ids=[row[0] for row in PROVIDERS]
)
def test_real_providers_addresses_are_understood(host: str, printed: str, openai: str, anthropic: str) -> None:
    site = f"https://{host}"
    found = addresses(site + printed)
    assert (found.openai_url, found.anthropic_url) == (site + openai, site + anthropic)


@pytest.mark.parametrize("path", ["", "/v1/", "/v1/messages"])
def test_whole_endpoints_follow_from_the_bases(path: str) -> None:
    found = addresses(f"https://taotoken.net/api{path}")
    assert found.root_url == "https://taotoken.net/api"
    assert found.chat_completions_url == "https://taotoken.net/api/v1/chat/completions"
    assert found.responses_url == "https://taotoken.net/api/v1/responses"
    assert found.messages_url == "https://taotoken.net/api/v1/messages"
    assert found.models_url == "https://taotoken.net/api/v1/models"


def test_an_override_is_taken_as_it_stands_and_its_endpoints_follow() -> None:
    overrides = {"openai": "https://API.other.example/inference/", "anthropic": "https://h.example/claude"}
    found = addresses("https://h.example/v1", overrides)
    assert found == Addresses(
        root_url="https://h.example",
        openai_url="https://api.other.example/inference",
        anthropic_url="https://h.example/claude",
        gemini_url="https://h.example",
    )
    assert found.chat_completions_url == "https://api.other.example/inference/chat/completions"
    assert found.messages_url == "https://h.example/claude/v1/messages"


EXAMPLE = "Write it as the provider prints it, for example https://api.example.com/v1."
NO_SCHEME = "the address does not start with https:// or http://"
BAD_HOST = "the address has a bad host or port"
BAD_CHARACTER = "the address holds a character that no address can hold"
QUERY = "the address has a query or a fragment, and clients append their paths behind it"
QUERY_HINT = "Leave out everything from '?' or '#' on; Azure needs no api-version under …/openai/v1."
USERINFO = "the address holds a user name or password"
USERINFO_HINT = "Take it out; the key is referred to by `key`, and never stands in an address."

REFUSED = [
    ("empty", "", "the address is empty", EXAMPLE),
    ("blank", " \t", "the address is empty", EXAMPLE),
    ("no-scheme", "api.example.com/v1", NO_SCHEME, "Write https://api.example.com/v1."),
    ("no-scheme-localhost", "localhost:4000", NO_SCHEME, "Write http://localhost:4000."),
    ("no-scheme-loopback", "127.0.0.1:8000/v1", NO_SCHEME, "Write http://127.0.0.1:8000/v1."),
    ("scheme-relative", "//api.example.com", NO_SCHEME, EXAMPLE),
    ("other-scheme", "ftp://h.example", NO_SCHEME, EXAMPLE),
    ("one-slash", "https:/h.example", NO_SCHEME, EXAMPLE),
    ("a-key-instead", "sk-invented-0123456789abcdef", NO_SCHEME, EXAMPLE),
    ("no-host", "https://", BAD_HOST, EXAMPLE),
    ("no-host-path", "https:///v1", BAD_HOST, EXAMPLE),
    ("no-port", "https://h.example:/v1", BAD_HOST, EXAMPLE),
    ("port-word", "https://h.example:http", BAD_HOST, EXAMPLE),
    ("port-too-big", "https://h.example:99999", BAD_HOST, EXAMPLE),
    ("port-zero", "https://h.example:0", BAD_HOST, EXAMPLE),
    ("ipv6-open", "http://[::1", BAD_HOST, EXAMPLE),
    ("ipv6-bare", "http://::1:8000", BAD_HOST, EXAMPLE),
    ("ipv6-words", "http://[gateway]", BAD_HOST, EXAMPLE),
    ("host-empty-label", "https://h..example", BAD_HOST, EXAMPLE),
    ("idn-bad", "https://a..例", "the address has a host name that is not allowed", EXAMPLE),
    ("userinfo", "https://me:sk-invented-01234567@h.example", USERINFO, USERINFO_HINT),
    ("user-only", "https://sk-invented-01234567@h.example", USERINFO, USERINFO_HINT),
    ("query", "https://h.example/v1?api-version=2024-10-21", QUERY, QUERY_HINT),
    ("query-key", "https://h.example/v1?key=sk-invented-01234567", QUERY, QUERY_HINT),
    ("fragment", "https://h.example/#/token", QUERY, QUERY_HINT),
    ("space-inside", "https://h.example/my api", BAD_CHARACTER, EXAMPLE),
    ("two-addresses", "https://h.example\nhttps://i.example", BAD_CHARACTER, EXAMPLE),
    ("quotes", '"https://h.example"', BAD_CHARACTER, EXAMPLE),
    ("angle-brackets", "<https://h.example>", BAD_CHARACTER, EXAMPLE),
    ("backslash", "https:\\\\h.example", BAD_CHARACTER, EXAMPLE),
    ("placeholder", "https://${HOST}/v1", BAD_CHARACTER, EXAMPLE),
    ("zero-width-space", "https://h.example/v1\u200b", BAD_CHARACTER, EXAMPLE),
    ("byte-order-mark", "\ufeffhttps://h.example/v1", BAD_CHARACTER, EXAMPLE),
    ("escape", "https://h.example/\x1b[31m", BAD_CHARACTER, EXAMPLE),
    ("dots", "https://h.example/a/../b", "the address has '.' or '..' in its path", "Write the path out."),
]


@pytest.mark.parametrize(("printed", "message", "hint"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_no_base_address_is_refused_with_advice_and_without_secrets(
    printed: str, message: str, hint: str
) -> None:
    with pytest.raises(ProfileError) as raised:
        addresses(printed)
    assert (raised.value.message, raised.value.hint) == (message, hint)
    assert "invented" not in f"{raised.value.message}{raised.value.hint}"


# Laws.

_word = st.text(ascii_letters + digits + "-_~.", min_size=1, max_size=5).filter(lambda word: word not in {".", ".."})
_site = st.sampled_from(["https://h.example", "http://localhost:4000", "HTTPS://H.example:443", "http://[::1]:8000"])
_folder = st.sampled_from(["", "/openai", "/anthropic", "/gemini"])
_version = st.sampled_from(["", "/v1", "/v4", "/v1beta", "/v1/v1"])
_call = st.sampled_from(["", "/chat/completions", "/messages", "/responses", "/models", "/models/m-1:generateContent"])
_printed = st.builds(
    lambda site, words, *rest: "".join([site, *(f"/{word}" for word in words), *rest]),
    _site,
    st.lists(_word, max_size=3),
    _folder,
    _version,
    _folder,
    _call,
)


@given(_printed)
def test_law_every_derived_address_has_the_origin_of_what_was_printed(printed: str) -> None:
    found = addresses(printed)
    bases = [getattr(found, field.name) for field in fields(found)]
    ends = [found.chat_completions_url, found.responses_url, found.messages_url, found.models_url]
    assert {origin(url) for url in (*bases, *ends)} == {origin(printed)}


@given(_printed)
def test_law_a_base_given_back_is_itself(printed: str) -> None:
    found = addresses(printed)
    for name in ("openai_url", "anthropic_url", "root_url", "gemini_url"):
        base = getattr(found, name)
        assert normal(base) == base
        assert getattr(addresses(base), name) == base


@given(_printed, st.sampled_from(["", "/", "//"]), st.sampled_from(["", " ", "\n"]))
def test_law_slashes_and_spaces_around_change_nothing(printed: str, slashes: str, space: str) -> None:
    assert addresses(f"{space}{printed}{slashes}{space}") == addresses(printed)


@given(st.text(max_size=40) | st.text(max_size=40).map("https://{}".format))
def test_law_any_text_is_an_address_or_a_refusal(text: str) -> None:
    with suppress(ProfileError):
        assert addresses(text).openai_url.isascii()


# What a tool makes of the base it was given; `claude-code` and `codex` rows are from their own requests.

JOINED: list[tuple[str, Dialect, str, str]] = [
    ("codex", "openai-responses", "http://h:1/v1", "http://h:1/v1/responses"),
    ("codex-no-version", "openai-responses", "http://h:1/api/", "http://h:1/api/responses"),
    ("chat", "openai-chat", "http://h:1/v1", "http://h:1/v1/chat/completions"),
    (
        "chat-endpoint-pasted",
        "openai-chat",
        "http://h:1/v1/chat/completions",
        "http://h:1/v1/chat/completions/chat/completions",
    ),
    ("claude-root", "anthropic-messages", "http://h:1", "http://h:1/v1/messages"),
    ("claude-slashes", "anthropic-messages", "http://h:1//", "http://h:1/v1/messages"),
    ("claude-space", "anthropic-messages", "http://h:1 ", "http://h:1/v1/messages"),
    ("claude-api", "anthropic-messages", "http://h:1/api/", "http://h:1/api/v1/messages"),
    ("claude-v1", "anthropic-messages", "http://h:1/v1", "http://h:1/v1/v1/messages"),
    ("claude-endpoint-pasted", "anthropic-messages", "http://h:1/v1/messages", "http://h:1/v1/messages/v1/messages"),
]


@pytest.mark.parametrize(("dialect", "base", "url"), [row[1:] for row in JOINED], ids=[row[0] for row in JOINED])
def test_endpoint_joins_as_the_tools_do_and_mends_nothing(dialect: Dialect, base: str, url: str) -> None:
    assert endpoint(dialect, base) == url


@given(_printed)
def test_law_endpoints_of_the_derived_bases_are_the_whole_endpoints(printed: str) -> None:
    found = addresses(printed)
    assert endpoint("openai-chat", found.openai_url) == found.chat_completions_url
    assert endpoint("openai-responses", found.openai_url) == found.responses_url
    assert endpoint("anthropic-messages", found.anthropic_url) == found.messages_url
    assert set(PATHS) == {"openai-chat", "openai-responses", "anthropic-messages"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:4000", True),
        ("http://LOCALHOST", True),
        ("http://localhost./v1", True),
        ("http://gateway.localhost", True),
        ("http://127.0.0.1:8000", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:8000", True),
        ("http://[::ffff:127.0.0.1]", True),
        ("http://[::ffff:10.0.0.1]", False),
        ("http://0.0.0.0:8000", False),
        ("http://192.168.1.5", False),
        ("http://10.0.0.1", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://mylocalhost", False),
        ("http://host.docker.internal", False),
    ],
)
def test_loopback_is_this_machine_only(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://H.example/v1?x=1#y", "https://h.example"),
        ("https://h.example:443", "https://h.example"),
        ("https://h.example:8443/v1", "https://h.example:8443"),
        ("http://[::1]:80", "http://[::1]"),
    ],
)
def test_origin_is_scheme_host_and_port(url: str, expected: str) -> None:
    assert origin(url) == expected
