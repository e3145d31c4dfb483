"""The clients as data: where each is installed, how it is asked once, and what its request looks like."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.keys import invented

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Client:
    """A client of a tool.

    Attributes:
        name: as in `pins.txt`.
        tool: the template that serves it.
        program: in its folder of installation.
        asks: the arguments that make it ask the model once, and print the answer.
        environ: what its environment holds beside PATH, HOME and LANG.
        settings: its settings file, in the home folder.
        foreign: what the user has there before.
        posts_to: path and query of its one request for the model.
        key_headers: where the key stands in that request.
        stale: exports of the user's shell that must not reach the gateway.
        looks_up: hosts that it would go to by itself, each with what for; none of them is given the key, but where
            it says so.
    """

    name: str
    tool: str
    program: str
    asks: tuple[str, ...]
    environ: Mapping[str, str]
    settings: str
    foreign: str
    posts_to: str
    key_headers: frozenset[str]
    stale: Mapping[str, str]
    looks_up: Mapping[str, str] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """The version that is pinned."""
        return _pins()[self.name]

    @property
    def file(self) -> Path:
        """The program itself, whether it is there or not."""
        return _installed_in() / f"{self.name}-{self.version}" / self.program

    @property
    def foreign_text(self) -> str:
        """The user's settings file as it is before toolsync comes."""
        return (_HERE / "foreign" / self.foreign).read_text(encoding="utf-8")


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
    asks=("-p", "ping"),
    environ={
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",  # a refusal ends it at once instead of after three minutes
        "API_TIMEOUT_MS": "20000",
    },
    settings=".claude/settings.json",
    foreign="claude.json",
    posts_to="/api/v1/messages?beta=true",
    key_headers=frozenset({"authorization", "x-api-key"}),  # what an `apiKeyHelper` prints goes into both
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
        asks=("exec", "--skip-git-repo-check", "-c", "model_providers.toolsync.stream_max_retries=0", "ping"),
        environ={},
        settings=".codex/config.toml",
        foreign="codex.toml",
        posts_to="/api/v1/responses",
        key_headers=frozenset({"authorization"}),
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
