"""`explain`: one cause whole, or all of them, in the language of the one who asks."""

from __future__ import annotations

import re

from tests.acceptance.machine import Machine
from toolsync import causes


def test_explain_says_what_it_is_what_shows_it_and_what_to_do(machine: Machine) -> None:
    told = causes.named("path_missing_v1").filled()
    ran = machine.toolsync("explain", "path-missing-v1", "--lang", "en")
    assert (ran.code, ran.err) == (0, "")
    for sentence in (f"path_missing_v1: {told.title} (error)", told.meaning, told.evidence, told.remedy):
        assert sentence in ran.out


def test_explain_speaks_as_the_environment_does(machine: Machine) -> None:
    machine.environ["LC_ALL"] = "zh_CN.UTF-8"
    assert causes.named("key_invalid", "zh").filled().remedy in machine.toolsync("explain", "key_invalid").out
    assert "The key" in machine.toolsync("explain", "--lang", "en").out.splitlines()


def test_explain_alone_lists_every_cause_once(machine: Machine) -> None:
    listed = re.findall(r"(?m)^  ([a-z0-9_]+)  ", machine.toolsync("explain", "--lang", "en").out)
    assert listed == [cause.slug for cause in causes.every()]
    assert [one["slug"] for one in machine.toolsync("explain", "--json").json["data"]["causes"]] == [
        cause.slug for cause in causes.every()
    ]


def test_a_slip_of_the_pen_is_guessed(machine: Machine) -> None:
    ran = machine.toolsync("explain", "key_invald")
    assert ran.code == 2
    assert "Did you mean 'key_invalid'?" in ran.err
