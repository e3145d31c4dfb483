"""Text of settings and of programs as it may be shown: on one line, and never a key."""

from __future__ import annotations

from toolsync.masking import mask_credentials, mask_key_shapes, masked, on_one_line


def text(value: str, *, limit: int = 200) -> str:
    """Any value, on one line of at most so many characters."""
    return on_one_line(masked(mask_credentials(mask_key_shapes(value))), limit=limit)
