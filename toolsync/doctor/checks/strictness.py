"""A file of which the tool takes nothing, for one field in it that is not as the tool wants it."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync.causes import Severity
from toolsync.doctor.checks.saying import at_line, slot, text, values
from toolsync.doctor.field import line_of, wrong
from toolsync.doctor.layers import Seen
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Finding, Fix, Where
from toolsync.document.keypath import spell
from toolsync.sentence import say
from toolsync.tool.breach import Breach
from toolsync.trace.credential import CREDENTIALS


def dropped(look: Look) -> Iterator[Finding]:
    """Each such file; by what other versions of the tool do, only one without which it would be lost."""
    for one in look.layers:
        if one.drop is not None and (one.state == "refused" or _is_needed(look, one)):
            yield _dropped(look, one, one.drop)


def _is_needed(look: Look, one: Seen) -> bool:
    answers = [answer for question, answer in look.raw.items() if question in (*CREDENTIALS, "base_url")]
    return any(answer.layer == one.layer.name for answer in answers)


def _dropped(look: Look, one: Seen, breach: Breach) -> Finding:
    line = line_of(one.document, breach.path) if one.document is not None else None
    where = Where(one.layer.name, spell(breach.path), one.file, line)
    at, setting = at_line(look, where), text(slot(look, where))
    is_sure = one.state == "refused"
    lines = [say("at", place=at, said=wrong(breach, setting, look.called))]
    lines.append(say("reads_nothing" if is_sure else "may_read_nothing", called=look.called))
    fix = Fix(say("write_field" if breach.is_missing else "mend_field", setting=setting, place=at))
    found = values(look, where, place=at)
    weight: Severity | None = "warning" if not is_sure or _is_spared(look, one) else None
    certainty: Certainty = "sure" if is_sure else "likely"
    return Finding("config_parse_error", certainty, tuple(lines), found, where, fix, weight=weight, is_own=True)


def _is_spared(look: Look, one: Seen) -> bool:
    """Whether the tool goes on without the file: a project's, where another says whom it asks."""
    base_url = look.found.get("base_url")
    return one.is_projects and base_url is not None and bool(base_url.layer)
