"""One toolsync at a time writes; the lock ends with its process, however that ends."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from toolsync import directory, disk, own_file
from toolsync.errors import TransactionError

_PAUSE_SECONDS = 0.05
_LOCKED_BYTE = 1 << 30
"""Windows keeps others from reading what is locked: so a byte far behind the process number."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""Network file systems without a lock service, and some in user space."""


@contextmanager
def held(state_dir: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the lock of `state_dir`, whose folder is made if need be.

    Raises:
        TransactionError: another toolsync still holds it after `wait_seconds`.
        FileError: the lock file cannot be made.
    """
    directory.private_dir(state_dir)
    path = state_dir / "lock"
    descriptor = own_file.opened(path, os.O_RDWR | os.O_CREAT)
    try:
        _acquire(descriptor, path, wait_seconds)
        _sign(descriptor)
        yield
    finally:
        os.close(descriptor)  # which gives the lock back


def _acquire(descriptor: int, path: Path, wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while True:
        is_last = time.monotonic() >= deadline  # before it is tried: who was held up himself has waited for nobody
        if _tried(descriptor, path):
            return
        if is_last:
            raise TransactionError(
                f"another toolsync ({_holder(descriptor)}) is writing",
                hint="Wait until it has ended, or answer the question that it asks; then run this again.",
            )
        time.sleep(_PAUSE_SECONDS)


def _sign(descriptor: int) -> None:
    with suppress(OSError):  # a courtesy to whoever waits; on a full disk the lock holds as well
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    number = os.read(descriptor, 20).decode(errors="replace")
    return f"process {number}" if number.isascii() and number.isdigit() else "a process that just started"


def _tried(descriptor: int, path: Path) -> bool:
    try:
        _lock(descriptor)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        if error.errno in _NO_LOCKS:
            error.errno = errno.ENOLCK
        raise disk.file_error(path, error) from error
    return True


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
