"""Results for people: plain lines, coloured on a terminal. Every text from outside passes `printable` on its way."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolsync.commands.result import REFUSED, Message, Result
from toolsync.errors import PingFailedError, ToolsyncError
from toolsync.examination import examination_lines
from toolsync.explanation import explanation_lines
from toolsync.masking import mask_key_shapes, masked_data
from toolsync.screen import Line, sentence
from toolsync.tables import columns, counted, done_to

_MARKS = {"note": ("", ""), "warning": ("warning: ", "look"), "problem": ("problem: ", "bad")}


def envelope(
    command: str, exit_code: int, data: Mapping[str, Any], messages: Sequence[Message], error: ToolsyncError | None
) -> str:
    """The one JSON object that stdout holds with `--json`, masked."""
    whole = enveloped(command, exit_code, data, messages, error)
    return json.dumps(masked_data(whole), ensure_ascii=True, indent=2)


_NO_COMMANDS = {"toolsync", "key", "profile"}
"""What is said when no command was found; only the envelope's own schema speaks of it."""


def enveloped(
    command: str, exit_code: int, data: Mapping[str, Any], messages: Sequence[Message], error: ToolsyncError | None
) -> dict[str, Any]:
    """The envelope as data, as `schemas/results/envelope.schema.json` describes it."""
    return {
        "schema": f"toolsync/{'envelope' if command in _NO_COMMANDS else command.replace(' ', '-')}/1",
        "command": command,
        "exit_code": exit_code,
        "data": data if error is None else None,
        "messages": [{"level": one.level, "text": _said(one.text), "hint": _said(one.hint)} for one in messages],
        "errors": [_error(error)] if error else list(_refusals(command, exit_code, messages)),
    }


def _refusals(command: str, exit_code: int, messages: Sequence[Message]) -> Iterator[dict[str, str]]:
    """Why a command that has data was refused all the same: its problems."""
    kind = "PingFailedError" if command in ("ping", "models") else "PlanRefusedError"
    for one in messages if exit_code == REFUSED else ():
        if one.level == "problem":
            yield {"type": kind, "message": _said(one.text), "hint": _said(one.hint)}


def _error(error: ToolsyncError) -> dict[str, str]:
    cause = {"cause": error.cause} if isinstance(error, PingFailedError) else {}
    return {"type": type(error).__name__, "message": _said(error.message), "hint": _said(error.hint), **cause}


def _said(sentence: str) -> str:
    """A sentence without the key that somebody wrote where a name belongs, or that a program said by mistake."""
    return mask_key_shapes(sentence)


def lines(result: Result) -> Iterator[Line]:
    """The result for people."""
    view = _VIEWS.get(result.command)
    if view is not None:
        yield from view(result.data)
    yield from message_lines(result.messages)


def message_lines(messages: Iterable[Message]) -> Iterator[Line]:
    """The messages, each once, with their hints."""
    for message in dict.fromkeys(messages):
        word, style = _MARKS[message.level]
        yield sentence(f"{word}{_said(message.text)}", style)
        if message.hint:
            yield sentence(f"    {_said(message.hint)}")


def error_lines(error: ToolsyncError) -> Iterator[Line]:
    """An error for people: what, then what to do."""
    first, *rest = _said(error.message).splitlines() or [""]
    yield sentence(f"error: {first}", "bad", indent=7)
    yield from (sentence(f"       {line}", "bad", indent=7) for line in rest)
    if error.hint:
        yield sentence(f"  hint: {_said(error.hint)}", indent=8)


def plan_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What would change, file by file, as a masked unified diff."""
    for file in data["files"]:
        yield from map(_diff_line, file["diff"])
    if not any(file["diff"] for file in data["files"]):
        yield Line("Nothing to change.")


def _diff_line(text: str) -> Line:
    if text.startswith(("---", "+++", "@@")):
        return Line(text.rstrip("\n"), "place")
    return Line(text, {"+": "add", "-": "del"}.get(text[:1], ""))


def summary_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What a person is about to say yes to, after a diff of many lines."""
    done = ", ".join(f"{counted(count, kind)} to {action}" for (kind, action), count in done_to(data["files"]).items())
    if done:
        changed = {tool for file in data["files"] if file["action"] != "keep" for tool in file["tools"]}
        titles = [tool["title"] for tool in data["tools"] if tool["tool"] in changed]
        concerned = f" ({', '.join(titles)})" if titles else ""
        yield sentence(f"Profile '{data['profile']}': {done}{concerned}.", "place", indent=0)


def _apply(data: Mapping[str, Any]) -> Iterator[Line]:
    for ping in data["pings"]:
        yield _ping_line(ping)
    done = ", ".join(
        f"{counted(count, kind)} {_PAST[action]}" for (kind, action), count in done_to(data["files"]).items()
    )
    if data["tools"] or done:
        yield Line(f"Applied profile '{data['profile']}': {done or 'everything was right already'}.", "good")
    else:
        yield Line("Nothing was applied.", "look")
    heads = ("Tool", "Key", "Now") if done else ("Tool", "Key")
    yield from columns([row[: len(heads)] for row in _set_rows(data)], heads)


def _set_rows(data: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Each tool, how its key reaches it, and what is to be done now: nothing where none of its files changed."""
    changed = {tool for file in data["files"] if file["action"] != "keep" for tool in file["tools"]}
    for tool in data["tools"]:
        yield tool["title"], tool["key"], tool["reload"] if tool["tool"] in changed else ""


_PAST = {"create": "created", "change": "changed", "remove": "removed"}


def _ping_line(ping: Mapping[str, Any]) -> Line:
    if ping["problem"]:
        answered = f"{ping['status']}" if ping["status"] else "no answer"
        return Line(f"✗ {ping['address']} ({ping['dialect']}): {answered}", "bad")
    usage = f", {ping['input_tokens']} + {ping['output_tokens']} tokens" if ping["output_tokens"] is not None else ""
    answer = f"{ping['status']}, model {ping['model']}{usage}, {ping['milliseconds']} ms"
    return Line(f"✓ {ping['address']} ({ping['dialect']}): {answer}", "good")


def _pings(data: Mapping[str, Any]) -> Iterator[Line]:
    yield from map(_ping_line, data["pings"])


def _undo(data: Mapping[str, Any]) -> Iterator[Line]:
    if not data["files"]:
        yield Line("Nothing is applied.")
        return
    kinds = Counter(kind for (kind, _), count in done_to(data["files"]).items() for _ in range(count))
    yield Line(f"Given back: {', '.join(counted(count, kind) for kind, count in kinds.items()) or '0 files'}.", "good")


def uninstall_plan_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What `uninstall` would give back and remove, and what stays."""
    if data["written"]:
        yield from plan_lines(data)
    yield from columns(_removed(data), ("To be removed", "What it is"))
    yield from _stays(data)


def _uninstall(data: Mapping[str, Any]) -> Iterator[Line]:
    removed = _removed(data)
    if data["written"]:
        yield from _undo(data)
    if not data["written"] and not removed:
        yield Line("There is nothing to remove.")
    yield from columns(removed, ("Removed", "What it was"))
    yield from _stays(data)


def _removed(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What goes; old values by their number, and a folder in place of the files in it."""
    names = {kind: [one["name"] for one in data["removed"] if one["kind"] == kind] for kind in _GONE}
    old = len(names["old value"])
    if old:
        names["old value"] = ["1 old value in the keyring" if old == 1 else f"{old} old values in the keyring"]
    if names["folder"]:
        names["file"] = []
    return [(name, what) for kind, what in _GONE.items() for name in names[kind]]


_GONE = {
    "old value": "yours, kept until it was given back",
    "key": "your key",
    "file": "toolsync's own",
    "folder": "toolsync's own: what it remembered, its lock, its reports",
}


def _stays(data: Mapping[str, Any]) -> Iterator[Line]:
    yield from columns([(one["name"], one["reason"]) for one in data["left"]], ("Stays", "Why"))


def _status(data: Mapping[str, Any]) -> Iterator[Line]:
    if not data["tools"]:
        yield Line("Nothing is applied.")
        return
    rows = [
        (tool["tool"], file["shown"], _APPLIED[file["applied"]], _WANTED[file["wanted"]])
        for tool in data["tools"]
        for file in tool["files"]
    ]
    if data["applied_profile"]:
        other = f"; held against '{data['profile']}'" if data["profile"] not in (None, data["applied_profile"]) else ""
        yield Line(f"Profile '{data['applied_profile']}' is applied{other}.", "look" if other else "")
    yield from columns(rows, ("Tool", "File", "Last applied vs now", "Now vs profile"))
    for tool in data["tools"]:
        for file in tool["files"]:
            yield from _drifted(file)
    if data["waiting"]:
        verb = "waits" if data["waiting"] == 1 else "wait"
        yield Line(f"{counted(data['waiting'], 'file')} {verb} for `toolsync apply`.", "look")


def _drifted(file: Mapping[str, Any]) -> Iterator[Line]:
    """Value by value what is not as it should be, where something of the file was applied."""
    if all(value["applied"] == "never" for value in file["values"]):
        return
    for value in file["values"]:
        if value["applied"] in ("changed", "gone") or value["wanted"] == "differs":
            state = f"{_APPLIED[value['applied']]}; {_WANTED[value['wanted']]}"
            yield Line(f"  {file['shown']}: {value['path']}: {state}", "look")


_APPLIED = {
    "same": "as applied",
    "unknown": "unknown",
    "changed": "changed since",
    "gone": "taken out since",
    "never": "not applied yet",
}
_WANTED = {"same": "as the profile wants", "differs": "differs from the profile", "unknown": "unknown"}


def _tools(data: Mapping[str, Any]) -> Iterator[Line]:
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


def _profiles(data: Mapping[str, Any]) -> Iterator[Line]:
    rows = [
        ("*" if one["active"] else "", one["name"], one["base_url"], one["model"], one["key"])
        for one in data["profiles"]
    ]
    yield from columns(rows, ("", "Profile", "Address", "Model", "Key"))


def _facts(data: Mapping[str, Any]) -> Iterator[Line]:
    rows = [("key", data["key"], f"profiles.{data['profile']}.key")]
    rows += [(fact["name"], str(fact["value"]), fact["origin"]) for fact in data["facts"]]
    yield from columns(rows, ("Fact", "Value", "From"))


def _keys(data: Mapping[str, Any]) -> Iterator[Line]:
    rows = [(one["key"], _STORED[one["stored"]], ", ".join(one["profiles"]) or "no profile") for one in data["keys"]]
    yield Line(f"Keyring: {data['backend']}")
    yield from columns(rows, ("Key", "State", "Used by"))


_STORED: Mapping[bool | None, str] = {True: "stored", False: "missing", None: "kept elsewhere"}


def rotation_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What becomes of the copies of a key, and who needs nothing."""
    if any(file["diff"] for file in data["files"]):
        yield from plan_lines(data)
    if data["asking"]:
        yield sentence(f"Nothing changes for {', '.join(data['asking'])}: the key is asked for when they run.")
    if data["variables"]:
        names = ", ".join(f"${name}" for name in data["variables"])
        yield sentence(f"{names}: set from the keyring anew in every shell that is opened later.")


def _rotated(data: Mapping[str, Any]) -> Iterator[Line]:
    for ping in data["pings"]:
        yield _ping_line(ping)
    done = ", ".join(
        f"{counted(count, kind)} {_PAST[action]}" for (kind, action), count in done_to(data["files"]).items()
    )
    state = "is replaced" if data["changed"] else "is that key already"
    yield Line(f"keyring:{data['name']} {state} in {data['backend']}{': ' if done else ''}{done}.", "good")
    yield from columns([(one["program"], _sent(one)) for one in data["sent"]], ("Program", "Sends"))


def _sent(one: Mapping[str, Any]) -> str:
    if one["new_key"] is None:
        return "cannot be told from here" if not one["problem"] else "no key"
    answered = f", and was answered {one['status']}" if one["status"] else ""
    return f"the new key{answered}" if one["new_key"] else "another key"


def _uses(data: Mapping[str, Any]) -> Iterator[Line]:
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
    "shell": "this shell holds it",
    "found": "found there",
    "other copy": "another program's copy",
}


def _models(data: Mapping[str, Any]) -> Iterator[Line]:
    yield from (Line(model) for model in data["models"])


def _schema(data: Mapping[str, Any]) -> Iterator[Line]:
    if data["content"] is None:
        yield from (Line(name) for name in data["names"])
    else:
        yield from (Line(line) for line in json.dumps(data["content"], indent=2, ensure_ascii=False).splitlines())


View = Callable[[Mapping[str, Any]], Iterator[Line]]

_VIEWS: Mapping[str, View] = {
    "apply": _apply,
    "diff": plan_lines,
    "doctor": examination_lines,
    "explain": explanation_lines,
    "key list": _keys,
    "key rotate": _rotated,
    "key uses": _uses,
    "models": _models,
    "ping": _pings,
    "profile list": _profiles,
    "profile show": _facts,
    "schema": _schema,
    "status": _status,
    "tools": _tools,
    "undo": _undo,
    "uninstall": _uninstall,
}
