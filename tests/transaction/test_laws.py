"""Laws: whatever is written and wherever it is killed, all ends old or new, and nothing of others is lost."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transaction import write
from tests.transaction.test_faults import dies, nothing, steps
from toolsync.transaction import Write, commit, pending, recover

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX calls, and fork")

THEIRS = b"another program's"
LATER = 2**31


@dataclass(frozen=True)
class File:
    """A file, as it is and as it is to be; None: it is not there."""

    name: str
    old: bytes | None
    new: bytes | None
    is_private: bool
    mode: int | None
    is_linked: bool

    def make(self, home: Path) -> None:
        path = home / self.name
        path.parent.mkdir(exist_ok=True)
        if self.old is not None:
            path.write_bytes(self.old)
            path.chmod(0o640)
        if self.is_linked and self.old is not None:
            os.link(path, path.with_name(f"{path.name} too"))

    def write(self, home: Path) -> Write:
        return write(home / self.name, self.new, private=self.is_private, mode=self.mode)


CONTENTS = st.none() | st.sampled_from([b"", b"one", b"two" * 2000, b"three\r\n"])
FILES = st.lists(
    st.builds(
        File,
        name=st.sampled_from([f"{folder}/{name}" for folder in "xyz" for name in "abc"]),
        old=CONTENTS,
        new=CONTENTS,
        is_private=st.booleans(),
        mode=st.none() | st.sampled_from([0o600, 0o644]),
        is_linked=st.booleans(),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda file: file.name,
)


def _look(home: Path, files: Sequence[File]) -> dict[str, tuple[int, bytes] | None]:
    """Mode and content of each, by name; None where there is none."""
    paths = {file.name: home / file.name for file in files}
    return {
        name: (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) if path.exists() else None
        for name, path in paths.items()
    }


def _fresh(home: Path, files: Sequence[File]) -> Path:
    home.mkdir()
    for file in files:
        file.make(home)
    return home


def _commit(home: Path, files: Sequence[File]) -> None:
    commit([file.write(home) for file in files], state_dir=home / "state")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("laws").resolve()


@given(files=FILES, data=st.data())
def test_all_old_or_all_new_and_nothing_of_others_is_lost(folder: Path, files: list[File], data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory(dir=folder) as room:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        home = _fresh(Path(room) / "undisturbed", files)
        old = _look(home, files)
        with steps(nothing) as made:
            _commit(home, files)
        new = _look(home, files)
        at = data.draw(st.integers(1, len(made)), label="killed at")
        torn = data.draw(st.booleans(), label="in the middle of a write")
        meddled = data.draw(st.sets(st.sampled_from([file.name for file in files])), label="rewritten since")

        home = _fresh(Path(room) / "killed", files)
        assert dies(home, at, lambda home: _commit(home, files), torn=torn)
        for name in meddled:
            _rewrite(home / name)
        recover(home / "state")
        assert not pending(home / "state")
        _check(_look(home, files), old, new, meddled)
        left = {path.name for path in home.rglob("*") if path.is_file()}
        assert [name for name in left if name.startswith((".toolsync", "journal"))] == []


def _rewrite(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(THEIRS)
    os.utime(path, (LATER, LATER))


def _check(now: Mapping[str, object], old: Mapping[str, object], new: Mapping[str, object], meddled: set[str]) -> None:
    for name in meddled:
        found = now[name]
        assert isinstance(found, tuple)
        assert found[1] == THEIRS
    ours = now.keys() - meddled
    assert {name: now[name] for name in ours} in [{name: side[name] for name in ours} for side in (old, new)]
