"""The demonstration: in a process, with an empty home and a PATH that finds nothing."""

from __future__ import annotations

import re
from pathlib import Path

from tests.acceptance.machine import Machine
from toolsync.commands import demo


def test_the_demonstration_needs_nothing_and_leaves_nothing(machine: Machine, tmp_path: Path) -> None:
    machine.config.unlink()
    folder = tmp_path / "temporary"
    folder.mkdir()
    with machine.untouched():
        ran = machine.child("demo", TMPDIR=str(folder))
    assert ran.said == (0, "")
    assert list(folder.iterdir()) == []
    told = re.sub(r"127\.0\.0\.1:\d+", "GATEWAY", ran.out)
    commands = [line.removeprefix("$ toolsync ") for line in told.splitlines() if line.startswith("$ toolsync ")]
    assert commands == [
        "init work --base-url http://GATEWAY/api --model demo-model",
        "key set",
        "diff",
        "apply --yes",
        "status",
        "profile edit --set base_url=http://GATEWAY/api/v2/nowhere",
        "apply --yes",
        "profile edit --set base_url=http://GATEWAY/api",
        "ping",
        "undo --yes",
    ]
    slip = "\nA slip in the address:\n\n$ toolsync profile edit --set base_url=http://GATEWAY/api/v2/nowhere\n"
    assert f"{slip}~/.config/toolsync/profile.toml is saved.\n" in told
    assert "Applied profile 'work': 1 file created, 4 files changed." in told
    assert "error: http://GATEWAY/api/v2/nowhere/v1/messages (claude-code): nothing answers there (404)" in told
    assert told.endswith("4 files, every byte as it was. The gateway answered 9 requests; nothing left this machine.\n")
    assert demo._KEY not in ran.out


def test_it_fails_if_the_home_is_not_what_it_was() -> None:
    assert demo._ending({"a": b"1", "b": b"2"}, {"a": b"1", "c": b""}, asked=0).exit_code == 1
