"""Who wins: the rules of the trace, and Claude Code's and Codex's own layers as their manifests state them.

What the two programs really do was seen on the wire; the tables say it in the manifests' words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.core import NOW, facts_of
from toolsync.document import KeyPath, Value, parse
from toolsync.document.keypath import parse as parse_path
from toolsync.overlay import Edit, edits
from toolsync.plan import Place, Row, plan_file
from toolsync.registry import tools
from toolsync.tool import Layer, Reader, Request, Tool, slot
from toolsync.trace import Answer, Tree, answers
from toolsync.trace.conflict import conflicts
from toolsync.trace.credential import may_hold_key

SHIPPED = tools(Path("/nonexistent"))
CLAUDE, CODEX = SHIPPED["claude-code"], SHIPPED["codex"]


# The rules, one by one


def reader(agree: Sequence[str] = (), expect: Mapping[str, str] | None = None, **questions: Sequence[str]) -> Reader:
    return replace(asking(questions), agree=tuple(agree), expect=expect or {})


def asking(questions: Mapping[str, Sequence[str]]) -> Reader:
    return Reader("", {question: tuple(map(slot, slots)) for question, slots in questions.items()})


def tree(name: str, data: Value, **layer: Any) -> Tree:
    return Tree(Layer(name, layer.pop("kind", "file"), **layer), data, f"/{name}")


LOW = tree("low", {"a": "low", "b": "low-b", "t": {"k.x": "dotted"}, "n": 5, "f": False, "nil": None})
HIGH = tree("high", {"a": "high", "e": "", "l": [{"id": "x y", "v": "item"}], "m": "pre/model"})
MOUNTED = tree("state", {"v": "mounted", "planThing": "P", "p": {"a.b": {"u": "deep"}}}, at="state")
DEAF = tree("deaf", {"b": "deaf-b", "t": {"k.x": "no"}}, ignores=("b", "t"))
PARTLY = tree("partly", {"t": {"k.x": "partly", "other": "partly"}}, ignores=('t."k.x"',))
EMPTIED = tree("emptied", {"b": ""})

RULES: dict[str, tuple[Sequence[Tree], dict[str, Sequence[str]], tuple[str, str, str]]] = {
    # trees lowest first, questions, the last question's (value, slot, layer)
    "highest layer": ([LOW, HIGH], {"q": ["a"]}, ("high", "a", "high")),
    "lower layer": ([LOW, HIGH], {"q": ["b"]}, ("low-b", "b", "low")),
    "strongest slot": ([LOW, HIGH], {"q": ["b", "a"]}, ("low-b", "b", "low")),
    "next slot": ([LOW, HIGH], {"q": ["none", "a"]}, ("high", "a", "high")),
    "unless another is answered": ([LOW, HIGH], {"x": ["b"], "q": ["a unless <x>", "n"]}, ("5", "n", "low")),
    "and where it is not": ([LOW, HIGH], {"x": ["e"], "q": ["a unless <x>", "n"]}, ("high", "a", "high")),
    "nowhere": ([LOW, HIGH], {"q": ["none"]}, ("", "", "")),
    "empty is unset": ([HIGH], {"q": ["e", "a"]}, ("high", "a", "high")),
    "empty hides the layers below": ([LOW, EMPTIED], {"q": ["b"]}, ("", "", "")),
    "empty hides, and the next slot counts": ([LOW, EMPTIED], {"q": ["b", "a"]}, ("low", "a", "low")),
    "null is unset": ([LOW], {"q": ["nil", "=d"]}, ("d", "=d", "")),
    "null hides nothing": ([LOW, tree("top", {"a": None})], {"q": ["a"]}, ("low", "a", "low")),
    "default": ([LOW], {"q": ["none", "=d"]}, ("d", "=d", "")),
    "default with a question": ([LOW], {"p": ["a"], "q": ["=<p>/v1"]}, ("low/v1", "=low/v1", "")),
    "number": ([LOW], {"q": ["n"]}, ("5", "n", "low")),
    "truth": ([LOW], {"q": ["f"]}, ("false", "f", "low")),
    "dotted key": ([LOW], {"q": ['t."k.x"']}, ("dotted", 't."k.x"', "low")),
    "item": ([HIGH], {"q": ["l[id=x y].v"]}, ("item", "l[id=x y].v", "high")),
    "item by a question": ([HIGH], {"p": ["=x y"], "q": ["l[id=<p>].v"]}, ("item", "l[id=x y].v", "high")),
    "key by a question": ([MOUNTED], {"p": ["=a.b"], "q": ["state.p.<p>.u"]}, ("deep", 'state.p."a.b".u', "state")),
    "part of a key by a question": (
        [MOUNTED],
        {"p": ["=plan"], "q": ["state.<p>Thing"]},
        ("P", "state.planThing", "state"),
    ),
    "question without an answer": ([LOW], {"p": ["none"], "q": ["t.<p>", "a"]}, ("low", "a", "low")),
    "mounted": ([LOW, MOUNTED], {"q": ["state.v"]}, ("mounted", "state.v", "state")),
    "mounted elsewhere": ([LOW, MOUNTED], {"q": ["v"]}, ("", "", "")),
    "ignored key": ([LOW, DEAF], {"q": ["b"]}, ("low-b", "b", "low")),
    "ignored table": ([LOW, DEAF], {"q": ['t."k.x"']}, ("dotted", 't."k.x"', "low")),
    "ignored path": ([LOW, PARTLY], {"q": ['t."k.x"']}, ("dotted", 't."k.x"', "low")),
    "beside an ignored path": ([LOW, PARTLY], {"q": ["t.other"]}, ("partly", "t.other", "partly")),
    "expression": ([HIGH], {"q": ["m ~ ^pre/(.*)$"]}, ("model", "m", "high")),
    "expression that finds nothing": ([HIGH], {"q": ["m ~ ^other/(.*)$", "a"]}, ("high", "a", "high")),
    "variable": ([LOW], {"q": ["$SET", "a"]}, ("from-env", "$SET", "environment")),
    "variable unset: on": ([LOW], {"q": ["$UNSET", "a"]}, ("low", "a", "low")),
    "variable empty: on": ([LOW], {"q": ["$EMPTY", "a"]}, ("low", "a", "low")),
    "named variable": ([LOW], {"p": ["=SET"], "q": ["$<p>", "a"]}, ("from-env", "$SET", "environment")),
    "named variable unset: the end": ([LOW], {"p": ["=UNSET"], "q": ["$<p>", "a"]}, ("", "$UNSET", "environment")),
    "no variable named: on": ([LOW], {"p": ["none"], "q": ["$<p>", "a"]}, ("low", "a", "low")),
    "layer that is no table": ([LOW, tree("odd", ["a"])], {"q": ["a"]}, ("low", "a", "low")),
    "way that is no table": ([LOW, HIGH], {"q": ["a.b.c", "b"]}, ("low-b", "b", "low")),
}


@pytest.mark.parametrize(("trees", "questions", "expected"), RULES.values(), ids=RULES)
def test_a_rule_of_the_trace(
    trees: Sequence[Tree], questions: dict[str, Sequence[str]], expected: tuple[str, str, str]
) -> None:
    found = answers(asking(questions), trees, {"SET": "from-env", "EMPTY": ""})
    last = found[list(questions)[-1]]
    assert (last.value, last.slot, last.layer) == expected


def test_an_answer_says_where_it_stands() -> None:
    own = tree("user", {"v": "x"}, kind="overlay", overlay="s.json", at="state")
    assert answers(reader(q=["state.v"]), [own], {})["q"] == Answer(
        "q", "x", "state.v", "user", "s.json", "/user", ("v",)
    )


# Conflicts, rule by rule


def ours(**values: Value) -> dict[str, list[Edit]]:
    return {"s.json": [Edit(parse_path(path.replace("__", ".")), value) for path, value in values.items()]}


MERGED: dict[str, tuple[Value, Value, str, str]] = {
    # of the layer below and of the one above; the answer, and the layer whose it is said to be
    "each says something": ({"h": {"A": "1", "B": "1"}}, {"h": {"B": "2"}}, '{"A": "1", "B": "2"}', "above"),
    "the lower one alone": ({"h": {"A": "1"}}, {}, '{"A": "1"}', "below"),
    "the upper one alone": ({}, {"h": {"A": "1"}}, '{"A": "1"}', "above"),
    "none": ({}, {}, "", ""),
    "no table above": ({"h": {"A": "1"}}, {"h": "A: 2"}, '{"A": "1"}', "above"),
}


@pytest.mark.parametrize(("below", "above", "value", "layer"), MERGED.values(), ids=MERGED)
def test_a_table_may_be_put_together_of_all_layers(below: Value, above: Value, value: str, layer: str) -> None:
    asked = replace(reader(h=["h"]), merge=("h",))
    answer = answers(asked, [tree("below", below), tree("above", above)], {})["h"]
    assert (answer.value, answer.layer) == (value, layer)


def test_a_table_that_is_not_put_together_is_the_highest() -> None:
    trees = [tree("below", {"h": {"A": "1"}}), tree("above", {"h": {"B": "2"}})]
    assert answers(reader(h=["h"]), trees, {})["h"].value == '{"B": "2"}'


def found_conflicts(
    asked: Reader, data: Value, wanted: Mapping[str, Sequence[Edit]], *above: Tree
) -> list[tuple[str, str, bool]]:
    """(question, value, is it a foreign credential)."""
    trees = [tree("user", data, kind="overlay", overlay="s.json"), *above]
    found = answers(asked, trees, {})
    return [
        (conflict.question, conflict.answer.value, conflict.is_foreign_credential)
        for conflict in conflicts(Request(), asked, found, trees, wanted)
    ]


@pytest.mark.parametrize(("above", "expected"), [({"B": "2"}, []), ({"A": "2"}, ["h"])], ids=["beside ours", "over it"])
def test_what_is_put_together_beside_ours_is_no_conflict(above: Value, expected: list[str]) -> None:
    asked = replace(reader(h=["h"]), merge=("h",))
    found = found_conflicts(asked, {"h": {"A": "1"}}, ours(h={"A": "1"}), tree("above", {"h": above}))
    assert [question for question, _, _ in found] == expected


URL_KEY = reader(base_url=["u"], key=["k"])
BOTH = reader(base_url=["u"], key=["k", "h"], x_key=["x", "h"], agree=["key", "x_key"])

CONFLICTS: dict[str, tuple[Reader, Value, dict[str, Any], list[Tree], list[tuple[str, str, bool]]]] = {
    "ours": (URL_KEY, {"u": "U", "k": "K"}, {"u": "U", "k": "K"}, [], []),
    "another address": (
        URL_KEY,
        {"u": "U", "k": "K"},
        {"u": "U", "k": "K"},
        [tree("top", {"u": "V"})],
        [("base_url", "V", False)],
    ),
    "another key for our address": (
        URL_KEY,
        {"u": "U", "k": "K"},
        {"u": "U", "k": "K"},
        [tree("top", {"k": "L"})],
        [("key", "L", True)],
    ),
    "another key for another address": (
        URL_KEY,
        {"u": "U", "k": "K"},
        {"u": "U", "k": "K"},
        [tree("top", {"u": "V", "k": "L"})],
        [("base_url", "V", False), ("key", "L", False)],
    ),
    "our key hidden": (
        URL_KEY,
        {"u": "U", "k": "K"},
        {"u": "U", "k": "K"},
        [tree("top", {"k": ""})],
        [("key", "", False)],
    ),
    "a question that we do not set": (reader(base_url=["u"], model=["m"]), {"u": "U", "m": "x"}, {"u": "U"}, [], []),
    "what must be empty": (reader(expect={"cloud": ""}, cloud=["c"]), {"c": "1"}, {}, [], [("cloud", "1", False)]),
    "what must be empty, and is": (reader(expect={"cloud": ""}, cloud=["c"]), {"c": ""}, {}, [], []),
    "what must be ours": (reader(expect={"p": "toolsync"}, p=["p"]), {"p": "toolsync"}, {"p": "toolsync"}, [], []),
    "what must be ours, and is not": (
        reader(expect={"p": "toolsync"}, p=["p"]),
        {"p": "toolsync"},
        {"p": "toolsync"},
        [tree("top", {"p": "other"})],
        [("p", "other", False)],
    ),
    "two that agree": (BOTH, {"u": "U", "h": "H"}, {"u": "U", "h": "H"}, [], []),
    "two from two slots": (BOTH, {"u": "U", "k": "K", "x": "X"}, {"u": "U", "k": "K"}, [], [("x_key", "X", True)]),
    "two from one slot of two layers": (
        BOTH,
        {"u": "U", "h": "H"},
        {"u": "U", "h": "H"},
        [tree("top", {"k": "K"})],
        [("key", "K", True), ("key", "K", True)],
    ),
    "two, and both are ours": (
        BOTH,
        {"u": "U", "k": "K", "x": "K"},
        {"u": "U", "k": "K", "x": "K"},
        [],
        [("x_key", "K", False)],
    ),
    "two from two slots, for another address": (
        BOTH,
        {"u": "U", "k": "K", "x": "X"},
        {"u": "U", "k": "K"},
        [tree("top", {"u": "V"})],
        [("base_url", "V", False), ("x_key", "X", False)],
    ),
    "one of two only": (BOTH, {"u": "U", "k": "K"}, {"u": "U", "k": "K"}, [], []),
    "ours through an expression": (
        reader(base_url=["u"], model=["m ~ ^p/(.*)$"]),
        {"u": "U", "m": "p/M"},
        {"u": "U", "m": "p/M"},
        [],
        [],
    ),
    "ours inside a table": (reader(base_url=["t.u"]), {"t": {"u": "U"}}, {"t": {"u": "U"}}, [], []),
    "our number": (reader(limit=["n"]), {"n": 5}, {"n": 5}, [], []),
    "our truth": (reader(flag=["f"]), {"f": True}, {"f": True}, [], []),
    "our truth, taken back above": (
        reader(flag=["f"]),
        {"f": True},
        {"f": True},
        [tree("top", {"f": False})],
        [("flag", "false", False)],
    ),
}


@pytest.mark.parametrize(("asked", "data", "wanted", "above", "expected"), CONFLICTS.values(), ids=CONFLICTS)
def test_what_is_a_conflict(
    asked: Reader, data: Value, wanted: dict[str, Any], above: list[Tree], expected: list[tuple[str, str, bool]]
) -> None:
    assert found_conflicts(asked, data, ours(**wanted), *above) == expected


# The shipped manifests over real layers

FACTS = {
    "claude-code": {"anthropic_url": "https://gw.example/api", "model": "m-1"},
    "codex": {"openai_url": "https://gw.example/api/v1", "model": "m-1", "provider_name": "work"},
}
KEYS: dict[tuple[str, str], dict[str, Any]] = {
    ("claude-code", "command"): {"key_command": "toolsync key print work"},
    ("claude-code", "plaintext"): {"key_plaintext": "gw-key"},
    ("codex", "command"): {"key_command": {"command": "/bin/toolsync", "args": ["key", "print", "work"]}},
    ("codex", "env"): {"key_env": "GW_KEY"},
    ("codex", "plaintext"): {"key_plaintext": "gw-key"},
}


def layered(
    tool: Tool, way: str, layers: Mapping[str, Value], environ: Mapping[str, str]
) -> tuple[dict[str, Answer], list[str]]:
    """The answers over what apply would leave in the tool's layers, and the conflicts; `!` marks a refusal."""
    wanted: dict[str, Sequence[Edit]] = {}
    trees: list[Tree] = []
    for layer in tool.layers:
        data = layers.get(layer.name, {})
        if layer.kind == "environment":
            data = {layer.at: dict(environ)}
            trees.append(Tree(Layer(layer.name, layer.kind), data))
            continue
        if layer.overlay:
            wanted[layer.overlay] = _wanted(tool, way, layer.overlay)
            data = _planned(layer, data, wanted[layer.overlay])
        trees.append(Tree(layer, data))
    found: dict[str, Answer] = {}
    told: list[str] = []
    for one in tool.readers:
        found |= answers(one, trees, environ)
        told += [
            f"{'!' * conflict.is_foreign_credential}{conflict.question}: {conflict.answer.slot}"
            for conflict in conflicts(tool.request, one, found, trees, wanted)
        ]
    return found, told


def _wanted(tool: Tool, way: str, overlay: str) -> tuple[Edit, ...]:
    row = next(row for row in tool.files if row.overlay == overlay)
    return edits(row.document.data, facts_of(**FACTS[tool.name], **KEYS[tool.name, way]), now=NOW)


def _planned(layer: Layer, data: Value, wanted: Sequence[Edit]) -> Value:
    place = Place("/f", layer.format or "jsonc", bytes(32), NOW)
    plan = plan_file(place, json.dumps(data), [Row("t", layer.overlay, tuple(wanted))], None)
    return parse((plan.after or "").encode(), "jsonc").data


ENV = "env.ANTHROPIC_"
HELPER = "apiKeyHelper"
CLAUDE_ROWS: dict[str, tuple[str, dict[str, Value], dict[str, str], list[str]]] = {
    # way, layers, environment, conflicts
    "command, nothing else": ("command", {}, {}, []),
    "plaintext, nothing else": ("plaintext", {}, {}, []),
    "the shell's variables are neutralised": (
        "command",
        {},
        {"ANTHROPIC_API_KEY": "old", "ANTHROPIC_AUTH_TOKEN": "old", "ANTHROPIC_BASE_URL": "https://old.example"},
        [],
    ),
    "the shell's variables are neutralised in plaintext": ("plaintext", {}, {"ANTHROPIC_API_KEY": "old"}, []),
    "the user's own variables are replaced": (
        "command",
        {"user": {"env": {"ANTHROPIC_API_KEY": "old", "ANTHROPIC_AUTH_TOKEN": "old"}}},
        {},
        [],
    ),
    "the user's own helper is replaced by ours": ("command", {"user": {"apiKeyHelper": "cat ~/old"}}, {}, []),
    "the user's own helper, in plaintext": (
        "plaintext",
        {"user": {"apiKeyHelper": "cat ~/old"}},
        {},
        [f"!x_key: {HELPER}"],
    ),
    "a login, while ours is a helper": ("command", {"login": {"primaryApiKey": "old"}}, {}, []),
    "a login, in plaintext": ("plaintext", {"login": {"primaryApiKey": "old"}}, {}, ["!x_key: login.primaryApiKey"]),
    "a header of the shell's that wins over ours": (
        "command",
        {},
        {"ANTHROPIC_CUSTOM_HEADERS": "X-Team: red\nX-API-Key: other"},
        [f"!headers: {ENV}CUSTOM_HEADERS"],
    ),
    "a header of a project's beside the token": (
        "plaintext",
        {"local": {"env": {"ANTHROPIC_CUSTOM_HEADERS": "api-key: other"}}},
        {},
        [f"!headers: {ENV}CUSTOM_HEADERS"],
    ),
    "a header that ours wins over": (
        "command",
        {"local": {"env": {"ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer other"}}},
        {},
        [],
    ),
    "a header that is no key": ("command", {}, {"ANTHROPIC_CUSTOM_HEADERS": "X-Team: red\nX-Api-Key:"}, []),
    "the user's own headers go": (
        "command",
        {"user": {"env": {"ANTHROPIC_CUSTOM_HEADERS": "x-api-key: other"}}},
        {},
        [],
    ),
    "a header at another address": (
        "command",
        {
            "local": {
                "env": {"ANTHROPIC_BASE_URL": "https://other.example", "ANTHROPIC_CUSTOM_HEADERS": "x-api-key: other"}
            }
        },
        {},
        [f"base_url: {ENV}BASE_URL"],
    ),
    "a token of the project's own": (
        "command",
        {"local": {"env": {"ANTHROPIC_AUTH_TOKEN": "other"}}},
        {},
        [f"!key: {ENV}AUTH_TOKEN", f"!key: {ENV}AUTH_TOKEN"],
    ),
    "a key of the project's own": (
        "command",
        {"project": {"env": {"ANTHROPIC_API_KEY": "other"}}},
        {},
        [f"!x_key: {ENV}API_KEY", f"!x_key: {ENV}API_KEY"],
    ),
    "a helper of the project's own": (
        "command",
        {"project": {"apiKeyHelper": "cat key"}},
        {},
        [f"!key: {HELPER}", f"!x_key: {HELPER}"],
    ),
    "a helper that the company manages": (
        "command",
        {"managed": {"apiKeyHelper": "cat key"}},
        {},
        [f"!key: {HELPER}", f"!x_key: {HELPER}"],
    ),
    "another address in the project is a problem only": (
        "command",
        {"project": {"env": {"ANTHROPIC_BASE_URL": "https://other.example"}}},
        {},
        [f"base_url: {ENV}BASE_URL"],
    ),
    "another address and its own token": (
        "command",
        {"local": {"env": {"ANTHROPIC_BASE_URL": "https://other.example", "ANTHROPIC_AUTH_TOKEN": "other"}}},
        {},
        [f"base_url: {ENV}BASE_URL", f"key: {ENV}AUTH_TOKEN", f"key: {ENV}AUTH_TOKEN"],
    ),
    "another model in the project": (
        "command",
        {"project": {"env": {"ANTHROPIC_MODEL": "x"}}},
        {},
        [f"model: {ENV}MODEL"],
    ),
    "another model, where ours is stronger": ("command", {"project": {"model": "x"}}, {}, []),
    "leftovers of Bedrock in the shell": (
        "command",
        {},
        {"CLAUDE_CODE_USE_BEDROCK": "1"},
        ["cloud: env.CLAUDE_CODE_USE_BEDROCK"],
    ),
    "leftovers of Vertex in the user's file": (
        "command",
        {"user": {"env": {"CLAUDE_CODE_USE_VERTEX": "1"}}},
        {},
        ["cloud: env.CLAUDE_CODE_USE_VERTEX"],
    ),
    "leftovers that the user emptied": (
        "command",
        {"user": {"env": {"CLAUDE_CODE_USE_BEDROCK": ""}}},
        {"CLAUDE_CODE_USE_BEDROCK": "1"},
        [],
    ),
    "leftovers that the user switched off": (
        "command",
        {"user": {"env": {"CLAUDE_CODE_USE_BEDROCK": "0"}}},
        {"CLAUDE_CODE_USE_BEDROCK": "1"},
        [],
    ),
}


@pytest.mark.parametrize(("way", "layers", "environ", "expected"), CLAUDE_ROWS.values(), ids=CLAUDE_ROWS)
def test_what_keeps_claude_code_from_our_gateway(
    way: str, layers: dict[str, Value], environ: dict[str, str], expected: list[str]
) -> None:
    assert layered(CLAUDE, way, layers, environ)[1] == expected


HEADERS: dict[str, tuple[dict[str, Value], dict[str, str], tuple[str, str]]] = {
    # layers, environment, (Authorization, x-api-key): two sources fill two headers
    "token and key": ({}, {"ANTHROPIC_AUTH_TOKEN": "T", "ANTHROPIC_API_KEY": "K"}, ("T", "K")),
    "token and helper": ({"user": {"apiKeyHelper": "H"}}, {"ANTHROPIC_AUTH_TOKEN": "T"}, ("T", "H")),
    "key and helper": ({"user": {"apiKeyHelper": "H"}}, {"ANTHROPIC_API_KEY": "K"}, ("H", "K")),
    "token and login": ({"login": {"primaryApiKey": "L"}}, {"ANTHROPIC_AUTH_TOKEN": "T"}, ("T", "L")),
    "helper and login": ({"user": {"apiKeyHelper": "H"}, "login": {"primaryApiKey": "L"}}, {}, ("H", "H")),
    "helper, variables emptied": (
        {"user": {"apiKeyHelper": "H", "env": {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": ""}}},
        {"ANTHROPIC_AUTH_TOKEN": "T", "ANTHROPIC_API_KEY": "K"},
        ("H", "H"),
    ),
    "settings beat the shell": (
        {"user": {"env": {"ANTHROPIC_AUTH_TOKEN": "S"}}},
        {"ANTHROPIC_AUTH_TOKEN": "T"},
        ("S", ""),
    ),
    "local beats project beats user": (
        {
            "user": {"env": {"ANTHROPIC_API_KEY": "u"}},
            "project": {"env": {"ANTHROPIC_API_KEY": "p"}},
            "local": {"env": {"ANTHROPIC_API_KEY": "l"}},
        },
        {},
        ("", "l"),
    ),
    "managed beats all": (
        {"local": {"env": {"ANTHROPIC_API_KEY": "l"}}, "managed": {"env": {"ANTHROPIC_API_KEY": "m"}}},
        {},
        ("", "m"),
    ),
    "nothing": ({}, {}, ("", "")),
}


@pytest.mark.parametrize(("layers", "environ", "expected"), HEADERS.values(), ids=HEADERS)
def test_claude_codes_two_headers_are_filled_as_seen_on_the_wire(
    layers: dict[str, Value], environ: dict[str, str], expected: tuple[str, str]
) -> None:
    trees = [
        Tree(Layer(layer.name, layer.kind), {layer.at: environ})
        if layer.kind == "environment"
        else Tree(layer, layers.get(layer.name, {}))
        for layer in CLAUDE.layers
    ]
    found = answers(CLAUDE.readers[0], trees, environ)
    assert (found["key"].value, found["x_key"].value) == expected


CODEX_ROWS: dict[str, tuple[str, dict[str, Value], dict[str, str], list[str], dict[str, str]]] = {
    # way, layers, environment, conflicts, some answers
    "command": (
        "command",
        {},
        {},
        [],
        {"provider": "toolsync", "key": "/bin/toolsync", "base_url": "https://gw.example/api/v1"},
    ),
    "command beats a login": ("command", {"auth.json": {"OPENAI_API_KEY": "old"}}, {}, [], {"key": "/bin/toolsync"}),
    "variable": ("env", {}, {"GW_KEY": "gw-key"}, [], {"key": "gw-key", "key_env": "GW_KEY"}),
    "variable unset: the search ends": ("env", {"auth.json": {"OPENAI_API_KEY": "old"}}, {}, [], {"key": ""}),
    "plaintext": ("plaintext", {"auth.json": {"OPENAI_API_KEY": "old"}}, {}, [], {"key": "gw-key"}),
    "the project may set the model": (
        "command",
        {"project": {"model": "other"}},
        {},
        ["model: model"],
        {"model": "other", "provider": "toolsync"},
    ),
    "the project may not set the provider": (
        "command",
        {"project": {"model_provider": "evil", "model_providers": {"toolsync": {"base_url": "https://evil.example"}}}},
        {},
        [],
        {"provider": "toolsync", "base_url": "https://gw.example/api/v1"},
    ),
    "the user's own variable beside ours goes": (
        "command",
        {"user": {"model_providers": {"toolsync": {"env_key": "OLD"}}}},
        {"OLD": "old"},
        [],
        {"key": "/bin/toolsync", "key_env": ""},
    ),
    "the user's own provider stays unused": (
        "command",
        {"user": {"model_provider": "mine", "model_providers": {"mine": {"base_url": "https://mine.example"}}}},
        {},
        [],
        {"base_url": "https://gw.example/api/v1"},
    ),
}


@pytest.mark.parametrize(("way", "layers", "environ", "expected", "some"), CODEX_ROWS.values(), ids=CODEX_ROWS)
def test_what_codex_will_use(
    way: str, layers: dict[str, Value], environ: dict[str, str], expected: list[str], some: dict[str, str]
) -> None:
    found, told = layered(CODEX, way, layers, environ)
    assert told == expected
    assert {question: found[question].value for question in some} == some


def test_codex_without_us_asks_openai() -> None:
    found = answers(CODEX.readers[0], [Tree(layer, {}) for layer in CODEX.layers], {})
    assert {question: answer.value for question, answer in found.items()} == {
        "provider": "openai",
        "model": "",
        "base_url": "https://api.openai.com/v1",
        "key_env": "",
        "login": "true",
        "key": "",
        "headers": "",
        "env_headers": "",
        "query": "",
        "timeout_ms": "300000",
    }


# Where the user's own key may stand

PLACES: dict[str, tuple[Tool, str, str, bool]] = {
    "claude: key variable": (CLAUDE, "settings.json", "env.ANTHROPIC_API_KEY", True),
    "claude: token variable": (CLAUDE, "settings.json", "env.ANTHROPIC_AUTH_TOKEN", True),
    "claude: helper": (CLAUDE, "settings.json", "apiKeyHelper", True),
    "claude: all variables": (CLAUDE, "settings.json", "env", True),
    "claude: address": (CLAUDE, "settings.json", "env.ANTHROPIC_BASE_URL", False),
    "claude: model": (CLAUDE, "settings.json", "env.ANTHROPIC_MODEL", False),
    "claude: of another file": (CLAUDE, "vscode.json", "env.ANTHROPIC_API_KEY", False),
    "claude: mounted elsewhere": (CLAUDE, "settings.json", "primaryApiKey", False),
    "codex: helper": (CODEX, "config.toml", "model_providers.toolsync.auth", True),
    "codex: deeper": (CODEX, "config.toml", "model_providers.toolsync.auth.command.x", True),
    "codex: key of any provider": (CODEX, "config.toml", "model_providers.toolsync.experimental_bearer_token", True),
    "codex: address": (CODEX, "config.toml", "model_providers.toolsync.base_url", False),
}


@pytest.mark.parametrize(("tool", "overlay", "path", "expected"), PLACES.values(), ids=PLACES)
def test_where_a_tool_looks_for_a_key(tool: Tool, overlay: str, path: str, *, expected: bool) -> None:
    parsed: KeyPath = parse_path(path)
    assert may_hold_key(tool, overlay, parsed) is expected
