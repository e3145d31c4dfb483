"""A home in which keys lie about, and one where nothing does but what looks like them; all keys are made up here."""

from __future__ import annotations

import base64
import gzip
import json
import random
import sqlite3
import string
import time
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from tests.acceptance.machine import KEY, Machine
from tests.gitguard.conftest import Home
from tests.keys import invented

REPLACED = invented("replaced")
HEADER = invented("in/a+header")
BASE62 = string.ascii_letters + string.digits
PROJECT = "project"


def drawn(start: str, count: int, alphabet: str = BASE62) -> str:
    """A key of that start which nobody was ever given, the same each time."""
    source = random.Random(f"{start}{count}")
    return start + "".join(source.choice(alphabet) for _ in range(count))


def token(payload: Mapping[str, object], alg: str = "HS256") -> str:
    """A JSON Web Token that nobody signed."""
    parts = (json.dumps({"alg": alg, "typ": "JWT"}), json.dumps(payload))
    texts = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*texts, drawn("", 43, f"{BASE62}_-")])


SOON = time.time() // 3600 * 3600 + 86_411

SHAPED = {
    "anthropic": drawn("sk-ant-api03-", 95, f"{BASE62}_-"),
    "openrouter": drawn("sk-or-v1-", 64, "0123456789abcdef"),
    "openai": drawn("sk-proj-", 124, f"{BASE62}_-"),
    "sk": drawn("sk-", 48),
    "litellm": "sk-8uT2_k9dQwErTy7u-oP1aZ",
    "github": drawn("ghp_", 36),
    "github-fine-grained": f"{drawn('github_pat_', 22)}{drawn('_', 59)}",
    "gitlab": drawn("glpat-", 20, f"{BASE62}_-"),
    "aws": drawn("AKIA", 16, f"{string.ascii_uppercase}234567"),
    "google": drawn("AIza", 35, f"{BASE62}_-"),
    "slack": drawn("xoxb-294710385526-938471625501-", 24),
    "groq": drawn("gsk_", 52),
    "hugging-face": drawn("hf_", 34, string.ascii_letters),
    "xai": drawn("xai-", 80),
    "nvidia": drawn("nvapi-", 64, f"{BASE62}_-"),
    "perplexity": drawn("pplx-", 48),
    "replicate": drawn("r8_", 37),
    "tavily": drawn("tvly-dev-", 32),
    "npm": drawn("npm_", 36),
    "kimi": drawn("sk-kimi-", 64),
    "minimax": drawn("sk-cp-", 120, f"{BASE62}_-"),
    "bailian": drawn("sk-sp-", 32, "0123456789abcdef"),
    "siliconflow": drawn("sk-", 48, string.ascii_lowercase),
    "cerebras": drawn("csk-", 48, f"{string.ascii_lowercase}{string.digits}"),
    "fireworks": drawn("fw_", 24),
    "together": drawn("tgp_v1_", 43, f"{BASE62}_-"),
    "zhipu": f"{drawn('', 32, '0123456789abcdef')}.{drawn('', 16)}",
    "jwt": token({"sub": "u-8271", "exp": int(SOON)}),
}
"""One key of each shape."""

WORK, OLD, TEAM = "keyring:work", "keyring:work before its rotation", "keyring:team"


@dataclass(frozen=True)
class Leak:
    """One that `check` must find.

    Attributes:
        name: what makes it another than the others.
        file: where, below the home.
        content: what is written there; None: `plant` has another way.
        secret: the name of the known secret, or the shape.
        kind: what the file is held for.
        line: on which line.
        inside: how the part of the file is called that it stands in.
        spelling: how it is written.
    """

    name: str
    file: str
    content: str | bytes | None
    secret: str
    kind: str
    line: int | None = 1
    inside: str = ""
    spelling: str = "as it is"


_JSON = f'{{\n  "env": {{ "ANTHROPIC_AUTH_TOKEN": "{KEY}" }}\n}}\n'
_TOML = f'model = "m"\n[model_providers.x]\nexperimental_bearer_token = "{KEY}"\n'
_LOGGED = json.dumps({"text": json.dumps({"line": f"export X={KEY}\nls"})})
_POWERSHELL = f"cd ~\r\n$env:OPENAI_API_KEY = '{KEY}'\r\n"

LEAKS = (
    Leak("a tool's own file", ".claude/settings.json", _JSON, WORK, "tool", 2),
    Leak("another tool's", ".codex/config.toml", _TOML, WORK, "tool", 3),
    Leak("in a store of keys", ".cline/data/secrets.json", f'{{"openAiApiKey": "{KEY}"}}', WORK, "tool"),
    Leak("a login", ".codex/auth.json", f'{{"OPENAI_API_KEY": "{SHAPED["openai"]}"}}', "the key of Codex CLI", "tool"),
    Leak("a copy beside it", ".claude/settings.json.bak", _JSON, WORK, "backup", 2),
    Leak("an editor's copy", ".codex/config.toml~", _TOML, WORK, "backup", 3),
    Leak("a merge's copy", ".codex/config.toml.orig", f'k = "{SHAPED["anthropic"]}"\n', "anthropic", "backup"),
    Leak("a swap file", ".claude/.settings.json.swp", b"b0VIM 9\0\0\0" + KEY.encode() + b"\0\xff\n", WORK, "backup"),
    Leak("CC Switch's old file", ".cc-switch/config.json", f'{{\n"k": "{SHAPED["google"]}"}}', "google", "backup", 2),
    Leak(
        "a long row of CC Switch",
        ".cc-switch/cc-switch.db",
        None,
        WORK,
        "tool",
        None,
        "table providers, row 2 (mine), settings_config",
    ),
    Leak(
        "a row in its backup",
        ".cc-switch/backups/1.db",
        None,
        WORK,
        "backup",
        None,
        "table providers, row 2 (mine), settings_config",
    ),
    Leak("a transcript", ".claude/projects/-p/1.jsonl", f"{{}}\n{_LOGGED}\n", WORK, "log", 2),
    Leak(
        "an address in a log",
        ".codex/log/codex-tui.log",
        f"\n\nGET /?key={quote(HEADER, safe='')}\n",
        TEAM,
        "log",
        3,
        spelling="percent-encoded",
    ),
    Leak(
        "a header in a log",
        ".cline/data/logs/cline.log",
        f"authorization: Basic {base64.b64encode(f'user:{KEY}'.encode()).decode()}\n",
        WORK,
        "log",
        spelling="base64",
    ),
    Leak("bash's history", ".bash_history", f"ls\nexport OPENAI_API_KEY={KEY}\n", WORK, "history", 2),
    Leak("zsh's history", ".zsh_history", f": 1700000000:0;curl -H 'x-api-key: {KEY}' x\n", WORK, "history"),
    Leak("fish's history", ".local/share/fish/fish_history", f"- cmd: set -gx K {SHAPED['sk']}\n", "sk", "history"),
    Leak(
        "PowerShell's history, in UTF-16",
        ".local/share/powershell/PSReadLine/ConsoleHost_history.txt",
        b"\xff\xfe" + _POWERSHELL.encode("utf-16-le"),
        WORK,
        "history",
        2,
    ),
    Leak("bash's start", ".bashrc", f"#\n. ~/.mine/keys.sh\nexport K='{KEY}'\n", WORK, "startup", 3),
    Leak("what bash's start reads in", ".mine/keys.sh", f"export K='{KEY}'\n", WORK, "startup"),
    Leak("fish's start", ".config/fish/config.fish", f"set -gx K {SHAPED['groq']}\n", "groq", "startup"),
    Leak(
        "PowerShell's start, without a mark",
        ".config/powershell/profile.ps1",
        _POWERSHELL.encode("utf-16-le"),
        WORK,
        "startup",
        2,
    ),
    Leak("the replaced key", ".zshrc", f"export K={REPLACED}\n", OLD, "startup"),
    Leak("a profile's key at another program's login", ".git-credentials", f"https://me:{KEY}@gw\n", WORK, "login"),
    Leak("the file before an installer's", ".zshrc.pre-oh-my-zsh", f"export K={KEY}\n", WORK, "backup"),
    Leak("a history that was being written", ".bash_history-01234.tmp", f"K={KEY}\n", WORK, "backup"),
    Leak("a log that was rotated", ".codex/log/a.log.1.gz", gzip.compress(f"\n{KEY}\n".encode()), WORK, "log", 2),
    Leak("a service's drop-in", ".config/systemd/user/x.service.d/k.conf", f"[Service]\n#{KEY}\n", WORK, "startup", 2),
    Leak("a copy of npm's login", ".npmrc.bak", f"//registry.npmjs.org/:_authToken={SHAPED['npm']}\n", "npm", "backup"),
    Leak("a tracked file", f"{PROJECT}/.env", f"A=1\nB={KEY}\n", WORK, "project", 2),
    Leak("deep in the repository", f"{PROJECT}/a/b/notes.md", f"see {SHAPED['slack']}.\n", "slack", "repository"),
    Leak("the index only", f"{PROJECT}/staged.txt", None, WORK, "repository", 2, "index"),
    Leak("what a commit says", PROJECT, None, WORK, "repository", None, "message of commit"),
    Leak("what a tag says", PROJECT, None, WORK, "repository", None, "message of refs/tags/v1"),
    Leak("what a branch is called", PROJECT, None, "groq", "repository", None, "name of a branch or tag"),
    Leak("a hook", f"{PROJECT}/.git/hooks/pre-push", None, WORK, "repository", 2),
    Leak("the last message", f"{PROJECT}/.git/COMMIT_EDITMSG", None, WORK, "repository"),
    Leak("an address of git's", f"{PROJECT}/.git/config", None, "github-fine-grained", "repository", 2),
    Leak("an earlier commit", f"{PROJECT}/gone.json", None, WORK, "repository", 1, "commit"),
    Leak("not ignored", f"{PROJECT}/untracked.txt", f"{SHAPED['aws']}\n", "aws", "repository"),
    Leak("an archive", ".claude/backups/all.zip", None, WORK, "backup", 2, "in a/settings.json"),
    Leak(
        "a mail in quoted-printable",
        ".aider.chat.history.md",
        f"To: me\n> {KEY[:9]}=\n> {KEY[9:]}\n",
        WORK,
        "history",
        2,
        spelling="broken into lines",
    ),
    Leak("whose a commit is", PROJECT, None, "zhipu", "repository", None, "author of commit"),
    Leak("added, and never committed", PROJECT, None, "cerebras", "repository", 2, "object"),
    Leak("a commit that was amended", PROJECT, None, "kimi", "repository", 8, "object"),
    Leak("a login that was copied", ".codex/auth.json.bak", f'{{"t": "{SHAPED["jwt"]}"}}', "jwt", "backup"),
    Leak("a note of one's own", ".config/toolsync/note.txt", f"key {KEY}\n", WORK, "own"),
    Leak("an editor's history", ".config/Code/User/History/1/a.json", f'"{SHAPED["xai"]}"', "xai", "editor"),
)

LOOKALIKES = {
    "a placeholder": "sk-your-key-here",
    "a long placeholder": "sk-ant-api03-your-own-key-goes-here-and-is-about-as-long-as-a-real-one-1",
    "crosses": "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "dots": "sk-...",
    "an ellipsis": "sk-proj-abc…",
    "a reference of shells": "OPENAI_API_KEY=${OPENAI_API_KEY}",
    "a reference of PowerShell": "$env:OPENAI_API_KEY",
    "a reference of opencode": "{env:ANTHROPIC_AUTH_TOKEN}",
    "a reference to the keyring": 'key = "keyring:work"',
    "a reference to 1Password": "op://private/gateway/credential",
    "our helper": "/usr/bin/python3 -I -m toolsync --config /etc/p.toml key print work",
    "digits in order": "sk-1234567890abcdef1234567890abcdef",
    "letters in order": "sk-proj-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "the documented example of AWS": "AKIAIOSFODNN7EXAMPLE",
    "a GitHub token in crosses": "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "one letter": "hf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "a piece again and again": "gsk_" + "a1B2c3" * 8,
    "a hash": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "a hash behind a word": "disk-5f4dcc3b5aa765d61d8327deb882cf99",
    "a task's name": "task-4f7Kq9ZtW2xB84f7Kq9ZtW2xB8",
    "a UUID": "123e4567-e89b-42d3-a456-426614174000",
    "a class of CSS": "sk-fading-circle-container-animation-12",
    "words in one": "sk-thisIsWhereYouPutTheKeyThatYouHaveGot",
    "a masked key": f"{KEY[:6]}***{KEY[-4:]}",
    "the end of a key": f'"customApiKeyResponses": {{ "approved": ["{KEY[-20:]}"] }}',
    "the key's beginning": KEY[:20],
    "a picture": "data:image/png;base64," + drawn("iVBORw0KGgoAAAANSUhEUgAAAAUA", 300),
    "a name of npm": "npm_config_registry_of_the_whole_organisation",
    "a function of a library": "hf_downloadModelWeightsFromTheRemoteHu",
    "pairs in order": "sk-11223344556677889900aabbccddeeff",
    "rows of a keyboard": "sk-qwertyuiopasdfghjklzxcvbnm1234",
    "a class of CSS with digits": "sk-col-12-md-6-lg-4-xl3",
    "an example with a word of its language": "sk-proj-MettezVotreCleIciSansLesGuillemetsEtSansEspaces1",
    "a template's place": "sk-proj-${OPENAI_SUFFIX}",
    "a key behind a variable of Jinja's": "Bearer {{ gateway_key }}",
    "a hash of a picture": "mask-rcnn-R50-FPN-3x-coco-2017-4f7Kq9ZtW2xB8",
    "a key of zeros": "xoxb-000000000000-000000000000-000000000000000000000000",
    "another example of AWS": "AKIAI44QH8DHBEXAMPLE",
    "a locale in an address": "https://shop.example/sk-SK/kava-zrnkova-1kg-12345",
    "a token that has ended": token({"sub": "u-8271", "exp": 1_700_000_000}),
    "a token that never ends": token({"sub": "1234567890", "name": "John Doe", "iat": 1_516_239_022}),
    "a token that ends in the year 2286": token({"sub": "u-8271", "exp": 9_999_999_999}),
    "a token that ends with the year 2049": token({"sub": "u-8271", "exp": 2_524_608_000}),
    "a token that ends on the hour": token({"sub": "u-8271", "exp": int(SOON) - 11}),
    "a token for every visitor": token({"role": "anon", "iss": "supabase", "exp": int(SOON)}),
    "a token that nobody signed": token({"sub": "u-8271", "exp": int(SOON)}, alg="none"),
    "forty-eight letters of words": "sk-thistoolcarriesonekeytoallofthemanditisneverseen",
    "a picture by its hash": "d41d8cd98f00b204e9800998ecf8427e.jpg",
    "a piece of a program by its hash": "d41d8cd98f00b204e9800998ecf8427e.0123456789abcdef",
    "a file by its hash": "/assets/0f343b0931126a20f133d67c2b018a3b.ChunkLoadingXYZ1",
    "a key of Zhipu's in crosses": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxxx",
    "a function of a firmware": "fw_load_from_the_second_partition_v2",
    "a firmware's build": "fw_0123456789ABCDEF01234567",
    "a plan's key in crosses": "sk-kimi-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "a component's name": "sk-api-reference-page-with-a-very-long-name-for-the-navigation-bar-2",
    "a key that somebody allowed": f"{SHAPED['openrouter']}  # toolsync: allow",
}
"""What looks like a key, and is none; each in a file of its own, beside others in which keys are found."""


def plant(machine: Machine) -> None:
    """Everything of `LEAKS`."""
    home = Home(machine.home)
    home.repository(PROJECT)
    home.write(f"{PROJECT}/gone.json", f'{{"key": "{KEY}"}}\n')
    home.git(PROJECT, "add", ".")
    home.git(PROJECT, "commit", "-q", "-m", "one")
    home.git(PROJECT, "-c", f"user.name={SHAPED['zhipu']}", "commit", "-q", "--allow-empty", "-m", "three")
    home.git(PROJECT, "commit", "-q", "--allow-empty", "-m", f"four, with\n\n{SHAPED['kimi']}")
    home.git(PROJECT, "commit", "-q", "--amend", "--allow-empty", "-m", "four")
    home.git(PROJECT, "reflog", "expire", "--expire=now", "--all")
    home.write(f"{PROJECT}/never.txt", f"\n{SHAPED['cerebras']}\n")
    home.git(PROJECT, "add", "-f", "never.txt")
    home.git(PROJECT, "rm", "-q", "--cached", "-f", "never.txt")
    (machine.home / PROJECT / "never.txt").unlink()
    home.git(PROJECT, "rm", "-q", "gone.json")
    for leak in LEAKS:
        if leak.content is not None:
            machine.write(leak.file, leak.content)
    home.write(f"{PROJECT}/staged.txt", f"\n{KEY}\n")
    home.git(PROJECT, "add", ".", ":!untracked.txt")
    home.git(PROJECT, "commit", "-q", "-m", f"two, with {KEY}")
    home.git(PROJECT, "tag", "-a", "v1", "-m", f"one, with {KEY}")
    home.git(PROJECT, "branch", f"try/{SHAPED['groq']}")
    home.write(f"{PROJECT}/.git/hooks/pre-push", f"#!/bin/sh\ncurl -H 'x-api-key: {KEY}'\n")
    with zipfile.ZipFile(machine.write(".claude/backups/all.zip", ""), "w") as archive:
        archive.writestr("a/settings.json", _JSON)
    address = f"https://x:{SHAPED['github-fine-grained']}@github.com/x/y"
    home.write(f"{PROJECT}/.git/config", f'[remote "origin"]\n\turl = {address}\n')
    home.write(f"{PROJECT}/staged.txt", "nothing any more\n")
    for name in (".cc-switch/cc-switch.db", ".cc-switch/backups/1.db"):
        database(machine.home / name, KEY)


def plant_lookalikes(machine: Machine) -> None:
    """Everything of `LOOKALIKES`, wherever keys are looked for."""
    home = Home(machine.home)
    home.repository(PROJECT)
    places: tuple[Callable[[int], str], ...] = (
        lambda number: f"{PROJECT}/docs/{number}.md",
        lambda number: f".claude/projects/-p/{number}.jsonl",
        lambda number: f".claude/settings.json.{number}",
    )
    for number, text in enumerate(LOOKALIKES.values()):
        for place in places:
            machine.write(place(number), f"before\n{text}\nafter\n")
    machine.write(".bash_history", "\n".join(LOOKALIKES.values()))
    home.git(PROJECT, "add", ".")
    home.git(PROJECT, "commit", "-q", "-m", "one")


def database(path: Path, key: str) -> None:
    """CC Switch's, with a row so long that the key stands on two pages of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_database(key))


@cache  # it takes a while to hit the end of a page
def _database(key: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE providers (id TEXT, settings_config TEXT)")
        connection.execute("INSERT INTO providers VALUES ('default', '{}')")
        connection.execute("PRAGMA secure_delete = ON")
        for before in range(1500, 2000, 15):  # about there ends the part of such a row that is not on pages of its own
            raw = f'{{"note": "{"x" * before}", "key": "{key}", "more": "{"y" * (10_000 - before)}"}}'
            connection.execute("DELETE FROM providers WHERE id = 'mine'")
            connection.execute("INSERT INTO providers VALUES ('mine', ?)", (raw,))
            connection.commit()
            content = connection.serialize()
            if key.encode() not in content:
                return content
    raise AssertionError("SQLite kept every row on one page")
