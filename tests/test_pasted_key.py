"""A key pasted where a name belongs is never said back: what people see is copied into tickets and logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.keys import MARK, invented
from toolsync.__main__ import main
from toolsync.masking import Secret

KEY = invented("pasted")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((KEY,), id="command"),
        pytest.param(("apply", "--tool", KEY), id="tool"),
        pytest.param(("apply", "--profile", KEY), id="profile"),
        pytest.param(("apply", KEY), id="argument"),
        pytest.param(("apply", f"--{KEY}"), id="option"),
        pytest.param(("use", KEY), id="use"),
        pytest.param(("profile", "rename", "work", KEY), id="rename"),
        pytest.param(("init", KEY, "--base-url", "https://h", "--model", "m"), id="init"),
        pytest.param(("init", "new", "--gateway", KEY), id="gateway"),
        pytest.param(("init", "new", "--base-url", "https://h", "--model", KEY), id="model"),
        pytest.param(("init", "new", "--base-url", "https://h", "--model", "m", "--key-from", KEY), id="key"),
        pytest.param(("profile", "edit", "--set", f"key={KEY}"), id="edit"),
        pytest.param(("profile", "edit", "--set", KEY), id="setting"),
        pytest.param(("key", "print", KEY), id="print"),
        pytest.param(("key", "remove", KEY, "--yes"), id="remove"),
        pytest.param(("schema", KEY), id="schema"),
    ],
)
@pytest.mark.parametrize("json", [(), ("--json",)], ids=["text", "json"])
def test_a_pasted_key_is_not_said_back(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    json: tuple[str, ...],
) -> None:
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.delenv("TOOLSYNC_CONFIG", raising=False)
    assert main(("init", "work", "--base-url", "https://h", "--model", "m", "--key-from", "env:A_KEY")) == 0
    Secret(invented("another"))  # is known, and ends as the pasted one does
    before = (tmp_path / "toolsync/profile.toml").read_bytes()
    assert main((*arguments, *json)) == 2
    said = capfd.readouterr()
    assert MARK not in said.out + said.err
    assert (tmp_path / "toolsync/profile.toml").read_bytes() == before
