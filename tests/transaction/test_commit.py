"""Files replaced together: what is kept of them, and what is refused before anything is written."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needs
from tests.transaction import write
from toolsync import directory, disk, transaction
from toolsync.errors import ChangedError, FileError, KeyringLockedError, ToolsyncError, TransactionError
from toolsync.transaction import Alongside, StoreCommit, Write, commit, lock, pending, recover, settle
from toolsync.transaction import journal as journals
from toolsync.transaction.folder import Folder
from toolsync.transaction.stage import staged

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX links and modes")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def run(home: Path, *writes: Write) -> tuple[Path, ...]:
    return commit(writes, state_dir=home / "state").files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def leftovers(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if ".tmp" in path.name or path.name.startswith("journal")]


def test_files_are_replaced_made_and_removed_together(home: Path) -> None:
    (home / "a").write_text("old")
    (home / "gone").write_text("old")
    written = run(home, write(home / "a", b"new"), write(home / "x/y/b", b"made"), write(home / "gone", None))
    assert written == (home / "a", home / "x/y/b", home / "gone")
    assert ((home / "a").read_bytes(), (home / "x/y/b").read_bytes()) == (b"new", b"made")
    assert not (home / "gone").exists()
    assert leftovers(home) == []


def test_what_is_right_already_is_not_touched(home: Path) -> None:
    (home / "same").write_text("same")
    before = (home / "same").stat()
    assert run(home, write(home / "same", b"same"), write(home / "absent", None), write(home / "a", b"a")) == (
        home / "a",
    )
    after = (home / "same").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


def test_nothing_to_do_leaves_nothing(home: Path) -> None:
    assert run(home) == ()
    assert [path.name for path in (home / "state").iterdir()] == ["lock"]


@posix
def test_links_stay_and_their_file_is_replaced(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles/real").write_text("old")
    (home / "two").symlink_to("dotfiles/real")
    (home / "one").symlink_to(home / "two")
    run(home, write(home / "one", b"new"))
    assert ((home / "one").is_symlink(), (home / "two").is_symlink()) == (True, True)
    assert (home / "dotfiles/real").read_bytes() == b"new"


@posix
def test_a_dangling_link_gets_its_file(home: Path) -> None:
    (home / "link").symlink_to("dotfiles/real")
    run(home, write(home / "link", b"new"))
    assert (home / "link").is_symlink()
    assert (home / "dotfiles/real").read_bytes() == b"new"


@posix
@pytest.mark.parametrize(
    ("before", "more", "after"),
    [
        pytest.param(0o640, {}, 0o640, id="kept"),
        pytest.param(0o600, {}, 0o600, id="kept narrow"),
        pytest.param(0o644, {"private": True}, 0o600, id="a key narrows"),
        pytest.param(0o755, {"private": True, "mode": 0o755}, 0o600, id="a key narrows what is asked"),
        pytest.param(0o600, {"mode": 0o644}, 0o644, id="given back"),
        pytest.param(None, {"private": True}, 0o600, id="new with a key"),
        pytest.param(None, {"mode": 0o604}, 0o604, id="new with a mode"),
        pytest.param(None, {}, 0o640, id="new: the umask's"),
    ],
)
@pytest.mark.parametrize("links", [1, 2], ids=["renamed over", "hard link"])
def test_modes(home: Path, before: int | None, more: dict[str, Any], after: int, links: int) -> None:
    file = home / "a"
    if before is not None:
        file.write_text("old")
        file.chmod(before)
        if links == 2:
            os.link(file, home / "other name")
    umask = os.umask(0o027)
    try:
        run(home, write(file, b"new", **more))
    finally:
        os.umask(umask)
    assert (file.read_bytes(), mode(file)) == (b"new", after)


@posix
def test_a_mode_alone_is_a_change(home: Path) -> None:
    (home / "a").write_text("same")
    (home / "a").chmod(0o644)
    assert run(home, write(home / "a", b"same", private=True)) == (home / "a",)
    assert mode(home / "a") == 0o600
    assert run(home, write(home / "a", b"same", private=True)) == ()


@posix
def test_the_folders_of_a_key_are_private(home: Path) -> None:
    run(home, write(home / "x/y/key", b"k", private=True), write(home / "z/a", b"a"))
    assert (mode(home / "x"), mode(home / "x/y")) == (0o700, 0o700)
    assert mode(home / "z") != 0o700


@posix
def test_a_hard_link_stays_one(home: Path) -> None:
    (home / "a").write_text("a long old content")
    os.link(home / "a", home / "b")
    inode = (home / "a").stat().st_ino
    run(home, write(home / "a", b"new"))
    assert ((home / "b").read_bytes(), (home / "b").stat().st_ino, (home / "a").stat().st_ino) == (b"new", inode, inode)
    assert leftovers(home) == []


def _supports_attributes(folder: Path) -> bool:
    probe = folder / "probe"
    probe.write_text("")
    try:
        os.setxattr(probe, "user.toolsync", b"1")
    except (OSError, AttributeError):
        return False
    finally:
        probe.unlink()
    return True


# Version 2; owner rw, user 12345 rw, group r, mask rw, others none: what `setfacl -m u:12345:rw` writes.
ACCESS_LIST = bytes.fromhex(
    "02000000 01000600ffffffff 02000600 39300000 04000400ffffffff 10000600ffffffff 20000000ffffffff".replace(" ", "")
)


@posix
@pytest.mark.parametrize("links", [1, 2], ids=["renamed over", "hard link"])
@pytest.mark.parametrize("private", [False, True], ids=["kept", "a key takes named users off"])
def test_attributes_and_access_lists(home: Path, *, private: bool, links: int) -> None:
    needs(_supports_attributes(home), "a file system with extended attributes")
    file = home / "a"
    file.write_text("old")
    os.setxattr(file, "user.note", b"mine")
    try:
        os.setxattr(file, "system.posix_acl_access", ACCESS_LIST)
    except OSError:
        needs(available=False, reason="a file system with access lists")
    if links == 2:
        os.link(file, home / "other name")
    run(home, write(file, b"new", private=private))
    kept = {name: os.getxattr(file, name) for name in os.listxattr(file)}
    assert kept == {"user.note": b"mine"} | ({} if private else {"system.posix_acl_access": ACCESS_LIST})
    assert mode(file) == (0o600 if private else 0o660)


@posix
def test_a_folders_default_list_does_not_open_a_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs(_supports_attributes(home), "a file system with extended attributes")
    (home / "a").write_text("old")
    (home / "a").chmod(0o640)
    try:
        os.setxattr(home, "system.posix_acl_default", ACCESS_LIST)
    except OSError:
        needs(available=False, reason="a file system with access lists")
    written = os.write
    seen: list[str] = []

    def writing(descriptor: int, raw: Any) -> int:
        seen.extend([str(bytes(raw)), *os.listxattr(descriptor)] if bytes(raw) in (b"new", b"k") else [])
        return written(descriptor, raw)

    monkeypatch.setattr(os, "write", writing)
    run(home, write(home / "a", b"new"), write(home / "key", b"k", private=True))
    assert seen == ["b'new'", "b'k'"]  # none, before the content is in it
    assert (os.listxattr(home / "a"), os.listxattr(home / "key")) == ([], [])
    assert (mode(home / "a"), mode(home / "key")) == (0o640, 0o600)


@posix
def test_the_owner_is_kept(home: Path) -> None:
    needs(os.geteuid() == 0, "root, to give files away")
    (home / "a").write_text("old")
    os.chown(home / "a", 12345, 23456)
    run(home, write(home / "a", b"new", private=True))
    status = (home / "a").stat()
    assert (status.st_uid, status.st_gid, mode(home / "a")) == (12345, 23456, 0o600)


@posix
def test_an_owner_that_cannot_be_given_is_kept_by_writing_in_place(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a").write_text("old")
    inode = (home / "a").stat().st_ino
    monkeypatch.setattr("toolsync.transaction.stage._give_owner", lambda *_: False)
    run(home, write(home / "a", b"new"))
    assert ((home / "a").read_bytes(), (home / "a").stat().st_ino) == (b"new", inode)


def _read_only_file(file: Path) -> None:
    file.chmod(0o444)


def _read_only_folder(file: Path) -> None:
    file.parent.chmod(0o555)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@posix
@pytest.mark.parametrize(
    ("spoil", "said", "hint"),
    [
        pytest.param(_read_only_file, "{file} is read-only", "chmod u+w {file}", id="read-only file"),
        pytest.param(
            _read_only_folder,
            "{folder} is read-only: settings.json cannot be replaced in it",
            "chmod u+w {folder}",
            id="read-only folder",
        ),
    ],
)
def test_read_only_is_refused_before_anything_is_written(
    home: Path, spoil: Callable[[Path], None], said: str, hint: str
) -> None:
    file = home / "folder" / "settings.json"
    file.parent.mkdir()
    file.write_text("old")
    (home / "a").write_text("old")
    spoil(file)
    try:
        with pytest.raises(FileError) as caught:
            run(home, write(home / "a", b"new"), write(file, b"new"))
    finally:
        file.parent.chmod(0o755)
    names = {"file": file, "folder": file.parent}
    assert caught.value.message == said.format(**names)
    assert hint.format(**names) in caught.value.hint
    assert ((home / "a").read_text(), file.read_text(), leftovers(home)) == ("old", "old", [])


def _changed(file: Path) -> None:
    file.write_text("theirs")


def _gone(file: Path) -> None:
    file.unlink()


def _link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


@posix
@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        pytest.param(_changed, "{} was changed by another program meanwhile", id="changed"),
        pytest.param(_gone, "{} is gone", id="gone"),
        pytest.param(_link, "{} is now a link, or lies behind one", id="link"),
    ],
)
def test_a_lost_race_changes_nothing(home: Path, meanwhile: Callable[[Path], None], said: str) -> None:
    (home / "a").write_text("old")
    (home / "b").write_text("old")
    writes = write(home / "a", b"new"), write(home / "b", b"new")
    meanwhile(home / "b")
    with pytest.raises(ChangedError) as caught:
        run(home, *writes)
    assert caught.value.message == said.format(home / "b")
    assert ((home / "a").read_text(), leftovers(home)) == ("old", [])


def test_a_file_that_appeared_is_a_lost_race(home: Path) -> None:
    planned = write(home / "a", b"new")
    (home / "a").write_text("theirs")
    with pytest.raises(ChangedError, match="was made by another program meanwhile"):
        run(home, planned)
    assert (home / "a").read_text() == "theirs"


class Watcher(Alongside):
    """Notes what it is asked, and whether the lock was held then."""

    def __init__(self, state: Path, *, fails: bool = False) -> None:
        self.state, self.fails = state, fails
        self.asked: list[str] = []

    def note(self, what: str) -> None:
        self.asked.append(what)
        with pytest.raises(TransactionError, match="is writing"), lock.held(self.state, 0):
            pass

    def prepare(self) -> None:
        self.note("prepare")
        if self.fails:
            raise KeyringLockedError("locked")

    def take_back(self) -> None:
        self.note("take back")

    def finish(self) -> None:
        self.note("finish")


def test_what_is_done_alongside_is_done_under_the_lock(home: Path) -> None:
    watcher = Watcher(home / "state")
    commit([write(home / "a", b"new")], state_dir=home / "state", alongside=watcher)
    assert watcher.asked == ["prepare", "finish"]


def test_what_cannot_be_done_alongside_leaves_all_as_it_was(home: Path) -> None:
    watcher = Watcher(home / "state", fails=True)
    with pytest.raises(KeyringLockedError):
        commit([write(home / "a", b"new")], state_dir=home / "state", alongside=watcher)
    assert (watcher.asked, (home / "a").exists(), leftovers(home)) == (["prepare", "take back"], False, [])


def test_nothing_is_done_alongside_a_lost_race(home: Path) -> None:
    watcher = Watcher(home / "state")
    planned = write(home / "a", b"new")
    (home / "a").write_text("theirs")
    with pytest.raises(ChangedError):
        commit([planned], state_dir=home / "state", alongside=watcher)
    assert watcher.asked == []


def test_a_race_lost_while_staging_changes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last look is after the temp files are complete."""
    (home / "a").write_text("old")
    (home / "b").write_text("old")
    writes = write(home / "a", b"new"), write(home / "b", b"new"), write(home / "x/c", b"new")

    def slow(*arguments: Any) -> Any:
        done = staged(*arguments)
        (home / "b").write_text("theirs")
        return done

    monkeypatch.setattr(transaction, "staged", slow)
    with pytest.raises(ChangedError):
        run(home, *writes)
    assert ((home / "a").read_text(), (home / "b").read_text()) == ("old", "theirs")
    assert (leftovers(home), (home / "x").exists()) == ([], False)


def test_a_race_lost_after_the_commit_point_keeps_theirs_and_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "a").write_text("old")
    (home / "b").write_text("old")
    writes = write(home / "a", b"new"), write(home / "b", b"new")
    look = Folder.sha256

    def slow(folder: Folder, name: str) -> str | None:
        found = look(folder, name)
        if name == "b":
            (home / "b").write_text("theirs")
        return found

    monkeypatch.setattr(Folder, "sha256", slow)
    with pytest.raises(ChangedError) as caught:
        run(home, *writes)
    assert caught.value.message.startswith(f"{home / 'b'}: changed by another program while toolsync was writing")
    assert ((home / "a").read_text(), (home / "b").read_text()) == ("new", "theirs")
    assert (leftovers(home), pending(home / "state")) == ([], False)


@posix
def test_two_names_of_one_file_are_refused(home: Path) -> None:
    (home / "a").write_text("old")
    os.link(home / "a", home / "b")
    with pytest.raises(TransactionError, match="are one file"):
        run(home, write(home / "a", b"new"), write(home / "b", b"other"))
    assert (home / "a").read_text() == "old"


def test_folders_go_with_a_removed_file_when_they_are_empty(home: Path) -> None:
    for name in ("x/y/a", "z/a", "z/theirs"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("old")
    run(
        home,
        write(home / "x/y/a", None, prune=(home / "x", home / "x/y")),
        write(home / "z/a", None, prune=(home / "z",)),
    )
    assert ((home / "x").exists(), [path.name for path in (home / "z").iterdir()]) == (False, ["theirs"])


def test_making_then_removing_leaves_the_home_as_it_was(home: Path) -> None:
    done = commit([write(home / "x/y/a", b"new")], state_dir=home / "state")
    assert done.folders == (home / "x", home / "x/y")
    run(home, write(home / "x/y/a", None, prune=done.folders))
    assert [path.name for path in home.iterdir()] == ["state"]


@posix
def test_a_bind_mounted_file_is_written_in_place(home: Path) -> None:
    """Docker mounts single files: rename over one is EBUSY."""
    needs(_can_mount(), "mount namespaces (root, or user namespaces)")
    (home / "real").write_text("old")
    (home / "a").write_text("")
    (home / "b").write_text("old")
    script = """
import sys
from pathlib import Path
from toolsync import disk
from toolsync.transaction import Write, commit
home = Path(sys.argv[1])
writes = [Write(home / n, disk.read(home / n).sha256, c) for n, c in (("a", b"mounted"), ("b", b"plain"))]
print(len(commit(writes, state_dir=home / "state").files))
"""
    command = f'mount --bind "{home}/real" "{home}/a" && exec "{sys.executable}" -c "$0" "{home}"'
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", command, script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(disk.__file__).parents[1])},
    )
    assert (done.stdout, done.stderr) == ("2\n", "")
    assert ((home / "real").read_text(), (home / "b").read_text(), leftovers(home)) == ("mounted", "plain", [])


UNSHARE = ["unshare", "-m"] if os.name == "posix" and os.geteuid() == 0 else ["unshare", "-rm"]


def _can_mount() -> bool:
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_windows_busy_file_is_replaced_when_it_is_let_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As there: no folder is held open, nothing is swapped, and the rename is refused for a moment."""
    (home / "a").write_text("old")
    rename, busy = os.replace, [32, 5]

    def sometimes(source: str, target: str, **named: Any) -> None:
        if busy and target == str(home / "a"):
            error = PermissionError(13, "in use")
            error.winerror = busy.pop()  # type: ignore[attr-defined,unused-ignore]  # Windows only
            raise error
        rename(source, target, **named)

    monkeypatch.setattr("toolsync.transaction.folder._CAN_BE_HELD", False)
    monkeypatch.setattr(os, "replace", sometimes)
    inode = (home / "a").stat().st_ino
    run(home, write(home / "a", b"new"), write(home / "x/b", b"new"))
    assert ((home / "a").read_text(), (home / "a").stat().st_ino != inode, busy) == ("new", True, [])
    run(home, write(home / "x/b", None, prune=(home / "x",)))
    assert (leftovers(home), (home / "x").exists()) == ([], False)


REFUSED = {
    "replace": {"journal.json.draft", ".toolsync"},
    "unlink": {".toolsync", "journal.json", "journal.json.draft"},
}
"""What each call is asked for, random digits aside."""


@pytest.mark.parametrize(("call", "names"), REFUSED.items(), ids=REFUSED)
def test_every_name_that_windows_does_not_let_go_is_asked_for_again(
    home: Path, monkeypatch: pytest.MonkeyPatch, call: str, names: set[str]
) -> None:
    """The journal's and the temp files' too: a scanner opens whatever is new."""
    refused: set[str] = set()
    real = getattr(os, call)

    def once(first: Any, *more: Any, **named: Any) -> object:
        name = Path(first).name.partition("-")[0]
        if name not in refused:
            refused.add(name)
            error = PermissionError(13, "in use")
            error.winerror = 32  # type: ignore[attr-defined,unused-ignore]  # Windows only
            raise error
        return real(first, *more, **named)

    (home / "a").write_text("old")
    monkeypatch.setattr("toolsync.transaction.folder._CAN_BE_HELD", False)
    monkeypatch.setattr(os, call, once)
    run(home, write(home / "a", b"new"))
    assert ((home / "a").read_text(), leftovers(home)) == ("new", [])
    assert refused == names


class Store:
    """Rows behind a token, as a database holds them; `fails` before or after its COMMIT."""

    def __init__(self, home: Path, fails: str = "") -> None:
        self.home, self.fails, self.rows = home, fails, "1"

    def part(self) -> StoreCommit:
        return StoreCommit(self.home / "store.db", "1", self.write, lambda _path: self.rows)

    def write(self, prepared: Callable[[str], None]) -> None:
        if self.rows != "1":
            raise ChangedError("the rows changed", hint="Plan again.")
        prepared("2")
        if self.fails == "before":
            raise TransactionError("locked")
        if self.fails == "theirs":
            self.rows = "3"
            raise TransactionError("locked")
        self.rows = "2"
        if self.fails == "after":
            raise TransactionError("lost the answer")


@pytest.mark.parametrize(
    ("fails", "rows", "content", "error"),
    [
        pytest.param("", "2", "new", None, id="commits"),
        pytest.param("before", "1", "old", TransactionError, id="fails before COMMIT"),
        pytest.param("after", "2", "new", None, id="fails after COMMIT"),
        pytest.param("theirs", "3", "old", TransactionError, id="another program commits"),
    ],
)
def test_a_stores_commit_decides(
    home: Path, fails: str, rows: str, content: str, error: type[ToolsyncError] | None
) -> None:
    (home / "a").write_text("old")
    store = Store(home, fails)
    if error is None:
        commit([write(home / "a", b"new")], state_dir=home / "state", store=store.part())
    else:
        with pytest.raises(error):
            commit([write(home / "a", b"new")], state_dir=home / "state", store=store.part())
    assert (store.rows, (home / "a").read_text(), leftovers(home)) == (rows, content, [])


@pytest.mark.parametrize(
    ("renamed", "outcome"), [(0, "undone"), (1, "finished"), (2, "finished")], ids=["none", "one", "both"]
)
def test_where_the_rows_tell_nothing_any_more_the_files_do(
    home: Path, monkeypatch: pytest.MonkeyPatch, renamed: int, outcome: str
) -> None:
    """Their program wrote after the crash, or is gone: files are not left half old and half new."""
    for name in ("a", "b"):
        (home / name).write_text("old")
    store, placed = Store(home), settle._placed
    done: list[str] = []

    def dying(entry: journals.Entry, folder: Folder) -> settle.Standing:
        if len(done) == renamed:
            raise SystemExit
        done.append(entry.name)
        return placed(entry, folder)

    writes = [write(home / name, b"new") for name in "abc"]
    with monkeypatch.context() as patch:
        patch.setattr(settle, "_placed", dying)
        patch.setattr(transaction, "_ended", lambda *_: None)
        with pytest.raises(SystemExit):
            commit(writes, state_dir=home / "state", store=store.part())
    recovery = recover(home / "state", token_now=lambda _path: "")
    assert recovery is not None
    assert (recovery.outcome, recovery.store_changed) == (outcome, True)
    assert {(home / name).read_text() for name in "ab"} == {"new" if renamed else "old"}
    assert (home / "c").exists() == (renamed > 0)
    assert (leftovers(home), pending(home / "state")) == ([], False)


def test_a_transaction_with_a_store_is_not_ended_blindly(home: Path) -> None:
    journal = journals.Journal("prepared", (), (), journals.StoreToken(str(home / "store.db"), "1", "2"))
    directory.private_dir(home / "state")
    journals.save(home / "state", journal)
    with pytest.raises(TransactionError, match="cannot look there"):
        recover(home / "state")
    assert pending(home / "state")
    recovery = recover(home / "state", token_now=lambda _path: "2")
    assert recovery is not None
    assert (recovery.outcome, pending(home / "state")) == ("finished", False)


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b'{"version": 2}', b'{"version": 1}', b"\xff", b"[" * 9999],
    ids=["empty", "torn", "list", "newer", "bare", "bytes", "deep"],
)
def test_a_journal_that_cannot_be_read_is_no_reason_to_write(home: Path, raw: bytes) -> None:
    directory.private_dir(home / "state")
    (home / "state/journal.json").write_bytes(raw)
    with pytest.raises(TransactionError, match="cannot be read"):
        run(home, write(home / "a", b"new"))
    assert not (home / "a").exists()


@posix
@pytest.mark.parametrize(
    "number",
    [errno.EXDEV, errno.EBUSY, errno.EPERM, errno.EACCES],
    ids=["EXDEV", "EBUSY", "sticky folder", "folder of another user"],
)
def test_what_cannot_be_renamed_over_is_written_last_and_in_place(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    made: list[str] = []
    for name in ("a", "hard", "b"):
        (home / name).write_text("old")
    os.link(home / "hard", home / "other name")
    inodes = {name: (home / name).stat().st_ino for name in ("a", "hard", "b")}
    overwrite, replace = settle._overwrite, settle._placed

    def placed(entry: journals.Entry, folder: Folder) -> settle.Standing:
        if entry.name == "a":
            raise OSError(number, os.strerror(number))
        made.append(f"renamed {entry.name}")
        return replace(entry, folder)

    def overwritten(entry: journals.Entry, folder: Folder) -> None:
        made.append(f"overwritten {entry.name}")
        overwrite(entry, folder)

    monkeypatch.setattr(settle, "_placed", placed)
    monkeypatch.setattr(settle, "_overwrite", overwritten)
    run(home, *(write(home / name, b"new") for name in ("a", "hard", "b")))
    assert made == ["renamed b", "overwritten a", "overwritten hard"]
    assert {name for name, inode in inodes.items() if (home / name).stat().st_ino == inode} == {"a", "hard"}
    assert [(home / name).read_text() for name in ("a", "hard", "other name", "b")] == ["new"] * 4


@posix
@pytest.mark.parametrize("links", [1, 2], ids=["renamed over", "hard link"])
def test_nobody_else_can_open_a_file_before_its_key_is_in_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, links: int
) -> None:
    """Whoever has it open already reads what is written into it later."""
    needs(Path("/proc/self/fd").is_dir(), "/proc")
    (home / "file").write_text("old")
    (home / "file").chmod(0o666)
    if links > 1:
        os.link(home / "file", home / "other name")
    seen: list[tuple[str, int]] = []
    opened, written = os.open, os.write

    def opening(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        descriptor = opened(path, flags, *rest, **named)
        if flags & os.O_CREAT:
            seen.append(("made", stat.S_IMODE(os.fstat(descriptor).st_mode)))
        return descriptor

    def writing(descriptor: int, raw: Any) -> int:
        if b"sk-invented" in bytes(raw):
            seen.append(("written", stat.S_IMODE(os.fstat(descriptor).st_mode)))
        return written(descriptor, raw)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(os, "write", writing)
    umask = os.umask(0)
    try:
        run(home, write(home / "file", b"sk-invented", private=True))
    finally:
        os.umask(umask)
    assert {name for name, _ in seen} == {"made", "written"}
    assert {mode for _, mode in seen} == {0o600}


@posix
def test_what_was_written_survives_a_power_cut(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each content is synced before the journal says `prepared`, each folder after the last rename in it."""
    needs(Path("/proc/self/fd").is_dir(), "/proc")
    for name in ("x/a", "y/b"):
        (home / name).parent.mkdir()
        (home / name).write_text("old")
    made: list[str] = []
    fsync, placed, save = os.fsync, settle._placed, journals.save

    def synced(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        made.append(f"synced {'temp' if path.suffix == '.tmp' else path.name}")
        fsync(descriptor)

    def renamed(entry: journals.Entry, folder: Folder) -> settle.Standing:
        made.append(f"renamed {entry.name}")
        return placed(entry, folder)

    def saved(state_dir: Path, journal: journals.Journal) -> None:
        save(state_dir, journal)
        made.append(journal.phase)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(settle, "_placed", renamed)
    monkeypatch.setattr(journals, "save", saved)
    run(home, write(home / "x/a", b"new"), write(home / "y/b", b"new"))
    journal = ["synced journal.json.draft", "synced state"]
    temps = ["synced temp", "synced temp", "synced x", "synced y"]
    renames = ["renamed a", "renamed b", "synced x", "synced y"]
    assert made == [*journal, "staging", *temps, *journal, "prepared", *renames]
