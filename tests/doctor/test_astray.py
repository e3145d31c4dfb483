"""The key of one of the user's profiles at the address of another: no key goes out, and the way back is named."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.keys import invented
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret

CODEX = ".codex/config.toml"


@pytest.fixture
def renamed(machine: Machine, gateway: LoopbackGateway) -> Machine:
    """Codex was set to `home`, which is called `haus` now, and another profile is called `home`."""
    machine.vault.set("home", Secret(KEY))
    machine.write(CODEX, "")
    machine.profile(_profile("home", gateway.base_url, "keyring:home"))
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex", "--profile", "home").code == 0
    assert machine.toolsync("profile", "rename", "home", "haus").code == 0
    text = machine.config.read_text(encoding="utf-8") + _profile("home", "https://third.example/v1", "env:THIRD_KEY")
    machine.config.write_text(text, encoding="utf-8")
    gateway.forget()
    return machine


def _profile(name: str, address: str, key: str) -> str:
    return f'\n[profiles.{name}]\nbase_url = "{address}"\nmodel = "some-model"\nkey = "{key}"\n'


def _doctor(machine: Machine, *words: str) -> tuple[int, dict[str, Any]]:
    ran = machine.toolsync("doctor", "--json", *words)
    return ran.code, ran.json["data"]["tools"][0]


@pytest.mark.parametrize("name", ["home", "work"])
def test_a_file_that_asks_for_the_key_of_another_profile(renamed: Machine, gateway: LoopbackGateway, name: str) -> None:
    renamed.write(CODEX, renamed.read(CODEX).replace('"home"', f'"{name}"'))
    code, said = _doctor(renamed, "codex")
    assert (code, said["state"], gateway.received) == (1, "problem", ())
    first = said["findings"][0]
    command = ["apply", "--tool", "codex", "--profile", "haus"]
    assert (first["cause"], first["certainty"], first["command"]) == ("foreign_credential", "sure", command)
    assert f"asks for the key of profile '{name}', and the address is that of profile 'haus'" in first["evidence"][0]
    assert "key rotate" not in json.dumps(said)
    assert renamed.toolsync(*first["command"], "--yes", "--no-ping").code == 0
    assert '"haus"' in renamed.read(CODEX)


@pytest.mark.parametrize("value", [KEY, invented("third")])
def test_a_variable_with_the_key_of_another_profile_is_told_from_one_with_its_own(
    machine: Machine, gateway: LoopbackGateway, value: str
) -> None:
    machine.write(".claude/settings.json", "{}")
    machine.environ |= {"THIRD_KEY": invented("third"), "ANTHROPIC_AUTH_TOKEN": value}
    machine.environ["ANTHROPIC_BASE_URL"] = gateway.base_url
    machine.profile(_profile("third", "https://third.example/v1", "env:THIRD_KEY"), base_url=gateway.base_url)
    _, said = _doctor(machine, "claude-code")
    is_own = value == KEY
    assert bool(gateway.received) == is_own
    told = [line for one in said["findings"] for line in one["evidence"]]
    assert any("gives the key of profile 'third'" in line for line in told) != is_own


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_copy_of_a_key_that_two_profiles_have_in_common(
    machine: Machine, gateway: LoopbackGateway, *, is_moved: bool
) -> None:
    files = (".cline/data/globalState.json", ".cline/data/settings/providers.json")
    for file in files:
        machine.write(file, "{}")
    machine.environ["SECOND_KEY"] = KEY
    machine.profile(_profile("second", gateway.base_url, "env:SECOND_KEY"))
    apply = ("apply", "--yes", "--no-ping", "--allow-plaintext", "--tool", "cline", "--profile", "second")
    ran = machine.toolsync(*apply)
    assert ran.code == 0, ran.err
    del machine.environ["SECOND_KEY"]  # it was set for that shell only
    if is_moved:
        text = machine.config.read_text(encoding="utf-8").replace(gateway.base_url, "https://second.example")
        machine.config.write_text(text, encoding="utf-8")
        machine.write(files[0], machine.read(files[0]).replace(gateway.base_url, "https://second.example"))
    _, said = _doctor(machine, "cline")
    sent = any(one.credentials for one in gateway.received)
    assert (sent, "foreign_credential" in json.dumps(said)) == (not is_moved, is_moved)


def test_an_address_that_was_changed_to_another_profiles_is_asked_without_the_key(
    machine: Machine, gateway: LoopbackGateway
) -> None:
    machine.write(CODEX, "")
    machine.profile(_profile("third", gateway.base_url, "env:THIRD_KEY"))
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex").code == 0
    machine.write(CODEX, machine.read(CODEX).replace("https://gateway.example/api/v1", gateway.base_url))
    _, said = _doctor(machine, "codex")
    assert gateway.received == ()
    assert [one["cause"] for one in said["findings"]] == ["foreign_credential", "config_drift"]
    assert said["findings"][0]["command"] == ["apply", "--tool", "codex"]
    assert said["findings"][0]["where"]["slot"].endswith("base_url")


@pytest.mark.skipif(os.name != "posix", reason="the played program is a script for sh")
@pytest.mark.parametrize(("printed", "causes"), [(KEY, []), (invented("third"), ["foreign_credential"])])
def test_one_gateway_with_two_keys_is_asked_and_only_its_refusal_is_explained(
    renamed: Machine, gateway: LoopbackGateway, printed: str, causes: list[str]
) -> None:
    text = renamed.config.read_text(encoding="utf-8").replace("https://third.example/v1", gateway.base_url)
    renamed.config.write_text(text, encoding="utf-8")
    renamed.environ["PRINTED"] = printed
    program = renamed.write("bin/toolsync", '#!/bin/sh\necho "$PRINTED"\n')
    program.chmod(0o700)
    played = f'command = "{program}", args = ["key", "print", "home"]'
    renamed.write(CODEX, re.sub(r'command = "[^"]*", args = \[[^]]*\]', played, renamed.read(CODEX)))
    _, said = _doctor(renamed, "codex")
    assert gateway.received != ()
    found = [one for one in said["findings"] if one["cause"] != "config_drift"]
    assert [one["cause"] for one in found] == causes
    assert [one["command"] for one in found] == [["apply", "--tool", "codex", "--profile", "haus"] for _ in causes]


@pytest.mark.skipif(os.name != "posix", reason="the played program is a script for sh")
@pytest.mark.parametrize("between", ['", "', "="], ids=["two words", "one word"])
@pytest.mark.parametrize(("printed", "causes"), [(KEY, []), (invented("third"), ["foreign_credential"])])
def test_a_profile_of_another_file_is_none_of_ours_by_the_same_name(
    renamed: Machine, gateway: LoopbackGateway, printed: str, causes: list[str], between: str
) -> None:
    renamed.environ["PRINTED"] = printed
    program = renamed.write("bin/toolsync", '#!/bin/sh\necho "$PRINTED"\n')
    program.chmod(0o700)
    team = renamed.home / "team.toml"
    played = f'command = "{program}", args = ["--config{between}{team}", "key", "print", "home"]'
    renamed.write(CODEX, re.sub(r'command = "[^"]*", args = \[[^]]*\]', played, renamed.read(CODEX)))
    assert renamed.toolsync("profile", "edit", "haus", "--set", "model=other-model").code == 0
    _, said = _doctor(renamed, "codex")
    assert gateway.received != ()
    found = [one for one in said["findings"] if one["cause"] != "config_drift"]
    assert [one["cause"] for one in found] == causes
    assert [one["fix"] for one in found] == [f"toolsync --config {team} doctor codex" for _ in causes]
    assert "was changed since" not in json.dumps(said)


@pytest.mark.skipif(os.name != "posix", reason="the command is one of a Unix")
def test_the_command_that_another_profile_has_its_key_from_is_not_run_for_this_ones_gateway(
    machine: Machine, gateway: LoopbackGateway
) -> None:
    file = machine.write("third", invented("third"))
    machine.profile(
        _profile("third", "https://third.example/v1", f"command:/bin/cat {file}"), base_url=gateway.base_url
    )
    machine.write(".claude/settings.json", "{}")
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "claude-code").code == 0
    settings = json.loads(machine.read(".claude/settings.json"))
    machine.write(".claude/settings.json", json.dumps(settings | {"apiKeyHelper": f"/bin/cat '{file}'"}))
    _, said = _doctor(machine, "claude-code")
    first = said["findings"][0]
    assert (gateway.received, first["cause"]) == ((), "foreign_credential")
    assert first["command"] == ["apply", "--tool", "claude-code", "--profile", "work"]
    assert machine.toolsync(*first["command"], "--yes", "--no-ping").code == 0


@pytest.mark.skipif(os.name != "posix", reason="the command is one of a Unix")
def test_a_command_that_prints_a_key_of_nobodys_is_taken_out_and_the_profiles_key_stays(
    machine: Machine, gateway: LoopbackGateway
) -> None:
    file = machine.write("other", invented("other"))
    machine.profile(base_url=gateway.base_url)
    machine.write(".claude/settings.json", "{}")
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "claude-code").code == 0
    settings = json.loads(machine.read(".claude/settings.json"))
    machine.write(".claude/settings.json", json.dumps(settings | {"apiKeyHelper": f"/bin/cat {file}"}))
    _, said = _doctor(machine, "claude-code")
    first = said["findings"][0]
    assert (first["cause"], first["command"]) == ("key_invalid", ["apply", "--tool", "claude-code"])


@pytest.mark.skipif(os.name != "posix", reason="the played program is a script for sh")
def test_the_tool_itself_is_not_asked_either(renamed: Machine) -> None:
    program = renamed.write(
        "bin/codex", '#!/bin/sh\n[ "$1" = --version ] || : > "$HOME/asked"\necho codex-cli 0.171.0\n'
    )
    program.chmod(0o700)
    renamed.environ["PATH"] = str(program.parent)
    _, said = _doctor(renamed, "--client", "codex")
    assert (said["client"]["state"], said["client"]["why"]) == ("unasked", "unsafe")
    assert "the key of one profile to the gateway of another" in said["client"]["says"]
    assert not (renamed.home / "asked").exists()
