"""A shell in the home folder itself: what a project's file would be there is the user's own."""

from __future__ import annotations

import json
from pathlib import Path

from tests.doctor.home import KEY, Home


class AtHome(Home):
    @property
    def project(self) -> Path:
        return self.home


def test_the_users_own_file_is_no_projects_file(tmp_path: Path) -> None:
    home = AtHome(tmp_path)
    settings = {"apiKeyHelper": f"echo {KEY}", "env": {"ANTHROPIC_BASE_URL": "https://gw.example/api"}}
    home.write({".claude/settings.json": json.dumps(settings)})
    look = home.look("claude-code")
    assert [one.layer.name for one in look.layers if one.state == "read"] == ["user"]
    assert [key.value.reveal() for key in look.effective.credentials if key.value] == [KEY, KEY]
