"""A child process stopped before and after each of its calls that may change the file system; there it can be killed.

Linux on x86-64 only (`ptrace`): the calls are those that the kernel sees, SQLite's among them. Threads and processes
that the child starts are not followed, and cannot write.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

_TRACEME, _CONTINUE, _SYSCALL, _SETOPTIONS, _SYSCALL_INFO = 0, 7, 24, 0x4200, 0x420E  # linux/ptrace.h
_MARK_SYSCALLS, _SECCOMP, _KILL_WITH_TRACER = 1, 1 << 7, 1 << 20
_BEFORE, _AFTER = signal.SIGTRAP | 7 << 8, signal.SIGTRAP | 0x80
"""How the child has stopped: where the filter below says so, and at the end of that call."""

_CALLS = {1: "write", 2: "open", 18: "pwrite64", 20: "writev", 74: "fsync", 75: "fdatasync", 76: "truncate",
          77: "ftruncate", 82: "rename", 83: "mkdir", 84: "rmdir", 85: "creat", 86: "link", 87: "unlink", 88: "symlink",
          90: "chmod", 91: "fchmod", 92: "chown", 93: "fchown", 94: "lchown", 188: "setxattr", 189: "lsetxattr",
          190: "fsetxattr", 197: "removexattr", 198: "lremovexattr", 199: "fremovexattr", 257: "openat", 258: "mkdirat",
          260: "fchownat", 263: "unlinkat", 264: "renameat", 265: "linkat", 266: "symlinkat", 268: "fchmodat",
          280: "utimensat", 316: "renameat2", 452: "fchmodat2"}  # fmt: skip  # as the kernel's table lists them
"""Of x86-64 (arch/x86/entry/syscalls/syscall_64.tbl)."""
_OPENING = {2: 1, 257: 2}
"""Those that change something only if their flags say so, and which argument these are."""
_OF_DESCRIPTORS = ("write", "writev")
_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_STOP, _PASS = 0x7FF00000, 0x7FFF0000  # linux/seccomp.h

Moment = Literal["before", "after"]
Order = Literal["go", "kill", "interrupt"]


@dataclass(frozen=True)
class Stop:
    """Where a child stands: before or after one of its calls."""

    call: str
    moment: Moment


class _Info(ctypes.Structure):
    """`struct ptrace_syscall_info`, as far as it is wanted: at an entry, number and arguments."""

    _fields_ = (
        ("kind", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 3),
        ("arch", ctypes.c_uint32),
        ("place", ctypes.c_uint64 * 2),
        ("number", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 6),
    )


@cache
def can_trace() -> bool:
    """Whether this system lets a process be traced so."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    try:
        return stops(Path("/").mkdir) == [Stop("mkdir", "before"), Stop("mkdir", "after")]
    except OSError:
        return False


def stops(action: Callable[[], object]) -> list[Stop]:
    """All the stops of a child that does `action`.

    Raises:
        OSError: it cannot be traced.
    """
    made: list[Stop] = []

    def noted(stop: Stop) -> Order:
        made.append(stop)
        return "go"

    followed(action, noted)
    return made


def followed(action: Callable[[], object], at: Callable[[Stop], Order]) -> int:
    """Do `action` in a child, and ask `at` what to do with it at each stop; its exit code, -9 where it was killed.

    Raises:
        OSError: it cannot be traced.
    """
    child = os.fork()
    if child == 0:
        _child(action)
    try:
        return _followed(child, at)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise


def _child(action: Callable[[], object]) -> None:
    try:
        _ptrace(_TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        _stop_at_changes()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
        action()
        os._exit(0)
    except BaseException:  # noqa: BLE001  a child of a test must not run on into pytest
        os._exit(1)


def _followed(child: int, at: Callable[[Stop], Order]) -> int:
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status):
        raise PermissionError("no process can be traced here")
    _ptrace(_SETOPTIONS, child, 0, _MARK_SYSCALLS | _SECCOMP | _KILL_WITH_TRACER)
    call, passed_on, way = "", 0, _CONTINUE
    while True:
        _ptrace(way, child, 0, passed_on)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        how, passed_on, way = status >> 8, 0, _CONTINUE
        if how == _BEFORE:
            call = _call(child)
            way = _SYSCALL if call else _CONTINUE
        elif how != _AFTER:
            passed_on = how & 0xFF
        if not call or how not in (_BEFORE, _AFTER):
            continue
        order = at(Stop(call, "before" if how == _BEFORE else "after"))
        if order == "interrupt":
            os.kill(child, signal.SIGINT)
        if order == "kill":  # where it stands: the call is not made
            os.kill(child, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _call(child: int) -> str:
    """Of a call that may change something; "" of any other."""
    info = _Info()
    _ptrace(_SYSCALL_INFO, child, ctypes.sizeof(info), ctypes.addressof(info))
    name = _CALLS[info.number]
    return "" if name in _OF_DESCRIPTORS and info.arguments[0] <= 2 else name  # what is shown, not written


def _stop_at_changes() -> None:
    """Have the kernel stop this process at the calls in question, and at no others: each stop takes its time."""
    program = _filter()
    code = (ctypes.c_char * len(program)).from_buffer_copy(program)
    wrapped = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    library = _library()
    if library.prctl(38, 1, 0, 0, 0) or library.prctl(22, 2, wrapped, 0, 0):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        raise OSError(ctypes.get_errno(), "no filter")


def _filter() -> bytes:
    """A program for the kernel (linux/filter.h): load the number; of opening calls, the flags; stop, or let pass."""
    load, equal, any_bit, give = 0x20, 0x15, 0x45, 0x06
    lines: list[tuple[int, int, int, int]] = [(load, 0, 0, 0)]
    for number, argument in _OPENING.items():
        flags = 16 + 8 * argument  # struct seccomp_data
        lines += [(equal, 0, 4, number), (load, 0, 0, flags), (any_bit, 0, 1, _CHANGES)]
        lines += [(give, 0, 0, _STOP), (give, 0, 0, _PASS)]
    for number in _CALLS.keys() - _OPENING.keys():
        lines += [(equal, 0, 1, number), (give, 0, 0, _STOP)]
    lines += [(give, 0, 0, _PASS)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def _ptrace(request: int, child: int, address: int = 0, data: int = 0) -> None:
    if _library().ptrace(request, child, ctypes.c_void_p(address), ctypes.c_void_p(data)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace.restype = ctypes.c_long
    library.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    return library
