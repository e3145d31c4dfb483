"""`explain`: one cause whole, or all of them, in the language of the one who asks."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer

from tests.acceptance.machine import Machine
from toolsync import causes
from toolsync.cli import app


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


NEAR = [
    ("drift", "Did you mean 'config_drift'? "),
    ("expired key", "Did you mean 'key_expired'? "),
    ("proxy", "There are: proxy_captures_loopback, proxy_in_the_way, proxy_unreachable, proxy_auth_required, "),
    ("key", ""),
    ("weather", ""),
    ("?", ""),
]


@pytest.mark.parametrize(("slug", "meant"), NEAR)
def test_causes_are_found_by_words_of_their_names(machine: Machine, slug: str, meant: str) -> None:
    ran = machine.toolsync("explain", slug)
    assert (ran.code, f"hint: {meant}" in ran.err, "`toolsync explain` lists them." in ran.err) == (2, True, True)


SAMPLES = {"profile": "work", "tool": "codex", "address": "https://relay.example/v1", "near": "m2", "needed": "120"}
WRITTEN = {"NAME": "TEAM_KEY", "FILE": "/etc/ssl/house.pem", "http://HOST:PORT": "http://proxy.example:3128"}
"""What a person puts in the place of the words in capitals."""


def _typed() -> list[str]:
    """Every command of ours that the sentences say to type, as a person would type it."""
    told = [cause.filled(SAMPLES) for cause in causes.every()]
    said = " ".join(f"{one.meaning} {one.evidence} {one.remedy}" for one in told)
    return [_written(command) for command in dict.fromkeys(re.findall("`toolsync ([^`]+)`", said))]


def _written(command: str) -> str:
    for word, meant in WRITTEN.items():
        command = re.sub(rf"\b{word}\b", meant, command)
    return command


@pytest.mark.parametrize("line", _typed())
def test_what_a_cause_says_to_type_can_be_typed(line: str) -> None:
    words = line.split()
    command: Any = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    assert command.make_context(line, words).params  # an unknown option or word would raise


@pytest.mark.parametrize("line", [line for line in _typed() if line.startswith("profile edit --set")])
def test_what_a_cause_says_to_set_can_be_set(machine: Machine, line: str) -> None:
    ran = machine.toolsync(*line.split())
    assert (ran.code, ran.err) == (0, "")
