"""Plays a client's story in a home folder, and prints what was seen: `python -m tests.clients.inside CLIENT HOME`.

Run where nothing but loopback can be reached (`unshare --net --mount`) and a Secret Service answers. It judges nothing.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from tests.clients import process
from tests.clients.client import CLIENTS, Client, search_path
from tests.clients.connection import STRACE, targets
from tests.clients.resolver import Resolver
from tests.clients.story import Asked, Run, Story
from tests.keys import invented
from toolsync.loopback import LoopbackGateway, Received
from toolsync.masking import Secret

MODEL = "profile-model-1"
KEYS = {name: Secret(invented(name)) for name in ("first", "second", "wrong")}

_CLIENT_SECONDS = 60.0
_TOOLSYNC_SECONDS = 40.0


def main(name: str, home: Path) -> None:
    """Play the story of the client `name`; `home` is empty."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=10)
    client = next(client for client in CLIENTS if client.name == name)
    with Resolver() as resolver, LoopbackGateway(KEYS["first"], models=(MODEL,)) as gateway:
        sys.stdout.write(Stage(client, home, gateway, resolver).play().to_json())


@dataclass(frozen=True)
class Stage:
    client: Client
    home: Path
    gateway: LoopbackGateway
    resolver: Resolver

    def play(self) -> Story:
        settings = self.home / self.client.settings
        settings.parent.mkdir(parents=True)
        settings.write_text(self.client.foreign_text, encoding="utf-8")
        for folder in ("project", "tmp"):
            (self.home / folder).mkdir()
        commands = self._prepared()
        before = _state(self.home, self._watched(settings))
        runs = dict(self._runs())
        after = _state(self.home, self._watched(settings))
        final = settings.read_text(encoding="utf-8")
        commands |= {"status": self._toolsync("status"), "undo": self._toolsync("undo", "--yes")}
        hooks = self.home / "hook.log"
        return Story(
            gateway=urlsplit(self.gateway.base_url).netloc,
            commands=commands,
            runs=runs,
            settings=final,
            undone=settings.read_text(encoding="utf-8"),
            changed=tuple(sorted(name for name in before | after if before.get(name) != after.get(name))),
            hooked=len(hooks.read_text().splitlines()) if hooks.exists() else 0,
        )

    def _prepared(self) -> dict[str, Run]:
        address = ("--base-url", self.gateway.base_url, "--model", MODEL)
        return {
            "init": self._toolsync("init", "work", *address),
            "key set": self._key_set("first"),
            "apply": self._toolsync("apply", "--yes"),
        }

    def _runs(self) -> Iterable[tuple[str, Run]]:
        yield "first", self._asked_once()
        yield "stale exports", self._asked_once(self.client.stale)
        self._key_set("wrong")
        yield "wrong key", self._asked_once()
        self.gateway.key = KEYS["second"]
        self._key_set("second")
        yield "new key", self._asked_once()

    def _asked_once(self, exports: Mapping[str, str] | None = None) -> Run:
        """The client, run once under strace: Node's and Rust's own threads and the helper are followed too."""
        log = self.home.parent / f"{self.home.name}.strace"
        argv: list[str | Path] = [*STRACE, "-o", log, "--", *self.client.argv]
        environ = self.client.environment({**self._environ(), **(exports or {})})
        seen = self._seen(lambda: run(argv, environ, self.home / "project", _CLIENT_SECONDS))
        return replace(seen, connected=targets(log.read_text(errors="replace")))

    def _key_set(self, name: str) -> Run:
        return self._toolsync("key", "set", "--stdin", stdin=f"{KEYS[name].reveal()}\n")

    def _toolsync(self, *arguments: str, stdin: str = "") -> Run:
        argv = [sys.executable, "-I", "-m", "toolsync", *arguments]
        return self._seen(lambda: run(argv, self._environ(), self.home / "project", _TOOLSYNC_SECONDS, stdin))

    def _seen(self, act: Callable[[], Run]) -> Run:
        self.gateway.forget()
        self.resolver.taken()
        run = act()
        asked = self.gateway.asked
        others = [f"{one.method} {one.path}" for one in self.gateway.received if one not in asked]
        names = self.resolver.taken()
        return replace(run, asked=tuple(map(_asked, asked)), others=tuple(others), names=names)

    def _environ(self) -> dict[str, str]:
        """What `env -i` with little more would give: no bus address among it."""
        temporary = str(self.home / "tmp")
        return {
            "PATH": search_path(self.client),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": temporary,
            "CLAUDE_CODE_TMPDIR": temporary,
        }

    def _watched(self, settings: Path) -> list[Path]:
        ours = [file for folder in (".config", ".local") for file in (self.home / folder).rglob("toolsync/**/*")]
        return [settings, *(file for file in ours if file.is_file() and file.name != "lock")]  # who writes holds it


def run(argv: Sequence[str | Path], environ: Mapping[str, str], folder: Path, seconds: float, stdin: str = "") -> Run:
    ended = process.run(argv, environ=environ, folder=folder, timeout_seconds=seconds, stdin=stdin)
    return Run(ended.code, ended.out, ended.err, round(ended.seconds, 1))


def _asked(request: Received) -> Asked:
    query = f"?{request.query}" if request.query else ""
    keys = {header: _named(key) for header, key in request.credentials.items()}
    return Asked(f"{request.path}{query}", request.model or "", keys)


def _named(key: Secret) -> str:
    return next((name for name, known in KEYS.items() if known == key), "another")


def _state(home: Path, files: Iterable[Path]) -> dict[str, tuple[int, int, bytes]]:
    """What tells whether a file was written: its place on the disk, its time, its bytes."""
    return {
        str(file.relative_to(home)): (file.stat().st_ino, file.stat().st_mtime_ns, file.read_bytes()) for file in files
    }


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
