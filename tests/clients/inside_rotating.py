"""Rotates a key in a home folder with five tools, asks the real clients then, and prints what was seen: `… HOME`.

As `inside`: run where nothing but loopback can be reached and a Secret Service answers. It judges nothing.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from tests.acceptance.both import Both
from tests.clients.client import CLIENTS
from tests.clients.cline import ANSWER, FILES, FOREIGN, NEWER
from tests.clients.inside import KEYS, MODEL, Stage
from tests.clients.resolver import Resolver
from tests.clients.story import Played, Run
from tests.store.cc_switch import home as with_cc_switch

CLAUDE = next(client for client in CLIENTS if client.name == "claude")
CODEX = next(client for client in CLIENTS if client.name == "codex")
ASKED = (CLAUDE, CODEX, NEWER)
GENERIC = ("service/config.toml", "service/settings.json")
COPIES = (CODEX.settings, FILES["providers.json"], FILES["secrets.json"], *GENERIC)
DATABASE = ".cc-switch/cc-switch.db"
_PROFILE = """
[profiles.work.tool.codex]
key_way = "plaintext"
[profiles.work.tool.config-toml]
paths = ["~/service/config.toml"]
key_way = "plaintext"
[profiles.work.tool.settings-json]
paths = ["~/service/settings.json"]
key_way = "plaintext"
"""


def main(home: Path) -> None:
    """Play it; `home` is empty."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=10)
    keys = [KEYS[name].reveal() for name in ("first", "second")]
    with Resolver() as resolver, Both(*keys, models=(MODEL,), says=ANSWER) as gateway:
        sys.stdout.write(_Rotation(CLAUDE, home, gateway, resolver).rotated().to_json())


@dataclass(frozen=True)
class Rotated(Played):
    """What was seen.

    Attributes:
        copies: the keys that stand in each file, by moment and file.
        kept: whether the files of the tools that ask for the key are byte for byte what they were.
    """

    copies: Mapping[str, Mapping[str, tuple[str, ...]]]
    kept: bool


@dataclass(frozen=True)
class _Rotation(Stage):
    def rotated(self) -> Rotated:
        self._furnish()
        commands = self._prepared()
        copies = {"applied": self._copies()}
        asking = (self.home / CLAUDE.settings).read_bytes()
        new = f"{KEYS['second'].reveal()}\n"
        commands["key rotate"] = self._toolsync("key", "rotate", "--stdin", "--yes", "--json", stdin=new)
        copies["rotated"] = self._copies()
        kept = (self.home / CLAUDE.settings).read_bytes() == asking
        runs = dict(self._runs())
        commands["back"] = self._toolsync("key", "rotate", "--back", "--yes")
        copies["back"] = self._copies()
        return Rotated(urlsplit(self.gateway.base_url).netloc, commands, runs, copies, kept)

    def _furnish(self) -> None:
        for folder in ("project", "tmp", "service"):
            (self.home / folder).mkdir()
        for client in (CLAUDE, CODEX):
            self._write(client.settings, client.foreign_text)
        for name, place in FILES.items():
            self._write(place, (FOREIGN / name).read_text(encoding="utf-8"))
        with_cc_switch(self.home, "version 17")

    def _write(self, name: str, text: str) -> None:
        (self.home / name).parent.mkdir(parents=True, exist_ok=True)
        (self.home / name).write_text(text, encoding="utf-8")

    def _prepared(self) -> dict[str, Run]:
        address = ("--base-url", self.gateway.base_url, "--model", MODEL)
        commands = {"init": self._toolsync("init", "work", *address), "key set": self._key_set("first")}
        with (self.home / ".config/toolsync/profile.toml").open("a", encoding="utf-8") as file:
            file.write(_PROFILE)
        return {**commands, "apply": self._toolsync("apply", "--yes", "--allow-plaintext")}

    def _runs(self) -> Iterator[tuple[str, Run]]:
        for client in ASKED:
            yield client.name, replace(self, client=client)._asked_once()

    def _copies(self) -> dict[str, tuple[str, ...]]:
        """The keys that stand in each file, by their names."""
        texts = {name: (self.home / name).read_bytes() for name in (*COPIES, DATABASE)}
        return {
            name: tuple(label for label, key in KEYS.items() if key.reveal().encode() in text)
            for name, text in texts.items()
        }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
