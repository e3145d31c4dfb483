"""The search for keys finds them: a check that finds nothing must be known to be able to."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.keys import invented
from tests.leaks import Leak, holds_key

KEY = invented("leaked")

LEAKING = {
    "file": ("(tmp_path / 'notes.txt').write_text(KEY)", "file notes.txt"),
    "name": ("(tmp_path / KEY).touch()", f"name of {KEY}"),
    "link": ("(tmp_path / KEY).symlink_to('x')", f"name of {KEY}"),
    "print": ("print(KEY)", "Captured stdout call"),
    "read": ("print(KEY); capsys.readouterr()", "stdout"),
    "record": ("logging.getLogger('a.b').debug('%s', KEY)", "log a.b"),
    "process": (
        "subprocess.run(['echo', 'toolsync.__main__', KEY], capture_output=True)",
        "stdout of toolsync",
    ),
}
"""Tests that leak: by name, what they do, and where the key is to be found."""


@pytest.fixture(scope="module")
def leaking(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """One run of pytest in which each of them passes."""
    tests = [_test(name, body) for name, (body, _) in LEAKING.items()]
    return _run(tmp_path_factory.mktemp("leaking"), [*tests, _test("sound", "print(len(KEY))")])


def test_a_run_that_leaks_fails(leaking: subprocess.CompletedProcess[str]) -> None:
    assert (leaking.returncode, f"{len(LEAKING) + 1} passed" in leaking.stdout) == (1, True), leaking.stdout


@pytest.mark.parametrize(("name", "place"), [(name, place) for name, (_, place) in LEAKING.items()], ids=LEAKING)
def test_each_leak_is_found(leaking: subprocess.CompletedProcess[str], name: str, place: str) -> None:
    assert f"{place}  (test_it.py::test_{name})" in leaking.stdout


def test_a_run_that_does_not_leak_passes(tmp_path: Path, leaking: subprocess.CompletedProcess[str]) -> None:
    assert "test_sound)" not in leaking.stdout
    assert _run(tmp_path, [_test("sound", "print(len(KEY))")]).returncode == 0


@pytest.mark.parametrize(
    "content",
    [
        KEY.encode(),
        f'{{"key": "{KEY}"}}'.encode(),
        KEY.encode("utf-16"),
        *(base64.b64encode(b"x" * before + KEY.encode()) for before in range(4)),
    ],
)
def test_a_key_is_found_in_every_form(content: bytes) -> None:
    assert holds_key(b"\0\1" + content + b"\xff")


@pytest.mark.parametrize("content", [b"", b"sk-***", b"sk-other-0123456789abcdef", b"invented"])
def test_what_is_no_key_is_not_found(content: bytes) -> None:
    assert not holds_key(content)


def test_what_is_allowed_is_allowed_there_only() -> None:
    test = "tests/test_key_print.py::test_a_key_in_the_place_of_a_reference_is_not_shown"
    allowed = {place: Leak(test, place).is_allowed for place in ("file profile.toml", "file keys.json", "stdout")}
    assert allowed == {"file profile.toml": True, "file keys.json": False, "stdout": False}


def _test(name: str, body: str) -> str:
    fixtures = "tmp_path, capsys" if "capsys" in body else "tmp_path"  # it keeps what is printed from the report
    return f"def test_{name}({fixtures}):\n    {body}\n"


def _run(folder: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """A run of pytest of its own, with this check and nothing else of ours."""
    head = "import logging, subprocess\nfrom tests.keys import invented\n\nKEY = invented('leaked')\n"
    (folder / "test_it.py").write_text("\n".join([head, *tests]))
    argv = [sys.executable, "-m", "pytest", "-p", "tests.leaks", "-p", "no:cacheprovider", "-c", "/dev/null"]
    argv += ["--rootdir", str(folder), "--basetemp", str(folder / "inner"), str(folder / "test_it.py")]
    return subprocess.run(argv, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False, timeout=60)
