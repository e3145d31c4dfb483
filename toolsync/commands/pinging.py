"""Pings: the smallest request, once for each distinct address, dialect and model that the planned tools will use."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from toolsync.address import Dialect
from toolsync.commands.describe import skipped_message
from toolsync.commands.headers import header_value
from toolsync.commands.planning import Plan, ToolPlan, Wish, plan_ping
from toolsync.commands.result import DONE, REFUSED, Message, Result
from toolsync.masking import Secret
from toolsync.profile import Profile
from toolsync.secret.reference import resolve
from toolsync.session import Session

if TYPE_CHECKING:  # the probe costs four starts of the interpreter: it is imported where something is asked
    from toolsync.probe import Models, Network, Ping, PingRequest


@dataclass(frozen=True)
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
    messages = [
        Message("problem", f"{one.address} ({', '.join(one.tools)})", one.ping.hint) for one in pinged if one.problem
    ]
    notes = [skipped_message(skipped, "note", "note") for skipped in planned.skipped]
    exit_code = REFUSED if messages else DONE
    said = (*messages, *_warnings(planned, pinged), *notes)
    return Result("ping", {"pings": [one.data() for one in pinged]}, said, exit_code)


def _warnings(planned: Plan, pinged: tuple[Pinged, ...]) -> Iterator[Message]:
    yield from (Message("warning", notice.text, notice.hint) for notice in planned.asides)
    yield from (Message("warning", one.ping.warning) for one in pinged if one.ping.warning)


def ping_all(session: Session, planned: Plan) -> tuple[Pinged, ...]:
    """One ping for each distinct (dialect, address, model), in the order of the tools.

    Raises:
        SecretError: the key cannot be had.
    """
    requests: dict[tuple[str, str, str], list[ToolPlan]] = {}
    for tool in planned.tools:
        for held in tool.of.values() or [tool]:  # what a store's rows hold is asked as the tools would ask
            if held.profile is not None and held.tool.speaks and held.tool.speaks[0] != "gemini":
                one = held.tool.speaks[0], _base(held), held.profile.model
                requests.setdefault(one, []).append(replace(held, tool=replace(held.tool, name=tool.tool.name)))
    if not requests or planned.profile is None:
        return ()
    from toolsync.probe import ping

    key = resolve(planned.profile.key, session.open_vault, session.places.environ)
    came = (
        (ping(_request(session, key, cast("Dialect", dialect), base, tools[0])), tools)
        for (dialect, base, _), tools in requests.items()
    )
    return tuple(
        Pinged(replace(one, hint=named(one.hint, planned.profile)), tuple(tool.tool.name for tool in tools))
        for one, tools in came
    )


def named(hint: str, profile: Profile) -> str:
    """A probe's hint, in which NAME stands for the profile, with its name."""
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
    return PingRequest(dialect, base, profile.model, key, headers, network_of(session, profile, base))


def network_of(session: Session, profile: Profile, url: str) -> Network:
    """Proxy and trust as the profile says, and where it is silent the environment; its patience, if it has less."""
    from toolsync.probe import Network

    return patient(Network.of(profile.network, session.places.environ, url), profile.request)


def patient(network: Network, request: Mapping[str, Any]) -> Network:
    """The way to the gateway with no more patience than the tools have (`request.timeout_seconds`)."""
    return replace(network, read_seconds=min(network.read_seconds, request.get("timeout_seconds", math.inf)))
