"""Keys of which what is no letter or digit is escaped, as fish does in its universal variables."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.acceptance.machine import Machine
from tests.check.planted import SHAPED
from tests.conftest import needs
from toolsync.leaks import Finder, Known
from toolsync.masking import Secret
from toolsync.search import content

FILE = ".config/fish/fish_variables"
KEY = "gw-key.of~this_home/7c1-x"


def _found(machine: Machine) -> list[tuple[str, str, int]]:
    assert machine.vault is not None
    machine.vault.set("work", Secret(KEY))
    findings = machine.toolsync("check", "--json").json["data"]["findings"]
    return sorted((one["secret"]["name"], one["shown"], one["lines"][0]) for one in findings)


def test_a_key_in_a_universal_variable(furnished: Machine) -> None:
    shaped = SHAPED["anthropic"].replace("-", r"\x2d")
    own = r"gw\x2dkey\x2eof\x7ethis_home/7c1\x2dx"
    text = f"# VERSION: 3.0\nSETUVAR --export A:{shaped}\nSETUVAR __fish_x:a\\x1eb\\x0a\nSETUVAR --export B:{own}\n"
    furnished.write(FILE, text)
    assert _found(furnished) == [("Anthropic key", f"~/{FILE}", 2), ("keyring:work", f"~/{FILE}", 4)]


def test_as_the_real_fish_writes_it(furnished: Machine) -> None:
    fish = shutil.which("fish")
    needs(fish, "needs fish")
    environ = {"HOME": str(furnished.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    (furnished.home / FILE).parent.mkdir(parents=True, exist_ok=True)
    for name, value in (("A", SHAPED["anthropic"]), ("B", KEY)):
        subprocess.run(
            [str(fish), "-c", "read -l value; set -Ux $argv $value", name],
            input=value,
            text=True,
            check=True,
            env=environ,
        )
    assert KEY not in furnished.read(FILE), "it is escaped"
    assert [one[0] for one in _found(furnished)] == ["Anthropic key", "keyring:work"]


def _cut(text: bytes, size: int) -> Iterator[bytes]:
    return (text[at : at + size] for at in range(0, len(text), size))


@pytest.mark.parametrize("size", range(1, 14))
def test_pieces_may_be_cut_anywhere(size: int) -> None:
    text = rb"a\x2db\u00e9c\U0001f600d\x0ae\x2" + b"\\"
    assert b"".join(content.unescaped(_cut(text, size))) == "a-béc😀d".encode() + rb"\x0ae\x2" + b"\\"


@pytest.mark.parametrize("written", ["gw%2Dkey%2Eof", r"gw\u002dkey\u002eof", r"gw\-key.of", r"gw\\u002dkey.of"])
def test_what_is_hardly_ever_escaped_is_found_so_too(written: str) -> None:
    text = KEY.replace("gw-key.of", written)
    (hit,) = Finder([Known("k", KEY)]).hits(f"K={text}\n".encode())
    assert (hit.start, hit.end) == (2, 2 + len(text))
