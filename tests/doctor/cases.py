"""A case of doctor's, realised: a tool of the user's own in a temp home that is set as the case says.

The tool is `demo`. Where the case speaks of Claude Code's or Codex's own files in their dialect, it is that tool under
another name, for its layers are what the case is about; else it is one with a single file of its own.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from tests.acceptance.machine import enter
from tests.conftest import needs
from tests.doctor.home import Shut
from tests.doctor.listeners import Asked, Listeners, listening
from tests.doctor.vocabulary import understood
from tests.key_print import program
from tests.programs import started
from toolsync import resources
from toolsync.__main__ import main
from toolsync.cli import context
from toolsync.errors import KeyringLockedError, NoKeyringError, SecretError
from toolsync.session import this_machine

Data = Mapping[str, Any]

SECONDS = 60.0
"""How long one run may take, all its limits together."""

_STANDARD = {"connect_s": 2, "read_s": 2, "total_s": 5}
"""The patience that cases state where nothing depends on it."""


@dataclass(frozen=True)
class Diagnosed:
    """What doctor said.

    Attributes:
        code: its exit code.
        out: its stdout: one JSON object.
        err: its stderr.
        asked: every request that reached a listener meanwhile.
    """

    code: int
    out: str
    err: str
    asked: tuple[Asked, ...]

    @property
    def findings(self) -> list[Data]:
        """All findings of the tool, the primary one first."""
        tools = json.loads(self.out)["data"]["tools"]
        return [finding for tool in tools for finding in tool["findings"]]

    @property
    def causes(self) -> list[str]:
        """Their causes."""
        return [str(finding["cause"]) for finding in self.findings]


@dataclass
class Stage:
    """Where a case is realised."""

    place: Path
    case: Data
    listeners: Listeners
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def project(self) -> Path:
        return self.place / "project"

    @property
    def config(self) -> Path:
        return self.home / ".config" / "toolsync"

    def filled(self, data: Any) -> Any:
        """The case's data with addresses and folders filled in."""
        text = json.dumps(self.listeners.filled(data), ensure_ascii=False)
        return json.loads(text.replace("{HOME}", str(self.home)).replace("{PROJECT}", str(self.project)))

    @property
    def root(self) -> Path:
        """What stands for the file system's root: a case may speak of files of the system's own."""
        return self.place / "root"

    @property
    def whole_environ(self) -> dict[str, str]:
        """The variables of a command that is run there."""
        plain = {"HOME": str(self.home), "PATH": os.defpath, "LANG": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": _NO_BUS}
        return {**plain, **self.environ}

    def write(self, path: Path, text: str) -> None:
        if not path.is_relative_to(self.place):
            path = self.root / path.relative_to(path.anchor)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


@contextmanager
def realised(place: Path, case: Data, *, fixed: bool = False) -> Iterator[Stage]:
    """The case's listeners, files, variables and process; with `fixed`, as it is once it is mended."""
    case = understood(case)
    with listening(case["server_behaviour"]["listeners"]) as listeners:
        stage = Stage(place, case, listeners)
        for folder in (stage.home, stage.project):
            folder.mkdir(parents=True)
        if listeners.roots:
            stage.write(place / "roots.pem", listeners.roots.decode())
            stage.environ["SSL_CERT_FILE"] = str(place / "roots.pem")
        config = stage.filled(case["config"])
        said = stage.filled(case["environment"])
        if fixed:
            config, said = _mended(config, said, stage.filled(case["fixed"]))
        with _process(stage, said.get("process")):
            stage.environ |= {name: str(value) for name, value in (said.get("env") or {}).items()}
            files = {file["path"]: file["text"] for file in said.get("files") or []}
            _tool(stage, config, files)
            _profile(stage, config)
            if case["expected_cause"] == "config_drift" and not fixed:
                run(stage, *_APPLY)
            for path, text in files.items():
                stage.write(Path(path), text)
            yield stage


_APPLY = ("apply", "--tool", "demo", "--yes", "--no-ping", "--allow-plaintext", "--lose-old-values", "--json")
"""What came before a case in which something has changed since."""


def diagnosed(stage: Stage, *options: str) -> Diagnosed:
    """`toolsync doctor demo --json`, which knows nothing of the case; in its own process where names lead elsewhere."""
    before = len(stage.listeners.asked)
    environ = stage.whole_environ
    arguments = ("doctor", "demo", "--json", *options)
    inside = _resolving(stage)
    said = _child([*inside, *program(is_isolated=False), *arguments], environ, stage.project) if inside else None
    code, out, err = said or _here(stage, arguments, environ)
    return Diagnosed(code, out, err, tuple(stage.listeners.asked[before:]))


def examined(stage: Stage, *options: str) -> Diagnosed:
    """The same; and if nothing is found, once more with `--deep`, as people do who know that something is wrong."""
    said = diagnosed(stage, *options)
    return said if said.causes else diagnosed(stage, "--deep", *options)


def run(stage: Stage, *arguments: str) -> tuple[int, str, str]:
    """Any command line there: exit code, stdout, stderr."""
    return _here(stage, arguments, stage.whole_environ)


def _child(argv: Sequence[str], environ: Mapping[str, str], folder: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        argv,
        env=environ,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _here(stage: Stage, arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[int, str, str]:
    """As in a process of its own, without the half second that its start takes."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        enter(patch, environ, stage.project)
        patch.setattr(context, "this_machine", lambda: replace(this_machine(), root=stage.root))
        error = _KEYRINGS.get(stage.case["environment"].get("keyring") or "")
        if error is not None:
            patch.setattr(context, "_vault", lambda *_: lambda: Shut(error))
        code = main(arguments)
    return code, out.getvalue(), err.getvalue()


_NO_BUS = "unix:path=/dev/null"
"""Is there, and is no bus: whoever runs the tests may have a keyring, and what is said must not hang on that."""

_KEYRINGS: Mapping[str, SecretError] = {
    "locked": KeyringLockedError("the keyring is locked", hint="Unlock it."),
    "unavailable": NoKeyringError("no keyring answers here (none is installed)", hint="Install one."),
}
"""What stands in a keyring's way, by what the case says of it."""


# The tool.


def _tool(stage: Stage, config: Data, files: Mapping[str, str]) -> None:
    kind = config["api_kind"]
    is_claudes = any("/.claude" in path or "/claude-code/" in path for path in files)
    if kind == "anthropic-messages" and is_claudes:
        _borrowed(stage, config, "claude-code", {"=https://api.anthropic.com": f"={config['base_url']}"})
    elif kind == "openai-responses" and any("/.codex/" in path for path in files):
        _borrowed(stage, config, "codex", {"=https://api.openai.com/v1": f"={config['base_url']}"}, files.values())
    else:
        _plain(stage, config, files)


def _borrowed(stage: Stage, config: Data, name: str, replaced: Mapping[str, str], texts: Iterable[str] = ()) -> None:
    """A shipped tool under another name, whose own default is the case's address; its JSON may not begin with a BOM."""
    manifest = tomlkit.parse((resources.folder("templates") / "tools" / name / "tool.toml").read_text(encoding="utf-8"))
    text = manifest.as_string().replace('format = "json"', 'format = "json-no-bom"', 1)
    text = text.replace('format  = "json-utf-16" ', 'format  = "json-no-bom" ', 1).replace("falls_back", "# falls_back")
    streams = json.dumps(bool(config.get("stream", False)))
    for old, new in {"[request]\n": f"[request]\nstreams = {streams}\n", **replaced}.items():
        text = text.replace(old, new, 1)
    folder = stage.config / "tools" / "demo"
    shutil.copytree(resources.folder("templates") / "tools" / name, folder)
    stage.write(folder / "tool.toml", text)
    form, value = config["key"].get("form", "literal"), config["key"].get("value")
    if form == "env" and config.get("env_name") and value is not None:
        stage.environ.setdefault(config["env_name"], str(value))
    for variable in re.findall(r'^env_key = "(\w+)"', "\n".join(texts), re.MULTILINE) if form == "literal" else ():
        stage.environ.setdefault(variable, str(value))  # the case says what the key is, and the file where it waits


_EDITORS = ("code", "cursor", "codium", "windsurf", "zed", "idea")
"""Programs that people start from a desktop."""


def _plain(stage: Stage, config: Data, files: Mapping[str, str]) -> None:
    """A tool with one file of its own; what the case's own files say of it stays."""
    manifest: dict[str, Any] = {
        "title": "Demo Tool",
        "speaks": [config["api_kind"]],
        "reload": "Restart it.",
        "detect": {"paths": ["~/.demo-tool"]},
        "key": {"plaintext": "<key>"},
        "file": [{"overlay": "settings.json", "path": "~/.demo-tool/settings.json", "format": _format(stage, files)}],
        "request": {"headers": _carriers(config), "references": _references(config), "runs": ["keyCommand"]},
        "connection": {
            "no_proxy_forms": ["subdomains", "apex", "addresses", "ends", "bare"]
        },  # httpx's, as cases name its errors
        "trace": {
            "base_url": ["baseUrl", f"={config['base_url']}"],
            "key": ["keyCommand", "dotenv.KEY".replace("KEY", config.get("env_name", "KEY")), "apiKey"],
            "x_key": ["secondKey"],
            "model": ["model"],
            "headers": ["headers"],
            "timeout_ms": ["timeoutMs"],
            "stream": ["stream"],
        },
        "layer": [
            {"name": ".env", "at": "dotenv", "file": "<project>/.env", "format": "dotenv"},
            {"name": "settings", "overlay": "settings.json"},
        ],
    }
    if config.get("auth_style", "bearer") in (None, "none"):
        del manifest["trace"]["key"], manifest["trace"]["x_key"], manifest["request"]["headers"]
    running = (stage.case.get("environment") or {}).get("process")
    if running:
        manifest["processes"] = {"names": [running["name"]], "desktop": running["name"] in _EDITORS}
    if config.get("tool_appends"):
        manifest["request"]["path"] = config["tool_appends"]
    if _read_s(config) < config.get("timeout", _STANDARD).get("total_s", 0):
        manifest["request"]["timeout_of"] = ["first", "gaps"]  # as `read_s` holds for every wait
    if "max_tokens_name" in config:
        manifest["request"]["limit"] = config["max_tokens_name"]
    folder = stage.config / "tools" / "demo"
    stage.write(folder / "tool.toml", tomlkit.dumps(manifest))
    stage.write(
        folder / "settings.json",
        '{"baseUrl": "<BASE>", "apiKey": "<key_ref>", "model": "<model>"}'.replace(
            "<BASE>", "<anthropic_url>" if config["api_kind"] == "anthropic-messages" else "<openai_url>"
        ),
    )
    own = stage.home / ".demo-tool" / "settings.json"
    if str(own) not in files:
        stage.write(own, json.dumps(_settings(stage, config), indent=2))


def _format(stage: Stage, files: Mapping[str, str]) -> str:
    """A case that speaks of the file's text speaks of a tool that is strict."""
    return "json-no-bom" if str(stage.home / ".demo-tool" / "settings.json") in files else "jsonc"


def _carriers(config: Data) -> dict[str, str]:
    style: str = config.get("auth_style") or "bearer"
    first = "authorization" if style in ("bearer", "both") else style
    return {"key": first, "x_key": "x-api-key" if first == "authorization" else "authorization"}


def _references(config: Data) -> list[str]:
    """How the tool refers to variables: a case that has such words as the key itself speaks of one that does not."""
    key = config["key"]
    is_literal = key.get("form") != "env" and str(key.get("value") or "").startswith("{env:")
    return [] if is_literal else ["{env:NAME}"]


def _settings(stage: Stage, config: Data) -> dict[str, Any]:
    settings: dict[str, Any] = {"model": config["model"], "stream": config.get("stream", False)}
    if config.get("wanted_base_url", config["base_url"]) == config["base_url"]:
        settings["baseUrl"] = config["base_url"]  # else what it asks is its own default
    settings |= _key(stage, config)
    if config.get("second_key"):
        settings["secondKey"] = config["second_key"]
    if config.get("headers"):
        settings["headers"] = config["headers"]
    patience = config.get("timeout", _STANDARD)
    if patience != _STANDARD:
        settings["timeoutMs"] = round(min(patience["total_s"], _read_s(config)) * 1000)
    return settings


def _read_s(config: Data) -> float:
    return float(config.get("timeout", _STANDARD).get("read_s", math.inf))


def _key(stage: Stage, config: Data) -> dict[str, Any]:
    form, value = config["key"].get("form", "literal"), config["key"].get("value")
    name = config.get("env_name", "DEMO_API_KEY")
    if form == "env":
        stage.environ.setdefault(name, "" if value is None else str(value))
        return {"apiKey": f"{{env:{name}}}"}
    if form in ("command", "helper"):
        return {"keyCommand": config["key"].get("command") or f"{sys.executable} -c \"print('{value}')\""}
    if form in ("none", "missing", "dotenv", "keyring") or value is None:
        return {}
    return {"apiKey": value}


def _profile(stage: Stage, config: Data) -> None:
    """The user's own profile: what the tool is meant to ask."""
    wanted = config.get("wanted_base_url") or config["base_url"]
    if not wanted.startswith(("http://", "https://")) or any(mark in wanted for mark in " ?#@"):
        wanted = f"http://{stage.listeners.names.get('main', '127.0.0.1:9')}/v1"
    source = "keyring:work" if config["key"].get("form") == "keyring" else "env:DOCTOR_CASE_KEY"
    profile = {"base_url": wanted, "model": config["model"] or "demo-model", "key": source}
    stage.write(stage.config / "profile.toml", tomlkit.dumps({"active": "work", "profiles": {"work": profile}}))
    key = str(config["key"].get("value") or "").strip()
    is_key = re.fullmatch(r"[A-Za-z0-9_.-]{16,}", key) is not None
    stage.environ.setdefault("DOCTOR_CASE_KEY", key if is_key else "none-here-yet")


# What mends it.


def _mended(config: Data, said: Data, fixed: Data) -> tuple[dict[str, Any], dict[str, Any]]:
    """The case after its `fixed`: the tool's own file says everything, and nothing else has a say."""
    mended = {**config, **{name: value for name, value in fixed.items() if name in config or name == "timeout"}}
    if "key" in fixed:
        mended["key"] = {"form": "literal", "value": fixed["key"]}
    if fixed.get("auth_style") in ("bearer", "x-api-key"):
        mended.pop("second_key", None)
    if "rename" in fixed:
        mended["max_tokens_name"] = fixed["rename"]["max_tokens"]
    if "api_kind" in fixed:
        mended.pop("tool_appends", None)  # which was the other API's
    mended.pop("wanted_base_url", None)
    proxies = {name: value for name, value in (said.get("env") or {}).items() if name.upper().endswith("_PROXY")}
    if "no_proxy" in fixed:
        proxies["NO_PROXY"] = "127.0.0.1,localhost"
    return mended, {"env": proxies}


# The machine around it.


@contextmanager
def _process(stage: Stage, said: Data | None) -> Iterator[None]:
    """A program of that name, older than the files that are written now, with variables of its own."""
    if not said:
        yield
        return
    needs(sys.platform == "linux", "a system that shows a program's variables")
    environ = {name: str(value) for name, value in (said.get("env") or {}).items()}
    with started(stage.place / "bin" / said["name"], environ):
        time.sleep(min(1.1, said.get("started_s_before_file", 1.1)))
        yield


def _resolving(stage: Stage) -> list[str]:
    """What runs a command where names lead to the addresses that the case says; nothing where it says none."""
    names: Mapping[str, list[str]] = (stage.case["environment"] or {}).get("resolve") or {}
    if not names:
        return []
    hosts = stage.place / "hosts"
    stage.write(hosts, "".join(f"{address} {name}\n" for name, all_of_it in names.items() for address in all_of_it))
    inside = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    inside += ["sh", "-c", f'mount --bind "{hosts}" /etc/hosts && exec "$@"', "sh"]
    works = (
        shutil.which("unshare") and subprocess.run([*inside, "true"], capture_output=True, check=False).returncode == 0
    )
    needs(works, "a mount namespace of one's own (unshare), to let names lead elsewhere")
    return inside
