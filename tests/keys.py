"""Invented keys: every key in a test begins with `MARK`, so that the leak check finds it wherever it turns up."""

from __future__ import annotations

from typing import Final

MARK: Final = "sk-invented-"


def invented(label: str) -> str:
    """A key that opens nothing; `label` tells two of them apart (letters, digits and hyphens)."""
    return f"{MARK}{label}-4f7Kq9ZtW2xB8"
