"""A file plan as a unified diff that gives no secret away."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence

from toolsync import document as documents
from toolsync.document import MISSING, Document, KeyPath, Missing, Value, equal
from toolsync.document.data import get, index_of
from toolsync.document.keypath import parse as parse_path
from toolsync.excerpt import Excerpt, difference, line_count
from toolsync.masking import (
    fingerprint,
    holds_key_shape,
    is_reference,
    looks_secret,
    mask_credentials,
    mask_key_shapes,
    masked,
    masked_data,
)
from toolsync.overlay import Edit
from toolsync.pattern import late
from toolsync.plan import Change, FilePlan
from toolsync.remembered import Remembered


def unified(plan: FilePlan, name: str, key: bytes, *, context: int = 3) -> list[str]:
    """The lines of the diff, without line ends; empty when nothing changes.

    Args:
        plan: the file plan.
        name: what the file is called in the header.
        key: this machine's hash key, so that two secrets can be told apart by their fingerprints.
        context: how many unchanged lines surround a change.
    """
    if plan.before == plan.after:
        return []
    texts = [plan.before or "", plan.after or ""]
    both = [documents.parse(text.encode(), plan.format) for text in texts]
    part = difference(texts[0], texts[1], context + _MORE)
    before, after = (_lines(document, plan, key, part) for document in both)
    old = name if plan.before is not None else "/dev/null"
    new = name if plan.after is not None else "/dev/null"
    diff = difflib.unified_diff(before, after, old, new, n=context, lineterm="")
    above = line_count(texts[0][: part.start])
    return [masked(mask_credentials(mask_key_shapes(_numbered(line, above)))) for line in diff]


_MORE = 100
"""Lines around what differs: of a block that is like its neighbours, `difflib` may take another one for the new one."""


def _numbered(line: str, above: int) -> str:
    """A line of the diff of an excerpt, with the numbers of the whole text if it is one that has any."""
    hunk = re.fullmatch(r"@@ -(\d+)(.*) \+(\d+)(.*) @@", line)
    return f"@@ -{int(hunk[1]) + above}{hunk[2]} +{int(hunk[3]) + above}{hunk[4]} @@" if hunk else line


def shown_value(change: Change, value: Value | Missing, key: bytes, *, is_ours: bool) -> Value | None:
    """The value as data that may be shown: None for nothing, a fingerprint for a secret.

    Args:
        change: what it belongs to.
        value: before or after.
        key: this machine's hash key.
        is_ours: whether the value is ours and gives no key away.
    """
    if value is MISSING:
        return None
    text = _text(value)
    is_open = is_ours or not text or not change.secret or is_reference(text)
    if not is_open or holds_key_shape(text):
        return f"***{fingerprint(text, key)}***"
    data = json.loads(json.dumps(value, default=str))
    return masked_data(_veiled(data, data, (), key))


def _text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _veiled(value: Value, data: Value, path: KeyPath, key: bytes) -> Value:
    """The value at `path` of `data`, with what stands there under a name of secrets as fingerprints."""
    if isinstance(value, dict):
        return {name: _veiled(child, data, (*path, name), key) for name, child in value.items()}
    if isinstance(value, list):
        return [_veiled(child, data, (*path, index), key) for index, child in enumerate(value)]
    is_secret = isinstance(value, str) and value and not is_reference(value) and _names_secret(path, data)
    return f"***{fingerprint(value, key)}***" if is_secret else value


def _lines(document: Document, plan: FilePlan, key: bytes, part: Excerpt) -> list[str]:
    start, end = part.of(document.text)
    shown = _shown(document, plan, key, start, end).removeprefix("\ufeff")
    lines = [_without_old_settings(line) for line in re.split(r"\r\n|\n|\r", shown)]
    if lines[-1] == "":
        return lines[:-1]
    if plan.container or part.tail:  # a part of a container ends where its owner ends it
        return lines
    return [*lines[:-1], f"{lines[-1]}\n\\ No newline at end of file"]


_COMMENT = late(r"(?<!:)//|#|/\*|^\s*\*")
_SETTING = late(r"""(?P<name>[\w.-]+)(?P<sign>["']?\s*[:=]\s*)(?P<value>"[^"]+"|'[^']+'|(?=\S*\d)[^\s"',;]{8,})""")


def _without_old_settings(line: str) -> str:
    """The line without the secrets of settings that somebody turned into a comment."""
    mark = _COMMENT.search(line)
    if mark is None:
        return line
    return line[: mark.end()] + _SETTING.sub(_without_value, line[mark.end() :])


def _without_value(match: re.Match[str]) -> str:
    bare = match["value"].strip("\"'")
    is_open = is_reference(bare) or bare.startswith("***") or not looks_secret(match["name"])
    return match[0] if is_open else f'{match["name"]}{match["sign"]}"***"'


def _shown(document: Document, plan: FilePlan, key: bytes, start: int, end: int) -> str:
    """The text between two offsets, with every secret value that stands there, be it in part, as its fingerprint."""
    secrets = list(_secret_paths(document, plan))
    text, at = "", start
    for path, span in document.leaves(start, end):
        value = _leaf(document, path, span)
        if _is_secret(path, value, document, secrets, plan):
            text += document.text[at : span[0]] + f'"***{fingerprint(_text(value), key)}***"'
            at = span[1]
    return text + document.text[at:end]


def _leaf(document: Document, path: KeyPath, span: tuple[int, int]) -> Value:
    """What stands there; of a duplicate that does not count its source, for the data do not know it."""
    return get(document.data, path) if document.span(path) == span else document.text[span[0] : span[1]]


def _secret_paths(document: Document, plan: FilePlan) -> Iterator[KeyPath]:
    wanted = {change.path for change in plan.changes if change.secret}
    wanted |= {edit.path for edit in _edits(plan) if edit.secret}
    wanted |= {parse_path(value.path) for value in _remembered(plan) if value.secret}
    for path in wanted:
        indexed = _indexed(document.data, path)
        if indexed is not None:
            yield indexed


def _remembered(plan: FilePlan) -> Iterator[Remembered]:
    for memory in (plan.remembered, plan.memory):
        for layer in memory.layers if memory else ():
            yield from layer.values


def _edits(plan: FilePlan) -> Iterator[Edit]:
    for edits in plan.edits.values():
        yield from edits


def _indexed(data: Value, path: KeyPath) -> KeyPath | None:
    """The path with list items named by position, as `leaves` names them; None if nothing stands there."""
    steps: list[str | int] = []
    for position, step in enumerate(path):
        if isinstance(step, str):
            steps.append(step)
            continue
        items = get(data, path[:position])
        index = index_of(items, step) if isinstance(items, list) else None
        if index is None:
            return None
        steps.append(index)
    return tuple(steps)


def _is_secret(path: KeyPath, value: Value, document: Document, secrets: Sequence[KeyPath], plan: FilePlan) -> bool:
    if value in (None, "", '""', "''") or isinstance(value, bool) or is_reference(_text(value)):
        return False
    if any(path[: len(secret)] == secret for secret in secrets):
        return not _is_shown_value(path, value, document, plan)
    if isinstance(value, str) and holds_key_shape(value):
        return True
    return isinstance(value, str | int) and _names_secret(path, document.data) and not _is_harmless(path, value)


_COUNTS = late(r"(?i)tokens|(count|limit|usage|ms|seconds)$")


def _is_harmless(path: KeyPath, value: Value) -> bool:
    """Whether the name speaks of tokens otherwise: of how many there are, or of where they come from."""
    name = path[-1] if isinstance(path[-1], str) else ""
    return bool(_COUNTS.search(name)) if isinstance(value, int) else name.lower().endswith("source")


def _names_secret(path: KeyPath, data: Value) -> bool:
    if any(isinstance(step, str) and looks_secret(step) for step in path):
        return True
    item = get(data, path[:-1])
    if path[-1:] != ("value",) or not isinstance(item, dict):
        return False
    return any(isinstance(name := item.get(key), str) and looks_secret(name) for key in ("name", "key", "header"))


def _is_shown_value(path: KeyPath, value: Value, document: Document, plan: FilePlan) -> bool:
    """Whether the value at a secret path is ours, and harmless: a command that prints the key, a variable's name."""
    wanted = [(edit.path, edit.value) for edit in _edits(plan) if edit.harmless]
    for at, whole in [*wanted, *plan.open.items()]:
        indexed = _indexed(document.data, at)
        if indexed is not None and path[: len(indexed)] == indexed:
            ours = get(whole, path[len(indexed) :])
            if ours is not MISSING and equal(ours, value):
                return True
    return False
