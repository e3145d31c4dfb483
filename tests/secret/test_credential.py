"""`systemd:` references: what a service was given, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.key_print import key_print, profile_file
from toolsync.errors import SecretError
from toolsync.keyref import KeyRef
from toolsync.masking import Secret
from toolsync.secret.reference import resolve
from toolsync.secret.vault import Vault

KEY = "sk-invented-credential-4f7Kq9ZtW2xB8"


def no_vault() -> Vault:
    raise AssertionError("the keyring was opened")


@pytest.mark.parametrize("held", [KEY, f"{KEY}\n", f"{KEY}\r\n"], ids=["bare", "by an editor", "from Windows"])
def test_the_key_comes_out_of_the_credential(tmp_path: Path, held: str) -> None:
    (tmp_path / "gateway").write_bytes(held.encode())
    found = resolve(KeyRef.parse("systemd:gateway"), no_vault, {"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert found == Secret(KEY)


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        pytest.param(None, "systemd:gateway: this process was not started with credentials", id="no service"),
        pytest.param("", "systemd:gateway: this process was not started with credentials", id="empty"),
        pytest.param("here", "systemd:gateway: $CREDENTIALS_DIRECTORY is no absolute path", id="relative"),
        pytest.param("/nonexistent", "systemd:gateway: the service has no credential of that name", id="another"),
        pytest.param("{a folder}", "systemd:gateway cannot be read: Is a directory", id="a folder in its place"),
        pytest.param("{long}", "systemd:gateway is longer than any key", id="too long"),
        pytest.param("{two lines}", "systemd:gateway has a line break at position 2", id="two lines"),
        pytest.param("{nothing}", "systemd:gateway is empty", id="nothing in it"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, folder: str | None, message: str) -> None:
    for name, content in {"{long}": b"x" * 20_000, "{two lines}": b"a\nb\n", "{nothing}": b"\n"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "gateway").write_bytes(content)
    (tmp_path / "{a folder}" / "gateway").mkdir(parents=True)
    named = str(tmp_path / folder) if folder and folder.startswith("{") else folder
    with pytest.raises(SecretError) as caught:
        resolve(KeyRef("systemd", "gateway"), no_vault, {} if named is None else {"CREDENTIALS_DIRECTORY": named})
    assert caught.value.message.startswith(message)


def test_a_tool_of_a_service_gets_it_by_key_print(tmp_path: Path) -> None:
    (tmp_path / "gateway").write_text(f"{KEY}\n")
    config = profile_file(tmp_path, "systemd:gateway")
    done = key_print(config, environ={"CREDENTIALS_DIRECTORY": str(tmp_path), "PATH": "/nowhere"})
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{KEY}\n", "")
