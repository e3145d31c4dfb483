"""What would be done, and what was: plans as masked diffs, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from toolsync.render.screen import Line, sentence
from toolsync.render.tables import columns, counted, done_to


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


def apply_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What was applied, whom it concerns, and what is to be done now."""
    yield from _ping_lines(data)
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


def _ping_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    if data["pings"]:
        from toolsync.render.answering import ping_lines  # the catalogue is for who has asked

        yield from ping_lines(data)


_PAST = {"create": "created", "change": "changed", "remove": "removed"}


def undo_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What was given back."""
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


def uninstall_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What was given back and removed, and what stays."""
    removed = _removed(data)
    if data["written"]:
        yield from undo_lines(data)
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
    "passphrase": "your passphrase",
    "file": "toolsync's own",
    "folder": "toolsync's own: what it remembered, its lock, its reports",
}


def _stays(data: Mapping[str, Any]) -> Iterator[Line]:
    yield from columns([(one["name"], one["reason"]) for one in data["left"]], ("Stays", "Why"))


def rotation_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What becomes of the copies of a key, and who needs nothing."""
    if any(file["diff"] for file in data["files"]):
        yield from plan_lines(data)
    if data["asking"]:
        when = "when it runs" if len(data["asking"]) == 1 else "when they run"
        yield sentence(f"Nothing changes for {', '.join(data['asking'])}: the key is asked for {when}.")
    if data["variables"]:
        names = ", ".join(f"${name}" for name in data["variables"])
        yield sentence(
            f"{names}: what runs keeps the old key in it; set it anew where you set it. `exec` needs nothing."
        )


def rotated_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """Who answered to the new key, and what became of each copy."""
    yield from _ping_lines(data)
    done = ", ".join(
        f"{counted(count, kind)} {_PAST[action]}" for (kind, action), count in done_to(data["files"]).items()
    )
    state = "is replaced" if data["changed"] else "is that key already"
    yield Line(f"keyring:{data['name']} {state} in {data['backend']}{': ' if done else ''}{done}.", "good")
    key = "the key from before" if data["back"] else "the new key" if data["changed"] else "the key"
    yield from columns([(one["program"], _sent(one, key)) for one in data["sent"]], ("Program", "Sends"))


def _sent(one: Mapping[str, Any], key: str) -> str:
    if one["new_key"] is None:
        return "cannot be told from here" if not one["problem"] else "no key"
    answered = f", and was answered {one['status']}" if one["status"] else ""
    return f"{key}{answered}" if one["new_key"] else "another key"
