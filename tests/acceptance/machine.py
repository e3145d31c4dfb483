"""A machine of its own for one test: a home, a profile, a keyring in memory, and the real command line."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.key_print import program
from tests.keys import invented
from toolsync import masking, process
from toolsync.__main__ import main
from toolsync.cli import context
from toolsync.masking import Secret
from toolsync.process import Process
from toolsync.secret.vault import MemoryVault, Vault

KEY = invented("acceptance")
ADDRESS = "https://gateway.example/api"
OWN_FOLDERS = (".local/state/toolsync", "Library/Application Support/toolsync")
"""Where toolsync keeps its memory, below the home."""


@dataclass(frozen=True)
class Ran:
    """A command line that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def said(self) -> tuple[int, str]:
        """The exit code and stderr: what a refused command is judged by."""
        return self.code, self.err


@dataclass(frozen=True)
class Entry:
    """What stands at a path: enough to tell that nothing was written there."""

    kind: str
    mode: int
    content: bytes
    inode: int
    mtime_ns: int


@dataclass
class Machine:
    """A home without tools; `toolsync` runs the command line in this process, `child` in one of its own."""

    place: Path
    config: Path
    capture: pytest.CaptureFixture[str]
    vault: Vault = field(default_factory=MemoryVault)
    environ: dict[str, str] = field(default_factory=dict)
    processes: tuple[Process, ...] = ()

    def __post_init__(self) -> None:
        for folder in (self.home, self.project, self.config.parent):
            folder.mkdir(parents=True, exist_ok=True)
        if isinstance(self.vault, MemoryVault):
            self.vault.set("work", Secret(KEY))

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def state(self) -> Path:
        return next((self.home / name for name in OWN_FOLDERS if (self.home / name).is_dir()), self.home / "none")

    def profile(self, rest: str = "", *, base_url: str = ADDRESS, key: str = "keyring:work") -> None:
        """Write the profile file: one profile `work`, of six lines with the first two, then `rest`."""
        fields = f'base_url = "{base_url}"\nmodel = "some-model"\nkey = "{key}"\n'
        self.config.write_text(f'active = "work"\n\n[profiles.work]\n{fields}{rest}', encoding="utf-8")

    def write(self, name: str, content: str | bytes) -> Path:
        """A file of the home, its folders made."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, name: str) -> str:
        return (self.home / name).read_bytes().decode()

    def toolsync(self, *arguments: str) -> Ran:
        with pytest.MonkeyPatch.context() as patch:
            self._enter(patch)
            self.capture.readouterr()
            code = main(arguments)
            out, err = self.capture.readouterr()
        return Ran(code, out, err)

    def _enter(self, patch: pytest.MonkeyPatch) -> None:
        enter(patch, self._environ(), self.project)
        patch.setattr(context, "_vault", lambda _is_interactive: lambda: self.vault)
        patch.setattr(process, "running", lambda: self.processes)  # an editor that is open here is no part of the test

    def _environ(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": "/nowhere", "TOOLSYNC_CONFIG": str(self.config), **self.environ}

    def child(self, *arguments: str, before: tuple[str, ...] = (), stdin: str = "", **environ: str) -> Ran:
        """In a process of its own, where the keyring is the real one; `before` is put in front of its argv."""
        done = subprocess.run(
            [*before, *program(is_isolated=False), *arguments],
            env={**self._environ(), **environ},
            cwd=self.project,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def contents(self) -> dict[str, str]:
        """The text of every file of the home, toolsync's own aside, CRLF and BOM kept."""
        return {name: entry.content.decode() for name, entry in self.entries().items() if entry.kind == "file"}

    def entries(self) -> dict[str, Entry]:
        """Everything in the home, toolsync's own folders aside, links not followed."""
        return dict(self._entries(self.home))

    def _entries(self, folder: Path) -> Iterator[tuple[str, Entry]]:
        for path in sorted(folder.iterdir()):
            name = path.relative_to(self.home).as_posix()
            if name in OWN_FOLDERS:
                continue
            yield name, _entry(path)
            if path.is_dir() and not path.is_symlink():
                yield from self._entries(path)

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """What happens inside writes nothing: no byte, no mode, no new inode or time; and memory stays."""
        before, memory = _files(self.entries()), self._memory()
        yield
        assert _files(self.entries()) == before
        assert self._memory() == memory

    @property
    def memory(self) -> Any:
        """What toolsync remembers, as it lies on disk."""
        return json.loads((self.state / "memory.json").read_bytes())

    @property
    def kept(self) -> set[str]:
        """The names of what the keyring holds."""
        assert isinstance(self.vault, MemoryVault)
        return set(self.vault._secrets)

    def _memory(self) -> bytes | None:
        file = self.state / "memory.json"
        return file.read_bytes() if file.exists() else None


def enter(patch: pytest.MonkeyPatch, environ: Mapping[str, str], folder: Path) -> None:
    """Be in `folder`, with this environment and no key known, as a process of its own would be."""
    for name in list(os.environ):
        if name not in ("TMPDIR", "PYTEST_CURRENT_TEST"):
            patch.delenv(name)
    for name, value in environ.items():
        patch.setenv(name, value)
    patch.chdir(folder)
    patch.setattr(masking, "_known", set())


def _entry(path: Path) -> Entry:
    status = path.lstat()
    kind = {stat.S_IFLNK: "link", stat.S_IFDIR: "folder"}.get(stat.S_IFMT(status.st_mode), "file")
    return Entry(kind, stat.S_IMODE(status.st_mode), _content(path, kind), status.st_ino, status.st_mtime_ns)


def _content(path: Path, kind: str) -> bytes:
    if kind == "link":
        return str(path.readlink()).encode()
    return path.read_bytes() if kind == "file" and os.access(path, os.R_OK) else b""


def _files(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Without the folders above toolsync's own, which come with it."""
    return {name: entry for name, entry in entries.items() if entry.kind != "folder"}
