"""`bench run`, `bench list`, `bench show`: measure a gateway, and look at what was measured."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolsync import disk, own_file
from toolsync.address import Dialect
from toolsync.bench.metrics import Summary, summary
from toolsync.bench.record import Fault, Record, Rung
from toolsync.bench.record_file import dumped, loaded
from toolsync.commands.headers import header_value
from toolsync.commands.pinging import named, named_problem, network_of
from toolsync.commands.result import DONE, PROBLEM, Message, Result
from toolsync.errors import DocumentError, FileError, PingFailedError, UsageError
from toolsync.facts import facts
from toolsync.masking import Secret, on_one_line
from toolsync.profile import Profile
from toolsync.session import Session
from toolsync.value import frozen

if TYPE_CHECKING:  # the client costs many starts of the interpreter: it is imported where something is measured
    from toolsync.bench import run as running
    from toolsync.bench.calibration import Calibrated
    from toolsync.bench.sweep import Listener, Load

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
        UsageError: the wish contradicts itself.
        ProfileError, SecretError: the profile or its key cannot be had.
        PingFailedError: the gateway does not answer the smallest question.
        UnmeasurableError: it does not answer the requests that would measure it.
        FileError: the folder for the record is not there.
        KeyboardInterrupt: stopped before a rung was finished.
    """
    ladder = _ladder(wish)
    if wish.out is not None:
        _stop_at_unwritable(session, wish.out)
    profile = session.profiles().get(wish.profile)
    base = _base(profile, DIALECTS[wish.dialect])
    warning = _pinged(session, profile, wish, base)
    from toolsync.bench.gpu.watch import Watch
    from toolsync.bench.gpu.watch import Wish as Watching
    from toolsync.bench.run import measure
    from toolsync.probe.body import shown

    seen = profile.observability
    watch = Watch(Watching(base, seen.get("sample_interval_ms", 500), seen.get("log_memory", True), **(wish.gpu or {})))
    notes: list[Message] = [Message("warning", warning)] if warning else []

    def begin(found: Calibrated) -> None:
        notes.extend(_calibration_messages(found, wish.lengths))
        watch.start()

    try:
        ran = measure(_wanted(session, profile, wish, base, ladder), listener, begin)
    finally:
        watched = watch.stop()
    rungs = watched.filled(ran.record.rungs)
    record = replace(ran.record, rungs=rungs, gpu=watched.gpu, notes=(*ran.record.notes, *watched.notes(rungs)))
    files, unkept = _kept(session, record, wish.out)
    if watched.words:
        notes.append(Message("warning", f"GPU memory: {shown(watched.words)}"))
    messages = (*notes, *_failures(ran.failures, record), *_stop(ran.is_interrupted, record), *unkept)
    data = {"run": described(record), "files": [session.shown(file) for file in files]}
    return Result("bench run", data, messages, max(_exit_code(ran, record), PROBLEM if unkept else DONE))


def _exit_code(ran: running.Ran, record: Record) -> int:
    if ran.is_interrupted:
        return INTERRUPTED
    return DONE if all(any(one.is_ok for one in rung.requests) for rung in record.rungs) else PROBLEM


def _ladder(wish: Wish) -> tuple[Load, ...]:
    """The rungs.

    Raises:
        UsageError: there is none, or a rate with more than one.
    """
    from toolsync.bench.sweep import Load

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
        hint=named(came.hint, profile),
        cause=came.cause if came.certainty != "open" else "",
    )


def _wanted(session: Session, profile: Profile, wish: Wish, base: str, ladder: tuple[Load, ...]) -> running.Wish:
    from toolsync.bench import run as running
    from toolsync.probe.dialect import headers

    dialect = DIALECTS[wish.dialect]
    more: dict[str, str | Secret] = {
        name: header_value(session, value) for name, value in profile.request.get("headers", {}).items()
    }
    silence = profile.request.get("timeout_seconds", _SILENCE_SECONDS)
    network = replace(network_of(session, profile, base), connect_seconds=_CONNECT_SECONDS, read_seconds=silence)
    return running.Wish(
        dialect=dialect,
        base=base,
        model=wish.model or profile.model,
        headers=headers(dialect, session.secret(profile.key), more),
        network=network,
        ladder=ladder,
        prompt_tokens=wish.lengths[0],
        output_tokens=wish.lengths[1],
        label=wish.label if wish.label is not None else profile.name,
        salt=_salt(session),
    )


def _salt(session: Session) -> bytes:
    """A secret of this machine's; where none can be kept, one for this run."""
    file = folder(session) / "salt"
    try:
        kept = own_file.read(file)
        if kept is None:
            file.parent.mkdir(parents=True, exist_ok=True)
            kept = secrets.token_bytes(_SALT_BYTES)
            own_file.put(file, kept)
    except (OSError, FileError):
        return secrets.token_bytes(_SALT_BYTES)
    return kept


_SALT_BYTES = 16


# What a person must know.


def _calibration_messages(found: Calibrated, lengths: tuple[int, int]) -> Iterator[Message]:
    from toolsync.bench.workload import is_near

    counted = found.prompt_tokens
    if counted is not None and not is_near(lengths[0], counted):
        text = f"prompts have about {counted} tokens by the server's count, not {lengths[0]}"
        yield Message("warning", text, "Hold the run only against others whose prompts are as long.")


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
            yield Message("warning", f"{count} of the requests {text}{f': {said}' if said else ''}", _FAILED_HINT)


_FAILED_HINT = "They are in none of the figures; a limit of the gateway's is the most usual reason."


def _stop(is_interrupted: bool, record: Record) -> Iterator[Message]:  # noqa: FBT001  its own name
    if is_interrupted:
        left = record.ladder[len(record.rungs) :]
        yield Message("problem", f"stopped at concurrency {left[0]}; the rungs before it are kept")


# Files.


def folder(session: Session) -> Path:
    """Where records lie."""
    return session.state / "bench"


def _kept(session: Session, record: Record, out: Path | None) -> tuple[list[Path], list[Message]]:
    """The files that hold it now, and what kept it from others: what took minutes to measure is shown all the same."""
    raw = dumped(record)
    usual = folder(session) / f"{record.id}.json"
    kept, unkept = [], []
    for file in (usual, *([out.absolute()] if out is not None else [])):
        try:
            _write(file, raw, is_ours=file is usual)
        except OSError as error:
            why = disk.file_error(file, error)
            unkept.append(Message("problem", f"the record is not kept there: {why.message}", _UNKEPT_HINT))
        else:
            kept.append(file)
    return kept, unkept


_UNKEPT_HINT = "Its figures are shown here; measure again once that is mended, or with another --out."


def _write(file: Path, raw: bytes, *, is_ours: bool) -> None:
    if not is_ours:
        file.write_bytes(raw)  # with the mode that the person's files have: there is nothing secret in it
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    own_file.put(file, raw)


def _stop_at_unwritable(session: Session, out: Path) -> None:
    """Before a run of minutes, not after it.

    Raises:
        UsageError: what stands there is no record.
        FileError: the folder is not there.
    """
    if not out.absolute().parent.is_dir():
        raise FileError(f"{session.shown(out.absolute().parent)} is no folder", hint="Make it, or name another --out.")
    raw = disk.read(out).raw
    if raw is None:
        return
    try:
        loaded(raw, session.shown(out))
    except DocumentError as error:
        raise UsageError(f"{session.shown(out)} is no record, and is not overwritten", hint="Name another.") from error


def _all(session: Session) -> tuple[list[Record], list[Message]]:
    """The records that are here, the oldest first, and what is said of files that are none.

    Raises:
        FileError: one cannot be opened.
    """
    found, strange = [], []
    for file in sorted(folder(session).glob("*.json")):
        try:
            found.append(loaded(disk.read(file).raw or b"", session.shown(file)))
        except DocumentError as error:
            strange.append(Message("warning", error.message, "Look at it, and move it away."))
    return found, strange


def find(session: Session, name: str) -> Record:
    """The record of a file, or of an id, the beginning of one, or a label, of which the newest counts.

    Raises:
        UsageError: there is none, or several begin so.
        DocumentError: the file is no record.
        FileError: it cannot be read.
    """
    file = Path(name)
    raw = disk.read(file).raw if file.suffix == ".json" or "/" in name else None
    if raw is not None:
        return loaded(raw, session.shown(file))
    here, _ = _all(session)
    labelled = [one for one in here if one.label == name]
    if labelled:
        return labelled[-1]
    begun = [one for one in here if one.id.startswith(name)]
    exact = [one for one in begun if one.id == name] or begun
    if len(exact) == 1 and name:
        return exact[0]
    if exact and name:
        raise UsageError(f"several records begin with '{on_one_line(name)}'", hint="Give more of the id.")
    raise UsageError(
        f"there is no record '{on_one_line(name)}'",
        hint="`toolsync bench list` names them; a file is named by its path.",
    )


def list_(session: Session) -> Result:
    """`bench list`: the records that are here. Raises as `find`."""
    here, strange = _all(session)
    rows = [
        {
            "id": one.id,
            "label": one.label,
            "started": one.started,
            "model": one.target.model,
            "dialect": one.target.dialect,
            "ladder": list(one.ladder),
            "finished": len(one.rungs),
            "token_source": one.token_source,
            "gpu_source": one.gpu.source,
        }
        for one in here
    ]
    return Result("bench list", {"records": rows}, tuple(strange))


def show(session: Session, name: str) -> Result:
    """`bench show`: one record in figures. Raises as `find`."""
    return Result("bench show", {"run": described(find(session, name))})


# In figures.


def described(record: Record) -> dict[str, Any]:
    """A record as JSON values: its rungs in figures, all that stands around them as it is."""
    whole = asdict(replace(record, rungs=()))
    output_tokens = record.parameters.output_tokens
    rungs = [_rung(rung, summary(rung, output_tokens, record.token_source)) for rung in record.rungs]
    told: dict[str, Any] = _listed({**whole, "rungs": rungs})
    return told


def _rung(rung: Rung, told: Summary) -> dict[str, Any]:
    gpus = [
        {**{name: value for name, value in asdict(one).items() if name != "samples"}, "delta_mib": one.delta_mib}
        for one in rung.gpus
    ]
    return {
        "concurrency": rung.concurrency,
        "started": rung.started,
        "ended": rung.ended,
        **asdict(told),
        "client": asdict(rung.client),
        "gpus": gpus,
        "kv_cache_peak": rung.kv_cache_peak,
    }


def _listed(value: Any) -> Any:
    """With lists for tuples, as JSON has them."""
    if isinstance(value, Mapping):
        return {name: _listed(inner) for name, inner in value.items()}
    return [_listed(inner) for inner in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
