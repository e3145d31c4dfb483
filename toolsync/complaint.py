"""What the operating system says, in plain words and with what to do."""

from __future__ import annotations

import errno

from toolsync.masking import printable


def in_words(error: OSError) -> tuple[str, str]:
    """What is wrong, as a sentence goes on after a file's name, and a hint, which may be empty."""
    return _PLAIN.get(error.errno or 0, (f"cannot be used ({printable(error.strerror or str(error))})", ""))


_PLAIN = {
    errno.EACCES: ("permission denied", "See who owns it and its folder (`ls -ld`)."),
    errno.EPERM: ("the operation is not permitted", "See its owner and its attributes (`ls -ld`, `lsattr`)."),
    errno.ENOENT: ("a folder on the way is gone", "Run the command again."),
    errno.EEXIST: ("something already stands there", "Move it away."),
    errno.ENOTDIR: ("a file stands where a folder should be", "Move that file away."),
    errno.EISDIR: ("is a folder, not a file", "Move it away, or point the tool elsewhere."),
    errno.ELOOP: ("its links lead in a circle", "Remove one of them."),
    errno.ENAMETOOLONG: ("the name is too long", "Use a shorter path."),
    errno.ENOSPC: ("the disk is full", "Free some space and run the command again."),
    errno.EDQUOT: ("your disk quota is used up", "Free some space and run the command again."),
    errno.EROFS: ("the file system is read-only", "Mount it writable, or leave this tool out."),
    errno.EIO: ("the disk reports a fault", "Look into the system's log; the disk may be failing."),
    errno.ENOLCK: (
        "the file system cannot lock files",
        "Put toolsync's state folder on a local disk (on Linux, XDG_STATE_HOME says where it is).",
    ),
    errno.EBUSY: ("another program has it in use", "End that program and run the command again."),
}
