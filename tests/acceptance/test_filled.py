"""A file that `env` filled holds the key for as long as it is there: rotations and `check` know of it."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.check.planted import SHAPED
from tests.keys import invented
from toolsync.masking import Secret
from toolsync.secret import filled

NEW = invented("filled-new")
FILE = "svc/.env"


def _filled(machine: Machine, monkeypatch: pytest.MonkeyPatch, name: str = FILE) -> Path:
    path = machine.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        monkeypatch.context() as patch,
        os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out,
    ):
        patch.setattr(sys, "stdout", out)
        assert machine.toolsync("env", "--shell", "dotenv", "--tool", "claude-code").code == 0
    return path


@pytest.fixture
def keyed(machine: Machine) -> Machine:
    machine.profile()
    machine.vault.set("work", Secret(KEY))
    return machine


def _rotated(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The problems, each with what ends it."""
    monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
    ran = machine.toolsync("key", "rotate", "--stdin", "--yes", "--no-ping", "--json")
    return [(one["text"], one["hint"]) for one in ran.json["messages"] if one["level"] == "problem"]


@pytest.mark.parametrize(("name", "kind"), [(FILE, "filled"), (".env", "settings"), ("project/.env", "project")])
def test_a_rotation_names_it_until_it_is_filled_anew(
    keyed: Machine, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    path = _filled(keyed, monkeypatch, name)
    assert keyed.toolsync("check").code == 0, "its owner wanted it so"
    ((said, hint),) = _rotated(keyed, monkeypatch)
    place = f"~/{name} (line 2)"
    assert said == f"the old key still stands in {place}"
    assert hint == f"`toolsync env` wrote it into {place}: take the old lines out, and run the same command again."
    (one,) = keyed.toolsync("check", "--json").json["data"]["findings"]
    assert (one["kind"], one["agreed"]) == (kind, False)
    assert one["advice"].startswith("`toolsync env` wrote it there: take the old lines out")
    _filled(keyed, monkeypatch, name)
    assert NEW in path.read_text(encoding="utf-8")
    assert keyed.toolsync("check").code == 0


def test_what_toolsync_did_not_write_is_said_beside(keyed: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    _filled(keyed, monkeypatch)
    keyed.write(".bashrc", f"export X_KEY={KEY}\n")
    keyed.write(".claude/settings.json", "{}\n")
    assert keyed.toolsync("apply", "--yes", "--no-ping").code == 0
    ((_, hint),) = _rotated(keyed, monkeypatch)
    assert hint.endswith("again. Elsewhere toolsync remembers no writing of it: put the new key there, or take it out.")


@pytest.mark.parametrize("name", [FILE, "project/.env"])
def test_others_must_not_read_it(keyed: Machine, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from toolsync.commands.leaks import exposing

    path = _filled(keyed, monkeypatch, name)
    path.chmod(0o644)
    monkeypatch.setattr(exposing, "_reachable", lambda _, who: who)
    (one,) = keyed.toolsync("check", "--json").json["data"]["findings"]
    assert (one["agreed"], one["fixes"]) == (False, ["mode"])
    assert one["advice"].startswith("`toolsync env` wrote it there; `toolsync check --fix` keeps others from it.")


@pytest.mark.parametrize("name", ["notes.env", ".bashrc", "project/.env"])
def test_what_else_stands_in_it_is_judged_as_before(keyed: Machine, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """`env >> FILE`: other lines are their owner's, and no consent was given for keys in them."""
    other = SHAPED["anthropic"]
    path = keyed.write(name, f"export A={other}\n")
    path.chmod(0o600)
    with monkeypatch.context() as patch, path.open("a", encoding="utf-8") as out:
        patch.setattr(sys, "stdout", out)
        assert keyed.toolsync("env", "--shell", "sh", "--tool", "claude-code").code == 0
    found = keyed.toolsync("check", "--json").json["data"]["findings"]
    assert {one["secret"]["shape"] or one["secret"]["name"]: one["agreed"] for one in found} == {
        "anthropic": False,
        "keyring:work": True,
    }
    assert other in path.read_text(encoding="utf-8")


def test_one_that_is_gone_is_forgotten(keyed: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    _filled(keyed, monkeypatch).unlink()
    assert _rotated(keyed, monkeypatch) == []
    _filled(keyed, monkeypatch, "other")
    kept = json.loads((keyed.state / filled.FILE).read_text(encoding="utf-8"))
    assert kept == {"schema": "toolsync/filled/1", "files": [str(keyed.home / "other")]}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"files": 1}', '{"files": [1, "relative", "/nowhere"]}', "[" * 9999]
)
def test_what_is_kept_may_be_damaged(keyed: Machine, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    keyed.state.mkdir(parents=True, exist_ok=True)
    (keyed.state / filled.FILE).write_text(content, encoding="utf-8")
    assert filled.recorded(keyed.state) == ()
    path = _filled(keyed, monkeypatch)
    assert filled.recorded(keyed.state) == (path,)


def test_uninstall_leaves_no_list_of_them(keyed: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    _filled(keyed, monkeypatch)
    ran = keyed.toolsync("uninstall", "--yes", "--remove-keys", "--json")
    assert f"~/{FILE}" in {one["name"] for one in ran.json["data"]["left"]}
    assert not (keyed.state / filled.FILE).exists()
