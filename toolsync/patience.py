"""Windows refuses to rename or remove what another program has open: it is asked again for a moment."""

from __future__ import annotations

import time
from collections.abc import Callable

_BUSY_WINDOWS_ERRORS = (5, 32, 33)
"""Access denied, sharing and lock violation: an indexer, virus scanner or editor has the file open for a moment."""

_PATIENCE_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)


def patiently(action: Callable[[], None], *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Do `action`, again for about 2.5 s while Windows says that another program has the file open.

    Raises:
        OSError: the last one, or the first of another kind.
    """
    for seconds in _PATIENCE_SECONDS:
        try:
            return action()
        except OSError as error:
            if getattr(error, "winerror", None) not in _BUSY_WINDOWS_ERRORS:
                raise
        sleep(seconds)
    return action()
