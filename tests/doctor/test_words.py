"""What people read: three cases in both languages, word for word.

`pytest tests/doctor/test_words.py --update-golden` writes the expectations anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.doctor.cases import Stage, realised, run
from tests.doctor.home import SHIPPED, Home
from tests.doctor.test_well import JSON, KEY, MESSAGES, Data, case, chat, message, ok
from toolsync.causes import Language, words
from toolsync.doctor.checks.saying import place
from toolsync.render.examination import examination_lines

GOLDEN = Path(__file__).parent / "words"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the paths in the expectations are those of POSIX")


def _shadowed() -> Data:
    row = case(ok(message()), MESSAGES, others={"old": {"type": "closed"}}, wanted_base_url="http://{main}")
    for path, at in {"{HOME}/.claude/settings.json": "main", "{PROJECT}/.claude/settings.local.json": "old"}.items():
        stated = {"ANTHROPIC_BASE_URL": f"http://{{{at}}}", **({"ANTHROPIC_AUTH_TOKEN": KEY} if at == "main" else {})}
        row["environment"]["files"].append({"path": path, "text": json.dumps({"env": stated}, indent=2)})
    row["config"]["base_url"] = "http://{old}"
    return row


ROWS: dict[str, Data] = {
    "well": case(ok(chat())),
    "no-version": case(ok(chat()), base_url="http://{main}"),
    "shadowed": _shadowed(),
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ROWS)
def test_what_people_read(tmp_path: Path, pytestconfig: pytest.Config, name: str, language: str) -> None:
    with realised(tmp_path, ROWS[name]) as stage:
        _, out, err = run(stage, "doctor", "demo", "--lang", language)
        said = _portless(out + err, stage)
    file = GOLDEN / f"{name}.{language}.txt"
    if pytestconfig.getoption("--update-golden"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(said, encoding="utf-8")
    assert said == file.read_text(encoding="utf-8")


def _portless(text: str, stage: Stage) -> str:
    """Without what differs from run to run, and the widths of columns that follow it."""
    for name, where in stage.listeners.names.items():
        text = text.replace(where, f"<{name}>") if ":" in where else text
    text = text.replace(str(stage.project), "<project>").replace(str(stage.root), "<root>")
    text = re.sub(r"\d+ ms", "# ms", re.sub(r"(fingerprint|指纹) [0-9a-f]{6}\b", r"\1 ######", text))
    return re.sub(r" {2,}", "  ", text)


@pytest.mark.parametrize("language", get_args(Language))
def test_every_question_of_a_template_has_a_word(language: Language) -> None:
    asked = {question for tool in SHIPPED.values() for reader in tool.readers for question in reader.questions}
    assert asked - words(language)["questions"].keys() == set()


def test_a_setting_is_called_as_its_own_file_calls_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write({".cline/data/globalState.json": '{"openAiBaseUrl": "http://gw.example/v1"}', ".claude.json": "{}"})
    look = home.look("cline", "vscode")
    assert place(look, look.where(look.found["base_url"])) == "~/.cline/data/globalState.json:1 (openAiBaseUrl)"


def test_a_whole_file_is_named_without_a_setting(tmp_path: Path) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        (stage.home / ".demo-tool" / "settings.json").write_text("{", encoding="utf-8")
        _, out, _ = run(stage, "doctor", "--offline", "--json")
    data = json.loads(out)["data"]
    assert not any("from:" in line.text for line in examination_lines(data)), "its own line of evidence says where"
    data["tools"][0]["findings"][0]["evidence"] = ["unclosed"]
    assert "    from: ~/.demo-tool/settings.json:1" in [line.text for line in examination_lines(data)]


def _examined(tmp_path: Path, row: Data) -> tuple[Any, str]:
    with realised(tmp_path, row) as stage:
        _, out, _ = run(stage, "doctor", "--json")
    data = json.loads(out)["data"]
    return data, "\n".join(line.text for line in examination_lines(data))


def test_an_answer_that_came_before_is_not_spelled_out_again(tmp_path: Path) -> None:
    refusal = {"status": 401, "headers": JSON, "json": {"error": {"message": "Invalid token, and many words"}}}
    data, said = _examined(tmp_path, case(refusal, models=refusal))
    assert str(data["tools"][0]["findings"][0]["evidence"]).count("many words") > 1
    assert (said.count("many words"), said.count("→ the same") > 0) == (1, True)


def test_a_line_that_another_one_holds_is_left_out(tmp_path: Path) -> None:
    data, _ = _examined(tmp_path, ROWS["no-version"])
    data["tools"][0]["findings"][0]["evidence"] = ["the helper says: no key is set. Set one.", "no key is set", "new"]
    said = [line.text.strip() for line in examination_lines(data)]
    assert ("no key is set" in said, "new" in said) == (False, True)


def test_causes_are_spoken_of_where_there_is_one(tmp_path: Path) -> None:
    data, _ = _examined(tmp_path, ROWS["well"])
    one = {**data["tools"][0], "state": "inconclusive", "asked": [], "unknown": ["not applied yet"]}
    for asked, expected in (([], False), (["GET http://gw/v1/models → 500"], True)):
        said = [line.text for line in examination_lines({**data, "tools": [{**one, "asked": asked}]})]
        assert any("toolsync explain" in line for line in said) == expected


def test_what_is_said_of_the_same_place_with_the_same_way_out_is_said_once(tmp_path: Path) -> None:
    data, _ = _examined(tmp_path, ROWS["no-version"])
    first = data["tools"][0]["findings"][0]
    data["tools"][0]["findings"] = [first, {**first, "cause": "config_drift", "title": "drifted"}]
    assert not any("drifted" in line.text for line in examination_lines(data))
    data["tools"][0]["findings"][1]["fix"] = "something else"
    assert any("drifted" in line.text for line in examination_lines(data))


SAID = {
    "a sentence": ("Start Demo Tool.", []),
    "a sentence with a command": ("Do it, then `toolsync apply --tool demo`.", ["toolsync apply --tool other"]),
    "a command": ("toolsync apply --tool demo", ["toolsync apply --tool other"]),
    "a command for all": ("toolsync key rotate work", []),
}


@pytest.mark.parametrize(("fix", "more"), SAID.values(), ids=SAID)
def test_what_mends_all_is_said_once_and_a_command_for_each(tmp_path: Path, fix: str, more: list[str]) -> None:
    data, _ = _examined(tmp_path, ROWS["no-version"])
    (one,) = data["tools"]
    findings = [{**one["findings"][0], "fix": fix}]
    other = [{**findings[0], "fix": fix.replace("Demo Tool", "Other").replace("demo", "other")}]
    tools = [{**one, "findings": findings}, {**one, "tool": "other", "called": "Other", "findings": other}]
    said = [line.text for line in examination_lines({**data, "is_detailed": False, "tools": tools})]
    assert [line[6:] for line in said if line.startswith("    → ")] == [fix, *more]


CHAINS = {
    # what mends the first and the second of two programs, how often the cause is told, and how many commands
    "one command for all": ("apply --tool demo --tool other", "apply --tool demo --tool other", 1, 1),
    "a setting for each": (
        "profile edit --set tool.demo.model=m && toolsync apply --tool demo",
        "profile edit --set tool.other.model=m && toolsync apply --tool other",
        *(1, 2),
    ),
    "other settings": ("profile edit --set model=m", "profile edit --set model=n", 2, 2),
}


@pytest.mark.parametrize(("first", "second", "told", "commands"), CHAINS.values(), ids=CHAINS)
def test_a_cause_is_told_once_whatever_command_mends_it_for_each(
    tmp_path: Path, first: str, second: str, told: int, commands: int
) -> None:
    data, _ = _examined(tmp_path, ROWS["no-version"])
    (one,) = data["tools"]
    own, others = ([{**one["findings"][0], "fix": f"toolsync {fix}"}] for fix in (first, second))
    tools = [{**one, "findings": own}, {**one, "tool": "other", "called": "Other", "findings": others}]
    said = [line.text for line in examination_lines({**data, "is_detailed": False, "tools": tools})]
    assert sum(line.startswith("✗") for line in said) == told
    assert ("  the same: Other" in said) == (told == 1)
    assert sum(line.startswith("    → toolsync") for line in said) == commands


def test_programs_of_which_nobody_can_tell_are_told_together(tmp_path: Path) -> None:
    data, _ = _examined(tmp_path, ROWS["well"])
    one = {**data["tools"][0], "state": "inconclusive", "asked": ["POST http://gw/v1/messages → no answer"]}
    other = {**one, "called": "Other Tool", "asked": ["POST http://gw/v1/responses → no answer"]}
    third = {**one, "called": "Third Tool", "asked": ["POST http://gw/v1/messages → 418"]}
    said = "\n".join(line.text for line in examination_lines({**data, "tools": [one, other, third]}))
    assert "the same: Other Tool\n" in said
    assert (said.count("no answer"), said.count("418")) == (1, 1)
