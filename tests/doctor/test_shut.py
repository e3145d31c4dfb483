"""A file of the tool's that its own user cannot read: what opens it again, to whomever it belongs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import needs
from tests.doctor.home import Home
from toolsync.doctor.checks import CHECKS

SETTINGS = ".claude/settings.json"
NOBODY = 65534


def _said(home: Home) -> list[tuple[str, str]]:
    return [(one.cause, str(one.fix.text) if one.fix else "") for one in CHECKS["syntax"](home.look("claude-code"))]


@pytest.mark.parametrize(
    ("owner", "expected"),
    [(NOBODY, f"chmod u+rw ~/{SETTINGS}"), (0, f'sudo chown "$(id -un)" ~/{SETTINGS}')],
    ids=["one's own", "left by sudo"],
)
def test_what_opens_a_file_to_its_user(tmp_path: Path, owner: int, expected: str) -> None:
    needs(hasattr(os, "fork") and os.geteuid() == 0, "root, who can become another user")
    home = Home(tmp_path)
    home.write({SETTINGS: "{"})
    path = home.path(SETTINGS)
    assert _said(home) == [("config_parse_error", "")]  # all is loaded with it: another user may not reach the modules
    for folder in (home.project, *path.parents[:-1]):
        folder.chmod(folder.stat().st_mode | 0o055)
    os.chown(path, owner, owner)
    path.chmod(0o600 if owner == 0 else 0)
    outlet, inlet = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setresuid(NOBODY, NOBODY, NOBODY)
            os.write(inlet, repr(_said(home)).encode())
        finally:
            os._exit(0)
    os.close(inlet)
    with os.fdopen(outlet, encoding="utf-8") as said:
        assert said.read() == repr([("config_parse_error", expected)])
    os.waitpid(child, 0)


def test_a_folder_in_its_place_is_opened_by_no_command(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.path(SETTINGS).mkdir(parents=True)
    assert _said(home) == [("config_parse_error", "")]
