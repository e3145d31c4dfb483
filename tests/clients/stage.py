"""Where real clients are run: what they need, and the way into a namespace with nothing but loopback."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

from tests.clients.client import Client
from tests.conftest import needs

REPOSITORY = Path(__file__).parents[2]
_NAMESPACES = ("unshare", "--net", "--mount")


def needs_client(chosen: Client) -> None:
    """Skip this test where the client, or what it is run with, is not there."""
    needs(platform.system() == "Linux", "needs Linux's namespaces")
    for program in ("node", "unshare", "ip", "mount", "strace", "dbus-daemon", "gnome-keyring-daemon"):
        needs(shutil.which(program), f"needs {program}")
    needs(chosen.file.exists(), f"needs {chosen.name} {chosen.version} (tests/clients/install.sh)")
    needs(_succeeds(sys.executable, "-I", "-c", "import toolsync"), "needs toolsync installed (`pip install .`)")
    needs(_succeeds(*stage("true")), "needs a network namespace (root, or user namespaces)")


def stage(*argv: str) -> list[str | Path]:
    """`argv` with a Secret Service, and nothing but loopback.

    The script makes a user namespace where we are not root, and keeps the right to make these in it.
    """
    return [REPOSITORY / "tests" / "secret_service.sh", *_NAMESPACES, "--", *argv]


def _succeeds(*argv: str | Path) -> bool:
    return subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=60).returncode == 0
