"""A coverage-guided fuzzer of documents: no crash but the named error, no byte lost, every edit as an oracle means it.

It needs `atheris` beside what the tests need (`pip install atheris`; wheels are for Linux). Ten minutes of a format:

    python -m tests.fuzz.documents jsonc -max_total_time=600 FOLDER

Formats are json, jsonc and toml; what follows goes to libFuzzer. FOLDER keeps what was found worth keeping; without it
the rows of `tests/corpus` are the seeds all the same. An input is a file; its checksum chooses the edits, so that a
saved input (`crash-…`) fails again by itself: `python -m tests.fuzz.documents jsonc crash-…`.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris  # type: ignore[import-untyped]  # it comes without types

with atheris.instrument_imports(include=["toolsync.document"]):
    from toolsync.document import MISSING, Document, KeyPath, Value, equal, parse

    for _format in ("json", "toml"):  # their modules are imported when they are met
        parse(b"", _format)

from tests.conftest import raw
from tests.document import oracle, oracle_toml
from tests.document.faithful import removed_or_refused, set_or_refused, undone
from tests.document.faithful_toml import edited, faults
from toolsync.errors import DocumentError, EditRefusedError

_CORPORA = Path(__file__).parents[1] / "corpus"
_SEEDS = {"json": ("jsonc", "real"), "jsonc": ("jsonc", "real"), "toml": ("toml", "real")}
_TOKENS = [
    "//",
    "/*",
    "*/",
    "\n//c\n",
    ",}",
    ",]",
    "{}",
    "[]",
    '":',
    '"a":1,',
    "true",
    "null",
    "1.5e3",
    "\ufeff",
    "\r\n",
]
_TOKENS += ["[[", "]]", "[a]\n", "a.b=", '"""', "'''", "={", "=[", "#c\n", "1979-05-27T07:32:00Z", "inf", "\\u00e9"]
_EDITS = 4
_NEW_KEYS = ("new", "a.b", "é", "", '"', "a", "env")
_VALUES: tuple[Value, ...] = ("text", 'q"\\\n#', 7, True, 1.5, [], {}, ["a", 1], {"x": "y", "z": {"w": [True]}})
_OUR_FAULT = ("the result would not mean", "the result could not be read back", "the result would change")


def main() -> None:
    """Fuzz the format that is named first; libFuzzer's options and folders follow."""
    format, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        seeds, tokens = Path(folder) / "seeds", Path(folder) / "tokens"
        seeds.mkdir()
        for number, file in enumerate(_seed_files(format)):
            (seeds / str(number)).write_bytes(file)
        tokens.write_text("".join(f'"{_escaped(token)}"\n' for token in _TOKENS))
        is_replay = any(Path(option).is_file() for option in options)
        own = [] if is_replay else [str(seeds), f"-dict={tokens}"]
        atheris.Setup([sys.argv[0], *options, *own], lambda file: _check(file, format))
        atheris.Fuzz()


def _escaped(token: str) -> str:
    """As libFuzzer's dictionaries spell bytes."""
    return "".join(f"\\x{byte:02x}" for byte in token.encode())


def _seed_files(format: str) -> list[bytes]:
    rows = [
        json.loads(line)
        for name in _SEEDS[format]
        for line in (_CORPORA / f"{name}.jsonl").read_bytes().split(b"\n")
        if line.strip()
    ]
    return [raw(row) for row in rows]


def _check(file: bytes, format: str) -> None:
    found = _document_or_error(file, format)
    assert isinstance(found, Document) == _is_valid(file, format), found
    if isinstance(found, DocumentError):
        assert None not in (found.line, found.column), found
        return
    assert found.text.encode() == file
    chance = random.Random(zlib.crc32(file))
    edit = _toml_edit if format == "toml" else _json_edit
    document = found
    for _ in range(_EDITS):
        try:
            document = edit(document, chance)
        except RecursionError:
            return  # the oracles recurse
    assert undone(document, found) == found.text


def _document_or_error(file: bytes, format: str) -> Document | DocumentError:
    try:
        return parse(file, format)
    except DocumentError as error:
        return error


def _is_valid(file: bytes, format: str) -> bool:
    read: Callable[[str], Any] = oracle_toml.data if format == "toml" else oracle.read
    try:
        read(file.decode())
    except (ValueError, TypeError):
        return False
    return True


def _json_edit(document: Document, chance: random.Random) -> Document:
    path = _path(document.data, chance)
    if chance.random() < 1 / 3 and path:
        reason = removed_or_refused(document, path)
        after = document if reason else document.remove(path)
    else:
        after, reason = set_or_refused(document, path, chance.choice(_VALUES))
    assert not any(words in reason for words in _OUR_FAULT), reason
    if document.fault is None:
        assert after.fault is None
    return after


def _toml_edit(document: Document, chance: random.Random) -> Document:
    path = _path(document.data, chance)
    kind = "delete" if chance.random() < 1 / 3 and path else "set"
    value = chance.choice(_VALUES)
    if equal(document.get(path), value) or (kind == "delete" and document.get(path) is MISSING):
        return document
    after, reason = _edited_or_refused(document, kind, path, value)
    assert not any(words in reason for words in _OUR_FAULT), reason
    if reason:
        return document
    assert faults(document.text, kind, path, value, after.text) == []
    assert undone(after, document) == document.text
    return after


def _edited_or_refused(document: Document, kind: str, path: KeyPath, value: Value) -> tuple[Document, str]:
    try:
        return edited(document, kind, path, value), ""
    except EditRefusedError as error:
        return document, error.reason


def _path(data: Value, chance: random.Random) -> tuple[str | int, ...]:
    """A way into the data, or to something new below a table in it."""
    path: tuple[str | int, ...] = ()
    while isinstance(data, dict | list) and data and chance.random() < 0.8:
        step = chance.choice(list(data) if isinstance(data, dict) else list(range(len(data))))
        path, data = (*path, step), data[step]
    if not isinstance(data, dict) or (path and chance.random() < 0.5):
        return path
    return (*path, *chance.choices(_NEW_KEYS, k=chance.choice([1, 1, 2])))


if __name__ == "__main__":
    main()
