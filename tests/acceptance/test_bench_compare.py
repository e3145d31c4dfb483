"""`bench compare` of two files, by the command line: figures on stdout, and how it ends."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.machine import Machine
from tests.bench.test_comparison import run, steady
from toolsync.bench.record_file import dumped


def test_files_are_compared_by_the_command_line(machine: Machine, tmp_path: Path) -> None:
    for name, factor in (("before", 1.0), ("after", 1.2)):
        one = run(f"{name}-1", steady(factor), steps=(8,))
        (tmp_path / f"{name}.json").write_bytes(dumped(one))
    files = [str(tmp_path / f"{name}.json") for name in ("before", "after")]
    assert machine.toolsync("bench", "compare", *files).code == 0
    assert machine.toolsync("bench", "compare", *files, "--fail-if", "ttft_p50>+10%").code == 1
    assert machine.toolsync("bench", "compare", *files, "--fail-if", "nonsense").code == 2
    assert machine.toolsync("bench", "compare", files[0], files[0]).code == 3
    page = machine.toolsync("bench", "compare", *files, "--markdown")
    assert page.out.startswith("Before: before (before-1).")
    assert machine.toolsync("bench", "compare", *files, "--csv").out.startswith("baseline,candidate,concurrency")
