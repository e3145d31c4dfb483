"""Claude Code, Codex, Cline, CC Switch and both generic files: one apply, one undo, and every byte is as it was."""

from __future__ import annotations

from tests.acceptance.machine import KEY, Machine
from tests.acceptance.switch import CLAUDE, CODEX, LIVE, contents, furnished, models
from tests.store.cc_switch import Home
from toolsync.loopback import LoopbackGateway

FILES = {
    ".config/Code/User/settings.json": '// mine\n{\n\t"editor.fontSize": 13, // small\n}\n',
    ".cline/data/globalState.json": '{"mode":"plan","planModeApiProvider":"deepseek"}',
    ".cline/data/secrets.json": '{\n  "deepSeekApiKey": "theirs"\n}',
    ".cline/data/settings/providers.json": '{ "version": 1, "modes": {}, "providers": {} }\n',
    "service/config.toml": '[api]\nbase_url = "https://old.example/v1" # old\napi_key = "${OLD}"\n',
    "service/settings.json": '{\r\n\t"apiKey": "${OLD}"\r\n}\r\n',
}
PROFILE = """plaintext = "allow"

[profiles.work.tool.config-toml]
paths = ["~/service/config.toml"]

[profiles.work.tool.settings-json]
paths = ["~/service/settings.json"]
"""
TOOLS = {"cc-switch", "cc-switch-opencode", "claude-code", "cline", "codex", "config-toml", "settings-json"}


def _furnished(machine: Machine, gateway: LoopbackGateway) -> Home:
    for name, text in FILES.items():
        machine.write(name, text)
    (machine.home / ".config/opencode").mkdir()
    machine.profile(PROFILE, base_url=gateway.base_url)
    return furnished(machine)


def test_one_apply_and_one_undo(machine: Machine, gateway: LoopbackGateway) -> None:
    switch = _furnished(machine, gateway)
    rows, home = switch.everything(), contents(machine)
    modes = {name: entry.mode for name, entry in machine.entries().items()}

    ran = machine.toolsync("apply", "--yes", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert {tool["tool"] for tool in ran.json["data"]["tools"]} == TOOLS
    assert {ping["status"] for ping in ran.json["data"]["pings"]} == {200}
    assert KEY not in ran.out
    after = contents(machine)
    assert {name for name in home if after[name] == home[name]} == set()
    assert models(switch) == ("some-model", "some-model")
    assert machine.toolsync("status").code == 0
    assert machine.toolsync("apply", "--yes", "--json").json["data"]["written"] == 0

    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert (switch.everything(), contents(machine)) == (rows, home)
    assert {name: entry.mode for name, entry in machine.entries().items() if name in modes} == modes
    assert (machine.memory["files"], machine.kept) == ({}, {"work"})
    assert home[CLAUDE].decode() == LIVE[CLAUDE]
    assert home[CODEX].decode() == LIVE[CODEX]


def test_a_gateway_that_does_not_answer_leaves_all_as_it_is(machine: Machine, gateway: LoopbackGateway) -> None:
    switch = _furnished(machine, gateway)
    machine.profile(PROFILE, base_url=f"{gateway.base_url}/nowhere")
    rows = switch.everything()
    with machine.untouched():
        assert machine.toolsync("apply", "--yes").code == 2
    assert switch.everything() == rows


def test_one_file_that_cannot_be_read_leaves_all_as_it_is(machine: Machine, gateway: LoopbackGateway) -> None:
    switch = _furnished(machine, gateway)
    machine.write(CODEX, "[broken\n")
    rows = switch.everything()
    with machine.untouched():
        ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert (ran.code, "~/.codex/config.toml:1:8" in ran.err) == (2, True), ran.err
    assert switch.everything() == rows


def test_what_rows_hold_is_pinged_as_their_tools_would_ask(machine: Machine, gateway: LoopbackGateway) -> None:
    _furnished(machine, gateway)
    ran = machine.toolsync("apply", "--yes", "--tool", "cc-switch", "--json")
    assert [(ping["dialect"], ping["tools"]) for ping in ran.json["data"]["pings"]] == [
        ("anthropic-messages", ["cc-switch"]),
        ("openai-responses", ["cc-switch"]),
    ]
