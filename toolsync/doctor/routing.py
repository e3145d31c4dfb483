"""Headers by which a request goes astray: whoever stands behind an address may pass it on; or nobody can send it."""

from __future__ import annotations

import re
from urllib.parse import unquote

_NAMES = (
    r"host|target|upstream|forward|endpoint|proxy|backend|destination|authority|rewrite|redirect|ur[il]$"
    r"|(?<![a-z])(?:ur[il]|route)(?![a-z])|api[-_]?base$"
    r"|^(?:connection|content-length|te|trailer|transfer-encoding|upgrade)$"
)
"""`Host` and `Connection` (RFC 9110), `X-Original-URL`, Portkey's `x-portkey-custom-host`, Helicone's
`Helicone-Target-Url`: each router has its own, so that they are known by how people name such a thing."""

_OF_SENDER = frozenset({"http-referer", "origin", "referer", "user-agent"})
"""Headers that name who asks; OpenRouter and others want an address there."""


def is_routing(name: str, value: str) -> bool:
    """Whether a header may say whom a request is for.

    Args:
        name: in lower case.
        value: what it says; an address in it is somebody's.
    """
    if name in _OF_SENDER:
        return False
    return re.search(_NAMES, name) is not None or "://" in unquote(value)


def is_fit(name: str, value: str) -> bool:
    """Whether a header can be sent as it stands (RFC 9110); what is no ASCII, programs send each in their own way.

    Args:
        name: as it is spelled.
        value: what it says.
    """
    return (
        re.fullmatch(r"[!#$%&'*+.^`|~\w-]+", name, re.ASCII) is not None
        and re.fullmatch(r"[\t -~]*", value) is not None
    )
