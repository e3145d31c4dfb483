"""`doctor`: why it does not work, and, where a command of ours mends it, that command."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolsync import render
from toolsync.cli.context import Json, Language, Yes, confirmed, run, show
from toolsync.errors import DeclinedError, ToolsyncError, UsageError
from toolsync.render import screen
from toolsync.result import DONE, REFUSED, Message, Result
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.causes import Language as Spoken

app = typer.Typer()

Words = list[str]
"""One command line, behind `toolsync`."""
Chain = list[Words]

_MOST_ROUNDS = 12
"""Chains: commands that lead to ever new ones have an end."""


@app.command()
def doctor(
    context: typer.Context,
    tools: Annotated[
        list[str] | None, typer.Argument(help="Tools; default: all found here.", show_default=False)
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also ask as a coding tool does: code, and its headers.")
    ] = False,
    client: Annotated[
        bool, typer.Option("--client", help="Also run the tool itself once: it costs a real request.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Ask nobody.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Offer to run the command that mends it.")] = False,
    yes: Yes = False,
    lang: Language = None,
    json: Json = False,
) -> None:
    """Say why a tool gets no answer.

    What each tool will really ask, whether that works, and if not: the cause, the evidence, the command that mends it.
    Ends with 1 when something is wrong, with 3 when nobody can tell from here.
    """
    from toolsync.causes import language
    from toolsync.commands.doctor.diagnosis import Options
    from toolsync.commands.doctor.diagnosis import doctor as command

    if client and offline:
        raise UsageError("`--client` asks a model, and `--offline` asks nobody", hint="Leave one of them out.")
    if fix and not yes and (json or not run.session().is_interactive):
        raise DeclinedError("`--fix` asks before it runs anything, and nobody is there to answer", hint="Add `--yes`.")
    session = run.session()
    spoken = language(lang, session.places.environ)
    options = Options(tuple(tools or ()), spoken, is_deep=deep, is_offline=offline)

    def look(*, is_client: bool = False) -> Result:
        return command(run.session(), replace(options, is_client=is_client))

    if not fix:
        show(look(is_client=client))
        return
    mended = _mended(context, look, spoken, yes=yes)
    if client:
        proven = look(is_client=True)
        data = {**proven.data, "fixed": mended.result.data["fixed"]}
        mended = replace(mended, result=replace(proven, data=data), is_shown=False)
    _show_mended(mended, spoken)


def _show_mended(mended: _Mended, spoken: Spoken) -> None:
    if not mended.is_shown:
        show(replace(mended.result, messages=(*mended.result.messages, *mended.messages)))
        return
    run.exit_code = mended.result.exit_code
    screen.stdout().show(render.message_lines(mended.messages, spoken))


@frozen
class _Mended:
    """What is left.

    Attributes:
        result: the last look.
        messages: what came of what was run.
        is_shown: whether people have seen that look.
    """

    result: Result
    messages: tuple[Message, ...]
    is_shown: bool


def _mended(context: typer.Context, look: Callable[[], Result], spoken: Spoken, *, yes: bool) -> _Mended:
    """What is found, mended as far as commands of ours can, and looked at again; and what is left then."""
    from toolsync.causes import words
    from toolsync.doctor.command import spelled

    found, tried, done, stopped = look(), list[Chain](), list[Words](), list[Message]()
    is_shown = False
    while len(tried) < _MOST_ROUNDS:
        chain = next((one for one in _chains(found) if one not in tried), None)
        if chain is None:
            break
        tried.append(chain)
        if not is_shown and not run.json:
            screen.stdout().show(render.lines(found))
            is_shown = True
        question = words(spoken)["doctor"]["run"].format(command=" && ".join(map(spelled, chain)))
        if not yes and not confirmed(question):
            continue
        before = len(done)
        stopped += _run_all(context, chain, done, spoken, is_asked=not yes)
        if len(done) > before:
            found, is_shown = look(), False
    data = {**found.data, "fixed": [{"command": one} for one in done]}
    messages = (*stopped, *_left(found, tried, done, spoken))
    return _Mended(replace(found, data=data), messages, is_shown)


def _left(found: Result, tried: Sequence[Chain], done: Sequence[Words], spoken: Spoken) -> Iterator[Message]:
    """What came of it."""
    from toolsync.doctor.command import spelled
    from toolsync.sentence import say, tell

    count = str(len(done))
    if done and found.exit_code == DONE:
        yield Message("note", tell(say("fix_done", count=count), spoken))
    elif done:
        yield Message("note", tell(say("fix_left", count=count), spoken))
    elif not tried and found.exit_code != DONE:
        asking = [spelled(chain[0]) for chain in _printed(found)]  # or it would have been tried
        text = say("fix_asks", command=asking[0]) if asking else say("fix_nothing")
        yield Message("note", tell(text, spoken))


def _chains(found: Result) -> Iterator[Chain]:
    """The commands that are printed, without those that nobody is there to answer."""
    for chain in _printed(found):
        if run.session().is_interactive or not _asks(chain[0]):
            yield chain


def _printed(found: Result) -> Iterator[Chain]:
    """The commands that are printed: of primary findings, of tools that are not set up, and of further findings."""
    wrong = [tool for tool in found.data["tools"] if tool["state"] != "healthy"]
    firsts = [finding for tool in wrong for finding in tool["findings"][:1]]
    others = [finding for tool in wrong for finding in tool["findings"][1:]]
    for one in (*firsts, *wrong, *others):
        if one["command"]:
            yield [one["command"], *one["then"]]


def _asks(words: Words) -> bool:
    """Whether the command asks for a key, for a name, or whether to do what it shows then: somebody must be there."""
    return words[0] in ("check", "init", "key") or words[:2] == ["profile", "trust"]


def _run_all(
    context: typer.Context, chain: Chain, done: list[Words], spoken: Spoken, *, is_asked: bool
) -> Iterator[Message]:
    """The chain up to what fails, which is said."""
    from toolsync.doctor.command import spelled
    from toolsync.sentence import reported, say, tell

    for command in chain:
        run.exit_code = DONE
        try:
            _run(context, command, is_asked=is_asked)
        except ToolsyncError as error:
            text = tell(say("fix_stopped", command=spelled(command), reason=reported(error.message)), spoken)
            yield Message("problem", text, tell(reported(error.hint), spoken))
            return
        if run.exit_code != REFUSED:
            done.append(command)
        if run.exit_code != DONE:  # it has said why itself
            return


def _run(context: typer.Context, command: Words, *, is_asked: bool) -> None:
    """One of our own command lines, in this run; what it shows is no part of our JSON.

    The person was asked about the command line as it was shown; without that, `--yes` is no such consent.
    """
    tree: Any = context.find_root().command
    before = ["--config", str(run.config)] if run.config else []
    words = command if is_asked else [word for word in command if word not in _CONSENT]
    after = ["--yes"] if command[0] == "apply" or command[:2] == ["key", "rotate"] else []
    with redirect_stdout(io.StringIO()) if run.json else nullcontext():
        tree.main(args=[*before, *words, *after], prog_name="toolsync", standalone_mode=False)


_CONSENT = {"--allow-plaintext", "--lose-old-values", "--new-memory"}
"""To a copy of the key in clear; to the loss of what `undo` could not bring back, or cannot any more."""
