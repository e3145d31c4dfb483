"""The user's old keys in the keyring: whatever ends a command before its time, undo brings back the right ones."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.acceptance.killed import OnDisk, again
from tests.acceptance.machine import KEY, Machine
from tests.conftest import sampled
from tests.keys import invented
from tests.transaction.test_faults import dies, nothing, steps
from toolsync.errors import SecretError
from toolsync.masking import Secret

CLAUDE, SERVICE, ACME = ".claude/settings.json", "service/settings.json", ".acme.json"
TOKEN, API_KEY, HEADER, ONE, TWO = (invented(label) for label in ("token", "api-key", "header", "one", "two"))
BEFORES = {
    CLAUDE: f'{{"env": {{\n  "ANTHROPIC_AUTH_TOKEN": "{TOKEN}",\n  "ANTHROPIC_API_KEY" : "{API_KEY}",\n'
    f'  "ANTHROPIC_CUSTOM_HEADERS": "X: {HEADER}"\n}}}}\n',
    SERVICE: f'{{"apiKey": "{API_KEY}"}}\n',
    ACME: f'{{"one": "{ONE}", "two": "{TWO}", "seconds": 1}}\n',
}
TOOL = 'title = "Acme"\nspeaks = ["openai-chat"]\ndetect.paths = ["~/.acme.json"]\nkey.env = "${<key_variable>}"\n'
TOOL += '[[file]]\noverlay = "acme.json"\npath = "~/.acme.json"\n'
OVERLAY = '{"one": "<key_ref>", "two": "<key_ref>", "seconds": "<timeout_seconds?>"}'
PATHS = f'\n[profiles.work.tool.settings-json]\npaths = ["~/{SERVICE}"]\n'
ANOTHER_LAYOUT = "\n[profiles.work.request]\ntimeout_seconds = 9\nmax_retries = 3\n"
APPLY = ("apply", "--yes", "--no-ping")
UNDO = ("undo", "--yes")


@pytest.fixture
def vault(machine: Machine, tmp_path: Path) -> OnDisk:
    """The machine's keyring, with its key, and three tools applied over keys of the user's own."""
    vault = machine.vault = OnDisk(tmp_path / "vault.json")
    vault.set("work", Secret(KEY))
    tool = machine.config.parent / "tools" / "acme"
    tool.mkdir(parents=True)
    (tool / "tool.toml").write_text(TOOL)
    (tool / "acme.json").write_text(OVERLAY)
    for name, content in BEFORES.items():
        machine.write(name, content)
    machine.profile(PATHS)
    assert machine.toolsync(*APPLY).said == (0, "")
    assert len(vault.names()) > 4
    return vault


def test_an_apply_of_another_layout_that_is_killed_spoils_no_undo(machine: Machine, vault: OnDisk) -> None:
    machine.profile(PATHS + ANOTHER_LAYOUT)
    spoiled, left = [], []
    with again(machine, vault) as afresh:
        with steps(nothing) as made:
            assert machine.toolsync(*APPLY).code == 0
        for at in _deadly(made):
            afresh()
            assert dies(machine.home, at, lambda _home: machine.toolsync(*APPLY)), at
            assert machine.toolsync(*UNDO).code == 0, at
            spoiled += [at] if machine.contents() != BEFORES else []
            left += [at] if set(vault.names()) != {"work"} else []
    assert (spoiled, left) == ([], [])


def _deadly(made: list[str]) -> Sequence[int]:
    """The steps after which something is there, or gone, that the next process sees."""
    return sampled([at for at, call in enumerate(made, 1) if call in ("replace", "unlink")])


def _remembered(machine: Machine) -> set[str]:
    """The keyring entries that memory speaks of, as it lies on disk."""
    return set(re.findall(r'"entry": "(origin-\w+)"', json.dumps(machine.memory)))


def test_an_undo_that_is_killed_leaves_no_old_value_behind(machine: Machine, vault: OnDisk) -> None:
    with again(machine, vault) as afresh:
        with steps(nothing) as made:
            assert machine.toolsync(*UNDO).code == 0
        for at in _deadly(made):
            afresh()
            assert dies(machine.home, at, lambda _home: machine.toolsync(*UNDO)), at
            assert machine.toolsync(*UNDO).said == (0, ""), at
            assert (machine.contents(), set(vault.names())) == (BEFORES, {"work"}), at


def test_an_apply_that_is_killed_is_tidied_up_by_the_next(machine: Machine, vault: OnDisk) -> None:
    machine.profile(PATHS + ANOTHER_LAYOUT)
    with again(machine, vault) as afresh:
        with steps(nothing) as made:
            assert machine.toolsync(*APPLY).code == 0
        after = machine.contents()
        for at in _deadly(made):
            afresh()
            assert dies(machine.home, at, lambda _home: machine.toolsync(*APPLY)), at
            assert machine.toolsync(*APPLY).said == (0, ""), at
            assert (machine.contents(), set(vault.names())) == (after, {"work", *_remembered(machine)}), at
            assert not (machine.state / "forgetting.json").exists(), at


class _Refusing(OnDisk):
    """Takes `left` values, and of the next one only half."""

    left = 0

    def set(self, name: str, secret: Secret) -> None:
        self.left -= 1
        if self.left < 0:
            super().set(name, Secret(secret.reveal()[: len(secret.reveal()) // 2]))
            raise SecretError("the keyring is full")
        super().set(name, secret)


@pytest.mark.parametrize("takes", range(3))
def test_a_keyring_that_takes_only_some_changes_nothing(machine: Machine, vault: OnDisk, takes: int) -> None:
    names = vault.names()
    refusing = machine.vault = _Refusing(vault.path)
    refusing.left = takes
    machine.write(ACME, BEFORES[ACME].replace("one", "three").replace("seconds", "one"))
    machine.write(SERVICE, json.dumps(json.loads(machine.read(SERVICE)) | {"apiKey": invented("newer")}))
    machine.write(CLAUDE, BEFORES[CLAUDE].replace("token", "newest"))
    with machine.untouched():
        assert machine.toolsync(*APPLY).said == (2, "error: the keyring is full\n")
    assert vault.names() == names


def test_a_keyring_that_does_not_let_go_is_asked_again(machine: Machine, vault: OnDisk) -> None:
    names = vault.names()

    def refuse(_name: str) -> bool:
        raise SecretError("the keyring refuses")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vault, "remove", refuse)
        ran = machine.toolsync(*UNDO)
    said = "warning: old values and keys that nobody needs any more stay in the keyring: the keyring refuses\n"
    assert (ran.code, machine.contents(), vault.names(), ran.out.count(said)) == (0, BEFORES, names, 1)
    assert machine.toolsync(*UNDO).said == (0, "")
    assert (set(vault.names()), sorted(path.name for path in machine.state.iterdir())) == (
        {"work"},
        ["lock", "memory.json"],
    )


def _as_version_1(machine: Machine, vault: OnDisk) -> None:
    """Memory and keyring as the first version of `memory.json` left them."""
    data, names, old = machine.memory | {"version": 1}, {"work": vault.names()["work"]}, vault.names()
    for path, file in data["files"].items():
        for layer in file["layers"]:
            texts = {value["path"]: value for value in layer["values"]}
            texts |= {f"inverse[{index}]": splice for index, splice in enumerate(layer["inverse"])}
            for what, one in texts.items():
                entry = one.pop("entry", "")
                place = "\0".join((path, layer["tool"], layer["overlay"], what))
                if entry:
                    names[f"origin-{hashlib.sha256(place.encode()).hexdigest()[:32]}"] = old[entry]
    vault.put(names)
    (machine.state / "memory.json").write_text(json.dumps(data))


@pytest.mark.parametrize("command", [UNDO, ("uninstall", "--yes")], ids=["undo", "uninstall"])
@pytest.mark.parametrize("applied", [False, True], ids=["at once", "after another apply"])
@pytest.mark.parametrize("touched", [False, True], ids=["untouched", "touched"])
def test_what_the_first_version_remembered_is_given_back(
    machine: Machine, vault: OnDisk, command: tuple[str, ...], *, applied: bool, touched: bool
) -> None:
    _as_version_1(machine, vault)
    assert machine.toolsync("status").code == 0
    if touched:
        machine.write(ACME, machine.read(ACME) + "\n")
    if applied:
        machine.profile(PATHS + ANOTHER_LAYOUT)
        assert machine.toolsync(*APPLY).said == (0, "")
        assert set(vault.names()) == {"work", *_remembered(machine)}
    assert machine.toolsync(*command).said == (0, "")
    assert (machine.contents(), set(vault.names())) == (BEFORES | {ACME: BEFORES[ACME] + "\n" * touched}, {"work"})


def test_what_cannot_be_given_back_yet_survives_uninstall(machine: Machine, vault: OnDisk) -> None:
    """The user's old key lies nowhere else."""
    machine.write(CLAUDE, '{"env": "none for now"}')
    ran = machine.toolsync("uninstall", "--yes")
    problem = "problem: what could not be given back stays remembered\n"
    assert (ran.code, ran.out.count(problem), machine.read(CLAUDE)) == (1, 1, '{"env": "none for now"}')
    assert re.search(r"\n~/.local/state/toolsync/memory.json +it holds what could not be given back\n", ran.out)
    assert set(vault.names()) == {"work", *_remembered(machine)}
    second = machine.toolsync("uninstall")  # asks nothing, for there is nothing to do
    assert (second.code, second.out.count(problem)) == (1, 1)
    machine.write(CLAUDE, '{"env": {}}')
    assert machine.toolsync("uninstall", "--yes").said == (0, "")
    assert json.loads(machine.read(CLAUDE)) == {"env": {"ANTHROPIC_CUSTOM_HEADERS": f"X: {HEADER}"}}
    assert (set(vault.names()), machine.state.exists()) == ({"work"}, False)
