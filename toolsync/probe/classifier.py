"""What an answer means: the rows of `templates/answers/`, each a shape of answer and its cause; the first decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

from toolsync import resources
from toolsync.address import PATHS, Dialect
from toolsync.causes import Certainty
from toolsync.probe.body import Kind, Level, events, kind, levels, own_words, page, title
from toolsync.probe.dialect import has_form, ids, is_last, reply, speaks
from toolsync.probe.response import Response
from toolsync.value import frozen

STAGES = ("redirects", "edges", "codes", "words", "statuses")
"""The files, in the order in which they are asked: what stands before a gateway, then what it says, then its status."""


@frozen
class Asked:
    """What the answer is an answer to.

    Attributes:
        url: the whole address that was asked.
        dialect: what was spoken.
        model: the model that was asked for an answer; empty where the list of models was asked for.
        is_keyed: whether the request carried a credential.
        streams: whether a stream was asked for.
    """

    url: str = ""
    dialect: Dialect = "openai-chat"
    model: str = ""
    is_keyed: bool = True
    streams: bool = False


@frozen
class Reading:
    """What an answer means.

    Attributes:
        cause: a slug of `templates/causes/`; empty where nothing is wrong.
        family: whose answer it looks like (`one-api`, `cloudflare`); empty where nobody can tell.
        words: its own explanation, fit for a terminal and free of keys; may be empty.
        certainty: whether this one answer leaves no doubt.
        by: the row that decided; empty where none did.
        also: causes that give the same answer, and that a second request tells apart.
    """

    cause: str
    family: str = ""
    words: str = ""
    certainty: Certainty = "sure"
    by: str = ""
    also: tuple[str, ...] = ()


def read(answer: Response, asked: Asked | None = None) -> Reading:
    """What `answer` means, as far as one answer tells; answers of success are looked into as well."""
    asked = asked or Asked()
    whole = _Sight(answer, asked)
    if whole.found == "answer":
        return Reading("")
    row, sight = next(_deciding(whole), (None, whole))
    reading = Reading("", sight.family or whole.family, own_words(answer), "open")
    if row is None:
        return reading
    if not asked.is_keyed and row.means in _OF_KEYS:  # whatever it says of a key, none was sent
        return replace(reading, cause="key_not_sent", certainty="likely", by=row.name)
    return replace(reading, cause=row.means, certainty=row.certainty, by=row.name, also=row.also)


_OF_KEYS = frozenset(
    {
        *("key_invalid", "key_expired", "key_disabled", "key_malformed", "key_wrong_header", "key_wrong_provider"),
        *("key_or_endpoint", "key_placeholder_value", "key_not_a_key", "key_whitespace"),
    }
)


def rows() -> tuple[Row, ...]:
    """Every row, in the order in which they are asked."""
    return tuple(row for stage in STAGES for row in _stage(stage))


def _deciding(whole: _Sight) -> Iterator[tuple[Row, _Sight]]:
    """The rows that fit, the deciding one first, each with the error that it fits."""
    inward = whole.inward()
    yield from _fitting("redirects", whole)
    yield from _fitting("edges", whole)
    for sight in inward:
        yield from _fitting("codes", sight)
        yield from _fitting("words", sight)
    yield from _fitting("statuses", inward[0] if inward else whole)


def _fitting(stage: str, sight: _Sight) -> Iterator[tuple[Row, _Sight]]:
    return ((row, sight) for row in _stage(stage) if row.fits(sight))


# What a row is held against.


@frozen
class _Sight:
    """An answer as one of the errors in it shows it.

    Attributes:
        level: that error; None where the answer is looked at as a whole.
        within: the families of the errors around it.
    """

    answer: Response
    asked: Asked
    level: Level | None = None
    within: frozenset[str] = frozenset()

    def inward(self) -> tuple[_Sight, ...]:
        """The same for each error in it, the innermost first; none for a web page, whose title is no message."""
        if self.kind == "page":
            return ()
        found: list[_Sight] = []
        for level in levels(self.answer):
            around = frozenset(sight.family for sight in found)
            found.append(replace(self, level=level, within=around))
        return tuple(reversed(found))

    @cached_property
    def kind(self) -> Kind:
        return kind(self.answer)

    @property
    def status(self) -> int:
        """The status of this error, where it speaks of one; else the answer's: a refusal that says 200 is one still."""
        told = self.level.status if self.level is not None else None
        is_success = told is not None and 200 <= told < 300  # noqa: PLR2004  HTTP's own classes
        return told if told is not None and not is_success else self.answer.status

    @cached_property
    def family(self) -> str:
        """Whose words these are."""
        fitting = (row.means for row in _stage("families") if row.fits(self))
        return next(fitting, "")

    @cached_property
    def words(self) -> str:
        """What patterns are matched against: the message, on one line, in simplified Chinese where it is Chinese."""
        text = self.level.message if self.level else title(self.answer) if self.kind == "page" else ""
        return " ".join(text.split()).translate(_SIMPLIFIED)

    @cached_property
    def page(self) -> str:
        return page(self.answer) if self.kind == "page" else ""

    @property
    def path(self) -> str:
        return urlsplit(self.asked.url).path

    @property
    def is_elsewhere(self) -> bool:
        """Whether a redirect leads to another host."""
        try:
            target = urlsplit(urljoin(self.asked.url, self.answer.headers.get("location", "")))
        except ValueError:  # half a bracket leads nowhere, and so not here
            return True
        return target.hostname != urlsplit(self.asked.url).hostname

    @cached_property
    def found(self) -> str:
        """What was found in an answer of success.

        `answer`; `silence`, one without a word; `other`, another dialect's; or `nothing`.
        """
        if not 200 <= self.answer.status < 300:  # noqa: PLR2004  HTTP's own classes
            return "nothing"
        if self.kind == "stream" and self.asked.streams:
            return "nothing" if levels(self.answer) else _heard(self.answer, self.asked.dialect)
        if not self.asked.model:
            return "nothing" if ids(self.answer.json) is None else "answer"
        said = reply(self.answer.json, self.asked.dialect)
        if said is not None:
            return "silence" if said.is_silent else "answer"
        return "other" if any(reply(self.answer.json, dialect) for dialect in PATHS) else "nothing"


def _heard(answer: Response, dialect: Dialect) -> str:
    """What a stream without an error holds; one that does not end of itself is not silent, but cut off."""
    came = tuple(events(answer))
    own = [event for event in came if has_form(event, dialect)]
    if not own and any(has_form(event, other) for event in came for other in PATHS):
        return "other"
    is_silent = not any(speaks(event, dialect) for event in own)
    is_ended = not came or "[DONE]" in answer.text or any(is_last(event, dialect) for event in own)
    return "silence" if is_silent and is_ended else "answer"


_SIMPLIFIED = str.maketrans(
    "額餘無權過請續費凍結鎖連線證鑰頻繁載負飽態狀號帳戶區國時間訪問頁點數應開關對報錯誤該輸達駁拒絕總個關閉購買賬務維護為觸發檢測尋內",
    "额余无权过请续费冻结锁连线证钥频繁载负饱态状号帐户区国时间访问页点数应开关对报错误该输达驳拒绝总个关闭购买账务维护为触发检测寻内",
)
"""What the patterns spell in simplified Chinese, and gateways in Taiwan and Hong Kong do not."""


# Rows.


@frozen
class Row:
    """A shape of answer, and what it means.

    Attributes:
        name: its file and its name there, `words/money`.
        when: conditions, by the names of `_TESTS`; all must hold.
        means: the cause; in `families.toml` the family.
        source: where somebody saw it, or the page that says so.
    """

    name: str
    when: Mapping[str, Any]
    means: str
    certainty: Certainty
    also: tuple[str, ...]
    source: str

    def fits(self, sight: _Sight) -> bool:
        """Whether every condition holds."""
        return all(_TESTS[name](wanted, sight) for name, wanted in self.when.items())


@cache
def _stage(name: str) -> tuple[Row, ...]:
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


def _has_header(wanted: Mapping[str, str], sight: _Sight) -> bool:
    """Every header is there, and matches."""
    headers = sight.answer.headers
    return all(name in headers and _matches(pattern, headers[name]) for name, pattern in wanted.items())


def _has(wanted: list[str], sight: _Sight) -> bool:
    """Every key is in the error: `request_id`; or in the whole answer: `/request_id`."""
    whole = sight.answer.json
    own = sight.level.data if sight.level else None
    return all(
        name[1:] in whole if name.startswith("/") and isinstance(whole, Mapping) else name in (own or ())
        for name in wanted
    )


_TESTS: Mapping[str, Callable[[Any, _Sight], bool]] = {
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
