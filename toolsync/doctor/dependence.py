"""Whether a command line hangs on the folder that it is run in: by a file that it names, or by asking where it is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_BEGIN = r"""(?:^|[(`;&|{]|\s-\w*c\s+['"]?|\b(?:builtin|command|env|exec)\s)\s*(?:\w+=\S*\s+)*"""
"""What comes before a command's name."""

_HERE = re.compile(rf"\$\{{?(?:PWD|OLDPWD|CLAUDE_PROJECT_DIR)\b|{_BEGIN}(?:/\S*/)?(?:pwd|direnv)\b|\brev-parse\b")
"""How a command asks where it is run."""

_AWAY = re.compile(
    r"""(?:^|\s-\w*c\s+['"]?)[({\s]*cd(?:\s+(?:--\s+)?["']?(?:[~/]|\$\{?HOME\b)[^;&|\n]*)?[ \t]*(?:&&|;|\n)"""
)
"""How a line begins that goes elsewhere first."""

_ENTRY = re.compile(
    r"(?<![\w./-])(?:pass|gopass|op (?:read|item get)|vault (?:kv get|read)|secret-tool lookup|security find-[\w-]+"
    r"|keyring get|rbw get|lpass show|bw get|aws secretsmanager|gcloud secrets)(?=\s)[^`$;&|<>()\n]*"
)
"""A password manager asked for one of its entries: their names look like files, and are none."""

_PYTHON = re.compile(
    r"""python[\d.]*(?:\s+(?:-[WX]\s+\S+|-(?!m|\w*c)\w+))*\s+(?:-m\s*)?['"]?(\w[\w-]*)"""
    r"""|\b(?:import|from)\s+([\w.]+(?:\s*,\s*[\w.]+)*)|\b(?:__import__|import_module)\(\s*['"](\w+)"""
)
"""What Python is to run, or to import: a name without a suffix."""

_NO_FILE = re.compile(r"[/~$%-]|[A-Za-z]:")
"""How words begin that are no path below the folder; `$HOME/…` and `%USERPROFILE%\\…` too."""


def hangs_on(folder: Path, line: str, program: str, environ: Mapping[str, str]) -> bool:
    """Whether what it does hangs on the folder.

    Args:
        folder: in which it is run.
        line: the program and its arguments; for a line, the shell with it.
        program: the program that people would look for.
        environ: the variables that it is run with.
    """
    if _HERE.search(line) or _is_by_path(program, folder, environ):
        return True
    if _AWAY.search(line) and len(re.findall(r"\b(?:cd|popd)\b", line)) == 1:
        return False
    asked = _ENTRY.sub(lambda entry: " ".join(re.findall(r"(?<!\S)\.\S*", entry[0])), line)
    return any(os.path.lexists(folder / name) for name in {*_files(asked, program), *_modules(line)})


def _files(line: str, program: str) -> Iterator[str]:
    """The words that may name a file: by a path, or by a name with a suffix."""
    for word in re.split(r"""[\s'"=;|&<>()@]+""", line.replace("\\", "/")):
        if word != program and not _NO_FILE.match(word) and ("/" in word or "." in word.rstrip(".")):
            yield word
    yield from re.findall(r"""\bcd\s+(?:--\s+)?['"]?([\w.][\w./-]*)""", line)


def _modules(line: str) -> Iterator[str]:
    """What Python looks for in the folder that it is run in."""
    if "python" in line:
        for found in _PYTHON.finditer(line):
            names = (name.strip().partition(".")[0] for name in (found[1] or found[2] or found[3]).split(","))
            yield from (file for name in names if name for file in (name, f"{name}.py"))


def _is_by_path(program: str, folder: Path, environ: Mapping[str, str]) -> bool:
    """Whether the program is found by an entry of PATH that is no absolute one."""
    entries = environ.get("PATH", "").split(os.pathsep) if program and "/" not in program else []
    return any(os.path.lexists(folder / entry / program) for entry in entries if not Path(entry).is_absolute())
