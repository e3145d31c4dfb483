"""`check` among what people and attackers leave about: names, links, pipes, devices, and more than it can look at."""

from __future__ import annotations

import base64
import bz2
import errno
import gzip
import html
import io
import json
import lzma
import os
import re
import shlex
import socket
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.check.planted import SHAPED, database, drawn
from tests.gitguard.conftest import Home
from toolsync.commands.leaks import check, looking
from toolsync.commands.leaks.finding import Limits
from toolsync.commands.leaks.sought import shapes
from toolsync.leaks import Finder, Known
from toolsync.search import content
from toolsync.search.listing import listed

NASTY = [
    "two\nlines",
    "\x1b[2J\x1b]0;title\x07",
    "\udcff\udcfe",
    "-rf",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp",
    'quote"$(id)`',
    "%0a",
    "  ",
    "ü",
]


def _check(machine: Machine, *options: str) -> Any:
    return machine.toolsync("check", *options, "--json").json


def test_files_may_be_called_anything(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    files = [furnished.home / "project" / f"x{name}" for name in NASTY]
    for text in (KEY, "nothing", f"\n{KEY}"):
        for number, file in enumerate(files):
            file.write_text(f"{text} {number}", encoding="utf-8")
        if text != f"\n{KEY}":
            home.git("project", "add", ".")
            home.git("project", "commit", "-q", "-m", "x")
    found = _check(furnished)["data"]["findings"]
    assert Counter((one["inside"][:6], one["line"]) for one in found) == {
        ("", 2): len(NASTY),
        ("commit", 1): len(NASTY),
    }
    log = json.loads(furnished.toolsync("check", "--sarif").out)
    assert len(log["runs"][0]["results"]) == len(found)
    said = furnished.toolsync("check").out
    begins = ("~/project/x", "    ", f"{len(found)} leaks", "a key that", "not looked at", "`toolsync check --fix`")
    assert [line for line in said.splitlines() if not line.startswith(begins)] == []
    assert "\x1b" not in said + json.dumps(log)


def test_nothing_waits_for_what_is_no_file(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    makers: Mapping[str, Callable[[Path], object]] = {
        "pipe": os.mkfifo,
        "device": lambda path: path.symlink_to("/dev/zero"),
        "circle": lambda path: path.symlink_to(path),
        "nothing": lambda path: path.symlink_to("nowhere"),
        "folder": Path.mkdir,
        "socket": _socket,
    }
    for kind in makers:
        furnished.write(f"project/{kind}", "once a file\n")
    home.git("project", "add", ".")
    for kind, make in makers.items():
        (furnished.home / "project" / kind).unlink()
        for folder in (".codex/log", ".codex/sessions/1", ".config/toolsync", "project"):
            path = furnished.home / folder / kind
            path.parent.mkdir(parents=True, exist_ok=True)
            make(path)
    for kind, name in zip(
        makers, (".codex/config.toml", ".bashrc", ".zshrc", ".profile", ".npmrc", ".netrc"), strict=True
    ):
        makers[kind](furnished.home / name)
    assert _check(furnished)["data"]["findings"] == []


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's name may have 107 characters
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


def test_what_a_link_in_a_repository_leads_to_is_not_the_repositorys(furnished: Machine) -> None:
    Home(furnished.home).repository("project")
    furnished.write("elsewhere.txt", KEY)
    (furnished.project / "link").symlink_to(furnished.home / "elsewhere.txt")
    assert _check(furnished)["data"]["findings"] == []


def test_folders_in_a_circle_come_to_an_end(furnished: Machine) -> None:
    furnished.write(".claude/projects/a/1.jsonl", KEY)
    (furnished.home / ".claude/projects/a/again").symlink_to(furnished.home / ".claude/projects")
    (furnished.home / ".claude/projects/b").symlink_to(furnished.home / ".claude/projects/a")
    assert [one["shown"] for one in _check(furnished)["data"]["findings"]] == ["~/.claude/projects/a/1.jsonl"]


def test_a_file_that_has_two_names_is_told_once(furnished: Machine) -> None:
    file = furnished.write(".bashrc", KEY)
    (furnished.home / ".zshrc").hardlink_to(file)
    (furnished.home / ".profile").symlink_to(file)
    assert len(_check(furnished)["data"]["findings"]) == 1


def test_a_key_in_ten_thousand_lines_is_one_finding(furnished: Machine) -> None:
    furnished.write(".codex/log/a.log", f"x {KEY}\n" * 10_000)
    (one,) = _check(furnished)["data"]["findings"]
    assert (one["count"], one["lines"]) == (10_000, list(range(1, 11)))


def test_what_is_shut_is_named_and_nobody_says_that_all_is_well(
    furnished: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shut = {str(furnished.write(".codex/config.toml", "")), str(furnished.home / ".codex/sessions")}
    (furnished.home / ".codex/sessions").mkdir()
    for name in ("open", "scandir"):
        monkeypatch.setattr(os, name, _but_for(shut, getattr(os, name)))
    ran = furnished.toolsync("check", "--json")
    rows = [(one["what"], one["reason"], one["matters"]) for one in ran.json["data"]["not_looked_at"]]
    assert ran.code == 3
    assert rows == [
        ("~/.codex/config.toml", "permission denied", True),
        ("~/.codex/sessions", "permission denied", False),
    ]


def _but_for(shut: set[str], original: Any) -> Any:
    """As the system does it, but for some paths, which are another user's: the tests are run by root, too."""

    def done(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
        if str(path) in shut:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return original(path, *args, **kwargs)

    return done


def test_what_is_not_looked_at_is_said(furnished: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "Limits", lambda: Limits(file_bytes=2**20, blob_bytes=1000, versions=1))
    home = Home(furnished.home)
    home.repository("project")
    for text in ("one", "two", "three", f"{KEY}\n" * 100):
        furnished.write("project/a.txt", text)
        home.git("project", "add", ".")
        home.git("project", "commit", "-q", "-m", "x")
    furnished.write("project/a.txt", "")
    furnished.write(".codex/log/a.log", b"x" * 2**20 + KEY.encode())
    furnished.write(".codex/log/a.log.1.gz", b"\x1f\x8b" + KEY.encode())
    said = {one["what"]: one["reason"] for one in _check(furnished)["data"]["not_looked_at"]}
    assert said == {
        "~/project/a.txt": "in the index: missing there, or more than 0 MiB",
        "~/project": "2 of 3 earlier versions of files (limit)",
        "~/.codex/log/a.log": "only its first 1 MiB",
        "~/.codex/log/a.log.1.gz": "it is compressed, and damaged",
    }


def test_a_file_that_git_keeps_encrypted_is_not_said_to_be_in_git(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    for verb in ("clean", "smudge"):  # of git-crypt's kind, though anybody could undo it
        home.git("project", "config", f"filter.git-crypt.{verb}", "tr A-Za-z N-ZA-Mn-za-m | tr 0-9 5-90-4")
    furnished.write("project/.gitattributes", ".env filter=git-crypt diff=git-crypt\n")
    furnished.write("project/.env", f"K={KEY}\n").chmod(0o600)
    home.git("project", "add", ".")
    home.git("project", "commit", "-q", "-m", "x")
    (one,) = _check(furnished)["data"]["findings"]
    assert (one["shown"], one["exposed"]) == ("~/project/.env", [])
    assert "git" not in one["advice"]


def test_a_long_file_stops_no_commit(furnished: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_NEAR", Limits(blob_bytes=1000))
    home = Home(furnished.home)
    home.repository("project")
    furnished.write("project/model.bin", b"x" * 1001)
    home.git("project", "add", ".")
    ran = furnished.toolsync("check", "--staged", "--json")
    (one,) = ran.json["data"]["not_looked_at"]
    assert (ran.code, one["what"], one["matters"]) == (0, "~/project/model.bin", False)


def test_what_a_shallow_clone_lacks_is_said(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("origin")
    for text in (KEY, "two"):
        furnished.write("origin/a.txt", text)
        home.git("origin", "add", ".")
        home.git("origin", "commit", "-q", "-m", "x")
    furnished.project.rmdir()
    home.git("", "clone", "-q", "--depth", "1", f"file://{furnished.home}/origin", "project")
    done = _check(furnished)["data"]
    assert [one["reason"] for one in done["not_looked_at"]] == [
        "what is older than the commits of this shallow clone: `git fetch --unshallow` brings it"
    ]
    home.git("project", "fetch", "-q", "--unshallow")
    done = _check(furnished)["data"]
    assert (done["not_looked_at"], [one["shown"] for one in done["findings"]]) == ([], ["~/project/a.txt"])


def test_what_is_compressed_is_unpacked_as_far_as_there_is_something_to_do_it(
    furnished: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "Limits", lambda: Limits(file_bytes=2**20))
    text = b"\n" * 7 + KEY.encode()
    packs: Mapping[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    for name, pack in packs.items():
        furnished.write(f".codex/log/good.{name}", pack(text))
        furnished.write(f".codex/log/torn.{name}", pack(text)[:-5])
        furnished.write(f".codex/log/far.{name}", pack(b"x" * 2**20 + text))
    furnished.write(".codex/log/torn.zip", b"PK\x03\x04" + text)
    furnished.write(".codex/log/a.zst", b"(\xb5/\xfd" + text)
    Home(furnished.home).repository("project")
    furnished.write("project/data.csv.xz", lzma.compress(text))
    data = _check(furnished)["data"]
    found = {(one["shown"], one["line"]) for one in data["findings"]}
    assert found >= {*((f"~/.codex/log/good.{name}", 8) for name in packs), ("~/project/data.csv.xz", 8)}
    said = {Path(one["what"]).name: one["reason"] for one in data["not_looked_at"]}
    whole = {f"far.{name}": "only its first 1 MiB" for name in packs}
    torn = {f"torn.{name}": "it is compressed, and damaged" for name in (*packs, "zip")}
    assert said == {"a.zst": "it is compressed"} | torn | whole


@pytest.mark.parametrize(
    "name",
    [
        *(".screenrc", ".vimrc", ".config/mise/config.toml", ".config/nvim/lua/a/b.lua", ".docker/config.json"),
        *(".cursor/mcp.json", ".config/Claude/claude_desktop_config.json", ".config/zed/settings.json"),
        *(".qwen/settings.json", ".local/share/crush/crush.json", ".config/goose/config.yaml"),
    ],
)
def test_other_programs_settings_are_looked_at(furnished: Machine, name: str) -> None:
    furnished.write(name, f'x = "{KEY}"\n')
    assert [one["shown"] for one in _check(furnished)["data"]["findings"]] == [f"~/{name}"]


def test_archives_are_opened_member_by_member(furnished: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "Limits", lambda: Limits(file_bytes=2**20))
    text = b"\n\n" + KEY.encode()
    inner = archive({"deep.txt": text})
    furnished.write(
        ".claude/backups/all.zip", archive({"a.txt": b"nothing", "b/c.json": text, "d.gz": gzip.compress(text)})
    )
    furnished.write(".claude/backups/deep.zip", archive({"inner.zip": inner}))
    furnished.write(".claude/backups/named.zip", archive({f"{SHAPED['groq']}.txt": b""}))
    furnished.write(".claude/backups/long.zip", archive({"a": b"x" * 2**20, "b": text}))
    furnished.write(".claude/backups/shut.zip", shut(archive({"s.txt": text}, zipfile.ZIP_STORED)))
    home = Home(furnished.home)
    home.repository("project")
    furnished.write("project/old.zip", archive({"x.txt": text}))
    home.git("project", "add", ".")
    home.git("project", "commit", "-q", "-m", "x")
    furnished.write("project/old.zip", archive({"x.txt": b""}))
    home.git("project", "add", ".")
    home.git("project", "commit", "-q", "-m", "y")
    ran = furnished.toolsync("check", "--json")
    findings = ran.json["data"]["findings"]
    found = {(one["shown"], re.sub("(?<=commit )[0-9a-f]+", "…", one["inside"]), one["line"]) for one in findings}
    assert found == {
        ("~/.claude/backups/all.zip", "in b/c.json", 3),
        ("~/.claude/backups/all.zip", "in d.gz", 3),
        ("~/.claude/backups/named.zip", "in ***.txt", None),
        ("~/project/old.zip", "commit …, in x.txt", 3),
    }
    said = {Path(one["what"]).name: one["reason"] for one in ran.json["data"]["not_looked_at"]}
    assert said == {
        "deep.zip": "inner.zip: it is compressed",
        "long.zip": "only its first 1 MiB",
        "shut.zip": "s.txt: it is shut with a password",
    }
    assert SHAPED["groq"] not in ran.out


def archive(members: Mapping[str, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", way) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return file.getvalue()


def shut(made: bytes) -> bytes:
    """The archive, its first member said to be encrypted."""
    central = made.index(b"PK\x01\x02")
    return made[:6] + b"\1" + made[7 : central + 8] + b"\1" + made[central + 9 :]


def test_when_the_time_is_over_the_rest_is_named_and_nobody_says_that_all_is_well(
    furnished: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "Limits", lambda: Limits(seconds=0))
    furnished.write(".codex/config.toml", "")
    furnished.write(".codex/log/a.log", "")
    ran = furnished.toolsync("check", "--json")
    said = {one["what"]: one["matters"] for one in ran.json["data"]["not_looked_at"]}
    assert (ran.code, said["1 file (codex tool)"], said["1 file (codex log)"]) == (3, True, False)


def test_a_repository_runs_nothing(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    furnished.write("project/a.txt", "one\n")
    furnished.write("project/.gitattributes", "* filter=evil diff=evil\n")
    home.git("project", "add", ".")
    home.git("project", "commit", "-q", "-m", "one")
    _sign(home, furnished.write("project/b.txt", f"{KEY} once"))
    ran = furnished.home / "ran"
    evil = f"touch {ran}; cat"
    for name in (
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.external",
    ):
        home.git("project", "config", name, evil)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "uploadpack.packObjectsHook"):
        home.git("project", "config", name, evil)
    home.git("project", "config", "log.showSignature", "true")
    program = furnished.write("evil", f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    home.git("project", "config", "gpg.program", str(program))
    furnished.write("project/a.txt", KEY)
    home.git(
        "project", "-c", "core.fsmonitor=false", "-c", "filter.evil.clean=cat", "-c", "filter.evil.process=", "add", "."
    )
    home.git("project", "--no-pager", "log", "-1")
    assert ran.exists()  # that is what git would do
    ran.unlink()
    assert len(_check(furnished)["data"]["findings"]) == 2
    assert len(_check(furnished, "--staged")["data"]["findings"]) == 1
    assert not ran.exists()


def _sign(home: Home, file: Path) -> None:
    """Commit a file, with what git takes for a signature, and take it out of the index again."""
    folder = file.parent
    home.git(folder, "add", file.name)
    home.git(folder, "commit", "-q", "-m", "two")
    about, _, message = home.git(folder, "cat-file", "commit", "HEAD").partition("\n\n")
    signed = f"{about}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}"
    commit = home.git(folder, "hash-object", "-t", "commit", "-w", str(home.write("commit", signed))).strip()
    home.git(folder, "update-ref", "HEAD", commit)
    home.git(folder, "rm", "-q", "--cached", file.name)
    file.unlink()


def test_staged_looks_at_the_index_and_nothing_else(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    furnished.write(".bashrc", KEY)
    furnished.write("project/in.txt", KEY)
    home.git("project", "add", ".")
    furnished.write("project/in.txt", "out again\n")
    furnished.write("project/beside.txt", KEY)
    ran = furnished.toolsync("check", "--staged", "--json")
    assert [(one["shown"], one["inside"]) for one in ran.json["data"]["findings"]] == [("~/project/in.txt", "index")]
    home.git("project", "commit", "-q", "-m", "x")
    assert furnished.toolsync("check", "--staged").code == 0
    home.git("project", "rm", "-q", "--cached", "in.txt")
    assert furnished.toolsync("check", "--staged").code == 0


def test_staged_outside_a_repository_is_refused(furnished: Machine) -> None:
    assert furnished.toolsync("check", "--staged").said[0] == 2


# Text in pieces.

FINDER = Finder([Known("a", KEY)], shapes())
TEXT = f"one\ntwo {KEY} and \\n{SHAPED['sk']}\n\nhf_ {SHAPED['hugging-face']}\n{KEY}{KEY}".encode()
EXPECTED = [(2, "a"), (2, "sk"), (4, "hugging-face"), (5, "a"), (5, "a")]


def _spots(pieces: Iterator[bytes]) -> list[tuple[int, str]]:
    return [(spot.line, spot.hit.secret.name) for spot in FINDER.spots(pieces)]


@pytest.mark.parametrize(
    ("size", "before"), [(1, 0), (2, 0), (7, 700), (64, 700), *((size, 4000) for size in (100, 711, 712, 1000, 5000))]
)
def test_where_a_text_is_cut_makes_no_difference(size: int, before: int) -> None:
    text = b"x" * before + b"\n" + TEXT + b"\n" + b"y" * before
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    assert _spots(pieces) == [(line + 1, name) for line, name in EXPECTED]


@pytest.mark.parametrize("cut", [1, 700, 2999, 3001])
def test_a_key_of_three_thousand_characters_is_found_wherever_it_is_cut(cut: int) -> None:
    key = drawn("long-", 3000)
    text = b"x" * 5000 + b"\n" + base64.b64encode(b"u:" + key.encode()) + b"\n" + key.encode() + b"\n" + b"y" * 9000
    pieces = [text[: 9000 + cut], text[9000 + cut :]]
    spots = Finder([Known("a", key)]).spots(pieces)
    assert [(spot.line, spot.hit.spelling) for spot in spots] == [(2, "base64"), (3, "as it is")]


SPECIAL = [
    pytest.param("gw-8fJ2/kQ+zP0w==", id="base64's own"),
    pytest.param("a1'b2\"c3`d4\\\\e5", id="quotes and backslashes"),
    pytest.param("a1''\"\"b2``$(id)&<c>", id="quotes side by side, and markup"),
    pytest.param("p%41;q%2B&x;r{7}!~", id="what looks escaped already"),
]


def _in_any_format(key: str) -> Mapping[str, str]:
    """How programs write a key."""
    twice = json.dumps(json.dumps(key))
    return {
        "as it is": key,
        "JSON, three times": json.dumps(twice),
        "JSON of .NET": "".join(f"\\u{ord(one):04X}" if not one.isalnum() else one for one in key),
        "JSON of PHP": json.dumps(key).replace("/", "\\/"),
        "HTML": html.escape(key),
        "HTML by number": "".join(f"&#{ord(one)};" if not one.isalnum() else one for one in key),
        "an address": quote(key, safe=""),
        "an address, but slashes": quote(key),
        "an address in an address": quote(quote(key, safe=""), safe=""),
        "a shell": shlex.quote(key),
        "PowerShell, YAML": "'" + key.replace("'", "''") + "'",
        "CSV": '"' + key.replace('"', '""') + '"',
        "backslashes": re.sub(r"([^A-Za-z0-9])", r"\\\1", key),
    }


@pytest.mark.parametrize("key", SPECIAL)
def test_a_key_with_special_characters_is_found_in_every_format(key: str) -> None:
    finder = Finder([Known("a", key)])
    texts = _in_any_format(key)
    assert {way: len(finder.hits(f"x {text} y".encode())) for way, text in texts.items()} == dict.fromkeys(texts, 1)


def test_a_key_of_nothing_but_special_characters_takes_no_time() -> None:
    finder = Finder([Known("a", "k" + "\\'`\"$" * 60)])
    began = time.process_time()
    for text in (b"\\" * 200_000 + b"'`" * 100_000, b"k" + b"\\'`\"$" * 59 + b"'" * 100_000, b"k" + b"'" * 200_000):
        assert finder.hits(text + b"k") == []
    assert time.process_time() - began < 2


@pytest.mark.parametrize("end", ["\n", "\r\n    ", "\\n"])
@pytest.mark.parametrize("width", [60, 64, 76])
@pytest.mark.parametrize("count", [40, 160, 3000])
def test_an_encoding_may_be_broken_into_lines(count: int, width: int, end: str) -> None:
    key = drawn("gw-", count)
    for encoded in (base64.b64encode(f"me:{key}".encode()).decode(), key.encode().hex()):
        lines = (encoded[at : at + width] for at in range(0, len(encoded), width))
        hits = Finder([Known("a", key)]).hits(f"x: {end.join(lines)}\n".encode())
        assert [hit.spelling for hit in hits] == ["base64" if encoded[:2] == "bW" else "hexadecimal"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-8"])
def test_what_is_no_utf_8_is_read_all_the_same(encoding: str) -> None:
    raw = f"# a line before\n{TEXT.decode()}".encode(encoding)
    pieces = (raw[at : at + 101] for at in range(0, len(raw), 101))
    assert _spots(content.plain(pieces)) == [(line + 1, name) for line, name in EXPECTED]


def test_among_bytes_of_any_kind() -> None:
    noise = bytes(range(256)) * 40
    assert [name for _, name in _spots(iter([noise + b"\0" + KEY.encode() + b"\0" + noise]))] == ["a"]
    wide = KEY.encode("utf-16-le")
    assert [spot.hit.spelling for spot in FINDER.spots([noise + wide + noise])] == ["UTF-16"]


def test_a_pattern_goes_down_so_far_only(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"abcdefghijklmnop")
    deep.mkdir(parents=True)
    (deep / "x.log").touch()
    (tmp_path / "y.log").touch()
    found = listed(tmp_path / "**" / "*.log")
    assert ([path.name for path in found.files], found.is_cut) == (["y.log"], True)


def test_of_too_many_files_the_newest_are_named(tmp_path: Path) -> None:
    for age, name in enumerate(("c", "a", "d", "b")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 1_000_000 - age))
    some, every = listed(tmp_path / "*", most=2), listed(tmp_path / "*", most=4)
    assert ([path.name for path in some.files], some.is_cut) == (["c", "a"], True)
    assert ([path.name for path in every.files], every.is_cut) == (["c", "a", "d", "b"], False)


def test_staged_in_the_hook_of_a_bare_repository(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.git(".", "init", "-q", "--bare", "dots.git")
    furnished.write("project/.bashrc", KEY)
    options = (f"--git-dir={furnished.home / 'dots.git'}", "--work-tree=.")
    home.git("project", *options, "add", ".bashrc")
    furnished.environ |= {"GIT_DIR": str(furnished.home / "dots.git")}
    ran = furnished.toolsync("check", "--staged", "--json")
    assert [(one["shown"], one["line"]) for one in ran.json["data"]["findings"]] == [("~/project/.bashrc", 1)]


def test_a_database_may_be_called_anything_and_be_damaged(furnished: Machine) -> None:
    folder = furnished.home / ".cc-switch/backups"
    for name in ("\udcff.db", "a?b#c%.db"):
        database(folder / name, KEY)
    (folder / "damaged.db").write_bytes(b"SQLite format 3\0" + KEY.encode() * 100)
    ran = furnished.toolsync("check", "--json")
    assert {one["inside"] for one in ran.json["data"]["findings"]} == {
        "table providers, row 2 (mine), settings_config",
        "a deleted or unread part of the database",
    }
    assert len(ran.json["data"]["findings"]) == 3
    assert [one["what"] for one in ran.json["data"]["not_looked_at"]] == ["~/.cc-switch/backups/damaged.db"]


def test_more_findings_than_anybody_reads_are_counted(furnished: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "_MOST_FINDINGS", 3)
    for number in range(10):
        furnished.write(f".codex/log/{number}.log", KEY)
    data = _check(furnished)["data"]
    assert (len(data["findings"]), data["not_looked_at"][0]["what"]) == (3, "7 further places where a key stands")


def test_a_profile_in_any_folder_does_not_make_that_folder_ours(furnished: Machine) -> None:
    furnished.config = furnished.home / "profile.toml"
    furnished.profile()
    furnished.write("photos/a/b.txt", KEY)
    assert _check(furnished)["data"]["findings"] == []


def _committed(home: Home, folder: str) -> None:
    """A repository with one commit."""
    home.repository(folder)
    home.write(f"{folder}/a.txt", "nothing")
    home.git(folder, "add", ".")
    home.git(folder, "commit", "-q", "-m", "x")


def test_a_linked_work_tree_is_looked_at_whole(furnished: Machine) -> None:
    home = Home(furnished.home)
    _committed(home, "main")
    furnished.project.rmdir()
    home.git("main", "worktree", "add", "-q", "../project")
    home.git("project", "remote", "add", "origin", f"https://x:{SHAPED['github']}@github.com/x/y")
    ran = furnished.toolsync("check", "--json")
    said = [(one["what"], one["reason"]) for one in ran.json["data"]["not_looked_at"]]
    assert said == [("~/main", "another work tree of this repository: run `toolsync check` there")]
    assert [one["shown"] for one in ran.json["data"]["findings"]] == ["~/main/.git/config"]


def test_a_submodule_is_looked_at_within_its_repository(furnished: Machine) -> None:
    home = Home(furnished.home)
    _committed(home, "inner")
    home.repository("outer")
    home.git("outer", "submodule", "--quiet", "add", str(furnished.home / "inner"), "sub")
    home.git("outer", "commit", "-q", "-m", "x")
    home.write("outer/sub/b.txt", SHAPED["github"])
    furnished.project.rmdir()
    furnished.project.symlink_to(furnished.home / "outer/sub")
    ran = furnished.toolsync("check", "--json")
    assert ran.json["data"]["not_looked_at"] == []
    assert [one["shown"] for one in ran.json["data"]["findings"]] == ["~/outer/sub/b.txt"]


def test_where_a_link_leads_is_looked_at_as_git_holds_it(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    (furnished.project / "link").symlink_to(KEY)
    home.git("project", "add", ".")
    assert furnished.toolsync("check", "--staged").code == 1
    (found,) = _check(furnished)["data"]["findings"]
    assert (found["shown"], found["inside"], found["exposed"]) == ("~/project/link", "index", ["tracked"])


def test_objects_that_are_borrowed_are_not_said_to_be_lost(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("lender")
    home.write("lender/a.txt", KEY)
    home.git("lender", "add", ".")
    home.git("lender", "commit", "-q", "-m", "x")
    home.repository("project")
    home.write("project/.git/objects/info/alternates", f"{furnished.home}/lender/.git/objects\n")
    data = _check(furnished)["data"]
    assert data["findings"] == []
    reason = "what no commit leads to: it borrows objects from another repository, which may lead to them"
    assert [one["reason"] for one in data["not_looked_at"]] == [reason]


def test_repositories_inside_are_named_and_ignored_settings_are_looked_at(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    home.write("project/sub/x.txt", "nothing")
    home.repository("project/sub")
    home.git("project/sub", "add", ".")
    home.git("project/sub", "commit", "-q", "-m", "x")
    home.git("project", "add", "sub")
    home.write("project/other/x.txt", KEY)
    home.repository("project/other")
    home.write("project/.gitignore", ".env*\nbuilt/\n*.png\n")
    home.write("project/deep/.env.local", KEY)
    home.write("project/built/.env", KEY)
    home.write("project/deep/a.png", KEY)
    data = _check(furnished)["data"]
    said = {one["what"]: one["reason"] for one in data["not_looked_at"]}
    assert list(said) == ["~/project/other", "~/project", "~/project/sub"]
    assert said["~/project"] == "folders that git ignores as a whole: built/"
    assert [(one["shown"], one["kind"]) for one in data["findings"]] == [("~/project/deep/.env.local", "project")]


def test_a_folder_that_is_called_by_a_key_is_named_without_it(furnished: Machine) -> None:
    key = SHAPED["groq"]
    furnished.write(f".codex/sessions/{key}/a.jsonl", KEY)
    home = Home(furnished.home)
    home.repository("project")
    furnished.write(f"project/{key}/a.txt", KEY)
    home.git("project", "add", ".")
    home.git("project", "commit", "-q", "-m", "x")
    home.git("project", "rm", "-q", "-r", ".")
    for form in ("--json", "--sarif", "--deep"):
        ran = furnished.toolsync("check", form)
        assert (ran.code, key in ran.out + ran.err, "***" in ran.out) == (1, False, True)


def test_a_tracked_file_that_is_called_by_a_key(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    furnished.write(f"project/{KEY}.txt", "nothing")
    home.git("project", "add", ".")
    ran = furnished.toolsync("check", "--json")
    (one,) = ran.json["data"]["findings"]
    assert (one["inside"], one["exposed"], KEY in ran.out) == ("its name", ["tracked"], False)
    staged = _check(furnished, "--staged")["data"]["findings"]
    assert [one["inside"] for one in staged] == ["its name"]


def test_notes_and_stashes_of_git_are_called_what_they_are(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("project")
    furnished.write("project/a.txt", "1\n")
    home.git("project", "add", ".")
    home.git("project", "commit", "-q", "-m", "one")
    (commit,) = home.git("project", "rev-parse", "HEAD").split()
    home.git("project", "notes", "add", "-m", f"see {KEY}")
    home.git("project", "notes", "add", "-f", "-m", "better")
    furnished.write("project/a.txt", f"{KEY}\n")
    home.git("project", "stash", "-q")
    stash = home.git("project", "rev-parse", "--short", "stash").strip()
    found = {(one["shown"], one["inside"]): one["advice"] for one in _check(furnished)["data"]["findings"]}
    assert set(found) == {
        ("~/project", f"note on {commit[:12]}"),
        ("~/project/a.txt", f"commit {stash}, to which stash@{{0}} leads"),
    }
    assert "every clone that fetches them" in found["~/project", f"note on {commit[:12]}"]
