"""The git guard over a plan: what git would take up stops it, and the lines that prevent it are part of the plan."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from toolsync import disk, document, gitguard
from toolsync import memory as memories
from toolsync.document import parse_path
from toolsync.errors import DocumentError, ExposedKeyError, ToolsyncError
from toolsync.gitguard import Verdict
from toolsync.masking import printable
from toolsync.plan import FilePlan
from toolsync.remembered import FileMemory, Memory
from toolsync.result import Message
from toolsync.session import Session

_OTHER_WAYS = "let the key take another way (`key_way`), or leave the tool out."


def ignored_lines(
    session: Session, files: Iterable[FilePlan], memory: Memory, *, fix: bool
) -> dict[Path, dict[str, Sequence[str]]]:
    """The lines that ignore files must hold for the sake of each tool: ours, while the key is there; with `fix`, more.

    One of ours that the user took out stays out.

    Raises:
        DocumentError, FileError: an ignore file that we wrote to cannot be read.
    """
    keyed = {Path(file.container or file.path): file for file in files if file.holds_key}
    missing = {verdict.file: verdict.lines for verdict in _verdicts(session, keyed.values())} if fix else {}
    wanted: dict[Path, dict[str, Sequence[str]]] = {}
    for path, file in keyed.items():
        ignore_file = gitguard.ignore_file(path)
        if ignore_file is None:
            continue
        present = _ours(ignore_file, memory)
        for tool in _tools(file):
            lines = [line for line in _lines(file) if line in present.get(tool, ()) or line in missing.get(path, ())]
            if lines:
                tools = wanted.setdefault(ignore_file, {})
                tools[tool] = tuple(dict.fromkeys([*tools.get(tool, ()), *lines]))
    return wanted


def _tools(file: FilePlan) -> list[str]:
    layers = file.memory.layers if file.memory else ()
    return sorted({tool for tool, _ in file.edits} or {layer.tool for layer in layers})


def _ours(ignore_file: Path, memory: Memory) -> dict[str, list[str]]:
    """The lines that we wrote for each tool, and that still stand."""
    layers = memory.files.get(str(disk.resolve(ignore_file)), FileMemory()).layers
    if not layers:
        return {}
    there = _patterns(disk.read(ignore_file))
    return {
        layer.tool: [line for value in layer.values if (line := str(parse_path(value.path)[0])) in there]
        for layer in layers
    }


def _lines(file: FilePlan) -> tuple[str, ...]:
    """What keeps a planned file, and what lies beside it, out of git."""
    return gitguard.lines(Path(file.container or file.path), is_database=bool(file.container))


def _patterns(ignore_file: disk.Snapshot) -> Mapping[str, bool]:
    try:
        return _patterns_in(ignore_file.raw or b"")
    except DocumentError as error:
        raise error.at(disk.shown(ignore_file.path)) from error


def _patterns_in(raw: bytes) -> Mapping[str, bool]:
    found: Mapping[str, bool] = document.parse(raw, "gitignore").data
    return found


def uncovered(session: Session, files: Sequence[FilePlan]) -> Iterator[Message]:
    """Files of which something of the user's own stays, though the lines that kept them out of git go."""
    gone = {Path(file.path): _gone(file) for file in files if file.format == "gitignore" and file.is_change}
    for file in files if gone else ():
        ignore_file = gitguard.ignore_file(Path(file.path))
        line = next(iter(gitguard.lines(Path(file.path))), "")
        if file.left and ignore_file and line in gone.get(disk.resolve(ignore_file), ()):
            text = f"{session.shown(file.path)}: git will not ignore any more what stays there"
            yield Message("warning", text, f"If it is a key: `{printable(line)}` in {session.shown(ignore_file)}.")


def only_gains(file: FilePlan) -> bool:
    """Whether it is an ignore file to which lines are added, and from which none goes."""
    return file.format == "gitignore" and file.is_change and file.after is not None and not _gone(file)


def _gone(file: FilePlan) -> set[str]:
    return {*_patterns_in((file.before or "").encode())} - {*_patterns_in((file.after or "").encode())}


def stop_at_exposed(session: Session, files: Sequence[FilePlan]) -> None:
    """Let a plan pass that puts the key nowhere that git would take it from.

    Raises:
        ExposedKeyError: git tracks a file that would hold the key, does not ignore it, or cannot tell.
    """
    planned = _planned_ignores(files)
    found = list(_verdicts(session, _keyed(files), planned))
    if found:
        text = "\n".join(_message(session, verdict, planned).text for verdict in found)
        raise ExposedKeyError(text, hint=" ".join(_hints(session, found, planned)))


def _hints(session: Session, verdicts: Iterable[Verdict], planned: Mapping[Path, str | None]) -> Iterator[str]:
    """What to do about all of them, each thing once: what one ignore file lacks is said together."""
    others: dict[str, None] = {}
    lacking: dict[Path, dict[str, None]] = {}
    held: dict[Path, list[Path]] = {}
    for verdict in verdicts:
        ignore_file = gitguard.ignore_file(verdict.file) if verdict.state == "exposed" else None
        if ignore_file is not None and _lacks(ignore_file, verdict, planned):
            lacking.setdefault(ignore_file, {}).update(dict.fromkeys(verdict.lines))
            held.setdefault(ignore_file, []).append(verdict.file)
        else:
            others[_message(session, verdict, planned).hint] = None
    yield from (_addition(session, file, lines, held[file]) for file, lines in lacking.items())
    yield from others


def exposed(session: Session, files: Sequence[FilePlan]) -> list[Message]:
    """What git would do with files that would hold the key, once the plan is carried out."""
    planned = _planned_ignores(files)
    return [_message(session, verdict, planned) for verdict in _verdicts(session, _keyed(files), planned)]


def _planned_ignores(files: Iterable[FilePlan]) -> Mapping[Path, str | None]:
    return {Path(file.path): file.after for file in files if file.format == "gitignore" and file.is_change}


def _keyed(files: Iterable[FilePlan]) -> list[FilePlan]:
    return [file for file in files if file.holds_key]


def still_exposed(session: Session, files: Sequence[FilePlan]) -> list[Message]:
    """The same of what was written, where an ignore file was among it."""
    if not any(file.format == "gitignore" and file.is_change for file in files):
        return []
    return _exposed_now(session, _keyed(files))


def readable(session: Session, files: Iterable[FilePlan]) -> Iterator[Message]:
    """Files that hold the key, and that somebody opened to others since: writing shuts them."""
    for file in files:
        if file.is_readable:
            text = f"{session.shown(file.path)} holds the key, and was opened to other users (chmod) since"
            command = printable(shlex.join(_applying(session, [Path(file.container or file.path)])))
            yield Message("warning", text, f"`{command}` shuts it.")


def exposed_since(session: Session, files: Iterable[FilePlan]) -> list[Message]:
    """What git would do now with files in which an earlier apply left the key."""
    return _exposed_now(session, [file for file in files if file.held_key])


def _exposed_now(session: Session, files: Iterable[FilePlan]) -> list[Message]:
    return [_message(session, verdict, {}, verb="holds") for verdict in _verdicts(session, files)]


def _verdicts(
    session: Session, keyed: Iterable[FilePlan], planned: Mapping[Path, str | None] | None = None
) -> Iterator[Verdict]:
    places = session.places
    files = {Path(file.container or file.path): bool(file.container) for file in keyed}
    databases = [path for path, is_database in files.items() if is_database]
    for verdict in gitguard.look(
        tuple(files), home=places.home, environ=places.environ, planned=planned, databases=databases
    ):
        if verdict.state not in ("outside", "ignored"):
            yield verdict


def _message(
    session: Session, verdict: Verdict, planned: Mapping[Path, str | None], *, verb: str = "would hold"
) -> Message:
    what, hint = _unknown(verdict)
    if verdict.state == "copied":
        what, hint = "chezmoi keeps a copy of it in clear", _forgetting(verdict)
    if verdict.state == "tracked":
        what, hint = "git tracks it", _untracking(session, verdict)
    if verdict.state == "exposed":
        what, hint = _exposed(session, verdict, planned)
    where = f" (repository {session.shown(verdict.place)})" if verdict.place else ""
    return Message("problem", f"{session.shown(verdict.file)} {verb} the key, and {what}{where}", hint)


def _unknown(verdict: Verdict) -> tuple[str, str]:
    hint = "Let `git status` work there"
    return f"git cannot tell what it does with it: {verdict.reason}", f"{hint}, {_OTHER_WAYS}"


def _forgetting(verdict: Verdict) -> str:
    command = shlex.join(["chezmoi", "forget", str(verdict.file)])
    return f"`{printable(command)}` removes the copy, and leaves the file."


def _untracking(session: Session, verdict: Verdict) -> str:
    assert verdict.tree is not None  # noqa: S101  somebody tracks it
    command = shlex.join(["git", *verdict.tree.git_options, "rm", "--cached", "--", str(verdict.file)])
    keeping = printable(shlex.join((*_applying(session, [verdict.file]), "--fix-gitignore")))
    then = "" if verdict.tree.git_dir else f"; then `{keeping}` keeps it out"  # nothing comes into it by the way
    return f"`{printable(command)}` makes it forget the file, which stays{then}."


def _exposed(session: Session, verdict: Verdict, planned: Mapping[Path, str | None]) -> tuple[str, str]:
    ignore_file = gitguard.ignore_file(verdict.file)
    assert ignore_file is not None  # noqa: S101  it lies in a repository
    what = "git does not ignore it"
    if not verdict.is_taken_up:
        what = "git does not ignore what holds it beside that file, for a moment or longer"
    if _lacks(ignore_file, verdict, planned):
        return what, _addition(session, ignore_file, verdict.lines, [verdict.file])
    has = "would have" if disk.resolve(ignore_file) in planned else "has"
    there = f"{session.shown(ignore_file)} {has} {_quoted(verdict.lines)}"
    if verdict.rule is not None:
        return what, f"{there}, and {verdict.rule} takes it back: take that line out."
    if ignore_file.is_symlink():
        return what, f"{session.shown(ignore_file)} is a link, which git does not follow: make it a file."
    return what, f"{there}, and git does not heed it: see `git check-ignore -v --no-index`."


def _lacks(ignore_file: Path, verdict: Verdict, planned: Mapping[Path, str | None]) -> bool:
    """Whether lines are missing in the ignore file, so that adding them is what helps."""
    return not set(verdict.lines) <= _standing(ignore_file, planned).keys()


def _addition(session: Session, ignore_file: Path, lines: Iterable[str], files: Iterable[Path]) -> str:
    command = printable(shlex.join((*_applying(session, files), "--fix-gitignore")))
    return f"`{command}` adds to {session.shown(ignore_file)}: {_quoted(lines)}."


def _applying(session: Session, files: Iterable[Path]) -> tuple[str, ...]:
    """`apply` for files that are applied for another profile than the active one: else it would set them to that."""
    with suppress(ToolsyncError):  # other commands say so
        memory, active = memories.read(memories.path_in(session.state)), session.profiles().active
        layers = [layer for file in files for layer in memory.files.get(str(file), FileMemory()).layers]
        tools = sorted({layer.tool for layer in layers})
        profiles = {memory.applied.get(tool, active) for tool in tools}
        if len(profiles) == 1 and profiles != {active}:
            named = (word for tool in tools for word in ("--tool", tool))
            return ("toolsync", "apply", "--profile", str(profiles.pop()), *named)
    return ("toolsync", "apply")


def _quoted(lines: Iterable[str]) -> str:
    return ", ".join(f"`{printable(line)}`" for line in lines)


def _standing(ignore_file: Path, planned: Mapping[Path, str | None]) -> Mapping[str, bool]:
    snapshot = disk.read(ignore_file)
    if snapshot.real in planned:
        return _patterns_in((planned[snapshot.real] or "").encode())
    return _patterns(snapshot)
