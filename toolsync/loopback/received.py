"""One request as it arrived, its credentials taken out of the headers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from toolsync.masking import Secret
from toolsync.value import frozen

_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")


@frozen
class Received:
    """A request.

    Attributes:
        method: `GET`, `POST` …
        path: decoded, without the query.
        query: without the question mark.
        headers: by name in lower case; a credential reads `***`.
        credentials: the keys that came, by the header that carried them; `Bearer ` is not part of one.
        body: as it came.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    credentials: Mapping[str, Secret]
    body: bytes

    @cached_property
    def json(self) -> dict[str, Any] | None:
        """The body, if it is a JSON object."""
        try:
            data = json.loads(self.body)
        except ValueError:
            return None
        return data if isinstance(data, dict) else None

    @property
    def model(self) -> str | None:
        """The model that it asks, if it asks one."""
        model = (self.json or {}).get("model")
        return model if isinstance(model, str) else None


def received(method: str, path: str, query: str, headers: Mapping[str, str], body: bytes) -> Received:
    """The request with its credentials apart; the names of `headers` are in lower case."""
    carried = {name: headers[name] for name in _CREDENTIALS if headers.get(name)}
    return Received(
        method=method,
        path=path,
        query=query,
        headers={name: "***" if name in carried else value for name, value in headers.items()},
        credentials={name: Secret(_key(value)) for name, value in carried.items()},
        body=body,
    )


def _key(value: str) -> str:
    scheme, _, rest = value.partition(" ")
    return rest if scheme.lower() == "bearer" else value
