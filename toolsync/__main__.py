"""The program: what must be quick is answered here, everything else by `toolsync.cli`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence

TYPE_CHECKING = False  # `typing` takes as long as all that is needed for `--version`, and Ctrl-C in it is not ours yet
if TYPE_CHECKING:
    from typing import Any

_INTERRUPTED = 130
_BETWEEN_COLLECTIONS = 200_000
"""How many objects are made before the garbage collector looks for cycles; the interpreter's 700 are for programs that
live on, and cost one start of the interpreter at each start of this one."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: this process's own); its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        gc.set_threshold(_BETWEEN_COLLECTIONS)
    usual = sys.unraisablehook
    sys.unraisablehook = lambda what: _not_lost(usual, what)
    try:
        code = _run(arguments)
    except KeyboardInterrupt:  # pressed before `cli.main` could heed it, or while it did
        code = _interrupted(arguments)
    finally:
        sys.unraisablehook = usual
    if code == _INTERRUPTED:
        exec("")  # noqa: S102  else the interpreter, which saw Ctrl-C in a text that it ran, would kill itself at the end
    if argv is None:
        gc.freeze()  # the process ends: nobody needs the memory of what is left
    return code


def _run(arguments: Sequence[str]) -> int:
    _hold_standard_descriptors()
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


def _not_lost(usual: Callable[[Any], Any], what: Any) -> None:
    """Ctrl-C in a destructor or a callback of the interpreter's, which would go on as if nothing had been pressed."""
    if what.exc_type is not KeyboardInterrupt:
        usual(what)
        return
    from _thread import interrupt_main
    from threading import Timer

    again = Timer(0.01, interrupt_main)  # in here it would be lost as well
    again.daemon = True
    again.start()


def _interrupted(arguments: Sequence[str]) -> int:
    """Say it with what is there already; `cli` may be half imported."""
    text = "interrupted; nothing more was done"
    number, said = 2, f"error: {text}\n"
    if "--json" in arguments:
        from json import dumps

        error = {"type": "InterruptedRunError", "message": text, "hint": ""}
        envelope = {"schema": "toolsync/envelope/1", "command": "toolsync", "exit_code": _INTERRUPTED, "data": None}
        number, said = 1, dumps({**envelope, "messages": [], "errors": [error]}, indent=2) + "\n"
    return _put(number, said, _INTERRUPTED)


def _version() -> int:
    from toolsync import __version__  # nothing else is imported on this way

    return _put(1, f"toolsync {__version__}\n", 0)


def _put(number: int, text: str, exit_code: int) -> int:
    """Write the text to a descriptor; the exit code, 2 where nobody listens to a version."""
    try:
        os.write(number, text.encode())
    except OSError:
        return exit_code or 2
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
