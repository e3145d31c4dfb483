"""Plays the story of Cline's two clients in one home folder, and prints what was seen: `… cline_inside HOME`.

As `inside`: run where nothing but loopback can be reached and a Secret Service answers. It judges nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from tests.clients.cline import ANSWER, FILES, FOREIGN, NEWER, OLDER, OTHER, VARIANTS, Seen
from tests.clients.inside import KEYS, MODEL, Stage, run
from tests.clients.resolver import Resolver
from tests.clients.story import Run
from toolsync.loopback import LoopbackGateway
from toolsync.registry import tools

_SECONDS = 60.0  # on a busy machine; it is seldom waited for


def main(home: Path) -> None:
    """Play it; `home` is empty."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=10)
    with Resolver() as resolver, LoopbackGateway(KEYS["first"], models=(MODEL,), says=ANSWER) as gateway:
        sys.stdout.write(_ClineStage(NEWER, home, gateway, resolver).seen().to_json())


@dataclass(frozen=True)
class _ClineStage(Stage):
    commands: dict[str, Run] = field(default_factory=dict)
    files: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def seen(self) -> Seen:
        for name, place in FILES.items():
            (self.home / place).parent.mkdir(parents=True, exist_ok=True)
            (self.home / place).write_text((FOREIGN / name).read_text(encoding="utf-8"), encoding="utf-8")
        for folder in ("project", "tmp"):
            (self.home / folder).mkdir()
        runs = dict(self._runs())
        return Seen(
            gateway=urlsplit(self.gateway.base_url).netloc,
            commands=self.commands,
            runs=runs,
            files=self.files,
            kept=self._kept(),
        )

    def _runs(self) -> Iterator[tuple[str, Run]]:
        self._do("init", "init", "work", "--base-url", self.gateway.base_url, "--model", MODEL)
        self.commands["key set"] = self._key_set("first")
        self._do("apply", "apply", "--yes", "--tool", "cline", "--allow-plaintext")
        yield from self._both("first", self.client.stale)
        self._do("status", "status")
        self._do("apply again", "apply", "--yes")
        self.commands["key set wrong"] = self._key_set("wrong")
        self._do("apply wrong", "apply", "--yes", "--no-ping")
        yield from self._both("wrong key")
        self.gateway.key = KEYS["second"]
        self.commands["key set second"] = self._key_set("second")
        self._do("apply new", "apply", "--yes")
        yield from self._both("new key")
        self._do("undo", "undo", "--yes")
        yield from self._by_environment()

    def _both(self, what: str, exports: Mapping[str, str] | None = None) -> Iterator[tuple[str, Run]]:
        for client in (NEWER, OLDER):
            yield f"{client.name}: {what}", replace(self, client=client)._asked_once(exports)

    def _by_environment(self) -> Iterator[tuple[str, Run]]:
        """The newer one takes the key from its environment too, where its file holds none."""
        profile = self.home / ".config" / "toolsync" / "profile.toml"
        with profile.open("a", encoding="utf-8") as file:
            file.write('\n[profiles.work.tool.cline]\nkey_way = "env"\n')
        self._do("apply env", "apply", "--yes", "--tool", "cline")
        yield "cline: environment", self._asked_once({"OPENAI_API_KEY": KEYS["second"].reveal()})
        yield from self._by_hub()
        self._do("undo env", "undo", "--yes")

    def _by_hub(self) -> Iterator[tuple[str, Run]]:
        """As people start it, the newer one leaves a hub behind, which makes the requests of later runs too."""
        ask = (*NEWER.argv,)
        end = (*tools(Path("/nowhere"))["cline"].processes["cli"].ends.split(),)
        try:
            yield "hub: begun with the old key", self._started(ask, "first")
            yield "hub: the new key is set", self._started(ask, "second")
            doctor = (sys.executable, "-I", "-m", "toolsync", "doctor", "cline", "--json")
            yield "hub: doctor", self._started(doctor, "second")
        finally:
            self.commands["hub stop"] = self._started(end, "second")
        yield "hub: ended", self._started(ask, "second")
        self._started(end, "second")

    def _started(self, argv: Sequence[str | Path], key: str) -> Run:
        """A program in a terminal that has this key in its environment."""
        environ = self.client.environment({**self._environ(), "OPENAI_API_KEY": KEYS[key].reveal()})
        environ = {name: value for name, value in environ.items() if name != "CLINE_SESSION_BACKEND_MODE"}
        return self._seen(lambda: run(argv, environ, self.home / "project", _SECONDS))

    def _do(self, name: str, *arguments: str) -> None:
        self.commands[name] = self._toolsync(*arguments)
        places = {file: self.home / place for file, place in FILES.items()}
        self.files[name] = {file: place.read_text() if place.exists() else "" for file, place in places.items()}

    def _kept(self) -> dict[str, bool | None]:
        with ThreadPoolExecutor(max_workers=4) as pool:
            kept = pool.map(self._keeps, range(len(VARIANTS)), VARIANTS.values())
            return dict(zip(VARIANTS, kept, strict=True))

    def _keeps(self, number: int, text: str) -> bool | None:
        """Whether Cline, started once, leaves another provider's key where it stands; None if it came to no end."""
        home = self.home / f"variant-{number}"
        file = home / FILES["providers.json"]
        file.parent.mkdir(parents=True, exist_ok=True)
        ours = {"@ADDRESS@": f"{self.gateway.base_url}/v1", "@KEY@": KEYS["second"].reveal(), "@MODEL@": MODEL}
        for word, value in ours.items():
            text = text.replace(word, value)
        file.write_text(text, encoding="utf-8")
        environ = NEWER.environment({"HOME": str(home), "PATH": "/usr/bin:/bin", "TMPDIR": str(home)})
        with subprocess.Popen(
            NEWER.argv,
            env=environ,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        ) as cline:
            deadline = time.monotonic() + _SECONDS
            while cline.poll() is None and OTHER in file.read_text() and time.monotonic() < deadline:
                time.sleep(0.1)
            is_late = time.monotonic() >= deadline
            with suppress(ProcessLookupError):
                os.killpg(cline.pid, signal.SIGKILL)  # one that has lost its file looks for hosts for a minute
        return None if is_late else OTHER in file.read_text()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
