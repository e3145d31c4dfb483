"""A text as one word of a shell or of a file of variables. What cannot be said right raises a ValueError."""

from __future__ import annotations

import re


def sh(text: str) -> str:
    """For POSIX shells (sh, dash, bash, zsh, ksh): between single quotes all but those stand for themselves."""
    _refuse(text, _NOWHERE)
    return "'" + text.replace("'", "'\\''") + "'"


def fish(text: str) -> str:
    r"""For fish: between single quotes only `\'` and `\\` are escapes."""
    _refuse(text, _NOWHERE)
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def powershell(text: str) -> str:
    """For PowerShell, on one line of ASCII: its pipeline hands on line by line, and Windows' decodes by code page.

    Between single quotes only those are special, doubled. What is no visible ASCII is added by number, typographic
    quotes among it, which PowerShell takes for single ones.
    """
    _refuse(text, _NOWHERE)
    pieces = [_powershell_piece(match[0]) for match in re.finditer(r"[ -~]+|[^ -~]", text)]
    if pieces and not pieces[0].startswith("'"):
        pieces.insert(0, "''")  # a number in front would be added as a number
    return " + ".join(pieces) or "''"


def _powershell_piece(text: str) -> str:
    if text.isascii() and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    units = text.encode("utf-16-be")
    return " + ".join(f"[char]0x{units[index : index + 2].hex()}" for index in range(0, len(units), 2))


def cmd(text: str) -> str:
    """For cmd, inside `set "NAME=…"`: only what means the same in a batch file, at the prompt and in `for /f`.

    `%` is doubled in batch files and nowhere else; `!` counts where delayed expansion is on; a quotation mark ends
    the quoting of `&`, `|`, `<`, `>` and `^`; what is not ASCII depends on the code page. An empty value takes the
    variable away, as it does for every program of Windows.
    """
    _refuse(text, _CMD)
    return text


def dotenv(text: str) -> str:
    """For files of variables as Node, python-dotenv, docker compose and `set -a; .` read them all: the same in each.

    Libraries differ in what a backslash, a quote within quotes and `${` do; what they would take apart is refused.
    """
    _refuse(text, _DOTENV)
    if re.fullmatch(r"[A-Za-z0-9_./:@%+,=-]+", text):
        return text
    return f"'{text}'"


def systemd(text: str) -> str:
    r"""For `EnvironmentFile=`: between double quotes a backslash escapes `"`, `\`, `` ` `` and `$`, and nothing else.

    It drops an assignment with a control character other than tab and line feed, or with a code that Unicode reserves
    as none, with no more than a warning in its log.
    """
    _refuse(text, _SYSTEMD)
    return '"' + re.sub(r'(["\\`$])', r"\\\1", text) + '"'


def xml(text: str) -> str:
    """For XML 1.0, as it is: markup is still to be escaped."""
    _refuse(text, _XML)
    return text


_NOWHERE = (("\0", "holds a null character"), ("\ud800-\udfff", "holds half a character"))
_CMD = (
    *_NOWHERE,
    ('"', "holds a quotation mark"),
    ("%", "holds a percent sign"),
    ("!", "holds an exclamation mark"),
    ("\x01-\x1f\x7f", "holds a line break or a control character"),
    ("\x80-\U0010ffff", "holds a character that is not ASCII"),
)
_DOTENV = (
    *_NOWHERE,
    ("'", "holds a single quote"),
    ("\\\\", "holds a backslash"),
    ("$", "holds a dollar sign"),
    ("\x01-\x1f\x7f\x85\u2028\u2029", "holds a line break or a control character"),
)
_NO_CHARACTERS = "\ufdd0-\ufdef" + "".join(f"{chr(last - 1)}{chr(last)}" for last in range(0xFFFF, 0x110000, 0x10000))
_SYSTEMD = (
    *_NOWHERE,
    ("\x01-\x08\x0b-\x1f\x7f", "holds a control character"),
    (_NO_CHARACTERS, "holds a code that is no character"),
)
_XML = (*_NOWHERE, ("\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff", "holds a control character"))
"""What cannot be said: ranges of characters as regular expressions spell them, and what such a text does."""


def _refuse(text: str, ranges: tuple[tuple[str, str], ...]) -> None:
    for characters, fault in ranges:
        if re.search(f"[{characters}]", text):
            raise ValueError(fault)
