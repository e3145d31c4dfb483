"""Cases of trouble, told in Chinese: no English sentence is left but in the words of servers and programs."""

# ruff: noqa: RUF001  Chinese has its own punctuation

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import sampled
from tests.doctor.cases import realised, run
from tests.probe.test_chinese import english

CORPUS = Path(__file__).parent.parent / "corpus"
FILES = ("doctor.jsonl", "doctor-more.jsonl")
ROWS = [json.loads(line) for file in FILES for line in (CORPUS / file).read_text(encoding="utf-8").splitlines()]
ONES = [*{row["expected_cause"]: row for row in ROWS if not row["environment"].get("resolve")}.values()]
"""One for each cause; those that want names resolved run in a process of their own."""

QUOTED = (
    r"(→ \d{3} [^：]*)：.*",  # a server's own words
    r"(以退出码 \d+ 结束)：.*",  # a program's
    r"(（Secret Service): .*(?=）)",  # a keyring's
    r"(证书属于 [^，]*，由) .* (?=签发)",  # a certificate's
    r"()“[^”]*”",  # what stands on a button
)


def _ours(line: str) -> str:
    for pattern in QUOTED:
        line = re.sub(pattern, r"\1", line)
    return line


@pytest.mark.parametrize("row", sampled(ONES, every=8), ids=lambda row: row["id"])
def test_what_people_read(tmp_path: Path, row: dict[str, Any]) -> None:
    with realised(tmp_path, row) as stage:
        _, out, err = run(stage, "doctor", "demo", "--lang", "zh")
    # a command stands on a line of its own
    told = [_ours(line) for line in (out + err).splitlines() if not re.match(r"\s*→ toolsync ", line)]
    assert re.search("[\u4e00-\u9fff]", out + err)
    assert english(*told) == []
