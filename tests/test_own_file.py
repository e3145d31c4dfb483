"""What lies in our folder and is none of our files is neither read nor written through, and nothing waits for it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import needs
from toolsync import own_file
from toolsync.commands.writing import state_folder
from toolsync.errors import FileError, ToolsyncError, TransactionError
from toolsync.secret import index
from toolsync.transaction import journal, lock, pending, recover

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, links and owners of POSIX")

Make = Callable[[Path], object]


def _link(path: Path) -> None:
    path.with_name("theirs").write_text("theirs")
    path.symlink_to("theirs")


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 200 * 2**20)


def _strangers(path: Path) -> None:
    needs(os.geteuid() == 0, "root, who can give files away")
    path.write_text("{}")
    os.chown(path, 12345, 12345)


NO_FILE = "is a link, folder, device or pipe, not a file"
STRANGE: dict[str, tuple[Make, str]] = {
    "pipe": (os.mkfifo, NO_FILE),
    "folder": (Path.mkdir, NO_FILE),
    "link": (_link, NO_FILE),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), NO_FILE),
    "link to nothing": (lambda path: path.symlink_to("nothing"), NO_FILE),
    "link to itself": (lambda path: path.symlink_to(path.name), NO_FILE),
    "200 MiB": (_huge, "has 209,715,200 bytes, and so is none of ours"),
    "somebody else's": (_strangers, "is not yours, and nothing is taken from it"),
}
strange = pytest.mark.parametrize(("make", "said"), STRANGE.values(), ids=STRANGE)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "state"
    folder.mkdir(mode=0o700)
    return folder


def complaint(act: Callable[[], object], kind: type[ToolsyncError]) -> str:
    with pytest.raises(kind) as caught:
        act()
    assert caught.value.hint
    return caught.value.message


@strange
def test_it_is_refused_at_once(state: Path, make: Make, said: str) -> None:
    make(state / "it")
    assert complaint(lambda: own_file.read(state / "it"), FileError) == f"{state}/it {said}"


@strange
def test_no_journal_is_followed_that_is_none_of_ours(state: Path, make: Make, said: str) -> None:
    make(state / "journal.json")
    assert complaint(lambda: recover(state), TransactionError) == f"{state}/journal.json {said}"


@strange
def test_the_lock_writes_through_nothing(state: Path, make: Make, said: str) -> None:
    make(state / "lock")
    refused = "is a folder, not a file" if make is Path.mkdir else said
    with pytest.raises(FileError, match=refused), lock.held(state, 0):
        pass
    if (state / "theirs").exists():
        assert (state / "theirs").read_text() == "theirs"


@strange
def test_a_note_that_is_none_says_nothing(state: Path, make: Make, said: str) -> None:
    for name in ("forgetting.json", "keys.json"):
        make(state / name)
        (state / "theirs").unlink(missing_ok=True)
    assert (state_folder.noted(state), index.recorded(state)) == (frozenset(), ()), said


def test_a_new_file_is_not_written_through_a_link_in_its_drafts_place(state: Path) -> None:
    _link(state / "it.draft")
    own_file.put(state / "it", b"ours")
    assert ((state / "it").read_bytes(), (state / "theirs").read_text()) == (b"ours", "theirs")


def test_a_file_of_the_folders_owner_is_ours(state: Path) -> None:
    """As on network shares that give everything to one user."""
    _strangers(state / "it")
    os.chown(state, 12345, 12345)
    assert own_file.read(state / "it") == b"{}"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP])
def test_where_nothing_can_be_locked_it_says_where_else(
    state: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(_descriptor: int, _what: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refused)
    with pytest.raises(FileError, match="the file system cannot lock files") as caught, lock.held(state, 0):
        pass
    assert "XDG_STATE_HOME" in caught.value.hint


ENTRY: dict[str, object] = {
    "target": "/home/u/a",
    "temp": "/home/u/.toolsync-0123456789abcdef.tmp",
    "old": None,
    "new": None,
    "mode": 0o600,
    "private": False,
    "in_place": False,
    "prune": [],
}
WRITTEN: dict[str, object] = {
    "version": journal.VERSION,
    "phase": "staging",
    "entries": [ENTRY],
    "folders": [],
    "store": None,
}
BY_HAND = {
    "a file of theirs as temp file": {"entries": [{**ENTRY, "temp": "/home/u/.bashrc"}]},
    "a temp file elsewhere": {"entries": [{**ENTRY, "temp": "/tmp/.toolsync-0123456789abcdef.tmp"}]},
    "its own target as temp file": {"entries": [{**ENTRY, "temp": ENTRY["target"]}]},
    "a name without a folder": {"entries": [{**ENTRY, "target": "a", "temp": ".toolsync-0123456789abcdef.tmp"}]},
    "a folder without a root": {"folders": ["made"]},
    "a folder to prune without a root": {"entries": [{**ENTRY, "prune": ["made"]}]},
    "a mode in words": {"entries": [{**ENTRY, "mode": "0600"}]},
    "another phase": {"phase": "done"},
    "no list": {"entries": 7},
    "no entry": {"entries": [None]},
    "more than is known": {"entries": [{**ENTRY, "more": 1}]},
}


def test_what_toolsync_wrote_is_read(state: Path) -> None:
    own_file.put(state / "journal.json", _text({}))
    read = journal.load(state)
    assert read is not None
    assert [entry.temp for entry in read.entries] == [ENTRY["temp"]]


@pytest.mark.parametrize("changed", BY_HAND.values(), ids=BY_HAND)
def test_a_journal_that_was_changed_by_hand_is_not_followed(state: Path, changed: dict[str, object]) -> None:
    """It could name any file as a temp file of ours, to be removed."""
    own_file.put(state / "journal.json", _text(changed))
    assert complaint(lambda: recover(state), TransactionError).endswith("cannot be read")
    assert (state / "journal.json").exists()


def _text(changed: dict[str, object]) -> bytes:
    return json.dumps({**WRITTEN, **changed}).encode()


@pytest.mark.parametrize("act", [own_file.read, lambda path: own_file.opened(path, os.O_RDWR)])
def test_a_state_folder_that_is_read_only_is_to_be_mounted_writable(
    state: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], object]
) -> None:
    def refused(path: Path, *_more: int) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(FileError, match="lock: the file system is read-only") as caught:
        act(state / "lock")
    assert caught.value.hint == "Mount it writable: toolsync keeps there what `undo` needs."


def test_what_waits_on_a_disk_that_is_read_only_is_due_all_the_same(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state / "journal.json").write_text("{}")
    assert pending(state)

    def refused(path: Path, *_more: int) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(os, "open", refused)
    assert pending(state)
