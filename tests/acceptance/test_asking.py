"""Questions: answered, declined, interrupted; and nobody there to be asked. On a real terminal, in a process."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Self

import psutil
import pytest

from tests.acceptance.machine import Machine
from tests.conftest import needs
from tests.key_print import interrupts, program
from tests.keys import invented

BEFORE = '{\n  "apiKey": "${OLD}"\n}\n'
PATHS = '\n[profiles.work.tool.settings-json]\npaths = ["~/service/settings.json"]\n'
APPLY = ("apply", "--no-ping")
QUESTION = "Write this? [y/N]: "
SECONDS = 30


class Terminal:
    """A command line that runs on a terminal; everything it shows, and it can be answered."""

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self.process, self._end, self.shown = process, end, ""

    def until(self, text: str) -> Self:
        """Read on until `text` is shown."""
        deadline = time.monotonic() + SECONDS
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            if not self._read():
                raise AssertionError(self.shown)
        return self

    def past(self, text: str) -> Self:
        """Read on until `text` is shown, and forget everything up to its end."""
        self.until(text)
        self.shown = self.shown.partition(text)[2]
        return self

    def interrupt(self) -> Self:
        """As Ctrl-C does, once it waits: readline loses a signal that comes just before it does."""
        deadline = time.monotonic() + SECONDS
        before = None
        while (now := self._rest()) is None or now != before:
            assert time.monotonic() < deadline, self.shown
            before = now
            time.sleep(0.1)
        self.process.send_signal(signal.SIGINT)
        return self

    def _rest(self) -> float | None:
        """How many seconds it has worked; None where it would go on if it were let."""
        program = psutil.Process(self.process.pid)
        is_ready = sys.platform == "linux" and program.status() != psutil.STATUS_SLEEPING
        return None if is_ready else sum(program.cpu_times()[:2])

    def answer(self, text: str) -> Self:
        os.write(self._end, text.encode())
        return self

    def ended(self) -> int:
        """Read to the end; the exit code."""
        deadline = time.monotonic() + SECONDS
        while self._read():
            assert time.monotonic() < deadline, self.shown
        return self.process.wait(max(1, deadline - time.monotonic()))

    def _read(self) -> bool:
        if not select.select([self._end], [], [], SECONDS)[0]:
            return False
        try:
            piece = os.read(self._end, 65536)
        except OSError:  # Linux's way of saying that the other end is closed
            return False
        self.shown += piece.decode().replace("\r\n", "\n")
        return bool(piece)


@contextmanager
def terminal(
    machine: Machine, *arguments: str, before: tuple[str, ...] = (), ignores_interrupts: bool = False
) -> Iterator[Terminal]:
    """The command line on a terminal of its own; `before` is put in front of its argv."""
    import pty

    ours, theirs = pty.openpty()
    environ = {"HOME": str(machine.home), "PATH": "/nowhere", "TOOLSYNC_CONFIG": str(machine.config), "TERM": "dumb"}
    with interrupts(ignored=ignores_interrupts):
        process = subprocess.Popen(
            [*before, *program(is_isolated=False), *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=machine.project,
            env=environ | machine.environ,
            start_new_session=True,
        )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.fixture
def ready(machine: Machine) -> Machine:
    """One tool, and a key that needs no keyring."""
    machine.write("service/settings.json", BEFORE)
    machine.environ["WORK_KEY"] = invented("asking")
    machine.profile(PATHS, key="env:WORK_KEY")
    return machine


def test_yes_writes(ready: Machine) -> None:
    with terminal(ready, *APPLY) as screen:
        assert screen.until(QUESTION).answer("y\n").ended() == 0
    assert "Applied profile 'work': 1 file changed.\n" in screen.shown
    assert screen.shown.index("+++ ~/service/settings.json") < screen.shown.index(QUESTION)
    assert "some-model" in ready.read("service/settings.json")


@pytest.mark.parametrize("answer", ["n\n", "\n"], ids=["no", "nothing"])
def test_no_writes_nothing(ready: Machine, answer: str) -> None:
    with ready.untouched(), terminal(ready, *APPLY) as screen:
        assert screen.until(QUESTION).answer(answer).ended() == 2
    assert screen.shown.endswith("error: declined; nothing was written\n")


def test_the_end_of_input_is_no_yes(ready: Machine) -> None:
    with ready.untouched(), terminal(ready, *APPLY) as screen:
        assert screen.until(QUESTION).answer("\x04").ended() == 130
    assert screen.shown.endswith("error: interrupted; nothing more was done\n")


def test_an_interruption_at_the_question_writes_nothing(ready: Machine) -> None:
    with ready.untouched(), terminal(ready, *APPLY) as screen:
        assert screen.until(QUESTION).interrupt().ended() == 130
    assert screen.shown.endswith("error: interrupted; nothing more was done\n")
    assert "Traceback" not in screen.shown


def test_where_interrupts_are_ignored_they_stay_so(ready: Machine) -> None:
    """As for every program that is started by `nohup` or with a `trap '' INT`: whoever did so wants it."""
    with terminal(ready, *APPLY, ignores_interrupts=True) as screen:
        assert screen.until(QUESTION).interrupt().answer("y\n").ended() == 0
    assert "some-model" in ready.read("service/settings.json")


def test_nobody_is_asked_for_a_key_that_no_keyring_would_take(ready: Machine) -> None:
    ready.profile(PATHS)
    ready.environ["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/dev/null"  # which is there, and is no bus
    with ready.untouched(), terminal(ready, "key", "set") as screen:
        assert screen.ended() == 2
    assert screen.shown.startswith("error: no keyring answers here")
    assert "Key (" not in screen.shown


def test_an_interruption_at_the_prompt_for_the_key_stores_nothing(ready: Machine) -> None:
    needs(find_spec("pyrage"), "pyrage is not installed (`pip install '.[age]'`)")
    ready.profile(PATHS, key=f"age:{ready.home}/key.age#env:PHRASE")
    ready.environ["PHRASE"] = "correct horse battery staple"
    with ready.untouched(), terminal(ready, "key", "set") as screen:
        assert screen.until("Key (nothing is shown): ").interrupt().ended() == 130
    assert screen.shown.endswith("error: interrupted; nothing more was done\n")


def test_a_key_that_was_pasted_over_two_lines_leaves_the_one_in_use(ready: Machine) -> None:
    needs(find_spec("pyrage"), "pyrage is not installed (`pip install '.[age]'`)")
    ready.profile(PATHS, key=f"age:{ready.home}/key.age#env:PHRASE")
    ready.environ["PHRASE"] = "correct horse battery staple"
    with ready.untouched(), terminal(ready, "key", "set") as screen:
        assert screen.until("Key (nothing is shown): ").answer("sk-first-half\n-and-the-second\n").ended() == 2
    assert "error: what was pasted has more than one line" in screen.shown
    assert "`… | toolsync key set --stdin`" in screen.shown
    assert "half" not in screen.shown


def test_undo_asks_too(ready: Machine) -> None:
    assert ready.toolsync("apply", "--yes", "--no-ping").code == 0
    with ready.untouched(), terminal(ready, "undo") as screen:
        assert screen.until(QUESTION).answer("n\n").ended() == 2
    with terminal(ready, "undo") as screen:
        assert screen.until(QUESTION).answer("y\n").ended() == 0
    assert ready.read("service/settings.json") == BEFORE


def test_a_file_that_changes_during_the_question_is_planned_and_asked_about_again(ready: Machine) -> None:
    with terminal(ready, *APPLY) as screen:
        screen.until(QUESTION)
        ready.write("service/settings.json", '{\n  "apiKey": "${OLD}",\n  "later": 1\n}\n')
        screen.answer("y\n").past("planning again")
        assert screen.until(QUESTION).answer("y\n").ended() == 0
    assert '"later": 1' in screen.shown
    assert '"later": 1' in ready.read("service/settings.json")


def test_consent_to_a_copy_of_the_key_is_a_question_of_its_own(ready: Machine) -> None:
    ready.profile(f'{PATHS}key_way = "plaintext"\n', key="env:WORK_KEY")
    asked = "settings.json: may the tool's own file hold a copy of the key in clear? [y/N]: "
    with ready.untouched(), terminal(ready, *APPLY) as screen:
        assert screen.until(asked).answer("n\n").ended() == 0
    assert QUESTION not in screen.shown
    with ready.untouched(), terminal(ready, *APPLY, "--yes") as screen:  # which answers the other question
        assert screen.until(asked).answer("n\n").ended() == 0
    with terminal(ready, *APPLY) as screen:
        assert screen.until(asked).answer("y\n").until(QUESTION).answer("y\n").ended() == 0
    assert invented("asking") not in screen.shown
    assert invented("asking") in ready.read("service/settings.json")
    assert (ready.home / "service/settings.json").stat().st_mode & 0o777 == 0o600
    with terminal(ready, "undo", "--yes") as screen:
        assert screen.ended() == 0
    assert ready.read("service/settings.json") == BEFORE
    assert (ready.home / "service/settings.json").stat().st_mode & 0o777 == 0o644


def test_without_a_terminal_nothing_is_asked(ready: Machine) -> None:
    with ready.untouched():
        ran = ready.child(*APPLY)
    assert ran.said == (2, "error: nobody is there to say yes; nothing was written\n  hint: Add `--yes`.\n")
    assert ready.child(*APPLY, "--yes").said == (0, "")


def test_init_asks_for_what_it_was_not_told(ready: Machine) -> None:
    ready.config.unlink()
    with terminal(ready, "init") as screen:
        screen.until("Gateway or address: ").answer("http://127.0.0.1:9/api\n")
        screen.until("Model: ").answer("some-model\n")
        assert screen.until("Name of the profile [default]: ").answer("\n").ended() == 0
    step = "key set default" if "no keyring answers here" not in screen.shown else "profile edit default --set key=…"
    assert f"Next: `toolsync {step}`, then `toolsync apply`." in screen.shown
    listed = ready.toolsync("profile", "list", "--json").json["data"]["profiles"]
    assert [(one["base_url"], one["model"], one["key"]) for one in listed] == [
        ("http://127.0.0.1:9/api", "some-model", "keyring:default")
    ]


def test_init_judges_each_answer_at_once(ready: Machine) -> None:
    gateway, name = "Gateway or address: ", "Name of the profile [default]: "
    with terminal(ready, "init") as screen:
        screen.past(gateway).answer("deepsek\n").past("Did you mean 'deepseek'?")
        screen.past(gateway).answer("gateway.example\n").past("does not start with https:// or http://")
        screen.past(gateway).answer("new-api\n").past("Address: ").answer("https://gateway.example\n")
        screen.past("Model [").answer("\n")
        screen.past(name).answer("work\n").past("there is a profile 'work' already")
        assert screen.past(name).answer("home\n").ended() == 0
    assert [one["name"] for one in ready.toolsync("profile", "list", "--json").json["data"]["profiles"]] == [
        "work",
        "home",
    ]


def test_init_offers_the_model_of_a_gateway_that_it_knows_by_its_address(ready: Machine) -> None:
    with terminal(ready, "init", "home", "--base-url", "https://api.deepseek.com/anthropic") as screen:
        assert screen.until("Model [deepseek-v4-pro]: ").answer("\n").ended() == 0
    told = ready.toolsync("profile", "show", "home", "--json").json["data"]
    assert "deepseek-v4-pro" in str(told)


def test_init_gives_up_after_three_answers(ready: Machine) -> None:
    with ready.untouched(), terminal(ready, "init") as screen:
        for _ in range(3):
            screen.past("Gateway or address: ").answer("nonsense\n")
        assert screen.ended() == 2
    assert "unknown gateway 'nonsense'" in screen.shown


def test_removing_a_profile_that_is_in_use_says_what_goes_before_it_asks(ready: Machine) -> None:
    assert ready.toolsync("apply", "--yes", "--no-ping").code == 0
    before = ready.config.read_bytes()
    with terminal(ready, "profile", "remove", "work") as screen:
        screen.until("Remove profile 'work'? [y/N]: ")
        assert "'work' is the active profile; without it none is" in screen.shown
        assert "'work' is applied: the tools that ask toolsync for its key get none until another is" in screen.shown
        assert "`toolsync undo` gives them back what you had before." in screen.shown
        assert screen.answer("n\n").ended() == 2
    assert ready.config.read_bytes() == before


def test_what_is_wrong_with_an_edited_profile_is_said_once(ready: Machine) -> None:
    before = ready.config.read_bytes()
    program = (
        "import sys, pathlib; f = pathlib.Path(sys.argv[1]); f.write_text(f.read_text().replace('some-model', ''))"
    )
    ready.environ["EDITOR"] = shlex.join([sys.executable, "-c", program])
    with terminal(ready, "profile", "edit") as screen:
        assert screen.until("Open it again? [Y/n]: ").answer("n\n").ended() == 2
    assert screen.shown.count("profiles.work.model: the value is empty") == 1
    assert ready.config.read_bytes() == before
