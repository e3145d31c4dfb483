"""A bug's report: a masked traceback in the state folder, never on the terminal."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from pathlib import Path

from toolsync import __version__
from toolsync.masking import mask_key_shapes, masked


def report(error: BaseException, state: Path) -> str:
    """Write the report, 0600; a sentence that says where it is, or why there is none.

    The traceback has no values of variables; keys are masked all the same.
    """
    text = "".join(traceback.format_exception(error))
    head = f"toolsync {__version__}, Python {sys.version.split()[0]}, {platform.platform()}\n\n"
    content = masked(mask_key_shapes(head + text))
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix="crash-", suffix=".txt", dir=state)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(content)
    except OSError as failure:
        return f"no report could be written ({failure.strerror})"
    return f"the report is in {name}"
