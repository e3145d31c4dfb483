"""What a program prints, for `command:` references: no shell, no terminal, a time limit, its output in no error."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from threading import Thread, current_thread, main_thread
from typing import IO, TYPE_CHECKING

from toolsync import on_path
from toolsync.errors import KeyMissingError, SecretError
from toolsync.masking import Secret, mask_key_shapes, mask_strange_words, masked, printable

if TYPE_CHECKING:
    from toolsync.sentence import Text

_MOST_BYTES = 16 * 1024
"""More than servers take in a header."""
_ALONE = "It must print the key, and nothing else, on stdout."
_TRY = "Run by hand the command that is to print the key."
_DRAIN_BEATS, _BEAT_SECONDS = 20, 0.05
"""How long output is waited for once the program has ended: a child of its own may still hold the pipe.

In beats: one whole wait would be over where this process was held up for so long, and nothing read."""


def output(line: str, environ: Mapping[str, str], *, timeout_seconds: float) -> tuple[str, str]:
    """The program's name, and the one line that it prints, without white space around it.

    The program is found on `PATH`, or named by an absolute path; never in the current folder, which may be anybody's.
    It runs in the home folder, in `environ`.

    Raises:
        KeyMissingError: it prints nothing.
        SecretError: it cannot be started, fails, takes too long or prints more than one line; its output is not shown.
    """
    argv = words(line)
    name = printable(PurePath(argv[0]).name, limit=80)
    returncode, out, err = _run([_found(argv[0], name, environ), *argv[1:]], name, environ, timeout_seconds)
    text = out.decode(errors="replace").strip()
    for each in text.splitlines():
        Secret(each.strip())  # known from here on, so that it is masked in what the program says on stderr
    if returncode != 0:
        raise SecretError(f"'{name}' {_ending(returncode)}{_said(err)}", hint=_TRY)
    if len(out) == _MOST_BYTES:
        raise SecretError(f"'{name}' printed more than a key can have", hint=_ALONE)
    if not text:
        raise KeyMissingError(f"'{name}' printed nothing{_said(err)}", hint=_ALONE)
    if len(text.splitlines()) > 1:
        raise SecretError(f"'{name}' printed more than one line", hint=_ALONE)
    return name, text


def program(line: str, environ: Mapping[str, str]) -> str:
    """The absolute path of the program that `line` runs.

    Raises:
        SecretError: there is none, or `line` cannot be split into words.
    """
    name = words(line)[0]
    return _found(name, printable(PurePath(name).name, limit=80), environ)


def words(line: str, *, platform: str = sys.platform) -> list[str]:
    """`line` as a list of arguments, by the rules of POSIX shells (quotes and backslashes) or of Windows programs.

    Raises:
        SecretError: a quotation mark is not closed, or there is no word.
    """
    try:
        argv = _windows_words(line) if platform == "win32" else shlex.split(line)
    except ValueError as error:
        raise SecretError(
            f"the key's command cannot be split into words: {error}", hint="Close its quotation marks."
        ) from error
    if not argv or not argv[0]:
        raise SecretError("the key's command names no program", hint="Write command:PROGRAM ARGUMENTS.")
    return argv


def _windows_words(line: str) -> list[str]:
    """The rules of Microsoft's C runtime: 2n backslashes and a quote are n and a delimiter, 2n+1 are n and a quote."""
    argv: list[str] = []
    word, is_quoted, is_word, slashes = "", False, False, 0
    for character in line:
        if character == "\\":
            slashes, is_word = slashes + 1, True
            continue
        if character == '"':
            word += "\\" * (slashes // 2) + ('"' if slashes % 2 else "")
            is_quoted ^= slashes % 2 == 0
            slashes, is_word = 0, True
            continue
        word, slashes = word + "\\" * slashes, 0
        if character in " \t" and not is_quoted:
            argv, word, is_word = ([*argv, word] if is_word else argv), "", False
        else:
            word, is_word = word + character, True
    if is_quoted:
        raise ValueError("No closing quotation")
    return [*argv, word + "\\" * slashes] if is_word else argv


def _found(program: str, name: str, environ: Mapping[str, str]) -> str:
    is_path = PurePath(program).name != program
    if is_path and not PurePath(program).is_absolute():
        shown = printable(program, limit=200)
        raise SecretError(f"'{shown}' is no absolute path", hint="Write it in full, from / on, or put it on PATH.")
    found = shutil.which(program) if is_path else on_path.found(program, environ)
    if found:
        return found
    if is_path and Path(program).is_file():
        shown = printable(program, limit=200)
        raise SecretError(f"'{shown}' is no program that may be run", hint="Let its owner run it: `chmod u+x FILE`.")
    raise SecretError(f"there is no program '{name}'", hint="Install it, or write its absolute path into the profile.")


def _run(
    argv: Sequence[str], name: str, environ: Mapping[str, str], timeout_seconds: float
) -> tuple[int, bytes, bytes]:
    """Exit code, stdout and stderr, each cut at a size that no key has."""
    from toolsync import waiting  # most keys are not asked of a program

    started: list[subprocess.Popen[bytes]] = []
    try:
        with _signals_held_back():
            started.append(_started(argv, name, environ))
        drains = [_Drain(pipe) for pipe in (started[0].stdout, started[0].stderr) if pipe is not None]
        with waiting.on(lambda: _waited(name), timeout_seconds):
            returncode = started[0].wait(timeout_seconds)
    except subprocess.TimeoutExpired as error:
        raise SecretError(
            f"'{name}' did not finish within {timeout_seconds:g} s",
            hint="It has no terminal to ask on: sign in to it first, or keep the key in the keyring.",
        ) from error
    finally:
        for process in started:
            if process.returncode is None:
                _end(process)
    _await(drains)
    return returncode, drains[0].taken, drains[1].taken


def _waited(name: str) -> Text:
    from toolsync.sentence import say  # only who waits for long is told

    return say("waits_helper", program=name)


def _started(argv: Sequence[str], name: str, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=_home(),
            env=dict(environ),
            start_new_session=True,  # a group of its own, to be ended as one
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its command line cannot be passed on"
        raise SecretError(f"'{name}' cannot be started: {reason}", hint=_TRY) from error


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """What arrives within is dealt with at the end: a program must not be started and then lost."""
    arrived: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM) if current_thread() is main_thread() else ()
    handlers = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for late in arrived:
            signal.raise_signal(late)


class _Drain(Thread):
    """Reads a pipe to its end, so that the program is never held up, and keeps the beginning."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(name="toolsync-drain", daemon=True)
        self._pipe = pipe
        self._kept = bytearray()
        self.start()

    def run(self) -> None:
        with self._pipe:
            while chunk := self._pipe.read(4096):
                self._kept += chunk[: _MOST_BYTES - len(self._kept)]

    @property
    def taken(self) -> bytes:
        return bytes(self._kept)


def _await(drains: Sequence[_Drain]) -> None:
    """Let them come to their ends, as long as that may take for all of them."""
    for _ in range(_DRAIN_BEATS):
        late = [drain for drain in drains if drain.is_alive()]
        if not late:
            return
        late[0].join(_BEAT_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and its children; it has not been waited for, so the group's number is still its own."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
    else:
        with suppress(ProcessLookupError, PermissionError):  # ended this moment; macOS says the latter
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _home() -> Path:
    """Not the current folder: version managers let its files choose which program runs."""
    home = Path("~").expanduser()
    return home if home.is_dir() else Path(home.anchor or os.sep)


def _ending(returncode: int) -> str:
    return f"ended with exit code {returncode}" if returncode > 0 else f"was ended by signal {-returncode}"


def _said(err: bytes) -> str:
    """What it complained of; a key may be in it that nobody has seen yet, of whatever shape."""
    text = mask_strange_words(masked(mask_key_shapes(err.decode(errors="replace"))))
    text = " ".join(printable(text, limit=300).split()).rstrip(".")  # our sentence has one of its own
    return f": {text}" if text else ""
