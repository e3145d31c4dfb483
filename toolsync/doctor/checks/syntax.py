"""What the tool cannot read of its files, or reads otherwise than people do."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolsync.causes import Severity
from toolsync.doctor.checks.saying import at_line, text, typed, values
from toolsync.doctor.checks.saying import slot as shown_slot
from toolsync.doctor.layers import Seen
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Finding, Fix, Where
from toolsync.document import MISSING, Document, KeyPath, parse_path
from toolsync.document.keypath import spell
from toolsync.errors import DocumentError
from toolsync.masking import on_one_line
from toolsync.sentence import Text, reported, say
from toolsync.trace import lacking, path_of
from toolsync.trace import refused as refused_of


def syntax(look: Look) -> Iterator[Finding]:
    """Files that cannot be opened or parsed, or that the tool is too strict for: nothing in them counts."""
    for one in _read(look):
        if one.state == "shut" and one.error is not None:
            found = _finding(look, one, "config_parse_error", reported(one.error.message))
            yield replace(found, fix=_opened(look, one))
        elif one.breach:
            yield _breached(look, one)
        elif one.state == "broken" and isinstance(one.error, DocumentError):
            yield _broken(look, one, one.error)
        elif one.state == "refused" and one.document is not None and one.document.fault is not None:
            fault = one.document.fault
            is_bom = one.document.text.startswith("\ufeff") and (fault.line, fault.column) == (1, 1)
            cause = "config_bom" if is_bom else "config_json_not_strict"
            yield _finding(look, one, cause, _heard(fault.reason), line=fault.line, column=fault.column)
        elif one.state == "read" and one.document is not None and not isinstance(one.document.data, Mapping):
            yield _finding(look, one, "config_parse_error", say("no_table"), line=1)


def _read(look: Look) -> list[Seen]:
    """The layers that its program reads; one that its user does not trust may hold anything (Codex 0.171.0)."""
    return [one for one in look.layers if not one.layer.is_unmet]


def _opened(look: Look, one: Seen) -> Fix | None:
    """What lets the user read the file: a new owner, where `sudo` has left it to another one."""
    if one.path is None or one.layer.is_managed or sys.platform == "win32" or os.access(one.path, os.R_OK):
        return None
    try:
        is_own = one.path.stat().st_uid == os.getuid()
    except OSError:  # its folder is shut
        return None
    command = "chmod u+rw" if is_own else 'sudo chown "$(id -un)"'
    return Fix(f"{command} {typed(look, one.path)}")


def _broken(look: Look, one: Seen, error: DocumentError) -> Finding:
    cause = "config_parse_error"
    if "defined twice" in error.reason or "declared twice" in error.reason:
        cause = "config_duplicate_key"
    return _finding(look, one, cause, _heard(error.reason), line=error.line, column=error.column)


def _breached(look: Look, one: Seen) -> Finding:
    """One field that the tool does not take, and the whole file counts as empty: it may be written anew."""
    shown = look.world.session.shown(one.file)
    lines = (say("at", place=shown, said=one.breach), say("reads_nothing", called=look.called))
    where = Where(one.layer.name, "", one.file)
    return Finding("config_parse_error", "sure", lines, values(look, where, place=shown), where)


def refused(look: Look) -> Iterator[Finding]:
    """A setting with which the tool does not start, as one that its newer releases took out."""
    for one in _read(look):
        if one.state == "read" and one.document is not None:
            yield from (_refused(look, one, path) for path in refused_of(one.layer, one.document.data))
            lacks = [path for path in lacking(one.layer, one.document.data) if not _is_elsewhere(look, one, path)]
            yield from (_lacking(look, one, path) for path in lacks)


def _refused(look: Look, one: Seen, path: KeyPath) -> Finding:
    line, _ = (one.document.position(path) if one.document else None) or (None, None)
    where = Where(one.layer.name, spell(path), one.file, line)
    at = at_line(look, where)
    shown = text(shown_slot(look, where))
    said = say("refused_setting", called=look.called, setting=shown, place=at)
    fix = Fix(say("delete_setting", setting=shown, place=at))
    return Finding("config_parse_error", "sure", (said,), values(look, where, place=at), where, fix=fix)


def _is_elsewhere(look: Look, one: Seen, path: KeyPath) -> bool:
    """Whether another layer has the setting, which is put together with this one's table."""
    others = (other.document.get(path) for other in look.layers if other is not one and other.document is not None)
    return any(value not in (MISSING, "") for value in others)


def _lacking(look: Look, one: Seen, path: KeyPath) -> Finding:
    line, _ = (one.document.position(path[:-1]) if one.document else None) or (None, None)
    where = Where(one.layer.name, spell(path[:-1]), one.file, line)
    at = at_line(look, where)
    setting = text(shown_slot(look, replace(where, slot=spell(path))))
    said = say("lacking_setting", called=look.called, setting=setting, place=at)
    fix = Fix(say("add_setting", setting=setting, place=at))
    return Finding("config_parse_error", "sure", (said,), values(look, where, place=at), where, fix=fix)


def duplicates(look: Look) -> Iterator[Finding]:
    """A key that stands twice in JSON, with two values, where the tool looks: it takes the last, people the first."""
    for one in _read(look):
        if one.state != "read" or one.document is None or not one.document.format.startswith("json"):
            continue
        asked = {answer.path for answer in look.raw.values() if answer.layer == one.layer.name}
        for path in _doubled(one.document):
            if path in asked:
                line, _ = one.document.position(path) or (None, None)
                text = say("key_twice")
                yield _finding(look, one, "config_duplicate_key", text, line=line, certainty="likely")
        yield from _covered(look, one, one.document)


def _covered(look: Look, one: Seen, document: Document) -> Iterator[Finding]:
    """A whole table that stands twice: what the tool looks for lies in the first, and only the last one counts."""
    mount = parse_path(one.layer.at) if one.layer.at else ()
    slots = [slot for asked in look.reader.questions.values() for slot in asked if slot.kind == "path"]
    sought = {path_of(slot, look.raw) for slot in slots}
    for path, _ in document.leaves():
        if (*mount, *path) in sought and document.get(path) is MISSING:
            second = next((at for end in range(len(path), 0, -1) if (at := document.position(path[:end]))), (1, 1))
            yield _finding(look, one, "config_duplicate_key", say("table_twice"), line=second[0])
            return


def _doubled(document: Document) -> Iterator[KeyPath]:
    spelled: dict[KeyPath, set[str]] = {}
    count: Counter[KeyPath] = Counter()
    for path, (start, end) in document.leaves():
        spelled.setdefault(path, set()).add(document.text[start:end])
        count[path] += 1
    yield from (path for path, texts in spelled.items() if count[path] > 1 and len(texts) > 1)


def _heard(reason: str) -> Text:
    """What the parser says."""
    return reported(on_one_line(reason, limit=300))


def _finding(  # noqa: PLR0913  a finding has as many parts
    look: Look,
    one: Seen,
    cause: str,
    reason: Text,
    *,
    line: int | None = None,
    column: int | None = None,
    certainty: Certainty = "sure",
) -> Finding:
    where = Where(one.layer.name, "", one.file, line)
    shown = look.world.session.shown(one.file)
    at = ":".join(str(part) for part in (shown, line, column) if part is not None)
    evidence = [say("at", place=at, said=reason) if cause != "config_parse_error" or line else reason]
    if line is not None and one.state != "read":
        evidence.append(say("reads_nothing", called=look.called))
    is_dropped = one.state != "read" or cause == "config_parse_error"
    weight: Severity | None = "warning" if is_dropped and _is_spared(look, one) else None
    return Finding(cause, certainty, tuple(evidence), values(look, where, place=at), where, weight=weight)


def _is_spared(look: Look, one: Seen) -> bool:
    """Whether the tool goes on without the file: a project's, where another says whom it asks (Claude Code 2.1.112)."""
    base_url = look.found.get("base_url")
    is_asked_elsewhere = base_url is not None and bool(base_url.layer)
    return one.is_projects and one.layer.format.startswith("json") and is_asked_elsewhere
