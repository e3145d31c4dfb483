"""A shell in the home folder itself: what a project's file would be there is the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doctor.home import KEY, Home
from toolsync.doctor.steering import kept


class AtHome(Home):
    @property
    def project(self) -> Path:
        return self.home


class ByLink(AtHome):
    """`HOME` is a link, and the shell says where it leads."""

    @property
    def home(self) -> Path:
        return self.place / "link"

    @property
    def project(self) -> Path:
        return self.place / "home"


def test_the_users_own_file_is_no_projects_file(tmp_path: Path) -> None:
    home = AtHome(tmp_path)
    settings = {"apiKeyHelper": f"echo {KEY}", "env": {"ANTHROPIC_BASE_URL": "https://gw.example/api"}}
    home.write({".claude/settings.json": json.dumps(settings)})
    look = home.look("claude-code")
    assert [one.layer.name for one in look.layers if one.state == "read"] == ["user"]
    assert [key.value.reveal() for key in look.effective.credentials if key.value] == [KEY, KEY]


@pytest.mark.parametrize("kind", [AtHome, ByLink])
def test_a_file_that_would_be_a_projects_is_the_users_own_there(tmp_path: Path, kind: type[Home]) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to("home")
    home = kind(tmp_path)
    settings = {"apiKeyHelper": "sh bin/show-key", "env": {"ANTHROPIC_BASE_URL": "https://gw.example/api"}}
    home.write({".claude/settings.local.json": json.dumps(settings), "bin/show-key": f"echo {KEY}"})
    look = home.look("claude-code")
    assert [key.value.reveal() for key in look.effective.credentials if key.value] == [KEY, KEY]
    assert kept(look, None) is None


def test_a_folder_below_is_a_project_all_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write({"project/.claude/settings.local.json": json.dumps({"apiKeyHelper": f"echo {KEY}"})})
    assert (kept(home.look("claude-code"), None) or ("",))[0] == "helper_of_project"
