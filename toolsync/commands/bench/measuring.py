"""`bench run`: measure a gateway, and keep what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolsync.address import Dialect
from toolsync.bench.record import Fault, Record
from toolsync.commands.bench.keeping import keep, stop_at_unwritable
from toolsync.commands.bench.records import described, salt
from toolsync.commands.pinging import named, named_problem, network_of
from toolsync.errors import PingFailedError, UsageError
from toolsync.facts import facts
from toolsync.masking import Secret
from toolsync.planning.headers import header_value
from toolsync.profile import Profile
from toolsync.result import DONE, PROBLEM, Message, Result
from toolsync.session import Session
from toolsync.value import frozen

if TYPE_CHECKING:  # the client costs many starts of the interpreter: it is imported where something is measured
    from toolsync.bench import run as running
    from toolsync.bench import wish as wishes
    from toolsync.bench.calibration import Calibrated
    from toolsync.bench.gpu.watch import Watch, Watched
    from toolsync.bench.load import Load
    from toolsync.bench.sweep import Listener

INTERRUPTED = 130
DIALECTS: Mapping[str, Dialect] = {
    "chat": "openai-chat",
    "responses": "openai-responses",
    "messages": "anthropic-messages",
}
LADDER = (1, 2, 4, 8, 16, 32)
_RATE_ROOM = 128
"""At a rate, the most requests that are under way at once, unless somebody says another number."""
_SILENCE_SECONDS = 120.0
"""How long nothing may come, where the profile does not say: a full queue makes many wait for their first token."""
_CONNECT_SECONDS = 10.0


@frozen
class Wish:
    """What is to be measured.

    Attributes:
        profile: by name; None: the active one.
        dialect: a key of `DIALECTS`.
        model: None: the profile's.
        ladder: streams, rung by rung; None: the usual ladder.
        lengths: tokens in and out.
        requests: a rung's at least; None: as many as usual.
        duration_seconds: a rung's at least.
        rate: requests per second, whatever comes back.
        label: what the person calls the run; None: as the profile is called.
        out: a file for the record, besides its usual place.
        gpu: where GPU memory is to be read: `ssh`, `dcgm_url`, `metrics_url` and `gpus`, as `bench.gpu.watch` has them.
    """

    profile: str | None = None
    dialect: str = "chat"
    model: str | None = None
    ladder: tuple[int, ...] | None = None
    lengths: tuple[int, int] = (512, 256)
    requests: int | None = None
    duration_seconds: float | None = None
    rate: float | None = None
    label: str | None = None
    out: Path | None = None
    gpu: Mapping[str, Any] | None = None


def run(session: Session, wish: Wish, listener: Listener) -> Result:
    """Ping, calibrate, measure, and keep the record.

    Args:
        session: the machine.
        wish: what is to be measured.
        listener: is told of the progress.

    Raises:
        UsageError: the wish contradicts itself, or GPU memory is not to be seen where it says.
        ProfileError, SecretError: the profile or its key cannot be had.
        PingFailedError: the gateway does not answer the smallest question.
        UnmeasurableError: it does not answer the requests that would measure it.
        FileError: the record could not be kept.
        KeyboardInterrupt: stopped before a rung was finished.
    """
    ladder = _ladder(wish)
    stop_at_unwritable(session, wish.out)
    profile = session.profiles().get(wish.profile)
    base = _base(profile, DIALECTS[wish.dialect])
    warning = _pinged(session, profile, wish, base)
    from toolsync.bench.ending import held_off
    from toolsync.bench.run import measure

    notes = [Message("warning", warning)] if warning else []
    wanted = _wanted(session, profile, wish, base, ladder)
    watch = _watch(profile, wish, base)
    _stop_in_the_dark(watch)
    with held_off():  # `measure` heeds Ctrl-C itself; pressed once more behind it, it would lose all
        try:
            ran = measure(wanted, listener, lambda found: notes.extend(_calibration_messages(found, wish.lengths)))
        finally:
            watched = watch.stop()
        record = _with_memory(ran.record, watched)
        files, unkept = keep(session, record, wish.out)
    messages = (
        *notes,
        *_memory(watched),
        *_failures(ran.failures, record),
        *_stop(ran.is_interrupted, record),
        *unkept,
    )
    data = {"run": described(record), "files": [session.shown(file) for file in files]}
    is_lost = any(message.level == "problem" for message in unkept)
    return Result("bench run", data, messages, max(_exit_code(ran, record), PROBLEM if is_lost else DONE))


def _watch(profile: Profile, wish: Wish, base: str) -> Watch:
    from toolsync.bench.gpu.watch import Watch
    from toolsync.bench.gpu.watch import Wish as Watching

    seen = profile.observability
    return Watch(Watching(base, seen.get("sample_interval_ms", 500), seen.get("log_memory", True), **(wish.gpu or {})))


def _with_memory(record: Record, watched: Watched) -> Record:
    rungs = watched.filled(record.rungs)
    return replace(record, rungs=rungs, gpu=watched.gpu, notes=(*record.notes, *watched.notes(rungs)))


def _stop_in_the_dark(watch: Watch) -> None:
    """Before a run of minutes, not after it.

    Raises:
        UsageError: nothing is seen where somebody said to look for GPU memory.
    """
    from toolsync.probe.body import shown

    try:
        watch.start()
        why = watch.missing()
    except BaseException:
        watch.stop()
        raise
    if why:
        hint = (
            "Mend that; without --gpu, --gpu-ssh, --dcgm-url and --metrics-url the run goes on where nothing is seen."
        )
        raise UsageError(f"GPU memory cannot be watched: {shown(why)}; nothing was measured", hint=hint)


def _exit_code(ran: running.Ran, record: Record) -> int:
    if ran.is_interrupted:
        return INTERRUPTED
    return DONE if all(any(one.is_ok for one in rung.requests) for rung in record.rungs) else PROBLEM


def _ladder(wish: Wish) -> tuple[Load, ...]:
    """The rungs.

    Raises:
        UsageError: there is none, or a rate with more than one.
    """
    from toolsync.bench.load import Load

    if wish.rate is None:
        steps = wish.ladder or LADDER
        if len(set(steps)) < len(steps):
            raise UsageError("--concurrency names a step twice", hint="Each step is measured once.")
        return tuple(Load(step, wish.requests, wish.duration_seconds) for step in steps)
    if wish.ladder is not None and len(wish.ladder) > 1:
        raise UsageError(
            "--rate starts requests whatever is under way, so there is no ladder",
            hint="Leave --concurrency out, or give one number: the most that may be under way.",
        )
    if wish.requests is None and wish.duration_seconds is None:
        raise UsageError("--rate does not say when to stop", hint="Add `--requests N` or `--duration SECONDS`.")
    room = wish.ladder[0] if wish.ladder else _RATE_ROOM
    return (Load(room, wish.requests, wish.duration_seconds, wish.rate),)


def _base(profile: Profile, dialect: Dialect) -> str:
    name = "anthropic_url" if dialect == "anthropic-messages" else "openai_url"
    return str(facts(profile)[name].value)


def _pinged(session: Session, profile: Profile, wish: Wish, base: str) -> str:
    """What to mind; a bench of what does not answer would measure its errors.

    Raises:
        PingFailedError: it does not answer as it must.
    """
    from toolsync.probe import PingRequest, ping

    model = wish.model or profile.model
    headers = {name: header_value(session, value) for name, value in profile.request.get("headers", {}).items()}
    key, network = session.secret(profile.key), network_of(session, profile, base)
    came = ping(PingRequest(DIALECTS[wish.dialect], base, model, key, headers, network))
    if came.is_ok:
        return came.warning
    raise PingFailedError(
        f"{came.url}: {named_problem(came)}; nothing was measured",
        hint=named(came.hint, profile).replace(", then `toolsync apply`", ""),  # no tool is asked here
        cause=came.cause if came.certainty != "open" else "",
    )


def _wanted(session: Session, profile: Profile, wish: Wish, base: str, ladder: tuple[Load, ...]) -> wishes.Wish:
    from toolsync.bench import wish as wishes
    from toolsync.probe.dialect import headers

    dialect = DIALECTS[wish.dialect]
    more: dict[str, str | Secret] = {
        name: header_value(session, value) for name, value in profile.request.get("headers", {}).items()
    }
    silence = profile.request.get("timeout_seconds", _SILENCE_SECONDS)
    network = replace(network_of(session, profile, base), connect_seconds=_CONNECT_SECONDS, read_seconds=silence)
    return wishes.Wish(
        dialect=dialect,
        base=base,
        model=wish.model or profile.model,
        headers=headers(dialect, session.secret(profile.key), more),
        network=network,
        ladder=ladder,
        prompt_tokens=wish.lengths[0],
        output_tokens=wish.lengths[1],
        label=wish.label if wish.label is not None else profile.name,
        salt=salt(session),
    )


# What a person must know.


def _calibration_messages(found: Calibrated, lengths: tuple[int, int]) -> Iterator[Message]:
    from toolsync.bench.workload import is_near

    counted = found.prompt_tokens
    if counted is not None and not is_near(lengths[0], counted):
        text = f"prompts have about {counted} tokens by the server's count, not {lengths[0]}"
        yield Message("warning", text, "Hold the run only against others whose prompts are as long.")


def _memory(watched: Watched) -> Iterator[Message]:
    from toolsync.probe.body import shown

    if watched.words:
        yield Message("warning", f"GPU memory: {shown(watched.words)}")


_FAULTS: Mapping[Fault, str] = {
    "unsent": "could not be sent",
    "status": "were refused",
    "timeout": "were given up: nothing came for too long, or no end",
    "cut": "broke off",
    "event": "ended with an error in the stream",
    "empty": "brought not one token",
    "odd": "brought no stream of this dialect",
}


def _failures(words: Mapping[str, str], record: Record) -> Iterator[Message]:
    """What went wrong, each kind once, with the words of the first."""
    from toolsync.probe.body import shown

    for fault, text in _FAULTS.items():
        count = sum(one.fault == fault for rung in record.rungs for one in rung.requests)
        if count:
            said = shown(words.get(fault, ""))
            yield Message(
                "warning",
                f"{count} of the requests {text}{f': {said}' if said else ''}",
                _FAILED_HINTS.get(fault, _FAILED_HINT),
            )


_FAILED_HINT = "They are in none of the figures."
_FAILED_HINTS: Mapping[Fault, str] = {
    "unsent": f"{_FAILED_HINT} What keeps them is on the way: ports, open files (`ulimit -n`), a firewall.",
    "status": f"{_FAILED_HINT} A limit of the gateway's is the most usual reason.",
}


def _stop(is_interrupted: bool, record: Record) -> Iterator[Message]:  # noqa: FBT001  its own name
    if is_interrupted:
        left = record.ladder[len(record.rungs) :]
        yield Message("problem", f"stopped at concurrency {left[0]}; the rungs before it are kept")
