"""A keyring that outlives its process, and homes put back: for commands that are killed on the way."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.acceptance.machine import Machine
from toolsync.masking import Secret
from toolsync.secret.vault import MemoryVault


class OnDisk(MemoryVault):
    """Outlives a process; each change is a step at which it may be killed. Written in hexadecimal."""

    backend = "disk"

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def names(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.path.read_text()) if self.path.exists() else {}
        return found

    def get(self, name: str) -> Secret | None:
        value = self.names().get(name)
        return None if value is None else Secret(bytes.fromhex(value).decode())

    def set(self, name: str, secret: Secret) -> None:
        self.put({**self.names(), name: secret.reveal().encode().hex()})

    def remove(self, name: str) -> bool:
        names = self.names()
        was_there = names.pop(name, None) is not None
        self.put(names)
        return was_there

    def put(self, names: dict[str, str]) -> None:
        """Hold just these."""
        draft = self.path.with_suffix(".new")
        draft.write_text(json.dumps(names))
        os.replace(draft, self.path)  # noqa: PTH105  the call that is a step


@contextmanager
def again(machine: Machine, vault: OnDisk) -> Iterator[Callable[[], None]]:
    """Puts home and keyring back to what they are now."""
    kept, names = machine.place / "kept", vault.names()
    shutil.copytree(machine.home, kept, symlinks=True)

    def afresh() -> None:
        shutil.rmtree(machine.home)
        shutil.copytree(kept, machine.home, symlinks=True)
        vault.put(names)

    yield afresh
    shutil.rmtree(kept)
