"""A plan carried out: old secrets to the keyring, then files and memory in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from toolsync import disk, transaction
from toolsync import memory as memories
from toolsync.commands.planning import Plan
from toolsync.commands.result import Message
from toolsync.commands.stores import Address, Shelf
from toolsync.errors import ChangedError, SecretError
from toolsync.masking import Secret
from toolsync.plan import FilePlan
from toolsync.remembered import FileMemory, Memory
from toolsync.session import Session
from toolsync.store import token_now
from toolsync.transaction import Alongside, StoreCommit, Write
from toolsync.transaction.check import steps

if TYPE_CHECKING:
    from toolsync.secret.vault import Vault

_PRIVATE = 0o600


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
    while len(shelves := [shelf for shelf in plan.shelves if _parts(shelf, plan)]) > 1:
        # A transaction has one store: the rows of other profiles go before it, each by itself.
        plan, memory = _carried_alone(session, shelves[-1], plan, memory)
    path = disk.resolve(memories.path_in(session.state))
    content = memories.dump(_with_files(memory, plan.files))
    writes = [_write(file, plan) for file in plan.files if file.is_change and not file.container]
    writes.append(Write(path, plan.memory_sha256, content, private=True))
    keyring = _Keyring(session, plan.files)
    commit = _Rows(shelves[0], plan).commit() if shelves else None
    transaction.commit(writes, state_dir=session.state, store=commit, alongside=keyring)
    return tuple(keyring.untidy)


def stop_at_unwritable(plan: Plan) -> None:
    """Let a plan pass whose files can be written, as far as can be told: nobody is asked about it in vain.

    Raises:
        FileError: a file or folder is read-only.
        TransactionError: two files of the plan are one.
    """
    with suppress(ChangedError):  # whoever carries it out plans again
        steps([_write(file, plan) for file in plan.files if file.is_change and not file.container])


def _carried_alone(session: Session, shelf: Shelf, plan: Plan, memory: Memory) -> tuple[Plan, Memory]:
    """One profile's rows carried out and remembered, and the plan that is left."""
    own = [file for file in plan.files if _is_on(shelf, file)]
    path = disk.resolve(memories.path_in(session.state))
    memory = _with_files(memory, own)
    content = memories.dump(memory)
    write = Write(path, plan.memory_sha256, content, private=True)
    rows = _Rows(shelf, plan)
    transaction.commit([write], state_dir=session.state, store=rows.commit(), alongside=_Keyring(session, own))
    rest = tuple(file for file in plan.files if not _is_on(shelf, file))
    shelves = tuple(replace(other, token=rows.token) if other.path == shelf.path else other for other in plan.shelves)
    return replace(plan, files=rest, shelves=shelves, memory_sha256=disk.digest(content)), memory


class _Rows:
    """The rows of one shelf as a transaction writes them.

    Attributes:
        token: what they are once they are written.
    """

    def __init__(self, shelf: Shelf, plan: Plan) -> None:
        self.token = shelf.token
        self._shelf, self._plan = shelf, plan

    def commit(self) -> StoreCommit:
        """What decides over the transaction."""
        return StoreCommit(self._shelf.path, self._shelf.token, self._write, token_now)

    def _write(self, prepared: Callable[[str], None]) -> None:
        """Write them; the container is shut to others before a key goes in, and opened again when the last is gone."""
        shelf, mode = self._shelf, _container_mode(self._shelf, self._plan)

        def noted(token: str) -> None:
            self.token = token
            prepared(token)

        if mode == _PRIVATE:
            shelf.path.chmod(shelf.path.stat().st_mode & mode)
        shelf.store.write(shelf.path, _parts(shelf, self._plan), shelf.token, noted)
        if mode not in (None, _PRIVATE):
            shelf.path.chmod(mode)


def _container_mode(shelf: Shelf, plan: Plan) -> int | None:
    """The permission bits that the container is to have; None where they stay."""
    after = _with_files(plan.memory, plan.files).files
    parts = [file for real, file in after.items() if Address.parse(real).path == shelf.path]
    if any(layer.holds_key for file in parts for layer in file.layers):
        return _PRIVATE
    gone = [file.remembered for file in plan.files if _is_on(shelf, file) and file.remembered]
    return next((file.mode for file in gone if file.mode is not None), None)


def _parts(shelf: Shelf, plan: Plan) -> dict[str, str | None]:
    """What the plan makes of the shelf's parts, by name; those that stay are left out."""
    on_it = [file for file in plan.files if file.is_change and _is_on(shelf, file)]
    return {Address.parse(file.path).part: file.after for file in on_it}


def _is_on(shelf: Shelf, file: FilePlan) -> bool:
    place = Address.parse(file.path)
    return bool(file.container) and (place.path, place.profile) == (shelf.path, shelf.profile)


class _Keyring(Alongside):
    """What may be the user's old key goes there before the files are new, and what nobody needs goes after."""

    def __init__(self, session: Session, files: Sequence[FilePlan]) -> None:
        self.untidy: list[Message] = []
        self._session = session
        self._kept = {name: text for file in files for name, text in file.kept.items()}
        self._forgotten = {name for file in files for name in file.forgotten}
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


def _with_files(memory: Memory, planned: Sequence[FilePlan]) -> Memory:
    files = dict(memory.files)
    for file in planned:
        if file.memory is None:
            files.pop(file.path, None)
        else:
            files[file.path] = file.memory
    return Memory(memory.key, memory.profile, files)


def _write(file: FilePlan, plan: Plan) -> Write:
    remembered = file.remembered or FileMemory()
    return Write(
        path=plan.snapshots[file.path].real,
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
