"""`key print`: one line out, or one line of explanation; whoever runs it, with whatever environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from select import select

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import needs
from tests.key_print import interrupts, key_print, profile_file, program
from toolsync.key_print import Request, config_file, requested
from toolsync.session import default_config

KEY = "sk-invented-0123456789"
posix = pytest.mark.skipif(sys.platform == "win32", reason="speaks of POSIX programs and signals")

COMMAND_LINES = [
    pytest.param(["key", "print"], Request(None, None), id="bare"),
    pytest.param(["key", "print", "work"], Request("work", None), id="a profile"),
    pytest.param(["--config", "/c", "key", "print", "work"], Request("work", "/c"), id="as tools run it"),
    pytest.param(["--config=/c", "key", "print"], Request(None, "/c"), id="equals sign"),
    pytest.param(["key", "print", "work", "--config", "/c"], Request("work", "/c"), id="option last"),
    pytest.param(["key", "--config", "/c", "print"], Request(None, "/c"), id="option between"),
    pytest.param([], None, id="nothing"),
    pytest.param(["key"], None, id="key alone"),
    pytest.param(["key", "set", "print"], None, id="key set"),
    pytest.param(["status"], None, id="another command"),
    pytest.param(["key", "print", "--help"], None, id="help"),
    pytest.param(["--json", "key", "print"], None, id="an option of others"),
    pytest.param(["key", "print", "a", "b"], None, id="too many words"),
    pytest.param(["key", "print", "--config"], None, id="an option without its value"),
    pytest.param(["key", "print", "--config="], None, id="an option with an empty value"),
    pytest.param(["key", "print", "-x"], None, id="an unknown option"),
]


@pytest.mark.parametrize(("arguments", "expected"), COMMAND_LINES)
def test_only_key_print_is_answered_early(arguments: list[str], expected: Request | None) -> None:
    assert requested(arguments) == expected


@given(st.lists(st.sampled_from(["key", "print", "--config", "--config=x", "work", "--json", "-h", ""]), max_size=6))
def test_any_command_line_is_read(arguments: list[str]) -> None:
    request = requested(arguments)
    assert request is None or ("key" in arguments and "print" in arguments)


# Where the profile is

HOME = Path(Path(__file__).anchor) / "home" / "me"
WHERE = [
    pytest.param(None, {}, False, HOME / ".config/toolsync/profile.toml", id="usual"),
    pytest.param(None, {"XDG_CONFIG_HOME": "/x"}, False, Path("/x/toolsync/profile.toml"), id="a person's XDG"),
    pytest.param(None, {"XDG_CONFIG_HOME": "/x"}, True, HOME / ".config/toolsync/profile.toml", id="a tool's XDG"),
    pytest.param(None, {"TOOLSYNC_CONFIG": "/t.toml"}, False, Path("/t.toml"), id="a person's variable"),
    pytest.param(
        None, {"TOOLSYNC_CONFIG": "/t.toml"}, True, HOME / ".config/toolsync/profile.toml", id="a tool's variable"
    ),
    pytest.param("/c.toml", {"TOOLSYNC_CONFIG": "/t.toml"}, False, Path("/c.toml"), id="the option wins"),
    pytest.param("/c.toml", {}, True, Path("/c.toml"), id="as tools run it"),
]


@pytest.mark.parametrize(("config", "environ", "is_isolated", "expected"), WHERE)
def test_the_profile_is_looked_for(config: str, environ: dict[str, str], *, is_isolated: bool, expected: Path) -> None:
    found = config_file(Request(None, config), environ, str(HOME), "linux", is_isolated=is_isolated)
    assert Path(found) == expected


def test_a_tilde_is_the_home_folder() -> None:
    found = config_file(Request(None, "~/p.toml"), {}, str(HOME), "linux", is_isolated=True)
    assert Path(found) == Path.home() / "p.toml"


def test_it_looks_where_every_other_command_looks() -> None:
    for environ in ({}, {"TOOLSYNC_CONFIG": "~/p.toml"}):
        told = {**os.environ, **environ}
        here = config_file(Request(None, None), told, str(Path.home()), sys.platform, is_isolated=False)
        assert Path(here) == default_config(told)


# What it prints


@pytest.mark.parametrize("words", [(), ("work",)], ids=["the active profile", "a profile by name"])
@pytest.mark.parametrize("variable", ["API_KEY", "TOOLSYNC_API_KEY"])  # the second is no setting of ours
def test_a_key_is_one_line(tmp_path: Path, words: tuple[str, ...], variable: str) -> None:
    printed = key_print(profile_file(tmp_path, f"env:{variable}"), *words, environ={variable: KEY})
    assert (printed.returncode, printed.stdout, printed.stderr) == (0, f"{KEY}\n", "")


def test_a_program_of_the_profile_is_asked(tmp_path: Path) -> None:
    script = tmp_path / "ask.py"
    script.write_text(
        "import os; print('sk', *sorted(n for n in os.environ if n[:4] in ('PYTH', 'TOOL', 'OURS')), sep='-')"
    )
    config = profile_file(tmp_path, f'command:"{sys.executable}" -I "{script}"')
    environ = {"PYTHONSTARTUP": "x", "TOOLSYNC_CONFIG": "x", "OURS": "x"}
    printed = key_print(config, environ=environ)
    assert (printed.returncode, printed.stdout, printed.stderr) == (0, "sk-OURS\n", "")


PROFILES = [
    pytest.param("", "no profile is active. Choose one with `toolsync use NAME`.", id="empty"),
    pytest.param(
        'active = "home"', "there is no profile 'home'. `toolsync profile list` shows those there are.", id="none"
    ),
    pytest.param("active = 5", "no profile is active. Choose one with `toolsync use NAME`.", id="not a name"),
    pytest.param('active = "a"\nprofiles = 5', "there is no profile 'a'. `toolsync profile list` shows", id="no table"),
    pytest.param('active = "a"\n[profiles]\na = 5', "there is no profile 'a'.", id="a number for a profile"),
    pytest.param('active = "a"\n[profiles.a]', "profiles.a has no key reference. Write key = ", id="no key"),
    pytest.param('active = "a"\n[profiles.a]\nkey = 5', "profiles.a has no key reference.", id="a number for a key"),
    pytest.param("active = ", "Invalid value (at end of document). Mend it by hand.", id="cut"),
    pytest.param("a = " + "[" * 5000, "", id="deep"),
]


@pytest.mark.parametrize(("text", "message"), PROFILES)
def test_a_profile_without_a_key_is_named(tmp_path: Path, text: str, message: str) -> None:
    config = tmp_path / "profile.toml"
    config.write_text(text)
    printed = key_print(config, environ={})
    assert (printed.returncode, printed.stdout) == (2, "")
    assert printed.stderr.startswith(f"toolsync: {config}: {message}")
    assert printed.stderr.count("\n") == 1


def test_a_profile_that_is_no_toml_is_named_with_line_and_column_as_people_write_it(tmp_path: Path) -> None:
    config = tmp_path / "profile.toml"
    config.write_text("active = 'a'\nb b")
    for environ, shown in (({}, str(config)), ({"HOME": str(tmp_path)}, "~/profile.toml")):
        said = key_print(config, environ=environ).stderr
        assert said == f"toolsync: {shown}:2:3: Expected '=' after a key in a key/value pair. Mend it by hand.\n"


def test_a_key_in_the_place_of_a_reference_is_not_shown(tmp_path: Path) -> None:
    printed = key_print(profile_file(tmp_path, KEY), environ={})
    assert (printed.returncode, printed.stdout) == (2, "")
    assert printed.stderr.startswith("toolsync: the key is not a reference")
    assert KEY not in printed.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfea", "not UTF-8 text"), (None, "No such file or directory"), ("folder", "Is a directory")],
)
def test_a_profile_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | str | None, message: str) -> None:
    config = tmp_path / "profile.toml"
    if content == "folder":
        config.mkdir()
    elif isinstance(content, bytes):
        config.write_bytes(content)
    printed = key_print(config, environ={})
    assert (printed.returncode, printed.stdout, message in printed.stderr) == (2, "", True)


def test_a_profile_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    needs(os.name == "posix", "pipes that have a name")
    os.mkfifo(tmp_path / "profile.toml")
    printed = key_print(tmp_path / "profile.toml", environ={})
    assert (printed.returncode, "no profile is active" in printed.stderr) == (2, True)


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    config = profile_file(tmp_path, "env:API_KEY")
    config.write_bytes(b"\xef\xbb\xbf" + config.read_bytes().replace(b"\n", b"\r\n"))
    assert key_print(config, environ={"API_KEY": KEY}).stdout == f"{KEY}\n"


@pytest.mark.parametrize("name", ["\x1b[31mred", "[bold]x[/bold]", "a\nb", "ключ", "x" * 500])
def test_a_strange_name_reaches_the_terminal_tamed(tmp_path: Path, name: str) -> None:
    printed = key_print(profile_file(tmp_path, "env:API_KEY"), name, environ={"PYTHONIOENCODING": "utf-8"})
    assert (printed.returncode, printed.stdout, printed.stderr.count("\n")) == (2, "", 1)
    assert printed.stderr.isprintable() or printed.stderr.rstrip("\n").isprintable()
    assert len(printed.stderr) < 600


def test_a_broken_key_is_explained_and_not_shown(tmp_path: Path) -> None:
    printed = key_print(profile_file(tmp_path, "env:API_KEY"), environ={"API_KEY": f"{KEY}\nX-Evil: 1"})
    assert (printed.returncode, printed.stdout) == (2, "")
    assert printed.stderr.startswith("toolsync: env:API_KEY has a line break at position 23.")
    assert KEY not in printed.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the Secret Service is Linux's")
def test_no_keyring_is_one_line_with_three_ways_out(tmp_path: Path) -> None:
    printed = key_print(
        profile_file(tmp_path, "keyring:work"), environ={"DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/nonexistent"}
    )
    assert (printed.returncode, printed.stdout, printed.stderr.count("\n")) == (2, "", 1)
    assert printed.stderr.startswith("toolsync: no keyring answers here (Secret Service: ")
    assert "Four ways out" in printed.stderr


# What may happen to it


@posix
def test_nobody_reads_the_key(tmp_path: Path) -> None:
    argv = key_print.argv(profile_file(tmp_path, "env:API_KEY"))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(argv, env={"API_KEY": KEY}, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (2, "toolsync: the key cannot be printed: Broken pipe\n")


@posix
def test_a_full_pipe_that_does_not_wait_by_itself_is_waited_for(tmp_path: Path) -> None:
    argv = key_print.argv(profile_file(tmp_path, "env:API_KEY"))
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    filled = os.write(writer, b"x" * 2**20)  # as much of it as goes in
    with subprocess.Popen(argv, env={"API_KEY": KEY}, stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        process_waits = select([reader], [], [], 30)[0] and process.poll() is None
        with os.fdopen(reader, "rb") as pipe:
            assert pipe.read() == b"x" * filled + f"{KEY}\n".encode()
        assert (process_waits, process.wait(60)) == (True, 0)


@posix
@pytest.mark.parametrize("closed", ["1>&-", "2>&- 1>&-", "0<&- 1>&- 2>&-"])
def test_closed_descriptors_make_no_noise(tmp_path: Path, closed: str) -> None:
    argv = key_print.argv(profile_file(tmp_path, "env:API_KEY"))
    line = f'exec "$@" {closed}'
    done = subprocess.run(
        ["sh", "-c", line, "-", *argv], env={"API_KEY": KEY}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (2, "", False)


@posix
@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGTERM, ""), (signal.SIGINT, "toolsync: interrupted\n")],
    ids=["ended", "interrupted"],
)
def test_one_that_is_ended_ends_the_program_it_asked(tmp_path: Path, number: signal.Signals, said: str) -> None:
    note = tmp_path / "note"
    config = profile_file(tmp_path, f"command:/bin/sh -c 'echo $$ > \"{note}\"; exec sleep 300'")
    with interrupts():
        process = key_print.start(config, environ={"PATH": os.environ["PATH"]})
    deadline = time.monotonic() + 30
    while not (note.exists() and note.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (128 + number, "", said)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_the_version_and_the_key_come_without_the_heavy_libraries(tmp_path: Path) -> None:
    config = profile_file(tmp_path, "env:API_KEY")
    for words in (["--version"], ["--config", str(config), "key", "print"]):
        argv = program()
        argv = [argv[0], "-X", "importtime", *argv[1:], *words]
        done = subprocess.run(argv, env={**os.environ, "API_KEY": KEY}, capture_output=True, text=True, check=True)
        modules = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
        heavy = {"typer", "rich", "httpx", "keyring", "jsonschema", "tomlkit", "platformdirs", "asyncio", "subprocess"}
        heavy |= {"dataclasses", "pathlib", "hmac", "threading", "jeepney"}
        assert modules & heavy == set()
        assert "json" not in modules or words != ["--version"]
