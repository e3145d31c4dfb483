"""Advice that leads out, and one answer for one state: by where the key comes from, and by what is really wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.keys import invented
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret

CODEX = ".codex/config.toml"


@pytest.fixture
def strict() -> Iterator[LoopbackGateway]:
    """A gateway that knows another key than the machine's."""
    with LoopbackGateway(Secret(invented("another"))) as running:
        yield running


@pytest.fixture
def ready(machine: Machine) -> Machine:
    machine.write(CODEX, "")
    return machine


def _printing(machine: Machine) -> str:
    """A program that prints the key, as a reference."""
    script = machine.write("bin/give", f"#!/bin/sh\necho {KEY}\n")
    script.chmod(0o755)
    return f"command:{script}"


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("keyring:work", "`toolsync key rotate work`"),
        ("env:GATEWAY_KEY", "in $GATEWAY_KEY, the variable that the profile takes it from"),
        ("command", "where the profile's own command gets it (command:"),
    ],
)
@pytest.mark.parametrize("verb", [("ping",), ("models",), ("apply", "--yes")], ids=" ".join)
def test_a_refused_key_is_to_be_changed_where_it_comes_from(
    ready: Machine, strict: LoopbackGateway, kind: str, advice: str, verb: tuple[str, ...]
) -> None:
    ready.environ["GATEWAY_KEY"] = KEY
    ready.profile(base_url=strict.base_url, key=_printing(ready) if kind == "command" else kind)

    ran = ready.toolsync(*verb)

    said = ran.out + ran.err
    assert (ran.code, advice in said, "key rotate" in said) == (2, True, kind == "keyring:work")


@pytest.mark.parametrize("verb", [("ping",), ("apply", "--yes")], ids=" ".join)
@pytest.mark.parametrize("opened", ["the profile", "the program"])
def test_what_others_can_change_is_to_be_shut_to_them(
    ready: Machine, gateway: LoopbackGateway, verb: tuple[str, ...], opened: str
) -> None:
    ready.profile(base_url=gateway.base_url, key=_printing(ready))
    path = ready.config if opened == "the profile" else ready.home / "bin" / "give"
    path.chmod(0o777)

    assert f"`chmod go-w {path}`" in ready.toolsync(*verb).out

    path.chmod(0o755)
    assert "chmod" not in ready.toolsync(*verb).out


@pytest.mark.parametrize(
    "rest",
    ['\n[profiles.work.tool.codex]\nkey_way = "plaintext"\n', 'plaintext = "never"\n'],
    ids=["no consent", "never"],
)
def test_a_ping_needs_no_consent_to_a_copy(ready: Machine, gateway: LoopbackGateway, rest: str) -> None:
    ready.profile(rest, base_url=gateway.base_url)

    assert (ready.toolsync("ping", "--tool", "codex").code, len(gateway.asked)) == (0, 1)


@pytest.mark.parametrize("verb", [("ping",), ("diff",), ("status",), ("apply", "--yes")], ids=" ".join)
def test_a_tool_that_is_asked_for_and_left_out_is_a_problem_to_every_command(
    ready: Machine, verb: tuple[str, ...]
) -> None:
    ready.profile("\n[profiles.work.tool.codex]\nenabled = false\n")

    ran = ready.toolsync(*verb, "--tool", "codex")

    said = " is left out: profile 'work' sets enabled = false for it\n"
    assert (ran.code, said in ran.out) == (2, True)


def test_a_ping_that_has_nobody_to_ask_is_no_success(machine: Machine) -> None:
    machine.write(".gemini/settings.json", "{}\n")
    ran = machine.toolsync("ping")
    assert ran.code == 2


@pytest.mark.parametrize("more", [(), ("--yes",)], ids=["", "--yes"])
def test_a_key_that_cannot_be_had_is_said_before_the_plan(ready: Machine, more: tuple[str, ...]) -> None:
    ready.profile(key="env:GATEWAY_KEY")
    with ready.untouched():
        ran = ready.toolsync("apply", *more)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: env:GATEWAY_KEY: the variable is not set\n  hint: Set GATEWAY_KEY in this shell")


def test_a_program_is_asked_for_the_key_once_a_run(ready: Machine, gateway: LoopbackGateway) -> None:
    counted = ready.write("bin/count", f'#!/bin/sh\necho x >> "$HOME/count"\necho {KEY}\n')
    counted.chmod(0o755)
    rest = 'plaintext = "allow"\n[profiles.work.tool.codex]\nkey_way = "plaintext"\n'
    ready.profile(rest, base_url=gateway.base_url, key=f"command:{counted}")

    assert ready.toolsync("apply", "--yes").code == 0
    assert ready.read("count") == "x\n"


def test_a_cause_that_several_share_is_said_once(ready: Machine, strict: LoopbackGateway) -> None:
    ready.write(".claude/settings.json", "{}\n")
    ready.profile(base_url=strict.base_url)

    ran = ready.toolsync("ping")

    assert [ran.out.count(one) for one in ("✗ ", "problem: ", "`toolsync key rotate work`")] == [2, 1, 1]
    (message,) = (one["text"] for one in ready.toolsync("ping", "--json").json["messages"])
    assert message.endswith("the gateway does not know this key (401): Invalid API key [key_invalid]")
