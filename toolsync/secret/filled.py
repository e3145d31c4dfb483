"""The files that `env` filled with a key: only who redirected it knew them, and a rotation must name them.

What is kept holds their paths only, and losing it loses nothing but that.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from toolsync import own_file
from toolsync.errors import FileError

FILE = "filled.json"
_MOST = 200


def recorded(state_dir: Path) -> tuple[Path, ...]:
    """Those that are there still, the latest last; none where what is kept is missing or damaged."""
    try:
        content = json.loads(own_file.read(state_dir / FILE) or b"{}")
    except (FileError, ValueError, RecursionError):
        return ()
    names = content.get("files") if isinstance(content, dict) else None
    paths = [Path(name) for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return tuple(path for path in dict.fromkeys(paths) if path.is_absolute() and os.path.isfile(path))  # noqa: PTH113


def record(state_dir: Path, file: Path) -> None:
    """Keep one more.

    Raises:
        OSError: it cannot be written.
    """
    before = recorded(state_dir)
    if file in before:
        return
    content = {"schema": "toolsync/filled/1", "files": [str(path) for path in (*before, file)[-_MOST:]]}
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    own_file.put(state_dir / FILE, (json.dumps(content, indent=2) + "\n").encode())
