"""What the corpus tests of every format share: which rows can be read, how others are refused, what must succeed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import is_own_corpus, raw
from tests.document import oracle, oracle_toml
from toolsync.document import parse
from toolsync.errors import DocumentError

Row = dict[str, Any]


def is_json(row: Row) -> bool:
    """Whether a row's file can be read as JSON with comments, by the oracle's word."""
    return oracle.is_whole(raw(row))


def is_no_json(row: Row) -> bool:
    return not is_json(row)


def is_toml(row: Row) -> bool:
    return oracle_toml.is_valid(raw(row))


def is_no_toml(row: Row) -> bool:
    return not is_toml(row)


def refusal(row: Row, format_: str) -> DocumentError:
    """Why a row's file is not read, and where.

    Raises:
        AssertionError: it is read, or the error does not say where.
    """
    with pytest.raises(DocumentError) as caught:
        parse(raw(row), format_)
    assert (caught.value.line or 0) >= 1
    assert (caught.value.column or 0) >= 1
    assert caught.value.reason
    return caught.value


def share_to_succeed(config: pytest.Config, name: str, of_others: float) -> float:
    """How much of a corpus must succeed: of our own rows, all."""
    return 1 if is_own_corpus(config, name) else of_others
