"""Records: what is written is what is read, and what is no record is named as that."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.bench.records import record, request, rung
from tests.keys import invented
from toolsync import resources
from toolsync.bench.record import Gpu, GpuUse, Record, Request
from toolsync.bench.record_file import dumped, loaded, outlined
from toolsync.errors import DocumentError
from toolsync.masking import Secret

_GPU = GpuUse("GPU-1", "a card", 81920.0, 1000.0, 2000.5, ((0.0, 1000.0), (500.0, 2000.5)))
_RECORDS: dict[str, Record] = {
    "plain": record(),
    "none finished": record(rungs=(), ladder=(1, 2)),
    "failed": record(rung(1, Request(0.0, fault="unsent"), request(status=429, fault="status"))),
    "gpu": record(rung(1, gpus=(_GPU,), kv_cache_peak=0.25), gpu=Gpu("nvml", "", 500)),
    "notes": record(notes=("one", "两")),
    "rate": record(parameters=replace(record().parameters, rate=2.5, refused=("ignore_eos",), duration_seconds=1.0)),
}


@pytest.mark.parametrize("one", _RECORDS.values(), ids=_RECORDS)
def test_what_is_written_is_what_is_read(one: Record) -> None:
    assert loaded(dumped(one), "run.json") == one


def _without(data: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != name}


_WHOLE = json.loads(dumped(record()))


def _with(number: bytes) -> bytes:
    return dumped(record()).replace(b'"ttft_ms": 100.0', b'"ttft_ms": ' + number)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no record of a run"),
        (b'{"schema": "toolsync/bench-record/2"}', "a record of another version of toolsync .toolsync/bench-record/2"),
        (b'{"schema": "toolsync/memory/2"}', "no record of a run"),
        (json.dumps(_without(_WHOLE, "rungs")).encode(), "it is not as"),
        (json.dumps({**_WHOLE, "prompt": "x"}).encode(), "it is not as"),
        (json.dumps({**_WHOLE, "ladder": [0]}).encode(), "ladder.0 is not as"),
        (json.dumps({**_WHOLE, "rungs": 1}).encode(), "rungs is not as"),
        (json.dumps({**_WHOLE, "rungs": [1]}).encode(), "rungs.0 is not as"),
        (dumped(record(rung(1, request(itl_ms=-1.0, tpot_ms=5.0)))), "itl_ms"),
        (dumped(record(rung(1, request(itl_ms=float("nan"))))), "no JSON"),
        (dumped(record()).replace(b'"itl_ms": [5.0,', b'"itl_ms": ["=1+1",'), "itl_ms"),
        *[(_with(number), "a number in it is none") for number in (b"1e999", b"1e300", b"5e-324", b"1" + b"0" * 400)],
        (dumped(record()).replace(b'"completion_tokens": 4', b'"completion_tokens": 1' + b"0" * 400), "a number in it"),
        (dumped(record()).replace(b'"itl_ms": [5.0,', b'"itl_ms": [1e300,'), "a number in it is none"),
        (dumped(record()).replace(b'"max_tokens": 256', b'"max_tokens": ' + b"[" * 500 + b"]" * 500), "accepted"),
    ],
    ids=[
        "cut",
        "deep",
        "list",
        "later version",
        "another file of ours",
        "without rungs",
        "with a prompt",
        "nobody at once",
        "rungs",
        "a rung",
        "back in time",
        "NaN",
        "text",
        "infinite",
        "huge",
        "next to nothing",
        "whole and huge",
        "tokens without end",
        "a huge gap",
        "deep parameters",
    ],
)
def test_what_is_no_record_is_named(raw: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        loaded(raw, "run.json")


@pytest.mark.parametrize("one", _RECORDS.values(), ids=_RECORDS)
def test_an_outline_is_the_record_without_what_was_measured(one: Record) -> None:
    bare = replace(one, rungs=tuple(replace(rung, requests=(), gpus=()) for rung in one.rungs))
    assert outlined(dumped(one), "run.json") == bare


@pytest.mark.parametrize(
    "raw", [b"{", b"[]", json.dumps(_without(_WHOLE, "label")).encode()], ids=["cut", "list", "no label"]
)
def test_what_is_no_record_has_no_outline(raw: bytes) -> None:
    with pytest.raises(DocumentError):
        outlined(raw, "run.json")


def test_a_key_that_a_server_says_is_not_kept() -> None:
    key = Secret(invented("echo")).reveal()
    one = record(rung(1, request(finish_reason=key)), label=f"a {key}", notes=(f"{key} it is",))
    assert key not in dumped(one).decode()
    assert loaded(dumped(one), "run.json").label == "a ***"


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(resources.schema("bench-record"))
