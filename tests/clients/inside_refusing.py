"""Asks the clients once with settings that they do not take: `python -m tests.clients.inside_refusing FOLDER`.

Run where nothing but loopback can be reached. It prints whether each client asked, and what doctor says of it; it
judges nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.clients.client import search_path
from tests.clients.inside import run
from tests.clients.refusing import TABLE, Refused
from toolsync import registry
from toolsync.doctor.checks import findings
from toolsync.doctor.loading import unstarted
from toolsync.doctor.look import looks
from toolsync.doctor.world import World
from toolsync.loopback import LoopbackGateway
from toolsync.paths import Places
from toolsync.secret.vault import MemoryVault
from toolsync.session import Session

_SECONDS = 60.0
_AT_ONCE = 4
"""Clients: each waits more than it works."""


def main(folder: Path) -> None:
    """Play every row in a home folder of its own below `folder`, which is empty."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=10)
    homes = [folder / str(index) for index in range(len(TABLE))]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        played = list(pool.map(_played, TABLE, homes))
    sys.stdout.write(json.dumps(played))


def _played(row: Refused, home: Path) -> Mapping[str, Any]:
    with LoopbackGateway(models=("m",)) as gateway:
        return _asked(row, home, gateway)


def _asked(row: Refused, home: Path, gateway: LoopbackGateway) -> Mapping[str, Any]:
    for name in ("project", "tmp"):
        (home / name).mkdir(parents=True)
    settings = home / row.client.settings
    settings.parent.mkdir(parents=True)
    settings.write_text(row.text.replace("@ROOT@", gateway.base_url), encoding="utf-8")
    temporary = str(home / "tmp")
    own = {"HOME": str(home), "LANG": "C.UTF-8", "TMPDIR": temporary, "CLAUDE_CODE_TMPDIR": temporary}
    environ = {"PATH": search_path(row.client), **own}
    told = _told(row, home, environ)
    ended = run(row.client.argv, row.client.environment(environ), home / "project", _SECONDS)
    return {"asked": [one.model for one in gateway.asked][:1], "told": told, "said": ended.out + ended.err}


def _told(row: Refused, home: Path, environ: Mapping[str, str]) -> list[str]:
    """What doctor says of the settings, before anybody is asked."""
    places = Places(home, environ, home / "project", Path("/"), "linux")
    world = World(Session(places, home / "profile.toml", home / "state", MemoryVault))
    look = next(looks(world, registry.tools(Path("/nonexistent"))[row.client.tool]))
    found = findings(look)
    broken = [one for one in (*found, *unstarted(look, found)) if one.cause == "config_parse_error"]
    return [f"{one.certainty} {' '.join(map(str, one.evidence))}" for one in broken]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
