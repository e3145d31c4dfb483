"""Where `check` looks on a machine: the files that templates name, what lies beside them, and toolsync's own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolsync import disk, document, registry
from toolsync.commands.leaks.slots import scripts
from toolsync.commands.leaks.sought import rows
from toolsync.doctor import sourced, startup
from toolsync.errors import FileError, ProfileError, TemplateError, ToolsyncError
from toolsync.paths import at_home, candidates
from toolsync.planning.fitting import remembered_tools
from toolsync.planning.stores import Address
from toolsync.profile.shared import source
from toolsync.remembered import Memory
from toolsync.search.listing import Listing, listed
from toolsync.secret import filled
from toolsync.session import Session, seen_from
from toolsync.tool import Tool
from toolsync.value import frozen


@frozen
class Suspects:
    """Files in which a key can stand.

    Attributes:
        kind: what they are: `tool`, `backup`, `log`, `history`, `startup`, `login`, `project`, `editor`, `settings`,
            `own`, `filled`.
        tool: whose; "" for none.
        listing: those that are there.
        is_own: whether they are of the user's own work, so that a repository around them is looked through as well; not
            what others made and is used here, nor what another project holds.
    """

    kind: str
    tool: str
    listing: Listing
    is_own: bool = True


def suspects(session: Session, memory: Memory) -> Iterator[Suspects]:
    """All of them: what programs read, then copies of it and what else is written, and logs, which are long, last.

    Args:
        session: the machine.
        memory: what is applied: where a variable moved a tool's settings since, they still hold what was written.

    Raises:
        FileError: the folder of the user's own tools cannot be read.
    """
    tools = tuple(registry.tools(session.config.parent).values())
    files = [list(dict.fromkeys((*settings(session, tool), *_remembered(memory, tool.name)))) for tool in tools]
    yield Suspects("startup", "", _together(map(listed, dict.fromkeys(scripts(session)))), is_own=False)
    for tool, own in zip(tools, files, strict=True):
        yield Suspects("tool", tool.name, _together(map(listed, own)))
    for gone in sorted(remembered_tools(memory) - {tool.name for tool in tools}):
        yield Suspects("tool", gone, _together(map(listed, _remembered(memory, gone))))
    yield Suspects("own", "", _own(session))
    places = list(_places(session))
    yield from (one for _, one in places if one.kind != "editor")
    yield from _named(session)
    for tool in tools:
        elsewhere = _together(map(listed, dict.fromkeys(_elsewhere(session, tool))))
        yield Suspects("tool", tool.name, elsewhere, is_own=False)
    for tool, own in zip(tools, files, strict=True):
        yield Suspects("backup", tool.name, _together(_beside(path) for path in own))
        yield _left(session, tool, "backups", "backup")
    yield from (Suspects("backup", "", _together(_copies(paths))) for paths, one in places if one.kind in _COPIED)
    yield from (replace(_left(session, tool, "texts", "settings"), is_own=False) for tool in tools)
    yield from (one for _, one in places if one.kind == "editor")
    yield from (_left(session, tool, "logs", "log") for tool in tools)


def _places(session: Session) -> Iterator[tuple[list[Path], Suspects]]:
    """Where keys turn up beside tools: the paths, and what of them is there."""
    for row in rows("places")["place"]:
        own = startup.files(session.places) if row["kind"] == "startup" else ()
        paths = list(dict.fromkeys([*places_of(session, row["files"]), *own]))
        is_own = row["kind"] != "editor" and row.get("own", True)
        yield paths, Suspects(row["kind"], "", _together(map(listed, paths)), is_own)


def _named(session: Session) -> Iterator[Suspects]:
    """What a shell's own files name, and what `env` wrote to."""
    named = sourced.named(session.places)
    yield Suspects("history", "", _together(map(listed, named.histories)))
    yield Suspects("startup", "", _together(map(listed, named.read)), is_own=False)
    yield Suspects("filled", "", _together(map(listed, filled.recorded(session.state))))


def settings(session: Session, tool: Tool) -> Iterator[Path]:
    """Every file that one of the tool's layers is, or would be if a variable were not set."""
    given = _given(session, tool)
    for row in tool.files:
        yield from places_of(session, given if row.each else row.path)
    for layer in (*tool.layers, *tool.unread):
        yield from places_of(session, layer.path)


_MOST_PROJECTS = 200


def _elsewhere(session: Session, tool: Tool) -> Iterator[Path]:
    """The settings of the tool in other folders that it was used in, as far as it keeps account of them."""
    folders: dict[Path, None] = {}
    for file in places_of(session, tool.leftovers.get("projects", ())):
        with suppress(ToolsyncError):  # it is looked through as it is
            raw = disk.read(file).raw
            data = document.parse(raw or b"", document.format_of(str(file))).data
            rows = data.get("projects") if isinstance(data, dict) else None
            folders |= dict.fromkeys(map(Path, rows if isinstance(rows, dict) else ()))
    known = (folder for folder in folders if folder.is_absolute() and os.path.isdir(folder))  # noqa: PTH112
    for folder in [folder for folder in known if folder != session.places.project][:_MOST_PROJECTS]:
        there = replace(session, places=seen_from(session.places, folder))
        yield from (path for path in settings(there, tool) if path.is_relative_to(folder))


def _remembered(memory: Memory, tool: str) -> Iterator[Path]:
    """The files that hold what was written for the tool; of a row, its database."""
    for real, file in memory.files.items():
        if any(layer.tool == tool for layer in file.layers):
            with suppress(OSError, FileError):  # a name that is too long, links in a circle
                yield from (path for path in (Path(real), Address.parse(real).path) if path.is_file())


def _given(session: Session, tool: Tool) -> list[str]:
    """The files that profiles name for the tool."""
    try:
        profiles = session.profiles().profiles
    except (ProfileError, FileError):
        return []
    return [path for profile in profiles for path in profile.tool.get(tool.name, {}).get("paths", ())]


def _left(session: Session, tool: Tool, which: str, kind: str) -> Suspects:
    return Suspects(kind, tool.name, _together(map(listed, places_of(session, tool.leftovers.get(which, ())))))


def places_of(session: Session, specs: Sequence[str]) -> Iterator[Path]:
    """What the alternatives mean here, each; those whose variables are not set mean nothing."""
    for spec in specs:
        try:
            yield from (path for path in candidates(spec, session.places) if "\0" not in str(path))
        except TemplateError:
            continue


_COPY = re.compile(r"(?i)bak|backup|old|orig|copy|save|prev|tmp|~")


def _copies(files: Iterable[Path]) -> Iterator[Listing]:
    """Copies that lie beside files; each folder, which is the home mostly, is looked at once."""
    whole = [path for path in dict.fromkeys(files) if "*" not in str(path)]
    folders = {folder: listed(folder / "*") for folder in dict.fromkeys(path.parent for path in whole)}
    return (_beside(path, folders[path.parent]) for path in whole)


def _beside(path: Path, folder: Listing | None = None) -> Listing:
    """Copies of a settings file that lie beside it: named after it with more behind, or an editor's."""
    folder = folder or listed(path.parent / "*")
    name, stem, suffix = path.name, path.stem, path.suffix
    files = [
        one
        for one in folder.files
        if (one.name.startswith(name) and one.name != name)
        or one.name in (f"#{name}#", f".#{name}")
        or re.fullmatch(rf"\.{re.escape(name)}\.sw[a-p]", one.name)
        or (
            one.name != name
            and one.name.startswith(stem)
            and one.suffix == suffix
            and _COPY.search(one.stem[len(stem) :])
        )
    ]
    return Listing(files, folder.shut, folder.is_cut)


_COPIED = ("startup", "history", "login")
"""Kinds of which editors, installers and shells leave copies: `.zshrc.pre-oh-my-zsh`, `.bash_history-01234.tmp`."""


def _own(session: Session) -> Listing:
    """What toolsync itself keeps: nothing of it may hold a key. A profile file may lie anywhere, beside anything."""
    folder = session.config.parent
    patterns = [session.config, folder / "tools" / "**" / "*", folder / "gateways" / "*", session.state / "**" / "*"]
    if folder.name == "toolsync":
        patterns.append(folder / "*")
    patterns += _shared(session)
    return _together([*map(listed, patterns), _beside(session.config)])


def _shared(session: Session) -> Iterator[Path]:
    """The files that profiles begin in; what was fetched from an address lies in toolsync's own folder."""
    with suppress(ProfileError, FileError):
        tables = session.profiles().document.data.get("profiles", {})
        sources = (source(name, own) for name, own in tables.items() if "from" in own)
        yield from (Path(at_home(one.place, session.places.home)) for one in sources if not one.is_address)


def _together(listings: Iterable[Listing]) -> Listing:
    whole = Listing()
    for one in listings:
        whole.files += one.files
        whole.shut += [folder for folder in one.shut if folder not in whole.shut]
        whole.is_cut |= one.is_cut
    return whole
