"""`uninstall`: every value given back, then our entries in the keyring, then our own folder; what stays is named.

In this order, so that wherever it ends before its time, what is there suffices to go on: memory until the files are as
they were, then the note of the entries that must go, then nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolsync import disk
from toolsync import memory as memories
from toolsync.commands import undo as undoing
from toolsync.commands.describe import described_file
from toolsync.commands.keys.own import OwnKeys, own_keys
from toolsync.commands.staying import Staying, staying
from toolsync.commands.writing import forgetting, state_folder
from toolsync.commands.writing.state_folder import INDEX, LOCK, MEMORY, NOTE
from toolsync.errors import ChangedError, SecretError
from toolsync.masking import on_one_line
from toolsync.planning import plans as planning
from toolsync.remembered import vault_names
from toolsync.result import DONE, PROBLEM, Message, Result
from toolsync.session import Session
from toolsync.transaction import lock
from toolsync.transaction.journal import traces
from toolsync.value import frozen

_WAIT_SECONDS = 10.0


@frozen
class Plan:
    """Everything that goes, and what stays.

    Attributes:
        undo: what the tools get back.
        old_values: the keyring entries with the user's old values, of no use once they are given back.
        keys: the keys that may lie in the keyring.
        remove_keys: whether they go too.
        files: what lies in toolsync's own folder, and is ours.
        stays: what stays, keys aside.
    """

    undo: planning.Plan
    old_values: frozenset[str]
    keys: OwnKeys
    remove_keys: bool
    files: tuple[Path, ...]
    stays: tuple[Staying, ...]

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is left to remove."""
        return self.undo.is_nothing and not (self.old_values or self.going_keys or self.going_files)

    @property
    def going_keys(self) -> tuple[str, ...]:
        """The names of the keys that go."""
        return self.keys.stored if self.remove_keys else ()

    @property
    def going_files(self) -> tuple[Path, ...]:
        """The files that go."""
        return tuple(path for path in self.files if path.name not in self.staying_names)

    @property
    def staying_names(self) -> frozenset[str]:
        """The names of the files of ours that stay."""
        return frozenset({INDEX} if self.keeps_list else ()) | ({MEMORY, LOCK} if self.keeps_memory else frozenset())

    @property
    def keeps_memory(self) -> bool:
        """Whether something of the user's cannot be given back yet: then it stays remembered."""
        return any(file.memory is not None for file in self.undo.everything)

    @property
    def keeps_list(self) -> bool:
        """Whether the list of the keys stays, as it does as long as they do."""
        return not self.remove_keys and bool(self.keys.stored or self.keys.unknown)


def plan(session: Session, *, remove_keys: bool) -> Plan:
    """What `uninstall` would do, an interrupted change ended first.

    Raises:
        ToolsyncError: a tool's settings cannot be given back (see `plan_undo`), memory cannot be read, or keys are to
            be removed and the keyring does not answer. Nothing goes then.
    """
    undo = undoing.plan(session, ())
    keys = own_keys(session)
    if remove_keys and keys.problem is not None:
        raise keys.problem
    remembered = undo.memory.vault_names
    needed = frozenset().union(*(vault_names(file.memory) for file in undo.everything if file.memory))
    return Plan(
        undo,
        (remembered | state_folder.noted(session.state)) - needed,
        keys,
        remove_keys,
        state_folder.own_files(session.state),
        tuple(staying(session, undo, keys.stored)),
    )


def described(session: Session, planned: Plan) -> dict[str, Any]:
    """The plan as data, in the form of the result."""
    files = list(planned.going_files)
    goes_whole = files and files == list(planned.files) and not state_folder.other_files(session.state)
    folders = [session.state] if goes_whole else []
    gone = _Gone(sorted(planned.old_values), list(planned.going_keys), files, folders)
    return _data(session, planned, gone)


def messages(session: Session, planned: Plan) -> tuple[Message, ...]:
    """What a person should know before it is carried out."""
    return (*undoing.told(session, planned.undo), *planned.keys.warnings, *_last_words(session, planned))


def _last_words(session: Session, planned: Plan) -> Iterator[Message]:
    """That what opens the user's own files goes, and they do not."""
    for name in planned.going_keys:
        if files := planned.keys.opens.get(name):
            text = f"keyring:{name} goes, the passphrase of {_shut(session, files)}: without it nobody opens what stays"
            yield Message("warning", text, "Keep the passphrase elsewhere first, or remove the file too.")


def _shut(session: Session, files: Iterable[Path]) -> str:
    return on_one_line(", ".join(f"age:{session.shown(file)}" for file in files))


def execute(session: Session, planned: Plan) -> Result:
    """Give back, then remove.

    Raises:
        ChangedError: something was applied or changed meanwhile; nothing that it needs was removed.
        FileError, TransactionError, StoreError, SecretError: a file or row cannot be given back; nothing was removed.
    """
    if planned.is_nothing:
        state_folder.closed(session.state)  # left empty by a run that ended one step before its time
        stuck = tuple(_stuck(planned))
        said = (*messages(session, planned), *stuck)
        return Result("uninstall", described(session, planned), said, PROBLEM if stuck else DONE)
    had_folder = disk.is_there(session.state)
    last_words = tuple(_last_words(session, planned))
    given = undoing.give_back(session, planned.undo)
    with _alone(session):
        _stop_at_newcomers(session, planned)
        gone = _removed(session, planned)
    if had_folder and state_folder.closed(session.state):
        gone.folders.append(session.state)
    said = (*given.messages, *planned.keys.warnings, *last_words, *gone.problems)
    return Result("uninstall", _data(session, planned, gone), said, PROBLEM if gone.problems else DONE)


@dataclass
class _Gone:
    """What was removed, and what could not be."""

    old_values: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    problems: list[Message] = field(default_factory=list)


def _alone(session: Session) -> AbstractContextManager[None]:
    """No other toolsync writes; where it has no folder, there is nothing to write over."""
    return lock.held(session.state, _WAIT_SECONDS) if disk.is_there(session.state) else nullcontext()


def _stop_at_newcomers(session: Session, planned: Plan) -> None:
    """What another toolsync applied since the files were given back must not be forgotten."""
    remembered = memories.read(memories.path_in(session.state)).everything
    given = {file.path for file in planned.undo.everything if file.memory is None}
    if traces(session.state) or remembered.keys() - (planned.undo.memory.everything.keys() - given):
        raise ChangedError("another toolsync has applied a profile meanwhile", hint="Run the command again.")


def _removed(session: Session, planned: Plan) -> _Gone:
    """Out of the keyring, then off the disk; what a later uninstall needs stays until that is done."""
    gone = _Gone(problems=list(_stuck(planned)))
    keep = planned.staying_names
    try:
        _empty_keyring(session, planned, gone)
    except SecretError as error:
        keep |= {NOTE, INDEX}
        text = f"what toolsync keeps in the keyring could not all be removed: {error.message}"
        gone.problems.append(Message("problem", text, "Run this again where the keyring answers."))
    files = [path for path in state_folder.own_files(session.state) if path.name not in keep]
    gone.files, problems = state_folder.cleared(files)
    gone.problems += [Message("problem", error.message, error.hint) for error in problems]
    return gone


def _empty_keyring(session: Session, planned: Plan, gone: _Gone) -> None:
    gone.old_values = forgetting.removed(session)
    if planned.going_keys:
        vault = session.open_vault()
        gone.keys.extend(name for name in planned.going_keys if vault.remove(name))


def _stuck(planned: Plan) -> Iterator[Message]:
    if planned.keeps_memory:
        text = "what could not be given back stays remembered"
        yield Message("problem", text, "Mend what stands in the way, and run this again.")


def _left(session: Session, planned: Plan, gone: _Gone) -> Iterator[Staying]:
    for name in planned.keys.stored:
        if name not in gone.keys:
            files = planned.keys.opens.get(name)
            why = f"the passphrase of {_shut(session, files)}" if files else "it may be kept nowhere else"
            yield Staying("key", f"keyring:{name}", f"{why}; `toolsync uninstall --remove-keys` removes it")
    for name in planned.keys.unknown:
        yield Staying("key", f"keyring:{name}", "nobody can tell whether it is there: the keyring does not answer")
    for file in planned.keys.shut:
        yield Staying("file", session.shown(file), "your key, shut with a passphrase")
    for path in state_folder.own_files(session.state):
        if path not in gone.files and not (planned.keeps_memory and path.name == LOCK):
            yield Staying("file", session.shown(path), _reason(planned, path))
    yield from planned.stays


def _reason(planned: Plan, path: Path) -> str:
    if path.name in (INDEX, NOTE):
        return "the names of what stays in the keyring"
    return "it holds what could not be given back" if planned.keeps_memory else "it cannot be removed"


def _data(session: Session, planned: Plan, gone: _Gone) -> dict[str, Any]:
    return {
        "files": [described_file(session, file, planned.undo.memory.key) for file in planned.undo.everything],
        "written": sum(file.is_change for file in planned.undo.everything),
        "removed": [
            *({"kind": "old value", "name": name} for name in gone.old_values),
            *(
                {"kind": "passphrase" if name in planned.keys.opens else "key", "name": f"keyring:{name}"}
                for name in gone.keys
            ),
            *({"kind": "file", "name": session.shown(path)} for path in gone.files),
            *({"kind": "folder", "name": session.shown(path)} for path in gone.folders),
        ],
        "left": [vars(one) for one in _left(session, planned, gone)],
    }
