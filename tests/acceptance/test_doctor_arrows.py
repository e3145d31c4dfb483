"""What doctor prints on a machine with the shipped tools: a way out that mends it, and `--fix` that goes all of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.acceptance.test_asking import terminal
from tests.acceptance.test_entry import Absent
from tests.conftest import needs
from tests.doctor.test_authority import made, served
from tests.keys import invented
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret

CLAUDE, CODEX, CLINE = ".claude/settings.json", ".codex/config.toml", ".cline/data/secrets.json"
PROJECT = "project/.claude/settings.local.json"
COPIED = '\n[profiles.work.tool.codex]\nkey_way = "plaintext"\n'


def _applied(
    machine: Machine, gateway: LoopbackGateway, tool: str, rest: str = "", *, key: str = "keyring:work"
) -> None:
    machine.profile(rest, base_url=gateway.base_url, key=key)
    ran = machine.toolsync("apply", "--tool", tool, "--yes", "--allow-plaintext")
    assert ran.code == 0, ran.err


def _variable_gone(machine: Machine, gateway: LoopbackGateway) -> str:
    machine.write(CODEX, "")
    machine.environ["GWK"] = KEY
    _applied(machine, gateway, "codex", COPIED, key="env:GWK")
    del machine.environ["GWK"]
    machine.write(CODEX, machine.read(CODEX).replace(KEY, "sk-other-key-0123456789abcdef"))
    return "codex"


def _command_gone(machine: Machine, gateway: LoopbackGateway) -> str:
    machine.write(CODEX, "")
    program = machine.write("print-key", f"#!/bin/sh\necho {KEY}\n")
    program.chmod(0o700)
    _applied(machine, gateway, "codex", key=f"command:{program}")
    program.unlink()
    return "codex"


def _other_cloud(machine: Machine, gateway: LoopbackGateway) -> str:
    machine.write(CLAUDE, "{}")
    machine.environ["GWK"] = KEY
    _applied(machine, gateway, "claude-code", key="env:GWK")
    machine.environ["CLAUDE_CODE_USE_BEDROCK"] = "1"
    return "claude-code"


def _named_variable(machine: Machine, gateway: LoopbackGateway) -> str:
    machine.write(CODEX, "")
    _applied(machine, gateway, "codex", '\n[profiles.work.tool.codex]\nkey_way = "env"\n')
    return "codex"


def _reference(machine: Machine, gateway: LoopbackGateway) -> str:
    machine.write(".cline/data/globalState.json", json.dumps({"actModeApiProvider": "openai"}))
    machine.write(CLINE, json.dumps({"openAiApiKey": "${RELAY_KEY}"}))
    machine.profile(base_url=gateway.base_url)
    return "cline"


def _own_key(machine: Machine, gateway: LoopbackGateway) -> str:
    """A key of the user's own, which no keyring can keep for `undo`."""
    machine.vault = Absent()
    machine.environ["GWK"] = KEY
    own = {"ANTHROPIC_BASE_URL": gateway.base_url, "ANTHROPIC_AUTH_TOKEN": invented("arrows-own")}
    machine.write(CLAUDE, json.dumps({"env": own}))
    machine.profile(base_url=gateway.base_url, key="env:GWK")
    return "claude-code"


def _project_key(machine: Machine, gateway: LoopbackGateway) -> str:
    """Somebody else's key, which a project would have sent to the profile's gateway: `apply` refuses."""
    machine.environ["GWK"] = KEY
    machine.profile(base_url=gateway.base_url, key="env:GWK")
    machine.write(PROJECT, json.dumps({"env": {"ANTHROPIC_API_KEY": invented("arrows-project")}})).chmod(0o600)
    return "claude-code"


def _in_repository(machine: Machine, gateway: LoopbackGateway) -> str:
    """Dotfiles that git keeps, and a tool that is to hold a copy of the key there."""
    needs(shutil.which("git"), "needs git")
    machine.environ["PATH"] = os.environ["PATH"]
    machine.write(CODEX, "")
    subprocess.run(["git", "init", "-q"], check=True, cwd=machine.home, env=machine.environ)
    machine.profile(COPIED, base_url=gateway.base_url)
    return "codex"


def _set(name: str) -> Callable[[Machine], None]:
    return lambda machine: machine.environ.update({name: KEY})


def _written(machine: Machine) -> None:
    machine.write("print-key", f"#!/bin/sh\necho {KEY}\n").chmod(0o700)


def _unset(machine: Machine) -> None:
    del machine.environ["CLAUDE_CODE_USE_BEDROCK"]


def _cleaned(machine: Machine) -> None:
    (machine.home / PROJECT).unlink()


def _nothing(_machine: Machine) -> None:
    """The command that is printed is all."""


ROWS = {
    "a variable that is gone": (_variable_gone, "Set GWK to the key", _set("GWK")),
    "a command that is gone": (_command_gone, "Mend the command that the profile takes it from", _written),
    "another cloud, by a variable": (_other_cloud, "unset CLAUDE_CODE_USE_BEDROCK", _unset),
    "a variable that toolsync named": (
        _named_variable,
        "Start it as `toolsync exec -- codex`, which sets TOOLSYNC_API_KEY",
        _set("TOOLSYNC_API_KEY"),
    ),
    "a key that no keyring can keep": (_own_key, "toolsync apply --tool claude-code --lose-old-values", _nothing),
    "what apply would refuse": (_project_key, "Take env.ANTHROPIC_API_KEY out there", _cleaned),
    "a copy in a repository": (
        _in_repository,
        "toolsync apply --tool codex --allow-plaintext --fix-gitignore",
        _nothing,
    ),
    "a reference, and no consent yet": (_reference, "toolsync apply --tool cline --allow-plaintext", _nothing),
}


@pytest.mark.parametrize(("broken", "expected", "by_hand"), ROWS.values(), ids=ROWS)
def test_what_the_arrow_says_mends_it(
    machine: Machine,
    gateway: LoopbackGateway,
    broken: Callable[..., str],
    expected: str,
    by_hand: Callable[[Machine], None],
) -> None:
    tool = broken(machine, gateway)
    one = machine.toolsync("doctor", tool, "--json").json["data"]["tools"][0]
    said = (one["findings"] or [one])[0]["fix"]
    assert said.startswith(expected)
    by_hand(machine)
    printed = re.search(r"toolsync (apply [a-z -]+)", said)
    if printed is not None:
        assert machine.toolsync(*printed[1].split(), "--yes").code == 0
    after = machine.toolsync("doctor", tool)
    assert after.code == 0, after.out


def test_a_copy_is_not_the_only_way_of_a_tool_that_has_a_variable_too(
    machine: Machine, gateway: LoopbackGateway
) -> None:
    """Agreed to, or asked of a variable: each program of Cline is told what is left for it then."""
    own = {
        "provider": "openai-compatible",
        "apiKey": "${KEY}",
        "model": "some-model",
        "baseUrl": f"{gateway.base_url}/v1",
    }
    entry = {"settings": own, "updatedAt": "2026-01-01T00:00:00.000Z"}
    held = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": entry}}
    machine.write(".cline/data/settings/providers.json", json.dumps(held))
    machine.profile(base_url=gateway.base_url)
    (told,) = re.findall(
        r"or from a variable: `toolsync (.*)`, then `toolsync (.*)`", machine.toolsync("doctor", "cline").out
    )
    for command in told:
        assert machine.toolsync(*command.split(), *(["--yes"] if command.startswith("apply") else [])).code == 0, (
            command
        )
    said = machine.toolsync("doctor", "cline").out
    assert "→ Start it as `toolsync exec -- cline`, which sets OPENAI_API_KEY for it alone" in said
    assert (
        "→ Cline (vscode) takes the key no other way than as a copy in its own file, where `key_way` says another"
        in said
    )
    for command in re.findall(r"`toolsync (profile edit work --unset [^`]*|apply --profile [^`]*)`", said):
        assert machine.toolsync(*command.split(), *(["--yes"] if command.startswith("apply") else [])).code == 0, (
            command
        )
    assert machine.toolsync("doctor", "cline").code == 0
    assert machine.toolsync("undo", "--yes").code == 0


def _impatient(machine: Machine, gateway: LoopbackGateway) -> None:
    """Seconds, where milliseconds are meant."""
    machine.environ["GWK"] = KEY
    machine.write(CLAUDE, "{}")
    _applied(machine, gateway, "claude-code", key="env:GWK")
    settings = json.loads(machine.read(CLAUDE))
    settings["env"]["API_TIMEOUT_MS"] = "60"
    machine.write(CLAUDE, json.dumps(settings))


def test_fix_goes_the_whole_chain(machine: Machine, gateway: LoopbackGateway) -> None:
    _impatient(machine, gateway)
    ran = machine.toolsync("doctor", "claude-code", "--fix", "--yes", "--json")
    assert [one["command"][0] for one in ran.json["data"]["fixed"]] == ["profile", "apply"]
    assert [message["text"] for message in ran.json["messages"]] == [
        "nothing is wrong any more (command lines that `--fix` ran: 2)"
    ]
    assert ran.code == 0


def test_fix_sets_up_what_it_may_and_goes_on_behind_what_it_may_not(machine: Machine, gateway: LoopbackGateway) -> None:
    for name, text in ((CLINE, "{}"), (CODEX, ""), (CLAUDE, "{}")):
        machine.write(name, text)
    machine.environ["GWK"] = KEY
    machine.profile(base_url=gateway.base_url, key="env:GWK")
    ran = machine.toolsync("doctor", "--fix", "--yes", "--json")
    assert [one["command"] for one in ran.json["data"]["fixed"]] == [
        ["apply", "--tool", "claude-code"],
        ["apply", "--tool", "codex"],
    ]
    left = [one["tool"] for one in ran.json["data"]["tools"] if one["state"] != "healthy"]
    assert ({*left}, KEY in machine.read(CLINE)) == ({"cline"}, False)
    assert [message["text"] for message in ran.json["messages"]] == [
        "something is left (command lines that `--fix` ran: 2)"
    ]


def test_fix_goes_on_behind_a_no_and_shows_what_it_found_once(machine: Machine, gateway: LoopbackGateway) -> None:
    for name in (CODEX, CLAUDE):
        machine.write(name, "{}" if name == CLAUDE else "")
    program = machine.write("print-key", f"#!/bin/sh\necho {KEY}\n")
    program.chmod(0o700)
    machine.profile(base_url=gateway.base_url, key=f"command:{program}")
    with terminal(machine, "doctor", "--fix") as screen:
        screen.past("not set up yet").past("Run `toolsync apply --tool claude-code`? [y/N]: ").answer("n\n")
        screen.until("Run `toolsync apply --tool codex`? [y/N]: ").answer("n\n")
        code = screen.ended()
    assert (code, "not set up yet" in screen.shown) == (3, False), screen.shown
    assert machine.read(CODEX) == ""


def test_fix_makes_the_first_profile_of_what_a_tool_has(machine: Machine, gateway: LoopbackGateway) -> None:
    machine.config.unlink()
    machine.environ["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/dev/null"  # with a keyring, a key is asked for
    machine.write(CLAUDE, "{}")
    table = f'[model_providers.q]\nname = "Q"\nbase_url = "{gateway.base_url}/v1/v1"\n'
    table += f'experimental_bearer_token = "{KEY}"\n'
    machine.write(CODEX, f'model = "some-model"\nmodel_provider = "q"\n{table}')
    command = f"toolsync init --base-url {gateway.base_url}/v1 --model some-model"
    with terminal(machine, "doctor", "--fix") as screen:
        screen.past(f"Run `{command}`? [y/N]: ").answer("y\n").past("Name of the profile [default]: ").answer("work\n")
        screen.until("Profile 'work' is ready").ended()
    assert f'"{gateway.base_url}/v1"' in machine.config.read_text(encoding="utf-8")


def test_fix_that_can_run_nothing_says_so(machine: Machine, gateway: LoopbackGateway) -> None:
    ran = machine.toolsync("doctor", _other_cloud(machine, gateway), "--fix", "--yes")
    assert ran.code == 1
    assert ran.out.count("none of them mends this") == 1


def test_fix_names_the_command_that_asks_where_nobody_is_there(machine: Machine, gateway: LoopbackGateway) -> None:
    machine.write(CODEX, "")
    _applied(machine, gateway, "codex", COPIED)
    gateway.key = Secret("another")
    ran = machine.toolsync("doctor", "--fix", "--yes")
    assert (ran.code, "none of them mends this" in ran.out) == (1, False), ran.out
    assert ran.out.count("`toolsync key rotate work` mends this, and asks for something") == 1, ran.out


def test_fix_stops_where_consent_is_missing_and_says_what_is_left(machine: Machine, gateway: LoopbackGateway) -> None:
    ran = machine.toolsync("doctor", _reference(machine, gateway), "--fix", "--yes")
    assert ran.code == 1
    assert "--allow-plaintext" in ran.out
    assert KEY not in machine.read(CLINE)


def test_one_wrong_key_of_three_programs_is_told_once(machine: Machine, gateway: LoopbackGateway) -> None:
    machine.write(CODEX, "")
    machine.write(CLINE, "{}")
    machine.profile(COPIED, base_url=gateway.base_url)
    assert machine.toolsync("apply", "--yes", "--allow-plaintext").code == 0
    gateway.key = Secret("another")
    whole, one = (machine.toolsync("doctor", *tool).out for tool in ((), ("codex",)))
    assert (whole.count("(key_invalid)"), whole.count("→ toolsync key rotate work\n")) == (1, 1), whole
    assert "\n  the same: Cline (cli), Codex CLI\n" in whole, whole
    assert ("    not: " in whole, "    not: " in one) == (False, True)


def test_a_chain_is_asked_about_once(machine: Machine, gateway: LoopbackGateway) -> None:
    _impatient(machine, gateway)
    with terminal(machine, "doctor", "claude-code", "--fix") as screen:
        chain = "toolsync profile edit work --set request.timeout_seconds=120 && toolsync apply --tool claude-code"
        screen.past(f"Run `{chain}`? [y/N]: ").answer("y\n")
        code = screen.ended()
    assert (code, "[y/N]" in screen.shown) == (0, False), screen.shown
    assert json.loads(machine.read(CLAUDE))["env"]["API_TIMEOUT_MS"] == "120000"


def test_each_is_told_the_variable_by_which_it_trusts_a_certificate(machine: Machine, tmp_path: Path) -> None:
    with served(made(tmp_path, None, is_critical=False)) as url:
        machine.write(CLAUDE, "{}")
        machine.write(CODEX, "")
        machine.write(CLINE, "{}")
        machine.environ["GWK"] = KEY
        machine.profile(base_url=url.removesuffix("/v1"), key="env:GWK")
        ran = machine.toolsync("apply", "--yes", "--allow-plaintext", "--no-ping")
        assert ran.code == 0, ran.err
        said = machine.toolsync("doctor").out
    told = [line for line in said.splitlines() if line.startswith("✗") or "the same" in line]
    assert told == [
        "✗ Claude Code: the certificate's issuer is not trusted here (tls_untrusted_ca)",
        "  the same: Cline (vscode), Cline (cli)",
        "✗ Codex CLI: the certificate's issuer is not trusted here (tls_untrusted_ca)",
    ]
    named = re.findall(r"name its file in (\w+), in the environment that (.*?) is started", " ".join(said.split()))
    assert named == [("NODE_EXTRA_CA_CERTS", "Claude Code"), ("CODEX_CA_CERTIFICATE", "Codex CLI")]


def test_a_file_that_cannot_be_written_is_made_writable_first(machine: Machine) -> None:
    machine.write(CLAUDE, "{}")
    with LoopbackGateway(Secret(KEY)) as gateway:
        _applied(machine, gateway, "claude-code")
        settings = machine.home / CLAUDE
        settings.write_text(settings.read_text().replace(gateway.base_url, "http://127.0.0.1:9"))
        settings.chmod(0o400)
        said = " ".join(machine.toolsync("doctor", "claude-code").out.split())
    assert re.search(r"→ Make it writable \(`chmod u\+w \S*settings.json`\), .* Then run `toolsync apply ", said), said
