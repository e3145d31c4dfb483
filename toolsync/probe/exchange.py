"""One request and what came of it, as it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from toolsync.causes import Certainty
from toolsync.sentence import Text, say
from toolsync.value import frozen

What = Literal[
    "models",
    "question",
    "stream",
    "deep",
    "other header",
    "no key",
    "own API",
    "other API",
    "other address",
    "plain headers",
    "other limit",
    "no proxy",
]
"""Why something was asked."""


@frozen
class Exchange:
    """One request and what came of it, free of keys.

    Attributes:
        what: why it was asked.
        method: `GET` or `POST`.
        url: fit to be shown.
        sent: the names of its headers.
        status: None where no answer came.
        content_type: as the answer says; may be empty.
        words: the answer's own explanation, or what kept it from coming.
        cause: a slug; "" where it went well.
        certainty: of the cause.
        also: causes that look the same.
        elapsed_ms: to the end of the answer.
        first_ms: to the first event of a stream, else None.
        headers_ms: to the headers of a stream, else None.
        silence_ms: the longest wait within a stream, from its headers on; else None.
        is_billable: whether it may have cost something.
        by: the row of `templates/answers/` that decided; "" where none did.
    """

    what: What
    method: str
    url: str
    sent: tuple[str, ...]
    status: int | None
    content_type: str
    words: Text
    cause: str
    certainty: Certainty
    also: tuple[str, ...]
    elapsed_ms: int
    first_ms: int | None = None
    headers_ms: int | None = None
    silence_ms: int | None = None
    is_billable: bool = False
    by: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether it was answered as it must be."""
        return self.status is not None and not self.cause and 200 <= self.status < 300  # noqa: PLR2004  HTTP's classes

    @property
    def line(self) -> Text:
        """The exchange as evidence."""
        asked: Text = f"{self.method} {self.url}"
        if self._besides:
            asked = say("asked_besides", asked=asked, what=self._besides)
        came = f"{self.status} {self.content_type}".strip() if self.status is not None else say("no_answer")
        if self.words:
            return say("answered_saying", asked=asked, came=came, words=self.words)
        return say("answered", asked=asked, came=came)

    @property
    def _besides(self) -> Text:
        if self.what == "other header":
            return say("with_other_header", headers=", ".join(name for name in KEY_HEADERS if name in self.sent))
        return _BESIDES.get(self.what, "")


KEY_HEADERS = ("authorization", "x-api-key", "api-key", "apikey")
"""Where gateways look for a key, the usual one first; Azure's is the third, Kong's the last."""

_BESIDES: Mapping[What, Text] = {
    "deep": say("as_coding_tool"),
    "no key": say("without_key"),
    "own API": say("with_empty_question"),
    "other API": say("by_other_api"),
    "other address": say("at_other_address"),
    "plain headers": say("without_own_headers"),
    "other limit": say("with_other_limit"),
    "no proxy": say("without_proxy"),
}
"""What was asked besides the tool's own request."""
