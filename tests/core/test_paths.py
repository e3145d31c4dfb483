"""Where settings live: alternatives, variables, braces, and each platform's own places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolsync.errors import TemplateError
from toolsync.paths import Places, candidates, stop_at_impossible

ENVIRON = {"SET": "/set", "EMPTY": "", "REL": "rel", "TILDE": "~/x", "ODD": "/odd/$SET/{a,b}/<root>", "NUL_1": "/n"}


def places(**changes: Any) -> Places:
    known: dict[str, Any] = {
        "home": "/home/u",
        "environ": ENVIRON,
        "project": "/code/$SET{a,b}",
        "root": "/",
        "platform": "linux",
    }
    known |= changes
    return Places(
        *(Path(known["home"]), known["environ"], Path(known["project"]), Path(known["root"]), known["platform"]),
        repository=known.get("repository"),
    )


ROWS: dict[str, tuple[str | list[str], list[str]]] = {
    "absolute": ("/etc/x.json", ["/etc/x.json"]),
    "home": ("~/x.json", ["/home/u/x.json"]),
    "home itself": ("~", ["/home/u"]),
    "tilde elsewhere": ("/a/~/x~", ["/a/~/x~"]),
    "variable": ("$SET/x", ["/set/x"]),
    "variable in braces": ("${SET}x", ["/setx"]),
    "two variables": ("$SET/${NUL_1}", ["/set//n"]),
    "no variable": ("/a/$1/$/x", ["/a/$1/$/x"]),
    "first alternative": (["$SET/x", "~/x"], ["/set/x"]),
    "unset: the next": (["$UNSET/x", "~/x"], ["/home/u/x"]),
    "empty: the next": (["$EMPTY/x", "~/x"], ["/home/u/x"]),
    "one of two unset: the next": (["$SET/$UNSET/x", "$SET/y"], ["/set/y"]),
    "braces": ("~/o.{json,jsonc}", ["/home/u/o.json", "/home/u/o.jsonc"]),
    "braces, nothing in one": ("~/o{,.local}", ["/home/u/o", "/home/u/o.local"]),
    "two braces": ("/{a,b}/{c,d}", ["/a/c", "/a/d", "/b/c", "/b/d"]),
    "braces and variable": ("${SET}/o.{json,jsonc}", ["/set/o.json", "/set/o.jsonc"]),
    "one word in braces": ("/a/{b}", ["/a/{b}"]),
    "what a variable holds is a path already": ("$ODD/x", ["/odd/$SET/{a,b}/<root>/x"]),
    "project": ("<project>/.codex/config.toml", ["/code/$SET{a,b}/.codex/config.toml"]),
    "root": ("<root>/etc/x", ["/etc/x"]),
    "list of alternatives with braces": (["$UNSET/{a,b}", "/{a,b}"], ["/a", "/b"]),
}


@pytest.mark.parametrize(("spec", "expected"), ROWS.values(), ids=ROWS)
def test_a_path_is_resolved(spec: str | list[str], expected: list[str]) -> None:
    assert candidates(spec, places()) == tuple(map(Path, expected))


def test_the_repository_is_a_place_only_where_it_is_another_folder_than_the_project() -> None:
    spec = ["<repository>/x", "~/x"]
    assert candidates(spec, places()) == (Path("/home/u/x"),)
    assert candidates(spec, places(repository=Path("/code"))) == (Path("/code/x"),)


MANY = "~/" + "{a,b}" * 30


@pytest.mark.parametrize("spec", [MANY, "~/{" + "," * 64 + "}", "~/" + "{a,b}" * 7], ids=["2^30", "65", "128"])
def test_braces_that_multiply_are_named_at_once(spec: str) -> None:
    for attempt in (lambda: candidates(spec, places()), lambda: stop_at_impossible(spec)):
        with pytest.raises(TemplateError) as caught:
            attempt()
        assert caught.value.message == f"'{spec}' means more than 64 files"


def test_as_many_as_anybody_needs_are_looked_for() -> None:
    assert len(candidates("~/{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", places())) == 64


@pytest.mark.parametrize("spec", ["x/y", "", "./x", "..", "a\\b", "~/a\0b"], ids=repr)
def test_what_can_be_no_path_anywhere_is_refused(spec: str) -> None:
    with pytest.raises(TemplateError, match=r"is (not an absolute|no) path"):
        stop_at_impossible(spec)


@pytest.mark.parametrize(
    "spec", ["~", "/x", "$X/y", "${X}/y", "<root>/x", "C:\\x", "\\\\host\\x", "{~,/opt}/x"], ids=repr
)
def test_what_can_be_a_path_somewhere_passes(spec: str) -> None:
    stop_at_impossible(spec)


def test_another_root() -> None:
    assert candidates("<root>/etc/x", places(root="/tmp/root/")) == (Path("/tmp/root/etc/x"),)


APP_CONFIG: dict[str, tuple[str, dict[str, str], str]] = {
    "linux": ("linux", {}, "/home/u/.config"),
    "linux, moved": ("linux", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg"),
    "linux, emptied": ("linux", {"XDG_CONFIG_HOME": ""}, "/home/u/.config"),
    "linux, moved to nowhere": ("linux", {"XDG_CONFIG_HOME": "rel"}, "/home/u/.config"),
    "mac": ("darwin", {"XDG_CONFIG_HOME": "/xdg"}, "/home/u/Library/Application Support"),
    "windows": ("win32", {"APPDATA": "/roaming"}, "/roaming"),
    "windows, bare": ("win32", {}, "/home/u/AppData/Roaming"),
    "never the environment's": ("linux", {"APP_CONFIG": "/evil"}, "/home/u/.config"),
}


@pytest.mark.parametrize(("platform", "environ", "expected"), APP_CONFIG.values(), ids=APP_CONFIG)
def test_where_programs_keep_their_settings(platform: str, environ: dict[str, str], expected: str) -> None:
    found = candidates("$APP_CONFIG/Code", places(platform=platform, environ=environ))
    assert found == (Path(expected) / "Code",)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("$UNSET/x", "no path can be made of $UNSET/x"),
        (["$UNSET/x", "$EMPTY/y"], "no path can be made of $UNSET/x, $EMPTY/y"),
        ([], "no path can be made of "),
        ("x.json", "'x.json' is not an absolute path"),
        ("$REL/x", "$REL is 'rel', which is not an absolute path"),
        ("${TILDE}/x", "$TILDE is '~/x', which is not an absolute path"),
    ],
    ids=["unset", "all unset", "none", "relative", "relative variable", "tilde in a variable"],
)
def test_a_path_that_cannot_be_had_says_why(spec: str | list[str], message: str) -> None:
    with pytest.raises(TemplateError) as error:
        candidates(spec, places())
    assert error.value.message == message
