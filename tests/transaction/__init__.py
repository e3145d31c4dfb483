"""The transaction under test, and how its tests ask for a write."""

from __future__ import annotations

from pathlib import Path

from toolsync import disk
from toolsync.transaction import Write


def write(
    path: Path,
    content: bytes | None,
    *,
    private: bool = False,
    mode: int | None = None,
    prune: tuple[Path, ...] = (),
) -> Write:
    """A write planned from what stands at `path` now."""
    snapshot = disk.read(path)
    return Write(snapshot.real, snapshot.sha256, content, private, mode, prune)
