"""What `apply` leaves behind: every program of every tool asks the profile's gateway, and no check finds anything."""

from __future__ import annotations

import pytest

from tests.acceptance.furniture import SETTINGS
from tests.acceptance.machine import KEY, Machine
from tests.keys import invented
from toolsync import registry
from toolsync.doctor.checks import findings
from toolsync.doctor.look import Look, looks
from toolsync.doctor.world import World
from toolsync.loopback import LoopbackGateway
from toolsync.paths import Places
from toolsync.secret.vault import MemoryVault
from toolsync.session import Session

OLD = invented("doctor-old")
SERVICES = """
[profiles.work.tool.config-toml]
paths = ["~/service/config.toml"]
[profiles.work.tool.settings-json]
paths = ["~/service/settings.json"]
"""
WAYS = {
    "copies": ('plaintext = "allow"\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n', {}),
    "a command, a variable, a copy": ('plaintext = "allow"\n', {"TOOLSYNC_API_KEY": KEY}),
}


def found(machine: Machine) -> list[Look]:
    environ = {"HOME": str(machine.home), "PATH": "/usr/bin:/bin", **machine.environ}
    places = Places(machine.home, environ, machine.project, machine.place / "root", "linux")
    session = Session(places, machine.config, machine.state, lambda: machine.vault)
    profiles = session.profiles()
    world = World(session, profiles.get(), profiles.profiles)
    return [look for tool in registry.tools(machine.config.parent).values() for look in looks(world, tool)]


@pytest.mark.parametrize(("rest", "environ"), WAYS.values(), ids=WAYS)
def test_nothing_is_wrong_after_apply(
    machine: Machine, gateway: LoopbackGateway, rest: str, environ: dict[str, str]
) -> None:
    for name, text in SETTINGS.items():
        machine.write(name, text)
    machine.write(".cline/data/globalState.json", '{"mode": "act"}')
    machine.environ |= {"WORK_KEY": KEY, **environ}
    machine.profile(rest + SERVICES, base_url=gateway.base_url, key="env:WORK_KEY")
    ran = machine.toolsync(
        "apply", "--yes", "--tool", "claude-code", "--tool", "codex", "--tool", "cline", *_services()
    )
    assert (ran.code, ran.err) == (0, "")
    applied = {"claude-code", "codex", "cline", "config-toml", "settings-json"}
    told = [look for look in found(machine) if look.tool.name in applied]
    assert {look.tool.name for look in told} == applied
    assert {look.called: look.effective.base_url.removesuffix("/v1") for look in told} == dict.fromkeys(
        [look.called for look in told], gateway.base_url.removesuffix("/v1")
    )
    sure = [
        (look.called, one.cause, one.evidence) for look in told for one in findings(look) if one.certainty == "sure"
    ]
    assert sure == []


def _services() -> list[str]:
    return [word for tool in ("config-toml", "settings-json") for word in ("--tool", tool)]


def test_what_was_changed_since_is_drift(machine: Machine, gateway: LoopbackGateway) -> None:
    machine.environ["WORK_KEY"] = KEY
    machine.profile('plaintext = "allow"\n', base_url=gateway.base_url, key="env:WORK_KEY")
    assert machine.toolsync("apply", "--yes", "--tool", "cline").err == ""
    path = machine.home / ".cline/data/secrets.json"
    path.write_text(path.read_text(encoding="utf-8").replace(KEY, OLD), encoding="utf-8")
    editor = next(look for look in found(machine) if look.reader.name == "vscode")
    (drift,) = [one for one in findings(editor) if one.cause == "config_drift"]
    assert drift.values["place"] == "~/.cline/data/secrets.json:2 (openAiApiKey)"


def test_what_stands_in_the_way_of_being_set_is_changed_by_hand_first(machine: Machine) -> None:
    machine.write(".codex/config.toml", "model_providers = 3\n")
    machine.profile()
    (tool,) = machine.toolsync("doctor", "--json", "codex").json["data"]["tools"]
    assert tool["unknown"][-1] == (
        "~/.codex/config.toml: model_providers.toolsync.name: no table to hold 'toolsync'; a number stands there"
    )
    assert tool["fix"] == "Change by hand what stands there. Then run `toolsync apply --tool codex`."


def test_the_key_is_asked_for_once_before_several_tools_are_set(machine: Machine) -> None:
    machine.vault = MemoryVault()
    machine.write(".codex/config.toml", "")
    machine.write(".claude/settings.json", "{}")
    machine.profile()
    told = machine.toolsync("doctor").out
    assert [line.strip() for line in told.splitlines() if "→" in line] == [
        "→ toolsync key set work && toolsync apply --tool claude-code",
        "→ toolsync apply --tool codex",
    ]
