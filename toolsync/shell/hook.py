"""Functions of a shell that run a program through another one: what a line in its start-up file defines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from toolsync.masking import on_one_line
from toolsync.shell import dialect_of, quoting

Wrapped = Mapping[str, Sequence[str]]
"""What a program's name runs instead: the arguments are put behind it."""


def functions(wrapped: Wrapped, shell: str) -> str:
    """The functions, each ended; a name that cannot be one in this shell is left out.

    An alias of that name is taken away first, for shells look there before they look at functions.

    Args:
        wrapped: the programs.
        shell: a name in `SHELLS`.

    Raises:
        ValueError: a word cannot be spelled in that shell.
    """
    name_of, spelled = SHELLS[shell]
    return "".join(spelled(name, argv) for name, argv in wrapped.items() if re.fullmatch(name_of, name))


def remark(text: str) -> str:
    """A line that every one of these shells passes over."""
    return f"# toolsync: {on_one_line(text)}\n"


def _sh(name: str, argv: Sequence[str]) -> str:
    return f'unalias {name} 2>/dev/null || :\n{name}() {{ {_words(argv, quoting.sh)} "$@"; }}\n'


def _bash(name: str, argv: Sequence[str]) -> str:
    """Behind `function` no alias is looked at: zsh reads all of what it is to evaluate before `unalias` has run."""
    return f'unalias {name} 2>/dev/null || :\nfunction {name} {{ {_words(argv, quoting.sh)} "$@"; }}\n'


def _fish(name: str, argv: Sequence[str]) -> str:
    return f"function {name} --wraps {name}\n    {_words(argv, quoting.fish)} $argv\nend\n"


def _powershell(name: str, argv: Sequence[str]) -> str:
    """What is piped into a function reaches the program only where it is handed on."""
    call = f"& {_words(argv, lambda word: f'({quoting.powershell(word)})')} @args"
    return f"function {name} {{ if ($MyInvocation.ExpectingInput) {{ $input | {call} }} else {{ {call} }} }}\n"


def _words(argv: Sequence[str], quoted: Callable[[str], str]) -> str:
    return " ".join(word if _PLAIN.fullmatch(word) and index else quoted(word) for index, word in enumerate(argv))


_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*|--?[A-Za-z]+")
"""What is itself in every shell; PowerShell takes a single `--` for its own."""
_PORTABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_DASHED = r"[A-Za-z_][A-Za-z0-9_-]*"

SHELLS: Mapping[str, tuple[str, Callable[[str, Sequence[str]], str]]] = {
    "sh": (_PORTABLE, _sh),
    "bash": (_DASHED, _bash),
    "zsh": (_DASHED, _bash),
    "fish": (_DASHED, _fish),
    "powershell": (_DASHED, _powershell),
}
"""What a function may be called there, and how it is defined."""

USAGE: Mapping[str, str] = {
    "sh": 'eval "$(toolsync hook --shell sh)"',
    "bash": 'eval "$(toolsync hook --shell bash)"',
    "zsh": 'eval "$(toolsync hook --shell zsh)"',
    "fish": "toolsync hook --shell fish | source",
    "powershell": "toolsync hook --shell powershell | Out-String | Invoke-Expression",
}
"""The line for the start-up file."""


def shell_of(program: str) -> str | None:
    """The name in `SHELLS` for a shell's program; None for one that has no functions of these kinds."""
    name = program.lower().removesuffix(".exe").removeprefix("-")
    dialect = dialect_of(name)
    return name if name in SHELLS else dialect if dialect in SHELLS else None
