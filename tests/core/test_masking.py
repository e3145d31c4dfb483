"""What is never shown as it is."""

from __future__ import annotations

import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.world import KEY
from toolsync.masking import (
    Secret,
    fingerprint,
    holds_key_shape,
    holds_secret_setting,
    looks_secret,
    mask_credentials,
    mask_key_shapes,
    mask_strange_words,
    masked,
    masked_data,
    printable,
)


def test_a_secret_never_prints_itself() -> None:
    secret = Secret("core-invented-key-1")
    assert (repr(secret), str(secret), f"{secret}") == ("Secret('***')",) * 3
    assert secret.reveal() == "core-invented-key-1"
    with pytest.raises(TypeError, match="a Secret is never serialised"):
        pickle.dumps(secret)


def test_a_key_once_seen_is_masked_in_every_text() -> None:
    Secret('"core-invented-key-2"\n')
    text = "x core-invented-key-2 y"
    assert masked(text) == "x *** y"
    data = {"a": [text, 1, None], "core-invented-key-2": True}
    assert masked_data(data) == {"a": ["x *** y", 1, None], "***": True}


def test_a_key_that_begins_like_a_path_is_masked_all_the_same() -> None:
    """Base64 has the slash, and so have passwords; what begins with `~/` and is a path to its end is a script."""
    for key in ("/core_invented-key.8", "/x.9_c0re-invented/key", "~/core(invented)key"):
        Secret(key)
        assert masked(f"x {key} y") == "x *** y"
    Secret("~/bin/my_key-2.sh")
    assert masked("x ~/bin/my_key-2.sh y") == "x ~/bin/my_key-2.sh y"


def test_the_shortest_key_that_is_masked_has_seven_characters() -> None:
    for text in ("q7#kz9", "q7#kz9!"):
        Secret(text)
    assert masked("q7#kz9 q7#kz9!") == "q7#kz9 ***"


@pytest.mark.parametrize("text", ["ollama", "none", "", "two words", "${CORE_KEY}", '{"a": 1}'])
def test_what_is_no_key_masks_no_words(text: str) -> None:
    Secret(text)
    assert masked(f"x {text} y") == f"x {text} y"


def test_the_longer_of_two_keys_goes_first() -> None:
    Secret("core-invented")
    Secret("core-invented-key-3")
    assert masked("core-invented-key-3") == "***"


@given(st.text(), st.text())
def test_two_secrets_are_equal_when_their_keys_are(one: str, other: str) -> None:
    assert (Secret(one) == Secret(other)) is (one == other)
    assert len(fingerprint(one, KEY)) == 6


@given(st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True))
def test_fingerprints_tell_two_keys_apart_and_machines_too(keys: list[str]) -> None:
    one, other = keys
    assert fingerprint(one, KEY) == fingerprint(one, KEY)
    assert fingerprint(one, KEY) != fingerprint(other, KEY)
    assert fingerprint(one, KEY) != fingerprint(one, bytes(32))


@pytest.mark.parametrize(
    "name",
    [
        "apiKey",
        "api_key",
        "API_KEY",
        "apikey",
        "ANTHROPIC_AUTH_TOKEN",
        "key",
        "ssh-key",
        "x.key",
        "secret",
        "clientSecret",
        "password",
        "passwd",
        "credentials",
        "bearerToken",
        "Authorization",
        "auth",
        "headers",
        "openAiHeaders",
        "experimental_bearer_token",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["model", "baseUrl", "keyboard", "keys_pressed", "author", "timeout", "monkey", ""])
def test_names_of_nothing_secret(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-abcdefghij0123456789",
        "sk-proj-abcdefghij0123456789",
        "sk-or-v1-0123456789abcdef0123456789",
        "gsk_0123456789abcdefghij",
        "hf_0123456789abcdefghij",
        "xai-0123456789abcdefghij",
        "AIzaSyA0123456789abcdefghij",
        "AKIA0123456789ABCDEF",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc123",
    ],
)
def test_shapes_of_keys(key: str) -> None:
    text = f'x="{key}", y'
    assert (holds_key_shape(text), mask_key_shapes(text)) == (True, 'x="***", y')


@pytest.mark.parametrize(
    "text", ["sk-", "sk-short1", "task-0123456789abcdefghij", "risk-free-and-easy-going-words", ""]
)
def test_shapes_of_no_key(text: str) -> None:
    assert (holds_key_shape(text), mask_key_shapes(text)) == (False, text)


@pytest.mark.parametrize(
    "text",
    [
        "open /usr/lib/python3.11/site-packages/x: no such file",
        "AccessDeniedException: HTTPServerError",
        "dial vault-eu1.example-company.com:8200: ERR_TLS_CERT_ALTNAME_INVALID",
        "internationalisation of password-store-2",
        "",
    ],
)
def test_what_people_call_things_is_no_strange_word(text: str) -> None:
    assert mask_strange_words(text) == text


@pytest.mark.parametrize(
    "key",
    [
        "Xk4Tq9ZtW2xB8Jm31Lr",
        "0123456789abcdef0123456789abcdef",
        "AbCdEfGhIjKlMnOp",
        "c2VjcmV0LWtleS1vZi1taW5l",
        "a1b2c3d4-e5f6-7890-abcd-ef0123456789",
    ],
)
def test_what_may_be_a_key_is_a_strange_word(key: str) -> None:
    assert mask_strange_words(f"no: '{key}'!") == "no: '***'!"


@pytest.mark.parametrize("unit", ["a", "A", "0", "aA", "-", "Aa0", "0 ", "aA1-"])
def test_strange_words_are_found_in_linear_time(unit: str) -> None:
    started = time.thread_time()
    mask_strange_words(unit * (400_000 // len(unit)))
    assert time.thread_time() - started < 3


def test_what_a_terminal_would_obey_is_taken_out() -> None:
    text = "a\x1b[31mb\x07c\u202ed\u2028e\x85f\tg\nh日本😀"
    assert printable(text) == "a�[31mb�c�d�e�f\tg\nh日本😀"
    assert printable("x" * 12, limit=10) == "xxxxxxxxxx… (2 characters more)"


@given(st.text())
def test_printable_is_printable_once_and_for_all(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('["-H", "Authorization: Bearer fsec-2"]', '["-H", "Authorization: Bearer ***"]'),
        ("Authorization: Bearer ${TOKEN_1}", "Authorization: Bearer ${TOKEN_1}"),
        ('"basic auth is used"', '"basic auth is used"'),
        ("postgres://me:fsecret@h/db", "postgres://me:***@h/db"),
        ("https://h:8080/me", "https://h:8080/me"),
        ("https://h/?key=fsec&x=1", "https://h/?key=***&x=1"),
        ("https://h/?page=secret", "https://h/?page=secret"),
        ('args = ["--api-key", "fsec-5"]', 'args = ["--api-key", "***"]'),
        ("--token=fsec-5 --model m", "--token=*** --model m"),
        ("--token=***a1b2c3***", "--token=***a1b2c3***"),
    ],
)
def test_what_is_secret_by_its_neighbourhood_is_masked(text: str, shown: str) -> None:
    assert mask_credentials(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        '{"accessToken": "opaque"}',
        "password = opaque",
        "[auth]\nsecret = 'opaque'",
        '"auth": {"x": "opaque"}',
        '"headers": { "X-Any": "opaque" }',
        '"https://user:opaque@host.example/v1"',
        '"https://host.example/v1?api_key=opaque"',
        '["--api-key", "opaque"]',
        "Authorization: opaque",
        "mode: x\ntoken: opaque",
    ],
)
def test_pieces_of_settings_that_hold_a_secret(text: str) -> None:
    assert holds_secret_setting(text)


@pytest.mark.parametrize(
    "text",
    [
        '"https://host.example/v1"',
        '"old-model"',
        '{"max_tokens": 4096, "headers": {}, "auth": [], "token": "", "apiKey": null, "useToken": true}',
        "# mine, the good one",
        'api_key = "${OLD_KEY}"',
        '"apiKey": "{env:OLD_KEY}"',
        '\t\t{ "name": "HTTPS_PROXY", "value": "http://proxy.example:3128" },\r\n',
        "",
    ],
)
def test_pieces_of_settings_that_hold_none(text: str) -> None:
    assert not holds_secret_setting(text)


@pytest.mark.parametrize("unit", ["a", "a.", "key=", "= ", '"key": "', "--key ", "{ ", "?key=&"])
def test_secret_settings_are_found_in_linear_time(unit: str) -> None:
    started = time.thread_time()
    holds_secret_setting(unit * (200_000 // len(unit)))
    assert time.thread_time() - started < 2
