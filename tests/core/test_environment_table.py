"""What programs without a template take: the table that ships is one that any profile can fill."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from toolsync import resources
from toolsync.address import PATHS
from toolsync.overlay import check
from toolsync.shell import DIALECTS, script

TABLE: dict[str, Any] = tomllib.loads((resources.folder("templates") / "environment.toml").read_text(encoding="utf-8"))


def test_every_fact_in_it_is_one() -> None:
    check(TABLE)


def test_every_protocol_has_its_table() -> None:
    assert set(TABLE) == {*(dialect.partition("-")[0] for dialect in PATHS), "gemini", "key", "network"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_name_in_it_is_one_that_shells_can_set(dialect: str) -> None:
    names = [name for table in TABLE.values() for name in table if not name.startswith("<")]
    assert script(dict.fromkeys(names, "x"), dialect).count("x") >= len(names)
