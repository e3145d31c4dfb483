"""`env` and `hook`: the lines that a shell takes in, by the real command line."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.conftest import needs
from tests.key_print import program
from tests.keys import invented
from tests.shell.readers import is_there
from toolsync.masking import Secret

ALL = f"""export OPENAI_BASE_URL='{ADDRESS}/v1'
export OPENAI_API_BASE='{ADDRESS}/v1'
export OPENAI_API_KEY='{KEY}'
unset OPENAI_CUSTOM_HEADERS
unset OPENAI_ORG_ID
unset OPENAI_PROJECT_ID
export ANTHROPIC_BASE_URL='{ADDRESS}'
export ANTHROPIC_AUTH_TOKEN='{KEY}'
unset ANTHROPIC_API_KEY
unset ANTHROPIC_CUSTOM_HEADERS
export TOOLSYNC_API_KEY='{KEY}'
"""
GATEWAY = 'gateway = "{}"\n'


def test_without_a_tool_libraries_are_served(machine: Machine) -> None:
    ran = machine.toolsync("env", "--shell", "sh")
    assert (ran.code, ran.out, ran.err) == (0, ALL, "")


@pytest.mark.parametrize(
    ("gateway", "there", "not_there"),
    [
        ("anthropic", ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"], ["OPENAI_BASE_URL", "GEMINI_API_KEY"]),
        ("openai", ["OPENAI_BASE_URL", "OPENAI_API_KEY"], ["ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY"]),
        ("taotoken", ["OPENAI_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "TAOTOKEN_API_KEY"], ["GEMINI_API_KEY"]),
    ],
)
def test_what_the_gateway_does_not_serve_is_left_out(
    machine: Machine, gateway: str, there: list[str], not_there: list[str]
) -> None:
    machine.profile(GATEWAY.format(gateway))
    out = machine.toolsync("env", "--shell", "sh").out
    assert [name for name in there if f"export {name}=" not in out] == []
    assert [name for name in not_there if f"export {name}=" in out] == []


def test_a_tool_alone_gets_its_own(machine: Machine) -> None:
    machine.profile('[profiles.work.tool.claude-code]\nmodel = "it\'s"\n')
    ran = machine.toolsync("env", "--shell", "fish", "--tool", "claude-code")
    assert ran.out.splitlines() == [
        f"set -gx ANTHROPIC_BASE_URL '{ADDRESS}'",
        f"set -gx ANTHROPIC_AUTH_TOKEN '{KEY}'",
        "set -gx ANTHROPIC_API_KEY ''",
        "set -gx ANTHROPIC_MODEL 'it\\'s'",
        "set -eg ANTHROPIC_CUSTOM_HEADERS; set -q ANTHROPIC_CUSTOM_HEADERS; and set -gx ANTHROPIC_CUSTOM_HEADERS ''",
    ]


def test_a_tool_on_path_adds_what_it_takes_beside(machine: Machine) -> None:
    machine.write("bin/claude", "#!/bin/sh\n").chmod(0o755)
    machine.environ["PATH"] = str(machine.home / "bin")
    assert machine.toolsync("env", "--shell", "sh").out == f"{ALL}export ANTHROPIC_MODEL='some-model'\n"


def test_a_tool_that_would_hold_a_copy_is_led_to_its_environment(machine: Machine) -> None:
    machine.profile()
    ran = machine.toolsync("env", "--shell", "sh", "--tool", "cline")
    edit, apply = "profile edit work --set tool.cline.key_way=env", "apply --profile work --tool cline"
    assert f"`toolsync {edit} && toolsync {apply}` sets them." in ran.err
    assert machine.toolsync(*edit.split()).code == 0
    assert machine.toolsync(*apply.split(), "--yes", "--no-ping").code == 0
    assert KEY not in machine.read(".cline/data/settings/providers.json")
    assert machine.toolsync("env", "--shell", "sh", "--tool", "cline").err == ""


@pytest.mark.parametrize("tool", ["codex", "config-toml"])
def test_the_variable_that_a_file_names_is_the_articles_export(machine: Machine, tool: str) -> None:
    machine.profile(f'{GATEWAY.format("taotoken")}[profiles.work.tool.{tool}]\nkey_way = "env"\n')
    assert machine.toolsync("env", "--shell", "sh", "--tool", tool).out == f"export TAOTOKEN_API_KEY='{KEY}'\n"
    assert machine.toolsync("env", "--shell", "powershell", "--tool", tool).out == f"$env:TAOTOKEN_API_KEY = '{KEY}'\n"


def test_whoever_asks_for_a_key_alone_is_told_where_the_address_stands(machine: Machine) -> None:
    machine.profile('[profiles.work.tool.codex]\nkey_way = "env"\n')
    machine.write(".codex/config.toml", "")
    said = (
        "warning: Codex CLI takes the key from its environment, and its address and model from its own settings, "
        "which are not set to 'work'\n    `toolsync apply --profile work --tool codex` sets them.\n"
    )
    ran = machine.toolsync("env", "--shell", "sh", "--tool", "codex")
    assert (ran.code, ran.out, ran.err) == (0, f"export TOOLSYNC_API_KEY='{KEY}'\n", said)
    assert machine.toolsync("apply", "--profile", "work", "--tool", "codex", "--yes", "--no-ping").code == 0
    assert machine.toolsync("env", "--shell", "sh", "--tool", "codex").err == ""
    assert machine.toolsync("env", "--shell", "sh", "--tool", "config-toml").err == ""


@pytest.mark.parametrize(("program", "dialect"), [("bash", "sh"), ("zsh", "sh"), ("pwsh", "powershell")])
def test_a_shell_may_be_called_as_its_program(machine: Machine, program: str, dialect: str) -> None:
    as_program, as_dialect = (machine.toolsync("env", "--shell", name) for name in (program, dialect))
    assert (as_program.code, as_program.out) == (0, as_dialect.out)
    assert machine.toolsync("hook", "--shell", program, "--tool", "claude-code").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--shell", "csh"), "error: unknown shell 'csh'\n  hint: Known: sh,", id="unknown"),
        pytest.param(("--shell", "powershel"), "  hint: Did you mean 'powershell'?", id="misspelled"),
        pytest.param(("--tool", "codex"), "error: Codex CLI takes nothing from its environment", id="no need"),
        pytest.param(("--tool", "nope"), "error: unknown tool 'nope'", id="unknown tool"),
        pytest.param(
            ("--tool", "cline", "--tool", "claude-code", "--profile", "x"), "there is no profile", id="profile"
        ),
    ],
)
def test_what_cannot_be_is_refused(machine: Machine, arguments: tuple[str, ...], said: str) -> None:
    ran = machine.toolsync("env", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_what_a_shell_cannot_be_given_is_refused_whole(machine: Machine) -> None:
    machine.profile('[profiles.work.request.headers]\nX-A = "1"\nX-B = "2"\n')
    ran = machine.toolsync("env", "--shell", "cmd")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(
        "error: OPENAI_CUSTOM_HEADERS holds a line break or a control character, which cmd cannot"
    )


def test_tools_that_want_a_variable_differently_are_asked_for_apart(machine: Machine) -> None:
    own = machine.config.parent / "tools" / "mine"
    own.mkdir(parents=True)
    (own / "tool.toml").write_text(
        '[key]\nplaintext = "<key>"\n[[file]]\noverlay = "a.json"\npath = "~/a.json"\n'
        '[[layer]]\nname = "shell"\nenvironment = "env"\n[[layer]]\nname = "user"\noverlay = "a.json"\n'
    )
    (own / "a.json").write_text('{"env": {"ANTHROPIC_MODEL": "other"}}')
    ran = machine.toolsync("env", "--tool", "mine", "--tool", "claude-code")
    assert ran.err.startswith("error: mine and Claude Code want $ANTHROPIC_MODEL differently\n")


ASTRAY = (
    "warning: Codex CLI is set to profile 'second', and would send its gateway the key of 'work' from "
    "$TOOLSYNC_API_KEY\n    `toolsync exec -- codex` gives it its own.\n"
)
APART = "error: Codex CLI is set to profile 'second', and Claude Code to 'work'"


def test_a_tool_that_is_set_to_another_profile_is_given_that_ones_key_or_named(machine: Machine) -> None:
    machine.write(".codex/config.toml", "")
    machine.vault.set("second", Secret(invented("second")))
    machine.profile(
        '\n[profiles.second]\nbase_url = "https://second.example"\nmodel = "m"\nkey = "keyring:second"\n'
        '[profiles.second.tool.codex]\nkey_way = "env"\n'
    )
    assert machine.toolsync("apply", "-p", "second", "--tool", "codex", "--yes", "--no-ping").code == 0
    ran = machine.toolsync("env", "--shell", "sh")
    assert (KEY in ran.out, ran.err) == (True, ASTRAY)
    ran = machine.toolsync("env", "--shell", "sh", "--tool", "codex")
    assert (invented("second") in ran.out, KEY in ran.out, ran.err) == (True, False, "")
    ran = machine.toolsync("env", "--shell", "sh", "--tool", "codex", "--tool", "claude-code")
    assert (ran.code, ran.out, ran.err.splitlines()[0]) == (2, "", APART)
    assert machine.toolsync("env", "--shell", "sh", "--profile", "second").err == ""


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("more", "is_shown"), [((), False), (("--reveal",), True)], ids=["as it is", "--reveal"])
def test_a_terminal_is_not_shown_the_key_unasked(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], is_shown: bool
) -> None:
    screen = _Terminal(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", screen)
    ran = machine.toolsync("env", "--shell", "sh", "--tool", "claude-code", *more)
    assert isinstance(screen.buffer, io.BytesIO)
    lines = screen.buffer.getvalue().decode().splitlines()
    assert lines[:2] == [
        f"export ANTHROPIC_BASE_URL='{ADDRESS}'",
        f"export ANTHROPIC_AUTH_TOKEN='{KEY if is_shown else '***'}'",
    ]
    assert ('eval "$(toolsync env --shell sh --tool claude-code)"' in ran.err) is not is_shown


def _into(machine: Machine, file: Path, mode: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said where the lines go into that file."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, mode), "w", encoding="utf-8") as out:
        file.chmod(mode)
        monkeypatch.setattr(sys, "stdout", out)
        ran = machine.toolsync("env", "--shell", "systemd", "--tool", "claude-code")
    assert (ran.code, f'ANTHROPIC_AUTH_TOKEN="{KEY}"\n' in file.read_text()) == (0, True)
    file.unlink()
    return ran.err


@pytest.mark.parametrize(("mode", "is_warned"), [(0o644, True), (0o600, False)])
def test_a_file_that_others_may_read_is_called_out(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, mode: int, is_warned: bool
) -> None:
    said = _into(machine, machine.home / "a b.env", mode, monkeypatch)
    assert said == is_warned * (
        "warning: ~/a b.env holds the key now, and others may read it\n"
        f"    Shut it: `chmod 600 '{machine.home}/a b.env'`.\n"
    )


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("true", "git does not ignore it\n    Add to ~/repo/.gitignore: `/.env`"),
        ("git add -f .env", "git tracks it\n    `git rm --cached {}` makes git forget the file, which stays."),
        ("echo .env >.gitignore", ""),
    ],
    ids=["exposed", "tracked", "ignored"],
)
def test_a_file_that_git_would_take_is_called_out(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, before: str, said: str
) -> None:
    file = machine.write("repo/.env", "")
    machine.environ["PATH"] = os.environ["PATH"]
    subprocess.run(["sh", "-c", f"git init -q . && {before}"], cwd=file.parent, check=True, timeout=60)
    told = f"warning: ~/repo/.env holds the key now, and {said.format(file)}\n" if said else ""
    assert _into(machine, file, 0o600, monkeypatch) == told


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("sh", 'eval "$({} env --tool claude-code)"; env'),
        ("bash", 'eval "$({} env --tool claude-code)"; env'),
        ("zsh", 'eval "$({} env --tool claude-code)"; env'),
        ("fish", "{} env --tool claude-code | source; env"),
    ],
)
def test_the_shell_that_asks_is_known(machine: Machine, shell: str, line: str) -> None:
    needs(is_there(shell), f"{shell} is not installed")
    machine.profile(key="env:WORK_KEY")
    environ = {**machine._environ(), "PATH": "/usr/bin:/bin", "SHELL": "/bin/tcsh", "WORK_KEY": KEY}
    toolsync = " ".join(f"'{word}'" for word in program(is_isolated=False))
    argv = [shell, "-c", line.format(toolsync)]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=True, timeout=30)
    assert f"ANTHROPIC_AUTH_TOKEN={KEY}" in done.stdout.splitlines()
    assert done.stderr == ""


# hook


def test_a_hook_wraps_what_takes_something_and_is_there(machine: Machine) -> None:
    for name in ("claude", "codex"):
        machine.write(f"bin/{name}", "#!/bin/sh\n").chmod(0o755)
    machine.environ["PATH"] = str(machine.home / "bin")
    out = machine.toolsync("hook", "--shell", "bash").out
    call = f"'{sys.executable}' -I -m toolsync --config '{machine.config}' exec '--' claude"
    assert out == f'unalias claude 2>/dev/null || :\nfunction claude {{ {call} "$@"; }}\n'


def test_a_hook_leaves_alone_what_would_not_be_started(machine: Machine) -> None:
    for name in ("claude", "codex"):
        machine.write(f"bin/{name}", "#!/bin/sh\n").chmod(0o755)
    machine.environ["PATH"] = str(machine.home / "bin")
    machine.profile('[profiles.work.tool.codex]\nkey_way = "env"\n')
    assert "codex" not in machine.toolsync("hook", "--shell", "bash").out
    machine.toolsync("apply", "--yes", "--force", "--tool", "codex")
    assert "function codex {" in machine.toolsync("hook", "--shell", "bash").out


def test_a_hook_is_whole_though_the_profile_of_one_tool_cannot_be_had(machine: Machine) -> None:
    """A shell that starts with an error, and runs no tool with its key, is no way to say so; `exec` says it."""
    for name in ("claude", "codex"):
        machine.write(f"bin/{name}", "#!/bin/sh\n").chmod(0o755)
        machine.write(f".{name}/{'settings.json' if name == 'claude' else 'config.toml'}", "")
    machine.environ["PATH"] = str(machine.home / "bin")
    team = '[profiles.team]\nbase_url = "https://team.example"\nmodel = "m"\nkey = "keyring:work"\n'
    machine.profile(team)
    assert machine.toolsync("apply", "--yes", "--no-ping", "--profile", "team").code == 0
    machine.profile('[profiles.team]\nfrom = "~/team.toml"\n')
    ran = machine.toolsync("hook", "--shell", "bash")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[1] for line in ran.out.splitlines() if line.startswith("function")] == ["claude"]
    ran = machine.toolsync("exec", "--", "claude")
    assert (ran.code, "~/team.toml is not there" in ran.err) == (2, True)


def test_a_hook_holds_no_key_and_asks_for_none(machine: Machine) -> None:
    machine.profile(key="command:/nonexistent/keeper")
    ran = machine.toolsync("hook", "--shell", "zsh", "--tool", "claude-code", "--profile", "work")
    assert (ran.code, ran.err) == (0, "")
    assert "exec --profile work '--' claude" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--tool", "codex"), "Codex CLI takes nothing from its environment", id="no need"),
        pytest.param(("--shell", "cmd"), "unknown shell 'cmd'", id="no functions"),
    ],
)
def test_a_hook_of_nothing_is_refused(machine: Machine, arguments: tuple[str, ...], said: str) -> None:
    ran = machine.toolsync("hook", *(arguments if "--shell" in arguments else ("--shell", "sh", *arguments)))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize(
    ("has_profile", "said"),
    [(False, "there is no profile yet"), (True, "no tool on PATH takes anything from its environment, as 'work'")],
)
def test_a_hook_of_nothing_is_a_remark_that_shells_pass_over(machine: Machine, *, has_profile: bool, said: str) -> None:
    if not has_profile:
        machine.config.unlink()
    for shell in ("sh", "bash", "zsh", "fish", "powershell"):
        ran = machine.toolsync("hook", "--shell", shell)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(f"# toolsync: {said}")
        assert ran.out.count("\n") == 1
    if is_there("sh"):
        done = subprocess.run(["sh", "-c", 'eval "$1"', "-", ran.out], capture_output=True, check=True, timeout=30)
        assert done.stdout + done.stderr == b""


def test_a_hook_in_a_shell_runs_the_tool_with_the_key(machine: Machine, tmp_path: Path) -> None:
    needs(is_there("bash"), "bash is not installed")
    machine.write("bin/claude", '#!/bin/sh\necho "$ANTHROPIC_AUTH_TOKEN|$1|$#"\nexit 5\n').chmod(0o755)
    machine.profile(key="env:WORK_KEY")
    path = f"{machine.home}/bin:/usr/bin:/bin"
    machine.environ["PATH"] = path
    functions = tmp_path / "hook"
    functions.write_text(machine.toolsync("hook", "--shell", "bash").out)
    needs(program() == [sys.executable, "-I", "-m", "toolsync"], "toolsync is not installed")
    environ = {**machine._environ(), "WORK_KEY": KEY, "PATH": path}
    line = f'. {functions}; [ -z "$ANTHROPIC_AUTH_TOKEN" ] && claude "a b"; echo $?'
    done = subprocess.run(["bash", "-c", line], env=environ, capture_output=True, text=True, check=True, timeout=30)
    assert (done.stdout, done.stderr) == (f"{KEY}|a b|1\n5\n", "")
