"""The verbs on profiles: what they say of those that are active, applied, or speak of tools that there are not."""

from __future__ import annotations

import io

import pytest

from tests.acceptance.machine import ADDRESS, Machine
from tests.keys import invented
from toolsync.errors import NoKeyringError
from toolsync.masking import Secret
from toolsync.secret.vault import MemoryVault

CODEX = ".codex/config.toml"
SECOND = ("--base-url", ADDRESS, "--model", "m")


@pytest.fixture
def applied(machine: Machine) -> Machine:
    """Codex, applied."""
    machine.write(CODEX, "")
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    return machine


LOSS = (
    "warning: 'work' is applied: the tools that ask toolsync for its key get none until another is applied\n"
    "    `toolsync undo` gives them back what you had before.\n"
)
ACTIVE = (
    "warning: 'work' is the active profile; without it none is\n    `toolsync use NAME` makes another the active one.\n"
)


def test_removing_the_active_applied_profile_says_what_it_means(applied: Machine) -> None:
    ran = applied.toolsync("profile", "remove", "work", "--yes")
    assert (ran.code, ran.out) == (0, f"Profile 'work' is removed.\n{ACTIVE}{LOSS}")
    assert applied.toolsync("undo", "--yes").code == 0
    assert applied.read(CODEX) == ""


TO_WORK = "; `toolsync apply --tool codex` sets it to 'work'."
TO_ANY = "; `toolsync apply --profile NAME --tool codex` sets it to another."


@pytest.mark.parametrize(
    ("others", "way"), [(["work"], TO_WORK), (["third"], TO_ANY), ([], ".")], ids=["active", "not active", "none"]
)
def test_status_says_that_the_applied_profile_is_gone(machine: Machine, others: list[str], way: str) -> None:
    machine.write(CODEX, "")
    for name in ("job", "third"):
        machine.toolsync("init", name, *SECOND, "--key-from", "keyring:work", "--no-use")
    assert machine.toolsync("apply", "-p", "job", "--tool", "codex", "--yes", "--no-ping").code == 0
    assert "is gone" not in machine.toolsync("status").out
    for name in {"work", "job", "third"} - {*others}:
        assert machine.toolsync("profile", "remove", name, "--yes").code == 0
    said = "problem: profile 'job' is gone, and was applied to Codex CLI\n"
    ran = machine.toolsync("status")
    assert f"{said}    `toolsync undo codex` gives back what you had before{way}\n" in ran.out
    assert (ran.code, said in machine.toolsync("status", "--tool", "claude-code").out) == (1, False)
    assert machine.toolsync("undo", "codex", "--yes").code == 0
    assert ("is gone" in machine.toolsync("status").out, machine.read(CODEX)) == (False, "")


def test_a_file_of_profiles_that_cannot_be_read_says_nothing_of_which_are_gone(applied: Machine) -> None:
    applied.config.write_text("[", encoding="utf-8")
    ran = applied.toolsync("status")
    assert (ran.code, "is gone" in ran.out, "profile.toml" in ran.out) == (1, False, True)


def test_removing_a_profile_that_nobody_uses_needs_no_warning(machine: Machine) -> None:
    machine.toolsync("init", "second", *SECOND, "--no-use")
    assert machine.toolsync("profile", "remove", "second", "--yes").out == "Profile 'second' is removed.\n"


def test_removing_a_profile_says_what_removes_its_key(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that another profile uses, or that was not stored from here, is not named."""
    machine.toolsync("init", "second", *SECOND, "--no-use")
    machine.toolsync("init", "third", *SECOND, "--key-from", "keyring:second", "--no-use")
    monkeypatch.setattr("sys.stdin", io.StringIO(invented("second")))
    assert machine.toolsync("key", "set", "second", "--stdin").code == 0
    assert machine.toolsync("profile", "remove", "second", "--yes").out == "Profile 'second' is removed.\n"
    said = "Profile 'third' is removed.\n    Its key stays in the keyring: `toolsync key remove second` removes it.\n"
    assert machine.toolsync("profile", "remove", "third", "--yes").out == said
    assert machine.toolsync("key", "remove", "second", "--yes").out == "keyring:second is removed.\n"


def test_a_tool_with_a_copy_that_is_set_to_the_address_from_before_is_said(machine: Machine) -> None:
    machine.write(".claude/settings.json", "{}")
    machine.profile('[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    assert machine.toolsync("apply", "--yes", "--no-ping", "--allow-plaintext").code == 0
    said = (
        f"warning: Claude Code holds a copy of the key of 'work', and sends it to {ADDRESS} as before\n"
        "    `toolsync apply -p work --tool claude-code` sets it anew.\n"
    )
    assert said not in machine.toolsync("profile", "edit", "--set", "model=m2").out
    assert said in machine.toolsync("profile", "edit", "--set", "base_url=https://new.example/api").out
    assert machine.toolsync("undo", "--yes").code == 0


@pytest.mark.parametrize("active", [True, False], ids=["active", "not active"])
def test_renaming_the_applied_profile_says_when_tools_get_the_key_again(applied: Machine, *, active: bool) -> None:
    if not active:
        applied.toolsync("init", "second", *SECOND)
    apply = "`toolsync apply`" if active else "`toolsync apply --profile job`"
    assert applied.toolsync("profile", "rename", "work", "job").out == (
        f"'work' is now 'job'.\nwarning: Codex CLI asks toolsync for the key of 'work', and gets none until {apply}\n"
    )


def test_a_tool_that_asks_for_a_profile_is_known_though_another_was_applied_since(machine: Machine) -> None:
    machine.write(CODEX, "")
    machine.write(".claude/settings.json", "{}")
    machine.toolsync("init", "second", *SECOND, "--key-from", "keyring:work", "--no-use")
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    assert machine.toolsync("apply", "-p", "second", "--tool", "codex", "--yes", "--no-ping").code == 0
    uses = machine.toolsync("key", "uses", "work", "--json").json["data"]["uses"]
    asking = {one["who"]: one["path"] for one in uses if one["kind"] == "helper"}
    assert asking == {"Claude Code": "toolsync key print work", "Codex CLI": "toolsync key print second"}
    for old, new, title, apply in (
        ("work", "job", "Claude Code", "toolsync apply --tool claude-code"),
        ("second", "third", "Codex CLI", "toolsync apply --profile third --tool codex"),
    ):
        said = f"{title} asks toolsync for the key of '{old}', and gets none until `{apply}`"
        assert said in machine.toolsync("profile", "rename", old, new).out
        machine.toolsync("profile", "rename", new, old)
    for name, undo in (("second", "toolsync undo codex"), ("work", "toolsync undo claude-code")):
        said = machine.toolsync("profile", "remove", name, "--yes").out
        assert f"'{name}' is applied" in said
        assert f"`{undo}` gives them back" in said


def test_a_tool_that_reads_a_variable_stays_with_the_profile_that_it_was_set_to(machine: Machine) -> None:
    """No file of such a tool names a profile: memory does."""
    machine.write(CODEX, "")
    machine.write(".claude/settings.json", "{}")
    machine.vault.set("second", Secret(invented("second")))
    machine.profile(
        f'\n[profiles.second]\nbase_url = "{ADDRESS}"\nmodel = "m"\nkey = "keyring:second"\n'
        '[profiles.second.tool.codex]\nkey_way = "env"\n'
    )
    assert machine.toolsync("apply", "-p", "second", "--tool", "codex", "--yes", "--no-ping").code == 0
    assert machine.toolsync("apply", "--tool", "claude-code", "--yes", "--no-ping").code == 0
    assert machine.toolsync("status").out.startswith("Profiles 'work' (claude-code), 'second' (codex) are applied.\n")
    assert _using(machine, "second") == [("variable", "Codex CLI")]
    assert _using(machine, "work") == [("helper", "Claude Code")]
    assert "`toolsync apply` writes it." in machine.toolsync("use", "second").out
    assert "'second' is applied" in machine.toolsync("profile", "remove", "second", "--yes").out


def test_a_profile_that_is_renamed_there_and_back_is_what_it_was(applied: Machine) -> None:
    """The file has the first name all the while: it asks in vain in between, and no longer then."""
    record = applied.memory["applied"]
    assert "gets none until" in applied.toolsync("profile", "rename", "work", "job").out
    assert applied.toolsync("profile", "rename", "job", "work").out == "'job' is now 'work'.\n"
    assert applied.memory["applied"] == record == {"codex": "work"}
    assert applied.toolsync("status").out.startswith("Profile 'work' is applied.\n")


def test_after_a_rename_a_tool_is_still_known_though_its_file_has_the_old_name(applied: Machine) -> None:
    assert applied.toolsync("profile", "rename", "work", "job").code == 0
    assert '"print", "work"' in applied.read(CODEX)
    (use,) = applied.toolsync("key", "uses", "job", "--json").json["data"]["uses"]
    assert (use["kind"], use["who"], use["path"]) == ("helper", "Codex CLI", "toolsync key print work")
    assert "'job' is applied" in applied.toolsync("profile", "remove", "job", "--yes").out


def _using(machine: Machine, profile: str) -> list[tuple[str, str]]:
    """Who asks for a profile's key, or holds it."""
    return [
        (one["kind"], one["who"]) for one in machine.toolsync("key", "uses", profile, "--json").json["data"]["uses"]
    ]


def test_renaming_another_profile_needs_no_warning(machine: Machine) -> None:
    assert machine.toolsync("profile", "rename", "work", "job").out == "'work' is now 'job'.\n"


NEXT = "Next: `toolsync key set home`, then `toolsync apply`.\n"
INITS = {
    "the first": (None, (), f"Profile 'home' is ready and active.\n{NEXT}"),
    "one more": ("", (), f"Profile 'home' is ready, and active now in place of 'work'.\n{NEXT}"),
    "one more, not used": (
        "",
        ("--no-use",),
        (
            "Profile 'home' is ready; 'work' stays active.\n"
            "Next: `toolsync key set home`, then `toolsync use home`, then `toolsync apply`.\n"
        ),
    ),
    "another's key": (
        "",
        ("--key-from", "keyring:work"),
        "Profile 'home' is ready, and active now in place of 'work'.\nNext: `toolsync apply`.\n",
    ),
    "a variable": (None, ("--key-from", "env:K"), "Profile 'home' is ready and active.\nNext: `toolsync apply`.\n"),
    "a file of age's, to be made": (
        None,
        ("--key-from", "age:/nonexistent/k.age"),
        f"Profile 'home' is ready and active.\n{NEXT}",
    ),
}


@pytest.mark.parametrize(("rest", "options", "said"), INITS.values(), ids=INITS)
def test_init_says_which_profile_is_active_and_what_is_next(
    machine: Machine, rest: str | None, options: tuple[str, ...], said: str
) -> None:
    if rest is None:
        machine.config.unlink()
    assert machine.toolsync("init", "home", *SECOND, *options).out == said


def test_init_sends_nobody_to_a_keyring_that_is_not_there(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: MemoryVault) -> str:
        raise NoKeyringError("no keyring answers here", hint="Ways out.")

    monkeypatch.setattr(MemoryVault, "backend", property(refuse))
    said = "no keyring answers here, and profile 'home' takes its key from one"
    assert machine.toolsync("init", "home", *SECOND).out == (
        f"Profile 'home' is ready, and active now in place of 'work'.\nwarning: {said}\n    Ways out.\n"
        "Next: `toolsync profile edit home --set key=…`, then `toolsync apply`.\n"
    )
    assert "keyring" not in machine.toolsync("init", "other", *SECOND, "--key-from", "env:K").out


def test_init_again_changes_nothing_and_says_what_is_so(machine: Machine) -> None:
    machine.toolsync("init", "home", *SECOND)
    machine.toolsync("use", "work")
    said = "Profile 'home' is there already, and says the same.\n"
    assert machine.toolsync("init", "home", *SECOND).out.startswith(said)


def test_a_setting_of_a_tool_that_there_is_not_is_called_one(machine: Machine) -> None:
    ran = machine.toolsync("profile", "edit", "--set", "tool.codx.model=x")
    assert ran.code == 0
    assert "warning: [profiles.work.tool.codx] means no tool\n    Did you mean 'codex'?\n" in ran.out
    assert "warning" not in machine.toolsync("profile", "edit", "--unset", "tool.codx").out


UNSET = {
    "unknown": ("nosuch", "nosuch: there is no such field; there are title, "),
    "near": ("modell", "modell: there is no such field; did you mean 'model'?"),
    "below": ("request.timeout", "request.timeout: there is no such field; there are timeout_seconds, "),
    "below a text": ("model.x", "model.x: there is no such field\n"),
    "misplaced": ("temperature", "temperature: there is no such field here; it belongs in the table 'request'"),
}


@pytest.mark.parametrize(("field", "said"), UNSET.values(), ids=UNSET)
def test_a_field_that_there_is_not_cannot_be_unset(machine: Machine, field: str, said: str) -> None:
    before = machine.config.read_bytes()
    ran = machine.toolsync("profile", "edit", "--unset", field)
    assert (ran.code, ran.err.startswith(f"error: {said}")) == (2, True), ran.err
    assert machine.config.read_bytes() == before


def test_a_field_that_is_unset_already_stays_so(machine: Machine) -> None:
    ran = machine.toolsync("profile", "edit", "--unset", "request.max_tokens", "--json")
    assert (ran.code, ran.json["data"]["profile"], ran.json["data"]["changed"]) == (0, "work", False)


def test_a_profile_that_is_wrong_can_be_removed_and_is_said_to_be_applied(applied: Machine) -> None:
    whole = applied.config.read_text()
    applied.config.write_text(f'{whole}\n[profiles.bad]\nmodle = "m"\n')
    assert applied.toolsync("diff").code == 2
    assert applied.toolsync("profile", "remove", "bda", "--yes").code == 2
    ran = applied.toolsync("profile", "remove", "bad", "--yes")
    assert (ran.said, ran.out) == ((0, ""), "Profile 'bad' is removed.\n")
    assert applied.config.read_text().strip() == whole.strip()
    applied.config.write_text(whole.replace("model =", "modle ="))
    ran = applied.toolsync("profile", "remove", "work", "--yes")
    assert (ran.said, LOSS in ran.out) == ((0, ""), True), ran.out
