"""What may be a key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync.errors import KeyMissingError, SecretError
from toolsync.masking import Secret, masked
from toolsync.secret.key import checked, checked_typed, without_line_end

KEY = "sk-invented-0123456789"

FAULTS = [
    pytest.param(f"{KEY}\n", "the key has a line break at position 23", id="line feed at the end"),
    pytest.param(f"{KEY[:5]}\r\n{KEY[5:]}", "the key has a line break at position 6", id="wrapped by a terminal"),
    pytest.param(f" {KEY}", "the key has a space at position 1", id="leading space"),
    pytest.param(f"{KEY} ", "the key has a space at position 23", id="trailing space"),
    pytest.param(f"{KEY}\t", "the key has a tab at position 23", id="tab"),
    pytest.param(f"{KEY}\x1b[31m", "the key has a control character (U+001B) at position 23", id="escape"),
    pytest.param(f"{KEY}\x00", "the key has a control character (U+0000) at position 23", id="NUL"),
    pytest.param(f"{KEY}\x7f", "the key has a control character (U+007F) at position 23", id="delete"),
    pytest.param(f"\ufeff{KEY}", "the key has a character that is not ASCII (U+FEFF) at position 1", id="BOM"),
    pytest.param(
        f"{KEY}\u00a0", "the key has a character that is not ASCII (U+00A0) at position 23", id="no-break space"
    ),
    pytest.param(f"{KEY}\u200b", "the key has a character that is not ASCII (U+200B) at position 23", id="zero width"),
    pytest.param("schlüssel", "the key has a character that is not ASCII (U+00FC) at position 5", id="umlaut"),
    pytest.param("密钥", "the key has a character that is not ASCII (U+5BC6) at position 1", id="CJK"),
    pytest.param(f"'{KEY}'", "the key stands in quotation marks", id="quoted"),
    pytest.param(f"Bearer {KEY}", "the key has a space at position 7", id="a whole header"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_what_cannot_be_a_key_is_refused_and_not_shown(text: str, message: str) -> None:
    with pytest.raises(SecretError) as caught:
        checked(text, "the key")
    assert caught.value.message == message
    assert caught.value.hint
    assert KEY not in caught.value.message + caught.value.hint


SLIPS = [
    pytest.param(f"OPENAI_API_KEY={KEY}", "the key begins with a variable's name", id="a line of .env"),
    pytest.param("https://gateway.example/keys", "the key is an address", id="the page's address"),
    pytest.param("${API_KEY}", "the key names a key that stands elsewhere", id="a reference"),
    pytest.param("env:API_KEY", "the key names a key that stands elsewhere", id="a reference of ours"),
]


@pytest.mark.parametrize(("text", "message"), SLIPS)
def test_what_a_person_copied_by_mistake_is_not_kept(text: str, message: str) -> None:
    with pytest.raises(SecretError) as caught:
        checked_typed(text, "the key")
    assert (caught.value.message, KEY in caught.value.hint) == (message, False)
    assert checked(text, "env:X") == Secret(text)  # where it stands already, `doctor` tells


@pytest.mark.parametrize("text", [KEY, "a=b", "AbC1=", "key=", "a1b2key==", "sk-https://x", "YWJjZGVmZ2hpag=="])
def test_what_may_be_a_key_is_kept(text: str) -> None:
    assert checked_typed(text, "the key") == Secret(text)


@pytest.mark.parametrize("text", [f" {KEY}", f"{KEY} ", f"\t{KEY}  "])
def test_blanks_around_what_a_person_pastes_are_left_out(text: str) -> None:
    assert checked_typed(text, "the key") == Secret(KEY)
    with pytest.raises(SecretError, match=r"^the key begins with a variable's name$"):
        checked_typed(f" API_KEY={KEY}", "the key")


@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n\t"])
def test_nothing_is_no_key(text: str) -> None:
    with pytest.raises(KeyMissingError, match=r"^the key is empty$"):
        checked(text, "the key")


@pytest.mark.parametrize("text", [KEY, "none", '"', "a=b&c", "eyJhbGciOi.J9.sig-_", "{}~!@#$%^*()[]|;:,.<>/?"])
def test_visible_ascii_is_a_key(text: str) -> None:
    assert checked(text, "the key") == Secret(text)


def test_a_refused_key_is_masked_all_the_same() -> None:
    with pytest.raises(SecretError):
        checked("sk-refused-and-known \n", "the key")
    assert masked("log: sk-refused-and-known") == "log: ***"


@pytest.mark.parametrize("key", ["{fsec1}", '"fsec-2', "fsec'3x", "$fsec-4", '{a}"b$fsec5'])
def test_a_key_of_odd_characters_is_masked_too(key: str) -> None:
    checked(key, "the key")
    assert masked(f"log: {key}!") == "log: ***!"


@given(st.text())
def test_a_key_is_visible_ascii_or_refused(text: str) -> None:
    try:
        key = checked(text, "the key").reveal()
    except SecretError:
        return
    assert key == text
    assert all("!" <= character <= "~" for character in key)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("k\n", "k"), ("k\r\n", "k"), ("k\r", "k"), ("k", "k"), ("k\n\n", "k\n"), ("", ""), ("\n", "")],
)
def test_one_line_end_is_no_part_of_the_text(text: str, expected: str) -> None:
    assert without_line_end(text) == expected
