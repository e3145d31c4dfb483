"""`bench`: measure, and look at what was measured."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from toolsync.cli.context import Json, ProfileName, a_number, help_app, run, show
from toolsync.errors import UsageError
from toolsync.render import contrast, measurement, screen
from toolsync.result import Result

if TYPE_CHECKING:
    from toolsync.commands.bench.measuring import Wish

app = typer.Typer()
bench_app = help_app("Measure a gateway, before and after.")
app.add_typer(bench_app, name="bench")

Csv = Annotated[bool, typer.Option("--csv", help="The figures as CSV on stdout, and nothing else.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="A table to paste, and nothing else.")]


@bench_app.command("run")
def bench_run(
    profile: ProfileName = None,
    dialect: Annotated[str, typer.Option("--dialect", help="chat, responses or messages.")] = "chat",
    model: Annotated[str | None, typer.Option("--model", help="Instead of the profile's.")] = None,
    concurrency: Annotated[str, typer.Option("--concurrency", "-c", help="Default: 1,2,4,8,16,32.")] = "",
    tokens: Annotated[str, typer.Option("--tokens", help="In and out.")] = "512,256",
    requests: Annotated[
        int | None, typer.Option("--requests", min=1, max=1_000_000, help="At least so many a step.")
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option("--duration", min=0.1, max=604_800, help="Seconds that a step lasts.", callback=a_number),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", min=0.001, max=100_000, help="Open loop: requests a second.", callback=a_number),
    ] = None,
    label: Annotated[str | None, typer.Option("--label", help="What to call the run.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep the record here, too.")] = None,
    gpu: Annotated[str, typer.Option("--gpu", help="Only these: numbers or UUIDs.")] = "",
    gpu_ssh: Annotated[str, typer.Option("--gpu-ssh", help="Read GPU memory on this host.")] = "",
    dcgm_url: Annotated[str, typer.Option("--dcgm-url", help="… from this exporter.")] = "",
    metrics_url: Annotated[str, typer.Option("--metrics-url", help="The engine's KV cache, too.")] = "",
    csv: Csv = False,
    markdown: Markdown = False,
    json: Json = False,
) -> None:
    """Measure TTFT, tokens/s and GPU memory."""
    from toolsync.commands.bench import measuring as command

    _stop_at_two(csv=csv, markdown=markdown, json=json)
    if dialect not in command.DIALECTS:
        raise UsageError(f"there is no dialect '{dialect}'", hint=f"There are: {', '.join(command.DIALECTS)}.")
    steps = _numbers("--concurrency", concurrency) if concurrency else None
    memory = {"ssh": gpu_ssh, "dcgm_url": dcgm_url, "metrics_url": metrics_url, "gpus": _words(gpu)}
    lengths = _lengths(tokens)
    wish = command.Wish(profile, dialect, model, steps, lengths, requests, duration, rate, label, out, memory)
    _shown(_measured(wish, is_shown=not json and _is_watched()), csv=csv, markdown=markdown)


def _measured(wish: Wish, *, is_shown: bool) -> Result:
    """What the run comes to; where it is shown how far it is, that line is gone in the end."""
    from toolsync.commands.bench import measuring as command

    progress = _Progress(is_shown=is_shown)
    try:
        return command.run(run.session(), wish, progress)
    finally:
        progress.end()


@bench_app.command("list")
def bench_list(json: Json = False) -> None:
    """List the records that are here."""
    from toolsync.commands.bench.records import list_

    show(list_(run.session()))


@bench_app.command("show")
def bench_show(
    record: Annotated[str, typer.Argument(help="An id, the beginning of one, a label, or a file.")],
    csv: Csv = False,
    markdown: Markdown = False,
    aiperf: Annotated[bool, typer.Option("--aiperf", help="Its prompts anew, for aiperf, and nothing else.")] = False,
    json: Json = False,
) -> None:
    """Show a record in figures."""
    from toolsync.commands.bench.records import show as command

    _stop_at_two(csv=csv, markdown=markdown, aiperf=aiperf, json=json)
    result = command(run.session(), record)
    if aiperf:
        from toolsync.commands.bench import export

        screen.stdout().put(export.aiperf(result.data["run"]))
        return
    _shown(result, csv=csv, markdown=markdown)


@bench_app.command("compare")
def bench_compare(
    baseline: Annotated[str, typer.Argument(help="The record from before: as `show` takes it.")],
    candidate: Annotated[str, typer.Argument(help="The one from after.")],
    fail_if: Annotated[list[str] | None, typer.Option("--fail-if", help="Such as ttft_p50>+10%, or worse.")] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Though the two are not comparable.")] = False,
    csv: Csv = False,
    markdown: Markdown = False,
    json: Json = False,
) -> None:
    """Compare two records, with a verdict.

    Ends with 1 when a --fail-if is met, with 3 when the two are not comparable or nobody can say.
    """
    from toolsync.commands.bench.compare import Wish, compare
    from toolsync.render import message_lines

    _stop_at_two(csv=csv, markdown=markdown, json=json)
    result = compare(run.session(), Wish(baseline, candidate, anyway, tuple(fail_if or ())))
    if not csv and not markdown:
        show(result)
        return
    run.exit_code = result.exit_code
    screen.stdout().put(contrast.csv_text(result.data) if csv else contrast.markdown_text(result.data))
    screen.stderr().show(message_lines(result.messages))


@bench_app.command("report")
def bench_report(
    record: Annotated[str, typer.Argument(metavar="RUN", help="The record: as `show` takes it.")],
    against: Annotated[str | None, typer.Option("--against", help="The record from before.")] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Though the two are not comparable.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file; default: one in this folder.")] = None,
    json: Json = False,
) -> None:
    """Make a page of HTML, with plots.

    The page needs no network. Ends with 3 when the two are not comparable; the page then says why.
    """
    from toolsync.commands.bench.report import Wish, report
    from toolsync.render.page import html_text

    show(report(run.session(), Wish(record, against, anyway, out), html_text))


def _stop_at_two(**forms: bool) -> None:
    chosen = [f"--{name}" for name, is_chosen in forms.items() if is_chosen]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} are two forms of one answer", hint="Choose one.")


def _shown(result: Result, *, csv: bool, markdown: bool) -> None:
    if not csv and not markdown:
        show(result)
        return
    run.exit_code = result.exit_code
    text = measurement.csv_text(result.data["run"]) if csv else measurement.markdown_text(result.data["run"])
    screen.stdout().put(text)
    from toolsync.render import message_lines

    screen.stderr().show(message_lines(result.messages))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _lengths(text: str) -> tuple[int, int]:
    """Of the prompts and the replies, in tokens."""
    numbers = _numbers("--tokens", text)
    if len(numbers) != 2:  # noqa: PLR2004  in and out
        raise UsageError("--tokens wants two numbers", hint="For example `--tokens 512,256`: in and out.")
    return numbers[0], numbers[1]


_MOST_STREAMS = 4096


def _numbers(option: str, text: str) -> tuple[int, ...]:
    """Numbers with commas between them."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdecimal() and int(word[:9]) > 0 for word in words):
        raise UsageError(f"{option} wants whole numbers with commas between them", hint=f"For example `{option} 1,8`.")
    numbers = tuple(int(word[:9]) if len(word) <= 9 else _MOST_TOKENS + 1 for word in words)  # noqa: PLR2004  likewise
    if option == "--concurrency" and max(numbers) > _MOST_STREAMS:
        raise UsageError(f"{option}: more than {_MOST_STREAMS} streams are for a distributed engine", hint=_FURTHER)
    if max(numbers) > _MOST_TOKENS:
        raise UsageError(f"{option}: no model takes more than {_MOST_TOKENS:,}", hint="Name fewer.")
    return numbers


_MOST_TOKENS = 10_000_000
_FURTHER = "The README says which, and how its figures relate."


def _is_watched() -> bool:
    return sys.stderr.isatty()


class _Progress:
    """A line on a terminal that is written over a few times a second: what draws more takes milliseconds of a rung."""

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown
        self._width = 0
        self._room = max(1, get_terminal_size().columns - 1)
        self._bar = max(1, min(_BAR, self._room + 1 - _WORDS))

    def __call__(self, concurrency: int, done: int, total: int | None) -> None:
        if not self._is_shown:
            return
        if total is None:
            text = f"concurrency {concurrency}: {f'{done} requests' if done else 'warming up'}"
        else:
            filled = self._bar * done // max(1, total)
            text = f"concurrency {concurrency}: [{'#' * filled}{'.' * (self._bar - filled)}] {done}/{total}"
        text = text[: self._room]
        self._write(f"\r{text.ljust(self._width)}")
        self._width = len(text)

    def end(self) -> None:
        """Leave nothing behind."""
        if self._width:
            self._write(f"\r{' ' * self._width}\r")

    @staticmethod
    def _write(text: str) -> None:
        with suppress(OSError):  # a terminal that is gone; what is measured is kept all the same
            sys.stderr.write(text)
            sys.stderr.flush()


_BAR, _WORDS = 30, 34
"""How wide the bar is at most, and what stands around it: a line that is folded is not written over."""
