"""Patterns compiled at their first use do what compiled ones do."""

import re

import pytest

from toolsync.pattern import late


def test_it_finds_what_a_compiled_one_finds() -> None:
    pattern = late(r"(?P<word>[a-z]+)\d", re.IGNORECASE)
    found = pattern.search("..AB1..")
    assert found is not None
    assert found["word"] == "AB"
    assert [pattern.sub("-", text) for text in ("x1y2", "none")] == ["--", "none"]
    assert pattern.pattern == r"(?P<word>[a-z]+)\d"
    assert pattern.groups == 1


def test_a_mistake_shows_at_the_first_use() -> None:
    pattern = late(rb"(")
    with pytest.raises(re.error):
        pattern.match(b"")
