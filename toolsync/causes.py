"""Every cause that toolsync can name: what it is, what shows it, what mends it; in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from toolsync import resources
from toolsync.errors import UsageError
from toolsync.pattern import late
from toolsync.value import frozen

Language = Literal["en", "zh"]
Severity = Literal["error", "warning", "info"]
Certainty = Literal["sure", "likely", "open"]
"""Whether the evidence leaves no doubt, some, or does not decide."""

GROUPS = ("key", "address", "request", "way", "configuration", "bench")
"""The groups, each a file of `templates/causes/`, in the order in which they are listed."""

SENTENCES = ("title", "meaning", "evidence", "remedy")


@frozen
class Cause:
    """One cause in one language.

    Attributes:
        slug: its stable name, in JSON, docs and tests.
        group: one of `GROUPS`.
        severity: `error` where nothing works with it, `warning` where something may, `info` where nothing is wrong.
        explains: the causes that a probe may name while this one, found in the settings, is why.
        language: of the sentences.
        title: a few words that go on a line with others; no capital, no full stop.
        meaning: what it is, and why it shows as it does.
        evidence: what tells it from its neighbours.
        remedy: what to do.
    """

    slug: str
    group: str
    severity: Severity
    explains: tuple[str, ...]
    language: Language
    title: str
    meaning: str
    evidence: str
    remedy: str

    def filled(self, values: Mapping[str, str] | None = None) -> Cause:
        """The same with its `{placeholders}` filled in: one that has no value becomes a word that fits anywhere."""
        neutral = words(self.language)["placeholders"]
        title, meaning, evidence, remedy = (_fill(getattr(self, name), values or {}, neutral) for name in SENTENCES)
        return replace(self, title=title, meaning=meaning, evidence=evidence, remedy=remedy)


def named(slug: str, language: Language = "en") -> Cause:
    """The cause called `slug`, its placeholders still open.

    Raises:
        KeyError: there is none; those that code names are known by the tests.
    """
    return _in_words(slug, language)


def every(language: Language = "en") -> tuple[Cause, ...]:
    """All causes by group, in the order in which they stand in its file."""
    return tuple(_in_words(slug, language) for group in GROUPS for slug in _members(group))


def language(option: str | None, environ: Mapping[str, str]) -> Language:
    """The language to speak: what `--lang` says, else what the environment does; English for all but Chinese.

    The first variable that is set decides, as POSIX has it (Base Definitions, 8.2).

    Raises:
        UsageError: `option` names no language that we speak.
    """
    if option is not None:
        spoken = _spoken(option)
        if spoken is None:
            raise UsageError("there is no such language here", hint=f"There are: {', '.join(get_args(Language))}.")
        return spoken
    told = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return _spoken(told) or "en"


def words(language: Language = "en") -> Mapping[str, Mapping[str, str]]:
    """The words around the causes: `placeholders` when nothing fills them, `groups`, `labels`."""
    found: Mapping[str, Mapping[str, str]] = _table("words")[language]
    return found


def placeholders(sentence: str) -> set[str]:
    """The names in braces in a sentence."""
    return {match[2] for match in _PLACEHOLDER.finditer(sentence)}


_PLACEHOLDER = late(r"(^|[.] )?\{([a-z_]+)\}")
"""A name in braces, and whether a sentence begins with it."""


_SPACED = r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])"
"""A space that Chinese wants beside a Latin name only."""


def unspaced(sentence: str) -> str:
    """The sentence without spaces between Chinese characters, which a filled placeholder may leave."""
    return sentence if sentence.isascii() else re.sub(_SPACED, "", sentence)


def _fill(sentence: str, values: Mapping[str, str], neutral: Mapping[str, str]) -> str:
    def word(match: re.Match[str]) -> str:
        name = match[2]
        text = values.get(name) or neutral.get(name, "…")
        is_capital = match[1] is not None and not values.get(name)
        return (match[1] or "") + (text[:1].upper() + text[1:] if is_capital else text)

    return unspaced(_PLACEHOLDER.sub(word, sentence))


def _spoken(text: str) -> Language | None:
    """The language of `zh_CN.UTF-8`, `zh-TW`, `en`; None for another."""
    start = re.split(r"[_.@-]", text.strip().lower())[0]
    return next((spoken for spoken in get_args(Language) if spoken == start), None)


@cache
def _in_words(slug: str, language: Language) -> Cause:
    group = next((group for group in GROUPS if slug in _members(group)), None)
    if group is None:
        raise KeyError(slug)
    row = _table(group)[slug]
    explained = (one for name in row.get("explains", ()) for one in (_members(name) if name in GROUPS else (name,)))
    return Cause(
        slug=slug,
        group=group,
        severity=row["severity"],
        explains=tuple(dict.fromkeys(one for one in explained if one != slug)),
        language=language,
        **{name: row[language][name] for name in SENTENCES},
    )


@cache
def _members(group: str) -> tuple[str, ...]:
    """The causes of a group by the headings in its file, whose tables are read only for a cause that is asked for."""
    return tuple(_HEADING.findall(_text(group)))


_HEADING = late(r"(?m)^\[([a-z_0-9]+)\]$")


@cache
def _table(name: str) -> dict[str, Any]:
    """A file of `templates/causes/`; a group's name in `explains` stands for all of its causes."""
    import tomli

    return tomli.loads(_text(name))


@cache
def _text(name: str) -> str:
    file: Path = resources.folder("templates") / "causes" / f"{name}.toml"
    return file.read_text(encoding="utf-8")
