"""Pings: the smallest request, once for each distinct address, dialect and model that the planned tools will use."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from toolsync.address import Dialect, origin
from toolsync.causes import Language, language
from toolsync.commands.describe import skipped_message
from toolsync.commands.helper_check import open_references
from toolsync.masking import Secret
from toolsync.paths import at_home
from toolsync.planning.headers import header_value
from toolsync.planning.plans import Plan, ToolPlan, Wish, plan_ping
from toolsync.profile import Profile
from toolsync.result import DONE, REFUSED, Message, Result
from toolsync.sentence import Text, reported, say, tell, titled
from toolsync.session import Session
from toolsync.value import frozen

if TYPE_CHECKING:  # the probe costs four starts of the interpreter: it is imported where something is asked
    from toolsync.probe import Models, Network, Ping, PingRequest


@frozen
class Pinged:
    """One ping, and the tools it speaks for."""

    ping: Ping
    tools: tuple[str, ...]

    @property
    def address(self) -> str:
        """Where the request went."""
        return self.ping.url

    @property
    def problem(self) -> str:
        """What is wrong, and its cause by name; empty when all is well."""
        return named_problem(self.ping)

    def data(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "address": self.ping.url,
            "dialect": self.ping.dialect,
            "tools": list(self.tools),
            "outcome": self.ping.outcome,
            "cause": self.ping.cause,
            "certainty": self.ping.certainty,
            "status": self.ping.status,
            "model": self.ping.model or self.ping.asked,
            "input_tokens": self.ping.input_tokens,
            "output_tokens": self.ping.output_tokens,
            "milliseconds": self.ping.elapsed_ms,
            "problem": self.ping.problem,
            "hint": self.ping.hint,
        }


def named_problem(came: Ping | Models) -> str:
    """What is wrong, with the name by which `toolsync explain` knows the cause; empty when all is well."""
    return f"{came.problem} [{came.cause}]" if came.cause and came.certainty != "open" else came.problem


def run(session: Session, wish: Wish) -> Result:
    """`ping`: what `apply` would ask, and nothing written. See `plan_ping` for the errors."""
    planned = plan_ping(session, wish)
    pinged = ping_all(session, planned)
    left = [skipped_message(one, "note", "problem" if one.is_asked else "note") for one in planned.skipped]
    told = spoken(session)
    others = [_told(one, told) for one in (*_warnings(session, planned, pinged), *left)]
    messages = (*failures(pinged), *others, *_silence(planned, pinged, told))
    exit_code = REFUSED if any(message.level == "problem" for message in messages) else DONE
    return Result("ping", {"language": told, "pings": [one.data() for one in pinged]}, messages, exit_code)


def spoken(session: Session) -> Language:
    """The language in which it is said what a gateway answered."""
    return language(None, session.places.environ)


def _told(message: Message, told: Language) -> Message:
    """The same in that language, as far as the catalogue knows it."""
    return replace(message, text=tell(reported(message.text), told), hint=tell(reported(message.hint), told))


def failures(pinged: Sequence[Pinged]) -> Iterator[Message]:
    """What is wrong, and what to do about it: once for each cause, with the addresses and tools that it concerns."""
    for problem, hint in dict.fromkeys((one.problem, one.ping.hint) for one in pinged if one.problem):
        alike = [one for one in pinged if (one.problem, one.ping.hint) == (problem, hint)]
        yield Message("problem", f"{', '.join(map(_called, alike))}: {problem}", hint)


def _called(one: Pinged) -> str:
    return f"{one.address} ({', '.join(one.tools)})"


def _silence(planned: Plan, pinged: Sequence[Pinged], told: Language) -> Iterator[Message]:
    """That nobody was asked, which is no sign of health."""
    if not pinged and not any(skipped.is_asked for skipped in planned.skipped):
        yield Message("problem", tell(say("nobody_pinged"), told))


def _warnings(session: Session, planned: Plan, pinged: Sequence[Pinged]) -> Iterator[Message]:
    yield from (Message("warning", notice.text, notice.hint) for notice in planned.asides)
    yield from open_references(session, planned)
    yield from (Message("warning", one.ping.warning) for one in pinged if one.ping.warning)


def ping_all(session: Session, planned: Plan) -> tuple[Pinged, ...]:
    """One ping for each distinct (dialect, address, model), in the order of the tools.

    Raises:
        SecretError: the key cannot be had.
    """
    from toolsync.probe import pings

    asked = requests(session, planned)
    came = pings([request for request, _ in asked])
    told = spoken(session)
    active = session.profiles().active
    each = zip(_compared(came, told), asked, strict=True)
    return tuple(Pinged(_advised(one, planned, active, tools, told), tools) for one, (_, tools) in each)


def _compared(came: Sequence[Ping], told: Language) -> Iterator[Ping]:
    """The same; a key that one API refuses is not called unknown where another of that gateway's answers with it."""
    answered = {origin(one.url): one.url for one in came if one.is_ok}
    for one in came:
        there = answered.get(origin(one.url)) if one.cause == "key_invalid" else None
        if there is None:
            yield one
            continue
        what = tell(say("known_elsewhere", address=there), told)
        said = one.problem.replace(tell(titled(one.cause), told), what, 1)
        said = said if said != one.problem else f"{what}: {one.problem}"
        yield replace(one, problem=said, hint=tell(say("known_key"), told), certainty="open")


def _advised(one: Ping, planned: Plan, active: str | None, tools: Sequence[str], told: Language) -> Ping:
    assert planned.profile is not None  # noqa: S101  `requests` looked
    hint = named(one.hint, planned.profile, told)
    return replace(one, hint=hint if planned.profile.name == active else for_tools(hint, planned.profile, tools))


def for_tools(hint: str, profile: Profile, tools: Sequence[str]) -> str:
    """The hint for tools of a profile that is not the active one: a bare `apply` would set others, and to that."""
    from toolsync.doctor.command import applied, spelled  # with the probe, as above

    return hint.replace("`toolsync apply`", f"`{spelled((*applied(*tools), '--profile', profile.name))}`")


def requests(session: Session, planned: Plan) -> list[tuple[PingRequest, tuple[str, ...]]]:
    """What `ping_all` will ask, key and headers looked up, and the tools that each request speaks for.

    Raises:
        SecretError: the key cannot be had, or a header that is one.
    """
    distinct: dict[tuple[str, str, str], list[ToolPlan]] = {}
    for tool in planned.tools:
        for held in tool.of.values() or [tool]:  # what a store's rows hold is asked as the tools would ask
            if held.profile is not None and held.tool.speaks and held.tool.speaks[0] != "gemini":
                one = held.tool.speaks[0], _base(held), held.profile.model
                distinct.setdefault(one, []).append(replace(held, tool=replace(held.tool, name=tool.tool.name)))
    if not distinct or planned.profile is None:
        return []
    key = session.secret(planned.profile.key)
    return [
        (_request(session, key, cast("Dialect", dialect), base, tools[0]), tuple(tool.tool.name for tool in tools))
        for (dialect, base, _), tools in distinct.items()
    ]


_KEY_COMMAND = re.compile("`toolsync key (set|rotate) NAME`")


def named(hint: str, profile: Profile, told: Language = "en") -> str:
    """A probe's hint, in which NAME stands for the profile, with its name; a key is changed where it comes from.

    The profile is named where it is to be edited, too: it need not be the active one.
    """
    name = profile.key.name
    places: Mapping[str, Text] = {
        "age": "`toolsync key set NAME`",
        "env": say("key_of_variable", variable=name),
        "systemd": say("key_of_credential", credential=name),
        "command": say("key_of_command", command=str(profile.key)),
    }
    there = places.get(profile.key.kind)
    if there is not None and _KEY_COMMAND.search(hint):
        way = tell(there, told)
        hint = _KEY_COMMAND.sub(lambda _: way, hint)
    hint = hint.replace("`toolsync profile edit --", "`toolsync profile edit NAME --")
    return re.sub(r"\bNAME\b", profile.name, hint)


def _base(tool: ToolPlan) -> str:
    """The base address that the tool's own settings get."""
    name = "anthropic_url" if tool.tool.speaks[0] == "anthropic-messages" else "openai_url"
    return str(tool.facts[name].value)


def _request(session: Session, key: Secret, dialect: Dialect, base: str, tool: ToolPlan) -> PingRequest:
    from toolsync.probe import PingRequest

    profile = tool.profile
    assert profile is not None  # noqa: S101  `ping_all` looked
    headers = {name: header_value(session, value) for name, value in profile.request.get("headers", {}).items()}
    return PingRequest(dialect, base, profile.model, key, headers, network_of(session, profile, base), spoken(session))


def network_of(session: Session, profile: Profile, url: str) -> Network:
    """Proxy and trust as the profile says, and where it is silent the environment; its patience, if it has less."""
    from toolsync.probe import Network

    table = network_table(session, profile.network)
    return patient(Network.of(table, session.places.environ, url), profile.request)


def network_table(session: Session, table: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a profile says of the network, with its file of certificates as we can open it."""
    bundle = table.get("ca_bundle")
    return {**table, "ca_bundle": at_home(bundle, session.places.home)} if isinstance(bundle, str) else table


def patient(network: Network, request: Mapping[str, Any]) -> Network:
    """The way to the gateway with no more patience than the tools have (`request.timeout_seconds`)."""
    return replace(network, read_seconds=min(network.read_seconds, request.get("timeout_seconds", math.inf)))
