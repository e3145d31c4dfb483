"""The program: what must be quick is answered here, everything else by `toolsync.cli`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: this process's own); its exit code."""
    _hold_standard_descriptors()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        return _version()

    from toolsync import key_print  # after `--version`, which needs none of it

    request = key_print.requested(arguments)
    if request is not None:
        return key_print.run(request)

    from toolsync import cli  # typer alone costs six starts of the interpreter

    return cli.main(arguments)


def _hold_standard_descriptors() -> None:
    """Where the caller closed one, let no file or socket of ours get its number: what is printed would go into it."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # gets the lowest free number; writing to it fails, as it would have


def _version() -> int:
    from toolsync import __version__  # nothing else is imported on this way

    try:
        os.write(1, f"toolsync {__version__}\n".encode())
    except OSError:
        return 2  # nobody listens
    return 0


if __name__ == "__main__":
    sys.exit(main())
