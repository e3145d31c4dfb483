"""The disk, the keyring or a person says no midway: nothing is lost, each is said, and the next run goes through."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.acceptance.machine import Machine
from tests.conftest import needs
from tests.keys import invented
from tests.transaction.test_commit import UNSHARE
from toolsync import transaction
from toolsync.errors import KeyringLockedError
from toolsync.masking import Secret
from toolsync.secret.backend import UNLOCK
from toolsync.secret.vault import MemoryVault

CODEX, SERVICE = ".codex/config.toml", "service/settings.json"
BEFORE = {CODEX: '# mine\nmodel = "gpt-5"\n', SERVICE: '{\n  "apiKey": "${OLD}"\n}\n'}
PATHS = f'\n[profiles.work.tool.settings-json]\npaths = ["~/{SERVICE}"]\n'
APPLY = ("apply", "--yes", "--no-ping")
ANEW = "planning again\n"


class Fault(NamedTuple):
    """What goes wrong, what is said, and how it is mended.

    Attributes:
        before: on the disk, before apply is called.
        said: exit code and stderr.
        between: after the plan, before anything is written.
        failing: a call of `os`, the part of a name that it fails for, and its error.
        mend: after which apply goes through.
        after: what stands in the service's file after the fault, where that is not what stood there before.
    """

    said: tuple[int, str]
    before: Callable[[Path], object] = lambda file: file
    between: Callable[[Path], object] = lambda file: file
    failing: tuple[str, str, BaseException] | None = None
    mend: Callable[[Path], object] = lambda file: file
    after: str | None = BEFORE[SERVICE]


def _error(message: str, hint: str) -> tuple[int, str]:
    return 2, f"error: {message}\n  hint: {hint}\n"


def _writable(what: str) -> str:
    return f"Make it writable (`chmod u+w {what}`), or leave this tool out."


def _folder(file: Path) -> None:
    file.rename(file.with_name("aside"))
    file.mkdir()


def _file_again(file: Path) -> None:
    file.rmdir()
    file.with_name("aside").rename(file)


def _loop(file: Path) -> None:
    file.rename(file.with_name("aside"))
    file.symlink_to(file.name)


def _loop_cut(file: Path) -> None:
    file.unlink()
    file.with_name("aside").rename(file)


def _dangling(file: Path) -> None:
    file.unlink()
    file.symlink_to("nowhere/yet.json")


def _vanished(file: Path) -> None:
    shutil.rmtree(file.parent)


FAULTS = {
    "read-only file": Fault(
        _error(f"~/{SERVICE} is read-only", _writable(f"~/{SERVICE}")),
        before=lambda file: file.chmod(0o444),
        mend=lambda file: file.chmod(0o644),
    ),
    "read-only file, since the plan": Fault(
        _error(f"~/{SERVICE} is read-only", _writable(f"~/{SERVICE}")),
        between=lambda file: file.chmod(0o444),
        mend=lambda file: file.chmod(0o644),
    ),
    "read-only folder": Fault(
        _error("~/service is read-only: settings.json cannot be replaced in it", _writable("~/service")),
        before=lambda file: file.parent.chmod(0o555),
        mend=lambda file: file.parent.chmod(0o755),
    ),
    "disk full": Fault(
        _error(f"~/{SERVICE}: the disk is full", "Free some space and run the command again."),
        failing=("write", "service", OSError(errno.ENOSPC, "No space left on device")),
    ),
    "quota": Fault(
        _error(f"~/{SERVICE}: your disk quota is used up", "Free some space and run the command again."),
        failing=("fsync", "service", OSError(errno.EDQUOT, "Disk quota exceeded")),
    ),
    "EIO": Fault(
        _error(f"~/{SERVICE}: the disk reports a fault", "Look into the system's log; the disk may be failing."),
        failing=("fsync", "service", OSError(errno.EIO, "Input/output error")),
    ),
    "EPERM": Fault(
        _error(
            f"~/{SERVICE}: the operation is not permitted", "See its owner and its attributes (`ls -ld`, `lsattr`)."
        ),
        failing=("fchmod", "service", PermissionError(errno.EPERM, "Operation not permitted")),
    ),
    "Ctrl-C": Fault(
        (130, "error: interrupted; nothing more was done\n"),
        failing=("fsync", "service", KeyboardInterrupt()),
    ),
    "a folder in its place": Fault(
        _error(f"~/{SERVICE} is a folder, not a file", "Move it away, or point the tool elsewhere."),
        between=_folder,
        mend=_file_again,
        after=None,
    ),
    "a loop of links": Fault(
        _error(f"~/{SERVICE}: its links lead in a circle", "Remove one of them."),
        between=_loop,
        mend=_loop_cut,
        after=None,
    ),
    "a link that leads nowhere": Fault(
        (0, f"~/{SERVICE} is now a link, or lies behind one; {ANEW}"),
        between=_dangling,
        after="",
    ),
    "a vanished folder": Fault((0, f"~/{SERVICE} is gone; {ANEW}"), between=_vanished, after=""),
}


@pytest.fixture
def ready(machine: Machine) -> Machine:
    """Two tools."""
    for name, text in BEFORE.items():
        machine.write(name, text)
    machine.profile(PATHS)
    return machine


def _meddling(patch: pytest.MonkeyPatch, file: Path, fault: Fault) -> None:
    """The fault happens once, and only to the tool's file."""
    commit, pending = transaction.commit, [fault.between]

    def late(*arguments: Any, **named: Any) -> object:
        if pending:
            pending.pop()(file)
        return commit(*arguments, **named)

    patch.setattr(transaction, "commit", late)
    if fault.failing is None:
        return
    name, where, error = fault.failing
    call = getattr(os, name)

    def failing(descriptor: int, *rest: Any, **named: Any) -> Any:
        target = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        if where in target and not target.endswith(where):
            raise error
        return call(descriptor, *rest, **named)

    patch.setattr(os, name, failing)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_nothing_is_lost_and_it_is_said(ready: Machine, fault: Fault) -> None:
    needs(Path("/proc/self/fd").is_dir(), "/proc")
    file = ready.home / SERVICE
    fault.before(file)
    with pytest.MonkeyPatch.context() as patch:
        _meddling(patch, file, fault)
        ran = ready.toolsync(*APPLY)
    assert ran.said == fault.said
    _nothing_lies_about(ready)
    if ran.code == 0:
        assert "some-model" in file.read_text()
        return
    assert ready.read(CODEX) == BEFORE[CODEX]
    if fault.after is not None:
        assert file.read_text() == fault.after
    fault.mend(file)
    assert ready.toolsync(*APPLY).said == (0, "")
    assert ready.toolsync("undo", "--yes").said == (0, "")
    assert {name: ready.read(name) for name in BEFORE} == BEFORE
    assert ready.kept == {"work"}


def _nothing_lies_about(machine: Machine) -> None:
    assert not list(machine.home.rglob("*.tmp"))
    assert not list(machine.state.glob("journal*"))
    assert not transaction.pending(machine.state)


class LockingVault(MemoryVault):
    """Is locked after so many changes."""

    def __init__(self, changes: int) -> None:
        super().__init__()
        self.changes = changes

    def set(self, name: str, secret: Secret) -> None:
        self._count()
        super().set(name, secret)

    def remove(self, name: str) -> bool:
        self._count()
        return super().remove(name)

    def _count(self) -> None:
        if not self.changes:
            raise KeyringLockedError("the keyring is locked", hint=UNLOCK)
        self.changes -= 1


THEIRS = {
    CODEX: f'model = "gpt-5"\n\n[model_providers.toolsync]\nexperimental_bearer_token = "{invented("a")}"\n',
    SERVICE: f'{{\n  "apiKey": "{invented("b")}"\n}}\n',
}


@pytest.mark.parametrize(("changes", "code"), [(0, 2), (1, 2), (2, 2), (3, 0)])
def test_a_keyring_that_is_locked_midway(ready: Machine, changes: int, code: int) -> None:
    """Three values of the user's go there, and while they do all stays old."""
    for name, text in THEIRS.items():
        ready.write(name, text)
    vault = LockingVault(1)
    ready.vault = vault
    vault.set("work", Secret(invented("work")))
    vault.changes = changes
    ran = ready.toolsync(*APPLY)
    _nothing_lies_about(ready)
    assert ran.said == ((0, "") if code == 0 else _error("the keyring is locked", UNLOCK))
    if code == 2:
        assert {name: ready.read(name) for name in THEIRS} == THEIRS
    vault.changes = 99
    assert ready.toolsync(*APPLY).said == (0, "")
    assert ready.toolsync("undo", "--yes").said == (0, "")
    assert ({name: ready.read(name) for name in THEIRS}, ready.kept) == (THEIRS, {"work"})


def test_a_disk_that_is_really_full(ready: Machine) -> None:
    programs = [shutil.which(name) for name in (UNSHARE[0], "sh", "mount")]
    needs(all(programs), "unshare and mount (util-linux)")
    unshare, shell, mount = map(str, programs)
    folder = ready.home / "service"
    script = (
        f'{mount} -t tmpfs -o size=64k tmpfs "$0" || exit 99; cd "$0"; printf %s "$1" > settings.json; shift; '
        '(while printf %4096s x; do :; done) > filler 2>/dev/null; "$@"; code=$?; '
        'IFS= read -r line < settings.json; printf "%s " "$line" .* *; exit $code'
    )
    before = (unshare, *UNSHARE[1:], shell, "-c", script, str(folder), '{"apiKey": "${OLD}"}')
    mounts = subprocess.run([*before, "true"], capture_output=True, check=False)
    needs(mounts.returncode != 99, "mount namespaces (root, or user namespaces)")
    ready.profile(PATHS, key="env:WORK_KEY")
    ready.environ["WORK_KEY"] = invented("full")
    ran = ready.child(*APPLY, before=before)
    assert ran.said == _error(f"~/{SERVICE}: the disk is full", "Free some space and run the command again.")
    assert ran.out.split("\n")[-1].split() == ['{"apiKey":', '"${OLD}"}', ".", "..", "filler", "settings.json"]
    assert ready.read(CODEX) == BEFORE[CODEX]
    _nothing_lies_about(ready)


BROKEN = {
    "a broken file": (SERVICE, lambda file: file.write_text("{")),
    "a folder": (SERVICE, _folder),
    "a read-only file": (CODEX, lambda file: file.chmod(0o444)),
}


@pytest.mark.parametrize(("name", "spoil"), BROKEN.values(), ids=BROKEN)
def test_undo_of_what_cannot_be_given_back_names_what_can(
    ready: Machine, name: str, spoil: Callable[[Path], object]
) -> None:
    """All or none; and nobody is stuck with all because of one."""
    ready.write(".claude/settings.json", "{}\n")
    assert ready.toolsync(*APPLY).code == 0
    spoil(ready.home / name)
    rest = ["claude-code", "settings-json" if name == CODEX else "codex"]
    with ready.untouched():
        ran = ready.toolsync("undo", "--yes")
    assert ran.code == 2
    assert f"~/{name}" in ran.err
    assert ran.err.endswith(f" `toolsync undo {' '.join(rest)}` gives the rest back.\n")
    assert ready.toolsync("undo", *rest, "--yes").said == (0, "")
    assert (ready.read(".claude/settings.json"), len(ready.memory["files"])) == ("{}\n", 1)
    assert "gives the rest back" not in ready.toolsync("undo", "--yes").err
