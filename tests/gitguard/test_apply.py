"""`apply` and git, on the command line: where it stops, what `--fix-gitignore` adds, and what undo takes back."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.acceptance.switch import furnished
from tests.conftest import needs
from tests.gitguard.conftest import Home
from toolsync.commands.writing import carry
from toolsync.errors import SecretError
from toolsync.planning import guarding
from toolsync.transaction import Alongside

SETTINGS = "dots/service/settings.json"
APPLY = ("apply", "--yes", "--no-ping")
FIX = (*APPLY, "--fix-gitignore")
LINES = "/service/settings.json\n/service/.toolsync-*.tmp\n"
FIX_HINT = (
    "`toolsync apply --fix-gitignore` adds to ~/dots/.gitignore: `/service/settings.json`, `/service/.toolsync-*.tmp`."
)


@pytest.fixture
def guarded(machine: Machine) -> Machine:
    """A machine whose service takes a copy of the key, in a file of a repository."""
    needs(shutil.which("git"), "git")
    machine.environ["PATH"] = os.environ["PATH"]
    _wants(machine, f"~/{SETTINGS}")
    machine.write(SETTINGS, "{}\n")
    _home(machine).repository("dots")
    return machine


def _wants(machine: Machine, *paths: str, way: str = "plaintext") -> None:
    tool = f'paths = {[*paths]}\nkey_way = "{way}"'.replace("'", '"')
    machine.profile(f'plaintext = "allow"\n\n[profiles.work.tool.settings-json]\n{tool}\n')


def _home(machine: Machine) -> Home:
    return Home(machine.home)


def _ignored(machine: Machine) -> str | None:
    file = machine.home / "dots/.gitignore"
    return file.read_bytes().decode() if file.exists() else None


def _untracked(machine: Machine) -> str:
    """What `git add .` would take up."""
    return _home(machine).git("dots", "ls-files", "--others", "--exclude-standard")


def test_a_file_that_is_not_ignored_stops_the_apply(guarded: Machine) -> None:
    with guarded.untouched():
        ran = guarded.toolsync(*APPLY)
    text = "~/dots/service/settings.json would hold the key, and git does not ignore it (repository ~/dots)"
    assert ran.said == (2, f"error: {text}\n  hint: {FIX_HINT}\n")


def test_what_one_ignore_file_lacks_is_said_together(guarded: Machine) -> None:
    guarded.write("dots/service/other.json", "{}\n")
    _wants(guarded, f"~/{SETTINGS}", "~/dots/service/other.json")
    ran = guarded.toolsync(*APPLY)
    lines = "`/service/settings.json`, `/service/.toolsync-*.tmp`, `/service/other.json`"
    assert ran.err.endswith(f"\n  hint: `toolsync apply --fix-gitignore` adds to ~/dots/.gitignore: {lines}.\n")
    assert ran.err.count("git does not ignore it") == 2


def test_a_tracked_file_stops_the_apply_and_fixing_only_says_what_to_do(guarded: Machine) -> None:
    _home(guarded).git("dots", "add", "service")
    with guarded.untouched():
        ran = guarded.toolsync(*FIX)
    place = guarded.home / "dots"
    text = "~/dots/service/settings.json would hold the key, and git tracks it (repository ~/dots)"
    command = f"git -C {place} rm --cached -- {place}/service/settings.json"
    hint = f"`{command}` makes it forget the file, which stays; then `toolsync apply --fix-gitignore` keeps it out."
    assert ran.said == (2, f"error: {text}\n  hint: {hint}\n")

    _home(guarded).git("", *command.split()[1:])
    assert guarded.toolsync(*FIX).code == 0
    assert _untracked(guarded) == ".gitignore\n"


def test_a_file_tracked_by_a_bare_repository_stops_the_apply(machine: Machine) -> None:
    needs(shutil.which("git"), "git")
    machine.environ["PATH"] = os.environ["PATH"]
    _wants(machine, "~/service/settings.json")
    machine.write("service/settings.json", "{}\n")
    bare = (f"--git-dir={machine.home}/.cfg", f"--work-tree={machine.home}")
    _home(machine).git("", "init", "-q", "--bare", ".cfg")
    _home(machine).git("", *bare, "add", "service")
    with machine.untouched():
        ran = machine.toolsync(*APPLY)
    assert "and git tracks it (repository ~/.cfg)" in ran.err
    command = f"git {' '.join(bare)} rm --cached -- {machine.home}/service/settings.json"
    assert ran.err.endswith(f"  hint: `{command}` makes it forget the file, which stays.\n")
    _home(machine).git("", *command.split()[1:])
    assert machine.toolsync(*APPLY).code == 0
    assert machine.toolsync("undo", "--yes").code == 0


def test_a_file_that_chezmoi_copies_stops_the_apply(machine: Machine) -> None:
    _wants(machine, "~/service/settings.json")
    machine.write("service/settings.json", "{}\n")
    machine.write(".local/share/chezmoi/service/settings.json", "{}\n")
    with machine.untouched():
        ran = machine.toolsync(*APPLY)
    what = "~/service/settings.json would hold the key, and chezmoi keeps a copy of it in clear"
    hint = f"`chezmoi forget {machine.home}/service/settings.json` removes the copy, and leaves the file."
    assert ran.said == (2, f"error: {what} (repository ~/.local/share/chezmoi)\n  hint: {hint}\n")


def test_a_file_that_git_cannot_tell_about_stops_the_apply(guarded: Machine) -> None:
    guarded.environ["PATH"] = "/nowhere"
    with guarded.untouched():
        ran = guarded.toolsync(*FIX)
    what = "~/dots/service/settings.json would hold the key, and git cannot tell what it does with it"
    hint = "Let `git status` work there, let the key take another way (`key_way`), or leave the tool out."
    assert ran.said == (2, f"error: {what}: git is not installed (repository ~/dots)\n  hint: {hint}\n")


def test_files_without_the_key_are_not_guarded(guarded: Machine) -> None:
    _wants(guarded, f"~/{SETTINGS}", way="env")
    guarded.environ["PATH"] = "/nowhere"
    assert guarded.toolsync(*APPLY).code == 0
    assert "${TOOLSYNC_API_KEY}" in guarded.read(SETTINGS)


def test_diff_says_that_apply_would_stop(guarded: Machine) -> None:
    ran = guarded.toolsync("diff")
    assert (ran.code, f"    {FIX_HINT}\n" in ran.out) == (1, True)


@pytest.mark.parametrize(
    ("before", "after"),
    {
        "none there": (None, LINES),
        "empty": ("", LINES),
        "others' lines": ("# ours\n*.log\n", f"# ours\n*.log\n{LINES}"),
        "no final newline": ("*.log", f"*.log\n{LINES}"),
        "CRLF": ("*.log\r\n", "*.log\r\n" + LINES.replace("\n", "\r\n")),
        "CRLF, no final newline": ("a\r\n*.log", "a\r\n*.log\r\n" + LINES.replace("\n", "\r\n")),
        "a byte-order mark": ("\ufeff*.log\n", f"\ufeff*.log\n{LINES}"),
        "one line there": ("/service/settings.json\n", "/service/settings.json\n/service/.toolsync-*.tmp\n"),
        "taken back earlier": ("!settings.json\n", f"!settings.json\n{LINES}"),
    }.values(),
    ids=str,
)
def test_fixing_adds_what_is_missing_and_undo_takes_it_back(guarded: Machine, before: str | None, after: str) -> None:
    if before is not None:
        guarded.write("dots/.gitignore", before)
    ran = guarded.toolsync(*FIX)
    assert (ran.code, ran.err, _ignored(guarded)) == (0, "", after)
    assert KEY in guarded.read(SETTINGS)
    assert _untracked(guarded) == ".gitignore\n"

    assert guarded.toolsync("status").code == 0
    with guarded.untouched():
        assert guarded.toolsync(*APPLY).code == 0

    assert guarded.toolsync("undo", "--yes").code == 0
    assert (_ignored(guarded), guarded.read(SETTINGS)) == (before, "{}\n")


def test_no_temp_file_with_the_key_is_ever_open_to_git(guarded: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    prepare = Alongside.prepare

    def looked(alongside: Alongside) -> None:
        """Directly before the commit point, when every temp file is there."""
        seen.append(_untracked(guarded))
        prepare(alongside)

    monkeypatch.setattr(carry._Keyring, "prepare", looked)
    assert guarded.toolsync(*FIX).code == 0
    assert [re.findall(r"service/\S+", text) for text in seen] == [["service/settings.json"], []]


def test_lines_that_stand_alone_after_a_failure_go_with_undo(guarded: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = iter([None, SecretError("the keyring is locked")])

    def prepare(_alongside: Alongside) -> None:
        error = next(turns, None)
        if error is not None:
            raise error

    monkeypatch.setattr(carry._Keyring, "prepare", prepare)
    assert guarded.toolsync(*FIX).said == (2, "error: the keyring is locked\n")
    assert (_ignored(guarded), guarded.read(SETTINGS)) == (LINES, "{}\n")
    assert guarded.toolsync("undo", "--yes").code == 0
    assert (_ignored(guarded), guarded.memory["files"]) == (None, {})


def test_a_database_is_kept_out_of_git_with_its_journals(guarded: Machine) -> None:
    switch = furnished(guarded)
    switch.run("PRAGMA journal_mode = WAL")
    _home(guarded).repository(".cc-switch")
    guarded.profile('plaintext = "allow"\n\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    tools = ("--tool", "cc-switch", "--tool", "claude-code")
    ran = guarded.toolsync(*APPLY, *tools)
    hint = "`toolsync apply --fix-gitignore` adds to ~/.cc-switch/.gitignore: `/cc-switch.db`, `/cc-switch.db-*`."
    assert (ran.code, ran.err.endswith(f"\n  hint: {hint}\n")) == (2, True), ran.err
    with switch.connection() as other:  # while somebody reads, what is written stays in the journal
        other.execute("SELECT 1 FROM providers").fetchall()
        assert guarded.toolsync(*FIX, *tools).code == 0
        journal = guarded.home / ".cc-switch/cc-switch.db-wal"
        assert (KEY.encode() in journal.read_bytes(), journal.stat().st_mode & 0o077) == (True, 0)
        assert _home(guarded).git(".cc-switch", "ls-files", "--others", "--exclude-standard") == ".gitignore\n"
    assert guarded.toolsync("undo", "--yes").code == 0
    assert not (guarded.home / ".cc-switch/.gitignore").exists()


def test_an_ignore_file_that_is_no_text_is_named(guarded: Machine) -> None:
    guarded.write("dots/.gitignore", b"caf\xe9\n")
    for arguments in (APPLY, FIX, ("diff",)):
        ran = guarded.toolsync(*arguments)
        assert (ran.code, ran.err.startswith("error: ~/dots/.gitignore:1:4: not UTF-8 text\n")) == (2, True), ran.err


def test_lines_stay_as_long_as_the_key_does(guarded: Machine) -> None:
    assert guarded.toolsync(*FIX).code == 0
    _wants(guarded, f"~/{SETTINGS}", way="env")
    assert guarded.toolsync(*APPLY).code == 0
    assert (KEY in guarded.read(SETTINGS), _ignored(guarded)) == (False, None)


def test_undo_leaves_what_the_user_added(guarded: Machine) -> None:
    assert guarded.toolsync(*FIX).code == 0
    guarded.write("dots/.gitignore", f"# mine\n{LINES}*.log\n")
    assert guarded.toolsync("undo", "--yes").code == 0
    assert _ignored(guarded) == "# mine\n*.log\n"


def test_undo_says_when_git_sees_again_what_the_user_put_there(guarded: Machine) -> None:
    assert guarded.toolsync(*FIX).code == 0
    guarded.write(SETTINGS, guarded.read(SETTINGS).replace(KEY, f"{KEY}-of-their-own"))
    ran = guarded.toolsync("undo", "--yes")
    said = (
        "warning: ~/dots/service/settings.json: git will not ignore any more what stays there\n"
        "    If it is a key: `/service/settings.json` in ~/dots/.gitignore.\n"
    )
    assert (ran.code, said in ran.out, _ignored(guarded)) == (0, True, None)


def test_a_line_that_the_user_took_out_stays_out(guarded: Machine) -> None:
    assert guarded.toolsync(*FIX).code == 0
    guarded.write("dots/.gitignore", "service/\n")
    assert guarded.toolsync(*APPLY).code == 0
    assert _ignored(guarded) == "service/\n"
    assert guarded.toolsync("undo", "--yes").code == 0
    assert _ignored(guarded) == "service/\n"


def test_two_files_of_one_repository_share_its_ignore_file(guarded: Machine) -> None:
    _wants(guarded, f"~/{SETTINGS}", "~/dots/service/other.json", "~/dots/deep/er/settings.json")
    assert guarded.toolsync(*FIX).code == 0
    assert _untracked(guarded) == ".gitignore\n"
    _wants(guarded, f"~/{SETTINGS}")
    assert guarded.toolsync(*APPLY).code == 0
    assert _ignored(guarded) == LINES
    assert guarded.toolsync("undo", "--yes").code == 0
    assert _ignored(guarded) is None


@pytest.mark.parametrize("first", ["claude-code", "settings-json"])
def test_tools_in_one_folder_give_their_lines_back_one_by_one(guarded: Machine, first: str) -> None:
    guarded.environ["CLAUDE_CONFIG_DIR"] = str(guarded.home / "dots/service")
    paths = '[profiles.work.tool.settings-json]\npaths = ["~/dots/service/own.json"]\nkey_way = "plaintext"\n'
    guarded.profile(f'plaintext = "allow"\n\n{paths}[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    guarded.write("dots/.gitignore", "*.log\n")
    tools = ("--tool", "claude-code", "--tool", "settings-json")
    assert guarded.toolsync(*FIX, *tools).code == 0
    assert _untracked(guarded) == ".gitignore\n"

    assert guarded.toolsync("undo", first, "--yes").code == 0
    left = "own.json" if first == "claude-code" else "settings.json"
    assert {*(_ignored(guarded) or "").splitlines()} == {"*.log", f"/service/{left}", "/service/.toolsync-*.tmp"}
    assert guarded.toolsync("undo", "--yes").code == 0
    assert (_ignored(guarded), guarded.read(SETTINGS)) == ("*.log\n", "{}\n")


def test_a_pattern_that_wins_over_the_line_is_named_and_nothing_is_written(guarded: Machine) -> None:
    guarded.write("dots/service/.gitignore", "*.tmp\n!settings.json\n")
    with guarded.untouched():
        ran = guarded.toolsync(*FIX)
    hint = (
        "~/dots/.gitignore would have `/service/settings.json`, and service/.gitignore:2 `!settings.json` takes it "
        "back: take that line out."
    )
    assert (ran.code, ran.err.splitlines()[1]) == (2, f"  hint: {hint}")


def test_status_says_that_git_sees_the_key_again(guarded: Machine) -> None:
    assert guarded.toolsync(*FIX).code == 0
    assert guarded.toolsync("status").code == 0
    guarded.write("dots/.gitignore", f"{LINES}!settings.json\n")
    said = (
        "problem: ~/dots/service/settings.json holds the key, and git does not ignore it (repository ~/dots)\n"
        "    ~/dots/.gitignore has `/service/settings.json`, and .gitignore:3 `!settings.json` takes it back: "
        "take that line out.\n"
    )
    ran = guarded.toolsync("status")
    assert (ran.code, said in ran.out) == (1, True), ran.out


def test_what_belongs_to_another_profile_stays_set_to_it(guarded: Machine) -> None:
    """`apply` without its name would set the tool to the active one."""
    assert guarded.toolsync(*FIX).code == 0
    other = guarded.config.read_text(encoding="utf-8").replace("profiles.work", "profiles.home")
    text = guarded.config.read_text(encoding="utf-8") + other.partition("\n\n")[2]
    guarded.config.write_text(text.replace('active = "work"', 'active = "home"'), encoding="utf-8")
    guarded.write("dots/.gitignore", "")
    said = guarded.toolsync("status").out
    command = "toolsync apply --profile work --tool settings-json --fix-gitignore"
    assert f"`{command}` adds to ~/dots/.gitignore: " in said
    assert guarded.toolsync(*command.split()[1:], "--yes", "--no-ping").code == 0
    assert _untracked(guarded) == ".gitignore\n"


def test_an_ignore_file_that_is_a_link_is_not_relied_on(guarded: Machine) -> None:
    guarded.write("dots/ignored", "")
    (guarded.home / "dots/.gitignore").symlink_to("ignored")
    with guarded.untouched():
        ran = guarded.toolsync(*FIX)
    hint = "~/dots/.gitignore is a link, which git does not follow: make it a file."
    assert (ran.code, ran.err.splitlines()[1]) == (2, f"  hint: {hint}")


def test_what_git_says_after_the_writing_has_the_last_word(guarded: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program takes the line back while we write: said, and exit 1."""
    carried_out = guarding.still_exposed

    def meanwhile(*arguments: Any) -> object:
        guarded.write("dots/service/.gitignore", "!settings.json\n")
        return carried_out(*arguments)

    monkeypatch.setattr("toolsync.commands.apply.still_exposed", meanwhile)
    ran = guarded.toolsync(*FIX)
    assert (ran.code, "service/.gitignore:1 `!settings.json` takes it back" in ran.out) == (1, True)


def test_a_link_that_leads_out_of_its_repository_is_refused(guarded: Machine) -> None:
    guarded.write("elsewhere.json", "{}\n")
    (guarded.home / SETTINGS).unlink()
    (guarded.home / SETTINGS).symlink_to(guarded.home / "elsewhere.json")
    _wants(guarded, f"~/{SETTINGS}", way="env")
    with guarded.untouched():
        ran = guarded.toolsync(*APPLY)
    text = "~/dots/service/settings.json leads out of ~/dots, to ~/elsewhere.json"
    assert (ran.code, ran.err.splitlines()[0]) == (2, f"error: {text}")


def test_a_link_to_a_database_outside_is_refused_too(guarded: Machine) -> None:
    switch = furnished(guarded)
    _home(guarded).repository(".cc-switch")
    shutil.move(switch.database, guarded.home / "other.db")
    switch.database.symlink_to(guarded.home / "other.db")
    with guarded.untouched():
        ran = guarded.toolsync(*APPLY)
    text = "~/.cc-switch/cc-switch.db leads out of ~/.cc-switch, to ~/other.db"
    assert (ran.code, ran.err.startswith(f"error: {text}\n")) == (2, True), ran.err


def test_a_link_into_a_repository_is_followed(guarded: Machine) -> None:
    link = guarded.home / "settings.json"
    link.symlink_to(SETTINGS)
    _wants(guarded, "~/settings.json")
    assert guarded.toolsync(*FIX).code == 0
    assert (link.is_symlink(), KEY in guarded.read(SETTINGS), _ignored(guarded)) == (True, True, LINES)


def test_the_json_of_a_stopped_apply_names_the_error(guarded: Machine) -> None:
    ran = guarded.toolsync(*APPLY, "--json")
    assert (ran.code, ran.json["errors"][0]["type"], ran.json["errors"][0]["hint"]) == (2, "ExposedKeyError", FIX_HINT)


def test_the_folder_of_git_may_stand_in_no_home(guarded: Machine) -> None:
    """Inside a hook, `GIT_DIR` names another repository."""
    other = _home(guarded)
    other.repository("other")
    guarded.write("other/.git/info/exclude", "*\n")
    guarded.environ |= {"GIT_DIR": str(Path(guarded.home, "other/.git")), "GIT_WORK_TREE": str(guarded.home)}
    assert guarded.toolsync(*APPLY).code == 2
