"""What people try, what they mistype, and what they are told next."""

from __future__ import annotations

import json
import os
import shlex
import sys

import pytest

from tests.acceptance.machine import Machine
from tests.acceptance.test_asking import QUESTION, terminal

CODEX, CLAUDE = ".codex/config.toml", ".claude/settings.json"
SETTINGS = '\n[profiles.work.tool.settings-json]\npaths = ["~/service/settings.json"]\n'
APPLY = ("apply", "--yes", "--no-ping")


@pytest.fixture
def ready(machine: Machine) -> Machine:
    machine.write(CODEX, 'model = "mine"\n')
    return machine


def test_a_refusal_with_data_says_why_in_errors_too(ready: Machine) -> None:
    ready.profile("\n[profiles.work.tool.codex]\nenabled = false\n")
    for words in (("ping",), APPLY, ("diff",), ("status",)):
        said = ready.toolsync(*words, "--tool", "codex", "--json").json
        assert (said["exit_code"], said["data"] is None, len(said["errors"])) == (2, False, 1)
        assert said["errors"][0]["message"].endswith("sets enabled = false for it")


def test_an_answer_that_is_none_is_asked_for_again(ready: Machine) -> None:
    with ready.untouched(), terminal(ready, "apply", "--no-ping") as screen:
        screen.until(QUESTION).answer("maybe\n").past("error: answer with y or n").until(QUESTION).answer("n\n")
        assert screen.ended() == 2


def test_the_question_sums_up_what_it_is_about(ready: Machine) -> None:
    ready.write(CLAUDE, "{}\n")
    with ready.untouched():
        ran = ready.toolsync("apply", "--no-ping")
    assert ran.out.endswith("Profile 'work': 2 files to change (Claude Code, Codex CLI).\n")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("show",), "`toolsync profile show` shows the profile."),
        (("help",), "`toolsync --help` lists the commands."),
        (("rotate",), "`toolsync key rotate` replaces the key, here and in every copy."),
        (("apply", "--dry-run"), "`toolsync diff` shows what `toolsync apply` would change, and writes nothing."),
        (("--json", "status"), "It stands behind the command: `toolsync status --json`."),
        (("--jsn", "status"), "`toolsync --help` shows how."),
        (("apply", "codex"), "A tool is named so: `toolsync apply --tool NAME`."),
    ],
)
def test_what_people_try_leads_on(machine: Machine, words: tuple[str, ...], hint: str) -> None:
    ran = machine.toolsync(*words)
    said = ran.json["errors"][0]["hint"] if "--json" in words else ran.err.partition("  hint: ")[2].rstrip("\n")
    assert (ran.code, said) == (2, hint)


def test_undo_takes_a_tool_as_the_other_commands_do(ready: Machine) -> None:
    assert ready.toolsync(*APPLY).code == 0
    assert "Did you mean 'codex'?" in ready.toolsync("undo", "codx", "--yes").err
    assert ready.toolsync("undo", "--tool", "codex", "--yes").said == (0, "")
    assert ready.read(CODEX) == 'model = "mine"\n'


def test_a_tool_that_reads_a_variable_is_told_how_to_get_it(ready: Machine) -> None:
    ready.profile(SETTINGS)
    line = 'export TOOLSYNC_API_KEY="$(toolsync key print work)"'
    assert ready.toolsync(*APPLY).out.count(line) == 1
    ready.profile(SETTINGS, key="env:TOOLSYNC_API_KEY")
    assert line not in ready.toolsync(*APPLY).out


def test_one_broken_file_names_the_way_to_the_others(ready: Machine) -> None:
    ready.write("service/settings.json", "{}\n")
    ready.profile(SETTINGS)
    assert ready.toolsync(*APPLY).code == 0
    ready.write("service/settings.json", "{ broken")
    assert ready.toolsync(*APPLY).err.endswith(" `--tool NAME` applies one tool alone.\n")
    assert ready.toolsync("undo", "--yes").err.endswith(" `toolsync undo codex` gives the rest back.\n")
    assert ready.toolsync("undo", "codex", "--yes").said == (0, "")


def test_undo_names_a_file_that_is_gone(ready: Machine) -> None:
    ready.write("service/settings.json", "{}\n")
    ready.profile(SETTINGS)
    assert ready.toolsync(*APPLY).code == 0
    (ready.home / "service/settings.json").unlink()
    gone = "warning: ~/service/settings.json is gone: what undo would give back there is forgotten\n"
    assert gone in ready.toolsync("undo", "--yes").out


def test_status_names_the_profile_that_is_applied_and_a_variable_that_is_not_set(ready: Machine) -> None:
    assert ready.toolsync(*APPLY).code == 0
    assert ready.toolsync("status").out.startswith("Profile 'work' is applied.\nTool ")
    ready.profile(key="env:NOT_SET")
    assert "warning: env:NOT_SET is not set here" in ready.toolsync("status").out


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('key=command:sh -c "echo', "the key's command cannot be split into words: No closing quotation"),
        ("key=command:./key.sh", "'./key.sh' is no absolute path"),
        ("key=command:~/key.sh", "'~/key.sh' is no absolute path"),
        ("tool.codex.key_way=keyring", "Codex CLI cannot take its key by 'keyring'"),
        (
            "tool.cc-switch.key_way=plaintext",
            "Its rows hold what is said by tool.claude-code.key_way, tool.codex.key_way.",
        ),
        ("gateway=taotokn", "unknown gateway 'taotokn'"),
    ],
)
def test_what_cannot_work_is_said_when_it_is_set(machine: Machine, setting: str, said: str) -> None:
    ran = machine.toolsync("profile", "edit", "--set", setting)
    assert (ran.code, said in ran.out, ran.out.count("warning: ")) == (0, True, 1)


def test_a_gateway_without_a_key_says_so(machine: Machine) -> None:
    ran = machine.toolsync("init", "loc", "--gateway", "ollama", "--model", "llama3")
    assert "Ollama looks at no key, and tools want one: any word will do.\n" in ran.out
    again = machine.toolsync("init", "loc", "--gateway", "ollama", "--model", "llama3")
    assert "Profile 'loc' is there already, and says the same.\n" in again.out


def _drafts(machine: Machine) -> list[str]:
    return [path.name for path in machine.config.parent.glob(".toolsync-profile-*")]


@pytest.mark.parametrize("editor", ["/nowhere/editor", "false"], ids=["missing", "gives up"])
def test_an_editor_that_did_nothing_leaves_no_draft(machine: Machine, editor: str) -> None:
    machine.environ |= {"EDITOR": editor, "PATH": os.environ["PATH"]}
    with terminal(machine, "profile", "edit") as screen:
        assert screen.ended() == 2
    assert _drafts(machine) == []


def test_a_draft_that_was_not_taken_over_is_named_then_and_by_uninstall(machine: Machine) -> None:
    program = "import sys; open(sys.argv[1], 'a').write('[broken')"
    machine.environ["EDITOR"] = shlex.join([sys.executable, "-c", program])
    with terminal(machine, "profile", "edit") as screen:
        assert screen.until("Open it again? [Y/n]: ").answer("n\n").ended() == 2
    (draft,) = _drafts(machine)
    assert screen.shown.count(draft) > 1
    assert draft in json.dumps(machine.toolsync("uninstall", "--yes", "--json").json["data"]["left"])


def test_a_profile_that_there_is_not_opens_no_editor(machine: Machine) -> None:
    with terminal(machine, "profile", "edit", "nope") as screen:
        assert screen.ended() == 2


def test_the_shell_can_complete(machine: Machine) -> None:
    ran = machine.child(_TOOLSYNC_COMPLETE="complete_bash", COMP_WORDS="toolsync pro", COMP_CWORD="1")
    assert ran.out.split() == ["profile"]
