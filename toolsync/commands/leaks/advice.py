"""What to do about a key that lies in clear, in a sentence or two."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from toolsync.commands.keys.stored import named
from toolsync.commands.leaks.allowing import FILE
from toolsync.commands.leaks.exposing import real_path
from toolsync.commands.leaks.finding import Finding
from toolsync.commands.leaks.repository import NOTE, STASHED, STRANDED, TAKEN_BACK
from toolsync.commands.leaks.sought import FORMER, is_kept
from toolsync.errors import GitError, ToolsyncError
from toolsync.gitguard.git import found as found_git
from toolsync.gitguard.leading import reflogs
from toolsync.gitguard.repository import WorkTree, enclosing
from toolsync.leaks import Shape
from toolsync.masking import on_one_line
from toolsync.profile import Profile
from toolsync.session import Session


def advice(session: Session, one: Finding, fixes: Collection[str] = ()) -> str:
    """What a person should do.

    Args:
        session: the machine.
        one: what was found.
        fixes: what `--fix` can do about it.
    """
    if one.is_agreed:
        return ""
    return " ".join(filter(None, (_away(session, one, fixes), _replaced(session, one), _allowing(one))))


def _allowing(one: Finding) -> str:
    """How a key that is none, or nobody's secret, comes to be passed over where people work together."""
    is_line = one.inside in ("", "index") or one.inside.startswith("commit ")
    if not isinstance(one.hit.secret, Shape) or one.kind not in ("staged", "repository", "project") or not is_line:
        return ""
    return f"One that is invented, or public: `toolsync: allow` behind it on its line, or its file's name in `{FILE}`."


def _away(session: Session, one: Finding, fixes: Collection[str]) -> str:
    """How it comes away from there."""
    if one.kind == "staged":
        return "Take it out, and `git add` the file again."
    if one.inside.endswith(STRANDED):
        return f"No clone has it; `{_git(one)} gc --prune=now` clears all such objects away."
    if stash := STASHED.search(one.inside):
        git, name = f"{_git(one)} stash", shlex.quote(stash[1])
        shown = f"{git} show --name-only --include-untracked {name}"
        told = f"No clone has it; `{shown}` names the files in it, and `{git} drop {name}` drops all of them"
        return f"{told}. Look again before the next one: the numbers change."
    if one.inside.endswith(TAKEN_BACK):
        told = "It was taken back, and no clone has it, if it was not pushed before that"
        return f"{told}; {_forgetting(session, one)}"
    if one.inside.startswith(NOTE):
        return "It stays in the history of the notes, and in every clone that fetches them."
    if "history" in one.exposed:
        return "It stays in the repository's history, and in every clone."
    if "tracked" in one.exposed:
        if one.inside == "index" and os.path.lexists(one.file):
            return f"As soon as the file is without it: `{_for_file(one, one.file, 'add')}`, and commit that."
        command = _for_file(one, real_path(one.file) or one.file, "rm", "--cached")
        return f"Take it out and commit that; `{command}` makes git forget a file that is yours alone."
    if "copied" in one.exposed:
        return f"`{on_one_line(shlex.join(['chezmoi', 'forget', str(one.file)]))}` removes the copy."
    return _by_kind(session, one, fixes)


def _git(one: Finding) -> str:
    """How git is called for the repository of a finding, from any folder."""
    return on_one_line(shlex.join(["git", *(one.tree.git_options if one.tree else ())]))


def _forgetting(session: Session, one: Finding) -> str:
    """What makes git forget commits that were taken back: not `--all`, which would drop stashes too."""
    try:
        assert one.tree is not None  # noqa: S101  the repository said so
        folder, heads = reflogs(found_git(session.places.environ), one.tree)
    except GitError:
        return "its reflog forgets it in 30 to 90 days."
    git, there = _git(one), on_one_line(shlex.quote(str(folder)))
    others = f"$(cd {there} && find refs -type f ! -path refs/stash)"
    first = f"{git} reflog expire --expire-unreachable=now {shlex.join(heads)} {others}"
    return f"`{first}`, then `{git} gc --prune=now`, clear away every commit that was taken back."


def _for_file(one: Finding, file: Path, *command: str) -> str:
    """How git is told about a file, from any folder."""
    root = next(iter(enclosing(file)), None)
    tree = one.tree or (WorkTree(root) if root else None)
    return on_one_line(shlex.join(["git", *(tree.git_options if tree else ()), *command, "--", str(file)]))


def _by_kind(session: Session, one: Finding, fixes: Collection[str]) -> str:
    if one.renewal:
        return f"It is the key from before: `{on_one_line(one.renewal)}` writes the one in use there."
    if one.kind == "tool" and "apply" in fixes and is_kept(one.secret):
        return "`toolsync check --fix` lets the tool get the key another way where it can, and shuts the file."
    if one.kind == "tool" and one.is_used and not session.config.exists():
        return "With a profile for its gateway (`toolsync init`), `toolsync check --fix` moves it into the keyring."
    if one.kind == "tool" and is_kept(one.secret):
        shut = "`toolsync check --fix` shuts the file to others. " if "mode" in fixes else ""
        return f"{shut}Take it out as soon as nothing reads it there any more."
    if one.kind == "own":
        return "Take it out of that file: toolsync itself never needs it there."
    if one.kind == "startup" and (owner := _owner(session, one.secret.removesuffix(FORMER))):
        command = on_one_line(shlex.join(["toolsync", "key", "print", owner]))
        return f"Let the line ask for the key (`{command}`), and take the value out."
    if one.is_filled:
        return _filled(one, fixes)
    if one.kind == "log" and one.inside:
        return "The database holds more than that: delete the session with the program itself, if it can."
    return _ADVICE.get(one.kind, "Take it out of that file.").format(file=session.shown(one.file))


def _filled(one: Finding, fixes: Collection[str]) -> str:
    """What to do where `env` wrote a key of ours."""
    if fixes and not one.secret.endswith(FORMER):
        return "`toolsync env` wrote it there; `toolsync check --fix` keeps others from it."
    return "`toolsync env` wrote it there: take the old lines out, and let the same command write them anew."


_ADVICE = {
    "tool": "Keep it elsewhere, and let the file refer to it.",
    "backup": "Remove the copy if nobody needs it.",
    "log": "Remove the log if nobody needs it.",
    "history": "Take the lines out, with no shell of that kind open.",
    "startup": "Take the value out, and let the line ask the program that keeps your keys.",
    "login": "The program that keeps it there needs it: shut the file to all others.",
    "editor": "Remove the copy if nobody needs it.",
}


def _replaced(session: Session, one: Finding) -> str:
    """That a key which left the machine, or may have, must be replaced."""
    if not ({"history", "tracked", "others", "copied"} & set(one.exposed)):
        return ""
    if one.secret.endswith(FORMER):
        return "It was replaced already: revoke it at its provider, if it is not yet."
    command = rotation(session, one.secret)
    if command:
        return f"If anybody else could read that: `{command}`."
    return "If anybody else could read that, replace the key at its provider."


def rotation(session: Session, name: str) -> str:
    """The command that puts another key in the place of the one of that name; "" where there is none."""
    if not is_kept(name) or name.endswith(FORMER):
        return ""
    argument = _owner(session, name) or (name if name in map(str, named(_profiles(session))) else "")
    return on_one_line(shlex.join(["toolsync", "key", "rotate", argument])) if argument else ""


def _owner(session: Session, name: str) -> str:
    """The profile whose own key is the one of that name; "" for none."""
    return next((profile.name for profile in _profiles(session) if str(profile.key) == name), "")


def _profiles(session: Session) -> tuple[Profile, ...]:
    with suppress(ToolsyncError):  # what reads the profiles says that they cannot be read
        return session.profiles().profiles
    return ()
