"""What was seen, as a sentence of the catalogue that is put into a language only when somebody reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache, partial
from typing import Any

from toolsync import resources
from toolsync.causes import Language, named, unspaced
from toolsync.pattern import late
from toolsync.value import frozen


@frozen
class Sentence:
    """A row of `templates/causes/evidence.toml`, and what fills its placeholders.

    Attributes:
        name: of the row.
        values: texts from outside, which stay as they are, and sentences of their own.
    """

    name: str
    values: Mapping[str, Text] = field(default_factory=dict)

    def __str__(self) -> str:
        """In English."""
        return tell(self)


Text = str | Sentence
"""A sentence of ours, or the words of somebody else, which nobody translates."""


def say(name: str, **values: Text) -> Sentence:
    """The sentence of that name."""
    return Sentence(name, values)


def tell(text: Text, language: Language = "en") -> str:
    """The text in a language.

    Raises:
        KeyError: there is no such sentence, or a placeholder has no value; the tests know those that code names.
    """
    if isinstance(text, str):
        return text
    if text.name == _OTHERS:
        said = tell(text.values["said"])
        return _translated(said) if language == "zh" else said
    values = text.values
    if text.name in (_TITLED, _REMEDIED):
        cause = named(tell(values["cause"]), language).filled(
            {name: tell(one, language) for name, one in values.items()}
        )
        return cause.title if text.name == _TITLED else cause.remedy
    return _PLACEHOLDER.sub(lambda match: tell(values[match[1]], language), rows()[text.name][language])


def reported(said: str) -> Text:
    """What another part of toolsync says, in its English: Chinese where the catalogue knows the sentence."""
    return Sentence(_OTHERS, {"said": said})


def titled(cause: str) -> Text:
    """What a cause is, in a few words."""
    return Sentence(_TITLED, {"cause": cause})


def remedied(cause: str, **values: Text) -> Text:
    """What mends a cause, with what fills its sentence."""
    return Sentence(_REMEDIED, {"cause": cause, **values})


def _translated(said: str) -> str:
    """In Chinese, line by line, whole, or behind the place that it begins with; else as it stands."""
    if "\n" in said:
        lines = said.split("\n")
        told = [_translated(line) for line in lines]
        return "\n".join(told) if told != lines else _row(said) or said
    whole = _whole(said)
    if whole is not None:
        return whole
    for joint in re.finditer(": ", said):
        behind = _whole(said[joint.end() :])
        if behind is not None:
            return said[: joint.end()] + behind
    return said


def _whole(said: str) -> str | None:
    """In Chinese, by one row or by one for each sentence."""
    found = _row(said)
    if found is not None:
        return found
    for joint in re.finditer(r"\. ", said):
        first = _row(said[: joint.start()]) or _row(said[: joint.start() + 1])
        rest = _whole(said[joint.end() :]) if first is not None else None
        if first is not None and rest is not None:
            return f"{first.removesuffix('。')}。{rest}"
    return None


def _row(said: str) -> str | None:
    """In Chinese, by the row that is the sentence, or that is once its placeholders are filled."""
    for pattern, chinese in _translations():
        match = pattern.fullmatch(said)
        if match is not None:
            return unspaced(_PLACEHOLDER.sub(partial(_named, match), chinese))
    return None


def _named(match: re.Match[str], placeholder: re.Match[str]) -> str:
    return _translated(match[placeholder[1]])


def rows() -> Mapping[str, Mapping[Language, str]]:
    """Every sentence in both languages, by its name."""
    return {name: row for name, row in _catalogue().items() if name != _OTHERS}


_OTHERS = "reported"
_TITLED, _REMEDIED = "titled", "remedied"
"""Of a cause, whose sentences are in files of their own."""
_PLACEHOLDER = late(r"\{([a-z_]+)\}")


@cache
def _catalogue() -> Mapping[str, Any]:
    return _file("evidence")


def _file(name: str) -> Mapping[str, Any]:
    import tomli

    file = resources.folder("templates") / "causes" / f"{name}.toml"
    return tomli.loads(file.read_text(encoding="utf-8"))


@cache
def _translations() -> Sequence[tuple[re.Pattern[str], str]]:
    """Each row of `reported` and of `errors.toml` as a pattern, those that leave the least open first."""
    table: Mapping[str, str] = {**_file("errors"), **_catalogue()[_OTHERS]}
    plainest_first = sorted(table, key=lambda english: len(_PLACEHOLDER.sub("", english)), reverse=True)
    return [(_pattern(english), table[english]) for english in plainest_first]


def _pattern(english: str) -> re.Pattern[str]:
    """The sentence, with any text where a placeholder stands."""
    return re.compile(re.sub(r"\\{([a-z_]+)\\}", r"(?P<\1>.+)", re.escape(english)), re.DOTALL)
