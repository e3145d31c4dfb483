"""A program that names no model: it asks for one that its maker chose, and doctor asks with another."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync.doctor.checks.saying import place, text, values
from toolsync.doctor.command import spelled
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding
from toolsync.doctor.probed import Probed
from toolsync.sentence import say


def untried(look: Look, probed: Probed | None) -> Iterator[Finding]:
    """That nobody knows whether the gateway has its model, where it answered to another: by each version it changes.

    Args:
        look: the program.
        probed: what asking came to; None where nobody was asked.
    """
    base = look.found.get("base_url")
    if look.effective.model or "model" not in look.found or base is None or not base.layer or not _is_answered(probed):
        return
    named, where = look.raw["model"], look.where(base)
    if named.value:
        where = look.where(named)
        lines = [say("model_of_alias", place=place(look, where), called=look.called, model=text(named.value))]
    else:
        lines = [say("model_of_its_own", place=place(look, where), called=look.called)]
    if any(client.reader == look.reader.name for client in look.tool.clients):
        lines.append(say("asks_itself", command=spelled(("doctor", look.tool.name, "--client")), called=look.called))
    found = values(look, where)
    yield Finding("config_incomplete", "sure", tuple(lines), found, where, question="model", weight="info")


def _is_answered(probed: Probed | None) -> bool:
    inquiry = probed.inquiry if probed is not None else None
    return inquiry is not None and not inquiry.cause and any(one.is_billable and one.is_ok for one in inquiry.exchanges)
