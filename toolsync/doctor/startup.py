"""Where shells and desktops are told of variables: the files, and the lines that set them; never their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from toolsync import disk
from toolsync.errors import FileError
from toolsync.paths import Places
from toolsync.pattern import late
from toolsync.value import frozen

Kind = Literal["shell", "desktop", "folder"]
"""Who reads the file: new shells; everything that is started after the login; direnv, for one folder."""


@frozen
class Line:
    """A line that sets a variable.

    Attributes:
        name: the variable.
        file: where, as it is on this machine; on Windows a key of the registry.
        line: 1-based; 0 where there are no lines.
        kind: who reads it.
        is_empty: whether it sets it to nothing.
    """

    name: str
    file: str
    line: int
    kind: Kind
    is_empty: bool = False


def lines(places: Places) -> tuple[Line, ...]:
    """Every line that sets a variable, in the files of this user's shells and desktop; later ones win."""
    return tuple(_lines(places))


def files(places: Places) -> tuple[Path, ...]:
    """The files of this user's shells and desktop, whether they are there or not."""
    return tuple(file for file, _, _ in _files(places))


def _lines(places: Places) -> Iterator[Line]:
    for file, kind, reader in _files(places):
        try:
            raw = disk.read(file).raw
        except FileError:
            continue
        for number, name, is_empty in reader((raw or b"").decode(errors="replace")):
            yield Line(name, str(file), number, kind, is_empty)


Found = Iterator[tuple[int, str, bool]]
Reading = Callable[[str], Found]


def _files(places: Places) -> Iterator[tuple[Path, Kind, Reading]]:
    home, root = places.home, places.root
    config = _folder(places, "XDG_CONFIG_HOME", home / ".config")
    zsh = _folder(places, "ZDOTDIR", home)
    fish = config / "fish"
    yield root / "etc" / "environment", "desktop", assignments
    yield from ((file, "desktop", assignments) for file in _all(config / "environment.d", "*.conf"))
    yield home / ".pam_environment", "desktop", assignments
    yield root / "etc" / "profile", "shell", exports
    yield from ((file, "shell", exports) for file in _all(root / "etc" / "profile.d", "*.sh"))
    for name in ("bash.bashrc", "bashrc", "zshenv", "zshrc", "zprofile", "zsh/zshenv", "zsh/zprofile", "zsh/zshrc"):
        yield root / "etc" / name, "shell", exports
    for name in (".profile", ".bash_profile", ".bash_login", ".bashrc", ".bash_aliases"):
        yield home / name, "shell", exports
    for name in (".zshenv", ".zprofile", ".zshrc", ".zlogin"):
        yield zsh / name, "shell", exports
    yield from ((file, "shell", fish_sets) for file in (*_all(fish / "conf.d", "*.fish"), fish / "config.fish"))
    yield fish / "fish_variables", "shell", fish_universal
    if places.project.is_relative_to(home):
        folders = [folder for folder in (places.project, *places.project.parents) if folder.is_relative_to(home)]
        yield from ((folder / ".envrc", "folder", exports) for folder in reversed(folders))


def _folder(places: Places, variable: str, usual: Path) -> Path:
    told = Path(places.environ.get(variable, ""))
    return told if told.is_absolute() else usual


def _all(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


# What each kind of file says; every function gives line, name, and whether the value is empty.

_EXPORT = late(r"^[ \t]*(?:export|(?:declare|typeset)[ \t]+-\w*x\w*)[ \t]+(?P<words>.*)$")
_ASSIGNED = late(r"""^[ \t]*([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s;#"']*)[ \t]*(?:[;#].*)?$""")
_WORD = late(r"""([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s;&|]*)|([A-Za-z_]\w*)(?=[\s;]|$)|[;&|#].*""")


def exports(text: str) -> Found:
    """What bash, zsh and sh hand on: `export A=x B=y`, `declare -x A=x`, and `A=x` that is exported somewhere."""
    plain: dict[str, list[tuple[int, bool]]] = {}
    named: set[str] = set()
    found: list[tuple[int, str, bool]] = []
    for number, line in enumerate(_joined(text), start=1):
        exported = _EXPORT.match(line)
        if exported is not None:
            for word in _WORD.finditer(exported["words"]):
                if word[1]:
                    found.append((number, word[1], word[2].strip("\"'") == ""))
                elif word[3]:
                    named.add(word[3])
        elif assigned := _ASSIGNED.match(line):
            plain.setdefault(assigned[1], []).append((number, assigned[2].strip("\"'") == ""))
    late = ((number, name, is_empty) for name in named for number, is_empty in plain.get(name, ()))
    yield from sorted([*found, *late])


def _joined(text: str) -> list[str]:
    """The lines; one that goes on after a backslash stands whole in its first, so that numbers stay."""
    lines = text.replace("\r\n", "\n").split("\n")
    for index in range(len(lines) - 2, -1, -1):
        if lines[index].endswith("\\"):
            lines[index] = lines[index][:-1] + " " + lines[index + 1]
            lines[index + 1] = ""
    return lines


def assignments(text: str) -> Found:
    """What `environment.d`, `/etc/environment` and PAM hand on: `A=x`, `export A=x`, `A DEFAULT=x`."""
    pattern = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)(?:[ \t]+(?:DEFAULT|OVERRIDE))?=(.*)$")
    for number, line in enumerate(text.splitlines(), start=1):
        if match := pattern.match(line):
            yield number, match[1], match[2].strip().strip("\"'") == ""


_SET = late(r"^[ \t]*set[ \t]+(?P<options>(?:-[-\w]+[ \t]+)+)(?P<name>[A-Za-z_]\w*)(?P<value>.*)$")


def fish_sets(text: str) -> Found:
    """What fish hands on: `set -gx A x`, `set --export A x`, `export A=x`."""
    for number, line in enumerate(text.splitlines(), start=1):
        match = _SET.match(line)
        options = match["options"].split() if match else []
        if match and any(word == "--export" or re.fullmatch(r"-\w*x\w*", word) for word in options):
            yield number, match["name"], match["value"].strip().strip("\"'") == ""
        elif exported := re.match(r"^[ \t]*export[ \t]+([A-Za-z_]\w*)[= ](.*)$", line):
            yield number, exported[1], exported[2].strip().strip("\"'") == ""


def fish_universal(text: str) -> Found:
    """What fish keeps for good: `SETUVAR --export A:x`."""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := re.match(r"^SETUVAR (?=.*--export)(?:--\w+ )+([A-Za-z_]\w*):(.*)$", line):
            yield number, match[1], match[2] in ("", r"\x1d")


def registry_lines(key: str, values: Iterable[tuple[str, object]]) -> Iterator[Line]:
    r"""What a key of Windows' registry hands on to every program that is started later.

    Args:
        key: as people write it: `HKCU\Environment`.
        values: names and values, as `winreg.EnumValue` gives them.
    """
    for name, value in values:
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            yield Line(name, key, 0, "desktop", str(value).strip() == "")


def launchd_variables(said: str) -> Mapping[str, str]:
    """The variables that macOS hands to programs of the desktop, in what `launchctl print gui/UID` says."""
    block = re.search(r"^\tenvironment = \{\n(.*?)^\t\}", said, re.MULTILINE | re.DOTALL)
    pairs = re.findall(r"^\t\t([A-Za-z_]\w*) => (.*)$", block[1] if block else "", re.MULTILINE)
    return dict(pairs)
