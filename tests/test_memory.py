"""What is remembered: the round trip, the same bytes, no secret, and damaged files."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync import disk, memory, memory_form, remembered
from toolsync.document.data import Value, equal
from toolsync.document.splice import Splice
from toolsync.errors import MemoryFileError
from toolsync.masking import Secret
from toolsync.remembered import FileMemory, KeptSplice, LayerMemory, Memory, Remembered, holds, mark
from toolsync.resources import schema

KEY = bytes(range(32))

texts = st.text(max_size=12)
hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
offsets = st.integers(0, 10**6)
plain = st.builds(Remembered, texts, st.none() | texts, st.just("memory"), texts)
names = hashes.map("origin-{}".format)
kept = st.builds(
    Remembered, texts, st.none(), st.sampled_from(["memory", "lost"]), hashes, st.just(value=True)
) | st.builds(Remembered, texts, st.none(), st.just("keyring"), hashes, st.just(value=True), names)
splices = st.builds(Splice, offsets, offsets, texts) | st.builds(KeptSplice, offsets, offsets, names)


def tuples(of: st.SearchStrategy[Value]) -> st.SearchStrategy[tuple[Value, ...]]:
    return st.lists(of, max_size=3).map(tuple)


layers = st.builds(
    LayerMemory, texts, texts, hashes, st.none() | tuples(splices), tuples(plain | kept), tuples(texts), texts
)
modes = st.none() | st.integers(0, 0o7777)
files = st.builds(FileMemory, st.booleans(), modes, tuples(texts), tuples(layers), st.booleans())
memories = st.builds(
    Memory,
    st.binary(min_size=32, max_size=32),
    st.none() | texts,
    st.dictionaries(texts.map("/{}".format), files, max_size=3),
    st.dictionaries(texts, texts, max_size=3),
    st.dictionaries(st.from_regex(r"keyring:[a-z.]+/[A-Z_]+", fullmatch=True), files, max_size=2),
)

FULL = Memory(
    KEY,
    "work",
    {
        "/home/u/.codex/config.toml": FileMemory(
            created=True,
            folders=("/home/u/.codex",),
            layers=(
                LayerMemory(
                    "codex",
                    "config.toml",
                    "0" * 64,
                    (Splice(0, 3, "# é\n"), KeptSplice(9, 2, "origin-2")),
                    (
                        Remembered("model", '"mine"', "memory", mark("theirs")),
                        Remembered("key", None, "keyring", mark("sk-invented-key", KEY), secret=True, entry="origin-1"),
                    ),
                    ("model_providers", "model_providers.toolsync"),
                    "2026-01-02T03:04:05Z",
                ),
            ),
        )
    },
    {"codex": "work"},
)


@given(memories)
def test_what_is_dumped_is_read_back(wanted: Memory) -> None:
    raw = memory.dump(wanted)
    assert memory.parsed(disk.Snapshot(Path("memory.json"), Path("memory.json"), raw, None)) == wanted
    jsonschema.Draft202012Validator(schema("memory")).validate(json.loads(raw))


@given(memories)
def test_the_same_memory_is_the_same_bytes(wanted: Memory) -> None:
    backwards = Memory(wanted.key, wanted.profile, *map(_backwards, (wanted.files, wanted.applied, wanted.entries)))
    assert memory.dump(backwards) == memory.dump(wanted)


def _backwards(table: Mapping[str, Any]) -> dict[str, Any]:
    return dict(reversed(list(table.items())))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema("memory"))


def test_no_file_is_a_fresh_memory_with_a_key_of_its_own(tmp_path: Path) -> None:
    first, second = memory.read(tmp_path / "memory.json"), memory.read(tmp_path / "memory.json")
    assert (first.profile, first.files, len(first.key)) == (None, {}, 32)
    assert first.key != second.key


def test_no_secret_is_in_the_file() -> None:
    assert b"sk-invented-key" not in memory.dump(FULL)


@pytest.mark.parametrize("kept_in", ["memory", "keyring", "lost"])
def test_a_secret_origin_cannot_even_be_made(kept_in: remembered.Kept) -> None:
    entry = "origin-1" if kept_in == "keyring" else ""
    with pytest.raises(ValueError, match="must not be remembered here"):
        Remembered("key", '"sk-old"', kept_in, "0" * 64, secret=True, entry=entry)


def test_a_secret_itself_is_never_serialised() -> None:
    with pytest.raises(TypeError):
        mark({"key": Secret("sk-invented-key")})


def _without_version(data: dict[str, Value]) -> None:
    del data["version"]


def _later(data: dict[str, Value]) -> None:
    data["version"] = memory_form.VERSION + 1


def _nameless(data: dict[str, Value]) -> None:
    data["files"]["/home/u/.codex/config.toml"]["layers"][0]["values"][1]["entry"] = ""


def _short_key(data: dict[str, Value]) -> None:
    data["key"] = "00"


def _stranger(data: dict[str, Value]) -> None:
    data["files"]["/a"] = {"created": "yes", "mode": None, "folders": [], "layers": []}


def _folderless(data: dict[str, Value]) -> None:
    data["files"]["config.toml"] = {"created": True, "mode": None, "folders": [], "layers": []}


def _kept_secret(data: dict[str, Value]) -> None:
    value = data["files"]["/home/u/.codex/config.toml"]["layers"][0]["values"][1]
    value["origin"], value["origin_kept"], value["entry"] = "sk-put-by-hand", "memory", ""


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(_without_version, "damaged, $ breaks the rule 'required'", id="no version"),
        pytest.param(_later, "a newer toolsync wrote it", id="newer"),
        pytest.param(
            _nameless, "damaged, key: nobody knows which keyring entry holds what stood there", id="no entry's name"
        ),
        pytest.param(_short_key, "damaged, $.key breaks the rule 'pattern'", id="short key"),
        pytest.param(_stranger, "damaged, $.files['/a'].created breaks the rule 'type'", id="wrong type"),
        pytest.param(_folderless, "damaged, a file without the folder that it is in", id="a path that depends"),
        pytest.param(_kept_secret, "damaged, key: this text must not be remembered here", id="a secret put in"),
    ],
)
def test_what_cannot_be_read_is_refused_in_plain_words(
    tmp_path: Path, spoil: Callable[[dict[str, Value]], None], said: str
) -> None:
    data = memory_form.to_json(FULL)
    spoil(data)
    path = tmp_path / "memory.json"
    path.write_text(json.dumps(data))
    with pytest.raises(MemoryFileError) as caught:
        memory.read(path)
    assert re.sub(r'\["(.*?)"\]', r"['\1']", caught.value.message) == f"{path}: {said}"
    assert caught.value.hint
    assert "sk-put-by-hand" not in caught.value.message


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_what_earlier_versions_wrote_is_read_and_written_anew(tmp_path: Path, version: int) -> None:
    """The first named no entries, and up to the third nobody knew whose key a copy is; begun came with the fifth."""
    data = memory_form.to_json(FULL) | {"version": version}
    applied = data.pop("applied")
    if version >= 3:
        data["copies"] = applied
    for file in (*data["files"].values(), *data["entries"].values()) if version < 5 else ():
        del file["begun"]
    for one in data["files"]["/home/u/.codex/config.toml"]["layers"][0]["values"] if version == 1 else ():
        del one["entry"]
    path = tmp_path / "memory.json"
    path.write_text(json.dumps(data))
    read = memory.read(path)
    assert (set(read.files), read.key) == (set(FULL.files), FULL.key)
    assert (read.applied, read.copies) == (FULL.applied, {})
    assert json.loads(memory.dump(read))["version"] == memory_form.VERSION


@pytest.mark.parametrize(
    ("asked", "is_copy", "copies", "applied"),
    [
        ("work", False, {}, {"one": "work", "two": "work"}),
        ("second", False, {}, {"one": "second"}),
        ("", False, {}, {"one": "work", "two": "work"}),
        ("", True, {}, {"two": "work"}),
        ("", True, {"one": "second"}, {"one": "second"}),
        ("work", False, {"two": "second"}, {"one": "work", "two": "second"}),
    ],
    ids=["one profile", "another asks", "one profile, silent", "whose copy", "another's copy", "two profiles"],
)
def test_which_profile_a_tool_was_set_to_is_told_by_its_file(
    tmp_path: Path, asked: str, is_copy: bool, copies: dict[str, str], applied: dict[str, str]
) -> None:
    """Before version 6 nobody noted it; where several profiles were in use, a file that names none is anybody's."""
    asking = tmp_path / "asking"
    asking.write_text(f"python -m toolsync key print {asked}\n" if asked else "quiet = 1\n")
    layers = [LayerMemory(tool, "x", "0" * 64, None, (), (), "", is_copy and tool == "one") for tool in ("one", "two")]
    files = {
        str(asking): FileMemory(layers=(layers[0],)),
        str(tmp_path / "gone"): FileMemory(layers=(replace(layers[1], holds_key=copies.get("two", "") != ""),)),
    }
    data = memory_form.to_json(Memory(KEY, "work", files)) | {"version": 5, "copies": copies}
    del data["applied"]
    path = tmp_path / "memory.json"
    path.write_text(json.dumps(data))
    read = memory.read(path)
    assert read.applied == applied
    assert [read.profile_of(tool) for tool in ("one", "two")] == [
        applied.get(tool, "work" if {*applied.values()} == {"work"} else "") for tool in ("one", "two")
    ]


def test_version_1_called_entries_by_their_place() -> None:
    """The names are those that version 1 gave: SHA-256 over file, tool, file row, and path or place in the inverse."""
    data = memory_form.to_json(FULL) | {"version": 1}
    layer = data["files"]["/home/u/.codex/config.toml"]["layers"][0]
    for one in (*layer["values"], *layer["inverse"]):
        one.pop("entry", None)
    jsonschema.Draft202012Validator(schema("memory")).validate(data)
    read = memory_form.from_json(data).files["/home/u/.codex/config.toml"].layers[0]
    assert (read.inverse, read.values[1].entry) == (
        (Splice(0, 3, "# é\n"), KeptSplice(9, 2, "origin-26666f5cebb5f1c0347bef9ce0558425")),
        "origin-a234397360a0929a8fe7bd140a1f9c97",
    )


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[]", b"null", b"\x1b[31m"], ids=repr)
def test_a_damaged_file_is_refused_and_set_aside_only_when_asked(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "memory.json"
    path.write_bytes(raw)
    with pytest.raises(MemoryFileError, match="damaged") as caught:
        memory.read(path)
    assert "\x1b" not in caught.value.message
    assert path.read_bytes() == raw
    aside = [memory.set_aside(path)]
    path.write_bytes(raw)
    aside.append(memory.set_aside(path))
    assert ([name.name for name in aside], path.exists()) == (["memory.json.damaged", "memory.json.damaged1"], False)
    assert [name.read_bytes() for name in aside] == [raw, raw]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts | st.dates() | st.times(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(values, values)
def test_marks_are_equal_exactly_when_values_are(one: Value, other: Value) -> None:
    assert (mark(one) == mark(other)) == equal(one, other)
    assert (mark(one, KEY) == mark(other, KEY)) == equal(one, other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param(True, 1, False, id="true is not 1"),
        pytest.param(1, 1.0, False, id="1 is not 1.0"),
        pytest.param(0.0, -0.0, False, id="zero has a sign"),
        pytest.param(float("nan"), float("nan"), True, id="NaN is NaN"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, id="order of keys"),
        pytest.param(dt.date(2026, 1, 2), "2026-01-02", False, id="a date is no text"),
        pytest.param("\ud800", "\ud801", False, id="lone surrogates"),
    ],
)
@pytest.mark.parametrize("secret", [False, True], ids=["plain", "secret"])
def test_holds_compares_as_the_documents_do(one: Value, other: Value, *, same: bool, secret: bool) -> None:
    ours = Remembered("a", None, "memory", mark(one, KEY if secret else None), secret=secret)
    assert (holds(ours, one, KEY), holds(ours, other, KEY)) == (True, same)


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"[" * 99_999], ids=["empty", "torn", "bytes", "deep"])
def test_what_is_no_json_is_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "memory.json"
    path.write_bytes(raw)
    with pytest.raises(MemoryFileError, match="damaged, it is no JSON"):
        memory.read(path)
