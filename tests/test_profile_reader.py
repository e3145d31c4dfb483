"""What `profile.toml` may say, and the words for what it may not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync.errors import ProfileError
from toolsync.masking import looks_secret, printable
from toolsync.profile import KeyRef, Profile, for_tool
from toolsync.profile.problem import schema_problems
from toolsync.profile.reader import read

WORK = """\
[profiles.work]
base_url = "https://taotoken.net/api"
model = "some-model"
key = "keyring:work"
"""

EVERYTHING = """\
#:schema ./profile.schema.json
active = "work"

[profiles.work]
title = "Work [bold]not markup[/bold]"
gateway = "taotoken"
base_url = "https://taotoken.net/api"
model = "some-model"
key = "command:op read op://vault/item/key"
plaintext = "never"
models = { small = "s", opus = "o", sonnet = "n", haiku = "h" }

[profiles.work.urls]
openai = "https://taotoken.net/api/v1"
anthropic = "https://taotoken.net/api"
gemini = "https://taotoken.net/gemini"

[profiles.work.request]
timeout_seconds = 120.5
max_retries = 3
max_tokens = 8192
temperature = 0
stream = true
headers = { X-Team = "tools", X-Api-Key = "env:TEAM_KEY", X-Max-Tokens = "100" }

[profiles.work.network]
proxy = "socks5h://proxy.example.com:1080"
no_proxy = "localhost,.example.com"
ca_bundle = "~/ca.pem"

[profiles.work.observability]
log_latency = true
log_memory = false
record_token_usage = true
sample_interval_ms = 500

[profiles.work.tool.codex]
enabled = false

[profiles.work.tool.config-toml]
key_way = "env"
paths = ["~/a/config.toml", "/b/config.toml", 'C:\\c\\config.toml', '\\\\host\\share\\config.toml']
model = "other"
models.small = "s2"
urls.openai = "https://other.example/v1"
request = { max_retries = 0, headers = { X-Team = "writers" } }
network.proxy = "http://127.0.0.1:3128"
observability.log_latency = false

[profiles."home.1"]
base_url = "http://localhost:11434"
model = "qwen"
key = "env:OLLAMA_API_KEY"
"""


def test_everything_that_a_profile_can_hold_is_read() -> None:
    profiles = read(EVERYTHING)
    assert profiles.active == "work"
    assert profiles.names == ("work", "home.1")
    assert profiles.get("home.1") == Profile(
        name="home.1", base_url="http://localhost:11434", model="qwen", key=KeyRef("env", "OLLAMA_API_KEY")
    )
    work = profiles.get()
    assert work.key == KeyRef("command", "op read op://vault/item/key")
    assert work.plaintext == "never"
    assert work.request["timeout_seconds"] == 120.5
    assert work.tool["codex"] == {"enabled": False}


def test_a_tool_s_overrides_lie_over_the_profile_value_by_value() -> None:
    work = read(EVERYTHING).get("work")
    seen = for_tool(work, "config-toml")
    assert seen.model == "other"
    assert seen.models == {"small": "s2", "opus": "o", "sonnet": "n", "haiku": "h"}
    assert seen.urls["openai"] == "https://other.example/v1"
    assert seen.urls["gemini"] == "https://taotoken.net/gemini"
    assert seen.request == {
        "timeout_seconds": 120.5,
        "max_retries": 0,
        "max_tokens": 8192,
        "temperature": 0,
        "stream": True,
        "headers": {"X-Team": "writers", "X-Api-Key": "env:TEAM_KEY", "X-Max-Tokens": "100"},
    }
    assert seen.network["proxy"] == "http://127.0.0.1:3128"
    assert seen.observability["log_latency"] is False
    assert for_tool(work, "codex") == work
    assert for_tool(work, "unheard-of") == work


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\ufeff", "[profiles]\n"])
def test_a_file_without_profiles_is_no_mistake(text: str) -> None:
    assert read(text).profiles == ()


@pytest.mark.parametrize("text", [EVERYTHING, "\ufeff" + EVERYTHING, EVERYTHING.replace("\n", "\r\n")])
def test_byte_order_mark_and_line_ends_are_no_matter(text: str) -> None:
    assert read(text.encode()).profiles == read(EVERYTHING).profiles


def in_work(line: str) -> str:
    """A file whose fifth line is `line`, in the profile."""
    return f"{WORK}{line}\n"


def instead(field: str, value: str) -> str:
    """The profile with another value in one of its first fields."""
    return "".join(
        f"{field} = {value}\n" if line.startswith(f"{field} =") else f"{line}\n" for line in WORK.splitlines()
    )


NO_NAME = "is not a name: letters, digits, '.', '_' and '-', and a letter or digit first"
NO_REFERENCE = (
    "the value is not a key reference (keyring:NAME, env:VARIABLE, command:LINE, systemd:NAME or age:PATH), "
    "and not shown, for it may be the key"
)
LOOKS_LIKE_A_KEY = "the value looks like a key; no key stands in this file, only where it is to be had"

BAD = {
    "number": (
        in_work('request.timeout_seconds = "abc"'),
        "profile.toml:5: profiles.work.request.timeout_seconds: 'abc' is not a number",
    ),
    "number in its table": (
        in_work('\n[profiles.work.request]\n# how long\n\ntimeout_seconds = "abc"  # seconds'),
        "profile.toml:9: profiles.work.request.timeout_seconds: 'abc' is not a number",
    ),
    "whole number": (
        in_work("request.max_retries = 3.0"),
        "profile.toml:5: profiles.work.request.max_retries: 3.0 is not a whole number",
    ),
    "true is no number": (
        in_work("request.max_retries = true"),
        "profile.toml:5: profiles.work.request.max_retries: true is not a whole number",
    ),
    "nan": (
        in_work("request.temperature = nan"),
        "profile.toml:5: profiles.work.request.temperature: nan is not a number",
    ),
    "infinite": (
        in_work("request.timeout_seconds = inf"),
        "profile.toml:5: profiles.work.request.timeout_seconds: inf is not a number",
    ),
    "zero": (
        in_work("request.timeout_seconds = 0"),
        "profile.toml:5: profiles.work.request.timeout_seconds: 0 is not more than 0",
    ),
    "too little": (
        in_work("request.max_tokens = 0"),
        "profile.toml:5: profiles.work.request.max_tokens: 0 is less than 1",
    ),
    "too much": (
        in_work("request.temperature = 2.5"),
        "profile.toml:5: profiles.work.request.temperature: 2.5 is more than 2",
    ),
    "true or false": (
        in_work('request.stream = "yes"'),
        "profile.toml:5: profiles.work.request.stream: 'yes' is not true or false",
    ),
    "date": (
        in_work("request.max_tokens = 2024-01-02"),
        "profile.toml:5: profiles.work.request.max_tokens: 2024-01-02 is not a whole number",
    ),
    "text": (instead("model", "5"), "profile.toml:3: profiles.work.model: 5 is not text"),
    "empty text": (instead("model", '""'), "profile.toml:3: profiles.work.model: the value is empty"),
    "table for text": (instead("model", "{ a = 1 }"), "profile.toml:3: profiles.work.model: the table is not text"),
    "text for table": (in_work('models = "x"'), "profile.toml:5: profiles.work.models: 'x' is not a table"),
    "text for list": (
        in_work('tool.config-toml.paths = "~/x"'),
        "profile.toml:5: profiles.work.tool.config-toml.paths: '~/x' is not a list",
    ),
    "profile is no table": ("profiles.work = 1\n", "profile.toml:1: profiles.work: 1 is not a table"),
    "profiles is no table": ("profiles = []\n", "profile.toml:1: profiles: the list is not a table"),
    "choice": (
        in_work('plaintext = "alow"'),
        "profile.toml:5: profiles.work.plaintext: 'alow' is none of ask, allow, never; did you mean 'allow'?",
    ),
    "choice far off": (
        in_work('plaintext = "certainly"'),
        "profile.toml:5: profiles.work.plaintext: 'certainly' is none of ask, allow, never",
    ),
    "choice of another type": (
        in_work("plaintext = true"),
        "profile.toml:5: profiles.work.plaintext: true is not text",
    ),
    "missing": (
        '# a comment\n\n[profiles.work]\nmodel = "m"\nkey = "env:X"\n',
        "profile.toml:3: profiles.work: 'base_url' is missing",
    ),
    "all missing": (
        "[profiles.work]\n",
        (
            "profile.toml:1: profiles.work: 'base_url' is missing\n"
            "profile.toml:1: profiles.work: 'model' is missing\n"
            "profile.toml:1: profiles.work: 'key' is missing"
        ),
    ),
    "slip of the pen": (
        in_work("request.timeout_second = 3"),
        "profile.toml:5: profiles.work.request.timeout_second: there is no such field; did you mean 'timeout_seconds'?",
    ),
    "camel case": (
        in_work('baseUrl = "x"'),
        "profile.toml:5: profiles.work.baseUrl: there is no such field; did you mean 'base_url'?",
    ),
    "wrong table": (
        in_work("timeout_seconds = 3"),
        "profile.toml:5: profiles.work.timeout_seconds: there is no such field here; it belongs in the table 'request'",
    ),
    "unknown at the top": (
        f"verbose = true\n{WORK}",
        "profile.toml:1: verbose: there is no such field; there are active, profiles",
    ),
    "profile at the top": (
        f'{WORK}[profile.home]\nmodel = "x"\n',
        "profile.toml:5: profile: there is no such field; did you mean 'profiles'?",
    ),
    "name with a space": (
        WORK.replace("profiles.work", 'profiles."my work"'),
        f"profile.toml:1: profiles.\"my work\": 'my work' {NO_NAME}",
    ),
    "name that is an option": (
        WORK.replace("profiles.work", 'profiles."-x"'),
        f"profile.toml:1: profiles.-x: '-x' {NO_NAME}",
    ),
    "name with escape characters and markup": (
        WORK.replace("profiles.work", r'profiles."\u001b[31m[red]x\n"'),
        f"profile.toml:1: profiles.\"�[31m[red]x�\": '�[31m[red]x�' {NO_NAME}",
    ),
    "name that ends its line": (
        WORK.replace("profiles.work", r'profiles."work\n"'),
        f"profile.toml:1: profiles.\"work�\": 'work�' {NO_NAME}",
    ),
    "value with escape characters": (
        in_work(r'title = "\u001b[31mred\u0007"'),
        "profile.toml:5: profiles.work.title: '�[31mred�' holds a line break or another control character",
    ),
    "value that turns the text around": (
        in_work(r'plaintext = "a\u202ell"'),
        "profile.toml:5: profiles.work.plaintext: 'a�ll' is none of ask, allow, never",
    ),
    "long value": (
        in_work(f'plaintext = "{"x" * 200}"'),
        f"profile.toml:5: profiles.work.plaintext: '{'x' * 120}… (80 characters more)' is none of ask, allow, never",
    ),
    "active is no name": (
        f'active = "a b"\n{WORK}',
        f"profile.toml:1: active: 'a b' {NO_NAME}",
    ),
    "address without a scheme": (
        instead("base_url", '"taotoken.net/api"'),
        "profile.toml:2: profiles.work.base_url: the address does not start with https:// or http://",
    ),
    "address with a password": (
        instead("base_url", '"https://me:hush@taotoken.net"'),
        "profile.toml:2: profiles.work.base_url: the address holds a user name or password",
    ),
    "address with a query": (
        in_work('urls.openai = "https://taotoken.net/v1?key=hush"'),
        (
            "profile.toml:5: profiles.work.urls.openai: "
            "the address has a query or a fragment, and clients append their paths behind it"
        ),
    ),
    "address of a tool": (
        in_work('tool.codex.urls.openai = "taotoken"'),
        "profile.toml:5: profiles.work.tool.codex.urls.openai: the address does not start with https:// or http://",
    ),
    "key itself": (
        instead("key", '"hush-hush-hush"'),
        f"profile.toml:4: profiles.work.key: {NO_REFERENCE}",
    ),
    "key itself as a variable": (
        instead("key", '"env:hush-hush"'),
        f"profile.toml:4: profiles.work.key: {NO_REFERENCE}",
    ),
    "key itself as a name": (
        instead("key", '"keyring:sk-hush1hush2hush3hush4"'),
        f"profile.toml:4: profiles.work.key: {LOOKS_LIKE_A_KEY}",
    ),
    "key itself in a command": (
        instead("key", '"command:echo sk-hush1hush2hush3hush4"'),
        f"profile.toml:4: profiles.work.key: {LOOKS_LIKE_A_KEY}",
    ),
    "key itself in another field": (
        instead("model", '"sk-hush1hush2hush3hush4"'),
        f"profile.toml:3: profiles.work.model: {LOOKS_LIKE_A_KEY}",
    ),
    "key itself in a field that is not there": (
        in_work('api_key = "sk-hush1hush2hush3hush4"'),
        f"profile.toml:5: profiles.work.api_key: {LOOKS_LIKE_A_KEY}",
    ),
    "key reference with a line break": (
        instead("key", r'"env:HUSH\n"'),
        f"profile.toml:4: profiles.work.key: {NO_REFERENCE}",
    ),
    "secret header": (
        in_work('request.headers.Authorization = "Bearer hush"'),
        (
            "profile.toml:5: profiles.work.request.headers.Authorization: "
            "the value is secret by its name: write keyring:NAME, env:VARIABLE, command:LINE, systemd:NAME or age:PATH"
        ),
    ),
    "header with half a reference": (
        in_work('request.headers.X-Api-Key = "env:"'),
        (
            "profile.toml:5: profiles.work.request.headers.X-Api-Key: "
            "the value is not a whole reference (keyring:NAME, env:VARIABLE, command:LINE, systemd:NAME or age:PATH)"
        ),
    ),
    "header that smuggles another": (
        in_work(r'request.headers.X-Team = "a\r\nHost: hush"'),
        (
            "profile.toml:5: profiles.work.request.headers.X-Team: "
            "the value holds a line break, a control character or one that is not ASCII"
        ),
    ),
    "header's name": (
        in_work('request.headers."X Team" = "hush"'),
        "profile.toml:5: profiles.work.request.headers.\"X Team\": 'X Team' is not the name of an HTTP header",
    ),
    "proxy with a password": (
        in_work('network.proxy = "http://me:hush@proxy:3128"'),
        (
            "profile.toml:5: profiles.work.network.proxy: the value is not a proxy's address "
            "(http://HOST:PORT, https://… or socks5://…), without user name and password"
        ),
    ),
    "relative path": (
        in_work('tool.config-toml.paths = ["~/a.toml", "b.toml"]'),
        (
            "profile.toml:5: profiles.work.tool.config-toml.paths[1]: "
            "'b.toml' is not an absolute path, nor one that starts with ~/"
        ),
    ),
    "no paths": (
        in_work("tool.config-toml.paths = []"),
        "profile.toml:5: profiles.work.tool.config-toml.paths: the list is empty",
    ),
    "path twice": (
        in_work('tool.config-toml.paths = ["~/a", "~/a"]'),
        "profile.toml:5: profiles.work.tool.config-toml.paths: the list names something twice",
    ),
    "way of the key": (
        in_work('tool.codex.key_way = "comand"'),
        (
            "profile.toml:5: profiles.work.tool.codex.key_way: "
            "'comand' is none of command, keyring, env, plaintext; did you mean 'command'?"
        ),
    ),
    "every problem, by line": (
        f'{in_work("request.stream = 1")}title = ""\nactive = "x"\n',
        (
            "profile.toml:5: profiles.work.request.stream: 1 is not true or false\n"
            "profile.toml:6: profiles.work.title: the value is empty\n"
            "profile.toml:7: profiles.work.active: there is no such field; "
            "there are title, gateway, base_url, model, key, plaintext, "
            "models, urls, request, network, observability, tool, from, sha256, trusted"
        ),
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_said_in_the_file_s_own_words(text: str, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        read(text)
    assert caught.value.message == message
    assert "hush" not in f"{caught.value.message}{caught.value.hint}"


def test_a_file_that_is_no_toml_is_refused_with_line_and_column() -> None:
    with pytest.raises(ProfileError, match=r"^~/x/profile\.toml:5:\d+: ") as caught:
        read(in_work("title = [broken"), "~/x/profile.toml")
    assert caught.value.hint


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"^profile\.toml:1:\d+: not UTF-8 text$"):
        read(b'title = "\xff"\n')


def test_the_name_of_the_file_is_fit_for_a_terminal() -> None:
    with pytest.raises(ProfileError, match=r"^a�\[31m:1: "):
        read("verbose = 1\n", "a\x1b[31m")


UNKNOWN = {
    "no profile yet": ("", None, "profile.toml: there is no profile yet", "`toolsync init` makes one."),
    "none active": (
        WORK,
        None,
        "profile.toml: no profile is active",
        "`toolsync profile use NAME` sets one. There are: work.",
    ),
    "dead active": (
        f'# which one\nactive = "wrok"\n{WORK}',
        None,
        "profile.toml:2: active: there is no profile 'wrok'",
        "Did you mean 'work'? `toolsync profile use NAME` sets another. There are: work.",
    ),
    "slip of the pen": (
        WORK,
        "Work",
        "profile.toml: there is no profile 'Work'",
        "Did you mean 'work'? There are: work.",
    ),
    "far off": (WORK, "home", "profile.toml: there is no profile 'home'", "There are: work."),
    "escape characters": (WORK, "\x1b[1m\n", "profile.toml: there is no profile '�[1m�'", "There are: work."),
    "empty": (WORK, "", "profile.toml: there is no profile ''", "There are: work."),
}


@pytest.mark.parametrize(("text", "name", "message", "hint"), UNKNOWN.values(), ids=UNKNOWN)
def test_a_profile_that_is_not_there(text: str, name: str | None, message: str, hint: str) -> None:
    profiles = read(text)
    with pytest.raises(ProfileError) as caught:
        profiles.get(name)
    assert (caught.value.message, caught.value.hint) == (message, hint)


REFERENCES = {
    "keyring": ("keyring:work", KeyRef("keyring", "work")),
    "variable": ("env:TAOTOKEN_API_KEY", KeyRef("env", "TAOTOKEN_API_KEY")),
    "command": ("command: op read op://vault/item/key ", KeyRef("command", "op read op://vault/item/key")),
    "credential": ("systemd:gateway.key", KeyRef("systemd", "gateway.key")),
    "file": ("age:~/my keys/work.age", KeyRef("age", "~/my keys/work.age")),
    "file of Windows": (r"age:C:\keys\work.age", KeyRef("age", r"C:\keys\work.age")),
    "file with a passphrase": ("age:/k.age#systemd:phrase", KeyRef("age", "/k.age#systemd:phrase")),
    "file with a program": ("age:/k.age#command:pass show #1", KeyRef("age", "/k.age#command:pass show #1")),
}
COMMANDS = {
    "command:pass show x": "pass show x",
    "age:/k.age#command:pass show #1": "pass show #1",
    "age:/k.age#env:PHRASE": "",
    "age:/k.age": "",
    "keyring:work": "",
}


@pytest.mark.parametrize(("text", "command"), COMMANDS.items())
def test_what_a_reference_runs_is_known(text: str, command: str) -> None:
    assert KeyRef.parse(text).command == command


@pytest.mark.parametrize(("text", "reference"), REFERENCES.values(), ids=REFERENCES)
def test_a_reference_is_read(text: str, reference: KeyRef) -> None:
    assert KeyRef.parse(text) == reference
    assert KeyRef.parse(str(reference)) == reference


NO_REFERENCES = ["", "work", "sk-hush", "keyring:", "keyring:a b", "keyring:../x", "env:A-B", "env:1", "command:"]
NO_REFERENCES += [
    "command:  ",
    "KEYRING:work",
    " keyring:work",
    "keyring:work\n",
    "command:a\nb",
    "command:a\0b",
    "x:y",
    "systemd:",
    "systemd:../x",
    "systemd:a/b",
    "age:",
    "age:work.age",
    "age:~",
    "age:/k.age#",
    "age:/k.age#sk-hush",
    "age:/k.age#age:/other.age",
    "age:/k\n",
]


@pytest.mark.parametrize("text", NO_REFERENCES)
def test_what_is_no_reference_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(ProfileError) as caught:
        KeyRef.parse(text)
    assert caught.value.message == "the key is not a reference"
    assert "hush" not in caught.value.hint


secrets = st.text("abcdefgh0123456789-_", min_size=8, max_size=40).map(lambda text: f"Zz{text}")


@given(secret=secrets, prefix=st.sampled_from(["", "keyring:a b ", "env:A-", "sk-", "Bearer "]))
def test_nothing_that_may_be_a_key_is_repeated(secret: str, prefix: str) -> None:
    places = [
        instead("key", f'"{prefix}{secret}"'),
        instead("key", f'["{prefix}{secret}"]'),
        instead("base_url", f'"https://{secret}@h"'),
        instead("base_url", f'"https://h/?k={secret}"'),
        in_work(f'request.headers.X-Api-Key = "{prefix}{secret}"'),
        in_work(f'network.proxy = "http://u:{secret}@h"'),
    ]
    for text in places:
        with pytest.raises(ProfileError) as caught:
            read(text)
        assert secret not in f"{caught.value.message}{caught.value.hint}"


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.datetimes()),
    lambda below: st.one_of(st.lists(below, max_size=2), st.dictionaries(st.text(max_size=5), below, max_size=2)),
    max_leaves=4,
)
FIELDS = sorted({line.split(" =")[0] for line in EVERYTHING.splitlines() if " = " in line})


@given(table=st.dictionaries(st.one_of(st.sampled_from(FIELDS), st.text(max_size=5)), values, max_size=4))
def test_whatever_a_field_holds_the_problems_are_told_in_words(table: dict[str, object]) -> None:
    for data in (
        table,
        {"profiles": {"work": table}},
        {"profiles": {"work": {"request": table, "tool": {"x": table}}}},
    ):
        for problem in schema_problems(data):
            assert problem.reason
            assert printable(problem.sentence) == problem.sentence


@given(at=st.integers(0, len(EVERYTHING)), length=st.integers(0, 5), text=st.text("[]{}=\"'.#\n\\ a1", max_size=3))
def test_a_damaged_file_is_read_or_refused_in_words(at: int, length: int, text: str) -> None:
    damaged = EVERYTHING[:at] + text + EVERYTHING[at + length :]
    try:
        read(damaged)
    except ProfileError as error:
        assert all(line.startswith("profile.toml:") for line in error.message.splitlines())  # noqa: PT017  or none is raised


def test_the_headers_that_count_as_secret_are_those_of_the_mask() -> None:
    assert looks_secret("Authorization")
    assert not looks_secret("X-Team")
