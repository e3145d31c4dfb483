"""`bench report` by the command line: the page's file, how it ends, and what is never overwritten."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.acceptance.machine import Machine
from tests.bench.test_comparison import run, steady
from tests.conftest import needs
from toolsync.bench.record_file import dumped
from toolsync.commands.bench.report import MARK
from toolsync.commands.schema import schema


@pytest.fixture
def records(tmp_path: Path) -> Path:
    before, after = (run(f"{name}-1", steady(factor), steps=(8,)) for name, factor in (("before", 1.0), ("after", 1.2)))
    for name, one in (("before", before), ("after", after), ("other", replace(after, token_source="events"))):
        (tmp_path / f"{name}.json").write_bytes(dumped(one))
    return tmp_path


def test_a_page_is_written_and_ends_as_the_comparison_does(machine: Machine, records: Path) -> None:
    needs(find_spec("matplotlib"), "matplotlib is not installed (`pip install '.[report]'`)")
    before, after, other = (str(records / f"{name}.json") for name in ("before", "after", "other"))
    page = records / "page.html"
    ran = machine.toolsync("bench", "report", after, "--against", before, "--out", str(page), "--json")
    assert (ran.code, ran.err) == (0, "")
    Draft202012Validator(schema("bench report").data["content"]).validate(ran.json)
    assert ran.json["data"]["bytes"] == page.stat().st_size < 2_000_000
    assert sum(ran.json["data"]["verdicts"].values()) == 5
    assert ran.json["data"]["verdicts"]["worse"] > 0
    assert b"<td" in page.read_bytes()

    refused = machine.toolsync("bench", "report", other, "--against", before, "--out", str(page))
    assert refused.code == 3
    assert "not the same token source: usage before, events after" in refused.out
    assert "Not compared" in page.read_text()

    alone = machine.toolsync("bench", "report", after, "--out", str(page))
    assert (alone.code, alone.err) == (0, "")
    assert alone.out.startswith("Written: ")


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("notes.txt", "notes.txt is no report, and is not overwritten"),
        ("missing/page.html", "missing is no folder"),
        (".", "is a folder"),
    ],
)
def test_where_no_page_can_be_nothing_is_written(machine: Machine, records: Path, out: str, says: str) -> None:
    (records / "notes.txt").write_text("mine")
    ran = machine.toolsync("bench", "report", str(records / "after.json"), "--out", str(records / out))
    assert ran.code == 2
    assert says in ran.err
    assert (records / "notes.txt").read_text() == "mine"


def test_a_page_of_ours_is_told_by_its_mark(machine: Machine, records: Path) -> None:
    needs(find_spec("matplotlib"), "matplotlib is not installed (`pip install '.[report]'`)")
    page = records / "page.html"
    page.write_bytes(b"<!doctype html>\n" + MARK)
    assert machine.toolsync("bench", "report", str(records / "after.json"), "--out", str(page)).code == 0
    assert page.stat().st_size > 10_000
