"""Keys that a repository allows where they stand: invented ones, and public ones; never one that is kept."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.check.planted import SHAPED
from tests.gitguard.conftest import Home
from toolsync.commands.leaks import looking

ALLOW, PUBLIC = "project/.toolsync-allow", "project/app/google-services.json"


@pytest.fixture
def project(furnished: Machine) -> Machine:
    """A repository with a public key of Google's, and the same in another file."""
    home = Home(furnished.home)
    home.repository("project")
    for name in (PUBLIC, "project/other.json"):
        furnished.write(name, f'{{"current_key": "{SHAPED["google"]}"}}\n')
    home.git("project", "add", ".")
    home.git("project", "commit", "-q", "-m", "x")
    return furnished


def _left(machine: Machine, *more: str) -> set[str]:
    return {one["shown"] for one in machine.toolsync("check", "--json", *more).json["data"]["findings"]}


ALL = {f"~/{PUBLIC}", "~/project/other.json"}


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        ("", ALL),
        ("app/google-services.json", {"~/project/other.json"}),
        ("# public\n\n*google-services.json: google\n", {"~/project/other.json"}),
        ("*: google", set()),
        ("*:google", set()),
        ("*: aws", ALL),
        ("google-services.json", {"~/project/other.json"}),
        ("/app/google-services.json: google  # Google's own word", {"~/project/other.json"}),
        ("./app/", {"~/project/other.json"}),
        ("app", {"~/project/other.json"}),
        ("**/google-services.json", {"~/project/other.json"}),
        ("**/other.json\n/other.js", {f"~/{PUBLIC}"}),
        ("\ufeffapp/*.json: google", {"~/project/other.json"}),
        ("*.txt", ALL),
    ],
)
def test_what_the_file_allows_is_passed_over(project: Machine, rules: str, left: set[str]) -> None:
    project.write(ALLOW, rules)
    ran = project.toolsync("check")
    assert _left(project) == left
    assert ran.code == (1 if left else 0)
    assert ("allowed by ~/project/.toolsync-allow" in ran.out) == (left != ALL)


def test_a_commit_of_it_goes_by(project: Machine) -> None:
    project.write(PUBLIC, f'{{"current_key": "{SHAPED["google"]}", "more": 1}}\n')
    Home(project.home).git("project", "add", ".")
    said = project.toolsync("check", "--staged")
    assert (said.code, "or its file's name in `.toolsync-allow`" in said.out) == (1, True)
    project.write(ALLOW, "app/*: google\n")
    assert project.toolsync("check", "--staged").code == 0


def test_a_key_that_is_kept_is_never_allowed(project: Machine) -> None:
    project.write("project/app/own.json", f'"{KEY}"')
    project.write(ALLOW, "*\n")
    assert _left(project) == {"~/project/app/own.json"}


def test_what_is_allowed_keeps_no_finding_out(project: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "_MOST_FINDINGS", 1)
    project.write("project/zzz.json", f'"{KEY}"')
    project.write(ALLOW, "*: google\n")
    assert _left(project) == {"~/project/zzz.json"}


def test_no_way_is_named_that_does_not_work(project: Machine) -> None:
    home = Home(project.home)
    home.git("project", "commit", "-q", "--allow-empty", "-m", f"see {SHAPED['google']}")
    found = project.toolsync("check", "--json").json["data"]["findings"]
    named = {one["inside"].split()[0] if one["inside"] else "": "toolsync: allow" in one["advice"] for one in found}
    assert named == {"": True, "message": False}


def test_a_shape_that_is_none_is_said(project: Machine) -> None:
    project.write(ALLOW, "*: googel\n")
    messages: list[dict[str, Any]] = project.toolsync("check", "--json").json["messages"]
    (one,) = [one for one in messages if "toolsync-allow" in one["text"]]
    assert one["text"] == "~/project/.toolsync-allow:1: no shape of keys is called 'googel'"
    assert "google" in one["hint"]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"*: google\r\n", b"[", b"\0"])
def test_the_file_may_hold_anything(project: Machine, content: bytes) -> None:
    project.write(ALLOW, content)
    assert project.toolsync("check").code in (0, 1)


def test_a_folder_in_its_place_is_said(project: Machine) -> None:
    (project.home / ALLOW).mkdir()
    ran = project.toolsync("check")
    assert (ran.code, ".toolsync-allow" in ran.out + ran.err) == (1, True)
