"""The verbs on the key: whose it is, who else uses it, and where it is kept."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine, Ran
from tests.acceptance.switch import CODEX
from tests.keys import invented
from toolsync.cli import naming
from toolsync.errors import NoKeyringError, SecretError
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret
from toolsync.paths import Places, Platform
from toolsync.session import Session, this_machine

SHARED = f"""
[profiles.home]
base_url = "{ADDRESS}"
model = "m"
key = "keyring:work"

[profiles.team]
base_url = "{ADDRESS}"
model = "m"
key = "env:TEAM_KEY"
request.headers = {{ X-Team-Key = "keyring:work" }}

[profiles.vault]
base_url = "{ADDRESS}"
model = "m"
key = "command:pass show gateway"
"""


@pytest.fixture
def set_key(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Ran]:
    """Runs `key set NAME` with a key on stdin."""

    def run(name: str) -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
        return machine.toolsync("key", "set", name, "--stdin")

    return run


@pytest.mark.parametrize("text", ["your-api-key", "YOUR_API_KEY", "sk-xxxx", "<your-key>", "changeme", "sk-1234"])
def test_what_examples_have_for_a_key_is_taken_for_none(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Unless somebody says so: gateways on one's own machine take any."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{text}\n"))
    ran = machine.toolsync("key", "set", "--stdin")
    hint = "Copy the key itself from the gateway's page. For a gateway that takes any key, add `--yes`."
    assert ran.said == (2, f"error: the key is a placeholder, as examples have it\n  hint: {hint}\n")
    assert machine.vault.get("work") == Secret(KEY)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{text}\n"))
    assert machine.toolsync("key", "set", "--stdin", "--yes").code == 0
    assert machine.vault.get("work") == Secret(text)


def test_a_person_is_asked_whether_a_placeholder_is_the_key(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("toolsync.cli.naming.ask", lambda _session, question, **_: asked.append(question))
    session = Session(this_machine(), machine.config, machine.state, lambda: machine.vault, is_interactive=True)
    assert [naming.demand_real(session, text, yes=False) for text in (KEY, "your-api-key")] == [KEY, "your-api-key"]
    assert asked == ["That is a placeholder, as examples have it, and hardly a key. Store it all the same?"]


@pytest.mark.parametrize("named", [(), ("work",), ("keyring:work",)], ids=["active", "profile", "reference"])
def test_a_key_that_others_use_is_not_removed_in_passing(machine: Machine, named: tuple[str, ...]) -> None:
    machine.profile(SHARED)
    ran = machine.toolsync("key", "remove", *named, "--yes")
    users = "profile 'home' as its key and profile 'team' in the header X-Team-Key"
    if named == ("keyring:work",):  # which names no profile
        users = "profile 'work' as its key and " + users
    hint = "`--force` removes it all the same."
    assert ran.said == (2, f"error: keyring:work is also used by {users}; nothing was removed\n  hint: {hint}\n")
    assert "work" in machine.kept
    assert machine.toolsync("key", "remove", *named, "--yes", "--force").out == "keyring:work is removed.\n"
    assert "work" not in machine.kept


def test_a_key_of_one_profile_is_removed_with_yes(machine: Machine) -> None:
    assert machine.toolsync("key", "remove", "work", "--yes").out == "keyring:work is removed.\n"
    assert machine.kept == set()


def test_the_question_names_who_uses_the_key(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("toolsync.cli.keys.ask", lambda _session, question, **_: asked.append(question))
    machine.profile(SHARED)
    machine.toolsync("key", "remove", "work")
    machine.vault.set("old", Secret(KEY))
    machine.toolsync("key", "remove", "old")
    users = "profile 'work' uses as its key and profile 'home' uses as its key and profile 'team' uses in the header"
    assert asked == [f"Remove keyring:work, which {users} X-Team-Key?", "Remove keyring:old, which no profile uses?"]


def test_a_key_that_no_profile_uses_is_said_to_be_one(machine: Machine, set_key: Callable[[str], Ran]) -> None:
    stored = "keyring:wrok is stored in memory (kept only while this command runs).\n"
    warning = "warning: no profile uses keyring:wrok\n    Did you mean 'work'? `toolsync key remove wrok` removes it.\n"
    assert set_key("wrok").out == stored + warning
    assert machine.toolsync("key", "remove", "wrok", "--yes").out == "keyring:wrok is removed.\n"
    unknown = "error: there is no profile and no key 'wrok'\n  hint: Did you mean 'work'? There are: work.\n"
    for verb in ("remove", "forget"):
        assert machine.toolsync("key", verb, "wrok", "--yes").said == (2, unknown)
    assert "warning" not in set_key("work").out


def test_without_a_profile_a_key_may_be_stored_first(machine: Machine, set_key: Callable[[str], Ran]) -> None:
    machine.config.unlink()
    ran = set_key("later")
    assert (ran.code, "warning" in ran.out) == (0, False)


def test_every_key_is_listed_wherever_it_is_kept(machine: Machine) -> None:
    machine.profile(SHARED)
    ran = machine.toolsync("key", "list")
    assert ran.out.splitlines()[1:] == [
        "Key                        State           Used by",
        "keyring:work               stored          work, home, team",
        "command:pass show gateway  kept elsewhere  vault",
        "env:TEAM_KEY               kept elsewhere  team",
    ]


def test_without_a_key_in_it_no_keyring_is_asked(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object) -> None:
        raise NoKeyringError("no keyring answers here")

    machine.profile(key="command:pass show gateway")
    monkeypatch.setattr(type(machine.vault), "get", silent)
    listed = "Key                        State           Used by\ncommand:pass show gateway  kept elsewhere  work\n"
    assert machine.toolsync("key", "list").said == (0, "")
    assert machine.toolsync("key", "list").out == listed
    machine.profile()
    assert machine.toolsync("key", "list").said == (2, "error: no keyring answers here\n")


def test_what_is_left_of_a_removed_key_is_said(machine: Machine, set_key: Callable[[str], Ran]) -> None:
    machine.profile('\n[profiles.work.tool.codex]\nkey_way = "plaintext"\n')
    machine.toolsync("apply", "--tool=codex", "--tool=claude-code", "--yes", "--allow-plaintext", "--force")
    assert machine.toolsync("key", "remove", "--yes").out == (
        "keyring:work is removed.\n"
        "warning: copies of it still stand in the settings of Codex CLI\n"
        "    `toolsync undo codex` takes them out.\n"
        "warning: Claude Code: set to ask for it\n"
        "    `toolsync undo claude-code` gives back what stood there.\n"
    )
    ran = machine.toolsync("key", "uses", "--json")
    assert ran.code == 1
    assert [(use["kind"], use["who"]) for use in ran.json["data"]["uses"]] == [
        ("helper", "Claude Code"),
        ("copy", "Codex CLI"),
    ]
    assert set_key("work").code == 0


@pytest.mark.parametrize("verb", ["set", "rotate"])
def test_a_key_on_the_command_line_is_told_the_way(machine: Machine, verb: str) -> None:
    ran = machine.toolsync("key", verb, "work", KEY)
    way = f"`… | toolsync key {verb} --stdin`"
    assert ran.err == (
        "error: Got unexpected extra argument(s) (***)\n"
        f"  hint: A key never stands on the command line, which the shell remembers: {way}.\n"
    )


def test_nobody_is_asked_to_forget_what_is_not_kept(machine: Machine) -> None:
    assert machine.toolsync("key", "forget").said == (0, "")


def test_a_key_that_was_set_by_itself_is_no_way_back(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for verb, key in (("rotate", invented("acceptance-other")), ("set", KEY)):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{key}\n"))
        options = ("--yes", "--no-ping") if verb == "rotate" else ()
        assert machine.toolsync("key", verb, "--stdin", *options).code == 0
    ran = machine.toolsync("key", "rotate", "--back", "--yes")
    assert ran.code == 2
    assert ran.err.startswith("error: keyring:work holds the key from before already: another command put it there")


def test_a_profile_is_shown_with_where_its_key_is(machine: Machine) -> None:
    lines = machine.toolsync("profile", "show").out.splitlines()
    assert [line.split() for line in lines[:2]] == [
        ["Fact", "Value", "From"],
        ["key", "keyring:work", "profiles.work.key"],
    ]


def test_another_key_over_one_that_copies_use_is_told(
    machine: Machine, gateway: LoopbackGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.write(CODEX, "")
    machine.profile('\n[profiles.work.tool.codex]\nkey_way = "plaintext"\n', base_url=gateway.base_url)
    assert machine.toolsync("apply", "--tool", "codex", "--yes", "--allow-plaintext").code == 0
    said = []
    for key in (KEY, invented("acceptance-other")):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{key}\n"))
        said.append(machine.toolsync("key", "set", "--stdin").out.splitlines()[1:])
    way = (
        "`toolsync apply -p work --tool codex` writes the new one there. "
        "`toolsync key rotate work` asks the gateway first, and does both at once."
    )
    stale = "warning: copies of the key that was replaced still stand in the settings of Codex CLI"
    lost = "What stood there is kept nowhere; `toolsync key rotate` keeps it for a week."
    assert said == [[], [f"    {lost}", stale, f"    {way}"]]
    uses = machine.toolsync("key", "uses", "--json").json["data"]["uses"]
    assert [(use["kind"], use["who"]) for use in uses] == [("other key", "Codex CLI")]


@pytest.mark.parametrize(
    ("platform", "length", "is_taken"),
    [("linux", 4094, True), ("linux", 4095, False), ("darwin", 1023, False), ("win32", 5000, True)],
)
def test_a_key_that_the_terminal_cut_off_is_not_taken(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, platform: Platform, length: int, is_taken: bool
) -> None:
    """A line of a terminal has an end: what is pasted beyond it is gone without a word."""
    monkeypatch.setattr("toolsync.hidden.typed", lambda *_words, **_options: "x" * length)
    places = Places(machine.home, {}, machine.project, machine.home, platform)
    session = Session(places, machine.config, machine.state, lambda: machine.vault, is_interactive=True)
    if is_taken:
        assert len(naming.typed_key(session, stdin=False)) == length
        return
    with pytest.raises(SecretError, match="the end of what was pasted may be missing"):
        naming.typed_key(session, stdin=False)


# A key beside another one, which is a header's


@pytest.fixture
def headed(machine: Machine) -> Machine:
    """Four tools: two ask for the key, two have copies of it; all of them have copies of a header's."""
    for name in (".claude/settings.json", ".codex/config.toml", ".cline/data/globalState.json", ".vibe/config.toml"):
        machine.write(name, "{}" if name.endswith(".json") else "")
    machine.vault.set("team", Secret(invented("team")))
    machine.profile('plaintext = "allow"\n[profiles.work.request.headers]\nX-Team = "keyring:team"\n')
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    return machine


def test_the_secret_of_a_header_is_not_taken_for_another_key(headed: Machine) -> None:
    told = headed.toolsync("key", "uses", "--json").json["data"]["uses"]
    assert {(one["kind"], one["who"], one["where"]) for one in told} == {
        ("helper", "Claude Code", "~/.claude/settings.json"),
        ("helper", "Codex CLI", "~/.codex/config.toml"),
        ("copy", "Cline", "~/.cline/data/secrets.json"),
        ("copy", "Cline", "~/.cline/data/settings/providers.json"),
        ("entry", "Mistral Vibe", "keyring:ai.mistral.vibe/TOOLSYNC_API_KEY"),
    }
    headed.vault.set("work", Secret(invented("later")))
    told = headed.toolsync("key", "uses", "--json").json["data"]["uses"]
    assert {one["who"] for one in told if one["kind"] == "other key"} == {"Cline", "Mistral Vibe"}


@pytest.mark.parametrize("name", ["team", "keyring:team"])
def test_the_uses_of_a_headers_key_are_asked_for_by_its_name(headed: Machine, name: str) -> None:
    ran = headed.toolsync("key", "uses", name)
    assert ran.out.startswith("keyring:team: profile 'work' in the header X-Team\n"), ran.err
    told = {(one["kind"], one["who"]) for one in _uses(headed, name)}
    assert told == {("copy", title) for title in ("Claude Code", "Codex CLI", "Cline", "Mistral Vibe")}
    headed.vault.set("team", Secret(invented("later")))
    assert {one["kind"] for one in _uses(headed, name)} == {"other key"}
    assert "there is no profile 'keyring:tem'" in headed.toolsync("key", "uses", "keyring:tem").err


def _uses(machine: Machine, name: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = machine.toolsync("key", "uses", name, "--json").json["data"]["uses"]
    return found


def test_who_asks_for_a_key_holds_no_copy_of_it(headed: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(invented("later")))
    said = headed.toolsync("key", "set", "--stdin").out
    assert "that was replaced still stand in the settings of Cline, Mistral Vibe\n" in said
    said = headed.toolsync("profile", "rename", "work", "job").out
    assert "Claude Code, Codex CLI ask toolsync for the key of 'work', and get none until" in said
    headed.toolsync("profile", "rename", "job", "work")
    said = headed.toolsync("key", "remove", "--yes").out
    assert "copies of it still stand in the settings of Cline, Mistral Vibe\n" in said
    assert "Claude Code, Codex CLI: set to ask for it\n" in said


def test_a_tool_that_still_asks_is_listed_though_the_profile_wants_it_no_more(headed: Machine) -> None:
    headed.toolsync("profile", "edit", "work", "--set", "tool.claude-code.enabled=false")
    assert "asks when it runs  Claude Code   ~/.claude/settings.json" in headed.toolsync("key", "uses").out
    headed.write(".claude/settings.json", "no JSON, and nothing in it {")
    assert "Claude Code" not in headed.toolsync("key", "uses").out


def test_a_tool_whose_settings_name_no_variable_is_listed_with_the_one_that_it_reads(machine: Machine) -> None:
    machine.write(".cline/data/globalState.json", "{}")
    machine.profile('\n[profiles.work.tool.cline]\nkey_way = "env"\n')
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "cline").code == 0
    variables = [one for one in _uses(machine, "work") if one["kind"] == "variable"]
    assert [(one["who"], one["path"]) for one in variables] == [("Cline", "$OPENAI_API_KEY")]
