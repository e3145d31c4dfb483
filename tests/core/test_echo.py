"""What others say of a key, in part, encoded or broken, is masked; ordinary words are not."""

from __future__ import annotations

import html
import json
import string
import time
from base64 import b32encode, b64encode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync.echo import unechoed

KEY = "sk-invented-4f7Kq9ZtW2xB8-JmKqLrTzAbXw"
ODD = """sk-invented-{a}"b'$c/d+e<f>&g%h\\i=9kQ"""
WORDY = "my-company-gateway-key-of-team-7"

FORMS: dict[str, Callable[[str], str]] = {
    "whole": str,
    "without its end": lambda key: key[:-2],
    "without its beginning": lambda key: key[12:],
    "its beginning": lambda key: key[: len(key) * 3 // 4],
    "from its middle": lambda key: key[5:-5],
    "base64": lambda key: b64encode(key.encode()).decode(),
    "base64 without padding": lambda key: b64encode(key.encode()).decode().rstrip("="),
    "base64 for addresses": lambda key: urlsafe_b64encode(key.encode()).decode(),
    "base64 behind a name": lambda key: b64encode(f"user:{key}".encode()).decode(),
    "base64 behind a longer name": lambda key: b64encode(f"users:{key}".encode()).decode(),
    "base64 behind the longest name": lambda key: b64encode(f"useress:{key}".encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "HEXADECIMAL": lambda key: key.encode().hex().upper(),
    "percent": lambda key: quote(key, safe=""),
    "percent, every character": lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    "percent, every character, in small letters": lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
    "percent of percent": lambda key: quote("".join(f"%{byte:02X}" for byte in key.encode())),
    "HTML, every character": lambda key: "".join(f"&#{byte};" for byte in key.encode()),
    "escapes of bytes": lambda key: "".join(f"\\x{byte:02x}" for byte in key.encode()),
    "escapes of characters": lambda key: "".join(f"\\u{byte:04x}" for byte in key.encode()),
    "octal escapes": lambda key: "".join(f"\\{byte:03o}" for byte in key.encode()),
    "base32": lambda key: b32encode(key.encode()).decode().rstrip("="),
    "base64 of base64": lambda key: b64encode(b64encode(key.encode())).decode(),
    "with accents": "\u0301".join,
    "HTML": html.escape,
    "JSON": lambda key: json.dumps(key)[1:-1],
    "JSON of PHP": lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
    "repr": lambda key: repr(key)[1:-1],
    "twelve of both cases": lambda key: key[-12:],
    "over two lines": lambda key: f"{key[:9]}\n    {key[9:]}",
    "over two escaped lines": lambda key: f"{key[:9]}\\n{key[9:]}",
    "with soft hyphens": "\xad".join,
    "with zero-width spaces": "\u200b".join,
    "with what printable puts there": "\ufffd".join,
    "coloured": lambda key: f"{key[:9]}\x1b[31m{key[9:]}",
    "coloured, after printable": lambda key: f"{key[:9]}\ufffd[31m{key[9:]}",
    "spaced": " ".join,
    "in small letters": str.lower,
    "in capital letters": str.upper,
    "backwards": lambda key: key[::-1],
    "full-width": lambda key: "".join(chr(ord(char) + 0xFEE0) for char in key),
}


@pytest.mark.parametrize("key", [KEY, ODD], ids=["usual", "odd"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_an_echo_is_masked_and_what_stands_around_it_is_not(form: Callable[[str], str], key: str) -> None:
    shown = unechoed(f"the key '{form(key)}', it said", frozenset([key]))
    before, star, after = shown.partition("***")
    assert (star, before.startswith("the key '"), after.endswith("', it said")) == ("***", True, True)
    assert len(shown) < len("the key '***', it said") + 16  # the beginning of what base64 stands behind, or its padding


_CHARACTERS = string.ascii_letters + string.digits + "-_.~+/{}\"'$"


@given(st.text(_CHARACTERS, min_size=16, max_size=60), st.sampled_from(list(FORMS.values())), st.text(), st.text())
def test_no_long_part_of_any_key_stays(key: str, form: Callable[[str], str], before: str, after: str) -> None:
    key = f"k{key}0123456789"
    shown = unechoed(before + form(key) + after, frozenset([key]))
    bare = "".join(shown.split())
    windows = {key[at : at + 12] for at in range(len(key) - 11)}
    stays = [window for window in windows if window in bare and set(window) & set(string.digits)]
    assert stays == []


@given(st.text(), st.text(_CHARACTERS, min_size=7, max_size=60))
def test_what_is_no_echo_stays_as_it_is(text: str, key: str) -> None:
    bare = "".join(text.split())
    if not any(bare[at : at + 6] in f"{key}" for at in range(len(bare))):
        assert unechoed(text, frozenset([f"k{key}9"])) == text


@pytest.mark.parametrize(
    "text",
    [
        "https://my-company-gateway.example/v1: no route",
        "key-of-team: unknown",
        "the key of my company gateway",
        "~/.config/my-company-gateway-key",
    ],
)
def test_words_that_a_key_is_made_of_stay(text: str) -> None:
    assert unechoed(text, frozenset([WORDY])) == text
    assert unechoed(f"{text} {WORDY[:-1]}", frozenset([WORDY])) == f"{text} ***"


@pytest.mark.parametrize("place", ["/opt/python3.11/bin/print-key", "https://h/2026/login", "C:\\bin42\\print-key.exe"])
def test_a_program_in_the_place_of_a_key_masks_no_other(place: str) -> None:
    assert unechoed(place[:-5], frozenset([place])) == place[:-5]


def test_our_own_words_stay() -> None:
    readme = Path(__file__).parents[2].joinpath("README.md").read_text(encoding="utf-8")
    assert unechoed(readme, frozenset([KEY, ODD, WORDY])) == readme


@pytest.mark.parametrize("unit", ["a", " ", "\x1b[", KEY[:12], KEY[:11], KEY, "\ufffd[0;", "\\n", "\n "], ids=repr)
def test_time_is_linear(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    started = time.thread_time()
    unechoed(text, frozenset([KEY]))
    assert time.thread_time() - started < 3
