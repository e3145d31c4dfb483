"""Two toolsyncs at once, as two real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolsync import disk
from toolsync.errors import TransactionError
from toolsync.transaction import Write, commit, lock, pending

_ENVIRON = {**os.environ, "PYTHONPATH": str(Path(disk.__file__).parents[1])}

HOLDS = """
import sys
from pathlib import Path
from toolsync.transaction import lock
with lock.held(Path(sys.argv[1]), 5):
    print("held", flush=True)
    sys.stdin.read()
"""

COUNTS = """
import sys
from pathlib import Path
from toolsync import disk
from toolsync.errors import ChangedError
from toolsync.transaction import Write, commit
home, left = Path(sys.argv[1]), 15
while left:
    found = [disk.read(home / name) for name in ("a", "b")]
    content = str(int(found[0].raw) + 1).encode()
    try:
        commit([Write(f.real, f.sha256, content) for f in found], state_dir=home / "state", wait_seconds=30)
    except ChangedError:
        continue
    left -= 1
"""


@contextmanager
def held_by_another(state_dir: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(state_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_ENVIRON,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_second_toolsync_waits_then_names_the_first(tmp_path: Path) -> None:
    home = tmp_path.resolve()
    with held_by_another(home / "state") as process:
        with pytest.raises(TransactionError) as caught:
            commit([Write(home / "a", None, b"new")], state_dir=home / "state", wait_seconds=0.2)
        assert caught.value.message == f"another toolsync (process {process.pid}) is writing"
        assert not (home / "a").exists()
        assert not pending(home / "state")


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    home = tmp_path.resolve()
    with held_by_another(home / "state") as process:
        process.kill()
        process.wait()
        assert commit([Write(home / "a", None, b"new")], state_dir=home / "state").files == (home / "a",)


def test_what_is_under_way_is_not_pending(tmp_path: Path) -> None:
    with held_by_another(tmp_path / "state"):
        (tmp_path / "state/journal.json").write_text("{}")
        assert not pending(tmp_path / "state")
    assert pending(tmp_path / "state")


def test_two_writers_lose_no_change(tmp_path: Path) -> None:
    """Each reads, adds one to both files and writes; who is overtaken plans again."""
    home = tmp_path.resolve()
    for name in ("a", "b"):
        (home / name).write_text("0")
    writers = [subprocess.Popen([sys.executable, "-c", COUNTS, str(home)], env=_ENVIRON) for _ in range(2)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert ((home / "a").read_text(), (home / "b").read_text()) == ("30", "30")


def test_a_lock_is_given_back_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), lock.held(tmp_path / "state", 0):
        raise RuntimeError
    with lock.held(tmp_path / "state", 0):
        assert (tmp_path / "state/lock").read_text() == str(os.getpid())
