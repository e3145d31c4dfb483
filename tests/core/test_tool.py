"""Templates as they are read: the shipped ones, bad ones with their messages, slots, and derived traces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.core.test_paths import places
from toolsync import document, resources
from toolsync.errors import TemplateError
from toolsync.facts import RAW_KEY_FACTS
from toolsync.overlay import check, facts_named
from toolsync.proxies import Proxies
from toolsync.registry import is_installed, named, tools
from toolsync.tool import Connection, Layer, Processes, Reader, Request, Slot, Tool, read_tool, slot

SHIPPED = sorted(path for path in (resources.folder("templates") / "tools").iterdir() if path.is_dir())
ALL = tools(Path("/nonexistent"))
MANIFEST = '[[file]]\noverlay = "s.json"\npath = "~/s.json"\n'


def texts(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}


def tool(manifest: str = MANIFEST, overlay: str = '{"url": "<openai_url>"}', **more: str) -> Tool:
    return read_tool(
        "t", {"tool.toml": manifest, "s.json": overlay, **{name.replace("_", "."): text for name, text in more.items()}}
    )


# The shipped ones


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_a_shipped_template_reads_and_meets_the_schema(folder: Path) -> None:
    manifest = document.parse((folder / "tool.toml").read_bytes(), "toml").data
    jsonschema.Draft202012Validator(resources.schema("tool")).validate(manifest)
    read = ALL[folder.name]
    assert (read.name, read.title, read.reload) == (folder.name, manifest["title"], manifest["reload"])


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_a_shipped_template_has_no_file_that_its_manifest_does_not_name(folder: Path) -> None:
    manifest = document.parse((folder / "tool.toml").read_bytes(), "toml").data
    own_files = [row for row in manifest["file"] if "of" not in row]
    rows = (*own_files, manifest.get("strict", {}))
    named_files = {row[key] for row in rows for key in ("overlay", "schema") if key in row}
    assert {file.name for file in folder.iterdir()} == {"tool.toml", *named_files}


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_a_shipped_template_sets_an_address_a_model_and_a_key(folder: Path) -> None:
    overlays = [row.document.data for row in ALL[folder.name].files]
    kinds = {_kind(name) for overlay in overlays for name in facts_named(overlay)}
    assert sorted({"address", "model", "key"} - kinds) == []


def _kind(fact: str) -> str:
    if fact.endswith("_url"):
        return "address"
    return "key" if fact.startswith("key_") else fact


@pytest.mark.parametrize("name", [name for name, one in ALL.items() if not one.store])
def test_every_reader_of_a_shipped_tool_asks_for_an_address_a_model_and_a_key(name: str) -> None:
    questions = [reader.questions for reader in ALL[name].readers]
    assert [sorted({"base_url", "model", "key"} - asked.keys()) for asked in questions] == [[]] * len(questions)


def test_claude_codes_manifest_says_who_else_may_set_the_same() -> None:
    claude = ALL["claude-code"]
    assert [(layer.name, layer.kind, layer.at) for layer in claude.layers] == [
        ("login's token", "file", "login"),
        ("login", "file", "login"),
        ("shell", "environment", "env"),
        ("state", "file", ""),
        ("user", "overlay", ""),
        ("project", "file", ""),
        ("local", "file", ""),
        ("repository's local", "file", ""),
        ("managed", "file", ""),
        ("managed.d", "file", ""),
        ("managed (macOS)", "file", ""),
        ("managed.d (macOS)", "file", ""),
    ]
    assert claude.readers[0].agree == ("key", "x_key")
    assert claude.readers[0].expect == {"cloud": ""}


# Slots


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.b", Slot("path", "a.b")),
        ("a.b unless <key>", Slot("path", "a.b", unless="key")),
        ("a.b ~ ^(.?) unless <key>", Slot("path", "a.b", "^(.?)", "key")),
        ("$NAME unless <key>", Slot("variable", "NAME", unless="key")),
        ("=text unless <key>", Slot("default", "text", unless="key")),
        ("=text unless it", Slot("default", "text unless it")),
        ('a."dotted.key"', Slot("path", 'a."dotted.key"')),
        ("models[alias=<alias>].name", Slot("path", "models[alias=<alias>].name")),
        ("$NAME", Slot("variable", "NAME")),
        ("$<key_env>", Slot("variable", "<key_env>")),
        ("=https://api.example", Slot("default", "https://api.example")),
        ("=", Slot("default", "")),
        ("model ~ ^toolsync/(.*)$", Slot("path", "model", "^toolsync/(.*)$")),
        ("a ~ (x ~ y)", Slot("path", "a", "(x ~ y)")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_slot_is_read_and_spelled(text: str, expected: Slot) -> None:
    assert slot(text) == expected
    assert str(slot(text)) == text.partition(" ~ ")[0].partition(" unless <")[0]


def test_another_version_of_a_program_is_as_the_older_one_where_its_table_says_nothing() -> None:
    older = 'mode = ["m ~ ^(.)", "=a"]\nkey = ["<mode>.k unless <mode>"]\nexpect = { mode = "a" }'
    read = tool(
        f'{MANIFEST}[trace.x]\n{older}\n[trace.y]\nnewer_than = "x"\nkey = ["own.<mode>"]\n[processes.x]\nlive = true'
    )
    first, second = read.readers
    key = (Slot("path", "own.<mode>"),)
    assert second == replace(first, name="y", newer_than="x", questions={**first.questions, "key": key})
    assert read.processes["y"] == read.processes["x"] != Processes(())


# Bad ones

TRACE = f"{MANIFEST}[trace]\n"
BAD: dict[str, tuple[dict[str, str], str]] = {
    "no manifest": ({}, "t/tool.toml is missing"),
    "no file": ({"tool.toml": 'title = "T"'}, "t/tool.toml: no [[file]]"),
    "no overlay": ({"tool.toml": MANIFEST}, "t/s.json is missing"),
    "unknown fact": ({"tool.toml": MANIFEST, "s.json": '{"a": "<modell>"}'}, "t/s.json: '<modell>' is no fact"),
    "wrong default": (
        {"tool.toml": MANIFEST, "s.json": '{"a": "<max_tokens|x>"}'},
        "t/s.json: '<max_tokens|x>': 'x' is no whole number",
    ),
    "unknown format": (
        {"tool.toml": '[[file]]\noverlay = "s.ini"\npath = "~/s.ini"', "s.ini": ""},
        "'s.ini' does not tell its format",
    ),
    "no path": ({"tool.toml": '[[file]]\noverlay = "s.json"', "s.json": "{}"}, "t/tool.toml: s.json has no path"),
    "no schema": ({"tool.toml": f'{MANIFEST}schema = "x.json"', "s.json": "{}"}, "t/x.json is missing"),
    "unreadable start": (
        {"tool.toml": f'{MANIFEST}new = "{{"', "s.json": "{}"},
        "t/tool.toml: the `new` of s.json: 1:1: unclosed '{'",
    ),
    "unknown way": (
        {"tool.toml": f'{MANIFEST}[key]\npost = "x"', "s.json": "{}"},
        "t/tool.toml: key.post is no way a key can go",
    ),
    "unknown key fact": (
        {"tool.toml": f'{MANIFEST}[key]\nenv = "<key_name>"', "s.json": "{}"},
        "t/tool.toml: key.env: '<key_name>' is no key fact",
    ),
    "the key where only its name may go": (
        {"tool.toml": f'{MANIFEST}[key]\nenv = {{ a = ["<key>"] }}', "s.json": "{}"},
        "t/tool.toml: key.env: '<key>' is no key fact",
    ),
    "agree on nothing": (
        {"tool.toml": f'{TRACE}agree = ["key"]', "s.json": "{}"},
        "t/tool.toml: trace speaks of 'key', which it does not ask",
    ),
    "expect of nothing": (
        {"tool.toml": f'{TRACE}expect = {{ cloud = "" }}', "s.json": "{}"},
        "t/tool.toml: trace speaks of 'cloud', which it does not ask",
    ),
    "known of nothing": (
        {"tool.toml": f'{TRACE}known = {{ cloud = ["a"] }}', "s.json": "{}"},
        "t/tool.toml: trace speaks of 'cloud', which it does not ask",
    ),
    "question before its time": (
        {"tool.toml": f'{TRACE}key = ["$<env>"]\nenv = ["e"]', "s.json": "{}"},
        "t/tool.toml: trace.key: '$<env>' speaks of 'env', not asked before it",
    ),
    "condition before its time": (
        {"tool.toml": f'{TRACE}key = ["k unless <own>"]\nown = ["e"]', "s.json": "{}"},
        "t/tool.toml: trace.key: 'k unless <own>' speaks of 'own', not asked before it",
    ),
    "newer than nobody": (
        {"tool.toml": f'{MANIFEST}[trace.x]\nnewer_than = "y"\n[trace.y]\nkey = ["k"]', "s.json": "{}"},
        "t/tool.toml: trace.x: no program 'y' of its own stands above it",
    ),
    "newer than another version": (
        {
            "tool.toml": f'{MANIFEST}[trace.x]\nkey = ["k"]\n[trace.y]\nnewer_than = "x"\n[trace.z]\nnewer_than = "y"',
            "s.json": "{}",
        },
        "t/tool.toml: trace.z: no program 'y' of its own stands above it",
    ),
    "slot that is no path": (
        {"tool.toml": f'{TRACE}key = ["a b"]', "s.json": "{}"},
        "t/tool.toml: trace.key: 'a b' is no path: cannot read on at character 2",
    ),
    "slot without a group": (
        {"tool.toml": f'{TRACE}key = ["a ~ x"]', "s.json": "{}"},
        "t/tool.toml: trace.key: 'x' is no regular expression with one group",
    ),
    "slot that is no expression": (
        {"tool.toml": f'{TRACE}key = ["a ~ (x"]', "s.json": "{}"},
        "t/tool.toml: trace.key: '(x' is no regular expression with one group",
    ),
    "layer of no file": (
        {"tool.toml": f'{MANIFEST}[[layer]]\nname = "user"\noverlay = "x.json"', "s.json": "{}"},
        "t/tool.toml: layer 'user': no [[file]] has 'x.json'",
    ),
    "header of a question that is not asked": (
        {"tool.toml": f'{TRACE}key = ["a"]\n[request]\nheaders = {{ org = "X-Org" }}', "s.json": "{}"},
        "t/tool.toml: request.headers speaks of 'org', which no trace asks",
    ),
    "alias for a question that is not asked": (
        {"tool.toml": f'{TRACE}key = ["a"]\n[request]\naliases = {{ x = "y" }}', "s.json": "{}"},
        "t/tool.toml: request.aliases speaks of 'y', which no trace asks",
    ),
    "reference without a name": (
        {"tool.toml": f'{MANIFEST}[request]\nreferences = ["${{X}}"]', "s.json": "{}"},
        "t/tool.toml: request.references: '${X}' is no reference",
    ),
    "reference that is nothing but a name": (
        {"tool.toml": f'{MANIFEST}[request]\nreferences = ["NAME"]', "s.json": "{}"},
        "t/tool.toml: request.references: 'NAME' is no reference",
    ),
    "place that is no path": (
        {"tool.toml": f'{MANIFEST}[request]\nruns = ["a b"]', "s.json": "{}"},
        "'a b' is no path: cannot read on at character 2",
    ),
    "processes of a program that there is not": (
        {"tool.toml": f'{MANIFEST}[trace.x]\nkey = ["k"]\n[processes.y]\nlive = true', "s.json": "{}"},
        "t/tool.toml: processes.y: the trace has no such program",
    ),
    "layer of unknown format": (
        {"tool.toml": f'{MANIFEST}[[layer]]\nname = "user"\nfile = "~/.rc"', "s.json": "{}"},
        "'~/.rc' does not tell its format",
    ),
}


@pytest.mark.parametrize(("files", "message"), BAD.values(), ids=BAD)
def test_a_bad_template_says_where_and_what(files: dict[str, str], message: str) -> None:
    with pytest.raises(TemplateError) as error:
        read_tool("t", files)
    assert error.value.message == message


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"tool.toml": "a = "}, "t/tool.toml: 1:5: "),
        ({"tool.toml": MANIFEST, "s.json": '{"a": }'}, "t/s.json: 1:7: "),
        ({"tool.toml": f"{MANIFEST}schema = 's.toml'", "s.json": "{}", "s.toml": "\n]"}, "t/s.toml: 2:1: "),
    ],
    ids=["manifest", "overlay", "schema"],
)
def test_a_template_that_cannot_be_parsed_says_where(files: dict[str, str], place: str) -> None:
    with pytest.raises(TemplateError) as error:
        read_tool("t", files)
    assert error.value.message[: len(place)] == place


@pytest.mark.parametrize("way", ["command", "env", "file", "plaintext"])
def test_every_way_may_be_spelled_with_its_facts(way: str) -> None:
    allowed = [name for name in RAW_KEY_FACTS if name != "key" or way == "plaintext"]
    spelled = ", ".join(f'{name} = "<{name}>"' for name in allowed)
    assert list(tool(f"{MANIFEST}[key]\n{way} = {{ {spelled} }}").key) == [way]


def test_an_entry_of_the_keyring_is_a_service_and_a_user() -> None:
    spelling = 'keyring = { service = "com.example.agent", user = "<key_variable>" }'
    assert list(tool(f"{MANIFEST}[key]\n{spelling}").key) == ["keyring"]


@pytest.mark.parametrize(
    "spelling",
    [
        '"<key_variable>"',
        '{ service = "a" }',
        '{ service = "a", user = "" }',
        '{ service = "a", user = "b/c" }',
        '{ service = "a", user = "b", password = "c" }',
    ],
)
def test_what_is_no_entry_of_the_keyring_is_told(spelling: str) -> None:
    with pytest.raises(TemplateError, match=r"key\.keyring is no entry of the keyring"):
        tool(f"{MANIFEST}[key]\nkeyring = {spelling}")


# Rows


def test_rows_inherit_path_and_needs_and_may_say_their_own() -> None:
    manifest = """
path = "~/a.json"
needs = "~/n"
[[file]]
overlay = "s.json"
[[file]]
overlay = "o.json"
path = ["$X/b", "~/b"]
format = "jsonc"
needs = "~/m"
new = "{}"
"""
    rows = tool(manifest, o_json="{}").files
    assert [(row.overlay, row.path, row.format, row.needs, row.new) for row in rows] == [
        ("s.json", ("~/a.json",), "json", "~/n", None),
        ("o.json", ("$X/b", "~/b"), "jsonc", "~/m", "{}"),
    ]


def test_a_row_for_each_of_a_list_of_paths() -> None:
    (row,) = tool('[[file]]\noverlay = "s.json"\npath = "<paths?>"').files
    assert (row.each, row.path) == ("paths", ())


# Traces


def test_a_trace_of_one_reader_or_of_several() -> None:
    one = tool(f'{TRACE}mode = ["m", "=a"]\nkey = ["k.<mode>"]\nexpect = {{ mode = "a" }}').readers
    several = tool(f'{MANIFEST}[trace.x]\nkey = ["k"]\n[trace.y]\nkey = ["l"]\nagree = ["key"]').readers
    mode, key = (Slot("path", "m"), Slot("default", "a")), (Slot("path", "k.<mode>"),)
    assert one == (Reader("", {"mode": mode, "key": key}, (), {"mode": "a"}),)
    assert several == (
        Reader("x", {"key": (Slot("path", "k"),)}),
        Reader("y", {"key": (Slot("path", "l"),)}, ("key",)),
    )


def test_an_empty_trace_asks_nothing() -> None:
    assert tool(TRACE).readers == (Reader("", {}),)


def test_without_a_trace_a_tool_is_taken_to_believe_its_own_files() -> None:
    overlay = """{
      "url": "<openai_url>", "root": "<root_url>", "m": { "default": "x/<model>", "<model>": "<model>" },
      "auth": { "key": "<key_ref>" }, "headers": "<headers|absent>", "small": "<model_small?>",
      "list": [ { "name": "own", "url": "<openai_url>" }, { "name": "<provider_name>", "key": "<key_env?>" } ]
    }"""
    read = tool(f'{MANIFEST}[[file]]\noverlay = "o.json"\npath = "~/o"', overlay, o_json='{"model": "<model>"}')
    assert read.readers == (
        Reader(
            "",
            {
                "base_url": (Slot("path", "url"), Slot("path", "root"), Slot("path", "list[name=own].url")),
                "model": (Slot("path", "m.default"), Slot("path", "model")),
                "key": (Slot("path", "auth.key"),),
                "headers": (Slot("path", "headers"),),
            },
        ),
    )
    assert read.layers == (
        Layer("s.json", "overlay", overlay="s.json", format="json"),
        Layer("o.json", "overlay", overlay="o.json", format="json"),
    )


# The registry


def own(config: Path, name: str, **files: str) -> Path:
    folder = config / "tools" / name
    folder.mkdir(parents=True)
    for file, text in files.items():
        (folder / file.replace("_", ".")).write_text(text)
    return folder


def test_a_users_own_tool_wins_by_name_and_stands_among_the_others(tmp_path: Path) -> None:
    own(tmp_path, "codex", tool_toml=MANIFEST, s_json="{}")
    own(tmp_path, "aaa", tool_toml=MANIFEST, s_json="{}")
    (tmp_path / "tools" / "no-tool").mkdir()
    known = tools(tmp_path)
    assert list(known) == sorted({"aaa", *(folder.name for folder in SHIPPED)})
    assert [name for name, one in known.items() if one.is_users_own] == ["aaa", "codex"]


def test_what_a_file_browser_leaves_in_a_folder_does_no_harm(tmp_path: Path) -> None:
    folder = own(tmp_path, "mine", tool_toml=MANIFEST, s_json="{}")
    (folder / ".DS_Store").write_bytes(b"\x00\xff")
    (folder / "old").mkdir()
    assert tools(tmp_path)["mine"].title == "mine"


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (f'titel = "x"\n{MANIFEST}', "tool.toml:1: titel: there is no such field; did you mean 'title'?"),
        (MANIFEST, "s.json is missing"),
    ],
    ids=["schema", "missing file"],
)
def test_a_users_own_bad_tool_is_named_with_its_folder(tmp_path: Path, manifest: str, message: str) -> None:
    folder = own(tmp_path, "mine", tool_toml=manifest)
    with pytest.raises(TemplateError) as error:
        named(tools(tmp_path), "mine")
    assert error.value.message == f"{folder}/{message}"


def test_an_unknown_tool_is_answered_with_those_there_are() -> None:
    known: Any = {"claude-code": None, "codex": None}
    with pytest.raises(Exception, match="unknown tool 'codx'") as error:
        named(known, "codx")
    assert getattr(error.value, "hint", "") == "Did you mean 'codex'? Known: claude-code, codex."


@pytest.mark.parametrize(
    ("detect", "expected"),
    [
        ('commands = ["here"]', True),
        ('commands = ["elsewhere"]', False),
        ('paths = ["~/.tool"]', True),
        ('paths = ["~/.other"]', False),
        ('paths = ["$UNSET/x", "~/.tool"]', True),
        ('paths = ["$UNSET/x"]', False),
        ("", False),
    ],
)
def test_a_tool_is_found_by_its_program_or_its_folder(tmp_path: Path, detect: str, *, expected: bool) -> None:
    (tmp_path / ".tool").mkdir()
    program = tmp_path / "here"
    program.write_text("")
    program.chmod(0o755)
    at = places(home=str(tmp_path), environ={"PATH": str(tmp_path)})
    assert is_installed(tool(f"{MANIFEST}[detect]\n{detect}"), at) is expected


def test_every_shipped_overlay_names_known_facts_only() -> None:
    for one in ALL.values():
        for row in one.files:
            check(row.document.data)


# Request and processes


def test_headers_are_the_dialects_where_nothing_is_said() -> None:
    for dialect, header in (("openai-chat", "authorization"), ("anthropic-messages", "x-api-key")):
        assert tool(f'speaks = ["{dialect}"]\n{MANIFEST}').request.headers["key"] == header
    assert tool(MANIFEST).request.headers == {}


def test_a_request_is_as_the_table_says() -> None:
    read = tool(
        f"""speaks = ["openai-chat"]
{TRACE}key = ["k"]
org = ["$ORG"]
[request]
headers = {{ key = "api-key", org = "OpenAI-Organization" }}
path = "/chat"
streams = false
references = ["${{NAME}}"]
environment = ["env"]
at_start = ["A"]
outdone = ["API-Key"]
runs = ["helper"]
trims = true
tolerates = {{ key = " ", address = "\\n" }}
aliases = {{ x = "key" }}
timeout_seconds = 30
"""
    ).request
    headers = {"key": "api-key", "x_key": "x-api-key", "org": "OpenAI-Organization"}
    assert read == Request(
        headers=headers,
        path="/chat",
        streams=False,
        references=("${NAME}",),
        environment=("env",),
        at_start=("A",),
        outdone=("api-key",),
        runs=("helper",),
        trims=("",),
        tolerates_key=" ",
        tolerates_address="\n",
        aliases={"x": "key"},
        timeout_seconds=30,
    )


@pytest.mark.parametrize(
    ("lines", "expands"),
    [
        ('[key]\nenv = "${<key_variable>}"', ("${NAME}",)),
        ('[key]\nenv = "{env:<key_variable>}"\n[request]\nreferences = []', ()),
        ('[key]\nenv = "<key_variable>"', ()),
        ('[key]\nenv = "ACCOUNT_NAME"', ()),
        ('[key]\nenv = { variable = "<key_variable>" }', ()),
        ('[key]\nplaintext = "<key>"', ()),
    ],
    ids=["a reference", "a reference that it does not expand", "the name alone", "a fixed name", "a table", "no name"],
)
def test_a_tool_expands_the_references_by_which_it_is_told_of_a_variable(lines: str, expands: tuple[str, ...]) -> None:
    assert tool(f"{MANIFEST}{lines}\n").request.references == expands


def test_white_space_is_left_out_by_the_programs_that_are_named() -> None:
    two = f'{MANIFEST}[trace.a]\nkey = ["k"]\n[trace.b]\nkey = ["k"]\n[request]\n'
    assert [tool(f"{two}trims = {said}\n").request.trims for said in ("true", "false", '["b"]')] == [
        *(("a", "b"), (), ("b",)),
    ]
    with pytest.raises(TemplateError, match="no program 'c'"):
        tool(f'{two}trims = ["c"]\n')


def test_a_connection_is_as_the_table_says_and_an_older_version_differs_in_what_it_says() -> None:
    manifest = """[connection]
http_proxy = ["A"]
https_proxy = ["B"]
no_proxy = ["C"]
no_proxy_forms = ["ports"]
proxies = ["http"]
proxies_as_http = [""]
passes_over = true
empty_hides = true
certificates = ["D"]
unchecked = ["E=0=1"]
[[connection.older]]
version = "^1"
certificates = []
"""
    one = tool(f"{MANIFEST}{manifest}").connections[""]
    proxies = Proxies(("A",), ("B",), ("C",), ("ports",), ("http",), ("",), passes_over=True, empty_hides=True)
    expected = Connection(proxies, ("D",), {"E": "0=1"})
    assert one == replace(expected, older={"^1": replace(expected, certificates=())})
    assert tool(MANIFEST).connections == {"": Connection()}


def test_a_connection_is_that_of_a_program_that_the_trace_knows() -> None:
    two = f'{MANIFEST}[trace.a]\nkey = ["k"]\n[trace.b]\nkey = ["k"]\n[connection.a]\ncertificates = ["A"]\n'
    assert tool(two).connections == {"a": Connection(certificates=("A",)), "b": Connection()}
    with pytest.raises(TemplateError, match=r"connection\.c: the trace has no such program"):
        tool(f"{two}[connection.c]\n")


def test_processes_are_the_tools_commands_and_on_a_desktop_those_that_write_back() -> None:
    head = 'running = ["editor"]\n[detect]\ncommands = ["t"]\n'
    one = tool(f"{head}{MANIFEST}")
    assert one.processes == {"": Processes(("t",))}
    two = tool(f'{head}{MANIFEST}[trace.a]\nkey = ["k"]\n[trace.b]\nkey = ["k"]\n[processes.a]\ndesktop = true\n')
    assert two.processes == {"a": Processes(("editor",), is_desktop=True), "b": Processes(("t",))}
    named = tool(f"{head}{MANIFEST}[processes]\nnames = ['x']\nlive = true\n")
    assert named.processes == {"": Processes(("x",), is_live=True)}


def test_layers_that_are_not_read_are_kept_apart() -> None:
    read = tool(f'{MANIFEST}[[layer]]\nname = "state"\nfile = "~/x.json"\nunread = true\n')
    assert [layer.name for layer in read.layers] == ["s.json"], "its own files, as without any layer"
    assert [layer.name for layer in read.unread] == ["state"]
    read = tool(
        f"""{MANIFEST}
[[layer]]
name = "user"
overlay = "s.json"
[[layer]]
name = "policy"
file = "<root>/etc/x.json"
managed = true
[[layer]]
name = "variables"
file = "~/.x/.env"
format = "dotenv"
unread = true
"""
    )
    assert [(layer.name, layer.is_managed) for layer in read.layers] == [("user", False), ("policy", True)]
    assert [(layer.name, layer.format) for layer in read.unread] == [("variables", "dotenv")]


@pytest.mark.parametrize("path", ["~/*/x.json", "~/x.*/y", "<root>/etc/*\\\\x.json"])
def test_a_layer_is_one_file_or_the_files_of_one_folder(path: str) -> None:
    with pytest.raises(TemplateError, match="has a `\\*` before its last part"):
        tool(f'{MANIFEST}[[layer]]\nname = "policy"\nfile = "{path}"\nformat = "json"\n')
