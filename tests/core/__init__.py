"""The core: values in, values out. What several of its tests say in the same words."""

from __future__ import annotations

from typing import Any

from toolsync.document import Document, parse
from toolsync.facts import Fact, Facts

NOW = "2026-12-01T10:00:00Z"


def facts_of(**values: Any) -> Facts:
    """Facts as a test states them."""
    return {name: Fact(name, value, "the test") for name, value in values.items()}


def document(text: str, format: str = "jsonc") -> Document:
    return parse(text.encode(), format)
