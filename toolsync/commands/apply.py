"""`apply`: the plan carried out. Pinged before anything is written, all files or none, verified afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolsync import memory as memories
from toolsync import registry
from toolsync.commands.describe import described_file, described_tool, left_messages, skipped_message
from toolsync.commands.dropping import dropped
from toolsync.commands.environment.variables import variable_of
from toolsync.commands.helper_check import helper_complaints, helper_failures
from toolsync.commands.keys.turning import Unturned
from toolsync.commands.pinging import Pinged, failures, ping_all, requests, spoken
from toolsync.commands.writing import forgetting
from toolsync.commands.writing.carry import carry_out, stop_at_unwritable
from toolsync.commands.writing.recovering import recovered
from toolsync.errors import DocumentError, FileError, PingFailedError, PlanRefusedError
from toolsync.planning.fitting import remembered_tools
from toolsync.planning.guarding import still_exposed, stop_at_exposed
from toolsync.planning.plans import Plan, Wish, plan_apply
from toolsync.result import DONE, PROBLEM, REFUSED, Message, Result
from toolsync.session import Session
from toolsync.value import frozen


@frozen
class Options:
    """How `apply` goes about it.

    Attributes:
        ping: whether the gateway is asked before anything is written.
        force: whether what is planned is written although a ping fails, which is still a problem.
    """

    ping: bool = True
    force: bool = False


def plan(session: Session, wish: Wish, options: Options) -> Plan:
    """What `apply` would do, an interrupted one ended first; the key is at hand before anybody is asked.

    See `plan_apply`, `stop_at_exposed`, `stop_at_unwritable` and `requests` for the errors.
    """
    news = recovered(session)
    try:
        planned = plan_apply(session, wish)
    except (DocumentError, FileError, PlanRefusedError) as error:
        if not wish.tools and len(_found(session, wish)) > 1:
            error.hint = f"{error.hint} `--tool NAME` applies one tool alone.".strip()
        raise
    stop_at_exposed(session, planned.files)
    stop_at_unwritable(planned)
    if options.ping:
        requests(session, planned)
    return replace(planned, asides=(*news, *planned.asides))


def _found(session: Session, wish: Wish) -> set[str]:
    """The tools that take part where none is named."""
    profile, known = session.profiles().get(wish.profile), registry.tools(session.config.parent)
    installed = {name for name, tool in known.items() if registry.is_installed(tool, session.places)}
    named = {name for name, overrides in profile.tool.items() if overrides.get("paths")}
    return {*installed, *named, *remembered_tools(memories.read(memories.path_in(session.state)))}


def stop_at_loss(planned: Plan) -> None:
    """Let a plan pass that undo can take back whole, as far as values of the user's own go.

    Raises:
        PlanRefusedError: there are such that nobody can keep for it.
    """
    if planned.unkept:
        raise PlanRefusedError(
            "\n".join(notice.text for notice in planned.unkept),
            hint=f"{planned.unkept[0].hint} `--lose-old-values` writes over them all the same.",
        )


def execute(session: Session, planned: Plan, options: Options) -> Result:
    """Ping, write, verify.

    Raises:
        ExposedKeyError: a file that would hold the key lies open to git meanwhile, and nothing was written.
        PingFailedError: the gateway does not answer as it must, and nothing was written.
        ChangedError: a file changed since it was planned, and nothing was written.
        FileError, TransactionError, SecretError: the files cannot be written, and nothing was.
    """
    assert planned.profile is not None  # noqa: S101  an undo has a module of its own
    stop_at_exposed(session, planned.files)
    pinged = ping_all(session, planned) if options.ping else ()
    _stop_at_failure(session, pinged, options)
    memory = replace(planned.memory, profile=planned.profile.name, applied=_applied(planned, planned.profile.name))
    if not planned.is_nothing or memory.applied != planned.memory.applied:
        carry_out(session, planned, memory, Unturned(session) if _is_copied(planned) else None)
    untidy = forgetting.tidied(session)
    is_proof_due = options.ping or not planned.is_nothing
    failed = tuple(helper_failures(session, planned)) if is_proof_due else ()
    complaints = (*helper_complaints(session, planned), *failed, *still_exposed(session, planned.files))
    said = (*plan_messages(session, planned), *_ping_messages(pinged), *untidy, *complaints)
    messages = (*said, *_variables(session, planned))
    return Result("apply", _data(session, planned, pinged), messages, _exit_code(planned, messages))


def _is_copied(planned: Plan) -> bool:
    """Whether a copy of a key is written."""
    copies = (*planned.entries, *(file for file in planned.files if file.holds_key))
    return any(file.is_change for file in copies)


def _variables(session: Session, planned: Plan) -> Iterator[Message]:
    """How the variable is set that tools read the key from, where nobody but a person can."""
    profile = planned.profile
    if profile is None:
        return
    readers: dict[str, list[str]] = {}
    for tool in planned.tools:
        if tool.delivery and tool.delivery.way == "env" and not tool.of:
            readers.setdefault(variable_of(tool.tool, tool.facts), []).extend(tool.tool.commands)
    for variable, programs in readers.items():
        if str(profile.key) == f"env:{variable}":
            continue  # it is set, or the key could not be had
        printed = f"toolsync key print {profile.name}"
        is_windows = session.places.platform == "win32"
        line = f"$env:{variable} = {printed}" if is_windows else f'export {variable}="$({printed})"'
        once = f"`toolsync exec -- {programs[0]}` sets it for that program alone." if programs else ""
        yield Message("note", f"${variable} is yours to set where the tool is started: `{line}`.", once)


def _applied(planned: Plan, profile: str) -> dict[str, str]:
    """The profile that each tool is set to, once the plan is carried out."""
    layers = (layer for file in planned.everything if file.memory for layer in file.memory.layers)
    set_now = {tool.tool.name for tool in planned.tools}
    return {**planned.memory.applied, **{layer.tool: profile for layer in layers if layer.tool in set_now}}


def described(session: Session, planned: Plan) -> dict[str, Any]:
    """The plan as data: what `diff` shows, and what a person is asked about."""
    return {
        "profile": planned.profile.name if planned.profile else None,
        "files": [described_file(session, file, planned.memory.key) for file in planned.everything],
        "tools": [described_tool(tool, session) for tool in planned.tools],
        "skipped": [
            {"tool": one.tool.name, "title": one.tool.title, "reason": one.reason, "hint": one.hint}
            for one in planned.skipped
        ],
    }


def _data(session: Session, planned: Plan, pinged: Iterable[Pinged]) -> dict[str, Any]:
    written = sum(file.is_change for file in planned.everything)
    return {**described(session, planned), "pings": [one.data() for one in pinged], "written": written}


def _stop_at_failure(session: Session, pinged: Sequence[Pinged], options: Options) -> None:
    failed = list(failures(pinged))
    if failed and not options.force:
        from toolsync.sentence import say, tell  # only who was refused is told

        raise PingFailedError(
            "\n".join(one.text for one in failed),
            hint=tell(say("ping_stopped", hint=failed[0].hint), spoken(session)),
            cause=next(one.ping.cause for one in pinged if one.problem),
        )


def plan_messages(session: Session, planned: Plan) -> Iterator[Message]:
    """What a person should know of the plan before it is carried out."""
    for notice in planned.notices:
        yield Message("problem" if notice.is_problem else "warning", notice.text, notice.hint)
    for skipped in planned.skipped:
        yield skipped_message(skipped, "warning", "problem" if skipped.is_asked else "note")
    yield from left_messages(session, planned)
    yield from dropped(session, planned)


def _ping_messages(pinged: Sequence[Pinged]) -> Iterator[Message]:
    yield from failures(pinged)
    yield from (Message("warning", one.ping.warning) for one in pinged if not one.problem and one.ping.warning)


def _exit_code(planned: Plan, messages: Iterable[Message]) -> int:
    if any(skipped.is_asked for skipped in planned.skipped):
        return REFUSED
    return PROBLEM if any(message.level == "problem" for message in messages) else DONE
