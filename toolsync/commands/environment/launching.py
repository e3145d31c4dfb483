"""Which tool a command line starts: by the name of its program, or of what another program starts for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath, PureWindowsPath

from toolsync.registry import Known
from toolsync.tool import Tool

_STARTERS = frozenset(
    {
        *("npx", "bunx", "pnpx", "uvx", "npm", "pnpm", "yarn", "bun", "uv", "pipx"),
        *("env", "nice", "ionice", "nohup", "setsid", "stdbuf", "time", "timeout", "caffeinate", "unbuffer"),
    }
)
"""Programs that start the one that they are told."""

_VERBS = frozenset({"exec", "dlx", "x", "run", "tool"})
"""What stands before it: `npm exec`, `pnpm dlx`, `bun x`, `pipx run`, `uv tool run`."""

_PACKAGE = re.compile(r"(?:@[\w.-]+/)?([\w.-]+?)(?:@[^@/]*|==.*)?")
"""A package as npm and pip are told of it: with its owner, and a version."""


def tool_of(known: Known, argv: Sequence[str]) -> Tool | None:
    """The tool that the command line starts, as far as its names tell."""
    tools = [tool for tool in known.values() if not tool.store]
    programs = {name.lower(): tool for tool in tools for name in tool.commands}
    started = programs.get(_bare(argv[0]))
    if started is not None or _bare(argv[0]) not in _STARTERS:
        return started
    packages = {**{tool.name.lower(): tool for tool in tools if tool.commands}, **programs}
    found = (packages.get(_package(word)) for word in _told(argv[1:]))
    return next((tool for tool in found if tool is not None), None)


def _told(words: Sequence[str]) -> Iterator[str]:
    """What it may be: the first word that is no option, and the next, where that one may be an option's value."""
    for before, word in pairwise(["", *words]):
        if word.startswith("-") or "=" in word or word in _VERBS or word[:1].isdigit():
            continue
        yield word
        if not before.startswith("-") or before == "--":
            return


def _package(word: str) -> str:
    match = _PACKAGE.fullmatch(word)
    return match[1].lower() if match else _bare(word)


def _bare(program: str) -> str:
    path = PureWindowsPath(program) if "\\" in program else PurePosixPath(program)
    bare = path.name.lower()
    for suffix in (".exe", ".cmd", ".bat", ".ps1"):
        bare = bare.removesuffix(suffix)
    return bare
