"""A field for which a tool takes nothing of its file: in words, and where it stands."""

from __future__ import annotations

from toolsync.document import Document, KeyPath
from toolsync.sentence import Text, say
from toolsync.tool.breach import Breach


def wrong(breach: Breach, setting: Text, called: str) -> Text:
    """What is wrong with it; what stands there is not said: it may be a key.

    Args:
        breach: the field.
        setting: its path, for people.
        called: who takes no such thing.
    """
    if breach.is_missing:
        return say("field_missing", setting=setting)
    if breach.takes:
        return say("field_of_kind", setting=setting, takes=" | ".join(breach.takes))
    return say("field_otherwise", setting=setting, called=called)


def line_of(document: Document, path: KeyPath) -> int:
    """Where it stands; of what is missing, where that is which lacks it."""
    places = (document.position(path[:length]) for length in range(len(path), 0, -1))
    return next((place[0] for place in places if place is not None), 1)
