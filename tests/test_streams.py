"""Streams that are closed, full or cannot spell a word: said plainly, and never a bug."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import needs
from tests.keys import invented

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX redirections")

FULL = "error: the output cannot be written: No space left on device"


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with Codex and a profile."""
    home = tmp_path_factory.mktemp("furnished")
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text('model = "old"\n')
    done = _shell(home, "init work --base-url https://gateway.example --model modèle-✓ --key-from env:A_KEY")
    assert done.returncode == 0
    return home


@pytest.fixture
def home(furnished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(furnished, tmp_path, dirs_exist_ok=True)


def _shell(home: Path, words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "A_KEY": invented("streams"), **more}
    line = f"exec {sys.executable} -m toolsync {words}"
    package = str(Path(__file__).parent.parent)
    return subprocess.run(
        ["sh", "-c", line],
        cwd=home,
        env={**environ, "PYTHONPATH": package},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_what_an_encoding_lacks_is_escaped(home: Path, encoding: str) -> None:
    done = _shell(home, "diff", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (1, "")
    assert "\\u2713" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param("diff >&-", 1, "", id="stdout closed"),
        pytest.param("nosuch 2>&-", 2, "", id="stderr closed"),
        pytest.param("key print work >&-", 2, "toolsync: the key cannot be printed: Bad file descriptor", id="key"),
        pytest.param("apply --no-ping <&-", 2, "error: nobody is there to say yes; nothing was written", id="stdin"),
        pytest.param("key set other --stdin <&-", 2, "error: the key is empty", id="no key in a closed stdin"),
        pytest.param("diff >/dev/full", 1, FULL, id="stdout full"),
        pytest.param("diff --json >/dev/full", 1, FULL, id="stdout full, JSON"),
        pytest.param("env --shell sh >/dev/full", 1, FULL, id="stdout full, lines for a shell"),
        pytest.param("env --help >/dev/full", 1, FULL, id="stdout full, help"),
    ],
)
def test_streams_that_are_closed_or_full(home: Path, words: str, code: int, said: str) -> None:
    needs("/dev/full" not in words or Path("/dev/full").exists(), "needs /dev/full")
    done = _shell(home, words)
    first = (done.stderr.splitlines() or [""])[0]
    assert (done.returncode, first) == (code, said)


def test_a_key_that_is_no_text_is_refused(home: Path) -> None:
    (home / "bytes").write_bytes(b"\xff\xfe")
    done = _shell(home, "key set other --stdin <bytes", PYTHONIOENCODING="utf-8")
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: what comes through stdin is no text")


@pytest.mark.parametrize("name", ["", ".", "relative/home"])
def test_a_home_that_is_none_is_refused(home: Path, name: str) -> None:
    done = _shell(home, "apply --yes --no-ping", HOME=name)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: HOME is no absolute path")


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "XDG_STATE_HOME"])
def test_a_relative_folder_counts_as_unset(home: Path, variable: str) -> None:
    """Else what is remembered would depend on the folder that one stands in."""
    assert _shell(home, "apply --tool codex --yes --no-ping", **{variable: "relative"}).returncode == 0
    assert (home / ".local/state/toolsync/memory.json").exists()
    assert not (home / "relative").exists()


def test_a_path_that_is_too_long_is_said_to_be(home: Path) -> None:
    done = _shell(home, f"--config {'a' * 300} diff")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].endswith("aaa: the name is too long")
