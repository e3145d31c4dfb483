"""Plays every fault of the table, and mends it as doctor says: `python -m tests.clients.inside_mending HOME`.

Run where nothing but loopback can be reached and a Secret Service answers. It prints what was seen, and judges nothing.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.clients import process
from tests.clients.client import Client, search_path
from tests.clients.cline import ANSWER
from tests.clients.fault import TABLE, Fault
from tests.clients.inside import KEYS, MODEL, _named
from tests.clients.resolver import Resolver
from tests.clients.story import Mended
from toolsync.loopback import LoopbackGateway, Received

_SECONDS = 60.0
_SETTINGS = (".claude", ".codex/config.toml", ".cline", "project", ".local/state/toolsync")


def main(home: Path) -> None:
    """Play all; one tool beside the other, each in a home folder of its own; `home` is empty."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=10)
    tools = [(name, list(faults)) for name, faults in groupby(TABLE, lambda fault: fault.client.tool)]
    with Resolver(), ThreadPoolExecutor(len(tools)) as pool:  # what waits for names need not wait long
        played = pool.map(lambda tool: _played(home / tool[0], tool[1]), tools)
        sys.stdout.write(json.dumps([asdict(seen) for tool in played for seen in tool]))


def _played(home: Path, faults: Sequence[Fault]) -> list[Mended]:
    with LoopbackGateway(KEYS["first"], models=(MODEL,), says=ANSWER) as gateway:
        stage = _Stage(home, gateway)
        stage.prepare()
        return [stage.mended(fault) for fault in faults]


@dataclass(frozen=True)
class _Stage:
    home: Path
    gateway: LoopbackGateway

    @property
    def project(self) -> Path:
        return self.home / "project"

    def prepare(self) -> None:
        """A profile, and its key; nothing is applied. `toolsync` is on PATH, as people have it."""
        for folder in ("bin", "tmp"):
            (self.home / folder).mkdir(parents=True)
        ours = self.home / "bin" / "toolsync"
        ours.write_text(f'#!/bin/sh\nexec {sys.executable} -I -m toolsync "$@"\n')
        ours.chmod(0o755)
        self.project.mkdir()
        environ = {**self._environ({}), "PATH": f"{self.home}/bin:/usr/bin:/bin"}
        name = self.home.name  # the three have one keyring, and a key each
        self._succeeds(["init", name, "--base-url", self.gateway.base_url, "--model", MODEL], environ)
        self._succeeds(["key", "set", "--stdin"], environ, KEYS["first"].reveal())

    def mended(self, fault: Fault) -> Mended:
        """The fault made, diagnosed, mended with what was printed, and the client asked."""
        environ = self._environ(fault.environ, fault.client)
        self._make(fault, environ)
        options = ["--client"] if fault.is_asked_before and not fault.is_in_project else []
        before = self._doctor(fault, environ, *options)
        alone_before = self._asked(fault, environ) if fault.is_in_project else None
        nothing: dict[str, Any] = {"cause": "", "fix": "", "where": None}
        primary: dict[str, Any] = before["findings"][0] if before["findings"] else nothing
        typed = self._taken_out(primary["where"]) if fault.line else self._typed(primary["fix"], environ)
        self.gateway.forget()
        after = self._doctor(fault, environ, "--client") if not fault.is_in_project else {}
        alone = self._asked(fault, environ) if fault.is_in_project else None
        asked = [one for one in self.gateway.asked if not one.headers.get("user-agent", "").startswith("toolsync/")]
        return Mended(
            cause=primary["cause"],
            fix=primary["fix"],
            typed=typed,
            before=before["client"],
            after=after.get("client"),
            findings=[one["cause"] for one in after.get("findings", ())],
            state_before=alone_before,
            state_after=alone,
            asked=[_told(one) for one in asked],
        )

    def _make(self, fault: Fault, environ: Mapping[str, str]) -> None:
        if not fault.is_applied:
            for name in _SETTINGS:
                shutil.rmtree(self.home / name, ignore_errors=True)
                with suppress(FileNotFoundError, IsADirectoryError):
                    (self.home / name).unlink()
            self.project.mkdir()
        ours = {"@ROOT@": self.gateway.base_url, "@MODEL@": MODEL, "@KEY@": KEYS["first"].reveal()}
        values = {**ours, "@HOME@": str(self.home)}
        for name, text in fault.files.items():
            file = self.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(re.sub("@[A-Z]+@", lambda mark: values[mark[0]], text), encoding="utf-8")
            file.chmod(0o600)
        if fault.keyring:
            self._succeeds(["key", "set", "--stdin"], environ, KEYS["wrong"].reveal())
            if fault.is_copied:
                self._succeeds(
                    ["apply", "--yes", "--no-ping", "--allow-plaintext", "--tool", fault.client.tool], environ
                )

    def _doctor(self, fault: Fault, environ: Mapping[str, str], *options: str) -> dict[str, Any]:
        """What doctor says of the program in question; it is told nothing but the tool's name."""
        ended = self._toolsync(["doctor", fault.client.tool, "--json", *options], environ)
        try:
            tools: list[dict[str, Any]] = json.loads(ended.out)["data"]["tools"]
        except (ValueError, KeyError, TypeError):
            raise SystemExit(f"{fault.client.name}: {fault.name}: {ended.out}{ended.err}") from None
        return next(tool for tool in tools if tool["reader"] == fault.reader)

    def _asked(self, fault: Fault, environ: Mapping[str, str]) -> str:
        """The client itself in the project's folder, by the very command that doctor would run."""
        ended = process.run(
            fault.client.argv,
            environ=fault.client.environment(environ),
            folder=self.project,
            timeout_seconds=_SECONDS,
        )
        return fault.client.said(ended.code, ended.out, ended.err).state

    def _typed(self, command: str, environ: Mapping[str, str]) -> str:
        """The command as it was printed, in a shell, at a terminal at which somebody answers what it asks."""
        ours, theirs = pty.openpty()
        argv = ["/bin/sh", "-c", command]
        with subprocess.Popen(
            argv,
            env=dict(environ),
            cwd=self.project,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        ) as shell:
            os.close(theirs)
            said = "".join(_answering(ours, time.monotonic() + _SECONDS))
            os.close(ours)
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
        return said[-3000:]

    def _taken_out(self, where: Mapping[str, Any]) -> str:
        """The line that doctor names, gone."""
        file = Path(where["file"].replace("~", str(self.home), 1))
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        gone = lines.pop(where["line"] - 1)
        file.write_text("".join(lines), encoding="utf-8")
        return gone

    def _succeeds(self, arguments: Sequence[str], environ: Mapping[str, str], stdin: str = "") -> None:
        ended = self._toolsync(arguments, environ, stdin)
        if ended.code != 0:
            raise SystemExit(f"toolsync {' '.join(arguments)}: {ended.out}{ended.err}")

    def _toolsync(self, arguments: Sequence[str], environ: Mapping[str, str], stdin: str = "") -> process.Ended:
        argv = [sys.executable, "-I", "-m", "toolsync", *arguments]
        return process.run(argv, environ=environ, folder=self.project, timeout_seconds=2 * _SECONDS, stdin=stdin)

    def _environ(self, exports: Mapping[str, str], client: Client | None = None) -> dict[str, str]:
        """A shell's environment: the client on PATH by the name that people type."""
        temporary = str(self.home / "tmp")
        if client is not None:
            link = self.home / "bin" / client.row.command[0]
            link.unlink(missing_ok=True)
            link.symlink_to(client.file)
        path = search_path(client) if client is not None else "/usr/bin:/bin"
        return {
            "PATH": f"{self.home}/bin:{path}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": temporary,
            "CLAUDE_CODE_TMPDIR": temporary,
            "API_TIMEOUT_MS": "20000",
            **exports,
        }


_LOCAL = 3
"""Where the local flags stand among a terminal's attributes."""

_HIDDEN = "nothing is shown"
_ANSWERS = {"[y/N]": "y\n", "[Y/n]": "y\n", _HIDDEN: f"{KEYS['first'].reveal()}\n"}


def _answering(terminal: int, deadline: float) -> Iterator[str]:
    """What a terminal shows until its program ends, while every question is answered once."""
    asked = ""
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            shown = os.read(terminal, 4096).decode(errors="replace")
        except OSError:  # Linux says so where nobody has the other end any more
            return
        if not shown:
            return
        yield shown
        asked += shown
        mark = next((mark for mark in _ANSWERS if mark in asked), None)
        if mark is not None:
            asked = ""
            while (
                _HIDDEN in mark and termios.tcgetattr(terminal)[_LOCAL] & termios.ECHO and time.monotonic() < deadline
            ):
                time.sleep(0.01)  # what is typed before the echo is off is lost
            os.write(terminal, _ANSWERS[mark].encode())


def _told(request: Received) -> dict[str, Any]:
    query = f"?{request.query}" if request.query else ""
    keys = {header: _named(key) for header, key in request.credentials.items()}
    return {"to": f"{request.path}{query}", "model": request.model, "keys": keys}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
