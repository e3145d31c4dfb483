"""References to variables in settings: those that the tool itself expands, and those that it sends as they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from toolsync.tool.asking import FILE, NAME


def expanded(
    text: str, spellings: Sequence[str], environ: Mapping[str, str], read: Callable[[str], str] | None = None
) -> tuple[str, tuple[str, ...]]:
    """The text with the references that the tool expands filled in, and the variables that it named.

    Args:
        text: a value of the settings.
        spellings: as the template gives them: `${NAME}`, `{file:PATH}`.
        environ: what the tool sees; a variable that is not set is filled in as nothing.
        read: what a file holds; without it, references to files stay as they are.
    """
    named: list[str] = []
    known = [spelling for spelling in spellings if NAME in spelling or read is not None]

    def value(match: re.Match[str]) -> str:
        held = match[match.lastindex or 0]
        if NAME not in known[(match.lastindex or 1) - 1]:
            return read(held) if read is not None else match[0]
        named.append(held)
        return environ.get(held, "")

    pattern = "|".join(map(_pattern, known))
    return (re.sub(pattern, value, text) if pattern else text), tuple(named)


def _pattern(spelling: str) -> str:
    if NAME not in spelling:
        before, _, after = map(re.escape, spelling.partition(FILE))
        return rf"{before}([^\s](?:(?!{after}).)*){after}" if after else rf"{before}(\S+)"
    before, _, after = spelling.partition(NAME)
    end = re.escape(after) if after else r"(?![A-Za-z0-9_])"
    return rf"{re.escape(before)}([A-Za-z_][A-Za-z0-9_]*){end}"


GAP = "spelling_of_gap"
"""The sentence for what an example leaves to be filled in: no reference to anything."""

_FORMS: Mapping[str, str] = {
    r"\$\{\{\s*(?:secrets|env)\.\w+\s*\}\}": "spelling_of_continue",
    r"\$\{(?:env:)?[A-Za-z_]\w*(?::?[-?=+][^}]*)?\}": "spelling_of_shell_or_code",
    r"\$env:[A-Za-z_]\w*": "spelling_of_powershell",
    r"\$[A-Za-z_]\w*": "spelling_of_shell",
    r"\$\([^()]+\)": "spelling_of_shell_command",
    r"`[^`]+`": "spelling_of_shell_command",
    r"\{env:[^{}\s]*\}": "spelling_of_opencode",
    r"\{file:[^{}]*\}": "spelling_of_opencode_file",
    r"\{\{\s*[\w.$|() -]+\s*\}\}": "spelling_of_template",
    r"#\{\s*[A-Za-z_][\w.\[\]'\"]*\s*\}": "spelling_of_template",
    r"@[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+@?": "spelling_of_template",
    r"%[A-Za-z_]\w*%": "spelling_of_windows",
    r"(?:localEnv|env|process\.env|os\.environ)[:./][A-Za-z_]\w*": "spelling_of_other",
    r"op://\S+": "spelling_of_op",
    r"(?:vault|bws?|doppler|infisical|secretref|aws-sm|gcp-sm|azure-kv)(?:://?|:)\S+": "spelling_of_other",
    r"(?:keyring|command):\S.*": "spelling_of_toolsync",
    r"ENC\[[^\]]*\]": "spelling_of_sops",
    r"<[A-Za-z][\w -]*>": GAP,
    r"![^\s].*": "spelling_of_pi",
}
"""What people write where a key belongs, and the sentence that says whose spelling it is."""


def stray(text: str) -> str:
    """The sentence that says whose spelling of a reference `text` is, if it is one and nothing else; "" if it is none.

    A key may begin with `!` or hold `$`: what could be one is no reference.
    """
    bare = text.strip().removeprefix("Bearer ").strip("\"' ")
    return next((whose for form, whose in _FORMS.items() if re.fullmatch(form, bare) and _is_short(bare)), "")


_LONGEST = 200


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST and not (text.startswith("!") and " " not in text and "/" not in text)


def variable(text: str) -> str:
    """The variable that a reference names, in whatever spelling; "" where it names none."""
    if text.lstrip("\"'").startswith(("op://", "keyring:", "command:", "ENC[")):
        return ""
    match = re.search(r"(?:secrets\.|env:|env\.|localEnv[:.]|environ[./])?([A-Za-z_]\w*)", text.removeprefix("Bearer "))
    names = re.findall(r"[A-Za-z_]\w*", text)
    upper = [name for name in names if name.isupper() or "_" in name]
    return upper[-1] if upper else match[1] if match else ""
