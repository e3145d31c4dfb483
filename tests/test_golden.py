"""Every golden case, byte for byte: what is shown, what the files become, and undo back to what they were.

`pytest tests/test_golden.py --update-golden` writes the expectations anew; `tests/golden/README.md` says more.
"""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.keys import invented
from toolsync import masking, memory, render
from toolsync.commands import apply, undo
from toolsync.commands.diff import diff
from toolsync.masking import Secret
from toolsync.paths import Places
from toolsync.planning.plans import Wish
from toolsync.registry import tools
from toolsync.remembered import Memory
from toolsync.render.screen import Screen
from toolsync.secret.vault import MemoryVault
from toolsync.session import Session

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(file.parent for file in GOLDEN.glob("*/*/profile.toml"))
KEY = invented("golden")
_PLACE = "/machine"
"""What expectations call the folder that holds the case's home, profile and state."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the paths in the expectations are those of POSIX")


@pytest.mark.parametrize("case", CASES, ids=[f"{case.parent.name}-{case.name}" for case in CASES])
def test_a_case_is_as_it_stands_there_and_undo_gives_every_byte_back(
    case: Path, tmp_path: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masking, "_known", set())  # keys of other cases would be masked in this one
    session = _session(case, tmp_path)
    wish = Wish(tools=(case.parent.name,))
    before = _contents(session.places.home)

    shown = _said(session, wish)
    assert _contents(session.places.home) == before
    unpinged = apply.Options(ping=False)
    apply.execute(session, apply.plan(session, wish, unpinged), unpinged)
    after = {name: _placeless(content, tmp_path) for name, content in _contents(session.places.home).items()}
    again = diff(session, wish)
    undo.execute(session, undo.plan(session, []))

    if pytestconfig.getoption("--update-golden"):
        _update(case, after, _placeless(shown, tmp_path))
    assert _placeless(shown, tmp_path).decode() == (case / "diff.txt").read_bytes().decode()
    assert after == _contents(case / "after")
    assert not any(file["diff"] for file in again.data["files"])
    assert _contents(session.places.home) == before


def test_every_tool_has_a_case() -> None:
    assert {case.parent.name for case in CASES} == tools(Path("/nowhere")).keys()


def _session(case: Path, place: Path) -> Session:
    home, config, state = place / "home", place / "config" / "profile.toml", place / "state"
    for folder in (home, config.parent, state):
        folder.mkdir()
    if (case / "before").is_dir():
        shutil.copytree(case / "before", home, dirs_exist_ok=True)
    for dump in home.rglob("*.db.sql"):
        _load(dump)
    shutil.copy(case / "profile.toml", config)
    memory.path_in(state).write_bytes(memory.dump(Memory(key=bytes(32))))  # so that fingerprints are the same
    vault = MemoryVault()
    vault.set("work", Secret(KEY))
    places = Places(home, {"PATH": "", "WORK_KEY": KEY}, place / "project", place, "linux")
    python = Path("/opt/toolsync/bin/python")
    return Session(places, config, state, lambda: vault, python, clock=lambda: datetime(2026, 1, 2, tzinfo=UTC))


def _said(session: Session, wish: Wish) -> bytes:
    """What `toolsync diff` shows."""
    screen = io.StringIO()
    Screen(screen).show(render.lines(diff(session, wish)))
    return screen.getvalue().encode()


def _placeless(content: bytes, place: Path) -> bytes:
    return content.replace(str(place).encode(), _PLACE.encode())


def _contents(folder: Path) -> dict[str, bytes]:
    """Every file's bytes, by its path in the folder; a database's as the SQL that makes it."""
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return dict(
        _dumped(folder, name) if name.endswith(".db") else (name, (folder / name).read_bytes()) for name in files
    )


def _load(dump: Path) -> None:
    """The database that the SQL makes, in its place."""
    with closing(sqlite3.connect(dump.with_suffix(""))) as database:
        database.executescript(dump.read_text(encoding="utf-8"))
    dump.unlink()


def _dumped(folder: Path, name: str) -> tuple[str, bytes]:
    with closing(sqlite3.connect(folder / name)) as database:
        return f"{name}.sql", "".join(f"{line}\n" for line in database.iterdump()).encode()


def _update(case: Path, after: Mapping[str, bytes], shown: bytes) -> None:
    shutil.rmtree(case / "after", ignore_errors=True)
    for name, content in after.items():
        path = case / "after" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (case / "diff.txt").write_bytes(shown)
