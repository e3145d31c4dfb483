"""Files that a shell's own files name: what they read in, and where they keep what was typed; and others' logins."""

from __future__ import annotations

import os

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.check.planted import SHAPED
from tests.conftest import needs
from tests.gitguard.conftest import Home
from toolsync.commands.leaks.looking import Looking

SOURCED: dict[str, tuple[str, str, str]] = {
    # the file that names it, how, and which file that is
    "a dot": (".bashrc", ". ~/.mine/k", ".mine/k"),
    "a word": (".zshrc", "source $HOME/.mine/k.zsh", ".mine/k.zsh"),
    "in quotes": (".profile", 'source "${HOME}/my keys/k"', "my keys/k"),
    "behind a question": (".bashrc", "[ -f ~/.mine/k ] && . ~/.mine/k", ".mine/k"),
    "inside of one": (".zshrc", "if [[ -r ~/.mine/k ]]; then source ~/.mine/k; fi", ".mine/k"),
    "a variable's usual value": (".zshrc", "source ${XDG_CONFIG_HOME:-$HOME/.config}/own/k", ".config/own/k"),
    "a loop over a pattern": (".bashrc", 'for f in ~/.mine/*.sh; do\n  . "$f"\ndone', ".mine/k.sh"),
    "a loop over names": (".bash_profile", 'for file in ~/.{path,keys,extra2}; do\n. "$file"; done', ".keys"),
    "zsh's qualifiers": (".zshrc", "for f in ~/.mine/*.zsh(N); do source $f; done", ".mine/k.zsh"),
    "fish": (".config/fish/config.fish", "test -e ~/.mine/k.fish; and source ~/.mine/k.fish", ".mine/k.fish"),
    "zsh's short loop": (".zshrc", "for f (~/.mine/*.zsh) source $f", ".mine/k.zsh"),
    "quotes around a part": (".bashrc", 'source "$HOME"/.mine/"k.sh"', ".mine/k.sh"),
    "past an alias": (".bashrc", r'\. "$HOME/.mine/k"', ".mine/k"),
    "what a variable is set to": (".bashrc", "export K=$(cat ~/.mine/k)", ".mine/k"),
    "the same by the shell alone": (".zshrc", 'export K="$(< ~/.mine/k)"', ".mine/k"),
    "a file that one reads in": (".bashrc", ". ~/.between", ".mine/k"),
}


@pytest.mark.parametrize(("start", "line", "file"), SOURCED.values(), ids=SOURCED)
def test_a_file_that_a_start_reads_in_is_looked_at(furnished: Machine, start: str, line: str, file: str) -> None:
    furnished.write(start, f"# mine\n{line}\n")
    furnished.write(".between", "source ~/.mine/k\n")
    furnished.write(file, f"export K={KEY}\n")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["shown"], one["kind"]) == (f"~/{file}", "startup")


@pytest.mark.parametrize(
    "line",
    [
        ". ./k",
        "source $SOMEWHERE/k",
        'source "$(dirname x)/k"',
        ". ~/",
        "source ~/.mine",
        "source ~/\x00",
        "source ~/a\x00b/*.sh",
        "HISTFILE=~/.mine",
        ". ~/.bashrc",
        ". /dev/zero",
        "for f in {a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}; do",
    ],
)
def test_what_only_a_shell_can_find_is_passed_over(furnished: Machine, line: str) -> None:
    (furnished.home / ".mine").mkdir()
    furnished.write(".bashrc", f"{line}\n")
    ran = furnished.toolsync("check", "--json")
    assert (ran.code, ran.json["data"]["findings"], ran.json["data"]["not_looked_at"]) == (0, [], [])


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("HISTFILE=~/.far/typed", ".far/typed"),
        ('HISTFILE="${XDG_STATE_HOME}"/bash/hist', ".local/state/bash/hist"),
        ('export HISTFILE="$HOME/.far/typed"', ".far/typed"),
        ("HISTFILE=${XDG_STATE_HOME:-$HOME/.local/state}/far/typed", ".local/state/far/typed"),
    ],
)
def test_a_history_is_found_where_a_start_puts_it(furnished: Machine, line: str, file: str) -> None:
    furnished.write(".zshrc", f"{line}\n")
    furnished.write(file, f"export K={KEY}\n")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["shown"], one["kind"]) == (f"~/{file}", "history")


SCRIPTS: dict[str, tuple[str, str, str]] = {
    # the settings, what they say, and the script
    "Claude Code's": (".claude/settings.json", '{"apiKeyHelper": "~/bin/key.sh"}', "bin/key.sh"),
    "beside the settings": (
        ".claude/settings.json",
        '{"apiKeyHelper": "~/.claude/my_key_2.sh"}',
        ".claude/my_key_2.sh",
    ),
    "with arguments": (
        ".claude/settings.json",
        '{"apiKeyHelper": "sh -c \'$HOME/bin/key --fast | tail -1\'"}',
        "bin/key",
    ),
    "Codex'": (
        ".codex/config.toml",
        (
            'model_provider = "x"\n[model_providers.x]\nname = "x"\nbase_url = "https://gw.example/v1"\n'
            '[model_providers.x.auth]\ncommand = "sh"\nargs = ["{home}/bin/key"]\n'
        ),
        "bin/key",
    ),
    "one that another layer hides": (".claude/settings.json", '{"apiKeyHelper": "~/bin/key"}', "bin/key"),
}


@pytest.mark.parametrize(("settings", "text", "script"), SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_that_a_tool_runs_for_its_key_is_looked_at(
    furnished: Machine, settings: str, text: str, script: str
) -> None:
    furnished.write(settings, text.replace("{home}", str(furnished.home)))
    furnished.write("project/.claude/settings.local.json", '{"apiKeyHelper": "toolsync key print work"}')
    furnished.write(script, f"#!/bin/sh\necho '{KEY}'\n")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["shown"], one["line"]) == (f"~/{script}", 2)
    assert "Let the line ask for the key (`toolsync key print work`)" in furnished.toolsync("check").out


PROJECTS = {
    ".claude/settings.local.json": (".claude.json", '{{"projects": {{"{folder}": {{}}, "/nowhere": {{}}, "x": 1}}}}'),
    ".codex/config.toml": (".codex/config.toml", '[projects."{folder}"]\ntrust_level = "trusted"\n'),
}


@pytest.mark.parametrize("settings", PROJECTS)
def test_settings_in_other_folders_that_a_tool_knows_are_looked_at(furnished: Machine, settings: str) -> None:
    name, account = PROJECTS[settings]
    furnished.write(name, account.format(folder=furnished.home / "code/x"))
    furnished.write(f"code/x/{settings}", f'{{"env": {{"ANTHROPIC_AUTH_TOKEN": "{KEY}"}}}}')
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["shown"], one["kind"]) == (f"~/code/x/{settings}", "tool")


@pytest.mark.parametrize(
    "account", ["", "{", "[]", '{"projects": 1}', '{"projects": ["a"]}', '{"projects": {"\\u0000": 1}}']
)
def test_what_a_tool_keeps_of_its_folders_may_be_anything(furnished: Machine, account: str) -> None:
    furnished.write(".claude.json", account)
    assert furnished.toolsync("check").code == 0


def test_such_a_script_is_named_though_its_name_stood_where_a_key_may(furnished: Machine) -> None:
    furnished.profile()
    script = ".claude/my_key_2.sh"
    furnished.write(".claude/settings.json", f'{{"apiKeyHelper": "~/{script}"}}')
    furnished.write(script, f"echo '{KEY}'\n")
    assert furnished.toolsync("apply", "--tool", "claude-code", "--yes", "--no-ping").code == 0
    out = furnished.toolsync("check").out
    assert out.startswith(f"~/{script}:1: keyring:work in clear")


def test_what_is_read_is_looked_at_before_what_is_large(furnished: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the time is short, as after a rotation, a start-up file must not be what nobody got to."""
    furnished.write("Documents/Cline/MCP/node_modules/x/big.js", f"{KEY}\n")
    furnished.write(".claude/CLAUDE.md", "1\n")
    furnished.write(".bashrc", "1\n")
    kinds: list[str] = []
    monkeypatch.setattr(Looking, "suspects", lambda _, one: kinds.extend(one.kind for _ in one.listing.files))
    furnished.toolsync("check")
    assert (kinds.index("startup") < kinds.index("settings"), len(kinds) - kinds.index("settings")) == (True, 1)


TEXTS = [
    ".claude/CLAUDE.md",
    ".claude/statusline.sh",
    ".claude/commands/a/try.md",
    ".claude/projects/-x/y/tool-results/1.txt",
    ".codex/AGENTS.md",
    ".codex/prompts/try.md",
    ".codex/archived_sessions/a.jsonl",
    "Documents/Cline/Rules/mine.md",
    ".cline/data/sessions/1/1.messages.json",
    ".vibe/prompts/mine.md",
    ".config/Code - Insiders/User/History/1/a.json",
]


@pytest.mark.parametrize("file", TEXTS)
def test_what_is_written_for_a_tool_is_looked_at(furnished: Machine, file: str) -> None:
    furnished.write(file, f"try {KEY}\n")
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert one["shown"] == f"~/{file}"


def test_a_repository_that_others_made_is_not_looked_through(furnished: Machine) -> None:
    """Of a plugin only the file that is read in counts, not what its history or its other files hold."""
    home = Home(furnished.home)
    home.repository("plugin")
    furnished.write("plugin/sample.txt", f"{SHAPED['openai']}\n")
    furnished.write("plugin/p.zsh", "true\n")
    home.git("plugin", "add", ".")
    home.git("plugin", "commit", "-q", "-m", "x")
    furnished.write(".zshrc", "source ~/plugin/p.zsh\n")
    ran = furnished.toolsync("check", "--json")
    assert (ran.json["data"]["findings"], ran.json["data"]["not_looked_at"]) == ([], [])


def test_a_login_that_a_loop_goes_over_is_one_still(furnished: Machine) -> None:
    furnished.write(".bashrc", "for c in ~/.kube/*; do K=$c; done\n")
    furnished.write(".kube/config", f"token: {SHAPED['github']}\n").chmod(0o600)
    assert furnished.toolsync("check").code == 0


LOGINS = [".npmrc", ".git-credentials", ".netrc", ".config/gh/hosts.yml", ".local/share/opencode/auth.json"]


@pytest.mark.parametrize("file", LOGINS)
@pytest.mark.usefixtures("open_folders")
def test_anothers_login_belongs_where_it_is_while_nobody_else_can_read_it(furnished: Machine, file: str) -> None:
    needs(os.name == "posix", "needs modes of files")
    path = furnished.write(file, f"token: {SHAPED['github']}\n")
    path.chmod(0o600)
    assert furnished.toolsync("check").code == 0
    path.chmod(0o644)
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["kind"], one["exposed"], one["fixes"]) == ("login", ["group", "others"], ["mode"])
    assert furnished.toolsync("check", "--fix", "--yes").code == 0
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("file", LOGINS)
def test_a_profiles_key_does_not_belong_there(furnished: Machine, file: str) -> None:
    furnished.write(file, f"token: {KEY}\n").chmod(0o600)
    assert furnished.toolsync("check").code == 1
