"""Startup files of shells and desktops: the lines that set variables, and never their values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.home import Home
from toolsync.doctor import startup
from toolsync.doctor.startup import (
    Line,
    assignments,
    exports,
    fish_sets,
    fish_universal,
    launchd_variables,
    registry_lines,
)

EXPORTS: dict[str, tuple[str, list[tuple[int, str, bool]]]] = {
    "export": ("export A=x", [(1, "A", False)]),
    "quoted": ("export A=\"a b\" B='c d'", [(1, "A", False), (1, "B", False)]),
    "empty": ('export A=\nexport B=""', [(1, "A", True), (2, "B", True)]),
    "a comment": ("# export A=x", []),
    "a comment behind": ("export A=x # export B=y", [(1, "A", False)]),
    "another command behind": ("export A=x && B=y", [(1, "A", False)]),
    "declare": ("declare -x A=x\ntypeset -gx B=y\ndeclare -r C=z", [(1, "A", False), (2, "B", False)]),
    "set, then exported": ("A=x\nexport A", [(1, "A", False)]),
    "set, and never exported": ("A=x", []),
    "for one command only": ("A=x claude", []),
    "an alias": ("alias c='A=x claude'", []),
    "indented": ("if true; then\n  export A=x\nfi", [(2, "A", False)]),
    "two of a name": ("export A=x\nexport A=y", [(1, "A", False), (2, "A", False)]),
    "over two lines": ("export A=x \\\n  B=y\nexport C=z", [(1, "A", False), (1, "B", False), (3, "C", False)]),
    "Windows line ends": ("export A=x\r\nexport B=y\r\n", [(1, "A", False), (2, "B", False)]),
}


@pytest.mark.parametrize(("text", "expected"), EXPORTS.values(), ids=EXPORTS)
def test_what_a_shell_hands_on(text: str, expected: list[tuple[int, str, bool]]) -> None:
    assert list(exports(text)) == expected


OTHERS = {
    "fish: set -gx": (
        fish_sets,
        "set -gx A x\nset -l B y\nset -x C\nset --export D z",
        [(1, "A", False), (3, "C", True), (4, "D", False)],
    ),
    "fish: export": (fish_sets, "export A=x", [(1, "A", False)]),
    "fish: a comment": (fish_sets, "# set -gx A x", []),
    "fish: universal": (fish_universal, "# v\nSETUVAR --export A:x\nSETUVAR B:y", [(2, "A", False)]),
    "environment.d": (
        assignments,
        "# c\nA=x\nB=\n not a line\nexport C=z",
        [(2, "A", False), (3, "B", True), (5, "C", False)],
    ),
    "pam": (assignments, "A DEFAULT=x\nB OVERRIDE=y", [(1, "A", False), (2, "B", False)]),
}


@pytest.mark.parametrize(("reader", "text", "expected"), OTHERS.values(), ids=OTHERS)
def test_what_others_hand_on(reader: startup.Reading, text: str, expected: list[tuple[int, str, bool]]) -> None:
    assert list(reader(text)) == expected


FILES = {
    ".bashrc": "export A=1",
    ".bash_profile": "export A=1",
    ".profile": "export A=1",
    ".zshenv": "export A=1",
    ".zshrc": "export A=1",
    ".config/fish/config.fish": "set -gx A 1",
    ".config/fish/conf.d/a.fish": "set -gx A 1",
    ".config/fish/fish_variables": "SETUVAR --export A:1",
    ".config/environment.d/a.conf": "A=1",
    "project/.envrc": "export A=1",
    ".envrc": "export A=1",
    "/etc/environment": "A=1",
    "/etc/profile": "export A=1",
    "/etc/profile.d/a.sh": "export A=1",
    "/etc/zsh/zshenv": "export A=1",
}


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_looked_at(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path)
    home.write({name: FILES[name]})
    (line,) = startup.lines(home.session().places)
    assert (line.name, line.file, line.line) == ("A", str(home.path(name)), 1)


def test_zsh_and_xdg_folders_may_be_elsewhere(tmp_path: Path) -> None:
    home = Home(tmp_path, {"ZDOTDIR": str(tmp_path / "home/z"), "XDG_CONFIG_HOME": str(tmp_path / "home/x")})
    home.write({"z/.zshrc": "export A=1", "x/fish/config.fish": "set -gx B 1", ".zshrc": "export C=1"})
    assert {line.name for line in startup.lines(home.session().places)} == {"A", "B"}


def test_the_last_line_is_the_one_that_counts(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write({".profile": "export A=1", ".bashrc": "\nexport A=2\nexport A=3\n"})
    line = home.world().set_at("A")
    assert line is not None
    assert (Path(line.file).name, line.line, line.kind) == (".bashrc", 3, "shell")
    assert home.world().set_at("B") is None


def test_a_file_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write({".bashrc": b"export A=\xff\n"})
    home.path(".zshrc").mkdir()
    assert [line.name for line in startup.lines(home.session().places)] == ["A"]


def test_no_value_is_kept(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write({".bashrc": "export A=value-of-a"})
    assert "value-of-a" not in repr(startup.lines(home.session().places))


def test_what_windows_registry_hands_on() -> None:
    values = [("OPENAI_API_KEY", "x"), ("EMPTY", ""), ("Path", "C:\\a"), ("odd name", "y"), ("NUMBER", 5)]
    assert list(registry_lines("HKCU\\Environment", values)) == [
        Line("OPENAI_API_KEY", "HKCU\\Environment", 0, "desktop"),
        Line("EMPTY", "HKCU\\Environment", 0, "desktop", is_empty=True),
        Line("Path", "HKCU\\Environment", 0, "desktop"),
        Line("NUMBER", "HKCU\\Environment", 0, "desktop"),
    ]


LAUNCHD = """gui/501 = {
\ttype = login
\thandle = 100003
\tactive count = 410
\tinherited environment = {
\t\tSSH_AUTH_SOCK => /private/tmp/x
\t}
\tenvironment = {
\t\tANTHROPIC_BASE_URL => https://gw.example/api
\t\tPATH => /usr/bin:/bin
\t}
\tservices = {
\t\t\t 0      - \tcom.apple.x
\t}
}
"""


def test_what_launchd_hands_to_programs_of_the_desktop() -> None:
    assert launchd_variables(LAUNCHD) == {"ANTHROPIC_BASE_URL": "https://gw.example/api", "PATH": "/usr/bin:/bin"}
    assert launchd_variables("") == {}
