"""The programs that take lines of variables in, each asked what it made of them."""

from __future__ import annotations

import ctypes
import json
import os
import plistlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

Read = Mapping[str, str]
ENVIRON = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def by_shell(*argv: str, take_in: str) -> Callable[[str], Read]:
    """A shell that takes the lines in as `usage` says, from the file that is its first argument."""

    def read(text: str) -> Read:
        with _file(text) as name:
            done = subprocess.run(
                [*argv, take_in.format(name)], env=ENVIRON, capture_output=True, check=True, timeout=20
            )
        assert not done.stderr
        entries = done.stdout.decode(errors="surrogateescape").split("\0")
        return {name: value for name, _, value in (entry.partition("=") for entry in entries if entry)}

    return read


def by_node(text: str) -> Read:
    with _file(text) as name:
        asked = ["node", f"--env-file={name}", "-p", "JSON.stringify(process.env)"]
        done = subprocess.run(asked, env=ENVIRON, capture_output=True, check=True, timeout=60)
    read: Read = json.loads(done.stdout)
    return read


def by_python_dotenv(text: str) -> Read:
    from dotenv import dotenv_values

    with _file(text) as name:
        return {name: value for name, value in dotenv_values(name).items() if value is not None}


def by_systemd(text: str) -> Read:
    """By systemd's own parser of `EnvironmentFile=`, out of its library."""
    library = systemd_library()
    assert library is not None
    load = ctypes.CDLL(library).load_env_file
    found = ctypes.POINTER(ctypes.c_char_p)()
    load.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.POINTER(ctypes.c_char_p))]
    with _file(text) as name:
        assert load(None, name.encode(), ctypes.byref(found)) >= 0
    read: dict[str, str] = {}
    index = 0
    while found and (entry := found[index]) is not None:
        name, _, value = entry.decode().partition("=")
        read[name] = value
        index += 1
    return read


@cache
def systemd_library() -> str | None:
    folders = (Path("/usr/lib/systemd"), *Path("/usr/lib").glob("*-linux-gnu/systemd"))
    return next((str(file) for folder in folders for file in sorted(folder.glob("libsystemd-shared-*.so"))), None)


def by_plist(text: str) -> Read:
    read: Read = plistlib.loads(f"<plist><dict>{text}</dict></plist>".encode())["EnvironmentVariables"]
    return read


_POWERSHELL = re.compile(
    r"'(?P<text>(?:[^'\u2018-\u201b]|['\u2018-\u201b]{2})*)'|\[char\]0x(?P<unit>[0-9a-f]{4})| \+ (?=['\[])"
)


def by_powershell_rules(text: str) -> Read:
    """By the rules of PowerShell's language: quotes of five kinds, doubled; texts and characters added up."""
    read: dict[str, str] = {}
    for line in text.splitlines():  # its pipeline hands on lines, one command each
        match = re.fullmatch(r"\$env:(\w+) = (.*)", line)
        assert match, line
        if match[2] == "$null":
            continue
        pieces, at = [*_POWERSHELL.finditer(match[2])], 0
        for piece in pieces:
            assert piece.start() == at, line
            at = piece.end()
        assert at == len(match[2]), line
        assert match[2].startswith("'"), line
        units = [_units(piece) for piece in pieces]
        read[match[1]] = b"".join(units).decode("utf-16-be")
    return read


def _units(piece: re.Match[str]) -> bytes:
    if piece["unit"]:
        return bytes.fromhex(piece["unit"])
    return re.sub(r"(['\u2018-\u201b]){2}", r"\1", piece["text"] or "").encode("utf-16-be")


def by_cmd_rules(text: str) -> Read:
    """By the rules of cmd's language for `set "NAME=VALUE"`, where nothing in it is special to any of its phases."""
    read: dict[str, str] = {}
    for line in text.splitlines():
        match = re.fullmatch(r'set "(\w+)=([ -~]*)"', line)
        assert match, line
        assert not set(match[2]) & set('"%!'), line
        if match[2]:
            read[match[1]] = match[2]
    return read


class _file:  # noqa: N801  reads as `open` does
    def __init__(self, text: str) -> None:
        self._text = text

    def __enter__(self) -> str:
        handle, self._name = tempfile.mkstemp(suffix=".env")
        with os.fdopen(handle, "wb") as file:
            file.write(self._text.encode())
        return self._name

    def __exit__(self, *_: object) -> None:
        Path(self._name).unlink()


def is_there(program: str) -> bool:
    return shutil.which(program) is not None
