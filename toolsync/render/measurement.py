"""Measurements for people: tables for a terminal, for a spreadsheet and for a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolsync.masking import masked, on_one_line
from toolsync.render.screen import Line, sentence
from toolsync.render.tables import cards, columns

UNKNOWN = "—"
"""What nobody knows; it is never 0."""


def run_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """A run: what was asked of whom, and a row for each rung."""
    run = data["run"]
    yield Line(f"{run['id']}  {run['label']}".rstrip(), "place")
    yield from map(sentence, about(run))
    yield Line("")
    yield from cards(rows(run), heads(run))
    yield Line("")
    yield from remarks(run)
    for file in data.get("files", ()):
        yield Line(f"Kept: {file}", "dim")


def list_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """The records that are here."""
    if not data["records"]:
        yield Line("There is no record yet: `toolsync bench run` makes one.")
        return
    told = [
        (one["id"], one["label"], one["model"], one["dialect"], ",".join(map(str, one["ladder"][: one["finished"]])))
        for one in data["records"]
    ]
    yield from columns(told, ("Record", "Label", "Model", "Dialect", "Concurrency"))


def about(run: Mapping[str, Any]) -> Iterator[str]:
    """What was asked of whom, in sentences."""
    target, asked, client = run["target"], run["parameters"], run["environment"]
    answered = target["answered_model"]
    other = f" (which answers as {answered})" if answered not in (None, target["model"]) else ""
    yield (
        f"{target['model']}{other} by {target['dialect']} at {target['path']}"
        f" ({target['host_kind']} {target['origin']})"
        f": {asked['prompt_tokens']} tokens in, {asked['output_tokens']} out."
    )
    if asked["rate"] is not None:
        yield f"Open loop: {asked['rate']:g} requests a second, whatever comes back; Streams: the most at once."
    held = ", ".join(asked["accepted"]) or "nothing"
    refused = f"; not taken: {', '.join(asked['refused'])}" if asked["refused"] else ""
    yield f"Output held by {held}{refused}. Tokens counted by {_SOURCES[run['token_source']]}."
    opened = f"; opening a connection takes {run['connect_ms']:.1f} ms or more" if run["connect_ms"] is not None else ""
    yield f"Client: {_TRANSPORTS[client['transport']]}, {client['loop']}, Python {client['python']}{opened}."


_SOURCES = {
    "usage": "the server (usage)",
    "continuous-usage": "the server, chunk by chunk",
    "events": "nobody: chunks are counted (~)",
}
_TRANSPORTS = {"own": "its own transport", "httpx": "httpx's transport through a proxy"}


# The table.


def heads(run: Mapping[str, Any]) -> list[str]:
    """What the columns of `rows` are; times are in milliseconds."""
    thought = ["TTFO p50"] if _thinks(run) else []
    gap = "Gap p50" if _is_lumpy(run) else "ITL p50"
    return ["Streams", "Done", "TTFT p50", "p90", "p99", *thought, gap, "p99", "Tokens/s", "Each", "GPU MiB"]


def rows(run: Mapping[str, Any]) -> list[list[str]]:
    """A row for each rung."""
    is_guessed = run["token_source"] == "events"  # noqa: S105  tokens of a model
    return [_row(rung, thinks=_thinks(run), is_guessed=is_guessed) for rung in run["rungs"]]


def _row(rung: Mapping[str, Any], *, thinks: bool, is_guessed: bool) -> list[str]:
    ttft, itl = rung["ttft_ms"], rung["itl_ms"]
    about = "~" if is_guessed else ""
    return [
        f"{rung['concurrency']}{' !' if rung['client']['is_limit'] else ''}",
        _requests(rung),
        _figure(ttft["p50"]),
        _figure(ttft["p90"]),
        _figure(ttft["p99"]),
        *([_figure(rung["ttfo_ms"]["p50"])] if thinks else []),
        _figure(itl["p50"], 2),
        _figure(itl["p99"], 2),
        about + _figure(rung["system_tokens_per_s"]),
        about + _figure(rung["request_tokens_per_s"]),
        ", ".join(map(_memory, rung["gpus"])) or UNKNOWN,
    ]


def _memory(gpu: Mapping[str, Any]) -> str:
    """The peak, and how much of it came with the rung."""
    grown = gpu["delta_mib"]
    return _figure(gpu["peak_mib"], 0) + ("" if grown is None else f" ({grown:+.0f})")


def _requests(rung: Mapping[str, Any]) -> str:
    odd = [f"{rung[name]} {name}" for name in ("failed", "short", "long") if rung[name]]
    return ", ".join([str(rung["ok"]), *odd])


def _figure(value: float | None, digits: int = 1) -> str:
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def _thinks(run: Mapping[str, Any]) -> bool:
    """Whether an answer begins later than the first token."""
    return any(rung["ttfo_ms"]["p50"] != rung["ttft_ms"]["p50"] for rung in run["rungs"])


_LUMPY = 1.05


def _is_lumpy(run: Mapping[str, Any]) -> bool:
    """Whether chunks hold several tokens, so that the gaps between them are none between tokens."""
    return any((rung["tokens_per_chunk"] or 0) > _LUMPY for rung in run["rungs"])


def remarks(run: Mapping[str, Any]) -> Iterator[Line]:
    """What must be known of its table."""
    yield from _limits(run["rungs"])
    yield from _rung_remarks(run["rungs"])
    yield sentence("Times are in milliseconds; Each is one stream's tokens/s. All figures: --csv, --json.", "dim")
    if any(rung["ttft_ms"]["n"] > 0 and rung["ttft_ms"]["p99"] is None for rung in run["rungs"]):
        yield sentence(f"{UNKNOWN} for p99: fewer than 100 requests, of which it would be the slowest.", "dim")
    if run["gpu"]["reason"]:
        yield sentence(f"GPU memory: {run['gpu']['reason']}", "dim")
    yield from _unknown_memory(run)
    yield from (sentence(note, "dim") for note in run["notes"])


def _unknown_memory(run: Mapping[str, Any]) -> Iterator[Line]:
    """Why a card's memory is unknown, unless that is said of all."""
    found: dict[tuple[int, str], list[str]] = {}
    said = " ".join([run["gpu"]["reason"], *run["notes"]])
    for rung in run["rungs"]:
        for number, gpu in enumerate(rung["gpus"]):
            if gpu["peak_mib"] is None and gpu["why"] and gpu["why"][1:] not in said:
                found.setdefault((number, gpu["why"]), []).append(str(rung["concurrency"]))
    for (number, why), steps in found.items():
        yield sentence(f"GPU {number}: its memory at {', '.join(steps)} is unknown: {why}.", "look")


def _limits(rungs: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    held = [rung for rung in rungs if rung["client"]["is_limit"]]
    if held:
        at = ", ".join(str(rung["concurrency"]) for rung in held)
        busy = max(rung["client"]["cpu_share"] for rung in held)
        late = max(rung["client"]["loop_lag_p99_ms"] for rung in held)
        text = (
            f"! at {at}: this client was the limit (up to {busy:.0%} of a processor, its loop up to {late:.1f} ms late)"
        )
        yield sentence(f"{text}; the figures are partly its own. Leave the machine to it.", "look")


def _rung_remarks(rungs: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """What is odd at some rungs, each kind once."""
    short = {one["concurrency"]: f"{one['short']} of {one['ok']}" for one in rungs if one["short"]}
    longer = {one["concurrency"]: f"{one['long']} of {one['ok']}" for one in rungs if one["long"]}
    uncounted = {one["concurrency"]: f"{one['uncounted']} of {one['ok']}" for one in rungs if one["uncounted"]}
    late = {
        one["concurrency"]: f"{_figure(one['dispatch_ms']['p50'])} ms"
        for one in rungs
        if (one["dispatch_ms"]["p90"] or 0) > _LATE_MS
    }
    lumpy = {
        one["concurrency"]: f"{one['tokens_per_chunk']:.2f}" for one in rungs if (one["tokens_per_chunk"] or 0) > _LUMPY
    }
    bunched = {
        one["concurrency"]: f"{one['bunched_share']:.0%}"
        for one in rungs
        if (one["bunched_share"] or 0) > _BUNCHED and not one["client"]["is_limit"]  # then it fetched them late itself
    }
    cached = {one["concurrency"]: f"{one['cached_share']:.0%}" for one in rungs if (one["cached_share"] or 0) > _CACHED}
    yield from _at(short, "Replies that were shorter than asked", "look")
    yield from _at(longer, "Replies that were longer than asked, for the server does not keep to the limit", "look")
    yield from _at(uncounted, "Replies whose tokens nobody counted, so that Tokens/s is unknown", "look")
    yield from _at(
        late, "Sent later than intended, which is not in TTFT (half of the requests by so much or more)", "look"
    )
    yield from _at(
        lumpy,
        "Gaps are between chunks, and Each takes the first one for one token, for these hold several tokens",
        "dim",
    )
    yield from _at(bunched, "Chunks came together with the one before, as where something on the way buffers", "look")
    yield from _at(cached, "Prompts came out of the server's cache", "look")


def _at(told: Mapping[int, str], text: str, style: str) -> Iterator[Line]:
    if told:
        yield sentence(f"{text}: {', '.join(f'{value} at {step}' for step, value in told.items())}.", style)


_LATE_MS = 10.0
"""One in ten requests later than that is no chance."""
_BUNCHED = 0.05
_CACHED = 0.05
"""A template's first words are alike in all prompts, and may be cached; more than that may not."""


# For other programs.


def csv_text(run: Mapping[str, Any]) -> str:
    """The table as CSV, nothing in it a formula."""
    import csv  # only where it is asked for
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")  # RFC 4180
    writer.writerow(["Record", "Label", *map(plain, _flat(run)[0])])
    for row in _flat(run)[1]:
        writer.writerow([plain(run["id"]), plain(run["label"]), *row])
    return text.getvalue()


_FLAT = ("ttft_ms", "ttfo_ms", "tpot_ms", "itl_ms", "e2e_ms", "dispatch_ms")
_COUNTS = ("ok", "failed", "short", "long", "uncounted")
_RATES = (
    *("system_tokens_per_s", "steady_tokens_per_s", "request_tokens_per_s", "tokens_per_chunk"),
    *("prompt_tokens", "cached_share", "bunched_share"),
)


def _flat(run: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """All figures, each in a column of its own, unknown ones empty."""
    spreads = [(name, part) for name in _FLAT for part in ("n", "p50", "p90", "p99", "mean")]
    names = ["concurrency", *_COUNTS, *(f"{name}_{part}" for name, part in spreads), *_RATES]
    names += ["client_cpu_share", "client_loop_lag_p99_ms", "client_is_limit", "gpu_peak_mib", "gpu_delta_mib"]
    told = []
    for rung in run["rungs"]:
        client = rung["client"]
        values = [rung["concurrency"], *(rung[name] for name in _COUNTS)]
        values += [*(rung[name][part] for name, part in spreads), *(rung[name] for name in _RATES)]
        values += [client["cpu_share"], client["loop_lag_p99_ms"], client["is_limit"]]
        values += [_sum([gpu[name] for gpu in _serving(rung["gpus"])]) for name in ("peak_mib", "delta_mib")]
        told.append([number(value) for value in values])
    return names, told


def number(value: float | None) -> str:
    """A figure as a cell, unknown ones empty; what binary fractions leave in its last digits is no measurement."""
    if isinstance(value, float):
        return repr(float(f"{value:.12g}"))
    return "" if value is None else str(value)


def _serving(gpus: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """As the comparison takes them: those that serve, or all where nobody knows which do."""
    return [gpu for gpu in gpus if gpu["serves"]] or gpus


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a cell begins that a spreadsheet would carry out (OWASP, "CSV Injection")."""


def plain(text: str) -> str:
    """Text from outside as a cell."""
    clean = on_one_line(masked(text))
    return f"'{clean}" if clean.lstrip().startswith(_FORMULAS) else clean


def markdown_text(run: Mapping[str, Any]) -> str:
    """The table for a page, with what must be known of it."""
    lines = [f"**{escaped(run['label'] or run['id'])}** ({escaped(run['target']['model'])})", ""]
    lines += [barred(heads(run)), barred(["---:"] * len(heads(run)))]
    lines += [barred(row) for row in rows(run)]
    lines += ["", *(escaped(text) for text in about(run)), ""]
    lines += [f"- {escaped(line.text)}" for line in remarks(run)]
    return "\n".join(lines) + "\n"


def barred(cells: Sequence[str]) -> str:
    """A row of a table of Markdown."""
    return f"| {' | '.join(escaped(cell) if not cell.startswith('---') else cell for cell in cells)} |"


_MARKUP = str.maketrans({**{mark: f"\\{mark}" for mark in "\\`*_[]|#"}, "<": "&lt;", "&": "&amp;", ">": "&gt;"})


def escaped(text: str) -> str:
    """Text from outside as text: no markup, no HTML."""
    return on_one_line(masked(text)).translate(_MARKUP)
