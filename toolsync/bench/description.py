"""What a record says of its run besides the figures: by what it was measured, who, how, and what a reader must know."""

from __future__ import annotations

import hmac
import platform
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal
from urllib.parse import urlsplit

from toolsync.address import PATHS, is_loopback, origin
from toolsync.bench.calibration import Calibrated
from toolsync.bench.proxied import ProxiedTransport
from toolsync.bench.record import Environment, HostKind, Parameters, Rung, Target
from toolsync.bench.sweep import MOST_GAPS, Sweep
from toolsync.bench.transport import StampingTransport
from toolsync.bench.wish import Wish
from toolsync.masking import on_one_line


def environment(
    wish: Wish, transport: StampingTransport | ProxiedTransport, loop: Literal["uvloop", "asyncio"]
) -> Environment:
    """By what it is measured: this machine, in no words that name it, and the libraries between."""
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


def parameters(wish: Wish, found: Calibrated) -> Parameters:
    """What was asked for, and what of it the server takes."""
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


def notes(
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
