"""After an apply: does the command that tools run for the key really print it?"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import toolsync
from toolsync.masking import masked, on_one_line
from toolsync.planning.plans import Plan
from toolsync.result import Message
from toolsync.secret.command import words
from toolsync.secret.helper import helper_command, helper_problem, open_to_others
from toolsync.secret.vault import MemoryVault
from toolsync.session import Session

_SECONDS = 15.0


def helper_complaints(session: Session, planned: Plan) -> Iterator[Message]:
    """What can be seen to be wrong with the key's own command, and with the helper if a planned tool runs it."""
    yield from open_references(session, planned)
    if _is_asked(session, planned):
        problem = helper_problem(session.python, Path(toolsync.__file__).parent, session.config)
        if problem:
            yield Message("warning", problem.text, problem.hint)


def helper_failures(session: Session, planned: Plan) -> Iterator[Message]:
    """That the helper, run as a planned tool runs it, prints no key."""
    if planned.profile is None or not _is_asked(session, planned):
        return
    argv = helper_command(session.python, session.config, planned.profile.name)
    failure = _failure(argv, dict(session.places.environ))
    if failure:
        text = f"the command that tools run for the key fails: {failure}"
        yield Message("problem", text, "Run `toolsync key print` to see more.")


def _is_asked(session: Session, planned: Plan) -> bool:
    """Whether a planned tool runs the helper, and another process than this one can see the key."""
    profile = planned.profile
    if profile is None or not any(tool.delivery and tool.delivery.way == "command" for tool in planned.tools):
        return False
    return profile.key.kind != "keyring" or not isinstance(session.open_vault(), MemoryVault)


def open_references(session: Session, planned: Plan) -> Iterator[Message]:
    """That others can change what is run for the key: the profile that names a program, or that program."""
    if planned.profile is None or not planned.profile.key.command:
        return
    problem = open_to_others((session.config, *_programs(session, planned.profile.key.command)))
    if problem:
        yield Message("warning", problem.text, problem.hint)


def _programs(session: Session, command: str) -> Iterator[Path]:
    """The program of a key's command, and what it is handed by an absolute path, as a shell is a script."""
    program, *rest = words(command)
    found = shutil.which(program, path=session.places.environ.get("PATH"))
    yield from (Path(one) for one in (found or program, *rest) if Path(one).is_absolute())


def _failure(argv: tuple[str, ...], environ: dict[str, str]) -> str:
    """Why the helper does not print a key; empty when it does. What it prints is never shown."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, env=environ, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_SECONDS:g} s"
    except OSError as error:
        return f"{argv[0]}: {error.strerror}"
    if done.returncode == 0 and done.stdout.strip():
        return ""
    said = on_one_line(masked(done.stderr.decode(errors="replace")).strip(), limit=500)
    return said or f"it ended with code {done.returncode} and printed nothing"
