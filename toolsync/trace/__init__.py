"""Who wins: the value that a tool will really use, and which of its layers it comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolsync.document import MISSING, Item, KeyPath, Value
from toolsync.document import data as _data
from toolsync.document.keypath import Step, spell
from toolsync.document.keypath import parse as parse_path
from toolsync.pattern import late
from toolsync.tool import Layer, Reader, Slot
from toolsync.value import frozen


@frozen
class Tree:
    """A layer as the tool sees it.

    Attributes:
        layer: which one.
        data: its parsed values; empty where the file does not exist or the tool ignores it whole.
        file: the file it was read from, or "".
    """

    layer: Layer
    data: Value
    file: str = ""


@frozen
class Answer:
    """What a tool will use.

    Attributes:
        question: what was asked.
        value: the answer; empty when there is none.
        slot: where it stood, placeholders filled; "" when nowhere.
        layer: the layer's name, `environment` for a variable; "" for a default.
        overlay: our own file row that the layer is, or "".
        file: the file, or "".
        path: the path inside the file, its mount taken off.
    """

    question: str
    value: str
    slot: str = ""
    layer: str = ""
    overlay: str = ""
    file: str = ""
    path: KeyPath = ()


_QUESTION = late(r"<([a-z_]+)>")


def answers(reader: Reader, trees: Sequence[Tree], environ: Mapping[str, str]) -> dict[str, Answer]:
    """The answer to each of the reader's questions, in order.

    Args:
        reader: whose questions.
        trees: the layers, lowest first.
        environ: the environment that the tool is taken to see.
    """
    found: dict[str, Answer] = {}
    for question, slots in reader.questions.items():
        answer = _answer(question, slots, trees, environ, found)
        found[question] = _merged(answer, trees) if question in reader.merge else answer
    return found


def _merged(answer: Answer, trees: Sequence[Tree]) -> Answer:
    """The table with what the layers below say besides; its place stays that of the highest."""
    if not answer.path:
        return answer
    path = parse_path(answer.slot)
    table: dict[str, Value] = {}
    for tree in trees:
        own = _in_layers(answer.question, path, None, [tree])
        value = _data.get(tree.data, own.path) if own is not None else None
        table |= value if isinstance(value, Mapping) else {}
    return replace(answer, value=text_of(table, None) or "") if table else answer


def _answer(
    question: str, slots: Sequence[Slot], trees: Sequence[Tree], environ: Mapping[str, str], found: Mapping[str, Answer]
) -> Answer:
    for slot in slots:
        if slot.unless and found[slot.unless].value:
            continue
        if slot.kind == "path":
            path = path_of(slot, found)
            answer = None if path is None else _in_layers(question, path, slot.pattern, trees)
            if answer is not None:
                return answer
            continue
        text = _substituted(slot.text, found)
        if text is None:
            continue
        if slot.kind == "default":
            return Answer(question, text, f"={text}")
        value = environ.get(text, "")
        if value or slot.text != text:  # a variable that the settings name ends the search, set or not
            return Answer(question, value, f"${text}", "environment")
    return Answer(question, "")


def path_of(slot: Slot, found: Mapping[str, Answer]) -> KeyPath | None:
    """Where the slot points, with every `<question>` filled; None if one has no answer."""
    if "<" not in slot.text:
        return parse_path(slot.text)
    steps: list[Step] = []
    for step in parse_path(slot.text):
        text = _substituted(_wording(step), found)
        if text is None:
            return None
        steps.append(replace(step, value=text) if isinstance(step, Item) else text if isinstance(step, str) else step)
    return tuple(steps)


def is_open(step: Step) -> bool:
    """Whether what that step of a path is depends on the answer to a question."""
    return _QUESTION.search(_wording(step)) is not None


def _wording(step: Step) -> str:
    """The part of a step in which a question may stand."""
    return step.value if isinstance(step, Item) else str(step)


def _substituted(text: str, found: Mapping[str, Answer]) -> str | None:
    """The text with every `<question>` filled; None if one has no answer."""
    if "<" not in text:
        return text
    if any(name in found and not found[name].value for name in _QUESTION.findall(text)):
        return None
    return _QUESTION.sub(lambda match: found[match[1]].value if match[1] in found else match[0], text)


def _in_layers(question: str, path: KeyPath, pattern: str | None, trees: Sequence[Tree]) -> Answer | None:
    for tree in reversed(trees):
        mount = parse_path(tree.layer.at) if tree.layer.at else ()
        if path[: len(mount)] != mount:
            continue
        inner = path[len(mount) :]
        if is_ignored(tree.layer, inner):
            continue
        value = _data.get(tree.data, inner)
        if value is MISSING or value is None:
            continue
        text = text_of(value, pattern)
        if text is None:
            continue
        if not text:
            return None  # "" is unset, and hides the layers below
        return Answer(question, text, spell(path), tree.layer.name, tree.layer.overlay, tree.file, inner)
    return None


def is_ignored(layer: Layer, inner: KeyPath) -> bool:
    """Whether the layer may not set what lies at that path of its tree."""
    return layer.is_unmet or any(inner[: len(path)] == path for path in map(parse_path, layer.ignores))


def heeded(trees: Sequence[Tree], around: Mapping[str, str]) -> list[Tree]:
    """The same layers, lowest first; of one that needs an answer from those below, and has none, nothing counts.

    Args:
        trees: lowest first.
        around: the folders that its slots name: `project`, `repository`; "" for none.
    """
    folders = {name: Answer(name, folder) for name, folder in around.items()}
    found: list[Tree] = []
    for tree in trees:
        needs = tree.layer.needs
        is_met = not needs or _answer("needs", needs, found, {}, folders).value
        found.append(tree if is_met else replace(tree, layer=replace(tree.layer, is_unmet=True)))
    return found


def unhindered(layer: Layer) -> Layer:
    """The layer as it would be if it might set all that it says."""
    return replace(layer, ignores=(), is_unmet=False)


def refused(layer: Layer, data: Value) -> Iterator[KeyPath]:
    """The settings in the layer's own data with which its tool does not start, as its template says."""
    for slot in layer.refuses:
        for path in _places(data, parse_path(slot.text)):
            if _ANY in slot.text and is_ignored(layer, path):
                continue
            if slot.pattern is None or re.search(slot.pattern, str(_data.get(data, path))):
                yield path


def lacking(layer: Layer, data: Value) -> Iterator[KeyPath]:
    """The settings without which its tool does not start, and that the tables of the layer's own data lack."""
    for path in (parse_path(slot.text) for slot in layer.wants):
        for table in _places(data, path[:-1]):
            is_table = isinstance(_data.get(data, table), Mapping) and not is_ignored(layer, table)
            value = _data.get(data, (*table, path[-1])) if is_table else None
            if value is MISSING or (isinstance(value, str) and not value.strip()):
                yield (*table, path[-1])


_ANY = "<any>"


def _places(data: Value, path: KeyPath) -> Iterator[KeyPath]:
    """What the path means in `data`: as many places as there are keys where it says `<any>`."""
    if not path:
        yield ()
        return
    step, rest = path[0], path[1:]
    for each in tuple(data) if step == _ANY and isinstance(data, Mapping) else (step,):
        below = _data.get(data, (each,))
        if below is not MISSING:
            yield from ((each, *found) for found in _places(below, rest))


def text_of(value: Value, pattern: str | None) -> str | None:
    """The value as the tool takes it; None if the pattern finds nothing in it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if pattern is None:
        return text
    match = re.search(pattern, text)
    return match[1] if match else None
