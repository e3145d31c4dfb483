"""Asks the clients once for each arrangement of their layers: `python -m tests.clients.inside_layers FOLDER`.

Run where nothing but loopback can be reached, in a mount namespace. It prints what each client asked, and what doctor
says that it will ask; it judges nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.clients.client import search_path
from tests.clients.inside import run
from tests.clients.layering import KEYS, MODELS, TABLE, Arranged
from toolsync import registry
from toolsync.doctor.look import looks
from toolsync.doctor.world import World
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret
from toolsync.paths import Places
from toolsync.secret.vault import MemoryVault
from toolsync.session import Session

_SECONDS = 60.0


def main(folder: Path) -> None:
    """Play every row in a home folder of its own below `folder`, which is empty."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=10)
    with LoopbackGateway(models=MODELS) as gateway, LoopbackGateway(models=MODELS) as other:
        gateways = {"@ROOT@": gateway, "@OTHER@": other}
        played = [_played(row, folder / str(index), gateways) for index, row in enumerate(TABLE)]
    sys.stdout.write(json.dumps(played))


def _played(row: Arranged, home: Path, gateways: Mapping[str, LoopbackGateway]) -> Mapping[str, Any]:
    for name in ("project", "tmp"):
        (home / name).mkdir(parents=True)
    subprocess.run(["cp", "-a", "/etc", home / "etc"], capture_output=True, check=False, timeout=30)  # what we may read
    known = {**{name: one.base_url for name, one in gateways.items()}, "@HOME@": str(home)}
    known |= {f"@{name}@": key for name, key in KEYS.items()}
    for name, text in row.files.items():
        path = home / name.removeprefix("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(text, known), encoding=row.encoding)
    subprocess.run(["mount", "--bind", home / "etc", "/etc"], check=True, timeout=10)
    try:
        environ = {name: _filled(text, known) for name, text in row.environ.items()} | _environ(row, home)
        ended = run(row.client.argv, row.client.environment(environ), home / "project", _SECONDS)
        return {"asked": _asked(gateways), "told": _told(row, home, environ, gateways), "said": ended.out + ended.err}
    finally:
        subprocess.run(["umount", "--lazy", "/etc"], check=True, timeout=10)


def _filled(text: str, known: Mapping[str, str]) -> str:
    for name, value in known.items():
        text = text.replace(name, value)
    return text


def _environ(row: Arranged, home: Path) -> dict[str, str]:
    temporary = str(home / "tmp")
    own = {"HOME": str(home), "LANG": "C.UTF-8", "TMPDIR": temporary, "CLAUDE_CODE_TMPDIR": temporary}
    return {"PATH": search_path(row.client), **own}


def _asked(gateways: Mapping[str, LoopbackGateway]) -> Sequence[Any]:
    """What the first request for a model said, to either gateway."""
    found = [(name, one) for name, gateway in gateways.items() for one in gateway.asked]
    for gateway in gateways.values():
        gateway.forget()
    return [[name, one.model, _named(one.credentials)] for name, one in found[:1]]


def _told(
    row: Arranged, home: Path, environ: Mapping[str, str], gateways: Mapping[str, LoopbackGateway]
) -> Sequence[Any]:
    """What doctor says of it."""
    places = Places(home, environ, home / "project", Path("/"), "linux")
    world = World(Session(places, home / "profile.toml", home / "state", MemoryVault))
    found = looks(world, registry.tools(Path("/nonexistent"))[row.client.tool])
    effective = next(one for one in found if one.reader.name == row.client.reader).effective
    name = next((name for name, one in gateways.items() if effective.url.startswith(one.base_url)), effective.url)
    return [name, effective.model, _named({one.header: one.value for one in effective.credentials if one.value})]


def _named(keys: Mapping[str, Secret]) -> Mapping[str, str]:
    names = {key: name for name, key in KEYS.items()}
    return {header: names.get(key.reveal(), "another") for header, key in keys.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
