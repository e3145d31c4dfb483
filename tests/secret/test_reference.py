"""From a reference to the key, by each of its three kinds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import limited_from
from toolsync.errors import KeyMissingError, SecretError
from toolsync.masking import Secret
from toolsync.profile import KeyRef
from toolsync.secret.command import words
from toolsync.secret.reference import resolve
from toolsync.secret.vault import MemoryVault, Vault

KEY = "sk-invented-0123456789"
posix = pytest.mark.skipif(sys.platform == "win32", reason="speaks of POSIX programs")


def no_vault() -> Vault:
    raise AssertionError("the keyring was opened")


def vault_with(text: str) -> Vault:
    vault = MemoryVault()
    vault.set("work", Secret(text))
    return vault


# keyring:


@pytest.mark.parametrize(
    "kept", [KEY, f"{KEY}\n", f"{KEY}\r\n"], ids=["as set", "by echo | secret-tool", "from Windows"]
)
def test_a_key_comes_out_of_the_keyring(kept: str) -> None:
    assert resolve(KeyRef("keyring", "work"), lambda: vault_with(kept), {}) == Secret(KEY)


def test_a_key_that_the_keyring_lacks_is_named() -> None:
    with pytest.raises(KeyMissingError) as caught:
        resolve(KeyRef("keyring", "home"), lambda: vault_with(KEY), {})
    assert caught.value.message == "keyring:home: memory (kept only while this command runs) holds no key of that name"
    assert "`toolsync key set home`" in caught.value.hint


def test_a_broken_key_in_the_keyring_is_not_printed() -> None:
    with pytest.raises(SecretError, match=r"^keyring:work has a line break at position 3$"):
        resolve(KeyRef("keyring", "work"), lambda: vault_with("sk\n-x"), {})


# env:


def test_a_key_comes_out_of_a_variable() -> None:
    assert resolve(KeyRef("env", "API_KEY"), no_vault, {"API_KEY": KEY}) == Secret(KEY)


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        pytest.param({}, "env:API_KEY: the variable is not set", id="not set"),
        pytest.param({"API_KEY": ""}, "env:API_KEY: the variable is empty", id="empty"),
        pytest.param({"API_KEY": " "}, "env:API_KEY is empty", id="blank"),
        pytest.param(
            {"API_KEY": f"{KEY}\r"}, "env:API_KEY has a line break at position 23", id="from a CRLF dotenv file"
        ),
    ],
)
def test_a_variable_without_a_key_is_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(SecretError) as caught:
        resolve(KeyRef("env", "API_KEY"), no_vault, environ)
    assert caught.value.message == message
    assert caught.value.hint


# command:


def program(tmp_path: Path, source: str) -> str:
    """A command line that runs this Python source."""
    script = tmp_path / "pass word.py"
    script.write_text(source, encoding="utf-8")
    return f'"{sys.executable}" "{script}"'


def from_command(line: str, *, environ: dict[str, str] | None = None, timeout_seconds: float = 20) -> Secret:
    surroundings = dict(os.environ) if environ is None else environ
    return resolve(KeyRef("command", line), no_vault, surroundings, timeout_seconds=timeout_seconds)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(f"print('{KEY}')", id="a line"),
        pytest.param(f"print(' {KEY} \\r')", id="white space around it"),
        pytest.param(f"import sys; sys.stdout.write('{KEY}')", id="no line end"),
        pytest.param(f"print('\\n{KEY}\\n\\n')", id="empty lines around it"),
        pytest.param(f"import sys; print('{KEY}'); sys.stderr.write('a notice')", id="a notice on stderr"),
        pytest.param(f"import sys; sys.stderr.write('x' * 1_000_000); print('{KEY}')", id="a flood on stderr"),
    ],
)
def test_a_key_comes_out_of_a_program(tmp_path: Path, source: str) -> None:
    assert from_command(program(tmp_path, source)) == Secret(KEY)


FAILURES = [
    pytest.param("raise SystemExit(3)", "ended with exit code 3", id="exit code"),
    pytest.param(
        f"import sys; print('{KEY}'); sys.exit('\\x1b[1mvault is sealed {KEY}')",
        "ended with exit code 1: �[1mvault is sealed ***",
        id="the key and an escape in its complaint",
    ),
    pytest.param("import sys; sys.exit('It is shut.')", "ended with exit code 1: It is shut", id="a whole sentence"),
    pytest.param("", "printed nothing", id="nothing"),
    pytest.param("import sys; sys.stderr.write('sign in first')", "printed nothing: sign in first", id="only stderr"),
    pytest.param(
        "import sys; sys.exit('cannot decrypt: Xk4Tq9ZtW2xB8Jm31Lr (see /usr/share/doc/pass-1.7)')",
        "ended with exit code 1: cannot decrypt: *** (see /usr/share/doc/pass-1.7)",
        id="a key of no known shape on stderr alone",
    ),
    pytest.param(f"import sys; sys.stderr.write('{KEY}')", "printed nothing: ***", id="the key on the wrong stream"),
    pytest.param(f"print('{KEY}'); print('user: me')", "printed more than one line", id="two lines"),
    pytest.param("print('x' * 10_000_000)", "printed more than a key can have", id="a flood"),
]


@pytest.mark.parametrize(("source", "message"), FAILURES)
def test_a_program_that_fails_is_named_and_its_output_kept_back(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(SecretError) as caught:
        from_command(program(tmp_path, source))
    assert caught.value.message == f"'{Path(sys.executable).name}' {message}"
    assert KEY not in caught.value.message + caught.value.hint


def test_what_is_printed_must_be_a_key(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match=r"has a space at position 4$"):
        from_command(program(tmp_path, "print('not signed in')"))


def test_complaints_are_cut(tmp_path: Path) -> None:
    with pytest.raises(SecretError) as caught:
        from_command(program(tmp_path, "import sys; sys.exit('x' * 100_000)"))
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("no-such-program-here", "there is no program 'no-such-program-here'", id="not on PATH"),
        pytest.param("/nonexistent/pass show x", "there is no program 'pass'", id="not there", marks=posix),
        pytest.param("./pass", "'./pass' is no absolute path", id="relative", marks=posix),
        pytest.param("bin/pass", "'bin/pass' is no absolute path", id="in a folder below", marks=posix),
        pytest.param(
            "pass 'x", "the key's command cannot be split into words: No closing quotation", id="quote", marks=posix
        ),
        pytest.param("''", "the key's command names no program", id="empty word", marks=posix),
        pytest.param("/tmp", "there is no program 'tmp'", id="a folder", marks=posix),
    ],
)
def test_a_program_that_cannot_be_had_is_named(line: str, message: str) -> None:
    with pytest.raises(SecretError) as caught:
        from_command(line)
    assert (caught.value.message, bool(caught.value.hint)) == (message, True)


@posix
def test_a_file_that_may_not_be_run_is_not_said_to_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "key.sh"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o600)
    with pytest.raises(SecretError) as caught:
        from_command(str(file))
    assert caught.value.message == f"'{file}' is no program that may be run"
    assert "chmod u+x" in caught.value.hint


@posix
def test_a_file_that_is_no_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pass"
    path.write_bytes(b"\x00\x01 not a program")
    path.chmod(0o755)
    with pytest.raises(SecretError, match=r"^'pass' cannot be started: "):
        from_command(str(path))


@posix
def test_the_current_folder_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pass").write_text(f"#!/bin/sh\necho {KEY}\n")
    (tmp_path / "pass").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", ":", f".{os.pathsep}/nonexistent"):
        with pytest.raises(SecretError, match="there is no program 'pass'"):
            from_command("pass", environ={"PATH": path})
    assert from_command("pass", environ={"PATH": str(tmp_path)}) == Secret(KEY)


@posix
def test_the_program_runs_in_the_home_folder_without_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    source = "import os, sys; print(os.getcwd(), sys.stdin.read(), os.getsid(0) == os.getpid(), sep='|')"
    assert from_command(program(tmp_path, source)) == Secret(f"{os.path.realpath(tmp_path)}||True")


def test_the_program_sees_the_environment_given(tmp_path: Path) -> None:
    source = "import os; print(os.environ.get('TOKEN'), 'CANARY' in os.environ, sep='|')"
    kept = {
        name: value for name, value in os.environ.items() if name.upper() in {"PATH", "SYSTEMROOT", "LD_LIBRARY_PATH"}
    }
    assert from_command(program(tmp_path, source), environ={**kept, "TOKEN": "t"}) == Secret("t|False")


@posix
def test_a_program_that_takes_too_long_ends_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "child"
    line = program(
        tmp_path,
        "import subprocess, time, pathlib\n"
        "child = subprocess.Popen(['sleep', '300'])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n"
        f"pathlib.Path('{note}.begun').touch()\n"
        "time.sleep(300)\n",
    )
    monkeypatch.setattr(subprocess.Popen, "wait", limited_from(Path(f"{note}.begun")))
    with pytest.raises(SecretError, match=r"did not finish within 0\.3 s$"):
        from_command(line, timeout_seconds=0.3)
    assert has_ended(int(note.read_text()))


@posix
def test_a_child_that_keeps_the_pipe_open_does_not_hold_up_the_key(tmp_path: Path) -> None:
    note = tmp_path / "child"
    start = time.monotonic()
    line = program(
        tmp_path,
        "import subprocess, pathlib\n"
        f"print('{KEY}', flush=True)\n"
        "child = subprocess.Popen(['sleep', '30'])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n",
    )
    try:
        assert from_command(line) == Secret(KEY)
        assert time.monotonic() - start < 10
    finally:
        os.kill(int(note.read_text()), 9)


def has_ended(pid: int) -> bool:
    """Whether the process is gone, or dead and waiting for a parent that does not ask."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except ProcessLookupError:
            return True
        except FileNotFoundError:
            pass  # a system without /proc, or the moment it went
        time.sleep(0.02)
    return False


WINDOWS_LINES = [
    # From "Parsing C command-line arguments" in Microsoft's documentation of its C runtime.
    pytest.param(r'"a b c" d e', ["a b c", "d", "e"], id="quoted"),
    pytest.param(r'"ab\"c" "\\" d', ['ab"c', "\\", "d"], id="escaped quote, escaped backslash"),
    pytest.param(r'a\\\b d"e f"g h', [r"a\\\b", "de fg", "h"], id="backslashes before no quote"),
    pytest.param(r"a\\\"b c d", [r"a\"b", "c", "d"], id="three backslashes and a quote"),
    pytest.param(r'a\\\\"b c" d e', [r"a\\b c", "d", "e"], id="four backslashes and a quote"),
    pytest.param(
        r'C:\Tools\op.exe read "op://v/my item/key"', [r"C:\Tools\op.exe", "read", "op://v/my item/key"], id="op"
    ),
    pytest.param('op ""', ["op", ""], id="an empty word"),
    pytest.param("  op \t read  ", ["op", "read"], id="white space"),
]


@pytest.mark.parametrize(("line", "expected"), WINDOWS_LINES)
def test_a_line_is_split_as_windows_programs_do(line: str, expected: list[str]) -> None:
    assert words(line, platform="win32") == expected


@given(st.lists(st.text(alphabet="ab \\\"\t'"), min_size=1, max_size=5))
def test_windows_words_survive_being_written_as_a_line(argv: list[str]) -> None:
    argv = ["op", *argv]
    assert words(subprocess.list2cmdline(argv), platform="win32") == argv


def test_an_open_quotation_is_refused_on_windows_too() -> None:
    with pytest.raises(SecretError, match="No closing quotation"):
        words('op "x', platform="win32")
