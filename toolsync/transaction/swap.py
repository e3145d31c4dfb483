"""Renames that Python has no word for: two names swapped in one instant, and one that replaces nothing.

A plain rename over a file destroys whatever another program put there since it was last looked at. A swap destroys
nothing: what was there comes out, can be looked at, and can go back. Linux (`renameat2`, glibc 2.28) has both; where
they are not to be had, the callers rename plainly.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache

_NOREPLACE, _EXCHANGE = 1, 2  # linux/fs.h

_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""The file system, or the kernel, has no such rename."""


def exchange(folder: int, one: str, other: str) -> bool:
    """Swap two entries of a folder; False where that cannot be had, and nothing was done.

    Args:
        folder: its descriptor.
        one: a name in it.
        other: another.

    Raises:
        OSError: one of them is not there, or may not be renamed.
    """
    return _renamed(folder, one, other, _EXCHANGE)


def place(folder: int, source: str, target: str) -> bool:
    """Rename `source` to `target`, where nothing may stand; False where that cannot be had, and nothing was done.

    Raises:
        FileExistsError: something stands there.
        OSError: it may not be renamed.
    """
    return _renamed(folder, source, target, _NOREPLACE)


def _renamed(folder: int, one: str, other: str, flags: int) -> bool:
    call = _call()
    if call is None:
        return False
    number = call(folder, os.fsencode(one), folder, os.fsencode(other), flags)
    if number in _UNKNOWN:
        return False
    if number:
        raise OSError(number, os.strerror(number), other)
    return True


@cache
def _call() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """`renameat2` that returns its error number; None where the system has none."""
    try:
        import ctypes

        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, OSError, TypeError, AttributeError):  # no ctypes, no such library (Windows), no such call
        return None
    renameat2.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def called(*arguments: int | bytes) -> int:
        return ctypes.get_errno() if renameat2(*arguments) else 0

    return called
