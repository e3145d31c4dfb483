"""What is in a compressed file: one text, or those of an archive one by one; nothing of it is ever on disk."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib import import_module
from typing import IO

from toolsync.value import frozen

PACKED = "it is compressed"
DAMAGED = f"{PACKED}, and damaged"

_MOST_MEMBERS = 5_000
"""Of one archive."""

_STREAMS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma"}
"""How files begin that are one text, compressed, and the module that reads them."""

_ZIP = b"PK\x03\x04"

_UNREAD = (b"(\xb5/\xfd", b"7z\xbc\xaf'\x1c", b"Rar!\x1a\x07", b'\x04"M\x18')
"""Zstandard, 7z, RAR and LZ4: nothing reads them here."""

_LONGEST = max(map(len, (*_STREAMS, _ZIP, *_UNREAD)))


@frozen
class Part:
    """A text in a file.

    Attributes:
        name: what an archive calls it; "" for the file's own.
        file: its bytes; None where they cannot be had.
        reason: why they cannot.
    """

    name: str
    file: IO[bytes] | None
    reason: str = ""


def is_packed(file: IO[bytes]) -> bool:
    """Whether it is compressed, or an archive; nothing is read by that."""
    return _head(file).startswith((*_STREAMS, _ZIP, *_UNREAD))


def parts(file: IO[bytes], *, is_within: bool = False) -> Iterator[Part]:
    """The texts in a file: its own, where it is not compressed.

    Args:
        file: at its beginning; one that can go back.
        is_within: whether it lies in an archive itself: archives in it are not opened.

    Raises:
        OSError: it is compressed in a way that nothing here reads, or damaged.
    """
    head = _head(file)
    module = next((module for magic, module in _STREAMS.items() if head.startswith(magic)), None)
    if module is not None:
        yield Part("", _unpacked(file, module))
    elif head.startswith(_ZIP) and not is_within:
        yield from _members(file)
    elif head.startswith((_ZIP, *_UNREAD)):
        raise OSError(PACKED)
    else:
        yield Part("", file)


def _head(file: IO[bytes]) -> bytes:
    first = file.read(_LONGEST)
    file.seek(0)
    return first


def _unpacked(file: IO[bytes], module: str) -> IO[bytes]:
    try:
        opened: IO[bytes] = import_module(module).open(file)
    except (ImportError, ValueError) as error:  # this Python was built without what reads it
        raise OSError(PACKED) from error
    return opened


def _members(file: IO[bytes]) -> Iterator[Part]:
    try:
        archive = zipfile.ZipFile(file)
        members = [one for one in archive.infolist() if not one.is_dir()]
    except Exception as error:  # what `zipfile` raises of a torn one is not all its own
        raise OSError(DAMAGED) from error
    for member in members[:_MOST_MEMBERS]:
        try:
            with archive.open(member) as opened:
                yield from (Part(member.filename, part.file) for part in parts(opened, is_within=True))
        except OSError as error:
            yield Part(member.filename, None, str(error) if error.errno is None else DAMAGED)
        except Exception:  # noqa: BLE001  shut with a password, packed in a rare way, torn
            yield Part(member.filename, None, "it is shut with a password" if member.flag_bits & 1 else DAMAGED)
    if len(members) > _MOST_MEMBERS:
        yield Part("", None, f"only its first {_MOST_MEMBERS:,} files")
