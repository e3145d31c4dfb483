"""Settings files that are edited by span, never re-serialised.

`parse` is the door: bytes and a format's name in, a `Document` out.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath

from toolsync.document.base import Document, Fault, Source, place
from toolsync.document.data import MISSING, Missing, Value, equal
from toolsync.document.keypath import Item, KeyPath, Step
from toolsync.document.keypath import parse as parse_path
from toolsync.document.splice import Splice
from toolsync.errors import DocumentError, TemplateError

__all__ = [
    "MISSING",
    "Document",
    "Fault",
    "Item",
    "KeyPath",
    "Missing",
    "Source",
    "Splice",
    "Step",
    "Value",
    "decoded",
    "equal",
    "format_of",
    "parse",
    "parse_path",
]

_FORMATS = {
    "dotenv": ("toolsync.document.dotenv", "DotenvDocument"),
    "dotenv-crlf": ("toolsync.document.dotenv", "CrlfDotenvDocument"),
    "gitignore": ("toolsync.document.gitignore", "GitignoreDocument"),
    "json": ("toolsync.document.jsonc", "StrictJsonDocument"),
    "json-no-bom": ("toolsync.document.jsonc", "BomlessJsonDocument"),
    "json-utf-16": ("toolsync.document.jsonc", "WideJsonDocument"),
    "jsonc": ("toolsync.document.jsonc", "JsoncDocument"),
    "toml": ("toolsync.document.toml", "TomlDocument"),
}
"""Format name to module and class; the module is imported when the first such file is met."""


def parse(raw: bytes, format: str) -> Document:
    """The document in `raw`.

    Raises:
        DocumentError: it is in no encoding of the format's, or cannot be parsed whole; with line and column.
        TemplateError: there is no such format.
    """
    if format not in _FORMATS:
        raise TemplateError(f"unknown format '{format}'", hint=f"Known: {', '.join(_FORMATS)}.")
    module, name = _FORMATS[format]
    kind: type[Document] = getattr(import_module(module), name)
    encoding = next((encoding for mark, encoding in kind.marks.items() if raw.startswith(mark)), "")
    return kind(raw.decode(encoding, errors="replace") if encoding else decoded(raw))


def format_of(name: str) -> str:
    """The format that a file name's suffix, or the whole of a dotfile's name, stands for.

    Raises:
        TemplateError: the suffix says nothing.
    """
    suffix = (PurePath(name).suffix or PurePath(name).name).removeprefix(".")
    if suffix not in _FORMATS:
        raise TemplateError(f"'{name}' does not tell its format", hint="Say `format` in the tool's file row.")
    return suffix


def decoded(raw: bytes) -> str:
    """The text in `raw`, byte-order mark and line ends included.

    Raises:
        DocumentError: it is not UTF-8; with line and column.
    """
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            reason, hint = "the file is UTF-16, and toolsync reads UTF-8", "Save it as UTF-8."
            raise DocumentError(reason, line=1, column=1, hint=hint) from error
        line, column = place(raw[: error.start].decode(errors="replace"), error.start)
        raise DocumentError("not UTF-8 text", line=line, column=column) from error
