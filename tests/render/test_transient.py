"""The line on a terminal while somebody slow is waited for: it comes late, says who is asked, and leaves nothing."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable
from threading import Event, Thread

import pytest

from toolsync import waiting
from toolsync.cli import main
from toolsync.masking import Secret
from toolsync.render.screen import Screen
from toolsync.render.transient import Transient
from toolsync.result import Result
from toolsync.sentence import say
from toolsync.waiting import Wait


class Terminal(io.StringIO):
    """A terminal that tells when something was written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_written = Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        self.is_written.set()
        return written


def seen(text: str) -> str:
    """What is left on a terminal of one line."""
    line: list[str] = []
    column = 0
    for character in text:
        if character == "\r":
            column = 0
            continue
        line[column : column + 1] = character
        column += 1
    return "".join(line)


WAIT = Wait(lambda: say("waits_list", host="gw.example"), 35)


def test_a_slow_answer_is_announced_and_nothing_stays() -> None:
    terminal = Terminal()
    with Transient(Screen(terminal), lambda: "en", patience=0)(WAIT):
        assert terminal.is_written.wait(5)
        assert seen(terminal.getvalue()) == "Asking gw.example which models it has (at most 35 s)"
    assert seen(terminal.getvalue()).strip() == ""


def test_chinese_is_erased_whole_though_it_is_wider() -> None:
    terminal = Terminal()
    with Transient(Screen(terminal), lambda: "zh", patience=0)(WAIT):
        assert terminal.is_written.wait(5)
        line = terminal.getvalue()
    blanks = terminal.getvalue().removeprefix(line)
    assert re.fullmatch(r"\r +\r", blanks)
    assert len(blanks) - 2 == len(line) + len(re.findall("[\u2e80-\uff60]", line))


def test_a_quick_answer_says_nothing() -> None:
    terminal = Terminal()
    line = Transient(Screen(terminal), lambda: "en", patience=60)
    for _ in range(3):
        with line(WAIT):
            pass
    assert terminal.getvalue() == ""


def test_quick_answers_that_follow_one_another_are_one_wait() -> None:
    terminal = Terminal()
    line = Transient(Screen(terminal), lambda: "en", patience=0.05)
    with line(WAIT):
        assert terminal.is_written.wait(5)
    terminal.is_written.clear()
    with line(WAIT):
        assert terminal.is_written.wait(5)


def test_of_waits_at_the_same_time_one_is_told_of_until_the_last_is_over() -> None:
    terminal = Terminal()
    line = Transient(Screen(terminal), lambda: "en", patience=0)
    other = Wait(lambda: say("waits_port", place="gw.example:443"), 3)
    with line(WAIT):
        assert terminal.is_written.wait(5)
        with line(other):
            _until(lambda: seen(terminal.getvalue()).startswith("Connecting to gw.example:443 (at most 3 s)"))
        assert seen(terminal.getvalue()).strip() == "Asking gw.example which models it has (at most 35 s)"
    assert seen(terminal.getvalue()).strip() == ""


def test_who_interrupts_leaves_nothing_of_what_a_thread_still_waits_for() -> None:
    terminal, is_left = Terminal(), Event()
    line = Transient(Screen(terminal), lambda: "en", patience=0)

    def waits() -> None:
        with line(WAIT):
            is_left.wait(5)

    thread = Thread(target=waits, daemon=True)
    thread.start()
    assert terminal.is_written.wait(5)
    line.close()
    assert seen(terminal.getvalue()).strip() == ""
    is_left.set()
    thread.join(5)
    assert seen(terminal.getvalue()).strip() == ""


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_narrow_terminal_gets_one_line_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    key = Secret("sk-invented-4711-0815")
    terminal = Terminal()
    wait = Wait(lambda: say("waits_list", host=f"{key.reveal()}\n\x1b[2J"), 35)
    with Transient(Screen(terminal), lambda: "en", patience=0)(wait):
        assert terminal.is_written.wait(5)
        line = terminal.getvalue()
    assert len(line) < 30
    assert key.reveal()[3:] not in line
    assert not {"\n", "\x1b"} & {*line}


def test_what_fails_while_it_is_waited_for_leaves_nothing() -> None:
    terminal = Terminal()
    line = Transient(Screen(terminal), lambda: "en", patience=0)

    def stopped() -> None:
        with line(WAIT):
            assert terminal.is_written.wait(5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert seen(terminal.getvalue()).strip() == ""


@pytest.mark.parametrize(
    ("is_terminal", "term", "options", "is_told"),
    [
        pytest.param(True, "xterm", (), True, id="a terminal"),
        pytest.param(True, "", (), True, id="one that does not say which (Windows)"),
        pytest.param(False, "xterm", (), False, id="a pipe"),
        pytest.param(True, "dumb", (), False, id="one that can take nothing back"),
        pytest.param(True, "xterm", ("--json",), False, id="--json"),
    ],
)
def test_only_a_terminal_is_told(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, term: str, options: tuple[str, ...], is_told: bool
) -> None:
    terminal = Terminal()
    seen_in_time: list[bool] = []

    def slow(_cause: str | None, _language: str) -> Result:
        with waiting.on(WAIT.said, 1):
            seen_in_time.append(terminal.is_written.wait(5 if is_told else 0.02))
        return Result("explain", {"language": "en", "cause": None, "causes": []})

    monkeypatch.setattr(terminal, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("toolsync.render.transient.PATIENCE_SECONDS", 0)
    monkeypatch.setattr("toolsync.commands.explain.explain", slow)
    assert main(["explain", *options]) == 0
    assert seen_in_time == [is_told]
    assert seen(terminal.getvalue()).strip() == ""
    assert ("Asking" in terminal.getvalue()) == is_told


@pytest.mark.parametrize(
    ("options", "is_long", "told"),
    [
        pytest.param((), True, ["Asking gw.example which models it has (at most 35 s)"], id="of minutes"),
        pytest.param(("--json",), True, [], id="of minutes, for a program"),
        pytest.param((), False, [], id="of seconds"),
    ],
)
def test_where_no_terminal_is_only_a_wait_of_minutes_is_told(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], is_long: bool, told: list[str]
) -> None:
    pipe = io.StringIO()

    def slow(_cause: str | None, _language: str) -> Result:
        with waiting.on(WAIT.said, WAIT.seconds, is_long=is_long):
            assert pipe.getvalue().splitlines() == told
        return Result("explain", {"language": "en", "cause": None, "causes": []})

    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr("toolsync.commands.explain.explain", slow)
    assert main(["explain", *options]) == 0
    assert pipe.getvalue().splitlines() == told
