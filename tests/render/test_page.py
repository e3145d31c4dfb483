"""The page of `bench report`: what the terminal says, escaped, and nothing that is loaded, run or told elsewhere."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.bench.records import record, request, rung
from tests.bench.test_comparison import run, steady
from tests.keys import invented
from toolsync.bench.record import Gpu, GpuUse, Record
from toolsync.commands.bench.compare import held
from toolsync.commands.bench.records import described
from toolsync.commands.bench.report import MARK, Report
from toolsync.masking import Secret
from toolsync.render import contrast, measurement
from toolsync.render.canvas import Figure
from toolsync.render.page import POLICY, Drawn, document

PLOTS = Drawn((Figure("ttft", "Time to first token", "How to read it", '<svg viewBox="0 0 1 1" role="img" />'),))
_VOID = {"meta"}


class Page(HTMLParser):
    """A page taken apart: its elements, the cells of its tables, its texts, and tags that nobody closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in {"td", "th"}:
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.open and self.open[-1] in {"td", "th"}:
            self.tables[-1][-1][-1] += data

    @property
    def said(self) -> str:
        return "".join(self.texts)


def against(before: Record, after: Record, *, anyway: bool = False) -> Report:
    result = held(before, after, [], anyway=anyway)
    return Report(after, before, result.data, result.messages)


BEFORE, AFTER = run("before-1", steady(), steps=(8, 16)), run("after-1", steady(1.2), steps=(8, 16))
OTHER = replace(AFTER, token_source="events")
REPORTS = {
    "one run": Report(record()),
    "no rung": Report(replace(record(), rungs=())),
    "compared": against(BEFORE, AFTER),
    "refused": against(BEFORE, OTHER),
    "anyway": against(BEFORE, OTHER, anyway=True),
}


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_it_is_a_page_of_one_file(report: Report) -> None:
    raw = document(report, PLOTS)
    page = Page(raw)
    assert raw.startswith("<!doctype html>\n")
    assert MARK.decode() in raw[:2000]
    assert page.open == []
    names = {name for name, _ in page.elements}
    assert names & {"script", "link", "img", "iframe", "object", "embed", "form", "base", "a"} == set()
    attributes = {key for _, given in page.elements for key in given}
    assert attributes & {"src", "href", "style", "srcset", "onclick", "onload"} == set()
    assert re.findall(r"\w+://|url\(|@import", raw) == []


def test_its_policy_lets_nothing_in_but_its_own_style() -> None:
    raw = document(REPORTS["compared"], PLOTS)
    (style,) = re.findall(r"<style>(.*?)</style>", raw, re.DOTALL)
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'" == POLICY
    (policy,) = [given["content"] for name, given in Page(raw).elements if given.get("http-equiv")]
    assert policy == POLICY
    assert raw.index("Content-Security-Policy") < raw.index("<style>")


@pytest.mark.parametrize("one", [record(), AFTER, OTHER, replace(record(), rungs=())], ids=lambda one: one.id)
def test_a_runs_table_is_the_terminals(one: Record) -> None:
    told, page = described(one), Page(document(Report(one), PLOTS))
    assert page.tables == [[measurement.heads(told), *measurement.rows(told)]]
    for sentence in (*measurement.about(told), *(line.text for line in measurement.remarks(told))):
        assert sentence in page.said


@pytest.mark.parametrize("name", ["compared", "anyway"])
def test_the_comparison_is_the_terminals(name: str) -> None:
    report = REPORTS[name]
    assert report.comparison is not None
    page = Page(document(report, PLOTS))
    assert page.tables[0] == [list(contrast.HEADS), *contrast.rows(report.comparison)]
    assert len(page.tables) == 3
    for sentence in contrast.remarks(report.comparison):
        assert sentence in page.said
    assert page.said.count("not comparable: ") == (len(report.comparison["rows"]) if name == "anyway" else 0)


def test_each_verdict_has_its_class_and_is_counted() -> None:
    report = REPORTS["compared"]
    assert report.comparison is not None
    verdicts = [row["verdict"] for row in report.comparison["rows"]]
    page = Page(document(report, PLOTS))
    classes = [given.get("class") for name, given in page.elements if name == "tr" and given.get("class")]
    assert classes == [{"better": "good", "worse": "bad"}.get(verdict, "even") for verdict in verdicts]
    assert f"{verdicts.count('worse')} worse" in page.said


def test_a_refusal_gives_each_reason_and_no_verdict() -> None:
    report = REPORTS["refused"]
    page = Page(document(report, PLOTS))
    assert "Not compared" in page.said
    assert "not the same token source: usage before, events after; they count differently." in page.said
    assert len(page.tables) == 2
    assert "Verdict" not in page.said


HOSTILE = "</style><script>alert(1)</script><img src=x onerror='y'>\"&\u202e\x1b[31m\n"


def _everywhere(said: str) -> Record:
    one = record(
        rung(1, request(), gpus=(GpuUse("GPU-1", said, 1024.0, 1.0, 2.0),)),
        label=said,
        notes=(said,),
        gpu=Gpu("nvml", said),
        started=said,
        toolsync=said,
    )
    target = replace(one.target, model=said, path=f"/{said}", origin=said, answered_model=said)
    accepted = {f"p{said}": said}
    return replace(one, target=target, parameters=replace(one.parameters, accepted=accepted, refused=(said,)))


@pytest.mark.parametrize("report", [Report(_everywhere(HOSTILE)), against(record(), _everywhere(HOSTILE))])
def test_no_text_from_outside_is_markup(report: Report) -> None:
    raw, plain = document(report, PLOTS), document(replace(report, record=_everywhere("x")), PLOTS)
    names = [name for name, _ in Page(plain).elements]
    assert [name for name, _ in Page(raw).elements] == names
    assert {key for _, given in Page(raw).elements for key in given} == {
        key for _, given in Page(plain).elements for key in given
    }
    assert "<script" not in raw
    assert "\u202e" not in raw
    assert "\x1b" not in raw
    assert raw.count("&lt;script&gt;") > 5


def test_a_key_is_on_no_page() -> None:
    known, shaped = invented("report"), "sk-proj-1234567890abcdefghijklmn"
    Secret(known)
    raw = document(Report(_everywhere(f"{known} {shaped}")), PLOTS)
    assert known not in raw
    assert shaped not in raw
    assert "***" in raw
