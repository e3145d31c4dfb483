"""`command:pass show NAME` with the real `pass` and GnuPG, in a store of the test's own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import needs
from tests.key_print import key_print, profile_file

KEY = "sk-invented-pass-4f7Kq9ZtW2xB8"


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, str]]:
    """The environment of a person with one key in a store that no passphrase shuts."""
    needs(shutil.which("pass") and shutil.which("gpg"), "pass is not installed, or gpg")
    home = Path(tempfile.mkdtemp(prefix="pass-", dir="/tmp"))  # a socket's path may have 107 characters
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "GNUPGHOME": f"{home}/gnupg", "LC_ALL": "C.UTF-8"}
    (home / "gnupg").mkdir(mode=0o700)

    def run(*argv: str, stdin: str = "") -> None:
        subprocess.run(argv, env=environ, input=stdin, text=True, capture_output=True, check=True, timeout=60)

    try:
        kind = "future-default default never"  # curves: a key of RSA is seconds in the making
        run(*f"gpg --batch --passphrase= --quick-gen-key tester@example.com {kind}".split())
        run("pass", "init", "tester@example.com")
        run("pass", "insert", "--multiline", "work/gateway", stdin=f"{KEY}\n")
        run("pass", "insert", "--multiline", "work/notes", stdin=f"{KEY}\nlogin: me\n")
        yield environ
    finally:
        _end_agent(environ)
        shutil.rmtree(home, ignore_errors=True)


def _end_agent(environ: dict[str, str]) -> None:
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], env=environ, capture_output=True, check=False, timeout=20)


def test_key_print_gets_the_key_out_of_pass(tmp_path: Path, store: dict[str, str]) -> None:
    done = key_print(profile_file(tmp_path, "command:pass show work/gateway"), environ=store)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{KEY}\n", "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "pass show work/nothing",
            "'pass' ended with exit code 1: Error: work/nothing is not in the password store. Run",
        ),
        ("pass show work/notes", "'pass' printed more than one line. It must print the key, and nothing else"),
    ],
)
def test_what_is_wrong_is_said_in_pass_own_words(tmp_path: Path, store: dict[str, str], line: str, said: str) -> None:
    done = key_print(profile_file(tmp_path, f"command:{line}"), environ=store)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert KEY not in done.stderr


def test_a_store_that_is_shut_gives_up_instead_of_waiting_for_a_person(tmp_path: Path, store: dict[str, str]) -> None:
    """As in a container: the same store, and none of its owner's keys."""
    elsewhere = {**store, "GNUPGHOME": str(tmp_path)}
    done = key_print(profile_file(tmp_path, "command:pass show work/gateway"), environ=elsewhere)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'pass' ended with exit code 2: gpg: decryption failed: No secret key" in done.stderr.replace(
        "public key ", ""
    )
