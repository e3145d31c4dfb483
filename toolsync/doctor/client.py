"""The tool itself, asked once by the command that its template names: what it printed, and what that says."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from toolsync import waiting
from toolsync.doctor.plain import text
from toolsync.masking import masked
from toolsync.sentence import say
from toolsync.tool import Client, Layer
from toolsync.tool.client import PROMPT
from toolsync.trace import Tree, answers
from toolsync.value import frozen

QUESTION = "Reply with one word only: pong"
"""Several words, for Cline takes a single one for a command; and few, for they are paid for."""

_VERSION_SECONDS = 20.0
_MOST = 4 * 2**20
"""Bytes of output that are read: the older Cline repeats its own prompt of some 50 kB."""


@frozen
class Outcome:
    """What became of asking the tool itself.

    Attributes:
        state: `answered`; `refused`: it ended and has no answer; `stopped`: its time was over; `unstartable`.
        seconds: how long it took.
        words: what it answered, or why it did not, in one line and free of keys.
        code: its exit code; None where it did not end by itself.
        status: the gateway's status, where it says one.
    """

    state: Literal["answered", "refused", "stopped", "unstartable"]
    seconds: float
    words: str
    code: int | None = None
    status: int | None = None


def program(client: Client, environ: Mapping[str, str]) -> Path | None:
    """The client's program on PATH."""
    return found(client.command[0], environ)


def found(command: str, environ: Mapping[str, str]) -> Path | None:
    """A program on PATH; a folder there that is no absolute one is that of another working directory."""
    folders = [folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if Path(folder).is_absolute()]
    file = shutil.which(command, path=os.pathsep.join(folders))
    return Path(file) if file else None


def version(file: Path, environ: Mapping[str, str]) -> str:
    """What the program says when it is asked for its version; "" where it says nothing."""
    try:
        return _run([str(file), "--version"], environ, _VERSION_SECONDS).out.strip()
    except OSError:
        return ""


def fits(client: Client, said: str) -> bool:
    """Whether the client's row is about the version that its program says it is."""
    return not client.version or re.search(client.version, said) is not None


def command_line(client: Client, file: Path | str) -> list[str]:
    """The program and its arguments, with the question in its place."""
    return [str(file), *(QUESTION if word == PROMPT else word for word in client.command[1:])]


def environment(client: Client, environ: Mapping[str, str]) -> dict[str, str]:
    """The user's own environment, but for what the client's row says of it."""
    return {**{name: value for name, value in environ.items() if name not in client.hides}, **client.sets}


def patience_seconds(client: Client, *, is_reached: bool) -> float:
    """How long the client may take.

    Args:
        client: its row.
        is_reached: whether the probe has got as far as the gateway; else the client most likely tries in vain until
            its time is over (Codex 0.171.0: for good; Cline 3.0.65: for a minute).
    """
    return client.timeout_seconds if is_reached else min(client.timeout_seconds, _VAIN_SECONDS)


_VAIN_SECONDS = 30.0


def asked(client: Client, file: Path, environ: Mapping[str, str], seconds: float | None = None) -> Outcome:
    """Ask the client once, in an empty folder. Raises nothing.

    Args:
        client: its row.
        file: its program.
        environ: the user's own environment.
        seconds: how long it may take; None: as its row says.
    """
    limit = client.timeout_seconds if seconds is None else seconds
    try:
        with waiting.on(lambda: say("waits_client", program=client.command[0]), limit, is_long=True):
            ended = _run(command_line(client, file), environment(client, environ), limit)
    except OSError as error:
        return Outcome("unstartable", 0.0, text(error.strerror or str(error)))
    return read(client, ended)


# What its output says.


@frozen
class Ended:
    """How a program ended; `code` is None where its time was over."""

    code: int | None
    out: str
    err: str
    seconds: float


def read(client: Client, ended: Ended) -> Outcome:
    """What the client's output says."""
    found = _answers(client, ended)
    status = int(found["status"]) if re.fullmatch(r"[1-5]\d\d", found["status"]) else None
    if ended.code == 0 and found["answer"].strip():
        return Outcome("answered", ended.seconds, _line(found["answer"]), 0, status)
    state: Literal["stopped", "refused"] = "stopped" if ended.code is None else "refused"
    last = _last(ended.out)
    is_event = state == "stopped" and _parsed(last) is not None  # one of many of a tool that was still at work
    words = _line(found["error"]) or _line(_last(ended.err)) or ("" if is_event else _line(last))
    return Outcome(state, ended.seconds, words, ended.code, status)


def refusal(client: Client, file: Path, environ: Mapping[str, str]) -> str:
    """Why the client does not start with its settings, by its own words; "" where it does, or says nothing of it.

    It is started with what has it read them and ask nobody, in an empty folder. Raises nothing.

    Args:
        client: its row, which tells how.
        file: its program.
        environ: the user's own environment.
    """
    try:
        ended = _run([str(file), *client.loads], environment(client, environ), _VERSION_SECONDS)
    except OSError:
        return ""
    return _answers(client, ended)["refusal"].strip() if ended.code else ""


def _answers(client: Client, ended: Ended) -> dict[str, str]:
    """What each question about the output is answered with."""
    tree = Tree(Layer("output", "file"), {"json": _values(ended.out), "out": ended.out, "err": ended.err})
    return {question: answer.value for question, answer in answers(client.output, [tree], {}).items()}


def _values(out: str) -> list[Any]:
    """The values that it printed as JSON, the latest first: one that fills the output, or one a line."""
    whole = _parsed(out)
    values = [whole] if whole is not None else [_parsed(line) for line in out.splitlines()]
    each = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return [item for item in reversed(each) if item is not None]


def _parsed(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _line(words: str) -> str:
    """The words in one line, masked before a line end that parted a key is gone, and fit to be shown."""
    return text(re.sub(r"\s+", " ", masked(words)).strip(), limit=300)


def _last(words: str) -> str:
    """The last line that says anything."""
    return next((line for line in reversed(words.splitlines()) if line.strip()), "")


# Running it.


def _run(argv: Sequence[str], environ: Mapping[str, str], seconds: float) -> Ended:
    """Run it in an empty folder to its end, or to that of its time; nothing that it started outlives it.

    What it says goes to files without a name, not to pipes: those a program that stays behind would hold open.
    """
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="toolsync-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        with _group(argv, environ, folder, (out, err)) as process:
            code: int | None = None
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(seconds)
        return Ended(code, _said(out), _said(err), time.monotonic() - started)


def _said(file: IO[bytes]) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST))
    return file.read().decode(errors="replace")


@contextmanager
def _group(
    argv: Sequence[str], environ: Mapping[str, str], folder: str, files: tuple[IO[bytes], IO[bytes]]
) -> Iterator[subprocess.Popen[bytes]]:
    """The program in a session of its own, so that it can ask nobody, and whatever happens its group is gone after."""
    process = subprocess.Popen(
        argv,
        env=dict(environ),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=files[0],
        stderr=files[1],
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process)
        process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ended outright: Cline waits for a minute when it is asked to end."""
    if sys.platform == "win32":
        import psutil

        with suppress(psutil.Error):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
