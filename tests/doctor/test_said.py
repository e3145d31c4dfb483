"""What a finding must name for a person to act on it, and what is said where nothing can be found."""

# ruff: noqa: RUF001  Chinese has its own punctuation

from __future__ import annotations

import io
import json
import re
import shlex
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.cases import Diagnosed, diagnosed, realised, run
from tests.doctor.home import Home
from tests.doctor.test_checks import cline, editor
from tests.doctor.test_well import KEY, case, chat, listed, ok
from toolsync.commands.doctor.diagnosis import Options, doctor
from toolsync.commands.doctor.mending import Mending
from toolsync.doctor.look import here
from toolsync.doctor.model import Diagnosis, Finding, State
from toolsync.doctor.unasked import first_profile, way_out, why
from toolsync.probe import survey, talk
from toolsync.probe.network import Network
from toolsync.probe.step import Step
from toolsync.probe.way import Way
from toolsync.process import Process
from toolsync.render import examination
from toolsync.render.screen import Screen
from toolsync.secret.vault import MemoryVault
from toolsync.waiting import Wait, watched


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_dead_proxy_is_named_by_the_variable_that_sets_it(tmp_path: Path, variable: str) -> None:
    row = case(ok(chat()), others={"px": {"type": "closed"}})
    row["environment"]["env"] = {variable: "http://{px}"}
    row["environment"]["files"] = [{"path": "{HOME}/.profile", "text": f"\nexport {variable}=http://{{px}}\n"}]
    with realised(tmp_path, row) as stage:
        (finding,) = diagnosed(stage).findings
    assert finding["cause"] == "proxy_unreachable"
    assert f"take {variable} out, at ${variable} of the environment (set at ~/.profile:2);" in finding["remedy"]
    assert (finding["where"]["file"], finding["where"]["line"]) == ("~/.profile", 2)


def _told(said: Diagnosed) -> dict[str, Any]:
    (tool,) = json.loads(said.out)["data"]["tools"]
    return dict(tool)


def test_a_limit_that_suffices_just_now_is_remarked_to_who_asks_for_the_tool(tmp_path: Path) -> None:
    row = case(ok(chat()), models=listed())
    row["config"]["timeout"] = {"connect_s": 2, "read_s": 90, "total_s": 90}
    with realised(tmp_path, row) as stage:
        said, (code, out, _) = diagnosed(stage), run(stage, "doctor", "demo")
        _, chinese, _ = run(stage, "doctor", "demo", "--lang", "zh")
        _, every, _ = run(stage, "doctor")
    assert (said.code, said.findings, code) == (0, [], 0)
    (remark,) = _told(said)["remarks"]
    assert (remark["cause"], remark["where"]["slot"]) == ("tool_timeout_too_short", "timeoutMs")
    assert remark["fix"].startswith("Raise the limit at ~/.demo-tool/settings.json:")
    where = "~/.demo-tool/settings.json:"
    assert re.search(
        rf"note: {where}\d+ \(timeoutMs\): lets it wait 90 s, and long answers take", " ".join(out.split())
    )
    assert " ".join(remark["fix"].split()) in " ".join(out.split())
    assert f"提示：{where}" in chinese
    assert "90 s" not in every


def test_a_limit_is_no_remark_where_it_is_the_trouble(tmp_path: Path) -> None:
    row = case({**ok(chat()), "delay_s": 0.6}, models=listed())
    row["config"]["timeout"] = {"connect_s": 1, "read_s": 0.2, "total_s": 0.2}
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    assert [(one["cause"], one["certainty"]) for one in said.findings] == [("tool_timeout_too_short", "sure")]
    assert _told(said)["remarks"] == []


def test_a_key_that_no_profile_lets_go_is_said_to_be_held_back(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()), base_url="http://{main}")) as stage:
        (stage.config / "profile.toml").unlink()
        said, (_, out, _) = diagnosed(stage), run(stage, "doctor", "demo")
        base = f"http://{stage.listeners.names['main']}"
    assert (said.code, _told(said)["state"]) == (3, "inconclusive")
    command = f"toolsync init --base-url {base} --model demo-model"
    assert _told(said)["unknown"] == [f"the key was held back: no profile has the address {base}"]
    assert (_told(said)["fix"], _told(said)["command"]) == (command, shlex.split(command)[1:])
    assert f"    → {command}\n" in out
    assert all(KEY not in one.headers.get("authorization", "") for one in said.asked)


def test_of_profiles_that_cannot_be_read_nobody_says_which_has_the_address(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        with (stage.config / "profile.toml").open("a", encoding="utf-8") as file:
            file.write('[profiles.web]\nfrom = "https://gw.example/team.toml#web"\n')
        said = diagnosed(stage)
    assert (said.code, _told(said)["state"]) == (3, "inconclusive")
    assert [line.partition(", for ")[2] for line in _told(said)["unknown"]] == ["the profiles cannot be read"]
    assert _told(said)["fix"] == "Mend the profile by hand first: the warning says where."


def test_where_the_key_is_missing_too_it_comes_first(tmp_path: Path) -> None:
    set_first, apply = "toolsync key set work && ", "toolsync apply --tool codex"
    for vault, expected in ((MemoryVault(), set_first), (None, "")):
        home = Home(tmp_path, vault=vault)
        home.write({".codex/config.toml": ""})
        look = home.look("codex")
        one = Diagnosis(look.effective, "inconclusive")
        assert [str(line) for line in why(look, one)] == ["the profile work is not applied to Codex CLI yet"]
        found = Mending(look).of(Finding("", fix=way_out(look, one)))
        assert str(found.text if found else "") == f"{expected}{apply}"


def test_where_nobody_can_tell_it_is_said_how_far_it_got(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "TLSV1_ALERT_PROTOCOL_VERSION"
    end = Step("encryption", "127.0.0.1:443", "inconclusive", said, 1, is_end=True)
    monkeypatch.setattr(survey, "way", lambda url, *_: Way(url, (end,)))
    with realised(tmp_path, case(ok(chat()))) as stage:
        found, (_, out, _) = diagnosed(stage), run(stage, "doctor", "demo")
    assert (found.code, _told(found)["asked"]) == (3, [f"127.0.0.1:443: {said}"])
    assert out.startswith(f"? Demo Tool: nobody can tell from here\n    127.0.0.1:443: {said}\n")


def test_where_nobody_can_tell_beside_a_warning_both_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = Step("encryption", "127.0.0.1:443", "inconclusive", "TLSV1_ALERT", 1, is_end=True)
    monkeypatch.setattr(survey, "way", lambda url, *_: Way(url, (end,)))
    options = ("--yes", "--no-ping", "--allow-plaintext", "--lose-old-values")
    with realised(tmp_path, case(ok(chat()))) as stage:
        assert run(stage, "apply", "--tool", "demo", *options)[0] == 0
        own = stage.home / ".demo-tool" / "settings.json"
        own.write_text(own.read_text(encoding="utf-8").replace("demo-model", "another"), encoding="utf-8")
        found, (_, out, _) = diagnosed(stage), run(stage, "doctor", "demo")
    assert (found.code, found.causes, _told(found)["state"]) == (1, ["config_drift"], "warning")
    assert _told(found)["is_untold"] is True
    assert "  also: nobody can tell from here\n    127.0.0.1:443: TLSV1_ALERT\n" in out


def test_a_first_profile_has_no_address_that_is_only_the_makers(tmp_path: Path) -> None:
    for text, words in ((_RELAY, ("--base-url", "https://relay.example/v1")), ("[model_providers", ())):
        home = Home(tmp_path, profile=None)
        home.write({".codex/config.toml": text})
        assert first_profile(home.look("codex"))[:3] == ("init", *words)


def test_a_key_that_was_held_back_beside_a_warning_is_said(tmp_path: Path) -> None:
    home = Home(tmp_path, profile=None)
    home.write({".codex/config.toml": _RELAY})
    look = home.look("codex")
    states: dict[State, int] = {"warning": 1, "problem": 0}
    for state, expected in states.items():
        one = Diagnosis(look.effective, state, (Finding("key_file_readable"),))
        assert sum("held back" in str(line) for line in why(look, one)) == expected


_RELAY = f"""\
model_provider = "relay"
[model_providers.relay]
base_url = "https://relay.example/v1"
experimental_bearer_token = "{KEY}"
"""


NOT_SET_UP = {
    "a profile that is not applied": (
        True,
        "the profile work is not applied to Demo Tool yet",
        "toolsync apply --tool demo --allow-plaintext --lose-old-values",
    ),
    "no profile": (False, "Demo Tool has no gateway yet, and there is no profile that names one", "toolsync init"),
}


@pytest.mark.parametrize(("has_profile", "expected", "command"), NOT_SET_UP.values(), ids=NOT_SET_UP)
def test_a_tool_for_which_nothing_is_set_is_not_set_up_yet(
    tmp_path: Path, has_profile: bool, expected: str, command: str
) -> None:
    row = case(ok(chat()), others={"vendor": {"type": "closed"}}, wanted_base_url="http://{main}/v1")
    row["config"]["base_url"] = "http://{vendor}/v1"  # the tool's own default
    with realised(tmp_path, row) as stage:
        if not has_profile:
            (stage.config / "profile.toml").unlink()
        said, (_, out, _) = diagnosed(stage), run(stage, "doctor", "demo")
    assert (said.code, said.causes) == (3, [])
    assert _told(said)["unknown"][0] == expected
    assert out.startswith("? Demo Tool: not set up yet\n")
    assert f"    → {command}\n" in out


PATIENCE = {
    # how long the tool waits, and what is found of a gateway that takes longer than doctor's own patience
    "a tool that waits": (600_000, 0, "healthy"),
    "a tool of which nobody knows": (None, 3, "inconclusive"),
}


@pytest.mark.parametrize(("milliseconds", "code", "state"), PATIENCE.values(), ids=PATIENCE)
def test_a_slow_answer_is_waited_for_as_the_tool_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, milliseconds: int | None, code: int, state: str
) -> None:
    monkeypatch.setattr(talk, "_PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(Network, "of", classmethod(lambda *_: Network(read_seconds=0.5)))
    monkeypatch.setattr(examination, "_SLOW_MS", 500)
    row = case(ok(chat(), delay_s=0.8))
    if milliseconds is not None:
        row["config"]["timeout"] = {"total_s": milliseconds / 1000}
    with realised(tmp_path, row) as stage:
        said, (_, out, _) = diagnosed(stage), run(stage, "doctor", "demo")
    assert (said.code, _told(said)["state"]) == (code, state)
    assert ("✓ Demo Tool: answers, slowly (demo-model" in out) is (state == "healthy")


CLINE_CLI = cline(apiKey=KEY, baseUrl="https://gw.example/api/v1", model="m")
PROGRAMS: dict[str, tuple[dict[str, str | bytes], list[Process], list[str]]] = {
    "the CLI's file alone": (CLINE_CLI, [], ["cli"]),
    "an editor that runs": (CLINE_CLI, [Process(7, frozenset({"code"}), environ=lambda: None)], ["vscode", "cli"]),
    "the editor's file alone": ({".cline/data/globalState.json": "{}"}, [], ["vscode"]),
    "an editor's, whose versions find the same": ({**CLINE_CLI, **editor()}, [], ["vscode", "cli"]),
    "an editor's, of which one version finds a key": (
        {**CLINE_CLI, ".cline/data/globalState.json": '{"actModeApiProvider": "openai"}'},
        [],
        ["vscode", "vscode-4", "cli"],
    ),
    "and where both lead elsewhere": (
        {**CLINE_CLI, ".cline/data/globalState.json": '{"actModeApiProvider": "ollama"}'},
        [],
        ["vscode", "cli"],
    ),
    "neither: both, as it was asked for": ({}, [], ["vscode", "cli"]),
}


@pytest.mark.parametrize(("files", "running", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_that_is_not_here_is_not_looked_at(
    tmp_path: Path, files: dict[str, str | bytes], running: list[Process], expected: list[str]
) -> None:
    home = Home(tmp_path, {"PATH": "/nonexistent"}, processes=running)
    home.write(files)
    assert [look.reader.name for look in here(home.looks("cline"))] == expected


BEFORE = {
    "a tool that there is not": (
        ("doctor", "codx"),
        "错误：没有名为“codx”的工具\n  提示：您是想说“codex”吗？已知的工具：",
    ),
    "an option that there is not": (("doctor", "--offlin"), "错误：没有这个选项：--offlin"),
    "a cause that there is not": (("explain", "key_invald"), "错误：没有名为“key_invald”的原因\n  提示："),
    "a profile that there is not": (("ping", "--profile", "x"), "没有名为“x”的配置档\n  提示：现有：work。"),
    "a language that there is not": (("doctor", "--lang", "fr"), "错误：这里没有这种语言"),
}


@pytest.mark.parametrize(("words", "expected"), BEFORE.values(), ids=BEFORE)
def test_what_keeps_it_from_beginning_is_said_in_the_language_too(
    tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    with realised(tmp_path, case(ok(chat()), env={"LANG": "zh_CN.UTF-8"})) as stage:
        code, out, err = run(stage, *words)
    assert (code, out) == (2, "")
    assert expected in err


def test_a_profile_that_cannot_be_read_is_said_in_the_language_too(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        (stage.config / "profile.toml").write_text('[profiles.work]\nbase_url = "gw"\n', encoding="utf-8")
        _, out, _ = run(stage, "doctor", "--offline", "--lang", "zh")
        _, english, _ = run(stage, "doctor", "--offline", "--lang", "en")
    assert "警告：" in out
    assert "profiles.work.base_url: 地址不以 https:// 或 http:// 开头" in out
    assert "profiles.work.base_url: the address does not start with https:// or http://" in english


ALONE: dict[str, tuple[dict[str, str], dict[str, str], list[str]]] = {
    "nothing at all": ({}, {}, []),
    "its address in the environment": ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, {}, ["claude-code"]),
    "its address in a startup file": (
        {},
        {".zshrc": "export ANTHROPIC_BASE_URL=http://127.0.0.1:9\n"},
        ["claude-code"],
    ),
    "an address that is emptied there": ({}, {".zshrc": "export ANTHROPIC_BASE_URL=\n"}, []),
    "a key, which many tools look at": ({"OPENAI_API_KEY": KEY}, {}, []),
}


@pytest.mark.parametrize(("environ", "files", "expected"), ALONE.values(), ids=ALONE)
def test_a_tool_that_only_variables_speak_of_is_looked_at(
    tmp_path: Path, environ: dict[str, str], files: dict[str, str], expected: list[str]
) -> None:
    home = Home(tmp_path, {"PATH": "/nowhere", **environ}, profile=None)
    home.write(files)
    data = doctor(home.session(), Options(is_offline=True)).data
    assert [one["tool"] for one in data["tools"]] == expected


class Terminal(io.StringIO):
    """A terminal, 60 columns wide where the variable says so."""

    def isatty(self) -> bool:
        return True


def test_a_sentence_is_folded_and_a_command_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    command = "toolsync profile edit work --set base_url=https://gw.example/v1 && toolsync apply --tool demo"
    finding = {
        "cause": "x",
        "severity": "error",
        "certainty": "sure",
        "title": "a title",
        "where": None,
        "remedy": "",
        "evidence": ["one " * 30],
        "fix": command,
        "command": [],
        "then": [],
    }
    one = {"tool": "demo", "called": "Demo", "state": "problem", "request": {"url": ""}, "client": None}
    data = {
        "language": "en",
        "is_detailed": False,
        "tools": [{**one, "findings": [finding], "ruled_out": [], "is_untold": False}],
    }
    terminal = Terminal()
    Screen(terminal).show(examination.examination_lines(data))
    lines = terminal.getvalue().splitlines()
    assert f"    → {command}" in lines
    assert [line for line in lines if line.startswith("      one")]
    assert max(len(line) for line in lines if "→" not in line and "explain" not in line) <= 60


def test_what_is_to_be_minded_of_one_that_is_well_is_shown_without_the_requests() -> None:
    asked = "GET http://gw/v1/models → 404"
    finding = {"title": "a title", "cause": "a_cause", "certainty": "likely", "evidence": [asked, "Demo (pid 7) has X"]}
    one = {"called": "Demo", "state": "healthy", "client": None, "findings": [finding], "asked": [asked]}
    one |= {"answered": None, "fix": ""}
    data = {"language": "en", "is_detailed": False, "tools": [one]}
    _, *lines = [line.text for line in examination.examination_lines(data)]
    assert lines == ["    a title (a_cause, probably)", "      Demo (pid 7) has X"]


def test_whoever_watches_is_told_of_each_wait(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []

    def watcher(wait: Wait) -> AbstractContextManager[None]:
        told.append((str(wait.said()), wait.seconds))
        return nullcontext()

    with realised(tmp_path, case(ok(chat()))) as stage, watched(watcher):
        run(stage, "doctor")
        port = stage.listeners.names["main"]
    assert [said for said, _ in told] == [
        "Looking up the address of 127.0.0.1",
        f"Connecting to {port}",
        "Asking 127.0.0.1 which models it has",
        "Asking 127.0.0.1 for an answer from demo-model",
    ]
    assert all(0 < seconds <= 60 for _, seconds in told)
