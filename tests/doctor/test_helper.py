"""The command that a tool runs for its key: run as the tool runs it, and never for longer than its limit."""

# ruff: noqa: RUF001  Chinese has its own punctuation

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import needs
from tests.doctor.home import Home
from tests.keys import invented
from toolsync.commands.doctor.diagnosis import Options, diagnosed
from toolsync.commands.doctor.probing import Probes
from toolsync.doctor import helper, steering
from toolsync.doctor.checks import findings
from toolsync.doctor.helper import Command, printed
from toolsync.doctor.remark import left_out
from toolsync.document import Value
from toolsync.masking import Secret, masked
from toolsync.sentence import tell

KEY = invented("helper")
ENVIRON = {"PATH": "/usr/bin:/bin", "HOME": "/"}


@pytest.fixture(autouse=True)
def _posix() -> None:
    needs(os.name == "posix", "needs a POSIX shell")


COMMANDS: dict[str, tuple[Value, tuple[str, ...] | None, str]] = {
    "a line": ("/opt/x key 'a b'", ("/bin/sh", "-c", "/opt/x key 'a b'"), "/opt/x"),
    "a line with a variable before it": ("A=1 x y", ("/bin/sh", "-c", "A=1 x y"), "x"),
    "a line with an open quote": ("x 'y", ("/bin/sh", "-c", "x 'y"), "x"),
    "a table": ({"command": "x", "args": ["y", 1]}, ("x", "y", "1"), "x"),
    "a table without arguments": ({"command": "x"}, ("x",), "x"),
    "an empty line": (" ", None, ""),
    "an empty table": ({}, None, ""),
    "something else": (["x"], None, ""),
}


@pytest.mark.parametrize(("value", "argv", "program"), COMMANDS.values(), ids=COMMANDS)
def test_what_is_run(value: Value, argv: tuple[str, ...] | None, program: str) -> None:
    command = Command.of(value)
    assert (command and command.argv, command.program if command else "") == (argv, program)


SAME = {
    "plain words": ("/opt/x -I key print work", True),
    "all of it quoted": ("'/opt/x'", False),
    "quoted words": ("'/opt/x' -I 'key' print work", True),
    "a variable": ("/opt/$X -I key print work", False),
    "a variable before it": ("A=1 /opt/x -I key print work", False),
    "two commands": ("/opt/x -I key print work; true", False),
    "a home": ("~/x -I key print work", False),
}


@pytest.mark.parametrize(("line", "is_same"), SAME.values(), ids=SAME)
def test_a_line_and_a_table_that_come_to_the_same_are_run_once(line: str, is_same: bool) -> None:
    table = Command.of({"command": "/opt/x", "args": ["-I", "key", "print", "work"]})
    spoken = Command.of(line)
    assert table is not None
    assert spoken is not None
    assert (spoken.words == table.words) == is_same


PRINTED = {
    "the key": (f"echo {KEY}", KEY, ""),
    "white space around it": (f"printf ' {KEY} \\n\\n'", KEY, ""),
    "something on stderr too": (f"echo odd >&2; echo {KEY}", KEY, ""),
    "what the tool's environment holds": ('echo "$HOME"', "/", ""),
    "it fails": ("echo why >&2; exit 4", None, "it ended with exit code 4: why"),
    "nothing": ("true", None, "it printed nothing"),
    "two lines": ("echo a; echo b", None, "it printed 2 lines, and the key is one"),
    "an unknown program, as the shell says it": ("$NONE no-such-thing", None, "it ended with exit code 127"),
    "a program that is gone": ("/no/such/thing print", None, "there is no program /no/such/thing"),
    "one that is not on PATH": ("no-such-thing print", None, "there is no program no-such-thing"),
    "a shell's own word first": (f"eval true && echo {KEY}", KEY, ""),
    "a shell's reserved word first": (f"for one in {KEY}; do echo $one; done", KEY, ""),
    "a variable made by a command first": (f"K=$(echo {KEY}); echo $K", KEY, ""),
    "likewise, the older way": (f"K=`echo {KEY}`; echo $K", KEY, ""),
}


@pytest.mark.parametrize(("line", "key", "problem"), PRINTED.values(), ids=PRINTED)
def test_what_became_of_it(tmp_path: Path, line: str, key: str | None, problem: str) -> None:
    command = Command.of(line)
    assert command is not None
    found = printed(command, ENVIRON, tmp_path)
    assert (found.key.reveal() if found.key else None) == key
    assert str(found.problem or "").startswith(problem)
    assert bool(found.problem) is bool(problem)


def test_a_program_that_is_no_program_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "file").chmod(0o600)
    command = Command.of({"command": str(tmp_path / "file")})
    assert command is not None
    assert printed(command, ENVIRON, tmp_path).is_gone


def test_it_does_not_run_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper, "_SECONDS", 0.3)
    command = Command.of("sleep 60 & sleep 60; echo late")
    assert command is not None
    before = time.monotonic()
    assert str(printed(command, ENVIRON, tmp_path).problem) == "it did not end within 0.3 s"
    assert time.monotonic() - before < 10


def test_what_it_prints_is_known_as_a_secret_even_where_it_is_none(tmp_path: Path) -> None:
    command = Command.of(f"echo {KEY}-1; echo {KEY}-1 >&2; exit 1")
    assert command is not None
    found = printed(command, ENVIRON, tmp_path)
    assert str(found.problem) == "it ended with exit code 1: ***"
    assert masked(f"{KEY}-1") == "***"


def test_what_toolsync_says_as_a_helper_is_said_in_chinese_and_what_others_say_is_quoted(tmp_path: Path) -> None:
    own = "toolsync: env:GW_KEY: the variable is empty. Install it, or write its absolute path into the profile."
    told = {
        own: "以退出码 2 结束：toolsync：env:GW_KEY：该变量是空的。安装它，或在配置档中写出它的绝对路径。",
        "pass: gw is not there. Add it.": "以退出码 2 结束：pass: gw is not there. Add it.",
    }
    for said, chinese in told.items():
        command = Command.of(f"echo '{said}' >&2; exit 2")
        assert command is not None
        problem = printed(command, ENVIRON, tmp_path).problem
        assert problem is not None
        assert tell(problem) == f"it ended with exit code 2: {said}"
        assert tell(problem, "zh") == chinese


def test_it_is_run_by_the_users_own_path_whatever_a_repository_says(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("own", "repositorys")}
    for name, folder in folders.items():
        folder.mkdir()
        (folder / "show-key").write_text(f"#!/bin/sh\ntouch {tmp_path}/{name}-ran\necho {KEY[:9]}''{KEY[9:]}\n")
        (folder / "show-key").chmod(0o700)
    home = Home(tmp_path, {"PATH": f"{folders['own']}:/usr/bin:/bin"})
    stated = {"PATH": f"{folders['repositorys']}:/usr/bin:/bin"}
    home.write({".claude/settings.json": json.dumps({"apiKeyHelper": "show-key"})})
    home.write({"project/.claude/settings.json": json.dumps({"env": stated})})
    look = home.look("claude-code")
    assert look.environ["PATH"] == stated["PATH"]
    assert [finding.cause for finding in findings(look) if finding.cause.startswith("key_helper")] == []
    assert look.effective.credentials[0].value == Secret(KEY)
    assert sorted(one.name for one in tmp_path.glob("*-ran")) == ["own-ran"]


PLANTED = f"import pathlib\npathlib.Path(__file__).with_name('ran').touch()\nprint('{KEY[:9]}' + '{KEY[9:]}')\n"
STEERED = {
    "a script of the repository's": "./show-key",
    "one that an interpreter is given": "python3 ./show-key",
    "a module": "python3 -m show_key",
    "an import": "python3 -c 'import show_key'",
    "a folder of PATH that is the one it is run in": "show-key",
    "a file by its bare name": "sh show.key",
    "a file of the folder that it is run in": "sh $PWD/show-key",
    "a file of the folder that doctor is run in": "sh $OLDPWD/show-key",
    "a file of the repository's root": "sh $(git rev-parse --show-toplevel)/show-key",
    "a program that is called as toolsync": "./toolsync key print work",
}


@pytest.mark.parametrize("line", STEERED.values(), ids=STEERED)
def test_nothing_that_lies_in_a_repository_is_run(tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path, {"PATH": ".::/usr/bin:/bin"})
    home.environ |= dict.fromkeys(("PWD", "OLDPWD"), str(home.project))
    for name in ("show-key", "show_key.py", "show.key", "toolsync"):
        home.write({f"project/{name}": f"#!/usr/bin/env python3\n{PLANTED}"}, mode=0o700)
    home.write({".claude/settings.json": json.dumps({"apiKeyHelper": line})})
    monkeypatch.chdir(home.project)
    look = home.look("claude-code")
    causes = [finding.cause for finding in findings(look) if finding.cause.startswith("key_helper")]
    assert not (home.project / "ran").exists()
    assert look.effective.credentials[0].value is None
    assert causes == []
    kept = steering.kept(look, None)
    assert kept is not None
    assert kept[0] == "helper_of_project"


OWN = {
    "a password manager's": ("pass show gw", False),
    "toolsync's, where the folder has files of these names": ("/usr/bin/toolsync key print work", False),
    "a file of the home folder": ("~/bin/show-key work", False),
    "likewise, by a variable": ("$HOME/tools/show-key", False),
    "a table": ({"command": "/usr/bin/show-key", "args": ["--of", "work"]}, False),
    "a script, as Windows spells it": ({"command": ".\\show-key.cmd"}, True),
    "a script below, as Windows spells it": ({"command": "tools\\show-key"}, True),
    "an interpreter's script, as Windows spells it": ({"command": "cmd", "args": ["/c", "tools\\show-key"]}, True),
    "Windows' own folder": ({"command": "C:\\tools\\show-key", "args": []}, False),
    "a password manager's entry that is called as a file of the folder": ("pass show tools/show-key", False),
    "likewise, of which only one line is wanted": ("pass show tools/show-key | head -1", False),
    "likewise, by a shell": ({"command": "bash", "args": ["-lc", "op read op://team/x && pass tools/show-key"]}, False),
    "a password manager's field that is called as a command": ("op item get gw --fields pwd", False),
    "a file of the folder beside a password manager": ("pass show gw && sh tools/show-key", True),
    "likewise, on the next line": ("pass show gw\nsh tools/show-key", True),
    "a password manager's own file, named as one of the folder": ("pass show ./tools/show-key", True),
    "the folder asked for, beside a password manager": ("pass show $(pwd)", True),
    "direnv, by a shell": ({"command": "sh", "args": ["-c", "X=1 direnv exec ~ show-key"]}, True),
    "another folder first": ("cd ~ && ./bin/show-key", False),
    "likewise, without its name": ("(cd; bin/show-key)", False),
    "likewise, on a line of its own": ("cd ~\n./bin/show-key", False),
    "a folder below first": ("cd tools && ./show-key", True),
    "another folder, and back": ("cd ~ && cd - && ./bin/show-key", True),
    "the key of a Python package, for names of the folder": ("python3 -m keyring get gw work", False),
    "names of the folder for a script of one's own": ("python3 ~/bin/key.py work", False),
    "names of the folder for a package": (
        'python3 -c \'import keyring; print(keyring.get_password("gw", "work"))\'',
        False,
    ),
    "a module of the folder": ("python3 -I -mwork", True),
    "an import among others": ("python3 -Ic 'import os, work.x; work.x()'", True),
    "an import by a function": ("python3 -c '__import__(\"work\")'", True),
    "likewise, by a variable of Windows'": ({"command": "%USERPROFILE%\\tools\\show-key", "args": []}, False),
}


@pytest.mark.parametrize(("value", "is_there"), OWN.values(), ids=OWN)
def test_what_lies_in_a_repository(tmp_path: Path, value: Value, *, is_there: bool) -> None:
    for name in ("key", "print", "work", "gw", "tools/show-key", "bin/show-key"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    command = Command.of(value)
    assert command is not None
    assert command.lies_in(tmp_path, ENVIRON) == is_there


def test_a_module_of_the_folder_is_no_password_manager(tmp_path: Path) -> None:
    command = Command.of("python3 -m keyring get gw work")
    assert command is not None
    (tmp_path / "keyring.py").touch()
    assert command.lies_in(tmp_path, ENVIRON)


PROJECTS = {
    "a variable of anybody's": ("echo @KEY@", {"VAULT_ADDR": "http://elsewhere.example"}, "(VAULT_ADDR)"),
    "two": ("echo @KEY@", {"PATH": "/nowhere", "FOO": "x"}, "(FOO, PATH)"),
    "one that the tool itself reads": ("echo @KEY@", {"ANTHROPIC_MODEL": "m2"}, ""),
    "one that is so anyway": ("echo @KEY@", {"LC_ALL": "C.UTF-8"}, ""),
    "toolsync's command, which heeds it": ("echo @KEY@ # toolsync key print work", {"HOME": "/nowhere"}, "(HOME)"),
    "toolsync's command, which does not": ("echo @KEY@ # toolsync key print work", {"FOO": "x"}, ""),
    "no command": (None, {"FOO": "x"}, ""),
}


@pytest.mark.parametrize(("line", "env", "named"), PROJECTS.values(), ids=PROJECTS)
def test_the_variables_of_a_project_without_which_it_is_run_are_named(
    tmp_path: Path, line: str | None, env: Mapping[str, str], named: str
) -> None:
    home = Home(tmp_path, {"LC_ALL": "C.UTF-8"})
    own = {"env": {"ANTHROPIC_AUTH_TOKEN": KEY}} if line is None else {"apiKeyHelper": line.replace("@KEY@", KEY)}
    home.write({".claude/settings.json": json.dumps(own), "project/.claude/settings.json": json.dumps({"env": env})})
    said = [tell(line) for finding in left_out(home.look("claude-code")) for line in finding.evidence]
    assert [named in one for one in said] == ([True] if named else [])


WANTING = {
    "a variable that only the project sets": ("echo $GIVEN", {"GIVEN": KEY}, ""),
    "one that the tool itself reads": ("echo $NONE", {"ANTHROPIC_MODEL": "m2"}, "sure"),
    "none of the project's": ("echo $NONE", {}, "sure"),
    "a program that is not there": ("no-such-thing", {"GIVEN": KEY}, "sure"),
    "one on the project's path": ("no-such-thing", {"PATH": "/opt/bin"}, ""),
    "toolsync's command, which heeds it": ("false # toolsync key print work", {"HOME": "/nowhere"}, ""),
    "toolsync's command, which does not": ("false # toolsync key print work", {"GIVEN": KEY}, "sure"),
}


@pytest.mark.parametrize(("line", "env", "certainty"), WANTING.values(), ids=WANTING)
def test_a_command_that_may_fail_for_want_of_a_projects_variables_is_nothing_wrong(
    tmp_path: Path, line: str, env: Mapping[str, str], certainty: str
) -> None:
    home = Home(tmp_path)
    own = {"apiKeyHelper": line, "env": {"ANTHROPIC_BASE_URL": "https://gw.example/api", "ANTHROPIC_MODEL": "m"}}
    home.write({".claude/settings.json": json.dumps(own), "project/.claude/settings.json": json.dumps({"env": env})})
    look = home.look("claude-code")
    one = diagnosed(look, findings(look), Probes({}), Options(("claude-code",)))
    helpers = [finding.certainty for finding in one.findings if finding.cause == "key_helper_failed"]
    assert helpers == ([certainty] if certainty else [])
    assert (steering.kept(look, None) or ("",))[0] == ("" if certainty else "helper_without")
