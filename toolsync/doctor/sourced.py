"""What the files of shells name: further files that they read, and where they have what was typed kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from toolsync.doctor import startup
from toolsync.errors import TemplateError
from toolsync.paths import Places, candidates
from toolsync.pattern import late
from toolsync.search.listing import listed
from toolsync.value import frozen

_MOST_FILES = 500
_MOST_BYTES = 2**20
"""Of one file: people write shorter ones, and completions are longer."""


@frozen
class Named:
    """What the files of this user's shells name.

    Attributes:
        read: the files that they read in, and those that these read in, each once.
        histories: where they have what was typed kept; there or not.
    """

    read: tuple[Path, ...]
    histories: tuple[Path, ...]


def named(places: Places) -> Named:
    """The files that are there; a name that only a shell could work out is passed over."""
    places = replace(places, variables={**_usual(places.home), **places.variables})
    begun = startup.files(places)
    read: dict[Path, None] = {}
    histories: dict[Path, None] = {}
    waiting = list(begun)
    while waiting and len(read) < _MOST_FILES:
        text = _text(waiting.pop(0))
        kept = (path for match in _HISTORY.finditer(text) for path in _meant(match["word"], places))
        histories |= dict.fromkeys(path for path in kept if not os.path.isdir(path))  # noqa: PTH112  may be too long
        for path in _sourced(text, places):
            if path not in read and path not in begun:
                read[path] = None
                waiting.append(path)
    return Named(tuple(read), tuple(histories))


_WORD = r"""(?P<word>(?:"[^"\n]*"|'[^'\n]*'|[^\s;&|)"'])+)"""
_SOURCE = late(
    r"(?m)(?:^|[;&|{(]|\bthen\b|\bdo\b|\belse\b|\band\b)[ \t]*"
    rf"(?:(?:builtin|command)[ \t]+)?(?:source|\\?\.)[ \t]+{_WORD}"
)
_SHOWN = late(rf"\$\([ \t]*(?:cat[ \t]|<)[ \t]*{_WORD}")
"""What a variable is set to: `$(cat FILE)`, `$(< FILE)`."""

_LOOP = late(r"(?m)^[ \t]*for[ \t]+\w+[ \t]+(?:in[ \t]+|\()(?P<words>[^;\n]+)")
_HISTORY = late(rf"(?m)^[ \t]*(?:(?:export|typeset|declare|set)[ \t]+(?:-\w+[ \t]+)*)?HISTFILE[= ]{_WORD}")
_DEFAULT = late(r"\$\{(\w+):?-[^{}]*\}")
_QUALIFIER = late(r"\([^()]*\)$")
"""What zsh writes behind a pattern: `*.zsh(N)`."""

_QUOTES = str.maketrans("", "", "\"'")


def _sourced(text: str, places: Places) -> Iterator[Path]:
    """What a file reads in: by name, and in a loop over names."""
    words = [match["word"] for pattern in (_SOURCE, _SHOWN) for match in pattern.finditer(text)]
    words += [word for match in _LOOP.finditer(text) for word in match["words"].split()]
    for word in words:
        for path in _meant(word, places):
            yield from (one for one in listed(path).files if os.path.isfile(one))  # noqa: PTH113  may be too long


def _meant(word: str, places: Places) -> tuple[Path, ...]:
    """The absolute paths that a word means, patterns among them; none where only a shell knows."""
    bare = _QUALIFIER.sub("", word.translate(_QUOTES)).rstrip(")")
    if "\0" in bare:
        return ()
    try:
        return candidates(_DEFAULT.sub(r"${\1}", bare), places)
    except TemplateError:
        return ()


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _usual(home: Path) -> dict[str, str]:
    """What variables stand for that such files use and nobody need set."""
    usual = {
        "HOME": "",
        "ZDOTDIR": "",
        "XDG_CONFIG_HOME": ".config",
        "XDG_STATE_HOME": ".local/state",
        "XDG_DATA_HOME": ".local/share",
        "XDG_CACHE_HOME": ".cache",
        "ZSH": ".oh-my-zsh",
        "ZSH_CUSTOM": ".oh-my-zsh/custom",
    }
    return {name: str(home / below) for name, below in usual.items()}
