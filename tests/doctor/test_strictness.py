"""A file that its tool drops whole for one field: which, with what certainty, and what counts without the file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.home import DEMO, Home, demo
from toolsync.doctor.checks import findings
from toolsync.doctor.diagnosis import diagnosis, is_blocked
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding
from toolsync.errors import TemplateError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs of these tests are shell scripts")

OWN, PROJECTS = ".claude/settings.json", "project/.claude/settings.json"
TRIED, NEWER = "2.1.332 (Claude Code)", "2.1.400 (Claude Code)"
ENV = {"ANTHROPIC_BASE_URL": "https://gw.example/api", "ANTHROPIC_AUTH_TOKEN": "none", "ANTHROPIC_MODEL": "m"}
MARK = "what-nobody-is-shown"


def _look(place: Path, version: str, files: dict[str, dict[str, Any]]) -> Look:
    home = Home(place, environ={"PATH": f"{place / 'bin'}:/usr/bin:/bin"})
    home.write({name: json.dumps(data, indent=1) for name, data in files.items()})
    if version:
        program = place / "bin" / "claude"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho '{version}'\n")
        program.chmod(0o755)
    return home.look("claude-code")


def _broken(look: Look) -> list[Finding]:
    return [one for one in findings(look) if one.cause == "config_parse_error"]


FIELDS: dict[str, tuple[dict[str, Any], str, str]] = {  # what stands beside ours; what is named, and what of it is said
    "a kind": ({"statusLine": MARK}, "statusLine", "not what belongs there: object"),
    "two kinds": ({"attribution": MARK}, "attribution", "object | boolean"),
    "one of several": ({"permissions": {"defaultMode": MARK}}, "permissions.defaultMode", "acceptEdits | auto"),
    "a bound": ({"cleanupPeriodDays": 0}, "cleanupPeriodDays", ">= 1"),
    "what is missing": (
        {"hooks": {"Stop": [{"hooks": []}, {"command": MARK}]}},
        "hooks.Stop[1].hooks",
        "`hooks.Stop[1].hooks` is missing",
    ),
    "the nearer of two": ({"model": 5, "hooks": {"Stop": [{}]}}, "model", "string"),
}


@pytest.mark.parametrize(("fields", "slot", "said"), FIELDS.values(), ids=FIELDS)
def test_the_field_is_named_with_what_belongs_there_and_never_what_stands_there(
    tmp_path: Path, fields: dict[str, Any], slot: str, said: str
) -> None:
    (one,) = _broken(_look(tmp_path, TRIED, {OWN: {"env": ENV, **fields}}))
    words = " ".join(map(str, (*one.evidence, one.fix.text if one.fix else "")))
    assert one.where is not None
    assert (one.certainty, one.severity, one.where.slot) == ("sure", "error", slot)
    assert said in words
    assert f"~/.claude/settings.json:{one.where.line}" in words
    assert MARK not in words


def test_the_line_is_that_of_the_field_or_of_what_lacks_it(tmp_path: Path) -> None:
    look = _look(tmp_path, TRIED, {OWN: {"hooks": {"Stop": [{"matcher": "x"}]}, "env": ENV}})
    text = (tmp_path / "home" / OWN).read_text().splitlines()
    where = _broken(look)[0].where
    assert where is not None
    assert where.line is not None
    assert text[where.line - 1 :][:2] == ["   {", '    "matcher": "x"']


def test_nothing_of_such_a_file_counts_and_nobody_is_asked(tmp_path: Path) -> None:
    look = _look(tmp_path, TRIED, {OWN: {"env": ENV, "model": 5}})
    found = findings(look)
    assert (found[0].cause, look.found["base_url"].layer, is_blocked(found)) == ("config_parse_error", "", True)


@pytest.mark.parametrize("fields", [{"unknown": 5}, {"hooks": {"Unknown": 5}}, {"env": {**ENV, "X": 1}}])
@pytest.mark.parametrize("version", [TRIED, NEWER, ""])
def test_what_the_tool_passes_over_is_no_finding(tmp_path: Path, version: str, fields: dict[str, Any]) -> None:
    look = _look(tmp_path, version, {OWN: {"env": ENV, **fields}})
    assert (_broken(look), look.effective.base_url) == ([], ENV["ANTHROPIC_BASE_URL"])


@pytest.mark.parametrize("version", [NEWER, "", "2.1.33"], ids=["newer", "not there", "older"])
def test_of_another_version_a_wrong_kind_is_said_with_a_doubt_and_the_file_counts(tmp_path: Path, version: str) -> None:
    look = _look(tmp_path, version, {OWN: {"env": ENV, "statusLine": "x"}})
    (one,) = found = _broken(look)
    assert (one.certainty, one.severity, is_blocked(found)) == ("likely", "warning", False)
    assert look.effective.base_url == ENV["ANTHROPIC_BASE_URL"]
    assert diagnosis(look.effective, found, None).state == "warning"


@pytest.mark.parametrize("fields", [{"permissions": {"defaultMode": "new"}}, {"cleanupPeriodDays": 0}])
def test_of_another_version_a_new_value_of_the_kind_is_no_finding(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert _broken(_look(tmp_path, NEWER, {OWN: {"env": ENV, **fields}})) == []


def test_of_another_version_a_file_that_says_nothing_of_the_gateway_is_no_finding(tmp_path: Path) -> None:
    assert _broken(_look(tmp_path, NEWER, {OWN: {"env": ENV}, PROJECTS: {"statusLine": "x"}})) == []


def test_a_projects_file_is_dropped_alone(tmp_path: Path) -> None:
    theirs = {"env": {"ANTHROPIC_MODEL": "theirs"}, "statusLine": "x"}
    look = _look(tmp_path, TRIED, {OWN: {"env": ENV}, PROJECTS: theirs})
    (one,) = _broken(look)
    assert (one.severity, look.effective.model) == ("warning", "m")


@pytest.mark.parametrize("version", [TRIED, NEWER])
def test_an_organisations_file_counts_all_the_same(tmp_path: Path, version: str) -> None:
    """Claude Code 2.1.332 passes over the one field of it."""
    theirs = {"env": {"ANTHROPIC_MODEL": "theirs"}, "statusLine": "x"}
    look = _look(tmp_path, version, {OWN: {"env": ENV}, "/etc/claude-code/managed-settings.json": theirs})
    assert (_broken(look), look.effective.model) == ([], "theirs")


STRICT = """
[[layer]]
name = "user"
overlay = "settings.json"
[[layer]]
name = "shell"
environment = "env"
[strict]
schema = "strict.json"
version = "1"
layers = ["{layer}"]
"""


def test_strict_layers_are_files_of_the_tool() -> None:
    assert demo(DEMO + STRICT.replace("{layer}", "user"), strict__json="{}").strict is not None
    with pytest.raises(TemplateError, match=r"strict: no \[\[layer\]\] that is a file is called 'shell'"):
        demo(DEMO + STRICT.replace("{layer}", "shell"), strict__json="{}")
