"""Where settings live: path templates with `~`, `$VARIABLES` and alternatives, resolved for one machine and user."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal

from toolsync.errors import TemplateError
from toolsync.masking import on_one_line, printable
from toolsync.pattern import late
from toolsync.value import frozen

Platform = Literal["linux", "darwin", "win32"]


@frozen
class Places:
    """What the paths of a template are relative to.

    Attributes:
        home: the user's home folder.
        environ: the environment that the tools are taken to see.
        project: the folder whose project settings count (`<project>`).
        root: the file system's root (`<root>`); another one in tests.
        platform: which operating system's rules hold.
        variables: further ones for path templates, that no environment has.
        repository: the folder above the project that is the root of its repository (`<repository>`); None where the
            project is that itself, or lies in none.
    """

    home: Path
    environ: Mapping[str, str]
    project: Path
    root: Path
    platform: Platform
    variables: Mapping[str, str] = field(default_factory=dict)
    repository: Path | None = None

    @property
    def around(self) -> Mapping[str, str]:
        """The folders that a template may speak of by name; "" for none."""
        return {"project": str(self.project), "repository": str(self.repository or "")}


_VARIABLE = late(
    r"^~(?=[/\\]|$)|<(?P<place>project|repository|root)>|\$(?:(?P<bare>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})",
    re.ASCII,
)
_BRACES = late(r"\{([^{}$]*,[^{}]*)\}")

_STARTS = late(r"[~/\\$<]|[A-Za-z]:|\{[^{}$]*,")
"""How a path can begin that will be absolute."""

_MOST_CANDIDATES = 64
"""Two or three are usual (`opencode.{json,jsonc}`), and braces multiply."""


def candidates(spec: str | Sequence[str], places: Places) -> tuple[Path, ...]:
    """The files that `spec` may mean, best first: those of its first alternative whose variables are all set.

    More than one only where the alternative has braces (`opencode.{json,jsonc}`): the one that exists counts, else
    the first.

    Raises:
        TemplateError: no alternative can be resolved, the path is not absolute, or its braces mean too many files.
    """
    alternatives = [spec] if isinstance(spec, str) else list(spec)
    for alternative in alternatives:
        expanded = [_expanded(text, places) for text in _spread(alternative)]
        if None not in expanded:
            return tuple(_absolute(text, alternative, places) for text in expanded if text is not None)
    raise TemplateError(
        f"no path can be made of {', '.join(alternatives)}", hint="A variable that it names is not set."
    )


def at_home(path: str, home: Path) -> str:
    """A path that a profile names, without `~`, which only shells know."""
    return str(home / path[2:]) if path[:2] in ("~/", "~\\") else path


def _expanded(text: str, places: Places) -> str | None:
    """The text with its variables filled, once: what is filled in is a path already; None if one is not set."""
    if any(_filled(match, places) is None for match in _VARIABLE.finditer(text)):
        return None
    return _VARIABLE.sub(lambda match: _filled(match, places) or "", text)


def _filled(match: re.Match[str], places: Places) -> str | None:
    if match[0] == "~":
        return str(places.home)
    if match["place"] == "repository":
        return None if places.repository is None else str(places.repository)
    if match["place"]:
        return str(places.project) if match["place"] == "project" else str(places.root).rstrip("/\\")
    name = match["bare"] or match["braced"]
    return _app_config(places) if name == "APP_CONFIG" else places.environ.get(name) or places.variables.get(name)


def _app_config(places: Places) -> str:
    if places.platform == "darwin":
        return str(places.home / "Library" / "Application Support")
    if places.platform == "win32":
        return places.environ.get("APPDATA") or str(places.home / "AppData" / "Roaming")
    xdg = places.environ.get("XDG_CONFIG_HOME", "")
    return xdg if Path(xdg).is_absolute() else str(places.home / ".config")  # the standard ignores a relative one


def stop_at_impossible(spec: str) -> None:
    """Let an alternative pass that can be a path, whatever is set on the machine.

    Raises:
        TemplateError: it is a relative one, holds a control character, or its braces mean too many files.
    """
    _stop_at_flood(spec)
    if "\0" in spec:
        raise TemplateError(f"'{on_one_line(spec, limit=200)}' is no path", hint="Write it without control characters.")
    if not _STARTS.match(spec):
        raise _relative(spec)


def _stop_at_flood(spec: str) -> None:
    count = 1
    for choice in _choices(spec):
        count *= len(choice)
        if count > _MOST_CANDIDATES:
            raise TemplateError(
                f"'{on_one_line(spec, limit=200)}' means more than {_MOST_CANDIDATES} files",
                hint="Braces multiply: name the files that there are with fewer of them.",
            )


def _spread(text: str) -> list[str]:
    _stop_at_flood(text)
    return ["".join(choice) for choice in itertools.product(*_choices(text))]


def _choices(text: str) -> list[list[str]]:
    pieces = _BRACES.split(text)
    return [piece.split(",") if index % 2 else [piece] for index, piece in enumerate(pieces)]


def _absolute(text: str, spec: str, places: Places) -> Path:
    path = Path(text)
    if path.is_absolute():
        return path
    variable = _VARIABLE.match(spec)
    name = variable and (variable["bare"] or variable["braced"])
    if not name:
        raise _relative(text)
    raise TemplateError(
        f"${name} is '{printable(places.environ.get(name, ''))}', which is not an absolute path",
        hint="Set it to a path that starts with /, or leave it unset.",
    )


def _relative(text: str) -> TemplateError:
    hint = "Start it with ~, / or a variable that holds an absolute path."
    return TemplateError(f"'{on_one_line(text, limit=200)}' is not an absolute path", hint=hint)
