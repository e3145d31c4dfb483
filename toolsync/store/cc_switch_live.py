"""The settings files that a click in CC Switch writes over: what they would be as a row, and who holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from toolsync import disk, document
from toolsync.document import Document
from toolsync.errors import DocumentError, FileError, StoreError
from toolsync.paths import Places
from toolsync.store import cc_switch_home

_PLACEHOLDERS = (b"PROXY_MANAGED", b"127.0.0.1:15721", b"cc-switch-official")
"""What CC Switch's local proxy leaves in the files that it took over: in place of a key, its own address, and the
provider through which Codex reaches it (services/proxy.rs `is_*_live_taken_over`, codex_config.rs)."""


def files(app: str, places: Places) -> Mapping[Path, bytes]:
    """The app's live files that exist, as CC Switch finds them.

    Raises:
        FileError: one cannot be read.
    """
    read = {file: disk.read(file).raw for file in cc_switch_home.live_files(app, places)}
    return {file: raw for file, raw in read.items() if raw is not None}


def is_taken_over(texts: Iterable[bytes]) -> bool:
    """Whether the local proxy stands in one of them."""
    return any(mark in text for text in texts for mark in _PLACEHOLDERS)


def is_logged_in(places: Places) -> bool:
    """Whether Codex holds a ChatGPT login (auth.json with tokens, not a mere key)."""
    return any(file.name == "auth.json" and b'"refresh_token"' in raw for file, raw in files("codex", places).items())


def is_added(id: str, app: str, places: Places) -> bool:
    """Whether the app's own file has the row of that name in it, which then is its own copy (live.rs).

    Raises:
        StoreError: nobody can tell, for that file cannot be read.
    """
    file = cc_switch_home.added_to(app, places)
    try:
        return file is not None and json.dumps(id).encode() in (disk.read(file).raw or b"")
    except FileError as error:
        raise StoreError(error.message, hint=error.hint) from error


def as_settings(app: str, live: Mapping[Path, bytes]) -> str | None:
    """The live files as a `settings_config`; None if there are none.

    Codex's `auth` stays empty: the row would hold a second copy of a login, which in time is an old one. It is there,
    files or not, for CC Switch refuses to choose a row without it.

    Raises:
        DocumentError: one of them cannot be read; a row that takes its place must not begin without it.
    """
    texts = {file.name: _decoded(file, raw) for file, raw in live.items()}
    if app == "codex":
        return json.dumps({"auth": {}, "config": texts.get("config.toml", "")}, ensure_ascii=False, indent=2)
    if app == "gemini":
        env = _variables(texts.get(".env", ""))
        return json.dumps({"env": env}, ensure_ascii=False, indent=2) if texts else None
    return next((_as_strict(file, raw) for file, raw in live.items()), None)


def without_login(settings: str) -> str:
    """Codex's live files, as the local proxy keeps them while it has taken them over, without the login in them."""
    return _parsed("the proxy's copy of Codex's settings", settings.encode()).set(("auth",), {}).text


def _as_strict(file: Path, raw: bytes) -> str:
    """The file itself; without comments, trailing commas and byte-order mark, for a row cannot hold them."""
    parsed = _parsed(disk.shown(file), raw)
    if parsed.fault or parsed.text.startswith("\ufeff") or not parsed.text.strip():
        return json.dumps(parsed.data, ensure_ascii=False, indent=2)
    return parsed.text


def _parsed(name: str, raw: bytes) -> Document:
    try:
        return document.parse(raw, "json")
    except DocumentError as error:
        raise error.at(name) from error


def _decoded(file: Path, raw: bytes) -> str:
    try:
        return document.decoded(raw).removeprefix("\ufeff")
    except DocumentError as error:
        raise error.at(disk.shown(file)) from error


def _variables(text: str) -> dict[str, str]:
    """A dotenv file as CC Switch reads it (gemini_config.rs `parse_env_file`): no quotes, no `export`."""
    pairs = (line.split("=", 1) for line in map(str.strip, text.splitlines()) if "=" in line and line[0] != "#")
    named = {name.strip(): value.strip() for name, value in pairs}
    return {name: value for name, value in named.items() if name and name.replace("_", "a").isalnum()}
