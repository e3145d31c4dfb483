"""`check --sarif`: a log by the rules of SARIF 2.1.0, and by what code hosts ask of one beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from jsonschema import Draft202012Validator

from tests.acceptance.machine import KEY, Machine
from tests.check.planted import LEAKS, plant

# What the OASIS standard asks of the parts that we write (sections 3.13 to 3.52), said anew: its own schema is large.
_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_URI = {"type": "string", "format": "uri-reference", "pattern": "^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*$"}
_ARTIFACT = {
    "type": "object",
    "required": ["uri"],
    "additionalProperties": False,
    "properties": {"uri": _URI, "uriBaseId": {"type": "string"}},
}
_REGION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"startLine": {"type": "integer", "minimum": 1}},
}
_PHYSICAL = {
    "type": "object",
    "required": ["artifactLocation"],
    "additionalProperties": False,
    "properties": {"artifactLocation": _ARTIFACT, "region": _REGION},
}
_LOCATION = {"type": "object", "additionalProperties": False, "properties": {"physicalLocation": _PHYSICAL}}
_RESULT = {
    "type": "object",
    "required": ["message"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": _LEVEL,
        "message": _TEXT,
        "locations": {"type": "array", "items": _LOCATION},
        "properties": {"type": "object"},
    },
}
_RULE = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "shortDescription": _TEXT,
        "defaultConfiguration": {"type": "object", "additionalProperties": False, "properties": {"level": _LEVEL}},
    },
}
_DRIVER = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "semanticVersion": {"type": "string"},
        "rules": {"type": "array", "uniqueItems": True, "items": _RULE},
    },
}
_NOTIFICATION = {
    "type": "object",
    "required": ["message"],
    "additionalProperties": False,
    "properties": {"level": _LEVEL, "message": _TEXT},
}
_INVOCATION = {
    "type": "object",
    "required": ["executionSuccessful"],
    "additionalProperties": False,
    "properties": {
        "executionSuccessful": {"type": "boolean"},
        "toolExecutionNotifications": {"type": "array", "items": _NOTIFICATION},
    },
}
_RUN = {
    "type": "object",
    "required": ["tool"],
    "additionalProperties": False,
    "properties": {
        "tool": {
            "type": "object",
            "required": ["driver"],
            "additionalProperties": False,
            "properties": {"driver": _DRIVER},
        },
        "originalUriBaseIds": {"type": "object", "additionalProperties": _ARTIFACT},
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "invocations": {"type": "array", "items": _INVOCATION},
        "results": {"type": "array", "items": _RESULT},
    },
}
SCHEMA = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": _RUN},
    },
}


def _log(machine: Machine) -> Any:
    log = json.loads(machine.toolsync("check", "--sarif").out)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(log)] == []
    return log["runs"][0]


def test_every_finding_is_a_result_with_its_rule_and_place(furnished: Machine) -> None:
    plant(furnished)
    run = _log(furnished)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    base = unquote(urlsplit(run["originalUriBaseIds"]["ROOT"]["uri"]).path)
    assert base == f"{furnished.project.resolve()}/"
    places = set()
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
        path = unquote(urlsplit(artifact["uri"]).path)
        places.add(Path(base if "uriBaseId" in artifact else "/") / path)
    leaks = [leak for leak in LEAKS if leak.name != "a login"]  # which lies where it is meant to be
    assert places == {furnished.home / leak.file for leak in leaks}
    assert len(run["results"]) == len(leaks)


def test_a_clean_machine_has_no_results(furnished: Machine) -> None:
    run = _log(furnished)
    assert (run["results"], run["invocations"][0]["executionSuccessful"]) == ([], True)


def test_the_two_forms_exclude_each_other(furnished: Machine) -> None:
    ran = furnished.toolsync("check", "--sarif", "--json")
    assert (ran.code, ran.json["errors"][0]["type"]) == (2, "UsageError")


def test_no_key_is_in_it_though_a_file_is_called_by_one(furnished: Machine) -> None:
    furnished.write(f".codex/log/{KEY}.log", f"{KEY}\n")
    ran = furnished.toolsync("check", "--sarif")
    log = json.loads(ran.out)
    assert (ran.code, KEY in ran.out, len(log["runs"][0]["results"])) == (1, False, 2)
