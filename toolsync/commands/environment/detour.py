"""Where a repository's own files lead a key that its address does not tell: another host, a proxy; or nobody knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolsync.doctor.layers import Seen, own_files, seen
from toolsync.doctor.model import Where
from toolsync.doctor.sight import Sight
from toolsync.errors import DocumentError, PlanRefusedError
from toolsync.masking import on_one_line
from toolsync.planning.tracing import called
from toolsync.profile import Profile
from toolsync.session import Session
from toolsync.tool import Connection, Reader, Tool

_TAKE_OUT = "Take it out there: that file is none that toolsync writes to."


def stop_at_detour(
    session: Session, profile: Profile, tool: Tool, readers: Sequence[Reader], told: Mapping[str, str]
) -> None:
    """Let a tool pass that is to be given a key, and that no file of the repository leads astray with it.

    Args:
        session: the machine; its current folder is the project.
        profile: whose key it is.
        tool: which tool.
        readers: those of its programs that are meant.
        told: the environment that it is to be given.

    Raises:
        PlanRefusedError: such a file cannot be read here, which is no word on what the tool reads in it; or it says a
            header or a proxy by which others get the request.
    """
    inside = replace(session, places=replace(session.places, environ=told))
    for files in own_files(session, tool, profile.tool.get(tool.name, {}).get("paths", ())):
        layers = seen(inside, tool, files)
        if not any(one.is_projects and one.state != "missing" for one in layers):
            continue
        for reader in readers:
            _stop_at_riddle(session, called(tool, reader), layers)
            _stop_at_other_way(_sight(inside, profile, tool, reader, layers))


def _sight(session: Session, profile: Profile, tool: Tool, reader: Reader, layers: tuple[Seen, ...]) -> Sight:
    from toolsync.doctor.world import World  # most start in no folder with settings of its own

    return Sight(World(session, profile, (profile,)), tool, reader, layers, is_alone=len(tool.readers) == 1)


def _stop_at_riddle(session: Session, name: str, layers: Sequence[Seen]) -> None:
    """Tools are laxer than we: one that takes a broken byte for a replacement character finds an address behind it."""
    for one in layers:
        if one.is_projects and one.state in ("shut", "broken") and not one.layer.is_unmet and one.error is not None:
            error, file = one.error, session.shown(one.file)
            why = error.at(file).message if isinstance(error, DocumentError) else error.message
            text = f"nobody can tell whom {name} would ask: {on_one_line(why, limit=400)}"
            raise PlanRefusedError(text, hint=f"Mend {file}, or take it away: the tool may read in it what we cannot.")


def _stop_at_other_way(sight: Sight) -> None:
    for what, where in _other_ways(sight):
        file = sight.world.session.shown(where.file)
        text = f"{sight.called} would {what}: {file} sets {on_one_line(where.slot, limit=200)}"
        raise PlanRefusedError(text, hint=_TAKE_OUT)


def _other_ways(sight: Sight) -> Iterator[tuple[str, Where]]:
    """What a file of the repository has the tool do, and where it says so."""
    from toolsync.doctor.headers import further_headers, routed

    headers = (where for _, where in routed(further_headers(sight)) if sight.is_projects(where))
    yield from (("name another host to the gateway", where) for where in headers)
    own = sight.tool.connections[sight.reader.name]
    for connection in (own, *own.older.values()):
        unchecked = next((name for name in connection.unchecked if _is_unchecked(sight, connection, name)), "")
        if unchecked:
            yield "talk to whoever answers, with no look at certificates", sight.variables[unchecked]
        proxy = _overhearing(sight, connection)
        if proxy is not None:
            yield "ask through a proxy that can read along", proxy


def _is_unchecked(sight: Sight, connection: Connection, variable: str) -> bool:
    return _is_projects(sight, variable) and sight.environ.get(variable) == connection.unchecked[variable]


def _overhearing(sight: Sight, connection: Connection) -> Where | None:
    """Where the repository says a proxy that can read the key: nothing is encrypted, or it may pose as anybody."""
    from toolsync.doctor.effective import network_by

    url = sight.found["base_url"].value if "base_url" in sight.found else ""
    network = network_by(connection, sight.environ, url)
    name = network.rules.variable(sight.environ, url)
    if not network.proxy_for(url) or not _is_projects(sight, name):
        return None
    is_plain = not url.strip().lower().startswith("https:")
    poses = network.unchecked or any(_is_projects(sight, trusted) for trusted in connection.certificates)
    return sight.variables[name] if is_plain or poses else None


def _is_projects(sight: Sight, variable: str) -> bool:
    return sight.is_projects(sight.variables.get(variable))
