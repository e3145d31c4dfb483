"""The command that tools run to get the key, its spelling for their shells, and what may be wrong with it."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from toolsync.disk import shown
from toolsync.errors import UsageError
from toolsync.pattern import late
from toolsync.profile import NAME
from toolsync.value import frozen

Shell = Literal["sh", "cmd"]


def helper_command(python: Path, config: Path, profile: str) -> tuple[str, ...]:
    """The command, as a list of arguments.

    `-I` keeps `PYTHON*` of the tool's environment and the current folder out: a repository may have a say in both.

    Args:
        python: the interpreter that has toolsync (`sys.executable`; the link in a virtual environment, not its target).
        config: the profile file.
        profile: whose key is printed.

    Raises:
        UsageError: a path is not absolute, or the profile's name is none.
    """
    for path in (python, config):
        if not path.is_absolute():
            raise UsageError(f"'{path}' is not an absolute path", hint="Tools run the command in folders of their own.")
    if not NAME.fullmatch(profile):
        raise UsageError("a profile's name has letters, digits, '.', '_' and '-' only")
    return (str(python), "-I", "-m", "toolsync", "--config", str(config), "key", "print", profile)


def line(argv: Sequence[str], shell: Shell) -> str:
    """`argv` as one line for `sh -c` or for `cmd /s /c`.

    Raises:
        UsageError: cmd cannot be given such a word.
    """
    return shlex.join(argv) if shell == "sh" else " ".join(_cmd_word(word) for word in argv)


_PLAIN = late(r"[A-Za-z0-9_.:/\\+-]+")
_UNSPEAKABLE = late(r'["%\r\n\0]')


def _cmd_word(word: str) -> str:
    """One word, for cmd and then for the C runtime of the program.

    Within quotation marks cmd leaves everything alone but `%`, which nothing quotes on its command line (only in batch
    files `%%` does); paths cannot hold a quotation mark. The C runtime takes backslashes before a quotation mark in
    pairs ("Parsing C command-line arguments", Microsoft).
    """
    if _UNSPEAKABLE.search(word):
        raise UsageError(
            "a path with a quotation mark, a percent sign or a line break cannot be given to cmd",
            hint="Install toolsync, and keep its profile, under another path.",
        )
    if _PLAIN.fullmatch(word):
        return word
    slashes = len(word) - len(word.rstrip("\\"))
    return f'"{word}{chr(92) * slashes}"'


@frozen
class HelperProblem:
    """Why a tool should not run a command, or cannot: one sentence, and what mends it."""

    text: str
    hint: str


INSTALL = "Install toolsync with pipx or uv: tools run this program for the key."


def helper_problem(python: Path, package: Path, config: Path) -> HelperProblem | None:
    """Why a tool should not run the command, or cannot; None where all is well.

    Args:
        python: the interpreter of the command.
        package: the folder of the package `toolsync` that it would load.
        config: the profile file, which may name a program itself (`command:`).
    """
    for path in (python, package):
        tree = _work_tree(path)
        if tree is not None:
            where = f"{shown(path)} lies in the git work tree {shown(tree)}"
            return HelperProblem(f"{where}: a checkout of other people's changes changes what tools run", INSTALL)
        if _CACHES.intersection(path.parts):
            where = f"{shown(path)} lies in a cache and will be gone one day"
            return HelperProblem(where, INSTALL)
    return open_to_others((python, package, config)) or _fault(python)


def open_to_others(paths: Iterable[Path]) -> HelperProblem | None:
    """The first of the paths, or of the folders and links that lead to them, that others can change; None for none."""
    for path in paths:
        writable = next((each for each in _chain(path) if _others_write(each)), None)
        if writable is not None:
            text = f"{shown(writable)} can be changed by other users of this machine"
            return HelperProblem(f"{text}, and what it leads to is run for the key", _shutting(writable))
    return None


def _shutting(path: Path) -> str:
    if path.stat().st_uid == os.getuid():
        return f"Shut it to others: `chmod go-w {shlex.quote(str(path))}`."
    return "It belongs to another user: have it given to you or to root, or keep what lies there elsewhere."


_CACHES = {".cache", "Caches", "cache"}
"""Where `uvx` and `pipx run` keep what they may delete at any time."""


def _work_tree(path: Path) -> Path | None:
    """The checkout that holds `path` itself, not what its links lead to: pyenv and Homebrew are checkouts too."""
    return next((parent for parent in path.parents if os.path.lexists(parent / ".git")), None)


def _chain(path: Path) -> Iterator[Path]:
    """`path` and the folders above it, and the same for what its links lead to."""
    yield from (path, *path.parents)
    real = Path(os.path.realpath(path))
    if real != path:
        yield from (real, *real.parents)


def _others_write(path: Path) -> bool:
    if sys.platform == "win32":
        return False  # its access lists are not read here
    try:
        status = path.stat()
    except OSError:
        return False
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return False  # sticky, as /tmp: others cannot replace what is not theirs
    if status.st_uid not in (0, os.getuid()):
        return True
    return bool(status.st_mode & stat.S_IWOTH) or bool(status.st_mode & stat.S_IWGRP and not _trusted(status.st_gid))


_ADMINISTRATORS = {"root", "wheel", "admin", "sudo"}


def _trusted(group: int) -> bool:
    """Whether a group holds nobody but the user (named as the user is, which many systems do) or administrators."""
    import grp  # not on Windows
    import pwd  # not on Windows

    try:
        name = grp.getgrgid(group).gr_name
        return name in _ADMINISTRATORS or name == pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return False


def _fault(python: Path) -> HelperProblem | None:
    """Run it once: `-I` leaves out what `pip install --user` installs, and the checkout that one stands in."""
    import subprocess  # as heavy as half a start

    try:
        done = subprocess.run(
            [python, "-I", "-m", "toolsync", "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return HelperProblem(f"{python} does not run", INSTALL)
    if done.returncode != 0:
        return HelperProblem(f"{python} does not find toolsync when it runs for a tool (python -I)", INSTALL)
    return None
