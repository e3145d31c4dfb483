"""`doctor --client`: the tool's own program run once and as it must be, its output read, and held against the probe."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest
import tomlkit
from jsonschema import Draft202012Validator

from tests.conftest import limited_from
from tests.doctor.cases import Diagnosed, Stage, realised, run
from tests.doctor.test_connection import OLDER, claude
from tests.doctor.test_doctor_cases import leaks
from tests.doctor.test_well import KEY, Data, case, chat, ok
from toolsync import registry
from toolsync.commands.schema import schema
from toolsync.doctor.client import QUESTION, Ended, Outcome, asked, command_line, program, read
from toolsync.doctor.model import Credential, Diagnosis, Effective, Finding, State, Where
from toolsync.doctor.proof import Probe, Verdict, foretold, state, verdict
from toolsync.errors import TemplateError
from toolsync.masking import Secret
from toolsync.probe.network import Network
from toolsync.tool import Client, read_tool

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs of these tests are shell scripts")

SHIPPED = {row.reader or tool.name: row for tool in registry.tools(Path("/nowhere")).values() for row in tool.clients}


# Rows of templates.

MANIFEST = (
    '[[file]]\noverlay = "a.json"\npath = "~/a.json"\n[trace.cli]\nkey = ["key"]\n[trace.editor]\nkey = ["key"]\n'
)
ROW = '[[client]]\nreader = "cli"\ncommand = ["demo", "<prompt>"]\nanswer = ["out"]\n'

WRONG = {
    "an unknown program": (ROW.replace('"cli"', '"gui"'), "the trace has no program 'gui'"),
    "no question": (ROW.replace("<prompt>", "hello"), "its arguments do not hold <prompt> once"),
    "two questions": (ROW.replace('"<prompt>"', '"<prompt>", "<prompt>"'), "its arguments do not hold <prompt> once"),
    "the question as program": (ROW.replace('["demo", "<prompt>"]', '["<prompt>", "-p"]'), "do not hold <prompt> once"),
    "an answer elsewhere": (ROW.replace('["out"]', '["settings.a"]'), "answer: 'settings.a' is no place of its output"),
    "an answer in a variable": (ROW.replace('["out"]', '["$HOME"]'), "answer: '$HOME' is no place of its output"),
    "no path": (ROW.replace('["out"]', '["json[a"]'), "answer: 'json[a' is no path"),
    "no expression": (ROW + "error = ['err ~ (a']\n", "error: '(a' is no regular expression with one group"),
    "no version": (ROW + "version = '('\n", "version: '(' is no regular expression"),
    "two rows of a program": (ROW + ROW.replace('"cli"', '"editor"'), "'demo' stands in two rows"),
}


@pytest.mark.parametrize(("rows", "problem"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_in_a_row_is_said(rows: str, problem: str) -> None:
    with pytest.raises(TemplateError) as caught:
        read_tool("demo", {"tool.toml": MANIFEST + rows, "a.json": '{"key": "<key_ref>"}'})
    assert problem in caught.value.message
    assert "demo/tool.toml: client" in caught.value.message


def test_a_program_of_two_versions_has_two_rows() -> None:
    rows = f"{ROW}version = '^3'\n" + ROW.replace('"cli"', '"editor"') + "version = '^2'\n"
    tool = read_tool("demo", {"tool.toml": MANIFEST + rows, "a.json": '{"key": "<key_ref>"}'})
    assert [(row.reader, row.version) for row in tool.clients] == [("cli", "^3"), ("editor", "^2")]


def test_the_schema_of_templates_knows_every_field_of_a_row(tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "mine"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text('{"key": "<key_ref>"}')
    (folder / "tool.toml").write_text(MANIFEST + ROW + 'answers = ["out"]\n')
    said = registry.tools(tmp_path).broken["mine"].message
    assert "client[0].answers: there is no such field; did you mean 'answer'?" in said


# What is printed, as the real ones print it.

CLAUDE = {"type": "result", "subtype": "success", "is_error": False, "api_error_status": None, "result": "pong"}
REFUSED = {**CLAUDE, "is_error": True, "api_error_status": 401, "result": "Failed to authenticate. API Error: 401 no"}
PONG = {"type": "item.completed", "item": {"type": "agent_message", "text": "pong"}}
STATUS = "unexpected status 401 Unauthorized: Invalid API key, url: http://h/v1/responses"
CODEX = [
    {"type": "item.completed", "item": {"id": "item_0", "type": "error", "message": "Model metadata not found."}},
    {"type": "turn.started"},
]
AGAIN = {"type": "error", "message": f"Reconnecting... 1/5 ({STATUS})"}
FAILED = {"type": "turn.failed", "error": {"message": STATUS}}
DONE = [{"type": "say", "say": "task", "text": "Reply"}, {"type": "say", "say": "completion_result", "text": "pong"}]
LEGACY = json.dumps(
    {"message": "401 Invalid API key", "status": 401, "code": "invalid_api_key", "providerId": "openai"}
)
TOLD: Mapping[str, tuple[str, tuple[Any, ...], tuple[str, str, int | None]]] = {
    "claude answers": ("claude-code", (0, json.dumps(CLAUDE), ""), ("answered", "pong", None)),
    "claude answers in many lines": ("claude-code", (0, json.dumps(CLAUDE, indent=2), ""), ("answered", "pong", None)),
    "claude answers in a list": (
        "claude-code",
        (0, json.dumps([{"type": "init"}, CLAUDE]), ""),
        ("answered", "pong", None),
    ),
    "claude is refused": (
        "claude-code",
        (1, json.dumps(REFUSED), ""),
        ("refused", "Failed to authenticate. API Error: 401 no", 401),
    ),
    "claude knows no such option": (
        "claude-code",
        (1, "", "error: unknown option '--tools'\n"),
        ("refused", "error: unknown option '--tools'", None),
    ),
    "claude ends well and says nothing": ("claude-code", (0, "", ""), ("refused", "", None)),
    "codex answers": (
        "codex",
        (0, [*CODEX, PONG], "WARNING: x"),
        ("answered", "pong", None),
    ),
    "codex is refused": (
        "codex",
        (1, [*CODEX, AGAIN, FAILED], ""),
        ("refused", STATUS, 401),
    ),
    "codex waits for the network": (
        "codex",
        (None, [*CODEX, {"type": "error", "message": "Reconnecting... waiting for network"}], ""),
        ("stopped", "Reconnecting... waiting for network", None),
    ),
    "cline is still at it": (
        "cli",
        (None, [{"type": "agent_event", "event": {"type": "iteration_start"}}], ""),
        ("stopped", "", None),
    ),
    "codex cannot read its settings": (
        "codex",
        (1, "", "WARNING: y\nError loading config.toml: invalid\nin `model`\n"),
        ("refused", "Error loading config.toml: invalid", None),
    ),
    "cline answers": (
        "cli",
        (0, [{"type": "agent_event", "event": {"type": "done"}}, {"type": "run_result", "text": "pong"}], "Warning\n"),
        ("answered", "pong", None),
    ),
    "cline is refused": (
        "cli",
        (1, [{"type": "run_result", "finishReason": "error", "text": "Invalid API key"}], ""),
        ("refused", "Invalid API key", None),
    ),
    "the older cline answers": (
        "vscode",
        (0, DONE, ""),
        ("answered", "pong", None),
    ),
    "the older cline is refused": (
        "vscode",
        (1, [{"type": "error", "message": LEGACY}], ""),
        ("refused", "401 Invalid API key", 401),
    ),
}


@pytest.mark.parametrize(("name", "printed", "expected"), TOLD.values(), ids=TOLD)
def test_what_a_client_prints_is_read(
    name: str, printed: tuple[Any, ...], expected: tuple[str, str, int | None]
) -> None:
    code, out, err = printed
    text = out if isinstance(out, str) else "".join(json.dumps(one) + "\n" for one in out)
    told = read(SHIPPED[name], Ended(code, text, err, 1.0))
    assert (told.state, told.words, told.status) == expected


# How it is run.


def _client(*command: str, **fields: Any) -> Client:
    rows = tomlkit.dumps({"client": [{"command": [*command], "answer": ["out"], "error": ["err"], **fields}]})
    text = '[[file]]\noverlay = "a.json"\npath = "~/a.json"\n' + rows
    return read_tool("demo", {"tool.toml": text, "a.json": '{"model": "<model>"}'}).clients[0]


def _script(folder: Path, text: str, name: str = "demo") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_it_is_run_in_an_empty_folder_with_the_users_environment_and_nobody_to_ask(tmp_path: Path) -> None:
    told = 'ls -A; cat; echo "$# $1 [$MINE] [$GIVEN] [$NESTED]"; ( : </dev/tty ) 2>/dev/null && echo a terminal'
    file = _script(tmp_path, f"{told}; exit 0")
    client = _client("demo", "<prompt>", sets={"GIVEN": "yes"}, hides=["NESTED"])
    environ = {"PATH": os.defpath, "MINE": "kept", "NESTED": "1"}
    assert asked(client, file, environ).words == f"1 {QUESTION} [kept] [yes] []"


def test_its_words_pass_no_shell(tmp_path: Path) -> None:
    client = _client("demo", "$(touch gone); `id` > x", "<prompt>")
    told = asked(client, _script(tmp_path, 'echo "$1"; ls'), {"PATH": os.defpath})
    assert told.words == "$(touch gone); `id` > x"


def test_what_it_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    child = tmp_path / "child"
    file = _script(tmp_path / "bin", f"( trap '' TERM HUP; exec sleep 60 ) & echo $! > {child}; echo pong")
    began = time.monotonic()
    told = asked(_client("demo", "<prompt>"), file, {"PATH": os.defpath})
    assert (told.state, time.monotonic() - began < 30) == ("answered", True)  # it holds our output open: we wait not
    assert _is_gone(int(child.read_text()))


def _is_gone(pid: int) -> bool:
    """Whether the process ends soon, or has ended: one that nobody has waited for yet is no process any more."""
    for _ in range(100):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def test_its_time_is_limited_and_what_it_said_until_then_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"
    file = _script(tmp_path, f"trap '' TERM; echo waiting for network >&2; : >{begun}; while :; do sleep 0.1; done")
    monkeypatch.setattr(subprocess.Popen, "wait", limited_from(begun))
    told = asked(_client("demo", "<prompt>", timeout_seconds=0.3), file, {"PATH": os.defpath})
    assert (told.state, told.code, told.words) == ("stopped", None, "waiting for network")


def test_one_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    file = tmp_path / "demo"
    file.write_text("no program\n")
    file.chmod(0o755)
    assert asked(_client("demo", "<prompt>"), file, {}).state == "unstartable"


def test_a_folder_of_the_project_on_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _script(tmp_path / "node_modules" / ".bin", "echo theirs")
    ours = _script(tmp_path / "bin", "echo ours")
    monkeypatch.chdir(tmp_path)
    environ = {"PATH": os.pathsep.join(("node_modules/.bin", "", str(ours.parent)))}
    assert program(_client("demo", "<prompt>"), environ) == ours


def test_a_client_is_asked_for_one_word_by_several() -> None:
    assert " " in QUESTION  # Cline takes a single word for a command
    assert command_line(SHIPPED["claude-code"], "/opt/claude")[::8] == ["/opt/claude", QUESTION]


# Against the probe.

ANSWERED = Outcome("answered", 1.0, "pong", 0)
NO = Outcome("refused", 1.0, "Invalid API key, sir", 1, 401)
SILENT = Outcome("refused", 1.0, "Unable to connect", 1)
WORDS = Outcome("refused", 1.0, "Error: Invalid API key.", 1)
LATE = Outcome("stopped", 120.0, "Reconnecting...")
WELL, REFUSES, DEAD, UNSENT = Probe(True, 200), Probe(False, 401, "Invalid API key"), Probe(False), Probe()

VERDICTS: Mapping[str, tuple[Outcome, Probe, bool, Verdict]] = {
    "both well": (ANSWERED, WELL, False, "proven"),
    "the tool alone, nobody was probed": (ANSWERED, UNSENT, False, "proven"),
    "the tool alone, against its settings": (ANSWERED, UNSENT, True, "differs"),
    "the tool alone, the probe is refused": (ANSWERED, REFUSES, False, "differs"),
    "the tool alone, the probe gets nowhere": (ANSWERED, DEAD, False, "differs"),
    "the probe alone": (NO, WELL, False, "differs"),
    "the probe alone, the tool waits": (LATE, WELL, False, "differs"),
    "neither, one status": (NO, REFUSES, False, "same"),
    "neither, two statuses": (NO, Probe(False, 404), False, "differs"),
    "neither, the tool with a status": (NO, DEAD, False, "differs"),
    "neither, both without a status": (SILENT, DEAD, False, "same"),
    "neither, the tool repeats the gateway's words": (WORDS, REFUSES, False, "same"),
    "neither, the tool says something else": (SILENT, REFUSES, False, "open"),
    "neither, the tool says nothing": (Outcome("refused", 1.0, "", 1), REFUSES, False, "open"),
    "neither, for its settings foretell it": (NO, UNSENT, True, "same"),
    "the tool fails, and nobody was probed": (NO, UNSENT, False, "open"),
    "neither, and the tool waits": (LATE, DEAD, False, "same"),
    "the probe is refused, and the tool waits": (LATE, REFUSES, False, "open"),
    "the tool waits, and nobody was probed": (LATE, UNSENT, False, "open"),
}


@pytest.mark.parametrize(("outcome", "seen", "is_blocked", "expected"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict(outcome: Outcome, seen: Probe, is_blocked: bool, expected: Verdict) -> None:
    assert verdict(outcome, seen, is_blocked=is_blocked) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "inconclusive"), (Secret(KEY), "healthy")],
    ids=["a project's command, which counted for nothing there", "a command that was run"],
)
def test_an_answer_proves_the_key_that_it_was_asked_with(value: Secret | None, expected: State) -> None:
    credential = Credential("key", "authorization", value, "command", Where("project", "apiKeyHelper", "/p/s.json", 1))
    effective = Effective(
        *("demo", "", "Demo", "openai-chat", "http://gw", "http://gw/v1", "m", (credential,), {}, None, False, ""),
        network=Network(),
    )
    assert state(Diagnosis(effective, "inconclusive"), ANSWERED, "proven") == expected


# The command.

SAYS_NO = 'echo \'{"type":"result","result":"API Error: 401 wrong key","code":401}\'; exit 1'
SAYS_PONG = 'echo \'{"type":"result","result":"pong"}\''


SCHEMA = Draft202012Validator(schema("doctor").data["content"])
"""What `--json` must meet, the parts it refers to included."""


def _with_client(stage: Stage, script: str | None, **fields: Any) -> None:
    """The demo tool with a client of its own, whose program leaves a mark each time it runs."""
    file = stage.config / "tools" / "demo" / "tool.toml"
    manifest = tomlkit.parse(file.read_text(encoding="utf-8"))
    row = {"answer": ["json[type=result].result"], "error": ["json[type=result].result"]}
    manifest["client"] = [
        {"command": ["demo", "-p", "<prompt>"], **row, "status": ["json[type=result].code"], **fields}
    ]
    file.write_text(tomlkit.dumps(manifest), encoding="utf-8")
    stage.environ["PATH"] = f"{stage.home}/bin{os.pathsep}{os.defpath}"
    if script is not None:
        _script(stage.home / "bin", f"echo run >> {stage.home}/marks\n{script}")


def _marks(stage: Stage) -> int:
    marks = stage.home / "marks"
    return len(marks.read_text().splitlines()) if marks.exists() else 0


def _doctor(stage: Stage, *options: str) -> tuple[int, Data]:
    code, out, _ = run(stage, "doctor", "demo", "--json", *options)
    envelope = json.loads(out)
    assert [error.message for error in SCHEMA.iter_errors(envelope)] == []
    tool: Data = envelope["data"]["tools"][0]
    return code, tool


def test_without_the_flag_nothing_is_run(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS_PONG)
        code, tool = _doctor(stage)
        deep = _doctor(stage, "--deep")
        assert (code, tool["client"], deep[1]["client"], _marks(stage)) == (0, None, None, 0)


def test_both_well_is_proven_by_one_run(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS_PONG)
        code, tool = _doctor(stage, "--client")
        told = tool["client"]
        assert (code, tool["state"], told["state"], told["verdict"], _marks(stage)) == (
            0,
            "healthy",
            "answered",
            "proven",
            1,
        )
        assert (told["command"], told["words"], told["exit_code"]) == (["demo", "-p", QUESTION], "pong", 0)


def test_what_the_tool_says_against_the_probe_is_a_problem_with_candidates(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS_NO.replace("wrong key", "out of luck"))
        code, tool = _doctor(stage, "--client")
        _, out, _ = run(stage, "doctor", "demo", "--client")
    told = tool["client"]
    assert (code, tool["state"], tool["findings"]) == (1, "problem", [])
    assert (told["verdict"], told["status"]) == ("differs", 401)
    assert told["says"] == "the probe gets 200, and demo itself fails: 401: API Error: 401 out of luck"
    assert any("toolsync doctor demo --deep" in line for line in told["candidates"])
    assert "✗ Demo Tool: the tool itself fails\n    the probe gets 200, and demo itself fails: 401" in out


SAYS = 'echo \'{"type":"result","result":"%s"}\'; exit 1'
UNVERIFIED = "Unable to connect to API: SSL certificate verification failed. Check your proxy"
BY_ITSELF: Mapping[str, tuple[str, str]] = {
    "the certificate": (
        UNVERIFIED,
        "the certificate's issuer is not trusted here (tls_untrusted_ca), by its own words: Get the root certificate ",
    ),
    "the key, with which the probe is answered": (
        "API Error: 401 wrong key",
        "the gateway does not know this key (key_invalid), by its own words: `toolsync explain key_invalid` says more",
    ),
    "another model": (
        "API Error: 404 The model `small-one` does not exist",
        "the gateway has no such model (model_not_found), by its own words: ",
    ),
}


@pytest.mark.parametrize(("words", "expected"), BY_ITSELF.values(), ids=BY_ITSELF)
def test_what_the_tool_itself_says_comes_before_what_might_be(tmp_path: Path, words: str, expected: str) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS % words)
        _, tool = _doctor(stage, "--client")
    first, *others = tool["client"]["candidates"]
    assert (tool["client"]["verdict"], first[: len(expected)]) == ("differs", expected)
    assert not any("--deep" in line for line in others)


def test_what_was_found_and_the_tool_says_too_is_foretold(tmp_path: Path) -> None:
    look = claude(tmp_path, OLDER, "https://gw.example", {})
    found = Diagnosis(look.effective, "problem", (Finding("tls_untrusted_ca"),))
    outcomes = (Outcome(state, 1.0, words, 1) for state, words in SPOKEN)
    assert [foretold(look, found, outcome) for outcome in outcomes] == ["tls_untrusted_ca", "", "", ""]


SPOKEN: Sequence[tuple[Literal["answered", "refused"], str]] = [
    *(("refused", UNVERIFIED), ("answered", UNVERIFIED)),
    *(("refused", "certificate has expired"), ("refused", "Connection error.")),
]


def test_both_fail_alike(tmp_path: Path) -> None:
    refusal = {"status": 401, "headers": {}, "json": {"error": {"message": "Incorrect API key provided"}}}
    with realised(tmp_path, case(refusal)) as stage:
        _with_client(stage, SAYS_NO)
        code, tool = _doctor(stage, "--client")
    assert (code, tool["findings"][0]["cause"], tool["client"]["verdict"]) == (1, "key_invalid", "same")
    assert tool["client"]["candidates"] == []


@pytest.mark.parametrize(("listener", "seconds"), [("main", 50), ("closed", 30)], ids=["reached", "nobody is there"])
def test_who_is_not_reached_is_not_waited_for_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listener: str, seconds: float
) -> None:
    limits: list[float | None] = []

    def waits(*given: Any) -> Outcome:
        limits.append(given[-1])
        return LATE

    monkeypatch.setattr("toolsync.doctor.client.asked", waits)
    row = case(ok(chat()), others={"closed": {"type": "closed"}}, base_url=f"http://{{{listener}}}/v1")
    with realised(tmp_path, row) as stage:
        _with_client(stage, SAYS_PONG, timeout_seconds=50)
        _, tool = _doctor(stage, "--client")
    told = tool["client"]
    assert limits == [seconds]
    assert (told["verdict"], bool(told["candidates"])) == (("differs", True) if listener == "main" else ("same", False))
    assert ("had no answer either, after" in told["says"]) == (listener == "closed")


@pytest.mark.parametrize(("script", "expected"), [(SAYS_PONG, "differs"), (SAYS_NO, "same")], ids=["pong", "no"])
def test_a_project_that_was_away_is_said_whatever_the_tool_saw(tmp_path: Path, script: str, expected: str) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, script)
        stage.write(stage.project / ".env", f"KEY={KEY[::-1]}\n")
        code, tool = _doctor(stage, "--client")
    told = tool["client"]
    assert (code, tool["findings"][0]["cause"], told["verdict"]) == (1, "config_shadowed", expected)
    assert told["candidates"][0].startswith(f"{stage.project}/.env, which sets key, did not count")


UNASKED: Mapping[str, tuple[str | None, Data, str]] = {
    "not on PATH": (None, {}, "not_found"),
    "another version": ('echo "4.1.0 (Demo)"', {"version": "^3"}, "other_version"),
}


@pytest.mark.parametrize(("script", "fields", "why"), UNASKED.values(), ids=UNASKED)
def test_one_that_cannot_be_asked_is_said_and_nothing_is_proven(
    tmp_path: Path, script: str | None, fields: Data, why: str
) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, script, **fields)
        code, tool = _doctor(stage, "--client")
    assert (code, tool["state"], tool["client"]["why"], tool["client"]["state"]) == (3, "healthy", why, "unasked")
    assert "demo" in tool["client"]["says"]


def test_a_tool_without_a_command_says_so(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        code, tool = _doctor(stage, "--client")
    assert (code, tool["client"]["why"]) == (3, "no_command")
    assert "own window" in tool["client"]["says"]


def test_a_tool_is_not_run_over_a_file_that_it_cannot_read_and_may_write_anew(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS_PONG)
        (stage.home / ".demo-tool" / "settings.json").write_text('{"baseUrl": ')
        _, tool = _doctor(stage, "--client")
        assert (tool["client"]["why"], _marks(stage)) == ("damaged", 0)


def test_nor_over_one_that_breaks_its_schema(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS_PONG)
        manifest = stage.config / "tools" / "demo" / "tool.toml"
        text = manifest.read_text(encoding="utf-8")
        manifest.write_text(
            text.replace('overlay = "settings.json"\n', 'overlay = "settings.json"\nschema = "s.json"\n', 1)
        )
        (manifest.parent / "s.json").write_text('{"required": ["version"]}')
        _, tool = _doctor(stage, "--client")
        assert (tool["client"]["why"], _marks(stage)) == ("damaged", 0)


@pytest.mark.parametrize("what", ["others may write", "of the project"])
def test_what_others_can_change_is_not_run(tmp_path: Path, what: str) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS_PONG)
        if what == "of the project":
            (tmp_path / ".git").mkdir()
        else:
            (stage.config / "tools" / "demo" / "tool.toml").chmod(0o666)
        code, tool = _doctor(stage, "--client")
        assert (code, tool["client"]["why"], _marks(stage)) == (3, "unsafe", 0)


def test_asking_nobody_and_a_model_is_a_contradiction(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS_PONG)
        code, _, err = run(stage, "doctor", "demo", "--client", "--offline")
        assert (code, "`--offline` asks nobody" in err, _marks(stage)) == (2, True, 0)


def test_mended_first_it_is_asked_once_and_after(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS_PONG)
        code, tool = _doctor(stage, "--client", "--fix", "--yes")
        assert (code, tool["client"]["verdict"], _marks(stage)) == (0, "proven", 1)


ECHOES = {
    "as it is": KEY,
    "coloured and in half": f"{KEY[:14]}\\n{KEY[14:]}\\033[31m",
    "in a sentence of its own": f"Incorrect API key provided: {KEY}. You can find yours at home.",
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("way", ["json", "plain"])
def test_a_key_that_the_tool_says_again_is_masked(tmp_path: Path, echo: str, way: str) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, f"printf 'error: {echo}' >&2; exit 1", error=["err"])
        options = ["--json"] if way == "json" else []
        code, out, err = run(stage, "doctor", "demo", "--client", *options)
    assert (code, leaks(Diagnosed(code, out, err, ()), KEY)) == (1, [])
    assert "\x1b" not in out


def test_a_store_asks_nobody_itself(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        said = {lang: run(stage, "doctor", "cc-switch", "--client", "--lang", lang) for lang in ("en", "zh")}
    assert "CC Switch asks no model itself" in said["en"][1]
    assert (said["en"][0], "不向模型提问" in said["zh"][1]) == (3, True)


def test_what_is_said_is_chinese_where_that_is_asked_for(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        _with_client(stage, SAYS_NO)
        _, out, _ = run(stage, "doctor", "demo", "--client", "--lang", "zh")
    assert "探测得到 200" in out
    assert "demo 自己失败" in out
