"""What there is: tools and their state, profiles and their facts, keys, models, schemas; as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolsync.render.screen import Line, sentence
from toolsync.render.tables import columns, counted


def status_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What is applied, what has changed since, and what waits."""
    if not data["tools"]:
        yield Line("Nothing is applied.")
        return
    rows = [
        (tool["tool"], file["shown"], _APPLIED[file["applied"]], _WANTED[file["wanted"]])
        for tool in data["tools"]
        for file in tool["files"]
    ]
    yield from _applied(data)
    yield from columns(rows, ("Tool", "File", "Last applied vs now", "Now vs profile"))
    for tool in data["tools"]:
        for file in tool["files"]:
            yield from _drifted(file)
    for one in data["applies"]:
        verb = "waits" if one["files"] == 1 else "wait"
        yield Line(f"{counted(one['files'], 'file')} {verb} for `{one['command']}`.", "look")


def _applied(data: Mapping[str, Any]) -> Iterator[Line]:
    """Which profile is applied, or which ones are, and which one the tools are held against."""
    tools: dict[str, list[str]] = {}
    for tool in data["tools"]:
        if tool["profile"]:
            tools.setdefault(tool["profile"], []).append(tool["tool"])
    others = (one["against"] for one in data["tools"] if one["profile"] and one["against"] != one["profile"])
    told = " and ".join(f"'{name}'" for name in dict.fromkeys(filter(None, others)))
    other = f"; held against {told}" if told else ""
    if len(tools) == 1:
        yield Line(f"Profile '{next(iter(tools))}' is applied{other}.", "look" if other else "")
    elif tools:
        each = ", ".join(f"'{name}' ({', '.join(own)})" for name, own in tools.items())
        yield Line(f"Profiles {each} are applied{other}.", "look" if other else "")


def _drifted(file: Mapping[str, Any]) -> Iterator[Line]:
    """Value by value what is not as it should be, where something of the file was applied."""
    if all(value["applied"] == "never" for value in file["values"]):
        return
    for value in file["values"]:
        if value["applied"] in ("changed", "reverted", "gone") or value["wanted"] == "differs":
            state = f"{_APPLIED[value['applied']]}; {_WANTED[value['wanted']]}"
            yield Line(f"  {file['shown']}: {value['path']}: {state}", "look")


_APPLIED = {
    "same": "as applied",
    "unknown": "unknown",
    "changed": "changed since",
    "reverted": "as before apply",
    "gone": "taken out since",
    "never": "not applied yet",
}
_WANTED = {"same": "as the profile wants", "differs": "differs from the profile", "unknown": "unknown"}


def tools_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """Every tool: whether it is found, what it speaks, how the key reaches it."""
    rows = [
        (
            tool["tool"],
            f"{tool['title']} (yours)" if tool["users_own"] else tool["title"],
            "yes" if tool["installed"] else "no",
            ", ".join(tool["speaks"]) or _as(tool),
            ", ".join(tool["key_ways"]) or _as(tool),
            ", ".join(tool["files"]),
        )
        for tool in data["tools"]
    ]
    yield from columns(rows, ("Tool", "Title", "Found", "Speaks", "Key", "Files"))


def _as(tool: Mapping[str, Any]) -> str:
    return f"as {' and '.join(tool['holds'])}" if tool["holds"] else ""


def profiles_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """Every profile; a star before the active one."""
    rows = [
        ("*" if one["active"] else "", one["name"], one["base_url"], one["model"], one["key"])
        for one in data["profiles"]
    ]
    yield from columns(rows, ("", "Profile", "Address", "Model", "Key"))


def facts_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """One profile, resolved: every fact and where it comes from."""
    rows = [("key", data["key"], data["key_origin"])]
    rows += [(fact["name"], str(fact["value"]), fact["origin"]) for fact in data["facts"]]
    yield from columns(rows, ("Fact", "Value", "From"))


def trust_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What a shared profile would be allowed, and how what stands at its address has changed."""
    for line in data["difference"]:
        yield Line(line, "good" if line.startswith("+") else "bad" if line.startswith("-") else "")
    if data["allows"]:
        yield sentence(f"{data['from']} decides for profile '{data['profile']}':", indent=0)
    rows = [(one["field"], json.dumps(one["value"], ensure_ascii=False), str(one["line"])) for one in data["allows"]]
    yield from columns(rows, ("Field", "Value", "Line")) if rows else ()


def keys_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """Every key, whether it is stored, and who uses it."""
    rows = [(one["key"], _STORED[one["stored"]], ", ".join(one["profiles"]) or "no profile") for one in data["keys"]]
    if data["backend"]:
        yield Line(f"Keyring: {data['backend']}")
    yield from columns(rows, ("Key", "State", "Used by"))


_STORED: Mapping[bool | None, str] = {True: "stored", False: "missing", None: "kept elsewhere"}


def uses_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """Who uses a key, and how it reaches each."""
    users = [f"profile '{one['profile']}' {one['role']}" for one in data["profiles"]]
    yield sentence(f"{data['key']}: {', '.join(users) or 'no profile uses it'}", indent=0)
    rows = [
        (_HELD[one["kind"]], one["who"], " ".join(filter(None, (one["where"], one["path"])))) for one in data["uses"]
    ]
    yield from columns(rows, ("How", "Who", "Where"))
    if data["kept_until"]:
        yield sentence(f"The key that it replaced is kept until {data['kept_until'][:10]}.", indent=0)


_HELD: Mapping[str, str] = {
    "helper": "asks when it runs",
    "variable": "reads a variable",
    "copy": "holds a copy",
    "row": "holds a copy",
    "entry": "holds a copy",
    "other key": "another key by now",
    "shell": "this shell holds it",
    "found": "found there",
    "other copy": "a copy, log or history",
}


def models_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """Every model, a line each."""
    yield from (Line(model) for model in data["models"])


def schema_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """The names of all schemas, or one of them whole."""
    if data["content"] is None:
        yield from (Line(name) for name in data["names"])
    else:
        yield from (Line(line) for line in json.dumps(data["content"], indent=2, ensure_ascii=False).splitlines())
