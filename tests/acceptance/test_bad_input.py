"""Bad input: each with its exact message, exit code 2, and not a byte written."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.acceptance.machine import Machine
from tests.conftest import needs
from tests.keys import invented
from tests.secret import rings
from toolsync.memory_form import VERSION
from toolsync.registry import tools
from toolsync.secret.backend import UNLOCK, WAYS_OUT
from toolsync.secret.vault import SystemVault

CLAUDE, CODEX, VSCODE = ".claude/settings.json", ".codex/config.toml", ".config/Code/User/settings.json"
APPLY = ("apply", "--yes", "--no-ping")
MEND = "Mend it by hand; a file that cannot be parsed is never touched."


class Bad(NamedTuple):
    """What is wrong, which command meets it, and what it says; `@HOME@` and `@CONFIG@` stand for the paths."""

    prepare: Callable[[Machine], object]
    arguments: tuple[str, ...]
    message: str
    hint: str = ""

    @property
    def said(self) -> str:
        first, *rest = self.message.split("\n")
        lines = [f"error: {first}", *(f"       {line}" for line in rest)]
        return "\n".join([*lines, *([f"  hint: {self.hint}"] if self.hint else []), ""])


def _file(name: str, content: str | bytes, mode: int = 0o644) -> Callable[[Machine], object]:
    return lambda machine: machine.write(name, content).chmod(mode)


def _both(*prepare: Callable[[Machine], object]) -> Callable[[Machine], object]:
    return lambda machine: [one(machine) for one in prepare]


def _profile(rest: str = "", **fields: str) -> Callable[[Machine], object]:
    return lambda machine: machine.profile(rest, **fields)


def _own_tool(overlay: str) -> Callable[[Machine], object]:
    def prepare(machine: Machine) -> None:
        folder = machine.config.parent / "tools" / "mine"
        folder.mkdir(parents=True)
        (folder / "tool.toml").write_text('title = "Mine"\n\n[[file]]\noverlay = "a.json"\npath = "~/a.json"\n')
        (folder / "a.json").write_text(overlay)

    return prepare


def _vault(vault: SystemVault) -> Callable[[Machine], object]:
    def prepare(machine: Machine) -> None:
        machine.write(CLAUDE, "{}\n")
        machine.vault = vault

    return prepare


def _environ(name: str, value: str) -> Callable[[Machine], object]:
    return lambda machine: machine.environ.update({name: value})


def _memory(content: str) -> Callable[[Machine], object]:
    def prepare(machine: Machine) -> None:
        machine.write(CLAUDE, "{}\n")
        assert machine.toolsync(*APPLY).code == 0
        (machine.state / "memory.json").write_text(content)

    return prepare


def _link(name: str, target: str) -> Callable[[Machine], object]:
    def prepare(machine: Machine) -> None:
        (machine.home / name).parent.mkdir(parents=True)
        (machine.home / name).symlink_to(target)

    return prepare


NO_KEYRING = SystemVault(timeout_seconds=5, choices=())
LOCKED = SystemVault(timeout_seconds=5, choices=[rings.allowed("Locked")])
KNOWN = f"Known: {', '.join(tools(Path('/nowhere')))}."
WRITABLE = "Make it writable (`chmod u+w {}`), or leave this tool out."
BEGIN_ANEW = (
    "`toolsync apply --new-memory` sets it aside and begins anew; what was applied before cannot be undone then."
)

BAD = {
    "JSON that cannot be parsed": Bad(
        _file(CLAUDE, '{\n  "a": [1,\n}\n'),
        APPLY,
        "~/.claude/settings.json:3:1: '}' cannot close the '[' of line 2",
        MEND,
    ),
    "JSONC that cannot be parsed": Bad(
        _file(VSCODE, '{\n  // comment\n  "a": tru\n}\n'),
        (*APPLY, "--tool", "claude-code"),
        "~/.config/Code/User/settings.json:3:8: a value is missing here, or is no JSON value "
        "(a string wants double quotes)",
        MEND,
    ),
    "TOML that cannot be parsed": Bad(
        _file(CODEX, "a = 1\n[b\n"), APPLY, "~/.codex/config.toml:2:3: this header lacks its closing ']'", MEND
    ),
    "two files that cannot be parsed": Bad(
        _both(_file(CODEX, "a = 1\n[b\n"), _file(CLAUDE, "{")),
        APPLY,
        "~/.claude/settings.json:1:1: unclosed '{'\n~/.codex/config.toml:2:3: this header lacks its closing ']'",
        f"{MEND} `--tool NAME` applies one tool alone.",
    ),
    "no UTF-8": Bad(_file(CLAUDE, b'{"a": "\xff"}'), APPLY, "~/.claude/settings.json:1:8: not UTF-8 text"),
    "a list where a table should be": Bad(
        _file(CLAUDE, "[1]"),
        APPLY,
        "~/.claude/settings.json: apiKeyHelper: no table to hold 'apiKeyHelper'; a list stands there",
        "Change by hand what stands there.",
    ),
    "a folder in place of the file": Bad(
        lambda machine: (machine.home / CLAUDE).mkdir(parents=True),
        APPLY,
        "@HOME@/.claude/settings.json is a folder, not a file",
        "Move it away, or point the tool elsewhere.",
    ),
    "a file in place of the folder": Bad(
        _file(".claude", ""),
        APPLY,
        "@HOME@/.claude/settings.json: a file stands where a folder should be",
        "Move that file away.",
    ),
    "links in a circle": Bad(
        _link(CLAUDE, "settings.json"),
        APPLY,
        "@HOME@/.claude/settings.json: its links lead in a circle",
        "Remove one of them.",
    ),
    "a read-only file": Bad(
        _file(CLAUDE, "{}\n", 0o444),
        APPLY,
        "@HOME@/.claude/settings.json is read-only",
        WRITABLE.format("@HOME@/.claude/settings.json"),
    ),
    "a read-only folder": Bad(
        _both(_file(CLAUDE, "{}\n"), lambda machine: (machine.home / ".claude").chmod(0o555)),
        APPLY,
        "@HOME@/.claude is read-only: settings.json cannot be replaced in it",
        WRITABLE.format("@HOME@/.claude"),
    ),
    "no tool on the machine": Bad(
        _profile(),
        APPLY,
        "none of the tools that toolsync knows is found on this machine",
        "`toolsync tools` lists them; `--tool NAME` applies one all the same.",
    ),
    "an unknown tool": Bad(
        _profile(), (*APPLY, "--tool", "codx"), "unknown tool 'codx'", f"Did you mean 'codex'? {KNOWN}"
    ),
    "a key in the place of its name": Bad(
        _profile(),
        ("key", "set", invented("pasted")),
        "that is no name for a key",
        "A name has letters, digits, '.', '_' and '-'; the key itself never stands on the command line.",
    ),
    "no keyring for a key that is not typed yet": Bad(
        _vault(NO_KEYRING), ("key", "set"), "no keyring answers here (none is installed)", WAYS_OUT
    ),
    "no keyring for a new key that is not typed yet": Bad(
        _vault(NO_KEYRING), ("key", "rotate"), "no keyring answers here (none is installed)", WAYS_OUT
    ),
    "a time that is no number": Bad(
        _profile(),
        ("key", "rotate", "--yes", "--keep-days", "nan"),
        "Invalid value for '--keep-days': 'nan' is no number",
        "`toolsync key rotate` replaces the key, here and in every copy.",
    ),
    "a rate that is no number": Bad(
        _profile(),
        ("bench", "run", "--rate", "nan"),
        "Invalid value for '--rate': 'nan' is no number",
        "`toolsync bench run --help` shows how.",
    ),
    "an unknown tool for status": Bad(_profile(), ("status", "--tool", "x"), "unknown tool 'x'", KNOWN),
    "an unknown profile": Bad(
        _profile(),
        (*APPLY, "--profile", "wrok"),
        "@CONFIG@: there is no profile 'wrok'",
        "Did you mean 'work'? There are: work.",
    ),
    "an unknown profile for status": Bad(
        _profile(), ("status", "-p", "home"), "@CONFIG@: there is no profile 'home'", "There are: work."
    ),
    "an unknown command": Bad(
        _profile(), ("aply",), "No such command 'aply'. Did you mean 'apply'?", "`toolsync --help` shows how."
    ),
    "an unknown option": Bad(
        _profile(), ("diff", "--hard"), "No such option: --hard", "`toolsync diff --help` shows how."
    ),
    "undo of what is not applied": Bad(
        _profile(), ("undo", "codex"), "nothing of 'codex' is applied", "Applied: nothing."
    ),
    "no profile file": Bad(
        lambda machine: machine.config.unlink(), APPLY, "there is no profile yet: @CONFIG@", "Run `toolsync init`."
    ),
    "a profile that is no TOML": Bad(
        lambda machine: machine.config.write_text('active = "work"\nx = = 1\n'),
        APPLY,
        "@CONFIG@:2:5: this is no value: text needs quotes, and true and false are written small",
        MEND,
    ),
    "a profile with an unknown field": Bad(
        _profile('plaintxt = "ask"\n'),
        APPLY,
        "@CONFIG@:7: profiles.work.plaintxt: there is no such field; did you mean 'plaintext'?",
    ),
    "a profile with a wrong value": Bad(
        _profile('\n[profiles.work.request]\ntimeout_seconds = "abc"\n'),
        APPLY,
        "@CONFIG@:9: profiles.work.request.timeout_seconds: 'abc' is not a number",
    ),
    "a key in the profile": Bad(
        _profile(key=invented("in-the-profile")),
        APPLY,
        "@CONFIG@:6: profiles.work.key: the value looks like a key; "
        "no key stands in this file, only where it is to be had",
    ),
    "a way that the tool does not have": Bad(
        _profile('\n[profiles.work.tool.config-toml]\nkey_way = "command"\npaths = ["~/x.toml"]\n'),
        APPLY,
        "profiles.work.tool.config-toml.key_way: config.toml cannot take its key by 'command'",
        "It can by: env, plaintext.",
    ),
    "a fact that no profile has": Bad(
        _own_tool('{"limit": "<modell>"}'),
        (*APPLY, "--tool", "mine"),
        "@CONFIG_DIR@/tools/mine/a.json: '<modell>' is no fact",
        "Did you mean '<model>'? "
        "Known: anthropic_url, ca_bundle, chat_completions_url, gemini_url, headers, headers_lines, key_command, "
        "key_env, key_file, key_keyring, key_plaintext, key_ref, key_variable, log_latency, log_memory, max_retries, "
        "max_tokens, max_tokens_text, model, model_haiku, model_opus, model_small, model_sonnet, no_proxy, openai_url, "
        "paths, profile, provider_name, proxy, record_token_usage, root_url, sample_interval_ms, site, stream, "
        "temperature, timeout_ms, timeout_ms_text, timeout_seconds.",
    ),
    "no keyring": Bad(_vault(NO_KEYRING), ("apply", "--yes"), "no keyring answers here (none is installed)", WAYS_OUT),
    "no keyring for key list": Bad(
        _vault(NO_KEYRING), ("key", "list"), "no keyring answers here (none is installed)", WAYS_OUT
    ),
    "a locked keyring": Bad(_vault(LOCKED), ("apply", "--yes"), "Locked ring is locked", UNLOCK),
    "a key with a line break": Bad(
        _both(_file(CLAUDE, "{}"), _profile(key="env:K"), _environ("K", f"{invented('first')}\n{invented('second')}")),
        ("apply", "--yes"),
        f"env:K has a line break at position {len(invented('first')) + 1}",
        "A key is one line of visible ASCII characters: copy it again, without what stands around it.",
    ),
    "a variable that is not set": Bad(
        _both(_file(CLAUDE, "{}"), _profile(key="env:K")),
        ("apply", "--yes"),
        "env:K: the variable is not set",
        "Set K in this shell, or where the tool is started, or keep the key in the keyring (keyring:NAME).",
    ),
    "no key in the keyring": Bad(
        _both(_file(CLAUDE, "{}"), _profile(key="keyring:other")),
        ("apply", "--yes"),
        "keyring:other: memory (kept only while this command runs) holds no key of that name",
        "Store it with `toolsync key set other`.",
    ),
    "nobody to say yes": Bad(
        _file(CLAUDE, "{}"), ("apply",), "nobody is there to say yes; nothing was written", "Add `--yes`."
    ),
    "nobody to type the key": Bad(
        _profile(),
        ("key", "set"),
        "nobody is there to type the key",
        "Pipe it in: `… | toolsync key set --stdin`.",
    ),
    "a damaged memory": Bad(
        _memory("{"),
        APPLY,
        "@MEMORY@: damaged, it is no JSON "
        "(Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
        BEGIN_ANEW,
    ),
    "a damaged memory for undo": Bad(
        _memory('{"version": 1}'), ("undo", "--yes"), "@MEMORY@: damaged, $ breaks the rule 'required'", BEGIN_ANEW
    ),
    "a damaged memory for status": Bad(
        _memory("[]"), ("status",), "@MEMORY@: damaged, $ breaks the rule 'type'", BEGIN_ANEW
    ),
    "the memory of a newer toolsync": Bad(
        _memory(f'{{"version": {VERSION + 1}}}'),
        APPLY,
        "@MEMORY@: a newer toolsync wrote it",
        "Update toolsync, and run the command again.",
    ),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_bad_input_is_named_and_nothing_is_written(machine: Machine, bad: Bad) -> None:
    bad.prepare(machine)
    with machine.untouched():
        ran = machine.toolsync(*bad.arguments)
    assert ran.said == (2, _placed(bad.said, machine))


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_with_json_it_is_an_envelope(machine: Machine, bad: Bad) -> None:
    bad.prepare(machine)
    with machine.untouched():
        ran = machine.toolsync(*bad.arguments, "--json")
    message, hint = _placed(bad.message, machine), _placed(bad.hint, machine)
    assert (ran.code, ran.err, ran.json["exit_code"], ran.json["data"]) == (2, "", 2, None)
    assert [(error["message"], error["hint"]) for error in ran.json["errors"]] == [(message, hint)]


def _placed(text: str, machine: Machine) -> str:
    places = {
        "@HOME@": "~",
        "@CONFIG@": machine.config,
        "@CONFIG_DIR@": machine.config.parent,
        "@MEMORY@": f"~/{(machine.state / 'memory.json').relative_to(machine.home)}",
    }
    for name, path in places.items():
        text = text.replace(name, str(path))
    return text


def test_a_fact_that_the_profile_lacks_leaves_the_tool_out(machine: Machine) -> None:
    _own_tool('{"limit": "<max_tokens>"}')(machine)
    with machine.untouched():
        asked = machine.toolsync(*APPLY, "--tool", "mine")
    left_out = "problem: Mine is left out: needs 'max_tokens', which the profile leaves unset"
    assert (asked.code, asked.out) == (2, f"Nothing to change.\n{left_out}\nNothing was applied.\n")
    machine.write("a.json", "{}\n")
    machine.write(CLAUDE, "{}\n")
    machine.toolsync("profile", "edit", "--set", "request.max_tokens=100")
    assert machine.toolsync(*APPLY, "--tool", "mine").code == 0
    assert json.loads(machine.read("a.json")) == {"limit": 100}


def test_a_tool_that_would_need_a_copy_of_the_key_is_left_out_without_consent(machine: Machine) -> None:
    machine.write(CLAUDE, "{}\n")
    rest = '\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n'
    reason = "Claude Code is left out: it would hold a copy of the key in its own file, and "
    machine.profile(rest)
    with machine.untouched():
        asked = machine.toolsync(*APPLY, "--tool", "claude-code")
        default = machine.toolsync(*APPLY)
    assert (asked.code, default.code) == (2, 0)
    assert f"problem: {reason}that needs your consent\n    `--allow-plaintext`, or" in asked.out
    machine.profile(f'plaintext = "never"\n{rest}')
    with machine.untouched():
        never = machine.toolsync(*APPLY, "--allow-plaintext", "--tool", "claude-code")
    assert never.code == 2
    assert f'problem: {reason}the profile says plaintext = "never"\nNothing was applied.\n' in never.out
    machine.profile(rest)
    assert machine.toolsync(*APPLY, "--allow-plaintext").code == 0
    assert (machine.home / CLAUDE).stat().st_mode & 0o777 == 0o600


# What only a process of its own can meet.


@pytest.fixture
def mortal() -> tuple[str, ...]:
    """Put before a command line, it takes away root's right to read everything."""
    if os.geteuid() != 0:
        return ()
    needs(shutil.which("setpriv"), "needs setpriv (util-linux) to be less than root")
    taken = "-dac_override,-dac_read_search"
    return ("setpriv", f"--bounding-set={taken}", f"--inh-caps={taken}")


def test_an_unreadable_file(machine: Machine, mortal: tuple[str, ...]) -> None:
    path = machine.write(CLAUDE, "{}\n")
    path.chmod(0)
    with machine.untouched():
        ran = machine.child(*APPLY, before=mortal, PATH=os.environ["PATH"])
    path.chmod(0o600)  # the search for keys reads everything
    hint = "See who owns it and its folder (`ls -ld`)."
    assert ran.said == (2, f"error: ~/{CLAUDE}: permission denied\n  hint: {hint}\n")


def test_an_unreadable_profile(machine: Machine, mortal: tuple[str, ...]) -> None:
    machine.config.chmod(0)
    ran = machine.child("profile", "list", before=mortal, PATH=os.environ["PATH"])
    machine.config.chmod(0o600)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {machine.config}: permission denied\n")


def test_a_key_with_a_line_break_is_not_stored(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{invented('first')}\n{invented('second')}\n"))
    kept = machine.vault.get("work")
    ran = machine.toolsync("key", "set", "--stdin")
    assert ran.code == 2
    assert ran.err.startswith(f"error: the key has a line break at position {len(invented('first')) + 1}\n")
    assert machine.vault.get("work") == kept
