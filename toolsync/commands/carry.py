"""A plan carried out: old secrets to the keyring, then files and memory in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolsync import disk, transaction
from toolsync import memory as memories
from toolsync.commands.planning import Plan
from toolsync.commands.result import Message
from toolsync.errors import SecretError
from toolsync.masking import Secret
from toolsync.plan import FilePlan
from toolsync.remembered import FileMemory, Memory
from toolsync.session import Session
from toolsync.transaction import Write


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
    with _kept(session, plan):
        transaction.commit(writes, state_dir=session.state)
    return tuple(_forgotten(session, plan))


@contextmanager
def _kept(session: Session, plan: Plan) -> Iterator[None]:
    """What may hold an old key goes to the keyring before anything is written; after a failure it is as before."""
    texts = {name: text for file in plan.files for name, text in file.kept.items()}
    if not texts:
        yield
        return
    vault = session.open_vault()
    before = {name: vault.get(name) for name in texts}
    try:
        for name, text in texts.items():
            vault.set(name, Secret(text))
        yield
    except BaseException:
        for name, secret in before.items():
            vault.remove(name) if secret is None else vault.set(name, secret)
        raise


def _forgotten(session: Session, plan: Plan) -> Iterator[Message]:
    """Take out of the keyring what is needed no more; the files are written, so a failure is only said."""
    names = {name for file in plan.files for name in file.forgotten}
    try:
        for name in names:
            session.open_vault().remove(name)
    except SecretError as error:
        yield Message("warning", f"old values that nobody needs any more stay in the keyring: {error.message}")


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
