"""How `check` ends: clean, found, or unable to tell; and who can reach a file."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import tomli
from jsonschema import Draft202012Validator

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.check.planted import REPLACED, SHAPED, plant
from tests.gitguard.conftest import Home
from tests.keys import invented
from toolsync import resources
from toolsync.commands.leaks.exposing import _reachable
from toolsync.commands.leaks.sought import shapes
from toolsync.commands.schema import schema
from toolsync.errors import KeyringLockedError
from toolsync.masking import Secret
from toolsync.secret.vault import MemoryVault


class LockedVault(MemoryVault):
    """One that nobody unlocks; it counts how often it was waited for."""

    waited = 0

    def get(self, name: str) -> Secret | None:
        self.waited += 1
        raise KeyringLockedError(f"the keyring is locked, and holds {name}")


def test_a_keyring_that_does_not_answer_leaves_it_open_and_is_waited_for_once(furnished: Machine) -> None:
    furnished.vault = LockedVault()
    ran = furnished.toolsync("check", "--json")
    assert (ran.code, furnished.vault.waited) == (3, 1)
    assert "is not looked for" in ran.json["messages"][0]["text"]
    furnished.write(".bashrc", SHAPED["groq"])
    assert furnished.toolsync("check").code == 1


def test_a_commit_does_not_depend_on_a_keyring(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    furnished.write("project/a.txt", "nothing")
    home.git("project", "add", ".")
    furnished.vault = LockedVault()
    ran = furnished.toolsync("check", "--staged", "--json")
    assert (ran.code, [one["level"] for one in ran.json["messages"]]) == (0, ["note"])
    furnished.write("project/a.txt", SHAPED["groq"])
    home.git("project", "add", ".")
    assert furnished.toolsync("check", "--staged").code == 1


def test_a_commit_asks_no_program_for_a_key(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    furnished.write("project/a.txt", "nothing")
    home.git("project", "add", ".")
    furnished.profile(key=f"command:/usr/bin/touch {furnished.home}/ran")
    ran = furnished.toolsync("check", "--staged")
    assert (ran.code, "the key of a `command:`: not asked for before a commit" in ran.out) == (0, True)
    assert not (furnished.home / "ran").exists()


@pytest.mark.parametrize(
    ("key", "rest", "code"),
    [
        ("keyring:nothing", "", 0),
        ("env:UNSET", "", 3),
        ("command:/usr/bin/false", "", 3),
        ("keyring:work", "[profiles.", 3),
    ],
    ids=["a keyring without it", "a variable that is not set", "a program that fails", "a broken profile"],
)
def test_a_key_that_cannot_be_had_leaves_it_open(furnished: Machine, key: str, rest: str, code: int) -> None:
    furnished.profile(rest, key=key)
    assert furnished.toolsync("check").code == code


def test_without_any_profile_shapes_are_looked_for(furnished: Machine) -> None:
    furnished.config.unlink()
    assert furnished.toolsync("check").code == 0
    furnished.write(".zshrc", SHAPED["npm"])
    assert furnished.toolsync("check").code == 1


def test_a_key_of_any_source_is_looked_for(furnished: Machine) -> None:
    furnished.profile(key="systemd:gateway")
    furnished.write("credentials/gateway", KEY)
    furnished.environ["CREDENTIALS_DIRECTORY"] = str(furnished.home / "credentials")
    furnished.write(".bashrc", KEY)
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["shown"], one["secret"]["name"]) == ("~/.bashrc", "systemd:gateway")


def test_the_key_that_others_may_have_seen_is_the_one_to_be_replaced(furnished: Machine) -> None:
    own, second = invented("second"), Home(furnished.home)
    furnished.profile("""[profiles.home]
base_url = "https://home.example"
model = "m"
key = "keyring:second"
""")
    assert isinstance(furnished.vault, MemoryVault)
    furnished.vault.set("second", Secret(own))
    second.repository("project")
    for name, value, told in (("a.txt", own, "key rotate home"), ("b.txt", REPLACED, "revoke it at its provider")):
        furnished.write(f"project/{name}", value)
        second.git("project", "add", ".")
        second.git("project", "commit", "-qm", name)
        ran = furnished.toolsync("check")
        assert (ran.code, told in ran.out) == (1, True), ran.out
    assert "`toolsync key rotate home` replaces it" in ran.out


def test_a_key_that_is_too_short_is_not_looked_for_and_that_is_said(furnished: Machine) -> None:
    furnished.profile(key="env:SHORT")
    furnished.environ["SHORT"] = "ollama"
    furnished.write(".bashrc", "ollama serve\n")
    ran = furnished.toolsync("check", "--json")
    assert (ran.code, ran.json["data"]["findings"]) == (0, [])
    assert "fewer than 8 characters" in ran.json["messages"][0]["text"]


def test_a_key_of_words_is_found_as_a_word_only(furnished: Machine) -> None:
    furnished.profile(key="env:WORDS")
    furnished.environ["WORDS"] = "our-gateway"
    furnished.write(".bashrc", "your-gateway\nour-gateways\nK='our-gateway'\n")
    ran = furnished.toolsync("check", "--json")
    assert [one["lines"] for one in ran.json["data"]["findings"]] == [[3]]


def test_your_earlier_key_that_undo_would_bring_back_is_looked_for(furnished: Machine) -> None:
    furnished.profile()
    earlier = invented("earlier")
    furnished.write(".claude/settings.json", f'{{"env": {{"ANTHROPIC_AUTH_TOKEN": "{earlier}"}}}}')
    assert furnished.toolsync("apply", "--yes", "--no-ping", "--tool", "claude-code").code == 0
    furnished.write(".bashrc", f"export ANTHROPIC_AUTH_TOKEN={earlier}\n")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["shown"], one["secret"]["name"]) == ("~/.bashrc", "your earlier key in ~/.claude/settings.json")


def test_a_key_where_a_tool_looks_for_its_own_is_found_whatever_it_looks_like_and_wherever(furnished: Machine) -> None:
    own = "of-no-known-shape-71"
    furnished.write(
        ".codex/config.toml", f'model_provider = "x"\n[model_providers.x]\nexperimental_bearer_token = "{own}"\n'
    )
    furnished.write(".bash_history", f"curl -H 'authorization: Bearer {own}'\n")
    found = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert {(one["shown"], one["secret"]["name"]) for one in found} == {
        ("~/.codex/config.toml", "the key of Codex CLI"),
        ("~/.bash_history", "the key of Codex CLI"),
    }


def test_what_was_deleted_from_a_database_and_is_still_in_its_file(furnished: Machine) -> None:
    path = furnished.home / ".cc-switch/cc-switch.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE providers (id TEXT, settings_config TEXT)")
        connection.execute("INSERT INTO providers VALUES ('mine', ?)", (KEY,))
        connection.commit()
        connection.execute("DELETE FROM providers")
        connection.commit()
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert one["inside"] == "a deleted or unread part of the database"


def test_what_it_says_meets_its_schema(furnished: Machine) -> None:
    plant(furnished)
    validator = Draft202012Validator(schema("check").data["content"])
    assert [error.message for error in validator.iter_errors(furnished.toolsync("check", "--json").json)] == []


@pytest.mark.parametrize("name", ["shapes", "places"])
def test_the_data_meets_its_schema(name: str) -> None:
    rows = tomli.loads((resources.folder("templates") / "leaks" / f"{name}.toml").read_text(encoding="utf-8"))
    assert [error.message for error in Draft202012Validator(resources.schema("leaks")).iter_errors(rows)] == []


def test_every_shape_has_an_example_and_begins_as_it_says() -> None:
    assert {shape.name for shape in shapes()} == SHAPED.keys()
    begun = [shape for shape in shapes() if shape.inner is None]
    assert [shape.name for shape in begun if not SHAPED[shape.name].startswith(shape.start)] == []


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that everybody can reach: pytest's own folders are shut."""
    path = Path(tempfile.mkdtemp(dir="/tmp")).resolve()
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize(
    ("mode", "who"),
    [(0o755, ["group", "others"]), (0o750, ["group"]), (0o710, ["group"]), (0o700, []), (0o711, ["group", "others"])],
    ids=lambda value: oct(value) if isinstance(value, int) else "",
)
def test_who_can_pass_the_folders_above(folder: Path, mode: int, who: list[str]) -> None:
    home = folder / "home"
    (home / "inner").mkdir(parents=True)
    home.chmod(mode)
    assert _reachable(home / "inner/x", ["group", "others"]) == who


def test_a_fingerprint_is_the_same_each_time_or_there_is_none(furnished: Machine) -> None:
    furnished.write(".bashrc", SHAPED["groq"])

    def fingerprints() -> list[str]:
        found = furnished.toolsync("check", "--json").json["data"]["findings"]
        return [one["secret"]["fingerprint"] for one in found if one["shown"] == "~/.bashrc"]

    assert (fingerprints(), "[" in furnished.toolsync("check").out) == ([""], False)
    ran = furnished.toolsync("apply", "--yes", "--no-ping", "--force", "--tool=claude-code", "--allow-plaintext")
    assert ran.code == 0
    (once,), again = fingerprints(), fingerprints()
    assert ([once], len(once), f"[{once}]" in furnished.toolsync("check").out) == (again, 6, True)


def test_a_line_of_the_shell_is_advised_to_ask_for_no_key_but_its_own(furnished: Machine) -> None:
    furnished.write(".bashrc", f"export A={KEY}\nexport B={SHAPED['groq']}\nexport C={REPLACED}\n")
    asks = "Let the line ask for the key (`toolsync key print work`), and take the value out."
    other = "Take the value out, and let the line ask the program that keeps your keys."
    findings = furnished.toolsync("check", "--json").json["data"]["findings"]
    said = {one["line"]: one["advice"] for one in findings if one["shown"] == "~/.bashrc"}
    assert [said[line].partition(" If ")[0] for line in (1, 2)] == [asks, other]
    assert said[3].startswith(asks)


def test_what_can_be_mended_is_said_by_what_is_done_about_it(furnished: Machine) -> None:
    furnished.write(".bashrc", f"export A={KEY}\nexport B={SHAPED['groq']}\n").chmod(0o644)
    shut = "`toolsync check --fix` asks first, and then can shut 1 file to others.\n"
    assert shut in furnished.toolsync("check").out
    env = f'"ANTHROPIC_BASE_URL": "{ADDRESS}", "ANTHROPIC_API_KEY": "{KEY}"'
    furnished.write(".claude/settings.json", f'{{"env": {{{env}}}}}\n').chmod(0o644)
    both = "then can let tools have the key of 1 file another way and shut 2 files to others.\n"
    assert both in furnished.toolsync("check").out
