"""What is given back must not meet what stayed: no old key goes to an address that it was not for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolsync.address import origin
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import PlanRefusedError, ProfileError
from toolsync.masking import printable
from toolsync.plan import FilePlan
from toolsync.planning.tracing import called, layer_trees
from toolsync.remembered import Remembered
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.trace import Answer, answers
from toolsync.trace.credential import CREDENTIALS


def stop_at_old_key(session: Session, tool: Tool, plans: Mapping[str, FilePlan]) -> None:
    """Let a plan that gives the tool's values back pass, unless its old key would meet an address that is not its own.

    An address that somebody edited since stays, as every edit does. Where it leads to another host than the user had
    there, and the tool would send there another credential than it sends now, that key is one that the gateway, or
    whoever else it is, must not see.

    Args:
        session: where its layers are read.
        tool: whose values are given back.
        plans: the plan of each of its rows that are given back, by overlay.

    Raises:
        PlanRefusedError: they would meet.
    """
    if not any(plan.left for plan in plans.values()):
        return
    now = {overlay: replace(plan, after=plan.before, fault=None) for overlay, plan in plans.items()}
    trees, trees_now = layer_trees(session, tool, plans), layer_trees(session, tool, now)
    for reader in tool.readers:
        then = answers(reader, trees, session.places.environ)
        before = answers(reader, trees_now, session.places.environ)
        address = then.get("base_url")
        leads = "" if address is None else _leads(address, tool, plans)
        if address is None or not leads:
            continue
        for key in (then[question] for question in reader.questions if question in CREDENTIALS):
            if key.value and key.value != before[key.question].value:
                raise _refusal(session, called(tool, reader), address, key, leads)


def _leads(address: Answer, tool: Tool, plans: Mapping[str, FilePlan]) -> str:
    """Where the address leads, if it stands where toolsync wrote one, was not given back, and is not what was there."""
    plan = plans.get(address.overlay)
    if plan is None or not any(left.tool == tool.name and left.path == address.path for left in plan.left):
        return ""
    host, values = _origin(address.value), list(_values(plan, tool, address))
    if host and host in {_origin(text) for value in values for text in _written(value)}:
        return "still leads to the gateway"
    if not host or host in {_origin((value.origin or "").strip().strip("\"'")) for value in values}:
        return ""
    return f"leads to {printable(host)}, which was not there before"


def _values(plan: FilePlan, tool: Tool, address: Answer) -> Iterator[Remembered]:
    """What is remembered of the address's place."""
    for layer in plan.remembered.layers if plan.remembered else ():
        for value in layer.values:
            if layer.tool == tool.name and not value.secret and parse_path(value.path) == address.path:
                yield value


def _written(value: Remembered) -> Iterator[str]:
    """What toolsync wrote there."""
    with suppress(ValueError):  # the marks of nothing and of a time stamp
        yield str(json.loads(value.after))


def _origin(address: str) -> str:
    """Scheme, host and port; "" where there are none."""
    try:
        return origin(address)
    except ProfileError:
        return ""


def _refusal(session: Session, name: str, address: Answer, key: Answer, leads: str) -> PlanRefusedError:
    shown, path = session.shown(Path(address.file)), printable(spell(address.path))
    where = f"{key.slot} of the {key.layer}" if not key.file else f"{key.slot} in {session.shown(Path(key.file))}"
    return PlanRefusedError(
        f"{shown}: {path} was edited since, stays, and {leads}: {name} would then send your own key "
        f"there ({printable(where)})",
        hint=f"Change {path} in {shown} first, or take it out there.",
    )
