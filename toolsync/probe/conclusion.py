"""What asking a gateway amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from toolsync.causes import Certainty
from toolsync.probe.exchange import Exchange
from toolsync.sentence import Text, say
from toolsync.value import frozen

ENOUGH = say("asked_enough")
"""Why nobody can tell where no more may be asked."""


@frozen
class Inquiry:
    """What asking amounts to.

    Attributes:
        exchanges: in order.
        cause: a slug; "" where the tool's own request is answered as it must be, or nobody can tell.
        certainty: `open` where nobody can tell.
        values: what fills the cause's sentences: `model`, `near`, `address`, `header`, `api` …; `apart` where the
            address is that of one dialect alone.
        notes: further causes that do not keep it from working, with their certainty and one line.
        skew_seconds: by how much this machine's clock is ahead of the gateway's; None where it does not say.
        models: the models that it lists.
        said: why nobody can tell: nothing more was asked, or everybody is refused alike.
    """

    exchanges: tuple[Exchange, ...] = ()
    cause: str = ""
    certainty: Certainty = "sure"
    values: Mapping[str, Text] = field(default_factory=dict)
    notes: tuple[tuple[str, Certainty, Text], ...] = ()
    skew_seconds: float | None = None
    models: tuple[str, ...] = ()
    said: Text = ""
