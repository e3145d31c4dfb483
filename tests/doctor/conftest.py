"""The machines of the acceptance tests."""

from __future__ import annotations

from tests.acceptance.conftest import another, gateway, machine

__all__ = ["another", "gateway", "machine"]
