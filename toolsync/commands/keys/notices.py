"""What a person should know of a rotation before it is carried out."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync.commands.describe import left_messages, shown, skipped_message
from toolsync.commands.keys.rotate import Rotation
from toolsync.document import MISSING
from toolsync.document.keypath import spell
from toolsync.masking import printable
from toolsync.planning.fitting import Skipped
from toolsync.remembered import ANYTHING, holds
from toolsync.result import Message


def messages(rotation: Rotation) -> Iterator[Message]:
    """What a person should know before it is carried out."""
    yield from (Message("warning", notice.text, notice.hint) for notice in (*rotation.news, *rotation.files.notices))
    yield from map(_skipped, rotation.files.skipped)
    yield from left_messages(rotation.session, rotation.files)
    yield from _beside(rotation)
    yield from _deleted(rotation)
    yield from _foreign(rotation)
    yield from rotation.astray
    if not rotation.asked:
        yield Message("warning", "no tool that uses this key is found here, so the gateway is not asked about it")


def _skipped(skipped: Skipped) -> Message:
    """Why a tool gets no copy of the new key."""
    said = skipped_message(skipped, "warning", "problem")
    hint = "So it is taken out now, and what stood there is given back." if skipped.holds_copy else said.hint
    return Message(said.level, said.text, hint)


def _beside(rotation: Rotation) -> Iterator[Message]:
    """That files with a copy get more than the key, where the profile or they were changed since they were applied."""
    given_back = {skipped.tool.name for skipped in rotation.files.skipped if skipped.holds_copy}
    for file in rotation.files.files:
        if file.after is None or {change.tool for change in file.changes} <= given_back:
            continue
        layers = file.memory.layers if file.memory else ()
        stamps = {value.path for layer in layers for value in layer.values if value.after == ANYTHING}
        paths = {spell(change.path) for change in file.changes if not change.secret} - stamps
        if paths:
            text = f"{rotation.session.shown(file.path)} gets more than the key: {printable(', '.join(sorted(paths)))}"
            yield Message("warning", text, "It is what `toolsync apply` would set there too.")


def _deleted(rotation: Rotation) -> Iterator[Message]:
    """That copies which somebody has deleted are not made again; or a value is, in a file that is still there."""
    for file in rotation.deleted:
        tools = sorted({layer.tool for layer in file.remembered.layers} if file.remembered else ())
        text = f"{shown(rotation.session, file)} was deleted since it was applied, and is not made again"
        apply, undo = " ".join(f"--tool {tool}" for tool in tools), " ".join(tools)
        hint = f"`toolsync apply {apply}` makes it again; `toolsync undo {undo}` gives the tool up."
        yield Message("warning", text, hint)
    for file in rotation.files.everything:
        held = {value.path for layer in (file.remembered.layers if file.remembered else ()) for value in layer.values}
        again = [spell(change.path) for change in file.changes if change.before is MISSING and change.secret]
        for path in (path for path in again if path in held):
            where = f"{shown(rotation.session, file)}: {printable(path)}"
            text = f"{where} was taken out since it was applied, and comes back"
            yield Message("warning", text, "The tool is set to the profile, and has no key without it.")


def _foreign(rotation: Rotation) -> Iterator[Message]:
    """That somebody put another key where a copy was: it gives way, and `undo` has it."""
    for file in rotation.files.everything:
        layers = file.remembered.layers if file.remembered else ()
        ours = {value.path: value for layer in layers for value in layer.values if value.secret}
        for change in file.changes:
            path, before = spell(change.path), change.before
            if path not in ours or not isinstance(before, str) or not before or file.after is None:
                continue
            is_copy = rotation.old is None or rotation.old.reveal() in before
            if not is_copy and not holds(ours[path], before, rotation.files.memory.key):
                text = f"{shown(rotation.session, file)}: {printable(path)} holds another key by now, which gives way"
                yield Message("warning", text, f"`toolsync undo {change.tool}` gives it back.")
