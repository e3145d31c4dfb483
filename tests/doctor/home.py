"""A home with tools, a profile and a keyring in memory, as doctor looks at it without asking anybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.keys import invented
from toolsync import registry
from toolsync.doctor.look import Look, looks
from toolsync.doctor.world import World
from toolsync.errors import SecretError
from toolsync.masking import Secret
from toolsync.paths import Places, Platform
from toolsync.process import Process
from toolsync.profile.reader import read
from toolsync.secret.vault import MemoryVault, Vault
from toolsync.session import Session
from toolsync.tool import Tool, read_tool

KEY = invented("doctor-offline")
OTHER = invented("doctor-offline-other")
PROFILE = 'active = "work"\n[profiles.work]\nbase_url = "https://gw.example/api"\nmodel = "m"\nkey = "keyring:work"\n'
SHIPPED = registry.tools(Path("/nonexistent"))

TRUSTED = '[projects."@HOME@/project"]\ntrust_level = "trusted"\n'
"""What Codex' settings say of the project, once its user trusts it."""

DEMO = """
title = "Demo"
speaks = ["openai-chat"]
detect = { commands = ["demo"] }
[key]
plaintext = "<key>"
[[file]]
overlay = "settings.json"
format = "jsonc"
path = "~/.demo/settings.json"
[trace]
base_url = ["url", "=https://vendor.example/v1"]
key = ["key", "$DEMO_KEY"]
model = ["model"]
headers = ["headers"]
timeout_seconds = ["timeout"]
org = ["$OPENAI_ORG_ID"]
[request]
headers = { key = "authorization", org = "OpenAI-Organization" }
references = ["{env:NAME}"]
"""
DEMO_FILES = {"settings.json": '{"url": "<openai_url>", "model": "<model>", "key": "<key_plaintext|absent>"}'}


def demo(manifest: str = DEMO, **texts: str) -> Tool:
    """A tool with one file, `~/.demo/settings.json`."""
    named = {name.replace("__", "."): text for name, text in texts.items()}
    return read_tool("demo", {"tool.toml": manifest, **DEMO_FILES, **named})


class Shut(MemoryVault):
    """A keyring that nobody can look into."""

    def __init__(self, error: SecretError) -> None:
        super().__init__()
        self._error = error

    def get(self, name: str) -> Secret | None:  # noqa: ARG002  as every vault's
        raise self._error


@dataclass
class Home:
    """A home below `place`; what is written with a name that begins with `/` lies below another root.

    `@HOME@` in a text is the home folder.
    """

    place: Path
    environ: dict[str, str] = field(default_factory=dict)
    profile: str | None = PROFILE
    key: str = KEY
    platform: Platform = "linux"
    processes: Iterable[Process] = ()
    vault: Vault | None = None
    is_in_repository: bool = False

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def project(self) -> Path:
        return self.home / "project"

    def path(self, name: str) -> Path:
        """Where a file of that name lies."""
        return self.place / "root" / name[1:] if name.startswith("/") else self.home / name

    def write(self, files: Mapping[str, str | bytes], mode: int = 0o600) -> None:
        for name, content in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(
                content if isinstance(content, bytes) else content.replace("@HOME@", str(self.home)).encode()
            )
            path.chmod(mode)

    def session(self) -> Session:
        vault = self.vault or MemoryVault()
        if self.vault is None:
            vault.set("work", Secret(self.key))
        self.project.mkdir(parents=True, exist_ok=True)
        environ = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", **self.environ}
        repository = self.home / "repository" if self.is_in_repository else None
        root = self.place / "root"
        places = Places(self.home, environ, self.project, root, self.platform, repository=repository)
        config = self.home / ".config" / "toolsync" / "profile.toml"
        processes = tuple(self.processes)
        return Session(places, config, self.place / "state", lambda: vault, processes=lambda: processes)

    def world(self) -> World:
        if self.profile is None:
            return World(self.session())
        profiles = read(self.profile)
        return World(self.session(), profiles.get(), profiles.profiles)

    def looks(self, tool: Tool | str) -> tuple[Look, ...]:
        return tuple(looks(self.world(), SHIPPED[tool] if isinstance(tool, str) else tool))

    def look(self, tool: Tool | str, reader: str = "") -> Look:
        """One program of the tool."""
        return next(look for look in self.looks(tool) if look.reader.name == reader)
