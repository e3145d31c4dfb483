"""A bug's report: on disk, masked, for its owner only; and a sentence where even that fails."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from tests.keys import invented
from toolsync import crash
from toolsync.masking import Secret

if TYPE_CHECKING:
    import pytest


def _bug(text: str) -> Exception:
    return ValueError(text)


def test_the_report_is_masked_and_private(tmp_path: Path) -> None:
    key = Secret(invented("crash"))
    said = crash.report(_bug(f"✓ {key.reveal()}, and sk-ant-api03-abcdefgh12345678"), tmp_path / "state")
    path = Path(said.removeprefix("the report is in "))
    assert path.parent == tmp_path / "state"
    assert path.read_text(encoding="utf-8").endswith("ValueError: ✓ ***, and ***\n")
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_report_is_written_whatever_the_locale_can_spell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locale.getpreferredencoding", lambda *_: "ascii")
    assert crash.report(_bug("\ud800 ✓"), tmp_path).startswith("the report is in ")


def test_where_none_can_be_written_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    assert crash.report(_bug("x"), tmp_path / "state") == "no report could be written (File exists)"
