"""Where CC Switch keeps its things, and where it looks for those of the tools: read, never written.

Facts from github.com/farion1231/cc-switch at 5ca9459 (3.20.0), `src-tauri/src/`: settings.rs, app_store.rs, config.rs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolsync import disk
from toolsync.errors import FileError
from toolsync.paths import Places

_FOLDERS = ("claude", "codex", "gemini", "grok", "opencode", "openclaw", "hermes", "pi")
"""The tools whose settings folder a person can move, as in `claudeConfigDir`."""

_LIVE = {"claude": ("settings.json",), "codex": ("config.toml", "auth.json"), "gemini": (".env",)}
"""What a click on a row of an app writes over, in that app's folder."""


def variables(places: Places) -> Mapping[str, str]:
    """`CC_SWITCH_DIR`, and `CC_SWITCH_CLAUDE_DIR` and the like for the tools' folders that CC Switch was told of."""
    moved = {"CC_SWITCH_DIR": _moved_home(places)}
    moved |= {f"CC_SWITCH_{name.upper()}_DIR": _folder(settings(places), name, places) for name in _FOLDERS}
    return {name: str(path) for name, path in moved.items() if path is not None}


def database(places: Places) -> Path:
    """The database that CC Switch uses now, there or not."""
    told = places.environ.get("CC_SWITCH_DIR")
    folder = Path(told) if told else _moved_home(places) or places.home / ".cc-switch"
    return folder / "cc-switch.db"


def settings(places: Places) -> Mapping[str, Any]:
    """What a person set on this machine; nothing if it cannot be read, for then CC Switch takes its defaults too.

    It lies in `~/.cc-switch` even when everything else was moved (settings.rs, `settings_path`).
    """
    data = _json(places.home / ".cc-switch" / "settings.json")
    return data if isinstance(data, dict) else {}


def added_to(app: str, places: Places) -> Path | None:
    """The file of an app into which CC Switch puts every row that is switched on; None for apps of which one counts.

    So opencode_config.rs `get_opencode_config_path`.
    """
    if app != "opencode":
        return None
    return (_folder(settings(places), app, places) or places.home / ".config" / "opencode") / "opencode.json"


def live_files(app: str, places: Places) -> tuple[Path, ...]:
    """The files of an app that a click on one of its rows writes over; none for apps whose rows all count at once."""
    folder = _folder(settings(places), app, places) or places.home / f".{app}"
    files = tuple(folder / name for name in _LIVE.get(app, ()))
    if app == "claude" and not files[0].exists() and (folder / "claude.json").exists():
        return (folder / "claude.json",)  # an older name, used while only it is there (`get_claude_settings_path`)
    return files


def _folder(told: Mapping[str, Any], name: str, places: Places) -> Path | None:
    return _path(told.get(f"{name}ConfigDir"), places)


def _moved_home(places: Places) -> Path | None:
    """The folder of the database, if it is not `~/.cc-switch` (`get_app_config_dir`)."""
    kept = _json(_app_data(places) / "com.ccswitch.desktop" / "app_paths.json")
    moved = _path(kept.get("app_config_dir_override") if isinstance(kept, dict) else None, places)
    if moved is not None and moved.exists():
        return moved
    if places.platform != "win32" or (places.home / ".cc-switch" / "cc-switch.db").exists():
        return None
    old = _path(places.environ.get("HOME"), places)  # 3.10.3 kept it there
    return old / ".cc-switch" if old and (old / ".cc-switch" / "cc-switch.db").exists() else None


def _app_data(places: Places) -> Path:
    """The folder in which Tauri keeps the data of apps."""
    if places.platform == "darwin":
        return places.home / "Library" / "Application Support"
    if places.platform == "win32":
        return Path(places.environ.get("APPDATA") or places.home / "AppData" / "Roaming")
    xdg = Path(places.environ.get("XDG_DATA_HOME", ""))
    return xdg if xdg.is_absolute() else places.home / ".local" / "share"


def _path(text: object, places: Places) -> Path | None:
    """An absolute path as a person typed it, `~` filled in (`resolve_override_path`); None for anything else."""
    if not isinstance(text, str) or not text.strip():
        return None
    text = text.strip()
    home = re.match(r"~(?:[/\\]|$)", text)
    path = places.home.joinpath(*re.split(r"[/\\]+", text[1:].strip("/\\"))) if home else Path(text)
    return path if path.is_absolute() else None


def _json(path: Path) -> Any:
    try:
        raw = disk.read(path).raw
        return None if raw is None else json.loads(raw.decode())
    except (FileError, ValueError, RecursionError):
        return None
