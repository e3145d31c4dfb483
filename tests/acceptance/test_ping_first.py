"""A failing ping stops before anything is written; text that a gateway sends cannot speak to the terminal."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.core.test_echo import FORMS, ODD
from tests.keys import invented
from tests.scripted import HANG, http, scripted
from toolsync.commands import pinging
from toolsync.loopback import Answer, LoopbackGateway, Received
from toolsync.masking import Secret
from toolsync.probe import Network

CLAUDE = ".claude/settings.json"
NOT_WRITTEN = "Nothing was written. `--tool` narrows, `--force` writes all the same."


@pytest.fixture
def ready(machine: Machine) -> Machine:
    """A machine with Claude Code's settings."""
    machine.write(CLAUDE, "{}\n")
    return machine


def test_the_gateway_is_asked_once_for_each_dialect_before_anything_is_written(
    ready: Machine, gateway: LoopbackGateway
) -> None:
    ready.write(".codex/config.toml", "")
    paths = '\n[profiles.work.tool.config-toml]\npaths = ["~/a.toml"]\n\n[profiles.work.tool.settings-json]\n'
    ready.profile(f'{paths}paths = ["~/b.json"]\n', base_url=gateway.base_url)
    ran = ready.toolsync("apply", "--yes")
    assert ran.said == (0, "")
    assert [request.path for request in gateway.asked] == [
        "/api/v1/messages",
        "/api/v1/responses",
        "/api/v1/chat/completions",
    ]
    address = gateway.base_url
    assert f"✓ {address}/v1/messages (anthropic-messages): 200, model some-model, " in ran.out
    assert "Applied profile 'work': 2 files created, 2 files changed.\n" in ran.out
    assert KEY not in ran.out


def test_a_wrong_key_stops_before_anything_is_written(ready: Machine) -> None:
    with LoopbackGateway(Secret(invented("another"))) as gateway, ready.untouched():
        ready.profile(base_url=gateway.base_url)
        ran = ready.toolsync("apply", "--yes")
    _stopped(
        ran.said,
        f"{gateway.base_url}/v1/messages (claude-code): the gateway does not know this key (401): Invalid API key "
        "[key_invalid]",
    )


class OneApi(LoopbackGateway):
    """Takes the key for all but Codex's API."""

    def answer(self, request: Received) -> Answer:
        if request.path.endswith("/responses"):
            return Answer(401, b'{"error": {"message": "Invalid API key"}}')
        return super().answer(request)


@pytest.mark.parametrize("command", [("ping",), ("apply", "--yes"), ("key", "rotate", "--from", "env:NEXT", "--yes")])
def test_a_key_that_one_api_alone_refuses_is_not_called_unknown(
    ready: Machine, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    ready.write(".codex/config.toml", "")
    monkeypatch.setitem(ready.environ, "NEXT", KEY)
    with OneApi(Secret(KEY)) as gateway, ready.untouched():
        ready.profile(base_url=gateway.base_url)
        ran = ready.toolsync(*command)
    said = f"the gateway refuses the key for this API, and answers with it at {gateway.base_url}/v1/messages (401): "
    assert (ran.code, f"{gateway.base_url}/v1/responses (codex): {said}Invalid API key\n" in ran.out + ran.err) == (
        2,
        True,
    )
    assert "whoever runs it can allow it for this API" in ran.out + ran.err
    assert "key_invalid" not in ran.out + ran.err


def test_the_cause_is_named_where_one_answer_decides_it(ready: Machine, gateway: LoopbackGateway) -> None:
    ready.profile(base_url=f"{gateway.base_url}/typo")
    open_ = ready.toolsync("ping", "--tool", "codex", "--json").json["data"]["pings"][0]
    assert (open_["cause"], open_["certainty"]) == ("wire_api_unsupported", "open")
    assert open_["problem"].startswith("nothing answers there (404)")
    assert open_["hint"].startswith(
        "Either the gateway does not serve this tool's API, or no API answers at this path."
    )
    assert "[wire_api_unsupported]" not in ready.toolsync("ping", "--tool", "codex").out

    with LoopbackGateway(Secret(invented("another"))) as another:
        ready.profile(base_url=another.base_url)
        sure = ready.toolsync("ping", "--tool", "codex", "--json").json["data"]["pings"][0]
        assert (sure["cause"], sure["certainty"]) == ("key_invalid", "sure")
        assert ready.toolsync("ping", "--tool", "codex").out.count("Invalid API key [key_invalid]\n") == 1
        assert ready.toolsync("models", "--json").json["data"]["cause"] == "key_invalid"
        assert "[key_invalid]" in ready.toolsync("models").out
        (error,) = ready.toolsync("apply", "--yes", "--json").json["errors"]
        assert (error["type"], error["cause"]) == ("PingFailedError", "key_invalid")


def test_a_wrong_address_stops_before_anything_is_written(ready: Machine, gateway: LoopbackGateway) -> None:
    ready.profile(base_url=f"{gateway.base_url}/typo")
    with ready.untouched():
        ran = ready.toolsync("apply", "--yes")
    _stopped(ran.said, f"{gateway.base_url}/typo/v1/messages (claude-code): nothing answers there (404)")


def test_a_gateway_that_is_down_stops_before_anything_is_written(ready: Machine) -> None:
    with socket.socket() as held:  # bound, so that nobody else listens there
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        ready.profile(base_url=f"http://127.0.0.1:{port}/api")
        with ready.untouched():
            ran = ready.toolsync("apply", "--yes")
    _stopped(ran.said, f"http://127.0.0.1:{port}/api/v1/messages (claude-code): nothing listens at 127.0.0.1:{port}")


def test_a_gateway_that_is_silent_stops_before_anything_is_written(
    ready: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinging, "network_of", lambda *_: Network(read_seconds=0.3))
    with scripted([HANG]) as server, ready.untouched():
        ready.profile(base_url=server.base_url)
        ran = ready.toolsync("apply", "--yes")
    _stopped(
        ran.said, f"{server.base_url}/messages (claude-code): the gateway took the request, and did not answer in time"
    )


def _stopped(said: tuple[int, str], message: str) -> None:
    code, text = said
    assert code == 2
    assert text.startswith(f"error: {message}")
    assert text.endswith(f"{NOT_WRITTEN}\n")
    assert KEY not in text


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("key", [KEY, ODD], ids=["usual", "odd"])
def test_a_key_that_the_gateway_says_again_is_not_shown(ready: Machine, form: Callable[[str], str], key: str) -> None:
    ready.vault.set("work", Secret(key))
    body = json.dumps({"error": {"message": f"no such key: {form(key)}!"}})
    with scripted(http(401, body)) as server:
        ready.profile(base_url=server.base_url)
        ran = ready.toolsync("apply", "--yes")
    said = "".join(ran.err.split())
    assert (ran.code, "nosuchkey:" in said, "***" in said) == (2, True, True)
    assert [part for part in {form(key)[at : at + 12] for at in range(5, len(form(key)) - 16)} if part in said] == []


def test_no_ping_asks_nobody(ready: Machine, gateway: LoopbackGateway) -> None:
    ready.profile(base_url=gateway.base_url)
    assert ready.toolsync("apply", "--yes", "--no-ping").said == (0, "")
    assert gateway.received == ()
    assert gateway.base_url in ready.read(CLAUDE)


def test_force_writes_says_what_failed_and_ends_with_1(ready: Machine, gateway: LoopbackGateway) -> None:
    ready.profile(base_url=f"{gateway.base_url}/typo")
    ran = ready.toolsync("apply", "--yes", "--force")
    assert ran.said == (1, "")
    assert f"✗ {gateway.base_url}/typo/v1/messages (anthropic-messages): 404\n" in ran.out
    assert "/typo" in ready.read(CLAUDE)


def test_what_cannot_be_written_is_found_before_anybody_is_asked(ready: Machine, gateway: LoopbackGateway) -> None:
    ready.profile(base_url=gateway.base_url)
    (ready.home / CLAUDE).chmod(0o444)
    ran = ready.toolsync("apply")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ~/.claude/settings.json is read-only\n")
    assert gateway.received == ()


def test_nor_is_somebody_asked_about_an_undo_that_cannot_be(ready: Machine) -> None:
    assert ready.toolsync("apply", "--yes", "--no-ping").code == 0
    (ready.home / CLAUDE).chmod(0o444)
    ran = ready.toolsync("undo")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ~/.claude/settings.json is read-only\n")


@pytest.mark.parametrize("content", ["{", b"\xff\xfe"], ids=["unclosed", "no text"])
def test_a_ping_needs_no_settings_file(ready: Machine, gateway: LoopbackGateway, content: str | bytes) -> None:
    ready.write(CLAUDE, content)
    ready.profile(base_url=gateway.base_url)
    assert ready.toolsync("ping").said == (0, "")
    assert [request.path for request in gateway.asked] == ["/api/v1/messages"]


def test_a_ping_leaves_out_whom_the_profile_cannot_serve(ready: Machine, gateway: LoopbackGateway) -> None:
    own = ready.config.parent / "tools" / "mine"
    own.mkdir(parents=True)
    manifest = 'speaks = ["openai-chat"]\ndetect = { paths = ["~"] }\n[[file]]\noverlay = "a.toml"\npath = "~/a.toml"\n'
    (own / "tool.toml").write_text(manifest)
    (own / "a.toml").write_text('url = "<openai_url>"\nlimit = "<max_tokens>"\n')
    ready.profile(base_url=gateway.base_url)
    ran = ready.toolsync("ping")
    assert ran.said == (0, "")
    assert [request.path for request in gateway.asked] == ["/api/v1/messages"]
    assert "mine is left out: needs 'max_tokens', which the profile leaves unset\n" in ran.out


@pytest.mark.parametrize("words", [("ping",), ("models",), ("apply", "--yes")], ids=" ".join)
def test_nobody_waits_longer_than_the_profile_says(ready: Machine, words: tuple[str, ...]) -> None:
    with scripted([HANG]) as server:
        ready.profile("request = { timeout_seconds = 0.3 }\n", base_url=server.base_url)
        started = time.monotonic()
        ran = ready.toolsync(*words)
    assert ran.code == 2
    assert "did not answer in time" in ran.out + ran.err
    assert time.monotonic() - started < 10


def test_a_profile_that_is_more_patient_than_a_ping_does_not_hold_it_up() -> None:
    network = pinging.patient(Network(), {"timeout_seconds": 600})
    assert network == Network()


def test_ping_alone_writes_nothing_and_fails_with_2(ready: Machine, gateway: LoopbackGateway) -> None:
    ready.profile(base_url=gateway.base_url)
    with ready.untouched():
        assert ready.toolsync("ping").code == 0
        ready.profile(base_url=f"{gateway.base_url}/typo")
        failed = ready.toolsync("ping")
    assert failed.code == 2
    assert "nothing answers there (404)" in failed.out


def test_what_mends_another_profile_than_the_active_one_leaves_the_other_tools_where_they_are(ready: Machine) -> None:
    ready.profile('\n[profiles.second]\nbase_url = "http://127.0.0.1:1"\nmodel = "m"\nkey = "keyring:work"\n')
    (problem,) = ready.toolsync("ping", "-p", "second", "--tool", "codex", "--json").json["messages"]
    assert "`toolsync profile edit second --set base_url=" in problem["hint"]
    assert "`toolsync apply --tool codex --profile second`" in problem["hint"]


# Text from outside.

ESCAPES = "\x1b[31m\x1b]0;title\x07[bold]no[/bold] \u202eevil\r\x9b2J"
BODIES = {
    "an error of JSON": http(401, '{"error": {"message": "\\u001b[31m\\u001b]0;title\\u0007[bold]no[/bold]"}}'),
    "text": http(500, ESCAPES.encode(), "text/plain; charset=utf-8"),
    "a page": http(403, f"<html><title>{ESCAPES}</title></html>".encode(), "text/html"),
    "a redirect": http(302, b"", location="http://evil.example/\x1b[31m[bold]"),
    "an answer with another model": http(
        200, '{"type": "message", "role": "assistant", "content": [], "model": "\\u001b[31m[bold]", "usage": {}}'
    ),
    "no HTTP at all": [f"{ESCAPES}\r\n\r\n".encode()],
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_a_gateway_says_cannot_speak_to_the_terminal(ready: Machine, body: Iterable[bytes]) -> None:
    with scripted(body) as server:
        ready.profile(base_url=server.base_url)
        rans = [ready.toolsync(*words) for words in (("apply", "--yes"), ("ping",), ("models",), ("ping", "--json"))]
    for ran in rans:
        assert _raw(ran.out) == _raw(ran.err) == []
        assert KEY not in ran.out + ran.err


def test_markup_is_shown_as_it_stands(ready: Machine) -> None:
    with scripted(BODIES["an error of JSON"]) as server, _coloured(ready):
        ready.profile(base_url=server.base_url)
        ran = ready.toolsync("apply", "--yes")
    assert ran.err.startswith("\x1b[1;31merror: ")
    assert "�[31m�]0;title�[bold]no[/bold]" in ran.err


@contextmanager
def _coloured(machine: Machine) -> Iterator[None]:
    machine.environ |= {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    yield
    del machine.environ["FORCE_COLOR"], machine.environ["TERM"]


NAMES = {
    "a profile": ("apply", "--profile", ESCAPES),
    "a tool": ("apply", "--tool", ESCAPES),
    "a tool to undo": ("undo", ESCAPES),
    "a profile to use": ("use", ESCAPES),
    "a profile to make": ("init", ESCAPES, "--base-url", "http://127.0.0.1:9", "--model", "m"),
    "an address": ("init", "other", "--base-url", ESCAPES, "--model", "m"),
    "a model": ("init", "other", "--base-url", "http://127.0.0.1:9", "--model", ESCAPES),
    "a gateway": ("init", "other", "--gateway", ESCAPES),
    "a key reference": ("init", "other", "--base-url", "http://h", "--model", "m", "--key-from", f"env:{ESCAPES}"),
    "a field": ("profile", "edit", "--set", f"{ESCAPES}=1"),
    "a value": ("profile", "edit", "--set", f"plaintext={ESCAPES}"),
    "a schema": ("schema", ESCAPES),
    "a command": (ESCAPES,),
    "an option": ("apply", f"--{ESCAPES}"),
    "a key": ("key", "remove", ESCAPES, "--yes"),
    "a profile file": ("--config", f"/nowhere/{ESCAPES}", "apply"),
}


@pytest.mark.parametrize("words", NAMES.values(), ids=NAMES)
def test_names_cannot_speak_to_the_terminal(ready: Machine, words: tuple[str, ...]) -> None:
    for ran in (ready.toolsync(*words), ready.toolsync(*words, "--json")):
        assert ran.code == 2
        assert _raw(ran.out) == _raw(ran.err) == []


def test_settings_cannot_speak_to_the_terminal(ready: Machine) -> None:
    ready.profile('\n[profiles."\\u001b[31m[bold]"]\nmodel = "\\u001b[31m"\n')
    assert ready.toolsync("profile", "list").err.startswith(f'error: {ready.config}:8: profiles."�[31m[bold]": ')
    ready.profile('\n[profiles.work.tool.config-toml]\npaths = ["~/\u202eevil[bold]/config.toml"]\n')
    ready.write(CLAUDE, '{"\\u001b[31m": "\u202e", "env": {"A": "\\u001b[31m"}}\n')
    for words in (("diff",), ("apply", "--yes", "--no-ping"), ("status",), ("undo", "--yes")):
        ran = ready.toolsync(*words)
        assert _raw(ran.out) == _raw(ran.err) == []


def _raw(text: str) -> list[str]:
    """The characters in a text that a terminal obeys, line feeds and tabs aside."""
    import unicodedata

    return [c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} and c not in "\n\t"]
