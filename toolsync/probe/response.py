"""An answer of HTTP's, as far as it was read."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Mapping
from functools import cached_property

from toolsync.value import frozen


@frozen
class Response:
    """An answer, read to its end or to the limit.

    Attributes:
        headers: by name in lower case.
        elapsed_ms: from the start of the connection to the end of the answer.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    elapsed_ms: int

    @cached_property
    def json(self) -> object:
        """The body as data; None if it is no JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @cached_property
    def skew_seconds(self) -> float | None:
        """By how much this machine's clock is ahead of the sender's; None where its `Date` (RFC 9110) says nothing."""
        try:
            then = email.utils.parsedate_to_datetime(self.headers["date"])
        except (KeyError, ValueError, TypeError):
            return None
        return time.time() - then.timestamp()

    @property
    def text(self) -> str:
        """The body as text, whatever it is."""
        return self.body.decode(errors="replace")
