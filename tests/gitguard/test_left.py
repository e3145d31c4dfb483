"""A link that leads out of a repository: which do, and which only seem to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.gitguard.conftest import Home
from toolsync import gitguard


class Way(NamedTuple):
    """Links by name, the path that is asked for, and the repository that is left."""

    links: Mapping[str, str]
    path: str
    left: str | None


WAYS = {
    "no link": Way({}, "one/settings.json", None),
    "a link outside": Way({"settings.json": "plain/settings.json"}, "settings.json", None),
    "a link into a repository": Way({"settings.json": "one/settings.json"}, "settings.json", None),
    "a linked folder into a repository": Way({"tool": "one"}, "tool/settings.json", None),
    "a link within": Way({"one/settings.json": "one/real.json"}, "one/settings.json", None),
    "a link out": Way({"one/settings.json": "plain/settings.json"}, "one/settings.json", "one"),
    "a dangling link out": Way({"one/settings.json": "nowhere/settings.json"}, "one/settings.json", "one"),
    "a linked folder out": Way({"one/tool": "plain"}, "one/tool/settings.json", "one"),
    "out, into another repository": Way({"one/settings.json": "two/settings.json"}, "one/settings.json", "one"),
    "out, into a folder that is a repository": Way({"one/tool": "two"}, "one/tool/settings.json", "one"),
    "into a repository, and out of it": Way(
        {"settings.json": "one/settings.json", "one/settings.json": "plain/settings.json"}, "settings.json", "one"
    ),
    "out and in again": Way(
        {"one/settings.json": "plain/settings.json", "plain/settings.json": "one/real.json"}, "one/settings.json", None
    ),
    "out of an inner repository": Way({"one/in/settings.json": "one/real.json"}, "one/in/settings.json", "one/in"),
    "by way of `..`": Way({"one/tool": "one/../plain"}, "one/tool/settings.json", "one"),
    "a circle": Way({"one/settings.json": "one/other", "one/other": "one/settings.json"}, "plain/x", None),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_link_that_leads_out_of_its_repository_is_found(home: Home, way: Way) -> None:
    for folder in ("one/.git", "one/in/.git", "two/.git", "plain"):
        (home.path / folder).mkdir(parents=True)
    for name, target in way.links.items():
        home.link(name, target)
    assert gitguard.left(home.path / way.path) == (None if way.left is None else home.path / way.left)


def test_relative_links_are_read_from_where_they_stand(home: Home) -> None:
    (home.path / "one/.git").mkdir(parents=True)
    (home.path / "one/deep").mkdir()
    (home.path / "one/deep/inside").symlink_to("../real.json")
    (home.path / "one/deep/outside").symlink_to("../../real.json")
    (home.path / "short").symlink_to(Path("one", "deep"))
    found = [gitguard.left(home.path / "short" / name) for name in ("inside", "outside")]
    assert found == [None, home.path / "one"]
