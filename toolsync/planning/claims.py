"""What stores say of other tools' files: a chosen row and the file that it stands for never disagree."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from toolsync.errors import FileError, PlanRefusedError, StoreError
from toolsync.planning.stores import Address, Shelves
from toolsync.remembered import Memory
from toolsync.store import Live
from toolsync.tool import Tool
from toolsync.value import frozen


@frozen
class Claim:
    """What a store says of the file of an app that it holds rows for.

    Attributes:
        owner: the store's own tool.
        app: whose row.
        tool: the tool whose file it is; "" where toolsync writes none.
        live: whose values the file holds.
    """

    owner: Tool
    app: str
    tool: str
    live: Live


def claims(shelves: Shelves, known: Mapping[str, Tool], profile: str, needed: Collection[str]) -> Iterator[Claim]:
    """What the stores on this machine say, as `profile` sees them.

    Args:
        shelves: the stores.
        known: every tool.
        profile: whose rows count as ours.
        needed: the stores' tools whose word is needed; another one that cannot be read says nothing.

    Raises:
        StoreError, FileError: one that is needed cannot be read.
    """
    for tool in known.values():
        try:
            shelf = shelves.of(tool, profile)
            live = {} if shelf is None else shelf.live
        except (StoreError, FileError):
            if tool.name in needed:
                raise
            continue
        files = {row.app: "" for row in tool.files}
        files |= {row.app: row.of for row in tool.files if row.of and not row.is_replaced}
        yield from (Claim(tool, app, of, live[app]) for app, of in files.items() if app in live)


def stop_at_claimed(shelves: Shelves, known: Mapping[str, Tool], memory: Memory, given_back: Collection[str]) -> None:
    """Let an undo pass that takes no chosen row away, nor gives a file back that such a row stands for.

    Raises:
        PlanRefusedError: it would.
        StoreError, FileError: a store whose rows are given back cannot be read.
    """
    for profile in _profiles(known, memory):
        for claim in claims(shelves, known, profile, given_back):
            if claim.owner.name not in given_back and claim.tool not in given_back:
                continue
            if claim.live in ("ours", "added"):
                raise chosen_row(claim, profile)
            if claim.live == "taken over" and claim.tool in given_back:
                raise PlanRefusedError(
                    f"the local proxy of {claim.owner.title} has taken the settings file of {known[claim.tool].title} "
                    "over, and puts ours there again when it stops",
                    hint=f"Stop the proxy in {claim.owner.title}, then run the command again.",
                )


def chosen_row(claim: Claim, profile: str) -> PlanRefusedError:
    """The refusal to take away what a store's owner would then miss."""
    if claim.live == "added":
        return PlanRefusedError(
            f"our row for {claim.app} (profile '{profile}') is switched on, so that the app's own file holds a copy",
            hint=f"Switch it off in {claim.owner.title.partition(':')[0]}, then run the command again.",
        )
    return PlanRefusedError(
        f"our row for {claim.app} (profile '{profile}') is the one that is chosen in {claim.owner.title}",
        hint=f"Choose another provider for {claim.app} in {claim.owner.title}, then run the command again. "
        f"Where {claim.owner.title} is not here any more, move its database away instead.",
    )


def _profiles(known: Mapping[str, Tool], memory: Memory) -> list[str]:
    """Those of whom rows are remembered, and the one that was applied last."""
    stores = {name for name, tool in known.items() if tool.store}
    rows = [real for real, file in memory.files.items() if any(layer.tool in stores for layer in file.layers)]
    return list(dict.fromkeys([*(Address.parse(real).profile for real in rows), memory.profile or ""]))
