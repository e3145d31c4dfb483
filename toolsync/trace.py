"""Who wins: the value that a tool will really use, and which of its layers it comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolsync.document import MISSING, Item, KeyPath, Missing, Value
from toolsync.document import data as _data
from toolsync.document.keypath import Step, spell
from toolsync.document.keypath import parse as parse_path
from toolsync.overlay import ABSENT, TABLE, Edit
from toolsync.tool import Layer, Reader, Request, Slot, Tool
from toolsync.tool.stated import CREDENTIAL_HEADERS, stated
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


@frozen
class Conflict:
    """Why what we write is not what the tool will use.

    Attributes:
        question: what the trace asks.
        answer: what wins, and where it stands.
        is_foreign_credential: whether a key that is not ours would reach our gateway: a plan with it is refused.
        other: the answer that `answer` disagrees with, if two must agree.
        header: the header in which a further one of the user's carries a key; "" where it is none.
    """

    question: str
    answer: Answer
    is_foreign_credential: bool = False
    other: Answer | None = None
    header: str = ""


_QUESTION = re.compile(r"<([a-z_]+)>")


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
    return replace(answer, value=_text(table, None) or "") if table else answer


def _answer(
    question: str, slots: Sequence[Slot], trees: Sequence[Tree], environ: Mapping[str, str], found: Mapping[str, Answer]
) -> Answer:
    for slot in slots:
        if slot.unless and found[slot.unless].value:
            continue
        if slot.kind == "path":
            path = _path(slot, found)
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


def _path(slot: Slot, found: Mapping[str, Answer]) -> KeyPath | None:
    """Where the slot points, `<question>` filled; None if that question has no answer."""
    steps: list[Step] = []
    for step in parse_path(slot.text):
        text = _substituted(_wording(step), found)
        if text is None:
            return None
        steps.append(replace(step, value=text) if isinstance(step, Item) else text if isinstance(step, str) else step)
    return tuple(steps)


def _wording(step: Step) -> str:
    """The part of a step in which a question may stand."""
    return step.value if isinstance(step, Item) else str(step)


def _substituted(text: str, found: Mapping[str, Answer]) -> str | None:
    """The text with every `<question>` filled; None if one has no answer."""
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
        text = _text(value, pattern)
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
            if is_ignored(layer, path):
                continue
            if slot.pattern is None or re.search(slot.pattern, str(_data.get(data, path))):
                yield path


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


def path_of(slot: Slot, found: Mapping[str, Answer]) -> KeyPath | None:
    """Where the slot points, with every `<question>` filled; None if one has no answer."""
    return _path(slot, found)


def _text(value: Value, pattern: str | None) -> str | None:
    """The value as the tool takes it; None if the pattern finds nothing in it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if pattern is None:
        return text
    match = re.search(pattern, text)
    return match[1] if match else None


def conflicts(
    request: Request,
    reader: Reader,
    found: Mapping[str, Answer],
    trees: Sequence[Tree],
    edits: Mapping[str, Sequence[Edit]],
) -> list[Conflict]:
    """Where the answers are not ours.

    Args:
        request: how its tool asks.
        reader: whose questions.
        found: its answers over the planned texts.
        trees: the layers that they came from.
        edits: what we want, by overlay.
    """
    ours = {question: _ours(slots, found, trees, edits) for question, slots in reader.questions.items()}
    is_ours = {question: _is_given(reader, answer, ours[question]) for question, answer in found.items()}
    address_is_ours = is_ours.get("base_url", False)
    result: list[Conflict] = []
    for question, answer in found.items():
        if question in _conditions(reader):
            continue
        expected = reader.expect.get(question)
        if expected is not None and answer.value != expected:
            result.append(Conflict(question, answer))
        elif expected is None and ours[question] and not is_ours[question]:
            credential = question in CREDENTIALS and bool(answer.value) and address_is_ours
            result.append(Conflict(question, answer, is_foreign_credential=credential))
        elif _is_foreign(reader, answer) and not ours[question] and address_is_ours:
            result.append(Conflict(question, answer, is_foreign_credential=True))
    result.extend(_disagreement([found[question] for question in reader.agree], is_ours))
    result.extend(
        Conflict(question, found[question], is_foreign_credential=True, header=name)
        for question, name in keyed_headers(request, found)
        if address_is_ours and not is_ours[question]
    )
    return result


def _is_given(reader: Reader, answer: Answer, ours: set[str]) -> bool:
    """Whether the answer is one of ours; of a table that is put together, whether ours stands in it whole."""
    if answer.question not in reader.merge or not answer.value:
        return answer.value in ours
    return any({*stated(value)} <= {*stated(answer.value)} for value in ours)


HEADERS = ("headers", "env_headers")
"""The questions whose answers are further headers: with their values, or with the variables that hold these."""


def keyed_headers(request: Request, found: Mapping[str, Answer]) -> Iterator[tuple[str, str]]:
    """The further headers that carry a key to the gateway, as question and header in lower case.

    Args:
        request: how the tool asks; where it puts its key into a header itself, only one that outdoes it counts.
        found: the answers of its reader.
    """
    filled = {
        request.headers[question].lower()
        for question in CREDENTIALS & request.headers.keys() & found.keys()
        if found[question].value
    }
    for question in HEADERS:
        for spelled, value in stated(found[question].value) if question in found else ():
            name = spelled.strip().lower()
            if value and name in CREDENTIAL_HEADERS and (name not in filled or name in request.outdone):
                yield question, name


def _conditions(reader: Reader) -> frozenset[str]:
    """The questions that are asked only to know where others look."""
    named = {slot.unless for slots in reader.questions.values() for slot in slots}
    return frozenset(named - CREDENTIALS - {"base_url", "model"})


def _is_foreign(reader: Reader, answer: Answer) -> bool:
    """Whether a file holds a key that the tool will send, where we mean it to find ours elsewhere."""
    return answer.question in CREDENTIALS - {*reader.agree} and bool(answer.value and answer.file)


def finds_no_key(reader: Reader, found: Mapping[str, Answer]) -> bool:
    """Whether the reader takes a key, and neither its files nor a variable that it looks at can give it one."""
    asked = CREDENTIALS & reader.questions.keys()
    return bool(asked) and not looks_at_variables(reader) and not any(found[question].value for question in asked)


def looks_at_variables(reader: Reader) -> bool:
    """Whether the reader looks for its key in the environment too."""
    asked = CREDENTIALS & reader.questions.keys()
    return any(slot.kind == "variable" for question in asked for slot in reader.questions[question])


def variables_of(tool: Tool, reader: Reader, question: str) -> tuple[str, ...]:
    """The variables that may answer the question of themselves: asked for by name, or as a part of the environment."""
    mounts = {layer.at for layer in tool.layers if layer.kind == "environment"}
    found: list[str] = []
    for slot in reader.questions.get(question, ()):
        mount, _, name = slot.text.rpartition(".")
        if slot.kind == "variable" and not _QUESTION.search(slot.text):
            found.append(slot.text)
        elif slot.kind == "path" and mount in mounts:
            found.append(name)
    return tuple(found)


def _disagreement(answers: Sequence[Answer], is_ours: Mapping[str, bool]) -> Iterator[Conflict]:
    """The conflict of answers that must come from one slot, and do not; about the one that is not ours."""
    given = [answer for answer in answers if answer.value]
    if len({(answer.slot, answer.layer) for answer in given}) > 1:
        *others, last = sorted(given, key=lambda answer: not is_ours[answer.question])
        is_foreign = is_ours.get("base_url", False) and not is_ours[last.question]
        yield Conflict(last.question, last, is_foreign, others[0])


CREDENTIALS = frozenset({"key", "x_key"})
"""The questions whose answer is sent to the gateway as a credential."""


def may_hold_key(tool: Tool, overlay: str, path: KeyPath) -> bool:
    """Whether the tool looks for a key at that path of its own file, so that the user's own may stand there."""
    mounts = [parse_path(layer.at) if layer.at else () for layer in tool.layers if layer.overlay == overlay]
    slots = [
        parse_path(slot.text)
        for reader in tool.readers
        for question in {*CREDENTIALS, *reader.agree} & reader.questions.keys()
        for slot in reader.questions[question]
        if slot.kind == "path"
    ]
    return any(_meets(slot, (*mount, *path)) for slot in slots for mount in mounts)


def _meets(slot: KeyPath, path: KeyPath) -> bool:
    """Whether one of the two holds the other, whatever the questions in the slot are answered."""
    return all(
        one == other or (type(one) is type(other) and _QUESTION.search(_wording(one)) is not None)
        for one, other in zip(slot, path, strict=False)
    )


def _ours(
    slots: Sequence[Slot], found: Mapping[str, Answer], trees: Sequence[Tree], edits: Mapping[str, Sequence[Edit]]
) -> set[str]:
    """The answers that we give at the slots of one question."""
    places = [(path, slot.pattern) for slot in slots if slot.kind == "path" and (path := _path(slot, found))]
    values = (
        _text(value, pattern)
        for tree in trees
        if tree.layer.overlay
        for edit in edits.get(tree.layer.overlay, ())
        for path, pattern in places
        if (value := _value_at(edit, path, tree.layer.at)) is not MISSING
    )
    return {value for value in values if value}


def _value_at(edit: Edit, path: KeyPath, at: str) -> Value | Missing:
    mounted = (*(parse_path(at) if at else ()), *edit.path)
    if edit.value in (ABSENT, TABLE) or path[: len(mounted)] != mounted:
        return MISSING
    return _data.get(edit.value, path[len(mounted) :])
