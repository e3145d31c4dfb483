"""Keys in commits that were taken back before anybody had them: said as it is, with what makes git forget them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.gitguard.conftest import Home

BACK: dict[str, Sequence[Sequence[str]]] = {
    "reset": [["reset", "-q", "--hard", "HEAD~1"]],
    "amended": [["rm", "-q", "a.txt"], ["commit", "-q", "--amend", "--allow-empty", "-m", "better"]],
    "its branch deleted": [["checkout", "-q", "-"], ["branch", "-q", "-D", "side"]],
}


@pytest.fixture
def home(furnished: Machine) -> Home:
    found = Home(furnished.home)
    found.repository("project")
    furnished.write("project/b.txt", "1\n")
    found.git("project", "add", ".")
    found.git("project", "commit", "-q", "-m", "one")
    for number in (1, 2):
        furnished.write("project/b.txt", f"stash {number}\n")
        found.git("project", "stash", "-q")
    return found


def _committed(machine: Machine, home: Home) -> None:
    machine.write("project/a.txt", f"{KEY}\n")
    home.git("project", "add", ".")
    home.git("project", "commit", "-q", "-m", "oops")


def _commands(finding: Mapping[str, Any]) -> list[str]:
    return re.findall(r"`([^`]+)`", finding["advice"])


def _ran(machine: Machine, command: str) -> str:
    environ = {**machine.environ, "HOME": str(machine.home), "GIT_CONFIG_NOSYSTEM": "1"}
    ran = subprocess.run(
        ["sh", "-c", command], check=True, env=environ, cwd=machine.home, capture_output=True, text=True
    )
    return ran.stdout


@pytest.mark.parametrize("back", BACK.values(), ids=BACK)
def test_a_commit_that_was_taken_back_is_in_no_clone(
    furnished: Machine, home: Home, back: Sequence[Sequence[str]]
) -> None:
    if "side" in back[-1]:
        home.git("project", "checkout", "-q", "-b", "side")
    _committed(furnished, home)
    for words in back:
        home.git("project", *words)
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert one["inside"].endswith(", to which only the reflog leads")
    assert "no clone has it, if it was not pushed before that" in one["advice"]
    first, second, *_ = _commands(one)
    assert second == f"{first.split(' reflog')[0]} gc --prune=now"
    assert "refs/stash" in first
    _ran(furnished, first)
    _ran(furnished, second)
    assert furnished.toolsync("check").code == 0
    assert len(home.git("project", "stash", "list").splitlines()) == 2, "nothing else goes"


def _forgotten(machine: Machine) -> None:
    (one,) = machine.toolsync("check", "--json").json["data"]["findings"]
    assert one["inside"].endswith(", to which only the reflog leads")
    for command in _commands(one)[:2]:
        _ran(machine, command)
    assert machine.toolsync("check").code == 0


def test_one_that_was_pushed_and_taken_back_by_force(furnished: Machine, home: Home) -> None:
    home.git("", "init", "-q", "--bare", "origin.git")
    home.git("project", "remote", "add", "origin", str(furnished.home / "origin.git"))
    _committed(furnished, home)
    home.git("project", "push", "-q", "origin", "HEAD:main")
    home.git("project", "reset", "-q", "--hard", "HEAD~1")
    home.git("project", "push", "-q", "--force", "origin", "HEAD:main")
    _forgotten(furnished)


@pytest.mark.parametrize("folder", ["project", "linked"], ids=["in the main work tree", "in the linked one"])
def test_one_of_another_work_tree(furnished: Machine, home: Home, folder: str) -> None:
    home.git("project", "worktree", "add", "-q", "-b", "other", "../linked")
    furnished.write("linked/a.txt", f"{KEY}\n")
    home.git("linked", "add", ".")
    home.git("linked", "commit", "-q", "-m", "oops")
    home.git("linked", "reset", "-q", "--hard", "HEAD~1")
    if folder == "linked":
        furnished.project.rename(furnished.home / "main")
        home.git("main", "worktree", "repair")
        (furnished.home / "linked").rename(furnished.project)
        home.git("main", "worktree", "repair", str(furnished.project))
    _forgotten(furnished)


def test_an_older_stash_is_one_too(furnished: Machine, home: Home) -> None:
    for text in (KEY, "mine"):
        furnished.write("project/b.txt", f"{text}\n")
        home.git("project", "stash", "-q")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert one["inside"].endswith(", to which stash@{1} leads")
    _, dropping, *_ = _commands(one)
    _ran(furnished, dropping)
    assert "mine" in home.git("project", "stash", "show", "-p", "stash@{0}"), "the other one stays"
    assert len(home.git("project", "stash", "list").splitlines()) == 3


HELD: dict[str, Sequence[Sequence[str]]] = {
    # what comes after the commit with the key: it is in a branch's past all the while
    "amended, and removed later": [["commit", "-q", "--amend", "-m", "better"]],
    "picked to another branch": [["checkout", "-q", "-b", "f", "HEAD~1"], ["cherry-pick", "-"], ["branch", "-D", "-"]],
    "removed, and in a stash": [],
}


@pytest.mark.parametrize("steps", HELD.values(), ids=HELD)
def test_what_is_in_a_branchs_past_is_in_every_clone(
    furnished: Machine, home: Home, steps: Sequence[Sequence[str]]
) -> None:
    home.git("project", "checkout", "-q", "-b", "first")
    _committed(furnished, home)
    for words in steps:
        home.git("project", *["first" if word == "-" else word for word in words])
    home.git("project", "rm", "-q", "a.txt")
    home.git("project", "commit", "-q", "-m", "removed")
    if not steps:
        furnished.write("project/b.txt", f"{KEY}\n")
        home.git("project", "stash", "-q")
    advice = [one["advice"] for one in furnished.toolsync("check", "--json").json["data"]["findings"]]
    assert [text for text in advice if "no clone has it" in text.lower()] == []
    assert [text for text in advice if "in every clone" in text] == advice


def test_what_a_branch_leads_to_as_well_is_in_every_clone(furnished: Machine, home: Home) -> None:
    _committed(furnished, home)
    home.git("project", "tag", "kept")
    home.git("project", "reset", "-q", "--hard", "HEAD~1")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert "in every clone" in one["advice"]
    assert re.fullmatch("commit [0-9a-f]+", one["inside"])


def test_a_stash_is_in_no_clone(furnished: Machine, home: Home) -> None:
    furnished.write("project/b.txt", f"{KEY}\n")
    furnished.write("project/new.txt", "mine\n")
    home.git("project", "stash", "-q", "--include-untracked")
    home.git("project", "config", "stash.showPatch", "true")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert one["inside"].endswith(", to which stash@{0} leads")
    showing, dropping, *_ = _commands(one)
    assert _ran(furnished, showing).split() == ["b.txt", "new.txt"], "names alone: what it prints stays in the terminal"
    assert "the numbers change" in one["advice"]
    _ran(furnished, dropping)
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    clearing, *_ = _commands(one)
    _ran(furnished, clearing)
    assert furnished.toolsync("check").code == 0
    assert len(home.git("project", "stash", "list").splitlines()) == 2


@pytest.mark.parametrize("content", ["clean\n", None], ids=["changed", "gone"])
def test_what_is_staged_alone_goes_by_the_command(content: str | None, furnished: Machine, home: Home) -> None:
    file = furnished.write("project/new file.txt", f"{KEY}\n")
    home.git("project", "add", ".")
    file.unlink() if content is None else file.write_text(content, encoding="utf-8")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["inside"], one["exposed"]) == ("index", ["tracked"])
    _ran(furnished, _commands(one)[0])
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert "to which no commit leads" in one["inside"]
    assert (file.read_text(encoding="utf-8") if content else content) == content


def test_of_the_files_of_a_home_the_commands_name_the_bare_repository(furnished: Machine, home: Home) -> None:
    del home
    git = f"git --git-dir={furnished.home}/.dotfiles --work-tree={furnished.home}"
    who = "-c user.name=a -c user.email=a@b"
    furnished.write(".profile", f"export K={KEY}\n")
    add, commit = f"{git} add .profile", f"{git} {who} commit -q -m"
    _ran(furnished, f"git init -q --bare .dotfiles && {add} && {commit} one && {git} rm -q --cached .profile")
    _ran(furnished, f"rm .profile && touch .profile && {add} && {git} {who} commit -q --amend -m two")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    for command in [command for command in _commands(one) if not command.startswith("toolsync ")]:
        assert command.startswith(git)
        _ran(furnished, command)
    assert furnished.toolsync("check").code == 0
