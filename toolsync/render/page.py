"""`bench report` as one page of HTML: it loads nothing, runs no script, and says what the terminal says.

Every text passes `text`, which masks and escapes it. The plots are our own shapes and numbers (`figures`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import Any

from toolsync.bench.record import Record
from toolsync.commands.bench.records import described
from toolsync.commands.bench.report import MARK, Report, verdicts
from toolsync.masking import mask_key_shapes, masked, on_one_line
from toolsync.render import contrast, figures, measurement, page_style
from toolsync.render.canvas import Figure
from toolsync.render.screen import Line, sentence
from toolsync.value import frozen


def report_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """Where the page is, for people, and what it says."""
    if data["verdicts"] and any(data["verdicts"].values()):
        yield sentence(_counted(data["verdicts"]))
    yield Line(f"Written: {data['file']} ({max(1, round(data['bytes'] / 1000))} kB)", "place")


def html_text(report: Report) -> str:
    """The page.

    Raises:
        UsageError: what draws the plots is not installed.
    """
    return document(report, drawn(report))


@frozen
class Drawn:
    """The plots of a page.

    Attributes:
        together: of both runs on the same axes, or of the only run.
        apart: of two runs that may not be held against each other, the baseline's first; empty otherwise.
    """

    together: tuple[Figure, ...] = ()
    apart: tuple[tuple[Figure, ...], ...] = ()


def drawn(report: Report) -> Drawn:
    """The plots: what is not compared in figures shares no axes either.

    Raises:
        UsageError: what draws is not installed.
    """
    comparison = report.comparison
    if report.baseline is None or comparison is None or not comparison["is_refused"]:
        together = list(figures.figures(figures.series(report.record, report.baseline)))
        changes = figures.Pen().changes(comparison["rows"], comparison["least_effect"]) if comparison else None
        return Drawn((changes, *together) if changes else tuple(together))
    runs = (("before-", report.baseline), ("after-", report.record))
    return Drawn((), tuple(tuple(figures.figures(figures.series(one), prefix)) for prefix, one in runs))


def document(report: Report, plots: Drawn) -> str:
    """The page with its plots."""
    body = "\n".join(_body(report, plots))
    name = report.record.label or report.record.id
    return (
        "<!doctype html>\n"
        f'<html lang="en">\n<head>\n<meta charset="utf-8">\n{MARK.decode()}\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>Bench report: {text(name)}</title>\n<style>{page_style.STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


_DIGEST = b64encode(sha256(page_style.STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"
"""Nothing is loaded or run, whatever a text might hold; of styles, only our own."""


def text(said: str) -> str:
    """Text from outside, or that may hold some, as HTML text or the value of an attribute."""
    return escape(on_one_line(mask_key_shapes(masked(said))))


def _body(report: Report, plots: Drawn) -> Iterator[str]:
    yield f"<header><h1>{_heading(report)}</h1>"
    yield f"<p class=quiet>{text(_when(report))}</p></header>"
    if report.comparison is not None:
        yield from _comparison(report, report.comparison)
    if plots.together:
        yield _section("Plots", [_plots(plots.together)])
    runs = [("Before: ", report.baseline), ("After: ", report.record)] if report.baseline else [("", report.record)]
    for number, (word, record) in enumerate(runs):
        own = plots.apart[number] if plots.apart else ()
        yield _section(f"{word}{record.label or record.id}", [*_run(record), *([_plots(own)] if own else [])])
    yield _section("What the figures mean", _MEANINGS)
    yield "<footer><p class=quiet>Made by toolsync. This page runs no script and loads nothing.</p></footer>"


def _heading(report: Report) -> str:
    name = report.record.label or report.record.id
    if report.baseline is None:
        return f"Bench report: {text(name)}"
    return f"{text(report.baseline.label or report.baseline.id)} against {text(name)}"


def _when(report: Report) -> str:
    if report.baseline is None:
        return f"Record {report.record.id}, started {report.record.started}."
    one, other = report.baseline, report.record
    return f"Before: record {one.id}, started {one.started}. After: record {other.id}, started {other.started}."


def _section(heading: str, parts: Iterable[str]) -> str:
    return "\n".join([f"<section>\n<h2>{text(heading)}</h2>", *parts, "</section>"])


# The comparison.


def _comparison(report: Report, data: Mapping[str, Any]) -> Iterator[str]:
    messages = [
        f'<li class="{message.level}">{text(message.text)}.{f" {text(message.hint)}" if message.hint else ""}</li>'
        for message in dict.fromkeys(report.messages)
    ]
    told = [f"<ul class=messages>{''.join(messages)}</ul>"] if messages else []
    if not data["rows"]:
        yield _section("Not compared", told)
        return
    counted = f"<p class=summary>{text(_counted(verdicts(data)))}</p>"
    notes = [f"<p class=quiet>{text(remark)}</p>" for remark in contrast.remarks(data)]
    yield _section("Verdict", [*told, counted, _verdicts(data), *notes])


def _counted(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count) + "."


_VERDICT_CLASSES = {"better": "good", "worse": "bad"}


def _verdicts(data: Mapping[str, Any]) -> str:
    """The table of `bench compare`; on a telephone each row is a card."""
    classes = [_VERDICT_CLASSES.get(row["verdict"], "even") for row in data["rows"]]
    cells = ("".join(map(_headed, row, contrast.HEADS)) for row in contrast.rows(data))
    rows = (f'<tr class="{kind}">{row}</tr>' for kind, row in zip(classes, cells, strict=True))
    return f'<table class="verdicts">{_head(contrast.HEADS)}<tbody>\n{_lines(rows)}\n</tbody></table>'


def _headed(cell: str, head: str) -> str:
    return f'<td data-head="{text(head)}">{text(cell)}</td>'


# A run.


def _run(record: Record) -> Iterator[str]:
    run = described(record)
    yield from (f"<p>{text(said)}</p>" for said in measurement.about(run))
    heads = measurement.heads(run)
    rows = (f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in measurement.rows(run))
    label = text(f"Figures of {record.label or record.id}")
    yield f'<div class="wide" role="region" tabindex="0" aria-label="{label}">'
    yield f'<table class="run">{_head(heads)}<tbody>\n{_lines(rows)}\n</tbody></table></div>'
    yield f"<ul class=quiet>{''.join(f'<li>{text(line.text)}</li>' for line in measurement.remarks(run))}</ul>"
    gpus = list(_gpus(record))
    if gpus:
        yield f"<p class=quiet>{text('; '.join(gpus))}.</p>"


def _gpus(record: Record) -> Iterator[str]:
    for number, gpu in enumerate(record.rungs[0].gpus if record.rungs else ()):
        total = f", {gpu.total_mib / 1024:.0f} GiB" if gpu.total_mib is not None else ""
        serves = {True: ", serves the answers", False: ", does not serve the answers", None: ""}[gpu.serves]
        yield f"GPU {number}: {gpu.name or 'of unknown name'}{total}{serves}"


def _head(heads: Sequence[str]) -> str:
    return f"<thead><tr>{''.join(f'<th scope=col>{text(head)}</th>' for head in heads)}</tr></thead>"


def _lines(rows: Iterable[str]) -> str:
    return "\n".join(rows)


# Plots.


def _plots(plots: Iterable[Figure]) -> str:
    return "\n".join(['<div class="plots">', *map(_plot, plots), "</div>"])


def _plot(one: Figure) -> str:
    read = f" <span>{text(one.text)}</span>" if one.text else ""
    caption = f"<figcaption><strong>{text(one.title)}.</strong>{read}</figcaption>"
    return f'<figure id="{text(one.name)}">{caption}{one.svg}</figure>'


_MEANINGS = (
    "<dl>",
    *(
        f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>"
        for word, meaning in (
            ("TTFT", "From the request's bytes on an open connection to the first token, a thought included."),
            ("TTFO", "The same to the first token that is no thought."),
            (
                "ITL, Gap",
                "The time between two chunks that carry tokens; a gap where chunks hold several.",
            ),
            ("TPOT", "From the first to the last token, over the tokens behind the first chunk."),
            ("Tokens/s", "All tokens of a rung over the time from its first request to its last token."),
            ("Each", "What one stream gets: one over TPOT, the median."),
            ("GPU MiB", "The most in use during the rung; in brackets, how much more than before its warm-up."),
            (measurement.UNKNOWN, "Nobody knows; it is never 0."),
        )
    ),
    "</dl>",
)
