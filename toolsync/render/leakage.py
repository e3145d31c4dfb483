"""What `check` found, for people: where, which key, who else can have it, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolsync.render.screen import Line, sentence
from toolsync.render.tables import counted
from toolsync.render.undertaking import plan_lines

_MOST_UNSEEN = 10
"""How many things are named that were not looked at and do not matter much."""


def leakage_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """The findings, then what was not looked at, then how much was."""
    leaks = [one for one in data["findings"] if not one["agreed"]]
    for one in data["fixed"]:
        yield sentence(_DONE[one["what"]].format(one["shown"]), "good")
    for one in leaks:
        yield sentence(f"{_where(one)}: {_what(one)}", "bad")
        if one["exposed"]:
            yield sentence(f"    {_exposed(one)}", "look")
        if one["advice"]:
            yield sentence(f"    {one['advice']}")
    for one in (one for one in data["findings"] if one["agreed"]):
        yield sentence(f"{_where(one)}: {one['secret']['name']}, where it is meant to be", "dim")
    yield from _unseen(data)
    yield from _summary(data, len(leaks))


_DONE = {
    "key": "{}: the key is in the keyring now",
    "mode": "{}: shut to all but you",
    "ignore": "added to {}",
    "apply": "{}: gets the key another way now",
}


def mending_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What `--fix` would do."""
    if data["apply"]:
        yield from plan_lines(data["apply"])
    yield from (sentence(_STEPS[step["what"]].format(step["shown"]), "add") for step in data["steps"])


_STEPS = {
    "key": "{}: the key goes into the keyring",
    "mode": "{}: will be shut to all but you",
    "ignore": "to be added to {}",
}


def _where(one: Mapping[str, Any]) -> str:
    line = f":{one['line']}" if one["line"] else ""
    inside = f" ({one['inside']})" if one["inside"] else ""
    return f"{one['shown']}{line}{inside}"


def _what(one: Mapping[str, Any]) -> str:
    secret = one["secret"]
    article = "" if secret["is_known"] else "an " if secret["name"][:1] in "AEOaeo" else "a "
    spelling = "" if secret["spelling"] == "as it is" else f", {secret['spelling']}"
    more = [str(line) for line in one["lines"][1:]]
    also = f"; also on {'line' if len(more) == 1 else 'lines'} {', '.join(more)}" if more else ""
    times = f", {one['count']} times in all" if one["count"] > len(one["lines"]) and one["count"] > 1 else ""
    which = f" [{secret['fingerprint']}]" if secret["fingerprint"] else ""
    return f"{article}{secret['name']} in clear{spelling}{which}{also}{times}"


def _exposed(one: Mapping[str, Any]) -> str:
    said = [_EXPOSED[name] for name in one["exposed"] if name != "group" or "others" not in one["exposed"]]
    return "; ".join(said)


_EXPOSED = {
    "group": "its group can read the file",
    "others": "every user of this machine can read the file",
    "tracked": "git tracks the file",
    "open": "git does not ignore the file, and would take it up",
    "copied": "chezmoi keeps a copy of it in clear",
    "history": "an earlier version that git keeps",
}


def _unseen(data: Mapping[str, Any]) -> Iterator[Line]:
    rows = sorted(data["not_looked_at"], key=lambda row: not row["matters"])
    for row in rows[:_MOST_UNSEEN]:
        yield sentence(f"not looked at: {row['what']}: {row['reason']}", "look" if row["matters"] else "dim")
    if len(rows) > _MOST_UNSEEN:
        yield Line(f"not looked at: {len(rows) - _MOST_UNSEEN} more; `--json` names them", "dim")


def _summary(data: Mapping[str, Any], leaks: int) -> Iterator[Line]:
    looked = data["looked_at"]
    known = ", ".join(dict.fromkeys(looked["known"])) or "no known key"
    scope = "what git is about to commit" if data["staged"] else f"{counted(looked['files'], 'text')}"
    found = f"{counted(leaks, 'leak')} found" if leaks else "no key in clear"
    text = f"{found} in {scope}; looked for {known}, and for keys of {looked['shapes']} shapes."
    yield sentence(text[0].upper() + text[1:], "bad" if leaks else "good", indent=0)
    ways = list(_ways(data["findings"]))
    if ways:
        listed = " and ".join(filter(None, (", ".join(ways[:-1]), ways[-1])))
        yield sentence(f"`toolsync check --fix` asks first, and then can {listed}.", indent=0)


def _ways(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What `--fix` can do, and to how much."""
    files = {fix: len({one["shown"] for one in findings if fix in one["fixes"]}) for fix in ("apply", "mode", "ignore")}
    if files["apply"]:
        yield f"let tools have the key of {counted(files['apply'], 'file')} another way"
    if files["mode"]:
        yield f"shut {counted(files['mode'], 'file')} to others"
    if files["ignore"]:
        yield f"have git ignore {counted(files['ignore'], 'file')}"
