"""Which tool a command line starts: by the name of its program, or of what another program starts for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from toolsync.registry import Known
from toolsync.tool import Tool
from toolsync.value import frozen

_STARTERS = frozenset(
    {
        *("npx", "bunx", "pnpx", "uvx", "npm", "pnpm", "yarn", "bun", "uv", "pipx", "poetry", "pdm", "hatch", "direnv"),
        *("env", "nice", "ionice", "nohup", "setsid", "stdbuf", "time", "timeout", "caffeinate", "unbuffer", "command"),
        *("sudo", "doas", "taskset", "numactl", "chrt", "strace", "systemd-run", "dbus-run-session", "winpty"),
        *("proxychains", "proxychains4", "torsocks", "firejail", "rlwrap", "sh", "bash", "dash", "zsh"),
    }
)
"""Programs that start the one that they are told."""

_AFTER_DASHES = frozenset({"mise", "op", "dotenvx", "doppler", "infisical", "aws-vault", "chamber", "devbox"})
"""Those that are told it behind `--`, after words of their own."""

_VERBS = frozenset({"exec", "dlx", "x", "run", "tool", "."})
"""What stands before it: `npm exec`, `pnpm dlx`, `bun x`, `pipx run`, `uv tool run`, `direnv exec .`."""

_BARE_OPTIONS = frozenset({"--", "-y", "--yes", "-q", "--quiet", "--silent", "-E", "--user", "--scope"})
"""Options that take no value: what follows is the program."""

_FOLDERS = frozenset({"-C", "--chdir", "--cwd", "--cd", "--dir", "--directory", "--working-directory"})

_SEVERAL = re.compile(r"[;&|`\n]|\$\(")
"""In a line for a shell that starts more than one program: what another needs is to be there too."""

_PACKAGE = re.compile(r"(?:@[\w.-]+/)?([\w.-]+?)(?:@[^@/]*|==.*)?")
"""A package as npm and pip are told of it: with its owner, and a version."""


@frozen
class Launch:
    """What a command line starts, as far as its names tell.

    Attributes:
        tool: which tool; None for none that is known.
        folder: where another program starts it; "" for here.
    """

    tool: Tool | None
    folder: str = ""


def launch(known: Known, argv: Sequence[str]) -> Launch:
    """The tool that the command line starts, and where, if it says so: files of another project count then."""
    tools = [tool for tool in known.values() if not tool.store]
    programs = {name.lower(): tool for tool in tools for name in tool.commands}
    packages = {**{tool.name.lower(): tool for tool in tools if tool.commands}, **programs}
    return _started(argv, programs, packages)


def _started(argv: Sequence[str], programs: Mapping[str, Tool], packages: Mapping[str, Tool]) -> Launch:
    starter = _bare(argv[0])
    if starter in programs:
        return Launch(programs[starter])
    if starter in _AFTER_DASHES and "--" in argv[:-1]:
        place = argv.index("--")
        return _inside(_folder(argv[:place]), _started(argv[place + 1 :], programs, packages))
    for place in _told(argv) if starter in _STARTERS else ():
        line = (*argv[place].split(), *argv[place + 1 :])
        tool = packages.get(_package(line[0]))
        found = Launch(tool) if tool is not None else _started(line, programs, packages)
        if found.tool is not None:
            return _inside(_folder(argv[:place]), found)
    return Launch(None)


def _inside(folder: str, found: Launch) -> Launch:
    """What is started by what is started in a folder."""
    return replace(found, folder=str(PurePath(folder, found.folder))) if folder and found.tool else found


def _folder(words: Sequence[str]) -> str:
    """What `env -C`, `pnpm --dir` and the like are told to go to."""
    told = [word.partition("=")[2] for word in words if "=" in word and word.partition("=")[0] in _FOLDERS]
    told += [word for before, word in pairwise(words) if before in _FOLDERS]
    return told[-1] if told else ""


def _told(argv: Sequence[str]) -> Iterator[int]:
    """Where it may stand: the first word that is no option, and the next, where that may be an option's value.

    A word of several is a line for a shell: `npx -c`, `env -S`, `sh -c`.
    """
    for index, (before, word) in enumerate(pairwise(argv), start=1):
        first = next(iter(word.split()), "-")
        if first.startswith("-") or "=" in first or first in _VERBS or first[:1].isdigit():
            continue
        if _SEVERAL.search(word):
            return
        yield index
        if not before.startswith("-") or before in _BARE_OPTIONS:
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
