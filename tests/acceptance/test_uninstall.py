"""`uninstall`: the machine as it was, nothing of ours left but what is named, wherever it was interrupted."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.killed import OnDisk, again
from tests.acceptance.machine import KEY, Machine
from tests.acceptance.test_asking import terminal
from tests.conftest import sampled
from tests.keys import invented
from tests.secret import rings
from tests.store.cc_switch import ROW
from tests.store.cc_switch import Home as Switch
from tests.store.cc_switch import home as with_cc_switch
from tests.transaction.test_faults import dies, nothing, steps
from toolsync.commands import uninstall as command
from toolsync.errors import SecretError
from toolsync.masking import Secret
from toolsync.secret.vault import SystemVault

CLAUDE, CODEX, SERVICE = ".claude/settings.json", ".codex/config.toml", "service/settings.json"
OLD = invented("old")
BEFORES = {
    CLAUDE: f'{{\n\t"env": {{ "ANTHROPIC_API_KEY" : "{OLD}", "A": "1" }}\n}}',
    CODEX: "# mine\r\n[mcp_servers.x]\r\ncommand = 'x'\r\n",
    SERVICE: f'{{"apiKey": "{OLD}"}}\n',
}
PATHS = f'\n[profiles.work.tool.settings-json]\npaths = ["~/{SERVICE}"]\n'
APPLY = ("apply", "--yes", "--no-ping")
UNINSTALL = ("uninstall", "--yes")
WITH_KEYS = ("uninstall", "--yes", "--remove-keys")


@pytest.fixture
def applied(machine: Machine) -> Machine:
    """Three tools, two with an old key of the user's, applied; the key was stored under its name."""
    for name, content in BEFORES.items():
        machine.write(name, content)
    machine.profile(PATHS)
    store(machine, "work", KEY)
    assert machine.toolsync(*APPLY).said == (0, "")
    return machine


def store(machine: Machine, name: str, key: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(key))
        assert machine.toolsync("key", "set", name, "--stdin").said == (0, "")


def own(machine: Machine) -> list[str]:
    """What lies in toolsync's own folder; there is none when it is empty."""
    return sorted(path.name for path in machine.state.iterdir()) if machine.state.is_dir() else ["(no folder)"]


def test_everything_is_given_back_and_nothing_of_ours_is_left(applied: Machine) -> None:
    ran = applied.toolsync(*WITH_KEYS)
    assert (ran.said, "nothing is remembered" in ran.out) == ((0, ""), False)
    assert (applied.contents(), applied.kept, own(applied)) == (BEFORES, set(), ["(no folder)"])
    assert applied.config.exists()
    removed = ran.out[ran.out.index("Given back") :]
    assert "Given back: 3 files.\nRemoved " in removed
    for name in ("2 old values in the keyring", "keyring:work", "~/.local/state/toolsync "):
        assert f"\n{name} " in removed
    assert "Codex CLI: Restart the running session.\n" in removed


def test_without_a_word_of_it_keys_stay_and_are_named(applied: Machine) -> None:
    store(applied, "spare", invented("spare"))
    ran = applied.toolsync(*UNINSTALL, "--json")
    assert ran.said == (0, "")
    assert (applied.contents(), applied.kept, own(applied)) == (BEFORES, {"work", "spare"}, ["keys.json"])
    left = {one["name"]: one["reason"] for one in ran.json["data"]["left"]}
    reason = "it may be kept nowhere else; `toolsync uninstall --remove-keys` removes it"
    assert {name: left[name] for name in left if name.startswith("keyring:")} == {
        "keyring:spare": reason,
        "keyring:work": reason,
    }
    assert left[str(applied.config)] == "your own text; it holds no key"
    assert left["~/.local/state/toolsync/keys.json"] == "the names of what stays in the keyring"
    assert left["the program"].endswith("pip uninstall toolsync` removes it")
    assert applied.toolsync(*WITH_KEYS).said == (0, "")
    assert (applied.kept, own(applied)) == (set(), ["(no folder)"])


def test_all_is_listed_before_it_is_asked(applied: Machine) -> None:
    keys = applied.kept
    with applied.untouched():
        ran = applied.toolsync("uninstall", "--remove-keys")
    assert ran.said == (2, "error: nobody is there to say yes; nothing was written\n  hint: Add `--yes`.\n")
    listed = ("--- ~/.codex/config.toml", "To be removed ", "\nkeyring:work ", "\n~/.local/state/toolsync ", "\nStays ")
    assert [ran.out.find(text) >= 0 for text in listed] == [True] * len(listed)
    assert (applied.kept, own(applied)) == (keys, ["keys.json", "lock", "memory.json"])


@pytest.mark.parametrize("arguments", [UNINSTALL, WITH_KEYS], ids=["keys stay", "keys go"])
def test_a_second_run_finds_nothing_to_do_and_makes_nothing(applied: Machine, arguments: tuple[str, ...]) -> None:
    first = applied.toolsync(*arguments)
    before, kept, folder = applied.entries(), applied.kept, own(applied)
    again = applied.toolsync("uninstall")  # asks nothing, for there is nothing to do
    assert again.said == (0, "")
    assert again.out.startswith("There is nothing to remove.\nStays ")
    stays = [out[out.rindex("\nStays ") :].partition("\nClaude Code:")[0].strip() for out in (first.out, again.out)]
    assert stays[0] == stays[1]
    assert (applied.entries(), applied.kept, own(applied)) == (before, kept, folder)


def test_where_toolsync_never_was_it_makes_nothing(another: Callable[[], Machine]) -> None:
    machine = another()
    ran = machine.toolsync("uninstall")
    assert (ran.said, ran.out.startswith("There is nothing to remove.\n")) == ((0, ""), True)
    assert list(machine.entries()) == ["project"]


def test_later_edits_stay_and_are_named(applied: Machine) -> None:
    data = json.loads(applied.read(CLAUDE))
    data["env"] |= {"ANTHROPIC_MODEL": "mine", "B": "2"}
    applied.write(CLAUDE, json.dumps(data))
    ran = applied.toolsync(*UNINSTALL)
    assert ran.code == 0
    assert json.loads(applied.read(CLAUDE))["env"] == {
        "ANTHROPIC_API_KEY": OLD,
        "A": "1",
        "ANTHROPIC_MODEL": "mine",
        "B": "2",
    }
    said = "~/.claude/settings.json: env.ANTHROPIC_MODEL: stays as it is, for it was changed after toolsync wrote it"
    assert ran.out.count(f"warning: {said}\n") == 1


# What the keyring knows.


def test_keys_of_headers_and_of_every_profile_go_too(applied: Machine) -> None:
    text = applied.config.read_text()
    headers = '[profiles.work.request.headers]\nX-A = "keyring:a"\nX-B = "b"\n'
    headers += '[profiles.work.tool.codex.request.headers]\nX-C = "keyring:c"\n'
    second = '[profiles.home]\nbase_url = "https://h.example"\nmodel = "m"\nkey = "keyring:home"\n'
    applied.config.write_text(f"{text}\n{headers}\n{second}")
    for name in ("a", "c", "home", "not-ours"):
        applied.vault.set(name, Secret(invented(name)))
    assert applied.toolsync(*WITH_KEYS).said == (0, "")
    assert applied.kept == {"not-ours"}


@pytest.mark.parametrize("text", [None, "active = ", 'active = "work"\n[profiles.work]\nkey = "x"\n'])
def test_without_a_readable_profile_the_list_of_keys_counts(applied: Machine, text: str | None) -> None:
    applied.config.unlink() if text is None else applied.config.write_text(text)
    ran = applied.toolsync(*WITH_KEYS)
    assert ran.said == (0, "")
    assert (applied.contents(), applied.kept, own(applied)) == (BEFORES, set(), ["(no folder)"])
    assert ran.out.count("warning: only the keys that were stored from here are known") == (text is not None)


def test_a_keyring_that_does_not_answer_keeps_what_undo_needs(applied: Machine) -> None:
    sound, applied.vault = applied.vault, SystemVault(timeout_seconds=5, choices=[rings.allowed("Locked")])
    for arguments in (UNINSTALL, WITH_KEYS):
        with applied.untouched():
            ran = applied.toolsync(*arguments)
        assert ran.code == 2
        assert "Locked ring is locked" in ran.err
    applied.vault = sound
    assert applied.toolsync(*WITH_KEYS).said == (0, "")
    assert applied.contents() == BEFORES


def test_where_no_old_value_is_needed_a_locked_keyring_keeps_only_the_keys(machine: Machine) -> None:
    machine.write(CODEX, BEFORES[CODEX])
    assert machine.toolsync(*APPLY).code == 0
    sound, machine.vault = machine.vault, SystemVault(timeout_seconds=5, choices=[rings.allowed("Locked")])
    ran = machine.toolsync(*UNINSTALL)
    assert (ran.code, machine.read(CODEX), own(machine)) == (0, BEFORES[CODEX], ["(no folder)"])
    assert "warning: the keys in the keyring cannot be looked up: Locked ring is locked\n" in ran.out
    assert "keyring:work " in ran.out[ran.out.rindex("Stays") :]
    refused = machine.toolsync(*WITH_KEYS)
    assert (refused.code, "Locked ring is locked" in refused.err) == (2, True)
    machine.vault = sound
    assert machine.toolsync(*WITH_KEYS).code == 0
    assert machine.kept == set()


class _Tired(SystemVault):
    """Gives what it has, and lets one go."""

    def __init__(self, sound: Machine) -> None:
        super().__init__(timeout_seconds=5, choices=())
        self._vault, self._left = sound.vault, 1

    backend = "memory"

    def get(self, name: str) -> Secret | None:
        return self._vault.get(name)

    def remove(self, name: str) -> bool:
        if not self._left:
            raise SecretError("the keyring refuses")
        self._left -= 1
        return self._vault.remove(name)


def test_what_the_keyring_does_not_let_go_is_noted_for_the_next_run(applied: Machine) -> None:
    sound, applied.vault = applied.vault, _Tired(applied)
    ran = applied.toolsync(*WITH_KEYS)
    assert (ran.code, ran.err, applied.contents()) == (1, "", BEFORES)
    problem = "problem: what toolsync keeps in the keyring could not all be removed: the keyring refuses\n"
    assert f"{problem}    Run this again where the keyring answers.\n" in ran.out
    assert own(applied) == ["forgetting.json", "keys.json"]
    assert OLD not in (applied.state / "forgetting.json").read_text()
    applied.vault = sound
    assert len(applied.kept) == 2  # an old value and the key
    assert applied.toolsync(*WITH_KEYS).said == (0, "")
    assert (applied.kept, own(applied)) == (set(), ["(no folder)"])


# What cannot be given back keeps everything.


def test_a_file_that_cannot_be_read_keeps_everything(applied: Machine) -> None:
    whole, kept = applied.read(CODEX), applied.kept
    applied.write(CODEX, whole + "[broken\n")
    with applied.untouched():
        ran = applied.toolsync(*WITH_KEYS)
    assert ran.code == 2
    assert "error: ~/.codex/config.toml:" in ran.err
    assert (applied.kept, own(applied)) == (kept, ["keys.json", "lock", "memory.json"])
    applied.write(CODEX, whole)
    assert applied.toolsync(*WITH_KEYS).said == (0, "")
    assert applied.contents() == BEFORES


def test_a_file_that_was_moved_behind_a_link_is_given_back_where_it_is(applied: Machine) -> None:
    """As people move their settings into a repository of dotfiles."""
    there = applied.write("dotfiles/config.toml", applied.read(CODEX))
    (applied.home / CODEX).unlink()
    (applied.home / CODEX).symlink_to(there)
    assert applied.toolsync("apply", "--yes", "--no-ping").out.startswith("Nothing to change.\n")
    assert applied.toolsync("uninstall", "--yes").code == 0
    assert (applied.home / CODEX).is_symlink()
    assert applied.read("dotfiles/config.toml") == BEFORES[CODEX]


def test_a_damaged_memory_keeps_everything(applied: Machine) -> None:
    memory = applied.state / "memory.json"
    whole = memory.read_bytes()
    memory.write_bytes(whole[:-9])
    kept = applied.kept
    with applied.untouched():
        assert applied.toolsync(*WITH_KEYS).err.startswith("error: ~/.local/state/toolsync/memory.json: damaged")
    assert applied.kept == kept
    memory.write_bytes(whole)
    assert applied.toolsync(*WITH_KEYS).said == (0, "")
    assert applied.contents() == BEFORES


def test_where_memory_is_lost_what_asks_us_and_holds_a_key_is_named(applied: Machine) -> None:
    applied.write(CLAUDE, f'{{"env": {{"ANTHROPIC_AUTH_TOKEN": "{KEY}"}}}}')
    (applied.state / "memory.json").unlink()
    after = {name: applied.read(name) for name in (CLAUDE, CODEX)}
    ran = applied.toolsync(*WITH_KEYS, "--json")
    left = {one["name"]: one["reason"] for one in ran.json["data"]["left"]}
    undone = "and nothing is remembered of it: put back by hand what is to stand there"
    assert left["~/.claude/settings.json"] == f"Claude Code holds keyring:work there, {undone}"
    assert left["~/.codex/config.toml"] == f"Codex CLI asks toolsync there for the key of 'work', {undone}"
    assert {name: applied.read(name) for name in after} == after
    assert KEY not in ran.out


@pytest.fixture
def switch(machine: Machine) -> Switch:
    """CC Switch with rows of the user's own, and ours beside them."""
    made = with_cc_switch(machine.home)
    machine.write(CLAUDE, '{"env": {}}\n')
    machine.write(CODEX, BEFORES[CODEX])
    before = made.everything()
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").said == (0, "")
    assert made.everything() != before
    return made


def test_rows_go_too(machine: Machine, switch: Switch) -> None:
    assert machine.toolsync(*WITH_KEYS).said == (0, "")
    assert [line for line in switch.everything() if ROW in line] == []
    assert switch.row("claude", "own") is not None
    assert (machine.kept, own(machine)) == (set(), ["(no folder)"])


def test_a_row_that_is_chosen_keeps_everything(machine: Machine, switch: Switch) -> None:
    switch.choose("claude", ROW)
    rows = switch.everything()
    with machine.untouched():
        ran = machine.toolsync(*WITH_KEYS)
    assert ran.code == 2
    assert "is the one that is chosen in CC Switch\n" in ran.err
    assert (switch.everything(), "work" in machine.kept) == (rows, True)
    switch.choose("claude", "own")
    assert machine.toolsync(*WITH_KEYS).said == (0, "")
    assert [line for line in switch.everything() if f"'{ROW}'" in line] == []
    assert (machine.kept, own(machine)) == (set(), ["(no folder)"])


def test_rows_of_a_database_that_is_gone_hold_nothing_up(machine: Machine, switch: Switch) -> None:
    switch.database.unlink()
    ran = machine.toolsync(*WITH_KEYS)
    assert ran.said == (0, "")
    assert "it is gone; if it comes back, remove there: toolsync-work\n" in ran.out
    assert (machine.kept, own(machine)) == (set(), ["(no folder)"])


# What is not ours stays.


def test_what_others_put_into_our_folder_stays(applied: Machine) -> None:
    (applied.state / "memory.json.mine").write_text("{}")
    (applied.state / "crash-x.txt").write_text("ours")
    ran = applied.toolsync(*WITH_KEYS)
    assert (ran.code, own(applied)) == (0, ["memory.json.mine"])
    assert "\n~/.local/state/toolsync/memory.json.mine " in ran.out[ran.out.rindex("Stays") :]


def test_lines_that_run_toolsync_in_start_up_files_are_named(machine: Machine) -> None:
    machine.write(".bashrc", '# toolsync is great\nexport A=toolsyncs\neval "$(toolsync hook)"\n')
    machine.write(".config/fish/config.fish", "/opt/bin/toolsync hook | source  # toolsync\n")
    machine.write(".zshrc", b"\xff\nalias claude='toolsync exec -- claude'\n")
    out = machine.toolsync(*UNINSTALL).out
    named = re.findall(r"^(\S+:\d+)  +your own line;", out, re.MULTILINE)
    assert named == ["~/.bashrc:3", "~/.zshrc:2", "~/.config/fish/config.fish:1"]


def test_what_cannot_be_removed_is_a_problem(applied: Machine) -> None:
    (applied.state / "crash-x.txt" / "deep").mkdir(parents=True)
    ran = applied.toolsync(*WITH_KEYS)
    assert (ran.code, applied.contents(), applied.kept) == (1, BEFORES, set())
    assert "problem: ~/.local/state/toolsync/crash-x.txt: is a folder, not a file\n" in ran.out
    assert own(applied) == ["crash-x.txt"]
    assert re.search(r"\n~/.local/state/toolsync/crash-x.txt +it cannot be removed\n", ran.out)


def test_a_profile_in_the_same_folder_stays(machine: Machine) -> None:
    """As on macOS and Windows, where both have one place."""
    machine.environ |= {"XDG_STATE_HOME": str(machine.config.parent.parent)}
    folder = machine.config.parent.with_name("toolsync")
    machine.config.parent.rename(folder)
    machine.config = folder / "profile.toml"
    (folder / "tools").mkdir()
    machine.write(CODEX, "# mine\n")
    assert machine.toolsync(*APPLY).code == 0
    ran = machine.toolsync(*WITH_KEYS)
    assert ran.said == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == ["profile.toml", "tools"]
    assert "your own tools" in ran.out


def test_copies_that_other_programs_made_are_named(applied: Machine) -> None:
    copies = (".codex/config.toml.bak", "service/settings.json~", ".claude/backups/1.json")
    for name in copies:
        applied.write(name, applied.read({".codex": CODEX, "service": SERVICE}.get(Path(name).parts[0], CLAUDE)))
    applied.write(".codex/config.toml.orig", "nothing of ours\n")
    applied.write(".codex/other.toml", "toolsync\n")
    ran = applied.toolsync(*UNINSTALL, "--json")
    named = {one["name"] for one in ran.json["data"]["left"] if one["kind"] == "copy"}
    assert named == {"~/.codex/config.toml.bak", "~/service/settings.json~", "~/.claude/backups"}
    assert [name for name in copies if name not in applied.contents()] == []


# Interrupted.


def test_killed_at_any_step_the_next_run_comes_to_the_same_end(machine: Machine, tmp_path: Path) -> None:
    vault = machine.vault = OnDisk(tmp_path / "vault.json")
    vault.set("work", Secret(KEY))
    machine.write(SERVICE, BEFORES[SERVICE])
    machine.profile(PATHS)
    store(machine, "work", KEY)
    assert machine.toolsync(*APPLY).code == 0

    with again(machine, vault) as afresh:
        with steps(nothing) as made:
            assert machine.toolsync(*WITH_KEYS).code == 0
        seen = [at for at, call in enumerate(made, 1) if call in ("replace", "unlink", "rmdir")]  # by the next run
        assert len(seen) > 15
        for at in sampled(seen):
            afresh()
            assert dies(machine.home, at, lambda _home: machine.toolsync(*WITH_KEYS)), at
            assert machine.toolsync(*WITH_KEYS).said == (0, ""), at
            assert (machine.contents(), vault.names(), own(machine)) == (
                {SERVICE: BEFORES[SERVICE]},
                {},
                ["(no folder)"],
            ), at


def test_what_another_toolsync_applies_meanwhile_is_given_back_too(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.environ["WORK_KEY"] = invented("work")
    machine.profile(PATHS, key="env:WORK_KEY")
    machine.write(SERVICE, '{"apiKey": "${OLD}"}\n')
    assert machine.toolsync(*APPLY).code == 0
    alone, applies = command._alone, iter([APPLY])

    def crowded(*session: Any) -> object:
        for arguments in applies:
            assert machine.child(*arguments).code == 0
        return alone(*session)

    monkeypatch.setattr(command, "_alone", crowded)
    ran = machine.toolsync(*UNINSTALL)
    assert ran.said == (0, "another toolsync has applied a profile meanwhile; planning again\n")
    assert machine.read(SERVICE) == '{"apiKey": "${OLD}"}\n'
    assert own(machine) == ["(no folder)"]


def test_a_person_is_asked_once(machine: Machine) -> None:
    machine.environ["WORK_KEY"] = invented("work")
    machine.profile(PATHS, key="env:WORK_KEY")
    machine.write(SERVICE, '{"apiKey": "${OLD}"}\n')
    assert machine.toolsync(*APPLY).code == 0
    with machine.untouched(), terminal(machine, "uninstall") as screen:
        assert screen.until("Remove all this? [y/N]: ").answer("n\n").ended() == 2
    with terminal(machine, "uninstall") as screen:
        assert screen.until("Remove all this? [y/N]: ").answer("y\n").ended() == 0
    assert screen.shown.count("[y/N]") == 1
    assert machine.read(SERVICE) == '{"apiKey": "${OLD}"}\n'
