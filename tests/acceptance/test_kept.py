"""What a file is besides its values stays through apply and undo: links, mode, owner, attributes, line ends, marks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.acceptance.machine import Machine
from tests.conftest import needs
from tests.keys import invented
from tests.transaction.test_commit import ACCESS_LIST, UNSHARE

FILE = "service/settings.json"
TEXT = '{\n  "apiKey": "${OLD}",\n  "mine": [1, 2]\n}\n'
PATHS = f'\n[profiles.work.tool.settings-json]\npaths = ["~/{FILE}"]\n'
APPLY = ("apply", "--yes", "--no-ping", "--tool", "settings-json")


class Kept(NamedTuple):
    """A property: how a file gets it (OSError: it cannot), how it is read again, and the file's text."""

    give: Callable[[Path], object]
    look: Callable[[Path], Any]
    text: bytes = TEXT.encode()


def _mode(file: Path) -> int:
    return file.stat().st_mode & 0o7777


def _owner(file: Path) -> tuple[int, int]:
    return file.stat().st_uid, file.stat().st_gid


def _attributes(file: Path) -> dict[str, bytes]:
    return {name: os.getxattr(file, name) for name in os.listxattr(file)}


def _links(file: Path) -> tuple[int, bool, bool]:
    other = file.with_name("other name")
    return file.stat().st_ino, other.samefile(file), other.read_bytes() == file.read_bytes()


def _behind_a_link(file: Path) -> None:
    (file.parent / "dotfiles").mkdir()
    file.rename(file.parent / "dotfiles/real.json")
    (file.parent / "second").symlink_to("dotfiles/real.json")
    file.symlink_to(file.parent / "second")


def _chain(file: Path) -> tuple[str, str, bool]:
    return (
        str(file.readlink()),
        str((file.parent / "second").readlink()),
        (file.parent / "dotfiles/real.json").is_file(),
    )


def _line_ends(file: Path) -> tuple[bool, bool]:
    raw = file.read_bytes()
    return raw.count(b"\r\n") == raw.count(b"\n") > 0, b"\r\n" in raw


def _as_it_is(file: Path) -> None:
    del file


KEPT = {
    "mode 0640": Kept(lambda file: file.chmod(0o640), _mode),
    "mode 0604": Kept(lambda file: file.chmod(0o604), _mode),
    "foreign owner": Kept(lambda file: os.chown(file, 12345, 23456), _owner),
    "ACL": Kept(lambda file: os.setxattr(file, "system.posix_acl_access", ACCESS_LIST), _attributes),
    "xattr": Kept(lambda file: os.setxattr(file, "user.note", b"mine"), _attributes),
    "hard link": Kept(lambda file: os.link(file, file.with_name("other name")), _links),
    "symlink": Kept(_behind_a_link, _chain),
    "CRLF": Kept(_as_it_is, _line_ends, TEXT.replace("\n", "\r\n").encode()),
    "BOM": Kept(_as_it_is, lambda file: file.read_bytes()[:3], b"\xef\xbb\xbf" + TEXT.encode()),
    "no final newline": Kept(_as_it_is, lambda file: file.read_bytes()[-1:], TEXT.strip().encode()),
}


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_it_is_kept(machine: Machine, kept: Kept) -> None:
    machine.profile(PATHS)
    file = machine.write(FILE, kept.text)
    try:
        kept.give(file)
    except OSError as error:
        needs(available=False, reason=f"a system and a file system that have it ({error.strerror})")
    before = kept.look(file)
    assert machine.toolsync(*APPLY).said == (0, "")
    assert (kept.look(file), b"some-model" in file.read_bytes()) == (before, True)
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert (kept.look(file), file.read_bytes()) == (before, kept.text)


def test_a_bind_mount_is_kept(machine: Machine) -> None:
    """As Docker mounts single files: nothing can be renamed over it, so it is written through."""
    programs = [shutil.which(name) for name in (UNSHARE[0], "sh", "mount")]
    needs(all(programs), "unshare and mount (util-linux)")
    unshare, shell, mount = map(str, programs)
    mounted = [unshare, *UNSHARE[1:], shell, "-c", f'{mount} --bind "$0" "$1" && shift && exec "$@"']
    machine.profile(PATHS, key="env:WORK_KEY")
    machine.environ["WORK_KEY"] = invented("mounted")
    file, real = machine.write(FILE, ""), machine.write("elsewhere/real.json", TEXT)
    before = (*mounted, str(real), str(file))
    mounts = subprocess.run([*before, "true"], capture_output=True, check=False)
    needs(mounts.returncode == 0, "mount namespaces (root, or user namespaces)")
    inode = real.stat().st_ino
    assert machine.child(*APPLY, before=before).said == (0, "")
    assert (real.stat().st_ino, "some-model" in real.read_text(), file.read_text()) == (inode, True, "")
    assert machine.child("status", before=before).code == 0
    assert machine.child("undo", "--yes", before=before).said == (0, "")
    assert (real.stat().st_ino, real.read_text(), file.read_text()) == (inode, TEXT, "")
    assert not list(machine.home.rglob("*.tmp"))


@pytest.mark.parametrize(
    ("typed", "mode"),
    [
        pytest.param(invented("typed-since"), 0o600, id="a key"),
        pytest.param("${MINE}", 0o640, id="a reference"),
        pytest.param("", 0o640, id="nothing"),
    ],
)
def test_what_was_shut_is_not_opened_over_a_key_of_the_users(machine: Machine, typed: str, mode: int) -> None:
    """Whoever types a key into a file that nobody else can read does not expect `undo` to show it."""
    machine.profile(f'plaintext = "allow"\n{PATHS}key_way = "plaintext"\n')
    file = machine.write(FILE, TEXT)
    file.chmod(0o640)
    assert machine.toolsync(*APPLY).code == 0
    assert _mode(file) == 0o600
    file.write_text(re.sub('("apiKey"): "[^"]*"', rf'\1: "{typed}"', file.read_text()))
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, _mode(file), f'"apiKey": "{typed}"' in file.read_text()) == (0, mode, True)
    assert ("stays shut to others" in ran.out, "mode was 0640" in ran.out) == ((mode == 0o600),) * 2


def test_nor_does_the_next_apply_open_it(machine: Machine) -> None:
    plain = f'plaintext = "allow"\n{PATHS}key_way = "plaintext"\n'
    machine.profile(plain)
    file = machine.write(FILE, TEXT.replace('  "apiKey": "${OLD}",\n', ""))
    file.chmod(0o640)
    assert machine.toolsync(*APPLY).code == 0
    file.write_text(re.sub('("apiKey"): "[^"]*"', rf'\1: "{invented("typed-since")}"', file.read_text()))
    machine.profile(f"{PATHS}enabled = false\n")
    for words in (("apply", "--yes", "--no-ping"), ("undo", "--yes")):
        machine.toolsync(*words)
        assert _mode(file) == 0o600
