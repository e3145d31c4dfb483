"""Which proxy a program takes, and whom it reaches without: as the real ones were seen to, rule by rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from toolsync import registry
from toolsync.proxies import Proxies

TOOLS = registry.tools(Path("/nonexistent"))
CLAUDE, OLDER, CODEX, CLINE, EDITOR = "claude-code", "claude-code@2.1.112", "codex", "cline/cli", "cline/vscode"
VIBE = "mistral-vibe"
ALL = (CLAUDE, OLDER, CODEX, CLINE, EDITOR, VIBE)
URL = "http://gw.corp.example:8080/v1"


def rules(program: str) -> Proxies:
    """Those of a program: of a tool that has several, `TOOL/READER`; of a version, `TOOL@VERSION`."""
    name, _, version = program.partition("@")
    tool, _, reader = name.partition("/")
    found = TOOLS[tool].connections[reader]
    if version:
        found = next(older for pattern, older in found.older.items() if re.search(pattern, version))
    return found.proxies


Taken = Mapping[str, str]
"""The variable that counts, by program."""

BOTH = (CLAUDE, OLDER)
VARIABLES: Mapping[str, tuple[Mapping[str, str], Taken, Taken]] = {
    "upper": (
        {"HTTP_PROXY": "p"},
        dict.fromkeys(ALL, "HTTP_PROXY"),
        dict.fromkeys((*BOTH, EDITOR), "HTTP_PROXY"),
    ),
    "lower": (
        {"http_proxy": "p"},
        dict.fromkeys(ALL, "http_proxy"),
        dict.fromkeys((*BOTH, EDITOR), "http_proxy"),
    ),
    "upper, encrypted": (
        {"HTTPS_PROXY": "p"},
        dict.fromkeys(BOTH, "HTTPS_PROXY"),
        dict.fromkeys(ALL, "HTTPS_PROXY"),
    ),
    "lower, encrypted": (
        {"https_proxy": "p"},
        dict.fromkeys(BOTH, "https_proxy"),
        dict.fromkeys(ALL, "https_proxy"),
    ),
    "all": (
        {"ALL_PROXY": "p"},
        dict.fromkeys((CLAUDE, CODEX, VIBE), "ALL_PROXY"),
        dict.fromkeys((CLAUDE, CODEX, VIBE), "ALL_PROXY"),
    ),
    "all, both spellings": (
        {"all_proxy": "p", "ALL_PROXY": "q"},
        {CLAUDE: "all_proxy", CODEX: "ALL_PROXY", VIBE: "all_proxy"},
        {CLAUDE: "all_proxy", CODEX: "ALL_PROXY", VIBE: "all_proxy"},
    ),
    "both spellings": (
        {"http_proxy": "p", "HTTP_PROXY": "q"},
        {**dict.fromkeys(ALL, "http_proxy"), CODEX: "HTTP_PROXY"},
        dict.fromkeys((*BOTH, EDITOR), "http_proxy"),
    ),
    "both schemes": (
        {"HTTP_PROXY": "p", "https_proxy": "q"},
        {**dict.fromkeys(ALL, "HTTP_PROXY"), **dict.fromkeys(BOTH, "https_proxy")},
        dict.fromkeys(ALL, "https_proxy"),
    ),
    "all beside one": (
        {"ALL_PROXY": "p", "HTTP_PROXY": "q"},
        dict.fromkeys(ALL, "HTTP_PROXY"),
        {**dict.fromkeys((*BOTH, EDITOR), "HTTP_PROXY"), CODEX: "ALL_PROXY", VIBE: "ALL_PROXY"},
    ),
    "lower is empty": (
        {"http_proxy": "", "HTTP_PROXY": "q"},
        dict.fromkeys((*BOTH, CODEX, CLINE), "HTTP_PROXY"),
        dict.fromkeys(BOTH, "HTTP_PROXY"),
    ),
    "upper is empty": (
        {"HTTP_PROXY": "", "http_proxy": "q"},
        dict.fromkeys((*BOTH, CLINE, EDITOR, VIBE), "http_proxy"),
        dict.fromkeys((*BOTH, EDITOR), "http_proxy"),
    ),
}


@pytest.mark.parametrize(("environ", "plain", "encrypted"), VARIABLES.values(), ids=VARIABLES)
def test_each_program_reads_variables_of_its_own(environ: Mapping[str, str], plain: Taken, encrypted: Taken) -> None:
    for url, taken in ((URL, plain), (URL.replace("http:", "https:"), encrypted)):
        assert {program: found for program in ALL if (found := rules(program).variable(environ, url))} == taken


LISTS: Mapping[str, tuple[Mapping[str, str], Taken]] = {
    "one": ({"NO_PROXY": "x"}, dict.fromkeys(ALL, "NO_PROXY")),
    "both": (
        {"NO_PROXY": "x", "no_proxy": "y"},
        {**dict.fromkeys(ALL, "no_proxy"), **dict.fromkeys((OLDER, CODEX), "NO_PROXY")},
    ),
    "lower is empty": ({"NO_PROXY": "x", "no_proxy": ""}, dict.fromkeys((*BOTH, CODEX, CLINE), "NO_PROXY")),
    "upper is empty": ({"NO_PROXY": "", "no_proxy": "x"}, dict.fromkeys((*BOTH, CLINE, EDITOR, VIBE), "no_proxy")),
}


@pytest.mark.parametrize(("environ", "taken"), LISTS.values(), ids=LISTS)
def test_each_program_reads_one_list_of_hosts(environ: Mapping[str, str], taken: Taken) -> None:
    assert {program: found for program in ALL if (found := rules(program).sparing(environ))} == taken


NAME, APEX, ADDRESS, SIX = URL, "http://corp.example:8080", "http://127.0.0.1:8080", "http://[::1]:8080"
SPARED: Mapping[tuple[str, str], Collection[str]] = {
    (NAME, "gw.corp.example"): ALL,
    (NAME, "GW.Corp.Example"): ALL,
    (NAME, "x, gw.corp.example"): ALL,
    (NAME, "x gw.corp.example"): (CLAUDE, OLDER, EDITOR),
    (NAME, ".corp.example"): ALL,
    (NAME, "corp.example"): (CLAUDE, CODEX, CLINE, EDITOR, VIBE),
    (NAME, "*.corp.example"): (CLAUDE, OLDER, EDITOR),
    (NAME, "rp.example"): (),
    (NAME, "gw.corp.*"): (),
    (NAME, "*"): ALL,
    (NAME, "x,*"): (CLAUDE, OLDER, CODEX, CLINE, VIBE),
    (NAME, "gw.corp.example:8080"): (CLAUDE, OLDER, CLINE, EDITOR, VIBE),
    (NAME, "gw.corp.example:1"): (),
    (NAME, ".corp.example:8080"): (CLAUDE, OLDER, EDITOR, VIBE),
    (NAME, "corp.example:8080"): (CLAUDE, EDITOR, VIBE),
    (APEX, ".corp.example"): (CLAUDE, CODEX, CLINE, EDITOR),
    (APEX, "*.corp.example"): (CLAUDE, EDITOR),
    (ADDRESS, "127.0.0.1"): ALL,
    (ADDRESS, "127.0.0.0/8"): (CLAUDE, CODEX, VIBE),
    (ADDRESS, "127.0.0.1:8080"): (CLAUDE, OLDER, CLINE, EDITOR, VIBE),
    (ADDRESS, ".local 127.0.0.1"): (CLAUDE, OLDER, EDITOR),
    (ADDRESS, "*"): (CLAUDE, OLDER, CLINE, EDITOR, VIBE),
    (ADDRESS, ".0.0.1"): (OLDER, CLINE, EDITOR, VIBE),
    (ADDRESS, "0.0.1"): (CLINE, EDITOR, VIBE),
    (ADDRESS, "127.*"): (),
    (ADDRESS, "*.0.0.1"): (OLDER, EDITOR),
    (ADDRESS, "localhost"): (),
    (SIX, "::1"): (CLAUDE, CODEX, VIBE),
    (SIX, "[::1]"): (CLAUDE, OLDER, CLINE, EDITOR, VIBE),
    (SIX, "[::1]:8080"): (CLAUDE, OLDER, CLINE, EDITOR, VIBE),
    (SIX, "::/0"): (CLAUDE, CODEX, VIBE),
    (SIX, "*"): (CLAUDE, OLDER, CLINE, EDITOR, VIBE),
}


@pytest.mark.parametrize(("asked", "programs"), SPARED.items(), ids=[f"{url} {hosts}" for url, hosts in SPARED])
def test_each_program_reads_the_list_of_hosts_in_its_own_way(asked: tuple[str, str], programs: Collection[str]) -> None:
    assert [program for program in ALL if rules(program).spares(*asked)] == [*programs]
