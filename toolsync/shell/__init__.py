"""Variables as lines that a shell, a service manager or a loader of files takes in: quoted right, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape

from toolsync.errors import UsageError
from toolsync.masking import on_one_line
from toolsync.shell import quoting
from toolsync.value import frozen

Variables = Mapping[str, str | None]
"""Name and value; None for one that must not be set."""


@frozen
class Dialect:
    """One way to spell variables.

    Attributes:
        name: what `--shell` takes.
        sets: the line that sets a variable, of its name and its quoted value.
        unsets: the line that takes it away from what is started there, of its name.
        quoted: the value as it is spelled; raises a ValueError that says what it cannot be given.
        usage: how the lines are taken in, for people; ARGUMENTS stands for the rest of the command.
        first: the line before all others, if there is one.
        last: the line behind all others, if there is one.
    """

    name: str
    sets: str
    unsets: str
    quoted: Callable[[str], str]
    usage: str
    first: str = ""
    last: str = ""


DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect("sh", "export {}={}", "unset {}", quoting.sh, 'eval "$(toolsync env ARGUMENTS)"'),
        Dialect(
            "fish",
            "set -gx {} {}",
            # A universal variable is the user's own for good: what `set -e` takes is gone from their disk.
            "set -eg {0}; set -q {0}; and set -gx {0} ''",
            quoting.fish,
            "toolsync env ARGUMENTS | source",
        ),
        Dialect(
            "powershell",
            "$env:{} = {}",
            "$env:{} = $null",
            quoting.powershell,
            "toolsync env ARGUMENTS | Out-String | Invoke-Expression",
        ),
        Dialect(
            "cmd",
            'set "{}={}"',
            'set "{}="',
            quoting.cmd,
            "for /f \"delims=\" %i in ('toolsync env ARGUMENTS') do @%i",
        ),
        Dialect("dotenv", "{}={}", "# {} must not be set.", quoting.dotenv, "toolsync env ARGUMENTS > FILE"),
        Dialect(
            "systemd",
            "{}={}",
            "# UnsetEnvironment={}",
            quoting.systemd,
            "toolsync env ARGUMENTS > FILE, and EnvironmentFile=FILE in the unit",
        ),
        Dialect(
            "launchd",
            "  <key>{}</key>\n  <string>{}</string>",
            "  <!-- {} must not be set. -->",
            lambda text: escape(quoting.xml(text), {"\r": "&#13;"}),
            "toolsync env ARGUMENTS, and its lines in the agent's property list",
            "<key>EnvironmentVariables</key>\n<dict>",
            "</dict>",
        ),
    )
}
"""By name, in the order in which help lists them."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def script(variables: Variables, shell: str) -> str:
    """The lines that set the variables, each ended.

    Args:
        variables: what is set, and what is not to be, in their order.
        shell: a name in `DIALECTS`.

    Raises:
        UsageError: a variable cannot be spelled in that dialect; its value is not shown.
    """
    dialect = DIALECTS[shell]
    lines = [_line(name, value, dialect) for name, value in variables.items()]
    return "".join(f"{line}\n" for line in (dialect.first, *lines, dialect.last) if line)


def _line(name: str, value: str | None, dialect: Dialect) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{on_one_line(name, limit=80)}' is no name of a variable that a shell can set",
            hint="Names have letters, digits and '_'; the tool's template says it.",
        )
    if value is None:
        return dialect.unsets.format(name)
    try:
        return dialect.sets.format(name, dialect.quoted(value))
    except ValueError as error:
        raise UsageError(f"{name} {error}, which {dialect.name} cannot be given", hint=_ELSEWHERE) from error


_ELSEWHERE = "`toolsync exec -- COMMAND` needs no quoting at all; another `--shell` may do, too."


# Which one it is.


_POSIX = ("sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "yash", "busybox")
_OTHERS = {"fish": "fish", "pwsh": "powershell", "powershell": "powershell", "cmd": "cmd"}
UNSPOKEN = ("csh", "tcsh", "nu", "xonsh", "elvish", "rc", "es")
"""Shells that take in none of the dialects, whatever their names look like."""


def dialect_of(program: str) -> str | None:
    """The dialect of a shell by its program's name; None for one whose words nobody here knows."""
    name = program.lower().removesuffix(".exe").removeprefix("-")
    return "sh" if name in _POSIX else _OTHERS.get(name)
