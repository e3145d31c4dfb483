"""Tools that have their key from a variable: what mends them is the variable, and what others of its kind mean."""

from __future__ import annotations

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.keys import invented
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret

OTHER, NEW = invented("by-variable-other"), invented("by-variable-new")
SERVICES = {"config-toml": "~/service/config.toml", "settings-json": "~/service/settings.json"}
REST = "".join(f'\n[profiles.work.tool.{tool}]\npaths = ["{path}"]\n' for tool, path in SERVICES.items())
START = "Start it as `toolsync exec -- {}`, which sets TOOLSYNC_API_KEY for it alone"


@pytest.fixture
def served(machine: Machine, gateway: LoopbackGateway) -> Machine:
    """A machine whose profile names two services' files."""
    machine.profile(REST, base_url=gateway.base_url)
    return machine


def _first(machine: Machine, *tools: str) -> list[tuple[str, str]]:
    """The first finding of each program: its cause, and what mends it."""
    told = machine.toolsync("doctor", "--json", *tools).json["data"]["tools"]
    return [(one["findings"][0]["cause"], one["findings"][0]["fix"]) if one["findings"] else ("", "") for one in told]


def test_a_service_is_started_with_the_variable_that_its_settings_refer_to(served: Machine) -> None:
    assert served.toolsync("apply", "--yes").code == 0
    for tool, (cause, told) in zip(SERVICES, _first(served, *SERVICES), strict=True):
        assert (tool, cause, told.startswith(START.format("PROGRAM"))) == (tool, "key_env_empty", True), told
    served.environ["TOOLSYNC_API_KEY"] = OTHER
    for tool, (cause, told) in zip(SERVICES, _first(served, *SERVICES), strict=True):
        assert (tool, cause, told.startswith(START.format("PROGRAM"))) == (tool, "key_invalid", True), told
    served.environ["TOOLSYNC_API_KEY"] = KEY
    assert _first(served, *SERVICES) == [("", ""), ("", "")]


def test_a_variable_gives_way_to_the_way_that_the_profile_has_by_now(served: Machine, gateway: LoopbackGateway) -> None:
    assert served.toolsync("apply", "--yes").code == 0
    served.profile(f'{REST}key_way = "plaintext"\n', base_url=gateway.base_url)
    ((cause, told),) = _first(served, "settings-json")
    assert (cause, told) == ("key_env_empty", "toolsync apply --tool settings-json --allow-plaintext")
    assert served.toolsync(*told.split()[1:], "--yes").code == 0
    assert _first(served, "settings-json") == [("", "")]


def test_a_variable_with_another_key_is_named_before_the_copy_that_it_outdoes(served: Machine) -> None:
    served.write(".vibe/config.toml", "")
    assert served.toolsync("apply", "--yes", "--tool", "mistral-vibe").code == 0
    served.environ["TOOLSYNC_API_KEY"] = OTHER
    served.vault.set("work", Secret(NEW))
    ((cause, told),) = _first(served, "mistral-vibe")
    assert (cause, told.startswith(START.format("vibe"))) == ("foreign_credential", True), told
    assert told.endswith(" Then run `toolsync apply --tool mistral-vibe`.")


def test_services_that_the_profile_names_are_looked_at_before_they_are_set(served: Machine) -> None:
    ran = served.toolsync("doctor", "--json")
    told = [(one["tool"], one["state"], one["fix"]) for one in ran.json["data"]["tools"]]
    assert (ran.code, told) == (3, [(tool, "inconclusive", f"toolsync apply --tool {tool}") for tool in SERVICES])


EXPORTED = {
    **dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), f"{ADDRESS}/v1"),
    "ANTHROPIC_BASE_URL": ADDRESS,
    **dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN", "TOOLSYNC_API_KEY"), KEY),
}
VAIN = ["base_url_not_honoured"]
LED: list[tuple[str, list[str]]] = [("claude-code", []), ("codex", VAIN), ("mistral-vibe", VAIN)]
ROWS: dict[str, tuple[dict[str, str], dict[str, str], list[tuple[str, list[str]]]]] = {
    "as `toolsync env` sets them": ({}, {}, [("codex", []), ("mistral-vibe", [])]),
    "by lines of a startup file": (
        {".bashrc": "export OPENAI_BASE_URL=x\nexport OPENAI_API_BASE=x\nexport ANTHROPIC_BASE_URL=x\n"},
        {},
        LED,
    ),
    "beside another key": ({}, dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN"), OTHER), LED),
    "without the profile's variable": ({}, {"TOOLSYNC_API_KEY": ""}, LED),
}


@pytest.mark.parametrize(("files", "environ", "expected"), ROWS.values(), ids=ROWS)
def test_an_address_that_was_set_for_whatever_is_started_is_not_one_tools(
    machine: Machine, files: dict[str, str], environ: dict[str, str], expected: list[tuple[str, list[str]]]
) -> None:
    """Nobody set Claude Code, which is not here, nor Codex, which may have a login of its own."""
    for name, text in {".codex/config.toml": "", ".vibe/config.toml": "", **files}.items():
        machine.write(name, text)
    machine.environ |= {**EXPORTED, **environ}
    told = machine.toolsync("doctor", "--offline", "--json").json["data"]["tools"]
    causes = {one["tool"]: [finding["cause"] for finding in one["findings"]] for one in told}
    assert [(tool, [cause for cause in found if cause in VAIN]) for tool, found in causes.items()] == expected
