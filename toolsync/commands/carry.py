"""A plan carried out: old secrets to the keyring, then files and memory in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from toolsync import disk, transaction
from toolsync import memory as memories
from toolsync.commands.planning import Plan
from toolsync.commands.result import Message
from toolsync.errors import SecretError
from toolsync.masking import Secret
from toolsync.plan import FilePlan
from toolsync.remembered import FileMemory, Memory
from toolsync.session import Session
from toolsync.transaction import Alongside, Write

if TYPE_CHECKING:
    from toolsync.secret.vault import Vault


def carry_out(session: Session, plan: Plan, memory: Memory) -> tuple[Message, ...]:
    """Make every file what the plan says, and remember it; what could not be tidied up afterwards.

    Args:
        session: whose state folder and keyring.
        plan: what to do.
        memory: what is remembered of everything but the plan's files; theirs is laid over it.

    Raises:
        ChangedError: a file is not what it was when the plan was made; nothing was written.
        FileError, TransactionError, SecretError: it cannot be done; nothing was written.
    """
    path = disk.resolve(memories.path_in(session.state))
    content = memories.dump(_with_files(memory, plan))
    writes = [_write(file, plan) for file in plan.files if file.is_change]
    writes.append(Write(path, plan.memory_sha256, content, private=True))
    keyring = _Keyring(session, plan)
    transaction.commit(writes, state_dir=session.state, alongside=keyring)
    return tuple(keyring.untidy)


class _Keyring(Alongside):
    """What may be the user's old key goes there before the files are new, and what nobody needs goes after."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self.untidy: list[Message] = []
        self._session = session
        self._kept = {name: text for file in plan.files for name, text in file.kept.items()}
        self._forgotten = {name for file in plan.files for name in file.forgotten}
        self._before: dict[str, Secret | None] = {}

    @cached_property
    def _vault(self) -> Vault:
        return self._session.open_vault()

    def prepare(self) -> None:
        for name, text in self._kept.items():
            self._before[name] = self._vault.get(name)
            self._vault.set(name, Secret(text))

    def take_back(self) -> None:
        for name, secret in self._before.items():
            self._vault.remove(name) if secret is None else self._vault.set(name, secret)

    def finish(self) -> None:
        """A failure is only said: the files are written."""
        try:
            for name in self._forgotten:
                self._vault.remove(name)
        except SecretError as error:
            text = f"old values that nobody needs any more stay in the keyring: {error.message}"
            self.untidy.append(Message("warning", text))


def _with_files(memory: Memory, plan: Plan) -> Memory:
    files = dict(memory.files)
    for file in plan.files:
        if file.memory is None:
            files.pop(file.path, None)
        else:
            files[file.path] = file.memory
    return Memory(memory.key, memory.profile, files)


def _write(file: FilePlan, plan: Plan) -> Write:
    remembered = file.remembered or FileMemory()
    return Write(
        path=Path(file.path),
        expected=plan.snapshots[file.path].sha256,
        content=None if file.after is None else file.after.encode(),
        private=file.holds_key,
        mode=_mode(file),
        prune=tuple(_folders(remembered)) if file.after is None else (),
    )


def _mode(file: FilePlan) -> int | None:
    """The user's own permission bits, once no key of ours is in the file any more."""
    if file.holds_key or file.remembered is None or file.after is None:
        return None
    return file.remembered.mode


def _folders(memory: FileMemory) -> Iterator[Path]:
    yield from map(Path, reversed(memory.folders))
