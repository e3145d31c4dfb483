"""The clients as data: where each is installed, and what is special about it here.

How it is asked once, what its output says and what its request looks like is in its tool's template: the same row of
`[[client]]` that `doctor --client` goes by.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from tests.keys import invented
from toolsync import registry
from toolsync.address import PATHS, Dialect
from toolsync.doctor import client as asking
from toolsync.doctor.client import Outcome
from toolsync.tool import Client as Row
from toolsync.tool import Reader, Tool
from toolsync.trace.credential import CREDENTIALS

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Client:
    """A client of a tool.

    Attributes:
        name: as in `pins.txt`.
        tool: the template that serves it.
        program: in its folder of installation.
        environ: what its environment holds here beside PATH, HOME, LANG and what its row says.
        settings: its settings file, in the home folder.
        foreign: what the user has there before.
        stale: exports of the user's shell that must not reach the gateway.
        looks_up: hosts that it would go to by itself, each with what for; none of them is given the key, but where
            it says so.
        reader: which of the tool's programs it is.
    """

    name: str
    tool: str
    program: str
    environ: Mapping[str, str]
    settings: str
    foreign: str
    stale: Mapping[str, str]
    looks_up: Mapping[str, str] = field(default_factory=dict)
    reader: str = ""

    @property
    def version(self) -> str:
        """The version that is pinned."""
        return _pins()[self.name]

    @property
    def file(self) -> Path:
        """The program itself, whether it is there or not."""
        return _installed_in() / f"{self.name}-{self.version}" / self.program

    @property
    def row(self) -> Row:
        """How it is asked once."""
        return next(row for row in _tool(self.tool).clients if row.reader == self.reader)

    @property
    def argv(self) -> list[str]:
        """The command line that asks it once."""
        return asking.command_line(self.row, self.file)

    def environment(self, around: Mapping[str, str]) -> dict[str, str]:
        """What it is given for that, in this environment."""
        return {**asking.environment(self.row, around), **self.environ}

    def said(self, code: int | None, out: str, err: str) -> Outcome:
        """What it printed says."""
        return asking.read(self.row, asking.Ended(code, out, err, 0.0))

    @property
    def posts_to(self) -> str:
        """Path and query of its one request for the model, at a gateway below `/api`."""
        tool = _tool(self.tool)
        dialect = cast("Dialect", tool.speaks[0])
        version = "" if dialect == "anthropic-messages" else "/v1"
        return f"/api{version}{tool.request.path or PATHS[dialect]}"

    @property
    def key_headers(self) -> frozenset[str]:
        """Where the key stands in that request: each question for a key is answered from one place."""
        tool = _tool(self.tool)
        asked = CREDENTIALS & self._reader.questions.keys()
        return frozenset(tool.request.headers[question].lower() for question in asked)

    @property
    def _reader(self) -> Reader:
        return next(one for one in _tool(self.tool).readers if one.name == self.reader)

    @property
    def foreign_text(self) -> str:
        """The user's settings file as it is before toolsync comes."""
        return (_HERE / "foreign" / self.foreign).read_text(encoding="utf-8")


def _tool(name: str) -> Tool:
    return registry.tools(Path("/nonexistent"))[name]


def _installed_in() -> Path:
    named = os.environ.get("TOOLSYNC_CLIENTS_DIR")
    return Path(named).absolute() if named else _HERE.parents[1] / ".clients"


def _pins() -> Mapping[str, str]:
    """Each client's version."""
    lines = (_HERE / "pins.txt").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: version for name, version, *_ in words}


def search_path(client: Client) -> str:
    """A PATH on which the client, node and the system's own programs are, and nothing else of this machine."""
    node = shutil.which("node")
    folders = [client.file.parent, *([Path(node).parent] if node else []), Path("/usr/bin"), Path("/bin")]
    return os.pathsep.join(map(str, folders))


_CLAUDE = Client(
    name="claude",
    tool="claude-code",
    program="node_modules/.bin/claude",
    environ={"API_TIMEOUT_MS": "20000"},
    settings=".claude/settings.json",
    foreign="claude.json",
    stale={
        "ANTHROPIC_AUTH_TOKEN": invented("stale-token"),
        "ANTHROPIC_API_KEY": invented("stale-key"),
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "ANTHROPIC_MODEL": "stale-model",
    },
    # Read off a server with a certificate that the client was told to trust: GET …/organizations/metrics_enabled with
    # `x-api-key`, for a key from a helper only (not for ANTHROPIC_AUTH_TOKEN), whatever DISABLE_TELEMETRY says.
    looks_up={"api.anthropic.com": "asks whether it may send metrics, AND SENDS THE KEY; 2.1.332 does neither"},
)

CLIENTS = (
    _CLAUDE,
    replace(
        _CLAUDE,
        name="claude-native",
        program="node_modules/@anthropic-ai/claude-code-linux-x64/claude",
        looks_up={},
    ),
    Client(
        name="codex",
        tool="codex",
        program="node_modules/.bin/codex",
        environ={},
        settings=".codex/config.toml",
        foreign="codex.toml",
        stale={
            "OPENAI_API_KEY": invented("stale-key"),
            "CODEX_API_KEY": invented("stale-codex"),
            "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        },
        looks_up={
            "github.com": "git ls-remote of openai/plugins",
            "api.github.com": "the same by another way",
            "chatgpt.com": "the list of curated plugins",
            "ab.chatgpt.com": "its metrics",
        },
    ),
)
