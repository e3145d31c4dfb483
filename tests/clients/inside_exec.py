"""Runs a client by `toolsync exec`, nothing applied: `python -m tests.clients.inside_exec CLIENT HOME`.

Run where nothing but loopback can be reached and a Secret Service answers. It prints what was seen, and judges nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from tests.clients.client import CLIENTS
from tests.clients.inside import KEYS, MODEL, Stage, run
from tests.clients.resolver import Resolver
from toolsync.loopback import LoopbackGateway

_SECONDS = 60.0


def main(name: str, home: Path) -> None:
    """Ask once, with exports in the shell that must not get through; `home` is empty."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=10)
    client = next(client for client in CLIENTS if client.name == name)
    for folder in ("project", "tmp"):
        (home / folder).mkdir()
    with Resolver() as resolver, LoopbackGateway(KEYS["first"], models=(MODEL,)) as gateway:
        stage = Stage(client, home, gateway, resolver)
        stage._toolsync("init", "work", "--base-url", gateway.base_url, "--model", MODEL)
        stage._key_set("first")
        argv = [sys.executable, "-I", "-m", "toolsync", "exec", "--", *map(str, client.argv)]
        environ = client.environment({**stage._environ(), **client.stale})
        seen = stage._seen(lambda: run(argv, environ, home / "project", _SECONDS))
    sys.stdout.write(json.dumps(asdict(seen)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
