"""What a person should know that concerns no planned tool: templates that cannot be used, names that mean no tool."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from toolsync.errors import TemplateError
from toolsync.planning.tracing import Notice
from toolsync.profile import Profile
from toolsync.profile.wording import close, one_line
from toolsync.registry import Known
from toolsync.session import Session


def broken(known: Known) -> Iterator[Notice]:
    """The user's own templates that cannot be used."""
    for name, error in known.broken.items():
        yield left_out(name, error)


def left_out(name: str, error: TemplateError) -> Notice:
    """A tool whose templates cannot be used, and why."""
    told = error.message.replace("\n", "\n    ")
    return Notice(name, f"{one_line(name)} is left out: {told}", error.hint, is_problem=True)


def blind(known: Known, tools: Collection[str]) -> Iterator[Notice]:
    """Those of the tools that are given back without their templates: memory suffices, the file's schema aside."""
    for name, error in known.broken.items():
        if name in tools:
            text = f"{one_line(name)} is given back by what is remembered alone, for its template cannot be used: "
            yield Notice(name, text + one_line(error.message), error.hint)
    if known.shut is not None:
        text = f"your own tools cannot be read, and count for nothing here: {known.shut.message}"
        yield Notice("", text, known.shut.hint)


def doubtful(session: Session, files: Iterable[tuple[str, str]]) -> Iterator[Notice]:
    """Files, each with its tool, that stay as they are in an undo, and may be older copies of what toolsync wrote."""
    for tool, path in files:
        text = f"{session.shown(path)} stays as it is: it is not the file that toolsync wrote, and says nearly the same"
        yield Notice(tool, text, "If it is an older copy, take out what toolsync set: the key, the address.")


def strays(profile: Profile, known: Known) -> Iterator[Notice]:
    """What the profile says of tools that there are not."""
    names: Mapping[str, object] = {**known, **known.broken}
    for name in profile.tool:
        if name not in names:
            near = close(name, names)
            text = f"[profiles.{profile.name}.tool.{one_line(name)}] means no tool"
            yield Notice(name, text, f"Did you mean '{near}'?" if near else "`toolsync tools` lists those there are.")
