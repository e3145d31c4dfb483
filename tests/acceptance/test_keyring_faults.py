"""A keyring that vanishes at any call of any command that writes: nothing is lost, and the next command ends clean.

A call may fail before it does anything, or be done and its answer lost; the next ones may be answered again, or not.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from tests.acceptance.machine import KEY, Machine, Ran
from tests.conftest import sampled, takes
from tests.keys import invented
from toolsync.errors import KeyringLockedError
from toolsync.masking import Secret
from toolsync.secret.vault import MemoryVault

T = TypeVar("T")

NEW, OWN = invented("new"), invented("own")
TOML, JSON = "service/config.toml", "service/settings.json"
BEFORE = {
    TOML: f'[api]\napi_key = "{OWN}-1"\nbase_url = "http://own/"\n',
    JSON: f'{{"apiKey": "{OWN}-2"}}\n',
}
PROFILE = """plaintext = "allow"
tool.config-toml = { paths = ["~/service/config.toml"], key_way = "plaintext" }
tool.settings-json = { paths = ["~/service/settings.json"], key_way = "plaintext" }
"""
APPLY = ("apply", "--yes", "--no-ping", "--force")
ROTATE = ("key", "rotate", "--stdin", "--yes", "--no-ping")
UNDO = ("undo", "--yes")


@dataclass(frozen=True)
class Fault:
    """How calls fail from a certain one on.

    Attributes:
        is_done: whether that call does what it is for, and only the answer is lost.
        lasts: whether the later ones fail too.
    """

    is_done: bool
    lasts: bool


@dataclass
class Faulty(MemoryVault):
    """A keyring that fails from one call on.

    Attributes:
        secrets: what it holds.
        fault: how it fails.
        at: at which call, from 1; 0 for never.
    """

    secrets: dict[str, Secret]
    fault: Fault
    at: int = 0
    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._secrets = self.secrets

    def _answered(self, what: str, does: Callable[[], T]) -> T:
        self.calls.append(what)
        is_first, is_later = len(self.calls) == self.at, 0 < self.at < len(self.calls)
        if is_first and self.fault.is_done:
            does()
        if is_first or (is_later and self.fault.lasts):
            raise KeyringLockedError("the keyring is locked")
        return does()

    def get(self, name: str) -> Secret | None:
        return self._answered(f"get {name}", lambda: MemoryVault.get(self, name))

    def set(self, name: str, secret: Secret) -> None:
        self._answered(f"set {name}", lambda: MemoryVault.set(self, name, secret))

    def remove(self, name: str) -> bool:
        return self._answered(f"remove {name}", lambda: MemoryVault.remove(self, name))


@dataclass
class Story:
    """A machine before one command, which can be had again as often as is needed."""

    machine: Machine
    command: tuple[str, ...]
    patch: pytest.MonkeyPatch

    def __post_init__(self) -> None:
        assert isinstance(self.machine.vault, MemoryVault)
        self.secrets = self.machine.vault._secrets
        self.kept, self.files = dict(self.secrets), self._all()

    def _all(self) -> dict[str, bytes]:
        files = (path for path in self.machine.home.rglob("*") if path.is_file())
        return {path.relative_to(self.machine.home).as_posix(): path.read_bytes() for path in files}

    def again(self, fault: Fault, at: int) -> Ran:
        """The command from the beginning; the keyring answers afterwards."""
        for name in self._all().keys() - self.files.keys():
            (self.machine.home / name).unlink()
        for name, content in self.files.items():
            self.machine.write(name, content)
        self.secrets.clear()
        self.secrets.update(self.kept)
        self.machine.vault = vault = Faulty(self.secrets, fault, at)
        ran = self.run()
        vault.at, self.calls = 0, vault.calls
        return ran

    def run(self) -> Ran:
        self.patch.setattr("sys.stdin", io.StringIO(NEW))
        return self.machine.toolsync(*self.command)

    @property
    def held(self) -> dict[str, str]:
        """What the keyring holds, old values by what they are: their names are other ones each time."""
        return {
            "old " + key.reveal() if name.startswith(("origin-", "before-")) else name: key.reveal()
            for name, key in self.secrets.items()
        }


COMMANDS = [
    pytest.param((), APPLY, id="apply"),
    pytest.param((APPLY,), UNDO, id="undo"),
    pytest.param((APPLY,), ("key", "set", "--stdin"), id="set"),
    pytest.param((APPLY,), ROTATE, id="rotate"),
    pytest.param((APPLY, ROTATE), ("key", "rotate", "--back", "--yes", "--no-ping"), id="back"),
    pytest.param((APPLY, ROTATE), ("key", "forget", "--yes"), id="forget"),
    pytest.param((APPLY, ROTATE), ("key", "remove", "--yes"), id="remove"),
]
FAULTS = [Fault(is_done, lasts) for is_done in (False, True) for lasts in (False, True)]


@pytest.mark.parametrize(("first", "command"), sampled(COMMANDS))
def test_a_keyring_that_vanishes(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, first: tuple[tuple[str, ...], ...], command: tuple[str, ...]
) -> None:
    takes("fails every call to the keyring in every way")
    machine.profile(PROFILE)
    for name, text in BEFORE.items():
        machine.write(name, text)
    for one in first:
        assert Story(machine, one, monkeypatch).run().code in (0, 1)
    story = Story(machine, command, monkeypatch)
    before = machine.contents()
    assert story.again(FAULTS[0], 0).code in (0, 1)
    done, held, calls = machine.contents(), story.held, story.calls
    for fault in FAULTS:
        for at in range(1, len(calls) + 1):
            where = fault, at, calls[at - 1]
            ran = story.again(fault, at)
            assert (ran.code in (0, 1, 2), machine.contents()) == (True, before if ran.code == 2 else done), where
            if command[:2] == ("key", "rotate") and ran.code != 2:  # again, and `--back` goes forth
                assert held.items() <= story.held.items(), where  # with a key from before that the next one removes
            else:
                again = story.run()
                assert again.code in (0, 1) or "is applied" in again.err, (where, again.err)
                assert (machine.contents(), story.held) == (done, held), where
            assert machine.toolsync(*UNDO).code in (0, 2), where
            assert machine.contents() == BEFORE, where
            assert [name for name in story.held if name.startswith("old ")] == [], where
    assert KEY not in "".join(machine.contents().values())
