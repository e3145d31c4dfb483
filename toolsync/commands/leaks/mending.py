"""`check --fix`: what is safe to mend. Modes, lines for git's ignore files, and keys that tools can get another way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsync import disk, document, gitguard, transaction
from toolsync.commands import apply
from toolsync.commands.keys.stored import set_key, unset_key
from toolsync.commands.leaks.belonging import profile_of
from toolsync.commands.leaks.check import Checked, mendable
from toolsync.commands.leaks.finding import Finding
from toolsync.commands.leaks.otherwise import Moving, given_otherwise
from toolsync.errors import (
    ChangedError,
    DocumentError,
    ExposedKeyError,
    PingFailedError,
)
from toolsync.plan import FilePlan
from toolsync.planning.plans import Plan as ApplyPlan
from toolsync.remembered import Memory
from toolsync.result import Message
from toolsync.search import database
from toolsync.session import Session
from toolsync.transaction import Write
from toolsync.value import frozen

_OTHERS = 0o077


@frozen
class Shutting:
    """A file that is shut to all but its owner.

    Attributes:
        real: which, links followed.
        status: of what was looked at; None for one that is written before.
    """

    real: Path
    status: os.stat_result | None


@frozen
class Ignoring:
    """Lines that an ignore file of git's gets.

    Attributes:
        file: the ignore file.
        lines: what is added.
        write: how.
    """

    file: Path
    lines: tuple[str, ...]
    write: Write


@frozen
class Plan:
    """Everything that would be mended.

    Attributes:
        shut: modes.
        ignored: lines for git.
        moved: the key that goes into the keyring first; None for none.
        applied: what tools get in the place of a key in clear; None where none can.
        options: how that is applied.
        messages: what cannot be mended, and why.
    """

    shut: tuple[Shutting, ...]
    ignored: tuple[Ignoring, ...]
    moved: Moving | None
    applied: ApplyPlan | None
    options: apply.Options
    messages: tuple[Message, ...]

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to mend."""
        return not (self.shut or self.ignored or self.moved or self._applies)

    @property
    def _applies(self) -> bool:
        return self.applied is not None and not self.applied.is_nothing


def plan(session: Session, checked: Checked, *, ping: bool) -> Plan:
    """What can be mended of what was found; nothing is written.

    Args:
        session: the machine.
        checked: what was found.
        ping: whether the gateway is asked before a tool gets its key another way.

    Raises:
        TransactionError, FileError: what an interrupted run left cannot be ended.
    """
    fixes = {id(one): mendable(session, one, checked.looking) for one in checked.findings}

    def mended_by(fix: str) -> list[Finding]:
        return [one for one in checked.findings if fix in fixes[id(one)]]

    options = apply.Options(ping=ping)
    tools: dict[str, dict[str, None]] = {}
    for one in mended_by("apply"):
        tools.setdefault(profile_of(session, one, checked.sought), {})[one.tool] = None
    moved, applied, messages = given_otherwise(session, checked, tools, options)
    written = {file.path: file for file in applied.files if not file.is_nothing} if applied else {}
    return Plan(
        tuple(_shutting(checked, mended_by("mode"), written)),
        tuple(_ignored(mended_by("ignore"), written, checked.sought.memory)),
        moved,
        applied,
        options,
        messages,
    )


def _shutting(checked: Checked, findings: Sequence[Finding], written: Mapping[str, FilePlan]) -> Iterator[Shutting]:
    """The files that are to be shut; one that is written, if a key that is not ours still stands there then."""
    for real, one in {disk.resolve(one.file): one for one in findings}.items():
        status, file = checked.looking.status(one.file), written.get(str(real))
        if file is None and status is not None:
            yield Shutting(real, status)
            yield from (Shutting(log, log.stat()) for log in database.logs(real) if log.is_file())
        elif file is not None and file.is_change and not file.holds_key and one.hit.value in (file.after or ""):
            yield Shutting(real, None)


def _ignored(findings: Sequence[Finding], written: Mapping[str, FilePlan], memory: Memory) -> Iterator[Ignoring]:
    """The lines that keep files out of git, by ignore file; without files that `apply` sees to, which writes first.

    What toolsync writes beside a file for a moment is ignored too where the file is one that it writes.
    """
    by_file: dict[Path, list[str]] = {}
    for one in findings:
        real = disk.resolve(one.file)
        ignore_file = gitguard.ignore_file(real)
        if ignore_file is not None and str(real) not in written:
            needed = gitguard.lines(real)[: None if str(real) in memory.files else 1]
            by_file.setdefault(ignore_file, []).extend(needed)
    for ignore_file, lines in by_file.items():
        snapshot = disk.read(ignore_file, within=gitguard.left(ignore_file))
        applied = written.get(str(snapshot.real))
        raw = snapshot.raw if applied is None else (applied.after or "").encode()
        try:
            after = document.parse(raw or b"", "gitignore")
            missing = [line for line in dict.fromkeys(lines) if line not in after.data]
            for line in missing:
                after = after.set((line,), True)  # noqa: FBT003  what an ignore file holds at a pattern
        except DocumentError:
            continue
        if missing:
            write = Write(snapshot.real, None if raw is None else disk.digest(raw), after.text.encode())
            yield Ignoring(ignore_file, tuple(missing), write)


def described(session: Session, planned: Plan) -> dict[str, Any]:
    """The plan as data, for a person to say yes to."""
    key = [("key", str(planned.moved.reference))] if planned.moved else []
    modes = [("mode", session.shown(path)) for path in _shut_of(planned)]
    lines = [("ignore", f"{session.shown(one.file)}: {', '.join(one.lines)}") for one in planned.ignored]
    applied = apply.described(session, planned.applied) if planned.applied and not planned.applied.is_nothing else None
    return {"steps": [{"what": what, "shown": shown} for what, shown in (*key, *modes, *lines)], "apply": applied}


def _shut_of(planned: Plan) -> Iterator[Path]:
    """The files that are shut to others, by us or by what is applied."""
    yield from (one.real for one in planned.shut)
    if planned.applied is not None:
        yield from (Path(file.path) for file in planned.applied.files if file.is_readable and not file.is_change)


def execute(session: Session, planned: Plan) -> list[dict[str, Any]]:
    """Mend: the key to the keyring, the tools, git's ignore files, the modes; what was done.

    Raises:
        ChangedError: a file is not what was looked at; look again.
        PingFailedError, ExposedKeyError: a tool cannot get its key another way, and it was not changed.
        FileError, TransactionError, SecretError: something cannot be written; what was done before it stays.
    """
    if planned.moved is not None:
        set_key(planned.moved.key.reveal(), planned.moved.reference.name, session.open_vault(), session.state)
    try:
        if planned.applied is not None and not planned.applied.is_nothing:
            apply.execute(session, planned.applied, planned.options)
    except (PingFailedError, ExposedKeyError):  # nothing was written, and so nothing is to be left behind
        if planned.moved is not None:
            unset_key(planned.moved.reference.name, session.open_vault(), session.state)
        raise
    if planned.ignored:
        transaction.commit([one.write for one in planned.ignored], state_dir=session.state)
    for one in planned.shut:
        _shut(one)
    done = described(session, planned)
    tools = [{"what": "apply", "shown": tool["title"]} for tool in (done["apply"] or {"tools": []})["tools"]]
    return [*done["steps"], *tools]


def _shut(one: Shutting) -> None:
    """Take the others' rights from the very file that was looked at.

    Raises:
        ChangedError: another stands there now.
        FileError: it is not ours to change.
    """
    try:
        descriptor = os.open(one.real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            now = os.fstat(descriptor)
            if one.status is not None and (now.st_dev, now.st_ino) != (one.status.st_dev, one.status.st_ino):
                raise ChangedError(f"{disk.shown(one.real)} is another file now", hint="Run the command again.")
            os.fchmod(descriptor, stat.S_IMODE(now.st_mode) & ~_OTHERS)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise disk.file_error(one.real, error) from error
