"""Views: what a command's data are made lines by is there."""

from __future__ import annotations

from importlib import import_module

import pytest

from toolsync.render import _VIEWS


@pytest.mark.parametrize(("module", "view"), sorted(set(_VIEWS.values())), ids=lambda name: name)
def test_a_view_is_there(module: str, view: str) -> None:
    assert callable(getattr(import_module(f"toolsync.render.{module}"), view))
