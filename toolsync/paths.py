"""Where settings live: path templates with `~`, `$VARIABLES` and alternatives, resolved for one machine and user."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolsync.errors import TemplateError

Platform = Literal["linux", "darwin", "win32"]


@dataclass(frozen=True)
class Places:
    """What the paths of a template are relative to.

    Attributes:
        home: the user's home folder.
        environ: the environment that the tools are taken to see.
        project: the folder whose project settings count (`<project>`).
        root: the file system's root (`<root>`); another one in tests.
        platform: which operating system's rules hold.
    """

    home: Path
    environ: Mapping[str, str]
    project: Path
    root: Path
    platform: Platform


_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_BRACES = re.compile(r"\{([^{}$]*,[^{}]*)\}")


def candidates(spec: str | Sequence[str], places: Places) -> tuple[Path, ...]:
    """The files that `spec` may mean, best first: those of its first alternative whose variables are all set.

    More than one only where the alternative has braces (`opencode.{json,jsonc}`): the one that exists counts, else
    the first.

    Raises:
        TemplateError: no alternative can be resolved, or the path is not absolute.
    """
    alternatives = [spec] if isinstance(spec, str) else list(spec)
    for alternative in alternatives:
        expanded = _expanded(alternative, places)
        if expanded is not None:
            return tuple(_absolute(text) for text in _spread(expanded))
    raise TemplateError(
        f"no path can be made of {', '.join(alternatives)}", hint="A variable that it names is not set."
    )


def _expanded(text: str, places: Places) -> str | None:
    text = text.replace("<project>", str(places.project)).replace("<root>", str(places.root).rstrip("/\\"))
    known = {**places.environ, "APP_CONFIG": _app_config(places)}
    for match in _VARIABLE.finditer(text):
        if not known.get(match[1] or match[2]):
            return None
    text = _VARIABLE.sub(lambda match: known[match[1] or match[2]], text)
    if text == "~" or text.startswith(("~/", "~\\")):
        text = str(places.home) + text[1:]
    return text


def _app_config(places: Places) -> str:
    if places.platform == "darwin":
        return str(places.home / "Library" / "Application Support")
    if places.platform == "win32":
        return places.environ.get("APPDATA") or str(places.home / "AppData" / "Roaming")
    return places.environ.get("XDG_CONFIG_HOME") or str(places.home / ".config")


def _spread(text: str) -> list[str]:
    pieces = _BRACES.split(text)
    choices = [piece.split(",") if index % 2 else [piece] for index, piece in enumerate(pieces)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def _absolute(text: str) -> Path:
    path = Path(text)
    if not path.is_absolute():
        raise TemplateError(f"'{text}' is not an absolute path", hint="Start it with ~, / or a variable.")
    return path
