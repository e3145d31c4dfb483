"""GPU memory and KV caches from what exporters, engines and amd-smi say."""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.bench.records import rung
from tests.conftest import needs
from toolsync.bench.gpu import Watch, Wish, amd, dcgm
from toolsync.bench.gpu.amd import Amd
from toolsync.bench.gpu.dcgm import Dcgm, _unnamed
from toolsync.bench.gpu.engine import Engine, kv_cache_share
from toolsync.bench.gpu.exposition import points
from toolsync.bench.gpu.polling import Place, Poller
from toolsync.bench.gpu.reading import Recording, UnreadableError
from toolsync.bench.gpu.scrape import _connection


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("a 1", ({}, 1.0), id="bare"),
        pytest.param("a{} 1", ({}, 1.0), id="no-labels"),
        pytest.param('a{x="1",y="2"} 1.5e3', ({"x": "1", "y": "2"}, 1500.0), id="labels"),
        pytest.param('a{x="1",} 1 1790347303000', ({"x": "1"}, 1.0), id="trailing-comma-and-stamp"),
        pytest.param(r'a{x="q\"b\\n\n}"} 2', ({"x": 'q"b\\n\n}'}, 2.0), id="escapes"),
        pytest.param('a { x = "1" } 1', None, id="a-space-before-the-labels"),
        pytest.param("a NaN", None, id="nan"),
        pytest.param("a +Inf", None, id="infinite"),
        pytest.param("a", None, id="no-value"),
        pytest.param('a{x="1" 3', None, id="unclosed"),
        pytest.param("ab 1", None, id="another-name"),
        pytest.param("# HELP a 1", None, id="comment"),
    ],
)
def test_a_line_of_an_exposition(line: str, expected: tuple[dict[str, str], float] | None) -> None:
    found = [(point.labels, point.value) for point in points(line, {"a"})]
    assert found == ([] if expected is None else [expected])


DCGM = """\
# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H200",Hostname="n1"} 4096
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H200",Hostname="n1"} 9223372036854775794
DCGM_FI_DEV_FB_USED{gpu="0",device="nvidia0",Hostname="n2",GPU_I_ID="3"} 7
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H200",Hostname="n1"} 139000
DCGM_FI_DEV_FB_RESERVED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H200",Hostname="n1"} 675
DCGM_FI_DEV_FB_TOTAL{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H200",Hostname="n1"} 143771
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H200",Hostname="n1"} 97
"""


def test_what_the_exporter_says() -> None:
    told = [(one.gpu, one.used_mib, one.total_mib, one.reserved_mib, one.why) for one in dcgm.readings(DCGM)]
    assert told == [
        ("GPU-a", 4096.0, 143771.0, 675.0, ""),
        ("GPU-b", None, 143771.0, None, "the exporter does not say how much is in use"),
        (f"{_unnamed('n2')}:0/3", 7.0, None, None, ""),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25', 0.25, id="vllm"),
        pytest.param('vllm:gpu_cache_usage_perc{model_name="m"} 0.5', 0.5, id="older-vllm"),
        pytest.param(
            'vllm:kv_cache_usage_perc{engine="0"} 0.1\nvllm:kv_cache_usage_perc{engine="1"} 0.7', 0.7, id="two"
        ),
        pytest.param('sglang:token_usage{tp_rank="0"} 0.915', 0.915, id="sglang"),
        pytest.param("vllm:kv_cache_usage_perc 0", 0.0, id="a-true-zero"),
        *(
            pytest.param(f"vllm:kv_cache_usage_perc {said}", None, id=f"no-share-{said}")
            for said in ("-1", "1.5", "85", "1e300", "NaN")
        ),
        pytest.param("vllm:num_requests_running 3", None, id="nothing-of-it"),
        pytest.param("", None, id="empty"),
    ],
)
def test_how_full_a_kv_cache_is(text: str, expected: float | None) -> None:
    assert kv_cache_share(text) == expected


def amd_row(used: str, gpu: int = 0) -> str:
    return f'{{"gpu": {gpu}, "mem_usage": {{"total_vram": {{"value": 20464, "unit": "MB"}}, "used_vram": {used}}}}}'


MB = '{"value": 26, "unit": "MB"}'
NOT_KNOWN = '"N/A"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"[{amd_row(MB)}]", [("0", 26.0, "")], id="list"),
        pytest.param(f'{{"gpu_data": [{amd_row("26", 1)}]}}', [("1", 26.0, "")], id="rocm-7-and-a-bare-number"),
        pytest.param(f"[{amd_row(MB.replace('MB', 'GB'))}]", [("0", 26624.0, "")], id="another-unit"),
        pytest.param(f"[{amd_row(NOT_KNOWN)}]", [("0", None, "amd-smi says N/A")], id="not-available"),
        pytest.param(f"[{amd_row(MB.replace('MB', 'furlong'))}]", [("0", None, "amd-smi says N/A")], id="no-unit"),
        *(
            pytest.param(f"[{amd_row(said)}]", [("0", None, "amd-smi says N/A")], id=f"no-figure-{number}")
            for number, said in enumerate(("NaN", "1e999", '"inf"', '"nan"', "-1", "true", "9" * 300))
        ),
        pytest.param('[{"gpu": 0, "mem_usage": "N/A"}]', [("0", None, "amd-smi says N/A")], id="nothing"),
        pytest.param("[]", [], id="no-gpu"),
    ],
)
def test_what_amd_smi_says(text: str, expected: list[tuple[str, float | None, str]]) -> None:
    assert [(one.gpu, one.used_mib, one.why) for one in amd.readings(text)] == expected


@pytest.mark.parametrize("text", ["", "ERROR: driver not loaded", '{"a": 1}', "[1]", "null"])
def test_what_amd_smi_does_not_say_is_no_figure(text: str) -> None:
    with pytest.raises(UnreadableError, match="amd-smi"):
        amd.readings(text)


@contextmanager
def served(*bodies: tuple[int, str]) -> Iterator[str]:
    """Answers each request in turn, the last one ever after, and hangs up now and then, as servers do."""
    left = list(bodies)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, text = left.pop(0) if len(left) > 1 else left[0]
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = len(left) % 2 == 0

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def polled(place: Place, wanted: int) -> Recording:
    poller = Poller(place, 10)
    poller.start()
    assert poller.wait(10)
    for _ in range(500):
        if len(poller._samples) >= wanted or not poller._thread.is_alive():
            break
        poller._end.wait(0.01)
    return poller.stop()


def test_an_exporter_is_asked_again_and_again() -> None:
    second = DCGM.replace(" 4096\n", " 5000\n")
    with served((200, DCGM), (200, DCGM), (200, second)) as url:
        found = polled(Dcgm(url), 5)
    used = [sample.readings[0].used_mib for sample in found.samples]
    assert (found.source, found.reason) == ("dcgm", "")
    assert used[:4] == [4096.0, 4096.0, 5000.0, 5000.0]
    assert [sample.at_ns for sample in found.samples] == sorted({sample.at_ns for sample in found.samples})


def test_a_cluster_elsewhere_is_watched_by_its_addresses() -> None:
    with served((200, f"{DCGM}\nvllm:kv_cache_usage_perc 0.4")) as url:
        watch = Watch(Wish("http://192.0.2.7:8000/v1", interval_ms=10, dcgm_url=url, metrics_url=url))
        began = time.perf_counter_ns()
        assert watch.start() == ""
        watched = watch.stop()
    whole = replace(rung(1), started_ns=began, ended_ns=time.perf_counter_ns())
    (filled,) = watched.filled([whole])
    assert [(one.uuid, one.peak_mib, one.serves) for one in filled.gpus] == [
        ("GPU-a", 4096.0, None),
        ("GPU-b", None, None),
        (f"{_unnamed('n2')}:0/3", 7.0, None),
    ]
    assert filled.kv_cache_peak == 0.4
    assert (watched.gpu.source, watched.gpu.interval_ms) == ("dcgm", 10)
    assert watched.gpu.reason.startswith("An exporter shows what it collected last")


def test_a_prometheus_that_collects_several_is_called_one() -> None:
    assert Dcgm("http://p.example/federate?match[]=DCGM_FI_DEV_FB_USED").source == "prometheus"


@pytest.mark.parametrize(
    ("bodies", "wanted", "reason"),
    [
        pytest.param([(404, "")], 99, "the address answers with status 404", id="not-found"),
        pytest.param(
            [(200, "up 1")], 99, "the exporter answers, and names no DCGM_FI_DEV_FB_USED", id="another-exporter"
        ),
        pytest.param(
            [(200, DCGM), (503, ""), (200, DCGM)],
            3,
            "some questions had no answer: the address answers with status 503",
            id="stumbles",
        ),
        pytest.param(
            [(200, DCGM), (503, "")], 99, "it ended midway: the address answers with status 503", id="gone-midway"
        ),
    ],
)
def test_an_exporter_that_fails(bodies: list[tuple[int, str]], wanted: int, reason: str) -> None:
    with served(*bodies) as url:
        found = polled(Dcgm(url), wanted)
    assert found.reason == reason
    assert [sample.readings[0].used_mib for sample in found.samples[:2]] == [4096.0] * min(len(found.samples), 2)
    assert bool(found.samples) == (bodies[0] == (200, DCGM))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        pytest.param("file:///etc/passwd", "the address is not one of http or https", id="file"),
        pytest.param("http://", "the address is not one of http or https", id="no-host"),
        pytest.param("http://127.0.0.1:1/metrics", "the address does not answer: Connection refused", id="refused"),
        pytest.param("http://h:99999/", "the address does not answer: ValueError", id="no-port"),
    ],
)
def test_an_address_that_cannot_be_asked(url: str, reason: str) -> None:
    assert polled(Dcgm(url), 1).reason == reason


def test_an_engine_is_asked_for_its_cache() -> None:
    with served((200, "vllm:kv_cache_usage_perc 0.1"), (200, "vllm:kv_cache_usage_perc 0.4")) as url:
        found = polled(Engine(url), 3)
    assert [sample.readings[0].used_mib for sample in found.samples][:3] == [0.1, 0.4, 0.4]
    with served((200, "up 1")) as url:
        assert polled(Engine(url), 1).reason.startswith("it answers, and says nothing of a KV cache")


def test_amd_smi_is_run_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs(os.name == "posix", "needs a shell")
    told = f"[{amd_row(MB)}]"
    file = tmp_path / "amd-smi"
    file.write_text(f"#!/bin/sh\n[ \"$*\" = 'metric --mem-usage --json' ] || exit 3\necho '{told}'\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = polled(Amd(), 2)
    assert (found.reason, found.samples[1].readings[0].used_mib) == ("", 26.0)
    file.write_text("#!/bin/sh\necho 'no driver' >&2\nexit 4\n")
    assert polled(Amd(), 1).reason == "amd-smi ended with status 4: no driver"
    file.unlink()
    assert polled(Amd(), 1).reason == "amd-smi cannot be run: No such file or directory"


def test_hosts_of_an_exporter_are_told_apart_and_not_named() -> None:
    rows = [f'DCGM_FI_DEV_FB_USED{{gpu="0",Hostname="{host}"}} 7' for host in ("gpu-7.example", "gpu-8.example")]
    for found in (dcgm.readings("\n".join(rows)), dcgm.readings("\n".join(rows).replace("Hostname", "instance"))):
        called = [one.gpu for one in found]
        assert len(set(called)) == 2
        assert not any("example" in one for one in called)


def test_an_exporters_certificate_is_checked_as_other_programs_check_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 is stricter of its own accord."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    own = context.verify_flags
    context.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    monkeypatch.setattr(ssl, "create_default_context", lambda: context)
    _connection("https", "127.0.0.1", 9)
    assert context.verify_flags == own & ~(ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN)
