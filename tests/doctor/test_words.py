"""What people read: three cases in both languages, word for word.

`pytest tests/doctor/test_words.py --update-golden` writes the expectations anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.doctor.cases import Stage, realised, run
from tests.doctor.test_well import KEY, MESSAGES, Data, case, chat, message, ok

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
    text = re.sub(r"\d+ ms", "# ms", re.sub(r": [0-9a-f]{6}\b", ": ######", text))
    return re.sub(r" {2,}", "  ", text)
