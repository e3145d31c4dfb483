"""References: what a tool expands in its settings, what stands literally, and what is a key and no reference."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.doctor.home import DEMO, Home, demo
from toolsync.commands.doctor.probing import probes
from toolsync.doctor.references import expanded, stray, variable

ENVIRON = {"A": "x", "B_C": "y", "EMPTY": ""}
EXPANDED: dict[str, tuple[str, list[str], tuple[str, tuple[str, ...]]]] = {
    "braces": ("${A}", ["${NAME}"], ("x", ("A",))),
    "in the middle": ("http://${A}/v1/${B_C}", ["${NAME}"], ("http://x/v1/y", ("A", "B_C"))),
    "bare": ("$A/$B_C", ["$NAME"], ("x/y", ("A", "B_C"))),
    "bare ends with the name": ("$AB", ["$NAME"], ("", ("AB",))),
    "opencode's": ("{env:A}", ["{env:NAME}"], ("x", ("A",))),
    "either": ("{env:A}${B_C}", ["${NAME}", "{env:NAME}"], ("xy", ("A", "B_C"))),
    "not its own": ("{env:A}", ["${NAME}"], ("{env:A}", ())),
    "none": ("${A}", [], ("${A}", ())),
    "not set": ("${NO}", ["${NAME}"], ("", ("NO",))),
    "empty": ("${EMPTY}", ["${NAME}"], ("", ("EMPTY",))),
    "a file": ("{file:~/k}", ["{env:NAME}", "{file:PATH}"], ("<~/k>", ())),
    "a variable and a file": ("${A} {file:./a b}.", ["{file:PATH}", "${NAME}"], ("x <./a b>.", ("A",))),
    "a file without an end": ("@/k y", ["@PATH"], ("</k> y", ())),
    "no name": ("${1}", ["${NAME}"], ("${1}", ())),
}


@pytest.mark.parametrize(("text", "spellings", "expected"), EXPANDED.values(), ids=EXPANDED)
def test_what_is_expanded(text: str, spellings: list[str], expected: tuple[str, tuple[str, ...]]) -> None:
    assert expanded(text, spellings, ENVIRON, lambda path: f"<{path}>") == expected


def test_a_reference_to_a_file_stays_where_nobody_reads_files() -> None:
    assert expanded("${A}{file:k}", ["${NAME}", "{file:PATH}"], ENVIRON) == ("x{file:k}", ("A",))


STRAY = {
    "${KEY}": "KEY",
    "${KEY:-none}": "KEY",
    "${env:MY_KEY}": "MY_KEY",
    "$KEY": "KEY",
    "$env:MY_KEY": "MY_KEY",
    "%MY_KEY%": "MY_KEY",
    "{env:MY_KEY}": "MY_KEY",
    "{{ .MY_KEY }}": "MY_KEY",
    "${{ secrets.MY_KEY }}": "MY_KEY",
    "os.environ/MY_KEY": "MY_KEY",
    "process.env.MY_KEY": "MY_KEY",
    '"${MY_KEY}"': "MY_KEY",
    "Bearer $MY_KEY": "MY_KEY",
    "#{MY_KEY}": "MY_KEY",
    "#{ENV['MY_KEY']}": "MY_KEY",
    "@MY_KEY@": "MY_KEY",
    "@MY_KEY": "MY_KEY",
    "op://vault/item/MY_KEY": "",
    "keyring:work": "",
    "ENC[AES256_GCM,data:AbC,iv:DeF,tag:GhI,type:str]": "",
}


@pytest.mark.parametrize(("text", "name"), STRAY.items(), ids=STRAY)
def test_a_reference_is_known_in_whatever_spelling(text: str, name: str) -> None:
    assert stray(text)
    assert variable(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sk-abc123",
        "a$b",
        "$",
        "%",
        "50%",
        "{}",
        "!aB3dE5fG7",
        "x{env:A}y",
        "<",
        "a<b>",
        "${",
        "p@ss%word%1",
        "keyring:",
        "@aB3_dE5",
        "@ABCDEF",
        "#{",
        "op:x",
    ],
)
def test_what_may_be_a_key_is_no_reference(text: str) -> None:
    assert stray(text) == ""


@pytest.mark.parametrize("text", ["{{ " * 30_000, "<" + "a " * 50_000, "${" + "A:-" * 40_000, "!" * 100_000], ids=len)
def test_a_long_text_takes_no_time(text: str) -> None:
    before = time.thread_time()
    assert stray(text) == ""
    assert time.thread_time() - before < 1


_PROJECTS = """
[[layer]]
name = "settings"
overlay = "settings.json"
[[layer]]
name = "project"
file = "<project>/demo.json"
format = "jsonc"
"""


@pytest.mark.parametrize(("name", "is_asked"), [("project/demo.json", False), (".demo/settings.json", True)])
def test_nobody_learns_by_an_address_of_a_projects_file_what_it_refers_to(
    tmp_path: Path, name: str, is_asked: bool
) -> None:
    home = Home(tmp_path, {"RELAY_SECRET": "told-to-nobody"})
    home.write({".demo/settings.json": json.dumps({"key": "any-key-of-the-users"})})
    home.write({name: json.dumps({"url": "http://127.0.0.1:9/{env:RELAY_SECRET}/v1", "key": "any-key-of-the-users"})})
    look = home.look(demo(DEMO + _PROJECTS))
    assert look.effective.base_url.endswith("/told-to-nobody/v1")
    assert bool([*probes([(look, ())], is_deep=False)]) is is_asked
