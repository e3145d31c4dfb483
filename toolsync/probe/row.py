"""A row of `templates/answers/`: a shape of answer, its conditions, and what it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from toolsync import resources
from toolsync.causes import Certainty
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.probe.sight import Sight


@cache
def stage(name: str) -> tuple[Row, ...]:
    """The rows of one file of `templates/answers/`."""
    import tomli

    file = resources.folder("templates") / "answers" / f"{name}.toml"
    return tuple(
        Row(
            f"{name}/{row}",
            table["when"],
            table["family" if name == "families" else "cause"],
            table.get("certainty", "sure"),
            tuple(table.get("also", ())),
            table["source"],
        )
        for row, table in tomli.loads(file.read_text(encoding="utf-8")).items()
    )


@frozen
class Row:
    """A shape of answer, and what it means.

    Attributes:
        name: its file and its name there, `words/money`.
        when: conditions, by the names of `TESTS`; all must hold.
        means: the cause; in `families.toml` the family.
        source: where somebody saw it, or the page that says so.
    """

    name: str
    when: Mapping[str, Any]
    means: str
    certainty: Certainty
    also: tuple[str, ...]
    source: str

    def fits(self, sight: Sight) -> bool:
        """Whether every condition holds."""
        return all(TESTS[name](wanted, sight) for name, wanted in self.when.items())


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_SHORTEST_MODEL = 4
"""Characters; a shorter name stands in any sentence."""


def _matches(wanted: str, text: str) -> bool:
    return bool(_pattern(wanted).search(text))


def _is_one_of(wanted: list[int | str], status: int) -> bool:
    """`503`, or a class of them, `"5xx"`."""
    return status in wanted or f"{status // 100}xx" in wanted


def _has_header(wanted: Mapping[str, str], sight: Sight) -> bool:
    """Every header is there, and matches."""
    headers = sight.answer.headers
    return all(name in headers and _matches(pattern, headers[name]) for name, pattern in wanted.items())


def _has(wanted: list[str], sight: Sight) -> bool:
    """Every key is in the error: `request_id`; or in the whole answer: `/request_id`."""
    whole = sight.answer.json
    own = sight.level.data if sight.level else None
    return all(
        name[1:] in whole if name.startswith("/") and isinstance(whole, Mapping) else name in (own or ())
        for name in wanted
    )


TESTS: Mapping[str, Callable[[Any, Sight], bool]] = {
    "status": lambda wanted, sight: _is_one_of(wanted, sight.status),
    "answered": lambda wanted, sight: _is_one_of(wanted, sight.answer.status),
    "kind": lambda wanted, sight: sight.kind in wanted,
    "family": lambda wanted, sight: sight.family in wanted,
    "within": lambda wanted, sight: not sight.within.isdisjoint(wanted),
    "header": _has_header,
    "has": _has,
    "code": lambda wanted, sight: sight.level is not None and not sight.level.codes.isdisjoint(wanted),
    "code_like": lambda wanted, sight: sight.level is not None and any(_matches(wanted, c) for c in sight.level.codes),
    "param": lambda wanted, sight: sight.level is not None and _matches(wanted, sight.level.param),
    "message": lambda wanted, sight: _matches(wanted, sight.words),
    "page": lambda wanted, sight: _matches(wanted, sight.page),
    "page_without": lambda wanted, sight: not _matches(wanted, sight.page),
    "path": lambda wanted, sight: _matches(wanted, sight.path),
    "versioned": lambda wanted, sight: wanted is _matches("/v[0-9]+[a-z]*/", sight.path),
    "asked": lambda wanted, sight: wanted == ("answer" if sight.asked.model else "models"),
    "keyed": lambda wanted, sight: wanted is sight.asked.is_keyed,
    "found": lambda wanted, sight: sight.found in wanted,
    "elsewhere": lambda wanted, sight: wanted is sight.is_elsewhere,
    "names_model": lambda wanted, sight: (
        wanted is (len(model := sight.asked.model) >= _SHORTEST_MODEL and model in sight.words)
    ),
}
"""What a row may ask of an answer; `templates/answers/README.md` explains each."""
