"""Variables that are set, and have not come to where a program or a shell would see them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from toolsync import disk
from toolsync.doctor.checks.saying import at_line, values
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Fix, Where
from toolsync.doctor.startup import Line
from toolsync.errors import FileError
from toolsync.sentence import Text, say
from toolsync.trace.credential import CREDENTIALS, variables_of


def needed(look: Look, question: str) -> Iterator[str]:
    """The variables that the answer comes from."""
    answer = look.raw.get(question)
    if answer is None or not look.found[question].value:
        return
    one = look.seen(answer)
    if one is not None and one.environ is not None and answer.path:
        yield str(answer.path[-1])
    yield from look.named(question)


def desktop(look: Look) -> Iterator[Finding]:
    """A variable that a program of the desktop needs, which only shells are told of (macOS says what it hands out)."""
    ours = look.tool.processes.get(look.reader.name)
    handed = look.world.desktop
    if ours is None or not ours.is_desktop or handed is None:
        return
    for question in sorted(CREDENTIALS & look.found.keys()):
        for name in needed(look, question):
            if look.environ.get(name) and name not in handed:
                line = say("not_handed_out", variable=name)
                yield Finding("gui_env_missing", "likely", (line,), values(look, variable=name))


def not_refreshed(look: Look) -> Iterator[Finding]:
    """A variable that a startup file sets, and that this shell does not have yet: of an address, or of a key."""
    questions = [question for question in ("base_url", *sorted(CREDENTIALS)) if question in look.found]
    for question in questions:
        if look.found[question].value and (look.found[question].layer or question != "base_url"):
            continue
        named = look.named(question)
        is_alone = question == "base_url" or not look.effective.credentials
        others = variables_of(look.tool, look.reader, question) if is_alone else ()
        for name in dict.fromkeys([*named, *others]):
            line = look.world.set_at(name)
            if line is None or line.is_empty or look.environ.get(name) or (name not in named and _is_nested(line)):
                continue
            where = Where("environment", f"${name}", line.file, line.line or None)
            text = say("set_since", place=at_line(look, where), variable=name)
            found = values(look, where, variable=name)
            yield Finding("env_not_refreshed", "sure", (text,), found, where, Fix(_fresh(line)))
            return


def _is_nested(line: Line) -> bool:
    """Whether it may be part of a function, which people call when they want it."""
    try:
        raw = disk.read(Path(line.file)).raw or b""
    except FileError:
        return False
    return line.line > 0 and raw.decode(errors="replace").splitlines()[line.line - 1][:1].isspace()


def _fresh(line: Line) -> Text:
    """What brings the variable of a file into an environment."""
    return say({"folder": "allow_direnv", "desktop": "log_in_again"}.get(line.kind, "open_terminal"))
