"""An answer of HTTP's, as far as it was read."""

from __future__ import annotations

import json
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

    @property
    def text(self) -> str:
        """The body as text, whatever it is."""
        return self.body.decode(errors="replace")
