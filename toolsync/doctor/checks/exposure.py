"""Keys in files that others can read, or that git would take along."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from toolsync import gitguard
from toolsync.doctor.checks.saying import place, typed, values
from toolsync.doctor.look import Look
from toolsync.doctor.model import Credential, Finding, Fix
from toolsync.doctor.references import stray
from toolsync.errors import ToolsyncError
from toolsync.gitguard import Verdict
from toolsync.masking import is_reference
from toolsync.sentence import say


def modes(look: Look) -> Iterator[Finding]:
    """A file with a key in clear, which every user of this machine can reach and read."""
    if sys.platform == "win32":
        return
    for credential in _in_files(look):
        path = Path(credential.where.file)
        if _is_open(path):
            line = say("readable_by_all", place=place(look, credential.where))
            fix = Fix(f"chmod 600 {typed(look, path)}")
            yield Finding("key_file_readable", "sure", (line,), values(look, credential.where), credential.where, fix)


def _in_files(look: Look) -> Iterator[Credential]:
    """Credentials that stand in clear in a file, each file once."""
    seen: set[str] = set()
    for credential in look.effective.credentials:
        file = credential.where.file
        is_key = credential.kind in ("literal", "login") or credential.where.layer not in ("environment", "")
        if not is_key or credential.kind == "command" or credential.value is None or not file or file in seen:
            continue
        is_named = look.named(credential.question) and credential.where.layer != _dotenv(look)
        if is_named or (credential.kind == "literal" and look.is_elsewhere(credential.question)):
            continue  # the file names a variable, or another file
        value = credential.value.reveal().strip()
        if not is_reference(value) and not stray(value):
            seen.add(file)
            yield credential


def _dotenv(look: Look) -> str:
    return next((one.layer.name for one in look.layers if one.layer.format.startswith("dotenv")), "\0")


def _is_open(path: Path) -> bool:
    """Whether others may read the file, and pass every folder on the way to it."""
    try:
        if not path.stat().st_mode & stat.S_IROTH:
            return False
        return all(folder.stat().st_mode & stat.S_IXOTH for folder in Path(os.path.realpath(path)).parents)
    except OSError:
        return False


def repositories(look: Look) -> Iterator[Finding]:
    """A file with a key in clear that git tracks, or would take up."""
    credentials = {Path(os.path.realpath(one.where.file)): one for one in _in_files(look)}
    places = look.world.session.places
    try:
        verdicts = gitguard.look(tuple(credentials), home=places.home, environ=places.environ)
    except ToolsyncError:
        return
    for verdict in verdicts:
        credential = credentials[verdict.file]
        what = _GIT.get(verdict.state)
        if what is None or (verdict.state == "exposed" and not verdict.is_taken_up):
            continue
        line = say("key_in_clear", place=place(look, credential.where), what=what)
        found = values(look, credential.where)
        yield Finding("key_in_git", "sure", (line,), found, credential.where, _forgotten(verdict))


def _forgotten(verdict: Verdict) -> Fix | None:
    """What makes git or chezmoi forget the file, which stays; None where it only has to be ignored."""
    if verdict.state == "copied":
        return Fix(shlex.join(["chezmoi", "forget", str(verdict.file)]), why=(say("renew_committed"),))
    if verdict.state != "tracked" or verdict.tree is None:
        return None
    command = shlex.join(["git", *verdict.tree.git_options, "rm", "--cached", "--", str(verdict.file)])
    return Fix(command, why=(say("renew_committed"),))


_GIT = {"tracked": say("git_tracks"), "exposed": say("git_takes"), "copied": say("chezmoi_copies")}
"""What comes of a file that holds a key, by git's verdict on it."""
