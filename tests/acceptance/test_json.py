"""`--json`: stdout is one object and nothing else, and it meets the schema that `toolsync schema` prints."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from tests.acceptance.machine import Machine, Ran
from tests.keys import invented
from toolsync import resources
from toolsync.cli import app
from toolsync.commands.schema import schema
from toolsync.loopback import LoopbackGateway

WITHOUT_JSON = {"key print", "env", "exec", "hook"}
"""What a tool or a shell reads, and what another program prints."""

HIDDEN = "a-neighbour-that-may-be-a-key"
ALIASES = {"use": "profile use"}


def _commands(group: Any, words: str = "") -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{words}{name} ")
        else:
            yield f"{words}{name}"


COMMANDS = sorted(set(_commands(typer.main.get_command(app))) - WITHOUT_JSON)

STORY: list[tuple[str, int]] = [
    ("init second --base-url https://second.example --model m2", 0),
    ("init second --base-url https://second.example --model m3", 2),
    ("profile list", 0),
    ("use work", 0),
    ("use nobody", 2),
    ("profile use work", 0),
    ("profile show", 0),
    ("profile show --tool codex", 0),
    ("profile trust second", 2),
    ("profile rename second third", 0),
    ("profile edit --set title=Work", 0),
    ("profile edit --set nonsense=1", 2),
    ("profile remove third", 2),
    ("profile remove third --yes", 0),
    ("key set --stdin", 0),
    ("key list", 0),
    ("tools", 0),
    ("schema", 0),
    ("schema status", 0),
    ("schema nothing", 2),
    ("check", 0),
    ("check --deep", 0),
    ("check --staged", 2),
    ("check --fix", 2),
    ("check --sarif", 2),
    ("explain", 0),
    ("explain key-invalid --lang zh", 0),
    ("explain key_invald", 2),
    ("explain --lang tlh", 2),
    ("status", 1),
    ("diff", 1),
    ("diff --tool cdx", 2),
    ("models", 0),
    ("ping", 0),
    ("bench list", 0),
    ("bench run --concurrency 1 --requests 2 --label before", 0),
    ("bench run --concurrency 1,1", 2),
    ("bench list", 0),
    ("bench show before", 0),
    ("bench show nothing", 2),
    ("bench compare before before", 3),
    ("bench compare before before --anyway", 0),
    ("bench compare before before --anyway --fail-if peak_memory>+1%", 3),
    ("bench compare before nothing", 2),
    ("bench compare before before --fail-if nonsense", 2),
    ("bench report nothing", 2),
    ("bench report before --anyway", 2),
    ("apply", 2),
    ("apply --yes", 1),
    ("doctor", 1),
    ("apply --yes --tool codex", 0),
    ("diff --tool codex", 0),
    ("doctor codex", 1),
    ("doctor codex --offline --lang zh", 1),
    ("doctor cdx", 2),
    ("doctor codex --fix", 2),
    ("doctor codex --fix --yes --offline", 1),
    ("status --tool codex", 0),
    ("status --profile nobody", 2),
    ("undo claude-code", 2),
    ("undo --yes", 0),
    ("undo nothing", 2),
    ("apply --yes --tool codex", 0),
    ("key uses", 0),
    ("key rotate --back --yes", 2),
    ("key rotate --from nonsense --yes", 2),
    ("key rotate --stdin --yes", 0),
    ("key forget", 0),
    ("key forget --yes", 0),
    ("uninstall", 2),
    ("uninstall --yes", 0),
    ("uninstall --yes", 0),
    ("key remove --yes", 0),
    ("key remove --yes", 0),
    ("uninstall --yes --remove-keys", 0),
    ("models", 2),
    ("ping", 2),
    ("demo", 0),
]
"""Command lines in the order in which they are run, and how each ends."""


def test_the_story_tells_of_every_command() -> None:
    told = {line.partition(" --")[0] for line, _ in STORY}
    assert [command for command in COMMANDS if not any(words.startswith(command) for words in told)] == []


def test_every_command_says_one_object_that_meets_its_schema(
    machine: Machine, gateway: LoopbackGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.profile(base_url=gateway.base_url)
    machine.write(".claude/settings.json", '{ "env": {} } // strict JSON has no comments\n')
    machine.write(".codex/config.toml", f'model = "old"\n[mcp_servers.x.env]\nAPI_KEY = "{HIDDEN}"\n')
    for line, code in STORY:
        monkeypatch.setattr("sys.stdin", io.StringIO(_key(gateway)))
        ran = machine.toolsync(*line.split(), "--json")
        assert (ran.code, ran.err, HIDDEN in ran.out) == (code, "", False), line
        _meets_its_schema(ran, line)


def _key(gateway: LoopbackGateway) -> str:
    assert gateway.key is not None
    return gateway.key.reveal()


def _meets_its_schema(ran: Ran, line: str) -> None:
    assert ran.out.endswith("}\n"), line
    assert ran.json["exit_code"] == ran.code, line
    name = ran.json["schema"].split("/")[1]
    assert name == _named(line), line
    assert (_complaint(name, ran.json) or "") == "", line


def _named(line: str) -> str:
    """The schema's name of a command line's result."""
    words = line.split()
    command = next(command for command in COMMANDS if words[: len(command.split())] == command.split())
    return ALIASES.get(command, command).replace(" ", "-")


def _complaint(name: str, envelope: object) -> str | None:
    content = schema(name).data["content"]
    error = best_match(Draft202012Validator(content).iter_errors(envelope))
    return error and f"{error.json_path}: {error.message}"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_schema_of_its_own(command: str) -> None:
    content = schema(ALIASES.get(command, command)).data["content"]
    Draft202012Validator.check_schema(content)
    assert content["properties"]["command"] == {"const": ALIASES.get(command, command)}


def test_there_is_no_schema_without_a_command() -> None:
    files = {file.name.removesuffix(".schema.json") for file in (resources.folder("schemas") / "results").iterdir()}
    assert files == {ALIASES.get(command, command).replace(" ", "-") for command in COMMANDS} | {"envelope"}


FAULTS = {
    "an unknown field of the data": lambda whole: whole["data"].update(extra=1),
    "a missing field of the data": lambda whole: whole["data"].pop("drift"),
    "an unknown field of the envelope": lambda whole: whole.update(extra=1),
    "a missing field of the envelope": lambda whole: whole.pop("messages"),
    "another command": lambda whole: whole.update(command="diff"),
    "an unknown exit code": lambda whole: whole.update(exit_code=4),
    "no data and no error": lambda whole: whole.update(data=None),
    "data and an error": lambda whole: whole["errors"].append({"type": "Error", "message": "x", "hint": ""}),
    "an unknown field of a message": lambda whole: whole["messages"][0].update(extra=1),
    "an unknown state": lambda whole: whole["data"]["tools"][0]["files"][0].update(applied="perhaps"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_schemas_are_strict(machine: Machine, fault: Any) -> None:
    machine.write(".claude/settings.json", "{} // a comment\n")
    whole = machine.toolsync("status", "--json").json
    assert _complaint("status", whole) is None
    fault(whole)
    assert _complaint("status", whole) is not None


def test_a_printed_schema_is_the_schema(machine: Machine) -> None:
    ran = machine.toolsync("schema", "profile list")
    assert (ran.code, json.loads(ran.out)) == (0, schema("profile-list").data["content"])
    assert json.loads(machine.toolsync("schema", "profile").out) == resources.schema("profile")
    assert "profile-list" in machine.toolsync("schema").out.splitlines()


def test_errors_of_the_command_line_itself_are_envelopes(machine: Machine) -> None:
    for line, command in {
        "aply --json": "toolsync",
        "key rotat --json": "key",
        "profile lst --json": "profile",
        "apply --hard --json": "apply",
        "key remove --hard --json": "key remove",
        "--config /nowhere/x undo a b --json": "undo",
        "profile use --json": "profile use",
    }.items():
        ran = machine.toolsync(*line.split())
        assert (ran.code, ran.err, ran.json["command"]) == (2, "", command), line
        assert _complaint(ran.json["schema"].split("/")[1], ran.json) is None


def test_a_bug_is_an_envelope_with_a_masked_report(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(f"with {invented('in-a-crash')} in its text")

    monkeypatch.setattr("toolsync.commands.tools.tools", broken)
    for arguments in (("tools", "--json"), ("tools",)):
        ran = machine.toolsync(*arguments)
        assert ran.code == 70
        assert "RuntimeError" in ran.out + ran.err
        assert "Traceback" not in ran.out + ran.err
    reports = list(machine.state.glob("crash-*.txt"))
    assert len(reports) == 2
    for report in reports:
        assert "RuntimeError: with *** in its text" in report.read_text()
        assert report.stat().st_mode & 0o777 == 0o600
