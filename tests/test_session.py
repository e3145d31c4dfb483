"""What a session takes for the user's own places."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolsync.session import this_machine


@pytest.mark.parametrize(
    ("made", "project", "expected"),
    [
        pytest.param("repo/.git", "repo/a/b", "repo", id="below-its-root"),
        pytest.param("repo/.git", "repo", None, id="its-root"),
        pytest.param("repo/inner/.git", "repo/inner/a", "repo/inner", id="the-innermost"),
        pytest.param("other", "repo/a", None, id="none"),
    ],
)
def test_the_repository_around_the_project(tmp_path: Path, made: str, project: str, expected: str | None) -> None:
    (tmp_path / made).mkdir(parents=True)
    (tmp_path / project).mkdir(parents=True, exist_ok=True)
    found = this_machine(tmp_path / project).repository
    assert found == (None if expected is None else tmp_path / expected)
