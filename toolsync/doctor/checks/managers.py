"""Other programs that manage the tool's files: CC Switch's local proxy, LiteLLM's `lite configure`."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync import disk
from toolsync.doctor.checks.saying import place, same, text, values
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Where
from toolsync.sentence import say
from toolsync.store import cc_switch_home
from toolsync.store.cc_switch_live import is_taken_over

_PLACEHOLDER = b"PROXY_MANAGED"
"""What the proxy leaves in a key's place; without the proxy's address beside it, a dummy like others."""


def takeover(look: Look) -> Iterator[Finding]:
    """A file that another program keeps for itself, and writes over."""
    yield from _cc_switch(look)
    yield from _cc_switch_row(look)
    yield from _litellm(look)


def _cc_switch(look: Look) -> Iterator[Finding]:
    for one in look.layers:
        raw = one.snapshot.raw if one.snapshot is not None else None
        if raw is None or one.state != "read" or not is_taken_over([raw.replace(_PLACEHOLDER, b"")]):
            continue
        where = look.effective.wheres.get("base_url")
        where = where if where is not None and where.file == one.file else Where(one.layer.name, "", one.file)
        shown = look.world.session.shown(one.file)
        lines = [say("taken_over", file=shown)]
        found = values(look, where, program="CC Switch")
        yield Finding("foreign_manager", "sure", tuple(lines), found, where)
        return


_APPS = {"claude-code": "claude", "codex": "codex"}
"""CC Switch's names of the tools whose files a click on one of its rows writes over."""


def _cc_switch_row(look: Look) -> Iterator[Finding]:
    """The file says what the chosen row says, and not what the profile wants: a click in CC Switch wrote it there."""
    app, want, used = _APPS.get(look.tool.name), look.wanted.get("base_url", ""), look.effective.base_url
    where = look.effective.wheres.get("base_url")
    if app is None or not want or where is None or not where.file or same("base_url", used, want):
        return
    places = look.world.session.places
    if not disk.exists(cc_switch_home.database(places)):
        return
    from toolsync.store.cc_switch_chosen import chosen  # SQLite, which nobody else needs here

    row = chosen(app, places)
    if row is None or used not in row[1] or is_taken_over([row[1].encode(), used.encode()]):
        return
    line = say("chosen_row", row=text(row[0]), place=place(look, where))
    yield Finding("foreign_manager", "sure", (line,), values(look, where, program="CC Switch"), where)


def _litellm(look: Look) -> Iterator[Finding]:
    """LiteLLM keeps a note of each tool that it set, and puts its own values back."""
    name = {"claude-code": "claude", "codex": "codex"}.get(look.tool.name)
    want, used = look.wanted.get("base_url", ""), look.effective.base_url
    where = look.effective.wheres.get("base_url")
    if name is None or not want or where is None or not where.file or same("base_url", used, want):
        return
    note = look.world.session.places.home / ".litellm" / f"{name}_profile.json"
    if disk.exists(note):
        line = say("set_by_litellm", note=look.world.session.shown(note), place=place(look, where))
        yield Finding("foreign_manager", "likely", (line,), values(look, where, program="LiteLLM"), where)
