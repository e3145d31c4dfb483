"""Texts that were good before something hit them: read rightly, or refused with a place, and never anything else."""

from __future__ import annotations

from hypothesis import note
from hypothesis import strategies as st

from tests.document import oracle
from toolsync.document import MISSING, Document, KeyPath, parse
from toolsync.document.splice import apply, inverse
from toolsync.errors import DocumentError

_PIECES = [*"{}[],:\"'/*\\ \n\r\t\x00-0e+#Nt", "//", "/*", "*/", "\r\n", "{}", '"a":1,', "\u00a0", "\ufeff"]


def damaged(text: str, data: st.DataObject) -> str:
    """`text` after one to three small accidents."""
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(len(text) - 1, 0)))
        end = at + data.draw(st.integers(0, 3))
        kind = data.draw(st.sampled_from(["delete", "insert", "double", "cut"]))
        text = {
            "delete": text[:at] + text[end:],
            "insert": text[:at] + data.draw(st.sampled_from(_PIECES)) + text[at:],
            "double": text[:end] + text[at:],
            "cut": text[:at],
        }[kind]
    return text


def check_damaged(text: str, data: st.DataObject) -> None:
    """The editor reads what the oracle reads, and edits it rightly; all else is a `DocumentError` with its place."""
    note(text)
    try:
        expected = oracle.read(text)
    except (ValueError, TypeError):
        expected = None
    document = _read_or_refused(text)

    assert isinstance(document, Document) == (expected is not None), document
    if isinstance(document, DocumentError):
        assert None not in (document.line, document.column)
        return
    _edit_or_refuse(document, data.draw(st.sampled_from([("new",), ("a",), ("a", "b"), ("env", "c")])))


def _read_or_refused(text: str) -> Document | DocumentError:
    try:
        return parse(text.encode(), "jsonc")
    except DocumentError as error:
        return error


def _edit_or_refuse(document: Document, path: KeyPath) -> None:
    try:
        edited, removed = document.set(path, 1), document.remove(path)
    except DocumentError:
        return
    assert edited.get(path) == 1
    assert removed.get(path) is MISSING
    if document.get(path) is MISSING:
        assert oracle.read(edited.text).comments == oracle.read(document.text).comments
    for now in (edited, removed):
        assert apply(now.text, inverse(document.text, now.log)) == document.text
