"""Real tools' settings in which somebody took out the way to what toolsync wrote: undo removes or names it."""

from __future__ import annotations

import json

from tests.acceptance.machine import Machine

CODE, CODEX = ".config/Code/User/settings.json", ".codex/config.toml"
APPLY = ("apply", "--yes", "--no-ping")


def test_a_variable_of_the_extension_that_lost_its_name_goes(machine: Machine) -> None:
    machine.write(".claude/settings.json", "{}\n")
    machine.write(CODE, '{ "editor.fontSize": 14 }\n')
    assert machine.toolsync(*APPLY).said == (0, "")
    data = json.loads(machine.read(CODE))
    [model] = [one for one in data["claudeCode.environmentVariables"] if one["name"] == "ANTHROPIC_MODEL"]
    del model["name"]
    machine.write(CODE, json.dumps(data))
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, "warning" in ran.out) == (0, False)
    assert json.loads(machine.read(CODE)) == {"editor.fontSize": 14}


def test_a_provider_whose_header_is_commented_out_is_named(machine: Machine) -> None:
    before = '[mcp_servers.x]\ncommand = "x"\n'
    machine.write(CODEX, before)
    assert machine.toolsync(*APPLY).said == (0, "")
    header = "[model_providers.toolsync]"
    assert header in machine.read(CODEX)
    machine.write(CODEX, machine.read(CODEX).replace(header, f"# {header}"))
    said = (
        "warning: ~/.codex/config.toml: model_providers.toolsync: is not where toolsync wrote it, and the same stands "
        "under 'mcp_servers.x': see whether that is a leftover\n"
    )
    for command in (("diff",), ("undo", "--yes")):
        ran = machine.toolsync(*command)
        assert ran.out.count(said) == 1, (command, ran)
    assert "https://gateway.example" in machine.read(CODEX)
    assert machine.toolsync("undo", "--yes").said == (0, "")
