"""A run: calibration, then rung after rung; what is finished is kept when somebody stops it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from toolsync import __version__
from toolsync.bench import description, ending
from toolsync.bench.calibration import Calibrated, calibrate
from toolsync.bench.exchange import Sender
from toolsync.bench.proxied import ProxiedTransport
from toolsync.bench.record import Environment, Record, Rung
from toolsync.bench.sweep import Listener, Sweep
from toolsync.bench.transport import StampingTransport
from toolsync.bench.wish import Wish
from toolsync.probe.network import trust
from toolsync.value import frozen


@frozen
class Ran:
    """What came of it.

    Attributes:
        record: without what was seen of GPUs.
        failures: by fault, what the first one said; not fit to be shown as it is, and no part of the record.
        is_interrupted: whether somebody stopped it.
    """

    record: Record
    failures: Mapping[str, str]
    is_interrupted: bool = False


def measure(wish: Wish, listener: Listener, calibrated: Callable[[Calibrated], None]) -> Ran:
    """Measure, until the ladder ends or somebody ends it: by Ctrl-C, or as systems end programs.

    Args:
        wish: what.
        listener: is told of the progress, a few times a second.
        calibrated: is called once, before the first rung.

    Raises:
        UnmeasurableError: the server does not answer the requests that would measure it.
        KeyboardInterrupt: stopped before the first rung.
    """
    make_room(max(load.concurrency for load in wish.ladder))
    loop, factory = _loop()
    started = datetime.now(UTC)
    return ending.ran(_measured(wish, listener, calibrated, started, loop), factory)


_OTHER_FILES = 100


def make_room(connections: int) -> None:
    """Let this process open so many files: macOS starts it with 256, most Linux with 1024, and allow more if asked."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _loop() -> tuple[Literal["uvloop", "asyncio"], Callable[[], asyncio.AbstractEventLoop] | None]:
    try:
        import uvloop
    except ImportError:  # Windows, or an interpreter for which nobody built it
        return "asyncio", None
    return "uvloop", uvloop.new_event_loop


async def _measured(
    wish: Wish,
    listener: Listener,
    calibrated: Callable[[Calibrated], None],
    started: datetime,
    loop: Literal["uvloop", "asyncio"],
) -> Ran:
    seed = secrets.randbits(48)
    transport = _transport(wish)
    sender = Sender(wish.url, wish.headers, transport, wish.network.read_seconds)
    rungs: list[Rung] = []
    is_interrupted = False
    try:
        found = await calibrate(sender, wish.dialect, wish.model, (wish.prompt_tokens, wish.output_tokens), seed)
        calibrated(found)
        sweep = Sweep(sender, found.workload, found.source, listener)
        try:
            for load in wish.ladder:
                rungs.append(await sweep.rung(load))  # noqa: PERF401  what is finished is kept
        except asyncio.CancelledError:
            if not rungs:
                raise
            is_interrupted = True
    finally:
        await sender.close()
    begun = _begun(wish, found, description.environment(wish, transport, loop), started)
    notes = tuple(description.notes(wish, found, transport, sweep, rungs))
    record = replace(begun, connect_ms=_connect_ms(transport), rungs=tuple(rungs), notes=notes)
    return Ran(record, sweep.failures, is_interrupted)


def _begun(wish: Wish, found: Calibrated, environment: Environment, started: datetime) -> Record:
    """The record before its first rung."""
    return Record(
        id=f"{started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}",
        started=started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        toolsync=__version__,
        label=wish.label,
        environment=environment,
        target=description.target(wish, found.model),
        parameters=description.parameters(wish, found),
        token_source=found.source,
        connect_ms=None,
        ladder=tuple(load.concurrency for load in wish.ladder),
        rungs=(),
    )


def _connect_ms(transport: StampingTransport | ProxiedTransport) -> float | None:
    """The least: most are opened side by side as a rung warms up, and wait for each other in this process."""
    return round(min(transport.connects_ms), 4) if transport.connects_ms else None


def _transport(wish: Wish) -> StampingTransport | ProxiedTransport:
    proxy = wish.network.proxy_for(wish.url)
    context = trust(wish.url, wish.network)
    if proxy is not None:
        return ProxiedTransport(proxy, context, max(load.concurrency for load in wish.ladder))
    return StampingTransport(context, wish.network.connect_seconds, wish.network.read_seconds)
