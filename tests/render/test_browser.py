"""The page of `bench report` in a real Chromium: on a telephone and a wide screen, in the light and in the dark."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from html import escape, unescape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.bench.records import record, request, rung
from tests.conftest import needs
from tests.render.test_page import against
from toolsync.bench.record import GpuUse, Record
from toolsync.commands.bench.report import Report
from toolsync.render.canvas import AFTER, BEFORE
from toolsync.render.page import html_text
from toolsync.render.page_style import DARK, DARK_PAPER, LIGHT_PAPER

_NAMES = ("chromium", "google-chrome", "chromium-headless-shell")
BROWSER = next(filter(None, map(shutil.which, _NAMES)), None)
PHONE, WIDE = 390, 1200


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs(BROWSER, "no Chromium is here (Debian's package chromium)")
    needs(find_spec("matplotlib"), "matplotlib is not installed (`pip install '.[report]'`)")
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(html_text(_report()))
    return file


def _report() -> Report:
    """A whole ladder before and after, with two cards, and a label without a place to break."""
    before = _run("before", 1.0, 40_000.0)
    return against(before, _run("after-" + "x" * 120, 1.2, 35_000.0))


def _run(label: str, factor: float, base_mib: float) -> Record:
    rungs = []
    for number, step in enumerate((1, 2, 4, 8, 16, 32)):
        requests = (request(factor * (100 + one % 7), 5.0 + one % 3, 30) for one in range(max(10, 3 * step)))
        cards = tuple(_card(base_mib + 9000 * card, step) for card in range(2))
        began = number * 12_000_000_000
        rungs.append(rung(step, *requests, gpus=cards, started_ns=began, ended_ns=began + 10_000_000_000))
    return replace(record(*rungs), id=f"20261201T100000Z-{label[:6]}", label=label)


def _card(base_mib: float, step: int) -> GpuUse:
    seen = tuple((500.0 * at, base_mib + 20.0 * step * min(at, 9)) for at in range(20))
    return GpuUse("GPU-1", "a card", 81920.0, base_mib, seen[-1][1], seen)


def _browse(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    own = file.with_name("browser")
    command = [
        *(str(BROWSER), "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
        *(
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--enable-logging=stderr",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium has none for root
        *(f"--user-data-dir={own}", *options, file.as_uri()),
    ]
    environ = {**os.environ, "HOME": str(own)}
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "CONSOLE" not in ran.stderr, ran.stderr  # where it says what a policy refused
    return ran


_LOOK = """
const found = [...document.querySelectorAll('iframe')].map(frame => {
  const page = frame.contentDocument, width = page.documentElement.clientWidth;
  const place = one => one.getBoundingClientRect();
  const words = [...page.querySelectorAll('svg')].map(svg => [...svg.querySelectorAll('text')].map(place));
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const pairs = words.flatMap(all => all.flatMap((a, at) => all.slice(at + 1).filter(b => meet(a, b))));
  const beyond = [...page.querySelectorAll('h1,h2,p,li,figure,svg,dl,.verdicts td')];
  return {
    width, needed: page.documentElement.scrollWidth,
    smallest: Math.min(...words.flat().map(one => Math.max(one.height, one.width))),
    overlapping: pairs.length,
    beyond: beyond.filter(one => place(one).right > width + 1).map(one => one.outerHTML.slice(0, 80)),
    empty: [...page.querySelectorAll('svg')].filter(one => place(one).height < 100).length,
    plots: page.querySelectorAll('svg').length,
    columns: new Set([...page.querySelectorAll('figure')].map(one => place(one).left)).size,
  };
});
document.body.textContent = '[[' + JSON.stringify(found) + ']]';
"""


def test_it_fits_a_telephone_and_a_wide_screen(page: Path) -> None:
    frames = "".join(
        f'<iframe style="width:{width}px;height:2000px;border:0" srcdoc="{escape(page.read_text())}"></iframe>'
        for width in (PHONE, WIDE)
    )
    frame = page.with_name("frames.html")
    frame.write_text(f"<!doctype html><body>{frames}<script>onload = () => {{ {_LOOK} }}</script>")
    ran = _browse(frame, "--dump-dom", "--window-size=1600,2000")
    told = re.search(r"\[\[(.*)\]\]", ran.stdout, re.DOTALL)
    assert told is not None, ran.stdout[-2000:]
    for found, width in zip(json.loads(unescape(told[1])), (PHONE, WIDE), strict=True):
        assert found["width"] == found["needed"] == width
        assert found["beyond"] == []
        assert (found["plots"], found["empty"], found["overlapping"]) == (6, 0, 0)
        assert found["smallest"] >= 10
        assert found["columns"] == {PHONE: 1, WIDE: 3}[width]


@pytest.mark.parametrize(
    ("width", "options", "paper", "colours"),
    [
        (WIDE, (), LIGHT_PAPER, (BEFORE, AFTER)),
        (PHONE, ("--blink-settings=preferredColorScheme=0",), DARK_PAPER, (DARK[BEFORE], DARK[AFTER])),
    ],
    ids=["wide and light", "telephone and dark"],
)
def test_its_own_style_is_let_in_and_nothing_is_refused(
    page: Path, width: int, options: tuple[str, ...], paper: str, colours: tuple[str, ...]
) -> None:
    shot = page.with_name(f"{width}.png")
    _browse(page, f"--screenshot={shot}", f"--window-size={width},10000", *options)
    image: Any = import_module("PIL.Image").open(shot).convert("RGB")
    assert image.getpixel((2, 2)) == _rgb(paper)
    seen = {colour for _, colour in image.getcolors(1 << 24)}
    assert {_rgb(colour) for colour in colours} <= seen


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))
