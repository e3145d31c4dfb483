"""Edits of `profile.toml`: only their own lines change, and every comment stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from toolsync.document import KeyPath
from toolsync.errors import ProfileError
from toolsync.profile import KeyRef, Profile
from toolsync.profile.editor import added, removed, used, with_values
from toolsync.profile.reader import read
from toolsync.profile.rename import renamed

GOLDEN = Path(__file__).parent / "golden" / "init.toml"

TAOTOKEN: dict[str, Any] = {
    "title": "TaoToken",
    "gateway": "taotoken",
    "base_url": "https://taotoken.net/api",
    "model": "some-model",
    "key": "keyring:work",
    "plaintext": "ask",
}
LOCAL: dict[str, Any] = {"base_url": "http://localhost:11434", "model": "qwen", "key": "env:OLLAMA_API_KEY"}

OLD = """\
# mine, since 2024

active   =   'work'   # at the office

# the office's
[profiles.work]           # (ask Ann)
base_url = "https://taotoken.net/api"
  model = "some-model"    # the cheap one
key = "keyring:work"
request.timeout_seconds = 60  # slow line

# work needs patience
[profiles.work.tool.codex]
enabled = false

[profiles."home.1"] # at home
base_url = "http://localhost:11434"
model = "work"
key = "env:work"
# the end"""


def test_a_new_file_explains_itself() -> None:
    assert added("", "work", TAOTOKEN, active=True) == GOLDEN.read_bytes().decode()


def test_a_new_file_says_what_was_asked() -> None:
    profiles = read(added("", "work", TAOTOKEN, active=True))
    assert profiles.get() == Profile(
        name="work",
        title="TaoToken",
        gateway="taotoken",
        base_url="https://taotoken.net/api",
        model="some-model",
        key=KeyRef("keyring", "work"),
    )


def test_what_the_new_file_shows_as_a_comment_can_be_taken_at_its_word() -> None:
    golden = GOLDEN.read_text(encoding="utf-8")
    card = golden[golden.index("# [profiles.NAME.models]") :]
    uncommented = "\n".join(line.removeprefix("# ").removeprefix("#") for line in card.splitlines())
    taken = golden + uncommented.replace("profiles.NAME", "profiles.work").replace("tool.TOOL", "tool.config-toml")
    work = read(taken).get("work")
    assert work.request["timeout_seconds"] == 120
    assert work.tool["config-toml"]["paths"] == ["~/project/config.toml"]


TABLES = {
    "least": LOCAL,
    "most": TAOTOKEN,
    "with tables below": {
        **LOCAL,
        "urls": {"openai": "https://taotoken.net/v1"},
        "request": {"timeout_seconds": 3.5, "stream": False, "headers": {"X-Team": "a b", "$x": "1", "a.b": "2"}},
        "tool": {
            "codex": {"enabled": False},
            "config-toml": {"paths": ["~/a", 'C:\\b"c'], "request": {"max_retries": 1}},
        },
    },
    "quotes and markup": {**LOCAL, "title": 'a "quoted" \\ [red]title[/red] # no comment', "model": "模型"},
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(
    "text", ["", OLD, OLD.replace("\n", "\r\n"), "\ufeff" + OLD], ids=["new", "old", "CRLF", "BOM"]
)
def test_what_is_added_is_what_is_read(text: str, table: dict[str, Any]) -> None:
    for active in (True, False):
        grown = added(text, "x.y", table, active=active)
        data = tomli.loads(grown.removeprefix("\ufeff"))
        assert data["profiles"]["x.y"] == table
        assert data.get("active") == ("x.y" if active else ("work" if text else None))
        if not active:
            assert grown.startswith(text)
        assert ("\r\n" in grown) == ("\r\n" in text)
        assert "\n" not in grown.replace("\r\n", "") or "\r\n" not in text


def test_a_profile_is_added_where_all_are_in_braces() -> None:
    text = 'profiles = { a = { base_url = "http://h", model = "m", key = "env:K" } } # mine\n'
    grown = added(text, "b", LOCAL, active=False)
    assert read(grown).names == ("a", "b")
    assert "# mine" in grown


EDITS: dict[str, tuple[Callable[[str], str], list[str], list[str]]] = {
    "use": (
        lambda t: used(t, "home.1"),
        ["active   =   'work'   # at the office"],
        ['active   =   "home.1"   # at the office'],
    ),
    "use the active one": (lambda t: used(t, "work"), [], []),
    "rename": (
        lambda t: renamed(t, "work", "job"),
        [
            "active   =   'work'   # at the office",
            "[profiles.work]           # (ask Ann)",
            "[profiles.work.tool.codex]",
        ],
        ['active   =   "job"   # at the office', "[profiles.job]           # (ask Ann)", "[profiles.job.tool.codex]"],
    ),
    "rename to a dotted name": (
        lambda t: renamed(renamed(t, "home.1", "h"), "h", "h.2"),
        ['[profiles."home.1"] # at home'],
        ['[profiles."h.2"] # at home'],
    ),
    "rename to itself": (lambda t: renamed(t, "work", "work"), [], []),
    "set": (
        lambda t: with_values(t, "work", {("model",): "better", ("request", "timeout_seconds"): 90}),
        ['  model = "some-model"    # the cheap one', "request.timeout_seconds = 60  # slow line"],
        ['  model = "better"    # the cheap one', "request.timeout_seconds = 90  # slow line"],
    ),
    "set the same": (lambda t: with_values(t, "work", {("model",): "some-model"}), [], []),
    "unset": (
        lambda t: with_values(t, "work", {("request", "timeout_seconds"): None}),
        ["request.timeout_seconds = 60  # slow line"],
        [],
    ),
    "unset what is not there": (lambda t: with_values(t, "work", {("title",): None}), [], []),
}


@pytest.mark.parametrize(("edit", "gone", "come"), EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_only_the_lines_of_an_edit_change(
    edit: Callable[[str], str], gone: list[str], come: list[str], line_end: str
) -> None:
    before = OLD.replace("\n", line_end)
    after = edit(before)
    old, new = before.split(line_end), after.split(line_end)
    assert [line for line in old if line not in new] == gone
    assert [line for line in new if line not in old] == come


def test_a_profile_that_goes_takes_active_along_and_nothing_else() -> None:
    after = removed(OLD, "work")
    profiles = read(after)
    assert (profiles.active, profiles.names) == (None, ("home.1",))
    for line in ("# mine, since 2024", "# the office's", "# work needs patience", "# the end"):
        assert line in after.splitlines()
    assert after.endswith(OLD[OLD.index('[profiles."home.1"]') :])


def test_a_profile_that_is_not_active_goes_alone() -> None:
    after = removed(OLD, "home.1")
    assert read(after).active == "work"
    assert after.startswith(OLD[: OLD.index('[profiles."home.1"]')].rstrip("\n"))


def test_added_then_removed_leaves_the_file_s_own_lines() -> None:
    grown = added(OLD, "new", TABLES["with tables below"], active=False)
    assert removed(grown, "new").rstrip("\n") == OLD


FIELDS = 'base_url = "http://h"\nmodel = "work"\nkey = "env:work"'
RENAMES = {
    "dotted keys": (
        """profiles . work . base_url = "http://h"\nprofiles."work".model = "work"\nprofiles.'work'.key = "env:work" """
    ),
    "braces": 'profiles = { work = { base_url = "http://h", model = "work", key = "env:work" } }',
    "dotted in braces": 'profiles = { work.base_url = "http://h", work.model = "work", "work".key = "env:work" }',
    "under profiles": '[profiles]\nwork.base_url = "http://h"\nwork.model = "work"\nwork.key = "env:work"',
    "braces under profiles": '[profiles]\nwork = { base_url = "http://h", model = "work", key = "env:work" }',
    "spaced header": '[ profiles . "w\\u006frk" ]\nbase_url = "http://h"\nmodel = "work"\nkey = "env:work"',
    "a tool of that name": f'[profiles.work]\n{FIELDS}\n[profiles.work.tool.work]\nmodel = "work"',
    "another table of that name": f"[profiles.work]\n{FIELDS}\n[profiles.other]\n{FIELDS}\n[profiles.other.tool.work]",
}


@pytest.mark.parametrize("new", ["job", "job.1"])
@pytest.mark.parametrize("text", RENAMES.values(), ids=RENAMES)
def test_a_name_is_changed_however_it_is_written(text: str, new: str) -> None:
    before = tomli.loads(text)
    after = renamed(text, "work", new)
    before["profiles"][new] = before["profiles"].pop("work")
    assert tomli.loads(after) == before
    assert len(after.splitlines()) == len(text.splitlines())


REFUSED: dict[str, tuple[Callable[[str], str], str]] = {
    "added twice": (lambda t: added(t, "work", LOCAL, active=True), "profile.toml: there is a profile 'work' already"),
    "added under no name": (lambda t: added(t, "\x1b[1m", LOCAL, active=True), "'�[1m' is no name for a profile"),
    "added with a wrong value": (
        lambda t: added(t, "new", {**LOCAL, "request": {"timeout_seconds": "abc"}}, active=False),
        "profile.toml: profiles.new.request.timeout_seconds: 'abc' is not a number",
    ),
    "use what is not there": (lambda t: used(t, "job"), "profile.toml: there is no profile 'job'"),
    "remove what is not there": (lambda t: removed(t, "job"), "profile.toml: there is no profile 'job'"),
    "rename what is not there": (lambda t: renamed(t, "job", "x"), "profile.toml: there is no profile 'job'"),
    "rename to a taken name": (
        lambda t: renamed(t, "work", "home.1"),
        "profile.toml: there is a profile 'home.1' already",
    ),
    "rename to a key": (
        lambda t: renamed(t, "work", "sk-ant-api03-abcdefgh12345678"),
        "'***' is no name for a profile",
    ),
    "rename to no name": (lambda t: renamed(t, "work", "a b"), "'a b' is no name for a profile"),
    "set a wrong value": (
        lambda t: with_values(t, "work", {("model",): 5}),
        "profile.toml: profiles.work.model: 5 is not text",
    ),
    "set an unknown field": (
        lambda t: with_values(t, "work", {("modle",): "x"}),
        "profile.toml: profiles.work.modle: there is no such field; did you mean 'model'?",
    ),
    "set a table where text is": (
        lambda t: with_values(t, "work", {("model", "small"): "x"}),
        "profile.toml: profiles.work.model.small: no table to hold 'small'; text stands there",
    ),
    "unset what must be there": (
        lambda t: with_values(t, "work", {("key",): None}),
        "profile.toml: profiles.work: 'key' is missing",
    ),
}


@pytest.mark.parametrize(("edit", "message"), REFUSED.values(), ids=REFUSED)
def test_an_edit_that_cannot_be_is_refused(edit: Callable[[str], str], message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        edit(OLD)
    assert caught.value.message == message


def test_a_wrong_file_is_not_edited() -> None:
    wrong = OLD.replace('"some-model"', "5")
    said = r"^profile\.toml:8: profiles\.work\.model: 5 is not text$"
    with pytest.raises(ProfileError, match=said):
        used(wrong, "work")
    with pytest.raises(ProfileError, match=said):
        added(wrong, "new", LOCAL, active=True)


def test_what_is_wrong_goes_with_its_profile_and_what_is_wrong_beside_it_stays() -> None:
    wrong = OLD.replace('"some-model"', "5")
    assert removed(wrong, "work") == removed(OLD, "work")
    assert removed(wrong, "home.1") == removed(OLD, "home.1").replace('"some-model"', "5")
    with pytest.raises(ProfileError, match=r"^profile\.toml:8: profiles\.work\.model: 5 is not text$"):
        removed(wrong, "job")


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True)
words = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=20)
fields: st.SearchStrategy[tuple[KeyPath, Any]] = st.one_of(
    st.tuples(st.sampled_from([("model",), ("title",), ("models", "small"), ("tool", "codex", "model")]), words),
    st.tuples(
        st.sampled_from([("request", "max_retries"), ("tool", "codex", "request", "max_retries")]), st.integers(0, 9)
    ),
    st.tuples(st.just(("request", "stream")), st.booleans()),
    st.tuples(st.just(("tool", "config-toml", "paths")), st.just(["~/a", "/b"])),
)


@given(
    values=st.lists(fields, max_size=4).map(dict),
    line_end=st.sampled_from(["\n", "\r\n"]),
    name=st.sampled_from(["work", "home.1"]),
)
def test_what_is_set_is_read_and_every_comment_stays(values: dict[KeyPath, Any], line_end: str, name: str) -> None:
    before = OLD.replace("\n", line_end)
    after = with_values(before, name, values)
    profiles = read(after)
    for path, value in values.items():
        assert profiles.document.get(("profiles", name, *path)) == value
    untouched = [line for line in before.split(line_end) if "=" not in line]
    assert [line for line in untouched if line not in after.split(line_end)] == []
    unset = with_values(after, name, {path: None for path in values if path != ("model",)})
    assert read(unset).get("home.1").key == KeyRef("env", "work")


@given(new=names)
def test_a_name_changed_and_changed_back_is_the_same_file(new: str) -> None:
    if new in {"work", "home.1"}:
        return
    quoted = OLD.replace("'work'", '"work"')
    assert renamed(renamed(quoted, "work", new), new, "work") == quoted
