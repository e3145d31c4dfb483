"""`check` on a home in which keys lie about: each is found where it is, and nothing that only looks like one."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.check.planted import HEADER, LEAKS, LOOKALIKES, REPLACED, SHAPED, Leak, plant, plant_lookalikes
from tests.keys import MARK
from toolsync.commands.leaks.sought import shapes
from toolsync.leaks import Finder
from toolsync.masking import mask_key_shapes


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    inside = re.sub(r"(commit|object) [0-9a-f]{7,}(, to which no commit leads any more)?$", r"\1", one["inside"])
    secret = one["secret"]["name"] if one["secret"]["is_known"] else one["secret"]["shape"]
    return one["shown"], secret, one["kind"], one["line"], inside, one["secret"]["spelling"]


def _expected(leak: Leak) -> tuple[object, ...]:
    return f"~/{leak.file}", leak.secret, leak.kind, leak.line, leak.inside, leak.spelling


def test_every_leak_is_found_where_it_is_and_no_key_is_shown(furnished: Machine) -> None:
    plant(furnished)
    with furnished.untouched():
        ran = furnished.toolsync("check", "--json")
    found = {_row(one) for one in ran.json["data"]["findings"]}
    assert {leak.name: _expected(leak) for leak in LEAKS if _expected(leak) not in found} == {}
    assert found == {_expected(leak) for leak in LEAKS}
    assert ran.code == 1
    texts = [ran.out, furnished.toolsync("check").out, furnished.toolsync("check", "--sarif").out]
    for key in (KEY, REPLACED, HEADER, MARK, *SHAPED.values()):
        assert [key in text for text in texts] == [False] * 3


def test_nothing_is_found_that_only_looks_like_a_key(furnished: Machine) -> None:
    plant_lookalikes(furnished)
    ran = furnished.toolsync("check", "--json")
    looked = ran.json["data"]["looked_at"]["files"]
    assert ran.json["data"]["findings"] == []
    assert ran.json["data"]["not_looked_at"] == []
    assert (ran.code, looked > 3 * len(LOOKALIKES)) == (0, True)


def test_there_are_enough_of_both() -> None:
    assert len({leak.name for leak in LEAKS}) == len(LEAKS) >= 25
    assert len(LOOKALIKES) >= 25


@pytest.mark.parametrize("text", LOOKALIKES.values(), ids=LOOKALIKES)
def test_what_looks_like_a_key_is_none(text: str) -> None:
    assert Finder((), shapes(), time.time()).hits(text.encode()) == []


@pytest.mark.parametrize(("name", "key"), SHAPED.items(), ids=SHAPED)
@pytest.mark.parametrize(
    "around",
    [
        '"{}"',
        "K={}\n",
        "({})",
        "\\n{}\\n",
        "%22{}%22",
        "\x1b[31m{}\x1b[0m",
        "\\u001b[1;31m{}\\u001b[0m",
        "{}",
        "://u:{}@h",
    ],
)
def test_every_shape_is_found_in_what_stands_around_it(name: str, key: str, around: str) -> None:
    hits = Finder((), shapes(), time.time()).hits(around.format(key).encode())
    assert [(hit.secret.name, hit.value) for hit in hits] == [(name, key)]


@pytest.mark.parametrize("key", SHAPED.values(), ids=SHAPED)
def test_every_shape_is_masked_in_what_is_said(key: str) -> None:
    assert mask_key_shapes(f"there is no profile '{key}'; try again") == "there is no profile '***'; try again"
