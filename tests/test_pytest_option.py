"""The project's own option of pytest: known before `conftest.py` is, and only here."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.conftest import needs
from toolsync import pytest_option

_REPOSITORY = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["cases.jsonl", "there is none.jsonl"])
def test_a_file_of_cases_elsewhere_is_taken_for_no_test(tmp_path: Path, name: str) -> None:
    needs("toolsync" in entry_points(group="pytest11").names, "needs toolsync installed, with its entry points")
    (tmp_path / "cases.jsonl").touch()
    argv = [sys.executable, "-m", "pytest", "-k", "doctor_cases", "--doctor-cases", str(tmp_path / name), "--markers"]
    ran = subprocess.run(argv, cwd=_REPOSITORY, capture_output=True, text=True, check=False)
    is_there = name == "cases.jsonl"
    assert (ran.returncode == 0, "corpus(name" in ran.stdout) == (is_there, is_there), ran.stderr
    assert is_there or "there is no such file" in ran.stderr


@pytest.mark.parametrize(("folder", "is_ours"), [(_REPOSITORY, True), (_REPOSITORY / "tests", False)])
def test_in_other_folders_there_is_no_such_option(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *, is_ours: bool
) -> None:
    monkeypatch.chdir(folder)
    parser = pytest.Parser(_ispytest=True)
    pytest_option.pytest_addoption(parser)
    assert hasattr(parser.parse_known_args([]), "doctor_cases") == is_ours
