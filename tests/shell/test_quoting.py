"""Any text comes out of any shell as it went in, or is refused: asked of real shells, and readers of files."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import needs, thorough
from tests.shell import readers
from tests.shell.readers import Read, by_shell, is_there
from toolsync.errors import UsageError
from toolsync.shell import DIALECTS, dialect_of, script

KEY = "sk-invented-0123456789"
HOSTILE = (
    "a b", "'", '"', "''", "it's", "$(id)", "`id`", "$HOME", "${HOME}", "$$", "!!", "!x", "%PATH%", "%%", "^", "^&",
    "\\", "\\\\", "\\'", "\\n", "a\\", "'\\''", "#x", "a #b", ";id", "|id", "&id", "a&&id", "<x", ">x", "*", "?", "[a]",
    "{a,b}", "~", "~/x", "-n", "--", "=", "a=b", " a", "a ", "a\nb", "\n", "a\n", "a\r", "a\r\nb", "a\tb", "\x01",
    "\x1b[1m", "\x7f", "\x85", "é", "中文", "😀", "\u2018x\u2019", "\u201a", "\u201b", "\u2028", "\u202e", "\ufeff", "",
    "<b>&amp;</b>", "]]>", "-->", "\ufffe", "😀'", "'é",
)  # fmt: skip
READERS: dict[str, tuple[str, Callable[[str], Read], Callable[[], object]]] = {
    "dash": ("sh", by_shell("dash", "-uc", take_in='eval "$(cat {})"; env -0'), lambda: is_there("dash")),
    "bash": ("sh", by_shell("bash", "-c", take_in='set -H; eval "$(cat {})"; env -0'), lambda: is_there("bash")),
    "zsh": ("sh", by_shell("zsh", "-fc", take_in='eval "$(cat {})"; env -0'), lambda: is_there("zsh")),
    "zsh, doubled quotes": (
        "sh",
        by_shell("zsh", "-fc", take_in='setopt rc_quotes; eval "$(cat {})"; env -0'),
        lambda: is_there("zsh"),
    ),
    "fish": (
        "fish",
        by_shell("fish", "--no-config", "-c", take_in="cat {} | source; env -0"),
        lambda: is_there("fish"),
    ),
    "powershell's rules": ("powershell", readers.by_powershell_rules, lambda: True),
    "cmd's rules": ("cmd", readers.by_cmd_rules, lambda: True),
    "dotenv by a shell": (
        "dotenv",
        by_shell("dash", "-c", take_in="set -a; . {}; env -0"),
        lambda: is_there("dash"),
    ),
    "dotenv by node": ("dotenv", readers.by_node, lambda: is_there("node")),
    "dotenv by python-dotenv": ("dotenv", readers.by_python_dotenv, lambda: find_spec("dotenv")),
    "systemd": ("systemd", readers.by_systemd, readers.systemd_library),
    "launchd's property list": ("launchd", readers.by_plist, lambda: True),
}


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> tuple[str, Callable[[str], Read]]:
    dialect, read, is_here = READERS[request.param]
    needs(is_here(), f"{request.param} is not installed")
    return dialect, read


def _speakable(dialect: str, texts: list[str]) -> dict[str, str]:
    """Variables with those of the texts that the dialect does not refuse."""
    found: dict[str, str] = {}
    for index, text in enumerate(texts):
        try:
            script({"X": text}, dialect)
        except UsageError:
            continue
        found[f"V{index}"] = text
    return found


def _read(read: Callable[[str], Read], variables: dict[str, str], dialect: str) -> dict[str, str]:
    """What the reader makes of them; an empty one is none where Windows' rules hold."""
    made = read(script({**variables, "LAST": KEY, "GONE": None}, dialect))
    assert made["LAST"] == KEY
    assert "GONE" not in made
    return {name: made.get(name, "") for name in variables}


def test_hostile_texts_come_out_as_they_went_in(reader: tuple[str, Callable[[str], Read]]) -> None:
    dialect, read = reader
    variables = _speakable(dialect, list(HOSTILE))
    assert _read(read, variables, dialect) == variables


def test_what_the_user_set_for_good_in_fish_stays_theirs_and_goes_along_with_nothing(tmp_path: Path) -> None:
    needs(is_there("fish"), "fish is not installed")
    for scopes, seen in (("-Ux", ""), ("-gx", None)):
        home = tmp_path / scopes
        home.mkdir()
        lines = f"set {scopes} GONE own\n{script({'GONE': None}, 'fish')}env -0"
        asked = ["fish", "-c", lines]
        environ = {**readers.ENVIRON, "HOME": str(home)}
        done = subprocess.run(asked, env=environ, capture_output=True, text=True, check=True, timeout=20)
        came = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
        assert (came.get("GONE"), done.stderr) == (seen, "")
        kept = home / ".config" / "fish" / "fish_variables"
        assert ("--export GONE:own" in (kept.read_text() if kept.exists() else "")) == (scopes == "-Ux")


SPECIAL = st.sampled_from([*"'\"\\$`!%^&|<>(){}[]*?~#;= \t\n\r\x85\u2018\u2019\u201bé😀ab", "$(", "${A}", "\\n", "''"])
TEXTS = st.lists(st.lists(SPECIAL, max_size=6).map("".join) | st.text(max_size=6), min_size=20, max_size=60)


@settings(max_examples=thorough(25, 3))
@given(texts=TEXTS)
@pytest.mark.parametrize("name", READERS)
def test_any_text_comes_out_as_it_went_in(name: str, texts: list[str]) -> None:
    dialect, read, is_here = READERS[name]
    needs(is_here(), f"{name} is not installed")
    variables = _speakable(dialect, texts)
    assert _read(read, variables, dialect) == variables


REFUSED = [
    ("sh", "a\0b", "holds a null character"),
    ("fish", "\ud800", "holds half a character"),
    ("cmd", "50%", "holds a percent sign"),
    ("cmd", "a!", "holds an exclamation mark"),
    ("cmd", 'a"&calc', "holds a quotation mark"),
    ("cmd", "a\r\ncalc", "holds a line break or a control character"),
    ("cmd", "é", "holds a character that is not ASCII"),
    ("dotenv", "it's", "holds a single quote"),
    ("dotenv", "a\\nb", "holds a backslash"),
    ("dotenv", "${HOME}", "holds a dollar sign"),
    ("dotenv", "a\nb", "holds a line break or a control character"),
    ("systemd", "a\x1b[1m", "holds a control character"),
    ("launchd", "\x01", "holds a control character"),
]


@pytest.mark.parametrize(("dialect", "text", "fault"), REFUSED)
def test_what_cannot_be_said_is_refused_without_showing_it(dialect: str, text: str, fault: str) -> None:
    with pytest.raises(UsageError) as caught:
        script({"MODEL": text}, dialect)
    assert caught.value.message == f"MODEL {fault}, which {dialect} cannot be given"
    assert "toolsync exec" in caught.value.hint


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_key_that_can_be_one_can_be_said_but_for_cmd_and_dotenv(dialect: str) -> None:
    refused = {chr(code) for code in range(0x21, 0x7F) if not _speakable(dialect, [f"sk-{chr(code)}-x"])}
    assert refused == {"cmd": set('"%!'), "dotenv": set("'\\$")}.get(dialect, set())


@pytest.mark.parametrize(
    ("dialect", "refused"), [("sh", 0), ("fish", 0), ("powershell", 0), ("systemd", 6), ("launchd", 3)]
)
def test_few_texts_cannot_be_said(dialect: str, refused: int) -> None:
    assert len(HOSTILE) - len(_speakable(dialect, list(HOSTILE))) == refused


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A B", "A=B", "A;id", "$(id)", "Ä", "A\nB"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_no_name_of_a_variable_is_refused(dialect: str, name: str) -> None:
    with pytest.raises(UsageError, match="is no name of a variable"):
        script({name: "x"}, dialect)


@pytest.mark.parametrize(
    ("program", "dialect"),
    [
        ("bash", "sh"),
        ("-zsh", "sh"),
        ("dash", "sh"),
        ("fish", "fish"),
        ("pwsh", "powershell"),
        ("PowerShell.exe", "powershell"),
        ("cmd.exe", "cmd"),
        ("tcsh", None),
        ("nu", None),
        ("xonsh", None),
    ],
)
def test_a_shell_is_known_by_its_program(program: str, dialect: str | None) -> None:
    assert dialect_of(program) == dialect
