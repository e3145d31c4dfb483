"""Servers that mean no good, or are broken beyond any row: doctor ends in time, stays small, and lets no key out."""

from __future__ import annotations

import base64
import gzip
import json
import time
import tracemalloc
import zlib
from functools import cache
from itertools import repeat
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.doctor.cases import Diagnosed, diagnosed, realised
from tests.doctor.test_doctor_cases import leaks
from tests.doctor.test_well import CHUNKS, KEY, Data, case, chat, events, ok
from tests.scripted import scripted
from toolsync.probe.classifier import Asked
from toolsync.probe.network import LONGEST_BODY, Network, send
from toolsync.probe.stream import fault, listen

QUICK = Network(connect_seconds=0.5, read_seconds=0.3)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
BODY = b'{"error": {"message": "'


@cache
def bomb(layers: int) -> bytes:
    """A body of 64 MiB, as small as it gets in so many layers of gzip."""
    body = bytes(2**26)
    for _ in range(layers):
        body = gzip.compress(body)
    return body


@pytest.mark.parametrize("layers", [1, 2])
def test_what_is_packed_small_does_not_come_out_large(layers: int) -> None:
    encoding = ", ".join(repeat("gzip", layers)).encode()
    body = bomb(layers)
    answer = HEAD + b"Content-Encoding: " + encoding + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    network = Network(read_seconds=5)
    with scripted([answer]) as server:
        tracemalloc.start()
        got = send("GET", f"{server.base_url}/models", None, {}, network)
        heard = listen(f"{server.base_url}/chat/completions", {}, {}, network, "openai-chat")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(got.body) == LONGEST_BODY
    assert heard.answer is not None
    assert heard.is_left
    assert most < 2**25


PACKED = {
    "gzip": ("gzip", gzip.compress(BODY)),
    "zlib": ("deflate", zlib.compress(BODY)),
    "bare": ("deflate", zlib.compress(BODY, wbits=-15)),
    "twice": ("deflate, gzip", gzip.compress(zlib.compress(BODY))),
    "what nobody knows": ("zz", BODY),
}


@pytest.mark.parametrize(("encoding", "body"), PACKED.values(), ids=PACKED)
def test_what_is_packed_comes_out_as_it_was(encoding: str, body: bytes) -> None:
    with scripted([_answer("200 OK", body, Content_Encoding=encoding.encode())]) as server:
        assert send("GET", f"{server.base_url}/models", None, {}, Network()).body == BODY


OTHERWISE = {
    "Brotli around JSON": ("br", BODY),
    "Zstandard around a stream": ("zstd", b"\ndata: {}\n\n"),
    "gzip around JSON": ("gzip", BODY),
    "gzip that is cut off": ("gzip", gzip.compress(BODY)[:8]),
}


@pytest.mark.parametrize(("encoding", "body"), OTHERWISE.values(), ids=OTHERWISE)
def test_what_is_not_packed_as_it_says_is_said_to_be_so(encoding: str, body: bytes) -> None:
    with scripted([_answer("200 OK", body, Content_Encoding=encoding.encode())]) as server:
        with pytest.raises(httpx.DecodingError):
            send("GET", f"{server.base_url}/models", None, {}, Network())
        heard = listen(f"{server.base_url}/chat/completions", {}, {}, Network(), "openai-chat")
    found = fault(heard, Asked(model="m", streams=True))
    assert found is not None
    assert found.cause == "encoding_mismatch"


def test_nothing_that_is_packed_is_nothing() -> None:
    with scripted([_answer("200 OK", gzip.compress(b""), Content_Encoding=b"gzip")]) as server:
        assert send("GET", f"{server.base_url}/models", None, {}, Network()).body == b""


DRIPPING = {"headers": [HEAD, *repeat(b"X-A: a\r\n", 100)], "comments": [HEAD, b"\r\n", *repeat(b": keep\n\n", 100)]}


@pytest.mark.parametrize("pieces", DRIPPING.values(), ids=DRIPPING)
def test_what_drips_for_ever_is_left(pieces: list[bytes]) -> None:
    with scripted(pieces, pause_seconds=0.1) as server:
        before = time.monotonic()
        heard = listen(f"{server.base_url}/chat/completions", {}, {}, QUICK, "openai-chat")
        assert time.monotonic() - before < 8
    assert heard.is_left or type(heard.fault).__name__ == "ReadTimeout"


def test_an_answer_that_breaks_off_is_kept_as_far_as_it_came() -> None:
    with scripted([HEAD + b"Content-Length: 900\r\n\r\n" + BODY]) as server:
        got = send("GET", f"{server.base_url}/models", None, {}, Network())
    assert (got.status, got.body) == (200, BODY)


def _asked(place: Path, answer: bytes, row: Data) -> Diagnosed:
    """What doctor says of a gateway that answers everything so."""
    with scripted([answer]) as server:
        text = json.dumps(row).replace("{main}", f"127.0.0.1:{server.port}")
        with realised(place, json.loads(text)) as stage:
            return diagnosed(stage)


def _answer(status: str, body: bytes, **headers: bytes) -> bytes:
    lines = b"".join(name.replace("_", "-").encode() + b": " + value + b"\r\n" for name, value in headers.items())
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    return f"HTTP/1.1 {status}\r\n".encode() + lines + length + body


FORMS = [KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode(), f"Bearer {KEY}"]
ECHOED = json.dumps({"error": {"message": " ".join(FORMS)}}).encode()
LISTED = json.dumps({"data": [{"id": None}, {"id": 5}, {"id": KEY}, 7]}).encode()
ANSWERS = {
    "the key in all its forms": (_answer("401 X", ECHOED, X_Key=KEY.encode()), 1),
    "the key as a model": (_answer("200 OK", LISTED, Content_Type=b"application/json"), 1),
    "bytes that are no text": (_answer("500 X", b'{"error": "\xff\xfe\xc3("}', Content_Type=b"application/json"), 1),
    "lists in lists": (_answer("400 X", b"[" * 90_000, Content_Type=b"application/json"), 1),
    "a number of many digits": (_answer("400 X", b'{"error": {"code": %s}}' % (b"9" * 5000)), 1),
    "headers that never end": (HEAD + b"X-A: a\r\n" * 30_000, 3),
    "a redirect into the file system": (_answer("302 X", b"", Location=b"file:///etc/passwd"), 1),
    "a redirect to half a bracket": (_answer("302 X", b"", Location=b"http://[::1/"), 1),
    "a type of no alphabet": (_answer("401 X", b"{}", Content_Type=b"\xff\xfe; charset=\xff"), 1),
    "a date of no calendar": (_answer("401 X", b"", Date=b"Mon, 99 Foo 99999 99:99:99 +9900"), 1),
    "a status of no class": (_answer("999 X", b""), 1),
    "no HTTP at all": (b"SSH-2.0-OpenSSH_9.2\r\n", 3),
}


@pytest.mark.parametrize("row", [case(ok(chat())), case(events(*CHUNKS))], ids=["whole", "stream"])
@pytest.mark.parametrize(("answer", "code"), ANSWERS.values(), ids=ANSWERS)
def test_whatever_comes_there_is_an_end_and_no_key_in_it(tmp_path: Path, answer: bytes, code: int, row: Data) -> None:
    said = _asked(tmp_path, answer, row)
    assert said.code == code, said.err
    assert leaks(said, KEY) == []
