"""The data that ships with toolsync (`templates/`, `schemas/`), found installed or in a checkout."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


def folder(name: str) -> Path:
    """The shipped folder `templates` or `schemas`."""
    package = Path(__file__).parent
    installed = package / "_data" / name
    return installed if installed.is_dir() else package.parent / name


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema `schemas/<name>.schema.json`."""
    loaded: dict[str, Any] = json.loads((folder("schemas") / f"{name}.schema.json").read_bytes())
    return loaded


@cache
def environment() -> dict[str, dict[str, str]]:
    """What a program without a template of its own takes from its environment (`templates/environment.toml`)."""
    import tomllib

    return tomllib.loads((folder("templates") / "environment.toml").read_text(encoding="utf-8"))
