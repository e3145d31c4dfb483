"""The standard streams as a command line can rely on them, whatever its caller closed or cannot spell."""

from __future__ import annotations

import io
import os
import sys

from toolsync.errors import SecretError

_MOST_CHARACTERS = 64 * 1024
"""No key is nearly as long."""


def prepare() -> None:
    """Give every stream something to stand on, and let no character be too much for the output's encoding.

    `PYTHONIOENCODING`, a locale without UTF-8 and a pipe on Windows all make streams that cannot say `✓`.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123  for as long as the process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  likewise
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  likewise
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def typed_in() -> str:
    """What comes through stdin, which is to be a key.

    Raises:
        SecretError: it is no text, or longer than any key.
    """
    try:
        text = sys.stdin.read(_MOST_CHARACTERS + 1)
    except (UnicodeDecodeError, OSError) as error:
        raise SecretError("what comes through stdin is no text", hint="Pipe the key in, and nothing else.") from error
    if len(text) > _MOST_CHARACTERS:
        raise SecretError("what comes through stdin is longer than any key", hint="Pipe the key in, and nothing else.")
    return text
