"""AMD's `amd-smi`, asked for JSON again and again: not every version can print tick after tick as JSON."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from toolsync import on_path
from toolsync.bench.gpu.reading import Holder, Reading, UnreadableError, known_mib
from toolsync.bench.record import GpuSource
from toolsync.masking import on_one_line

_ARGV = ("amd-smi", "metric", "--mem-usage", "--json")
_TIMEOUT_SECONDS = 20
_UNITS = {"B": 2**-20, "KB": 2**-10, "MB": 1, "MIB": 1, "GB": 2**10}
"""In MiB: what amd-smi calls MB is 2^20 bytes (a card of 20 GiB has 20464)."""


def readings(text: str) -> list[Reading]:
    """Every GPU that the JSON tells of: a list, or from ROCm 7 on a list under `gpu_data`.

    Raises:
        UnreadableError: it is no such JSON.
    """
    try:
        told = json.loads(text)
    except ValueError as error:
        raise UnreadableError(f"amd-smi says no JSON: {on_one_line(text.strip(), limit=200)}") from error
    rows = told.get("gpu_data") if isinstance(told, dict) else told
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UnreadableError("amd-smi's JSON is of a shape that is not known here")
    return [_reading(row, number) for number, row in enumerate(rows)]


def _reading(row: dict[str, Any], number: int) -> Reading:
    memory = row.get("mem_usage")
    memory = memory if isinstance(memory, dict) else {}
    used, total = _mib(memory.get("used_vram")), _mib(memory.get("total_vram"))
    index = str(row.get("gpu", number))
    return Reading(index, used, total, None, "", index, "" if used is not None else "amd-smi says N/A")


def _mib(value: Any) -> float | None:
    unit = 1.0
    if isinstance(value, dict):
        unit = _UNITS.get(str(value.get("unit", "MB")).upper(), 0)
        value = value.get("value")
    if isinstance(value, bool) or not unit:
        return None
    try:
        return known_mib(float(value) * unit)
    except (TypeError, ValueError):  # "N/A"
        return None


class Amd:
    """The GPUs of this machine. A question takes a good part of a second: ticks may be further apart than asked."""

    source: GpuSource = "amd-smi"
    way = ""
    notes: tuple[str, ...] = ()

    def open(self) -> None:
        """Nothing has to be ready."""

    def read(self) -> Sequence[Reading]:
        """Every GPU, now.

        Raises:
            UnreadableError: it cannot be run, fails, or says something else.
        """
        try:
            ended = subprocess.run(
                [on_path.needed(_ARGV[0], os.environ), *_ARGV[1:]],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except OSError as error:
            raise UnreadableError(f"amd-smi cannot be run: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise UnreadableError(f"amd-smi did not answer in {_TIMEOUT_SECONDS} s") from error
        if ended.returncode:
            said = on_one_line((ended.stderr or ended.stdout).strip(), limit=200)
            raise UnreadableError(f"amd-smi ended with status {ended.returncode}{': ' * bool(said)}{said}")
        found = readings(ended.stdout)
        if not found:
            raise UnreadableError("amd-smi knows of no GPU here")
        return found

    def holders(self) -> Sequence[Holder] | None:
        """Not asked."""
        return None

    def close(self) -> None:
        """Nothing is held."""
