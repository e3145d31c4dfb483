"""Where a tool's layers lie on a machine: one file each, and every file of a folder of drop-ins."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolsync.paths import Places
from toolsync.search.placing import placed
from toolsync.tool import Layer


def layer(path: str, name: str = "policy") -> Layer:
    return Layer(name, "file", (path,), format="json", is_managed=True)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path, {}, tmp_path / "project", tmp_path, "linux")


def seen(places: Places, *layers: Layer) -> list[tuple[str, str]]:
    return [
        (one.name, "" if path is None else str(path.relative_to(places.home))) for one, path in placed(layers, places)
    ]


def test_drop_ins_are_layers_in_the_order_of_their_names(places: Places) -> None:
    folder = places.home / "p.d"
    (folder / "50.json").mkdir(parents=True)
    for name in ("9.json", "10.json", "b.json", "B.json", ".hidden.json", "10.txt", "10.JSON", "10.json~"):
        (folder / name).write_text("{}")
    (folder / "link.json").symlink_to(folder / "10.txt")
    assert seen(places, layer("~/p.json", "base"), layer("~/p.d/*.json")) == [
        ("base", "p.json"),
        ("policy: 10.json", "p.d/10.json"),
        ("policy: 9.json", "p.d/9.json"),
        ("policy: B.json", "p.d/B.json"),
        ("policy: b.json", "p.d/b.json"),
        ("policy: link.json", "p.d/link.json"),
    ]


def test_without_drop_ins_the_layer_stays_and_says_where_they_would_lie(places: Places) -> None:
    assert seen(places, layer("~/p.d/*.json")) == [("policy", "p.d/*.json")]
    (places.home / "p.d").mkdir()
    assert seen(places, layer("~/p.d/*.json")) == [("policy", "p.d/*.json")]


def test_a_drop_in_keeps_all_that_its_layer_says(places: Places) -> None:
    (places.home / "p.d").mkdir()
    (places.home / "p.d" / "1.json").write_text("{}")
    [(one, _)] = placed([layer("~/p.d/*.json")], places)
    assert (one.is_managed, one.format, one.path) == (True, "json", ("~/p.d/*.json",))


def test_a_name_that_a_terminal_would_obey_is_made_harmless(places: Places) -> None:
    (places.home / "p.d").mkdir()
    (places.home / "p.d" / "a\x1b[2J\n.json").write_text("{}")
    assert [name for name, _ in seen(places, layer("~/p.d/*.json"))] == ["policy: a�[2J�.json"]


def test_what_has_no_place_here_has_no_file(places: Places) -> None:
    assert seen(places, layer("$NOWHERE/p.d/*.json"), Layer("shell", "environment", at="env")) == [
        ("policy", ""),
        ("shell", ""),
    ]
