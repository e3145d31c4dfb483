"""The machines that acceptance tests run on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.conftest import needs
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret


@pytest.fixture
def another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[], Machine]:
    """Makes machines with empty homes that share one profile file."""
    needs(os.name == "posix", "homes, links and modes of POSIX")
    count = iter(range(1000))
    return lambda: Machine(tmp_path / f"machine-{next(count)}", tmp_path / "config" / "profile.toml", capsys)


@pytest.fixture
def machine(another: Callable[[], Machine]) -> Machine:
    """A machine with a profile whose gateway nobody asks."""
    made = another()
    made.profile()
    return made


@pytest.fixture
def gateway() -> Iterator[LoopbackGateway]:
    """A gateway that takes the machines' key."""
    with LoopbackGateway(Secret(KEY)) as running:
        yield running
