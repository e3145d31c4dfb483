"""What people read: three cases in both languages, word for word.

`pytest tests/doctor/test_words.py --update-golden` writes the expectations anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import get_args

import pytest

from tests.doctor.cases import Stage, realised, run
from tests.doctor.home import SHIPPED, Home
from tests.doctor.test_well import KEY, MESSAGES, Data, case, chat, message, ok
from toolsync.causes import Language, words
from toolsync.doctor.checks.saying import place

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
        _, out, _ = run(stage, "doctor", "--offline")
    assert "    from: ~/.demo-tool/settings.json:1\n" in out
