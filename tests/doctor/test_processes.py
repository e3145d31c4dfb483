"""Programs that still hold the old value, or do not see a new one; and what was applied and is no longer so."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import needs
from tests.doctor.home import DEMO, KEY, OTHER, Home, demo
from tests.keys import invented
from tests.programs import started
from toolsync import disk, memory, process
from toolsync.doctor.checks import CHECKS, findings
from toolsync.doctor.diagnosis import diagnosis
from toolsync.masking import Secret
from toolsync.process import Process, mains
from toolsync.remembered import NOTHING, FileMemory, LayerMemory, Memory, Remembered, mark
from toolsync.secret import former
from toolsync.secret.former import Former
from toolsync.secret.vault import Entry, MemoryVault
from toolsync.sentence import tell

HASHED = bytes(range(32))
CLAUDE = ".claude/settings.json"
NEW, OLD = "http://new", "http://old"
APPLIED = 1_800_000_000.0
AT = "2027-01-15T08:00:00.000Z"
SETTINGS = {CLAUDE: json.dumps({"env": {"ANTHROPIC_BASE_URL": NEW, "ANTHROPIC_AUTH_TOKEN": KEY}})}


def running(
    started: float | None,
    environ: Mapping[str, str] | None = None,
    *,
    name: str = "claude",
    pid: int = 7,
    words: Collection[str] = (),
) -> Process:
    return Process(pid, frozenset({name}), started=started, environ=lambda: environ, words=frozenset(words))


def extension_host(started: float, words: Collection[str], *, parent: int = 7) -> Process:
    return replace(running(started, name="code", pid=8, words=words), parent=parent)


def remember(home: Home, tool: str, name: str, *values: Remembered, at: str = AT) -> None:
    """Memory of a file of the tool's."""
    layer = LayerMemory(tool, "settings.json", "0" * 64, None, values, applied_at=at)
    state = home.session().state
    state.mkdir(parents=True, exist_ok=True)
    file = str(disk.resolve(home.path(name)))
    memory.path_in(state).write_bytes(memory.dump(Memory(HASHED, "work", {file: FileMemory(layers=(layer,))})))


def causes(home: Home, check: str, tool: str = "claude-code") -> list[tuple[str, str]]:
    found = CHECKS[check](home.look(tool))
    return [(finding.cause, finding.certainty) for finding in found]


RUNNING: dict[str, tuple[Process, dict[str, str], list[tuple[str, str]]]] = {
    # what runs, our own environment, what is found; the settings were applied at APPLIED
    "older, with the old address": (
        running(APPLIED - 60, {"ANTHROPIC_BASE_URL": OLD}),
        {},
        [("tool_not_restarted", "likely")],
    ),
    "older, with another key": (
        running(APPLIED - 60, {"ANTHROPIC_BASE_URL": NEW, "ANTHROPIC_AUTH_TOKEN": OTHER}),
        {},
        [("tool_not_restarted", "likely")],
    ),
    "older, with the new values": (
        running(APPLIED - 60, {"ANTHROPIC_BASE_URL": f"{NEW}/", "ANTHROPIC_AUTH_TOKEN": KEY}),
        {},
        [],
    ),
    "older, without any": (running(APPLIED - 60, {}), {}, []),
    "older, and not ours to look into": (running(APPLIED - 60), {}, []),
    "younger": (running(APPLIED + 60, {"ANTHROPIC_BASE_URL": OLD}), {}, []),
    "what this shell has too: a new start would not mend it": (
        running(APPLIED - 60, {"ANTHROPIC_BASE_URL": OLD}),
        {"ANTHROPIC_BASE_URL": OLD},
        [],
    ),
    "of unknown age": (running(None, {"ANTHROPIC_BASE_URL": OLD}), {}, []),
    "another program": (running(APPLIED - 60, {"ANTHROPIC_BASE_URL": OLD}, name="code"), {}, []),
}


@pytest.mark.parametrize(("one", "environ", "expected"), RUNNING.values(), ids=RUNNING)
def test_a_program_that_runs(
    tmp_path: Path, one: Process, environ: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    home = Home(tmp_path, environ, processes=[one])
    home.write(SETTINGS)
    remember(home, "claude-code", CLAUDE)
    assert causes(home, "processes") == expected


HELD = {
    # whether the settings set that variable, its home, and what an old value of it then amounts to
    "overridden by the settings, which it takes up while it runs": ({"ANTHROPIC_AUTH_TOKEN": KEY}, "", "info"),
    "overridden by the settings, which it cannot take up": ({"ANTHROPIC_AUTH_TOKEN": KEY}, "none", "warning"),
    "before the settings' own command": ({}, "", "warning"),
}


@pytest.mark.parametrize(("variables", "place", "severity"), HELD.values(), ids=HELD)
def test_an_old_value_counts_where_nothing_is_set_over_it(
    tmp_path: Path, variables: dict[str, str], place: str, severity: str
) -> None:
    environ = {"ANTHROPIC_AUTH_TOKEN": OTHER, **({"HOME": str(tmp_path / place)} if place else {})}
    home = Home(tmp_path, processes=[running(APPLIED - 60, environ)])
    home.write({CLAUDE: json.dumps({"env": {"ANTHROPIC_BASE_URL": NEW, **variables}, "apiKeyHelper": f"echo {KEY}"})})
    remember(home, "claude-code", CLAUDE)
    (finding,) = CHECKS["processes"](home.look("claude-code"))
    assert (finding.cause, finding.severity) == ("tool_not_restarted", severity)


CODEX = ".codex/config.toml"
CODEX_SETTINGS = (
    'model_provider = "g"\nmodel = "m"\n'
    '[model_providers.g]\nbase_url = "http://new/v1"\nenv_key = "G_KEY"\nwire_api = "responses"\n'
)
AFTER = "Codex CLI (pid 7) started 60 s before `toolsync key rotate` replaced the key"
FORMER = "Codex CLI (pid 7) still has the key that was replaced, in G_KEY"
UNLIKE = "Codex CLI (pid 7) still has another value of G_KEY"
ROTATED: dict[str, tuple[float, str, str | None, tuple[str, ...]]] = {
    # when it started, the key that it was given, the shell's, and the evidence; the key was replaced at APPLIED + 120
    "with the old key": (APPLIED + 60, OTHER, KEY, (AFTER, FORMER)),
    "with the old key, and this shell has none": (APPLIED + 60, OTHER, None, (AFTER, FORMER)),
    "after it, with the old key": (APPLIED + 180, OTHER, KEY, (FORMER,)),
    "with one that is older still": (
        *(APPLIED + 60, invented("older-still"), KEY),
        (AFTER, UNLIKE),
    ),
    "after it, with another's key": (APPLIED + 180, invented("older-still"), KEY, (UNLIKE,)),
    "with the new key": (APPLIED + 60, KEY, KEY, ()),
    "with what this shell has too": (APPLIED + 60, OTHER, OTHER, ()),
}


@pytest.mark.parametrize(("at", "its", "ours", "evidence"), ROTATED.values(), ids=ROTATED)
def test_one_that_has_a_key_which_was_replaced_since(
    tmp_path: Path, at: float, its: str, ours: str | None, evidence: tuple[str, ...]
) -> None:
    vault = MemoryVault()
    vault.set("work", Secret(KEY))
    vault.set(former.entries("work")[0], Secret(OTHER))
    environ = {"G_KEY": ours} if ours else {}
    home = Home(tmp_path, environ, processes=[running(at, {"G_KEY": its}, name="codex")], vault=vault)
    home.write({CODEX: CODEX_SETTINGS})
    remember(home, "codex", CODEX)
    former.note(home.session().state, "work", Former(former.entries("work")[0], since="2027-01-15T08:02:00+00:00"))
    found = list(CHECKS["processes"](home.look("codex")))
    cause = "env_not_refreshed" if evidence == (UNLIKE,) else "tool_not_restarted"
    assert [one.cause for one in found] == [cause] * bool(evidence)
    ends = "Run `codex app-server daemon stop`, which ends what has been left running in the background; "
    assert all(one.fix is not None and tell(one.fix.text).startswith(ends) for one in found)
    assert tuple(str(line) for one in found for line in one.evidence) == evidence
    assert not any(key in repr(found) for key in (KEY, OTHER))


NODE = ("--type=utility", "--utility-sub-type=node.mojom.NodeService")
HOST = (*NODE, "--dns-result-order=ipv4first", "--inspect-port=0")
CHILDREN: dict[str, tuple[Process, list[str]]] = {
    "none": (running(APPLIED + 9, name="bash", pid=8), ["tool_not_restarted"]),
    "a window that is older": (extension_host(APPLIED - 50, HOST), ["tool_not_restarted"]),
    "a window that was loaded anew": (extension_host(APPLIED + 9, HOST), []),
    "one of another machine's": (extension_host(APPLIED + 9, ("--inspect-port=0", "--type=extensionHost")), []),
    "a terminal in it": (extension_host(APPLIED + 9, NODE), ["tool_not_restarted"]),
    "what an extension started": (extension_host(APPLIED + 9, ("/tsserver.js",)), ["tool_not_restarted"]),
    "another editor's": (extension_host(APPLIED + 9, HOST, parent=99), ["tool_not_restarted"]),
}


@pytest.mark.parametrize(("child", "expected"), CHILDREN.values(), ids=CHILDREN)
def test_an_editor_that_is_older_than_the_settings(tmp_path: Path, child: Process, expected: list[str]) -> None:
    home = Home(tmp_path, {}, processes=[running(APPLIED - 60, {}, name="code"), child])
    home.write({".demo/settings.json": '{"url": "http://g.example/v1", "key": "k"}'})
    remember(home, "demo", ".demo/settings.json")
    tool = demo(f"{DEMO}[processes]\nnames = ['code']\ndesktop = true\n")
    assert [one.cause for one in CHECKS["processes"](home.look(tool))] == expected


EXTENSIONS = {
    "it has it": (("acme.demo-1.2.3",), ["tool_not_restarted"]),
    "it has others": (("other.demo-1.0.0", "acme.demonstration-1.0.0"), []),
    "nobody knows": ((), ["tool_not_restarted"]),
}


@pytest.mark.parametrize(("there", "expected"), EXTENSIONS.values(), ids=EXTENSIONS)
def test_an_editor_without_the_extension(tmp_path: Path, there: tuple[str, ...], expected: list[str]) -> None:
    home = Home(tmp_path, {}, processes=[running(APPLIED - 60, {}, name="code")])
    home.write({".demo/settings.json": '{"url": "http://g.example/v1", "key": "k"}'})
    for name in there:
        home.path(f".vscode/extensions/{name}").mkdir(parents=True)
    remember(home, "demo", ".demo/settings.json")
    tool = demo(f"{DEMO}[processes]\nnames = ['code']\ndesktop = true\nextension = 'acme.demo'\n")
    assert [one.cause for one in CHECKS["processes"](home.look(tool))] == expected


LEFT = {  # by Codex' TUI; its words, the findings where it is older than its settings, and where it has another key
    "nothing": ((), ["tool_not_restarted"], ["env_not_refreshed"]),
    "what reads them anew for each session": (("app-server", "--managed-daemon"), [], ["env_not_refreshed"]),
    "what asks nobody": (("app-server", "daemon", "pid-update-loop"), [], []),
}


@pytest.mark.parametrize(("words", "older", "other"), LEFT.values(), ids=LEFT)
def test_what_codex_leaves_running(tmp_path: Path, words: tuple[str, ...], older: list[str], other: list[str]) -> None:
    home = Home(tmp_path, {"G_KEY": KEY}, processes=[running(APPLIED - 60, {"G_KEY": KEY}, name="codex", words=words)])
    home.write({CODEX: CODEX_SETTINGS})
    remember(home, "codex", CODEX)
    assert [cause for cause, _ in causes(home, "processes", "codex")] == older
    home.processes = [running(APPLIED + 60, {"G_KEY": OTHER}, name="codex", words=words)]
    assert [cause for cause, _ in causes(home, "processes", "codex")] == other


@pytest.mark.parametrize(("ago", "is_older"), [(1.0, False), (3.0, True)])
def test_a_start_that_may_have_come_after_the_change_is_no_evidence(tmp_path: Path, ago: float, is_older: bool) -> None:
    home = Home(tmp_path, processes=[running(APPLIED - ago, {}, name="codex")])
    home.write({CODEX: CODEX_SETTINGS})
    remember(home, "codex", CODEX)
    assert causes(home, "processes", "codex") == [("tool_not_restarted", "likely")] * is_older


def test_without_a_record_the_files_time_of_change_is_the_hint(tmp_path: Path) -> None:
    home = Home(tmp_path, processes=[running(APPLIED - 60, {"ANTHROPIC_BASE_URL": OLD})])
    home.write(SETTINGS)
    os.utime(home.path(CLAUDE), (APPLIED, APPLIED))
    (finding,) = CHECKS["processes"](home.look("claude-code"))
    assert finding.cause == "tool_not_restarted"
    assert tuple(map(str, finding.evidence)) == (
        "Claude Code (pid 7) started 60 s before ~/.claude/settings.json was changed",
        "Claude Code (pid 7) still has ANTHROPIC_BASE_URL=http://old",
    )
    assert finding.values["pid"] == "7"


def test_one_that_reads_its_settings_at_its_start_is_named_where_toolsync_wrote_them_since(tmp_path: Path) -> None:
    home = Home(tmp_path, processes=[running(APPLIED - 7200, {}, name="codex")])
    home.write({".codex/config.toml": 'model = "m"\n'})
    assert causes(home, "processes", "codex") == [], "a time of change alone is too little"
    remember(home, "codex", ".codex/config.toml")
    assert causes(home, "processes", "codex") == [("tool_not_restarted", "likely")]


VIBE = ".vibe/config.toml"
VIBE_SETTINGS = (
    'active_model = "m"\n[[providers]]\nname = "g"\napi_base = "http://new/v1"\napi_key_env_var = "G_KEY"\n'
    '[[models]]\nname = "m"\nprovider = "g"\nalias = "m"\n'
)


@pytest.mark.parametrize(
    ("at", "its", "expected"),
    [
        (APPLIED + 60, {}, [("tool_not_restarted", "likely")]),
        (APPLIED + 60, {"G_KEY": OTHER}, [("tool_not_restarted", "sure")]),
        (APPLIED + 60, {"G_KEY": KEY}, []),
        (APPLIED + 180, {}, []),
    ],
)
def test_one_that_found_its_key_in_the_keyring_before_toolsync_put_another_there(
    tmp_path: Path, at: float, its: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    entry, vault = Entry.of("ai.mistral.vibe", "G_KEY"), MemoryVault()
    vault.set(entry, Secret(KEY))
    home = Home(tmp_path, processes=[running(at, its, name="vibe")], vault=vault)
    home.write({VIBE: VIBE_SETTINGS})
    remember(home, "mistral-vibe", VIBE)
    path = memory.path_in(home.session().state)
    written = LayerMemory("mistral-vibe", "key", "0" * 64, applied_at="2027-01-15T08:02:00.000Z", holds_key=True)
    path.write_bytes(memory.dump(replace(memory.read(path), entries={entry: FileMemory(layers=(written,))})))
    assert causes(home, "processes", "mistral-vibe") == expected


def test_an_editor_is_named_by_its_main_process() -> None:
    main, window, alone = (running(1.0, pid=1), running(2.0, pid=2), running(3.0, pid=9))
    found = mains([main, replace(window, parent=1), replace(alone, parent=0)])
    assert [one.pid for one in found] == [1, 9]


UNSEEN = {
    "a terminal's, older than the variable": ("", "env_not_refreshed"),
    "an editor's, started from the desktop": ("[processes]\nnames = ['demo']\ndesktop = true\n", "gui_env_missing"),
}


@pytest.mark.parametrize(("more", "cause"), UNSEEN.values(), ids=UNSEEN)
def test_a_variable_that_it_needs_and_does_not_have(tmp_path: Path, more: str, cause: str) -> None:
    home = Home(tmp_path, {"DEMO_KEY": KEY}, processes=[running(APPLIED, {"PATH": "/bin"}, name="demo")])
    home.write({".demo/settings.json": "{}", ".bashrc": "export DEMO_KEY=x\n"})
    (finding,) = CHECKS["processes"](home.look(demo(DEMO + more)))
    assert (finding.cause, finding.values["variable"]) == (cause, "DEMO_KEY")
    assert "set at ~/.bashrc:1, for new shells only" in map(str, finding.evidence)
    assert KEY not in repr(finding)


def test_what_an_editor_started_has_the_editors_variables(tmp_path: Path) -> None:
    editor, shell = running(1.0, name="code", pid=2), replace(running(2.0, name="bash", pid=3), parent=2)
    tool = replace(running(3.0, {"PATH": "/bin"}, name="demo", pid=4), parent=3)
    home = Home(tmp_path, {"DEMO_KEY": KEY}, processes=[editor, shell, tool])
    assert [finding.cause for finding in CHECKS["processes"](home.look(demo()))] == ["gui_env_missing"]


def test_a_variable_that_it_lacks_needs_a_new_start_whatever_it_takes_up_while_it_runs(tmp_path: Path) -> None:
    home = Home(tmp_path, {"ANTHROPIC_AUTH_TOKEN": KEY}, processes=[running(APPLIED, {"PATH": "/bin"})])
    (finding,) = CHECKS["processes"](home.look("claude-code"))
    assert finding.fix is not None
    assert str(finding.fix.text) == "End Claude Code (pid 7), and start it anew."


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ("", []),
        ("ends = 'demo stop'\n", [("env_not_refreshed", "Demo (pid 7) still has another value of DEMO_KEY")]),
    ],
    ids=["it may be another terminal's, and meant so", "it makes the requests of every run"],
)
def test_one_that_has_another_key(tmp_path: Path, ends: str, expected: list[tuple[str, str]]) -> None:
    home = Home(tmp_path, {"DEMO_KEY": KEY}, processes=[running(APPLIED, {"DEMO_KEY": OTHER}, name="demo")])
    home.write({".demo/settings.json": "{}"})
    found = list(CHECKS["processes"](home.look(demo(f"{DEMO}[processes]\nlive = true\n{ends}"))))
    assert [(one.cause, str(one.evidence[0])) for one in found] == expected
    assert all(one.fix is not None and str(one.fix.text).startswith("Run `demo stop`, ") for one in found)


@pytest.mark.parametrize(
    "environ",
    [{"DEMO_KEY": KEY}, None, {"HOME": "/"}],
    ids=["it has it", "not ours to look into", "it reads the settings of another home"],
)
def test_a_variable_that_it_has(tmp_path: Path, environ: dict[str, str] | None) -> None:
    home = Home(tmp_path, {"DEMO_KEY": KEY}, processes=[running(APPLIED, environ, name="demo")])
    assert list(CHECKS["processes"](home.look(demo()))) == []


ELSEWHERE: dict[str, tuple[dict[str, str], bool]] = {
    # its variables, and whether it reads the settings that are looked at; `@` is the folder that homes lie in
    "nothing that would say so": ({}, True),
    "this home": ({"HOME": "@/home"}, True),
    "this home by a link": ({"HOME": "@/link"}, True),
    "another home": ({"HOME": "@/another"}, False),
    "a home that is not here": ({"HOME": "@/none"}, True),
    "its variable names this folder": ({"CLAUDE_CONFIG_DIR": "@/home/.claude"}, True),
    "its variable names another": ({"HOME": "@/home", "CLAUDE_CONFIG_DIR": "@/another"}, False),
}


@pytest.mark.parametrize(("environ", "is_read"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_reads_other_settings_is_not_old(tmp_path: Path, environ: Mapping[str, str], is_read: bool) -> None:
    own = {name: value.replace("@", str(tmp_path)) for name, value in environ.items()}
    home = Home(tmp_path, processes=[running(APPLIED - 60, {**own, "ANTHROPIC_BASE_URL": OLD})])
    home.write(SETTINGS)
    (tmp_path / "link").symlink_to(home.home)
    (tmp_path / "another").mkdir()
    remember(home, "claude-code", CLAUDE, plain("env.ANTHROPIC_BASE_URL", NEW))
    assert causes(home, "processes") == ([("tool_not_restarted", "likely")] if is_read else [])


@pytest.mark.parametrize(("name", "expected"), [("home", [("tool_not_restarted", "likely")]), ("none", [])])
def test_what_lost_its_home_is_not_old_for_its_age_alone(
    tmp_path: Path, name: str, expected: list[tuple[str, str]]
) -> None:
    environ = {"HOME": str(tmp_path / name)}
    home = Home(tmp_path, processes=[running(APPLIED - 60, environ, name="codex")])
    home.write({".codex/config.toml": 'model = "m"\n'})
    remember(home, "codex", ".codex/config.toml", plain("model", "m"))
    assert causes(home, "processes", "codex") == expected


def test_what_launchd_does_not_hand_to_the_desktop(tmp_path: Path) -> None:
    tool = demo(f"{DEMO}[processes]\nnames = ['demo']\ndesktop = true\n")
    home = Home(tmp_path, {"DEMO_KEY": KEY})
    for handed, expected in (({}, ["gui_env_missing"]), ({"DEMO_KEY": "x"}, []), (None, [])):
        look = home.look(tool)
        look.world.__dict__["desktop"] = handed
        assert [finding.cause for finding in CHECKS["desktop"](look)] == expected


def test_a_real_program_that_was_started_before_the_file_was_written(tmp_path: Path) -> None:
    home = Home(tmp_path)
    needs(Path("/proc/self/environ").exists(), "needs a system that shows a program's variables")
    environ = {"ANTHROPIC_BASE_URL": OLD, "HOME": str(home.home)}
    with started(tmp_path / "bin" / "claude", environ) as pid:
        home.write(SETTINGS)
        os.utime(home.path(CLAUDE), (time.time() + 60,) * 2)
        home.processes = process.running()
        findings = list(CHECKS["processes"](home.look("claude-code")))
    assert [(finding.cause, finding.values["pid"]) for finding in findings] == [("tool_not_restarted", str(pid))]


# What was applied.


def secret(path: str, value: str) -> Remembered:
    return Remembered(path, None, "memory", mark(value, HASHED), secret=True)


def plain(path: str, value: str) -> Remembered:
    return Remembered(path, None, "memory", mark(value))


DRIFT: dict[str, tuple[list[Remembered], list[str]]] = {
    "as it was written": ([plain("env.ANTHROPIC_BASE_URL", NEW), secret("env.ANTHROPIC_AUTH_TOKEN", KEY)], []),
    "another address": ([plain("env.ANTHROPIC_BASE_URL", OLD)], ["~/.claude/settings.json:1 (env.ANTHROPIC_BASE_URL)"]),
    "another key": (
        [secret("env.ANTHROPIC_AUTH_TOKEN", OTHER)],
        ["~/.claude/settings.json:1 (env.ANTHROPIC_AUTH_TOKEN)"],
    ),
    "gone": ([plain("env.ANTHROPIC_MODEL", "m")], ["~/.claude/settings.json (env.ANTHROPIC_MODEL)"]),
    "empty, and it must be": ([Remembered("env.ANTHROPIC_MODEL", None, "memory", NOTHING)], []),
    "where nobody looks": ([plain("theme", "dark")], []),
}


@pytest.mark.parametrize(("values", "expected"), DRIFT.values(), ids=DRIFT)
def test_what_was_applied_against_what_stands_there(
    tmp_path: Path, values: list[Remembered], expected: list[str]
) -> None:
    home = Home(tmp_path)
    home.write(SETTINGS)
    remember(home, "claude-code", CLAUDE, *values)
    findings = list(CHECKS["drift"](home.look("claude-code")))
    assert [finding.values["place"] for finding in findings] == expected
    assert {finding.cause for finding in findings} <= {"config_drift"}
    assert all(finding.fix and finding.fix.argv == ("apply", "--tool", "claude-code") for finding in findings)


def test_an_address_that_changed_is_shown_beside_the_one_that_is_wanted_and_a_key_is_not(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write(SETTINGS)
    remember(
        home, "claude-code", CLAUDE, plain("env.ANTHROPIC_BASE_URL", OLD), secret("env.ANTHROPIC_AUTH_TOKEN", OTHER)
    )
    said = [str(line) for finding in CHECKS["drift"](home.look("claude-code")) for line in finding.evidence]
    at = "~/.claude/settings.json:1 (env.ANTHROPIC"
    assert said == [
        f"{at}_BASE_URL) says http://new, and the profile wants https://gw.example/api",
        f"{at}_AUTH_TOKEN) is not what toolsync wrote there",
    ]


def test_a_memory_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write(SETTINGS)
    state = home.session().state
    state.mkdir()
    memory.path_in(state).write_text("{")
    assert causes(home, "drift") == []


# Keys in clear.


@pytest.fixture
def open_home() -> Iterator[Home]:
    """A home that every user can walk into."""
    with tempfile.TemporaryDirectory(prefix="toolsync-open-") as name:
        place = Path(name).resolve()
        is_open = os.name == "posix" and all(folder.stat().st_mode & stat.S_IXOTH for folder in place.parents)
        needs(is_open, "needs modes of files, and a folder for temporary files that everybody can walk into")
        place.chmod(0o755)
        home = Home(place)
        home.write({".demo/settings.json": "{}"})
        for folder in home.path(".demo/settings.json").parents:
            if folder.is_relative_to(place):
                folder.chmod(0o755)
        yield home


MODES: dict[str, tuple[int, int, dict[str, str], list[str]]] = {
    "open": (0o644, 0o755, {"key": KEY}, ["key_file_readable"]),
    "shut": (0o600, 0o755, {"key": KEY}, []),
    "in a shut folder": (0o644, 0o700, {"key": KEY}, []),
    "a reference that the tool expands": (0o644, 0o755, {"key": "{env:K}"}, []),
    "a reference of Windows": (0o644, 0o755, {"key": "%K%"}, []),
    "another tool's reference": (0o644, 0o755, {"key": "${K}"}, []),
    "no key": (0o644, 0o755, {}, []),
}


@pytest.mark.parametrize(("mode", "folder", "settings", "expected"), MODES.values(), ids=MODES)
def test_a_key_that_every_user_can_read(
    open_home: Home, mode: int, folder: int, settings: dict[str, str], expected: list[str]
) -> None:
    open_home.environ["K"] = KEY
    open_home.write({".demo/settings.json": json.dumps(settings)}, mode)
    open_home.path(".demo").chmod(folder)
    assert [finding.cause for finding in CHECKS["modes"](open_home.look(demo()))] == expected


def test_a_file_that_says_where_the_key_stands_holds_none(open_home: Home) -> None:
    open_home.write({".demo/settings.json": json.dumps({"key": "{file:k}"}), ".demo/k": KEY}, 0o644)
    look = open_home.look(demo(DEMO.replace('"{env:NAME}"', '"{file:PATH}"')))
    assert [one.value.reveal() for one in look.effective.credentials if one.value] == [KEY]
    assert list(CHECKS["modes"](look)) == []


def test_a_key_in_git_comes_before_one_that_others_can_read(open_home: Home) -> None:
    needs(shutil.which("git"), "needs git")
    open_home.environ["PATH"] = os.environ["PATH"]
    open_home.write({".demo/settings.json": json.dumps({"url": "http://gw", "key": KEY})}, 0o644)
    subprocess.run(
        ["git", "init", "-q", str(open_home.home)],
        check=True,
        env={"PATH": os.environ["PATH"], "HOME": str(open_home.home)},
    )
    look = open_home.look(demo())
    one = diagnosis(look.effective, findings(look), None)
    assert [finding.cause for finding in one.findings] == ["key_in_git", "key_file_readable"]


def test_a_file_is_shut_by_the_command_that_is_printed(open_home: Home) -> None:
    name = ".demo/it's mine; all of it.json"
    open_home.write({name: json.dumps({"key": KEY})}, 0o644)
    tool = demo(DEMO.replace("~/.demo/settings.json", f"~/{name}"))
    (found,) = CHECKS["modes"](open_home.look(tool))
    subprocess.run(
        ["sh", "-c", str(found.fix.text if found.fix else "")], check=True, env={"HOME": str(open_home.home)}
    )
    assert list(CHECKS["modes"](open_home.look(tool))) == []


def test_git_forgets_a_file_by_the_command_that_is_printed(tmp_path: Path) -> None:
    needs(shutil.which("git"), "needs git")
    home = Home(tmp_path, {"PATH": os.environ["PATH"]})
    home.write({".demo/settings.json": json.dumps({"key": KEY}), ".gitignore": "/.demo/\n"})
    for words in (["init", "-q"], ["add", "-f", ".demo/settings.json"]):
        subprocess.run(
            ["git", *words], check=True, cwd=home.home, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        )
    (found,) = CHECKS["repositories"](home.look(demo()))
    subprocess.run(
        ["sh", "-c", str(found.fix.text if found.fix else "")], check=True, cwd=tmp_path, stdout=subprocess.DEVNULL
    )
    assert list(CHECKS["repositories"](home.look(demo()))) == []


def test_a_key_that_git_would_take_along(tmp_path: Path) -> None:
    needs(shutil.which("git"), "needs git")
    home = Home(tmp_path, {"PATH": os.environ["PATH"]})
    home.write({".demo/settings.json": json.dumps({"key": KEY})})
    look = demo()
    assert list(CHECKS["repositories"](home.look(look))) == [], "outside every repository"
    subprocess.run(
        ["git", "init", "-q", str(home.home)], check=True, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    )
    assert [finding.cause for finding in CHECKS["repositories"](home.look(look))] == ["key_in_git"]
    for rule in ("/.demo/", "settings.json"):  # the second ignores nothing of what toolsync would write beside it
        home.write({".gitignore": f"{rule}\n"})
        assert list(CHECKS["repositories"](home.look(look))) == []


def test_of_two_that_hold_the_old_key_each_is_named(tmp_path: Path) -> None:
    vault = MemoryVault()
    vault.set("work", Secret(KEY))
    vault.set(former.entries("work")[0], Secret(OTHER))
    both = [running(APPLIED + at, {"G_KEY": OTHER}, name="codex", pid=pid) for at, pid in ((60, 7), (180, 8))]
    home = Home(tmp_path, {"G_KEY": KEY}, processes=both, vault=vault)
    home.write({CODEX: CODEX_SETTINGS})
    remember(home, "codex", CODEX)
    former.note(home.session().state, "work", Former(former.entries("work")[0], since="2027-01-15T08:02:00+00:00"))
    look = home.look("codex")
    (found,) = diagnosis(look.effective, list(CHECKS["processes"](look)), None).findings
    assert tuple(map(str, found.evidence)) == (AFTER, FORMER, FORMER.replace("pid 7", "pid 8"))
