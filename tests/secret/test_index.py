"""The list of names, which holds no values and may be lost."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from toolsync.errors import FileError
from toolsync.profile import KeyRef
from toolsync.secret.index import forget, known_names, record, recorded


def test_names_are_noted_once_and_forgotten(tmp_path: Path) -> None:
    state = tmp_path / "deep" / "state"
    for name in ["work", "home", "work"]:
        record(state, name)
    assert recorded(state) == ("home", "work")
    forget(state, "work")
    forget(state, "work")
    assert recorded(state) == ("home",)
    assert [path.name for path in state.iterdir()] == ["keys.json"]


def test_names_of_profiles_are_known_too(tmp_path: Path) -> None:
    record(tmp_path, "old")
    references = [KeyRef("keyring", "work"), KeyRef("env", "API_KEY"), KeyRef("command", "pass show x")]
    assert known_names(tmp_path, references) == ("old", "work")


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_the_file_is_private(tmp_path: Path) -> None:
    record(tmp_path / "state", "work")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state", tmp_path / "state" / "keys.json")]
    assert modes == [0o700, 0o600]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"names": 5}', b'{"names": null}', b"\xff\xfe", b'{"other": []}', b"[" * 100_000],
    ids=["empty", "cut", "list", "number", "null", "not UTF-8", "no names", "deep"],
)
def test_a_damaged_file_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "keys.json").write_bytes(content)
    assert recorded(tmp_path) == ()
    record(tmp_path, "work")
    assert recorded(tmp_path) == ("work",)


def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(FileError, match=r"keys\.json: ") as caught:
        record(tmp_path / "state", "work")
    assert "key list" in caught.value.hint
