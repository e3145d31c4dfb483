"""What the tests of documents share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.document import oracle

Reported = Callable[[str, Sequence[str]], None]


@pytest.fixture
def room_for_the_oracle() -> Iterator[None]:
    with oracle.room():
        yield


@pytest.fixture
def reported(record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]) -> Reported:
    """Says a line, and the rows that it counts, to whoever runs the tests, and keeps the rows in their report."""

    def say(line: str, rows: Sequence[str]) -> None:
        record_property(line, rows)
        with capsys.disabled():
            print("\n  ".join([f"\n{line}", *rows]))  # noqa: T201  this is its purpose

    return say
