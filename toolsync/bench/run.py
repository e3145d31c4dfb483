"""A run: calibration, then rung after rung; what is finished is kept when somebody stops it."""

from __future__ import annotations

import asyncio
import hmac
import platform
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal
from urllib.parse import urlsplit

from toolsync import __version__
from toolsync.address import PATHS, Dialect, endpoint, is_loopback, origin
from toolsync.bench import ending
from toolsync.bench.calibration import Calibrated, calibrate
from toolsync.bench.exchange import Sender
from toolsync.bench.load import Load
from toolsync.bench.proxied import ProxiedTransport
from toolsync.bench.record import Environment, HostKind, Parameters, Record, Rung, Target
from toolsync.bench.sweep import MOST_GAPS, Listener, Sweep
from toolsync.bench.transport import StampingTransport
from toolsync.masking import on_one_line
from toolsync.probe.network import Network, trust
from toolsync.value import frozen


@frozen
class Wish:
    """What to measure.

    Attributes:
        dialect: of the requests.
        base: the address that clients of this dialect are given.
        model: whom to ask.
        headers: of the requests, the key's among them.
        network: proxy and trust, and how long silence may be.
        ladder: the rungs, in order.
        prompt_tokens: how long prompts should be.
        output_tokens: how long replies should be.
        label: what the person calls the run.
        salt: by which origins are told apart; a secret of this machine, for the addresses of a network are few.
    """

    dialect: Dialect
    base: str
    model: str
    headers: Mapping[str, str]
    network: Network
    ladder: tuple[Load, ...]
    prompt_tokens: int = 512
    output_tokens: int = 256
    label: str = ""
    salt: bytes = b""

    @property
    def url(self) -> str:
        """Where requests go."""
        return endpoint(self.dialect, self.base)


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
    begun = _begun(wish, found, _environment(wish, transport, loop), started)
    notes = tuple(_notes(wish, found, transport, sweep, rungs))
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
        target=target(wish, found.model),
        parameters=_parameters(wish, found),
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


def _environment(
    wish: Wish, transport: StampingTransport | ProxiedTransport, loop: Literal["uvloop", "asyncio"]
) -> Environment:
    is_own = isinstance(transport, StampingTransport)
    packages = ("httpx", "httptools", *(("uvloop",) if loop == "uvloop" else ()), *(() if is_own else ("httpcore",)))
    return Environment(
        system=platform.system(),
        machine=platform.machine(),
        processors=_processors(),
        python=platform.python_version(),
        transport="own" if is_own else "httpx",
        loop=loop,
        is_proxied=not is_own,
        is_encrypted=wish.url.lower().startswith("https:"),
        versions={name: _version(name) for name in packages},
    )


def _processors() -> int:
    import os

    asked = getattr(os, "sched_getaffinity", None)
    return len(asked(0)) if asked else os.cpu_count() or 1


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def target(wish: Wish, answered: str | None) -> Target:
    """Who is measured, without a name of a host or a person: `answered` is the model in the server's words."""
    return Target(
        origin=hmac.digest(wish.salt, origin(wish.base).encode(), "sha256").hex()[:12],
        host_kind=_host_kind(wish.base),
        path=_path(wish),
        dialect=wish.dialect,
        model=_without_home(wish.model),
        answered_model=_without_home(on_one_line(answered)) if answered is not None else None,
    )


_COMMON = re.compile(r"(?i)|api|openai|anthropic|compatible-mode|v[0-9]{1,2}(?:(?:alpha|beta)[0-9]?)?")
"""Parts of a path that many addresses have; what else stands there may name a person, a team or a machine."""


def _path(wish: Wish) -> str:
    tail = PATHS[wish.dialect]
    folders = urlsplit(wish.url).path.removesuffix(tail).split("/")
    return "/".join(one if _COMMON.fullmatch(one) else "***" for one in folders) + tail


_HOME = re.compile(r"(?i)(?:[a-z]:)?[/\\](?:home|users)[/\\][^/\\]+")


def _without_home(model: str) -> str:
    """An engine calls a model by its folder, where it is given no other name; a person's folder names the person."""
    return _HOME.sub("~", model)


def _host_kind(base: str) -> HostKind:
    """By what the address says: no name is looked up."""
    import ipaddress

    if is_loopback(base):
        return "loopback"
    host = (urlsplit(base.strip()).hostname or "").rstrip(".")
    try:
        return "public" if ipaddress.ip_address(host).is_global else "private"
    except ValueError:
        is_private = "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa"))
        return "private" if is_private else "public"


def _parameters(wish: Wish, found: Calibrated) -> Parameters:
    first = wish.ladder[0]
    accepted: dict[str, Any] = dict(found.workload.held)
    return Parameters(
        prompt_tokens=wish.prompt_tokens,
        output_tokens=wish.output_tokens,
        words=found.workload.words,
        accepted=accepted,
        refused=found.refused,
        requests_min=first.requests_min,
        duration_seconds=first.duration_seconds,
        rate=first.rate,
        warm_up=-1 if first.rate is None else first.warm_up,
    )


def _notes(
    wish: Wish, found: Calibrated, transport: StampingTransport | ProxiedTransport, sweep: Sweep, rungs: Sequence[Rung]
) -> list[str]:
    """What a reader must know."""
    said = []
    if isinstance(transport, ProxiedTransport):
        said.append(_PROXIED)
    if found.refused:
        said.append(f"The server does not take {', '.join(found.refused)}: replies may be shorter than asked.")
    if found.source == "events":
        said.append("The server counts no tokens: chunks are counted instead (~), and the prompts' length is a guess.")
    sent = sum(len(rung.requests) for rung in rungs)
    if transport.dropped > sent / 2 > 1:
        said.append("The server closes its connections between requests: to open one is not in TTFT.")
    if sweep.hides_thoughts:
        said.append(_HIDDEN)
    if not sweep.has_all_gaps:
        said.append(f"There were more than {MOST_GAPS:,} gaps between chunks: those of later requests are not kept.")
    if sweep.unsent:
        room = wish.ladder[0].concurrency
        said.append(
            f"The rate was not kept: {sweep.unsent} requests were never sent, for {room} were under way already."
        )
    if sweep.given_up:
        at = ", ".join(map(str, sweep.given_up))
        said.append(f"At {at} nothing went well any more: the rung was ended before it had all its requests or time.")
    if wish.ladder[0].rate is None:
        said.append("Closed loop: each stream waits for its reply, so the time that users would queue is not in TTFT.")
    return said


_HIDDEN = (
    "The server counts thoughts that it does not send: those tokens are in no figure, and the time for them is in TTFT."
)
_PROXIED = "Through a proxy httpx's own transport measures: TTFT and gaps include some milliseconds of its own."
