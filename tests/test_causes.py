"""The catalogue of causes is whole, and says the same in both languages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import get_args

import pytest

from toolsync import causes, resources
from toolsync.causes import Cause, Language, Severity
from toolsync.errors import UsageError

ENGLISH = causes.every("en")
SLUGS = [cause.slug for cause in ENGLISH]
COMMANDS = {"apply", "doctor", "key", "models", "ping", "profile", "status", "tools", "explain", "diff", "undo"}

_FOLDER = resources.folder("templates") / "causes"

every_cause = pytest.mark.parametrize("cause", ENGLISH, ids=SLUGS)


def test_a_slug_is_known_once_and_in_both_languages() -> None:
    assert len(SLUGS) == len(set(SLUGS))
    assert [cause.slug for cause in causes.every("zh")] == SLUGS


@every_cause
def test_a_cause_is_whole(cause: Cause) -> None:
    assert re.fullmatch("[a-z][a-z0-9_]+", cause.slug)
    assert cause.severity in get_args(Severity)
    assert set(cause.explains) <= set(SLUGS) - {cause.slug}
    for language in get_args(Language):
        told = causes.named(cause.slug, language)
        assert all(getattr(told, sentence).strip() for sentence in causes.SENTENCES)


@every_cause
def test_the_same_placeholders_stand_in_both_languages_and_each_has_a_word_of_its_own(cause: Cause) -> None:
    chinese = causes.named(cause.slug, "zh")
    for sentence in causes.SENTENCES:
        names = causes.placeholders(getattr(cause, sentence))
        assert names == causes.placeholders(getattr(chinese, sentence)), sentence
        for language in get_args(Language):
            assert names <= set(causes.words(language)["placeholders"])


def test_a_group_has_the_causes_that_its_file_has() -> None:
    written = [
        slug for group in causes.GROUPS for slug in tomllib.loads((_FOLDER / f"{group}.toml").read_text("utf-8"))
    ]
    assert written == SLUGS


def test_a_cause_that_is_not_there_is_none() -> None:
    with pytest.raises(KeyError, match="no_such_cause"):
        causes.named("no_such_cause")


@every_cause
def test_each_language_is_spoken_as_it_is_written(cause: Cause) -> None:
    chinese = causes.named(cause.slug, "zh")
    assert not causes.placeholders(cause.title)  # it stands in lines with others
    assert not cause.title.endswith(".")
    assert len(cause.title) <= 70
    assert all(getattr(cause, sentence).endswith(".") for sentence in causes.SENTENCES[1:])
    assert not re.search("[\\u4e00-\\u9fff]", cause.title + cause.remedy)
    assert all(re.search("[\\u4e00-\\u9fff]", getattr(chinese, sentence)) for sentence in causes.SENTENCES)
    assert all(getattr(chinese, sentence).endswith("。") for sentence in causes.SENTENCES[1:])


@every_cause
def test_what_to_do_is_the_same_in_both_languages(cause: Cause) -> None:
    """The commands and names in backticks, but for file names and the like that one language explains."""
    chinese = causes.named(cause.slug, "zh")
    named = [set(re.findall("`(toolsync [^`]+)`", told.remedy)) for told in (cause, chinese)]
    assert named[0] == named[1]


@every_cause
def test_commands_of_ours_are_commands_of_ours(cause: Cause) -> None:
    said = " ".join(getattr(cause, sentence) for sentence in causes.SENTENCES)
    assert set(re.findall("`toolsync ([a-z]+)", said)) <= COMMANDS


def test_every_word_around_the_causes_is_there_in_both_languages() -> None:
    shape: dict[str, dict[str, list[str]]] = {
        language: {name: sorted(table) for name, table in causes.words(language).items()}
        for language in get_args(Language)
    }
    assert shape["en"] == shape["zh"]
    assert set(shape["en"]["groups"]) == {cause.group for cause in ENGLISH} == set(causes.GROUPS)
    used = {
        name for cause in ENGLISH for part in causes.SENTENCES for name in causes.placeholders(getattr(cause, part))
    }
    assert set(shape["en"]["placeholders"]) == used


# What fills the sentences.


def test_a_placeholder_without_a_value_becomes_a_word_that_fits() -> None:
    parse_error = causes.named("config_parse_error").filled()
    assert parse_error.meaning.startswith("The tool cannot read the file, and falls back")
    assert "`toolsync apply --tool TOOL`" in parse_error.remedy
    helper = causes.named("key_helper_failed", "zh").filled()
    assert helper.meaning.startswith("该工具通过一条命令")


def test_values_fill_the_sentences_as_they_are() -> None:
    told = causes.named("config_parse_error").filled(
        {"called": "codex", "file": "~/x.toml", "place": "", "tool": "codex"}
    )
    assert told.meaning.startswith("codex cannot read ~/x.toml, and")
    assert told.evidence == "A parser stops at the place in question, or the tool itself does."
    assert causes.named("key_env_empty").filled({"variable": "{tool}"}).meaning.count("{tool}") == 1


@every_cause
def test_nothing_is_left_open_once_filled(cause: Cause) -> None:
    for language in get_args(Language):
        told = causes.named(cause.slug, language).filled()
        assert not any(causes.placeholders(getattr(told, sentence)) for sentence in causes.SENTENCES)
        assert "…" not in told.title + told.remedy


def test_a_group_explained_is_each_of_its_causes() -> None:
    shadowed = causes.named("config_shadowed")
    assert {"key_invalid", "dns_failure", "model_not_found", "path_missing_v1"} <= set(shadowed.explains)
    assert not {"key", "address", "config_shadowed"}.intersection(shadowed.explains)


# The language.


@pytest.mark.parametrize(
    ("option", "environ", "expected"),
    [
        pytest.param(None, {}, "en", id="nothing"),
        pytest.param(None, {"LANG": "zh_CN.UTF-8"}, "zh", id="lang"),
        pytest.param(None, {"LANG": "zh_TW.UTF-8"}, "zh", id="taiwan"),
        pytest.param(None, {"LANG": "zh_HK"}, "zh", id="hong-kong"),
        pytest.param(None, {"LANG": "de_DE.UTF-8"}, "en", id="another"),
        pytest.param(None, {"LANG": "C"}, "en", id="c"),
        pytest.param(None, {"LC_MESSAGES": "zh_CN", "LANG": "en_GB.UTF-8"}, "zh", id="messages-before-lang"),
        pytest.param(None, {"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, "en", id="all-before-lang"),
        pytest.param(None, {"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh", id="an-empty-one-is-none"),
        pytest.param("en", {"LANG": "zh_CN.UTF-8"}, "en", id="option"),
        pytest.param("zh-CN", {}, "zh", id="option-with-country"),
        pytest.param("EN_gb", {}, "en", id="option-in-capitals"),
    ],
)
def test_the_language_is_what_was_asked_for_or_what_the_environment_says(
    option: str | None, environ: Mapping[str, str], expected: str
) -> None:
    assert causes.language(option, environ) == expected


@pytest.mark.parametrize("option", ["", "de", "chinese", "z"])
def test_a_language_that_is_not_spoken_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match="no such language"):
        causes.language(option, {})
