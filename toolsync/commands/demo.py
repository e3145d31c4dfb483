"""`demo`: the whole story in a throw-away home, against a gateway that it starts on loopback."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from toolsync.commands import apply as applying
from toolsync.commands import undo as undoing
from toolsync.commands.diff import diff
from toolsync.commands.init import Wanted, init, profile_table
from toolsync.commands.keys.stored import set_key
from toolsync.commands.pinging import run as ping
from toolsync.commands.profiles.verbs import edit
from toolsync.commands.status import status
from toolsync.errors import PingFailedError, ToolsyncError
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret
from toolsync.paths import Places
from toolsync.planning.plans import Wish
from toolsync.result import PROBLEM, Message, Result
from toolsync.secret.vault import MemoryVault
from toolsync.session import Session
from toolsync.value import frozen

_KEY = "sk-demo-0000-not-a-real-key"
_MODEL = "demo-model"


@frozen
class Step:
    """One piece of the story: a command as one would type it, what it said, and how it ended."""

    command: str = ""
    text: str = ""
    result: Result | None = None
    error: ToolsyncError | None = None
    exit_code: int = 0


def story() -> Iterator[Step]:
    """The steps, as they happen; the last one's exit code says whether the home is byte-identical to its start."""
    with tempfile.TemporaryDirectory(prefix="toolsync-demo-") as folder, LoopbackGateway(Secret(_KEY)) as gateway:
        home = Path(folder).resolve()
        _furnish(home)
        before = _contents(home)
        yield Step(text=f"A throw-away home, {home}, with settings that people have:")
        yield Step(text="\n".join(f"  ~/{name}" for name in sorted(before)))
        session = _session(home)
        try:
            yield from _acts(session, gateway)
            yield _ending(before, _contents(home), asked=len(gateway.asked))
        except ToolsyncError as error:
            yield Step(error=error, exit_code=error.exit_code)


def _acts(session: Session, gateway: LoopbackGateway) -> Iterator[Step]:
    address = gateway.base_url
    table = profile_table("work", Wanted(base_url=address, model=_MODEL, title="Demo gateway"))
    table["tool"] = {
        "config-toml": {"paths": ["~/service/config.toml"]},
        "settings-json": {"paths": ["~/service/settings.json"]},
    }
    init(session, "work", table)
    yield Step(f"toolsync init work --base-url {address} --model {_MODEL}", "Profile 'work' is ready and active.")

    stored = set_key(_KEY, "work", session.open_vault(), session.state)
    yield Step("toolsync key set", f"keyring:work is stored in {stored.backend}.")

    yield Step("toolsync diff", result=diff(session, Wish()))
    yield Step("toolsync apply --yes", result=_applied(session))
    yield Step("toolsync status", result=status(session, Wish()))

    yield Step(text="\nA slip in the address:")
    yield _edited(session, f"base_url={address}/v2/nowhere")
    try:
        yield Step("toolsync apply --yes", result=_applied(session))
    except PingFailedError as error:
        yield Step("toolsync apply --yes", error=error)
    yield Step(text="\nMended:")
    yield _edited(session, f"base_url={address}")
    yield Step("toolsync ping", result=ping(session, Wish()))

    yield Step("toolsync undo --yes", result=undoing.execute(session, undoing.plan(session, [])))


def _edited(session: Session, setting: str) -> Step:
    edited = edit(session, None, [setting])
    return Step(f"toolsync profile edit --set {setting}", f"{edited.file.shown} is saved.")


def _applied(session: Session) -> Result:
    options = applying.Options()
    return applying.execute(session, applying.plan(session, Wish(), options), options)


def _ending(before: dict[str, bytes], after: dict[str, bytes], *, asked: int) -> Step:
    differing = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if differing:
        text = "The home is not what it was: " + ", ".join(differing)
        return Step(result=Result("demo", {}, (Message("problem", text),), PROBLEM), exit_code=PROBLEM)
    text = (
        f"{len(before)} files, every byte as it was. The gateway answered {asked} requests; nothing left this machine."
    )
    return Step(text=f"\n{text}")


def _session(home: Path) -> Session:
    vault = MemoryVault()
    places = Places(home, {"PATH": ""}, home / "project", Path(home.anchor), "linux")
    config = home / ".config" / "toolsync" / "profile.toml"
    return Session(places, config, home / ".local" / "state" / "toolsync", lambda: vault)


def _furnish(home: Path) -> None:
    for name, text in _FURNITURE.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def _contents(home: Path) -> dict[str, bytes]:
    """Every file's bytes by name, toolsync's own folders aside."""
    own = (home / ".config" / "toolsync", home / ".local" / "state" / "toolsync")
    files = (path for path in home.rglob("*") if path.is_file() and not any(map(path.is_relative_to, own)))
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in files}


_FURNITURE = {
    ".claude/settings.json": """{
  "permissions": {
    "allow": ["Bash(git diff:*)", "Read(~/notes/**)"]
  },
  "env": {
    "EDITOR": "vim"
  },
  "statusLine": { "type": "command", "command": "echo \\u2714" }
}
""",
    ".codex/config.toml": """# my Codex
model = "gpt-5-codex"   # the good one
approval_policy = "on-request"

# servers
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-server"]

[projects."/home/me/work"]
trust_level = "trusted"
""",
    ".config/Code/User/settings.json": """// VS Code, hand-kept
{
\t"editor.fontSize": 13, // small
\t"workbench.colorTheme": "Solarized Dark",
\t// "files.autoSave": "off",
}
""",
    "service/config.toml": """# our inference service
[api]
base_url = "https://old.example/v1"   # being moved
api_key = "${OLD_KEY}"

[server]
port = 8080
""",
}
