"""What keeps a tool from using what is written: refused where a foreign key would travel, said in every other case."""

from __future__ import annotations

import json

from tests.acceptance.machine import ADDRESS, Machine
from tests.keys import invented

CLAUDE = ".claude/settings.json"
COMMENTED = """{
  // my own notes
  "permissions": { "allow": ["Read"] } // enough
}
"""


def test_a_comment_that_claude_code_chokes_on_is_kept_reported_first_and_ends_with_1(machine: Machine) -> None:
    machine.write(CLAUDE, COMMENTED)
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert (ran.code, ran.err) == (1, "")
    problem = (
        "problem: Claude Code ignores the whole file ~/.claude/settings.json:2:3: "
        "a comment, which strict JSON does not know\n"
        "    Take that out of the file: until then nothing in it counts, whoever wrote it.\n"
    )
    assert problem in ran.out
    assert ran.out.index(problem) < ran.out.index("Applied profile 'work'")
    assert ran.out.count(problem) == 1
    after = machine.read(CLAUDE)
    assert after.startswith('{\n  // my own notes\n  "permissions": { "allow": ["Read"] }, // enough\n')
    bare = "".join(line.partition("//")[0] if "http" not in line else line for line in after.splitlines())
    assert json.loads(bare)["env"]["ANTHROPIC_BASE_URL"] == ADDRESS
    assert machine.toolsync("undo", "--yes").code == 0
    assert machine.read(CLAUDE) == COMMENTED


def test_diff_and_status_report_it_too(machine: Machine) -> None:
    machine.write(CLAUDE, COMMENTED)
    with machine.untouched():
        assert "problem: Claude Code ignores the whole file" in machine.toolsync("diff").out
        status = machine.toolsync("status")
    assert status.code == 1
    assert "problem: Claude Code ignores the whole file" in status.out


def test_a_foreign_credential_is_refused(machine: Machine) -> None:
    """The user's own helper goes before the token that the plaintext way writes."""
    machine.profile('plaintext = "allow"\n\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    machine.write(CLAUDE, '{\n  "apiKeyHelper": "~/bin/my-helper.sh"\n}\n')
    with machine.untouched():
        ran = machine.toolsync("apply", "--yes", "--no-ping")
    where = "~/.claude/settings.json"
    assert ran.said == (2, _TWO_CREDENTIALS.format(f"{where}:5", f"{where}:2"))


_TWO_CREDENTIALS = (
    "error: Claude Code would send two different credentials: "
    "{} sets env.ANTHROPIC_AUTH_TOKEN; and {} sets apiKeyHelper\n"
    "  hint: Take apiKeyHelper out there; a foreign key must not reach this gateway.\n"
)


def test_a_key_in_the_login_of_claude_code_is_refused_in_the_plaintext_way(machine: Machine) -> None:
    machine.profile('plaintext = "allow"\n\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    machine.write(CLAUDE, "{}\n")
    machine.write(".claude.json", json.dumps({"primaryApiKey": invented("login")}))
    with machine.untouched():
        ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert ran.code == 2
    assert ran.err.startswith("error: Claude Code would send")
    assert "primaryApiKey" in ran.err
    assert invented("login") not in ran.err


def test_a_project_with_a_token_of_its_own_is_refused(machine: Machine) -> None:
    machine.write(CLAUDE, "{}\n")
    token = invented("project")
    machine.write("project/.claude/settings.local.json", json.dumps({"env": {"ANTHROPIC_AUTH_TOKEN": token}}))
    with machine.untouched():
        ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert ran.code == 2
    assert ran.err.startswith("error: Claude Code would send")
    assert "~/project/.claude/settings.local.json:1 sets env.ANTHROPIC_AUTH_TOKEN" in ran.err
    assert token not in ran.err


def test_a_header_of_a_project_that_wins_over_the_key_is_refused(machine: Machine) -> None:
    machine.write(CLAUDE, "{}\n")
    header = f"x-api-key: {invented('header')}"
    machine.write("project/.claude/settings.local.json", json.dumps({"env": {"ANTHROPIC_CUSTOM_HEADERS": header}}))
    with machine.untouched():
        ran = machine.toolsync("apply", "--yes", "--no-ping")
    text = (
        "error: Claude Code would send a key that is not this profile's, as the header x-api-key: "
        "~/project/.claude/settings.local.json:1 sets env.ANTHROPIC_CUSTOM_HEADERS\n"
        "  hint: Take env.ANTHROPIC_CUSTOM_HEADERS out there; a foreign key must not reach this gateway.\n"
    )
    assert ran.said == (2, text)
    assert invented("header") not in ran.out + ran.err


def test_a_project_that_redirects_is_named_and_ends_with_1(machine: Machine) -> None:
    machine.write(CLAUDE, "{}\n")
    machine.write("project/.claude/settings.json", '{\n  "env": { "ANTHROPIC_BASE_URL": "https://other.example" }\n}\n')
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert (ran.code, ran.err) == (1, "")
    problem = (
        "problem: Claude Code will use another address 'https://other.example': "
        "~/project/.claude/settings.json:2 sets env.ANTHROPIC_BASE_URL\n"
        "    Take env.ANTHROPIC_BASE_URL out there, or say `enabled = false` for claude-code.\n"
    )
    assert problem in ran.out
    assert ran.out.index(problem) < ran.out.index("Applied profile 'work'")
    assert ADDRESS in machine.read(CLAUDE)


def _ruled(machine: Machine, text: str) -> None:
    """A tool of the user's own, over whose settings an organisation's drop-in says this."""
    folder = machine.config.parent / "tools" / "acme"
    folder.mkdir(parents=True)
    (folder / "tool.toml").write_text(
        """
title = "Acme"
speaks = ["openai-chat"]
[key]
env = "${<key_variable>}"
plaintext = "<key>"
[[file]]
overlay = "settings.json"
path = "~/.acme/settings.json"
[[layer]]
name = "user"
overlay = "settings.json"
[[layer]]
name = "policy"
file = "~/.acme/policy.d/*.json"
managed = true
"""
    )
    (folder / "settings.json").write_text('{"url": "<openai_url>", "key": "<key_ref>"}')
    machine.write(".acme/policy.d/10.json", text)


def test_an_organisations_drop_in_is_named_and_nobody_is_told_to_edit_it(machine: Machine) -> None:
    _ruled(machine, '{\n  "url": "https://corp.example/v1"\n}\n')
    ran = machine.toolsync("apply", "--yes", "--no-ping", "--tool", "acme")
    assert (ran.code, ran.err) == (1, "")
    assert (
        "problem: Acme will use another address 'https://corp.example/v1': ~/.acme/policy.d/10.json:2 sets url\n"
        "    Your organisation manages that file: ask who keeps it to take url out, "
        "or say `enabled = false` for acme.\n"
    ) in ran.out


def test_an_organisations_key_is_refused_and_nobody_is_told_to_edit_it(machine: Machine) -> None:
    key = invented("organisation")
    _ruled(machine, json.dumps({"key": key}))
    with machine.untouched():
        ran = machine.toolsync("apply", "--yes", "--no-ping", "--tool", "acme")
    text = (
        "error: Acme would send a key that is not this profile's: ~/.acme/policy.d/10.json:1 sets key\n"
        "  hint: Your organisation manages that file: ask who keeps it to take key out; "
        "a foreign key must not reach this gateway.\n"
    )
    assert ran.said == (2, text)
    assert key not in ran.out + ran.err


def test_a_setting_with_which_the_tool_does_not_start_is_named_and_stays(machine: Machine) -> None:
    machine.write(".codex/config.toml", 'profile = "old"\n\n[model_providers.toolsync]\nwire_api = "chat"\n')
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert (ran.code, ran.err) == (1, "")
    problem = "problem: Codex CLI does not start with `profile` at ~/.codex/config.toml:1\n    Delete it there.\n"
    assert problem in ran.out
    assert ran.out.count("does not start with") == 1, "our own provider's is written anew"
    assert machine.read(".codex/config.toml").startswith('profile = "old"\n')


def test_what_a_project_says_begins_no_line_of_its_own(machine: Machine) -> None:
    machine.write(CLAUDE, "{}\n")
    value = json.dumps("https://other.example\nApplied profile 'work'\x1b[0m")
    machine.write("project/.claude/settings.json", f'{{"env": {{"ANTHROPIC_BASE_URL": {value}}}}}')
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert "will use another address 'https://other.example�Applied profile 'work'�[0m': " in ran.out


def test_leftovers_of_a_cloud_are_named_and_end_with_1(machine: Machine) -> None:
    machine.write(CLAUDE, '{"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}\n')
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert ran.code == 1
    assert "problem: Claude Code will use another cloud '1': ~/.claude/settings.json:1 sets" in ran.out


def test_a_cloud_that_the_shell_chooses_is_named_too(machine: Machine) -> None:
    machine.write(CLAUDE, "{}\n")
    machine.environ["CLAUDE_CODE_USE_VERTEX"] = "1"
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert ran.code == 1
    assert "problem: Claude Code will use another cloud '1': env.CLAUDE_CODE_USE_VERTEX of the shell\n" in ran.out


def test_keys_exported_by_the_shell_are_neutralised(machine: Machine) -> None:
    machine.write(CLAUDE, "{}\n")
    machine.environ |= {"ANTHROPIC_API_KEY": invented("stale"), "ANTHROPIC_AUTH_TOKEN": invented("staler")}
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert ran.said == (0, "")
    assert "problem" not in ran.out


def test_what_reads_a_settings_json_is_not_known_and_so_a_comment_is_no_problem(machine: Machine) -> None:
    machine.profile('\n[profiles.work.tool.settings-json]\npaths = ["~/service/settings.json"]\n')
    machine.write("service/settings.json", COMMENTED)
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert ran.said == (0, "")
    assert machine.read("service/settings.json").startswith(COMMENTED.partition(" // enough")[0])
