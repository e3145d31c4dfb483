"""A plan carried out: old secrets to the keyring, then files and memory in one transaction."""

from __future__ import annotations

import glob
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from toolsync import disk, transaction
from toolsync import memory as memories
from toolsync.commands.writing import forgetting
from toolsync.commands.writing.entering import Entries
from toolsync.errors import ChangedError, ToolsyncError
from toolsync.masking import Secret
from toolsync.plan import FilePlan
from toolsync.planning import guarding
from toolsync.planning.plans import Plan
from toolsync.planning.stores import Address, Shelf
from toolsync.remembered import FileMemory, Memory
from toolsync.session import Session
from toolsync.store import token_now
from toolsync.transaction import Alongside, StoreCommit, Write
from toolsync.transaction.check import steps, stop_at_read_only

_PRIVATE = 0o600


def carry_out(session: Session, plan: Plan, memory: Memory, also: Alongside | None = None) -> None:
    """Make every file what the plan says, and remember it.

    Args:
        session: whose state folder and keyring.
        plan: what to do.
        memory: what is remembered of everything but the plan's files; theirs is laid over it.
        also: goes the way that the files go.

    Raises:
        ChangedError: a file is not what it was when the plan was made; nothing was written.
        FileError, TransactionError, SecretError: it cannot be done; nothing was written.
    """
    *before, rest = _turns(plan.files)
    entries, plan = plan.entries, replace(plan, entries=())
    for files in before:
        plan = _carried(session, plan, files, plan.memory, None)
    whole = replace(plan.memory, profile=memory.profile, applied=memory.applied)
    _carried(session, replace(plan, entries=entries), rest, whole, also)


def _turns(files: Sequence[FilePlan]) -> Iterator[Sequence[FilePlan]]:
    """What goes into a transaction of its own, in order: nearly always, everything goes into one.

    Lines that keep the key out of git stand before there is a file with the key, its temp file included; and a
    transaction has one store, so that the rows of a database that was moved away go before those of today's.
    """
    first = [file for file in files if guarding.only_gains(file)]
    if first:
        yield first
    containers = list(dict.fromkeys(file.container for file in files if file.container and file.is_change))
    for container in containers[:-1]:
        yield [file for file in files if file.container == container]
    yield [file for file in files if file not in first and file.container not in containers[:-1]]


def _carried(session: Session, plan: Plan, files: Sequence[FilePlan], memory: Memory, also: Alongside | None) -> Plan:
    """Some files of the plan carried out in one transaction and remembered, and the plan as it goes on."""
    path = disk.resolve(memories.path_in(session.state))
    memory = _with_files(memory, files, plan.entries)
    content = memories.dump(memory)
    writes = [_write(file, plan) for file in files if _is_written(file)]
    writes.append(Write(path, plan.memory_sha256, content, private=True))
    shelves = [shelf for shelf in plan.shelves if _parts(shelf, files)]
    commit = _Rows(shelves, files, plan).commit() if shelves else None
    along = (_Keyring(session, [*files, *plan.entries]), Entries(session, plan.entries, content), also)
    alongside = _InTurn([step for step in along if step is not None])
    transaction.commit(writes, state_dir=session.state, store=commit, alongside=alongside)
    return replace(plan, memory=memory, memory_sha256=disk.digest(content))


def stop_at_unwritable(plan: Plan) -> None:
    """Let a plan pass whose files can be written, as far as can be told: nobody is asked about it in vain.

    Raises:
        FileError: a file, a container or its folder is read-only.
        TransactionError: two files of the plan are one.
    """
    with suppress(ChangedError):  # whoever carries it out plans again
        steps([_write(file, plan) for file in plan.files if _is_written(file)])
    for shelf in plan.shelves:
        if _parts(shelf, plan.files):
            stop_at_read_only(shelf.path, shelf.status)


class _Rows:
    """The rows of one container as a transaction writes them, whichever profiles they belong to."""

    def __init__(self, shelves: Sequence[Shelf], files: Sequence[FilePlan], plan: Plan) -> None:
        self._one, self._shelves, self._files, self._plan = shelves[0], shelves, files, plan

    def commit(self) -> StoreCommit:
        """What decides over the transaction."""
        return StoreCommit(self._one.path, self._one.seen.rows, self._write, token_now, self._modes())

    def _modes(self) -> tuple[int, int] | None:
        """The container's permission bits before and after, where they change."""
        before, after = stat.S_IMODE(self._one.path.stat().st_mode), self._mode
        if after is None:
            return None
        return before, before & after if after == _PRIVATE else after

    @cached_property
    def _mode(self) -> int | None:
        return _container_mode(self._one.path, self._files, self._plan)

    def _write(self, prepared: Callable[[str], None]) -> None:
        """Write them; the container is shut to others before a key goes in, and opened again when the last is gone."""
        path, mode = self._one.path, self._mode
        rows = {shelf.profile: _parts(shelf, self._files) for shelf in self._shelves}
        with _shut(path) if mode == _PRIVATE else nullcontext():
            self._one.store.write(path, rows, self._one.seen, prepared)
        if mode not in (None, _PRIVATE):
            path.chmod(mode)


@contextmanager
def _shut(path: Path) -> Iterator[None]:
    """A container, and the journals beside it, for nobody but its owner; as they were if what follows fails."""
    before: dict[Path, int] = {}
    try:
        for file in (path, *path.parent.glob(f"{glob.escape(path.name)}-*")):
            with suppress(FileNotFoundError):  # a journal, which may be gone by now
                before[file] = file.stat().st_mode
                file.chmod(before[file] & _PRIVATE)
        yield
    except BaseException:
        for file, mode in before.items():
            with suppress(OSError):
                file.chmod(mode)
        raise


def _container_mode(container: Path, files: Sequence[FilePlan], plan: Plan) -> int | None:
    """The permission bits that the container is to have; None where they stay."""
    after = _with_files(plan.memory, files).files
    parts = [file for real, file in after.items() if Address.parse(real).path == container]
    if any(layer.holds_key for file in parts for layer in file.layers):
        return _PRIVATE
    gone = [file.remembered for file in files if file.container == str(container) and file.remembered]
    return next((file.mode for file in gone if file.mode is not None), None)


def _parts(shelf: Shelf, files: Sequence[FilePlan]) -> dict[str, str | None]:
    """What is made of the shelf's parts, by name; those that stay are left out."""
    on_it = [file for file in files if file.is_change and _is_on(shelf, file)]
    return {Address.parse(file.path).part: file.after for file in on_it}


def _is_on(shelf: Shelf, file: FilePlan) -> bool:
    place = Address.parse(file.path)
    return bool(file.container) and (place.path, place.profile) == (shelf.path, shelf.profile)


class _Keyring(Alongside):
    """What may be the user's old key goes there before the files are new; see `forgetting` for what goes out."""

    def __init__(self, session: Session, files: Sequence[FilePlan]) -> None:
        self._session = session
        self._kept = {name: text for file in files for name, text in file.kept.items()}
        self._moving = {*self._kept, *(name for file in files for name in file.forgotten)}

    def prepare(self) -> None:
        if self._moving:
            forgetting.expect(self._session, self._moving)
        if not self._kept:
            return
        vault = self._session.open_vault()
        for name, text in self._kept.items():
            if vault.get(name) != Secret(text):
                vault.set(name, Secret(text))

    def take_back(self) -> None:
        """What only the new memory would have needed goes; where that fails, the next command sees to it."""
        with suppress(ToolsyncError):
            forgetting.removed(self._session)


class _InTurn(Alongside):
    """Things that go along with the files, one after the other."""

    def __init__(self, steps: Sequence[Alongside]) -> None:
        self._steps = steps

    def prepare(self) -> None:
        for step in self._steps:
            step.prepare()

    def take_back(self) -> None:
        for step in reversed(self._steps):
            step.take_back()

    def finish(self) -> None:
        for step in self._steps:
            step.finish()


def _with_files(memory: Memory, files: Sequence[FilePlan], entries: Sequence[FilePlan] = ()) -> Memory:
    after = replace(memory, files=_with_plans(memory.files, files), entries=_with_plans(memory.entries, entries))
    set_now = {layer.tool for file in after.everything.values() for layer in file.layers}
    return replace(after, applied={tool: name for tool, name in memory.applied.items() if tool in set_now})


def _with_plans(remembered: Mapping[str, FileMemory], planned: Sequence[FilePlan]) -> dict[str, FileMemory]:
    after = dict(remembered)
    for file in planned:
        if file.memory is None:
            after.pop(file.path, None)
        else:
            after[file.path] = file.memory
    return after


def _is_written(file: FilePlan) -> bool:
    return not file.container and (file.is_change or file.is_readable)


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
    """The user's own permission bits, once no key of ours is in the file any more, nor one that they put in since."""
    if file.holds_key or file.stays_shut or file.remembered is None or file.after is None:
        return None
    return file.remembered.mode


def _folders(memory: FileMemory) -> Iterator[Path]:
    yield from map(Path, reversed(memory.folders))
