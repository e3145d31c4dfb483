"""Further headers as the settings of tools state them, and those among them that carry a key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

CREDENTIAL_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
"""The headers in which gateways look for a key, in lower case."""


def stated(text: str) -> Iterator[tuple[str, str]]:
    """Name, as it is spelled, and value of each header: from a table (as JSON), or from lines of `Name: value`."""
    try:
        table = json.loads(text) if text.lstrip().startswith("{") else None
    except ValueError:
        table = None
    if isinstance(table, dict):
        yield from ((str(name), str(value)) for name, value in table.items() if str(name).strip())
        return
    for line in re.split(r"\r\n|\n|\\n", text):
        name, colon, value = line.partition(":")
        if colon and name.strip():
            yield name.strip(), value.strip()
