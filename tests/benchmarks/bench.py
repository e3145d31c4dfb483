"""How exact `toolsync bench run` is, against a server that writes down when it sent what; and what it costs.

`python -m tests.benchmarks.bench` compiles `truth_server.c` with gcc, pins it to one processor (with real-time priority
where that is allowed) and the bench to another, and prints medians of three runs beside the targets. Linux, two
processors and nothing else running. `--quick` makes one short run of each, to see that it works.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from struct import unpack_from
from typing import Any

from tests.benchmarks.truth import TruthServer, pinned

_TTFT_US, _ITL_US, _TOKENS = 100_000, 5_000, 256
_ASYNCIO = "import sys; sys.modules['uvloop'] = None; from toolsync.__main__ import main; sys.exit(main(sys.argv[1:]))"
_USUAL = "import sys; from toolsync.__main__ import main; sys.exit(main(sys.argv[1:]))"


@dataclass(frozen=True)
class Truth:
    """One request as the server saw it, in nanoseconds."""

    received: int
    done: int
    sent: tuple[int, ...]


@dataclass(frozen=True)
class Ran:
    """One run of the bench, and what the server knows of it."""

    record: Mapping[str, Any]
    truth: Sequence[Truth]
    wall_s: float
    cpu_s: float
    peak_mib: float


@dataclass(frozen=True)
class Row:
    """A figure, how it is had, and what it should be."""

    name: str
    unit: str
    target: str
    is_met: Callable[[float], bool]
    of: Callable[[], float]


def main() -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short run of each")
    parser.add_argument("--cpus", default="0,1", help="the server's and the client's; default: 0,1")
    chosen = parser.parse_args()
    cpus = tuple(map(int, chosen.cpus.split(",")))
    with tempfile.TemporaryDirectory() as name:
        rig = Rig(Path(name), (cpus[0], cpus[-1]), is_quick=chosen.quick)
        rounds = 1 if chosen.quick else 3
        print(f"{'':<44}{'median':>12}  {'target':<12} runs")
        for row in rows(rig):
            seen = [row.of() for _ in range(rounds)]
            middle = statistics.median(seen)
            mark = "ok" if row.is_met(middle) else "MISSED"
            runs = " ".join(f"{one:.4g}" for one in seen)
            print(f"{row.name:<44}{middle:>9.4g} {row.unit:<3} {row.target:<12} {mark:<7} {runs}", flush=True)


def rows(rig: Rig) -> Iterator[Row]:
    """The figures; those of one set-up come out of the same runs."""
    for streams, p50, p99 in ((1, 0.4, 1.5), (8, 0.4, 1.5), (32, 0.4, 1.5), (128, 1.0, 8.0)):
        for percent, most in ((50, p50), (99, p99)):
            error = partial(_error, percent=percent)
            name = f"TTFT error, {streams} streams, p{percent}"
            yield Row(name, "ms", f"<= {most}", _most(most), _each(error, rig.runs(f"-c {streams}")))
    yield Row("mean ITL error, 32 streams", "%", "<= 0.2", _most(0.2), _each(_itl_error, rig.runs("-c 32")))
    yield Row("physical token rate, 128 streams", "%", ">= 95", _least(95), _each(_rate, rig.runs("-c 128")))
    flood = rig.runs("-c 8 --requests 400", is_flood=True)
    yield Row("events/s, batched", "/s", ">= 200000", _least(200_000), _each(_events_per_s, flood))
    for loop, most in (("uvloop", 0.04), ("asyncio", 0.07)):
        few, many = rig.runs("-c 32 --requests 96", loop=loop), rig.runs("-c 32 --requests 288", loop=loop)
        yield Row(f"CPU per 1000 events, {loop}", "s", f"<= {most}", _most(most), _each(_marginal, few, many))
    yield Row("peak memory, 32 streams", "MiB", "<= 80", _most(80), _each(lambda ran: ran.peak_mib, rig.runs("-c 32")))
    yield Row("time besides requests", "s", "<= 1", _most(1), _each(_besides, rig.runs("-c 32")))


def _each(figure: Callable[..., float], *runs: Iterator[Ran]) -> Callable[[], float]:
    """The figure of the next run, or of the next ones side by side."""
    return lambda: figure(*map(next, runs))


def _most(limit: float) -> Callable[[float], bool]:
    return lambda value: value <= limit


def _least(limit: float) -> Callable[[float], bool]:
    return lambda value: value >= limit


class Rig:
    """The server and the bench, each on a processor of its own."""

    def __init__(self, folder: Path, cpus: tuple[int, int], *, is_quick: bool) -> None:
        self._folder, self._is_quick = folder, is_quick
        server_cpu, self._client_cpu = cpus
        self._server = TruthServer(folder, server_cpu)
        self._known: dict[tuple[str, bool, str], list[Ran]] = {}

    def runs(self, options: str, *, is_flood: bool = False, loop: str = "uvloop") -> Iterator[Ran]:
        """Runs of that kind, made where another figure has not made them yet."""
        options = options.replace("400", "40").replace("288", "64").replace("96", "32") if self._is_quick else options
        known = self._known.setdefault((options, is_flood, loop), [])
        for number in range(3):
            if number == len(known):
                known.append(self._ran(options.split(), is_flood=is_flood, loop=loop))
            yield known[number]

    def _ran(self, options: Sequence[str], *, is_flood: bool, loop: str) -> Ran:
        log, out = self._folder / "log", self._folder / "run.json"
        out.unlink(missing_ok=True)
        timing = (0, 0, _TOKENS, _TOKENS) if is_flood else (_TTFT_US, _ITL_US, _TOKENS, 1)
        start = [sys.executable, "-c", _USUAL if loop == "uvloop" else _ASYNCIO]
        asked = ["bench", "run", *options, "--tokens", f"512,{_TOKENS}", "--out", str(out)]
        with self._server.serving((*timing, 1), log) as config:
            command = [*pinned(self._client_cpu), *start, "--config", str(config), *asked]
            wall_s, cpu_s, peak_mib = _spent(command, self._server.environ)
        record = json.loads(out.read_bytes())
        if record["environment"]["loop"] != loop:
            sys.exit("uvloop is not installed: `pip install toolsync[fast]`")
        return Ran(record, _truths(log.read_bytes()), wall_s, cpu_s, peak_mib)


def _spent(command: Sequence[str], environ: Mapping[str, str]) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak MiB of one run."""
    started = time.perf_counter()
    child = subprocess.Popen(command, env=dict(environ), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    wall_s = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"the bench ended with {child.returncode}")
    return wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


_HEAD_WORDS = 8


def _truths(raw: bytes) -> list[Truth]:
    """The server's log."""
    found, at = [], 0
    while at < len(raw):
        head = unpack_from(f"={_HEAD_WORDS}Q", raw, at)
        at += 8 * _HEAD_WORDS
        count = head[5]
        found.append(Truth(head[2], head[4], unpack_from(f"={count}Q", raw, at)))
        at += 8 * count
    return sorted(found, key=lambda one: one.received)


# The figures.


def _pairs(ran: Ran) -> Iterator[tuple[Mapping[str, Any], Truth]]:
    """Each measured request with the server's view of it: requests arrive in the order in which they are sent."""
    (rung,) = ran.record["rungs"]
    measured = sorted(rung["requests"], key=lambda one: one["t0_ms"])
    served = ran.truth[-len(measured) :]
    for one, truth in zip(measured, served, strict=True):
        if one["fault"] or truth.received < rung["started_ns"] + one["t0_ms"] * 1e6 - 1e5:
            sys.exit("the server's log is not of this run")
        yield one, truth


def _error(ran: Ran, percent: int) -> float:
    """By how much TTFT differs from what the server did."""
    errors = sorted(abs(one["ttft_ms"] - (truth.sent[0] - truth.received) / 1e6) for one, truth in _pairs(ran))
    place = (len(errors) - 1) * percent / 100
    below, above = errors[int(place)], errors[min(int(place) + 1, len(errors) - 1)]
    return float(below + (above - below) * (place - int(place)))


def _itl_error(ran: Ran) -> float:
    ours = [gap for one, _ in _pairs(ran) for gap in one["itl_ms"]]
    theirs = [(b - a) / 1e6 for _, truth in _pairs(ran) for a, b in zip(truth.sent, truth.sent[1:], strict=False)]
    return 100 * abs(statistics.fmean(ours) / statistics.fmean(theirs) - 1)


def _rate(ran: Ran) -> float:
    """Tokens that came, of those that could have: each stream asks again at once."""
    (rung,) = ran.record["rungs"]
    ends = [one["t0_ms"] + one["e2e_ms"] for one in rung["requests"]]
    took_s = (max(ends) - min(one["t0_ms"] for one in rung["requests"])) / 1000
    possible = rung["concurrency"] * _TOKENS / ((_TTFT_US + (_TOKENS - 1) * _ITL_US) / 1e6)
    return float(100 * sum(one["completion_tokens"] for one in rung["requests"]) / took_s / possible)


def _events_per_s(ran: Ran) -> float:
    (rung,) = ran.record["rungs"]
    return float(sum(one["chunks"] for one in rung["requests"]) / ((rung["ended_ns"] - rung["started_ns"]) / 1e9))


def _marginal(few: Ran, many: Ran) -> float:
    """What a thousand more events cost, reading them included."""
    events = [sum(one["chunks"] for one in ran.record["rungs"][0]["requests"]) for ran in (few, many)]
    return float((many.cpu_s - few.cpu_s) / ((events[1] - events[0]) / 1000))


def _besides(ran: Ran) -> float:
    """Wall time in which no request was under way."""
    busy_ns, until = 0, 0
    for one in ran.truth:
        busy_ns += max(0, one.done - max(one.received, until))
        until = max(until, one.done)
    return ran.wall_s - busy_ns / 1e9


if __name__ == "__main__":
    main()
