"""`check`: where a key lies in clear, in files, what is left of them, and repositories; no value is ever shown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from toolsync import __version__, disk
from toolsync.commands.leaks.advice import advice, rotation
from toolsync.commands.leaks.allowing import Allowed
from toolsync.commands.leaks.belonging import profile_of
from toolsync.commands.leaks.exposing import expose, is_past, real_path
from toolsync.commands.leaks.finding import Finding, Limits, Unseen, is_private_kind, open_to
from toolsync.commands.leaks.looking import Looking
from toolsync.commands.leaks.repositories import look_at_staged, look_through, repositories
from toolsync.commands.leaks.sought import Sought, shapes, sought
from toolsync.commands.leaks.suspects import Suspects, suspects
from toolsync.gitguard.repository import enclosing
from toolsync.leaks import Finder, Known
from toolsync.leaks.sarif import sarif
from toolsync.masking import on_one_line
from toolsync.result import DONE, PROBLEM, Message, Result
from toolsync.session import Session
from toolsync.value import frozen

INCONCLUSIVE = 3
"""How `check` ends where it found nothing, and could not look everywhere that matters."""

_FAR = Limits(
    seconds=86_400.0,
    file_bytes=2**44,
    blob_bytes=2**30,
    versions=10**9,
    commits=10**9,
    history_seconds=86_400.0,
    git_seconds=3600.0,
)


_NEAR = Limits(blob_bytes=256 * 2**20)
"""Of what is to be committed, which is little; larger files go by in no code host."""


@frozen
class Options:
    """How `check` goes about it.

    Attributes:
        staged: look at what git is about to commit, and at nothing else.
        is_deep: look without limits.
    """

    staged: bool = False
    is_deep: bool = False


@frozen
class Checked:
    """What a look brought.

    Attributes:
        options: what was asked for.
        looking: what was looked at.
        findings: those that count first.
        warnings: what could not be looked for.
    """

    options: Options
    looking: Looking
    findings: tuple[Finding, ...]
    warnings: tuple[Message, ...]

    @property
    def sought(self) -> Sought:
        """What was looked for."""
        return self.looking.sought

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The findings that nobody agreed to."""
        return tuple(one for one in self.findings if not one.is_agreed)


def check(session: Session, options: Options) -> Checked:
    """Look through this machine, or what is about to be committed.

    Raises:
        GitError: with `staged`: there is no repository here, or git cannot tell.
        FileError: the folder of the user's own tools cannot be read.
    """
    wanted = sought(session, quick=options.staged)
    limits = _FAR if options.is_deep else _NEAR if options.staged else Limits()
    allowed = Allowed(session)
    finder = Finder(wanted.known, shapes(), session.clock().timestamp())
    looking = Looking(wanted, finder, limits, allowed.allows)
    if options.staged:
        look_at_staged(looking, session.places)
    else:
        _look_around(session, looking)
        expose(session, looking)
    looking.end()
    findings = tuple(sorted(looking.findings, key=lambda one: (one.is_agreed, not isinstance(one.hit.secret, Known))))
    return Checked(options, looking, findings, (*wanted.warnings, *allowed.messages()))


def _look_around(session: Session, looking: Looking) -> None:
    """Look at everything; logs, which are long, last."""
    late: list[Suspects] = []
    files: dict[Path, None] = {}
    for one in suspects(session, looking.sought.memory):
        if one.kind == "log":
            late.append(one)
            continue
        if one.is_own and one.kind != "backup":
            files.update(dict.fromkeys(one.listing.files))
        looking.suspects(one)
    trees = repositories(session.places, filter(None, map(real_path, files)))
    look_through(looking, trees, session.places)
    for one in late:
        looking.suspects(one)


def result(
    session: Session, checked: Checked, fixed: Sequence[dict[str, Any]] = (), messages: Sequence[Message] = ()
) -> Result:
    """What was found, as a command's result.

    Args:
        session: the machine.
        checked: what was found.
        fixed: what was mended before.
        messages: what is said of that.
    """
    said = (*messages, *_messages(session, checked))
    return Result("check", data(session, checked, fixed), said, _exit_code(checked))


def _exit_code(checked: Checked) -> int:
    if checked.leaks:
        return PROBLEM
    is_blind = not checked.options.staged and not checked.sought.is_whole
    return INCONCLUSIVE if is_blind or any(one.matters for one in checked.looking.unseen) else DONE


def _messages(session: Session, checked: Checked) -> Iterator[Message]:
    yield from checked.warnings
    seen = dict.fromkeys(one.secret for one in checked.leaks if one.exposed)
    commands = dict.fromkeys(filter(None, (rotation(session, name) for name in seen)))
    if commands:
        told = " and ".join(f"`{command}`" for command in commands)
        text = "a key that others may have seen is no secret any more"
        yield Message("note", text, f"{told} {'replace them' if len(commands) > 1 else 'replaces it'}.")


def data(session: Session, checked: Checked, fixed: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """What was found, as `schemas/results/check.schema.json` describes it."""
    looking = checked.looking
    return {
        "staged": checked.options.staged,
        "findings": [_described(session, one, looking) for one in checked.findings],
        "looked_at": {
            "files": looking.files,
            "bytes": looking.bytes,
            "known": sorted(one.name for one in looking.sought.known),
            "shapes": len(shapes()),
        },
        "not_looked_at": [_unseen(session, one) for one in looking.unseen],
        "fixed": list(fixed),
    }


def _described(session: Session, one: Finding, looking: Looking) -> dict[str, Any]:
    is_known, fixes = isinstance(one.hit.secret, Known), mendable(session, one, looking)
    return {
        "file": _safe(one.file),
        "shown": session.shown(one.file),
        "kind": one.kind,
        "tool": one.tool,
        "inside": one.part,
        "line": one.lines[0] if one.lines else None,
        "lines": one.lines,
        "count": one.count,
        "secret": {
            "name": on_one_line(one.secret),
            "is_known": is_known,
            "shape": "" if is_known else one.hit.secret.name,
            "fingerprint": looking.sought.fingerprint(one.hit.value),
            "spelling": one.hit.spelling,
        },
        "exposed": one.exposed,
        "agreed": one.is_agreed,
        "fixes": fixes,
        "advice": advice(session, one, fixes),
    }


def mendable(session: Session, one: Finding, looking: Looking) -> list[str]:
    """What `--fix` can do about a finding: `mode`, `ignore`, `apply`."""
    if one.is_agreed or is_past(one) or one.kind == "staged":
        return []
    status = looking.status(one.file)
    is_ours = (
        status is not None and hasattr(os, "getuid") and status.st_uid == os.getuid() and _is_at_home(session, one)
    )
    fixes = []
    is_private = is_private_kind(one.kind) or one.is_filled
    if is_ours and status is not None and is_private and open_to(status):
        fixes.append("mode")
    if "open" in one.exposed and (is_private or one.file.name.startswith(".env")):
        fixes.append("ignore")
    if one.kind == "tool" and not one.part and not one.renewal and profile_of(session, one, looking.sought):
        fixes.append("apply")
    return fixes


def _is_at_home(session: Session, one: Finding) -> bool:
    """Whether it lies in the user's home, and not where others must read it, as an organisation's settings."""
    real = real_path(one.file)
    return real is not None and real.is_relative_to(os.path.realpath(session.places.home))


def _unseen(session: Session, one: Unseen) -> dict[str, Any]:
    what = session.shown(one.what) if isinstance(one.what, Path) else on_one_line(one.what)
    return {"what": what, "reason": on_one_line(one.reason), "matters": one.matters}


def _safe(path: Path) -> str:
    """The path as text that every encoding of JSON takes: bytes that are no UTF-8 stand as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def sarif_of(session: Session, result: Result) -> dict[str, Any]:
    """The result as a SARIF log, its paths relative to the repository that the project is."""
    project = disk.resolve(session.places.project)
    root = next(iter(enclosing(project / "x")), project)
    return sarif(result.data, root, __version__, [(shape.name, shape.title) for shape in shapes()])
