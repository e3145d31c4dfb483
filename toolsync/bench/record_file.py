"""A record as it lies in its file: written a request a line, for a repository; read with suspicion."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from toolsync.bench.record import (
    Client,
    Environment,
    Gpu,
    GpuUse,
    Parameters,
    Record,
    Request,
    Rung,
    Target,
)
from toolsync.errors import DocumentError
from toolsync.masking import masked_data, on_one_line

SCHEMA = "toolsync/bench-record/1"


def dumped(record: Record) -> bytes:
    """The record as it lies in its file: a request a line, for a repository; a key that a server says is masked."""
    bare = replace(record, rungs=tuple(replace(rung, requests=()) for rung in record.rungs))
    whole = masked_data(asdict(bare))
    rungs = [
        _braced({**told, "requests": _Lines(map(_line, rung.requests))}, 2)
        for told, rung in zip(whole["rungs"], record.rungs, strict=True)
    ]
    return f"{_braced({'schema': SCHEMA, **whole, 'rungs': _Lines(rungs)}, 0)}\n".encode()


def _line(request: Request) -> str:
    """A request; its many gaps, in which no text is, are not looked through."""
    return _json(masked_data({**vars(request), "itl_ms": []}) | {"itl_ms": request.itl_ms})


class _Lines(list[str]):
    """JSON values of which each has a line of its own."""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True)


def _braced(fields: Mapping[str, Any], indent: int) -> str:
    """An object with a field a line."""
    margin = " " * (indent + 1)
    told = (f"{margin}{_json(name)}: {_spread(value, indent + 1)}" for name, value in fields.items())
    return "{\n" + ",\n".join(told) + f"\n{' ' * indent}}}"


def _spread(value: object, indent: int) -> str:
    if not isinstance(value, _Lines):
        return _json(value)
    if not value:
        return "[]"
    margin = " " * (indent + 1)
    return "[\n" + ",\n".join(f"{margin}{line}" for line in value) + f"\n{' ' * indent}]"


def loaded(raw: bytes, name: str) -> Record:
    """The record that a file holds.

    Args:
        raw: its content.
        name: what messages call it.

    Raises:
        DocumentError: it is none, or one of another version.
    """
    data = _parsed(raw, name)
    _stop_at_faults(_with_rungs(data, _without_gaps), name)
    if not all(map(_are_gaps, _gaps(data))):
        raise DocumentError("its itl_ms are not all times", name=name, hint=_HINT)
    if not all(map(_is_sound, _numbers(data))):
        raise DocumentError("a number in it is none that anybody measures", name=name, hint=_HINT)
    return _record(data)


def outlined(raw: bytes, name: str) -> Record:
    """The same without its requests and samples, at which nobody has looked: for a list of many. See `loaded`."""
    data = _parsed(raw, name)
    bare = _with_rungs(data, _bare)
    _stop_at_faults(bare, name)
    return _record(bare)


def _parsed(raw: bytes, name: str) -> dict[str, Any]:
    try:
        data = json.loads(raw, parse_constant=_none)
    except (ValueError, RecursionError) as error:
        raise DocumentError("it is no JSON", name=name, hint=_HINT) from error
    said = data.get("schema") if isinstance(data, dict) else None
    if said != SCHEMA:
        raise _strange(said, name)
    told: dict[str, Any] = data
    return told


def _stop_at_faults(data: Mapping[str, Any], name: str) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    from toolsync import resources

    fault = best_match(Draft202012Validator(resources.schema("bench-record")).iter_errors(data))
    if fault is not None:
        place = ".".join(map(str, fault.absolute_path)) or "it"
        raise DocumentError(f"{place} is not as a record has it", name=name, hint=_HINT)


def _strange(schema: object, name: str) -> DocumentError:
    if isinstance(schema, str) and schema.startswith(SCHEMA.rpartition("/")[0] + "/"):
        version = on_one_line(schema, limit=60)
        return DocumentError(f"it is a record of another version of toolsync ({version})", name=name, hint=_NEWER_HINT)
    return DocumentError(f"it is no record of a run ({SCHEMA})", name=name, hint=_HINT)


_NEWER_HINT = "Update toolsync, or measure again with this one."


_LEAST, _MOST = 1e-9, 2.0**63
"""Nanoseconds of a clock are the greatest numbers here; what is beyond these would make figures that are no numbers."""


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner)
    elif isinstance(value, (int, float)):
        yield value


def _is_sound(number: float) -> bool:
    return number == 0 or _LEAST <= abs(number) < _MOST


def _none(name: str) -> float:
    raise ValueError(name)  # NaN and the infinite, which JSON does not have


def _with_rungs(data: Mapping[str, Any], change: Callable[[object], object]) -> Mapping[str, Any]:
    rungs = data.get("rungs")
    return {**data, "rungs": list(map(change, rungs))} if isinstance(rungs, list) else data


def _bare(rung: object) -> object:
    return {**rung, "requests": [], "gpus": []} if isinstance(rung, dict) else rung


def _without_gaps(rung: object) -> object:
    """The rung without the gaps between chunks, of which a validator takes half a second to look at each."""
    if not isinstance(rung, dict) or not isinstance(rung.get("requests"), list):
        return rung
    told = [one | {"itl_ms": []} if _has_gaps(one) else one for one in rung["requests"]]
    return {**rung, "requests": told}


def _has_gaps(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("itl_ms"), list)


def _gaps(data: Mapping[str, Any]) -> Iterator[list[Any]]:
    for rung in data["rungs"]:
        yield from (one["itl_ms"] for one in rung["requests"])


def _are_gaps(values: list[Any]) -> bool:
    return all(type(value) in (int, float) and value >= 0 for value in values)


_HINT = "`toolsync bench run` writes records, and `toolsync bench list` names those that are here."


def _record(data: Mapping[str, Any]) -> Record:
    told = {name: value for name, value in data.items() if name != "schema"}
    return Record(
        **{
            **told,
            "environment": Environment(**data["environment"]),
            "target": Target(**data["target"]),
            "parameters": Parameters(**_with_tuples(data["parameters"], "refused")),
            "ladder": tuple(data["ladder"]),
            "rungs": tuple(map(_rung, data["rungs"])),
            "gpu": Gpu(**data["gpu"]),
            "notes": tuple(data["notes"]),
        }
    )


def _rung(data: Mapping[str, Any]) -> Rung:
    return Rung(
        **{
            **data,
            "requests": tuple(Request(**_with_tuples(one, "itl_ms")) for one in data["requests"]),
            "client": Client(**data["client"]),
            "gpus": tuple(map(_gpu_use, data["gpus"])),
        }
    )


def _gpu_use(data: Mapping[str, Any]) -> GpuUse:
    return GpuUse(**{**data, "samples": tuple((at, used) for at, used in data["samples"])})


def _with_tuples(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {**data, **{name: tuple(data[name]) for name in names}}
