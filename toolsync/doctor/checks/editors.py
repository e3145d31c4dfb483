"""Editors among the running programs: what they started, and whether a window of theirs was loaded anew."""

from __future__ import annotations

from pathlib import Path

from toolsync.doctor.look import Look
from toolsync.process import Process, above

_EDITORS = (
    *("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "zed", "electron"),
    *("idea", "pycharm", "webstorm", "phpstorm", "goland", "rider", "clion", "rubymine", "rustrover"),
)
"""Programs that people start from a desktop, and that start tools in turn."""

_FOLDERS = (
    *(".vscode", ".vscode-insiders", ".vscode-oss", ".vscode-server", ".vscode-server-insiders", ".vscode-remote"),
    *(".cursor", ".cursor-server", ".windsurf", ".windsurf-server", ".antigravity", ".trae"),
)
"""Where VS Code and its kin keep their extensions, below the home: `PUBLISHER.NAME-VERSION`."""

_HOST = "--inspect-port"
"""How a word begins with which VS Code starts what runs a window's extensions, and none of its other helpers; where the
window is another machine's too."""


def is_of_desktop(look: Look, process: Process) -> bool:
    """Whether an editor started it, so that it has the editor's variables."""
    return any(any(map(one.is_called, _EDITORS)) for one in above(process, look.world.processes))


def has_reloaded(look: Look, main: Process, since: float) -> bool:
    """Whether a window was loaded anew, or opened: its extensions run in a child of the editor that is younger.

    Args:
        look: the program that is an extension.
        main: the editor.
        since: in seconds since 1970.
    """
    hosts = [one for one in look.world.processes if (one.started or 0.0) >= since and _runs_extensions(one)]
    return any(main in above(one, look.world.processes) for one in hosts)


def _runs_extensions(process: Process) -> bool:
    return any(word.startswith(_HOST) for word in process.words)


def lacks_extension(look: Look) -> bool:
    """Whether the tool is an extension, and no editor here has it; where none keeps its extensions, nobody knows."""
    name = look.tool.processes[look.reader.name].extension.lower()
    if not name:
        return False
    home = look.world.session.places.home
    installed = [one.lower() for folder in _FOLDERS for one in _names(home / folder / "extensions")]
    return bool(installed) and not any(one.startswith(f"{name}-") for one in installed)


def _names(folder: Path) -> list[str]:
    try:
        return [one.name for one in folder.iterdir()]
    except OSError:  # not there, or not ours to read
        return []
