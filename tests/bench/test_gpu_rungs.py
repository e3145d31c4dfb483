"""Samples laid over rungs, which GPU serves, and where to look: tables of values, and this machine's own ports."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.bench.records import rung
from tests.conftest import needs
from toolsync.bench.gpu import Watch, Watched, Wish, peak_mib, rungs
from toolsync.bench.gpu import watch as watching
from toolsync.bench.gpu.nvml import Nvml
from toolsync.bench.gpu.placement import Listener, Placement, is_here, listeners, placed, port_of
from toolsync.bench.gpu.reading import Holder, Reading, Recording, Sample
from toolsync.bench.record import GpuUse, Rung

S = 1_000_000_000


def recording(*used: float | None, reason: str = "", why: str = "", total: float | None = 1000.0) -> Recording:
    """One sample of one GPU each second, from second 0 on."""
    samples = (Sample(at * S, (Reading("A", one, total, why=why),)) for at, one in enumerate(used))
    return Recording("nvml", tuple(samples), reason=reason)


@pytest.mark.parametrize(
    ("seen", "span", "baseline", "peak", "why"),
    [
        pytest.param(recording(1, 2, 9, 3, 50), (1.5, 3.5), 2, 9, "", id="what-is-outside-does-not-count"),
        pytest.param(recording(1, 2, 9, 3), (2, 3), 9, 9, "", id="the-edges-are-inside"),
        pytest.param(recording(1, 2, 3), (-1, 1.5), None, 2, "", id="no-sample-before"),
        pytest.param(recording(0, 0, 0), (0.5, 2.5), 0, 0, "", id="a-true-zero"),
        pytest.param(
            recording(1, 2, 3),
            (1.2, 1.5),
            2,
            None,
            "no sample fell into the rung",
            id="shorter-than-the-interval",
        ),
        pytest.param(recording(1, 2, reason="gone"), (5, 9), None, None, "gone", id="the-sampler-had-ended"),
        pytest.param(recording(1, 2, 3, 4, reason="gone"), (0.5, 9), 1, 4, "", id="it-ended-in-this-rung"),
        pytest.param(recording(None, None, why="[N/A]"), (0.5, 9), None, None, "[N/A]", id="nothing-is-told"),
        pytest.param(recording(None, 5, None, why="[N/A]"), (0.5, 9), None, 5, "", id="told-now-and-then"),
    ],
)
def test_a_rung(
    seen: Recording, span: tuple[float, float], baseline: float | None, peak: float | None, why: str
) -> None:
    started_ns, ended_ns = int(span[0] * S), int(span[1] * S)
    (use,) = rungs.uses(seen, rungs.Span(started_ns, started_ns, ended_ns))
    assert (use.baseline_mib, use.peak_mib, use.why, use.serves) == (baseline, peak, why, None)


@pytest.mark.parametrize(
    ("interval_ms", "why"),
    [(500, "its source said nothing during the rung"), (1500, rungs.UNSEEN), (None, rungs.UNSEEN)],
    ids=["hung", "too short a rung", "who knows"],
)
def test_a_source_that_hangs_is_told_from_a_rung_that_is_short(interval_ms: int | None, why: str) -> None:
    (use,) = rungs.uses(recording(1, 2), rungs.Span(2 * S, 2 * S, 4 * S), None, interval_ms)
    assert (use.peak_mib, use.why) == (None, why)


def test_what_the_warm_up_takes_is_no_part_of_the_baseline() -> None:
    seen = recording(1, 5, 5, 6, 8, 9)  # before all; warm-up, rung, rung; warm-up, rung
    watched = Watched(seen, Recording(""), Placement(None), 1000)
    times = ((1, 2, 3), (2, 5, 6))
    ladder = [replace(rung(step), started_ns=begin * S, ended_ns=end * S) for step, begin, end in times]
    filled = [one.gpus[0] for one in watched.filled(ladder)]
    assert [(one.baseline_mib, one.peak_mib, one.delta_mib) for one in filled] == [(1, 6, 5), (6, 9, 3)]


def test_a_source_that_was_late_knows_no_baseline() -> None:
    seen = Recording("ssh", recording(1, 2, 3).samples[1:])
    one = replace(rung(1), started_ns=S // 2, ended_ns=3 * S)
    (filled,) = Watched(seen, Recording(""), Placement(None), 1000).filled([one])
    assert (filled.gpus[0].baseline_mib, filled.gpus[0].peak_mib) == (None, 3)


def test_nothing_seen_is_no_gpu() -> None:
    assert rungs.uses(Recording("", reason="no driver"), rungs.Span(0, 0, S)) == ()
    assert rungs.cache_peak(Recording(""), 0, S) is None


def test_a_cache_peaks_inside_its_rung() -> None:
    shares = recording(0.9, 0.2, 0.4, 0.8, total=1.0)
    assert rungs.cache_peak(shares, 1 * S, 2 * S) == 0.4


def use(peak: float | None, *, gpu: str = "A", serves: bool | None = None, total: float | None = 1000.0) -> GpuUse:
    samples = () if peak is None else ((0.0, peak),) * 3
    return GpuUse(gpu, "H200", total, None, peak, samples, serves=serves)


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        pytest.param((), None, id="none"),
        pytest.param((use(5),), 5, id="one"),
        pytest.param((use(5), use(7, gpu="B")), 12, id="nobody-knows-which"),
        pytest.param((use(5, serves=False), use(7, gpu="B", serves=True)), 7, id="the-one-that-serves"),
        pytest.param((use(5), use(None, gpu="B")), None, id="half-of-it-is-unknown"),
        pytest.param((use(0),), 0, id="a-true-zero"),
    ],
)
def test_the_peak_of_what_serves(gpus: tuple[GpuUse, ...], expected: float | None) -> None:
    assert peak_mib(replace(rung(1), gpus=gpus)) == expected


FLAT = (
    "GPU memory is flat over the whole ladder (0.9 to 0.9 of 1.0 GiB): the engine takes it when it starts, so its peak"
)


def ladder(*peaks: float, cache: float | None = None, serves: bool | None = None) -> tuple[Rung, ...]:
    return tuple(replace(rung(1), gpus=(use(one, total=1024.0, serves=serves),), kv_cache_peak=cache) for one in peaks)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(
            ladder(900, 905),
            [f"{FLAT} tells nothing of load. Its KV cache does: --metrics-url ENGINE/metrics."],
            id="flat",
        ),
        pytest.param(
            ladder(900, 905, cache=0.3), [f"{FLAT} tells nothing of load. Its KV cache does, beside it."], id="cache"
        ),
        pytest.param(ladder(900, 911), [], id="more-than-a-hundredth"),
        pytest.param(
            ladder(3, 3),
            ["GPU memory is nearly empty over the whole ladder (0.0 to 0.0 of 1.0 GiB): another GPU seems to serve."],
            id="empty",
        ),
        pytest.param((rung(1), rung(2)), [], id="nothing-seen"),
        pytest.param(tuple(replace(one, gpus=(use(None),)) for one in (rung(1), rung(2))), [], id="unknown"),
        pytest.param((replace(rung(1), gpus=(use(9, total=None),)),), [], id="of-an-unknown-whole"),
    ],
)
def test_a_ladder_without_a_slope_is_explained(seen: tuple[Rung, ...], expected: list[str]) -> None:
    assert list(rungs.notes(seen)) == expected


def test_too_few_samples_are_said() -> None:
    few = replace(use(900), samples=((0.0, 900.0), (500.0, 100.0)))
    assert [note.split(",")[0] for note in rungs.notes([replace(rung(1), gpus=(few,))])] == [
        "A rung had fewer than three samples of GPU memory"
    ]


def test_a_rung_without_a_sample_is_named_with_what_would_give_it_one() -> None:
    unseen = replace(use(None, total=1024.0), why=rungs.UNSEEN)
    seen = [
        replace(rung(1), gpus=(unseen, unseen)),
        replace(rung(8), gpus=(use(900, total=1024.0),)),
        replace(rung(2), gpus=(unseen,)),
    ]
    flat, unknown = rungs.notes(seen)
    assert flat.startswith("GPU memory is flat in the rungs that have samples (0.9 to 0.9 of 1.0 GiB)")
    assert unknown == (
        "GPU memory at 1, 2 is unknown: no sample fell into the rung, which took 1.00 s at most. Sample more often"
        " (`sample_interval_ms` under `observability` in the profile), or let rungs last longer"
        " (--requests, --duration)."
    )


SERVER = Listener(10, "vllm", frozenset({10, 11}), frozenset({20}))
HELD = [Holder("A", 11, 5.0), Holder("B", 99, 5.0)]


@pytest.mark.parametrize(
    ("who", "held", "sampled", "gpus", "text"),
    [
        pytest.param([SERVER], HELD, "AB", {"A"}, "", id="a-worker-of-its-own"),
        pytest.param([SERVER], [Holder("B", 20, None)], "AB", {"B"}, "", id="started-beside-it"),
        pytest.param([SERVER], [*HELD, Holder("B", 20, 1.0)], "AB", {"A"}, "", id="its-own-come-first"),
        pytest.param([SERVER], [Holder("A", 10, 1.0), Holder("B", 11, 1.0)], "AB", {"A", "B"}, "", id="two-gpus"),
        pytest.param(
            [SERVER], HELD, "B", {"A"}, "also holds memory on A, which is not among the GPUs", id="not-the-one-watched"
        ),
        pytest.param(
            [SERVER], [Holder("A", 99, 1.0)], "A", None, "holds no GPU memory that can be seen", id="a-tunnel"
        ),
        pytest.param([SERVER], None, "A", None, "No process on a GPU is named here", id="nobody-is-named"),
        pytest.param(
            [], HELD, "A", None, "Nothing that can be seen from here listens on port 8000", id="nobody-listens"
        ),
        pytest.param(None, HELD, "A", None, "is not ours to see", id="another-users"),
    ],
)
def test_which_gpu_serves(
    who: list[Listener] | None, held: list[Holder] | None, sampled: str, gpus: set[str] | None, text: str
) -> None:
    found = placed(8000, who, held, sampled)
    assert found.gpus == gpus
    assert text in found.text if text else found.text == ""


def test_who_listens_is_found_with_what_it_started() -> None:
    needs(sys.platform == "linux", "needs a system that tells who listens")
    script = (
        "import socket,subprocess,sys\n"
        "s=socket.create_server(('127.0.0.1',0))\n"
        "c=subprocess.Popen([sys.executable,'-c','input()'],stdin=subprocess.PIPE)\n"
        "print(s.getsockname()[1],c.pid,flush=True)\ninput()"
    )
    server = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port, worker = map(int, server.stdout.readline().split())
        found = listeners(port)
        assert found is not None
        assert [(one.pid, one.family) for one in found] == [(server.pid, frozenset({server.pid, worker}))]
        assert psutil.Process().pid not in found[0].siblings
    finally:
        server.communicate("")


def test_a_port_without_a_listener_has_none() -> None:
    needs(sys.platform == "linux", "needs a system that tells who listens")
    with socket.socket() as held:  # so that nobody else listens there
        held.bind(("127.0.0.1", 0))
        assert listeners(held.getsockname()[1]) == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("http://127.0.0.1:8000/v1", True, id="loopback"),
        pytest.param("http://localhost:8000", True, id="by-name"),
        pytest.param("http://[::1]:8000", True, id="loopback-6"),
        pytest.param("http://192.0.2.7:8000", False, id="elsewhere"),
        pytest.param("https://gateway.toolsync-test.invalid/v1", False, id="cannot-be-found"),
        pytest.param("", False, id="empty"),
        pytest.param("http://[", False, id="no-address"),
    ],
)
def test_whether_the_endpoint_is_this_machine(url: str, expected: bool) -> None:
    assert is_here(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h:8000/v1", 8000),
        ("http://h/v1", 80),
        ("https://h", 443),
        ("http://h:99999", None),
        ("nonsense", None),
    ],
)
def test_the_endpoints_port(url: str, expected: int | None) -> None:
    assert port_of(url) == expected


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        pytest.param(
            Wish("http://127.0.0.1:1", is_wanted=False), "The profile says log_memory = false.", id="not-wanted"
        ),
        pytest.param(
            Wish("http://192.0.2.7:8000/v1"),
            "The endpoint is not this machine; --gpu-ssh HOST or --dcgm-url URL name where its GPUs are.",
            id="elsewhere",
        ),
    ],
)
def test_where_nothing_can_be_seen_the_record_says_why(wish: Wish, reason: str) -> None:
    watch = Watch(wish)
    assert watch.start()
    watched = watch.stop()
    assert (watched.gpu.source, watched.gpu.reason, watched.gpu.interval_ms) == ("", reason, None)
    (filled,) = watched.filled([rung(1)])
    assert (filled.gpus, filled.kv_cache_peak) == ((), None)


def test_a_driver_that_never_answers_holds_up_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    needs(sys.platform != "darwin", "there is no NVML to ask on macOS")
    answers = threading.Event()
    monkeypatch.setattr(watching, "_OPENING_SECONDS", 0.05)
    monkeypatch.setattr(Nvml, "open", lambda _: answers.wait(10))
    monkeypatch.setenv("PATH", "")
    try:
        reason = Watch(Wish("http://127.0.0.1:1")).start()
    finally:
        answers.set()
    assert reason.startswith("the NVIDIA driver did not answer in time, and neither nvidia-smi")


def smi_of_two(folder: Path) -> None:
    tick = "".join(f"2026/12/01 10:00:00.000, {n}, GPU-{n}{n}, T4, {n + 1}00, 1000\\n" for n in range(2))
    # A tick is one write, as of the real one: no end can cut it in two.
    folder.joinpath("nvidia-smi").write_text(f"#!/bin/sh\nwhile :; do\nprintf '{tick}'\nsleep 0.02\ndone\n")
    folder.joinpath("nvidia-smi").chmod(0o755)


@pytest.mark.parametrize(
    ("wanted", "gpus", "reason"),
    [
        pytest.param((), ["GPU-00", "GPU-11"], "No process on a GPU is named here", id="all"),
        pytest.param(("1",), ["GPU-11"], "No process on a GPU is named here", id="by-number"),
        pytest.param(("GPU-0",), ["GPU-00"], "No process on a GPU is named here", id="by-the-beginning-of-its-uuid"),
        pytest.param(("7",), [], "No GPU is called 7; there are: 0, 1.", id="there-is-none"),
    ],
)
def test_without_nvml_nvidia_smi_is_asked_for_the_gpus_that_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: tuple[str, ...], gpus: list[str], reason: str
) -> None:
    needs(sys.platform == "linux", "needs a shell, and a system that tells who listens")
    smi_of_two(tmp_path)
    monkeypatch.setattr(watching, "_FIRST_SAMPLE_SECONDS", 20)  # as long as a loaded machine takes
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with socket.create_server(("127.0.0.1", 0)) as here:
        watch = Watch(Wish(f"http://127.0.0.1:{here.getsockname()[1]}", interval_ms=20, gpus=wanted))
        assert watch.start() == ""
        watched = watch.stop()
    (filled,) = watched.filled([rung(1)])
    assert [one.uuid for one in filled.gpus] == gpus
    assert watched.gpu.source == "nvidia-smi"
    assert watched.gpu.reason.startswith(reason)
