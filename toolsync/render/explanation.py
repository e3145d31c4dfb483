"""A cause for people: as a page of its own, and as a line in the list of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from toolsync import causes
from toolsync.render.screen import Line, sentence
from toolsync.render.tables import columns


def explanation_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """What `explain` says: one cause whole, or the slugs of all with their titles, by group."""
    words = causes.words(data["language"])
    if data["cause"] is not None:
        yield from _page(data["causes"][0], words["labels"])
        return
    for group, members in groupby(data["causes"], key=lambda cause: cause["group"]):
        yield Line(words["groups"][group], "place")
        yield from columns([("", cause["slug"], cause["title"]) for cause in members])
        yield Line("")


def _page(cause: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[Line]:
    yield Line(f"{cause['slug']}: {cause['title']} ({labels[cause['severity']]})", "place")
    yield Line("")
    yield sentence(cause["meaning"], indent=0)
    for label in ("evidence", "remedy"):
        yield Line("")
        yield Line(labels[label], "dim")
        yield sentence(f"  {cause[label]}", indent=2)
    if cause["explains"]:
        yield Line("")
        yield Line(labels["explains"], "dim")
        shown = cause["explains"][:_MOST_SHOWN]
        yield Line(f"  {', '.join(shown)}{' …' if len(shown) < len(cause['explains']) else ''}")


_MOST_SHOWN = 8
"""Where another setting wins, it may look like nearly anything."""
