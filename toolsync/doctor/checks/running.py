"""Programs that run with what was set before: they started earlier, and still hold the old value."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from toolsync.causes import Severity
from toolsync.doctor import replaced
from toolsync.doctor.checks.editors import has_reloaded, is_of_desktop, lacks_extension
from toolsync.doctor.checks.refreshing import needed
from toolsync.doctor.checks.saying import address, same, values
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Finding, Fix
from toolsync.doctor.printing import command_path
from toolsync.paths import Places
from toolsync.process import Process, asking, is_live
from toolsync.search.placing import existing
from toolsync.secret.vault import Entry
from toolsync.sentence import Text, say
from toolsync.tool import FileRow
from toolsync.trace.credential import CREDENTIALS


def processes(look: Look) -> Iterator[Finding]:
    """Running programs of the tool that hold an old address or key, or do not see a variable that they need."""
    for process, environ in of_here(look):
        found = _held(look, process, environ) or _unseen(look, process, environ)
        if found is None and not is_homeless(environ):
            found = _older(look, process, environ)
        if found is not None:
            yield found


def of_here(look: Look) -> Iterator[tuple[Process, Mapping[str, str] | None]]:
    """The running programs of the tool that read the settings here, with their variables where these can be read."""
    ours = look.tool.processes.get(look.reader.name)
    if ours is None or not any(answer.layer for answer in look.raw.values()):
        return  # nothing is set here: there is nothing that could be old
    for process in asking(look.world.processes, ours):
        environ = process.environ()
        is_here = process.has(look.world.session.places.home)
        if is_here and (environ is None or not _is_of_other_home(look, environ)):
            yield process, environ


def _is_of_other_home(look: Look, environ: Mapping[str, str]) -> bool:
    """Whether it reads other settings than those here: another home has them, or its own variables name them.

    A home that is not here has none.
    """
    ours = look.world.session.places
    theirs = replace(ours, home=Path(environ.get("HOME") or ours.home), environ=environ)
    if not theirs.home.is_dir():
        return False
    if os.path.realpath(theirs.home) != os.path.realpath(ours.home):
        return True
    return any(_file(row, theirs) != _file(row, ours) for row in look.tool.files)


def is_homeless(environ: Mapping[str, str] | None) -> bool:
    """Whether its home is not here (a test's that has ended): which settings it read at its start, nobody knows."""
    home = (environ or {}).get("HOME")
    return bool(home) and not Path(str(home)).is_dir()


def _file(row: FileRow, places: Places) -> str:
    path = existing(row.path, places)
    return "" if path is None else os.path.realpath(path)


def _held(look: Look, process: Process, environ: Mapping[str, str] | None) -> Finding | None:
    """It started before the change, and its own environment says something else than the settings do now.

    One that takes up its settings while it runs, and has that variable from them, is most likely well; of one whose
    home is not here, nobody knows whether it can.
    """
    here = look.world.session.places.environ  # what we have too, a new start would not mend
    for question in ("base_url", *sorted(CREDENTIALS), "model"):
        for name in sorted(_variables(look, question)) if environ is not None else ():
            old = (environ or {}).get(name, "")
            lines = _outdated(look, process, question, name, old) if old and old != here.get(name) else ()
            if lines:
                found = _finding(look, process, "tool_not_restarted", lines, variable=name)
                is_over = look.tool.processes[look.reader.name].is_live and name in look.variables
                weight: Severity | None = None if is_homeless(environ) else "info"
                return replace(found, certainty="likely", weight=weight) if is_over else found
    return None


def _outdated(look: Look, process: Process, question: str, name: str, old: str) -> tuple[Text, ...]:
    """What shows that the process holds what was so before; nothing where nothing does."""
    value = look.found[question].value if question in look.found else ""
    is_former = question in CREDENTIALS and old in replaced.keys(look.world)
    rotated = replaced.since(look.world) if is_former or replaced.is_key(look.world, value) else None
    changes = [_changed(look), (rotated, say("replaced_key")) if rotated is not None else None]
    when, what = max((one for one in changes if one is not None), key=lambda one: one[0], default=(0.0, ""))
    older = _seconds_before(process, when, _COARSE_SECONDS if is_former else 0.0)  # another value is a sign as well
    if is_former:
        started = [] if older is None else [_started(look, process, older, what)]
        return (*started, say("still_has_former", program=named(look, process), variable=name))
    if older is None or not value or _is_same(look, question, old, value):
        return ()
    return _started(look, process, older, what), _holding(named(look, process), question, name, old)


_COARSE_SECONDS = 2.0
"""By so much a process may be younger than its system says, which counts from its own start in whole seconds."""


def _seconds_before(process: Process, when: float, coarse: float = _COARSE_SECONDS) -> float | None:
    """How long before that it was started; None where it was not, or may not have been."""
    if process.started is None or process.started + coarse >= when:
        return None
    return when - process.started


def _is_same(look: Look, question: str, old: str, now: str) -> bool:
    answer = look.found[question]
    if question in CREDENTIALS and command_path(look, answer) is not None:
        printed = [one.value for one in look.effective.credentials if one.question == question]
        return not printed or printed[0] is None or printed[0].reveal() == old
    return same(question, old, now)


def _holding(program: str, question: str, name: str, old: str) -> Text:
    if question == "base_url":
        return say("still_has", program=program, variable=name, value=address(old))
    return say("still_has_other", program=program, variable=name)


def _older(look: Look, process: Process, environ: Mapping[str, str] | None) -> Finding | None:
    """It reads its settings at its start, and started before toolsync wrote them; a variable of its own comes first."""
    ours = look.tool.processes[look.reader.name]
    applied = _applied(look, frozenset(environ or ())) or 0.0
    older = _seconds_before(process, applied)
    if is_live(process, ours) or older is None or (ours.is_desktop and _is_renewed(look, process, applied)):
        return None
    lines = [_started(look, process, older, say("wrote_settings_read_at_start"))]
    return _finding(look, process, "tool_not_restarted", lines, certainty="likely")


def _is_renewed(look: Look, editor: Process, applied: float) -> bool:
    """Whether there is nothing old in it: a window that was loaded anew, or no such extension at all."""
    return lacks_extension(look) or has_reloaded(look, editor, applied)


def _unseen(look: Look, process: Process, environ: Mapping[str, str] | None) -> Finding | None:
    """A variable that it needs for its key or address is set here, and not where it runs; or not to the same.

    Another value counts where it makes the requests of later runs: else it may be another terminal's, and meant so.
    """
    for question in (*sorted(CREDENTIALS & look.found.keys()), "base_url") if environ is not None else ():
        for name in needed(look, question):
            here, there = look.environ.get(name, ""), (environ or {}).get(name)
            if name not in {*look.variables, *look.entries} and here not in ("", there):
                found = _other_than_here(look, process, question, name, there)
                if found is not None:
                    return found
    return None


def _other_than_here(look: Look, process: Process, question: str, name: str, there: str | None) -> Finding | None:
    ours = look.tool.processes[look.reader.name]
    if there is None:
        is_desktop = ours.is_desktop or is_of_desktop(look, process)
        found = not_seen(look, process, name, is_desktop=is_desktop)
        return replace(found, fix=None) if is_desktop else found
    if not ours.ends:
        return None
    lines = [_holding(named(look, process), question, name, there)]
    return _finding(look, process, "env_not_refreshed", lines, variable=name)


def not_seen(look: Look, process: Process, name: str, *, is_desktop: bool = False) -> Finding:
    """A variable is set here, and not where the program runs."""
    cause = "gui_env_missing" if is_desktop else "env_not_refreshed"
    seen = "unseen_from_desktop" if is_desktop else "unseen_since_before"
    lines: list[Text] = [say(seen, variable=name, program=named(look, process))]
    line = look.world.set_at(name)
    if line is not None:
        at = f"{look.world.session.shown(line.file)}:{line.line}"
        lines.append(say(f"set_for_new_{line.kind}", place=at))
    return replace(_finding(look, process, cause, lines, variable=name), fix=anew(look, process))


def anew(look: Look, *processes: Process) -> Fix:
    """How they get other variables: none takes one up while it runs, and what it does with its files does not help."""
    ends = look.tool.processes[look.reader.name].ends
    program = f"{look.called} (pid {', '.join(str(process.pid) for process in processes)})"
    if ends:
        return Fix(say("restart_behind", program=program, command=ends))
    return Fix(say("restart", program=program))


# What changed, and when.


def _variables(look: Look, question: str) -> set[str]:
    """The variables that may answer the question: by themselves, or in a table of the settings that holds variables."""
    found: set[str] = set(look.named(question))
    for slot in look.reader.questions.get(question, ()):
        if slot.kind == "variable" and "<" not in slot.text:
            found.add(slot.text)
        mount, _, name = slot.text.rpartition(".")
        is_table = mount in look.tool.request.environment or any(
            one.environ is not None and one.layer.at == mount for one in look.layers
        )
        if slot.kind == "path" and mount and is_table:
            found.add(name)
    return found


def _changed(look: Look) -> tuple[float, Text] | None:
    """When the settings became what they are: as toolsync remembers it, else as the file's time of change hints."""
    applied = _applied(look)
    if applied is not None:
        return applied, say("wrote_settings")
    times = [
        (one.snapshot.status.st_mtime, look.world.session.shown(one.file))
        for one in look.layers
        if one.snapshot is not None and one.snapshot.status is not None and _counts(look, one.layer.name)
    ]
    if not times:
        return None
    last, file = max(times)
    return last, say("was_changed", file=file)


def _counts(look: Look, layer: str) -> bool:
    return any(look.found[name].layer == layer for name in ("base_url", *CREDENTIALS) if name in look.found)


def _applied(look: Look, own: Collection[str] = ()) -> float | None:
    """When toolsync last changed one of the tool's files, or its entry in the keyring for a variable not its `own`."""
    memory = look.world.memory
    files = [memory.files.get(str(one.snapshot.real)) for one in look.layers if one.snapshot is not None]
    files += [entry for name, entry in memory.entries.items() if Entry(name).user not in own]
    layers = [layer for file in files if file is not None for layer in file.layers if layer.tool == look.tool.name]
    times = [datetime.fromisoformat(layer.applied_at).timestamp() for layer in layers if layer.applied_at]
    return max(times, default=None)


def named(look: Look, process: Process) -> str:
    """The program with its number, for people."""
    return f"{look.called} (pid {process.pid})"


def _started(look: Look, process: Process, seconds: float, what: Text) -> Text:
    return say("started_before", program=named(look, process), gap=_gap(seconds), what=what)


def _gap(seconds: float) -> Text:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return say(unit, count=f"{seconds / size:.0f}")
    return f"{seconds:.0f} s"


def _finding(  # noqa: PLR0913  a finding has as many parts
    look: Look,
    process: Process,
    cause: str,
    lines: Sequence[Text],
    *,
    certainty: Certainty = "sure",
    variable: str = "",
) -> Finding:
    name = named(look, process)
    reload = Fix(say("reload", reload=look.tool.reload, program=name)) if look.tool.reload else anew(look, process)
    fix = anew(look, process) if look.tool.processes[look.reader.name].ends else reload
    found = values(look, pid=str(process.pid), program=look.called, variable=variable)
    return Finding(cause, certainty, tuple(lines), found, None, fix)
