"""What one run of the bench leaves behind: raw figures per request, and all that decides what they may be held against.

No prompt, no answer, no key, and no name of a host or a person is in it: it may lie in a repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from toolsync.address import Dialect
from toolsync.value import frozen

TokenSource = Literal["usage", "continuous-usage", "events"]
"""Who counted the tokens: the server at the end of each reply, the server in each chunk, or nobody but the chunks."""
HostKind = Literal["loopback", "private", "public"]
Transport = Literal["own", "httpx"]
Fault = Literal["", "unsent", "status", "timeout", "cut", "event", "empty", "odd"]
"""Why a request failed: it could not be sent; refused by its status; silent for too long; the connection ended before
the reply did; an error in the stream; a reply without a token; a reply of no such dialect. Empty: it did not."""
GpuSource = Literal["", "nvml", "nvidia-smi", "ssh", "dcgm", "prometheus", "amd-smi"]


@frozen
class Request:
    """One measured request; times are in milliseconds, and None is unknown, never 0.

    Attributes:
        intended_ms: when it should have started, from the start of its rung.
        t0_ms: when its bytes were handed to the open connection, likewise; None: never.
        ttft_ms: from t0 to the first token, reasoning included.
        ttfo_ms: from t0 to the first token that is no reasoning.
        tpot_ms: per token after the first chunk; None where there is no second token.
        e2e_ms: from t0 to the last token; the usage and the end of the stream do not count.
        itl_ms: the gaps between the chunks that carry tokens, in order.
        chunks: how many carry tokens.
        prompt_tokens: as the server counts them; None where it does not.
        completion_tokens: by the record's token source.
        cached_tokens: of the prompt, as the server says; None where it does not.
        finish_reason: in the server's words.
        status: of HTTP; None where no answer came.
        fault: why it failed; empty where it did not.
    """

    intended_ms: float
    t0_ms: float | None = None
    ttft_ms: float | None = None
    ttfo_ms: float | None = None
    tpot_ms: float | None = None
    e2e_ms: float | None = None
    itl_ms: tuple[float, ...] = ()
    chunks: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    finish_reason: str | None = None
    status: int | None = None
    fault: Fault = ""

    @property
    def is_ok(self) -> bool:
        """Whether it was answered as it must be."""
        return not self.fault

    @property
    def dispatch_delay_ms(self) -> float | None:
        """How much later than intended it was sent."""
        return None if self.t0_ms is None else self.t0_ms - self.intended_ms


@frozen
class Client:
    """How the measuring process itself was doing during a rung.

    Attributes:
        cpu_share: of one processor, 0 to 1.
        loop_lag_p99_ms: how late its event loop was.
        skew_ms: from the first to the last start of the first wave; None where there was no wave.
        is_limit: whether the figures tell of this client rather than of the server.
    """

    cpu_share: float
    loop_lag_p99_ms: float
    skew_ms: float | None
    is_limit: bool


@frozen
class GpuUse:
    """One GPU's memory during a rung, in MiB.

    Attributes:
        uuid: which one, as the driver names it; may be empty.
        name: of its model.
        total_mib: what it has; None where nobody says.
        baseline_mib: just before the rung was warmed up; None where nothing was sampled then.
        peak_mib: the most that was seen during it.
        samples: milliseconds from the start of the rung, and what was in use then.
        reserved_mib: what the driver keeps for itself, not counted above; None where nobody says.
        serves: whether the process that answers has memory on it; None where nobody knows.
        why: why the peak is unknown; empty where it is not.
    """

    uuid: str
    name: str
    total_mib: float | None
    baseline_mib: float | None
    peak_mib: float | None
    samples: tuple[tuple[float, float], ...] = ()
    reserved_mib: float | None = None
    serves: bool | None = None
    why: str = ""

    @property
    def delta_mib(self) -> float | None:
        """By how much the peak is above the baseline."""
        return None if self.peak_mib is None or self.baseline_mib is None else self.peak_mib - self.baseline_mib


@frozen
class Rung:
    """One step of the ladder, its warm-up left out.

    Attributes:
        concurrency: how many requests were under way at once; with a rate, how many may be.
        started_ns: by `time.perf_counter_ns`, the clock of everything that is sampled beside it.
        ended_ns: likewise.
        started: UTC, ISO 8601.
        ended: likewise.
        requests: in the order in which they were intended.
        client: how the measuring process was doing.
        gpus: by GPU; empty where none was sampled.
        kv_cache_peak: the most of the engine's KV cache in use, 0 to 1; None where nobody says.
    """

    concurrency: int
    started_ns: int
    ended_ns: int
    started: str
    ended: str
    requests: tuple[Request, ...]
    client: Client
    gpus: tuple[GpuUse, ...] = ()
    kv_cache_peak: float | None = None


@frozen
class Environment:
    """What measured: the figures of another one are another client's.

    Attributes:
        system: the operating system.
        machine: the processor's architecture.
        processors: how many this process may use.
        python: its version.
        transport: our own, or httpx's where a proxy is on the way.
        loop: the event loop.
        is_proxied: whether a proxy is on the way.
        is_encrypted: whether TLS is.
        versions: of the packages that take part.
    """

    system: str
    machine: str
    processors: int
    python: str
    transport: Transport
    loop: Literal["uvloop", "asyncio"]
    is_proxied: bool
    is_encrypted: bool
    versions: Mapping[str, str] = field(default_factory=dict)


@frozen
class Target:
    """Who was measured.

    Attributes:
        origin: twelve hexadecimal digits that tell two origins apart, on one machine, without naming them.
        host_kind: where it lies, seen from here.
        path: of the requests; what others' addresses do not have in it is masked.
        dialect: as asked.
        model: as asked, without anybody's home folder.
        answered_model: in the server's words; None where it does not say.
    """

    origin: str
    host_kind: HostKind
    path: str
    dialect: Dialect
    model: str
    answered_model: str | None = None


@frozen
class Parameters:
    """What was asked.

    Attributes:
        prompt_tokens: how long prompts should be, by the server's count.
        output_tokens: how long replies should be.
        words: how many of our words make such a prompt, as calibrated.
        accepted: the parameters that held the output and the usage, with their values, as the server took them.
        refused: those that it did not take.
        requests_min: how many requests a rung has at least; None: the usual five per stream, and ten.
        duration_seconds: how long a rung lasts at least; None: as its requests last.
        rate: requests per second that were started whatever came back; None: a closed loop.
        warm_up: how many requests a rung throws away first; -1: one per stream.
    """

    prompt_tokens: int
    output_tokens: int
    words: int
    accepted: Mapping[str, Any]
    refused: tuple[str, ...] = ()
    requests_min: int | None = None
    duration_seconds: float | None = None
    rate: float | None = None
    warm_up: int = -1


@frozen
class Gpu:
    """Where GPU memory was read.

    Attributes:
        source: empty: nowhere.
        reason: why nowhere, or what to mind: a plain sentence; may be empty.
        interval_ms: between two samples.
        way: how the source counts, where sources of its kind differ: `v2` and `v1` of NVML, `unified` memory.
    """

    source: GpuSource = ""
    reason: str = ""
    interval_ms: int | None = None
    way: str = ""


@frozen
class Record:
    """One run.

    Attributes:
        id: sorts by time.
        started: UTC, ISO 8601.
        toolsync: the version that measured.
        label: what the person calls it.
        environment: what measured.
        target: who was measured.
        parameters: what was asked.
        token_source: who counted the tokens.
        connect_ms: to open a connection, TLS included, at least; None where a proxy's was used.
        rungs: that were finished, in the ladder's order.
        ladder: the concurrencies that were asked for.
        gpu: where GPU memory was read.
        notes: what a reader must know, in sentences.
    """

    id: str
    started: str
    toolsync: str
    label: str
    environment: Environment
    target: Target
    parameters: Parameters
    token_source: TokenSource
    connect_ms: float | None
    ladder: tuple[int, ...]
    rungs: tuple[Rung, ...]
    gpu: Gpu = field(default_factory=Gpu)
    notes: tuple[str, ...] = ()
