"""Which proxy a program takes, and whom it reaches without: as the real ones were seen to, rule by rule."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from toolsync import registry
from toolsync.proxies import Proxies

TOOLS = registry.tools(Path("/nonexistent"))
CLAUDE, CODEX, CLINE, EDITOR = "claude-code", "codex", "cline/cli", "cline/vscode"
ALL = (CLAUDE, CODEX, CLINE, EDITOR)


def rules(program: str) -> Proxies:
    """Those of a program: of a tool that has several, `TOOL/READER`."""
    tool, _, reader = program.partition("/")
    return TOOLS[tool].connections[reader].proxies


Taken = Mapping[str, str]
"""The variable that counts, by program."""

VARIABLES: Mapping[str, tuple[Mapping[str, str], Taken, Taken]] = {
    "upper": ({"HTTP_PROXY": "p"}, dict.fromkeys(ALL, "HTTP_PROXY"), {CLAUDE: "HTTP_PROXY", EDITOR: "HTTP_PROXY"}),
    "lower": ({"http_proxy": "p"}, dict.fromkeys(ALL, "http_proxy"), {CLAUDE: "http_proxy", EDITOR: "http_proxy"}),
    "upper, encrypted": ({"HTTPS_PROXY": "p"}, {CLAUDE: "HTTPS_PROXY"}, dict.fromkeys(ALL, "HTTPS_PROXY")),
    "lower, encrypted": ({"https_proxy": "p"}, {CLAUDE: "https_proxy"}, dict.fromkeys(ALL, "https_proxy")),
    "all": ({"ALL_PROXY": "p"}, {CODEX: "ALL_PROXY"}, {CODEX: "ALL_PROXY"}),
    "all, lower": ({"all_proxy": "p"}, {CODEX: "all_proxy"}, {CODEX: "all_proxy"}),
    "both spellings": (
        {"http_proxy": "p", "HTTP_PROXY": "q"},
        {**dict.fromkeys(ALL, "http_proxy"), CODEX: "HTTP_PROXY"},
        {CLAUDE: "http_proxy", EDITOR: "http_proxy"},
    ),
    "both schemes": (
        {"HTTP_PROXY": "p", "https_proxy": "q"},
        {**dict.fromkeys(ALL, "HTTP_PROXY"), CLAUDE: "https_proxy"},
        dict.fromkeys(ALL, "https_proxy"),
    ),
    "all beside one": (
        {"ALL_PROXY": "p", "HTTP_PROXY": "q"},
        dict.fromkeys(ALL, "HTTP_PROXY"),
        {CLAUDE: "HTTP_PROXY", CODEX: "ALL_PROXY", EDITOR: "HTTP_PROXY"},
    ),
    "lower is empty": (
        {"http_proxy": "", "HTTP_PROXY": "q"},
        {CLAUDE: "HTTP_PROXY", CODEX: "HTTP_PROXY", CLINE: "HTTP_PROXY"},
        {CLAUDE: "HTTP_PROXY"},
    ),
    "upper is empty": (
        {"HTTP_PROXY": "", "http_proxy": "q"},
        {CLAUDE: "http_proxy", CLINE: "http_proxy", EDITOR: "http_proxy"},
        {CLAUDE: "http_proxy", EDITOR: "http_proxy"},
    ),
}


@pytest.mark.parametrize(("environ", "plain", "encrypted"), VARIABLES.values(), ids=VARIABLES)
def test_each_program_reads_variables_of_its_own(environ: Mapping[str, str], plain: Taken, encrypted: Taken) -> None:
    for url, taken in (("http://gw.example/v1", plain), ("https://gw.example/v1", encrypted)):
        assert {program: found for program in ALL if (found := rules(program).variable(environ, url))} == taken


SPARED: Mapping[str, tuple[Mapping[str, str], Taken]] = {
    "one": ({"NO_PROXY": "x"}, dict.fromkeys(ALL, "NO_PROXY")),
    "both": (
        {"NO_PROXY": "x", "no_proxy": "y"},
        {CLAUDE: "NO_PROXY", CODEX: "NO_PROXY", CLINE: "no_proxy", EDITOR: "no_proxy"},
    ),
    "lower is empty": ({"NO_PROXY": "x", "no_proxy": ""}, dict.fromkeys((CLAUDE, CODEX, CLINE), "NO_PROXY")),
    "upper is empty": ({"NO_PROXY": "", "no_proxy": "x"}, dict.fromkeys((CLAUDE, CLINE, EDITOR), "no_proxy")),
}


@pytest.mark.parametrize(("environ", "taken"), SPARED.values(), ids=SPARED)
def test_each_program_reads_one_list_of_hosts(environ: Mapping[str, str], taken: Taken) -> None:
    assert {program: found for program in ALL if (found := rules(program).sparing(environ))} == taken
